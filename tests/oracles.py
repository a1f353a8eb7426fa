"""The papers' pseudo-code, literal and slow: what the fast code is held against."""

import numpy as np


def sgn(value):
    return (value > 0) - (value < 0)


def algorithm_1(K, z, orders):
    """Hermans 2021, Algorithm 1: the multiset A as a list of every alpha, one for each step; Python integers throughout.

    K (n, n) kernel values as Python integers, z (n,) +-1, orders: a visiting order for each epoch.
    """
    alpha, A = [0] * len(z), []
    for order in orders:
        for t in order:
            g = sum(alpha[s] * z[s] * K[s][t] for s in range(len(z)) if alpha[s])
            if sgn(g) != z[t]:
                alpha[t] += 1
            A.append(list(alpha))
    return A


def g(alpha, z, k):
    """The part inside sgn of eq. 2, for kernel values k[s] = K(x_s, x)."""
    return sum(a * zs * ks for a, zs, ks in zip(alpha, z, k, strict=True) if a)


def binary_errors(alpha, K, z):
    """The number of training examples that alpha gets wrong; sgn(0) = 0 is no label."""
    return sum(sgn(g(alpha, z, [row[t] for row in K])) != z[t] for t in range(len(z)))


def predictor_scores(A, K, z, columns, predictor):
    """Scores of one predictor, section 3.3, on points with kernel values columns[c][s]; average times |A|."""
    if predictor == "final":
        return [g(A[-1], z, k) for k in columns]
    if predictor == "average":
        total = [sum(alpha[s] for alpha in A) for s in range(len(z))]
        return [g(total, z, k) for k in columns]
    if predictor == "minimizing":
        distinct = {}
        for alpha in A:
            distinct.setdefault(tuple(alpha), binary_errors(alpha, K, z) if tuple(alpha) not in distinct else None)
        best = min(distinct, key=distinct.get)
        return [g(best, z, k) for k in columns]
    return [sum(sgn(g(alpha, z, k)) for alpha in A) for k in columns]


def polynomial(X, Y, degree, coef0=1):
    """(coef0 + x . y)^degree in Python integers."""
    return [[(coef0 + sum(int(a) * int(b) for a, b in zip(x, y, strict=True))) ** degree for y in Y] for x in X]


def orders(n, m, epochs, seed):
    """The published protocol: for each epoch, for each digit, arange shuffled by one generator."""
    random = np.random.RandomState(seed)
    out = []
    for _ in range(epochs):
        out.append([])
        for _ in range(m):
            order = np.arange(n)
            random.shuffle(order)
            out[-1].append(order)
    return out
