"""Output codes and the delta rule against the course page's two listings, literally: every bit of the weights."""

import pickle

import numpy as np
import oracles
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris

from kp import PREDICTORS, OneVsAllKernelPerceptron, literal, perceptron
from kp.codes import binary, class_scores, code_matrix, one_hot, one_vs_one
from kp.delta_rule import DeltaRulePerceptron
from kp.output_codes import OutputCodeKernelPerceptron
from kp.perceptron import PRESENTATIONS, presentations


def linear_listing(x, Y, W, draws, *, eta=1.0):
    """The page's first listing: W after each presentation, the modifications, and whether it broke.

    Modifications are rows (step, example, delta, examples wrong afterwards). Sums of Python floats run from the left.
    """
    x, W = (np.array(values.tolist(), dtype=object) for values in (x, W))
    stored = literal.delta_rule(x, Y, W, draws, eta=eta)
    modifications = []
    for step, (n, before, after) in enumerate(zip(draws, [W, *stored], stored, strict=False)):
        delta = Y[:, n] - np.sign(before @ x[n])
        if delta.any():
            modifications.append((step, n, delta.tolist(), literal.wrong(after @ x.T, Y)))
    return stored, modifications, literal.wrong(stored[-1] @ x.T, Y) == 0


def decoded(f, code):
    """The page's decoding: the class whose code is the signs of the outputs, else the one with the largest code . f."""
    for c, row in enumerate(code):
        if [np.sign(value) for value in f] == list(row):
            return c
    agreement = [sum(int(sign) * value for sign, value in zip(row, f, strict=True)) for row in code]
    return agreement.index(max(agreement))


def codes(n_classes):
    """One-hot or binary codes, or a matrix (C, 4)."""
    rows = st.lists(st.sampled_from([-1, 1]), min_size=4, max_size=4).map(tuple)
    matrices = st.lists(rows, min_size=n_classes, max_size=n_classes, unique=True).map(np.array)
    return st.sampled_from(["one-hot", "binary"]) | matrices


def draws_of(random, n, epochs):
    return np.concatenate([random.randint(n, size=n) for _ in range(epochs)]).tolist()


@settings(max_examples=40, deadline=None)
@given(oracles.problems(), st.integers(1, 12), st.sampled_from([1.0, 0.5, 0.37]), st.sampled_from([1.0, 0.0]), st.data())
def test_delta_rule_is_the_first_listing_bit_for_bit_and_its_predictors_are_those_of_all_stored_weights(
    problem, epochs, eta, scale, data
):
    X, y, _, seed, _ = problem
    n_classes = len(np.unique(y))
    code = data.draw(codes(n_classes))
    matrix = code_matrix(code, n_classes).astype(int)
    random = np.random.RandomState(seed)
    x = np.column_stack([np.ones(len(X)), X])
    W = scale * (2 * random.random_sample((matrix.shape[1], x.shape[1])) - 1)
    stored, modifications, broke = linear_listing(x, matrix[y].T, W, draws_of(random, len(y), epochs), eta=eta)
    model = DeltaRulePerceptron(code=code, eta0=eta, initial_scale=scale, max_iter=epochs, random_state=seed).fit(X, y)
    (log,) = model.mistakes_
    assert (model.converged_, model.n_iter_ * len(y)) == (broke, len(stored))
    found = zip(log.step.tolist(), log.example.tolist(), log.delta.tolist(), log.errors.tolist(), strict=True)
    assert list(found) == modifications
    assert model.weights_history().tolist() == [W.tolist(), *(stored[step].tolist() for step, *_ in modifications)]
    epoch = data.draw(st.integers(1, model.n_iter_))
    A = np.array(stored[: epoch * len(y)], dtype=float)
    made = [row for row in modifications if row[0] < len(A)]
    best = A[min(made, key=lambda row: row[3])[0]] if made else W
    for name, weights in (("final", A[-1]), ("minimizing", best)):
        assert np.array_equal(model.weights(name, epoch), weights)
        np.testing.assert_allclose(model.outputs(X, predictor=name, epoch=epoch), x @ weights.T, atol=1e-12)
    np.testing.assert_allclose(model.weights("average", epoch), A.mean(axis=0), atol=1e-12)
    votes = np.sign(np.einsum("twk,nk->tnw", A, x)).mean(axis=0)
    np.testing.assert_allclose(model.outputs(X, predictor="voted", epoch=epoch), votes, atol=1e-12)


