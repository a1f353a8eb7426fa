"""Scores of every predictor on any points, from the mistake logs.

Sources: Hermans 2021, section 3.3 (final, average, minimizing); Freund & Schapire 1999 (voted).

    final        f(x) = sum_m z_m k(x_m, x)                    over all M mistakes
    average      f(x) = (1/T) sum_m (T - s_m) z_m k(x_m, x)    the mean of the T stored predictors
    minimizing   f(x) = sum_m z_m k(x_m, x)                    over the prefix with the fewest training errors
    voted        f(x) = sum_m c_m sgn f_m(x)                   f_m the predictor after m mistakes, kept for c_m steps

Symbols: m perceptrons, S distinct examples in their logs, E epochs. A score of 0 has the sign 0.
"""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from kp.compiled import compiled
from kp.gram import Arithmetic, in_strips, ordered_products
from kp.kernels import GIVEN, RBF, Kernel, PointKernel, fetch_ahead, fill, fill_panel, panel_of
from kp.machine import PANEL, add_signs, count_up_to_0, equal_panel, load_panel, store_lanes
from kp.mistakes import BY_NAME, PREDICTORS, check_predictor
from kp.wording import shown

WALKED = PREDICTORS  # the predictors that `replay` reads in one walk
NARROW = 8  # points from which on sums go along them
TILE = 512  # columns whose scores are advanced together, so that they stay in the first-level cache
CHUNK = 2 * TILE  # points whose scores `replay` yields together
AHEAD = 16  # mistakes between what is asked for and what is used


def scores(logs, kernel, columns, predictor="final", epoch=None, *, threads=2, block_bytes=2**28):
    """Compute the scores of one predictor at an epoch."""
    if BY_NAME[check_predictor(predictor)].weights is None:
        epoch = logs[0].n_epochs if epoch is None else epoch
        parts = [part[predictor][0].copy() for _, part in replay(logs, kernel, columns, epochs=(epoch,), threads=threads)]
        return np.concatenate(parts, axis=1)
    return Expansion.of(logs, predictor, epoch).scores(kernel, columns, threads=threads, block_bytes=block_bytes)


class Expansion:
    """Sums of kernel values, f = coefficients (m, s) k(x_i, .) / divisors (m, 1) over s examples, ready for any points.

    They are summed in the order of the examples. Where the kernel is affine, weight vectors are: w = sum_i c_i x_i in that
    order, f = gamma w . x + coef0 sum_i c_i with w . x in the order of the features. On whole numbers, with a kernel of
    whole numbers, both are exact up to 2^53, and larger sums are made of kernel values.
    """

    def __init__(self, coefficients, examples, divisors=1):
        self.coefficients = coefficients
        self.examples = examples
        self.divisors = divisors
        self._made = None

    @classmethod
    def of(cls, logs, predictor, epoch=None):
        """A predictor of logs at an epoch, that is such a sum."""
        weights = [log.weights(predictor, epoch) for log in logs]
        examples = np.unique(np.concatenate([log.example[: len(w)] for log, w in zip(logs, weights, strict=True)]))
        coefficients = np.zeros((len(examples), len(logs))).T
        for row, log, w in zip(coefficients, logs, weights, strict=True):
            np.add.at(row, np.searchsorted(examples, log.example[: len(w)]), w * log.sign[: len(w)])
        divisor = BY_NAME[predictor].divisor
        return cls(coefficients, examples, np.array([[divisor(log, epoch) if divisor else 1] for log in logs]))

    def scores(self, kernel, columns, *, threads=2, block_bytes=2**28):
        """f (m, n) of the points of `columns`, whose rows are the same points in every call."""
        if self._by_weights(kernel, columns):
            out = self._weighted(columns.in_units(kernel), columns, threads)
        else:
            out = expansion(self.coefficients, self.examples, kernel, columns, threads=threads, block_bytes=block_bytes)
        out /= self.divisors
        return out

    def _by_weights(self, kernel, columns):
        """Whether weight vectors make these sums; for whole numbers only where no bit depends on it."""
        if not kernel.affine or columns.source.arithmetic == Arithmetic.GIVEN:
            return False
        whole = all(float(each).is_integer() for each in (kernel.gamma, kernel.coef0))
        if not (whole and columns.points.exact and columns.points.per_unit == 1):
            return True
        top = kernel.bound(max(columns.points.top, columns.column_points.top))
        exact = columns.source.arithmetic != Arithmetic.ORDERED
        return exact and np.abs(self.coefficients).sum(axis=1).max() * top <= 2.0**53

    def _weighted(self, kernel, columns, threads):
        points = columns.points.compact
        others = columns.column_points.compact
        m = len(self.coefficients)
        if self._made is None:
            self._made = np.zeros((m, points.shape[1])), np.zeros(m)
            if columns.points.is_sparse:
                _add_sparse(self.coefficients, self.examples, points.indptr, points.indices, points.data, *self._made)
            else:
                _add_points(self.coefficients, self.examples, points, *self._made)
        w, b = self._made
        out = np.empty((m, len(columns)))

        def make(part):
            if columns.column_points.is_sparse:
                _sparse_scores(w, others.indptr[part.start :], others.indices, others.data, out[:, part])
            else:
                ordered_products(w, others[part].astype(np.float64), out[:, part])

        in_strips(make, len(columns), TILE, threads)
        return kernel.gamma * out + kernel.coef0 * b[:, None]


