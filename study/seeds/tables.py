"""What the tables of the seeds say: summaries, the claims of the source, and small computations shown on the spot.

Sources: Akar & Ye 2017; Nadeau & Bengio 2003 (intervals for resampled differences); Cover & Hart 1967 (nearest-neighbour
bound). `found` is what study.seeds.experiment.tables returns. Symbols as there.
"""

import numpy as np
import pandas as pd
from scipy.spatial.distance import cdist
from scipy.stats import percentileofscore
from scipy.stats import t as student
from sklearn.decomposition import PCA
from sklearn.linear_model import Ridge
from sklearn.metrics import confusion_matrix
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from kp.least_squares import KernelRidgeClassifier, local_scale, self_tuning_kernel
from study import datasets
from study.claims import COLUMNS, interval, verdict
from study.seeds.experiment import (
    BEST,
    FOREST,
    MAJORITY,
    MISPRINT,
    NEAREST,
    REFERENCE,
    SOURCE,
    examples,
    outputs,
    published_numbers,
    scales,
)

BASE = {"scaling": "whole", "include_self": True, "scale_from": "train", "chosen": "first"}
"""The reading of the source that reproduces it."""

CHANGES = {
    "as recovered": {},
    "a training point is not its own neighbour": {"include_self": False},
    "sigma from all points, test points too": {"scale_from": "all"},
    "standardised on the training part": {"scaling": "train"},
    "attributes in [0, 1]": {"scaling": "min-max"},
    "attributes as they are": {"scaling": "none"},
    "the last of each class train": {"chosen": "last"},
    "evenly spread examples train": {"chosen": "spread"},
}
SETTING = ["lam", "tau", "k"]


def read_as(table, **changes):
    """The rows of the table of readings under one reading: BASE with changes."""
    keep = np.all([table[name] == value for name, value in (BASE | changes).items()], axis=0)
    return table[keep].reset_index(drop=True)


def nine(found, *, published):
    """A row for each setting of Table 3, and tau = 20 for the misprint: accuracies as fractions.

    Columns: lam, tau, k, published (if asked for), ours (on the source's split), and over the random splits mean, sd, low
    and high (2.5 and 97.5 percentiles), smallest_eigenvalue (median), percentile (place of the published number, or else of
    ours: the share of splits below it and half of those equal to it).
    """
    accuracy = found["settings"].assign(accuracy=1 - found["settings"]["errors"] / found["settings"]["n"])
    rows = []
    for setting in read_as(found["readings"]).itertuples():
        one = accuracy[np.all([accuracy[name] == getattr(setting, name) for name in SETTING], axis=0)]
        low, high = np.percentile(one["accuracy"], [2.5, 97.5])
        row = {name: getattr(setting, name) for name in SETTING} | {"ours": 1 - setting.errors / setting.n}
        row |= {"mean": one["accuracy"].mean(), "sd": one["accuracy"].std(), "low": low, "high": high}
        rows.append(row | {"smallest_eigenvalue": one["smallest_eigenvalue"].median()})
    table = pd.DataFrame(rows)
    if published:
        numbers = published_numbers().query("item == 'Table 3'")
        printed = {tuple(row[name] for name in SETTING): row["published"] / 100 for row in numbers.to_dict("records")}
        printed[tuple(MISPRINT[1].values())] = printed[tuple(MISPRINT[0].values())]
        table.insert(3, "published", [printed[key] for key in table[SETTING].itertuples(index=False, name=None)])
    mark = table["published" if published else "ours"]
    table["percentile"] = [
        _place(accuracy.loc[np.all([accuracy[name] == row[name] for name in SETTING], axis=0), "accuracy"], value)
        for row, value in zip(table.to_dict("records"), mark, strict=True)
    ]
    return table


def _place(distribution, value):
    """The share of the distribution below the value, and half of what equals it at the four digits that were printed."""
    return percentileofscore(np.round(distribution, 4), round(value, 4), kind="mean") / 100


def exact(ours, published, decimals=2):
    """True where fractions are equal when printed in percent with so many decimals."""
    return np.round(100 * np.asarray(ours) + 1e-9, decimals) == np.round(100 * np.asarray(published), decimals)


def sensitivity(found, *, published):
    """A row for each of CHANGES: mean accuracy, that of BEST, and how many of the nine settings equal what is compared with.

    Compared with the published numbers if asked for, else with the reading as recovered; difference is the largest one.
    """
    table, rows = found["readings"], []
    against = nine(found, published=published)["published" if published else "ours"][:-1]
    for change, changed in CHANGES.items():
        read = read_as(table, **changed)
        accuracy = 1 - read["errors"] / read["n"]
        best = accuracy[np.all([read[name] == value for name, value in BEST.items()], axis=0)].item()
        row = {"reading": change, "mean": accuracy[:-1].mean(), "best": best}
        equal = exact(accuracy[:-1], against).sum()
        rows.append(row | {"equal": int(equal), "difference": np.abs(accuracy[:-1] - against).max()})
    return pd.DataFrame(rows)


