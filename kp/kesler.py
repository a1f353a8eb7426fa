"""Multiclass perceptrons after Kesler: find the mistakes of the linear, the ordinary kernel, and Xu and Zhang's perceptron.

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

from kp.compiled import compiled
from kp.gram import WIDTH, in_strips, ordered_products
from kp.kernels import fill
from kp.mistakes import MulticlassLog
from kp.predictors import TILE, blocks

DEMOTE = ("winner", "first", "all")  # of the classes that match or beat the true one the best, the first, or each is demoted
BLOCK = 512  # visits whose rows are made together where the matrix G is not kept
VISITS = 64  # those of them that `Coefficients` goes through together: it makes their part of G
STRIP = 128  # rows of a product that one thread computes at a time


def find_mistakes(learner, orders, *, stop_if_separated=True, callback=None):
    """Run a learner over the visiting orders.

    Parameters
    ----------
    learner : Dense, Rows, Coefficients or Linear
        The perceptron.
    orders : iterable of ndarray
        A visiting order (1, n) for each epoch.
    stop_if_separated : bool, default=True
        End after the first epoch without a mistake.
    callback : callable, optional
        Called as callback(visits) after each epoch.

    Returns
    -------
    MulticlassLog
        The mistakes.
    """
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
    """Scores of all examples, moved by rows of a matrix.

    Parameters
    ----------
    G : ndarray of shape (n, n)
        Values that mistakes add: K or its square, plus the threshold.
    y : ndarray of shape (n,)
        Classes 0..C-1 of the examples.
    n_classes : int
        Number C of classes.
    demote : {"winner", "first", "all"}, default="winner"
        The demoted classes among the ones that match or beat the true one.
    count_errors : bool, default=True
        Count the training errors after every mistake.
    """

    def __init__(self, G, y, n_classes, *, demote="winner", count_errors=True):
        self.G = G
        self.y = y
        self.F = np.zeros((n_classes, len(y)))
        self.demote = DEMOTE.index(demote)
        self.counting = count_errors

    def epoch(self, order):
        """Visit the examples once: of each mistake its position in the order, the classes it moves, and training errors."""
        return _visit(self.G, self.y, order, self.demote, self.counting, self.F)


class Rows:
    """The same as `Dense` for a plain kernel, with rows of G = k + threshold made on demand: the same bits.

    Parameters
    ----------
    gram : Gram
        The training points; it keeps the rows.
    kernel : Kernel
        The kernel k.
    y : ndarray of shape (n,)
        Classes 0..C-1 of the examples.
    n_classes : int
        Number C of classes.
    threshold : float, default=0.0
        Number that a mistake moves beta by.
    demote : {"winner", "first", "all"}, default="winner"
        The demoted classes among the ones that match or beat the true one.
    threads : int, default=2
        Number of threads. It does not change the result.
    """

    def __init__(self, gram, kernel, y, n_classes, *, threshold=0.0, demote="winner", threads=2):
        self.gram = gram
        self.kernel = kernel
        self.stored = gram.reading(kernel)
        self.y = y
        self.threshold = threshold
        self.threads = threads
        self.F = np.zeros((n_classes, len(y)))
        self.demote = DEMOTE.index(demote)

    def epoch(self, order):
        size = min(BLOCK, self.gram.capacity)
        found = [self._block(order[start : start + size], start) for start in range(0, len(order), size)]
        return map(np.concatenate, zip(*found, strict=True))

    def _block(self, examples, start):
        G = self.gram.values(self.kernel, examples, examples) + self.threshold
        norms = self.gram.norms
        positions = np.arange(len(examples))
        position, promoted, demoted, _ = _visit(G, self.y[examples], positions, self.demote, False, self.F[:, examples])
        wrong = examples[position]
        self.gram.fetch(np.unique(wrong))
        slots = self.gram.slot[wrong]

        def advance(part):
            return _advance(
                self.stored, self.threshold, self.gram.store[:, part], norms[part], slots, norms[wrong],
                promoted, demoted, self.y[part], self.F[:, part],
            )  # fmt: skip

        errors = sum(in_strips(advance, len(norms), TILE, self.threads))
        return start + position, promoted, demoted, _of_whole_mistakes(errors, promoted)


class Coefficients:
    """Xu and Zhang's update literally (eq. 11), for sets whose squared Gram matrix is too large.

    A block's scores are one product of its rows with alpha, moved by its own part of K^2 + 1: the same as `Dense` in K^2 + 1
    except for the order of sums. Training errors are not counted: that would take rows of K^2.

    Parameters
    ----------
    rows : callable
        rows(examples) gives K (b, n).
    y : ndarray of shape (n,)
        Classes 0..C-1 of the examples.
    n_classes : int
        Number C of classes.
    threshold : float, default=1.0
        Number that a mistake moves beta by.
    demote : {"winner", "first", "all"}, default="winner"
        The demoted classes among the ones that match or beat the true one.
    threads : int, default=2
        Number of threads. It does not change the result.
    """

    def __init__(self, rows, y, n_classes, *, threshold=1.0, demote="winner", threads=2):
        self.rows = rows
        self.y = y
        self.threshold = threshold
        self.threads = threads
        self.alpha = np.zeros((n_classes, len(y)))
        self.beta = np.zeros(n_classes)
        self.demote = DEMOTE.index(demote)

    def epoch(self, order):
        found = []
        for start in range(0, len(order), BLOCK):
            rows = self.rows(order[start : start + BLOCK])
            for low in range(0, len(rows), VISITS):
                K = rows[low : low + VISITS]
                position, promoted, demoted = self._visits(K, self.y[order[start + low :][: len(K)]])
                found.append((start + low + position, promoted, demoted, np.empty(0, dtype=np.int64)))
        return map(np.concatenate, zip(*found, strict=True))

    def _visits(self, K, y):
        """Visit the examples of the rows K (b, n) and classes y (b,); positions of the mistakes, promoted, demoted."""
        F = product(self.alpha, K, threads=self.threads) + self.threshold * self.beta[:, None]
        G = squared(K.T, threads=self.threads) + self.threshold
        position, promoted, demoted, _ = _visit(G, y, np.arange(len(y)), self.demote, False, F)
        for q, i, j in zip(position, promoted, demoted, strict=True):
            if i >= 0:
                self.alpha[i] += K[q]
                self.beta[i] += 1
            self.alpha[j] -= K[q]
            self.beta[j] -= 1
        return position, promoted, demoted


class Linear:
    """Weight vectors and thresholds in input space (eqs 4 and 5). Training errors are not counted.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Points, as float64.
    y : ndarray of shape (n,)
        Classes 0..C-1 of the examples.
    n_classes : int
        Number C of classes.
    threshold : float, default=1.0
        Number that a mistake moves b by.
    demote : {"winner", "first", "all"}, default="winner"
        The demoted classes among the ones that match or beat the true one.
    """

    def __init__(self, X, y, n_classes, *, threshold=1.0, demote="winner"):
        self.X = X
        self.y = y
        self.threshold = threshold
        self.demote = DEMOTE.index(demote)
        self.W = np.zeros((n_classes, X.shape[1]))
        self.b = np.zeros(n_classes)

    def epoch(self, order):
        return *_visit_linear(self.X, self.y, order, self.demote, self.threshold, self.W, self.b), np.empty(0, np.int64)


def product(A, B, *, threads=2):
    """A (n, d) times B (m, d) transposed, sums in the order of the d columns: the same bits on any threads."""
    A, symmetric = np.ascontiguousarray(A), B is A
    B, out = A if symmetric else np.ascontiguousarray(B), np.empty((len(A), len(B)))
    if not symmetric:
        in_strips(lambda part: ordered_products(A, B[part], out[:, part]), len(B), WIDTH, threads)
        return out

    def strip(start):
        rows = slice(start, start + STRIP)
        rest = slice(start, None)
        ordered_products(A[rows], A[rest], out[rows, rest])
        out[rest, rows] = out[rows, rest].T

    starts = range(0, len(A), STRIP)
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(strip, starts))
    return out


def squared(K, *, threads=2):
    """K^T K (n, n) of K (m, n), which is K^2 where K is symmetric; each sum in the order of the m rows."""
    KT = K.T
    return product(KT, KT, threads=threads)


def walk(log, kernel, columns, n_classes, *, threshold=0.0, epochs=(), y=None, threads=2):
    """Walk along a log over all points of `columns`, counting votes and errors.

    Parameters
    ----------
    log : MulticlassLog
        The mistakes.
    kernel : Kernel
        The kernel k.
    columns : Gram or CrossGram
        The training points with c points.
    n_classes : int
        Number C of classes.
    threshold : float, default=0.0
        Number that a mistake moves beta by.
    epochs : sequence of int, optional
        Epochs, counted from 1, at whose end votes are taken.
    y : ndarray of shape (c,), optional
        True classes of the points, to count errors.
    threads : int, default=2
        Number of threads. It does not change the result.

    Returns
    -------
    votes : ndarray of shape (E, C, c)
        Steps by each epoch at which the stored predictor gave the point to a class; ties go to the
        first class.
    errors : ndarray of shape (M,)
        Errors after each row of the log, for true classes y.
    """
    examples = np.unique(log.example)
    kernel = columns.reading(kernel)
    index = np.searchsorted(examples, log.example)
    lengths = np.array([log.length(epoch) for epoch in epochs], dtype=np.int64)
    steps = np.array([log.steps(epoch) for epoch in epochs], dtype=np.int64)
    votes = np.zeros((len(epochs), n_classes, len(columns)))
    errors = np.zeros(len(log), dtype=np.int64)
    y = np.full(len(columns), -1) if y is None else y
    with ThreadPoolExecutor(threads) as pool:
        for start, stop, block, rows in blocks(columns, examples):
            tiles = [slice(left, min(left + TILE, stop - start)) for left in range(0, stop - start, TILE)]

            def over(tile, start=start, block=block, rows=rows):
                part = slice(start + tile.start, start + tile.stop)
                return _walk(
                    kernel, threshold, block[:, tile], rows[index], columns.row_norms[log.example], columns.norms[part],
                    log.step, log.promoted, log.demoted, lengths, steps, y[part], votes[:, :, part],
                )  # fmt: skip

            errors += sum(pool.map(over, tiles))
    return votes, _of_whole_mistakes(errors, log.promoted)


def _of_whole_mistakes(errors, promoted):
    """Give every row of a mistake the training errors after its last row."""
    last = np.append(np.flatnonzero(promoted >= 0)[1:], len(promoted)) - 1
    return np.repeat(errors[last], np.diff(last, prepend=-1)) if len(promoted) else errors


@compiled
def _next_demoted(scores, own, true, j, demote):
    """The class to demote after class j (-1 at first), or -1: the classes but the true one that score at least `own`."""
    if demote == 0 or demote == 1:
        if j >= 0:
            return -1
        for c in range(scores.shape[0]):
            if c != true and scores[c] >= own and (j < 0 or scores[c] > scores[j]):
                j = c
                if demote == 1:
                    return j
        return j
    for c in range(j + 1, scores.shape[0]):
        if c != true and scores[c] >= own:
            return c
    return -1


@compiled
def _wrong(F, y):
    """The number of examples that a class other than their own matches or beats."""
    n = F.shape[1]
    own = np.empty(256)
    count = np.empty(256, dtype=np.int32)
    wrong = 0
    for start in range(0, n, 256):
        size = min(256, n - start)
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
def _visit(G, y, order, demote, counting, F):
    """Visit the examples in order; F (C, n) moves. Positions in the order, promoted, demoted, and errors of each row."""
    position = [0 for _ in range(0)]
    promoted = [0 for _ in range(0)]
    demoted = [0 for _ in range(0)]
    errors = [0 for _ in range(0)]
    scores = np.empty(F.shape[0])
    for s in range(order.shape[0]):
        t = order[s]
        true = y[t]
        for c in range(F.shape[0]):
            scores[c] = F[c, t]
        j = _next_demoted(scores, scores[true], true, -1, demote)
        if j < 0:
            continue
        row = G[t]
        up = F[true]
        for u in range(row.shape[0]):
            up[u] += row[u]
        raised = true
        while j >= 0:
            down = F[j]
            for u in range(row.shape[0]):
                down[u] -= row[u]
            position.append(s)
            promoted.append(raised)
            demoted.append(j)
            raised = -1
            j = _next_demoted(scores, scores[true], true, j, demote)
        if counting:
            wrong = _wrong(F, y)
            for _ in range(len(position) - len(errors)):
                errors.append(wrong)
    return np.array(position), np.array(promoted), np.array(demoted), np.array(errors)


@compiled
def _visit_linear(X, y, order, demote, threshold, W, b):
    """Visit the examples in order; W (C, d) and b (C,) move. Positions in the order, promoted and demoted classes."""
    position = [0 for _ in range(0)]
    promoted = [0 for _ in range(0)]
    demoted = [0 for _ in range(0)]
    scores = np.empty(W.shape[0])
    for s in range(order.shape[0]):
        t = order[s]
        true = y[t]
        x = X[t]
        for c in range(W.shape[0]):
            scores[c] = threshold * b[c]
            for k in range(x.shape[0]):
                scores[c] += W[c, k] * x[k]
        j = _next_demoted(scores, scores[true], true, -1, demote)
        raised = true
        if j >= 0:
            for k in range(x.shape[0]):
                W[true, k] += x[k]
            b[true] += 1.0
        while j >= 0:
            for k in range(x.shape[0]):
                W[j, k] -= x[k]
            b[j] -= 1.0
            position.append(s)
            promoted.append(raised)
            demoted.append(j)
            raised = -1
            j = _next_demoted(scores, scores[true], true, j, demote)
    return np.array(position), np.array(promoted), np.array(demoted)


@compiled
def _advance(kernel, threshold, store, norms, slots, row_norms, promoted, demoted, y, F):
    """Move the scores F (C, c) of some columns by these mistakes, one after the other; the wrong ones of them after each."""
    errors = np.zeros(len(slots), dtype=np.int64)
    values = np.empty(TILE)
    for start in range(0, F.shape[1], TILE):
        stop = min(start + TILE, F.shape[1])
        k = values[: stop - start]
        f = F[:, start:stop]
        for m in range(len(slots)):
            fill(kernel, store[slots[m], start:stop], row_norms[m], norms[start:stop], k)
            _move(k, threshold, promoted[m], demoted[m], f)
            errors[m] += _wrong(f, y[start:stop])
    return errors


@compiled
def _move(k, threshold, promoted, demoted, F):
    for u in range(k.shape[0]):
        k[u] += threshold
    if promoted >= 0:
        up = F[promoted]
        for u in range(k.shape[0]):
            up[u] += k[u]
    down = F[demoted]
    for u in range(k.shape[0]):
        down[u] -= k[u]


@compiled
def _walk(kernel, threshold, block, rows, row_norms, norms, step, promoted, demoted, lengths, steps, y, votes):
    """One log over one tile of columns: errors after each row of the log; votes (E, C, c) at the epochs."""
    n_classes = votes.shape[1]
    size = norms.shape[0]
    n_epochs = len(lengths)
    counting = size > 0 and y[0] >= 0
    F = np.zeros((n_classes, size))
    total = np.zeros((n_classes, size))
    k = np.empty(size)
    errors = np.zeros(len(rows), dtype=np.int64)
    epoch = 0
    since = 0
    for m in range(len(rows) + 1):
        while epoch < n_epochs and m >= lengths[epoch]:
            _vote(F, steps[epoch] - since, total)
            since = steps[epoch]
            for c in range(n_classes):
                for u in range(size):
                    votes[epoch, c, u] = total[c, u]
            epoch += 1
        if m == len(rows) or (epoch == n_epochs and not counting):
            break
        if n_epochs > 0 and step[m] > since:
            _vote(F, step[m] - since, total)
            since = step[m]
        fill(kernel, block[rows[m]], row_norms[m], norms, k)
        _move(k, threshold, promoted[m], demoted[m], F)
        if counting:
            errors[m] = _wrong(F, y)
    return errors


@compiled
def _vote(F, steps, total):
    for u in range(F.shape[1]):
        best = 0
        for c in range(1, F.shape[0]):
            if F[c, u] > F[best, u]:
                best = c
        total[best, u] += steps
