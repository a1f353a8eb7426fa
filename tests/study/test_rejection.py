"""The chapter on rejection: votes and scores against single estimators, odd inputs, and tables against literal ones."""

from dataclasses import replace
from itertools import permutations
from types import SimpleNamespace

import matplotlib
import numpy as np
import pandas as pd
import pytest
from crepes import WrapClassifier
from scipy import stats
from scipy.special import softmax
from sklearn.calibration import CalibratedClassifierCV, calibration_curve
from sklearn.datasets import load_digits
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import brier_score_loss, log_loss, roc_auc_score
from sklearn.naive_bayes import GaussianNB

from kp import OneVsAllKernelPerceptron
from study import datasets, statistics
from study.orders import experiment as orders
from study.rejection import experiment, figures, inputs, tables
from study.rejection.experiment import KINDS, PARTS, PREDICTORS, Settings
from study.words import p_cell

matplotlib.use("agg")

needs_mnist = pytest.mark.skipif(
    any(datasets.find(file) is None for file in datasets.DATASETS["mnist"].files), reason="the files of MNIST are not here"
)

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


def noisy(random, n=400, n_classes=4, *, whole=False):
    """Scores (n, C) that favour the true class, and the classes (n,)."""
    y = np.arange(n) % n_classes
    f = random.normal(size=(n, n_classes)) + 1.5 * np.eye(n_classes)[y]
    return (np.round(2 * f) if whole else f), y


# Settings and the ensemble.


def test_the_published_ensemble_holds_out_the_last_ten_thousand_images():
    (s,) = experiment.PUBLISHED
    assert (s.dataset, s.degree, s.n_epochs, s.n_orders) == ("mnist", 3, 10, 20)
    assert (s.n_train, s.n_held_out, s.n_odd, s.random_state) == (50_000, 10_000, 1000, 0)
    assert [model.random_state for model in s.estimators()[:3]] == [3, 103, 203]
    small = Settings(dataset="digits")
    assert (small.n_train, small.n_held_out, small.n_odd) == (900, 300, 30)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"dataset": "iris"}, "dataset must be one of mnist, digits, got 'iris'"),
        ({"degree": 0}, "degree must be an integer in 1..40, got 0"),
        ({"n_orders": 256}, "n_orders must be an integer in 2..255, got 256"),
        ({"n_orders": True}, "n_orders must be an integer in 2..255, got True"),
        ({"n_held_out": "all"}, "n_held_out must be an integer in 100..1190, got 'all'"),
        ({"n_train": 901}, "n_train must be at most 900, got 901; or hold out fewer"),
        ({"n_odd": 598}, "n_odd must be an integer in 1..597, got 598"),
        ({"random_state": -1}, "random_state must be an integer in 0..4294967295, got -1"),
    ],
)
def test_parameters_out_of_range_are_refused_with_the_range(parameters, message):
    with pytest.raises(ValueError, match=message):
        Settings(**{"dataset": "digits"} | parameters)


def test_training_images_that_lack_a_digit_are_refused(data, monkeypatch):
    monkeypatch.setattr(datasets, "load", lambda name: replace(data, y=np.minimum(data.y, 8)))
    with pytest.raises(ValueError, match="the first 200 images must show all 10 classes; raise n_train"):
        experiment.ensemble.compute(SMALL)


