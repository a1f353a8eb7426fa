"""Recipes for a low error: the preparation, the degree, shifted copies, the visiting order, and how many orders vote.

Source of the copies: DeCoste & Schölkopf 2002, who train a support vector machine and then train it again on its support
vectors and shifted copies of them, called virtual. Here a perceptron is trained, shifted copies of all images that it has
misclassified are added to all images, and it is trained again from the beginning. The predictor is the average one after
the last epoch, K = (1 + gamma x . y)^p.

A recipe is chosen by the errors on the last images of the training set, after training on all others (`held`). The chosen
one is then trained on all of them, in several orders, and meets the test images (`reached`).
"""

import time
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from study import datasets
from study.protocols.images import OWN_NEW, PROTOCOLS, SHARED_KEPT, in_order
from study.protocols.preparations import PREPARATIONS, shifted, unit_norm
from study.protocols.settings import IMAGES, BaseSettings
from study.results import store
from study.results.alone import alone
from study.results.experiment import experiment

UPRIGHT = "deskewed, unit norm"


def upright(X, X_test):
    """Images deskewed, then each divided by its norm: (X, X_test, gamma)."""
    return unit_norm(*PREPARATIONS["deskewed"](X, X_test)[:2])


PREPARED = {**{name: PREPARATIONS[name] for name in ("raw", "unit norm", "deskewed")}, UPRIGHT: upright}
"""{preparation: function of training and test images}."""
SIDES = ((-1, 0), (1, 0), (0, -1), (0, 1))
CORNERS = ((-1, -1), (-1, 1), (1, -1), (1, 1))
FAR = ((-2, 0), (2, 0), (0, -2), (0, 2))
WAYS = {0: (), 4: SIDES, 8: SIDES + CORNERS, 12: SIDES + CORNERS + FAR}
"""{copies of an image: by how many pixels down and right each is shifted}."""
MEMORY_BUDGET = 12 * 2**30
"""Bytes for rows of inner products."""


@dataclass(frozen=True, kw_only=True)
class Recipe(BaseSettings):
    """A recipe in one visiting order. The last n_held training images, at most a quarter, are held out; 0: the test images
    are classified instead. Raises ValueError for what is unknown."""

    dataset: str = "mnist"
    preparation: str = "raw"
    degree: int = 4
    copies: int = 0
    protocol: str = OWN_NEW
    order: int = 0
    n_held: int = 10_000
    n_epochs: int = 10

    KNOWN = {"dataset": IMAGES, "preparation": PREPARED, "protocol": PROTOCOLS, "copies": WAYS}
    BOUNDS = {"n_held": (0, 10**6)}


