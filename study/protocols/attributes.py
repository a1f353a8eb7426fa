"""Attributes of examples before they are learned: scaling of those that are not pixels, and the unit of RBF widths."""

import numpy as np
from scipy.spatial.distance import pdist

SMALLEST_IMAGE = 64
"""Pixels; so many attributes, if their number is a square, are treated as an image."""


def are_images(X):
    """Whether the rows of X (n, d) are treated as images, whose pixels have one scale: d is a square of at least 64."""
    side = round(X.shape[1] ** 0.5)
    return X.shape[1] >= SMALLEST_IMAGE and side**2 == X.shape[1]


def standardised(X, *others):
    """X (n, d) with mean 0 and variance 1 / d, and other points scaled as X was; constant attributes are centred only.

    Then (1 + x . y)^p is (1 + x . y / d)^p of attributes of variance 1.
    """
    centre = X.mean(axis=0)
    scale = X.std(axis=0) * np.sqrt(X.shape[1])
    scale[scale == 0] = 1.0
    return tuple((each - centre) / scale for each in (X, *others))


def median_distance(X):
    """The median distance of two of at most 1,000 examples of X (n, d), taken at even steps."""
    return float(np.median(pdist(X[:: -(-len(X) // 1000)])))
