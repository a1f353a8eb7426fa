"""The cross-validation of the published tables and its readings, against the literal algorithm and scikit-learn's."""

from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.model_selection import StratifiedKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from kp import kernels
from kp.joint import DEMOTE, collect_mistakes
from kp.mistakes import PREDICTORS
from kp.multiclass import MulticlassKernelPerceptron
from study import datasets
from study.results import runs
from study.tables import experiment
from study.tables import protocol as cv
from study.tables import readings as rd
from study.tables.protocol import Method
from study.tables.readings import Reading


def small_set(seed, n=36, classes=3, *, whole=False):
    """A few points of three classes; whole ones lie in {0, 1, 2}, and are scaled and multiplied without rounding."""
    generator = np.random.RandomState(seed)
    y = np.arange(n) % classes
    points = generator.randint(2, size=(n, 3)) if whole else generator.normal(size=(n, 3))
    return points + (1.0 if whole else 1.2) * np.eye(3)[y], y


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


def literal_errors(X, y, train, test, method, random_state):
    """Xu & Zhang 2005, eqs 4, 5, 10 and 11, a visit at a time: (train errors, test errors, visits with a mistake)."""
    if method.scaling != "none":
        X = MinMaxScaler().fit(X if method.scaling == "all" else X[train]).transform(X)
    features = X
    if method.kernel == "poly":
        features = kernels.polynomial(int(method.parameter), coef0=0)(X, X[train])
    elif method.kernel == "rbf":
        features = kernels.gaussian(sigma=method.parameter)(X, X[train])
    random = np.random.RandomState(random_state)
    n = len(train)
    C = y.max() + 1
    W = np.zeros((C, features.shape[1]))
    b = np.zeros(C)
    epoch = np.arange(n) if method.order == "given" else random.permutation(n)
    visits = updates = epochs = 0
    while True:
        clean = True
        for q in train[epoch]:
            f = (W * features[q]).sum(axis=1) + b * method.threshold  # equal rows give equal scores, which BLAS does not
            rivals, promotions = demoted(f, y[q], method.demote)
            if rivals:
                W[y[q]] += promotions * features[q]
                b[y[q]] += promotions
                for j in rivals:
                    W[j] -= features[q]
                    b[j] -= 1
                updates += 1
                clean = False
            visits += 1
            done = {"epochs": epochs, "presentations": visits, "updates": updates}[method.unit] >= method.max_iter
            if done:
                break
        epochs += 1
        if done or clean or (method.unit == "epochs" and epochs >= method.max_iter):
            break
        if method.order == "fresh":
            epoch = random.permutation(n)
    f = features @ W.T + b * method.threshold
    return *(int((f[part].argmax(axis=1) != y[part]).sum()) for part in (train, test)), updates


KERNELS = st.sampled_from([("linear", 0), ("poly", 2), ("poly", 3), ("rbf", 0.3)])
CHOICES = {
    "order": st.sampled_from(cv.ORDERS), "threshold": st.booleans(), "demote": st.sampled_from(DEMOTE),
    "scaling": st.sampled_from(cv.SCALINGS), "unit": st.sampled_from(cv.UNITS),
}  # fmt: skip


@settings(deadline=None, max_examples=160, derandomize=True)
@given(seed=st.integers(0, 1000), kernel=KERNELS, max_iter=st.integers(1, 60), choices=st.fixed_dictionaries(CHOICES))
def test_every_variant_is_that_of_the_literal_algorithm(seed, kernel, max_iter, choices):
    X, y = small_set(seed, whole=kernel[0] != "rbf")
    method = Method(kernel=kernel[0], parameter=kernel[1], max_iter=max_iter, **choices)
    train, test = cv.splits(X, y, method, 3, seed)[0]
    [row] = cv.run(cv.Fold(X, y, train, test, method), method, cv.Shuffles(seed), limits=[max_iter])
    assert (row[1], row[2], row[5]) == literal_errors(X, y, train, test, method, seed)


@pytest.mark.long
def test_readings_that_share_a_fold_are_each_the_method_with_its_changes():
    changes = [
        {"demote": "each", "unit": "updates"}, {"demote": "all", "unit": "presentations"}, {"threshold": False},
        {"scaling": "none"}, {"folds": "plain", "scaling": "all"}, {"folds": "consecutive"},
    ]  # fmt: skip
    readings = tuple(Reading(**each) for each in changes)
    for method in experiment.methods("wine-bundled").values():
        ours = rd.cross_validate([("wine-bundled", method, readings, 3)], n_folds=5)
        alone = [cv.cross_validate([("wine-bundled", replace(method, **each), 3)], n_folds=5) for each in changes]
        rates = pd.concat([cv.summary(folds, experiment.KEYS) for folds in alone])[experiment.RATES].round(rd.DIGITS)
        assert ours[experiment.RATES].to_numpy().tolist() == rates.to_numpy().tolist()


