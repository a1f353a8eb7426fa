"""The sources' pseudo-code by hand and against itself; the files beside this one hold kp against it."""

import numpy as np
import oracles
from hypothesis import given, settings
from hypothesis import strategies as st

from kp import literal

SEEDS = st.integers(0, 10**6)


def problem(seed):
    """Small integer points (14, 2) and their signs, seven of each."""
    random = np.random.RandomState(seed)
    return random.randint(-6, 7, (14, 2)), random.permutation(np.resize([-1, 1], 14))


def test_the_first_steps_of_algorithm_1_by_hand():
    K = np.array([[2, 1, 0], [1, 2, 1], [0, 1, 2]])
    z = np.array([1, -1, 1])
    A = literal.algorithm_1(K, z, [0, 1, 2, 0, 1, 2])
    # f = 0 is a mistake; then f(x_1) = 1 is wrong for -1; then f(x_2) = -1 for 1; then f(x_0) = 2 - 1 is right.
    assert np.array(A[:4]).tolist() == [[1, 0, 0], [1, 1, 0], [1, 1, 1], [1, 1, 1]]
    assert A[4].tolist() == [1, 2, 1]  # f(x_1) = 1 - 2 + 1 = 0
    assert A[5].tolist() == [1, 2, 2]  # f(x_2) = 0 - 2 + 2 = 0
    assert literal.average(A).tolist() == [1.0, 7 / 6, 5 / 6]
    # The five different ones have 2, 1, 1, 2 and 1 training errors: the first with one of them is taken.
    assert literal.minimizing(A, K, z).tolist() == [1, 1, 0]


@settings(max_examples=20, deadline=None)
@given(SEEDS, st.integers(1, 3))
def test_the_voted_perceptron_counts_the_steps_that_each_predictor_survives(seed, degree):
    X, z = problem(seed)
    K = oracles.polynomial(X, X, degree)
    (order,) = oracles.orders(len(z), 1, 3, seed)
    alphas, c = literal.voted_perceptron(K, z, order)
    votes = literal.vote(alphas, c, z, K)
    assert np.array_equal(votes, sum(np.sign(literal.g(alpha, z, K)) for alpha in literal.algorithm_1(K, z, order)))


@settings(max_examples=20, deadline=None)
@given(SEEDS)
def test_the_dual_perceptron_is_the_primal_one(seed):
    X, z = problem(seed)
    (order,) = oracles.orders(len(z), 1, 3, seed)
    w = literal.perceptron(X, z, order)
    alpha = literal.kernel_perceptron(X @ X.T, z, order)
    assert np.array_equal(w, (alpha * z) @ X)


def test_the_classes_to_demote_are_those_that_match_or_beat_the_true_one():
    rules = ("winner", "first", "all")
    f = [3, 2, 5, 1, 5]
    assert [literal.demoted(f, 1, demote) for demote in rules] == [[2], [0], [0, 2, 4]]
    assert [literal.demoted(f, 4, demote) for demote in rules] == [[2]] * 3, "a tie is a mistake"
    assert [literal.demoted([3, 1], 0, demote) for demote in rules] == [[]] * 3


def test_from_zero_a_score_of_0_costs_the_delta_rule_half_a_step_and_the_counts_a_whole_one():
    X = np.array([[1, 2], [1, -3]])
    Y = np.array([[1, -1]])
    (W,) = literal.delta_rule(X, Y, np.zeros((1, 2), dtype=int), [0])
    (A,) = literal.course_kernel_perceptron(X @ X.T, Y, [0])
    assert W.tolist() == [[1, 2]] and A.tolist() == [[1, 0]]
