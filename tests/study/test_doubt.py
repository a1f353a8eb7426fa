"""The chapter on doubt: votes and scores against single estimators, odd inputs, and tables against literal ones."""

from dataclasses import replace
from itertools import permutations
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from crepes import WrapClassifier
from scipy import stats
from scipy.special import softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV, calibration_curve
from sklearn.datasets import load_digits
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import brier_score_loss, log_loss, roc_auc_score
from sklearn.naive_bayes import GaussianNB

from kp import OneVsAllKernelPerceptron
from study import datasets, statistics
from study.doubt import experiment, facts, figures, inputs, tables
from study.doubt.experiment import KINDS, PREDICTORS, Settings
from study.mnist import orders

SMALL = Settings(dataset="digits", degree=2, n_epochs=2, n_orders=3, n_train=200, n_held_out=150, n_odd=12)


@pytest.fixture(scope="module")
def data():
    return datasets.load("digits")


@pytest.fixture(scope="module")
def result():
    return experiment.ensemble.compute(SMALL)


@pytest.fixture(scope="module")
def parts(result):
    return tables.by_part(result["arrays"])


@pytest.fixture
def random():
    return np.random.default_rng(0)


class Given(ClassifierMixin, BaseEstimator):
    """A fitted classifier whose scores are its inputs."""

    def __init__(self, classes):
        self.classes = self.classes_ = classes

    def fit(self, f, y):
        return self

    def predict(self, f):
        return self.classes_[f.argmax(axis=1)]

    def decision_function(self, f):
        return f


def noisy(random, n=400):
    """Scores (n, 4) that favour the true class, and the classes (n,)."""
    y = np.arange(n) % 4
    return random.normal(size=(n, 4)) + 1.5 * np.eye(4)[y], y


# Settings and the ensemble.


def test_images_do_not_train_and_choose():
    with pytest.raises(ValueError, match="n_train must be at most 900, got 901; or hold out fewer"):
        Settings(dataset="digits", n_train=901)


def test_training_images_that_lack_a_digit_are_refused(data, monkeypatch):
    monkeypatch.setattr(datasets, "load", lambda name: replace(data, y=np.minimum(data.y, 8)))
    with pytest.raises(ValueError, match="the first 200 images must show all 10 classes; raise n_train"):
        experiment.ensemble.compute(SMALL)


def test_votes_scores_and_errors_are_those_of_estimators_fitted_one_by_one(data, result):
    images, part, labels = experiment.points(SMALL, data)
    np.testing.assert_array_equal(images[part == 0], data.X[1050:])
    np.testing.assert_array_equal(labels[part == 0], data.class_indices[1050:])
    votes = np.zeros((2, len(images), 10), dtype=int)
    scores = []
    scales = []
    rows = result["orders"].set_index(["order", "predictor"])
    for r in range(3):
        model = OneVsAllKernelPerceptron(degree=2, gamma=1, max_iter=2, random_state=2 + 100 * r, stop_if_separated=False)
        model.fit(data.X[:200], data.y[:200])
        for p, name in enumerate(PREDICTORS):
            f = model.decision_function(images, predictor=name)
            votes[p, np.arange(len(images)), f.argmax(axis=1)] += 1
            wrong = f.argmax(axis=1) != labels
            assert rows.loc[(r, name), "test"] == wrong[150:747].sum()
        scales.append(np.sqrt(np.mean(f[:150] ** 2)))
        scores.append(f / scales[-1])
    arrays = result["arrays"]
    np.testing.assert_array_equal(arrays["votes"], votes)
    np.testing.assert_allclose(arrays["scales"], scales)
    np.testing.assert_allclose(arrays["single"], scores[0], rtol=1e-6)
    np.testing.assert_allclose(arrays["scores"], np.mean(scores, axis=0), rtol=1e-5, atol=1e-6)


# Odd inputs.


def test_odd_inputs_are_what_they_are_called_in_the_type_and_range_of_the_images(data):
    odd = inputs.odd_inputs(data.X_test, data.class_indices_test, 20, top=16, random_state=3)
    assert tuple(odd) == KINDS
    for kind, X in odd.items():
        assert X.shape == (1 if kind == "blank" else 20, 64) and X.dtype == data.X.dtype and X.max() <= 16
    images = {tuple(image) for image in data.X_test.tolist()}
    ink = {tuple(sorted(image)) for image in images}
    assert all(tuple(sorted(image)) in ink and tuple(image) not in images for image in odd["permuted"].tolist())
    assert {tuple(image) for image in (16 - odd["inverted"]).tolist()} <= images


