"""The binary kernel perceptron: find the mistakes (Hermans 2021, Algorithm 1; Aizerman, Braverman & Rozonoer 1964).

The eight lines of Algorithm 1, with their numbers (line 8 is an end):

>>> import numpy as np
>>> def algorithm_1(K, z, epochs, random):
...     A, alpha = [], np.zeros(len(z), dtype=int)  # 1
...     for _ in range(epochs):  # 2
...         order = random.permutation(len(z))  # 3: shuffle the examples
...         for t in order:  # 4
...             prediction = np.sign((alpha * z) @ K[:, t])  # 5
...             if prediction != z[t]:  # 6: sgn 0 = 0 is neither label
...                 alpha = alpha + (np.arange(len(z)) == t)  # 7: alpha_t <- alpha_t + 1
...             A.append(alpha)  # 9
...     return A

A mistake on example t moves the scores of all examples by z_t K[t, :]. `find_mistakes` runs many perceptrons side by side
over the same points, in rounds: each runs exactly over the next stretch of its visiting order, with inner products that are
not kept yet made one at a time and only inside the stretch; then the missing rows of all come from one matrix product, and
all scores advance. Where the kernel is affine in x . y, a weight vector finds them without rows: the same ones on integers.

The estimators store the mistakes alone, and read A from them:

>>> from kp import OneVsAllKernelPerceptron
>>> X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
>>> z = np.array([-1, 1, 1, -1])
>>> A = algorithm_1((1 + X @ X.T) ** 2, z, 10, np.random.RandomState(0))
>>> model = OneVsAllKernelPerceptron(degree=2, stop_if_separated=False, random_state=0)
>>> (log,) = model.fit(X, z).mistakes_
>>> A[-1].tolist(), log.alpha(n=4).tolist()
([7, 5, 5, 4], [7, 5, 5, 4])
>>> bool(np.allclose(np.mean(A, axis=0), log.alpha("average", n=4)))
True

Symbols: n examples, m perceptrons, z = +-1 signs (m, n), f scores (m, n). A score of exactly 0 is a mistake. No bit of a
result depends on threads, stretches or budgets: each score receives the same additions in the same order.
"""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from kp.compiled import compiled
from kp.gram import Arithmetic, dot
from kp.kernels import check_range, fill
from kp.mistakes import MistakeLog
from kp.predictors import TILE, as_reals, fetch_ahead, move, one_for_each, replay

STRETCH = 512  # visits of the first stretch; later ones are longer, as mistakes become rare


def visiting_orders(n, m, epochs, *, random_state=None, once=False):
    """Yield visiting orders (m, n), epoch by epoch: a shuffle for each perceptron in turn (Hermans 2021).

    Parameters
    ----------
    n : int
        Number of examples.
    m : int
        Number of perceptrons.
    epochs : int
        Number of epochs.
    random_state : RandomState, optional
        Generator of the shuffles; without it each order is 0..n-1.
    once : bool, default=False
        Shuffle for the first epoch alone, and keep its orders (Freund & Schapire 1999, Fig. 1).

    Yields
    ------
    ndarray of shape (m, n)
        The orders of one epoch.
    """
    for epoch in range(epochs):
        if not (once and epoch):
            order = np.tile(np.arange(n), (m, 1))
            if random_state is not None:
                for row in order:
                    random_state.shuffle(row)
        yield order


