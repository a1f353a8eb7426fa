"""The MNIST experiment: ten one-vs-all kernel perceptrons, every predictor after every epoch.

Source: Hermans 2021, sections 3 to 5. Protocol: raw pixels, K = (1 + x . y)^p, p = 1..6, ten epochs, RandomState(p), a
fresh shuffle for each epoch and each digit. The scikit-learn digits take the place of MNIST in the quick profile.

One experiment is one degree. Its result holds the counts of errors (binary for each digit, multiclass), the confusion
matrices and predictions on the test set, and the mistake logs from which all of it can be made again.
"""

from dataclasses import asdict, dataclass

import numpy as np
import pandas as pd
from tqdm import tqdm

from kp import datasets, kernels
from kp.gram import Cross, Gram, Points
from kp.mistakes import PREDICTORS, MistakeLog
from kp.perceptron import find_mistakes, visiting_orders
from kp.predictors import primal_scores, replay
from kp.study import BUILD, RESULTS, store

MODULES = ("kp.kernels", "kp.gram", "kp.mistakes", "kp.perceptron", "kp.predictors", "kp.study.mnist")
"""The code that can change a result."""

COMMAND = "python -m kp.study run mnist"
DEGREES = range(1, 7)
SPLITS = ("train", "test")
MEMORY_BUDGET = 5 * 2**30
"""Bytes for kernel rows: all that degrees 2 to 6 need together. With the data, the whole study stays below 6 GiB."""


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """Parameters of one run. n_train: the first examples of the training set; random_state: seed of the visiting orders."""

    dataset: str
    degree: int
    n_epochs: int
    n_train: int
    random_state: int

    @property
    def published(self):
        """True for the runs whose results are committed: those of the source."""
        return self in PUBLISHED

    @property
    def path(self):
        """Where the result is stored: with the project for the published runs, under build/ for all others."""
        if self.published:
            return RESULTS / f"mnist_degree_{self.degree}.npz"
        name = "-".join(f"{key}={value}" for key, value in asdict(self).items())
        return BUILD / "results" / f"{name}.npz"

    @property
    def source(self):
        """The provenance that a stored result must have to belong to this run and to the code."""
        return store.provenance("mnist", asdict(self), MODULES, datasets.checksums(self.dataset))


PUBLISHED = {
    Experiment(dataset="mnist", degree=degree, n_epochs=10, n_train=60000, random_state=degree) for degree in DEGREES
}


def experiment(*, dataset="mnist", degree, n_epochs=10, n_train="all", random_state="degree"):
    """An Experiment from the parameters of a notebook, checked.

    dataset "mnist" or "digits"; n_train an integer or "all"; random_state an integer, or "degree" for the published
    choice, the degree itself. Raises ValueError for anything else.
    """
    if dataset not in ("mnist", "digits"):
        raise ValueError(f"dataset must be mnist or digits, got {dataset!r}")
    size = sum(datasets.DATASETS[dataset].counts)
    n_train = size if n_train == "all" else n_train
    random_state = degree if random_state == "degree" else random_state
    for name, value, low, high in (
        ("degree", degree, 1, 40),
        ("n_epochs", n_epochs, 1, 1000),
        ("n_train", n_train, 10, size),
        ("random_state", random_state, 0, 2**32 - 1),
    ):
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise ValueError(f"{name} must be an integer in {low}..{high}, got {value!r}")
    return Experiment(
        dataset=dataset, degree=degree, n_epochs=n_epochs, n_train=n_train, random_state=random_state
    )  # fmt: skip


