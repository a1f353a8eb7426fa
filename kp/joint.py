"""Perceptrons of all classes jointly: the mistakes of the linear, the ordinary kernel, and Xu and Zhang's perceptron.

Sources: Xu & Zhang 2005 (eqs 3 to 11); Duda, Hart & Stork 2001 (Kesler's construction); Crammer & Singer 2003.

A mistake on example q of class i, which class j matches or beats, raises the scores of i and lowers those of j:

    linear         w_i += x_q, b_i += 1  (eq. 5)                            moves f_i(x) by  x_q . x + 1
    ordinary       alpha_q^i += 1, beta_i += 1                              moves f_i(x) by  k(x_q, x) + 1
    Xu and Zhang   alpha_m^i += k(x_m, x_q) for all m, beta_i += 1  (11)    moves f_i(x) by  sum_m k(x_q, x_m) k(x_m, x) + 1

and all of it for j with the opposite sign. On the training points the last is row q of K^2 + 1: Xu and Zhang's algorithm is
the ordinary one in the squared Gram matrix. With two classes f_2 = -f_1 is the single discriminant of eqs 3, 6 and 9.

Symbols: n examples, C classes, F (C, n) scores, K (n, n) kernel values, G (n, n) the values that mistakes add; alpha, beta:
eq. 10.
"""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from kp.compiled import PLAIN, compiled
from kp.gram import WIDTH, in_strips, ordered_products
from kp.kernels import fill
from kp.machine import LANES, add_product, load_lanes, store_lanes
from kp.mistakes import MulticlassLog, first_rows
from kp.predictors import TILE, blocks

DEMOTE = ("winner", "first", "all", "each")
"""Of the classes that match or beat the true one the best or the first is demoted, or all are; with "each" the true one is
promoted once for each of them: Kesler's construction, all pairs at once."""
_WINNER, _FIRST, _ALL, _EACH = range(4)
NO_LIMIT = 2**62
"""More mistakes than any run makes."""
_NO_EPOCHS = np.empty(0, dtype=np.int64)
_NO_VOTES = np.empty((0, 0, 0))
_BLOCK = 512  # visits whose rows are made together where the matrix G is not kept
_VISITS = 64  # those of them that `Coefficients` goes through together: it makes their part of G
_STRIP = 128  # rows of a product that one thread computes at a time


def collect_mistakes(learner, orders, *, stop_if_separated=True, callback=None):
    """Run a learner over the visiting orders."""
    columns = []
    ends = []
    steps = 0
    for order in orders:
        order = np.ascontiguousarray(np.reshape(order, -1), dtype=np.intp)
        position, promoted, demoted, errors = learner.epoch(order)
        columns.append((order[position], steps + position, promoted, demoted, errors))
        steps += len(order)
        ends.append(steps)
        if callback:
            callback(len(order))
        if stop_if_separated and not len(position):
            break
    example, step, promoted, demoted, errors = map(np.concatenate, zip(*columns, strict=True))
    counted = len(errors) == len(example)
    return MulticlassLog(
        example=example, step=step, promoted=promoted, demoted=demoted,
        errors=errors if counted else None, ends=np.array(ends, dtype=np.int64),
    )  # fmt: skip


class Dense:
    """Scores of all examples, moved by rows of a matrix."""

    def __init__(self, G, y, n_classes, *, demote="winner", count_errors=True):
        self.G = G
        self.y = y
        self.F = np.zeros((n_classes, len(y)))
        self.demote = DEMOTE.index(demote)
        self.counting = count_errors

    def epoch(self, order, left=NO_LIMIT):
        """Visit the examples once, until `left` were mistakes.

        Of each row of the log its mistake's position in the order, the classes it moves, and training errors.
        """
        position, demoted, errors = _visit(self.G, self.y, order, self.demote, left, self.counting, self.F)
        return position, _promoted(self.y[order[position]], position, self.demote), demoted, errors


