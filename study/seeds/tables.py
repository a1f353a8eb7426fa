"""What the chapter on the seeds concludes from its stored tables: summaries and comparisons, nothing fitted.

Sources: Akar & Ye 2017; Nadeau & Bengio 2003 (intervals for resampled differences); Cover & Hart 1967 (nearest-neighbour
bound). Symbols and stored tables as in study.seeds.experiment.
"""

import numpy as np
import pandas as pd
from scipy.stats import t as student

from study import datasets
from study.claims import percentile
from study.seeds.experiment import MISPRINT, published_numbers
from study.seeds.methods import BEST, FOREST, MAJORITY, NEAREST, REFERENCE

BASE = {"scaling": "whole", "include_self": True, "scale_from": "train", "chosen": "first"}
"""The variant of the protocol that reproduces the source."""

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

SPELLING = {
    r"^perceptron": "one-vs-all",
    r"^multiclass perceptron, Xu & Zhang": "Xu-Zhang",
    r"^multiclass perceptron, Gaussian": "ordinary, Gaussian",
    r"^multiclass perceptron, linear": "linear",
    r"^SVC": "SVM",
    r"^(\d)-NN$": r"nearest neighbours, \1",
}
"""The names of methods in the stored tables, as regular expressions, and how the study spells them."""


def spelled(names):
    """Names of methods, a Series, as the study spells them: "SVC, Gaussian" becomes "SVM, Gaussian"."""
    return names.replace(SPELLING, regex=True)


def variant(table, **changes):
    """The rows of experiment.protocol_variants under one variant: BASE with changes."""
    keep = np.all([table[name] == value for name, value in (BASE | changes).items()], axis=0)
    return table[keep].reset_index(drop=True)


def table_3(variants, splits):
    """Table 3 of Akar & Ye: published accuracy, ours on their split, and its distribution over random splits.

    A tenth row corrects the misprint (tau = 20). From experiment.protocol_variants and table_3_splits. Columns:

    lam, tau, k          the setting
    published, ours      accuracies as fractions; ours where the first examples of each class train
    mean, sd, low, high  over random splits; low and high are the 2.5 and 97.5 percentiles
    smallest_eigenvalue  of K, the median over the splits
    percentile           of the published accuracy among those of the splits
    """
    accuracy = splits.assign(accuracy=1 - splits["errors"] / splits["n"])
    numbers = published_numbers().query("item == 'Table 3'").set_index(SETTING)["published"] / 100
    numbers[tuple(MISPRINT[1].values())] = numbers[tuple(MISPRINT[0].values())]
    rows = []
    for setting in variant(variants).itertuples():
        key = setting.lam, setting.tau, setting.k
        one = accuracy[np.all([accuracy[name] == value for name, value in zip(SETTING, key, strict=True)], axis=0)]
        low, high = np.percentile(one["accuracy"], [2.5, 97.5])
        row = dict(zip(SETTING, key, strict=True)) | {"published": numbers[key], "ours": 1 - setting.errors / setting.n}
        row |= {"mean": one["accuracy"].mean(), "sd": one["accuracy"].std(), "low": low, "high": high}
        row |= {"smallest_eigenvalue": one["smallest_eigenvalue"].median()}
        rows.append(row | {"percentile": printed_percentile(one["accuracy"], numbers[key])})
    return pd.DataFrame(rows)


def printed_percentile(accuracies, number):
    """The percentile of a number among accuracies, both at the four digits that were printed."""
    return percentile(np.round(accuracies, 4), round(number, 4))


def exact(ours, published, decimals=2):
    """True where fractions are equal when printed in percent with so many decimals."""
    return np.round(100 * np.asarray(ours) + 1e-9, decimals) == np.round(100 * np.asarray(published), decimals)


def sensitivity(variants, against):
    """What each convention does: a row for each of CHANGES.

    Columns: variant, mean (accuracy of the nine settings), best (that of BEST), equal (how many of the nine equal those of
    `against` (9,)), difference (the largest from them).
    """
    rows = []
    for change, changed in CHANGES.items():
        part = variant(variants, **changed)
        accuracy = 1 - part["errors"] / part["n"]
        best = accuracy[np.all([part[name] == value for name, value in BEST.items()], axis=0)].item()
        equal, difference = exact(accuracy[:-1], against).sum(), np.abs(accuracy[:-1] - np.asarray(against)).max()
        row = {"variant": change, "mean": accuracy[:-1].mean(), "best": best}
        rows.append(row | {"equal": int(equal), "difference": difference})
    return pd.DataFrame(rows)


def agreement(variants):
    """Every variant of the protocol with how many of the nine published accuracies it gives exactly; most first."""
    numbers = published_numbers().query("item == 'Table 3'")["published"].to_numpy() / 100
    parts = variants.groupby([*BASE], sort=False, as_index=False)[["errors", "n"]].agg(list)
    accuracy = 1 - np.array(parts["errors"].tolist()) / np.array(parts["n"].tolist())
    counts = parts[[*BASE]].assign(equal=exact(accuracy[:, :-1], numbers).sum(1))
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
    summary = summary.rename_axis("method").reset_index().sort_values("error", kind="stable", ignore_index=True)
    return summary.assign(method=spelled(summary["method"]))


