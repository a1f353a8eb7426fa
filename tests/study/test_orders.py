"""The chapter on visiting orders: runs against the estimator, tables against literal ones, and the published results."""

from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from kp import PREDICTORS, OneVsAllKernelPerceptron
from study import datasets, statistics
from study.mnist import experiment as mnist
from study.orders import claims, experiment, figures, published, tables
from study.orders.experiment import Settings

SMALL = {"dataset": "digits", "n_train": 300, "n_epochs": 2}


def computed(experiment, parts):
    """The results of parts without the store."""
    return list(experiment.compute(parts))


@pytest.fixture(scope="module")
def small():
    """(parts, results of runs, results of held_out) of three orders of degrees 2 and 3."""
    parts = [Settings(order=r, degrees=(2, 3), **SMALL) for r in range(3)]
    return parts, computed(experiment.runs, parts), computed(experiment.held_out, [replace(p, n_held=50) for p in parts])


def test_a_run_is_the_estimator_of_its_degree_and_seed(small):
    parts, results, _ = small
    data = datasets.load("digits")
    for part, result in zip(parts, results, strict=True):
        for d, degree in enumerate(part.degrees):
            model = OneVsAllKernelPerceptron(
                degree=degree, max_iter=2, random_state=degree + 100 * part.order, stop_if_separated=False
            ).fit(data.X[:300], data.y[:300])
            staged = list(model.staged_predict(data.X_test, predictor=PREDICTORS))
            for (p, name), epoch in product(enumerate(PREDICTORS), (1, 2)):
                np.testing.assert_array_equal(
                    np.array(data.classes)[result["arrays"]["predictions"][:, d, p, epoch - 1]], staged[epoch - 1][name]
                )
                row = result["runs"].query("degree == @degree and epoch == @epoch and predictor == @name").iloc[0]
                assert row["errors"] == (staged[epoch - 1][name] != data.y_test).sum() and row["order"] == part.order
                assert row["mistakes"] == sum(log.length(epoch) for log in model.mistakes_)
            assert row["support"] == len(model.support_)


def test_held_out_images_do_not_train(small):
    parts, _, held = small
    data = datasets.load("digits")
    model = OneVsAllKernelPerceptron(degree=3, max_iter=2, random_state=103, stop_if_separated=False)
    model.fit(data.X[:250], data.y[:250])
    row = held[1]["held_out"].query("degree == 3 and epoch == 2 and predictor == 'average'").iloc[0]
    assert row["held"] == (model.predict(data.X[250:300], predictor="average") != data.y[250:300]).sum()
    assert row["test"] == (model.predict(data.X_test, predictor="average") != data.y_test).sum()
    assert (row["n_held"], row["n_test"]) == (50, len(data.X_test))


def test_order_0_is_the_run_of_the_mnist_chapters():
    part = Settings(order=0, **SMALL)
    (result,) = computed(experiment.runs, [part])
    before = mnist.run_together([mnist.Settings(degree=d, **SMALL) for d in part.degrees])
    for d, run in enumerate(before):
        expected = run["arrays"]["predictions"].transpose(2, 0, 1)
        np.testing.assert_array_equal(result["arrays"]["predictions"][:, d], expected)


def test_an_order_does_not_depend_on_its_company(small):
    parts, results, _ = small
    (alone,) = computed(experiment.runs, parts[2:])
    pd.testing.assert_frame_equal(alone["runs"], results[2]["runs"])
    np.testing.assert_array_equal(alone["arrays"]["predictions"], results[2]["arrays"]["predictions"])


