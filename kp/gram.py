"""Inner products, exact wherever the data allow it, and rows of them kept within a memory budget.

Inner products of integer-valued points are integers. By the Cauchy-Schwarz inequality every partial sum of x . y is at
most |x| |y| in size, so a single-precision matrix product is exact while |x| |y| <= 2^24 and a double-precision one while
it is <= 2^53: no BLAS library, thread or shape of a block can change a bit. The few pairs above 2^24 are computed again in
double precision. Points of bytes, such as images, need neither: their products are sums of whole numbers, four or two at a
time, made without the zeros of one of the two, which most pixels are. Inner products of other points are summed in the order
of the features, those of sparse points over what is stored: the same bits, as adding zeros changes nothing.
Symbols: X (n, d) points, s_ij = x_i . x_j."""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from enum import IntEnum
from functools import cache, cached_property
from threading import Lock
from typing import Any, NamedTuple, Self

import numpy as np
from scipy import sparse
from threadpoolctl import ThreadpoolController

from kp import kernels, machine
from kp.compiled import compiled
from kp.hints import Array, Data, Index
from kp.kernels import RBF, Kernel, PointKernel, fill_rows
from kp.machine import COLUMNS, LANES, SUMS, add_product, add_words, equal_sums, load_lanes, store_lanes

_BLOCK = 1024  # rows and columns of one matrix product: large enough for full speed, small enough to stay in cache
# `ordered_products` goes by 6 rows, and by panels that fit the second-level cache
_HEIGHT = 6
WIDTH = 128
_DEPTH = 512
_TILE = 512  # sums that stay in the first-level cache
_SMALL = 2**20  # products of a block that one thread makes before others have started
PANEL = 8 * SUMS  # columns of a panel of bytes, whose sums stay in registers
_FEW = 4  # columns that are not worth a panel
_SCRATCH = 256  # new rows that take the place of others at a time


class Arithmetic(IntEnum):
    """How inner products are made; by the last two row by row only."""

    SINGLE = 0
    DOUBLE = 1
    ORDERED = 2
    BYTES = 3
    SPARSE = 4
    GIVEN = 5


