"""Exact kernels, the published visiting orders, predictors of multiclass runs: what the sources do not write out; and small
problems for all learners."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays


@st.composite
def problems(draw):
    """Small integer data with labels of 2 to 4 classes, points to predict, a seed, a number of epochs."""
    n = draw(st.integers(2, 12))
    d = draw(st.integers(1, 3))
    classes = draw(st.integers(2, 4))
    X, test = (draw(arrays(int, (size, d), elements=st.integers(-6, 6))) for size in (n, 3))
    y = draw(arrays(int, n, elements=st.integers(0, classes - 1)).filter(lambda y: np.ptp(y) > 0))
    return X, np.unique(y, return_inverse=True)[1], test, draw(st.integers(0, 99)), draw(st.integers(1, 3))


@st.composite
def streams(draw, most):
    """A short stream of small integer points that recur, with signs; both signs occur."""
    n = draw(st.integers(2, most))
    d = draw(st.integers(1, 3))
    X = draw(arrays(int, (n, d), elements=st.integers(-4, 4), fill=st.nothing()))
    y = draw(arrays(int, n, elements=st.sampled_from([-1, 1]), fill=st.nothing()).filter(lambda y: np.ptp(y) > 0))
    return X, y


def blobs(n, classes, seed, *, flip=0.0):
    """Integer points of overlapping classes; a fraction of the labels is drawn again."""
    random = np.random.RandomState(seed)
    y = random.randint(0, classes, n)
    X = random.randint(0, 8, (n, 6)) + 3 * np.eye(classes, 6, dtype=int)[y]
    return X, np.where(random.random_sample(n) < flip, random.randint(0, classes, n), y)


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
    random = np.random.RandomState(seed)
    out = np.empty((m, epochs, n), dtype=int)
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
