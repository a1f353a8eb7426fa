"""Kernel perceptrons on more databases: four forms of the perceptron and four references, all tuned in the same way.

Source: Xu & Zhang 2005, section V, name "examine more benchmark databases" as further work; no published
comparison of one-vs-all, ordinary multiclass and Xu and Zhang's perceptron on the same data is known to us.

Protocol. Sets with a customary split are trained and tested on it. Of the others one half, stratified, trains and the other
tests, then the other way round, so that a repetition tests every example once (Dietterich 1998); there are three. Attributes
are scaled to [0, 1] on the training part. Every choice (kernel, width, degree, penalty, neighbours, epochs, predictor) is
made on validation data: of the training part, or a stratified subset where it is large, two thirds train and one third
validates, three times over where it is small; the fewest errors win. Of equals the one wins that is a priori steadier: means
before single predictors, RBF before polynomial, wide before narrow, many epochs before few. The method is then trained on
the whole training part and meets the test set once.

Symbols: n training examples, sigma the width of an RBF kernel, in units of the median distance of two training examples.
"""

import time
from dataclasses import asdict, dataclass, replace

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from scipy.spatial.distance import pdist
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Perceptron
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit, train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits
from tqdm import tqdm

from kp.mistakes import PREDICTORS
from kp.multiclass import MulticlassKernelPerceptron, MulticlassPerceptron
from kp.output_codes import OneVsAllKernelPerceptron
from study import BUILD, RESULTS, datasets, store

MODULES = (
    "kp.kernels", "kp.gram", "kp.mistakes", "kp.predictors", "kp.perceptron", "kp.kesler", "kp.estimator",
    "kp.output_codes", "kp.multiclass", "study.comparison.experiment",
)  # fmt: skip
"""The code that can change a result."""

COMMAND = "python -m study run comparison"
KERNEL_PERCEPTRONS = ("one-vs-all", "ordinary", "xu-zhang")
PERCEPTRONS = (*KERNEL_PERCEPTRONS, "linear")
METHODS = (*PERCEPTRONS, "SVM", "kernel ridge", "nearest neighbours", "scikit-learn perceptron")
DATASETS = (
    "optdigits", "pendigits", "letter", "satimage", "vowel", "seeds", "winequality-red", "winequality-white", "iris",
    "sonar", "wine",
)  # fmt: skip
"""The sets whose results are stored; those of Xu and Zhang are vowel, iris, sonar and wine."""

BUNDLED = ("iris-bundled", "wine-bundled", "digits")
TABLES = ("errors", "validation", "pairs", "times")
NONE = "-"
"""The predictor of methods that have but one."""

STEADIEST = ("average", "voted", "final", "minimizing", NONE)
"""The order in which predictors win where validation errors are equal."""


@dataclass(frozen=True, kw_only=True)
class Scale:
    """How much is tried. widths in median distances; other values are those of the methods' own parameters.

    tuning: at most so many training examples are tuned on; small: below so many, three random thirds validate, else one.
    reference_step: the references, which depend less on the width, try every so-manyth of them.
    dense: bytes that Xu and Zhang's perceptron may take for kernel values; beyond, it goes without the squared matrix, has
    no minimizing predictor, and only its chosen predictor is trained on everything.
    """

    repetitions: int = 3
    widths: tuple[float, ...] = tuple(round(2.0 ** (j / 2), 4) for j in range(0, -9, -1))
    degrees: tuple[int, ...] = (2, 4)
    epochs: tuple[int, ...] = (1, 5, 20)
    penalties: tuple[float, ...] = (1.0, 10.0, 100.0)
    ridges: tuple[float, ...] = (1.0, 0.1, 0.01, 0.001)
    neighbours: tuple[int, ...] = (1, 3, 5, 9, 15, 31)
    perceptron_epochs: tuple[int, ...] = (5, 20, 100)
    tuning: int = 3000
    small: int = 1000
    reference_step: int = 2
    dense: int = 2**30


