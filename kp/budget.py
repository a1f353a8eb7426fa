"""Online kernel perceptrons on a budget: removal of the oldest or of a random example, the Forgetron, NORMA.

Sources: Dekel, Shalev-Shwartz & Singer, SIAM J. Comput. 37, 2008 (Forgetron); Cavallanti, Cesa-Bianchi & Gentile, Machine
Learning 69, 2007 (random removal); Kivinen, Smola & Williamson, IEEE Trans. Signal Processing 52, 2004 (NORMA).

A learner is f(x) = sum_i w_i k(x_i, x) over the examples i that it holds, w_i = sigma_i y_i; the classes have its rules.

Symbols: n examples, d features, m binary learners, y = +-1 signs (m, n), M mistakes, B budget. A score of 0 is a mistake.

Every score is summed again in the order of the examples held: no cut of a stream, thread or block size changes a bit.
"""

from __future__ import annotations

import copy
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from kp.compiled import compiled

from kp.estimator import (  # isort: skip
    COUNT, FINITE, FLAG, KERNEL_PARAMETERS, LEARNING_PARAMETERS, NOT_NEGATIVE, Classifier, check_unweighted, number,
    one_of, or_none,
)  # fmt: skip
from kp.gram import CrossGram, between, points_of
from kp.hints import Array, Data, Gamma, KernelChoice, Seed
from kp.kernels import Kernel, PointKernel, check_range
from kp.perceptron import visiting_orders
from kp.predictors import expansion
from kp.wording import shown

_OLDEST, _RANDOM, _BASIC, _SELF_TUNING, _NORMA = range(5)
_MISTAKES, _DAMAGE, _SHRINKING, _NORM, _INTERCEPT, _MARGIN = range(6)
_STRETCH = 512  # steps whose kernel values are made together
_REMOVED = 64  # examples that may be removed whose kernel values with all held ones are made together
_BLOCK_BYTES = 2**26  # fewer steps where their values would take more
_UNLIMITED = np.iinfo(np.int64).max


class _Rule(NamedTuple):
    """The rule of a learner, as the compiled loops read it: one of the five kinds and its numbers."""

    kind: int
    budget: int = _UNLIMITED  # B, or tau for NORMA
    step: float = 1.0  # eta
    decaying: bool = False  # eta / sqrt(t) instead of eta
    regularization: float = 0.0  # lambda
    margin: float = 0.0  # rho at the start
    nu: float = -1.0  # moves rho where it is not negative
    intercept: bool = False


