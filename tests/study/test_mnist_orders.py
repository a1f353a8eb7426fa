"""The chapter on visiting orders: runs against the estimator, tables against literal ones, and the published results."""

from dataclasses import replace
from itertools import product
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from kp import PREDICTORS, OneVsAllKernelPerceptron
from study import datasets, statistics, style
from study.mnist import facts, figures, kept, orders, over_orders
from study.mnist.facts import Facts, published
from study.mnist.orders import CURVED, Settings

SMALL = {"dataset": "digits", "n_train": 300, "n_epochs": 2}


@pytest.fixture(scope="module")
def small():
    """(parts, results of runs, results of held_out) of three orders of degrees 2 and 3."""
    parts = [Settings(order=r, degrees=(2, 3), **SMALL) for r in range(3)]
    held = [replace(part, n_held=50) for part in parts]
    return parts, list(orders.orders.compute(parts)), list(orders.held_out.compute(held))


def test_a_run_is_the_estimator_of_its_degree_and_seed(small):
    parts, results, _ = small
    data = datasets.load("digits")
    part = parts[2]
    result = results[2]
    rows = result["orders"].set_index(["degree", "epoch", "predictor"])
    for d, degree in enumerate(part.degrees):
        model = OneVsAllKernelPerceptron(
            degree=degree, gamma=1, max_iter=2, random_state=degree + 200, stop_if_separated=False
        )
        model.fit(data.X[:300], data.y[:300])
        for (p, name), epoch in product(enumerate(PREDICTORS), (1, 2)):
            expected = model.predict(data.X_test, predictor=name, epoch=epoch)
            np.testing.assert_array_equal(result["arrays"]["predictions"][:, d, p, epoch - 1], expected)
            row = rows.loc[degree, epoch, name]
            assert row["errors"] == (expected != data.y_test).sum() and row["order"] == 2
            assert row["mistakes"] == sum(log.length(epoch) for log in model.mistakes_)
        assert row["support"] == len(model.support_)


def test_held_out_images_do_not_train(small):
    data = datasets.load("digits")
    found = small[2][1]["held_out"]
    model = OneVsAllKernelPerceptron(
        degree=3, gamma=1, max_iter=2, random_state=103, stop_if_separated=False, predictor="average"
    )
    model.fit(data.X[:250], data.y[:250])
    held = (model.predict(data.X[250:300]) != data.y[250:300]).sum()
    test = (model.predict(data.X_test) != data.y_test).sum()
    row = found.query("degree == 3 and epoch == 2 and predictor == 'average'")
    assert row[["held", "test", "n_held", "n_test"]].to_numpy().tolist() == [[held, test, 50, len(data.X_test)]]


def test_cross_validation_adds_up_its_folds():
    part = orders.Folds(dataset="digits", n=100, order=1, n_folds=2, n_epochs=1)
    table = orders.cross_validated.compute(part)
    data = datasets.load("digits")
    X = data.X[100:200]
    y = data.class_indices[100:200]
    folds = orders.StratifiedKFold(2, shuffle=True, random_state=1).split(X, y)
    model = OneVsAllKernelPerceptron(
        degree=2, gamma=1, max_iter=1, random_state=102, predictor="final", stop_if_separated=False
    )
    held = sum((model.fit(X[a], y[a]).predict(X[b]) != y[b]).sum() for a, b in folds)
    test = (model.fit(X, y).predict(data.X_test) != data.class_indices_test).sum()
    row = table.query("degree == 2 and predictor == 'final'").iloc[0]
    assert row[["n", "held", "test"]].tolist() == [100, held, test]


