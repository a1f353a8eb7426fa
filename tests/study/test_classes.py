"""The chapter on Xu & Zhang 2005: what its tables claim holds by the definitions, and its figures draw their tables."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, reject, settings
from hypothesis import strategies as st

from kp import MulticlassKernelPerceptron, MulticlassPerceptron, kernels
from kp.joint import squared
from study import datasets, statistics
from study.classes import figures, plane, tables
from study.protocols.margins import kesler_margins, separable_bound
from study.protocols.plane import lattice

FIVE = plane.Problem(dataset="five-classes", kernel="linear", max_iter=1000)


def problem(seed, n):
    """Small integer examples (n, 2) and the index of one of three classes for each, every class there."""
    random = np.random.RandomState(seed)
    return random.randint(-3, 4, size=(n, 2)), random.permutation(np.arange(n) % 3)


# What can be learnt, and in how many mistakes.


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(4, 8))
def test_the_algorithm_stops_where_the_span_separates_and_nowhere_else(seed, n):
    X, y = problem(seed, n)
    model = MulticlassPerceptron(max_iter=2000, count_errors=False, random_state=0, n_jobs=1).fit(X, y)
    assert plane.separable((X @ X.T).astype(float), y) == model.converged_


def test_opposite_points_are_beyond_the_homogeneous_kernel_of_degree_2_but_not_beyond_lines():
    X = np.array([[1.0, 2.0], [-1.0, -2.0], [0.0, 1.0]])
    y = np.array([0, 1, 1])
    quadratic = kernels.polynomial(2, coef0=0.0)(X, X)
    linear = kernels.linear()(X, X)
    assert plane.rank(linear)[0] == 2 and plane.separable(linear, y)
    assert plane.rank(quadratic)[0] == 2 and not plane.separable(quadratic, y)


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(["winner", "first"]), st.booleans())
def test_no_order_makes_more_mistakes_than_the_bound(seed, demote, square):
    X, y = problem(seed, 6)
    K = (X @ X.T).astype(float)
    assume(plane.separable(K, y))
    G = (squared(K) if square else K) + 1
    try:
        bound = separable_bound(kesler_margins(G, y), np.sqrt(2 * G.diagonal().max()))
    except ValueError:
        reject()  # separable, but by a margin that is lost in rounding
    update = "xu-zhang" if square else "ordinary"
    options = {"update": update, "demote": demote, "count_errors": False, "max_iter": 20000, "n_jobs": 1}
    for order in range(2):
        model = MulticlassKernelPerceptron("linear", random_state=order, **options).fit(X, y)
        assert model.converged_ and model.mistakes_[0].n_mistakes() <= bound


@pytest.fixture(scope="module")
def counted():
    """Rows of the five classes, and of the same with a single epoch."""
    part = plane.Orders(dataset="five-classes", kernel="linear", max_iter=1000, n_orders=3)
    return part, plane.orders(part)


def test_mistakes_are_counted_for_both_updates(counted):
    part, found = counted
    X, y = part.examples()
    for row, update in zip(tables.with_orders(**found).itertuples(), ("ordinary", "xu-zhang"), strict=True):
        logs = [part.estimator(update=update, random_state=seed).fit(X, y).mistakes_[0] for seed in range(3)]
        numbers = [log.n_mistakes() for log in logs]
        assert [row.fewest, row.median, row.most] == sorted(numbers) and row.most <= row.bound
        assert found["orders"].query("update == @row.update")["mistakes"].tolist() == numbers


def test_demoting_all_rivals_in_a_fixed_order_can_go_round_for_ever():
    x = np.array([[1], [-3], [-1], [0], [2]])
    y = np.arange(5)
    table = plane.cycles(x, y).set_index("demoted")
    assert table["ends"].to_dict() == {"winner": "stops", "first": "stops", "all": "repeats"}
    first, period = table.loc["all", ["epochs", "period"]]
    options = {"shuffle": False, "max_iter": 100, "n_jobs": 1}
    (log,) = MulticlassPerceptron(demote="all", **options).fit(x, y).mistakes_
    rows = np.column_stack([log.step // 5, log.example, log.promoted, log.demoted])
    made = [rows[rows[:, 0] == epoch, 1:].tolist() for epoch in range(100)]
    assert all(made[epoch] == made[epoch + period] != [] for epoch in range(first, 100 - period))
    assert MulticlassPerceptron(**options).fit(x, y).n_iter_ == table.loc["winner", "epochs"]


# Orders, and what the source says.


def counted_orders(ratio):
    """Rows of plane.orders at two widths; at the first Xu and Zhang's mistakes are `ratio` of the ordinary ones."""
    rows = [
        (sigma, update, order, ordinary * (1 if update == "ordinary" else factor * (1 + 0.01 * order)))
        for sigma, factor in ((0.5, ratio), (1.0, 3.0))
        for order, ordinary in enumerate((100, 110, 90, 105))
        for update in ("ordinary", "Xu-Zhang")
    ]
    table = pd.DataFrame(rows, columns=["sigma", "update", "order", "mistakes"])
    return table.assign(dataset="a", kernel="rbf", factor=1.0, converged=True)


