"""Predictions: what is kept between them, one point as among others, weight vectors, and streams larger than memory."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris

from kp import (
    BudgetPerceptron,
    Forgetron,
    MulticlassKernelPerceptron,
    MulticlassPerceptron,
    OneVsAllKernelPerceptron,
    OutputCodeKernelPerceptron,
    Romma,
    predictors,
)
from kp.gram import PANEL, CrossGram, Points, Products
from kp.joint import walk
from kp.kernels import polynomial, rbf
from kp.mistakes import BY_NAME, MistakeLog, MulticlassLog
from kp.predictors import Expansion, expansion, replay

REALS, LABELS = load_iris(return_X_y=True)
PIXELS, DIGITS = (part[:400] for part in load_digits(return_X_y=True))
MODELS = [
    OneVsAllKernelPerceptron("rbf", max_iter=3), OneVsAllKernelPerceptron(degree=2, max_iter=3),
    OneVsAllKernelPerceptron("linear", max_iter=3), OneVsAllKernelPerceptron("laplacian", max_iter=3),
    OutputCodeKernelPerceptron("rbf", code="one-vs-one", max_iter=3),
    MulticlassKernelPerceptron("rbf", max_iter=3), MulticlassKernelPerceptron(degree=2, update="ordinary", max_iter=3),
    MulticlassKernelPerceptron("linear", update="ordinary", max_iter=3), MulticlassPerceptron(max_iter=3),
    Romma("rbf", max_iter=3), BudgetPerceptron("rbf", budget=40), Forgetron("rbf", budget=40),
]  # fmt: skip
DEFINITIONS = {
    "final": lambda stored: stored[-1],
    "average": lambda stored: stored.mean(axis=0),
}
"""{predictor: its coefficients, from those after each step (T, m, n)}; the others are compared in test_perceptron."""
SETS = {"reals": (REALS, LABELS), "bytes": (PIXELS, DIGITS), "bytes / 16": (PIXELS / 16, DIGITS)}


def each(models):
    return pytest.mark.parametrize("model", models, ids=lambda m: f"{type(m).__name__} {getattr(m, 'kernel', '')}")


def fitted(model, X, y):
    return clone(model).set_params(random_state=0).fit(X, y)


@each(MODELS)
@pytest.mark.parametrize("points", SETS)
def test_a_point_has_the_same_scores_alone_among_few_and_among_many(model, points):
    X, y = SETS[points]
    model = fitted(model, X, y)
    together = model.decision_function(X[:30])
    for size in (1, 3, predictors._NARROW - 1, predictors._NARROW):
        for start in range(0, 24, size):
            part = slice(start, start + size)
            np.testing.assert_array_equal(model.decision_function(X[part]), together[part])


@pytest.mark.parametrize("name", [name for name in BY_NAME if name not in ("minimizing", "voted")])
@each([OneVsAllKernelPerceptron("rbf", stop_if_separated=False), MulticlassKernelPerceptron("rbf", update="ordinary")])
def test_a_predictor_has_the_coefficients_of_its_definition_at_every_epoch(model, name):
    X, y = REALS[::3], LABELS[::3]
    model = fitted(clone(model).set_params(predictor=name, max_iter=3), X, y)
    stored = np.zeros((max(log.steps() for log in model.mistakes_), 3, len(y)))
    for a, log in enumerate(model.mistakes_):
        for i, (t, step) in enumerate(zip(log.example, log.step, strict=True)):
            if isinstance(model, OneVsAllKernelPerceptron):
                stored[step:, a, t] += log.sign[i]
            else:
                stored[step:, log.promoted[i], t] += 1
                stored[step:, log.demoted[i], t] -= 1
    for epoch in range(1, model.mistakes_[0].n_epochs + 1):
        model.set_params(epoch=epoch)
        found = np.zeros((3, len(y)))
        found[:, model.support_] = model.dual_coef_
        expected = DEFINITIONS[name](stored[: epoch * len(y)])
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def test_the_points_of_the_support_examples_are_made_once(monkeypatch):
    model = fitted(MODELS[0], REALS, LABELS)
    made = []
    real = Points.per.__func__
    monkeypatch.setattr(Points, "per", classmethod(lambda cls, unit, X: made.append(len(X)) or real(cls, unit, X)))
    for i in range(3):
        model.predict(REALS[i : i + 1])
    assert sorted(made) == [1, 1, 1, len(model.support_)]


@each(MODELS)
def test_what_is_kept_for_predictions_is_not_pickled(model):
    model = fitted(model, REALS, LABELS)
    before = pickle.dumps(model)
    scores = model.decision_function(REALS)
    assert pickle.dumps(model) == before
    again = pickle.loads(before)
    np.testing.assert_array_equal(again.decision_function(REALS), scores)


@each([model for model in MODELS if not isinstance(model, BudgetPerceptron | Forgetron)])
def test_predictions_follow_what_is_set_and_learnt_after_earlier_ones(model):
    """Each time against a copy that has not predicted."""
    model = fitted(model, REALS[::2], LABELS[::2])

    def check():
        fresh = pickle.loads(pickle.dumps(model))
        np.testing.assert_array_equal(model.decision_function(REALS), fresh.decision_function(REALS))
        return model.decision_function(REALS)

    seen = [check()]
    seen.append((model.set_params(epoch=1), check())[1])
    if hasattr(type(model), "partial_fit") and getattr(model, "code", "") != "one-vs-one":
        seen.append((model.set_params(epoch=None).partial_fit(REALS[1::2], LABELS[1::2]), check())[1])
    model.set_params(epoch=None).fit(REALS[1::2], LABELS[1::2])
    seen.append(check())
    assert all(not np.array_equal(a, b) for a, b in zip(seen, seen[1:], strict=False))


@each([BudgetPerceptron("rbf", budget=40), Forgetron("rbf", budget=40)])
def test_predictions_on_a_budget_follow_the_stream(model):
    model = fitted(model, REALS[::2], LABELS[::2])
    before = model.decision_function(REALS)
    model.partial_fit(REALS[1::2], LABELS[1::2])
    after = model.decision_function(REALS)
    np.testing.assert_array_equal(after, pickle.loads(pickle.dumps(model)).decision_function(REALS))
    assert not np.array_equal(before, after)


def test_a_call_that_is_refused_leaves_the_predictions_as_they_were():
    model = fitted(MODELS[0], REALS, LABELS)
    scores = model.decision_function(REALS)
    with pytest.raises(ValueError, match="kernel"):
        model.set_params(kernel="no kernel").fit(REALS, LABELS)
    np.testing.assert_array_equal(model.decision_function(REALS), scores)


@pytest.mark.parametrize("d", [1, 3, 4, 50])
def test_inner_products_of_few_columns_are_sums_in_the_order_of_the_features(d):
    X, Y = np.random.RandomState(0).standard_normal((1100, d)), np.random.RandomState(1).standard_normal((3, d))
    expected = np.zeros((1100, 3))
    for x, y in zip(X.T, Y.T, strict=True):
        expected += x[:, None] * y
    for rows in (np.arange(1100), np.arange(1100)[::-1]):
        out = np.empty((1100, 3))
        Products(Points(X), Points(Y)).block(rows, slice(None), out)
        np.testing.assert_array_equal(out, expected[rows])


# Weight vectors.


def literal(c, X, Y, gamma, coef0):
    """gamma w . y + coef0 sum c, with w = sum_i c_i x_i in the order of the examples and w . y in that of the features."""
    found = np.empty((len(c), len(Y)))
    for a, weights in enumerate(c):
        w = np.zeros(X.shape[1])
        for weight, x in zip(weights, X, strict=True):
            w += weight * x
        for j, point in enumerate(Y):
            total = 0.0
            for one, other in zip(w, point, strict=True):
                total += one * other
            found[a, j] = gamma * total + coef0 * sum(weights)
    return found


@pytest.mark.parametrize("matrix", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("predictor", ["final", "average", "minimizing"])
def test_a_linear_kernel_predicts_real_numbers_by_a_weight_vector_in_the_declared_order(predictor, matrix):
    options = dict(gamma=0.3, coef0=0.7, max_iter=3, random_state=0, predictor=predictor, count_errors=True)
    model = OneVsAllKernelPerceptron(degree=1, **options).fit(matrix(REALS[::2]), LABELS[::2])
    T = model.mistakes_[0].steps()
    c = np.zeros((3, len(model.support_)))
    for row, log in zip(c, model._logs(), strict=True):
        last = log.minimizing_length() if predictor == "minimizing" else len(log)
        for i, sign, step in zip(log.example[:last], log.sign, log.step, strict=False):
            row[i] += sign * (T - step) if predictor == "average" else sign
    expected = literal(c, REALS[::2][model.support_], REALS, 0.3, 0.7) / (T if predictor == "average" else 1)
    np.testing.assert_array_equal(model.decision_function(matrix(REALS)), expected.T)


def test_weight_vectors_of_bytes_give_the_bits_of_sums_of_kernel_values():
    points, others = Points(PIXELS[:200].astype(int) * 15), Points(PIXELS[200:].astype(int) * 15)
    columns = CrossGram(Products(points, others))
    c = np.random.RandomState(0).randint(-9, 10, size=(3, 200)).astype(float)
    summed = Expansion(c, np.arange(200))
    assert summed._by_weights(polynomial(1), columns)
    expected = expansion(c, np.arange(200), polynomial(1, coef0=2.0), columns)
    np.testing.assert_array_equal(summed.scores(polynomial(1, coef0=2.0), columns), expected)


def test_sums_of_whole_numbers_that_may_be_rounded_are_sums_of_kernel_values():
    """Weights that the sums of two orders would differ by."""
    X = np.random.RandomState(0).randint(-(2**20), 2**20, size=(60, 7))
    columns = CrossGram(Products(Points(X), Points(X)))
    c = np.random.RandomState(1).randint(-(2**15), 2**15, size=(2, 60)).astype(float)
    expected = expansion(c, np.arange(60), polynomial(1), columns)
    np.testing.assert_array_equal(Expansion(c, np.arange(60)).scores(polynomial(1), columns), expected)
    assert not np.array_equal(literal(c, X, X, 1.0, 1.0), expected)


@pytest.mark.parametrize("kernel", [{"kernel": "linear"}, {"degree": 1, "coef0": 3.0}])
def test_the_scores_of_a_point_of_whole_numbers_do_not_depend_on_real_ones_beside_it(kernel):
    model = OneVsAllKernelPerceptron(**kernel, max_iter=3, random_state=0).fit(PIXELS, DIGITS)
    mixed = np.vstack([PIXELS[:9], PIXELS[:9] + 0.3])
    np.testing.assert_array_equal(model.decision_function(mixed)[:9], model.decision_function(PIXELS[:9]))
    np.testing.assert_array_equal(model.decision_function(mixed)[9:], model.decision_function(mixed[9:]))


def test_a_linear_kernel_predicts_whole_numbers_by_a_weight_vector_when_gamma_is_real():
    model = OneVsAllKernelPerceptron(degree=1, gamma=0.3, coef0=0.7, max_iter=2, predictor="final", random_state=0)
    model.fit(PIXELS[::2], DIGITS[::2])
    expected = literal(model.dual_coef_, PIXELS[::2][model.support_], PIXELS[:40], 0.3, 0.7)
    np.testing.assert_array_equal(model.decision_function(PIXELS[:40]), expected.T)


# More data than memory.


@pytest.mark.parametrize("size", [1, 37, 100])
@pytest.mark.parametrize("kernel", ["rbf", "poly"])
def test_chunks_of_a_file_in_any_size_are_one_epoch_in_the_order_of_the_file(tmp_path, kernel, size):
    X, y = REALS[::-1], LABELS[::-1]
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", y)
    X_file, y_file = (np.load(tmp_path / f"{name}.npy", mmap_mode="r") for name in "Xy")
    options = dict(gamma=0.2, predictor="average")
    model = OneVsAllKernelPerceptron(kernel, **options)
    for start in range(0, len(X_file), size):
        model.partial_fit(X_file[start : start + size], y_file[start : start + size], classes=[0, 1, 2])
    whole = OneVsAllKernelPerceptron(kernel, **options, max_iter=1, shuffle=False).fit(X, y)
    for log, expected in zip(model.mistakes_, whole.mistakes_, strict=True):
        for name in ("example", "step", "sign"):
            np.testing.assert_array_equal(getattr(log, name), getattr(expected, name))
    np.testing.assert_array_equal(model.decision_function(X), whole.decision_function(X))
    assert not isinstance(model.support_vectors_, np.memmap)


def drawn_log(random, n, mistakes, ends, errors):
    """A log of mistakes at random steps, one at the first and one at the last step of an epoch."""
    step = np.unique(np.concatenate([[0, ends[0] - 1, ends[0]], random.choice(ends[-1], mistakes, replace=False)]))
    example, sign = random.randint(0, n, len(step)), random.choice([-1, 1], len(step))
    log = MistakeLog(example=example, step=step, errors=None, ends=np.array(ends), sign=sign)
    return log.with_errors(random.randint(0, 9, len(step))) if errors else log


def literal_replay(log, degree, added, X, Y, epochs, z):
    """{predictor: scores (E, n)} and the errors after each mistake, step by step; sums go as they do in any walk."""
    f = total = votes = np.zeros(len(Y))
    stored = {}
    errors, prefixes = [], [f]
    since = 0
    for i in range(len(log) + 1):
        for epoch in epochs:
            if i == log.length(epoch):
                steps = log.steps(epoch)
                total, votes, since = total + (steps - since) * f, votes + (steps - since) * np.sign(f), steps
                stored[epoch] = f, total / steps, votes
        if i < len(log):
            total, votes = total + (log.step[i] - since) * f, votes + (log.step[i] - since) * np.sign(f)
            since = log.step[i]
            base = 1.0 + (Y.astype(int) @ X[log.example[i]].astype(int))
            k = base
            for _ in range(degree - 1):
                k = k * base
            f = f + log.sign[i] * (k + added)
            errors.append(np.count_nonzero(z * f <= 0))
            prefixes.append(f)
    final, average, voted = (np.array(each) for each in zip(*(stored[epoch] for epoch in epochs), strict=True))
    nothing = np.full(len(Y), np.nan)
    minimizing = [nothing if log.errors is None else prefixes[log.minimizing_length(epoch)] for epoch in epochs]
    return {"final": final, "average": average, "minimizing": np.array(minimizing), "voted": voted}, errors


@pytest.mark.parametrize("n", [8, PANEL + 9, 4 * predictors.TILE + PANEL + 1])
@pytest.mark.parametrize("epochs", [(1, 2, 3), (2,)])
@pytest.mark.parametrize("in_registers", [True, False])
def test_a_walk_equals_the_literal_one_bit_by_bit(monkeypatch, in_registers, epochs, n):
    random = np.random.RandomState(n)
    X, Y = (random.randint(0, 256, (size, 11)).astype(np.uint8) for size in (40, n))
    Y[3] = 0
    degrees, added = (1, 2, 7, 3), (0.0, 0.0, 1.0, 0.0)
    each = [polynomial(degree)._replace(added=a) for degree, a in zip(degrees, added, strict=True)]
    logs = [drawn_log(random, len(X), m, (30, 60, 90), has) for m, has in ((20, True), (60, True), (9, False), (40, True))]
    signs = random.choice([-1, 0, 1], (4, n)).astype(np.int8)
    errors = [np.zeros(len(log), dtype=int) if a != 1 else None for a, log in enumerate(logs)]
    columns = CrossGram(Products(Points(X), Points(Y), threads=2))
    assert predictors._fits_registers(each, columns)
    monkeypatch.setattr(predictors, "_fits_registers", lambda *_: in_registers)
    parts = [
        {name: f.copy() for name, f in scores.items()}
        for _, scores in replay(logs, each, columns, epochs=epochs, labels=signs, errors=errors)
    ]
    for a, log in enumerate(logs):
        expected, wrong = literal_replay(log, degrees[a], added[a], X, Y, epochs, signs[a])
        for name, f in expected.items():
            np.testing.assert_array_equal(np.concatenate([part[name][:, a] for part in parts], axis=1), f, name)
        assert errors[a] is None or errors[a].tolist() == wrong


@pytest.mark.parametrize("n", [8, 4 * predictors.TILE + 9])
@pytest.mark.parametrize("threshold", [0.0, 1.0])
def test_a_walk_along_a_log_of_several_classes_equals_the_literal_one_bit_by_bit(threshold, n):
    random = np.random.RandomState(n)
    X, Y, y = random.randn(40, 5), random.randn(n, 5), random.randint(0, 4, n)
    step = np.array([0, 3, 3, 7, 29, 30, 30, 30, 41])  # the second and the sixth row begin mistakes of several rows
    first = np.diff(step, prepend=-1) > 0
    true, demoted = np.array([0, 1, 1, 3, 2, 0, 0, 0, 2]), np.array([1, 0, 2, 2, 3, 1, 2, 3, 0])
    example = random.randint(0, 40, len(step))[np.cumsum(first) - 1]
    log = MulticlassLog(
        example=example, step=step, errors=None, ends=np.array([30, 60]), promoted=np.where(first, true, -1), demoted=demoted
    )
    columns = CrossGram(Products(Points(X), Points(Y), threads=2))
    votes, errors = walk(log, rbf(gamma=0.1), columns, 4, threshold=threshold, epochs=(1, 2), y=y)
    K = columns.values(rbf(gamma=0.1), np.arange(40)) + threshold
    F = np.zeros((4, n))
    expected = np.zeros((2, 4, n))
    wrong = {}
    for t in range(60):
        for q, i, j in zip(example[step == t], log.promoted[step == t], demoted[step == t], strict=True):
            if i >= 0:
                F[i] += K[q]
            F[j] -= K[q]
        if t in step:
            wrong[t] = int(((F >= F[y, np.arange(n)]).sum(axis=0) > 1).sum())
        expected[t // 30 :, F.argmax(axis=0), np.arange(n)] += 1
    np.testing.assert_array_equal(errors, [wrong[t] for t in step])
    np.testing.assert_array_equal(votes, expected)


def test_real_numbers_exponentials_and_few_points_are_walked_over_in_blocks():
    bytes_, reals = Points(PIXELS), Points(REALS)
    for kernel, points, n in ((rbf(gamma=0.1), bytes_, 20), (polynomial(2), reals, 20), (polynomial(2), bytes_, 3)):
        few = Points((PIXELS if points is bytes_ else REALS)[:n])
        assert not predictors._fits_registers([polynomial(3), kernel], CrossGram(Products(points, few)))