def test_more_orders_compute_only_the_new_ones(monkeypatch, tmp_path):
    monkeypatch.setattr("study.experiment.BUILD", tmp_path)
    seen, compute = [], experiment.runs.compute

    def counting(parts, **options):
        seen.extend(part.order for part in parts)
        return compute(parts, **options)

    monkeypatch.setattr(experiment.runs, "compute", counting)
    monkeypatch.setattr(experiment.runs, "_roots", lambda settings: [compute])
    few, more = (experiment.settings("digits", n_orders=k, n_linear=0, n_train=100, n_epochs=1) for k in (2, 3))
    first = experiment.runs(few)["runs"]
    assert seen == [0, 1]
    both = experiment.runs(more)["runs"]
    assert seen == [0, 1, 2]
    pd.testing.assert_frame_equal(both[both["order"] < 2].reset_index(drop=True), first)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dataset": "letters"}, "dataset must be one of mnist, digits"),
        ({"order": -1}, "order must be an integer in 0"),
        ({"degrees": ()}, "degrees must name at least one"),
        ({"n_held": 1195}, "n_held must be an integer"),
        ({"degrees": (0,)}, "degrees must be an integer in 1..40"),
    ],
)
def test_bad_settings_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        Settings(**{"dataset": "digits", **options})


def test_cross_validation_adds_up_its_folds():
    part = experiment.Folds(dataset="digits", n=100, order=1, n_folds=2, n_epochs=1)
    table = experiment.cross_validated.compute(part)
    data = datasets.load("digits")
    X, y = data.X[100:200], data.class_indices[100:200]
    folds = experiment.StratifiedKFold(2, shuffle=True, random_state=1).split(X, y)
    model = OneVsAllKernelPerceptron(degree=2, max_iter=1, random_state=102, predictor="final", stop_if_separated=False)
    held = sum((model.fit(X[a], y[a]).predict(X[b]) != y[b]).sum() for a, b in folds)
    row = table.query("degree == 2 and predictor == 'final'").iloc[0]
    assert row["held"] == held and row["test"] == (model.fit(X, y).predict(data.X_test) != data.class_indices_test).sum()
    assert list(table["degree"].unique()) == [1, 2, 3, 4, 5, 6] and set(table["n"]) == {100}


def test_noise_learns_from_wrong_labels_and_is_judged_by_right_ones():
    part = experiment.Noise(dataset="digits", n=80, kernel="RBF, wide", threshold=True, share=0.2, order=3, n_epochs=2)
    table = experiment.noise.compute(part)
    data = datasets.load("digits")
    y = experiment.with_wrong_labels(data.class_indices[:80], 0.2, n_classes=10, random_state=3)
    assert (y != data.class_indices[:80]).sum() == 16
    X = data.X[:80].astype(float)
    gamma = experiment.WIDE**2 / (2 * (X**2).sum(axis=1).mean())
    kernel = lambda A, B: np.exp(-gamma * ((A[:, None] - B[None]) ** 2).sum(axis=2)) + 1  # noqa: E731
    model = OneVsAllKernelPerceptron(kernel=kernel, max_iter=2, random_state=3, stop_if_separated=False).fit(X, y)
    for name in PREDICTORS:
        row = table.query("predictor == @name and epoch == 2").iloc[0]
        expected = model.predict(data.X_test[:300].astype(float), predictor=name) != data.class_indices_test[:300]
        assert row["errors"] == expected.sum()
        assert (row["kernel"], row["threshold"], row["share"], row["n_test"]) == ("RBF, wide", True, 0.2, 300)


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
    labels = np.array([0, 1, 2])
    predictions = np.zeros((3, 2, 4, 5), dtype=np.uint8)
    predictions[1, 1, 2, 3] = 1
    found = tables.wrong([predictions, predictions], labels)
    assert found.shape == (2, 2, 4, 5, 3) and not found[..., 0].any() and found[..., 2].all()
    assert not found[0, 1, 2, 3, 1] and found[0, 1, 2, 2, 1]


def test_the_spread_is_over_orders():
    wrong = random_wrong()
    spread = tables.spread(runs_of(wrong, (2, 3, 5)), 2)
    errors = wrong[:, 1, 2, 1].mean(axis=-1)
    row = spread.query("degree == 3 and predictor == 'minimizing'").iloc[0]
    assert (row["mean"], row["sd"], row["published"]) == pytest.approx((errors.mean(), errors.std(ddof=1), errors[0]))
    assert (row["lowest"], row["highest"], row["orders"]) == (errors.min(), errors.max(), 4)
    whole = tables.with_intervals(spread, wrong, (2, 3, 5)).query("degree == 3 and predictor == 'minimizing'").iloc[0]
    assert (whole["estimate"], whole["low"]) == pytest.approx((errors.mean(), statistics.crossed(wrong[:, 1, 2, 1]).low))


