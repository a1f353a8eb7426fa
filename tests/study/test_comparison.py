"""The comparison on benchmark sets: its protocol against its own rules, its statistics against literal ones, its tables."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom, ttest_1samp, wilcoxon

from kp import kernels
from kp.mistakes import PREDICTORS
from kp.multiclass import MulticlassKernelPerceptron
from kp.output_codes import OneVsAllKernelPerceptron
from study import datasets, style
from study.comparison import experiment as comparison
from study.comparison import figures, methods, tables
from study.comparison.methods import KERNEL_PERCEPTRONS, METHODS, NAMES, PERCEPTRONS, REFERENCES, THRESHOLDS, Candidate
from study.words import p_cell

TINY = comparison.Settings(
    dataset="iris-bundled", repetitions=2, widths=(1.0, 0.25), degrees=(2,), epochs=(1, 3), penalties=(1.0, 10.0),
    ridges=(0.1,), neighbours=(1, 3), perceptron_epochs=(5,), largest=60, small=1, reference_step=1,
)  # fmt: skip
CHOICE = ["method", "thresholds", "kernel", "width", "degree", "other", "predictor", "epoch", "validation_errors", "chosen"]


def method(name, thresholds=None):
    (found,) = (
        m for m in METHODS if m.name == name and m.thresholds == (thresholds or ("off" if m.has_predictors else "-"))
    )
    return found


@pytest.fixture(scope="module")
def tiny():
    """The tables of iris at a tiny scale."""
    return comparison.compare.compute(TINY)


def customary(change_X=1.0, shuffle_y=False):
    """Iris cut into a training part of 100 and a test part of 50, which may be changed."""
    data = datasets.load("iris-bundled")
    order = np.random.RandomState(0).permutation(150)
    X, y = data.X[order], data.y[order]
    y_test = y[100:][::-1] if shuffle_y else y[100:]
    return replace(data, X=X[:100], y=y[:100], X_test=change_X * X[100:], y_test=y_test)


def test_no_choice_depends_on_the_test_part(monkeypatch):
    monkeypatch.setattr(comparison, "METHODS", (method("ordinary"), method("SVM")))
    monkeypatch.setattr(comparison, "PERCEPTRONS", ("ordinary",))
    found = []
    for data in (customary(), customary(change_X=3.0), customary(shuffle_y=True)):
        monkeypatch.setattr(comparison.datasets, "load", lambda name, data=data: data)
        found.append(comparison.compare.compute(TINY))
    for other in found[1:]:
        pd.testing.assert_frame_equal(found[0]["errors"][CHOICE], other["errors"][CHOICE])
        pd.testing.assert_frame_equal(found[0]["validation"], other["validation"])
        assert found[0]["errors"]["errors"].tolist() != other["errors"]["errors"].tolist()


def test_every_example_is_tested_once_in_a_repetition_and_trains_in_the_other_half():
    data = datasets.load("iris-bundled")
    rows = comparison.distinct(data.X)
    for repetition in range(2):
        halves = [split for r, _, split in comparison.splits(data, replace(TINY, largest=100)) if r == repetition]
        assert sorted(np.concatenate([half.index for half in halves]).tolist()) == list(range(149))
        for half in halves:
            assert half.X_test.tolist() == data.X[rows][half.index].tolist() and half.n_tested == 149 and half.dropped == 1
            together = np.concatenate([half.X, half.X_test])
            assert sorted(together.tolist()) == sorted(data.X[rows].tolist())


def test_no_row_is_on_both_sides_of_a_half():
    X = np.array([[1, 2], [3, 4], [1, 2], [0, 0], [3, 4.0]])
    assert comparison.distinct(X).tolist() == [0, 1, 3]


def test_a_customary_test_part_is_used_as_it_is_and_a_large_training_part_is_cut():
    data = customary()
    found = list(comparison.splits(data, TINY))
    assert [(repetition, fold) for repetition, fold, _ in found] == [(0, 0), (1, 0)]
    for _, _, split in found:
        assert split.X_test is data.X_test and len(split.y) == 60 and split.available == 100 and split.n_tested == 50
        assert {row.tobytes() for row in split.X} <= {row.tobytes() for row in data.X}
    assert found[0][2].X.tolist() != found[1][2].X.tolist()
    (_, _, whole), _ = comparison.splits(data, replace(TINY, largest=100))
    assert whole.X.tolist() == data.X.tolist()


def test_no_group_trains_and_validates():
    groups = np.repeat(np.arange(8), 5)
    split = comparison.Split(
        X=np.zeros((40, 1)), y=np.tile(np.arange(5), 8), X_test=None, y_test=None, index=None, n_tested=0, available=40,
        groups=groups,
    )  # fmt: skip
    parts = comparison.validation_parts(split, TINY, 0)
    assert len(parts) == 3 and sorted(np.concatenate([held for _, held in parts]).tolist()) == list(range(40))
    for train, held in parts:
        assert not set(groups[train]) & set(groups[held]) and len(train) + len(held) == 40


def test_the_speakers_of_vowel_said_each_word_six_times():
    if datasets.find(datasets.DATASETS["vowel"].files[0]) is None:
        pytest.skip("the file of vowel is not here")
    speakers, y = comparison.speakers("vowel"), datasets.load("vowel").y
    assert (pd.crosstab(speakers, y) == 6).all(axis=None) and set(speakers) == set(range(8))
    assert comparison.speakers("iris") is None


def shared(form, thresholds, candidate, A, B, y):
    """(labels from the shared matrices, labels of the estimator by its name) of points B, for each predictor and epoch."""
    wanted = [(predictor, epoch) for predictor in PREDICTORS for epoch in (1, 3, 7)]
    grams, own = methods.Grams(A, B), method(form, thresholds)
    model = own.fit(candidate, grams, y, epochs=7, random_state=3)
    found = own.predictions(model, own.points(candidate, grams), wanted)
    rbf, options = candidate.kernel == "rbf", dict(max_iter=7, random_state=3)
    if form == "one-vs-all":
        kernel = kernels.gaussian(sigma=candidate.width * grams.median) if rbf else kernels.polynomial(int(candidate.degree))
        other = OneVsAllKernelPerceptron(lambda X, Y: kernel(X, Y) + (thresholds == "on"), orders="shared", **options)
    else:
        kernel = {"gamma": 1 / (2 * (candidate.width * grams.median) ** 2)} if rbf else {"degree": int(candidate.degree)}
        other = MulticlassKernelPerceptron(
            candidate.kernel,
            **kernel,
            update=form.lower() if form == "Xu-Zhang" else form,
            threshold=thresholds == "on",
            **options,
        )
    other.fit(A, y)
    assert model.n_iter_ == other.n_iter_
    return found, [other.predict(B, predictor=p, epoch=min(epoch, other.n_iter_)) for p, epoch in wanted]


@pytest.mark.parametrize("thresholds", THRESHOLDS)
@pytest.mark.parametrize("form", KERNEL_PERCEPTRONS)
@pytest.mark.parametrize("kernel", [{"kernel": "rbf", "width": 0.3}, {"kernel": "poly", "degree": 3.0}])
def test_forms_on_shared_matrices_are_the_estimators_by_their_names(form, thresholds, kernel):
    data, order = datasets.load("wine-bundled"), np.random.RandomState(1).permutation(178)
    X = ((data.X - data.X.min(0)) / np.ptp(data.X, axis=0))[order]
    for y in (data.y[order], (data.y[order] > 1).astype(int)):
        found, expected = shared(form, thresholds, Candidate(method=form, **kernel), X[:100], X[100:], y[:100])
        for ours, others in zip(found, expected, strict=True):
            assert ours.tolist() == others.tolist()


@pytest.mark.parametrize("thresholds", THRESHOLDS)
def test_with_two_classes_one_vs_all_is_the_ordinary_form(thresholds):
    data, order = datasets.load("wine-bundled"), np.random.RandomState(1).permutation(178)
    X, y = ((data.X - data.X.min(0)) / np.ptp(data.X, axis=0))[order], (data.y[order] > 1).astype(int)
    wanted = [(predictor, epoch) for predictor in PREDICTORS for epoch in (1, 9)]
    grams, labels = methods.Grams(X[:90], X[90:]), []
    for form in ("one-vs-all", "ordinary"):
        own, candidate = method(form, thresholds), Candidate(method=form, kernel="rbf", width=0.05)
        model = own.fit(candidate, grams, y[:90], epochs=9, random_state=0)
        labels.append([each.tolist() for each in own.predictions(model, own.points(candidate, grams), wanted)])
    assert labels[0] == labels[1]


def test_the_squared_matrix_has_the_square_of_the_kernel_and_its_time():
    X = np.random.RandomState(0).rand(9, 2)
    grams, candidate = methods.Grams(X[:6], X[6:]), Candidate(method="any", kernel="rbf", width=0.5)
    K, across = grams.of(candidate)
    square, squared_across = grams.of(candidate, square=True)
    assert K.shape == (6, 6) and across.shape == (3, 6)
    np.testing.assert_allclose(square, K @ K)
    np.testing.assert_allclose(squared_across, across @ K)
    assert 0 <= grams.seconds[False] <= grams.seconds[True]


def test_the_fewest_validation_errors_win_and_of_several_the_steadiest():
    rows = [("final", 1.0, 3), ("average", 1.0, 4), ("final", 0.5, 3), ("average", 0.5, 3), ("voted", 0.5, 3)]
    table = pd.DataFrame(rows, columns=["predictor", "width", "validation_errors"])
    best = comparison.best_candidates(table)
    assert best[["predictor", "width"]].to_numpy().tolist() == [["average", 0.5], ["voted", 0.5], ["final", 1.0]]
    assert best["chosen"].tolist() == [True, False, False]


def test_one_fit_serves_every_predictor_and_epoch_and_an_early_stop_counts_for_all_later_ones():
    X, y = datasets.load("iris-bundled").X[:100], datasets.load("iris-bundled").y[:100]  # two classes, separable
    form, wide = method("ordinary"), replace(TINY, epochs=(1, 50, 60))
    base, grams = Candidate(method="ordinary", kernel="rbf", width=1.0), methods.Grams(X, X)
    served = comparison.variants(form, base, wide)
    assert [(each.predictor, each.epoch) for each in served[:4]] == [
        ("final", 60),
        ("final", 50),
        ("final", 1),
        ("average", 60),
    ]
    model = form.fit(base, grams, y, epochs=60, random_state=0)
    assert model.n_iter_ < 50
    masks = comparison.wrong(form, model, served, form.points(base, grams), y)
    assert masks[0].tolist() == masks[1].tolist() and not masks[0].any()


def test_tables_have_a_row_for_every_method_predictor_and_half(tiny):
    errors = tiny["errors"]
    assert len(errors) == 2 * 2 * (8 * 4 + 4) and tuple(errors["method"].unique()) == NAMES
    assert (errors.groupby(["repetition", "method", "thresholds"])["chosen"].sum() == 2).all()
    assert errors["n"].isin([74, 75]).all() and (errors["n_train"] == 60).all()
    perceptrons = errors["method"].isin(PERCEPTRONS)
    keys = ["repetition", "fold", "method", "thresholds"]
    assert (errors[perceptrons].groupby(keys)["predictor"].nunique() == 4).all()
    assert tiny["times"]["seconds"].ge(0).all() and len(tiny["times"]) == len(errors)
    assert (tiny["splits"]["seen"] == 0).all() and (tiny["splits"]["dropped"] == 1).all() and len(tiny["splits"]) == 4


def test_pairs_agree_with_the_errors(tiny):
    errors = tiny["errors"].query("chosen").groupby(["thresholds", "method"])["errors"].sum()
    pairs = tiny["pairs"]
    keys = ["thresholds", "first", "second"]
    assert (pairs.groupby(keys)["examples"].sum() == 149).all() and len(pairs[keys].drop_duplicates()) == 2 * math.comb(4, 2)
    for (thresholds, first, second), part in pairs.groupby(keys):
        assert (part["balance"] * part["examples"]).sum() == errors[thresholds, first] - errors[thresholds, second]


def test_validation_sums_the_best_epoch_of_each_half(tiny):
    total, n = 0, 0
    for repetition, _, split in comparison.splits(datasets.load("iris-bundled"), TINY):
        rows = comparison.validate(split, TINY, repetition).query("method == 'Xu-Zhang' and thresholds == 'on'")
        part = rows[(rows["width"] == 0.25) & (rows["predictor"] == "voted")]
        assert part["epoch"].tolist() == [3, 1]
        total, n = total + part["validation_errors"].min(), n + part["validation_n"].iloc[0]
    row = tiny["validation"].query("method == 'Xu-Zhang' and thresholds == 'on' and width == 0.25 and predictor == 'voted'")
    assert row[["validation_errors", "validation_n"]].to_numpy().tolist() == [[total, n]]


def test_a_method_is_one_entry_with_a_colour_and_a_marker():
    assert [(m.name, m.thresholds) for m in METHODS[:8]] == [(name, t) for name in PERCEPTRONS for t in THRESHOLDS]
    assert NAMES == PERCEPTRONS + REFERENCES and len(METHODS) == 12
    assert set(NAMES) <= set(style.METHOD_COLOURS) and set(NAMES) <= set(style.METHOD_MARKERS)
    assert (figures.PERCEPTRONS, figures.THRESHOLDS) == (PERCEPTRONS, THRESHOLDS)
    for each in METHODS:
        assert {(c.method, c.thresholds) for c in each.candidates(TINY)} == {(each.name, each.thresholds)}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("one-vs-all", 8 + 3),
        ("Xu-Zhang", 8 + 3),
        ("linear", 1),
        ("SVM", 4 * 2),
        ("kernel ridge", 4),
        ("nearest neighbours", 2),
    ],
)
def test_candidates_are_every_kernel_with_every_other_value(name, expected):
    widths = tuple(2.0**-i for i in range(8))
    found = method(name).candidates(replace(TINY, widths=widths, degrees=(1, 2, 3), reference_step=2))
    assert len(found) == len(set(found)) == expected
    tried = [candidate.width for candidate in found if candidate.kernel == "rbf"]
    assert tried == sorted(tried, reverse=True) and set(tried) <= set(widths)


@pytest.mark.parametrize("name", KERNEL_PERCEPTRONS)
def test_costs_count_the_examples_with_a_coefficient(name):
    data, form = datasets.load("iris-bundled"), method(name)
    base, grams = form.candidates(TINY)[0], methods.Grams(data.X, data.X[:3])
    model = form.fit(base, grams, data.y, epochs=3, random_state=0)
    support, kernel_values = form.costs(model, replace(base, predictor="final", epoch=3.0), 150)
    moved = np.count_nonzero(form.coefficients(model, "final", model.n_iter_, 150).any(axis=0))
    assert 0 < moved <= support == len(model.support_) < 150
    assert kernel_values == (150 if name == "Xu-Zhang" else support)


@pytest.mark.parametrize(("name", "expected"), [("linear", 0), ("scikit-learn perceptron", 0), ("nearest neighbours", 150)])
def test_costs_of_methods_without_support_vectors(name, expected):
    assert method(name).costs(None, None, 150) == (expected, expected)


def test_the_minimizing_predictor_needs_the_examples_up_to_its_own_mistake():
    data, form = datasets.load("iris-bundled"), method("ordinary")
    base, grams = form.candidates(TINY)[0], methods.Grams(data.X, data.X[:3])
    model = form.fit(base, grams, data.y, epochs=3, random_state=0)
    log = model.mistakes_
    support, _ = form.costs(model, replace(base, predictor="minimizing", epoch=3.0), 150)
    assert support == len(set(log.example[: log.minimizing_length()].tolist())) < len(model.support_)


def test_ridge_on_labels_solves_the_ridge_equations():
    data = datasets.load("wine-bundled")
    X = (data.X - data.X.min(0)) / np.ptp(data.X, axis=0)
    K = np.exp(-2.0 * ((X[:, None] - X[None]) ** 2).sum(-1))
    model = methods.RidgeOnLabels(0.1).fit(K, data.y)
    targets = np.array([[1.0 if label == name else -1.0 for name in np.unique(data.y)] for label in data.y])
    scores = K @ np.linalg.solve(K + 0.1 * np.eye(len(X)), targets)
    assert model.predict(K).tolist() == np.unique(data.y)[scores.argmax(1)].tolist()


def test_rates_average_repetitions_and_count_each_example_once():
    table = pd.DataFrame(
        [
            ("a", "linear", "off", "final", r, f, e, 50)
            for (r, f), e in {(0, 0): 5, (0, 1): 7, (1, 0): 6, (1, 1): 10}.items()
        ],
        columns=["dataset", "method", "thresholds", "predictor", "repetition", "fold", "errors", "n"],
    )
    row = tables.rates(table).iloc[0]
    assert row["error"] == 14 / 100 and row["n"] == 100 and row["repetitions"] == 2
    assert binom.sf(13, 100, row["low"]) == pytest.approx(0.025) and binom.cdf(14, 100, row["high"]) == pytest.approx(0.025)


def rates_of(**columns):
    """Error rates of methods on sets a, b, ...: columns such as ordinary_off=[...]."""
    found = {tuple(name.replace("xu", "Xu-Zhang").replace("ova", "one-vs-all").split("_")): c for name, c in columns.items()}
    return pd.DataFrame(found, index=pd.Index(list("abcdefgh")[: len(next(iter(found.values())))], name="dataset"))


@pytest.fixture
def table():
    """Error rates on eight sets: one-vs-all is lower than the ordinary form on all, Xu and Zhang's lower on four."""
    base, steps = np.linspace(0.1, 0.45, 8), np.linspace(0.01, 0.05, 8)
    signs = np.array([1, -1, -1, 1, -1, 1, 1, -1])
    forms = {"ova_off": base - steps, "ordinary_off": base, "xu_off": base + signs * steps}
    return rates_of(**forms, ova_on=base, ordinary_on=base, xu_on=base + steps)