def test_counts_that_contradict_the_bounds_are_called_opposite():
    ratios = tables.mistake_ratios(counted_orders(0.5), "sigma")
    assert np.exp(ratios[0.5].estimate) == pytest.approx(0.5 * np.exp(np.log([1, 1.01, 1.02, 1.03]).mean()))
    assert all(each.adjusted == "Holm over 2" and each.p < 0.01 for each in ratios.values())
    bounds = pd.DataFrame({"sigma": [0.5, 0.5, 1.0, 1.0], "update": ["ordinary", "Xu-Zhang"] * 2, "bound": [10, 20, 10, 90]})
    table = tables.bounds_and_counts(bounds, ratios, "sigma")
    assert table["says"].tolist() == ["opposite", "agree"] and table["bounds"].tolist() == [2, 9]
    level = tables.bounds_and_counts(bounds, tables.mistake_ratios(counted_orders(0.985), "sigma"), "sigma")
    assert level["says"].tolist() == ["open", "agree"]


def test_orders_replace_the_counts_of_the_table_of_bounds():
    runs = counted_orders(0.5)
    runs.loc[runs["sigma"] == 1.0, "converged"] = False
    counts = ["fewest", "median", "most"]
    bounds = runs[runs["order"] == 0].drop(columns=["order", "mistakes", "converged"])
    new = tables.with_orders(bounds, runs).set_index("sigma")[counts]
    assert new.iloc[0].tolist() == [90, 102.5, 110] and new.loc[1.0].isna().all(axis=None)
    assert list(tables.mistake_ratios(runs, "sigma")) == [0.5]


def test_both_sets_are_compared_by_what_varies_in_them():
    spirals = counted_orders(0.5)
    runs = pd.concat([spirals, spirals.assign(kernel="poly", factor=spirals["sigma"], sigma=1.0)], ignore_index=True)
    bounds = runs[runs["order"] == 0].assign(bound=lambda rows: np.where(rows["update"] == "Xu-Zhang", 20, 10))
    found = tables.updates_compared(bounds, runs)
    assert found["of"].tolist() == ["width", "width", "factor", "factor"]
    assert found["value"].tolist() == [0.5, 1.0] * 2 and found["says"].tolist() == ["opposite", "agree"] * 2


# The figures.


def test_regions_are_the_classes_of_the_highest_scores():
    data = datasets.load("blobs2d")
    points, box = lattice(data.X, resolution=25)
    F = np.random.RandomState(0).normal(size=(len(points), len(data.classes)))
    case = {"title": "", "X": data.X, "y": data.y, "F": F, "box": box}
    moved = {**case, "F": -F, "box": tuple(end + 5 for end in box)}
    figure = figures.figure_cases([case, moved], columns=2)
    for axis, own in zip(figure.axes, (case, moved), strict=True):
        assert np.array_equal(axis.images[0].get_array().ravel(), own["F"].argmax(axis=1))
        assert tuple(axis.images[0].get_extent()) == own["box"]


def test_boundaries_are_where_the_two_highest_scores_are_equal():
    points, box = lattice(np.array([[0.0, 0.0], [1.0, 1.0]]), margin=0.0, resolution=11)
    x = points[:, 0]
    F = np.column_stack([0.0 * x, x - 0.33, 2 * x - 1.0])
    case = {"title": "", "X": np.array([[0.1, 0.5], [0.5, 0.5], [0.9, 0.5]]), "y": np.arange(3), "F": F, "box": box}
    parts = [part for part in figures.figure_cases([case], columns=1).axes[0].collections if hasattr(part, "levels")]
    drawn = [line.vertices for part in parts for line in part.get_paths()]
    across = sorted(np.unique(np.concatenate(drawn)[:, 0].round(6)))
    assert across == pytest.approx([0.33, 0.67], abs=0.02)


def test_mistakes_are_drawn_below_their_bounds(counted):
    both = tables.with_orders(**counted[1]).iloc[[0, 0, 1, 1]].assign(value=[1.0, 1.5] * 2)
    table = both.iloc[2:]
    axis = figures.figure_mistakes({"left": both, "right": both}).axes[1]
    assert axis.lines[4].get_ydata().tolist() == table["bound"].tolist()
    median, _, (bars,) = axis.containers[1]
    assert median.get_ydata().tolist() == table["median"].tolist()
    ends = [segment[:, 1].tolist() for segment in bars.get_segments()]
    np.testing.assert_allclose(ends, table[["fewest", "most"]].to_numpy())


def test_strips_mark_where_counts_contradict_bounds():
    rows = [(1.0, "ordinary", 10, 5), (1.0, "Xu-Zhang", 20, 4), (4.0, "ordinary", 10, 5), (4.0, "Xu-Zhang", 20, 9)]
    table = pd.DataFrame(rows, columns=["value", "update", "bound", "median"])
    assert figures._opposite(table) == [pytest.approx((0.5, 2.0))]
    assert figures._opposite(table.assign(median=[5, 6, 5, 9])) == []


def test_marks_of_equal_errors_on_a_set_do_not_hide_each_other():
    svm, methods = ("SVM", "-"), [("one-vs-all", "off"), ("Xu-Zhang", "off")]
    table = pd.DataFrame([[0.1, 0.2, 0.2]], index=["seeds"], columns=pd.MultiIndex.from_tuples([svm, *methods]))
    over_sets = dict.fromkeys(methods, statistics.student(pd.Series([0.1, 0.1, 0.2]), varies="sets"))
    _, first, _, second, *_ = figures.figure_against_svm(table, over_sets, methods).axes[0].lines
    assert first.get_xdata() == second.get_xdata() == pytest.approx([10])
    assert first.get_ydata() < 0 < second.get_ydata()