def test_noise_learns_from_wrong_labels_and_is_judged_by_right_ones():
    part = orders.Noise(dataset="digits", n=80, kernel="RBF, wide", threshold=True, share=0.2, order=3, n_epochs=2)
    found = orders.noise.compute(part).query("epoch == 2").set_index("predictor")
    data = datasets.load("digits")
    y = orders.with_wrong_labels(data.class_indices[:80], 0.2, n_classes=10, random_state=3)
    assert (y != data.class_indices[:80]).sum() == 16
    X = data.X[:80].astype(float)
    X_test = data.X_test[:300].astype(float)
    gamma = orders.WIDE**2 / (2 * (X**2).sum(axis=1).mean())
    kernel = lambda A, B: np.exp(-gamma * ((A[:, None] - B[None]) ** 2).sum(axis=2)) + 1  # noqa: E731
    model = OneVsAllKernelPerceptron(kernel=kernel, max_iter=2, random_state=3, stop_if_separated=False).fit(X, y)
    for name in PREDICTORS:
        expected = model.predict(X_test, predictor=name) != data.class_indices_test[:300]
        assert found.loc[name, ["errors", "n_test"]].tolist() == [expected.sum(), 300]


def random_wrong(seed=0, *, orders=4, degrees=3, epochs=2, n=40):
    rng = np.random.default_rng(seed)
    hard = rng.random(n) < 0.3
    return rng.random((orders, degrees, 4, epochs, n)) < np.where(hard, 0.6, 0.05)


def runs_of(wrong, degrees):
    """The table of runs that goes with wrong (R, D, 4, E, n)."""
    counts = wrong.sum(axis=-1)
    rows = [
        (degrees[d], r, e + 1, PREDICTORS[p], counts[r, d, p, e], wrong.shape[-1])
        for r, d, p, e in np.ndindex(*counts.shape)
    ]
    return pd.DataFrame(rows, columns=["degree", "order", "epoch", "predictor", "errors", "n"])


def test_wrong_has_a_place_for_everything():
    predictions = np.random.default_rng(0).integers(3, size=(2, 3, 2, 4, 5))
    labels = np.array([0, 1, 2])
    found = over_orders.wrong(list(predictions), labels)
    for r, d, p, e, i in np.ndindex(found.shape):
        assert found[r, d, p, e, i] == (predictions[r, i, d, p, e] != labels[i])


def test_the_spread_is_over_orders():
    wrong = random_wrong()
    spread = over_orders.spread(runs_of(wrong, (2, 3, 5)), 2)
    errors = wrong[:, 1, 2, 1].mean(axis=-1)
    whole = spread.query("degree == 3 and predictor == 'minimizing'").iloc[0]
    expected = [errors.mean(), errors.std(ddof=1), errors[0], errors.min(), errors.max()]
    assert whole[["mean", "sd", "published", "lowest", "highest"]].tolist() == pytest.approx(expected)


def test_how_many_epochs_of_averaging_are_worth_all_without():
    index = pd.MultiIndex.from_product([["final", "average"], [2, 3], [1, 2, 3]], names=["predictor", "degree", "epoch"])
    errors = [9, 6, 5, 9, 6, 1, 8, 5, 3, 7, 6, 5]
    found = over_orders.worth_all(pd.DataFrame({"errors": errors}, index=index).reset_index())
    assert found[2] == 2 and np.isnan(found[3])


def test_answers_are_counted_by_digit_and_pair_and_image():
    labels = np.array([0, 1, 2, 2])
    said = np.array([[[0, 0], [1, 1], [0, 2], [1, 1]], [[0, 0], [2, 1], [0, 2], [1, 0]]])
    np.testing.assert_array_equal(
        over_orders.answers([np.tile(each[:, :, None, None], (1, 1, 4, 2)) for each in said]), said
    )
    assert over_orders.by_digit(said, labels, (2, 3)).to_numpy().tolist() == [[0, 0], [0.5, 0], [1, 0.5]]
    counts = over_orders.confusions(said[:, :, 0], labels)
    assert counts.tolist() == [[1, 0, 0], [0, 0.5, 0.5], [1, 1, 0]]
    assert over_orders.confused(counts).to_dict() == {"1 and 2": 1.5, "0 and 2": 1, "0 and 1": 0}
    hard = over_orders.hardest(said, labels)[["example", "share", "predicted", "true"]]
    assert hard.to_numpy().tolist() == [[3, 1, 1, 2], [2, 0.5, 0, 2], [1, 0.25, 2, 1]]


