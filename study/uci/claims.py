"""The claims of Xu & Zhang 2005, Tables I to III: every published number beside ours (see study.claims).

Degenerate are the facts of the data sets, a rate of 0.00 that is 0.00 in all our repeats, with its standard deviation, and a
chosen parameter where our choices span all candidates. The distributions are those over repeated cross-validations; the
readings are the protocol variants.
"""

import pandas as pd

from study.claims import rows
from study.uci import tables
from study.uci.experiment import PUBLISHED, everything
from study.uci.source import KERNELS, SPLITS, setting

SOURCE, PREFIX = "Xu & Zhang 2005", "xu-zhang-2005"
DECIMALS = 4
"""To which ours, low, high and percentile are rounded."""
CHOSEN = {
    ("vowel", "linear", "iterations"): "few repeats; after the first thousand iterations the test error has no trend",
    ("iris", "rbf", "parameter"): "wider kernels have the smaller test errors on our folds",
    ("wine", "poly", "parameter"): "the training sets are linearly separable, and low degrees have the smaller test errors",
}
"""What is known of chosen parameters that lie outside."""


def claims(results=None):
    """Rows of the ledger for Tables I to III; rates in percent. n is the number of repeats, or of examples in a set.

    results: {name: table} of the experiments, those published by default. Raises StaleResult where one is stale.
    """
    results = everything(PUBLISHED) if results is None else results
    frames = [
        _facts(tables.table_1(results["sets"])),
        _cited(tables.table_1_errors(results["baselines"])),
        _chosen(tables.chosen_parameters(results)),
        _rates(tables.by_variant(results)),
    ]
    frame = pd.concat(frames, ignore_index=True)
    frame = frame.round(dict.fromkeys(("ours", "low", "high", "percentile"), DECIMALS)).fillna({"explanation": ""})
    found = rows(frame, source=SOURCE, chapter="uci_summary")
    # An explanation is for what lies outside.
    return found.assign(explanation=found["explanation"].where(found["verdict"] == "outside", ""))


def readings(results=None):
    """The published rates under each protocol variant: columns key, reading, ours, low, high, n, percentile."""
    results = everything(PUBLISHED) if results is None else results
    compared = tables.by_variant(results)
    compared = compared[compared["variant"] != tables.BASE]
    frame = compared.assign(key=compared.apply(_rate_key, axis=1)).rename(columns={"variant": "reading", "repeats": "n"})
    frame = frame[["key", "reading", "ours", "low", "high", "n", "percentile"]].reset_index(drop=True)
    return frame.round(dict.fromkeys(("ours", "low", "high", "percentile"), DECIMALS))


def _facts(table):
    found = []
    for row in table.to_dict("records"):
        for name in ("dimension", "classes", "size"):
            published, ours = row[f"{name}, published"], row[name]
            numbers = {"published": published, "ours": ours, "low": ours, "high": ours, "n": row["size"], "decimals": 0}
            head = _head("I", row["dataset"], name, f"{row['dataset']}: {name}")
            found.append(head | numbers | {"degenerate": published == ours, "explanation": "the file differs"})
    return pd.DataFrame(found)


def _cited(table):
    words = "smallest error of other methods, mean over folds (%)"
    why = "the page that the source cites is gone; ours is the best of five methods of today, not of the methods cited"
    heads = [_head("I", name, "error", f"{name}: {words}") for name in table["dataset"]]
    return _beside(table, heads).assign(decimals=2, degenerate=False, explanation=why)


def _chosen(table):
    heads, why = [], []
    for row in table.itertuples():
        name = {"poly": "degree p", "rbf": "width sigma"}[row.kernel] if row.quantity == "parameter" else row.quantity
        words = f"{row.dataset}: {KERNELS[row.kernel]} perceptron, {name} chosen by the smallest test error"
        heads.append(_head(row.table, row.dataset, f"{row.kernel}/{row.quantity}", words))
        why.append(CHOSEN.get((row.dataset, row.kernel, row.quantity), "not known"))
    marks = {"decimals": table["decimals"], "degenerate": table["degenerate"], "explanation": why}
    return _beside(table, heads).assign(**marks)


def _rates(by_variant):
    table = by_variant[by_variant["variant"] == tables.BASE].reset_index(drop=True)
    under = tables.explained(by_variant).set_index("number")["inside under"]
    heads, why = [], []
    for row in table.to_dict("records"):
        method = f"{KERNELS[row['kernel']]} perceptron"
        if row["kernel"] != "linear":
            method += f", {setting(row['kernel'], row['parameter'])}"
        statistic = {"mean": "mean", "sd": "standard deviation"}[row["statistic"]]
        words = f"{method}, {row['iterations']} iterations, {SPLITS[row['split']]} error, {statistic} over folds (%)"
        head = _head(row["table"], row["dataset"], "", f"{row['dataset']}: {words}")
        heads.append(head | {"key": _rate_key(row)})
        variants = under.get(tables.name_of(row), "")
        why.append(f"inside under: {variants}" if variants else "outside under every single variant of the protocol")
    marks = {"decimals": 2, "degenerate": table["verdict"] == "degenerate", "explanation": why}
    return _beside(table, heads).assign(**marks)


def _beside(table, heads):
    numbers = table[["published", "ours", "low", "high", "percentile"]].assign(n=table["repeats"])
    return pd.concat([pd.DataFrame(heads), numbers], axis=1)


def _head(table, dataset, quantity, words):
    name = dataset.removesuffix("-bundled")
    number = {"I": 1, "II": 2, "III": 3}[table]
    key = f"{PREFIX}/table-{number}/{name}/{quantity}"
    return {"key": key, "item": f"Table {table}", "quantity": words, "chapter": f"uci_{name}"}


def _rate_key(row):
    number = {"II": 2, "III": 3}[row["table"]]
    return f"{PREFIX}/table-{number}/{row['dataset']}/{row['kernel']}/{row['split']}-{row['statistic']}"
