"""The chapter on the algorithm: predictors by their definitions, mistakes and their bound; figures draw their tables."""

import ast
import os
import platform
import subprocess
import sys
from itertools import combinations_with_replacement, pairwise

import numpy as np
import oracles
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from kp import kernels, literal
from kp.mistakes import PREDICTORS, MistakeLog
from kp.one_vs_all import OneVsAllKernelPerceptron
from study import ROOT, datasets
from study.algorithm import experiment, facts, figures, played, tables
from study.protocols.margins import separable_bound
from study.protocols.plane import lattice


@pytest.fixture(scope="module")
def run():
    """A small run on the moons: (X, z, log)."""
    X, y = datasets.moons(30, spread=0.3, random_state=1)
    log = OneVsAllKernelPerceptron(degree=2, gamma=1, max_iter=4, random_state=2).fit(X, y).mistakes_[0]
    return X, 2 * y - 1, log


def test_the_multiset_and_the_predictors_of_the_history_are_those_of_the_stored_vectors():
    generator = np.random.RandomState(3)
    X = generator.randint(-3, 4, size=(25, 2))
    points = generator.randint(-3, 4, size=(40, 2))
    y = generator.randint(2, size=25)
    kernel = kernels.polynomial(3)
    z = 2 * y - 1
    log = OneVsAllKernelPerceptron(degree=3, gamma=1, max_iter=3, random_state=0).fit(X, y).mistakes_[0]
    (order,) = oracles.orders(len(X), 1, log.n_epochs, 0)
    A = literal.algorithm_1(kernel(X, X), z, order)
    K = kernel(X, points)
    assert np.array_equal(tables.multiset(log, len(X)), A)
    f = [literal.g(alpha, z, K) for alpha in A]
    minimizing = literal.g(literal.minimizing(A, kernel(X, X), z), z, K)
    expected = {"final": f[-1], "average": np.mean(f, axis=0), "minimizing": minimizing, "voted": np.sign(f).sum(axis=0)}
    np.testing.assert_equal(tables.predictor_scores(log, tables.history(log, kernel, X, points)), expected)


def test_log_table_counts_epochs_from_one():
    columns = {"example": [7, 4, 7], "step": [0, 3, 4], "sign": [1, -1, 1], "errors": [5, 0, 2], "ends": [3, 6]}
    table = tables.log_table(MistakeLog(**{name: np.array(column) for name, column in columns.items()}))
    assert table[["mistake", "epoch", "step", "example", "sign", "training_errors"]].to_numpy().tolist() == [
        [1, 1, 0, 7, 1, 5], [2, 2, 3, 4, -1, 0], [3, 2, 4, 7, 1, 2]
    ]  # fmt: skip


def test_features_are_the_products_of_at_most_p_numbers():
    for d, p in ((2, 2), (3, 1), (4, 3)):
        products = {each for r in range(p + 1) for each in combinations_with_replacement(range(d), r)}
        assert tables.n_features(d, p) == len(products)


X4, Z4 = tables.CROSSED
K4 = (1 + X4 @ X4.T) ** 2


def test_the_four_points_by_hand_are_algorithm_1():
    order = np.tile(np.arange(4), 3)
    table = tables.by_hand(K4, Z4, order)
    A = np.array(literal.algorithm_1(K4, Z4, order))
    before = np.vstack([np.zeros((1, 4), dtype=int), A[:-1]])
    assert (table["mistake?"] == "yes").tolist() == (A != before).any(axis=1).tolist()
    assert table[r"$\alpha$ after"].tolist() == [tables.vector(alpha) for alpha in A]
    scores = [literal.g(alpha, Z4, K4[:, t]) for alpha, t in zip(before, order, strict=True)]
    for text, score in zip(table["score"].str.replace("\N{MINUS SIGN}", "-"), scores, strict=True):
        assert text.split()[-1] == str(score)


@pytest.mark.parametrize("sign", [0, 1, -1])
def test_the_sign_of_zero_is_the_only_difference(sign):
    order = np.tile(np.arange(4), 6)
    alpha, visits = tables.with_sign_of_zero(K4, Z4, order, sign)
    A = np.array(literal.algorithm_1(K4, Z4, order))
    if sign == 0:
        assert np.array_equal(alpha, A[-1])
        assert visits == (1 + np.flatnonzero(np.diff(A.sum(axis=1), prepend=0))).tolist()
    else:
        assert (visits[0] == 1) == (Z4[0] != sign)


