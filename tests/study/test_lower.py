"""The chapter on other learners: they are scikit-learn's, chosen on held-out images, and compared in pairs."""

import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.kernel_approximation import Nystroem
from sklearn.model_selection import ParameterGrid
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, LinearSVC
from threadpoolctl import threadpool_info, threadpool_limits

from kp import PREDICTORS, OneVsAllKernelPerceptron
from study import datasets, statistics
from study.lower import experiment, facts, figures, recipes, tables
from study.lower.experiment import OURS, Again, Candidate, Chosen, Ours
from study.mnist import orders

SMALL = {"dataset": "digits", "n_held": 300}


def test_a_learner_is_chosen_on_held_out_images_after_training_on_all_others_and_trained_on_all():
    chosen = Chosen(dataset="digits", method="RBF SVM", values=experiment.best("RBF SVM", **SMALL).values)
    result = experiment.learners.compute(chosen)
    data = datasets.load("digits")
    X = data.X / data.X.max()
    y = data.class_indices
    X_test = data.X_test / data.X.max()
    made = [SVC(**values) for values in ParameterGrid(experiment.GRIDS["RBF SVM"])]
    held = [int((svm.fit(X[:-300], y[:-300]).predict(X[-300:]) != y[-300:]).sum()) for svm in made]
    assert experiment.held(experiment.candidates("RBF SVM", **SMALL))["held"].tolist() == held
    best = made[int(np.argmin(held))].fit(X, y)
    predicted = best.predict(X_test)
    np.testing.assert_array_equal(result["arrays"]["predictions"][0], predicted)
    numbers = best.support_vectors_.size + best.dual_coef_.size + best.intercept_.size
    expected = [f"gamma = {best.gamma:g}, C = {best.C:g}", (predicted != data.class_indices_test).sum(), numbers]
    assert result["learners"][["choice", "errors", "numbers"]].to_numpy().tolist() == [expected]


def test_machines_of_intelex_have_the_parameters_of_those_of_scikit_learn():
    pytest.importorskip("sklearnex")
    candidate = Candidate(method="RBF SVM", values=(("gamma", 0.04), ("C", 5.0)), **SMALL)
    machine = experiment.with_intelex(candidate.estimator)
    plain = candidate.estimator
    own = machine.get_params()
    assert own.pop("n_jobs") == 1 and own == plain.get_params()
    data = datasets.load("digits")
    predictions, numbers, seconds = experiment._trained(data, machine, dtype=np.float32)
    np.testing.assert_array_equal(predictions, experiment._trained(data, plain)[0])
    assert numbers == pytest.approx(experiment.numbers_stored(plain), rel=0.01) and min(seconds) > 0


def test_without_intelex_is_said_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearnex", None)
    with pytest.raises(RuntimeError, match="pip install scikit-learn-intelex"):
        experiment.with_intelex(SVC())


def test_every_learner_has_one_thread_while_it_is_timed(monkeypatch):
    seen = []

    class Counting:
        coef_ = intercept_ = np.zeros(1)

        def fit(self, X, y):
            seen.extend(pool["num_threads"] for pool in threadpool_info())
            return self

        def predict(self, X):
            return np.zeros(len(X))

    experiment._trained(datasets.load("digits"), Counting())
    assert seen and set(seen) == {1}


@pytest.mark.parametrize(
    ("method", "numbers"),
    [
        ("nearest neighbour", 1200 * 65),
        ("linear SVM", 650),
        ("averaged SGD", 650),
        ("Nystroem", 40 * 64 + 410),
        ("random features", 40 * 64 + 40 + 410),
        ("count sketch", 2 * (64 + 64) + 410),
        ("neural network", 40 * 64 + 40 + 410),
    ],
)
def test_numbers_stored_are_those_a_prediction_needs(method, numbers):
    chosen = Chosen(dataset="digits", method=method, values=experiment.CHOSEN[method], size=40)
    result = experiment.learners.compute(chosen)
    assert result["learners"]["numbers"].tolist() == [numbers]


