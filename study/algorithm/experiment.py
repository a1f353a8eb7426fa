"""How many mistakes a kernel perceptron makes on separable sets in the plane, with the mistake bound; and how much its four
predictors depend on the visiting order, on the toy set.

Source: Novikoff 1962. Symbols: X (n, 2) examples, z (n,) signs +-1, k = (1 + x.y)^p, R and gamma as in
study.protocols.margins.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from sklearn.utils import check_random_state

from kp import kernels
from kp.one_vs_all import OneVsAllKernelPerceptron
from study import datasets
from study.predictors import PREDICTORS
from study.protocols.margins import rounded, separable_bound, unit_margins
from study.protocols.settings import BaseSettings
from study.results.experiment import experiment

GAP = 0.1
GAPS = (0.025, 0.05, 0.1, 0.2, 0.4, 0.8)
DEGREES = (1, 2, 3, 4, 5, 6)


@dataclass(frozen=True, kw_only=True)
class Settings(BaseSettings):
    """n_samples examples with this gap (see `gapped`), drawn with the seed random_state; one degree, n_orders orders."""

    gap: float = GAP
    degree: int = 1
    n_samples: int = 60
    n_orders: int = 50
    random_state: int = 0


def at_degrees(degrees=DEGREES, **changes):
    """The parts of `bounds` by degree, at the gap GAP."""
    return [Settings(degree=degree, **changes) for degree in sorted(set(degrees))]


def at_gaps(**changes):
    """The parts of `bounds` by gap, at degree 1."""
    return [Settings(gap=gap, **changes) for gap in GAPS]


def settings():
    """The published parts of `bounds`, each once."""
    return list(dict.fromkeys([*at_degrees(), *at_gaps()]))


@experiment("algorithm", published=settings)
def bounds(part, *, progress=False):
    """Mistakes until an epoch passes without one, and their bound: one row.

    Columns: gap, degree, bound = (R / gamma)^2 with gamma by a support vector machine, fewest, median, most mistakes over
    the orders.
    """
    X, z = gapped(part.n_samples, gap=part.gap, random_state=part.random_state)
    R, margins = separation(X, z, part.degree)
    counts = mistakes_by_order(X, z, part.degree, n_orders=part.n_orders)
    bound = rounded(separable_bound(margins, R))
    row = (part.gap, part.degree, bound, counts.min(), np.median(counts), counts.max())
    names = ["gap", "degree", "bound", "fewest", "median", "most"]
    return pd.DataFrame([row], columns=names)


@dataclass(frozen=True, kw_only=True)
class Toy(BaseSettings):
    """The toy set (see study.datasets.moons), n_test fresh examples, and how often and how long it is learnt."""

    n_samples: int = 60
    n_test: int = 1000
    spread: float = 0.25
    degree: int = 3
    n_epochs: int = 8
    n_orders: int = 200
    random_state: int = 0


@experiment("algorithm", published=[Toy()])
def orders(part, *, progress=False):
    """Errors of the four predictors on fresh examples of the toy set, for visiting orders seeded 0, 1, ..., n_orders - 1.

    Columns order, predictor, test_errors. Only the order varies: the examples are those of random_state, the
    fresh ones those of the next seed.
    """
    X, y, X_test, y_test = toy_set(part)
    rows = []
    for order in range(part.n_orders):
        model = OneVsAllKernelPerceptron(
            degree=part.degree, gamma=1, max_iter=part.n_epochs, random_state=order, n_jobs=1, count_errors=True
        ).fit(X, y)
        rows += [(order, name, int((model.predict(X_test, predictor=name) != y_test).sum())) for name in PREDICTORS]
    return pd.DataFrame(rows, columns=["order", "predictor", "test_errors"])


def toy_set(part):
    """(X, y, X_test, y_test): the examples of a Toy and the fresh ones, y 0 or 1."""
    examples = datasets.moons(part.n_samples, spread=part.spread, random_state=part.random_state)
    return *examples, *datasets.moons(part.n_test, spread=part.spread, random_state=part.random_state + 1)


def separation(X, z, degree):
    """(R, margins (n,)) of a set at a degree, for the unit vector that separates it farthest, where one does."""
    K = kernels.polynomial(degree)(X, X)
    R = np.sqrt(K.diagonal().max())
    return float(R), R * unit_margins(K / R**2, z, cost=1e7, tol=1e-6)


def mistakes_by_order(X, z, degree, *, n_orders, max_iter=10_000):
    """Mistakes (n_orders,) until an epoch passes without one, for visiting orders seeded 0, 1, ..., n_orders - 1.

    Raises ValueError if max_iter epochs do not suffice.
    """
    counts = []
    for seed in range(n_orders):
        model = OneVsAllKernelPerceptron(
            degree=degree, gamma=1, max_iter=max_iter, random_state=seed, n_jobs=1, count_errors=True
        ).fit(X, z)
        log = model.mistakes_[0]
        if log.errors[-1]:
            raise ValueError(f"expected no training error after {max_iter} epochs, got {log.errors[-1]}; raise max_iter")
        counts.append(len(log))
    return np.array(counts)


def gapped(n_samples=60, *, gap=0.2, random_state):
    """X (n, 2) uniform on [-1, 1]^2 except a strip of width `gap` about the line 2 x_1 + x_2 = 1/2; z (n,) +-1 by its side.

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