@settings(deadline=None, max_examples=25)
@given(seed=st.integers(0, 1000), n=st.integers(4, 40), gap=st.sampled_from([0.1, 0.3, 0.6]), degree=st.integers(1, 4))
def test_no_order_makes_more_mistakes_than_the_bound_allows(seed, n, gap, degree):
    X, z = experiment.gapped(n, gap=gap, random_state=seed)
    assert (z * (2 * X[:, 0] + X[:, 1] - 0.5) / np.sqrt(5) > gap / 2).all()
    assume(len(set(z)) == 2)
    R, margins = experiment.separation(X, z, degree)
    assert experiment.mistakes_by_order(X, z, degree, n_orders=5).max() <= separable_bound(margins, R)


def test_margin_in_the_plane_is_that_of_a_search_over_all_directions():
    X, z = experiment.gapped(15, gap=0.3, random_state=5)
    phi = np.column_stack([np.ones(len(X)), X])
    directions = np.random.RandomState(0).normal(size=(300_000, 3))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    searched = (directions @ (z[:, None] * phi).T).min(axis=1).max()
    gamma = experiment.separation(X, z, 1)[1].min()
    assert gamma == pytest.approx(searched, rel=0.03) and gamma >= searched * (1 - 1e-6)


def test_a_run_that_does_not_stop_has_no_count_and_a_gap_leaves_room():
    X = np.array([[0.0], [1.0], [2.0]])
    z = np.array([1, -1, 1])
    with pytest.raises(ValueError, match="no training error after 5 epochs"):
        experiment.mistakes_by_order(X, z, 1, n_orders=1, max_iter=5)
    with pytest.raises(ValueError, match="gap must be in 0..1, got 3"):
        experiment.gapped(5, gap=3, random_state=0)


def test_surfaces_mark_the_example_just_mistaken_and_its_predecessors(run):
    X, z, log = run
    points, box = lattice(X, resolution=20)
    f = tables.history(log, kernels.polynomial(2), X, points)
    axis = figures.figure_surfaces(X, z, log, f, box, [1, 4]).axes[1]
    assert np.array_equal(axis.images[0].get_array().ravel(), np.cbrt(f[4]))
    *_, rings, cross = axis.collections
    assert cross.get_offsets().tolist() == [X[log.example[3]].tolist()]
    assert np.array_equal(rings.get_offsets(), X[np.unique(log.example[:4])])


def test_a_score_of_zero_is_an_error():
    signs = {"train": np.array([1, 1, -1])}
    table = tables.error_table({"train": dict.fromkeys(PREDICTORS, np.array([1.0, 0.0, -1.0]))}, signs)
    assert table["errors"].tolist() == [1] * 4


def test_predictors_are_drawn_over_the_region_in_which_they_disagree(run):
    X, z, log = run
    points, box = lattice(X, resolution=20)
    kernel = kernels.polynomial(2)
    scores, own = (tables.predictor_scores(log, tables.history(log, kernel, X, each)) for each in (points, X))
    axis = figures.figure_predictors(X, z, scores, box, tables.error_table({"train": own}, {"train": z})).axes[0]
    votes = sum((scores[name] > 0).astype(int) for name in PREDICTORS)
    assert np.array_equal(axis.images[0].get_array().ravel(), (votes > 0) & (votes < 4))


def test_visiting_order_and_counts_of_a_run_are_those_of_algorithm_1():
    X, y = datasets.moons(20, spread=0.3, random_state=4)
    z = 2 * y - 1
    log = OneVsAllKernelPerceptron(degree=2, gamma=1, max_iter=3, random_state=5, count_errors=True).fit(X, y).mistakes_[0]
    K = kernels.polynomial(2)(X, X)
    A = np.array(literal.algorithm_1(K, z, tables.visiting_order(20, 3, random_state=5)))
    assert np.array_equal(A, tables.multiset(log, 20))
    wrong = [int((z * literal.g(alpha, z, K) <= 0).sum()) for alpha in A]
    after_mistakes = [errors for errors, new in zip(wrong, np.diff(A.sum(axis=1), prepend=0), strict=True) if new]
    found = facts.run(log, 20)
    assert (found.n_mistakes, found.n_support, found.n_steps) == (A[-1].sum(), np.count_nonzero(A[-1]), len(A))
    assert found.n_stored == A.size and found.n_spoilt == sum(b > a for a, b in pairwise(after_mistakes))


