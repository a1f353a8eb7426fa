"""The MNIST chapters: counts against literal ones, golden tables on the digits, what figures draw, and the published study.

The tests that need the images themselves belong to `make test-all`, and are skipped where the raw files are absent.
"""

import re
from collections import Counter
from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex
from scipy.stats import binomtest, fisher_exact

from kp import PREDICTORS, OneVsAllKernelPerceptron
from kp.mistakes import MistakeLog
from study import datasets, statistics
from study.mnist import claims, experiment, facts, figures, over_orders, tables
from study.mnist.experiment import PUBLISHED, Settings, SixDegrees, run_together
from study.results import store
from study.style import PREDICTOR_COLOURS


def digits(degree, n_epochs=2, **options):
    return Settings(dataset="digits", degree=degree, n_epochs=n_epochs, **options)


def run(*settings, threads=2, memory_budget=2**28):
    """The results of settings on the same examples, without the store."""
    return run_together(list(settings), threads=threads, memory_budget=memory_budget)


def assert_same(a, b):
    """Every count, prediction and mistake of two results is the same."""
    for name in experiment.degrees.tables:
        pd.testing.assert_frame_equal(a[name], b[name])
    np.testing.assert_equal(a["arrays"], b["arrays"])


def assert_same_logs(logs, others):
    np.testing.assert_equal([vars(log) for log in logs], [vars(log) for log in others])


@pytest.fixture(scope="module")
def three():
    """Degrees 1 to 3 on 300 digits, three epochs: {name: table}, with lists of arrays and of logs."""
    results = run(*(digits(degree, 3, n_train=300) for degree in (1, 2, 3)))
    found = {name: pd.concat([r[name] for r in results], ignore_index=True) for name in experiment.degrees.tables}
    arrays = [r["arrays"] for r in results]
    return found | {"arrays": arrays, "logs": [experiment.logs_from_arrays(a) for a in arrays]}


# Settings.


def test_all_means_every_training_example_and_degree_seeds_with_the_degree():
    assert digits(4, n_train="all") == digits(4, n_train=1200, random_state=4)
    assert Settings(degree=2, random_state=0).random_state == 0


def test_more_images_than_there_are_and_too_few_to_show_all_digits_are_refused():
    with pytest.raises(ValueError, match=re.escape("n_train must be an integer in 10..1200, got 1201")):
        digits(3, n_train=1201)
    with pytest.raises(ValueError, match="the first 9 images must show all 10 classes; raise n_train"):
        experiment.shared_training(datasets.load("digits"), 9)


# Counts.


def test_every_count_equals_the_literal_count_over_scores_of_the_estimator():
    (result,) = run(digits(3, n_train=400))
    data = datasets.load("digits")
    model = OneVsAllKernelPerceptron(
        degree=3, gamma=1, max_iter=2, random_state=3, stop_if_separated=False, count_errors=True
    )
    model.fit(data.X[:400], data.y[:400])
    parts = {"train": (data.X[:400], data.y[:400]), "test": (data.X_test, data.y_test)}
    multiclass = Counter()
    binary = Counter()
    confusion = Counter()
    for (p, name), epoch, (split, (X, y)) in product(enumerate(PREDICTORS), (1, 2), parts.items()):
        scores = model.decision_function(X, predictor=name, epoch=epoch)
        predicted = scores.argmax(axis=1)
        multiclass[3, epoch, name, split] = np.count_nonzero(predicted != y)
        for digit in range(10):
            binary[3, epoch, digit, name, split] = np.count_nonzero(np.where(y == digit, 1, -1) * scores[:, digit] <= 0)
        if split == "test":
            confusion.update((3, epoch, name, *pair) for pair in zip(y.tolist(), predicted.tolist(), strict=True))
            np.testing.assert_array_equal(result["arrays"]["predictions"][p, epoch - 1], predicted)
    expected = {"multiclass": multiclass, "binary": binary, "confusion": confusion}
    for name, keys in KEYS.items():
        found = result[name].set_index(keys)["count" if name == "confusion" else "errors"]
        assert found.index.is_unique and found.index.is_monotonic_increasing
        assert (found.to_dict() if name != "confusion" else found[found > 0].to_dict()) == expected[name]
    assert_same_logs(experiment.logs_from_arrays(result["arrays"]), model.mistakes_)


KEYS = {
    "multiclass": ["degree", "epoch", "predictor", "split"],
    "binary": ["degree", "epoch", "digit", "predictor", "split"],
    "confusion": ["degree", "epoch", "predictor", "true", "predicted"],
}


