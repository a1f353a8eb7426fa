"""Multiclass kernel perceptrons from binary ones by output codes, as scikit-learn estimators.

Sources: Hermans 2021, sections 3.1 (one-vs-all) and 3.4 (argmax of the scores); the course page "Perceptron", eqs 40 to 44.

Each class has a code, a row of m signs, and each of m binary perceptrons learns one column of the code matrix. The class of
the highest score wins, and ties go to the first class; its score is the sum of the outputs that are +1 in its code:

    F_c(x) = sum_i [code_ci = +1] f_i(x) = (code_c . f(x) + sum_i f_i(x)) / 2

This is the course page's rule, which first looks for a code that matches all signs of f: code_c . f <= sum_i |f_i|, and the
class of that code attains it (except for rounding). Else the code that agrees best with f wins. A score of 0 matches none.

A 0 in a code says that the output is not trained on that class (Allwein, Schapire & Singer 2000). The classes are then
scored by votes, of the outputs that agree with the code less those that do not:

    F_c(x) = sum_i code_ci sign(f_i(x))

Symbols: n examples, d features, C classes, m outputs, code (C, m) of +1, -1 and 0, z = +-1 signs (m, n), f (m, n) outputs.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse, vstack
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from kp.compiled import compiled

from kp.estimator import (  # isort: skip
    ANY_KERNEL, FLAG, KERNEL_PARAMETERS, MACHINE_PARAMETERS, SHUFFLE, KernelPerceptron, check, check_unmasked, n_threads,
    one_of,
)  # fmt: skip
from kp.gram import CrossGram, Gram, Points, Products, unit_of
from kp.hints import Array, Callback, Code, Data, Epoch, Gamma, KernelChoice, Logs, Seed
from kp.kernels import Kernel, PointKernel, check_range
from kp.mistakes import BY_NAME, SAME_FIT, MistakeLog
from kp.perceptron import PERCEPTRON, Rule, find_mistakes, visiting_orders
from kp.predictors import WALKED, primal_scores, replay, scores
from kp.wording import shown

PRESENTATIONS = ("replacement", "shuffled", "ordered")  # in each epoch n independent draws, a fresh shuffle, the order given
"""In each epoch n independent draws, a new shuffle, or the order given."""
BLOCK = 256  # examples of a stream whose kernel values with each other are made together


def one_hot(n_classes: int) -> Array:
    """Make the one-hot code: class c has +1 in output c and -1 in all others (course page, eq. 40 left)."""
    return 2 * np.eye(n_classes, dtype=np.int8) - 1


def binary(n_classes: int) -> Array:
    """Make the binary code: the digits of 0..C-1, the highest first, 0 as -1 (course page, eq. 40 right)."""
    digits = range(int(n_classes - 1).bit_length() - 1, -1, -1)
    return np.array([[2 * (c >> digit & 1) - 1 for digit in digits] for c in range(n_classes)], dtype=np.int8)


def one_vs_one(n_classes: int) -> Array:
    """Make the one-vs-one code: an output for each pair of classes, +1 for the first, -1 for the second, else 0."""
    first, second = np.triu_indices(n_classes, k=1)
    rows = np.arange(n_classes)[:, None]
    return (rows == first).astype(np.int8) - (rows == second).astype(np.int8)


NAMED = {"one-hot": one_hot, "binary": binary, "one-vs-one": one_vs_one}
"""{name of a code: the function of the number of classes that makes it}."""


def code_matrix(code: Code, n_classes: int) -> Array:
    """Make a code matrix from its name, or check one."""
    if isinstance(code, str):
        if code not in NAMED:
            raise ValueError(f"code must be one of {', '.join(NAMED)}, or a matrix of +1, -1 and 0, got {shown(code)}")
        return NAMED[code](n_classes)
    code = np.asarray(code)
    if code.ndim != 2 or len(code) != n_classes or code.shape[1] < 1:
        raise ValueError(f"code must be a matrix with a row for each of {n_classes} classes, got shape {code.shape}")
    if not np.all((code == 1) | (code == -1) | (code == 0)):
        raise ValueError(f"code must hold +1, -1 and 0 only, got {shown(np.unique(code))}")
    if not (code.any(axis=0).all() and code.any(axis=1).all()):
        raise ValueError("code must have no row and no column of zeros: each class needs an output, each output a class")
    if len(np.unique(code, axis=0)) < n_classes:
        raise ValueError("code must have a different row for each class, got equal rows; add outputs or change the rows")
    return code.astype(np.int8)


def class_scores(f: Array, code: Array) -> Array:
    """Score the classes by the outputs: sums of the outputs that are +1 in a code, or votes where a code has zeros."""
    if not code.all():
        return np.sign(f).T @ code.T.astype(np.float64)
    F = np.zeros((f.shape[1], len(code)))
    for output, positive in zip(f, code.T > 0, strict=True):
        F[:, positive] += output[:, None]
    return F


def presentations(n: int, epochs: int, how: str, *, random_state: Any = None) -> Iterator[Array]:
    """Yield, epoch by epoch, the numbers of the n examples that are presented."""
    if how != "replacement":
        yield from visiting_orders(n, 1, epochs, random_state=random_state if how == "shuffled" else None)
        return
    for _ in range(epochs):
        yield random_state.randint(n, size=(1, n))


def _has_points(estimator):
    if getattr(estimator, "_form", estimator.kernel) == "precomputed":
        raise AttributeError("partial_fit needs the points themselves, got kernel='precomputed'; use fit or another kernel")
    return True


class Decoder(KernelPerceptron):
    """Base of the estimators with a code matrix `code_`; those have `outputs(X, *, predictor, epoch)`, f (n, m), and
    `_code(n_classes)` where it is not one-hot."""

    _shares = False  # whether `SharedTraining` may fit it, by its `_rule()`

    def decision_function(self, X: Data, *, predictor: str | None = None, epoch: Epoch = None) -> Array:
        """Score the classes by a predictor at an epoch: (n, C), or (n,) for two classes, positive for the second."""
        return self._decision(self.outputs(X, predictor=predictor, epoch=epoch).T)

    def _code(self, n_classes):
        # Of two classes the two outputs would be mirror images; one is enough.
        return one_hot(n_classes) if n_classes > 2 else binary(2)

    def _signs(self, y):
        """Labels +1, -1 and 0 (m, n) of the outputs for examples of classes y (n,)."""
        return np.ascontiguousarray(self.code_[y].T)

    def _validate(self, X, y):
        X, y, classes = super()._validate(X, y)
        self.code_ = self._code(len(classes))
        return X, y, classes

    def _decision(self, f):
        F = class_scores(f, self.code_)
        return F[:, 1] - F[:, 0] if len(self.code_) == 2 else F


class _OutputCodes(Decoder):
    """Base of the estimators of m binary kernel perceptrons, one for each output of a code."""

    _takes_sparse = True
    _parameters = {**KernelPerceptron._parameters, **KERNEL_PARAMETERS, **MACHINE_PARAMETERS, "kernel": ANY_KERNEL}

    def _rule(self):
        return PERCEPTRON

    @property
    def _visits_all(self):
        return bool(self.code_.all())

    def _steps(self):
        return max(log.steps() for log in self.mistakes_)

    @available_if(_has_points)
    def partial_fit(self, X: Data, y: ArrayLike, classes: ArrayLike | None = None) -> Self:
        """Learn from the next part of a stream X (n, d), y (n,), in one pass.

        The first call names all classes (C,), or has them in y.
        """
        stream = vars(self).pop("_stream", None)  # type: ignore[attr-defined]  # after an error it is made again, from what is stored
        with self._whole():
            X, y, classes = self._validate_part(X, y, classes)
            first = not hasattr(self, "mistakes_")
            n = len(y)
            self.classes_ = classes
            if first:
                self.code_ = self._code(len(classes))
            if not self._visits_all:
                raise ValueError("code must hold +1 and -1 for partial_fit, got zeros; use fit")
            stream = stream or Stream(self, X)
            moved = stream.learn(self, X, self._signs(y), 0 if first else self.mistakes_[0].steps())
            where = [np.flatnonzero(row) for row in moved]
            ends = np.array([n])
            logs = [
                MistakeLog(example=t, step=t, sign=row[t], errors=None, ends=ends)
                for row, t in zip(moved, where, strict=True)
            ]
            seen = 0 if first else self.n_seen_  # type: ignore[has-type]
            held = seen + np.flatnonzero(moved.any(axis=0))
            if not first:
                logs = [old.followed_by(new, seen) for old, new in zip(self.mistakes_, logs, strict=True)]
                held = np.append(self.support_, held)
            self.mistakes_ = logs
            self.n_iter_ = logs[0].n_epochs
            self.n_seen_ = seen + n
            self.support_ = held
            self.support_vectors_ = stream.vectors.array
            vars(self).pop("converged_", None)  # type: ignore[attr-defined]  # that of an earlier fit
        self._stream = stream
        return self

    def __getstate__(self):
        return {name: value for name, value in super().__getstate__().items() if name != "_stream"}

    def outputs(self, X: Data, *, predictor: str | None = None, epoch: Epoch = None) -> Array:
        """Compute the outputs f (n, m) of the perceptrons, by a predictor at an epoch."""
        X = self._checked(X)
        chosen = self._chosen(predictor, epoch)
        columns = self._columns(X, self._steps())
        return scores(self._logs(), self._kernel, columns, *chosen, threads=self._n_threads()).T

    @property
    def dual_coef_(self) -> Array:
        """Coefficients (m, S) of the support examples, for the estimator's predictor and epoch."""
        chosen = self._weighted()
        return signed_sums(self._logs(), len(self.support_), *chosen)

    def _blocks(self, X, predictors):
        """Yield, block by block of X, {predictor: scores after each epoch}, from one walk along the logs.

        They are those of `decision_function`, bit by bit where sums of kernel values are exact, as on integers, and
        otherwise except for rounding.
        """
        logs = self._logs()
        epochs = range(1, self.n_iter_ + 1)
        for name in predictors:
            if BY_NAME[name].needs_errors:
                for log in logs:
                    log.weights(name)  # raises ValueError where training errors were not counted
        columns = self._columns(X, self._steps())
        options = {"threads": self._n_threads()}
        others = {
            name: np.stack([scores(logs, self._kernel, columns, name, epoch, **options) for epoch in epochs])
            for name in predictors if name not in WALKED
        }  # fmt: skip
        for part, f in replay(logs, self._kernel, columns, epochs=epochs, **options):
            f |= {name: outputs[..., part] for name, outputs in others.items()}
            yield {name: [self._decision(outputs) for outputs in f[name]] for name in predictors}

    def _check_mistakes(self, mistakes, y, classes):
        signs = self._signs(y)
        self._check_logs(mistakes, MistakeLog, len(signs), len(y))
        for log, row in zip(mistakes, signs, strict=True):
            if not np.array_equal(row[log.example], log.sign):
                raise ValueError(f"the signs of a log must be those of the labels y, got others; {SAME_FIT}")

    def _store(self, X, classes, logs):
        vars(self).pop("_stream", None)
        self.n_seen_ = X.shape[0]
        super()._store(X, classes, logs)