def test_a_tree_needs_a_value_for_each_leaf_and_four_numbers_for_each_other_node():
    data = datasets.load("digits")
    model = HistGradientBoostingClassifier(max_iter=2, random_state=0).fit(data.X[:300], data.y[:300])
    leaves = [tree.get_n_leaf_nodes() for row in model._predictors for tree in row]
    assert len(leaves) == 20 and experiment.numbers_stored(model) == sum(5 * n - 4 for n in leaves)


def test_approximate_kernels_are_chosen_with_the_same_features_and_trained_with_more_or_fewer(monkeypatch):
    monkeypatch.setitem(experiment.CHOSEN_WITH, "digits", 30)
    candidate = experiment.candidates("Nystroem", **SMALL)[1]
    data = datasets.load("digits")
    X = data.X / data.X.max()
    y = data.class_indices
    features = Nystroem(gamma=0.01, n_components=30, random_state=0)
    machine = make_pipeline(features, LinearSVC(C=10.0, random_state=0))
    row = experiment.choices.compute(candidate).iloc[0]
    found = experiment.learners.compute(Chosen(dataset="digits", method="Nystroem", values=candidate.values, size=60))
    with threadpool_limits(1):  # on whose number the last bits of features depend
        wrong = machine.fit(X[:-300], y[:-300]).predict(X[-300:]) != y[-300:]
        machine.set_params(nystroem__n_components=60).fit(X, y)
        predicted = machine.predict(data.X_test / data.X.max())
    assert (row["choice"], row["held"]) == ("gamma = 0.01, C = 10", wrong.sum())
    assert found["learners"]["method"].tolist() == ["Nystroem, 60"]
    np.testing.assert_array_equal(found["arrays"]["predictions"][0], predicted)


def test_quick_trainings_are_timed_several_times_and_their_medians_kept(monkeypatch):
    clock = iter([0, 5, 6, 0, 2, 4, 0, 3, 6, 0, 121, 122])
    monkeypatch.setattr(experiment.time, "process_time", lambda: next(clock))
    assert experiment.timed(list, lambda: "found") == ("found", (3.0, 2.0, 3))
    assert experiment.timed(list, lambda: "found") == ("found", (121.0, 1.0, 1))


def test_on_another_day_each_training_is_timed_once_under_the_name_of_its_learner(monkeypatch):
    monkeypatch.setattr(Ours, "epochs", (1, 2))
    monkeypatch.setattr(experiment, "with_intelex", lambda machine: machine)
    svm = Chosen(dataset="digits", method="RBF SVM", values=(("gamma", 0.02), ("C", 5.0)))
    sized = Chosen(dataset="digits", method="Nystroem", values=(("features__gamma", 0.02), ("svm__C", 1.0)), size=40)
    parts = [Again(learner=each, day=2) for each in (svm, sized, Ours(dataset="digits"))]
    parts.append(Again(learner=svm, day=2, by_intelex=True))
    found = pd.concat([experiment.again.compute(part) for part in parts])
    named = [("RBF SVM", 0, 1), ("Nystroem, 40", 0, 1), (OURS, 1, 3), (OURS, 2, 3), ("RBF SVM" + experiment.INTELEX, 0, 1)]
    assert list(found[["method", "epoch", "runs"]].itertuples(index=False, name=None)) == named
    assert (found["day"] == 2).all() and (found["fit"] > 0).all() and (found["predict"] > 0).all()


def test_costs_are_medians_over_the_days_on_which_all_learners_were_trained():
    found = facts.published
    costs = found.costs.set_index(["method", "epoch"])
    first = experiment.learners(experiment.settings())["learners_costs"].set_index(["method", "epoch"])
    later = experiment.again(experiment.again_settings()).set_index(["method", "epoch"])
    assert len(later) == len(experiment.DAYS) * len(costs)
    svm = ("RBF SVM", 0)
    both = [first.loc[svm, "fit"], *later.loc[[svm], "fit"]]
    assert costs.loc[svm, "fit"] == np.median(both)
    ours = experiment.perceptron([Ours()])["perceptron_costs"].set_index("epoch").loc[10, "fit"]
    ratios = tables.by_day(found.timed[1])
    assert ratios.loc["RBF SVM", 0] == both[0] / ours and len(ratios.columns) == len(both)
    short = found.slower.loc["RBF SVM"]
    assert short["median"] == np.median(ratios.loc["RBF SVM"]) and short["low"] <= short["median"] <= short["high"]
    own = found.seconds
    assert own["low"] <= own["median"] == costs.loc[(OURS, 10), "fit"] <= own["high"]


