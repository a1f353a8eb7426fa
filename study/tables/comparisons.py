"""Comparisons on the folds of the cross-validations: of kernels, with other methods, with what the source says in words.

Tests between methods are paired by fold: repeats of a cross-validation are not a sample of datasets, so they say what holds
on this sample, and their variance is corrected for what training parts share (study.statistics.resampled). results is
{name: table} of the experiments of study.tables.experiment.
"""

from dataclasses import replace

import pandas as pd

from study import statistics
from study.tables.experiment import N_FOLDS, READINGS
from study.tables.readings import Reading
from study.tables.source import KERNELS, SETS, cited_errors, original, published_rates
from study.tables.tables import VARIES, repeats_under, words


def fold_rates(table):
    """The test error of each fold: a series by dataset, kernel (where there is one), repeat and fold."""
    keys = [name for name in ("dataset", "kernel", "repeat", "fold") if name in table]
    return (table["test_errors"] / table["n_test"]).set_axis(pd.MultiIndex.from_frame(table[keys]))


def paired(first, second, *, n_folds=N_FOLDS):
    """{set: Difference}: first less second, `fold_rates` without kernel, on the folds of both, adjusted over the sets.

    The variance of the mean is corrected for folds of one sample (Nadeau & Bengio 2003).
    """
    difference = (first - second).dropna()
    test = {"test_share": 1 / (n_folds - 1), "varies": "folds and visiting orders, on this sample"}
    found = {name: statistics.resampled(part, **test) for name, part in difference.groupby("dataset", sort=False)}
    return statistics.holm(found)


def between_kernels(results, first, second, *, n_folds=N_FOLDS):
    """`paired` of two of the perceptrons "linear", "poly" and "rbf" with their published settings."""
    rates = fold_rates(pd.concat([results["linear"], results["kernel"]], ignore_index=True))
    return paired(*(rates.xs(kernel, level="kernel") for kernel in (first, second)), n_folds=n_folds)


def better_against_linear(results, *, n_folds=N_FOLDS):
    """`paired` of the kernel with the smaller test error in Table III as printed against the linear perceptron."""
    rates = fold_rates(pd.concat([results["linear"], results["kernel"]], ignore_index=True))
    names = rates.index.unique("dataset")
    better = {name: rates.xs((name, better_kernel(original(name))), level=("dataset", "kernel")) for name in names}
    return paired(pd.concat(better, names=["dataset"]), rates.xs("linear", level="kernel"), n_folds=n_folds)


def kernels_of_set(results, *, n_folds=N_FOLDS):
    """{"RBF against linear": Difference, ...} of the three perceptrons on one set, adjusted over the three comparisons."""
    found = {}
    for first, second in (("poly", "linear"), ("rbf", "linear"), ("rbf", "poly")):
        [difference] = between_kernels(results, first, second, n_folds=n_folds).values()
        found[f"{KERNELS[first]} against {KERNELS[second]}"] = difference
    return statistics.holm(found)


def against_rival(results, *, n_folds=N_FOLDS):
    """{"published": ..., "chosen": ...}: `paired` of the perceptron with an RBF kernel, with its published setting
    and with the one that inner folds choose, against the support vector machine."""
    theirs = fold_rates(results["rival"])
    ours = {"published": results["kernel"], "chosen": results["chosen"]}
    return {
        name: paired(fold_rates(table).xs("rbf", level="kernel"), theirs, n_folds=n_folds) for name, table in ours.items()
    }


def against_cited(results, *, n_folds=N_FOLDS):
    """{set: Difference}: the test error of the kernel that the source found better on a set, less the error that it cites.

    The cited number is taken as it is: its folds and its spread are not known. Adjusted over the sets.
    """
    rates = fold_rates(results["kernel"])
    found = {}
    for dataset in rates.index.unique("dataset"):
        name = original(dataset)
        part = rates.xs((dataset, better_kernel(name)), level=("dataset", "kernel")) - cited_errors()[name] / 100
        test = {"test_share": 1 / (n_folds - 1), "varies": "folds and visiting orders, on this sample"}
        found[dataset] = statistics.resampled(part, **test)
    return statistics.holm(found)


