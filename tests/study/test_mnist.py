"""The MNIST experiment: its counts, its store, its tables, and the committed results against the publication.

The tests at the end that need the images themselves are skipped where the raw files are absent. The committed results are
needed always: without them, or with those of other code, the tests fail.
"""

import json
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from kp import PREDICTORS, OneVsAllKernelPerceptron, datasets
from study import store
from study.mnist import experiment as mnist
from study.mnist.experiment import Laboratory, Result, experiment

ROOT = Path(__file__).resolve().parents[1]
PUBLICATION = ROOT / "data" / "published" / "hermans_2021.csv"
LOG = ("example", "step", "sign", "errors", "ends")


def run(*experiments, threads=2, memory_budget=2**28):
    """The Results of experiments on the same examples, without the store."""
    laboratory = Laboratory(
        experiments[0].dataset, experiments[0].n_train, memory_budget=memory_budget, threads=threads
    )  # fmt: skip
    logs = {}
    for part in ([e for e in experiments if e.degree == 1], [e for e in experiments if e.degree > 1]):
        logs |= dict(zip(part, laboratory.find(part), strict=True)) if part else {}
    return laboratory.evaluate(experiments, [logs[e] for e in experiments])


def digits(degree, n_epochs=2, **options):
    return experiment(dataset="digits", degree=degree, n_epochs=n_epochs, **options)