class OutputCodeKernelPerceptron(_OutputCodes):
    """One binary kernel perceptron for each output of a code.

    All outputs learn from the same presentations. With codes of +1 and -1 the score of class c is

        F_c(x) = sum_i [code_ci = +1] f_i(x)

    and the class of the highest score wins; ties go to the first class. The kernel listing of the
    course page "Perceptron" (eqs 40 to 44) has code="one-hot" and presentation="replacement". Its
    augmented data, x_0 = 1, take coef0 + gamma where this class has coef0. One-vs-all is the case of
    one-hot codes and shuffled presentations.

    Parameters
    ----------
    kernel : {"poly", "linear", "rbf", "laplacian", "precomputed"} or callable, default="poly"
        "poly" is (coef0 + gamma x.y)^degree, "linear" is x.y, "rbf" is exp(-gamma |x - y|^2),
        "laplacian" is exp(-gamma |x - y|_1). With "precomputed", X is a matrix of kernel values. A
        callable takes float64 arrays X (n, d) and Y (m, d) and returns K (n, m).
    code : {"one-hot", "binary", "one-vs-one"} or array-like of shape (C, m), default="one-hot"
        "one-hot" has m = C outputs, "binary" has m = ceil(log2 C), "one-vs-one" has C (C - 1) / 2, one
        for each pair of classes. A matrix has a row for each of the sorted labels and holds +1, -1, and
        0 where an output is not trained on a class (Allwein, Schapire and Singer 2000). With zeros the
        class of most votes wins, ties go to the first class, each output counts its own visits as
        steps, and examples cannot be drawn with replacement.
    degree : int, default=3
        Degree of the polynomial kernel, at least 1.
    gamma : float, {"scale", "auto"} or None, default=None
        Positive factor. "scale" is 1 / (d Var X), for "laplacian" 1 / (d sd X), and "auto" is 1 / d.
        None is "scale" for "rbf" and "laplacian", and otherwise 1, which is exact on whole numbers.
    coef0 : float, default=1.0
        Constant of the polynomial kernel.
    max_iter : int, default=10
        Largest number of epochs, of n presentations each.
    presentation : {"replacement", "shuffled", "ordered"}, default="replacement"
        "replacement" draws each example from all n, "shuffled" visits all in a new random order,
        "ordered" visits them as given.
    predictor : {"final", "average", "minimizing", "voted"}, default="final"
        Predictor that `predict` uses by default; the source predicts with the last coefficients. It may
        be set after `fit`.
    epoch : int or None, default=None
        Epoch, counted from 1, whose predictor `predict` uses by default. None is the last epoch, and
        so is an epoch after an early stop. It may be set after `fit`.
    stop_if_consistent : bool, default=True
        Stop after the first epoch at whose end every output is right on every training example.
    random_state : int, RandomState or None, default=None
        Seed or generator of the presentations.
    memory_budget : int, default=2**30
        Bytes for rows of inner products. It does not change the result.
    n_jobs : int or None, default=None
        Number of threads; None is 1, or the number of a joblib context. It does not change the
        result.
    verbose : int, default=0
        Show a progress bar of epochs unless it is 0.

    Attributes
    ----------
    classes_ : ndarray of shape (C,)
        Class labels, sorted.
    code_ : ndarray of shape (C, m)
        The code matrix.
    mistakes_ : list of MistakeLog
        Mistakes of each of the m perceptrons.
    support_ : ndarray of shape (S,)
        Numbers of the examples that any perceptron misclassified when it visited them.
    support_vectors_ : ndarray of shape (S, d)
        Those examples, sparse for sparse X; absent for kernel="precomputed".
    dual_coef_ : ndarray of shape (m, S)
        Coefficients of f(x) = dual_coef_ @ k(support_vectors_, x) for the estimator's predictor and
        epoch. The voted predictor has none.
    gamma_ : float
        The factor gamma of the kernel; absent for precomputed kernels and callables.
    n_iter_ : int
        Number of epochs that were run.
    n_seen_ : int
        Number of examples seen.
    converged_ : bool
        True if `fit` ended without a training error in any output; absent after `partial_fit`, which
        has no training set.

    See Also
    --------
    kp.OneVsAllKernelPerceptron : One-hot codes, with an order for each class.
    kp.DeltaRulePerceptron : Linear outputs of a code, learnt by the delta rule.

    References
    ----------
    - Course page "Perceptron": notes of a course on machine learning.
    - Allwein, Schapire and Singer (2000). Reducing multiclass to binary: a unifying approach for margin
      classifiers. Journal of Machine Learning Research 1.

    Examples
    --------
    >>> from kp import OutputCodeKernelPerceptron
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], ["a", "b", "c", "d"]
    >>> model = OutputCodeKernelPerceptron(degree=2, code="binary", random_state=0).fit(X, y)
    >>> model.code_.tolist()
    [[-1, -1], [-1, 1], [1, -1], [1, 1]]
    >>> model.predict(X).tolist()
    ['a', 'b', 'c', 'd']
    """

    _parameters = {**_OutputCodes._parameters, "presentation": one_of(*PRESENTATIONS), "stop_if_consistent": FLAG}

    def __init__(
        self, kernel: KernelChoice = "poly", *, code: Code = "one-hot", degree: int = 3, gamma: Gamma = None,
        coef0: float = 1.0, max_iter: int = 10, presentation: str = "replacement", predictor: str = "final",
        epoch: Epoch = None, stop_if_consistent: bool = True, random_state: Seed = None, memory_budget: int = 2**30,
        n_jobs: int | None = None, verbose: int = 0,
    ) -> None:  # fmt: skip
        self.kernel = kernel
        self.code = code
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.max_iter = max_iter
        self.presentation = presentation
        self.predictor = predictor
        self.epoch = epoch
        self.stop_if_consistent = stop_if_consistent
        self.random_state = random_state
        self.memory_budget = memory_budget
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _learn(self, X, y, classes):
        random = check_random_state(self.random_state)
        signs = self._signs(y)
        if self.presentation == "replacement" and not self._visits_all:
            raise ValueError(
                "presentation must be shuffled or ordered for a code with zeros, got 'replacement'; give presentation="
                "'shuffled' (sklearn.multiclass.OneVsOneClassifier makes one-vs-one of any classifier)"
            )
        orders = presentations(len(y), self.max_iter, self.presentation, random_state=random)
        logs = find_mistakes(
            self._gram(X), self._kernel, signs, self._watched(orders), self.max_iter, threads=self._n_threads(),
            stop_if_consistent=self.stop_if_consistent,
        )  # fmt: skip
        self._store(X, classes, logs)

    def _code(self, n_classes):
        return code_matrix(self.code, n_classes)

    def _store(self, X, classes, logs):
        if all(log.errors is not None for log in logs):
            self.converged_ = not any(log.errors[-1] for log in logs)
        super()._store(X, classes, logs)


