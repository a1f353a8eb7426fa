"""Data sets of one's own: from a CSV file to arrays, and what is refused."""

import numpy as np
import pandas as pd
import pytest

from study import datasets
from study.datasets import fetch, own, registry
from study.datasets.__main__ import main
from study.datasets.registry import DataError


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder of files, with places of its own for what is registered."""
    monkeypatch.setattr(own, "OWN", tmp_path / "own.toml")
    monkeypatch.setattr(fetch, "RAW", tmp_path / "raw")
    monkeypatch.delenv("KP_DATA", raising=False)
    return tmp_path


def written(folder, times=50, **columns):
    """A file with these columns, so many times one below the other."""
    path = folder / "My Flowers.csv"
    pd.concat([pd.DataFrame(columns)] * times).to_csv(path, index=False)
    return path


@pytest.mark.parametrize("labels", [["rose", "lily", "rose"], [7, 3, 7]], ids=["words", "numbers"])
def test_a_file_becomes_a_data_set_with_its_labels_in_any_column(folder, monkeypatch, labels):
    path = written(folder, height=[1.5, 2.0, 2.5], kind=labels, width=[3, 4, 5])
    assert own.enter(path, "kind") == "my-flowers"
    monkeypatch.setitem(registry.DATASETS, "my-flowers", registry.read(own.OWN)["my-flowers"])
    data = datasets.load("my-flowers", download=False)
    assert np.array_equal(data.X, 50 * [[1.5, 3], [2.0, 4], [2.5, 5]]) and data.y.tolist() == 50 * labels
    assert data.classes == tuple(sorted(set(labels))) and data.feature_names == ("height", "width")
    own.enter(path, "kind", "others")
    assert list(registry.read(own.OWN)) == ["my-flowers", "others"]


@pytest.mark.parametrize(
    ("columns", "label", "message"),
    [
        ({"x": [1, 2], "y": [0, 1]}, "z", "one of x, y, got 'z'"),
        ({"x": ["a", "b"], "y": [0, 1]}, "y", "got words in x; encode them first"),
        ({"x": [1, None], "y": [0, 1]}, "y", "got 50 empty ones; fill them first"),
        ({"x": [1, np.inf], "y": [0, 1]}, "y", "got 50 that are infinite; replace them first"),
        ({"x": [], "y": []}, "y", "expected rows below the head, got none"),
        ({"y": [0, 1]}, "y", "expected columns of numbers besides y, got none"),
        ({"x;y": ["1;2", "1;3"]}, "y", "got 'y'; separate the columns by commas"),
        ({"x": [1], "y": [0]}, "y", "at least two different labels in y, got 1"),
        ({"x": [1] * 98, "y": [0] * 49 + [1] * 49, "times": 1}, "y", "at least 100 rows, .*, got 98; collect more"),
        ({"x": [1] * 105, "y": [0] * 101 + [1] * 4, "times": 1}, "y", "got fewer of 1, such as 1; join them with others"),
        ({"x": [1, 2], "y": [1, 1]}, "y", "at least two different labels in y, got 1"),
        ({"x": [1, 2], "y": ["a, b", "c"]}, "y", "without quotes"),
    ],
)
def test_other_files_are_refused_with_the_remedy(folder, columns, label, message):
    with pytest.raises(DataError, match=message):
        own.enter(written(folder, **columns), label)
    assert not own.OWN.exists()


def test_another_encoding_and_a_name_that_is_read_as_a_number_are_refused_with_the_remedy(folder):
    path = written(folder, x=[1, 2], y=["ä", "b"])
    with pytest.raises(DataError, match="not read as a number; give one with --name"):
        own.enter(path, "y", "inf")
    path.write_bytes(path.read_text(encoding="utf-8").encode("latin-1"))
    with pytest.raises(DataError, match="got another encoding; save it as UTF-8"):
        own.enter(path, "y")


@pytest.mark.parametrize("row", ["1,0.5,2,3", "0.5,2,3,1"])
def test_rows_with_more_fields_than_the_head_are_named(folder, row):
    (folder / "my flowers.csv").write_text("y,a,b\n" + f"{row}\n" * 120)
    with pytest.raises(DataError, match="found: rows with more fields than the 3 names of the head"):
        own.enter(folder / "my flowers.csv", "y")
    assert not own.OWN.exists()


def test_a_name_that_is_taken_is_refused(folder):
    with pytest.raises(DataError, match="got one that is there; give another with --name"):
        own.enter(written(folder, x=[1, 2], y=[0, 1]), "y", "iris")


def test_a_file_that_changed_is_refused_with_the_remedy_that_works(folder, monkeypatch, capsys):
    path = written(folder, x=[1, 2], y=[0, 1])
    add = ["add", str(path), "--label", "y"]
    assert main([*add, "--name", "first"]) == main(add) == main([*add, "--name", "last"]) == 0
    others = {name: each for name, each in registry.read(own.OWN).items() if name != "my-flowers"}
    written(folder, x=[1, 2, 3], y=[0, 1, 1])
    capsys.readouterr()
    assert main(add) == 1
    assert f"my-flowers: expected the name of a new data set, got one that is registered in {own.OWN}; add --replace" in (
        capsys.readouterr().err
    )
    assert main([*add, "--replace"]) == 0
    found = registry.read(own.OWN)
    assert list(found) == ["first", "last", "my-flowers"] and found["my-flowers"].counts == (50, 100)
    assert all(found[name].files == others[name].files for name in others)

    kept = fetch.RAW / found["my-flowers"].files[0].path
    pd.DataFrame({"x": [5, 6] * 50, "y": [0, 1] * 50}).to_csv(kept, index=False)
    monkeypatch.setitem(registry.DATASETS, "my-flowers", found["my-flowers"])
    with pytest.raises(DataError, match="register what is there now with .* add FILE.csv --label COLUMN --replace"):
        datasets.load("my-flowers", download=False)
    assert main(["add", str(kept), "--label", "y", "--replace"]) == 0
    monkeypatch.setitem(registry.DATASETS, "my-flowers", registry.read(own.OWN)["my-flowers"])
    assert datasets.load("my-flowers", download=False).X.tolist() == 50 * [[5], [6]]
