"""The batch plan, the command line, and notebooks run by papermill alone."""

import ast
import importlib
import json
import re
import subprocess
import sys

import nbformat
import pandas as pd
import pytest
import yaml

from study import ROOT, chapters, datasets
from study.__main__ import main
from study.report import manifest

STORED_ONLY = {"front", "introduction", "conclusion", "setup", "ledger"}
"""Notebooks that read stored results at published scale and nothing else."""


def test_every_notebook_is_in_the_profiles_and_every_degree_has_its_copy():
    sources = {path.stem for path in (ROOT / "notebooks").glob("*.ipynb")}
    for profile in chapters.PROFILES:
        found = chapters.chapters(profile)
        assert {chapter.source for chapter in found} == sources - (STORED_ONLY if profile == "quick" else set())
        assert len({chapter.target(profile) for chapter in found}) == len(found)
        assert [chapter.variant for chapter in found if chapter.source == "mnist_degree"] == list("123456")


def test_what_runs_on_one_core_is_of_the_plan():
    (names,) = re.findall(r"^ON_ONE_CORE = (\(.*\))$", (ROOT / "Snakefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert set(ast.literal_eval(names)) < set(chapters.EXPERIMENTS)


def test_numbers_follow_the_order_of_the_plan():
    by_kind = {kind: [each.number for each in chapters.CHAPTERS if each.kind == kind] for kind in ("body", "appendix")}
    assert by_kind["body"] == [str(count) for count in range(1, len(by_kind["body"]) + 1)]
    assert by_kind["appendix"] == ["A", "B"] and chapters.chapter("mnist_degree_3").number == "S3"
    assert chapters.reference("front_all", "answer") == "Figure 1"
    for chapter in chapters.CHAPTERS:
        names = [*chapter.figures, *chapter.tables]
        assert len(set(names)) == len(names), f"{chapter.name}: a name stands twice"


def shown(chapter, kind):
    """The numbers of the figures or tables that the executed notebook of a chapter shows, in the order of a document: those
    of the appendix come last."""
    cells = nbformat.read(chapter.target("full"), as_version=4).cells
    cells = sorted(cells, key=lambda cell: "appendix" in cell.metadata.get("tags", []))
    outputs = [output for cell in cells for output in cell.get("outputs", [])]
    text = "\n".join(output.get("data", {}).get("text/markdown", "") for output in outputs)
    number = rf"{chapter.number}\." if chapter.number else ""
    return [int(place) for place in re.findall(rf"^\*\*{kind} {number}(\d+)\.\*\*", text, re.MULTILINE)]


@pytest.mark.parametrize("name", chapters.REPORTS)
def test_a_report_has_its_front_page_and_its_own_chapters(name):
    found = chapters.report("full", name)
    assert [each.variant for each in found if each.kind == "front"] == [name]
    body = [each.name for each in found if each.kind == "body"]
    assert body == (
        [each.name for each in chapters.CHAPTERS if each.kind == "body"] if name == "all" else list(chapters.PARTS[name])
    )
    assert not [each for each in found if each.kind == "supplement"]
    with pytest.raises(ValueError, match="report must be one of all, hermans, .*, got 'x'"):
        chapters.report("full", "x")


@pytest.mark.parametrize("kind", ["Figure", "Table"])
@pytest.mark.parametrize("source", dict.fromkeys(chapter.source for chapter in chapters.CHAPTERS))
def test_executed_notebooks_show_what_is_planned_in_this_order(source, kind):
    variants, seen = [chapter for chapter in chapters.CHAPTERS if chapter.source == source], set()
    for chapter in variants:
        numbers = shown(chapter, kind)
        assert numbers == sorted(set(numbers)), f"{chapter.name} shows its {kind}s in the order {numbers}"
        seen |= set(numbers)
    names = {"Figure": variants[0].figures, "Table": variants[0].tables}[kind]
    assert seen == set(range(1, len(names) + 1))


def test_the_quick_profile_writes_below_build_and_needs_no_download():
    for chapter in chapters.chapters("quick"):
        assert chapter.target("quick").is_relative_to(ROOT / "build")
        assert chapter.parameters("quick")["figures_folder"].startswith("build/")
        names = " ".join(value for value in chapter.quick.values() if isinstance(value, str)).split()
        assert all(not datasets.DATASETS[name].files for name in names if name in datasets.DATASETS)


def test_executed_notebooks_and_figures_are_those_of_the_plan_and_no_others():
    targets = {chapter.target("full") for chapter in chapters.CHAPTERS}
    assert targets == set((ROOT / "notebooks" / "executed").glob("*.ipynb"))
    expected = {f"{c.name}-{name}.{kind}" for c in chapters.CHAPTERS for name in c.figures for kind in ("png", "svg")}
    assert expected | {"manifest.csv"} == {path.name for path in (ROOT / "figures").iterdir()}


def test_every_figure_says_which_function_drew_it():
    found = manifest.table("full")
    assert set(found["file"]) == {path.name for path in (ROOT / "figures").glob("*.svg")}
    for drawn_by in set(found["function"]):
        module, _, name = drawn_by.rpartition(".")
        assert callable(getattr(importlib.import_module(module), name)), drawn_by


def test_a_figure_that_names_no_function_is_refused_with_the_remedy(monkeypatch, tmp_path):
    monkeypatch.setitem(chapters.FIGURES, "quick", tmp_path)
    for picture in chapters.chapters("quick")[0].pictures("quick"):
        picture.write_text("<svg></svg>")
    with pytest.raises(ValueError, match=r"algorithm-surfaces\.svg: expected .* begin it with study\.style\.canvas"):
        manifest.table("quick")


def test_the_manifest_names_every_figure_with_files_that_are_there():
    assert chapters.manifest("full").read_text(encoding="utf-8") == manifest.table("full").to_csv(index=False)
    found = pd.read_csv(chapters.manifest("full"), keep_default_na=False)
    assert found["file"].is_unique and set(found["chapter"]) <= {chapter.name for chapter in chapters.CHAPTERS}
    for column in ("notebook", "results"):
        assert all((ROOT / path).exists() for text in found[column] for path in text.split())


def test_the_list_for_codecheck_names_all_tables_and_figures_that_there_are():
    text = manifest.CODECHECK.read_text(encoding="utf-8")
    outputs = manifest.outputs(manifest.table("full"))
    assert text == manifest.codecheck(outputs) and text.startswith("---\n")
    listed = [each["file"] for each in yaml.safe_load(text)["manifest"]]
    there = [
        path
        for folder, kind in (("data/results", "csv"), ("data/measured", "csv"), ("figures", "svg"))
        for path in (ROOT / folder).glob(f"*.{kind}")
    ]
    assert sorted(listed) == sorted(path.relative_to(ROOT).as_posix() for path in there)
    text = manifest.CRATE.read_text(encoding="utf-8")
    assert text == manifest.crate(outputs)
    files = {each["@id"]: each for each in json.loads(text)["@graph"] if each["@type"] == "File"}
    assert sorted(files) == sorted(listed)
    record = json.loads((ROOT / "data/results/claims.json").read_text(encoding="utf-8"))
    assert files["data/results/claims.csv"]["sha256"] == record["sha256"]


def test_papermill_alone_runs_a_notebook_from_any_folder(own_run):
    assert list(own_run.parent.iterdir()) == [own_run]


def test_papermill_alone_refuses_an_unknown_parameter(tmp_path):
    command = [sys.executable, "-m", "papermill", ROOT / "notebooks" / "mnist_degree.ipynb", "out.ipynb", "-p", "dgree", "2"]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert run.returncode != 0 and "got dgree" in run.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(["notebook", "nothing"], "notebook must be one of algorithm"), (["run", "mnist"], "mnist/train-images-idx3-ubyte.gz")],
)
def test_a_failing_command_says_why_and_returns_1(arguments, message, capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("KP_DATA", str(tmp_path))
    monkeypatch.setenv("KP_OFFLINE", "1")
    monkeypatch.setattr("study.datasets.fetch.RAW", tmp_path / "raw")
    monkeypatch.setattr("study.experiment.RESULTS", tmp_path)
    monkeypatch.setattr("study.experiment.BUILD", tmp_path)
    assert main(arguments) == 1
    assert message in capsys.readouterr().err


def test_list_names_the_notebooks_in_order(capsys):
    assert main(["list", "--profile", "full"]) == 0
    names = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert names == [chapter.name for chapter in chapters.chapters("full")]
    assert names[:3] == ["front_all", "front_hermans", "front_xu-zhang"]


def test_the_title_page_is_filled_from_the_environment(monkeypatch):
    monkeypatch.setenv("KP_TITLE", "A title")
    monkeypatch.delenv("KP_AUTHOR", raising=False)
    page = chapters.title_page("full")
    assert page["title"] == "A title" and page["author"] == "The kp authors"


def test_the_files_of_a_profile_are_the_executed_copies_and_their_figures():
    found = chapters.files("full")
    assert chapters.chapter("data").target("full") in found and chapters.FIGURES["full"] / "data-grid.svg" in found
    assert [path for path in found if not path.exists()] == []
