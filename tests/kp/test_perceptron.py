"""The learner against the literal Algorithm 1, exactly, on integer data."""

import numpy as np
import oracles
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.metrics.pairwise import laplacian_kernel, linear_kernel, polynomial_kernel, rbf_kernel

from kp import PREDICTORS, OneVsAllKernelPerceptron, SharedTraining, kernels, literal, perceptron
from kp.gram import Gram, Points, Products
from kp.perceptron import find_mistakes, visiting_orders


def expected(X, y, test, degree, epochs, seed):
    """[alphas and scores of each predictor] of each epoch, from Algorithm 1 in integers; (m, n) and (m, n + test)."""
    m = y.max() + 1
    if m == 2:
        m = 1
        y = 1 - y  # the one perceptron is of the second class
    K = oracles.polynomial(X, X, degree)
    points = oracles.polynomial(X, np.vstack([X, test]), degree)
    runs = literal.one_vs_all(K, y, oracles.orders(len(y), m, epochs, seed))
    signs = [np.where(y == a, 1, -1) for a in range(m)]
    for steps in len(y) * np.arange(1, epochs + 1):
        stored = [A[:steps] for A in runs]
        alphas = {
            "final": [A[-1] for A in stored],
            "average": [sum(A) for A in stored],
            "minimizing": [literal.minimizing(A, K, z) for A, z in zip(stored, signs, strict=True)],
        }
        scores = {name: literal.class_scores(each, y, points) for name, each in alphas.items()}
        scores["average"] = scores["average"].astype(float) / steps
        votes = [[np.sign(literal.g(alpha, z, points)) for alpha in A] for A, z in zip(stored, signs, strict=True)]
        scores["voted"] = np.sum(votes, axis=1)
        yield alphas | {"average": list(map(literal.average, stored))}, scores


@settings(max_examples=30, deadline=None)
@given(oracles.problems(), st.integers(1, 4), st.integers(1, 3), st.sampled_from([1, 3, 64]), st.sampled_from([1, 2, 10**6]))
def test_every_predictor_at_every_epoch_equals_the_literal_algorithm(problem, degree, threads, stretch, rows):
    X, y, test, seed, epochs = problem
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(perceptron, "_STRETCH", stretch)
        model = OneVsAllKernelPerceptron(
            degree=degree, gamma=1, max_iter=epochs, random_state=seed, stop_if_separated=False, n_jobs=threads,
            memory_budget=4 * len(y) * rows, count_errors=True,
        ).fit(X, y)  # fmt: skip
    for epoch, (alphas, scores) in enumerate(expected(X, y, test, degree, epochs, seed), start=1):
        for name in PREDICTORS:
            f = model.decision_function(np.vstack([X, test]), predictor=name, epoch=epoch)
            np.testing.assert_array_equal(np.atleast_2d(f.T), scores[name].astype(float), err_msg=f"{name} at {epoch}")
        for name, each in alphas.items():
            np.testing.assert_array_equal([log.alpha(name, epoch, n=len(y)) for log in model.mistakes_], each)


def test_the_weight_vector_of_real_points_is_the_sum_of_mistaken_points_in_their_order():
    random = np.random.RandomState(4)
    X = random.standard_normal((60, 5))
    z = 2 * random.randint(0, 2, (3, 60)) - 1
    kernel = kernels.polynomial(1, gamma=0.7)
    orders = list(visiting_orders(60, 3, 4, random_state=np.random.RandomState(1)))
    logs = find_mistakes(Gram.of_points(X, memory_budget=2**20), kernel, z, orders, 4, threads=2, count_errors=False)
    for a, log in enumerate(logs):
        w = [0.0] * 5
        b = 0.0
        mistakes = []
        for t in np.concatenate(orders, axis=1)[a]:
            product = 0.0
            for k in range(5):
                product += w[k] * X[t, k]
            if z[a, t] * (0.7 * product + b) <= 0:
                w = [w[k] + z[a, t] * X[t, k] for k in range(5)]
                b = b + z[a, t]
                mistakes.append(t)
        assert log.errors is None and log.example.tolist() == mistakes


