"""Kernels: functions of inner products and squared norms, and others, which compute their values from the points.

Sources: Hermans 2021, section 3.2 (polynomial kernel); Xu & Zhang 2005, eqs 7 and 8.

Symbols: X (n, d), Y (m, d) points, x . y an inner product, |x|^2 a squared norm, K (n, m) kernel values.
One matrix of inner products serves all kernels of the first kind, `Kernel`, which compiled loops read. The values of the
second kind, `PointKernel`, are given to the loops, as those of a precomputed matrix are.
Powers are repeated products in a fixed order: the same bits everywhere. Exponentials are those of the system's mathematical
library: the same bits wherever that is the same.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.metrics.pairwise import laplacian_kernel

from kp.compiled import compiled
from kp.machine import COLUMNS, add_product, equal_columns, load_columns, multiply, store_lanes
from kp.wording import shown

VALUES, POLYNOMIAL, RBF = range(3)
LARGEST = np.float64(1e100)  # of points and of given kernel values: sums of their products and squares stay finite
_DIAGONAL = 32  # points whose k(x, x) are made together
HIGHEST_DEGREE = 10**6
_PAIRS = "for a function of two points take lambda X, Y: sklearn.metrics.pairwise.pairwise_kernels(X, Y, metric=function)"


class Kernel(NamedTuple):
    """A kernel as the compiled loops read it; make one with `linear`, `polynomial` or `rbf`, or take `GIVEN`.

    `added` is a constant on top of each of its values: that of a threshold, see `plus_one`.
    """

    kind: int
    gamma: float
    coef0: float
    degree: int
    added: float = 0.0

    def __call__(self, X: ArrayLike, Y: ArrayLike) -> np.ndarray:
        """Compute the kernel in plain NumPy: for small sets and for reading."""
        X = np.asarray(X, dtype=np.float64)
        Y = np.asarray(Y, dtype=np.float64)
        if X.ndim != 2 or Y.ndim != 2 or X.shape[1] != Y.shape[1]:
            raise ValueError(f"X and Y must be (n, d) and (m, d) with the same d, got {X.shape} and {Y.shape}")
        return self.of(X @ Y.T, (X**2).sum(1), (Y**2).sum(1))

    def of(self, products: np.ndarray, norms_x: np.ndarray, norms_y: np.ndarray) -> np.ndarray:
        """K (n, m) from inner products (n, m) and squared norms (n,), (m,)."""
        products, norms_x, norms_y = (np.ascontiguousarray(each, dtype=np.float64) for each in (products, norms_x, norms_y))
        out = np.empty(products.shape)
        fill_rows(self, products, norms_x, norms_y, out)
        return out

    def bound(self, norm: float) -> float:
        """The largest |k(x, y)| that two points of squared norm up to `norm` can have; infinite if it overflows."""
        if self.kind != POLYNOMIAL:
            return 1.0 + self.added
        try:
            return (abs(self.gamma) * norm + abs(self.coef0)) ** self.degree + self.added
        except OverflowError:
            return math.inf

    def diagonal(self, norms: np.ndarray) -> np.ndarray:
        """k(x, x) (n,) of points with these squared norms; needs no points."""
        own = np.full(len(norms), 1.0 + self.added)
        if self.kind == POLYNOMIAL:
            fill(self, norms, 0.0, norms, own)
        return own

    def from_origin(self, norms: np.ndarray) -> tuple[float, np.ndarray]:
        """k(0, 0), and k(0, x) (n,) of points with these squared norms."""
        norms = np.append(0.0, norms)
        out = np.empty(len(norms))
        fill(self, np.zeros(len(norms)), 0.0, norms, out)
        return float(out[0]), out[1:]

    def plus_one(self) -> Self:
        """k(x, y) + 1: a perceptron with it is one that moves a threshold by the sign of each mistake."""
        return self._replace(coef0=self.coef0 + 1.0) if self.affine else self._replace(added=1.0)

    @property
    def affine(self) -> bool:
        """True if k(x, y) = gamma x . y + coef0, so that a weight vector in input space says all."""
        return self.kind == POLYNOMIAL and self.degree == 1


GIVEN = Kernel(VALUES, 1.0, 0.0, 1)
"""Values that are given, such as those of a precomputed matrix."""


class PointKernel:
    """Base of the kernels that are not functions of inner products and norms: `values(X, Y)` gives K (n, m).

    X (n, d) and Y (m, d) are float64 arrays, or both sparse CSR matrices of float64 if `takes_sparse` says so.
    """

    affine = False
    takes_sparse = False
    """Whether `values` takes sparse matrices; if not, it gets them as arrays, a block at a time."""
    in_threads = True
    """Whether `values` may run in several threads at the same time."""

    def values(self, X: Any, Y: Any) -> Any:
        """Kernel values (n, m) of X (n, d) and Y (m, d)."""
        raise NotImplementedError

    def __call__(self, X: Any, Y: Any) -> np.ndarray:
        """Kernel values (n, m) as float64, checked, of X (n, d) and Y (m, d), arrays or sparse matrices."""
        shape = (X.shape[0], Y.shape[0])
        if not self.takes_sparse:
            X, Y = (each.toarray() if sparse.issparse(each) else each for each in (X, Y))
        returned = self.values(*(each.astype(np.float64, copy=False) for each in (X, Y)))
        try:
            values = np.asarray(returned)
        except ValueError:  # rows of different lengths
            values = np.empty(shape, dtype=object)
        if values.dtype.kind not in "biuf":
            got = f"{type(returned).__name__} of {values.dtype}"
            raise ValueError(f"the kernel function must return an array {shape} of numbers, got {got}; convert it")
        values = values.astype(np.float64, copy=False)
        sound = np.all(np.abs(values) <= LARGEST)
        if values.shape != shape or not sound:
            got = f"shape {values.shape}" + ("" if sound else " with NaN, infinity or larger ones")
            raise ValueError(
                f"the kernel function must return finite values of shape {shape}, up to {LARGEST:.0e}, got {got}"
                + (f"; {_PAIRS}" if values.shape != shape else "")
            )
        return values

    def diagonal(self, X: Any) -> np.ndarray:
        """k(x, x) (n,) of the points X (n, d)."""
        parts = [X[i : i + _DIAGONAL] for i in range(0, X.shape[0], _DIAGONAL)]
        return np.concatenate([np.empty(0), *(self(part, part).diagonal() for part in parts)])

    def from_origin(self, X: Any) -> tuple[float, np.ndarray]:
        """k(0, 0), and k(0, x) (n,) of the points X (n, d)."""
        zero = np.zeros((1, X.shape[1]))
        zero = sparse.csr_array(zero) if sparse.issparse(X) else zero
        return float(self(zero, zero)[0, 0]), self(zero, X)[0]

    def plus_one(self) -> PlusOne:
        """As that of `Kernel`."""
        return PlusOne(self)

    def __deepcopy__(self, memo: dict) -> Self:
        return self


@dataclass(frozen=True)
class PlusOne(PointKernel):
    """k(x, y) + 1 of such a kernel k."""

    kernel: PointKernel
    takes_sparse = True

    @property
    def in_threads(self) -> bool:  # type: ignore[override]
        return self.kernel.in_threads

    def values(self, X: Any, Y: Any) -> Any:
        return self.kernel(X, Y) + 1.0


@dataclass(frozen=True)
class Function(PointKernel):
    """A kernel that is a user's function of X (n, d) and Y (m, d), arrays of float64."""

    function: Callable
    in_threads = False

    def values(self, X: Any, Y: Any) -> Any:
        try:
            return self.function(X, Y)
        except ValueError as error:
            raise ValueError(f"the kernel function fails on X {X.shape} and Y {Y.shape}: {error}; {_PAIRS}") from error