@dataclass(frozen=True)
class Result:
    """What one experiment gives; C classes, E epochs, predictors in the order of PREDICTORS, splits train and test.

    multiclass (4, E, 2) and binary (4, E, C, 2) counts of errors; confusion (4, E, C, C) counts of test images by true and
    predicted class; predictions (4, E, n_test) indices of classes; logs a MistakeLog for each class; n (2,) sizes.
    """

    experiment: Experiment
    multiclass: np.ndarray
    binary: np.ndarray
    confusion: np.ndarray
    predictions: np.ndarray
    logs: list[MistakeLog]
    n: tuple[int, int]

    def arrays(self):
        """The result as plain arrays for the store; the logs one below the other, steps as distances."""
        log = self.logs
        return {
            "multiclass": self.multiclass.astype(np.int32),
            "binary": self.binary.astype(np.int32),
            "confusion": self.confusion.astype(np.int32),
            "predictions": self.predictions.astype(np.uint8),
            "mistakes": np.array([len(part) for part in log]),
            "example": np.concatenate([part.example for part in log]).astype(np.uint16),
            "stood": np.concatenate([np.diff(part.step, prepend=0) for part in log]).astype(np.uint32),
            "positive": np.packbits(np.concatenate([part.sign > 0 for part in log])),
            "errors": np.concatenate([part.errors for part in log]).astype(np.uint16),
            "ends": log[0].ends,
            "n": np.array(self.n),
        }

    @classmethod
    def from_arrays(cls, experiment, a):
        """The inverse of `arrays`."""
        cuts = np.cumsum(a["mistakes"])[:-1]
        sign = np.unpackbits(a["positive"], count=a["mistakes"].sum()).astype(np.int8) * 2 - 1
        columns = a["example"].astype(np.intp), a["stood"].astype(np.int64), sign, a["errors"].astype(np.int64)
        logs = [
            MistakeLog(example, np.cumsum(stood), z, errors, a["ends"])
            for example, stood, z, errors in zip(*(np.split(column, cuts) for column in columns), strict=True)
        ]
        return cls(experiment, *(a[name] for name in ("multiclass", "binary", "confusion", "predictions")), logs, tuple(a["n"]))


class Laboratory:
    """The data of one experiment or several, and the inner products that they share."""

    def __init__(self, dataset, n_train, *, memory_budget=MEMORY_BUDGET, threads=2):
        data = datasets.load(dataset)
        self.classes = np.array(data.classes)
        self.labels = np.searchsorted(self.classes, data.y[:n_train]), np.searchsorted(self.classes, data.y_test)
        self.gram = Gram(data.X[:n_train], memory_budget=memory_budget)
        self.cross = Cross(self.gram.points, Points(data.X_test))
        self.threads = threads

    def run(self, experiment, *, progress=False):
        """Compute the Result of one experiment."""
        kernel = kernels.polynomial(experiment.degree)
        signs = [np.where(labels == np.arange(len(self.classes))[:, None], 1, -1).astype(np.int8) for labels in self.labels]
        m, n = signs[0].shape
        orders = visiting_orders(n, m, experiment.n_epochs, random_state=np.random.RandomState(experiment.random_state))
        with tqdm(total=m * n * experiment.n_epochs, unit="visit", unit_scale=True, disable=None if progress else True) as bar:
            bar.set_description(f"degree {experiment.degree}: perceptrons")
            logs = find_mistakes(
                self.gram, kernel, signs[0], orders, threads=self.threads, count_errors=False, tick=bar.update
            )
        counts = _Counts(experiment.n_epochs, len(self.classes), len(self.labels[1]))
        train = {"signs": signs[0], "errors": [np.zeros(len(log), dtype=np.int64) for log in logs]}
        for split, columns in enumerate((self.gram, self.cross)):
            uncounted = split == 0 and logs[0].errors is None
            with tqdm(total=len(columns), unit="image", disable=None if progress else True) as bar:
                bar.set_description(f"degree {experiment.degree}: predictors, {SPLITS[split]}")
                for part, scores in replay(
                    logs, kernel, columns, epochs=range(1, experiment.n_epochs + 1), threads=self.threads, tick=bar.update,
                    **(train if uncounted else {}),
                ):  # fmt: skip
                    counts.add(split, scores, self.labels[split][part], signs[split][:, part], part)
            if uncounted:
                logs = [log.with_errors(errors) for log, errors in zip(logs, train["errors"], strict=True)]
                epochs = range(1, experiment.n_epochs + 1)
                for part, scores in primal_scores(logs, kernel, self.gram, "minimizing", epochs):
                    counts.add(split, {"minimizing": scores}, self.labels[split][part], signs[split][:, part], part)
        return Result(
            experiment, counts.multiclass, counts.binary, counts.confusion, counts.predictions, logs,
            (len(self.labels[0]), len(self.labels[1])),
        )  # fmt: skip


