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


def written(folder, **columns):
    path = folder / "My Flowers.csv"
    pd.DataFrame(columns).to_csv(path, index=False)
    return path


@pytest.mark.parametrize("labels", [["rose", "lily", "rose"], [7, 3, 7]], ids=["words", "numbers"])
def test_a_file_becomes_a_data_set_with_its_labels_in_any_column(folder, monkeypatch, labels):
    path = written(folder, height=[1.5, 2.0, 2.5], kind=labels, width=[3, 4, 5])
    assert own.enter(path, "kind") == "my-flowers"
    monkeypatch.setitem(registry.DATASETS, "my-flowers", registry.read(own.OWN)["my-flowers"])
    data = datasets.load("my-flowers", download=False)
    assert np.array_equal(data.X, [[1.5, 3], [2.0, 4], [2.5, 5]]) and data.y.tolist() == labels
    assert data.classes == tuple(sorted(set(labels))) and data.feature_names == ("height", "width")
    own.enter(path, "kind", "others")
    assert list(registry.read(own.OWN)) == ["my-flowers", "others"]


@pytest.mark.parametrize(
    ("columns", "label", "message"),
    [
        ({"x": [1, 2], "y": [0, 1]}, "z", "one of x, y, got 'z'"),
        ({"x": ["a", "b"], "y": [0, 1]}, "y", "got words in x; encode them first"),
        ({"x": [1, None], "y": [0, 1]}, "y", "got 1 empty ones; fill them first"),
        ({"x": [1, 2], "y": [1, 1]}, "y", "at least two different labels in y, got 1"),
        ({"x": [1, 2], "y": ["a, b", "c"]}, "y", "without quotes"),
    ],
)
def test_other_files_are_refused_with_the_remedy(folder, columns, label, message):
    with pytest.raises(DataError, match=message):
        own.enter(written(folder, **columns), label)
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
    assert list(found) == ["first", "last", "my-flowers"] and found["my-flowers"].counts == (1, 2)
    assert all(found[name].files == others[name].files for name in others)

    kept = fetch.RAW / found["my-flowers"].files[0].path
    pd.DataFrame({"x": [5, 6], "y": [0, 1]}).to_csv(kept, index=False)
    monkeypatch.setitem(registry.DATASETS, "my-flowers", found["my-flowers"])
    with pytest.raises(DataError, match="register what is there now with .* add FILE.csv --label COLUMN --replace"):
        datasets.load("my-flowers", download=False)
    assert main(["add", str(kept), "--label", "y", "--replace"]) == 0
    monkeypatch.setitem(registry.DATASETS, "my-flowers", registry.read(own.OWN)["my-flowers"])
    assert datasets.load("my-flowers", download=False).X.tolist() == [[5], [6]]
