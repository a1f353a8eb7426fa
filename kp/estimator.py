"""What all estimators share, and those with a mistake log. Symbols: n examples, d features, C classes, E epochs."""

import contextlib
import numbers
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Self

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike
from scipy.sparse import issparse
from scipy.spatial.distance import pdist
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from kp import kernels
from kp.gram import CrossGram, Gram, Points, PrecomputedKernel, Products, unit_of
from kp.hints import Array, Data, Epoch, Predictors
from kp.kernels import HIGHEST_DEGREE, check_range
from kp.mistakes import PREDICTORS, Log, MistakeLog, check_predictor

LARGEST = 1e100  # of points and of given kernel values: sums of their products and squares stay finite
SATURATED = 5.0  # gamma |x - y|^2 from which on an RBF kernel is below 0.01

KERNELS = {  # {name: function of an estimator and its gamma -> Kernel}
    "linear": lambda model, gamma: kernels.linear(),
    "poly": lambda model, gamma: kernels.polynomial(model.degree, gamma=gamma, coef0=model.coef0),
    "rbf": lambda model, gamma: kernels.rbf(gamma=gamma),
}


class Allowed(NamedTuple):  # what a parameter may be, in words and as a test
    words: str
    test: Callable


def one_of(*options: str) -> Allowed:
    """One of these strings."""
    return Allowed(f"one of {', '.join(options)}", lambda value: isinstance(value, str) and value in options)


def number(words: str, test: Callable[[Any], bool], kind: type = numbers.Real) -> Allowed:
    """A finite number of a kind that passes the test; True and False are none."""

    def passes(value):
        is_number = isinstance(value, kind) and not isinstance(value, bool)
        return is_number and abs(value) <= sys.float_info.max and test(value)

    return Allowed(words, passes)


def or_none(allowed: Allowed) -> Allowed:
    """None, or what is allowed."""
    return Allowed(f"None or {allowed.words}", lambda value: value is None or allowed.test(value))


COUNT = number("an integer of at least 1", lambda value: value >= 1, numbers.Integral)
FINITE = number("a finite number", lambda value: True)
POSITIVE = number("a positive number", lambda value: value > 0)
NOT_NEGATIVE = number("a finite number of at least 0", lambda value: value >= 0)
FLAG = Allowed("True or False", lambda value: isinstance(value, bool | np.bool_))
GAMMAS = one_of("scale", "auto")
KERNEL_PARAMETERS = {
    "kernel": one_of(*KERNELS),
    "degree": number(f"an integer in 1..{HIGHEST_DEGREE}", lambda value: 1 <= value <= HIGHEST_DEGREE, numbers.Integral),
    "gamma": or_none(Allowed(f"{GAMMAS.words} or a positive number", lambda v: GAMMAS.test(v) or POSITIVE.test(v))),
    "coef0": FINITE,
}  # fmt: skip
ANY_KERNEL = Allowed(
    f"{one_of(*KERNELS, 'precomputed').words}, or a function of X and Y",
    lambda value: callable(value) or one_of(*KERNELS, "precomputed").test(value),
)
LEARNING_PARAMETERS = {
    "max_iter": COUNT,
    "verbose": Allowed("True, False or an integer of at least 0", lambda v: FLAG.test(v) or NOT_NEGATIVE.test(v)),
}
MACHINE_PARAMETERS = {
    "memory_budget": number("a number of bytes of at least 1", lambda value: value >= 1),
    "n_jobs": or_none(number("an integer other than 0", lambda value: value != 0, numbers.Integral)),
}


