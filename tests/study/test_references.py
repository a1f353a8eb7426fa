"""The chapter on other learners: they are scikit-learn's, chosen on held-out images, and compared in pairs."""

import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.svm import SVC
from threadpoolctl import threadpool_info

from kp import PREDICTORS, OneVsAllKernelPerceptron
from study import datasets, statistics
from study.mnist import experiment as mnist
from study.orders import experiment as orders
from study.references import experiment, figures, tables
from study.references.experiment import OURS, Ours, Settings

SMALL = {"dataset": "digits", "n_held": 300}


def computed(method, **options):
    return experiment.learners.compute(Settings(method=method, **{**SMALL, **options}))


def test_a_learner_is_chosen_on_held_out_images_after_training_on_all_others_and_trained_on_all():
    result = computed("RBF SVM")
    data = datasets.load("digits")
    X, y, X_test = data.X / data.X.max(), data.class_indices, data.X_test / data.X.max()
    made = [SVC(**values) for values in experiment.GRIDS["RBF SVM"]]
    held = [int((svm.fit(X[:-300], y[:-300]).predict(X[-300:]) != y[-300:]).sum()) for svm in made]
    assert result["choices"]["held"].tolist() == held
    place = int(np.argmin(held))
    best = made[place].fit(X, y)
    (row,) = result["errors"].to_dict("records")
    assert row["choice"] == "gamma = {gamma:g}, C = {C:g}".format(**experiment.GRIDS["RBF SVM"][place])
    np.testing.assert_array_equal(result["arrays"]["predictions"][0], best.predict(X_test))
    assert row["errors"] == (best.predict(X_test) != data.class_indices_test).sum()
    assert row["numbers"] == best.support_vectors_.size + best.dual_coef_.size + best.intercept_.size


def test_the_polynomial_machine_may_have_the_constant_of_the_perceptron():
    values = experiment.GRIDS["polynomial SVM"]
    assert {each["coef0"] for each in values} == {0.0, 1.0}
    texts = [each.text for each in experiment.candidates(Settings(method="polynomial SVM"))]
    assert len(set(texts)) == len(values) and texts[-1] == "degree = 4, coef0 = 1, C = 25"


def test_machines_of_intelex_have_the_parameters_of_those_of_scikit_learn():
    pytest.importorskip("sklearnex")
    candidate = experiment.Candidate(method="RBF SVM", values=(("gamma", 0.04), ("C", 5.0)), **SMALL)
    machine, plain = experiment.with_intelex(candidate.estimator), candidate.estimator
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


@pytest.mark.parametrize(("method", "numbers"), [("nearest neighbour", 1200 * 65), ("linear SVM", 650)])
def test_numbers_stored_are_those_a_prediction_needs(method, numbers):
    result = computed(method)
    assert result["errors"]["numbers"].tolist() == [numbers]
    assert len(result["choices"]) == (0 if method == "nearest neighbour" else len(experiment.GRIDS[method]))


def test_ours_are_all_predictors_after_some_epochs(monkeypatch):
    monkeypatch.setattr(experiment, "EPOCHS", (1, 2))
    result, data = experiment.perceptron.compute(Ours(dataset="digits")), datasets.load("digits")
    model = OneVsAllKernelPerceptron(degree=3, max_iter=2, random_state=3, stop_if_separated=False)
    model.fit(data.X, data.class_indices)
    for row, predicted in zip(result["perceptron"].itertuples(), result["arrays"]["predictions"], strict=True):
        expected = model.predict(data.X_test, predictor=row.predictor, epoch=row.epoch)
        np.testing.assert_array_equal(predicted, expected)
        assert row.errors == (expected != data.class_indices_test).sum()
    assert result["perceptron"]["numbers"].iloc[-1] == model.support_vectors_.size + sum(map(len, model.mistakes_))
    costs = result["perceptron_costs"]
    assert costs["epoch"].tolist() == [1, 2] and (costs["fit"] > 0).all()


@pytest.mark.parametrize(
    ("options", "message"), [({"dataset": "x"}, "dataset must"), ({"method": "x"}, "method must be one of")]
)
def test_bad_settings_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        Settings(**{"dataset": "digits", "method": OURS, **options})


def example():
    labels = np.arange(500) % 3
    rng = np.random.default_rng(0)
    bad = np.where(rng.random(500) < 0.3, (labels + 1) % 3, labels)
    errors = pd.DataFrame(
        {"method": ["bad", "perfect"], "choice": ["", "C = 1"], "predictor": "", "epoch": 0, "n_test": 500}
    )
    errors["errors"], errors["numbers"] = [int((bad != labels).sum()), 0], 7
    ours = rng.random((4, 500)) < 0.1
    return errors, np.stack([bad, labels]), ours, labels


def test_methods_are_compared_over_orders_and_images():
    errors, predictions, ours, labels = example()
    table = tables.compared(errors, predictions, ours, labels).set_index("method")
    gap = statistics.crossed(ours - (predictions[0] != labels).astype(float))
    assert table.loc["bad", ["gap", "gap low"]].tolist() == pytest.approx([gap.estimate, gap.low])
    assert table["verdict"].tolist() == ["lower", "higher"]
    assert table.loc["bad", ["low", "high"]].tolist() == list(statistics.wilson(errors["errors"][0], 500))
    assert tables.spread_of_ours(ours)[0] == ours.mean()