def assert_same(a, b):
    """Every count, prediction and mistake of two results is the same."""
    assert (a.experiment, a.n) == (b.experiment, b.n)
    for name in ("multiclass", "binary", "confusion", "predictions"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)
    for log, other in zip(a.logs, b.logs, strict=True):
        for name in LOG:
            np.testing.assert_array_equal(getattr(log, name), getattr(other, name), err_msg=name)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A place of its own for everything that is stored."""
    monkeypatch.setattr(mnist, "BUILD", tmp_path / "build")
    monkeypatch.setattr(mnist, "RESULTS", tmp_path / "results")
    return tmp_path


# Parameters.


def test_the_published_runs_are_those_of_the_source():
    for degree in range(1, 7):
        e = experiment(degree=degree)
        assert (e.dataset, e.degree, e.n_epochs, e.n_train, e.random_state) == ("mnist", degree, 10, 60000, degree)
        assert e.published and e.path == mnist.RESULTS / f"mnist_degree_{degree}.npz"
    assert len(mnist.PUBLISHED) == 6


def test_all_means_every_training_example_and_degree_seeds_with_the_degree():
    assert experiment(dataset="digits", degree=4, n_train="all") == experiment(
        dataset="digits", degree=4, n_epochs=10, n_train=1200, random_state=4
    )
    assert experiment(degree=2, random_state=0).random_state == 0


@pytest.mark.parametrize(
    "change", [{"n_epochs": 9}, {"n_train": 59999}, {"random_state": 1}, {"dataset": "digits"}, {"degree": 7}]
)
def test_any_other_run_is_stored_under_build_by_its_parameters(change):
    e = experiment(**{"degree": 3} | change)
    assert not e.published and e.path.is_relative_to(mnist.BUILD)
    assert all(
        f"{name}={getattr(e, name)}" in e.path.stem.split("-") for name in ("dataset", "degree", "n_epochs", "n_train")
    )
    assert e.path != experiment(**{"degree": 3, "random_state": 99} | change).path or "random_state" in change


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"dataset": "minst"}, "dataset must be mnist or digits, got 'minst'"),
        ({"dataset": "iris"}, "dataset must be mnist or digits, got 'iris'"),
        ({"degree": 0}, "degree must be an integer in 1..40, got 0"),
        ({"degree": 41}, "degree must be an integer in 1..40, got 41"),
        ({"degree": True}, "degree must be an integer in 1..40, got True"),
        ({"degree": 2.0}, "degree must be an integer in 1..40, got 2.0"),
        ({"degree": "3"}, "degree must be an integer in 1..40, got '3'"),
        ({"n_epochs": 0}, "n_epochs must be an integer in 1..1000, got 0"),
        ({"n_epochs": None}, "n_epochs must be an integer in 1..1000, got None"),
        ({"n_train": 60001}, "n_train must be an integer in 10..60000, got 60001"),
        ({"dataset": "digits", "n_train": 1201}, "n_train must be an integer in 10..1200, got 1201"),
        ({"n_train": 9}, "n_train must be an integer in 10..60000, got 9"),
        ({"n_train": "every"}, "n_train must be an integer in 10..60000, got 'every'"),
        ({"random_state": -1}, "random_state must be an integer in 0..4294967295, got -1"),
        ({"random_state": "seed"}, "random_state must be an integer in 0..4294967295, got 'seed'"),
        ({"random_state": False}, "random_state must be an integer in 0..4294967295, got False"),
    ],
)
def test_parameters_out_of_range_are_refused_with_the_range(parameters, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        experiment(**{"degree": 3} | parameters)


# Counts.


@pytest.mark.parametrize("degree", [1, 3])
def test_every_count_equals_the_literal_count_over_scores_of_the_estimator(degree):
    (result,) = run(digits(degree))
    data = datasets.load("digits")
    model = OneVsAllKernelPerceptron(degree=degree, max_iter=2, random_state=degree, stop_if_separated=False)
    model.fit(data.X, data.y)
    assert result.n == (1200, 597) and result.multiclass.shape == (4, 2, 2) and result.binary.shape == (4, 2, 10, 2)
    for p, name in enumerate(PREDICTORS):
        for epoch in (1, 2):
            for split, (X, y) in enumerate([(data.X, data.y), (data.X_test, data.y_test)]):
                multiclass, binary = 0, [0] * 10
                confusion, predictions = [[0] * 10 for _ in range(10)], []
                for f, label in zip(
                    model.decision_function(X, predictor=name, epoch=epoch).tolist(), y.tolist(), strict=True
                ):
                    predicted = f.index(max(f))
                    multiclass += predicted != label
                    confusion[label][predicted] += 1
                    predictions.append(predicted)
                    for digit in range(10):
                        z = 1 if label == digit else -1
                        binary[digit] += z * f[digit] <= 0
                assert result.multiclass[p, epoch - 1, split] == multiclass
                assert result.binary[p, epoch - 1, :, split].tolist() == binary
            assert result.confusion[p, epoch - 1].tolist() == confusion
            assert result.predictions[p, epoch - 1].tolist() == predictions
    for log, other in zip(result.logs, model.mistakes_, strict=True):
        for column in LOG:
            np.testing.assert_array_equal(getattr(log, column), getattr(other, column))


@pytest.mark.parametrize("degree", [1, 2])
def test_counts_predictions_and_confusion_tell_the_same(degree):
    (result,) = run(digits(degree, 3))
    y = datasets.load("digits").y_test
    diagonal = np.trace(result.confusion, axis1=2, axis2=3)
    np.testing.assert_array_equal(result.n[1] - diagonal, result.multiclass[:, :, 1])
    np.testing.assert_array_equal((result.predictions != y).sum(axis=2), result.multiclass[:, :, 1])
    assert np.all(result.confusion.sum(axis=(2, 3)) == 597)
    np.testing.assert_array_equal(result.confusion.sum(axis=3), np.broadcast_to(np.bincount(y), (4, 3, 10)))
    for a, log in enumerate(result.logs):
        final, minimizing = PREDICTORS.index("final"), PREDICTORS.index("minimizing")
        for e in range(3):
            assert result.binary[final, e, a, 0] == log.errors[log.length(e + 1) - 1]
            assert result.binary[minimizing, e, a, 0] == log.errors[: log.length(e + 1)].min()


def test_the_first_epochs_of_a_longer_run_are_the_shorter_run():
    for degree in (1, 2):
        (short,), (long,) = run(digits(degree, 1, n_train=300)), run(digits(degree, 3, n_train=300))
        np.testing.assert_array_equal(long.multiclass[:, :1], short.multiclass)
        np.testing.assert_array_equal(long.predictions[:, :1], short.predictions)


@pytest.mark.parametrize("degree", [1, 3])
def test_a_result_survives_its_own_arrays(degree, tmp_path):
    (result,) = run(digits(degree))
    assert_same(Result.from_arrays(result.experiment, result.arrays()), result)
    store.write_arrays(tmp_path / "result.npz", result.arrays(), result.experiment.source)
    arrays = store.read_arrays(tmp_path / "result.npz", result.experiment.source, mnist.COMMAND)
    again = Result.from_arrays(result.experiment, arrays)
    assert_same(again, result)
    for name, array in again.arrays().items():
        np.testing.assert_array_equal(array, arrays[name])
        assert array.dtype == arrays[name].dtype


def test_the_largest_example_and_error_count_of_mnist_fit_into_the_arrays():
    (result,) = run(digits(2, n_train=50))
    log = result.logs[0]
    log = replace(log, example=log.example + 59_999 - log.example.max(), errors=log.errors + 60_000 - log.errors.max())
    (again,) = mnist.logs_from_arrays(mnist.log_arrays([log]))
    np.testing.assert_array_equal(again.example, log.example)
    np.testing.assert_array_equal(again.errors, log.errors)


def test_degrees_run_together_give_the_bits_of_each_alone():
    experiments = [digits(degree, n_train=300) for degree in (1, 2, 4, 3)]
    for together, e in zip(run(*experiments), experiments, strict=True):
        (alone,) = run(e)
        assert_same(together, alone)


@pytest.mark.parametrize("degree", [1, 3])
def test_threads_and_budgets_change_no_bit_of_a_result(degree):
    e = digits(degree, n_train=200)
    (first,) = run(e)
    for threads, memory_budget in ((1, 2**28), (2, 4 * 200), (1, 4 * 200 * 37)):
        (other,) = run(e, threads=threads, memory_budget=memory_budget)
        assert_same(first, other)


# The store.


def forbid(monkeypatch, *names):
    """Let these methods of Laboratory fail when they are called."""

    def refuse(*_, **__):
        raise AssertionError("this must not be computed again")

    for name in names:
        monkeypatch.setattr(Laboratory, name, refuse)


def files(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_what_was_computed_once_is_read_afterwards_in_the_order_asked_for(folder, monkeypatch):
    a, b = digits(3, n_train=200), digits(1, n_train=200)
    first = mnist.results([a, b])
    assert [result.experiment for result in first] == [a, b]
    assert files(folder) == sorted(e.path.relative_to(folder).as_posix() for e in (a, b))
    assert a.path.is_relative_to(folder / "build" / "results")
    forbid(monkeypatch, "__init__")
    for result, other in zip(mnist.results([b, a]), reversed(first), strict=True):
        assert_same(result, other)


def test_results_equal_those_of_the_bare_laboratory(folder):
    experiments = [digits(degree, n_train=200) for degree in (1, 2)]
    for stored, bare in zip(mnist.results(experiments), run(*experiments), strict=True):
        assert_same(stored, bare)


def test_only_what_is_missing_is_computed(folder, monkeypatch):
    a, b, c = digits(2, n_train=200), digits(3, n_train=200), digits(1, n_train=200)
    mnist.results([a])
    asked, find = [], Laboratory.find
    monkeypatch.setattr(Laboratory, "find", lambda self, part: asked.extend(part) or find(self, part))
    assert [result.experiment for result in mnist.results([c, a, b])] == [c, a, b]
    assert sorted(e.degree for e in asked) == [1, 3]


def test_results_of_different_sizes_and_epochs_do_not_mix(folder):
    experiments = [
        digits(2, 1, n_train=100),
        digits(2, 2, n_train=100),
        digits(2, 1, n_train=150),
        digits(2, 1, n_train=100, random_state=9),
    ]
    for result, e in zip(mnist.results(experiments), experiments, strict=True):
        assert_same(result, run(e)[0])


@pytest.mark.parametrize("change", ["code", "data", "damage"])
def test_a_result_of_other_code_or_data_or_a_damaged_one_is_computed_again(folder, monkeypatch, change):
    e = digits(2, n_train=100)
    (first,) = mnist.results([e])
    whole = e.path.read_bytes()
    if change == "code":
        monkeypatch.setattr(store, "fingerprint", lambda modules: "another")
    elif change == "data":
        monkeypatch.setattr(datasets, "checksums", lambda name: {name: "another"})
    else:
        e.path.write_bytes(whole[: len(whole) // 2])
    with monkeypatch.context() as patch, pytest.raises(AssertionError):
        forbid(patch, "find")
        mnist.results([e])
    (second,) = mnist.results([e])
    assert_same(first, second)
    assert (e.path.read_bytes() == whole) == (change == "damage")
    forbid(monkeypatch, "__init__")
    mnist.results([e])


def test_recompute_uses_nothing_that_is_stored(folder, monkeypatch):
    e = digits(2, n_train=100)
    (first,) = mnist.results([e])
    whole = e.path.read_bytes()
    wrong = replace(first, multiclass=first.multiclass + 1)
    store.write_arrays(e.path, wrong.arrays(), e.source)
    store.write_arrays(mnist._draft(e), mnist.log_arrays(run(replace(e, random_state=99))[0].logs), e.source)
    (again,) = mnist.results([e], recompute=True)
    assert_same(again, first)
    assert e.path.read_bytes() == whole


@pytest.mark.parametrize("stage", ["find", "evaluate"])
def test_an_interrupted_run_goes_on_from_its_drafts(folder, monkeypatch, stage):
    experiments = [digits(degree, n_train=200) for degree in (1, 2, 3)]
    expected, original, calls = run(*experiments), getattr(Laboratory, stage), []

    def interrupted(self, *arguments):
        calls.append(arguments)
        if stage == "evaluate" or len(calls) == 2:
            raise KeyboardInterrupt
        return original(self, *arguments)

    monkeypatch.setattr(Laboratory, stage, interrupted)
    with pytest.raises(KeyboardInterrupt):
        mnist.results(experiments)
    drafts = files(folder)
    assert len(drafts) == {"find": 1, "evaluate": 3}[stage] and all(name.startswith("build/drafts/") for name in drafts)
    monkeypatch.setattr(Laboratory, stage, original)
    find, asked = Laboratory.find, []
    monkeypatch.setattr(Laboratory, "find", lambda self, part: asked.extend(part) or find(self, part))
    for result, other in zip(mnist.results(experiments), expected, strict=True):
        assert_same(result, other)
    assert [e.degree for e in asked] == {"find": [2, 3], "evaluate": []}[stage]
    assert all(name.startswith("build/results/") for name in files(folder))


def test_a_draft_of_other_code_is_not_used(folder, monkeypatch):
    e = digits(2, n_train=100)
    store.write_arrays(
        mnist._draft(e), mnist.log_arrays(run(replace(e, random_state=99))[0].logs), {**e.source, "code": "x"}
    )
    assert_same(mnist.results([e])[0], run(e)[0])


CHILD = """\
import sys
from pathlib import Path
from study.mnist import experiment as mnist

