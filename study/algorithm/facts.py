"""Quantities that the text of the algorithm's chapter quotes."""

from types import SimpleNamespace

import numpy as np
import pandas as pd

from study import statistics
from study.predictors import PREDICTORS


def run(log, n):
    """One run on n examples: n_mistakes; n_support, the examples with a mistake; n_steps; n_stored, the numbers in A; and
    n_spoilt, the mistakes after which more training examples are misclassified than before.
    """
    return SimpleNamespace(
        n_mistakes=len(log),
        n_support=len(np.unique(log.example)),
        n_steps=log.steps(),
        n_stored=log.steps() * n,
        n_spoilt=int((np.diff(log.errors) > 0).sum()),
    )


def orders(errors, n_test):
    """Errors on n_test fresh examples over visiting orders (experiment.orders), as rates.

    by_predictor has a row for each predictor, which is an attribute, too: lowest, median, mean, highest; share_best, the
    orders in which no other predictor has fewer errors; and estimate, low, high, p of the difference of its mean from the
    average predictor's, by Student's t over orders, Holm over three. spread: highest - lowest, by predictor;
    share_best: the largest; luck: the share of orders with fewer errors or as many, by order and predictor.
    """
    wide = errors.pivot(index="order", columns="predictor", values="test_errors")[list(PREDICTORS)]
    rates = wide / n_test
    found = pd.DataFrame({"lowest": rates.min(), "median": rates.median(), "mean": rates.mean(), "highest": rates.max()})
    found["share_best"] = wide.eq(wide.min(axis=1), axis=0).mean()
    tests = {
        name: statistics.student(rates[name] - rates["average"], varies="visiting orders")
        for name in PREDICTORS
        if name != "average"
    }
    adjusted = statistics.table(statistics.holm(tests)).set_index("comparison")
    found = found.join(adjusted[["estimate", "low", "high", "p"]])
    return SimpleNamespace(
        by_predictor=found,
        spread=found["highest"] - found["lowest"],
        share_best=found["share_best"].max(),
        luck=wide.rank(pct=True),
        **{name: found.loc[name] for name in PREDICTORS},
    )


def bounds(by_degree, by_gap):
    """Mistakes against their bound (experiment.bounds), by degree and by gap: the largest share of the bound that any order
    reaches, over all sets; the bound's growth from the lowest degree to the highest, and the median at each.
    """
    every = pd.concat([by_degree, by_gap])
    rows = by_degree.sort_values("degree")
    (first, last) = (rows.iloc[place] for place in (0, -1))
    return SimpleNamespace(
        largest_share=(every["most"] / every["bound"]).max(),
        growth=last["bound"] / first["bound"],
        first_median=first["median"],
        last_median=last["median"],
    )
