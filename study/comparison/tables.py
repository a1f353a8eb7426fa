"""What the comparison's tables say: error rates with intervals, ranks, paired differences, costs, widths.

Sources: Demsar 2006 (ranks over data sets, Friedman's test, Nemenyi's critical difference); McNemar 1947; Clopper & Pearson.

Symbols: N data sets, k methods, n test examples.
"""

import numpy as np
import pandas as pd
from scipy.stats import binomtest, friedmanchisquare, studentized_range, wilcoxon

from kp.mistakes import PREDICTORS
from study import datasets
from study.claims import interval
from study.comparison.methods import KERNEL_PERCEPTRONS, NAMES, PERCEPTRONS


def sets(errors):
    """A row for each data set: sizes, classes, how it is split, and the error of always naming the most frequent class."""
    rows = []
    for name, part in errors.groupby("dataset", sort=False):
        data, repetitions = datasets.DATASETS[name], part["repetition"].nunique()
        counts = data.test_counts or data.counts
        rows.append(
            {
                "set": name,
                "attributes": data.n_features,
                "classes": len(data.classes),
                "train": int(part["n_train"].max()),
                "test": int(part["n"].max()),
                "tuned on": int(part["tuned_on"].max()),
                "split": "customary" if data.n_test else f"halves, {repetitions} times" if repetitions > 1 else "halves",
                "most frequent class": 1 - max(counts) / sum(counts),
            }
        )
    return pd.DataFrame(rows)


def rates(errors):
    """Error rate of each data set, method and predictor, with its exact 95 % interval (fractions).

    A repetition tests n examples once each. error is the mean over repetitions; the interval is that of the mean count
    among n examples: repetitions share them, so they are not counted as more.
    """
    keys = ["dataset", "method", "predictor"]
    once = errors.groupby([*keys, "repetition"], sort=False)[["errors", "n"]].sum()
    table = once.groupby(keys, sort=False).mean().reset_index()
    low, high = interval(table["errors"], table["n"])
    table["repetitions"] = once.groupby(keys, sort=False).size().to_numpy()
    return table.assign(error=table["errors"] / table["n"], low=low / table["n"], high=high / table["n"])


def chosen_rates(errors):
    """`rates` of every method with the predictor that validation chose (in each fold)."""
    table = rates(errors[errors["chosen"]].assign(predictor="chosen"))
    order = {name: position for position, name in enumerate(errors["dataset"].unique())}
    keys = table["dataset"].map(order), table["method"].map(NAMES.index)
    return table.drop(columns="predictor").iloc[np.lexsort(keys[::-1])].reset_index(drop=True)


def errors_with_intervals(chosen, methods):
    """A row for each data set, a column for each method: "error (low to high)" in percent."""
    part = chosen[chosen["method"].isin(methods)]
    cells = [f"{100 * r.error:.1f} ({100 * r.low:.1f} to {100 * r.high:.1f})" for r in part.itertuples()]
    table = part.assign(cell=cells).pivot(index="dataset", columns="method", values="cell")
    return table.loc[part["dataset"].unique(), list(methods)].rename_axis(columns=None, index="set").reset_index()


def by_method(chosen, methods=NAMES):
    """Error rates (N, k) as a table: a row for each data set, a column for each method."""
    table = chosen.pivot(index="dataset", columns="method", values="error")
    return table.loc[chosen["dataset"].unique(), list(methods)]


def ranks(table):
    """Ranks (N, k) of the error rates in each row; 1 is the lowest error, equal errors share the mean of their ranks."""
    return table.rank(axis=1)


def friedman(table):
    """(statistic, p): Friedman's test that the k columns are equally good, over the N rows."""
    result = friedmanchisquare(*(table[name] for name in table))
    return float(result.statistic), float(result.pvalue)


def critical_difference(k, N, *, level=0.05):
    """CD = q sqrt(k (k + 1) / (6 N)): the difference of mean ranks that Nemenyi's test calls significant (Demsar 2006).

    q is the quantile of the studentized range for k groups and infinite degrees of freedom, divided by sqrt(2).
    """
    q = studentized_range.ppf(1 - level, k, np.inf) / np.sqrt(2)
    return float(q * np.sqrt(k * (k + 1) / (6 * N)))


def groups(mean_ranks, difference):
    """The maximal runs (first, last) of positions in ascending mean ranks whose ends lie within the critical difference."""
    values = np.sort(np.asarray(mean_ranks))
    last = [int(np.flatnonzero(values <= value + difference)[-1]) for value in values]
    return [(i, j) for i, j in enumerate(last) if j > i and (i == 0 or last[i - 1] < j)]