def test_verdicts_tell_higher_lower_the_same_and_nothing():
    rng = np.random.default_rng(2)
    base = rng.random((20, 4000)) < 0.1
    worse = base | (rng.random(base.shape) < 0.05)
    pairs = [(worse, base), (base, worse), (base, base), (base[:2], rng.random((2, 4000)) < 0.1)]
    found = over_orders.verdicts(pairs, [(i,) for i in range(4)], ["i"])
    assert list(found["verdict"]) == [over_orders.HIGHER, over_orders.LOWER, over_orders.SAME, over_orders.UNTOLD]
    raw = statistics.crossed(worse.astype(float) - base)
    assert found["estimate"][0] == pytest.approx(raw.estimate) and found["p"][0] <= 4 * raw.p + 1e-300


def test_families_name_what_they_compare():
    wrong = random_wrong(n=60)
    degrees = (2, 4, 6)
    rates = wrong.mean(axis=(0, 4))
    among = over_orders.among_predictors(wrong, degrees, [1, 2])
    row = among.query("epoch == 1 and degree == 4 and predictor == 'voted'")
    assert row["estimate"].item() == pytest.approx(rates[1, 3, 0] - rates[1, 1, 0])
    final = over_orders.of_final(among).set_index(["epoch", "degree"])
    assert final.loc[(2, 4), "estimate"] == pytest.approx(rates[1, 0, 1] - rates[1, 1, 1])
    pairs = over_orders.among_degrees(wrong, degrees, "average")
    row = pairs.query("degree == 2 and `and degree` == 6")
    assert row["estimate"].item() == pytest.approx(rates[2, 1, 1] - rates[0, 1, 1])
    epochs = over_orders.among_epochs(wrong).set_index("predictor")
    assert epochs.loc["final", "estimate"] == pytest.approx((rates[:, 0, 0] - rates[:, 0, 1]).mean())


def test_verdicts_are_turned_to_face_one_degree():
    rows = [(2, 3, -0.2, -0.3, -0.1, "lower"), (2, 4, 0.1, 0.0, 0.2, "higher"), (3, 4, 0.01, 0.0, 0.02, "the same")]
    columns = ["degree", "and degree", "estimate", "low", "high", "verdict"]
    pairs = pd.DataFrame(rows, columns=columns).assign(p=0.5, p_same=0.5)
    assert over_orders.differences_to(pairs, 2)["verdict"].tolist() == ["lower", "higher"]
    turned = over_orders.differences_to(pairs, 3)[["degree", "estimate", "low", "high", "verdict"]]
    assert turned.to_numpy().tolist() == [[2, 0.2, 0.1, 0.3, "higher"], [4, 0.01, 0.0, 0.02, "the same"]]


def test_epochs_are_tested_from_the_last_downwards_until_one_is_not_shown_to_be_the_same():
    epochs = pd.DataFrame({"predictor": "final", "epoch": [1, 2, 3, 4], "p_same": [0.01, 0.2, 0.04, 0.0]})
    assert over_orders.settled(epochs, "final") == 3
    assert over_orders.settled(epochs.assign(p_same=[0.0, 0.0, 0.06, 0.0]), "final") == 4
    assert over_orders.settled(epochs.assign(p_same=0.04), "final") == 1  # no correction: each is tested at 5 %


def test_the_published_run_is_judged_as_a_whole():
    runs = runs_of(random_wrong(orders=6), (2, 3, 5))
    runs.loc[runs["order"] == 0, "errors"] += 30
    place = over_orders.published_place(runs).set_index("degree").loc["all"]
    assert place[["numbers", "above", "p"]].tolist() == pytest.approx([24, 24, 1 / 6])


