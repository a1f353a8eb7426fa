"""Inner products, exact wherever the data allow it, and rows of them kept within a memory budget.

Inner products of integer-valued points are integers. By the Cauchy-Schwarz inequality every partial sum of x . y is at
most |x| |y| in size, so a single-precision matrix product is exact while |x| |y| <= 2^24 and a double-precision one while
it is <= 2^53, whatever the order of summation: neither the BLAS library, nor its threads, nor the shape of the blocks can
change a bit. (Of the 1.8e9 pairs of MNIST training images a few dozen exceed 2^24; those entries are computed again in
double precision.) Inner products of other points are summed in a fixed order by a compiled loop.

Symbols: X (n, d) points, s_ij = x_i . x_j.
"""

import numpy as np

from kp.compiled import compiled

SINGLE, DOUBLE, ORDERED, GIVEN, BYTES = range(5)
BLOCK = 1024
"""Rows and columns of one matrix product: large enough for full speed, small enough to stay in cache."""


class Points:
    """Points ready for inner products: X (n, d) float32 or float64, norms (n,) = |x|^2, and how to multiply exactly.

    smallest (n, d) are the same points as bytes where they fit, for products one at a time.

    Raises ValueError unless X is a finite (n, d) array.
    """

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
            self.smallest = np.array(X, dtype=np.uint8) if small else self.X
        else:
            self.X = np.array(X, dtype=np.float64, order="C")
            self.norms = _norms(self.X)
            self.exact, self.smallest = False, self.X
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
    """Inner products of the points P (rows) with the points Q (columns), block by block."""

    def __init__(self, P, Q):
        self.P, self.Q, self.arithmetic = P, Q, P.arithmetic(Q)
        self.dtype = np.dtype(np.int32 if self.arithmetic == SINGLE else np.float64)
        self.row_norms, self.column_norms = P.norms, Q.norms

    def block(self, rows, columns, out):
        """out[i, j] = x_rows[i] . y_columns[j]; rows and columns index arrays or slices, out of the dtype of this object."""
        if self.arithmetic == ORDERED:
            ordered_products(self.P.X[rows], np.ascontiguousarray(self.Q.X[columns].T), out)
            return
        dtype = np.float32 if self.arithmetic == SINGLE else np.float64
        right = self.Q.X[columns]
        scratch = np.empty((min(len(rows), BLOCK), min(len(right), 4 * BLOCK)), dtype=dtype)
        for i in range(0, len(rows), BLOCK):
            left = self.P.X[rows[i : i + BLOCK]].astype(dtype, copy=False)
            for j in range(0, len(right), 4 * BLOCK):
                part = right[j : j + 4 * BLOCK].astype(dtype, copy=False)
                block = scratch[: len(left), : len(part)]
                np.matmul(left, part.T, out=block)
                out[i : i + BLOCK, j : j + 4 * BLOCK] = block
        if self.arithmetic == SINGLE:
            norms = self.column_norms[columns]
            for i in np.flatnonzero(self.row_norms[rows] * norms.max(initial=0.0) > 2.0**48):
                heavy = np.flatnonzero(self.row_norms[rows[i]] * norms > 2.0**48)
                out[i, heavy] = right[heavy].astype(np.float64) @ self.P.X[rows[i]].astype(np.float64)


class GivenValues:
    """Kernel values of n rows and m columns from a function (rows, columns) -> K[rows, columns], as `Products` are."""

    arithmetic, dtype = GIVEN, np.dtype(np.float64)

    def __init__(self, function, n, m):
        self.function, self.row_norms, self.column_norms = function, np.zeros(n), np.zeros(m)

    def block(self, rows, columns, out):
        out[:] = self.function(rows, columns)


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


class Columns:
    """Blocks of columns of inner products (or given values) of training points with any others; nothing is kept."""

    def __init__(self, source):
        self.source, self.row_norms, self.norms = source, source.row_norms, source.column_norms

    def __len__(self):
        return len(self.norms)

    def values(self, kernel, rows, columns=slice(None)):
        """K[rows, columns] float64 of a kernel; rows an index array, columns a slice or an index array."""
        products = np.empty((len(rows), len(self.norms[columns])), dtype=self.source.dtype)
        self.source.block(rows, columns, products)
        return kernel.of(products, self.row_norms[rows], self.norms[columns])

    def columns(self, examples, start, stop, buffer):
        """s[examples, start:stop] as (array, rows): the inner products of examples[e] are array[rows[e]].

        buffer is a flat array of at least len(examples) * (stop - start) items to put them into.
        """
        block = buffer[: len(examples) * (stop - start)].reshape(len(examples), stop - start)
        self.source.block(examples, slice(start, stop), block)
        return block, np.arange(len(examples))


class Gram(Columns):
    """Rows of the square matrix of inner products (or given values) of n training points, made on demand and kept.

    memory_budget is in bytes and bounds the rows that are kept; the least recently used give way. `store` (capacity, n)
    holds them and `slot` (n,) says where the row of each example is, -1 if nowhere. `computed` counts the rows made.
    Raises ValueError if the budget does not hold a single row.
    """

    def __init__(self, source, *, memory_budget):
        super().__init__(source)
        n = len(self)
        row = n * source.dtype.itemsize
        self.capacity = int(min(n, memory_budget // row))
        if self.capacity < 1:
            raise ValueError(
                f"memory_budget must hold at least one row of {n} inner products ({row} bytes), got {memory_budget}; "
                "raise the budget or use fewer examples"
            )
        self.store = np.empty((self.capacity, n), dtype=source.dtype)
        self.slot = np.full(n, -1)
        self._example = np.full(self.capacity, -1)
        self._used = np.zeros(self.capacity, dtype=np.int64)
        self._filled = self._clock = self.computed = 0

    @classmethod
    def of_points(cls, X, *, memory_budget):
        """The Gram matrix of the points X (n, d)."""
        points = Points(X)
        return cls(Products(points, points), memory_budget=memory_budget)

    @classmethod
    def of_matrix(cls, K):
        """A matrix K (n, n) of kernel values that is there already."""
        gram = cls(GivenValues(None, len(K), len(K)), memory_budget=8 * len(K))
        gram.store, gram.slot, gram.capacity, gram._used = (
            K,
            np.arange(len(K)),
            len(K),
            np.zeros(len(K), dtype=np.int64),
        )
        return gram

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
        """As `Columns.columns`, but only rows that the store does not hold are computed."""
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
