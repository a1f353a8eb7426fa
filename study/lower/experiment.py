"""Learners of scikit-learn on the images of the study, and the kernel perceptron after some epochs: their errors and costs.

All take pixels divided by the largest pixel value, except the kernel perceptron, whose products of raw pixels are exact.
What can be chosen is chosen by the errors on the last images of the training set, after training on all others; then the
method is trained on all of it and meets the test images once: on MNIST in a separate process, whose processor seconds and
peak memory are kept. Every learner has one thread, so that costs compare and bits do not depend on the number of cores.
Learners that have not converged stop at their limit of iterations. Seconds are medians of RUNS trainings, or those of one
that takes more than PATIENCE seconds; and since a machine is not the same on every day, all are trained again on DAYS.

Three methods approximate a kernel by features before a linear machine: the Gaussian one by Nystroem's and by random features
(Rahimi & Recht 2007), the polynomial one of images of unit norm by a count sketch (Pham & Pagh 2013). Their parameters and
those of the neural network are chosen with CHOSEN_WITH features or hidden units; they are trained with fewer and with more,
too (SIZES).

Features and networks come from linear algebra whose last bits depend on the processor and on what else the process does;
errors may then differ by an image or two. So these results of third-party classifiers are kept while they belong to the
code, and the sample that tests compute again is a learner without any.

On MNIST the support vector machines are chosen with scikit-learn-intelex in single precision, which takes a fraction of the
time of scikit-learn's. Its last bits depend on the processor, so that all its numbers are kept as measured. The machine that
is compared is scikit-learn's own.
"""

import time
import warnings
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_approximation import Nystroem, PolynomialCountSketch, RBFSampler
from sklearn.linear_model import LogisticRegression, Perceptron, SGDClassifier
from sklearn.model_selection import ParameterGrid
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import Normalizer
from sklearn.svm import SVC, LinearSVC
from threadpoolctl import threadpool_limits

from study import datasets
from study.protocols.images import in_order
from study.protocols.settings import IMAGES, BaseSettings
from study.results import store
from study.results.alone import alone
from study.results.experiment import experiment

