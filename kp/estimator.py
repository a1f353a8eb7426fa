"""What all estimators share, and those with a mistake log. Symbols: n examples, d features, C classes, E epochs."""

import numbers

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from kp import kernels
from kp.gram import CrossGram, Gram, Points, PrecomputedKernel, Products
from kp.kernels import check_range
from kp.mistakes import PREDICTORS, check_predictor

# {name: function of an estimator -> Kernel}; an estimator has the width of "rbf" as gamma or as sigma.
KERNELS = {
    "linear": lambda model: kernels.linear(),
    "poly": lambda model: kernels.polynomial(model.degree, gamma=getattr(model, "gamma", 1.0), coef0=model.coef0),
    "rbf": lambda model: kernels.gaussian(sigma=model.sigma) if hasattr(model, "sigma") else kernels.rbf(gamma=model.gamma),
}


class Classifier(ClassifierMixin, BaseEstimator):
    """Base of all estimators: those have a parameter kernel, which may be "precomputed", and a decision_function; `_options`
    are the values that parameters may have, `_counts` the parameters that are integers of at least 1."""

    _options, _counts = {}, ("max_iter",)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags

    def predict(self, X):
        """Labels (n,) of X (n, d): the class of the highest score, the first of equals; a score of 0 is the first class."""
        return self._labels(self.decision_function(X))

    def _labels(self, f):
        """Labels (n,) from scores (n, C), or (n,) for two classes."""
        return self.classes_[(f > 0).astype(int) if f.ndim == 1 else f.argmax(axis=1)]

    def _validate(self, X, y):
        """(X, y, classes): points (n, d) or Gram matrix (n, n), the index (n,) of each example's class, and the classes."""
        X, y = validate_data(self, X, y, dtype=self._dtype())
        check_classification_targets(y)
        self._check_parameters()
        classes, y = np.unique(y, return_inverse=True)
        return X, y, _several(classes, "add examples of another class")

    def _validate_part(self, X, y, classes):
        """The same for the next part of a stream, whose first part names all classes."""
        first = not hasattr(self, "classes_")
        X, y = validate_data(self, X, y, dtype="numeric", reset=first)
        check_classification_targets(y)
        self._check_parameters()
        known = np.unique(y if classes is None else classes) if first else self.classes_
        _several(known, "name all classes in the first call of partial_fit")
        unknown = np.setdiff1d(y, known)
        if len(unknown):
            raise ValueError(f"labels must be among the classes of the first call {known}, got {unknown}")
        return X, np.searchsorted(known, y), known

    def _check_parameters(self):
        for name in self._counts:
            self._check_count(name)
        for name, options in self._options.items():
            if getattr(self, name) not in options:
                raise ValueError(f"{name} must be one of {', '.join(options)}, got {getattr(self, name)!r}")
        self._kernel()

    def _check_count(self, name):
        value = getattr(self, name)
        if not (isinstance(value, numbers.Integral) and value >= 1):
            raise ValueError(f"{name} must be an integer of at least 1, got {value!r}")

    def _dtype(self):
        return np.float64 if self.kernel == "precomputed" else "numeric"

    def _kernel(self):
        if isinstance(self.kernel, str) and self.kernel in KERNELS:
            return KERNELS[self.kernel](self)
        raise ValueError(f"kernel must be one of {', '.join(KERNELS)}, got {self.kernel!r}")


def _several(classes, remedy):
    if len(classes) < 2:
        raise ValueError(f"labels must have at least 2 classes, got 1 class ({classes[0]!r}); {remedy}")
    return classes


def check_square(K):
    """Raise ValueError unless K is a square matrix, the Gram matrix of training examples."""
    if K.shape[0] != K.shape[1]:
        raise ValueError(f"a precomputed kernel must be a square matrix (n, n) of training examples, got {K.shape}")


