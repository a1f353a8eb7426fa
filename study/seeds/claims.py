"""What Akar & Ye 2017 publish: their numbers, in percent, facts of their set, and their statements, each with a verdict.

ours of Table 3 is the accuracy on the source's split by the one of PROTOCOLS protocols that agrees with most of its numbers;
the interval is that of its distribution over random splits (2.5 to 97.5 percentile). Their optimum stands beside the best of
all settings of the fine grid on their split. Other grids, and the settings that are sound, those with K + lambda I positive
definite, a criterion that was chosen after looking, are readings.
"""

import numpy as np
import pandas as pd

from study import claims as ledger
from study import datasets, statistics
from study.seeds import experiment, tables
from study.seeds.experiment import CHOICES, MISPRINT, PUBLISHED, PUBLISHED_HARD, SCALINGS
from study.seeds.methods import MAJORITY, MILDER, REFERENCE
from study.style import set_name

SOURCE = {"source": "Akar & Ye 2017", "chapter": "seeds"}
PERCENT = ["published", "ours", "low", "high"]
PROTOCOLS = len(SCALINGS) * 4 * len(CHOICES)
"""The variants of the protocol that were tried: scaling, the own neighbour, whose neighbours, which examples train."""

DISCRIMINANT = "linear discriminant analysis"
VECTORS = "SVM, Gaussian"
NETWORK = "neural network"
CLUSTERS = "k-means, named on the training part"

SEARCHED = "the protocol is the one of {n} tried that agrees with the most of these nine numbers"
MISPRINTED = (
    "of {tried} values of τ only τ = {value:g} gives this number, and none of {ks} values of k and {lams} of λ: "
    "1/20 is read as its misprint; at 1/20 K is nearly the identity"
)
OPTIMUM = (
    "the source does not say which settings it tried; on its split {better} of the {settings:,} settings of a fine grid "
    "give more, and so do {sound_better} of the {sound:,} with K + λI positive definite, up to {best:.2f}; it is the "
    "largest of the {coarse} such settings of our coarse grid only, a criterion chosen after looking"
)
CLUSTERING = (
    "the gradient clustering of the source's reference was not run: ours is the mean of our best k-means and our best mean "
    "shift, another gradient method, both matched with all labels"
)
VARIANCE = (
    "attributes that are centred and divided by their Euclidean length over the whole set have variance 1/{n}; over the "
    "training part it would be {training:.4f}; found by trying, these two are counted. The kernel does not depend on it"
)


def claims():
    """The rows of the ledger; see study.claims."""
    numbers = experiment.published_numbers()
    rows = pd.concat([_table_3_rows(numbers), _text_rows(numbers)], ignore_index=True)
    rows[PERCENT] = (100 * rows[PERCENT]).round(2)
    rows["percentile"] = rows["percentile"].round(4)
    found = [ledger.rows(each, **SOURCE) for each in (rows, _fact_rows())]
    return pd.concat(found, ignore_index=True)


def readings():
    """The ninth number of Table 3 with tau = 20 in place of 1/20, the optimum of other sets of settings, and other
    clusterings; see study.claims."""
    row = _table_3().iloc[[-1]]
    row = row.assign(key=_key(pd.Series(MISPRINT[0])), reading="τ = 20")
    row = row[["key", "reading", "ours", "low", "high", "n", "percentile"]]
    rows = pd.concat([row, _optimum_readings(), _clustering_readings()], ignore_index=True)
    rows[PERCENT[1:]] = (100 * rows[PERCENT[1:]]).round(2)
    return rows.round({"percentile": 4})


def _key(setting):
    return "akar-ye-2017/table-3/lambda-{lam:g}/tau-{tau:g}/k-{k:g}".format(**setting)


def _table_3():
    splits = experiment.table_3_splits(PUBLISHED)
    return tables.table_3(experiment.protocol_variants(PUBLISHED), splits).assign(n=splits["n"].iloc[0])