@dataclass(frozen=True)
class Laplacian(PointKernel):
    """k(x, y) = exp(-gamma |x - y|_1), by scikit-learn; the sum goes in the order of the features."""

    gamma: float
    takes_sparse = True

    def values(self, X: Any, Y: Any) -> Any:
        return laplacian_kernel(X, Y, gamma=self.gamma)


def linear() -> Kernel:
    """Make the linear kernel, k(x, y) = x . y."""
    return Kernel(POLYNOMIAL, 1.0, 0.0, 1)


def polynomial(degree: int, *, gamma: float = 1.0, coef0: float = 1.0) -> Kernel:
    """Make a polynomial kernel, k(x, y) = (coef0 + gamma x . y)^degree (Hermans 2021, section 3.2)."""
    if not (isinstance(degree, int | np.integer) and 1 <= degree <= HIGHEST_DEGREE):
        raise ValueError(f"degree must be an integer in 1..{HIGHEST_DEGREE}, got {shown(degree)}")
    return Kernel(POLYNOMIAL, float(gamma), float(coef0), int(degree))


def gaussian(*, sigma: float) -> Kernel:
    """Make a Gaussian kernel, k(x, y) = exp(-|x - y|^2 / (2 sigma^2)) (Xu and Zhang 2005, eq. 8)."""
    if not sigma > 0:
        raise ValueError(f"sigma must be positive, got {shown(sigma)}")
    return rbf(gamma=1.0 / (2.0 * sigma**2))


