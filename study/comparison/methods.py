"""The methods of the comparison: what each one tries, how it is made, and what its predictions cost.

A method is one entry of METHODS; its colour and marker stand in study.style. The perceptrons are ours, the reference methods
scikit-learn's.

Symbols: n training examples, X (n, d) attributes scaled to [0, 1], sigma the width of an RBF kernel.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.spatial.distance import pdist
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Perceptron
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

from kp.multiclass import MulticlassKernelPerceptron, MulticlassPerceptron
from kp.output_codes import OneVsAllKernelPerceptron

NONE = "-"
"""The kernel of methods without kernel, and the predictor of methods that have but one."""


@dataclass(frozen=True, kw_only=True)
class Candidate:
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


class Method:
    """What a method has to say; name is its spelling in tables and figures."""

    name: str
    has_predictors = False
    """True if one fit has all predictors of kp, after every epoch."""

    def candidates(self, settings):
        """The candidates that need a fit of their own; predictor and epoch are read off one fit."""
        raise NotImplementedError

    def estimator(self, candidate, X, *, max_iter, random_state, count_errors=True, dense=2**30):
        """The estimator of a candidate for training examples X (n, d), not fitted.

        max_iter epochs and count_errors (for the minimizing predictor) are for perceptrons; dense is that of Settings.
        """
        raise NotImplementedError

    def costs(self, model, candidate, n):
        """(support vectors, kernel values of one prediction) of a fitted model; 0 for methods without kernel."""
        return 0, 0

    def is_complete(self, n, settings):
        """True if n examples are few enough for all predictors. Else there is no minimizing one, and one is trained."""
        return True


class KernelPerceptron(Method):
    """What the three forms have in common. A prediction takes a kernel value for each example with a mistake."""

    has_predictors = True

    def candidates(self, settings):
        degrees = [Candidate(method=self.name, kernel="poly", degree=float(degree)) for degree in settings.degrees]
        return rbf_candidates(self.name, settings.widths) + degrees

    def costs(self, model, candidate, n):
        logs = self.logs(model)
        read = [log.minimizing_length() if candidate.predictor == "minimizing" else log.length() for log in logs]
        support = len(np.unique(np.concatenate([log.example[:m] for log, m in zip(logs, read, strict=True)])))
        return support, support

    def logs(self, model):
        """The mistake logs of a fitted model."""
        return [model.mistakes_]


class OneVsAll(KernelPerceptron):
    """A binary kernel perceptron for each class, without threshold."""

    name = "one-vs-all"

    def estimator(self, candidate, X, *, max_iter, random_state, count_errors=True, dense=2**30):
        options = {"gamma": gamma(candidate, X)} if candidate.kernel == "rbf" else {"degree": int(candidate.degree)}
        return OneVsAllKernelPerceptron(
            candidate.kernel, **{"gamma": 1.0, "degree": 1} | options, max_iter=max_iter, random_state=random_state, n_jobs=1
        )

    def logs(self, model):
        return model.mistakes_


class Ordinary(KernelPerceptron):
    """A mistake promotes the true class and demotes the one with the largest score."""

    name = "ordinary"
    update = "ordinary"

    def estimator(self, candidate, X, *, max_iter, random_state, count_errors=True, dense=2**30):
        rbf = candidate.kernel == "rbf"
        kernel = {"sigma": sigma(candidate, X)} if rbf else {"degree": int(candidate.degree), "coef0": 1.0}
        solver = "squared" if is_held(len(X), dense) else "coefficients"
        return MulticlassKernelPerceptron(
            candidate.kernel, **kernel, update=self.update, solver=solver, count_errors=count_errors, memory_budget=dense,
            max_iter=max_iter, random_state=random_state, n_jobs=1,
        )  # fmt: skip


class XuZhang(Ordinary):
    """The same classes are moved, in all their coefficients (Xu & Zhang 2005, eq. 11); predictions need every example."""

    name = "Xu-Zhang"
    update = "xu-zhang"

    def costs(self, model, candidate, n):
        support, _ = super().costs(model, candidate, n)
        return support, n

    def is_complete(self, n, settings):
        return is_held(n, settings.dense)


class Linear(Method):
    """The ordinary form without kernel (Xu & Zhang 2005, eq. 5)."""

    name = "linear"
    has_predictors = True

    def candidates(self, settings):
        return [Candidate(method=self.name)]

    def estimator(self, candidate, X, *, max_iter, random_state, count_errors=True, dense=2**30):
        return MulticlassPerceptron(count_errors=count_errors, max_iter=max_iter, random_state=random_state, n_jobs=1)


class SupportVectorMachine(Method):
    """scikit-learn's SVM with an RBF kernel, one against one."""

    name = "SVM"

    def candidates(self, settings):
        return with_other(rbf_candidates(self.name, settings.widths[:: settings.reference_step]), settings.penalties)

    def estimator(self, candidate, X, **_):
        return SVC(C=candidate.other, gamma=gamma(candidate, X))

    def costs(self, model, candidate, n):
        return len(model.support_), len(model.support_)


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


