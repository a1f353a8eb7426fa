"""The ledger in numbers, and the tables of the set-up."""

import pandas as pd

from study import claims, costs
from study.front import tables
from study.report.notebooks import inputs

LEDGER = pd.DataFrame(
    {
        "source": ["Hermans 2021"] * 3 + ["Akar & Ye 2017"] * 2,
        "item": ["Fig. 5 (a)", "Table 1", "Table 1", "Table 3", "Table 3"],
        "quantity": list("abcde"),
        "kind": ["files", "printed", "printed", "printed", "printed"],
        "verdict": ["exact", "outside", "degenerate", "exact", "not comparable"],
        "choices": [1, 1, 1, 48, 7],
        "published": 1.0,
        "ours": 2.0,
        "explanation": ["", "why", "", "", "other data"],
    }
)
STATEMENTS = pd.DataFrame(
    {
        "key": ["h/1", "h/2"],
        "source": "Hermans 2021",
        "statement": "s",
        "verdict": ["holds", "cannot be told"],
        "evidence": "e",
    }
)


def test_sources_are_counted_in_order_and_together():
    table = claims.by_source(LEDGER, STATEMENTS)
    assert table.index.tolist() == ["Hermans 2021", "Akar & Ye 2017", "all"]
    assert table.loc["all", ["numbers", "exact", "outside", "degenerate", "not comparable", "statements"]].tolist() == [
        5,
        2,
        1,
        1,
        1,
        2,
    ]
    assert table["of these after a search"].tolist() == [
        0,
        1,
        1,
    ]  # an exact number of 48 tries; what is not compared does not count


def test_the_set_up_is_read_from_registry_and_lock():
    sets = tables.data_sets().set_index("data set")
    row = sets[sets.index.str.startswith("MNIST")].iloc[0]
    assert row[["training", "test", "attributes", "classes", "files"]].tolist() == [60_000, 10_000, 784, 10, "downloaded"]
    assert tables.software()["package"].tolist() == list(tables.PACKAGES)


def test_what_computing_takes_is_shown_by_chapter_and_together(monkeypatch, tmp_path):
    monkeypatch.setattr(costs, "MEASURED", tmp_path)
    for name, rows in {"mnist": "a,60,90,3.5\nb,10,30,1.0", "claims": "c,5,6,0.5"}.items():
        costs.path(name).write_text(f"experiment,seconds,processor_seconds,memory\n{rows}\n")
    assert tables.computing().values.tolist() == [
        ["mnist", 2, 2.0, 3.5],
        ["claims", 1, 0.1, 0.5],
        ["all", 3, 2.1, 3.5],
    ]
    monkeypatch.setattr("study.report.notebooks.ROOT", tmp_path)
    assert (
        inputs("from study.front import tables\ntables.computing()")
        == costs.files()
        == [
            costs.path("claims"),
            costs.path("mnist"),
        ]
    )