def better_kernel(dataset):
    """The kernel with the smaller test error in Table III as printed."""
    rows = published_rates().query("table == 'III' and split == 'test' and statistic == 'mean' and dataset == @dataset")
    return rows.loc[rows["published"].idxmin(), "kernel"]


def in_print(*, close):
    """Verdicts of the source's own test errors on its comparisons: {statement: {set: "yes", "no" or "tie"}}.

    wine-separable: no training error in Table II. kernel-improves: the better kernel of Table III has a smaller error than
    the linear perceptron of Table II. rbf-prior: the RBF kernel has a smaller one than the polynomial. better-than-cited:
    against the error that Table I cites, the better kernel is smaller on sonar and vowel, less than close (percent) away on
    wine, and larger on iris.
    """
    means = published_rates().query("statistic == 'mean'")
    separated = (means.query("table == 'II' and dataset == 'wine' and split == 'train'")["published"] == 0).all()
    rates = means.query("split == 'test'")
    wide = rates.pivot(index="dataset", columns="kernel", values="published").loc[list(cited_errors())]
    best = wide[["poly", "rbf"]].min(axis=1)
    cited = pd.Series(cited_errors())
    gap = best - cited
    as_said = {
        "iris": gap["iris"] > 0,
        "sonar": gap["sonar"] < 0,
        "vowel": gap["vowel"] < 0,
        "wine": abs(gap["wine"]) < close,
    }
    return {
        "wine-separable": {"wine": "yes" if separated else "no"},
        "kernel-improves": _words(best - wide["linear"]),
        "rbf-prior": _words(wide["rbf"] - wide["poly"]),
        "better-than-cited": {name: "yes" if found else "no" for name, found in as_said.items()},
    }


def _words(gaps):
    return {name: "yes" if gap < 0 else "no" if gap > 0 else "tie" for name, gap in gaps.items()}


def beyond_iterations(results):
    """{(set, kernel, reading): Difference}: what else moves the mean test error of a kernel with its published setting.

    The error under another choice of the demoted class and the visiting order, less that under the base
    reading, over the repeats, which have the same folds (Student's t). Iterations are epochs; all adjusted together (Holm).
    """
    keys = ["dataset", "kernel", "repeat"]
    found = {}
    known = set()
    base = repeats_under(results, "III", Reading())
    for reading in READINGS["III"]:
        if reading != Reading() and replace(reading, demote="winner", order="fresh") == Reading():
            both = repeats_under(results, "III", reading).merge(base, on=keys, suffixes=("", "_base"))
            for (dataset, kernel), part in both.groupby(["dataset", "kernel"], sort=False):
                here = dataset, kernel, reading.of(original(dataset))
                if len(part) > 1 and here[2] != Reading() and here not in known:
                    known.add(here)
                    gap = part["test_mean"] - part["test_mean_base"]
                    found[original(dataset), kernel, words(reading)] = statistics.student(gap, varies=VARIES)
    return statistics.holm(found)


def rival_table(results, *, n_folds=N_FOLDS):
    """The RBF kernel perceptron less the support vector machine: a row for each set and setting ("published", or "given" of
    a set that is not in print, and "chosen"), columns set, setting, estimate, low, high, p, n.

    p is corrected over the sets in results, for each way of choosing by itself: give it all sets that are compared anywhere.
    """
    ways = against_rival(results, n_folds=n_folds).items()
    table = pd.concat([comparison_table(found).assign(setting=way) for way, found in ways])
    given = (table["setting"] == "published") & ~table["set"].isin(SETS)
    return table.assign(setting=table["setting"].mask(given, "given"))[["set", "setting", *COMPARISON[1:]]]


COMPARISON = ["set", "estimate", "low", "high", "p", "n"]
"""The columns of `comparison_table`."""


def comparison_table(found):
    """A row for each comparison {set: Difference}: set, estimate, low and high (fractions), p and n."""
    table = statistics.table(found, comparison="set")
    return table.assign(set=table["set"].map(original))[COMPARISON]
