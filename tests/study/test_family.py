"""The chapter on the family: margins of a part, votes, streams against literal runs, summaries of tables, figures."""

import math
from dataclasses import replace

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.svm import SVC

from kp import kernels
from kp.budget import BudgetPerceptron, Norma, normalized
from kp.perceptron import visiting_orders
from study import datasets, literal
from study import ledger as everything
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
        ("odd or even", kernel, "perceptron", 0, noise, seed, n, 0, 0, c * n**power * (1 + 0.001 * seed * (n > 500)))
        for kernel, noise, power in (("poly", 0.0, 0.5), ("poly", 0.2, 1.0), ("rbf", 0.0, 1.2))
        for seed, c in ((-1, 2.0), (0, 3.0), (1, 5.0))
        for n in (10, 100, 316, 600, 1000)
    ]
    table = pd.DataFrame(rows, columns=[*KEYS, "examples", "online_errors", "mistakes", "support"])
    table.loc[table["examples"] < 300, "support"] = 1  # what was before the last half decade does not matter
    found = tables.growth_exponents(table)
    np.testing.assert_allclose(found["exponent"], [0.5, 1.0, 1.2], atol=1e-4)
    assert found["growth"].tolist() == ["slower than linear", "linear not rejected", "faster than linear"]
    assert found["n_orders"].tolist() == [3] * 3 and found["below"].tolist() == pytest.approx([1, 2 / 3, 0], abs=0.34)


def test_growth_is_told_from_linear_by_students_test_with_holms_correction(made):
    streams = pd.concat([made["streams"], made["growth"]], ignore_index=True)
    found = tables.growth_exponents(streams)
    assert len(found) == 6 and (found["n_orders"] == 5).all()
    part = streams[(streams["kernel"] == "rbf") & (streams["noise"] == 0.3)]
    slopes = []
    for _, run in part.groupby("random_state"):
        late = run[run["examples"] >= 60 / math.sqrt(10)]
        slopes.append(np.polyfit(np.log(late["examples"]), np.log(late["support"]), 1)[0])
    row = found[(found["kernel"] == "rbf") & (found["noise"] == 0.3)].iloc[0]
    assert row["exponent"] == pytest.approx(np.mean(slopes)) and row["p"] >= stats.ttest_1samp(slopes, 1).pvalue - 1e-12
    assert row["low"] <= row["exponent"] <= row["high"]


def test_error_by_budget_is_the_mean_over_orders(made):
    found = tables.by_budget(made["streams"], made["final"], "odd or even").set_index(["method", "budget"])
    final = made["final"]
    own = final[(final["method"] == "random") & (final["budget"] == 8) & (final["problem"] == "odd or even")]
    rates = own["errors"] / own["n_test"]
    row = found.loc[("random", 8)]
    assert (row["test"], row["test_low"], row["test_high"]) == pytest.approx((rates.mean(), rates.min(), rates.max()))
    assert row["n_orders"] == TINY.n_orders and row["support"] == 8
    assert set(found.index.get_level_values("method")) == set(METHODS)


def chosen_table():
    """Two orders; lambda 1 is best by validation in order 0, lambda 2 in order 1; the test errors say otherwise."""
    names = ["random_state", "value", "validation", "test"]
    rows = [(0, 0.0, 9, 0), (0, 1.0, 10, 50), (0, 2.0, 16, 10), (1, 0.0, 9, 0), (1, 1.0, 20, 70), (1, 2.0, 16, 30)]
    one = pd.DataFrame(rows, columns=names).assign(
        noise=0.1, n=100, method="perceptron", passes=5, margin=1.0, predictor="last", train=7, n_test=200, support=3
    )
    return one


def test_the_value_is_chosen_on_validation_examples_not_on_test_examples_in_each_order():
    found = tables.learners(chosen_table())
    norma = found[found["learner"] == "NORMA"]
    assert norma["value"].tolist() == [1.0, 2.0] and norma["test"].tolist() == [0.25, 0.15]
    assert found.loc[found["learner"] == "margin", "value"].tolist() == [0.0, 0.0]
    assert set(found["learner"]) == {"NORMA", "margin"} and (found["train"] == 0.07).all()
    assert tables.learners(chosen_table().assign(validation=5)).query("learner == 'NORMA'")["value"].tolist() == [1.0, 1.0]