def test_the_largest_network_has_an_error_for_each_seed():
    if absent := [file.path for file in datasets.DATASETS["mnist"].files if datasets.find(file) is None]:
        pytest.skip(f"absent from KP_DATA and data/raw: {', '.join(absent)}")
    found = facts.published
    costs = found.costs.set_index("method")["error"]
    assert found.best["error"] == costs["neural network, 3,000"] and len(found.seeds) == len(experiment.SEEDS)


def test_ours_is_the_average_predictor_after_some_epochs(monkeypatch):
    monkeypatch.setattr(Ours, "epochs", (1, 2))
    table = experiment.perceptron.compute(Ours(dataset="digits"))["perceptron"]
    data = datasets.load("digits")
    model = OneVsAllKernelPerceptron(degree=3, gamma=1, max_iter=2, random_state=3, stop_if_separated=False)
    model.fit(data.X, data.class_indices)
    found = model.staged_predict(data.X_test, predictor="average")
    assert table["errors"].tolist() == [(each != data.class_indices_test).sum() for each in found]
    assert table["numbers"].iloc[-1] == model.support_vectors_.size + sum(map(len, model.mistakes_))


def example():
    labels = np.arange(500) % 3
    rng = np.random.default_rng(0)
    bad = np.where(rng.random(500) < 0.3, (labels + 1) % 3, labels)
    errors = pd.DataFrame({"method": ["bad", "perfect"], "choice": ["", "C = 1"], "epoch": 0, "n_test": 500})
    errors["errors"] = [int((bad != labels).sum()), 0]
    errors["numbers"] = 7
    ours = rng.random((4, 500)) < 0.1
    return errors, np.stack([bad, labels]), ours, labels


def test_methods_are_compared_over_orders_and_images():
    errors, predictions, ours, labels = example()
    table = tables.compared(errors, predictions, ours, labels).set_index("method")
    gap = statistics.crossed(ours - (predictions[0] != labels).astype(float))
    expected = [gap.estimate, gap.low, *statistics.wilson(errors["errors"][0], 500)]
    assert table.loc["bad", ["estimate", "low", "error low", "error high"]].tolist() == pytest.approx(expected)
    assert table["verdict"].tolist() == ["lower", "higher"]


def test_errors_are_equal_only_where_a_difference_above_the_margin_is_rejected():
    images = np.arange(50_000)
    ours = np.stack([(images >= 10) & (images < 810), images < 800])
    other = images < 800
    for n, verdict in ((50_000, "equal"), (600, "–")):
        part = slice(790, 790 + n) if n == 600 else slice(n)
        errors = pd.DataFrame({"method": ["other"], "choice": "", "n_test": n, "errors": other[part].sum(), "numbers": 1})
        (row,) = tables.compared(errors, other[None, part], ours[:, part], np.zeros(n, dtype=int)).to_dict("records")
        assert row["verdict"] == verdict and (row["p same"] < 0.001) == (verdict == "equal")


def test_held_out_images_choose_the_degree_that_is_timed():
    held = orders.held_out(orders.settings(n_linear=0, n_held=10_000))
    assert held.groupby(["degree", "predictor", "epoch"])["held"].mean().idxmin()[0] == Ours().degree


def test_every_learner_is_trained_with_what_held_out_images_choose():
    for method in experiment.ESTIMATORS:
        assert experiment.CHOSEN[method] == experiment.best(method).values


def test_another_number_of_held_out_images_of_mnist_chooses_again(monkeypatch):
    def best(method, dataset, *, n_held):
        return Chosen(method=method, values=(("n", n_held),))

    monkeypatch.setattr(experiment, "best", best)
    for settings in (experiment.settings, experiment.intelex_settings):
        assert {part.values for part in settings("mnist", n_held=5000)} == {(("n", 5000),)}


