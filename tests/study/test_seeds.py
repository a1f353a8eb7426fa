"""The study of the seeds: its experiments against literal versions, what is stored, and what is said about it."""

import warnings
from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import LinAlgWarning

from kp.least_squares import KernelRidgeClassifier, self_tuning_kernel
from study import datasets, store
from study.seeds import experiment as seeds
from study.seeds import figures, tables

NAMES = [name for names in seeds.EXPERIMENTS for name in names]
needs_seeds = pytest.mark.skipif(
    any(datasets.find(file) is None for file in datasets.DATASETS["seeds"].files), reason="the file of the seeds is not here"
)


@pytest.fixture(scope="module")
def found():
    """The tables as they are committed, whatever code made them."""
    return {name: store.read_table(seeds._path(name)) for name in NAMES}


@pytest.fixture(scope="module")
def iris():
    data = seeds.examples("iris-bundled")
    return data, seeds.scaled(data.X, None, "whole"), *seeds.fixed_split(data.y)


def quick(**changes):
    parameters = dict(dataset="iris-bundled", hard_datasets="wine-bundled", n_splits=10, random_state=0, n_hard_splits=2)
    return seeds.Study(**parameters | changes)


def test_eight_of_the_nine_published_accuracies_come_out_and_the_ninth_with_tau_20(found):
    nine = tables.nine(found, published=True)
    assert tables.exact(nine["ours"], nine["published"]).tolist() == [True] * 7 + [False, True, True]
    assert nine.iloc[7][["tau", "published", "ours"]].tolist() == pytest.approx([0.05, 0.8333, 106 / 120])
    assert nine.iloc[9][["lam", "tau", "k"]].tolist() == [1, 20, 2]


@needs_seeds
def test_the_estimator_gives_the_published_accuracies():
    data = seeds.examples("seeds")
    train, test = seeds.fixed_split(data.y)
    X, numbers = seeds.scaled(data.X, train, "whole"), seeds.published_numbers().query("item == 'Table 3'")
    exact = []
    for row in numbers.itertuples():
        model = KernelRidgeClassifier(alpha=row.lam, tau=row.tau, n_neighbors=int(row.k)).fit(X[train], data.y[train])
        exact.append(round(100 * model.score(X[test], data.y[test]), 2) == row.published)
    assert exact == [True] * 7 + [False, True]


def test_no_other_reading_of_the_conventions_agrees_as_well(found):
    readings = tables.agreement(found)
    assert readings.iloc[0][[*tables.BASE]].to_dict() == tables.BASE
    assert readings["equal"].tolist()[:2] == [8, 5] and len(readings) == 48


def test_stored_tables_belong_to_the_code():
    assert sorted(seeds.tables(seeds.PUBLISHED)) == sorted(NAMES)


def test_a_table_of_other_code_is_refused_with_the_command_that_makes_it(monkeypatch, tmp_path):
    monkeypatch.setattr(seeds, "RESULTS", tmp_path)
    with pytest.raises(store.StaleResult, match="python -m study run seeds"):
        seeds.tables(seeds.PUBLISHED)


def test_settings_on_a_split_are_those_of_the_estimator(iris):
    data, X, train, test = iris
    wanted = seeds.settings()
    for (lam, tau, k), (errors, smallest) in zip(wanted, seeds._settings_on(X, data.y, train, test, wanted), strict=True):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LinAlgWarning)
            model = KernelRidgeClassifier(alpha=lam, tau=tau, n_neighbors=k).fit(X[train], data.y[train])
        assert errors == np.sum(model.predict(X[test]) != data.y[test])
        K = self_tuning_kernel(X[train], X[train], model.sigma_, model.sigma_, tau=tau)
        assert smallest == pytest.approx(np.linalg.eigvalsh(K)[0])
        assert model.positive_definite_ == (smallest + lam > 0)


def test_scales_from_all_points_are_those_of_the_whole_set(iris):
    data, X, train, test = iris
    distances = np.sort(np.sqrt(((X[:, None] - X) ** 2).sum(2)), axis=1)
    for include_self, place in ((True, 2), (False, 3)):
        sigma = seeds.scales(X, train, test, 3, include_self=include_self, scale_from="all")
        np.testing.assert_allclose(np.concatenate(sigma), distances[np.r_[train, test], place])


def test_left_out_outputs_are_those_of_classifiers_trained_without_the_point():
    random = np.random.RandomState(0)
    X, targets, lambdas = random.normal(size=(14, 3)), np.eye(3)[random.permutation(np.arange(14) % 3)], (0.3, 2.0)
    K = np.exp(-((X[:, None] - X) ** 2).sum(2))
    fast = seeds.left_out(np.linalg.eigh(K), targets, lambdas)
    for lam, f in zip(lambdas, fast, strict=True):
        for i in range(14):
            rest = np.delete(np.arange(14), i)
            A = np.linalg.solve(K[np.ix_(rest, rest)] + lam * np.eye(13), targets[rest])
            np.testing.assert_allclose(f[i], K[i, rest] @ A, atol=1e-12)


