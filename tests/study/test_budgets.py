"""The chapter on the family: votes, bounds, streams against literal runs, summaries of tables, figures."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import optimize, stats
from sklearn.svm import SVC

from kp import kernels, literal
from kp.budget import BudgetPerceptron, Norma, normalized
from kp.perceptron import visiting_orders
from study import datasets
from study.budgets import descent, experiment, facts, figures, guarantee, tables
from study.budgets.names import ODD_OR_EVEN, PAIRS

TINY = replace(
    experiment.QUICK, n_train=120, budgets=(4, 8), class_budgets=(3,), n_orders=2, n_repeats=6, n_growth=60, n_noise=40,
    n_epochs=2, noise=(0.0, 0.2, 0.3), regularizations=(1e-4, 1e-2), n_memory=100, memory_budgets=(4, 8), n_bound=40,
    sizes=(40, 60), size_repeats=2,
)  # fmt: skip


@pytest.fixture(scope="module")
def made():
    """{name: table} of all experiments for TINY."""
    parts = {
        experiment.bounds: TINY.bounds(), experiment.wrong_labels: TINY.noises(),
        experiment.machines: TINY.machines(), experiment.growth: TINY.growths(), experiment.guaranteed: TINY.guarantees(),
        experiment.relatives: TINY.guarantees(),
    }  # fmt: skip
    tables = {each.tables[0]: each(own) for each, own in parts.items()}
    return tables | experiment.streams(TINY.streams()) | experiment.memory(TINY.memories())


# Margins and the vote.


def test_the_vote_counts_every_predictor_as_long_as_it_stood():
    X, y = experiment.ordered(TINY, 120, 0)
    X_test = datasets.load("digits").X_test[:50]
    kernel = kernels.polynomial(3)
    model = BudgetPerceptron(budget=None, degree=3, gamma=1, shuffle=False).fit(X, y)
    K = normalized(kernel, X, np.concatenate([X, X_test]))
    alphas, survived = literal.voted_perceptron(K[:, :120], 2 * y - 1, range(120))
    votes = literal.vote(alphas, survived, 2 * y - 1, K[:, 120:])
    np.testing.assert_array_equal(experiment.vote(model, kernel, X_test), votes)


def test_a_fraction_of_the_labels_of_a_stream_is_wrong():
    big = replace(experiment.QUICK, n_train=1200)
    X, clean = experiment.ordered(big, 1200, 3)
    same, wrong = experiment.ordered(big, 1200, 3, noise=0.3)
    np.testing.assert_array_equal(X, same)
    assert np.mean(clean != wrong) == pytest.approx(0.3, abs=0.05)


# Streams and tables.


def test_labels_of_bytes_can_be_made_signs():
    y = experiment.labels(ODD_OR_EVEN, np.array([4, 7], dtype=np.uint8))
    assert (2 * y - 1).tolist() == [-1, 1]


def test_the_rows_of_a_stream_are_what_a_literal_run_counts():
    X, y = experiment.ordered(TINY, 120, 1)
    rows = experiment.run_stream(experiment.learner("oldest", 5, TINY), X, y, np.array([0, 1]))
    z = 2 * y - 1
    stops = experiment.checkpoints(120)
    scores = np.array(literal.budget_perceptron(normalized(kernels.polynomial(3), X, X), z, range(120), 5)[1])
    wrong = np.cumsum((scores > 0) != y)
    mistakes = np.cumsum(z * scores <= 0)
    assert rows == [(n, wrong[n - 1], mistakes[n - 1], min(mistakes[n - 1], 5)) for n in stops] and stops[-1] == 120


def test_more_mistakes_than_the_bound_of_a_theorem_end_the_computation(monkeypatch):
    monkeypatch.setattr(experiment, "mistake_bound", lambda *arguments: (0.5, None))
    with pytest.raises(ArithmeticError, match=r"at most 0\.5 mistakes by the bound of a theorem, got \d+"):
        experiment.bounds.compute(TINY.bounds()[0])


@pytest.mark.parametrize("margin, regularization", [(0.0, 0.0), (1.0, 0.02), (1.0, 0.9)])
def test_the_sums_of_all_steps_are_those_of_a_plain_loop(margin, regularization):
    K, z = binary(120, 60)
    orders = list(visiting_orders(120, 1, 2, random_state=np.random.RandomState(2)))
    f, total, votes = np.zeros((3, K.shape[1]))
    runs = descent.passes(K, z, orders, margin=margin, regularization=regularization)
    for (order,), (scores, _) in zip(orders, runs, strict=True):
        for i in order:
            wrong = z[i] * f[i] <= margin
            f = (1 - regularization) * f + wrong * z[i] * K[i]
            total = total + f
            votes = votes + np.sign(f)
        np.testing.assert_allclose(scores[:2], [f, total], rtol=1e-7, atol=1e-9)
        np.testing.assert_array_equal(scores[2], votes)


def test_growth_exponents_are_those_of_power_laws():
    powers = {("poly", 0.0): 0.5, ("poly", 0.2): 1.0, ("rbf", 0.0): 1.2}
    rows = [
        (kernel, noise, seed, n, c * n**power * (1 + 0.001 * seed * (n > 500)))
        for (kernel, noise), power in powers.items()
        for seed, c in ((-1, 2.0), (0, 3.0), (1, 5.0))
        for n in (316, 600, 1000)
    ]
    table = pd.DataFrame(rows, columns=["kernel", "noise", "random_state", "examples", "support"])
    # What was before the last half decade does not matter.
    table = pd.concat([table, table.assign(examples=table["examples"] / 10, support=1)])
    found = tables.growth_exponents(table.assign(problem=ODD_OR_EVEN, method="perceptron"))
    np.testing.assert_allclose(found["exponent"], list(powers.values()), atol=1e-4)
    assert found["growth"].tolist() == ["slower than linear", "linear not rejected", "faster than linear"]


# The perceptron with margin and regularisation.


def binary(n, n_test=0):
    """K (n, n + n_test) of examples and test images, and the signs z (n,) of the examples, some of them wrong."""
    X, y = experiment.ordered(TINY, n, 0, noise=0.2)
    X_test = datasets.load("digits").X_test[:n_test]
    return normalized(kernels.polynomial(3), X, np.concatenate([X, X_test])), 2 * y - 1


def test_wrong_labels_are_learnt_as_by_the_estimators(made):
    part = next(each for each in TINY.noises() if each.noise == 0.2)
    n = part.n
    X, y = experiment.ordered(part, 2 * n, 1, noise=0.2)
    X_test, z_test = datasets.load("digits").X_test, experiment.labels(ODD_OR_EVEN, datasets.load("digits").y_test)
    samples = [(X[:n], y[:n]), (X[n:], y[n:]), (X_test, z_test)]
    common = {"degree": 3, "gamma": 1, "max_iter": 2, "random_state": 1}
    perceptron = BudgetPerceptron(budget=None, **common).fit(X[:n], y[:n])
    norma = Norma(alpha=1e-2, eta0=1.0, **common).fit(X[:n], y[:n])
    values = [normalized(kernels.polynomial(3), x, X[:n]) for x, _ in samples]
    machine = SVC(C=0.1, kernel="precomputed").fit(values[0], y[:n])
    found = {
        "method == 'perceptron' and passes == 2 and margin == 0 and value == 0": perceptron,
        "method == 'perceptron' and passes == 2 and margin == 1 and value == 1e-2": norma,
        "method == 'svm' and value == 0.1": machine,
    }
    rows = made["wrong_labels"].query("noise == 0.2 and random_state == 1 and predictor == 'last'")
    for query, model in found.items():
        points = values if model is machine else [x for x, _ in samples]
        errors = [int(np.sum(model.predict(x) != z)) for x, (_, z) in zip(points, samples, strict=True)]
        (row,) = rows.query(query)[["train", "validation", "test", "support"]].to_numpy().tolist()
        assert row == [*errors, len(model.support_)], query


# Equal memory.


def test_what_is_held_before_a_step_is_what_a_learner_holds():
    for method, budget, tau in (("perceptron", 0, 0), ("oldest", 5, 0), ("norma", 5, 30)):
        part = replace(TINY.memories()[0], method=method, budget=budget)
        X, y = experiment.ordered(TINY, 50, 1)
        model = experiment.holding(part, tau, random_state=0)
        held = []
        wrong = []
        for x, label in zip(X, y, strict=True):
            held.append(len(getattr(model, "support_", [])))
            f = model.partial_fit(x[None], [label], classes=[0, 1]).online_scores_[0, 0]
            wrong.append((2 * label - 1) * f <= 0)
        assert experiment.before(np.array(wrong), budget, tau).tolist() == held
        assert experiment.spent(np.array(wrong), method, budget, tau).tolist() == np.cumsum(held).tolist()
    wrong = np.array([True, True, False, True, True])
    assert experiment.spent(wrong, "forgetron", 2).tolist() == [0, 1, 3, 8, 13]  # it pays for its removals too


def test_all_learners_of_a_budget_hold_about_as_many(made):
    final = made["memory_final"]
    full = final[final["budget"] == 4].groupby("method")["held"].mean()
    assert (full.drop("norma") == 4).all() and full["norma"] == pytest.approx(4, rel=0.4)
    assert (final.loc[final["method"] == "norma", "truncation"] > 0).all()


# The guarantee.


@pytest.mark.parametrize("limit", [0.5, 2.0, np.inf])
def test_the_least_bound_of_the_forgetron_is_a_support_vector_machine_without_threshold(limit):
    K, z = binary(60)
    found, norm = guarantee.best_within(K, z.astype(float), limit, tolerance=1e-7)
    Q = z[:, None] * K * z

    def trained(cost):
        # The mirror image takes the threshold away and doubles the losses: its C is half of ours for the same function.
        machine = SVC(C=cost / 2, kernel="precomputed", tol=1e-8).fit(np.block([[Q, -Q], [-Q, Q]]), np.repeat([1, -1], 60))
        return np.bincount(machine.support_ % 60, np.abs(machine.dual_coef_[0]), minlength=60)

    def length(a):
        return np.sqrt(a @ Q @ a)

    cost = 1.0
    if length(trained(1.0)) > limit:
        cost = np.exp(optimize.brentq(lambda log_cost: length(trained(np.exp(log_cost))) - limit, -15, 0))
    a = trained(cost)
    assert found == pytest.approx(2 * a @ Q @ a + 4 * np.maximum(0, 1 - Q @ a).sum(), rel=1e-5)
    assert norm == pytest.approx(length(a), rel=1e-3) and norm <= limit * (1 + 1e-9)


def test_a_reach_needs_a_budget():
    for norm in (0.3, 1.5, 4.0):
        budget = guarantee.budget_for(norm)
        assert guarantee.reach(budget) >= norm and (budget == 83 or guarantee.reach(budget - 1) < norm)
    assert guarantee.reach(500) == pytest.approx(math.sqrt(501 / math.log(501)) / 4)


def test_no_forgetron_breaks_its_guarantee_and_no_reach_makes_it_smaller(made):
    table = made["guaranteed"]
    assert (table["mistakes"] <= table["upper"]).all()
    for _, group in table.groupby("random_state"):
        assert group["upper"].iloc[0] <= group["upper"].min() * (1 + 1e-3)
        assert group.loc[group["budget"] > 0].sort_values("budget")["upper"].is_monotonic_decreasing
    account = tables.forgetron_account(made["streams"], made["final"], ODD_OR_EVEN)
    assert account.loc[account["method"] == "forgetron", "Q / M"].between(0.1, 15 / 32 + 1e-9).all()


def test_a_mistake_raises_the_objective_of_the_machine(made):
    table = made["relatives"]
    assert table["norma_same"].all() and (table["least_gain"] >= 0.5).all()
    X, y = experiment.ordered(TINY, 40, 0)
    z = 2 * y - 1
    K = normalized(kernels.polynomial(3), X, X)
    steps = [literal.kernel_perceptron(K, z, range(n)) for n in range(41)]
    gains = np.diff([alpha.sum() - (alpha * z) @ K @ (alpha * z) / 2 for alpha in steps])
    made = np.diff([alpha.sum() for alpha in steps]) > 0
    assert (
        table["least_gain"].iloc[0] == pytest.approx(gains[made].min(), rel=1e-5) and table["mistakes"].iloc[0] == made.sum()
    )


# Summaries.


def test_the_value_is_chosen_on_validation_examples_not_on_test_examples_in_each_order():
    # Lambda 1 is best by validation in order 0, lambda 2 in order 1; the test errors say otherwise.
    rows = [(0, 0.0, 9, 0), (0, 1.0, 10, 50), (0, 2.0, 16, 10), (1, 0.0, 9, 0), (1, 1.0, 20, 70), (1, 2.0, 16, 30)]
    table = pd.DataFrame(rows, columns=["random_state", "value", "validation", "test"])
    table = table.assign(noise=0.1, n=100, method="perceptron", passes=5, margin=1.0, predictor="last")
    table = table.assign(train=7, n_test=200, support=3)
    found = tables.learners(table)
    assert found[["learner", "value", "test"]].to_numpy().tolist() == [
        ["margin", 0.0, 0.0], ["margin", 0.0, 0.0], ["NORMA", 1.0, 0.25], ["NORMA", 2.0, 0.15]
    ]  # fmt: skip
    ties = tables.learners(table.assign(validation=5))
    assert ties.query("learner == 'NORMA'")["value"].tolist() == [1.0, 1.0]


def test_the_average_with_a_margin_is_that_of_runs_without_regularization(made):
    own = made["wrong_labels"].query("method == 'perceptron' and margin == 1 and value == 0 and predictor == 'averaged'")
    found = tables.learners(made["wrong_labels"]).query("learner == 'margin, average'")
    assert len(found) and sorted(found["test"]) == sorted(own["test"] / own["n_test"])


def test_rates_are_means_over_orders_with_students_interval(made):
    found = tables.learners(made["wrong_labels"])
    own = "noise == 0.2 and learner == 'average'"
    row = tables.rates_by_learner(found).query(own).iloc[0]
    errors = found.query(own).pivot(index="random_state", columns="passes", values="test")
    low = stats.ttest_1samp(errors[2], 0).confidence_interval().low
    assert row[["test", "low", "one"]].tolist() == pytest.approx([errors[2].mean(), low, errors[1].mean()])


def with_errors(errors):
    """A table of `learners` from {learner: {passes: [(train, test) of each order]}}."""
    rows = [
        (learner, passes, seed, train, test)
        for learner, by_passes in errors.items()
        for passes, pairs in by_passes.items()
        for seed, (train, test) in enumerate(pairs)
    ]
    table = pd.DataFrame(rows, columns=["learner", "passes", "random_state", "train", "test"])
    return table.assign(noise=0.2, n=100, value=0.0, validation=0.0, support=5)


def test_a_predictor_overfits_where_its_training_error_falls_and_its_test_error_rises():
    jitter = (-0.002, 0.0, 0.002, 0.001, -0.001)
    before = [(0.2 + e, 0.2 - e) for e in jitter]
    after = {"final": (0.1, 1), "average": (0.2, 2), "voted": (0.3, 1)}
    errors = {name: {1: before, 5: [(0.1, level + k * e) for e in jitter]} for name, (level, k) in after.items()}
    found = tables.overfitting(with_errors(errors)).set_index("predictor")
    assert found["overfits"].to_dict() == {"final": False, "average": False, "voted": True}
    assert found["test_word"].tolist() == ["falls", "does not measurably change", "rises"]
    assert found.loc["voted", "test"] == pytest.approx(0.1) and (found["train"] < 0).all()


def test_the_way_to_norma_is_shared_by_ratios_of_means():
    errors = {"final": 0.3, "NORMA": 0.1, "average": 0.15, "voted": 0.1, "margin": 0.2, "regularised": 0.3}
    found = tables.ways(with_errors({name: {5: [(0, level - 0.01), (0, level + 0.02)]} for name, level in errors.items()}))
    np.testing.assert_allclose(found["share"], [0.75, 1.0, 0.5, 0.0], atol=1e-12)


def test_what_is_quoted_of_remedies_is_the_arithmetic_of_their_means_at_a_fifth_of_wrong_labels():
    errors = {"final": 0.3, "NORMA": 0.1, "average": 0.15, "voted": 0.1, "margin": 0.2, "regularised": 0.3}
    errors |= {"NORMA, average": 0.08, "SVM": 0.05}
    passes = {name: 0 if name == "SVM" else 5 for name in errors}
    made = with_errors({name: {passes[name]: [(0, level - 0.01), (0, level + 0.02)]} for name, level in errors.items()})
    found = facts.remedies(made)
    assert found.error["final"] == pytest.approx(0.305) and found.error["SVM"] == pytest.approx(0.055)
    assert found.way.share["average"] == pytest.approx(0.75) and found.n == len(PAIRS)
    assert found.added.estimate == pytest.approx(0.1) and found.machine.estimate == pytest.approx(0.03)


def test_what_is_quoted_of_growth_is_told_by_the_share_of_wrong_labels():
    slower, _, linear = tables.GROWTHS
    rows = [("poly", 0.0, 0.7, slower), ("rbf", 0.0, 0.6, slower), ("poly", 0.1, 0.9, linear), ("poly", 0.3, 1.0, linear)]
    table = pd.DataFrame(rows, columns=["kernel", "noise", "exponent", "growth"])
    table = table.assign(low=table["exponent"] - 0.02, high=table["exponent"] + 0.03)
    found = facts.growth(table)
    assert found.right.exponent.to_dict() == {"poly": 0.7, "rbf": 0.6}
    assert found.slower == {"right": [True, True], "many": [False]}
    assert found.ends.to_dict() == pytest.approx({"low": 0.98, "high": 1.03})


def test_bounds_are_compared_on_the_same_orders(made):
    found = tables.learners(made["machines"])
    row = tables.bounds_compared(found).iloc[0]
    own = found[found["n"] == 40].groupby(["learner", "passes"], observed=True)["support"].mean()
    assert row["ratio"] == pytest.approx(2 * own["voted", 1] / own["SVM", 0])
    bounds = made["bounds"].query("degree == 4")
    ratio = 2 * bounds["mistakes"].mean() / bounds["svm_support"].mean()
    assert tables.bound_ratios(tables.bound_summary(made["bounds"]))[4] == pytest.approx(ratio)


def test_the_drawn_bounds_are_those_of_the_degrees_asked_for_and_the_tightest_of_them_is_quoted(made):
    few = replace(TINY, degrees=(2, 4))
    table = experiment.bounds(few.bounds())
    rows = table[table["n"] == 40]
    assert rows["degree"].unique().tolist() == [2, 4]
    machine = [line for line in figures.figure_bounds(table).axes[1].lines if line.get_label() == "SVM, test error"]
    means = rows.groupby("degree").mean(numeric_only=True)
    assert machine[0].get_ydata() == pytest.approx(100 * means["svm_errors"] / means["n_test"])
    pairs = [
        (means["bound"], means["mistakes"]),
        (2 * means["mistakes"] / 41, means["vote_errors"] / means["n_test"]),
        (means["svm_support"] / 41, means["svm_errors"] / means["n_test"]),
    ]
    found = facts.bounds(few, table)
    assert found.looseness == pytest.approx(min(min(bound / bounded) for bound, bounded in pairs))
    assert found.summary["mistakes"].to_dict() == means["mistakes"].to_dict()


def test_a_budget_is_worse_if_it_is_smaller_with_every_rule():
    table = pd.DataFrame(
        {"method": ["perceptron", "oldest", "oldest", "random", "random"], "budget": [0, 5, 10, 10, 5],
         "online": [0.1, 0.3, 0.2, 0.2, 0.25]}
    )  # fmt: skip
    assert facts.smaller_is_worse(table)
    assert not facts.smaller_is_worse(table.assign(online=[0.1, 0.3, 0.2, 0.25, 0.2]))


@pytest.mark.parametrize(("svm", "support", "expected"), [(0.1, 30, (True, True)), (0.15, 20, (False, False))])
def test_the_machine_is_ahead_if_it_is_below_each_predictor_at_every_size(svm, support, expected):
    errors = {"final": 0.3, "average": 0.15, "voted": 0.2, "SVM": svm}
    passes = {name: 0 if name == "SVM" else 5 for name in errors}
    made = with_errors({name: {passes[name]: [(0, level), (0, level)]} for name, level in errors.items()})
    found = facts.machine(made.assign(support=np.where(made["learner"] == "SVM", support, 20)))
    assert (found.fewer_errors, found.more_vectors) == expected


def test_late_mistakes_are_a_share_of_all_mistakes_of_the_last_epoch():
    rows = [(order, epoch, made) for order in (0, 1) for epoch, made in ((1, 6), (3, 9), (10, 12))]
    noise = pd.DataFrame(rows, columns=["order", "epoch", "mistakes"]).assign(kernel="poly", share=0.3, predictor="final")
    other = noise.assign(predictor="average", mistakes=7)
    assert tables.late_mistakes(pd.concat([noise, other]))["poly", 0.3] == pytest.approx(0.25)


def test_differences_of_learners_are_paired_by_order(made):
    found = tables.learners(made["wrong_labels"])
    own = tables.differences(found, [("average", "final"), ("SVM", "final")])[0.3, 40, "SVM", "final"]
    last = found.query("passes != 1 and noise == 0.3").pivot(index="random_state", columns="learner", values="test")
    assert own.p >= stats.ttest_rel(last["SVM"], last["final"]).pvalue and own.adjusted == "Holm over 6"
    assert own.estimate == pytest.approx((last["SVM"] - last["final"]).mean())


def test_learners_of_a_budget_are_compared_with_removal_of_the_oldest_and_that_with_no_budget(made):
    memory = made["memory"]
    final = made["memory_final"]
    last = memory[memory["examples"] == 100].assign(rate=lambda table: table["mistakes"] / 100)
    rates = last.pivot(index="random_state", columns=["method", "budget"], values="rate")
    rows = tables.memory_tests(memory, final).set_index(["rate", "method", "budget"])["estimate"]
    assert rows["online", "random", 4] == pytest.approx((rates["random", 4] - rates["oldest", 4]).mean())
    tests = (final["errors"] / final["n_test"]).groupby([final["method"], final["budget"]]).mean()
    assert rows["test", "norma", 8] == pytest.approx(tests["norma", 8] - tests["oldest", 8])
    table = tables.at_equal_memory(memory, final).set_index(["method", "budget"])
    assert table["online"].to_dict() == pytest.approx(rates.mean().to_dict())
    costs = tables.budget_costs(memory).set_index("budget").loc[8]
    expected = stats.ttest_rel(rates["oldest", 8], rates["perceptron", 0]).confidence_interval()
    assert costs[["low", "high"]].tolist() == pytest.approx(list(expected))
    assert costs["none"] == pytest.approx(rates["perceptron", 0].mean())


def test_that_no_harm_is_detected_does_not_show_that_there_is_none():
    for verdict, (words, over) in {
        "holds": ([1, 1], [True, True]),
        "holds in part": ([1, 2], [True, False]),
        "undecided": ([0, 2], [False, False]),
        "does not hold": ([0, 0], [False, False]),
    }.items():
        table = pd.DataFrame({"predictor": ["final", "voted"], "overfits": over, "noise": 0.3})
        table = table.assign(test_word=[tables.CHANGES[k] for k in words], test=-0.0484, test_low=-0.0844, test_high=-0.0124)
        assert facts.verdict_overfitting(table)[0] == verdict


# Settings.


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"dataset": "iris"}, "dataset must be one of mnist, digits, got 'iris'"),
        ({"n_train": 1201}, "n_train must be an integer in 10..1200, got 1201"),
        ({"n_repeats": 1}, "n_repeats must be an integer of at least 2, got 1"),
    ],
)
def test_settings_that_cannot_be_run_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        replace(experiment.QUICK, **changes)


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"dataset": "iris-bundled"}, "dataset must be one of mnist, digits, got 'iris-bundled'"),
        ({"n": 1201}, "n must be an integer in 10..1200, got 1201"),
        ({"n_orders": 0}, "n_orders must be an integer of at least 1, got 0"),
        ({"noise": 2.0}, r"noise must be a fraction of the labels in 0\.\.1, got 2\.0"),
        ({"problem": "odd"}, "problem must be one of odd or even, ten digits, got 'odd'"),
        ({"kernel": "linear"}, "kernel must be one of poly, rbf, got 'linear'"),
        ({"method": "newest"}, "method must be one of perceptron, oldest, .*, got 'newest'"),
        ({"budget": 5}, "budget must be 0 for the perceptron, else at least 1, got 5 for perceptron"),
        ({"method": "oldest"}, "budget must be 0 for the perceptron, else at least 1, got 0 for oldest"),
        ({"method": "oldest", "budget": -1}, "budget must be an integer of at least 0, got -1"),
    ],
)
def test_streams_that_cannot_be_run_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        replace(experiment.QUICK.streams()[0], **changes)


def test_wrong_labels_need_as_many_other_examples_to_validate():
    with pytest.raises(ValueError, match=r"n must be an integer in 10\.\.600, got 601"):
        replace(experiment.QUICK.noises()[0], n=601)


def test_settings_of_a_notebook_are_those_of_its_profile_with_changes():
    assert experiment.settings("mnist", budgets=experiment.PUBLISHED.budgets) == experiment.PUBLISHED
    small = experiment.settings("digits", n_train=300, budgets=(5,))
    assert (small.n_growth, small.n_noise, small.budgets, small.sizes) == (300, 150, (5,), (100,))


# Figures.


def test_bounds_and_errors_of_the_vote_and_of_the_machine_are_drawn_as_means_over_orders(made):
    bounds = made["bounds"]
    left, right = figures.figure_bounds(bounds).axes
    means = bounds.groupby("degree")[["mistakes", "bound", "vote_errors", "svm_errors", "svm_support"]].mean()
    vote, machine = (means[f"{name}_errors"] / bounds["n_test"].iloc[0] for name in ("vote", "svm"))
    wanted = [2 * means["mistakes"] / 41, vote, means["svm_support"] / 41, machine]
    np.testing.assert_allclose(np.array([line.get_ydata() for line in left.lines[:2]]), means[["bound", "mistakes"]].T)
    np.testing.assert_allclose(np.array([line.get_ydata() for line in right.lines]), 100 * np.array(wanted))


def test_growth_is_drawn_by_rate_beside_its_exponents(made):
    streams = pd.concat([made["streams"], made["growth"]], ignore_index=True)
    growth = tables.growth_exponents(streams)
    left, right = figures.figure_growth(streams, growth).axes
    own = streams.query("kernel == 'poly' and noise == 0.2 and problem == @ODD_OR_EVEN and method == 'perceptron'")
    assert left.lines[1].get_ydata().tolist() == own.groupby("examples")["support"].mean().tolist()
    means = np.concatenate([container[0].get_ydata() for container in right.containers]).astype(float)
    np.testing.assert_allclose(np.sort(means), np.sort(growth["exponent"]))


def test_errors_by_budget_are_drawn_in_percent_as_means_over_orders_with_their_range(made):
    summary = tables.by_budget(made["streams"], made["final"], ODD_OR_EVEN)
    means = summary.set_index(["method", "budget"])["online"]
    budget = means["oldest"].index[0]
    cost = tables.cost_of_budget(made["streams"], ODD_OR_EVEN, budget)
    assert cost.estimate == pytest.approx(means["oldest", budget] - means["perceptron", 0]) and cost.low < cost.high
    line, _, (bars,) = figures.figure_budget(summary).axes[1].containers[-1]
    own = made["final"].query("method == 'forgetron' and problem == @ODD_OR_EVEN")
    rates = (100 * own["errors"] / own["n_test"]).groupby(own["budget"]).agg(["mean", "min", "max"])
    np.testing.assert_allclose(line.get_ydata().astype(float), rates["mean"])
    ends = [segment[:, 1] for segment in bars.get_segments()]
    np.testing.assert_allclose(np.array(ends, dtype=float), rates[["min", "max"]])


def test_every_learner_is_drawn_with_the_gap_from_norma_to_the_final_predictor(made):
    rates = tables.rates_by_learner(tables.learners(made["wrong_labels"]))
    axis = figures.figure_remedies(rates).axes[1]
    part = rates[rates["noise"] == 0.2].set_index("learner")["test"]
    np.testing.assert_allclose([container[0].get_xdata()[0] for container in axis.containers], 100 * part)
    (band,) = axis.patches
    ends = sorted([band.get_x(), band.get_x() + band.get_width()])
    assert ends == pytest.approx(sorted(100 * part[["NORMA", "final"]]))


def test_the_guarantee_is_drawn_in_percent_and_filled_where_it_covers_the_budget(made):
    table = facts.guarantee(made["guaranteed"]).table.assign(covered=[False, False, True])
    all_budgets, covered, mistakes, *_ = figures.figure_guarantee(table).axes[0].get_lines()
    assert all_budgets.get_xdata().tolist() == [4, 8] and all_budgets.get_markerfacecolor() == "white"
    assert covered.get_xdata().tolist() == [8] and covered.get_markerfacecolor() != "white"
    own = made["guaranteed"].query("budget == 8")
    np.testing.assert_allclose(covered.get_ydata(), 100 * np.mean(own["upper"] / own["n"]))
    np.testing.assert_allclose(mistakes.get_ydata()[1], 100 * np.mean(own["mistakes"] / own["n"]))


def test_a_predictor_that_overfits_is_drawn_filled_with_its_interval_in_points():
    row = {"noise": 0.1, "predictor": "voted", "test": 0.02, "test_low": 0.01, "test_high": 0.05, "overfits": True}
    table = pd.DataFrame([row | {"noise": 0.0, "overfits": False}, row])
    figure = figures.figure_overfitting(table)
    filled, hollow = figure.legends[0].legend_handles
    assert filled.get_label() == "overfits" and filled.get_markerfacecolor() != hollow.get_markerfacecolor() == "white"
    (axis,) = figure.axes
    (right, _, _), (wrong, _, (bar,)) = axis.containers
    assert right.get_markerfacecolor() == "white" and wrong.get_markerfacecolor() == wrong.get_color() != "white"
    np.testing.assert_allclose(bar.get_segments()[0], [[10, 1], [10, 5]])
