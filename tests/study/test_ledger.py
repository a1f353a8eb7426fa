"""The ledger: one row for every published number, with a verdict that follows from its numbers."""

import importlib

import numpy as np
import pandas as pd
import pytest

from study import chapters, claims, datasets, definitions
from study import ledger as everything
from study.experiment import Experiment


@pytest.fixture(scope="module")
def ledger():
    return claims.stored()[0]


@pytest.fixture(scope="module")
def readings():
    return claims.stored()[1]


@pytest.fixture(scope="module")
def statements():
    return claims.stored()[2]


def test_every_claim_has_a_key_a_verdict_and_the_chapter_that_argues_it(ledger):
    assert tuple(ledger.columns) == claims.COLUMNS and ledger["key"].is_unique
    assert not ledger[["key", "published", "decimals", "verdict", "chapter"]].isna().any().any()
    assert set(ledger["chapter"]) <= {chapter.name for chapter in chapters.CHAPTERS}


def test_every_column_is_complete(ledger):
    """ours and its interval are missing only where nothing is compared; the rest has its own test or is always there."""
    whole = set(claims.COLUMNS) - {"ours", "low", "high", "interval_of", "percentile", "explanation"}
    assert not ledger[sorted(whole)].isna().any().any(), ledger.isna().sum().to_dict()
    compared = ledger[ledger["verdict"] != "not comparable"]
    assert not compared[["ours", "low", "high"]].isna().any().any()
    assert ledger["same_data"].isin([True, False]).all() and (ledger["low"] <= ledger["high"])[compared.index].all()


def test_a_column_that_only_some_rows_fill_has_its_default_in_the_others():
    row = {
        "key": "a", "item": "i", "quantity": "q", "published": 1.0, "ours": 1.0, "low": 1.0, "high": 1.0, "n": 1,
        "interval_of": "",
    }  # fmt: skip
    marked = row | {"key": "b", "same_data": False, "choices": 48, "comparable": False, "explanation": "other data"}
    found = claims.rows(pd.concat([pd.DataFrame([each]) for each in (row, marked)]), source="S", chapter="seeds")
    assert found["same_data"].tolist() == [True, False] and found["choices"].tolist() == [1, 48]
    assert found["verdict"].tolist() == ["exact", "not comparable"] and found["explanation"].tolist() == ["", "other data"]


def test_a_number_found_by_a_search_is_called_so():
    frame = pd.DataFrame({"verdict": ["exact", "exact", "within", "outside"], "choices": [1, 48, 55, 48]})
    assert claims.in_words(frame).tolist() == [
        "exact",
        "exact, after a search of 48",
        "within, after a search of 55",
        "outside",
    ]
    assert claims.searched(frame).tolist() == [False, True, True, False]


RESTATEMENTS = ("have the smaller test errors", "test error has no trend", "lies outside", "differs from ours")
"""Words that say again that a number does not agree, and not why."""


def test_no_explanation_only_restates_its_row(ledger):
    given = ledger.loc[ledger["verdict"].isin(["outside", "not comparable"]), "explanation"].fillna("")
    assert [text for text in given if any(words in text for words in RESTATEMENTS)] == []


def test_one_rule_gives_all_verdicts(ledger, readings):
    marks = {"degenerate": ledger["verdict"] == "degenerate", "comparable": ledger["verdict"] != "not comparable"}
    numbers = [ledger[name] for name in ("published", "ours", "low", "high")]
    expected = claims.verdict(*numbers, decimals=ledger["decimals"], **marks)
    assert list(ledger["verdict"]) == list(expected)
    again = claims.readings_rows(readings.drop(columns="verdict"), ledger)
    assert list(again["verdict"]) == list(readings["verdict"])


def test_what_is_outside_has_an_explanation_and_readings_belong_to_rows(ledger, readings):
    outside = ledger[ledger["verdict"].isin(["outside", "not comparable"])]
    assert outside["explanation"].fillna("").str.len().gt(10).all(), outside.loc[
        outside["explanation"].isna(), "key"
    ].tolist()
    assert set(readings["key"]) <= set(ledger["key"]) and not readings.duplicated(["key", "reading"]).any()


def test_an_interval_says_what_it_is_of(ledger):
    wide = ledger["high"] > ledger["low"]
    assert ledger.loc[wide, "interval_of"].fillna("").str.len().gt(4).all(), ledger.loc[
        wide & ledger["interval_of"].isna(), "key"
    ].tolist()
    assert ledger["kind"].isin(claims.KINDS).all() and (ledger["choices"] >= 1).all()


def test_every_statement_has_a_verdict_and_what_it_rests_on(statements):
    assert tuple(statements.columns) == claims.STATEMENTS and statements["key"].is_unique
    assert not statements.isna().any().any() and set(statements["verdict"]) <= set(claims.STATEMENT_VERDICTS)
    assert set(statements["chapter"]) <= {chapter.name for chapter in chapters.CHAPTERS}
    assert statements["evidence"].str.len().gt(20).all()


def test_only_theses_are_judged(statements):
    """No definitions, identities, theorems, misprints, and nothing that no measurement bears on."""
    counts = statements.groupby("source").size()
    assert counts[["Akar & Ye 2017", "Course page", "Encyclopedia article"]].tolist() == [4, 3, 3]