def test_outside_is_for_the_set_in_the_unit_interval_which_has_two_classes():
    outside = Reading(scaling="outside", demote="all")
    assert outside.of("sonar") == Reading(scaling="none") and outside.of("iris") == Reading(demote="all")
    for name in ("iris-bundled", "wine-bundled", "sonar"):
        try:
            data = datasets.load(name, download=False)
        except datasets.DataError:
            pytest.skip(f"the files of {name} are not there; get them with: python -m study.datasets fetch {name}")
        in_unit, two_classes = 0 <= data.X.min() <= data.X.max() <= 1, len(data.classes) == 2
        assert (in_unit, two_classes) == rd._nature(name.removesuffix("-bundled")) == rd._nature(name)
    assert outside.of("moons") == Reading() and outside.of("digits") == Reading(demote="all")


@settings(deadline=None, max_examples=20, derandomize=True)
@given(seed=st.integers(0, 1000), demote=st.sampled_from(DEMOTE), kernel=st.sampled_from(["linear", "rbf"]))
def test_of_two_classes_it_is_the_same_who_is_demoted(seed, demote, kernel):
    X, y = small_set(seed, classes=2)
    row = Method(kernel=kernel, parameter=0.5, max_iter=7)
    fold = cv.Fold(X, y, np.arange(24), np.arange(24, 36), row)
    choices = row, replace(row, demote=demote)
    visits = list(cv.orders(24, row, cv.Shuffles(seed)))
    one, other = (vars(collect_mistakes(fold.learner(each), visits)) for each in choices)
    np.testing.assert_equal(one, other)


@pytest.mark.parametrize(("kernel", "demote"), [("poly", "all"), ("rbf", "first")])
def test_folds_are_those_of_scikit_learn_with_our_estimators(kernel, demote):
    method = replace(experiment.methods("wine-bundled", demote=demote)[kernel], max_iter=25)
    of_width = {"gamma": 1 / (2 * method.parameter**2)}
    shape = {"degree": int(method.parameter), "gamma": 1, "coef0": 0.0} if kernel == "poly" else of_width
    shape |= {"update": "xu-zhang", "predictor": "final", "demote": demote}
    model = MulticlassKernelPerceptron(kernel, **shape, max_iter=25, random_state=3, n_jobs=1)
    X, y = cv.load("wine-bundled")
    folds = StratifiedKFold(10, shuffle=True, random_state=3)
    model = make_pipeline(MinMaxScaler(), model)
    found = cross_validate(model, X, y, cv=folds, return_train_score=True, return_estimator=True)
    ours = cv.cross_validate([("wine-bundled", method, 3)], threads=1)
    for part in ("train", "test"):
        wrong = np.rint((1 - found[f"{part}_score"]) * ours[f"n_{part}"])
        assert ours[f"{part}_errors"].tolist() == wrong.tolist()
    fitted = [pipeline[-1] for pipeline in found["estimator"]]
    counted = [[each.n_iter_, each.converged_, each.mistakes_[0].n_mistakes()] for each in fitted]
    assert ours[["epochs", "converged", "mistakes"]].to_numpy().tolist() == counted
    table = cv.predictors([("wine-bundled", method, 3)], threads=1).set_index("predictor")
    for name in PREDICTORS:
        pairs = zip(found["estimator"], folds.split(X, y), strict=True)
        wrong = [(p[-1].predict(p[0].transform(X[b]), predictor=name) != y[b]).sum() for p, (_, b) in pairs]
        assert table.loc[name, "test_errors"] == sum(wrong)


