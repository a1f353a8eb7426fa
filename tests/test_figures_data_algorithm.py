"""Figures of the first two chapters draw the numbers of their tables; the sums behind them are the definitions."""

import matplotlib
import numpy as np
import oracles
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.figure import Figure

from kp import kernels, literal
from kp.mistakes import PREDICTORS, MistakeLog
from kp.output_codes import OneVsAllKernelPerceptron
from study import datasets
from study.algorithm import experiment as toy
from study.algorithm import figures as figures_algorithm
from study.data import experiment as neighbours
from study.data import figures as figures_data

matplotlib.use("agg")


def assert_labelled(figure):
    """Every visible panel is an image without ticks, or has a label on the axes that show one."""
    assert isinstance(figure, Figure)
    for axis in figure.axes:
        pictures = axis.images and not len(axis.get_xticks())
        shared = axis.get_shared_x_axes().get_siblings(axis), axis.get_shared_y_axes().get_siblings(axis)
        if axis.axison and not pictures and axis.get_label() != "<colorbar>":
            assert any(other.get_xlabel() for other in shared[0]), axis
            assert any(other.get_ylabel() for other in shared[1]), axis
    figure.canvas.draw()


@pytest.fixture(scope="module")
def digits():
    return datasets.load("digits")


@pytest.fixture(scope="module")
def run():
    """A small run on the moons: (X, z, log, history on X)."""
    X, y = datasets.moons(30, spread=0.3, random_state=1)
    log = OneVsAllKernelPerceptron(degree=2, max_iter=4, random_state=2).fit(X, y).mistakes_[0]
    return X, 2 * y - 1, log, toy.history(log, kernels.polynomial(2), X, X)


# Data.


def test_one_of_each_shows_the_first_image_of_each_class(digits):
    figure = figures_data.figure_one_of_each(digits.X, digits.y)
    assert_labelled(figure)
    for label, axis in enumerate(figure.axes):
        expected = next(x for x, y in zip(digits.X, digits.y, strict=True) if y == label)
        assert axis.get_title() == f"label {label}"
        assert np.array_equal(axis.images[0].get_array().ravel(), expected)


def test_grid_has_a_row_of_images_for_each_class(digits):
    figure = figures_data.figure_grid(digits.X, digits.y, per_class=4)
    assert_labelled(figure)
    assert len(figure.axes) == 40 and [axis.get_ylabel() for axis in figure.axes[::4]] == list(map(str, range(10)))
    expected = digits.X[digits.y == 3][2]
    assert np.array_equal(figure.axes[3 * 4 + 2].images[0].get_array().ravel(), expected)


def test_bars_are_the_counts_and_the_line_is_their_mean():
    table = pd.DataFrame({"split": ["training"] * 3 + ["test"] * 3, "label": [0, 1, 2] * 2, "images": [5, 3, 4, 2, 3, 1]})
    figure = figures_data.figure_counts(table)
    assert_labelled(figure)
    for axis, heights in zip(figure.axes, ([5, 3, 4], [2, 3, 1]), strict=True):
        assert [bar.get_height() for bar in axis.patches] == heights
        assert list(axis.lines[0].get_ydata()) == [np.mean(heights)] * 2


def test_mean_images_are_drawn_under_their_labels():
    means = np.arange(16.0).reshape(4, 4)
    figure = figures_data.figure_means(means, [3, 5, 7, 9])
    assert_labelled(figure)
    assert [axis.get_title() for axis in figure.axes] == [f"mean of {label}" for label in (3, 5, 7, 9)]
    assert all(np.array_equal(axis.images[0].get_array().ravel(), m) for axis, m in zip(figure.axes, means, strict=True))


def test_bars_of_pixel_values_are_those_of_the_table():
    figure = figures_data.figure_pixel_values(pd.DataFrame({"value": [0, 1, 2], "pixels": [100, 1, 10]}))
    assert_labelled(figure)
    assert [bar.get_height() for bar in figure.axes[0].patches] == [100, 1, 10]


def test_ink_is_drawn_as_median_with_the_middle_half():
    table = pd.DataFrame({"label": [0, 1], "low": [0.1, 0.2], "median": [0.15, 0.3], "high": [0.4, 0.5]})
    figure = figures_data.figure_ink(table)
    assert_labelled(figure)
    points, _, (bars,) = figure.axes[0].containers[0]
    assert points.get_ydata().tolist() == [0.15, 0.3]
    assert np.allclose([segment[:, 1] for segment in bars.get_segments()], [[0.1, 0.4], [0.2, 0.5]])


