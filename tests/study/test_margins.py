"""Margins and mistake bounds: against brute force, against runs of perceptrons, and where they are known."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from kp import kernels
from kp.budget import BudgetPerceptron, normalized
from study.protocols import margins


@settings(max_examples=30, deadline=None)
@given(st.lists(st.floats(-1, 1, width=32), min_size=1, max_size=12), st.floats(0.5, 2))
def test_the_mistake_bound_is_the_least_over_margins(values, R):
    assume(max(values) > 1e-3)
    bound, gamma, deviation = margins.mistake_bound(values, R)
    grid = np.geomspace(1e-3, 1e3, 2000) * max(np.abs(values))
    deviations = np.sqrt((np.maximum(0.0, grid[:, None] - values) ** 2).sum(axis=1))
    assert bound <= ((R + deviations) ** 2 / grid**2).min() * (1 + 1e-6)
    assert bound == pytest.approx(((R + deviation) / gamma) ** 2, rel=1e-9)
    if min(values) > 1e-3:
        assert bound <= margins.separable_bound(values, R) * (1 + 1e-6)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(5, 60), st.integers(1, 3), st.floats(0, 0.4))
def test_no_perceptron_makes_more_mistakes_than_any_unit_vector_allows(seed, n, degree, flip):
    random = np.random.RandomState(seed)
    X = random.randint(-5, 6, (n, 3))
    coefficients = random.standard_normal(n)
    z = np.where(X[:, 0] + 0.3 * random.standard_normal(n) > 0, 1, -1) * np.where(random.random_sample(n) < flip, -1, 1)
    assume(len(set(z)) == 2)
    model = BudgetPerceptron(budget=None, degree=degree, gamma=1, shuffle=False).fit(X, z)
    K = normalized(kernels.polynomial(degree), X, X)
    for c in (coefficients, z.astype(float)):
        own = z * (K @ c) / math.sqrt(c @ K @ c)
        assert model.n_mistakes_[0] <= margins.mistake_bound(own, 1.0)[0] * (1 + 1e-9)


def test_the_direction_of_the_machine_is_a_unit_vector_through_the_origin():
    random = np.random.RandomState(0)
    phi = random.standard_normal((12, 3))
    z = np.where(phi @ [1, 2, 0.5] + 0.4 > 0, 1, -1)
    found = margins.unit_margins(phi @ phi.T, z, cost=0.1)
    u, *_ = np.linalg.lstsq(phi, z * found, rcond=None)
    np.testing.assert_allclose(z * (phi @ u), found, atol=1e-9)
    assert np.linalg.norm(u) == pytest.approx(1)
    X = np.array([[2.0, 0.0], [-2.0, 0.0], [2.0, 5.0], [-2.0, -5.0]])
    z = np.array([1, -1, 1, -1])
    assert margins.unit_margins(X @ X.T, z, cost=1e6, tol=1e-6).min() == pytest.approx(2, rel=1e-4)


def test_kesler_margins_of_two_classes_are_those_of_the_machine():
    random = np.random.RandomState(1)
    phi = random.standard_normal((10, 3))
    y = (phi @ [1, 2, 0.5] > 0).astype(int)
    binary = margins.unit_margins(phi @ phi.T, 2 * y - 1, cost=1e7, tol=1e-8)
    assert margins.kesler_margins(phi @ phi.T, y).min() == pytest.approx(np.sqrt(2) * binary.min(), rel=1e-4)


def test_examples_that_are_not_separated_have_no_bound():
    X = np.array([[-1.0], [0.0], [1.0]])
    y = np.array([0, 1, 0])
    with pytest.raises(ValueError, match="must be separated, got a smallest margin"):
        margins.separable_bound(margins.kesler_margins(X @ X.T + 1, y), 1.0)
