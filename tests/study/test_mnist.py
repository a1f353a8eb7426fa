"""The MNIST chapters: counts against literal ones, golden tables on the digits, what figures draw, and the published study.

The tests that need the images themselves belong to `make test-all`, and are skipped where the raw files are absent.
"""

import re
from dataclasses import replace

import matplotlib
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from scipy.stats import binomtest, fisher_exact, ttest_1samp
from sklearn.neighbors import KNeighborsClassifier

from kp import PREDICTORS, OneVsAllKernelPerceptron
from kp.mistakes import MistakeLog
from study import claims as ledger
from study import datasets
from study.claims import interval
from study.mnist import claims, experiment, figures, statements, tables
from study.mnist.experiment import PUBLISHED, Settings, run_together
from study.style import PREDICTOR_COLOURS

matplotlib.use("agg")

COLUMNS = ("example", "step", "sign", "errors", "ends")


def digits(degree, n_epochs=2, **options):
    return Settings(dataset="digits", degree=degree, n_epochs=n_epochs, **options)


def run(*settings, threads=2, memory_budget=2**28):
    """The results of settings on the same examples, without the store."""
    return run_together(list(settings), threads=threads, memory_budget=memory_budget)


def select(table, **values):
    """The rows of a table with these values."""
    return table[np.all([table[name] == value for name, value in values.items()], axis=0)]


def assert_same(a, b):
    """Every count, prediction and mistake of two results is the same."""
    for name in experiment.degrees.tables:
        pd.testing.assert_frame_equal(a[name], b[name])
    assert a["arrays"].keys() == b["arrays"].keys()
    for name, array in a["arrays"].items():
        assert array.dtype == b["arrays"][name].dtype
        np.testing.assert_array_equal(array, b["arrays"][name], err_msg=name)


def assert_same_logs(logs, others, columns=COLUMNS):
    for log, other in zip(logs, others, strict=True):
        for name in columns:
            np.testing.assert_array_equal(getattr(log, name), getattr(other, name), err_msg=name)


@pytest.fixture(scope="module")
def three():
    """Degrees 1 to 3 on 300 digits, three epochs: {name: table}, with lists of arrays and of logs."""
    results = run(*(digits(degree, 3, n_train=300) for degree in (1, 2, 3)))
    found = {name: pd.concat([r[name] for r in results], ignore_index=True) for name in experiment.degrees.tables}
    arrays = [r["arrays"] for r in results]
    return found | {"arrays": arrays, "logs": [experiment.logs_from_arrays(a) for a in arrays]}


@pytest.fixture(scope="module")
def labels():
    return datasets.load("digits").class_indices_test


# Settings.


def test_the_defaults_are_the_published_runs_of_the_source():
    for degree, s in zip(range(1, 7), PUBLISHED, strict=True):
        assert s == Settings(degree=degree)
        assert (s.dataset, s.n_epochs, s.n_train, s.random_state) == ("mnist", 10, 60000, degree)
    names = [f"mnist_degree_{degree}.npz" for degree in range(1, 7)]
    tables = ["mnist_multiclass.csv", "mnist_binary.csv", "mnist_confusion.csv"]
    assert [path.name for path in experiment.degrees.stored_files()] == tables + names


