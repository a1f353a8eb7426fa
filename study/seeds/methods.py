"""The methods that are compared on the seeds, and those tried on sets that may not separate.

Sources: Akar & Ye 2017 (the reference); Rifkin & Lippert 2007 (leave-one-out in closed form); Kuhn 1955 (matching of
clusters and classes).

A method is an estimator in `trials` or `hard_trials`; append one to add a method. Symbols: K = Q diag(mu) Q^T (n, n),
T (n, C) rows of zeros and a one, lambda, tau, k as in kernel_ridge.py.
"""

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier, RandomForestRegressor
from sklearn.metrics import confusion_matrix, zero_one_loss
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import SVC, SVR

from kp.kernels import gaussian
from kp.multiclass import MulticlassKernelPerceptron, MulticlassPerceptron
from kp.one_vs_all import OneVsAllKernelPerceptron
from study.predictors import PREDICTORS
from study.seeds.kernel_ridge import KernelRidgeClassifier, local_scale, self_tuning_kernel

BEST = {"lam": 1.0, "tau": 8.0, "k": 2}
"""The parameters that the source calls optimal."""

REFERENCE = "kernel ridge, self-tuning"


def trials(X, y, random_state):
    """{name: estimator} of the methods that are compared, for training examples X (n, d), y (n,), by which two are tuned."""
    d = X.shape[1]
    seed = {"random_state": random_state}
    one_vs_all = OneVsAllKernelPerceptron("rbf", gamma=1 / d, max_iter=10, n_jobs=1, **seed)
    gamma = gaussian(sigma=np.sqrt(d / 2)).gamma
    multiclass = MulticlassKernelPerceptron("rbf", gamma=gamma, max_iter=100, count_errors=False, n_jobs=1, **seed)
    folds = StratifiedKFold(5, shuffle=True, **seed)
    return {
        REFERENCE: KernelRidgeClassifier(alpha=BEST["lam"], tau=BEST["tau"], n_neighbors=BEST["k"]),
        f"{REFERENCE}, tuned": _self_tuning_tuned(X, y),
        "kernel ridge, Gaussian, tuned": _gaussian_tuned(X, y),
        **{f"perceptron, Gaussian, {name}": clone(one_vs_all).set_params(predictor=name) for name in PREDICTORS},
        **{
            f"perceptron, degree {degree}, average": clone(one_vs_all).set_params(kernel="poly", degree=degree, gamma=1)
            for degree in (1, 3)
        },
        "multiclass perceptron, Xu & Zhang, final": clone(multiclass).set_params(update="xu-zhang", predictor="final"),
        "multiclass perceptron, Xu & Zhang, average": clone(multiclass).set_params(update="xu-zhang"),
        "multiclass perceptron, Gaussian, average": multiclass,
        "multiclass perceptron, linear, average": MulticlassPerceptron(max_iter=100, predictor="average", n_jobs=1, **seed),
        "SVC, Gaussian": SVC(gamma=1 / d),
        "SVC, Gaussian, tuned": GridSearchCV(SVC(), {"C": [1, 10, 100], "gamma": [0.1 / d, 1 / d]}, cv=folds),
        "1-NN": KNeighborsClassifier(1),
        "5-NN": KNeighborsClassifier(5),
        "linear discriminant analysis": LinearDiscriminantAnalysis(),
        "k-means, named on the training part": NamedClusters(y.max() + 1, n_init=10, **seed),
    }


def _self_tuning_tuned(X, y):
    sigmas = {k: local_scale(X, n_neighbors=k) for k in (2, 5, 10, 20)}
    kernels = {(t, k): self_tuning_kernel(X, X, s, s, tau=t) for t in (1.0, 2.0, 4.0, 8.0) for k, s in sigmas.items()}
    (tau, k), lam = fewest_left_out(kernels, y, (0.01, 0.1, 1.0, 10.0))
    return KernelRidgeClassifier(alpha=lam, tau=tau, n_neighbors=k)


def _gaussian_tuned(X, y):
    kernels = {gamma: rbf_kernel(X, gamma=gamma) for gamma in np.array([0.1, 0.3, 1.0, 3.0]) / X.shape[1]}
    gamma, lam = fewest_left_out(kernels, y, (0.001, 0.01, 0.1, 1.0))
    kernel = FunctionTransformer(rbf_kernel, kw_args={"Y": X, "gamma": gamma})
    return make_pipeline(kernel, KernelRidgeClassifier("precomputed", alpha=lam))


class NamedClusters(KMeans):
    """k-means whose clusters get the names of the classes that `matched` finds on the training examples."""

    def fit(self, X, y):
        super().fit(X)
        self.names_ = matched(y, self.labels_)[0]
        return self

    def predict(self, X):
        return self.names_[super().predict(X)]


WIDTHS = (1.0, 2.0, 0.5, 4.0, 0.25, 8.0)
"""Widths sigma that the tuned forms choose from, in units of sqrt(d / 2) for d attributes; ties go to the first."""