def test_ensembles_take_the_majority():
    labels = np.array([0, 1, 2, 1, 0])
    orders = np.array([[0, 1, 2, 2, 1], [0, 1, 1, 2, 0], [0, 1, 2, 1, 2]])  # the majority errs on the fourth image alone
    predictions = [np.tile(each[:, None, None, None], (1, 1, 4, 2)) for each in orders]
    (row,) = over_orders.ensembles(predictions, labels, [3]).to_dict("records")
    wrong = orders != labels
    majority = np.array([0, 0, 0, 1, 0])
    assert (row["majority"], row["unanimous"], row["single"]) == pytest.approx((0.2, 0.4, wrong.mean()))
    assert row["elsewhere"] == pytest.approx(wrong[:, 2:].mean())
    # The other two agree on the first two images; the first order errs on none of these and on two of the rest.
    assert row["p of Fisher's test"] == pytest.approx(statistics.two_samples(2, 3, 0, 2).p)
    assert row["estimate"] == pytest.approx(statistics.crossed(majority - wrong.astype(float)).estimate)


def test_choices_by_held_out_errors_are_tested_once():
    names = ["degree", "order", "epoch", "predictor"]
    rows = [
        (2, 0, 1, "final", 5, 50), (3, 0, 1, "final", 4, 60), (2, 0, 1, "average", 4, 55), (3, 0, 1, "average", 9, 40),
        (2, 1, 1, "final", 5, 52), (3, 1, 1, "final", 6, 61), (2, 1, 1, "average", 7, 44), (3, 1, 1, "average", 9, 48),
    ]  # fmt: skip
    rows += [(2, order, 1, name, 99, 99) for order in (0, 1) for name in PREDICTORS[2:]]
    both = pd.DataFrame(rows, columns=[*names, "held", "errors"])
    chosen = over_orders.choices(both[[*names, "held"]], both[[*names, "errors"]], ["order"])
    free = chosen[chosen["among"] == over_orders.ALL_FOUR]
    # Order 0: degrees 2 (average) and 3 (final) have 4 errors each, and the lower degree is taken.
    assert free[["degree", "predictor", "held", "honest", "fewest", "elsewhere"]].to_numpy().tolist() == [
        [2, "average", 4, 55, 40, 48], [2, "final", 5, 52, 44, 55],
    ]  # fmt: skip
    final = chosen[chosen["among"] == "final"]
    assert final[["honest", "fewest"]].to_numpy().tolist() == [[60, 50], [52, 52]]
    selection = over_orders.selection(chosen, 100).set_index("among")
    assert selection.loc["final", "estimate"] == pytest.approx(0.05)


def test_the_honest_error_is_that_of_what_was_chosen():
    wrong = random_wrong(orders=2)
    other = np.random.default_rng(9).random(40) < 0.2
    chosen = pd.DataFrame({"degree": [2, 5], "predictor": ["final", "voted"], "epoch": [1, 2]})
    own = np.stack([wrong[0, 0, 0, 0], wrong[1, 2, 3, 1]]).astype(float)
    assert over_orders.honest(wrong, (2, 3, 5), chosen) == statistics.crossed(own)
    assert over_orders.honest(wrong, (2, 3, 5), chosen, other=other) == statistics.crossed(own - other)


def test_errors_by_epoch_are_drawn_as_means_over_the_orders():
    wrong = random_wrong(n=200)
    axis = figures.figure_orders_by_epoch(runs_of(wrong, (2, 3, 5))).axes[-1]
    drawn = {text.get_text(): text.get_color() for text in axis.texts}
    lines = {line.get_color(): line for line in axis.lines if line.get_color() != style.GREY}
    assert axis.get_title() == "degree 3"
    assert list(drawn) == ["final", "average"] and set(lines) == set(drawn.values()), "no other line hides one of the two"
    for name, colour in drawn.items():
        expected = 100 * wrong[:, 1, PREDICTORS.index(name)].mean(axis=(0, 2))
        np.testing.assert_allclose(lines[colour].get_ydata(), expected)


def test_the_length_of_the_arrow_is_the_mean_gap_of_choosing_on_test_images():
    chosen = pd.DataFrame({"among": "all four", "honest": [30, 20, 25], "fewest": [20, 15, 25]})
    (axis,) = figures.figure_selection(chosen, 1000).axes
    assert "0.50 points in the mean" in [text.get_text() for text in axis.texts]


