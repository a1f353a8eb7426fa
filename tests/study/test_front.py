"""The first page's numbers against plain arithmetic on the stored tables, from what its executed copy and README say."""

import json
import re

import pandas as pd
import pytest

from study import RESULTS, ROOT, chapters
from study.report import readme

CELLS = json.loads(chapters.chapter("front").target("full").read_text(encoding="utf-8"))["cells"]
BOX = next("".join(cell["source"]) for cell in CELLS if "box" in cell["metadata"].get("tags", []))
TABLE = "".join(
    line
    for cell in CELLS
    for output in cell.get("outputs", [])
    for line in output.get("data", {}).get("text/markdown", [])
    if "readme" in cell["metadata"].get("tags", [])
)


@pytest.fixture(scope="module")
def errors():
    """Mean errors in percent by degree, predictor and epoch."""
    runs = pd.read_csv(RESULTS / "mnist_orders.csv")
    return 100 * (runs["errors"] / runs["n"]).groupby([runs["degree"], runs["predictor"], runs["epoch"]]).mean()


def test_one_epoch_is_worse_than_ten_by_the_difference_of_the_stored_means(errors):
    (found,) = re.findall(r"after the first epoch raises the error by ([\d.]+) points at degree 3", BOX)
    assert float(found) == pytest.approx(errors[3, "average", 1] - errors[3, "average", 10], abs=0.006)


@pytest.mark.parametrize("degree", [2, 3])
def test_the_table_has_the_gaps_between_the_stored_means_of_the_final_and_the_average_predictor(errors, degree):
    (row,) = re.findall(rf"^\| {degree} \| ([\d.]+) \(.*?\) \| ([\d.]+) \(", TABLE, re.MULTILINE)
    gaps = [errors[degree, "final", epoch] - errors[degree, "average", epoch] for epoch in (1, 10)]
    assert [float(found) for found in row] == pytest.approx(gaps, abs=0.006)


def test_its_counts_of_numbers_are_those_of_the_ledger():
    verdicts = pd.read_csv(RESULTS / "claims.csv")["verdict"].value_counts()
    agree = verdicts["exact"] + verdicts["within"]
    assert f"Of {agree + verdicts['outside']}, {agree} agree, all counts" in BOX


def test_each_of_eight_results_begins_with_an_advice_and_readme_has_them_in_short_lines():
    assert len(re.findall(r"^\d\. \*\*[^*]+\.\*\*", BOX, re.MULTILINE)) == 8
    found = readme.findings()
    assert len(re.findall(r"^\d\. \*\*", found, re.MULTILINE)) == 8
    links = re.findall(r"\]\(([^)]*)\)", found)
    assert links and all((ROOT / each).is_file() and each.endswith(".ipynb") for each in links)
    assert all(len(line) <= readme.WIDTH for line in found.splitlines() if not line.startswith("|"))
    assert TABLE.replace("&nbsp; |", " |").strip() in found


def test_a_long_line_of_a_list_is_wrapped_under_its_text(monkeypatch):
    monkeypatch.setattr(readme, "WIDTH", 20)
    assert readme._wrapped("2. one two three four five six") == "2. one two three\n   four five six"
    assert readme._wrapped("2. at the most 1.58\N{NO-BREAK SPACE}%") == "2. at the most\n   1.58\N{NO-BREAK SPACE}%"
    assert readme._wrapped("| a table's row that is longer |") == "| a table's row that is longer |"
