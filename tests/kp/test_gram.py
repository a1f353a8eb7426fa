"""Inner products against Python integers and a literal sum, and the rows kept within a budget."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numba
import numpy as np
import oracles
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from threadpoolctl import threadpool_info, threadpool_limits

import kp
from kp import gram, kernels, machine
from kp.gram import (
    _BLOCK,
    _DEPTH,
    _HEIGHT,
    _SCRATCH,
    _SMALL,
    WIDTH,
    Arithmetic,
    CrossGram,
    Gram,
    Points,
    Products,
    unit_of,
)  # fmt: skip

SEEDS = st.integers(0, 2**32 - 1)


def ordered(X, Y):
    """The inner products in double precision, each summed from the first coordinate to the last."""
    X = X.astype(float)
    Y = Y.astype(float)
    out = np.zeros((len(X), len(Y)))
    for k in range(X.shape[1]):
        out += X[:, k : k + 1] * Y[:, k]
    return out


def products(X, Y, rows=None, columns=slice(None), *, threads=1):
    """The block that `Products` makes, and its arithmetic."""
    source = Products(Points(X), Points(Y), threads=threads)
    rows = np.arange(X.shape[0]) if rows is None else rows
    out = np.full((len(rows), len(np.arange(Y.shape[0])[columns])), 77, dtype=source.dtype)
    source.block(rows, columns, out)
    return out, source.arithmetic


def sparse_points(seed, n, d, *, share):
    """Real numbers (n, d), a share of which is not zero; some rows are empty."""
    random = np.random.RandomState(seed)
    X = random.standard_normal((n, d)) * (random.random_sample((n, d)) < share)
    X[:: max(n // 3, 2)] = 0
    return X


def with_heavy_rows(seed, n, *, heavy, d=784):
    """Small whole numbers (n, d), some rows large: |x|^2 of those is beyond 2^24. One is negative, so they are no bytes."""
    random = np.random.RandomState(seed)
    X = random.randint(0, 40, (n, d))
    X[0, 0] = -1
    X[1 + random.choice(n - 1, heavy, replace=False)] = random.randint(254, 256, (heavy, d))
    return X


def of_kind(kind, n, d=30):
    """Points (n, d) of each arithmetic; a few of the heavy ones are beyond single precision."""
    random = np.random.RandomState(7)
    if kind == "heavy":
        return with_heavy_rows(7, n, heavy=2, d=280)
    if kind == "real":
        return random.standard_normal((n, d))
    return random.randint(0, 256, (n, d)) if kind == "bytes" else random.randint(-(2**22), 2**22, (n, d))


# Exactness.


@settings(max_examples=60, deadline=None)
@given(SEEDS, st.integers(1, 9), st.integers(1, 9), st.integers(1, 6), st.sampled_from([1, 1000, 2**20, 2**24 + 1, 2**25]))
def test_products_of_integers_are_exact(seed, n, m, d, largest):
    random = np.random.RandomState(seed)
    X, Y = (random.randint(-largest, largest + 1, (size, d)) for size in (n, m))
    X[0, 0] = largest
    Y[0, 0] = -largest
    found, arithmetic = products(X, Y)
    assert arithmetic == (Arithmetic.SINGLE if largest <= 1000 else Arithmetic.DOUBLE)
    np.testing.assert_array_equal(found, oracles.polynomial(X, Y, 1, coef0=0))


@pytest.mark.parametrize(
    ("X", "Y", "expected"),
    [
        (with_heavy_rows(1, 100, heavy=20), None, Arithmetic.DOUBLE),
        ([[2**30, 3], [2**27, 5]], None, Arithmetic.ORDERED),
        (np.full((6, 33000), 255), None, Arithmetic.BYTES),
        (np.full((2, 33026), 255), None, Arithmetic.DOUBLE),
        (np.ones((2, 2**16)), None, Arithmetic.BYTES),
        (np.ones((2, 2**16 + 1)), None, Arithmetic.SINGLE),
        ([[1, 255], [0, 3]], [[0.5, 2.0]] * 5, Arithmetic.ORDERED),
        ([[0.5, 2.0]] * 5, [[1, 255], [0, 3]], Arithmetic.ORDERED),
    ],
)
def test_points_meet_in_the_arithmetic_that_holds_their_products(X, Y, expected):
    Y = np.array(X if Y is None else Y)
    X = np.array(X)
    found, arithmetic = products(X, Y)
    assert arithmetic == expected
    np.testing.assert_array_equal(found, ordered(X, Y))


@pytest.mark.parametrize("kind", ["bytes", "heavy", "large", "real"])
def test_rows_and_columns_in_any_order_and_number_give_the_same_bits(kind):
    X = of_kind(kind, _BLOCK + 30, d=6)
    whole, _ = products(X, X)
    np.testing.assert_array_equal(whole, whole.T)
    np.testing.assert_array_equal(np.diag(whole), Points(X).norms)
    for size, columns in ((1, slice(5, 6)), (len(X), slice(3, 200)), (40, slice(_BLOCK - 2, None))):
        rows = np.random.RandomState(7).permutation(len(X))[:size]
        np.testing.assert_array_equal(products(X, X, rows, columns)[0], whole[rows][:, columns])


# Bytes.


@settings(max_examples=60, deadline=None)
@given(SEEDS, st.integers(1, 9), st.integers(1, 150), st.integers(1, 9), st.sampled_from([0.0, 0.5, 1.0]))
def test_products_of_bytes_are_exact_however_many_of_them_are_zero(seed, n, m, d, share):
    random = np.random.RandomState(seed)
    X, Y = (random.randint(0, 256, (size, d)) * (random.random_sample((size, d)) < share) for size in (n, m))
    found, arithmetic = products(X, Y)
    assert arithmetic == Arithmetic.BYTES and found.dtype == np.int32
    np.testing.assert_array_equal(found, X @ Y.T)
    index = random.permutation(m)
    np.testing.assert_array_equal(products(X, Y, columns=index)[0], (X @ Y.T)[:, index])


@pytest.mark.parametrize(("start", "stop"), [(0, 64), (1, 5), (63, 130), (64, 200), (190, 200), (7, 7)])
@pytest.mark.parametrize("threads", [1, 2])
def test_columns_of_bytes_may_begin_and_end_inside_a_panel(start, stop, threads):
    X = np.random.RandomState(1).randint(0, 256, (200, 31))
    points = Points(X)
    for rows in (np.array([3, 199]), np.arange(200)):
        out = np.full((len(rows), stop - start), 77, dtype=np.int32)
        Products(points, points, threads=threads)._block_of_bytes(rows, slice(start, stop), out, threads)
        np.testing.assert_array_equal(out, X[rows] @ X[start:stop].T)


@pytest.mark.parametrize("has", sorted({False, machine.HAS_PAIRS, machine.HAS_QUADS}))
@pytest.mark.parametrize("numbers", [np.int8, np.int16])
def test_words_are_the_same_with_and_without_an_instruction_for_them(numbers, has, monkeypatch):
    monkeypatch.setattr(machine, "HAS_PAIRS", has and machine.HAS_PAIRS)
    monkeypatch.setattr(machine, "HAS_QUADS", has and machine.HAS_QUADS)

    @numba.njit
    def two_words(word, array, out):
        sums = machine.add_words(machine.equal_sums(np.int32(-4)), word, array, 3)
        machine.store_lanes(out, 3, machine.add_words(sums, word, array, 0))

    size = 4 if numbers == np.int8 else 2
    x = [255, 7, 0, 130][:size] if size == 4 else [255, 7]
    word = np.array(x, dtype=np.uint8 if size == 4 else np.int16).view(np.int32)[0]
    array = np.random.RandomState(2).randint(-128, 128, size * machine.SUMS + 9).astype(numbers)
    out = np.zeros(machine.SUMS + 12, dtype=np.int32)
    two_words(word, array, out)
    lanes = np.arange(machine.SUMS) * size
    expected = sum(x[k] * array[at + lanes + k].astype(int) for at in (0, 3) for k in range(size)) - 4
    np.testing.assert_array_equal(out[3 : 3 + machine.SUMS], expected)
    assert not out[:3].any() and not out[3 + machine.SUMS :].any()


@pytest.mark.parametrize("numbers", [np.int8, np.int16])
@pytest.mark.parametrize("d", [1, 3, 4, 6, 784])
def test_words_of_two_and_of_four_bytes_give_the_same_products(numbers, d, monkeypatch):
    monkeypatch.setattr(gram, "_has_quads", lambda: numbers == np.int8)
    random = np.random.RandomState(d)
    X = random.randint(0, 256, (150, d)) * random.randint(0, 2, (150, d))
    X[:2] = 255
    points = Points(X)
    assert points.panels.dtype == numbers
    assert np.count_nonzero(points.words.words) == np.diff(points.words.starts).sum()
    np.testing.assert_array_equal(products(X, X)[0], X @ X.T)
    options = dict(max_iter=3, random_state=0)
    logs = kp.OneVsAllKernelPerceptron(**options).fit(X, np.arange(150) % 3).mistakes_
    monkeypatch.undo()
    for log, expected in zip(logs, kp.OneVsAllKernelPerceptron(**options).fit(X, np.arange(150) % 3).mistakes_, strict=True):
        np.testing.assert_array_equal(log.example, expected.example)
        np.testing.assert_array_equal(log.step, expected.step)


def test_four_bytes_at_a_time_are_used_only_where_their_sums_are_right(monkeypatch):
    assert gram._has_quads() == machine.HAS_QUADS
    monkeypatch.setattr(gram, "byte_products", lambda words, rows, panels, start, out, first, last: out.fill(1))
    assert not gram._has_quads.__wrapped__()


# Rows kept within a budget.


@settings(max_examples=30, deadline=None)
@given(st.data(), st.integers(1, 12), st.sampled_from(["bytes", "real"]))
def test_the_store_holds_true_rows_of_the_latest_examples_within_its_capacity(data, n, kind):
    X = of_kind(kind, n, d=3)
    capacity = data.draw(st.integers(1, n))
    size = 4 if kind == "bytes" else 8
    gram = Gram.of_points(X, memory_budget=capacity * n * size + data.draw(st.integers(0, n * size - 1)))
    true, _ = products(X, X)
    assert gram.capacity == capacity and gram.store.shape == (capacity, n) and len(gram) == n
    used = {}
    computed = 0
    scratch = data.draw(st.sampled_from([2, _SCRATCH]))
    for clock in range(data.draw(st.integers(1, 8))):
        examples = data.draw(st.lists(st.integers(0, n - 1), max_size=capacity, unique=True))
        before = {t for t in range(n) if gram.slot[t] >= 0}
        missing = set(examples) - before
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("kp.gram._SCRATCH", scratch)
            assert gram.fetch(np.array(examples, dtype=np.intp)) == len(missing)
        computed += len(missing)
        held = {t for t in range(n) if gram.slot[t] >= 0}
        used |= dict.fromkeys(examples, clock)
        assert set(examples) <= held <= before | set(examples)
        assert len(held) == min(capacity, len(before) + len(missing)) and gram.computed == computed
        assert len({gram.slot[t] for t in held}) == len(held)
        for evicted in before - held:
            assert all(used[evicted] <= used[t] for t in held), "a row was kept that had been used less recently"
        for t in held:
            np.testing.assert_array_equal(gram.store[gram.slot[t]], true[t])


@settings(max_examples=30, deadline=None)
@given(st.data(), st.sampled_from(["bytes", "real"]))
def test_columns_of_held_and_missing_rows_are_the_true_ones_and_leave_the_store_alone(data, kind):
    X = of_kind(kind, 12, d=3)
    true, _ = products(X, X)
    gram = Gram.of_points(X, memory_budget=data.draw(st.integers(1, 12)) * 12 * 8)
    gram.fetch(np.array(data.draw(st.lists(st.integers(0, 11), max_size=gram.capacity, unique=True)), dtype=np.intp))
    store = gram.store.copy()
    slot = gram.slot.copy()
    computed = gram.computed
    examples = np.array(data.draw(st.lists(st.integers(0, 11), min_size=1, unique=True)))
    start = data.draw(st.integers(0, 11))
    stop = data.draw(st.integers(start + 1, 12))
    buffer = np.full(len(examples) * (stop - start) + 5, 77, dtype=gram.source.dtype)
    width = np.arange(stop - start)
    values, places = gram.columns(examples, start, stop, buffer)
    np.testing.assert_array_equal(values[places[:, None] + width], true[examples, start:stop])
    np.testing.assert_array_equal(gram.store[slot[slot >= 0]], store[slot[slot >= 0]])
    np.testing.assert_array_equal(gram.slot, slot)
    assert gram.computed == computed and np.all(buffer[-5:] == 77)
    again, places = CrossGram(gram.source).columns(examples, start, stop, buffer)
    np.testing.assert_array_equal(again[places[:, None] + width], true[examples, start:stop])


@pytest.mark.parametrize(
    "kernel", [kernels.linear(), kernels.polynomial(7, gamma=0.5), kernels.rbf(gamma=0.3), kernels.gaussian(sigma=2.0)]
)
def test_the_diagonal_needs_no_points_and_no_kernel_exceeds_its_bound(kernel):
    X = np.random.RandomState(0).randint(-3, 4, (9, 4))
    K = kernel(X, X)
    norms = (X**2).sum(axis=1).astype(float)
    np.testing.assert_array_equal(kernel.diagonal(norms), np.diag(K))
    assert np.abs(K).max() <= kernel.bound(norms.max())


# Refusals.


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.zeros(3), r"points must be a numeric array \(n, d\), got float64 of shape \(3,\)"),
        (np.array([["a", "b"]]), "got <U1 of shape"),
        (np.array([[1j]]), "got complex128 of shape"),
        (np.array([[1.0, np.nan]]), "points must be finite, got NaN or infinity; remove or impute those values"),
        (sparse.csr_array([[np.inf, 0.0]]), "finite"),
    ],
)
def test_points_that_are_no_finite_array_are_refused(X, message):
    with pytest.raises(ValueError, match=message):
        Points(X)


@pytest.mark.parametrize("largest", [255, 256, 2**25, 0.5])
def test_the_numbers_of_a_point_lie_side_by_side_however_they_came(largest):
    X = np.asfortranarray(np.full((5, 3), largest))
    found = Points(X)
    assert found.compact.flags.c_contiguous and found.X.flags.c_contiguous
    np.testing.assert_array_equal(found.compact, X)


@pytest.mark.parametrize(("X", "row"), [(np.ones((9, 2)), 9 * 4), (np.full((9, 2), 0.5), 9 * 8)])
def test_a_budget_below_one_row_is_refused_and_one_row_is_enough(X, row):
    message = rf"at least one row of 9 inner products \({row} bytes\), got {row - 1}; raise the budget"
    with pytest.raises(ValueError, match=message):
        Gram.of_points(X, memory_budget=row - 1)
    assert Gram.of_points(X, memory_budget=row).capacity == 1


# Tiles and threads.


@pytest.mark.parametrize("d", [0, 1, _DEPTH - 1, _DEPTH, _DEPTH + 2])
@pytest.mark.parametrize(
    ("n", "m"),
    [(0, 0), (1, 1), (3, WIDTH - 1), (_HEIGHT, WIDTH), (2 * _HEIGHT - 1, WIDTH + 1), (2 * _HEIGHT + 1, WIDTH + 9)],
)
def test_products_of_reals_are_summed_in_order_over_every_edge_of_a_tile(n, m, d):
    random = np.random.RandomState(n * m + d)
    X, Y = (random.standard_normal((size, d)) * 10.0 ** random.randint(-8, 9, (size, d)) for size in (n, m))
    np.testing.assert_array_equal(products(X, Y)[0], ordered(X, Y))


REALS = sparse_points(0, 200, 80, share=0.9)


@pytest.mark.parametrize(
    ("X", "Y", "expected"),
    [
        (REALS, REALS, Arithmetic.ORDERED),
        (sparse.csr_array(REALS), sparse.csr_array(REALS), Arithmetic.SPARSE),
        (of_kind("heavy", 120), of_kind("heavy", 2 * _BLOCK + 7), Arithmetic.SINGLE),
        (of_kind("heavy", 2 * _BLOCK + 7), of_kind("heavy", 120), Arithmetic.SINGLE),
        (of_kind("large", 90), of_kind("large", 2 * _BLOCK + 7), Arithmetic.DOUBLE),
    ],
)
def test_threads_change_no_bit_of_products_in_strips_of_rows_or_columns(X, Y, expected):
    left, right = (points.toarray() if sparse.issparse(points) else points for points in (X, Y))
    assert len(left) * len(right) * left.shape[1] > _SMALL
    one_by_one = ordered(left, right)
    for threads in (1, 2, 3, 7):
        found, arithmetic = products(X, Y, threads=threads)
        assert arithmetic == expected
        np.testing.assert_array_equal(found, one_by_one)


def test_blas_has_its_threads_again_after_blocks_of_several_threads_of_the_program():
    X = np.random.RandomState(0).randint(-9, 9, size=(300, 20))
    begun = [threading.Event(), threading.Event()]
    ended = threading.Event()

    class Slow(Products):
        """The first of two blocks goes on until the second has begun, the second until the first has ended."""

        def _make(self, *arguments):
            begun[self.number].set()
            assert (ended if self.number else begun[1]).wait(10)
            super()._make(*arguments)

    def block(number):
        source = Slow(Points(X), Points(X))
        source.number = number
        source.block(np.arange(300), slice(None), np.empty((300, 300), dtype=np.int32))
        ended.set()

    with threadpool_limits(2, "blas"):
        with ThreadPoolExecutor(2) as pool:
            first = pool.submit(block, 0)
            assert begun[0].wait(10)
            pool.submit(block, 1).result()
            first.result()
        found = [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]
    assert found and set(found) == {2}


@pytest.mark.parametrize("scale", [1, 1.01])
def test_values_are_those_of_the_kernel_at_every_degree_on_any_threads(scale):
    random = np.random.RandomState(0)
    X, Y = (scale * random.randint(-3, 4, size=(size, 5)) for size in (4, 2 * _BLOCK + 3))
    for kernel in [*(kernels.polynomial(p, gamma=0.3, coef0=0.5) for p in range(1, 10)), kernels.rbf(gamma=0.1)]:
        expected = kernel.of(ordered(X, Y), (X**2).sum(1), (Y**2).sum(1))
        for threads in (1, 3):
            found = CrossGram(Products(Points(X), Points(Y), threads=threads)).values(kernel, np.arange(4))
            np.testing.assert_allclose(found, expected, rtol=1e-12)
            assert (found == expected).all() or kernel.kind == kernels.RBF


# Sparse points.


@settings(max_examples=30, deadline=None)
@given(SEEDS, st.integers(1, 9), st.integers(1, 9), st.integers(1, 40), st.booleans())
def test_sparse_points_have_the_products_and_norms_of_dense_ones_bit_by_bit(seed, n, m, d, mixed):
    X = sparse_points(seed, n, d, share=0.4)
    Y = sparse_points(seed + 1, m, d, share=0.4)
    points = sparse.csr_matrix(X)
    found, arithmetic = products(points, Y if mixed else sparse.csc_array(Y))
    assert arithmetic == Arithmetic.SPARSE
    np.testing.assert_array_equal(found, ordered(X, Y))
    np.testing.assert_array_equal(Points(points).norms, np.diag(ordered(X, X)))


def test_sparse_points_add_up_what_is_stored_twice():
    twice = sparse.coo_array(([1.0, 2.0, 5.0], ([0, 0, 1], [1, 1, 0])), shape=(2, 2))
    assert Points(twice).norms.tolist() == [9.0, 25.0]


# Images in units of 1/255.


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_scaled_images_are_whole_numbers_in_their_unit(dtype):
    pixels = np.random.RandomState(0).randint(0, 256, (9, 20))
    images = (pixels / 255).astype(dtype)
    points = Points.per(unit_of(images), images)
    assert points.per_unit == 255 and points.compact.dtype == np.uint8
    np.testing.assert_array_equal(points.X, pixels)
    source = CrossGram(Products(points, points))
    kernel = kernels.polynomial(3, gamma=0.1)
    K = source.values(kernel, np.arange(9))
    base = 0.1 / 255**2 * (pixels @ pixels.T) + 1
    np.testing.assert_array_equal(K, base * base * base)


@pytest.mark.parametrize(
    "X",
    [
        np.eye(3), np.array([[0.51, 1 / 255]]), np.array([[256 / 255, 0.2]]), np.array([[-1 / 255]]), np.ones((2, 3), int),
        sparse.csr_array([[1 / 255]]), np.empty((0, 2)),
    ],
)  # fmt: skip
def test_points_that_are_no_images_keep_their_unit(X):
    assert unit_of(X) == 1


@pytest.mark.parametrize("kind", [np.asarray, lambda X: X.astype(np.uint8), lambda X: X + 0.5, sparse.csr_array])
@pytest.mark.parametrize("features", [3, 7])
def test_points_of_other_features_do_not_meet(kind, features):
    X = np.arange(20).reshape(4, 5)
    Y = np.arange(2 * features).reshape(2, features)
    with pytest.raises(ValueError, match=f"the same number of features, got 5 and {features}"):
        Products(Points(kind(X)), Points(kind(Y)))


def test_points_in_different_units_do_not_meet():
    with pytest.raises(ValueError, match="points must be in the same units, got 1/255 and 1/1"):
        Products(Points.per(255, np.eye(2) / 255), Points(np.eye(2)))


def test_kept_values_of_images_are_in_their_unit():
    images = np.random.RandomState(3).randint(0, 256, (30, 784)) / 255
    kernel = kernels.rbf(gamma=0.5)
    images[0, 0] = 0.1234
    points = Points.per(255, images)
    gram = Gram(Products(points, points), memory_budget=10**7, kernel=kernel)
    assert gram.source.arithmetic == Arithmetic.ORDERED and gram.kept == kernel
    np.testing.assert_allclose(gram.values(kernel, np.arange(30)), kernel(images, images), rtol=1e-9)