def test_published_orders_agree_with_an_independent_program():
    """Degree 4, ten epochs, by order (seeds 104, 204, 304)."""
    runs = orders.orders(orders.settings())["orders"].query("degree == 4 and epoch == 10 and order in (1, 2, 3)")
    errors = runs.pivot(index="order", columns="predictor", values="errors")[["final", "average", "minimizing"]]
    assert errors.to_numpy().tolist() == [[159, 159, 155], [161, 163, 161], [164, 140, 166]]


def test_a_statement_that_no_test_contradicts_is_not_held_to_be_true():
    rng = np.random.default_rng(0)
    noise = rng.random((3, 5, 4, 2, 300)) < 0.1
    labels = rng.integers(10, size=300)
    apart = over_orders.differences_to(over_orders.among_degrees(noise, CURVED, "average"), 3).set_index("degree")
    assert facts.verdict_degrees_above_3(apart)[0] == "undecided"
    p = {degree: statistics.equal_means(noise[:, d, 1, -1].mean(axis=0), labels) for d, degree in enumerate(CURVED)}
    digits = SimpleNamespace(rates=pd.DataFrame({3: np.full(10, 0.1)}), p=p, largest_p=max(p.values()))
    assert facts.verdict_no_digit(digits, 0.1)[0] == "undecided"


def test_facts_of_a_run_are_those_of_its_arrays():
    facts = Facts(dataset="digits", n_orders=3, n_linear=1, n_epochs=2, n_train=300, n_held=50)
    data = datasets.load("digits")
    model = OneVsAllKernelPerceptron(degree=3, gamma=1, max_iter=2, random_state=203, stop_if_separated=False)
    model.fit(data.X[:300], data.y[:300])
    missed = model.predict(data.X_test, predictor="average", epoch=1) != data.y_test
    np.testing.assert_array_equal(facts.after_one_epoch[2], missed)
    third = np.stack([each[:, CURVED.index(3), PREDICTORS.index("average"), -1] for each in facts.predictions])
    nines = data.class_indices_test == 9
    assert facts.digits.rates.loc[9, 3] == pytest.approx((third[:, nines] != 9).mean())
    fours = data.class_indices_test == 4
    expected = ((third[:, nines] == 4).sum() + (third[:, fours] == 9).sum()) / 3
    assert facts.digits.confused["4 and 9"] == pytest.approx(expected)
    errors = (third != data.class_indices_test).mean(axis=1)
    assert facts.one_epoch.estimate == pytest.approx(facts.after_one_epoch.mean() - errors.mean())
    assert facts.valley.loc[3, "average"] == pytest.approx(errors.mean())
    chosen = facts.chosen.query("among == 'average'")
    assert facts.error["estimate"] == pytest.approx(chosen["honest"].mean() / len(data.y_test))
    gap = chosen["honest"] - chosen["fewest"]
    assert facts.flattery.loc["average", "estimate"] == pytest.approx(gap.mean() / len(data.y_test))


def test_order_0_is_the_published_run():
    first = published.predictions[0]
    for d, own in enumerate(facts.six_degrees()["arrays"][1:]):
        np.testing.assert_array_equal(first[:, d], own["predictions"].transpose(2, 0, 1))


def test_kept_orders_are_those_of_the_estimator():
    part = kept.Kept(dataset="digits", degrees=(2, 3), order=1, n_epochs=3, n_train=200)
    (found,) = kept.kept.compute([part])
    data = datasets.load("digits")
    rows = found["kept"].set_index(["protocol", "degree", "epoch", "predictor"])
    wrong = np.unpackbits(found["arrays"]["wrong"], axis=-1, count=len(data.X_test))
    options = {"own, kept": ("separate", "once"), "shared, new": ("shared", True), "shared, kept": ("shared", "once")}
    for i, (protocol, (whose, shuffle)) in enumerate(options.items()):
        model = OneVsAllKernelPerceptron(degree=3, gamma=1, max_iter=3, random_state=103, stop_if_separated=False)
        model.set_params(orders=whose, shuffle=shuffle, count_errors=True).fit(data.X[:200], data.y[:200])
        for p, name in enumerate(PREDICTORS):
            errs = model.predict(data.X_test, predictor=name) != data.y_test
            assert np.array_equal(wrong[i, 1, p], errs) and rows.loc[(protocol, 3, 3, name), "errors"] == errs.sum()
        row = rows.loc[(protocol, 3, 3, "final")]
        assert (row["mistakes"], row["support"]) == (sum(map(len, model.mistakes_)), len(model.support_))


