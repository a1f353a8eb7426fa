"""Learners of scikit-learn on the images of the study, compared with the kernel perceptron with every predictor and epoch.

All take pixels divided by the largest pixel value, except the kernel perceptron, whose products of raw pixels are exact.
What can be chosen is chosen by the errors on the last images of the training set, after training on all others; then the
method is trained on all of it and meets the test images once: on MNIST in a separate process, whose processor seconds and
peak memory are kept. Every learner has one thread, so that costs compare and bits do not depend on the number of cores.
Learners that have not converged stop at their limit of iterations.

On MNIST the support vector machines are chosen with scikit-learn-intelex in single precision, which takes a fraction of the
time of scikit-learn's. Its last bits depend on the processor, so that all its numbers are kept as measured. The machine that
is compared is scikit-learn's own.
"""

import time
import warnings
from dataclasses import dataclass

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC, LinearSVC
from threadpoolctl import threadpool_limits

from kp.mistakes import PREDICTORS
from kp.output_codes import OneVsAllKernelPerceptron
from study import datasets
from study.protocols.settings import IMAGES, require_integers, require_known
from study.results.alone import alone
from study.results.experiment import experiment

ESTIMATORS = {
    "nearest neighbour": KNeighborsClassifier(1, algorithm="brute"),
    "3 nearest neighbours": KNeighborsClassifier(3, algorithm="brute"),
    "scikit-learn perceptron": Perceptron(tol=None, random_state=0),
    "logistic regression": LogisticRegression(max_iter=300),
    "linear SVM": LinearSVC(random_state=0, max_iter=1000),
    "neural network": MLPClassifier(max_iter=30, random_state=0),
    "polynomial SVM": SVC(kernel="poly", gamma="scale", cache_size=1000),
    "RBF SVM": SVC(cache_size=1000),
}
"""{method: estimator}, without the chosen parameters."""
MACHINES = ("polynomial SVM", "RBF SVM")
"""Learners that scikit-learn-intelex has, too."""


def _varied(name, values, **others):
    return [{name: value, **others} for value in values]


GRIDS = {
    "nearest neighbour": [{}],
    "3 nearest neighbours": [{}],
    "scikit-learn perceptron": _varied("max_iter", (1, 2, 5, 10, 20, 40, 80)),
    "logistic regression": _varied("C", (0.01, 0.1, 1.0, 10.0)),
    "linear SVM": _varied("C", (0.001, 0.01, 0.1, 1.0)),
    "neural network": _varied("hidden_layer_sizes", (100, 300, 1000)),
    "polynomial SVM": [
        *_varied("degree", (2, 3), coef0=0.0, C=5.0),
        *_varied("degree", (3, 4, 5), coef0=1.0, C=5.0),
        *_varied("C", (1.0, 25.0), degree=4, coef0=1.0),
    ],
    "RBF SVM": [
        *_varied("gamma", (0.01, 0.02, 0.04), C=5.0),
        *_varied("C", (1.0, 25.0, 125.0), gamma=0.02),
        *_varied("C", (25.0,), gamma=0.01),
    ],
}
"""{method: [candidate]}; ties go to the first. Those of a support vector machine are lines along
which one parameter varies; they were made longer, by errors on the held-out images alone, until no choice lay at an end."""
SHOWN = {"max_iter": "epochs", "hidden_layer_sizes": "hidden units"}
"""Names of parameters, where they differ from scikit-learn's."""
OURS = "kernel perceptron"
CONTROL = "average"
"""The predictor of the kernel perceptron that is compared with other learners."""
EPOCHS = (1, 2, 3, 5, 10)
"""Epochs after which the kernel perceptron is looked at, each time trained from the beginning."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """One method on "mnist" or "digits": the last n_held training images choose, after training on the others."""

    dataset: str = "mnist"
    method: str
    n_held: int = 10_000

    def __post_init__(self):
        require_known(self, dataset=IMAGES, method=ESTIMATORS)


def settings(dataset="mnist", **options):
    """The parts of `learners`: the reference methods."""
    return [Settings(dataset=dataset, method=method, **options) for method in ESTIMATORS]


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """One candidate of a method: the values ((name, value), ...) of its parameters, and `Settings`' other fields."""

    dataset: str = "mnist"
    method: str
    values: tuple
    n_held: int = 10_000

    def __post_init__(self):
        require_known(self, dataset=IMAGES, method=ESTIMATORS)

    @property
    def text(self):
        """The values in words."""
        return ", ".join(f"{SHOWN.get(name, name)} = {value:g}" for name, value in self.values)

    @property
    def estimator(self):
        return clone(ESTIMATORS[self.method]).set_params(**dict(self.values))


