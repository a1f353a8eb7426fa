"""The relaxed online maximum margin algorithm, ROMMA, with kernels.

Source: Li & Long, The relaxed online maximum margin algorithm, NIPS 12, 1999 (journal: Machine Learning 46, 2002).

On a mistake the new w is the shortest of all that classify the example with margin 1 and lie beyond the old one,

    w' = argmin |u|^2 with y u . x >= 1 and w . u >= |w|^2, which is w' = c w + d x with            (Li & Long, eqs 3 to 5)
    c = (|x|^2 |w|^2 - y w.x) / (|x|^2 |w|^2 - (w.x)^2),  d = |w|^2 (y - w.x) / (|x|^2 |w|^2 - (w.x)^2),
    or w' = y x / |x|^2 where that is beyond the old one: y w.x >= |x|^2 |w|^2, as it is for w = 0
The aggressive form does so wherever y w.x < 1. Noise control adds lambda to k(x_i, x_i) of each training example, as if each
had its own coordinate: k(x_i, x_j) + lambda [i = j]. The loop is `kp.perceptron.find_mistakes`, with this rule.

Symbols: n examples, m learners, z = y = +-1 signs (m, n), f = w.x scores (m, n), x and w in the space of the kernel. A
score of 0 is a mistake."""

from __future__ import annotations

import numpy as np

from kp.estimator import (  # isort: skip
    COUNT, FLAG, KERNEL_PARAMETERS, LEARNING_PARAMETERS, MACHINE_PARAMETERS, NOT_NEGATIVE, SHUFFLE, one_of, or_none,
)  # fmt: skip
from kp.codes import Decoder
from kp.hints import Array, Data, Epoch, Gamma, KernelChoice, Seed
from kp.mistakes import SAME_FIT, UpdateLog
from kp.perceptron import Rule, find_mistakes
from kp.predictors import expansion
from kp.wording import shown