class Points:
    """Points ready for inner products; raises ValueError unless X is a finite (n, d) array or sparse matrix."""

    # X (n, d) is float32 where that holds the points exactly, else float64, or CSR float64; compact (n, d) has them as bytes
    # where they fit; norms (n,) are |x|^2, top the largest; exact says whether all inner products are integers that double
    # precision holds.
    per_unit = 1  # X is in units of 1/per_unit

    @classmethod
    def per(cls, unit: int, X: Any) -> Self:
        """`Points` of X (n, d) in units of 1/unit: values k/255 become whole numbers, whose products are exact and fast."""
        # Each value counts by itself: what else X holds changes no bit. Sparse points become dense.
        if unit == 1:
            return cls(X)
        X = X.toarray() if sparse.issparse(X) else np.asarray(X)
        X = X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)
        with np.errstate(over="ignore"):  # what overflows is not whole
            whole = np.rint(X * X.dtype.type(unit))
        is_whole = whole / X.dtype.type(unit) == X
        found = cls(whole if is_whole.all() else np.where(is_whole, whole, X.astype(np.float64) * unit))
        found.per_unit = unit
        return found

    def in_units(self, kernel: Kernel) -> Kernel:
        """The kernel that makes the same values of norms and inner products in the units of these points."""
        return kernel if self.per_unit == 1 else kernel._replace(gamma=kernel.gamma / self.per_unit**2)

    def __init__(self, X: Data) -> None:
        if sparse.issparse(X):
            self._take_sparse(X)
            return
        X = np.asarray(X)
        if X.ndim != 2 or X.dtype.kind not in "biuf":
            raise ValueError(f"points must be a numeric array (n, d), got {X.dtype} of shape {X.shape}")
        low, high = (float(X.min()), float(X.max())) if X.size else (0.0, 0.0)
        largest = max(-low, high)
        if not math.isfinite(largest):
            raise ValueError("points must be finite, got NaN or infinity; remove or impute those values")
        whole = X.dtype.kind in "biu" or bool((X == np.rint(X)).all())
        if whole and largest**2 * X.shape[1] <= 2.0**53:
            self.exact = True
            if X.size and low >= 0 and largest <= 255 and X.shape[1] <= 2**16:
                self.compact = np.array(X, dtype=np.uint8, order="C")
            else:
                self.compact = self.X = X.astype(np.float32 if largest <= 2**24 else np.float64, order="C")
            self.norms = _norms(self.compact)
        else:
            self.exact = False
            self.compact = self.X = np.array(X, dtype=np.float64, order="C")
            self.norms = _norms(self.X)
        self.top = float(self.norms.max()) if len(self.norms) else 0.0

    def _take_sparse(self, X):
        self.X = sparse.csr_array(X, dtype=np.float64, copy=True)
        self.X.sum_duplicates()
        if not np.all(np.isfinite(self.X.data)):
            raise ValueError("points must be finite, got NaN or infinity; remove or impute those values")
        self.norms = _sparse_norms(self.X.indptr, self.X.data)
        self.exact = False
        self.compact = self.X
        self.top = float(self.norms.max(initial=0.0))

    def __len__(self) -> int:
        return self.compact.shape[0]

    @cached_property
    def X(self) -> Any:
        """The points, made when they are asked for where bytes do the work."""
        return self.compact.astype(np.float32)

    @cached_property
    def words(self) -> Words:
        """The bytes as words."""
        return words_of(self.compact)

    @cached_property
    def panels(self) -> Array:
        """The bytes as `lay_out` has them."""
        return lay_out(self.words, np.arange(len(self)))

    @cached_property
    def features(self) -> Array:
        """The points as float64 (d, n), feature by feature."""
        return np.ascontiguousarray(self.X.T, dtype=np.float64)

    @property
    def is_sparse(self) -> bool:
        """Whether the points are held as a sparse matrix."""
        return sparse.issparse(self.compact)

    @property
    def are_bytes(self) -> bool:
        """Whether the points are held as bytes."""
        return self.compact.dtype == np.uint8

    def arithmetic(self, other: Points) -> Arithmetic:
        """SPARSE or BYTES where both are; else the cheapest of SINGLE, DOUBLE and ORDERED in which no rounding shows."""
        if self.is_sparse:
            return Arithmetic.SPARSE
        if self.are_bytes and other.are_bytes and self.top * other.top < 2.0**62:
            return Arithmetic.BYTES
        if not (self.exact and other.exact and self.top * other.top <= 2.0**106):
            return Arithmetic.ORDERED
        single = self.X.dtype == np.float32 == other.X.dtype and max(self.top, other.top) < 2.0**31
        heavy = np.count_nonzero(self.norms * other.top > 2.0**48)
        return Arithmetic.SINGLE if single and heavy <= 0.02 * len(self) else Arithmetic.DOUBLE


def unit_of(X: Any) -> int:
    """255 where the values of X (n, d) are 0, 1/255, ..., 1, as those of images often are, and not all whole; else 1."""
    X = X if sparse.issparse(X) else np.asarray(X)
    if sparse.issparse(X) or not (X.size and X.dtype in (np.float32, np.float64) and X.min() >= 0 and X.max() <= 1):
        return 1
    of_bytes = np.array_equal(np.rint(X * X.dtype.type(255)) / X.dtype.type(255), X)
    return 255 if of_bytes and not np.array_equal(X, np.rint(X)) else 1


