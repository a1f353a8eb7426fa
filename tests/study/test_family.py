"""The chapter on the family: margins of a part, votes, streams against literal runs, summaries of tables, figures."""

import math
from dataclasses import replace

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from sklearn.svm import SVC

from kp import kernels, literal
from kp.budget import BudgetPerceptron, Norma, normalized
from kp.perceptron import visiting_orders
from study import claims as ledger
from study import datasets
from study.family import claims, descent, experiment, figures, guarantee, tables
from study.family.names import KEYS, METHODS, ODD_OR_EVEN, TEN_DIGITS

TINY = replace(
    experiment.QUICK, n_train=120, budgets=(4, 8), class_budgets=(3,), n_orders=2, n_repeats=6, n_growth=60, n_noise=40,
    n_epochs=2, noise=(0.0, 0.2, 0.3), regularizations=(1e-4, 1e-2), n_memory=100, memory_budgets=(4, 8), n_bound=40,
    sizes=(40, 60), size_repeats=2,
)  # fmt: skip


@pytest.fixture(scope="module")
def made():
    """{name: table} of all experiments for TINY."""
    others = {"noise": experiment.noise(TINY.estimated()), "bounds": experiment.bounds(TINY.bounds())}
    others |= {"wrong_labels": experiment.wrong_labels(TINY.noises()), "machines": experiment.machines(TINY.machines())}
    others |= {"growth": experiment.growth(TINY.growths()), "guaranteed": experiment.guaranteed(TINY.guarantees())}
    others |= {"relatives": experiment.relatives(TINY.guarantees())}
    return experiment.streams(TINY.streams()) | experiment.memory(TINY.memories()) | others


# Margins and the vote.


def test_margins_of_a_part_are_those_of_one_unit_vector_for_all_examples():
    X = np.random.RandomState(1).uniform(-1, 1, (90, 2))
    z = np.where(2 * X[:, 0] + X[:, 1] > 0.5, 1, -1)
    kernel = kernels.polynomial(2)
    K = normalized(kernel, X[:50], X[:50])
    margins = experiment._margins_of_part(kernel, K, X, z, 10.0)
    machine = SVC(C=10.0, kernel="precomputed").fit(K, z[:50])
    f = machine.decision_function(normalized(kernel, X, X[:50])) - machine.intercept_
    w = np.zeros(50)
    w[machine.support_] = machine.dual_coef_[0]
    np.testing.assert_allclose(margins, z * f / math.sqrt(w @ K @ w), rtol=1e-9)


@pytest.mark.parametrize("degree", [1, 3])
def test_the_vote_counts_every_predictor_as_long_as_it_stood(degree):
    X, y = experiment.ordered(TINY, 120, 0)
    X_test = datasets.load("digits").X_test[:50]
    model = BudgetPerceptron(budget=None, degree=degree, shuffle=False).fit(X, y)
    K = normalized(kernels.polynomial(degree), X, np.concatenate([X, X_test]))
    alphas, survived = literal.voted_perceptron(K[:, : len(X)], 2 * y - 1, range(len(X)))
    votes = literal.vote(alphas, survived, 2 * y - 1, K[:, len(X) :])
    np.testing.assert_array_equal(experiment.vote(model, kernels.polynomial(degree), X_test), votes)


# Streams and tables.


def test_a_stream_is_reproducible_and_its_wrong_labels_are_a_fraction():
    (X, y), (again, same) = (experiment.ordered(TINY, 100, 3, noise=0.3) for _ in range(2))
    np.testing.assert_array_equal(X, again)
    np.testing.assert_array_equal(y, same)
    big = replace(experiment.QUICK, n_train=1200)
    (_, clean), (_, wrong) = experiment.ordered(big, 1200, 3), experiment.ordered(big, 1200, 3, noise=0.3)
    assert np.mean(clean != wrong) == pytest.approx(0.3, abs=0.05)
    assert set(experiment.ordered(TINY, 50, 0, problem="ten digits")[1]) <= set(range(10))


def test_labels_of_bytes_can_be_made_signs():
    y = experiment.labels("odd or even", np.array([4, 7], dtype=np.uint8))
    assert (2 * y - 1).tolist() == [-1, 1] and (1 - y).tolist() == [1, 0]


