"""Claims of Akar & Ye 2017: their numbers, in percent, facts of their set, and their statements, each with a verdict.

Words stand in statements.toml.

ours of Table 3 is the accuracy on the source's split by the one of PROTOCOLS protocols that agrees with most of its numbers;
the interval is that of its distribution over random splits (2.5 to 97.5 percentile). Their optimum is compared with the best
of all settings of the fine grid on their split. Other grids, the sound settings (K + lambda I positive
definite), a criterion that was chosen post hoc, are readings.
"""

import numpy as np
import pandas as pd

from study import claims as ledger
from study import datasets
from study.results import store
from study.seeds import experiment, facts, tables
from study.seeds.experiment import CHOICES, MISPRINT, PUBLISHED, PUBLISHED_HARD, SCALINGS
from study.seeds.facts import DISCRIMINANT, LINEAR, VECTORS
from study.seeds.methods import MAJORITY, MILDER, REFERENCE
from study.words import interval, number, percent, rate_interval, size

SOURCE = {"source": "Akar & Ye 2017", "chapter": "seeds"}
PERCENT = ["published", "ours", "low", "high"]
PROTOCOLS = len(SCALINGS) * 4 * len(CHOICES)
"""The variants of the protocol that were tried: scaling, the own neighbour, whose neighbours, which examples train."""


def claims():
    """The rows of the ledger; see study.claims."""
    numbers = experiment.published_numbers()
    rows = pd.concat([_table_3_rows(numbers), _text_rows(numbers)], ignore_index=True)
    rows[PERCENT] = (100 * rows[PERCENT]).round(2)
    rows["percentile"] = rows["percentile"].round(4)
    found = [ledger.rows(each, **SOURCE) for each in (rows, _fact_rows())]
    return pd.concat(found, ignore_index=True)


def readings():
    """The ninth number of Table 3 with tau = 20 instead of 1/20, the optimum of other sets of settings, and other
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
    return facts.accuracies(PUBLISHED).nine.assign(n=experiment.table_3_splits(PUBLISHED)["n"].iloc[0])


def _table_3_rows(numbers):
    rows = _table_3()[:-1].reset_index(drop=True)
    named = [f"test accuracy (%), λ = {row.lam:g}, τ = {row.tau:g}, k = {row.k}" for row in rows.itertuples()]
    misprint = np.all([rows[name] == value for name, value in MISPRINT[0].items()], axis=0)
    found = facts.misprint(PUBLISHED).table.set_index("changed")
    tau, ks, lams = (found.loc[name] for name in ("τ", "k", "λ"))
    why = ledger.explanations("seeds")
    explained = why["misprinted"].format(tried=tau["tried"], value=tau["values"][0], ks=ks["tried"], lams=lams["tried"])
    return rows.assign(
        key=[_key(row) for _, row in rows.iterrows()],
        item="Table 3",
        quantity=named,
        decimals=numbers["decimals"][: len(rows)],
        interval_of=f"{PUBLISHED.n_splits:,} random splits, 2.5 to 97.5 percentile; ours is the one split of the source",
        choices=PROTOCOLS,
        explanation=np.where(misprint, explained, why["searched"].format(n=PROTOCOLS)),
    ).drop(columns=["lam", "tau", "k", "mean", "sd", "smallest_eigenvalue", "indefinite"])


def _text_rows(numbers):
    """The three numbers of the section Result and Analysis."""
    size = int(experiment.clustering(PUBLISHED)["n"].iloc[0])
    optima = facts.optima(PUBLISHED)
    methods = experiment.methods(PUBLISHED)["methods"]
    methods = methods[methods["method"] == f"{REFERENCE}, tuned"]
    tuned = 1 - methods["errors"] / methods["n"]
    n = int(methods["n"].iloc[0])
    kinds = _clusters()
    optimum, limit, clusters = (row for _, row in numbers[numbers["item"] != "Table 3"].iterrows())
    finest, fine, coarse = optima.finest, optima.fine, optima.coarse
    middle = np.percentile(tuned, [2.5, 97.5])
    both = kinds[["k-means", "mean shift"]].mean()
    best = finest["best"]
    what = f"best of {int(finest['settings']):,} settings of a fine grid, on the source's split"
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
    why = ledger.explanations("seeds")
    reason = why["optimum"].format(
        better=int(finest["better"]), settings=int(finest["settings"]), sound_better=int(fine["better"]),
        sound=int(fine["settings"]), best=100 * fine["best"], coarse=int(coarse["settings"]),
    )  # fmt: skip
    return table.assign(
        percentile=[np.nan, tables.printed_percentile(tuned, table["published"][1]), np.nan],
        interval_of=["", f"{len(tuned)} random splits, 2.5 to 97.5 percentile", ""],
        explanation=[reason, "", why["clustering"]],
        comparable=[True, True, False],
    )


def _fact_rows():
    """Counts that the source states, facts of its set or its split, and the variance to which it brings attributes."""
    table = store.published("akar_ye_2017_facts")
    values = _facts()
    values["wine attributes"] = float(len(datasets.registered("winequality-red").feature_names))
    ours = table["fact"].map(values)
    of_variance = table["key"] == "variance"
    training = values["variance of attributes of length 1 over the training part"]
    reason = ledger.explanations("seeds")["variance"].format(n=int(values["examples"]), training=training)
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
    optima = facts.optima(PUBLISHED).table.reset_index()
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

    Its statements on its own definitions, on facts of the set, and from others are in the chapter and have no verdict.
    """
    found = {
        "chosen": on_choice(facts.compared(PUBLISHED).differences),
        "sensitive": on_sensitivity(facts.neighbouring(PUBLISHED)),
        "limited": on_limit(facts.compared(PUBLISHED).reached),
        "wine": on_wine(experiment.hard(PUBLISHED_HARD)),
    }
    return ledger.statement_rows("seeds", {f"akar-ye-2017/{key}": each for key, each in found.items()}, chapter="seeds")