class Romma(Decoder):
    """The relaxed online maximum margin algorithm, ROMMA, one learner for each class.

    On a mistake the weights become the shortest that classify the example with margin 1 and lie
    beyond the old ones (Li and Long 1999, eqs 3 to 5):

        w' = argmin |u|^2   with  y u.x >= 1  and  w.u >= |w|^2

    There is one learner for two classes. The highest score wins, and ties go to the first class.
    With start="zero" a learner makes at most |u|^2 max |x|^2 mistakes, for every u that classifies
    all examples with margin 1 (their Theorem).

    Parameters
    ----------
    kernel : {"poly", "linear", "rbf", "laplacian"} or callable, default="poly"
        As in `OneVsAllKernelPerceptron`, without "precomputed".
    aggressive : bool, default=False
        Update also where the margin y w.x is below 1.
    noise_control : float, default=0.0
        Constant added to k(x, x) of each training example, as if each had its own
        coordinate: all are then separable.
    start : {"origin", "zero"}, default="origin"
        Begin with w = phi(0), as the source's experiments do, so that scores begin as k(0, x), or
        with w = 0.
    degree : int, default=3
        As in `OneVsAllKernelPerceptron`.
    gamma : {"scale", "auto"} or float, default="scale"
        As in `OneVsAllKernelPerceptron`.
    coef0 : float, default=1.0
        As in `OneVsAllKernelPerceptron`.
    max_iter : int, default=1
        Number of epochs.
    epoch : int or None, default=None
        Epoch, counted from 1, after which `predict` takes the weights by default. None is the last
        epoch. It may be set after `fit`.
    shuffle : {True, "once", False}, default=True
        As in `OneVsAllKernelPerceptron`.
    orders : {"separate", "shared"}, default="separate"
        Draw an order for each class in turn, or one order for all classes.
    random_state : int, RandomState or None, default=None
        As in `OneVsAllKernelPerceptron`.
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
        The code matrix: one-hot, or one column for two classes.
    mistakes_ : list of UpdateLog
        Updates of each of the m learners: one for each class, or one for two classes.
    support_ : ndarray of shape (S,)
        Numbers of the examples of all updates.
    support_vectors_ : ndarray of shape (S, d)
        Those examples, sparse for sparse X.
    dual_coef_ : ndarray of shape (m, S)
        Factors a of f(x) = origin_coef_ k(0, x) + dual_coef_ @ k(support_vectors_, x).
    origin_coef_ : ndarray of shape (m,)
        Factors b of k(0, x); 0 for start="zero".
    gamma_ : float
        The factor gamma of the kernel; absent for callables.
    n_iter_ : int
        Number of epochs that were run.
    n_seen_ : int
        Number of examples seen.

    See Also
    --------
    kp.OneVsAllKernelPerceptron : The perceptron, which adds examples and shrinks nothing.
    kp.Norma : Learns from small margins and lets old examples fade.

    References
    ----------
    - Li and Long (1999). The relaxed online maximum margin algorithm. Advances in Neural Information
      Processing Systems 12. Journal version: https://doi.org/10.1023/A:1012435301888

    Examples
    --------
    >>> from kp import Romma
    >>> X, y = [[0, 1, 1], [1, 0, 1], [2, 2, 1], [3, 1, 1]], ["a", "a", "b", "b"]
    >>> model = Romma("linear", start="zero", shuffle=False, max_iter=3).fit(X, y)
    >>> model.predict([[0, 0, 1], [4, 4, 1]]).tolist(), model.mistakes_[0].n_mistakes()
    (['a', 'b'], 4)
    """

    predictor = "final"
    _predictors = ("final",)
    _takes_sparse = True
    _parameters = {
        **LEARNING_PARAMETERS, **KERNEL_PARAMETERS, **MACHINE_PARAMETERS, "epoch": or_none(COUNT), "aggressive": FLAG,
        "noise_control": NOT_NEGATIVE, "start": one_of("origin", "zero"), "shuffle": SHUFFLE,
        "orders": one_of("separate", "shared"),
    }  # fmt: skip

    def __init__(
        self, kernel: KernelChoice = "poly", *, aggressive: bool = False, noise_control: float = 0.0, start: str = "origin",
        degree: int = 3, gamma: Gamma = "scale", coef0: float = 1.0, max_iter: int = 1, epoch: Epoch = None,
        shuffle: bool | str = True, orders: str = "separate", random_state: Seed = None, memory_budget: int = 2**30,
        n_jobs: int | None = None, verbose: int = 0,
    ) -> None:  # fmt: skip
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.aggressive = aggressive
        self.noise_control = noise_control
        self.start = start
        self.max_iter = max_iter
        self.epoch = epoch
        self.shuffle = shuffle
        self.orders = orders
        self.random_state = random_state
        self.memory_budget = memory_budget
        self.n_jobs = n_jobs
        self.verbose = verbose

    def outputs(self, X: Data, *, predictor: str | None = None, epoch: Epoch = None) -> Array:
        """Outputs of the learners, before classes are chosen."""
        X = self._checked(X)
        (_, epoch) = self._chosen(predictor, epoch)
        return self._scores(X, [epoch])[0].T

    @property
    def dual_coef_(self) -> Array:
        """Factors of the support vectors, of shape (m, S)."""
        return self._coefficients(self._weighted()[1])[1]

    @property
    def origin_coef_(self) -> Array:
        """Factors of k(0, x), of shape (m,); 0 for start="zero"."""
        return self._coefficients(self._weighted()[1])[0]

    def _learn(self, X, y, classes):
        signs = self._signs(y)
        orders = self._watched(self._visiting_orders(*signs.shape))
        logs = find_mistakes(
            self._gram(X), self._kernel, signs, orders, self.max_iter, rule=self._rule(), threads=self._n_threads()
        )
        self._store(X, classes, logs)

    def _rule(self):
        return Rule(
            relaxes=True, below=1.0 if self.aggressive else 0.0, noise=float(self.noise_control),
            from_origin=self.start == "origin",
        )  # fmt: skip

    def _store(self, X, classes, logs):
        self.n_seen_ = X.shape[0]
        self._from_origin = self.start == "origin"
        super()._store(X, classes, logs)

    def _check_mistakes(self, mistakes, y, classes):
        signs = self._signs(y)
        self._check_logs(mistakes, UpdateLog, len(signs), len(y))
        for log, row in zip(mistakes, signs, strict=True):
            if np.any(log.weight * row[log.example] < 0):  # an update moves w towards the example, or not at all
                raise ValueError(f"the weights of a log must have the signs of the labels y, got others; {SAME_FIT}")

    def _chosen(self, predictor=None, epoch=None):
        if predictor not in (None, "final"):
            raise ValueError(f"predictor must be final, the only one of {type(self).__name__}, got {shown(predictor)}")
        return super()._chosen(predictor, epoch)

    def _coefficients(self, epoch):
        """(b (m,), a (m, S)) after an epoch."""
        found = [log.coefficients(epoch, n=len(self.support_)) for log in self._logs()]
        b = np.array([each for each, _ in found])
        return b if self._from_origin else np.zeros(len(b)), np.stack([a for _, a in found])

    def _all_coefficients(self, epochs):
        return [np.concatenate(each) for each in zip(*map(self._coefficients, epochs), strict=True)]

    def _scores(self, X, epochs):
        """f (E, m, n) of a checked X (n, d) after each of E epochs."""
        columns = self._columns(X, self.mistakes_[0].steps())
        b, a = self._once("coefficients", tuple(epochs), lambda: self._all_coefficients(epochs))
        f = expansion(a, np.arange(len(self.support_)), self._kernel, columns)
        f += b[:, None] * columns.source.from_origin(self._kernel)[1]
        return f.reshape(len(epochs), len(self.mistakes_), -1)

    def _blocks(self, X, predictors):
        """Yield {"final": scores after each epoch} of all of X: those of `decision_function`, bit by bit."""
        for name in predictors:
            self._chosen(name)
        yield {"final": [self._decision(f) for f in self._scores(X, range(1, self.n_iter_ + 1))]}
