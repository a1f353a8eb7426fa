"""Prepared images, and more of them: what preparation does to the error, and how errors, mistakes and costs grow with n.

Source of the protocol: Hermans 2021, with K = (1 + gamma x . y)^p. Preparations are those named in the literature on
MNIST, and scalings of pixels. Order r of degree p has the seed p + 100 r.

The predictor is the average one after the last epoch.

Symbols: n training examples, D degrees.
"""

import time
from dataclasses import dataclass
from itertools import groupby

import numpy as np
import pandas as pd
from tqdm import tqdm

from kp.shared import SharedTraining
from study import datasets
from study.predictors import PREDICTORS
from study.protocols.images import MEMORY_BUDGET, in_order, predictions
from study.protocols.preparations import PREPARATIONS, with_shifts
from study.protocols.settings import IMAGES, BaseSettings
from study.results.alone import alone
from study.results.experiment import experiment

DEGREES = (4, 6)
N_ORDERS = 5
SIZES = {"mnist": (1000, 2000, 4000, 8000, 16_000, 32_000, 60_000), "digits": (75, 150, 300, 600, 1200)}
"""Numbers of training examples of the learning curves; the last are all there are."""
VIRTUAL = {"mnist": 300_000, "digits": 6000}
"""Numbers of examples with one-pixel shifts, five times all; one degree learns from them."""


@dataclass(frozen=True, kw_only=True)
class Prepared(BaseSettings):
    """One visiting order of these degrees on images prepared in one of the PREPARATIONS. Raises ValueError otherwise."""

    dataset: str = "mnist"
    preparation: str
    order: int = 0
    degrees: tuple[int, ...] = DEGREES
    n_epochs: int = 10

    KNOWN = {"dataset": IMAGES, "preparation": PREPARATIONS}


def preparation_settings(dataset="mnist", *, n_orders=N_ORDERS, **options):
    """The parts of `prepared`: every preparation in every order."""
    return [
        Prepared(dataset=dataset, preparation=name, order=r, **options) for name in PREPARATIONS for r in range(n_orders)
    ]


@experiment(
    "lower", published=preparation_settings, data=lambda part: [part.dataset], together=True,
    arrays=lambda part: f"{part.preparation} {part.order}",
)  # fmt: skip
def prepared(parts, *, progress=False):
    """{prepared, arrays} of each part: errors on the test images, and predictions.

    Table: preparation, degree, order, errors, n_test. Array predictions (n_test, D): indices of classes.
    """
    steps = [list(group) for _, group in groupby(parts, key=lambda part: (part.dataset, part.preparation))]
    for group in tqdm(steps, desc="preparations", disable=not progress):
        data = datasets.load(group[0].dataset)
        X, X_test, gamma = PREPARATIONS[group[0].preparation](data.X, data.X_test)
        training = SharedTraining(X, data.y, memory_budget=MEMORY_BUDGET, n_jobs=2)
        models = [
            [in_order(degree, part.order, n_epochs=part.n_epochs, gamma=gamma) for degree in part.degrees] for part in group
        ]
        found = _predicted(training, training.fit([model for each in models for model in each]), X_test)
        for part, own in zip(group, np.split(found, len(group), axis=1), strict=True):
            yield {"prepared": _table(part, "preparation", own), "arrays": {"predictions": np.ascontiguousarray(own)}}


@dataclass(frozen=True, kw_only=True)
class Growth(BaseSettings):
    """n training examples drawn at random, with one-pixel shifts beyond all there are, and one visiting order."""

    dataset: str = "mnist"
    n: int
    order: int = 0
    degrees: tuple[int, ...] = DEGREES
    n_epochs: int = 10

    KNOWN = {"dataset": IMAGES}
    BOUNDS = {"n": (10, 10**6)}


def growth_settings(dataset="mnist", *, n_orders=N_ORDERS, degrees=DEGREES):
    """The parts of `curves`: every size in every order, then the images with their shifts in one, at the first degree."""
    curve = [Growth(dataset=dataset, n=n, order=r, degrees=degrees) for n in SIZES[dataset] for r in range(n_orders)]
    return [*curve, Growth(dataset=dataset, n=VIRTUAL[dataset], degrees=degrees[:1])]


@experiment(
    "lower", published=growth_settings, tables=("curves", "curves_costs"), measured=("curves_costs",),
    arrays=lambda part: f"{part.n} {part.order}", data=lambda part: [part.dataset],
)  # fmt: skip
def curves(part, *, progress=False):
    """{curves, curves_costs, arrays} of one part, each in a separate process.

    curves: n, degree, order, errors, n_test. curves_costs: n, order, degrees (how many are learnt together), fit and predict
    (seconds), peak (GiB). Array predictions as in `prepared`.
    """
    n = len(datasets.load(part.dataset).X)
    most = VIRTUAL[part.dataset]
    if part.n > n and part.n != most:
        raise ValueError(f"n must be at most {n}, or {most} with all shifts, got {part.n}")
    found, _, cost = alone(_learnt, part, MEMORY_BUDGET)
    costs = pd.DataFrame([(part.n, part.order, len(part.degrees), *cost)], columns=COSTS)
    return {"curves": _table(part, "n", found), "curves_costs": costs, "arrays": {"predictions": found}}


COSTS = ["n", "order", "degrees", "fit", "predict", "peak"]


def examples(part):
    """(X, y) of a part: all images with their shifts, or a random draw of at most all."""
    data = datasets.load(part.dataset)
    if part.n == VIRTUAL[part.dataset]:
        return with_shifts(data.X, data.y)
    drawn = np.sort(np.random.RandomState(part.order).permutation(len(data.X))[: part.n])
    return data.X[drawn], data.y[drawn]


def _learnt(part, memory_budget):
    """(predictions, None, (fit, predict seconds)) of a part of `curves`."""
    X_test = datasets.load(part.dataset).X_test
    (X, y) = examples(part)
    start = time.perf_counter()
    training = SharedTraining(X, y, memory_budget=memory_budget, n_jobs=2)
    models = training.fit([in_order(degree, part.order, n_epochs=part.n_epochs) for degree in part.degrees])
    middle = time.perf_counter()
    found = _predicted(training, models, X_test)
    return found, None, (middle - start, time.perf_counter() - middle)


def _predicted(training, models, X_test):
    """Indices of classes (n_test, models) by fitted models of a `SharedTraining`."""
    return np.ascontiguousarray(predictions(training, models, X_test)[:, PREDICTORS.index("average"), -1].T)


def _table(part, key, found):
    """The table of a part from its predictions; its column `key` stands first."""
    labels = datasets.load(part.dataset).class_indices_test
    errors = (found != labels[:, None]).sum(axis=0)
    named = {key: getattr(part, key), "degree": part.degrees, "order": part.order}
    return pd.DataFrame({**named, "errors": errors, "n_test": len(labels)})
