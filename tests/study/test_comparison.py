"""The comparison on benchmark sets: its protocol against its own rules, its statistics against literal ones, its tables."""

import math
from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, chi2, rankdata

from study import datasets, style
from study.comparison import experiment as comparison
from study.comparison import figures, methods, squared, tables
from study.comparison.methods import KERNEL_PERCEPTRONS, METHODS, NAMES, PERCEPTRONS, REFERENCES, Candidate

TINY = comparison.Settings(
    dataset="iris-bundled", repetitions=2, widths=(1.0, 0.25), degrees=(2,), epochs=(1, 3), penalties=(1.0, 10.0),
    ridges=(0.1,), neighbours=(1, 3), perceptron_epochs=(5,), tuning=60, small=1, reference_step=1,
)  # fmt: skip
CHOICE = ["method", "kernel", "width", "degree", "other", "predictor", "epoch", "validation_errors", "chosen"]


def method(name):
    return METHODS[NAMES.index(name)]


@pytest.fixture(scope="module")
def tiny():
    """The tables of iris at a tiny scale."""
    return comparison.compare.compute(TINY)


def customary(change_X=1.0, shuffle_y=False):
    """Iris cut into a training part of 100 and a test part of 50, which may be changed."""
    data = datasets.load("iris-bundled")
    order = np.random.RandomState(0).permutation(150)
    X, y = data.X[order], data.y[order]
    y_test = y[100:][::-1] if shuffle_y else y[100:]
    return replace(data, X=X[:100], y=y[:100], X_test=change_X * X[100:], y_test=y_test)


def test_no_choice_depends_on_the_test_part(monkeypatch):
    monkeypatch.setattr(comparison, "METHODS", (method("ordinary"), method("SVM")))
    found = []
    for data in (customary(), customary(change_X=3.0), customary(shuffle_y=True)):
        monkeypatch.setattr(comparison.datasets, "load", lambda name, data=data: data)
        found.append(comparison.compare.compute(TINY))
    for other in found[1:]:
        pd.testing.assert_frame_equal(found[0]["errors"][CHOICE], other["errors"][CHOICE])
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
    data = customary()
    ((repetition, fold, train, test),) = comparison.splits(data, 5)
    assert (repetition, fold) == (0, 0) and train[0] is data.X and test[1] is data.y_test


def test_the_fewest_validation_errors_win_and_of_several_the_steadiest():
    rows = [("final", 1.0, 3), ("average", 1.0, 4), ("final", 0.5, 3), ("average", 0.5, 3), ("voted", 0.5, 3)]
    table = pd.DataFrame(rows, columns=["predictor", "width", "validation_errors"])
    best = comparison.best_candidates(table)
    assert best[["predictor", "width"]].to_numpy().tolist() == [["average", 0.5], ["voted", 0.5], ["final", 1.0]]
    assert best["chosen"].tolist() == [True, False, False]


def test_more_epochs_come_first_and_an_early_stop_counts_for_all_later_ones():
    X, y = datasets.load("iris-bundled").X[:100], datasets.load("iris-bundled").y[:100]  # two classes, separable
    candidate, form = Candidate(method="ordinary", kernel="rbf", width=1.0), method("ordinary")
    model = form.estimator(candidate, X, max_iter=60, random_state=0).fit(X, y)
    assert model.n_iter_ < 50
    found = list(comparison.predictions(form, model, candidate, X, replace(TINY, epochs=(1, 50, 60))))
    assert [each.epoch for each, _ in found[:3]] == [60, 50, 1]
    assert found[0][1].tolist() == found[1][1].tolist() == model.predict(X, predictor="final").tolist()


def test_tables_have_a_row_for_every_method_predictor_and_half(tiny):
    errors = tiny["errors"]
    assert len(errors) == 2 * 2 * (4 * 4 + 4) and tuple(errors["method"].unique()) == NAMES
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
    total, n = 0, 0
    for repetition, _, train, _ in comparison.splits(datasets.load("iris-bundled"), 2):
        rows = comparison.validate(method("Xu-Zhang"), *train, TINY, repetition)
        part = rows[(rows["width"] == 0.25) & (rows["predictor"] == "voted")]
        assert part["epoch"].tolist() == [3, 1]
        total, n = total + part["validation_errors"].min(), n + part["validation_n"].iloc[0]
    row = tiny["validation"].query("method == 'Xu-Zhang' and width == 0.25 and predictor == 'voted'").iloc[0]
    assert (row["validation_errors"], row["validation_n"]) == (total, n)


