"""What stands before the contents: the ledger in numbers, and words that are made of verdicts."""

import pandas as pd
import pytest

from study import claims, costs
from study.front import tables
from study.orders import tables as orders
from study.report import readme
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
    fail = tables.outcomes(table)
    assert fail.loc["Hermans 2021"].to_dict() == {"can_fail": 2, "exact": 1, "good": 1}
    assert tables.accuracies(LEDGER) == 1


def test_the_readme_has_the_answers_of_the_first_page_and_the_counts_of_the_ledger():
    text = readme.README.read_text(encoding="utf-8")
    assert readme.written(text) == text, "run: python -m study notebook front_all --profile full"
    found = readme.answers()
    questions = [
        "**Which degree?**",
        "**Which predictor, after how many epochs?**",
        "**How large is the error when no test image chooses?**",
        "**Are the published numbers reproduced?**",
    ]
    assert len(found) == 6 and all(any(sign.isdigit() for sign in each) for each in found)
    assert [each[: len(question)] for each, question in zip(found, questions, strict=False)] == questions
    numbers, _, statements = claims.stored()
    whole = claims.by_source(numbers, statements).loc["all"]
    assert f"| all | {whole['numbers']} | {whole['exact']} | " in text
    with pytest.raises(ValueError, match="README.md must have the lines"):
        readme.written(text.replace(readme.END, ""))


def test_counts_in_files_must_all_be_exact():
    assert tables.from_files(LEDGER) == (360, 3600, 180)
    with pytest.raises(ValueError, match="must all be exact"):
        tables.from_files(LEDGER.assign(kind="files"))


def test_degrees_are_compared_with_their_sizes():
    assert set(tables.VERBS) == {orders.HIGHER, orders.LOWER, orders.SAME, orders.UNTOLD}
    columns = ["degree", "estimate", "low", "high", "verdict"]
    rows = [(2, 0.0025, 0.002, 0.003, "higher"), (4, 0.0001, -0.0005, 0.0006, "–"), (5, 0.0012, 0.001, 0.0015, "higher")]
    assert tables.by_degree(pd.DataFrame(rows, columns=columns)) == (
        "is higher at degrees 2 (+0.25 points) and 5 (+0.12) and does not differ detectably at degree 4 "
        "(+0.01 points; -0.05 to +0.06)"
    )
    assert tables.sizes(pd.DataFrame(rows, columns=columns)) == ("2 and 5", 0.0012, 0.0025)


def test_statements_and_numbers_come_with_their_reasons():
    assert tables.judged(STATEMENTS, ["h/2", "h/1"])["verdict"].tolist() == ["cannot be told", "holds"]
    assert tables.explained(LEDGER, "outside")["explanation"].tolist() == ["why"]


def test_the_set_up_is_read_from_registry_and_lock():
    sets = tables.data_sets().set_index("data set")
    row = sets[sets.index.str.startswith("MNIST")].iloc[0]
    assert row[["training", "test", "attributes", "classes", "files"]].tolist() == [60_000, 10_000, 784, 10, "downloaded"]
    assert tables.software()["package"].tolist() == list(tables.PACKAGES)
    assert all(len(row) == 2 for row in tables.symbols().itertuples(index=False))


def test_what_computing_takes_is_shown_by_chapter_and_together(monkeypatch, tmp_path):
    monkeypatch.setattr(costs, "MEASURED", tmp_path)
    for name, rows in {"mnist": "a,60,90,3.5\nb,10,30,1.0", "claims": "c,5,6,0.5"}.items():
        costs.path(name).write_text(f"experiment,seconds,processor_seconds,memory\n{rows}\n")
    assert tables.computing().values.tolist() == [
        ["4", "mnist", 2, 2.0, 3.5],
        ["B", "claims", 1, 0.1, 0.5],
        ["", "all", 3, 2.1, 3.5],
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


def test_counts_read_as_a_person_would_write_them():
    row = claims.by_source(LEDGER, STATEMENTS).loc["Hermans 2021"]
    assert tables.parts(row, claims.VERDICTS) == "exact (1), outside (1) and degenerate (1)"
    assert tables.parts(row, claims.STATEMENT_VERDICTS) == "holds (1) and cannot be told (1)"
    assert [tables.counted_as(n, "number", "numbers") for n in (1, 22)] == ["1 number", "22 numbers"]