# Errors and votes.


def test_votes_are_counted_by_the_number_for_the_answer():
    votes = np.array([[4, 0], [4, 0], [3, 1], [2, 2], [0, 4]])
    table = tables.by_votes(votes, np.array([0, 1, 1, 0, 1]))
    found = table[["votes", "images", "errors"]].to_numpy().tolist()
    assert found == [["4 of 4", 3, 1], ["3 of 4", 1, 1], ["2 of 4", 1, 0], ["fewer than 2", 0, 0]]
    assert table["low"][0] == statistics.wilson(1, 3)[0]


# Calibration.


def test_the_temperature_is_that_of_scikit_learn():
    X, y = load_digits(return_X_y=True)
    f = np.log(GaussianNB(var_smoothing=0.1).fit(X[:500], y[:500]).predict_proba(X[500:]) + 1e-12)
    library = CalibratedClassifierCV(FrozenEstimator(Given(np.arange(10))), method="temperature")
    expected = library.fit(f[:400], y[500:900]).predict_proba(f[400:])
    np.testing.assert_allclose(softmax(f[400:] / tables.temperature(f[:400], y[500:900]), axis=1), expected, atol=2e-4)


def test_each_score_of_probabilities_is_that_of_scikit_learn(random):
    f, y = noisy(random)
    P = softmax(f, axis=1)
    classes = f.argmax(axis=1)
    right = classes == y
    top = P.max(axis=1)
    table = tables.calibration({"one": (classes, top), "hard": (classes, np.ones(len(y)))}, y)
    one, hard = table.to_dict("records")
    accuracy, confidence = calibration_curve(right, top, n_bins=tables.BINS)
    images = np.histogram(top, bins=np.linspace(0, 1, tables.BINS + 1))[0]
    expected = {
        "log_loss": log_loss(right, top),
        "brier": brier_score_loss(right, top),
        "calibration_error": np.abs(accuracy - confidence) @ images[images > 0] / len(y),
    }
    assert {name: one[name] for name in expected} == pytest.approx(expected)
    assert hard["log_loss"] == np.inf and hard["brier"] == pytest.approx((~right).mean())


def test_the_calibrated_margin_is_the_sigmoid_of_scikit_learn_on_logarithms(random):
    f_held, y_held = noisy(random)
    f, _ = noisy(random, 100)
    held, test = (tables.Answers({}, scores, scores) for scores in (f_held, f))
    right = f_held.argmax(axis=1) == y_held
    x = np.log(tables.margin(f_held))
    library = CalibratedClassifierCV(FrozenEstimator(Given(np.array([False, True]))), method="sigmoid")
    # A classifier of two classes has one score: its class is right where the score is positive.
    library.estimator.estimator.predict = lambda score: score > 0
    expected = library.fit(x, right).predict_proba(np.log(tables.margin(f)))[:, 1]
    np.testing.assert_allclose(tables.calibrated_margin(held, y_held, test), expected, atol=1e-5)


def test_a_logistic_curve_is_finite_where_all_answers_are_right_and_margins_may_be_zero(random):
    f, y = noisy(random)
    sure = f + 100 * np.eye(4)[y]
    held = tables.Answers({}, sure, sure)
    test = tables.Answers({}, np.zeros((3, 4)), None)
    chances = tables.calibrated_margin(held, y, test)
    assert np.isfinite(chances).all() and (chances > 0.9).all() and (chances < 1).all()