class _Counts:
    """Errors of every predictor, added up block by block of the columns."""

    def __init__(self, n_epochs, m, n_test):
        shape = (len(PREDICTORS), n_epochs)
        self.multiclass, self.binary = np.zeros((*shape, 2), dtype=int), np.zeros((*shape, m, 2), dtype=int)
        self.confusion, self.predictions = np.zeros((*shape, m, m), dtype=int), np.zeros((*shape, n_test), dtype=np.uint8)

    def add(self, split, scores, labels, signs, part):
        for name, f in scores.items():
            p, predicted = PREDICTORS.index(name), f.argmax(axis=1)
            self.multiclass[p, :, split] += (predicted != labels).sum(axis=1)
            self.binary[p, :, :, split] += (signs * f <= 0).sum(axis=2)
            if SPLITS[split] == "test":
                self.predictions[p, :, part] = predicted
                for e, row in enumerate(predicted):
                    np.add.at(self.confusion[p, e], (labels, row), 1)


def results(experiments, *, recompute=False, progress=False, memory_budget=MEMORY_BUDGET, threads=2):
    """The Results of these experiments, in their order: read where they are stored and belong to the code, else computed.

    Each is stored as soon as it is computed, so an interrupted run goes on where it stopped. Experiments on the same
    examples share their inner products. recompute=True ignores what is stored.
    """
    found, laboratories = {}, {}
    for experiment in sorted(experiments, key=lambda e: (e.degree, e.random_state)):
        try:
            if recompute:
                raise store.StaleResult
            arrays = store.read_arrays(experiment.path, experiment.source, COMMAND)
            found[experiment] = Result.from_arrays(experiment, arrays)
        except store.StaleResult:
            key = experiment.dataset, experiment.n_train
            if key not in laboratories:
                laboratories[key] = Laboratory(*key, memory_budget=memory_budget, threads=threads)
            found[experiment] = laboratories[key].run(experiment, progress=progress)
            store.write_arrays(experiment.path, found[experiment].arrays(), experiment.source)
    return [found[experiment] for experiment in experiments]


def tables(results):
    """{name: tidy table} of these results: multiclass and binary errors, and confusion matrices on the test set."""
    return {
        "mnist_multiclass": _table(results, lambda r: r.multiclass, {"split": SPLITS}, ["degree", "epoch", "predictor", "split"]),
        "mnist_binary": _table(
            results, lambda r: r.binary, {"digit": None, "split": SPLITS}, ["degree", "epoch", "digit", "predictor", "split"]
        ),
        "mnist_confusion": _table(
            results, lambda r: r.confusion, {"true": None, "predicted": None}, ["degree", "epoch", "predictor", "true", "predicted"]
        ),
    }


def _table(results, counts, axes, keys):
    """Counts (predictor, epoch, *axes) of each result as rows sorted by `keys`; an axis without names has the classes'."""
    frames = []
    for result in results:
        values = counts(result)
        names = {"predictor": PREDICTORS, "epoch": range(1, values.shape[1] + 1)}
        names |= {axis: range(values.shape[2]) if levels is None else levels for axis, levels in axes.items()}
        index = pd.MultiIndex.from_product(names.values(), names=names.keys())
        column = "errors" if "split" in axes else "count"
        frame = pd.DataFrame({column: values.reshape(-1)}, index=index).reset_index()
        frame["degree"] = result.experiment.degree
        if "split" in axes:
            frame["n"] = frame["split"].map(dict(zip(SPLITS, map(int, result.n), strict=True)))
        frames.append(frame)
    table = pd.concat(frames, ignore_index=True).sort_values(keys, ignore_index=True)
    return table[[*keys, *(name for name in ("errors", "count", "n") if name in table)]]
