"""Regularised least squares with kernels, as a classifier, and the self-tuning Gaussian kernel.

Sources: Akar & Ye 2017 (classifier, kernel); Zelnik-Manor & Perona 2004 (the self-tuning scale); Rifkin, Yeo & Poggio 2003.

    y(x) = k(x)^T (K + lambda I)^{-1} T        k(x, x') = exp(-|x - x'|^2 / (tau sigma_x sigma_x'))

Symbols: n examples, d features, C classes, K (n, n) kernel values, k(x) (n,), T (n, C) rows of the identity that name the
classes, A^T = (K + lambda I)^{-1} T (n, C) dual coefficients, sigma the distance to the k-th nearest neighbour.

The self-tuning kernel is not positive semidefinite in general: a separate scale for each point breaks Mercer's condition.
Solving for A takes BLAS: the scores of a point alone and among others may differ in the last bits.
Where an eigenvalue of K lies between -lambda and 0, y(x) is a stationary point, but no minimum, of the regularised error.
"""

from __future__ import annotations

import numbers
import warnings

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import LinAlgWarning
from scipy.spatial.distance import cdist
from sklearn.kernel_ridge import KernelRidge
from sklearn.neighbors import NearestNeighbors

from kp.estimator import FLAG, POSITIVE, Classifier, one_of
from kp.hints import Array, Data
from kp.wording import shown


def local_scale(X: ArrayLike, Y: Array | None = None, *, n_neighbors: int, include_self: bool = True) -> Array:
    """Compute the distance of each point to its k-th nearest neighbour.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Points.
    Y : ndarray of shape (m, d), optional
        Points among which the neighbours are; by default X.
    n_neighbors : int
        The number k: at least 1, or 2 where the point itself counts; below n without Y and at most m
        with it.
    include_self : bool, default=True
        Without Y, count the point itself as the first neighbour, so that k = 2 is the nearest other.

    Returns
    -------
    ndarray of shape (n,)
        Scales sigma, in the units of X.

    Raises
    ------
    ValueError
        If n_neighbors is not such an integer, or a scale is 0 because k points coincide.

    See Also
    --------
    kp.least_squares.self_tuning_kernel : The kernel with these scales.

    References
    ----------
    - Zelnik-Manor and Perona (2004). Self-tuning spectral clustering. Advances in Neural Information
      Processing Systems 17.
    - Akar and Ye (2017). Multi-class kernel classifier on the seeds data. Project report, UCLA.

    Examples
    --------
    >>> local_scale([[0.0], [1.0], [3.0]], n_neighbors=2).tolist()
    [1.0, 1.0, 2.0]
    """
    X = np.asarray(X, dtype=np.float64)
    itself = Y is None and include_self
    most = len(X) - 1 if Y is None else len(Y)
    if not isinstance(n_neighbors, numbers.Integral) or isinstance(n_neighbors, bool) or n_neighbors < 1 + itself:
        why = " because the point itself is the first" if itself else ""
        raise ValueError(f"n_neighbors must be an integer of at least {1 + itself}{why}, got {shown(n_neighbors)}")
    if n_neighbors > most:
        among = f"{most} among {len(X) if Y is None else len(Y)} points"
        raise ValueError(f"n_neighbors must be at most {among}, got {n_neighbors}; lower it or add examples")
    # A tree takes distances by differences: points that coincide are at 0 exactly, as they are not in |x|^2 + |y|^2 - 2 x.y.
    neighbours = NearestNeighbors(n_neighbors=n_neighbors - itself, algorithm="kd_tree").fit(X if Y is None else Y)
    sigma = neighbours.kneighbors(None if Y is None else X)[0][:, -1]
    if not np.all(sigma > 0):
        where = f"{np.sum(sigma == 0)} of {len(X)} points (the first is number {np.argmin(sigma)})"
        remedy = "leave out repeated points" if Y is None else "leave out what is repeated or among the training points"
        raise ValueError(
            f"scales must be positive, got 0 at {where}; raise n_neighbors or {remedy}; a bootstrap sample repeats "
            "points, so use bootstrap=False for bagging"
        )
    return sigma