class OneVsAllKernelPerceptron(_OutputCodes):
    """One binary kernel perceptron for each class.

    Each perceptron visits the examples and, on a mistake, adds the example to its sum (Hermans 2021,
    Algorithm 1 and sections 3.1, 3.3 and 3.4):

        f_c(x) = sum_i alpha_i z_i k(x_i, x),   z_i = +1 in class c, -1 elsewhere

    The class with the highest score wins; ties go to the first class. One fit holds four predictors
    of every epoch: final, average, minimizing, and voted (Freund and Schapire 1999).

    Parameters
    ----------
    kernel : {"poly", "linear", "rbf", "laplacian", "precomputed"} or callable, default="poly"
        "poly" is (coef0 + gamma x.y)^degree, "linear" is x.y, "rbf" is exp(-gamma |x - y|^2),
        "laplacian" is exp(-gamma |x - y|_1). With "precomputed", X is a matrix of kernel values. A
        callable takes float64 arrays X (n, d) and Y (m, d) and returns K (n, m).
    degree : int, default=3
        Degree of the polynomial kernel, at least 1.
    gamma : float, {"scale", "auto"} or None, default=None
        Positive factor. "scale" is 1 / (d Var X), for "laplacian" 1 / (d sd X), and "auto" is 1 / d.
        None is "scale" for "rbf" and "laplacian", and otherwise 1, which is exact on whole numbers.
        Take "scale" on standardised attributes.
    coef0 : float, default=1.0
        Constant of the polynomial kernel.
    max_iter : int, default=10
        Largest number of epochs.
    predictor : {"final", "average", "minimizing", "voted"}, default="average"
        Predictor that `predict` uses by default. It may be set after `fit`. On handwritten digits
        no other one has detectably fewer errors than the average one.
    epoch : int or None, default=None
        Epoch, counted from 1, whose predictor `predict` uses by default. None is the last epoch, and
        so is an epoch after an early stop. It may be set after `fit`.
    shuffle : {True, "once", False}, default=True
        Visit the examples in a new random order in each epoch, in one that is drawn once and kept, or
        in the order given.
    orders : {"separate", "shared"}, default="separate"
        Draw an order for each class in turn (Hermans), or one order for all classes. "shared" with
        shuffle="once" (Freund and Schapire) leaves fewer support vectors; that errors stay the same
        within 0.05 points was not shown, so it is not the default.
    stop_if_separated : bool, default=True
        Stop after an epoch in which no perceptron makes a mistake.
    count_errors : bool, default=False
        Count the training errors after every mistake, which the minimizing predictor needs, also
        where this takes a separate pass: for linear kernels, which learn by weight vectors.
    at_zero : {"mistake", "negative"}, default="mistake"
        A score of exactly 0 at a visit is a mistake for both signs, as sgn(0) = 0 is neither label.
        With "negative" it is right for examples outside the class, as in programs that predict the
        class only if f > 0. They skip the visits before the first example of the class, so that all
        later scores differ, and with them 5 to 9 % of the labels of 1,197 digits after three epochs
        on 600. Training errors count 0 as wrong in any case.
    random_state : int, RandomState or None, default=None
        Seed or generator of the visiting orders.
    memory_budget : int, default=2**30
        Bytes for rows of inner products. It does not change the result.
    n_jobs : int or None, default=None
        Number of threads; None is 1, or the number of a joblib context. It does not change the
        result.
    verbose : int, default=0
        Show a progress bar of epochs unless it is 0.

    Attributes
    ----------
    classes_ : ndarray of shape (C,)
        Class labels, sorted.
    code_ : ndarray of shape (C, m)
        The code matrix: one-hot, or one column for two classes.
    mistakes_ : list of MistakeLog
        Mistakes of each of the m perceptrons: one for each class, or one for two classes.
    support_ : ndarray of shape (S,)
        Numbers of the examples that any perceptron misclassified when it visited them.
    support_vectors_ : ndarray of shape (S, d)
        Those examples, sparse for sparse X; absent for kernel="precomputed".
    dual_coef_ : ndarray of shape (m, S)
        Coefficients of f(x) = dual_coef_ @ k(support_vectors_, x) for the estimator's predictor and
        epoch. The voted predictor has none.
    gamma_ : float
        The factor gamma of the kernel; absent for precomputed kernels and callables.
    n_iter_ : int
        Number of epochs that were run.
    n_seen_ : int
        Number of examples seen.

    See Also
    --------
    kp.OutputCodeKernelPerceptron : Other codes of the classes.
    kp.MulticlassKernelPerceptron : All classes learnt in one procedure.
    kp.output_codes.SharedTraining : Several of these fitted at once.

    References
    ----------
    - Hermans (2021). Digit classification with kernel perceptron. Course report, Università degli
      Studi di Milano. https://github.com/lukher98/digit-classification
    - Freund and Schapire (1999). Large margin classification using the perceptron algorithm.
      Machine Learning 37. https://doi.org/10.1023/A:1007662407062

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from kp import OneVsAllKernelPerceptron
    >>> X, y = load_digits(return_X_y=True)
    >>> model = OneVsAllKernelPerceptron(degree=3, max_iter=2, random_state=0)
    >>> model = model.fit(X[:1000], y[:1000])
    >>> round(model.score(X[1000:], y[1000:]), 3)
    0.937

    The final predictor after each epoch, from the same fit:

    >>> stages = model.staged_predict(X[1000:], predictor="final")
    >>> [round(float((labels == y[1000:]).mean()), 3) for labels in stages]
    [0.905, 0.928]
    """

    _shares = True
    _parameters = {
        **_OutputCodes._parameters, "orders": one_of("separate", "shared"), "shuffle": SHUFFLE, "stop_if_separated": FLAG,
        "count_errors": FLAG, "at_zero": one_of("mistake", "negative"),
    }  # fmt: skip

    def __init__(
        self, kernel: KernelChoice = "poly", *, degree: int = 3, gamma: Gamma = None, coef0: float = 1.0, max_iter: int = 10,
        predictor: str = "average", epoch: Epoch = None, shuffle: bool | str = True, orders: str = "separate",
        stop_if_separated: bool = True, count_errors: bool = False, at_zero: str = "mistake", random_state: Seed = None,
        memory_budget: int = 2**30, n_jobs: int | None = None, verbose: int = 0,
    ) -> None:  # fmt: skip
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.max_iter = max_iter
        self.predictor = predictor
        self.epoch = epoch
        self.shuffle = shuffle
        self.orders = orders
        self.stop_if_separated = stop_if_separated
        self.count_errors = count_errors
        self.at_zero = at_zero
        self.random_state = random_state
        self.memory_budget = memory_budget
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _learn(self, X, y, classes):
        signs = self._signs(y)
        orders = self._watched(self._visiting_orders(*signs.shape))
        logs = find_mistakes(
            self._gram(X), self._kernel, signs, orders, self.max_iter, rule=self._rule(), threads=self._n_threads(),
            stop_if_separated=self.stop_if_separated, count_errors=self.count_errors or BY_NAME[self.predictor].needs_errors,
        )  # fmt: skip
        self._store(X, classes, logs)

    def _rule(self):
        return Rule(no_at_zero=self.at_zero == "negative")


