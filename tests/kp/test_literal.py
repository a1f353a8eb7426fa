"""The compiled code against the sources' pseudo-code: the same mistakes and, on integers, the same numbers exactly."""

import numpy as np
import oracles
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from kp import (
    BudgetPerceptron,
    DeltaRulePerceptron,
    Forgetron,
    KernelRidgeClassifier,
    MulticlassKernelPerceptron,
    MulticlassPerceptron,
    Norma,
    OneVsAllKernelPerceptron,
    OutputCodeKernelPerceptron,
)
from study import literal

DEMOTE = ("winner", "first", "all")
SEEDS = st.integers(0, 10**6)


def problem(seed, *, n=14, n_classes=3, largest=6):
    """Small integer points (n, 2) and classes 0..C-1 that all occur."""
    random = np.random.RandomState(seed)
    return random.randint(-largest, largest + 1, (n, 2)), random.permutation(np.arange(n) % n_classes)


def order_of(n, epochs, seed):
    (order,) = oracles.orders(n, 1, epochs, seed)
    return order


def run(estimator, X, y):
    """The estimator after all its epochs, with the seed as its random state."""
    return estimator.set_params(stop_if_separated=False).fit(X, y)


def python_floats(values):
    """An array of Python floats, whose products sum from the left as the compiled loops do."""
    return np.array(np.asarray(values, dtype=float).tolist(), dtype=object)


# One-vs-all.


def test_the_first_steps_of_algorithm_1_by_hand():
    K, z = np.array([[2, 1, 0], [1, 2, 1], [0, 1, 2]]), np.array([1, -1, 1])
    A = literal.algorithm_1(K, z, [0, 1, 2, 0, 1, 2])
    # f = 0 is a mistake; then f(x_1) = 1 is wrong for -1; then f(x_2) = -1 for 1; then f(x_0) = 2 - 1 is right.
    assert np.array(A[:4]).tolist() == [[1, 0, 0], [1, 1, 0], [1, 1, 1], [1, 1, 1]]
    assert A[4].tolist() == [1, 2, 1]  # f(x_1) = 1 - 2 + 1 = 0
    assert A[5].tolist() == [1, 2, 2]  # f(x_2) = 0 - 2 + 2 = 0
    assert literal.average(A).tolist() == [1.0, 7 / 6, 5 / 6]
    # The five different ones have 2, 1, 1, 2 and 1 training errors: the first with one of them is taken.
    assert literal.minimizing(A, K, z).tolist() == [1, 1, 0]


@settings(max_examples=20, deadline=None)
@given(SEEDS, st.integers(1, 4), st.integers(1, 4))
def test_one_vs_all_stores_the_vectors_that_the_log_tells(seed, degree, epochs):
    X, y = problem(seed)
    K, orders = oracles.polynomial(X, X, degree), oracles.orders(len(y), 3, epochs, seed)
    options = {"max_iter": epochs, "random_state": seed, "count_errors": True}
    model = run(OneVsAllKernelPerceptron(degree=degree, **options), X, y)
    runs = literal.one_vs_all(K, y, orders)
    for a, (A, log) in enumerate(zip(runs, model.mistakes_, strict=True)):
        z = np.where(y == a, 1, -1)
        moves = np.diff(np.array([0 * A[0], *A]), axis=0)
        assert [(step, alpha.argmax()) for step, alpha in enumerate(moves) if alpha.any()] == list(
            zip(log.step, log.example, strict=True)
        )
        assert np.array_equal(log.alpha("final", n=len(y)), A[-1])
        assert np.array_equal(log.alpha("average", n=len(y)), literal.average(A))
        assert np.array_equal(log.alpha("minimizing", n=len(y)), literal.minimizing(A, K, z))
        assert np.array_equal(A[-1], literal.kernel_perceptron(K, z, orders[a]))
    f = literal.class_scores([A[-1] for A in runs], y, K)
    assert np.array_equal(model.decision_function(X), f.T.astype(float))
    assert np.array_equal(model.predict(X), f.astype(float).argmax(axis=0))


