"""Inner products, exact wherever the data allow it, and rows of them kept within a memory budget.

Inner products of integer-valued points are integers. By the Cauchy-Schwarz inequality every partial sum of x . y is at
most |x| |y| in size, so a single-precision matrix product is exact while |x| |y| <= 2^24 and a double-precision one while
it is <= 2^53, whatever the order of summation: neither the BLAS library, nor its threads, nor the shape of the blocks can
change a bit. (Of the 1.8e9 pairs of MNIST training images a few dozen exceed 2^24; those entries are computed again in
double precision.) Inner products of other points are summed in a fixed order by a compiled loop.

Symbols: X (n, d) points, s_ij = x_i . x_j.
"""

import numpy as np
from numba import njit

SINGLE, DOUBLE, ORDERED, GIVEN_VALUES = range(4)
BLOCK = 1024
"""Rows and columns of one matrix product: large enough for full speed, small enough to stay in cache."""


class Points:
    """Points ready for inner products: X (n, d) float32 or float64, norms (n,) = |x|^2, and how to multiply exactly.

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
        else:
            self.X = np.ascontiguousarray(X, dtype=np.float64)
            self.norms = _norms(self.X)
            self.exact = False
        self.top = float(self.norms.max()) if len(self.norms) else 0.0

    def __len__(self):
        return len(self.X)

    def __getitem__(self, rows):
        part = object.__new__(Points)
        part.X, part.norms, part.exact, part.top = self.X[rows], self.norms[rows], self.exact, self.top
        return part

    def arithmetic(self, other):
        """SINGLE, DOUBLE or ORDERED: the cheapest way to multiply with `other` in which no rounding can show."""
        if not (self.exact and other.exact and self.top * other.top <= 2.0**106):
            return ORDERED
        single = self.X.dtype == np.float32 == other.X.dtype and max(self.top, other.top) < 2.0**31
        heavy = single and np.mean(self.norms * other.top > 2.0**48)
        return SINGLE if single and heavy <= 0.02 else DOUBLE


def products(P, Q, arithmetic, out=None):
    """s (n, m) = P.X Q.X^T: int32 in SINGLE arithmetic, float64 in the others."""
    n, m = len(P), len(Q)
    if out is None:
        out = np.empty((n, m), dtype=np.int32 if arithmetic == SINGLE else np.float64)
    if arithmetic == ORDERED:
        _ordered_products(P.X.astype(np.float64), np.ascontiguousarray(Q.X.T, dtype=np.float64), out)
        return out
    dtype = np.float32 if arithmetic == SINGLE else np.float64
    scratch = np.empty((min(n, BLOCK), min(m, 4 * BLOCK)), dtype=dtype)
    for j in range(0, m, 4 * BLOCK):
        right = Q.X[j : j + 4 * BLOCK].astype(dtype, copy=False).T
        for i in range(0, n, BLOCK):
            left = P.X[i : i + BLOCK].astype(dtype, copy=False)
            block = scratch[: len(left), : right.shape[1]]
            np.matmul(left, right, out=block)
            out[i : i + BLOCK, j : j + 4 * BLOCK] = block
    if arithmetic == SINGLE:
        for i in np.flatnonzero(P.norms * Q.top > 2.0**48):
            heavy = np.flatnonzero(P.norms[i] * Q.norms > 2.0**48)
            out[i, heavy] = Q.X[heavy].astype(np.float64) @ P.X[i].astype(np.float64)
    return out


@njit(nogil=True, cache=True)
def _ordered_products(A, BT, out):
    out[:] = 0.0
    for i in range(A.shape[0]):
        for k in range(A.shape[1]):
            a = A[i, k]
            for j in range(BT.shape[1]):
                out[i, j] += a * BT[k, j]


@njit(nogil=True, cache=True)
def _norms(A):
    out = np.zeros(A.shape[0])
    for i in range(A.shape[0]):
        for k in range(A.shape[1]):
            out[i] += np.float64(A[i, k]) * np.float64(A[i, k])
    return out


def _values(function, rows, columns, out=None):
    values = function(rows, columns)
    if out is None:
        return values
    out[:] = values
    return out


class Gram:
    """Rows of the matrix of inner products of n training points (or of given kernel values), made on demand and kept.

    memory_budget is in bytes and bounds the rows that are kept; the least recently used give way. `store` (capacity, n)
    holds them and `slot` (n,) says where the row of each example is, -1 if nowhere. `computed` counts the rows made.
    Raises ValueError if the budget does not hold a single row.
    """

    def __init__(self, X, *, memory_budget):
        self.points = points = Points(X)
        self.arithmetic = points.arithmetic(points)
        self.X, self.norms, self.row_norms = points.X, points.norms, points.norms
        self._make = lambda rows, columns, out=None: products(points[rows], points[columns], self.arithmetic, out)
        self._allocate(len(points), np.int32 if self.arithmetic == SINGLE else np.float64, memory_budget)

    @classmethod
    def of_values(cls, values, n, *, memory_budget):
        """Rows of kernel values: `values` is the matrix (n, n) itself, or a function (rows, columns) -> K[rows, columns]."""
        gram = object.__new__(cls)
        gram.arithmetic = GIVEN_VALUES
        gram.X, gram.norms, gram.row_norms = np.empty((n, 0), dtype=np.float32), np.zeros(n), np.zeros(n)
        if callable(values):
            gram._make = lambda rows, columns, out=None: _values(values, rows, columns, out)
            gram._allocate(n, np.float64, memory_budget)
        else:
            gram.store, gram.slot, gram.capacity = values, np.arange(n), n
            gram.computed, gram._clock, gram._used = n, 0, np.zeros(n, dtype=np.int64)
        return gram

    def _allocate(self, n, dtype, memory_budget):
        row = n * np.dtype(dtype).itemsize
        self.capacity = int(min(n, memory_budget // row))
        if self.capacity < 1:
            raise ValueError(
                f"memory_budget must hold at least one row of {n} inner products ({row} bytes), got {memory_budget}; "
                "raise the budget or use fewer examples"
            )
        self.store = np.empty((self.capacity, n), dtype=dtype)
        self.slot = np.full(n, -1)
        self._example = np.full(self.capacity, -1)
        self._used = np.zeros(self.capacity, dtype=np.int64)
        self._filled = self._clock = self.computed = 0

    def __len__(self):
        return len(self.slot)

    def fetch(self, examples):
        """Have the rows of these distinct examples (at most `capacity`) in the store; returns the number computed."""
        self._clock += 1
        held = self.slot[examples]
        missing = examples[held < 0]
        self._used[held[held >= 0]] = self._clock
        if len(missing) == 0:
            return 0
        fresh = missing[: self.capacity - self._filled]
        self._put(fresh, np.arange(self._filled, self._filled + len(fresh)))
        self._filled += len(fresh)
        if len(rest := missing[len(fresh) :]):
            oldest = np.argpartition(self._used, len(rest) - 1)[: len(rest)]
            self.slot[self._example[oldest]] = -1
            self._put(rest, oldest)
        self.computed += len(missing)
        return len(missing)

    def _put(self, examples, rows):
        for i in range(0, len(examples), BLOCK):
            part, places = examples[i : i + BLOCK], rows[i : i + BLOCK]
            if np.all(np.diff(places) == 1):
                self._make(part, slice(None), self.store[places[0] : places[-1] + 1])
            else:
                self.store[places] = self._make(part, slice(None))
        self.slot[examples], self._example[rows], self._used[rows] = rows, examples, self._clock

    def columns(self, examples, start, stop):
        """s[examples, start:stop] as (array, rows): the inner products of example e of the list are array[rows[e]].

        Nothing is computed where the store holds all the rows; otherwise the whole block is, and not kept.
        """
        rows = self.slot[examples]
        if np.all(rows >= 0):
            return self.store[:, start:stop], rows
        return self._make(examples, slice(start, stop)), np.arange(len(examples))


class Cross:
    """Inner products of n training points (rows) with m other points (columns), or given values; nothing is kept."""

    def __init__(self, points, others):
        arithmetic = points.arithmetic(others)
        self.row_norms, self.norms = points.norms, others.norms
        self._make = lambda rows, columns: products(points[rows], others[columns], arithmetic)

    @classmethod
    def of_values(cls, values, n, m):
        """values is the function (rows, columns) -> K[rows, columns] of n training points and m other points."""
        cross = object.__new__(cls)
        cross.row_norms, cross.norms, cross._make = np.zeros(n), np.zeros(m), values
        return cross

    def __len__(self):
        return len(self.norms)

    def columns(self, examples, start, stop):
        """As `Gram.columns`."""
        return self._make(examples, slice(start, stop)), np.arange(len(examples))
