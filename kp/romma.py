"""The relaxed online maximum margin algorithm, ROMMA, with kernels.

Source: Li & Long, The relaxed online maximum margin algorithm, NIPS 12, 1999 (journal: Machine Learning 46, 2002).

On a mistake the new w is the shortest of all that classify the example with margin 1 and lie beyond the old one,

    w' = argmin |u|^2 with y u . x >= 1 and w . u >= |w|^2, which is w' = c w + d x with            (Li & Long, eqs 3 to 5)
    c = (|x|^2 |w|^2 - y w.x) / (|x|^2 |w|^2 - (w.x)^2),  d = |w|^2 (y - w.x) / (|x|^2 |w|^2 - (w.x)^2),
    or w' = y x / |x|^2 where that is beyond the old one: y w.x >= |x|^2 |w|^2, as it is for w = 0
The aggressive form does so wherever y w.x < 1. Noise control adds lambda to k(x_i, x_i) of each training example, as if each
had its own coordinate: k(x_i, x_j) + lambda [i = j].
Symbols: n examples, m learners, z = y = +-1 signs (m, n), f = w.x scores (m, n), x and w in the space of the kernel. A
score of 0 is a mistake. No bit of a result depends on threads, stretches or budgets: each score is moved by the same updates
in the same order, f <- c f + d k(x_t, .)."""

from __future__ import annotations

import contextlib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from kp.compiled import compiled

from kp.estimator import (  # isort: skip
    COUNT, FLAG, KERNEL_PARAMETERS, LEARNING_PARAMETERS, MACHINE_PARAMETERS, NOT_NEGATIVE, SHUFFLE, n_threads, one_of,
    or_none,
)  # fmt: skip
from kp.gram import Arithmetic, Gram, dot
from kp.hints import Array, Callback, Data, Epoch, Gamma, Seed
from kp.kernels import Kernel, check_range, fill
from kp.mistakes import SAME_FIT, Log
from kp.output_codes import Decoder
from kp.perceptron import Rounds
from kp.predictors import TILE, expansion
from kp.wording import shown

LARGEST = 1e200  # of |w|^2
OPPOSITE = 1e-12  # of 1 - cos^2 between w and x: below it rounding says where they point


@dataclass(frozen=True, kw_only=True)
class UpdateLog(Log):
    """Updates w <- scale w + weight x of one learner, in the order in which they were made.

    Parameters
    ----------
    example : ndarray of shape (M,)
        Numbers of the training examples of the updates.
    step : ndarray of shape (M,)
        Steps at which they were made, counted from 0, in ascending order.
    errors : None
        Training errors, which are not counted.
    ends : ndarray of shape (E,)
        Number of steps made by the end of each epoch.
    scale : ndarray of shape (M,)
        Factor c of the old weights.
    weight : ndarray of shape (M,)
        Factor d of the example.
    wrong : ndarray of shape (M,)
        Whether the example was misclassified; otherwise it had a margin below 1.

    See Also
    --------
    kp.Romma : Its `mistakes_` are such logs.

    References
    ----------
    - Li and Long (1999). The relaxed online maximum margin algorithm. Advances in Neural Information
      Processing Systems 12. Journal version: https://doi.org/10.1023/A:1012435301888

    Examples
    --------
    >>> from kp import Romma
    >>> model = Romma("linear", start="zero", shuffle=False)
    >>> (log,) = model.fit([[0, 1], [2, 1]], ["a", "b"]).mistakes_
    >>> log.example.tolist(), log.scale.tolist(), log.weight.tolist()
    ([0, 1], [0.0, 1.5], [-1.0, 0.5])
    """

    scale: np.ndarray
    weight: np.ndarray
    wrong: np.ndarray

    def n_mistakes(self, epoch: Epoch = None) -> int:
        """Number of mistakes, without the updates for a small margin.

        Parameters
        ----------
        epoch : int or None, default=None
            Epoch, counted from 1, until whose end they count; None is the last.

        Returns
        -------
        int
            Their number.

        Raises
        ------
        ValueError
            If the epoch was not run.

        See Also
        --------
        kp.Romma : The aggressive form updates without mistakes, too.

        Examples
        --------
        >>> from kp import Romma
        >>> (log,) = Romma("linear", shuffle=False).fit([[0, 1], [2, 1]], ["a", "b"]).mistakes_
        >>> log.n_mistakes(), len(log)
        (2, 2)
        """
        return int(np.count_nonzero(self.wrong[: self.length(epoch)]))

    def coefficients(self, epoch: Epoch = None, *, n: int) -> tuple[float, Array]:
        """Coefficients of w = b w_1 + sum_i a_i x_i after an epoch, w_1 being the start.

        Parameters
        ----------
        epoch : int or None, default=None
            Epoch, counted from 1; None is the last.
        n : int
            Number of examples.

        Returns
        -------
        b : float
            Factor of the start.
        a : ndarray of shape (n,)
            Factors of the examples.

        Raises
        ------
        ValueError
            If the epoch was not run.

        See Also
        --------
        kp.Romma : Its `dual_coef_` and `origin_coef_` are these.

        Examples
        --------
        >>> from kp import Romma
        >>> (log,) = Romma("linear", start="zero", shuffle=False).fit([[0, 1], [2, 1]], ["a", "b"]).mistakes_
        >>> b, a = log.coefficients(n=2)
        >>> b, a.tolist()
        (0.0, [-1.5, 0.5])
        """
        size = self.length(epoch)
        a = np.zeros(n)
        later = np.append(np.cumprod(self.scale[:size][::-1])[::-1], 1.0)
        np.add.at(a, self.example[:size], self.weight[:size] * later[1:])
        return float(later[0]), a


