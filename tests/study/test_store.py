"""What is stored is whole, and is read only by the code, for the parameters and from the data that made it."""

import hashlib
import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from study import store
from study.store import StaleResult

ROOT = Path(__file__).resolve().parents[2]
COMMAND = "python -m study run mnist"
SOURCE = {
    "experiment": "mnist",
    "parameters": {"degree": 3, "n_epochs": 10},
    "code": "0123456789abcdef",
    "data": {"mnist/images.gz": "aa11"},
    "versions": {"numpy": "2.1"},
}
ARRAYS = {
    "counts": np.arange(24, dtype=np.int32).reshape(2, 3, 4),
    "real": np.random.RandomState(0).standard_normal(20),
    "bytes": np.array([0, 255], dtype=np.uint8),
    "empty": np.empty((0, 3)),
}
TABLE = pd.DataFrame({"degree": [1, 2], "predictor": ["final", "voted"], "errors": [8189, 523]})


def other(**changes):
    return {**SOURCE, **changes}


@pytest.fixture
def arrays_file(tmp_path):
    store.write_arrays(tmp_path / "result.npz", ARRAYS, SOURCE)
    return tmp_path / "result.npz"


@pytest.fixture
def table_file(tmp_path):
    store.write_table(tmp_path / "table.csv", TABLE, SOURCE, COMMAND)
    return tmp_path / "table.csv"


# Writing.


@pytest.mark.parametrize("content", ["text, ümlaut\n", b"\x00\xffbytes"])
def test_what_is_written_is_read_and_nothing_else_is_left_in_the_folder(tmp_path, content):
    store.write(tmp_path / "new" / "folder" / "file", content)
    assert (tmp_path / "new" / "folder" / "file").read_bytes() == (content.encode() if isinstance(content, str) else content)
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["file"]


