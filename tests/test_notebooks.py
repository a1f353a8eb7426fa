"""The notebooks of the project: every source in notebooks/ and every executed copy in notebooks/executed/."""

import ast
import functools
import importlib.util
import json
import re
from itertools import pairwise
from pathlib import Path

import nbformat
import pytest
from papermill.translators import PythonTranslator

from study import chapters
from study.report.engine import with_values
from study.report.expressions import HEAD, conditions
from study.report.notebooks import LINKS, clean
from study.report.origin import changed, difference
from study.report.source import captioned

FOLDER = Path(__file__).parents[1] / "notebooks"
SOURCES = sorted(FOLDER.glob("*.ipynb"))
EXECUTED = sorted(chapter.target("full") for chapter in chapters.chapters("full"))  # a user's own may lie beside them

each_source = pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
each_executed = pytest.mark.parametrize("path", EXECUTED, ids=lambda path: path.stem)
each_notebook = pytest.mark.parametrize("path", SOURCES + EXECUTED, ids=lambda path: str(path.relative_to(FOLDER)))


@functools.cache
def read(path):
    return nbformat.read(path, as_version=4)


def code_cells(path):
    return [cell for cell in read(path).cells if cell.cell_type == "code"]


def tags(cell):
    return cell.metadata.get("tags", [])


def conditions_of(path):
    return [each for cell in read(path).cells if cell.cell_type == "markdown" for each in conditions(cell.source)]


@each_notebook
def test_opens_with_a_title_and_has_no_other(path):
    first, *rest = (cell for cell in read(path).cells if LINKS not in tags(cell))
    assert first.cell_type == "markdown" and HEAD.sub("", first.source).startswith("# ")
    for cell in rest:
        assert cell.cell_type != "markdown" or not re.search(r"^# ", cell.source, re.MULTILINE)


@each_source
def test_one_code_cell_is_tagged_parameters_and_the_next_opens_the_chapter(path):
    code = code_cells(path)
    (place,) = (index for index, cell in enumerate(code) if "parameters" in tags(cell))
    assert "setup" in tags(code[place + 1])
    (machinery,) = (line for cell in code for line in cell.source.splitlines() if "chapter" in line and "import" not in line)
    assert machinery == f'open_chapter("{path.stem}", globals())' in code[place + 1].source


@each_source
def test_parameters_are_literals_with_a_comment_each(path):
    (cell,) = (cell for cell in code_cells(path) if "parameters" in tags(cell))
    lines = cell.source.splitlines()
    for line in lines:
        (statement,) = ast.parse(line).body
        assert isinstance(statement, ast.Assign | ast.AnnAssign), line
        assert ast.literal_eval(statement.value) is not None, line
        assert line[statement.end_col_offset :].strip().startswith("# "), line


@each_source
def test_cells_define_nothing_and_have_no_outputs(path):
    defined = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    for cell in code_cells(path):
        assert cell.outputs == [] and cell.execution_count is None
        assert not any(isinstance(node, defined) for node in ast.walk(ast.parse(cell.source))), cell.source


KNOWN_TAGS = {
    "parameters", "setup", "show", "at-end", "published", "appendix", "exercises", "solution", "box", "notebook",
    "readme", "abstract",
}  # fmt: skip


@each_source
def test_tags_are_known_and_captions_follow_what_they_are_of(path):
    cells = read(path).cells
    names = [name for cell in cells for name in captioned(tags(cell))]
    assert len(set(names)) == len(names), "a figure or a table has a name of its own"
    for before, cell in pairwise(cells):
        assert {tag for tag in tags(cell) if tag.partition(":")[0] not in ("caption", "only")} <= KNOWN_TAGS, tags(cell)
        if captioned(tags(cell)):
            assert before.cell_type == "code" and isinstance(ast.parse(before.source).body[-1], ast.Expr), before.source
            assert ("appendix" in tags(before)) == ("appendix" in tags(cell)), before.source


@each_source
def test_words_refer_to_every_figure_and_table_or_stand_above_it(path):
    words = [cell for cell in read(path).cells if cell.cell_type == "markdown"]
    pointed = set(re.findall(r"\]\(#([\w-]+)\)", "\n".join(cell.source for cell in words)))
    alone = []
    for before, cell in pairwise(words):
        introduced = not captioned(tags(before)) and re.search(r"^[^#\n]", HEAD.sub("", before.source), re.MULTILINE)
        alone += [name for name in captioned(tags(cell)) if not introduced and name not in pointed]
    assert not alone, f"refer to {', '.join(alone)} by [](#NAME), say in the cell above what it shows, or remove it"


@each_source
def test_a_condition_is_one_condition_and_its_code_has_no_error(path):
    for condition in conditions_of(path):
        tree = ast.parse(condition, mode="eval").body
        assert not (isinstance(tree, ast.BoolOp) and isinstance(tree.op, ast.And)), f"two lines instead of: {condition}"