def find_updates(
    gram, kernel, signs, orders, n_epochs, *, aggressive=False, noise=0.0, from_origin=True, threads=2, callback=None
):
    """Run m learners over the n training points of `gram`; one UpdateLog each.
    signs (m, n) of +-1. orders yields the visiting orders (m, n), or (1, n) shared by all, of n_epochs epochs. aggressive
    and noise (lambda) are of all, or (m,). from_origin starts at phi(0), else at 0. callback(visits) is called as the visits
    go on. Raises ValueError if values of the kernel or weights are too large."""
    signs = np.ascontiguousarray(signs, dtype=np.int8)
    check_range(gram.in_units(kernel), gram.norms, signs.shape[1] * int(n_epochs))
    with ThreadPoolExecutor(threads) as pool:
        run = _Relaxed(gram, kernel, signs, aggressive, noise, from_origin, pool)
        for epoch, order in enumerate(orders):
            run.epoch(np.broadcast_to(order, signs.shape), epoch * signs.shape[1], callback or (lambda visits: None))
            ends = (np.arange(epoch + 1) + 1) * signs.shape[1]
    logs = []
    for found in run.found:
        example, step, scale, weight, wrong = map(np.concatenate, zip(*found, strict=True))
        log = UpdateLog(example=example, step=step, scale=scale, weight=weight, wrong=wrong, errors=None, ends=ends)
        logs.append(log)
    return logs