def paired(pairs, methods=PERCEPTRONS):
    """Paired comparison of every two of the methods on each data set: difference of their error rates and McNemar's p.

    Only the test examples that one method alone gets wrong say something. difference is the first's error less the
    second's; its 95 % interval is that of a proportion among those examples (Clopper & Pearson), p the exact binomial test
    that either method is as often the only one to be wrong. Of repeated splits the first repetition is taken, in which each
    example is tested once.
    """
    part = pairs[(pairs["repetition"] == 0) & pairs["first"].isin(methods) & pairs["second"].isin(methods)].copy()
    a, b = part["only_first"].to_numpy(), part["only_second"].to_numpy()
    alone, n = a + b, part["n"].to_numpy()
    low, high = interval(a, np.maximum(alone, 1))
    part["difference"] = (a - b) / n
    part["low"], part["high"] = (
        np.where(alone > 0, (2 * low - alone) / n, 0.0),
        np.where(alone > 0, (2 * high - alone) / n, 0.0),
    )
    part["p"] = [binomtest(int(i), int(m)).pvalue if m else 1.0 for i, m in zip(a, alone, strict=True)]
    return part.drop(columns="repetition").reset_index(drop=True)


def verdicts(paired):
    """How often, over the data sets, each of two methods errs less, and how often significantly (p < 0.05)."""
    rows = []
    for (first, second), part in paired.groupby(["first", "second"], sort=False):
        sure = part["p"] < 0.05
        better, worse = part["difference"] < 0, part["difference"] > 0
        rows.append(
            {
                "first": first,
                "second": second,
                "first errs less": int(better.sum()),
                "of these p < 0.05": int((better & sure).sum()),
                "second errs less": int(worse.sum()),
                "of those p < 0.05": int((worse & sure).sum()),
            }
        )
    return pd.DataFrame(rows)


def signed_ranks(table, first, second):
    """p of Wilcoxon's signed-rank test that two columns (N,) of error rates do not differ, over the data sets."""
    difference = (table[first] - table[second]).to_numpy()
    return float(wilcoxon(difference).pvalue) if np.any(difference) else 1.0


def mean_ranks(chosen, methods=NAMES):
    """A row for each method: mean rank over the data sets, and on how many sets it errs least (alone or with others)."""
    table = by_method(chosen, methods)
    best = table.eq(table.min(axis=1), axis=0).sum()
    found = pd.DataFrame({"method": table.columns, "mean rank": ranks(table).mean().to_numpy(), "best on": best.to_numpy()})
    return found.sort_values("mean rank", kind="stable", ignore_index=True)


def costs(errors):
    """Support vectors and kernel values of one prediction, as shares of n: a row for each chosen method and data set."""
    part = errors[errors["chosen"]]
    shares = part.assign(**{name: part[name] / part["n_train"] for name in ("support", "kernel_values")})
    return shares.groupby(["method", "dataset"], sort=False)[["support", "kernel_values"]].mean().reset_index()


def support_vectors(errors, methods=(*KERNEL_PERCEPTRONS, "SVM")):
    """Support vectors of the chosen methods, means over repetitions and folds: a row for each data set."""
    part = errors[errors["chosen"] & errors["method"].isin(methods)]
    table = part.pivot_table(index="dataset", columns="method", values="support", aggfunc="mean")
    table = table.loc[part["dataset"].unique(), list(methods)]
    table.insert(0, "examples", part.groupby("dataset")["n_train"].max())
    return table.rename_axis(columns=None, index="set").reset_index()


def seconds(errors, times):
    """Processor seconds of the last training of each chosen method: a row for each method, a column for each data set."""
    keys = ["dataset", "repetition", "fold", "method", "predictor"]
    part = errors.loc[errors["chosen"], keys].merge(times, on=keys)
    table = part.pivot_table(index="method", columns="dataset", values="seconds", aggfunc="mean", sort=False)
    return (
        table.loc[[name for name in NAMES if name in table.index], part["dataset"].unique()]
        .rename_axis(columns=None)
        .reset_index()
    )


def choices(errors):
    """How often validation chose each predictor, by perceptron; a row for each perceptron."""
    part = errors[errors["chosen"] & errors["method"].isin(PERCEPTRONS)]
    table = pd.crosstab(part["method"], part["predictor"]).reindex(index=list(PERCEPTRONS), columns=list(PREDICTORS))
    return table.fillna(0).astype(int).rename_axis(columns=None).reset_index()


def predictor_ratios(errors):
    """Error of each predictor of the perceptrons, each tuned for itself, as a multiple of the final predictor's."""
    table = rates(errors[errors["method"].isin(PERCEPTRONS)])
    final = table[table["predictor"] == "final"].set_index(["dataset", "method"])["error"]
    base = np.array([final.get(key, np.nan) for key in zip(table["dataset"], table["method"], strict=True)])
    return table.assign(ratio=table["error"] / np.where(base > 0, base, np.nan))