def _table_3_rows(numbers):
    rows = _table_3()[:-1].reset_index(drop=True)
    named = [f"test accuracy (%), λ = {row.lam:g}, τ = {row.tau:g}, k = {row.k}" for row in rows.itertuples()]
    misprint = np.all([rows[name] == value for name, value in MISPRINT[0].items()], axis=0)
    found = tables.misprints(experiment.misprint(PUBLISHED), experiment.protocol_variants(PUBLISHED)).set_index("changed")
    tau, ks, lams = (found.loc[name] for name in ("tau", "k", "lam"))
    explained = MISPRINTED.format(tried=tau["tried"], value=tau["values"][0], ks=ks["tried"], lams=lams["tried"])
    return rows.assign(
        key=[_key(row) for _, row in rows.iterrows()],
        item="Table 3",
        quantity=named,
        decimals=numbers["decimals"][: len(rows)],
        interval_of=f"{PUBLISHED.n_splits:,} random splits, 2.5 to 97.5 percentile; ours is the one split of the source",
        choices=PROTOCOLS,
        explanation=np.where(misprint, explained, SEARCHED.format(n=PROTOCOLS)),
    ).drop(columns=["lam", "tau", "k", "mean", "sd", "smallest_eigenvalue", "indefinite"])


def _text_rows(numbers):
    """The three numbers of the section Result and Analysis."""
    size = int(experiment.clustering(PUBLISHED)["n"].iloc[0])
    optima = tables.optima(experiment.source_grid(PUBLISHED)).set_index(["grid", "sound"])
    methods = experiment.methods(PUBLISHED)["methods"]
    methods = methods[methods["method"] == f"{REFERENCE}, tuned"]
    tuned, n = 1 - methods["errors"] / methods["n"], int(methods["n"].iloc[0])
    kinds = _clusters()
    optimum, limit, clusters = (row for _, row in numbers[numbers["item"] != "Table 3"].iterrows())
    finest, middle = optima.loc[("fine", "all")], np.percentile(tuned, [2.5, 97.5])
    both = kinds[["k-means", "mean shift"]].mean()
    best, what = finest["best"], f"best of {finest['settings']:,} settings of a fine grid, on the source's split"
    rows = (
        ("optimum", optimum, what, best, (best, best), n, PROTOCOLS),
        ("limit", limit, "mean over random splits, chosen on the training part", tuned.mean(), middle, n, 1),
        ("clustering", clusters, "mean of our best k-means and our best mean shift", both, (both, both), size, 1),
    )
    table = pd.DataFrame(
        {
            "key": f"akar-ye-2017/{slug}",
            "item": number["item"],
            "quantity": f"{number['quantity']} (%): {what}",
            "published": number["published"] / 100,
            "decimals": number["decimals"],
            "ours": ours,
            "low": low,
            "high": high,
            "n": size,
            "choices": choices,
        }
        for slug, number, what, ours, (low, high), size, choices in rows
    )
    fine, coarse = (optima.loc[(grid, "positive definite")] for grid in ("fine", "coarse"))
    reason = OPTIMUM.format(
        better=int(finest["better"]), settings=int(finest["settings"]), sound_better=int(fine["better"]),
        sound=int(fine["settings"]), best=100 * fine["best"], coarse=int(coarse["settings"]),
    )  # fmt: skip
    return table.assign(
        percentile=[np.nan, tables.printed_percentile(tuned, table["published"][1]), np.nan],
        interval_of=["", f"{len(tuned)} random splits, 2.5 to 97.5 percentile", ""],
        explanation=[reason, "", CLUSTERING],
        comparable=[True, True, False],
    )


