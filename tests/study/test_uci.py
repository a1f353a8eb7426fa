"""The UCI study: cross-validation against the literal algorithm and scikit-learn's, and how published numbers are judged."""

from dataclasses import replace
from itertools import product

import matplotlib
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.figure import Figure
from scipy.stats import percentileofscore
from sklearn.model_selection import StratifiedKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from kp import kernels, literal
from kp.mistakes import PREDICTORS
from kp.multiclass import MulticlassKernelPerceptron, MulticlassPerceptron
from study import datasets
from study.store import StaleResult
from study.uci import experiment as uci
from study.uci import figures as figures_uci
from study.uci import protocol as cv
from study.uci.protocol import Method

matplotlib.use("agg")


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
def test_every_reading_is_that_of_the_literal_algorithm(seed, kernel, max_iter, demote, threshold, scaling, order, unit):
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
    method = replace(uci.methods("wine-bundled", demote=demote)[kernel], max_iter=25)
    options = {"max_iter": 25, "demote": demote, "random_state": 3, "n_jobs": 1}
    model = MulticlassPerceptron(**options, count_errors=False)
    if kernel != "linear":
        shape = {"degree": int(method.parameter)} if kernel == "poly" else {"sigma": method.parameter}
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
    model = MulticlassKernelPerceptron("rbf", sigma=parameter, max_iter=max_iter, random_state=5, n_jobs=1)
    expected = model.fit(MinMaxScaler().fit_transform(X[train]), y[train]).mistakes_
    for name in ("example", "step", "promoted", "demoted", "errors", "ends"):
        assert np.array_equal(getattr(log, name), getattr(expected, name)), name


def test_one_run_gives_what_a_run_of_each_limit_gives():
    limits = (1, 3, 70, 90)
    for kernel, method in uci.methods("iris-bundled").items():
        method = replace(method, max_iter=200)
        table = cv.cross_validate([("iris-bundled", method, 1)], n_folds=3, limits=limits, threads=1)
        for limit in (*limits, 200):
            alone = cv.cross_validate([("iris-bundled", replace(method, max_iter=limit), 1)], n_folds=3, threads=1)
            part = table[table["iterations"] == limit].reset_index(drop=True)
            pd.testing.assert_frame_equal(part, alone, obj=kernel)


