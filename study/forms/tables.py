"""What the tables of the three multiclass forms say: the chosen kernels, errors at the end, spectra, times.

Tables are those of study.forms.experiment.
"""

import numpy as np

from kp.gram import CrossGram, Points, Products
from kp.mistakes import PREDICTORS
from study.claims import interval
from study.forms.experiment import FORMS, kernel_of, split


def describe(kind, parameter):
    """A kernel in words: "rbf" of this width, or "poly" of this degree."""
    return f"RBF, $\\sigma$ = {parameter:g}" if kind == "rbf" else f"$(1 + x \\cdot y)^{{{parameter:g}}}$"


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


def average_against_final(errors, form, n):
    """Test errors of the form's average predictor over those of its final one, summed over all epochs and sizes up to n."""
    part = errors[(errors["form"] == form) & (errors["n"] <= n)].groupby("predictor")["errors"].sum()
    return part["average"] / part["final"]


def at_narrowest_kernel(choice, form):
    """{predictor: validation error (a fraction)} of the form with its narrowest RBF kernel, after the last epoch."""
    rows = choice[(choice["form"] == form) & (choice["kernel"] == "rbf")]
    rows = rows[rows["parameter"] == rows["parameter"].min()]
    rows = rows[rows["epoch"] == rows["epoch"].max()]
    return dict(zip(rows["predictor"], rows["errors"] / rows["n_test"], strict=True))


def spectra(dataset, kinds, n):
    """{title: (shares of K, shares of K^2)}: eigenvalues among n examples, descending, of kernels [(kind, parameter)]."""
    points, out = Points(split(dataset)[0][:n]), {}
    for kind, parameter in kinds:
        K = CrossGram(Products(points, points)).values(kernel_of(kind, parameter), np.arange(n))
        values = np.maximum(np.linalg.eigvalsh(K)[::-1], 0.0)
        out[describe(kind, parameter)] = values / values.sum(), values**2 / np.sum(values**2)
    return out
