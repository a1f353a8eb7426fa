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

from kp import kernels
from kp.gram import CrossGram, Gram, Points, Products
from kp.mistakes import PREDICTORS, MistakeLog
from kp.perceptron import find_mistakes, visiting_orders
from kp.predictors import primal_scores, replay
from study import BUILD, RESULTS, datasets, store

MODULES = ("kp.kernels", "kp.gram", "kp.mistakes", "kp.perceptron", "kp.predictors", "study.mnist.experiment")
"""The code that can change a result."""

DATASETS = ("mnist",)
COMMAND = "python -m study run mnist"
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
        """The result as plain arrays for the store."""
        return {
            "multiclass": self.multiclass.astype(np.int32),
            "binary": self.binary.astype(np.int32),
            "confusion": self.confusion.astype(np.int32),
            "predictions": self.predictions.astype(np.uint8),
            "n": np.array(self.n),
            **log_arrays(self.logs),
        }

    @classmethod
    def from_arrays(cls, experiment, arrays):
        """The inverse of `arrays`."""
        counts = [arrays[name] for name in ("multiclass", "binary", "confusion", "predictions")]
        return cls(experiment, *counts, logs_from_arrays(arrays), tuple(arrays["n"].tolist()))


def log_arrays(logs):
    """Mistake logs as plain arrays, one below the other; steps as the steps between mistakes."""
    arrays = {
        "mistakes": np.array([len(log) for log in logs]),
        "example": np.concatenate([log.example for log in logs]).astype(np.uint16),
        "waited": np.concatenate([np.diff(log.step, prepend=0) for log in logs]).astype(np.uint32),
        "positive": np.packbits(np.concatenate([log.sign > 0 for log in logs])),
        "ends": logs[0].ends,
    }
    if logs[0].errors is not None:
        arrays["errors"] = np.concatenate([log.errors for log in logs]).astype(np.uint16)
    return arrays


def logs_from_arrays(arrays):
    """The inverse of `log_arrays`."""
    cuts = np.cumsum(arrays["mistakes"])[:-1]
    sign = np.unpackbits(arrays["positive"], count=int(arrays["mistakes"].sum())).astype(np.int8) * 2 - 1
    example, waited, sign = (
        np.split(column, cuts) for column in (arrays["example"].astype(np.intp), arrays["waited"].astype(np.int64), sign)
    )
    errors = np.split(arrays["errors"].astype(np.int64), cuts) if "errors" in arrays else [None] * len(example)
    return [
        MistakeLog(example=t, step=np.cumsum(steps), sign=z, errors=wrong, ends=arrays["ends"])
        for t, steps, z, wrong in zip(example, waited, sign, errors, strict=True)
    ]


class Laboratory:
    """The data of one experiment or several, and the inner products that they share."""

    def __init__(self, dataset, n_train, *, memory_budget=MEMORY_BUDGET, threads=2, progress=False):
        data = datasets.load(dataset)
        self.classes = np.array(data.classes)
        self.labels = np.searchsorted(self.classes, data.y[:n_train]), np.searchsorted(self.classes, data.y_test)
        self.signs = [np.where(y == np.arange(len(self.classes))[:, None], 1, -1).astype(np.int8) for y in self.labels]
        points, others = Points(data.X[:n_train]), Points(data.X_test)
        self.gram = Gram(Products(points, points), memory_budget=memory_budget)
        self.columns = self.gram, CrossGram(Products(points, others))
        self.threads, self.progress = threads, progress

    def find(self, experiments):
        """The mistake logs, a list for each experiment, of experiments that have the same number of epochs.

        Their perceptrons run side by side, so that each kernel row is made once for all of them. Degree 1 goes by weight
        vectors and leaves the training errors uncounted.
        """
        m, n = self.signs[0].shape
        n_epochs = experiments[0].n_epochs
        orders = [visiting_orders(n, m, n_epochs, random_state=np.random.RandomState(e.random_state)) for e in experiments]
        names = ", ".join(str(e.degree) for e in experiments)
        with self._bar(f"perceptrons of degree {names}", len(experiments) * m * n * n_epochs, "visit") as bar:
            logs = find_mistakes(
                self.gram, [kernel(e) for e in experiments for _ in range(m)], np.tile(self.signs[0], (len(experiments), 1)),
                (np.concatenate(order) for order in zip(*orders, strict=True)), n_epochs,
                threads=self.threads, count_errors=False, callback=bar.update,
            )  # fmt: skip
        return [logs[i : i + m] for i in range(0, len(logs), m)]

    def evaluate(self, experiments, logs):
        """The Results of these experiments, all from one walk over the training images and one over the test images."""
        m, epochs, logs = len(self.classes), range(1, experiments[0].n_epochs + 1), list(logs)
        counts = [_Counts(len(epochs), m, len(self.labels[1])) for _ in experiments]
        signs = np.tile(self.signs[0], (len(experiments), 1))
        errors = [np.zeros(len(log), dtype=np.int64) if log.errors is None else None for part in logs for log in part]
        for split, columns in enumerate(self.columns):
            counting = {"signs": signs, "errors": errors} if split == 0 else {}
            kernels_ = [kernel(e) for e in experiments for _ in range(m)]
            with self._bar(f"predictors on the {SPLITS[split]} images", len(columns), "image") as bar:
                flat = [log for part in logs for log in part]
                for part, f in replay(
                    flat, kernels_, columns, epochs=epochs, threads=self.threads, callback=bar.update, **counting
                ):
                    for i, count in enumerate(counts):
                        scores = {name: f[name][:, i * m : (i + 1) * m] for name in PREDICTORS}
                        count.add(split, scores, self.labels[split][part], self.signs[split][:, part], part)
            for i, experiment in enumerate(experiments):
                if logs[i][0].errors is None:
                    logs[i] = [log.with_errors(errors[i * m + a]) for a, log in enumerate(logs[i])]
                    for part, f in primal_scores(logs[i], kernel(experiment), self.gram, "minimizing", epochs):
                        labels, z = self.labels[split][part], self.signs[split][:, part]
                        counts[i].add(split, {"minimizing": f}, labels, z, part)
        n = tuple(map(len, self.labels))
        return [
            Result(e, count.multiclass, count.binary, count.confusion, count.predictions, part, n)
            for e, count, part in zip(experiments, counts, logs, strict=True)
        ]

    def _bar(self, description, total, unit):
        hidden = None if self.progress else True
        return tqdm(total=total, desc=description, unit=unit, unit_scale=True, disable=hidden)


