"""The ledger: every published number has a verdict that follows from its numbers, and the table belongs to the code."""

import numpy as np
import pytest

from study import chapters as batch
from study import claims, ledger


@pytest.fixture(scope="module")
def rows():
    return ledger.read()


def test_the_ledger_belongs_to_the_code_and_the_published_numbers(rows):
    assert list(rows.columns) == claims.COLUMNS and not rows[["published", "verdict"]].isna().any().any()
    assert (rows["ours"].isna() == (rows["n"] == 0)).all()  # nothing to compare with: no run separated the classes
    assert set(rows["verdict"]) <= {"exact", "within", "outside"}


def test_every_claim_is_made_in_a_notebook_of_the_report(rows):
    assert set(rows["producer"]) <= {run.target.name for run in batch.notebooks("full").values()}


def test_verdicts_follow_from_the_numbers(rows):
    inside = (rows["low"] <= rows["published"]) & (rows["published"] <= rows["high"])
    counted = rows["source"] == "Hermans 2021"
    assert np.all((rows["verdict"] != "outside") | ~inside)
    assert np.all((rows["verdict"] != "within") | inside)
    assert np.all(rows.loc[counted, "verdict"].eq("exact") == rows.loc[counted, "published"].eq(rows.loc[counted, "ours"]))


def test_percentiles_are_shares(rows):
    shares = rows["percentile"].dropna()
    assert shares.between(0, 1).all()
    assert rows.loc[rows["source"] == "Xu & Zhang 2005", "percentile"].notna().sum() >= 48


def test_every_number_of_the_tables_of_xu_and_zhang_has_a_verdict(rows):
    items = rows.loc[rows["source"] == "Xu & Zhang 2005", "item"].value_counts()
    published = claims.published("xu_zhang_2005")
    counts = published["table"].value_counts()
    settings = {"I": 0, "II": 4, "III": 16}
    assert items["Table I"] == 4 * counts["I"]
    for table in ("II", "III"):
        assert items[f"Table {table}"] == 2 * counts[table] + settings[table]


def test_every_number_of_the_other_sources_has_a_verdict(rows):
    items = rows.groupby("source")["item"].value_counts()
    table = claims.published("akar_ye_2017")
    assert items["Akar & Ye 2017", "Table 3"] >= (table["item"] == "Table 3").sum() == 9
    assert set(table["item"]) <= set(items["Akar & Ye 2017"].index)
    assert set(claims.published("course_page")["item"]) == set(items["Course page"].index)
    assert rows.loc[rows["source"] == "Encyclopedia article", "quantity"].str.startswith("exponent of the growth").sum() >= 1