def learnt(part, memory_budget):
    """(classes of the images that are classified, number of examples learnt, seconds to (prepare, fit, predict)) of a
    `Recipe`. Seconds to fit are those of both trainings, where there are copies."""
    data = datasets.load(part.dataset)
    n = len(data.X) - min(part.n_held, len(data.X) // 4)
    start = time.perf_counter()
    X, X_test, gamma = PREPARED[part.preparation](data.X, data.X_test)
    prepared = time.perf_counter()
    scored = X[n:] if part.n_held else X_test
    X = X[:n]
    y = data.class_indices[:n]
    model = _fitted(part, X, y, gamma, memory_budget)
    if part.copies:
        twins = X[model.support_]
        labels = y[model.support_]
        del model
        X = np.concatenate([X, *(shifted(twins, *way) for way in WAYS[part.copies])])
        y = np.concatenate([y, *(labels for _ in WAYS[part.copies])])
        model = _fitted(part, X, y, gamma, memory_budget)
    fitted = time.perf_counter()
    found = store.narrow(model.predict(scored, predictor="average"), np.uint8)
    return found, len(X), (prepared - start, fitted - prepared, time.perf_counter() - fitted)


def _fitted(part, X, y, gamma, memory_budget):
    model = in_order(part.degree, part.order, n_epochs=part.n_epochs, gamma=gamma)
    model.set_params(**PROTOCOLS[part.protocol], memory_budget=memory_budget, n_jobs=2)
    return model.fit(X, y)


KEY = ("preparation", "degree", "copies", "protocol", "order")
SPENT = (*KEY, "prepare", "fit", "predict", "peak")


def _tables(part, found, _, cost):
    """The row of a recipe that gives these classes, and what it took: seconds, and GiB."""
    data = datasets.load(part.dataset)
    labels = data.class_indices[-len(found) :] if part.n_held else data.class_indices_test
    key = [getattr(part, name) for name in KEY]
    errors = int((found != labels).sum())
    row = pd.DataFrame([(*key, errors, len(labels))], columns=[*KEY, "errors", "n"])
    return row, pd.DataFrame([(*key, *cost)], columns=SPENT)


DEGREES = {"mnist": (3, 4, 5, 6, 7, 8, 9), "digits": (3, 9)}
"""Degrees that are tried; with copies, the highest COPIED of them."""
COPIED = {"mnist": 3, "digits": 1}
CHOSEN = Recipe(preparation=UPRIGHT, degree=7, copies=12)
"""`best()`, the recipe that 10,000 held-out images of MNIST choose."""
N_ORDERS = 5
"""Visiting orders of the chosen recipe."""


def candidates(dataset="mnist", *, n_held=10_000, degrees=None):
    """The parts of `held`: every preparation at every degree, in ascending order, then copies at the highest, then the order
    that is kept; few on "digits"."""
    options = {"dataset": dataset, "n_held": n_held}
    degrees = degrees or DEGREES[dataset]
    names = PREPARED if dataset == "mnist" else ("raw", UPRIGHT)
    high = degrees[-COPIED[dataset] :]
    plain = [Recipe(preparation=name, degree=degree, **options) for name in names for degree in degrees]
    copied = [Recipe(preparation=UPRIGHT, degree=degree, copies=k, **options) for degree in high for k in (4, 8, 12)]
    kept = Recipe(preparation=UPRIGHT, degree=high[0], copies=12, protocol=SHARED_KEPT, **options)
    return [*plain, *copied, *([kept] if dataset == "mnist" else [])]


@experiment(
    "lower", published=candidates, tables=("held", "held_costs"), measured=("held_costs",), data=lambda part: [part.dataset]
)
def held(part, *, progress=False):
    """Errors of a recipe on the held-out images, n of them, and its costs.

    held: preparation, degree, copies, protocol, order, errors and n. held_costs: the same key, seconds to prepare, fit and
    predict with two threads, and peak (GiB).
    """
    row, cost = _tables(part, *alone(learnt, part, MEMORY_BUDGET))
    return {"held": row, "held_costs": cost}


def best(dataset="mnist", **options):
    """The recipe with the fewest errors on the held-out images; ties go to the first. options: those of `candidates`."""
    tried = candidates(dataset, **options)
    return tried[int(held(tried)["held"]["errors"].argmin())]


def chosen(dataset="mnist", **options):
    """The parts of `reached`: the chosen recipe in several visiting orders. options: those of `candidates`."""
    recipe = CHOSEN if candidates(dataset, **options) == candidates() else best(dataset, **options)
    return [replace(recipe, order=r, n_held=0) for r in range(N_ORDERS)]


@experiment(
    "lower", published=chosen, tables=("reached", "reached_costs"), measured=("reached_costs",),
    arrays=lambda part: str(part.order), data=lambda part: [part.dataset], sample=held,  # a part takes four minutes
)  # fmt: skip
def reached(part, *, progress=False):
    """Errors of the chosen recipe on the test images, and its costs, as in `held`. Array predictions (n_test,): classes."""
    found, *rest = alone(learnt, part, MEMORY_BUDGET)
    row, cost = _tables(part, found, *rest)
    return {"reached": row, "reached_costs": cost, "arrays": {"predictions": found}}