class Rows:
    """The same as `Dense` for a plain kernel, with rows of G = k + threshold made on demand: the same bits."""

    def __init__(self, gram, kernel, y, n_classes, *, threshold=0.0, demote="winner", threads=2):
        self.gram = gram
        self.kernel = kernel
        self.stored = gram.reading(kernel)
        self.y = y
        self.threshold = threshold
        self.threads = threads
        self.F = np.zeros((n_classes, len(y)))
        self.demote = DEMOTE.index(demote)

    def epoch(self, order, left=NO_LIMIT):
        size = min(_BLOCK, self.gram.capacity)
        found = []
        for start in range(0, len(order), size):
            if not left:
                break
            found.append(self._block(order[start : start + size], start, left))
            left -= np.count_nonzero(first_rows(found[-1][0]))
        return map(np.concatenate, zip(*found, strict=True))

    def _block(self, examples, start, left):
        G = self.gram.values(self.kernel, examples, examples) + self.threshold
        norms = self.gram.norms
        positions = np.arange(len(examples))
        F = np.take(self.F, examples, axis=1)
        position, demoted, _ = _visit(G, self.y[examples], positions, self.demote, left, False, F)
        wrong = examples[position]
        promoted = _promoted(self.y[wrong], position, self.demote)
        times = _promotions(position, promoted)
        self.gram.fetch(np.unique(wrong))
        values, places = self.gram.columns(wrong, 0, len(norms), None)  # all are there: no buffer

        def advance(part):
            return _walk(
                self.stored, self.threshold, values, places, norms[wrong], norms, position, promoted, times, demoted, self.y,
                _NO_EPOCHS, _NO_EPOCHS, self.F, _NO_VOTES, part.start, part.stop,
            )  # fmt: skip

        errors = sum(in_strips(advance, len(norms), TILE, self.threads))
        return start + position, promoted, demoted, _of_whole_mistakes(errors, position)


class Coefficients:
    """Xu and Zhang's update literally (eq. 11), for sets whose squared Gram matrix is too large.

    A block's scores are one product of its rows with alpha, moved by its own part of K^2 + 1: the same as `Dense` in K^2 + 1
    except for the order of sums. Training errors are not counted: that would take rows of K^2.
    """

    def __init__(self, rows, y, n_classes, *, threshold=1.0, demote="winner", threads=2):
        self.rows = rows
        self.y = y
        self.threshold = threshold
        self.threads = threads
        self.alpha = np.zeros((n_classes, len(y)))
        self.beta = np.zeros(n_classes)
        self.demote = DEMOTE.index(demote)

    def epoch(self, order, left=NO_LIMIT):
        found = []
        for start in range(0, len(order), _BLOCK):
            if not left:
                break
            rows = self.rows(order[start : start + _BLOCK])
            for low in range(0, len(rows), _VISITS):
                K = rows[low : low + _VISITS]
                position, promoted, demoted = self._visits(K, self.y[order[start + low :][: len(K)]], left)
                found.append((start + low + position, promoted, demoted, np.empty(0, dtype=np.int64)))
                left -= np.count_nonzero(first_rows(position))
        return map(np.concatenate, zip(*found, strict=True))

    def _visits(self, K, y, left):
        """Visit the examples of the rows K (b, n) and classes y (b,); positions of the mistakes, promoted, demoted."""
        F = product(self.alpha, K, threads=self.threads) + self.threshold * self.beta[:, None]
        G = squared(K.T, threads=self.threads) + self.threshold
        position, demoted, _ = _visit(G, y, np.arange(len(y)), self.demote, left, False, F)
        promoted = _promoted(y[position], position, self.demote)
        times = _promotions(position, promoted)
        for q, i, n, j in zip(position, promoted, times, demoted, strict=True):
            if n:
                self.alpha[i] += n * K[q]
                self.beta[i] += n
            self.alpha[j] -= K[q]
            self.beta[j] -= 1
        return position, promoted, demoted


class Linear:
    """Weight vectors and thresholds in input space (eqs 4 and 5). Training errors are not counted."""

    def __init__(self, X, y, n_classes, *, threshold=1.0, demote="winner"):
        size = -(-n_classes // LANES) * LANES  # room for whole vectors of classes
        self.X = X
        self.y = y
        self.n_classes = n_classes
        self.threshold = threshold
        self.demote = DEMOTE.index(demote)
        self._W = np.zeros((X.shape[1], size))
        self._b = np.zeros(size)

    @property
    def W(self):
        """Weights (C, d)."""
        return self._W[:, : self.n_classes].T

    @property
    def b(self):
        """Thresholds (C,), before they are multiplied."""
        return self._b[: self.n_classes]

    def epoch(self, order, left=NO_LIMIT):
        rule = self.demote, left, self.threshold, self.n_classes
        position, demoted = _visit_points(self.X, self.y, order, *rule, self._W.ravel(), self._b)
        promoted = _promoted(self.y[order[position]], position, self.demote)
        return position, promoted, demoted, np.empty(0, np.int64)


def product(A, B, *, threads=2):
    """A (n, d) times B (m, d) transposed, sums in the order of the d columns: the same bits on any threads."""
    symmetric = B is A
    A = np.require(A, requirements=PLAIN)
    B = A if symmetric else np.require(B, requirements=PLAIN)
    out = np.empty((len(A), len(B)))
    if not symmetric:
        in_strips(lambda part: ordered_products(A, B[part], out[:, part]), len(B), WIDTH, threads)
        return out

    def strip(start):
        rows = slice(start, start + _STRIP)
        rest = slice(start, None)
        ordered_products(A[rows], A[rest], out[rows, rest])
        out[rest, rows] = out[rows, rest].T

    starts = range(0, len(A), _STRIP)
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(strip, starts))
    return out