def test_a_set_that_is_not_in_the_source_goes_through_the_same_protocol():
    """The bundled digits, by the command's options, against the literal algorithm in the first fold."""
    options = {"dataset": "digits", "kernel": "poly", "max-iter": 20, "n-folds": 3, "n-repeats": 1}
    typed = [text for name, value in options.items() for text in (f"--{name}", str(value))]
    [run] = runs.settings(runs.find("tables"), typed)
    table = experiment.rows.compute(run)
    X, y = cv.load("digits")
    train, test = next(iter(StratifiedKFold(3, shuffle=True, random_state=0).split(X, y)))
    assert table["kernel"].tolist() == [kernel for kernel in cv.KERNELS for _ in range(3)]
    for method, row in zip(run.rows, table[table["fold"] == 0].itertuples(), strict=True):
        assert (row.train_errors, row.errors, row.mistakes) == literal_errors(X, y, train, test, method, 0)
        assert (row.parameter, row.iterations) == {"linear": (0, 500), "poly": (2, 20), "rbf": (0.6, 500)}[row.kernel]
        assert (row.n_train, row.n) == (len(train), len(test))


def test_one_run_gives_what_a_run_of_each_limit_gives():
    limits = (1, 3, 70, 90)
    for kernel, method in experiment.methods("iris-bundled").items():
        method = replace(method, max_iter=200)
        table = cv.cross_validate([("iris-bundled", method, 1)], n_folds=3, limits=limits, threads=1)
        for limit in (*limits, 200):
            alone = cv.cross_validate([("iris-bundled", replace(method, max_iter=limit), 1)], n_folds=3, threads=1)
            part = table[table["iterations"] == limit].reset_index(drop=True)
            pd.testing.assert_frame_equal(part, alone, obj=kernel)


@settings(deadline=None, max_examples=30)
@given(asked=st.lists(st.tuples(st.integers(1, 4), st.integers(1, 90), st.sampled_from(cv.ORDERS)), max_size=6))
def test_shuffles_that_are_shared_are_those_of_each_alone(asked):
    shared = cv.Shuffles(3)
    for n, max_iter, order in asked:
        method = Method(kernel="linear", max_iter=max_iter, order=order)
        one, other = (list(cv.orders(n, method, shuffles)) for shuffles in (shared, cv.Shuffles(3)))
        assert all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


# Choosing parameters.


def test_inner_folds_choose_without_the_test_examples_the_setting_with_the_fewest_errors(monkeypatch):
    X, y = small_set(3)
    methods = [Method(kernel="rbf", parameter=p, max_iter=20) for p in (1.0, 0.3, 0.1)]
    limits = (5, 20)
    train, test = cv.splits(X, y, methods[0], 3, 0)[0]
    monkeypatch.setattr(cv, "load", lambda name: (X, y))
    chosen = cv.chosen([("any", methods, limits, 0)], n_folds=3, inner_folds=3, threads=1).iloc[0]
    settings = [replace(method, max_iter=limit) for method, limit in product(methods, limits)]
    inner = []
    for method in settings:
        parts = cv.splits(X[train], y[train], method, 3, 0)
        inner.append(sum(literal_errors(X[train], y[train], a, b, method, 0)[1] for a, b in parts))
    best = settings[int(np.argmin(inner))]  # the first of equals
    assert (chosen["parameter"], chosen["iterations"]) == (best.parameter, best.max_iter)
    assert chosen["test_errors"] == literal_errors(X, y, train, test, best, 0)[1]


# What is stored comes out again. The bundled wines are those of the file, so that they need no download.


@pytest.mark.parametrize(("kernel", "repeat"), [("linear", 99), ("poly", 0), ("rbf", 99)])
def test_stored_folds_come_out_again_to_the_last_digit(kernel, repeat):
    stored = (experiment.linear if kernel == "linear" else experiment.kernel)(experiment.PUBLISHED)
    ours = cv.cross_validate([("wine-bundled", experiment.methods("wine")[kernel], repeat)]).assign(dataset="wine")
    part = stored.query("dataset == 'wine' and kernel == @kernel and repeat == @repeat").reset_index(drop=True)
    pd.testing.assert_frame_equal(ours, part, check_dtype=False, check_exact=True)


@pytest.mark.long
@pytest.mark.parametrize("name", ["kernel", "predictors", "chosen", "readings", "rival"])
def test_rows_are_the_same_on_any_number_of_threads(name, monkeypatch):
    sizes = {"n_folds": 2, "n_repeats": 1, "degrees": (1, 2), "widths": (0.6,), "inner_folds": 2}
    run = experiment.Settings(dataset="iris-bundled", **sizes)
    found = []
    for threads in (1, 3):
        monkeypatch.setattr(experiment, "cpu_count", lambda threads=threads: threads)
        found.append(getattr(experiment, name).compute(run))
    pd.testing.assert_frame_equal(*found, check_exact=True)