def test_a_constant_is_calibrated_where_the_accuracy_is_that_of_the_held_out_images(random):
    f_held, y_held = noisy(random)
    f, y = noisy(random, 100)
    held, test = (tables.Answers({"average": np.round(2 + scores.clip(-2))}, scores, scores) for scores in (f_held, f))
    P = tables.probabilities(held, y_held, test)
    for name, chances in P.items():
        np.testing.assert_allclose(chances.sum(axis=1), 1, err_msg=name)
    of = tables.confidences(held, y_held, test, P)
    classes, confidence = of["constant"]
    np.testing.assert_array_equal(classes, f.argmax(axis=1))
    np.testing.assert_allclose(confidence, (f_held.argmax(axis=1) == y_held).mean())
    squares = [np.mean(((of[name][0] == y) - of[name][1]) ** 2) for name in ("calibrated margin", "constant")]
    test = tables.calibration_tests(of, y)["calibrated margin − constant"]
    assert test.estimate == pytest.approx(squares[0] - squares[1]) and test.adjusted == "Holm over 3"


def test_held_out_images_choose_the_degree_of_the_published_ensemble():
    (published,) = experiment.PUBLISHED
    runs = orders.held_out(orders.settings(n_held=published.n_held_out, n_linear=0))
    average = runs[(runs["predictor"] == "average") & (runs["epoch"] == published.n_epochs)]
    errors = average.groupby("degree")["held"].mean()
    assert average["order"].nunique() == published.n_orders and errors.idxmin() == published.degree


# Rejection.


def test_risks_of_equally_sure_images_are_means_over_their_orders():
    confidence = np.array([3.0, 1.0, 1.0, 2.0, 1.0])
    wrong = np.array([False, True, False, True, False])
    orders = [[0, 3, *ties] for ties in permutations([1, 2, 4])]
    table = tables.risk_coverage(confidence, wrong)
    np.testing.assert_allclose(table["risk"], np.mean(np.cumsum(wrong[orders], axis=1), axis=0) / np.arange(1, 6))
    np.testing.assert_allclose(table["coverage"], np.arange(1, 6) / 5)


def test_the_augrc_is_what_the_area_under_the_roc_curve_of_the_errors_says(random):
    """AUGRC = (1 - AUROC) a (1 - a) + (1 - a)^2 / 2 with the accuracy a (Traub et al. 2024); ties count half in both."""
    confidence = random.integers(3, size=300)
    wrong = random.random(300) < 0.2
    a = 1 - wrong.mean()
    auroc = roc_auc_score(~wrong, confidence)
    assert tables.augrc(confidence, wrong) == pytest.approx((1 - auroc) * a * (1 - a) + (1 - a) ** 2 / 2, rel=1e-12)
    weights = random.integers(4, size=(2, 300))
    repeated = [tables.augrc(np.repeat(confidence, w), np.repeat(wrong, w)) for w in weights]
    np.testing.assert_allclose(tables.augrc(confidence, wrong, weights), repeated)


def test_areas_lie_between_those_of_the_best_and_of_a_random_measure(random):
    f, y = noisy(random)
    classes = f.argmax(axis=1)
    wrong = f.argmax(axis=1) != y
    of = {"margin": (classes, tables.margin(f)), "best": (classes, 1.0 - wrong), "none": (classes, np.zeros(len(y)))}
    best, middle, none = (tables.areas(of, y).set_index("measure").loc[name] for name in ("best", "margin", "none"))
    assert (best["augrc"], none["augrc"], none["aurc"]) == pytest.approx((best["best"], none["random"], wrong.mean()))
    assert best["augrc"] < middle["augrc"] < none["augrc"] and best["high"] < 0 < none["low"]


def test_a_threshold_is_the_lowest_that_keeps_its_promise(random):
    confidence = random.integers(20, size=200)
    wrong = random.random(200) < 0.1
    for target in (0.02, 0.05, 1.0):
        fine = [c for c in np.unique(confidence) if np.mean(wrong[confidence >= c]) <= target]
        assert tables.threshold_for(confidence, wrong, target) == min(fine, default=np.inf)
    assert tables.threshold_for(confidence, np.ones(200, dtype=bool), 0.5) == np.inf


def test_thresholds_come_from_held_out_images_and_errors_from_the_test_images():
    y = np.zeros(4, dtype=int)
    held = (np.array([0, 0, 1, 0]), np.array([4.0, 3.0, 2.0, 1.0]))
    test = (np.array([1, 0, 0, 1]), np.array([5.0, 3.0, 2.9, 1.0]))
    table = tables.at_targets(
        {"m": held, "never": (1 - y, held[1])}, y, {"m": test, "never": test}, y, [0.0, 0.25], rule=tables.threshold_for
    )
    found = table[["threshold", "refused", "accepted", "errors"]].to_numpy().tolist()
    assert found[:3] == [[3.0, 0.5, 2, 1], [np.inf, 1.0, 0, 0], [1.0, 0.0, 4, 2]]
    assert table["error"][0] == 0.5 and np.isnan(table["error"][1])


