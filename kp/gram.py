"""Inner products, exact wherever the data allow it, and rows of them kept within a memory budget.

Inner products of integer-valued points are integers. By the Cauchy-Schwarz inequality every partial sum of x . y is at
most |x| |y| in size, so a single-precision matrix product is exact while |x| |y| <= 2^24 and a double-precision one while
it is <= 2^53: neither the BLAS library, nor its threads, nor the shape of the blocks can change a bit. The few pairs above
2^24 are computed again in double precision. Inner products of other points are summed in a fixed order by a compiled loop.

Symbols: X (n, d) points, s_ij = x_i . x_j.
"""

import numpy as np

from kp.compiled import compiled

SINGLE, DOUBLE, ORDERED, GIVEN, BYTES = range(5)
BLOCK = 1024  # rows and columns of one matrix product: large enough for full speed, small enough to stay in cache


class Points:
    """Points ready for inner products; raises ValueError unless X is a finite (n, d) array.

    Attributes
    ----------
    X : (n, d) float32 where it holds the points exactly, else float64.
    compact : (n, d) the same points as bytes where they fit, else X; for products one at a time.
    norms : (n,) squared norms |x|^2; top is the largest of them.
    exact : True if all inner products of the points are integers that double precision holds."""

    def __init__(self, X):
        X = np.asarray(X)
        if X.ndim != 2 or X.dtype.kind not in "biuf":
            raise ValueError(f"points must be a numeric array (n, d), got {X.dtype} of shape {X.shape}")
        whole = X.dtype.kind in "biu" or bool(np.all(np.isfinite(X)) and np.all(X == np.rint(X)))
        if not whole and not np.all(np.isfinite(X)):
            raise ValueError("points must be finite, got NaN or infinity; remove or impute those values")
        largest = max(abs(float(X.max())), abs(float(X.min()))) if X.size else 0.0
        if whole and largest**2 * X.shape[1] <= 2.0**53:
            self.X = X.astype(np.float32) if largest <= 2**24 else X.astype(np.float64)
            self.norms = _norms(self.X)
            self.exact = True
            small = X.size and X.min() >= 0 and largest <= 255 and X.shape[1] <= 2**16
            self.compact = np.array(X, dtype=np.uint8) if small else self.X
        else:
            self.X = np.array(X, dtype=np.float64, order="C")
            self.norms = _norms(self.X)
            self.exact, self.compact = False, self.X
        self.top = float(self.norms.max()) if len(self.norms) else 0.0

    def __len__(self):
        return len(self.X)

    def arithmetic(self, other):
        """SINGLE, DOUBLE or ORDERED: the cheapest way to multiply with `other` in which no rounding can show."""
        if not (self.exact and other.exact and self.top * other.top <= 2.0**106):
            return ORDERED
        single = self.X.dtype == np.float32 == other.X.dtype and max(self.top, other.top) < 2.0**31
        heavy = np.count_nonzero(self.norms * other.top > 2.0**48)
        return SINGLE if single and heavy <= 0.02 * len(self) else DOUBLE


class Products:
    """Inner products of points (rows) with column_points (columns), block by block."""

    def __init__(self, points, column_points):
        self.points, self.column_points, self.arithmetic = points, column_points, points.arithmetic(column_points)
        self.dtype = np.dtype(np.int32 if self.arithmetic == SINGLE else np.float64)
        self.row_norms, self.column_norms = points.norms, column_points.norms

    def block(self, rows, columns, out):
        """out[i, j] = x_rows[i] . y_columns[j]; rows and columns index arrays or slices, out of the dtype of this object."""
        if self.arithmetic == ORDERED:
            ordered_products(self.points.X[rows], np.ascontiguousarray(self.column_points.X[columns].T), out)
            return
        dtype = np.float32 if self.arithmetic == SINGLE else np.float64
        right = self.column_points.X[columns]
        scratch = np.empty((min(len(rows), BLOCK), min(len(right), 4 * BLOCK)), dtype=dtype)
        for i in range(0, len(rows), BLOCK):
            left = self.points.X[rows[i : i + BLOCK]].astype(dtype, copy=False)
            for j in range(0, len(right), 4 * BLOCK):
                part = right[j : j + 4 * BLOCK].astype(dtype, copy=False)
                block = scratch[: len(left), : len(part)]
                np.matmul(left, part.T, out=block)
                out[i : i + BLOCK, j : j + 4 * BLOCK] = block
        if self.arithmetic == SINGLE:
            norms = self.column_norms[columns]
            for i in np.flatnonzero(self.row_norms[rows] * norms.max(initial=0.0) > 2.0**48):
                heavy = np.flatnonzero(self.row_norms[rows[i]] * norms > 2.0**48)
                out[i, heavy] = right[heavy].astype(np.float64) @ self.points.X[rows[i]].astype(np.float64)


