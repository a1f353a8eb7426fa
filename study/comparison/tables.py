"""Data of the chapter's figures, tables and conditions; tables are those of study.comparison.experiment.compare.

What is compared over the data sets, and with what, was declared before the results were seen:

    the three forms        one-vs-all and Xu-Zhang against the ordinary form, thresholds off for all, and on for all
    the thresholds         each perceptron with them against itself without
    the kernel             each form against the linear perceptron of its family
    the references         every perceptron and every other reference against the SVM
    the predictors         average, minimizing and voted against the final one, of every perceptron, each tuned for itself

Each line is one family: Wilcoxon's signed ranks over the sets, adjusted by Holm. Errors are means over all repetitions.

Symbols: N data sets, n test examples.
"""

from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd

from kp.mistakes import PREDICTORS
from study import datasets, statistics
from study.comparison.methods import KERNEL_PERCEPTRONS, NAMES, NONE, PERCEPTRONS, REFERENCES, THRESHOLDS
from study.words import p_cell, styled, with_interval

CONTROL = "ordinary"
"""The form that the other two are compared with."""
REFERENCE = ("SVM", NONE)
"""The method that references and perceptrons are compared with."""


def label(method, thresholds=NONE):
    """How a method is called in tables: "ordinary, off", "SVM"."""
    return method if thresholds == NONE else f"{method}, {thresholds}"


def sets(errors, splits):
    """A row for each data set: sizes, classes, how it is split, and the error of always naming the most frequent class.

    "dropped" are rows that repeat an earlier one, "also in training" the share of the test examples whose attributes equal
    those of a training example.
    """
    rows = []
    for name, part in splits.groupby("dataset", sort=False):
        data = datasets.registered(name)
        counts = data.test_counts or data.counts
        rows.append(
            {
                "set": name,
                "attributes": data.n_features,
                "classes": len(data.classes),
                "dropped": int(part["dropped"].max()),
                "available": int(part["available"].max()),
                "train": int(part["n_train"].max()),
                "test": int(part["n_test"].max()),
                "also in training": part["seen"].sum() / part["n_test"].sum(),
                "split": "customary" if data.n_test else "halves",
                "repetitions": part["repetition"].nunique(),
                "most frequent class": 1 - max(counts) / sum(counts),
            }
        )
    return pd.DataFrame(rows)


def grids(settings):
    """Candidates of each method, a row each, with the number of fits and of candidates (predictors and epochs apart)."""
    widths = f"{len(settings.widths)} widths"
    degrees = f"degrees {_list(settings.degrees)}"
    narrow = len(settings.widths[:: settings.reference_step])
    epochs = f"epochs {_list(settings.epochs)}; {len(PREDICTORS)} predictors"
    served = len(PREDICTORS) * len(settings.epochs)
    kernels = len(settings.widths) + len(settings.degrees)
    rows = [("each form", f"{widths}; {degrees}", epochs, kernels, kernels * served)]
    rows += [("linear", "", epochs, 1, served)]
    for name, symbol, values, kernel in (
        ("SVM", "C", settings.penalties, True), ("kernel ridge", "λ", settings.ridges, True),
        ("nearest neighbours", "k", settings.neighbours, False),
        ("scikit-learn perceptron", "epochs", settings.perceptron_epochs, False),
    ):  # fmt: skip
        fits = len(values) * (narrow if kernel else 1)
        rows.append((name, f"{narrow} widths" if kernel else "", f"{symbol} {_list(values)}", fits, fits))
    return pd.DataFrame(rows, columns=["method", "kernels", "other", "fits", "candidates"])


def _list(values):
    return ", ".join(f"{value:,}" for value in values)


def rates(errors):
    """Error rate of each data set, method and predictor, with its exact 95 % interval (fractions).

    A repetition tests n examples once each. error is the mean over repetitions; the interval is that of the mean count
    among n examples: repetitions share them, so they are not counted as more.
    """
    keys = ["dataset", "method", "thresholds", "predictor"]
    once = errors.groupby([*keys, "repetition"], sort=False)[["errors", "n"]].sum()
    table = once.groupby(keys, sort=False).mean().reset_index()
    low, high = statistics.exact(table["errors"], table["n"])
    table["repetitions"] = once.groupby(keys, sort=False).size().to_numpy()
    return table.assign(error=table["errors"] / table["n"], low=low, high=high)


