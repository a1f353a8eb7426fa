"""The chapter on prepared images and on more of them: integers stay integers, runs are the estimator's, laws are found."""

import numpy as np
import pandas as pd
import pytest

from kp import OneVsAllKernelPerceptron, kernels
from kp.gram import Points
from kp.mistakes import PREDICTORS
from study import datasets, statistics
from study.growth import experiment, figures, preparations, tables
from study.growth.experiment import Growth, Prepared
from study.orders import experiment as orders


@pytest.fixture(scope="module")
def digits():
    return datasets.load("digits")


@pytest.mark.parametrize("name", preparations.PREPARATIONS)
def test_prepared_images_are_integers_with_exact_products(name, digits):
    X, X_test, gamma = preparations.PREPARATIONS[name](digits.X, digits.X_test)
    assert X.shape == digits.X.shape and X_test.shape == digits.X_test.shape and gamma > 0
    assert X.dtype.kind in "iu" and Points(X).exact and Points(X_test).exact


def test_scalings_are_kernels_of_scaled_pixels(digits):
    top = digits.X.max()
    floats = {
        "pixels in [0, 1]": digits.X[:50] / top,
        "unit norm": digits.X[:50] / np.linalg.norm(digits.X[:50].astype(float), axis=1, keepdims=True),
        "centred": (digits.X[:50] - np.rint(digits.X.mean(axis=0))) / top,
    }
    for name, wanted in floats.items():
        X, _, gamma = preparations.PREPARATIONS[name](digits.X, digits.X_test)
        K = kernels.polynomial(3, gamma=gamma)(X[:50], X[:50])
        np.testing.assert_allclose(K, (1 + wanted @ wanted.T) ** 3, rtol=2e-3)


