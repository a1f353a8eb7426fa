"""The nearest pairs of different classes: against a literal double loop, and how the stored ones are kept."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from study import datasets
from study.data import experiment as neighbours
from study.store import StaleResult

COLUMNS = ["rank", "first", "second", "label_first", "label_second", "squared_distance"]


def literal_pairs(X, y, count):
    """All pairs of different labels, the nearest first, then those by index; taken while both examples are free."""
    found = []
    for i in range(len(X)):
        for j in range(i + 1, len(X)):
            if y[i] != y[j]:
                found.append((sum((int(a) - int(b)) ** 2 for a, b in zip(X[i], X[j], strict=True)), i, j))
    rows, used = [], set()
    for squared, i, j in sorted(found):
        if len(rows) < count and i not in used and j not in used:
            rows.append((len(rows) + 1, i, j, y[i], y[j], squared))
            used |= {i, j}
    return pd.DataFrame(rows, columns=COLUMNS)


def assert_equal(found, expected):
    assert list(found.columns) == COLUMNS
    assert found.to_numpy().tolist() == expected.to_numpy().tolist()


@settings(deadline=None, max_examples=60)
@given(
    seed=st.integers(0, 10_000),
    n=st.integers(2, 60),
    high=st.sampled_from([2, 4, 256]),
    classes=st.integers(2, 4),
    count=st.integers(1, 12),
    block=st.sampled_from([1, 3, 1024]),
)
def test_nearest_pairs_are_those_of_a_double_loop_whatever_the_blocks(seed, n, high, classes, count, block):
    generator = np.random.RandomState(seed)
    X, y = generator.randint(high, size=(n, 3)).astype(np.uint8), generator.randint(classes, size=n)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(neighbours, "ROWS", block)
        patch.setattr(neighbours, "COLUMNS", 2 * block)
        assert_equal(neighbours.nearest_pairs(X, y, count), literal_pairs(X, y, count))


def test_a_nearer_pair_found_late_may_take_the_partners_of_two_found_before(monkeypatch):
    monkeypatch.setattr(neighbours, "ROWS", 1)
    monkeypatch.setattr(neighbours, "COLUMNS", 1)
    found = neighbours.nearest_pairs(np.array([[0], [11], [6], [5]]), np.array([0, 1, 0, 1]), 2)
    assert found[["first", "second", "squared_distance"]].to_numpy().tolist() == [[2, 3, 1], [0, 1, 121]]


def test_a_set_of_one_class_has_no_pairs():
    assert neighbours.nearest_pairs(np.eye(3), np.zeros(3), 2).empty


def test_count_must_be_positive():
    with pytest.raises(ValueError, match="count must be at least 1, got 0"):
        neighbours.nearest_pairs(np.eye(2), [0, 1], 0)


@pytest.fixture
def small_mnist(tmp_path, monkeypatch):
    """publish works on 200 random images, in tmp_path; the list holds the names of the sets that were loaded."""
    loaded = []
    generator = np.random.RandomState(0)
    X, y = generator.randint(256, size=(200, 16)).astype(np.uint8), generator.randint(10, size=200)

    def load(name):
        loaded.append(name)
        return datasets.Data(name, X, y, None, None, (), (), ())

    monkeypatch.setattr(neighbours, "PATH", tmp_path / "pairs.csv")
    monkeypatch.setattr(neighbours.datasets, "load", load)
    return X, y, loaded


def test_pairs_of_mnist_are_refused_until_they_are_published(small_mnist):
    with pytest.raises(StaleResult, match="python -m study run neighbours"):
        neighbours.pairs("mnist", 5)
    neighbours.publish()
    X, y, _ = small_mnist
    assert_equal(neighbours.pairs("mnist", 5), literal_pairs(X, y, 5))


def test_publish_keeps_what_is_stored_unless_told_to_recompute(small_mnist):
    *_, loaded = small_mnist
    neighbours.publish()
    neighbours.publish()
    assert loaded == ["mnist"]
    neighbours.publish(recompute=True)
    assert loaded == ["mnist", "mnist"]


def test_pairs_of_other_code_are_refused_and_published_anew(small_mnist, monkeypatch):
    *_, loaded = small_mnist
    neighbours.publish()
    monkeypatch.setattr(neighbours, "MODULES", ("kp.gram",))
    with pytest.raises(StaleResult, match="other code"):
        neighbours.pairs("mnist", 5)
    neighbours.publish()
    assert loaded == ["mnist", "mnist"] and len(neighbours.pairs("mnist", 5)) == 5


def test_publishing_again_changes_no_byte(small_mnist):
    neighbours.publish()
    before = [path.read_bytes() for path in (neighbours.PATH, neighbours.PATH.with_suffix(".json"))]
    neighbours.publish(recompute=True)
    assert before == [path.read_bytes() for path in (neighbours.PATH, neighbours.PATH.with_suffix(".json"))]


def test_pairs_of_the_digits_are_found_on_the_spot():
    data = datasets.load("digits")
    found = neighbours.pairs("digits", 3)
    squared = ((data.X[found["first"]] - data.X[found["second"]]) ** 2).sum(axis=1)
    assert found["squared_distance"].tolist() == squared.tolist() == sorted(squared)
    assert (found["label_first"] != found["label_second"]).all()


@pytest.mark.parametrize(("dataset", "count"), [("iris", 5), ("mnist", 21), ("mnist", 0)])
def test_pairs_says_what_it_can_give(dataset, count):
    with pytest.raises(ValueError, match="must be"):
        neighbours.pairs(dataset, count)


def test_the_stored_pairs_belong_to_the_code_and_to_the_images():
    found = neighbours.pairs("mnist", neighbours.COUNT)
    assert found["squared_distance"].is_monotonic_increasing and (found["first"] < found["second"]).all()
    try:
        data = datasets.load("mnist", download=False)
    except datasets.DataError:
        pytest.skip("the MNIST files are not there; get them with: python -m study.datasets fetch mnist")
    moves = data.X[found["first"]].astype(int) - data.X[found["second"]]
    assert (moves**2).sum(axis=1).tolist() == found["squared_distance"].tolist()
    assert data.y[found["first"]].tolist() == found["label_first"].tolist()
    assert data.y[found["second"]].tolist() == found["label_second"].tolist()
