"""The chapter on prepared images and on more of them: integers stay integers, runs are the estimator's, laws are found."""

import numpy as np
import pandas as pd
import pytest

from kp import OneVsAllKernelPerceptron, kernels
from kp.gram import Points
from kp.mistakes import PREDICTORS
from study import datasets, statistics
from study.growth import experiment, tables
from study.growth.experiment import Growth, Prepared
from study.protocols import preparations


@pytest.fixture(scope="module")
def digits():
    return datasets.load("digits")


@pytest.mark.parametrize("name", preparations.PREPARATIONS)
def test_prepared_images_are_integers_with_exact_products(name, digits):
    X, X_test, gamma = preparations.PREPARATIONS[name](digits.X, digits.X_test)
    assert X.shape == digits.X.shape and X_test.shape == digits.X_test.shape and gamma > 0
    assert X.dtype.kind in "iu" and Points(X).exact and Points(X_test).exact


def test_scalings_are_kernels_of_scaled_pixels(digits):
    pixels = digits.X[:50].astype(float)
    top = digits.X.max()
    floats = {
        "pixels in [0, 1]": pixels / top,
        "unit norm": pixels / np.linalg.norm(pixels, axis=1, keepdims=True),
        "centred": (pixels - np.rint(digits.X.mean(axis=0))) / top,
    }
    for name, wanted in floats.items():
        X, _, gamma = preparations.PREPARATIONS[name](digits.X, digits.X_test)
        K = kernels.polynomial(3, gamma=gamma)(X[:50], X[:50])
        np.testing.assert_allclose(K, (1 + wanted @ wanted.T) ** 3, rtol=2e-3)


def test_a_slanting_stroke_becomes_upright():
    image = np.zeros((21, 21))
    for row in range(4, 17):
        left = 5 + (row - 4) // 2
        image[row, left : left + 3] = 100

    def covariance(picture):
        y, x = np.nonzero(picture)
        return np.cov(x, y, fweights=np.rint(picture[y, x]).astype(int))[0, 1]

    found = preparations.deskew(image)
    assert abs(covariance(image)) > 5 and abs(covariance(found)) < 0.2
    assert found.sum() == pytest.approx(image.sum(), rel=0.02)
    assert (preparations.deskew(np.zeros((5, 5))) == 0).all()


def test_a_shift_moves_every_image_by_its_own_way():
    X = np.arange(2 * 9, dtype=np.uint8).reshape(2, 9)
    found = preparations.shifted(X, [1, -1], [0, 2])
    assert found.tolist() == [[0, 0, 0, 0, 1, 2, 3, 4, 5], [0, 0, 12, 0, 0, 15, 0, 0, 0]]
    more, labels = preparations.with_shifts(X, np.array([3, 4]))
    np.testing.assert_array_equal(more[:4], [*X, *preparations.shifted(X, -1, 0)])
    assert labels.tolist() == [3, 4] * 5


