"""The protocol of course assignments against a literal version: plain loops, the same splits and the same visits."""

import io
import re
import sys
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.neighbors import KNeighborsClassifier

from study import ROOT, datasets
from study.coursework import experiment, figures, tables
from study.coursework.facts import of_run
from study.protocols import own_method
from study.results import runs

KNN = experiment.KNN


@pytest.fixture(autouse=True)
def no_processes():
    """Processes would take longer to start than these small runs to compute."""
    with parallel_config(backend="sequential"):
        yield


SMALL = {"n_examples": 150, "degrees": (1, 2), "n_splits": 2, "n_epochs": 2, "n_folds": 3, "random_state": 5}


def perceptron(K, z, orders):
    """Sums of the final and of all predictors: alpha and its sum after the visits, of which those with z = 0 are skipped."""
    alpha = np.zeros(len(z))
    total = np.zeros(len(z))
    steps = 0
    for t in np.concatenate(orders):
        if z[t]:
            if z[t] * (alpha @ K[:, t]) <= 0:
                alpha[t] += z[t]
            total += alpha
            steps += 1
    return alpha, total / steps


def literal(K, y, scheme, seed, n_epochs, predictor):
    """Function from kernel values (n, m) to answers (m,), learned from K (n, n), y (n,) of the classes 0..9."""
    random = np.random.RandomState(seed)
    n = len(y)
    if scheme == "one-vs-all":
        orders = [[random.permutation(n) for _ in range(10)] for _ in range(n_epochs)]
        signs = [np.where(y == c, 1, -1) for c in range(10)]
        a = [perceptron(K, z, [epoch[c] for epoch in orders])[predictor == "average"] for c, z in enumerate(signs)]
        return lambda across: (np.array(a) @ across).argmax(axis=0)
    orders = [random.permutation(n) for _ in range(n_epochs)]
    a = {
        (c, d): perceptron(K, (y == c) * 1 - (y == d) * 1, orders)[predictor == "average"]
        for c, d in combinations(range(10), 2)
    }

    def answers(across):
        votes = np.zeros((10, across.shape[1]))
        for (c, d), weights in a.items():
            f = np.sign(weights @ across)
            votes[c] += f
            votes[d] -= f
        return votes.argmax(axis=0)

    return answers


@pytest.mark.parametrize("scheme", experiment.SCHEMES)
@pytest.mark.parametrize("predictor", ["final", "average"])
def test_counts_are_those_of_plain_loops_over_the_same_splits_and_visits(scheme, predictor):
    settings = experiment.Settings(scheme=scheme, predictor=predictor, coef0=0, **SMALL)
    found = experiment.coursework.compute(settings)
    X, y = datasets.load_whole("digits")
    drawn, _ = train_test_split(np.arange(len(y)), train_size=150, stratify=y, random_state=5)
    X, y = X[drawn], y[drawn]
    confusion = []
    for place, seed in enumerate(np.random.RandomState(5).randint(2**31, size=2)):
        train, test = train_test_split(np.arange(150), test_size=0.2, stratify=y, random_state=seed)
        folds = list(StratifiedKFold(3, shuffle=True, random_state=seed).split(train, y[train]))
        held = []
        answers = []
        for degree in (1, 2):
            K = (X @ X.T) ** degree

            def answer(own, others, K=K, seed=seed):
                return literal(K[np.ix_(own, own)], y[own], scheme, seed, 2, predictor)(K[np.ix_(own, others)])

            held.append(sum(np.sum(answer(train[a], train[b]) != y[train[b]]) for a, b in folds))
            answers.append(answer(train, test))
            counted = [np.sum(answer(train, train) != y[train]), np.sum(answers[-1] != y[test]), held[-1]]
            own = found["errors"][found["errors"]["repetition"] == place]
            rows = own.query("value == @degree and predictor == @predictor").set_index("split")
            assert rows.loc[["train", "test", "folds"], "errors"].tolist() == counted
            assert rows.loc[["train", "test", "folds"], "n"].tolist() == [120, 30, 120]
        said = answers[int(np.argmin(held))]
        confusion.append(pd.crosstab(y[test], said).stack().rename("examples"))
    ours = found["confusion"].groupby(["label", "answer"])["examples"].sum()
    theirs = pd.concat(confusion).groupby(level=[0, 1]).sum()
    assert ours.to_dict() == theirs[theirs > 0].to_dict()
    wrong = found["confusion"].query("label != answer")["examples"].sum()
    assert found["missed"]["missed"].sum() == wrong > 0 and (found["missed"]["missed"] <= found["missed"]["tested"]).all()


