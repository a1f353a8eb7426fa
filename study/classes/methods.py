"""The methods of the comparison: what each one tries, and how it learns.

A method is one entry of METHODS: a form of the perceptron with thresholds "on" or "off", or a reference method ("-"), with
the estimator of kp or scikit-learn that learns and what of it is tuned. Its colour and marker stand in study.style.

All forms learn from the same matrices. With K the kernel values of the training examples,

    one-vs-all, ordinary    learn in K                               threshold on: in K + 1
    Xu-Zhang                the ordinary form in K^2 (see kp.joint)  threshold on: in K^2 + 1

and the scores of a point x are sums of k(x_m, x), or of sum_i k(x_m, x_i) k(x_i, x). All visit the examples in one order.

Symbols: n training examples, X (n, d) attributes scaled to [0, 1], sigma the width of an RBF kernel.
"""

from dataclasses import dataclass

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Perceptron
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

from kp import kernels
from kp.gram import CrossGram, Points, Products
from kp.multiclass import MulticlassKernelPerceptron, MulticlassPerceptron
from kp.one_vs_all import OneVsAllKernelPerceptron
from study.protocols import own_method
from study.protocols.attributes import median_distance

NONE = "-"
"""The kernel and the threshold of methods without, and the predictor of methods that have but one."""
THRESHOLDS = ("off", "on")
"""The two families of the perceptrons."""


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """One choice of everything that is tuned.

    kernel "rbf", "poly" or "-"; width sigma in median distances; degree of (1 + x.y)^degree; other the SVM's C, the ridge
    lambda, the number of neighbours, or the epochs of scikit-learn's perceptron; predictor and epoch of our perceptrons.
    """

    method: str
    thresholds: str = NONE
    kernel: str = NONE
    width: float = np.nan
    degree: float = np.nan
    other: float = np.nan
    predictor: str = NONE
    epoch: float = np.nan

    def __eq__(self, other):
        """As dicts, in which one nan is itself: from Python 3.13 on, data classes compare their fields one by one."""
        return isinstance(other, Candidate) and vars(self) == vars(other)

    @property
    def of_kernel(self):
        """Key of the candidate's kernel, the same for all methods."""
        return self.kernel, self.width if self.kernel == "rbf" else self.degree


class Grams:
    """Training examples A (n, d) and points B (m, d), with their kernel matrices; those of the last kernel are kept.

    Attributes
    ----------
    median : the median distance of two training examples, the unit of widths.
    """

    def __init__(self, A, B):
        self.A = A
        self.B = B
        self.median = median_distance(A)
        points = Points(A)
        others = Points(B)
        self._training = CrossGram(Products(points, points))
        self._others = CrossGram(Products(others, points))
        self._key = None
        self._held = {}

    def of(self, candidate, learns_in):
        """(training examples, points) as a method takes them that learns in "X", "K" or "K^2".

        (A, B), or K (n, n) and K (m, n) of the candidate's kernel, or both times the first.
        """
        if learns_in == "X":
            return self.A, self.B
        if candidate.of_kernel != self._key:
            self._key = candidate.of_kernel
            self._held = {}
        if learns_in not in self._held:
            if learns_in == "K^2":
                K, across = self.of(candidate, "K")
                self._held[learns_in] = K @ K, across @ K
            else:
                kernel = self._kernel(candidate)
                self._held[learns_in] = tuple(
                    gram.values(kernel, np.arange(size))
                    for gram, size in ((self._training, len(self.A)), (self._others, len(self.B)))
                )
        return self._held[learns_in]

    def _kernel(self, candidate):
        if candidate.kernel == "rbf":
            return kernels.gaussian(sigma=candidate.width * self.median)
        return kernels.polynomial(int(candidate.degree))