class _Relaxed(Rounds):
    """Learners that relax; of each update also c, d, and whether it was a mistake."""

    def __init__(self, gram, kernel, signs, aggressive, noise, from_origin, pool):
        m = len(signs)
        self.kernel = gram.in_units(kernel)
        self.stored = gram.reading(kernel)
        self.below = np.where(np.broadcast_to(aggressive, m), 1.0, 0.0)  # mistakes, or margins below 1
        self.noise = np.broadcast_to(np.asarray(noise, dtype=np.float64), m)
        self.own = self.kernel.diagonal(gram.norms)
        start = of_origin(self.kernel, gram.norms) if from_origin else np.zeros(len(gram))
        self.squares = np.full(m, of_origin(self.kernel, np.zeros(1))[0] if from_origin else 0.0)  # |w|^2
        super().__init__(gram, signs, np.tile(start, (m, 1)), pool)

    def _visit(self, a, order, start, stop, quota):
        gram = self.gram
        stop, square, *of_updates = _visit_stretch(
            self.kernel, self.points, gram.norms, int(self.arithmetic), self.stored, gram.store, gram.slot, self.own,
            order, start, stop, quota, self.signs[a], self.scores[a], self.below[a], self.noise[a], self.squares[a],
        )  # fmt: skip
        if not square <= LARGEST:
            raise ValueError(
                f"|w|^2 must stay below {LARGEST:.0e}, got {square:.2g}: the examples are small, or no weight vector is "
                "right on all of them; scale the data up, or set noise_control to a positive number"
            )
        self.squares[a] = square
        return stop, *of_updates

    def _advance(self, a, examples, visit):
        gram = self.gram
        _, _, scale, weight, _ = visit
        rows = gram.slot[examples]
        _advance(self.stored, gram.store, gram.norms, rows, examples, scale, weight, self.noise[a], self.scores[a])
        return ()


def of_origin(kernel: Kernel, norms: Array) -> Array:
    """k(0, x) (n,) of points with these squared norms."""
    out = np.empty(len(norms))
    fill(kernel, np.zeros(len(norms)), 0.0, norms, out)
    return out


@compiled
def _update(f, z, own, square):
    """(c, d, |w'|^2) from f = w.x, the sign z, own = |x|^2 and square = |w|^2. Both constraints hold with equality at the
    new w', so |w'|^2 = c w'.w + d w'.x = c |w|^2 + d z. An example that has no length, or is opposite to w, moves nothing:
    no vector satisfies both."""
    if own <= 0.0:
        return 1.0, 0.0, square
    if z * f >= own * square:
        return 0.0, z / own, 1.0 / own
    gap = own * square - f * f
    if gap <= OPPOSITE * own * square:
        return 1.0, 0.0, square
    c = (own * square - z * f) / gap
    d = square * (z - f) / gap
    return c, d, c * square + d * z


@compiled
def _visit_stretch(
    kernel, X, norms, arithmetic, stored, store, slot, own, order, start, stop, quota, z, scores, below, noise, square
):
    """Visit order[start:stop] exactly, moving a copy of its scores only: where it stopped, |w|^2, and of the updates their
    positions, c, d and whether they were mistakes. It stops early after `quota` updates, or at one whose row is neither in
    the store nor can be made here. kernel makes its values of inner products, `stored` of what is in the store."""
    size = stop - start
    visit = order[start:stop]
    f = np.empty(size)
    of_visits = np.empty(size)
    for i in range(size):
        f[i] = scores[visit[i]]
        of_visits[i] = norms[visit[i]]
    inner = np.empty(size)
    values = np.empty(size)
    most = min(size, quota)
    where = np.empty(most, dtype=np.int64)
    wrong = np.empty(most, dtype=np.bool_)
    scale = np.empty(most)
    weight = np.empty(most)
    count = 0
    i = 0
    while i < size and count < quota:
        t = visit[i]
        margin = z[t] * f[i]
        if margin <= 0.0 or margin < below:
            c, d, square = _update(f[i], np.float64(z[t]), own[t] + noise, square)
            where[count] = start + i
            scale[count] = c
            weight[count] = d
            wrong[count] = margin <= 0.0
            count += 1
            row = slot[t]
            if (row < 0 and arithmetic >= Arithmetic.SPARSE) or not square <= LARGEST:
                i += 1
                break
            if count < quota and d != 0.0:
                for j in range(i + 1, size):
                    u = visit[j]
                    if row >= 0:
                        inner[j] = store[row, u]
                    else:
                        inner[j] = dot(arithmetic, X[t], X[u])
                fill(stored if row >= 0 else kernel, inner[i + 1 :], norms[t], of_visits[i + 1 :], values[i + 1 :])
                for j in range(i + 1, size):
                    f[j] = c * f[j] + d * values[j]
        i += 1
    return start + i, square, where[:count].copy(), scale[:count].copy(), weight[:count].copy(), wrong[:count].copy()


