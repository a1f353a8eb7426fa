"""Readings of the source in combination: the compiled loop against the algorithm as it is written, and the joint score."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.preprocessing import MinMaxScaler

from kp import kernels
from study import datasets
from study.uci import experiment
from study.uci import protocol as cv
from study.uci import readings as rd
from study.uci.protocol import Method
from study.uci.readings import Reading


def demoted(f, true, demote):
    """[(j, promotions of the true class)]: eqs 3 to 5 and what the reading says of several rivals."""
    rivals = [j for j in range(len(f)) if j != true and f[true] <= f[j]]
    if not rivals:
        return [], 0
    if demote == "winner":
        return [max(rivals, key=lambda j: f[j])], 1
    if demote == "first":
        return rivals[:1], 1
    return rivals, len(rivals) if demote == "each" else 1


def literal_errors(X, y, train, test, row, reading, random_state):
    """Xu & Zhang 2005, eqs 4, 5, 10 and 11, a visit at a time: (train errors, test errors)."""
    if reading.scaling != "none":
        X = MinMaxScaler().fit(X if reading.scaling == "all" else X[train]).transform(X)
    k = {"linear": kernels.linear(), "poly": kernels.polynomial(2, coef0=0), "rbf": kernels.gaussian(sigma=1.0)}[row.kernel]
    features = X if row.kernel == "linear" else k(X, X[train])
    random, n, C = np.random.RandomState(random_state), len(train), y.max() + 1
    W, b = np.zeros((C, features.shape[1])), np.zeros(C)
    epoch = np.arange(n) if reading.order == "given" else random.permutation(n)
    visits = updates = epochs = 0
    while True:
        clean = True
        for q in train[epoch]:
            f = (W * features[q]).sum(axis=1) + b * reading.threshold  # equal rows give equal scores, which BLAS does not
            rivals, promotions = demoted(f, y[q], reading.demote)
            if rivals:
                W[y[q]], b[y[q]] = W[y[q]] + promotions * features[q], b[y[q]] + promotions
                for j in rivals:
                    W[j], b[j] = W[j] - features[q], b[j] - 1
                updates, clean = updates + 1, False
            visits += 1
            done = {"epochs": epochs, "presentations": visits, "updates": updates}[reading.unit] >= row.max_iter
            if done:
                break
        epochs += 1
        if done or clean or (reading.unit == "epochs" and epochs >= row.max_iter):
            break
        if reading.order == "fresh":
            epoch = random.permutation(n)
    f = features @ W.T + b * reading.threshold
    return tuple(int((f[part].argmax(axis=1) != y[part]).sum()) for part in (train, test))


def small_set(seed, n=36, classes=3, *, whole=False):
    """A few points of three classes; whole ones lie in {0, 1, 2}, and are scaled and multiplied without rounding."""
    generator = np.random.RandomState(seed)
    y = np.arange(n) % classes
    points = generator.randint(2, size=(n, 3)) if whole else generator.normal(size=(n, 3))
    return points + (1.0 if whole else 1.2) * np.eye(3)[y], y


@settings(deadline=None, max_examples=120, derandomize=True)
@given(
    seed=st.integers(0, 1000),
    kernel=st.sampled_from(["linear", "poly", "rbf"]),
    max_iter=st.integers(1, 60),
    demote=st.sampled_from(rd.DEMOTE),
    unit=st.sampled_from(rd.UNITS),
    order=st.sampled_from(cv.ORDERS),
    scaling=st.sampled_from(["train", "all", "none"]),
    threshold=st.booleans(),
)
def test_every_reading_is_that_of_the_literal_algorithm(seed, kernel, max_iter, demote, unit, order, scaling, threshold):
    X, y = small_set(seed, whole=kernel != "rbf")
    row = Method(kernel=kernel, parameter={"linear": 0, "poly": 2, "rbf": 1.0}[kernel], max_iter=max_iter)
    reading = Reading(demote=demote, unit=unit, order=order, scaling=scaling, threshold=threshold)
    train, test = cv.splits(X, y, row, 3, seed)[0]
    fold = rd.Fold(X, y, train, test, row, scaling)
    found = fold.errors(fold.learn(reading, max_iter, seed), threshold)
    assert found == literal_errors(X, y, train, test, row, reading, seed)


@pytest.mark.parametrize(
    "changes",
    [{}, {"demote": "all", "unit": "presentations"}, {"demote": "first", "order": "fixed"}, {"threshold": False},
     {"folds": "plain", "scaling": "all"}, {"folds": "consecutive", "order": "given"}],
)  # fmt: skip
def test_what_the_protocol_can_say_comes_out_the_same(changes):
    for method in experiment.methods("wine-bundled").values():
        ours = rd.cross_validate([("wine-bundled", method, (Reading(**changes),), 3)], n_folds=5)
        theirs = cv.cross_validate([("wine-bundled", replace(method, **changes), 3)], n_folds=5)
        rates = cv.summary(theirs, experiment.KEYS)[experiment.RATES].round(rd.DIGITS)
        assert ours[experiment.RATES].to_numpy().tolist() == rates.to_numpy().tolist()


def test_readings_that_share_a_fold_are_those_of_readings_alone():
    readings = (Reading(demote="each"), Reading(threshold=False), Reading(scaling="none"), Reading(folds="plain"))
    for kernel in ("linear", "rbf"):
        row = replace(experiment.methods("iris-bundled")[kernel], max_iter=20)
        together = rd.cross_validate([("iris-bundled", row, readings, 1)], n_folds=3)
        alone = [rd.cross_validate([("iris-bundled", row, (each,), 1)], n_folds=3) for each in readings]
        assert together.to_numpy().tolist() == [part.iloc[0].tolist() for part in alone]


def test_a_reading_says_what_it_can_be_and_outside_is_for_sets_in_the_unit_interval():
    with pytest.raises(ValueError, match="demote must be one of winner, first, all, each, got 'last'"):
        Reading(demote="last")
    with pytest.raises(ValueError, match="scaling must be one of .*, got 'half'"):
        Reading(scaling="half")
    outside = Reading(scaling="outside", demote="all")
    assert outside.of("sonar") == Reading(scaling="none") and outside.of("iris") == Reading(demote="all")
    assert Reading().key == "winner-epochs-fresh-train-stratified-threshold" and Reading().of("sonar") == Reading()
    for name in ("iris-bundled", "wine-bundled"):
        X, y = cv.load(name)
        assert X.max() > 1 and y.max() > 1 and name.removesuffix("-bundled") not in (*rd.IN_UNIT, *rd.TWO_CLASSES)


def test_the_set_that_is_not_scaled_lies_in_the_unit_interval_and_has_two_classes():
    try:
        datasets.load("sonar", download=False)
    except datasets.DataError:
        pytest.skip("the files of sonar are not there; get them with: python -m study.datasets fetch sonar")
    X, y = cv.load("sonar")
    assert X.min() >= 0 and X.max() <= 1 and y.max() == 1


@settings(deadline=None, max_examples=20, derandomize=True)
@given(seed=st.integers(0, 1000), demote=st.sampled_from(rd.DEMOTE), kernel=st.sampled_from(["linear", "rbf"]))
def test_of_two_classes_it_is_the_same_who_is_demoted(seed, demote, kernel):
    X, y = small_set(seed, classes=2)
    row = Method(kernel=kernel, parameter=0.5, max_iter=7)
    fold = rd.Fold(X, y, np.arange(24), np.arange(24, 36), row, "train")
    assert np.array_equal(fold.learn(Reading(demote=demote), 7, seed), fold.learn(Reading(), 7, seed))


def test_all_repeats_read_table_2_and_half_of_them_table_3_and_the_base_reading_is_not_run_again():
    counts = experiment.reading_counts(experiment.settings("vowel"), "linear")
    assert Reading() not in counts and set(counts.values()) == {100}
    assert all(count == 50 for count in experiment.reading_counts(experiment.settings("sonar"), "rbf").values())
    assert set(experiment.reading_counts(experiment.settings("iris", n_repeats=2), "linear").values()) == {2}
    assert all(len(set(each)) == len(each) and each[0] == Reading() for each in experiment.READINGS.values())