def test_usage_marks_exactly_the_pixels_without_ink():
    share = np.array([0.0, 0.25, 0.5, 0.0, 1.0, 0.1, 0.0, 0.2, 0.3])
    figure = figures_data.figure_usage(share)
    assert_labelled(figure)
    drawn, never = figure.axes[0].images
    assert drawn.get_array().ravel().tolist() == share.tolist()
    assert (~np.ma.getmaskarray(never.get_array())).ravel().tolist() == (share == 0).tolist()


def test_histogram_of_norms_counts_every_image_on_its_side_of_the_limit():
    norms = np.array([1, 2, 2, 3, 50, 1000, 1023, 1025, 4096])
    figure = figures_data.figure_norms(norms, 2**10)
    assert_labelled(figure)
    bars = figure.axes[0].patches
    assert sum(bar.get_height() for bar in bars) == len(norms)
    assert sum(bar.get_height() for bar in bars if bar.get_x() > 1023.5) == 2
    assert figure.axes[0].lines[0].get_xdata()[0] == 2**10


def test_pairs_are_drawn_side_by_side_with_labels_and_distance(digits):
    pairs = neighbours.nearest_pairs(digits.X, digits.y, 3)
    figure = figures_data.figure_pairs(digits.X, pairs, columns=2)
    assert_labelled(figure)
    shown = [axis for axis in figure.axes if axis.images]
    for left, right, pair in zip(shown[::2], shown[1::2], pairs.itertuples(), strict=True):
        assert np.array_equal(left.images[0].get_array().ravel(), digits.X[pair.first])
        assert np.array_equal(right.images[0].get_array().ravel(), digits.X[pair.second])
        assert (left.get_title(), right.get_title()) == (f"label {pair.label_first}", f"label {pair.label_second}")
        assert float(right.get_xlabel()) == pytest.approx(pair.squared_distance**0.5, abs=0.05)


# The algorithm.


def test_predictors_of_the_history_are_those_of_the_stored_vectors():
    generator = np.random.RandomState(3)
    X = generator.randint(-3, 4, size=(25, 2)).astype(float)
    y = generator.randint(2, size=25)
    kernel, z = kernels.polynomial(3), 2 * y - 1
    log = OneVsAllKernelPerceptron(degree=3, max_iter=3, random_state=0).fit(X, y).mistakes_[0]
    points = generator.randint(-3, 4, size=(40, 2)).astype(float)
    (order,) = oracles.orders(len(X), 1, log.n_epochs, 0)
    A = literal.algorithm_1(kernel(X, X), z, order)
    f = [literal.g(alpha, z, kernel(X, points)) for alpha in A]
    expected = {
        "final": f[-1],
        "average": np.mean(f, axis=0),
        "minimizing": literal.g(literal.minimizing(A, kernel(X, X), z), z, kernel(X, points)),
        "voted": np.sum(np.sign(f), axis=0),
    }
    found = toy.predictor_scores(log, toy.history(log, kernel, X, points))
    assert set(found) == set(PREDICTORS)
    for name in PREDICTORS:
        assert np.array_equal(found[name], expected[name]), name


def test_history_has_the_training_errors_of_the_log(run):
    X, z, log, f = run
    assert ((z * f[1:] <= 0).sum(axis=1) == log.errors).all() and not f[0].any()


def test_multiset_holds_the_vector_after_each_step(run):
    X, z, log, _ = run
    (order,) = oracles.orders(len(X), 1, log.n_epochs, 2)
    A = toy.multiset(log, len(X))
    assert np.array_equal(A, literal.algorithm_1(kernels.polynomial(2)(X, X), z, order))
    assert np.array_equal(A.mean(axis=0), log.alpha("average", n=len(X)))


def test_log_table_counts_epochs_from_one():
    columns = {"example": [7, 4, 7], "step": [0, 3, 4], "sign": [1, -1, 1], "errors": [5, 0, 2], "ends": [3, 6]}
    log = MistakeLog(**{name: np.array(column) for name, column in columns.items()})
    table = toy.log_table(log)
    assert table["epoch"].tolist() == [1, 2, 2] and table["mistake"].tolist() == [1, 2, 3]
    assert table["example"].tolist() == [7, 4, 7] and table["step"].tolist() == [0, 3, 4]
    assert table["sign"].tolist() == [1, -1, 1] and table["training_errors"].tolist() == [5, 0, 2]


