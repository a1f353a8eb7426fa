"""The kernel classifier on the seeds: nine published accuracies, what one split cannot say, and sets that do not separate.

Source: Akar & Ye 2017 (classifier, kernel, Table 3, Figs 4 and 5).

Protocol of the source, as far as it can be recovered: attributes standardised over the whole set, the first 30 examples of
each class for training, sigma the distance to the k-th nearest training point with a training point as its own first. The
bundled iris or wine take the place of the seeds in the quick profile.

Symbols: X (n, d), y (n,) classes 0..C-1, lambda, tau, k as in kernel_ridge.py; K = Q diag(mu) Q^T. One decomposition serves
every lambda: y(x) = k(x)^T Q diag(1 / (mu + lambda)) Q^T T.
"""

import warnings
from dataclasses import dataclass, replace
from functools import wraps
from itertools import combinations, product

import numpy as np
import pandas as pd
from scipy.optimize import linprog
from scipy.spatial.distance import cdist
from sklearn.cluster import AgglomerativeClustering, KMeans, MeanShift
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.preprocessing import MinMaxScaler, PolynomialFeatures, StandardScaler
from threadpoolctl import threadpool_limits
from tqdm import tqdm

from study import datasets
from study.protocols.margins import kesler_pairs, rounded
from study.protocols.settings import BaseSettings
from study.results import store
from study.results.experiment import experiment
from study.seeds.kernel_ridge import local_scale, self_tuning_kernel
from study.seeds.methods import hard_trials, matched, trials, tuned_forms

NUMBERS = "akar_ye_2017"
"""The file of the published numbers."""
MISPRINT = {"lam": 1.0, "tau": 0.05, "k": 2}, {"lam": 1.0, "tau": 20.0, "k": 2}
"""The setting whose published accuracy is not reproduced, and the one that reproduces it."""

SCALINGS = ("whole", "train", "min-max", "none")
CHOICES = ("first", "last", "spread")
PER_CLASS = 30
LAMBDAS = (0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0, 50.0, 100.0, 1000.0)
TAUS = (0.05, 0.2, 0.5, 1.0, 2.0, 4.0, 8.0, 10.0, 20.0, 50.0)
KS = (2, 3, 5, 7, 10, 15, 20)
"""The grid of the surface."""

FINE_LAMBDAS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0)
FINE_TAUS = (
    0.05, 0.1, 0.2, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 12.0, 15.0, 20.0, 30.0, 50.0,
)  # fmt: skip
FINE_KS = tuple(range(2, 21))
"""A finer grid that holds the other, with every k that the source allows."""

PRINTABLE = {
    "tau": tuple(
        sorted({*map(float, range(1, 61)), *(round(1 / i, 6) for i in range(1, 101)), *(i / 10 for i in range(1, 20))})
    ),
    "k": tuple(range(2, 31)),
    "lam": tuple(sorted(float(f"{a}e{b}") for a in (1, 2, 5) for b in range(-4, 5))),
}
"""Changes of one value of the setting that does not come out, the other two as printed: tau to whole numbers, tenths
and reciprocals of whole numbers, k to whole numbers, lambda to one, two or five times a power of ten."""


@dataclass(frozen=True, kw_only=True)
class Settings(BaseSettings):
    """A dataset, the number of random splits, and the seed that draws them.

    On the seeds all n_splits serve the settings of Table 3, the first quarter the comparison of methods, the first tenth the
    surface; at least two each.
    """

    dataset: str
    n_splits: int
    random_state: int = 0

    BOUNDS = {"n_splits": (2, None)}


PUBLISHED = Settings(dataset="seeds", n_splits=1000)
PUBLISHED_HARD = [Settings(dataset=name, n_splits=10) for name in ("winequality-red", "winequality-white")]
FEW = replace(PUBLISHED, n_splits=20)
"""The sample of experiments on many splits: the first of them."""


def dataset_of(settings):
    """The datasets that settings need."""
    return [settings.dataset]


def numbers_of(settings):
    """The file with the settings of Table 3."""
    return [store.PUBLISHED / f"{NUMBERS}.csv"]


def single_threaded(compute):
    """The experiment on one thread: sums of floating-point numbers then have one order.

    That K + lambda I can be indefinite is what the study shows; its tables say where, so KernelRidge need not warn.
    """

    @wraps(compute)
    def run(settings, *, progress=False):
        with threadpool_limits(1), warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Singular matrix")
            return compute(settings, progress=progress)

    return run