def candidates(part):
    """Those of the method of a part (`Settings`), in the order of GRIDS; their parameters in that of the first."""
    grid = GRIDS[part.method]
    values = [tuple((name, each[name]) for name in grid[0]) for each in grid]
    return [Candidate(dataset=part.dataset, method=part.method, values=each, n_held=part.n_held) for each in values]


def machine_candidates():
    """All candidates of MACHINES."""
    return [each for method in MACHINES for each in candidates(Settings(method=method))]


@experiment("references", published=machine_candidates, measured=("machines",), data=lambda part: [part.dataset])
def machines(part, *, progress=False):
    """Errors of a support vector machine on the held-out images: method, choice, held (errors), n_held.

    On MNIST by scikit-learn-intelex.
    """
    if part.dataset != "mnist":
        return _held(part, part.estimator)
    return _held(part, with_intelex(part.estimator, n_jobs=2), dtype=np.float32)


def _held(part, estimator, *, dtype=np.float64):
    """The row of a candidate in the table of choices."""
    data = datasets.load(part.dataset)
    n = len(data.X) - part.n_held
    y = data.class_indices
    X = _pixels(data.X, dtype)
    found = _fitted(estimator, X[:n], y[:n]).predict(X[n:])
    row = part.method, part.text, int((found != y[n:]).sum()), part.n_held
    return pd.DataFrame([row], columns=["method", "choice", "held", "n_held"])


def with_intelex(machine, *, n_jobs=1):
    """The SVC of scikit-learn-intelex with the parameters of scikit-learn's."""
    try:
        from sklearnex import svm
    except ImportError:
        raise RuntimeError(
            "support vector machines on MNIST are chosen with scikit-learn-intelex, which is not installed here; pip "
            "install scikit-learn-intelex (x86-64 processors only), or keep what it found in "
            "data/measured/references_machines.csv"
        ) from None
    return svm.SVC(**machine.get_params(), n_jobs=n_jobs)


TABLES = ("choices", "errors", "costs")


@experiment(
    "references", published=settings, tables=TABLES, measured=("costs",),
    arrays=lambda part: part.method.replace(" ", "_"), data=lambda part: [part.dataset],
    reads=lambda part: machines.stored_files() if part in settings() and part.method in MACHINES else [],
)  # fmt: skip
def learners(part, *, progress=False):
    """{choices, errors, costs, arrays} of one method.

    choices: method, choice, held (errors), n_held, where there is one to make. errors: method, choice, predictor, epoch (""
    and 0 where there is none), errors, n_test, numbers (stored for predictions). costs: method, epoch, fit and predict
    (processor seconds), peak (GiB). Array predictions (rows of errors, n_test): indices of classes.
    """
    choices, best = _chosen(part)
    predictions, numbers, cost = alone(_reference, part, best)
    wrong = int((predictions != datasets.load(part.dataset).class_indices_test).sum())
    found = _tables([(part.method, best.text, "", 0, wrong, len(predictions), numbers)], [(part.method, 0, *cost)])
    return dict(zip(TABLES, (choices, *found), strict=True)) | {"arrays": {"predictions": predictions[None]}}


def _chosen(part):
    """(the rows of the candidates, the candidate with the fewest errors on the held-out images; ties go to the first)."""
    tried = candidates(part)
    if len(tried) == 1:
        return pd.DataFrame(columns=["method", "choice", "held", "n_held"]), tried[0]
    if part.method in MACHINES:
        rows = machines(tried)
    else:
        with threadpool_limits(1):
            rows = pd.concat([_held(each, each.estimator) for each in tried], ignore_index=True)
    return rows, tried[int(rows["held"].argmin())]


def _reference(part, chosen):
    """(predictions, numbers stored, (fit seconds, predict seconds)) of a candidate trained on all training images."""
    return _trained(datasets.load(part.dataset), chosen.estimator)