def test_forms_are_compared_with_the_ordinary_one_of_their_family(table):
    pairs = tables.form_pairs()
    found = tables.over_sets(table, pairs)
    assert set(found) == {(form, t) for form in ("one-vs-all", "Xu-Zhang") for t in THRESHOLDS}
    assert {each.adjusted for each in found.values()} == {"Holm over 4"}
    plain = wilcoxon(table["one-vs-all", "off"] - table["ordinary", "off"]).pvalue
    assert found["one-vs-all", "off"].p == pytest.approx(4 * plain) == 4 * 2 / 2**8
    sides = {name: np.sign(each.estimate) * (each.p < 0.05) for name, each in found.items()}
    assert sides == {("one-vs-all", "off"): -1, ("Xu-Zhang", "off"): 0, ("one-vs-all", "on"): 0, ("Xu-Zhang", "on"): 1}


def test_families_are_corrected_each_for_itself(table):
    for name in (("linear", "off"), ("linear", "on"), ("SVM", "-")):
        table[name] = np.linspace(0.2, 0.5, 8) + 0.001 * np.arange(8) ** 2
    pairs = {"forms": tables.form_pairs, "kernel": tables.kernel_pairs}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "FAMILIES", pairs)
        found = tables.families(table)
    assert found["family"].tolist() == ["forms"] * 4 + ["kernel"] * 6
    assert found["minus"].tolist() == ["ordinary, off"] * 2 + ["ordinary, on"] * 2 + ["linear, off"] * 3 + ["linear, on"] * 3
    alone = tables.over_sets(table, tables.form_pairs())
    assert found["p"].tolist()[:4] == [p_cell(each.p) for each in alone.values()]
    shown = tables.in_percent(table)
    assert list(shown)[:3] == ["set", "o.v.a., off", "o.v.a., on"] and list(shown)[-1] == "SVM"
    assert shown["ord., off"].tolist() == pytest.approx((100 * table["ordinary", "off"]).tolist())


