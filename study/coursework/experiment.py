"""Random splits, and a degree that is chosen by folds inside each of them: the protocol of course assignments.

Source: the assignment that many courses on kernel methods set. A dataset is split at random, 80 % for training and 20 % for
testing, twenty times; degrees 1 to 7 of the polynomial kernel are trained and tested on each split. Then five folds of each
training part choose the degree, which is trained on the whole training part and tested once. Here the kernel is
(coef0 + x . y)^degree or exp(-|x - y|^2 / 2 width^2), for one perceptron for each class against all others, or one for each
pair of classes.

Split r has the seed `seeds(settings)[r]`, for the split, its folds and all visiting orders. Splits and folds are stratified.
Images stay as they are; other attributes get mean 0 and variance 1 / d on the training part of a split.

Symbols: n examples, X (n, d), y (n,) indices of classes.
"""

import sys
import time
import warnings
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from sklearn.model_selection import StratifiedKFold, train_test_split
from tqdm import tqdm

from kp import OneVsAllKernelPerceptron, OutputCodeKernelPerceptron, SharedTraining
from study import datasets
from study.predictors import PREDICTORS
from study.protocols import own_method
from study.protocols.attributes import are_images, median_distance, standardised
from study.protocols.settings import COMMON, BaseSettings, require_integers
from study.results.experiment import experiment

TEST_SHARE = 0.2
ONE_VS_ALL, ONE_VS_ONE = SCHEMES = ("one-vs-all", "one-vs-one")
OURS = "kernel perceptron"
NONE = "-"
"""The predictor of other methods."""
TRAIN, TEST, FOLDS = "train", "test", "folds"
"""What errors are counted on: the two parts of a split, and the folds of its training part."""
JOBS = 2
"""Splits that run at a time, each in a process of its own."""
PIECE = 2000
"""Examples of the piece on which the time of a run is measured beforehand."""
SHORT, LONG = 10**10, 3 * 10**10
"""Products of attributes: below SHORT processes would take longer to start than the run, below LONG nothing is measured."""


@dataclass(frozen=True, kw_only=True)
class Settings(BaseSettings):
    """The protocol on one dataset.

    n_examples : so many, stratified, are drawn with the seed; "all" becomes their number
    degrees : of the polynomial kernel; widths : of the RBF kernel, in median distances, instead of degrees if there are any
    predictor : the one whose errors choose, and whose answers are kept
    method : your own estimator on the same splits, as "module:factory" (study.protocols.own_method), or ""
    """

    dataset: str = "digits"
    n_examples: int | str = "all"
    scheme: str = ONE_VS_ALL
    degrees: tuple[int, ...] = (1, 2, 3, 4, 5, 6, 7)
    widths: tuple[float, ...] = ()
    coef0: float = 1.0
    n_splits: int = 20
    n_epochs: int = 10
    n_folds: int = 5
    predictor: str = "average"
    method: str = ""
    random_state: int = 0

    KNOWN = {"scheme": SCHEMES, "predictor": PREDICTORS}
    BOUNDS = {"n_splits": (2, 1000), "n_folds": (2, 20), "degrees": None}

    def __post_init__(self):
        registered = datasets.registered(self.dataset)
        size = registered.n_train + (registered.n_test or 0)
        if self.n_examples == "all":
            object.__setattr__(self, "n_examples", size)
        for name, kind in (("degrees", int), ("widths", float)):
            object.__setattr__(self, name, () if kind is int and self.widths else tuple(map(kind, getattr(self, name))))
        object.__setattr__(self, "coef0", float(self.coef0))
        super().__post_init__()
        require_integers(self, n_examples=(50, size))
        if not self.widths:
            require_integers(self, degrees=COMMON["degrees"])
        if not (all(0 < width < np.inf for width in self.widths) and 0 <= self.coef0 < np.inf):
            raise ValueError(f"widths must be positive and coef0 at least 0, got widths={self.widths}, coef0={self.coef0}")
        if len(set(self.values)) < len(self.values):
            raise ValueError(f"{self.varies}: a value is repeated, got {self.values}; remove repeated values")
        own_method.require_method(self)

    @property
    def varies(self):
        """What is chosen, in words."""
        return "width" if self.widths else "degree"

    @property
    def values(self):
        """The degrees or the widths."""
        return self.widths or self.degrees


