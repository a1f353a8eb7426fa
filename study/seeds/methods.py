"""The methods that are compared on the seeds, and those tried on sets that may not separate.

Sources: Akar & Ye 2017 (the reference); Rifkin & Lippert 2007 (leave-one-out in closed form); Kuhn 1955 (matching of
clusters and classes).

A maker takes X (n, d), y (n,) and a seed and returns {name: function from points to classes}; append one to METHODS to add
a method. Symbols: K = Q diag(mu) Q^T (n, n), T (n, C) rows of zeros and a one, lambda, tau, k as in kernel_ridge.py.
"""

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import KMeans
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier, RandomForestRegressor
from sklearn.metrics import confusion_matrix
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.svm import SVC, SVR

from kp.kernels import gaussian
from kp.mistakes import PREDICTORS
from kp.multiclass import MulticlassKernelPerceptron, MulticlassPerceptron
from kp.one_vs_all import OneVsAllKernelPerceptron
from study.seeds.kernel_ridge import KernelRidgeClassifier, local_scale, self_tuning_kernel

BEST = {"lam": 1.0, "tau": 8.0, "k": 2}
"""The parameters that the source calls optimal."""

REFERENCE = "kernel ridge, self-tuning"


def _self_tuning(X, y, random_state):
    model = KernelRidgeClassifier(alpha=BEST["lam"], tau=BEST["tau"], n_neighbors=BEST["k"]).fit(X, y)
    return {REFERENCE: model.predict}


def _self_tuning_tuned(X, y, random_state):
    sigmas = {k: local_scale(X, n_neighbors=k) for k in (2, 5, 10, 20)}
    kernels = {(t, k): self_tuning_kernel(X, X, s, s, tau=t) for t in (1.0, 2.0, 4.0, 8.0) for k, s in sigmas.items()}
    (tau, k), lam = fewest_left_out(kernels, y, (0.01, 0.1, 1.0, 10.0))
    model = KernelRidgeClassifier(alpha=lam, tau=tau, n_neighbors=k).fit(X, y)
    return {f"{REFERENCE}, tuned": model.predict}


def _gaussian_tuned(X, y, random_state):
    kernels = {gamma: rbf_kernel(X, gamma=gamma) for gamma in np.array([0.1, 0.3, 1.0, 3.0]) / X.shape[1]}
    gamma, lam = fewest_left_out(kernels, y, (0.001, 0.01, 0.1, 1.0))
    model = KernelRidgeClassifier("precomputed", alpha=lam).fit(kernels[gamma], y)
    return {"kernel ridge, Gaussian, tuned": lambda Z: model.predict(rbf_kernel(Z, X, gamma=gamma))}


def _perceptron_gaussian(X, y, random_state):
    model = _perceptron(X, y, random_state, kernel="rbf", gamma=1 / X.shape[1])
    return {f"perceptron, Gaussian, {name}": _with_predictor(model, name) for name in PREDICTORS}


def _perceptron_polynomial(X, y, random_state):
    models = {degree: _perceptron(X, y, random_state, degree=degree, gamma=1) for degree in (1, 3)}
    return {f"perceptron, degree {p}, average": _with_predictor(model, "average") for p, model in models.items()}


def _perceptron(X, y, random_state, **kernel):
    return OneVsAllKernelPerceptron(**kernel, max_iter=10, random_state=random_state, n_jobs=1).fit(X, y)


def _perceptron_multiclass(X, y, random_state):
    options = dict(max_iter=100, random_state=random_state, n_jobs=1)
    gamma = gaussian(sigma=np.sqrt(X.shape[1] / 2)).gamma
    xu_zhang = MulticlassKernelPerceptron("rbf", gamma=gamma, update="xu-zhang", **options).fit(X, y)
    ordinary = MulticlassKernelPerceptron("rbf", gamma=gamma, update="ordinary", **options).fit(X, y)
    linear = MulticlassPerceptron(**options).fit(X, y)
    return {
        "multiclass perceptron, Xu & Zhang, final": _with_predictor(xu_zhang, "final"),
        "multiclass perceptron, Xu & Zhang, average": _with_predictor(xu_zhang, "average"),
        "multiclass perceptron, Gaussian, average": _with_predictor(ordinary, "average"),
        "multiclass perceptron, linear, average": _with_predictor(linear, "average"),
    }