def test_results_do_not_depend_on_threads():
    jobs = [
        ("iris-bundled", replace(method, max_iter=5), r) for method in uci.methods("iris-bundled").values() for r in (0, 1)
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


@pytest.mark.parametrize(
    ("field", "value"), [("kernel", "sigmoid"), ("demote", "last"), ("scaling", "none"), ("folds", "none"), ("unit", "days")]
)
def test_a_method_says_what_it_can_be(field, value):
    with pytest.raises(ValueError, match=f"{field} must be one of .*, got '{value}'"):
        Method(**{"kernel": "rbf", "parameter": 1.0, "max_iter": 5, field: value})


# Choosing parameters.


def nested_fold(monkeypatch, X, y, methods, limits, index=0):
    monkeypatch.setattr(cv, "load", lambda name: (X, y))
    return cv._nested_fold(("any", methods, limits, 0, index), 3, 3)


def test_inner_folds_choose_the_setting_with_the_fewest_errors_the_first_of_equals(monkeypatch):
    X, y = small_set(3)
    methods = [Method(kernel="rbf", parameter=p, max_iter=20) for p in (1.0, 0.3, 0.1)]
    outer, chosen = nested_fold(monkeypatch, X, y, methods, (5, 20))
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
    assert len(outer) == 6


def test_inner_folds_choose_without_the_test_examples(monkeypatch):
    X, y = small_set(5)
    methods = [Method(kernel="poly", parameter=p, max_iter=10) for p in (1, 2, 3)]
    _, chosen = nested_fold(monkeypatch, X, y, methods, (5, 10))
    train, test = cv.splits(X, y, methods[0], 3, 0)[0]
    spoilt, random = X.copy(), np.random.RandomState(0)
    spoilt[test] = random.normal(size=X[test].shape)
    _, again = nested_fold(monkeypatch, spoilt, y, methods, (5, 10))
    keys = ["parameter", "iterations", "inner_error"]
    assert [again[key] for key in keys] == [chosen[key] for key in keys]


def test_settings_that_tie_share_the_weight_of_their_repeat():
    rates = {"dataset": "iris", "kernel": "rbf", "iterations": 500}
    grid = pd.DataFrame(
        [{**rates, "repeat": r, "parameter": p, "test_mean": e} for r, p, e in
         [(0, 0.1, 0.2), (0, 0.3, 0.2), (0, 0.6, 0.3), (1, 0.1, 0.3), (1, 0.3, 0.1), (1, 0.6, 0.4)]]
    )  # fmt: skip
    found = uci.choices(grid)
    assert found[["repeat", "parameter", "weight"]].to_numpy().tolist() == [[0, 0.1, 0.5], [0, 0.3, 0.5], [1, 0.3, 1.0]]
    lines = grid.assign(kernel="linear", iterations=3000, parameter=0.0).drop_duplicates("repeat")
    table = uci.chosen_parameters({"grid": grid, "curves": lines}).set_index(["kernel", "quantity"])
    width = table.loc[("rbf", "parameter")]
    assert (width["published"], width["ours"], width["low"], width["high"]) == (0.3, 0.3, 0.1, 0.3)
    assert width["verdict"] == "exact" and width["percentile"] == pytest.approx((0.5 + 1.5 / 2) / 2)
    assert table.loc[("rbf", "iterations"), "verdict"] == "outside"
    assert table.loc[("linear", "iterations"), "verdict"] == "exact"


def test_optimism_is_the_nested_error_less_the_smallest_of_the_grid():
    grid = pd.DataFrame(
        {"dataset": "wine", "kernel": "rbf", "repeat": 0, "parameter": [0.3, 0.6], "test_mean": [0.25, 0.125]}
    )
    chosen = pd.DataFrame(
        {"dataset": "wine", "kernel": "rbf", "repeat": 0, "fold": [0, 1], "test_errors": [1, 2], "n_test": 8}
    )
    [row] = uci.optimism({"grid": grid, "chosen": chosen}).to_dict("records")
    assert (row["published_way"], row["nested"], row["optimism"]) == (0.125, 0.1875, 0.0625)


# Verdicts.


@given(st.lists(st.integers(0, 9), min_size=1, max_size=30), st.integers(-1, 10))
def test_place_is_the_mid_rank_percentile(values, number):
    assert uci.place(values, number) == pytest.approx(percentileofscore(values, number, kind="mean") / 100)


@given(st.lists(st.integers(0, 9), min_size=1, max_size=30), st.floats(0.01, 1))
def test_quantiles_of_equal_weights_are_those_of_the_inverted_distribution(values, level):
    expected = np.quantile(values, level, method="inverted_cdf")
    assert uci.quantiles(np.array(values, dtype=float), np.ones(len(values)), [level]) == [expected]


def test_verdicts_are_exact_within_or_outside():
    values = np.array([1.0, 2.0, 3.0, 4.0])
    assert uci.verdict(2.5, values, 2.5, 1.1, 3.9) == "exact"
    assert uci.verdict(2.5, values, 2.504, 1.1, 3.9) == "exact"
    assert uci.verdict(2.5, values, 2.506, 1.1, 3.9) == "within"
    assert uci.verdict(1.1, values, 2.5, 1.1, 3.9) == "within"
    assert uci.verdict(4.0, values, 2.5, 1.1, 3.9) == "outside"
    assert uci.verdict(0.0, np.zeros(4), 0.0, 0.0, 0.0) == "exact"


def test_a_published_number_is_compared_only_with_the_setting_it_is_for():
    repeats = pd.DataFrame(
        {"dataset": "iris-bundled", "kernel": "rbf", "parameter": 0.3, "iterations": 2000, "repeat": range(3)}
    )
    repeats = repeats.assign(train_mean=0.0378, train_sd=[0.01, 0.02, 0.03], test_mean=[0.05, 0.0533, 0.06], test_sd=0.05)
    found = uci.compare(repeats).set_index(["split", "statistic"])
    assert set(found["dataset"]) == {"iris"} and len(found) == 4
    assert found.loc[("train", "mean"), "verdict"] == "exact" and found.loc[("train", "mean"), "percentile"] == 0.5
    assert found.loc[("test", "mean"), "verdict"] == "within" and found.loc[("test", "mean"), "percentile"] == 0.5
    assert found.loc[("test", "sd"), "verdict"] == "outside" and found.loc[("test", "sd"), "percentile"] == 0.0
    assert found.loc[("train", "sd"), "ours"] == pytest.approx(2.0)
    assert uci.compare(repeats.assign(iterations=1999)).empty and uci.compare(repeats.assign(parameter=0.2)).empty


def test_all_48_rates_and_the_three_rows_of_each_set_are_there():
    rates = uci.published_rates()
    assert len(rates) == 48 and not rates.isna().any(axis=None)
    row = rates.query("dataset == 'sonar' and kernel == 'poly' and split == 'test' and statistic == 'sd'").iloc[0]
    assert (row["parameter"], row["iterations"], row["published"]) == (9, 2000, 8.15)
    assert {name: [m.max_iter for m in uci.methods(name).values()] for name in uci.SETS} == {
        "iris": [3000, 5000, 2000], "sonar": [2000, 2000, 2000], "vowel": [5000, 500, 500], "wine": [1000, 5000, 5000]
    }  # fmt: skip


@settings(deadline=None, max_examples=40)
@given(
    st.lists(st.integers(0, 4), min_size=5, max_size=5),
    st.sampled_from([0, 1]),
    st.sampled_from([(4,) * 5, (5, 5, 5, 4, 4)]),
)
def test_arithmetic_never_denies_what_counts_give(counts, ddof, sizes):
    rates = 100 * np.array(counts) / np.array(sizes)
    assert uci.reachable(round(rates.mean(), 2), round(rates.std(ddof=ddof), 2), sizes, ddof)


def test_arithmetic_denies_what_no_counts_give():
    def all_pairs(ddof):
        for counts in product(range(5), repeat=4):
            rates = 25 * np.array(counts)
            yield round(rates.mean(), 2), round(float(rates.std(ddof=ddof)), 2)

    possible = set(all_pairs(0))
    assert (31.25, 20.73) in possible and (31.25, 20.73) not in set(all_pairs(1))
    assert uci.reachable(31.25, 20.73, [4] * 4, 0) and not uci.reachable(31.25, 20.73, [4] * 4, 1)
    assert not uci.reachable(31.0, 20.73, [4] * 4, 0)
    assert uci.reachable(5.33, 6.53, [15] * 10, 0) and not uci.reachable(5.33, 6.53, [15] * 10, 1)


# The whole, small.


@pytest.fixture(scope="module")
def tiny():
    """The experiment and all tables of two repeats of the wines, which are soon separated."""
    run = uci.experiment("wine-bundled", n_folds=3, n_repeats=2, inner_folds=2, degrees=(4, 6), widths=(0.6, 0.3))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cv, "rivals", lambda seed: {"tree": cv.DecisionTreeClassifier(random_state=seed)})
        tables = uci.results([run])
    return run, tables


