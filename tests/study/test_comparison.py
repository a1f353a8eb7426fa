"""The comparison on benchmark sets: its protocol against its own rules, its statistics against literal ones, its tables."""

import math
from dataclasses import replace
from itertools import combinations

import joblib
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.figure import Figure
from scipy.stats import binom

from study import datasets, store
from study.comparison import experiment as comparison
from study.comparison import figures as figures_comparison
from study.comparison import tables
from study.comparison.experiment import METHODS, PERCEPTRONS, TABLES, Scale, Setting
from study.store import StaleResult

TINY = Scale(
    repetitions=2, widths=(1.0, 0.25), degrees=(2,), epochs=(1, 3), penalties=(1.0, 10.0), ridges=(0.1,), neighbours=(1, 3),
    perceptron_epochs=(5,), tuning=60, small=1, reference_step=1,
)  # fmt: skip


@pytest.fixture(scope="module")
def tiny():
    """The tables of iris at a tiny scale."""
    return comparison.compare("iris-bundled", TINY)


def customary(change_X=1.0, shuffle_y=False):
    """Iris cut into a training part of 100 and a test part of 50, which may be changed."""
    data = datasets.load("iris-bundled")
    order = np.random.RandomState(0).permutation(150)
    X, y = data.X[order], data.y[order]
    y_test = y[100:][::-1] if shuffle_y else y[100:]
    return replace(data, X=X[:100], y=y[:100], X_test=change_X * X[100:], y_test=y_test)


SETTINGS = ["method", "kernel", "width", "degree", "other", "predictor", "epoch", "validation_errors", "chosen"]


def test_no_choice_depends_on_the_test_part(monkeypatch):
    monkeypatch.setattr(comparison, "METHODS", ("ordinary", "SVM"))
    found = []
    for data in (customary(), customary(change_X=3.0), customary(shuffle_y=True)):
        monkeypatch.setattr(comparison.datasets, "load", lambda name, data=data: data)
        found.append(comparison.compare("iris-bundled", TINY))
    for other in found[1:]:
        pd.testing.assert_frame_equal(found[0]["errors"][SETTINGS], other["errors"][SETTINGS])
        pd.testing.assert_frame_equal(found[0]["validation"], other["validation"])
        assert found[0]["errors"]["errors"].tolist() != other["errors"]["errors"].tolist()


def test_every_example_is_tested_once_in_a_repetition_and_trains_in_the_other_half():
    data = datasets.load("iris-bundled")
    for repetition in range(2):
        halves = [part for r, _, *part in comparison.splits(data, 2) if r == repetition]
        tested = np.concatenate([test[0] for _, test in halves])
        assert sorted(tested.tolist()) == sorted(data.X.tolist())
        for train, test in halves:
            together = np.concatenate([train[0], test[0]])
            assert sorted(together.tolist()) == sorted(data.X.tolist())
            assert np.bincount(train[1]).tolist() == [25, 25, 25]


def test_a_customary_test_part_is_used_as_it_is():
    data = datasets.load("digits")
    ((repetition, fold, train, test),) = comparison.splits(data, 5)
    assert (repetition, fold) == (0, 0) and train[0] is data.X and test[1] is data.y_test


def test_the_fewest_validation_errors_win_and_of_equals_the_steadiest():
    rows = [("final", 1.0, 3), ("average", 1.0, 4), ("final", 0.5, 3), ("average", 0.5, 3), ("voted", 0.5, 3)]
    table = pd.DataFrame(rows, columns=["predictor", "width", "validation_errors"])
    best = comparison.best_settings(table)
    assert best[["predictor", "width"]].to_numpy().tolist() == [["average", 0.5], ["voted", 0.5], ["final", 1.0]]
    assert best["chosen"].tolist() == [True, False, False]


def test_more_epochs_come_first_and_an_early_stop_counts_for_all_later_ones():
    X, y = datasets.load("iris-bundled").X[:100], datasets.load("iris-bundled").y[:100]  # two classes, separable
    setting = Setting(method="ordinary", kernel="rbf", width=1.0)
    scale = replace(TINY, epochs=(1, 50, 60))
    model = comparison.estimator(setting, X, max_iter=60, random_state=0).fit(X, y)
    assert model.n_iter_ < 50
    found = list(comparison.predictions(model, setting, X, scale))
    assert [s.epoch for s, _ in found[:3]] == [60, 50, 1]
    assert found[0][1].tolist() == found[1][1].tolist() == model.predict(X, predictor="final").tolist()


