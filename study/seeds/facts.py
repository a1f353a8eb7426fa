"""Quantities of the study of the seeds that the text quotes, for the settings of a run (by default experiment.PUBLISHED).

Accuracies and errors are rates. The source's split has one number for each setting. Random splits draw as many training
examples of each class again and again: a range holds the middle 95 % of them. Tests of methods and settings resample the
examples (bootstrap), those on wine are corrected resampled t tests over random splits; Holm's correction is over a family.
"""

from functools import cache
from types import SimpleNamespace

import numpy as np
import pandas as pd
from sklearn.neighbors import NearestNeighbors

from study import statistics
from study.seeds import derivations, experiment, tables
from study.seeds.methods import BEST, MAJORITY, MILDER, REFERENCE
from study.words import interval, number, percent, rate_interval, size, size_interval

DISCRIMINANT = "linear discriminant analysis"
LINEAR = "linear, average"
VECTORS = "SVM, Gaussian"
NETWORK = "neural network"
CLUSTERS = "k-means, named on the training part"
"""Names of methods."""


@cache
def accuracies(settings):
    """The published settings, and last the reading of the misprinted one.

    nine: rows of `tables.table_3`; shown, the same without published numbers where these are of other data, and against,
    the numbers that protocols are compared with; settled: the rows of settings that are sound in all random splits, half the
    mean half-width of their ranges, between how far their means differ, and harder the share of random splits in which they
    are less accurate on average than on the source's split; spread: how far the means of the nine settings differ;
    boxes: the highest lower quartile of the nine and their lowest upper one, over random splits; optimum: the row of the
    setting that the source calls optimal.
    """
    splits = experiment.table_3_splits(settings)
    nine = tables.table_3(experiment.protocol_variants(settings), splits)
    settled = tables.stable(nine)
    own = settings.dataset == experiment.PUBLISHED.dataset
    accuracy = splits.assign(accuracy=1 - splits["errors"] / splits["n"]).groupby(tables.SETTING)["accuracy"]
    quartiles = accuracy.quantile([0.25, 0.75]).unstack().drop(tuple(experiment.MISPRINT[1].values()))
    return SimpleNamespace(
        nine=nine, shown=nine if own else nine.drop(columns="published"),
        against=nine["published" if own else "ours"][:-1], settled=settled, spread=np.ptp(nine["mean"][:9]),
        half=(settled["high"] - settled["low"]).mean() / 2, between=np.ptp(settled["mean"]),
        harder=tables.hardness(nine, splits)[1],
        boxes=(quartiles[0.25].max(), quartiles[0.75].min()),
        optimum=nine[(nine[tables.SETTING] == pd.Series(BEST)).all(axis=1)].squeeze(),
    )  # fmt: skip


@cache
def protocols(settings):
    """How many of the nine numbers each of the n protocols reproduces: equal by the best one, next_best by the second.

    whole, part: the variance of attributes that are centred and divided by their length over all examples, and over the
    training examples of the source's split.
    """
    counts = tables.agreement(experiment.protocol_variants(settings))
    whole, part = experiment.facts(settings).set_index("fact")["value"].filter(like="variance")
    return SimpleNamespace(n=len(counts), equal=counts["equal"][0], next_best=counts["equal"][1], whole=whole, part=part)


@cache
def misprint(settings):
    """What else could have given the number that no protocol reproduces: table (`tables.misprints`), of the tried changes
    of one thing those of τ that give it, fits in words, and the accuracies at τ = 19 and 21, before and after."""
    changed = experiment.misprint(settings)
    table = tables.misprints(changed, experiment.protocol_variants(settings))
    near = changed.query("changed == 'tau'").set_index("value")
    near = 1 - near["errors"] / near["n"]
    fits = ", ".join(map(number, table["values"][0])) or "none"
    return SimpleNamespace(table=table, tried=table["tried"].sum(), fits=fits, before=near[19], after=near[21])


@cache
def spectrum(settings):
    """Eigenvalues of K on the training examples of the source's split: smallest, the lowest by τ and k
    (`derivations.spectrum`), and first_taus, where it gets negative for each k, in order.

    At our reading of the misprinted setting (at): sweep, the test error by λ; poles, the λ that cancel a negative
    eigenvalue; lowest, the smallest eigenvalue.
    """
    data = experiment.examples(settings.dataset)
    train, test = experiment.fixed_split(data.y)
    X = experiment.scaled(data.X, train, "whole")
    at = experiment.MISPRINT[1]
    smallest = derivations.spectrum(X[train], taus=np.geomspace(0.05, 50, 40), ks=(2, 3, 5, 10, 20))
    lambdas = np.geomspace(0.01, 100, 801)
    sweep, poles = derivations.poles(X, data.y, train, test, tau=at["tau"], k=at["k"], lambdas=lambdas)
    first_taus = sorted(smallest[smallest["smallest"] < 0].groupby("k")["tau"].min())
    return SimpleNamespace(
        smallest=smallest, first_taus=first_taus, at=at, sweep=sweep, poles=poles, lowest=-poles.max(initial=0)
    )


