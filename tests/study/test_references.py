"""The chapter on other learners: they are scikit-learn's, chosen on held-out images, and compared in pairs."""

import numpy as np
import pandas as pd
import pytest
from sklearn.svm import SVC

from kp import PREDICTORS, OneVsAllKernelPerceptron
from study import datasets, statistics
from study.references import experiment, figures, tables
from study.references.experiment import OURS, Ours, Settings

SMALL = {"dataset": "digits", "n_choice": 200, "n_held": 100}


def computed(method, **options):
    return experiment.learners.compute(Settings(method=method, **{**SMALL, **options}))


def test_a_learner_is_chosen_on_held_out_images_and_trained_on_all():
    result = computed("polynomial SVM")
    data = datasets.load("digits")
    X, y, X_test = data.X / data.X.max(), data.class_indices, data.X_test / data.X.max()
    candidates = [(degree, C) for degree in (2, 3, 4) for C in (1.0, 5.0, 25.0)]
    made = [SVC(kernel="poly", degree=degree, C=C) for degree, C in candidates]
    held = [int((svm.fit(X[:200], y[:200]).predict(X[-100:]) != y[-100:]).sum()) for svm in made]
    assert result["choices"]["held"].tolist() == held
    best = made[int(np.argmin(held))].fit(X, y)
    (row,) = result["errors"].to_dict("records")
    degree, C = candidates[int(np.argmin(held))]
    assert row["choice"] == f"degree {degree}, C = {C:g}"
    np.testing.assert_array_equal(result["arrays"]["predictions"][0], best.predict(X_test))
    assert row["errors"] == (best.predict(X_test) != data.class_indices_test).sum()
    assert row["numbers"] == best.support_vectors_.size + best.dual_coef_.size + best.intercept_.size


@pytest.mark.parametrize(("method", "numbers"), [("nearest neighbour", 1200 * 65), ("scikit-learn perceptron", 650)])
def test_numbers_stored_are_those_a_prediction_needs(method, numbers):
    result = computed(method)
    assert result["errors"]["numbers"].tolist() == [numbers]
    assert len(result["choices"]) == (0 if method == "nearest neighbour" else 3)


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


def test_costs_stand_beside_the_fewest_errors():
    errors = pd.DataFrame(
        {"method": ["a", OURS, OURS], "epoch": [0, 1, 1], "predictor": ["", "final", "average"], "errors": [5, 9, 4]}
    ).assign(n_test=100, numbers=[1, 2, 2], choice="")
    costs = pd.DataFrame(
        {"method": ["a", OURS], "epoch": [0, 1], "fit": [1.0, 2.0], "predict": [0.1, 0.2], "peak": [1.0, 2.0]}
    )
    table = tables.cost(errors, costs)
    assert table["error"].tolist() == [0.05, 0.04] and table["numbers"].tolist() == [1, 2]
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
