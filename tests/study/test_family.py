"""The family study: bounds against brute force and against runs, summaries of tables, what is stored and when it is read."""

import math
from dataclasses import replace

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.svm import SVC

from kp import kernels
from kp.budget import BudgetPerceptron, normalized
from study import datasets, store
from study.algorithm import experiment as toy
from study.family import experiment as family
from study.family import figures as figures_family
from study.family import tables as tables_family

TINY = replace(
    family.QUICK, n_train=120, budgets=(4, 8), class_budgets=(3,), n_orders=2, n_growth=60, n_noise=40, n_epochs=2,
    noise=(0.0, 0.2), regularizations=(1e-4, 1e-2), n_bound=40, n_nu=60, nus=(0.2,), sizes=(40, 80),
)  # fmt: skip


@pytest.fixture(scope="module")
def tables():
    return {name: family.table(name, TINY) for name in family.TABLES}


# ------------------------------------------------------------------ mistake bounds and the vote


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(-1, 1, width=32), min_size=1, max_size=12), st.floats(0.5, 2))
def test_the_mistake_bound_is_the_least_over_margins(margins, R):
    assume(max(margins) > 1e-3)
    bound, gamma, deviation = family.mistake_bound(margins, R)
    grid = np.geomspace(1e-3, 1e3, 2000) * max(np.abs(margins))
    deviations = np.sqrt((np.maximum(0.0, grid[:, None] - margins) ** 2).sum(axis=1))
    values = (R + deviations) ** 2 / grid**2
    assert bound <= values.min() * (1 + 1e-6)
    assert bound == pytest.approx(((R + deviation) / gamma) ** 2, rel=1e-9)


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 10**6), st.integers(5, 60), st.integers(1, 3), st.floats(0, 0.4))
def test_no_perceptron_makes_more_mistakes_than_any_unit_vector_allows(seed, n, degree, flip):
    random = np.random.RandomState(seed)
    X, coefficients = random.randint(-5, 6, (n, 3)), random.standard_normal(n)
    z = np.where(X[:, 0] + 0.3 * random.standard_normal(n) > 0, 1, -1) * np.where(random.random_sample(n) < flip, -1, 1)
    assume(len(set(z)) == 2)
    model = BudgetPerceptron(budget=None, degree=degree, shuffle=False).fit(X, z)
    K = normalized(kernels.polynomial(degree), X, X)
    for c in (coefficients, z.astype(float)):
        margins = z * (K @ c) / math.sqrt(c @ K @ c)
        assert model.n_mistakes_[0] <= family.mistake_bound(margins, 1.0)[0] * (1 + 1e-9)


def test_directions_are_unit_vectors_with_the_margin_of_the_hard_machine_where_one_exists():
    X, z = toy.gapped(60, gap=0.3, random_state=0)
    R, gamma = toy.mistake_bound(X, z, 1)
    margins = family.unit_margins(kernels.polynomial(1)(X, X), z, 1e6)
    assert margins.min() == pytest.approx(gamma, rel=1e-3)
    wide = np.abs(margins).max()
    assert wide <= R * (1 + 1e-9), "|u| = 1 and |phi| <= R"


def test_margins_of_a_part_are_those_of_one_unit_vector_for_all_examples():
    X, z = toy.gapped(90, gap=0.2, random_state=1)
    kernel = kernels.polynomial(2)
    K = normalized(kernel, X[:50], X[:50])
    margins = family._margins_of_part(kernel, K, X, z, 10.0)
    machine = SVC(C=10.0, kernel="precomputed").fit(K, z[:50])
    f = machine.decision_function(normalized(kernel, X, X[:50])) - machine.intercept_
    w = np.zeros(50)
    w[machine.support_] = machine.dual_coef_[0]
    np.testing.assert_allclose(margins, z * f / math.sqrt(w @ K @ w), rtol=1e-9)


def test_the_bound_of_the_vote_is_twice_the_mistakes_over_n_plus_one():
    np.testing.assert_array_equal(family.vote_bound([0, 10], 99), [0.0, 0.2])


@pytest.mark.parametrize("degree", [1, 3])
def test_the_vote_counts_every_predictor_as_long_as_it_stood(degree):
    X, y = family.ordered(TINY, 120, 0)
    X_test = datasets.load("digits").X_test[:50]
    model = BudgetPerceptron(budget=None, degree=degree, shuffle=False).fit(X, y)
    own, K = normalized(kernels.polynomial(degree), X, X), normalized(kernels.polynomial(degree), X_test, X)
    w, votes, z = np.zeros(len(X)), np.zeros(50), 2 * y - 1
    for t in range(len(X)):
        if z[t] * (w @ own[t]) <= 0:
            w[t] += z[t]
        votes += np.sign(K @ w)
    np.testing.assert_array_equal(family.vote(model, X_test), votes)


# ------------------------------------------------------------------ streams and tables


