"""Online learners on a budget against their papers' algorithms, and their theorems."""

import math

import numpy as np
import oracles
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from kp import OneVsAllKernelPerceptron, budget, literal
from kp.budget import BudgetPerceptron, Forgetron, Norma


def gram(X, kernel, normalize):
    """k(x_i, x_j) (n, n) as Python numbers, integers where they are."""
    if kernel[0] == "poly":
        K = oracles.polynomial(X, X, *kernel[1:])
    else:
        size = np.square if kernel[0] == "rbf" else np.abs
        K = np.array([[math.exp(-kernel[1] * size(p - q).sum()) for q in X] for p in X], dtype=object)
    if normalize:
        own = [math.sqrt(k) for k in K.diagonal()]
        K = [[k / (own[i] * own[j]) if own[i] * own[j] else 0.0 for j, k in enumerate(row)] for i, row in enumerate(K)]
    return np.array(K, dtype=object)


# ------------------------------------------------------------------ problems


def exponential(X, Y):
    """A kernel function: exp(-|x - y|_1 / 4)."""
    return np.exp(-0.25 * np.abs(X[:, None] - Y).sum(axis=2))


kernel_choices = st.sampled_from(
    [("poly", 1, 1), ("poly", 2, 1), ("poly", 3, 1), ("rbf", 0.25), ("laplacian", 0.25), (exponential, 0.25)]
)
RULES = [
    BudgetPerceptron(budget=None),
    BudgetPerceptron(budget=3, removal="oldest"),
    BudgetPerceptron(budget=3, random_state=5),
    Forgetron(budget=3),
    Forgetron(budget=3, shrinking="basic"),
    Norma(nu=0.3, truncation=9, fit_intercept=True, learning_rate="invscaling"),
]
each_rule = pytest.mark.parametrize("model", RULES, ids=lambda model: str(model)[:40])


def with_kernel(model, kernel, **others):
    kind, *own = kernel
    chosen = {"degree": own[0], "gamma": 1, "coef0": own[1]} if kind == "poly" else {"gamma": own[0]}
    return model.set_params(kernel=kind, **chosen, shuffle=False, **others)


# ------------------------------------------------------------------ equality


@settings(max_examples=30, deadline=None)
@given(oracles.streams(40), st.integers(1, 6), st.integers(1, 4), st.integers(0, 99), st.booleans())
def test_budget_perceptrons_equal_the_literal_ones_exactly_on_integers(stream, B, degree, seed, random_removal):
    X, y = stream
    K = gram(stream[0], ("poly", degree, 1), False)
    draws = np.random.RandomState(seed).random_sample(len(y)) if random_removal else None
    held, scores = literal.budget_perceptron(K, y.tolist(), range(len(y)), B, draws=draws)
    model = BudgetPerceptron(budget=B, removal="random" if random_removal else "oldest", random_state=seed)
    model = with_kernel(model, ("poly", degree, 1), normalize=False).fit(X, y)
    np.testing.assert_array_equal(model.online_scores_[:, 0], np.array(scores, dtype=float))
    assert model.support_.tolist() == sorted({i for i, _ in held})
    np.testing.assert_array_equal(model.decision_function(X), [float(literal.value(held, y.tolist(), k)) for k in K])
    assert model.n_support_[0] == len(held) <= B


