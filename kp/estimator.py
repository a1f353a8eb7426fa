"""Base classes of the estimators, and rejection of uncertain points.

Symbols: n examples, d features, C classes, E epochs.
"""

from __future__ import annotations

import contextlib
import math
import numbers
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, Self

import numpy as np
from joblib.parallel import get_active_backend
from numpy.typing import ArrayLike
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import NotFittedError
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.utils import check_random_state
from sklearn.utils.extmath import row_norms
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from kp import kernels
from kp.gram import CrossGram, Gram, PrecomputedKernel, between, points_of, unit_of
from kp.hints import Array, Data, Epoch, Predictors
from kp.kernels import HIGHEST_DEGREE, KERNELS, LARGEST, Function, Kernel, PointKernel, check_range
from kp.mistakes import BY_NAME, SAME_FIT, check_predictor
from kp.perceptron import visiting_orders
from kp.wording import shown

_SATURATED = 10.0  # gamma |x - y|^2 from which on an RBF kernel is below 0.0001
_SAMPLE = 50  # examples of the training set by which a kernel is judged
_BLOCK = 2048  # examples whose distances, or squares, are made together
_ROUNDING = 1e-12  # of |x - y|^2 over |x|^2, below which x and y are one point
_PASSING = ("_made", "_stream")  # attributes that are made again where they are missing


class Allowed(NamedTuple):  # what a parameter may be, in words and as a test
    words: str
    test: Callable


def one_of(*options: str) -> Allowed:
    """One of these strings."""
    return Allowed(f"one of {', '.join(options)}", lambda value: isinstance(value, str) and value in options)


def number(words: str, test: Callable[[Any], bool], kind: type = numbers.Real) -> Allowed:
    """A finite number of a kind that passes the test; True and False are none."""

    def passes(value):
        value = value.item() if isinstance(value, np.generic) else value  # float_info.max is infinite in float32
        is_number = isinstance(value, kind) and not isinstance(value, bool)
        return is_number and abs(value) <= sys.float_info.max and test(value)

    return Allowed(words, passes)


def or_none(allowed: Allowed) -> Allowed:
    """None, or what is allowed."""
    return Allowed(f"None or {allowed.words}", lambda value: value is None or allowed.test(value))


def check(name: str, value: object, allowed: Allowed) -> None:
    """Raise ValueError unless a value is allowed for the parameter of this name."""
    if not allowed.test(value):
        raise ValueError(f"{name} must be {allowed.words}, got {shown(value)}{_remedy(name, value)}")