@pytest.mark.parametrize("stage", ["write", "replace"])
@pytest.mark.parametrize("error", [OSError("disk full"), KeyboardInterrupt()])
def test_a_write_that_fails_leaves_the_old_file_and_no_part(tmp_path, monkeypatch, stage, error):
    path = tmp_path / "file"
    store.write(path, "old")
    write_bytes = Path.write_bytes

    def half(self, content):
        write_bytes(self, content[: len(content) // 2])
        raise error

    def refuse(source, target):
        raise error

    if stage == "write":
        monkeypatch.setattr(Path, "write_bytes", half)
    else:
        monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(type(error)):
        store.write(path, "new content")
    monkeypatch.undo()
    assert path.read_text() == "old" and list(tmp_path.iterdir()) == [path]


def test_a_reader_sees_one_whole_version_while_others_are_written(tmp_path):
    path, versions = tmp_path / "file", [bytes([digit]) * 200_000 for digit in b"0123456789"]
    store.write(path, versions[0])
    done = threading.Event()

    def rewrite():
        for i in range(300):
            store.write(path, versions[i % 10])
        done.set()

    writer = threading.Thread(target=rewrite)
    writer.start()
    while not done.is_set():
        assert path.read_bytes() in versions
    writer.join()
    assert path.read_bytes() == versions[299 % 10]


def test_a_writer_that_is_killed_leaves_the_old_file(tmp_path):
    path = tmp_path / "file"
    store.write(path, "old")
    code = (
        "import os, signal, sys; from study import store\n"
        "os.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
        "store.write(sys.argv[1], 'new')"
    )
    assert subprocess.run([sys.executable, "-c", code, path], cwd=ROOT).returncode == -9
    assert path.read_text() == "old"


# Arrays.


def test_arrays_come_back_with_their_dtypes_shapes_and_bits(arrays_file):
    found = store.read_arrays(arrays_file, SOURCE, COMMAND)
    assert list(found) == list(ARRAYS)
    for name, array in ARRAYS.items():
        assert (found[name].dtype, found[name].shape) == (array.dtype, array.shape)
        np.testing.assert_array_equal(found[name], array)


def test_arrays_and_tables_written_again_are_the_same_bytes(tmp_path, monkeypatch, arrays_file, table_file):
    files = [arrays_file, table_file, table_file.with_suffix(".json")]
    first = [path.read_bytes() for path in files]
    monkeypatch.setattr("time.time", lambda: 2e9)
    store.write_arrays(arrays_file, ARRAYS, dict(reversed(SOURCE.items())))
    store.write_table(table_file, TABLE, dict(reversed(SOURCE.items())), COMMAND)
    assert [path.read_bytes() for path in files] == first


def test_versions_may_differ(arrays_file, table_file):
    source = other(versions={"numpy": "3.0"})
    assert set(store.read_arrays(arrays_file, source, COMMAND)) == set(ARRAYS)
    assert len(store.read_table(table_file, source, COMMAND)) == len(TABLE)


DIFFERENCES = [
    ({"experiment": "neighbours"}, "other experiment: expected neighbours, got mnist"),
    (
        {"parameters": {"degree": 2, "n_epochs": 10}},
        "other parameters: degree: expected 2, got 3; make",
    ),
    ({"parameters": {"degree": 3}}, "other parameters: n_epochs: expected nothing, got 10; make"),
    (
        {"data": {"mnist/images.gz": "bb22"}},
        "other data: mnist/images.gz: expected bb22, got aa11; make",
    ),
    ({"code": "fedcba9876543210"}, "other code: expected fedcba9876543210, got 0123456789abcdef"),
]


@pytest.mark.parametrize(("change", "message"), DIFFERENCES)
def test_arrays_made_with_other_parameters_data_or_code_are_refused(arrays_file, change, message):
    with pytest.raises(StaleResult) as refused:
        store.read_arrays(arrays_file, other(**change), COMMAND)
    for part in ("result.npz", message, f"make it again with: {COMMAND}"):
        assert part in str(refused.value)


def test_a_message_names_the_first_differences_of_long_lists_and_counts_the_others(tmp_path):
    stored = [{"dataset": "iris", "widths": [0.9, 0.6], "text": "a" * 100, "none": None} for _ in range(400)]
    wanted = [{**part, "dataset": "wine"} for part in stored[:-1]] + [{"text": "b" * 100, "widths": [0.9], "dataset": None}]
    store.write_table(tmp_path / "table.csv", TABLE, other(parameters=stored), COMMAND)
    with pytest.raises(StaleResult) as refused:
        store.read_table(tmp_path / "table.csv", other(parameters=wanted), COMMAND)
    first = ", ".join(f"[{i}].dataset: expected wine, got iris" for i in range(3))
    assert str(refused.value).endswith(f"other parameters: {first}, and 400 more; make it again with: {COMMAND}")
    last = {**stored[-1], "text": "b" * 100, "widths": [0.9], "more": True}
    with pytest.raises(StaleResult) as refused:
        store.read_table(tmp_path / "table.csv", other(parameters=[*stored[:-1], last]), COMMAND)
    changes = (f"text: expected {'b' * 70}..., got {'a' * 70}...", "more: expected True, got nothing")
    assert ", ".join(f"[399].{change}" for change in changes) in str(refused.value)
    assert "[399].widths[1]: expected nothing, got 0.6; make" in str(refused.value)


def test_missing_arrays_are_refused_with_the_command_that_makes_them(tmp_path):
    with pytest.raises(StaleResult, match=f"none.npz is missing; make it with: {COMMAND}"):
        store.read_arrays(tmp_path / "none.npz", SOURCE, COMMAND)


def test_arrays_cut_short_anywhere_are_refused(arrays_file):
    whole = arrays_file.read_bytes()
    for length in [0, 1, 3, 4, 30, *range(50, len(whole), 37), len(whole) - 22, len(whole) - 1]:
        arrays_file.write_bytes(whole[:length])
        with pytest.raises(StaleResult, match=f"result.npz is damaged.*; make it again with: {COMMAND}"):
            store.read_arrays(arrays_file, SOURCE, COMMAND)


def test_a_damaged_byte_is_refused_or_changes_no_array(arrays_file):
    whole, refused = arrays_file.read_bytes(), 0
    for i in range(len(whole)):
        arrays_file.write_bytes(whole[:i] + bytes([whole[i] ^ 0xFF]) + whole[i + 1 :])
        try:
            found = store.read_arrays(arrays_file, SOURCE, COMMAND)
        except StaleResult as error:
            assert "result.npz" in str(error) and COMMAND in str(error)
            refused += 1
            continue
        assert list(found) == list(ARRAYS), f"arrays lost by damage to byte {i} of {len(whole)}"
        for name, array in ARRAYS.items():
            np.testing.assert_array_equal(found[name], array)
    assert refused > len(whole) / 2


@pytest.mark.parametrize("kind", ["text", "one array", "no provenance", "provenance without JSON"])
def test_files_that_hold_something_else_are_refused(tmp_path, kind):
    path = tmp_path / "result.npz"
    if kind == "text":
        path.write_text("degree,errors\n1,2\n")
    elif kind == "one array":
        with open(path, "wb") as file:
            np.save(file, np.arange(3))
    else:
        np.savez(path, **({"a": np.arange(3)} | ({"provenance": np.array("{")} if "JSON" in kind else {})))
    with pytest.raises(StaleResult, match=f"result.npz is damaged.*; make it again with: {COMMAND}"):
        store.read_arrays(path, SOURCE, COMMAND)


# Tables.


def test_a_table_comes_back_with_its_record_beside_it(table_file):
    pd.testing.assert_frame_equal(store.read_table(table_file, SOURCE, COMMAND), TABLE)
    pd.testing.assert_frame_equal(store.read_table(table_file), TABLE)
    record = json.loads(table_file.with_suffix(".json").read_text())
    assert record == SOURCE | {"command": COMMAND, "rows": 2, "sha256": hashlib.sha256(table_file.read_bytes()).hexdigest()}
    assert table_file.read_text() == "degree,predictor,errors\n1,final,8189\n2,voted,523\n"


@pytest.mark.parametrize(
    ("old", "new"), [("8189", "8188"), ("final", "voted"), ("523\n", "523\n3,final,1\n"), ("523\n", "523")]
)
def test_a_table_edited_by_hand_is_refused(table_file, old, new):
    table_file.write_text(table_file.read_text().replace(old, new, 1))
    with pytest.raises(StaleResult, match=f"table.csv is not what was recorded for it; make it again with: {COMMAND}"):
        store.read_table(table_file)


@pytest.mark.parametrize("suffix", [".json", ".csv"])
def test_a_table_without_its_record_or_a_record_without_its_table_is_refused(table_file, suffix):
    table_file.with_suffix(suffix).unlink()
    with pytest.raises(StaleResult, match=f"table{suffix} is missing; make it with: {COMMAND}"):
        store.read_table(table_file, SOURCE, COMMAND)


@pytest.mark.parametrize("record", ["", '{"sha256": "', "{}", "[]"])
def test_a_table_with_a_damaged_record_is_refused(table_file, record):
    table_file.with_suffix(".json").write_text(record)
    with pytest.raises(StaleResult, match=f"table.json is damaged.*{COMMAND}"):
        store.read_table(table_file, SOURCE, COMMAND)


@pytest.mark.parametrize(("change", "message"), DIFFERENCES)
def test_a_table_made_with_other_parameters_data_or_code_is_refused(table_file, change, message):
    with pytest.raises(StaleResult) as refused:
        store.read_table(table_file, other(**change), COMMAND)
    for part in ("table.csv", message, f"make it again with: {COMMAND}"):
        assert part in str(refused.value)


@pytest.mark.parametrize("damage", ["missing", "damaged", "a folder", "other code", "edited", "no record"])
def test_messages_hold_no_path_of_the_machine_for_files_of_the_project(tmp_path, monkeypatch, damage):
    monkeypatch.setattr(store, "ROOT", tmp_path)
    arrays, table = tmp_path / "data" / "results" / "result.npz", tmp_path / "data" / "results" / "table.csv"
    store.write_arrays(arrays, ARRAYS, SOURCE)
    store.write_table(table, TABLE, SOURCE, COMMAND)
    read, path, source = store.read_arrays, arrays, SOURCE
    if damage == "missing":
        arrays.unlink()
    elif damage == "damaged":
        arrays.write_bytes(arrays.read_bytes()[:-30])
    elif damage == "a folder":
        arrays.unlink()
        arrays.mkdir()
    elif damage == "other code":
        source = other(code="x")
    else:
        read, path = store.read_table, table
        if damage == "edited":
            table.write_text(table.read_text().replace("8189", "8188"))
        else:
            table.with_suffix(".json").unlink()
    with pytest.raises(StaleResult) as refused:
        read(path, source, COMMAND)
    assert "data/results/" in str(refused.value) and str(tmp_path) not in str(refused.value)