class PrecomputedKernel:
    """Kernel values (n, m) in place of `Products`, from a function (rows, columns) -> K[rows, columns]."""

    arithmetic, dtype, points, column_points = GIVEN, np.dtype(np.float64), None, None

    def __init__(self, function, n, m):
        self.function, self.row_norms, self.column_norms = function, np.zeros(n), np.zeros(m)

    def block(self, rows, columns, out):
        out[:] = self.function(rows, columns)


@compiled(inline="always")  # as a call it would take twice as long
def dot(arithmetic, x, y):
    """x . y of two points, for one of BYTES (`Points.compact` as bytes), SINGLE, DOUBLE or ORDERED."""
    if arithmetic == BYTES:
        return _byte_dot(x, y)
    if arithmetic == SINGLE or arithmetic == DOUBLE:
        return _exact_dot(x, y)
    return _ordered_dot(x, y)


@compiled
def _byte_dot(x, y):
    total = np.uint32(0)
    for k in range(x.shape[0]):
        total = np.uint32(total + np.uint32(x[k]) * np.uint32(y[k]))
    return np.float64(total)


@compiled(fastmath={"reassoc"})
def _exact_dot(x, y):
    total = np.float64(0.0)
    for k in range(x.shape[0]):
        total += np.float64(x[k]) * np.float64(y[k])
    return total


@compiled
def _ordered_dot(x, y):
    total = np.float64(0.0)
    for k in range(x.shape[0]):
        total += np.float64(x[k]) * np.float64(y[k])
    return total


@compiled
def ordered_products(A, BT, out):
    """out (n, m) = A (n, d) times BT (d, m), each sum in the order of the columns of A; in tiles that fit the cache."""
    rows, wide = 32, 1024
    out[:] = 0.0
    for left in range(0, out.shape[1], wide):
        right = min(left + wide, out.shape[1])
        for low in range(0, A.shape[1], rows):
            high = min(low + rows, A.shape[1])
            for i in range(A.shape[0]):
                sums = out[i, left:right]
                k = low
                while k + 4 <= high:
                    a0, a1, a2, a3 = A[i, k], A[i, k + 1], A[i, k + 2], A[i, k + 3]
                    b0, b1, b2, b3 = BT[k, left:right], BT[k + 1, left:right], BT[k + 2, left:right], BT[k + 3, left:right]
                    for j in range(right - left):
                        sums[j] = (((sums[j] + a0 * b0[j]) + a1 * b1[j]) + a2 * b2[j]) + a3 * b3[j]
                    k += 4
                while k < high:
                    a, b = A[i, k], BT[k, left:right]
                    for j in range(right - left):
                        sums[j] += a * b[j]
                    k += 1


@compiled
def _norms(A):
    out = np.zeros(A.shape[0])
    for i in range(A.shape[0]):
        for k in range(A.shape[1]):
            out[i] += np.float64(A[i, k]) * np.float64(A[i, k])
    return out


class CrossGram:
    """Inner products (or kernel values) of training points with other points, block by block; nothing is kept.

    Attributes
    ----------
    source : `Products` or `PrecomputedKernel`, which makes the blocks.
    points, column_points : the `Points` of rows and columns, None for a precomputed kernel.
    row_norms, norms : their squared norms (n,), (m,)."""

    def __init__(self, source):
        self.source, self.points, self.column_points = source, source.points, source.column_points
        self.row_norms, self.norms = source.row_norms, source.column_norms

    def __len__(self):
        return len(self.norms)

    def values(self, kernel, rows, columns=slice(None)):
        """K[rows, columns] float64 of a kernel; rows an index array, columns a slice or an index array."""
        products = np.empty((len(rows), len(self.norms[columns])), dtype=self.source.dtype)
        self.source.block(rows, columns, products)
        return kernel.of(products, self.row_norms[rows], self.norms[columns])

    def columns(self, examples, start, stop, buffer):
        """s[examples, start:stop] as (array, rows): the inner products of examples[e] are array[rows[e]]. buffer is a flat
        array of at least len(examples) * (stop - start) items to put them into."""
        block = buffer[: len(examples) * (stop - start)].reshape(len(examples), stop - start)
        self.source.block(examples, slice(start, stop), block)
        return block, np.arange(len(examples))


