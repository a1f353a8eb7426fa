"""Batches of own runs: options become settings, settings become rows that say all of what they are."""

import os
import re
import runpy
import subprocess
import sys
from unittest.mock import MagicMock

import numpy as np
import pandas as pd
import pytest

from study import ROOT, chapters, datasets
from study.__main__ import main
from study.mnist import experiment as mnist
from study.mnist import orders
from study.protocols import images
from study.results import experiment, runs, store

SMALL = ["--dataset", "digits", "--n-train", "100", "--n-epochs", "2"]


@pytest.fixture(autouse=True, scope="module")
def build(tmp_path_factory):
    """Where results are kept."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(experiment, "BUILD", tmp_path_factory.mktemp("build"))
        yield experiment.BUILD


def settings(*options):
    return runs.settings(mnist.degrees, [*SMALL, *options])


def test_the_runs_are_the_product_of_the_values_seeds_last():
    found = settings("--random-state", "5:8", "--degree", "2,4")
    assert [(s.degree, s.random_state) for s in found] == [(2, 5), (2, 6), (2, 7), (4, 5), (4, 6), (4, 7)]
    assert found[0] == mnist.Settings(dataset="digits", degree=2, n_train=100, n_epochs=2, random_state=5)


def test_fields_of_several_numbers_take_a_list_as_one_value_and_missing_ones_come_from_what_is_published():
    assert [s.degrees for s in runs.settings(orders.orders, ["--degrees", "2,3", "--order", "0:2"])] == [(2, 3), (2, 3)]
    (seeds,) = runs.settings(runs.find("seeds.methods"), ["--n-splits", "7"])
    assert (seeds.dataset, seeds.n_splits) == ("seeds", 7)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--degre", "3"], "options of mnist.degrees must be among --dataset, --degree, .*, got --degre 3"),
        (["--degree", "x"], "--degree must be a whole number or a range as in 0:30, or a list .*; got 'x'"),
        (["--degree", "3:3"], "--degree must be .*; got '3:3'"),
        (["--degree"], "options of mnist.degrees: argument --degree: expected one argument"),
        (["--degree", "3,3"], "a run is requested twice"),
        (["--degree", "41"], "degree must be an integer in 1..40, got 41"),
        (["--random-state", "3"], "mnist.degrees needs --degree"),
    ],
)
def test_wrong_options_say_what_was_expected(options, message):
    with pytest.raises(ValueError, match=message):
        settings(*options)


def test_an_experiment_whose_settings_cannot_be_typed_says_so():
    with pytest.raises(ValueError, match="classes.growth cannot be run in a batch: no option can hold its choice"):
        runs.settings(runs.find("classes.growth"), [])
    for name, options in (("tables", {"stratified": True}), ("nosuch", {})):
        with pytest.raises(ValueError, match=f"experiment must be one of .*, got '{name}"):
            runs.find(name, **options)


def test_a_part_holds_runs_that_differ_in_their_seed_only(monkeypatch):
    monkeypatch.setattr(runs, "PART", 2)
    parts = runs.parts(settings("--degree", "2,3", "--random-state", "0:5"))
    assert [[(s.degree, s.random_state) for s in part] for part in parts] == [
        [(2, 0), (2, 1)], [(2, 2), (2, 3)], [(2, 4)], [(3, 0), (3, 1)], [(3, 2), (3, 3)], [(3, 4)],
    ]  # fmt: skip


def test_a_table_has_the_rows_of_each_run_under_its_keys_and_a_summary_is_over_the_seeds_of_the_last_epoch():
    found = settings("--degree", "2,3", "--random-state", "0:3")
    rows = runs.table(mnist.degrees, found)
    keys = [name for name in rows if name not in ("errors", "n")]
    assert len(rows) == 6 * 2 * 4 * 2 and not rows.duplicated(keys).any()
    own = rows.query("degree == 3 and random_state == 1").reset_index(drop=True)
    alone = mnist.degrees(found[4])["multiclass"]
    pd.testing.assert_frame_equal(own[alone.columns], alone)
    table = runs.summary(rows, found).set_index(["degree", "predictor"])
    own = rows.query("degree == 3 and predictor == 'voted' and epoch == 2 and split == 'test'")["errors"]
    assert table.loc[(3, "voted")].to_list() == pytest.approx([3, own.mean(), own.std(), own.min(), own.max()])
    assert len(table) == 8 and runs.summary(rows.drop(columns="errors"), found) is None


def test_whole_numbers_that_tell_what_was_tried_are_integers_where_a_row_has_none():
    tried = {"method": ["kernel perceptron", "own"], "value": [3.0, np.nan], "width": [0.5, np.nan]}
    rows = pd.DataFrame(tried | {"error": [1.0, 0.0]})
    experiment = MagicMock(return_value=rows, tables=("errors",))
    experiment.name = "own"
    lines = runs.table(experiment, settings("--degree", "2")).to_csv(index=False).splitlines()
    assert [line.split(",")[-4:] for line in lines[1:]] == [["kernel perceptron", "3", "0.5", "1.0"], ["own", "", "", "0.0"]]


def test_a_summary_takes_the_last_epoch_of_what_has_epochs_and_tells_apart_all_that_was_tried():
    names = ["order", "method", "threshold", "width", "epoch", "errors"]
    trace = [("perceptron", "off", 1.0, epoch, 9 - epoch) for epoch in (1, 2)]
    trace += [("perceptron", "off", 2.0, 1, 5), ("perceptron", "on", 1.0, 3, 4), ("neighbours", "-", np.nan, np.nan, 3)]
    rows = pd.DataFrame([(order, *each) for order in (0, 1) for each in trace], columns=names).assign(experiment="own")
    rows.loc[rows["order"] == 1, "errors"] += 2
    table = runs.summary(rows, [orders.Settings(order=order) for order in (0, 1)])
    assert table[["method", "threshold", "width"]].fillna(0).to_numpy().tolist() == [
        ["perceptron", "off", 1.0], ["perceptron", "off", 2.0], ["perceptron", "on", 1.0], ["neighbours", "-", 0.0],
    ]  # fmt: skip
    assert table["mean"].to_list() == [8, 6, 5, 4] and set(table["count"]) == {2}
    assert table["sd"].to_list() == pytest.approx([2**0.5] * 4)
    alone = runs.summary(rows[rows["order"] == 0], [orders.Settings()])
    assert alone["mean"].to_list() == [7, 5, 4, 3] and "sd" not in alone


def test_a_summary_of_a_comparison_has_every_method_as_it_was_chosen_in_each_fold():
    rows = pd.DataFrame({
        "experiment": "classes.compare", "fold": [0, 1, 0, 1, 0, 1], "method": ["one-vs-all"] * 4 + ["SVM"] * 2,
        "thresholds": ["off", "off", "on", "on", "-", "-"], "kernel": ["rbf", "poly", "rbf", "rbf", "rbf", "rbf"],
        "width": [1.0, np.nan, 1.0, 2.0, 4.0, 4.0], "degree": [np.nan, 2.0, *[np.nan] * 4],
        "epoch": [20, 5, 1, 5, np.nan, np.nan], "validation_errors": 1, "errors": [3, 5, 2, 4, 1, 3],
    })  # fmt: skip
    table = runs.summary(rows, runs.settings(runs.find("classes.compare"), ["--dataset", "iris-bundled"]))
    assert table[["method", "thresholds", "count", "mean"]].to_numpy().tolist() == [
        ["one-vs-all", "off", 2, 4.0], ["one-vs-all", "on", 2, 3.0], ["SVM", "-", 2, 2.0],
    ]  # fmt: skip


def test_an_interrupted_batch_goes_on_where_it_stopped(monkeypatch):
    found = settings("--degree", "4", "--random-state", "0:3")
    computed = []
    monkeypatch.setattr(runs, "PART", 1)

    def stop(some, *, progress=False):
        computed.extend(s.random_state for s in some)
        if len(computed) == 2:
            raise KeyboardInterrupt
        return mnist.run_together(some)

    monkeypatch.setattr(mnist.degrees, "compute", stop)
    stop.__module__ = mnist.__name__  # the code of the experiment stays
    with pytest.raises(KeyboardInterrupt):
        runs.table(mnist.degrees, found)
    assert len(runs.table(mnist.degrees, found)) == 3 * 2 * 4 * 2 and computed == [0, 1, 1, 2]


def test_stratified_runs_learn_from_a_subset_with_the_shares_of_the_classes_that_follows_the_seed():
    data = datasets.load("digits")
    found = settings("--degree", "2", "--random-state", "4,5")
    first, second = (mnist._subset(data, each) for each in found)
    expected = np.bincount(data.class_indices) / len(data.y) * 100
    assert np.abs(np.bincount(first.class_indices) - expected).max() < 1
    assert not np.array_equal(first.X, second.X) and {tuple(x) for x in first.X} <= {tuple(x) for x in data.X}
    stratified = runs.find("mnist", stratified=True)
    rows = runs.table(stratified, found[:1])
    model = images.estimator(2, n_epochs=found[0].n_epochs, random_state=4).fit(first.X, first.y)
    wrong = int((model.predict(data.X_test, predictor="average") != data.y_test).sum())
    assert rows.query("predictor == 'average' and epoch == 2 and split == 'test'")["errors"].item() == wrong
    with pytest.raises(ValueError, match="n_train of a random subset must be at most 1190, got 1200"):
        list(stratified.compute([mnist.Settings(dataset="digits", degree=2)]))


def test_the_command_writes_one_table_and_its_provenance(tmp_path, capsys):
    arguments = ["run", "mnist", *SMALL, "--degree", "3", "--random-state", "0:2"]
    target = tmp_path / "seeds.csv"
    assert main([*arguments, "--target", str(target)]) == 0
    assert capsys.readouterr().out.endswith("2 runs, 32 rows: " + os.path.relpath(target) + "\n")
    assert main([*arguments, "--target", str(target)]) == 0
    assert f"{os.path.relpath(target)}, which replaces an earlier table\n" in capsys.readouterr().out
    assert set(pd.read_csv(target)["random_state"]) == {0, 1} and target.with_suffix(".json").exists()
    assert main([*arguments, "--table", "nothing"]) == 1
    assert "table must be one of multiclass, binary, confusion, got 'nothing'" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["own.csv", "own.json"])
def test_the_table_of_a_batch_replaces_no_other_file(tmp_path, name, capsys):
    (tmp_path / name).write_text("mine")
    assert main(["run", "mnist", *SMALL, "--degree", "3", "--target", str(tmp_path / "own.csv")]) == 1
    assert re.search(r"own\.csv: this file would be overwritten.*; name another file", capsys.readouterr().err)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {name: "mine"}


@pytest.mark.parametrize(
    ("arguments", "suffix"),
    [(["report"], "html"), (["report", "--kind", "pdf"], "pdf"), (["ledger"], "html"), (["check", "."], "csv")],
)
def test_a_document_replaces_no_file_of_another_kind(tmp_path, arguments, suffix, capsys):
    (tmp_path / "mine.ipynb").write_text("mine")
    assert main([*arguments, "--target", str(tmp_path / "mine.ipynb")]) != 0
    assert f"--target: expected a file name that ends in .{suffix}, got " in capsys.readouterr().err
    assert (tmp_path / "mine.ipynb").read_text() == "mine"


def test_a_part_of_a_batch_is_computed_and_kept_once(build, capsys):
    before = set(build.rglob("*.npz"))
    for earlier in (0, 2):
        assert main(["run", "mnist", *SMALL, "--degree", "1", "--random-state", "0:12", "--part", "1"]) == 0
        assert len(set(build.rglob("*.npz")) - before) == 2
        assert capsys.readouterr().out == f"part 1 of 0 to 1 is done: 2 runs are kept, {earlier} from before\n"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--part", "0"], "--part: only a batch of your own runs has this option; add settings"),
        ([*SMALL, "--degree", "2", "--part", "0", "--target", "y.csv"], "--target: a part of a batch writes no table"),
        ([*SMALL, "--degree", "2", "--part", "1"], "--part: this batch has the parts 0 to 0, got 1"),
        ([*SMALL, "--degree", "2", "--part", "-1"], "--part: this batch has the parts 0 to 0, got -1"),
        ([*SMALL, "--degree", "2", "--recompute"], "--recompute: a batch of your own runs keeps its results"),
        ([*SMALL, "--degree", "2", "--target", str(ROOT / "data" / "results" / "mnist_multiclass.csv")],
         "--target must be outside data/, .* name another folder, such as build/"),
        ([*SMALL, "--degree", "2", "--target", str(ROOT / "notebooks" / ".." / "figures" / "new.csv")],
         "--target must be outside figures/"),
    ],
)  # fmt: skip
def test_an_option_that_would_be_ignored_or_would_do_harm_is_refused(monkeypatch, capsys, options, message):
    monkeypatch.setattr(experiment.Experiment, "__call__", None)
    monkeypatch.setattr(experiment.Experiment, "publish", None)
    monkeypatch.setattr(store, "write_table", None)
    assert main(["run", "mnist", *options]) == 1
    assert re.fullmatch(f"study: {message}.*\n", capsys.readouterr().err)


def test_help_says_what_is_required_and_which_data_sets_may_be_named(capsys):
    assert main(["run", "mnist", "--help"]) == 0
    shown = capsys.readouterr().out
    assert re.search("--degree +a whole number or a range as in 0:30; required\n", shown)
    assert "  datasets: mnist, iris, sonar," in shown and "wine-bundled" in shown and "moons" not in shown


@pytest.mark.parametrize("name", chapters.ROOMS)
def test_the_options_of_every_experiment_are_described(name):
    for each in chapters.experiments(name, unpublished=True):
        assert isinstance(runs.described(each), str)


def test_options_of_a_batch_are_unknown_to_other_commands(capsys):
    with pytest.raises(SystemExit):
        main(["list", "--degree", "3"])
    assert "unrecognized arguments: --degree 3" in capsys.readouterr().err


def test_an_interrupted_command_says_so_in_one_line(capsys, monkeypatch):
    def interrupted(profile):
        raise KeyboardInterrupt

    monkeypatch.setattr(chapters, "chapters", interrupted)
    monkeypatch.setattr(sys, "argv", ["study", "list"])
    monkeypatch.delitem(sys.modules, "study.__main__")
    with pytest.raises(SystemExit) as ended:
        runpy.run_module("study", run_name="__main__")
    assert ended.value.code == 130 and capsys.readouterr().err == "study: interrupted; what was finished is kept\n"


@pytest.mark.long
def test_the_workflow_plans_a_job_for_each_part(tmp_path):
    batch = "mnist --dataset digits --degree 2,3 --random-state 0:15"
    command = [sys.executable, "-m", "snakemake", "--profile", "workflow/profiles/default", "--dry-run", "--quiet", "host"]
    command += ["--config", f"runs={batch}", f"table={tmp_path / 'table.csv'}", "--", "runs"]
    shown = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert len(re.findall("^(?:local)?rule runs_part:", shown.stdout + shown.stderr, re.MULTILINE)) == 4