def test_errors_are_equal_only_where_a_difference_above_the_margin_is_rejected():
    labels, images = np.zeros(50_000, dtype=int), np.arange(50_000)
    own = np.where(images < 800, 1, 0)
    errors = pd.DataFrame({"method": ["other"], "choice": "", "n_test": 50_000, "errors": 800, "numbers": 1})
    ours = np.stack([(images >= 10) & (images < 810), images < 800])
    table = tables.compared(errors, own[None], ours, labels)
    assert table["verdict"].tolist() == ["equal"] and table["p same"][0] < 0.001
    few = tables.compared(
        errors.assign(n_test=600, errors=6), (own[:600] * (images[:600] < 6))[None], ours[:, 790:1390], labels[:600]
    )
    assert few["verdict"].tolist() == ["–"] and few["p same"][0] > 0.05 and few["gap high"][0] > tables.MARGIN


def test_held_out_images_choose_the_degree_and_the_predictor_that_are_compared():
    held = tables.held_out_means(orders.held_out(orders.settings(n_linear=0, n_held=10_000)))
    assert held.loc[:1, ["degree", "predictor", "epoch"]].values.tolist() == [[3, "average", 9], [3, "average", 10]]
    assert held.loc[:1, "held"].tolist() == [173.75, 173.95] and set(held["orders"]) == {20}


def test_chapters_agree_on_nearest_neighbours():
    one = experiment.learners(experiment.settings())["errors"].set_index("method")["errors"]
    other = mnist.neighbours(mnist.NeighbourSettings())["neighbours"].query("measure == 'distance'")
    assert other["errors"].tolist() == one[["nearest neighbour", "3 nearest neighbours"]].tolist() == [309, 295]


def test_of_the_published_choices_only_that_of_the_neural_network_lies_at_an_end():
    choices = experiment.learners(experiment.settings())["choices"]
    table = tables.tried(choices, experiment.GRIDS, experiment.SHOWN).set_index("method")
    assert table["at the edge"][table["at the edge"] != ""].to_dict() == {"neural network": "hidden units"}
    assert len(choices) == sum(map(len, experiment.GRIDS.values())) - 2


def test_a_choice_at_the_end_of_its_range_is_said():
    grids = {
        "a": [{"C": 1.0, "coef0": 0.0}, {"C": 5.0, "coef0": 1.0}, {"C": 25.0, "coef0": 1.0}],
        "b": [{"max_iter": 2}, {"max_iter": 9}],
    }
    choices = pd.DataFrame({"method": list("aaabb"), "choice": list("uvwxy"), "held": [9, 4, 4, 3, 8], "n_held": 50})
    table = tables.tried(choices, grids, {"max_iter": "epochs"})
    assert table["choice"].tolist() == ["v", "x"] and table["at the edge"].tolist() == ["", "epochs"]
    assert table["grid"].tolist() == ["C 1, 5, 25; coef0 0, 1", "epochs 2, 9"]
    assert table[["candidates", "fewest", "most"]].values.tolist() == [[3, 4, 9], [2, 3, 8]]


def test_costs_stand_beside_the_errors_of_one_predictor():
    errors = pd.DataFrame(
        {"method": ["a", OURS, OURS], "epoch": [0, 1, 1], "predictor": [np.nan, "final", "average"], "errors": [5, 9, 4]}
    ).assign(n_test=100, numbers=[1, 2, 2], choice="")
    costs = pd.DataFrame(
        {"method": ["a", OURS], "epoch": [0, 1], "fit": [1.0, 2.0], "predict": [0.1, 0.2], "peak": [1.0, 2.0]}
    )
    table = tables.cost(errors, costs, predictor="final")
    assert table["error"].tolist() == [0.05, 0.09] and table["numbers"].tolist() == [1, 2]
    found = pd.DataFrame({"method": ["a (fast)"], "choice": "", "errors": 5, "n_test": 100, "numbers": 1})
    both = tables.joined(errors, costs, found.assign(fit=0.5, predict=0.2, peak=3.0))
    assert tables.cost(*both, predictor="average")["fit"].tolist() == [1.0, 2.0, 0.5]
    figure = figures.figure_error_against_time(errors, costs, ours=OURS)
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert names == [*(f"{OURS}, {predictor}" for predictor in PREDICTORS), "a"]
    assert [len(axis.containers) for axis in figure.axes] == [1, 1]


def test_rows_are_printed_with_intervals_and_overflow_is_found():
    table = tables.in_percent(tables.compared(*example()))
    assert table["ours"].tolist() == ["lower", "higher"] and table["p"].tolist()[0] == "< 0.001"
    assert table.loc[1, "error (%)"].startswith("0.00 (0.00 to ")
    wrapped = (p for p in range(1, 64) if ((1 + 3000**2) ** p + 2**63) % 2**64 < 2**63)
    assert tables.overflowing_degree(np.array([[3000]], dtype=np.uint16)) == (next(wrapped), 1.0)
