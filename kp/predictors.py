"""Scores of every predictor on any points, from the mistake logs.

Their formulas and sources are at `kp.mistakes.PREDICTORS`.

Symbols: m perceptrons, S distinct examples in their logs, E epochs. A score of 0 has the sign 0.
"""

import itertools
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from kp.compiled import compiled
from kp.gram import PANEL, Arithmetic, in_strips, ordered_products, tile_products
from kp.kernels import POLYNOMIAL, Kernel, PointKernel, fill
from kp.machine import (
    COLUMNS,
    add_product,
    add_signs,
    count_wrong,
    equal_columns,
    load_columns,
    multiply,
    prefetch,
    store_lanes,
)
from kp.mistakes import BY_NAME, PREDICTORS

_NARROW = 8  # points from which on sums go along them
TILE = 512  # columns whose scores are advanced together, so that they stay in the first-level cache
_AHEAD = 16  # mistakes after the present one whose products are asked for
_LINE = 64  # bytes of the memory that come together
_BLOCK_BYTES = 2**28  # of the inner products of a block


class Stages(NamedTuple):
    """The places in a log at which a walk stores the predictors of E epochs."""

    lengths: np.ndarray  # rows until the end of each epoch
    steps: np.ndarray  # the same in steps
    minima: np.ndarray  # rows until the fewest training errors


class Expansion:
    """Sums of kernel values, f = coefficients (m, s) k(x_i, .) / divisors (m, 1) over s examples, ready for any points.

    They are summed in the order of the examples. Where the kernel is affine, weight vectors are: w = sum_i c_i x_i in that
    order, f = gamma w . x + coef0 sum_i c_i with w . x in the order of the features. On whole numbers, with a kernel of
    whole numbers, both are exact up to 2^53, and larger sums are made of kernel values. With another gamma or coef0, or on
    reals, scores may differ by rounding from those that a fit has made of kernel values; its log stays as it is.
    """

    def __init__(self, coefficients, examples, divisors=1):
        self.coefficients = coefficients
        self.examples = examples
        self.divisors = divisors
        self._made = None

    @classmethod
    def of(cls, logs, predictor, epoch):
        """A predictor of logs at an epoch, that is such a sum."""
        weights = [log.weights(predictor, epoch) for log in logs]
        examples = np.unique(np.concatenate([log.example[: len(w)] for log, w in zip(logs, weights, strict=True)]))
        coefficients = np.zeros((len(examples), len(logs))).T
        for row, log, w in zip(coefficients, logs, weights, strict=True):
            np.add.at(row, np.searchsorted(examples, log.example[: len(w)]), w * log.sign[: len(w)])
        divisor = BY_NAME[predictor].divisor
        return cls(coefficients, examples, np.array([[divisor(log, epoch) if divisor else 1] for log in logs]))

    def scores(self, kernel, columns):
        """f (m, n) of the points of `columns`, whose rows are the same points in every call."""
        if self._by_weights(kernel, columns):
            out = self._weighted(columns.in_units(kernel), columns)
        else:
            out = expansion(self.coefficients, self.examples, kernel, columns)
        out /= self.divisors
        return out

    def _by_weights(self, kernel, columns):
        """Whether weight vectors make these sums; for whole numbers only where no bit depends on it."""
        if not kernel.affine or columns.source.arithmetic == Arithmetic.GIVEN:
            return False
        whole = all(float(each).is_integer() for each in (kernel.gamma, kernel.coef0))
        if not (whole and columns.points.exact and columns.points.per_unit == 1):
            return True
        top = kernel.bound(columns.source.top)
        exact = columns.source.arithmetic != Arithmetic.ORDERED
        return exact and np.abs(self.coefficients).sum(axis=1).max() * top <= 2.0**53

    def _weighted(self, kernel, columns):
        points = columns.points.compact
        others = columns.column_points.compact
        m = len(self.coefficients)
        if self._made is None:
            self._made = np.zeros((m, points.shape[1])), np.zeros(m)
            coefficients = np.ascontiguousarray(self.coefficients)
            if columns.points.is_sparse:
                _add_sparse(coefficients, self.examples, points.indptr, points.indices, points.data, *self._made)
            else:
                _add_points(coefficients, self.examples, points, *self._made)
        w, b = self._made
        out = np.empty((m, len(columns)))

        def make(part):
            if columns.column_points.is_sparse:
                _sparse_scores(w, others.indptr[part.start :], others.indices, others.data, out[:, part])
            else:
                ordered_products(w, others[part].astype(np.float64), out[:, part])

        in_strips(make, len(columns), TILE, columns.source.threads)
        return kernel.gamma * out + kernel.coef0 * b[:, None]