def test_rates_are_means_over_orders_with_students_interval(made):
    found = tables.learners(made["wrong_labels"])
    row = tables.rates_by_learner(found).query("noise == 0.2 and learner == 'average'").iloc[0]
    own = found[(found["noise"] == 0.2) & (found["learner"] == "average")]
    last = own.loc[own["passes"] == 2, "test"]
    half = stats.t.ppf(0.975, 5) * stats.sem(last)
    assert (row["test"], row["low"]) == pytest.approx((last.mean(), last.mean() - half))
    assert row["one"] == pytest.approx(own.loc[own["passes"] == 1, "test"].mean())


def with_errors(errors):
    """A table of `learners` from {learner: (train, test) by passes, order}."""
    rows = [
        (0.2, 100, seed, learner, passes, 0.0, train, 0.0, test, 5)
        for learner, by_passes in errors.items()
        for passes, pairs in by_passes.items()
        for seed, (train, test) in enumerate(pairs)
    ]
    columns = ["noise", "n", "random_state", "learner", "passes", "value", "train", "validation", "test", "support"]
    return pd.DataFrame(rows, columns=columns)


def test_a_predictor_overfits_where_its_training_error_falls_and_its_test_error_rises():
    jitter = (-0.002, 0.0, 0.002, 0.001, -0.001)
    before = [(0.2 + e, 0.2 - e) for e in jitter]
    table = with_errors(
        {
            "final": {1: before, 5: [(0.1, 0.1 + e) for e in jitter]},
            "average": {1: before, 5: [(0.1, 0.2 + 2 * e) for e in jitter]},
            "voted": {1: before, 5: [(0.1, 0.3 + e) for e in jitter]},
        }
    )
    found = tables.overfitting(table).set_index("predictor")
    assert found["overfits"].to_dict() == {"final": False, "average": False, "voted": True}
    assert found["test_word"].tolist() == ["falls", "does not measurably change", "rises"]
    assert found.loc["voted", "test"] == pytest.approx(0.1) and (found["train"] < 0).all()


def test_the_way_to_norma_is_shared_by_ratios_of_means():
    jitter = np.array([-0.01, 0.0, 0.01, 0.004])
    errors = {"final": 0.3, "NORMA": 0.1, "average": 0.15, "voted": 0.1, "margin": 0.2, "regularised": 0.3}
    table = with_errors({name: {5: [(0.0, level + e) for e in jitter]} for name, level in errors.items()})
    found = tables.ways(table).set_index("remedy")
    np.testing.assert_allclose(found["share"], [0.75, 1.0, 0.5, 0.0], atol=1e-12)
    assert found["way"].tolist() == pytest.approx([0.2] * 4) and found["n_orders"].tolist() == [4] * 4


def test_shares_of_the_gap_are_shown_with_their_intervals_where_there_are_any():
    rows = [(0.2, "average", 0.734, 0.59, 0.87), (0.2, "voted", 0.5, -np.inf, np.inf), (0.2, "margin", 0.1, -0.11, 0.3)]
    shown = tables.shares(pd.DataFrame(rows, columns=["noise", "remedy", "share", "low", "high"]))
    assert shown["20% wrong"].tolist()[:3] == ["73% (59% to 87%)", "no interval", "10% (-11% to 30%)"]


def test_late_mistakes_are_a_share_of_all_mistakes_of_the_last_epoch():
    rows = [("poly", 0.3, order, epoch, "final", made) for order in (0, 1) for epoch, made in ((1, 6), (3, 9), (10, 12))]
    noise = pd.DataFrame(rows, columns=["kernel", "share", "order", "epoch", "predictor", "mistakes"])
    both = pd.concat([noise, noise.assign(predictor="average")])
    assert tables.late_mistakes(both)["poly", 0.3] == pytest.approx(0.25)


def test_differences_of_learners_are_paired_by_order(made):
    found = tables.learners(made["wrong_labels"])
    tests = tables.differences(found, [("average", "final"), ("SVM", "final")])
    last = found[(found["passes"].isin([0, 2])) & (found["noise"] == 0.3)].pivot(
        index="random_state", columns="learner", values="test"
    )
    own = tests[0.3, 40, "SVM", "final"]
    assert own.estimate == pytest.approx((last["SVM"] - last["final"]).mean()) and own.adjusted == "Holm over 6"
    assert own.p >= stats.ttest_rel(last["SVM"], last["final"]).pvalue