def test_leaving_out_a_set_shows_what_hangs_on_it():
    base = np.full(8, 0.2)
    odd = np.array([0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.07, -0.5])
    table = rates_of(ova_off=base - odd, ordinary_off=base, xu_off=base, ova_on=base, ordinary_on=base, xu_on=base)
    pairs = {("one-vs-all", "off"): (("one-vs-all", "off"), ("ordinary", "off"))}
    found = tables.over_sets(table, pairs)
    row = tables.shown(found, table, pairs).iloc[0]
    assert found["one-vs-all", "off"].p > 0.05 and row["changes without"] == "h"
    assert row["lower"] + row["equivalent"] + row["higher"] == pytest.approx(1)
    assert row["first"] == "one-vs-all, off" and row["minus"] == "ordinary, off"


def test_every_method_but_the_svm_is_compared_with_it():
    pairs = tables.reference_pairs()
    assert len(pairs) == 11 and ("SVM", "-") not in pairs and {second for _, second in pairs.values()} == {("SVM", "-")}
    assert len(tables.kernel_pairs()) == 6 and len(tables.threshold_pairs()) == 4


def pairs_of(*rows):
    return pd.DataFrame(rows, columns=["dataset", "thresholds", "first", "second", "balance", "examples", "repetitions"])


@pytest.fixture
def per_set():
    """One set: one-vs-all is wrong on 20 examples more in both repetitions, Xu and Zhang's form on as many fewer."""
    rows = []
    for thresholds in THRESHOLDS:
        for balance, examples in ((2, 20), (0, 80)):
            rows.append(("s", thresholds, "one-vs-all", "ordinary", balance, examples, 2))
            rows.append(("s", thresholds, "ordinary", "Xu-Zhang", balance, examples, 2))
    return tables.per_set(pairs_of(*rows))


