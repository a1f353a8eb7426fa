"""Small tables about prepared images and more of them. Rates and differences are fractions."""

from functools import lru_cache

import numpy as np
import pandas as pd

from kp.mistakes import PREDICTORS
from study import datasets, statistics
from study.growth import experiment

CONTROL = "average"
"""The predictor of which the chapter speaks."""
HIGHER = "higher"
LOWER = "lower"
UNTOLD = "–"
QUANTITIES = ("errors", "mistakes", "support")
COSTS = ("fit", "peak")


@lru_cache(maxsize=1)
def prepared(dataset="mnist", *, n_orders=experiment.N_ORDERS):
    """{preparation: (R, D, n_test) bool}: where the average predictor of the stored runs errs on prepared images."""
    parts = experiment.preparation_settings(dataset, n_orders=n_orders)
    results = experiment.prepared(parts)
    return _wrong_by([part.preparation for part in parts], results["arrays"], dataset)


@lru_cache(maxsize=1)
def grown(dataset="mnist", *, n_orders=experiment.N_ORDERS):
    """{n: (R, D, n_test) bool}: where the average predictor of the stored runs errs after training on n examples; the last
    n is that with shifts, of one order and one degree."""
    parts = experiment.growth_settings(dataset, n_orders=n_orders)
    results = experiment.curves(parts)
    return _wrong_by([part.n for part in parts], results["arrays"], dataset)


def _wrong_by(names, arrays, dataset):
    """{name: (R, D, n_test) bool} of arrays with predictions (n_test, D, 4), grouped by their names."""
    labels = datasets.load(dataset).class_indices_test
    found = {}
    for name, each in zip(names, arrays, strict=True):
        wrong = each["predictions"][:, :, PREDICTORS.index(CONTROL)] != labels[:, None]
        found.setdefault(name, []).append(wrong.T)
    return {name: np.stack(orders) for name, orders in found.items()}


def effects(wrong, degrees):
    """Every preparation against raw pixels at the same degree: preparation, degree, error, control (that of raw pixels),
    estimate, low, high, p and verdict.

    The difference is over orders and test images (statistics.crossed), with Holm's correction over all rows.
    """
    raw = wrong["raw"]
    keys = [(name, d) for name in wrong if name != "raw" for d in range(len(degrees))]
    tests = statistics.holm({(name, d): statistics.crossed(wrong[name][:, d].astype(float) - raw[:, d]) for name, d in keys})
    rows = [(name, degrees[d], wrong[name][:, d].mean(), raw[:, d].mean()) for name, d in keys]
    table = pd.DataFrame(rows, columns=["preparation", "degree", "error", "control"])
    table = table.join(statistics.table(tests)[["estimate", "low", "high", "p"]])
    return table.assign(verdict=[test.word(LOWER, HIGHER, UNTOLD) for test in tests.values()])


def last(table, *, predictor):
    """The rows of a predictor after its last epoch."""
    return table[(table["predictor"] == predictor) & (table["epoch"] == table["epoch"].max())]


def laws(curves, costs, wrong, degrees, *, predictor):
    """Exponents b of q = a n^b: of errors, mistakes and support examples at each degree, of seconds and peak memory of all
    degrees together. Columns quantity, degree ("" for all), exponent with its 95 % interval low, high; least and greatest,
    the extreme exponents between neighbouring sizes of the mean, which a power law would have equal; and change, by how much
    the exponent grows with each tenfold n by a quadratic term in log n, with change_low, change_high, and p (Holm over all).

    Lines and parabolas of least squares through log q by log n. Mistakes and support examples have Student's t over orders,
    which differ in the draw of the examples, too; the errors, wrong {n: (R, D, n_test) bool} at these degrees, are on the
    same test images throughout, so theirs is over orders and test images (statistics.crossed). Costs have no test of change.
    """
    rows = last(curves, predictor=predictor)
    parts = [(name, degree, own) for name in QUANTITIES for degree, own in rows.groupby("degree")]
    out = []
    changes = {}
    for quantity, degree, own in parts + [(name, "", costs) for name in COSTS]:
        wide = own.pivot(index="order", columns="n", values=quantity).dropna(axis=1)
        if wide.empty or (wide <= 0).any(axis=None):
            continue
        x = np.log10(wide.columns.to_numpy(float))
        slope = np.linalg.pinv(np.vander(x, 2))[0]
        change = 2 * np.linalg.pinv(np.vander(x - x.mean(), 3))[0]
        if quantity == "errors":
            by_size = np.stack([wrong[n][:, list(degrees).index(degree)] for n in wide.columns])
            test, bend = (_of_log_errors(by_size, weights) for weights in (slope, change))
        else:
            logs = np.log10(wide.to_numpy(float))
            test, bend = (
                statistics.student(logs @ weights, varies="visiting orders and draws of examples")
                for weights in (slope, change)
            )
        local = np.diff(np.log10(wide.mean().to_numpy())) / np.diff(x)
        out.append((quantity, degree, test.estimate, test.low, test.high, local.min(), local.max()))
        if quantity not in COSTS:
            changes[quantity, degree] = bend
    table = pd.DataFrame(out, columns=["quantity", "degree", "exponent", "low", "high", "least", "greatest"])
    bends = {key: (t.estimate, t.low, t.high, t.p) for key, t in statistics.holm(changes).items()}
    found = [bends.get(key, (np.nan,) * 4) for key in zip(table["quantity"], table["degree"], strict=True)]
    return table.join(pd.DataFrame(found, columns=["change", "change_low", "change_high", "p"]))


def _of_log_errors(wrong, weights):
    """The Difference sum_s weights_s log10 e_s, with e_s the error rate at size s: wrong (S, R, n), weights (S,).

    Over orders and images: each log is linear near the mean rate, so that every image of every order has its own part in it.
    """
    means = wrong.mean(axis=(1, 2))
    shares = np.einsum("s,srn->rn", weights / (means * np.log(10)), wrong)
    return statistics.crossed(shares + weights @ (np.log10(means) - 1 / np.log(10)))


def on_law(rates, exponent, n):
    """The error rate at n by the law with this exponent that fits rates {size: rate} best, least squares of logarithms."""
    sizes = np.log(list(rates))
    return float(np.exp(np.mean(np.log(list(rates.values()))) + exponent * (np.log(n) - sizes.mean())))