KNN = "sklearn.neighbors:KNeighborsClassifier"
PUBLISHED = [
    Settings(dataset="optdigits", method=KNN),
    Settings(dataset="digits", method=KNN),
    Settings(dataset="digits", method=KNN, scheme=ONE_VS_ONE),
]


def examples(settings):
    """(X (n, d), y (n,), the labels of the classes): all examples of the dataset, or so many drawn from them."""
    X, labels = datasets.load_whole(settings.dataset)
    classes, y = np.unique(labels, return_inverse=True)
    if settings.n_examples < len(y):
        fewest = round(len(classes) / TEST_SHARE)
        if settings.n_examples < fewest:
            raise ValueError(
                f"n_examples must be at least {fewest}, so that a test part has an example of each of the {len(classes)} "
                f"classes, got {settings.n_examples}"
            )
        drawn, _ = train_test_split(
            np.arange(len(y)), train_size=settings.n_examples, stratify=y, random_state=settings.random_state
        )
        X, y = X[drawn], y[drawn]
    return X, y, classes


def seeds(settings):
    """The seeds of the splits; with more splits the first ones stay."""
    return np.random.RandomState(settings.random_state).randint(2**31, size=settings.n_splits).tolist()


def split(y, seed):
    """Numbers of the examples for training, and of those for testing."""
    return train_test_split(np.arange(len(y)), test_size=TEST_SHARE, stratify=y, random_state=seed)


def folds(y, n_folds, seed):
    """The folds of a training part as pairs (train, held). Raises ValueError if no class has an example for each fold."""
    if (most := np.bincount(y).max()) < n_folds:
        raise ValueError(
            f"n_folds must be at most {most}, the size of the largest class in a training part, got "
            f"{n_folds}; give fewer folds, or more examples of each class"
        )
    with warnings.catch_warnings():  # a class may have fewer examples than there are folds
        warnings.filterwarnings("ignore", "The least populated class")
        return list(StratifiedKFold(n_folds, shuffle=True, random_state=seed).split(y, y))


def learned(settings, X, y, seed):
    """A fitted estimator for each degree or width."""
    options = {"max_iter": settings.n_epochs, "random_state": seed, "predictor": settings.predictor, "n_jobs": 1}
    if settings.widths:
        median = median_distance(X)
        kernels = [{"kernel": "rbf", "gamma": 0.5 / (width * median) ** 2} for width in settings.widths]
    else:
        kernels = [{"degree": degree, "gamma": 1.0, "coef0": settings.coef0} for degree in settings.degrees]
    if settings.scheme == ONE_VS_ALL:
        models = [OneVsAllKernelPerceptron(**each, **options, stop_if_separated=False) for each in kernels]
        return SharedTraining(X, y, n_jobs=1).fit(models)  # inner products are computed once for all
    options |= {"code": "one-vs-one", "stop_if_consistent": False}
    return [OutputCodeKernelPerceptron(**each, **options).fit(X, y) for each in kernels]


@experiment(
    "coursework", published=PUBLISHED, tables=("errors", "confusion", "missed"), data=lambda settings: [settings.dataset],
    reads=own_method.files, sample=Settings(method=KNN, n_splits=2), sampled=("errors", "confusion"),
)  # fmt: skip
def coursework(settings, *, progress=False):
    """{table: tidy table} of all splits.

    errors: repetition, method, value (degree or width, missing for an own method), split (train, test or folds), predictor,
    errors, n; on folds, of one predictor only. confusion: answers on the test part of a repetition, at the degree or
    width that its folds choose: repetition, label, answer, examples. missed: see the function.
    """
    X, y, classes = examples(settings)
    if words := announcement(settings, expected_seconds(settings, X, y)):
        print(f"coursework: {words}", file=sys.__stderr__, flush=True)  # a kernel passes it on to the terminal
    n_jobs = JOBS if products(settings, X) >= SHORT else 1
    jobs = Parallel(n_jobs=n_jobs, return_as="generator")(delayed(_one)(settings, X, y, seed) for seed in seeds(settings))
    found = list(tqdm(jobs, total=settings.n_splits, desc="splits", disable=not progress))
    parts = ([each.assign(repetition=r) for r, each in enumerate(part)] for part in zip(*found, strict=True))
    errors, answers = (pd.concat(each, ignore_index=True) for each in parts)
    named = answers.assign(label=classes[y[answers["example"]]], answer=classes[answers["answer"]])
    return {
        "errors": errors[["repetition", "method", "value", "split", "predictor", "errors", "n"]],
        "confusion": named.groupby(["repetition", "label", "answer"]).size().rename("examples").reset_index(),
        "missed": missed(named),
    }