def agreement(found):
    """Every reading with how many of the nine published accuracies it gives exactly; most first."""
    against = nine(found, published=True)["published"][:-1].to_numpy()
    nine_settings = found["readings"].groupby([*BASE], sort=False, as_index=False)
    equal = nine_settings[["errors", "n"]].agg(list)
    accuracy = 1 - np.array(equal["errors"].tolist()) / np.array(equal["n"].tolist())
    counts = equal[[*BASE]].assign(equal=exact(accuracy[:, :-1], against).sum(1))
    return counts.sort_values("equal", ascending=False, kind="stable", ignore_index=True)


def paired(table, reference=REFERENCE):
    """Each method's error, and its difference from the reference on the same splits; a row a method, smallest error first.

    Columns: method, error, sd, difference, sd_difference, low, high, better, equal, worse (shares of the splits). low and
    high are the 95 % interval of the mean difference by the corrected resampled t-test (Nadeau & Bengio 2003): the splits
    share examples, so the variance of the mean over J splits is (1/J + n_test/n_train) times that of one difference.
    """
    error = table.assign(error=table["errors"] / table["n"]).pivot(index="split", columns="method", values="error")
    difference = error.sub(error[reference], axis=0)
    J, (n, n_train) = len(error), table[["n", "n_train"]].iloc[0]
    half = student.ppf(0.975, J - 1) * np.sqrt((1 / J + n / n_train) * difference.var())
    summary = pd.DataFrame(
        {
            "error": error.mean(),
            "sd": error.std(),
            "difference": difference.mean(),
            "sd_difference": difference.std(),
            "low": difference.mean() - half,
            "high": difference.mean() + half,
            "better": (difference < 0).mean(),
            "equal": (difference == 0).mean(),
            "worse": (difference > 0).mean(),
        }
    )
    return summary.rename_axis("method").reset_index().sort_values("error", kind="stable", ignore_index=True)


def peaks(found):
    """What the surface says: the best cell, the best cell that is never indefinite, and the source's best, as rows.

    Columns: what, lam, tau, k, mean_error, sd_error, worst_error, indefinite, source_split_error.
    """
    table = found["surface"].assign(source_split_error=lambda t: t["source_split_errors"] / t["source_split_n"])
    table = table.sort_values(["mean_error", "lam", "tau", "k"], kind="stable")
    source = table[np.all([table[name] == value for name, value in BEST.items()], axis=0)]
    safe = table[table["indefinite"] == 0]
    on_source = table.sort_values(["source_split_error", "mean_error"], kind="stable")
    rows = {
        "fewest errors over random splits": table,
        "the same, K + λI always positive definite": safe,
        "fewest errors on the source's split": on_source,
        "the source's optimum": source,
    }
    shown = pd.concat([rows[what].head(1).assign(what=what) for what in rows], ignore_index=True)
    columns = ["what", *SETTING, "mean_error", "sd_error", "worst_error", "indefinite", "source_split_error"]
    return shown[columns]


def clusterings(found):
    """The fewest and the most errors of each clustering method and scaling, as accuracies; a row each, best first."""
    table = found["clustering"].assign(accuracy=lambda t: 1 - t["errors"] / t["n"])
    rows = table.groupby(["method", "scaling"], as_index=False).agg(
        runs=("accuracy", "size"), best=("accuracy", "max"), mean=("accuracy", "mean"), worst=("accuracy", "min")
    )
    return rows.sort_values(["best", "mean"], ascending=False, kind="stable", ignore_index=True)


def stubborn(points):
    """A row for each tested example: rate, its error rate over all methods; methods, the share of the methods that err on it
    in most of the splits in which it is tested; errors, over all."""
    tested = points[points["tested"] > 0].assign(rate=lambda t: t["errors"] / t["tested"])
    rows = tested.assign(most=tested["rate"] > 0.5).groupby(["example", "label"], as_index=False)
    return rows.agg(rate=("rate", "mean"), methods=("most", "mean"), errors=("errors", "sum"))


def hard_summary(found):
    """Errors on the sets that may not separate, averaged over the splits; a row for each kind of trial.

    Columns: dataset, repeats, method, n_train, error, sd, off (mean absolute error in grades), far (share wrong by more than
    one grade; both missing where classes have no order), whole (trained on all training examples).
    """
    table = found["hard"]
    shares = {name: table[column] / table["n"] for name, column in {"error": "errors", "off": "absolute_error"}.items()}
    table = table.assign(**shares, far=table["far"] / table["n"])
    rows = table.groupby(["dataset", "repeats", "method", "n_train"], as_index=False, sort=False).agg(
        error=("error", "mean"), sd=("error", "std"), off=("off", "mean"), far=("far", "mean")
    )
    return rows.assign(whole=rows["n_train"] == rows.groupby(["dataset", "repeats"])["n_train"].transform("max"))