def test_only_the_chosen_xu_zhang_predictor_is_trained_where_the_square_is_too_large():
    data, form = datasets.load("iris-bundled"), method("Xu-Zhang")
    train, test = (data.X[::2], data.y[::2]), (data.X[1::2], data.y[1::2])
    small = replace(TINY, dense=16 * 75**2 - 1)
    assert form.is_complete(75, TINY) and form.is_complete(74, small) and not form.is_complete(75, small)
    rows, _, labels = comparison.run_method(form, train, test, small, 0)
    whole, _, _ = comparison.run_method(form, train, test, TINY, 0)
    assert len(rows) == 1 and rows[0]["chosen"] and rows[0]["predictor"] != "minimizing" and len(whole) == 4
    (same,) = (row for row in whole if row["predictor"] == rows[0]["predictor"])
    for name in ("width", "epoch", "support", "kernel_values", "errors"):
        assert rows[0][name] == same[name]
    assert np.count_nonzero(labels != test[1]) == same["errors"]


def test_a_method_is_one_entry_with_a_colour_and_a_marker():
    assert KERNEL_PERCEPTRONS == ("one-vs-all", "ordinary", "Xu-Zhang") and PERCEPTRONS == (*KERNEL_PERCEPTRONS, "linear")
    assert NAMES == PERCEPTRONS + REFERENCES and len(set(NAMES)) == len(METHODS) == 8
    assert set(NAMES) <= set(style.METHOD_COLOURS) and set(NAMES) <= set(style.METHOD_MARKERS)
    assert figures.PERCEPTRONS == PERCEPTRONS
    for each in METHODS:
        assert {candidate.method for candidate in each.candidates(TINY)} == {each.name}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("one-vs-all", 8 + 3),
        ("Xu-Zhang", 8 + 3),
        ("linear", 1),
        ("SVM", 4 * 2),
        ("kernel ridge", 4),
        ("nearest neighbours", 2),
    ],
)
def test_candidates_are_every_kernel_with_every_other_value(name, expected):
    widths = tuple(2.0**-i for i in range(8))
    found = method(name).candidates(replace(TINY, widths=widths, degrees=(1, 2, 3), reference_step=2))
    assert len(found) == len(set(found)) == expected
    tried = [candidate.width for candidate in found if candidate.kernel == "rbf"]
    assert tried == sorted(tried, reverse=True) and set(tried) <= set(widths)


def examples_with_a_coefficient(name, model):
    """How many examples the scores of a fitted model on 150 examples are sums over."""
    if name == "one-vs-all":
        return np.count_nonzero(np.any([np.bincount(log.example, minlength=150) for log in model.mistakes_], axis=0))
    return np.count_nonzero(model.dual_coef_.any(axis=0))


@pytest.mark.parametrize("name", KERNEL_PERCEPTRONS)
def test_costs_count_the_examples_with_a_coefficient(name):
    data, form = datasets.load("iris-bundled"), method(name)
    base = form.candidates(TINY)[0]
    model = form.estimator(base, data.X, max_iter=3, random_state=0).fit(data.X, data.y)
    support, kernel_values = form.costs(model, replace(base, predictor="final", epoch=3.0), 150)
    assert kernel_values == examples_with_a_coefficient(name, model) == (150 if name == "Xu-Zhang" else support)
    assert 0 < support == len(model.support_) < 150


@pytest.mark.parametrize(("name", "expected"), [("linear", 0), ("scikit-learn perceptron", 0), ("nearest neighbours", 150)])
def test_costs_of_methods_without_support_vectors(name, expected):
    assert method(name).costs(None, None, 150) == (expected, expected)