def peaks(surface):
    """What experiment.surface says: the best cell, the best cell that is never indefinite, and the source's best, as rows.

    Columns: what, lam, tau, k, mean_error, sd_error, worst_error, indefinite, source_split_error.
    """
    table = surface.assign(source_split_error=surface["source_split_errors"] / surface["source_split_n"])
    table = table.sort_values(["mean_error", "lam", "tau", "k"], kind="stable")
    rows = {
        "fewest errors over random splits": table,
        "the same, K + λI always positive definite": table[table["indefinite"] == 0],
        "fewest errors on the source's split": table.sort_values(["source_split_error", "mean_error"], kind="stable"),
        "the source's optimum": table[np.all([table[name] == value for name, value in BEST.items()], axis=0)],
    }
    shown = pd.concat([rows[what].head(1).assign(what=what) for what in rows], ignore_index=True)
    columns = ["what", *SETTING, "mean_error", "sd_error", "worst_error", "indefinite", "source_split_error"]
    return shown[columns]


def clusterings(clustering):
    """The fewest and the most errors of each clustering method and scaling, as accuracies; a row each, best first."""
    table = clustering.assign(accuracy=1 - clustering["errors"] / clustering["n"])
    rows = table.groupby(["method", "scaling"], as_index=False).agg(
        runs=("accuracy", "size"), best=("accuracy", "max"), mean=("accuracy", "mean"), worst=("accuracy", "min")
    )
    return rows.sort_values(["best", "mean"], ascending=False, kind="stable", ignore_index=True)


def persistent_errors(points):
    """A row for each tested example of experiment.methods' points.

    Columns: example, label, rate (its error rate over all methods), methods (the share of the methods that misclassify it
    in most of the splits in which it is tested), errors (over all).
    """
    tested = points[points["tested"] > 0].assign(rate=lambda t: t["errors"] / t["tested"])
    rows = tested.assign(most=tested["rate"] > 0.5).groupby(["example", "label"], as_index=False)
    return rows.agg(rate=("rate", "mean"), methods=("most", "mean"), errors=("errors", "sum"))


def error_rates(points, method):
    """(n,) the error rate of each example under one method, as the study spells it; NaN where it was never tested."""
    own = points[spelled(points["method"]) == method].sort_values("example")
    return (own["errors"] / own["tested"].where(own["tested"] > 0)).to_numpy()


def hard_summary(hard):
    """Errors on the sets that may not separate, averaged over the splits; a row for each kind of trial.

    Columns: dataset, repeats, method, n_train, error, sd, off (mean absolute error in grades), far (share wrong by more than
    one grade; both missing where classes have no order), whole (trained on all training examples).
    """
    shares = {name: hard[column] / hard["n"] for name, column in {"error": "errors", "off": "absolute_error"}.items()}
    table = hard.assign(**shares, far=hard["far"] / hard["n"])
    rows = table.groupby(["dataset", "repeats", "method", "n_train"], as_index=False, sort=False).agg(
        error=("error", "mean"), sd=("error", "std"), off=("off", "mean"), far=("far", "mean")
    )
    return rows.assign(whole=rows["n_train"] == rows.groupby(["dataset", "repeats"])["n_train"].transform("max"))


def hard_methods(hard):
    """Methods on the whole training part, without repeated rows: dataset, method, error, sd, off, far; fewest errors first.

    The most frequent class is left out; see `hard_limits`.
    """
    rows = hard_summary(hard).query("whole and repeats == 'dropped' and method != @MAJORITY")
    order = rows["dataset"].map({name: number for number, name in enumerate(rows["dataset"].unique())})
    rows = rows.assign(order=order, method=spelled(rows["method"]))
    rows = rows.sort_values(["order", "error"], kind="stable", ignore_index=True)
    return rows[["dataset", "method", "error", "sd", "off", "far"]]


def hard_limits(hard):
    """A row for each set: majority (error of always the most frequent class), bound (what no rule could beat), copies.

    The bound is that of the nearest neighbour's error on the whole training part. copies is the difference in the random
    forest's error that repeated rows make when they are kept; missing for a set without any. The index is the set.
    """
    rows = hard_summary(hard).query("whole").pivot(index="dataset", columns=["repeats", "method"], values="error")
    rows = rows.reindex(hard["dataset"].unique())
    error, kept = rows["dropped"], rows.get(("kept", FOREST), np.nan)
    classes = np.array([len(datasets.DATASETS[name].classes) for name in rows.index])
    bound = nearest_neighbour_bound(error[NEAREST], classes)
    return pd.DataFrame({"majority": error[MAJORITY], "bound": bound, "copies": error[FOREST] - kept})


def hard_neighbours(hard):
    """The nearest neighbour's error and its bound by the size of the training part, without and with repeated rows."""
    rows = hard_summary(hard)
    rows = rows[rows["method"] == NEAREST].sort_values(["dataset", "repeats", "n_train"], ignore_index=True)
    classes = rows["dataset"].map(lambda name: len(datasets.DATASETS[name].classes))
    rows["bound"] = nearest_neighbour_bound(rows["error"], classes)
    return rows[["dataset", "repeats", "n_train", "error", "sd", "bound"]]


def nearest_neighbour_bound(error, n_classes):
    """The least error R* of any rule that agrees with a nearest-neighbour error of R, as a fraction (Cover & Hart 1967):

        R <= R* (2 - C R* / (C - 1)),  so  R* >= (C - 1)/C (1 - sqrt(1 - C R / (C - 1)))

    R is the error of the nearest neighbour among infinitely many examples; a finite set's is usually larger.
    """
    share = (n_classes - 1) / n_classes
    return share * (1 - np.sqrt(np.maximum(1 - np.asarray(error) / share, 0)))