def test_widths_are_in_median_distances_and_take_the_place_of_degrees():
    settings = experiment.Settings(dataset="wine-bundled", widths=(0.5, 2), n_splits=2, n_epochs=2)
    assert settings.varies == "width" and settings.degrees == () and settings.values == (0.5, 2.0)
    X = np.array([[0.0], [1.0], [3.0]])
    model = experiment.learned(settings, X, np.array([0, 1, 1]), 0)[0]
    assert model.gamma_ == pytest.approx(1 / (2 * (0.5 * 2) ** 2))


def test_an_own_method_meets_the_same_splits_and_its_attributes_are_scaled_on_the_training_part_only():
    settings = experiment.Settings(dataset="wine-bundled", method=KNN, degrees=(1,), n_splits=2, n_epochs=1)
    found = experiment.coursework.compute(settings)
    rows = found["errors"].query("method == @KNN and split == 'test'")
    assert of_run(found, settings).methods.loc[KNN, "test_mean"] == (rows["errors"] / rows["n"]).mean()
    X, y = datasets.load_whole("wine-bundled")
    for seed, errors in zip(np.random.RandomState(0).randint(2**31, size=2), rows["errors"], strict=True):
        A, B, y_A, y_B = train_test_split(X, y, test_size=0.2, stratify=y, random_state=seed)
        scale = A.std(axis=0)
        assert errors == np.sum(KNeighborsClassifier().fit(A / scale, y_A).predict(B / scale) != y_B)


def test_the_example_of_the_manual_runs_as_one_command_and_has_its_row(tmp_path, monkeypatch):
    text = (ROOT / "docs" / "RUN.md").read_text(encoding="utf-8").partition("## An estimator of your own")[2]
    (tmp_path / "mine.py").write_text(re.search(r"```python\n(.*?)```", text, re.DOTALL)[1])
    monkeypatch.syspath_prepend(tmp_path)
    (command,) = re.findall(r"-m study run coursework (--dataset wine-bundled .*)", text)
    (settings,) = runs.settings(experiment.coursework, command.split() + "--n-splits 2 --degrees 1 --n-epochs 1".split())
    assert settings.method == "mine:make" and settings.random_state == 7
    found = of_run(experiment.coursework.compute(settings), settings).methods
    assert found.index.tolist() == [experiment.OURS, "mine:make"] and 0 < found.loc["mine:make", "test_mean"] < 0.2
    sys.modules.pop("mine")


def test_the_seed_of_a_split_goes_to_every_step_and_results_depend_on_the_users_file(tmp_path, monkeypatch):
    (tmp_path / "my_learner.py").write_text(
        "from sklearn.dummy import DummyClassifier\nfrom sklearn.pipeline import make_pipeline\n"
        "def make():\n    return make_pipeline(DummyClassifier(strategy='uniform'))\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    settings = experiment.Settings(method="my_learner:make")
    assert own_method.made(settings.method, 7)[0].random_state == 7
    before = experiment.coursework.provenance([settings])["data"]
    (tmp_path / "my_learner.py").write_text("changed")
    after = experiment.coursework.provenance([settings])["data"]
    assert before != after and set(before) == set(after) and own_method.files(experiment.PUBLISHED[0]) == []
    sys.modules.pop("my_learner")


def test_files_in_the_current_folder_are_not_imported_where_python_does_not_look_for_them(tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text("from sklearn.svm import SVC as make")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [each for each in sys.path if each])
    with pytest.raises(ValueError, match="there is no module 'mine' here"):
        own_method.made("mine:make", 0)
    assert "mine" not in sys.modules and str(tmp_path) not in sys.path


@pytest.mark.parametrize(
    ("method", "message"),
    [
        ("sklearn.svm", "method must be written module:factory, as in sklearn.svm:SVC, got 'sklearn.svm'"),
        ("no_such.thing:make", "method no_such.thing:make: there is no module 'no_such.thing' here; start the command"),
        ("sklearn.svm:SVX", "method sklearn.svm:SVX: sklearn.svm has no function or class 'SVX'; correct the name"),
        ("sklearn.svm:SVR", "method sklearn.svm:SVR: it must return a scikit-learn classifier, got SVR"),
    ],
)
def test_a_method_that_cannot_be_made_is_refused(method, message):
    with pytest.raises(ValueError) as error:
        experiment.Settings(method=method)
    assert str(error.value).startswith(message)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"degrees": ()}, "degrees must name at least one"),
        ({"degrees": (2, 2)}, "degree: a value is repeated"),
        ({"widths": (0.0,)}, "widths must be positive"),
        ({"scheme": "pairs"}, "scheme must be one of one-vs-all, one-vs-one, got 'pairs'"),
        ({"n_splits": 1}, "n_splits must be an integer in 2..1000"),
        ({"n_examples": 2000}, "n_examples must be an integer in 50..1797"),
    ],
)
def test_wrong_settings_are_refused(options, message):
    with pytest.raises(ValueError) as error:
        experiment.Settings(**options)
    assert str(error.value).startswith(message)