def _with_predictor(model, predictor):
    return lambda X: model.predict(X, predictor=predictor)


def _support_vectors(X, y, random_state):
    grid = {"C": [1, 10, 100], "gamma": [0.1 / X.shape[1], 1 / X.shape[1]]}
    folds = StratifiedKFold(5, shuffle=True, random_state=random_state)
    tuned = GridSearchCV(SVC(), grid, cv=folds).fit(X, y)
    return {"SVC, Gaussian": SVC(gamma=1 / X.shape[1]).fit(X, y).predict, "SVC, Gaussian, tuned": tuned.predict}


def _neighbours(X, y, random_state):
    return {f"{k}-NN": KNeighborsClassifier(k).fit(X, y).predict for k in (1, 5)}


def _discriminant(X, y, random_state):
    return {"linear discriminant analysis": LinearDiscriminantAnalysis().fit(X, y).predict}


def _named_clusters(X, y, random_state):
    model = KMeans(y.max() + 1, n_init=10, random_state=random_state).fit(X)
    names = matched(y, model.labels_)[0]
    return {"k-means, named on the training part": lambda Z: names[model.predict(Z)]}


METHODS = (
    _self_tuning, _self_tuning_tuned, _gaussian_tuned, _perceptron_gaussian, _perceptron_polynomial, _perceptron_multiclass,
    _support_vectors, _neighbours, _discriminant, _named_clusters,
)  # fmt: skip


WIDTHS = (1.0, 2.0, 0.5, 4.0, 0.25, 8.0)
"""Widths sigma that the tuned forms choose from, in units of sqrt(d / 2) for d attributes; ties go to the first."""


def tuned_forms(X, y, random_state):
    """{name: (width, function from points to classes)}: the three forms with Gaussian kernels, final and average.

    Each chooses its width of WIDTHS by five-fold cross-validation on X (n, d), y (n,): the fewest errors; ties go to
    the first. All else is as in METHODS: ten epochs of one-vs-all, at most a hundred of the multiclass forms, thresholds.
    """
    unit = np.sqrt(X.shape[1] / 2)
    options = dict(random_state=random_state, n_jobs=1)
    forms = {
        "one-vs-all": lambda sigma: OneVsAllKernelPerceptron("rbf", gamma=1 / (2 * sigma**2), max_iter=10, **options),
        "ordinary": lambda sigma: _multiclass(sigma, "ordinary", options),
        "Xu-Zhang": lambda sigma: _multiclass(sigma, "xu-zhang", options),
    }
    folds = list(StratifiedKFold(5, shuffle=True, random_state=random_state).split(X, y))
    chosen = {}
    for name, make in forms.items():
        errors = np.zeros((len(WIDTHS), 2), dtype=int)
        for row, width in enumerate(WIDTHS):
            for train, test in folds:
                model = make(width * unit).fit(X[train], y[train])
                errors[row] += [np.sum(model.predict(X[test], predictor=p) != y[test]) for p in ("final", "average")]
        for column, predictor in enumerate(("final", "average")):
            width = WIDTHS[errors[:, column].argmin()]
            model = make(width * unit).fit(X, y)
            chosen[f"{name}, tuned, {predictor}"] = width, _with_predictor(model, predictor)
    return chosen


def _multiclass(sigma, update, options):
    gamma = gaussian(sigma=sigma).gamma
    options = options | {"update": update, "max_iter": 100, "count_errors": False}
    return MulticlassKernelPerceptron("rbf", gamma=gamma, predictor="final", **options)


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