def chosen_rates(errors):
    """`rates` of every method with the predictor that validation chose (in each fold)."""
    table = rates(errors[errors["chosen"]].assign(predictor="chosen"))
    order = {name: position for position, name in enumerate(errors["dataset"].unique())}
    keys = table["dataset"].map(order), table["method"].map(NAMES.index), table["thresholds"]
    return table.drop(columns="predictor").iloc[np.lexsort(keys[::-1])].reset_index(drop=True)


def by_method(chosen):
    """Error rates as a table: a row for each data set, a column (method, thresholds) for each method."""
    table = chosen.pivot(index="dataset", columns=["method", "thresholds"], values="error")
    return table.loc[chosen["dataset"].unique()]


def over_sets(table, pairs):
    """{name: Difference} of pairs {name: (column, column)} of a table of error rates, one family: signed ranks and Holm."""
    return statistics.holm({name: statistics.signed_ranks(table[a] - table[b]) for name, (a, b) in pairs.items()})


def form_pairs():
    """{(form, thresholds): ((form, thresholds), (control, thresholds))}: the forms against the ordinary one."""
    forms = [name for name in KERNEL_PERCEPTRONS if name != CONTROL]
    return {(form, t): ((form, t), (CONTROL, t)) for t in THRESHOLDS for form in forms}


def threshold_pairs():
    """{perceptron: ((perceptron, "on"), (perceptron, "off"))}."""
    return {name: ((name, "on"), (name, "off")) for name in PERCEPTRONS}


def kernel_pairs():
    """{(form, thresholds): ((form, thresholds), ("linear", thresholds))}."""
    return {(form, t): ((form, t), ("linear", t)) for t in THRESHOLDS for form in KERNEL_PERCEPTRONS}


def reference_pairs():
    """{(method, thresholds): ((method, thresholds), REFERENCE)} of every other method."""
    methods = [*product(PERCEPTRONS, THRESHOLDS), *product(REFERENCES, [NONE])]
    return {each: (each, REFERENCE) for each in methods if each != REFERENCE}


FAMILIES = {
    "forms": form_pairs, "thresholds": threshold_pairs, "kernel": kernel_pairs, "references": reference_pairs,
}  # fmt: skip
"""Comparisons over the sets, family by family, with everything chosen on validation data."""


def families(table):
    """Every comparison of FAMILIES, each family with its own correction: the rows of `shown` after the family's name."""
    parts = []
    for name, pairs in FAMILIES.items():
        rows = shown(over_sets(table, pairs()), table, pairs())
        rows.insert(0, "family", name)
        parts.append(rows)
    return pd.concat(parts, ignore_index=True).rename(columns={"first": "method"})


def shown(differences, table, pairs):
    """A row for each difference of `over_sets`, with the effect of leaving out one set.

    "one set left out" is the range of the estimate, and "changes without" names the sets without which the verdict is
    another, or counts them.
    """
    rows = []
    left_out = _left_out(table, pairs)
    changing = changes_without(differences, table, pairs)
    for name, (a, b) in pairs.items():
        found = differences[name]
        estimates = [each[name].estimate for each in left_out.values()]
        without = changing[name]
        rows.append(
            {
                "first": label(*a),
                "minus": label(*b),
                "difference": with_interval(found),
                "p": p_cell(found.p),
                "one set left out": f"{100 * min(estimates):+.2f} to {100 * max(estimates):+.2f}",
                "changes without": ", ".join(without) if len(without) < 4 else f"{len(without)} of {len(table)}",
            }
        )
    return pd.DataFrame(rows)


def _left_out(table, pairs):
    return {name: over_sets(table.drop(index=name), pairs) for name in table.index}


def changes_without(differences, table, pairs):
    """{name: the sets without which its verdict is another}, each set left out alone; differences: `over_sets` of all."""
    left_out = _left_out(table, pairs)
    return {
        name: [left for left, each in left_out.items() if each[name].word() != found.word()]
        for name, found in differences.items()
    }


