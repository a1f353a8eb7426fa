"""Many visiting orders: the spread of the errors of Hermans's protocol, honest selection, and wrong labels.

Source: Hermans 2021, sections 3 to 5, whose final report proposes an ensemble over visiting orders. Order r of degree p has
the seed p + 100 r: order 0 is the published run. Everything else is the published protocol: raw pixels, K = (1 + x . y)^p,
ten epochs, four predictors. All orders and the degrees above 1 share their inner products.

`orders` trains on all training images, `held_out` on all but the last, which choose; `cross_validated` chooses by folds of
small training sets; `noise` learns from wrong labels. Orders that are shared and kept: study.mnist.kept.

Symbols: D degrees, E epochs, R orders; predictors in the order of PREDICTORS.
"""

from dataclasses import dataclass, replace
from itertools import groupby

import numpy as np
import pandas as pd
from sklearn.model_selection import StratifiedKFold
from tqdm import tqdm

from kp import kernels
from kp.gram import CrossGram, Points, Products
from kp.one_vs_all import OneVsAllKernelPerceptron
from kp.shared import SharedTraining
from study.predictors import PREDICTORS
from study.protocols.images import MEMORY_BUDGET, examples, in_order, predictions, sizes
from study.protocols.settings import IMAGES, BaseSettings, n_examples, require_integers
from study.results.experiment import experiment

CURVED = (2, 3, 4, 5, 6)
"""The degrees above 1; degree 1 costs four times as much as these together, and is run in fewer orders."""
N_ORDERS = 20
N_LINEAR = 5
"""Published orders of the degrees above 1, and of degree 1."""
TOGETHER = 5
"""Orders that are learnt side by side."""


@dataclass(frozen=True, kw_only=True)
class Settings(BaseSettings):
    """One visiting order of these degrees.

    dataset is a registered set of examples; n_train the number of training images, the first of the set, "all" becoming
    their number; n_held how many of them, the last, do not train but choose. Raises ValueError for anything else.
    """

    dataset: str = "mnist"
    degrees: tuple[int, ...] = CURVED
    order: int = 0
    n_epochs: int = 10
    n_train: int | str = "all"
    n_held: int = 0

    def __post_init__(self):
        super().__post_init__()
        require_integers(self, n_held=(0, n_examples(self.dataset) - 10))


def settings(dataset="mnist", *, n_orders=N_ORDERS, n_linear=N_LINEAR, degrees=(1, *CURVED), **options):
    """The parts of a study: n_orders of those degrees that are above 1, at least two, then n_linear of degree 1, if it is
    among them."""
    above = tuple(sorted({degree for degree in degrees if degree != 1}))
    if len(above) < 2:
        raise ValueError(f"degrees: expected at least two above 1, got {', '.join(map(str, degrees))}; compare several")
    curved = [Settings(dataset=dataset, degrees=above, order=r, **options) for r in range(n_orders)]
    linear = range(n_linear if 1 in degrees else 0)
    return curved + [Settings(dataset=dataset, degrees=(1,), order=r, **options) for r in linear]


def _file(part):
    return f"orders_{'linear' if part.degrees == (1,) else 'curved'}_{part.order:02d}"


@experiment(
    "mnist", published=settings, arrays=_file, data=lambda part: [part.dataset], together=True,
)  # fmt: skip
def orders(parts, *, progress=False):
    """{orders, arrays} of each part: errors on the test images, and the predictions there.

    Table: degree, order, epoch, predictor, errors, n, and mistakes and support, those of all perceptrons by that epoch.
    Array predictions (n_test, D, 4, E): indices of classes.
    """
    for part, truth, models, predicted in _learnt(parts, progress):
        wrong = predicted["test"] != truth["test"]
        counts = _for_all_predictors(sizes(models))
        yield {
            "orders": _table(part, errors=wrong.sum(axis=-1), mistakes=counts[0], support=counts[1]).assign(
                n=wrong.shape[-1]
            ),
            "arrays": {"predictions": np.ascontiguousarray(np.moveaxis(predicted["test"], -1, 0))},
        }


