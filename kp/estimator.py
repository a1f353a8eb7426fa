"""What the kernel perceptrons share as scikit-learn estimators: labels, kernels, training points held for prediction.

Symbols: n examples, d features, C classes.
"""

import numbers

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from kp import kernels
from kp.gram import CrossGram, Gram, Points, PrecomputedKernel, Products
from kp.kernels import check_range
from kp.mistakes import PREDICTORS


class KernelPerceptron(ClassifierMixin, BaseEstimator):
    """Base of the estimators; those have parameters kernel, n_jobs and memory_budget, and say what their kernels mean."""

    KERNELS = {}
    """{name: function of the estimator -> Kernel} of the kernels computed here."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags

    def predict(self, X, *, predictor=None, epoch=None):
        """Labels (n,) of X (n, d): the class of the highest score, the first of equals; a score of 0 is the first class."""
        f = self.decision_function(X, predictor=predictor, epoch=epoch)
        return self.classes_[(f > 0).astype(int) if f.ndim == 1 else f.argmax(1)]

    def _validate(self, X, y):
        """X (n, d) as points or Gram matrix, and the index of its class for each example (n,); sets classes_."""
        X, y = validate_data(self, X, y, dtype=self._dtype())
        check_classification_targets(y)
        self._check_parameters()
        self.classes_, y = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(
                f"labels must have at least 2 classes, got 1 class ({self.classes_[0]!r}); add examples of another class"
            )
        return X, y

    def _check_parameters(self):
        self._check_integers(max_iter=1)
        self._check_options(predictor=PREDICTORS)
        self._kernel()

    def _check_integers(self, **lowest):
        for name, least in lowest.items():
            value = getattr(self, name)
            if not (isinstance(value, numbers.Integral) and value >= least):
                raise ValueError(f"{name} must be an integer of at least {least}, got {value!r}")

    def _check_options(self, **allowed):
        for name, options in allowed.items():
            if getattr(self, name) not in options:
                raise ValueError(f"{name} must be one of {', '.join(options)}, got {getattr(self, name)!r}")

    def _dtype(self):
        return np.float64 if self.kernel == "precomputed" else "numeric"

    def _kernel(self):
        if callable(self.kernel) or self.kernel == "precomputed":
            return kernels.GIVEN
        if self.kernel in self.KERNELS:
            return self.KERNELS[self.kernel](self)
        names = ", ".join(self.KERNELS)
        raise ValueError(f"kernel must be {names}, precomputed or a function of X and Y, got {self.kernel!r}")

    def _threads(self):
        return effective_n_jobs(self.n_jobs)

    def _gram(self, X):
        """The Gram matrix of the training points X (n, d), or X itself (n, n) where it is one."""
        if self.kernel == "precomputed":
            _check_square(X)
            return Gram.of_matrix(np.ascontiguousarray(X))
        if callable(self.kernel):
            source = PrecomputedKernel(lambda rows, columns: self._called(X[rows], X[columns]), len(X), len(X))
            return Gram(source, memory_budget=self.memory_budget)
        return Gram.of_points(X, memory_budget=self.memory_budget)

    def _among(self, X):
        """Kernel values of the training points X (n, d), or Gram matrix (n, n), among themselves; nothing is kept."""
        if self.kernel == "precomputed":
            _check_square(X)
            return CrossGram(PrecomputedKernel(lambda rows, columns: X[rows][:, columns], len(X), len(X)))
        if callable(self.kernel):
            return CrossGram(PrecomputedKernel(lambda rows, columns: self._called(X[rows], X[columns]), len(X), len(X)))
        points = Points(X)
        return CrossGram(Products(points, points))

    def _hold(self, X, examples):
        """Hold training points X (S, d) for prediction; examples (S,) are their columns in a precomputed kernel."""
        self._held, self._examples = X, examples
        self._points = None if self._kernel() == kernels.GIVEN else Points(X)

    def _columns(self, X, steps):
        """Kernel values of the points held with those of X (n, d), or of a precomputed X (n, n_train), block by block."""
        X = validate_data(self, X, dtype=self._dtype(), reset=False)
        n = len(self._examples)
        if self.kernel == "precomputed":
            return CrossGram(PrecomputedKernel(lambda rows, columns: X[columns][:, self._examples[rows]].T, n, len(X)))
        if callable(self.kernel):
            held = self._held
            return CrossGram(PrecomputedKernel(lambda rows, columns: self._called(held[rows], X[columns]), n, len(X)))
        points = Points(X)
        check_range(self._kernel(), [points.top, self._points.top], steps)
        return CrossGram(Products(self._points, points))

    def _called(self, X, Y):
        values = np.asarray(self.kernel(X, Y), dtype=np.float64)
        if values.shape != (len(X), len(Y)) or not np.all(np.isfinite(values)):
            raise ValueError(
                f"the kernel function must return finite values of shape {(len(X), len(Y))}, got shape {values.shape}"
                + ("" if np.all(np.isfinite(values)) else " with NaN or infinity")
            )
        return values


def _check_square(X):
    if X.shape[0] != X.shape[1]:
        raise ValueError(f"a precomputed kernel must be a square matrix (n, n) of training examples, got {X.shape}")
