"""Multiclass perceptrons against the literal equations of Xu & Zhang 2005: exactly, on integer data."""

import numpy as np
import oracles
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_digits, load_iris

from kp import (
    PREDICTORS,
    MulticlassKernelPerceptron,
    MulticlassPerceptron,
    joint,
    kernels,
    literal,
)
from kp.gram import Gram, Points, Products
from kp.joint import DEMOTE, Coefficients, Dense, Linear, Rows, collect_mistakes, product, squared
from kp.multiclass import UPDATES
from kp.perceptron import visiting_orders

COLUMNS = ("example", "step", "promoted", "demoted", "errors", "ends")


def rows_of(log):
    return list(zip(log.example, log.step, log.promoted, log.demoted, strict=True))


def of_classes(f):
    """Scores (n, C) of an estimator; of two classes it gives f_2 = -f_1."""
    return f if f.ndim == 2 else np.column_stack([-f, f])


def assert_same_scores(found, expected, predictor):
    """Sums of integers are exact; the average and the votes are divided by the number of steps and multiplied again."""
    if predictor in ("final", "minimizing"):
        assert np.array_equal(found, expected)
    else:
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * max(1.0, np.abs(expected).max()))


def literal_run(X, y, points, order, *, update="xu-zhang", degree=1, **options):
    """Parameters after every step, features of the examples (., n) and of the points (., c), and the mistakes.

    The ordinary update is eq. 5 in the space of the kernel's features.
    """
    if update == "xu-zhang":
        of_examples, of_points = (oracles.polynomial(X, other, degree, coef0=0) for other in (X, points))
        rule = literal.xu_zhang
    else:
        of_examples, of_points = (oracles.tensor(other, degree).T for other in (X, points))
        rule = literal.multiclass_linear
    runs = [rule(of_examples.T, y, order[: step + 1], **options) for step in range(len(order))]
    return [parameters for *parameters, _ in runs], of_examples, of_points, runs[-1][-1]


SOURCE = {"gamma": 1, "update": "xu-zhang", "predictor": "final"}
"""What the source's form has where the estimator's defaults have something else."""


@settings(max_examples=60, deadline=None)
@given(oracles.problems(), st.sampled_from([*UPDATES, "linear"]), st.sampled_from(DEMOTE), st.integers(1, 3), st.booleans())
def test_log_and_every_predictor_equal_the_literal_update(problem, update, demote, degree, threshold):
    X, y, test, seed, epochs = problem
    both = np.vstack([X, test])
    (order,) = oracles.orders(len(y), 1, epochs, seed)
    options = {"demote": demote, "max_iter": epochs, "stop_if_separated": False, "random_state": seed}
    if update == "linear":
        degree = 1
        threshold = True
        model = MulticlassPerceptron(count_errors=True, **options).fit(X, y)
    else:
        options |= SOURCE | {"degree": degree, "coef0": 0.0, "update": update, "threshold": threshold}
        model = MulticlassKernelPerceptron("poly", **options).fit(X, y)
    stored, of_examples, of_points, mistakes = literal_run(
        X, y, both, order, update=update, degree=degree, demote=demote, threshold=int(threshold)
    )
    (log,) = model.mistakes_
    assert list(zip(log.example, log.step, log.demoted, strict=True)) == mistakes
    promotes = (np.diff(log.step, prepend=-1) > 0) | (demote == "each")
    assert np.array_equal(log.promoted, np.where(promotes, y[log.example], -1))
    weights, b = stored[-1]
    if update == "xu-zhang":
        assert np.array_equal(model.alpha(), weights.astype(float)) and np.array_equal(model.intercept_, b)
    if update == "linear":
        first = 0 if len(b) > 2 else 1
        assert np.array_equal(model.coef_, weights[first:]) and np.array_equal(model.intercept_, b[first:])
    for predictor in PREDICTORS:
        expected = oracles.multiclass_predictor_scores(stored, of_examples, y, of_points, predictor).T.astype(float)
        f = model.decision_function(both, predictor=predictor) * (len(stored) if predictor in ("average", "voted") else 1)
        if predictor == "voted" and f.ndim == 1:
            expected = np.column_stack([expected[:, 0] - expected[:, 1], expected[:, 1] - expected[:, 0]])
        assert_same_scores(of_classes(f), expected, predictor)


@settings(max_examples=30, deadline=None)
@given(oracles.problems(), st.integers(1, 3))
def test_two_classes_are_the_binary_kernel_perceptron_of_equation_9(problem, degree):
    X, y, _, seed, epochs = problem
    y = (y > 0).astype(int)
    K = oracles.polynomial(X, X, degree, coef0=0)
    (order,) = oracles.orders(len(y), 1, epochs, seed)
    alpha, beta = literal.xu_zhang_binary(K, 2 * y - 1, order)
    options = SOURCE | {"max_iter": epochs, "stop_if_separated": False, "random_state": seed}
    model = MulticlassKernelPerceptron("poly", degree=degree, coef0=0.0, **options).fit(X, y)
    assert model.alpha()[1].tolist() == alpha.tolist() and model.intercept_[1] == beta
    assert model.decision_function(X).tolist() == (alpha @ K + beta).tolist()


