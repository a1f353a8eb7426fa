"""The MNIST experiment: ten one-vs-all kernel perceptrons, every predictor after every epoch.

Source: Hermans 2021, sections 3 to 5. Protocol: raw pixels, K = (1 + x . y)^p, p = 1..6, ten epochs, RandomState(p), a
fresh shuffle for each epoch and each digit. The scikit-learn digits take the place of MNIST in the quick profile.

The part of one degree is three tables of counts (multiclass errors, binary errors for each digit, confusion matrices on the
test set) and the arrays from which all of it can be made again: the predictions on the test set and the mistake logs.

Nearest neighbours on these images are the baseline that needs no learning: `neighbours`.

Symbols: C classes, E epochs; predictors in the order of PREDICTORS, splits train and test.
"""

from dataclasses import dataclass, replace
from itertools import groupby

import numpy as np
import pandas as pd
from scipy import stats
from sklearn.model_selection import train_test_split
from tqdm import tqdm

from kp import kernels
from kp.gram import Points, Products
from kp.mistakes import MistakeLog
from kp.perceptron import find_mistakes, visiting_orders
from kp.shared import SharedTraining
from study import datasets
from study.predictors import PREDICTORS
from study.protocols.images import by_class, estimator, examples
from study.protocols.settings import BaseSettings
from study.results import store
from study.results.experiment import experiment

DEGREES = range(1, 7)
SPLITS = ("train", "test")
MEMORY_BUDGET = 3 * 2**30
"""Bytes for kernel rows: all that degrees 2 to 6 need together. With the data, the whole study stays below 6 GiB."""


@dataclass(frozen=True, kw_only=True)
class Settings(BaseSettings):
    """Parameters of one run; the defaults are those of the source.

    dataset : "mnist", "digits", the small set that comes with scikit-learn, or any other registered set of examples.
    degree : degree p of the kernel.
    n_epochs : epochs over the training set.
    n_train : how many training examples, the first of the set; "all" becomes their number.
    random_state : seed of the visiting orders; "degree", the choice of the source, becomes the degree itself.

    Raises ValueError for anything else.
    """

    dataset: str = "mnist"
    degree: int
    n_epochs: int = 10
    n_train: int | str = "all"
    random_state: int | str = "degree"

    def __post_init__(self):
        if self.random_state == "degree":
            object.__setattr__(self, "random_state", self.degree)
        super().__post_init__()


PUBLISHED = [Settings(degree=degree) for degree in DEGREES]


@experiment(
    "mnist", published=PUBLISHED, tables=("multiclass", "binary", "confusion"), arrays=lambda s: f"degree_{s.degree}",
    data=lambda s: [s.dataset], together=True, stages=lambda: (learnt, counted, gathered), sample=1,
)  # fmt: skip
def degrees(settings, *, progress=False):
    """{multiclass, binary, confusion, arrays} of each of these settings; see the module.

    multiclass: errors among n by degree, epoch, predictor and split; binary: the same for each digit's perceptron, for which
    a score of exactly 0 is an error; confusion: counts of test images by true and predicted digit. arrays: the predictions
    (4, E, n_test), indices of classes, and the logs, see `logs_from_arrays`. Neighbouring settings with the same examples
    and epochs share their inner products. progress shows bars.
    """
    for _, group in groupby(settings, key=lambda s: (s.dataset, s.n_train, s.n_epochs)):
        yield from run_together(list(group), progress=progress)


@experiment("mnist", tables=("multiclass", "binary", "confusion"), data=lambda s: [s.dataset], together=True)
def stratified(settings, *, progress=False):
    """The tables of `degrees` for random subsets: n_train images of the set, each class with its share, drawn with the seed.

    Nothing of it is published. Neighbouring settings with the same subset and epochs share their inner products.
    Raises ValueError if fewer images are left out than there are classes.
    """
    for _, group in groupby(settings, key=lambda s: (s.dataset, s.n_train, s.n_epochs, s.random_state)):
        group = list(group)
        data = _subset(examples(group[0].dataset), group[0])
        training = shared_training(data, len(data.y))
        yield from evaluate(training, fit(training, group, progress=progress), group, data, progress=progress)


def _subset(data, settings):
    """The data with a stratified random subset of n_train training images."""
    most = len(data.y) - len(data.classes)
    if settings.n_train > most:
        raise ValueError(f"n_train of a random subset must be at most {most}, got {settings.n_train}")
    index, _ = train_test_split(
        np.arange(len(data.y)), train_size=settings.n_train, stratify=data.y, random_state=settings.random_state
    )
    return replace(data, X=data.X[index], y=data.y[index])