def _fact_rows():
    """Counts that the source states, facts of its set or its split, and the variance to which it brings attributes."""
    table = ledger.published("akar_ye_2017_facts")
    values = _facts()
    values["wine attributes"] = float(len(datasets.DATASETS["winequality-red"].feature_names))
    ours = table["fact"].map(values)
    of_variance = table["key"] == "variance"
    training = values["variance of attributes of length 1 over the training part"]
    reason = VARIANCE.format(n=int(values["examples"]), training=training)
    return table.assign(
        key="akar-ye-2017/" + table["key"], ours=ours, low=ours, high=ours, n=int(values["examples"]),
        degenerate=~of_variance, choices=np.where(of_variance, 2, 1), explanation=np.where(of_variance, reason, ""),
    ).drop(columns="fact")  # fmt: skip


def _facts():
    return experiment.facts(PUBLISHED).set_index("fact")["value"].to_dict()


def _clusters():
    """The best accuracy of each kind of clustering, by its name."""
    return tables.kinds_of_clustering(experiment.clustering(PUBLISHED)).set_index("method")["best"]


def _optimum_readings():
    optima = tables.optima(experiment.source_grid(PUBLISHED))
    words = {"coarse": "{} settings of our grid", "fine": "{:,} settings of a finer grid"}
    names = [
        words[row.grid].format(row.settings) + (", K + λI positive definite" if row.sound != "all" else "")
        for row in optima.itertuples()
    ]
    rows = pd.DataFrame({"reading": names, "ours": optima["best"]})[(optima["grid"] != "fine") | (optima["sound"] != "all")]
    rows.loc[len(optima)] = "the nine settings of Table 3", _table_3()["ours"][:-1].max()
    n = int(experiment.source_grid(PUBLISHED)["n"].iloc[0])
    return rows.assign(key="akar-ye-2017/optimum", low=rows["ours"], high=rows["ours"], n=n, percentile=np.nan)


def _clustering_readings():
    clustering = experiment.clustering(PUBLISHED)
    kinds = tables.kinds_of_clustering(clustering)
    rows = pd.DataFrame({"reading": "our best " + kinds["method"] + " alone", "ours": kinds["best"]})
    n = int(clustering["n"].iloc[0])
    return rows.assign(key="akar-ye-2017/clustering", low=rows["ours"], high=rows["ours"], n=n, percentile=np.nan)


def statements():
    """The source's theses, each with the verdict that our numbers bear out; see study.claims.statement_rows.

    What it says of its own definitions, of facts of the set, and from others is in the chapter and has no verdict.
    """
    found = {
        "chosen": _on_choice(),
        "sensitive": _on_sensitivity(),
        "limited": _on_limit(),
        "wine": _on_wine(),
    }
    words = ("place", "statement", "verdict", "evidence")
    rows = [{"key": f"akar-ye-2017/{key}", **dict(zip(words, row, strict=True))} for key, row in found.items()]
    return ledger.statement_rows(rows, **SOURCE)


def differences():
    """Each method's difference from the self-tuning kernel at the source's best setting; see tables.against."""
    points = experiment.methods(PUBLISHED)["points"], experiment.tuned(PUBLISHED)["tuned_points"]
    return tables.against(pd.concat(points, ignore_index=True))


def _told(found, names):
    """A list in words of how methods compare with the control: "name (-4.0 points, Holm p = 0.02)"."""
    each = (
        f"{name} ({statistics.points(found[name].estimate, digits=1)}, {statistics.p_value(found[name].p)})"
        for name in names
    )
    return ", ".join(each)


def _on_choice():
    found = differences()
    rivals = [name for name in (DISCRIMINANT, "linear, average", VECTORS, f"{VECTORS}, tuned")]
    worse = [name for name in rivals if found[name].word() == "is higher than"]
    better = [name for name in rivals if found[name].word() == "is lower than"]
    verdict = "does not hold" if better and not worse else "holds" if worse and not better else "cannot be told"
    evidence = (
        f"Test errors of others minus that of the classifier at its best setting: {_told(found, rivals)}; Holm over "
        f"{len(found)} methods."
    )
    statement = "the kernel classifier is the optimal choice before support vector machines and linear classifiers"
    return "Machine Learning Model", statement, verdict, evidence