class Classifier(ClassifierMixin, BaseEstimator):
    """Base of all: estimators have kernel, `_learn(X, y, classes)`, decision_function, and `_parameters` {name: Allowed}."""

    _parameters, _takes_sparse, _unit = {}, False, 1  # type: dict[str, Allowed], bool, int

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = isinstance(self.kernel, str) and self.kernel == "precomputed"
        tags.input_tags.sparse = self._takes_sparse and not tags.input_tags.pairwise
        return tags

    def fit(self, X: Data, y: ArrayLike, **unsupported: Any) -> Self:
        """Learn from X (n, d), or the Gram matrix (n, n) for kernel="precomputed", and labels y (n,). There are no sample
        weights: TypeError. A call that is refused leaves the estimator as it was."""
        if unsupported:
            remedy = "a mistake counts once in the log; repeat examples in place of weights, X[np.repeat(index, times)]"
            raise TypeError(f"fit takes X and y alone, got {', '.join(unsupported)}: {remedy}")
        with self._whole():
            X, y, classes = self._validate(X, y)
            self._learn(X, y, classes)
            self._warn(X)
        return self

    def _warn(self, X):
        """Warn of what was learned on X, where there is something to say."""

    def predict(self, X: Data) -> Array:
        """Labels (n,) of X (n, d): the class of the highest score, the first of equals; a score of 0 is the first class."""
        return self._labels(self.decision_function(X))

    def _labels(self, f):
        """Labels (n,) from scores (n, C), or (n,) for two classes."""
        return self.classes_[(f > 0).astype(int) if f.ndim == 1 else f.argmax(axis=1)]

    @contextlib.contextmanager
    def _whole(self):
        """A call that ends in an error leaves the estimator as it was."""
        before = vars(self).copy()
        try:
            yield
        except BaseException:
            vars(self).clear()
            vars(self).update(before)
            raise

    def _validate(self, X, y):
        """(X, y, classes): points (n, d) or Gram matrix (n, n), the index (n,) of each example's class, and the classes."""
        self._check_parameters()
        self._form = self.kernel
        X, y = self._checked(X, y, reset=True)
        if self._precomputed:
            _check_gram(X)
        classes, y = np.unique(y, return_inverse=True)
        self._fix(X)
        return X, y, _several(classes, "add examples of another class")

    def _validate_part(self, X, y, classes):
        """The same for the next part of a stream, whose first part names all classes."""
        first = not hasattr(self, "classes_")
        self._check_parameters()
        self._form = self.kernel if first else self._form
        X, y = self._checked(X, y, reset=first)
        named = None if classes is None else np.unique(classes)
        if named is not None and np.any(named != named):
            raise ValueError(f"classes must be labels, got NaN among {named}; leave it out")
        if named is not None and not first and not np.array_equal(named, self.classes_):
            raise ValueError(
                f"classes must be those of the first call {self.classes_}, got {named}; begin another estimator"
            )
        known = (np.unique(y) if named is None else named) if first else self.classes_
        _several(known, "name all classes in the first call of partial_fit")
        unknown = np.setdiff1d(y, known)
        if len(unknown):
            raise ValueError(f"labels must be among the classes of the first call {known}, got {unknown}")
        if first:
            self._fix(X)
            self._unit = 1  # later parts may hold other values
        return X, np.searchsorted(known, y), known

    def _watched(self, orders):
        """The visiting orders, with a bar of epochs if verbose."""
        if not self.verbose:
            return orders
        from tqdm import tqdm

        return tqdm(orders, desc=type(self).__name__, total=self.max_iter, unit="epoch")

    def _fix(self, X):
        """Fix the kernel and the units of points on the training set X, whatever becomes of the parameters afterwards."""
        if callable(self._form) or self._precomputed:
            self._kernel = kernels.GIVEN
            return
        self._unit = unit_of(X)
        gamma = getattr(self, "gamma", None)
        gamma = ("scale" if self._form == "rbf" else 1.0) if gamma is None else gamma
        if isinstance(gamma, str):
            variance = (X.multiply(X).mean() - X.mean() ** 2 if issparse(X) else X.var()) if gamma == "scale" else 1.0
            gamma = 1.0 / (X.shape[1] * variance) if variance > 0 else 1.0
        self._kernel = KERNELS[self._form](self, gamma)
        self.gamma_ = self._kernel.gamma

    def _check_parameters(self):
        for name in self._parameters:
            self._check(name)

    def _check(self, name):
        value, allowed = getattr(self, name), self._parameters[name]
        if not allowed.test(value):
            raise ValueError(f"{name} must be {allowed.words}, got {value!r}")

    @property
    def _precomputed(self):
        return isinstance(self._form, str) and self._form == "precomputed"

    def _checked(self, X, *y, reset=False):
        """X, or X and y, checked: numbers up to 1e100 in size, in double precision for kernels that are given."""
        if not reset:
            check_is_fitted(self)
        accepted = "csr" if self._takes_sparse and not self._precomputed else False
        found = validate_data(self, X, *y, dtype="numeric", reset=reset, accept_sparse=accepted)
        X, *y = found if y else (found,)
        for labels in y:
            check_classification_targets(labels)
        values = X.data if issparse(X) else X
        if values.dtype.kind not in "biuf":
            raise ValueError(f"X must hold numbers, got {values.dtype}; convert it")
        largest = max(values.max(), -values.min()) if values.dtype.kind == "f" and values.size else 0.0
        if largest > LARGEST:
            raise ValueError(f"X must hold numbers up to {LARGEST:.0e} in size, got {largest:.4g}; scale the data down")
        if callable(self._form) or self._precomputed:  # a function may not know integers, which wrap around
            X = (X.toarray() if issparse(X) else X).astype(np.float64, copy=False)
        return (X, *y) if y else X


