"""The cross-validation of the published tables, against the literal algorithm and scikit-learn's."""

from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.model_selection import StratifiedKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from kp import kernels
from kp.mistakes import PREDICTORS
from kp.multiclass import MulticlassKernelPerceptron, MulticlassPerceptron
from study import datasets, literal
from study.uci import experiment, readings
from study.uci import protocol as cv
from study.uci.protocol import Method
from study.uci.readings import Reading


def small_set(seed, n=36, classes=3, *, whole=False):
    """A few points of three classes; whole ones lie in {0, 1, 2}, and are scaled and multiplied without rounding."""
    generator = np.random.RandomState(seed)
    y = np.arange(n) % classes
    points = generator.randint(2, size=(n, 3)) if whole else generator.normal(size=(n, 3))
    return points + (1 if whole else 1.2) * np.eye(3)[y], y


def literal_errors(X, y, train, test, method, random_state):
    """Xu & Zhang 2005, eqs 4, 5, 10 and 11, a visit at a time: (train errors, test errors, mistakes)."""
    X = MinMaxScaler().fit(X if method.scaling == "all" else X[train]).transform(X)
    kernel = kernels.gaussian(sigma=method.parameter) if method.kernel == "rbf" else kernels.linear()
    if method.kernel == "poly":
        kernel = kernels.polynomial(int(method.parameter), coef0=0)
    A, z = X[train], y[train]
    features, rule = (A, literal.multiclass_linear) if method.kernel == "linear" else (kernel(A, A), literal.xu_zhang)
    random, n = np.random.RandomState(random_state), len(train)
    limit = method.max_iter * n if method.unit == "epochs" else method.max_iter
    orders = [np.arange(n) if method.order == "given" else random.permutation(n)]
    while len(orders) * n < limit:
        orders.append(random.permutation(n) if method.order == "fresh" else orders[0])
    order = np.concatenate(orders)[:limit]  # after an epoch without a mistake nothing moves any more
    alpha, beta, mistakes = rule(features, z, order, demote=method.demote, threshold=method.threshold)
    wrong = []
    for part in (train, test):
        features = X[part] if method.kernel == "linear" else kernel(X[part], A)
        wrong.append(int(((features @ alpha.T + beta).argmax(axis=1) != y[part]).sum()))
    return *wrong, len({step for _, step, _ in mistakes})


@settings(deadline=None, max_examples=80, derandomize=True)
@given(
    seed=st.integers(0, 1000),
    kernel=st.sampled_from([("linear", 0), ("poly", 2), ("poly", 3), ("rbf", 0.3)]),
    max_iter=st.integers(1, 40),
    demote=st.sampled_from(["winner", "first", "all"]),
    threshold=st.booleans(),
    scaling=st.sampled_from(cv.SCALINGS),
    order=st.sampled_from(cv.ORDERS),
    unit=st.sampled_from(cv.UNITS),
)
def test_every_variant_is_that_of_the_literal_algorithm(seed, kernel, max_iter, demote, threshold, scaling, order, unit):
    X, y = small_set(seed, whole=kernel[0] != "rbf")
    method = Method(
        kernel=kernel[0], parameter=kernel[1], max_iter=max_iter, demote=demote, threshold=threshold, scaling=scaling,
        order=order, unit=unit,
    )  # fmt: skip
    train, test = cv.splits(X, y, method, 3, seed)[0]
    [row] = cv.run(cv.Fold(X, y, train, test, method), seed, limits=[max_iter])
    assert (row[1], row[2], row[5]) == literal_errors(X, y, train, test, method, seed)


@pytest.mark.parametrize(("kernel", "demote"), [("linear", "winner"), ("poly", "all"), ("rbf", "first")])
def test_folds_are_those_of_scikit_learn_with_our_estimators(kernel, demote):
    method = replace(experiment.methods("wine-bundled", demote=demote)[kernel], max_iter=25)
    options = {"max_iter": 25, "demote": demote, "random_state": 3, "n_jobs": 1}
    model = MulticlassPerceptron(**options, count_errors=False)
    if kernel != "linear":
        of_width = {"gamma": 1 / (2 * method.parameter**2)}
        shape = {"degree": int(method.parameter), "coef0": 0.0} if kernel == "poly" else of_width
        model = MulticlassKernelPerceptron(kernel, **shape, **options)
    X, y = cv.load("wine-bundled")
    folds = StratifiedKFold(10, shuffle=True, random_state=3)
    found = cross_validate(
        make_pipeline(MinMaxScaler(), model), X, y, cv=folds, return_train_score=True, return_estimator=True
    )
    ours = cv.cross_validate([("wine-bundled", method, 3)], threads=1)
    assert ours["test_errors"].tolist() == np.rint((1 - found["test_score"]) * ours["n_test"]).tolist()
    assert ours["train_errors"].tolist() == np.rint((1 - found["train_score"]) * ours["n_train"]).tolist()
    fitted = [pipeline[-1] for pipeline in found["estimator"]]
    assert ours["epochs"].tolist() == [each.n_iter_ for each in fitted]
    assert ours["converged"].tolist() == [each.converged_ for each in fitted]
    assert ours["mistakes"].tolist() == [each.mistakes_.n_mistakes() for each in fitted]
    if kernel != "linear":
        table = cv.predictors([("wine-bundled", method, 3)], threads=1).set_index("predictor")
        for name in PREDICTORS:
            pairs = zip(found["estimator"], folds.split(X, y), strict=True)
            wrong = [(p[-1].predict(p[0].transform(X[b]), predictor=name) != y[b]).sum() for p, (_, b) in pairs]
            assert table.loc[name, "test_errors"] == sum(wrong)
        assert table.loc["final", "support"] == pytest.approx(np.mean([len(each.support_) for each in fitted]))


