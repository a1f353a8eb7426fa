"""Inner products against Python integers and a literal sum, and the rows kept within a budget."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import sparse
from threadpoolctl import threadpool_info, threadpool_limits

from kp import kernels
from kp.gram import (
    BLOCK,
    BYTES,
    DEPTH,
    DOUBLE,
    GIVEN,
    HEIGHT,
    ORDERED,
    SINGLE,
    SMALL,
    SPARSE,
    WIDTH,
    CrossGram,
    Gram,
    Points,
    PrecomputedKernel,
    Products,
    dot,
    unit_of,
)  # fmt: skip

SEEDS = st.integers(0, 2**32 - 1)


def integers(X, Y):
    """The inner products in Python integers."""
    return [[sum(int(a) * int(b) for a, b in zip(x, y, strict=True)) for y in Y] for x in X]


def ordered(X, Y):
    """The inner products in double precision, each summed from the first coordinate to the last."""
    out = np.zeros((len(X), len(Y)))
    for i, x in enumerate(X):
        for j, y in enumerate(Y):
            for a, b in zip(x, y, strict=True):
                out[i, j] += float(a) * float(b)
    return out


def products(X, Y, rows=None, columns=slice(None)):
    """The block that `Products` makes, and its arithmetic."""
    rows, source = np.arange(len(X)) if rows is None else rows, Products(Points(X), Points(Y))
    out = np.full((len(rows), len(range(len(Y))[columns])), 77, dtype=source.dtype)
    source.block(rows, columns, out)
    return out, source.arithmetic


def sparse_points(seed, n, d, share=0.1):
    """Real numbers (n, d) of which most are zero, some rows empty."""
    random = np.random.RandomState(seed)
    X = random.standard_normal((n, d)) * (random.random_sample((n, d)) < share)
    X[:: max(n // 3, 2)] = 0
    return X


def with_heavy_rows(seed, n, *, heavy=1, d=784):
    """Dark images (n, d) of bytes, some of them white: |x|^2 of those is beyond 2^24."""
    random = np.random.RandomState(seed)
    X = random.randint(0, 40, (n, d)).astype(np.uint8)
    X[random.choice(n, heavy, replace=False)] = 255
    return X


# Exactness.


@settings(max_examples=60, deadline=None)
@given(SEEDS, st.integers(1, 9), st.integers(1, 9), st.integers(1, 12), st.integers(0, 4000), st.booleans())
def test_small_integers_are_multiplied_in_single_precision_without_rounding(seed, n, m, d, largest, as_floats):
    random = np.random.RandomState(seed)
    X, Y = random.randint(-largest, largest + 1, (n, d)), random.randint(-largest, largest + 1, (m, d))
    if max(integers(X, X)[i][i] for i in range(n)) * max(integers(Y, Y)[j][j] for j in range(m)) > 2**48:
        X, Y = X // 40, Y // 40
    found, arithmetic = products(X.astype(float) if as_floats else X, Y)
    assert arithmetic == SINGLE and found.dtype == np.int32
    assert found.tolist() == integers(X, Y)


@settings(max_examples=15, deadline=None)
@given(SEEDS, st.integers(0, 3))
def test_pairs_beyond_single_precision_are_exact_all_the_same(seed, tail):
    X = with_heavy_rows(seed, 200)
    X[X.max(axis=1) == 255, : tail * 3] = 254 - tail
    found, arithmetic = products(X, X)
    assert arithmetic == SINGLE
    np.testing.assert_array_equal(found, X.astype(np.int64) @ X.astype(np.int64).T)
    assert found.max() > 2**24


def test_single_precision_alone_would_round_these_pairs():
    X = with_heavy_rows(0, 200)
    X[X.max(axis=1) == 255, 0] = 254
    rounded = X.astype(np.float32) @ X.astype(np.float32).T
    assert np.any(rounded != X.astype(np.int64) @ X.astype(np.int64).T)


def test_many_pairs_beyond_single_precision_go_to_double():
    X = with_heavy_rows(1, 100, heavy=20)
    found, arithmetic = products(X, X)
    assert arithmetic == DOUBLE and found.dtype == np.float64
    np.testing.assert_array_equal(found, X.astype(np.int64) @ X.astype(np.int64).T)


@settings(max_examples=60, deadline=None)
@given(SEEDS, st.integers(1, 6), st.integers(1, 6), st.integers(1, 6), st.sampled_from([2**14, 2**20, 2**24 + 1, 2**25]))
def test_large_integers_are_exact_in_double_precision(seed, n, m, d, largest):
    random = np.random.RandomState(seed)
    X, Y = random.randint(-largest, largest + 1, (n, d)), random.randint(-largest, largest + 1, (m, d))
    X[0, 0], Y[0, 0] = largest, -largest
    found, arithmetic = products(X, Y)
    assert arithmetic == DOUBLE
    assert [list(map(int, row)) for row in found] == integers(X, Y)


def test_integers_on_both_sides_of_two_to_the_24_are_exact_together():
    X, Y = np.array([[2**24 - 1, 3]]), np.array([[2**25 + 1, -1]])
    found, arithmetic = products(X, Y)
    assert arithmetic == DOUBLE and found.tolist() == [[(2**24 - 1) * (2**25 + 1) - 3]]


def test_integers_beyond_double_precision_are_summed_in_order():
    X = np.array([[2**30, 3], [2**27, 5]])
    found, arithmetic = products(X, X)
    assert arithmetic == ORDERED
    np.testing.assert_array_equal(found, ordered(X, X))


@settings(max_examples=60, deadline=None)
@given(SEEDS, st.integers(1, 8), st.integers(1, 8), st.integers(1, 30), st.sampled_from([np.float32, np.float64]))
def test_products_of_reals_are_the_literal_sum_bit_by_bit(seed, n, m, d, dtype):
    random = np.random.RandomState(seed)
    X = (random.standard_normal((n, d)) * 10.0 ** random.randint(-8, 9, (n, d))).astype(dtype)
    Y = (random.standard_normal((m, d)) * 10.0 ** random.randint(-8, 9, (m, d))).astype(dtype)
    assume(not (np.all(X == np.rint(X)) and np.all(Y == np.rint(Y))))
    found, arithmetic = products(X, Y)
    assert arithmetic == ORDERED
    np.testing.assert_array_equal(found, ordered(X, Y))


def test_integers_with_reals_are_summed_in_order_from_either_side():
    random = np.random.RandomState(0)
    X, Y = random.randint(0, 256, (7, 20)), random.standard_normal((5, 20))
    for A, B in ((X, Y), (Y, X)):
        found, arithmetic = products(A, B)
        assert arithmetic == ORDERED
        np.testing.assert_array_equal(found, ordered(A, B))


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int8, np.int64, np.float32, np.float64])
def test_the_type_of_the_numbers_does_not_matter(dtype):
    X = np.random.RandomState(0).randint(0, 2 if dtype is bool else 100, (20, 9))
    found, arithmetic = products(X.astype(dtype), X)
    assert arithmetic == SINGLE and found.tolist() == integers(X, X)


@settings(max_examples=30, deadline=None)
@given(SEEDS, st.sampled_from(["bytes", "heavy", "large", "real"]))
def test_inner_products_are_symmetric_and_squared_norms_on_the_diagonal(seed, kind):
    random = np.random.RandomState(seed)
    X = {
        "bytes": lambda: random.randint(0, 256, (20, 30)),
        "heavy": lambda: with_heavy_rows(seed, 60),
        "large": lambda: random.randint(-(2**22), 2**22, (20, 30)),
        "real": lambda: random.standard_normal((20, 30)),
    }[kind]()
    found, _ = products(X, X)
    np.testing.assert_array_equal(found, found.T)
    np.testing.assert_array_equal(np.diag(found), Points(X).norms)


@pytest.mark.parametrize("kind", ["bytes", "heavy", "large", "real"])
def test_rows_and_columns_in_any_order_and_number_give_the_same_bits(kind):
    random = np.random.RandomState(7)
    n = BLOCK + 30
    X = {
        "bytes": lambda: random.randint(0, 256, (n, 6)),
        "heavy": lambda: with_heavy_rows(7, n, heavy=3, d=400),
        "large": lambda: random.randint(-(2**22), 2**22, (n, 6)),
        "real": lambda: random.standard_normal((n, 6)),
    }[kind]()
    Y = np.concatenate([X] * 5)[: 4 * BLOCK + 17]
    whole, arithmetic = products(X, Y)
    if arithmetic != ORDERED:
        np.testing.assert_array_equal(whole, X.astype(np.int64) @ Y.astype(np.int64).T)
    for size, columns in ((1, slice(5, 6)), (n, slice(3, 900)), (40, slice(4 * BLOCK - 2, None))):
        rows = random.permutation(n)[:size]
        np.testing.assert_array_equal(products(X, Y, rows, columns)[0], whole[rows][:, columns])


def test_points_as_bytes_are_the_same_points():
    for X in (np.array([[0, 255]]), np.array([[0.0, 255.0]]), np.array([[0, 256]]), np.array([[-1, 5]]), np.array([[0.5]])):
        points = Points(X)
        np.testing.assert_array_equal(points.compact, X)
        assert (points.compact.dtype == np.uint8) == (X.max() == 255)


def test_points_do_not_change_when_their_array_does():
    for X in (np.ones((2, 2)), np.ones((2, 2), dtype=np.float32), np.ones((2, 2), dtype=np.uint8), np.full((2, 2), 0.5)):
        points = Points(X)
        before = points.X.copy()
        X[:] = 9
        np.testing.assert_array_equal(points.X, before)
        np.testing.assert_array_equal(points.compact, before)


# Rows kept within a budget.


@settings(max_examples=60, deadline=None)
@given(st.data(), st.integers(1, 12), st.sampled_from(["bytes", "real"]))
def test_the_store_holds_true_rows_of_the_latest_examples_within_its_capacity(data, n, kind):
    random = np.random.RandomState(n)
    X = random.randint(0, 99, (n, 3)) if kind == "bytes" else random.standard_normal((n, 3))
    capacity = data.draw(st.integers(1, n))
    size = 4 if kind == "bytes" else 8
    gram = Gram.of_points(X, memory_budget=capacity * n * size + data.draw(st.integers(0, n * size - 1)))
    true, _ = products(X, X)
    assert gram.capacity == capacity and gram.store.shape == (capacity, n) and len(gram) == n
    used, computed = {}, 0
    for clock in range(data.draw(st.integers(1, 8))):
        examples = data.draw(st.lists(st.integers(0, n - 1), max_size=capacity, unique=True))
        before = {t for t in range(n) if gram.slot[t] >= 0}
        missing = set(examples) - before
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


def test_rows_asked_for_are_kept_while_others_make_room():
    gram = Gram.of_points(np.arange(10.0)[:, None], memory_budget=3 * 10 * 4)
    for examples, computed in (([0], 1), ([1], 1), ([2], 1), ([0, 3], 1), ([0, 4, 5], 2), ([0, 4, 5], 0)):
        assert gram.fetch(np.array(examples)) == computed
        assert np.all(gram.slot[examples] >= 0)
    assert np.flatnonzero(gram.slot >= 0).tolist() == [0, 4, 5] and gram.computed == 6


def test_a_budget_for_every_row_keeps_every_row_and_no_more():
    gram = Gram.of_points(np.arange(5)[:, None], memory_budget=2**30)
    assert gram.capacity == 5 and gram.store.nbytes == 5 * 5 * 4
    assert [gram.fetch(np.arange(5)), gram.fetch(np.arange(5))] == [5, 0]


@settings(max_examples=40, deadline=None)
@given(st.data(), st.sampled_from(["bytes", "real"]))
def test_columns_of_held_and_missing_rows_are_the_true_ones_and_leave_the_store_alone(data, kind):
    random = np.random.RandomState(3)
    X = random.randint(0, 99, (12, 3)) if kind == "bytes" else random.standard_normal((12, 3))
    true, _ = products(X, X)
    gram = Gram.of_points(X, memory_budget=data.draw(st.integers(1, 12)) * 12 * 8)
    gram.fetch(np.array(data.draw(st.lists(st.integers(0, 11), max_size=gram.capacity, unique=True)), dtype=np.intp))
    store, slot, computed = gram.store.copy(), gram.slot.copy(), gram.computed
    examples = np.array(data.draw(st.lists(st.integers(0, 11), min_size=1, unique=True)))
    start = data.draw(st.integers(0, 11))
    stop = data.draw(st.integers(start + 1, 12))
    buffer = np.full(len(examples) * (stop - start) + 5, 77, dtype=gram.source.dtype)
    block, rows = gram.columns(examples, start, stop, buffer)
    np.testing.assert_array_equal(block[rows], true[examples, start:stop])
    np.testing.assert_array_equal(gram.store[slot[slot >= 0]], store[slot[slot >= 0]])
    np.testing.assert_array_equal(gram.slot, slot)
    assert gram.computed == computed and np.all(buffer[-5:] == 77)
    again, rows = CrossGram(gram.source).columns(examples, start, stop, buffer)
    np.testing.assert_array_equal(again[rows], true[examples, start:stop])


def test_held_rows_are_not_made_again_for_columns():
    asked = []

    def function(rows, columns):
        asked.append(rows.tolist())
        return np.add.outer(rows * 10.0, np.arange(6)[columns])

    gram = Gram(PrecomputedKernel(function, 6, 6), memory_budget=3 * 6 * 8)
    gram.fetch(np.array([1, 4]))
    block, rows = gram.columns(np.array([4, 0, 1, 5]), 2, 5, np.empty(12))
    assert asked == [[1, 4], [0, 5]]
    np.testing.assert_array_equal(block[rows], np.add.outer([40.0, 0.0, 10.0, 50.0], [2, 3, 4]))
    gram.columns(np.array([4, 1]), 0, 6, np.empty(12))
    assert len(asked) == 2


def test_given_values_are_taken_as_they_are_given():
    K = np.random.RandomState(0).standard_normal((4, 7))
    source = PrecomputedKernel(lambda rows, columns: K[rows, columns], 4, 7)
    assert source.arithmetic == GIVEN and source.dtype == np.float64
    assert (len(source.row_norms), len(CrossGram(source))) == (4, 7)
    block, rows = CrossGram(source).columns(np.array([3, 1]), 2, 7, np.empty(10))
    np.testing.assert_array_equal(block[rows], K[[3, 1], 2:7])


def test_a_given_matrix_is_held_whole_and_never_made():
    K = np.random.RandomState(0).standard_normal((5, 5))
    gram = Gram.of_matrix(K)
    assert gram.store is K and gram.fetch(np.array([4, 2])) == 0 and gram.computed == 0
    block, rows = gram.columns(np.array([3, 0]), 1, 4, np.empty(6))
    np.testing.assert_array_equal(block[rows], K[[3, 0], 1:4])


@pytest.mark.parametrize(
    "kernel", [kernels.linear(), kernels.polynomial(7, gamma=0.5), kernels.rbf(gamma=0.3), kernels.gaussian(sigma=2.0)]
)
def test_the_diagonal_needs_no_points_and_no_kernel_exceeds_its_bound(kernel):
    X = np.random.RandomState(0).randint(-3, 4, (9, 4))
    K, norms = kernel(X, X), (X**2).sum(axis=1).astype(float)
    np.testing.assert_array_equal(kernel.diagonal(norms), np.diag(K))
    assert np.abs(K).max() <= kernel.bound(norms.max())


def test_single_inner_products_are_those_of_the_matrix():
    X = np.random.RandomState(0).randint(0, 256, (2, 70))
    for arithmetic, dtype in ((BYTES, np.uint8), (SINGLE, np.float32), (DOUBLE, np.float64), (ORDERED, np.float64)):
        x, y = X.astype(dtype)
        assert dot(arithmetic, x, y) == X[0] @ X[1]


# Refusals.


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.zeros(3), r"points must be a numeric array \(n, d\), got float64 of shape \(3,\)"),
        (np.zeros((2, 2, 2)), r"got float64 of shape \(2, 2, 2\)"),
        (np.array([["a", "b"]]), r"points must be a numeric array \(n, d\), got <U1 of shape \(1, 2\)"),
        (np.array([[1, None]], dtype=object), "got object of shape"),
        (np.array([[1j]]), "got complex128 of shape"),
        (np.array([[1.0, np.nan]]), "points must be finite, got NaN or infinity; remove or impute those values"),
        (np.array([[np.inf]]), "points must be finite"),
        (np.array([[-np.inf, 0.5]]), "points must be finite"),
    ],
)
def test_points_that_are_no_finite_array_are_refused(X, message):
    with pytest.raises(ValueError, match=message):
        Points(X)


@pytest.mark.parametrize(("X", "row"), [(np.ones((9, 2)), 9 * 4), (np.full((9, 2), 0.5), 9 * 8)])
def test_a_budget_below_one_row_is_refused_and_one_row_is_enough(X, row):
    message = (
        rf"memory_budget must hold at least one row of 9 inner products \({row} bytes\), got {row - 1}; "
        "raise the budget or use fewer examples"
    )
    with pytest.raises(ValueError, match=message):
        Gram.of_points(X, memory_budget=row - 1)
    assert Gram.of_points(X, memory_budget=row).capacity == 1


@pytest.mark.parametrize("shape", [(0, 3), (3, 0)])
def test_points_without_rows_or_coordinates_have_no_products_or_zeros(shape):
    points = Points(np.empty(shape))
    assert len(points) == shape[0] and points.norms.tolist() == [0.0] * shape[0]
    found, _ = products(np.empty(shape), np.empty(shape))
    assert found.shape == (shape[0], shape[0]) and not found.any()


# Tiles and threads.


@pytest.mark.parametrize("d", [1, 3, 4, 5, DEPTH - 1, DEPTH, DEPTH + 2])
@pytest.mark.parametrize(
    ("n", "m"),
    [(1, 1), (3, WIDTH - 1), (HEIGHT, WIDTH), (2 * HEIGHT - 1, WIDTH + 1), (2 * HEIGHT + 1, WIDTH + 9), (WIDTH + 1, 3)],
)
def test_products_of_reals_are_summed_in_order_over_every_edge_of_a_tile(n, m, d):
    random = np.random.RandomState(n * m + d)
    X, Y = random.standard_normal((n, d)), random.standard_normal((m, d))
    np.testing.assert_array_equal(products(X, Y)[0], ordered(X, Y))


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_threads_change_no_bit_of_products(make):
    X = sparse_points(0, 200, 80, share=0.9)
    assert 200 * 200 * 80 > SMALL
    points, blocks = Points(make(X)), []
    for threads in (1, 2, 3, 7):
        blocks.append(np.empty((200, 200)))
        Products(points, points, threads=threads).block(np.arange(200), slice(None), blocks[-1])
    assert all(np.array_equal(blocks[0], block) for block in blocks)


@pytest.mark.parametrize("top", [255, 2**20, 2**24])
@pytest.mark.parametrize("shape", [(2 * BLOCK + 7, 90), (90, 2 * BLOCK + 7)])
def test_threads_change_no_bit_of_exact_products_in_strips_of_rows_or_columns(shape, top):
    random = np.random.RandomState(top % 1000)
    X, Y = (random.randint(-top, top + 1, size=(size, 20)) for size in shape)
    X[::97] *= 8 if top == 2**20 else 1  # a few pairs beyond single precision
    expected = np.array(integers(X[:: BLOCK // 2], Y[::31]), dtype=float)
    for threads in (1, 3):
        source = Products(Points(X), Points(Y), threads=threads)
        assert shape[0] * shape[1] * 20 > SMALL and source.arithmetic in (SINGLE, DOUBLE)
        out = np.empty(shape, dtype=source.dtype)
        source.block(np.arange(shape[0]), slice(None), out)
        np.testing.assert_array_equal(out[:: BLOCK // 2, ::31], expected)
        np.testing.assert_array_equal(out, X.astype(np.int64) @ Y.T.astype(np.int64))


def test_blas_has_its_threads_again_after_a_block():
    X = np.random.RandomState(0).randint(0, 9, size=(300, 20))
    with threadpool_limits(2, "blas"):
        before = [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]
        Products(Points(X), Points(X), threads=2).block(np.arange(300), slice(None), np.empty((300, 300), dtype=np.int32))
        assert [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"] == before


def test_blas_has_its_threads_again_after_blocks_of_several_threads_of_the_program():
    X = np.random.RandomState(0).randint(0, 9, size=(300, 20))
    begun, ended = [threading.Event(), threading.Event()], threading.Event()

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


@pytest.mark.parametrize(
    "kernel", [*(kernels.polynomial(p, gamma=0.3, coef0=0.5) for p in range(1, 10)), kernels.rbf(gamma=0.1)]
)
@pytest.mark.parametrize("scale", [1, 1.01])
def test_values_are_those_of_the_kernel_at_every_degree_on_any_threads(kernel, scale):
    random = np.random.RandomState(0)
    X, Y = (scale * random.randint(-3, 4, size=(size, 5)) for size in (4, 2 * BLOCK + 3))
    expected = kernel.of(ordered(X, Y), (X**2).sum(1), (Y**2).sum(1))
    for threads in (1, 3):
        source = Products(Points(X), Points(Y), threads=threads)
        found = CrossGram(source).values(kernel, np.arange(4))
        np.testing.assert_allclose(found, expected, rtol=1e-12)
        assert (found == expected).all() or kernel.kind == kernels.RBF
    plain = kernel.gamma * (X @ Y.T) + kernel.coef0
    if kernel.kind == kernels.POLYNOMIAL:
        np.testing.assert_allclose(found, plain**kernel.degree, rtol=1e-12)


# Sparse points.


@settings(max_examples=40, deadline=None)
@given(SEEDS, st.integers(1, 9), st.integers(1, 9), st.integers(1, 40), st.booleans())
def test_sparse_points_have_the_products_and_norms_of_dense_ones_bit_by_bit(seed, n, m, d, mixed):
    X, Y = sparse_points(seed, n, d, share=0.4), sparse_points(seed + 1, m, d, share=0.4)
    right = Points(Y if mixed else sparse.csc_array(Y))
    source, out = Products(Points(sparse.csr_matrix(X)), right), np.empty((n, m))
    source.block(np.arange(n), slice(None), out)
    assert source.arithmetic == SPARSE
    np.testing.assert_array_equal(out, ordered(X, Y))
    np.testing.assert_array_equal(source.row_norms, np.diag(ordered(X, X)))


def test_sparse_points_add_up_what_is_stored_twice_and_refuse_what_is_not_finite():
    twice = sparse.coo_array(([1.0, 2.0, 5.0], ([0, 0, 1], [1, 1, 0])), shape=(2, 2))
    assert Points(twice).norms.tolist() == [9.0, 25.0]
    with pytest.raises(ValueError, match="finite"):
        Points(sparse.csr_array([[np.inf, 0.0]]))


# Kernel values in place of inner products.


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("rows", [2, 40])
def test_kept_kernel_values_are_those_that_are_made_of_products(make, rows):
    X, kernel = make(sparse_points(3, 40, 9, share=0.6)), kernels.rbf(gamma=0.3)
    source = Products(Points(X), Points(X), threads=2)
    plain, kept = (Gram(source, memory_budget=8 * 40 * rows, kernel=k) for k in (None, kernel))
    assert kept.kept == kernel and kept.reading(kernel) == kernels.GIVEN and plain.reading(kernel) == kernel
    examples, buffer = np.array([7, 2, 31]), np.empty(3 * 40)
    for gram in (plain, kept):
        gram.fetch(examples[:2])
    found = []
    for gram in (plain, kept):
        block, at = gram.columns(examples, 5, 33, buffer.copy())
        norms = gram.row_norms[examples], gram.norms[5:33]
        found += [gram.values(kernel, examples, slice(5, 33)), gram.reading(kernel).of(block[at], *norms)]
    assert all(np.array_equal(found[0], other) for other in found[1:])
    with pytest.raises(ValueError, match="without a kernel"):
        kept.reading(kernels.linear())


def test_kernel_values_are_kept_only_where_they_cost_no_room_and_save_time():
    X, kernel = np.arange(12.0).reshape(4, 3), kernels.rbf(gamma=0.3)
    assert Gram(Products(Points(X), Points(X)), memory_budget=10**4, kernel=kernel).kept is None
    points = Points(X / 7)
    assert Gram(Products(points, points), memory_budget=10**4, kernel=kernels.polynomial(3)).kept is None
    assert Gram(Products(points, points), memory_budget=10**4, kernel=kernel).kept == kernel


# Images in units of 1/255.


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_scaled_images_are_whole_numbers_in_their_unit(dtype):
    pixels = np.random.RandomState(0).randint(0, 256, (9, 20))
    images = (pixels / 255).astype(dtype)
    points = Points.per(unit_of(images), images)
    assert points.per_unit == 255 and points.compact.dtype == np.uint8
    np.testing.assert_array_equal(points.X, pixels)
    source, kernel = CrossGram(Products(points, points)), kernels.polynomial(3, gamma=0.1)
    K = source.values(kernel, np.arange(9))
    base = 0.1 / 255**2 * (pixels @ pixels.T) + 1
    np.testing.assert_array_equal(K, base * base * base)
    np.testing.assert_allclose(K, kernel(pixels / 255, pixels / 255), rtol=1e-12)


@pytest.mark.parametrize(
    "X",
    [
        np.eye(3), np.array([[0.51, 1 / 255]]), np.array([[256 / 255, 0.2]]), np.array([[-1 / 255]]), np.ones((2, 3), int),
        np.arange(256)[:, None].astype(np.float16) / np.float16(255), sparse.csr_array([[1 / 255]]), np.empty((0, 2)),
    ],
)  # fmt: skip
def test_points_that_are_no_images_keep_their_unit(X):
    assert unit_of(X) == 1


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_other_points_beside_images_are_taken_into_their_unit_one_by_one(dtype):
    random = np.random.RandomState(1)
    pixels, others = random.randint(0, 256, (4, 6)), random.standard_normal((3, 6)).astype(dtype)
    images = Points.per(255, pixels / 255)
    source, out = Products(images, Points.per(255, others)), np.empty((4, 3))
    source.block(np.arange(4), slice(None), out)
    np.testing.assert_allclose(out / 255**2, pixels / 255 @ others.T.astype(float), rtol=1e-12, atol=1e-12)
    for one in range(3):
        alone = np.empty((4, 1))
        Products(images, Points.per(255, others[one : one + 1])).block(np.arange(4), slice(None), alone)
        np.testing.assert_array_equal(alone[:, 0], out[:, one])


def test_points_in_different_units_do_not_meet():
    with pytest.raises(ValueError, match="points must be in the same units, got 1/255 and 1/1"):
        Products(Points.per(255, np.eye(2) / 255), Points(np.eye(2)))


@pytest.mark.parametrize("budget", [10**4, 10**7])
def test_kept_values_of_bright_images_are_in_their_unit(budget):
    images, kernel = (250 + np.random.RandomState(3).randint(0, 6, (30, 784))) / 255, kernels.rbf(gamma=0.5)
    points = Points.per(unit_of(images), images)
    gram = Gram(Products(points, points), memory_budget=budget, kernel=kernel)
    assert gram.source.arithmetic == DOUBLE and gram.kept == kernel
    np.testing.assert_allclose(gram.values(kernel, np.arange(30)), kernel(images, images), rtol=1e-9)