def test_the_spread_in_words_has_a_row_for_each_degree():
    wrong = random_wrong()
    found = tables.in_words(tables.spread(runs_of(wrong, (2, 3, 5)), 2))
    errors = 100 * wrong[:, 0, 1, 1].mean(axis=-1)
    assert list(found.columns) == ["degree", "orders", *PREDICTORS] and found["orders"].tolist() == [4, 4, 4]
    assert found.loc[0, "average"] == f"{errors.mean():.2f} ± {errors.std(ddof=1):.2f}"


def test_how_many_epochs_of_averaging_are_worth_all_without():
    errors = {"final": [[9, 6, 5], [9, 6, 1]], "average": [[8, 5, 3], [7, 6, 5]]}
    rows = [
        (name, degree, epoch, count)
        for name, each in errors.items()
        for degree, counts in zip((2, 3), each, strict=True)
        for epoch, count in enumerate(counts, start=1)
    ]
    found = tables.worth_all(pd.DataFrame(rows, columns=["predictor", "degree", "epoch", "errors"]))
    assert found[2] == 2 and np.isnan(found[3])


def test_answers_are_counted_by_digit_and_pair_and_image():
    labels = np.array([0, 1, 2, 2])
    said = np.array([[[0, 0], [1, 1], [0, 2], [1, 1]], [[0, 0], [2, 1], [0, 2], [1, 0]]])
    predictions = [np.tile(each[:, :, None, None], (1, 1, 4, 2)) for each in said]
    np.testing.assert_array_equal(tables.answers(predictions), said)
    rates = tables.by_digit(said, labels, (2, 3))
    assert rates.loc[2].tolist() == [1.0, 0.5] and rates.loc[1, 2] == 0.5
    counts = tables.confusions(said[:, :, 0], labels)
    assert counts.tolist() == [[1, 0, 0], [0, 0.5, 0.5], [1, 1, 0]]
    assert tables.confused(counts).to_dict() == {"1 and 2": 1.5, "0 and 2": 1, "0 and 1": 0}
    hard = tables.hardest(said, labels)
    assert hard["example"].tolist() == [3, 2, 1] and hard["share"].tolist() == [1, 0.5, 0.25]
    assert hard["predicted"].tolist() == [1, 0, 2] and hard["true"].tolist() == [2, 2, 1]


def test_components_are_those_of_a_known_mixture():
    rng = np.random.default_rng(1)
    rate = 0.3 + 0.1 * np.array([-1, 0, 1])[None, :, None] + 0.03 * rng.normal(size=(400, 3, 4))
    wrong = (np.arange(1000) < 1000 * rate[..., None]).reshape(400, 3, 4, 1, 1000)
    found = tables.components(wrong)
    assert list(found["predictor"]) == list(PREDICTORS)
    np.testing.assert_allclose(found["degree"], 0.1, rtol=0.05)
    np.testing.assert_allclose(found["order"], 0.03, rtol=0.1)
    np.testing.assert_allclose(found["test images"], np.sqrt((0.3 * 0.7 - 0.01) / 1000), rtol=0.05)


def test_verdicts_tell_higher_lower_the_same_and_nothing():
    rng = np.random.default_rng(2)
    base = rng.random((20, 4000)) < 0.1
    worse = base | (rng.random(base.shape) < 0.05)
    other = rng.random((2, 4000)) < 0.1
    pairs = [(worse, base), (base, worse), (base, base), (other, other[::-1] ^ (rng.random(other.shape) < 0.001))]
    found = tables.verdicts(pairs, [(i,) for i in range(4)], ["i"], 0.0005)
    assert list(found["verdict"]) == [tables.HIGHER, tables.LOWER, tables.SAME, tables.UNTOLD]
    raw = statistics.crossed(worse.astype(float) - base)
    assert found["estimate"][0] == pytest.approx(raw.estimate) and found["p"][0] <= 4 * raw.p + 1e-300