@pytest.mark.parametrize(
    ("demote", "kernel", "rows", "integers"),
    [
        ("winner", kernels.polynomial(2), 1, True),
        ("first", kernels.gaussian(sigma=15.0), 40, True),
        ("all", kernels.gaussian(sigma=15.0), 1, False),
        ("each", kernels.gaussian(sigma=15.0), 40, False),
        ("winner", kernels.polynomial(2), 10**6, False),
    ],
)
def test_rows_on_demand_give_the_bits_of_the_whole_matrix(demote, kernel, rows, integers, monkeypatch):
    monkeypatch.setattr(joint, "_BLOCK", 37)
    X, y = load_digits(return_X_y=True)
    X = X[:300] + (0 if integers else 0.1)
    y = y[:300]
    points = Points(X)
    gram = Gram(Products(points, points), memory_budget=8 * 300 * rows)
    G = gram.values(kernel, np.arange(300)) + 1.0
    logs = [
        collect_mistakes(learner, visiting_orders(300, 1, 3, random_state=np.random.RandomState(0)))
        for learner in (
            Dense(G, y, 10, demote=demote),
            Rows(gram, kernel, y, 10, threshold=1.0, demote=demote, threads=3),
        )
    ]
    assert all(np.array_equal(getattr(logs[0], name), getattr(logs[1], name)) for name in COLUMNS)


@pytest.mark.parametrize("demote", DEMOTE)
def test_moving_the_coefficients_equals_the_squared_matrix_on_integers(demote, monkeypatch):
    monkeypatch.setattr(joint, "_BLOCK", 29)
    X, y = load_digits(return_X_y=True)
    X = (X[:150] > 7).astype(int)
    y = y[:150]
    options = SOURCE | {"kernel": "poly", "degree": 2, "coef0": 0.0, "demote": demote, "max_iter": 4, "random_state": 0}
    whole = MulticlassKernelPerceptron(**options).fit(X, y)
    blocked = MulticlassKernelPerceptron(**options, solver="coefficients").fit(X, y)
    assert rows_of(*whole.mistakes_) == rows_of(*blocked.mistakes_)
    assert np.array_equal(whole.alpha(), blocked.alpha()) and np.array_equal(whole.intercept_, blocked.intercept_)
    assert blocked.mistakes_[0].errors is None


def test_xu_zhang_is_the_ordinary_perceptron_with_the_given_squared_gram_matrix():
    X, y = load_iris(return_X_y=True)
    X = (10 * X).round()
    K = X @ X.T
    options = {"max_iter": 30, "random_state": 1}
    direct = MulticlassKernelPerceptron("linear", update="xu-zhang", **options).fit(X, y)
    ordinary = MulticlassKernelPerceptron("precomputed", update="ordinary", **options).fit(K @ K, y)
    assert rows_of(*direct.mistakes_) == rows_of(*ordinary.mistakes_)
    for predictor in PREDICTORS:
        f = direct.decision_function(X, predictor=predictor)
        found = ordinary.decision_function(K @ K, predictor=predictor)
        np.testing.assert_allclose(found, f, rtol=0, atol=1e-12 * np.abs(f).max())


@pytest.mark.parametrize("demote", ["all", "each"])
def test_mistakes_of_several_rows_are_counted_once(demote):
    X, y = load_digits(return_X_y=True)
    model = MulticlassKernelPerceptron("poly", degree=2, **SOURCE, demote=demote, max_iter=3, random_state=0)
    (log,) = model.fit(X[:200], y[:200]).mistakes_
    for epoch in (1, 2):
        assert log.n_mistakes(epoch) == len(set(log.step[: log.length(epoch)].tolist())) < log.length(epoch)


@pytest.mark.parametrize("demote", DEMOTE)
@pytest.mark.parametrize("limit", [1, 17, 30])
def test_a_run_of_so_many_mistakes_is_the_beginning_of_the_whole_run(demote, limit, monkeypatch):
    monkeypatch.setattr(joint, "_BLOCK", 29)
    monkeypatch.setattr(joint, "_VISITS", 11)
    X, y = load_digits(return_X_y=True)
    X = X[:100]
    y = y[:100]
    gram = Gram(Products(Points(X), Points(X)), memory_budget=2**20)
    K = gram.values(kernels.linear(), np.arange(100))
    options = {"threshold": 1.0, "demote": demote}
    for make in (
        lambda: Dense(K + 1.0, y, 10, demote=demote),
        lambda: Rows(gram, kernels.linear(), y, 10, **options),
        lambda: Coefficients(lambda examples: K[examples], y, 10, **options),
        lambda: Linear(X, y, 10, **options),
    ):
        (whole, *_), (part, *_) = (make().visit(np.random.RandomState(0).permutation(100), most) for most in (2**62, limit))
        assert len(np.unique(part)) == limit < len(np.unique(whole))
        assert part.tolist() == whole[: len(part)].tolist()


@pytest.mark.parametrize(("n", "d", "m"), [(70, 33, 19), (3, 40, 1100), (0, 3, 2)])
def test_products_and_squares_are_sums_in_a_fixed_order(n, d, m):
    random = np.random.RandomState(0)
    A = random.randn(n, d)
    B = random.randn(m, d)

    def in_order(A, B):
        return sum((A[:, k : k + 1] * B[:, k] for k in range(A.shape[1])), np.zeros((len(A), len(B))))

    for threads in (1, 3):
        assert np.array_equal(product(A, B, threads=threads), in_order(A, B))
        assert np.array_equal(product(A, np.asfortranarray(B), threads=threads), in_order(A, B))
        assert np.array_equal(squared(A, threads=threads), in_order(A.T, A.T))
        assert np.array_equal(squared(B.T, threads=threads), in_order(B, B))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"memory_budget": 359_999}, "memory_budget must hold K and its square, 360000 bytes for 150 examples, got 359999"),
        ({"solver": "coefficients", "predictor": "minimizing"}, "the minimizing predictor needs training errors"),
        ({"kernel": "poly", "degree": 400}, "kernel values must stay below 1.8e308"),
    ],
)
def test_parameters_that_do_not_go_together_are_refused(parameters, message):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=message):
        MulticlassKernelPerceptron(**SOURCE | parameters).fit(X, y)
