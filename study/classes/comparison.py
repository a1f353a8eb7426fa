"""Kernel perceptrons on more databases: three forms and the linear one, with and without thresholds, and four references.

Source: Xu & Zhang 2005, section V, name "examine more benchmark databases" as further work; no published comparison of
one-vs-all, ordinary multiclass and Xu and Zhang's perceptron on the same data is known to us.

Protocol. Sets with a customary split are trained and tested on it. Of the others the rows that repeat an earlier one are
dropped; one half, stratified, trains and the other tests, then the other way round, so that a repetition tests every example
once (Dietterich 1998). Training parts beyond `largest` examples are cut to a stratified subset of that size, drawn again in
each repetition: the squared kernel matrix of all must be held, and all methods learn from the same examples. Attributes are
scaled to [0, 1] on the training part. Every choice (kernel, width, degree, penalty, neighbours, epochs, predictor) is made
on validation data: two thirds of the training part train and one third validates, three times over where it is small; of
vowel the speakers are shared out, so that no speaker both trains and validates. The fewest errors win. Ties go to the
candidate that is a priori steadier: means before single predictors, RBF before polynomial, wide before narrow, many epochs
before few. The method is then trained on the whole training part and meets the test set once.

The methods stand in study.classes.methods. Symbols: n training examples.
"""

from dataclasses import asdict, dataclass, replace

import numpy as np
import pandas as pd
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit, train_test_split
from sklearn.preprocessing import MinMaxScaler
from threadpoolctl import threadpool_limits

from study import datasets
from study.classes import methods
from study.classes.methods import NONE, Candidate, Grams
from study.datasets.fetch import obtain, read
from study.datasets.parse import table
from study.predictors import PREDICTORS
from study.protocols import own_method
from study.protocols.settings import BaseSettings
from study.results.experiment import experiment

DATASETS = (
    "optdigits", "pendigits", "letter", "satimage", "vowel", "seeds", "winequality-red", "winequality-white", "iris",
    "sonar", "wine",
)  # fmt: skip
"""The sets whose results are stored; those of Xu and Zhang are vowel, iris, sonar and wine."""

BUNDLED = ("iris-bundled", "wine-bundled", "digits")
REPETITIONS = dict.fromkeys(("optdigits", "pendigits", "letter", "satimage"), 1) | {"winequality-white": 2}
"""How often sets are drawn that take most of the time; the others five times."""
STEADIEST = ("average", "voted", "final", "minimizing", NONE)
"""The order in which predictors win where validation errors are equal."""


@dataclass(frozen=True, kw_only=True)
class Settings(BaseSettings):
    """A dataset, and how much is tried on it.

    repetitions : how often a set without customary split is halved; of one with such a split, how often a subset of the
        training part, its validation part and the visiting orders are drawn
    widths : of the RBF kernels, in median distances; degrees : of the polynomial ones
    epochs : numbers of epochs of our perceptrons; perceptron_epochs : of scikit-learn's
    penalties : C of the SVM; ridges : lambda of kernel ridge regression; neighbours : their number
    largest : the most training examples
    small : with fewer examples three parts validate in turn, else one
    reference_step : reference methods try only every reference_step-th width
    method : your own classifier in addition, as "module:factory" (study.protocols.own_method), or ""
    """

    dataset: str
    repetitions: int = 5
    widths: tuple[float, ...] = tuple(round(2.0 ** (j / 2), 6) for j in range(4, -13, -1))
    degrees: tuple[int, ...] = (1, 2, 3, 4, 6)
    epochs: tuple[int, ...] = (1, 5, 20)
    penalties: tuple[float, ...] = (0.1, 1.0, 10.0, 100.0, 1000.0)
    ridges: tuple[float, ...] = (10.0, 1.0, 0.1, 0.01, 0.001)
    neighbours: tuple[int, ...] = (1, 3, 5, 9, 15, 31)
    perceptron_epochs: tuple[int, ...] = (5, 20, 100)
    largest: int = 3000
    small: int = 1000
    reference_step: int = 2
    method: str = ""

    def __post_init__(self):
        super().__post_init__()
        own_method.require_method(self)

    @property
    def plain(self):
        """The fields, without a method that is not there: published results are of settings without that field."""
        return {name: value for name, value in asdict(self).items() if name != "method" or value}


FULL = [Settings(dataset=name, repetitions=REPETITIONS.get(name, 5)) for name in DATASETS]
QUICK = [
    Settings(
        dataset=name, repetitions=1, widths=(2.0, 1.0, 0.5, 0.25), degrees=(2,), epochs=(1, 3, 10),
        penalties=(1.0, 10.0), ridges=(0.1, 0.01), neighbours=(1, 3, 9), perceptron_epochs=(5, 20), largest=300, small=1,
        reference_step=1,
    )
    for name in BUNDLED
]  # fmt: skip


