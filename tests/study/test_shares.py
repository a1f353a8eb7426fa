"""One run shared out over machines: the bytes of one machine, whatever was killed, lost or mixed up on the way."""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from functools import partial

import pandas as pd
import pytest

from study import ROOT, datasets
from study.__main__ import main
from study.mnist import experiment as mnist
from study.results import experiment, runs, shares, store

RUN = ["mnist", "--dataset", "digits", "--n-train", "100", "--n-epochs", "2", "--degree", "3", "--random-state", "7"]
SETTINGS = mnist.Settings(dataset="digits", n_train=100, n_epochs=2, degree=3, random_state=7)


@pytest.fixture(autouse=True)
def build(tmp_path, monkeypatch):
    """Where results are kept."""
    monkeypatch.setattr(experiment, "BUILD", tmp_path / "build")
    return tmp_path / "build"


def assert_same(a, b):
    for name in mnist.degrees.tables:
        pd.testing.assert_frame_equal(a[name], b[name])
    assert store.arrays_hash(a["arrays"]) == store.arrays_hash(b["arrays"])


def by_parts(settings, n):
    """The result of all parts, those of each stage in turn from the last to the first."""
    learnt, counted = [{} for _ in range(n)], [{} for _ in range(n)]
    for share in reversed(range(n)):
        learnt[share] = mnist.learnt(settings, [], share, n)
    for share in reversed(range(n)):
        counted[share] = mnist.counted(settings, learnt, share, n)
    return mnist.gathered(settings, learnt, counted)


@pytest.mark.parametrize(
    ("n", "settings"),
    [
        (1, SETTINGS),
        (4, replace(SETTINGS, n_epochs=3, random_state=0)),
        (12, replace(SETTINGS, degree=1)),
        (3, mnist.Settings(dataset="wine-bundled", degree=2, n_epochs=2)),
        (60, mnist.Settings(dataset="iris-bundled", degree=2, n_epochs=1)),
    ],
    ids=[
        "one share",
        "images",
        "weight vectors, more shares than classes",
        "real numbers",
        "more shares than test examples",
    ],
)
def test_parts_give_every_bit_of_the_run_on_one_machine(n, settings):
    (whole,) = mnist.run_together([settings])
    assert_same(by_parts(settings, n), whole)


def test_two_classes_have_one_perceptron(monkeypatch):
    digits = datasets.load("digits")
    two = replace(digits, y=digits.y % 2, y_test=digits.y_test % 2, classes=(0, 1), target_names=("even", "odd"))
    monkeypatch.setattr(mnist, "examples", lambda name: two)
    (whole,) = mnist.run_together([SETTINGS])
    assert len(whole["arrays"]["mistakes"]) == 1
    assert_same(by_parts(SETTINGS, 3), whole)


def test_degree_1_on_real_numbers_is_not_shared_out():
    with pytest.raises(ValueError, match="--shares: at degree 1, .*; omit --shares"):
        mnist.learnt(mnist.Settings(dataset="wine-bundled", degree=1), [], 0, 2)


def files(folder):
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def test_commands_write_the_bytes_of_one_machine_and_compute_each_part_once(tmp_path, build, monkeypatch, capsys):
    assert main(["run", *RUN, "--target", str(tmp_path / "whole.csv")]) == 0
    shutil.rmtree(build)
    monkeypatch.setattr(mnist, "run_together", None)
    made = []

    def noted(compute, settings, earlier, share, n):
        made.append((compute.__name__, share))
        return compute(settings, earlier, share, n)

    for compute in (mnist.learnt, mnist.counted):
        monkeypatch.setattr(mnist, compute.__name__, partial(noted, compute))
    for part in (1, 0, 0, 3):
        assert main(["run", *RUN, "--shares", "2", "--part", str(part)]) == 0
    first, second = capsys.readouterr().out.splitlines()[-2:]
    assert first.startswith("part 0 of 0 to 3 is done: its arrays are kept") and second.startswith(
        "part 3 of 0 to 3 is done"
    )
    for _ in range(2):
        assert main(["run", *RUN, "--shares", "2", "--target", str(tmp_path / "shared.csv")]) == 0
    assert main(["run", *RUN, "--shares", "2", "--part", "1"]) == 0
    assert made == [("learnt", 1), ("learnt", 0), ("counted", 1), ("counted", 0)]
    for kind in (".csv", ".json"):
        assert (tmp_path / f"whole{kind}").read_bytes() == (tmp_path / f"shared{kind}").read_bytes()
    assert not [name for name in files(build) if "shares" in name], "what was passed between parts goes when all is gathered"