def test_learners_of_a_budget_are_compared_with_removal_of_the_oldest(made):
    memory, final = made["memory"], made["memory_final"]
    table = tables.at_equal_memory(memory, final)
    assert len(table) == 11 and table.loc[table["method"] == "norma", "truncation"].gt(0).all()
    online = tables.memory_differences(memory, final, "online")
    assert len(online) == 8 and ("oldest", 4) not in online
    last = memory[memory["examples"] == 100].set_index(["method", "budget", "random_state"]).sort_index()["mistakes"] / 100
    assert online["random", 4].estimate == pytest.approx((last["random", 4] - last["oldest", 4]).mean())
    tested = tables.memory_differences(memory, final, "test")
    rates = (final["errors"] / final["n_test"]).groupby([final["method"], final["budget"]]).mean()
    assert tested["norma", 8].estimate == pytest.approx(rates["norma", 8] - rates["oldest", 8])
    rows = tables.memory_tests(memory, final).set_index(["rate", "method", "budget"])
    assert len(rows) == 16 and rows.loc[("test", "norma", 8), "low"] == tested["norma", 8].low


def test_a_budget_costs_what_its_learner_errs_more_than_the_perceptron_on_the_same_orders(made):
    memory = made["memory"]
    costs = tables.budget_costs(memory).set_index("budget")
    assert costs.index.tolist() == [4, 8] and (costs["n_orders"] == 6).all()
    last = memory[memory["examples"] == 100].set_index(["method", "budget", "random_state"]).sort_index()["mistakes"] / 100
    expected = stats.ttest_rel(last["oldest", 8], last["perceptron", 0]).confidence_interval()
    assert costs.loc[8, ["low", "high"]].tolist() == pytest.approx([expected.low, expected.high])
    assert costs.loc[8, "estimate"] == pytest.approx(costs.loc[8, "online"] - costs.loc[8, "none"])


def test_the_guarantee_is_told_in_shares_of_the_examples(made):
    found = tables.guarantee_by_budget(made["guaranteed"])
    own = made["guaranteed"].query("budget == 8")
    row = found[found["budget"] == 8].iloc[0]
    assert row["least"] == pytest.approx((own["upper"] / own["n"]).mean()) and row["says"] == (own["lower"] < own["n"]).sum()
    assert not row["covered"] and found.loc[found["budget"] == 0, "needed"].iloc[0] >= 83


def test_bounds_are_compared_on_the_same_orders(made):
    found = tables.learners(made["machines"])
    row = tables.bounds_compared(found).iloc[0]
    own = found[found["n"] == 40]
    mistakes = own[(own["learner"] == "voted") & (own["passes"] == 1)]["support"].mean()
    vectors = own[own["learner"] == "SVM"]["support"].mean()
    assert row["ratio"] == pytest.approx(2 * mistakes / vectors) and row["vote"] == pytest.approx(2 * mistakes / 41)


def test_ratios_of_the_bounds_are_those_of_the_smallest_samples(made):
    summary = tables.bound_summary(made["bounds"])
    own = made["bounds"].query("n == 40 and degree == 4")
    ratio = 2 * own["mistakes"].mean() / own["svm_support"].mean()
    assert tables.bound_ratios(summary)[4] == pytest.approx(ratio)


def test_the_account_of_the_forgetron_keeps_within_its_limit(made):
    account = tables.forgetron_account(made["streams"], made["final"], "odd or even")
    own = account[account["method"] == "forgetron"]
    assert len(own) == 2 and (own["Q / M"] <= 15 / 32 + 1e-9).all() and (own["Q / M"] > 0.1).all()


def test_the_article_publishes_no_number():
    assert not hasattr(claims, "claims") and not hasattr(claims, "readings")
    assert all(function.__module__ != claims.__name__ for function in (*everything.CLAIMS, *everything.READINGS))


def test_what_the_article_says_has_the_verdicts_of_the_stored_results():
    found = claims.statements().set_index("key")
    names = ["linear-growth", "overfitting", "vote-bounds"]
    assert found.index.tolist() == [f"encyclopedia/statements/{name}" for name in names]
    own = claims.growth().query("noise == 0").set_index("kernel").loc["poly"]
    assert f"{own['exponent']:.2f} ({own['low']:.2f} to {own['high']:.2f})" in found["evidence"].iloc[0]