@pytest.mark.long
@settings(max_examples=60, deadline=None)
@given(
    oracles.problems(), st.integers(1, 12), st.integers(1, 3), st.sampled_from([1, 3, 64]), st.sampled_from([1, 2, 10**6]),
    st.data(),
)  # fmt: skip
def test_kernel_perceptron_is_the_second_listing_exactly(problem, epochs, degree, stretch, rows, data):
    X, y, _, seed, _ = problem
    n_classes = len(np.unique(y))
    code = data.draw(codes(n_classes))
    matrix = code_matrix(code, n_classes).astype(int)
    K = oracles.polynomial(X, X, degree, coef0=2)  # (1 + x.y)^degree of the augmented data
    Y = matrix[y].T
    draws = draws_of(np.random.RandomState(seed), len(y), epochs)
    stored = literal.course_kernel_perceptron(K, Y, draws)
    broke = literal.wrong((stored[-1] * Y) @ K, Y) == 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(perceptron, "_STRETCH", stretch)
        model = OutputCodeKernelPerceptron(
            degree=degree,
            gamma=1,
            coef0=2.0,
            code=code,
            max_iter=epochs,
            presentation="replacement",
            random_state=seed,
            memory_budget=4 * len(y) * rows,
        ).fit(X, y)
    assert (model.converged_, model.n_iter_ * len(y)) == (broke, len(stored))
    for i, log in enumerate(model.mistakes_):
        A = [alpha[i] for alpha in stored]
        z = Y[i]
        assert np.array_equal(log.alpha(n=len(y)), A[-1])
        assert log.errors[-1] == np.count_nonzero(np.sign(literal.g(A[-1], z, K)) != z)
        np.testing.assert_array_equal(model.outputs(X)[:, i], literal.g(A[-1], z, K).astype(float))
        votes = sum(np.sign(literal.g(alpha, z, K)) for alpha in A)
        np.testing.assert_allclose(model.outputs(X, predictor="voted")[:, i], votes.astype(float), rtol=1e-13)


@settings(max_examples=100, deadline=None)
@given(st.integers(2, 8), st.data())
def test_decoding_takes_the_matching_code_and_else_the_one_that_agrees_best(C, data):
    code = code_matrix(data.draw(codes(C)), C)
    f = data.draw(st.lists(st.integers(-9, 9), min_size=code.shape[1], max_size=code.shape[1]))
    F = class_scores(np.array(f, dtype=float)[:, None], code)
    assert F.argmax(axis=1)[0] == decoded(f, code.tolist())


def test_scores_of_classes_are_sums_in_the_order_of_the_outputs():
    f = np.random.RandomState(0).standard_normal((6, 9))
    code = np.random.RandomState(1).choice([-1, 1], size=(4, 6)).astype(np.int8)
    expected = [[sum((f[i, j] for i in range(6) if row[i] == 1), 0.0) for row in code] for j in range(9)]
    assert class_scores(f, code).tolist() == expected


def test_codes_of_four_classes_are_those_of_equation_40():
    assert one_hot(4).T.tolist() == [[1, -1, -1, -1], [-1, 1, -1, -1], [-1, -1, 1, -1], [-1, -1, -1, 1]]
    assert binary(4).T.tolist() == [[-1, -1, 1, 1], [-1, 1, -1, 1]]
    assert [binary(C).shape[1] for C in (2, 3, 5, 8, 10)] == [1, 2, 3, 3, 4]


