"""The relaxed online maximum margin algorithm against the paper's equations, and its theorem."""

from fractions import Fraction

import numpy as np
import oracles
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.svm import SVC

from kp import OneVsAllKernelPerceptron, Romma, SharedTraining, kernels, literal
from kp.perceptron import visiting_orders

SEEDS = st.integers(0, 99)
RULES = [Romma(start="zero"), Romma(aggressive=True), Romma(aggressive=True, noise_control=2.0)]


def orders_of(model, n):
    """The visits of all epochs of a learner of two classes."""
    random = np.random.RandomState(model.random_state)
    return np.concatenate([order[0] for order in visiting_orders(n, 1, model.max_iter, random_state=random)])


def exponential(X, Y):
    """A kernel function: exp(-|x - y|_1 / 4)."""
    return np.exp(-0.25 * np.abs(X[:, None] - Y).sum(axis=2))


kernel_choices = st.sampled_from([
    *(("poly", {"degree": p, "gamma": 1}) for p in (1, 3)), ("rbf", {"gamma": 0.25}), ("laplacian", {"gamma": 0.25}),
    (exponential, {}),
])  # fmt: skip


@settings(max_examples=80, deadline=None)
@given(oracles.streams(12), SEEDS, kernel_choices, st.booleans(), st.sampled_from([0.0, 0.5, 30.0]), st.booleans())
def test_romma_equals_the_literal_one(stream, seed, kernel, aggressive, noise, from_origin):
    X, y = stream
    model = Romma(
        kernel[0], **kernel[1], aggressive=aggressive, noise_control=noise, start="origin" if from_origin else "zero",
        max_iter=2, random_state=seed,
    )  # fmt: skip
    own = {"poly": kernels.polynomial(model.degree), "rbf": kernels.rbf(gamma=0.25)}.get(model.kernel, exponential)
    points = np.vstack([X, 0 * X[:1]])
    plain = own(points, points)
    K = plain + np.diag([noise] * len(X) + [0.0])
    order = orders_of(model, len(X))
    w, scores = literal.romma(K.tolist(), y.tolist(), order, w=[(len(X), 1.0)] * from_origin, aggressive=aggressive)
    margins = np.array(scores) * y[order]
    # Else rounding decides: what is a mistake, or a margin below 1, or how large the weights of nearly opposite vectors are.
    near = [np.abs(margins - edge) for edge in (0, 1)[: 1 + aggressive]]
    assume(all(np.all((each > 1e-7) | (margins == 0)) for each in near) and np.abs(scores).max() < 1e5)
    model.fit(X, y)
    (log,) = model.mistakes_
    moved = margins < 1 if aggressive else margins <= 0
    np.testing.assert_array_equal(log.step, np.flatnonzero(moved))
    np.testing.assert_array_equal(log.example, order[log.step])
    np.testing.assert_array_equal(log.wrong, margins[log.step] <= 0)
    assert log.n_mistakes() == np.count_nonzero(margins <= 0)
    expected = sum(a * plain[i] for i, a in w)[:-1] if w else np.zeros(len(X))
    np.testing.assert_allclose(model.decision_function(X), expected, rtol=1e-5, atol=1e-6)


def test_the_first_steps_by_hand():
    """x = 1, 2, 1 on a line with a threshold: w = (1, 0) at phi(0), then c w + d x by eqs 3 to 5, in exact fractions."""
    K = [[Fraction(a * b + 1) for a in (1, 2, 0)] for b in (1, 2, 0)]
    z = [-1, 1, 1]
    w, scores = literal.romma(K, z, [0, 1], w=[(2, Fraction(1))])
    # f(x_0) = 1 is wrong: |x|^2 = 2, |w|^2 = 1, so c = (2 + 1) / (2 - 1) = 3 and d = (-1 - 1) / (2 - 1) = -2; w = (1, -2).
    # f(x_1) = 1 - 4 = -3 is wrong: |x|^2 = 5, |w|^2 = 5, so c = (25 + 3) / (25 - 9) = 7/4 and d = 5 (1 + 3) / 16 = 5/4.
    assert scores == [1, -3]
    assert w == [(2, Fraction(21, 4)), (0, Fraction(-7, 2)), (1, Fraction(5, 4))]