def tuned_forms(X, y, random_state):
    """{name: (width, estimator)}: the three forms with Gaussian kernels, final and average.

    Each chooses its width of WIDTHS by the fewest errors of a five-fold cross-validation on X (n, d), y (n,); of equal ones
    the first. All else is as in `trials`: ten epochs of one-vs-all, at most a hundred of the multiclass forms, thresholds.
    """
    options = {"random_state": random_state, "n_jobs": 1}
    multiclass = MulticlassKernelPerceptron("rbf", max_iter=100, count_errors=False, **options)
    forms = {
        "one-vs-all": OneVsAllKernelPerceptron("rbf", max_iter=10, **options),
        "ordinary": multiclass,
        "Xu-Zhang": clone(multiclass).set_params(update="xu-zhang"),
    }
    gammas = [gaussian(sigma=width * np.sqrt(X.shape[1] / 2)).gamma for width in WIDTHS]
    folds = StratifiedKFold(5, shuffle=True, random_state=random_state)
    chosen = {}
    for name, form in forms.items():
        search = GridSearchCV(form, {"gamma": gammas}, scoring=_without_errors, cv=folds, refit=False).fit(X, y)
        for predictor in ("final", "average"):
            best = search.cv_results_[f"rank_test_{predictor}"].argmin()
            model = clone(form).set_params(gamma=gammas[best], predictor=predictor)
            chosen[f"{name}, tuned, {predictor}"] = WIDTHS[best], model
    return chosen


def _without_errors(model, X, y):
    """Scores for a grid search: minus the errors of both predictors of one fit."""
    return {name: -zero_one_loss(y, model.predict(X, predictor=name), normalize=False) for name in ("final", "average")}


def left_out(spectrum, targets, lambdas):
    """Outputs (L, n, C) at each training point of the classifier that was trained without it.

    With c = (K + lambda I)^{-1} T, the output without point i is t_i - c_i / [(K + lambda I)^{-1}]_ii (Rifkin & Lippert
    2007). The scales sigma stay those of the whole training part.
    """
    mu, Q = spectrum
    right = Q.T @ targets
    return np.stack([targets - Q / (mu + lam) @ right / (Q**2 / (mu + lam)).sum(1)[:, None] for lam in lambdas])


def fewest_left_out(kernels, y, lambdas):
    """(name, lambda) of the kernel matrix and the lambda with the fewest leave-one-out errors, then the smallest residual.

    Passed over are pairs that are near singular: where the smallest eigenvalue of K lies below -lambda / 2. Raises
    ValueError if no pair is left.
    """
    targets = np.eye(y.max() + 1)[y]
    best = None
    for name, K in kernels.items():
        decomposed = np.linalg.eigh(K)
        safe = [lam for lam in lambdas if decomposed[0][0] > -lam / 2]
        for lam, f in zip(safe, left_out(decomposed, targets, safe) if safe else (), strict=True):
            score = (int((f.argmax(1) != y).sum()), float(((f - targets) ** 2).sum()))
            if best is None or score < best[0]:
                best = score, name, lam
    if best is None:
        raise ValueError(
            f"some K + lambda I must be safely positive definite, got none for lambda up to {max(lambdas)}; raise it"
        )
    return best[1:]


def matched(y, clusters):
    """(class of each cluster, examples that agree) under the one-to-one matching that agrees most (Kuhn's assignment)."""
    agree = confusion_matrix(y, clusters)
    _, clusters_of = linear_sum_assignment(agree, maximize=True)
    return np.argsort(clusters_of), int(agree[np.arange(len(agree)), clusters_of].sum())


def ordered(dataset):
    """True if the classes are grades, so that it matters by how much a prediction is wrong."""
    return dataset.startswith("winequality")


NEAREST = "1-NN"
MILDER = f"{REFERENCE}, τ = 1, k = 10"
FOREST = "random forest"
MAJORITY = "most frequent class"


def hard_trials(dataset, repeats, random_state):
    """{name: model} of the methods for sets that do not separate; with repeated rows the nearest neighbour only."""
    if repeats:
        return {NEAREST: KNeighborsClassifier(1)}
    seed = dict(random_state=random_state)
    network = dict(hidden_layer_sizes=(64, 64), early_stopping=True, max_iter=300, **seed)
    named = {
        NEAREST: KNeighborsClassifier(1),
        "random forest": RandomForestClassifier(200, **seed),
        MAJORITY: DummyClassifier(),
        REFERENCE: KernelRidgeClassifier(alpha=BEST["lam"], tau=BEST["tau"], n_neighbors=BEST["k"]),
        MILDER: KernelRidgeClassifier(alpha=1.0, tau=1.0, n_neighbors=10),
        "perceptron, Gaussian, average": OneVsAllKernelPerceptron(
            "rbf", gamma=0.1, max_iter=10, predictor="average", n_jobs=1, **seed
        ),
        "SVC, Gaussian": SVC(),
        "neural network": MLPClassifier(**network),
        "gradient boosting": HistGradientBoostingClassifier(**seed),
    }
    if ordered(dataset):
        named |= {
            "neural network, regression": MLPRegressor(**network),
            "support vector regression": SVR(),
            "random forest, regression": RandomForestRegressor(200, **seed),
        }
    return named