def expansion(coefficients, examples, kernel, columns):
    """Compute f = sum_i coefficients[:, i] k(x_i, .), summed in the order of the examples."""
    out = np.zeros((len(coefficients), len(columns)))
    kernel = columns.reading(kernel)
    norms = columns.row_norms[examples]
    coefficients = np.ascontiguousarray(coefficients.T)
    for start, stop, values, places in blocks(columns, examples):

        def add(part, start=start, values=values, places=places):
            own = places + part.start, start + part.start, start + part.stop
            work = _narrow_sum if part.stop - part.start < _NARROW else _weighted_sum
            work(kernel, values, norms, columns.norms, coefficients, out, *own)

        in_strips(add, stop - start, TILE, columns.source.threads)
    return out


def replay(logs, kernel, columns, *, epochs, labels=None, errors=None, n_classes=1, threshold=0.0):
    """Walk along the logs, and yield (slice of the points, {predictor: scores}) block by block.

    The scores are (E, m, c), of all PREDICTORS of m perceptrons; of one log of n_classes classes they are the votes
    (E, C, c) alone. The next block overwrites them. With labels (m, n), signs or numbers of classes, the errors after each
    row of a log are added to `errors`. The threshold is added to all kernel values.
    """
    examples = np.unique(np.concatenate([log.example for log in logs]))
    index = [np.searchsorted(examples, log.example) for log in logs]
    kernels = [columns.reading(each) for each in one_for_each(kernel, len(logs))]
    kernels = [each._replace(added=each.added + threshold) for each in kernels]
    errors = errors or [None] * len(logs)
    moves = [log.moves() for log in logs]
    stages = [
        Stages(
            np.array([log.length(e) for e in epochs], dtype=np.int64),
            np.array([log.steps(e) for e in epochs], dtype=np.int64),
            np.array([len(log) + 1 if log.errors is None else log.minimizing_length(e) for e in epochs], dtype=np.int64),
        )
        for log in logs
    ]
    work = _walk_panels if n_classes == 1 and _fits_registers(kernels, columns) else _walk_blocks
    width = -(-min(4 * TILE, len(columns)) // PANEL) * PANEL
    rows = dict.fromkeys(PREDICTORS, len(logs)) if n_classes == 1 else dict.fromkeys(PREDICTORS, 0) | {"voted": n_classes}
    out = {name: np.full((len(epochs), rows[name], width), np.nan) for name in PREDICTORS}
    y = np.full((len(logs), width), np.nan)
    for start, stop in work(kernels, columns, examples, index, moves, stages, labels, y, errors, out):
        yield slice(start, stop), {name: f[..., : stop - start] for name, f in out.items() if rows[name]}


def _fits_registers(kernels, columns):
    """Whether the scores of a few columns stay in registers while all mistakes move them: bytes, with powers as kernels."""
    are_powers = all(kernel.kind == POLYNOMIAL for kernel in kernels)
    return columns.source.arithmetic == Arithmetic.BYTES and are_powers and len(columns) >= _NARROW


def _walk_blocks(kernels, columns, examples, index, moves, stages, labels, y, errors, out):
    """`replay`, a log and a strip of a block of products in each thread; yields (start, stop)."""

    def over(job):
        a, first = job
        found = advance(
            kernels[a], values, places[index[a]], norms[index[a]], columns.norms[start:stop], moves[a], stages[a],
            y[a] if errors[a] is not None else nothing, F[a], a, *out.values(), first, min(first + TILE, stop - start),
        )  # fmt: skip
        return a, found

    nothing = np.empty(0)
    norms = columns.row_norms[examples]
    F = np.empty((len(kernels), out["voted"].shape[1] // len(kernels), y.shape[1]))
    with ThreadPoolExecutor(columns.source.threads) as pool:
        for start, stop, values, places in blocks(columns, examples):  # noqa: B007 (read by over)
            F[:] = 0.0
            _take(labels, start, stop, y)
            for a, found in pool.map(over, itertools.product(range(len(kernels)), range(0, stop - start, TILE))):
                if errors[a] is not None:
                    errors[a] += found
            yield start, stop


def _take(labels, start, stop, y):
    """Copy the labels of these points into y (m, c), as real numbers; the rest becomes NaN, which is never an error."""
    if labels is not None:
        y[:, : stop - start] = labels[:, start:stop]
        y[:, stop - start :] = np.nan  # is not counted


def _walk_panels(kernels, columns, examples, index, moves, stages, labels, y, errors, out):
    """`replay`, some panels in each thread, along all logs; yields (start, stop)."""
    n = len(columns)
    width = y.shape[1]
    threads = max(1, min(columns.source.threads, width // PANEL, _BLOCK_BYTES // (4 * PANEL * len(examples))))
    share = -(-width // (threads * PANEL)) * PANEL
    starts = np.cumsum([0, *map(len, index)])
    places = np.concatenate([*index, np.zeros(_AHEAD, dtype=np.int64)]) * COLUMNS
    counted = np.array([each is not None for each in errors])
    step, sign = (np.concatenate([getattr(each, name) for each in moves]) for name in ("step", "times"))
    logs = np.array(kernels), starts, places, sign, step, *map(np.array, zip(*stages, strict=True)), counted
    wrong = np.zeros((threads, starts[-1]), dtype=np.int64)
    tiles = _at_lines((threads, PANEL // COLUMNS, len(examples) * COLUMNS))

    def walk(t):
        _replay_panels(
            columns.points.words, examples, columns.column_points.panels[start // PANEL :], t * share,
            min((t + 1) * share, stop - start), tiles[t], *logs, y, wrong[t], *out.values(),
        )  # fmt: skip

    with ThreadPoolExecutor(threads) as pool:
        for start in range(0, n, width):
            stop = min(start + width, n)
            _take(labels, start, stop, y)
            list(pool.map(walk, range(threads)))
            for own, found in zip(errors, np.split(wrong.sum(axis=0), starts[1:-1]), strict=True):
                if own is not None:
                    own += found
            wrong[:] = 0
            yield start, stop


def _at_lines(shape):
    """An array int32 that begins where a line of memory does."""
    size = int(np.prod(shape))
    whole = np.empty(size + _LINE, dtype=np.int32)
    start = -whole.ctypes.data % _LINE // whole.itemsize
    return whole[start : start + size].reshape(shape)


def one_for_each(kernel, m):
    """A list of m kernels from a single one or from such a list."""
    kernels = [kernel] * m if isinstance(kernel, Kernel | PointKernel) else list(kernel)
    if len(kernels) != m:
        raise ValueError(f"expected one kernel, or one for each of {m} perceptrons, got {len(kernels)}")
    return kernels


def primal_scores(logs, kernel, columns, epochs):
    """Yield (slice of columns, f (E, m, c)) of the minimizing predictors of an affine kernel, from weight vectors; columns
    is a `Gram` of the training points. On integers the same bits as `replay`, where a fit may use weight vectors."""
    if not kernel.affine:
        raise ValueError(f"expected an affine kernel, got {kernel}")
    X = columns.column_points.compact
    n = len(columns)
    m = len(logs)
    w = np.zeros((len(epochs), m, X.shape[1]))
    b = np.zeros((len(epochs), m, 1))
    for e, epoch in enumerate(epochs):
        for a, alpha in enumerate(signed_sums(logs, n, "minimizing", epoch)):
            held = np.flatnonzero(alpha)
            w[e, a] = alpha[held] @ X[held].astype(np.float64)
            b[e, a] = alpha.sum()
    kernel = columns.in_units(kernel)
    for start in range(0, n, 4 * TILE):
        stop = min(start + 4 * TILE, n)
        products = w.reshape(-1, X.shape[1]) @ X[start:stop].astype(np.float64).T
        yield slice(start, stop), kernel.gamma * products.reshape(len(epochs), m, -1) + kernel.coef0 * b


def blocks(columns, examples):
    """Yield (start, stop, values, places) over all columns, as `CrossGram.columns`, block by block in one buffer."""
    dtype = columns.source.dtype
    width = max(1, min(_BLOCK_BYTES // (dtype.itemsize * len(examples)), 4 * TILE, len(columns)))
    width -= width % TILE if width > TILE else 0
    buffer = np.empty(width * len(examples), dtype=dtype)
    for start in range(0, len(columns), width):
        stop = min(start + width, len(columns))
        yield start, stop, *columns.columns(examples, start, stop, buffer)


@compiled
def _add_points(coefficients, examples, X, w, b):
    """w (m, d) += coefficients (m, s) X[examples], and b (m,) += their sums, in the order of the examples."""
    for i in range(examples.shape[0]):
        for a in range(w.shape[0]):
            c = coefficients[a, i]
            if c != 0.0:
                b[a] += c
                for k in range(w.shape[1]):
                    w[a, k] += c * np.float64(X[examples[i], k])


@compiled
def _add_sparse(coefficients, examples, starts, features, values, w, b):
    """The same for points whose numbers other than 0 are `values` at `features`, those of point i from starts[i] on."""
    for i in range(examples.shape[0]):
        for a in range(w.shape[0]):
            c = coefficients[a, i]
            if c != 0.0:
                b[a] += c
                for p in range(starts[examples[i]], starts[examples[i] + 1]):
                    w[a, features[p]] += c * values[p]


@compiled
def _sparse_scores(w, starts, features, values, out):
    """out[a, j] = w_a . x_j in the order of the features of such points."""
    for j in range(out.shape[1]):
        for a in range(out.shape[0]):
            total = 0.0
            for p in range(starts[j], starts[j + 1]):
                total += w[a, features[p]] * values[p]
            out[a, j] = total


@compiled
def _weighted_sum(kernel, values, row_norms, norms, coefficients, out, places, first, last):
    """out[a, first:last] += sum_i coefficients[i, a] k(x_i, .), in ascending order of i."""
    # What k is made from begins at values[places[i]].
    kernel_tile = np.empty(TILE)
    for start in range(first, last, TILE):
        stop = min(start + TILE, last)
        k = kernel_tile[: stop - start]
        for i in range(places.shape[0]):
            at = places[i] + start - first
            fill(kernel, values[at : at + stop - start], row_norms[i], norms[start:stop], k)
            for a in range(out.shape[0]):
                weight = coefficients[i, a]
                if weight != 0.0:
                    f = out[a, start:stop]
                    for j in range(stop - start):
                        f[j] += weight * k[j]


@compiled
def _narrow_sum(kernel, values, row_norms, norms, coefficients, out, places, first, last):
    """The same for few points, one after the other: k(x_i, y) = k(y, x_i)."""
    own = np.empty(places.shape[0], dtype=values.dtype)
    k = np.empty(places.shape[0])
    f = np.empty(out.shape[0])
    for j in range(first, last):
        for i in range(places.shape[0]):
            own[i] = values[places[i] + j - first]
        fill(kernel, own, norms[j], row_norms, k)
        for a in range(f.shape[0]):
            f[a] = out[a, j]
        for i in range(places.shape[0]):
            for a in range(f.shape[0]):
                f[a] += coefficients[i, a] * k[i]
        for a in range(f.shape[0]):
            out[a, j] = f[a]


@compiled
def advance(
    kernel, values, places, row_norms, norms, moves, stages, y, F, row, final, average, minimizing, voted, first, last
):  # fmt: skip
    """Move the scores F (C, n) of columns first:last by the rows of a log.

    Returns how many of them are wrong after each row, where there are labels y (n,). What the kernel of row i is made from
    begins at values[places[i]]. At each stage scores of the predictors are written, from `row` on; of several classes the
    votes alone.
    """
    n_rows = len(places)
    n_epochs = len(stages.lengths)
    counting = len(y) > 0
    errors = np.zeros(n_rows if counting else 0, dtype=np.int64)
    k_tile = np.empty(TILE)
    total = np.empty(TILE)
    votes = np.empty((F.shape[0], TILE))
    for start in range(first, last, TILE):
        stop = min(start + TILE, last)
        size = stop - start
        k = k_tile[:size]
        total[:] = 0.0
        votes[:] = 0.0
        epoch = minimum = since = 0
        for i in range(n_rows + 1):
            while epoch < n_epochs and i >= stages.lengths[epoch]:
                _survive(F, start, stop, stages.steps[epoch] - since, total, votes)
                since = stages.steps[epoch]
                for c in range(F.shape[0]):
                    for j in range(size):
                        voted[epoch, row + c, start + j] = votes[c, j]
                if F.shape[0] == 1:
                    for j in range(size):
                        final[epoch, row, start + j] = F[0, start + j]
                        average[epoch, row, start + j] = total[j] / since
                epoch += 1
            if i == n_rows or (epoch == n_epochs and not counting):
                break
            if i + 1 < n_rows:
                fetch_ahead(values[places[i + 1] + start : places[i + 1] + stop])
            fill(kernel, values[places[i] + start : places[i] + stop], row_norms[i], norms[start:stop], k)
            if epoch < n_epochs and moves.step[i] > since:
                _survive(F, start, stop, moves.step[i] - since, total, votes)
                since = moves.step[i]
            wrong = 0
            if moves.times[i] != 0.0:
                wrong = move(F[moves.up[i], start:stop], 1.0, moves.times[i], k, y[start:stop], counting and F.shape[0] == 1)
            if moves.down[i] >= 0:
                move(F[moves.down[i], start:stop], 1.0, -1.0, k, y[:0], False)
            if counting:
                errors[i] += wrong if F.shape[0] == 1 else count_errors(F, y, start, stop)
            while minimum < len(stages.minima) and stages.minima[minimum] == i + 1 and F.shape[0] == 1:
                for j in range(size):
                    minimizing[minimum, row, start + j] = F[0, start + j]
                minimum += 1
    return errors


@compiled
def _survive(F, start, stop, steps, total, votes):
    """Add predictors that survived `steps` steps to the sums of scores, and their votes, of a sign or for a class."""
    weight = np.float64(steps)
    if F.shape[0] == 1:
        f = F[0, start:stop]
        own = votes[0]
        for j in range(f.shape[0]):
            total[j] += weight * f[j]
            own[j] += weight if f[j] > 0.0 else (-weight if f[j] < 0.0 else 0.0)
        return
    for u in range(stop - start):
        best = 0
        for c in range(1, F.shape[0]):
            if F[c, start + u] > F[best, start + u]:
                best = c
        votes[best, u] += weight


@compiled
def move(f, c, d, k, signs, counting):
    """f <- c f + d k; returns how many of these scores are wrong after it, by the signs of the points, if counting."""
    wrong = 0
    for j in range(f.shape[0]):
        f[j] = c * f[j] + d * k[j]
        if counting:
            wrong += signs[j] * f[j] <= 0.0
    return wrong


@compiled
def count_errors(F, y, first, last):
    """How many of the points first:last of classes y have another class that matches or beats theirs."""
    wrong = 0
    own = np.empty(256)
    count = np.empty(256, dtype=np.int32)
    for start in range(first, last, 256):
        size = min(256, last - start)
        for u in range(size):
            own[u] = F[np.int64(y[start + u]), start + u]
            count[u] = 0
        for c in range(F.shape[0]):
            f = F[c, start : start + size]
            for u in range(size):
                count[u] += f[u] >= own[u]
        for u in range(size):
            wrong += count[u] > 1
    return wrong


@compiled
def _replay_panels(
    words, examples, panels, first, stop, tiles, kernels, starts, places, sign, step, lengths, steps, minima, counted, z,
    errors, final, average, minimizing, voted,
):  # fmt: skip
    """`advance` along all logs, one below the other from `starts` on, over columns first:stop of these panels."""
    for p in range(first // PANEL, (stop + PANEL - 1) // PANEL):
        tile_products(words, examples, panels[p], tiles)
        for column in range(p * PANEL, min((p + 1) * PANEL, stop), COLUMNS):
            values = tiles[(column - p * PANEL) // COLUMNS]
            for a in range(starts.shape[0] - 1):
                _replay_columns(
                    a, kernels[a], values, places[starts[a] :], sign[starts[a] : starts[a + 1]], step[starts[a] :],
                    lengths[a], steps[a], minima[a], counted[a], z[a], errors[starts[a] :], column,
                    final, average, minimizing, voted,
                )  # fmt: skip


@compiled
def _replay_columns(
    a, kernel, values, places, sign, step, lengths, steps, minima, counting, z, errors, column,
    final, average, minimizing, voted,
):  # fmt: skip
    """`advance` over COLUMNS columns from `column` on, whose state stays in registers."""
    gamma, degree, added = kernel[1], np.int64(kernel[3]), kernel[4]
    coef0 = equal_columns(kernel[2])
    f = total = votes = signs = equal_columns(0.0)
    if counting:
        signs = load_columns(z, column)
    epoch = minimum = since = start = 0
    while True:
        end = lengths[epoch] if epoch < lengths.shape[0] else (sign.shape[0] if counting else start)
        if minimum < minima.shape[0]:
            end = min(end, minima[minimum])
        for i in range(start, end):
            for j in range(0, COLUMNS, _LINE // 4):
                prefetch(values, places[i + _AHEAD] + j)
            base = add_product(coef0, gamma, load_columns(values, places[i]))
            k = base
            for _ in range(1, degree):
                k = multiply(k, base)
            if added != 0.0:
                k = add_product(k, added, equal_columns(1.0))
            survived = np.float64(step[i] - since)
            since = step[i]
            total = add_product(total, survived, f)
            votes = add_signs(votes, survived, f)
            f = add_product(f, sign[i], k)
            if counting:
                errors[i] += count_wrong(signs, f)
        start = end
        if minimum < minima.shape[0] and minima[minimum] == end:
            store_lanes(minimizing[minimum, a], column, f)
            minimum += 1
        elif epoch < lengths.shape[0]:
            survived = np.float64(steps[epoch] - since)
            since = steps[epoch]
            total = add_product(total, survived, f)
            votes = add_signs(votes, survived, f)
            store_lanes(final[epoch, a], column, f)
            store_lanes(average[epoch, a], column, total)
            store_lanes(voted[epoch, a], column, votes)
            for j in range(column, column + COLUMNS):
                average[epoch, a, j] /= steps[epoch]
            epoch += 1
        else:
            break


@compiled
def fetch_ahead(products):
    """Have these inner products come into the cache while something else is done."""
    for j in range(0, products.shape[0], 64 // products.itemsize):
        prefetch(products, j)


def signed_sums(logs, n, predictor="final", epoch=None):
    """c (m, n) with f(x) = sum_i c_i k(x_i, x) of the m logs over n examples, for the predictors that are such sums."""
    found = []
    for log in logs:
        weights = log.weights(predictor, epoch)
        total = np.bincount(log.example[: len(weights)], weights * log.sign[: len(weights)], minlength=n)
        found.append(BY_NAME[predictor].divided(total, log, epoch))
    return np.array(found)