def test_error_table_counts_a_score_of_zero_as_wrong():
    scores = {"train": dict.fromkeys(PREDICTORS, np.array([1.0, 0.0, -1.0]))}
    table = toy.error_table(scores, {"train": np.array([1, 1, -1])})
    assert table["errors"].tolist() == [1, 1, 1, 1] and table["predictor"].tolist() == list(PREDICTORS)


def test_lattice_covers_the_examples_from_the_bottom_row_by_row():
    points, box = toy.grid(np.array([[0.0, 1.0], [2.0, 5.0]]), margin=0.5, resolution=3)
    assert box == (-0.5, 2.5, 0.5, 5.5)
    assert points[:4].tolist() == [[-0.5, 0.5], [1.0, 0.5], [2.5, 0.5], [-0.5, 3.0]]


@settings(deadline=None, max_examples=25)
@given(seed=st.integers(0, 1000), n=st.integers(4, 40), gap=st.sampled_from([0.1, 0.3, 0.6]), degree=st.integers(1, 4))
def test_no_order_makes_more_mistakes_than_the_bound_allows(seed, n, gap, degree):
    X, z = toy.gapped(n, gap=gap, random_state=seed)
    if len(set(z)) < 2:
        return
    R, gamma = toy.mistake_bound(X, z, degree)
    assert toy.mistakes_by_order(X, z, degree, n_orders=5).max() <= (R / gamma) ** 2


def test_margin_is_the_widest_one_through_the_origin():
    X, z = np.array([[2.0, 0.0], [-2.0, 0.0], [2.0, 5.0], [-2.0, -5.0]]), np.array([1, -1, 1, -1])
    R, gamma = toy.mistake_bound(X, z, 1)
    assert R == pytest.approx(np.sqrt(1 + 29)) and gamma == pytest.approx(2, rel=1e-4)


def test_margin_in_the_plane_is_that_of_a_search_over_all_directions():
    X, z = toy.gapped(15, gap=0.3, random_state=5)
    phi = np.column_stack([np.ones(len(X)), X])
    a, b = np.meshgrid(np.linspace(0, np.pi, 721), np.linspace(0, 2 * np.pi, 1441))
    directions = np.stack([np.cos(a), np.sin(a) * np.cos(b), np.sin(a) * np.sin(b)], axis=-1).reshape(-1, 3)
    searched = (directions @ (z[:, None] * phi).T).min(axis=1).max()
    assert toy.mistake_bound(X, z, 1)[1] == pytest.approx(searched, rel=0.03)
    assert toy.mistake_bound(X, z, 1)[1] >= searched * (1 - 1e-6)


def test_examples_that_are_not_separable_have_no_bound():
    X, z = np.array([[0.0], [1.0], [2.0]]), np.array([1, -1, 1])
    with pytest.raises(ValueError, match="separable at degree 1"):
        toy.mistake_bound(X, z, 1)
    with pytest.raises(ValueError, match="no training error after 5 epochs"):
        toy.mistakes_by_order(X, z, 1, n_orders=1, max_iter=5)


@given(seed=st.integers(0, 100), gap=st.sampled_from([0.0, 0.2, 1.0]))
def test_gapped_examples_keep_off_the_line(seed, gap):
    X, z = toy.gapped(20, gap=gap, random_state=seed)
    distance = (2 * X[:, 0] + X[:, 1] - 0.5) / np.sqrt(5)
    assert X.shape == (20, 2) and np.abs(X).max() <= 1
    assert (z * distance > gap / 2).all()


def test_gap_must_leave_room():
    with pytest.raises(ValueError, match="gap must be in 0..1, got 3"):
        toy.gapped(5, gap=3, random_state=0)


def test_examples_are_drawn_by_sign(run):
    X, z, *_ = run
    figure = figures_algorithm.figure_examples(X, z)
    assert_labelled(figure)
    positive, negative = figure.axes[0].collections
    assert np.array_equal(positive.get_offsets(), X[z == 1]) and np.array_equal(negative.get_offsets(), X[z == -1])


