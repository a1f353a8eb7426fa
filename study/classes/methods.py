"""The methods of the comparison: what each one tries, and how it learns.

A method is one entry of METHODS: a form of the perceptron with thresholds "on" or "off", or a reference method ("-"). Its
colour and marker stand in study.style. The perceptrons are ours, the reference methods scikit-learn's.

All forms learn from the same matrices. With K the kernel values of the training examples,

    one-vs-all, ordinary    learn in K                                threshold on: in K + 1
    Xu-Zhang                the ordinary form in K^2 (see kp.joint)  threshold on: in K^2 + 1

and the scores of a point x are sums of k(x_m, x), or of sum_i k(x_m, x_i) k(x_i, x). All visit the examples in one order.

Symbols: n training examples, X (n, d) attributes scaled to [0, 1], sigma the width of an RBF kernel.
"""

from dataclasses import dataclass, replace

import numpy as np
from sklearn import linear_model
from sklearn.kernel_ridge import KernelRidge
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

    def of(self, candidate, *, square=False):
        """(K (n, n), K (m, n)) of the candidate's kernel, or both times the first."""
        if candidate.of_kernel != self._key:
            self._key = candidate.of_kernel
            self._held = {}
        if square not in self._held:
            if square:
                K, across = self.of(candidate)
                self._held[True] = K @ K, across @ K
            else:
                kernel = self._kernel(candidate)
                self._held[False] = tuple(
                    gram.values(kernel, np.arange(size))
                    for gram, size in ((self._training, len(self.A)), (self._others, len(self.B)))
                )
        return self._held[square]

    def _kernel(self, candidate):
        if candidate.kernel == "rbf":
            return kernels.gaussian(sigma=candidate.width * self.median)
        return kernels.polynomial(int(candidate.degree))


class Method:
    """Interface of a method; name is its spelling in tables and figures, thresholds "on", "off" or "-"."""

    has_predictors = False
    """True if one fit has all predictors of kp, after every epoch."""
    square = False
    """True if it learns in the squared matrix."""

    def __init__(self, name, thresholds=NONE):
        self.name = name
        self.thresholds = thresholds

    def candidates(self, settings):
        """The candidates that need a separate fit; predictor and epoch are read off one fit."""
        raise NotImplementedError

    def fit(self, candidate, grams, y, *, epochs, random_state, count_errors=True):
        """A model of the training examples of `grams` with labels y (n,); epochs and count_errors are for perceptrons."""
        raise NotImplementedError

    def points(self, candidate, grams):
        """The points B of `grams`, as `predictions` takes them."""
        return grams.B

    def predictions(self, model, points, wanted):
        """The labels (m,) of points by a fitted model, for each pair (predictor, epoch) that is wanted."""
        return [model.predict(points) for _ in wanted]

    def _base(self, **values):
        return Candidate(method=self.name, thresholds=self.thresholds, **values)

    def _rbf(self, widths):
        return [self._base(kernel="rbf", width=width) for width in widths]


class Perceptron(Method):
    """Base of our perceptrons: one fit has all predictors of kp, after every epoch."""

    has_predictors = True

    @property
    def threshold(self):
        return float(self.thresholds == "on")

    def predictions(self, model, points, wanted):
        return [model.predict(points, predictor=name, epoch=min(epoch, model.n_iter_)) for name, epoch in wanted]


class KernelPerceptron(Perceptron):
    """Base of the three forms. A prediction takes a kernel value for each example with a mistake."""

    def candidates(self, settings):
        return self._rbf(settings.widths) + [self._base(kernel="poly", degree=float(p)) for p in settings.degrees]

    def points(self, candidate, grams):
        return grams.of(candidate, square=self.square)[1]

    def predictions(self, model, points, wanted):
        """As for all methods. Sums over the mistakes are made together, for all that is wanted, votes in one walk.

        Thresholds are summed apart: added to 1, kernel values below 10^-16 would be rounded away.
        """
        wanted = [(name, min(epoch, model.n_iter_)) for name, epoch in wanted]
        sums = [each for each in dict.fromkeys(wanted) if each[0] != "voted"]
        found = {}
        if sums:
            c = [self.coefficients(model, name, epoch, points.shape[1]) for name, epoch in sums]
            f = np.concatenate(c) @ points.T + self.threshold * np.concatenate(c).sum(axis=1)[:, None]
            labels = [model.classes_[part.argmax(axis=0)] for part in np.split(f, len(sums))]
            found = dict(zip(sums, labels, strict=True))
        if len(found) < len(set(wanted)):
            votes = enumerate(model.staged_predict(self.voters(points), predictor="voted"), start=1)
            found |= {("voted", epoch): labels for epoch, labels in votes}
        return [found[each] for each in wanted]

    def coefficients(self, model, predictor, epoch, n):
        """c (C, n) with f_c(x) = sum_m c_cm (k(x_m, x) + threshold) for a predictor after an epoch."""
        raise NotImplementedError

    def voters(self, points):
        """The points as the model's own `predict` takes them."""
        return points


