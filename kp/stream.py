"""Learning from a stream: one pass over examples that come in parts, by sums over the support examples so far.

Source: Freund & Schapire 1999, Figure 1, with final predictors; parts of any size give the same bits.

Symbols: n examples, d features, m outputs, S support examples, z = +-1 signs (m, n), f (m, n) outputs, K kernel values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import issparse, vstack

from kp.compiled import compiled
from kp.hints import Array
from kp.kernels import Kernel, PointKernel, check_range
from kp.predictors import signed_sums

if TYPE_CHECKING:
    from kp.output_codes import _OutputCodes

_BLOCK = 256  # examples of a stream whose kernel values with each other are made together


class _Growing:
    """An array (n, ...) or CSR matrix that rows are appended to; a full array grows to twice the size."""

    def __init__(self, array: Any) -> None:
        self.array = self._room = array

    def append(self, rows: Any) -> None:
        """Append the rows (r, ...), dense or sparse, of any type of numbers."""
        if issparse(self.array):
            self.array = vstack([self.array, rows], format="csr")
            return
        rows = rows.toarray() if issparse(rows) else rows
        n = len(self.array)
        stop = len(self.array) + len(rows)
        dtype = np.result_type(self.array, rows)
        if stop > len(self._room) or dtype != self._room.dtype:
            self._room = np.empty((2 * stop, *rows.shape[1:]), dtype=dtype)
            self._room[:n] = self.array
        self._room[n:stop] = rows
        self.array = self._room[:stop]


class Stream:
    """State of a model for learning from single examples, with the same bits for parts of any size."""

    def __init__(self, model: _OutputCodes, X: Any) -> None:
        self.vectors = _Growing(X[:0])  # (S, d), the support examples; scores are summed in this order
        # (points, coefficients (m, s)) of the final predictors over stretches of these, each more than twice as long as the
        # next
        self.held: list[tuple[Any, Array]] = []
        if hasattr(model, "mistakes_"):
            self.vectors = _Growing(model.support_vectors_)
            self._hold(model, signed_sums(model._logs(), len(model.support_)))

    def learn(self, model: _OutputCodes, X: Any, signs: Array, steps: int) -> Array:
        """Visit X (n, d) with signs (m, n) of +-1 in the order given; the same signs, 0 where no mistake was made."""
        moved = np.empty(signs.shape, dtype=signs.dtype)
        for start in range(0, X.shape[0], _BLOCK):
            part = slice(start, start + _BLOCK)
            moved[:, part] = signs[:, part] * self._mistakes(model, X[part], signs[:, part], steps + X.shape[0])
            if len(t := np.flatnonzero(moved[:, part].any(axis=0))):
                self.vectors.append(X[part][t])
                self._hold(model, moved[:, part][:, t].astype(np.float64))
        return moved

    def _hold(self, model, coefficients):
        """Hold the last of the vectors with these coefficients (m, s)."""
        while self.held and self.held[-1][1].shape[1] <= 2 * coefficients.shape[1]:
            coefficients = np.concatenate([self.held.pop()[1], coefficients], axis=1)
        vectors = self.vectors.array
        self.held.append((model._pair(vectors[vectors.shape[0] - coefficients.shape[1] :])[0], coefficients))

    def _mistakes(self, model, X, z, steps):
        """Which perceptrons (m, n) err on which of the points X (n, d), visited one after the other."""
        kernel = model._kernel
        points = model._pair(X)[0]
        f = np.zeros(z.shape)
        n = X.shape[0]
        if isinstance(kernel, Kernel):
            check_range(points.in_units(kernel), max([points.top, *(held.top for held, _ in self.held)]), steps)
        for held, coefficients in self.held:
            _add_sums(coefficients, _values(model, points, held), f)
        K = _values(model, points, points) if n > 1 else None
        wrong = np.zeros(z.shape, dtype=bool)
        skips = model._rule().no_at_zero & (z < 0)
        for t in range(n):
            margin = z[:, t] * f[:, t]
            wrong[:, t] = which = np.where(skips[:, t], margin < 0.0, margin <= 0.0)
            if n > 1 and which.any():
                f[which, t + 1 :] += z[which, t, None] * K[t, t + 1 :]
        return wrong


def _values(model, points, held):
    """K (n, s) of points and the held examples, which are the first argument of a function."""
    if isinstance(model._kernel, PointKernel):
        return np.ascontiguousarray(model._kernel(held, points).T)
    return model._between(points, held).values(model._kernel, np.arange(len(points)))


@compiled
def _add_sums(coefficients, K, out):
    """out (m, n) += coefficients (m, s) times the transpose of K (n, s), in the order of the s columns."""
    for a in range(out.shape[0]):
        for t in range(out.shape[1]):
            for i in range(K.shape[1]):
                out[a, t] += coefficients[a, i] * K[t, i]
