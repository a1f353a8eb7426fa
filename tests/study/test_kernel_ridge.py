"""Kernel least squares and the self-tuning kernel: the formulas, literally, and the algebra behind them."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import BaggingClassifier
from sklearn.linear_model import Ridge
from sklearn.preprocessing import PolynomialFeatures
from sklearn.utils.estimator_checks import parametrize_with_checks

from kp import literal
from study.seeds.kernel_ridge import KernelRidgeClassifier, local_scale, self_tuning_kernel

SEEDS = st.integers(0, 999)


def cloud(seed, n=24, d=3):
    """Points of three classes in random order, no two alike."""
    random = np.random.RandomState(seed)
    y = random.permutation(np.arange(n) % 3)
    return random.normal(size=(n, d)) + y[:, None], y


@settings(max_examples=25, deadline=None)
@given(SEEDS, st.sampled_from([0.5, 1.0, 10.0]), st.sampled_from([0.05, 1.0, 8.0]), st.integers(2, 8), st.booleans())
def test_outputs_equal_the_literal_formula(seed, alpha, tau, k, include_self):
    X, y = cloud(seed)
    X_test, _ = cloud(seed + 1000)
    expected = literal.akar_ye(X, y, X_test, lam=alpha, tau=tau, k=k, include_self=include_self)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Singular matrix")
        model = KernelRidgeClassifier(alpha=alpha, tau=tau, n_neighbors=k, include_self=include_self).fit(X, y)
    condition = np.linalg.cond(self_tuning_kernel(X, X, model.sigma_, model.sigma_, tau=tau) + alpha * np.eye(len(X)))
    np.testing.assert_allclose(model.decision_function(X_test), expected, rtol=0, atol=1e-13 * condition)
    assert (model.predict(X_test) == expected.argmax(1)).all()


@settings(max_examples=40, deadline=None)
@given(SEEDS, st.integers(1, 9), st.booleans())
def test_scale_is_the_distance_to_the_kth_nearest_point(seed, k, include_self):
    X, _ = cloud(seed)
    Y, _ = cloud(seed + 1000, n=15)
    np.testing.assert_allclose(local_scale(X, Y, n_neighbors=k), literal.local_scales(X, Y, k), rtol=1e-13)
    expected = literal.local_scales(X, X, k + 1)
    found = local_scale(X, n_neighbors=k + include_self, include_self=include_self)
    np.testing.assert_allclose(found, expected, rtol=1e-13)


@settings(max_examples=30, deadline=None)
@given(SEEDS, st.integers(-40, 40), st.floats(1e-6, 1e6), st.sampled_from([1e-150, 1e120]))
def test_the_self_tuning_kernel_is_symmetric_and_the_same_in_all_units(seed, exponent, factor, extreme):
    # |c x - c x'|^2 / (tau (c sigma)(c sigma')) = |x - x'|^2 / (tau sigma sigma'); exact for powers of 4 and their roots.
    # Distances keep about 1e-8 relative precision where their squares come near the smallest numbers.
    X, _ = cloud(seed)
    sigma = local_scale(X, n_neighbors=4)
    K = self_tuning_kernel(X, X, sigma, sigma, tau=8.0)
    assert (K.T == K).all() and (K.diagonal() == 1).all()
    for c, tolerance in ((4.0**exponent, 0.0), (factor, 1e-12), (extreme, 1e-6)):
        scale = local_scale(c * X, n_neighbors=4)
        np.testing.assert_allclose(self_tuning_kernel(c * X, c * X, scale, scale, tau=8.0), K, rtol=0, atol=tolerance)


@settings(max_examples=20, deadline=None)
@given(SEEDS, st.integers(1, 3), st.sampled_from([0.01, 1.0, 30.0]))
def test_primal_weights_are_the_features_times_the_dual_coefficients(seed, degree, alpha):
    X, y = cloud(seed)
    features = PolynomialFeatures(degree).fit_transform(X)  # Phi^T (n, D)
    dual = KernelRidgeClassifier("precomputed", alpha=alpha).fit(features @ features.T, y)
    primal = Ridge(alpha=alpha, fit_intercept=False, solver="cholesky").fit(features, np.eye(3)[y])
    W = features.T @ dual.dual_coef_  # Phi A^T (D, C)
    np.testing.assert_allclose(primal.coef_.T, W, rtol=0, atol=1e-8 * np.abs(W).max())


def test_without_positive_definiteness_it_warns_and_still_solves_the_equation():
    X, y = cloud(0)
    with pytest.warns(UserWarning, match="Singular matrix .* Using least-squares solution"):
        model = KernelRidgeClassifier(alpha=0.05, tau=50.0, n_neighbors=2).fit(X, y)
    K = self_tuning_kernel(X, X, model.sigma_, model.sigma_, tau=50.0)
    np.testing.assert_allclose((K + 0.05 * np.eye(len(X))) @ model.dual_coef_, np.eye(3)[y], atol=1e-9)


def test_precomputed_self_tuning_kernel_gives_the_same_outputs():
    X, y = cloud(5)
    X_test, _ = cloud(6)
    model = KernelRidgeClassifier(tau=4.0, n_neighbors=4).fit(X, y)
    sigma = local_scale(X_test, X, n_neighbors=4)
    given_values = KernelRidgeClassifier("precomputed").fit(self_tuning_kernel(X, X, model.sigma_, model.sigma_, tau=4.0), y)
    K_test = self_tuning_kernel(X_test, X, sigma, model.sigma_, tau=4.0)
    np.testing.assert_array_equal(given_values.decision_function(K_test), model.decision_function(X_test))


def test_equal_outputs_go_to_the_first_class():
    model = KernelRidgeClassifier("precomputed").fit(np.eye(3), ["b", "a", "c"])
    assert model.predict(np.zeros((1, 3))).tolist() == ["a"]
    binary = KernelRidgeClassifier("precomputed").fit(np.eye(2), ["b", "a"])
    assert binary.predict([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]).tolist() == ["a", "b", "a"]


@pytest.mark.parametrize(
    "options, message",
    [
        (dict(n_neighbors=24), "n_neighbors: needs an integer from 2 to 23, as the point itself is the first; got 24"),
        (dict(n_neighbors=1), "n_neighbors: needs an integer from 2 to 23, as the point itself is the first; got 1"),
        (dict(n_neighbors=0, include_self=False), "n_neighbors: needs an integer from 1 to 23; got 0"),
    ],
)
def test_bad_numbers_of_neighbours_are_refused_in_words(options, message):
    X, y = cloud(0)
    with pytest.raises(ValueError, match=message):
        KernelRidgeClassifier(**options).fit(X, y)


@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_points_that_coincide_are_found_at_any_place_in_any_number_of_dimensions(offset):
    for seed in range(5):
        X = np.random.RandomState(seed).normal(size=(40, 30)) + offset
        X[7] = X[3]
        with pytest.raises(ValueError, match=r"2 of 40 points have scale 0 \(the first is number 3\).*raise n_neighbors"):
            local_scale(X, n_neighbors=2)


@pytest.mark.parametrize("sigma", [np.zeros(24), np.full(24, np.inf), np.full(24, np.nan)])
def test_the_kernel_refuses_scales_that_are_not_positive_and_finite(sigma):
    X, _ = cloud(0)
    with pytest.raises(ValueError, match="sigma_y: scales must be positive and finite"):
        self_tuning_kernel(X, X, np.ones(24), sigma)


def test_bagging_is_told_why_repeated_points_have_no_scale():
    X, y = cloud(0, n=60)
    with pytest.raises(ValueError, match="BaggingClassifier makes unless bootstrap=False"):
        BaggingClassifier(KernelRidgeClassifier(n_neighbors=2), random_state=0).fit(X, y)
    BaggingClassifier(KernelRidgeClassifier(n_neighbors=2), bootstrap=False, max_samples=0.8, random_state=0).fit(X, y)


@parametrize_with_checks([KernelRidgeClassifier(), KernelRidgeClassifier("precomputed")])
def test_scikit_learn_accepts_the_classifier(estimator, check):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Singular matrix")
        check(estimator)
