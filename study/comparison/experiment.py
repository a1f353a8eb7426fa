"""Kernel perceptrons on more databases: four forms of the perceptron and four reference methods, all tuned in the same way.

Source: Xu & Zhang 2005, section V, name "examine more benchmark databases" as further work; no published
comparison of one-vs-all, ordinary multiclass and Xu and Zhang's perceptron on the same data is known to us.

Protocol. Sets with a customary split are trained and tested on it. Of the others one half, stratified, trains and the other
tests, then the other way round, so that a repetition tests every example once (Dietterich 1998); there are three. Attributes
are scaled to [0, 1] on the training part. Every choice (kernel, width, degree, penalty, neighbours, epochs, predictor) is
made on validation data: of the training part, or a stratified subset where it is large, two thirds train and one third
validates, three times over where it is small; the fewest errors win. Of equals the one wins that is a priori steadier: means
before single predictors, RBF before polynomial, wide before narrow, many epochs before few. The method is then trained on
the whole training part and meets the test set once.

The methods stand in study.comparison.methods. Symbols: n training examples.
"""

import time
from dataclasses import asdict, dataclass, replace
from itertools import combinations

import numpy as np
import pandas as pd
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit, train_test_split
from sklearn.preprocessing import MinMaxScaler
from threadpoolctl import threadpool_limits

from kp.mistakes import PREDICTORS
from study import datasets
from study.comparison.methods import METHODS, NONE, Candidate
from study.experiment import experiment

DATASETS = (
    "optdigits", "pendigits", "letter", "satimage", "vowel", "seeds", "winequality-red", "winequality-white", "iris",
    "sonar", "wine",
)  # fmt: skip
"""The sets whose results are stored; those of Xu and Zhang are vowel, iris, sonar and wine."""