def on_choice(found):
    """Whether the classifier errs less than linear methods and support vector machines (tables.against), by test."""
    rivals = {"linear": DISCRIMINANT, "perceptron": LINEAR, "machine": VECTORS, "tuned": f"{VECTORS}, tuned"}
    told = {found[name].word("lower", "higher", "") for name in rivals.values()}
    verdict = {("lower",): "does not hold", ("higher",): "holds"}.get(tuple(told - {""}), "cannot be told")
    values = {f"{place}_interval": interval(found[name], 1) for place, name in rivals.items()}
    return verdict, values | {"linear": size(found[DISCRIMINANT], 1)}


def on_sensitivity(found):
    """Whether settings that differ in tau or k alone differ in error (facts.neighbouring), by test."""
    sound = found.named[found.named["sound"]]
    unsound = found.named[~found.named["sound"]]
    if sound["told"].any():
        verdict = "holds"
    else:
        verdict = "holds in part" if unsound["told"].any() else "cannot be told"
    sizes = [size(each, 1) for each in found.near]
    ends = {"least": min(sizes, key=float, default=""), "most": max(sizes, key=float, default="")}
    return verdict, {"sound": len(sound), "unsound": len(unsound), "reach": number(100 * found.reach, 1), **ends}


def on_limit(found, limit=0.905):
    """Whether an accuracy keeps a limit, to which a printed "about 90 %" rounds, with its whole interval."""
    verdict = "holds" if found.high <= limit else "does not hold" if found.low > limit else "cannot be told"
    return verdict, {"accuracy": percent(found.estimate, 1), "interval": rate_interval(found, 1)}


def on_wine(hard):
    """Whether the kernel classifies wine no better than the most frequent grade does, and a network is needed, by test."""
    majority = tables.hard_against(hard, MAJORITY, [REFERENCE, MILDER])
    network = facts.network(hard)
    milder = {found.word("lower", "higher", "") for (_, method), found in majority.items() if method == MILDER}
    machine = {found.word("lower", "higher", "") for (_, method), found in network.items() if method == VECTORS}
    classified = milder == {"lower"}
    needless = "lower" in machine and "higher" not in machine
    values = {
        "red_milder": size(majority["winequality-red", MILDER], 1),
        "white_milder": size(majority["winequality-white", MILDER], 1),
        "red_machine": size(network["winequality-red", VECTORS], 1),
    }
    return {2: "does not hold", 1: "holds in part", 0: "cannot be told"}[classified + needless], values
