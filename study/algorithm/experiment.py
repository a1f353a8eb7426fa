"""Kernel perceptrons on sets in the plane: every predictor of a run at once, and the mistake bound.

Sources: Hermans 2021, section 3.3 (predictors); Freund & Schapire 1999 (voted); Novikoff 1962 (mistake bound).

Symbols: X (n, 2) examples, z (n,) signs +-1, M mistakes, f_m the predictor after m mistakes, T steps, k = (1 + x.y)^p.
"""

import numpy as np
import pandas as pd
from sklearn.svm import SVC
from sklearn.utils import check_random_state

from kp import kernels
from kp.mistakes import PREDICTORS
from kp.output_codes import OneVsAllKernelPerceptron


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


def grid(X, *, margin=0.3, resolution=150):
    """(points (resolution^2, 2), (left, right, bottom, top)): a lattice over the examples, row by row from the bottom."""
    (left, bottom), (right, top) = X.min(axis=0) - margin, X.max(axis=0) + margin
    across, up = np.meshgrid(np.linspace(left, right, resolution), np.linspace(bottom, top, resolution))
    return np.column_stack([across.ravel(), up.ravel()]), (left, right, bottom, top)


def gapped(n_samples=60, *, gap=0.2, random_state):
    """X (n, 2) uniform on [-1, 1]^2 but for a strip of width `gap` about the line 2 x_1 + x_2 = 1/2; z (n,) +-1 by its side.

    random_state: int or np.random.RandomState. Raises ValueError if the gap is not in 0..1.
    """
    if not 0 <= gap <= 1:
        raise ValueError(f"gap must be in 0..1, got {gap!r}")
    generator = check_random_state(random_state)
    X = np.empty((0, 2))
    while len(X) < n_samples:
        X = np.concatenate([X, generator.uniform(-1, 1, size=(n_samples, 2))])
        X = X[np.abs(_distance(X)) > gap / 2][:n_samples]
    return X, np.where(_distance(X) > 0, 1, -1)


def _distance(X):
    """Signed distance (n,) of X (n, 2) from the line 2 x_1 + x_2 = 1/2."""
    return (2 * X[:, 0] + X[:, 1] - 0.5) / np.sqrt(5)


def mistake_bound(X, z, degree):
    """(R, gamma) of a separable set: R^2 = max_i k(x_i, x_i), gamma = min_i z_i u.phi(x_i) for a unit vector u.

    A perceptron that starts from 0 makes at most (R / gamma)^2 mistakes, in whatever order and however often it visits
    the examples (Novikoff 1962). u is the separating direction through the origin that scikit-learn's support vector
    machine finds for the set and its mirror image, so that no intercept is needed; gamma is the margin that this u attains
    by our own sums, so that the bound holds to whatever precision u was found.
    Raises ValueError if the set is not separated.
    """
    K = kernels.polynomial(degree)(X, X)
    R = np.sqrt(K.diagonal().max())
    Q = z[:, None] * K * z / R**2
    mirrored = np.block([[Q, -Q], [-Q, Q]])
    machine = SVC(C=1e7, kernel="precomputed", tol=1e-6).fit(mirrored, np.repeat([1, -1], len(z)))
    weights = np.bincount(machine.support_ % len(z), np.abs(machine.dual_coef_[0]), minlength=len(z))
    margins = Q @ weights / np.sqrt(weights @ Q @ weights)
    if not margins.min() > 0:
        raise ValueError(
            f"the examples must be separable at degree {degree}, got a margin of {margins.min():.3g}; "
            "raise the degree or set the classes farther apart"
        )
    return float(R), float(R * margins.min())


def mistakes_by_order(X, z, degree, *, n_orders, max_iter=10_000):
    """Mistakes (n_orders,) until an epoch passes without one, for visiting orders seeded 0, 1, ..., n_orders - 1.

    Raises ValueError if max_iter epochs do not suffice.
    """
    counts = []
    for seed in range(n_orders):
        model = OneVsAllKernelPerceptron(degree=degree, max_iter=max_iter, random_state=seed, n_jobs=1).fit(X, z)
        log = model.mistakes_[0]
        if log.errors[-1]:
            raise ValueError(f"expected no training error after {max_iter} epochs, got {log.errors[-1]}; raise max_iter")
        counts.append(len(log))
    return np.array(counts)


def bound_table(sets, degrees, *, n_orders):
    """Tidy table of mistakes and bounds, one row for each named set {name: (X, z)} and degree.

    Columns: set, degree, radius = R, margin = gamma, bound = (R / gamma)^2, fewest, median, most mistakes over n_orders.
    """
    rows = []
    for name, (X, z) in sets.items():
        for degree in degrees:
            R, gamma = mistake_bound(X, z, degree)
            counts = mistakes_by_order(X, z, degree, n_orders=n_orders)
            rows.append((name, degree, R, gamma, (R / gamma) ** 2, counts.min(), np.median(counts), counts.max()))
    names = ["set", "degree", "radius", "margin", "bound", "fewest", "median", "most"]
    return pd.DataFrame(rows, columns=names)