def _on_sensitivity():
    pairs = tables.setting_pairs(experiment.setting_points(PUBLISHED), _table_3())
    told = pd.Series([found.word(tie="") != "" for found in pairs["difference"]], index=pairs.index)
    named = pairs["changed"].isin(["τ", "k"])
    sound, unsound = pairs[named & pairs["sound"]].index, pairs[named & ~pairs["sound"]].index
    verdict = "holds" if told[sound].any() else "holds in part" if told[unsound].any() else "cannot be told"
    most = statistics.farthest(pairs["difference"][sound])
    evidence = (
        f"Of the {len(sound)} pairs of settings that differ in τ or k alone and have K + λI positive definite in "
        f"all random splits, {told[sound].sum() or 'none'} differ detectably; the intervals of their differences reach "
        f"{statistics.points(most, digits=1, sign=False)}. Of the {len(unsound)} others {told[unsound].sum() or 'none'} do "
        "(bootstrap over the examples, Holm)."
    )
    return "Result and Analysis", "the classifier is sensitive to changes in τ and in k", verdict, evidence


def _on_limit():
    points = experiment.methods(PUBLISHED)["points"]
    points = points[points["method"] == f"{REFERENCE}, tuned"].set_index("example")
    found = statistics.bootstrap(1 - points["errors"] / points["tested"], strata=points["label"].to_numpy())
    evidence = (
        f"With parameters chosen on the training part its mean accuracy over random splits is {found.estimate:.1%} "
        f"({found.low:.1%} to {found.high:.1%} over other test examples, bootstrap)."
    )
    return (
        "Result and Analysis",
        "the classifier is limited to about 90 %, whatever its parameters",
        _limited(found),
        evidence,
    )


def _limited(found, limit=0.905):
    """The verdict on a limit of an accuracy, to which a printed "about 90 %" rounds, from its estimate with an interval."""
    return "holds" if found.high <= limit else "does not hold" if found.low > limit else "cannot be told"


def beside_network(hard):
    """Each method's difference from the neural network on the sets of wine, one family of tests; see tables.hard_against."""
    others = tables.hard_methods(hard)["method"].unique()
    return tables.hard_against(hard, NETWORK, [name for name in others if name != NETWORK])


def _on_wine():
    hard = experiment.hard(PUBLISHED_HARD)
    majority, network = tables.hard_against(hard, MAJORITY, [REFERENCE, MILDER]), beside_network(hard)
    milder = [found.word() for (_, method), found in majority.items() if method == MILDER]
    machine = [found.word() for (_, method), found in network.items() if method == VECTORS]
    classified = set(milder) == {"is lower than"}
    needless = "is lower than" in machine and "is higher than" not in machine
    verdict = {2: "does not hold", 1: "holds in part", 0: "cannot be told"}[classified + needless]
    evidence = (
        "Test error minus that of always naming the most frequent grade: "
        f"{_on_sets(majority, REFERENCE)}; at a milder setting, τ = 1 and k = 10, {_on_sets(majority, MILDER)}. Test error "
        f"of a support vector machine minus that of a neural network: {_on_sets(network, VECTORS)} (corrected resampled t, "
        f"Holm over {len(majority)} and over {len(network)})."
    )
    statement = (
        "the wine quality data cannot be classified with the kernel classifier: a neural network or advanced regression is "
        "necessary"
    )
    return "Extra", statement, verdict, evidence


def _on_sets(found, method):
    """ "red wine −0.3 points (p = 0.972), white wine ...": the differences of one method."""
    return ", ".join(
        f"{set_name(name)} {statistics.points(each.estimate, digits=1)} ({statistics.p_value(each.p)})"
        for (name, other), each in found.items()
        if other == method
    )