def find_mistakes(
    gram, kernel, signs, orders, n_epochs, *, start=None, threads=2, stop_if_separated=False, stop_if_consistent=False,
    count_errors=True, callback=None,
):  # fmt: skip
    """Run m binary kernel perceptrons over n training points.

    Parameters
    ----------
    gram : Gram
        The training points.
    kernel : Kernel or sequence of Kernel
        One kernel, or one for each perceptron.
    signs : array-like of shape (m, n)
        Labels +1 and -1 of the examples, for each perceptron.
    orders : iterable of ndarray
        Visiting orders (m, n) of each epoch, or (1, n) shared by all.
    n_epochs : int
        Number of epochs.
    start : array-like of shape (m, n), optional
        Scores to begin with; by default 0.
    threads : int, default=2
        Number of threads. It does not change the result.
    stop_if_separated : bool, default=False
        End after the first epoch without a mistake.
    stop_if_consistent : bool, default=False
        End after the first epoch at whose end all are right on every example, which is more where
        examples are drawn with replacement.
    count_errors : bool, default=True
        With False the training errors may be left out (None) where counting them would take a
        separate pass.
    callback : callable, optional
        Called as callback(visits) as the visits to examples go on.

    Returns
    -------
    list of MistakeLog
        The mistakes of each perceptron.

    Raises
    ------
    ValueError
        If scores could overflow, or the signs do not fit the points.

    See Also
    --------
    kp.OneVsAllKernelPerceptron : The estimator that it serves.

    Examples
    --------
    >>> from kp.gram import Gram
    >>> from kp.kernels import polynomial
    >>> gram = Gram.of_points(np.array([[0], [1], [3]]), memory_budget=2**20)
    >>> (log,) = find_mistakes(gram, polynomial(1), [[-1, -1, 1]], visiting_orders(3, 1, 10), 10)
    >>> log.alpha(n=3).tolist()
    [2, 4, 2]
    """
    signs = np.ascontiguousarray(signs, dtype=np.int8)
    if signs.ndim != 2 or signs.shape[1] != len(gram):
        raise ValueError(f"signs must be (m, {len(gram)}), a sign of each perceptron for each example, got {signs.shape}")
    m, n = signs.shape
    n_epochs = int(n_epochs)
    kernels = one_for_each(kernel, m)
    for each in set(kernels):
        check_range(gram.in_units(each), gram.norms, n * n_epochs)
    callback = callback or (lambda visits: None)
    with ThreadPoolExecutor(threads) as pool:
        primal = start is None and not stop_if_consistent and all(has_weights(gram, k, n * n_epochs) for k in set(kernels))
        run = _Primal(gram, kernels, signs, pool) if primal else _Dual(gram, kernels, signs, start, pool)
        ends = []
        for epoch, order in enumerate(orders):
            found = run.epoch(np.broadcast_to(order, signs.shape), epoch * n, callback)
            ends.append((epoch + 1) * n)
            if stop_if_separated and not found or stop_if_consistent and np.all(signs * run.scores > 0):
                break
    logs = []
    for found, z in zip(run.found, signs, strict=True):
        example, step, *errors = map(np.concatenate, zip(*found, strict=True))
        logs.append(
            MistakeLog(example=example.astype(np.intp), step=step.astype(np.int64), sign=z[example],
                       errors=None if primal else errors[0], ends=np.array(ends))
        )  # fmt: skip
    if count_errors and primal:
        errors = [np.zeros(len(log), dtype=np.int64) for log in logs]
        for _ in replay(logs, kernels, gram, epochs=(), signs=signs, errors=errors, threads=threads):
            pass
        logs = [log.with_errors(wrong) for log, wrong in zip(logs, errors, strict=True)]
    return logs


def has_weights(gram, kernel, steps):
    """Return whether a weight vector in input space does the work of kernel rows.

    That needs an affine kernel, and points that are real numbers, or integers with the same bits either way, which needs an
    integer kernel and sums below 2^53.
    """
    if not kernel.affine or gram.source.arithmetic == Arithmetic.GIVEN:
        return False
    if gram.source.arithmetic in (Arithmetic.ORDERED, Arithmetic.SPARSE) or gram.points.per_unit != 1:
        return True
    whole = float(kernel.gamma).is_integer() and float(kernel.coef0).is_integer()
    return whole and steps * kernel.bound(float(np.max(gram.norms))) <= 2.0**53