@cache
def neighbouring(settings):
    """Pairs of settings that differ in one value (all), their mean test errors compared over the examples (bootstrap, Holm):
    named, those that differ in τ or k; reach, how large a difference of sound ones may be that was not detected; near, the
    differences of those that are not sound."""
    pairs = tables.setting_pairs(experiment.setting_points(settings), accuracies(settings).nine)
    named = pairs[pairs["changed"].isin(["τ", "k"])]
    return SimpleNamespace(
        all=pairs, named=named, reach=statistics.farthest(named.loc[named["sound"], "difference"]),
        near=named.loc[~named["sound"], "difference"].tolist(),
    )  # fmt: skip


@cache
def optima(settings):
    """The best accuracy on the source's split: table (`tables.optima` by grid and sound), its rows of all settings of the
    fine grid (finest) and of the sound ones of the fine and of the coarse grid."""
    table = tables.optima(experiment.source_grid(settings)).set_index(["grid", "sound"])
    sound = {grid: table.loc[grid, "positive definite"] for grid in ("fine", "coarse")}
    return SimpleNamespace(table=table, finest=table.loc["fine", "all"], **sound)


@cache
def surface(settings):
    """Mean test errors over random splits on the grid of λ, τ and k: table, a row for each setting; most_sound, what nine of
    ten sound settings stay below, and unsound, the mean of those that are not; mild, the range of the sound ones with τ up
    to 8; n_splits; ceiling, the fewest errors of each split; marks, the settings of the source, and reading, that of the
    misprinted one."""
    table, ceiling = experiment.surface(settings).values()
    *marks, reading = experiment.table_3_settings()
    sound = table["indefinite"] == 0
    return SimpleNamespace(
        mild=table.loc[sound & (table["tau"] <= 8), "mean_error"].agg(["min", "max"]).tolist(),
        table=table, ceiling=ceiling, most_sound=table.loc[sound, "mean_error"].quantile(0.9),
        unsound=table.loc[~sound, "mean_error"].mean(), n_splits=table["splits"].iloc[0], marks=marks, reading=reading,
    )  # fmt: skip


@cache
def methods(settings):
    """(errors by split, errors by example) of all methods, over the same random splits."""
    fixed = experiment.methods(settings)
    tuned = experiment.tuned(settings)
    both = (fixed["methods"], tuned["tuned"]), (fixed["points"], tuned["tuned_points"])
    return [pd.concat(each, ignore_index=True) for each in both]


@cache
def compared(settings):
    """Other methods minus the classifier of the source at its best setting, over n_splits random splits.

    differences: {method: Difference} (bootstrap over the examples, Holm); of these, linear is linear discriminant analysis,
    and clusters k-means; paired, rows of `tables.paired`; error, the mean test error by method; higher and lower, the rows
    that differ detectably; open_ends, how large the other differences may be; reached, the mean accuracy with λ, τ and k
    chosen on the training part.
    """
    by_split, by_example = methods(settings)
    differences = tables.against(by_example)
    paired = tables.paired(by_split, differences)
    return SimpleNamespace(
        differences=differences, linear=differences[DISCRIMINANT], clusters=differences[CLUSTERS], paired=paired,
        error=paired.set_index("method")["error"], higher=paired[paired["verdict"] == "higher"],
        lower=paired[paired["verdict"] == "lower"],
        open_ends=statistics.farthest(each for each in differences.values() if each.p >= statistics.ALPHA),
        reached=tuned_accuracy(by_example), n_splits=by_split["split"].nunique(),
    )  # fmt: skip


def tuned_accuracy(points):
    """The mean accuracy over random splits with parameters that the training part chooses: bootstrap over the examples.

    points: errors by example of `methods`.
    """
    points = points[(points["method"] == f"{REFERENCE}, tuned") & (points["tested"] > 0)]
    return statistics.bootstrap(1 - points["errors"] / points["tested"], strata=points["label"].to_numpy())


@cache
def persistent(settings):
    """How often examples are misclassified when they are tested: rates {method: (n,) error rates} of the source's classifier
    and of linear discriminant analysis.

    In more than half of their tests: core, those by more than half of the methods, and share, their part of all errors; own,
    how many the source's classifier misclassifies, first_and_last of the first and the last class; no_outliers, those among
    its own that linear discriminant analysis classifies.
    """
    points = methods(settings)[1]
    table = tables.persistent_errors(points)
    core = table[table["methods"] > 0.5]
    by_class = tables.persistent_by_class(points, REFERENCE, points["label"].nunique())
    own = by_class.sum()
    return SimpleNamespace(
        rates={name: tables.error_rates(points, name) for name in (REFERENCE, DISCRIMINANT)},
        core=len(core), share=core["errors"].sum() / table["errors"].sum(), own=own,
        first_and_last=by_class[0] + by_class[2],
        no_outliers=own - tables.persistent_in_common(points, REFERENCE, DISCRIMINANT),
    )  # fmt: skip


