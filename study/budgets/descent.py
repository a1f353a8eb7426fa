"""A perceptron with a margin and with regularisation, several passes long: its last, its averaged and its voted predictor.

Sources: Kivinen, Smola & Williamson 2004 (NORMA, here with eta = 1, without threshold or truncation); Freund & Schapire 1999
(vote and average). Each step, with f the function before it,

    f <- (1 - lambda) f + [y_t f(x_t) <= rho] y_t k(x_t, .)

so that rho = lambda = 0 is the kernel perceptron. With f_t the function after step t of T,

    last f_T        averaged (1 / T) sum_t f_t        voted sum_t sgn f_t

Symbols: n examples, p points at which the functions are wanted, z = +-1 signs (n,), K (n, p) kernel values.
"""

import numpy as np

from kp.compiled import compiled

PREDICTORS = ("last", "averaged", "voted")


def passes(K, z, orders, *, margin, regularization):
    """Yield, after each pass of `orders`, (scores (3, p) of the PREDICTORS, how many examples are held).

    The first n of the p points are the examples themselves; each pass of `orders` is (1, n). Scores of the averaged
    predictor are sums, not divided by T.
    """
    n, p = K.shape
    f = np.zeros(p)
    total = np.zeros(p)
    votes = np.zeros(p)
    held = np.zeros(n, dtype=np.bool_)
    scale = 1.0
    for (order,) in orders:
        scale = _pass(K, z.astype(np.float64), order, float(margin), float(regularization), scale, f, total, votes, held)
        yield np.array([scale * f, total, votes]), int(held.sum())


@compiled
def _pass(K, z, order, margin, regularization, scale, f, total, votes, held):
    """One pass; the function is scale * f. total and votes are brought up to date where f changes, and at the end."""
    weight = 0.0
    count = 0.0
    keep = 1.0 - regularization
    for i in order:
        wrong = z[i] * scale * f[i] <= margin
        scale *= keep
        if wrong:
            _account(f, weight, count, total, votes)
            weight = 0.0
            count = 0.0
            held[i] = True
            step = z[i] / scale
            for q in range(f.shape[0]):
                f[q] += step * K[i, q]
        weight += scale
        count += 1.0
        if scale < 1e-100:
            f *= scale
            weight /= scale
            scale = 1.0
    _account(f, weight, count, total, votes)
    return scale


@compiled
def _account(f, weight, count, total, votes):
    for q in range(f.shape[0]):
        total[q] += weight * f[q]
        votes[q] += count * np.sign(f[q])