class KernelRidgeRegression(Method):
    """Kernel ridge regression of the labels, with an RBF kernel."""

    name = "kernel ridge"

    def candidates(self, settings):
        return with_other(rbf_candidates(self.name, settings.widths[:: settings.reference_step]), settings.ridges)

    def estimator(self, candidate, X, **_):
        return RidgeOnLabels(candidate.other, gamma(candidate, X))

    def costs(self, model, candidate, n):
        return n, n


class NearestNeighbours(Method):
    """The most frequent class among the nearest examples; a prediction takes all distances."""

    name = "nearest neighbours"

    def candidates(self, settings):
        return with_other([Candidate(method=self.name)], settings.neighbours)

    def estimator(self, candidate, X, **_):
        return KNeighborsClassifier(int(candidate.other))

    def costs(self, model, candidate, n):
        return n, n


class ScikitLearnPerceptron(Method):
    """scikit-learn's linear perceptron: one-vs-all, without average."""

    name = "scikit-learn perceptron"

    def candidates(self, settings):
        return with_other([Candidate(method=self.name)], settings.perceptron_epochs)

    def estimator(self, candidate, X, *, random_state, **_):
        return Perceptron(max_iter=int(candidate.other), tol=None, random_state=random_state)


METHODS = (
    OneVsAll(), Ordinary(), XuZhang(), Linear(), SupportVectorMachine(), KernelRidgeRegression(), NearestNeighbours(),
    ScikitLearnPerceptron(),
)  # fmt: skip
"""The methods, in the order of the tables."""

NAMES = tuple(method.name for method in METHODS)
KERNEL_PERCEPTRONS = tuple(method.name for method in METHODS if isinstance(method, KernelPerceptron))
PERCEPTRONS = tuple(method.name for method in METHODS if method.has_predictors)
REFERENCES = tuple(method.name for method in METHODS if not method.has_predictors)


def rbf_candidates(name, widths):
    """A candidate of the method of this name for each width."""
    return [Candidate(method=name, kernel="rbf", width=width) for width in widths]


def with_other(bases, values):
    """Every candidate with every value of its other parameter."""
    return [replace(base, other=float(value)) for base in bases for value in values]


def sigma(candidate, X):
    """The width of an RBF candidate for examples X (n, d), in the units of X."""
    return candidate.width * median_distance(X)


def gamma(candidate, X):
    """1 / (2 sigma^2)."""
    return 1.0 / (2.0 * sigma(candidate, X) ** 2)


def median_distance(X):
    """The median distance of two of at most 1,000 examples of X (n, d), taken at even steps."""
    return float(np.median(pdist(X[:: -(-len(X) // 1000)])))


def is_held(n, dense):
    """True if K and K^2 of n examples fit into so many bytes."""
    return 16 * n**2 <= dense
