"""The ledger: one row for every published number, with a verdict that follows from its numbers."""

import numpy as np
import pandas as pd
import pytest

from study import chapters, claims
from study import ledger as everything
from study.results import code, store


@pytest.fixture(scope="module")
def stored():
    return claims.stored()


@pytest.fixture(scope="module")
def ledger(stored):
    return stored[0]


def test_every_claim_has_a_key_a_verdict_the_chapter_that_argues_it_and_all_that_it_rests_on(ledger):
    assert tuple(ledger.columns) == claims.COLUMNS
    whole = [
        name for name in claims.COLUMNS if name not in ("ours", "low", "high", "interval_of", "percentile", "explanation")
    ]
    assert not ledger[whole].isna().any().any(), ledger.isna().sum().to_dict()
    assert set(ledger["chapter"]) <= {chapter.name for chapter in chapters.CHAPTERS}
    compared = ledger[ledger["verdict"] != "not comparable"]
    assert not compared[["ours", "low", "high"]].isna().any().any() and (compared["low"] <= compared["high"]).all()
    assert ledger["kind"].isin(claims.KINDS).all()
    words = ledger[["interval_of", "explanation"]].fillna("")
    assert words.loc[ledger["high"] > ledger["low"], "interval_of"].str.len().gt(4).all()
    unlike = ledger["verdict"].isin(["outside", "not comparable"])
    assert words.loc[unlike, "explanation"].str.len().gt(10).all()


def test_a_column_that_only_some_rows_fill_has_its_default_in_the_others():
    row = {
        "key": "a", "item": "i", "quantity": "q", "published": 1.0, "ours": 1.0, "low": 1.0, "high": 1.0, "n": 1,
        "interval_of": "",
    }  # fmt: skip
    marked = row | {"key": "b", "same_data": False, "choices": 48, "comparable": False, "explanation": "other data"}
    found = claims.rows(pd.concat([pd.DataFrame([each]) for each in (row, marked)]), source="S", chapter="seeds")
    assert found["same_data"].tolist() == [True, False] and found["choices"].tolist() == [1, 48]
    assert found["verdict"].tolist() == ["exact", "not comparable"] and found["explanation"].tolist() == ["", "other data"]


def test_a_number_that_agrees_after_more_than_one_try_was_found_by_a_search():
    frame = pd.DataFrame({"verdict": ["exact", "exact", "within", "outside"], "choices": [1, 48, 55, 48]})
    assert claims.searched(frame).tolist() == [False, True, True, False]


def test_one_rule_gives_all_verdicts(stored):
    ledger, readings, _ = stored
    numbers = [ledger[name] for name in ("published", "ours", "low", "high")]
    expected = claims.verdict(*numbers, decimals=ledger["decimals"], comparable=ledger["verdict"] != "not comparable")
    assert list(ledger["verdict"]) == list(expected)
    assert set(readings["key"]) <= set(ledger["key"]) and not readings.duplicated(["key", "reading"]).any()
    again = claims.readings_rows(readings.drop(columns="verdict"), ledger)
    assert list(again["verdict"]) == list(readings["verdict"])


def test_every_statement_has_one_verdict_and_what_it_rests_on(stored):
    statements = stored[2]
    assert tuple(statements.columns) == claims.STATEMENTS
    assert not statements.isna().any().any() and set(statements["verdict"]) <= set(claims.STATEMENT_VERDICTS)
    assert set(statements["chapter"]) <= {chapter.name for chapter in chapters.CHAPTERS}
    assert statements["evidence"].str.len().gt(20).all()


def test_statements_of_a_source_with_the_same_name_or_words_are_judged_twice():
    frame = pd.DataFrame(
        {
            "source": ["S", "S", "S", "T"],
            "key": ["s/plane/simplest", "s/sets/simplest", "s/b", "t/plane/simplest"],
            "statement": ["It is the simplest.", "other", "it is the simplest", "It is the simplest."],
        }
    )
    assert claims.judged_twice(frame) == ["s/plane/simplest", "s/sets/simplest", "s/b"]
    assert claims.judged_twice(frame.iloc[[0, 3]]) == []