@dataclass(frozen=True, kw_only=True)
class Method:
    """One method of the comparison.

    name : its spelling in tables and figures
    estimator : what learns
    thresholds : "on" or "off" for the perceptrons of kp, one fit of which has all predictors after every epoch; else "-"
    learns_in : "X", "K" or "K^2"
    tuned, grid : a parameter of the estimator that is tuned, and the field of the settings that has its values, or ""
    """

    name: str
    estimator: BaseEstimator
    thresholds: str = NONE
    learns_in: str = "X"
    tuned: str = ""
    grid: str = ""

    @property
    def has_predictors(self):
        """True if one fit has all predictors of kp, after every epoch."""
        return self.thresholds != NONE

    def candidates(self, settings):
        """The candidates that need a separate fit; predictor and epoch are read off one fit.

        Reference methods have RBF kernels only, of every reference_step-th width.
        """
        tried = [{}]
        if self.learns_in != "X":
            widths = settings.widths if self.has_predictors else settings.widths[:: settings.reference_step]
            degrees = settings.degrees if self.has_predictors else ()
            tried = [{"kernel": "rbf", "width": width} for width in widths]
            tried += [{"kernel": "poly", "degree": float(degree)} for degree in degrees]
        if self.tuned:
            tried = [each | {"other": float(value)} for each in tried for value in getattr(settings, self.grid)]
        return [Candidate(method=self.name, thresholds=self.thresholds, **each) for each in tried]

    def fit(self, candidate, X, y, *, epochs, random_state, count_errors=True):
        """A model of training examples X, or their matrix, with labels y (n,); epochs and count_errors: of perceptrons."""
        known = self.estimator.get_params()
        options = {"random_state": random_state} if "random_state" in known else {}
        if self.has_predictors:
            options |= {"max_iter": epochs, "count_errors": count_errors}
        if self.tuned:
            options[self.tuned] = type(known[self.tuned])(candidate.other)  # a whole number where scikit-learn wants one
        return clone(self.estimator).set_params(**options).fit(X, y)

    def predictions(self, model, points, wanted):
        """The labels (m,) of points by a fitted model, for each pair (predictor, epoch) that is wanted."""
        if not self.has_predictors:
            return [model.predict(points) for _ in wanted]
        wanted = [(name, min(epoch, model.n_iter_)) for name, epoch in wanted]
        if self.learns_in == "X":
            return [model.predict(points, predictor=name, epoch=epoch) for name, epoch in wanted]
        sums = [each for each in dict.fromkeys(wanted) if each[0] != "voted"]
        found = dict(zip(sums, labels_by_sums(model, points, sums), strict=True))
        if len(found) < len(set(wanted)):
            votes = enumerate(model.staged_predict(points, predictor="voted"), start=1)
            found |= {("voted", epoch): labels for epoch, labels in votes}
        return [found[each] for each in wanted]


def labels_by_sums(model, points, wanted):
    """The labels of points with kernel values (m, n) for each (predictor, epoch) of a kernel perceptron, from one product.

    Thresholds are summed apart: added to 1, kernel values below 10^-16 would be rounded away.
    """
    c = []
    for model.predictor, model.epoch in wanted:  # which dual_coef_ is of
        dual = model.dual_coef_
        each = np.zeros((len(dual), points.shape[1]))
        each[:, model.support_] = dual
        c.append(np.concatenate([-each, each]) if len(each) == 1 else each)
    if not c:
        return []
    c = np.concatenate(c)
    f = c @ points.T + float(model.threshold) * c.sum(axis=1)[:, None]
    return [model.classes_[part.argmax(axis=0)] for part in np.split(f, len(wanted))]


class RidgeOnLabels(KernelRidge):
    """scikit-learn's kernel ridge regression on +-1 targets, one for each class; the class of the largest value wins."""

    def fit(self, K, y):
        self.classes_ = np.unique(y)
        return super().fit(K, np.where(y[:, None] == self.classes_, 1.0, -1.0))

    def predict(self, K):
        return self.classes_[super().predict(K).argmax(axis=1)]


METHODS = (
    *(
        Method(
            name="one-vs-all", thresholds=thresholds, learns_in="K",
            estimator=OneVsAllKernelPerceptron("precomputed", threshold=thresholds == "on", orders="shared", n_jobs=1),
        )
        for thresholds in THRESHOLDS
    ),
    *(
        Method(
            name=name, thresholds=thresholds, learns_in=learns_in,
            estimator=MulticlassKernelPerceptron("precomputed", threshold=thresholds == "on", n_jobs=1),
        )
        for name, learns_in in (("ordinary", "K"), ("Xu-Zhang", "K^2")) for thresholds in THRESHOLDS
    ),
    *(
        Method(name="linear", thresholds=thresholds, estimator=MulticlassPerceptron(threshold=thresholds == "on", n_jobs=1))
        for thresholds in THRESHOLDS
    ),
    Method(name="SVM", estimator=SVC(kernel="precomputed"), learns_in="K", tuned="C", grid="penalties"),
    Method(
        name="kernel ridge", estimator=RidgeOnLabels(1.0, kernel="precomputed"), learns_in="K", tuned="alpha", grid="ridges"
    ),
    Method(name="nearest neighbours", estimator=KNeighborsClassifier(), tuned="n_neighbors", grid="neighbours"),
    Method(name="scikit-learn perceptron", estimator=Perceptron(tol=None), tuned="max_iter", grid="perceptron_epochs"),
)  # fmt: skip
"""The methods, in the order of the tables."""

KERNEL_PERCEPTRONS = ("one-vs-all", "ordinary", "Xu-Zhang")
PERCEPTRONS = (*KERNEL_PERCEPTRONS, "linear")
REFERENCES = tuple(method.name for method in METHODS if not method.has_predictors)
NAMES = PERCEPTRONS + REFERENCES


def of(settings, random_state):
    """The methods of a run: METHODS, and the user's own (study.protocols.own_method) if the settings name one."""
    if not settings.method:
        return METHODS
    return (*METHODS, Method(name=settings.method, estimator=own_method.made(settings.method, random_state)))