FULL = Scale()
QUICK = Scale(
    repetitions=1, widths=(1.0, 0.5, 0.25, 0.125, 0.0625), degrees=(2, 4), epochs=(1, 3, 10), penalties=(1.0, 10.0),
    ridges=(0.1, 0.01), neighbours=(1, 3, 9), perceptron_epochs=(5, 20), tuning=600, small=1, reference_step=1,
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Setting:
    """One choice of everything that is tuned.

    kernel "rbf", "poly" or "-"; width sigma in median distances; degree of (1 + x.y)^degree; other the SVM's C, the ridge
    lambda, the number of neighbours, or the epochs of scikit-learn's perceptron; predictor and epoch of our perceptrons.
    """

    method: str
    kernel: str = NONE
    width: float = np.nan
    degree: float = np.nan
    other: float = np.nan
    predictor: str = NONE
    epoch: float = np.nan


class RidgeOnLabels:
    """scikit-learn's kernel ridge regression on +-1 targets, one for each class; the class of the largest value wins."""

    def __init__(self, ridge, gamma):
        self.model = KernelRidge(alpha=ridge, kernel="rbf", gamma=gamma)

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.model.fit(X, np.where(y[:, None] == self.classes_, 1.0, -1.0))
        return self

    def predict(self, X):
        return self.classes_[self.model.predict(X).argmax(axis=1)]


def grid(method, scale):
    """The settings of a method that need a fit of their own; predictor and epoch are read off one fit."""
    rbf = [Setting(method=method, kernel="rbf", width=width) for width in scale.widths]
    if method in KERNEL_PERCEPTRONS:
        return rbf + [Setting(method=method, kernel="poly", degree=float(degree)) for degree in scale.degrees]
    if method == "linear":
        return [Setting(method=method)]
    values = {
        "SVM": scale.penalties,
        "kernel ridge": scale.ridges,
        "nearest neighbours": scale.neighbours,
        "scikit-learn perceptron": scale.perceptron_epochs,
    }[method]
    bases = rbf[:: scale.reference_step] if method in ("SVM", "kernel ridge") else [Setting(method=method)]
    return [replace(base, other=float(value)) for base in bases for value in values]


def estimator(setting, X, *, max_iter, random_state, count_errors=True, dense=2**30):
    """The estimator of a setting for scaled training examples X (n, d); perceptrons with max_iter epochs."""
    sigma = setting.width * median_distance(X) if setting.kernel == "rbf" else np.nan
    gamma = 1.0 / (2.0 * sigma**2)
    degree = 1 if np.isnan(setting.degree) else int(setting.degree)
    common = {"max_iter": max_iter, "random_state": random_state, "n_jobs": 1}
    if setting.method == "one-vs-all":
        return OneVsAllKernelPerceptron(
            setting.kernel, gamma=gamma if setting.kernel == "rbf" else 1.0, degree=degree, **common
        )
    if setting.method in KERNEL_PERCEPTRONS:
        kernel = {"sigma": sigma} if setting.kernel == "rbf" else {"degree": degree, "coef0": 1.0}
        solver = "squared" if 16 * len(X) ** 2 <= dense else "coefficients"
        return MulticlassKernelPerceptron(
            setting.kernel, **kernel, update=setting.method, solver=solver, count_errors=count_errors, memory_budget=dense,
            **common,
        )  # fmt: skip
    if setting.method == "linear":
        return MulticlassPerceptron(count_errors=count_errors, **common)
    if setting.method == "SVM":
        return SVC(C=setting.other, gamma=gamma)
    if setting.method == "kernel ridge":
        return RidgeOnLabels(setting.other, gamma)
    if setting.method == "nearest neighbours":
        return KNeighborsClassifier(int(setting.other))
    return Perceptron(max_iter=int(setting.other), tol=None, random_state=random_state)


def median_distance(X):
    """The median distance of two of at most 1,000 examples of X (n, d), taken at even steps."""
    return float(np.median(pdist(X[:: -(-len(X) // 1000)])))


def predictions(model, setting, X, scale):
    """Yield (setting, labels (c,)) of X for every predictor and epoch that one fit went through."""
    if setting.method not in PERCEPTRONS:
        yield setting, model.predict(X)
        return
    for predictor in PREDICTORS:
        found = {}
        for epoch in reversed(scale.epochs):
            last = min(epoch, model.n_iter_)
            if last not in found:
                found[last] = model.predict(X, predictor=predictor, epoch=last)
            yield replace(setting, predictor=predictor, epoch=float(epoch)), found[last]


def validate(method, X, y, scale, random_state):
    """Validation errors of every setting: a table of one row a setting, errors and n summed over the random thirds."""
    if len(y) > scale.tuning:
        X, _, y, _ = train_test_split(X, y, train_size=scale.tuning, stratify=y, random_state=random_state)
    thirds = StratifiedShuffleSplit(3 if len(y) < scale.small else 1, test_size=1 / 3, random_state=random_state)
    errors, n = {}, 0
    for train, validation in thirds.split(X, y):
        scaler = MinMaxScaler().fit(X[train])
        A, B = scaler.transform(X[train]), scaler.transform(X[validation])
        n += len(validation)
        for base in grid(method, scale):
            model = estimator(base, A, max_iter=scale.epochs[-1], random_state=random_state, dense=scale.dense)
            model.fit(A, y[train])
            for setting, labels in predictions(model, base, B, scale):
                errors[setting] = errors.get(setting, 0) + int(np.count_nonzero(labels != y[validation]))
    table = pd.DataFrame([asdict(setting) for setting in errors])
    return table.assign(validation_errors=list(errors.values()), validation_n=n, tuned_on=len(y))


def best_settings(validation):
    """For each predictor of one method the row with the fewest validation errors; column chosen marks the best of them.

    Of equals the first: settings go from RBF to polynomial, from wide to narrow and from many epochs to few, predictors as
    in STEADIEST.
    """
    places = validation.groupby("predictor")["validation_errors"].idxmin()
    best = validation.loc[places.sort_index(key=lambda names: names.map(STEADIEST.index))].reset_index(drop=True)
    return best.assign(chosen=best.index == best["validation_errors"].idxmin())


def run_method(method, train, test, scale, random_state):
    """Tune a method and test it: (rows of errors and times, a dict each, validation table, labels of the chosen setting)."""
    (X, y), (X_test, y_test) = train, test
    validation = validate(method, X, y, scale, random_state)
    large = method == "xu-zhang" and 16 * len(y) ** 2 > scale.dense
    best = best_settings(validation[validation["predictor"] != "minimizing"] if large else validation)
    scaler = MinMaxScaler().fit(X)
    A, B = scaler.transform(X), scaler.transform(X_test)
    rows, chosen_labels = [], None
    for row in best[best["chosen"] | (not large)].to_dict("records"):
        setting = Setting(**{name: row[name] for name in Setting.__dataclass_fields__})
        model = estimator(
            setting, A, max_iter=int(np.nan_to_num(setting.epoch, nan=1)), random_state=random_state,
            count_errors=setting.predictor == "minimizing", dense=scale.dense,
        )  # fmt: skip
        start = time.process_time()
        model.fit(A, y)
        seconds = time.process_time() - start
        labels = model.predict(B) if setting.predictor == NONE else model.predict(B, predictor=setting.predictor)
        support, kernel_values = costs(model, setting, len(y))
        rows.append(
            row
            | {"n_train": len(y), "support": support, "kernel_values": kernel_values}
            | {"errors": int(np.count_nonzero(labels != y_test)), "n": len(y_test), "seconds": round(seconds, 3)}
        )
        if row["chosen"]:
            chosen_labels = labels
    return rows, validation, chosen_labels


def costs(model, setting, n):
    """(support vectors, kernel values that one prediction takes); nothing for linear methods, distances for neighbours."""
    if setting.method in ("linear", "scikit-learn perceptron"):
        return 0, 0
    if setting.method == "SVM":
        return len(model.support_), len(model.support_)
    if setting.method not in PERCEPTRONS:
        return n, n
    logs = model.mistakes_ if setting.method == "one-vs-all" else [model.mistakes_]
    read = [log.minimizing_length() if setting.predictor == "minimizing" else log.length() for log in logs]
    support = len(np.unique(np.concatenate([log.example[:m] for log, m in zip(logs, read, strict=True)])))
    return support, n if setting.method == "xu-zhang" else support


def splits(data, repetitions):
    """Yield (repetition, fold, training part, test part), parts as (X, y)."""
    if data.X_test is not None:
        yield 0, 0, (data.X, data.y), (data.X_test, data.y_test)
        return
    for repetition in range(repetitions):
        halves = StratifiedKFold(2, shuffle=True, random_state=repetition).split(data.X, data.y)
        for fold, (train, test) in enumerate(halves):
            yield repetition, fold, (data.X[train], data.y[train]), (data.X[test], data.y[test])


def compare(name, scale):
    """{table: tidy table} of one data set, in TABLES; runs on one thread.

    errors: the errors on the test part of every method and predictor, with the settings that validation chose. validation:
    validation errors of every setting at its best epoch, summed over repetitions and folds. pairs: for every two methods
    the test examples that only one gets wrong, by repetition. times: processor seconds of each final fit.
    """
    errors, validation, wrong = [], [], {}
    with threadpool_limits(1):
        for repetition, fold, train, test in splits(datasets.load(name), scale.repetitions):
            for method in METHODS:
                rows, tried, labels = run_method(method, train, test, scale, repetition)
                where = {"dataset": name, "repetition": repetition, "fold": fold}
                errors += [where | row for row in rows]
                validation.append(tried.assign(dataset=name))
                wrong.setdefault((repetition, method), []).append(labels != test[1])
    errors, settings = pd.DataFrame(errors), ["kernel", "width", "degree", "other", "predictor", "epoch"]
    keys = ["dataset", "repetition", "fold", "method"]
    counts = [
        "validation_errors",
        "validation_n",
        "tuned_on",
        "n_train",
        "support",
        "kernel_values",
        "errors",
        "n",
        "chosen",
    ]
    return {
        "errors": errors[[*keys, *settings, *counts]],
        "validation": _at_best_epochs(pd.concat(validation, ignore_index=True)),
        "pairs": _pairs(name, wrong),
        "times": errors[[*keys, "predictor", "seconds"]],
    }


def _at_best_epochs(validation):
    """Of each setting the best epoch in each fold; errors and n summed over the folds."""
    keys = ["dataset", "method", "kernel", "width", "degree", "other", "predictor"]
    folds = validation.assign(part=validation.groupby([*keys, "epoch"], dropna=False).cumcount())
    best = folds.groupby([*keys, "part"], dropna=False, sort=False, as_index=False)[
        ["validation_errors", "validation_n"]
    ].min()
    return best.drop(columns="part").groupby(keys, dropna=False, sort=False, as_index=False).sum()


def _pairs(name, wrong):
    rows = []
    for repetition in sorted({repetition for repetition, _ in wrong}):
        parts = {method: np.concatenate(wrong[repetition, method]) for method in METHODS}
        for i, first in enumerate(METHODS):
            for second in METHODS[i + 1 :]:
                a, b = parts[first], parts[second]
                rows.append((name, repetition, first, second, int(np.sum(a & ~b)), int(np.sum(b & ~a)), len(a)))
    return pd.DataFrame(rows, columns=["dataset", "repetition", "first", "second", "only_first", "only_second", "n"])


def publish(*, recompute=False, progress=False):
    """Compute what is missing of the full comparison and write its tables to data/results.

    Every data set is stored as it is finished, so an interrupted run goes on where it stopped. Two sets are computed side by
    side, each on one thread. Times are measured once: recomputing keeps those that belong to the code.
    """
    if not recompute and _is_stored(TABLES):
        return
    if recompute:
        for name in DATASETS:
            for table in TABLES:
                _draft(name, table).unlink(missing_ok=True)
    missing = sorted((name for name in DATASETS if _drafts(name) is None), key=_size, reverse=True)
    jobs = Parallel(n_jobs=2, return_as="generator_unordered")(delayed(_store_draft)(name) for name in missing)
    for _ in tqdm(jobs, total=len(missing), desc="data sets", disable=None if progress else True):
        pass
    drafts = [_drafts(name) for name in DATASETS]
    for table in TABLES:
        if table != "times" or not _is_stored(["times"]):
            found = pd.concat([draft[table] for draft in drafts], ignore_index=True)
            store.write_table(_path(table), found, _source(DATASETS), COMMAND)
    for name in DATASETS:
        for table in TABLES:
            _draft(name, table).unlink(missing_ok=True)
            _draft(name, table).with_suffix(".json").unlink(missing_ok=True)


def tables(names):
    """{table: tidy table} of these data sets: as stored for those in DATASETS, computed on the spot for those in BUNDLED.

    names is a list of names, or text with blanks between them. Raises StaleResult if the stored tables do not belong to the
    code, ValueError for other sets or sets of both kinds.
    """
    names = names.split() if isinstance(names, str) else list(names)
    if names and set(names) <= set(BUNDLED):
        found = [compare(name, QUICK) for name in names]
        return {table: pd.concat([each[table] for each in found], ignore_index=True) for table in TABLES}
    if not names or not set(names) <= set(DATASETS):
        raise ValueError(f"datasets must be among {', '.join(DATASETS)}, or among {', '.join(BUNDLED)}, got {names}")
    found = {table: _read(_path(table), DATASETS) for table in TABLES}
    return {
        table: frame[frame["dataset"].isin(names)]
        .sort_values("dataset", key=lambda column: column.map(names.index), kind="stable")
        .reset_index(drop=True)
        for table, frame in found.items()
    }


def _path(table):
    return RESULTS / f"comparison_{table}.csv"


def _source(names):
    parameters = {"datasets": list(names), "scale": asdict(FULL)}
    files = {file: digest for name in names for file, digest in datasets.checksums(name).items()}
    return store.provenance("comparison", parameters, MODULES, files)


def _read(path, names):
    return store.read_table(path, _source(names), COMMAND)


def _is_stored(tables):
    try:
        return all(_read(_path(table), DATASETS) is not None for table in tables)
    except store.StaleResult:
        return False


def _draft(name, table):
    return BUILD / "drafts" / f"comparison_{table}_{name}.csv"


def _drafts(name):
    try:
        return {table: _read(_draft(name, table), [name]) for table in TABLES}
    except store.StaleResult:
        return None


def _store_draft(name):
    for table, frame in compare(name, FULL).items():
        store.write_table(_draft(name, table), frame, _source([name]), COMMAND)


def _size(name):
    return datasets.DATASETS[name].n_train