def among_others(P, y, n_neighbors=10):
    """The share (n,) of the nearest neighbours of each example in P that are of another class."""
    near = NearestNeighbors(n_neighbors=n_neighbors).fit(P).kneighbors(return_distance=False)
    return (y[near] != y[:, None]).mean(axis=1)


@cache
def separable(settings):
    """What linear functions separate: table (`tables.separable`); no_plane, the pairs that no plane separates; and whether
    all_surfaces of the second degree separate theirs."""
    table = tables.separable(experiment.separation(settings))
    pairs = (table["planes"] == "no") & ~table["classes"].str.contains("all")
    return SimpleNamespace(
        table=table, no_plane=table.loc[pairs, "classes"].tolist(), all_surfaces="no" not in table["surfaces"].values
    )


def network(hard):
    """Each method minus the neural network on the sets of wine, one family of tests (`tables.hard_against`)."""
    others = tables.hard_methods(hard)["method"].unique()
    return tables.hard_against(hard, NETWORK, [name for name in others if name != NETWORK])


def wine(hard):
    """Grades of wine, from the table of `experiment.hard`; lists have an entry for each of its sets, in their order.

    source_setting and milder: the classifier at the source's setting and at a sound one minus the most frequent grade;
    machine: the support vector machine minus the neural network, of a family of its own. lowest: the lowest error of all
    methods. smallest: (source's setting, milder one), the smallest eigenvalues of K. kept, dropped: the error of the nearest
    neighbour with copies of wines and without. methods, always: the errors of all methods (`tables.hard_methods`) and of the
    most frequent grade.
    """
    majority = tables.hard_against(hard, MAJORITY, [REFERENCE, MILDER])
    of_network = network(hard)
    sets = list(hard["dataset"].unique())
    methods = tables.hard_methods(hard)
    copies = tables.hard_copies(hard)
    return SimpleNamespace(
        sets=sets, source_setting=[majority[name, REFERENCE] for name in sets],
        milder=[majority[name, MILDER] for name in sets], machine=[of_network[name, VECTORS] for name in sets],
        lowest=methods.groupby("dataset")["error"].min()[sets].tolist(),
        smallest=[derivations.hard_spectrum(name)[1] for name in sets],
        kept=copies["kept"].tolist(), dropped=copies["dropped"].tolist(), methods=methods,
        always=tables.hard_majority(hard),
    )  # fmt: skip


# Verdicts on statements of the sources, whose text stands in statements.toml: (verdict, {name: value}) of each.


def verdict_chosen(found):
    """Whether the classifier errs less than linear methods and support vector machines (`tables.against`), by test."""
    rivals = {"linear": DISCRIMINANT, "perceptron": LINEAR, "machine": VECTORS, "tuned": f"{VECTORS}, tuned"}
    told = {found[name].word("lower", "higher", "") for name in rivals.values()}
    verdict = {("lower",): "does not hold", ("higher",): "holds"}.get(tuple(told - {""}), "undecided")
    values = {f"{place}_interval": interval(found[name], 1) for place, name in rivals.items()}
    linear = found[DISCRIMINANT]
    return verdict, values | {"linear": size(linear, 1), "linear_interval": size_interval(linear, 1)}


def verdict_sensitive(found):
    """Whether settings that differ in tau or k alone differ in error (`neighbouring`), by test."""
    sound = found.named[found.named["sound"]]
    unsound = found.named[~found.named["sound"]]
    if sound["told"].any():
        verdict = "holds"
    else:
        verdict = "holds in part" if unsound["told"].any() else "undecided"
    sizes = [size(each, 1) for each in found.near]
    ends = {"least": min(sizes, key=float, default=""), "most": max(sizes, key=float, default="")}
    return verdict, {"sound": len(sound), "unsound": len(unsound), "reach": number(100 * found.reach, 1), **ends}


def verdict_limited(found, limit=0.905):
    """Whether an accuracy keeps a limit, to which a printed "about 90 %" rounds, with its whole interval."""
    verdict = "holds" if found.high <= limit else "does not hold" if found.low > limit else "undecided"
    return verdict, {"accuracy": percent(found.estimate, 1), "interval": rate_interval(found, 1)}


def verdict_wine(hard):
    """Whether the kernel classifies wine no better than the most frequent grade does, and a network is needed, by test."""
    majority = tables.hard_against(hard, MAJORITY, [REFERENCE, MILDER])
    against_network = network(hard)
    milder = {found.word("lower", "higher", "") for (_, method), found in majority.items() if method == MILDER}
    machine = {found.word("lower", "higher", "") for (_, method), found in against_network.items() if method == VECTORS}
    classified = milder == {"lower"}
    needless = "lower" in machine and "higher" not in machine
    values = {
        "red_milder": size(majority["winequality-red", MILDER], 1),
        "white_milder": size(majority["winequality-white", MILDER], 1),
        "red_machine": size(against_network["winequality-red", VECTORS], 1),
    }
    return {2: "does not hold", 1: "holds in part", 0: "undecided"}[classified + needless], values