def test_log_is_drawn_mistake_by_mistake(run):
    X, z, log = run
    A = tables.multiset(log, len(X))
    best = log.minimizing_length()
    above, below = figures.figure_log(tables.log_table(log), A, z, log.ends, best).axes
    first = log.example[np.sort(np.unique(log.example, return_index=True)[1])]
    assert np.array_equal(above.images[0].get_array(), (A * z).T[first[::-1]])
    line, minimizing, final = (np.transpose(each.get_data()).tolist() for each in below.lines[:3])
    assert line == [[step + 1, errors] for step, errors in zip(log.step, log.errors, strict=True)] + final
    assert minimizing == [[log.step[best - 1] + 1, log.errors.min()]] and final == [[log.steps(), log.errors[-1]]]


def test_the_weights_of_a_run_stay_between_the_line_and_the_curve_of_the_proof():
    X, z = experiment.gapped(20, gap=0.4, random_state=0)
    model = OneVsAllKernelPerceptron(degree=1, gamma=1, max_iter=100, random_state=0, count_errors=True).fit(X, z)
    (log,) = model.mistakes_
    R, margins = experiment.separation(X, z, 1)
    found = tables.squeezed(log, margins, kernels.polynomial(1)(X, X), z)
    phi = np.column_stack([np.ones(20), X])  # features of degree 1
    w = np.vstack([np.zeros(3), np.cumsum(z[log.example, None] * phi[log.example], axis=0)])
    np.testing.assert_allclose(found["length"], np.linalg.norm(w, axis=1), atol=1e-6)
    u = np.linalg.lstsq(z[:, None] * phi, margins, rcond=None)[0]
    np.testing.assert_allclose(found["along"], w @ u, atol=1e-6)
    made = found["mistakes"]
    assert (found["along"] >= made * margins.min() - 1e-6).all() and (found["length"] <= np.sqrt(made) * R + 1e-6).all()
    curves = {line.get_label(): line for line in figures.figure_squeeze(found, R, margins.min()).axes[0].lines}
    (length,) = (line for label, line in curves.items() if label.startswith("length"))
    assert length.get_ydata().tolist() == found["length"].tolist()


def test_bounds_are_drawn_above_the_median_and_range_of_the_table():
    parts = [experiment.Settings(degree=degree, n_samples=20, n_orders=4) for degree in (1, 2)]
    table = experiment.bounds(parts)
    X, z = experiment.gapped(20, gap=parts[0].gap, random_state=parts[0].random_state)
    margins = [experiment.separation(X, z, degree)[1].min() for degree in (1, 2)]
    squares = ((1 + (X**2).sum(axis=1, keepdims=True)) ** [1, 2]).max(axis=0)
    np.testing.assert_allclose(table["bound"], squares / np.square(margins), rtol=1e-4)
    axis = figures.figure_bounds(table, table).axes[0]
    assert axis.lines[0].get_ydata().tolist() == table["bound"].tolist()
    median, _, (bars,) = axis.containers[0]
    assert median.get_ydata().tolist() == table["median"].tolist()
    ends = [segment[:, 1].tolist() for segment in bars.get_segments()]
    assert ends == table[["fewest", "most"]].to_numpy(dtype=float).tolist()


def test_the_bounds_are_asked_for_at_any_degrees_and_at_every_gap_at_degree_1():
    by_degree = experiment.at_degrees((4, 2), n_orders=5)
    assert [(part.degree, part.gap, part.n_orders) for part in by_degree] == [(2, 0.1, 5), (4, 0.1, 5)]
    assert [(part.degree, part.gap) for part in experiment.at_gaps()] == [(1, gap) for gap in experiment.GAPS]
    assert len(experiment.settings()) == len(set(experiment.settings())) == 11
    rows = pd.DataFrame({"degree": [4, 2], "bound": [90.0, 30.0], "most": [18, 15], "median": [12.0, 10.0]})
    found = facts.bounds(rows, rows.assign(most=[45, 1]))
    assert (found.largest_share, found.growth, found.first_median, found.last_median) == (0.5, 3, 10, 12)