def test_the_minimizing_predictor_needs_the_examples_up_to_its_own_mistake():
    data, form = datasets.load("iris-bundled"), method("ordinary")
    base = form.candidates(TINY)[0]
    model = form.estimator(base, data.X, max_iter=3, random_state=0).fit(data.X, data.y)
    log = model.mistakes_
    support, _ = form.costs(model, replace(base, predictor="minimizing", epoch=3.0), 150)
    assert support == len(set(log.example[: log.minimizing_length()].tolist())) < len(model.support_)


def test_ridge_on_labels_solves_the_ridge_equations():
    data = datasets.load("wine-bundled")
    X = (data.X - data.X.min(0)) / np.ptp(data.X, axis=0)
    model = methods.RidgeOnLabels(0.1, 2.0).fit(X, data.y)
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


@pytest.fixture
def by_method():
    """Error rates of three methods on four sets: "ordinary" is best on all but one."""
    rows = {"linear": [0.4, 0.3, 0.2, 0.4], "ordinary": [0.1, 0.3, 0.1, 0.2], "SVM": [0.2, 0.2, 0.15, 0.2]}
    return pd.DataFrame(rows, index=pd.Index(list("abcd"), name="dataset"))


def test_friedmans_statistic_is_that_of_the_ranks(by_method):
    ranks = np.array([rankdata(row) for row in by_method.to_numpy()])
    assert np.array_equal(tables.ranks(by_method).to_numpy(), ranks)
    N, k = ranks.shape
    # Demsar 2006, section 3.2.2, divided by the correction for ties.
    ties = sum(count**3 - count for row in by_method.to_numpy() for count in np.unique(row, return_counts=True)[1])
    plain = 12 * N / (k * (k + 1)) * (np.sum(ranks.mean(0) ** 2) - k * (k + 1) ** 2 / 4)
    statistic = plain / (1 - ties / (N * (k**3 - k)))
    assert tables.friedman(by_method) == pytest.approx((statistic, chi2.sf(statistic, k - 1)))


def test_signed_ranks_have_the_exact_p_of_all_signs(by_method):
    differences = np.array([0.31, 0.02, -0.03, 0.2])
    table = pd.DataFrame({"a": 0.5 + differences, "b": 0.5})
    ranks = rankdata(np.abs(differences))
    observed = ranks[differences > 0].sum()
    sums = [sum(r for r, sign in zip(ranks, signs, strict=True) if sign) for signs in np.ndindex(2, 2, 2, 2)]
    tail = min(np.mean(np.array(sums) >= observed), np.mean(np.array(sums) <= observed))
    assert tables.signed_ranks(table, "a", "b") == pytest.approx(min(1, 2 * tail))
    assert tables.signed_ranks(table, "a", "a") == 1


def test_mean_ratio_is_geometric_and_skips_sets_without_errors(by_method):
    table = pd.concat([by_method, pd.DataFrame({"linear": [0.0], "ordinary": [0.5], "SVM": [0.1]})])
    assert tables.mean_ratio(table, "linear", "ordinary") == pytest.approx((4 * 1 * 2 * 2) ** 0.25)


def test_mean_ranks_and_the_sets_on_which_a_method_is_best(by_method):
    long = by_method.reset_index().melt(id_vars="dataset", var_name="method", value_name="error")
    found = pd.DataFrame([("linear", 2.875, 0), ("ordinary", 1.5, 3), ("SVM", 1.625, 2)]).sort_values(1)
    ranks = tables.mean_ranks(long, tuple(by_method))
    assert ranks.to_numpy().tolist() == found.to_numpy().tolist()
    assert tables.largest_gap(ranks, ("ordinary", "SVM")) == 0.125


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


@pytest.fixture
def paired():
    """Paired comparisons on two sets: the ordinary form beats one-vs-all surely on one of them, and loses to Xu-Zhang's."""
    rows = [
        ("a", 0, "one-vs-all", "ordinary", 30, 2, 100), ("b", 0, "one-vs-all", "ordinary", 1, 2, 100),
        ("a", 0, "ordinary", "Xu-Zhang", 20, 1, 100), ("b", 0, "ordinary", "Xu-Zhang", 0, 0, 100),
        ("a", 0, "ordinary", "linear", 0, 12, 100), ("b", 0, "ordinary", "linear", 12, 0, 100),
        ("a", 1, "ordinary", "linear", 99, 0, 100),
    ]  # fmt: skip
    columns = ["dataset", "repetition", "first", "second", "only_first", "only_second", "n"]
    return tables.paired(pd.DataFrame(rows, columns=columns))