class Growing:
    """An array (n, ...) or CSR matrix that rows are appended to; a full array grows to twice the size."""

    def __init__(self, array: Any) -> None:
        self.array = self._room = array

    def append(self, rows: Any) -> None:
        """Append the rows (r, ...), dense or sparse, of any type of numbers."""
        if issparse(self.array):
            self.array = vstack([self.array, rows], format="csr")
            return
        rows = rows.toarray() if issparse(rows) else rows
        n = len(self.array)
        stop = len(self.array) + len(rows)
        dtype = np.result_type(self.array, rows)
        if stop > len(self._room) or dtype != self._room.dtype:
            self._room = np.empty((2 * stop, *rows.shape[1:]), dtype=dtype)
            self._room[:n] = self.array
        self._room[n:stop] = rows
        self.array = self._room[:stop]


class Stream:
    """State of a model for learning from single examples: `vectors` (S, d), its support examples, and `held`, (points,
    coefficients (m, s)) of the final predictors over stretches of them, each more than twice as long as the next. Scores are
    summed over the support examples in the order in which they came: parts of any size give the same bits."""

    def __init__(self, model: _OutputCodes, X: Any) -> None:
        self.vectors = Growing(X[:0])
        self.held: list[tuple[Any, Array]] = []
        if hasattr(model, "mistakes_"):
            self.vectors = Growing(model.support_vectors_)
            self._hold(model, signed_sums(model._logs(), len(model.support_)))

    def learn(self, model: _OutputCodes, X: Any, signs: Array, steps: int) -> Array:
        """Visit X (n, d) with signs (m, n) of +-1 in the order given; the same signs, 0 where no mistake was made."""
        moved = np.empty(signs.shape, dtype=signs.dtype)
        for start in range(0, X.shape[0], BLOCK):
            part = slice(start, start + BLOCK)
            moved[:, part] = signs[:, part] * self._mistakes(model, X[part], signs[:, part], steps + X.shape[0])
            if len(t := np.flatnonzero(moved[:, part].any(axis=0))):
                self.vectors.append(X[part][t])
                self._hold(model, moved[:, part][:, t].astype(np.float64))
        return moved

    def _hold(self, model, coefficients):
        """Hold the last of the vectors with these coefficients (m, s)."""
        while self.held and self.held[-1][1].shape[1] <= 2 * coefficients.shape[1]:
            coefficients = np.concatenate([self.held.pop()[1], coefficients], axis=1)
        vectors = self.vectors.array
        self.held.append((model._pair(vectors[vectors.shape[0] - coefficients.shape[1] :])[0], coefficients))

    def _mistakes(self, model, X, z, steps):
        """Which perceptrons (m, n) err on which of the points X (n, d), visited one after the other."""
        kernel = model._kernel
        points = model._pair(X)[0]
        f = np.zeros(z.shape)
        n = X.shape[0]
        if isinstance(kernel, Kernel):
            check_range(points.in_units(kernel), [points.top, *(held.top for held, _ in self.held)], steps)
        for held, coefficients in self.held:
            _add_sums(coefficients, _values(model, points, held), f)
        K = _values(model, points, points) if n > 1 else None
        wrong = np.zeros(z.shape, dtype=bool)
        skips = model._rule().no_at_zero & (z < 0)
        for t in range(n):
            margin = z[:, t] * f[:, t]
            wrong[:, t] = which = np.where(skips[:, t], margin < 0.0, margin <= 0.0)
            if n > 1 and which.any():
                f[which, t + 1 :] += z[which, t, None] * K[t, t + 1 :]
        return wrong


