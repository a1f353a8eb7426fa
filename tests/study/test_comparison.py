"""The comparison on benchmark sets: its protocol against its own rules, its statistics against literal ones, its tables."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom, ttest_1samp, wilcoxon
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import MinMaxScaler

from kp import kernels
from kp.mistakes import PREDICTORS
from kp.multiclass import MulticlassKernelPerceptron
from kp.one_vs_all import OneVsAllKernelPerceptron
from study import datasets, statistics
from study.classes import comparison, methods, tables
from study.classes.methods import KERNEL_PERCEPTRONS, METHODS, PERCEPTRONS, THRESHOLDS, Candidate
from study.words import p_cell

TINY = comparison.Settings(
    dataset="iris-bundled", repetitions=2, widths=(1.0, 0.25), degrees=(2,), epochs=(1, 3), penalties=(1.0, 10.0),
    ridges=(0.1,), neighbours=(1, 3), perceptron_epochs=(5,), largest=60, small=1, reference_step=1,
)  # fmt: skip


def method(name, thresholds=None):
    (found,) = (
        m for m in METHODS if m.name == name and m.thresholds == (thresholds or ("off" if m.has_predictors else "-"))
    )
    return found


@pytest.fixture(scope="module")
def tiny():
    """The tables of iris at a tiny scale."""
    return comparison.compare.compute(TINY)


@pytest.fixture(scope="module")
def wine():
    """(X in [0, 1], y)."""
    data = datasets.load("wine-bundled")
    return (data.X - data.X.min(0)) / np.ptp(data.X, axis=0), data.y


def customary(change_X=1.0, shuffle_y=False):
    """Iris cut into a training part of 100 and a test part of 50, which may be changed."""
    data = datasets.load("iris-bundled")
    order = np.random.RandomState(0).permutation(150)
    X = data.X[order]
    y = data.y[order]
    y_test = y[100:][::-1] if shuffle_y else y[100:]
    return replace(data, X=X[:100], y=y[:100], X_test=change_X * X[100:], y_test=y_test)


def test_no_choice_depends_on_the_test_part(monkeypatch):
    monkeypatch.setattr(methods, "METHODS", (method("ordinary"), method("SVM")))
    found = []
    for data in (customary(), customary(change_X=3.0), customary(shuffle_y=True)):
        monkeypatch.setattr(comparison.datasets, "load", lambda name, data=data: data)
        found.append(comparison.compare.compute(TINY))
    for other in found[1:]:
        assert found[0]["errors"]["errors"].tolist() != other["errors"]["errors"].tolist()
        for name in ("errors", "validation"):
            chosen = [each[name].drop(columns=["errors"], errors="ignore") for each in (found[0], other)]
            pd.testing.assert_frame_equal(*chosen)


def test_an_own_method_meets_the_same_splits_and_changes_no_other_row(tiny):
    own = "sklearn.neighbors:KNeighborsClassifier"
    found = comparison.compare.compute(replace(TINY, method=own))["errors"]
    pd.testing.assert_frame_equal(found[found["method"] != own].reset_index(drop=True), tiny["errors"])
    splits = [split for _, _, split in comparison.splits(datasets.load("iris-bundled"), TINY)]
    for errors, split in zip(found.loc[found["method"] == own, "errors"], splits, strict=True):
        scaler = MinMaxScaler().fit(split.X)
        model = KNeighborsClassifier().fit(scaler.transform(split.X), split.y)
        assert errors == np.sum(model.predict(scaler.transform(split.X_test)) != split.y_test)
    plain = [comparison.compare.provenance([replace(TINY, method=each)])["parameters"] for each in ("", own)]
    assert "method" not in plain[0][0] and plain[1][0]["method"] == own
    with pytest.raises(ValueError, match="method must be written module:factory"):
        replace(TINY, method="knn")


def test_every_example_is_tested_once_in_a_repetition_and_trains_in_the_other_half():
    data = datasets.load("iris-bundled")
    rows = comparison.distinct(data.X)
    assert len(rows) == len(np.unique(data.X, axis=0)) == 149
    halves = [split for r, _, split in comparison.splits(data, replace(TINY, largest=100)) if r == 1]
    assert sorted(np.concatenate([half.X_test for half in halves]).tolist()) == sorted(data.X[rows].tolist())
    for half in halves:
        assert half.dropped == 1
        assert sorted(np.concatenate([half.X, half.X_test]).tolist()) == sorted(data.X[rows].tolist())


def test_a_customary_test_part_is_used_as_it_is_and_a_large_training_part_is_cut():
    data = customary()
    first, second = (split for _, _, split in comparison.splits(data, TINY))
    for split in (first, second):
        assert split.X_test is data.X_test and len(split.y) == 60 and split.available == 100
        assert {row.tobytes() for row in split.X} <= {row.tobytes() for row in data.X}
    assert first.X.tolist() != second.X.tolist()


def test_no_group_trains_and_validates():
    groups = np.repeat(np.arange(8), 5)
    split = comparison.Split(
        X=np.zeros((40, 1)), y=np.tile(np.arange(5), 8), X_test=None, y_test=None, available=40, groups=groups,
    )  # fmt: skip
    parts = comparison.validation_parts(split, TINY, 0)
    assert sorted(np.concatenate([held for _, held in parts]).tolist()) == list(range(40))
    for train, held in parts:
        assert not set(groups[train]) & set(groups[held]) and len(train) + len(held) == 40


def forms(form, thresholds, candidate, A, B, y):
    """(labels from the shared matrices, labels of the estimator by its name) of points B, for each predictor and epoch."""
    wanted = [(predictor, epoch) for predictor in PREDICTORS for epoch in (1, 7)]
    grams = methods.Grams(A, B)
    own = method(form, thresholds)
    training, points = grams.of(candidate, own.learns_in)
    model = own.fit(candidate, training, y, epochs=7, random_state=3)
    found = own.predictions(model, points, wanted)
    options = dict(max_iter=7, random_state=3)
    threshold = thresholds == "on"
    sigma = candidate.width * grams.median
    if form == "one-vs-all":
        kernel = kernels.gaussian(sigma=sigma)
        other = OneVsAllKernelPerceptron(lambda X, Y: kernel(X, Y) + threshold, orders="shared", **options)
    else:
        update = form.lower() if form == "Xu-Zhang" else form
        other = MulticlassKernelPerceptron("rbf", gamma=1 / (2 * sigma**2), update=update, threshold=threshold, **options)
    other.fit(A, y)
    assert model.n_iter_ == other.n_iter_
    return found, [other.predict(B, predictor=p, epoch=min(epoch, other.n_iter_)) for p, epoch in wanted]


@pytest.mark.parametrize("thresholds", THRESHOLDS)
@pytest.mark.parametrize("form", KERNEL_PERCEPTRONS)
def test_forms_on_shared_matrices_are_the_estimators_by_their_names(form, thresholds, wine):
    X = wine[0]
    order = np.random.RandomState(1).permutation(178)
    A = X[order[:100]]
    B = X[order[100:]]
    for y in (wine[1][order[:100]], (wine[1][order[:100]] > 1).astype(int)):
        found, expected = forms(form, thresholds, Candidate(method=form, kernel="rbf", width=0.3), A, B, y)
        np.testing.assert_array_equal(found, expected)


def test_the_fewest_validation_errors_win_and_of_several_the_steadiest():
    rows = [("final", 1.0, 3), ("average", 1.0, 4), ("final", 0.5, 3), ("average", 0.5, 3), ("voted", 0.5, 3)]
    table = pd.DataFrame(rows, columns=["predictor", "width", "validation_errors"])
    best = comparison.best_candidates(table)
    assert best[["predictor", "width"]].to_numpy().tolist() == [["average", 0.5], ["voted", 0.5], ["final", 1.0]]
    assert best["chosen"].tolist() == [True, False, False]


@pytest.mark.long
def test_each_method_chooses_once_in_each_half(tiny):
    errors = tiny["errors"]
    assert (errors.groupby(["repetition", "fold", "method", "thresholds"])["chosen"].sum() == 1).all()


def test_ridge_on_labels_solves_the_ridge_equations(wine):
    X, y = wine
    K = np.exp(-2.0 * ((X[:, None] - X[None]) ** 2).sum(-1))
    targets = np.where(y[:, None] == np.unique(y), 1.0, -1.0)
    scores = K @ np.linalg.solve(K + 0.1 * np.eye(len(X)), targets)
    model = methods.RidgeOnLabels(0.1, kernel="precomputed").fit(K, y)
    assert model.predict(K).tolist() == np.unique(y)[scores.argmax(1)].tolist()


def test_rates_average_repetitions_and_count_each_example_once():
    table = pd.DataFrame({"repetition": [0, 0, 1, 1], "fold": [0, 1, 0, 1], "errors": [5, 7, 6, 10]})
    table = table.assign(dataset="a", method="linear", thresholds="off", predictor="final", n=50)
    row = tables.rates(table).iloc[0]
    assert row[["error", "n", "repetitions"]].tolist() == [14 / 100, 100, 2]
    assert (binom.sf(13, 100, row["low"]), binom.cdf(14, 100, row["high"])) == pytest.approx((0.025, 0.025))


@pytest.fixture
def table():
    """Error rates on eight sets: one-vs-all is lower than the ordinary form on all, Xu and Zhang's lower on four."""
    base = np.linspace(0.1, 0.45, 8)
    steps = np.linspace(0.01, 0.05, 8)
    signs = np.array([1, -1, -1, 1, -1, 1, 1, -1])
    rates = {
        ("one-vs-all", "off"): base - steps,
        ("ordinary", "off"): base,
        ("Xu-Zhang", "off"): base + signs * steps,
        ("one-vs-all", "on"): base,
        ("ordinary", "on"): base,
        ("Xu-Zhang", "on"): base + steps,
    }
    return pd.DataFrame(rates, index=pd.Index(list("abcdefgh"), name="dataset"))