def test_every_number_of_the_tables_of_two_sources_has_one_row(ledger):
    source = ledger["source"] == "Xu & Zhang 2005"
    printed = ledger.loc[source & ledger["item"].str.startswith("Table"), "key"].tolist()
    assert printed == store.published("xu_zhang_2005")["key"].tolist()
    assert (ledger.loc[ledger["source"] == "Akar & Ye 2017", "item"] == "Table 3").sum() == 9


def test_a_printed_number_meets_ours_by_its_key_once():
    printed = pd.DataFrame({"key": ["a", "b", "c"], "published": [1.0, 2.0, 3.0]})
    found = claims.beside(printed, [{"key": "c"} | claims.exactly(3.0), {"key": "a"} | claims.exactly(1.5)])
    assert found[["key", "published", "ours", "low"]].to_numpy().tolist() == [["a", 1, 1.5, 1.5], ["c", 3, 3, 3]]
    with pytest.raises(pd.errors.MergeError):
        claims.beside(printed, [{"key": "a"}, {"key": "a"}])


@pytest.mark.parametrize(
    ("numbers", "decimals", "word"),
    [
        ((14.5, 14.55, 10, 20), 1, "exact"),
        ((14.5, 15.0, 14.54, 20), 1, "within"),
        ((14.5, 15.0, 14.56, 20), 1, "outside"),
        ((154, 155, 155, 155), 0, "outside"),
    ],
)
def test_a_printed_number_stands_for_all_that_round_to_it(numbers, decimals, word):
    assert claims.verdict(*numbers, decimals=decimals) == word
    assert claims.verdict(*numbers, decimals=decimals, comparable=False) == "not comparable"


@pytest.mark.parametrize(
    ("parts", "verdict"),
    [
        ([True, True], "holds"), ([1.0], "holds"), ([True, False], "holds in part"), ([0.2], "holds in part"),
        ([False, 0.0], "does not hold"), (iter([np.True_, np.False_]), "holds in part"),
    ],
)  # fmt: skip
def test_a_statement_of_several_parts_holds_where_all_do(parts, verdict):
    assert claims.of_parts(parts) == verdict


def test_a_statement_has_its_words_in_a_file_and_its_verdict_from_the_results(tmp_path, monkeypatch):
    monkeypatch.setattr(claims, "ROOT", tmp_path)
    folder = tmp_path / "study" / "seeds"
    folder.mkdir(parents=True)
    words = """
[[statement]]
key = "a"
source = "S"
place = "p"
says = "s"
verdict = "holds"
evidence = "It is {rate:.1%}."
[explanations]
x = "why"
"""
    (folder / "statements.toml").write_text(words, encoding="utf-8")
    found = claims.statement_rows("seeds", {"a": ("holds", {"rate": 0.5})}, chapter="seeds")
    assert tuple(found.columns) == claims.STATEMENTS and found["evidence"].tolist() == ["It is 50.0%."]
    assert claims.explanations("seeds") == {"x": "why"}
    with pytest.raises(
        ValueError, match="a: the written verdict must be that of the results.*written 'holds', found 'does not hold'"
    ):
        claims.statement_rows("seeds", {"a": ("does not hold", {"rate": 0.5})}, chapter="seeds")
    with pytest.raises(ValueError, match="must have the same keys, got a, b"):
        claims.statement_rows("seeds", {"b": ("holds", {})}, chapter="seeds")


def test_equal_values_count_half_in_the_percentile():
    assert claims.percentile([1, 2, 2, 3], 2) == 0.5 and claims.percentile([1, 2], 5) == 1 and claims.percentile([1], 0) == 0


def test_all_that_verdicts_are_made_from_is_an_input_of_the_ledger():
    reached = set(code.reached(code.program(everything.ledger)))
    read = [each for each in chapters.all_experiments() if each.__module__ in reached and each is not everything.ledger]
    files = {path for each in read for path in each.stored_files() if path.parent.name != "measured"}
    assert len(read) > 20 and {path.suffix for path in files} == {".csv", ".npz"}
    assert files <= set(everything.inputs())
    assert "study.datasets" in reached