def test_a_part_that_is_killed_leaves_nothing_half_and_can_be_run_again(build, monkeypatch):
    compute = partial(shares.compute, mnist.degrees, SETTINGS, 2)
    compute(0)
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(store.os, "replace", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        compute(1)
    assert files(build) == ["0-of-2-shares.npz"]
    compute(1)
    compute(2)
    assert files(build) == [f"{part}-of-2-shares.npz" for part in range(3)]


def refused(part):
    return pytest.raises(
        store.StaleResult, match=f"^part {part} of this run is missing, or .* the same command and --part {part}$"
    )


def test_logs_that_are_missing_damaged_or_of_another_run_are_refused(build):
    compute = partial(shares.compute, mnist.degrees, SETTINGS, 2)
    compute(0)
    with refused(1):
        compute(2)
    (first,) = build.rglob("0-of-2-shares.npz")
    second = first.with_name("1-of-2-shares.npz")
    shares.compute(mnist.degrees, replace(SETTINGS, random_state=8), 2, 1)
    (other,) = set(build.rglob("1-of-2-shares.npz"))
    shutil.copy(other, second)
    with refused(1):
        compute(2)
    second.write_bytes(first.read_bytes()[:-100])
    with refused(1):
        compute(2)
    shutil.copy(first, second)
    with pytest.raises(ValueError, match="the signs of a log must be those of the labels y"):
        compute(2)
    compute(1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--shares", "0"], "--shares must be at least 1, got 0"),
        (["--shares", "2", "--part", "4"], "--part: this batch has the parts 0 to 3, got 4"),
        (["--shares", "2", "--degree", "2,3"], "--shares splits a single run, got 2 runs; omit --shares"),
        (["--shares", "2", "--stratified"], "--shares: mnist.stratified cannot be split; omit --shares"),
    ],
)
def test_what_cannot_be_shared_out_is_refused(options, message, capsys):
    arguments = RUN if "--degree" not in options else [each for each in RUN if each not in ("--degree", "3")]
    assert main(["run", *arguments, *options]) == 1
    assert re.fullmatch(f"study: {message}.*\n", capsys.readouterr().err)


def test_a_workflow_has_all_of_a_stage_before_the_next():
    _, waits = runs.planned([*RUN, "--shares", "3"])
    assert [list(each) for each in waits] == [[], [], [], [0, 1, 2], [0, 1, 2], [0, 1, 2]]
    _, waits = runs.planned([*RUN[:-1], "0:20"])
    assert waits == [[], []]


@pytest.mark.long
def test_snakemake_runs_the_stages_one_after_the_other(tmp_path):
    command = [sys.executable, "-m", "snakemake", "--profile", "workflow/profiles/default", "--dry-run"]
    command += ["--config", f"runs={' '.join(RUN)} --shares 2", f"table={tmp_path / 'table.csv'}", "--", "runs"]
    shown = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, env=os.environ)
    planned = shown.stdout + shown.stderr
    assert re.search(r"input: .*0-of-4, .*1-of-4\n +output: .*2-of-4", planned)


@pytest.mark.long
def test_a_batch_on_a_workstation_shows_no_rules(tmp_path):
    profiles = ["--profile", "workflow/profiles/workstation", "--workflow-profile", "none", "--dry-run"]
    table = ["--config", f"runs={' '.join(RUN)}", f"table={tmp_path / 'table.csv'}", "--", "runs"]
    command = [sys.executable, "-m", "snakemake", *profiles, *table]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, env=os.environ)
    shown = done.stdout + done.stderr
    assert "runs_table" in shown and not re.search(r"^(local)?rule ", shown, re.MULTILINE)
