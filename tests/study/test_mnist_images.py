"""The chapter on the images: nearest pairs against a literal double loop; figures draw the numbers of their tables."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from study import datasets
from study.mnist import figures, images, tables

COLUMNS = ["rank", "first", "second", "label_first", "label_second", "value"]


def squared_distance(a, b):
    return ((a - b) ** 2).sum()


def squared_sine(a, b):
    return 1 - (a @ b) * abs(a @ b) / max((a @ a) * (b @ b), 1)


LITERAL = {"distance": squared_distance, "angle": squared_sine}


def literal_pairs(X, y, count, measure):
    """All pairs of different labels, the nearest first, then those by index; taken while both examples are free."""
    X = X.astype(int)
    found = []
    for i in range(len(X)):
        for j in range(i + 1, len(X)):
            if y[i] != y[j]:
                found.append((LITERAL[measure](X[i], X[j]), i, j))
    rows = []
    used = set()
    for squared, i, j in sorted(found):
        if len(rows) < count and i not in used and j not in used:
            rows.append((len(rows) + 1, i, j, y[i], y[j], squared))
            used |= {i, j}
    return pd.DataFrame(rows, columns=COLUMNS)


@settings(deadline=None, max_examples=60)
@given(
    seed=st.integers(0, 10_000),
    n=st.integers(2, 40),
    high=st.sampled_from([2, 4, 256]),
    classes=st.integers(1, 4),
    count=st.integers(1, 12),
    block=st.sampled_from([1, 3, 1024]),
    measure=st.sampled_from(["distance", "angle"]),
)
def test_nearest_pairs_are_those_of_a_double_loop_whatever_the_blocks(seed, n, high, classes, count, block, measure):
    generator = np.random.RandomState(seed)
    X = generator.randint(high, size=(n, 3)).astype(np.uint8)
    y = generator.randint(classes, size=n)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(images, "ROWS", block)
        patch.setattr(images, "COLUMNS", 2 * block)
        found = images.nearest_pairs(X, y, count, measure=measure)
    assert found.to_dict("list") == literal_pairs(X, y, count, measure).to_dict("list")


def test_a_nearer_pair_found_late_may_take_the_partners_of_two_found_before(monkeypatch):
    monkeypatch.setattr(images, "ROWS", 1)
    monkeypatch.setattr(images, "COLUMNS", 1)
    found = images.nearest_pairs(np.array([[0], [11], [6], [5]]), np.array([0, 1, 0, 1]), 2)
    assert found[["first", "second", "value"]].to_numpy().tolist() == [[2, 3, 1], [0, 1, 121]]


@pytest.fixture(scope="module")
def digits():
    return datasets.load("digits")


@pytest.mark.parametrize("measure", images.MEASURES)
def test_pairs_of_the_digits_are_the_nearest_and_measured_in_both_ways(digits, measure):
    found = images.image_pairs(images.Settings("digits", 3, measure))
    left = digits.X[found["first"]]
    right = digits.X[found["second"]]
    assert found["squared_distance"].tolist() == ((left - right) ** 2).sum(axis=1).tolist()
    cosine = (left * right).sum(axis=1) / np.linalg.norm(left, axis=1) / np.linalg.norm(right, axis=1)
    np.testing.assert_allclose(np.cos(np.radians(found["degrees"])), cosine, rtol=1e-7)
    assert found[{"distance": "squared_distance", "angle": "degrees"}[measure]].is_monotonic_increasing


def test_copies_within_and_between_splits_are_counted(monkeypatch):
    X = np.array([[1, 2], [3, 4], [1, 2], [1, 2]])
    X_test = np.array([[3, 4], [5, 6], [3, 4]])
    monkeypatch.setattr(datasets, "load", lambda name: SimpleNamespace(X=X, X_test=X_test))
    table = images.image_copies.compute(images.Images("digits"))
    assert table.to_numpy().tolist() == [["train", 4, 2, 1], ["test", 3, 1, 2]]


# Figures.


def test_ink_is_drawn_as_medians_with_the_middle_half_and_pixels_that_never_hold_any():
    table = pd.DataFrame({"label": [3, 5], "low": [0.1, 0.2], "median": [0.15, 0.3], "high": [0.4, 0.5]})
    share = np.array([0.0, 0.25, 0.5, 0.0, 1.0, 0.1, 0.0, 0.2, 0.3])
    *_, left, right, _ = figures.figure_ink(np.zeros((2, 9)), table, share).axes
    points, _, (bars,) = left.containers[0]
    assert points.get_ydata().tolist() == [0.15, 0.3]
    assert np.allclose([segment[:, 1] for segment in bars.get_segments()], [[0.1, 0.4], [0.2, 0.5]])
    never = right.images[1]
    assert (~np.ma.getmaskarray(never.get_array())).ravel().tolist() == (share == 0).tolist()


def test_pairs_of_both_measures_are_drawn_side_by_side_with_how_far(digits):
    pairs = pd.concat([images.image_pairs(images.Settings("digits", 3, measure)) for measure in images.MEASURES])
    shown = [axis for axis in figures.figure_pairs(digits.X, pairs, columns=2).axes if axis.images]
    for left, right, pair in zip(shown[::2], shown[1::2], pairs.itertuples(), strict=True):
        for axis, example in ((left, pair.first), (right, pair.second)):
            assert np.array_equal(axis.images[0].get_array().ravel(), digits.X[example])
        how_far = pair.degrees if pair.measure == "angle" else pair.squared_distance**0.5
        assert float(right.texts[0].get_text().rstrip("°")) == pytest.approx(how_far, abs=0.05)


# Tables.


def test_images_of_each_digit_are_counted_in_both_parts(digits):
    found = tables.counts(digits.y, digits.y_test)
    assert found["training"].tolist() == [(digits.y == label).sum() for label in range(10)]
    axis = figures.figure_samples(digits.X, digits.y, found).axes[-1]
    assert [bar.get_height() for bar in axis.patches] == [*found["training"], *found["test"]]


def test_ink_is_a_share_of_full_black():
    X = np.array([[0, 4], [4, 4], [0, 0], [2, 0]])
    y = [0, 0, 1, 1]
    assert tables.ink(X, y, 4)["median"].tolist() == [0.75, 0.125]


def test_more_is_the_share_of_pairs_with_ties_for_one_half():
    a = np.array([3, 1, 2, 2])
    b = np.array([2, 0, 3])
    expected = np.mean([(s > t) + 0.5 * (s == t) for s in a for t in b])
    assert tables.more(a, b) == pytest.approx(expected)


def test_kinds_count_two_classes_whichever_comes_first():
    pairs = pd.DataFrame({"label_first": [7, 1, 4], "label_second": [1, 7, 9]})
    assert tables.kinds(pairs).to_dict() == {"1 and 7": 2, "4 and 9": 1}


def test_an_image_moved_by_one_pixel_loses_its_last_column():
    images = np.array([[[1, 0], [0, 3]], [[2, 2], [0, 0]]])
    assert tables.moved(images.reshape(2, 4), 2).tolist() == pytest.approx([np.sqrt(1 + 1 + 9), 2])
