"""Small tables of the chapter on other learners. Rates and differences are fractions."""

import numpy as np
import pandas as pd

from kp.mistakes import PREDICTORS
from study import statistics

MARGIN = 0.002
"""Errors that differ by less than 0.2 points count as equal in practice; set before the machines were chosen."""
ALTERNATIVES = ("coef0",)
"""Parameters of which a grid has alternatives in place of a range: it has no ends."""


def compared(errors, predictions, ours, labels):
    """Every reference method beside the kernel perceptron on the same test images.

    errors: the rows of learners of the reference methods, predictions (methods, n) in the same order; ours (R, n) bool:
    where the perceptron errs, in R visiting orders; labels (n,). Columns method, choice, errors, error with low and high
    (Wilson, 95 %, over test images); gap, gap low, gap high and p: the perceptron less the method, over orders and test
    images (statistics.crossed, Holm over the methods); p same, of the gap lying within +-MARGIN (crossed_equivalence, Holm
    over the methods); and verdict: how the perceptron stands, "equal" where only p same is small, "–" where neither is.
    """
    gaps = {name: ours - own.astype(float) for name, own in zip(errors["method"], predictions != labels, strict=True)}
    tests = statistics.holm({name: statistics.crossed(gap) for name, gap in gaps.items()})
    same = statistics.holm({name: statistics.crossed_equivalence(gap, within=MARGIN) for name, gap in gaps.items()})
    rows = [
        (row.method, row.choice, row.errors, row.errors / row.n_test, *statistics.wilson(row.errors, row.n_test))
        for row in errors.itertuples()
    ]
    table = pd.DataFrame(rows, columns=["method", "choice", "errors", "error", "low", "high"])
    columns = {"gap": "estimate", "gap low": "low", "gap high": "high", "p": "p"}
    table = table.assign(**{name: [getattr(each, field) for each in tests.values()] for name, field in columns.items()})
    table["p same"] = [each.p for each in same.values()]
    tie = np.where(table["p same"] < statistics.ALPHA, "equal", "–")
    return table.assign(verdict=[each.word("lower", "higher", tie[i]) for i, each in enumerate(tests.values())])


def spread_of_ours(ours):
    """(mean error, low, high) of the perceptron, ours (R, n) bool, over orders and test images at 95 %."""
    found = statistics.crossed(np.asarray(ours, dtype=float))
    return found.estimate, found.low, found.high


def held_out_means(held):
    """Mean errors on the held-out images over visiting orders: degree, predictor, epoch, held, orders, the fewest first.

    held: the rows of orders.held_out.
    """
    keys = ["degree", "predictor", "epoch"]
    table = held.groupby(keys)["held"].agg(held="mean", orders="size").reset_index()
    return table.sort_values(["held", *keys], ignore_index=True)


def cost(errors, costs, *, predictor):
    """A row for each method, and for the perceptron, with this predictor, after each of its epochs: method, epoch, error (a
    rate), fit and predict (processor seconds), peak (GiB), numbers (stored)."""
    others = [name for name in PREDICTORS if name != predictor]
    table = errors[~errors["predictor"].isin(others)].assign(error=lambda rows: rows["errors"] / rows["n_test"])
    table = table.merge(costs, on=["method", "epoch"], validate="one_to_one")
    return table[["method", "epoch", "error", "fit", "predict", "peak", "numbers"]]


def joined(errors, costs, found):
    """The tables of errors and of costs with the rows of `intelex`."""
    own = found.assign(predictor="", epoch=0)
    return tuple(pd.concat([table, own[list(table.columns)]], ignore_index=True) for table in (errors, costs))


def tried(choices, grids, names):
    """A row for each method that has a choice: method, candidates, grid (its values), choice, at the edge (the parameters
    of the choice that have the first or last value of their range), fewest and most (held-out errors).

    choices: the table of learners; grids {method: [{parameter: value}]} in its order; names: what parameters are called.
    """
    rows = []
    for method, part in choices.groupby("method", sort=False):
        grid, held = grids[method], part["held"].to_numpy()
        best = grid[int(held.argmin())]
        values = {name: sorted({each[name] for each in grid}) for name in grid[0]}
        edges = [
            names.get(name, name)
            for name, found in values.items()
            if name not in ALTERNATIVES and best[name] in (found[0], found[-1])
        ]
        shown = "; ".join(
            f"{names.get(name, name)} {', '.join(f'{value:g}' for value in found)}" for name, found in values.items()
        )
        chosen = part["choice"].iloc[int(held.argmin())]
        rows.append((method, len(grid), shown, chosen, ", ".join(edges), held.min(), held.max()))
    columns = ["method", "candidates", "grid", "choice", "at the edge", "fewest", "most"]
    return pd.DataFrame(rows, columns=columns)


def in_percent(table):
    """`compared` as it is printed: method, error and gap in percent and points with their intervals, p, and how ours is."""
    errors = [f"{100 * r.error:.2f} ({100 * r.low:.2f} to {100 * r.high:.2f})" for r in table.itertuples()]
    ends = zip(table["gap"], table["gap low"], table["gap high"], strict=True)
    gaps = [f"{100 * gap:+.2f} ({100 * low:+.2f} to {100 * high:+.2f})" for gap, low, high in ends]
    columns = {
        "method": table["method"],
        "error (%)": errors,
        "ours minus it (points)": gaps,
        "p": [statistics.p_cell(value) for value in table["p"]],
        "p equal": [statistics.p_cell(value) for value in table["p same"]],
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
