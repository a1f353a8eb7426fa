"""Learners of scikit-learn on the images of the study, beside the kernel perceptron with every predictor and epoch.

All take pixels divided by the largest pixel value, except the kernel perceptron, whose products of raw pixels are exact.
What can be chosen is chosen by the errors on the last images of the training set, after training on its first; then the
method is trained on all of it and meets the test images once: on MNIST in a process of its own, whose seconds and peak
memory are kept. Learners that have not converged stop at their limit of iterations. scikit-learn's linear algebra has one
thread, so that its bits do not depend on the machine.
"""

import time
import warnings
from dataclasses import dataclass

import numpy as np
import pandas as pd
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC, LinearSVC
from threadpoolctl import threadpool_limits

from kp.mistakes import PREDICTORS
from kp.output_codes import OneVsAllKernelPerceptron
from study import datasets
from study.alone import alone
from study.experiment import experiment
from study.settings import IMAGES, require_integers, require_known

SVM_PENALTIES, PENALTIES = (1.0, 5.0, 25.0), (0.01, 0.1, 1.0)
METHODS = {
    "nearest neighbour": [("", KNeighborsClassifier(1, algorithm="brute"))],
    "3 nearest neighbours": [("", KNeighborsClassifier(3, algorithm="brute"))],
    "scikit-learn perceptron": [
        (f"{epochs} epochs", Perceptron(max_iter=epochs, tol=None, random_state=0)) for epochs in (5, 20, 80)
    ],
    "logistic regression": [(f"C = {C:g}", LogisticRegression(C=C, max_iter=300)) for C in PENALTIES],
    "linear SVM": [(f"C = {C:g}", LinearSVC(C=C, random_state=0, max_iter=1000)) for C in PENALTIES],
    "neural network": [
        (f"{units} hidden units", MLPClassifier((units,), max_iter=30, random_state=0)) for units in (100, 300)
    ],
    "polynomial SVM": [
        (f"degree {degree}, C = {C:g}", SVC(kernel="poly", degree=degree, C=C, cache_size=1000))
        for degree in (2, 3, 4) for C in SVM_PENALTIES
    ],
    "RBF SVM": [
        (f"gamma = {gamma:g}, C = {C:g}", SVC(gamma=gamma, C=C, cache_size=1000))
        for gamma in (0.01, 0.02, 0.04) for C in SVM_PENALTIES
    ],
}  # fmt: skip
"""{method: [(what is chosen, estimator)]}; of equally good ones the first is taken."""
OURS = "kernel perceptron"
EPOCHS = (1, 2, 3, 5, 10)
"""Epochs after which the kernel perceptron is looked at, each time trained from the beginning."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """One method on "mnist" or "digits": the choice is made on the last n_held training images after training on the first
    n_choice."""

    dataset: str = "mnist"
    method: str
    n_choice: int = 10_000
    n_held: int = 10_000

    def __post_init__(self):
        require_known(self, dataset=IMAGES, method=METHODS)


def settings(dataset="mnist", **options):
    """The parts of `learners`: the reference methods."""
    return [Settings(dataset=dataset, method=method, **options) for method in METHODS]


@dataclass(frozen=True, kw_only=True)
class Ours:
    """The kernel perceptron of a degree on "mnist" or "digits", with nothing to choose."""

    dataset: str = "mnist"
    degree: int = 3

    def __post_init__(self):
        require_known(self, dataset=IMAGES)
        require_integers(self, degree=(1, 40))


TABLES = ("choices", "errors", "costs")


@experiment(
    "references", published=settings, tables=TABLES, measured=("costs",),
    arrays=lambda part: part.method.replace(" ", "_"), data=lambda part: [part.dataset],
)  # fmt: skip
def learners(part, *, progress=False):
    """{choices, errors, costs, arrays} of one method.

    choices: method, choice, held (errors), n_held. errors: method, choice, predictor, epoch ("" and 0 where there is none),
    errors, n_test, numbers (stored for predictions). costs: method, epoch, fit and predict (seconds), peak (GiB). Array
    predictions (rows of errors, n_test): indices of classes.
    """
    data = datasets.load(part.dataset)
    n, y = len(data.X) - part.n_held, data.class_indices
    X = _pixels(data.X)
    held = []
    with threadpool_limits(1, "blas"):
        for choice, estimator in METHODS[part.method] if len(METHODS[part.method]) > 1 else ():
            found = _fitted(estimator, X[: min(part.n_choice, n)], y[: min(part.n_choice, n)]).predict(X[n:])
            held.append((part.method, choice, int((found != y[n:]).sum()), part.n_held))
    best = min(range(len(held)), key=lambda i: held[i][2], default=0)
    predictions, numbers, cost = alone(_reference, part, best)
    row = part.method, METHODS[part.method][best][0], "", 0, int((predictions != data.class_indices_test).sum())
    found = _tables([(*row, len(predictions), numbers)], [(part.method, 0, *cost)])
    choices = pd.DataFrame(held, columns=["method", "choice", "held", "n_held"])
    return dict(zip(TABLES, (choices, *found), strict=True)) | {"arrays": {"predictions": predictions[None]}}


def _reference(part, best):
    """(predictions, numbers stored, (fit seconds, predict seconds)) of the candidate that was chosen."""
    data = datasets.load(part.dataset)
    X, X_test, (_, estimator) = _pixels(data.X), _pixels(data.X_test), METHODS[part.method][best]
    with threadpool_limits(1, "blas"):
        start = time.perf_counter()
        _fitted(estimator, X, data.class_indices)
        middle = time.perf_counter()
        predictions = estimator.predict(X_test).astype(np.uint8)
    return predictions, numbers_stored(estimator), (middle - start, time.perf_counter() - middle)


def _fitted(estimator, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return estimator.fit(X, y)


def numbers_stored(estimator):
    """How many numbers a fitted estimator of METHODS needs for its predictions."""
    if isinstance(estimator, KNeighborsClassifier):
        return int(estimator._fit_X.size + estimator._y.size)
    if isinstance(estimator, SVC):
        return int(estimator.support_vectors_.size + estimator.dual_coef_.size + estimator.intercept_.size)
    if isinstance(estimator, MLPClassifier):
        return int(sum(part.size for part in (*estimator.coefs_, *estimator.intercepts_)))
    return int(estimator.coef_.size + estimator.intercept_.size)


@experiment(
    "references", published=[Ours()], tables=("perceptron", "perceptron_costs"), measured=("perceptron_costs",),
    arrays=lambda part: "kernel_perceptron", data=lambda part: [part.dataset],
)  # fmt: skip
def perceptron(part, *, progress=False):
    """{perceptron, perceptron_costs, arrays} after each of EPOCHS: errors and costs, with the columns of `learners`."""
    data, rows, costs, predictions = datasets.load(part.dataset), [], [], []
    for epochs in EPOCHS:
        found, numbers, cost = alone(_perceptron, part, epochs)
        costs.append((OURS, epochs, *cost))
        for name, predicted in zip(PREDICTORS, found, strict=True):
            errors = int((predicted != data.class_indices_test).sum())
            rows.append((OURS, f"degree {part.degree}", name, epochs, errors, len(predicted), numbers))
            predictions.append(predicted)
    found = dict(zip(("perceptron", "perceptron_costs"), _tables(rows, costs), strict=True))
    return found | {"arrays": {"predictions": np.stack(predictions)}}


def _perceptron(part, epochs):
    data = datasets.load(part.dataset)
    start = time.perf_counter()
    model = OneVsAllKernelPerceptron(
        degree=part.degree,
        max_iter=epochs,
        random_state=part.degree,
        stop_if_separated=False,
        memory_budget=5 * 2**30,
        n_jobs=2,
    ).fit(data.X, data.class_indices)
    middle = time.perf_counter()
    predictions = np.stack([model.predict(data.X_test, predictor=name) for name in PREDICTORS]).astype(np.uint8)
    seconds = middle - start, (time.perf_counter() - middle) / len(PREDICTORS)
    return predictions, int(model.support_vectors_.size + sum(map(len, model.mistakes_))), seconds


def _pixels(X):
    return X / np.float64(X.max())


def _tables(rows, costs):
    """The tables of errors and of costs."""
    return (
        pd.DataFrame(rows, columns=["method", "choice", "predictor", "epoch", "errors", "n_test", "numbers"]),
        pd.DataFrame(costs, columns=["method", "epoch", "fit", "predict", "peak"]),
    )