def test_no_statement_of_a_source_is_judged_twice(statements):
    assert claims.judged_twice(statements) == []
    row = {"source": "S", "key": "s/plane/simplest", "statement": "It is the simplest."}
    named, worded = (
        row | {"key": "s/sets/simplest", "statement": "other"},
        row | {"key": "s/b", "statement": "it is the simplest"},
    )
    elsewhere = row | {"source": "T", "key": "t/plane/simplest"}
    frame = pd.DataFrame([row, named, worded, elsewhere])
    assert claims.judged_twice(frame) == ["s/plane/simplest", "s/sets/simplest", "s/b"]
    assert claims.judged_twice(frame.iloc[[0, 3]]) == []


def test_percentiles_are_shares(ledger):
    assert ledger["percentile"].dropna().between(0, 1).all()
    assert ledger.loc[ledger["source"] == "Xu & Zhang 2005", "percentile"].notna().sum() >= 48


def test_every_count_of_hermans_comes_out_exactly(ledger):
    counts = ledger[(ledger["source"] == "Hermans 2021") & ledger["item"].str.startswith("Fig.")]
    assert len(counts) == 360 and (counts["verdict"] == "exact").all()
    assert np.array_equal(counts["published"], counts["ours"])


def test_every_number_of_the_tables_of_xu_and_zhang_has_one_row(ledger):
    found = ledger[ledger["source"] == "Xu & Zhang 2005"].groupby("item").size()
    table = claims.published("xu_zhang_2005")
    rates = table[table["table"] != "I"].groupby("table").size()
    assert found["Table II"] >= 2 * rates["II"] and found["Table III"] >= 2 * rates["III"]


def test_every_accuracy_of_akar_and_ye_has_one_row(ledger):
    found = ledger[ledger["source"] == "Akar & Ye 2017"]
    assert (found["item"] == "Table 3").sum() == 9


@pytest.mark.parametrize(
    ("numbers", "decimals", "word"),
    [
        ((14.5, 14.46, 10, 20), 1, "exact"),
        ((14.5, 14.55, 10, 20), 1, "exact"),
        ((14.5, 14.56, 10, 20), 1, "within"),
        ((14.5, 15.0, 14.54, 20), 1, "within"),
        ((14.5, 15.0, 14.56, 20), 1, "outside"),
        ((14.5, 9.0, 5, 14.44), 1, "outside"),
        ((154, 154, 130, 180), 0, "exact"),
        ((154, 155, 155, 155), 0, "outside"),
    ],
)
def test_a_printed_number_stands_for_all_that_round_to_it(numbers, decimals, word):
    assert claims.verdict(*numbers, decimals=decimals) == word
    assert claims.verdict(*numbers, decimals=decimals, degenerate=True) == "degenerate"
    assert claims.verdict(*numbers, decimals=decimals, comparable=False) == "not comparable"


def test_a_statement_has_its_words_in_a_file_and_its_verdict_from_the_results(tmp_path, monkeypatch):
    monkeypatch.setattr(claims, "ROOT", tmp_path)
    folder = tmp_path / "study" / "seeds"
    folder.mkdir(parents=True)
    words = (
        '[[statement]]\nkey = "a"\nsource = "S"\nplace = "p"\nsays = "s"\nverdict = "holds"\nevidence = "It is {rate:.1%}."'
    )
    (folder / "statements.toml").write_text(f'{words}\n\n[explanations]\nx = "why"\n', encoding="utf-8")
    found = claims.statement_rows("seeds", {"a": ("holds", {"rate": 0.5})}, chapter="seeds")
    assert tuple(found.columns) == claims.STATEMENTS and found["evidence"].tolist() == ["It is 50.0%."]
    assert claims.explanations("seeds") == {"x": "why"}
    with pytest.raises(
        ValueError, match="a: the verdict must be that of the results.*written 'holds', found 'does not hold'"
    ):
        claims.statement_rows("seeds", {"a": ("does not hold", {"rate": 0.5})}, chapter="seeds")
    with pytest.raises(ValueError, match="must have the same keys, got a, b"):
        claims.statement_rows("seeds", {"b": ("holds", {})}, chapter="seeds")


def test_intervals_of_counts_are_exact():
    low, high = claims.interval([0, 5, 10], 10)
    np.testing.assert_allclose(low, [0, 1.87086, 6.91503], atol=1e-5)
    np.testing.assert_allclose(high, [3.08497, 8.12914, 10], atol=1e-5)


def test_equal_values_count_half_in_the_percentile():
    assert claims.percentile([1, 2, 2, 3], 2) == 0.5 and claims.percentile([1, 2], 5) == 1 and claims.percentile([1], 0) == 0


def test_all_that_verdicts_are_made_from_is_an_input_of_the_ledger():
    reached = definitions.reached([everything.ledger])
    found = [getattr(importlib.import_module(module), name, None) for module, name in reached]
    read = [each for each in found if isinstance(each, Experiment) and each is not everything.ledger]
    files = {path for each in read for path in each.stored_files() if path.parent.name != "measured"}
    assert len(read) > 20 and {path.suffix for path in files} == {".csv", ".npz"}
    assert files | {datasets.registry.PATH} <= set(everything.inputs())
    assert ("study.datasets", "load") in reached and everything.ledger.datasets(everything.ledger.published) == ["mnist"]
