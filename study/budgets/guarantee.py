"""The Forgetron's guarantee, evaluated: the least value of its bound over all competitors within its reach.

Sources: Dekel, Shalev-Shwartz & Singer 2008 (the bound); Hsieh et al. 2008 (coordinate ascent on the dual without
threshold). With a budget of B >= 83 a Forgetron makes at most

    G = 2 |g|^2 + 4 sum_t max(0, 1 - y_t g(x_t))   mistakes, for every g with |g| <= U = (1/4) sqrt((B + 1) / log(B + 1)).

G is convex, and its minimum over |g| <= U is that of a support vector machine without threshold: with cost C <= 1 the
machine minimises (1/2) |g|^2 + C sum_t max(0, 1 - y_t g(x_t)), where 1 / C - 1 is the multiplier of the limit.

Symbols: K (n, n) kernel values, z = +-1 signs (n,), Q = z K z, a (n,) in [0, C] the dual point, f = Q a.
"""

from bisect import bisect_left

import numpy as np

from kp.compiled import compiled

LEAST_BUDGET = 83
"""The smallest budget for which the guarantee is stated."""


def reach(budget):
    """U, the largest norm of a competitor: (1/4) sqrt((B + 1) / log(B + 1))."""
    budget = np.asarray(budget, dtype=float)
    return np.sqrt((budget + 1) / np.log(budget + 1)) / 4


def budget_for(norm):
    """The smallest budget B >= 83 whose reach is at least this norm."""
    return LEAST_BUDGET + bisect_left(range(LEAST_BUDGET, 10**12), norm, key=reach)


def best_within(K, z, limit, *, tolerance=1e-4):
    """(G, norm) of the g with the least G over |g| <= limit, or over all g where that is infinite."""
    Q = z[:, None] * K * z
    a = np.zeros(len(z))
    f = np.zeros(len(z))
    _ascend(Q, a, f, 1.0, tolerance)
    cost = 1.0
    if np.sqrt(a @ f) > limit:
        low = 1e-9
        high = 1.0
        a[:] = 0.0
        f[:] = 0.0
        while high / low > 1 + tolerance:
            middle = np.sqrt(low * high)
            other = np.minimum(a, middle)
            image = Q @ other
            _ascend(Q, other, image, middle, tolerance)
            if np.sqrt(other @ image) <= limit:
                low = middle
                a = other
                f = image
            else:
                high = middle
        cost = low
    norm = np.sqrt(a @ f)
    # The longer g in the same direction is within reach too.
    scales = [1.0, limit / norm] if cost < 1 and limit > norm > 0 else [1.0]
    values = [2 * (s * norm) ** 2 + 4 * np.maximum(0, 1 - s * f).sum() for s in scales]
    best = int(np.argmin(values))
    return float(values[best]), float(scales[best] * norm)


@compiled
def _ascend(Q, a, f, cost, tolerance):
    """Coordinate ascent on sum a - a Q a / 2 over 0 <= a <= cost, in place, until the gap of the objectives is small."""
    n = a.shape[0]
    for _ in range(10_000):
        for i in range(n):
            new = min(max(a[i] + (1.0 - f[i]) / Q[i, i], 0.0), cost)
            step = new - a[i]
            if step != 0.0:
                a[i] = new
                for j in range(n):
                    f[j] += step * Q[i, j]
        square = 0.0
        total = 0.0
        loss = 0.0
        for i in range(n):
            square += a[i] * f[i]
            total += a[i]
            loss += max(0.0, 1.0 - f[i])
        if square + cost * loss - total <= tolerance * max(total - square / 2, 1e-12):
            break