def test_families_name_what_they_compare():
    wrong = random_wrong(n=60)
    degrees = (2, 4, 6)
    among = tables.among_predictors(wrong, degrees, [1, 2])
    row = among.query("epoch == 1 and degree == 4 and predictor == 'voted'").iloc[0]
    gap = wrong[:, 1, 3, 0].mean() - wrong[:, 1, 1, 0].mean()
    assert len(among) == 2 * 3 * 3 and row["estimate"] == pytest.approx(gap)
    pairs = tables.among_degrees(wrong, degrees, "average")
    row = pairs.query("degree == 2 and `and degree` == 6").iloc[0]
    assert len(pairs) == 3 and row["estimate"] == pytest.approx(wrong[:, 2, 1, 1].mean() - wrong[:, 0, 1, 1].mean())
    epochs = tables.among_epochs(wrong)
    row = epochs.query("predictor == 'final'").iloc[0]
    assert len(epochs) == 4 and row["estimate"] == pytest.approx(wrong[:, :, 0, 0].mean() - wrong[:, :, 0, 1].mean())


def test_verdicts_are_turned_to_face_one_degree():
    pairs = pd.DataFrame({"degree": [2, 2, 3], "and degree": [3, 4, 4]}).assign(
        verdict=[tables.LOWER, tables.HIGHER, tables.SAME]
    )
    pairs = pairs.assign(estimate=[-0.2, 0.1, 0.01], low=[-0.3, 0.0, 0.0], high=[-0.1, 0.2, 0.02], p=0.5, p_same=0.5)
    assert tables.differences_to(pairs, 2)["verdict"].tolist() == ["lower", "higher"]
    turned = tables.differences_to(pairs, 3)
    assert turned["verdict"].tolist() == ["higher", "the same"]
    assert turned["degree"].tolist() == [2, 4] and turned["estimate"].tolist() == [0.2, 0.01]
    assert turned.loc[0, ["low", "high", "verdict"]].tolist() == [0.1, 0.3, "higher"]


def test_epochs_are_tested_from_the_last_downwards_until_one_is_not_shown_to_be_the_same():
    epochs = pd.DataFrame({"predictor": "final", "epoch": [1, 2, 3, 4], "p_same": [0.01, 0.2, 0.04, 0.0]})
    assert tables.settled(epochs, "final") == 3 and tables.settled(epochs.query("epoch > 2"), "final") == 3
    assert tables.settled(epochs.assign(p_same=[0.0, 0.0, 0.06, 0.0]), "final") == 4
    assert tables.settled(epochs.assign(p_same=0.04), "final") == 1  # no correction: each is tested at 5 %


def test_the_epochs_that_are_needed_are_told_for_the_mean_and_for_each_degree():
    rng = np.random.default_rng(3)
    last = np.broadcast_to(rng.random((5, 2, 4, 1, 4000)) < 0.1, (5, 2, 4, 3, 4000)).copy()
    last[:, 1, :, :2] |= rng.random((5, 4, 2, 4000)) < 0.2  # degree 3 goes on improving to the last epoch
    found = tables.settled_by_degree(last, (2, 3)).set_index("predictor")
    assert found[2].tolist() == 4 * [1] and found[3].tolist() == 4 * [3] and found["mean"].tolist() == 4 * [3]


def test_the_final_predictor_less_the_average_one_has_a_size_at_each_degree():
    wrong = random_wrong(n=60)
    pairs = tables.among_predictors(wrong, (2, 3, 5), [1, 2])
    found = tables.of_final(pairs).set_index(["epoch", "degree"])
    assert len(found) == 6
    assert found.loc[(2, 3), "estimate"] == pytest.approx(wrong[:, 1, 0, 1].mean() - wrong[:, 1, 1, 1].mean())
    other = tables.among_predictors(wrong, (2, 3, 5), [2], others=["final"], control="minimizing").set_index("degree")
    assert other.loc[5, "estimate"] == pytest.approx(wrong[:, 2, 0, 1].mean() - wrong[:, 2, 2, 1].mean())