def test_all_means_every_training_example_and_degree_seeds_with_the_degree():
    assert digits(4, n_train="all") == digits(4, n_train=1200, random_state=4)
    assert Settings(degree=2, random_state=0).random_state == 0


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"dataset": "iris"}, "dataset must be one of mnist, digits, got 'iris'"),
        ({"degree": 0}, "degree must be an integer in 1..40, got 0"),
        ({"degree": 41}, "degree must be an integer in 1..40, got 41"),
        ({"degree": True}, "degree must be an integer in 1..40, got True"),
        ({"degree": 2.0}, "degree must be an integer in 1..40, got 2.0"),
        ({"n_epochs": 0}, "n_epochs must be an integer in 1..1000, got 0"),
        ({"n_epochs": None}, "n_epochs must be an integer in 1..1000, got None"),
        ({"n_train": 60001}, "n_train must be an integer in 10..60000, got 60001"),
        ({"dataset": "digits", "n_train": 1201}, "n_train must be an integer in 10..1200, got 1201"),
        ({"n_train": "every"}, "n_train must be an integer in 10..60000, got 'every'"),
        ({"random_state": -1}, "random_state must be an integer in 0..4294967295, got -1"),
        ({"random_state": "seed"}, "random_state must be an integer in 0..4294967295, got 'seed'"),
    ],
)
def test_parameters_out_of_range_are_refused_with_the_range(parameters, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        Settings(**{"degree": 3} | parameters)


def test_too_few_images_to_show_all_digits_are_refused():
    with pytest.raises(ValueError, match="the first 9 images must show all 10 classes; raise n_train"):
        experiment.shared_training(datasets.load("digits"), 9)


# Counts.


@pytest.mark.parametrize("degree", [1, 3])
def test_every_count_equals_the_literal_count_over_scores_of_the_estimator(degree):
    (result,) = run(digits(degree, n_train=400))
    data = datasets.load("digits")
    options = {"max_iter": 2, "random_state": degree, "stop_if_separated": False, "count_errors": True}
    model = OneVsAllKernelPerceptron(degree=degree, **options).fit(data.X[:400], data.y[:400])
    multiclass, binary, confusion = {}, {}, {}
    for name in PREDICTORS:
        for epoch in (1, 2):
            for split, X, y in (("train", data.X[:400], data.y[:400]), ("test", data.X_test, data.y_test)):
                scores, predictions = model.decision_function(X, predictor=name, epoch=epoch).tolist(), []
                for f, label in zip(scores, y.tolist(), strict=True):
                    predicted = f.index(max(f))
                    predictions.append(predicted)
                    key = (epoch, name, split)
                    multiclass[key] = multiclass.get(key, 0) + (predicted != label)
                    for digit in range(10):
                        wrong = (1 if label == digit else -1) * f[digit] <= 0
                        binary[epoch, digit, name, split] = binary.get((epoch, digit, name, split), 0) + wrong
                    if split == "test":
                        pair = (epoch, name, label, predicted)
                        confusion[pair] = confusion.get(pair, 0) + 1
            assert result["arrays"]["predictions"][PREDICTORS.index(name), epoch - 1].tolist() == predictions
    sizes = {"train": 400, "test": 597}
    for table, expected in ((result["multiclass"], multiclass), (result["binary"], binary)):
        found = table.set_index([c for c in table.columns if c not in ("degree", "errors", "n")])["errors"]
        assert found.to_dict() == expected
        assert (table["degree"] == degree).all() and (table["n"] == table["split"].map(sizes)).all()
    found = result["confusion"].set_index(["epoch", "predictor", "true", "predicted"])["count"]
    assert len(found) == 800 and found[found > 0].to_dict() == confusion
    assert_same_logs(experiment.logs_from_arrays(result["arrays"]), model.mistakes_)


KEYS = {
    "multiclass": ["degree", "epoch", "predictor", "split"],
    "binary": ["degree", "epoch", "digit", "predictor", "split"],
    "confusion": ["degree", "epoch", "predictor", "true", "predicted"],
}


@pytest.mark.parametrize(("name", "rows"), [("multiclass", 8), ("binary", 80), ("confusion", 400)])
def test_a_table_has_a_row_for_every_count_sorted_by_its_categories(three, name, rows):
    table = three[name]
    assert list(table.columns) == KEYS[name] + (["count"] if name == "confusion" else ["errors", "n"])
    assert len(table) == 3 * 3 * rows and not table.duplicated(KEYS[name]).any()
    pd.testing.assert_frame_equal(table, table.sort_values(KEYS[name], ignore_index=True))


def test_the_logs_tell_the_training_errors_of_the_final_and_the_minimizing_predictor(three):
    train = three["binary"].query("split == 'train'").set_index(["degree", "predictor", "digit", "epoch"])["errors"]
    for degree, logs in zip((1, 2, 3), three["logs"], strict=True):
        for digit, log in enumerate(logs):
            for epoch in (1, 2, 3):
                assert train[degree, "final", digit, epoch] == log.errors[log.length(epoch) - 1]
                assert train[degree, "minimizing", digit, epoch] == log.errors[: log.length(epoch)].min()


def test_the_first_epochs_of_a_longer_run_are_the_shorter_run(three):
    shorter = run(*(digits(degree, 1, n_train=300) for degree in (1, 2)))
    for degree, short, arrays in zip((1, 2), shorter, three["arrays"][:2], strict=True):
        first = select(three["multiclass"], degree=degree, epoch=1).reset_index(drop=True)
        pd.testing.assert_frame_equal(short["multiclass"], first)
        np.testing.assert_array_equal(short["arrays"]["predictions"][:, 0], arrays["predictions"][:, 0])


def test_degrees_run_together_give_the_bits_of_each_alone():
    settings = [digits(degree, n_train=150) for degree in (1, 2, 4, 3)]
    for together, s in zip(run(*settings), settings, strict=True):
        assert_same(together, run(s)[0])


def test_settings_of_different_sizes_and_epochs_do_not_mix():
    settings = [
        digits(2, 1, n_train=100),
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


def test_the_largest_example_and_error_count_of_mnist_survive_the_arrays(three):
    log = three["logs"][1][0]
    log = replace(log, example=log.example + 59_999 - log.example.max(), errors=log.errors + 60_000 - log.errors.max())
    assert_same_logs(experiment.logs_from_arrays(experiment.log_arrays([log, log])), [log, log])


# Tables. Golden numbers: 300 digits, degrees 1 to 3, three epochs.

RANKING = {
    "predictor": ["voted", "average", "minimizing", "final"],
    "degree": [3, 3, 3, 3],
    "epoch": [3, 3, 3, 3],
    "errors": [65, 68, 70, 81],
}
BY_EPOCH = [[1, 141, 98, 107, 122], [2, 109, 77, 102, 101], [3, 92, 79, 87, 94]]
AVERAGE_BY_DIGIT = [17, 33, 13, 30, 6, 26, 9, 9, 26, 27]
VERDICTS_OF_STATEMENTS = {"slow": "holds", "online": "holds in part"}
MISTAKES = [15, 36, 18, 18, 22, 28, 10, 21, 64, 38]


def rounded(frame):
    return frame.round(4).to_dict("list")


def test_the_ranking_takes_the_fewest_errors_the_lowest_degree_and_the_earliest_epoch(three):
    best = tables.ranking(three["multiclass"])
    assert rounded(best[["predictor", "degree", "epoch", "errors"]]) == RANKING
    for row in best.itertuples():
        counts = select(three["multiclass"], predictor=row.predictor, split="test")
        order = counts.sort_values(["errors", "degree", "epoch"]).iloc[0]
        assert (row.errors, row.degree, row.epoch) == (order["errors"], order["degree"], order["epoch"])
    low, high = interval(best["errors"], 597)
    assert np.allclose(best["low"], low / 597) and np.allclose(best["high"], high / 597)
    assert np.allclose(best["error"], best["errors"] / 597)
    tied = pd.DataFrame(
        {"degree": [3, 2, 2], "epoch": [1, 3, 2], "predictor": "final", "split": "test", "errors": 5, "n": 9}
    )
    assert tables.ranking(tied)[["degree", "epoch"]].to_numpy().tolist() == [[2, 2]]


def test_errors_by_epoch_and_by_digit_are_the_rows_of_the_tables(three):
    one = three["multiclass"].query("degree == 2")
    table = tables.by_epoch(one, "test")
    assert list(table.columns) == ["epoch", *PREDICTORS] and table.to_numpy().tolist() == BY_EPOCH
    table = tables.by_digit(three["binary"].query("degree == 2"), 3)
    assert list(table.columns) == ["digit", *PREDICTORS] and table["average"].tolist() == AVERAGE_BY_DIGIT


def test_the_estimator_made_again_from_stored_mistakes_misclassifies_the_images_that_were_counted(three, labels):
    data, p = datasets.load("digits"), PREDICTORS.index("average")
    model = experiment.estimator(digits(3, 3)).with_mistakes(data.X[:300], data.y[:300], three["logs"][2])
    predicted = three["arrays"][2]["predictions"][p, 1]
    images = np.flatnonzero(predicted != labels)
    scores = model.decision_function(data.X_test[images], predictor="average", epoch=2)
    counted = select(three["multiclass"], degree=3, epoch=2, predictor="average", split="test")["errors"].item()
    assert len(images) == counted and np.array_equal(scores.argmax(axis=1), predicted[images])


def test_mistakes_and_support_are_counts_of_the_logs(three):
    logs = three["logs"][1]
    made = tables.mistakes_by_digit(logs)
    assert made["mistakes"].tolist() == [len(log.example) for log in logs]
    assert made["support vectors"].tolist() == [len(set(log.example.tolist())) for log in logs]
    assert made["in epoch 1"].tolist() == [int((log.step < 300).sum()) for log in logs]
    assert made["in the last epoch"].tolist() == [int((log.step >= 600).sum()) for log in logs]
    everything = [t for log in logs for t in log.example.tolist()]
    assert tables.support_size(logs) == len(set(everything))
    hardest = tables.hardest(logs, 4)
    expected = sorted({(-everything.count(t), t) for t in everything})[:4]
    assert hardest[["mistakes", "example"]].to_numpy().tolist() == [[-count, t] for count, t in expected]
    assert made["mistakes"].tolist() == MISTAKES


@pytest.fixture(scope="module")
def wrong(three, labels):
    return np.stack([arrays["predictions"] for arrays in three["arrays"]]) != labels


def test_predictors_are_paired_image_by_image_within_one_family(three, wrong):
    table = tables.against_average(wrong, (1, 2, 3), (1, 3))
    assert len(table) == 18 and set(table["adjusted"]) == {"Holm over 18"}
    raw = {}
    for row in table.itertuples():
        a, b = (wrong[row.degree - 1, PREDICTORS.index(name), row.epoch - 1] for name in (row.predictor, "average"))
        assert (row.errors, row.average) == (a.sum(), b.sum()) and row.estimate == pytest.approx((a.sum() - b.sum()) / 597)
        raw[row.Index] = binomtest(int((a & ~b).sum()), int((a ^ b).sum())).pvalue if (a ^ b).any() else 1.0
    expected = np.array(sorted(raw.values())) * np.arange(18, 0, -1)
    assert np.allclose(sorted(table["p"]), np.minimum(1, np.maximum.accumulate(expected)))


def test_all_others_of_an_epoch_are_held_against_the_best(three, wrong):
    best = tables.ranking(three["multiclass"]).iloc[0]
    table = tables.against_best(wrong, (1, 2, 3), best, 3)
    assert len(table) == 11 and (table["best"] == best["errors"]).all() and set(table["adjusted"]) == {"Holm over 11"}
    assert not ((table["degree"] == best["degree"]) & (table["predictor"] == best["predictor"])).any()
    assert len(tables.against_best(wrong, (1, 2, 3), best, 1)) == 12


def test_halves_are_compared_by_fishers_test_and_the_mixture_of_digits_is_told_apart():
    wrong = np.zeros(100, dtype=bool)
    wrong[:12] = wrong[60:63] = True
    table = tables.halves({"a": wrong, "b": ~wrong}, 50)
    assert table[["name", "first", "last"]].to_numpy().tolist() == [["a", 12, 3], ["b", 38, 47]]
    assert table["ratio"].tolist() == pytest.approx([4, 38 / 47])
    p = fisher_exact([[12, 38], [3, 47]]).pvalue
    assert table["p"].tolist() == pytest.approx([min(1, 2 * p)] * 2)


def test_a_committee_votes_and_knows_where_it_agrees():
    predictions, labels = np.array([[0, 1, 2, 2], [0, 1, 1, 0], [0, 2, 1, 1]]), np.array([0, 1, 1, 2])
    found = tables.committee(predictions, labels, 3)
    assert found["wrong"].tolist() == [False, False, False, True] and found["agree"].tolist() == [True, False, False, False]


def test_the_comparisons_are_those_of_the_tables():
    study = experiment.Study(dataset="digits", n_epochs=2, n_train=200)
    compared, results = experiment.comparisons(study), experiment.degrees(study.runs())
    paired, committee = compared["paired"], compared["committee"]
    assert paired["family"].value_counts().to_dict()["average"] == 36 and set(paired["epoch"]) == {1, 2}
    labels = datasets.load("digits").class_indices_test
    wrong = np.stack([arrays["predictions"] for arrays in results["arrays"]]) != labels
    best = tables.ranking(results["multiclass"]).iloc[0]
    assert committee["n"].sum() == 597 and committee["best"].sum() == best["errors"]
    difference = committee["majority"].sum() - committee["best"].sum()
    assert difference == committee["only_majority"].sum() - committee["only_best"].sum()
    expected = tables.against_best(wrong, experiment.DEGREES, best, 2)["errors"].tolist()
    assert paired.query("family == 'best'")["errors"].tolist() == expected


def test_a_row_for_each_degree_holds_its_mistakes_and_its_errors(three):
    found = tables.over_degrees(three["multiclass"], three["logs"], (1, 3))
    assert found["degree"].tolist() == [1, 2, 3]
    assert found["mistakes"].tolist() == [sum(map(len, logs)) for logs in three["logs"]]
    assert (found["support"] <= 300).all() and (found["support"] <= found["mistakes"]).all()
    row = found.iloc[2]
    assert (
        row["training"]
        == select(three["multiclass"], degree=3, epoch=3, predictor="average", split="train")["errors"].item()
    )
    for name, epoch in (("final", 1), ("average", 3)):
        rows = select(three["multiclass"], degree=3, epoch=epoch, predictor=name, split="test")
        assert row[f"{name}, epoch {epoch}"] == rows["errors"].item() / rows["n"].item()


def test_a_file_of_binary_errors_counts_for_as_many_numbers_as_it_holds():
    claims = pd.DataFrame(
        [
            ("Fig. 5 (a)", "exact", 60000, 5), ("Fig. 6 (a)", "outside", 10000, 5),
            ("Binary errors (files behind Figs 3 and 4)", "outside", 60, 58),
            ("Confusion matrices (files)", "exact", 100, 100),
            ("Final report, Table 1", "exact", 6, 3), ("Final report, Table 2", "exact", 6, 3),
            ("Section 2", "degenerate", 1, 1),
        ],
        columns=["item", "verdict", "n", "ours"],
    )  # fmt: skip
    found = tables.replicated(claims)
    assert found["numbers"].tolist() == [2, 60, 1, 0, 1] and found["the same"].tolist() == [1, 58, 1, 0, 1]


# Nearest neighbours.


@pytest.mark.parametrize("rows", [7, 256])
def test_nearest_neighbours_are_those_of_a_double_loop(monkeypatch, rows):
    monkeypatch.setattr(experiment, "ROWS", rows)
    generator = np.random.RandomState(3)
    X, X_test = generator.randint(4, size=(60, 3)), generator.randint(4, size=(20, 3))
    y = generator.randint(4, size=60)
    found = experiment.nearest_neighbours(X, y, X_test)
    for t, x in enumerate(X_test.tolist()):
        distance = [(sum((a - b) ** 2 for a, b in zip(x, each, strict=True)), i) for i, each in enumerate(X.tolist())]
        inner = [sum(a * b for a, b in zip(x, each, strict=True)) for each in X.tolist()]
        angle = [(-s * s / max(1, sum(a * a for a in X[i].tolist())), i) for i, s in enumerate(inner)]
        for m, values in enumerate((distance, angle)):
            near = [y[i] for _, i in sorted(values)[:3]]
            assert found[m, 0, t] == near[0] and found[m, 1, t] == max(sorted(near), key=near.count)


def test_three_neighbours_of_three_classes_have_the_lowest_class_as_in_scikit_learn():
    X, y, X_test = np.array([[1], [2], [3], [9]]), np.array([2, 0, 1, 3]), np.array([[0]])
    oracle = KNeighborsClassifier(3, algorithm="brute").fit(X, y)
    found = experiment.nearest_neighbours(X, y, X_test)[0, :, 0]
    assert found.tolist() == [2, 0] and found[1] == oracle.predict(X_test)


def test_nearest_neighbours_of_the_digits_are_those_of_scikit_learn():
    table, data = experiment.neighbours(experiment.NeighbourSettings("digits"))["neighbours"], datasets.load("digits")
    for place, neighbours in enumerate((1, 3)):
        oracle = KNeighborsClassifier(neighbours, algorithm="brute").fit(data.X, data.y)
        assert table["errors"].iloc[place] == (oracle.predict(data.X_test) != data.y_test).sum()
    assert table["errors"].tolist() == [21, 18, 23, 21] and (table["n"] == 597).all()


# Figures draw the numbers of their tables.


def lines(axis, colour):
    """The lines of an axis in this colour, as lists of their values of y."""
    return [
        np.asarray(line.get_ydata(), dtype=float) for line in axis.get_lines() if to_hex(line.get_color()).upper() == colour
    ]


def assert_drawn(figure):
    assert isinstance(figure, Figure) and figure.drawn_by.startswith("study.mnist.figures.figure_")
    figure.canvas.draw()


def test_error_by_epoch_draws_training_and_test_errors_in_percent_with_intervals(three):
    one = three["multiclass"].query("degree == 2")
    figure = figures.figure_error_by_epoch(one, what="multiclass")
    assert_drawn(figure)
    for axis, split, n in zip(figure.axes, ("train", "test"), (300, 597), strict=True):
        for name in PREDICTORS:
            errors = one[(one["predictor"] == name) & (one["split"] == split)]["errors"].to_numpy()
            (line,) = lines(axis, PREDICTOR_COLOURS[name])
            assert np.allclose(line, 100 * errors / n)
    assert [len(axis.collections) for axis in figure.axes] == [0, 1]
    band = figure.axes[1].collections[0].get_paths()[0].vertices
    low, high = interval(one.query("predictor == 'average' and split == 'test'")["errors"], 597)
    assert band[:, 1].min() == pytest.approx(100 * low.min() / 597) and band[:, 1].max() == pytest.approx(
        100 * high.max() / 597
    )
    assert [axis.get_ylabel() for axis in figure.axes] == ["multiclass training error (%)", "multiclass test error (%)"]


def test_a_gallery_shows_each_image_under_its_title_and_hides_what_is_left():
    X = datasets.load("digits").X[:12]
    figure = figures.figure_gallery(X, [str(i) for i in range(12)])
    assert_drawn(figure)
    shown = [axis for axis in figure.axes if axis.get_visible()]
    assert [axis.get_title() for axis in shown] == [str(i) for i in range(12)] and len(figure.axes) == 20
    for axis, image in zip(shown, X, strict=True):
        assert np.array_equal(axis.images[0].get_array().ravel(), image)


def test_the_log_is_drawn_as_ranges_and_predictors_are_marked_where_they_were_found(three):
    log = three["logs"][1][8]
    figure = figures.figure_errors_along_the_log(log, n=300, title="digit 8", parts=4)
    assert_drawn(figure)
    (band,), (median, final, minimizing) = figure.axes[0].collections, figure.axes[0].get_lines()
    rate, part, standing = 100 * np.maximum(log.errors, 0.5) / 300, log.step * 4 // 300, []
    for p in range(12):
        made = rate[part == p]
        standing.append(np.median(made) if len(made) else rate[part < p][-1])
    assert np.allclose(median.get_ydata(), [*standing, standing[-1]]) and median.get_drawstyle() == "steps-post"
    assert np.allclose(median.get_xdata(), np.arange(13) / 4)
    edges = band.get_paths()[0].vertices[:, 1]
    assert edges.min() == pytest.approx(rate.min()) and edges.max() == pytest.approx(rate.max())
    assert final.get_xdata().tolist() == [1, 2, 3]
    assert np.allclose(final.get_ydata(), [rate[log.length(e) - 1] for e in (1, 2, 3)])
    assert np.allclose(minimizing.get_ydata(), [rate[: log.length(e)].min() for e in (1, 2, 3)])
    assert np.isin(minimizing.get_xdata(), log.step / 300).all()


def test_parts_without_a_mistake_keep_the_predictor_before_them_and_no_error_has_a_dotted_line():
    log = MistakeLog(
        example=np.arange(4), step=np.array([0, 1, 2, 19]), sign=np.ones(4, dtype=np.int8), errors=np.array([8, 4, 0, 6]),
        ends=np.array([10, 20]),
    )  # fmt: skip
    (axis,) = figures.figure_errors_along_the_log(log, n=10, title="", parts=2).axes
    median, nothing = axis.get_lines()[:2]
    assert median.get_ydata().tolist() == [40, 5, 5, 60, 60] and nothing.get_linestyle() == ":"
    assert nothing.get_ydata()[0] == 5
    (axis,) = figures.figure_errors_along_the_log(log.with_errors([8, 4, 1, 6]), n=10, title="", parts=2).axes
    assert not [line for line in axis.get_lines() if line.get_linestyle() == ":"]


@pytest.mark.parametrize("split", ["train", "test"])
def test_each_degree_has_a_panel_with_a_line_for_each_predictor_and_no_error_is_drawn_at_half_an_image(three, split):
    table = three["multiclass"].copy()
    table.loc[(table["degree"] == 2) & (table["epoch"] == 3), "errors"] = 0
    figure = figures.figure_six_degrees(table, split, what="multiclass")
    assert_drawn(figure)
    assert [axis.get_title() for axis in figure.axes] == [f"degree {p}" for p in (1, 2, 3)]
    for degree, axis in zip((1, 2, 3), figure.axes, strict=True):
        assert axis.get_yscale() == "log" and len(axis.collections) == (split == "test")
        for name in PREDICTORS:
            rows = select(table, degree=degree, predictor=name, split=split)
            (line,) = lines(axis, PREDICTOR_COLOURS[name])
            np.testing.assert_allclose(line, 100 * np.maximum(rows["errors"], 0.5) / rows["n"])
        assert axis.get_lines()[-1].get_linestyle() == ":"
    assert figure.axes[0].get_ylim() == figure.axes[2].get_ylim()


# The published study.


@pytest.fixture(scope="module")
def committed():
    """The committed results; fails if one is absent, damaged or of other code."""
    results = experiment.degrees(PUBLISHED)
    return results | {"logs": [experiment.logs_from_arrays(arrays) for arrays in results["arrays"]]}


@pytest.fixture(scope="module")
def files():
    """The source's files of results, and its final report."""
    names = ("multiclass_errors", "binary_errors", "confusion")
    return {name: ledger.published(f"hermans_2021_{name}") for name in names}, ledger.published(claims.FINAL_REPORT)


@pytest.fixture(scope="module")
def nearest():
    return experiment.neighbours(claims.NEAREST)["neighbours"]


@pytest.fixture(scope="module")
def learners():
    """What the chapter on other learners has stored, small."""
    errors = pd.DataFrame({"method": ["linear SVM", "RBF SVM"], "errors": [830, 149], "n_test": 10_000})
    return {"errors": errors, "choices": pd.DataFrame({"method": ["linear SVM"] + 4 * ["RBF SVM"]})}


def test_every_published_count_is_reproduced(committed, files):
    published = files[0]["multiclass_errors"]
    assert len(published) == 360 and not published.duplicated(["degree", "epoch", "predictor", "split"]).any()
    both = tables.published_with_ours(committed["multiclass"], published)
    assert len(both) == 360 and both["errors_published"].tolist() == both["errors"].tolist()
    keys = ["degree", "epoch", "digit", "predictor", "split", "n"]
    both = files[0]["binary_errors"].merge(committed["binary"], on=keys)
    assert len(both) == 3600 and (both["errors_x"] == both["errors_y"]).all()
    keys = ["degree", "epoch", "predictor", "true", "predicted"]
    some = committed["confusion"].query("count > 0 and predictor != 'voted'")[[*keys, "count"]]
    expected = files[0]["confusion"][[*keys, "count"]].query("count > 0")
    pd.testing.assert_frame_equal(
        some.sort_values(keys, ignore_index=True), expected.sort_values(keys, ignore_index=True), check_dtype=False
    )


def test_the_claims_are_counts_files_matrices_and_the_final_report(committed, files, nearest, learners):
    rows = claims.rows(committed, nearest, learners, *files)
    assert tuple(rows.columns) == ledger.COLUMNS and rows["key"].is_unique
    start = rows["item"].str.split().str[0].replace({"Confusion": "Binary"})
    assert start.value_counts().to_dict() == {"Fig.": 360, "Binary": 240, "Final": 21, "Section": 7}
    verdicts = rows["verdict"].value_counts().to_dict()
    assert verdicts == {"exact": 360 + 240 + 14, "within": 1, "outside": 2, "degenerate": 7, "not comparable": 4}
    row = rows.set_index("key").loc["hermans-2021/fig-6/degree-3/epoch-10/average/test"]
    ours = committed["multiclass"].query("degree == 3 and epoch == 10 and predictor == 'average' and split == 'test'")
    assert (row["published"], row["ours"], row["n"]) == (ours["errors"].item(), ours["errors"].item(), 10000)
    assert row["low"] < row["ours"] < row["high"] and row["item"] == "Fig. 6 (c)" and row["chapter"] == "mnist_degree_3"
    train = rows.set_index("key").loc["hermans-2021/fig-5/degree-3/epoch-10/average/train"]
    assert train["low"] == train["ours"] == train["high"] and train["interval_of"] == ""


def test_a_quoted_error_is_compared_where_its_method_is_computed_here(committed, files, nearest, learners):
    rows = claims.rows(committed, nearest, learners, *files).set_index("key")
    row = rows.loc["hermans-2021/table-2/support-vector-machine-gaussian-kernel-no-preprocessing"]
    assert (row["published"], row["verdict"], row["chapter"], row["choices"]) == (1.4, "within", "lower", 4)
    assert (row["ours"], row["low"], row["high"]) == pytest.approx((1.49, 1.2618, 1.7471))
    quoted = rows[rows["item"] == "Final report, Table 2"].drop(row.name)
    assert quoted["verdict"].tolist() == ["outside"] + 4 * ["not comparable"]
    blurred = quoted.loc["hermans-2021/table-2/nearest-neighbours-deskewing-noise-removal-blurring"]
    assert "the MNIST page, from which it is quoted, has 1.80" in blurred["explanation"]
    cited = ledger.published("mnist_literature").query("preprocessing == 'deskewing, noise removal, blurring'")
    assert cited["test_error_percent"].tolist() == [1.8]


def test_the_misprint_is_the_training_error_of_another_predictor(committed, files, nearest, learners):
    rows = claims.rows(committed, nearest, learners, *files).set_index("key")
    row = rows.loc["hermans-2021/table-1/minimizing/training-error"]
    assert row["verdict"] == "outside" and (row["published"], row["ours"]) == (0.127, 0.04)
    assert "24 of 60,000" in row["explanation"] and "of the average predictor" in row["explanation"]
    others = rows[rows["item"].isin(["Final report, Table 1", "Final report, Abstract"])].drop(row.name)
    assert (others["verdict"] == "exact").all() and (others["explanation"] == "").all()


def test_a_number_that_differs_by_one_is_not_exact(committed, files, nearest, learners):
    changed = {name: table.copy() for name, table in files[0].items()}
    changed["multiclass_errors"].loc[[0, 5], "errors"] += [1, -5000]
    changed["binary_errors"].loc[7, "errors"] += 1
    changed["confusion"].loc[0, "count"] -= 1
    found = claims.rows(committed, nearest, learners, changed, files[1])
    item = found["item"].str.split().str[0]
    assert ((item == "Fig.") & (found["verdict"] == "exact")).sum() == 358
    for start, count in (("Binary", 59), ("Confusion", 99)):
        (row,) = found[(item == start) & (found["verdict"] == "outside")].itertuples()
        assert row.ours == count


def test_every_statement_has_a_verdict_that_follows_from_the_tables():
    table = statements.statements().set_index("key")
    verdicts = {key.rpartition("/")[2]: verdict for key, verdict in table["verdict"].items()}
    assert verdicts == VERDICTS_OF_STATEMENTS
    assert statements.verdict(True, False) == "holds in part"
    assert statements.verdict(False) == "does not hold" and statements.verdict(True, True) == "holds"


def test_the_committed_logs_are_mistakes_and_tell_the_counts_of_their_perceptron(committed):
    train = committed["binary"].query("split == 'train'").set_index(["degree", "predictor", "digit", "epoch"])["errors"]
    for degree, logs in zip(experiment.DEGREES, committed["logs"], strict=True):
        for digit, log in enumerate(logs):
            assert log.n_epochs == 10 and log.step[0] == 0 and np.all(np.diff(log.step) > 0) and log.steps() == 600_000
            for epoch in range(1, 11):
                assert train[degree, "final", digit, epoch] == log.errors[log.length(epoch) - 1]
                assert train[degree, "minimizing", digit, epoch] == log.errors[log.minimizing_length(epoch) - 1]


def test_the_committed_confusion_matrices_predictions_and_errors_agree(committed):
    counts = committed["confusion"]["count"].to_numpy().reshape(6, 10, 4, 10, 10)  # predictors in alphabetical order
    test = committed["multiclass"].query("split == 'test'")["errors"].to_numpy().reshape(6, 10, 4)
    assert np.all(counts.sum(axis=(3, 4)) == 10000)
    np.testing.assert_array_equal(10000 - np.trace(counts, axis1=3, axis2=4), test)
    for degree, arrays in enumerate(committed["arrays"]):
        for k, name in enumerate(sorted(PREDICTORS)):
            for epoch, predicted in enumerate(arrays["predictions"][PREDICTORS.index(name)]):
                np.testing.assert_array_equal(np.bincount(predicted, minlength=10), counts[degree, epoch, k].sum(axis=0))


@pytest.fixture(scope="module")
def images():
    """MNIST as published; skips where its files are absent."""
    absent = [file.path for file in datasets.DATASETS["mnist"].files if datasets.find(file) is None]
    if absent:
        pytest.skip(f"absent from KP_DATA and data/raw: {', '.join(absent)}")
    return datasets.load("mnist", download=False)


@pytest.mark.recompute
def test_the_first_epoch_over_all_images_is_that_of_the_committed_result(images, committed):
    (result,) = run(Settings(degree=3, n_epochs=1), memory_budget=2 * 2**30)
    for name in experiment.degrees.tables:
        expected = committed[name].query("degree == 3 and epoch == 1").reset_index(drop=True)
        pd.testing.assert_frame_equal(result[name], expected)
    whole = committed["arrays"][2]["predictions"][:, 0]
    np.testing.assert_array_equal(result["arrays"]["predictions"][:, 0], whole)
    wrong = dict(zip(PREDICTORS, (whole != images.y_test).sum(axis=1).tolist(), strict=True))
    assert result["multiclass"].query("split == 'test'").set_index("predictor")["errors"].to_dict() == wrong
    for log, longer in zip(experiment.logs_from_arrays(result["arrays"]), committed["logs"][2], strict=True):
        assert len(log) == longer.length(1)
        for column in ("example", "step", "sign", "errors"):
            np.testing.assert_array_equal(getattr(log, column), getattr(longer, column)[: len(log)], err_msg=column)


@pytest.mark.recompute
def test_weight_vectors_over_all_images_err_as_the_committed_result_of_degree_1_says(images, committed):
    ones = [np.hstack([np.ones((len(X), 1)), X]) for X in (images.X, images.X_test)]
    keys = ["predictor", "split"]
    multiclass = committed["multiclass"].query("degree == 1 and epoch == 1").set_index(keys)["errors"]
    binary = committed["binary"].query("degree == 1 and epoch == 1").set_index([*keys, "digit"])["errors"]
    for name in ("final", "average", "minimizing"):
        w = np.zeros((10, 785))
        for a, log in enumerate(committed["logs"][0]):
            m = log.length(1)
            if name == "minimizing":
                m = 1 + int(log.errors[:m].argmin())
            weights = 60_000 - log.step[:m] if name == "average" else np.ones(m)
            w[a] = (weights * log.sign[:m]) @ ones[0][log.example[:m]]
        for split, X, y in (("train", ones[0], images.y), ("test", ones[1], images.y_test)):
            f, z = w @ X.T, np.where(y == np.arange(10)[:, None], 1, -1)
            assert (f.argmax(axis=0) != y).sum() == multiclass[name, split]
            np.testing.assert_array_equal((z * f <= 0).sum(axis=1), binary[name, split].loc[list(range(10))])


@pytest.mark.recompute
@pytest.mark.parametrize("degree", [1, 4])
def test_threads_and_budgets_change_no_bit_on_images(images, degree):
    s = Settings(degree=degree, n_train=2000, n_epochs=2)
    first, *others = (run(s, threads=t, memory_budget=b)[0] for t, b in ((2, 2**28), (1, 2**28), (2, 4 * 2000 * 60)))
    for other in others:
        assert_same(first, other)


CLASS = pd.DataFrame(
    [
        {"random_state": seed, "epoch": epoch, "predictor": name, "split": split, "n": 1000 if split == "test" else 50}
        | {"errors": counts[PREDICTORS.index(name)] + 100 * (epoch == 1) + 500 * (split == "train")}
        for seed, counts in {3: (9, 5, 7, 5), 5: (8, 5, 5, 7), 8: (6, 4, 5, 3), 9: (5, 6, 5, 5)}.items()
        for epoch in (1, 2) for name in PREDICTORS for split in ("train", "test")
    ]
)  # fmt: skip


def test_the_place_of_one_run_is_counted_among_the_others_of_its_class():
    errors = tables.errors_by_seed(CLASS)
    assert errors.loc[5].to_list() == [8, 5, 5, 7] and list(errors.columns) == list(PREDICTORS)
    spread = tables.class_spread(errors, 5, 1000).set_index("predictor")
    final, average = spread.loc["final"], spread.loc["average"]
    assert (final["runs"], final["own"], final["fewer"], final["more"]) == (4, 0.008, 2, 1)
    assert (average["fewer"], average["more"], average["lowest"], average["highest"]) == (1, 1, 0.004, 0.006)
    assert final["mean"] == pytest.approx(0.007) and final["sd"] == pytest.approx(np.std([9, 8, 6, 5], ddof=1) / 1000)
    with pytest.raises(ValueError, match=r"at least 3 runs, one of them with the seed 7, got \[3, 5, 8, 9\]"):
        tables.class_spread(errors, 7, 1000)


def test_predictors_of_a_class_are_compared_run_by_run():
    rows = tables.class_differences(tables.errors_by_seed(CLASS), 1000)
    assert list(rows["predictor"]) == ["final", "minimizing", "voted"]
    assert rows[["fewer", "equal", "more"]].to_numpy().tolist() == [[1, 0, 3], [1, 1, 2], [2, 1, 1]]
    final = rows.iloc[0]
    alone = ttest_1samp([0.004, 0.003, 0.002, -0.001], 0)
    assert final["estimate"] == pytest.approx(0.002) and final["p"] == pytest.approx(min(1, 3 * alone.pvalue))


def test_a_class_is_drawn_with_every_run_and_one_of_them_marked():
    left, right = figures.figure_class(CLASS, 5).axes
    dashed = [line for line in left.lines if line.get_linestyle() == "--"]
    assert [line.get_ydata().tolist() for line in dashed][0] == pytest.approx([10.8, 0.8])
    clouds = [line.get_ydata().tolist() for line in right.lines if len(line.get_ydata()) == 4]
    assert clouds[0] == pytest.approx([0.9, 0.8, 0.6, 0.5]) and len(clouds) == 4
    assert [line.get_ydata()[0] for line in right.lines if len(line.get_ydata()) == 1] == pytest.approx([0.8, 0.5, 0.5, 0.7])
