"""The course page's experiments: its generator and its images literally, the tables, the claims, what figures draw."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.svm import SVC

from study import literal, statistics
from study.claims import COLUMNS, STATEMENTS, readings_rows
from study.course import claims, experiment, figures, tables


def data_one_hot(d, K, means, n_per_class, s, randn):
    """The listing DataOneHot with its codes, sample by sample; randn() draws one number."""
    X, y = [], []
    for k in range(K):
        for _ in range(n_per_class):
            X.append([means[i][k] + s * randn() for i in range(d)])
            y.append(k)
    return X, y


def reduced_literally(image, side):
    """Means over the area of each new pixel, in fractions, pixel by pixel."""
    a = len(image)
    edge, out = Fraction(a, side), []
    for i in range(side):
        for j in range(side):
            total = Fraction(0)
            for r in range(a):
                for c in range(a):
                    height = max(Fraction(0), min((i + 1) * edge, Fraction(r + 1)) - max(i * edge, Fraction(r)))
                    width = max(Fraction(0), min((j + 1) * edge, Fraction(c + 1)) - max(j * edge, Fraction(c)))
                    total += height * width * image[r][c]
            out.append(total / edge**2)
    return out


def test_classes_in_space_are_those_of_the_listing():
    means = [[-1, -1, -1, -1, 1, 1, 1, 1], [-1, -1, 1, 1, -1, -1, 1, 1], [-1, 1, -1, 1, -1, 1, -1, 1]]
    expected = data_one_hot(3, 8, means, 50, 0.2, np.random.RandomState(4).standard_normal)
    X, y = experiment.gaussian_classes(3, random_state=4)
    assert X.tolist() == expected[0] and y.tolist() == expected[1]


@pytest.mark.parametrize("inputs", [2, 3])
def test_every_class_has_its_mean_at_a_corner_of_its_own_and_the_spread_asked_for(inputs):
    X, y = experiment.gaussian_classes(inputs, n_per_class=4000, s=0.4, random_state=np.random.RandomState(1))
    corners = np.array([X[y == c].mean(axis=0) for c in range(2**inputs)])
    assert np.abs(corners - np.rint(corners)).max() < 0.03 and len(np.unique(np.rint(corners), axis=0)) == 2**inputs
    assert np.abs(np.rint(corners)).tolist() == np.ones((2**inputs, inputs)).tolist()
    assert X[y == 0].std(axis=0) == pytest.approx(0.4, rel=0.05)


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 9), st.integers(1, 9), st.integers(0, 99))
def test_reduced_images_are_means_over_areas_times_a_whole_number(a, side, seed):
    image = np.random.RandomState(seed).randint(256, size=(a, a))
    units = Fraction(a, np.gcd(a, side).item()) ** 2
    expected = [units * value for value in reduced_literally(image.tolist(), side)]
    assert experiment.reduced(image.reshape(1, -1), side)[0].tolist() == expected


def test_the_images_of_mnist_are_as_many_of_each_digit_as_are_guessed(monkeypatch):
    random = np.random.RandomState(0)
    X, y = random.randint(256, size=(4000, 784)).astype(np.uint8), random.permutation(np.repeat(np.arange(10), 400))
    data = type("Data", (), {"X": X, "y": y, "classes": np.arange(10)})
    monkeypatch.setattr(experiment.datasets, "load", lambda name: data)
    small, labels = experiment.images("mnist", random_state=1)
    assert small.shape == (2240, 256) and np.bincount(labels).tolist() == [224] * 10
    assert {row.tobytes() for row in small} <= {row.tobytes() for row in experiment.reduced(X, 16)}
    assert small.tolist() != experiment.images("mnist", random_state=2)[0].tolist()


def test_a_run_stays_within_the_presentations_of_the_listing():
    _, _, model = experiment.delta_rule_run(2, s=0.6, random_state=0)
    assert not model.converged_ and model.mistakes_.steps() == 10_000


@pytest.fixture(scope="module")
def counts():
    return experiment.count_modifications(n_seeds=12, spreads=(0.2, 0.4))


@pytest.fixture(scope="module")
def code_runs():
    return experiment.compare_codes(n_seeds=4, spreads=(0.1, 0.3), n_per_class=20)


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
    for d, n, s, eta in ((2, 50, 0.2, 1.0), (3, 100, 0.2, 0.5), (2, 50, 0.4, 1.0)):
        runs = [experiment.delta_rule_run(d, n_per_class=n, s=s, eta=eta, random_state=seed)[2] for seed in range(12)]
        part = counts.query("inputs == @d and n_per_class == @n and s == @s and eta == @eta")
        for counted in ("presentations", "weight vectors"):
            found = tables.expanded(part[part["counted"] == counted])
            log = [run.mistakes_.delta if run.converged_ else None for run in runs]
            number = {"presentations": len, "weight vectors": np.count_nonzero}[counted]
            expected = sorted(np.nan if delta is None else number(delta) for delta in log)
            np.testing.assert_array_equal(np.sort(found), np.sort(expected))
    assert (counts.groupby(["inputs", "n_per_class", "s", "eta", "counted"])["runs"].sum() == 12).all()


def test_the_nearest_run_has_the_number_asked_for_where_a_seed_has_it():
    numbers = {seed: len(experiment.delta_rule_run(2, s=0.3, random_state=seed)[2].mistakes_) for seed in range(12)}
    wanted = numbers[7]
    seed, X, y, model = experiment.nearest_run(2, wanted, n_seeds=12, s=0.3)
    assert seed == min(s for s, number in numbers.items() if number == wanted) and len(model.mistakes_) == wanted
    seed, *_, model = experiment.nearest_run(2, 10**6, n_seeds=12, s=0.3)
    assert len(model.mistakes_) == max(numbers.values())
    with pytest.raises(ValueError, match="lower s"):
        experiment.nearest_run(2, 9, n_seeds=2, s=0.8)


def test_stored_tables_give_the_conclusions_of_the_chapter():
    published = {2: 9, 3: 35}
    spreads = tables.by_spread(experiment.modifications(experiment.PUBLISHED), published)
    fits = tables.fitting(spreads, published)
    assert fits[2, 100] == [0.25, 0.3, 0.35] and fits[3, 50] == [0.3, 0.35]
    assert fits[2, 50] == [0.25, 0.3, 0.35, 0.4] and fits[3, 100] == [0.3]
    found = experiment.digits(experiment.PUBLISHED)
    one_hot = tables.by_width(found["digits"]).query("code == 'one-hot'").set_index("width")
    assert one_hot["ours"].idxmin() == 0.375 and (one_hot["separated"] == 1).all()
    assert set(found["confusion"]["width"]) == {1.5}


def literal_listing(s, seed):
    """The listing as it is printed, with onehot = 1, from its own pseudo-code: (X, y, the weights before and after each
    presentation, and the number of samples wrong in any output at the end)."""
    random = np.random.RandomState(seed)
    means = [[-1, -1, -1, -1, 1, 1, 1, 1], [-1, -1, 1, 1, -1, -1, 1, 1], [-1, 1, -1, 1, -1, 1, -1, 1]]
    X, y = map(np.array, data_one_hot(3, 8, means, 50, s, random.standard_normal))
    Y, x = np.where(np.arange(8)[:, None] == y, 1, -1), np.column_stack([np.ones(len(y)), X])
    W = 2 * random.random_sample((8, 4)) - 1
    order = np.concatenate([random.randint(len(y), size=len(y)) for _ in range(10_000 // len(y))])
    stored = [W, *literal.delta_rule(x, Y, W, order)]
    return X, y, stored, literal.wrong(stored[-1] @ x.T, Y)


@pytest.fixture(scope="module")
def listing():
    return experiment.run_listing(n_seeds=5)


@pytest.mark.parametrize(("s", "run"), [(0.2, 0), (0.2, 2), (0.4, 1)])
def test_the_listing_is_run_as_it_is_printed(listing, s, run):
    X, y, stored, left = literal_listing(s, run)
    row = listing[(listing["s"] == s) & (listing["run"] == run)].iloc[0]
    moved = np.diff(stored, axis=0).any(axis=2)
    assert row["modifications"] == moved.any(axis=1).sum() and row["weight_vectors"] == moved.sum()
    assert row["converged"] == (left == 0)
    decoded = (np.column_stack([np.ones(len(y)), X]) @ stored[-1].T).argmax(axis=1)
    assert row["decoded_errors"] == np.count_nonzero(decoded != y)


def test_the_listing_may_go_on_where_planes_can_separate_the_classes(listing):
    separable = listing[listing["separable"]]
    assert separable["converged"].any() and not separable["converged"].all() and not listing["separable"].all()
    assert not (listing["converged"] & ~listing["separable"]).any()
    assert listing.loc[~listing["separable"], "more_presentations"].isna().all()
    ended = separable[separable["converged"]]
    assert (ended["more_vectors"] == ended["weight_vectors"]).all() and (ended["more_presentations"] <= 10_000).all()
    later = separable[~separable["converged"]]
    assert (later["more_presentations"] > 10_000).all() and (later["more_vectors"] >= later["weight_vectors"]).all()
    assert (separable["more_vectors"] <= separable["bound"]).all()
    table = tables.listing_table(listing).set_index("s")
    assert table.loc[0.2, "separable"] == separable["s"].eq(0.2).sum() / 5 and pd.isna(table.loc[0.4, "modifications"])
    assert table.loc[0.2, "presentations"] == separable["more_presentations"].max()


@pytest.mark.filterwarnings("ignore:Solver terminated early")
@pytest.mark.parametrize("seed", range(6))
def test_a_plane_is_found_where_a_hard_margin_machine_finds_one(seed):
    X, y = experiment.gaussian_classes(2, n_per_class=10, s=0.5, random_state=seed)
    z = np.where(y == seed % 4, 1, -1)
    plane = experiment.separating_plane(X, z)
    machine = SVC(kernel="linear", C=1e8, max_iter=10**6).fit(X, z)
    assert (plane is not None) == (machine.score(X, z) == 1)
    if plane is not None:
        assert (z * (plane[0] + X @ plane[1:])).min() >= 1 - 1e-7


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.floats(0.0, 3.0))
def test_no_run_makes_more_modifications_than_the_bound(seed, scale):
    random = np.random.RandomState(seed)
    X, z = random.standard_normal((12, 2)), random.choice([-1, 1], 12)
    plane = experiment.separating_plane(X, z)
    if plane is None:
        return
    x, W = np.column_stack([np.ones(12), X]), scale * random.standard_normal((1, 3))
    stored = [W, *literal.delta_rule(x, z[None], W, random.randint(12, size=1200))]
    count = np.diff(stored, axis=0).any(axis=(1, 2)).sum()
    assert count <= experiment.modification_bound(X, plane, W[0])


@pytest.fixture(scope="module")
def step_runs():
    return experiment.count_steps(n_seeds=4, spreads=(0.3,))


def test_effects_of_steps_are_those_of_the_run_step_by_step(step_runs):
    for d, run, eta in ((2, 1, 1.0), (3, 0, 0.5)):
        n = experiment.EXAMPLES[d]
        X, y, model = experiment.delta_rule_run(d, n_per_class=n, s=0.3, eta=eta, random_state=run)
        x, Y, history = np.column_stack([np.ones(len(y)), X]), model.code_[y].T, model.weights_history()
        right = [
            np.array_equal(np.sign(W @ x[i]), Y[:, i]) for W, i in zip(history[1:], model.mistakes_.example, strict=True)
        ]
        change = np.diff([literal.wrong(W @ x.T, Y) for W in history])
        row = step_runs.query("inputs == @d and run == @run and eta == @eta").iloc[0]
        wanted = [len(right), sum(right), (change < 0).sum(), (change > 0).sum()]
        assert row[["modifications", "corrected", "fell", "rose"]].tolist() == wanted


def test_shares_of_steps_are_of_all_modifications(step_runs):
    table = tables.steps_table(step_runs).set_index("inputs")
    own = step_runs[(step_runs["inputs"] == 2) & (step_runs["eta"] == 1)]
    assert table.loc[2, "modifications"] == own["modifications"].sum() and table.loc[2, "runs"] == 4
    assert table.loc[2, "rose"] == own["rose"].sum() / own["modifications"].sum()
    assert np.allclose(table[["fell", "stayed", "rose"]].sum(axis=1), 1)
    difference = tables.rate_differences(step_runs)[2, 0.3]
    both = step_runs[(step_runs["inputs"] == 2) & step_runs["converged"]].groupby("run").filter(lambda run: len(run) == 2)
    means = both.groupby("eta")["modifications"].mean()
    assert difference.estimate == pytest.approx(means[0.5] - means[1.0]) and difference.adjusted == "Holm over 2"
    assert tables.paired([3.0], varies="runs").word() == "cannot be told apart from"


def test_parity_is_learnt_by_kernels_and_layers_only():
    runs = experiment.compare_parity(n_seeds=2)
    assert len(runs) == 4 and not runs["separable"].any() and (runs["linear"] > 0).all()
    assert (runs[["kernel", "network"]] == 0).all(axis=None)
    table = tables.parity_table(runs.assign(network=[0, 1, 0, 0]))
    assert (
        table["network"].tolist() == [0.5, 1.0] and table["linear"].tolist() == [0, 0] and table["runs"].tolist() == [2, 2]
    )


def test_codes_are_compared_on_the_same_runs(code_runs):
    separated, error = tables.code_differences(code_runs)
    assert list(separated) == list(error) == [(2, 0.1), (2, 0.3), (3, 0.1), (3, 0.3)]
    part = code_runs[(code_runs["inputs"] == 3) & (code_runs["s"] == 0.3)].set_index(["code", "run"])
    share = part["converged"].groupby("code").mean()
    rate = (part["test_errors"] / part["n"]).groupby("code").mean()
    assert separated[3, 0.3].estimate == pytest.approx(share["binary"] - share["one-hot"])
    assert error[3, 0.3].estimate == pytest.approx(rate["binary"] - rate["one-hot"]) and error[3, 0.3].n == 4
    table = tables.differences_table(separated, error)
    assert len(table) == 4 and table.loc[3, "p, separated"] == separated[3, 0.3].p


def test_stored_codes_give_the_conclusions_of_the_chapter():
    separated, error = map(tables.told, tables.code_differences(experiment.codes(experiment.PUBLISHED)))
    assert separated["higher"] == [(2, 0.3), (2, 0.4), (3, 0.2), (3, 0.3)] and not separated["lower"]
    assert error["lower"] == [(2, 0.5), (2, 0.6), (3, 0.3), (3, 0.4), (3, 0.5), (3, 0.6)]
    assert error["higher"] == [(2, 0.2), (2, 0.3), (3, 0.1), (3, 0.2)]


def test_stored_digits_tell_the_codes_apart_at_every_width():
    found = tables.width_differences(experiment.digits(experiment.PUBLISHED)["digits"])
    assert tables.told(found) == {"lower": [], "higher": list(experiment.WIDTHS), "tie": []}
    assert found[0.375].estimate == pytest.approx(0.0590, abs=5e-5) and found[0.375].adjusted == "Holm over 7"


def test_both_codes_see_the_same_data_and_binary_codes_separate_more_often(code_runs):
    assert code_runs.groupby("code").size().tolist() == [16, 16]
    share = code_runs.groupby("code")["converged"].mean()
    assert share["binary"] >= share["one-hot"]
    separated = code_runs[code_runs["converged"]]
    assert (separated["train_errors"] == 0).all() and (code_runs["train_errors"] > 0).any()


def test_digits_are_split_in_two_halves(digits):
    train, test = digits.split(3)
    assert len(train) == len(test) == 200 and sorted([*train, *test]) == list(range(400))
    assert digits.split(4)[0].tolist() != train.tolist()


def test_the_kernel_of_the_digits_is_that_of_plain_distances(digits):
    X = experiment.images("digits")[0][:400].astype(float)
    distance = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2))
    assert digits.median == pytest.approx(np.median(distance[np.triu_indices(400, 1)]), rel=1e-14)
    expected = np.exp(-(distance**2) / (2 * (0.5 * digits.median) ** 2))
    np.testing.assert_allclose(digits.gram(0.5), expected, rtol=1e-12)


def test_confusions_count_the_errors_of_the_digits_table(errors, confusion):
    one_hot = errors[(errors["code"] == "one-hot") & (errors["width"] == 0.25)]
    cells = confusion.set_index(["split", "part", "true"])[[f"as_{k}" for k in range(10)]]
    for row in one_hot.itertuples():
        for part, wrong, n in (("train", row.train_errors, row.n_train), ("test", row.test_errors, row.n_test)):
            matrix = cells.xs((row.split, part), level=["split", "part"]).to_numpy()
            assert matrix.sum() == n and n - np.trace(matrix) == wrong
    assert (errors["train_errors"] == 0).all() and errors["converged"].all()
    assert (errors["unmatched_errors"] <= errors[["unmatched", "test_errors"]].min(axis=1)).all()


def test_the_width_nearest_to_an_error_is_the_one_whose_mean_is(errors):
    means = errors[errors["code"] == "one-hot"].groupby("width")[["test_errors", "n_test"]].sum()
    means = means["test_errors"] / means["n_test"]
    for width, mean in means.items():
        assert experiment.nearest_width(errors, mean) == width


@given(st.lists(st.integers(0, 20), min_size=1, max_size=30), st.integers(0, 20))
def test_the_percentile_counts_the_values_below_and_half_of_the_equal_ones(values, published):
    found = tables.summary([*values, np.nan], published)
    below, equal = sum(v < published for v in values), sum(v == published for v in values)
    assert found["percentile"] == pytest.approx((below + equal / 2) / len(values))
    assert found["low"] <= found["ours"] <= found["high"] and found["n"] == len(values)


@pytest.fixture(scope="module")
def ledger():
    return claims.claims()


def test_every_number_of_the_page_has_one_row(ledger):
    assert list(ledger.columns) == list(COLUMNS) and ledger["key"].is_unique
    page = pd.read_csv(experiment.PAGE)
    assert ledger[["item", "quantity", "published"]].equals(page[["item", "quantity", "published"]])
    silent = ledger["verdict"].isin(["outside", "not comparable"])
    assert (ledger["explanation"] != "").tolist() == silent.tolist()
    assert ledger["item"].str.startswith("Eq. 45").sum() == 22


def test_numbers_of_other_data_are_not_compared_and_those_that_cannot_fail_are_no_success(ledger):
    verdicts = ledger.set_index("key")["verdict"].rename(lambda key: key.removeprefix("course-page/"))
    others = ledger["item"].str.startswith(("Kernel example", "Eq. 45"))
    assert (ledger.loc[others, "verdict"] == "not comparable").all() and others.sum() == 25
    assert ledger.loc[others, "percentile"].isna().all() and not ledger.loc[others, "same_data"].any()
    assert (ledger.loc[others, "choices"] == len(experiment.WIDTHS)).all()
    found = {word: set(verdicts.index[verdicts == word]) for word in ("degenerate", "outside")}
    assert found == {"degenerate": {"classes-2", "classes-3"}, "outside": {"delta"}}
    assert ((ledger["verdict"] != "not comparable") == ledger["same_data"]).all()
    wide = ledger["low"] < ledger["high"]
    assert (ledger.loc[wide, "interval_of"] != "").all() and (ledger.loc[~wide, "interval_of"] == "").all()


def test_rows_of_the_ledger_are_the_two_examples_and_the_readings_all_others(ledger):
    counts, digits = experiment.modifications(experiment.PUBLISHED), experiment.digits(experiment.PUBLISHED)
    rows, others = ledger.set_index("key"), claims.readings()
    here = counts[(counts["s"] == 0.2) & (counts["eta"] == 1) & (counts["counted"] == "presentations")]
    spreads = (len(experiment.SPREADS) + 1) * 2 * 2  # eta = 1/2 at one s; samples of each class; ways of counting
    for d, n, number, more in ((2, 100, 9, 0), (3, 50, 35, 4)):
        part = here[(here["inputs"] == d) & (here["n_per_class"] == n)]
        row = rows.loc[f"course-page/modifications-{d}"]
        assert row["ours"] == np.median(tables.expanded(part)) and row["published"] == number
        assert row["verdict"] == "not comparable" and row["explanation"].endswith("to 0.35")
        assert (others["key"] == row.name).sum() == spreads - 1 + more
    matrix = digits["confusion"].query("part == 'test' and true == 9").groupby("split").sum(numeric_only=True)
    assert rows.loc["course-page/test-9-4", "ours"] == matrix["as_4"].median()
    assert not others.duplicated(["key", "reading"]).any() and len(readings_rows(others, ledger)) == len(others)
    literally = others[others["reading"].str.startswith("the listing")]
    assert literally.loc[literally["reading"].str.contains("0.2, counting pres"), "ours"].item() == 229


def test_the_numbers_are_shown_with_the_entries_of_the_matrices_in_one_row(ledger):
    table = tables.numbers_table(ledger)
    assert len(table) == len(ledger) - 22 + 1
    assert table.iloc[-1][["quantity", "verdict"]].tolist() == ["22 legible entries", "not comparable"]


def test_theses_have_a_verdict_that_follows_from_the_numbers():
    found = claims.statements()
    assert tuple(found.columns) == STATEMENTS and found["key"].is_unique
    verdicts = found.set_index(found["key"].str.removeprefix("course-page/"))["verdict"].to_dict()
    assert verdicts == {
        "error-reduced": "holds in part",
        "learning-rate": "holds in part",
        "linear-separability": "holds",
    }
    assert found["evidence"].str.split().str.len().le(60).all()


def test_no_difference_detected_is_no_evidence_that_the_learning_rate_absorbs_the_constant(monkeypatch):
    difference = statistics.Difference(0.1, -0.5, 0.7, 0.8, 30, "runs", "Student's t", "Holm over 4")
    monkeypatch.setattr(claims.tables, "rate_differences", lambda _: {(2, 0.2): difference})
    assert claims.learning_rate(None)[0] == "cannot be told"


def test_the_limit_of_planes_is_removed_only_if_both_ways_end_without_an_error():
    runs = pd.DataFrame({"separable": [False] * 2, "linear": [9, 9], "kernel": [0, 0], "network": [0, 0]})
    for change, verdict in (
        ({}, "holds"),
        ({"network": [0, 3]}, "holds in part"),
        ({"separable": [True] * 2}, "cannot be told"),
    ):
        assert claims.linear_separability(runs.assign(**change))[0] == verdict


def test_a_statement_on_steps_holds_only_without_exception():
    steps = pd.DataFrame({"eta": [1.0], "modifications": [5], "corrected": [5], "fell": [5], "rose": [0]})
    for change, verdict in (({}, "holds"), ({"rose": 1}, "holds in part"), ({"corrected": 4}, "holds in part")):
        assert claims.error_reduced(steps.assign(**change))[0] == verdict
    assert claims.error_reduced(steps.assign(corrected=0, rose=5))[0] == "does not hold"


def test_published_numbers_of_a_row_add_up_to_its_images():
    page = pd.read_csv(experiment.PAGE, index_col="key")["published"]
    nines = page[page.index.str.startswith("test_9")]
    assert nines.sum() == 116 and page["test_error"] + page["correct"] == 1


def test_experiments_are_the_tables_of_their_settings(counts, monkeypatch):
    settings = experiment.Settings(dataset="digits", n_seeds=12, n_code_seeds=1, n_splits=2, random_state=0)
    monkeypatch.setattr(experiment, "count_modifications", lambda **options: options)
    assert experiment.modifications.compute(settings) == {"n_seeds": 12, "random_state": 0}
    for each, function, runs in (
        ("listing", "run_listing", 12),
        ("steps", "count_steps", 12),
        ("parity", "compare_parity", 1),
    ):
        monkeypatch.setattr(experiment, function, lambda **options: options)
        assert getattr(experiment, each).compute(settings) == {"n_seeds": runs, "random_state": 0}
    X, y = experiment.images("digits")
    monkeypatch.setattr(experiment, "images", lambda name: (X[:200], y[:200]))
    found = experiment.digits.compute(settings)
    assert len(found["digits"]) == len(experiment.WIDTHS) * 2 * 2 and len(found["confusion"]) == 2 * 2 * 10
    width = experiment.nearest_width(found["digits"], experiment.page()["test_error"])
    assert set(found["confusion"]["width"]) == {width}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"dataset": "iris"}, "one of mnist, digits, got 'iris'"),
        ({"n_splits": 0}, "n_splits must be an integer of at least 1, got 0"),
        ({"random_state": True}, "random_state must be an integer"),
    ],
)
def test_settings_that_make_no_sense_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        experiment.Settings(**{"dataset": "digits", "n_seeds": 1, "n_code_seeds": 1, "n_splits": 1} | changes)


def test_figures_show_the_tables(counts, code_runs, errors, confusion):
    page = {2: 9, 3: 35}
    X, y, model = experiment.delta_rule_run(2, s=0.3, random_state=0)
    history = model.weights_history()
    lines = figures.figure_moving_lines(X, y, model.mistakes_, history, model.code_)
    titles = [axis.get_title() for axis in lines.axes if axis.axison]
    assert len(titles) == len(history) and titles[-1].endswith(": 0 wrong")
    assert all(len(axis.texts) == 2 for axis in lines.axes if axis.axison)  # an arrow for each output
    assert titles[1:] == [f"{k}: {wrong} wrong" for k, wrong in enumerate(model.mistakes_.errors, start=1)]
    rows = tables.by_spread(counts, page)
    below = figures.figure_modifications(counts, rows, page).axes[2]
    wanted = rows.query("inputs == 2 and n_per_class == 50 and eta == 1 and counted == 'presentations'")["ours"]
    assert below.lines[0].get_ydata().tolist() == wanted.tolist()
    shares = figures.figure_codes(code_runs).axes[0].lines[0].get_ydata()
    one_hot = code_runs[(code_runs["inputs"] == 2) & (code_runs["code"] == "one-hot")]
    assert list(shares) == one_hot.groupby("s")["converged"].mean().tolist()
    widths = tables.by_width(errors)
    axis = figures.figure_widths(widths, 0.11).axes[0]
    assert axis.lines[0].get_ydata().tolist() == widths.loc[widths["code"] == "one-hot", "ours"].tolist()
    cells = [f"as_{k}" for k in range(10)]
    both = [confusion.loc[(confusion["part"] == p) & (confusion["split"] == 0), cells] for p in ("train", "test")]
    figure = figures.figure_confusions(*both)
    assert sum(int(text.get_text()) for text in figure.axes[1].texts) == 200


def test_signs_and_fractions_read_as_text():
    assert tables.signed([1, -2, 0]) == "+1 −2 0" and tables.fractions([1 / 16, 1.0]) == ["1/16", "1"]


def test_codes_are_shown_as_the_page_prints_them():
    table = tables.codes_table(4).set_index(["encoding", "output"])
    binary = [[text.replace("−", "-") for text in row] for row in table.loc["binary"].to_numpy()]
    assert binary == [["-1", "-1", "+1", "+1"], ["-1", "+1", "-1", "+1"]]
    assert [(row == "+1").tolist() for row in table.loc["one-hot"].to_numpy()] == np.eye(4, dtype=bool).tolist()


def test_decoding_takes_the_class_that_matches_and_else_the_largest_output():
    table = tables.decoding_table([[-1, 2, -1, -3], [-1, 2, -1, 3], [-3, -2, -1, -4]], 2 * np.eye(4, dtype=int) - 1)
    assert table["matching"].tolist() == ["2", "none", "none"] and table["decoded"].tolist() == [2, 4, 3]


def test_the_table_of_a_run_tells_what_each_modification_did():
    X, y, model = experiment.delta_rule_run(2, s=0.3, random_state=5)
    table, x = tables.run_table(X, y, model), np.column_stack([np.ones(len(X)), X])
    wrong = [np.count_nonzero((np.sign(x @ W.T) != model.code_[y]).any(axis=1)) for W in model.weights_history()]
    assert table["wrong"].tolist() == wrong[1:] and table["change"].tolist() == np.diff(wrong).tolist()
    assert (table["class"] - 1).tolist() == y[model.mistakes_.example].tolist()


def test_spreads_are_shown_side_by_side_and_those_that_fit_are_found(counts):
    page = {2: 9, 3: 35}
    spreads = tables.by_spread(counts, page)
    table, shown = tables.spreads_table(spreads), tables.presented(spreads)
    assert len(table) == len(shown) / 2
    for row in shown.itertuples():
        text = table.query("s == @row.s and n_per_class == @row.n_per_class")[f"modifications, {2**row.inputs}"].item()
        assert text.startswith(f"{row.ours:g} (") if row.n else pd.isna(text)
    for number in range(2, 60):
        for (inputs, n), found in tables.fitting(spreads, {2: number, 3: number}).items():
            rows = shown[(shown["inputs"] == inputs) & (shown["n_per_class"] == n)]
            assert found == sorted({row.s for row in rows.itertuples() if row.low <= number <= row.high})


@pytest.mark.parametrize(("inputs", "code"), [(2, "binary"), (3, "binary"), (2, "one-hot"), (3, "one-hot")])
def test_the_best_planes_are_as_far_from_the_corners_as_a_support_vector_machine_finds(inputs, code):
    corners = experiment.binary(2**inputs).astype(float)
    targets = corners[:, 0] if code == "binary" else np.where(np.arange(len(corners)) == 0, 1, -1)
    margin = 1 / np.linalg.norm(SVC(kernel="linear", C=1e6).fit(corners, targets).coef_)
    table = tables.planes_table((0.4,)).set_index(["inputs", "code"])
    assert table.loc[(inputs, code), "distance"] == pytest.approx(margin, rel=1e-3)


def test_expected_samples_beyond_the_middle_planes_are_those_that_are_drawn():
    X, y = experiment.gaussian_classes(3, n_per_class=5000, s=0.5, random_state=2)
    beyond = np.count_nonzero(np.sign(X) != experiment.binary(8)[y])
    expected = tables.planes_table((0.5,), n_per_class=5000).set_index(["inputs", "code"]).loc[(3, "binary"), "s = 0.5"]
    assert beyond == pytest.approx(expected, rel=0.1)


def test_errors_in_any_output_are_those_of_the_listing(digits, errors):
    row = errors[(errors["code"] == "one-hot") & (errors["width"] == 0.25) & (errors["split"] == 1)]
    train, test = digits.split(1)
    K = digits.gram(0.25)
    model = experiment.fit_digits(K[np.ix_(train, train)], digits.y[train], code="one-hot", random_state=1)
    signs = np.sign(model.outputs(K[np.ix_(test, train)]))
    wrong = np.count_nonzero((signs != model.code_[digits.y[test]]).any(axis=1))
    assert tables.any_output(row).item() == wrong > row["test_errors"].item()
    table = tables.widths_table(errors).set_index("width")
    rates = tables.any_output(errors) / errors["n_test"]
    own = rates[(errors["code"] == "one-hot") & (errors["width"] == 0.25)]
    assert table.loc[0.25, "one-hot any"] == own.median()


def test_confusions_are_those_of_the_nearest_split(confusion):
    split, train, test = tables.nearest_split(confusion, 1.0)
    wrong = {k: 200 - np.trace(tables.nearest_split(confusion[confusion["split"] == k], 1.0)[2]) for k in range(3)}
    assert split == max(wrong, key=wrong.get) and 200 - np.trace(test) == wrong[split] and np.trace(train) == 200


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(-2, 2), min_size=3, max_size=3), st.lists(st.floats(-1, 1), min_size=3, max_size=3))
def test_a_line_lies_in_a_cube_between_two_points_on_its_surface(point, direction):
    point, direction = np.array(point), np.array(direction)
    if np.abs(direction).max() < 0.1:
        return
    ends = figures.segment_in_cube(point, direction, 1.6)
    inside = [np.abs(point + t * direction).max() <= 1.6 for t in np.linspace(-100, 100, 20001)]
    if ends is None:
        assert sum(inside) <= 1
    else:
        surface = [np.abs(point + t * direction).max() for t in ends]
        assert surface == pytest.approx([1.6, 1.6], abs=1e-6)
        assert sum(inside) == pytest.approx((min(ends[1], 100) - max(ends[0], -100)) / 0.01, abs=2)