def test_a_guaranteed_threshold_keeps_its_target_in_19_of_20_sets_of_held_out_images(random):
    """An image with confidence u is wrong with probability 0.2 (1 - u), so that the risk above c is 0.1 (1 - c)."""
    rules = (tables.guaranteed_threshold, tables.threshold_for)
    broken = np.zeros((60, 2))
    for each in broken:
        confidence = random.random(400)
        wrong = random.random(400) < 0.2 * (1 - confidence)
        thresholds = np.array([rule(confidence, wrong, 0.05) for rule in rules])
        each[:] = np.isfinite(thresholds) & (0.1 * (1 - thresholds) > 0.05)
    guaranteed, plain = broken.mean(axis=0)
    assert guaranteed <= 0.1 < 0.3 < plain
    assert tables.guaranteed_threshold(np.ones(400), np.zeros(400, dtype=bool), 0.05) == 1
    assert tables.guaranteed_threshold(np.ones(40), np.zeros(40, dtype=bool), 0.05) == np.inf


# Conformal prediction.


@pytest.fixture(params=["vote share of the class", "score of the class"])
def fit(request, data, parts):
    """(held (m, C), y_held (m,), conformity (n, C), y (n,)) of digits by one measure; shares of votes are often equal."""
    held, test = (tables.conformities(parts[name])[request.param] for name in ("held out", "test"))
    return held, data.class_indices[-150:], test[:120], data.class_indices_test[:120]


def conformal_classifier(held, y_held):
    """The class-conditional classifier of crepes, which takes conformities (n, C) for points."""

    def nonconformity(conformity, classes=None, y=None):
        return -(conformity if y is None else conformity[np.arange(len(y)), y])

    learner = SimpleNamespace(predict_proba=lambda conformity: conformity, classes_=np.arange(held.shape[1]))
    return WrapClassifier(learner).calibrate(held, y_held, class_cond=True, nc=nonconformity)


def test_label_sets_are_those_of_crepes_less_the_classes_whose_p_is_the_level(fit):
    """The set of crepes holds the classes with p >= level, ours those with p > level (Vovk et al. 2005): at a level of
    0.125, which is the p of some, ours is that of crepes at a slightly higher one."""
    held, y_held, conformity, y = fit
    p = tables.p_values(held, y_held, conformity)
    crepes = conformal_classifier(held, y_held)
    np.testing.assert_array_equal(p, crepes.predict_p(conformity, smoothing=False))
    assert (p == 0.125).any()
    measured = crepes.evaluate(conformity, y, confidence=1 - (0.125 + 1e-9), smoothing=False)
    (row,) = tables.label_sets({"m": p}, y, y_held, [0.125]).itertuples()
    assert (1 - row.covered, row.single, row.empty) == pytest.approx([measured[k] for k in ("error", "one_c", "empty")])


def test_label_sets_are_counted_by_their_size():
    p = np.array([[0.5, 0.01], [0.2, 0.3], [0.02, 0.01], [0.01, 0.4]])
    y = np.array([0, 1, 1, 0])
    y_held = np.repeat([0, 1], 40)
    (row,) = tables.label_sets({"m": p}, y, y_held, [0.05]).itertuples()
    assert (row.covered, row.empty, row.single, row.several, row.single_error) == (0.5, 0.25, 0.5, 0.25, 0.5)
    by_class = tables.class_coverage(p, y, y_held, 0.05)
    assert by_class["missed"].tolist() == [1, 1] and (row.worst, row.worst_covered) == (0, 0.5)
    assert row.p == by_class["p_holm"][0] == pytest.approx(2 * by_class["p"][0])


def test_a_class_that_is_missed_too_often_is_seen():
    y_held = np.repeat([0, 1], 200)
    y = np.repeat([0, 1], 100)
    p = np.full((200, 2), 0.5)
    p[100:120, 1] = 0.01
    table = tables.class_coverage(p, y, y_held, 0.05)
    assert table["p_holm"][0] == 1 and table["p_holm"][1] < 0.001 and table["covered"].tolist() == [1, 0.8]
    assert table["p"][1] == pytest.approx(stats.betabinom.sf(19, 100, 10, 191))