def run_together(settings, *, memory_budget=MEMORY_BUDGET, threads=2, progress=False):
    """A list of the results of settings that have the same examples and epochs; see `degrees`.

    No result depends on memory_budget, bytes for rows of inner products, nor on threads.
    Raises ValueError if the first n_train images do not show all classes.
    """
    data = examples(settings[0].dataset)
    training = shared_training(data, settings[0].n_train, memory_budget=memory_budget, threads=threads)
    models = fit(training, settings, progress=progress)
    return evaluate(training, models, settings, data, progress=progress)


def shared_training(data, n_train, *, memory_budget=MEMORY_BUDGET, threads=2):
    """The first n_train training images of the data, with inner products that all degrees share."""
    X = data.X[:n_train]
    y = data.y[:n_train]
    if len(np.unique(y)) < len(data.classes):
        raise ValueError(f"the first {n_train} images must show all {len(data.classes)} classes; raise n_train")
    return SharedTraining(X, y, memory_budget=memory_budget, n_jobs=threads)


def fit(training, settings, *, progress=False):
    """The fitted estimators of these settings. Degree 1 leaves its training errors to be counted by `evaluate`."""
    models = [estimator(s.degree, n_epochs=s.n_epochs, random_state=s.random_state) for s in settings]
    names = ", ".join(str(s.degree) for s in settings)
    visits = len(models) * len(np.unique(training.y)) * len(training.y) * settings[0].n_epochs
    with _bar(f"perceptrons of degree {names}", visits, "visit", progress) as bar:
        return training.fit(models, count_errors=False, callback=bar.update)


def evaluate(training, models, settings, data, *, progress=False):
    """The results of these models: all counts from one walk over the training images and one over the test images."""
    indices = data.class_indices[: len(training.y)], data.class_indices_test
    counts = [_Counts(s.n_epochs, len(data.classes), len(data.X_test)) for s in settings]
    for split, X in enumerate((None, data.X_test)):
        with _bar(f"predictors on the {SPLITS[split]} images", len(indices[split]), "image", progress) as bar:
            for part, outputs in training.staged_outputs(models, X, callback=bar.update):
                for count, f in zip(counts, outputs, strict=True):
                    count.add(split, f, indices[split][part], part)
    each = zip(settings, models, counts, strict=True)
    return [_result(s, data, log_arrays(model.mistakes_), vars(count)) for s, model, count in each]


def _result(settings, data, logs, counts):
    """The tables and arrays of one setting, from the arrays of its logs and of its `_Counts`."""
    degree = settings.degree
    classes = data.classes
    n = settings.n_train, len(data.X_test)
    return {
        "multiclass": _table(counts["multiclass"], {"split": SPLITS}, degree, n),
        "binary": _table(counts["binary"], {"digit": classes, "split": SPLITS}, degree, n),
        "confusion": _table(counts["confusion"], {"true": classes, "predicted": classes}, degree),
        "arrays": {"predictions": counts["predictions"], **logs},
    }


def _bar(description, total, unit, progress):
    return tqdm(total=total, desc=description, unit=unit, unit_scale=True, disable=not progress)


class _Counts:
    """Errors of every predictor, added up block by block of the images.

    multiclass (4, E, 2), binary (4, E, C, 2), confusion (4, E, C, C), predictions (4, E, n_test).
    """

    def __init__(self, n_epochs, n_classes, n_test):
        shape = (len(PREDICTORS), n_epochs)
        self.multiclass = np.zeros((*shape, 2), dtype=int)
        self.binary = np.zeros((*shape, n_classes, 2), dtype=int)
        self.confusion = np.zeros((*shape, n_classes, n_classes), dtype=int)
        self.predictions = np.zeros((*shape, n_test), dtype=store.narrow(n_classes - 1, np.uint8).dtype)

    def add(self, split, outputs, indices, part):
        """Count in outputs {predictor: f (E, m, c)} of the images `part` of a split, whose classes are indices (c,)."""
        signs = datasets.signs(indices, self.confusion.shape[-1])
        for name, of_perceptrons in outputs.items():
            p = PREDICTORS.index(name)
            f = by_class(of_perceptrons)
            predicted = f.argmax(axis=1)
            self.multiclass[p, :, split] += (predicted != indices).sum(axis=1)
            self.binary[p, :, :, split] += (signs * f <= 0).sum(axis=2)
            if SPLITS[split] == "test":
                self.predictions[p, :, part] = predicted
                for e, row in enumerate(predicted):
                    np.add.at(self.confusion[p, e], (indices, row), 1)


