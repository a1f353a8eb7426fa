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

A mistake on example t moves the scores of all examples by z_t K[t, :]. `find_mistakes` runs many learners side by side over
the same points, in rounds: each runs exactly over the next stretch of its visiting order, with inner products that are not
kept yet made one at a time and only inside the stretch; then the missing rows of all come from one matrix product, and all
scores advance. Where the kernel is affine in x . y, a weight vector finds the mistakes without rows: the same on integers.

Any learner whose update is f <- c f + d k(x_t, .) runs in this loop by its `Rule`: the perceptron has c = 1 and d = z_t,
`kp.romma` others.

The estimators store the mistakes alone, and read A from them:

>>> from kp import OneVsAllKernelPerceptron
>>> X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
>>> z = np.array([-1, 1, 1, -1])
>>> A = algorithm_1((1 + X @ X.T) ** 2, z, 10, np.random.RandomState(0))
>>> model = OneVsAllKernelPerceptron(degree=2, gamma=1, stop_if_separated=False, random_state=0)
>>> (log,) = model.fit(X, z).mistakes_
>>> A[-1].tolist(), log.alpha(n=4).tolist()
([7, 5, 5, 4], [7, 5, 5, 4])
>>> bool(np.allclose(np.mean(A, axis=0), log.alpha("average", n=4)))
True