def test_tables_have_the_rows_that_the_experiment_asks_for(tiny):
    _, tables = tiny
    assert {name: len(table) for name, table in tables.items()} == {
        "kernel": 2 * 2 * 3, "linear": 2 * 3, "readings": 9 * 3, "curves": 3 * 13, "grid": 2 * 2 * 5, "chosen": 2 * 3,
        "predictors": 2 * 4, "rivals": 1,
    }  # fmt: skip


def test_claims_have_a_row_for_each_published_number_of_the_sets(tiny):
    _, tables = tiny
    claims = uci.claims(tables)
    assert list(claims.columns) == uci.CLAIMS
    assert claims["item"].value_counts().to_dict() == {"Table I": 4, "Table II": 5, "Table III": 12}
    assert set(claims["verdict"]) <= {"exact", "within", "outside"} and claims["quantity"].is_unique
    counts = claims[claims["percentile"].isna()]
    assert counts["published"].tolist() == counts["ours"].tolist() == [13, 3, 178]


def test_readings_count_numbers_inside_and_explain_those_outside(tiny):
    _, tables = tiny
    compared = uci.by_reading(tables, n_folds=3)
    table = uci.readings_table(compared).set_index("reading")
    inside = compared.assign(inside=compared["verdict"] != "outside").groupby("reading")["inside"].sum()
    assert table["in all"].to_dict() == inside.to_dict() and set(table["of"]) == {12}
    found = uci.explained(compared)
    assert len(found) == 12 - table.loc[uci.BASE, "in all"]
    base, other = (compared[compared["reading"] == name].reset_index() for name in (uci.BASE, uci.DDOF))
    spread = base["statistic"] == "sd"
    assert np.allclose(other["ours"][spread], base["ours"][spread] * np.sqrt(3 / 2), atol=0.01)
    text = uci.explanation(compared)
    assert (
        f"Numbers outside the base reading: {len(found)}." in text
        and f"the base reading has {table.loc[uci.BASE, 'in all']}." in text
    )