def products(settings, X):
    """About how many products of attributes a run makes."""
    return settings.n_splits * settings.n_folds * X.size * len(X)


def expected_seconds(settings, X, y):
    """About how long the run will take, from one split of a small piece of the examples: work grows with the square of their
    number. 0 for a run of seconds, and where the piece has too few examples of each class."""
    if products(settings, X) < LONG:
        return 0.0
    seed = settings.random_state
    drawn = np.random.RandomState(seed).permutation(len(y))[:PIECE]
    drawn = drawn[np.bincount(y[drawn])[y[drawn]] >= max(2 * settings.n_folds, round(2 / TEST_SHARE))]
    classes, labels = np.unique(y[drawn], return_inverse=True)
    if len(classes) < 2:
        return 0.0
    for part in (replace(settings, n_epochs=1), settings):  # first without the clock: code may have to be compiled
        start = time.perf_counter()
        _one(part, X[drawn], labels, seed)
    return (time.perf_counter() - start) * (len(y) / len(drawn)) ** 2 * settings.n_splits / JOBS


def announcement(settings, seconds):
    """What a run of more than a minute says before it begins: how long it will take, and what makes it shorter; else ""."""
    if seconds < 60:
        return ""
    fewer = {"n_splits": (max(2, settings.n_splits // 4), 1), "n_examples": (max(50, settings.n_examples // 4), 2)}
    times = [
        f"{name} {value} ({_minutes(seconds * (value / getattr(settings, name)) ** power)})"
        for name, (value, power) in fewer.items()
        if value < getattr(settings, name)
    ]
    return (
        f"{settings.n_splits} splits x {len(settings.values)} {settings.varies}s x {settings.n_folds} folds on "
        f"{settings.n_examples:,} examples: {_minutes(seconds)} here; shorter with {', '.join(times)}, fewer "
        f"{settings.varies}s or fewer folds"
    )


def _minutes(seconds):
    return f"about {seconds / 60:.0f} min" if seconds >= 60 else "less than a minute"


def _one(settings, X, y, seed):
    """The rows of errors of one split, and its answers: example, answer (class indices) on the test part."""
    train, test = split(y, seed)
    A, B = (X[train], X[test]) if are_images(X) else standardised(X[train], X[test])
    held = sum(
        _wrong(learned(settings, A[a], y[train][a], seed), A[b], y[train][b], settings.predictor)
        for a, b in folds(y[train], settings.n_folds, seed)
    )
    models = learned(settings, A, y[train], seed)
    parts = {TRAIN: (A, y[train]), TEST: (B, y[test])}
    found = [
        (OURS, value, on, name, wrong, len(labels))
        for name in PREDICTORS
        for on, (points, labels) in parts.items()
        for value, wrong in zip(settings.values, _wrong(models, points, labels, name), strict=True)
    ]
    found += [
        (OURS, value, FOLDS, settings.predictor, wrong, len(train))
        for value, wrong in zip(settings.values, held, strict=True)
    ]
    if settings.method:
        own = own_method.made(settings.method, seed).fit(A, y[train])
        found += [(settings.method, np.nan, on, NONE, np.sum(own.predict(P) != t), len(t)) for on, (P, t) in parts.items()]
    answers = models[int(np.argmin(held))].predict(B)
    columns = ["method", "value", "split", "predictor", "errors", "n"]
    return pd.DataFrame(found, columns=columns), pd.DataFrame({"example": test, "answer": answers})


def _wrong(models, X, y, predictor):
    return np.array([np.count_nonzero(model.predict(X, predictor=predictor) != y) for model in models])


def missed(answers):
    """The examples that were missed at all, those that were missed most often first: example, label, tested, missed, answer,
    the most frequent wrong one (the first of equals). answers: a row for each test of an example: example, label, answer."""
    wrong = answers[answers["answer"] != answers["label"]]
    of_each = wrong.groupby(["example", "label"])["answer"]
    found = of_each.agg(missed="size", answer=lambda said: said.mode().iloc[0]).reset_index()
    found["tested"] = found["example"].map(answers["example"].value_counts())
    found = found.sort_values(["missed", "tested", "example"], ascending=[False, True, True], ignore_index=True)
    return found[["example", "label", "tested", "missed", "answer"]]