def test_settings_computed_together_give_the_bits_of_each_alone():
    settings = [
        digits(2, 1, n_train=100),
        digits(4, 1, n_train=100),
        digits(3, 1, n_train=100),
        digits(2, 2, n_train=100),
        digits(2, 1, n_train=120),
        digits(2, 1, n_train=100, random_state=9),
    ]
    for result, s in zip(experiment.degrees.compute(settings), settings, strict=True):
        assert_same(result, run(s)[0])


@pytest.mark.parametrize("degree", [1, 3])
def test_threads_and_budgets_change_no_bit_of_a_result(degree):
    first, *others = (
        run(digits(degree, n_train=200), threads=threads, memory_budget=budget)[0]
        for threads, budget in ((2, 2**28), (1, 2**28), (2, 4 * 200), (1, 4 * 200 * 37))
    )
    for other in others:
        assert_same(first, other)


@pytest.mark.parametrize(("n", "kind"), [(60_000, np.uint16), (2**16, np.uint32), (10**6, np.uint32)])
def test_the_largest_example_and_error_count_of_n_examples_survive_the_arrays(three, n, kind):
    log = three["logs"][1][0]
    log = replace(log, example=log.example + n - 1 - log.example.max(), errors=log.errors + n - log.errors.max())
    arrays = experiment.log_arrays([log, log])
    assert_same_logs(experiment.logs_from_arrays(arrays), [log, log])
    assert arrays["errors"].dtype == kind and arrays["step_gaps"].dtype == np.uint32


def test_the_steps_of_a_very_long_run_survive_the_arrays(three):
    log = three["logs"][1][0]
    log = replace(log, step=log.step + 2**33)
    assert_same_logs(experiment.logs_from_arrays(experiment.log_arrays([log, log])), [log, log])


def test_predictions_of_more_than_256_classes_are_not_cut():
    y = np.arange(300)
    X = np.stack([y, 300 - y], axis=1)
    assert experiment.nearest_neighbours(X, y, X)[0, 0].tolist() == y.tolist()
    count = experiment._Counts(1, 300, 300)
    count.add(1, {"final": -np.abs(y[:, None] - y)[None].astype(float)}, y, slice(None))
    assert count.predictions[0, 0].tolist() == y.tolist() and count.multiclass.sum() == 0


# Tables. Golden numbers: 300 digits, degrees 1 to 3, three epochs.


def test_the_ranking_takes_the_fewest_errors_the_lowest_degree_and_the_earliest_epoch(three):
    best = tables.ranking(three["multiclass"])
    assert best[["predictor", "degree", "epoch", "errors"]].to_numpy().tolist() == [
        ["voted", 3, 3, 65], ["average", 3, 3, 68], ["minimizing", 3, 3, 70], ["final", 3, 3, 81],
    ]  # fmt: skip
    np.testing.assert_allclose(best[["low", "high"]].T, np.array(statistics.exact(best["errors"], 597)))
    tied = pd.DataFrame({"degree": [3, 2, 2], "epoch": [1, 3, 2]}).assign(predictor="final", split="test", errors=5, n=9)
    assert tables.ranking(tied)[["degree", "epoch"]].to_numpy().tolist() == [[2, 2]]
    by_digit = tables.binary_errors(three["binary"].query("degree == 2"), 3)
    assert by_digit["average"].tolist() == [17, 33, 13, 30, 6, 26, 9, 9, 26, 27]


def test_eighteen_predictors_are_ranked_at_their_best_epochs(three):
    counts = three["multiclass"]
    found = tables.eighteen(counts)
    assert found["rank"].tolist() == list(range(1, 10)) and found["errors"].is_monotonic_increasing
    assert "voted" not in set(found["predictor"])
    for row in found.itertuples():
        own = counts[(counts["predictor"] == row.predictor) & (counts["degree"] == row.degree)]
        test, train = (own[own["split"] == split].set_index("epoch")["errors"] for split in ("test", "train"))
        assert row.errors == test.min() and row.epoch == test.idxmin() and row.training == train[row.epoch]


def test_confusions_are_counted_at_the_best_degree_and_epoch_and_only_wrong_answers_are_drawn():
    run = SixDegrees(dataset="digits", n_epochs=2, n_train=300)
    best = facts.best(run)
    stored = facts.six_degrees(run)["confusion"].set_index(["predictor", "degree", "epoch"]).sort_index()
    found = facts.confusions(run)
    axes = figures.figure_confusions(found).axes
    for name, (title, matrix), axis in zip(("average", "minimizing", "final"), found.items(), axes, strict=True):
        degree, epoch, errors = best.loc[name, ["degree", "epoch", "errors"]]
        counts = stored.loc[(name, degree, epoch)].pivot(index="true", columns="predicted", values="count")
        np.testing.assert_array_equal(matrix, counts)
        drawn = {tuple(int(x) for x in text.get_position()): int(text.get_text()) for text in axis.texts if text.get_text()}
        wrong = {(j, i): matrix[i, j] for i, j in product(range(10), repeat=2) if i != j and matrix[i, j]}
        assert axis.get_title() == title == f"{name}, degree {degree}" and drawn == wrong and sum(drawn.values()) == errors