def squared(K, *, threads=2):
    """K^T K (n, n) of K (m, n), which is K^2 where K is symmetric; each sum in the order of the m rows."""
    KT = K.T
    return product(KT, KT, threads=threads)


def walk(log, kernel, columns, n_classes, *, threshold=0.0, epochs=(), y=None):
    """Walk along a log over all points of `columns`, counting votes and errors."""
    examples = np.unique(log.example)
    kernel = columns.reading(kernel)
    index = np.searchsorted(examples, log.example)
    times = _promotions(log.step, log.promoted)
    lengths = np.array([log.length(epoch) for epoch in epochs], dtype=np.int64)
    steps = np.array([log.steps(epoch) for epoch in epochs], dtype=np.int64)
    votes = np.zeros((len(epochs), n_classes, len(columns)))
    F = np.zeros((n_classes, len(columns)))
    errors = np.zeros(len(log), dtype=np.int64)
    y = np.full(len(columns), -1) if y is None else y
    for start, stop, values, places in blocks(columns, examples):

        def over(part, start=start, values=values, places=places):
            return _walk(
                kernel, threshold, values, places[index] - start, columns.row_norms[log.example], columns.norms, log.step,
                log.promoted, times, log.demoted, y, lengths, steps, F, votes, start + part.start, start + part.stop,
            )  # fmt: skip

        errors += sum(in_strips(over, stop - start, TILE, columns.source.threads))
    return votes, _of_whole_mistakes(errors, log.step)


def _of_whole_mistakes(errors, step):
    """Give every row of a mistake the training errors after its last row."""
    last = np.append(np.flatnonzero(first_rows(step))[1:], len(step)) - 1
    return np.repeat(errors[last], np.diff(last, prepend=-1)) if len(step) else errors


def _promoted(true, step, demote):
    """(M,) the class that each row promotes, or -1: the true one in a mistake's first row, or in each."""
    return true if demote == _EACH else np.where(first_rows(step), true, -1)


def _promotions(step, promoted):
    """(M,) how often each row's class is promoted: all promotions of a mistake at its first row, where they are one move."""
    start = np.flatnonzero(first_rows(step))
    times = np.zeros(len(step))
    if len(step):
        times[start] = np.add.reduceat(promoted >= 0, start, dtype=np.float64)
    return times


@compiled
def _changes(scores, true, demote, change):
    """Fill change (C,) with promotions less demotions of a visit and return how many classes are demoted: 0 if none."""
    own = scores[true]
    most = -np.inf
    count = 0
    scores[true] = -np.inf
    for j in range(scores.shape[0]):
        most = scores[j] if scores[j] > most else most
    if most < own:
        return 0
    for j in range(scores.shape[0]):
        change[j] = -1.0 if scores[j] >= own else 0.0
        count += scores[j] >= own
    if demote < _ALL:  # only the first class that reaches this score
        least = most if demote == _WINNER else own
        found = 0.0
        for j in range(scores.shape[0]):
            change[j] = -1.0 if scores[j] >= least and found == 0.0 else 0.0
            found += change[j]
        count = 1
    change[true] = float(count) if demote == _EACH else 1.0
    return count


@compiled
def _keep(s, change, position, demoted):
    """Append the rows of a mistake to the log: one for each class that is demoted."""
    for j in range(change.shape[0]):
        if change[j] < 0.0:
            position.append(s)
            demoted.append(j)


@compiled
def _wrong(F, y, first, last):
    """The number of examples first:last that a class other than their own matches or beats."""
    own = np.empty(256)
    count = np.empty(256, dtype=np.int32)
    wrong = 0
    for start in range(first, last, 256):
        size = min(256, last - start)
        for u in range(size):
            own[u] = F[y[start + u], start + u]
            count[u] = 0
        for c in range(F.shape[0]):
            f = F[c, start : start + size]
            for u in range(size):
                count[u] += f[u] >= own[u]
        for u in range(size):
            wrong += count[u] > 1
    return wrong


