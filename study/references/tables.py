"""Small tables of the chapter on other learners. Rates and differences are fractions."""

import numpy as np
import pandas as pd

from study import statistics


def compared(errors, predictions, ours, labels):
    """Every reference method beside the kernel perceptron on the same test images.

    errors: the rows of learners of the reference methods, predictions (methods, n) in the same order; ours (R, n) bool:
    where the perceptron errs, in R visiting orders; labels (n,). Columns method, choice, errors, error with low and high
    (Wilson, 95 %, over test images); gap, gap low, gap high and p: the perceptron less the method, over orders and test
    images (statistics.crossed, Holm over the methods); and verdict, how the perceptron stands.
    """
    wrong = predictions != labels
    tests = statistics.holm(
        {name: statistics.crossed(ours - own.astype(float)) for name, own in zip(errors["method"], wrong, strict=True)}
    )
    rows = [
        (row.method, row.choice, row.errors, row.errors / row.n_test, *statistics.wilson(row.errors, row.n_test))
        for row in errors.itertuples()
    ]
    table = pd.DataFrame(rows, columns=["method", "choice", "errors", "error", "low", "high"])
    found = list(tests.values())
    gaps = {"gap": "estimate", "gap low": "low", "gap high": "high", "p": "p"}
    table = table.assign(**{name: [getattr(each, field) for each in found] for name, field in gaps.items()})
    return table.assign(verdict=[each.word("lower", "higher", "–") for each in found])


def spread_of_ours(ours):
    """(mean error, low, high) of the perceptron, ours (R, n) bool, over orders and test images at 95 %."""
    found = statistics.crossed(np.asarray(ours, dtype=float))
    return found.estimate, found.low, found.high


def cost(errors, costs):
    """A row for each method, and for the perceptron after each of its epochs: method, epoch, the fewest errors of its
    predictors as a rate, fit and predict (seconds), peak (GiB), numbers (stored)."""
    keys = ["method", "epoch"]
    best = errors.assign(error=errors["errors"] / errors["n_test"]).groupby(keys, sort=False)
    table = best.agg(error=("error", "min"), numbers=("numbers", "first")).reset_index()
    return table.merge(costs, on=keys, validate="one_to_one")[[*keys, "error", "fit", "predict", "peak", "numbers"]]


def in_percent(table):
    """`compared` as it is printed: method, error and gap in percent and points with their intervals, p, and how ours is."""
    errors = [f"{100 * r.error:.2f} ({100 * r.low:.2f} to {100 * r.high:.2f})" for r in table.itertuples()]
    ends = zip(table["gap"], table["gap low"], table["gap high"], strict=True)
    gaps = [f"{100 * gap:+.2f} ({100 * low:+.2f} to {100 * high:+.2f})" for gap, low, high in ends]
    p = [statistics.p_cell(value) for value in table["p"]]
    columns = {
        "method": table["method"],
        "error (%)": errors,
        "ours minus it (points)": gaps,
        "p": p,
        "ours": table["verdict"],
    }
    return pd.DataFrame(columns)


def overflowing_degree(X):
    """(p, share): the lowest degree at which (1 + x . y)^p of integers X (n, d), computed in 64 bits, has negative values
    though no x has, and their share. Such values have wrapped around."""
    products = 1 + X.astype(np.int64) @ X.astype(np.int64).T
    for degree in range(1, 64):
        share = float((products**degree < 0).mean())
        if share:
            return degree, share
    return None, 0.0