def test_our_error_stands_among_the_printed_ones_in_their_order():
    printed = store.published("mnist_literature", dtype=str)
    found = tables.literature(printed, 0.0158)
    assert found["test error"].str.removesuffix(" %").astype(float).is_monotonic_decreasing
    assert len(found) == len(printed) + 1 and "12.0 %" in set(found["test error"])
    (own,) = found[found["source"] == "this report"].itertuples(index=False)
    assert own[2] == "1.58 %" and own[0].startswith("Kernel perceptron")


def test_mistakes_and_support_are_counts_of_the_logs(three):
    logs = three["logs"][1]
    made = tables.mistakes_by_digit(logs)
    assert made["mistakes"].tolist() == [len(log) for log in logs]
    assert made["support vectors"].tolist() == [len(np.unique(log.example)) for log in logs]
    assert made["in the last epoch"].tolist() == [(log.step >= 600).sum() for log in logs]
    counts = Counter(t for log in logs for t in log.example.tolist())
    expected = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:4]
    assert tables.mistakes_by_example(logs, 4).to_numpy().tolist() == [list(item) for item in expected]


def test_predictors_in_one_order_are_paired_image_by_image_within_one_family(three):
    labels = datasets.load("digits").class_indices_test
    wrong = np.stack([arrays["predictions"] for arrays in three["arrays"]]) != labels
    table = over_orders.among_predictors(wrong[None], (1, 2, 3), (1, 3))
    assert len(table) == 18 and table["p_same"].isna().all() and over_orders.SAME not in set(table["verdict"])
    first = table.loc[table["p"].idxmin()]
    a, b = (
        wrong[first["degree"] - 1, PREDICTORS.index(name), first["epoch"] - 1] for name in (first["predictor"], "average")
    )
    assert first["p"] == pytest.approx(18 * binomtest((a & ~b).sum(), (a ^ b).sum()).pvalue)
    assert first["estimate"] == pytest.approx((a.sum() - b.sum()) / len(labels))


def test_halves_are_compared_by_fishers_test():
    wrong = np.zeros(100, dtype=bool)
    wrong[:12] = wrong[60:63] = True
    table = tables.halves({"a": wrong, "b": ~wrong}, 50)
    assert table[["name", "first", "last"]].to_numpy().tolist() == [["a", 12, 3], ["b", 38, 47]]
    assert table["p"].tolist() == pytest.approx([2 * fisher_exact([[12, 38], [3, 47]]).pvalue] * 2)


# Nearest neighbours.


def test_nearest_neighbours_are_those_of_a_double_loop(monkeypatch):
    monkeypatch.setattr(experiment, "ROWS", 7)
    generator = np.random.RandomState(3)
    X = generator.randint(4, size=(60, 3))
    X_test = generator.randint(4, size=(20, 3))
    y = generator.randint(4, size=60)
    found = experiment.nearest_neighbours(X, y, X_test)
    for t, x in enumerate(X_test):
        distance = [((x - each) ** 2).sum() for each in X]
        angle = [-((x @ each) ** 2) / max(1, each @ each) for each in X]
        for m, values in enumerate((distance, angle)):
            near = y[np.argsort(values, kind="stable")[:3]].tolist()
            assert found[m, :, t].tolist() == [near[0], max(sorted(near), key=near.count)]


# Figures draw the numbers of their tables.


def test_the_log_is_drawn_as_ranges_and_predictors_are_marked_where_they_were_found(three):
    log = three["logs"][1][8]
    (axis,) = figures.figure_errors_along_the_log(log, n=300, title="", parts=4).axes
    _, final, minimizing = axis.get_lines()
    rate = 100 * np.maximum(log.errors, 0.5) / 300
    edges = axis.collections[0].get_paths()[0].vertices[:, 1]
    assert (edges.min(), edges.max()) == pytest.approx((rate.min(), rate.max()))
    np.testing.assert_allclose(final.get_xydata().T, [[1, 2, 3], [rate[log.length(e) - 1] for e in (1, 2, 3)]])
    np.testing.assert_allclose(minimizing.get_ydata(), [rate[: log.length(e)].min() for e in (1, 2, 3)])


