"""The batch plan, the command line, and notebooks run by papermill alone."""

import importlib
import os
import shutil
import subprocess
import sys

import pytest
import yaml

from study import ROOT, chapters, datasets
from study.__main__ import main
from study.report import manifest, readme

STORED_ONLY = {
    "front", "introduction", "conclusion", "questions", "setup", "ledger", "declaration", "hermans_opening",
    "hermans_results", "hermans_closing", "xu_zhang_opening", "xu_zhang_closing", "akar_ye_opening", "course_opening",
    "family_opening",
}  # fmt: skip
"""Notebooks that read stored results at published scale and nothing else."""


def test_every_notebook_is_in_the_profiles_and_every_degree_has_its_copy():
    sources = {path.stem for path in (ROOT / "notebooks").glob("*.ipynb")}
    for profile in chapters.PROFILES:
        found = chapters.chapters(profile)
        assert {chapter.source for chapter in found} == sources - (STORED_ONLY if profile == "quick" else set())
        assert len({chapter.target(profile) for chapter in found}) == len(found)
        variants = [chapter.variant for chapter in found if chapter.source == "mnist_degree"]
        assert variants == (["3"] if profile == "quick" else list("123456"))


def test_the_site_has_the_pages_of_the_report_in_their_order():
    toc = yaml.safe_load((ROOT / "myst.yml").read_text(encoding="utf-8"))["project"]["toc"]
    pages = [page["file"] for part in toc for page in part.get("children", [part])]
    executed = [each.target("full").relative_to(ROOT).as_posix() for each, _ in chapters.report("full", "all", web=True)]
    assert pages == ["README.md", *executed]


@pytest.mark.parametrize("name", chapters.REPORTS)
def test_a_report_numbers_its_chapters_from_one(name):
    found = chapters.report("full", name)
    front = [""] if name == "all" else []
    body = map(str, range(1, len(found) - len(front)))
    assert [number for _, number in found] == [*front, *body, "A"]
    names = [each.name for each, _ in found]
    assert len(set(names)) == len(names) and names[-1] == ("ledger" if name == "all" else "declaration")


def test_every_chapter_is_in_a_report_or_on_the_web_alone():
    reported = {each.name for name in chapters.REPORTS for each, _ in chapters.report("full", name, web=True)}
    assert reported == {each.name for each in chapters.CHAPTERS}
    assert {name for each in chapters.CHAPTERS for name in each.reports} == set(chapters.REPORTS)
    with pytest.raises(ValueError, match="report must be one of all, hermans, .*, got 'x'"):
        chapters.report("full", "x")


def test_rooms_are_computed_for_one_chapter_and_read_by_name_and_the_ledger_is_last():
    computed = [room.name for each in chapters.CHAPTERS for room in each.computes]
    declaring = [path for path in (ROOT / "study").glob("*/*.py") if "\n@experiment(" in path.read_text(encoding="utf-8")]
    folders = {path.parent.name for path in declaring}
    assert sorted(computed) == sorted(folders) and list(chapters.ROOMS) == [*computed, "claims"]
    assert {name for each in chapters.CHAPTERS for name in each.reads} <= chapters.ROOMS.keys()
    for name, room in chapters.ROOMS.items():
        declared = {each.name.partition(".")[2] for each in chapters.experiments(name)}
        assert room.foreign | room.memory.keys() <= declared, name


def test_an_executed_notebook_links_to_its_neighbours_in_a_report_and_to_the_contents():
    algorithm, front, closing = (chapters.chapter(name) for name in ("algorithm", "front", "hermans_closing"))
    before, contents, after = chapters.links(algorithm, "full").split(" · ")
    assert (
        before == "[← Four questions, five sources](introduction.ipynb)" and contents == "[Contents](../../README.md#read)"
    )
    assert after == "[Handwritten digits in twenty visiting orders →](mnist.ipynb)"
    assert chapters.links(front, "full").startswith("[Contents]")
    assert chapters.links(closing, "full").endswith("(mnist.ipynb)")
    assert "](../../../README.md#read)" in chapters.links(chapters.chapter("algorithm", "quick"), "quick")
    assert "\n## Read\n" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_quick_profile_writes_below_build_and_needs_no_download():
    for chapter in chapters.chapters("quick"):
        assert chapter.target("quick").is_relative_to(ROOT / "build")
        assert chapter.parameters("quick") == chapter.quick  # it saves no figures
        names = " ".join(value for value in chapter.quick.values() if isinstance(value, str)).split()
        assert all(not datasets.DATASETS[name].files for name in names if name in datasets.DATASETS)