@settings(max_examples=20, deadline=None)
@given(SEEDS, st.integers(1, 3))
def test_the_voted_perceptron_counts_the_steps_that_each_predictor_survives(seed, degree):
    X, y = problem(seed, n_classes=2)
    z, K, order = 2 * y - 1, oracles.polynomial(X, X, degree), order_of(len(y), 3, seed)
    model = run(OneVsAllKernelPerceptron(degree=degree, max_iter=3, random_state=seed), X, y)
    alphas, c = literal.voted_perceptron(K, z, order)
    assert c[0] == 0 and c[1:] == np.diff(model.mistakes_[0].step, append=model.mistakes_[0].steps()).tolist()
    votes = literal.vote(alphas, c, z, K)
    assert np.array_equal(model.decision_function(X, predictor="voted"), votes.astype(float))
    assert np.array_equal(votes, sum(np.sign(literal.g(alpha, z, K)) for alpha in literal.algorithm_1(K, z, order)))


@settings(max_examples=20, deadline=None)
@given(SEEDS)
def test_the_dual_perceptron_is_the_primal_one(seed):
    X, y = problem(seed, n_classes=2)
    z, order = 2 * y - 1, order_of(len(y), 3, seed)
    w, alpha = literal.perceptron(X, z, order), literal.kernel_perceptron(X @ X.T, z, order)
    assert np.array_equal(w, (alpha * z) @ X)
    model = run(OneVsAllKernelPerceptron("linear", max_iter=3, random_state=seed), X, y)
    assert np.array_equal(model.decision_function(X), X @ w)


# Xu & Zhang 2005.


@settings(max_examples=20, deadline=None)
@given(SEEDS, st.sampled_from(DEMOTE), st.booleans())
def test_equation_5_moves_the_weights_of_the_multiclass_perceptron(seed, demote, threshold):
    X, y = problem(seed, n_classes=4)
    options = {"demote": demote, "threshold": threshold, "max_iter": 3, "random_state": seed}
    model = run(MulticlassPerceptron(**options), X, y)
    W, b, mistakes = literal.multiclass_linear(
        X, y, order_of(len(y), 3, seed), demote=demote, threshold=int(threshold)
    )  # fmt: skip
    log = model.mistakes_
    assert list(zip(log.example, log.step, log.demoted, strict=True)) == mistakes
    assert np.array_equal(model.coef_, W) and np.array_equal(model.intercept_, b)


@settings(max_examples=20, deadline=None)
@given(SEEDS, st.sampled_from(DEMOTE), st.booleans(), st.integers(1, 3))
def test_equation_11_moves_the_coefficients_of_the_multiclass_kernel_perceptron(seed, demote, threshold, degree):
    X, y = problem(seed, n_classes=4, largest=4)
    options = {"degree": degree, "demote": demote, "threshold": threshold, "max_iter": 3, "random_state": seed}
    model = run(MulticlassKernelPerceptron("poly", coef0=0.0, **options), X, y)
    alpha, beta, mistakes = literal.xu_zhang(
        oracles.polynomial(X, X, degree, coef0=0), y, order_of(len(y), 3, seed), demote=demote, threshold=int(threshold)
    )
    log = model.mistakes_
    assert list(zip(log.example, log.step, log.demoted, strict=True)) == mistakes
    assert np.array_equal(model.alpha(), alpha.astype(float)) and np.array_equal(model.intercept_, beta)


@settings(max_examples=20, deadline=None)
@given(SEEDS, st.integers(1, 2))
def test_two_classes_are_equations_3_and_9(seed, degree):
    X, y = problem(seed, n_classes=2, largest=4)
    z, order, options = 2 * y - 1, order_of(len(y), 3, seed), {"max_iter": 3, "random_state": seed}
    *w, b = literal.perceptron(np.column_stack([X, np.ones(len(X), dtype=int)]), z, order)
    model = run(MulticlassPerceptron(**options), X, y)
    assert model.coef_[0].tolist() == w and model.intercept_.tolist() == [b]
    alpha, beta = literal.xu_zhang_binary(oracles.polynomial(X, X, degree, coef0=0), z, order)
    model = run(MulticlassKernelPerceptron("poly", degree=degree, coef0=0.0, **options), X, y)
    assert model.alpha().tolist() == [[-a for a in alpha], alpha.tolist()] and model.intercept_.tolist() == [-beta, beta]