ESTIMATORS = {
    "Nystroem": Pipeline([("features", Nystroem(random_state=0)), ("svm", LinearSVC(random_state=0))]),
    "random features": Pipeline([("features", RBFSampler(random_state=0)), ("svm", LinearSVC(random_state=0))]),
    "count sketch": Pipeline(
        [("norm", Normalizer()), ("features", PolynomialCountSketch(random_state=0)), ("svm", LinearSVC(random_state=0))]
    ),
    "neural network": MLPClassifier(max_iter=30, random_state=0),
    "gradient boosting": HistGradientBoostingClassifier(early_stopping=False, random_state=0),
    "polynomial SVM": SVC(kernel="poly", gamma="scale", cache_size=1000),
    "RBF SVM": SVC(cache_size=1000),
    "nearest neighbour": KNeighborsClassifier(1, algorithm="brute"),
    "3 nearest neighbours": KNeighborsClassifier(3, algorithm="brute"),
    "scikit-learn perceptron": Perceptron(tol=None, random_state=0),
    "averaged SGD": SGDClassifier(average=True, tol=None, max_iter=20, random_state=0),
    "logistic regression": LogisticRegression(max_iter=300),
    "linear SVM": LinearSVC(random_state=0, max_iter=1000),
}
"""{method: estimator}, without the chosen parameters; rows have this order."""
SIZES = {
    "Nystroem": (300, 1000, 3000, 10_000),
    "random features": (300, 1000, 3000),
    "count sketch": (300, 1000, 3000),
    "neural network": (100, 300, 1000, 3000),
}
"""How many features or hidden units a method has on MNIST; each number has a row."""
SIZED = {"neural network": "hidden_layer_sizes"}
"""The parameter of a method for this number, if it is not that of an approximate kernel."""
CHOSEN_WITH = {"mnist": 1000, "digits": 100}
"""{dataset: features or hidden units while the other parameters are chosen}; on small images there are no other sizes."""
SLOW = ("Nystroem", "random features", "count sketch", "gradient boosting")
"""Learners whose price is the question, so that small images say nothing about them."""
NETWORK = "neural network"
SEEDS = (1, 2)
"""The learner whose error depends on its seed, and the seeds besides that of `learners`, 0."""
RUNS = 3
PATIENCE = 120
"""How often a training is timed, unless it takes more than so many seconds."""
DAYS = (1, 2)
"""Further days on which every learner was trained and timed once more, besides that of `learners`, 0. Another day is a
number more here, and `python -m study run lower.again` on an idle machine."""
MACHINES = ("polynomial SVM", "RBF SVM")
INTELEX = " (scikit-learn-intelex)"
"""Learners that scikit-learn-intelex has, too, and how they are marked when it has trained them."""
GRIDS = {
    "nearest neighbour": {},
    "3 nearest neighbours": {},
    "scikit-learn perceptron": {"max_iter": (1, 2, 5, 10, 20, 40, 80)},
    "logistic regression": {"C": (0.01, 0.1, 1.0, 10.0)},
    "linear SVM": {"C": (0.001, 0.01, 0.1, 1.0)},
    "averaged SGD": {"alpha": (1e-8, 1e-7, 1e-6, 1e-5, 1e-4)},
    "neural network": {"alpha": (1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1)},
    "gradient boosting": {"learning_rate": (0.05, 0.1, 0.2, 0.4)},
    "Nystroem": [
        {"features__gamma": (0.005, 0.01, 0.02, 0.04), "svm__C": (10.0,)},
        {"features__gamma": (0.02,), "svm__C": (1.0, 100.0)},
    ],
    "random features": [
        {"features__gamma": (0.0025, 0.005, 0.01, 0.02), "svm__C": (10.0,)},
        {"features__gamma": (0.005,), "svm__C": (0.1, 1.0, 100.0)},
    ],
    "count sketch": [
        {"features__degree": (1, 2, 3, 4), "svm__C": (1.0,)},
        {"features__degree": (2,), "svm__C": (0.1, 10.0)},
    ],
    "polynomial SVM": [
        {"degree": (2, 3), "coef0": (0.0,), "C": (5.0,)},
        {"degree": (3, 4, 5), "coef0": (1.0,), "C": (5.0,)},
        {"degree": (4,), "coef0": (1.0,), "C": (1.0, 25.0)},
    ],
    "RBF SVM": [
        {"gamma": (0.01, 0.02, 0.04), "C": (5.0,)},
        {"gamma": (0.02,), "C": (1.0, 25.0, 125.0)},
        {"gamma": (0.01,), "C": (25.0,)},
    ],
}
"""{method: its grid, or grids}, see sklearn.model_selection.ParameterGrid. Where two parameters vary these are lines along
which one does; all were made longer, by errors on the held-out images alone, until no choice lay at an end."""
SHOWN = {
    "max_iter": "epochs", "learning_rate": "rate", "features__gamma": "gamma", "features__degree": "degree", "svm__C": "C",
}  # fmt: skip
"""Names of parameters, where they differ from scikit-learn's."""
CHOSEN = {
    "Nystroem": (("features__gamma", 0.01), ("svm__C", 10.0)),
    "random features": (("features__gamma", 0.005), ("svm__C", 10.0)),
    "count sketch": (("features__degree", 2), ("svm__C", 1.0)),
    "neural network": (("alpha", 1e-5),),
    "gradient boosting": (("learning_rate", 0.2),),
    "polynomial SVM": (("degree", 4), ("coef0", 1.0), ("C", 5.0)),
    "RBF SVM": (("gamma", 0.02), ("C", 25.0)),
    "nearest neighbour": (),
    "3 nearest neighbours": (),
    "scikit-learn perceptron": (("max_iter", 10),),
    "averaged SGD": (("alpha", 1e-6),),
    "logistic regression": (("C", 0.1),),
    "linear SVM": (("C", 0.1),),
}
"""{method: ((parameter, value), ...)} with the fewest errors on the 10,000 held-out images of MNIST."""
OURS = "kernel perceptron"
CONTROL = "average"
"""The kernel perceptron, and its predictor."""
EPOCHS = (1, 2, 3, 5, 10)
"""Epochs after which the kernel perceptron is looked at, each time trained from the beginning."""


@dataclass(frozen=True, kw_only=True)
class Candidate(BaseSettings):
    """One candidate of a method: the values ((name, value), ...) of its parameters. The last n_held training images choose,
    after training on the others."""

    dataset: str = "mnist"
    method: str
    values: tuple
    n_held: int = 10_000

    KNOWN = {"dataset": IMAGES, "method": ESTIMATORS}

    @property
    def estimator(self):
        return _estimator(self, CHOSEN_WITH[self.dataset])


def candidates(method, dataset="mnist", *, n_held=10_000):
    """Those of a method, in the order of GRIDS; their parameters in that of CHOSEN."""
    values = [tuple((name, grid[name]) for name, _ in CHOSEN[method]) for grid in ParameterGrid(GRIDS[method])]
    return [Candidate(dataset=dataset, method=method, values=each, n_held=n_held) for each in values]


