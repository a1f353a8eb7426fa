"""Tables of the algorithm's chapter: what a mistake log says, and the predictors that come from it, by their definitions.

Source: Hermans 2021, section 3.3. Symbols: X (n, d) examples, z (n,) signs +-1, M mistakes, f_m the predictor after m
mistakes, T steps.
"""

import numpy as np
import pandas as pd

from kp.mistakes import PREDICTORS
from study import statistics


def history(log, kernel, X, points):
    """f (M + 1, c): row m holds the scores f_m of the c points after m mistakes; row 0 is 0.

    log a MistakeLog over the examples X (n, d), kernel a function of X and Y, points (c, d).
    """
    moves = log.sign[:, None] * kernel(X[log.example], points)
    return np.vstack([np.zeros(len(points)), np.cumsum(moves, axis=0)])


def predictor_scores(log, f):
    """{predictor: scores (c,)} of the four predictors at the end of the run, from its history f (M + 1, c).

    The definitions, literally: the average is the mean of T scores, the voted predictor the sum of T signs.
    """
    stood = np.diff(log.step, prepend=0, append=log.steps())
    return {
        "final": f[-1],
        "average": stood @ f / log.steps(),
        "minimizing": f[log.minimizing_length()],
        "voted": stood @ np.sign(f),
    }


def error_table(scores, z):
    """Tidy table (predictor, split, errors, n) from scores {split: {predictor: f (c,)}} and signs {split: z (c,)}.

    A score of 0 is an error, whatever the sign.
    """
    rows = [
        (name, split, int(np.sum(z[split] * f[name] <= 0)), len(z[split]))
        for name in PREDICTORS
        for split, f in scores.items()
    ]
    return pd.DataFrame(rows, columns=["predictor", "split", "errors", "n"])


def log_table(log):
    """The mistake log as a tidy table, one row a mistake: mistake from 1, epoch, step, example, sign, training_errors."""
    return pd.DataFrame(
        {
            "mistake": np.arange(1, len(log) + 1),
            "epoch": np.searchsorted(log.ends, log.step, side="right") + 1,
            "step": log.step,
            "example": log.example,
            "sign": log.sign,
            "training_errors": log.errors,
        }
    )


def multiset(log, n):
    """A (T, n): the vector alpha that Algorithm 1 stores after each of its T steps, over n examples."""
    hits = np.zeros((log.steps(), n), dtype=int)
    hits[log.step, log.example] = 1
    return hits.cumsum(axis=0)


def by_order(table, n_test):
    """Test errors of the four predictors over visiting orders, rows of experiment.orders: a row for each predictor.

    Columns predictor, lowest, median, mean, highest (rates), fewest (share of the orders in which no other predictor has
    fewer errors), and difference, low, high, p of its mean error from the average predictor's: Student's t over orders, Holm
    over the three predictors.
    """
    wide = table.pivot(index="order", columns="predictor", values="test_errors")[list(PREDICTORS)]
    rates = wide / n_test
    moves = {name: rates[name] - rates["average"] for name in PREDICTORS if name != "average"}
    tests = {name: statistics.student(each, varies="visiting orders") for name, each in moves.items()}
    found = pd.DataFrame({"lowest": rates.min(), "median": rates.median(), "mean": rates.mean(), "highest": rates.max()})
    found["fewest"] = wide.eq(wide.min(axis=1), axis=0).mean()
    adjusted = statistics.table(statistics.holm(tests)).set_index("comparison")
    found = found.join(adjusted[["estimate", "low", "high", "p"]].rename(columns={"estimate": "difference"}))
    return found.rename_axis("predictor").reset_index()