def test_networks_are_those_of_the_comparison_from_other_seeds():
    compared = [part for part in experiment.settings() if part.method == experiment.NETWORK]
    expected = [experiment.Seeded(**vars(part), seed=seed) for part in compared for seed in (1, 2)]
    assert experiment.seeded_settings() == expected and {part.size for part in compared} == {100, 300, 1000, 3000}
    data = datasets.load("digits")
    part = Chosen(dataset="digits", method=experiment.NETWORK, values=(("alpha", 0.01),), size=40)
    found = experiment.networks.compute(experiment.Seeded(**vars(part), seed=7))
    network = MLPClassifier((40,), max_iter=30, alpha=0.01, random_state=7)
    predicted = experiment._fitted(network, data.X / data.X.max(), data.class_indices).predict(data.X_test / data.X.max())
    errors = int((predicted != data.class_indices_test).sum())
    assert found.to_numpy().tolist() == [["neural network, 40", 7, errors, len(data.y_test)]]


@pytest.fixture(scope="module")
def own():
    return facts.Facts(dataset="digits", n_held=300, n_orders=3, n_growth_orders=2)


def test_a_vote_goes_to_the_class_with_most_orders_and_of_equals_to_the_lowest():
    assert tables.majority(np.array([[2, 0, 1], [2, 1, 0], [1, 1, 0], [1, 0, 0]])).tolist() == [1, 0, 0]


def test_ours_are_the_estimator_at_the_degree_and_epoch_that_held_out_images_choose(own):
    data = datasets.load("digits")
    own = own.orders
    choice = own.chosen.iloc[1]
    least = {}
    for degree in orders.CURVED:
        model = OneVsAllKernelPerceptron(
            degree=degree, gamma=1, max_iter=10, random_state=degree + 100, stop_if_separated=False
        )
        model.fit(data.X[:-300], data.y[:-300])
        for epoch, found in enumerate(model.staged_predict(data.X[-300:], predictor="average"), start=1):
            least[degree, epoch] = np.count_nonzero(found != data.y[-300:])
    degree, epoch = min(least, key=lambda key: (least[key], key))
    assert (choice["degree"], choice["epoch"]) == (degree, epoch)
    model = OneVsAllKernelPerceptron(degree=degree, gamma=1, max_iter=10, random_state=degree + 100, stop_if_separated=False)
    predicted = model.fit(data.X, data.y).predict(data.X_test, predictor="average", epoch=epoch)
    np.testing.assert_array_equal(own.ours[1], predicted != data.y_test)
    at_three = OneVsAllKernelPerceptron(degree=3, gamma=1, max_iter=10, random_state=203, stop_if_separated=False).fit(
        data.X, data.y
    )
    after_one = at_three.predict(data.X_test, predictor="average", epoch=1)
    np.testing.assert_array_equal(own.first[2], after_one != data.y_test)


def test_facts_of_a_vote_and_of_copies_are_differences_of_counts(own):
    assert own.vote.estimate == pytest.approx(own.orders.together.mean() - own.orders.ours.mean())
    copies = own.copies
    with_copies, without = own.grown[copies.n][0, 0], own.grown[1200][0, 0]
    assert copies.change.estimate == pytest.approx((with_copies.sum() - without.sum()) / len(own.labels))
    assert (copies.error, copies.before) == (with_copies.mean(), without.mean())


def test_ten_times_the_images_leave_what_the_power_law_says():
    found = facts.Facts()
    law = {"exponent": -0.5, "low": -1.0, "high": 0.0}
    found.__dict__.update(law=law)
    assert vars(found.tenfold) == pytest.approx({"estimate": 10**-0.5, "low": 0.1, "high": 1.0})