def candidates_of(methods):
    """All of some methods on MNIST, where there is a choice."""
    return [each for method in methods if CHOSEN[method] for each in candidates(method)]


def _estimator(part, size):
    """The estimator of a part's method and values, with so many features or hidden units if it has any."""
    made = clone(ESTIMATORS[part.method]).set_params(**dict(part.values))
    if part.method in SIZES:
        made.set_params(**{SIZED.get(part.method, "features__n_components"): size})
    return made


@experiment("lower", published=lambda: candidates_of(MACHINES), measured=("machines",), data=lambda part: [part.dataset])
def machines(part, *, progress=False):
    """Errors of a support vector machine on the held-out images: method, choice, held (errors), n_held.

    On MNIST by scikit-learn-intelex.
    """
    if part.dataset != "mnist":
        return _held(part, part.estimator)
    return _held(part, with_intelex(part.estimator, n_jobs=2), dtype=np.float32)


@experiment(
    "lower", published=lambda: candidates_of(name for name in ESTIMATORS if name not in MACHINES),
    data=lambda part: [part.dataset], sample=30,
)  # fmt: skip
def choices(part, *, progress=False):
    """Errors of a candidate on the held-out images: method, choice, held (errors), n_held."""
    with threadpool_limits(1):
        return _held(part, part.estimator)


def _held(part, estimator, *, dtype=np.float64):
    """The row of a candidate in the table of choices."""
    data = datasets.load(part.dataset)
    n = len(data.X) - part.n_held
    y = data.class_indices
    X = _pixels(data.X, dtype)
    found = _fitted(estimator, X[:n], y[:n]).predict(X[n:])
    row = part.method, in_words(part.values), int((found != y[n:]).sum()), part.n_held
    return pd.DataFrame([row], columns=["method", "choice", "held", "n_held"])


def with_intelex(machine, *, n_jobs=1):
    """The SVC of scikit-learn-intelex with the parameters of scikit-learn's."""
    try:
        from sklearnex import svm
    except ImportError:
        raise RuntimeError(
            "support vector machines on MNIST are chosen with scikit-learn-intelex, which is not installed here; pip "
            "install scikit-learn-intelex (x86-64 processors only), or keep what it found in "
            "data/measured/lower_machines.csv"
        ) from None
    return svm.SVC(**machine.get_params(), n_jobs=n_jobs)


@dataclass(frozen=True, kw_only=True)
class Chosen(BaseSettings):
    """A method with the values ((name, value), ...) that held-out images chose, and with so many features or hidden units
    (None: it has neither)."""

    dataset: str = "mnist"
    method: str
    values: tuple = ()
    size: int | None = None

    KNOWN = {"dataset": IMAGES, "method": ESTIMATORS}

    @property
    def name(self):
        """The method, with its number of features or hidden units."""
        return self.method if self.size is None else f"{self.method}, {self.size:,}"


def settings(dataset="mnist", *, n_held=10_000):
    """The parts of `learners`: every method as it is chosen, with each of its SIZES; on small images the quick methods, with
    one size."""
    methods = [method for method in ESTIMATORS if dataset == "mnist" or method not in SLOW]
    chosen = CHOSEN
    if (dataset, n_held) != ("mnist", 10_000):
        chosen = {method: best(method, dataset, n_held=n_held).values for method in methods}
    sizes = SIZES if dataset == "mnist" else dict.fromkeys(SIZES, (CHOSEN_WITH[dataset],))
    return [
        Chosen(dataset=dataset, method=method, values=chosen[method], size=size)
        for method in methods for size in sizes.get(method, (None,))
    ]  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Seeded(Chosen):
    """A learner that is trained from another seed than in `learners`."""

    seed: int


def seeded_settings(dataset="mnist", *, n_held=10_000):
    """The parts of `networks`: the neural networks of `learners`, each from the other SEEDS."""
    networks = [part for part in settings(dataset, n_held=n_held) if part.method == NETWORK]
    return [Seeded(**vars(part), seed=seed) for part in networks for seed in SEEDS]


@experiment("lower", published=seeded_settings, data=lambda part: [part.dataset])
def networks(part, *, progress=False):
    """Errors of a neural network on the test images from one more seed: method, seed, errors, n_test."""
    data = datasets.load(part.dataset)
    estimator = _estimator(part, part.size).set_params(random_state=part.seed)
    with threadpool_limits(1):
        found = _fitted(estimator, _pixels(data.X), data.class_indices).predict(_pixels(data.X_test))
    row = part.name, part.seed, int((found != data.class_indices_test).sum()), len(found)
    return pd.DataFrame([row], columns=["method", "seed", "errors", "n_test"])


