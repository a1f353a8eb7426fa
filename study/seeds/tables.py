"""Conclusions of the chapter on the seeds from its stored tables: summaries and comparisons, nothing fitted.

Source: Akar & Ye 2017. Tests are those of study.statistics. Symbols and stored tables as in study.seeds.experiment.
"""

import numpy as np
import pandas as pd

from study import statistics, words
from study.claims import percentile
from study.seeds.experiment import KS, LAMBDAS, MISPRINT, TAUS, published_numbers
from study.seeds.methods import BEST, MAJORITY, REFERENCE

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
    indefinite           the share of the splits in which K + lambda I is not positive definite
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
        row |= {"indefinite": (one["smallest_eigenvalue"] + setting.lam <= 0).mean()}
        rows.append(row | {"percentile": printed_percentile(one["accuracy"], numbers[key])})
    return pd.DataFrame(rows)


def stable(nine):
    """The rows of `table_3` whose K + lambda I is positive definite in every random split."""
    return nine[nine["indefinite"] == 0].reset_index(drop=True)


def hardness(nine, splits):
    """(accuracy, percentile): the mean of the stable settings when the first of each class train, among the random splits.

    One number for the whole split: the settings are tested on the same examples, so their percentiles are no independent
    evidence.
    """
    settled = stable(nine)
    one = splits.merge(settled[SETTING], on=SETTING)
    means = (1 - one["errors"] / one["n"]).groupby(one["split"]).mean()
    return settled["ours"].mean(), percentile(means.round(6), round(settled["ours"].mean(), 6))


def optima(grid):
    """The best accuracies on the source's split (experiment.source_grid): on the grid of the surface and on the finer one,
    among all settings and among settings whose K + lambda I is positive definite there.

    Columns: grid ("coarse", "fine"), sound ("all", "positive definite"), settings, best, lam, tau, k (of a best one; ties
    go to the largest lambda, then tau, then k), better (settings with more correct than the published optimum), equal.
    """
    number = published_numbers().query("key == 'akar-ye-2017/optimum'")["published"].item() / 100
    table = grid.assign(accuracy=1 - grid["errors"] / grid["n"], pd=grid["smallest_eigenvalue"] + grid["lam"] > 0)
    coarse = table["lam"].isin(LAMBDAS) & table["tau"].isin(TAUS) & table["k"].isin(KS)
    rows = []
    for name, inside in (("coarse", coarse), ("fine", coarse | True)):
        for sound, part in (("all", table[inside]), ("positive definite", table[inside & table["pd"]])):
            best = part.sort_values(["accuracy", *SETTING], ascending=False, kind="stable").iloc[0]
            equal = exact(part["accuracy"], number)
            counts = {"better": int(((part["accuracy"] > number) & ~equal).sum()), "equal": int(equal.sum())}
            row = {"grid": name, "sound": sound, "settings": len(part), "best": best["accuracy"], **best[SETTING]}
            rows.append(row | counts)
    return pd.DataFrame(rows).astype({"k": int})


def misprints(changed, variants):
    """Effect of changing one thing in the setting whose published accuracy does not come out; a row for each thing.

    From experiment.misprint and protocol_variants. Columns: changed (τ, k, λ, protocol), tried (values), low, high
    (accuracies), equal (values with the published accuracy), values (which).
    """
    printed = MISPRINT[0]
    numbers = published_numbers().query("item == 'Table 3'").set_index(SETTING)["published"] / 100
    setting = np.all([variants[name] == value for name, value in printed.items()], axis=0)
    protocol = variants[setting].assign(changed="protocol", value=np.nan)
    table = pd.concat([changed, protocol[changed.columns]], ignore_index=True)
    rows = []
    for name, part in table.groupby("changed", sort=False):
        accuracy = 1 - part["errors"] / part["n"]
        same = exact(accuracy, numbers[tuple(printed.values())])
        row = {"changed": name, "tried": len(part), "low": accuracy.min(), "high": accuracy.max(), "equal": int(same.sum())}
        rows.append(row | {"values": tuple(part["value"][same])})
    return pd.DataFrame(rows).replace({"changed": {"tau": "τ", "lam": "λ"}})


PAIRS = {
    "τ = 1 and 8": ("τ", (1, 1, 2), (1, 8, 2)),
    "τ = 1/20 and 8": ("τ", (1, 0.05, 2), (1, 8, 2)),
    "τ = 20 and 8": ("τ", (1, 20, 2), (1, 8, 2)),
    "τ = 20 and 0.2": ("τ", (1, 20, 20), (1, 0.2, 20)),
    "k = 10 and 2": ("k", (10, 10, 10), (10, 10, 2)),
    "k = 20 and 2": ("k", (1, 20, 20), (1, 20, 2)),
    "λ = 0.5 and 1": ("λ", (0.5, 8, 2), (1, 8, 2)),
}
"""Pairs of settings of Table 3, that with tau = 20 for 1/20 among them, that differ in one value: what differs, and both."""