def test_forms_are_compared_with_the_ordinary_one_of_their_family(table):
    found = tables.over_sets(table, tables.form_pairs())
    assert {each.adjusted for each in found.values()} == {"Holm over 4"}
    plain = wilcoxon(table["one-vs-all", "off"] - table["ordinary", "off"]).pvalue
    assert found["one-vs-all", "off"].p == pytest.approx(4 * plain) == 4 * 2 / 2**8
    sides = {name: np.sign(each.estimate) * (each.p < 0.05) for name, each in found.items()}
    assert sides == {("one-vs-all", "off"): -1, ("Xu-Zhang", "off"): 0, ("one-vs-all", "on"): 0, ("Xu-Zhang", "on"): 1}


def test_families_are_corrected_each_for_itself(table, monkeypatch):
    monkeypatch.setattr(statistics, "DRAWS", 20)
    for name in (("linear", "off"), ("linear", "on"), ("SVM", "-")):
        table[name] = np.linspace(0.2, 0.5, 8) + 0.001 * np.arange(8) ** 2
    monkeypatch.setattr(tables, "FAMILIES", {"forms": tables.form_pairs, "kernel": tables.kernel_pairs})
    alone = [tables.over_sets(table, pairs()) for pairs in (tables.form_pairs, tables.kernel_pairs)]
    expected = [p_cell(each.p) for family in alone for each in family.values()]
    assert tables.families(table)["p"].tolist() == expected