mnist.BUILD = Path(sys.argv[1])
print("ready", flush=True)
mnist.results([mnist.experiment(dataset="digits", degree=degree, n_epochs=10) for degree in (1, 2, 3, 4)])
"""


def test_a_run_that_is_killed_again_and_again_ends_with_the_bytes_of_one_that_was_not(tmp_path, monkeypatch):
    def start(build):
        child = subprocess.Popen([sys.executable, "-c", CHILD, build], cwd=ROOT, stdout=subprocess.PIPE, text=True)
        assert child.stdout.readline() == "ready\n"
        return child

    def kill_when(build, condition):
        """Start a run, kill it as soon as the condition holds, and look at what it leaves; True if it was killed."""
        with start(build) as child:
            begun = time.monotonic()
            while child.poll() is None and not condition(time.monotonic() - begun):
                time.sleep(0.0005)
            child.kill()
        monkeypatch.setattr(mnist, "BUILD", build)
        for e in experiments:
            for path in (e.path, mnist._draft(e)):
                if path.exists():
                    store.read_arrays(path, e.source, mnist.COMMAND)
        return child.returncode == -signal.SIGKILL

    experiments, whole, killed = [digits(degree, 10) for degree in (1, 2, 3, 4)], tmp_path / "whole", tmp_path / "killed"
    monkeypatch.setattr(mnist, "BUILD", whole)
    mnist.results(experiments)
    kills = [
        kill_when(killed, lambda elapsed: elapsed > 0.02),
        kill_when(killed, lambda _: list(killed.glob("drafts/*"))),
        kill_when(killed, lambda _: list(killed.glob("results/*"))),
    ]
    assert sum(kills) >= 2
    for e in experiments:
        e.path.parent.mkdir(parents=True, exist_ok=True)
        e.path.with_name(f"{e.path.name}.1.part").write_bytes(b"half")
    mnist.results(experiments)
    for e in experiments:
        assert e.path.read_bytes() == (whole / "results" / e.path.name).read_bytes()
    assert not list(killed.rglob("drafts/*.npz"))


# Tables.

KEYS = {
    "mnist_multiclass": ["degree", "epoch", "predictor", "split"],
    "mnist_binary": ["degree", "epoch", "digit", "predictor", "split"],
    "mnist_confusion": ["degree", "epoch", "predictor", "true", "predicted"],
}
VALUES = {"mnist_multiclass": ["errors", "n"], "mnist_binary": ["errors", "n"], "mnist_confusion": ["count"]}


@pytest.fixture(scope="module")
def two_degrees():
    return run(digits(1, n_train=100), digits(2, n_train=100))


@pytest.mark.parametrize(("name", "rows"), [("mnist_multiclass", 8), ("mnist_binary", 80), ("mnist_confusion", 400)])
def test_a_table_has_a_row_for_every_count_sorted_by_its_categories(two_degrees, name, rows):
    table = mnist.tables(two_degrees[::-1])[name]
    assert list(table.columns) == KEYS[name] + VALUES[name]
    assert len(table) == 2 * 2 * rows and not table.duplicated(KEYS[name]).any()
    pd.testing.assert_frame_equal(table, table.sort_values(KEYS[name], ignore_index=True))
    assert table.index.equals(pd.RangeIndex(len(table)))


def test_every_count_stands_in_its_row(two_degrees):
    tables = mnist.tables(two_degrees)
    assert set(tables) == set(KEYS)
    results = {result.experiment.degree: result for result in two_degrees}
    for degree, epoch, predictor, split, errors, n in tables["mnist_multiclass"].itertuples(index=False):
        s = ["train", "test"].index(split)
        assert errors == results[degree].multiclass[PREDICTORS.index(predictor), epoch - 1, s]
        assert n == [100, 597][s]
    for degree, epoch, digit, predictor, split, errors, n in tables["mnist_binary"].itertuples(index=False):
        s = ["train", "test"].index(split)
        assert errors == results[degree].binary[PREDICTORS.index(predictor), epoch - 1, digit, s]
        assert n == [100, 597][s]
    for degree, epoch, predictor, true, predicted, count in tables["mnist_confusion"].itertuples(index=False):
        assert count == results[degree].confusion[PREDICTORS.index(predictor), epoch - 1, true, predicted]


# The committed results.


@pytest.fixture(scope="module")
def committed():
    """{degree: Result} as committed; fails if one is absent, damaged or of other code."""
    return {
        e.degree: Result.from_arrays(e, store.read_arrays(e.path, e.source, mnist.COMMAND))
        for e in sorted(mnist.PUBLISHED, key=lambda e: e.degree)
    }


def test_the_committed_results_are_those_of_this_code(committed):
    assert list(committed) == [1, 2, 3, 4, 5, 6]
    for degree, result in committed.items():
        with np.load(result.experiment.path) as file:
            found = json.loads(str(file["provenance"]))
        assert found["code"] == store.fingerprint(mnist.MODULES)
        assert found["data"] == datasets.checksums("mnist") and found["parameters"]["degree"] == degree


@pytest.mark.parametrize("name", KEYS)
def test_the_committed_tables_are_those_of_this_code_and_of_the_committed_results(committed, name):
    path = mnist.RESULTS / f"{name}.csv"
    pd.testing.assert_frame_equal(mnist.table(name), store.read_table(path))
    expected = mnist.tables(list(committed.values()))[name]
    assert path.read_text() == expected.to_csv(index=False, lineterminator="\n")
    record = json.loads(path.with_suffix(".json").read_text())
    assert record["code"] == store.fingerprint(mnist.MODULES) and record["command"] == mnist.COMMAND


def test_every_published_count_is_reproduced():
    keys = ["degree", "epoch", "predictor", "split"]
    published = pd.read_csv(PUBLICATION)
    assert len(published) == 360 == len(published.drop_duplicates(keys))
    assert set(published["predictor"]) == {"final", "average", "minimizing"}
    both = published.merge(pd.read_csv(mnist.RESULTS / "mnist_multiclass.csv"), on=keys, suffixes=("", "_ours"))
    assert len(both) == 360
    differing = both[(both["errors"] != both["errors_ours"]) | (both["n"] != both["n_ours"])]
    assert differing.empty, f"{len(differing)} of 360 counts differ:\n{differing}"


def test_the_committed_logs_are_mistakes_and_tell_the_counts_of_their_perceptron(committed):
    for result in committed.values():
        for a, log in enumerate(result.logs):
            assert log.n_epochs == 10 and log.step[0] == 0 and np.all(np.diff(log.step) > 0) and log.steps() == 600_000
            for p in ("final", "minimizing"):
                for epoch in range(1, 11):
                    until = log.length(epoch) if p == "final" else log.minimizing_length(epoch)
                    assert log.errors[until - 1] == result.binary[PREDICTORS.index(p), epoch - 1, a, 0]


def test_the_committed_confusion_matrices_and_predictions_agree(committed):
    for result in committed.values():
        assert result.n == (60000, 10000) and np.all(result.confusion.sum(axis=(2, 3)) == 10000)
        diagonal = np.trace(result.confusion, axis1=2, axis2=3)
        np.testing.assert_array_equal(10000 - diagonal, result.multiclass[:, :, 1])
        for p in range(4):
            for e in range(10):
                np.testing.assert_array_equal(
                    np.bincount(result.predictions[p, e], minlength=10), result.confusion[p, e].sum(0)
                )


# A part of the published runs, computed again from the images.


@pytest.fixture(scope="module")
def images():
    """MNIST as published; skips where its files are absent."""
    absent = [file.path for file in datasets.DATASETS["mnist"].files if datasets.find(file) is None]
    if absent:
        pytest.skip(f"absent from KP_DATA and data/raw: {', '.join(absent)}")
    return datasets.load("mnist", download=False)


def test_the_first_epoch_over_all_images_is_that_of_the_committed_result(images, committed):
    (result,) = run(experiment(degree=3, n_epochs=1), memory_budget=2 * 2**30)
    whole = committed[3]
    for name in ("multiclass", "binary", "confusion", "predictions"):
        np.testing.assert_array_equal(getattr(result, name)[:, 0], getattr(whole, name)[:, 0], err_msg=name)
    wrong = (whole.predictions[:, 0] != np.asarray(images.y_test)).sum(axis=1)
    np.testing.assert_array_equal(wrong, whole.multiclass[:, 0, 1])
    for log, longer in zip(result.logs, whole.logs, strict=True):
        assert len(log) == longer.length(1)
        for column in ("example", "step", "sign", "errors"):
            np.testing.assert_array_equal(getattr(log, column), getattr(longer, column)[: len(log)], err_msg=column)


def test_weight_vectors_over_all_images_err_as_the_committed_result_of_degree_1_says(images, committed):
    e, whole = experiment(degree=1, n_epochs=1), committed[1]
    (logs,) = Laboratory("mnist", e.n_train).find([e])
    for log, longer in zip(logs, whole.logs, strict=True):
        assert len(log) == longer.length(1)
        for column in ("example", "step", "sign"):
            np.testing.assert_array_equal(getattr(log, column), getattr(longer, column)[: len(log)], err_msg=column)
    ones = [np.hstack([np.ones((len(X), 1)), X]) for X in (images.X, images.X_test)]
    for name in ("final", "average", "minimizing"):
        p, w = PREDICTORS.index(name), np.zeros((10, 785))
        for a, log in enumerate(whole.logs):
            m = log.length(1)
            if name == "minimizing":
                m = 1 + int(log.errors[:m].argmin())
            weights = 60_000 - log.step[:m] if name == "average" else np.ones(m)
            w[a] = (weights * log.sign[:m]) @ ones[0][log.example[:m]]
        for split, (X, y) in enumerate(zip(ones, (images.y, images.y_test), strict=True)):
            f, z = w @ X.T, np.where(y == np.arange(10)[:, None], 1, -1)
            assert (f.argmax(axis=0) != y).sum() == whole.multiclass[p, 0, split]
            np.testing.assert_array_equal((z * f <= 0).sum(axis=1), whole.binary[p, 0, :, split])


@pytest.mark.parametrize("degree", [1, 4])
def test_threads_and_budgets_change_no_bit_on_images(images, degree):
    e = experiment(degree=degree, n_train=2000, n_epochs=2)
    results = [run(e, threads=t, memory_budget=b)[0] for t, b in ((2, 2**28), (1, 2**28), (2, 4 * 2000 * 60))]
    for other in results[1:]:
        assert_same(results[0], other)
