"""The learner against the literal Algorithm 1, exactly, on integer data."""

import numpy as np
import oracles
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from sklearn.metrics.pairwise import linear_kernel, polynomial_kernel, rbf_kernel
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from kp import PREDICTORS, OneVsAllKernelPerceptron, kernels, literal, perceptron
from kp.gram import Gram, Points, Products
from kp.perceptron import find_mistakes, visiting_orders


def expected_scores(X, y, test, degree, epochs, seed):
    """scores[epoch][predictor] (m, n + test) from Algorithm 1 in integers; the average times the number of steps."""
    classes = np.unique(y)
    positives = classes if len(classes) > 2 else classes[1:]
    K, points = oracles.polynomial(X, X, degree), oracles.polynomial(X, np.vstack([X, test]), degree)
    out = [{name: [] for name in PREDICTORS} for _ in range(epochs)]
    for positive, order in zip(positives, oracles.orders(len(y), len(positives), epochs, seed), strict=True):
        z = np.where(y == positive, 1, -1)
        stored = literal.algorithm_1(K, z, order)
        votes = np.cumsum([np.sign(literal.g(alpha, z, points)) for alpha in stored], axis=0)
        for e, f in enumerate(out, start=1):
            A = stored[: e * len(y)]
            chosen = {"final": A[-1], "average": sum(A), "minimizing": literal.minimizing(A, K, z)}
            for name, alpha in chosen.items():
                f[name].append(literal.g(alpha, z, points))
            f["voted"].append(votes[len(A) - 1])
    return [{name: np.array(rows, dtype=float) for name, rows in f.items()} for f in out]


