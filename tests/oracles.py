"""Exact kernels, the published visiting orders, predictors of multiclass runs: what the sources do not write out."""

import numpy as np


def polynomial(X, Y, degree, coef0=1):
    """(coef0 + x . y)^degree (n, m) in Python integers."""
    X, Y = (np.array(points.tolist(), dtype=object) for points in map(np.asarray, (X, Y)))
    return (X @ Y.T + coef0) ** degree


def tensor(X, degree):
    """phi(x) (n, d^degree) with phi(x) . phi(y) = (x . y)^degree: all products of so many features."""
    phi = X
    for _ in range(degree - 1):
        phi = (phi[:, :, None] * X[:, None, :]).reshape(len(X), -1)
    return phi


def orders(n, m, epochs, seed):
    """The published protocol: for each epoch, for each digit, arange shuffled by one generator; (m, epochs * n)."""
    random, out = np.random.RandomState(seed), np.empty((m, epochs, n), dtype=int)
    for epoch in range(epochs):
        for digit in range(m):
            out[digit, epoch] = np.arange(n)
            random.shuffle(out[digit, epoch])
    return out.reshape(m, -1)


def multiclass_predictor_scores(stored, training, y, points, predictor):
    """Scores (C, c) of one predictor of a multiclass run; average and voted times the number of steps.

    stored: (alpha, beta) or (W, b) after every step; training and points: features (., n) and (., c) that they weigh.
    """

    def scores(parameters, columns):
        alpha, beta = parameters
        return alpha @ columns + beta[:, None]

    def wrong(parameters):
        f = scores(parameters, training)
        return np.count_nonzero((f >= f[y, np.arange(len(y))]).sum(axis=0) > 1)

    if predictor == "final":
        return scores(stored[-1], points)
    if predictor == "minimizing":
        return scores(min(stored, key=wrong), points)
    steps = [scores(parameters, points) for parameters in stored]
    if predictor == "average":
        return sum(steps)
    return sum(np.arange(len(f))[:, None] == f.argmax(axis=0) for f in steps) + 0