def _several(classes, remedy):
    if len(classes) < 2:
        raise ValueError(f"labels must have at least 2 classes, got 1 class ({classes[0]!r}); {remedy}")
    return classes


def _check_gram(K):
    if K.shape[0] != K.shape[1]:
        raise ValueError(f"a precomputed kernel must be a square matrix (n, n) of training examples, got {K.shape}")
    if not all(np.allclose(K[i : i + 256], K[:, i : i + 256].T) for i in range(0, len(K), 256)):
        raise ValueError("a precomputed kernel must be a symmetric matrix of training examples, got one that is not")


class KernelPerceptron(Classifier):
    """Base of the estimators with one mistake log or a list of them; they have `_blocks(X, predictors)`, those with a choice
    of kernels n_jobs and memory_budget. X is (n, d), or for kernel="precomputed" kernel values (n, n_train)."""

    _parameters = {**LEARNING_PARAMETERS, "predictor": one_of(*PREDICTORS), "epoch": or_none(COUNT)}

    def predict(
        self, X: Data, *, predictor: str | None = None, epoch: Epoch = None, min_margin: float | None = None,
        rejected: Any = -1,
    ) -> Array:  # fmt: skip
        """Labels (n,) of X: the class of the highest score, the first of equals; for two classes a score of 0 is the first.
        predictor and epoch are as for `decision_function`, min_margin and rejected as for `predict_or_reject`."""
        check_is_fitted(self)
        if min_margin is not None:
            _check_rejection(self.classes_, min_margin, rejected)
        f = self.decision_function(X, predictor=predictor, epoch=epoch)
        labels = self._labels(f)
        return labels if min_margin is None else np.where(margins(f) < min_margin, np.asarray(rejected), labels)

    def staged_predict(self, X: Data, *, predictor: Predictors = None) -> Iterator[Any]:
        """Yield the labels (n,) of X after each epoch. predictor as for `staged_decision_function`. So a choice
        among all epochs and predictors costs one fit; `set_params(predictor=..., epoch=...)` makes it the model's own."""
        return self._staged(X, predictor, self._labels)

    def staged_decision_function(self, X: Data, *, predictor: Predictors = None) -> Iterator[Any]:
        """Yield the scores (n, C) of X, or (n,) for two classes, after each epoch: as `decision_function(X, epoch=e)`.
        predictor is one of final, average, minimizing and voted (default: the estimator's); a tuple of them, or "all" that
        there are, gives a dict {predictor: scores} for each epoch. Holds n E C scores; `staged_predict` holds n E labels."""
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

    def with_mistakes(self, X: Data, y: ArrayLike, mistakes: Log | list[MistakeLog]) -> Self:
        """Fit without learning: take the `mistakes_` of an earlier `fit` with the same parameters on the same X, y."""
        with self._whole():
            X, y, classes = self._validate(X, y)
            self._check_mistakes(mistakes, y, classes)
            self._store(X, classes, mistakes)
        return self

    def _check_mistakes(self, mistakes, y, classes):
        """Raise ValueError unless `fit` on labels y (n,), as indices of classes, could have made these mistakes."""
        raise NotImplementedError

    def _validate(self, X, y):
        if self.epoch is not None and COUNT.test(self.epoch) and COUNT.test(self.max_iter) and self.epoch > self.max_iter:
            raise ValueError(f"epoch must be at most max_iter={self.max_iter}, got {self.epoch}; raise max_iter")
        return super()._validate(X, y)

    def _chosen(self, predictor=None, epoch=None):
        """(predictor, epoch): what is asked for, else the estimator's own; the last epoch where a run ended before it."""
        self._check("epoch")
        own = self.n_iter_ if self.epoch is None else min(self.epoch, self.n_iter_)
        return check_predictor(self.predictor if predictor is None else predictor), own if epoch is None else epoch

    def _weighted(self, predictor=None, epoch=None):
        """The same for coefficients: AttributeError for the voted predictor, which is no sum of kernel values."""
        if not hasattr(self, "classes_"):
            raise AttributeError(f"{type(self).__name__} has no coefficients before fit")
        predictor, epoch = self._chosen(predictor, epoch)
        if predictor == "voted":
            raise AttributeError("the voted predictor has no coefficients; take final, average or minimizing")
        return predictor, epoch

    def _store(self, X, classes, mistakes):
        """Store the mistakes on X (n, d), and those of the examples on which they were made."""
        logs = mistakes if isinstance(mistakes, list) else [mistakes]
        self.classes_, self.mistakes_, self.n_iter_ = classes, mistakes, logs[0].n_epochs
        self.support_ = np.unique(np.concatenate([log.example for log in logs]))
        if not self._precomputed:
            self.support_vectors_ = X[self.support_]

    def _warn(self, X):
        """Warn where an RBF kernel sees no point near another one: nearly all examples are support examples."""
        n, n_support = X.shape[0], len(self.support_)
        if self._kernel.kind != kernels.RBF or n < 20 or n_support < 0.99 * n:
            return
        some = X[np.linspace(0, n - 1, 50).astype(int)]
        some = (some.toarray() if issparse(some) else some).astype(np.float64)
        median = self.gamma_ * np.median(pdist(some, "sqeuclidean"))
        if median > SATURATED:
            warnings.warn(
                f"{n_support} of {n} examples are support examples, so the kernel has saturated: with gamma="
                f"{self.gamma_:.3g} the median of gamma |x - y|^2 is {median:.3g}; take gamma='scale', or scale the data",
                stacklevel=3,
            )

    def _logs(self):
        """A list of the logs over the support examples alone."""
        logs = self.mistakes_ if isinstance(self.mistakes_, list) else [self.mistakes_]
        return [log.renumbered(np.searchsorted(self.support_, log.example)) for log in logs]

    def _n_threads(self):
        return effective_n_jobs(self.n_jobs)

    def _points(self, X):
        """X as `Points` in the units that were fixed on the training set; as it is for a kernel function."""
        return X if callable(self._form) else Points.per(self._unit, X)

    def _pair(self, X):
        """Rows and columns for `_between` of training points X (n, d), or of the Gram matrix X (n, n)."""
        if self._precomputed:
            return np.arange(len(X)), X
        points = self._points(X)
        return points, points

    def _between(self, rows, columns):
        """Kernel of training points with others, block by block, without caching. Both are `Points`; or arrays (S, d) and
        (n, d) for a function; or indices (S,) of rows of the matrix `columns`."""
        if callable(self._form):
            n, values = len(columns), lambda i, j: self._call_kernel(rows[i], columns[j])
        elif self._precomputed:
            n, values = columns.shape[1], lambda i, j: columns[:, j][rows[i]]
        else:
            return CrossGram(Products(rows, columns, threads=self._n_threads()))
        return CrossGram(PrecomputedKernel(values, len(rows), n))

    def _gram(self, X):
        """The Gram matrix of the training points X (n, d), or X itself (n, n) where it is one."""
        if self._precomputed:
            return Gram.of_matrix(np.ascontiguousarray(X))
        return Gram(self._between(*self._pair(X)).source, memory_budget=self.memory_budget, kernel=self._kernel)

    def _rows(self):
        """The support examples as rows for `_between`."""
        if self._precomputed:
            return self.support_
        return self._points(self.support_vectors_)

    def _columns(self, X, steps):
        """Kernel of `_rows` with the points of a checked X (n, d), or of a precomputed X (n, n_train), block by block."""
        rows = self._rows()
        if self._kernel == kernels.GIVEN:
            return self._between(rows, X.T if self._precomputed else X)
        found = self._between(rows, self._points(X))
        check_range(found.in_units(self._kernel), np.append(found.norms, found.row_norms), steps)
        return found

    def _call_kernel(self, X, Y):
        values, shape = np.asarray(self._form(X, Y), dtype=np.float64), (len(X), len(Y))
        sound = np.all(np.abs(values) <= LARGEST)
        if values.shape != shape or not sound:
            got = f"shape {values.shape}" + ("" if sound else " with NaN, infinity or larger ones")
            raise ValueError(
                f"the kernel function must return finite values of shape {shape}, up to {LARGEST:.0e}, got {got}"
            )
        return values


