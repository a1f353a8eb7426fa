"""What is stored is whole, and is read only by the code, for the parameters and from the data that made it."""

import hashlib
import json
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from study.results import store
from study.results.store import StaleResult

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


def arrays_of(folder, source=SOURCE):
    """A stored file of arrays and what reads it."""
    store.write_arrays(folder / "result.npz", ARRAYS, source)
    return folder / "result.npz", store.read_arrays


def table_of(folder, source=SOURCE):
    """A stored table and what reads it."""
    store.write_table(folder / "table.csv", TABLE, source, COMMAND)
    return folder / "table.csv", store.read_table


STORED = pytest.mark.parametrize("write", [arrays_of, table_of])


def refusal(read, path, source=SOURCE):
    """The message with which a stored result is refused, which names the file and the command."""
    with pytest.raises(StaleResult) as refused:
        read(path, source, COMMAND)
    assert path.stem in str(refused.value) and COMMAND in str(refused.value)
    return str(refused.value)


# Writing.


@pytest.mark.parametrize("content", ["text, ümlaut\n", b"\x00\xffbytes"])
def test_what_is_written_is_read_and_nothing_else_is_left_in_the_folder(tmp_path, content):
    path = tmp_path / "new" / "folder" / "file"
    store.write(path, content)
    assert path.read_bytes() == (content.encode() if isinstance(content, str) else content)
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("error", [OSError("disk full"), KeyboardInterrupt()])
@pytest.mark.parametrize("stage", [(Path, "write_bytes"), (os, "replace")])
def test_a_write_that_fails_leaves_the_old_file_and_no_part(tmp_path, monkeypatch, stage, error):
    path = tmp_path / "file"
    write_bytes = Path.write_bytes
    store.write(path, "old")

    def half(self, content):
        if stage[0] is Path:
            write_bytes(self, content[: len(content) // 2])
        raise error

    with monkeypatch.context() as patch, pytest.raises(type(error)):
        patch.setattr(*stage, half)
        store.write(path, "new content")
    assert path.read_text() == "old" and list(tmp_path.iterdir()) == [path]


# Arrays.


def about(arrays):
    """{name: dtype, shape and bits} of arrays."""
    return {name: (array.dtype, array.shape, array.tobytes()) for name, array in arrays.items()}


@pytest.mark.parametrize(
    ("values", "least", "kind"),
    [
        ([0, 255], np.uint8, np.uint8), ([0, 256], np.uint8, np.uint16), ([], np.uint8, np.uint8),
        ([0, 65_535], np.uint16, np.uint16), ([0, 65_536], np.uint16, np.uint32), ([2**32], np.uint32, np.uint64),
        ([-1, 3], np.uint8, np.int16), ([-300.0], np.int16, np.int16), ([40_000], np.int16, np.int32),
    ],
)  # fmt: skip
def test_whole_numbers_are_kept_in_the_least_type_or_one_that_holds_them(values, least, kind):
    found = store.narrow(values, least)
    assert found.dtype == kind and found.tolist() == values


def test_arrays_come_back_with_their_dtypes_shapes_and_bits(tmp_path):
    path, read = arrays_of(tmp_path)
    assert about(read(path, SOURCE, COMMAND)) == about(ARRAYS)


def test_a_message_names_the_first_differences_of_long_lists_and_counts_the_others(tmp_path):
    stored = [{"dataset": "iris", "widths": [0.9, 0.6], "text": "a" * 100} for _ in range(400)]
    path, read = table_of(tmp_path, SOURCE | {"parameters": stored})
    wanted = [{**part, "dataset": "wine"} for part in stored]
    first = ", ".join(f"[{i}].dataset: expected wine, got iris" for i in range(3))
    assert f"other parameters: {first}, and 397 more; make it" in refusal(read, path, SOURCE | {"parameters": wanted})
    last = {"dataset": "iris", "text": "b" * 100, "widths": [0.9]}
    message = refusal(read, path, SOURCE | {"parameters": [*stored[:-1], last]})
    assert f"[399].text: expected {'b' * 70}..., got {'a' * 70}..." in message
    assert "[399].widths[1]: expected nothing, got 0.6" in message


def test_arrays_cut_short_anywhere_are_refused(tmp_path):
    path, read = arrays_of(tmp_path)
    whole = path.read_bytes()
    for length in [0, 1, 3, 4, 30, *range(50, len(whole), 137), len(whole) - 22, len(whole) - 1]:
        path.write_bytes(whole[:length])
        assert "is damaged" in refusal(read, path)


def test_a_damaged_byte_is_refused_or_changes_no_array(tmp_path):
    path, read = arrays_of(tmp_path)
    whole = path.read_bytes()
    refused = 0
    for i in range(0, len(whole), 3):
        path.write_bytes(whole[:i] + bytes([whole[i] ^ 0xFF]) + whole[i + 1 :])
        try:
            assert about(read(path, SOURCE, COMMAND)) == about(ARRAYS), f"byte {i}"
        except StaleResult:
            refused += 1
    assert refused > len(whole) / 6


@pytest.mark.parametrize("others", [{}, {"provenance": np.array("{")}])
def test_arrays_without_their_provenance_are_refused(tmp_path, others):
    path = tmp_path / "result.npz"
    np.savez(path, a=np.arange(3), **others)
    assert "result.npz is damaged" in refusal(store.read_arrays, path)


# Tables.


def test_labels_that_look_like_numbers_or_missing_values_come_back_as_text(tmp_path):
    labels = ["01", "1", "1.0", "NA", "None", "", "True", "a,b", 'say "x"', "two\nlines", " blank "]
    for some in (labels, ["0", "1"], ["NA", "b"], ["a", "b"]):
        table = pd.DataFrame({"true": some, "predicted": some[::-1], "n": range(len(some)), "kind": "x"})
        store.write_table(tmp_path / "table.csv", table, SOURCE, COMMAND)
        found = store.read_table(tmp_path / "table.csv", SOURCE)
        assert found.to_dict("list") == table.to_dict("list")
        texts = json.loads((tmp_path / "table.json").read_text()).get("texts", [])
        assert texts == ([] if some == ["a", "b"] else ["true", "predicted"])


def test_a_table_comes_back_with_its_record_beside_it(tmp_path):
    path, read = table_of(tmp_path)
    pd.testing.assert_frame_equal(read(path, SOURCE, COMMAND), TABLE)
    record = json.loads(path.with_suffix(".json").read_text())
    assert record == SOURCE | {"command": COMMAND, "rows": 2, "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
    assert path.read_text() == "degree,predictor,errors\n1,final,8189\n2,voted,523\n"


@STORED
def test_what_is_written_again_is_the_same_bytes(tmp_path, monkeypatch, write):
    write(tmp_path)
    first = {path: path.read_bytes() for path in tmp_path.iterdir()}
    monkeypatch.setattr("time.time", lambda: 2e9)
    write(tmp_path, dict(reversed(SOURCE.items())))
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == first


@STORED
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"experiment": "neighbours"}, "other experiment: expected neighbours, got mnist"),
        ({"parameters": {"degree": 2, "n_epochs": 10}}, "other parameters: degree: expected 2, got 3; make"),
        ({"data": {"mnist/images.gz": "bb22"}}, "other data: mnist/images.gz: expected bb22, got aa11; make"),
        ({"code": "fedcba9876543210"}, "other code: expected fedcba9876543210, got 0123456789abcdef"),
    ],
)
def test_what_was_made_otherwise_is_refused_but_versions_may_differ(tmp_path, write, change, message):
    path, read = write(tmp_path)
    assert message in refusal(read, path, SOURCE | change)
    read(path, SOURCE | {"versions": {"numpy": "3.0"}}, COMMAND)