def setting_pairs(points, nine):
    """How far settings of Table 3 that differ in one value are apart: a row for each of PAIRS.

    points: experiment.setting_points; nine: `table_3`. Each example has its error rate over the splits under both settings;
    the difference of the means is tested by a bootstrap over the examples, within classes, with Holm's correction over the
    pairs. Columns: pair, changed, first, second (the settings), sound (K + lambda I is positive definite in all random
    splits for both), told (p is below 5 %), difference (the statistics.Difference, in error).
    """
    rates, labels = _rates(points.assign(method=list(points[SETTING].itertuples(index=False, name=None))))
    found = statistics.holm(
        {name: statistics.bootstrap(rates[a] - rates[b], strata=labels) for name, (_, a, b) in PAIRS.items()}
    )
    safe = {*stable(nine)[SETTING].itertuples(index=False, name=None)}
    rows = [
        (name, what, a, b, a in safe and b in safe, found[name].p < statistics.ALPHA, found[name])
        for name, (what, a, b) in PAIRS.items()
    ]
    return pd.DataFrame(rows, columns=["pair", "changed", "first", "second", "sound", "told", "difference"])


def compared(found):
    """{name: Difference}, or a Series of them, in words: difference and 95 % interval in percentage points, p (Holm)."""
    found = pd.Series(found)
    columns = {
        "difference": found.map(lambda each: words.points(each, 1)),
        "95 % interval": found.map(lambda each: words.interval(each, 1)),
        "p (Holm)": found.map(lambda each: words.p_cell(each.p)),
    }
    return pd.DataFrame(columns)


def _rates(points):
    """(error rates (n, methods) of the examples, their classes (n,)), without examples that were never tested."""
    tested = points[points["tested"] > 0]
    # A column for each method, in the order of the table.
    names = list(dict.fromkeys(tested["method"]))
    rates = {
        name: part.set_index("example")["errors"] / part.set_index("example")["tested"]
        for name, part in tested.groupby("method")
    }
    table = pd.DataFrame({name: rates[name] for name in names}).dropna()
    return table, tested.drop_duplicates("example").set_index("example")["label"][table.index].to_numpy()


def printed_percentile(accuracies, number):
    """The percentile of a number among accuracies, both at the four digits that were printed."""
    return percentile(np.round(accuracies, 4), round(number, 4))


def exact(ours, published):
    """True where fractions are equal when printed in percent with two decimals."""
    return np.round(100 * np.asarray(ours) + 1e-9, 2) == np.round(100 * np.asarray(published), 2)


def sensitivity(variants, against):
    """Effect of each convention: a row for each of CHANGES.

    Columns: variant, mean (accuracy of the nine settings), best (that of BEST), equal (how many of the nine equal those of
    `against` (9,)), difference (the largest from them, in percentage points).
    """
    rows = []
    for change, changed in CHANGES.items():
        part = variant(variants, **changed)
        accuracy = 1 - part["errors"] / part["n"]
        best = accuracy[np.all([part[name] == value for name, value in BEST.items()], axis=0)].item()
        nine = accuracy[:-1]
        gap = np.abs(nine - np.asarray(against)).max()
        rows.append((change, nine.mean(), best, exact(nine, against).sum(), 100 * gap))
    return pd.DataFrame(rows, columns=["variant", "mean", "best", "equal", "difference"])


def agreement(variants):
    """Every variant of the protocol with how many of the nine published accuracies it gives exactly; most first."""
    numbers = published_numbers().query("item == 'Table 3'")["published"].to_numpy() / 100
    parts = variants.groupby([*BASE], sort=False, as_index=False)[["errors", "n"]].agg(list)
    accuracy = 1 - np.array(parts["errors"].tolist()) / np.array(parts["n"].tolist())
    counts = parts[[*BASE]].assign(equal=exact(accuracy[:, :-1], numbers).sum(1))
    return counts.sort_values("equal", ascending=False, kind="stable", ignore_index=True)