def test_sure_differences_are_counted_for_the_form_that_errs_less(paired):
    assert len(paired) == 6 and paired["difference"].tolist() == [0.28, -0.01, 0.19, 0, -0.12, 0.12]
    found = tables.verdicts(paired).set_index(["first", "second"])
    assert found.loc[("one-vs-all", "ordinary")].tolist() == [1, 0, 1, 1]
    assert found.loc[("ordinary", "Xu-Zhang")].tolist() == [0, 0, 1, 1]
    assert tables.against_others(paired, "ordinary").to_numpy().tolist() == [["one-vs-all", 1, 0], ["Xu-Zhang", 0, 1]]


def test_the_gain_of_kernels_is_the_best_form_beside_the_linear_one(paired):
    table = pd.DataFrame({"one-vs-all": [0.3, 0.2], "ordinary": [0.1, 0.3], "Xu-Zhang": [0.2, 0.4], "linear": [0.5, 0.3]})
    found = tables.gain_of_kernels(table.set_index(pd.Index(["a", "b"])), paired)
    assert found == {"n": 2, "better": 1, "sure": 1, "worse": 1, "name": "a", "linear": 0.5, "least": 0.1}


@pytest.fixture
def predictors():
    """Errors of each predictor of the ordinary form on three sets, 100 test examples each."""
    errors = {"final": (20, 10, 0), "average": (10, 20, 1), "minimizing": (20, 10, 2), "voted": (5, 40, 3)}
    rows = [("abc"[i], name, p, 0, 0, e, 100) for name in PERCEPTRONS for p, es in errors.items() for i, e in enumerate(es)]
    return pd.DataFrame(rows, columns=["dataset", "method", "predictor", "repetition", "fold", "errors", "n"])


def test_predictors_are_compared_with_the_final_one(predictors):
    ratios = tables.predictor_ratios(predictors)
    part = ratios[ratios["method"] == "ordinary"].set_index(["predictor", "dataset"])["ratio"]
    assert part["average"].tolist()[:2] == [0.5, 2.0] and part["average"].isna().tolist() == [False, False, True]
    counted = tables.against_final(ratios)
    assert counted["predictor"].tolist() == ["average", "minimizing", "voted"] and list(counted)[1:] == list(PERCEPTRONS)
    assert counted["ordinary"].tolist() == ["1 / 1", "0 / 0", "1 / 1"]
    means = tables.mean_predictor_ratios(ratios).set_index("predictor")["linear"]
    assert means.to_dict() == pytest.approx({"average": 1.0, "minimizing": 1.0, "voted": 1.0})


def test_choices_count_the_chosen_predictors(predictors):
    chosen = predictors.assign(chosen=predictors["predictor"].eq("voted") & predictors["dataset"].ne("c"))
    found = tables.choices(chosen).set_index("method")
    assert (found["voted"] == 2).all() and (found.drop(columns="voted") == 0).all(axis=None)
    assert found.index.tolist() == list(PERCEPTRONS)


def test_costs_are_shares_of_the_training_examples(tiny):
    errors = tiny["errors"]
    found = tables.costs(errors).set_index("method")
    assert (found.loc[["Xu-Zhang", "kernel ridge", "nearest neighbours"], "kernel_values"] == 1).all()
    assert (found.loc[["linear", "scikit-learn perceptron"], "kernel_values"] == 0).all()
    support = tables.support_vectors(errors)
    literal = np.mean([row.support for row in errors.itertuples() if row.chosen and row.method == "SVM"])
    assert support.loc[0, "SVM"] == literal and support.loc[0, "examples"] == 75
    times = tiny["times"].assign(seconds=np.arange(len(errors), dtype=float))
    literal = np.mean([i for i, row in enumerate(errors.itertuples()) if row.chosen and row.method == "linear"])
    found = tables.seconds(errors, times)
    assert found["method"].tolist() == list(NAMES) and found.set_index("method").loc["linear", "iris-bundled"] == literal


