"""The chapter on prepared images and on more of them: integers stay integers, runs are the estimator's, laws are found."""

import numpy as np
import pytest

from kp import OneVsAllKernelPerceptron, kernels
from kp.gram import Points
from study import datasets, statistics
from study.lower import facts, growth, tables
from study.lower.growth import Growth, Prepared
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
    _, found = growth.prepared.compute([Prepared(order=order, **options) for order in (0, 1)])
    X, X_test, gamma = preparations.centred(digits.X, digits.X_test)
    model = OneVsAllKernelPerceptron(degree=3, gamma=gamma, max_iter=3, random_state=103, stop_if_separated=False)
    model.fit(X, digits.y)
    predicted = model.predict(X_test, predictor="average")
    assert found["prepared"].set_index("degree").loc[3, "errors"] == (predicted != digits.y_test).sum()
    np.testing.assert_array_equal(found["arrays"]["predictions"][:, 1], predicted)


def test_a_curve_ends_at_all_examples_and_draws_fewer(digits):
    whole, few, other, shifted = (
        growth.examples(Growth(dataset="digits", n=n, order=order))[0]
        for n, order in ((1200, 3), (75, 3), (75, 4), (6000, 0))
    )
    np.testing.assert_array_equal(whole, digits.X)
    assert len(few) == 75 and not np.array_equal(few, other) and len(shifted) == 6000


def test_more_images_than_there_are_are_refused():
    with pytest.raises(ValueError, match="n must be at most 1200, or 6000 with all shifts, got 1201"):
        growth.curves.compute(Growth(dataset="digits", n=1201))


def test_effects_are_told_over_orders_and_images():
    rng = np.random.default_rng(0)
    raw = rng.random((5, 2, 900)) < 0.10
    wrong = {"raw": raw, "same": raw.copy(), "worse": raw | (rng.random((5, 2, 900)) < 0.2)}
    table = tables.effects(wrong, (2, 3))
    assert table["verdict"].tolist() == ["–", "–", "higher", "higher"]
    gap = statistics.crossed(wrong["worse"][:, 1].astype(float) - raw[:, 1])
    assert table.loc[3, ["estimate", "low", "high"]].tolist() == pytest.approx([gap.estimate, gap.low, gap.high])


SIZES = (100, 200, 400, 800)


def hard_images(orders=3, n=1000, bend=0.0):
    """wrong {n: (R, 1, n)} of a law with exponent -0.5, in which orders agree on most of the hard images; bend: what each
    tenfold n adds to it."""
    rng = np.random.default_rng(1)
    difficulty = rng.random(n)
    rates = {size: 5 * size**-0.5 * 10 ** (bend / 2 * np.log10(size / 100) ** 2) for size in SIZES}
    return {size: (difficulty + rng.normal(0, 0.01, (orders, 1, n))) < rate for size, rate in rates.items()}


def test_the_interval_of_the_exponent_is_over_test_images_too():
    """As wide as that of a bootstrap over orders and images."""
    wrong = hard_images(5)
    rng = np.random.default_rng(0)
    law = tables.laws(wrong, (2,)).loc[2]
    part = np.stack([wrong[n][:, 0] for n in SIZES]).astype(float)
    drawn = []
    for _ in range(200):
        images = rng.multinomial(1000, np.full(1000, 1e-3))
        orders_ = rng.integers(5, size=5)
        drawn.append(np.polyfit(np.log(SIZES), np.log((part[:, orders_] @ images).mean(axis=1)), 1)[0])
    np.testing.assert_allclose((law["low"], law["high"]), np.quantile(drawn, [0.025, 0.975]), atol=0.015)


def test_a_power_law_is_found_again_and_one_that_bends_is_told_from_one_that_does_not():
    straight, bent = (tables.laws(hard_images(n=20_000, bend=bend), (2,)).loc[2] for bend in (0, 0.4))
    assert straight["low"] < -0.5 < straight["high"] and straight["exponent"] == pytest.approx(-0.5, abs=0.02)
    assert straight["p"] > 0.05 > 1e-4 > bent["p"]


def test_without_an_error_there_is_no_law():
    wrong = hard_images()
    both = {n: np.concatenate([each, np.zeros_like(each)], axis=1) for n, each in wrong.items()}
    found = tables.laws(both, (2, 3))
    assert found.loc[2].equals(tables.laws(wrong, (2,)).loc[2]) and found.loc[3].isna().all()


def test_stored_predictions_are_those_of_the_experiment(monkeypatch):
    monkeypatch.setitem(growth.SIZES, "digits", (300, 1200))
    found = facts.Facts(dataset="digits", n_growth_orders=2)
    rows = found.curves["curves"].query("n == 300 and degree == 6")
    assert found.grown[300][:, 1].sum(axis=1).tolist() == rows.sort_values("order")["errors"].tolist()