# Data and splits.


@dataclass(frozen=True)
class Examples:
    """X (n, d), y (n,) classes 0..C-1 with names, and how many rows were left out because they repeat an earlier one."""

    X: np.ndarray
    y: np.ndarray
    names: tuple[str, ...]
    repeated: int


def examples(dataset, *, repeats=False):
    """The training examples of a dataset; without repeats each row of X occurs once, at its first place, in order."""
    data = datasets.load(dataset)
    keep = np.arange(len(data.y)) if repeats else np.sort(np.unique(data.X, axis=0, return_index=True)[1])
    y = np.searchsorted(np.array(data.classes), data.y[keep])
    return Examples(data.X[keep].astype(np.float64), y, data.target_names, len(data.y) - len(keep))


def fixed_split(y, chosen="first"):
    """(train, test) indices: of each class the first examples, the last, or as many evenly spread, train; the rest test.

    Raises ValueError if a class has no more than PER_CLASS examples.
    """
    if np.bincount(y).min() <= PER_CLASS:
        raise ValueError(f"every class must have more than {PER_CLASS} examples, got {np.bincount(y).tolist()}")
    members = [np.flatnonzero(y == c) for c in range(y.max() + 1)]
    positions = {
        "first": lambda n: np.arange(PER_CLASS),
        "last": lambda n: np.arange(n - PER_CLASS, n),
        "spread": lambda n: np.arange(PER_CLASS) * n // PER_CLASS,
    }[chosen]
    train = np.concatenate([member[positions(len(member))] for member in members])
    return train, np.setdiff1d(np.arange(len(y)), train)


def random_splits(y, n_splits, random_state, *, share=3 / 7):
    """A list of stratified (train, test); 3/7 of the examples train by default, as 90 of the 210 seeds do in the source."""
    train_size = round(share * len(y))
    drawn = StratifiedShuffleSplit(n_splits, train_size=train_size, test_size=len(y) - train_size, random_state=random_state)
    return list(drawn.split(y, y))


def scaled(X, train, scaling):
    """X with its attributes standardised over the whole set or the training part, brought to [0, 1], or as they are."""
    if scaling == "none":
        return X
    return (
        (MinMaxScaler() if scaling == "min-max" else StandardScaler())
        .fit(X[train] if scaling == "train" else X)
        .transform(X)
    )


# The classifier for many settings at once.


def scales(X, train, test, k, *, include_self=True, scale_from="train"):
    """(sigma of the training points, of the test points); scale_from "train", or "all" for neighbours among all points."""
    if scale_from == "all":
        sigma = local_scale(X, n_neighbors=k, include_self=include_self)
        return sigma[train], sigma[test]
    return (
        local_scale(X[train], n_neighbors=k, include_self=include_self),
        local_scale(X[test], X[train], n_neighbors=k),
    )


def outputs(spectrum, K_test, targets, lambdas):
    """y(x) (L, m, C) for each lambda, from spectrum (mu, Q) of K, K_test (m, n) and T (n, C)."""
    mu, Q = spectrum
    left = K_test @ Q
    right = Q.T @ targets
    return np.stack([left / (mu + lam) @ right for lam in lambdas])


def errors_at(X, y, train, test, grid, **protocol):
    """Rows (errors, smallest eigenvalue of K) of one split, one for each (lam, tau, k) of the grid; protocol as `scales`."""
    targets = np.eye(y.max() + 1)[y[train]]
    found = {}
    for k in sorted({k for _, _, k in grid}):
        sigma, sigma_test = scales(X, train, test, k, **protocol)
        for tau in sorted({tau for _, tau, other in grid if other == k}):
            spectrum = np.linalg.eigh(self_tuning_kernel(X[train], X[train], sigma, sigma, tau=tau))
            K_test = self_tuning_kernel(X[test], X[train], sigma_test, sigma, tau=tau)
            lambdas = sorted({lam for lam, *other in grid if other == [tau, k]})
            wrong = (outputs(spectrum, K_test, targets, lambdas).argmax(2) != y[test]).sum(1)
            found |= {(lam, tau, k): (int(w), spectrum[0][0]) for lam, w in zip(lambdas, wrong, strict=True)}
    return [found[setting] for setting in grid]