def test_tables_have_a_row_for_every_method_predictor_and_half(tiny):
    errors = tiny["errors"]
    assert len(errors) == 2 * 2 * (4 * 4 + 4) and set(errors["method"]) == set(METHODS)
    assert (errors.groupby(["repetition", "method"])["chosen"].sum() == 2).all()
    assert (errors["n"] == 75).all() and (errors["n_train"] == 75).all() and (errors["tuned_on"] == 60).all()
    perceptrons = errors["method"].isin(PERCEPTRONS)
    assert (errors[perceptrons].groupby(["repetition", "fold", "method"])["predictor"].nunique() == 4).all()
    assert tiny["times"]["seconds"].ge(0).all() and len(tiny["times"]) == len(errors)


def test_pairs_agree_with_the_errors(tiny):
    errors = tiny["errors"].query("chosen").groupby(["repetition", "method"])["errors"].sum()
    pairs = tiny["pairs"]
    assert len(pairs) == 2 * math.comb(len(METHODS), 2) and (pairs["n"] == 150).all()
    for row in pairs.itertuples():
        difference = errors[row.repetition, row.first] - errors[row.repetition, row.second]
        assert row.only_first - row.only_second == difference


def test_validation_sums_the_best_epoch_of_each_half(tiny):
    data, validation = datasets.load("iris-bundled"), tiny["validation"]
    total, n = 0, 0
    for repetition, _, train, _ in comparison.splits(data, 2):
        rows = comparison.validate("xu-zhang", *train, TINY, repetition)
        part = rows[(rows["width"] == 0.25) & (rows["predictor"] == "voted")]
        assert part["epoch"].tolist() == [3, 1]
        total, n = total + part["validation_errors"].min(), n + part["validation_n"].iloc[0]
    row = validation.query("method == 'xu-zhang' and width == 0.25 and predictor == 'voted'").iloc[0]
    assert (row["validation_errors"], row["validation_n"]) == (total, n)


def test_only_the_chosen_xu_zhang_predictor_is_trained_where_the_square_is_too_large(monkeypatch):
    monkeypatch.setattr(comparison, "METHODS", ("xu-zhang",))
    part, _ = np.arange(150).reshape(2, 75), None
    data = datasets.load("iris-bundled")
    X, y = data.X[::2], data.y[::2]
    scale = replace(TINY, dense=16 * 40**2)
    rows, _, labels = comparison.run_method("xu-zhang", (X, y), (data.X[1::2], data.y[1::2]), scale, 0)
    assert len(rows) == 1 and rows[0]["chosen"] and rows[0]["predictor"] != "minimizing" and len(labels) == len(part[0])


@pytest.mark.parametrize("method", METHODS)
def test_costs_count_the_examples_that_a_prediction_needs(method):
    data = datasets.load("iris-bundled")
    base = comparison.grid(method, TINY)[0]
    model = comparison.estimator(base, data.X, max_iter=3, random_state=0).fit(data.X, data.y)
    setting = replace(base, predictor="final", epoch=3.0) if method in PERCEPTRONS else base
    support, kernel_values = comparison.costs(model, setting, 150)
    if method in ("linear", "scikit-learn perceptron"):
        assert (support, kernel_values) == (0, 0)
    elif method in ("kernel ridge", "nearest neighbours"):
        assert (support, kernel_values) == (150, 150)
    else:
        assert 0 < support < 150 and support == len(model.support_)
        assert kernel_values == (150 if method == "xu-zhang" else support)
    if method == "xu-zhang":
        assert np.count_nonzero(model.dual_coef_.any(axis=0)) == 150


def test_the_minimizing_predictor_needs_the_examples_up_to_its_own_mistake():
    data = datasets.load("iris-bundled")
    base = comparison.grid("ordinary", TINY)[0]
    model = comparison.estimator(base, data.X, max_iter=3, random_state=0).fit(data.X, data.y)
    log = model.mistakes_
    support, _ = comparison.costs(model, replace(base, predictor="minimizing", epoch=3.0), 150)
    assert support == len(set(log.example[: log.minimizing_length()].tolist())) < len(model.support_)


def test_ridge_on_labels_solves_the_ridge_equations():
    data = datasets.load("wine-bundled")
    X = (data.X - data.X.min(0)) / np.ptp(data.X, axis=0)
    model = comparison.RidgeOnLabels(0.1, 2.0).fit(X, data.y)
    K = np.exp(-2.0 * ((X[:, None] - X[None]) ** 2).sum(-1))
    targets = np.array([[1.0 if label == name else -1.0 for name in np.unique(data.y)] for label in data.y])
    scores = K @ np.linalg.solve(K + 0.1 * np.eye(len(X)), targets)
    assert model.predict(X).tolist() == np.unique(data.y)[scores.argmax(1)].tolist()