def self_tuning_kernel(X: ArrayLike, Y: ArrayLike, sigma_x: ArrayLike, sigma_y: ArrayLike, *, tau: float = 1.0) -> Array:
    """Compute the self-tuning Gaussian kernel (Akar and Ye 2017; for tau = 1 Zelnik-Manor and Perona 2004).

        K[i, j] = exp(-|x_i - y_j|^2 / (tau sigma_i sigma_j))

    Parameters
    ----------
    X : array-like of shape (n, d)
        Points.
    Y : array-like of shape (m, d)
        Points.
    sigma_x : array-like of shape (n,)
        Scales of X, positive, in its units.
    sigma_y : array-like of shape (m,)
        Scales of Y, positive, in the units of X.
    tau : float, default=1.0
        Width in units of sigma_i sigma_j, positive.

    Returns
    -------
    ndarray of shape (n, m)
        Kernel values in [0, 1], exactly symmetric for X = Y.

    Raises
    ------
    ValueError
        If d differs, a scale is not positive and finite, or tau is not positive.

    See Also
    --------
    kp.least_squares.local_scale : Scales from neighbours.

    References
    ----------
    - Akar and Ye (2017). Multi-class kernel classifier on the seeds data. Project report, UCLA.
    - Zelnik-Manor and Perona (2004). Self-tuning spectral clustering. Advances in Neural Information
      Processing Systems 17.

    Examples
    --------
    >>> self_tuning_kernel([[0.0]], [[0.0], [2.0]], [1.0], [1.0, 4.0]).round(4).tolist()
    [[1.0, 0.3679]]
    """
    X = np.asarray(X, dtype=np.float64)
    Y = np.asarray(Y, dtype=np.float64)
    if X.ndim != 2 or Y.ndim != 2 or X.shape[1] != Y.shape[1]:
        raise ValueError(f"X and Y must be (n, d) and (m, d) with the same d, got {X.shape} and {Y.shape}")
    scales = np.asarray(sigma_x, dtype=np.float64), np.asarray(sigma_y, dtype=np.float64)
    for name, points, sigma in zip("xy", (X, Y), scales, strict=True):
        if sigma.shape != (len(points),) or not np.all((sigma > 0) & np.isfinite(sigma)):
            extent = f" with smallest {sigma.min():.3g} and largest {sigma.max():.3g}" if sigma.size else ""
            raise ValueError(f"sigma_{name} must be {len(points)} positive finite scales, got shape {sigma.shape}{extent}")
    if not POSITIVE.test(tau):
        raise ValueError(f"tau must be {POSITIVE.words}, got {shown(tau)}")
    # Roots before products: neither overflows where the distances themselves do not.
    relative = cdist(X, Y) / np.outer(np.sqrt(scales[0]), np.sqrt(scales[1]))
    return np.exp(-(relative**2) / tau)