def expansion(coefficients, examples, kernel, columns, *, threads=2, block_bytes=2**28):
    """Compute f = sum_i coefficients[:, i] k(x_i, .), summed in the order of the examples."""
    out = np.zeros((len(coefficients), len(columns)))
    kernel = columns.reading(kernel)
    norms = columns.row_norms[examples]
    coefficients = np.ascontiguousarray(coefficients.T)
    for start, stop, values, places in blocks(columns, examples, block_bytes):

        def add(part, start=start, values=values, places=places):
            own = places + part.start, start + part.start, start + part.stop
            work = _narrow_sum if part.stop - part.start < NARROW else _weighted_sum
            work(kernel, values, norms, columns.norms, coefficients, out, *own)

        in_strips(add, stop - start, TILE, threads)
    return out


def replay(logs, kernel, columns, *, epochs, signs=None, errors=None, threads=2, block_bytes=2**28, callback=None):
    """Walk along the logs, and yield (slice of the points, {predictor: scores (E, m, c)}) block by block, for all WALKED
    predictors.

    The next block overwrites the arrays. With signs (m, n) the errors of each predictor are added to `errors`.
    """
    examples = np.unique(np.concatenate([log.example for log in logs]))
    row_norms = columns.row_norms[examples]
    index = [np.searchsorted(examples, log.example) for log in logs]
    kernels = [columns.reading(each) for each in one_for_each(kernel, len(logs))]
    nothing = np.empty(0, dtype=np.int64)
    errors = errors or [None] * len(logs)
    plans = [
        (
            log.sign.astype(np.float64), log.step,
            np.array([log.length(e) for e in epochs], dtype=np.int64),
            np.array([log.steps(e) for e in epochs], dtype=np.int64),
            nothing if log.errors is None else np.array([log.minimizing_length(e) for e in epochs], dtype=np.int64),
        )
        for log in logs
    ]  # fmt: skip

    out = {name: np.full((len(epochs), len(logs), min(CHUNK, len(columns))), np.nan) for name in WALKED}

    def made(kernel):
        """What `_replay` reads: inner products, or kernel values for exponentials and for fewer than PANEL columns."""
        if kernel.kind != RBF and right - left == PANEL:
            return kernel, values, places
        filled = np.zeros(len(examples) * PANEL)
        norms = columns.norms[left:right]

        def fill_strip(part):
            out = filled[part.start * PANEL : part.stop * PANEL]
            fill_panel(kernel, values, places[part], row_norms[part], norms, out)

        in_strips(fill_strip, len(examples), 1, threads)
        return GIVEN, filled, np.arange(len(examples)) * PANEL

    def walk(a):
        kernel, values, places = ready[kernels[a]]
        counting = errors[a] is not None
        _replay(
            a, kernel, values, places[index[a]], right - left, *plans[a],
            signs[a, left:right] if counting else np.empty(0, dtype=np.int8), errors[a] if counting else nothing,
            *(out[name] for name in WALKED), left - start,
        )  # fmt: skip

    with ThreadPoolExecutor(threads) as pool:
        for left, right, values, places in panels(columns, examples, block_bytes):  # noqa: B007 (read by walk)
            start = left - left % CHUNK
            ready = {each: made(each) for each in set(kernels)}
            list(pool.map(walk, range(len(logs))))
            if right % CHUNK == 0 or right == len(columns):
                if callback:
                    callback(right - start)
                yield slice(start, right), {name: f[..., : right - start] for name, f in out.items()}


def one_for_each(kernel, m):
    """A list of m kernels from a single one or from such a list."""
    kernels = [kernel] * m if isinstance(kernel, Kernel | PointKernel) else list(kernel)
    if len(kernels) != m:
        raise ValueError(f"expected one kernel, or one for each of {m} perceptrons, got {len(kernels)}")
    return kernels