class _Primal:
    """Perceptrons as weight vectors: score = gamma w . x + coef0 b, with w the signed sum of mistaken points."""

    def __init__(self, gram, kernels, signs, pool):
        self.points = gram.points.compact
        self.signs = signs
        self.pool = pool
        self.kernels = [gram.in_units(kernel) for kernel in kernels]
        self.arithmetic = Arithmetic.DOUBLE if gram.points.are_bytes else gram.source.arithmetic  # weights are no bytes
        self.w = np.zeros((len(signs), self.points.shape[1]))
        self.b = np.zeros(len(signs))
        self.found = [[] for _ in signs]

    def epoch(self, order, step, callback):
        """As that of `Rounds`."""
        positions = list(self.pool.map(self._run, range(len(order)), order))
        for a, t in enumerate(positions):
            self.found[a].append((order[a][t], step + t))
            callback(order.shape[1])
        return sum(map(len, positions))

    def _run(self, a, order):
        kernel = self.kernels[a]
        z = self.signs[a]
        w = self.w[a]
        b = self.b[a : a + 1]
        if self.arithmetic == Arithmetic.SPARSE:
            X = self.points
            return _primal_epoch_sparse(kernel.gamma, kernel.coef0, X.indptr, X.indices, X.data, order, z, w, b)
        return _primal_epoch(kernel.gamma, kernel.coef0, int(self.arithmetic), self.points, order, z, w, b)


@compiled
def _primal_epoch(gamma, coef0, arithmetic, X, order, z, w, b):
    """Positions in `order` at which the perceptron errs; w and b move."""
    wrong = []
    for position in range(order.shape[0]):
        t = order[position]
        if z[t] * (gamma * dot(arithmetic, w, X[t]) + coef0 * b[0]) <= 0.0:
            for k in range(w.shape[0]):
                w[k] += z[t] * np.float64(X[t, k])
            b[0] += z[t]
            wrong.append(position)
    return np.array(wrong, dtype=np.int64)


@compiled
def _primal_epoch_sparse(gamma, coef0, starts, features, values, order, z, w, b):
    """The same for points whose numbers other than 0 are `values` at `features`, those of point t from starts[t] on."""
    wrong = []
    for position in range(order.shape[0]):
        t = order[position]
        score = 0.0
        for p in range(starts[t], starts[t + 1]):
            score += w[features[p]] * values[p]
        if z[t] * (gamma * score + coef0 * b[0]) <= 0.0:
            for p in range(starts[t], starts[t + 1]):
                w[features[p]] += z[t] * values[p]
            b[0] += z[t]
            wrong.append(position)
    return np.array(wrong, dtype=np.int64)