def test_rates_average_repetitions_and_count_each_example_once():
    table = pd.DataFrame(
        [("a", "linear", "final", r, f, e, 50) for (r, f), e in {(0, 0): 5, (0, 1): 7, (1, 0): 6, (1, 1): 10}.items()],
        columns=["dataset", "method", "predictor", "repetition", "fold", "errors", "n"],
    )
    row = tables.rates(table).iloc[0]
    assert row["error"] == 14 / 100 and row["n"] == 100 and row["repetitions"] == 2
    assert binom.sf(13, 100, row["low"]) == pytest.approx(0.025) and binom.cdf(14, 100, row["high"]) == pytest.approx(0.025)


def test_critical_difference_is_that_of_demsars_example():
    assert tables.critical_difference(4, 14) == pytest.approx(1.25, abs=0.005)
    assert tables.critical_difference(2, 10) == pytest.approx(1.960 / math.sqrt(10), abs=0.001)


@given(st.lists(st.floats(1, 9), min_size=2, max_size=9), st.floats(0, 5))
def test_groups_are_the_maximal_runs_within_the_critical_difference(values, difference):
    values = sorted(values)
    runs = [
        (i, j)
        for i in range(len(values))
        for j in range(i + 1, len(values))
        if values[j] <= values[i] + difference
        and (j + 1 == len(values) or values[j + 1] > values[i] + difference)
        and (i == 0 or values[j] > values[i - 1] + difference)
    ]
    assert tables.groups(values, difference) == runs


@settings(deadline=None)
@given(st.integers(0, 10_000), st.integers(5, 60))
def test_paired_differences_and_p_are_those_of_a_literal_count(seed, n):
    wrong = np.random.RandomState(seed).rand(2, n) < 0.4
    a, b = int(np.sum(wrong[0] & ~wrong[1])), int(np.sum(wrong[1] & ~wrong[0]))
    row = ("s", 0, "one-vs-all", "linear", a, b, n)
    frame = pd.DataFrame([row], columns=["dataset", "repetition", "first", "second", "only_first", "only_second", "n"])
    found = tables.paired(frame).iloc[0]
    assert found["difference"] == pytest.approx(wrong[0].mean() - wrong[1].mean())
    assert found["low"] <= found["difference"] <= found["high"]
    tail = sum(math.comb(a + b, i) for i in range(min(a, b) + 1)) / 2 ** (a + b)
    assert found["p"] == pytest.approx(min(1.0, 2 * tail))


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 10_000), st.floats(0.2, 2.0))
def test_the_squared_kernel_is_a_wider_one_times_the_density_at_the_midpoint(seed, width):
    X = np.random.RandomState(seed).rand(9, 3)
    data = replace(datasets.load("iris-bundled"), X=X)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables.datasets, "load", lambda name: data)
        found = tables.squared_kernel("any", width)
    X = (X - X.min(0)) / np.ptp(X, axis=0)
    distances = [math.dist(a, b) for a, b in combinations(X, 2)]
    sigma = width * np.median(distances)
    pairs = [(i, j) for i in range(9) for j in range(i, 9)]
    for row, (i, j) in zip(found.itertuples(), pairs, strict=True):
        density = np.mean([math.exp(-(math.dist(m, (X[i] + X[j]) / 2) ** 2) / sigma**2) for m in X])
        assert row.squared == pytest.approx(row.wider * density, rel=1e-9)
        literal = np.mean([math.exp(-(math.dist(X[i], m) ** 2 + math.dist(m, X[j]) ** 2) / (2 * sigma**2)) for m in X])
        assert row.squared == pytest.approx(literal, rel=1e-9) and row.same == (i == j)


def test_a_plain_kernel_would_have_equal_self_values(tiny):
    squared = tables.squared_kernel("iris-bundled", 0.5)
    assert tables.density_ratio(squared) > 1
    assert tables.density_ratio(squared.assign(squared=squared["kernel"])) == pytest.approx(1)


def test_best_widths_take_the_widest_of_equals():
    rows = [("s", "ordinary", w, e) for w, e in ((1.0, 0.2), (0.5, 0.1), (0.25, 0.1))]
    rows += [("s", m, 0.25, 0.1) for m in ("one-vs-all", "xu-zhang")]
    widths = tables.best_widths(pd.DataFrame(rows, columns=["dataset", "method", "width", "error"]))
    assert widths.loc[0, "ordinary"] == 0.5 and tables.width_shift(widths) == pytest.approx(0.5)


