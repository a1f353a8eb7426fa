"""The arrays of the datasets: parsers on hand-made bytes, the published files, class indices and signs, synthetic sets."""

import gzip
import hashlib
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.stats import norm

from study import datasets
from study.datasets import DATASETS, parse

SYNTHETIC = {
    "blobs2d": datasets.blobs,
    "gaussians2d": datasets.gaussians,
    "moons": datasets.moons,
    "spirals": datasets.spirals,
    "five-classes": datasets.five_classes,
    "four-spirals": datasets.four_spirals,
}


def idx(array, *, magic=None, shape=None, extra=b""):
    """The literal format: magic number, big-endian lengths, bytes; gzip-compressed."""
    header = (magic or 0x0800 + array.ndim).to_bytes(4, "big")
    for length in shape or array.shape:
        header += length.to_bytes(4, "big")
    return gzip.compress(header + array.tobytes() + extra)


IMAGES = np.arange(24, dtype=np.uint8).reshape(4, 3, 2)
MALFORMED = {
    "little-endian": (idx(IMAGES, magic=0x03080000), "expected the IDX magic number 2051, found 50855936"),
    "no header": (gzip.compress(b"\0\0\x08\x03"), "expected an IDX header of 16 bytes, found 4 bytes"),
    "too few values": (idx(IMAGES[:-1], shape=(4, 3, 2)), "expected 24 values after an IDX header of shape"),
    "too many values": (idx(IMAGES, extra=b"\0"), "found 25"),
    "truncated gzip": (idx(IMAGES)[:-9], "expected whole gzip-compressed data"),
}


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 4), min_size=1, max_size=3), st.integers(0, 2**32 - 1))
def test_idx_arrays_are_read_as_they_were_written(shape, seed):
    array = np.random.RandomState(seed).randint(256, size=shape).astype(np.uint8)
    found = parse.idx(idx(array), ndim=array.ndim)
    assert found.dtype == np.uint8 and np.array_equal(found, array)


@pytest.mark.parametrize("case", MALFORMED)
def test_malformed_idx_names_file_expected_and_found(case):
    blob, problem = MALFORMED[case]
    with pytest.raises(ValueError, match=f"^some/images.gz: .*{problem}"):
        parse.idx(blob, ndim=3, where="some/images.gz")


def test_mnist_is_four_idx_files_and_a_row_of_X_is_an_image():
    labels = np.arange(4, dtype=np.uint8)
    parts = parse.mnist(*[("", idx(array)) for array in (IMAGES, labels, IMAGES[:2], labels[:2])])
    rows = np.arange(24).reshape(4, 6).tolist()
    assert [part.tolist() for part in parts] == [rows, [0, 1, 2, 3], rows[:2], [0, 1]]


def test_tables_forgive_blank_lines_doubled_tabs_and_padding():
    X, y = parse.table(b"1.5\t\t2\t 1\n3\t4\t10 \n \n\n")
    assert X.tolist() == [[1.5, 2], [3, 4]] and y.tolist() == [1, 10]
    layout = dict(separator=",", dtype="int64", label=0, labels="str", header=1)
    X, y = parse.table(b'"head"\nT, 2,100\n A,30,  4', **layout)
    assert X.tolist() == [[2, 100], [30, 4]] and X.dtype == np.int64 and y.tolist() == ["T", "A"]


@pytest.mark.parametrize(
    ("blob", "problem"),
    [
        (b"1,2,1\n1,1\n", r"expected rows of one length, found lengths \[2, 3\]"),
        (b"", r"expected rows of one length, found lengths \[\]"),
        (b"1,2,one\n", "expected int64 values and int64 labels.*'one'"),
        (b"1,2.5,1\n", "expected int64 values and int64 labels.*'2.5'"),
    ],
)
def test_malformed_tables_name_file_expected_and_found(blob, problem):
    with pytest.raises(ValueError, match=f"some.csv: {problem}"):
        parse.table(blob, separator=",", dtype="int64", where="some.csv")


def test_parts_are_two_files_or_the_first_rows_or_told_by_a_column():
    one = ("", b"1 0\n2 1\n")
    two = ("", b"3 1\n")
    assert [part.tolist() for part in parse.tables(one, two)] == [[[1], [2]], [0, 1], [[3]], [1]]
    assert [part.tolist() for part in parse.tables(one, n_train=1)] == [[[1]], [0], [[2]], [1]]
    context = ("", b"0 9 1 1.5 7\n1 8 0 2.5 8\n")
    assert [part.tolist() for part in parse.vowel(context)] == [[[1.5]], [7], [[2.5]], [8]]


FINGERPRINTS = {  # of the arrays, the first 16 digits
    "mnist": "53e43f82a7b477dd",
    "iris": "ba8f65ead4e9bea9",
    "sonar": "ebaab3b2e0392552",
    "vowel": "0f13fb28dcf94a49",
    "wine": "bcb03115e341f6e8",
    "seeds": "70391681a9b4e1d4",
    "winequality-red": "bc9913669a3cf931",
    "winequality-white": "10c9bfb8be4ca549",
    "optdigits": "0db285d3e5e3c42e",
    "pendigits": "f8e3dccc36f6221b",
    "letter": "21081b8dd18ba33c",
    "satimage": "bb2239ec6fc1a4ba",
}


@pytest.mark.parametrize("name", FINGERPRINTS)
def test_arrays_of_the_published_files_are_those_of_the_study(name):
    """They are skipped where their files are not."""
    if absent := [file.path for file in DATASETS[name].files if datasets.find(file) is None]:
        pytest.skip(f"absent from KP_DATA and data/raw: {', '.join(absent)}")
    assert datasets.fingerprint(datasets.load(name, download=False))[:16] == FINGERPRINTS[name]


