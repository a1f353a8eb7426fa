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
from kp.machine import LANES, add_product, load_lanes, store_lanes
from kp.mistakes import Moves, MulticlassLog, first_rows, promotions
from kp.perceptron import run_epochs
from kp.predictors import TILE, Stages, advance, count_errors, replay

DEMOTE = ("winner", "first", "all", "each")
"""Which of the classes that match or beat the true one are demoted: the best, the first, or all; "each" as Kesler has it."""
_WINNER, _FIRST, _ALL, _EACH = range(4)
NO_LIMIT = 2**62
"""More mistakes than any run makes."""
_NO_STAGES = Stages(*[np.empty(0, dtype=np.int64)] * 3)
_NO_SCORES = np.empty((0, 0, 0))
_BLOCK = 512  # visits whose rows are made together where the matrix G is not kept
_VISITS = 64  # those of them that `Coefficients` goes through together: it makes their part of G
_STRIP = 128  # rows of a product that one thread computes at a time


def collect_mistakes(learner, orders, *, stop_if_separated=True):
    """Run a learner over the visiting orders."""

    def epoch(visited, start):
        (order,) = visited
        position, promoted, demoted, errors = learner.visit(order)
        return [[(order[position], start[0] + position, promoted, demoted, errors)]]

    visits = ([np.ascontiguousarray(np.reshape(order, -1), dtype=np.intp)] for order in orders)
    ((example, step, promoted, demoted, errors),), (ends,) = run_epochs(
        epoch, visits, stop=lambda made: stop_if_separated and not made
    )
    counted = len(errors) == len(example)
    return MulticlassLog(
        example=example, step=step, promoted=promoted, demoted=demoted, errors=errors if counted else None, ends=ends
    )


class Dense:
    """Scores of all examples, moved by rows of a matrix."""

    def __init__(self, G, y, n_classes, *, demote="winner", count_errors=True):
        self.G = G
        self.y = y
        self.F = np.zeros((n_classes, len(y)))
        self.demote = DEMOTE.index(demote)
        self.counting = count_errors

    def visit(self, order, left=NO_LIMIT):
        """Visit examples until `left` were mistakes; their positions in the order, classes promoted and demoted, errors."""
        position, demoted, errors = _visit(self.G, self.y, order, self.demote, left, self.counting, self.F)
        return position, _promoted(self.y[order[position]], position, self.demote), demoted, errors


class Rows:
    """The same as `Dense` for a plain kernel, with rows of G = k + threshold made on demand: the same bits."""

    def __init__(self, gram, kernel, y, n_classes, *, threshold=0.0, demote="winner", threads=2):
        self.gram = gram
        self.kernel = kernel
        self.stored = gram.reading(kernel)
        self.stored = self.stored._replace(added=self.stored.added + threshold)
        self.y = y
        self.labels = y.astype(np.float64)
        self.threshold = threshold
        self.threads = threads
        self.F = np.zeros((n_classes, len(y)))
        self.demote = DEMOTE.index(demote)

    def visit(self, order, left=NO_LIMIT):
        size = min(_BLOCK, self.gram.capacity)
        return _in_parts(lambda part, left: self._block(order[part], left), len(order), size, left)

    def _block(self, examples, left):
        G = self.gram.values(self.kernel, examples, examples) + self.threshold
        norms = self.gram.norms
        positions = np.arange(len(examples))
        F = np.take(self.F, examples, axis=1)
        position, demoted, _ = _visit(G, self.y[examples], positions, self.demote, left, False, F)
        wrong = examples[position]
        promoted = _promoted(self.y[wrong], position, self.demote)
        moves = Moves(position, promoted, promotions(position, promoted), demoted)
        self.gram.fetch(np.unique(wrong))
        values, places = self.gram.columns(wrong, 0, len(norms), None)  # all are there: no buffer

        def over(part):
            return advance(
                self.stored, values, places, norms[wrong], norms, moves, _NO_STAGES, self.labels, self.F, 0,
                *[_NO_SCORES] * 4, part.start, part.stop,
            )  # fmt: skip

        errors = sum(in_strips(over, len(norms), TILE, self.threads))
        return position, promoted, demoted, _of_whole_mistakes(errors, position)


