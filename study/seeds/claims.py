"""The published numbers of Akar & Ye 2017, in percent: Table 3, its optimum, the limit of the method, and clustering.

ours of Table 3 is the accuracy on the source's split, as recovered; the interval is that of its distribution over random
splits (2.5 to 97.5 percentile). The interval of the clustering is binomial.
"""

import numpy as np
import pandas as pd

from study import claims as ledger
from study.claims import interval
from study.seeds import experiment, tables
from study.seeds.experiment import MISPRINT, PUBLISHED
from study.seeds.methods import REFERENCE

PERCENT = ["published", "ours", "low", "high"]
MISPRINTED = "tau = 20 gives this number exactly, 1/20 is read as its misprint; at 1/20 K is nearly the identity"
NO_OPTIMUM = (
    "some cells of our grid do better on this split, but K + lambda I is not positive definite there in at least "
    "{share:.0%} of the random splits"
)


def claims():
    """The rows of the ledger, twelve; see study.claims."""
    numbers = experiment.published_numbers()
    rows = pd.concat([_table_3_rows(numbers), _text_rows(numbers)], ignore_index=True)
    rows[PERCENT] = (100 * rows[PERCENT]).round(2)
    rows["percentile"] = rows["percentile"].round(4)
    return ledger.rows(rows, source="Akar & Ye 2017", chapter="seeds")


def readings():
    """The ninth number of Table 3 with tau = 20 in place of 1/20; see study.claims."""
    row = _table_3().iloc[[-1]]
    row = row.assign(key=_key(pd.Series(MISPRINT[0])), reading="tau = 20")
    row[PERCENT] = (100 * row[PERCENT]).round(2)
    return row[["key", "reading", "ours", "low", "high", "n", "percentile"]].round({"percentile": 4})


def _key(setting):
    return "akar-ye-2017/table-3/lambda-{lam:g}/tau-{tau:g}/k-{k:g}".format(**setting)


def _table_3():
    splits = experiment.table_3_splits(PUBLISHED)
    return tables.table_3(experiment.protocol_variants(PUBLISHED), splits).assign(n=splits["n"].iloc[0])


def _table_3_rows(numbers):
    rows = _table_3()[:-1].reset_index(drop=True)
    named = [f"test accuracy (%), lambda = {row.lam:g}, tau = {row.tau:g}, k = {row.k}" for row in rows.itertuples()]
    misprint = np.all([rows[name] == value for name, value in MISPRINT[0].items()], axis=0)
    return rows.assign(
        key=[_key(row) for _, row in rows.iterrows()],
        item="Table 3",
        quantity=named,
        decimals=numbers["decimals"][: len(rows)],
        explanation=np.where(misprint, MISPRINTED, ""),
    ).drop(columns=["lam", "tau", "k", "mean", "sd", "smallest_eigenvalue"])


def _text_rows(numbers):
    """The three numbers of the section Result and Analysis."""
    found, n = experiment.surface(PUBLISHED), int(experiment.table_3_splits(PUBLISHED)["n"].iloc[0])
    cells, ceiling = found["surface"], 1 - found["ceiling"]["fewest_errors"] / found["ceiling"]["n"]
    accuracy = 1 - cells["source_split_errors"] / cells["source_split_n"]
    methods = experiment.methods(PUBLISHED)["methods"].query("method == @tuned", local_dict={"tuned": f"{REFERENCE}, tuned"})
    tuned = 1 - methods["errors"] / methods["n"]
    clustering = experiment.clustering(PUBLISHED)
    grouped, size = tables.clusterings(clustering).query("method != 'Ward'").iloc[0], int(clustering["n"].iloc[0])
    optimum, limit, clusters = (row for _, row in numbers[numbers["item"] != "Table 3"].iterrows())
    # Every cell that is better than the published optimum, at the digits of the publication.
    above = cells[accuracy.round(4) > optimum["published"] / 100]
    binomial = np.array(interval(round(grouped["best"] * size), size)) / size
    rows = (
        ("optimum", optimum, "largest over lambda, tau and k on the source's split", accuracy.max(), _middle(ceiling), n),
        ("limit", limit, "mean over random splits, chosen on the training part", tuned.mean(), _middle(tuned), n),
        ("clustering", clusters, f"best of k-means and mean shift ({grouped['method']})", grouped["best"], binomial, size),
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
        }
        for slug, number, what, ours, (low, high), size in rows
    )
    percentiles = [tables.printed_percentile(values, table["published"][i]) for i, values in enumerate((ceiling, tuned))]
    explanation = [NO_OPTIMUM.format(share=above["indefinite"].min()), "", ""]
    return table.assign(percentile=[*percentiles, np.nan], explanation=explanation)


def _middle(values):
    return np.percentile(values, [2.5, 97.5])