def test_a_stream_is_reproducible_and_its_wrong_labels_are_a_fraction():
    (X, y), (again, same) = (family.ordered(TINY, 100, 3, noise=0.3) for _ in range(2))
    np.testing.assert_array_equal(X, again)
    np.testing.assert_array_equal(y, same)
    big = replace(family.QUICK, n_train=1200)
    (_, clean), (_, wrong) = family.ordered(big, 1200, 3), family.ordered(big, 1200, 3, noise=0.3)
    assert np.mean(clean != wrong) == pytest.approx(0.3, abs=0.05)
    assert set(family.ordered(TINY, 50, 0, problem="ten digits")[1]) <= set(range(10))


def test_labels_of_bytes_can_be_made_signs():
    y = family.labels("odd or even", np.array([4, 7], dtype=np.uint8))
    assert (2 * y - 1).tolist() == [-1, 1] and (1 - y).tolist() == [1, 0]


def test_checkpoints_increase_to_the_end():
    for n in (20, 1200, 60000):
        stops = family.checkpoints(n)
        assert stops[-1] == n and np.all(np.diff(stops) > 0)


def test_the_rows_of_a_stream_are_what_a_literal_run_counts():
    X, y = family.ordered(TINY, 120, 1)
    rows = family.run_stream(family.learner("oldest", 5, TINY), X, y, np.array([0, 1]))
    K, z, held, errors, seen = normalized(kernels.polynomial(3), X, X), 2 * y - 1, [], 0, {}
    for t in range(120):
        f = sum(z[i] * K[i, t] for i in held)
        errors += (1 if f > 0 else 0) != y[t]
        if z[t] * f <= 0:
            held = [*held, t][-5:]
        seen[t + 1] = (errors, len(held))
    assert [(stop, *seen[stop]) for stop, *_ in rows] == [(stop, wrong, support) for stop, wrong, _, support in rows]


def test_every_stream_of_the_plan_has_one_row_at_each_checkpoint_and_one_at_the_end(tables):
    streams, final = tables["streams"], tables["final"]
    assert len(final) == len(family._plan(TINY)) == len(final.drop_duplicates(family.KEYS))
    stops = streams.groupby(family.KEYS)["examples"].apply(list)
    assert all(found == family.checkpoints(found[-1]).tolist() for found in stops)
    part = streams[streams["budget"] > 0]
    learners = np.where(part["problem"] == "ten digits", 10, 1)
    kept = part["method"] != "norma"
    assert (part["support"] <= part["budget"] * learners)[kept].all()
    assert (final["errors"] <= final["n_test"]).all() and final["damage"].notna().sum() == 2 * 2 * 3


def test_no_bound_is_broken(tables):
    bounds = tables["bounds"]
    assert (bounds["mistakes"] <= bounds["bound"]).all()
    separated = bounds[bounds["separated"].astype(bool) & bounds["hard_bound"].notna()]
    assert len(separated) and (separated["total"] <= separated["hard_bound"]).all()
    assert set(bounds["n"]) == {TINY.n_bound, TINY.n_train}


def test_the_tables_do_not_depend_on_what_runs_side_by_side(tables, monkeypatch):
    monkeypatch.setattr(family, "_side_by_side", lambda run, jobs, *_: [run(job) for job in jobs])
    for name in ("noise", "nu", "machines"):
        pd.testing.assert_frame_equal(family.compute(name, TINY), tables[name])


# ------------------------------------------------------------------ summaries


def test_growth_exponents_find_the_power_of_a_power_law():
    rows = [
        ("odd or even", "poly", "perceptron", 0, noise, seed, n, 0, 0, c * n**power)
        for noise, power in ((0.0, 0.5), (0.2, 1.0))
        for seed, c in enumerate((2.0, 3.0, 5.0))
        for n in (10, 100, 300, 1000)
    ]
    table = pd.DataFrame(rows, columns=[*family.KEYS, "examples", "online_errors", "mistakes", "support"])
    found = tables_family.growth_exponents(table)
    np.testing.assert_allclose(found[["exponent", "low", "high"]], [[0.5] * 3, [1.0] * 3], atol=1e-9)


def test_error_by_budget_is_the_mean_over_orders(tables):
    found = tables_family.by_budget(tables["streams"], tables["final"], "odd or even").set_index(["method", "budget"])
    final = tables["final"]
    own = final[(final["method"] == "random") & (final["budget"] == 8) & (final["problem"] == "odd or even")]
    rates = own["errors"] / own["n_test"]
    row = found.loc[("random", 8)]
    assert (row["test"], row["test_low"], row["test_high"]) == pytest.approx((rates.mean(), rates.min(), rates.max()))
    assert row["n_orders"] == TINY.n_orders and row["support"] == 8
    assert set(found.index.get_level_values("method")) == set(family.METHODS)