def test_orders_that_are_shared_or_skip_examples_are_no_views_for_which_loops_would_be_compiled_again(monkeypatch):
    found = []
    epoch = perceptron._Dual.epoch

    def noted(self, visited, *options):
        found.extend(each.flags.writeable for each in visited)
        return epoch(self, visited, *options)

    monkeypatch.setattr(perceptron._Dual, "epoch", noted)
    gram = Gram.of_points(np.array([[1, 2], [3, 4], [5, 6], [7, 8]]), memory_budget=2**20)
    for signs in ([[1, -1, 1, -1], [1, 1, -1, 1]], [[1, -1, 1, -1], [1, 0, -1, 1]]):
        for m in (1, 2):
            find_mistakes(gram, kernels.polynomial(2), np.array(signs), visiting_orders(4, m, 1), 1)
    assert found and all(found)


def test_an_epoch_of_orders_for_another_number_of_learners_is_refused():
    gram = Gram.of_points(np.array([[1, 2], [3, 4]]), memory_budget=2**20)
    with pytest.raises(ValueError, match=r"orders must yield \(1, n\) or \(3, n\) for 3 learners, got 2 rows"):
        find_mistakes(gram, kernels.polynomial(2), np.array([[1, -1]] * 3), visiting_orders(2, 2, 1), 1)


@pytest.mark.parametrize("budget", [8 * 90 * 3, 2**20])
def test_kept_gaussian_values_give_the_bits_of_inner_products(budget):
    random = np.random.RandomState(6)
    X = random.standard_normal((90, 4))
    z = 2 * random.randint(0, 2, (2, 90)) - 1
    kernel = kernels.rbf(gamma=0.5)
    orders = list(visiting_orders(90, 2, 3, random_state=np.random.RandomState(1)))
    source = Products(Points(X), Points(X))
    plain, kept = (find_mistakes(Gram(source, memory_budget=budget, kernel=k), kernel, z, orders, 3) for k in (None, kernel))
    for a, b in zip(plain, kept, strict=True):
        for name in ("example", "step", "errors"):
            np.testing.assert_array_equal(getattr(a, name), getattr(b, name))


@pytest.mark.parametrize("orders", ["separate", "shared"])
@pytest.mark.parametrize("shuffle", [True, "once", False])
def test_orders_are_new_kept_or_given_for_each_class_or_for_all(shuffle, orders):
    random = np.random.RandomState(8)
    X = random.randint(-5, 6, (30, 3))
    y = random.randint(0, 3, 30)
    epochs = 4
    K = oracles.polynomial(X, X, 2)
    drawn = np.random.RandomState(5)
    visits = [[], [], []]
    for epoch in range(epochs):
        if epoch == 0 or shuffle is True:
            one = [drawn.permutation(30) if shuffle else np.arange(30) for _ in range(3 if orders == "separate" else 1)]
        for a in range(3):
            visits[a].extend(one[a if orders == "separate" else 0])
    model = OneVsAllKernelPerceptron(
        degree=2, gamma=1, max_iter=epochs, shuffle=shuffle, orders=orders, stop_if_separated=False, random_state=5
    ).fit(X, y)
    for a, log in enumerate(model.mistakes_):
        assert log.alpha(n=30).tolist() == literal.kernel_perceptron(K, np.where(y == a, 1, -1), visits[a]).tolist()
        assert np.array_equal(np.array(visits[a])[log.step], log.example)


KINDS = {
    "poly": ({"degree": 2, "gamma": 0.5}, lambda X, Y: (1 + 0.5 * X @ Y.T) ** 2),
    "poly, degree 1": ({"degree": 1, "gamma": 1}, lambda X, Y: 1 + X @ Y.T),
    "linear": ({"kernel": "linear"}, lambda X, Y: X @ Y.T),
    "rbf": ({"kernel": "rbf", "gamma": 0.1}, lambda X, Y: rbf_kernel(X, Y, gamma=0.1)),
    "laplacian": ({"kernel": "laplacian", "gamma": 0.1}, lambda X, Y: laplacian_kernel(X, Y, gamma=0.1)),
    "function": ({"kernel": lambda X, Y: (X @ Y.T) ** 2}, lambda X, Y: (X @ Y.T) ** 2),
}