def test_a_slanting_stroke_becomes_upright():
    image = np.zeros((21, 21))
    for row in range(4, 17):
        image[row, 5 + (row - 4) // 2 * 1 : 8 + (row - 4) // 2 * 1] = 100

    def covariance(picture):
        y, x = np.indices(picture.shape)
        weight = picture / picture.sum()
        return (weight * (y - (weight * y).sum()) * (x - (weight * x).sum())).sum()

    found = preparations.deskew(image)
    assert abs(covariance(image)) > 5 and abs(covariance(found)) < 0.2
    assert found.sum() == pytest.approx(image.sum(), rel=0.02)
    assert (preparations.deskew(np.zeros((5, 5))) == 0).all()


def test_a_shift_moves_every_image_by_its_own_way():
    X = np.arange(2 * 16, dtype=np.uint8).reshape(2, 16)
    found = preparations.shifted(X, [1, -1], [0, 2]).reshape(2, 4, 4)
    np.testing.assert_array_equal(found[0, 1:], X[0].reshape(4, 4)[:3])
    np.testing.assert_array_equal(found[1, :3, 2:], X[1].reshape(4, 4)[1:, :2])
    assert not found[0, 0].any() and not found[1, 3].any() and not found[1, :, :2].any()
    more, labels = preparations.with_shifts(X, np.array([3, 4]))
    np.testing.assert_array_equal(more[:2], X)
    np.testing.assert_array_equal(more[2:4], preparations.shifted(X, -1, 0))
    assert labels.tolist() == [3, 4] * 5


@pytest.fixture(scope="module")
def parts():
    return [Prepared(dataset="digits", preparation=name, order=r, degrees=(2, 3), n_epochs=3)
            for name in ("raw", "centred") for r in (0, 1)]  # fmt: skip


@pytest.fixture(scope="module")
def results(parts):
    return list(experiment.prepared.compute(parts))


def test_a_part_is_the_estimator_on_prepared_images(parts, results, digits):
    X, X_test, gamma = preparations.centred(digits.X, digits.X_test)
    model = OneVsAllKernelPerceptron(degree=3, gamma=gamma, max_iter=3, random_state=103, stop_if_separated=False)
    model.fit(X, digits.y)
    table = results[3]["prepared"].query("degree == 3 and epoch == 3").set_index("predictor")
    for p, name in enumerate(PREDICTORS):
        wrong = model.predict(X_test, predictor=name) != digits.y_test
        assert table.loc[name, ["errors", "first"]].tolist() == [wrong.sum(), wrong[: len(wrong) // 2].sum()]
        np.testing.assert_array_equal(
            np.asarray(digits.classes)[results[3]["arrays"]["predictions"][:, 1, p]], model.predict(X_test, predictor=name)
        )
    assert table["mistakes"].iloc[0] == sum(map(len, model.mistakes_))
    assert table["support"].iloc[0] == len(np.unique(np.concatenate([log.example for log in model.mistakes_])))


def test_raw_pixels_are_the_runs_of_the_chapter_on_orders(parts, results):
    runs = list(
        orders.runs.compute([orders.Settings(dataset="digits", degrees=(2, 3), order=r, n_epochs=3) for r in (0, 1)])
    )
    for ours, theirs in zip(results[:2], runs, strict=True):
        merged = ours["prepared"].merge(theirs["runs"], on=["degree", "order", "epoch", "predictor"], validate="1:1")
        assert len(merged) == 2 * 3 * 4 and (merged["errors_x"] == merged["errors_y"]).all()
        assert (merged["mistakes_x"] == merged["mistakes_y"]).all() and (merged["support_x"] == merged["support_y"]).all()


def test_a_curve_ends_at_all_examples_and_draws_fewer(digits):
    X, y = experiment.examples(Growth(dataset="digits", n=1200, order=3))
    np.testing.assert_array_equal(X, digits.X)
    few, _ = experiment.examples(Growth(dataset="digits", n=75, order=3))
    other, _ = experiment.examples(Growth(dataset="digits", n=75, order=4))
    assert len(few) == 75 and not np.array_equal(few, other)
    result = experiment.curves.compute(Growth(dataset="digits", n=75, order=3, degrees=(2,), n_epochs=2))
    assert result["curves"]["n"].unique().tolist() == [75] and result["costs"]["degrees"].tolist() == [1]
    assert len(experiment.examples(Growth(dataset="digits", n=6000))[0]) == 6000


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Prepared(preparation="upside down"), "preparation must be one of raw, .*, got 'upside down'"),
        (lambda: Prepared(dataset="iris", preparation="raw"), "dataset must be one of mnist, digits, got 'iris'"),
        (lambda: Prepared(preparation="raw", degrees=(2, 0)), r"degrees must be an integer in 1\.\.40, got 0"),
        (lambda: Growth(n=True), r"n must be an integer in 10\.\.1000000, got True"),
        (lambda: experiment.curves.compute(Growth(dataset="digits", n=1201)), "n must be at most 1200, or 6000 with all"),
    ],
)
def test_bad_settings_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_effects_are_told_over_orders_and_images():
    rng = np.random.default_rng(0)
    raw = rng.random((5, 2, 900)) < 0.10
    wrong = {"raw": raw, "same": raw.copy(), "worse": raw | (rng.random((5, 2, 900)) < 0.2)}
    table = tables.effects(wrong, (2, 3))
    assert table["verdict"].tolist() == ["–", "–", "higher", "higher"]
    gap = statistics.crossed(wrong["worse"][:, 1].astype(float) - raw[:, 1])
    assert table.iloc[3][["estimate", "low", "high"]].tolist() == pytest.approx([gap.estimate, gap.low, gap.high])
    figure = figures.figure_differences(table)
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == ["same", "worse"]


SIZES = (100, 200, 400, 800)


def curves_of(quantities, *, orders=3):
    """(curves, costs) of SIZES at degree 2: quantities {name: function of (n, order)}."""
    rows = [
        {"n": n, "degree": 2, "order": r, "epoch": 1, "predictor": "final", "n_test": 1000}
        | {name: of(n, r) for name, of in quantities.items()}
        for n in SIZES for r in range(orders)
    ]  # fmt: skip
    costs = [{"n": n, "order": r, "degrees": 1, "fit": 1e-4 * n**1.5, "peak": np.nan} for n in SIZES for r in range(orders)]
    return pd.DataFrame(rows), pd.DataFrame(costs)


def laws_of(wrong, **quantities):
    """tables.laws by quantity, of wrong {n: (R, 1, n_test)}."""
    counts = {"errors": lambda n, r: wrong[n][r, 0].sum(), "mistakes": lambda n, r: 3 * n**0.7,
              "support": lambda n, r: 2 * n**0.8} | quantities  # fmt: skip
    parts = curves_of(counts, orders=len(wrong[SIZES[0]]))
    return tables.laws(*parts, wrong, (2,), predictor="final").set_index("quantity")


def hard_images(orders=3, n=1000):
    """wrong {n: (R, 1, n)} of a law with exponent -0.5, in which orders agree on most of the hard images."""
    rng = np.random.default_rng(1)
    difficulty = rng.random(n)
    return {size: (difficulty + rng.normal(0, 0.01, (orders, 1, n))) < 5 * size**-0.5 for size in SIZES}


