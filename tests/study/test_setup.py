"""The ledger in numbers, and the tables of the set-up."""

import pandas as pd

from study import claims
from study.reading import NOTES
from study.results import costs
from study.setup import tables

LEDGER = pd.DataFrame(
    {
        "source": ["Hermans 2021"] * 3 + ["Akar & Ye 2017"] * 2,
        "verdict": ["exact", "outside", "within", "exact", "not comparable"],
        "choices": [1, 1, 1, 48, 7],
    }
)
STATEMENTS = pd.DataFrame({"source": "Hermans 2021", "verdict": ["holds", "undecided"]})


def test_sources_are_counted_in_order_and_together():
    table = claims.by_source(LEDGER, STATEMENTS)
    columns = ["numbers", "exact", "outside", "within", "not comparable", "statements", "of these after a search"]
    assert table[columns].to_dict("index") == {
        "Hermans 2021": dict(zip(columns, (3, 1, 1, 1, 0, 2, 0), strict=True)),
        # An exact number of 48 tries; what is not compared does not count.
        "Akar & Ye 2017": dict(zip(columns, (2, 1, 0, 0, 1, 0, 1), strict=True)),
        "all": dict(zip(columns, (5, 2, 1, 1, 1, 2, 1), strict=True)),
    }


def test_the_set_up_is_read_from_registry_and_lock():
    sets = tables.data_sets().set_index("dataset")
    (name,) = (name for name in sets.index if name.startswith("MNIST"))
    assert sets.loc[name, ["training", "test", "attributes", "classes"]].tolist() == [60_000, 10_000, 784, 10]
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
    monkeypatch.setattr("study.reading.ROOT", tmp_path)
    monkeypatch.setenv(NOTES, str(tmp_path / "notes"))
    tables.computing()
    assert (tmp_path / "notes").read_text().split() == ["mnist_computing.csv", "claims_computing.csv"]