class Rounds:
    """Learners as scores (m, n) of all training points, moved by kernel rows, in rounds.

    A kind of learner says how one visits a stretch of its order, `_visit`, and how its updates move all its scores,
    `_advance`. found[a] has a tuple for each round: examples and steps of the updates of learner a, and what else the two
    tell of each update.
    """

    def __init__(self, gram, signs, scores, pool):
        self.gram = gram
        self.signs = signs
        self.scores = scores
        self.pool = pool
        self.arithmetic = gram.source.arithmetic
        self.points = np.empty((0, 0))
        if self.arithmetic < Arithmetic.SPARSE:
            self.points = gram.points.compact
        self.stretch = STRETCH
        self.found = [[] for _ in signs]

    def epoch(self, order, step, callback):
        """Visit all examples once, each learner in its row of order (m, n), after `step` steps; the number of updates."""
        m, n = order.shape
        count = 0
        position = np.zeros(m, dtype=np.int64)
        while len(active := np.flatnonzero(position < n)):
            active = active[: self.gram.capacity]
            quota = self.gram.capacity // len(active)
            stops = np.minimum(position[active] + self.stretch, n)
            visits = list(self.pool.map(self._visit, active, order[active], position[active], stops, [quota] * len(active)))
            examples = [order[a][t] for a, (_, t, *_) in zip(active, visits, strict=True)]
            computed = self.gram.fetch(np.unique(np.concatenate(examples)))
            moved = list(self.pool.map(self._advance, active, examples, visits))
            for a, own, (stop, t, *of_visit), of_move in zip(active, examples, visits, moved, strict=True):
                self.found[a].append((own, step + t, *of_visit, *of_move))
                callback(int(stop - position[a]))
                position[a] = stop
                count += len(own)
            self._adapt(computed, n)
        return count

    def _visit(self, a, order, start, stop, quota):
        """(where it stopped, positions of the updates of learner a in order[start:stop], and more of each update)."""
        raise NotImplementedError

    def _advance(self, a, examples, visit):
        """Move all scores of learner a by what `_visit` has found; a tuple of what else to keep of each update."""
        raise NotImplementedError

    def _adapt(self, computed, n):
        """Aim at a few hundred new rows a round: enough for a fast matrix product, few enough single inner products."""
        if computed < 256:
            self.stretch = min(2 * self.stretch, max(n // 8, STRETCH))
        elif computed > 1024:
            self.stretch = max(self.stretch // 2, 64)


class _Dual(Rounds):
    """Perceptrons; of each mistake also how many training errors there are after it."""

    def __init__(self, gram, kernels, signs, start, pool):
        scores = np.zeros(signs.shape) if start is None else np.array(start, dtype=np.float64, order="C")
        super().__init__(gram, signs, scores, pool)
        self.kernels = [gram.in_units(kernel) for kernel in kernels]
        self.stored = [gram.reading(kernel) for kernel in kernels]

    def _visit(self, a, order, start, stop, quota):
        gram = self.gram
        return _visit_stretch(
            self.kernels[a], self.points, gram.norms, int(self.arithmetic), self.stored[a], gram.store, gram.slot,
            order, start, stop, quota, self.signs[a], self.scores[a],
        )  # fmt: skip

    def _advance(self, a, examples, visit):
        errors = np.zeros(len(examples), dtype=np.int64)
        rows = self.gram.slot[examples]
        _advance(self.stored[a], self.gram.store, self.gram.norms, rows, examples, self.signs[a], self.scores[a], errors)
        return (errors,)


@compiled
def _visit_stretch(kernel, X, norms, arithmetic, stored, store, slot, order, start, stop, quota, z, scores):
    """Visit order[start:stop] exactly, moving a copy of its scores only; where it stopped, and positions of the mistakes. It
    stops early after `quota` mistakes, or at one whose row is not in the store and cannot be made here. kernel makes its
    values of inner products, `stored` of what is in the store."""
    size = stop - start
    visit = order[start:stop]
    f = np.empty(size)
    of_visits = np.empty(size)
    for i in range(size):
        f[i] = scores[visit[i]]
        of_visits[i] = norms[visit[i]]
    inner = np.empty(size)
    values = np.empty(size)
    wrong = np.empty(min(size, quota), dtype=np.int64)
    count = 0
    for i in range(size):
        t = visit[i]
        if z[t] * f[i] > 0.0:
            continue
        wrong[count] = start + i
        count += 1
        row = slot[t]
        if count == quota or (row < 0 and arithmetic >= Arithmetic.SPARSE):
            return start + i + 1, wrong[:count].copy()
        for j in range(i + 1, size):
            u = visit[j]
            if row >= 0:
                inner[j] = store[row, u]
            else:
                inner[j] = dot(arithmetic, X[t], X[u])
        fill(stored if row >= 0 else kernel, inner[i + 1 :], norms[t], of_visits[i + 1 :], values[i + 1 :])
        for j in range(i + 1, size):
            f[j] += z[t] * values[j]
    return stop, wrong[:count].copy()


@compiled
def _advance(kernel, store, norms, rows, examples, z, scores, errors):
    """Add the rows of these mistakes to all scores, one mistake after the other, counting the errors after each."""
    values = np.empty(TILE)
    sign_tile = np.empty(TILE)
    for start in range(0, scores.shape[0], TILE):
        stop = min(start + TILE, scores.shape[0])
        f = scores[start:stop]
        signs = sign_tile[: stop - start]
        k = values[: stop - start]
        as_reals(z[start:stop], signs)
        for i in range(rows.shape[0]):
            if i + 1 < rows.shape[0]:
                fetch_ahead(store[rows[i + 1], start:stop])
            fill(kernel, store[rows[i], start:stop], norms[examples[i]], norms[start:stop], k)
            errors[i] += move(f, np.float64(z[examples[i]]), k, signs)