def test_evidence_names_the_changes_of_the_test_error():
    rows = [(0.3, name, tables.CHANGES[1], True) for name in ("final", "voted")]
    _, values = claims.overfitting(harm(rows))
    assert values["voted_30"] == "−4.84" and values["voted_30_interval"] == "−8.44 to −1.24"


def harm(rows):
    """A table as `tables.overfitting` gives it, from rows (noise, predictor, test_word, overfits)."""
    table = pd.DataFrame(rows, columns=["noise", "predictor", "test_word", "overfits"])
    return table.assign(test=-0.0484, test_low=-0.0844, test_high=-0.0124)


@pytest.mark.parametrize(
    "words, verdict",
    [
        ([(1, True), (1, True)], "holds"),
        ([(1, True), (2, False)], "holds in part"),
        ([(0, False), (2, False)], "cannot be told"),
        ([(0, False), (0, False)], "does not hold"),
    ],
)
def test_that_no_harm_is_detected_does_not_show_that_there_is_none(words, verdict):
    over = harm([(0.2, name, tables.CHANGES[k], yes) for name, (k, yes) in zip(("final", "voted"), words, strict=True)])
    assert claims.overfitting(over)[0] == verdict


@pytest.mark.parametrize(
    "growths, verdict",
    [
        ([("poly", 0.0, 2), ("poly", 0.2, 2)], "cannot be told"),
        ([("poly", 0.0, 0), ("poly", 0.2, 2)], "holds in part"),
        ([("poly", 0.0, 0), ("rbf", 0.0, 0)], "does not hold"),
    ],
)
def test_linear_growth_is_judged_by_the_tests(growths, verdict):
    rows = [(kernel, noise, 0.9, 0.8, 1.0, tables.GROWTHS[place]) for kernel, noise, place in growths]
    table = pd.DataFrame(rows, columns=["kernel", "noise", "exponent", "low", "high", "growth"])
    assert claims.linear_growth(table)[0] == verdict


# Settings.


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"dataset": "iris"}, "dataset must be mnist or digits, got 'iris'"),
        ({"n_train": 1201}, "n_train must be in 20..1200, got 1201"),
        ({"n_noise": 700}, "n_noise must be in 20..600, got 700"),
        ({"n_bound": 1300}, "n_bound must be in 20..1200, got 1300"),
        ({"n_repeats": 1}, "n_repeats must be at least 2, for an interval, got 1"),
    ],
)
def test_settings_that_cannot_be_run_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        replace(experiment.QUICK, **changes)


def test_settings_of_a_notebook_are_those_of_its_profile_with_changes():
    assert experiment.settings("digits") == experiment.QUICK
    assert experiment.settings("mnist", budgets=experiment.PUBLISHED.budgets) == experiment.PUBLISHED
    small = experiment.settings("digits", n_train=300, budgets=(5,))
    assert (small.n_growth, small.n_noise, small.budgets, small.sizes) == (300, 150, (5,), (100,))
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


def test_growth_is_drawn_by_rate_beside_its_exponents(made):
    streams = pd.concat([made["streams"], made["growth"]], ignore_index=True)
    growth = tables.growth_exponents(streams)
    figure = figures.figure_growth(streams, growth)
    assert_labelled(figure)
    left, right = figure.axes
    own = streams[(streams["kernel"] == "poly") & (streams["noise"] == 0.2) & (streams["problem"] == ODD_OR_EVEN)]
    assert drawn(left)["20\N{NO-BREAK SPACE}% wrong labels"].tolist() == own.groupby("examples")["support"].mean().tolist()
    points = np.concatenate([container[0].get_ydata() for container in right.containers]).astype(float)
    np.testing.assert_allclose(np.sort(points), np.sort(growth["exponent"]))


