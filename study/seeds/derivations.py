"""Small computations that the chapter on the seeds shows on the spot: the classifier's kernel, its spectrum, projections.

Source: Akar & Ye 2017. Symbols as in study.seeds.experiment; P (n, 3) coordinates on principal components.
"""

import numpy as np
import pandas as pd
from scipy.spatial.distance import cdist
from sklearn.decomposition import PCA
from sklearn.metrics import confusion_matrix
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

from study.seeds.experiment import examples, outputs, scales
from study.seeds.kernel_ridge import local_scale, self_tuning_kernel
from study.seeds.methods import BEST


def feature_maps(X, tau, k):
    """The self-tuning kernel, that of the source's printed feature map, and that of the corrected one, on the points X.

    printed: exp(-|x|^2/(tau s^2) - |x'|^2/(tau s'^2) + x.x'/(s s')), the sum of phi(x)_i phi(x')_i over all monomials;
    corrected, with (2/tau)^(n/2) in degree n: exp(-|x/s - x'/s'|^2/tau). Columns: kernel, smallest and largest diagonal
    entry, smallest_eigenvalue as a multiple of the largest, difference (largest from the self-tuning kernel).
    """
    sigma = local_scale(X, n_neighbors=k)
    tuned = self_tuning_kernel(X, X, sigma, sigma, tau=tau)
    U = X / sigma[:, None]
    norms = (U**2).sum(1) / tau
    printed = np.exp(U @ U.T - norms - norms[:, None])
    kernels = {"self-tuning": tuned, "printed map": printed, "corrected map": np.exp(-cdist(U, U, "sqeuclidean") / tau)}
    rows = []
    for name, K in kernels.items():
        mu = np.linalg.eigvalsh(K)
        rows.append((name, K.diagonal().min(), K.diagonal().max(), mu[0] / mu[-1], np.abs(K - tuned).max()))
    return pd.DataFrame(rows, columns=["kernel", "diagonal from", "to", "smallest_eigenvalue", "difference"])


def spectrum(X, *, taus, ks):
    """The smallest eigenvalue of the self-tuning kernel on the points X, for each tau and k; columns k, tau, smallest."""
    rows = []
    for k in ks:
        sigma = local_scale(X, n_neighbors=k)
        rows += [(k, tau, np.linalg.eigvalsh(self_tuning_kernel(X, X, sigma, sigma, tau=tau))[0]) for tau in taus]
    return pd.DataFrame(rows, columns=["k", "tau", "smallest"])


def poles(X, y, train, test, *, tau, k, lambdas):
    """(table of lam and error on the test part, the positive lambdas at which K + lambda I is singular)."""
    sigma, sigma_test = scales(X, train, test, k)
    decomposed = np.linalg.eigh(self_tuning_kernel(X[train], X[train], sigma, sigma, tau=tau))
    K_test = self_tuning_kernel(X[test], X[train], sigma_test, sigma, tau=tau)
    f = outputs(decomposed, K_test, np.eye(y.max() + 1)[y[train]], lambdas)
    table = pd.DataFrame({"lam": lambdas, "error": (f.argmax(2) != y[test]).mean(1)})
    return table, -decomposed[0][decomposed[0] < 0]


def projection(X):
    """(coordinates (n, 3) on the first principal components of the standardised attributes, shares of the variance (3,))."""
    Z = StandardScaler().fit_transform(X)
    pca = PCA(3).fit(Z)
    P = pca.transform(Z)
    return P * np.sign(pca.components_[np.arange(3), np.abs(pca.components_).argmax(1)]), pca.explained_variance_ratio_


def hard_picture(dataset):
    """(P, shares, y, neighbours (C, C), short names of the classes) of a set, for figures.figure_hard_sets.

    neighbours: for each class (row) the classes of its examples' nearest neighbours, as shares; attributes standardised.
    """
    data = examples(dataset)
    P, shares = projection(data.X)
    Z = StandardScaler().fit_transform(data.X)
    nearest = KNeighborsClassifier(1).fit(Z, data.y).kneighbors(return_distance=False)[:, 0]
    neighbours = confusion_matrix(data.y, data.y[nearest], normalize="true")
    return P, shares, data.y, neighbours, [name.removeprefix("grade ") for name in data.names]


def hard_spectrum(dataset):
    """(n, smallest eigenvalues of the self-tuning kernel at the source's best tau and k, and at tau = 1, k = 10).

    They are those of the first n examples of the shuffled set, at most 1,000, attributes standardised.
    """
    X = StandardScaler().fit_transform(examples(dataset).X)
    X = X[np.random.RandomState(0).permutation(len(X))[:1000]]
    pairs = (BEST["tau"], BEST["k"]), (1.0, 10)
    return len(X), [spectrum(X, taus=(tau,), ks=(k,))["smallest"][0] for tau, k in pairs]
