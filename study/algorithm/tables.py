"""Tables of the algorithm's chapter: visits worked by hand, what a mistake log says, and the predictors that come from it.

Source: Hermans 2021, Algorithm 1 and section 3.3. Symbols: X (n, d) examples, z (n,) signs +-1, K (n, n) kernel values, M
mistakes, f_m the predictor after m mistakes, T steps.
"""

from math import comb

import numpy as np
import pandas as pd

from kp import literal
from kp.perceptron import visiting_orders
from study.predictors import PREDICTORS
from study.words import styled, with_interval

CROSSED = np.array([[1, 1], [-1, -1], [1, -1], [-1, 1]]), np.array([1, 1, -1, -1])
"""Four points X (4, 2) and their signs z (4,): each pair of one sign lies on a diagonal, and the diagonals cross."""


def n_features(d, p):
    """Dimension of the feature space of (1 + x.y)^p: the products of at most p of d numbers."""
    return comb(d + p, p)


def by_hand(K, z, order):
    """Algorithm 1 visit by visit, for whole kernel values: a row for each.

    Columns: visit, example (both from 1), score (the sum written out), label, mistake? ("yes" or ""), and alpha afterwards.
    """
    A = literal.algorithm_1(K, z, order)
    rows = []
    for visit, (t, alpha, after) in enumerate(zip(order, [np.zeros_like(z), *A], A, strict=False), start=1):
        terms = [value for value, count in zip(alpha * z * K[:, t], alpha, strict=True) if count]
        mistake = "yes" if (after != alpha).any() else ""
        rows.append((visit, t + 1, _sum(terms), _signed(z[t]), mistake, vector(after)))
    found = pd.DataFrame(rows, columns=["visit", "example", "score", "label", "mistake", "alpha"])
    return styled(found.rename(columns={"mistake": "mistake?", "alpha": r"$\alpha$ after"}))


def with_sign_of_zero(K, z, order, sign):
    """(alpha (n,), visits of the mistakes, from 1) of Algorithm 1 at its end if sgn(0) is this sign."""
    alpha = np.zeros(len(z), dtype=int)
    visits = []
    for visit, t in enumerate(order, start=1):
        if (np.sign(literal.g(alpha, z, K[:, t])) or sign) != z[t]:
            alpha[t] += 1
            visits.append(visit)
    return alpha, visits


def vector(values):
    return f"({', '.join(map(_signed, values))})"


def _signed(value):
    return f"{value:g}".replace("-", "\N{MINUS SIGN}")


def _sum(terms):
    """Write a sum out with its value and true minus signs, as "1 - 1 - 1 = -1"; of one term or none, the number alone."""
    if len(terms) < 2:
        return _signed(sum(terms))
    first, *rest = terms
    written = [_signed(first), *(f"{'+' if term > 0 else _signed(-1)[0]} {abs(term):g}" for term in rest)]
    return f"{' '.join(written)} = {_signed(sum(terms))}"


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

    A score of 0 is an error for either sign.
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


def first_mistakes(log_table):
    """The first four rows of `log_table` as they are printed, steps and examples from 1."""
    rows = log_table.head(4).assign(step=log_table["step"] + 1, example=log_table["example"] + 1)
    return styled(rows.rename(columns={"sign": "label", "training_errors": "wrong afterwards"}))


def visiting_order(n, n_epochs, *, random_state):
    """The example of each step (n_epochs * n,) of a run with this seed."""
    epochs = visiting_orders(n, 1, n_epochs, random_state=np.random.RandomState(random_state))
    return np.concatenate([order for (order,) in epochs])


def multiset(log, n):
    """A (T, n): the vector alpha that Algorithm 1 stores after each of its T steps, over n examples."""
    hits = np.zeros((log.steps(), n), dtype=int)
    hits[log.step, log.example] = 1
    return hits.cumsum(axis=0)


def squeezed(log, margins, K, z):
    """The weights of a run after each mistake, from none on: columns mistakes, along = u.w and length = |w|, to 6 decimals.

    margins (n,) z_i u.phi(x_i) of a unit vector u; K (n, n) inner products of the examples with signs z.
    """
    made = np.arange(len(log) + 1)
    alpha = np.array([np.bincount(log.example[:m], minlength=len(z)) for m in made])
    length = np.sqrt(np.einsum("mi,ij,mj->m", alpha * z, K, alpha * z))
    return pd.DataFrame({"mistakes": made, "along": alpha @ margins, "length": length}).round(6)


def errors_by_order(by_predictor):
    """Rows of facts.orders as they are printed."""
    columns = {"mean": "mean error", "lowest": "lowest", "highest": "highest", "share_best": "best in"}
    shown = by_predictor[list(columns)].rename(columns=columns)
    shown["compared with the average predictor"] = [with_interval(each) or "–" for each in by_predictor.itertuples()]
    return styled(shown.reset_index(), {"mean error": ".2%", "lowest": ".1%", "highest": ".1%", "best in": ".0%"})