def settings_of(names):
    """The settings of the datasets of these names: of the published ones, or of the bundled ones.

    Raises ValueError for other sets or sets of both kinds.
    """
    for known in (FULL, QUICK):
        by_name = {settings.dataset: settings for settings in known}
        if names and set(names) <= set(by_name):
            return [by_name[name] for name in names]
    raise ValueError(f"datasets must be among {', '.join(DATASETS)}, or among {', '.join(BUNDLED)}, got {names}")


@dataclass(frozen=True, kw_only=True)
class Split:
    """A training part X (n, d), y (n,) and a test part.

    groups : (n,) of the training examples that belong together, or None
    available, dropped : training examples that could be had, and rows of the set left out as repeated
    """

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    available: int
    dropped: int = 0
    groups: np.ndarray | None = None


def distinct(X):
    """Indices of the rows of X (n, d) that do not repeat an earlier one, in order."""
    return np.sort(np.unique(X, axis=0, return_index=True)[1])


def speakers(name):
    """The speaker of each training example of vowel (n,), the second column of its file; None for other sets."""
    if name != "vowel":
        return None
    (file,) = datasets.registered(name).files
    path = obtain(file)
    columns, _ = table(read(file, path), where=str(path))
    return columns[columns[:, 0] == 0, 1].astype(int)


def splits(data, settings, groups=None):
    """Yield (repetition, fold, Split); groups (n,) of the examples of a customary training part, or None."""
    if data.X_test is not None:
        n = len(data.y)
        for repetition in range(settings.repetitions):
            kept = subset(data.y, settings.largest, repetition)
            yield repetition, 0, Split(
                X=data.X[kept], y=data.y[kept], X_test=data.X_test, y_test=data.y_test, available=n,
                groups=None if groups is None else groups[kept],
            )  # fmt: skip
        return
    rows = distinct(data.X)
    X = data.X[rows]
    y = data.y[rows]
    dropped = len(data.y) - len(rows)
    for repetition in range(settings.repetitions):
        halves = StratifiedKFold(2, shuffle=True, random_state=repetition).split(X, y)
        for fold, (train, held) in enumerate(halves):
            kept = train[subset(y[train], settings.largest, repetition)]
            yield repetition, fold, Split(
                X=X[kept], y=y[kept], X_test=X[held], y_test=y[held], available=len(train), dropped=dropped,
            )  # fmt: skip


def subset(y, largest, random_state):
    """Indices of at most `largest` examples with labels y (n,): all, or a stratified draw."""
    if len(y) <= largest:
        return np.arange(len(y))
    return np.sort(train_test_split(np.arange(len(y)), train_size=largest, stratify=y, random_state=random_state)[0])


def validation_parts(split, settings, random_state):
    """Pairs (train, validation) of indices: a stratified third, three where there are few; or the groups in three shares."""
    if split.groups is not None:
        shares = np.array_split(np.random.RandomState(random_state).permutation(np.unique(split.groups)), 3)
        held = [np.isin(split.groups, share) for share in shares]
        return [(np.flatnonzero(~part), np.flatnonzero(part)) for part in held]
    times = 3 if len(split.y) < settings.small else 1
    thirds = StratifiedShuffleSplit(times, test_size=1 / 3, random_state=random_state)
    return list(thirds.split(split.X, split.y))


def variants(method, base, settings):
    """The candidates that one fit of a base candidate serves: every predictor and number of epochs, many epochs first."""
    if not method.has_predictors:
        return [base]
    epochs = sorted(settings.epochs, reverse=True)
    return [replace(base, predictor=name, epoch=float(epoch)) for name in PREDICTORS for epoch in epochs]


def wrong(method, model, candidates, points, y):
    """For each candidate, True where its predictor and epoch of a fitted model misclassify points with labels y (m,)."""
    wanted = [(each.predictor, int(np.nan_to_num(each.epoch))) for each in candidates]
    return [labels != y for labels in method.predictions(model, points, wanted)]


def by_kernel(tried, settings):
    """The pairs (method, base candidate) of all methods, one kernel after the other."""
    pairs = [(method, base) for method in tried for base in method.candidates(settings)]
    first = {
        key: place for place, key in reversed(list(enumerate(base.of_kernel for _, base in pairs if base.kernel != NONE)))
    }
    return sorted(pairs, key=lambda pair: first.get(pair[1].of_kernel, -1))


def validate(split, settings, random_state):
    """Validation errors of every candidate of every method, summed over the validation parts: a row for each candidate."""
    tried = methods.of(settings, random_state)
    errors = {}
    n = 0
    for train, validation in validation_parts(split, settings, random_state):
        scaler = MinMaxScaler().fit(split.X[train])
        grams = Grams(*(scaler.transform(split.X[part]) for part in (train, validation)))
        n += len(validation)
        for method, base in by_kernel(tried, settings):
            X, points = grams.of(base, method.learns_in)
            model = method.fit(base, X, split.y[train], epochs=max(settings.epochs), random_state=random_state)
            served = variants(method, base, settings)
            masks = wrong(method, model, served, points, split.y[validation])
            for candidate, mask in zip(served, masks, strict=True):
                errors[candidate] = errors.get(candidate, 0) + int(np.count_nonzero(mask))
    bases = [(method, base) for method in tried for base in method.candidates(settings)]
    order = [each for method, base in bases for each in variants(method, base, settings)]
    found = pd.DataFrame([asdict(candidate) for candidate in order])
    return found.assign(validation_errors=[errors[candidate] for candidate in order], validation_n=n)