def test_sets_are_judged_by_all_repetitions(per_set):
    part = per_set.query("thresholds == 'off'").set_index("first")
    assert part["estimate"].to_dict() == {"one-vs-all": 0.2, "Xu-Zhang": -0.2} and (part["n"] == 100).all()
    assert part["plain"].tolist() == pytest.approx([2 / 2**20] * 2) and part["p"].tolist() == pytest.approx([8 / 2**20] * 2)


@pytest.fixture
def predictors():
    """Errors of each predictor of every perceptron on three sets, 100 test examples each."""
    errors = {"final": (20, 10, 0), "average": (10, 20, 1), "minimizing": (20, 10, 2), "voted": (5, 40, 3)}
    rows = [
        ("abc"[i], name, t, p, 0, 0, e, 100)
        for name in PERCEPTRONS for t in THRESHOLDS for p, es in errors.items() for i, e in enumerate(es)
    ]  # fmt: skip
    columns = ["dataset", "method", "thresholds", "predictor", "repetition", "fold", "errors", "n"]
    return pd.DataFrame(rows, columns=columns)


def test_predictors_are_compared_with_the_final_one(predictors):
    found = tables.against_final(predictors)
    assert len(found) == 24 and {each.adjusted for each in found.values()} == {"Holm over 24"}
    assert found["minimizing", "linear", "on"].estimate == pytest.approx(np.median([0, 0, 0, 0.01, 0.01, 0.02]))
    shown = tables.against_final_table(found)
    assert shown[["perceptron", "thresholds"]].to_numpy().tolist() == [[name, t] for t in THRESHOLDS for name in PERCEPTRONS]
    assert shown.loc[0, "minimizing"] == "+0.5, p = 1.0"