@pytest.mark.long
def test_the_ladder_has_the_steps_and_the_costs_of_stored_runs(own):
    table, own = own.ladder, own.orders
    assert table.loc[0, "error"] == own.linear[:, PREDICTORS.index("final")].mean()
    assert table.loc[2, "error"] == own.ours.mean()
    assert table.loc[3, "error"] == own.together.mean()
    assert table.loc[3, "seconds"] == pytest.approx(3 * table.loc[2, "seconds"])
    assert table["hindsight"].tolist() == [False] * 4 + [True] * 2 + [False] * 2


def test_what_was_found_in_hindsight_is_hollow_and_named_so():
    steps = pd.DataFrame(
        {"name": ["chosen", "found", tables.SVM], "error": [0.02, 0.01, 0.015], "hindsight": [False, True, False]}
    )
    (axis,) = figures.figure_ladder(steps.assign(low=0.005, high=0.03)).axes
    assert [each.get_text() for each in axis.get_yticklabels()] == ["chosen", "found (in hindsight)"]
    chosen, found = (bar.lines[0] for bar in axis.containers)
    assert found.get_markerfacecolor() == "white" != chosen.get_markerfacecolor()


def test_a_bill_has_what_was_timed_from_the_lowest_error_up():
    ours = f"{OURS}, average predictor"
    fast = "bad" + tables.INTELEX
    costs = pd.DataFrame({"method": ["bad", "perfect", fast, OURS, OURS], "error": [0.3, 0.0, 0.3, 0.15, 0.1]})
    costs = costs.assign(epoch=[0, 0, 0, 1, 10], fit=[4.0, 6.0, 1.0, 1.5, 2.0], predict=1.0, peak=[1.0, 1.0, 1.0, 3.0, 4.0])
    costs = costs.assign(numbers=[10, 20, 30, 40, 50])
    steps = pd.DataFrame({"name": [ours, "copies", "untimed"], "error": [0.1, 0.05, 0.2], "seconds": [2.0, 9.0, np.nan]})
    steps = steps.assign(numbers=[50, np.nan, np.nan], low=0.0, high=0.3, predict=1.0, memory=4.0, threads=[1, 2, np.nan])
    wrong = np.array([[1, 0, 0, 0, 0], [1, 0, 0, 0, 0], [0, 1, 0, 0, 0]], dtype=bool)
    table = tables.bill(tables.compared(*example()), costs, steps, wrong)
    assert table["learner"].tolist()[:4] == ["perfect", "copies", ours, tables.FIRST] and len(table) == 6
    first = table.set_index("learner").loc[tables.FIRST]
    mean = statistics.crossed(wrong.astype(float))  # over the orders, and not the single order that was timed
    assert first[["error", "error low", "error high"]].tolist() == [wrong.mean(), mean.low, mean.high]
    assert (first["fit"], first["numbers"]) == (1.5, 40) and np.isnan(first["estimate"])


def test_the_degrees_of_a_run_lead_to_the_parts_of_all_experiments_and_the_least_is_that_of_the_copies():
    found = facts.Facts(dataset="digits", degrees=(4, 2), growth_degrees=(5, 3, 5), recipe_degrees=(6, 2, 4))
    assert (found.degrees, found.growth_degrees, found.recipe_degrees) == ((2, 4), (3, 5), (2, 4, 6))
    assert found.timed_one == Ours(dataset="digits", degree=2) and found.degree == 3
    *curve, copies = found.curve_parts
    assert {part.degrees for part in curve} == {(3, 5)} and (copies.n, copies.degrees) == (6000, (3,))
    tried = recipes.candidates("digits", **found.recipe_options)
    assert {part.degree for part in tried if not part.copies} == {2, 4, 6}
    assert {part.degree for part in tried if part.copies} == {6} and found.copied_named == "recipes of degree 6"
    assert facts.published.copied_named == "degrees 7, 8 and 9" and facts.Facts().recipe_degrees == recipes.DEGREES["mnist"]


def test_our_seconds_of_other_days_are_those_of_the_published_degree_alone():
    assert experiment.again_settings(Ours()) == experiment.again_settings() != []
    assert experiment.again_settings(Ours(degree=4)) == experiment.again_settings(Ours(dataset="digits")) == []
