"""Seeded synthetic sets in the plane: X (n_samples, 2) float64, y (n_samples,) int64, balanced, in random order.

random_state is an int or a np.random.RandomState; the global generator is left alone.
"""

import numpy as np


def _balanced(n_samples, n_classes, random_state):
    """The generator, and labels 0..n_classes-1 in random order, their counts differing by one at most."""
    if isinstance(random_state, int | np.integer):
        random_state = np.random.RandomState(random_state)
    if not isinstance(random_state, np.random.RandomState):
        kind = type(random_state).__name__
        raise TypeError(f"random_state must be an int or a np.random.RandomState, got {kind}; pass a seed, such as 0")
    if n_samples < n_classes:
        raise ValueError(f"n_samples must be at least {n_classes}, one a class, got {n_samples}; ask for more")
    return random_state, random_state.permutation(np.arange(n_samples, dtype=np.int64) % n_classes)


def blobs(n_samples=300, *, n_classes=3, radius=4.0, spread=0.5, random_state):
    """x = radius (cos a, sin a) + spread e,   a = 2 pi y / n_classes,   e ~ N(0, I) given |e| <= 3

    Means on a circle about the origin; a draw beyond three standard deviations is drawn again. For three
    classes a line through the origin, normal to a class's mean, separates that class from the rest with a margin
    of at least radius / 2 - 3 spread: 0.5 by default, so that the default is always linearly separable.
    """
    generator, y = _balanced(n_samples, n_classes, random_state)
    angle = 2 * np.pi * y / n_classes
    return radius * np.column_stack([np.cos(angle), np.sin(angle)]) + spread * _truncated(generator, n_samples), y


def _truncated(generator, n_samples):
    """e (n_samples, 2) of N(0, I) given |e| <= 3: a draw beyond is drawn again."""
    noise = generator.normal(size=(n_samples, 2))
    while (far := np.hypot(*noise.T) > 3).any():
        noise[far] = generator.normal(size=(far.sum(), 2))
    return noise


def five_classes(n_samples=200, *, spread=0.06, random_state):
    """x = m_y + spread e,   m_y = (1/5, 1/5), (4/5, 1/5), (1/2, 1/2), (1/5, 4/5), (4/5, 4/5),   e ~ N(0, I) given |e| <= 3

    Four classes about the corners of a square, and one among them, in the unit square: f_c(x) = 2 m_c.x - |m_c|^2 puts each
    example into its class, and every example lies at least 0.3 / sqrt(2) - 3 spread from the lines between the classes:
    0.032 by default, so that the default is always linearly separable by Kesler's criterion. No line separates
    the class amid the others from the rest, so that the set is not separable one against all.
    """
    generator, y = _balanced(n_samples, 5, random_state)
    means = np.array([[0.2, 0.2], [0.8, 0.2], [0.5, 0.5], [0.2, 0.8], [0.8, 0.8]])
    return means[y] + spread * _truncated(generator, n_samples), y


def gaussians(n_samples=400, *, distance=2.0, random_state):
    """x = ((y - 1/2) distance, 0) + e,   e ~ N(0, I),   y in {0, 1}

    Two overlapping classes. The best rule is the sign of the first coordinate; it misclassifies with the
    probability Phi(-distance / 2): 15.87 % for the default.
    """
    generator, y = _balanced(n_samples, 2, random_state)
    return generator.normal(size=(n_samples, 2)) + np.outer(y - 0.5, [distance, 0.0]), y


def moons(n_samples=400, *, spread=0.15, random_state):
    """x = (cos t, sin t) + spread e for y = 0,   (1 - cos t, 1/2 - sin t) + spread e for y = 1,
    t ~ U(0, pi),   e ~ N(0, I)

    Two interleaved half circles: no line separates them, a curve nearly does.
    """
    generator, y = _balanced(n_samples, 2, random_state)
    t = generator.uniform(0, np.pi, n_samples)
    upper = np.column_stack([np.cos(t), np.sin(t)])
    lower = np.column_stack([1 - np.cos(t), 0.5 - np.sin(t)])
    return np.where(y[:, None] == 0, upper, lower) + spread * generator.normal(size=(n_samples, 2)), y


def spirals(n_samples=400, *, turns=1.75, spread=0.03, random_state):
    """x = (-1)^y t / (2 pi) (cos t, sin t) + spread e,   t ~ U(pi / 2, 2 pi turns),   e ~ N(0, I),   y in {0, 1}

    Two arms that wind around each other, half a unit apart: no line separates them, a curve does.
    """
    generator, y = _balanced(n_samples, 2, random_state)
    t = generator.uniform(np.pi / 2, 2 * np.pi * turns, n_samples)
    arm = ((-1.0) ** y * t / (2 * np.pi))[:, None] * np.column_stack([np.cos(t), np.sin(t)])
    return arm + spread * generator.normal(size=(n_samples, 2)), y


def four_spirals(n_samples=400, *, turns=1.25, spread=0.05, random_state):
    """x = t / pi (cos(t + a), sin(t + a)) + spread e,   a = y pi / 2,   t ~ U(pi / 2, 2 pi turns),   e ~ N(0, I)

    Four arms, y in {0, 1, 2, 3}, half a unit apart, each a quarter of a turn behind the one before.
    """
    generator, y = _balanced(n_samples, 4, random_state)
    t = generator.uniform(np.pi / 2, 2 * np.pi * turns, n_samples)
    angle = t + y * np.pi / 2
    arm = (t / np.pi)[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return arm + spread * generator.normal(size=(n_samples, 2)), y