# Class indices, signs, fingerprints.


def test_class_indices_and_signs_say_which_class_each_label_is():
    y = np.array(["b", "a", "c", "b"])
    data = datasets.Data("", y[:, None], y, y[:1, None], y[:1], (), ("a", "b", "c"), ())
    assert data.class_indices.tolist() == [1, 0, 2, 1] and data.class_indices_test.tolist() == [1]
    assert data.signs.tolist() == [[-1, 1, -1, -1], [1, -1, -1, 1], [-1, -1, 1, -1]]
    with pytest.raises(ValueError, match="expected labels among a, b, got 'c'"):
        datasets.class_indices(y, ("a", "b"))


def test_a_fingerprint_is_the_sha256_of_a_fixed_layout():
    X = np.array([[1, 2], [3, 4]])
    y = np.array([0, 1], np.uint8)
    data = datasets.Data("tiny", X, y, None, None, ("a", "b"), (0, 1), ("0", "1"))
    layout = b"X <i8 (2, 2)\n" + b"".join(i.to_bytes(8, "little") for i in (1, 2, 3, 4)) + b"y |u1 (2,)\n\x00\x01"
    for same in (X, np.asfortranarray(X), X.astype(">i8")):
        assert datasets.fingerprint(replace(data, X=same)) == hashlib.sha256(layout).hexdigest()
    other = {datasets.fingerprint(each) for each in (data, replace(data, X=X.T), replace(data, X_test=X, y_test=y))}
    assert len(other) == 3


# Synthetic sets.


@pytest.mark.parametrize("name", SYNTHETIC)
def test_a_seed_and_its_generator_give_the_same_set_and_only_that_generator_moves_on(name):
    np.random.seed(3)
    state = np.random.RandomState(7)
    global_state = np.random.get_state()[1].tolist()
    first, again, next_set = (datasets.load(name, random_state=seed) for seed in (7, state, state))
    assert np.array_equal(first.X, again.X) and np.array_equal(first.y, again.y)
    assert not np.array_equal(first.X, next_set.X) and np.random.get_state()[1].tolist() == global_state


@pytest.mark.parametrize("generate", SYNTHETIC.values())
def test_synthetic_classes_are_balanced_and_in_random_order(generate):
    X, y = generate(101, random_state=0)
    assert X.shape == (101, 2) and X.dtype == np.float64 and y.dtype == np.int64
    assert np.ptp(np.bincount(y)) == 1
    assert 20 < np.count_nonzero(np.diff(y)) < 90  # neither sorted nor alternating
    with pytest.raises(TypeError, match="random_state must be an int or a np.random.RandomState, got"):
        generate(random_state=None)
    with pytest.raises(ValueError, match="n_samples must be at least [2345], one a class, got 1"):
        generate(1, random_state=0)


@pytest.mark.parametrize(("name", "separated"), [("blobs2d", [0, 1, 2]), ("five-classes", [0, 1, 3, 4]), ("moons", [])])
def test_a_line_separates_these_classes_from_the_rest_and_no_others(name, separated):
    """The linear programme z (w.x + b) >= 1 has a solution."""
    data = datasets.load(name)
    A = np.column_stack([data.X, np.ones(len(data.X))])
    found = [linprog(np.zeros(3), -z[:, None] * A, -np.ones(len(A)), bounds=(None, None)).status for z in data.signs]
    assert found == [0 if c in separated else 2 for c in data.classes]


def test_blobs_classes_and_gaussians_have_the_stated_spread():
    X, y = datasets.blobs(30000, random_state=0)
    centred = X - 4 * np.column_stack([np.cos(2 * np.pi * y / 3), np.sin(2 * np.pi * y / 3)])
    assert np.abs(centred.mean(axis=0)).max() < 0.01 and np.hypot(*centred.T).max() <= 1.5 + 1e-12  # the margin is 0.5
    X, y = datasets.five_classes(30000, random_state=0)
    means = np.array([[0.2, 0.2], [0.8, 0.2], [0.5, 0.5], [0.2, 0.8], [0.8, 0.8]])
    assert np.hypot(*(X - means[y]).T).max() == pytest.approx(0.18, abs=0.001)
    X, y = datasets.gaussians(100000, random_state=0)
    assert np.mean((X[:, 0] > 0) != y) == pytest.approx(norm.cdf(-1), abs=0.005)


def test_moons_lie_on_their_circles_up_to_the_stated_spread():
    X, y = datasets.moons(20000, random_state=0, spread=0.0)
    np.testing.assert_allclose(np.hypot(*(X - np.outer(y, [1, 0.5])).T), 1)
    assert (X[y == 0, 1] >= 0).all() and (X[y == 1, 1] <= 0.5).all()
    np.testing.assert_allclose((datasets.moons(20000, random_state=0)[0] - X).std(axis=0), 0.15, rtol=0.03)


@pytest.mark.parametrize(
    ("generate", "pitch", "arm", "least", "most", "spread"),
    [(datasets.spirals, 1, -2, 0.25, 1.75, 0.03), (datasets.four_spirals, 2, 4, 0.5, 2.5, 0.05)],
)
def test_spirals_lie_on_their_curves_up_to_the_stated_spread(generate, pitch, arm, least, most, spread):
    X, y = generate(20000, random_state=0, spread=0.0)
    radius = np.hypot(*X.T)
    turns = radius / pitch - np.arctan2(X[:, 1], X[:, 0]) / (2 * np.pi) + y / arm
    np.testing.assert_allclose(turns, np.round(turns), atol=1e-9)
    assert [radius.min(), radius.max()] == pytest.approx([least, most], abs=0.01)
    np.testing.assert_allclose((generate(20000, random_state=0)[0] - X).std(axis=0), spread, rtol=0.03)