@compiled
def _advance(kernel, store, norms, rows, examples, scale, weight, noise, scores):
    """Move all scores by these updates, one after the other."""
    values = np.empty(TILE)
    for start in range(0, scores.shape[0], TILE):
        stop = min(start + TILE, scores.shape[0])
        f = scores[start:stop]
        k = values[: stop - start]
        for i in range(rows.shape[0]):
            c = scale[i]
            d = weight[i]
            if d == 0.0:
                continue
            fill(kernel, store[rows[i], start:stop], norms[examples[i]], norms[start:stop], k)
            for j in range(stop - start):
                f[j] = c * f[j] + d * k[j]
            if start <= examples[i] < stop:
                f[examples[i] - start] += d * noise


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
    kernel : {"poly", "linear", "rbf"}, default="poly"
        "poly" is (coef0 + gamma x.y)^degree, "linear" is x.y, "rbf" is exp(-gamma |x - y|^2).
    aggressive : bool, default=False
        Update also where the margin y w.x is below 1.
    noise_control : float, default=0.0
        Constant added to k(x, x) of each training example, as if each had its own
        coordinate: all are then separable.
    start : {"origin", "zero"}, default="origin"
        Begin with w = phi(0), as the source's experiments do, so that scores begin as k(0, x), or
        with w = 0.
    degree : int, default=3
        Degree of the polynomial kernel, at least 1.
    gamma : float, {"scale", "auto"} or None, default=None
        Positive factor. "scale" is 1 / (d Var X) and "auto" is 1 / d. None is "scale" for "rbf",
        and otherwise 1.
    coef0 : float, default=1.0
        Constant of the polynomial kernel.
    max_iter : int, default=1
        Number of epochs.
    epoch : int or None, default=None
        Epoch, counted from 1, after which `predict` takes the weights by default. None is the last
        epoch. It may be set after `fit`.
    shuffle : {True, "once", False}, default=True
        Visit the examples in a new random order in each epoch, in one that is drawn once and kept, or
        in the order given.
    orders : {"separate", "shared"}, default="separate"
        Draw an order for each class in turn, or one order for all classes.
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
        The factor gamma of the kernel.
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
        self, kernel: str = "poly", *, aggressive: bool = False, noise_control: float = 0.0, start: str = "origin",
        degree: int = 3, gamma: Gamma = None, coef0: float = 1.0, max_iter: int = 1, epoch: Epoch = None,
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
        """Outputs of the learners, before classes are chosen.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            Points.
        predictor : {"final"} or None, default=None
            The only predictor.
        epoch : int or None, default=None
            Epoch, counted from 1; None is that of the estimator.

        Returns
        -------
        ndarray of shape (n, m)
            Outputs f of the m learners.

        Raises
        ------
        ValueError
            If X does not fit the training data, the predictor is another one, or the epoch was not run.

        See Also
        --------
        kp.Romma.decision_function : Scores of the classes.

        Examples
        --------
        >>> from kp import Romma
        >>> model = Romma("linear", start="zero", shuffle=False).fit([[0, 1], [2, 1]], ["a", "b"])
        >>> model.outputs([[0, 1], [2, 1]]).tolist()
        [[-1.0], [1.0]]
        """
        X = self._checked(X)
        (_, epoch) = self._chosen(predictor, epoch)
        return self._scores(X, [epoch])[0].T

    @property
    def dual_coef_(self) -> Array:
        """Factors of the support vectors, of shape (m, S).

        See Also
        --------
        kp.UpdateLog.coefficients : The same of one learner.

        Examples
        --------
        >>> from kp import Romma
        >>> model = Romma("linear", start="zero", shuffle=False).fit([[0, 1], [2, 1]], ["a", "b"])
        >>> model.dual_coef_.tolist()
        [[-1.5, 0.5]]
        """
        return self._coefficients(self._weighted()[1])[1]

    @property
    def origin_coef_(self) -> Array:
        """Factors of k(0, x), of shape (m,); 0 for start="zero".

        See Also
        --------
        kp.UpdateLog.coefficients : The same of one learner.

        Examples
        --------
        >>> from kp import Romma
        >>> model = Romma("linear", start="zero", shuffle=False).fit([[0, 1], [2, 1]], ["a", "b"])
        >>> model.origin_coef_.tolist()
        [0.0]
        """
        return self._coefficients(self._weighted()[1])[0]

    def _learn(self, X, y, classes):
        logs = _learnt([self], self._gram(X), self._signs(y), self._watched, self._n_threads())
        self._store(X, classes, logs)

    def _store(self, X, classes, logs):
        self.n_seen_ = X.shape[0]
        self._from_origin = self.start == "origin"
        super()._store(X, classes, logs)

    def _check_mistakes(self, mistakes, y, classes):
        signs = self._signs(y)
        if not (isinstance(mistakes, list) and [type(log) for log in mistakes] == [UpdateLog] * len(signs)):
            raise ValueError(f"mistakes must be a list of {len(signs)} logs, one for each learner; {SAME_FIT}")
        for log, row in zip(mistakes, signs, strict=True):
            log.check(len(y))
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

    def _scores(self, X, epochs):
        """f (E, m, n) of a checked X (n, d) after each of E epochs."""
        columns = self._columns(X, self.mistakes_[0].steps())
        b, a = (np.concatenate(each) for each in zip(*map(self._coefficients, epochs), strict=True))
        f = expansion(a, np.arange(len(self.support_)), self._kernel, columns, threads=self._n_threads())
        f += b[:, None] * of_origin(columns.in_units(self._kernel), columns.norms)
        return f.reshape(len(epochs), len(self.mistakes_), -1)

    def _blocks(self, X, predictors):
        """Yield {"final": scores after each epoch} of all of X: those of `decision_function`, bit by bit."""
        for name in predictors:
            self._chosen(name)
        yield {"final": [self._decision(f) for f in self._scores(X, range(1, self.n_iter_ + 1))]}