@experiment(
    "mnist", published=lambda: settings(n_held=10_000), data=lambda part: [part.dataset], together=True,
)  # fmt: skip
def held_out(parts, *, progress=False):
    """The same without the held-out images: degree, order, epoch, predictor, held (errors on them), n_held, test, n_test."""
    for part, truth, _, predicted in _learnt(parts, progress):
        wrong = {name: (each != truth[name]).sum(axis=-1) for name, each in predicted.items()}
        yield {"held_out": _table(part, **wrong).assign(n_held=len(truth["held"]), n_test=len(truth["test"]))}


def _learnt(parts, progress):
    """Yield (part, {split: classes (n,)}, models, {split: predictions (D, 4, E, n)}); parts with the same examples share
    their inner products."""
    for _, group in groupby(parts, key=lambda part: replace(part, order=0)):
        group = list(group)
        data = examples(group[0].dataset)
        n = group[0].n_train - group[0].n_held
        images = {"test": data.X_test} | ({"held": data.X[n : group[0].n_train]} if group[0].n_held else {})
        truth = {"test": data.class_indices_test, "held": data.class_indices[n : group[0].n_train]}
        training = SharedTraining(data.X[:n], data.y[:n], memory_budget=MEMORY_BUDGET, n_jobs=2)
        steps = range(0, len(group), TOGETHER)
        for start in tqdm(steps, desc=f"orders of degree {group[0].degrees}", disable=not progress):
            some = group[start : start + TOGETHER]
            models = [in_order(degree, part.order, n_epochs=part.n_epochs) for part in some for degree in part.degrees]
            training.fit(models)
            found = {name: predictions(training, models, X) for name, X in images.items()}
            for i, part in enumerate(some):
                own = slice(i * len(part.degrees), (i + 1) * len(part.degrees))
                yield part, truth, models[own], {name: each[own] for name, each in found.items()}


def _for_all_predictors(counts):
    """Counts (2, D, 4, E) from those (2, D, E) that all predictors share."""
    return np.repeat(counts[:, :, None], len(PREDICTORS), axis=2)


def _table(part, **counts):
    """Counts (D, 4, E) of a part, by name, as rows: degree, order, epoch, predictor, and a column for each name."""
    epochs = range(1, part.n_epochs + 1)
    index = pd.MultiIndex.from_product([part.degrees, PREDICTORS, epochs], names=["degree", "predictor", "epoch"])
    counts = {name: values.reshape(-1) for name, values in counts.items()}
    rows = pd.DataFrame(counts, index=index).reset_index().assign(order=part.order)
    return rows[["degree", "order", "epoch", "predictor", *counts]]


@dataclass(frozen=True, kw_only=True)
class Folds(BaseSettings):
    """A small training set: its size n, and which one, the images order * n and following; n_folds choose."""

    dataset: str
    n: int
    order: int
    n_folds: int = 5
    n_epochs: int = 10

    KNOWN = {"dataset": IMAGES}
    BOUNDS = {"n": (10, None)}


SMALL = {"mnist": ((1000, 4000), 10), "digits": ((100,), 3)}
"""Sizes of the small training sets, and how many of each."""


def fold_settings(dataset="mnist"):
    """The parts of `cross_validated`. Raises ValueError for a set that SMALL does not have."""
    if dataset not in SMALL:
        raise ValueError(
            f"dataset must be one of {', '.join(SMALL)}, got {dataset!r}; notebooks/coursework.ipynb accepts any set"
        )
    sizes, count = SMALL[dataset]
    return [Folds(dataset=dataset, n=n, order=r) for n in sizes for r in range(count)]


@experiment("mnist", published=fold_settings, data=lambda part: [part.dataset])
def cross_validated(part, *, progress=False):
    """Errors by cross-validation and on the test images, of training sets that have no image in common.

    Columns n, degree (1 to 6), order, epoch, predictor, held (errors on all folds together), test, n_test.
    """
    data = examples(part.dataset)
    own = slice(part.order * part.n, (part.order + 1) * part.n)
    X = data.X[own]
    y = data.class_indices[own]
    whole = Settings(dataset=part.dataset, degrees=(1, *CURVED), order=part.order, n_epochs=part.n_epochs)
    folds = StratifiedKFold(part.n_folds, shuffle=True, random_state=part.order)
    held = sum(_errors(whole, X[a], y[a], X[b], y[b]) for a, b in folds.split(X, y))
    test = _errors(whole, X, y, data.X_test, data.class_indices_test)
    table = _table(whole, held=held, test=test).assign(n_test=len(data.X_test))
    table.insert(0, "n", part.n)
    return table


