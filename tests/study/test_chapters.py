"""The batch plan, the command line, and notebooks run by papermill alone."""

import os
import re
import subprocess
import sys

import pytest

from study import ROOT, datasets, reject_unknown_parameters
from study import chapters as batch
from study.__main__ import main
from study.mnist import experiment as mnist


def papermill(folder, *options, source="mnist_degree"):
    command = [sys.executable, "-m", "papermill", ROOT / "notebooks" / f"{source}.ipynb", folder / "out.ipynb", *options]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, env=os.environ | {"KP_OFFLINE": "1"})


def test_every_notebook_is_in_both_profiles_and_every_degree_has_its_copy():
    sources = {path.stem for path in (ROOT / "notebooks").glob("*.ipynb")}
    for profile in batch.PROFILES:
        runs = batch.notebooks(profile)
        assert {run.source for run in runs.values()} == sources
        assert [f"mnist_degree_{p}" for p in mnist.DEGREES] == [name for name in runs if name.startswith("mnist_degree")]
        assert len({run.target for run in runs.values()}) == len(runs)


def test_the_quick_profile_writes_below_build_only():
    for run in batch.notebooks("quick").values():
        assert run.target.is_relative_to(ROOT / "build") and run.figures.is_relative_to(ROOT / "build") and not run.reads
        names = f"{run.parameters.get('dataset', '')} {run.parameters.get('datasets', '')}".split()
        assert all(not datasets.DATASETS[name].files for name in names)


def test_every_executed_notebook_and_its_figures_are_with_the_study_and_no_others():
    runs = batch.notebooks("full").values()
    assert {run.target for run in runs} == set((ROOT / "notebooks" / "executed").glob("*.ipynb"))
    numbers = [re.findall(r'"\*\*Figure ([\d.]+)\.\*\*', run.target.read_text(encoding="utf-8")) for run in runs]
    expected = {f"figure_{number}.{kind}" for each in numbers for number in each for kind in ("png", "svg")}
    assert expected == {path.name for path in (ROOT / "figures").iterdir()}


def test_papermill_alone_runs_a_notebook_from_any_folder(tmp_path):
    run = papermill(tmp_path, "-p", "degree", "2", "-p", "n_epochs", "2", "-p", "n_train", "200")
    assert run.returncode == 0, run.stderr
    assert (tmp_path / "out.ipynb").exists() and [path.name for path in tmp_path.iterdir()] == ["out.ipynb"]


def test_papermill_alone_refuses_an_unknown_parameter(tmp_path):
    run = papermill(tmp_path, "-p", "dgree", "2")
    assert run.returncode != 0 and "got dgree" in run.stderr


def test_unknown_parameters_are_named_and_constants_are_not_parameters():
    reject_unknown_parameters({"degree": 1, "_hidden": 2, "PREDICTORS": (), "module": pytest}, "degree epochs")
    with pytest.raises(ValueError, match="among degree, got epoch, size"):
        reject_unknown_parameters({"degree": 1, "epoch": 2, "size": "all"}, "degree")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(["notebook", "nothing"], "notebook must be one of data"), (["run", "mnist"], "mnist/train-images-idx3-ubyte.gz")],
)
def test_a_failing_command_says_why_and_returns_1(arguments, message, capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("KP_DATA", str(tmp_path))
    monkeypatch.setenv("KP_OFFLINE", "1")
    monkeypatch.setattr("study.datasets.RAW", tmp_path / "raw")
    monkeypatch.setattr("study.mnist.experiment.RESULTS", tmp_path)
    monkeypatch.setattr("study.mnist.experiment.BUILD", tmp_path)
    assert main(arguments) == 1
    assert message in capsys.readouterr().err


def test_list_names_the_notebooks_in_order(capsys):
    assert main(["list", "--profile", "full"]) == 0
    assert capsys.readouterr().out.split()[:3] == ["data", "algorithm", "mnist_degree_1"]


def test_the_title_page_is_filled_from_the_environment(monkeypatch):
    monkeypatch.setenv("KP_TITLE", "A title")
    monkeypatch.delenv("KP_AUTHOR", raising=False)
    page = batch.title_page("full")
    assert page["title"] == "A title" and page["author"] == "The kp authors"