def test_scores_are_sums_of_kernel_values_and_mistakes_those_of_the_log():
    X, y = oracles.blobs(120, 3, 4)
    model = Romma(aggressive=True, noise_control=5.0, degree=2, gamma=0.01, shuffle=False, max_iter=2).fit(X, y)
    K = kernels.polynomial(2, gamma=0.01)
    expected = model.dual_coef_ @ K(model.support_vectors_, X) + model.origin_coef_[:, None] * K(0 * X[:1], X)
    np.testing.assert_allclose(model.decision_function(X).T, expected, rtol=1e-9, atol=1e-9)
    for log in model.mistakes_:
        assert log.n_mistakes(1) == np.count_nonzero(log.wrong[log.step < 120])


def test_staged_scores_are_those_of_each_epoch_bit_for_bit():
    X, y = oracles.blobs(100, 3, 5)
    model = Romma(degree=2, gamma=0.01, max_iter=3, noise_control=1.0, random_state=0).fit(X, y)
    for epoch, f in enumerate(model.staged_decision_function(X), start=1):
        np.testing.assert_array_equal(f, model.decision_function(X, epoch=epoch))
        np.testing.assert_array_equal(f, model.set_params(epoch=epoch).decision_function(X))
    again = clone(model).with_mistakes(X, y, model.mistakes_)
    np.testing.assert_array_equal(again.decision_function(X), f)
    with pytest.raises(ValueError, match="mistakes must be a list of 3 logs, one for each learner"):
        clone(model).with_mistakes(X, y, model.mistakes_[:2])
    for stages in (model.staged_predict, model.staged_decision_function):
        np.testing.assert_array_equal([stage["final"] for stage in stages(X, predictor="all")], list(stages(X)))


@pytest.mark.parametrize("options", [{}, {"aggressive": True}, {"start": "zero"}, {"noise_control": 5.0}])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_updates_that_other_labels_would_not_have_made_are_refused(n_classes, options):
    X, y = oracles.blobs(100, n_classes, 5)
    model = Romma(degree=2, gamma=0.01, max_iter=3, random_state=0, **{"noise_control": 1.0} | options).fit(X, y)
    clone(model).with_mistakes(X, y, model.mistakes_)
    for labels in (n_classes - 1 - y, np.roll(y, 1)):
        with pytest.raises(ValueError, match="weights of a log must have the signs of the labels y, got others"):
            clone(model).with_mistakes(X, labels, model.mistakes_)


@pytest.mark.parametrize("own", [{}, {"orders": "shared"}, {"orders": "shared", "shuffle": "once"}])
def test_models_that_are_fitted_together_are_those_that_were_fitted_alone(own):
    X, y = oracles.blobs(150, 3, 6)
    models = [clone(each).set_params(gamma=0.01, max_iter=3, random_state=7, start="origin", **own) for each in RULES]
    models += [clone(models[0]).set_params(start="zero", degree=1), clone(models[0]).set_params(kernel="rbf")]
    models += [
        OneVsAllKernelPerceptron(degree=d, gamma=1, max_iter=3, stop_if_separated=False, random_state=7) for d in (1, 2)
    ]
    training = SharedTraining(X, y)
    for alone, model in zip([clone(each).fit(X, y) for each in models], training.fit(models), strict=True):
        np.testing.assert_array_equal(alone.decision_function(X), model.decision_function(X))
        np.testing.assert_array_equal(alone.support_, model.support_)
    with pytest.raises(ValueError, match="staged outputs are those of OneVsAllKernelPerceptrons, got Romma"):
        next(training.staged_outputs(models))


# ------------------------------------------------------------------ theorems