def test_predictors_are_compared_with_the_final_one():
    errors = pd.DataFrame({"final": (20, 10, 0), "average": (10, 20, 1), "minimizing": (20, 10, 2), "voted": (5, 40, 3)})
    one = errors.assign(dataset=list("abc")).melt("dataset", var_name="predictor", value_name="errors")
    one = one.assign(repetition=0, fold=0, n=100)
    forms = [one.assign(method=name, thresholds=thresholds) for name in PERCEPTRONS for thresholds in THRESHOLDS]
    found = tables.against_final(pd.concat(forms, ignore_index=True))
    assert {each.adjusted for each in found.values()} == {"Holm over 24"}
    assert found["minimizing", "linear", "on"].estimate == pytest.approx(np.median([0, 0, 0, 0.01, 0.01, 0.02]))


def test_widths_are_judged_by_their_best_predictor():
    columns = ["dataset", "method", "thresholds", "kernel", "width", "predictor", "validation_errors", "validation_n"]
    tried = ((1.0, "final", 9), (1.0, "average", 5), (0.25, "final", 4), (0.25, "average", 8))
    rows = [
        ("s", m, t, "rbf", w, p, e + 2 * i, 50)
        for i, m in enumerate(KERNEL_PERCEPTRONS)
        for t in THRESHOLDS
        for w, p, e in tried
    ]
    rows += [("s", "SVM", "-", "rbf", 1.0, "-", 0, 50), ("s", "ordinary", "on", "poly", np.nan, "final", 0, 50)]
    table = pd.DataFrame(rows, columns=columns)
    curves = tables.width_curves(table)
    part = curves.query("method == 'ordinary' and thresholds == 'off'")
    assert part[["width", "error", "n"]].to_numpy().tolist() == [[1.0, 7 / 50, 50], [0.25, 6 / 50, 50]]
    means = tables.sets_by_width(table).set_index(["method", "thresholds", "predictor", "width"])["error"]
    assert means["ordinary", "on", "average", 0.25] == 10 / 50
    narrow = tables.averages_at_narrowest(pd.concat([table.assign(dataset=name) for name in "ab"]))
    assert narrow["ordinary", "on"].estimate == pytest.approx(4 / 50)


def test_width_ratios_are_those_of_students_test_on_logarithms():
    widths = pd.DataFrame({"set": list("abcd"), "x": [0.5, 0.25, 0.25, 0.1], "y": [1.0, 0.5, 0.25, 0.4]})
    expected = ttest_1samp(np.log(widths["x"] / widths["y"]), np.log(0.5**0.5))
    found = tables.width_ratio(widths, "x", "y", null=0.5**0.5)
    assert found.estimate == pytest.approx((0.5 * 0.5 * 1 * 0.25) ** 0.25) and found.p == pytest.approx(expected.pvalue)
    np.testing.assert_allclose((found.low, found.high), np.exp(expected.confidence_interval()))


def test_settings_say_which_sets_there_are():
    with pytest.raises(ValueError, match="datasets must be among optdigits"):
        comparison.settings_of(["iris", "digits"])