def rows(*counts, method=experiment.OURS, predictor="average"):
    """Errors of ten examples: (split, value, on, errors)."""
    found = pd.DataFrame(counts, columns=["repetition", "value", "split", "errors"])
    return found.assign(method=method, predictor=predictor, n=10)


ERRORS = pd.concat(
    [
        rows((0, 1, "train", 2), (0, 1, "test", 3), (0, 1, "folds", 4)),
        rows((0, 2, "train", 0), (0, 2, "test", 5), (0, 2, "folds", 4)),
        rows((1, 1, "train", 2), (1, 1, "test", 4), (1, 1, "folds", 5)),
        rows((1, 2, "train", 1), (1, 2, "test", 2), (1, 2, "folds", 3)),
        rows((2, 1, "train", 5), (2, 1, "test", 1), (2, 1, "folds", 5)),
        rows((2, 2, "train", 2), (2, 2, "test", 2), (2, 2, "folds", 3)),
        rows((0, np.nan, "train", 1), (0, np.nan, "test", 4), method="own", predictor="-"),
        rows((1, np.nan, "train", 1), (1, np.nan, "test", 6), method="own", predictor="-"),
        rows((2, np.nan, "train", 1), (2, np.nan, "test", 2), method="own", predictor="-"),
    ]
)  # fmt: skip


def test_folds_choose_ties_go_to_the_first_and_the_choice_is_tested():
    found = tables.choices(ERRORS, "average")
    assert found["value"].tolist() == [1, 2, 2] and found["error"].tolist() == [0.3, 0.2, 0.2]
    assert found["at"].tolist() == [1, 2, 1] and found["lowest"].tolist() == [0.3, 0.2, 0.1]
    shown = tables.errors_table(ERRORS, "average", "degree")
    assert shown["test error (%)"].tolist() == ["26.67 ± 15.28", "30.00 ± 17.32"]
    assert tables.choices_table(ERRORS, "average", "degree").to_numpy().tolist() == [[1, 1, 2], [2, 2, 1]]


def test_another_method_is_compared_split_by_split_with_the_corrected_test():
    ours, own = tables.methods(ERRORS, "average").to_dict("records")
    gaps = np.array([0.1, 0.4, 0.0])
    assert own["estimate"] == pytest.approx(gaps.mean()) and own["test_mean"] == pytest.approx(0.4)
    error = gaps.std(ddof=1) * np.sqrt(1 / 3 + 0.25)
    assert own["high"] - own["estimate"] == pytest.approx(4.302653 * error, rel=1e-5) and np.isnan(ours["estimate"])
    assert tables.methods_table(ERRORS, "average")["difference"].tolist() == ["", "+16.67"]


def test_confusions_are_shares_of_the_class_with_their_spread_over_splits():
    counts = pd.DataFrame(
        [(0, "a", "a", 3), (0, "a", "b", 1), (0, "b", "b", 2), (1, "a", "a", 4), (1, "b", "b", 1), (1, "b", "a", 1)],
        columns=["repetition", "label", "answer", "examples"],
    )
    mean, sd = tables.confusion(counts, ["a", "b"])
    np.testing.assert_allclose(mean, [[0.875, 0.125], [0.25, 0.75]])
    np.testing.assert_allclose(sd, np.array([[0.125, 0.125], [0.25, 0.25]]) * np.sqrt(2))
    assert tables.most_confused(counts, ["a", "b"])["label"] == "b"
    texts = [text.get_text() for text in figures.figure_confusion(counts, ["a", "b"]).axes[0].texts]
    assert texts == ["", "12.5\n±17.7", "25.0\n±35.4", ""]