def test_choices_count_the_chosen_predictors(predictors):
    fewest = predictors["predictor"].map({"voted": 1, "average": 2, "final": 3, "minimizing": 4})
    tied = predictors["dataset"].eq("c") & predictors["predictor"].eq("average")
    rows = predictors.assign(chosen=predictors["predictor"].eq("voted") & predictors["dataset"].ne("c") | tied)
    found = tables.choices(rows.assign(validation_errors=fewest.where(~tied, 1)))
    assert len(found) == 8 and (found["voted"] == 2).all() and (found["tied"] == 1).all()
    assert (found[["final", "average", "minimizing"]] == 0).all(axis=None)


def test_of_504_stored_choices_216_are_ties():
    found = tables.choices(comparison.compare(comparison.FULL)["errors"]).drop(columns=["method", "thresholds"]).sum()
    assert found.to_dict() == {"final": 14, "average": 98, "minimizing": 78, "voted": 98, "tied": 216}


def test_both_verdicts_on_thresholds_hang_on_nearly_every_single_set():
    table = tables.by_method(tables.chosen_rates(comparison.compare(comparison.FULL)["errors"]))
    pairs = tables.threshold_pairs()
    found = tables.over_sets(table, pairs)
    without = tables.changes_without(found, table, pairs)
    assert {name: len(sets) for name, sets in without.items()} == {
        "one-vs-all": 0,
        "ordinary": 0,
        "Xu-Zhang": 10,
        "linear": 9,
    }
    assert {name for name, each in found.items() if each.p < 0.05} == {"Xu-Zhang", "linear"}


