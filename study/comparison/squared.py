"""What squaring makes of an RBF kernel: a wider one, times the density of the examples.

Xu and Zhang's form (2005) learns in K^2 + 1.

Symbols: K (n, n) kernel values of training examples x_m, sigma the width.
"""

import numpy as np
import pandas as pd
from scipy.spatial.distance import pdist, squareform

from kp import kernels
from study import datasets
from study.comparison.methods import median_distance


def squared_kernel(name, width, *, count=800):
    """K^2 of an RBF kernel on training examples of a data set, taken apart; a row for each pair of examples i <= j.

    |x_i - m|^2 + |m - x_j|^2 = |x_i - x_j|^2 / 2 + 2 |m - (x_i + x_j)/2|^2 gives, summed over the training examples m,

        K^2[i, j] = exp(-|x_i - x_j|^2 / (4 sigma^2))  sum_m exp(-|m - (x_i + x_j)/2|^2 / sigma^2),

    an RBF kernel of width sqrt(2) sigma times the density of the examples at the midpoint. Columns: distance in medians;
    kernel, wider and squared: K, the kernel of width sqrt(2) sigma and K^2 / n, and same, True where i = j. width is in
    medians; at most `count` examples, taken at even steps.
    """
    data = datasets.load(name)
    span = np.ptp(data.X, axis=0)
    X = (data.X - data.X.min(axis=0)) / np.where(span > 0, span, 1)
    X = np.ascontiguousarray(X[:: -(-len(X) // count)], dtype=np.float64)
    median = median_distance(X)
    sigma = width * median
    K = kernels.gaussian(sigma=sigma)(X, X)
    distances = squareform(pdist(X))
    i, j = np.triu_indices(len(X))
    wider = np.exp(-(distances[i, j] ** 2) / (4 * sigma**2))
    return pd.DataFrame(
        {
            "distance": distances[i, j] / median,
            "kernel": K[i, j],
            "wider": wider,
            "squared": (K @ K)[i, j] / len(X),
            "same": i == j,
        }
    )


def density_ratios(name, widths):
    """{width: `density_ratio` of `squared_kernel` at this width} on a data set."""
    return {width: density_ratio(squared_kernel(name, width)) for width in widths}


def density_ratio(squared):
    """How unequal the diagonal values K^2[i, i] are: their 95th percentile over their 5th. A plain RBF kernel has 1."""
    own = squared.loc[squared["same"], "squared"]
    return float(own.quantile(0.95) / own.quantile(0.05))