def best(method, dataset="mnist", *, n_held=10_000):
    """The candidate with the fewest errors on the held-out images; ties go to the first."""
    tried = candidates(method, dataset, n_held=n_held)
    if len(tried) == 1:
        return tried[0]
    return tried[int(held(tried)["held"].argmin())]


def held(tried):
    """The table of the errors of some candidates of one method on the held-out images."""
    return machines(tried) if tried[0].method in MACHINES else choices(tried)


SPENT = ("fit", "predict", "runs", "peak")


@experiment(
    "lower", published=settings, tables=("learners", "learners_costs"), measured=("learners_costs",),
    arrays=lambda part: part.name, data=lambda part: [part.dataset], sample=19,
)  # fmt: skip
def learners(part, *, progress=False):
    """{learners, learners_costs, arrays} of one method.

    learners: method (by its name), choice, epoch (0: there is none), errors, n_test, numbers (stored for predictions).
    learners_costs: method, epoch, fit and predict (processor seconds), runs (of which they are medians), peak (GiB). Array
    predictions (1, n_test): indices of classes.
    """
    labels = datasets.load(part.dataset).class_indices_test
    found, numbers, cost = alone(_reference, part, PATIENCE)
    row = part.name, in_words(part.values), 0, int((found != labels).sum()), len(labels), numbers
    errors, costs = _tables([row], [(part.name, 0, *cost)])
    return {"learners": errors, "learners_costs": costs, "arrays": {"predictions": found[None]}}


def in_words(values):
    """Values ((name, value), ...) of parameters as they are printed."""
    return ", ".join(f"{SHOWN.get(name, name)} = {value:g}" for name, value in values)


def _reference(part, patience):
    """(predictions, numbers stored, (fit seconds, predict seconds, runs)) of a learner trained on all training images."""
    return _trained(datasets.load(part.dataset), _estimator(part, part.size), patience)


def _trained(data, estimator, patience=PATIENCE, *, dtype=np.float64):
    X = _pixels(data.X, dtype)
    X_test = _pixels(data.X_test, dtype)
    found, seconds = timed(lambda: _fitted(estimator, X, data.class_indices), lambda: estimator.predict(X_test), patience)
    return store.narrow(found, np.uint8), numbers_stored(estimator), seconds


def timed(fit, predict, patience=PATIENCE):
    """The result of predict(), and (processor seconds of fit(), of predict(), runs), with one thread: medians of RUNS runs,
    or those of one whose fit takes more than `patience` seconds."""
    runs = []
    with threadpool_limits(1):
        while len(runs) < RUNS and (not runs or runs[0][0] <= patience):
            start = time.process_time()
            fit()
            middle = time.process_time()
            found = predict()
            runs.append((middle - start, time.process_time() - middle))
    return found, (*map(float, np.median(runs, axis=0)), len(runs))