class KernelPerceptron(Classifier):
    """Base of the estimators with one mistake log or a list of them; those have `_blocks(X, predictors)`.

    Their kernel is a name, "precomputed", or a function of X (n, d) and Y (m, d) that returns K (n, m); those with points
    in a kernel have parameters n_jobs and memory_budget. X in the methods below is (n, d), or for kernel="precomputed" the
    matrix (n, n_train) of kernel values with the training examples."""

    _options = {"predictor": PREDICTORS}

    def predict(self, X, *, predictor=None, epoch=None):
        """Labels (n,) of X: the class of the highest score, the first of equals; for two classes a score of 0 is the first.
        predictor and epoch as for `decision_function`."""
        return self._labels(self.decision_function(X, predictor=predictor, epoch=epoch))

    def staged_predict(self, X, *, predictor=None):
        """Yield the labels (n,) of X after each epoch. predictor as for `staged_decision_function`."""
        return self._staged(X, predictor, self._labels)

    def staged_decision_function(self, X, *, predictor=None):
        """Yield the scores (n, C) of X, or (n,) for two classes, after each epoch: as `decision_function(X, epoch=e)`.

        predictor is one of final, average, minimizing and voted (default: the estimator's); a tuple of them, or "all" that
        there are, gives a dict {predictor: scores} for each epoch. The kernel values of X are made once for all epochs.
        Holds n E C scores at a time, with `staged_predict` n E labels."""
        return self._staged(X, predictor, lambda f: f)

    def _staged(self, X, predictor, finish):
        X = self._checked(X)
        chosen = self.predictor if predictor is None else predictor
        names = (chosen,) if isinstance(chosen, str) else tuple(chosen)
        if chosen == "all":
            counted = all(log.errors is not None for log in self._logs())
            names = [name for name in PREDICTORS if name != "minimizing" or counted]
        parts = {check_predictor(name): [] for name in names}
        for scores in self._blocks(X, names):
            for name in names:
                parts[name].append([finish(f) for f in scores[name]])
        for epoch in range(self.n_iter_):
            found = {name: np.concatenate([part[epoch] for part in parts[name]]) for name in names}
            yield found[chosen] if isinstance(chosen, str) and chosen != "all" else found

    def with_mistakes(self, X, y, mistakes):
        """Fit without learning: take the `mistakes_` of an earlier `fit` with the same parameters on the same X, y."""
        X, _, classes = self._validate(X, y)
        return self._store(X, classes, mistakes)

    def _store(self, X, classes, mistakes, index=None):
        """Store the mistakes and, of the examples X (n, d) with these numbers (n,), those on which they were made."""
        logs, index = mistakes if isinstance(mistakes, list) else [mistakes], np.arange(len(X)) if index is None else index
        self.classes_, self.mistakes_, self.n_iter_ = classes, mistakes, logs[0].n_epochs
        self.support_ = np.unique(np.concatenate([log.example for log in logs]))
        if self.kernel != "precomputed":
            self.support_vectors_ = X[np.searchsorted(index, self.support_)]
        return self

    def _logs(self):
        """A list of the logs over the support examples alone."""
        logs = self.mistakes_ if isinstance(self.mistakes_, list) else [self.mistakes_]
        return [log.renumbered(np.searchsorted(self.support_, log.example)) for log in logs]

    def _kernel(self):
        if callable(self.kernel) or self.kernel == "precomputed":
            return kernels.GIVEN
        if self.kernel in KERNELS:
            return super()._kernel()
        raise ValueError(f"kernel must be {', '.join(KERNELS)}, precomputed or a function of X and Y, got {self.kernel!r}")

    def _n_threads(self):
        return effective_n_jobs(self.n_jobs)

    def _pair(self, X):
        """Rows and columns for `_between` of training points X (n, d), or of the Gram matrix X (n, n)."""
        if self.kernel == "precomputed":
            check_square(X)
            return np.arange(len(X)), X
        points = X if callable(self.kernel) else Points(X)
        return points, points

    def _between(self, rows, columns):
        """Kernel of training points with others, block by block, without caching. Both are `Points`; or arrays (S, d) and
        (n, d) for a function; or indices (S,) of rows of the matrix `columns`."""
        if callable(self.kernel):
            n, values = len(columns), lambda i, j: self._call_kernel(rows[i], columns[j])
        elif self.kernel == "precomputed":
            n, values = columns.shape[1], lambda i, j: columns[:, j][rows[i]]
        else:
            return CrossGram(Products(rows, columns))
        return CrossGram(PrecomputedKernel(values, len(rows), n))

    def _gram(self, X):
        """The Gram matrix of the training points X (n, d), or X itself (n, n) where it is one."""
        if self.kernel == "precomputed":
            check_square(X)
            return Gram.of_matrix(np.ascontiguousarray(X))
        return Gram(self._between(*self._pair(X)).source, memory_budget=self.memory_budget)

    def _checked(self, X):
        check_is_fitted(self)
        return validate_data(self, X, dtype=self._dtype(), reset=False)

    def _rows(self):
        """The support examples as rows for `_between`."""
        if self.kernel == "precomputed":
            return self.support_
        return self.support_vectors_ if callable(self.kernel) else Points(self.support_vectors_)

    def _columns(self, X, steps):
        """Kernel of `_rows` with the points of a checked X (n, d), or of a precomputed X (n, n_train), block by block."""
        rows = self._rows()
        if self._kernel() == kernels.GIVEN:
            return self._between(rows, X.T if self.kernel == "precomputed" else X)
        points = Points(X)
        check_range(self._kernel(), [points.top, rows.top], steps)
        return self._between(rows, points)

    def _call_kernel(self, X, Y):
        values = np.asarray(self.kernel(X, Y), dtype=np.float64)
        finite, shape = np.all(np.isfinite(values)), (len(X), len(Y))
        if values.shape != shape or not finite:
            got = f"shape {values.shape}" + ("" if finite else " with NaN or infinity")
            raise ValueError(f"the kernel function must return finite values of shape {shape}, got {got}")
        return values


def predict_or_reject(model, X, *, min_margin, rejected=-1, **options):
    """Labels (n,) as model.predict(X), but `rejected` where the margin is below min_margin >= 0 (Chow 1970): best score less
    second best, |f| for two classes. model is a fitted classifier whose decision_function takes the options."""
    if not (isinstance(min_margin, numbers.Real) and min_margin >= 0):
        raise ValueError(f"min_margin must be a number of at least 0, got {min_margin!r}")
    f, classes = model.decision_function(X, **options), model.classes_
    if isinstance(rejected, str) != isinstance(classes[0], str) or rejected in classes:
        raise ValueError(f"rejected must be none of the classes {classes}, but of their type, got {rejected!r}")
    best, second = (abs(f), 0.0) if f.ndim == 1 else np.sort(f, axis=1)[:, :-3:-1].T
    return np.where(best - second < min_margin, np.asarray(rejected), Classifier._labels(model, f))
