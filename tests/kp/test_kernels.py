"""Kernels that make their values of the points themselves, in all estimators: against scikit-learn and given matrices."""

import re
from functools import partial

import numpy as np
import oracles
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics.pairwise import laplacian_kernel, pairwise_kernels

from kp import (
    BudgetPerceptron,
    Forgetron,
    MulticlassKernelPerceptron,
    Norma,
    OneVsAllKernelPerceptron,
    OutputCodeKernelPerceptron,
    Romma,
    SharedTraining,
)
from kp.gram import Arithmetic, dot
from kp.kernels import KERNELS, Function, Laplacian, Named, PointKernel


def dense(X):
    return X.toarray() if sparse.issparse(X) else X


class Intersection(PointKernel):
    """k(x, y) = sum_j min(x_j, y_j): no gamma, no sparse matrices, values above 1."""

    def values(self, X, Y):
        return np.array([np.minimum(x, Y).sum(axis=1) for x in X])


@pytest.fixture(autouse=True)
def a_kernel_of_ones_own(monkeypatch):
    monkeypatch.setitem(KERNELS, "intersection", Named(lambda model, gamma: Intersection(), power=0))


FORMULAS = {
    "laplacian": (partial(laplacian_kernel, gamma=0.4), 0.0),
    "intersection": (lambda X, Y: np.minimum(dense(X)[:, None], dense(Y)).sum(axis=2), 1e-9),
}
"""{kernel: (its values by another program, with gamma=0.4, of arrays or sparse matrices; relative tolerance of scores)}."""
OF_MATRICES = [
    OneVsAllKernelPerceptron(max_iter=3, random_state=1, count_errors=True),
    OneVsAllKernelPerceptron(max_iter=3, random_state=1, count_errors=True, memory_budget=8 * 150 * 20, n_jobs=2),
    OutputCodeKernelPerceptron(code="binary", max_iter=3, random_state=1),
    MulticlassKernelPerceptron(update="ordinary", max_iter=3, random_state=1),
    MulticlassKernelPerceptron(update="ordinary", max_iter=3, random_state=1, memory_budget=8 * 150 * 20),
    MulticlassKernelPerceptron(update="xu-zhang", max_iter=3, random_state=1),
    MulticlassKernelPerceptron(update="xu-zhang", max_iter=3, random_state=1, solver="coefficients"),
]
"""Estimators that take Gram matrices."""
OTHERS = [
    Romma(max_iter=2, random_state=1, noise_control=1.0), Romma(max_iter=2, random_state=1, aggressive=True, start="zero"),
    BudgetPerceptron(budget=20, random_state=1), Forgetron(budget=20, random_state=1),
    Forgetron(budget=20, shrinking="basic", normalize=False, random_state=1), Norma(random_state=1),
]  # fmt: skip


def points(kind):
    """(X (150, 6), X_new (30, 6), y of three classes) of numbers of a kind; X (70, 6) of sparse ones, which
    scikit-learn takes long for, a row at a time."""
    n = 70 if kind == "sparse" else 150
    X, y = oracles.blobs(n + 30, 3, 4, flip=0.1)
    if kind == "reals":
        X = X / 7 - 0.6
    elif kind == "images":
        X = X * 15 / 255
    elif kind == "sparse":
        X = sparse.csr_array(np.where(X > 4, X / 7, 0.0))
    return X[:n], X[n:], y[:n]


@pytest.mark.parametrize("kernel", FORMULAS)
@pytest.mark.parametrize("kind", ["whole numbers", "reals", "images", "sparse"])
@pytest.mark.parametrize("model", OF_MATRICES, ids=lambda model: str(model)[:60])
def test_a_kernel_gives_the_mistakes_and_scores_of_its_gram_matrix(model, kind, kernel):
    X, X_new, y = points(kind)
    formula, rtol = FORMULAS[kernel]
    model = clone(model).set_params(kernel=kernel, gamma=0.4).fit(X, y)
    K, K_new = (formula(each, X) for each in (X, X_new))
    given = clone(model).set_params(kernel="precomputed").fit(K, y)
    names = "all" if model.mistakes_[0].errors is not None else ["final", "average", "voted"]
    stages = zip(model.staged_decision_function(X_new, predictor=names),
                 given.staged_decision_function(K_new, predictor=names), strict=True)  # fmt: skip
    for epoch, (ours, theirs) in enumerate(stages, start=1):
        for name, f in ours.items():
            np.testing.assert_allclose(f, theirs[name], rtol=rtol, atol=rtol, err_msg=f"{name} at {epoch}")
    for log, other in zip(model.mistakes_, given.mistakes_, strict=True):
        assert all(np.array_equal(getattr(log, name), getattr(other, name)) for name in ("example", "step", "errors"))
    assert model.gamma_ == (0.4 if KERNELS[kernel].power else 1.0)