def test_errors_by_budget_are_drawn_in_percent_with_their_range(made):
    summary = tables.by_budget(made["streams"], made["final"], ODD_OR_EVEN)
    figure = figures.figure_budget(summary)
    assert_labelled(figure)
    for axis, rate in zip(figure.axes, ("online", "test"), strict=True):
        for method, container in zip(("basic forgetron", "forgetron", "oldest"), axis.containers, strict=True):
            part = summary[summary["method"] == method].sort_values("budget")
            line, _, (bars,) = container
            np.testing.assert_allclose(line.get_ydata().astype(float), 100 * part[rate])
            ends = [segment[:, 1] for segment in bars.get_segments()]
            np.testing.assert_allclose(np.array(ends, dtype=float), 100 * part[[f"{rate}_low", f"{rate}_high"]])
        whole = summary.loc[summary["method"] == "perceptron", rate].iloc[0]
        assert drawn(axis)[figures.NAMES["perceptron"]] == pytest.approx([100 * whole] * 2)


def test_what_rules_hold_is_drawn_beside_their_errors_so_far(made):
    streams = made["streams"]
    figure = figures.figure_held(streams, 8)
    assert_labelled(figure)
    own = streams[(streams["problem"] == ODD_OR_EVEN) & (streams["method"] == "forgetron") & (streams["budget"] == 8)]
    means = own.groupby("examples")[["support", "online_errors"]].mean()
    assert drawn(figure.axes[0])[figures.NAMES["forgetron"]].tolist() == means["support"].tolist()
    np.testing.assert_allclose(figure.axes[1].lines[1].get_ydata(), 100 * means["online_errors"] / means.index)


def test_every_learner_is_drawn_with_the_gap_from_norma_to_the_final_predictor(made):
    rates = tables.rates_by_learner(tables.learners(made["wrong_labels"]))
    figure = figures.figure_remedies(rates)
    assert [axis.get_title() for axis in figure.axes] == [
        "right labels",
        "20\N{NO-BREAK SPACE}% wrong",
        "30\N{NO-BREAK SPACE}% wrong",
    ]
    part = rates[rates["noise"] == 0.2].set_index("learner")["test"]
    points = [container[0].get_xdata()[0] for container in figure.axes[1].containers]
    np.testing.assert_allclose(points, 100 * part)
    (band,) = figure.axes[1].patches
    assert sorted([band.get_x(), band.get_x() + band.get_width()]) == pytest.approx(
        sorted([100 * part["NORMA"], 100 * part["final"]])
    )
    figure.canvas.draw()


def test_wrong_labels_of_ten_digits_are_drawn_without_threshold():
    rows = [
        (kernel, threshold, share, order, predictor, 3, 10 * order + 100 * threshold + 5, 200)
        for kernel in ("poly", "RBF")
        for threshold in (False, True)
        for share in (0.0, 0.3)
        for order in (0, 1)
        for predictor in ("final", "average", "minimizing", "voted")
    ]
    names = ["kernel", "threshold", "share", "order", "predictor", "epoch", "errors", "n_test"]
    figure = figures.figure_ten_digits(pd.DataFrame(rows, columns=names), 3, ["poly", "RBF"])
    assert_labelled(figure)
    assert drawn(figure.axes[1])["average"].tolist() == [5.0, 5.0]


def test_bounds_are_drawn_above_the_mistakes(made):
    bounds = made["bounds"]
    figure = figures.figure_bounds(bounds)
    assert_labelled(figure)
    group = bounds[bounds["n"] == TINY.n_bound].groupby("degree")
    left, right = map(drawn, figure.axes)
    assert left["mistakes in one epoch"].tolist() == group["mistakes"].mean().tolist()
    np.testing.assert_allclose(right["vote, bound"], 200 * group["mistakes"].mean() / (TINY.n_bound + 1))
    assert (left["mistakes in one epoch"] <= left["bound of the mistakes"]).all()


def test_machines_are_drawn_beside_the_predictors_of_the_perceptron(made):
    rates = tables.rates_by_learner(tables.learners(made["machines"]))
    figure = figures.figure_machines(rates)
    assert_labelled(figure)
    left, right = figure.axes
    own = rates[rates["learner"] == "SVM"]
    assert drawn(left)["support vector machine"].tolist() == own["support"].tolist()
    heights = {container.get_label(): container[0].get_ydata().astype(float) for container in right.containers}
    np.testing.assert_allclose(heights["SVM"], 100 * own["test"])
    np.testing.assert_allclose(heights["perceptron, voted"], 100 * rates.loc[rates["learner"] == "voted", "test"])