@pytest.mark.parametrize("threshold", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_a_threshold_moves_by_the_sign_of_each_mistake(kind, threshold):
    random = np.random.RandomState(8)
    X = random.randint(-4, 5, (40, 3)).astype(float)
    y = random.randint(0, 3, 40)
    options, k = KINDS[kind]
    K = k(X, X)
    model = OneVsAllKernelPerceptron(**options, threshold=threshold, shuffle=False, max_iter=3, stop_if_separated=False)
    given = clone(model).set_params(kernel="precomputed").fit(K, y)
    stream = clone(model).partial_fit(X[:7], y[:7], classes=[0, 1, 2]).partial_fit(X[7:], y[7:])
    model.set_params(predictor="final").fit(X, y)
    c = np.zeros((3, 40))
    b = np.zeros(3)
    scores = np.zeros((3, 40))
    examples = [[], [], []]
    for step in range(120):
        t = step % 40
        for a in range(3):
            z = 1 if y[t] == a else -1
            if z * (c[a] @ K[:, t] + b[a]) <= 0:
                c[a, t] += z
                b[a] += z * threshold
                examples[a].append(t)
        scores += c @ K + b[:, None]
        if step == 39:
            np.testing.assert_allclose(stream.decision_function(X, predictor="final"), (c @ K + b[:, None]).T, rtol=1e-9)
    for fitted, points in ((model, X), (given, K)):
        assert [log.example.tolist() for log in fitted.mistakes_] == examples
        np.testing.assert_allclose(
            fitted.decision_function(points, predictor="average"), scores.T / 120, rtol=1e-9, atol=1e-9
        )
        *_, last = fitted.staged_decision_function(points, predictor="final")
        np.testing.assert_allclose(last, (c @ K + b[:, None]).T, rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(model.dual_coef_, c[:, model.support_])
    np.testing.assert_array_equal(model.intercept_, b)
    model.set_params(threshold=not threshold)
    np.testing.assert_array_equal(model.intercept_, b)


@pytest.mark.parametrize("degree", [1, 3])
def test_models_that_share_products_have_their_own_thresholds(degree):
    X, y = load_digits(return_X_y=True)
    options = dict(degree=degree, gamma=1, max_iter=2, stop_if_separated=False, random_state=0)
    models = [OneVsAllKernelPerceptron(**options, threshold=threshold) for threshold in (False, True)]
    shared = SharedTraining(X[:300], y[:300]).fit([clone(model) for model in models])
    for model, other in zip(models, shared, strict=True):
        model.fit(X[:300], y[:300])
        np.testing.assert_array_equal(model.decision_function(X[300:400]), other.decision_function(X[300:400]))
    assert not models[0].intercept_.any() and models[1].intercept_.any()


def skipping_zeros(K, y, epochs, m):
    """alpha (m, n) of programs that predict a class only if f > 0: a score of 0 is right for examples outside the class."""
    alpha = np.zeros((m, len(y)), dtype=int)
    for _ in range(epochs):
        for t in range(len(y)):
            for a in range(m):
                predicted = 1 if alpha[a] @ K[:, t] > 0 else -1
                wanted = 1 if y[t] == a else -1
                if predicted != wanted:
                    alpha[a, t] += wanted
    return alpha


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("degree", [1, 3])
def test_at_zero_negative_skips_the_examples_outside_a_class_whose_score_is_zero(degree, form):
    X, y = oracles.blobs(90, 3, 1, flip=0.1)
    X[::9] = 0
    K = oracles.polynomial(X, X, degree, 0).astype(np.int64)
    alpha = skipping_zeros(K, y, 3, 3)
    options = {"degree": degree, "gamma": 1, "coef0": 0, "shuffle": False, "predictor": "final", "at_zero": "negative"}
    model = OneVsAllKernelPerceptron(max_iter=3, stop_if_separated=False, **options).fit(form(X), y)
    np.testing.assert_array_equal(model.decision_function(form(X)), (alpha @ K).T)
    found = np.zeros((3, 90), dtype=int)
    found[:, model.support_] = model.dual_coef_
    assert found.tolist() == alpha.tolist()
    shared = OneVsAllKernelPerceptron(max_iter=3, stop_if_separated=False, **options)
    SharedTraining(form(X), y).fit([shared])
    np.testing.assert_array_equal(shared.dual_coef_, model.dual_coef_)
    once = clone(shared).set_params(max_iter=1).fit(form(X), y)
    stream = clone(shared)
    for part in np.split(np.arange(90), [1, 20, 50]):
        stream.partial_fit(form(X[part]), y[part], classes=[0, 1, 2])
    np.testing.assert_array_equal(stream.decision_function(form(X)), once.decision_function(form(X)))
    assert clone(shared).set_params(at_zero="mistake").fit(form(X), y).dual_coef_.shape != model.dual_coef_.shape


def test_a_score_of_exactly_zero_is_a_mistake_and_ties_go_to_the_first_class():
    X = np.array([[0, 0], [0, 0], [1, 0]])
    y = np.array(["b", "a", "c"])
    model = OneVsAllKernelPerceptron("linear", max_iter=1, shuffle=False, stop_if_separated=False).fit(X, y)
    assert [log.example.tolist() for log in model.mistakes_] == [[0, 1, 2]] * 3
    assert model.predict([[0, 0]]).tolist() == ["a"]


@pytest.mark.parametrize("form", [np.array, sparse.csr_array])
def test_a_stream_fed_in_parts_is_one_run_over_the_whole_also_of_sparse_points(form):
    random = np.random.RandomState(2)
    X = random.randint(-5, 6, (90, 3))
    y = random.choice(list("xyz"), 90)
    whole = OneVsAllKernelPerceptron(degree=2, gamma=1, max_iter=1, shuffle=False).fit(X, y)
    stream = OneVsAllKernelPerceptron(degree=2, gamma=1)
    for part in np.split(np.arange(90), [1, 20, 50]):
        stream.partial_fit(form(X[part]), y[part], classes=list("xyz"))
    assert isinstance(stream.support_vectors_, form if form is sparse.csr_array else np.ndarray)
    np.testing.assert_array_equal(stream.support_, whole.support_)
    for name in ("final", "average", "voted"):
        np.testing.assert_array_equal(
            stream.decision_function(form(X), predictor=name), whole.decision_function(X, predictor=name)
        )
    with pytest.raises(ValueError, match="partial_fit"):
        stream.predict(X, predictor="minimizing")


def test_kernels_equal_scikit_learns():
    random = np.random.RandomState(0)
    X = random.standard_normal((20, 4))
    Y = random.standard_normal((7, 4))
    np.testing.assert_allclose(kernels.linear()(X, Y), linear_kernel(X, Y), rtol=1e-12)
    np.testing.assert_allclose(kernels.rbf(gamma=0.3)(X, Y), rbf_kernel(X, Y, gamma=0.3), rtol=1e-12)
    for degree in (1, 2, 3, 4, 7):
        ours = kernels.polynomial(degree, gamma=0.5, coef0=2)(X, Y)
        np.testing.assert_allclose(ours, polynomial_kernel(X, Y, degree=degree, gamma=0.5, coef0=2), rtol=1e-12)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"kernel": lambda X, Y: np.zeros(3)}, "must return finite values of shape"),
        ({"kernel": lambda X, Y: np.full((len(X), len(Y)), np.nan)}, "NaN"),
        ({"degree": 40}, "scale the data down or lower the degree"),
    ],
)
def test_values_of_kernels_that_are_none_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        OneVsAllKernelPerceptron(**parameters).fit(np.full((2, 784), 255, dtype=np.uint8), [0, 1])


@pytest.mark.parametrize("epoch", [0, 4, 1.5])
def test_an_epoch_that_was_not_run_is_refused(epoch):
    X = np.eye(4)
    y = [0, 1, 0, 1]
    model = OneVsAllKernelPerceptron(max_iter=3, stop_if_separated=False).fit(X, y)
    with pytest.raises(ValueError, match=r"epoch must be an integer in 1\.\.3"):
        model.predict(X, epoch=epoch)