KEYS = ("epoch", "digit", "predictor", "true", "predicted", "split")
"""The order of the columns of the tables, behind the degree, and of their rows."""


def _table(counts, axes, degree, n=None):
    """Counts (predictor, epoch, *axes) of one degree as sorted rows; n are the sizes of the splits."""
    names = {"predictor": PREDICTORS, "epoch": range(1, counts.shape[1] + 1), **axes}
    index = pd.MultiIndex.from_product(names.values(), names=names.keys())
    table = pd.DataFrame({"errors" if n else "count": counts.reshape(-1)}, index=index).reset_index()
    keys = [name for name in KEYS if name in names]
    table = table.sort_values(keys, ignore_index=True)[[*keys, table.columns[-1]]]
    table.insert(0, "degree", degree)
    return table.assign(n=table["split"].map(dict(zip(SPLITS, n, strict=True)))) if n else table


def log_arrays(logs):
    """Mistake logs as plain arrays, one below the other; steps as the steps between mistakes."""
    return {
        "mistakes": np.array([len(log) for log in logs]),
        "example": store.narrow(np.concatenate([log.example for log in logs]), np.uint16),
        "step_gaps": store.narrow(np.concatenate([np.diff(log.step, prepend=0) for log in logs]), np.uint32),
        "positive": np.packbits(np.concatenate([log.sign > 0 for log in logs])),
        "errors": store.narrow(np.concatenate([log.errors for log in logs]), np.uint16),
        "ends": logs[0].ends,
    }


def logs_from_arrays(arrays):
    """The inverse of `log_arrays`: a list of MistakeLogs, one for each class."""
    cuts = np.cumsum(arrays["mistakes"])[:-1]
    sign = np.unpackbits(arrays["positive"], count=int(arrays["mistakes"].sum())).astype(np.int8) * 2 - 1
    example = arrays["example"].astype(np.intp)
    step_gaps = arrays["step_gaps"].astype(np.int64)
    columns = (example, step_gaps, sign, arrays["errors"].astype(np.int64))
    return [
        MistakeLog(example=t, step=np.cumsum(gaps), sign=z, errors=wrong, ends=arrays["ends"])
        for t, gaps, z, wrong in zip(*(np.split(column, cuts) for column in columns), strict=True)
    ]


def learnt(settings, _, share, shares):
    """A stage of one run: the logs of every shares-th perceptron from `share` on, as arrays; {} where there is none.

    All perceptrons draw their visiting orders from one generator, so the orders of the others are drawn, too.
    """
    data = examples(settings.dataset)
    training = shared_training(data, settings.n_train)
    signs = datasets.signs(data.class_indices[: settings.n_train], len(data.classes))
    signs = signs[1:] if len(signs) == 2 else signs  # two classes share a perceptron
    kernel = kernels.polynomial(settings.degree)
    if kernel.affine and not training.gram.points.exact:
        raise ValueError(
            "--shares: at degree 1, sums of attributes that are not integers round differently in parts; omit --shares"
        )
    own = np.arange(len(signs))[share::shares]
    if not len(own):
        return {}
    random = np.random.RandomState(settings.random_state)
    orders = visiting_orders(signs.shape[1], len(signs), settings.n_epochs, random_state=random)
    each = (order[own] for order in orders)
    return log_arrays(find_mistakes(training.gram, kernel, signs[own], each, settings.n_epochs))


def _in_order(learnt):
    """The logs of all perceptrons in their order, from the arrays of all shares."""
    logs = [logs_from_arrays(arrays) for arrays in learnt if arrays]
    return [each[place] for place in range(len(logs[0])) for each in logs if place < len(each)]


def counted(settings, learnt, share, shares):
    """The stage after `learnt`: the arrays of `_Counts` over a share of the training images and one of the test images."""
    data = examples(settings.dataset)
    training = shared_training(data, settings.n_train)
    model = estimator(settings.degree, n_epochs=settings.n_epochs, random_state=settings.random_state)
    model.with_mistakes(training.X, training.y, _in_order(learnt))
    splits = (training.X, data.class_indices[: settings.n_train]), (data.X_test, data.class_indices_test)
    count = _Counts(settings.n_epochs, len(data.classes), len(data.X_test[share::shares]))
    for split, (X, indices) in enumerate(splits):
        own = X[share::shares]
        for part, (outputs,) in training.staged_outputs([model], own) if len(own) else ():
            count.add(split, outputs, indices[share::shares][part], part)
    return vars(count)