# Invalid input.


def test_refusals_are_counted_below_the_threshold_of_the_held_out_digits(data, parts):
    typical = tables.typicality(parts, data.class_indices[-150:])
    for row in tables.refusals(typical, share=0.1).itertuples():
        values = typical[row.measure][row.part]
        higher = typical[row.measure]["held out"]
        assert row.refused == np.mean(values < row.threshold)
        assert np.mean(higher < row.threshold) <= 0.1 < np.mean(higher <= row.threshold)


# Figures.


def test_figures_draw_what_their_tables_hold(data, parts):
    f = parts["test"].scores
    wrong = f.argmax(axis=1) != data.class_indices_test
    curve = tables.risk_coverage(tables.margin(f), wrong)
    _, y = figures.figure_risk_coverage({"margin": curve}).axes[0].lines[0].get_data()
    assert y[-1] == pytest.approx(100 * curve["risk"].iloc[-1])
    refusals = tables.refusals(tables.typicality(parts, data.class_indices[-150:]))
    drawn = figures.figure_refusals(refusals).axes[0].lines[0]
    expected = refusals.query("measure == 'margin'").set_index("part")["refused"]
    assert dict(zip(drawn.get_ydata(), drawn.get_xdata(), strict=True)) == pytest.approx(
        (100 * expected.drop(["held out", "blank"])).to_dict()
    )


# Facts.


def test_facts_are_those_of_a_count_image_by_image(monkeypatch, parts, result):
    monkeypatch.setattr(facts, "ensemble", lambda settings: {**result, "arrays": [result["arrays"]]})
    found = facts.Facts(SMALL)
    votes = parts["test"].votes["average"]
    images = [(row.argmax(), row.max(), true) for row, true in zip(votes, found.y, strict=True)]
    same = [named == true for named, count, true in images if count == SMALL.n_orders]
    others = [named == true for named, count, true in images if count < SMALL.n_orders]
    assert (found.agreed.images, found.agreed.errors) == (len(same), same.count(False))
    assert (found.agreed.share, found.agreed.elsewhere) == (len(same) / len(images), others.count(False) / len(others))
    wrong = same.count(False) + others.count(False)
    assert (found.agreed.refused, found.agreed.together) == (1 - len(same) / len(images), wrong)
    assert found.unanimous["letters"] == np.mean([max(row) == sum(row) for row in parts["letters"].votes["average"]])
    row = found.refusing(0.005)
    accepted = tables.margin(parts["test"].scores) >= tables.threshold_for(
        tables.margin(parts["held out"].scores), parts["held out"].classes != found.y_held, 0.005
    )
    assert row["refused"] == pytest.approx(1 - accepted.mean())
    assert row["errors"] == (parts["test"].classes != found.y)[accepted].sum()


def test_risks_are_the_errors_among_the_surest(random, monkeypatch):
    f, y = noisy(random)
    sure = tables.margin(f)
    wrong = f.argmax(axis=1) != y
    own = facts.Facts(SMALL)
    own.__dict__["curves"] = {"margin": tables.risk_coverage(sure, wrong)}
    monkeypatch.setattr(facts.Facts, "y", y)
    order = np.argsort(-sure)
    expected = [wrong[order[: 400 - refused]].mean() for refused in (0, 20, 40, 60, 80)]
    assert own.risks["margin"].tolist() == pytest.approx(expected)


def test_votes_are_better_between_the_next_shares_refused_at_which_they_do_not_leave_fewer_errors():
    own = facts.Facts(SMALL)
    shares = pd.DataFrame({"coverage": [0.25, 0.5, 0.75, 0.9, 1.0]})
    own.__dict__["agreed"] = SimpleNamespace(refused=0.3)
    own.__dict__["curves"] = {
        "margin": shares.assign(risk=[0, 0.2, 0.3, 0.4, 0.4]),
        "vote share": shares.assign(risk=[0.1, 0.1, 0.2, 0.4, 0.3]),
    }
    assert own.votes_better.low == pytest.approx(0.1) and own.votes_better.high == 0.75