def wrong_at(X, y, train, test, grid):
    """{(lam, tau, k): (m,) bool, which test examples are misclassified} of one split, by the protocol as recovered."""
    targets = np.eye(y.max() + 1)[y[train]]
    found = {}
    for lam, tau, k in grid:
        sigma, sigma_test = scales(X, train, test, k)
        spectrum = np.linalg.eigh(self_tuning_kernel(X[train], X[train], sigma, sigma, tau=tau))
        K_test = self_tuning_kernel(X[test], X[train], sigma_test, sigma, tau=tau)
        found[lam, tau, k] = outputs(spectrum, K_test, targets, [lam])[0].argmax(1) != y[test]
    return found


def separable(X, y):
    """True if linear functions f_c(x) = w_c.x + b_c exist of which each example's own is the highest, by 1 at least.

    X (n, d), y (n,) classes 0..C-1. One linear programme for all classes together, with Kesler's n (C - 1) inequalities
    (Duda, Hart & Stork 2001); for two classes these say that a plane separates them. Raises RuntimeError where the programme
    is neither solved nor found to have no solution.
    """
    examples_of, signs = kesler_pairs(y)
    features = np.column_stack([X, np.ones(len(X))])[examples_of]
    A = (signs[:, :, None] * features[:, None, :]).reshape(len(signs), -1)
    found = linprog(np.zeros(A.shape[1]), A_ub=-A, b_ub=-np.ones(len(A)), bounds=(None, None))
    if found.status not in (0, 2):
        raise RuntimeError(f"expected the linear programme to be solved or infeasible, got: {found.message}")
    return found.status == 0


def published_numbers():
    """The source's accuracies in percent: the constant columns of the ledger, and lam, tau, k where a setting is printed."""
    return store.published(NUMBERS).rename(columns={"lambda": "lam"})


def table_3_settings():
    """The nine settings of Table 3 and, last, the one with tau = 20 instead of 1/20: list of (lam, tau, k)."""
    table = published_numbers().query("item == 'Table 3'")
    return [(lam, tau, int(k)) for lam, tau, k in table[["lam", "tau", "k"]].to_numpy()] + [tuple(MISPRINT[1].values())]


# Experiments: each gives tidy tables.


@experiment(
    "seeds",
    published=[PUBLISHED],
    data=dataset_of,
    reads=numbers_of,
    parameters=lambda settings: {"dataset": settings.dataset},
)
@single_threaded
def protocol_variants(settings, *, progress=False):
    """The settings of Table 3 under every variant of what the source's protocol leaves open, on fixed splits."""
    data = examples(settings.dataset)
    rows = []
    wanted = table_3_settings()
    for scaling, include_self, scale_from, chosen in product(SCALINGS, (True, False), ("train", "all"), CHOICES):
        train, test = fixed_split(data.y, chosen)
        X = scaled(data.X, train, scaling)
        found = errors_at(X, data.y, train, test, wanted, include_self=include_self, scale_from=scale_from)
        for (lam, tau, k), (errors, _) in zip(wanted, found, strict=True):
            rows.append((scaling, include_self, scale_from, chosen, lam, tau, k, errors, len(test)))
    names = ["scaling", "include_self", "scale_from", "chosen", "lam", "tau", "k", "errors", "n"]
    return pd.DataFrame(rows, columns=names)


@experiment("seeds", published=[PUBLISHED], data=dataset_of, reads=numbers_of, sample=FEW)
@single_threaded
def table_3_splits(settings, *, progress=False):
    """The settings of Table 3 on random splits, by the protocol as recovered; smallest_eigenvalue is that of K."""
    data = examples(settings.dataset)
    rows = []
    wanted = table_3_settings()
    X = scaled(data.X, None, "whole")
    drawn = random_splits(data.y, settings.n_splits, settings.random_state)
    for split, (train, test) in enumerate(tqdm(drawn, desc="Table 3", unit="split", disable=not progress)):
        for (lam, tau, k), (errors, smallest) in zip(wanted, errors_at(X, data.y, train, test, wanted), strict=True):
            rows.append((split, lam, tau, k, errors, len(test), round(float(smallest), 6)))
    names = ["split", "lam", "tau", "k", "errors", "n", "smallest_eigenvalue"]
    return pd.DataFrame(rows, columns=names)