def test_figures_are_labelled(tiny):
    run, tables = tiny
    repeats = uci.repeats_of(tables)
    compared = uci.compare(repeats)
    figures = [
        figures_uci.distributions(repeats, compared),
        figures_uci.intervals(compared),
        figures_uci.readings(uci.readings_table(uci.by_reading(tables, n_folds=3))),
        figures_uci.curves(tables["curves"], compared),
        figures_uci.parameters(tables["grid"], compared),
        figures_uci.predictors(tables["predictors"]),
        figures_uci.optimism(uci.optimism(tables)),
        figures_uci.rivals(tables["rivals"], repeats, {"wine": 2.25}),
        figures_uci.differences(repeats),
    ]
    for figure in figures:
        assert isinstance(figure, Figure)
        named = [axis for axis in figure.axes if axis.get_xlabel() or figure.get_supxlabel()]
        assert named == figure.axes and any(axis.get_ylabel() or axis.get_yticklabels() for axis in figure.axes)


def test_sentences_follow_the_numbers(tiny):
    _, tables = tiny
    text = uci.conclusion(tables)
    share = tables["linear"]["converged"].mean()
    assert f"wine {share:.1%} are linearly separable" in text
    duel = uci.duels(uci.repeats_of(tables), "rbf", "poly").iloc[0]
    means = uci.repeats_of(tables).groupby("kernel")["test_mean"].mean()
    assert duel["first"] == pytest.approx(means["rbf"]) and duel["second"] == pytest.approx(means["poly"])


def test_parameters_of_a_notebook_are_checked():
    with pytest.raises(ValueError, match="dataset must be one of iris, .*, got 'letter'"):
        uci.experiment("letter")
    with pytest.raises(ValueError, match="kernel must be one of linear, poly, rbf, got 'spline'"):
        uci.experiment("iris", kernel="spline")
    with pytest.raises(ValueError, match="n_folds must be an integer of at least 2, got 1"):
        uci.experiment("iris", n_folds=1)
    with pytest.raises(ValueError, match="expected numbers separated by blanks"):
        uci.numbers("1 two", (1,))
    assert uci.numbers("1 0.5", ()) == (1, 0.5) and uci.numbers("published", uci.DEGREES) == uci.DEGREES
    assert uci.experiment("iris").published and not uci.experiment("iris", parameter=0.2).published
    assert not uci.experiment("iris-bundled").published and not uci.experiment("iris", n_repeats=3).published


# What is stored.


@pytest.fixture
def small_store(tmp_path, monkeypatch):
    """publish has two parts of one row a set, in tmp_path; the list holds what was computed."""
    made = []

    def part(name):
        def compute(experiment, **options):
            if made.count("fail") and experiment.dataset == "sonar":
                raise RuntimeError("interrupted")
            made.append((name, experiment.dataset))
            return {name: pd.DataFrame({"dataset": [experiment.dataset], "value": [1.5]})}

        return compute, (name,)

    monkeypatch.setattr(uci, "PARTS", {name: part(name) for name in ("kernel", "linear")})
    monkeypatch.setattr(uci, "RESULTS", tmp_path / "results")
    monkeypatch.setattr(uci, "BUILD", tmp_path / "build")
    monkeypatch.setattr(uci, "MODULES", ("kp.mistakes",))
    monkeypatch.setattr(uci.datasets, "checksums", lambda name: {name: "0"})
    return made