def test_costs_are_shares_of_the_training_examples(tiny):
    errors = tiny["errors"]
    shares = errors[errors["chosen"]].assign(share=errors["kernel_values"] / errors["n_train"]).groupby("method")["share"]
    assert (shares.min()[["Xu-Zhang", "kernel ridge", "nearest neighbours"]] == 1).all()
    assert (shares.max()[["linear", "scikit-learn perceptron"]] == 0).all()


def test_grids_count_fits_and_candidates(tiny):
    found = tables.grids(TINY).set_index("method")
    own = tiny["validation"].query("method == 'ordinary' and thresholds == 'on'")
    assert found["candidates"].tolist() == [3 * 8, 8, 4, 2, 2, 1] and found["fits"].tolist() == [3, 1, 4, 2, 2, 1]
    assert len(own) == 3 * 4 and len(tiny["validation"].query("method == 'SVM'")) == 4


def test_choices_at_an_end_of_the_grid_are_counted(tiny):
    found = tables.edges(tiny["errors"], TINY).set_index(["method", "parameter"])
    chosen = tiny["errors"].query("chosen and method == 'SVM'")
    literal = [(chosen["other"] == end).sum() for end in (1.0, 10.0)]
    assert found.loc[("SVM", "C"), ["at lowest", "at highest", "of"]].tolist() == [*literal, 4]