def test_checkpoints_increase_to_the_end():
    for n in (20, 1200, 60000):
        stops = experiment.checkpoints(n)
        assert stops[-1] == n and np.all(np.diff(stops) > 0)


def test_the_rows_of_a_stream_are_what_a_literal_run_counts():
    X, y = experiment.ordered(TINY, 120, 1)
    rows = experiment.run_stream(experiment.learner("oldest", 5, TINY), X, y, np.array([0, 1]))
    z, seen = 2 * y - 1, np.arange(1, 121)
    _, scores = literal.budget_perceptron(normalized(kernels.polynomial(3), X, X), z, range(120), 5)
    wrong = np.cumsum(np.where(np.array(scores) > 0, 1, 0) != y)
    mistakes = np.cumsum(z * np.array(scores) <= 0)
    expected = [
        (n, wrong[n - 1], mistakes[n - 1], min(mistakes[n - 1], 5)) for n in seen if n in experiment.checkpoints(120)
    ]
    assert rows == expected


def test_every_stream_of_the_plan_has_one_row_at_each_checkpoint_and_one_at_the_end(made):
    streams, final = made["streams"], made["final"]
    assert len(final) == sum(part.n_orders for part in TINY.streams()) == len(final.drop_duplicates(KEYS))
    stops = streams.groupby(KEYS)["examples"].apply(list)
    assert all(found == experiment.checkpoints(found[-1]).tolist() for found in stops)
    part = streams[streams["budget"] > 0]
    learners = np.where(part["problem"] == TEN_DIGITS, 10, 1)
    kept = part["method"] != "norma"
    assert (part["support"] <= part["budget"] * learners)[kept].all()
    assert (final["errors"] <= final["n_test"]).all() and final["damage"].notna().sum() == 2 * 2 * 3


def test_parts_come_in_the_order_of_the_published_rows():
    parts = experiment.PUBLISHED.streams()
    heads = [(part.problem, part.kernel, part.noise, part.n_orders) for part in parts[:5]]
    odd = [(ODD_OR_EVEN, "poly", 0.0, 5), (ODD_OR_EVEN, "rbf", 0.0, 5), (ODD_OR_EVEN, "poly", 0.1, 5)]
    assert heads == [*odd, (ODD_OR_EVEN, "poly", 0.2, 5), (TEN_DIGITS, "poly", 0.0, 3)]
    assert len(set(parts)) == len(parts) == 5 + 5 * (6 + 3)
    assert [(part.n, part.n_orders) for part in experiment.PUBLISHED.bounds()] == [(2000, 3)] * 6 + [(60000, 1)] * 6


def test_no_bound_is_broken(made):
    bounds = made["bounds"]
    assert (bounds["mistakes"] <= bounds["bound"]).all()
    separated = bounds[bounds["separated"].astype(bool) & bounds["hard_bound"].notna()]
    assert len(separated) and (separated["total"] <= separated["hard_bound"]).all()
    assert set(bounds["n"]) == {TINY.n_bound, TINY.n_train}


# The perceptron with margin and regularisation.


def binary(n=120, n_test=60, seed=0, noise=0.2):
    """K (n, n + n_test), z (n + n_test,), and what an estimator needs: X, X_test."""
    X, y = experiment.ordered(TINY, n, seed, noise=noise)
    data = datasets.load("digits")
    z = 2 * np.concatenate([y, data.y_test[:n_test] % 2]) - 1
    return normalized(kernels.polynomial(3), X, np.concatenate([X, data.X_test[:n_test]])), z, X, data.X_test[:n_test]


@pytest.mark.parametrize("margin, regularization", [(0.0, 0.0), (1.0, 0.0), (0.0, 0.01), (1.0, 0.003)])
def test_the_last_predictor_is_that_of_the_estimators(margin, regularization):
    K, z, X, X_test = binary()
    common = dict(degree=3, max_iter=3, random_state=5)
    model = Norma(step=1.0, margin=margin, regularization=regularization, **common).fit(X, z[:120])
    orders = visiting_orders(120, 1, 3, random_state=np.random.RandomState(5))
    *_, (scores, held) = descent.passes(K, z[:120], orders, margin=margin, regularization=regularization)
    np.testing.assert_allclose(scores[0, 120:], model.decision_function(X_test), rtol=1e-8, atol=1e-9)
    assert held == len(model.support_)