def test_widths_are_judged_by_their_best_predictor():
    columns = ["dataset", "method", "kernel", "width", "predictor", "validation_errors", "validation_n"]
    rows = [("s", m, "rbf", w, p, e + 2 * i, 50) for i, m in enumerate(KERNEL_PERCEPTRONS)
            for w, p, e in ((1.0, "final", 9), (1.0, "average", 5), (0.25, "final", 4), (0.25, "average", 8))]  # fmt: skip
    rows += [("s", "SVM", "rbf", 1.0, "-", 0, 50), ("s", "ordinary", "poly", np.nan, "final", 0, 50)]
    validation = pd.DataFrame(rows, columns=columns)
    curves = tables.width_curves(validation)
    part = curves[curves["method"] == "ordinary"]
    assert part[["width", "error"]].to_numpy().tolist() == [[1.0, 7 / 50], [0.25, 6 / 50]]
    narrow = tables.at_narrowest_width(validation)
    assert narrow.loc["ordinary"].to_dict() == {"final": 6 / 50, "average": 10 / 50}


def test_best_widths_take_the_widest_of_several():
    rows = [("s", "ordinary", w, e) for w, e in ((1.0, 0.2), (0.5, 0.1), (0.25, 0.1))]
    rows += [("s", m, 0.25, 0.1) for m in ("one-vs-all", "Xu-Zhang")]
    widths = tables.best_widths(pd.DataFrame(rows, columns=["dataset", "method", "width", "error"]))
    assert widths.loc[0, "ordinary"] == 0.5 and tables.width_shift(widths, "Xu-Zhang", "ordinary") == pytest.approx(0.5)


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 10_000), st.floats(0.2, 2.0))
def test_the_squared_kernel_is_a_wider_one_times_the_density_at_the_midpoint(seed, width):
    X = np.random.RandomState(seed).rand(9, 3)
    data = replace(datasets.load("iris-bundled"), X=X)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(squared.datasets, "load", lambda name: data)
        found = squared.squared_kernel("any", width)
    X = (X - X.min(0)) / np.ptp(X, axis=0)
    distances = [math.dist(a, b) for a, b in combinations(X, 2)]
    sigma = width * np.median(distances)
    pairs = [(i, j) for i in range(9) for j in range(i, 9)]
    for row, (i, j) in zip(found.itertuples(), pairs, strict=True):
        density = np.mean([math.exp(-(math.dist(m, (X[i] + X[j]) / 2) ** 2) / sigma**2) for m in X])
        assert row.squared == pytest.approx(row.wider * density, rel=1e-9)
        literal = np.mean([math.exp(-(math.dist(X[i], m) ** 2 + math.dist(m, X[j]) ** 2) / (2 * sigma**2)) for m in X])
        assert row.squared == pytest.approx(literal, rel=1e-9) and row.same == (i == j)


def test_a_plain_kernel_would_have_equal_self_values():
    square = squared.squared_kernel("iris-bundled", 0.5)
    assert squared.density_ratio(square) > 1
    assert squared.density_ratio(square.assign(squared=square["kernel"])) == pytest.approx(1)


def points(axis, *, marker):
    """The points (x, y) that are drawn with this marker, in the order of drawing."""
    return [xy for line in axis.get_lines() if line.get_marker() == marker for xy in line.get_xydata().tolist()]


def test_figures_of_errors_and_ranks_draw_each_method_at_its_value(tiny, recwarn):
    chosen = tables.chosen_rates(tiny["errors"])
    (axis,) = figures.figure_errors(chosen).axes
    drawn = {line.get_label(): line.get_xdata()[0] for line in axis.get_lines() if line.get_label() in NAMES}
    assert drawn == pytest.approx({row.method: 100 * row.error for row in chosen.itertuples()})
    ranks = tables.mean_ranks(chosen)
    (axis,) = figures.figure_ranks(ranks, [(0, 2)], 3.0).axes
    drawn = [point for name in ranks["method"] for point in points(axis, marker=style.METHOD_MARKERS[name])]
    assert drawn == [[rank, 0] for rank in ranks["mean rank"]]
    assert [text.get_text() for text in axis.texts][:1] == [f"{ranks['method'][0]}  {ranks['mean rank'][0]:.2f}"]
    assert not recwarn.list


