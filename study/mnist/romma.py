"""Li & Long 1999, Table 1: ROMMA, its aggressive form, this with noise control, and kernel perceptrons, on MNIST.

Source: Y. Li, P. M. Long, The relaxed online maximum margin algorithm, NIPS 12, 1999, Table 1: K = (1 + x . y)^4 on pixels
0 to 255 divided by 1100, a learner for each digit, the highest score wins, w starts at phi(0), T = 1 to 4 epochs, means of
ten orders. The source leaves open whether an order is that of one epoch or of all. Here are both readings: FRESH, each
learner visits the images in its own random order in each epoch, as the perceptrons of the chapter on MNIST do; and
REPEATED, all learners in all epochs in the same one. The perceptrons are here in the second reading. Order r has the seed
4 + 100 r.
"""

from dataclasses import dataclass
from itertools import groupby

import pandas as pd
from tqdm import tqdm

from kp.romma import Romma
from kp.shared import SharedTraining
from study import datasets
from study.predictors import PREDICTORS
from study.protocols.images import MEMORY_BUDGET, PROTOCOLS, SHARED_KEPT, in_order, predictions, sizes
from study.protocols.settings import IMAGES, BaseSettings, order_seed
from study.results.experiment import experiment

DEGREE = 4
SCALE = {"mnist": 1100, "digits": 69}
"""Divisors of pixels: the source's, and one for images whose largest value is 16 instead of 255."""
VARIANTS = {
    "ROMMA": {},
    "aggressive ROMMA": {"aggressive": True},
    "aggressive ROMMA with noise control": {"aggressive": True, "noise_control": 30.0},
}
"""The rows of the table and the parameters of their learners."""
FRESH = "separate"
REPEATED = "repeated"
READINGS = {FRESH: {}, REPEATED: {"orders": "shared", "shuffle": "once"}}
"""The readings of an order, and the parameters of `Romma` that they are."""
N_ORDERS = 10
N_EPOCHS = 4


@dataclass(frozen=True, kw_only=True)
class Settings(BaseSettings):
    """One of VARIANTS in one visiting order, read in one of two ways.

    dataset is "mnist" or "digits"; n_train the number of training images, the first of the set, "all" becoming their number.
    Raises ValueError for anything else.
    """

    dataset: str = "mnist"
    variant: str = "ROMMA"
    reading: str = FRESH
    order: int = 0
    n_epochs: int = N_EPOCHS
    n_train: int | str = "all"

    KNOWN = {"dataset": IMAGES, "variant": VARIANTS, "reading": READINGS}


def settings(dataset="mnist", *, n_orders=N_ORDERS, **options):
    """The parts of a study: all variants in each order, under both readings."""
    return [
        Settings(dataset=dataset, variant=name, reading=reading, order=r, **options)
        for reading in READINGS for r in range(n_orders) for name in VARIANTS
    ]  # fmt: skip


@experiment("mnist", published=settings, data=lambda part: [part.dataset], together=True)
def romma(parts, *, progress=False):
    """Errors on the test images after each epoch of each part.

    Columns algorithm, reading, order, epoch, errors, n, and the mistakes of all learners by that epoch. Orders with the same
    examples and reading share their inner products.
    """
    groups = groupby(parts, key=lambda part: (part.dataset, part.n_train, part.n_epochs, part.reading))
    for (dataset, n_train, *_), same in tqdm(groups, desc="readings of the orders of ROMMA", disable=not progress):
        alike = list(same)
        data = datasets.load(dataset)
        models = [model(part) for part in alike]
        SharedTraining(data.X[:n_train], data.y[:n_train], memory_budget=MEMORY_BUDGET, n_jobs=2).fit(models)
        for part, each in zip(alike, models, strict=True):
            yield table(part, each, data)


def model(part):
    """The estimator of a part, not yet fitted: pixels stay whole numbers, and gamma divides."""
    gamma = 1 / SCALE[part.dataset] ** 2
    return Romma(
        degree=DEGREE, gamma=gamma, max_iter=part.n_epochs, random_state=order_seed(DEGREE, part.order), n_jobs=2,
        **READINGS[part.reading], **VARIANTS[part.variant],
    )  # fmt: skip


def table(part, model, data):
    """The rows of a fitted part."""
    rows = []
    for epoch, labels in enumerate(model.staged_predict(data.X_test), start=1):
        counts = int((labels != data.y_test).sum()), len(labels), sum(log.n_mistakes(epoch) for log in model.mistakes_)
        rows.append((part.variant, part.reading, part.order, epoch, *counts))
    return pd.DataFrame(rows, columns=["algorithm", "reading", "order", "epoch", "errors", "n", "mistakes"])


@dataclass(frozen=True, kw_only=True)
class Order(BaseSettings):
    """A visiting order of kernel perceptrons; the fields are as in `Settings`."""

    dataset: str = "mnist"
    order: int = 0
    n_epochs: int = N_EPOCHS
    n_train: int | str = "all"

    KNOWN = {"dataset": IMAGES}


def perceptron_settings():
    """The parts of `romma_perceptrons`."""
    return [Order(order=r) for r in range(N_ORDERS)]


@experiment("mnist", published=perceptron_settings, data=lambda part: [part.dataset], together=True)
def romma_perceptrons(parts, *, progress=False):
    """Errors of kernel perceptrons on the test images after each epoch of each part, in an order that is REPEATED.

    Columns order, epoch, predictor, errors, n, and mistakes, those of all learners by that epoch. Orders with the same
    examples share their inner products.
    """
    groups = groupby(parts, key=lambda part: (part.dataset, part.n_train, part.n_epochs))
    for (dataset, n_train, n_epochs), same in tqdm(groups, desc="orders of perceptrons", disable=not progress):
        data = datasets.load(dataset)
        training = SharedTraining(data.X[:n_train], data.y[:n_train], memory_budget=MEMORY_BUDGET, n_jobs=2)
        for part in same:
            model = in_order(DEGREE, part.order, n_epochs=n_epochs).set_params(**PROTOCOLS[SHARED_KEPT])
            models = training.fit([model], count_errors=True)
            wrong = predictions(training, models, data.X_test)[0] != data.class_indices_test
            mistakes = sizes(models)[0, 0]
            rows = [
                (part.order, epoch, name, errors, wrong.shape[-1], mistakes[epoch - 1])
                for name, each in zip(PREDICTORS, wrong.sum(axis=-1), strict=True)
                for epoch, errors in enumerate(each, start=1)
            ]
            yield pd.DataFrame(rows, columns=["order", "epoch", "predictor", "errors", "n", "mistakes"])