@pytest.mark.parametrize(("old", "new"), [("8189", "8188"), ("523\n", "523\n3,final,1\n"), ("523\n", "523")])
def test_a_table_edited_by_hand_is_refused(tmp_path, old, new):
    path, _ = table_of(tmp_path)
    path.write_text(path.read_text().replace(old, new, 1))
    with pytest.raises(StaleResult, match=f"table.csv is not what was recorded for it; make it again with: {COMMAND}"):
        store.read_table(path)


@pytest.mark.parametrize("record", ["", '{"sha256": "', "{}", "[]"])
def test_a_table_with_a_damaged_record_is_refused(tmp_path, record):
    path, read = table_of(tmp_path)
    path.with_suffix(".json").write_text(record)
    assert "table.json is damaged" in refusal(read, path)


@pytest.mark.parametrize("missing", ["result.npz", "table.csv", "table.json"])
def test_what_is_missing_is_refused_with_the_command_that_makes_it(tmp_path, missing):
    path, read = table_of(tmp_path) if "table" in missing else arrays_of(tmp_path)
    (tmp_path / missing).unlink()
    assert f"{missing} is missing; make it with: {COMMAND}" in refusal(read, path)


@STORED
@pytest.mark.parametrize("damage", [Path.unlink, lambda path: path.write_bytes(b"PK"), lambda path: None])
def test_messages_hold_no_path_of_the_machine_for_files_of_the_project(tmp_path, monkeypatch, write, damage):
    monkeypatch.setattr(store, "ROOT", tmp_path)
    path, read = write(tmp_path / "data" / "results")
    damage(path)
    message = refusal(read, path, SOURCE | {"code": "x"})
    assert "data/results/" in message and str(tmp_path) not in message


def test_a_result_that_reads_arrays_depends_on_their_values_and_not_on_their_provenance(tmp_path):
    path = tmp_path / "a.npz"
    found = []
    for value, code in ((1, "old"), (1, "new"), (2, "new")):
        store.write_arrays(path, {"x": np.array([value])}, {"code": code})
        found.append(store.content_hash(path))
    assert found[0] == found[1] != found[2]