def test_the_published_run_is_judged_as_a_whole():
    wrong = random_wrong(orders=6)
    runs = runs_of(wrong, (2, 3, 5))
    runs.loc[runs["order"] == 0, "errors"] += 30
    place = tables.published_place(runs).set_index("degree")
    assert list(place.index) == ["2", "3", "5", "all"] and place.loc["all", "numbers"] == 24
    assert place.loc["all", "p"] == pytest.approx(1 / 6) and place.loc["all", "above"] == 24
    assert "all" not in set(tables.published_place(runs.query("degree == 2"))["degree"])


def test_ensembles_take_the_majority():
    labels = np.array([0, 1, 2, 1, 0])
    orders = np.array([[0, 1, 2, 2, 1], [0, 1, 1, 2, 0], [0, 1, 2, 1, 2]])  # the majority errs on the fourth image alone
    predictions = [np.tile(each[:, None, None, None], (1, 1, 4, 2)) for each in orders]
    (row,) = tables.ensembles(predictions, labels, [3]).itertuples(index=False)
    wrong = orders != labels
    assert (row.degree, row.majority, row.unanimous) == (3, 0.2, 0.4) and row.single == pytest.approx(wrong.mean())
    assert row[8:10] == pytest.approx((0, wrong[:, 2:].mean()))
    # The other two agree on the first two images; the first order errs on none of these and on two of the rest.
    assert row[-1] == pytest.approx(statistics.two_samples(2, 3, 0, 2).p)
    majority = np.array([0, 0, 0, 1, 0])
    assert row.estimate == pytest.approx(statistics.crossed(majority - wrong.astype(float)).estimate) and row.p <= 1


def test_agreement_tells_errors_only_by_other_orders():
    """Where orders do not all agree at least one errs: of two independent ones, agreement tells nothing of a third."""
    rng = np.random.default_rng(7)
    labels = rng.integers(3, size=600)
    orders = [np.where(rng.random(600) < 0.2, (labels + 1) % 3, labels) for _ in range(3)]
    predictions = [np.tile(each[:, None, None, None], (1, 1, 4, 1)) for each in orders]
    (row,) = tables.ensembles(predictions, labels, [3]).itertuples(index=False)
    assert row.elsewhere > 1 / 3 and row[-1] > 0.05
    same = [orders[0], orders[0], orders[0].copy()]
    same[2][:100] = (same[2][:100] + 1) % 3
    predictions = [np.tile(each[:, None, None, None], (1, 1, 4, 1)) for each in same[:2]]
    assert tables.ensembles(predictions, labels, [3])["p of Fisher's test"].tolist() == [1.0]


def test_choices_by_held_out_errors_are_tested_once():
    names = ["degree", "order", "epoch", "predictor"]
    rows = [
        (2, 0, 1, "final", 5, 50), (3, 0, 1, "final", 4, 60), (2, 0, 1, "average", 4, 55), (3, 0, 1, "average", 9, 40),
        (2, 1, 1, "final", 5, 52), (3, 1, 1, "final", 6, 61), (2, 1, 1, "average", 7, 44), (3, 1, 1, "average", 9, 48),
    ]  # fmt: skip
    both = pd.DataFrame(rows, columns=[*names, "held", "errors"])
    more = [
        both.assign(predictor=name, held=99, errors=99).query("degree == 2").drop_duplicates("order")
        for name in PREDICTORS[2:]
    ]
    both = pd.concat([both, *more])
    chosen = tables.choices(both[[*names, "held"]], both[[*names, "errors"]], ["order"])
    free = chosen[chosen["among"] == tables.ALL_FOUR].set_index("order")
    # Order 0: degrees 2 (average) and 3 (final) have 4 errors each, and the lower degree is taken.
    assert free.loc[0, ["degree", "predictor", "held", "honest", "fewest", "elsewhere"]].tolist() == [
        2,
        "average",
        4,
        55,
        40,
        48,
    ]
    assert free.loc[1, ["degree", "predictor", "held", "honest", "fewest", "elsewhere"]].tolist() == [
        2,
        "final",
        5,
        52,
        44,
        55,
    ]
    final = chosen[chosen["among"] == "final"].set_index("order")
    assert final["honest"].tolist() == [60, 52] and final["fewest"].tolist() == [50, 52]
    selection = tables.selection(chosen, 100).set_index("among")
    assert selection.loc["final", "gap"] == pytest.approx(0.05) and selection.loc["final", "runs"] == 2
    counts = tables.counts_chosen(chosen[chosen["among"] == tables.ALL_FOUR])
    assert counts.loc[2, "average"] == 1 and list(counts.columns) == list(PREDICTORS)