def against(points, control=REFERENCE):
    """{method: Difference} of the error of each method from that of one control, fewest errors first.

    points: experiment.methods' points, those of experiment.tuned below them. Each example has its error rate over the splits
    in which it is tested; the mean of the differences is tested by a bootstrap over the examples, within classes, with
    Holm's correction over the methods. The classifiers are not trained again, so that the interval is for these splits'
    training parts on other test examples of the same population.
    """
    rates, labels = _rates(points.assign(method=spelled(points["method"])))
    others = rates.drop(columns=control)
    found = {name: statistics.bootstrap(others[name] - rates[control], strata=labels) for name in others}
    return statistics.holm(dict(sorted(found.items(), key=lambda item: item[1].estimate)))


def paired(table, differences):
    """Each method's error over the splits and its difference from the control's; a row a method, smallest error first.

    table: experiment.methods' methods, those of experiment.tuned below them; differences: `against`. Columns: method, error,
    sd (over the splits), difference, low, high, p (missing for the reference), verdict ("lower", "higher", or nothing).
    """
    error = table.assign(error=table["errors"] / table["n"], method=spelled(table["method"]))
    error = error.pivot(index="split", columns="method", values="error")
    tests = statistics.table(differences, comparison="method", estimate="difference").set_index("method")
    tests["verdict"] = [each.word("lower", "higher", "") for each in differences.values()]
    summary = pd.DataFrame({"error": error.mean(), "sd": error.std()})
    summary = summary.join(tests[["difference", "low", "high", "p", "verdict"]]).fillna({"verdict": ""})
    return summary.reset_index().sort_values("error", kind="stable", ignore_index=True)


def clusterings(clustering):
    """The fewest and the most errors of each clustering method and scaling, as accuracies; a row each, best first."""
    table = clustering.assign(accuracy=1 - clustering["errors"] / clustering["n"])
    rows = table.groupby(["method", "scaling"], as_index=False).agg(
        runs=("accuracy", "size"), best=("accuracy", "max"), mean=("accuracy", "mean"), worst=("accuracy", "min")
    )
    return rows.sort_values(["best", "mean"], ascending=False, kind="stable", ignore_index=True)


def kinds_of_clustering(clustering):
    """A row for each clustering method, best first: method, best, scaling (of the best), worst (over scalings and runs)."""
    rows = clusterings(clustering)
    first = rows.drop_duplicates("method").set_index("method")
    table = first[["best", "scaling"]].assign(worst=rows.groupby("method")["worst"].min())
    return table.reset_index()


def separable(separation):
    """Which classes linear functions separate (experiment.separation): classes, planes (of the attributes), surfaces (with
    their squares and products)."""
    answers = separation.pivot(index="classes", columns="degree", values="separable").rename(
        columns={1: "planes", 2: "surfaces"}
    )
    return answers.reindex(separation["classes"].unique()).rename_axis(columns=None).reset_index()


def persistent_errors(points):
    """A row for each tested example of experiment.methods' points.

    Columns: example, methods (the share of the methods that misclassify it in most of the splits in which it is tested),
    errors (over all).
    """
    tested = points[points["tested"] > 0]
    rows = tested.assign(most=tested["errors"] > tested["tested"] / 2).groupby("example", as_index=False)
    return rows.agg(methods=("most", "mean"), errors=("errors", "sum"))


def persistent_by_class(points, method, n_classes):
    """(C,) how many examples of each class one method misclassifies in more than half of their tests."""
    own = points[spelled(points["method"]) == method]
    return np.bincount(own["label"][own["errors"] > own["tested"] / 2], minlength=n_classes)


def persistent_in_common(points, method, other):
    """How many of the examples that one method misclassifies in more than half of their tests another one does, too."""
    return int(((error_rates(points, method) > 0.5) & (error_rates(points, other) > 0.5)).sum())


def error_rates(points, method):
    """(n,) the error rate of each example under one method, as the study spells it; NaN where it was never tested."""
    own = points[spelled(points["method"]) == method].sort_values("example")
    return (own["errors"] / own["tested"].where(own["tested"] > 0)).to_numpy()


def hard_summary(hard):
    """Errors on the sets that may not separate, over the splits: dataset, repeats, method, error (mean), sd."""
    table = hard.assign(error=hard["errors"] / hard["n"])
    groups = table.groupby(["dataset", "repeats", "method"], as_index=False, sort=False)
    return groups.agg(error=("error", "mean"), sd=("error", "std"))


def hard_methods(hard):
    """Methods without repeated rows: dataset, method, error, sd; fewest errors first.

    The most frequent class is left out; see `hard_majority`.
    """
    rows = hard_summary(hard).query("repeats == 'dropped' and method != @MAJORITY")
    order = rows["dataset"].map({name: number for number, name in enumerate(rows["dataset"].unique())})
    rows = rows.assign(order=order, method=spelled(rows["method"]))
    rows = rows.sort_values(["order", "error"], kind="stable", ignore_index=True)
    return rows[["dataset", "method", "error", "sd"]]