def _fitted(estimator, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", "n_components > n_samples")  # few images have no more features
        return estimator.fit(X, y)


FIXED = ("components_", "random_weights_", "random_offset_", "indexHash_", "bitHash_")
"""Arrays of what makes features (Nystroem's matrix joins the weights of the linear machine)."""


def numbers_stored(estimator):
    """How many numbers a fitted estimator of ESTIMATORS needs for its predictions."""
    if isinstance(estimator, KNeighborsClassifier):
        return int(estimator._fit_X.size + estimator._y.size)
    if isinstance(estimator, SVC):
        return int(estimator.support_vectors_.size + estimator.dual_coef_.size + estimator.intercept_.size)
    if isinstance(estimator, MLPClassifier):
        return int(sum(part.size for part in (*estimator.coefs_, *estimator.intercepts_)))
    if isinstance(estimator, HistGradientBoostingClassifier):
        trees = [tree.nodes["is_leaf"] for row in estimator._predictors for tree in row]
        return int(sum(np.where(leaf, 1, 4).sum() for leaf in trees))  # a value; feature, threshold, and both next nodes
    if isinstance(estimator, Pipeline):
        own = vars(estimator["features"])
        return sum(own[name].size for name in FIXED if name in own) + numbers_stored(estimator["svm"])
    return int(estimator.coef_.size + estimator.intercept_.size)


def intelex_settings(dataset="mnist", *, n_held=10_000):
    """The parts of `intelex`; none of the small images, on which its costs would say nothing."""
    return [part for part in settings(dataset, n_held=n_held) if part.method in MACHINES] if dataset == "mnist" else []


@experiment("lower", published=intelex_settings, measured=("intelex",), data=lambda part: [part.dataset])
def intelex(part, *, progress=False):
    """A support vector machine as in `learners`, by scikit-learn-intelex in single precision, with one thread.

    Columns method, choice, errors, n_test, numbers, and the costs fit, predict, runs and peak.
    """
    predictions, numbers, cost = alone(_by_intelex, part, PATIENCE)
    wrong = int((predictions != datasets.load(part.dataset).class_indices_test).sum())
    row = part.method + INTELEX, in_words(part.values), wrong, len(predictions), numbers, *cost
    return pd.DataFrame([row], columns=["method", "choice", "errors", "n_test", "numbers", *SPENT])


def _by_intelex(part, patience):
    return _trained(datasets.load(part.dataset), with_intelex(_estimator(part, part.size)), patience, dtype=np.float32)


@dataclass(frozen=True, kw_only=True)
class Ours(BaseSettings):
    """The kernel perceptron of a degree on "mnist" or "digits", with nothing to choose. It is looked at after `epochs`."""

    dataset: str = "mnist"
    degree: int = 3
    patience: ClassVar = PATIENCE
    epochs: ClassVar = EPOCHS

    KNOWN = {"dataset": IMAGES}


class Once(Ours):
    """The same after one epoch only, trained once: the sample."""

    patience = 0
    epochs = EPOCHS[:1]


@experiment(
    "lower", published=[Ours()], tables=("perceptron", "perceptron_costs"), measured=("perceptron_costs",),
    data=lambda part: [part.dataset], sample=Once(),
)  # fmt: skip
def perceptron(part, *, progress=False):
    """{perceptron, perceptron_costs} after each of EPOCHS: errors and costs, with the columns of `learners`."""
    labels = datasets.load(part.dataset).class_indices_test
    rows = []
    costs = []
    for epochs in part.epochs:
        found, numbers, cost = alone(_perceptron, part, epochs)
        rows.append((OURS, f"degree {part.degree}", epochs, int((found != labels).sum()), len(found), numbers))
        costs.append((OURS, epochs, *cost))
    return dict(zip(("perceptron", "perceptron_costs"), _tables(rows, costs), strict=True))


def _perceptron(part, epochs):
    data = datasets.load(part.dataset)
    model = in_order(part.degree, 0, n_epochs=epochs)
    model.set_params(predictor=CONTROL, memory_budget=5 * 2**30, n_jobs=1)
    fit = partial(model.fit, data.X, data.class_indices)
    found, seconds = timed(fit, partial(model.predict, data.X_test), part.patience)
    return store.narrow(found, np.uint8), int(model.support_vectors_.size + sum(map(len, model.mistakes_))), seconds


@dataclass(frozen=True, kw_only=True)
class Again(BaseSettings):
    """A learner that is timed on one more day: one of `settings`, or of `intelex_settings`, or ours."""

    learner: Chosen | Ours
    day: int
    by_intelex: bool = False

    BOUNDS = {"day": (1, None)}


def again_settings(ours=Ours(), *, n_held=10_000):
    """The parts of `again`: none where ours is another, or other images choose; on small ones costs would say nothing."""
    if (ours, n_held) != (Ours(), 10_000):
        return []
    return [
        Again(learner=learner, day=day, by_intelex=by_intelex)
        for day in DAYS
        for by_intelex, learners in ((False, [Ours(), *settings()]), (True, intelex_settings()))
        for learner in learners
    ]


@experiment(
    "lower", published=again_settings, measured=("again",), data=lambda part: [part.learner.dataset], sample=20
)  # fmt: skip
def again(part, *, progress=False):
    """Costs of one more training: method (by its name in the other tables), epoch, day, and fit, predict, runs and peak."""
    if isinstance(part.learner, Ours):
        rows = [(OURS, epochs, part.day, *alone(_perceptron, part.learner, epochs)[2]) for epochs in part.learner.epochs]
    elif part.by_intelex:
        rows = [(part.learner.method + INTELEX, 0, part.day, *alone(_by_intelex, part.learner, 0)[2])]
    else:
        rows = [(part.learner.name, 0, part.day, *alone(_reference, part.learner, 0)[2])]
    return pd.DataFrame(rows, columns=["method", "epoch", "day", *SPENT])


def _pixels(X, dtype=np.float64):
    return (X / np.float64(X.max())).astype(dtype, copy=False)


def _tables(rows, costs):
    """The tables of errors and of costs."""
    return (
        pd.DataFrame(rows, columns=["method", "choice", "epoch", "errors", "n_test", "numbers"]),
        pd.DataFrame(costs, columns=["method", "epoch", *SPENT]),
    )