class OneVsAll(KernelPerceptron):
    """A binary kernel perceptron for each class, with two classes a single one; with thresholds it learns in K + 1."""

    def fit(self, candidate, grams, y, *, epochs, random_state, count_errors=True):
        model = OneVsAllKernelPerceptron(
            "precomputed", max_iter=epochs, orders="shared", random_state=random_state, n_jobs=1
        )
        return model.fit(grams.of(candidate)[0] + self.threshold, y)

    def coefficients(self, model, predictor, epoch, n):
        c = np.zeros((len(model.mistakes_), n))
        for row, log in zip(c, model.mistakes_, strict=True):
            weights = log.weights(predictor, epoch)
            np.add.at(row, log.example[: len(weights)], weights * log.sign[: len(weights)])
        c = c / model.mistakes_[0].steps(epoch) if predictor == "average" else c
        return np.concatenate([-c, c]) if len(c) == 1 else c

    def voters(self, points):
        return points + self.threshold


class Kesler(KernelPerceptron):
    """A mistake promotes the true class and demotes the one with the largest score; in K, or in K^2 (Xu & Zhang 2005)."""

    def __init__(self, name, thresholds, *, square):
        super().__init__(name, thresholds)
        self.square = square

    def fit(self, candidate, grams, y, *, epochs, random_state, count_errors=True):
        model = MulticlassKernelPerceptron(
            "precomputed", update="ordinary", threshold=self.thresholds == "on", count_errors=count_errors,
            max_iter=epochs, predictor="final", random_state=random_state, n_jobs=1,
        )  # fmt: skip
        return model.fit(grams.of(candidate, square=self.square)[0], y)

    def coefficients(self, model, predictor, epoch, n):
        return model.mistakes_[0].coefficients(predictor, epoch, n_classes=len(model.classes_), n=n)


class Linear(Perceptron):
    """The ordinary form without kernel (Xu & Zhang 2005, eq. 5)."""

    def candidates(self, settings):
        return [self._base()]

    def fit(self, candidate, grams, y, *, epochs, random_state, count_errors=True):
        model = MulticlassPerceptron(
            threshold=self.thresholds == "on",
            count_errors=count_errors,
            max_iter=epochs,
            random_state=random_state,
            n_jobs=1,
        )
        return model.fit(grams.A, y)


class Reference(Method):
    """A method of scikit-learn with one other parameter, whose values stand in the settings under the name `grid`."""

    def __init__(self, name, grid, make):
        super().__init__(name)
        self.grid = grid
        self.make = make

    def candidates(self, settings):
        return with_other([self._base()], getattr(settings, self.grid))

    def fit(self, candidate, grams, y, *, epochs, random_state, count_errors=True):
        return self.make(candidate.other, random_state).fit(grams.A, y)


class ReferenceWithKernel(Reference):
    """A reference method with an RBF kernel, of every reference_step-th width."""

    def candidates(self, settings):
        return with_other(self._rbf(settings.widths[:: settings.reference_step]), getattr(settings, self.grid))

    def fit(self, candidate, grams, y, *, epochs, random_state, count_errors=True):
        return self.make(candidate.other, random_state).fit(grams.of(candidate)[0], y)

    def points(self, candidate, grams):
        return grams.of(candidate)[1]


class Own(Method):
    """A classifier of the user's own; its name is how it is written, "module:factory" (study.protocols.own_method)."""

    def candidates(self, settings):
        return [self._base()]

    def fit(self, candidate, grams, y, *, epochs, random_state, count_errors=True):
        return own_method.made(self.name, random_state).fit(grams.A, y)


class RidgeOnLabels:
    """scikit-learn's kernel ridge regression on +-1 targets, one for each class; the class of the largest value wins."""

    def __init__(self, ridge):
        self.model = KernelRidge(alpha=ridge, kernel="precomputed")

    def fit(self, K, y):
        self.classes_ = np.unique(y)
        self.model.fit(K, np.where(y[:, None] == self.classes_, 1.0, -1.0))
        return self

    def predict(self, K):
        return self.classes_[self.model.predict(K).argmax(axis=1)]


METHODS = (
    *(OneVsAll("one-vs-all", thresholds) for thresholds in THRESHOLDS),
    *(Kesler("ordinary", thresholds, square=False) for thresholds in THRESHOLDS),
    *(Kesler("Xu-Zhang", thresholds, square=True) for thresholds in THRESHOLDS),
    *(Linear("linear", thresholds) for thresholds in THRESHOLDS),
    ReferenceWithKernel("SVM", "penalties", lambda C, _: SVC(C=C, kernel="precomputed")),
    ReferenceWithKernel("kernel ridge", "ridges", lambda ridge, _: RidgeOnLabels(ridge)),
    Reference("nearest neighbours", "neighbours", lambda k, _: KNeighborsClassifier(int(k))),
    Reference(
        "scikit-learn perceptron", "perceptron_epochs",
        lambda epochs, seed: linear_model.Perceptron(max_iter=int(epochs), tol=None, random_state=seed),
    ),
)  # fmt: skip
"""The methods, in the order of the tables."""

KERNEL_PERCEPTRONS = ("one-vs-all", "ordinary", "Xu-Zhang")
PERCEPTRONS = (*KERNEL_PERCEPTRONS, "linear")
REFERENCES = tuple(method.name for method in METHODS if not method.has_predictors)
NAMES = PERCEPTRONS + REFERENCES


def of(settings):
    """The methods of a run: METHODS, and the user's own if the settings name one."""
    return (*METHODS, Own(settings.method)) if settings.method else METHODS


def with_other(bases, values):
    """Every candidate with every value of its other parameter."""
    return [replace(base, other=float(value)) for base in bases for value in values]