def test_publish_keeps_what_is_stored_unless_told_to_recompute(small_store):
    with pytest.raises(StaleResult, match="python -m study run uci"):
        uci.stored("kernel")
    uci.publish()
    assert len(small_store) == 8 and uci.stored("kernel")["dataset"].tolist() == list(uci.SETS)
    uci.publish()
    assert len(small_store) == 8
    uci.publish(recompute=True)
    assert len(small_store) == 16


def test_an_interrupted_run_goes_on_where_it_stopped(small_store):
    small_store.append("fail")
    with pytest.raises(RuntimeError, match="interrupted"):
        uci.publish()
    small_store.remove("fail")
    uci.publish()
    assert small_store.count(("kernel", "iris")) == 1 and small_store.count(("kernel", "sonar")) == 1


def test_results_of_other_code_or_another_number_of_repeats_are_refused(small_store, monkeypatch):
    uci.publish()
    with monkeypatch.context() as patch:
        patch.setattr(uci, "MODULES", ("kp.gram",))
        with pytest.raises(StaleResult, match="other code"):
            uci.stored("linear")
    monkeypatch.setitem(uci.PUBLISHED, "iris", replace(uci.PUBLISHED["iris"], n_repeats=99))
    with pytest.raises(StaleResult, match="other parameters"):
        uci.stored("linear")


@pytest.mark.parametrize(("name", "kernel"), [("linear", "linear"), ("kernel", "poly"), ("kernel", "rbf")])
@pytest.mark.parametrize("repeat", [0, 99])
def test_stored_folds_come_out_again_to_the_last_digit(name, kernel, repeat):
    table = uci.stored(name)
    # The bundled wines are those of the file, so that this needs no download.
    ours = cv.cross_validate([("wine-bundled", uci.methods("wine")[kernel], repeat)])
    part = table.query("dataset == 'wine' and kernel == @kernel and repeat == @repeat").reset_index(drop=True)
    names = ["dataset", "kernel"]
    assert len(ours) and ours.drop(columns=names).astype(float).equals(part.drop(columns=names).astype(float))


@pytest.mark.parametrize("dataset", ["iris", "sonar"])
def test_stored_repeats_of_the_downloaded_sets_come_out_again(dataset):
    table = uci.stored("kernel")
    try:
        datasets.load(dataset, download=False)
    except datasets.DataError:
        pytest.skip(f"the files of {dataset} are not there; get them with: python -m study.datasets fetch {dataset}")
    ours = cv.cross_validate([(dataset, uci.methods(dataset)["rbf"], 7)])
    part = table.query("dataset == @dataset and kernel == 'rbf' and repeat == 7").reset_index(drop=True)
    pd.testing.assert_frame_equal(ours, part, check_dtype=False, check_exact=True)


def test_stored_readings_and_choices_come_out_again():
    readings, chosen = uci.stored("readings"), uci.stored("chosen")
    methods = uci.methods("wine")
    reading = "all classes that match are demoted"
    folds = cv.cross_validate([("wine-bundled", replace(methods["rbf"], **uci.READINGS[reading]), 2)])
    part = readings.query("dataset == 'wine' and kernel == 'rbf' and repeat == 2 and reading == @reading")
    assert cv.summary(folds, uci.KEYS)[uci.RATES].to_numpy().tolist() == part[uci.RATES].to_numpy().tolist()
    grid = uci.PUBLISHED["wine"].grid("rbf")
    _, again = cv._nested_fold(("wine-bundled", grid, uci.ITERATIONS, 1, 4), uci.N_FOLDS, uci.INNER_FOLDS)
    [row] = chosen.query("dataset == 'wine' and kernel == 'rbf' and repeat == 1 and fold == 4").to_dict("records")
    assert again | {"dataset": "wine"} == row


def test_the_ledger_has_every_number_of_the_three_tables():
    for name in ("kernel", "linear", "curves", "grid", "rivals"):
        uci.stored(name)
    try:
        claims = uci.claims()
    except datasets.DataError:
        pytest.skip("the files of the four sets are not there; get them with: python -m study.datasets fetch")
    assert claims["item"].value_counts().to_dict() == {"Table I": 16, "Table II": 20, "Table III": 48}
    assert claims["published"].notna().all() and claims["ours"].notna().all()
    assert (claims["percentile"].dropna().between(0, 1)).all()