def hard_methods(found):
    """{dataset: (table of method, error, sd, off, far, smallest error first; error of the most frequent class; bound)}.

    Without repeated rows; the bound is that of the nearest neighbour's error on the whole training part.
    """
    rows, panels = hard_summary(found).query("whole and repeats == 'dropped'"), {}
    for dataset, part in rows.groupby("dataset", sort=False):
        error = part.set_index("method")["error"]
        bound = nearest_neighbour_bound(error[NEAREST], len(datasets.DATASETS[dataset].classes))
        shown = part[part["method"] != MAJORITY].sort_values("error", kind="stable", ignore_index=True)
        panels[dataset] = shown[["method", "error", "sd", "off", "far"]], float(error[MAJORITY]), float(bound)
    return panels


def hard_neighbours(found):
    """The nearest neighbour's error and its bound by the size of the training part, without and with repeated rows."""
    rows = hard_summary(found)
    rows = rows[rows["method"] == NEAREST].sort_values(["dataset", "repeats", "n_train"], ignore_index=True)
    classes = rows["dataset"].map(lambda name: len(datasets.DATASETS[name].classes))
    rows["bound"] = nearest_neighbour_bound(rows["error"], classes)
    return rows[["dataset", "repeats", "n_train", "error", "sd", "bound"]]


def kept_repeats(found, dataset):
    """The random forest's error where repeated rows are kept, or None for a set without any."""
    rows = hard_summary(found).set_index(["dataset", "repeats", "method"])["error"]
    return float(rows[dataset, "kept", FOREST]) if (dataset, "kept", FOREST) in rows.index else None


def nearest_neighbour_bound(error, n_classes):
    """The least error R* of any rule that agrees with a nearest-neighbour error of R, as a fraction (Cover & Hart 1967):

        R <= R* (2 - C R* / (C - 1)),  so  R* >= (C - 1)/C (1 - sqrt(1 - C R / (C - 1)))

    R is the error of the nearest neighbour among infinitely many examples; a finite set's is usually larger.
    """
    share = (n_classes - 1) / n_classes
    return share * (1 - np.sqrt(np.maximum(1 - np.asarray(error) / share, 0)))


def claims(found):
    """The claims of Akar & Ye 2017, in percent: Table 3, the optimum, the limit of the method and clustering.

    The interval of an accuracy is that of its distribution over random splits (2.5 to 97.5 percentile), and percentile is
    the published number's place in it; the interval of the clustering is binomial.
    """
    numbers, table = published_numbers(), nine(found, published=True)
    rows = [
        {
            "item": "Table 3",
            "quantity": f"test accuracy (%), lambda = {row.lam:g}, tau = {row.tau:g}, k = {row.k}"
            + (", for tau = 1/20 as printed" if index == len(table) - 1 else ""),
            "published": row.published,
            "ours": row.ours,
            "low": row.low,
            "high": row.high,
            "n": int(found["settings"]["n"].iloc[0]),
            "percentile": row.percentile,
        }
        for index, row in enumerate(table.itertuples())
    ]
    optimum, limit, clusters = (numbers[numbers["item"] != "Table 3"].iloc[i] for i in range(3))
    cells, ceiling = found["surface"], found["ceiling"]
    on_source = 1 - cells["source_split_errors"].min() / cells["source_split_n"].iloc[0]
    best = 1 - ceiling["fewest_errors"] / ceiling["n"]
    tuned = found["methods"][found["methods"]["method"] == f"{REFERENCE}, tuned"]
    tuned = 1 - tuned["errors"] / tuned["n"]
    grouped = clusterings(found).query("method != 'Ward'").iloc[0]
    size = int(found["clustering"]["n"].iloc[0])
    binomial = np.array(interval(round(grouped["best"] * size), size)) / size
    for number, what, ours, (low, high), n, distribution in (
        (optimum, "largest over lambda, tau and k on the source's split", on_source, _middle(best), rows[0]["n"], best),
        (limit, "mean over random splits, chosen on the training part", tuned.mean(), _middle(tuned), rows[0]["n"], tuned),
        (clusters, f"best of k-means and mean shift ({grouped['method']})", grouped["best"], binomial, size, None),
    ):  # fmt: skip
        rows.append(
            {
                "item": number["item"],
                "quantity": f"{number['quantity']} (%): {what}",
                "published": number["published"] / 100,
                "ours": ours,
                "low": low,
                "high": high,
                "n": n,
                "percentile": np.nan if distribution is None else _place(distribution, number["published"] / 100),
            }
        )
    decimals = [*numbers["decimals"].iloc[:9], 2, *numbers["decimals"].iloc[9:]]
    claims = pd.DataFrame(rows).assign(source=SOURCE, producer="seeds.ipynb")
    percent = ["published", "ours", "low", "high"]
    claims[percent] *= 100
    printed = [round(ours + 1e-9, digits) for ours, digits in zip(claims["ours"], decimals, strict=True)]
    claims["verdict"] = verdict(claims["published"].round(2), printed, claims["low"], claims["high"])
    return claims[COLUMNS].round(dict.fromkeys(percent, 2) | {"percentile": 4})