class Coefficients:
    """Xu and Zhang's update literally (eq. 11), for sets whose squared Gram matrix is too large."""

    # A block's scores are one product of its rows with alpha, moved by its own part of K^2 + 1: the same as `Dense` in
    # K^2 + 1 except for the order of sums. Training errors are not counted: that would take rows of K^2.
    def __init__(self, rows, y, n_classes, *, threshold=1.0, demote="winner", threads=2):
        self.rows = rows
        self.y = y
        self.threshold = threshold
        self.threads = threads
        self.alpha = np.zeros((n_classes, len(y)))
        self.beta = np.zeros(n_classes)
        self.demote = DEMOTE.index(demote)

    def visit(self, order, left=NO_LIMIT):
        return _in_parts(lambda part, left: self._block(order[part], left), len(order), _BLOCK, left)

    def _block(self, examples, left):
        rows = self.rows(examples)
        y = self.y[examples]
        return _in_parts(lambda part, left: self._visits(rows[part], y[part], left), len(rows), _VISITS, left)

    def _visits(self, K, y, left):
        """As `visit`, of the examples of the rows K (b, n) and classes y (b,)."""
        F = product(self.alpha, K, threads=self.threads) + self.threshold * self.beta[:, None]
        G = squared(K.T, threads=self.threads) + self.threshold
        position, demoted, _ = _visit(G, y, np.arange(len(y)), self.demote, left, False, F)
        promoted = _promoted(y[position], position, self.demote)
        times = promotions(position, promoted)
        for q, i, n, j in zip(position, promoted, times, demoted, strict=True):
            if n:
                self.alpha[i] += n * K[q]
                self.beta[i] += n
            self.alpha[j] -= K[q]
            self.beta[j] -= 1
        return position, promoted, demoted, np.empty(0, dtype=np.int64)


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

    def visit(self, order, left=NO_LIMIT):
        rule = self.demote, left, self.threshold, self.n_classes
        position, demoted = _visit_points(self.X, self.y, order, *rule, self._W.ravel(), self._b)
        promoted = _promoted(self.y[order[position]], position, self.demote)
        return position, promoted, demoted, np.empty(0, np.int64)


def _in_parts(visit, n, size, left):
    """What `visit(slice, left)` gives of n visits, `size` at a time until `left` were mistakes, as that of one call."""
    found = []
    for start in range(0, n, size):
        if not left:
            break
        position, *columns = visit(slice(start, start + size), left)
        found.append((start + position, *columns))
        left -= np.count_nonzero(first_rows(position))
    return map(np.concatenate, zip(*found, strict=True))


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
    votes = np.zeros((len(epochs), n_classes, len(columns)))
    errors = None if y is None else [np.zeros(len(log), dtype=np.int64)]
    labels = None if y is None else y[None]
    for part, scores in replay(
        [log], kernel, columns, epochs=epochs, labels=labels, errors=errors, n_classes=n_classes, threshold=threshold
    ):
        votes[..., part] = scores["voted"]
    return votes, errors and _of_whole_mistakes(*errors, log.step)


def _of_whole_mistakes(errors, step):
    """Give every row of a mistake the training errors after its last row."""
    last = np.append(np.flatnonzero(first_rows(step))[1:], len(step)) - 1
    return np.repeat(errors[last], np.diff(last, prepend=-1)) if len(step) else errors


def _promoted(true, step, demote):
    """(M,) the class that each row promotes, or -1: the true one in a mistake's first row, or in each."""
    return true if demote == _EACH else np.where(first_rows(step), true, -1)


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
def _visit(G, y, order, demote, left, counting, F):
    """Visit examples until `left` were mistakes; F (C, n) moves. Positions in the order, demoted classes, errors by row."""
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
            wrong = count_errors(F, y, 0, F.shape[1])
            for _ in range(len(position) - len(errors)):
                errors.append(wrong)
    return np.array(position), np.array(demoted), np.array(errors)


@compiled
def _visit_points(X, y, order, demote, left, threshold, n_classes, W, b):
    """The same in input space, where W (d, C), flat, and b (C,) move. Positions in the order and demoted classes."""
    position = [0 for _ in range(0)]
    demoted = [0 for _ in range(0)]
    size = b.shape[0]  # room for whole vectors of LANES classes
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