def predict_or_reject(model: Any, X: Data, *, min_margin: float, rejected: Any = -1, **options: Any) -> Array:
    """Labels (n,) as model.predict(X), but `rejected` where the margin is below min_margin >= 0 (Chow 1970): best score less
    second best, |f| for two classes. model is a fitted classifier whose predict and decision_function take the options, with
    a score for each class; its labels are its own, also where another class has the best score. ValueError otherwise."""
    _check_rejection(model.classes_, min_margin, rejected)
    f, n_classes = np.asarray(model.decision_function(X, **options)), len(model.classes_)
    expected = (len(f),) if n_classes == 2 else (len(f), n_classes)
    # Three classes have as many pairs. What wraps a machine has its parameters, under longer names.
    own = model.get_params() if hasattr(model, "get_params") else {}
    of_pairs = any(name.endswith("decision_function_shape") and own[name] == "ovo" for name in own)
    if f.shape != expected or (n_classes == 3 and of_pairs):
        raise ValueError(
            f"decision_function must give a score for each class, {expected} for {n_classes} classes, got {f.shape}; "
            "for pairs of classes set decision_function_shape='ovr'"
        )
    return np.where(margins(f) < min_margin, np.asarray(rejected), model.predict(X, **options))


def margins(f: Array) -> Array:
    """Best score less second best (n,) of scores (n, C), or |f| of scores (n,) for two classes."""
    if f.ndim == 1:
        return abs(f)
    second, best = np.sort(f, axis=1)[:, -2:].T
    return best - second


def _check_rejection(classes, min_margin, rejected):
    if not (isinstance(min_margin, numbers.Real) and min_margin >= 0):
        raise ValueError(f"min_margin must be a number of at least 0, got {min_margin!r}")
    if isinstance(rejected, str) != isinstance(classes[0], str) or rejected in classes:
        raise ValueError(f"rejected must be none of the classes {classes}, but of their type, got {rejected!r}")