def against_final(errors):
    """{(predictor, perceptron, thresholds): Difference} from the final predictor over the sets, Holm over all.

    Each predictor is tuned for itself.
    """
    table = rates(errors[errors["method"].isin(PERCEPTRONS)])
    wide = table.pivot(index="dataset", columns=["predictor", "method", "thresholds"], values="error")
    others = [(p, name, t) for p in PREDICTORS if p != "final" for t in THRESHOLDS for name in PERCEPTRONS]
    return over_sets(wide, {each: (each, ("final", *each[1:])) for each in others})


def width_curves(validation):
    """Validation error of the RBF perceptrons at each width, with the best of the predictors, in each of the data sets."""
    keys = ["dataset", "method", "thresholds", "width"]
    groups = _of_widths(validation).groupby(keys, sort=False, as_index=False)
    return groups.agg(error=("error", "min"), n=("validation_n", "max"))


def _of_widths(validation):
    """The rows of the RBF perceptrons, with their validation error as a fraction."""
    part = validation[validation["method"].isin(KERNEL_PERCEPTRONS) & (validation["kernel"] == "rbf")]
    return part.assign(error=part["validation_errors"] / part["validation_n"])


def best_widths(curves):
    """The width of the lowest validation error, of several the geometric mean: a row for each set, a column for each form
    and family, under its label."""
    rows = []
    for name in curves["dataset"].unique():
        row = {"set": name}
        for t in THRESHOLDS:
            for form in KERNEL_PERCEPTRONS:
                part = curves.query("dataset == @name and method == @form and thresholds == @t")
                best = part.loc[part["error"] <= part["error"].min() + 1e-12, "width"]
                row[label(form, t)] = float(np.exp(np.log(best).mean()))
        rows.append(row)
    return pd.DataFrame(rows)


def width_ratio(widths, first, second, *, null=1.0):
    """The best widths of one form over another's, as a Difference: its estimate is the geometric mean over the sets.

    Student's t on the logarithmic scale, for the hypothesis that the ratio is null.
    """
    found = statistics.student(np.log(widths[first] / widths[second] / null), varies="data sets")
    ratio = {name: null * float(np.exp(getattr(found, name))) for name in ("estimate", "low", "high")}
    return replace(found, **ratio)


def width_ratios(widths):
    """`width_ratio` of Xu and Zhang's form over the ordinary one, with and without thresholds, for the hypotheses that it is
    1 and 1/sqrt(2): a row for each, one family (Holm). Columns thresholds, null, ratio, low, high, p."""
    found = {
        (t, null): width_ratio(widths, label("Xu-Zhang", t), label(CONTROL, t), null=null)
        for t in THRESHOLDS
        for null in (1.0, 0.5**0.5)
    }
    rows = [(*name, each.estimate, each.low, each.high, each.p) for name, each in statistics.holm(found).items()]
    return pd.DataFrame(rows, columns=["thresholds", "null", "ratio", "low", "high", "p"])


def by_width(validation):
    """Mean validation error over the sets of each predictor at each RBF width, by form and family."""
    keys = ["method", "thresholds", "predictor", "width"]
    return _of_widths(validation).groupby(keys, sort=False, as_index=False)["error"].mean()


def averages_at_narrowest(validation):
    """{(form, thresholds): Difference} of the average predictor from the final one at the narrowest RBF width.

    Validation errors, over the sets; Holm over all.
    """
    part = _of_widths(validation)
    part = part[np.isclose(part["width"], part["width"].min())]
    wide = part.pivot(index="dataset", columns=["predictor", "method", "thresholds"], values="error")
    pairs = {(form, t): (("average", form, t), ("final", form, t)) for t in THRESHOLDS for form in KERNEL_PERCEPTRONS}
    return over_sets(wide, pairs)


# For readers.


def sets_table(about):
    """`sets` as they are printed."""
    return styled(about.drop(columns="available"), {"also in training": ".1%", "most frequent class": ".1%"})