def kernel(experiment):
    """K = (1 + x . y)^p, the kernel of the experiment's degree p."""
    return kernels.polynomial(experiment.degree)


class _Counts:
    """Errors of every predictor, added up block by block of the columns."""

    def __init__(self, n_epochs, m, n_test):
        shape = (len(PREDICTORS), n_epochs)
        self.multiclass, self.binary = np.zeros((*shape, 2), dtype=int), np.zeros((*shape, m, 2), dtype=int)
        self.confusion, self.predictions = (
            np.zeros((*shape, m, m), dtype=int),
            np.zeros((*shape, n_test), dtype=np.uint8),
        )

    def add(self, split, scores, labels, signs, part):
        for name, f in scores.items():
            if np.isnan(f).any():
                continue
            p, predicted = PREDICTORS.index(name), f.argmax(axis=1)
            self.multiclass[p, :, split] += (predicted != labels).sum(axis=1)
            self.binary[p, :, :, split] += (signs * f <= 0).sum(axis=2)
            if SPLITS[split] == "test":
                self.predictions[p, :, part] = predicted
                for e, row in enumerate(predicted):
                    np.add.at(self.confusion[p, e], (labels, row), 1)


def results(experiments, *, recompute=False, progress=False, memory_budget=MEMORY_BUDGET, threads=2):
    """The Results of these experiments, in their order: read where they are stored and belong to the code, else computed.

    Experiments on the same examples are computed together and share their inner products. What was found is stored step by
    step, so an interrupted run goes on where it stopped. recompute=True ignores what is stored.
    """
    found = {} if recompute else {e: result for e in experiments if (result := _stored(e)) is not None}
    groups = {}
    for e in experiments:
        if e not in found:
            groups.setdefault((e.dataset, e.n_train, e.n_epochs), []).append(e)
    for (dataset, n_train, _), group in groups.items():
        laboratory = Laboratory(dataset, n_train, memory_budget=memory_budget, threads=threads, progress=progress)
        for part in ([e for e in group if e.degree == 1], [e for e in group if e.degree > 1]):
            missing = [e for e in part if recompute or _stored_logs(e) is None]
            for e, logs in zip(missing, laboratory.find(missing) if missing else [], strict=True):
                store.write_arrays(_draft(e), log_arrays(logs), e.source)
        for result in laboratory.evaluate(group, [_stored_logs(e) for e in group]):
            found[result.experiment] = result
            store.write_arrays(result.experiment.path, result.arrays(), result.experiment.source)
    for e in experiments:
        _draft(e).unlink(missing_ok=True)
    return [found[e] for e in experiments]


def _stored(experiment):
    try:
        arrays = store.read_arrays(experiment.path, experiment.source, COMMAND)
    except store.StaleResult:
        return None
    return Result.from_arrays(experiment, arrays)


def _draft(experiment):
    """Where the mistake logs of an experiment wait until they are evaluated."""
    return BUILD / "drafts" / experiment.path.name


def _stored_logs(experiment):
    try:
        return logs_from_arrays(store.read_arrays(_draft(experiment), experiment.source, COMMAND))
    except store.StaleResult:
        return None


def publish(*, recompute=False, progress=False):
    """Compute what is missing of the published runs and write their tables to data/results."""
    found = results(sorted(PUBLISHED, key=lambda e: e.degree), recompute=recompute, progress=progress)
    for name, frame in tables(found).items():
        store.write_table(RESULTS / f"{name}.csv", frame, _table_source(), COMMAND)


def table(name):
    """A published table: mnist_multiclass, mnist_binary or mnist_confusion. Raises StaleResult if the code is another."""
    return store.read_table(RESULTS / f"{name}.csv", _table_source(), COMMAND)


def _table_source():
    runs = {str(e.degree): asdict(e) for e in sorted(PUBLISHED, key=lambda e: e.degree)}
    return store.provenance("mnist", runs, MODULES, datasets.checksums("mnist"))


def tables(results):
    """{name: tidy table} of these results: multiclass and binary errors, and confusion matrices on the test set."""
    return {
        "mnist_multiclass": _table(
            results, lambda r: r.multiclass, {"split": SPLITS}, ["degree", "epoch", "predictor", "split"]
        ),
        "mnist_binary": _table(
            results,
            lambda r: r.binary,
            {"digit": None, "split": SPLITS},
            ["degree", "epoch", "digit", "predictor", "split"],
        ),
        "mnist_confusion": _table(
            results,
            lambda r: r.confusion,
            {"true": None, "predicted": None},
            ["degree", "epoch", "predictor", "true", "predicted"],
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