def gathered(settings, learnt, counted):
    """The result of the run, from the arrays of both stages."""
    data = examples(settings.dataset)
    counts = {name: sum(arrays[name] for arrays in counted) for name in ("multiclass", "binary", "confusion")}
    predictions = np.empty((len(PREDICTORS), settings.n_epochs, len(data.X_test)), dtype=counted[0]["predictions"].dtype)
    for share, arrays in enumerate(counted):
        predictions[..., share :: len(counted)] = arrays["predictions"]
    return _result(settings, data, log_arrays(_in_order(learnt)), counts | {"predictions": predictions})


@dataclass(frozen=True, kw_only=True)
class SixDegrees:
    """All six degrees with the parameters of `Settings`."""

    dataset: str = "mnist"
    n_epochs: int = 10
    n_train: int | str = "all"
    random_state: int | str = "degree"

    def runs(self):
        """The Settings of the degrees, a list."""
        return [Settings(degree=degree, **vars(self)) for degree in DEGREES]


NEIGHBOURS = (1, 3)
"""How many of the nearest training images vote."""
MEASURES = ("distance", "angle")
ROWS = 256
"""Test images whose distances are made at a time: about 400 MB with 60,000 training images."""


@dataclass(frozen=True)
class NeighbourSettings(BaseSettings):
    """A dataset, and how many training images, the first of the set; "all" becomes their number."""

    dataset: str = "mnist"
    n_train: int | str = "all"


@experiment(
    "mnist", published=[NeighbourSettings()], arrays=lambda _: "neighbours", data=lambda s: [s.dataset],
)  # fmt: skip
def neighbours(settings, *, progress=False):
    """{neighbours, arrays}: test errors of nearest neighbours by MEASURES and their number, NEIGHBOURS, and the predictions.

    Table: measure, neighbours, errors, n. Array predictions (2, 2, n_test) of indices of classes, in the order of MEASURES
    and NEIGHBOURS.
    """
    data = examples(settings.dataset)
    X = data.X[: settings.n_train]
    y = data.class_indices[: settings.n_train]
    predictions = nearest_neighbours(X, y, data.X_test, progress=progress)
    wrong = (predictions != data.class_indices_test).sum(axis=-1)
    index = pd.MultiIndex.from_product([MEASURES, NEIGHBOURS], names=["measure", "neighbours"])
    table = pd.DataFrame({"errors": wrong.ravel()}, index=index).reset_index().assign(n=len(data.X_test))
    return {"neighbours": table, "arrays": {"predictions": predictions}}


def nearest_neighbours(X, y, X_test, *, progress=False):
    """Classes (2, 2, c) of X_test (c, d) by the nearest of X (n, d), by MEASURES and NEIGHBOURS; y (n,) from 0 on.

    Of equally near images the first counts as nearer; of three classes among the three nearest the lowest is taken, as
    by scikit-learn. Squared distances and cosines come from exact inner products (see kp.gram); n must be at
    least 3.
    """
    points = Points(X)
    test = Points(X_test)
    source = Products(test, points, threads=2)
    columns = slice(0, len(points))
    predictions = np.empty((2, len(NEIGHBOURS), len(test)), dtype=store.narrow(y.max(), np.uint8).dtype)
    with _bar("nearest neighbours", len(test), "image", progress) as bar:
        for start in range(0, len(test), ROWS):
            rows = np.arange(start, min(start + ROWS, len(test)))
            products = np.empty((len(rows), len(points)), dtype=source.dtype)
            source.block(rows, columns, products)
            s = products.astype(float)
            # |x|^2 of the test image is the same in its whole row: it moves no place.
            for m, values in enumerate((points.norms - 2 * s, -s * np.abs(s) / np.maximum(points.norms, 1))):
                near = y[_smallest(values, 3)]
                majority = stats.mode(near, axis=1).mode
                predictions[m, 0, rows] = near[:, 0]
                predictions[m, 1, rows] = majority
            bar.update(len(rows))
    return predictions


def _smallest(values, count):
    """The columns (r, count) of the smallest values of each row, ties in their order; overwrites values."""
    rows = np.arange(len(values))
    found = np.empty((len(values), count), dtype=np.intp)
    for place in range(count):
        found[:, place] = values.argmin(axis=1)
        values[rows, found[:, place]] = np.inf
    return found