def test_missed_examples_come_in_the_order_of_their_misses():
    answers = pd.DataFrame(
        [(7, "a", "b"), (7, "a", "c"), (7, "a", "c"), (3, "b", "b"), (3, "b", "a"), (5, "c", "a"), (9, "a", "a")],
        columns=["example", "label", "answer"],
    )
    found = experiment.missed(answers)
    assert found.to_numpy().tolist() == [[7, "a", 3, 3, "c"], [5, "c", 1, 1, "a"], [3, "b", 2, 1, "a"]]
    assert figures.titles(found)[0] == "no. 7: a as c\n3 of 3"


def test_labels_in_figures_are_short_and_no_formulas_and_no_missed_example_is_no_obstacle():
    labels = ["$a_$ or $", "b" * 150]
    counts = pd.DataFrame({"repetition": [0, 0, 1, 1], "label": 2 * labels, "answer": 2 * labels[::-1], "examples": 3})
    figure = figures.figure_confusion(counts, labels)
    figure.savefig(io.BytesIO(), format="svg")
    assert [text.get_text() for text in figure.axes[0].get_xticklabels()] == [r"\$a_\$ or \$", f"{'b' * 19}…"]
    nobody = figures.figure_missed(np.zeros((0, 64)), [])
    assert [text.get_text() for text in nobody.axes[0].texts] == ["No test example was misclassified."]


def test_more_splits_keep_the_first_ones_and_a_rare_class_is_no_obstacle():
    few, many = (experiment.Settings(n_splits=n, random_state=3) for n in (2, 5))
    assert experiment.seeds(many)[:2] == experiment.seeds(few)
    y = np.repeat([0, 1], [60, 4])
    assert all(y[train].any() for train, _ in experiment.folds(y, 5, 0))


def test_too_few_examples_for_the_folds_or_for_a_test_part_are_refused_with_the_remedy(monkeypatch):
    with pytest.raises(ValueError, match=r"^n_folds must be at most 4, .* got 5; give fewer folds"):
        experiment.folds(np.repeat(range(30), 4), 5, 0)
    many = np.zeros((200, 2)), np.repeat(range(20), 10)
    monkeypatch.setattr(experiment.datasets, "load_whole", lambda _: many)
    with pytest.raises(ValueError, match=r"^n_examples must be at least 100, .* of the 20 classes, got 50"):
        experiment.examples(experiment.Settings(n_examples=50))


def test_a_long_run_says_beforehand_how_long_it_takes_and_what_makes_it_shorter(monkeypatch, capfd):
    settings = experiment.Settings(n_splits=400, n_folds=4)
    X, y, _ = experiment.examples(settings)
    clock, sizes = [0.0], []

    def one(part, piece, labels, seed):
        clock[0] += len(labels) ** 2 / 10**6  # seconds of a split
        sizes.append(np.bincount(labels).min())
        return (pd.DataFrame(), pd.DataFrame())

    monkeypatch.setattr(experiment, "_one", one)
    monkeypatch.setattr(experiment, "PIECE", 500)
    monkeypatch.setattr(experiment.time, "perf_counter", lambda: clock[0])
    seconds = experiment.expected_seconds(settings, X, y)
    assert seconds == pytest.approx(400 / 2 * len(y) ** 2 / 10**6) and min(sizes) >= 10
    rare = np.arange(len(y)) % 400
    assert not experiment.expected_seconds(settings, X, rare)
    assert not experiment.expected_seconds(experiment.Settings(), X, y) and len(sizes) == 2  # takes seconds
    words = experiment.announcement(settings, seconds)
    assert words == (
        "400 splits x 7 degrees x 4 folds on 1,797 examples: about 11 min here; shorter with n_splits 100 (about 3 min), "
        "n_examples 449 (less than a minute), fewer degrees or fewer folds"
    )
    assert not experiment.announcement(settings, 59)

    class Begun(Exception):
        pass

    def begin(n_jobs, **options):
        raise Begun(n_jobs)

    monkeypatch.setattr(experiment, "Parallel", begin)
    with pytest.raises(Begun, match="^2$"):
        experiment.coursework.compute(settings)
    assert capfd.readouterr().err == f"coursework: {words}\n"
    with pytest.raises(Begun, match="^1$"):
        experiment.coursework.compute(experiment.Settings(n_splits=4))
    assert not capfd.readouterr().err
