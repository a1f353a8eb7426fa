"""What is stored is whole, and is read only by the code, for the parameters and from the data that made it."""

import hashlib
import importlib
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

ROOT = Path(__file__).resolve().parents[1]
COMMAND = "python -m study run mnist"
SOURCE = {
    "experiment": "mnist",
    "parameters": {"degree": 3, "n_epochs": 10},
    "code": "0123456789abcdef",
    "modules": ["kp.kernels"],
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
    seen = set()
    while not done.is_set():
        content = path.read_bytes()
        assert content in versions
        seen.add(content[:1])
    writer.join()
    assert len(seen) > 1


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


def test_versions_and_the_list_of_modules_may_differ(arrays_file, table_file):
    newer = other(versions={"numpy": "2.5"}, modules=["kp.gram"])
    assert list(store.read_arrays(arrays_file, newer, COMMAND)) == list(ARRAYS)
    assert len(store.read_table(table_file, newer, COMMAND)) == 2


DIFFERENCES = [
    ({"experiment": "neighbours"}, "other experiment: expected neighbours, got mnist"),
    (
        {"parameters": {"degree": 2, "n_epochs": 10}},
        "other parameters: expected {'degree': 2, 'n_epochs': 10}, got {'degree': 3, 'n_epochs': 10}",
    ),
    ({"parameters": {"degree": 3}}, "other parameters"),
    (
        {"data": {"mnist/images.gz": "bb22"}},
        "other data: expected {'mnist/images.gz': 'bb22'}, got {'mnist/images.gz': 'aa11'}",
    ),
    ({"code": "fedcba9876543210"}, "other code: expected fedcba9876543210, got 0123456789abcdef"),
]


@pytest.mark.parametrize(("change", "message"), DIFFERENCES)
def test_arrays_made_with_other_parameters_data_or_code_are_refused(arrays_file, change, message):
    with pytest.raises(StaleResult) as refused:
        store.read_arrays(arrays_file, other(**change), COMMAND)
    for part in ("result.npz", message, f"make it again with: {COMMAND}"):
        assert part in str(refused.value)


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
    monkeypatch.setattr(store, "__file__", str(tmp_path / "kp" / "study" / "store.py"))
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


# Provenance.

CODE = '''\
"""A module."""

import math
from os import path as place

LIMIT = 10


class Empty:
    """Only this."""


def nothing():
    """Only this."""


@math.prod
def double(x, *, by=2):
    """Twice x."""
    if x > LIMIT and by:
        return x * by + 0.5, "text"
    return None
'''

SAME = {
    "comments": ("LIMIT = 10\n", "# Why ten.\nLIMIT = 10  # ten\n"),
    "the module's docstring": ('"""A module."""\n', '"""Another\n\nmodule."""\n'),
    "no docstring of the module": ('"""A module."""\n', ""),
    "the docstring of a function": ('"""Twice x."""', "'x, and x again'"),
    "the docstring of a function that has nothing else": (
        'def nothing():\n    """Only this."""',
        'def nothing():\n    """Or that."""',
    ),
    "the docstring of a class that has nothing else": (
        'class Empty:\n    """Only this."""',
        'class Empty:\n    """Or that."""',
    ),
    "a docstring of an attribute": ("LIMIT = 10\n", 'LIMIT = 10\n"""The limit."""\n'),
    "blank lines": ("\n\n\n", "\n\n\n\n\n"),
    "layout": ("return x * by + 0.5, ", "return (\n            (x*by) + 0.5\n        ), "),
    "quotes": ('"text"', "'text'"),
    "the way a number is written": ("LIMIT = 10", "LIMIT = 0xA"),
}

DIFFERENT = {
    "a constant": ("LIMIT = 10", "LIMIT = 11"),
    "the type of a constant": ("LIMIT = 10", "LIMIT = 10.0"),
    "a truth value": ("by=2", "by=True"),
    "a text": ('"text"', '"Text"'),
    "an operator": ("x * by", "x / by"),
    "a comparison": ("x > LIMIT", "x >= LIMIT"),
    "a connective": ("LIMIT and by", "LIMIT or by"),
    "the order of operations": ("x * by + 0.5", "x * (by + 0.5)"),
    "a name": ("return x * by", "return by * by"),
    "the name of a function": ("def nothing", "def anything"),
    "the name of a class": ("class Empty", "class Void"),
    "a default": ("by=2", "by=3"),
    "no default": ("by=2", "by"),
    "keyword or position": ("x, *, by", "x, by"),
    "a decorator": ("@math.prod\n", ""),
    "an import": ("import math", "import cmath as math"),
    "the source of an import": ("from os import", "from posix import"),
    "a base class": ("class Empty:", "class Empty(list):"),
    "a statement": ("LIMIT = 10\n", "LIMIT = 10\nLIMIT += 1\n"),
    "the order of statements": ("import math\nfrom os import path as place", "from os import path as place\nimport math"),
    "what is returned": ("return None", "return 0"),
    "a return": ("    return None\n", ""),
}


def fingerprints(tmp_path, monkeypatch, *texts, name="subject"):
    """The fingerprints of a module that has these texts, one after the other."""
    monkeypatch.syspath_prepend(tmp_path)
    found = []
    for text in texts:
        (tmp_path / f"{name}.py").write_text(text)
        importlib.invalidate_caches()
        found.append(store.fingerprint([name]))
    return found


@pytest.mark.parametrize("change", SAME)
def test_the_fingerprint_does_not_see(change, tmp_path, monkeypatch):
    text = CODE.replace(*SAME[change])
    assert text != CODE
    before, after = fingerprints(tmp_path, monkeypatch, CODE, text)
    assert before == after and len(before) == 16 and int(before, 16)


@pytest.mark.parametrize("change", DIFFERENT)
def test_the_fingerprint_sees(change, tmp_path, monkeypatch):
    text = CODE.replace(*DIFFERENT[change])
    assert text != CODE
    compile(text, change, "exec")
    before, after = fingerprints(tmp_path, monkeypatch, CODE, text)
    assert before != after


def test_the_fingerprint_sees_every_module_its_name_and_its_place(tmp_path, monkeypatch):
    fingerprints(tmp_path, monkeypatch, CODE, name="one")
    fingerprints(tmp_path, monkeypatch, CODE, name="two")
    found = [store.fingerprint(modules) for modules in (["one"], ["two"], ["one", "two"], ["two", "one"], [])]
    assert len(set(found)) == 5


def test_the_fingerprint_is_the_same_in_another_process():
    modules = ["kp.kernels", "kp.gram", "study.mnist.experiment"]
    code = f"from study import store; print(store.fingerprint({modules}))"
    environment = {**os.environ, "PYTHONHASHSEED": "7"}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == store.fingerprint(modules)


def test_provenance_is_plain_json_that_knows_code_data_parameters_and_versions():
    modules = ("kp.kernels", "kp.gram")
    found = store.provenance("mnist", {"degree": 3}, modules, {"file": "sha"})
    assert json.loads(json.dumps(found)) == found
    assert found["code"] == store.fingerprint(modules) and found["modules"] == list(modules)
    assert (found["experiment"], found["parameters"], found["data"]) == ("mnist", {"degree": 3}, {"file": "sha"})
    assert set(found["versions"]) == {"python", *store.VERSIONS}
    assert found["versions"]["numpy"] == np.__version__
    assert str(ROOT) not in json.dumps(found)