def test_a_part_is_the_estimator_on_prepared_images(digits):
    options = {"dataset": "digits", "preparation": "centred", "degrees": (2, 3), "n_epochs": 3}
    _, found = experiment.prepared.compute([Prepared(order=order, **options) for order in (0, 1)])
    X, X_test, gamma = preparations.centred(digits.X, digits.X_test)
    model = OneVsAllKernelPerceptron(degree=3, gamma=gamma, max_iter=3, random_state=103, stop_if_separated=False)
    model.fit(X, digits.y)
    table = found["prepared"].query("degree == 3 and epoch == 3").set_index("predictor")
    for p, name in enumerate(PREDICTORS):
        predicted = model.predict(X_test, predictor=name)
        wrong = predicted != digits.y_test
        assert table.loc[name, ["errors", "first"]].tolist() == [wrong.sum(), wrong[: len(wrong) // 2].sum()]
        np.testing.assert_array_equal(found["arrays"]["predictions"][:, 1, p], predicted)
    assert table["mistakes"].iloc[0] == sum(map(len, model.mistakes_))
    assert table["support"].iloc[0] == len(model.support_)


def test_a_curve_ends_at_all_examples_and_draws_fewer(digits):
    whole, few, other, shifted = (
        experiment.examples(Growth(dataset="digits", n=n, order=order))[0]
        for n, order in ((1200, 3), (75, 3), (75, 4), (6000, 0))
    )
    np.testing.assert_array_equal(whole, digits.X)
    assert len(few) == 75 and not np.array_equal(few, other) and len(shifted) == 6000


def test_more_images_than_there_are_are_refused():
    with pytest.raises(ValueError, match="n must be at most 1200, or 6000 with all shifts, got 1201"):
        experiment.curves.compute(Growth(dataset="digits", n=1201))


def test_effects_are_told_over_orders_and_images():
    rng = np.random.default_rng(0)
    raw = rng.random((5, 2, 900)) < 0.10
    wrong = {"raw": raw, "same": raw.copy(), "worse": raw | (rng.random((5, 2, 900)) < 0.2)}
    table = tables.effects(wrong, (2, 3))
    assert table["verdict"].tolist() == ["–", "–", "higher", "higher"]
    gap = statistics.crossed(wrong["worse"][:, 1].astype(float) - raw[:, 1])
    assert table.loc[3, ["estimate", "low", "high"]].tolist() == pytest.approx([gap.estimate, gap.low, gap.high])


SIZES = (100, 200, 400, 800)


def laws_of(wrong, **quantities):
    """tables.laws by quantity, of wrong {n: (R, 1, n_test)} at degree 2; quantities {name: function of (n, order)}."""
    counts = {"errors": lambda n, r: wrong[n][r, 0].sum(), "mistakes": lambda n, r: 3 * n**0.7,
              "support": lambda n, r: 2 * n**0.8} | quantities  # fmt: skip
    keys = pd.MultiIndex.from_product([SIZES, range(len(wrong[SIZES[0]]))], names=["n", "order"]).to_frame(index=False)
    curves = keys.assign(degree=2, epoch=1, predictor="final", n_test=1000)
    for name, of in counts.items():
        curves[name] = [of(*key) for key in keys.itertuples(index=False)]
    costs = keys.assign(degrees=1, fit=1e-4 * keys["n"] ** 1.5, peak=np.nan)
    return tables.laws(curves, costs, wrong, (2,), predictor="final").set_index("quantity")


def hard_images(orders=3, n=1000):
    """wrong {n: (R, 1, n)} of a law with exponent -0.5, in which orders agree on most of the hard images."""
    rng = np.random.default_rng(1)
    difficulty = rng.random(n)
    return {size: (difficulty + rng.normal(0, 0.01, (orders, 1, n))) < 5 * size**-0.5 for size in SIZES}


def test_the_interval_of_the_errors_exponent_is_over_test_images_too():
    """As wide as that of a bootstrap over orders and images."""
    wrong = hard_images(5)
    rng = np.random.default_rng(0)
    errors = laws_of(wrong).loc["errors"]
    part = np.stack([wrong[n][:, 0] for n in SIZES]).astype(float)
    drawn = []
    for _ in range(200):
        images = rng.multinomial(1000, np.full(1000, 1e-3))
        orders_ = rng.integers(5, size=5)
        drawn.append(np.polyfit(np.log(SIZES), np.log((part[:, orders_] @ images).mean(axis=1)), 1)[0])
    np.testing.assert_allclose((errors["low"], errors["high"]), np.quantile(drawn, [0.025, 0.975]), atol=0.015)


def test_power_laws_are_found_again_and_one_that_bends_is_told_from_one_that_does_not():
    rng = np.random.default_rng(2)
    noise = {(n, r): rng.uniform(0.999, 1.001) for n in SIZES for r in range(3)}
    bent = laws_of(hard_images(), support=lambda n, r: 3 * n**0.7 * 10 ** (0.1 * np.log10(n / 100) ** 2) * noise[n, r])
    straight = laws_of(hard_images(), mistakes=lambda n, r: 3 * n**0.7 * noise[n, r])
    assert bent.loc["support", "change"] == pytest.approx(0.2, abs=0.02) and bent.loc["support", "p"] < 0.05
    assert straight["exponent"].to_dict() == pytest.approx(
        {"errors": -0.5, "mistakes": 0.7, "support": 0.8, "fit": 1.5}, abs=0.05
    )
    assert straight.loc["errors", "low"] < -0.5 < straight.loc["errors", "high"]
    assert straight.loc["fit", ["least", "greatest"]].tolist() == pytest.approx([1.5, 1.5])
    assert straight.loc[["errors", "mistakes"], "p"].min() > 0.05 and np.isnan(straight.loc["fit", "p"])


def test_stored_predictions_are_those_of_the_experiment(monkeypatch):
    monkeypatch.setitem(experiment.SIZES, "digits", (300, 1200))
    grown = tables.grown("digits", n_orders=2)
    runs = experiment.curves(experiment.growth_settings("digits", n_orders=2))["curves"]
    rows = tables.last(runs, predictor="average").query("n == 300 and degree == 6").sort_values("order")
    assert grown[300][:, 1].sum(axis=1).tolist() == rows["errors"].tolist()