def test_votes_scores_and_errors_are_those_of_estimators_fitted_one_by_one(data, result):
    images, part, labels = experiment.points(SMALL, data)
    assert [int((part == p).sum()) for p in range(len(PARTS))] == [150, 597, 12, 12, 12, 1, 12, 12, 12]
    np.testing.assert_array_equal(images[part == 0], data.X[1050:])
    np.testing.assert_array_equal(labels[part == 0], data.class_indices[1050:])
    votes, scores, scales = np.zeros((2, len(images), 10), dtype=int), 0, []
    rows = result["orders"].set_index(["order", "predictor"])
    for r in range(3):
        model = OneVsAllKernelPerceptron(degree=2, max_iter=2, random_state=2 + 100 * r, stop_if_separated=False)
        model.fit(data.X[:200], data.y[:200])
        for p, name in enumerate(PREDICTORS):
            f = model.decision_function(images, predictor=name)
            for i, c in enumerate(f.argmax(axis=1)):
                votes[p, i, c] += 1
            wrong = f.argmax(axis=1) != labels
            row = rows.loc[(r, name)]
            assert (row["held_out"], row["test"]) == (wrong[:150].sum(), wrong[150:747].sum())
            assert row["mistakes"] == sum(map(len, model.mistakes_)) and row["random_state"] == 2 + 100 * r
        scales.append(np.sqrt(np.mean(f[:150] ** 2)))
        scores = scores + f / scales[-1] / 3
        if r == 0:
            np.testing.assert_allclose(result["arrays"]["single"], f / scales[0], rtol=1e-6)
    np.testing.assert_array_equal(result["arrays"]["votes"], votes)
    np.testing.assert_allclose(result["arrays"]["scores"], scores, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(result["arrays"]["scales"], scales)


def test_golden_counts_on_the_digits(data, result, parts):
    orders = result["orders"].pivot(index="order", columns="predictor", values="test")
    assert {name: orders[name].tolist() for name in PREDICTORS} == {name: GOLDEN[name] for name in PREDICTORS}
    errors = {
        name: int((answer != data.class_indices_test).sum()) for name, answer in tables.ensembles(parts["test"]).items()
    }
    assert list(errors.values()) == GOLDEN["ensembles"]
    unanimous = [int((parts[kind].votes["average"].max(axis=1) == 3).sum()) for kind in KINDS]
    assert unanimous == GOLDEN["unanimous"]


GOLDEN = {
    "final": [134, 185, 115],
    "average": [113, 100, 114],
    "ensembles": [119, 97, 94],
    "unanimous": [7, 4, 3, 1, 7, 4, 8],
}


# Odd inputs.


@pytest.fixture(scope="module")
def odd(data):
    return inputs.odd_inputs(data.X_test, data.class_indices_test, 20, top=16, random_state=3)


def test_odd_inputs_are_those_of_the_seed_in_the_type_and_range_of_the_images(data, odd):
    again = inputs.odd_inputs(data.X_test, data.class_indices_test, 20, top=16, random_state=3)
    other = inputs.odd_inputs(data.X_test, data.class_indices_test, 20, top=16, random_state=4)
    assert tuple(odd) == KINDS
    for kind, X in odd.items():
        np.testing.assert_array_equal(X, again[kind])
        assert X.shape == (1 if kind == "blank" else 20, 64) and X.dtype == data.X.dtype
        assert X.min() >= 0 and X.max() <= 16 and np.array_equal(X, np.round(X))
        assert kind == "blank" or not np.array_equal(X, other[kind])
    with pytest.raises(ValueError, match="count must be at most the number of images, 597, got 598"):
        inputs.odd_inputs(data.X_test, data.class_indices_test, 598, top=16, random_state=3)


def test_permuted_inverted_and_blank_images_are_what_they_are_called(data, odd):
    images = {tuple(image) for image in data.X_test.tolist()}
    ink = {tuple(sorted(image)) for image in data.X_test.tolist()}
    assert all(tuple(sorted(image)) in ink and tuple(image) not in images for image in odd["permuted"].tolist())
    assert all(tuple(16 - value for value in image) in images for image in odd["inverted"].tolist())
    assert not odd["blank"].any()
    assert set(np.unique(odd["noise"])) == set(range(17))


def test_halves_are_of_two_images_of_different_classes(data, odd):
    X, y = data.X_test.reshape(-1, 8, 8), data.class_indices_test
    for image in odd["halves"].reshape(-1, 8, 8):
        left, right = ({*y[(X[:, :, cut] == image[:, cut]).all(axis=(1, 2))]} for cut in (slice(4), slice(4, 8)))
        assert left and right and (left != right or len(left) > 1)


@pytest.mark.parametrize("side", [8, 28])
@pytest.mark.parametrize("letter", ["l", "O", "m"])
def test_letters_fill_their_box_and_stand_with_their_mass_in_the_middle(letter, side):
    box, image = inputs.BOXES[side], inputs.glyph(letter, "DejaVuSans.ttf", 0, side=side, top=255)
    assert image.shape == (side, side) and image.max() > 100 and np.array_equal(image, np.round(image))
    spans = [np.ptp(np.flatnonzero(image.any(axis=axis))) + 1 for axis in (0, 1)]
    assert max(spans) in (box, box + 1)
    if side == 28:
        middles = [image.sum(axis=1 - axis) @ np.arange(side) / image.sum() for axis in (0, 1)]
        assert np.abs(np.array(middles) - 13.5).max() <= 0.5


def test_each_letter_is_in_one_alphabet_and_every_font_is_there():
    assert sorted(inputs.LIKE_DIGITS + inputs.LETTERS) == sorted("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
    assert len({inputs.glyph("a", font, 5, side=28, top=255).tobytes() for font in inputs.FONTS}) == 12


# Errors and votes.


def test_votes_are_counted_by_the_number_for_the_answer():
    votes = np.array([[4, 0], [4, 0], [3, 1], [2, 2], [0, 4]])
    table = tables.by_votes(votes, np.array([0, 1, 1, 0, 1]))
    found = table[["votes", "images", "errors"]].to_numpy().tolist()
    assert found == [["4 of 4", 3, 1], ["3 of 4", 1, 1], ["2 of 4", 1, 0], ["fewer than 2", 0, 0]]
    assert table["low"][0] == statistics.wilson(1, 3)[0]


def test_the_errors_of_the_ensemble_and_of_its_members_are_counted(data, result, parts):
    y, test = data.class_indices_test, parts["test"]
    table = tables.error_table(test, y, result["orders"]).set_index("answer")
    for name in PREDICTORS:
        own = result["orders"].query("predictor == @name")["test"]
        row = table.loc[f"one perceptron, {name}"]
        assert (row["errors"], row["fewest"], row["most"]) == (own.mean(), own.min(), own.max())
        assert table.loc[f"vote, {name}", "errors"] == np.sum(
            [v.argmax() != c for v, c in zip(test.votes[name], y, strict=True)]
        )
    tests = tables.comparisons(test, y)
    mean, alone = table.loc["mean score, average", "error"], table.loc["one perceptron, average", "error"]
    assert tests["mean score − one perceptron"].estimate == pytest.approx(mean - alone)
    assert {each.adjusted for each in tests.values()} == {"Holm over 4"}


# Calibration.


def test_the_temperature_and_the_curves_are_those_of_scikit_learn(random):
    X, y = load_digits(return_X_y=True)
    model = GaussianNB(var_smoothing=0.1).fit(X[:500], y[:500])
    f = {name: np.log(model.predict_proba(part) + 1e-12) for name, part in (("held", X[500:900]), ("test", X[900:]))}
    library = CalibratedClassifierCV(FrozenEstimator(tables._Given(np.arange(10))), method="temperature")
    T = tables.temperature(f["held"], y[500:900])
    np.testing.assert_allclose(
        softmax(f["test"] / T, axis=1), library.fit(f["held"], y[500:900]).predict_proba(f["test"]), atol=2e-4
    )
    losses = [log_loss(y[500:900], softmax(f["held"] / t, axis=1)) for t in (0.98 * T, T, 1.02 * T)]
    assert losses[1] == min(losses)


def test_each_score_of_probabilities_is_that_of_scikit_learn(random):
    f, y = noisy(random)
    P, classes = softmax(f, axis=1), f.argmax(axis=1)
    right, top = classes == y, P.max(axis=1)
    of = {"one": (classes, top), "hard": (classes, np.ones(len(y)))}
    table = tables.calibration(of, {"one": P}, y)
    assert table["errors"].tolist() == [(classes != y).sum()] * 2
    assert table["log_loss_classes"][0] == pytest.approx(log_loss(y, P)) and np.isnan(table["log_loss_classes"][1])
    assert table["brier_classes"][0] == pytest.approx(brier_score_loss(y, P, labels=range(4), scale_by_half=False))
    assert table["log_loss"].tolist() == [pytest.approx(log_loss(right, top)), np.inf]
    assert table["brier"].tolist() == pytest.approx([brier_score_loss(right, top), (~right).mean()])
    accuracy, confidence = calibration_curve(right, top, n_bins=tables.BINS)
    reliability = tables.reliability(top, right)
    np.testing.assert_allclose(reliability["accuracy"], accuracy)
    np.testing.assert_allclose(reliability["confidence"], confidence)
    by_hand = sum(abs(row.accuracy - row.confidence) * row.images / len(y) for row in reliability.itertuples())
    assert reliability["images"].sum() == len(y) and table["calibration_error"][0] == pytest.approx(by_hand)


def test_curves_for_each_class_are_fitted_to_the_held_out_images_alone(data, parts):
    held, test = parts["held out"], parts["test"]
    y_held = data.class_indices[-150:]
    for name, P in tables.probabilities(held, y_held, test).items():
        np.testing.assert_allclose(P.sum(axis=1), 1, err_msg=name)
    whole, few = (tables.by_library(held.scores, y_held, f, "sigmoid") for f in (test.scores, test.scores[:5]))
    np.testing.assert_allclose(whole[:5], few)


def test_the_calibrated_margin_is_the_sigmoid_of_scikit_learn_on_logarithms(random):
    (f_held, y_held), (f, _) = noisy(random), noisy(random, 100)
    held, test = (tables.Answers({}, scores, scores) for scores in (f_held, f))
    right, x = f_held.argmax(axis=1) == y_held, np.log(tables.margin(f_held))
    library = CalibratedClassifierCV(FrozenEstimator(tables._Given(np.array([False, True]))), method="sigmoid")
    # A classifier of two classes has one score: its class is right where the score is positive.
    library.estimator.estimator.predict = lambda score: score > 0
    expected = library.fit(x, right).predict_proba(np.log(tables.margin(f)))[:, 1]
    np.testing.assert_allclose(tables.calibrated_margin(held, y_held, test), expected, atol=1e-5)


def test_a_logistic_curve_is_finite_where_all_answers_are_right_and_margins_may_be_zero(random):
    f, y = noisy(random)
    sure = f + 100 * np.eye(4)[y]
    held, test = tables.Answers({}, sure, sure), tables.Answers({}, np.zeros((3, 4)), None)
    chances = tables.calibrated_margin(held, y, test)
    assert np.isfinite(chances).all() and (chances > 0.9).all() and (chances < 1).all()


def test_a_constant_is_calibrated_where_the_accuracy_is_that_of_the_held_out_images(random):
    (f_held, y_held), (f, y) = noisy(random), noisy(random, 100)
    held, test = (tables.Answers({"average": np.round(2 + scores.clip(-2))}, scores, scores) for scores in (f_held, f))
    P = tables.probabilities(held, y_held, test)
    accuracy = (f_held.argmax(axis=1) == y_held).mean()
    np.testing.assert_allclose(np.sort(P["constant"], axis=1), [[(1 - accuracy) / 3] * 3 + [accuracy]] * 100)
    of = tables.confidences(held, y_held, test, P)
    assert list(of)[:4] == ["constant", "vote share", "temperature", "calibrated margin"] and len(of) == 6
    classes, confidence = of["constant"]
    np.testing.assert_array_equal(classes, f.argmax(axis=1))
    found = tables.calibration_error(confidence, classes == y)
    assert found == pytest.approx(abs((classes == y).mean() - accuracy))
    tests = tables.calibration_tests(of, y)
    assert {t.adjusted for t in tests.values()} == {"Holm over 3"}
    squares = [np.mean(((of[name][0] == y) - of[name][1]) ** 2) for name in ("calibrated margin", "constant")]
    assert tests["calibrated margin − constant"].estimate == pytest.approx(squares[0] - squares[1])


def test_calibration_errors_of_resampled_images_are_those_of_repeated_ones(random):
    confidence, right = random.random(200), random.random(200) < 0.5
    weights = random.multinomial(200, np.full(200, 1 / 200), size=3)
    repeated = [tables.calibration_error(np.repeat(confidence, w), np.repeat(right, w)) for w in weights]
    np.testing.assert_allclose(tables.calibration_error(confidence, right, weights), repeated)


def test_intervals_of_the_calibration_error_hold_the_true_one(random):
    """Of answers that are right 8 points less often than said; where all is true, the error is rarely above `calibrated`."""
    inside, said = [], []
    for _ in range(25):
        confidence = random.uniform(0.5, 1, size=500)
        right = random.random(500) < confidence - 0.08
        (row,) = tables.calibration({"one": (np.where(right, 0, 1), confidence)}, {}, np.zeros(500)).itertuples()
        inside.append(row.low <= 0.08 <= row.high)
        true = random.random(500) < confidence
        (row,) = tables.calibration({"one": (np.where(true, 0, 1), confidence)}, {}, np.zeros(500)).itertuples()
        said.append(row.calibration_error <= row.calibrated)
    assert np.mean(inside) >= 0.8 and np.mean(said) >= 0.8


@needs_mnist
def test_published_probabilities_are_judged_beside_a_constant():
    """The temperature is worse than the constant, the calibrated margin better, and its error one that true chances show."""
    (published,) = experiment.PUBLISHED
    data = datasets.load("mnist")
    parts, y = tables.by_part(experiment.ensemble(published)["arrays"][0]), data.class_indices_test
    held, y_held = parts["held out"], data.class_indices[-published.n_held_out :]
    P = tables.probabilities(held, y_held, parts["test"])
    of = tables.confidences(held, y_held, parts["test"], P)
    rows = tables.calibration(of, P, y).set_index("method")
    found = rows.loc[["constant", "vote share", "temperature"], ["calibration_error", "brier_classes"]].to_numpy().round(4)
    assert found.tolist() == [[0.0014, 0.0311], [0.0109, 0.0266], [0.0200, 0.0340]]
    margin = rows.loc["calibrated margin"]
    assert margin["calibration_error"] <= margin["calibrated"] < rows.loc["temperature", "low"]
    heated, by_margin, against_votes = tables.calibration_tests(of, y).values()
    assert heated.word() == "is higher than" and by_margin.word() == "is lower than" and against_votes.p > 0.05


def test_held_out_images_choose_the_degree_of_the_published_ensemble():
    (published,) = experiment.PUBLISHED
    runs = orders.held_out(orders.settings(n_held=published.n_held_out, n_linear=0))
    average = runs[(runs["predictor"] == "average") & (runs["epoch"] == published.n_epochs)]
    errors = average.groupby("degree")["held"].mean()
    assert average["order"].nunique() == published.n_orders and errors.idxmin() == published.degree


# Rejection.


def test_margins_are_the_best_score_less_the_second(random):
    f, _ = noisy(random, whole=True)
    assert tables.margin(f).tolist() == [sorted(row)[-1] - sorted(row)[-2] for row in f.tolist()]
    for row, lead in zip(f.tolist(), tables.lead(f).tolist(), strict=True):
        assert lead == [row[c] - max(row[:c] + row[c + 1 :]) for c in range(4)]


def test_risks_of_equally_sure_images_are_means_over_their_orders():
    confidence, wrong = np.array([3.0, 1.0, 1.0, 2.0, 1.0]), np.array([False, True, False, True, False])
    risks = []
    for ties in permutations([1, 2, 4]):
        order = [0, 3, *ties]
        risks.append([np.mean(wrong[order[:k]]) for k in range(1, 6)])
    table = tables.risk_coverage(confidence, wrong)
    np.testing.assert_allclose(table["risk"], np.mean(risks, axis=0))
    np.testing.assert_allclose(table["generalized_risk"], table["risk"] * table["coverage"])


@pytest.mark.parametrize("levels", [3, 1000])
def test_the_augrc_is_what_the_area_under_the_roc_curve_of_the_errors_says(random, levels):
    """AUGRC = (1 - AUROC) a (1 - a) + (1 - a)^2 / 2 with the accuracy a (Traub et al. 2024); ties count half in both."""
    confidence, wrong = random.integers(levels, size=300) / levels, random.random(300) < 0.2
    a, auroc = 1 - wrong.mean(), roc_auc_score(~wrong, confidence)
    expected = (1 - auroc) * a * (1 - a) + (1 - a) ** 2 / 2
    assert tables.augrc(confidence, wrong) == pytest.approx(expected, rel=1e-12)
    weights = random.integers(4, size=(2, 300))
    repeated = [tables.augrc(np.repeat(confidence, w), np.repeat(wrong, w)) for w in weights]
    np.testing.assert_allclose(tables.augrc(confidence, wrong, weights), repeated)


def test_areas_lie_between_those_of_the_best_and_of_a_random_measure(random):
    f, y = noisy(random)
    classes, wrong = f.argmax(axis=1), f.argmax(axis=1) != y
    of = {"margin": (classes, tables.margin(f)), "best": (classes, 1.0 - wrong), "none": (classes, np.zeros(len(y)))}
    table = tables.areas(of, y).set_index("measure")
    assert table.loc["best", "augrc"] == pytest.approx(table.loc["best", "best"])
    assert table.loc["none", "augrc"] == pytest.approx(table.loc["none", "random"])
    assert table.loc["best", "augrc"] < table.loc["margin", "augrc"] < table.loc["none", "augrc"]
    assert table.loc["none", "aurc"] == pytest.approx(wrong.mean())
    assert table.loc["best", "high"] < 0 < table.loc["none", "low"] and (table["p"].dropna() < 0.05).all()


def test_a_threshold_is_the_lowest_that_keeps_its_promise(random):
    confidence, wrong = random.integers(20, size=200), random.random(200) < 0.1
    for target in (0.0, 0.02, 0.05, 1.0):
        fine = [c for c in np.unique(confidence) if np.mean(wrong[confidence >= c]) <= target]
        assert tables.threshold_for(confidence, wrong, target) == (min(fine) if fine else np.inf)
    assert tables.threshold_for(confidence, np.ones(200, dtype=bool), 0.5) == np.inf


def test_thresholds_come_from_held_out_images_and_errors_from_the_test_images():
    y, held = np.zeros(4, dtype=int), (np.array([0, 0, 1, 0]), np.array([4.0, 3.0, 2.0, 1.0]))
    test = (np.array([1, 0, 0, 1]), np.array([5.0, 3.0, 2.9, 1.0]))
    table = tables.at_targets({"m": held, "never": (1 - y, held[1])}, y, {"m": test, "never": test}, y, [0.0, 0.25])
    first, never, last, _ = table.itertuples()
    assert (first.threshold, first.refused_held, first.refused, first.errors, first.error) == (3.0, 0.5, 0.5, 1, 0.5)
    assert (last.threshold, last.refused, last.errors) == (1.0, 0.0, 2)
    assert (never.threshold, never.refused, never.accepted) == (np.inf, 1.0, 0) and np.isnan(never.error)


def test_both_rules_choose_their_thresholds_from_held_out_images(random):
    (f_held, y_held), (f, y) = noisy(random, 2000), noisy(random)
    held, test = ((scores.argmax(axis=1), tables.margin(scores)) for scores in (f_held, f))
    table = tables.margin_targets(held, y_held, test, y, (0.05, 0.2))
    assert table[["target", "rule"]].to_numpy().tolist() == [
        [0.2, "held-out error"], [0.2, "guaranteed"], [0.05, "held-out error"], [0.05, "guaranteed"],
    ]  # fmt: skip
    for row in table.itertuples():
        rule = {"guaranteed": tables.guaranteed_threshold}.get(row.rule, tables.threshold_for)
        accepted = test[1] >= rule(held[1], held[0] != y_held, row.target)
        assert (row.accepted, row.errors) == (accepted.sum(), (test[0] != y)[accepted].sum())


def test_a_guaranteed_threshold_keeps_its_target_in_19_of_20_sets_of_held_out_images(random):
    """An image with confidence u is wrong with probability 0.2 (1 - u), so that the risk above c is 0.1 (1 - c)."""
    target, broken, plain = 0.05, [], []
    for _ in range(300):
        confidence = random.random(400)
        wrong = random.random(400) < 0.2 * (1 - confidence)
        for rule, risks in ((tables.guaranteed_threshold, broken), (tables.threshold_for, plain)):
            c = rule(confidence, wrong, target)
            risks.append(np.isfinite(c) and 0.1 * (1 - c) > target)
    assert np.mean(broken) <= 0.05 < 0.3 < np.mean(plain)
    assert tables.guaranteed_threshold(np.ones(400), np.zeros(400, dtype=bool), target) == 1
    assert tables.guaranteed_threshold(np.ones(40), np.zeros(40, dtype=bool), target) == np.inf


# Conformal prediction.


def test_p_values_are_those_of_the_literal_count_by_class(random):
    (held, y_held), (f, _) = noisy(random, 60, whole=True), noisy(random, 25, whole=True)
    p = tables.p_values(held, y_held, f)
    for i in range(25):
        for c in range(4):
            own = [held[j, c] for j in range(60) if y_held[j] == c]
            assert p[i, c] == (1 + sum(a <= f[i, c] for a in own)) / (1 + len(own))


@pytest.fixture(params=["margin of the class", "vote share of the class", "score of the class"])
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


def test_p_values_are_those_of_crepes(fit):
    held, y_held, conformity, _ = fit
    p = conformal_classifier(held, y_held).predict_p(conformity, smoothing=False)
    np.testing.assert_array_equal(tables.p_values(held, y_held, conformity), p)


@pytest.mark.parametrize("level", [0.05, 0.125, 0.25])
def test_label_sets_are_those_of_crepes_less_the_classes_whose_p_is_the_level(fit, level):
    """The set of crepes holds the classes with p >= level, ours those with p > level (Vovk et al. 2005)."""
    held, y_held, conformity, y = fit
    p, crepes = tables.p_values(held, y_held, conformity), conformal_classifier(held, y_held)
    theirs = crepes.predict_set(conformity, labels=False, confidence=1 - level, smoothing=False).astype(bool)
    np.testing.assert_array_equal(theirs & (p != level), p > level)
    np.testing.assert_array_equal(theirs & ~(p > level), p == level)
    just_above = 1 - (level + 1e-9)
    measured = crepes.evaluate(conformity, y, confidence=just_above, smoothing=False)
    (row,) = tables.label_sets({"m": p}, y, y_held, [level]).itertuples()
    assert (1 - row.covered, row.single, row.empty) == pytest.approx([measured[k] for k in ("error", "one_c", "empty")])


def test_sets_cover_as_promised_where_images_are_exchangeable(random):
    missed = []
    for _ in range(200):
        (held, y_held), (f, y) = noisy(random, 80), noisy(random, 40)
        p = tables.p_values(tables.lead(held), y_held, tables.lead(f))
        missed.append(np.mean(p[np.arange(40), y] <= 0.1))
    assert 0.08 <= np.mean(missed) <= 0.1 + 3 * np.std(missed) / np.sqrt(200)


def test_label_sets_are_counted_by_their_size():
    p = np.array([[0.5, 0.01], [0.2, 0.3], [0.02, 0.01], [0.01, 0.4]])
    y = np.array([0, 1, 1, 0])
    (row,) = tables.label_sets({"m": p}, y, np.repeat([0, 1], 40), [0.05]).itertuples()
    assert (row.covered, row.empty, row.single, row.several, row.single_error) == (0.5, 0.25, 0.5, 0.25, 0.5)
    by_class = tables.class_coverage(p, y, np.repeat([0, 1], 40), 0.05)
    assert by_class["missed"].tolist() == [1, 1] and (row.worst, row.worst_covered) == (0, 0.5)
    assert row.p == by_class["p_holm"][0] == pytest.approx(2 * by_class["p"][0])


def test_the_promise_of_each_class_is_rejected_no_more_often_than_the_level_says(random):
    """Where images are exchangeable; Wilson's interval, which takes the held-out images as they are, rejects far more."""
    small, wilson = [], []
    for _ in range(200):
        (held, y_held), (f, y) = noisy(random, 160), noisy(random, 400)
        p = tables.p_values(tables.lead(held), y_held, tables.lead(f))
        table = tables.class_coverage(p, y, y_held, 0.1)
        small += (table["p"] < 0.05).tolist()
        wilson += [statistics.wilson(n - missed, n)[1] < 0.9 for n, missed in zip(table["n"], table["missed"], strict=True)]
    assert np.mean(small) < 0.06 < 0.1 < np.mean(wilson)


def test_a_class_that_is_missed_too_often_is_seen():
    y_held, y = np.repeat([0, 1], 200), np.repeat([0, 1], 100)
    p = np.full((200, 2), 0.5)
    p[100:120, 1] = 0.01
    table = tables.class_coverage(p, y, y_held, 0.05)
    assert table["p_holm"][0] == 1 and table["p_holm"][1] < 0.001 and table["covered"].tolist() == [1, 0.8]
    visible = round(100 * (1 - table["visible"][1]))
    chances = [2 * stats.betabinom.sf(count - 1, 100, 10, 191) for count in (visible - 1, visible)]
    assert chances[1] < 0.05 <= chances[0]


# Invalid input.


def test_refusals_are_counted_below_the_threshold_of_the_held_out_digits(data, parts):
    typical = tables.typicality(parts, data.class_indices[-150:])
    table = tables.refusals(typical, share=0.1)
    assert (table.query("part == 'held out'")["refused"] <= 0.1).all()
    for row in table.itertuples():
        values = typical[row.measure][row.part]
        assert row.n == len(values) and row.refused == np.mean([value < row.threshold for value in values])
        higher = typical[row.measure]["held out"]
        assert row.part != "held out" or np.mean(higher <= row.threshold) > 0.1


def test_an_input_is_classified_as_the_class_with_the_most_votes():
    part = tables.Answers({"average": np.array([[0, 3], [0, 3], [2, 1]])}, None, None)
    (row,) = tables.classified_as({"held out": part, "noise": part}, ("zero", "one")).to_dict("records")
    assert row == {"part": "noise", "images": 3, "unanimous": 2 / 3, "class": "one", "share": 2 / 3, "mean_votes": 8 / 3}


# Figures.


def test_figures_draw_what_their_tables_hold(data, parts):
    f = parts["test"].scores
    wrong = f.argmax(axis=1) != data.class_indices_test
    curve = tables.risk_coverage(tables.margin(f), wrong)
    axis = figures.figure_risk_coverage({"margin": curve, "vote share": curve}).axes[0]
    x, y = axis.lines[0].get_data()
    np.testing.assert_allclose(y[-1], 100 * curve["risk"].iloc[-1])
    assert x.max() <= 20 and axis.get_xlabel() and axis.get_ylabel() and len(axis.get_legend().texts) == 2
    panel = tables.reliability(softmax(f, axis=1).max(axis=1), ~wrong)
    figure = figures.figure_reliability({"one": panel, "two": panel.head(2)})
    np.testing.assert_allclose(figure.axes[1].collections[-1].get_offsets()[:, 1], 100 * panel["accuracy"].head(2))
    refusals = tables.refusals(tables.typicality(parts, data.class_indices[-150:]))
    texts = [text.get_text() for text in figures.figure_refusals(refusals).axes[0].texts]
    assert len(texts) == len(refusals) == 6 * len(PARTS)
    rows = {"test": (data.X_test[:3], list("abc")), "blank": (np.zeros((1, 64)), ["d"])}
    assert len(figures.figure_inputs(rows).axes) == 6
    assert sum(axis.get_visible() for axis in figures.figure_gallery(data.X_test[:7], range(7), columns=5).axes) == 7


def test_the_table_of_kinds_is_complete(parts, data):
    table = tables.classified_as(parts, data.target_names)
    assert isinstance(table, pd.DataFrame) and table["part"].tolist() == list(PARTS[1:])


def test_the_first_inputs_of_a_kind_have_their_answers_as_titles(data, parts):
    images, part, _ = experiment.points(SMALL, data)
    found = tables.first_inputs(images, part, parts, data.classes, k=3)
    assert list(found) == list(PARTS[1:]) and [len(titles) for _, titles in found.values()] == [3, 3, 3, 3, 1, 3, 3, 3]
    pictures, titles = found["noise"]
    np.testing.assert_array_equal(pictures, images[part == PARTS.index("noise")][:3])
    votes = parts["noise"].votes["average"][2]
    assert titles[2] == f"{votes.argmax()}: {votes.max()}"


def test_columns_for_readers_have_names_and_rates_are_percent():
    table = pd.DataFrame({"errors": [3.0], "log_loss": [0.1], "refused_held": [0.25], "p": [0.5], "rule": ["a"]})
    found = tables.shown(table, digits=1)
    assert found["frame"].columns.tolist() == ["errors", "log loss", "refused, held out", "p", "rule"]
    assert found["formats"] == {
        "errors": ".4g", "log loss": ".4f", "refused, held out": ".1%", "p": p_cell,
    }  # fmt: skip
