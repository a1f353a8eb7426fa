"""The perceptron with m outputs learnt by the delta rule, as a scikit-learn estimator.

Source: the course page "Perceptron", eq. 32 and its first listing. An example x is presented; each output i answers
yhat_i = sgn(w_i . x), and is moved by the error delta_i = y_i - yhat_i of its answer:

    w_i  <-  w_i + eta delta_i x                                                                          (eq. 32)

Examples are augmented by x_0 = 1, so that w_i0 is the bias. Three things that the page does not say:
- With y = +-1 the error is +-2, not 1 as in its cases 2 and 3; eq. 38 drops the 2, which is eta = 1/2. Of random first
  weights eta says how much they weigh.
- sgn(0) = 0 is neither label: delta is y then, and the step half as long (in the kernel listing it is a whole one).
- Its test counts an example as wrong when any of its outputs is, also where decoding would find the right class.
Symbols: n examples, d features, C classes, m outputs, M modifications, T steps; X (n, d + 1) augmented examples, code (C, m)
and y (m, n) of +-1, W (m, d + 1) weights, delta (M, m)."""

from dataclasses import dataclass

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from kp.compiled import compiled
from kp.estimator import FLAG, NOT_NEGATIVE, POSITIVE, KernelPerceptron, one_of
from kp.gram import ORDERED, dot
from kp.hints import Array, Code, Data, Epoch, Seed
from kp.kernels import check_range, polynomial
from kp.kesler import product
from kp.mistakes import Log
from kp.output_codes import PRESENTATIONS, Decoder, code_matrix, presentations


@dataclass(frozen=True, kw_only=True)
class DeltaLog(Log):
    """The presentations that modified a weight vector, each with the errors delta (M, m) of the outputs, 0 where right.
    Training errors are examples wrong in any output. The minimizing predictor is chosen among those after a modification."""

    delta: np.ndarray

    def modified(self) -> Array:
        """The number of outputs (M,) that each modification moved."""
        return np.count_nonzero(self.delta, axis=1)