class _OnlineLearners:
    """m binary online learners of one rule over one stream."""

    def __init__(self, rule: _Rule, kernel: Kernel | PointKernel, m: int, *, normalize: bool = False) -> None:
        self.rule = rule
        self.kernel = kernel
        self.normalize = normalize
        self.points = None  # (S, d), those that any learner holds
        self.seen = np.empty(0, dtype=np.int64)  # (S,) their numbers in the stream
        self.n_seen = self.n_steps = self.n_passes = 0  # examples, visits, passes
        # Of each learner the indices in `points` of its examples, their w_i, and for NORMA the steps at which they came: the
        # oldest first, but a random removal puts the new one where the old one was.
        self.rows = [np.empty(0, dtype=np.int64) for _ in range(m)]
        self.weights = [np.empty(0) for _ in range(m)]
        self.born = [np.empty(0, dtype=np.int64) for _ in range(m)]
        self.state = np.zeros((m, 6))  # M, Q, the sum of 1 - phi, |f|^2 (basic Forgetron only), b, rho
        self.state[:, _MARGIN] = rule.margin

    def learn(self, X, signs, orders, *, draws=None, watched=iter):
        """Learn X (n, d) with signs (m, n) in each visiting order (n,); scores (m, n) before each visit of the last."""
        held = len(self.seen)
        seen = np.concatenate([self.seen, self.n_seen + np.arange(len(X))])
        everything = np.concatenate([self.points, X]) if held else X
        P = points_of(self.kernel, everything)
        among = CrossGram(between(self.kernel, P, P))
        check_range(self.kernel, among.source.top, (self.n_steps + len(orders) * len(X)) * max(self.rule.step, 1.0))
        scale = self._scale(among)
        scores = np.empty(signs.shape)
        visited = np.empty(signs.shape)
        for order in watched(orders):
            columns = CrossGram(between(self.kernel, P, points_of(self.kernel, X[order])))
            drawn = np.zeros((len(X), len(signs))) if draws is None else draws(len(X))  # in [0, 1), of random removals
            start = 0
            while start < len(X):
                start = self._stretch(among, columns, scale, held + order, start, signs[:, order], drawn, visited)
            self.n_steps += len(X)
            self.n_passes += 1
            scores[:, order] = visited
        self.n_seen += len(X)
        kept = np.unique(np.concatenate(self.rows))
        self.rows = [np.searchsorted(kept, rows) for rows in self.rows]
        self.points = everything[kept]
        self.seen = seen[kept]
        return scores

    def support(self):
        """(points, weights (m, S)) of the examples that are held, as `scores` takes them."""
        P = points_of(self.kernel, self.points)
        return P, self.coefficients() * self._scale(CrossGram(between(self.kernel, P, P))) if len(self.seen) else None

    def scores(self, X: Array, support: tuple) -> Array:
        """f (m, c) of the points X (c, d), with the intercepts."""
        out = np.zeros((len(self.rows), len(X)))
        P, weights = support
        if len(self.seen):
            Q = points_of(self.kernel, X)
            columns = CrossGram(between(self.kernel, P, Q))
            check_range(self.kernel, columns.source.top, self.n_steps)
            out = expansion(weights, np.arange(len(self.seen)), self.kernel, columns)
            out *= self._scale(CrossGram(between(self.kernel, Q, Q)))
        return out + self.state[:, [_INTERCEPT]]

    def coefficients(self) -> Array:
        """w (m, S) over the points that are held; 0 where a learner does not hold a point."""
        out = np.zeros((len(self.rows), len(self.seen)))
        for w, rows, weights in zip(out, self.rows, self.weights, strict=True):
            np.add.at(w, rows, weights)
        return out

    def _scale(self, gram):
        """1 / sqrt(k(x, x)) of the points of a `CrossGram`, 0 where k(x, x) = 0; all 1 without normalization."""
        if self.normalize:
            return _inverse_root(self.kernel, gram)
        if self.rule.kind in (_BASIC, _SELF_TUNING):
            largest = gram.source.diagonal(self.kernel).max()
            if largest > 1 + 1e-9:
                raise ValueError(f"the Forgetron needs a kernel with k(x, x) <= 1, got {largest:.4g}; set normalize=True")
        return np.ones(len(gram))

    def _stretch(self, among, columns, scale, order, start, signs, draws, scores):
        """Learn from the examples order[start:stop]; returns stop. All their kernel values come from one product."""
        pool = np.unique(np.concatenate(self.rows))
        size = int(np.clip(_BLOCK_BYTES // (16 * (len(pool) + _STRETCH)), 16, _STRETCH))
        stop = min(start + size, len(order))
        own = order[start:stop]
        index = np.concatenate([pool, own])
        K = np.ascontiguousarray(columns.values(self.kernel, index, slice(start, stop)).T)
        K *= np.multiply.outer(scale[own], scale[index])
        draws = np.ascontiguousarray(draws[start:stop].T)
        for a, z in enumerate(signs):
            room = np.zeros(stop - start, dtype=np.int64)  # for as many examples as can come
            held = np.concatenate([np.searchsorted(pool, self.rows[a]), room])
            weights = np.concatenate([self.weights[a], room.astype(np.float64)])
            born = np.concatenate([self.born[a], room])
            h = len(self.rows[a])
            place = len(pool)
            out = scores[a, start:stop]
            z = z[start:stop].astype(np.float64)
            if self.rule.kind == _NORMA:
                step = self.n_steps + start
                low, high = _norma(self.rule, K, place, held, weights, born, h, z, step, self.state[a], out)
            else:
                j, first, low, high = 0, 0, 0, h
                H = np.empty((0, h))
                while j < len(z):
                    j, low, high = _perceptron(
                        self.rule, K, H, first, place, held, weights, j, low, high, z, draws[a], self.state[a], out
                    )  # fmt: skip
                    if j < len(z):
                        rows = self.rows[a][low : low + _REMOVED]
                        H = among.values(self.kernel, rows, self.rows[a])
                        H *= np.multiply.outer(scale[rows], scale[self.rows[a]])
                        first = low
            self.rows[a] = index[held[low:high]]
            self.weights[a] = weights[low:high]
            self.born[a] = born[low:high]
        return stop


def normalized(kernel: Kernel, X: Data, Y: Data) -> Array:
    """Compute a normalized kernel, k(x, y) / sqrt(k(x, x) k(y, y))."""
    P = points_of(kernel, X)
    Q = points_of(kernel, Y)
    columns = CrossGram(between(kernel, P, Q))
    K = columns.values(kernel, np.arange(len(columns.row_norms)))
    scale = (_inverse_root(kernel, CrossGram(between(kernel, each, each))) for each in (P, Q))
    return K * np.multiply.outer(*scale)


def _inverse_root(kernel, gram):
    own = gram.source.diagonal(kernel)
    if own.min() < 0:
        raise ValueError(f"a kernel has k(x, x) >= 0, got {own.min():.4g}; choose gamma and coef0 of at least 0")
    return np.divide(1.0, np.sqrt(own), out=np.zeros(len(own)), where=own > 0)


@compiled
def _score(K, columns, weights, low, high):
    f = 0.0
    for i in range(low, high):
        f += weights[i] * K[columns[i]]
    return f


@compiled
def _perceptron(rule, K, H, first, place, columns, weights, start, low, high, y, draws, state, scores):
    """Run a perceptron with or without a budget over the rows of K, from `start` on; where it stopped, and low and high."""
    # The learner holds columns[low:high] with these weights, the oldest first; example j of the stretch is column place + j.
    # H (r, h) are kernel values of r of those held before the stretch, columns[first:], with all h that were.
    forgets = rule.kind == _BASIC or rule.kind == _SELF_TUNING
    for j in range(start, y.shape[0]):
        if forgets and high - low == rule.budget and first + H.shape[0] == low < H.shape[1]:  # the next to go is not in H
            return j, low, high
        f = _score(K[j], columns, weights, low, high)
        scores[j] = f
        if y[j] * f > 0.0:
            continue
        state[_MISTAKES] += 1.0
        if rule.kind == _RANDOM and high - low == rule.budget:
            gone = low + int(draws[j] * rule.budget)
            columns[gone] = place + j
            weights[gone] = y[j]
            continue
        state[_NORM] += 2.0 * y[j] * f + K[j, place + j]
        columns[high] = place + j
        weights[high] = y[j]
        high += 1
        if high - low > rule.budget:
            if forgets:
                _shrink(rule, weights[low:high], _with_oldest(K, H, first, place, columns, low, high), state)
            low += 1
    return y.shape[0], low, high


@compiled
def _shrink(rule, weights, k, state):
    """Multiply the weights by phi; account for the removal of the first, whose kernel values with all held are k."""
    sign = 1.0 if weights[0] > 0.0 else -1.0
    sigma = abs(weights[0])
    mu = 0.0
    for i in range(weights.shape[0]):
        mu += sign * weights[i] * k[i]
    phi = 1.0
    budget = float(rule.budget)
    if rule.kind == _BASIC:
        radius = 0.25 * np.sqrt((budget + 1.0) / np.log(budget + 1.0))
        phi = min((budget + 1.0) ** (-0.5 / (budget + 1.0)), radius / np.sqrt(max(state[_NORM], 1e-300)))
    else:
        # a phi^2 + b phi + c = Psi(phi sigma, phi mu) + Q - (15/32) M < 0 at phi = 0; if > 0 at 1, phi is the root between.
        a = sigma * sigma - 2.0 * sigma * mu
        b = 2.0 * sigma
        c = state[_DAMAGE] - 15.0 / 32.0 * state[_MISTAKES]
        if a + b + c > 0.0:
            phi = -2.0 * c / (b + np.sqrt(b * b - 4.0 * a * c))
    for i in range(weights.shape[0]):
        weights[i] *= phi
    sigma = phi * sigma
    mu = phi * mu
    state[_DAMAGE] += sigma * sigma + 2.0 * sigma - 2.0 * sigma * mu
    state[_SHRINKING] += 1.0 - phi
    state[_NORM] = phi * phi * state[_NORM] - 2.0 * sigma * mu + sigma * sigma * k[0]


@compiled
def _with_oldest(K, H, first, place, columns, low, high):
    """k(x_r, x_i) of the oldest example r that is held with all that are."""
    k = np.empty(high - low)
    for i in range(low, high):  # in H where both were held before this stretch, in K where the younger one is of the stretch
        k[i - low] = H[low - first, i] if i < H.shape[1] else K[columns[i] - place, columns[low]]
    return k


@compiled
def _norma(rule, K, place, columns, weights, born, high, y, step, state, scores):
    """Run NORMA over the rows of K, after `step` steps; it holds columns[low:high] and returns low and high."""
    low = 0
    for j in range(y.shape[0]):
        t = step + j + 1
        eta = rule.step / np.sqrt(t) if rule.decaying else rule.step
        f = _score(K[j], columns, weights, low, high) + state[_INTERCEPT]
        scores[j] = f
        wrong = y[j] * f <= state[_MARGIN]
        keep = 1.0 - eta * rule.regularization
        for i in range(low, high):
            weights[i] *= keep
        if y[j] * f <= 0.0:
            state[_MISTAKES] += 1.0
        if wrong:
            columns[high] = place + j
            weights[high] = eta * y[j]
            born[high] = t
            high += 1
            if rule.intercept:
                state[_INTERCEPT] += eta * y[j]
        if rule.nu >= 0.0:
            state[_MARGIN] += eta * (rule.nu - (1.0 if wrong else 0.0))
        while low < high and t - born[low] >= rule.budget:
            low += 1
    return low, high


class OnlineKernelClassifier(Classifier):
    """Base of the online estimators: one learner for each class, or one for two classes."""

    _parameters = {**LEARNING_PARAMETERS, **KERNEL_PARAMETERS, "normalize": FLAG, "shuffle": FLAG}

    def _learn(self, X, y, classes):
        learners, random = self._begin(len(classes))
        orders = visiting_orders(len(y), 1, self.max_iter, random_state=random if self.shuffle else None)
        self._run(X, y, classes, [order[0] for order in orders], learners, random, self._watched)

    def partial_fit(self, X: Data, y: ArrayLike, classes: ArrayLike | None = None, **unsupported: Any) -> Self:
        """Learn from the next part of a stream X (n, d), y (n,), in one pass; the first call has all classes."""
        check_unweighted(unsupported)
        with self._whole():
            X, y, classes = self._validate_part(X, y, classes)
            begun = hasattr(self, "classes_")
            state = copy.deepcopy((self._learners, self._random)) if begun else self._begin(len(classes))
            self._run(X, y, classes, [np.arange(len(y))], *state)
        return self

    def decision_function(self, X: Data) -> Array:
        """Score the classes: (n, C), or (n,) for two classes, positive for the second."""
        X = self._checked(X)
        f = self._learners.scores(X, self._once("support", None, self._learners.support)).T
        return f[:, 0] if len(self.classes_) == 2 else f

    def _begin(self, n_classes):
        m = 1 if n_classes == 2 else n_classes
        learners = _OnlineLearners(self._rule(), self._kernel, m, normalize=self.normalize)
        return learners, check_random_state(self.random_state)

    def _run(self, X, y, classes, orders, learners, random, watched=iter):
        positive = np.arange(1 if len(classes) == 2 else 0, len(classes))
        signs = np.where(y == positive[:, None], 1, -1).astype(np.int8)
        draw = (lambda n: random.random_sample((n, len(signs)))) if learners.rule.kind == _RANDOM else None
        self.online_scores_ = learners.learn(X, signs, orders, draws=draw, watched=watched).T
        self.classes_ = classes
        self._made = {}
        self._learners = learners
        self._random = random
        self.support_ = learners.seen
        self.support_vectors_ = learners.points
        self.dual_coef_ = learners.coefficients()
        self.intercept_ = learners.state[:, _INTERCEPT].copy()
        self.n_support_ = np.array([len(rows) for rows in learners.rows])
        self.n_mistakes_ = learners.state[:, _MISTAKES].astype(np.int64)
        self.n_seen_ = learners.n_seen
        self.n_iter_ = learners.n_passes

    def _check_parameters(self):
        super()._check_parameters()
        self._rule()


def _limit(value):
    return _UNLIMITED if value is None else int(min(value, _UNLIMITED))


class BudgetPerceptron(OnlineKernelClassifier):
    """Kernel perceptron that holds at most a budget of examples.

    On a mistake it holds the example. Beyond the budget B it removes the oldest example, or a random
    one, each with probability 1/B (Cavallanti, Cesa-Bianchi and Gentile 2007):

        f(x) = sum_i y_i k(x_i, x)   over the examples i that are held

    One learner for each class, or one for two classes; the highest score wins, and ties go to the
    first class.

    Parameters
    ----------
    kernel : {"poly", "linear", "rbf", "laplacian"} or callable, default="poly"
        As in `OneVsAllKernelPerceptron`, without "precomputed".
    budget : int or None, default=100
        Number B of examples that each learner may hold. None is the kernel perceptron, which holds
        all.
    removal : {"random", "oldest"}, default="random"
        Example to remove.
    degree : int, default=3
        As in `OneVsAllKernelPerceptron`.
    gamma : {"scale", "auto"} or float, default="scale"
        As in `OneVsAllKernelPerceptron`.
    coef0 : float, default=1.0
        As in `OneVsAllKernelPerceptron`.
    normalize : bool, default=True
        Divide k(x, y) by sqrt(k(x, x) k(y, y)), so that k(x, x) <= 1, as the analyses assume. The
        result is 0 if k(x, x) = 0.
    max_iter : int, default=1
        Number of passes of `fit` over the examples.
    shuffle : bool, default=True
        Make each pass in a new random order, the same for all classes, otherwise in the order given.
    random_state : int, RandomState or None, default=None
        Seed or generator of the orders and of random removal.
    verbose : int, default=0
        Show a progress bar of passes unless it is 0.

    Attributes
    ----------
    classes_ : ndarray of shape (C,)
        Class labels, sorted.
    support_ : ndarray of shape (S,)
        Numbers of the examples that any learner holds, in the order in which they came.
    support_vectors_ : ndarray of shape (S, d)
        Those examples.
    dual_coef_ : ndarray of shape (m, S)
        Weights w of the m learners; m is C, or 1 for two classes.
    intercept_ : ndarray of shape (m,)
        Intercepts b of the learners.
    n_support_ : ndarray of shape (m,)
        Number of examples that each learner holds; one that is held twice counts twice.
    n_mistakes_ : ndarray of shape (m,)
        Number of mistakes of each learner.
    n_seen_ : int
        Number of examples seen.
    n_iter_ : int
        Number of passes.
    online_scores_ : ndarray of shape (n, m)
        Scores of the examples of the last call, in its last pass, each before it was learned.
    gamma_ : float
        The factor gamma of the kernel; absent for callables.

    See Also
    --------
    kp.Forgetron : Shrinks its weights before it removes the oldest example.
    kp.Norma : Learns from small margins too, and lets old examples fade.

    References
    ----------
    - Cavallanti, Cesa-Bianchi and Gentile (2007). Tracking the best hyperplane with a simple budget
      perceptron. Machine Learning 69. https://doi.org/10.1007/s10994-007-5003-0

    Examples
    --------
    With a picture, in notebooks/gallery.ipynb: "How many examples must be kept?".

    >>> from kp import BudgetPerceptron
    >>> model = BudgetPerceptron("rbf", gamma=1, budget=2, removal="oldest", shuffle=False)
    >>> model.fit([[0], [1], [2], [3]], ["a", "b", "a", "b"]).support_.tolist()
    [2, 3]
    >>> model.dual_coef_.tolist()
    [[-1.0, 1.0]]
    """

    _parameters = {
        **OnlineKernelClassifier._parameters, "budget": or_none(COUNT), "removal": one_of("random", "oldest"),
    }  # fmt: skip

    def __init__(
        self, kernel: KernelChoice = "poly", *, budget: int | None = 100, removal: str = "random", degree: int = 3,
        gamma: Gamma = "scale", coef0: float = 1.0, normalize: bool = True, max_iter: int = 1, shuffle: bool = True,
        random_state: Seed = None, verbose: int = 0,
    ) -> None:  # fmt: skip
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.normalize = normalize
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.random_state = random_state
        self.verbose = verbose
        self.budget = budget
        self.removal = removal

    def _rule(self):
        return _Rule(_RANDOM if self.removal == "random" else _OLDEST, _limit(self.budget))


class Forgetron(OnlineKernelClassifier):
    """Kernel perceptron on a budget that shrinks its weights before it forgets.

    Before it removes the oldest example r, it multiplies all weights by phi (Dekel, Shalev-Shwartz
    and Singer 2008):

        f(x) = sum_i sigma_i y_i k(x_i, x)   over the examples i that are held
        self-tuning  the largest phi in (0, 1] with Psi(phi sigma_r, phi mu_r) + Q <= (15/32) M
                     mu_r = y_r f(x_r), Psi(a, b) = a^2 + 2 a - 2 a b, Q the sum of Psi over removals
        basic        phi = min{(B + 1)^(-1 / (2 (B + 1))), U / |f|},
                     U = (1/4) sqrt((B + 1) / log(B + 1))

    With k(x, x) <= 1, which is checked, and B >= 83 (smaller budgets run without guarantee), any
    sequence has at most

        2 |g|^2 + 4 sum_t max(0, 1 - y_t g(x_t))

    mistakes, for every g with |g| <= (1/4) sqrt((B + 1) / log(B + 1)).

    Parameters
    ----------
    kernel : {"poly", "linear", "rbf", "laplacian"} or callable, default="poly"
        As in `OneVsAllKernelPerceptron`, without "precomputed".
    budget : int, default=100
        Number B of examples that each learner may hold.
    shrinking : {"self-tuning", "basic"}, default="self-tuning"
        "self-tuning" shrinks as little as keeps the damage Q of all removals within (15/32) M, with
        M mistakes. "basic" shrinks by (B + 1)^(-1 / (2 (B + 1))), and at least so far that
        |f| <= (1/4) sqrt((B + 1) / log(B + 1)).
    degree : int, default=3
        As in `OneVsAllKernelPerceptron`.
    gamma : {"scale", "auto"} or float, default="scale"
        As in `OneVsAllKernelPerceptron`.
    coef0 : float, default=1.0
        As in `OneVsAllKernelPerceptron`.
    normalize : bool, default=True
        As in `BudgetPerceptron`.
    max_iter : int, default=1
        As in `BudgetPerceptron`.
    shuffle : bool, default=True
        As in `BudgetPerceptron`.
    random_state : int, RandomState or None, default=None
        Seed or generator of the orders.
    verbose : int, default=0
        As in `BudgetPerceptron`.

    Attributes
    ----------
    classes_ : ndarray of shape (C,)
        Class labels, sorted.
    support_ : ndarray of shape (S,)
        Numbers of the examples that any learner holds, in the order in which they came.
    support_vectors_ : ndarray of shape (S, d)
        Those examples.
    dual_coef_ : ndarray of shape (m, S)
        Weights w of the m learners; m is C, or 1 for two classes.
    intercept_ : ndarray of shape (m,)
        Intercepts b of the learners.
    n_support_ : ndarray of shape (m,)
        Number of examples that each learner holds; one that is held twice counts twice.
    n_mistakes_ : ndarray of shape (m,)
        Number of mistakes of each learner.
    n_seen_ : int
        Number of examples seen.
    n_iter_ : int
        Number of passes.
    online_scores_ : ndarray of shape (n, m)
        Scores of the examples of the last call, in its last pass, each before it was learned.
    gamma_ : float
        The factor gamma of the kernel; absent for callables.
    damage_ : ndarray of shape (m,)
        Q, the sum of Psi over all removals (the source's word).
    shrinking_ : ndarray of shape (m,)
        Sum of 1 - phi over all shrinks.

    See Also
    --------
    kp.BudgetPerceptron : Removal without shrinking.
    kp.Norma : Gradient descent, with weights that decay.

    References
    ----------
    - Dekel, Shalev-Shwartz and Singer (2008). The Forgetron: a kernel-based perceptron on a budget.
      SIAM Journal on Computing 37.

    Examples
    --------
    >>> from kp import Forgetron
    >>> model = Forgetron("rbf", gamma=1, budget=2, shuffle=False)
    >>> model.fit([[0], [1], [2], [3]], ["a", "b", "a", "b"]).support_.tolist()
    [2, 3]
    >>> model.dual_coef_.round(2).tolist()
    [[-0.24, 0.3]]
    """

    _parameters = {
        **OnlineKernelClassifier._parameters, "budget": COUNT, "shrinking": one_of("self-tuning", "basic"),
    }  # fmt: skip

    def __init__(
        self, kernel: KernelChoice = "poly", *, budget: int = 100, shrinking: str = "self-tuning", degree: int = 3,
        gamma: Gamma = "scale", coef0: float = 1.0, normalize: bool = True, max_iter: int = 1, shuffle: bool = True,
        random_state: Seed = None, verbose: int = 0,
    ) -> None:  # fmt: skip
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.normalize = normalize
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.random_state = random_state
        self.verbose = verbose
        self.budget = budget
        self.shrinking = shrinking

    def _rule(self):
        return _Rule(_BASIC if self.shrinking == "basic" else _SELF_TUNING, _limit(self.budget))

    def _run(self, *arguments):
        super()._run(*arguments)
        self.damage_, self.shrinking_ = self._learners.state[:, [_DAMAGE, _SHRINKING]].T.copy()


class Norma(OnlineKernelClassifier):
    """Stochastic gradient descent on the regularized soft margin, with a kernel: NORMA.

    Each step descends (Kivinen, Smola and Williamson 2004)

        (lambda / 2) |f|^2 + max(0, rho - y (f(x) + b)) - nu rho

    It multiplies the weights by 1 - eta lambda, and an example with y (f(x) + b) <= rho, a margin
    error, is held with weight eta y. With nu, rho moves by eta (nu - 1) on a margin error, otherwise
    by eta nu, so that their fraction tends to nu. rho = 0, lambda = 0 and eta = 1 give the kernel
    perceptron.

    Parameters
    ----------
    kernel : {"poly", "linear", "rbf", "laplacian"} or callable, default="poly"
        As in `OneVsAllKernelPerceptron`, without "precomputed".
    alpha : float, default=1e-3
        The factor lambda of the penalty, at least 0, with eta0 * alpha < 1.
    eta0 : float, default=0.5
        Size eta of the first step, positive.
    learning_rate : {"constant", "invscaling"}, default="constant"
        Steps of size eta0 throughout, or "invscaling", eta0 / sqrt(t) at the t-th step.
    margin : float, default=1.0
        Margin rho; its first value if nu moves it.
    nu : float or None, default=None
        Fraction of margin errors in [0, 1]; None leaves rho as it is.
    truncation : int or None, default=None
        Drop an example tau steps after it came. With constant steps and X^2 >= k(x, x) this changes
        f by at most (1 - eta lambda)^tau X / lambda in norm. None keeps all.
    fit_intercept : bool, default=False
        Learn b, which is not regularized.
    degree : int, default=3
        As in `OneVsAllKernelPerceptron`.
    gamma : {"scale", "auto"} or float, default="scale"
        As in `OneVsAllKernelPerceptron`.
    coef0 : float, default=1.0
        As in `OneVsAllKernelPerceptron`.
    normalize : bool, default=True
        As in `BudgetPerceptron`.
    max_iter : int, default=1
        As in `BudgetPerceptron`.
    shuffle : bool, default=True
        As in `BudgetPerceptron`.
    random_state : int, RandomState or None, default=None
        Seed or generator of the orders.
    verbose : int, default=0
        As in `BudgetPerceptron`.

    Attributes
    ----------
    classes_ : ndarray of shape (C,)
        Class labels, sorted.
    support_ : ndarray of shape (S,)
        Numbers of the examples that any learner holds, in the order in which they came.
    support_vectors_ : ndarray of shape (S, d)
        Those examples.
    dual_coef_ : ndarray of shape (m, S)
        Weights w of the m learners; m is C, or 1 for two classes.
    intercept_ : ndarray of shape (m,)
        Intercepts b of the learners.
    n_support_ : ndarray of shape (m,)
        Number of examples that each learner holds; one that is held twice counts twice.
    n_mistakes_ : ndarray of shape (m,)
        Number of mistakes of each learner.
    n_seen_ : int
        Number of examples seen.
    n_iter_ : int
        Number of passes.
    online_scores_ : ndarray of shape (n, m)
        Scores of the examples of the last call, in its last pass, each before it was learned.
    gamma_ : float
        The factor gamma of the kernel; absent for callables.
    margin_ : ndarray of shape (m,)
        Margins rho at the end.

    See Also
    --------
    kp.BudgetPerceptron : Learns from mistakes alone, with a fixed budget.
    kp.Forgetron : Shrinks weights only when an example is removed.

    References
    ----------
    - Kivinen, Smola and Williamson (2004). Online learning with kernels. IEEE Transactions on
      Signal Processing 52. https://doi.org/10.1109/TSP.2004.830991

    Examples
    --------
    With a picture, in notebooks/gallery.ipynb: "Learning from a stream, tested on each example before it is learned".

    >>> from kp import Norma
    >>> model = Norma("rbf", gamma=1, alpha=0.1, shuffle=False)
    >>> model.fit([[0], [1], [2]], ["a", "b", "a"]).support_.tolist()
    [0, 1, 2]
    >>> model.dual_coef_.round(3).tolist()
    [[-0.451, 0.475, -0.5]]
    """

    _parameters = {
        **OnlineKernelClassifier._parameters, "alpha": NOT_NEGATIVE, "margin": FINITE,
        "eta0": number("a positive number up to 1e50", lambda value: 0 < value <= 1e50),
        "learning_rate": one_of("constant", "invscaling"), "truncation": or_none(COUNT), "fit_intercept": FLAG,
        "nu": or_none(number("a fraction in [0, 1]", lambda value: 0 <= value <= 1)),
    }  # fmt: skip

    def __init__(
        self, kernel: KernelChoice = "poly", *, alpha: float = 1e-3, eta0: float = 0.5, learning_rate: str = "constant",
        margin: float = 1.0, nu: float | None = None, truncation: int | None = None, fit_intercept: bool = False,
        degree: int = 3, gamma: Gamma = "scale", coef0: float = 1.0, normalize: bool = True, max_iter: int = 1,
        shuffle: bool = True, random_state: Seed = None, verbose: int = 0,
    ) -> None:  # fmt: skip
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.normalize = normalize
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.random_state = random_state
        self.verbose = verbose
        self.alpha = alpha
        self.eta0 = eta0
        self.learning_rate = learning_rate
        self.margin = margin
        self.nu = nu
        self.truncation = truncation
        self.fit_intercept = fit_intercept

    def _rule(self):
        if not float(self.alpha) * float(self.eta0) < 1:
            raise ValueError(f"eta0 * alpha must be below 1, got {shown(self.eta0)} and {shown(self.alpha)}")
        return _Rule(
            _NORMA, _limit(self.truncation), float(self.eta0), self.learning_rate == "invscaling", float(self.alpha),
            float(self.margin), -1.0 if self.nu is None else float(self.nu), bool(self.fit_intercept),
        )  # fmt: skip

    def _run(self, *arguments):
        super()._run(*arguments)
        self.margin_ = self._learners.state[:, _MARGIN].copy()