def test_kept_orders_are_compared_order_by_order():
    runs = runs_of(random_wrong(degrees=2), (2, 3)).assign(support=lambda t: 100 + 10 * t["degree"] + t["order"])
    rows = runs[runs["order"] < 3].assign(epochs=2, protocol="own, kept", support=lambda t: 0.9 * t["support"])
    found = over_orders.fewer(runs, pd.concat([rows, rows.assign(epochs=6, support=0.0)]))
    np.testing.assert_allclose(found[["estimate", "low", "high"]], 0.1, atol=1e-6)
    np.testing.assert_allclose(found["mean"], [0.9 * 121, 0.9 * 131])


def test_costs_of_protocols_are_medians_over_the_orders():
    costs = pd.DataFrame({"degree": 2, "protocol": ["b", "a"] * 3, "fit": [3.0, 1, 5, 2, 4, 9]})
    found = over_orders.costs_of_protocols(costs.assign(support=costs["fit"], predict=0.5, peak=2.0))
    assert found.set_index("protocol")["fit"].to_dict() == {"b": 4, "a": 2} and list(found["protocol"]) == ["b", "a"]


def test_errors_of_kept_orders_are_less_those_of_the_same_order():
    before = random_wrong(degrees=2)
    after = random_wrong(1, degrees=6, orders=3)[:, :, :, -1].reshape(3, 3, 2, 4, 40)
    arrays = [{"wrong": np.packbits(each, axis=-1)} for each in after] + [{"wrong": np.zeros((3, 1, 4, 5), np.uint8)}]
    found = over_orders.errors_under_protocols(before, arrays, (2, 3))
    gaps = after[:, 2, :, 0].astype(float) - before[:3, :, 0, -1]
    expected = [statistics.crossed(gap).estimate for gap in (gaps[:, 0], gaps[:, 1], gaps.mean(axis=1))]
    rows = found.query("predictor == 'final' and protocol == 'shared, kept'")
    np.testing.assert_allclose(rows["estimate"], expected, atol=1e-15)


# Other degrees.


def test_a_run_has_the_degrees_that_it_is_given_and_says_which_it_lacks():
    sizes = {"n_orders": 3, "n_linear": 2, "n_train": 300, "n_epochs": 2}
    parts = orders.settings("digits", degrees=(4, 2, 3), **sizes)
    assert [(part.degrees, part.order) for part in parts] == [((2, 3, 4), r) for r in range(3)]
    assert [part.degrees for part in kept.kept_settings("digits", degrees=(1, 2, 3), **sizes)] == [(2, 3)] * 3 + [(1,)] * 2
    few = Facts(dataset="digits", degrees=(2, 4, 7), n_held=100, **sizes)
    assert few.above_named == "2, 4 and 7" and Facts().above_named == "2 to 6"
    assert set(few.valley.index) == {2, 4, 7} and few.shown_degree == few.best_degree in {2, 4, 7}
    with pytest.raises(LookupError, match="degree 3 is not among the degrees of this run, 2, 4, 7"):
        few.place_of(3)
    with pytest.raises(ValueError, match="degrees: expected at least two above 1, got 1, 4"):
        orders.settings("digits", degrees=(1, 4))


def test_the_gap_of_the_final_predictor_is_that_of_the_first_and_the_last_epoch():
    rows = [(epoch, degree, 10 * degree - epoch) for epoch in (1, 5) for degree in (2, 3)]
    own = Facts()
    own.__dict__["final_or_average"] = pd.DataFrame(rows, columns=["epoch", "degree", "estimate"])
    assert own.gaps.to_dict("list") == {"first": [19, 29], "last": [15, 25]} and own.gaps.index.tolist() == [2, 3]
