"""Claims of Akar & Ye 2017: their numbers, in percent, facts of their set, and their statements, each with a verdict.

Their text is in statements.toml.

ours of Table 3 is the accuracy on the source's split by the one of PROTOCOLS protocols that agrees with most of its numbers;
the interval is that of its distribution over random splits (2.5 to 97.5 percentile). Their optimum is compared with the best
of all settings of the fine grid on their split. Other grids, the sound settings (K + lambda I positive
definite), a criterion that was chosen post hoc, are readings.
"""

import numpy as np
import pandas as pd

from study import claims as ledger
from study.results import store
from study.seeds import experiment, facts, tables
from study.seeds.experiment import CHOICES, MISPRINT, PUBLISHED, PUBLISHED_HARD, SCALINGS
from study.seeds.methods import REFERENCE

SOURCE = {"source": "Akar & Ye 2017", "chapter": "seeds"}
PROTOCOLS = len(SCALINGS) * 4 * len(CHOICES)
"""The variants of the protocol that were tried: scaling, the own neighbour, whose neighbours, which examples train."""


def claims():
    """Akar & Ye 2017: the printed accuracies beside ours, in percent, and facts of their set.

    Table 3 is compared on the source's split, under the protocol that agrees with most of its numbers; intervals are the
    middle 95 % of random splits. The optimum is the best setting of a fine grid on that split, the limit the mean accuracy
    with settings tuned on the training part, the clustering the mean of our best k-means and our best mean shift.
    """
    return pd.concat([ledger.rows(each, **SOURCE) for each in (_accuracy_rows(), _fact_rows())], ignore_index=True)


def readings():
    """The number of Table 3 that is printed with tau = 1/20, with tau = 20; the optimum of other sets of settings, and other
    clusterings; see study.claims."""
    row = _table_3().iloc[[-1]].assign(key=_keys().loc[tuple(MISPRINT[0].values())], reading="τ = 20")
    row = row[["key", "reading", "ours", "low", "high", "n", "percentile"]]
    return _in_percent(pd.concat([row, _optimum_readings(), _clustering_readings()], ignore_index=True))


def _in_percent(rows):
    rates = ["ours", "low", "high"]
    return rows.assign(**(100 * rows[rates]).round(2), percentile=rows["percentile"].round(4))


def _accuracy_rows():
    """Table 3 and the three numbers of the section Result and Analysis."""
    ours = pd.concat([_table_3_rows(), _text_rows()], ignore_index=True)
    found = ledger.beside(experiment.published_numbers(), _in_percent(ours))
    settings = int(facts.optima(PUBLISHED).finest["settings"])
    return found.assign(quantity=[each.format(settings=settings) for each in found["quantity"]])


def _table_3():
    return facts.accuracies(PUBLISHED).nine.assign(n=experiment.table_3_splits(PUBLISHED)["n"].iloc[0])


def _keys():
    """The keys of the numbers of Table 3, by setting."""
    return experiment.published_numbers().query("item == 'Table 3'").set_index(tables.SETTING)["key"]


def _table_3_rows():
    """Ours of Table 3, by key."""
    rows = _table_3().merge(_keys().reset_index(), on=tables.SETTING)
    misprint = np.all([rows[name] == value for name, value in MISPRINT[0].items()], axis=0)
    found = facts.misprint(PUBLISHED).table.set_index("changed")
    tau, ks, lams = (found.loc[name] for name in ("τ", "k", "λ"))
    why = ledger.explanations("seeds")
    explained = why["misprinted"].format(tried=tau["tried"], value=tau["values"][0], ks=ks["tried"], lams=lams["tried"])
    return rows[["key", "ours", "low", "high", "n", "percentile"]].assign(
        interval_of=f"{PUBLISHED.n_splits:,} random splits, 2.5 to 97.5 percentile; ours is the one split of the source",
        choices=PROTOCOLS,
        explanation=np.where(misprint, explained, why["searched"].format(n=PROTOCOLS)),
    )


def _text_rows():
    """Ours of the three numbers of the section Result and Analysis, by key."""
    optima = facts.optima(PUBLISHED)
    finest, fine, coarse = optima.finest, optima.fine, optima.coarse
    methods = experiment.methods(PUBLISHED)["methods"]
    methods = methods[methods["method"] == f"{REFERENCE}, tuned"]
    tuned = 1 - methods["errors"] / methods["n"]
    low, high = np.percentile(tuned, [2.5, 97.5])
    n = int(methods["n"].iloc[0])
    limit = experiment.published_numbers().set_index("key").loc["akar-ye-2017/limit", "published"] / 100
    why = ledger.explanations("seeds")
    reason = why["optimum"].format(
        better=int(finest["better"]), settings=int(finest["settings"]), sound_better=int(fine["better"]),
        sound=int(fine["settings"]), best=100 * fine["best"], coarse=int(coarse["settings"]),
    )  # fmt: skip
    rows = [
        {"key": "optimum", **ledger.exactly(finest["best"]), "n": n, "choices": PROTOCOLS, "explanation": reason},
        {
            "key": "limit", "ours": tuned.mean(), "low": low, "high": high, "n": n,
            "percentile": tables.printed_percentile(tuned, limit),
            "interval_of": f"{len(tuned)} random splits, 2.5 to 97.5 percentile",
        },
        {
            "key": "clustering", **ledger.exactly(_clusters()[["k-means", "mean shift"]].mean()),
            "n": int(experiment.clustering(PUBLISHED)["n"].iloc[0]), "explanation": why["clustering"],
        },
    ]  # fmt: skip
    return pd.DataFrame(rows).assign(key=lambda rows: "akar-ye-2017/" + rows["key"])


def _fact_rows():
    """Counts of its set that the source states, and the variance to which it brings attributes."""
    printed = store.published("akar_ye_2017_facts")
    values = _facts()
    n = int(values["examples"])
    ours = [{"key": row.key, "n": n} | ledger.exactly(values[row.fact]) for row in printed.itertuples()]
    training = values["variance of attributes of length 1 over the training part"]
    reason = ledger.explanations("seeds")["variance"].format(n=n, training=training)
    found = ledger.beside(printed, ours)
    return found.assign(explanation=np.where(found["fact"].str.startswith("variance"), reason, ""))


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
    """Akar & Ye 2017: claims in words, each with a verdict computed from our numbers.

    Claims on their own definitions, on facts of the set, and quoted from others are in the chapter and have no verdict.
    """
    found = {
        "chosen": facts.verdict_chosen(facts.compared(PUBLISHED).differences),
        "sensitive": facts.verdict_sensitive(facts.neighbouring(PUBLISHED)),
        "limited": facts.verdict_limited(facts.compared(PUBLISHED).reached),
        "wine": facts.verdict_wine(experiment.hard(PUBLISHED_HARD)),
    }
    return ledger.statement_rows("seeds", found, chapter="seeds")