def test_folds_are_chosen_in_each_size_by_themselves():
    runs = runs_of(random_wrong(degrees=2), (2, 3))
    parts = [
        runs.drop(columns="errors").assign(n=size, held=runs["errors"][::step].tolist(), test=runs["errors"])
        for size, step in ((10, 1), (20, -1))
    ]
    found = tables.folds(pd.concat(parts), 40).set_index("n")
    same = tables.choices(parts[0], runs, ["order"]).query("among == 'all four'")
    assert found.loc[10, "gap"] == pytest.approx(((same["honest"] - same["fewest"]) / 40).mean()) == 0
    assert found.loc[20, "gap"] > 0 and found["runs"].tolist() == [4, 4]


def test_the_honest_error_is_that_of_what_was_chosen():
    wrong = random_wrong()
    chosen = pd.DataFrame(
        {"degree": [2, 5, 3, 2], "predictor": ["final", "voted", "average", "final"], "epoch": [1, 2, 2, 1]}
    )
    own = np.stack([wrong[0, 0, 0, 0], wrong[1, 2, 3, 1], wrong[2, 1, 1, 1], wrong[3, 0, 0, 0]])
    assert tables.honest(wrong, (2, 3, 5), chosen) == statistics.crossed(own)


def test_the_honest_error_beside_another_learner_is_paired_over_the_images():
    wrong, other = random_wrong(), np.random.default_rng(9).random(40) < 0.2
    chosen = pd.DataFrame({"degree": [2, 5, 3, 2], "predictor": "average", "epoch": [1, 2, 2, 1]})
    own = np.stack([wrong[0, 0, 1, 0], wrong[1, 2, 1, 1], wrong[2, 1, 1, 1], wrong[3, 0, 1, 0]]).astype(float)
    assert tables.honest(wrong, (2, 3, 5), chosen, other=other) == statistics.crossed(own - other)


def test_honest_errors_are_those_of_the_average_of_any_and_of_one_choice_for_all_orders():
    wrong = random_wrong()
    runs = runs_of(wrong, (2, 3, 5))
    held = runs.rename(columns={"errors": "held"})[["degree", "order", "epoch", "predictor", "held"]].copy()
    held["held"] = np.random.default_rng(4).integers(10, 20, len(held))
    held.loc[held.query("degree == 5 and epoch == 1 and predictor == 'voted'").index, "held"] = 10
    chosen = tables.choices(held, runs[["degree", "order", "epoch", "predictor", "errors"]], ["order"])
    found = tables.honest_errors(wrong, (2, 3, 5), chosen, held).set_index("among")
    assert list(found.index) == list(tables.HONEST)
    average, free, mean = (found.loc[name] for name in tables.HONEST)
    assert average[list(PREDICTORS)].tolist() == [0, 4, 0, 0] and free[list(PREDICTORS)].sum() == 4
    assert average["estimate"] == pytest.approx(chosen.query("among == 'average'")["honest"].mean() / 40)
    assert (average["more"], average["more low"], average["more high"]) == (0, 0, 0)
    assert free["more"] == pytest.approx(free["estimate"] - average["estimate"]) and free["more low"] < free["more"]
    assert (mean["voted"], mean["degrees"], mean["epochs"]) == (4, "5 (4)", "1")
    assert mean["estimate"] == pytest.approx(wrong[:, 2, 3, 0].mean())
    assert tables.by_mean(held.query("degree < 5 or order > 0"), (2, 3))["degree"].isin((2, 3)).all()