class Gram(CrossGram):
    """Inner products (or kernel values) of n training points with each other; rows are made on demand and kept.

    memory_budget bounds their bytes; the least recently used give way. Raises ValueError if it does not hold a single row.

    Attributes
    ----------
    store : (capacity, n) the rows that are kept.
    slot : (n,) the row of `store` that belongs to each example, or -1.
    computed : the number of rows made so far."""

    def __init__(self, source, *, memory_budget):
        super().__init__(source)
        n = len(self)
        row = n * source.dtype.itemsize
        capacity = int(min(n, memory_budget // row))
        if capacity < 1:
            raise ValueError(
                f"memory_budget must hold at least one row of {n} inner products ({row} bytes), got {memory_budget}; "
                "raise the budget or use fewer examples"
            )
        self.store, self.slot = np.empty((capacity, n), dtype=source.dtype), np.full(n, -1)
        self._example, self._used = np.full(capacity, -1), np.zeros(capacity, dtype=np.int64)
        self._filled = self._clock = self.computed = 0

    @classmethod
    def of_points(cls, X, *, memory_budget):
        """The Gram matrix of the points X (n, d)."""
        points = Points(X)
        return cls(Products(points, points), memory_budget=memory_budget)

    @classmethod
    def of_matrix(cls, K):
        """A matrix K (n, n) of kernel values that is there already."""
        n = len(K)
        gram = cls(PrecomputedKernel(None, n, n), memory_budget=8 * n)
        gram.store, gram.slot, gram._used = K, np.arange(n), np.zeros(n, dtype=np.int64)
        return gram

    @property
    def capacity(self):
        """The number of rows that can be kept at the same time."""
        return len(self.store)

    def fetch(self, examples):
        """Have the rows of these distinct examples (at most `capacity`) in the store; returns the number computed."""
        self._clock += 1
        held = self.slot[examples]
        missing = examples[held < 0]
        self._used[held[held >= 0]] = self._clock
        fresh = missing[: self.capacity - self._filled]
        rest = missing[len(fresh) :]
        self._put(fresh, slice(self._filled, self._filled + len(fresh)))
        self._filled += len(fresh)
        if len(rest):
            oldest = np.argpartition(self._used, len(rest) - 1)[: len(rest)]
            self.slot[self._example[oldest]] = -1
            self._put(rest, oldest)
        self.computed += len(missing)
        return len(missing)

    def _put(self, examples, rows):
        if len(examples) == 0:
            return
        if isinstance(rows, slice):
            self.source.block(examples, slice(None), self.store[rows])
            rows = np.arange(rows.start, rows.stop)
        else:
            made = np.empty((len(rows), len(self)), dtype=self.source.dtype)
            self.source.block(examples, slice(None), made)
            self.store[rows] = made
        self.slot[examples], self._example[rows], self._used[rows] = rows, examples, self._clock

    def columns(self, examples, start, stop, buffer):
        """As `CrossGram.columns`, but only rows that the store does not hold are computed."""
        rows = self.slot[examples]
        missing = np.flatnonzero(rows < 0)
        if len(missing) == 0:
            return self.store[:, start:stop], rows
        block = buffer[: len(examples) * (stop - start)].reshape(len(examples), stop - start)
        held = np.flatnonzero(rows >= 0)
        _copy_rows(self.store, rows[held], start, block[len(missing) :])
        self.source.block(examples[missing], slice(start, stop), block[: len(missing)])
        rows[missing], rows[held] = np.arange(len(missing)), np.arange(len(missing), len(rows))
        return block, rows


@compiled
def _copy_rows(store, rows, start, out):
    for i in range(rows.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = store[rows[i], start + j]