def test_the_figure_of_pairs_fills_what_is_sure():
    rows = [("s", 0, *pair, 20, 2, 100) for pair in combinations(PERCEPTRONS, 2)]
    rows += [("t", 0, *pair, 2, 2, 100) for pair in combinations(PERCEPTRONS, 2)]
    columns = ["dataset", "repetition", "first", "second", "only_first", "only_second", "n"]
    figure = figures.figure_pairs(tables.paired(pd.DataFrame(rows, columns=columns)))
    assert [axis.get_title() for axis in figure.axes][:2] == ["one-vs-all less ordinary", "one-vs-all less Xu-Zhang"]
    for axis in figure.axes:
        sure, unsure = (line for line in axis.get_lines() if line.get_marker() == "o")
        assert sure.get_xydata().tolist() == [[18, 0]] and unsure.get_xydata().tolist() == [[0, 1]]
        assert unsure.get_markerfacecolor() == "white"


def test_the_figure_of_costs_leaves_out_methods_without_kernel(tiny):
    chosen = tables.chosen_rates(tiny["errors"])
    (axis,) = figures.figure_costs(tables.costs(tiny["errors"]), chosen).axes
    labels = [line.get_label() for line in axis.get_lines() if not line.get_label().startswith("_")]
    assert labels == [*KERNEL_PERCEPTRONS, "SVM", "kernel ridge", "nearest neighbours"]
    x = {line.get_label(): line.get_xdata()[0] for line in axis.get_lines()}
    assert x["Xu-Zhang"] == 100 and x["kernel ridge"] == 103


def test_figures_of_predictors_and_widths_draw_the_tables(predictors):
    figure = figures.figure_predictors(tables.predictor_ratios(predictors))
    assert [axis.get_title() for axis in figure.axes] == list(PERCEPTRONS)
    drawn = points(figure.axes[0], marker=style.PREDICTOR_MARKERS["average"])
    assert drawn[:2] == [[0.5, -0.22], [2.0, 0.78]] and np.isnan(drawn[2][0])
    rows = [("s", m, w, e) for m in KERNEL_PERCEPTRONS for w, e in ((1.0, 0.2), (0.5, 0.1), (0.25, 0.1))]
    (axis,) = figures.figure_widths(pd.DataFrame(rows, columns=["dataset", "method", "width", "error"])).axes
    assert points(axis, marker="s") == [[0.25, 10], [0.5, 10], [1.0, 20]]
    rings = [line for line in axis.get_lines() if line.get_markersize() == 8]
    assert [ring.get_xydata().tolist() for ring in rings] == [[[0.5, 10]]] * 3


def test_the_figure_of_the_square_draws_all_self_values():
    square = squared.squared_kernel("iris-bundled", 0.5)
    left, right = figures.figure_squared_kernel(square).axes
    assert sum(bar.get_height() for bar in right.patches) == square["same"].sum() == 150
    assert left.get_xlabel() == "distance (medians)" and right.get_ylabel() == "training examples"


@pytest.mark.parametrize("names", ["mnist", "iris digits", ""])
def test_settings_say_which_sets_there_are(names):
    with pytest.raises(ValueError, match="datasets must be among optdigits"):
        comparison.settings_of(names)
    assert [each.dataset for each in comparison.settings_of("wine iris")] == ["wine", "iris"]


def test_the_stored_tables_are_whole():
    errors = comparison.compare(comparison.FULL)["errors"]
    assert tuple(errors["dataset"].unique()) == comparison.DATASETS
    chosen = errors[errors["chosen"]]
    assert (chosen.groupby(["dataset", "repetition", "method"])["n"].sum().unstack("method").nunique(axis=1) == 1).all()
    assert (chosen.groupby("dataset")["method"].nunique() == len(NAMES)).all()