@pytest.mark.parametrize(("parameter", "max_iter"), [(0.6, 300), (0.6, 4)])
def test_the_log_of_a_fold_is_that_of_the_estimator(parameter, max_iter):
    X, y = cv.load("wine-bundled")
    method = Method(kernel="rbf", parameter=parameter, max_iter=max_iter)
    train, test = cv.splits(X, y, method, 10, 0)[0]
    log = cv.find(cv.Fold(X, y, train, test, method), 5)
    gamma = 1 / (2 * parameter**2)
    model = MulticlassKernelPerceptron("rbf", gamma=gamma, max_iter=max_iter, random_state=5, n_jobs=1)
    expected = model.fit(MinMaxScaler().fit_transform(X[train]), y[train]).mistakes_
    for name in ("example", "step", "promoted", "demoted", "errors", "ends"):
        assert np.array_equal(getattr(log, name), getattr(expected, name)), name


def test_one_run_gives_what_a_run_of_each_limit_gives():
    limits = (1, 3, 70, 90)
    for kernel, method in experiment.methods("iris-bundled").items():
        method = replace(method, max_iter=200)
        table = cv.cross_validate([("iris-bundled", method, 1)], n_folds=3, limits=limits, threads=1)
        for limit in (*limits, 200):
            alone = cv.cross_validate([("iris-bundled", replace(method, max_iter=limit), 1)], n_folds=3, threads=1)
            part = table[table["iterations"] == limit].reset_index(drop=True)
            pd.testing.assert_frame_equal(part, alone, obj=kernel)


def test_results_do_not_depend_on_threads():
    jobs = [
        ("iris-bundled", replace(method, max_iter=5), r)
        for method in experiment.methods("iris-bundled").values()
        for r in (0, 1)
    ]
    one, two = (cv.cross_validate(jobs, n_folds=3, threads=threads) for threads in (1, 2))
    pd.testing.assert_frame_equal(one, two)