@pytest.mark.parametrize("kernel", FORMULAS)
@pytest.mark.parametrize("kind", ["whole numbers", "reals", "images", "sparse"])
@pytest.mark.parametrize("model", OTHERS, ids=lambda model: str(model)[:60])
def test_scores_with_a_kernel_are_sums_of_its_values(model, kind, kernel):
    if kind == "sparse" and not isinstance(model, Romma):
        pytest.skip("takes dense points alone")
    X, X_new, y = points(kind)
    formula, rtol = FORMULAS[kernel]
    k, k_new = (formula(each, each).diagonal() for each in (X, X_new))
    if k.min() < 0:
        pytest.skip("no kernel of points with negative values")
    model = clone(model).set_params(kernel=kernel, gamma=0.4)
    if isinstance(model, Forgetron) and not model.normalize and k.max() > 1:
        with pytest.raises(ValueError, match=r"needs a kernel with k\(x, x\) <= 1, got .*; set normalize=True"):
            model.fit(X, y)
        return
    K = formula(model.fit(X, y).support_vectors_, X_new)
    if getattr(model, "normalize", False):
        K = K / np.sqrt(np.multiply.outer(k[model.support_], k_new))
    f = model.dual_coef_ @ K
    if isinstance(model, Romma):
        f += model.origin_coef_[:, None] * formula(X_new[:1] * 0, X_new)
    else:
        f += model.intercept_[:, None]
    np.testing.assert_allclose(model.decision_function(X_new), f.T, rtol=1e-12, atol=1e-12)
    if kind != "sparse":
        called = clone(model).set_params(kernel=formula).fit(X, y)
        np.testing.assert_allclose(called.decision_function(X_new), model.decision_function(X_new), rtol=rtol, atol=rtol)


@pytest.mark.parametrize("kernel", ["laplacian", laplacian_kernel], ids=str)
@pytest.mark.parametrize("model", [OneVsAllKernelPerceptron(), OTHERS[2], OTHERS[3], OTHERS[5]], ids=lambda m: str(m)[:40])
def test_streams_with_such_kernels_may_be_cut_anywhere(model, kernel):
    X, X_new, y = points("reals")
    options = {"kernel": kernel, "gamma": 0.4, "shuffle": False, "max_iter": 1}
    whole = clone(model).set_params(**options).fit(X, y)
    parts = clone(model).set_params(**options)
    for start, stop in [(0, 1), (1, 90), (90, 93), (93, 150)]:
        parts.partial_fit(X[start:stop], y[start:stop], classes=[0, 1, 2])
    np.testing.assert_array_equal(parts.decision_function(X_new), whole.decision_function(X_new))
    np.testing.assert_array_equal(parts.support_, whole.support_)


def test_sums_of_the_laplacian_kernel_go_in_the_order_of_the_features():
    X, _, _ = points("reals")
    kernel = Laplacian(0.7)
    expected = np.zeros((150, 150))
    for x in X.T:
        expected += np.abs(x[:, None] - x)
    found = kernel(X, X)
    np.testing.assert_allclose(found, np.exp(-0.7 * expected), rtol=1e-14)
    np.testing.assert_array_equal(kernel(sparse.csr_array(X), sparse.csr_array(X)), found)
    np.testing.assert_array_equal(np.concatenate([kernel(x[None], X) for x in X]), found)
    np.testing.assert_array_equal(kernel.diagonal(X), np.ones(150))
    zero, origin = kernel.from_origin(X)
    assert zero == 1.0
    np.testing.assert_array_equal(origin, kernel(np.zeros((1, 6)), X)[0])