def primal_scores(logs, kernel, columns, predictor, epochs, *, block=4 * TILE):
    """Yield (slice of columns, f (E, m, c)) of final or minimizing predictors of an affine kernel, from weight vectors;
    columns is a `Gram` of the training points. On integers the same bits as `replay`, where a fit may use weight vectors."""
    if not kernel.affine or predictor not in ("final", "minimizing"):
        raise ValueError(
            f"expected an affine kernel and the final or minimizing predictor, got {kernel} and {shown(predictor)}"
        )
    X = columns.column_points.compact
    n = len(columns)
    m = len(logs)
    w = np.zeros((len(epochs), m, X.shape[1]))
    b = np.zeros((len(epochs), m, 1))
    for e, epoch in enumerate(epochs):
        for a, log in enumerate(logs):
            mistakes = len(log.weights(predictor, epoch))
            alpha = np.bincount(log.example[:mistakes], weights=log.sign[:mistakes], minlength=n)
            held = np.flatnonzero(alpha)
            w[e, a] = alpha[held] @ X[held].astype(np.float64)
            b[e, a] = alpha.sum()
    kernel = columns.in_units(kernel)
    for start in range(0, n, block):
        stop = min(start + block, n)
        products = w.reshape(-1, X.shape[1]) @ X[start:stop].astype(np.float64).T
        yield slice(start, stop), kernel.gamma * products.reshape(len(epochs), m, -1) + kernel.coef0 * b


def blocks(columns, examples, block_bytes=2**28, widest=4 * TILE):
    """Yield (start, stop, values, places) over all columns, as `CrossGram.columns`, each block of inner products within
    block_bytes, in one buffer."""
    dtype = columns.source.dtype
    width = int(np.clip(block_bytes // (dtype.itemsize * len(examples)), 1, min(widest, len(columns))))
    width -= width % PANEL if width > PANEL else 0
    buffer = np.empty(width * len(examples), dtype=dtype)
    for start in range(0, len(columns), width):
        stop = min(start + width, len(columns))
        yield start, stop, *columns.columns(examples, start, stop, buffer)


def panels(columns, examples, block_bytes=2**28):
    """The same for at most PANEL columns at a time. Rows of bytes are made so: they then stay in the cache."""
    narrow = columns.source.arithmetic == Arithmetic.BYTES
    block_bytes = max(block_bytes, PANEL * columns.source.dtype.itemsize * len(examples))
    for start, stop, values, places in blocks(columns, examples, block_bytes, PANEL if narrow else TILE):
        for left in range(start, stop, PANEL):
            yield left, min(left + PANEL, stop), values, places + (left - start)


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
    """out[a, first:last] += sum_i coefficients[i, a] k(x_i, .), in ascending order of i; what k is made from begins at
    values[places[i]]."""
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
def _replay(
    a, kernel, values, places, size, sign, step, lengths, steps, minima, z, errors, final, average, minimizing,
    voted, first,
):  # fmt: skip
    """Replay log a over `size` points, up to PANEL: mistakes move f; f and sgn f are added to average and votes, once a
    step. What `panel_of` makes the kernel of mistake i from begins at values[places[i]]. The scores of the predictors are
    (E, m, c), of which those of log a and of the points from column `first` on are written."""
    n_mistakes = len(sign)
    n_epochs = len(lengths)
    counting = len(z) > 0
    scratch = np.zeros(PANEL)
    for j in range(z.shape[0]):
        scratch[j] = z[j]
    scratch[z.shape[0] :] = np.nan  # columns that are not there are never wrong
    signs = load_panel(scratch, 0)
    f = equal_panel(0.0)
    total = equal_panel(0.0)
    votes = equal_panel(0.0)
    epoch = 0
    minimum = 0
    since = 0
    for i in range(n_mistakes + 1):
        while epoch < n_epochs and i >= lengths[epoch]:
            survived = np.float64(steps[epoch] - since)
            total = total + survived * f
            votes = add_signs(votes, survived, f)
            since = steps[epoch]
            _keep(f, 1.0, scratch, final[epoch, a], first, size)
            _keep(total, np.float64(since), scratch, average[epoch, a], first, size)
            _keep(votes, 1.0, scratch, voted[epoch, a], first, size)
            epoch += 1
        if i == n_mistakes or (epoch == n_epochs and not counting):
            break
        fetch_ahead(values, places[min(i + AHEAD, n_mistakes - 1)])
        if n_epochs > 0:
            survived = np.float64(step[i] - since)
            total = total + survived * f
            votes = add_signs(votes, survived, f)
            since = step[i]
        f = f + sign[i] * panel_of(kernel, values, places[i])
        if counting:
            errors[i] += count_up_to_0(signs * f)
        while minimum < len(minima) and minima[minimum] == i + 1:
            _keep(f, 1.0, scratch, minimizing[minimum, a], first, size)
            minimum += 1


@compiled
def _keep(lanes, divisor, scratch, out, first, size):
    """Write the first `size` of these lanes, divided, into out, from `first` on."""
    store_lanes(scratch, 0, lanes)
    for j in range(size):
        out[first + j] = scratch[j] / divisor


def signed_sums(logs, n, predictor="final", epoch=None):
    """c (m, n) with f(x) = sum_i c_i k(x_i, x) of the m logs over n examples, for the predictors that are such sums."""
    found = np.zeros((len(logs), n))
    for row, log in zip(found, logs, strict=True):
        weights = log.weights(predictor, epoch)
        np.add.at(row, log.example[: len(weights)], weights * log.sign[: len(weights)])
    return np.array([BY_NAME[predictor].divided(row, log, epoch) for row, log in zip(found, logs, strict=True)])