def test_figures_name_quantities_and_units_on_every_axis(tiny, recwarn):
    chosen, paired = tables.chosen_rates(tiny["errors"]), tables.paired(tiny["pairs"])
    figures = [
        figures_comparison.figure_errors(chosen),
        figures_comparison.figure_ranks(tables.mean_ranks(chosen), 3.0),
        figures_comparison.figure_pairs(paired),
        figures_comparison.figure_costs(tables.costs(tiny["errors"]), chosen),
        figures_comparison.figure_predictors(tables.predictor_ratios(tiny["errors"])),
        figures_comparison.figure_widths(tables.width_curves(tiny["validation"])),
        figures_comparison.figure_squared_kernel(tables.squared_kernel("iris-bundled", 0.5)),
    ]
    for figure in figures:
        assert isinstance(figure, Figure) and figure.get_figwidth() == 6.4
        figure.canvas.draw()
        texts = [figure.get_supxlabel(), *(axis.get_xlabel() for axis in figure.axes)]
        assert any("(" in text for text in texts) or figure is figures[1]
    assert not recwarn.list


# How results are kept.


@pytest.fixture
def small_study(tmp_path, monkeypatch):
    """publish works on iris alone at a tiny scale, in tmp_path; the list holds the names of the sets that were computed."""
    computed = []
    real = comparison.compare

    def compare(name, scale):
        computed.append(name)
        return real("iris-bundled", replace(TINY, repetitions=1, widths=(1.0,)))

    monkeypatch.setattr(comparison, "METHODS", ("ordinary", "linear"))
    monkeypatch.setattr(comparison, "DATASETS", ("iris", "wine"))
    monkeypatch.setattr(comparison, "RESULTS", tmp_path / "results")
    monkeypatch.setattr(comparison, "BUILD", tmp_path / "build")
    monkeypatch.setattr(comparison, "compare", compare)
    with joblib.parallel_config(backend="threading"):
        yield computed


def test_publish_goes_on_with_the_sets_that_are_missing(small_study):
    comparison._store_draft("iris")
    comparison.publish()
    assert sorted(small_study) == ["iris", "wine"]
    assert not list((comparison.BUILD / "drafts").iterdir())
    comparison.publish()
    assert len(small_study) == 2


def test_recomputing_changes_no_byte_not_even_the_times(small_study):
    comparison.publish()
    before = {path.name: path.read_bytes() for path in comparison.RESULTS.iterdir()}
    comparison.publish(recompute=True)
    assert len(small_study) == 4 and len(before) == 2 * len(TABLES)
    assert before == {path.name: path.read_bytes() for path in comparison.RESULTS.iterdir()}


def test_tables_of_other_code_are_refused(small_study, monkeypatch):
    comparison.publish()
    assert set(comparison.tables("iris")) == set(TABLES)
    monkeypatch.setattr(comparison, "MODULES", ("kp.gram",))
    with pytest.raises(StaleResult, match="other code.*python -m study run comparison"):
        comparison.tables("iris")


@pytest.mark.parametrize("names", ["mnist", "iris digits", ""])
def test_tables_says_which_sets_it_can_give(names):
    with pytest.raises(ValueError, match="datasets must be among optdigits"):
        comparison.tables(names)


@pytest.mark.parametrize("method", METHODS)
def test_the_stored_errors_of_seeds_come_out_again(method):
    stored = comparison.tables("seeds")["errors"]
    try:
        data = datasets.load("seeds", download=False)
    except datasets.DataError as error:
        pytest.skip(str(error))
    repetition, fold, train, test = next(comparison.splits(data, 1))
    rows, _, _ = comparison.run_method(method, train, test, comparison.FULL, repetition)
    columns = [*SETTINGS, "n_train", "support", "kernel_values", "errors", "n"]
    expected = stored[(stored["repetition"] == repetition) & (stored["fold"] == fold) & (stored["method"] == method)]
    pd.testing.assert_frame_equal(
        pd.DataFrame(rows)[columns], expected[columns].reset_index(drop=True), check_dtype=False, check_exact=True
    )


def test_the_stored_tables_belong_to_the_code_and_are_whole():
    found = comparison.tables(comparison.DATASETS)
    assert list(dict.fromkeys(found["errors"]["dataset"])) == list(comparison.DATASETS)
    for name in comparison.DATASETS:
        rows = found["errors"][found["errors"]["chosen"] & (found["errors"]["dataset"] == name)]
        assert rows.groupby(["repetition", "method"])["n"].sum().nunique() == 1
        assert set(rows["method"]) == set(METHODS)
    record = store.read_table(comparison._path("errors"))
    assert len(record) == len(found["errors"])