class Products:
    """Inner products of points (rows) with column_points (columns), block by block; threads changes no bit."""

    def __init__(self, points: Points, column_points: Points, *, threads: int = 1) -> None:
        if points.compact.shape[1] != column_points.compact.shape[1]:
            features = f"{points.compact.shape[1]} and {column_points.compact.shape[1]}"
            raise ValueError(
                f"points must have the same number of features, got {features}; pass points with those of the training set"
            )
        if points.is_sparse != column_points.is_sparse:
            points, column_points = (p if p.is_sparse else Points(sparse.csr_array(p.X)) for p in (points, column_points))
        if points.per_unit != column_points.per_unit:
            raise ValueError(f"points must be in the same units, got 1/{points.per_unit} and 1/{column_points.per_unit}")
        self.points = points
        self.column_points = column_points
        self.arithmetic = points.arithmetic(column_points)
        self.dtype = np.dtype(np.int32 if self.arithmetic in (Arithmetic.SINGLE, Arithmetic.BYTES) else np.float64)
        self.row_norms = points.norms
        self.column_norms = column_points.norms
        self.top = max(points.top, column_points.top)
        self.threads = threads

    def in_units(self, kernel: Kernel) -> Kernel:
        """The kernel as a function of these products and of the norms."""
        return self.points.in_units(kernel)

    def diagonal(self, kernel: Kernel) -> Array:
        """k(x, x) (n,) of the rows."""
        return self.in_units(kernel).diagonal(self.row_norms)

    def from_origin(self, kernel: Kernel) -> tuple[float, Array]:
        """k(0, 0), and k(0, y) (m,) of the columns."""
        return self.in_units(kernel).from_origin(self.column_norms)

    def block(self, rows: Array, columns: Index, out: Array) -> None:
        """out[i, j] = x_rows[i] . y_columns[j]; rows an index array, columns one or a slice, out of dtype."""
        n, m = out.shape
        threads = self.threads if n * m * self.points.compact.shape[1] > _SMALL else 1
        if self.arithmetic == Arithmetic.BYTES:
            self._block_of_bytes(rows, columns, out, threads)
            return
        right = self.column_points.X[columns]
        if self.arithmetic == Arithmetic.ORDERED and m < _FEW and _are_all(rows, len(self.points)):
            _few_products(self.points.features, np.asarray(right, dtype=np.float64), out)
            return
        norms = self.column_norms[columns]
        with _one_blas_thread():
            if n > m:
                in_strips(lambda part: self._make(rows[part], right, norms, out[part]), n, WIDTH, threads)
            else:
                in_strips(lambda part: self._make(rows, right[part], norms[part], out[:, part]), m, WIDTH, threads)

    def _block_of_bytes(self, rows, columns, out, threads):
        """`block` by panels of columns, which each row meets by its words alone."""
        m = out.shape[1]
        if m < _FEW:
            _single_products(self.points.compact, rows, self.column_points.compact[columns], out)
            return
        start = 0
        if isinstance(columns, slice):
            panels = self.column_points.panels
            start = columns.indices(len(self.column_points))[0]
        else:
            panels = lay_out(self.column_points.words, np.asarray(columns))
        words = self.points.words
        if len(rows) > m:
            in_strips(lambda p: byte_products(words, rows[p], panels, start, out[p], 0, m), len(rows), 1, threads)
        else:
            in_strips(lambda p: byte_products(words, rows, panels, start, out, p.start, p.stop), m, PANEL, threads)

    def _make(self, rows, right, norms, out):
        if self.arithmetic == Arithmetic.ORDERED:
            left = self.points.X if _are_all(rows, len(self.points)) else self.points.X[rows]
            ordered_products(*(np.ascontiguousarray(X, dtype=np.float64) for X in (left, right)), out)
            return
        if self.arithmetic == Arithmetic.SPARSE:
            A = self.points.X[rows]
            B = right
            _sparse_products(A.indptr, A.indices, A.data, B.indptr, B.indices, B.data, np.zeros(A.shape[1]), out)
            return
        dtype = np.float32 if self.arithmetic == Arithmetic.SINGLE else np.float64
        scratch = np.empty((min(len(rows), _BLOCK), min(len(right), _BLOCK)), dtype=dtype)
        for i in range(0, len(rows), _BLOCK):
            left = self.points.X[rows[i : i + _BLOCK]].astype(dtype, copy=False)
            for j in range(0, len(right), _BLOCK):
                part = right[j : j + _BLOCK].astype(dtype, copy=False)
                block = scratch[: len(left), : len(part)]
                np.matmul(left, part.T, out=block)
                out[i : i + _BLOCK, j : j + _BLOCK] = block
        if self.arithmetic == Arithmetic.SINGLE:
            for i in np.flatnonzero(self.row_norms[rows] * norms.max(initial=0.0) > 2.0**48):
                heavy = np.flatnonzero(self.row_norms[rows[i]] * norms > 2.0**48)
                out[i, heavy] = right[heavy].astype(np.float64) @ self.points.X[rows[i]].astype(np.float64)


def _are_all(rows, n):
    return len(rows) == n and bool((rows == np.arange(n)).all())


class _SharedLimit:
    """A context in which BLAS has one thread, for several threads of a program."""

    # The last one out restores what was before the first came in.
    def __init__(self) -> None:
        self._controller = ThreadpoolController()
        self._lock = Lock()
        self._inside = 0
        self._limit = None  # type: Any

    def __enter__(self) -> None:
        with self._lock:
            if self._inside == 0:
                self._limit = self._controller.limit(limits=1, user_api="blas")
            self._inside += 1

    def __exit__(self, *error: Any) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._limit.restore_original_limits()


@cache
def _one_blas_thread():
    """Each strip of products is made by one thread, so that rounding to other types is shared out as well."""
    return _SharedLimit()