@experiment("seeds", published=[PUBLISHED], data=dataset_of, tables=("surface", "ceiling"))
@single_threaded
def surface(settings, *, progress=False):
    """Mean errors over random splits for each lambda, tau and k.

    indefinite is the share of the random splits where K + lambda I is not positive definite. Second table: the fewest errors
    over the whole grid on each random split, chosen by looking at the test part.
    """
    data = examples(settings.dataset)
    grid = [*product(LAMBDAS, TAUS, KS)]
    X = scaled(data.X, None, "whole")
    drawn = random_splits(data.y, settings.n_splits, settings.random_state)[: max(settings.n_splits // 10, 2)]
    found = [errors_at(X, data.y, *split, grid) for split in tqdm(drawn, desc="surface", unit="split", disable=not progress)]
    counts, smallest = np.moveaxis(np.array(found), 2, 0)
    sizes = np.array([len(test) for _, test in drawn])[:, None]
    errors = counts / sizes
    lam = np.array([lam for lam, *_ in grid])
    table = pd.DataFrame(grid, columns=["lam", "tau", "k"]).assign(
        splits=len(drawn),
        mean_error=errors.mean(0).round(6),
        indefinite=(smallest + lam <= 0).mean(0),
    )
    fewest = {"split": range(len(drawn)), "fewest_errors": counts.min(1).astype(int), "n": sizes[:, 0]}
    return {"surface": table, "ceiling": pd.DataFrame(fewest)}


@experiment("seeds", published=[PUBLISHED], data=dataset_of, parameters=lambda settings: {"dataset": settings.dataset})
@single_threaded
def source_grid(settings, *, progress=False):
    """Errors over the finer grid of lambda, tau and k on the source's split, with the smallest eigenvalue of K there.

    The setting is sound on this split where smallest_eigenvalue + lam > 0.
    """
    data = examples(settings.dataset)
    grid = [*product(FINE_LAMBDAS, FINE_TAUS, FINE_KS)]
    train, test = fixed_split(data.y)
    found = errors_at(scaled(data.X, None, "whole"), data.y, train, test, grid)
    rows = [
        (*setting, errors, len(test), round(float(smallest), 6))
        for setting, (errors, smallest) in zip(grid, found, strict=True)
    ]
    return pd.DataFrame(rows, columns=["lam", "tau", "k", "errors", "n", "smallest_eigenvalue"])


@experiment("seeds", published=[PUBLISHED], data=dataset_of, parameters=lambda settings: {"dataset": settings.dataset})
@single_threaded
def misprint(settings, *, progress=False):
    """Errors on the source's split when one value of the setting that does not come out is changed (see PRINTABLE)."""
    data = examples(settings.dataset)
    printed = MISPRINT[0]
    train, test = fixed_split(data.y)
    changed = [(name, value, printed | {name: value}) for name, values in PRINTABLE.items() for value in values]
    grid = [tuple(setting.values()) for *_, setting in changed]
    found = errors_at(scaled(data.X, None, "whole"), data.y, train, test, [*dict.fromkeys(grid)])
    errors = dict(zip(dict.fromkeys(grid), (count for count, _ in found), strict=True))
    rows = [(name, value, errors[setting], len(test)) for (name, value, _), setting in zip(changed, grid, strict=True)]
    return pd.DataFrame(rows, columns=["changed", "value", "errors", "n"])


@experiment("seeds", published=[PUBLISHED], data=dataset_of, reads=numbers_of)
@single_threaded
def setting_points(settings, *, progress=False):
    """Errors by example of the settings of Table 3, on the random splits on which the methods are compared."""
    data = examples(settings.dataset)
    wanted = table_3_settings()
    X = scaled(data.X, None, "whole")
    drawn = random_splits(data.y, settings.n_splits, settings.random_state)[: max(settings.n_splits // 4, 2)]
    tested = np.zeros(len(data.y), dtype=int)
    wrong = np.zeros((len(wanted), len(data.y)), dtype=int)
    for train, test in tqdm(drawn, desc="settings", unit="split", disable=not progress):
        tested[test] += 1
        wrong[:, test] += np.array([*wrong_at(X, data.y, train, test, wanted).values()])
    table = pd.DataFrame(np.repeat(wanted, len(data.y), axis=0), columns=["lam", "tau", "k"]).astype({"k": int})
    example = np.tile(np.arange(len(data.y)), len(wanted))
    return table.assign(example=example, label=data.y[example], tested=tested[example], errors=wrong.ravel())


@experiment("seeds", published=[PUBLISHED], data=dataset_of, parameters=lambda settings: {"dataset": settings.dataset})
def separation(settings, *, progress=False):
    """Whether linear functions separate the classes: all together, each pair, and each one from all others.

    Degree 1 is of the attributes, degree 2 of them, their squares and their products. Columns: classes, degree,
    separable ("yes" or "no").
    """
    data = examples(settings.dataset)
    rows = []
    C = len(data.names)
    everyone = np.ones(len(data.y), dtype=bool)
    problems = [("all together", everyone, data.y)]
    for a, b in combinations(range(C), 2):
        problems.append((f"{data.names[a]} and {data.names[b]}", np.isin(data.y, (a, b)), (data.y == a).astype(int)))
    problems += [(f"{name} and all others", everyone, (data.y == c).astype(int)) for c, name in enumerate(data.names)]
    for degree in (1, 2):
        features = PolynomialFeatures(degree, include_bias=False).fit_transform(scaled(data.X, None, "whole"))
        features = scaled(features, None, "whole")
        for name, keep, labels in problems:
            answer = "yes" if separable(features[keep], labels[keep]) else "no"
            rows.append((name, degree, answer))
    return pd.DataFrame(rows, columns=["classes", "degree", "separable"])


@experiment("seeds", published=[PUBLISHED], data=dataset_of, parameters=lambda settings: {"dataset": settings.dataset})
def facts(settings, *, progress=False):
    """Facts of the file and of the source's split that the source states: columns fact, value.

    Attributes "of length 1" are centred and divided by their Euclidean length over the whole set or the training part. The
    seeds have two facts more on their compactness c = 4 pi A / P^2: its largest difference from the formula, and how many
    of the examples differ by more than the rounding of A, P (two decimals) and c (four) allows.
    """
    data = examples(settings.dataset, repeats=True)
    train, test = fixed_split(data.y)
    counts = {"a class": data.y, "a class for training": data.y[train], "a class for testing": data.y[test]}
    found = {"examples": len(data.y), "attributes": data.X.shape[1], "classes": len(data.names)}
    found |= {"examples for training": len(train), "examples for testing": len(test)}
    for name, y in counts.items():
        found |= {f"fewest examples of {name}": np.bincount(y).min(), f"most examples of {name}": np.bincount(y).max()}
    for name, X in (("the whole set", data.X), ("the training part", data.X[train])):
        X = X - X.mean(0)
        found[f"variance of attributes of length 1 over {name}"] = rounded((X / np.linalg.norm(X, axis=0)).var(0).mean())
    if settings.dataset == "seeds":
        A, P, c = data.X[:, :3].T
        gap = np.abs(c - 4 * np.pi * A / P**2)
        allowed = 0.00005 + 4 * np.pi * A / P**2 * (0.005 / A + 2 * 0.005 / P)
        found |= {"largest gap of compactness": rounded(gap.max()), "gaps beyond rounding": int((gap > allowed).sum())}
    return pd.DataFrame(found.items(), columns=["fact", "value"])


def errors_on_splits(settings, make, *values, progress):
    """(errors by split and method, errors by method and example) on the first quarter of the random splits, attributes
    standardised on the training part. make(X, y, split) yields (method, its values, predict)."""
    data = examples(settings.dataset)
    rows = []
    drawn = random_splits(data.y, settings.n_splits, settings.random_state)[: max(settings.n_splits // 4, 2)]
    tested = np.zeros(len(data.y), dtype=int)
    wrong = {}
    for split, (train, test) in enumerate(tqdm(drawn, desc="methods", unit="split", disable=not progress)):
        X = scaled(data.X, train, "train")
        tested[test] += 1
        for name, found, predict in make(X[train], data.y[train], split):
            missed = test[predict(X[test]) != data.y[test]]
            np.add.at(wrong.setdefault(name, np.zeros(len(data.y), dtype=int)), missed, 1)
            rows.append((split, name, *found, len(missed), len(test), len(train)))
    names = list(wrong)
    points = pd.DataFrame(
        {
            "method": np.repeat(names, len(data.y)),
            "example": np.tile(np.arange(len(data.y)), len(names)),
            "label": np.tile(data.y, len(names)),
            "tested": np.tile(tested, len(names)),
            "errors": np.concatenate([wrong[name] for name in names]),
        }
    )
    return pd.DataFrame(rows, columns=["split", "method", *values, "errors", "n", "n_train"]), points


@experiment("seeds", published=[PUBLISHED], data=dataset_of, tables=("methods", "points"), sample=FEW, sampled=("methods",))
@single_threaded
def methods(settings, *, progress=False):
    """All methods of `trials` on the same random splits, attributes standardised on the training part; errors by example."""

    def make(X, y, split):
        return ((name, (), model.fit(X, y).predict) for name, model in trials(X, y, split).items())

    table, points = errors_on_splits(settings, make, progress=progress)
    return {"methods": table, "points": points}


@experiment(
    "seeds", published=[PUBLISHED], data=dataset_of, tables=("tuned", "tuned_points"), sample=FEW, sampled=("tuned",)
)
@single_threaded
def tuned(settings, *, progress=False):
    """The three forms of the perceptron with Gaussian kernels whose width the training part chooses (methods.tuned_forms).

    On the splits of `methods`, with attributes standardised on the training part. width is in units of sqrt(d / 2), the
    width that is fixed there. Second table: errors by example, as `methods` has them.
    """

    def make(X, y, split):
        return ((name, (width,), model.fit(X, y).predict) for name, (width, model) in tuned_forms(X, y, split).items())

    table, points = errors_on_splits(settings, make, "width", progress=progress)
    return {"tuned": table, "tuned_points": points}


@experiment("seeds", published=[PUBLISHED], data=dataset_of, parameters=lambda settings: {"dataset": settings.dataset})
@single_threaded
def clustering(settings, *, progress=False):
    """Clusterings of the whole set into C clusters, and their errors after the best matching of clusters with classes.

    Mean shift climbs the gradient of a density estimate; its bandwidth decides the number of clusters, and the bandwidths of
    a grid (in multiples of the mean distance) that leave C clusters are listed.
    """
    data = examples(settings.dataset)
    rows = []
    n_clusters = len(data.names)
    for scaling in ("none", "whole", "min-max"):
        X = scaled(data.X, None, scaling)
        unit = cdist(X, X).mean()
        trials = [("k-means", seed, KMeans(n_clusters, n_init=10, random_state=seed)) for seed in range(10)]
        trials += [("Ward", 0, AgglomerativeClustering(n_clusters))]
        widths = () if scaling == "min-max" else (0.4, 0.45, 0.5, 0.55)  # the slowest method: two scalings suffice
        trials += [("mean shift", width, MeanShift(bandwidth=width * unit)) for width in widths]
        for method, setting, model in trials:
            clusters = model.fit_predict(X)
            if clusters.max() + 1 == n_clusters:
                errors = len(clusters) - matched(data.y, clusters)[1]
                rows.append((method, scaling, setting, errors, len(clusters)))
    return pd.DataFrame(rows, columns=["method", "scaling", "setting", "errors", "n"])


@experiment("seeds", published=PUBLISHED_HARD, data=dataset_of, sample=replace(PUBLISHED_HARD[0], n_splits=2))
@single_threaded
def hard(settings, *, progress=False):
    """A set that may not separate: the methods of `hard_trials` on random splits, two thirds of the examples for training.

    Columns: dataset, repeats ("dropped", or "kept" for the nearest neighbour), split, method, n_train, errors, n.
    """
    rows = []
    name = settings.dataset
    for repeats in (False, True) if examples(name).repeated else (False,):
        data = examples(name, repeats=repeats)
        drawn = random_splits(data.y, settings.n_splits, settings.random_state, share=2 / 3)
        for split, (train, test) in enumerate(tqdm(drawn, desc=name, unit="split", disable=not progress)):
            X = scaled(data.X, train, "train")
            for method, model in hard_trials(name, repeats, split).items():
                predicted = np.clip(np.rint(model.fit(X[train], data.y[train]).predict(X[test])), 0, data.y.max())
                errors = np.count_nonzero(predicted != data.y[test])
                rows.append((name, "kept" if repeats else "dropped", split, method, len(train), errors, len(test)))
    return pd.DataFrame(rows, columns=["dataset", "repeats", "split", "method", "n_train", "errors", "n"])
