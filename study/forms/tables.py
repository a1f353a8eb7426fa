"""What the tables of the three multiclass forms say: the chosen kernels, errors at the end, spectra, times.

Tables are those of study.forms.experiment.
"""

from itertools import combinations

import numpy as np
import pandas as pd

from kp.gram import CrossGram, Points, Products
from kp.mistakes import PREDICTORS
from study import statistics
from study.claims import interval
from study.forms.experiment import EQUAL, FORMS, JUDGED, PAIR, best_widths, kernel_of, split
from study.report.display import listed


def describe(kind, parameter):
    """A kernel in words: "rbf" of this width, or "poly" of this degree."""
    return f"RBF, $\\sigma$ = {parameter:,g}" if kind == "rbf" else f"$(1 + x \\cdot y)^{{{parameter:g}}}$"


def with_rates(table):
    """The table with error (a fraction of n_test) and its exact 95 % interval, low and high (fractions)."""
    low, high = (count / table["n_test"] for count in interval(table["errors"], table["n_test"]))
    return table.assign(error=table["errors"] / table["n_test"], low=low, high=high)


def best_of_each(choice):
    """A row for each form: the kernel with the fewest validation errors, in words, with the predictor and epoch it had.

    Columns form, kernel, predictor, epoch, mistakes, support, validation error (a fraction).
    """
    best = choice.sort_values("errors", kind="stable").groupby("form", sort=False).first().loc[list(FORMS)].reset_index()
    best["kernel"] = [describe(*pair) for pair in zip(best["kernel"], best["parameter"], strict=True)]
    best["validation error"] = best["errors"] / best["n_test"]
    return best[["form", "kernel", "predictor", "epoch", "mistakes", "support", "validation error"]]


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


def seconds(times):
    """Seconds of training: a row for each form, a column for each number of training examples."""
    table = times.pivot(index="form", columns="n", values="seconds").loc[list(FORMS)]
    return table.rename(columns=lambda n: f"n = {n:,}").rename_axis(columns=None).reset_index()


def minutes(times, form, n):
    """Minutes of training of one form with n examples."""
    return float(times.set_index(["form", "n"]).loc[(form, n), "seconds"]) / 60


def average_against_final(errors, form, n):
    """Test errors of the form's average predictor over those of its final one, summed over all epochs and sizes up to n."""
    part = errors[(errors["form"] == form) & (errors["n"] <= n)].groupby("predictor")["errors"].sum()
    return part["average"] / part["final"]


def spectra(dataset, kinds, n):
    """{title: (shares of K, shares of K^2)}: eigenvalues among n examples, descending, of kernels [(kind, parameter)]."""
    points, out = Points(split(dataset)[0][:n]), {}
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


def equal_rates(equal, *, epoch=None):
    """A row for each n, form and predictor: mean, fewest and most test errors (fractions) over the orders.

    After the last epoch that was read, or after `epoch`, where it was. Columns: n, form, width, predictor, epoch, orders,
    mistakes (median), error, low, high.
    """
    at = equal.groupby("n")["epoch"].transform("max") if epoch is None else epoch
    rows = equal[equal["epoch"] == at]
    rows = rows.assign(error=rows["errors"] / rows["n_new"])
    return rows.groupby(["n", "form", "width", "predictor", "epoch"], sort=False, as_index=False).agg(
        orders=("order", "nunique"),
        mistakes=("mistakes", "median"),
        error=("error", "mean"),
        low=("error", "min"),
        high=("error", "max"),
    )


EQUAL_PAIRS = tuple(combinations(EQUAL, 2))
"""The pairs of forms that are compared on equal terms."""


def pairs(wrong, *, order=0):
    """{(form, other form, predictor): Difference} of test errors in one order, by McNemar's test; one family (Holm).

    wrong (orders, forms, predictors, images). The forms of EQUAL in pairs, and Xu and Zhang's with and without threshold.
    """
    forms = [*EQUAL[:2], *PAIR]
    flags = {(f, p): wrong[order, i, j] for i, f in enumerate(forms) for j, p in enumerate(JUDGED)}
    asked = [*EQUAL_PAIRS, PAIR[::-1]]
    return statistics.holm({(a, b, p): statistics.mcnemar(flags[a, p], flags[b, p]) for a, b in asked for p in JUDGED})


def over_orders(wrong, a, b, predictor):
    """The differences (orders,) of test errors of two forms, in percentage points; wrong as of `pairs`."""
    forms, place = [*EQUAL[:2], *PAIR], JUDGED.index(predictor)
    rates = 100 * wrong[:, :, place].mean(axis=-1)
    return rates[:, forms.index(a)] - rates[:, forms.index(b)]


def pairs_table(found, wrong):
    """The comparisons of `pairs` as rows: forms, predictor, errors in percentage points with interval, p.

    least and most are the ends of the differences over all orders; wrong as of `pairs`.
    """
    rows = []
    for (a, b, predictor), gap in found.items():
        each = over_orders(wrong, a, b, predictor)
        tested = (100 * gap.estimate, 100 * gap.low, 100 * gap.high, gap.p)
        rows.append((f"{a} minus {b}", predictor, *tested, each.min(), each.max()))
    return pd.DataFrame(rows, columns=["forms", "predictor", "difference", "low", "high", "p", "least", "most"])