@pytest.mark.parametrize("module", ["study", "study.datasets"])
@pytest.mark.parametrize("buffered", [True, False])
def test_a_list_whose_reader_has_gone_ends_without_a_word(module, buffered):
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, *([] if buffered else ["-u"]), "-m", module, "list"]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    done = subprocess.run(command, cwd=ROOT, env=environment, stdout=writing, stderr=subprocess.PIPE, text=True)
    os.close(writing)
    assert (done.returncode, done.stderr) == (1, "")


@pytest.mark.skipif(not (ROOT / ".git").exists() or shutil.which("git") is None, reason="there is no git here")
def test_executed_notebooks_and_figures_are_those_of_the_plan_and_no_others():
    command = ["git", "ls-files", "notebooks/executed", "figures"]  # a user's own runs are not in git
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    found = [ROOT / name for name in listed]
    plan = chapters.chapters("full")
    expected = {path for each in plan for path in [each.target("full"), *manifest.pictures(each)]}
    assert {*expected, chapters.MANIFEST, ROOT / "figures" / "front-ladder.png"} == set(found)


def test_a_figure_of_unknown_origin_is_refused_with_the_remedy(monkeypatch, tmp_path):
    monkeypatch.setattr(chapters, "FIGURES", tmp_path)
    for picture in manifest.pictures(chapters.chapter("front")):
        picture.write_text("<svg></svg>")
    with pytest.raises(ValueError, match=r"front-ladder\.svg: the file does not say .* study notebook front --profile full"):
        manifest.table()


def test_the_manifest_names_every_figure_with_the_function_that_drew_it_and_files_that_are_there():
    found = manifest.table()
    assert chapters.MANIFEST.read_text(encoding="utf-8") == found.to_csv(index=False)
    assert sorted(found["file"]) == sorted(path.name for path in (ROOT / "figures").glob("*.svg"))
    for drawn_by in set(found["function"]):
        module, _, name = drawn_by.rpartition(".")
        in_cell = name == "ipynb"
        assert (ROOT / drawn_by).is_file() if in_cell else callable(getattr(importlib.import_module(module), name)), drawn_by
    paths = " ".join([*found["notebook"], *found["results"]]).split()
    outputs = yaml.safe_load((ROOT / "codecheck.yml").read_text(encoding="utf-8"))["manifest"]
    assert [path for path in [*paths, *(each["file"] for each in outputs)] if not (ROOT / path).is_file()] == []


def test_readme_says_what_the_first_page_says_and_counts_as_the_ledger_does_and_is_short():
    text = readme.README.read_text(encoding="utf-8")
    assert readme.written(text) == text, "run: python -m study gather"
    lines = text.splitlines()
    assert len(lines) <= 120 and [line for line in lines if len(line) > 120 and not line.startswith("|")] == []
    with pytest.raises(ValueError, match="README.md must have the lines"):
        readme.written(text.replace(readme.END, "", 1))


@pytest.mark.long
def test_papermill_alone_refuses_an_unknown_parameter_in_any_folder(tmp_path):
    command = [sys.executable, "-m", "papermill", ROOT / "notebooks" / "declaration.ipynb", "out.ipynb", "-p", "dgree", "2"]
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
    monkeypatch.setattr("study.results.experiment.RESULTS", tmp_path)
    monkeypatch.setattr("study.results.experiment.BUILD", tmp_path)
    assert main(arguments) == 1
    assert message in capsys.readouterr().err


def test_the_title_page_is_filled_from_the_environment(monkeypatch):
    monkeypatch.setenv("KP_TITLE", "A title")
    monkeypatch.delenv("KP_AUTHOR", raising=False)
    page = chapters.title_page("full")
    assert page["title"] == "A title" and page["author"] == "The kp authors"
