"""The course page's experiments: its generator and its images literally, the tables, the claims, what figures draw."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.svm import SVC

from kp import literal
from study import statistics
from study.course import claims, experiment, facts, figures, tables


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 9), st.integers(1, 9), st.integers(0, 99))
def test_reduced_images_are_means_over_areas_times_a_whole_number(a, side, seed):
    image = np.random.RandomState(seed).randint(256, size=(a, a))
    fine = image.repeat(side, axis=0).repeat(side, axis=1)
    sums = fine.reshape(side, a, side, a).sum(axis=(1, 3))
    assert (experiment.reduced(image.reshape(1, -1), side) * np.gcd(a, side) ** 2).tolist() == [sums.ravel().tolist()]


def test_the_images_of_mnist_are_as_many_of_each_digit_as_are_guessed(monkeypatch):
    random = np.random.RandomState(0)
    X = random.randint(256, size=(4000, 784)).astype(np.uint8)
    y = np.arange(4000) % 10
    data = SimpleNamespace(X=X, y=y, classes=np.arange(10))
    monkeypatch.setattr(experiment.datasets, "load", lambda name: data)
    small, labels = experiment.images("mnist", random_state=1)
    assert small.shape == (2240, 256) and np.bincount(labels).tolist() == [224] * 10
    assert {row.tobytes() for row in small} <= {row.tobytes() for row in experiment.reduced(X, 16)}


def test_a_run_stays_within_the_presentations_of_the_listing():
    _, _, model = experiment.delta_rule_run(2, s=0.6, random_state=0)
    assert not model.converged_ and model.mistakes_[0].steps() == 10_000


def few(declared, n, spreads=(), **options):
    """The table of an experiment with n seeds, at these spreads (name, values) only."""
    with pytest.MonkeyPatch.context() as patch:
        for name, values in spreads:
            patch.setattr(experiment, name, values)
        return declared.compute(replace(experiment.FEW, n_seeds=n, n_code_seeds=n, **options))


@pytest.fixture(scope="module")
def counts():
    return few(experiment.modifications, 6, [("SPREADS", (0.2, 0.4))])


@pytest.fixture(scope="module")
def code_runs():
    return few(experiment.codes, 4, [("CODE_SPREADS", (0.1, 0.3))])


@pytest.fixture(scope="module")
def digits():
    X, y = experiment.images("digits")
    return experiment.Digits(X[:400], y[:400])


@pytest.fixture(scope="module")
def errors(digits):
    return experiment.digits_table(digits, n_splits=3, widths=(0.25, 0.5))


@pytest.fixture(scope="module")
def confusion(digits):
    return experiment.confusion_table(digits, 0.25, n_splits=3)


def test_counts_are_those_of_the_runs_one_by_one(counts):
    for d, n, s, eta in ((3, 100, 0.2, 0.5), (2, 50, 0.4, 1.0)):
        runs = [experiment.delta_rule_run(d, n_per_class=n, s=s, eta=eta, random_state=seed)[2] for seed in range(6)]
        logs = [run.mistakes_[0].delta for run in runs if run.converged_]
        part = counts.query("inputs == @d and n_per_class == @n and s == @s and eta == @eta")
        for counted, number in (("presentations", len), ("weight vectors", np.count_nonzero)):
            found = np.sort(tables.expanded(part[part["counted"] == counted]))
            expected = sorted(map(number, logs)) + [np.nan] * (6 - len(logs))
            np.testing.assert_array_equal(found, expected)


def test_the_nearest_run_has_the_number_asked_for_where_a_seed_has_it():
    numbers = [len(experiment.delta_rule_run(2, s=0.3, random_state=seed)[2].mistakes_[0]) for seed in range(8)]
    for wanted, found in ((numbers[7], numbers[7]), (10**6, max(numbers))):
        seed, *_, model = experiment.nearest_run(2, wanted, n_seeds=8, s=0.3)
        assert seed == numbers.index(found) and len(model.mistakes_[0]) == found
    with pytest.raises(ValueError, match="lower s"):
        experiment.nearest_run(2, 9, n_seeds=2, s=0.8)


def literal_listing(s, seed):
    """The listing DataOneHot as it is printed, with onehot = 1, sample by sample, and its delta rule: (X, y, the weights
    before and after each presentation, and the number of samples wrong in any output at the end)."""
    random = np.random.RandomState(seed)
    y = np.repeat(np.arange(8), 50)
    X = np.array([[MEANS[i][k] + s * random.standard_normal() for i in range(3)] for k in y])
    Y = np.where(np.arange(8)[:, None] == y, 1, -1)
    x = np.column_stack([np.ones(len(y)), X])
    W = 2 * random.random_sample((8, 4)) - 1
    order = np.concatenate([random.randint(len(y), size=len(y)) for _ in range(10_000 // len(y))])
    stored = [W, *literal.delta_rule(x, Y, W, order)]
    return X, y, stored, literal.wrong(stored[-1] @ x.T, Y)


@pytest.fixture(scope="module")
def listing():
    return few(experiment.listing, 5)


@pytest.mark.parametrize(("s", "run"), [(0.2, 0), (0.4, 1)])
def test_the_listing_is_run_as_it_is_printed(listing, s, run):
    X, y, stored, left = literal_listing(s, run)
    row = listing[(listing["s"] == s) & (listing["run"] == run)].iloc[0]
    moved = np.diff(stored, axis=0).any(axis=2)
    expected = [moved.any(axis=1).sum(), moved.sum(), left == 0]
    assert row[["modifications", "weight_vectors", "converged"]].tolist() == expected


def test_the_listing_may_go_on_where_planes_can_separate_the_classes(listing):
    separable = listing[listing["separable"]]
    ended = separable["converged"]
    assert ended.any() and not ended.all() and not listing.loc[~listing["separable"], "converged"].any()
    assert (separable["later"] >= ended).all() and separable["later"].sum() > ended.sum()
    assert listing.loc[~listing["separable"], "later"].isna().all()


@pytest.mark.filterwarnings("ignore:Solver terminated early")
@pytest.mark.parametrize("seed", range(4))
def test_a_plane_is_found_where_a_hard_margin_machine_finds_one(seed):
    X, y = experiment.gaussian_classes(2, n_per_class=10, s=0.5, random_state=seed)
    z = np.where(y == seed % 4, 1, -1)
    plane = experiment.separating_plane(X, z)
    machine = SVC(kernel="linear", C=1e8, max_iter=10**6).fit(X, z)
    assert (plane is not None) == (machine.score(X, z) == 1)
    if plane is not None:
        assert (z * (plane[0] + X @ plane[1:])).min() >= 1 - 1e-7


@pytest.fixture(scope="module")
def step_runs():
    return few(experiment.steps, 4, [("STEP_SPREADS", (0.3,))])


def test_effects_of_steps_are_those_of_the_run_step_by_step(step_runs):
    X, y, model = experiment.delta_rule_run(3, n_per_class=experiment.EXAMPLES[3], s=0.3, eta=0.5, random_state=0)
    x = np.column_stack([np.ones(len(y)), X])
    Y = model.code_[y].T
    history = model.weights_history()
    steps = zip(history[1:], model.mistakes_[0].example, strict=True)
    right = sum(np.array_equal(np.sign(W @ x[i]), Y[:, i]) for W, i in steps)
    wrong = [literal.wrong(W @ x.T, Y) for W in history]
    change = np.diff(wrong)
    row = step_runs.query("inputs == 3 and run == 0 and eta == 0.5").iloc[0]
    wanted = [len(change), right, (change < 0).sum(), (change > 0).sum()]
    assert row[["modifications", "corrected", "fell", "rose"]].tolist() == wanted


def test_outputs_are_decoded_by_the_largest_and_where_all_signs_match():
    table = tables.decoding_table([[-1, 2, -1, -3], [-1, 2, -1, 3]], 2 * np.eye(4, dtype=int) - 1)
    assert table["matching"].tolist() == ["2", "none"] and table["decoded"].tolist() == [2, 4]


def test_shares_of_steps_are_of_all_modifications(step_runs):
    table = tables.steps_table(step_runs)
    row = table.set_index("inputs").loc[2]
    own = step_runs[(step_runs["inputs"] == 2) & (step_runs["eta"] == 1)].sum()
    assert row["rose"] == own["rose"] / own["modifications"]
    bars = figures.figure_effects(table).axes[0].containers
    assert [bar.get_width() for bar in bars[2]] == pytest.approx(table["rose"].tolist(), rel=1e-12)
    difference = tables.rate_differences(step_runs)[2, 0.3]
    both = step_runs.query("inputs == 2 and converged").pivot(index="run", columns="eta", values="modifications").dropna()
    assert difference.estimate == pytest.approx((both[0.5] - both[1.0]).mean()) and difference.adjusted == "Holm over 2"


def test_parity_is_learnt_by_kernels_and_layers_only():
    runs = few(experiment.parity, 1)
    assert not runs["separable"].any() and (runs["linear"] > 0).all()
    assert (runs[["kernel", "network"]] == 0).all(axis=None)


def test_codes_are_compared_on_the_same_runs(code_runs):
    separated, error = tables.code_differences(code_runs)
    part = code_runs[(code_runs["inputs"] == 3) & (code_runs["s"] == 0.3)]
    means = part.assign(error=part["test_errors"] / part["n"]).groupby("code")[["converged", "error"]].mean()
    difference = means.loc["binary"] - means.loc["one-hot"]
    assert [separated[3, 0.3].estimate, error[3, 0.3].estimate] == pytest.approx(difference.tolist())


def test_the_kernel_of_the_digits_is_that_of_plain_distances(digits):
    X = experiment.images("digits")[0][:400].astype(float)
    distance = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2))
    assert digits.median == pytest.approx(np.median(distance[np.triu_indices(400, 1)]), rel=1e-14)
    expected = np.exp(-(distance**2) / (2 * (0.5 * digits.median) ** 2))
    np.testing.assert_allclose(digits.gram(0.5), expected, rtol=1e-12)


def test_confusions_count_the_errors_of_the_digits_table_in_two_halves(digits, errors, confusion):
    train, test = digits.split(2)
    assert len(train) == len(test) and sorted([*train, *test]) == list(range(400))
    own = errors.query("code == 'one-hot' and width == 0.25 and split == 2").iloc[0]
    for part, examples in (("train", train), ("test", test)):
        matrix = confusion.query("split == 2 and part == @part").filter(like="as_").to_numpy()
        assert matrix.sum(axis=1).tolist() == np.bincount(digits.y[examples]).tolist()
        assert matrix.sum() - np.trace(matrix) == own[f"{part}_errors"]


def test_the_width_and_the_split_nearest_to_an_error_are_those_whose_error_is(errors, confusion):
    means = errors[errors["code"] == "one-hot"].groupby("width")["test_errors"].mean() / 200
    assert [experiment.nearest_width(errors, mean) for mean in means] == means.index.tolist()
    one_hot = errors.query("code == 'one-hot' and width == 0.25").set_index("split")["test_errors"]
    split, train, test = tables.nearest_split(confusion, 1.0)
    assert split == one_hot.idxmax() and 200 - np.trace(test) == one_hot.max() and np.trace(train) == 200


def test_rows_of_the_ledger_are_medians_over_the_runs_of_the_two_examples():
    counts = experiment.modifications(experiment.PUBLISHED)
    confusion = experiment.digits(experiment.PUBLISHED)["confusion"]
    ours = claims.claims().set_index("key")["ours"]
    here = counts.query("s == 0.2 and eta == 1 and counted == 'presentations'")
    for d, n in experiment.EXAMPLES.items():
        part = here[(here["inputs"] == d) & (here["n_per_class"] == n)]
        assert ours[f"course-page/modifications-{d}"] == np.median(tables.expanded(part))
    matrix = confusion.query("part == 'test' and true == 9").set_index("split")
    assert ours["course-page/test-9-4"] == matrix["as_4"].median()


def test_experiments_have_as_many_runs_as_their_settings_say_from_their_seed(step_runs):
    later = few(experiment.steps, 1, [("STEP_SPREADS", (0.3,))], random_state=3)
    assert step_runs["run"].max() == 3
    pd.testing.assert_frame_equal(later, step_runs[step_runs["run"] == 3].assign(run=0).reset_index(drop=True))


def test_counts_shares_and_errors_are_drawn_as_they_stand_in_their_tables(counts, code_runs, errors):
    rows = tables.by_spread(counts, {2: 9, 3: 35})
    wanted = rows.query("inputs == 2 and n_per_class == 50 and eta == 1 and counted == 'presentations'")["ours"]
    one_hot = code_runs[(code_runs["inputs"] == 2) & (code_runs["code"] == "one-hot")]
    widths = tables.by_width(errors)
    for axis, heights in (
        (figures.figure_modifications(counts, rows, {2: 9, 3: 35}).axes[2], wanted),
        (figures.figure_codes(code_runs).axes[0], one_hot.groupby("s")["converged"].mean()),
        (figures.figure_widths(widths, 0.11).axes[0], widths.loc[widths["code"] == "one-hot", "ours"]),
    ):
        assert axis.lines[0].get_ydata().tolist() == heights.dropna().tolist()


def test_spreads_that_fit_are_those_whose_range_holds_the_number():
    spreads = pd.DataFrame({"s": [0.3, 0.2, 0.1], "low": [9, 5, 1], "high": [12, 9, 6], "inputs": 2, "n_per_class": 50})
    spreads = spreads.assign(eta=1, counted="presentations")
    assert tables.fitting(spreads, {2: 6}) == {(2, 50): [0.1, 0.2]}


def test_errors_in_any_output_are_those_of_the_listing(digits, errors):
    row = errors.query("code == 'one-hot' and width == 0.25 and split == 1")
    train, test = digits.split(1)
    K = digits.gram(0.25)
    model = experiment.fit_digits(K[np.ix_(train, train)], digits.y[train], code="one-hot", random_state=1)
    wrong = literal.wrong(model.outputs(K[np.ix_(test, train)]).T, model.code_[digits.y[test]].T)
    assert tables.any_output(row).item() == wrong > row["test_errors"].item()


def test_the_error_is_reduced_only_where_no_step_is_an_exception_and_no_difference_is_no_equality(monkeypatch):
    steps = pd.DataFrame({"eta": [1.0], "modifications": [5], "corrected": [5], "fell": [5], "rose": [0]})
    for change, verdict in (
        ({}, "holds"),
        ({"rose": 1}, "holds in part"),
        ({"corrected": 4}, "holds in part"),
        ({"corrected": 0, "rose": 5}, "does not hold"),
    ):
        assert facts.verdict_error_reduced(steps.assign(**change))[0] == verdict
    difference = statistics.Difference(0.1, -0.5, 0.7, 0.8, 30, "runs", "Student's t", "Holm over 4")
    monkeypatch.setattr(facts.tables, "rate_differences", lambda _: {(2, 0.2): difference})
    assert facts.verdict_learning_rate(None)[0] == "undecided"


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(-2, 2), min_size=3, max_size=3), st.lists(st.floats(-1, 1), min_size=3, max_size=3))
def test_a_line_lies_in_a_cube_between_two_points_on_its_surface(point, direction):
    point = np.array(point)
    direction = np.array(direction)
    assume(np.abs(direction).max() > 0.1)

    def reach(t):
        return np.abs(point + np.multiply.outer(t, direction)).max(axis=-1)

    ends = figures._segment_in_cube(point, direction, 1.6)
    if ends is None:
        assert reach(np.linspace(-50, 50, 20001)).min() > 1.59
    else:
        assert reach(ends) == pytest.approx(1.6, abs=1e-6) and reach(np.mean(ends)) <= 1.6 + 1e-9


MEANS = [[-1, -1, -1, -1, 1, 1, 1, 1], [-1, -1, 1, 1, -1, -1, 1, 1], [-1, 1, -1, 1, -1, 1, -1, 1]]
