"""The text of a run with own parameters is about that run: values in place, and what does not hold in it is listed."""

import re

import nbformat
import numpy as np
import pandas as pd
import pytest

from study import ROOT, chapters
from study.__main__ import main
from study.report.display import Source

LABEL = "(?:Figure|Table)\N{NO-BREAK SPACE}\\d+"
OWN = {
    "mnist": "-p n_train 200 -p n_epochs 2 -p n_orders 2 -p n_linear 2 -p n_held 100",
    "class": "-p n_train 200 -p n_epochs 2 -p random_states 3,5,8,11 -p mine 8",
}


@pytest.fixture(scope="module", params=["mnist_degree", *OWN])
def cells(request, tmp_path_factory):
    """(name, the cells of an own run of a notebook by the command that HANDIN.md gives)."""
    if request.param == "mnist_degree":
        return request.param, nbformat.read(request.getfixturevalue("own_run"), as_version=4).cells
    target = tmp_path_factory.mktemp("own") / "out.ipynb"
    source = ROOT / "notebooks" / f"{request.param}.ipynb"
    with pytest.raises(SystemExit) as ended:
        main(["papermill", str(source), str(target), *OWN[request.param].split(), "--no-progress-bar"])
    assert not ended.value.code
    return request.param, nbformat.read(target, as_version=4).cells


def test_every_figure_and_table_that_is_named_is_shown_and_no_expression_is_left(cells):
    _, found = cells
    said = "\n".join(cell.source for cell in found if cell.cell_type == "markdown")
    shown = set(re.findall(rf"^\*\*({LABEL})\.\*\*", said, re.MULTILINE))
    assert shown and set(re.findall(LABEL, said)) <= shown
    assert "{eval}" not in said


def test_what_speaks_of_the_published_run_is_left_out(cells):
    name, found = cells
    tags = [tag for cell in found for tag in cell.metadata.get("tags", [])]
    assert "published" not in tags and "left-out" not in tags


def test_statements_that_do_not_hold_are_listed_and_the_others_stay(cells):
    name, found = cells
    kept = {tag.partition(":")[2] for cell in found for tag in cell.metadata.get("tags", []) if tag.startswith("holds:")}
    known = Source.read(name).statements
    lists = [cell.source for cell in found if "statements" in cell.metadata.get("tags", [])]
    assert kept <= known
    if name == "mnist":
        (listed,) = lists
        assert re.search(r"Of \d+ statements that were tried", listed) and listed.count("\n- ") >= 1
        assert found[-1].source == listed


@pytest.mark.long
def test_the_tour_takes_a_file_of_two_classes(tmp_path):
    random = np.random.default_rng(1)
    X = random.normal(size=(160, 3)) * (1, 1, 1000)
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(kind=np.where(X[:, 0] + X[:, 1] ** 2 > 0.5, "yes", "no"))
    frame.to_csv(tmp_path / "mine.csv", index=False)
    target = tmp_path / "out.ipynb"
    with pytest.raises(SystemExit) as ended:
        main(["papermill", str(chapters.chapter("tour").notebook), str(target), "-p", "csv", str(tmp_path / "mine.csv")])
    assert not ended.value.code
    said = "\n".join(cell.source for cell in nbformat.read(target, as_version=4).cells if cell.cell_type == "markdown")
    assert "There are 90 examples to learn from" in said