def widths_table():
    columns = ["dataset", "method", "thresholds", "kernel", "width", "predictor", "validation_errors", "validation_n"]
    tried = ((1.0, "final", 9), (1.0, "average", 5), (0.25, "final", 4), (0.25, "average", 8))
    rows = [
        ("s", m, t, "rbf", w, p, e + 2 * i, 50)
        for i, m in enumerate(KERNEL_PERCEPTRONS)
        for t in THRESHOLDS
        for w, p, e in tried
    ]
    rows += [("s", "SVM", "-", "rbf", 1.0, "-", 0, 50), ("s", "ordinary", "on", "poly", np.nan, "final", 0, 50)]
    return pd.DataFrame(rows, columns=columns)


def test_widths_are_judged_by_their_best_predictor():
    curves = tables.width_curves(widths_table())
    part = curves.query("method == 'ordinary' and thresholds == 'off'")
    assert part[["width", "error", "n"]].to_numpy().tolist() == [[1.0, 7 / 50, 50], [0.25, 6 / 50, 50]]
    means = tables.by_width(widths_table()).set_index(["method", "thresholds", "predictor", "width"])["error"]
    assert means["ordinary", "on", "average", 0.25] == 10 / 50
    narrow = tables.averages_at_narrowest(pd.concat([widths_table().assign(dataset=name) for name in "ab"]))
    assert narrow["ordinary", "on"].estimate == pytest.approx(4 / 50) and len(narrow) == 6


def test_the_best_width_is_the_middle_of_several():
    rows = [("s", form, t, w, e, 50) for form in KERNEL_PERCEPTRONS for t in THRESHOLDS
            for w, e in ((1.0, 0.1 + 0.2 * (form != "ordinary")), (0.5, 0.2), (0.25, 0.1))]  # fmt: skip
    curves = pd.DataFrame(rows, columns=["dataset", "method", "thresholds", "width", "error", "n"])
    widths = tables.best_widths(curves)
    assert widths.loc[0, "ordinary, off"] == pytest.approx(0.5) and widths.loc[0, "Xu-Zhang, on"] == 0.25


def test_width_ratios_are_those_of_students_test_on_logarithms():
    widths = pd.DataFrame({"set": list("abcd"), "x": [0.5, 0.25, 0.25, 0.1], "y": [1.0, 0.5, 0.25, 0.4]})
    expected = ttest_1samp(np.log(widths["x"] / widths["y"]), np.log(0.5**0.5))
    ratio, low, high, logs = tables.width_ratio(widths, "x", "y", null=0.5**0.5)
    assert ratio == pytest.approx((0.5 * 0.5 * 1 * 0.25) ** 0.25) and logs.p == pytest.approx(expected.pvalue)
    np.testing.assert_allclose((low, high), np.exp(expected.confidence_interval()))
    assert tables.width_ratio(widths, "x", "y")[:3] == pytest.approx((ratio, low, high))
    four = widths.rename(columns={"x": "Xu-Zhang, off", "y": "ordinary, off"}).assign(**{"Xu-Zhang, on": 1.0})
    four["ordinary, on"] = [2.0, 2.0, 2.0, 2.1]
    found = tables.width_ratios(four)
    assert found["thresholds"].tolist() == ["off", "off", "on", "on"] and found["null"].tolist() == [1.0, 0.5**0.5] * 2
    assert found.loc[1, ["ratio", "low", "high"]].tolist() == pytest.approx([ratio, low, high])
    assert found.loc[1, "p"] == pytest.approx(logs.p)  # the largest of four