def test_averaged_and_voted_predictors_are_the_sums_over_all_steps():
    K, z, *_ = binary()
    orders = list(visiting_orders(120, 1, 2, random_state=np.random.RandomState(1)))
    runs = list(descent.passes(K, z[:120], orders, margin=0.0, regularization=0.0))
    for done, (scores, _) in enumerate(runs, start=1):
        steps = np.concatenate([order[0] for order in orders[:done]])
        alphas, survived = literal.voted_perceptron(K[:, :120], z[:120], steps)
        f = np.array([(alpha * z[:120]) @ K for alpha in alphas])
        np.testing.assert_allclose(scores[1], np.array(survived) @ f, rtol=1e-9, atol=1e-9)
        np.testing.assert_array_equal(scores[2], np.array(survived) @ np.sign(f))


def test_averages_under_regularisation_are_those_of_a_plain_loop():
    K, z, *_ = binary()
    (order,) = next(visiting_orders(120, 1, 1, random_state=np.random.RandomState(2)))
    f, total, votes = np.zeros((3, K.shape[1]))
    for i in order:
        wrong = z[i] * f[i] <= 1.0
        f = 0.98 * f + wrong * z[i] * K[i]
        total, votes = total + f, votes + np.sign(f)
    ((scores, _),) = descent.passes(K, z[:120], [order[None]], margin=1.0, regularization=0.02)
    np.testing.assert_allclose(scores[:2], [f, total], rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(scores[2], votes)


def test_strong_regularisation_does_not_run_out_of_numbers():
    K, z, *_ = binary()
    orders = list(visiting_orders(120, 1, 3, random_state=np.random.RandomState(2)))
    *_, (scores, _) = descent.passes(K, z[:120], orders, margin=1.0, regularization=0.9)
    f = np.zeros(K.shape[1])
    for i in np.concatenate(orders, axis=None):
        wrong = z[i] * f[i] <= 1.0
        f = 0.1 * f + wrong * z[i] * K[i]
    np.testing.assert_allclose(scores[0], f, rtol=1e-7)


def test_wrong_labels_are_learnt_as_by_the_estimators(made):
    ours = made["wrong_labels"].query("predictor == 'last'")
    theirs = made["noise"]
    for row in theirs.itertuples():
        kind = {"perceptron": "margin == 0 and value == 0", "norma": "margin == 1", "svm": "method == 'svm'"}[row.method]
        own = ours.query(kind).query("noise == @row.noise and random_state == @row.random_state and passes == @row.passes")
        own = own if row.method == "perceptron" else own[own["value"] == row.value]
        assert own[["train", "validation", "test", "support"]].to_numpy().tolist() == [
            [row.train, row.validation, row.test, row.support]
        ]


def test_machines_are_compared_at_every_size_in_every_order(made):
    machines = made["machines"]
    assert sorted(set(zip(machines["n"], machines["random_state"], strict=True))) == [(40, 0), (40, 1), (60, 0), (60, 1)]
    assert set(machines["value"]) == {0.0, *experiment.COSTS} and set(machines["noise"]) == {0.0}


# Equal memory.


@pytest.mark.parametrize("method, budget, tau", [("perceptron", 0, 0), ("oldest", 5, 0), ("norma", 5, 30)])
def test_what_is_held_before_a_step_is_what_a_learner_holds(method, budget, tau):
    part = replace(TINY.memories()[0], method=method, budget=budget)
    X, y = experiment.ordered(TINY, 100, 1)
    model, held, wrong = experiment.holding(part, tau, random_state=0), [], []
    for x, label in zip(X, y, strict=True):
        held.append(len(getattr(model, "support_", [])))
        f = model.partial_fit(x[None], [label], classes=[0, 1]).online_scores_[0, 0]
        wrong.append((2 * label - 1) * f <= 0)
    wrong = np.array(wrong)
    assert experiment.before(wrong, budget, tau).tolist() == held
    assert experiment.spent(wrong, method, budget, tau).tolist() == np.cumsum(held).tolist()


def test_a_forgetron_pays_for_its_removals_too():
    wrong = np.array([True, True, False, True, True])
    assert experiment.spent(wrong, "oldest", 2).tolist() == [0, 1, 3, 5, 7]
    assert experiment.spent(wrong, "forgetron", 2).tolist() == [0, 1, 3, 8, 13]


def test_all_learners_of_a_budget_hold_about_as_many(made):
    final, memory = made["memory_final"], made["memory"]
    full = final[final["budget"] == 4].groupby("method")["held"].mean()
    assert (full.drop("norma") == 4).all() and full["norma"] == pytest.approx(4, rel=0.4)
    assert (final.loc[final["method"] == "norma", "truncation"] > 0).all()
    last = memory[memory["examples"] == 100].set_index(["method", "budget"])
    assert (last.loc["perceptron", "values"] >= 0).all() and len(last) == 6 * 11


# The guarantee.


def test_the_least_bound_of_the_forgetron_is_enclosed():
    K, z, *_ = binary(60, 0)
    K, z = K[:, :60], z[:60].astype(float)
    random, Q = np.random.RandomState(0), z[:, None] * K[:, :60] * z
    for limit in (0.5, 2.0, np.inf):
        lower, upper, norm = guarantee.best_within(K, z, limit, tolerance=1e-7)
        assert lower <= upper <= lower * (1 + 1e-4) and norm <= limit * (1 + 1e-9)
        for _ in range(200):
            a = random.exponential(size=60) * (random.random_sample(60) < 0.5)
            length = np.sqrt(a @ Q @ a)
            a *= random.random_sample() * min(limit, 10) / length
            value = 2 * a @ Q @ a + 4 * np.maximum(0, 1 - Q @ a).sum()
            assert value >= lower * (1 - 1e-9)


def test_without_a_limit_the_least_bound_is_a_support_vector_machine_without_threshold():
    K, z, *_ = binary(60, 0)
    K, z = K[:, :60], z[:60].astype(float)
    _, upper, norm = guarantee.best_within(K, z, np.inf, tolerance=1e-8)
    Q = z[:, None] * K * z
    machine = SVC(C=1.0, kernel="precomputed", tol=1e-8).fit(np.block([[Q, -Q], [-Q, Q]]), np.repeat([1, -1], 60))
    a = np.bincount(machine.support_ % 60, np.abs(machine.dual_coef_[0]), minlength=60)
    # The mirror image doubles the losses: its C is half of ours for the same function.
    expected = 2 * a @ Q @ a + 4 * np.maximum(0, 1 - Q @ a).sum()
    other = SVC(C=0.5, kernel="precomputed", tol=1e-8).fit(np.block([[Q, -Q], [-Q, Q]]), np.repeat([1, -1], 60))
    b = np.bincount(other.support_ % 60, np.abs(other.dual_coef_[0]), minlength=60)
    half = 2 * b @ Q @ b + 4 * np.maximum(0, 1 - Q @ b).sum()
    assert upper <= expected * (1 + 1e-6) and upper == pytest.approx(half, rel=1e-5)
    assert norm == pytest.approx(np.sqrt(b @ Q @ b), rel=1e-3)


def test_a_reach_needs_a_budget():
    for norm in (0.3, 1.5, 4.0):
        budget = guarantee.budget_for(norm)
        assert guarantee.reach(budget) >= norm and (budget == 83 or guarantee.reach(budget - 1) < norm)
    assert guarantee.reach(500) == pytest.approx(math.sqrt(501 / math.log(501)) / 4)


def test_no_forgetron_breaks_its_guarantee_and_no_reach_makes_it_smaller(made):
    table = made["guaranteed"]
    assert (table["lower"] <= table["upper"] * (1 + 1e-6)).all() and (table["mistakes"] <= table["upper"]).all()
    for _, group in table.groupby("random_state"):
        assert group["upper"].iloc[0] <= group["upper"].min() * (1 + 1e-3)
        assert group.loc[group["budget"] > 0].sort_values("budget")["upper"].is_monotonic_decreasing


def test_a_mistake_raises_the_objective_of_the_machine(made):
    table = made["relatives"]
    assert table["norma_same"].all() and (table["least_gain"] >= 0.5).all()
    X, y = experiment.ordered(TINY, 40, 0)
    z, K = 2 * y - 1, normalized(kernels.polynomial(3), X, X)
    alpha = literal.kernel_perceptron(K, z, range(40))
    dual = alpha.sum() - (alpha * z) @ K @ (alpha * z) / 2
    assert table["dual"].iloc[0] == pytest.approx(dual, rel=1e-5) and table["mistakes"].iloc[0] == alpha.sum()


# Summaries.


def test_growth_exponents_find_the_power_of_a_power_law():
    rows = [
        ("odd or even", "poly", "perceptron", 0, noise, seed, n, 0, 0, c * n**power)
        for noise, power in ((0.0, 0.5), (0.2, 1.0))
        for seed, c in enumerate((2.0, 3.0, 5.0))
        for n in (10, 100, 300, 1000)
    ]
    table = pd.DataFrame(rows, columns=[*KEYS, "examples", "online_errors", "mistakes", "support"])
    found = tables.growth_exponents(table)
    np.testing.assert_allclose(found[["exponent", "low", "high"]], [[0.5] * 3, [1.0] * 3], atol=1e-9)


def test_error_by_budget_is_the_mean_over_orders(made):
    found = tables.by_budget(made["streams"], made["final"], "odd or even").set_index(["method", "budget"])
    final = made["final"]
    own = final[(final["method"] == "random") & (final["budget"] == 8) & (final["problem"] == "odd or even")]
    rates = own["errors"] / own["n_test"]
    row = found.loc[("random", 8)]
    assert (row["test"], row["test_low"], row["test_high"]) == pytest.approx((rates.mean(), rates.min(), rates.max()))
    assert row["n_orders"] == TINY.n_orders and row["support"] == 8
    assert set(found.index.get_level_values("method")) == set(METHODS)


def test_the_value_is_chosen_on_validation_examples_not_on_test_examples():
    keys = ["noise", "method", "passes", "value", "random_state", "train", "validation", "test"]
    rows = [
        (0.1, "norma", 5, 1.0, 0, 5, 10, 50),
        (0.1, "norma", 5, 1.0, 1, 5, 20, 70),
        (0.1, "norma", 5, 2.0, 0, 5, 16, 10),
        (0.1, "norma", 5, 2.0, 1, 5, 16, 10),
    ]
    table = pd.DataFrame(rows, columns=keys).assign(n_train=100, n_validation=100, n_test=100, support=3)
    (best,) = tables.chosen_by_validation(table).to_dict("records")
    assert best["value"] == 1.0 and best["test"] == pytest.approx(0.6) and best["spread"] == pytest.approx(math.sqrt(0.02))
    assert tables.least_regularized(table, 0.1) == pytest.approx(0.6)


def test_the_account_of_the_forgetron_keeps_within_its_limit(made):
    account = tables.forgetron_account(made["streams"], made["final"], "odd or even")
    own = account[account["method"] == "forgetron"]
    assert len(own) == 2 and (own["Q / M"] <= 15 / 32 + 1e-9).all() and (own["Q / M"] > 0.1).all()


def test_the_article_has_one_claim_and_its_other_conditions_are_readings(made, monkeypatch):
    monkeypatch.setattr(experiment, "PUBLISHED", TINY)
    (row,) = claims.claims().to_dict("records")
    growth = tables.growth_exponents(made["streams"])
    assert row["ours"] == round(growth["exponent"][0], 4) and row["n"] == TINY.n_train and row["published"] == 1.0
    assert row["verdict"] == ("within" if row["low"] <= 1 <= row["high"] else "outside") and row["chapter"] == "family"
    readings = ledger.readings_rows(claims.readings(), claims.claims())
    assert readings["reading"].tolist() == ["RBF kernel, clean labels", "polynomial kernel, 20% wrong labels"]
    assert readings["ours"].tolist() == growth["exponent"][1:].round(4).tolist()


# Settings.


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
        replace(experiment.QUICK, **changes)


def test_settings_of_a_notebook_are_those_of_its_profile_with_changes():
    assert experiment.settings("digits") == experiment.QUICK
    assert experiment.settings("mnist", budgets=experiment.PUBLISHED.budgets) == experiment.PUBLISHED
    small = experiment.settings("digits", n_train=300, budgets=(5,))
    assert (small.n_growth, small.n_noise, small.budgets, small.sizes) == (300, 150, (5,), (100, 200))
    with pytest.raises(ValueError, match="dataset must be mnist or digits, got 'iris'"):
        experiment.settings("iris")


# Figures.


def drawn(axis):
    """{label: heights} of the lines of an axis."""
    return {line.get_label(): line.get_ydata() for line in axis.lines}


def assert_labelled(figure):
    assert isinstance(figure, mpl.figure.Figure)
    assert figure.axes[0].get_ylabel() and figure.axes[-1].get_xlabel()
    figure.canvas.draw()


def test_growth_is_drawn_by_kernel_and_method(made):
    streams = made["streams"]
    figure = figures.figure_growth(streams, 4)
    assert_labelled(figure)
    left, right = map(drawn, figure.axes)
    rbf = streams[(streams["kernel"] == "rbf")].groupby("examples")["support"].mean()
    assert left["RBF"].tolist() == rbf.tolist() and "polynomial, 20% wrong" in left
    oldest = streams[(streams["method"] == "oldest") & (streams["budget"] == 4) & (streams["problem"] == ODD_OR_EVEN)]
    assert right["remove the oldest"].tolist() == oldest.groupby("examples")["support"].mean().tolist()
    assert len(right) == len(METHODS)


def test_errors_by_budget_are_drawn_in_percent_with_their_range(made):
    summary = tables.by_budget(made["streams"], made["final"], ODD_OR_EVEN)
    figure = figures.figure_budget({ODD_OR_EVEN: summary})
    assert_labelled(figure)
    for axis, rate in zip(figure.axes, ("online", "test"), strict=True):
        for method, container in zip(METHODS, axis.containers, strict=True):
            part = summary[summary["method"] == method].sort_values("support")
            line, _, (bars,) = container
            np.testing.assert_allclose(line.get_ydata().astype(float), 100 * part[rate])
            ends = [segment[:, 1] for segment in bars.get_segments()]
            np.testing.assert_allclose(np.array(ends, dtype=float), 100 * part[[f"{rate}_low", f"{rate}_high"]])


def test_online_errors_are_drawn_as_shares_of_what_was_seen(made):
    streams = made["streams"]
    figure = figures.figure_online(streams, {ODD_OR_EVEN: 4, TEN_DIGITS: 3})
    assert_labelled(figure)
    part = streams[(streams["method"] == "norma") & (streams["budget"] == 3)].groupby("examples")["online_errors"].mean()
    np.testing.assert_allclose(drawn(figure.axes[1])[figures.NAMES["norma"]], 100 * part / part.index)


def test_noise_is_drawn_beside_the_perceptron_after_as_many_passes(made):
    noise = made["noise"]
    figure = figures.figure_noise(noise)
    assert_labelled(figure)
    part = noise[noise["noise"] == 0.2]
    norma = part[part["method"] == "norma"].groupby("value")
    lines = drawn(figure.axes[1])
    np.testing.assert_allclose(lines["NORMA: test examples"], norma["test"].mean() / part["n_test"].iloc[0])
    plain = part[(part["method"] == "perceptron") & (part["passes"] == TINY.n_epochs)]
    np.testing.assert_allclose(lines["perceptron: training examples, labels as given"], (plain["train"] / 40).mean())


def test_bounds_are_drawn_above_the_mistakes(made):
    bounds = made["bounds"]
    figure = figures.figure_bounds(bounds)
    assert_labelled(figure)
    group = bounds[bounds["n"] == TINY.n_bound].groupby("degree")
    left, right = map(drawn, figure.axes)
    assert left["mistakes in one pass"].tolist() == group["mistakes"].mean().tolist()
    np.testing.assert_allclose(right["vote: bound by the margin"], 200 * group["bound"].mean() / (TINY.n_bound + 1))
    assert (left["mistakes in one pass"] <= left[r"$((R+D)/\gamma)^2$"]).all()


def test_margin_errors_and_machines_are_those_of_their_tables(made):
    nu, machines = made["nu"], made["machines"]
    figure = figures.figure_nu(nu)
    assert_labelled(figure)
    assert figure.axes[0].lines[0].get_ydata().tolist() == (nu["margin_errors"] / nu["examples"]).tolist()
    assert list(figure.axes[0].lines[1].get_ydata()) == [0.2, 0.2]
    figure = figures.figure_machines(machines)
    assert_labelled(figure)
    left, right = map(drawn, figure.axes)
    own = machines[machines["method"] == "svm, C = 10"]
    assert left["SVM, C = 10"].tolist() == own["support"].tolist()
    np.testing.assert_allclose(right["svm, C = 10"], 100 * own["errors"] / own["n_test"])