def _values(model, points, held):
    """K (n, s) of points and the held examples, which are the first argument of a function."""
    if isinstance(model._kernel, PointKernel):
        return np.ascontiguousarray(model._kernel(held, points).T)
    return model._between(points, held).values(model._kernel, np.arange(len(points)))


@compiled
def _add_sums(coefficients, K, out):
    """out (m, n) += coefficients (m, s) times the transpose of K (n, s), in the order of the s columns."""
    for a in range(out.shape[0]):
        for t in range(out.shape[1]):
            for i in range(K.shape[1]):
                out[a, t] += coefficients[a, i] * K[t, i]


def signed_sums(logs: Logs, n: int, predictor: str = "final", epoch: Epoch = None) -> Array:
    """c (m, n) with f(x) = sum_i c_i k(x_i, x) of the m logs over n examples, for the predictors that are such sums."""
    found = np.zeros((len(logs), n))
    for row, log in zip(found, logs, strict=True):
        weights = log.weights(predictor, epoch)
        np.add.at(row, log.example[: len(weights)], weights * log.sign[: len(weights)])
    return np.array([BY_NAME[predictor].divided(row, log, epoch) for row, log in zip(found, logs, strict=True)])


class SharedTraining:
    """A training set for several `OneVsAllKernelPerceptron`s or `Romma`s: each inner product is computed once for all.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d)
        Points.
    y : array-like of shape (n,)
        Their labels.
    memory_budget : int, default=2**30
        Bytes for rows of inner products, kept in `gram` for `staged_outputs`. It does not change the
        result; the budgets of the models do not count.
    n_jobs : int or None, default=None
        Number of threads; None is 1, or the number of a joblib context. It does not change the
        result.

    See Also
    --------
    kp.OneVsAllKernelPerceptron : The models that it fits.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from kp import OneVsAllKernelPerceptron
    >>> X, y = load_iris(return_X_y=True)
    >>> options = {"max_iter": 5, "stop_if_separated": False, "random_state": 0}
    >>> models = [OneVsAllKernelPerceptron(degree=degree, **options) for degree in (2, 3)]
    >>> [round(model.score(X, y), 2) for model in SharedTraining(X, y).fit(models)]
    [0.91, 0.91]
    """

    def __init__(self, X: Data, y: ArrayLike, *, memory_budget: int = 2**30, n_jobs: int | None = None) -> None:
        check("memory_budget", memory_budget, MACHINE_PARAMETERS["memory_budget"])
        check_unmasked("X", X)
        check_unmasked("y", y)
        self.X = X
        self.y = y
        self.n_jobs = n_threads(n_jobs)
        self.gram = Gram.of_points(X, memory_budget=memory_budget, threads=self.n_jobs, unit=unit_of(X))

    def fit(self, models: list, *, count_errors: bool = True, callback: Callback = None) -> list:
        """Fit all models, each as its own `fit` would.

        They need one max_iter, stop_if_separated=False and kernels of inner products.
        """
        for model in models:
            if not (isinstance(model, Decoder) and model._shares):
                got = type(model).__name__
                raise ValueError(f"models must be OneVsAllKernelPerceptrons or Rommas, got {got}; fit it by itself")
        stopping = any(getattr(model, "stop_if_separated", False) for model in models)
        if len({model.max_iter for model in models}) > 1 or stopping:
            epochs = [model.max_iter for model in models]
            raise ValueError(
                f"models must have the same max_iter, got {shown(np.array(epochs))}, and stop_if_separated=False"
            )
        for model in models:
            if callable(model.kernel) or model.kernel == "precomputed":
                raise ValueError(f"models must have named kernels, got {shown(model.kernel)}; fit this one by itself")
        options: dict[str, Any] = {"threads": self.n_jobs, "count_errors": count_errors, "callback": callback}
        with contextlib.ExitStack() as whole:
            for model in models:
                whole.enter_context(model._whole())
                X, y, classes = model._validate(self.X, self.y)
                if not isinstance(model._kernel, Kernel):
                    remedy = f"got {shown(model.kernel)}; fit this one by itself"
                    raise ValueError(f"models must have kernels of inner products, which they share, {remedy}")
            for primal in (True, False):  # weight vectors do not wait for kernel rows
                group = [each for each in models if (each._kernel.affine and not each._rule().relaxes) == primal]
                if group:
                    signs = [model._signs(y) for model in group]
                    m, n = signs[0].shape
                    each = zip(*(model._visiting_orders(m, n) for model in group), strict=True)
                    orders = (np.concatenate([np.broadcast_to(order, (m, n)) for order in epoch]) for epoch in each)
                    each_kernel = [model._kernel for model in group for _ in range(m)]
                    options["rule"] = [model._rule() for model in group for _ in range(m)]
                    logs = find_mistakes(
                        self.gram, each_kernel, np.concatenate(signs), orders, models[0].max_iter, **options
                    )
                    for i, model in enumerate(group):
                        model._store(X, classes, logs[i * m : (i + 1) * m])
        return models

    def staged_outputs(self, models: list, X: Data | None = None, *, callback: Callback = None) -> Iterator[tuple]:
        """Yield (slice of the points, [{predictor: outputs (E, m, c)} of each model]) block by block.

        The points are X, or the training set.
        """
        for model in models:
            check_is_fitted(model)
            if not isinstance(model, OneVsAllKernelPerceptron):
                got = type(model).__name__
                raise ValueError(f"staged outputs are those of OneVsAllKernelPerceptrons, got {got}; use its staged_predict")
            if model.predictor not in WALKED:
                walked = f"staged outputs are those of {', '.join(WALKED)}, got a model with predictor={model.predictor!r}"
                raise ValueError(f"{walked}; use its staged_decision_function")
        if not models:
            return
        if len({model.n_iter_ for model in models}) > 1:
            raise ValueError("models must have run equally many epochs; fit them with stop_if_separated=False")
        epochs = range(1, models[0].n_iter_ + 1)
        m = len(models[0].mistakes_)
        logs = [log for model in models for log in model.mistakes_]
        fitted = [model._kernel for model in models]
        errors = [np.zeros(len(log), dtype=np.int64) if log.errors is None else None for log in logs]
        if X is None:
            index = np.searchsorted(models[0].classes_, self.y)
            signs = np.concatenate([model._signs(index) for model in models])
            columns: CrossGram = self.gram
            counting: dict[str, Any] = {"signs": signs, "errors": errors}
        else:
            check_unmasked("X", X)
            points = Points.per(self.gram.points.per_unit, X)
            columns = CrossGram(Products(self.gram.points, points, threads=self.n_jobs))
            counting = {}
        own = [slice(i, i + m) for i in range(0, len(logs), m)]
        names = [[name for name in WALKED if not BY_NAME[name].needs_errors or errors[cut][0] is None] for cut in own]
        each = [kernel for kernel in fitted for _ in range(m)]
        for part, f in replay(logs, each, columns, epochs=epochs, threads=self.n_jobs, callback=callback, **counting):
            yield part, [{name: f[name][:, cut] for name in there} for cut, there in zip(own, names, strict=True)]
        for model, kernel, cut in zip(models, fitted, own, strict=True):
            if X is None and errors[cut][0] is not None:
                model.mistakes_ = [log.with_errors(e) for log, e in zip(logs[cut], errors[cut], strict=True)]
                for part, f in primal_scores(model.mistakes_, kernel, self.gram, "minimizing", epochs):
                    yield part, [{"minimizing": f} if other is model else {} for other in models]
