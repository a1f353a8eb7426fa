"""Summaries of the tables of the three multiclass forms: errors at the end, best widths, spectra, times.

Tables are those of study.forms.experiment.
"""

from itertools import combinations

import numpy as np

from kp.gram import CrossGram, Points, Products
from kp.mistakes import PREDICTORS
from study import statistics
from study.forms.experiment import EQUAL, FORMS, JUDGED, PAIR, best_widths, kernel_of, split
from study.words import styled

WITHOUT = "Xu-Zhang, without thresholds"
PRINTED = "Xu-Zhang, as printed"
"""The names in words of PAIR: Xu and Zhang's form without thresholds, and with them, as in the article, but at the width of
the former."""


def describe(kind, parameter):
    """A kernel in words: "rbf" of this width, or "poly" of this degree."""
    return f"RBF, $\\sigma$ = {parameter:,g}" if kind == "rbf" else f"$(1 + x \\cdot y)^{{{parameter:g}}}$"


def at_the_end(errors, n=None):
    """One row for each form, after its last epoch with n training examples (default: the most of each form).

    Columns form, kernel, n, epoch, n_test, mistakes, support, and the counts of test errors of each predictor.
    """
    rows = errors[errors["n"] == (errors.groupby("form")["n"].transform("max") if n is None else n)]
    rows = rows[rows["epoch"] == rows.groupby("form")["epoch"].transform("max")]
    rows = rows.assign(kernel=[describe(kind, value) for kind, value in zip(rows["kernel"], rows["parameter"], strict=True)])
    keys = ["form", "kernel", "n", "epoch", "n_test", "mistakes", "support"]
    table = rows.pivot(index=keys, columns="predictor", values="errors").rename_axis(columns=None).reset_index()
    table = table.reindex(columns=[*keys, *PREDICTORS])
    return table.sort_values("form", key=lambda names: names.map(FORMS.index), ignore_index=True)


def minutes(times, form, n):
    """Minutes of training of one form with n examples."""
    return float(times.set_index(["form", "n"]).loc[(form, n), "seconds"]) / 60


def spectra(dataset, kinds, n):
    """{title: (shares of K, shares of K^2)}: eigenvalues among n examples, descending, of kernels [(kind, parameter)]."""
    points = Points(split(dataset)[0][:n])
    out = {}
    for kind, parameter in kinds:
        K = CrossGram(Products(points, points)).values(kernel_of(kind, parameter), np.arange(n))
        values = np.maximum(np.linalg.eigvalsh(K)[::-1], 0.0)
        out[describe(kind, parameter)] = values / values.sum(), values**2 / np.sum(values**2)
    return out


# On equal terms: rows and flags are those of experiment.tuning and experiment.equal.


def equal_rates(equal):
    """A row for each n, form and predictor: mean, fewest and most test errors (fractions) over the orders.

    After the last epoch that was read. Columns: n, form, width, predictor, epoch, orders, mistakes (median), error, low,
    high.
    """
    rows = equal[equal["epoch"] == equal.groupby("n")["epoch"].transform("max")]
    rows = rows.assign(error=rows["errors"] / rows["n_new"])
    return rows.groupby(["n", "form", "width", "predictor", "epoch"], sort=False, as_index=False).agg(
        orders=("order", "nunique"),
        mistakes=("mistakes", "median"),
        error=("error", "mean"),
        low=("error", "min"),
        high=("error", "max"),
    )


def pairs(wrong):
    """{(form, other form, predictor): Difference} of test errors in the first order, by McNemar's test; one family (Holm).

    wrong (orders, forms, predictors, images). The forms of EQUAL in pairs, and Xu and Zhang's with and without threshold.
    """
    forms = [*EQUAL[:2], *PAIR]
    flags = {(f, p): wrong[0, i, j] for i, f in enumerate(forms) for j, p in enumerate(JUDGED)}
    asked = [*combinations(EQUAL, 2), PAIR[::-1]]
    return statistics.holm({(a, b, p): statistics.mcnemar(flags[a, p], flags[b, p]) for a, b in asked for p in JUDGED})


def three_forms(rows):
    """The rows of the forms of EQUAL, with Xu and Zhang's, which has no threshold here, under its short name."""
    return rows[rows["form"].isin(EQUAL)].replace({"form": {PAIR[0]: PAIR[1]}})


def by_width(tuning, n):
    """A row for each form and width with n examples: error (of the average predictor on the validation images, a fraction,
    mean over the orders) and mistakes (their median); tuning as in experiment.tuning."""
    rows = tuning[(tuning["n"] == n) & (tuning["predictor"] == "average")]
    rows = rows.assign(error=rows["errors"] / rows["n_new"])
    groups = rows.groupby(["form", "width"], sort=False, as_index=False)
    return groups.agg(error=("error", "mean"), mistakes=("mistakes", "median"))


def largest_terms(rates):
    """A row for each form at the largest n: width, epoch, mistakes, final and average test errors (fractions)."""
    rows = rates[rates["n"] == rates["n"].max()]
    table = rows.pivot(index=["form", "width", "epoch", "mistakes"], columns="predictor", values="error")
    table = table.rename_axis(columns=None).reset_index()[["form", "width", "epoch", "mistakes", *JUDGED]]
    return table.sort_values("form", key=lambda names: names.map([*EQUAL[:2], *PAIR].index), ignore_index=True)


def in_words(rows):
    """Rows with a form, Xu and Zhang's two under the names WITHOUT and PRINTED."""
    return rows.replace({"form": dict(zip(PAIR, (WITHOUT, PRINTED), strict=True))})


def own_widths(tuning, wrong, n):
    """(Difference, {form: width}): Xu and Zhang's form with threshold less without, each with its own best width.

    Validation errors of the average predictor with n examples, in the first order; wrong: {n: flags (rows of that n,
    images)}.
    """
    part = tuning[tuning["n"] == n].reset_index(drop=True)
    best = best_widths(part)
    rows = part[(part["predictor"] == "average") & (part["order"] == 0)]
    without, given = (wrong[n][rows.index[(rows["form"] == f) & (rows["width"] == best[f])][0]] for f in PAIR)
    return statistics.mcnemar(given, without), {form: best[form] for form in PAIR}


# For readers.


def largest_table(largest):
    """`largest_terms` as they are printed."""
    return styled(largest, dict.fromkeys(["final", "average"], ".2%") | {"mistakes": ",.0f"})