class KernelRidgeClassifier(Classifier):
    """Regularised least squares on the class indicators, with a kernel.

    The class with the highest output wins, and ties go to the first class (Akar and Ye 2017):

        y(x) = k(x)^T (K + lambda I)^{-1} T
        k(x, x') = exp(-|x - x'|^2 / (tau sigma_x sigma_x'))   (self-tuning)

    T (n, C) are rows of the identity that name the classes, and sigma_x is the distance of x to its
    k-th nearest neighbour (Zelnik-Manor and Perona 2004). `fit` raises ValueError if a scale is 0,
    because k training points coincide. A bootstrap sample repeats points, so use `BaggingClassifier`
    with bootstrap=False and max_samples below 1, or raise n_neighbors. `fit` warns (LinAlgWarning)
    if K + lambda I is not positive definite, and then solves (K + lambda I) A^T = T by least squares.

    Parameters
    ----------
    kernel : {"self-tuning", "precomputed"}, default="self-tuning"
        With "precomputed", X is K (n, n) for `fit` and (m, n) afterwards.
    alpha : float, default=1.0
        The factor lambda, positive: the weight of |W|^2 in the regularised error. The name is that of
        scikit-learn's KernelRidge.
    tau : float, default=1.0
        Width of the self-tuning kernel in units of sigma_x sigma_x', positive.
    n_neighbors : int, default=5
        The number k of the neighbour that sets the scale; below the number of training examples.
    include_self : bool, default=True
        Count a training point as its own first neighbour. The scale of a new point is the distance
        to its k-th nearest training point; with True, a training point that is predicted again has
        the scale that it was fitted with.

    Attributes
    ----------
    classes_ : ndarray of shape (C,)
        Class labels, sorted.
    dual_coef_ : ndarray of shape (n, C)
        The coefficients A^T.
    positive_definite_ : bool
        True if K + lambda I is positive definite.
    sigma_ : ndarray of shape (n,)
        Scales of the training points, for the self-tuning kernel.
    X_fit_ : ndarray of shape (n, d)
        The training points, for the self-tuning kernel.

    See Also
    --------
    kp.least_squares.self_tuning_kernel : The kernel.
    kp.OneVsAllKernelPerceptron : Perceptrons with a kernel.

    References
    ----------
    - Akar and Ye (2017). Multi-class kernel classifier on the seeds data. Project report, UCLA.
    - Zelnik-Manor and Perona (2004). Self-tuning spectral clustering. Advances in Neural Information
      Processing Systems 17.

    Examples
    --------
    >>> from kp import KernelRidgeClassifier
    >>> X, y = [[0.0], [1.0], [3.0], [10.0], [12.0], [13.0]], ["a", "a", "a", "b", "b", "b"]
    >>> KernelRidgeClassifier(n_neighbors=2).fit(X, y).predict([[2.0], [11.0]]).tolist()
    ['a', 'b']
    """

    _parameters = {
        "kernel": one_of("self-tuning", "precomputed"), "alpha": POSITIVE, "tau": POSITIVE, "include_self": FLAG,
    }  # fmt: skip

    def __init__(
        self, kernel: str = "self-tuning", *, alpha: float = 1.0, tau: float = 1.0, n_neighbors: int = 5,
        include_self: bool = True,
    ) -> None:  # fmt: skip
        self.kernel = kernel
        self.alpha = alpha
        self.tau = tau
        self.n_neighbors = n_neighbors
        self.include_self = include_self

    def _learn(self, X, y, classes):
        K = self._gram(X)
        self.dual_coef_, self.positive_definite_ = _dual_coefficients(K, np.eye(len(classes))[y], self.alpha)
        self.classes_ = classes
        if not self.positive_definite_:
            remedy = "Raise alpha or lower tau" if self._tuning else "Raise alpha"
            text = f"K + alpha I is not positive definite for alpha={self.alpha}: solved by least squares. {remedy}"
            warnings.warn(text, LinAlgWarning, stacklevel=3)

    def decision_function(self, X: Data) -> Array:
        """Compute the outputs y(x) of the classes.

        Parameters
        ----------
        X : array-like of shape (m, d)
            Points. For kernel="precomputed" it holds the kernel values (m, n) of the points with the
            training examples.

        Returns
        -------
        ndarray of shape (m, C) or (m,)
            Outputs of the classes; for two classes the second output less the first.

        Raises
        ------
        ValueError
            If X does not fit the training data, or a scale is 0 because training points coincide.

        See Also
        --------
        kp.estimator.Classifier.predict : Labels.

        Examples
        --------
        >>> from kp import KernelRidgeClassifier
        >>> model = KernelRidgeClassifier("precomputed").fit([[1.0, 0.0], [0.0, 1.0]], ["a", "b"])
        >>> model.decision_function([[0.0, 2.0]]).round(3).tolist()
        [1.0]
        """
        X = self._checked(X)
        if self._tuning:
            n_neighbors, tau = self._tuning
            sigma = local_scale(X, self.X_fit_, n_neighbors=n_neighbors)
            X = self_tuning_kernel(X, self.X_fit_, sigma, self.sigma_, tau=tau)
        outputs = X @ self.dual_coef_
        return outputs[:, 1] - outputs[:, 0] if len(self.classes_) == 2 else outputs

    def _fix(self, X):
        self._tuning = None if self._precomputed else (self.n_neighbors, self.tau)

    def _gram(self, X):
        if self._tuning:
            self.sigma_ = local_scale(X, n_neighbors=self.n_neighbors, include_self=self.include_self)
            self.X_fit_ = X.astype(np.float64)
            return self_tuning_kernel(X, X, self.sigma_, self.sigma_, tau=self.tau)
        return X


def _dual_coefficients(K, targets, alpha):
    """(A^T, positive definite) of (K + alpha I) A^T = T: KernelRidge tries Cholesky, warns, and takes least squares."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        solution = KernelRidge(alpha=alpha, kernel="precomputed").fit(K, targets).dual_coef_
    indefinite = [warning for warning in caught if "Singular matrix" in str(warning.message)]
    for warning in caught:
        if warning not in indefinite:
            warnings.warn(warning.message, warning.category, stacklevel=3)
    return solution, not indefinite
