"""Akar and Ye's classifier: regularised least squares on class indicators, with the self-tuning Gaussian kernel.

Sources: Akar & Ye 2017 (classifier, kernel); Zelnik-Manor & Perona 2004 (the self-tuning scale); Rifkin, Yeo & Poggio 2003.

    y(x) = k(x)^T (K + lambda I)^{-1} T        k(x, x') = exp(-|x - x'|^2 / (tau sigma_x sigma_x'))

Symbols: n examples, d features, C classes, K (n, n) kernel values, k(x) (n,), T (n, C) rows of the identity that name the
classes, A^T = (K + lambda I)^{-1} T (n, C) dual coefficients, sigma the distance to the k-th nearest neighbour.

The self-tuning kernel is not positive semidefinite in general: a separate scale for each point breaks Mercer's condition.
If an eigenvalue of K lies between -lambda and 0, y(x) is a stationary point of the regularised error, but not a minimum.
"""

import numbers

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.kernel_ridge import KernelRidge
from sklearn.neighbors import NearestNeighbors
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data


def local_scale(X, Y=None, *, n_neighbors, include_self=True):
    """Distance of each point of X (n, d) to its k-th nearest neighbour, k = n_neighbors: sigma (n,), in the units of X.

    The neighbours are among Y (m, d), by default X. Without Y, include_self counts a point as its own first neighbour: k = 2
    is its nearest other. Raises ValueError if n_neighbors does not fit, or if a scale is 0 because points coincide.
    """
    X = np.asarray(X, dtype=np.float64)
    Y = None if Y is None else np.asarray(Y, dtype=np.float64)
    includes = include_self and Y is None
    least, most = 1 + includes, len(X) - 1 if Y is None else len(Y)
    if not (isinstance(n_neighbors, numbers.Integral) and least <= n_neighbors <= most):
        why = ", as the point itself is the first" if includes else ""
        raise ValueError(f"n_neighbors: needs an integer from {least} to {most}{why}; got {n_neighbors!r}")
    # By a tree, as the differences of |x|^2 and x.y would miss points that coincide.
    search = NearestNeighbors(n_neighbors=n_neighbors - includes, algorithm="kd_tree").fit(X if Y is None else Y)
    sigma = search.kneighbors(None if Y is None else X)[0][:, -1]
    if not sigma.all():
        raise ValueError(
            f"X: {np.sum(sigma == 0)} of {len(X)} points have scale 0 (the first is number {np.argmin(sigma)}), as points "
            "coincide; raise n_neighbors or remove repeated points, which BaggingClassifier makes unless bootstrap=False"
        )
    return sigma


def self_tuning_kernel(X, Y, sigma_x, sigma_y, *, tau=1.0):
    """K[i, j] = exp(-|x_i - y_j|^2 / (tau sigma_i sigma_j))       (Akar & Ye 2017; for tau = 1 Zelnik-Manor & Perona 2004)

    X (n, d), Y (m, d); sigma_x (n,), sigma_y (m,) positive, in the units of X; tau > 0. Returns (n, m) in [0, 1], exactly
    symmetric for X = Y. Raises ValueError if a scale is not positive and finite.
    """
    for name, sigma in (("sigma_x", sigma_x), ("sigma_y", sigma_y)):
        if not np.all((np.asarray(sigma) > 0) & np.isfinite(sigma)):
            raise ValueError(
                f"{name}: scales must be positive and finite; got values from {np.min(sigma)} to {np.max(sigma)}"
            )
    # Roots before products: neither overflows where the distances themselves do not.
    relative = cdist(X, Y) / np.outer(np.sqrt(sigma_x), np.sqrt(sigma_y))
    return np.exp(-(relative**2) / tau)


class KernelRidgeClassifier(ClassifierMixin, BaseEstimator):
    """Regularised least squares on class indicators; the class with the highest output wins, ties go to the first class.

    Parameters
    ----------
    kernel : {"self-tuning", "precomputed"}, default="self-tuning"
        With "precomputed", X is K (n, n) for `fit` and (m, n) afterwards.
    alpha : float, default=1.0
        The weight lambda of |W|^2 in the regularised error, positive.
    tau : float, default=1.0
        Width of the self-tuning kernel in units of sigma_x sigma_x', positive.
    n_neighbors : int, default=5
        The number k of the neighbour that sets the scale.
    include_self : bool, default=True
        Count a training point as its own first neighbour. The scale of a new point is the distance to its k-th nearest
        training point; with True, a training point that is predicted again has the scale that it was fitted with.

    Attributes
    ----------
    classes_ : ndarray of shape (C,)
        Class labels, sorted.
    dual_coef_ : ndarray of shape (n, C)
        The coefficients A^T. Where K + lambda I is not positive definite, scikit-learn warns and solves by least squares.
    sigma_ : ndarray of shape (n,)
        Scales of the training points, for the self-tuning kernel.
    X_fit_ : ndarray of shape (n, d)
        The training points, for the self-tuning kernel.
    """

    def __init__(self, kernel="self-tuning", *, alpha=1.0, tau=1.0, n_neighbors=5, include_self=True):
        self.kernel = kernel
        self.alpha = alpha
        self.tau = tau
        self.n_neighbors = n_neighbors
        self.include_self = include_self

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags

    def fit(self, X, y):
        """Solve (K + lambda I) A^T = T."""
        X, y = validate_data(self, X, y, dtype=np.float64, ensure_min_samples=2)
        check_classification_targets(y)
        self.classes_, place = np.unique(y, return_inverse=True)
        if self.kernel == "self-tuning":
            self.X_fit_ = X
            self.sigma_ = local_scale(X, n_neighbors=self.n_neighbors, include_self=self.include_self)
            X = self_tuning_kernel(X, X, self.sigma_, self.sigma_, tau=self.tau)
        T = np.eye(len(self.classes_))[place]
        self.dual_coef_ = KernelRidge(alpha=self.alpha, kernel="precomputed").fit(X, T).dual_coef_
        return self

    def decision_function(self, X):
        """The outputs y(x) (m, C); for two classes (m,), the second output minus the first."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        if self.kernel == "self-tuning":
            sigma = local_scale(X, self.X_fit_, n_neighbors=self.n_neighbors)
            X = self_tuning_kernel(X, self.X_fit_, sigma, self.sigma_, tau=self.tau)
        outputs = X @ self.dual_coef_
        return outputs[:, 1] - outputs[:, 0] if len(self.classes_) == 2 else outputs

    def predict(self, X):
        """The class labels (m,)."""
        f = self.decision_function(X)
        return self.classes_[(f > 0).astype(int) if f.ndim == 1 else f.argmax(axis=1)]