BUNDLED = ("iris-bundled", "wine-bundled", "digits")
STEADIEST = ("average", "voted", "final", "minimizing", NONE)
"""The order in which predictors win where validation errors are equal."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """A data set, and how much is tried on it.

    repetitions : how often a set without customary split is halved
    widths : of the RBF kernels, in median distances; degrees : of the polynomial ones
    epochs : numbers of epochs of our perceptrons; perceptron_epochs : of scikit-learn's
    penalties : C of the SVM; ridges : lambda of kernel ridge regression; neighbours : their number
    tuning : the most training examples to tune on
    small : with fewer examples three random thirds validate, else one
    reference_step : reference methods try only every reference_step-th width; their error depends less on it
    dense : bytes that Xu and Zhang's perceptron may take for kernel values. Beyond, it learns without the squared matrix,
        has no minimizing predictor, and only its chosen predictor is trained on everything.
    """

    dataset: str
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


FULL = [Settings(dataset=name) for name in DATASETS]
QUICK = [
    Settings(
        dataset=name, repetitions=1, widths=(1.0, 0.5, 0.25, 0.125, 0.0625), degrees=(2, 4), epochs=(1, 3, 10),
        penalties=(1.0, 10.0), ridges=(0.1, 0.01), neighbours=(1, 3, 9), perceptron_epochs=(5, 20), tuning=600, small=1,
        reference_step=1,
    )
    for name in BUNDLED
]  # fmt: skip


def settings_of(names):
    """The settings of these data sets, as text with blanks between: of the published ones, or of the bundled ones.

    Raises ValueError for other sets or sets of both kinds.
    """
    names = names.split()
    for known in (FULL, QUICK):
        by_name = {settings.dataset: settings for settings in known}
        if names and set(names) <= set(by_name):
            return [by_name[name] for name in names]
    raise ValueError(f"datasets must be among {', '.join(DATASETS)}, or among {', '.join(BUNDLED)}, got {names}")


def predictions(method, model, candidate, X, settings):
    """Yield (candidate, labels (c,)) of X for every predictor and epoch that one fit went through."""
    if not method.has_predictors:
        yield candidate, model.predict(X)
        return
    for predictor in PREDICTORS:
        found = {}
        for epoch in reversed(settings.epochs):
            last = min(epoch, model.n_iter_)
            if last not in found:
                found[last] = model.predict(X, predictor=predictor, epoch=last)
            yield replace(candidate, predictor=predictor, epoch=float(epoch)), found[last]


def validate(method, X, y, settings, random_state):
    """Validation errors of every candidate: a table of one row a candidate, errors and n summed over the random thirds."""
    if len(y) > settings.tuning:
        X, _, y, _ = train_test_split(X, y, train_size=settings.tuning, stratify=y, random_state=random_state)
    thirds = StratifiedShuffleSplit(3 if len(y) < settings.small else 1, test_size=1 / 3, random_state=random_state)
    errors, n = {}, 0
    for train, validation in thirds.split(X, y):
        scaler = MinMaxScaler().fit(X[train])
        A, B = scaler.transform(X[train]), scaler.transform(X[validation])
        n += len(validation)
        for base in method.candidates(settings):
            model = method.estimator(base, A, max_iter=settings.epochs[-1], random_state=random_state, dense=settings.dense)
            model.fit(A, y[train])
            for candidate, labels in predictions(method, model, base, B, settings):
                errors[candidate] = errors.get(candidate, 0) + int(np.count_nonzero(labels != y[validation]))
    table = pd.DataFrame([asdict(candidate) for candidate in errors])
    return table.assign(validation_errors=list(errors.values()), validation_n=n, tuned_on=len(y))


def best_candidates(validation):
    """For each predictor of one method the row with the fewest validation errors; column chosen marks the best of them.

    Where several have the fewest, the first wins: candidates go from RBF to polynomial, from wide to narrow and from many
    epochs to few, predictors as in STEADIEST.
    """
    rows = validation.groupby("predictor")["validation_errors"].idxmin()
    best = validation.loc[rows.sort_index(key=lambda names: names.map(STEADIEST.index))].reset_index(drop=True)
    return best.assign(chosen=best.index == best["validation_errors"].idxmin())


def run_method(method, train, test, settings, random_state):
    """Tune a method and test it: (rows of errors and times, validation table, labels of the chosen candidate).

    train and test are (X, y); a row is a dict.
    """
    (X, y), (X_test, y_test) = train, test
    validation = validate(method, X, y, settings, random_state)
    complete = method.is_complete(len(y), settings)
    best = best_candidates(validation if complete else validation[validation["predictor"] != "minimizing"])
    scaler = MinMaxScaler().fit(X)
    A, B = scaler.transform(X), scaler.transform(X_test)
    rows, chosen_labels = [], None
    for row in best[best["chosen"] | complete].to_dict("records"):
        candidate = Candidate(**{name: row[name] for name in Candidate.__dataclass_fields__})
        model = method.estimator(
            candidate, A, max_iter=int(np.nan_to_num(candidate.epoch, nan=1)), random_state=random_state,
            count_errors=candidate.predictor == "minimizing", dense=settings.dense,
        )  # fmt: skip
        start = time.process_time()
        model.fit(A, y)
        seconds = time.process_time() - start
        labels = model.predict(B) if candidate.predictor == NONE else model.predict(B, predictor=candidate.predictor)
        support, kernel_values = method.costs(model, candidate, len(y))
        rows.append(
            row
            | {"n_train": len(y), "support": support, "kernel_values": kernel_values}
            | {"errors": int(np.count_nonzero(labels != y_test)), "n": len(y_test), "seconds": round(seconds, 3)}
        )
        if row["chosen"]:
            chosen_labels = labels
    return rows, validation, chosen_labels


def splits(data, repetitions):
    """Yield (repetition, fold, training part, test part), parts as (X, y)."""
    if data.X_test is not None:
        yield 0, 0, (data.X, data.y), (data.X_test, data.y_test)
        return
    for repetition in range(repetitions):
        halves = StratifiedKFold(2, shuffle=True, random_state=repetition).split(data.X, data.y)
        for fold, (train, test) in enumerate(halves):
            yield repetition, fold, (data.X[train], data.y[train]), (data.X[test], data.y[test])


@experiment(
    "comparison", published=FULL, tables=("errors", "validation", "pairs", "times"), measured=("times",), processes=2,
    data=lambda settings: [settings.dataset], sample=DATASETS.index("iris"),
)  # fmt: skip
def compare(settings, *, progress=False):
    """{table: tidy table} of one data set, on one thread.

    errors: the errors on the test part of every method and predictor, with the candidates that validation chose. validation:
    validation errors of every candidate at its best epoch, summed over repetitions and folds. pairs: for every two methods
    the test examples that only one gets wrong, by repetition. times: processor seconds of each final fit.
    """
    name, errors, validation, wrong = settings.dataset, [], [], {}
    with threadpool_limits(1):
        for repetition, fold, train, test in splits(datasets.load(name), settings.repetitions):
            for method in METHODS:
                rows, tried, labels = run_method(method, train, test, settings, repetition)
                where = {"dataset": name, "repetition": repetition, "fold": fold}
                errors += [where | row for row in rows]
                validation.append(tried.assign(dataset=name))
                wrong.setdefault((repetition, method.name), []).append(labels != test[1])
    errors, choice = pd.DataFrame(errors), ["kernel", "width", "degree", "other", "predictor", "epoch"]
    keys = ["dataset", "repetition", "fold", "method"]
    counts = ["validation_errors", "validation_n", "tuned_on", "n_train", "support", "kernel_values"]
    return {
        "errors": errors[[*keys, *choice, *counts, "errors", "n", "chosen"]],
        "validation": _at_best_epochs(pd.concat(validation, ignore_index=True)),
        "pairs": _pairs(name, wrong),
        "times": errors[[*keys, "predictor", "seconds"]],
    }


def _at_best_epochs(validation):
    """Of each candidate the best epoch in each fold; errors and n summed over the folds."""
    keys = ["dataset", "method", "kernel", "width", "degree", "other", "predictor"]
    folds = validation.assign(part=validation.groupby([*keys, "epoch"], dropna=False).cumcount())
    best = folds.groupby([*keys, "part"], dropna=False, sort=False, as_index=False)[
        ["validation_errors", "validation_n"]
    ].min()
    return best.drop(columns="part").groupby(keys, dropna=False, sort=False, as_index=False).sum()


def _pairs(name, wrong):
    """For every two methods the numbers of test examples that only one gets wrong; wrong {(repetition, method): [masks]}."""
    rows = []
    for repetition in sorted({repetition for repetition, _ in wrong}):
        parts = {method.name: np.concatenate(wrong[repetition, method.name]) for method in METHODS}
        for (first, a), (second, b) in combinations(parts.items(), 2):
            rows.append((name, repetition, first, second, int(np.sum(a & ~b)), int(np.sum(b & ~a)), len(a)))
    return pd.DataFrame(rows, columns=["dataset", "repetition", "first", "second", "only_first", "only_second", "n"])
