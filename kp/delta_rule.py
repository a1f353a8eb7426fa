"""The perceptron with m outputs learned by the delta rule, as a scikit-learn estimator.

Source: the course page "Perceptron", eq. 32 and its first listing. An example x is presented; each output i answers
yhat_i = sgn(w_i . x), and is moved by the error delta_i = y_i - yhat_i of its answer:

    w_i  <-  w_i + eta delta_i x                                                                          (eq. 32)

Examples are augmented by x_0 = 1, so that w_i0 is the bias. Three things that the page does not say:

- With y = +-1 the error is +-2, not 1 as in its cases 2 and 3; eq. 38 drops the 2, which is eta = 1/2. If weights begin
  at random, eta decides how much these matter.
- sgn(0) = 0 is neither label: delta is y then, and the step half as long (in the kernel listing it is a whole one).
- Its test counts an example as wrong if any of its outputs is, even if decoding would find the right class.

Symbols: n examples, d features, C classes, m outputs, M modifications, T steps; X (n, d + 1) augmented examples, code (C, m)
and y (m, n) of +-1, W (m, d + 1) weights, delta (M, m).
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from kp.codes import Decoder, code_matrix
from kp.compiled import compiled
from kp.estimator import COUNT, FLAG, NOT_NEGATIVE, POSITIVE, KernelPerceptron, one_of, or_none
from kp.gram import Arithmetic, dot
from kp.hints import Array, Code, Data, Epoch, Seed
from kp.joint import product
from kp.kernels import check_range, polynomial
from kp.mistakes import BY_NAME, Log
from kp.perceptron import PRESENTATIONS, presentations, run_epochs

_EPOCHS = 1000  # at most, where no number is given


@dataclass(frozen=True, kw_only=True)
class DeltaLog(Log):
    """Presentations that modified a weight vector, in their order; training errors are examples wrong in any output."""

    delta: np.ndarray

    def modified(self) -> Array:
        """Count the outputs that each modification moved."""
        return np.count_nonzero(self.delta, axis=1)


class DeltaRulePerceptron(Decoder):
    """Linear perceptron with an output for each column of a code, learned by the delta rule.

    Output i of an example x, augmented by x_0 = 1, moves by the error of its answer (course page
    "Perceptron", eq. 32):

        w_i <- w_i + eta0 (y_i - sgn(w_i . x)) x

    The class whose code agrees best with the outputs wins, as in `kp.OutputCodeKernelPerceptron`. The
    defaults are the first listing of the course page.

    Parameters
    ----------
    code : {"one-hot", "binary"} or array-like of shape (C, m), default="one-hot"
        "one-hot" has m = C outputs, "binary" has m = ceil(log2 C). A matrix holds +1 and -1, with
        a row for each of the sorted labels.
    eta0 : float, default=1.0
        Learning rate eta, positive, the same at all steps.
    initial_scale : float, default=1.0
        Initial weights are uniform in [-initial_scale, initial_scale]; 0 begins with zeros.
    max_iter : int or None, default=None
        Largest number of epochs, of n presentations each. The listing's 10^4 presentations are
        10^4 / n epochs. None is 1,000, with a ConvergenceWarning if they do not suffice.
    presentation : {"replacement", "shuffled", "ordered"}, default="replacement"
        As in `OutputCodeKernelPerceptron`.
    predictor : {"final", "average", "minimizing", "voted"}, default="final"
        As in `OneVsAllKernelPerceptron`; the source predicts with the last weights.
    epoch : int or None, default=None
        As in `OneVsAllKernelPerceptron`.
    stop_if_consistent : bool, default=True
        As in `OutputCodeKernelPerceptron`.
    random_state : int, RandomState or None, default=None
        Seed or generator of the initial weights and the presentations.
    verbose : int, default=0
        As in `OneVsAllKernelPerceptron`.

    Attributes
    ----------
    classes_ : ndarray of shape (C,)
        Class labels, sorted.
    code_ : ndarray of shape (C, m)
        The code matrix.
    initial_weights_ : ndarray of shape (m, d + 1)
        Weights before the first presentation, the bias first.
    mistakes_ : list of DeltaLog
        One log: the presentations that modified a weight vector.
    support_ : ndarray of shape (S,)
        Numbers of the examples that modified a weight vector.
    support_vectors_ : ndarray of shape (S, d)
        Those examples.
    coef_ : ndarray of shape (m, d)
        Weights of the estimator's predictor and epoch. The voted predictor has none.
    intercept_ : ndarray of shape (m,)
        Biases, for the same. The voted predictor has none.
    gamma_ : float
        Always 1, as the kernel is x.y.
    n_iter_ : int
        Number of epochs that were run.
    converged_ : bool
        True if `fit` ended without a training error in any output.

    See Also
    --------
    kp.OutputCodeKernelPerceptron : Kernel perceptrons for the outputs of a code.
    kp.MulticlassPerceptron : Linear perceptron of all classes at once.

    References
    ----------
    - Course page "Perceptron": notes of a course on machine learning.

    Examples
    --------
    >>> from kp import DeltaRulePerceptron
    >>> X, y = [[0.0], [1.0], [4.0], [5.0]], ["low", "low", "high", "high"]
    >>> model = DeltaRulePerceptron(code="binary", random_state=0).fit(X, y)
    >>> model.converged_
    True
    >>> model.predict([[-1.0], [6.0]]).tolist()
    ['low', 'high']
    """

    kernel = "linear"
    _parameters = {
        **KernelPerceptron._parameters, "max_iter": or_none(COUNT), "eta0": POSITIVE, "initial_scale": NOT_NEGATIVE,
        "presentation": one_of(*PRESENTATIONS), "stop_if_consistent": FLAG,
    }  # fmt: skip

    def __init__(
        self, *, code: Code = "one-hot", eta0: float = 1.0, initial_scale: float = 1.0, max_iter: int | None = None,
        presentation: str = "replacement", predictor: str = "final", epoch: Epoch = None,
        stop_if_consistent: bool = True, random_state: Seed = None, verbose: int = 0,
    ) -> None:  # fmt: skip
        self.code = code
        self.eta0 = eta0
        self.initial_scale = initial_scale
        self.max_iter = max_iter
        self.presentation = presentation
        self.predictor = predictor
        self.epoch = epoch
        self.stop_if_consistent = stop_if_consistent
        self.random_state = random_state
        self.verbose = verbose

    def _learn(self, X, y, classes):
        x = _augmented(X)
        signs = self._signs(y).astype(np.float64)
        random = check_random_state(self.random_state)
        size = polynomial(1, gamma=2 * float(self.eta0) + x.shape[1] * float(self.initial_scale))  # of a step and the start
        epochs = int(self._most_epochs())
        check_range(size, float(np.square(x).sum(axis=1).max()), len(y) * epochs)
        W = float(self.initial_scale) * (2 * random.random_sample((len(signs), x.shape[1])) - 1)
        initial = W.copy()
        errors = signs - np.sign(product(W, x, threads=1))

        def epoch(order, start):
            place, delta, wrong = _present(x, signs, order[0], float(self.eta0), W, errors)
            return [[(order[0][place], start[0] + place, delta, wrong)]]

        orders = self._watched(presentations(len(y), epochs, self.presentation, random_state=random))
        ((example, step, delta, wrong),), (ends,) = run_epochs(
            epoch, orders, stop=lambda made: self.stop_if_consistent and not errors.any()
        )
        self.initial_weights_ = initial
        self.converged_ = not errors.any()
        self._eta = float(self.eta0)
        log = DeltaLog(example=example, step=step, delta=delta, errors=wrong, ends=ends)
        self._store(X, classes, [log])

    def _most_epochs(self):
        return _EPOCHS if self.max_iter is None else self.max_iter

    def _code(self, n_classes):
        code = code_matrix(self.code, n_classes)
        if not code.all():
            raise ValueError("code must contain +1 and -1 for the delta rule, got zeros; use OutputCodeKernelPerceptron")
        return code

    def _warn(self, X):
        """Warn where the default number of epochs did not suffice."""
        if self.max_iter is None and self.stop_if_consistent and not self.converged_:
            warnings.warn(
                f"after {self.n_iter_} epochs outputs are still wrong on training examples; set max_iter: more epochs, or "
                "fewer if no weights classify all examples correctly",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _check_mistakes(self, mistakes, y, classes):
        raise TypeError("logs of the delta rule lack the initial weights, so no model can be built from them; use fit")

    @property
    def coef_(self) -> Array:
        """Weights (m, d), for the estimator's predictor and epoch."""
        return self.weights(*self._weighted())[:, 1:]

    @property
    def intercept_(self) -> Array:
        """Biases (m,), for the estimator's predictor and epoch."""
        return self.weights(*self._weighted())[:, 0]

    def weights(self, predictor: str = "final", epoch: Epoch = None) -> Array:
        """Compute the weights (m, d + 1) of a predictor at the end of an epoch, the bias first."""
        check_is_fitted(self)
        (log,) = self.mistakes_
        W = self.initial_weights_.copy()
        if log.length(epoch):
            sizes = self._eta * log.weights(predictor, epoch)
            sizes = BY_NAME[predictor].divided(sizes, log, epoch)
            for size, delta, x in zip(sizes, log.delta, self._modifying(), strict=False):
                W += np.outer(size * delta, x)
        return W

    def weights_history(self) -> Array:
        """Compute the weights before the first and after each modification: (M + 1, m, d + 1)."""
        check_is_fitted(self)
        moves = self._eta * self.mistakes_[0].delta[:, :, None] * self._modifying()[:, None, :]
        return np.cumsum(np.concatenate([self.initial_weights_[None], moves]), axis=0)

    def outputs(self, X: Data, *, predictor: str | None = None, epoch: Epoch = None) -> Array:
        """Compute the outputs f (n, m), by a predictor at an epoch."""
        x = _augmented(self._checked(X))
        (predictor, epoch) = self._chosen(predictor, epoch)
        if BY_NAME[predictor].weights:
            return product(self.weights(predictor, epoch), x, threads=1).T
        (log,) = self.mistakes_
        made = log.length(epoch)
        votes = 0
        stood = np.diff(log.step[:made], prepend=0, append=log.steps(epoch))
        for W, steps in zip(self.weights_history(), stood, strict=False):
            votes += steps * np.sign(product(W, x, threads=1))
        return votes.T / log.steps(epoch)  # type: ignore[union-attr]

    def _blocks(self, X, predictors):
        epochs = range(1, self.n_iter_ + 1)
        yield {name: [self.decision_function(X, predictor=name, epoch=epoch) for epoch in epochs] for name in predictors}

    def _modifying(self):
        """The augmented examples (M, d + 1) of the log."""
        return _augmented(self.support_vectors_)[self._logs()[0].example]


def _augmented(X):
    return np.ascontiguousarray(np.column_stack([np.ones(len(X)), np.asarray(X, dtype=np.float64)]))


@compiled
def _present(X, y, order, eta, W, errors):
    """Present the examples in order; W and the errors (m, n) of all examples move. What modified a weight vector."""
    m, n = errors.shape
    places = np.empty(order.shape[0], dtype=np.int64)  # in the order
    wrong = np.zeros(order.shape[0], dtype=np.int64)  # examples wrong in any output afterwards
    deltas = np.zeros((order.shape[0], m), dtype=np.int8)
    count = 0
    for s in range(order.shape[0]):
        t = order[s]
        if not errors[:, t].any():
            continue
        for i in range(m):
            delta = errors[i, t]
            if delta == 0.0:
                continue
            deltas[count, i] = np.int8(delta)
            for k in range(W.shape[1]):
                W[i, k] += eta * delta * X[t, k]
            for u in range(n):
                errors[i, u] = y[i, u] - np.sign(dot(Arithmetic.ORDERED, W[i], X[u]))
        for u in range(n):
            wrong[count] += errors[:, u].any()
        places[count] = s
        count += 1
    return places[:count], deltas[:count], wrong[:count]