def test_the_classes_to_demote_are_those_that_match_or_beat_the_true_one():
    f = [3, 2, 5, 1, 5]
    assert [literal.demoted(f, 1, demote) for demote in DEMOTE] == [[2], [0], [0, 2, 4]]
    assert [literal.demoted(f, 4, demote) for demote in DEMOTE] == [[2]] * 3, "a tie is a mistake"
    assert [literal.demoted(f, 2, demote) for demote in DEMOTE] == [[4]] * 3
    assert [literal.demoted([3, 1], 0, demote) for demote in DEMOTE] == [[]] * 3


# The course page.


@settings(max_examples=20, deadline=None)
@given(SEEDS, st.sampled_from(["one-hot", "binary"]), st.sampled_from([1.0, 0.37]), st.sampled_from([1.0, 0.0]))
def test_the_first_listing_gives_the_weights_of_the_delta_rule(seed, code, eta, scale):
    X, y = problem(seed, n=10)
    model = DeltaRulePerceptron(
        code=code, eta=eta, initial_scale=scale, max_iter=5, presentation="ordered", random_state=seed
    ).fit(X, y)
    x, W = python_floats(np.column_stack([np.ones(len(X)), X])), python_floats(model.initial_weights_)
    stored = literal.delta_rule(x, model.code_[y].T.astype(int), W, np.tile(np.arange(10), 5), eta=eta)
    assert len(stored) == 10 * model.n_iter_
    assert stored[-1].tolist() == np.column_stack([model.intercept_, model.coef_]).tolist()
    assert model.converged_ == (literal.wrong(stored[-1] @ x.T, model.code_[y].T) == 0)


@settings(max_examples=20, deadline=None)
@given(SEEDS, st.sampled_from(["one-hot", "binary"]), st.integers(1, 3))
def test_the_second_listing_counts_the_mistakes_of_each_output(seed, code, degree):
    X, y = problem(seed, n=10)
    model = OutputCodeKernelPerceptron(degree=degree, coef0=2.0, code=code, max_iter=5, presentation="ordered").fit(X, y)
    K = oracles.polynomial(X, X, degree, coef0=2)  # (1 + x.y)^degree of points with a column of ones
    stored = literal.course_kernel_perceptron(K, model.code_[y].T.astype(int), np.tile(np.arange(10), 5))
    assert len(stored) == 10 * model.n_iter_
    assert [log.alpha(n=10).tolist() for log in model.mistakes_] == stored[-1].tolist()


def test_from_zero_a_score_of_0_costs_the_delta_rule_half_a_step_and_the_counts_a_whole_one():
    X, Y = np.array([[1, 2], [1, -3]]), np.array([[1, -1]])
    (W,) = literal.delta_rule(X, Y, np.zeros((1, 2), dtype=int), [0])
    (A,) = literal.course_kernel_perceptron(X @ X.T, Y, [0])
    assert W.tolist() == [[1, 2]] and A.tolist() == [[1, 0]]


# Akar & Ye 2017.


@pytest.mark.parametrize("include_self", [True, False])
def test_least_squares_are_steps_a_to_g(include_self):
    random, options = np.random.RandomState(0), {"tau": 8.0, "include_self": include_self}
    X, y = random.normal(size=(30, 3)), np.arange(30) % 3
    X_test = random.normal(size=(9, 3))
    model = KernelRidgeClassifier(alpha=1.0, n_neighbors=3, **options).fit(X + y[:, None], y)
    f = literal.akar_ye(X + y[:, None], y, X_test, lam=1.0, k=3, **options)
    np.testing.assert_allclose(model.decision_function(X_test), f, rtol=0, atol=1e-12)
    assert np.array_equal(model.predict(X_test), f.argmax(axis=1))


# Budgets.


def stream(seed, *, n=40, degree=2, normalize=False):
    """Points, labels +-1, and exact or normalized kernel values of a stream in which points recur."""
    random = np.random.RandomState(seed)
    X, z = random.randint(-4, 5, (n, 2)), random.permutation(np.arange(n) % 2) * 2 - 1
    K = oracles.polynomial(X, X, degree)
    return X, z, (K / np.sqrt(np.outer(K.diagonal(), K.diagonal()).astype(float))).astype(float) if normalize else K