def hard_majority(hard):
    """The error of always naming the most frequent class, for each set: a Series, its index the set."""
    rows = hard_summary(hard).query("repeats == 'dropped'")
    rows = rows[rows["method"] == MAJORITY]
    return rows.set_index("dataset")["error"].reindex(hard["dataset"].unique())


def hard_against(hard, control, methods=None):
    """{(set, method): Difference} of the errors from those of one control on the same splits of the same set.

    Without repeated rows; methods: as the study spells them, all by default. The splits share examples: the corrected
    resampled t (Nadeau & Bengio 2003), with Holm's correction over all comparisons.
    """
    rows = hard[hard["repeats"] == "dropped"]
    rows = rows.assign(error=rows["errors"] / rows["n"], method=spelled(rows["method"]))
    found = {}
    for name, part in rows.groupby("dataset", sort=False):
        error = part.pivot(index="split", columns="method", values="error")
        share = (part["n"] / part["n_train"]).iloc[0]
        for method in error if methods is None else methods:
            if method != control:
                found[name, method] = statistics.resampled(error[method] - error[control], test_share=share)
    return statistics.holm(found)


def hard_copies(hard):
    """Effect of keeping repeated rows: a row for each set that has any and each method.

    Columns: dataset, method, kept and dropped (errors with all rows and with each row once).
    """
    keys = ["dataset", "method"]
    kept = hard[hard["repeats"] == "kept"].groupby(keys, sort=False)[["n", "errors"]].sum().reset_index()
    rows = kept.merge(hard_summary(hard).query("repeats == 'dropped'"), on=keys)
    rows = rows.assign(method=spelled(rows["method"]), kept=rows["errors"] / rows["n"], dropped=rows["error"])
    return rows[[*keys, "kept", "dropped"]]


# For readers.


def settings_table(nine):
    """`table_3`, or its rows without the published numbers, as they are printed."""
    columns = {"lam": "λ", "tau": "τ", "ours": "recomputed", "low": "95 % from", "high": "to", "indefinite": "not sound"}
    shown = nine.drop(columns=["sd", "percentile", "smallest_eigenvalue"]).rename(columns=columns)
    rates = [name for name in ("published", "recomputed", "mean", "95 % from", "to") if name in shown]
    return words.styled(shown, dict.fromkeys(rates, ".2%") | {"not sound": ".1%"})


def conventions_table(changes):
    """`sensitivity` as it is printed."""
    columns = {"mean": "mean of nine", "best": "at 1, 8, 2", "difference": "largest difference, points"}
    formats = {"mean of nine": ".2%", "at 1, 8, 2": ".2%", "largest difference, points": ".2f"}
    return words.styled(changes.rename(columns=columns), formats)


def misprints_table(misprints):
    """`misprints` as they are printed."""
    shown = misprints.assign(values=[", ".join(map(words.number, each)) for each in misprints["values"]])
    columns = {"low": "accuracy from", "high": "to", "equal": "with 83.33 %", "values": "which"}
    return words.styled(shown.rename(columns=columns), {"accuracy from": ".2%", "to": ".2%"})


def pairs_table(pairs):
    """`setting_pairs` as they are printed."""
    shown = compared(pairs["difference"]).assign(sound=pairs["sound"].map({True: "yes", False: "no"}))
    shown.insert(0, "λ, τ, k of both", pairs["first"].map(str) + " " + pairs["second"].map(str))
    return words.styled(shown)


def clusterings_table(kinds):
    """`kinds_of_clustering` as they are printed."""
    return words.styled(kinds, {"best": ".1%", "worst": ".1%"})


def maps_table(maps):
    """`derivations.feature_maps` as they are printed; tiny eigenvalues are rounding errors."""
    columns = {"smallest_eigenvalue": "smallest / largest eigenvalue", "difference": "largest difference"}
    return words.styled(maps.round(12).replace(-0.0, 0.0).rename(columns=columns))


def numbers_table(ledger):
    """The rows of the ledger but those of Table 3, as printed: quantity, source, recomputed, 95 % range, verdict."""
    rows = ledger[ledger["item"] != "Table 3"].reset_index(drop=True)
    columns = {"published": "source", "ours": "recomputed", "low": "95 % from", "high": "to"}
    return words.styled(rows[["quantity", *columns, "verdict"]].rename(columns=columns))