def test_power_laws_are_found_again():
    laws = laws_of(hard_images())
    assert laws.index.tolist() == ["errors", "mistakes", "support", "fit"]
    assert laws["exponent"].tolist() == pytest.approx([-0.5, 0.7, 0.8, 1.5], abs=0.05)
    assert laws.loc["errors", "low"] < -0.5 < laws.loc["errors", "high"]
    assert laws.loc["fit", ["least", "greatest"]].tolist() == pytest.approx([1.5, 1.5])


def test_the_interval_of_the_errors_exponent_is_over_test_images_too():
    """As wide as that of a bootstrap over orders and images, and several times that of Student's t over orders alone."""
    wrong, rng, x = hard_images(5), np.random.default_rng(0), np.log(SIZES)
    errors = laws_of(wrong).loc["errors"]
    part = np.stack([wrong[n][:, 0] for n in SIZES]).astype(float)
    drawn = []
    for _ in range(400):
        images, orders_ = rng.multinomial(1000, np.full(1000, 1e-3)), rng.integers(5, size=5)
        drawn.append(np.polyfit(x, np.log((part[:, orders_] @ images).mean(axis=1)), 1)[0])
    low, high = np.quantile(drawn, [0.025, 0.975])
    assert (errors["low"], errors["high"]) == (pytest.approx(low, abs=0.012), pytest.approx(high, abs=0.012))
    alone = statistics.student(np.polyfit(x, np.log(part.mean(axis=2)), 1)[0], varies="orders")
    assert errors["high"] - errors["low"] > 3 * (alone.high - alone.low)


def test_a_law_that_bends_is_told_from_one_that_does_not():
    rng = np.random.default_rng(2)
    noise = {(n, r): rng.uniform(0.999, 1.001) for n in SIZES for r in range(3)}
    bent = laws_of(hard_images(), support=lambda n, r: 3 * n**0.7 * 10 ** (0.1 * np.log10(n / 100) ** 2) * noise[n, r])
    straight = laws_of(hard_images(), mistakes=lambda n, r: 3 * n**0.7 * noise[n, r])
    assert bent.loc["support", "change"] == pytest.approx(0.2, abs=0.02) and bent.loc["support", "p"] < 0.05
    assert straight.loc[["errors", "mistakes"], "p"].min() > 0.05 and np.isnan(straight.loc["fit", "p"])


def test_a_law_is_drawn_on_from_the_rates_that_it_fits():
    rates = {n: 3 * n**-0.5 for n in SIZES}
    assert tables.on_law(rates, -0.5, 10_000) == pytest.approx(0.03)


def test_virtual_examples_are_set_against_all_images():
    keys = {"degree": 4, "order": 0, "epoch": 1, "n_test": 100, "mistakes": 7, "support": 5}
    curves = pd.DataFrame([{"n": n, "predictor": name, "errors": n // 10, **keys} for n in (20, 100) for name in PREDICTORS])
    costs = pd.DataFrame({"n": [20, 100], "order": 0, "degrees": [5, 1], "fit": [1.0, 2.0], "peak": [0.5, 0.6]})
    table = tables.virtual(curves, costs, 100, degree=4)
    assert table["final"].tolist() == [0.02, 0.1] and table["peak"].tolist() == [0.5, 0.6]
    shown = tables.side_by_side(table.assign(peak=np.nan)).set_index("quantity")
    assert shown.loc["error, final"].tolist() == ["2.00%", "10.00%"] and "peak memory (GiB)" not in shown.index


def test_figures_show_what_there_is(digits):
    images = {name: preparations.PREPARATIONS[name](digits.X[:1], digits.X_test[:3])[1] for name in ("raw", "moved")}
    assert len(figures.figure_prepared_images(images).axes) == 6
    grown = {n: hard_images()[n] for n in SIZES} | {4000: hard_images()[800][:1]}
    figure = figures.figure_growth(grown, {2: -0.5})
    assert figure.axes[0].get_legend_handles_labels()[1] == ["shifted copies", "degree 2"]


def test_stored_predictions_are_those_of_the_experiment():
    parts = experiment.growth_settings("digits", n_orders=2)
    grown = tables.grown("digits", n_orders=2)
    assert list(grown) == [*experiment.SIZES["digits"], experiment.VIRTUAL["digits"][0]]
    runs = experiment.curves(parts)["curves"]
    rows = tables.last(runs, predictor="average").query("n == 300 and degree == 6").sort_values("order")
    assert grown[300][:, 1].sum(axis=1).tolist() == rows["errors"].tolist()
    prepared = tables.prepared("digits", n_orders=2)
    assert list(prepared) == list(preparations.PREPARATIONS) and prepared["raw"].shape == grown[300].shape