COUNT = number("an integer of at least 1", lambda value: value >= 1, numbers.Integral)
FINITE = number("a finite number", lambda value: True)
POSITIVE = number("a positive number", lambda value: value > 0)
NOT_NEGATIVE = number("a finite number of at least 0", lambda value: value >= 0)
FLAG = Allowed("True or False", lambda value: isinstance(value, bool | np.bool_))
SHUFFLE = Allowed("True, False or 'once'", lambda value: FLAG.test(value) or one_of("once").test(value))
_GAMMAS = one_of("scale", "auto")
KERNEL_PARAMETERS = {
    "kernel": Allowed(
        f"{one_of(*KERNELS).words}, or a function of X and Y", lambda value: callable(value) or one_of(*KERNELS).test(value)
    ),
    "degree": number(f"an integer in 1..{HIGHEST_DEGREE}", lambda value: 1 <= value <= HIGHEST_DEGREE, numbers.Integral),
    "gamma": Allowed(f"{_GAMMAS.words} or a positive number", lambda value: _GAMMAS.test(value) or POSITIVE.test(value)),
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


def n_threads(n_jobs: object) -> int:
    """The number of threads of a parameter n_jobs."""
    check("n_jobs", n_jobs, MACHINE_PARAMETERS["n_jobs"])
    backend, of_context = get_active_backend(prefer="threads")
    return int(backend.effective_n_jobs(of_context if n_jobs is None else n_jobs))


def check_unmasked(name: str, values: object) -> None:
    """Raise ValueError if an array, or the data of a sparse one, has masked values, which are not data."""
    if issparse(values) and hasattr(values, "data"):
        name, values = f"{name}.data", values.data
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise ValueError(
            f"{name}: {np.ma.count_masked(values)} of {values.size} values are masked; fill them, for example with "
            f"{name}.filled(...) or an imputer, or leave out their examples"
        )


def check_unweighted(unsupported: dict) -> None:
    """Raise TypeError if `fit` or `partial_fit` was given weights, or anything else that it does not know."""
    if names := [name for name, value in unsupported.items() if value is not None]:
        raise TypeError(
            f"{', '.join(names)}: fit takes X and y only, since each mistake counts once; to give an example more weight, "
            "repeat it: i = np.repeat(range(len(y)), times), then fit X[i], y[i]"
        )


def _variance(X):
    """The variance of all numbers of X in double precision, as their own type may be too narrow for the squares."""
    if not issparse(X):
        mean = X.mean(dtype=np.float64)
        return float(sum(np.square(X[i : i + _BLOCK] - mean).sum() for i in range(0, len(X), _BLOCK)) / X.size)
    X = X.astype(np.float64)
    return float(X.multiply(X).mean() - X.mean() ** 2)


class Classifier(ClassifierMixin, BaseEstimator):
    """Base of all estimators: labels, checks, `fit` and `predict`."""

    # An estimator has the parameter kernel, _learn(X, y, classes), decision_function, and _parameters {name: Allowed}.
    _kernel: Kernel | PointKernel = kernels.GIVEN
    _parameters: dict[str, Allowed] = {}
    _takes_sparse: bool = False
    _unit: int = 1

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = isinstance(self.kernel, str) and self.kernel == "precomputed"
        tags.input_tags.sparse = self._takes_sparse and not tags.input_tags.pairwise
        return tags

    def fit(self, X: Data, y: ArrayLike, **unsupported: Any) -> Self:
        """Learn from points X (n, d), dense or CSR, or K (n, n) for precomputed kernels, and labels y (n,). Returns self."""
        check_unweighted(unsupported)
        with self._whole():
            X, y, classes = self._validate(X, y)
            self._learn(X, y, classes)
            self._warn(X)
        return self

    def _warn(self, X):
        """Warn after `fit` where an RBF kernel sees no point of X near another one."""
        kernel = self._kernel
        if isinstance(kernel, Kernel) and kernel.kind == kernels.RBF and X.shape[0] >= 20:
            nearest = kernel.gamma * _median_nearest(X, _SATURATED / kernel.gamma)
            if nearest > _SATURATED:
                warnings.warn(
                    f"the kernel has saturated: with gamma={kernel.gamma:.3g} the median of gamma |x - y|^2 of nearest "
                    f"neighbours is {nearest:.3g}, so that k(x, y) is near 0; use gamma='scale', or scale the data down",
                    stacklevel=3,
                )

    def predict(self, X: Data) -> Array:
        """Predict the class with the highest score; ties go to the first class."""
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

    def _once(self, name, key, make):
        """What `make` gives, kept until it is asked for with another key or the model learns; it is not pickled."""
        kept = self._made.get(name)
        if kept is None or kept[0] != key:
            kept = self._made[name] = key, make()
        return kept[1]

    def __getstate__(self):
        return {name: value for name, value in super().__getstate__().items() if name not in _PASSING}

    def __setstate__(self, state):
        super().__setstate__(state)
        self._made = {}

    def _validate(self, X, y):
        """(X, y, classes): points (n, d) or Gram matrix (n, n), the index (n,) of each example's class, and the classes."""
        self._check_parameters()
        # An earlier fit may have had other attributes.
        for name in [name for name in vars(self) if name.endswith("_")]:
            del vars(self)[name]
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
        named = None if classes is None else _distinct(classes)
        if named is not None and not first and not np.array_equal(named, self.classes_):
            raise ValueError(
                f"classes must be those of the first call {shown(self.classes_)}, got {shown(named)}; "
                "begin another estimator"
            )
        known = (np.unique(y) if named is None else named) if first else self.classes_
        _several(known, "name all classes in the first call of partial_fit")
        unknown = np.setdiff1d(y, known)
        if len(unknown):
            raise ValueError(f"labels must be among the classes of the first call {shown(known)}, got {shown(unknown)}")
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
        """Fix the kernel and the units of points on the training set X, regardless of later changes of the parameters."""
        self._made: dict[str, tuple] = {}
        if callable(self._form) or self._precomputed:
            self._kernel = kernels.GIVEN if self._precomputed else Function(self._form)
            return
        power = KERNELS[self._form].power
        gamma = self.gamma if power else 1.0
        if isinstance(gamma, str):
            variance = _variance(X) ** (power / 2) if gamma == "scale" else 1.0
            gamma = 1.0 / (X.shape[1] * variance) if variance > 0 else 1.0
            if not math.isfinite(gamma):
                raise ValueError(
                    f"gamma='scale' must be finite, got 1 / (features times variance) = {gamma}; scale the data up"
                )
        self.gamma_ = float(gamma)
        self._kernel = KERNELS[self._form].made(self, self.gamma_)
        self._unit = unit_of(X) if isinstance(self._kernel, Kernel) else 1

    def _check_parameters(self):
        for name in self._parameters:
            self._check(name)

    def _check(self, name):
        check(name, getattr(self, name), self._parameters[name])

    @property
    def _precomputed(self):
        return isinstance(self._form, str) and self._form == "precomputed"

    def _checked(self, X, *y, reset=False):
        """X, or X and y, checked: numbers up to 1e100 in size, in double precision for kernels that are given."""
        if reset or y or not self._is_plain(X):
            X, *y = self._validated(X, *y, reset=reset)
        if callable(self._form) or self._precomputed:  # a function may not know integers, which wrap around
            X = (X.toarray() if issparse(X) else X).astype(np.float64, copy=False)
        return (X, *y) if y else X

    def _is_plain(self, X):
        """Whether X is an array that `_validated` would return as it is, which takes longer than the scores of a row."""
        return (
            hasattr(self, "classes_") and not hasattr(self, "feature_names_in_")
            and type(X) is np.ndarray and X.dtype.kind in "biuf" and X.ndim == 2
            and X.shape[0] > 0 and X.shape[1] == self.n_features_in_ and _largest(X) <= LARGEST
        )  # fmt: skip

    def _validated(self, X, *y, reset):
        """[X] or [X, y] as scikit-learn validates them, numbers up to 1e100 in size."""
        if not reset:
            check_is_fitted(self)
        for name, values in zip(("X", "y"), (X, *y), strict=False):
            check_unmasked(name, values)
        accepted = "csr" if self._takes_sparse and not self._precomputed else False
        found = validate_data(self, X, *y, dtype="numeric", reset=reset, accept_sparse=accepted)
        X, *y = found if y else (found,)
        for labels in y:
            check_classification_targets(labels)
        values = X.data if issparse(X) else X
        if values.dtype.kind not in "biuf":
            raise ValueError(f"X must contain numbers, got {values.dtype}; convert it")
        largest = _largest(values)
        if largest > LARGEST:
            raise ValueError(f"X must contain numbers up to {LARGEST:.0e} in size, got {largest:.4g}; scale the data down")
        return X, *y


def _largest(values):
    """The largest size of real numbers; 0 of integers, which are never too large, and of nothing."""
    return max(values.max(), -values.min()) if values.dtype.kind == "f" and values.size else 0.0


def _distinct(classes):
    """The classes that a stream names, sorted."""
    try:
        named = np.unique(classes)
    except TypeError:
        raise ValueError(f"classes must be labels of one type, got {shown(classes)}; name numbers or strings") from None
    if np.any(named != named):
        raise ValueError(f"classes must be labels, got NaN among {shown(named)}; remove it")
    return named


def _median_nearest(X, least):
    """The median over a sample of X (n, d) of |x - y|^2 to the nearest other point, or a larger number up to `least`."""
    some = X[np.unique(np.linspace(0, X.shape[0] - 1, _SAMPLE).astype(int))].astype(np.float64)
    median = np.median(euclidean_distances(some, squared=True))
    if median <= least:
        return float(median)  # the nearest are nearer
    same = _ROUNDING * row_norms(some, squared=True)[:, None]
    nearest = np.full(some.shape[0], np.inf)
    for start in range(0, X.shape[0], _BLOCK):
        distances = euclidean_distances(some, X[start : start + _BLOCK], squared=True)
        distances[distances <= same] = np.inf
        nearest = np.minimum(nearest, distances.min(axis=1))
    return float(np.median(np.where(nearest < np.inf, nearest, 0.0)))


def _remedy(name, value):
    """The remedy for a kernel that only other estimators take."""
    if name != "kernel" or not (isinstance(value, str) and value == "precomputed"):
        return ""
    return "; for a Gram matrix take OneVsAllKernelPerceptron, OutputCodeKernelPerceptron or MulticlassKernelPerceptron"


def _several(classes, remedy):
    if len(classes) < 2:
        got = f"1 class ({shown(classes[0])})" if len(classes) else "none"
        raise ValueError(f"labels must have at least 2 classes, got {got}; {remedy}")
    return classes


def _check_gram(K):
    if K.shape[0] != K.shape[1]:
        raise ValueError(f"a precomputed kernel must be a square matrix (n, n) of training examples, got {K.shape}")
    rounding = 1e-6 * np.abs(K).max()  # that of single precision
    if not all(np.allclose(K[i : i + 256], K[:, i : i + 256].T, atol=rounding) for i in range(0, len(K), 256)):
        raise ValueError("a precomputed kernel must be a symmetric matrix of training examples, got one that is not")


class KernelPerceptron(Classifier):
    """Base of the estimators with a list of mistake logs; X is (n, d), or for kernel="precomputed" K (n, n_train)."""

    # They have _blocks(X, predictors), and those with a choice of kernels n_jobs and memory_budget.
    _parameters = {**LEARNING_PARAMETERS, "predictor": one_of(*BY_NAME), "epoch": or_none(COUNT)}
    _predictors: Iterable[str] = BY_NAME

    def _visiting_orders(self, m, n):
        """The visiting orders of m perceptrons over n examples, epoch by epoch: (m, n), or (1, n) shared by all."""
        random = check_random_state(self.random_state) if self.shuffle else None
        m = 1 if getattr(self, "orders", None) == "shared" else m
        return visiting_orders(n, m, self.max_iter, random_state=random, once=self.shuffle == "once")

    def predict(
        self, X: Data, *, predictor: str | None = None, epoch: Epoch = None, min_margin: float | None = None,
        rejected: Any = -1,
    ) -> Array:  # fmt: skip
        """Predict labels (n,), ties as the first class; `rejected` below min_margin, as `predict_or_reject` has it."""
        if min_margin is not None:
            check_is_fitted(self)
            _check_rejection(self.classes_, min_margin, rejected)
        f = self.decision_function(X, predictor=predictor, epoch=epoch)
        labels = self._labels(f)
        return labels if min_margin is None else _with_rejected(labels, f, min_margin, rejected)

    def staged_predict(self, X: Data, *, predictor: Predictors = None) -> Iterator[Any]:
        """Yield the labels (n,) of X after each epoch; for several predictors, or "all", {predictor: labels}."""
        return self._staged(X, predictor, self._labels)

    def staged_decision_function(self, X: Data, *, predictor: Predictors = None) -> Iterator[Any]:
        """Yield the scores of X after each epoch, as decision_function(X, epoch=e); of several predictors by name."""
        return self._staged(X, predictor, lambda f: f)

    def _staged(self, X, predictor, finish):
        X = self._checked(X)
        chosen = self.predictor if predictor is None else predictor
        one = isinstance(chosen, str) or not np.iterable(chosen)
        names = (chosen,) if one else chosen
        if one and chosen == "all":
            counted = all(log.errors is not None for log in self._logs())
            names = [name for name in self._predictors if counted or not BY_NAME[name].needs_errors]
        parts = {check_predictor(name): [] for name in names}
        for scores in self._blocks(X, tuple(parts)):
            for name, part in parts.items():
                part.append([finish(f) for f in scores[name]])
        for epoch in range(self.n_iter_):
            found = {name: np.concatenate([block[epoch] for block in part]) for name, part in parts.items()}
            yield found[chosen] if one and chosen != "all" else found

    def with_mistakes(self, X: Data, y: ArrayLike, mistakes: list) -> Self:
        """Fit without learning, from the training set and the `mistakes_` of an earlier fit on it. Returns self."""
        with self._whole():
            X, y, classes = self._validate(X, y)
            self._check_mistakes(mistakes, y, classes)
            if not all(map(len, mistakes)):
                raise ValueError(f"a log must contain a mistake, as that of every fit does, got none; {SAME_FIT}")
            ends = [log.ends if self._visits_all else log.n_epochs for log in mistakes]
            if not all(np.array_equal(each, ends[0]) for each in ends):
                raise ValueError(f"logs of one fit must have the same ends of epochs, got different ones; {SAME_FIT}")
            self._store(X, classes, mistakes)
        return self

    @property
    def _visits_all(self):
        """Whether every learner visits every example."""
        return True

    def _check_mistakes(self, mistakes, y, classes):
        """Raise ValueError unless `fit` on labels y (n,), as indices of classes, could have made these mistakes."""
        raise NotImplementedError

    def _check_logs(self, mistakes, kind, m, n):
        """Raise ValueError unless the mistakes are a list of m logs of a kind over n examples."""
        if not (isinstance(mistakes, list) and [type(log) for log in mistakes] == [kind] * m):
            logs = f"{m} logs, one for each learner" if m > 1 else f"one {kind.__name__}"
            raise ValueError(f"mistakes must be a list of {logs}; {SAME_FIT}")
        for log in mistakes:
            log.check(n)

    def _validate(self, X, y):
        most = self._most_epochs()
        if self.epoch is not None and COUNT.test(self.epoch) and COUNT.test(most) and self.epoch > most:
            raise ValueError(f"epoch must be at most max_iter={most}, got {self.epoch}; raise max_iter")
        return super()._validate(X, y)

    def _most_epochs(self):
        return self.max_iter

    def _chosen(self, predictor=None, epoch=None):
        """(predictor, epoch): what is asked for, else the estimator's own; the last epoch where a run ended before it."""
        self._check("epoch")
        own = self.n_iter_ if self.epoch is None else min(self.epoch, self.n_iter_)
        return check_predictor(self.predictor if predictor is None else predictor), own if epoch is None else epoch

    def _weighted(self, predictor=None, epoch=None):
        """The same for coefficients: AttributeError for the voted predictor, which is not a sum of kernel values."""
        if not hasattr(self, "classes_"):
            raise AttributeError(f"{type(self).__name__} has no coefficients before fit")
        predictor, epoch = self._chosen(predictor, epoch)
        if BY_NAME[predictor].weights is None:
            raise AttributeError(f"the {predictor} predictor has no coefficients; use final, average or minimizing")
        return predictor, epoch

    def _store(self, X, classes, mistakes):
        """Store the mistakes on X (n, d), and those of the examples on which they were made."""
        self.classes_ = classes
        self.mistakes_ = mistakes
        self.n_iter_ = mistakes[0].n_epochs
        self.support_ = np.unique(np.concatenate([log.example for log in mistakes]))
        if not self._precomputed:
            self.support_vectors_ = X[self.support_]

    def _logs(self):
        """A list of the logs over the support examples alone."""
        return [log.renumbered(np.searchsorted(self.support_, log.example)) for log in self.mistakes_]

    def _n_threads(self):
        return n_threads(self.n_jobs)

    def _points(self, X):
        """X as the source of the kernel takes it: `Points` in the units that were fixed on the training set, or X itself."""
        return points_of(self._kernel, X, self._unit)

    def _pair(self, X):
        """Rows and columns for `_between` of training points X (n, d), or of the Gram matrix X (n, n)."""
        if self._precomputed:
            return np.arange(len(X)), X
        points = self._points(X)
        return points, points

    def _between(self, rows, columns):
        """Kernel of training points with others, as `_points` gives both, block by block, without caching."""
        if self._precomputed:  # rows are indices (S,) of those of the matrix `columns`

            def given(i, j):
                return columns[:, j][rows[i]]

            return CrossGram(PrecomputedKernel(given, len(rows), columns.shape[1], threads=self._n_threads()))
        return CrossGram(between(self._kernel, rows, columns, threads=self._n_threads()))

    def _gram(self, X):
        """The Gram matrix of the training points X (n, d), or X itself (n, n) where it is one."""
        if self._precomputed:
            return Gram.of_matrix(X)
        return Gram(self._between(*self._pair(X)).source, memory_budget=self.memory_budget, kernel=self._kernel)

    def _rows(self):
        """The support examples as rows for `_between`."""
        if self._precomputed:
            return self.support_
        return self._once("rows", None, lambda: self._points(self.support_vectors_))

    def _columns(self, X, steps):
        """Kernel of `_rows` with the points of a checked X (n, d), or of a precomputed X (n, n_train), block by block."""
        found = self._between(self._rows(), X.T if self._precomputed else self._points(X))
        check_range(found.in_units(self._kernel), found.source.top, steps)
        return found


def predict_or_reject(model: Any, X: Data, *, min_margin: float, rejected: Any = -1, **options: Any) -> Array:
    """Predict labels, and reject points whose margin is too small.

    The margin is the best score minus the second best, or |f| for two classes (Chow 1970). Labels are
    those of model.predict(X), even if another class has the best score.

    Parameters
    ----------
    model : classifier
        Fitted, with `predict` and a `decision_function` that gives a score for each class.
    X : array-like or sparse matrix of shape (n, d)
        Points.
    min_margin : float
        Smallest margin of points that are not rejected, at least 0, in the units of the scores.
    rejected : int or str, default=-1
        Label of rejected points, of the type of the classes, but none of them.
    **options : dict
        Options for `predict` and `decision_function`, such as predictor and epoch.

    Returns
    -------
    ndarray of shape (n,)
        Labels of the classes, or `rejected`.

    Raises
    ------
    ValueError
        If min_margin or rejected is not valid, or the scores are not one for each class (for
        example one for each pair of classes).
    NotFittedError
        If the model was not fitted.

    See Also
    --------
    kp.estimator.KernelPerceptron.predict : The estimators of kp have min_margin themselves.

    References
    ----------
    - Chow (1970). On optimum recognition error and reject tradeoff. IEEE Transactions on Information
      Theory 16. https://doi.org/10.1109/TIT.1970.1054406

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import Perceptron
    >>> from kp import predict_or_reject
    >>> X, y = load_iris(return_X_y=True)
    >>> labels = predict_or_reject(Perceptron(random_state=0).fit(X, y), X, min_margin=1.0)
    >>> int((labels == -1).sum())
    4
    """
    if not hasattr(model, "classes_"):
        raise NotFittedError(f"predict_or_reject needs a fitted classifier, got {type(model).__name__} without classes_")
    if any(map(np.ndim, model.classes_)):
        raise ValueError(f"predict_or_reject needs one label for each point, got {type(model).__name__} with several")
    _check_rejection(np.asarray(model.classes_), min_margin, rejected)
    f = np.asarray(model.decision_function(X, **options))
    n_classes = len(model.classes_)
    expected = (len(f),) if n_classes == 2 else (len(f), n_classes)
    # Three classes have as many pairs. What wraps a machine has its parameters, under longer names.
    own = model.get_params() if hasattr(model, "get_params") else {}
    of_pairs = any(name.endswith("decision_function_shape") and own[name] == "ovo" for name in own)
    if f.shape != expected or (n_classes == 3 and of_pairs):
        raise ValueError(
            f"decision_function must give a score for each class, {expected} for {n_classes} classes, got {f.shape}; "
            "for pairs of classes set decision_function_shape='ovr'"
        )
    return _with_rejected(model.predict(X, **options), f, min_margin, rejected)


def _check_rejection(classes, min_margin, rejected):
    if not (isinstance(min_margin, numbers.Real) and min_margin >= 0):
        raise ValueError(f"min_margin must be a number of at least 0, got {shown(min_margin)}")
    label = np.asarray(rejected)
    known = classes.tolist()
    same = label.ndim == 0 and type(label.item()) is type(known[0]) and label.item() not in known
    # The labels of a prediction and this one are one array: beside it no label may become another.
    if not (same and np.result_type(classes, label).kind in ("i", classes.dtype.kind)):
        raise ValueError(
            f"rejected must have the type of the class labels, {type(known[0]).__name__}, and be none of them, "
            f"got {shown(rejected)}"
        )


def _with_rejected(labels, f, min_margin, rejected):
    """The labels (n,), or `rejected` where the margin of the scores f is below min_margin."""
    second, best = (0.0, abs(f)) if f.ndim == 1 else np.sort(f, axis=1)[:, -2:].T
    return np.where(best - second < min_margin, np.asarray(rejected), labels)