def test_the_value_is_chosen_on_validation_examples_not_on_test_examples():
    keys = ["noise", "method", "passes", "value", "random_state", "train", "validation", "test"]
    rows = [
        (0.1, "norma", 5, 1.0, 0, 5, 10, 50),
        (0.1, "norma", 5, 1.0, 1, 5, 20, 70),
        (0.1, "norma", 5, 2.0, 0, 5, 16, 10),
        (0.1, "norma", 5, 2.0, 1, 5, 16, 10),
    ]
    table = pd.DataFrame(rows, columns=keys).assign(n_train=100, n_validation=100, n_test=100, support=3)
    (best,) = tables_family.chosen_by_validation(table).to_dict("records")
    assert best["value"] == 1.0 and best["test"] == pytest.approx(0.6) and best["spread"] == pytest.approx(math.sqrt(0.02))
    assert tables_family.least_regularized(table, 0.1) == pytest.approx(0.6)


def test_the_account_of_the_forgetron_keeps_within_its_limit(tables):
    account = tables_family.forgetron_account(tables["streams"], tables["final"], "odd or even")
    own = account[account["method"] == "forgetron"]
    assert len(own) == 2 and (own["Q / M"] <= 15 / 32 + 1e-9).all() and (own["Q / M"] > 0.1).all()


def test_claims_have_the_columns_of_the_ledger_and_computed_verdicts(tables):
    claims = tables_family.claims(tables["streams"])
    columns = ["source", "item", "quantity", "published", "ours", "low", "high", "n", "verdict", "percentile", "producer"]
    assert list(claims) == columns
    linear = claims[claims["published"] == 1.0]
    inside = (linear["low"] <= 1) & (linear["high"] >= 1)
    assert (linear["verdict"] == np.where(inside, "within", "outside")).all()
    budgets = claims[claims["quantity"].str.startswith("most examples held")]
    assert len(budgets) == 4 and (budgets["verdict"] == "exact").all()


# ------------------------------------------------------------------ settings and stored tables


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"dataset": "iris"}, "dataset must be mnist or digits, got 'iris'"),
        ({"n_train": 1201}, "n_train must be in 20..1200, got 1201"),
        ({"n_noise": 700}, "n_noise must be in 20..600, got 700"),
        ({"n_bound": 1300}, "n_bound must be in 20..1200, got 1300"),
    ],
)
def test_settings_that_cannot_be_run_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        replace(family.QUICK, **changes)


def test_settings_of_a_notebook_are_those_of_its_profile_with_changes():
    assert tables_family.settings("digits") == family.QUICK
    assert tables_family.settings("mnist", budgets=[*family.PUBLISHED.budgets]) == family.PUBLISHED
    small = tables_family.settings("digits", n_train=300, budgets=[5])
    assert (small.n_growth, small.n_noise, small.budgets, small.sizes) == (300, 150, (5,), (100, 200))
    with pytest.raises(ValueError, match="dataset must be mnist or digits, got 'iris'"):
        tables_family.settings("iris")


def test_unknown_tables_are_refused():
    with pytest.raises(ValueError, match="table must be one of streams, .* got 'stream'"):
        family.table("stream", TINY)


def test_published_tables_are_stored_once_read_back_and_refused_when_stale(tables, tmp_path, monkeypatch):
    monkeypatch.setattr(family, "RESULTS", tmp_path)
    monkeypatch.setattr(family, "PUBLISHED", TINY)
    monkeypatch.setattr(family, "TABLES", ("nu", "machines"))
    monkeypatch.setattr(datasets, "checksums", lambda name: {"file": "0" * 64})
    with pytest.raises(store.StaleResult, match="python -m study run family"):
        family.table("nu", TINY)
    made = []
    monkeypatch.setattr(family, "compute", lambda name, settings, *, progress: made.append(name) or tables[name])
    family.publish()
    assert made == list(family.TABLES)
    for name in family.TABLES:
        pd.testing.assert_frame_equal(family.table(name, TINY), tables[name], check_dtype=False)
    family.publish()
    assert len(made) == len(family.TABLES), "nothing is computed twice"
    family.publish(recompute=True)
    assert len(made) == 2 * len(family.TABLES)
    path = tmp_path / "family_nu.csv"
    path.write_text(path.read_text() + "0.5,1,1,1\n")
    with pytest.raises(store.StaleResult, match="family_nu.csv is not what was recorded"):
        family.table("nu", TINY)


# ------------------------------------------------------------------ figures


def test_figures_have_quantities_on_their_axes(tables):
    streams, final = tables["streams"], tables["final"]
    summaries = {problem: tables_family.by_budget(streams, final, problem) for problem in family.PROBLEMS}
    made = [
        figures_family.figure_growth(streams, 4),
        figures_family.figure_budget(summaries),
        figures_family.figure_online(streams, {"odd or even": 4, "ten digits": 3}),
        figures_family.figure_noise(tables["noise"]),
        figures_family.figure_bounds(tables["bounds"]),
        figures_family.figure_nu(tables["nu"]),
        figures_family.figure_machines(tables["machines"]),
    ]
    for figure in made:
        assert isinstance(figure, mpl.figure.Figure)
        left, bottom = figure.axes[0], figure.axes[-1]
        assert left.get_ylabel() and bottom.get_xlabel()
        assert all(len(axis.lines) > 0 for axis in figure.axes)