def in_strips(work: Callable[[slice], Any], n: int, size: int, threads: int) -> list:
    """[work(slice)] of strips that cover range(n), as many as threads, each a multiple of size; side by side."""
    width = -(-n // (size * threads)) * size
    parts = [slice(start, min(start + width, n)) for start in range(0, n, max(width, 1))]
    if len(parts) < 2:
        return [work(part) for part in parts]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(work, parts))


def _fill(kernel, products, norms_x, norms_y, out, threads):
    """Kernel values (n, m) of inner products (n, m), which may be `out` itself for a Gaussian kernel."""
    rows = max(1, _BLOCK**2 // 16 // max(1, len(norms_y)))
    in_strips(lambda p: fill_rows(kernel, products[p], norms_x[p], norms_y, out[p]), len(norms_x), rows, threads)


class PrecomputedKernel:
    """Kernel values (n, m) instead of `Products`, from a function (rows, columns) -> K[rows, columns]."""

    arithmetic = Arithmetic.GIVEN
    dtype = np.dtype(np.float64)
    points: Any = None
    column_points: Any = None
    top = 0.0

    def __init__(self, function: Callable[..., Array] | None, n: int, m: int, *, threads: int = 1) -> None:
        self.function = function
        self.row_norms = np.zeros(n)
        self.column_norms = np.zeros(m)
        self.threads = threads

    def in_units(self, kernel: Kernel | PointKernel) -> Kernel:
        return kernel if isinstance(kernel, Kernel) else kernels.GIVEN

    def block(self, rows: Array, columns: Index, out: Array) -> None:
        out[:] = self.function(rows, columns)  # type: ignore[misc]  # None where all rows are there


class PointValues(PrecomputedKernel):
    """Kernel values of points X (n, d) with others Y (m, d), arrays or sparse, by a kernel that makes them itself."""

    def __init__(self, kernel: PointKernel, X: Any, Y: Any, *, threads: int = 1) -> None:
        super().__init__(None, X.shape[0], Y.shape[0], threads=threads)
        self.kernel = kernel
        self.points = X
        self.column_points = Y

    def diagonal(self, kernel: PointKernel) -> Array:
        return self.kernel.diagonal(self.points)

    def from_origin(self, kernel: PointKernel) -> tuple[float, Array]:
        return self.kernel.from_origin(self.column_points)

    def block(self, rows: Array, columns: Index, out: Array) -> None:
        X = self.points[rows]
        Y = self.column_points[columns]

        def make(part):
            out[:, part] = self.kernel(X, Y[part])

        in_strips(make, out.shape[1], _BLOCK, self.threads if self.kernel.in_threads else 1)


def points_of(kernel: Kernel | PointKernel, X: Any, unit: int = 1) -> Any:
    """X (n, d) as `between` takes the points of a kernel: `Points` in units of 1/unit for inner products, or X itself."""
    return Points.per(unit, X) if isinstance(kernel, Kernel) else X


def between(kernel: Kernel | PointKernel, rows: Any, columns: Any, *, threads: int = 1) -> Products | PointValues:
    """The source of the values of a kernel for two sets of points, both as `points_of` gives them."""
    if isinstance(kernel, Kernel):
        return Products(rows, columns, threads=threads)
    return PointValues(kernel, rows, columns, threads=threads)


@compiled(inline="always")  # as a call it would take twice as long
def dot(arithmetic, x, y):
    """x . y of two points, for one of SINGLE, DOUBLE or ORDERED; others are refused."""
    if arithmetic == Arithmetic.SINGLE or arithmetic == Arithmetic.DOUBLE:
        return _exact_dot(x, y)
    if arithmetic == Arithmetic.ORDERED:
        return _ordered_dot(x, y)
    raise ValueError("single points have no inner product in this arithmetic; compute rows")


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
def _single_products(X, rows, Y, out):
    """out[i, j] = X[rows[i]] . Y[j] of bytes."""
    for i in range(rows.shape[0]):
        for j in range(Y.shape[0]):
            out[i, j] = _byte_dot(X[rows[i]], Y[j])


class Words(NamedTuple):
    """Bytes (n, d), some neighbours at a time, as words of 32 bits: word k holds those from feature k size on."""

    # The words of point i that are not 0 are words[t], with k = places[t], for t in starts[i]:starts[i + 1].
    starts: Array
    places: Array
    words: Array
    starting: Array  # what the sums of products of a point begin with
    depth: int  # number of words of a point
    blank: Array  # empty, of the type in which panels have the other side: two int16 a word, or four int8, y - 128


def words_of(X: Array) -> Words:
    """The bytes X (n, d) as words: of four numbers where this processor is right on them, else of two."""
    return _words(X, np.empty(0, dtype=np.int8 if _has_quads() else np.int16))


NO_WORDS = Words(
    np.empty(0, dtype=np.int64), np.empty(0, dtype=np.uint16), np.empty(0, dtype=np.int32), np.empty(0, dtype=np.int32), 0,
    np.empty(0, dtype=np.int8 if machine.HAS_QUADS else np.int16),
)  # fmt: skip
"""Of points that are not bytes, of the types of those that are: a function that takes both is compiled once."""


@cache
def _has_quads():
    """Whether sums of four products at a time are plain sums here, on bytes of all sizes: asked once."""
    if not machine.HAS_QUADS:
        return False
    X = (np.arange(9 * (PANEL + 1)) * 89 % 256).reshape(-1, 9).astype(np.uint8)
    X[0], X[1], X[2] = 255, 0, 128
    words = _words(X, np.empty(0, dtype=np.int8))
    every = np.arange(len(X))
    found = np.zeros((len(X), len(X)), dtype=np.int32)
    byte_products(words, every, lay_out(words, every), 0, found, 0, len(X))
    return np.array_equal(found, X.astype(np.int64) @ X.T.astype(np.int64))


@compiled
def _words(X, blank):
    n, d = X.shape
    size = 4 // blank.itemsize
    bits = np.uint32(8 * blank.itemsize)
    depth = (d + size - 1) // size
    starts = np.zeros(n + 1, dtype=np.int64)
    places = np.empty(n * depth, dtype=np.uint16)
    words = np.empty(n * depth, dtype=np.uint32)
    starting = np.zeros(n, dtype=np.int32)
    t = 0
    for i in range(n):
        for k in range(depth):
            word = np.uint32(0)
            for at in range(min(size, d - size * k)):
                word |= np.uint32(X[i, size * k + at]) << np.uint32(bits * at)
                if size == 4:
                    starting[i] += 128 * np.int32(X[i, size * k + at])
            if word != 0:
                places[t] = k
                words[t] = word
                t += 1
        starts[i + 1] = t
    return Words(starts, places[:t].copy(), words[:t].copy().view(np.int32), starting, depth, blank)


@compiled
def lay_out(words, rows):
    """These points as panels of PANEL points, the last filled up with zeros; in each, word after word of all points."""
    zero = np.uint32(0x80808080 if words.blank.itemsize == 1 else 0)  # 0 - 128, four times
    panels = np.full(((rows.shape[0] + PANEL - 1) // PANEL, words.depth * PANEL), zero)
    for j in range(rows.shape[0]):
        panel = panels[j // PANEL]
        for t in range(words.starts[rows[j]], words.starts[rows[j] + 1]):
            panel[np.int64(words.places[t]) * PANEL + j % PANEL] = np.uint32(words.words[t]) ^ zero
    return panels.view(words.blank.dtype)


@compiled
def byte_products(words, rows, panels, start, out, first, last):
    """Columns first:last of out (n, m): inner products of these rows with the points from `start` on, as panels."""
    sums = np.empty(PANEL, dtype=np.int32)
    for p in range((start + first) // PANEL, (start + last + PANEL - 1) // PANEL):
        low = max(start + first, p * PANEL)
        high = min(start + last, (p + 1) * PANEL)
        part = sums[low - p * PANEL :]
        for i in range(rows.shape[0]):
            _add_words(words, rows[i], panels[p], sums)
            row = out[i, low - start : high - start]
            for j in range(row.shape[0]):
                row[j] = part[j]


@compiled
def tile_products(words, rows, panel, tiles):
    """Inner products of rows with a panel: tiles (PANEL // COLUMNS, rows COLUMNS), of COLUMNS points each, row by row."""
    sums = np.empty(PANEL, dtype=np.int32)
    for i in range(rows.shape[0]):
        _add_words(words, rows[i], panel, sums)
        for t in range(tiles.shape[0]):
            for j in range(COLUMNS):
                tiles[t, i * COLUMNS + j] = sums[t * COLUMNS + j]


@compiled
def _add_words(words, i, panel, sums):
    """Sums (PANEL,) of one row."""
    step = SUMS * (4 // panel.itemsize)
    s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = equal_sums(words.starting[i])
    for t in range(words.starts[i], words.starts[i + 1]):
        word = words.words[t]
        at = np.int64(words.places[t]) * (8 * step)
        s0 = add_words(s0, word, panel, at)
        s1 = add_words(s1, word, panel, at + step)
        s2 = add_words(s2, word, panel, at + 2 * step)
        s3 = add_words(s3, word, panel, at + 3 * step)
        s4 = add_words(s4, word, panel, at + 4 * step)
        s5 = add_words(s5, word, panel, at + 5 * step)
        s6 = add_words(s6, word, panel, at + 6 * step)
        s7 = add_words(s7, word, panel, at + 7 * step)
    store_lanes(sums, 0, s0), store_lanes(sums, SUMS, s1), store_lanes(sums, 2 * SUMS, s2), store_lanes(sums, 3 * SUMS, s3)
    store_lanes(sums, 4 * SUMS, s4), store_lanes(sums, 5 * SUMS, s5), store_lanes(sums, 6 * SUMS, s6)
    store_lanes(sums, 7 * SUMS, s7)


@compiled
def ordered_products(A, B, out):
    """out (n, m) = A (n, d) times the transpose of B (m, d), each sum in the order of the d columns."""
    if A.shape[0] < min(B.shape[0], 2 * _HEIGHT):
        _ordered_products(B, A, out.T[:, :])
    else:
        _ordered_products(A, B, out[:, :])


@compiled
def _ordered_products(A, B, out):
    """WIDTH rows of B at a time are laid out as lanes, _DEPTH columns of them, and meet rows of A, _HEIGHT at a time."""
    n = A.shape[0]
    m = B.shape[0]
    d = A.shape[1]
    panel = np.zeros((min(m, WIDTH) + LANES) * min(d, _DEPTH))
    sums = np.zeros(_HEIGHT * WIDTH)
    for left in range(0, m, WIDTH):
        width = min(WIDTH, m - left)
        for low in range(0, max(d, 1), _DEPTH):
            depth = min(_DEPTH, d - low)
            for j in range(width):
                place = j // LANES * LANES * depth + j % LANES
                for k in range(depth):
                    panel[place + LANES * k] = B[left + j, low + k]
            for top in range(0, n, _HEIGHT):
                height = min(_HEIGHT, n - top)
                for i in range(height):
                    for j in range(width):
                        sums[i * WIDTH + j] = out[top + i, left + j] if low > 0 else 0.0
                for j in range(0, width, LANES):
                    _add_products(A, top, low, depth, panel, j * depth, sums, j)
                for i in range(height):
                    for j in range(width):
                        out[top + i, left + j] = sums[i * WIDTH + j]


@compiled
def _add_products(A, top, low, depth, panel, place, sums, j):
    """Add to the sums of _HEIGHT rows and LANES columns from j on; rows that A does not have repeat its last one."""
    last = A.shape[0] - 1
    r1 = min(top + 1, last)
    r2 = min(top + 2, last)
    r3 = min(top + 3, last)
    r4 = min(top + 4, last)
    r5 = min(top + 5, last)
    s0 = load_lanes(sums, j)
    s1 = load_lanes(sums, WIDTH + j)
    s2 = load_lanes(sums, 2 * WIDTH + j)
    s3 = load_lanes(sums, 3 * WIDTH + j)
    s4 = load_lanes(sums, 4 * WIDTH + j)
    s5 = load_lanes(sums, 5 * WIDTH + j)
    for k in range(low, low + depth):
        b = load_lanes(panel, place)
        place += LANES
        s0 = add_product(s0, A[top, k], b)
        s1 = add_product(s1, A[r1, k], b)
        s2 = add_product(s2, A[r2, k], b)
        s3 = add_product(s3, A[r3, k], b)
        s4 = add_product(s4, A[r4, k], b)
        s5 = add_product(s5, A[r5, k], b)
    store_lanes(sums, j, s0), store_lanes(sums, WIDTH + j, s1), store_lanes(sums, 2 * WIDTH + j, s2)
    store_lanes(sums, 3 * WIDTH + j, s3), store_lanes(sums, 4 * WIDTH + j, s4), store_lanes(sums, 5 * WIDTH + j, s5)


@compiled
def _few_products(features, B, out):
    """`ordered_products` of points (d, n), feature by feature, with a few points B (m, d): nothing is laid out."""
    d, n = features.shape
    sums = np.empty(_TILE)
    for j in range(B.shape[0]):
        for start in range(0, n, _TILE):
            size = min(_TILE, n - start)
            s = sums[:size]
            s[:] = 0.0
            k = d % 4
            for low in range(k):
                _add_feature(s, B[j, low], features[low, start : start + size])
            for low in range(k, d, 4):
                a, b, c, e = B[j, low], B[j, low + 1], B[j, low + 2], B[j, low + 3]
                x0 = features[low, start : start + size]
                x1 = features[low + 1, start : start + size]
                x2 = features[low + 2, start : start + size]
                x3 = features[low + 3, start : start + size]
                for i in range(size):
                    s[i] = (((s[i] + a * x0[i]) + b * x1[i]) + c * x2[i]) + e * x3[i]
            for i in range(size):
                out[start + i, j] = s[i]


@compiled
def _add_feature(sums, factor, values):
    for i in range(sums.shape[0]):
        sums[i] += factor * values[i]


@compiled
def _sparse_products(starts, features, values, their_starts, their_features, their_values, x, out):
    """`ordered_products` of CSR matrices; x (d,) are zeros."""
    for i in range(out.shape[0]):
        for p in range(starts[i], starts[i + 1]):
            x[features[p]] = values[p]
        for j in range(out.shape[1]):
            total = 0.0
            for p in range(their_starts[j], their_starts[j + 1]):
                total += x[their_features[p]] * their_values[p]
            out[i, j] = total
        for p in range(starts[i], starts[i + 1]):
            x[features[p]] = 0.0


@compiled
def _norms(A):
    out = np.zeros(A.shape[0])
    for i in range(A.shape[0]):
        for k in range(A.shape[1]):
            out[i] += np.float64(A[i, k]) * np.float64(A[i, k])
    return out


@compiled
def _sparse_norms(starts, values):
    out = np.zeros(starts.shape[0] - 1)
    for i in range(out.shape[0]):
        for p in range(starts[i], starts[i + 1]):
            out[i] += values[p] * values[p]
    return out


class CrossGram:
    """Inner products (or kernel values) of training points with other points, block by block; nothing is kept."""

    def __init__(self, source: Products | PrecomputedKernel) -> None:
        self.source = source  # makes the blocks, and has the largest squared norm as `top` and the number of threads
        self.points = source.points  # of the rows, None for a precomputed kernel
        self.column_points = source.column_points
        self.row_norms = source.row_norms  # (n,), squared
        self.norms = source.column_norms  # (m,)

    def __len__(self) -> int:
        return len(self.norms)

    def in_units(self, kernel: Kernel | PointKernel) -> Kernel:
        """The kernel that makes the values of this one of norms and what the source gives: inner products or values."""
        return self.source.in_units(kernel)  # type: ignore[arg-type]

    def reading(self, kernel: Kernel | PointKernel) -> Kernel:
        """The kernel as a function of what `columns` gives and of the norms."""
        return self.in_units(kernel)

    def values(self, kernel: Kernel | PointKernel, rows: Array, columns: Index = slice(None)) -> Array:
        """K[rows, columns] float64 of a kernel; rows an index array, columns a slice or an index array."""
        products = np.empty((len(rows), len(self.norms[columns])), dtype=self.source.dtype)
        self._make(rows, columns, products)
        out = np.empty(products.shape)
        _fill(self.reading(kernel), products, self.row_norms[rows], self.norms[columns], out, self.source.threads)
        return out

    def _make(self, examples, columns, out):
        self.source.block(examples, columns, out)

    def columns(self, examples: Array, start: int, stop: int, buffer: Array) -> tuple[Array, Array]:
        """s[examples, start:stop] as flat (values, places): those of examples[e] begin at values[places[e]]."""
        # Compiled loops over a part of a flat array run at full speed, those over columns of a matrix do not. The buffer is
        # flat and has room for all.
        width = stop - start
        values = buffer[: len(examples) * width]
        self.source.block(examples, slice(start, stop), values.reshape(len(examples), width))
        return values, np.arange(len(examples)) * width


class Gram(CrossGram):
    """Inner products (or kernel values) of n training points with each other; rows are made on demand and kept."""

    # memory_budget bounds their bytes; the least recently used give way. With a kernel its values are kept instead of inner
    # products where that takes no more room and saves time: those of a Gaussian kernel, one exponential for each row instead
    # of one for each mistake. No bit depends on it.

    def __init__(
        self, source: Products | PrecomputedKernel, *, memory_budget: int, kernel: Kernel | PointKernel | None = None
    ) -> None:
        super().__init__(source)
        n = len(self)
        row = n * source.dtype.itemsize
        capacity = int(min(n, int(memory_budget) // row))
        if capacity < 1:
            raise ValueError(
                f"memory_budget must hold at least one row of {n} inner products ({row} bytes), got {memory_budget}; "
                "raise the budget or use fewer examples"
            )
        gaussian = isinstance(kernel, Kernel) and kernel.kind == RBF and source.dtype == np.float64
        self.kept = kernel if gaussian else None
        self.store = np.empty((capacity, n), dtype=source.dtype)
        self.slot = np.full(n, -1)  # the row of `store` of each example
        self._example = np.full(capacity, -1)
        self._used = np.zeros(capacity, dtype=np.int64)
        self.capacity = capacity
        self._filled = 0
        self._scratch = None  # type: Any
        self._clock = 0
        self.computed = 0  # rows made so far

    @classmethod
    def of_points(cls, X: Data, *, memory_budget: int, threads: int = 1, unit: int = 1) -> Self:
        """The Gram matrix of the points X (n, d), in units of 1/unit (see `Points.per`)."""
        points = Points.per(unit, X)
        return cls(Products(points, points, threads=threads), memory_budget=memory_budget)

    @classmethod
    def of_matrix(cls, K: Array) -> Self:
        """A matrix K (n, n) of kernel values that is there already."""
        n = len(K)
        gram = cls(PrecomputedKernel(None, n, n), memory_budget=8 * n)
        gram.store = np.ascontiguousarray(K)
        gram.slot = np.arange(n)
        gram._used = np.zeros(n, dtype=np.int64)
        gram.capacity = n
        return gram

    def reading(self, kernel: Kernel | PointKernel) -> Kernel:
        """As `CrossGram.reading`: of what is kept, which is `GIVEN` for the kernel whose values are kept."""
        if self.kept not in (None, kernel):
            raise ValueError(
                f"this Gram keeps the values of {self.kept}, got {kernel}; make a Gram without a kernel to use several"
            )
        return self.in_units(kernel) if self.kept is None else kernels.GIVEN

    def fetch(self, examples: Array) -> int:
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
            self._make(examples, slice(None), self.store[rows])
            rows = np.arange(rows.start, rows.stop)
        else:
            if self._scratch is None:
                self._scratch = np.empty((min(len(self.store), _SCRATCH), len(self)), dtype=self.store.dtype)
            for i in range(0, len(rows), _SCRATCH):
                there = rows[i : i + _SCRATCH]
                made = self._scratch[: len(there)]
                self._make(examples[i : i + _SCRATCH], slice(None), made)
                in_strips(
                    lambda part, there=there, made=made: _put_rows(self.store, there[part], made[part]),
                    len(there), 1, self.source.threads,
                )  # fmt: skip
        self.slot[examples] = rows
        self._example[rows] = examples
        self._used[rows] = self._clock

    def _make(self, examples, columns, out):
        self.source.block(examples, columns, out)
        if self.kept is not None:
            _fill(self.in_units(self.kept), out, self.row_norms[examples], self.norms[columns], out, self.source.threads)

    def columns(self, examples: Array, start: int, stop: int, buffer: Array) -> tuple[Array, Array]:
        """As `CrossGram.columns`, but only rows that the store does not hold are computed."""
        rows = self.slot[examples]
        missing = np.flatnonzero(rows < 0)
        if len(missing) == 0:
            return self.store.reshape(-1), rows * len(self) + start
        width = stop - start
        values = buffer[: len(examples) * width]
        block = values.reshape(len(examples), width)
        held = np.flatnonzero(rows >= 0)
        copied = block[len(missing) :]
        there = rows[held]
        in_strips(lambda part: _copy_rows(self.store, there[part], start, copied[part]), len(held), 1, self.source.threads)
        self._make(examples[missing], slice(start, stop), block[: len(missing)])
        rows[missing] = np.arange(len(missing))
        rows[held] = np.arange(len(missing), len(rows))
        return values, rows * width


@compiled
def _put_rows(store, rows, made):
    for i in range(rows.shape[0]):
        for j in range(made.shape[1]):
            store[rows[i], j] = made[i, j]


@compiled
def _copy_rows(store, rows, start, out):
    for i in range(rows.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = store[rows[i], start + j]