def test_surfaces_mark_the_example_just_mistaken_and_its_predecessors(run):
    X, z, log, _ = run
    lattice, box = toy.grid(X, resolution=20)
    f = toy.history(log, kernels.polynomial(2), X, lattice)
    chosen = [1, 2, 4, len(log)]
    figure = figures_algorithm.figure_surfaces(X, z, log, f, box, chosen)
    assert_labelled(figure)
    for axis, m in zip(figure.axes, chosen, strict=False):
        assert np.array_equal(axis.images[0].get_array().ravel(), f[m] > 0)
        *_, rings, cross = axis.collections
        assert cross.get_offsets().tolist() == [X[log.example[m - 1]].tolist()]
        assert np.array_equal(rings.get_offsets(), X[np.unique(log.example[:m])])
        assert axis.get_title() == f"{m} mistake{'s' if m > 1 else ''}: {log.errors[m - 1]} of {len(X)} wrong"
    assert not any(axis.axison for axis in figure.axes[len(chosen) :])


def test_predictors_are_drawn_with_the_errors_of_the_table(run):
    X, z, log, _ = run
    lattice, box = toy.grid(X, resolution=20)
    scores = toy.predictor_scores(log, toy.history(log, kernels.polynomial(2), X, lattice))
    table = pd.DataFrame(
        {"predictor": np.repeat(PREDICTORS, 2), "split": ["train", "test"] * 4, "errors": range(8), "n": 40}
    )
    figure = figures_algorithm.figure_predictors(X, z, scores, box, table)
    assert_labelled(figure)
    titles = [f"{name}: train {2 * i / 40:.1%}, test {(2 * i + 1) / 40:.1%}" for i, name in enumerate(PREDICTORS)]
    assert [axis.get_title() for axis in figure.axes] == titles
    for axis, name in zip(figure.axes, PREDICTORS, strict=True):
        assert np.array_equal(axis.images[0].get_array().ravel(), scores[name] > 0)


def test_log_is_drawn_mistake_by_mistake(run):
    *_, log, _ = run
    table = toy.log_table(log)
    figure = figures_algorithm.figure_log(table, log.ends, log.minimizing_length())
    assert_labelled(figure)
    above, below = figure.axes
    for part, sign in zip(above.collections, (1, -1), strict=True):
        kept = log.sign == sign
        assert part.get_offsets().tolist() == np.column_stack([log.step, log.example])[kept].tolist()
    line, minimizing, final = below.lines[:3]
    assert line.get_xdata().tolist() == [*log.step + 1, log.steps()]
    assert line.get_ydata().tolist() == [*log.errors, log.errors[-1]]
    assert (
        minimizing.get_ydata()[0] == log.errors.min()
        and minimizing.get_xdata()[0] == log.step[log.minimizing_length() - 1] + 1
    )
    assert final.get_ydata()[0] == log.errors[-1] and final.get_xdata()[0] == log.steps()
    assert [end.get_xdata()[0] for end in above.lines] == log.ends.tolist()


def test_multiset_is_drawn_as_it_is(run):
    X, _, log, _ = run
    A = toy.multiset(log, len(X))
    figure = figures_algorithm.figure_multiset(A)
    assert_labelled(figure)
    assert np.array_equal(figure.axes[0].images[0].get_array(), A)


def test_bounds_are_drawn_above_the_median_and_range_of_the_table():
    sets = {gap: toy.gapped(20, gap=gap, random_state=0) for gap in (0.2, 0.5)}
    by_degree, by_gap = (toy.bound_table({0.2: sets[0.2]}, [1, 2], n_orders=4), toy.bound_table(sets, [1], n_orders=4))
    figure = figures_algorithm.figure_bounds(by_degree, by_gap)
    assert_labelled(figure)
    for axis, table in zip(figure.axes, (by_degree, by_gap), strict=True):
        assert axis.lines[0].get_ydata().tolist() == table["bound"].tolist()
        median, _, (bars,) = axis.containers[0]
        assert median.get_ydata().tolist() == table["median"].tolist()
        ends = [segment[:, 1].tolist() for segment in bars.get_segments()]
        assert ends == table[["fewest", "most"]].to_numpy(dtype=float).tolist()
        assert (table["fewest"] <= table["median"]).all() and (table["most"] <= table["bound"]).all()