@compiled
def _visit(G, y, order, demote, left, counting, F):
    """Visit examples in order until `left` of them were mistakes; F (C, n) moves. Positions in the order, demoted
    classes, and errors of each row."""
    position = [0 for _ in range(0)]
    demoted = [0 for _ in range(0)]
    errors = [0 for _ in range(0)]
    scores = np.empty(F.shape[0])
    change = np.empty(F.shape[0])
    for s in range(order.shape[0]):
        if left == 0:
            break
        t = order[s]
        for c in range(F.shape[0]):
            scores[c] = F[c, t]
        if _changes(scores, y[t], demote, change) == 0:
            continue
        left -= 1
        row = G[t]
        for c in range(F.shape[0]):
            times = change[c]
            if times != 0.0:
                f = F[c]
                for u in range(f.shape[0]):
                    f[u] += times * row[u]
        _keep(s, change, position, demoted)
        if counting:
            wrong = _wrong(F, y, 0, F.shape[1])
            for _ in range(len(position) - len(errors)):
                errors.append(wrong)
    return np.array(position), np.array(demoted), np.array(errors)


@compiled
def _visit_points(X, y, order, demote, left, threshold, n_classes, W, b):
    """The same in input space, where W (d, C) and b (C,) move. Positions in the order and demoted classes.

    W and b have room for whole vectors of LANES classes, and W is flat.
    """
    position = [0 for _ in range(0)]
    demoted = [0 for _ in range(0)]
    size = b.shape[0]
    all_scores = np.empty(size)
    all_changes = np.zeros(size)
    scores = all_scores[:n_classes]
    change = all_changes[:n_classes]
    start = threshold * b
    for s in range(order.shape[0]):
        if left == 0:
            break
        t = order[s]
        for j in range(0, size, LANES):
            sums = load_lanes(start, j)
            for k in range(X.shape[1]):
                sums = add_product(sums, X[t, k], load_lanes(W, k * size + j))
            store_lanes(all_scores, j, sums)
        if _changes(scores, y[t], demote, change) == 0:
            continue
        left -= 1
        for j in range(0, size, LANES):
            lanes = load_lanes(all_changes, j)
            for k in range(X.shape[1]):
                store_lanes(W, k * size + j, add_product(load_lanes(W, k * size + j), X[t, k], lanes))
        for j in range(n_classes):
            b[j] += change[j]
            start[j] = threshold * b[j]
        _keep(s, change, position, demoted)
    return np.array(position), np.array(demoted)


@compiled
def _move(k, threshold, promoted, times, demoted, F, start):
    """Move the scores of as many columns of F as k has, from `start` on."""
    for u in range(k.shape[0]):
        k[u] += threshold
    if times > 0.0:
        up = F[promoted, start : start + k.shape[0]]
        for u in range(k.shape[0]):
            up[u] += times * k[u]
    down = F[demoted, start : start + k.shape[0]]
    for u in range(k.shape[0]):
        down[u] -= k[u]


@compiled
def _walk(
    kernel, threshold, values, places, row_norms, norms, step, promoted, times, demoted, y, lengths, steps, F, votes, first,
    last,
):  # fmt: skip
    """Move the scores F (C, n) of columns first:last by the rows of a log; returns how many of them are wrong after each, if
    they have labels y (n,). votes (E, C, n) gets those until each epoch. The kernel of row m and column j is made from
    values[places[m] + j]."""
    n_epochs = len(lengths)
    counting = first < last and y[first] >= 0
    errors = np.zeros(len(places), dtype=np.int64)
    kernel_tile = np.empty(TILE)
    for start in range(first, last, TILE):
        stop = min(start + TILE, last)
        k = kernel_tile[: stop - start]
        total = np.zeros((F.shape[0], stop - start))
        epoch = 0
        since = 0
        for m in range(len(places) + 1):
            while epoch < n_epochs and m >= lengths[epoch]:
                _vote(F, steps[epoch] - since, total, start)
                since = steps[epoch]
                votes[epoch, :, start:stop] = total
                epoch += 1
            if m == len(places) or (epoch == n_epochs and not counting):
                break
            if n_epochs > 0 and step[m] > since:
                _vote(F, step[m] - since, total, start)
                since = step[m]
            fill(kernel, values[places[m] + start : places[m] + stop], row_norms[m], norms[start:stop], k)
            _move(k, threshold, promoted[m], times[m], demoted[m], F, start)
            if counting:
                errors[m] += _wrong(F, y, start, stop)
    return errors


@compiled
def _vote(F, steps, total, start):
    """Add to `total` (C, c) the votes of these steps in columns of F from `start` on."""
    for u in range(total.shape[1]):
        best = 0
        for c in range(1, F.shape[0]):
            if F[c, start + u] > F[best, start + u]:
                best = c
        total[best, u] += steps