Symbols: n examples, m learners, z = +-1 signs (m, n), f scores (m, n). A score of exactly 0 is a mistake, unless a rule says
otherwise. No bit of a result depends on threads, stretches or budgets: each score is moved by the same updates in the same
order.
"""

import itertools
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from kp.compiled import compiled
from kp.gram import NO_WORDS, Arithmetic, byte_products, dot, lay_out
from kp.kernels import check_range, fill
from kp.mistakes import MistakeLog, UpdateLog
from kp.predictors import TILE, fetch_ahead, move, one_for_each, replay

_LARGEST = 1e200  # of |w|^2
_OPPOSITE = 1e-12  # of 1 - cos^2 between w and x: below it rounding says where they point
_STRETCH = 512  # visits of the first stretch; later ones are longer, as mistakes become rare
PRESENTATIONS = ("replacement", "shuffled", "ordered")
"""In each epoch n independent draws, a new shuffle, or the order given."""


def visiting_orders(n, m, epochs, *, random_state=None, once=False):
    """Yield visiting orders (m, n), epoch by epoch: a shuffle for each perceptron in turn (Hermans 2021)."""
    for epoch in range(epochs):
        if not (once and epoch):
            order = np.tile(np.arange(n), (m, 1))
            if random_state is not None:
                for row in order:
                    random_state.shuffle(row)
        yield order


def presentations(n, epochs, how, *, random_state=None):
    """Yield, epoch by epoch, the numbers of the n examples that are presented."""
    if how != "replacement":
        yield from visiting_orders(n, 1, epochs, random_state=random_state if how == "shuffled" else None)
        return
    for _ in range(epochs):
        yield random_state.randint(n, size=(1, n))


class Rule(NamedTuple):
    """The update of a learner at a visit: f <- c f + d k(x_t, .) if its margin is at most 0, or below a bound."""

    relaxes: bool = False
    below: float = 0.0
    noise: float = 0.0
    from_origin: bool = False
    no_at_zero: bool = False


PERCEPTRON = Rule()


def find_mistakes(
    gram, kernel, signs, orders, n_epochs, *, rule=PERCEPTRON, threads=2, stop_if_separated=False, stop_if_consistent=False,
    count_errors=True, callback=None,
):  # fmt: skip
    """Run m binary learners over n training points in `gram`, each with its row of signs (m, n); a sign of 0 is skipped.

    orders yields (m, n), or (1, n) shared by all, for each epoch; kernel and rule are one, or one for each learner.
    Returns m logs.
    """
    signs = np.ascontiguousarray(signs, dtype=np.int8)
    if signs.ndim != 2 or signs.shape[1] != len(gram):
        raise ValueError(f"signs must be (m, {len(gram)}), a sign of each learner for each example, got {signs.shape}")
    m, n = signs.shape
    n_epochs = int(n_epochs)
    kernels = one_for_each(kernel, m)
    rules = [rule] * m if isinstance(rule, Rule) else list(rule)
    for each in set(kernels):
        check_range(gram.in_units(each), gram.source.top, n * n_epochs)
    dual = stop_if_consistent or any(rule.relaxes for rule in rules)
    primal = not dual and all(_has_weights(gram, k, n * n_epochs) for k in set(kernels))
    with ThreadPoolExecutor(threads) as pool:
        side_by_side = pool.map if threads > 1 and signs.size > 2**16 else map  # a pool takes a third of a small run's time
        run = (_Primal if primal else _Dual)(gram, kernels, signs, rules, side_by_side, callback or (lambda visits: None))

        def stop(made):
            consistent = stop_if_consistent and np.all(signs * run.scores > 0, where=signs != 0)
            return consistent or (stop_if_separated and not made)

        found, ends = run_epochs(run.epoch, _visits(orders, signs), stop=stop)
    logs = []
    skipped = np.count_nonzero(signs == 0, axis=1)  # counted as errors, since z f = 0
    for (example, step, *more), z, own, end, none in zip(found, signs, rules, ends, skipped, strict=True):
        columns = {"example": example.astype(np.intp), "step": step.astype(np.int64), "errors": None, "ends": end}
        if own.relaxes:
            scale, weight, wrong, _ = more
            logs.append(UpdateLog(**columns, scale=scale, weight=weight, wrong=wrong))
        else:
            log = MistakeLog(**columns, sign=z[example])
            logs.append(log if primal else log.with_errors(more[-1] - none))
    if count_errors and primal:
        errors = [np.zeros(len(log), dtype=np.int64) for log in logs]
        for _ in replay(logs, kernels, gram, epochs=(), labels=signs, errors=errors):
            pass
        logs = [log.with_errors(wrong - none) for log, wrong, none in zip(logs, errors, skipped, strict=True)]
    return logs


def run_epochs(epoch, visits, *, stop):
    """Let m learners visit examples epoch by epoch, until stop(number of updates in an epoch) is true.

    visits yields a list of m arrays, the examples that each learner visits. epoch(visited, steps before) returns m lists of
    tuples, which are the parts of a learner's columns: examples, steps and others. Returns the columns of each learner, and
    the ends (m, E) of its epochs, in steps.
    """
    found = []
    ends = []
    for visited in visits:
        start = ends[-1] if ends else np.zeros(len(visited), dtype=np.int64)
        found.append(epoch(visited, start))
        ends.append(start + [len(own) for own in visited])
        if stop(sum(len(part[0]) for own in found[-1] for part in own)):
            break
    parts = [itertools.chain(*own) for own in zip(*found, strict=True)]
    return [[np.concatenate(column) for column in zip(*own, strict=True)] for own in parts], np.transpose(ends)


def _visits(orders, signs):
    """The examples that each learner visits in an epoch, of orders (m, n) or (1, n): those whose sign is not 0."""
    m = len(signs)
    skips = not signs.all()
    for order in orders:
        if len(order) not in (1, m):
            raise ValueError(f"orders must yield (1, n) or ({m}, n) for {m} learners, got {len(order)} rows")
        # A view that is read-only, as of np.broadcast_to, would be compiled for once more.
        visited = list(order) if len(order) == m else [order[0]] * m
        yield [own[z[own] != 0] for own, z in zip(visited, signs, strict=True)] if skips else visited


def _has_weights(gram, kernel, steps):
    """Return whether a weight vector in input space does the work of kernel rows."""
    # That needs an affine kernel, and points that are real numbers, or integers with the same bits either way: with an
    # integer kernel and sums below 2^53.
    if not kernel.affine or gram.source.arithmetic == Arithmetic.GIVEN:
        return False
    if gram.source.arithmetic in (Arithmetic.ORDERED, Arithmetic.SPARSE) or gram.points.per_unit != 1:
        return True
    whole = float(kernel.gamma).is_integer() and float(kernel.coef0).is_integer()
    return whole and steps * kernel.bound(gram.source.top) <= 2.0**53


class _Primal:
    """Perceptrons as weight vectors: score = gamma w . x + coef0 b, with w the signed sum of mistaken points."""

    def __init__(self, gram, kernels, signs, rules, side_by_side, callback):
        self.callback = callback
        self.points = gram.points.compact
        self.signs = signs
        self.rules = rules
        self.side_by_side = side_by_side
        self.kernels = [gram.in_units(kernel) for kernel in kernels]
        self.arithmetic = Arithmetic.DOUBLE if gram.points.are_bytes else gram.source.arithmetic  # weights are no bytes
        self.w = np.zeros((len(signs), self.points.shape[1]))
        self.b = np.zeros(len(signs))

    def epoch(self, order, step):
        """As that of `_Dual`."""
        found = []
        for a, t in enumerate(self.side_by_side(self._run, range(len(order)), order)):
            found.append([(order[a][t], step[a] + t)])
            self.callback(len(order[a]))
        return found

    def _run(self, a, order):
        kernel = self.kernels[a]
        rule = self.rules[a]
        z = self.signs[a]
        w = self.w[a]
        b = self.b[a : a + 1]
        if self.arithmetic == Arithmetic.SPARSE:
            X = self.points
            return _primal_epoch_sparse(rule, kernel.gamma, kernel.coef0, X.indptr, X.indices, X.data, order, z, w, b)
        return _primal_epoch(rule, kernel.gamma, kernel.coef0, int(self.arithmetic), self.points, order, z, w, b)


@compiled
def _errs(rule, margin, z):
    """Whether a margin z f is a mistake on an example of sign z."""
    return margin < 0.0 or (margin == 0.0 and not (rule.no_at_zero and z < 0))


@compiled
def _primal_epoch(rule, gamma, coef0, arithmetic, X, order, z, w, b):
    """Positions in `order` at which the perceptron errs; w and b move."""
    wrong = []
    for position in range(order.shape[0]):
        t = order[position]
        if _errs(rule, z[t] * (gamma * dot(arithmetic, w, X[t]) + coef0 * b[0]), z[t]):
            for k in range(w.shape[0]):
                w[k] += z[t] * np.float64(X[t, k])
            b[0] += z[t]
            wrong.append(position)
    return np.array(wrong, dtype=np.int64)


@compiled
def _primal_epoch_sparse(rule, gamma, coef0, starts, features, values, order, z, w, b):
    """The same for points whose numbers other than 0 are `values` at `features`, those of point t from starts[t] on."""
    wrong = []
    for position in range(order.shape[0]):
        t = order[position]
        score = 0.0
        for p in range(starts[t], starts[t + 1]):
            score += w[features[p]] * values[p]
        if _errs(rule, z[t] * (gamma * score + coef0 * b[0]), z[t]):
            for p in range(starts[t], starts[t + 1]):
                w[features[p]] += z[t] * values[p]
            b[0] += z[t]
            wrong.append(position)
    return np.array(wrong, dtype=np.int64)


class _Dual:
    """Learners as scores (m, n) of all training points, moved by kernel rows, in rounds."""

    def __init__(self, gram, kernels, signs, rules, side_by_side, callback):
        self.callback = callback
        self.gram = gram
        self.kernels = [gram.in_units(kernel) for kernel in kernels]
        self.stored = [gram.reading(kernel) for kernel in kernels]
        self.signs = signs
        self.rules = rules
        self.side_by_side = side_by_side
        self.arithmetic = gram.source.arithmetic
        # Where no points are read, they have the type of those of the same store.
        no_points = np.empty((0, 0), dtype=np.float32 if self.arithmetic == Arithmetic.BYTES else np.float64)
        self.points = gram.points.compact if self.arithmetic < Arithmetic.BYTES else no_points
        self.words = gram.points.words if self.arithmetic == Arithmetic.BYTES else NO_WORDS
        self.own = [np.empty(0) for _ in rules]  # k(x, x)
        self.scores = np.zeros(signs.shape)
        self.squares = np.zeros(len(signs))  # |w|^2
        for a, (k, rule) in enumerate(zip(kernels, rules, strict=True)):
            if rule.relaxes:
                self.own[a] = gram.source.diagonal(k)
            if rule.from_origin:
                self.squares[a], self.scores[a] = gram.source.from_origin(k)
        self.stretch = _STRETCH

    def epoch(self, order, step):
        """Visit examples, each learner those of its own order, after step[a] steps; of each, a tuple for each round."""
        # Of the updates: examples, steps, c, d, whether they were mistakes, and errors after them, which perceptrons count.
        found = [[] for _ in order]
        sizes = np.array([len(own) for own in order])
        position = np.zeros(len(order), dtype=np.int64)
        while len(active := np.flatnonzero(position < sizes)):
            active = active[: self.gram.capacity]
            quota = self.gram.capacity // len(active)
            stops = np.minimum(position[active] + self.stretch, sizes[active])
            own_orders = [order[a] for a in active]
            visits = list(self.side_by_side(self._visit, active, own_orders, position[active], stops, [quota] * len(active)))
            examples = [order[a][t] for a, (_, t, *_) in zip(active, visits, strict=True)]
            computed = self.gram.fetch(np.unique(np.concatenate(examples)))
            errors = list(self.side_by_side(self._advance, active, examples, visits))
            for a, own, (stop, t, *update), wrong in zip(active, examples, visits, errors, strict=True):
                found[a].append((own, step[a] + t, *update, wrong))
                self.callback(int(stop - position[a]))
                position[a] = stop
            self._adapt(computed)
        return found

    def _visit(self, a, order, start, stop, quota):
        """(where it stopped, positions of the updates of learner a in order[start:stop], and their c, d, and mistakes)."""
        gram = self.gram
        stop, square, *updates = _visit_stretch(
            self.rules[a], self.kernels[a], self.points, self.words, gram.norms, int(self.arithmetic), self.stored[a],
            gram.store, gram.slot, self.own[a], order, start, stop, quota, self.signs[a], self.scores[a], self.squares[a],
        )  # fmt: skip
        if not square <= _LARGEST:
            raise ValueError(
                f"|w|^2 must stay below {_LARGEST:.0e}, got {square:.2g}: the examples are small, or no weight vector "
                "classifies all of them correctly; scale the data up, or set noise_control to a positive number"
            )
        self.squares[a] = square
        return stop, *updates

    def _advance(self, a, examples, visit):
        """Move all scores of learner a by the updates of a visit; the training errors after each, where they are counted."""
        gram = self.gram
        _, _, scale, weight, _ = visit
        errors = np.zeros(0 if self.rules[a].relaxes else len(examples), dtype=np.int64)
        _advance(
            self.stored[a], gram.store, gram.norms, gram.slot[examples], examples, scale, weight, self.rules[a].noise,
            self.signs[a], self.scores[a], errors,
        )  # fmt: skip
        return errors

    def _adapt(self, computed):
        """Aim at a few hundred new rows a round: enough for a fast matrix product, few enough single inner products."""
        if computed < 256:
            self.stretch = min(2 * self.stretch, max(len(self.gram) // 8, _STRETCH))
        elif computed > 1024:
            self.stretch = max(self.stretch // 2, 64)


@compiled
def _visit_stretch(
    rule, kernel, X, words, norms, arithmetic, stored, store, slot, own, order, start, stop, quota, z, scores, square
):  # fmt: skip
    """Visit order[start:stop] exactly, moving a copy of its scores: where it stopped, |w|^2, and the updates' columns."""
    # It stops early after `quota` updates, or at one whose row is not in the store and cannot be made here. `kernel` makes
    # its values of inner products, `stored` of what is in the store. At the first update whose row is not there the bytes of
    # all later visits are laid out, and from then on such a row is made at once.
    size = stop - start
    visit = order[start:stop]
    f = np.empty(size)
    of_visits = np.empty(size)
    for i in range(size):
        f[i] = scores[visit[i]]
        of_visits[i] = norms[visit[i]]
    inner = np.empty(size)
    values = np.empty(size)
    laid = size  # from where on the bytes are laid out, in panels
    panels = np.empty((0, 0), dtype=words.blank.dtype)
    of_bytes = np.empty((1, size if arithmetic == Arithmetic.BYTES else 0), dtype=np.int32)
    most = min(size, quota)
    where = np.empty(most, dtype=np.int64)
    scale = np.empty(most)
    weight = np.empty(most)
    wrong = np.empty(most, dtype=np.bool_)
    count = 0
    i = 0
    while i < size and count < quota:
        t = visit[i]
        margin = z[t] * f[i]
        mistake = _errs(rule, margin, z[t])
        if not mistake and margin >= rule.below:
            i += 1
            continue
        c = 1.0
        d = np.float64(z[t])
        if rule.relaxes:
            c, d, square = _relaxed(f[i], d, own[t] + rule.noise, square)
        where[count] = start + i
        scale[count] = c
        weight[count] = d
        wrong[count] = mistake
        count += 1
        i += 1
        row = slot[t]
        if (row < 0 and arithmetic >= Arithmetic.SPARSE) or not square <= _LARGEST:
            break
        if count == quota or d == 0.0:
            continue
        if row < 0 and arithmetic == Arithmetic.BYTES:
            if laid == size:
                laid = i
                panels = lay_out(words, visit[i:])
            byte_products(words, visit[i - 1 : i], panels, np.int64(0), of_bytes, i - laid, size - laid)
        for j in range(i, size):
            u = visit[j]
            if row >= 0:
                inner[j] = store[row, u]
            elif arithmetic == Arithmetic.BYTES:
                inner[j] = of_bytes[0, j - laid]
            else:
                inner[j] = dot(arithmetic, X[t], X[u])
        fill(stored if row >= 0 else kernel, inner[i:], norms[t], of_visits[i:], values[i:])
        for j in range(i, size):
            f[j] = c * f[j] + d * values[j]
    return start + i, square, where[:count].copy(), scale[:count].copy(), weight[:count].copy(), wrong[:count].copy()