@settings(max_examples=30, deadline=None)
@given(oracles.streams(40), st.integers(1, 8), kernel_choices, st.sampled_from(["self-tuning", "basic"]))
def test_the_forgetron_equals_the_literal_one(stream, B, kernel, shrinking):
    X, y = stream
    K = gram(stream[0], kernel, True)
    held, scores, removals = literal.forgetron(K, y.tolist(), range(len(y)), B, basic=shrinking == "basic")
    assume(all(score == 0 or abs(score) > 1e-9 for score in scores))  # else rounding decides what is a mistake
    model = with_kernel(Forgetron(budget=B, shrinking=shrinking), kernel).fit(X, y)
    np.testing.assert_allclose(model.online_scores_[:, 0], scores, rtol=1e-8, atol=1e-10)
    assert model.support_.tolist() == [i for i, _ in held]
    np.testing.assert_allclose(model.dual_coef_[0], [sigma * y[i] for i, sigma in held], rtol=1e-8)
    np.testing.assert_allclose(model.damage_, removals[-1][1] if removals else 0, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(model.shrinking_, sum(1 - phi for _, _, phi, _ in removals), rtol=1e-7, atol=1e-9)


@settings(max_examples=30, deadline=None)
@given(
    oracles.streams(40), kernel_choices, st.sampled_from([0.0, 0.01, 0.3]), st.sampled_from([0.25, 1.0]), st.booleans(),
    st.sampled_from([0.0, 1.0]), st.sampled_from([None, 0.0, 0.3, 1.0]), st.sampled_from([None, 1, 4]), st.booleans(),
)  # fmt: skip
def test_norma_equals_the_literal_one(stream, kernel, lam, eta, sqrt, rho, nu, tau, intercept):
    X, y = stream
    K = gram(stream[0], kernel, True)
    held, scores, b, rhos = literal.norma(
        K, y.tolist(), range(len(y)), lam=lam, eta=eta, sqrt=sqrt, rho=rho, nu=nu, tau=tau, intercept=intercept
    )
    excess = y * scores - rhos[:-1]
    nothing = (np.array(scores) == 0) & (np.array(rhos[:-1]) == 0)
    assume(np.all(nothing | (np.abs(excess) > 1e-9)))  # else rounding decides what is a margin error
    model = Norma(
        alpha=lam, eta0=eta, learning_rate="invscaling" if sqrt else "constant", margin=rho, nu=nu, truncation=tau,
        fit_intercept=intercept,
    )  # fmt: skip
    model = with_kernel(model, kernel).fit(X, y)
    np.testing.assert_allclose(model.online_scores_[:, 0], scores, rtol=1e-9, atol=1e-12)
    kept = [(i, sigma * y[i]) for i, sigma in held if sigma]
    assert model.support_.tolist() == [i for i, _ in kept]
    np.testing.assert_allclose(model.dual_coef_[0], [w for _, w in kept], rtol=1e-9)
    np.testing.assert_allclose([model.intercept_[0], model.margin_[0]], [b, rhos[-1]], rtol=1e-9, atol=1e-12)
    expected = [sum(w * K[i][t] for i, w in kept) + b for t in range(len(y))]
    np.testing.assert_allclose(model.decision_function(X), expected, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize(("classes", "epochs"), [(2, 1), (3, 4)])
def test_without_a_budget_the_learners_are_the_kernel_perceptron(classes, epochs):
    X, y = oracles.blobs(120, classes, 0)
    common = dict(degree=2, gamma=1, max_iter=epochs, random_state=3)
    plain = OneVsAllKernelPerceptron(predictor="final", orders="shared", **common).fit(X, y)
    options = common | {"normalize": False}
    models = [
        BudgetPerceptron(budget=None, **options),
        BudgetPerceptron(budget=120 * epochs, **options),
        Norma(alpha=0.0, margin=0.0, eta0=1.0, **options),
    ]
    for model in models:
        model.fit(X, y)
        assert model.n_mistakes_.tolist() == [len(log) for log in plain.mistakes_]
        np.testing.assert_array_equal(model.decision_function(X), plain.decision_function(X))
        np.testing.assert_array_equal(model.support_, plain.support_)


@each_rule
@pytest.mark.parametrize("kind", ["bytes", "reals"])
def test_a_stream_cut_anywhere_gives_the_bits_of_one_fit_in_that_order(model, kind, monkeypatch):
    X, y = oracles.blobs(160, 3, 2, flip=0.2)
    X = {"bytes": X.astype(np.uint8), "reals": X / 7}[kind]
    options = dict(random_state=0, shuffle=False, gamma=1e-3)
    whole = clone(model).set_params(**options).fit(X, y)
    monkeypatch.setattr(budget, "_STRETCH", 16)
    monkeypatch.setattr(budget, "_REMOVED", 2)
    parts = clone(model).set_params(**options)
    for start, stop in [(0, 1), (1, 90), (90, 93), (93, 160)]:
        parts.partial_fit(X[start:stop], y[start:stop], classes=[0, 1, 2])
    for name in ("support_", "support_vectors_", "dual_coef_", "intercept_", "n_mistakes_", "n_seen_"):
        np.testing.assert_array_equal(getattr(parts, name), getattr(whole, name), err_msg=name)
    np.testing.assert_array_equal(parts.decision_function(X), whole.decision_function(X))
    np.testing.assert_array_equal(parts.online_scores_, whole.online_scores_[93:])
    assert (whole.n_mistakes_ > 9).all(), "the budgets must have been exceeded"


# ------------------------------------------------------------------ theorems


@settings(max_examples=30, deadline=None)
@given(oracles.streams(40), st.integers(1, 8), kernel_choices)
def test_the_self_tuning_forgetron_keeps_the_damage_within_15_32_of_the_mistakes_always(stream, B, kernel):
    model = with_kernel(Forgetron(budget=B), kernel)
    for start in range(0, len(stream[1]), 5):
        part = slice(start, start + 5)
        model.partial_fit(stream[0][part], stream[1][part], classes=[-1, 1])
        assert model.damage_[0] <= 15 / 32 * model.n_mistakes_[0] * (1 + 1e-12)
        assert model.n_support_[0] <= B and np.all(np.abs(model.dual_coef_) <= 1)


@settings(max_examples=30, deadline=None)
@given(oracles.streams(60), st.integers(1, 8), kernel_choices, st.sampled_from(["self-tuning", "basic"]), st.data())
def test_mistakes_of_the_forgetron_are_paid_by_any_competitor(stream, B, kernel, shrinking, data):
    """M <= |g|^2 (1 + sum (1 - phi)) + 2 sum of hinge losses of g + Q, for every g and every budget: the inequality that the
    paper's proof adds up, an insertion giving at least 1 - 2 loss, a removal costing Psi and a shrink (1 - phi) |g|^2."""
    X, y = stream
    model = with_kernel(Forgetron(budget=B, shrinking=shrinking), kernel).fit(X, y)
    K = gram(X, kernel, True).astype(float)
    coefficients = np.array(data.draw(st.lists(st.floats(-2, 2, width=32), min_size=len(y), max_size=len(y))))
    for g in (coefficients, y.astype(float), np.zeros(len(y))):
        square = g @ K @ g
        losses = np.maximum(0, 1 - y * (K @ g)).sum()
        paid = square * (1 + model.shrinking_[0]) + 2 * losses + model.damage_[0]
        assert model.n_mistakes_[0] <= paid * (1 + 1e-9) + 1e-9


# ------------------------------------------------------------------ the rest


def test_random_removal_gives_each_example_that_is_held_the_same_chance():
    X = np.arange(21)[:, None]
    y = np.r_[np.ones(20, dtype=int), 0]
    kernel = dict(kernel="rbf", gamma=1e4, shuffle=False)  # every new point scores 0: always a mistake
    kept = np.zeros(21)
    for seed in range(200):
        kept[BudgetPerceptron(budget=20, random_state=seed, **kernel).fit(X, y).support_] += 1
    assert kept[20] == 200 and np.all(np.abs(200 - kept[:20] - 10) < 11), "each of 20 goes in 1/20 of 200 runs"


@pytest.mark.parametrize(
    "model, message",
    [
        (BudgetPerceptron(degree=1, gamma=1, coef0=-200.0), r"k\(x, x\) >= 0, got -"),
        (Forgetron(budget=None), "budget must be an integer of at least 1, got None"),
        (Forgetron(normalize=False), r"the Forgetron needs a kernel with k\(x, x\) <= 1, got"),
        (Norma(eta0=0.5, alpha=2.0), r"eta0 \* alpha must be below 1, got 0.5 and 2.0"),
    ],
)
def test_wrong_parameters_are_refused(model, message):
    with pytest.raises(ValueError, match=message):
        model.fit(*oracles.blobs(30, 2, 0))