def _trained(data, estimator, *, dtype=np.float64):
    X = _pixels(data.X, dtype)
    X_test = _pixels(data.X_test, dtype)
    with threadpool_limits(1):
        start = time.process_time()
        _fitted(estimator, X, data.class_indices)
        middle = time.process_time()
        predictions = estimator.predict(X_test).astype(np.uint8)
    return predictions, numbers_stored(estimator), (middle - start, time.process_time() - middle)


def _fitted(estimator, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return estimator.fit(X, y)


def numbers_stored(estimator):
    """How many numbers a fitted estimator of ESTIMATORS needs for its predictions."""
    if isinstance(estimator, KNeighborsClassifier):
        return int(estimator._fit_X.size + estimator._y.size)
    if isinstance(estimator, SVC):
        return int(estimator.support_vectors_.size + estimator.dual_coef_.size + estimator.intercept_.size)
    if isinstance(estimator, MLPClassifier):
        return int(sum(part.size for part in (*estimator.coefs_, *estimator.intercepts_)))
    return int(estimator.coef_.size + estimator.intercept_.size)


def intelex_settings(dataset="mnist", **options):
    """The parts of `intelex`; none of the small images, on which its costs would say nothing."""
    return [Settings(dataset=dataset, method=method, **options) for method in MACHINES if dataset == "mnist"]


@experiment("references", published=intelex_settings, measured=("intelex",), data=lambda part: [part.dataset])
def intelex(part, *, progress=False):
    """A support vector machine as `learners` chooses it, by scikit-learn-intelex in single precision, with one thread.

    Columns method, choice, errors, n_test, numbers, and the costs fit, predict and peak.
    """
    _, best = _chosen(part)
    predictions, numbers, cost = alone(_by_intelex, part, best)
    wrong = int((predictions != datasets.load(part.dataset).class_indices_test).sum())
    row = f"{part.method} (scikit-learn-intelex)", best.text, wrong, len(predictions), numbers, *cost
    return pd.DataFrame([row], columns=["method", "choice", "errors", "n_test", "numbers", "fit", "predict", "peak"])


def _by_intelex(part, chosen):
    return _trained(datasets.load(part.dataset), with_intelex(chosen.estimator), dtype=np.float32)


@dataclass(frozen=True, kw_only=True)
class Ours:
    """The kernel perceptron of a degree on "mnist" or "digits", with nothing to choose."""

    dataset: str = "mnist"
    degree: int = 3

    def __post_init__(self):
        require_known(self, dataset=IMAGES)
        require_integers(self, degree=(1, 40))


@experiment(
    "references", published=[Ours()], tables=("perceptron", "perceptron_costs"), measured=("perceptron_costs",),
    arrays=lambda part: "kernel_perceptron", data=lambda part: [part.dataset],
)  # fmt: skip
def perceptron(part, *, progress=False):
    """{perceptron, perceptron_costs, arrays} after each of EPOCHS: errors and costs, with the columns of `learners`."""
    data = datasets.load(part.dataset)
    rows = []
    costs = []
    predictions = []
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
    model = OneVsAllKernelPerceptron(
        degree=part.degree,
        max_iter=epochs,
        random_state=part.degree,
        stop_if_separated=False,
        memory_budget=5 * 2**30,
        n_jobs=1,
    )
    with threadpool_limits(1):
        start = time.process_time()
        model.fit(data.X, data.class_indices)
        middle = time.process_time()
        predictions = np.stack([model.predict(data.X_test, predictor=name) for name in PREDICTORS]).astype(np.uint8)
        seconds = middle - start, (time.process_time() - middle) / len(PREDICTORS)
    return predictions, int(model.support_vectors_.size + sum(map(len, model.mistakes_))), seconds


def _pixels(X, dtype=np.float64):
    return (X / np.float64(X.max())).astype(dtype, copy=False)


def _tables(rows, costs):
    """The tables of errors and of costs."""
    return (
        pd.DataFrame(rows, columns=["method", "choice", "predictor", "epoch", "errors", "n_test", "numbers"]),
        pd.DataFrame(costs, columns=["method", "epoch", "fit", "predict", "peak"]),
    )