def best_candidates(validation):
    """For each predictor of one method the row with the fewest validation errors; column chosen marks the best of them.

    Where several have the fewest, the first wins: candidates go from RBF to polynomial, from wide to narrow and from many
    epochs to few, predictors as in STEADIEST.
    """
    rows = validation.groupby("predictor")["validation_errors"].idxmin()
    best = validation.loc[rows.sort_index(key=lambda names: names.map(STEADIEST.index))].reset_index(drop=True)
    return best.assign(chosen=best.index == best["validation_errors"].idxmin())


def train_and_test(split, validation, settings, random_state):
    """Train what validation chose on the whole training part, and test it once: rows of errors, each a dict."""
    scaler = MinMaxScaler().fit(split.X)
    grams = Grams(scaler.transform(split.X), scaler.transform(split.X_test))
    jobs = []
    for method in methods.of(settings, random_state):
        own = validation[(validation["method"] == method.name) & (validation["thresholds"] == method.thresholds)]
        jobs += [(method, row) for row in best_candidates(own).to_dict("records")]
    made = [_candidate(row) for _, row in jobs]
    found = {}
    for place in sorted(range(len(jobs)), key=lambda place: str(made[place].of_kernel)):
        (method, row) = jobs[place]
        candidate = made[place]
        X, points = grams.of(candidate, method.learns_in)
        model = method.fit(
            candidate, X, split.y, epochs=int(np.nan_to_num(candidate.epoch, nan=1)), random_state=random_state,
            count_errors=candidate.predictor == "minimizing",
        )  # fmt: skip
        (mask,) = wrong(method, model, [candidate], points, split.y_test)
        found[place] = row | {"n_train": len(split.y), "errors": int(np.count_nonzero(mask)), "n": len(mask)}
    return [found[place] for place in range(len(jobs))]


def _candidate(row):
    return Candidate(**{name: row[name] for name in Candidate.__dataclass_fields__})


@experiment(
    "classes", published=FULL, tables=("errors", "validation", "splits"),
    processes=2, data=lambda settings: [settings.dataset], reads=own_method.files, sample=DATASETS.index("iris"),
    parameters=lambda settings: settings.plain,
)  # fmt: skip
def compare(settings, *, progress=False):
    """{table: tidy table} of one dataset, on one thread.

    errors: the errors on the test part of every method and predictor, with the candidates that validation chose. validation:
    validation errors of every candidate at its best epoch, summed over repetitions and folds. splits: sizes, rows dropped as
    repeated, test rows that are in the training part too.
    """
    name = settings.dataset
    errors = []
    validation = []
    sizes = []
    with threadpool_limits(1):
        for repetition, fold, split in splits(datasets.load(name), settings, speakers(name)):
            tried = validate(split, settings, repetition)
            rows = train_and_test(split, tried, settings, repetition)
            where = {"dataset": name, "repetition": repetition, "fold": fold}
            errors += [where | row for row in rows]
            validation.append(tried.assign(dataset=name))
            sizes.append(where | _sizes(split))
    errors = pd.DataFrame(errors)
    choice = ["kernel", "width", "degree", "other", "predictor", "epoch"]
    keys = ["dataset", "repetition", "fold", "method", "thresholds"]
    counts = ["validation_errors", "validation_n", "n_train"]
    return {
        "errors": errors[[*keys, *choice, *counts, "errors", "n", "chosen"]],
        "validation": _at_best_epochs(pd.concat(validation, ignore_index=True)),
        "splits": pd.DataFrame(sizes),
    }


def _sizes(split):
    """Sizes of one split, dropped rows and test rows that are in its training part."""
    known = {row.tobytes() for row in np.ascontiguousarray(split.X)}
    return {
        "dropped": split.dropped, "available": split.available, "n_train": len(split.y), "n_test": len(split.y_test),
        "seen": sum(row.tobytes() in known for row in np.ascontiguousarray(split.X_test)),
        "groups": 0 if split.groups is None else len(np.unique(split.groups)),
    }  # fmt: skip


def _at_best_epochs(validation):
    """Of each candidate the best epoch in each fold; errors and n summed over the folds."""
    keys = ["dataset", "method", "thresholds", "kernel", "width", "degree", "other", "predictor"]
    folds = validation.assign(part=validation.groupby([*keys, "epoch"], dropna=False).cumcount())
    best = folds.groupby([*keys, "part"], dropna=False, sort=False, as_index=False)[
        ["validation_errors", "validation_n"]
    ].min()
    return best.drop(columns="part").groupby(keys, dropna=False, sort=False, as_index=False).sum()