def _errors(part, X, y, X_new, y_new):
    """(D, 4, E) errors on new points of the degrees of a part, trained on X (n, d), y (n,)."""
    training = SharedTraining(X, y, n_jobs=2)
    models = training.fit([in_order(degree, part.order, n_epochs=part.n_epochs) for degree in part.degrees])
    return (predictions(training, models, X_new) != y_new).sum(axis=-1)


KERNELS = {
    "poly, degree 3": lambda points: kernels.polynomial(3, gamma=1 / points.norms.mean(), coef0=0.0),
    "RBF, wide": lambda points: kernels.gaussian(sigma=float(np.sqrt(points.norms.mean())) / WIDE),
    "RBF, narrow": lambda points: kernels.gaussian(sigma=float(np.sqrt(points.norms.mean())) / NARROW),
}
"""Kernels of points: (x . y / mean |x|^2)^3, and RBF kernels whose widths are parts of the root of mean |x|^2."""
WIDE = 5
NARROW = 15


@dataclass(frozen=True, kw_only=True)
class Noise(BaseSettings):
    """Wrong labels: n training images, of which a share has another label than its own; `kernel` is one of those of KERNELS,
    and with a threshold 1 is added to it."""

    dataset: str
    n: int
    kernel: str
    threshold: bool
    share: float
    order: int
    n_epochs: int = 10

    KNOWN = {"dataset": IMAGES, "kernel": KERNELS}
    BOUNDS = {"n": (10, None)}


NOISY = {"mnist": (4000, 10_000, 5), "digits": (150, 300, 2)}
"""Training images, test images and orders."""
SHARES = (0.0, 0.05, 0.1, 0.2, 0.3)


def noise_settings(dataset="mnist"):
    """The parts of `noise`."""
    n, _, count = NOISY[dataset]
    return [
        Noise(dataset=dataset, n=n, kernel=kernel, threshold=threshold, share=share, order=order)
        for kernel in KERNELS for threshold in (False, True) for share in SHARES for order in range(count)
    ]  # fmt: skip


@experiment("mnist", published=noise_settings, data=lambda part: [part.dataset], sample=1)
def noise(part, *, progress=False):
    """Errors of each predictor after each epoch on the first test images, whose labels are right.

    Columns kernel, threshold, share, order, epoch, predictor, errors, n_test, mistakes. A wrong label is one of the other
    classes, each as likely; order is the seed of the wrong labels and of the visiting orders.
    """
    data = examples(part.dataset)
    (_, n_test, _) = NOISY[part.dataset]
    X = data.X[: part.n]
    X_test = data.X_test[:n_test]
    truth = data.class_indices_test[:n_test]
    y = with_wrong_labels(data.class_indices[: part.n], part.share, n_classes=len(data.classes), random_state=part.order)
    points = Points(X)
    test = Points(X_test)
    kernel = KERNELS[part.kernel](points)
    K, K_test = (CrossGram(Products(points, p)).values(kernel, np.arange(len(X))) + part.threshold for p in (points, test))
    model = OneVsAllKernelPerceptron(
        kernel="precomputed", max_iter=part.n_epochs, random_state=part.order, stop_if_separated=False, n_jobs=2
    ).fit(K, y)
    stages = model.staged_predict(K_test.T, predictor=PREDICTORS)
    errors = np.array([[(found[name] != truth).sum() for name in PREDICTORS] for found in stages]).T
    whole = Settings(dataset=part.dataset, degrees=(1,), order=part.order, n_epochs=part.n_epochs)
    mistakes, _ = _for_all_predictors(sizes([model]))
    table = _table(whole, errors=errors[None], mistakes=mistakes).drop(columns="degree").assign(n_test=n_test)
    for place, name in enumerate(("kernel", "threshold", "share")):
        table.insert(place, name, getattr(part, name))
    return table


def with_wrong_labels(y, share, *, n_classes, random_state):
    """Labels (n,) of which round(share n), drawn at random, are replaced by another class, each as likely."""
    random = np.random.RandomState(random_state)
    y = np.array(y)
    chosen = random.permutation(len(y))[: round(share * len(y))]
    y[chosen] = (y[chosen] + random.randint(1, n_classes, size=len(chosen))) % n_classes
    return y