def separable(seed, *, d=4, n=60):
    """Integer points with the signs of a plane through a gap, and the shortest u with y u.x >= 1 on all of them."""
    random = np.random.RandomState(seed)
    X = random.randint(-9, 10, (n, d))
    f = X @ random.randint(1, 4, d)
    X = X[np.abs(f) > 4]
    y = np.sign(f[np.abs(f) > 4])
    machine = SVC(kernel="linear", C=1e6, tol=1e-8).fit(np.vstack([X, -X]), np.concatenate([y, -y]))
    u = machine.coef_[0]
    return X, y, u / np.min(y * (X @ u))


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 10**6), st.booleans())
def test_mistakes_are_at_most_the_square_of_the_radius_times_that_of_any_u_that_separates(seed, aggressive):
    """M <= R^2 |u|^2 (Li & Long, Theorems 3 and 5): each mistake adds at least 1 / R^2 to |w|^2, which stays below |u|^2."""
    X, y, u = separable(seed)
    model = Romma("linear", start="zero", aggressive=aggressive, max_iter=200, random_state=seed).fit(X, y)
    (log,) = model.mistakes_
    assert log.n_mistakes() <= (X**2).sum(axis=1).max() * (u @ u) * (1 + 1e-6)
    w = model.dual_coef_[0] @ model.support_vectors_
    assert w @ w <= (u @ u) * (1 + 1e-6)
    assert log.n_mistakes() == log.n_mistakes(100) and np.all(y * (X @ w) > 0), "the last epoch has no mistakes"
    if aggressive:
        assert np.linalg.norm(w - u) < 0.1 * np.linalg.norm(u), "it tends to the maximal margin"


@settings(max_examples=30, deadline=None)
@given(oracles.streams(20), SEEDS, kernel_choices, st.booleans())
def test_after_an_update_the_example_has_margin_1_and_w_grows(stream, seed, kernel, aggressive):
    X, y = stream
    model = Romma(kernel[0], **kernel[1], aggressive=aggressive, noise_control=1.0, max_iter=2, random_state=seed)
    (log,) = model.fit(X, y).mistakes_
    own = {"poly": kernels.polynomial(model.degree), "rbf": kernels.rbf(gamma=0.25)}.get(model.kernel, exponential)
    points = np.vstack([X, 0 * X[:1]])
    K = own(points, points) + np.diag([1.0] * len(X) + [0.0])
    square = K[-1, -1]
    w = np.append(np.zeros(len(X)), 1.0)
    for t, c, d in zip(log.example, log.scale, log.weight, strict=True):
        w = c * w + d * np.eye(len(w))[t]
        before = square
        square = w @ K @ w
        np.testing.assert_allclose(y[t] * (w @ K[t]), 1, rtol=1e-6)
        assert square >= before * (1 - 1e-9)


def test_with_noise_control_contradicting_examples_are_learnt_and_without_it_they_are_left_alone():
    X = np.array([[1, 2], [1, 2], [3, 1], [3, 1]])
    y = np.array([0, 1, 0, 1])
    model = Romma(degree=2, gamma=0.1, aggressive=True, noise_control=2.0, max_iter=200, random_state=0).fit(X, y)
    training = model.decision_function(X) + 2 * np.bincount(model.support_, model.dual_coef_[0], minlength=4)
    assert np.all((2 * y - 1) * training > 0.9), "each example has a coordinate of its own"
    (log,) = Romma(degree=2, gamma=1, max_iter=2, shuffle=False).fit(X, y).mistakes_
    assert np.isfinite(log.weight).all()


# ------------------------------------------------------------------ the rest


def test_examples_that_are_too_small_are_refused():
    with pytest.raises(ValueError, match=r"\|w\|\^2 must stay below 1e\+200, got 1e\+202: .*; scale the data up"):
        Romma("linear", start="zero").fit([[1e-101], [-1e-101]], [0, 1])


def test_other_predictors_are_refused():
    X, y = oracles.blobs(30, 2, 0)
    model = Romma(degree=2, gamma=1, noise_control=1.0).fit(X, y)
    with pytest.raises(ValueError, match="predictor must be final, the only one of Romma, got 'average'"):
        next(model.staged_predict(X, predictor="average"))