def noise_table():
    rng = np.random.default_rng(5)
    names = ["kernel", "threshold", "share", "order", "predictor"]
    index = pd.MultiIndex.from_product([["a", "b"], [False, True], [0.0, 0.2], range(4), PREDICTORS], names=names)
    table = pd.DataFrame({"errors": rng.integers(20, 40, len(index))}, index=index).reset_index().assign(epoch=2, n_test=100)
    table.loc[(table["kernel"] == "a") & (table["predictor"] == "average"), "errors"] += 300
    return table


def test_noise_is_told_by_students_test():
    table = noise_table()
    found = tables.against_final(table, 2)
    part = table.query("kernel == 'b' and threshold and share == 0.2").pivot(
        index="order", columns="predictor", values="errors"
    )
    row = found.query("kernel == 'b' and threshold and share == 0.2 and predictor == 'voted'").iloc[0]
    test = statistics.student((part["voted"] - part["final"]) / 100, varies="visiting orders")
    assert (row["estimate"], row["low"]) == pytest.approx((test.estimate, test.low)) and len(found) == 24
    assert set(found.query("kernel == 'a' and predictor == 'average'")["verdict"]) == {tables.HIGHER}
    assert set(found.query("kernel == 'b'")["verdict"]) == {tables.UNTOLD}


def test_figures_draw_what_they_are_given():
    wrong, degrees = random_wrong(n=200), (2, 3, 5)
    runs = runs_of(wrong, degrees)
    by_epoch = figures.figure_by_epoch(runs)
    assert [axis.get_title() for axis in by_epoch.axes] == [f"degree {d}, 4 orders" for d in degrees]
    line = by_epoch.axes[0].lines[0]
    np.testing.assert_allclose(line.get_ydata(), 100 * wrong[:, 0, 0].mean(axis=(0, 2)))
    means = tables.with_intervals(tables.spread(runs, 2), wrong, degrees)
    verdicts = tables.among_predictors(wrong, degrees, [1, 2])
    chosen = tables.choices(runs.assign(held=runs["errors"]), runs, ["order"])
    drawn = (
        figures.figure_answer(means, tables.among_epochs(wrong)),
        figures.figure_among_predictors(verdicts),
        figures.figure_selection(tables.counts_chosen(chosen.query("among == 'all four'")), chosen, 200),
        figures.figure_digits(pd.DataFrame([[0.1, 0.2], [0.3, 0.0]], columns=[2, 3]), np.array([[9.0, 0.4], [1.6, 8.0]])),
    )
    left, right = drawn[-1].axes
    assert [text.get_text() for text in left.texts] == ["10.0", "20.0", "30.0", "0.0"]
    assert sorted(text.get_text() for text in right.texts if text.get_text()) == ["2", "8", "9"]
    assert all(isinstance(figure, Figure) for figure in drawn)


INDEPENDENT = {1: (159, 159, 155), 2: (161, 163, 161), 3: (164, 140, 166)}
"""Test errors of final, average and minimizing predictors, degree 4, ten epochs, by order (seeds 104, 204, 304), as an
independent program has counted them."""


def test_published_orders_agree_with_an_independent_program():
    runs = experiment.runs(experiment.settings())["runs"].query("degree == 4 and epoch == 10")
    errors = runs.pivot(index="order", columns="predictor", values="errors")[["final", "average", "minimizing"]]
    assert {order: tuple(errors.loc[order]) for order in INDEPENDENT} == INDEPENDENT


def test_published_orders_begin_with_the_published_run():
    results = experiment.runs(experiment.settings())
    runs = mnist.degrees(mnist.PUBLISHED)
    for d, degree in enumerate(experiment.CURVED):
        expected = runs["arrays"][degree - 1]["predictions"].transpose(2, 0, 1)
        np.testing.assert_array_equal(results["arrays"][0]["predictions"][:, d], expected)
    linear = results["arrays"][experiment.N_ORDERS]["predictions"][:, 0]
    np.testing.assert_array_equal(linear, runs["arrays"][0]["predictions"].transpose(2, 0, 1))


VERDICTS = {
    "degrees-above-3": "holds in part",
    "final-worse": "holds in part",
    "no-digit": "does not hold",
    "similar": "holds in part",
    "uncertainty": "holds in part",
    "ensemble": "holds",
}