def mistakes_at(tuning, n, width):
    """{form: median over the orders of the mistakes} of n examples at this width; tuning as of experiment.tuning."""
    rows = tuning[(tuning["n"] == n) & (tuning["width"] == width) & (tuning["predictor"] == "final")]
    return rows.groupby("form", sort=False)["mistakes"].median().to_dict()


def largest_terms(rates):
    """A row for each form at the largest n: width, epoch, mistakes, final and average test errors (fractions)."""
    rows = rates[rates["n"] == rates["n"].max()]
    table = rows.pivot(index=["form", "width", "epoch", "mistakes"], columns="predictor", values="error")
    table = table.rename_axis(columns=None).reset_index()[["form", "width", "epoch", "mistakes", *JUDGED]]
    return table.sort_values("form", key=lambda names: names.map([*EQUAL[:2], *PAIR].index), ignore_index=True)


def as_published(row, width):
    """The same columns for a row of `at_the_end` of Xu and Zhang's form with its first choice of the kernel."""
    about = {"form": "Xu-Zhang, first choice", "width": width, "epoch": row["epoch"], "mistakes": row["mistakes"]}
    return pd.DataFrame([about | {name: row[name] / row["n_test"] for name in JUDGED}])


def with_first_choice(largest, row, width):
    """The rows of `largest_terms`, and below them that of `as_published`."""
    return pd.concat([largest, as_published(row, width)], ignore_index=True)


def narrowest(tuning, wrong, n):
    """(Difference, rate without, rate with): Xu and Zhang's threshold at the narrowest width, by the average predictor.

    Validation errors with threshold less those without, in the first order of n examples; wrong as of `widths_found`.
    """
    part = tuning[tuning["n"] == n].reset_index(drop=True)
    rows = part[(part["width"] == part["width"].min()) & (part["predictor"] == "average") & (part["order"] == 0)]
    place = dict(zip(rows["form"], rows.index, strict=True))
    without, given = (wrong[n][place[form]] for form in PAIR)
    return statistics.mcnemar(given, without), float(without.mean()), float(given.mean())


def own_widths(tuning, wrong, n):
    """(Difference, {form: width}): Xu and Zhang's form with threshold less without, each with its own best width.

    Validation errors of the average predictor with n examples, in the first order; wrong as of `widths_found`.
    """
    part = tuning[tuning["n"] == n].reset_index(drop=True)
    best = best_widths(part)
    rows = part[(part["predictor"] == "average") & (part["order"] == 0)]
    without, given = (wrong[n][rows.index[(rows["form"] == f) & (rows["width"] == best[f])][0]] for f in PAIR)
    return statistics.mcnemar(given, without), {form: best[form] for form in PAIR}


def still_learning(equal, n):
    """How many of the forms of EQUAL made mistakes in the last epoch with n examples, in any order."""
    rows = equal[(equal["n"] == n) & equal["form"].isin(EQUAL)]
    return int((~rows.groupby("form")["converged"].all()).sum())


def threshold_share(dataset, width, sizes, *, n=200):
    """{size: what one mistake adds to its own score by K^2, on average}, where its threshold adds 1.

    The mean of sum_m k(x_q, x_m)^2 over n of the training images, m = 1, ..., size.
    """
    X = split(dataset)[0]
    columns = CrossGram(Products(Points(X[:n]), Points(X[: max(sizes)])))
    squares = columns.values(kernel_of("rbf", width), np.arange(min(n, len(X)))) ** 2
    return {size: float(squares[:, :size].sum(axis=1).mean()) for size in sizes}


def by_size(counts, unit):
    """ "10 epochs with 1,000 and 4,000 images and 4 with 60,000": {n: count of units} in a sentence."""
    groups, texts = {}, []
    for n, count in counts.items():
        groups.setdefault(count, []).append(f"{n:,}")
    for count, sizes in groups.items():
        number = f"{'one' if count == 1 else count} {unit}{'s' * (count != 1)}"
        first = f"{number} with {listed(sizes)} images"
        texts.append(f"{'one' if count == 1 else count} with {listed(sizes)}" if texts else first)
    return listed(texts)


def outcome(gap):
    """ "−0.21 points, −0.40 to −0.03, p = 0.030": a Difference as a sentence has it."""
    ends = f"{100 * gap.low:+.2f} to {100 * gap.high:+.2f}"
    return f"{statistics.points(gap.estimate)}, {ends}, {statistics.p_value(gap.p)}"


def carried_width(tuning, form, small, large):
    """(width found with `small` examples, validation error with it and with the best width, both with `large` examples).

    Means over the orders, of the average predictor; rows as of experiment.tuning.
    """
    best = {n: best_widths(tuning[tuning["n"] == n])[form] for n in (small, large)}
    rows = tuning[(tuning["n"] == large) & (tuning["form"] == form) & (tuning["predictor"] == "average")]
    rates = (rows["errors"] / rows["n_new"]).groupby(rows["width"]).mean()
    return best[small], float(rates[best[small]]), float(rates[best[large]])


def nearest_of_same_class(X, y):
    """Shares of integer images X (n, d) whose nearest other image has their class: by distances in 64 bits, and by
    differences that are squared in 8 bits and wrap around."""
    shares = []
    for kind in (np.int64, np.uint8):
        squares = np.stack([((X.astype(kind) - x.astype(kind)) ** 2).sum(axis=1, dtype=np.int64) for x in X])
        np.fill_diagonal(squares, np.iinfo(np.int64).max)
        shares.append(float((y[squares.argmin(axis=1)] == y).mean()))
    return tuple(shares)