def points(axis, *, marker):
    """The points (x, y) that are drawn with this marker, in the order of drawing."""
    return [xy for line in axis.get_lines() if line.get_marker() == marker for xy in line.get_xydata().tolist()]


def test_the_figure_of_differences_fills_what_is_sure(per_set, table):
    over = tables.over_sets(table, tables.form_pairs())
    figure = figures.figure_differences(per_set, over)
    assert [axis.get_title() for axis in figure.axes][:2] == [
        "one-vs-all,\nno thresholds", "Xu-Zhang,\nno thresholds",
    ]  # fmt: skip
    axis = figure.axes[0]
    assert points(axis, marker="o") == [[20, 0]] and points(axis, marker="D") == [
        [100 * over["one-vs-all", "off"].estimate, 1]
    ]
    faces = [line.get_markerfacecolor() for line in figure.axes[2].get_lines() if line.get_marker() == "D"]
    assert faces == ["white"]


def test_differences_from_the_svm_stand_in_the_order_of_its_errors(table):
    table["SVM", "-"] = [0.3, 0.1, 0.2, 0.4, 0.5, 0.6, 0.7, 0.8]
    name = ("one-vs-all", "off")
    over = tables.over_sets(table, {name: (name, ("SVM", "-"))})
    figure = figures.figure_against_svm(table, over, [name])
    (axis,) = figure.axes
    svm = table["SVM", "-"].sort_values()
    assert [label.get_text() for label in axis.get_yticklabels()][:3] == ["b (10.0)", "c (20.0)", "a (30.0)"]
    drawn = points(axis, marker=style.METHOD_MARKERS["one-vs-all"])
    assert [x for x, _ in drawn] == pytest.approx([*(100 * (table.loc[svm.index, name] - svm)), 100 * over[name].estimate])


def test_figures_of_widths_draw_the_tables():
    widths = pd.DataFrame({"set": ["s"], "ordinary, off": [1.0], "Xu-Zhang, off": [0.5], "Xu-Zhang, on": [0.25]})
    left, right = figures.figure_best_widths(widths).axes
    assert points(left, marker="D") == [[0.5, 0]] and points(right, marker="D") == [[0.25, 0]]
    axis = figures.figure_narrow(tables.by_width(widths_table())).axes[1]
    solid = [
        line
        for line in axis.get_lines()
        if line.get_linestyle() == "-" and line.get_color() == style.PREDICTOR_COLOURS["final"]
    ]
    assert [line.get_xydata().tolist() for line in solid] == [[[0.25, 12], [1.0, 22]]]


@pytest.mark.parametrize("names", ["mnist", "iris digits", ""])
def test_settings_say_which_sets_there_are(names):
    with pytest.raises(ValueError, match="datasets must be among optdigits"):
        comparison.settings_of(names)
    assert [each.dataset for each in comparison.settings_of("wine iris")] == ["wine", "iris"]


def test_the_stored_tables_are_whole():
    found = comparison.compare(comparison.FULL)
    errors = found["errors"]
    assert tuple(errors["dataset"].unique()) == comparison.DATASETS
    chosen = errors[errors["chosen"]]
    keys = ["method", "thresholds"]
    tested = chosen.groupby(["dataset", "repetition", *keys])["n"].sum().unstack(keys)
    assert (tested.nunique(axis=1) == 1).all() and len(tested.columns) == len(METHODS) and tested.notna().all(axis=None)
    assert (
        chosen.groupby("dataset")["repetition"].nunique() == [s.repetitions for s in sorted(comparison.FULL, key=str)]
    ).all()
    assert found["splits"].query("n_train > 3000 or n_train > available").empty
