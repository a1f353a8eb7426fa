"""The text of a run with own parameters is about that run: it refers to nothing that is not there."""

import re

import nbformat
import numpy as np
import pandas as pd
import papermill
import pytest

from study import ROOT, chapters

LABEL = r"(?:Figure|Table) (?:[A-Z]?\d+\.)?\d+"
OWN = {
    "mnist_degree": {},  # the fixture own_run
    "mnist_summary": {"n_train": 300, "n_epochs": 2, "draws": 10},
    "class": {"n_train": 200, "n_epochs": 2, "random_states": "3,5,8,11", "mine": 8},
}


@pytest.fixture(scope="module", params=OWN)
def text(request, tmp_path_factory):
    """(name, all that an own run of a notebook says)."""
    if request.param == "mnist_degree":
        target = request.getfixturevalue("own_run")
    else:
        target = tmp_path_factory.mktemp("own") / "out.ipynb"
        source = ROOT / "notebooks" / f"{request.param}.ipynb"
        papermill.execute_notebook(str(source), str(target), OWN[request.param], progress_bar=False)
    cells = nbformat.read(target, as_version=4).cells
    outputs = [output for cell in cells for output in cell.get("outputs", [])]
    texts = [cell.source for cell in cells if cell.cell_type == "markdown"]
    return request.param, "\n".join(texts + [output.get("data", {}).get("text/markdown", "") for output in outputs])


def test_every_figure_and_table_that_is_named_is_shown(text):
    name, said = text
    shown = set(re.findall(rf"^\*\*({LABEL})\.\*\*", said, re.MULTILINE))
    assert shown
    others = {each.label(item) for each in chapters.CHAPTERS if each.source != name for item in each.figures + each.tables}
    assert not set(re.findall(LABEL, said)) - shown - others


def test_nothing_is_said_of_figures_of_the_source_or_of_other_runs(text):
    name, said = text
    captions = "\n".join(line for line in said.splitlines() if line.startswith("**"))
    assert "the source's" not in captions and "panel -" not in said
    assert "supplements" not in said and "as published" not in said and "published numbers come out exactly" not in said
    assert ("nothing is published for it" in said) == (name == "mnist_summary")


def test_the_seeds_that_are_named_are_those_of_the_run(text):
    name, said = text
    expected = {"mnist_degree": "2 epochs, seed 7.", "mnist_summary": "the seed of the orders is the degree itself"}
    assert expected.get(name, "with seeds from 3 to 11") in said


@pytest.mark.long
def test_the_tour_takes_a_file_of_two_classes(tmp_path):
    random = np.random.default_rng(1)
    X = random.normal(size=(160, 3)) * (1, 1, 1000)
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(kind=np.where(X[:, 0] + X[:, 1] ** 2 > 0.5, "yes", "no"))
    frame.to_csv(tmp_path / "mine.csv", index=False)
    target = tmp_path / "out.ipynb"
    source, own = ROOT / "notebooks" / "tour.ipynb", {"csv": str(tmp_path / "mine.csv")}
    papermill.execute_notebook(str(source), str(target), own, progress_bar=False)
    said = " ".join(
        output.get("data", {}).get("text/markdown", "")
        for cell in nbformat.read(target, as_version=4).cells
        for output in cell.get("outputs", [])
    )
    assert "**mine**, 160 examples of 3 numbers and 2 classes: 90 to learn from" in said
    assert "from its log" in said and "They differ" not in said and "not bit by bit" not in said
