"""Binary kernel perceptrons for the outputs of a code: what all codes share, and the estimator of any code.

Source: the course page "Perceptron", eqs 40 to 44.

Symbols: n examples, d features, C classes, m outputs, S support examples, z = +-1 signs (m, n), f (m, n) outputs.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if

from kp.codes import Decoder, code_matrix

from kp.estimator import (  # isort: skip
    ANY_KERNEL, FLAG, KERNEL_PARAMETERS, MACHINE_PARAMETERS, KernelPerceptron, check_unweighted, one_of,
)  # fmt: skip
from kp.hints import Array, Code, Data, Epoch, Gamma, KernelChoice, Seed
from kp.mistakes import BY_NAME, PREDICTORS, SAME_FIT, MistakeLog
from kp.perceptron import PERCEPTRON, PRESENTATIONS, find_mistakes, presentations
from kp.predictors import Expansion, replay, signed_sums
from kp.stream import Stream


def _has_points(estimator):
    if getattr(estimator, "_form", estimator.kernel) == "precomputed":
        raise AttributeError("partial_fit needs the points themselves, got kernel='precomputed'; use fit or another kernel")
    return True


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
        return max(log.ends[-1] for log in self.mistakes_)

    @available_if(_has_points)
    def partial_fit(self, X: Data, y: ArrayLike, classes: ArrayLike | None = None, **unsupported: Any) -> Self:
        """Learn from the next part of a stream X (n, d), y (n,), in one pass; the first call has all classes."""
        check_unweighted(unsupported)
        stream = vars(self).pop("_stream", None)  # type: ignore[attr-defined]  # after an error it is made again, from what is stored
        with self._whole():
            X, y, classes = self._validate_part(X, y, classes)
            first = not hasattr(self, "mistakes_")
            n = len(y)
            self.classes_ = classes
            if first:
                self.code_ = self._code(len(classes))
            if not self._visits_all:
                raise ValueError("code must contain +1 and -1 for partial_fit, got zeros; use fit")
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
            self._made = {}
            self.mistakes_ = logs
            self.n_iter_ = logs[0].n_epochs
            self.n_seen_ = seen + n
            self.support_ = held
            self.support_vectors_ = stream.vectors.array
            vars(self).pop("converged_", None)  # type: ignore[attr-defined]  # that of an earlier fit
        self._stream = stream
        return self

    def outputs(self, X: Data, *, predictor: str | None = None, epoch: Epoch = None) -> Array:
        """Compute the outputs f (n, m) of the perceptrons, by a predictor at an epoch."""
        X = self._checked(X)
        predictor, epoch = chosen = self._chosen(predictor, epoch)
        columns = self._columns(X, self._steps())
        if BY_NAME[predictor].weights is None:
            walk = replay(self._logs(), self._kernel, columns, epochs=(epoch,))
            return np.concatenate([f[predictor][0].copy() for _, f in walk], axis=1).T
        summed = self._once("sum", chosen, lambda: Expansion.of(self._logs(), *chosen))
        return summed.scores(self._kernel, columns).T

    @property
    def dual_coef_(self) -> Array:
        """Coefficients (m, S) of the support examples, for the estimator's predictor and epoch."""
        chosen = self._weighted()
        return signed_sums(self._logs(), len(self.support_), *chosen)

    def _blocks(self, X, predictors):
        """Yield, block by block of X, {predictor: scores after each epoch}, from one walk along the logs."""
        # They are those of decision_function: bit by bit where sums of kernel values are exact, as on integers, otherwise
        # except for rounding.
        logs = self._logs()
        epochs = range(1, self.n_iter_ + 1)
        for name in predictors:
            if BY_NAME[name].needs_errors:
                for log in logs:
                    log.weights(name)  # raises ValueError where training errors were not counted
        columns = self._columns(X, self._steps())
        others = {
            name: np.stack([Expansion.of(logs, name, epoch).scores(self._kernel, columns) for epoch in epochs])
            for name in predictors if name not in PREDICTORS
        }  # fmt: skip
        for part, f in replay(logs, self._kernel, columns, epochs=epochs):
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
    one-hot codes, except that each class has its own order.

    Parameters
    ----------
    kernel : {"poly", "linear", "rbf", "laplacian", "precomputed"} or callable, default="poly"
        As in `OneVsAllKernelPerceptron`.
    code : {"one-hot", "binary", "one-vs-one"} or array-like of shape (C, m), default="one-hot"
        "one-hot" has m = C outputs, "binary" has m = ceil(log2 C), "one-vs-one" has C (C - 1) / 2, one
        for each pair of classes. A matrix has a row for each of the sorted labels and holds +1, -1, and
        0 where an output is not trained on a class (Allwein, Schapire and Singer 2000). With zeros the
        class of most votes wins, ties go to the first class, each output counts its own visits as
        steps, and examples cannot be drawn with replacement.
    degree : int, default=3
        As in `OneVsAllKernelPerceptron`.
    gamma : {"scale", "auto"} or float, default="scale"
        As in `OneVsAllKernelPerceptron`.
    coef0 : float, default=1.0
        As in `OneVsAllKernelPerceptron`.
    max_iter : int, default=10
        Largest number of epochs, of n presentations each.
    presentation : {"shuffled", "ordered", "replacement"}, default="shuffled"
        "shuffled" visits all examples in a new random order, "ordered" visits them as given,
        "replacement" draws each from all n.
    predictor : {"final", "average", "minimizing", "voted"}, default="final"
        As in `OneVsAllKernelPerceptron`; the source predicts with the last coefficients.
    epoch : int or None, default=None
        As in `OneVsAllKernelPerceptron`.
    stop_if_consistent : bool, default=True
        Stop after the first epoch at whose end every output is right on every training example.
    random_state : int, RandomState or None, default=None
        Seed or generator of the presentations.
    memory_budget : int, default=2**30
        As in `OneVsAllKernelPerceptron`.
    n_jobs : int or None, default=None
        As in `OneVsAllKernelPerceptron`.
    verbose : int, default=0
        As in `OneVsAllKernelPerceptron`.

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
    kp.DeltaRulePerceptron : Linear outputs of a code, learned by the delta rule.

    References
    ----------
    - Course page "Perceptron": notes of a course on machine learning.
    - Allwein, Schapire and Singer (2000). Reducing multiclass to binary: a unifying approach for margin
      classifiers. Journal of Machine Learning Research 1.

    Examples
    --------
    With a picture, in notebooks/gallery.ipynb: "Which classes are confused, with a perceptron for each pair".

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
        self, kernel: KernelChoice = "poly", *, code: Code = "one-hot", degree: int = 3, gamma: Gamma = "scale",
        coef0: float = 1.0, max_iter: int = 10, presentation: str = "shuffled", predictor: str = "final",
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
