"""Prepared images, and more of them: what preparation does to the error, and how errors, mistakes and costs grow with n.

Source of the protocol: Hermans 2021, with K = (1 + gamma x . y)^p. Preparations are those named in the literature on
MNIST, and scalings of pixels. Order r of degree p has the seed p + 100 r.

Symbols: n training examples, D degrees, E epochs; predictors in the order of PREDICTORS.
"""

import time
from dataclasses import dataclass
from itertools import groupby

import numpy as np
import pandas as pd
from tqdm import tqdm

from kp.mistakes import PREDICTORS
from kp.shared import SharedTraining
from study import datasets
from study.protocols.images import MEMORY_BUDGET, in_order, predictions, sizes
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
    """{prepared, arrays} of each part: errors on the test images after each epoch, and the predictions after the last.

    Table: preparation, degree, order, epoch, predictor, errors, first (errors on the first half of the test images), n_test,
    mistakes and support (those of all perceptrons by that epoch). Array predictions (n_test, D, 4): indices of classes.
    """
    steps = [list(group) for _, group in groupby(parts, key=lambda part: (part.dataset, part.preparation))]
    for group in tqdm(steps, desc="preparations", disable=not progress):
        data = datasets.load(group[0].dataset)
        X, X_test, gamma = PREPARATIONS[group[0].preparation](data.X, data.X_test)
        training = SharedTraining(X, data.y, memory_budget=MEMORY_BUDGET, n_jobs=2)
        models = [
            [in_order(degree, part.order, n_epochs=part.n_epochs, gamma=gamma) for degree in part.degrees] for part in group
        ]
        flat = training.fit([model for each in models for model in each])
        found = predictions(training, flat, X_test)
        for i, (part, own) in enumerate(zip(group, models, strict=True)):
            table, last = _result(part, "preparation", found[i * len(own) : (i + 1) * len(own)], sizes(own))
            yield {"prepared": table, "arrays": {"predictions": last}}


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

    curves: n, degree, order, epoch, predictor, errors, first, n_test, mistakes, support, as in `prepared`. curves_costs: n,
    order, degrees (how many are learnt together), fit and predict (seconds), peak (GiB). Array predictions (n_test, D, 4).
    """
    n = len(datasets.load(part.dataset).X)
    most = VIRTUAL[part.dataset]
    if part.n > n and part.n != most:
        raise ValueError(f"n must be at most {n}, or {most} with all shifts, got {part.n}")
    *found, cost = alone(_learnt, part, MEMORY_BUDGET)
    table, last = _result(part, "n", *found)
    costs = pd.DataFrame([(part.n, part.order, len(part.degrees), *cost)], columns=COSTS)
    return {"curves": table, "curves_costs": costs, "arrays": {"predictions": last}}


COSTS = ["n", "order", "degrees", "fit", "predict", "peak"]


def examples(part):
    """(X, y) of a part: all images with their shifts, or a random draw of at most all."""
    data = datasets.load(part.dataset)
    if part.n == VIRTUAL[part.dataset]:
        return with_shifts(data.X, data.y)
    drawn = np.sort(np.random.RandomState(part.order).permutation(len(data.X))[: part.n])
    return data.X[drawn], data.y[drawn]


def _learnt(part, memory_budget):
    """(predictions, sizes, (fit, predict seconds)) of a part of `curves`."""
    X_test = datasets.load(part.dataset).X_test
    (X, y) = examples(part)
    start = time.perf_counter()
    training = SharedTraining(X, y, memory_budget=memory_budget, n_jobs=2)
    models = training.fit([in_order(degree, part.order, n_epochs=part.n_epochs) for degree in part.degrees])
    middle = time.perf_counter()
    found = predictions(training, models, X_test)
    return found, sizes(models), (middle - start, time.perf_counter() - middle)


def _result(part, key, found, counts):
    """(table, array) of a part from predictions and sizes of its models; its column `key` stands first."""
    truth = datasets.load(part.dataset).class_indices_test
    wrong = found != truth
    half = len(truth) // 2
    epochs = range(1, found.shape[2] + 1)
    index = pd.MultiIndex.from_product([part.degrees, PREDICTORS, epochs], names=["degree", "predictor", "epoch"])
    mistakes, support = (np.repeat(size[:, None], len(PREDICTORS), axis=1).ravel() for size in counts)
    table = pd.DataFrame({"errors": wrong.sum(axis=-1).ravel()}, index=index).reset_index()
    table = table.assign(
        first=wrong[..., :half].sum(axis=-1).ravel(), n_test=len(truth), mistakes=mistakes, support=support, order=part.order
    )
    table[key] = getattr(part, key)
    columns = [key, "degree", "order", "epoch", "predictor", "errors", "first", "n_test", "mistakes", "support"]
    return table[columns], np.ascontiguousarray(np.moveaxis(found[:, :, -1], -1, 0))