def rbf(*, gamma: float) -> Kernel:
    """Make a Gaussian kernel, k(x, y) = exp(-gamma |x - y|^2)."""
    if not gamma > 0:
        raise ValueError(f"gamma must be positive, got {shown(gamma)}")
    return Kernel(RBF, float(gamma), 0.0, 1)


class Named(NamedTuple):
    """A kernel as estimators name it: `made(model, gamma)`, where "scale" is 1 / (d sd(X)^power); power=0: no gamma."""

    made: Callable[[Any, float], Kernel | PointKernel]
    power: int = 2


KERNELS = {
    "linear": Named(lambda model, gamma: linear(), power=0),
    "poly": Named(lambda model, gamma: polynomial(model.degree, gamma=gamma, coef0=model.coef0)),
    "rbf": Named(lambda model, gamma: rbf(gamma=gamma)),
    "laplacian": Named(lambda model, gamma: Laplacian(gamma), power=1),
}
"""{name: kernel}; one that is added here is known to all estimators."""


def check_range(kernel: Kernel | PointKernel, top: float, steps: float) -> None:
    """ValueError if sums of `steps` scores of `steps` values could overflow at squared norms up to `top`."""
    if isinstance(kernel, PointKernel) or kernel.kind == VALUES:
        return
    bound = kernel.bound(top)
    if not bound <= sys.float_info.max / max(float(steps), 1.0) ** 2:
        raise ValueError(
            f"kernel values must stay below 1.8e308 when {steps} scores are summed, but this kernel of degree "
            f"{kernel.degree} reaches {bound:.2g} on points of squared norm {top:.4g}; "
            "scale the data down or lower the degree"
        )


@compiled
def fill_rows(kernel, products, norms_x, norms_y, out):
    """`fill` of all rows."""
    for i in range(out.shape[0]):
        fill(kernel, products[i], norms_x[i], norms_y, out[i])


@compiled
def fill(kernel, products, norm, norms, out):
    """out[j] = k(x, y_j), from products[j] = x . y_j, norm = |x|^2 and norms[j] = |y_j|^2; one row, in fixed order."""
    m = out.shape[0]
    if kernel.kind == RBF:
        for j in range(m):
            out[j] = np.exp(-kernel.gamma * max(norm + norms[j] - 2.0 * products[j], 0.0)) + kernel.added
        return
    # Given values are polynomials of degree 1. Powers of COLUMNS numbers are made side by side: a loop for each degree that
    # the compiler makes so would be compiled for in every function that calls this one.
    whole = m - m % COLUMNS
    for j in range(0, whole, COLUMNS):
        base = add_product(equal_columns(kernel.coef0), kernel.gamma, load_columns(products, j))
        k = base
        for _ in range(1, kernel.degree):
            k = multiply(k, base)
        store_lanes(out, j, add_product(k, kernel.added, equal_columns(1.0)) if kernel.added != 0.0 else k)
    for j in range(whole, m):
        first = kernel.coef0 + kernel.gamma * products[j]
        power = first
        for _ in range(1, kernel.degree):
            power *= first
        out[j] = power + kernel.added if kernel.added != 0.0 else power