@compiled
def _relaxed(f, z, own, square):
    """ROMMA's (c, d, |w'|^2) from f = w.x, the sign z, own = |x|^2 and square = |w|^2 (see `kp.romma`)."""
    # Both constraints hold with equality at the new w', so |w'|^2 = c w'.w + d w'.x = c |w|^2 + d z. An example that has no
    # length, or is opposite to w, moves nothing: no vector satisfies both.
    if own <= 0.0:
        return 1.0, 0.0, square
    if z * f >= own * square:
        return 0.0, z / own, 1.0 / own
    gap = own * square - f * f
    if gap <= _OPPOSITE * own * square:
        return 1.0, 0.0, square
    c = (own * square - z * f) / gap
    d = square * (z - f) / gap
    return c, d, c * square + d * z


@compiled
def _advance(kernel, store, norms, rows, examples, scale, weight, noise, z, scores, errors):
    """Move all scores by these updates, one after the other; count the errors after each, if `errors` has room for them."""
    counting = len(errors) > 0
    values = np.empty(TILE)
    sign_tile = np.empty(TILE)
    for start in range(0, scores.shape[0], TILE):
        stop = min(start + TILE, scores.shape[0])
        f = scores[start:stop]
        signs = sign_tile[: stop - start]
        k = values[: stop - start]
        for j in range(stop - start):
            signs[j] = z[start + j]
        for i in range(rows.shape[0]):
            if weight[i] == 0.0:
                continue
            if i + 1 < rows.shape[0]:
                fetch_ahead(store[rows[i + 1], start:stop])
            fill(kernel, store[rows[i], start:stop], norms[examples[i]], norms[start:stop], k)
            wrong = move(f, scale[i], weight[i], k, signs, counting)
            if counting:
                errors[i] += wrong
            elif start <= examples[i] < stop:
                f[examples[i] - start] += weight[i] * noise