def test_one_vs_all_is_the_special_case_of_one_hot_codes_and_shuffled_presentations():
    X, y = load_iris(return_X_y=True)
    special = OneVsAllKernelPerceptron(orders="shared", max_iter=50, predictor="final", random_state=3).fit(X, y)
    general = OutputCodeKernelPerceptron(max_iter=50, random_state=3).fit(X, y)
    for a, b in zip(special.mistakes_, general.mistakes_, strict=True):
        assert all(np.array_equal(getattr(a, name), getattr(b, name)) for name in ("example", "step", "sign", "errors"))
    assert special.n_iter_ == general.n_iter_ + general.converged_
    assert np.array_equal(special.decision_function(X), general.decision_function(X))


def test_a_run_that_goes_on_has_the_log_of_the_one_that_stops():
    X, y = load_iris(return_X_y=True)
    X = X[:100]
    y = y[:100]
    for estimator in (DeltaRulePerceptron, OutputCodeKernelPerceptron):
        stops = estimator(max_iter=40, random_state=0).fit(X, y)
        goes_on = estimator(max_iter=40, random_state=0, stop_if_consistent=False).fit(X, y)
        assert stops.converged_ and goes_on.converged_ and goes_on.n_iter_ == 40 > stops.n_iter_
        assert np.array_equal(stops.decision_function(X), goes_on.decision_function(X))
        assert np.array_equal(stops.predict(X), goes_on.predict(X, epoch=stops.n_iter_))


def test_presentations_are_draws_shuffles_or_the_order_given():
    made = {}
    for how in PRESENTATIONS:
        made[how] = [order[0].tolist() for order in presentations(500, 2, how, random_state=np.random.RandomState(0))]
        assert (made[how][0] == made[how][1]) == (how == "ordered")
    assert all(270 < len(set(epoch)) < 360 for epoch in made["replacement"])  # 500 (1 - 1/e) = 316, standard deviation 7
    assert sorted(made["shuffled"][0]) == made["ordered"][0] == list(range(500))


@pytest.mark.parametrize(
    "code, message",
    [
        ("gray", "code must be one of one-hot, binary, one-vs-one, or a matrix"),
        ([[1, -1], [-1, 1]], "row for each of 3 classes"),
        ([[1, 2], [0, 1], [1, 1]], r"code must hold \+1, -1 and 0 only, got \[0, 1, 2\]"),
        ([[1, 0], [-1, 0], [1, 0]], "no row and no column of zeros"),
        ([[1, -1], [-1, 1], [0, 0]], "no row and no column of zeros"),
        ([[1, -1], [-1, 1], [1, -1]], "different row for each class"),
    ],
)
def test_codes_that_cannot_be_decoded_are_refused(code, message):
    with pytest.raises(ValueError, match=message):
        code_matrix(code, 3)


def pairs(n_classes):
    return [(i, j) for i in range(n_classes) for j in range(i + 1, n_classes)]


def machines(K, y, orders):
    """{pair: (examples, labels, A)}: Algorithm 1 on the examples of each pair of classes, in the order of the whole."""
    found = {}
    for i, j in pairs(y.max() + 1):
        own = np.flatnonzero((y == i) | (y == j))
        order = np.concatenate([np.searchsorted(own, visits[np.isin(visits, own)]) for visits in orders])
        z = np.where(y[own] == i, 1, -1)
        found[i, j] = own, z, literal.algorithm_1(K[np.ix_(own, own)], z, order)
    return found


def ballots(f, n_classes):
    """The classes by votes, each pair one after the other; ties go to the first class."""
    votes = np.zeros((f.shape[1], n_classes), dtype=int)
    for (i, j), output in zip(pairs(n_classes), f, strict=True):
        votes[output > 0, i] += 1
        votes[output < 0, j] += 1
    return votes.argmax(axis=1)