class DeltaRulePerceptron(Decoder):
    """Linear perceptron with an output for each column of a code, by the delta rule; decoding as in `kp.output_codes`.
    The defaults are the first listing of the course page "Perceptron" (eq. 32).

    Parameters
    ----------
    eta : learning rate, > 0.
    initial_scale : initial weights are uniform in [-initial_scale, initial_scale]; 0 begins with zeros.
    max_iter : number of epochs, of n presentations each, at most; the listing's 10^4 presentations are 10^4 / n epochs.
    code, presentation, predictor, epoch, stop_if_consistent, random_state, verbose : as of `OutputCodeKernelPerceptron`.

    Attributes
    ----------
    initial_weights_ : (m, d + 1), the bias first.
    mistakes_ : the `DeltaLog`.
    support_, support_vectors_ : (S,) numbers of the examples that modified a weight vector, and (S, d) those examples.
    coef_, intercept_ : (m, d) weights and (m,) biases of the estimator's predictor at its epoch; the voted one has neither.
    classes_, code_, n_iter_, converged_ : as those of `OutputCodeKernelPerceptron`.

    Examples
    --------
    >>> X, y = [[0.0], [1.0], [4.0], [5.0]], ["low", "low", "high", "high"]
    >>> model = DeltaRulePerceptron(code="binary", random_state=0).fit(X, y)
    >>> model.converged_, model.predict([[-1.0], [6.0]]).tolist()
    (True, ['low', 'high'])"""

    kernel = "linear"
    _parameters = {
        **KernelPerceptron._parameters, "eta": POSITIVE, "initial_scale": NOT_NEGATIVE,
        "presentation": one_of(*PRESENTATIONS), "stop_if_consistent": FLAG,
    }  # fmt: skip

    def __init__(
        self, *, code: Code = "one-hot", eta: float = 1.0, initial_scale: float = 1.0, max_iter: int = 1000,
        presentation: str = "replacement", predictor: str = "final", epoch: Epoch = None,
        stop_if_consistent: bool = True, random_state: Seed = None, verbose: int = 0,
    ) -> None:  # fmt: skip
        self.code, self.eta, self.initial_scale, self.max_iter = code, eta, initial_scale, max_iter
        self.presentation, self.predictor, self.epoch = presentation, predictor, epoch
        self.stop_if_consistent, self.random_state, self.verbose = stop_if_consistent, random_state, verbose

    def _learn(self, X, y, classes):
        code = code_matrix(self.code, len(classes))
        x, signs, random = _augmented(X), code[y].T.astype(np.float64), check_random_state(self.random_state)
        size = polynomial(1, gamma=2 * float(self.eta) + x.shape[1] * float(self.initial_scale))  # of a step and the start
        check_range(size, [np.square(x).sum(axis=1).max()], len(y) * self.max_iter)
        W = float(self.initial_scale) * (2 * random.random_sample((len(signs), x.shape[1])) - 1)
        initial = W.copy()
        columns, ends, errors = [], [], signs - np.sign(product(W, x, threads=1))
        for order in self._watched(presentations(len(y), self.max_iter, self.presentation, random_state=random)):
            place, delta, wrong = _present(x, signs, order[0], float(self.eta), W, errors)
            columns.append((order[0][place], len(ends) * len(y) + place, delta, wrong))
            ends.append((len(ends) + 1) * len(y))
            if self.stop_if_consistent and not errors.any():
                break
        example, step, delta, wrong = map(np.concatenate, zip(*columns, strict=True))
        self.code_, self.initial_weights_, self.converged_, self._eta = code, initial, not errors.any(), float(self.eta)
        log = DeltaLog(example=example, step=step, delta=delta, errors=wrong, ends=np.array(ends))
        self._store(X, classes, log)

    def _check_mistakes(self, mistakes, y, classes):
        raise TypeError("a log does not hold the initial weights, so mistakes make no model of the delta rule; use fit")

    @property
    def coef_(self) -> Array:
        return self.weights(*self._weighted())[:, 1:]

    @property
    def intercept_(self) -> Array:
        return self.weights(*self._weighted())[:, 0]

    def weights(self, predictor: str = "final", epoch: Epoch = None) -> Array:
        """W (m, d + 1), the bias first, of the final, average or minimizing predictor at the end of an epoch (from 1)."""
        check_is_fitted(self)
        log, W = self.mistakes_, self.initial_weights_.copy()
        if log.length(epoch):
            sizes = self._eta * log.weights(predictor, epoch)
            sizes = sizes / log.steps(epoch) if predictor == "average" else sizes
            for size, delta, x in zip(sizes, log.delta, self._modifying(), strict=False):
                W += np.outer(size * delta, x)
        return W

    def weights_history(self) -> Array:
        """W (M + 1, m, d + 1): the initial weights and those after each modification of the log."""
        check_is_fitted(self)
        moves = self._eta * self.mistakes_.delta[:, :, None] * self._modifying()[:, None, :]
        return np.cumsum(np.concatenate([self.initial_weights_[None], moves]), axis=0)

    def outputs(self, X: Data, *, predictor: str | None = None, epoch: Epoch = None) -> Array:
        """The outputs f (n, m) on X (n, d); those of the voted predictor are its share of votes for +1 less that for -1."""
        x, (predictor, epoch) = _augmented(self._checked(X)), self._chosen(predictor, epoch)
        if predictor != "voted":
            return product(self.weights(predictor, epoch), x, threads=1).T
        log, made = self.mistakes_, self.mistakes_.length(epoch)
        votes, stood = 0, np.diff(log.step[:made], prepend=0, append=log.steps(epoch))
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
    return np.column_stack([np.ones(len(X)), np.asarray(X, dtype=np.float64)])


@compiled
def _present(X, y, order, eta, W, errors):
    """Present the examples in order; W and the errors (m, n) of all examples move. Places in the order at which a weight
    vector was modified, the delta of each output there, and the number of examples wrong in any output afterwards."""
    m, n = errors.shape
    places, wrong = np.empty(order.shape[0], dtype=np.int64), np.zeros(order.shape[0], dtype=np.int64)
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
                errors[i, u] = y[i, u] - np.sign(dot(ORDERED, W[i], X[u]))
        for u in range(n):
            wrong[count] += errors[:, u].any()
        places[count] = s
        count += 1
    return places[:count], deltas[:count], wrong[:count]