def test_tuning_passes_over_what_is_near_singular():
    y = np.array([0, 1, 0, 1])
    good, bad = np.eye(4) + 0.1 * np.equal.outer(y, y), np.eye(4) - 1.5 * np.equal.outer(y, y)
    assert np.linalg.eigvalsh(bad)[0] == pytest.approx(-2)
    assert seeds.fewest_left_out({"bad": bad, "good": good}, y, (1.0, 3.0))[0] == "good"
    assert seeds.fewest_left_out({"bad": bad}, y, (1.0, 3.0, 5.0)) == ("bad", 5.0)
    with pytest.raises(ValueError, match="none for lambda up to 3.0; raise it"):
        seeds.fewest_left_out({"bad": bad}, y, (1.0, 3.0))


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=30))
def test_matching_of_clusters_is_the_best_of_all_permutations(pairs):
    y, clusters = np.array(pairs + [(i, i) for i in range(4)]).T
    names, agree = seeds.matched(y, clusters)
    assert agree == np.sum(names[clusters] == y)
    assert agree == max(np.sum(np.array(order)[clusters] == y) for order in permutations(range(4)))


def test_fixed_splits_take_the_first_the_last_or_evenly_spread_examples_of_each_class():
    y = np.repeat([0, 1], [40, 31])
    for chosen, first, last in (("first", 0, 29), ("last", 10, 39), ("spread", 0, 38)):
        train, test = seeds.fixed_split(y, chosen)
        assert (train.min(), train[y[train] == 0].max()) == (first, last)
        assert np.bincount(y[train]).tolist() == [30, 30]
        assert sorted([*train, *test]) == list(range(71))
    with pytest.raises(ValueError, match=r"more than 30 examples, got \[40, 30\]"):
        seeds.fixed_split(y[:70])


def test_random_splits_are_stratified_and_the_same_for_the_same_seed():
    y = np.repeat([0, 1, 2], 70)
    first, second = (seeds.random_splits(y, 3, 7) for _ in range(2))
    for (train, test), (again, _) in zip(first, second, strict=True):
        assert np.bincount(y[train]).tolist() == [30] * 3 and np.bincount(y[test]).tolist() == [40] * 3
        np.testing.assert_array_equal(train, again)


def test_repeated_rows_are_left_out():
    assert seeds.examples("iris-bundled").repeated == 1 and len(seeds.examples("iris-bundled").y) == 149
    assert len(seeds.examples("iris-bundled", repeats=True).y) == 150


def test_methods_count_errors_of_examples_and_of_splits_alike(monkeypatch):
    monkeypatch.setattr(seeds, "METHODS", (seeds._discriminant, seeds._self_tuning_tuned, seeds._named_clusters))
    first, second = (seeds._run(seeds.methods, quick(), False) for _ in range(2))
    for name in ("methods", "points"):
        pd.testing.assert_frame_equal(first[name], second[name])
    by_split, by_point = (first[name].groupby("method")["errors"].sum() for name in ("methods", "points"))
    assert by_split.to_dict() == by_point.to_dict()
    assert first["points"]["tested"].sum() / 3 == first["methods"]["n"].sum() / 3


def test_study_refuses_parameters_that_make_no_sense():
    for changes, message in (
        (dict(dataset="iris2"), "dataset must be one of"),
        (dict(hard_datasets="wine-bundled wines"), "got 'wines'"),
        (dict(n_splits=3), "n_splits must be an integer of at least 10, got 3"),
        (dict(random_state=True), "random_state must be an integer"),
    ):
        with pytest.raises(ValueError, match=message):
            quick(**changes)


def test_paired_differences_follow_nadeau_and_bengio():
    table = pd.DataFrame(
        [(s, m, e, 60, 30) for m, errors in (("a", (6, 9, 3)), ("b", (12, 9, 6))) for s, e in enumerate(errors)],
        columns=["split", "method", "errors", "n", "n_train"],
    )
    row = tables.paired(table, "a").set_index("method").loc["b"]
    difference = np.array([6, 0, 3]) / 60
    half = 4.302652729911275 * np.sqrt((1 / 3 + 60 / 30) * difference.var(ddof=1))  # t quantile, two degrees of freedom
    assert row["difference"] == pytest.approx(0.05)
    assert (row["low"], row["high"]) == pytest.approx((0.05 - half, 0.05 + half))
    assert (row["better"], row["equal"], row["worse"]) == pytest.approx((0, 1 / 3, 2 / 3))