def width_curves(validation):
    """Validation error of the RBF perceptrons at each width, with the best of the predictors, in each of the data sets."""
    part = validation[validation["method"].isin(KERNEL_PERCEPTRONS) & (validation["kernel"] == "rbf")]
    part = part.assign(error=part["validation_errors"] / part["validation_n"])
    return part.groupby(["dataset", "method", "width"], sort=False, as_index=False)["error"].min()


def best_widths(curves):
    """The width of the lowest validation error, the widest of several: a row for each data set, a column for each form."""
    best = curves.loc[curves.groupby(["dataset", "method"], sort=False)["error"].idxmin()]
    table = best.pivot(index="dataset", columns="method", values="width")
    return (
        table.loc[curves["dataset"].unique(), list(KERNEL_PERCEPTRONS)].rename_axis(columns=None, index="set").reset_index()
    )


def width_shift(widths, first, second):
    """The factor by which the best widths of the first form exceed those of the second: geometric mean over the sets."""
    return float(np.exp(np.mean(np.log(widths[first] / widths[second]))))


def at_narrowest_width(validation):
    """Mean validation errors (fractions) over the data sets at the narrowest RBF width: by form (row) and predictor."""
    part = validation[validation["width"] == validation["width"].min()]
    part = part.assign(error=part["validation_errors"] / part["validation_n"])
    return part.pivot_table(index="method", columns="predictor", values="error", aggfunc="mean")


def mean_ratio(table, first, second):
    """The error of the first column as a multiple of the second's: geometric mean over the sets where both make errors."""
    part = table[(table[first] > 0) & (table[second] > 0)]
    return float(np.exp(np.mean(np.log(part[first] / part[second]))))


def gain_of_kernels(table, paired):
    """How the three kernel forms do beside the linear perceptron: counts of comparisons, and the largest gain."""
    against = paired[(paired["second"] == "linear") & paired["first"].isin(KERNEL_PERCEPTRONS)]
    best = table[list(KERNEL_PERCEPTRONS)].min(axis=1)
    name = (table["linear"] - best).idxmax()
    return {
        "n": len(against),
        "better": int((against["difference"] < 0).sum()),
        "sure": int(((against["difference"] < 0) & (against["p"] < 0.05)).sum()),
        "worse": int(((against["difference"] > 0) & (against["p"] < 0.05)).sum()),
        "name": name,
        "linear": float(table.loc[name, "linear"]),
        "least": float(best[name]),
    }


def mean_predictor_ratios(ratios):
    """Geometric means over the sets of each predictor's error as a multiple of the final one's; a row for each predictor."""
    part = ratios[(ratios["ratio"] > 0) & (ratios["predictor"] != "final")]
    means = np.exp(np.log(part["ratio"]).groupby([part["predictor"], part["method"]]).mean()).unstack()
    return means.loc[[p for p in PREDICTORS if p in means.index], list(PERCEPTRONS)].rename_axis(columns=None).reset_index()


def against_final(ratios):
    """On how many sets each predictor errs less / more than the final one: a row a predictor, a column a perceptron.

    ratios as of `predictor_ratios`.
    """
    part = ratios[ratios["predictor"] != "final"]
    part = part.assign(less=part["ratio"] < 1, more=part["ratio"] > 1)
    counts = part.groupby(["predictor", "method"])[["less", "more"]].sum()
    cells = counts["less"].astype(str) + " / " + counts["more"].astype(str)
    table = cells.unstack().loc[[p for p in PREDICTORS if p != "final"], list(PERCEPTRONS)]
    return table.rename_axis(columns=None).reset_index()


def against_others(paired, form):
    """On how many sets a form errs less, and more, than each other kernel form, with McNemar's p < 0.05.

    Columns other, errs less, errs more.
    """
    rows = []
    for other in (name for name in KERNEL_PERCEPTRONS if name != form):
        sure = paired[(paired["p"] < 0.05) & (paired[["first", "second"]].isin([form, other]).all(axis=1))]
        towards = np.where(sure["first"] == form, sure["difference"], -sure["difference"])
        rows.append({"other": other, "errs less": int(np.sum(towards < 0)), "errs more": int(np.sum(towards > 0))})
    return pd.DataFrame(rows)


def largest_gap(ranks, methods):
    """The largest difference of mean ranks among some methods."""
    values = ranks.loc[ranks["method"].isin(methods), "mean rank"]
    return float(values.max() - values.min())