@settings(max_examples=30, deadline=None)
@given(oracles.problems(), st.integers(1, 4), st.integers(1, 3), st.sampled_from([1, 3, 64]), st.sampled_from([1, 2, 10**6]))
def test_every_predictor_at_every_epoch_equals_the_literal_algorithm(problem, degree, threads, stretch, rows):
    X, y, test, seed, epochs = problem
    expected = expected_scores(X, y, test, degree, epochs, seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(perceptron, "STRETCH", stretch)
        model = OneVsAllKernelPerceptron(
            degree=degree, max_iter=epochs, random_state=seed, stop_if_separated=False, n_jobs=threads,
            memory_budget=4 * len(y) * rows, count_errors=True,
        ).fit(X, y)  # fmt: skip
    for epoch in range(1, epochs + 1):
        for name in PREDICTORS:
            f = model.decision_function(np.vstack([X, test]), predictor=name, epoch=epoch)
            steps = epoch * len(y) if name == "average" else 1
            np.testing.assert_array_equal(
                np.atleast_2d(f.T), expected[epoch - 1][name] / steps, err_msg=f"{name} at {epoch}"
            )


@pytest.mark.parametrize("degree", [1, 2])
@pytest.mark.parametrize("kind", ["bytes", "large", "real"])
def test_bits_do_not_depend_on_threads_stretch_or_memory_budget(degree, kind, monkeypatch):
    random = np.random.RandomState(degree)
    X = {
        "bytes": lambda: random.randint(0, 16, (200, 60)).astype(np.uint8),
        "large": lambda: random.randint(-30000, 30000, (200, 60)),
        "real": lambda: random.standard_normal((200, 60)),
    }[kind]()
    y = random.randint(0, 3, 200)
    row = 200 * (4 if kind == "bytes" else 8)
    results = []
    for threads, stretch, rows in [(1, 200, 200), (2, 7, 1), (3, 50, 13)]:
        monkeypatch.setattr(perceptron, "STRETCH", stretch)
        model = OneVsAllKernelPerceptron(
            degree=degree, max_iter=3, random_state=0, n_jobs=threads, memory_budget=row * rows, count_errors=True
        ).fit(X, y)
        columns = [getattr(log, name).tolist() for log in model.mistakes_ for name in ("example", "step", "errors")]
        results.append((columns, [model.decision_function(X, predictor=name).tobytes() for name in PREDICTORS]))
    assert results[0] == results[1] == results[2]


def test_the_weight_vector_of_real_points_is_the_sum_of_mistaken_points_in_their_order():
    random = np.random.RandomState(4)
    X, z, kernel = random.standard_normal((60, 5)), 2 * random.randint(0, 2, (3, 60)) - 1, kernels.polynomial(1, gamma=0.7)
    orders = list(visiting_orders(60, 3, 4, random_state=np.random.RandomState(1)))
    logs = find_mistakes(Gram.of_points(X, memory_budget=2**20), kernel, z, orders, 4, threads=2, count_errors=False)
    for a, log in enumerate(logs):
        w, b, mistakes = [0.0] * 5, 0.0, []
        for t in np.concatenate(orders, axis=1)[a]:
            product = 0.0
            for k in range(5):
                product += w[k] * X[t, k]
            if z[a, t] * (0.7 * product + b) <= 0:
                w, b = [w[k] + z[a, t] * X[t, k] for k in range(5)], b + z[a, t]
                mistakes.append(t)
        assert log.errors is None and log.example.tolist() == mistakes


@pytest.mark.parametrize("budget", [8 * 90 * 3, 2**20])
def test_kept_gaussian_values_give_the_bits_of_inner_products(budget):
    random = np.random.RandomState(6)
    X, z, kernel = random.standard_normal((90, 4)), 2 * random.randint(0, 2, (2, 90)) - 1, kernels.rbf(gamma=0.5)
    orders, source = list(visiting_orders(90, 2, 3, random_state=np.random.RandomState(1))), Products(Points(X), Points(X))
    plain, kept = (find_mistakes(Gram(source, memory_budget=budget, kernel=k), kernel, z, orders, 3) for k in (None, kernel))
    for a, b in zip(plain, kept, strict=True):
        for name in ("example", "step", "errors"):
            np.testing.assert_array_equal(getattr(a, name), getattr(b, name))


@pytest.mark.parametrize("orders", ["separate", "shared"])
@pytest.mark.parametrize("shuffle", [True, "once", False])
def test_orders_are_new_kept_or_given_for_each_class_or_for_all(shuffle, orders):
    random = np.random.RandomState(8)
    X, y, epochs = random.randint(-5, 6, (30, 3)), random.randint(0, 3, 30), 4
    K, drawn, visits = oracles.polynomial(X, X, 2), np.random.RandomState(5), [[], [], []]
    for epoch in range(epochs):
        if epoch == 0 or shuffle is True:
            one = [drawn.permutation(30) if shuffle else np.arange(30) for _ in range(3 if orders == "separate" else 1)]
        for a in range(3):
            visits[a].extend(one[a if orders == "separate" else 0])
    model = OneVsAllKernelPerceptron(
        degree=2, max_iter=epochs, shuffle=shuffle, orders=orders, stop_if_separated=False, random_state=5
    ).fit(X, y)
    for a, log in enumerate(model.mistakes_):
        assert log.alpha(n=30).tolist() == literal.kernel_perceptron(K, np.where(y == a, 1, -1), visits[a]).tolist()
        assert np.array_equal(np.array(visits[a])[log.step], log.example)


def test_a_score_of_exactly_zero_is_a_mistake_and_ties_go_to_the_first_class():
    X, y = np.array([[0, 0], [0, 0], [1, 0]]), np.array(["b", "a", "c"])
    model = OneVsAllKernelPerceptron("linear", max_iter=1, shuffle=False, stop_if_separated=False).fit(X, y)
    assert [log.example.tolist() for log in model.mistakes_] == [[0, 1, 2]] * 3
    assert model.predict([[0, 0]]).tolist() == ["a"]


def test_a_stream_fed_in_parts_is_one_run_over_the_whole():
    random = np.random.RandomState(2)
    X, y = random.randint(-5, 6, (90, 3)), random.choice(list("xyz"), 90)
    whole = OneVsAllKernelPerceptron(degree=2, max_iter=1, shuffle=False).fit(X, y)
    stream = OneVsAllKernelPerceptron(degree=2)
    for part in np.split(np.arange(90), [1, 20, 50]):
        stream.partial_fit(X[part], y[part], classes=list("xyz"))
    np.testing.assert_array_equal(stream.support_, whole.support_)
    for name in ("final", "average", "voted"):
        np.testing.assert_array_equal(
            stream.decision_function(X, predictor=name), whole.decision_function(X, predictor=name)
        )
    with pytest.raises(ValueError, match="partial_fit"):
        stream.predict(X, predictor="minimizing")


def test_kernels_equal_scikit_learns():
    random = np.random.RandomState(0)
    X, Y = random.standard_normal((20, 4)), random.standard_normal((7, 4))
    np.testing.assert_allclose(kernels.linear()(X, Y), linear_kernel(X, Y), rtol=1e-12)
    np.testing.assert_allclose(kernels.rbf(gamma=0.3)(X, Y), rbf_kernel(X, Y, gamma=0.3), rtol=1e-12)
    for degree in (1, 2, 3, 4, 7):
        ours = kernels.polynomial(degree, gamma=0.5, coef0=2)(X, Y)
        np.testing.assert_allclose(ours, polynomial_kernel(X, Y, degree=degree, gamma=0.5, coef0=2), rtol=1e-12)


@parametrize_with_checks([OneVsAllKernelPerceptron(), OneVsAllKernelPerceptron("precomputed", predictor="voted")])
def test_scikit_learn_estimator_checks(estimator, check):
    check(estimator)


def test_a_given_matrix_is_cut_into_folds_on_both_sides():
    X, y = load_iris(return_X_y=True)
    model = OneVsAllKernelPerceptron("precomputed", random_state=0, predictor="average", max_iter=50)
    assert cross_val_score(model, (1 + X @ X.T) ** 2, y, cv=3).mean() > 0.9


@pytest.mark.parametrize(
    ("parameters", "X", "y", "message"),
    [
        ({}, [[1.0], [2.0]], [1, 1], r"2 classes, got 1 class \(1\); add"),
        ({"kernel": lambda X, Y: np.zeros(3)}, [[1.0], [2.0]], [0, 1], "must return finite values of shape"),
        ({"kernel": lambda X, Y: np.full((len(X), len(Y)), np.nan)}, [[1.0], [2.0]], [0, 1], "NaN"),
        ({"degree": 40}, np.full((2, 784), 255, dtype=np.uint8), [0, 1], "scale the data down or lower the degree"),
    ],
)
def test_bad_input_is_refused_with_what_was_expected(parameters, X, y, message):
    with pytest.raises(ValueError, match=message):
        OneVsAllKernelPerceptron(**parameters).fit(X, y)


@pytest.mark.parametrize("epoch", [0, 4, 1.5])
def test_an_epoch_that_was_not_run_is_refused(epoch):
    X, y = np.eye(4), [0, 1, 0, 1]
    model = OneVsAllKernelPerceptron(max_iter=3, stop_if_separated=False).fit(X, y)
    with pytest.raises(ValueError, match=r"epoch must be an integer in 1\.\.3"):
        model.predict(X, epoch=epoch)


def test_it_stops_after_an_epoch_without_mistakes():
    X, y = np.array([[0.0], [1.0]]), [0, 1]
    model = OneVsAllKernelPerceptron("linear", max_iter=50, shuffle=False).fit(np.hstack([X, 1 - X]), y)
    assert model.n_iter_ < 50 and model.mistakes_[0].length(model.n_iter_ - 1) == len(model.mistakes_[0])