@settings(max_examples=20, deadline=None)
@given(SEEDS, st.integers(1, 8), st.sampled_from(["oldest", "random"]))
def test_budget_perceptrons_hold_the_same_examples(seed, B, removal):
    X, z, K = stream(seed)
    draws = np.random.RandomState(seed).random_sample(len(z)) if removal == "random" else None
    f, scores = literal.budget_perceptron(K, z, range(len(z)), B, draws=draws)
    model = BudgetPerceptron(
        budget=B, removal=removal, degree=2, normalize=False, shuffle=False, random_state=seed
    ).fit(X, z)  # fmt: skip
    assert np.array_equal(model.online_scores_[:, 0], np.array(scores, dtype=float))
    assert model.support_.tolist() == sorted(i for i, _ in f) and len(f) <= B


def test_a_budget_for_all_leaves_the_kernel_perceptron():
    _, z, K = stream(1)
    f, _ = literal.budget_perceptron(K, z, range(len(z)), len(z))
    everything = literal.norma(K, z, range(len(z)), eta=1, lam=0)[0]
    alpha = literal.kernel_perceptron(K, z, range(len(z)))
    assert [i for i, _ in f] == [i for i, sigma in everything if sigma] == np.flatnonzero(alpha).tolist()


@settings(max_examples=20, deadline=None)
@given(SEEDS, st.integers(1, 8), st.booleans())
def test_the_forgetron_shrinks_and_forgets_as_its_pseudo_code(seed, B, basic):
    X, z, K = stream(seed, normalize=True)
    f, scores, removals = literal.forgetron(K, z, range(len(z)), B, basic=basic)
    assume(all(score == 0 or abs(score) > 1e-9 for score in scores))  # else rounding decides what is a mistake
    model = Forgetron(budget=B, shrinking="basic" if basic else "self-tuning", degree=2, shuffle=False).fit(X, z)
    np.testing.assert_allclose(model.online_scores_[:, 0], scores, rtol=1e-8, atol=1e-10)
    assert model.support_.tolist() == [i for i, _ in f]
    np.testing.assert_allclose(model.dual_coef_[0], [sigma * z[i] for i, sigma in f], rtol=1e-8)
    np.testing.assert_allclose(model.damage_, removals[-1][1] if removals else 0, rtol=1e-8, atol=1e-10)


@settings(max_examples=20, deadline=None)
@given(SEEDS, st.sampled_from([0.0, 0.25]), st.sampled_from([None, 0.25]), st.sampled_from([None, 5]), st.booleans())
def test_norma_descends_as_its_pseudo_code(seed, lam, nu, tau, flag):
    X, z, K = stream(seed, normalize=True)
    f, scores, b, rhos = literal.norma(
        K, z, range(len(z)), eta=0.5, lam=lam, rho=1.0, nu=nu, tau=tau, intercept=flag, sqrt=flag
    )
    assume(np.all(np.abs(z * scores - rhos[:-1]) > 1e-9))  # else rounding decides what is a margin error
    model = Norma(
        regularization=lam, step=0.5, schedule="sqrt" if flag else "constant", margin=1.0, nu=nu, truncation=tau,
        fit_intercept=flag, degree=2, shuffle=False,
    ).fit(X, z)  # fmt: skip
    np.testing.assert_allclose(model.online_scores_[:, 0], scores, rtol=1e-9, atol=1e-12)
    held = [(i, sigma * z[i]) for i, sigma in f if sigma]
    assert model.support_.tolist() == [i for i, _ in held]
    np.testing.assert_allclose(model.dual_coef_[0], [weight for _, weight in held], rtol=1e-9)
    np.testing.assert_allclose([model.intercept_[0], model.margin_[0]], [b, rhos[-1]], rtol=1e-9, atol=1e-12)


def test_integers_of_any_size_stay_exact():
    _, z, K = stream(3)
    z, order, large = z.tolist(), order_of(len(z), 2, 0), 2**70 * K
    assert np.array_equal(literal.algorithm_1(large, z, order), literal.algorithm_1(K, z, order))
    (f, scores), (same, smaller) = (literal.budget_perceptron(k, z, order, 5) for k in (large, K))
    assert f == same and scores == [2**70 * score for score in smaller]
    y = np.maximum(z, 0)
    (alpha, _, mistakes), (smaller, _, same) = (literal.xu_zhang(k, y, order, threshold=0) for k in (large, K))
    assert mistakes == same and alpha.tolist() == (2**70 * smaller).tolist() and abs(alpha).max() > 2**70