def _learnt(models, gram, signs, watched, threads, callback=None):
    """The logs of all learners of the models, which have one kernel, start and max_iter; signs (m, n) of each."""
    m, n = signs.shape
    each = [model._visiting_orders(m, n) for model in models]
    orders = (np.concatenate([np.broadcast_to(order, (m, n)) for order in epoch]) for epoch in zip(*each, strict=True))
    first = models[0]
    return find_updates(
        gram, first._kernel, np.tile(signs, (len(models), 1)), watched(orders), first.max_iter,
        aggressive=np.repeat([model.aggressive for model in models], m),
        noise=np.repeat([float(model.noise_control) for model in models], m),
        from_origin=first.start == "origin", threads=threads, callback=callback,
    )  # fmt: skip


def fit_together(
    models: list[Romma], X: Data, y: ArrayLike, *, memory_budget: int = 2**30, n_jobs: int | None = None,
    callback: Callback = None,
) -> list[Romma]:  # fmt: skip
    """Fit models with the same kernel, start and max_iter, each as its own `fit` would; each inner product is made once for
    all. callback(visits) is called as the visits go on. Returns the models; ValueError if they differ in more."""
    with contextlib.ExitStack() as whole:
        for model in models:
            whole.enter_context(model._whole())
            points, index, classes = model._validate(X, y)
        if len({(model._kernel, model.start, model.max_iter) for model in models}) > 1:
            raise ValueError("models must have the same kernel, start and max_iter; fit the others by themselves")
        threads = n_threads(n_jobs)
        gram = Gram.of_points(points, memory_budget=memory_budget, threads=threads, unit=models[0]._unit)
        signs = models[0]._signs(index)
        logs = _learnt(models, gram, signs, iter, threads, callback)
        for i, model in enumerate(models):
            model._store(points, classes, logs[i * len(signs) : (i + 1) * len(signs)])
    return models