@pytest.mark.parametrize("presentation", ["ordered", "shuffled"])
@pytest.mark.parametrize("degree", [1, 3])
def test_one_vs_one_is_45_perceptrons_on_the_examples_of_two_classes_each_and_their_votes(degree, presentation):
    X, y = load_digits(return_X_y=True)
    X, y, X_test, epochs = X[:250], y[:250], X[250:400], 3
    K, K_test = (X @ X.T + 1) ** degree, (X @ X_test.T + 1) ** degree
    shuffles = presentations(250, epochs, presentation, random_state=np.random.RandomState(0))
    found = machines(K, y, [order[0] for order in shuffles])
    options = dict(presentation=presentation, max_iter=epochs, stop_if_consistent=False, random_state=0)
    model = OutputCodeKernelPerceptron(degree=degree, gamma=1, code="one-vs-one", **options).fit(X, y)
    stages = [[] for _ in range(epochs)]
    for log, (own, z, A) in zip(model.mistakes_, found.values(), strict=True):
        assert log.steps() == len(A) == epochs * len(own) and set(log.example) <= set(own)
        distinct = [alpha for before, alpha in zip([0 * A[0], *A], A, strict=False) if (alpha != before).any()]
        k = K[np.ix_(own, own)]
        assert log.errors.tolist() == [np.count_nonzero(np.sign(literal.g(alpha, z, k)) != z) for alpha in distinct]
        for epoch in range(epochs):
            made = A[: (epoch + 1) * len(own)]
            alphas = made[-1], literal.average(made), literal.minimizing(made, k, z)
            stages[epoch].append([literal.g(alpha, z, K_test[own]) for alpha in alphas])
    for epoch, stage in enumerate(model.staged_predict(X_test, predictor="all")):
        for place, name in enumerate(("final", "average", "minimizing")):
            f = np.array([scores[place] for scores in stages[epoch]])
            ours = model.outputs(X_test, predictor=name, epoch=epoch + 1).T
            np.testing.assert_allclose(ours, f, rtol=1e-9)
            assert (
                stage[name].tolist()
                == ballots(f, 10).tolist()
                == model.predict(X_test, predictor=name, epoch=epoch + 1).tolist()
            )
        assert set(stage["voted"]) <= set(range(10))
    again = clone(model).with_mistakes(X, y, model.mistakes_)
    np.testing.assert_array_equal(again.decision_function(X_test), model.decision_function(X_test))
    assert model.predict(X_test).tolist() == pickle.loads(pickle.dumps(model)).predict(X_test).tolist()


def test_votes_that_tie_go_to_the_first_class():
    f = np.array([[1.0], [-1.0], [1.0]])  # a circle: 0 beats 1, 2 beats 0, 1 beats 2
    assert class_scores(f, one_vs_one(3)).tolist() == [[0.0, 0.0, 0.0]] and ballots(f, 3).tolist() == [0]


@pytest.mark.parametrize(
    "make", [lambda c: OutputCodeKernelPerceptron(code=c, presentation="replacement"), lambda c: DeltaRulePerceptron(code=c)]
)
def test_codes_with_zeros_are_refused_where_they_have_no_meaning(make):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="code must hold|presentation must be shuffled or ordered"):
        make("one-vs-one").fit(X, y)
    if hasattr(make("one-vs-one"), "partial_fit"):
        with pytest.raises(ValueError, match="code must hold .* for partial_fit, got zeros; use fit"):
            make("one-vs-one").partial_fit(X, y)


def test_initial_weights_that_are_right_leave_the_log_empty():
    X = np.array([[1.0], [2.0], [-1.0], [-2.0]])
    y = np.array([1, 1, 0, 0])
    models = [DeltaRulePerceptron(code="binary", random_state=seed).fit(X, y) for seed in range(20)]
    empty = next(model for model in models if not len(model.mistakes_[0]))
    assert empty.converged_ and empty.n_iter_ == 1
    for name in PREDICTORS:
        assert empty.predict(X, predictor=name).tolist() == y.tolist()