def test_parts_without_a_mistake_keep_the_predictor_before_them_and_no_error_has_a_dotted_line():
    log = MistakeLog(
        example=np.arange(4), step=np.array([0, 1, 2, 19]), sign=np.ones(4, dtype=np.int8), errors=np.array([8, 4, 0, 6]),
        ends=np.array([10, 20]),
    )  # fmt: skip
    (axis,) = figures.figure_errors_along_the_log(log, n=10, title="", parts=2).axes
    median, nothing = axis.get_lines()[:2]
    assert median.get_ydata().tolist() == [40, 5, 5, 60, 60]
    assert nothing.get_linestyle() == ":" and nothing.get_ydata()[0] == 5


def test_each_degree_has_a_panel_with_a_line_for_each_predictor_and_no_error_is_drawn_at_half_an_image(three):
    table = three["multiclass"].query("split == 'test'").copy()
    table.loc[(table["degree"] == 2) & (table["epoch"] == 3), "errors"] = 0
    figure = figures.figure_six_degrees(table, "test", what="multiclass")
    for axis, (_, rows) in zip(figure.axes, table.groupby("degree"), strict=True):
        drawn = {to_hex(line.get_color()).upper(): line.get_ydata() for line in axis.get_lines()}
        for name, own in rows.groupby("predictor"):
            np.testing.assert_allclose(drawn[PREDICTOR_COLOURS[name]], 100 * np.maximum(own["errors"], 0.5) / 597)


# The published study.


@pytest.fixture(scope="module")
def committed():
    """The committed results; fails if one is absent, damaged or of other code."""
    return experiment.degrees(PUBLISHED)


@pytest.fixture(scope="module")
def files():
    """The source's files of results, what the ledger calls them, and its final report."""
    names = ("multiclass_errors", "binary_errors", "confusion", "files", "final_report")
    return {name: store.published(f"hermans_2021_{name}") for name in names}


@pytest.fixture(scope="module")
def claimed(committed, files):
    """Rows of the ledger, for published tables that may be changed; what the chapter on other learners has is small."""
    nearest = experiment.neighbours(claims.NEAREST)["neighbours"]
    errors = pd.DataFrame({"method": ["linear SVM", "RBF SVM"], "errors": [830, 149], "n_test": 10_000})
    learners = {"errors": errors, "choices": pd.DataFrame({"method": ["linear SVM"] + 4 * ["RBF SVM"]})}
    return lambda printed=files: claims.rows(committed, nearest, learners, printed)


def test_the_claims_are_counts_files_matrices_and_the_final_report(claimed):
    verdicts = claimed()["verdict"].value_counts().to_dict()
    assert verdicts == {"exact": 360 + 240 + 14, "within": 1, "outside": 2, "not comparable": 4}


def test_a_quoted_error_is_compared_where_its_method_is_computed_here(claimed):
    rows = claimed().set_index("key")
    row = rows.loc["hermans-2021/table-2/support-vector-machine-gaussian-kernel-no-preprocessing"]
    assert (row["published"], row["verdict"], row["chapter"], row["choices"]) == (1.4, "within", "lower", 4)
    assert (row["ours"], row["low"], row["high"]) == pytest.approx((1.49, 1.2618, 1.7471))


def test_a_number_that_differs_by_one_is_not_exact(files, claimed):
    changed = {name: table.copy() for name, table in files.items()}
    changed["multiclass_errors"].loc[0, "published"] += 1
    changed["binary_errors"].loc[7, "errors"] += 1
    changed["confusion"].loc[0, "count"] -= 1
    found = claimed(changed)
    before = claimed()
    worse = found[(found["verdict"] != before["verdict"]) & (before["verdict"] == "exact")]
    assert worse["item"].str.split().str[0].tolist() == ["Fig.", "Binary", "Confusion"]


def test_the_place_of_one_run_is_counted_among_the_others_of_its_class():
    counts = [(3, 9, 5, 7, 5), (5, 8, 5, 5, 7), (8, 6, 4, 5, 3), (9, 5, 6, 5, 5)]
    runs = pd.DataFrame(counts, columns=["random_state", *PREDICTORS])
    last = runs.melt("random_state", var_name="predictor", value_name="errors").assign(epoch=2, split="test", n=1000)
    others = [last.assign(epoch=1, errors=100), last.assign(split="train", errors=500)]
    errors = tables.errors_by_seed(pd.concat([last, *others]))
    assert errors.loc[5].to_dict() == {"final": 8, "average": 5, "minimizing": 5, "voted": 7}
    spread = tables.class_spread(errors, 5, 1000).set_index("predictor")
    columns = ["runs", "own", "fewer", "more", "lowest", "highest", "mean"]
    assert spread.loc["final", columns].tolist() == pytest.approx([4, 0.008, 2, 1, 0.005, 0.009, 0.007])
    with pytest.raises(ValueError, match=r"at least 3 runs, one of them with the seed 7, got \[3, 5, 8, 9\]"):
        tables.class_spread(errors, 7, 1000)
