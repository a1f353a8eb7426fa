"""Margins of unit vectors, and how many mistakes a perceptron can make where they are attained.

Sources: Novikoff 1962; Freund & Schapire 1999 (Theorems 2 and 3); Duda, Hart & Stork 2001 (Kesler's construction); Lawson &
Hanson 1974 (chapter 23). Any unit vector u makes the bounds true, so they hold for any precision of u.

Symbols: phi(x) an example in the space of the kernel, z = +-1 its sign, u a unit vector, margins (n,) z_i u.phi(x_i), R the
largest |phi(x_i)|, gamma > 0 a margin, D = sqrt(sum_i max(0, gamma - z_i u.phi(x_i))^2).
"""

import numpy as np
from scipy.optimize import minimize_scalar, nnls
from sklearn.svm import SVC


def mistake_bound(margins, R):
    """(bound, gamma, D): the least ((R + D) / gamma)^2 over gamma > 0.

    A perceptron that starts from 0 makes no more mistakes than this in one pass over the examples, in any order of
    visits (Freund & Schapire 1999, Theorem 2). In terms of s = 1 / gamma the root is convex:
    R s + |max(0, 1 - s margins)|.
    """
    margins = np.asarray(margins, dtype=float)

    def root(log_scale):
        s = np.exp(log_scale)
        return R * s + np.sqrt((np.maximum(0.0, 1.0 - s * margins) ** 2).sum())

    centre = -np.log(max(np.abs(margins).max(), 1e-300))
    found = minimize_scalar(root, bounds=(centre - 10.0, centre + 15.0), method="bounded", options={"xatol": 1e-8})
    gamma = np.exp(-found.x)
    return float(root(found.x) ** 2), float(gamma), float(np.sqrt((np.maximum(0.0, gamma - margins) ** 2).sum()))


def separable_bound(margins, R):
    """(R / gamma)^2 with gamma = min margins: the most mistakes in any number of passes (Novikoff 1962).

    Raises ValueError if a margin is not positive.
    """
    gamma = np.min(margins)
    if not gamma > 0:
        raise ValueError(
            f"the examples must be separated, got a smallest margin of {gamma:.3g}; use another kernel or separate the "
            "classes"
        )
    return float((R / gamma) ** 2)


def vote_bound(bound, n):
    """Expected error of the vote after one pass over n examples: (2 / (n + 1)) E[bound], in fractions.

    bound is the mistake bound of a run over n + 1 examples, or the number of its mistakes itself (Freund & Schapire 1999,
    Theorem 3 and its proof, after Helmbold & Warmuth 1995). Evaluated on one sample it estimates the expectation.
    """
    return 2.0 * np.asarray(bound, dtype=float) / (n + 1)


def unit_margins(K, z, *, cost, tol=1e-3):
    """Margins (n,) of the examples with kernel matrix K (n, n) and signs z, for the u that a support vector machine finds.

    The machine (scikit-learn's, with this cost of an error and this tolerance) sees the set and its mirror image, so that
    its intercept is 0; only its direction is used.
    """
    Q = z[:, None] * K * z
    mirrored = np.block([[Q, -Q], [-Q, Q]])
    machine = SVC(C=cost, kernel="precomputed", tol=tol).fit(mirrored, np.repeat([1, -1], len(z)))
    weights = np.bincount(machine.support_ % len(z), np.abs(machine.dual_coef_[0]), minlength=len(z))
    return Q @ weights / np.sqrt(weights @ Q @ weights)


def kesler_margins(G, y):
    """Margins (n (C - 1),) of Kesler's vectors for the u that gives the widest: u phi(q) of the own class less another's.

    G (n, n) holds inner products phi(p).phi(q), y (n,) the indices of C classes. Kesler's vector of example q of class i and
    another class j is phi(q) in the place of i and -phi(q) in that of j, of squared length 2 G_qq. The shortest w with all
    products at least 1 is found as a problem of non-negative least squares. Where there is none, or G is too ill-conditioned
    to tell, not all margins are positive.
    """
    pairs, signs = kesler_pairs(y)
    R = np.sqrt(G.diagonal().max())
    values, vectors = np.linalg.eigh(G / R**2)
    large = values > np.finfo(float).eps * values[-1]
    phi = vectors[:, large] * np.sqrt(values[large])
    A = (signs[:, :, None] * phi[pairs, None, :]).reshape(len(pairs), -1)
    E = np.vstack([A.T, np.ones(len(A))])
    u, _ = nnls(E, np.eye(len(E))[-1], maxiter=20 * len(A))
    w = A.T @ u
    w /= max(np.linalg.norm(w), np.finfo(float).tiny)
    return R * (A @ w)


def kesler_pairs(y):
    """For all Kesler vectors: the example (p,), and +1 for its class, -1 for the other one (p, C)."""
    classes = np.arange(y.max() + 1)
    example = np.repeat(np.arange(len(y)), len(classes) - 1)
    other = np.concatenate([np.delete(classes, own) for own in y])
    signs = np.zeros((len(example), len(classes)))
    signs[np.arange(len(example)), y[example]] = 1
    signs[np.arange(len(example)), other] = -1
    return example, signs


def rounded(value, digits=6):
    """A float with so many significant digits, which do not depend on the order of a library's sums."""
    return float(f"{value:.{digits}g}")