@pytest.mark.long
@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="the loops of x86 processors")
def test_the_stored_bounds_are_the_same_digits_on_an_old_processor():
    """OpenBLAS's loops for a processor without AVX: margins agree in about 8 digits."""
    program = (
        "from study.algorithm import experiment\n"
        "for degree in experiment.DEGREES:\n"
        "    row = experiment.bounds.compute(experiment.Settings(degree=degree, n_orders=1)).iloc[0]\n"
        "    print(repr(float(row['bound'])))"
    )
    environment = os.environ | {"OPENBLAS_CORETYPE": "Prescott"}
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, env=environment, capture_output=True, text=True)
    made = [ast.literal_eval(line) for line in done.stdout.splitlines()]
    stored = experiment.bounds([experiment.Settings(degree=degree) for degree in experiment.DEGREES])
    assert made == stored["bound"].tolist()


def test_every_order_is_a_fit_with_its_seed():
    toy = experiment.Toy(n_samples=20, n_test=50, n_epochs=3, n_orders=2)
    X, y, X_test, y_test = experiment.toy_set(toy)
    for row in experiment.orders(toy).itertuples():
        model = OneVsAllKernelPerceptron(degree=3, gamma=1, max_iter=3, random_state=row.order).fit(X, y)
        assert row.test_errors == (model.predict(X_test, predictor=row.predictor) != y_test).sum()


def orders_of(counts):
    """Rows of experiment.orders from {predictor: test errors by order}."""
    return (
        pd.DataFrame(counts).rename_axis("order").reset_index().melt("order", var_name="predictor", value_name="test_errors")
    )


def test_errors_over_orders_are_ranges_means_and_paired_differences():
    counts = {"final": [10, 40, 20], "average": [20, 20, 22], "minimizing": [10, 22, 20], "voted": [18, 18, 20]}
    found = facts.orders(orders_of(counts), 100)
    table = found.by_predictor
    assert table.loc["final", ["lowest", "median", "highest"]].tolist() == [0.1, 0.2, 0.4]
    assert table["share_best"].tolist() == pytest.approx([2 / 3, 0, 2 / 3, 2 / 3])
    assert found.spread["final"] == pytest.approx(0.3) and found.share_best == pytest.approx(2 / 3)
    assert table.loc["voted", ["estimate", "p"]].tolist() == pytest.approx([-0.02, 0], abs=1e-12)
    expected = stats.ttest_rel(counts["minimizing"], counts["average"]).pvalue
    assert table.loc["minimizing", "p"] == pytest.approx(min(1, 2 * expected))


def test_orders_are_drawn_as_points_with_the_shown_run_marked():
    counts = {name: [10 + k, 40 - k, 20] for k, name in enumerate(PREDICTORS)}
    lines = figures.figure_orders(orders_of(counts), 100, 1).axes[0].get_lines()
    points, crosses = ([list(line.get_xdata()) for line in lines if line.get_marker() == mark] for mark in ".X")
    assert points == list(counts.values()) and crosses == [[each[1]] for each in counts.values()]


def test_the_played_run_is_that_of_the_estimator_and_its_counts_those_of_the_vectors_that_algorithm_1_stores():
    run = played.run()
    X, z = np.array(run["x"]), np.array(run["z"])
    part = experiment.Toy()
    options = {"max_iter": part.n_epochs, "random_state": part.random_state}
    (log,) = OneVsAllKernelPerceptron(degree=part.degree, gamma=1, **options).fit(X, z).mistakes_
    assert (log.example.tolist(), log.step.tolist(), log.steps()) == (run["example"], run["step"], run["steps"])
    K = kernels.polynomial(run["degree"])(X, X)
    order = tables.visiting_order(len(X), run["steps"] // len(X), random_state=experiment.Toy().random_state)
    F = (np.array(literal.algorithm_1(K, z, order)) * z) @ K  # after each step
    for m in range(len(run["step"])):
        end = ([*run["step"], run["steps"]])[m + 1]
        stored = F[:end]
        wrong = {"final": stored[-1], "average": stored.mean(axis=0), "voted": np.sign(stored).sum(axis=0)}
        assert {name: int((z * f <= 0).sum()) for name, f in wrong.items()} == {
            name: errors[m] for name, errors in run["errors"].items()
        }
        assert order[run["step"][m]] == run["example"][m] and run["epoch"][m] == run["step"][m] // len(X) + 1
    assert len(run["step"]) == 73 and [len(run["errors"][name]) for name in played.PLAYED] == [73] * 3