@pytest.fixture(scope="module")
def said():
    stored_labels()
    return claims.statements().assign(key=lambda rows: rows["key"].str.rpartition("/")[2]).set_index("key")


def test_what_is_said_of_test_errors_is_judged_by_all_orders(said):
    assert said["verdict"].to_dict() == VERDICTS and set(said["chapter"]) == {"mnist"}
    assert said.loc[["uncertainty", "ensemble"], "place"].tolist() == 2 * ["final report, section 6"]


def test_the_verdicts_rest_on_these_numbers():
    stored_labels()
    wrong = published.wrong()
    _, above = claims.degrees_above_3(wrong)
    assert [above[f"gap_{degree}"] for degree in (4, 5, 6)] == ["+0.01", "+0.12", "+0.27"]
    assert above["interval_4"] == "−0.05 to +0.07" and above["higher"] == "5 and 6"
    _, final = claims.final_worse(wrong)
    assert (final["average_first"], final["average_last"]) == ("0.52 to 0.95", "0.04 to 0.39")
    assert (final["average_told"], final["minimizing_told"]) == ("2 to 5", "2 and 3")
    _, digits = claims.no_digit(wrong, published.labels())
    assert (digits["hard"], digits["high"], digits["rejected"]) == (9, "2.50 %", "2 to 6")


def test_degrees_are_named_one_by_one_or_as_a_range():
    named = [claims.named(degrees) for degrees in ([], [4], [2, 5], [2, 4, 5], [3, 4, 5])]
    assert named == ["none", "4", "2 and 5", "2, 4 and 5", "3 to 5"]


def test_a_statement_that_no_test_contradicts_is_not_held_to_be_true():
    rng = np.random.default_rng(0)
    noise = rng.random((3, 5, 4, 2, 300)) < 0.1
    assert claims.no_digit(noise, rng.integers(10, size=300))[0] == "cannot be told"
    assert claims.degrees_above_3(noise)[0] == "cannot be told"


def test_the_headline_on_the_first_page():
    stored_labels()
    wrong, table = published.wrong(), published.honest()
    shown = (100 * table[["estimate", "low", "high"]]).round(2)
    assert shown.loc["average"].tolist() == [1.58, 1.37, 1.80] and table.loc["average", "degrees"] == "3 (10), 4 (10)"
    assert shown.loc[tables.ALL_FOUR].tolist() == [1.62, 1.40, 1.83]
    assert shown.loc[tables.BY_MEAN].tolist() == [1.57, 1.35, 1.79] and table.loc[tables.BY_MEAN, "degrees"] == "3 (20)"
    assert table.loc[tables.ALL_FOUR, list(PREDICTORS)].tolist() == [1, 5, 11, 3]
    sides = tables.differences_to(tables.among_degrees(wrong, experiment.CURVED, "average"), 3).set_index("degree")[
        "verdict"
    ]
    assert sides.to_dict() == {2: tables.HIGHER, 4: tables.UNTOLD, 5: tables.HIGHER, 6: tables.HIGHER}
    needed = tables.settled_by_degree(wrong, experiment.CURVED).set_index("predictor")
    assert needed["mean"].tolist() == [9, 7, 7, 7] and needed.loc["average", [2, 3, 4, 5, 6]].tolist() == [9, 7, 8, 7, 6]
    machine = claims.learner("RBF SVM") != published.labels()
    gap = published.against(machine)
    assert gap.low < 0 < gap.high < claims.ALIKE and not machine.mean() > 0.02
    last = tables.among_predictors(wrong, experiment.CURVED, [1, 10]).query("epoch == 10")
    worse = last[(last["predictor"] == "final") & (last["verdict"] == tables.HIGHER)]
    assert worse["degree"].tolist() == [2, 3, 4, 5]


def stored_labels():
    """The classes of the test images, or the test is skipped where the files are absent."""
    try:
        return datasets.load("mnist", download=False).class_indices_test
    except datasets.DataError as error:
        pytest.skip(f"mnist is not here: {error}")