@pytest.mark.parametrize("name", chapters.REPORTS)
def test_a_report_has_what_its_words_point_to(name):
    found = chapters.report("full", name)
    there = {each.source for each, _ in found}
    for source in [each.source for each, number in found if number]:
        for cell in read(FOLDER / f"{source}.ipynb").cells:
            only = {tag.partition(":")[2] for tag in tags(cell) if tag.startswith("only:")}
            assert only <= set(chapters.REPORTS)
            if cell.cell_type == "markdown" and (not only or name in only) and "notebook" not in tags(cell):
                linked = set(re.findall(r"\]\((\w+)\.ipynb\)", cell.source))
                assert linked <= there | {"ledger", "seeds", "course", "family", "data", "coursework"}, (
                    f"{source}: {linked - there}"
                )


def numbered():
    """{name: its number} of the chapters that words can point to, by report: the whole one first."""
    return [{each.name: number for each, number in chapters.report("full", name, web=True)} for name in chapters.REPORTS]


@each_source
def test_words_point_to_a_chapter_by_its_number(path):
    reports = [found for found in numbered() if path.stem in found] + numbered()[:1]
    for cell in read(path).cells:
        if cell.cell_type == "markdown":
            for text, stem in re.findall(r"\[([^\]]*)\]\((\w+)\.ipynb\)", cell.source):
                if number := reports[0].get(stem, reports[-1].get(stem)):
                    assert not number.isdecimal() or text in (f"chapter {number}", f"Chapter {number}"), (text, stem)


@pytest.mark.parametrize("chapter", chapters.chapters("full"), ids=lambda chapter: chapter.name)
def test_executed_copy_was_made_from_this_source_code_and_these_results_and_has_the_cells_of_its_source(chapter):
    source = FOLDER / f"{chapter.source}.ipynb"
    executed = read(chapter.target("full"))
    remedy = f"execute it again: python -m study notebook {chapter.name} --profile full"
    assert changed(executed.metadata["made_from"], source, chapter.parameters("full")) == [], remedy
    given = PythonTranslator.codify(chapter.parameters("full"))
    cells = [(cell.cell_type, cell.source, tags(cell)) for cell in read(source).cells]
    expected = [(kind, with_values(text, given) if "parameters" in own else text, own) for kind, text, own in cells]
    found = [(cell.cell_type, cell.metadata.get("words", cell.source), tags(cell)) for cell in executed.cells]
    assert found == [("markdown", chapters.links(chapter, "full"), [LINKS]), *expected], remedy


@each_executed
def test_an_executed_copy_and_its_figures_are_as_the_execution_left_them(path):
    where = difference(json.loads(path.read_text(encoding="utf-8")))
    assert not where, f"{path.name}: {where}; execute it again: python -m study notebook {path.stem} --profile full"


@each_executed
def test_every_code_cell_was_executed_once_in_order_without_a_complaint(path):
    counts = [cell.execution_count for cell in code_cells(path) if cell.source.strip()]
    assert counts == list(range(1, len(counts) + 1))
    for output in (output for cell in code_cells(path) for output in cell.outputs):
        assert output.output_type != "error" and output.get("name") != "stderr"


@each_notebook
def test_notebook_is_in_the_form_that_is_committed(path, tmp_path):
    nbformat.write(clean(nbformat.read(path, as_version=4)), tmp_path / "clean.ipynb")
    assert (tmp_path / "clean.ipynb").read_bytes() == path.read_bytes()


@each_executed
def test_every_figure_has_a_caption_and_an_alternative_text_and_words_have_their_values(path):
    for cell, following in pairwise(read(path).cells):
        assert cell.cell_type != "markdown" or not re.search(r"{eval}|\[\]\(|^% ", cell.source, re.MULTILINE)
        assert not captioned(tags(following)) or re.match(r"\*\*(Figure|Table)\N{NO-BREAK SPACE}", following.source)
        for output in cell.get("outputs", []):
            if "image/png" in output.get("data", {}):
                assert following.source.startswith("**Figure\N{NO-BREAK SPACE}")
                assert len(output.metadata["image/png"]["alt"]) > 40


class Item:
    """A cell of a notebook, as pytest collects it."""

    def __init__(self, path):
        self.path = path
        self.parent = None
        self.reasons = []

    def add_marker(self, marker):
        self.reasons.append(marker.kwargs["reason"])


def test_executed_notebooks_are_skipped_with_the_reason_where_their_data_are_not(monkeypatch):
    spec = importlib.util.spec_from_file_location("notebooks_conftest", FOLDER / "conftest.py")
    conftest = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(conftest)

    def absent(name, *, download):
        assert not download
        if name == "mnist":
            raise conftest.datasets.DataError("mnist cannot be had\nfetch it")

    monkeypatch.setattr(conftest.datasets, "load", absent)
    items = [Item(path) for path in (FOLDER / "executed" / "mnist.ipynb", FOLDER / "executed" / "seeds.ipynb", SOURCES[0])]
    conftest.pytest_collection_modifyitems(items)
    assert [item.reasons for item in items] == [["mnist is not here: fetch it"], [], []]