@pytest.mark.parametrize("kernel", [name for name, kernel in KERNELS.items() if kernel.power])
def test_with_gamma_scale_the_unit_of_the_points_does_not_matter(kernel):
    X, X_new, y = points("reals")
    options = {"gamma": "scale", "random_state": 0}
    models = [OneVsAllKernelPerceptron(kernel, **options).fit(unit * X, y) for unit in (1, 1024)]
    np.testing.assert_allclose(*(m.decision_function(u * X_new) for m, u in zip(models, (1, 1024), strict=True)), rtol=1e-9)
    assert models[0].gamma_ == pytest.approx(models[1].gamma_ * 1024 ** KERNELS[kernel].power)
    if kernel == "laplacian":
        assert models[0].gamma_ == pytest.approx(1 / (6 * X.std()))
        assert OneVsAllKernelPerceptron(kernel).fit(X, y).gamma_ == models[0].gamma_


def test_a_kernel_of_no_inner_products_is_refused_by_shared_training():
    X, _, y = points("reals")
    models = [OneVsAllKernelPerceptron(kernel, stop_if_separated=False) for kernel in ("rbf", "laplacian")]
    with pytest.raises(ValueError, match="models must have kernels of inner products, which they share, got 'laplacian'"):
        SharedTraining(X, y).fit(models)
    assert not any(hasattr(model, "mistakes_") for model in models)


@pytest.mark.parametrize("arithmetic", [Arithmetic.SPARSE, Arithmetic.GIVEN])
def test_single_inner_products_of_an_arithmetic_that_has_none_are_refused(arithmetic):
    x = np.ones(3)
    with pytest.raises(ValueError, match="single points have no inner product in this arithmetic"):
        dot.py_func(int(arithmetic), x, x)


@pytest.mark.parametrize("model", [Romma(), BudgetPerceptron(), Forgetron(), Norma()], ids=lambda model: str(model)[:20])
@pytest.mark.parametrize("returned", [np.zeros(3), np.full((3, 3), np.nan)])
def test_functions_that_return_no_kernel_values_are_refused(model, returned):
    with pytest.raises(ValueError, match="the kernel function must return finite values of shape"):
        clone(model).set_params(kernel=lambda X, Y: returned).fit(np.eye(4), [0, 1, 0, 1])


CALLED = [
    OneVsAllKernelPerceptron(), OutputCodeKernelPerceptron(), MulticlassKernelPerceptron(), Romma(), BudgetPerceptron(),
    Forgetron(), Norma(),
]  # fmt: skip


@pytest.mark.parametrize("model", CALLED, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("function", [lambda x, y: float(np.dot(x, y)), lambda x, y: np.exp(-np.abs(x - y[:1]).sum())])
def test_functions_of_two_points_are_refused_with_the_function_that_pairs_them(model, function):
    X, y = np.random.RandomState(0).standard_normal((12, 5)), [0, 1, 2] * 4
    remedy = "for a function of two points take lambda X, Y: sklearn.metrics.pairwise.pairwise_kernels(X, Y, metric="
    with pytest.raises(ValueError, match=f"the kernel function .*; {re.escape(remedy)}"):
        clone(model).set_params(kernel=function).fit(X, y)


@pytest.mark.parametrize("model", CALLED, ids=lambda model: type(model).__name__)
def test_functions_of_two_points_are_kernels_by_the_remedy_of_the_message(model):
    X, y = np.random.RandomState(0).standard_normal((30, 5)), [0, 1, 2] * 10
    paired = lambda A, B: pairwise_kernels(A, B, metric=lambda a, b: np.exp(-0.4 * np.abs(a - b).sum()))  # noqa: E731
    options = {"gamma": 0.4, "random_state": 0}
    f, own = (clone(model).set_params(kernel=k, **options).fit(X, y).decision_function(X) for k in (paired, "laplacian"))
    np.testing.assert_allclose(f, own)


def test_the_forgetron_refuses_a_function_with_values_above_one_unless_it_normalizes():
    X, _, y = points("reals")
    model = Forgetron(lambda X, Y: 4 * laplacian_kernel(X, Y, gamma=0.4), budget=9, normalize=False, random_state=0)
    with pytest.raises(ValueError, match=r"a kernel with k\(x, x\) <= 1, got 4"):
        model.fit(X, y)
    f = model.set_params(normalize=True).fit(X, y).decision_function(X)
    np.testing.assert_allclose(f, Forgetron("laplacian", gamma=0.4, budget=9, random_state=0).fit(X, y).decision_function(X))


def test_a_kernel_is_not_copied_with_the_state_of_a_stream():
    from copy import deepcopy

    kernel = Function(laplacian_kernel)
    assert deepcopy([kernel])[0] is kernel
