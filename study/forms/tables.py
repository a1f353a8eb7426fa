"""Summaries of the tables of the three multiclass forms: errors at the end, best widths, spectra, times.

Tables are those of study.forms.experiment.
"""

from itertools import combinations

import numpy as np
import pandas as pd

from kp.gram import CrossGram, Points, Products
from kp.mistakes import PREDICTORS
from study import statistics
from study.forms.experiment import EQUAL, FORMS, JUDGED, PAIR, best_widths, kernel_of, split

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


def end_rates(rows):
    """Rows of `at_the_end` to show: without numbers of test images, the errors of each predictor as a fraction of them."""
    shares = {name: rows[name] / rows["n_test"] for name in PREDICTORS}
    return rows.assign(**shares).drop(columns="n_test")


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


def widths_found(tuning, wrong):
    """A row for each n and form: the width with the fewest validation errors of the average predictor, and its rivals.

    wrong: {n: flags (rows of that n, images)}. Columns: n, form, width; average, final (validation errors there, fractions,
    means over the orders); edge ("yes" if the width is the first or the last tried); from, to: the widths, best included,
    whose average predictor McNemar's test does not tell from the best one's in the first order (Holm over the others).
    """
    rows = []
    for n, part in tuning.groupby("n", sort=False):
        part = part.reset_index(drop=True)
        for form, width in best_widths(part).items():
            own = part[(part["form"] == form) & (part["width"] == width)].groupby("predictor")["errors"].mean()
            first = part[(part["form"] == form) & (part["predictor"] == "average") & (part["order"] == 0)]
            flags = dict(zip(first["width"], wrong[n][first.index], strict=True))
            gaps = statistics.holm({w: statistics.mcnemar(flags[w], flags[width]) for w in flags if w != width})
            level = [width, *(w for w, gap in gaps.items() if gap.p >= statistics.ALPHA)]
            edge = "yes" if width in (min(flags), max(flags)) else "no"
            rates = own / part["n_new"].iloc[0]
            rows.append((n, form, width, rates["average"], rates["final"], edge, min(level), max(level)))
    return pd.DataFrame(rows, columns=["n", "form", "width", "average", "final", "edge", "from", "to"])


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


def over_orders(wrong, a, b, predictor):
    """The differences (orders,) of test errors of two forms, in percentage points; wrong as in `pairs`."""
    forms = [*EQUAL[:2], *PAIR]
    place = JUDGED.index(predictor)
    rates = 100 * wrong[:, :, place].mean(axis=-1)
    return rates[:, forms.index(a)] - rates[:, forms.index(b)]


def pairs_table(found, wrong):
    """The comparisons of `pairs` as rows: forms, predictor, errors in percentage points with interval, p.

    least and most are the ends of the differences over all orders; wrong as in `pairs`.
    """
    rows = []
    for (a, b, predictor), gap in found.items():
        each = over_orders(wrong, a, b, predictor)
        tested = (100 * gap.estimate, 100 * gap.low, 100 * gap.high, gap.p)
        rows.append((f"{a} minus {b}", predictor, *tested, each.min(), each.max()))
    return pd.DataFrame(rows, columns=["forms", "predictor", "difference", "low", "high", "p", "least", "most"])


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

    Validation errors of the average predictor with n examples, in the first order; wrong as in `widths_found`.
    """
    part = tuning[tuning["n"] == n].reset_index(drop=True)
    best = best_widths(part)
    rows = part[(part["predictor"] == "average") & (part["order"] == 0)]
    without, given = (wrong[n][rows.index[(rows["form"] == f) & (rows["width"] == best[f])][0]] for f in PAIR)
    return statistics.mcnemar(given, without), {form: best[form] for form in PAIR}