def _middle(values):
    return np.percentile(values, [2.5, 97.5])


# Small computations that the notebook shows on the spot.


def identity(X, y, train, test, lam):
    """The derivation's identity W = Phi A^T for explicit features: attributes, and all their monomials to degree 2 and 3.

    Columns: features, D, gap (largest |W - Phi A^T| relative to the largest |W|, W from scikit-learn's Ridge), disagree
    (test points that W and A classify differently), error (on the test part).
    """
    rows, targets = [], np.eye(y.max() + 1)[y[train]]
    expansions = {"attributes": None, "degree up to 2": PolynomialFeatures(2), "degree up to 3": PolynomialFeatures(3)}
    for name, expansion in expansions.items():
        phi = X if expansion is None else expansion.fit_transform(X)
        A = KernelRidgeClassifier("precomputed", alpha=lam).fit(phi[train] @ phi[train].T, y[train])
        W = Ridge(alpha=lam, fit_intercept=False, solver="cholesky").fit(phi[train], targets).coef_.T
        gap = np.abs(W - phi[train].T @ A.dual_coef_).max() / np.abs(W).max()
        primal, dual = (phi[test] @ W).argmax(1), A.predict(phi[test] @ phi[train].T)
        rows.append((name, phi.shape[1], gap, np.sum(primal != dual), np.mean(dual != y[test])))
    return pd.DataFrame(rows, columns=["features", "D", "gap", "disagree", "error"])


def feature_maps(X, tau, k):
    """The self-tuning kernel, that of the source's printed feature map, and that of the corrected one, on the points X.

    printed: exp(-|x|^2/(tau s^2) - |x'|^2/(tau s'^2) + x.x'/(s s')), the sum of phi(x)_i phi(x')_i over all monomials;
    corrected, with (2/tau)^(n/2) in degree n: exp(-|x/s - x'/s'|^2/tau). Columns: kernel, smallest and largest diagonal
    entry, smallest_eigenvalue as a multiple of the largest, difference (largest from the self-tuning kernel).
    """
    sigma = local_scale(X, n_neighbors=k)
    tuned, U = self_tuning_kernel(X, X, sigma, sigma, tau=tau), X / sigma[:, None]
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
    pca = PCA(3).fit(StandardScaler().fit_transform(X))
    P = pca.transform(StandardScaler().fit_transform(X))
    return P * np.sign(pca.components_[np.arange(3), np.abs(pca.components_).argmax(1)]), pca.explained_variance_ratio_


def explained_by_class(P, y):
    """eta^2 (d,): the share of the variance along each column of P that lies between the classes."""
    between = sum(np.sum(y == c) * (P[y == c].mean(0) - P.mean(0)) ** 2 for c in np.unique(y))
    return between / ((P - P.mean(0)) ** 2).sum(0)


def neighbour_classes(X, y):
    """(C, C): for each class (row) the classes of its examples' nearest neighbours, as shares; attributes standardised."""
    nearest = KNeighborsClassifier(1).fit(StandardScaler().fit_transform(X), y).kneighbors(return_distance=False)[:, 0]
    return confusion_matrix(y, y[nearest], normalize="true")


def hard_picture(dataset):
    """(P, shares, y, neighbour_classes, short names of the classes) of a set, for figures_seeds.figure_hard."""
    data = examples(dataset)
    P, shares = projection(data.X)
    return P, shares, data.y, neighbour_classes(data.X, data.y), [name.removeprefix("grade ") for name in data.names]


def hard_spectrum(dataset, limit=1000):
    """(n, smallest eigenvalues of the self-tuning kernel at the source's best tau and k, and at tau = 1, k = 10).

    They are those of the first n examples of the shuffled set, at most `limit`, attributes standardised.
    """
    X = StandardScaler().fit_transform(examples(dataset).X)
    X = X[np.random.RandomState(0).permutation(len(X))[:limit]]
    pairs = (BEST["tau"], BEST["k"]), (1.0, 10)
    return len(X), [spectrum(X, taus=(tau,), ks=(k,))["smallest"][0] for tau, k in pairs]