@settings(deadline=None, max_examples=50)
@given(n=st.integers(1, 5), max_iter=st.integers(1, 300), limits=st.lists(st.integers(1, 300), max_size=4))
def test_orders_of_several_epochs_are_those_of_single_ones_and_stop_at_limits(n, max_iter, limits):
    arrays = list(cv.orders(n, Method(kernel="linear", max_iter=max_iter), 7, limits=sorted(limits)))
    random, expected = np.random.RandomState(7), []
    for _ in range(max_iter):
        order = np.arange(n)
        random.shuffle(order)
        expected.append(order)
    assert np.array_equal(np.concatenate(arrays), np.concatenate(expected))
    ends = set((np.cumsum([len(a) for a in arrays]) // n).tolist())
    assert {limit for limit in limits if limit <= max_iter} <= ends


@settings(deadline=None, max_examples=30)
@given(asked=st.lists(st.tuples(st.integers(1, 4), st.integers(1, 90), st.sampled_from(cv.ORDERS)), max_size=6))
def test_shuffles_that_are_shared_are_those_of_each_alone(asked):
    shared = cv.Shuffles(3)
    for n, max_iter, order in asked:
        method = Method(kernel="linear", max_iter=max_iter, order=order)
        one, other = (list(cv.orders(n, method, shuffles)) for shuffles in (shared, 3))
        assert all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize(
    ("field", "value"), [("kernel", "sigmoid"), ("demote", "last"), ("scaling", "none"), ("folds", "none"), ("unit", "days")]
)
def test_a_method_says_what_it_can_be(field, value):
    with pytest.raises(ValueError, match=f"{field} must be one of .*, got '{value}'"):
        Method(**{"kernel": "rbf", "parameter": 1.0, "max_iter": 5, field: value})


# Choosing parameters.


def first_choice(monkeypatch, X, y, methods, limits):
    """What three inner folds choose for the first of three outer folds."""
    monkeypatch.setattr(cv, "load", lambda name: (X, y))
    return cv.chosen([("any", methods, limits, 0)], n_folds=3, inner_folds=3, threads=1).to_dict("records")[0]


def test_inner_folds_choose_the_setting_with_the_fewest_errors_the_first_of_equals(monkeypatch):
    X, y = small_set(3)
    methods = [Method(kernel="rbf", parameter=p, max_iter=20) for p in (1.0, 0.3, 0.1)]
    chosen = first_choice(monkeypatch, X, y, methods, (5, 20))
    train, test = cv.splits(X, y, methods[0], 3, 0)[0]
    inner = []
    for method, limit in product(methods, (5, 20)):
        method = replace(method, max_iter=limit)
        parts = cv.splits(X[train], y[train], method, 3, 0)
        inner.append(sum(literal_errors(X[train], y[train], a, b, method, 0)[1] for a, b in parts))
    best = int(np.argmin(inner))
    assert (chosen["parameter"], chosen["iterations"]) == (methods[best // 2].parameter, (5, 20)[best % 2])
    assert chosen["inner_error"] == pytest.approx(min(inner) / len(train))
    final = replace(methods[best // 2], max_iter=chosen["iterations"])
    assert chosen["test_errors"] == literal_errors(X, y, train, test, final, 0)[1]


def test_inner_folds_choose_without_the_test_examples(monkeypatch):
    X, y = small_set(5)
    methods = [Method(kernel="poly", parameter=p, max_iter=10) for p in (1, 2, 3)]
    chosen = first_choice(monkeypatch, X, y, methods, (5, 10))
    train, test = cv.splits(X, y, methods[0], 3, 0)[0]
    spoilt, random = X.copy(), np.random.RandomState(0)
    spoilt[test] = random.normal(size=X[test].shape)
    again = first_choice(monkeypatch, spoilt, y, methods, (5, 10))
    keys = ["parameter", "iterations", "inner_error"]
    assert [again[key] for key in keys] == [chosen[key] for key in keys]


# What is stored comes out again.


@pytest.mark.parametrize(("name", "kernel"), [("linear", "linear"), ("kernel", "poly"), ("kernel", "rbf")])
@pytest.mark.parametrize("repeat", [0, 99])
def test_stored_folds_come_out_again_to_the_last_digit(name, kernel, repeat):
    table = getattr(experiment, name)(experiment.PUBLISHED)
    # The bundled wines are those of the file, so that this needs no download.
    ours = cv.cross_validate([("wine-bundled", experiment.methods("wine")[kernel], repeat)])
    part = table.query("dataset == 'wine' and kernel == @kernel and repeat == @repeat").reset_index(drop=True)
    names = ["dataset", "kernel"]
    assert len(ours) and ours.drop(columns=names).astype(float).equals(part.drop(columns=names).astype(float))


@pytest.mark.parametrize("dataset", ["iris", "sonar"])
def test_stored_repeats_of_the_downloaded_sets_come_out_again(dataset):
    table = experiment.kernel(experiment.PUBLISHED)
    try:
        datasets.load(dataset, download=False)
    except datasets.DataError:
        pytest.skip(f"the files of {dataset} are not there; get them with: python -m study.datasets fetch {dataset}")
    ours = cv.cross_validate([(dataset, experiment.methods(dataset)["rbf"], 7)])
    part = table.query("dataset == @dataset and kernel == 'rbf' and repeat == 7").reset_index(drop=True)
    pd.testing.assert_frame_equal(ours, part, check_dtype=False, check_exact=True)


def test_stored_readings_come_out_again():
    reading, row = Reading(demote="each", order="fixed"), experiment.methods("wine")["rbf"]
    ours = readings.cross_validate([("wine-bundled", row, (reading,), 2)])
    stored = experiment.readings(experiment.PUBLISHED)
    part = stored.query("dataset == 'wine' and kernel == 'rbf' and repeat == 2 and reading == @reading.key")
    assert len(part) == 1 and ours[experiment.RATES].to_numpy().tolist() == part[experiment.RATES].to_numpy().tolist()


def test_stored_choices_come_out_again():
    grid = experiment.settings("wine").grid("rbf")
    again = cv._chosen_row(("wine-bundled", grid, experiment.ITERATIONS, 1, 4), experiment.N_FOLDS, experiment.INNER_FOLDS)
    stored = experiment.chosen(experiment.PUBLISHED)
    [row] = stored.query("dataset == 'wine' and kernel == 'rbf' and repeat == 1 and fold == 4").to_dict("records")
    assert again | {"dataset": "wine"} == row


@pytest.mark.parametrize("name", ["kernel", "predictors", "chosen", "readings", "baselines", "rival"])
def test_rows_are_the_same_on_any_number_of_threads(name, monkeypatch):
    sizes = {"n_folds": 2, "n_repeats": 2, "degrees": (1, 2), "widths": (0.6, 0.3), "inner_folds": 2}
    run, found = experiment.settings("wine-bundled", **sizes), []
    for threads in (1, 3):
        monkeypatch.setattr(experiment, "cpu_count", lambda threads=threads: threads)
        found.append(getattr(experiment, name).compute(run))
    pd.testing.assert_frame_equal(*found, check_exact=True)
