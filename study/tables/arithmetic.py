"""Arithmetic of a published mean and standard deviation: can whole numbers of errors have them?

A fold of m test examples with e errors has the error rate 100 e / m percent. k folds have at most two sizes. Let the folds
of one size have errors with the sum S and the sum of squares Q, those of the other size T and R; then

    mean = 100 (S / large + T / small) / k
    (k - ddof) sd^2 + k mean^2 = (100 / large)^2 Q + (100 / small)^2 R

Where the second number is a variance it stands in the place of sd^2. Whole numbers with the sum S have a sum of squares of
the same parity, and not below that of equal shares. A mean and a standard deviation that no such S, T, Q, R give are
impossible; the others may be possible.
"""

import numpy as np


def reachable(mean, sd, sizes, ddof, *, variance=False):
    """Whether counts of errors in folds of these sizes (at most two different ones) can have this mean and sd, in percent
    with two decimals.

    With `variance` the second number is the variance of the rates in percent.

    The sum S and the sum of squares Q of whole numbers have the same parity, and Q >= S^2 / their number.
    """
    half = 0.005 + 1e-9
    k = len(sizes)
    large = max(sizes)
    small = min(sizes)
    a = sum(size == large for size in sizes)
    counts = [(a, large), (k - a, small)]
    power = 1 if variance else 2
    lowest, highest = ((k - ddof) * max(s, 0.0) ** power + k * mean**2 for s in (sd - half, sd + half))
    for S in range(large * a + 1):
        for T in range(small * (k - a) + 1):
            rate = 100 * (S / large + T / small) / k
            if abs(rate - mean) > half:
                continue
            low, high = (bound + k * (rate**2 - mean**2) for bound in (lowest, highest))
            if _squares_fit(S, T, counts, low, high):
                return True
    return False


def _squares_fit(S, T, counts, low, high):
    """Whether (100/large)^2 Q + (100/small)^2 R falls into low..high for some sums of squares Q and R that S and T allow."""
    (a, large), (b, small) = counts
    unit = (100 / large) ** 2
    other = (100 / small) ** 2
    R = np.arange(_least(T, b), high / other + 1, 2) if b else np.zeros(1)
    for r in R:
        left = (low - other * r) / unit
        right = (high - other * r) / unit
        q = max(_least(S, a), np.ceil(left))
        q += (q - S) % 2
        if q <= right:
            return True
    return False


def _least(S, k):
    """The least sum of squares of k whole numbers with the sum S."""
    return (k - S % k) * (S // k) ** 2 + (S % k) * (S // k + 1) ** 2 if k else 0