@given(st.integers(2, 12), st.floats(0, 1))
def test_nearest_neighbour_bound_inverts_cover_and_hart(n_classes, share):
    least = share * (n_classes - 1) / n_classes
    assert tables.nearest_neighbour_bound(least * (2 - n_classes / (n_classes - 1) * least), n_classes) == pytest.approx(
        least, abs=1e-7
    )


def test_poles_are_where_the_matrix_is_singular_and_features_have_none(iris):
    data, X, train, test = iris
    _, poles = tables.poles(X, data.y, train, test, tau=20.0, k=2, lambdas=[1.0])
    sigma, _ = seeds.scales(X, train, test, 2)
    K = self_tuning_kernel(X[train], X[train], sigma, sigma, tau=20.0)
    assert len(poles) > 0
    for pole in poles:
        assert np.abs(np.linalg.eigvalsh(K + pole * np.eye(len(train)))).min() < 1e-12
    maps = tables.feature_maps(X[train], 8.0, 2).set_index("kernel")
    assert maps.loc["corrected map", "smallest_eigenvalue"] > -1e-14 > maps.loc["self-tuning", "smallest_eigenvalue"]
    assert maps.loc["corrected map", ["diagonal from", "to"]].tolist() == [1, 1] and maps.loc["printed map", "to"] > 1e6


def test_the_printed_map_with_its_missing_factor_is_a_gaussian_of_rescaled_points():
    # One attribute: phi_n(x) = exp(-u^2/tau) sqrt((2/tau)^n / n!) u^n with u = x / sigma, summed over n.
    u, tau, n = np.array([0.3, -1.2, 0.8]), 3.0, np.arange(40)
    factorial = np.cumprod(np.r_[1.0, n[1:]])
    phi = np.exp(-(u**2) / tau)[:, None] * np.sqrt((2 / tau) ** n / factorial) * u[:, None] ** n
    np.testing.assert_allclose(phi @ phi.T, np.exp(-((u[:, None] - u) ** 2) / tau), rtol=1e-12)


def test_primal_and_dual_agree_on_iris(iris):
    data, X, train, test = iris
    table = tables.identity(X, data.y, train, test, 1.0)
    assert table["D"].tolist() == [4, 15, 35] and (table["gap"] < 1e-10).all() and (table["disagree"] == 0).all()


def test_explained_by_class_is_one_between_points_and_zero_within():
    y = np.repeat([0, 1], 4)
    P = np.column_stack([y, np.tile([1.0, -1.0], 4)])
    np.testing.assert_allclose(tables.explained_by_class(P, y), [1, 0])


def test_claims_have_every_published_number_once_and_the_misprint_twice(found):
    claims = tables.claims(found)
    columns = "source item quantity published ours low high n verdict percentile producer".split()
    assert claims.columns.tolist() == columns
    assert claims["item"].value_counts().to_dict() == {"Table 3": 10, "Result and Analysis": 3}
    assert (claims["verdict"] == "exact").sum() >= 9 and claims["verdict"].isin(["exact", "within", "outside"]).all()
    assert claims["percentile"].dropna().between(0, 1).all() and claims["percentile"].isna().sum() == 1
    assert (claims["low"] <= claims["high"]).all()


def test_percentile_counts_half_of_what_is_equal():
    assert tables._place(pd.Series([0.9, 0.9, 0.8, 0.95]), 0.9) == pytest.approx(0.5)
    assert tables._place(pd.Series([110 / 120] * 2), 0.9167) == pytest.approx(0.5)


def test_every_figure_is_drawn_from_the_tables(found, iris):
    data, X, train, test = iris
    P, shares = tables.projection(data.X)
    rates = {"one": np.linspace(0, 1, len(data.y)), "other": np.full(len(data.y), np.nan)}
    smallest = tables.spectrum(X[train], taus=(0.1, 1.0, 10.0), ks=(2, 5))
    sweep, poles = tables.poles(X, data.y, train, test, tau=20.0, k=2, lambdas=np.geomspace(0.1, 10, 9))
    drawn = [
        figures.figure_spectrum(smallest, sweep, poles, tau=20.0, k=2, lam=1.0),
        figures.figure_settings(found["settings"], tables.nine(found, published=True)),
        figures.figure_settings(found["settings"], tables.nine(found, published=False)),
        figures.figure_surface(found["surface"], (2, 5, 10, 20), seeds.settings()),
        figures.figure_paired(tables.paired(found["methods"])),
        figures.figure_projection(P, shares, data.y, train, test, np.zeros(len(test), dtype=int), data.names),
        figures.figure_stubborn(P, shares, data.y, rates, data.names),
        figures.figure_hard({"iris": tables.hard_picture("iris-bundled")}),
        figures.figure_hard_errors(tables.hard_methods(found)),
    ]
    for figure in drawn:
        named = [axis for axis in figure.axes if axis.get_xlabel() or axis.get_ylabel() or axis.get_title()]
        assert named and figure.get_figwidth() <= 6.41
