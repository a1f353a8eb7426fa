"""The seeds: the experiments against literal versions, the conclusions from stored tables, claims, what figures draw."""

import warnings
from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import LinAlgWarning

from kp.least_squares import KernelRidgeClassifier, self_tuning_kernel
from study import datasets
from study.claims import COLUMNS, readings_rows
from study.seeds import claims, derivations, experiment, figures, methods, tables

needs_seeds = pytest.mark.skipif(
    any(datasets.find(file) is None for file in datasets.DATASETS["seeds"].files), reason="the file of the seeds is not here"
)


@pytest.fixture(scope="module")
def found():
    """The published tables by their names."""
    published = experiment.PUBLISHED
    return {
        "variants": experiment.protocol_variants(published),
        "splits": experiment.table_3_splits(published),
        "clustering": experiment.clustering(published),
        "hard": experiment.hard(experiment.PUBLISHED_HARD),
        **experiment.surface(published),
        **experiment.methods(published),
    }


@pytest.fixture(scope="module")
def iris():
    data = experiment.examples("iris-bundled")
    return data, experiment.scaled(data.X, None, "whole"), *experiment.fixed_split(data.y)


def test_eight_of_the_nine_published_accuracies_come_out_and_the_ninth_with_tau_20(found):
    nine = tables.table_3(found["variants"], found["splits"])
    assert tables.exact(nine["ours"], nine["published"]).tolist() == [True] * 7 + [False, True, True]
    assert nine.iloc[7][["tau", "published", "ours"]].tolist() == pytest.approx([0.05, 0.8333, 106 / 120])
    assert nine.iloc[9][["lam", "tau", "k"]].tolist() == [1, 20, 2]


@needs_seeds
def test_the_estimator_gives_the_published_accuracies():
    data = experiment.examples("seeds")
    train, test = experiment.fixed_split(data.y)
    X, numbers = experiment.scaled(data.X, train, "whole"), experiment.published_numbers().query("item == 'Table 3'")
    exact = []
    for row in numbers.itertuples():
        model = KernelRidgeClassifier(alpha=row.lam, tau=row.tau, n_neighbors=int(row.k)).fit(X[train], data.y[train])
        exact.append(round(100 * model.score(X[test], data.y[test]), 2) == row.published)
    assert exact == [True] * 7 + [False, True]


def test_no_other_variant_of_the_protocol_agrees_as_well(found):
    counts = tables.agreement(found["variants"])
    assert counts.iloc[0][[*tables.BASE]].to_dict() == tables.BASE
    assert counts["equal"].tolist()[:2] == [8, 5] and len(counts) == 48
    changes = tables.sensitivity(found["variants"], tables.table_3(found["variants"], found["splits"])["published"][:-1])
    assert changes["equal"].tolist() == [8, 5, 2, 4, 3, 0, 0, 1]
    named = counts.set_index([*tables.BASE])["equal"]
    for change, row in zip(tables.CHANGES.values(), changes.itertuples(), strict=True):
        assert named[tuple((tables.BASE | change).values())] == row.equal


def test_the_stored_surface_gives_its_peaks(found):
    peaks = tables.peaks(found["surface"])
    assert peaks.iloc[1][["lam", "tau", "k"]].tolist() == [0.05, 2, 15] and peaks["indefinite"].tolist() == [0, 0, 1, 0]
    assert peaks.iloc[3][["lam", "tau", "k"]].tolist() == [*methods.BEST.values()]
    assert (peaks["mean_error"] >= found["surface"]["mean_error"].min()).all()


def test_clusterings_are_best_first_with_the_fewest_errors_of_each(found):
    rows = tables.clusterings(found["clustering"])
    assert rows["best"].is_monotonic_decreasing and rows["runs"].sum() == len(found["clustering"])
    assert rows.iloc[0][["method", "scaling"]].tolist() == ["Ward", "whole"]
    assert rows.query("method == 'k-means' and scaling == 'whole'")["best"].item() == pytest.approx(193 / 210)


def test_errors_persist_where_most_methods_make_them_in_most_splits():
    rows = [("a", 0, 4, 3), ("b", 0, 4, 4), ("a", 1, 4, 1), ("b", 1, 4, 4), ("a", 2, 0, 0), ("b", 2, 0, 0)]
    points = pd.DataFrame(rows, columns=["method", "example", "tested", "errors"]).assign(label=0)
    found = tables.persistent_errors(points)
    assert found["example"].tolist() == [0, 1] and found["methods"].tolist() == [1, 0.5]
    assert found["rate"].tolist() == [7 / 8, 5 / 8] and found["errors"].tolist() == [7, 5]
    np.testing.assert_array_equal(tables.error_rates(points, "a"), [0.75, 0.25, np.nan])


def test_methods_have_one_spelling(found):
    names = tables.paired(found["methods"])["method"]
    assert names.is_unique and not names.str.contains("SVC|perceptron|NN|&").any()
    assert names[0] == "linear discriminant analysis" and {"SVM, Gaussian", "Xu-Zhang, final"} <= set(names)


def test_sets_that_may_not_separate_are_summarised_by_method_and_size(found):
    table, limits = tables.hard_methods(found["hard"]), tables.hard_limits(found["hard"])
    for name, rows in table.groupby("dataset"):
        raw = found["hard"].query("dataset == @name and repeats == 'dropped'").assign(rate=lambda t: t["errors"] / t["n"])
        own = raw[raw["method"] == "SVC, Gaussian"]["rate"]
        row = rows.set_index("method").loc["SVM, Gaussian"]
        assert row["error"] == pytest.approx(own.mean()) and row["sd"] == pytest.approx(own.std())
        assert rows["error"].is_monotonic_increasing and methods.MAJORITY not in set(rows["method"])
        largest = raw[raw["n_train"] == raw["n_train"].max()].groupby("method")["rate"].mean()
        assert limits.loc[name, "majority"] == pytest.approx(largest[methods.MAJORITY])
        assert limits.loc[name, "bound"] < rows["error"].min() < limits.loc[name, "majority"]
    neighbours = tables.hard_neighbours(found["hard"])
    assert neighbours.groupby(["dataset", "repeats"]).size().tolist() == [4, 1, 4, 1] and (limits["copies"] > 0.05).all()


def test_settings_on_a_split_are_those_of_the_estimator(iris):
    data, X, train, test = iris
    wanted = experiment.table_3_settings()
    for (lam, tau, k), (errors, smallest) in zip(wanted, experiment.errors_at(X, data.y, train, test, wanted), strict=True):
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
        sigma = experiment.scales(X, train, test, 3, include_self=include_self, scale_from="all")
        np.testing.assert_allclose(np.concatenate(sigma), distances[np.r_[train, test], place])


def test_left_out_outputs_are_those_of_classifiers_trained_without_the_point():
    random = np.random.RandomState(0)
    X, targets, lambdas = random.normal(size=(14, 3)), np.eye(3)[random.permutation(np.arange(14) % 3)], (0.3, 2.0)
    K = np.exp(-((X[:, None] - X) ** 2).sum(2))
    fast = methods.left_out(np.linalg.eigh(K), targets, lambdas)
    for lam, f in zip(lambdas, fast, strict=True):
        for i in range(14):
            rest = np.delete(np.arange(14), i)
            A = np.linalg.solve(K[np.ix_(rest, rest)] + lam * np.eye(13), targets[rest])
            np.testing.assert_allclose(f[i], K[i, rest] @ A, atol=1e-12)


def test_tuning_passes_over_what_is_near_singular():
    y = np.array([0, 1, 0, 1])
    good, bad = np.eye(4) + 0.1 * np.equal.outer(y, y), np.eye(4) - 1.5 * np.equal.outer(y, y)
    assert np.linalg.eigvalsh(bad)[0] == pytest.approx(-2)
    assert methods.fewest_left_out({"bad": bad, "good": good}, y, (1.0, 3.0))[0] == "good"
    assert methods.fewest_left_out({"bad": bad}, y, (1.0, 3.0, 5.0)) == ("bad", 5.0)
    with pytest.raises(ValueError, match="none for lambda up to 3.0; raise it"):
        methods.fewest_left_out({"bad": bad}, y, (1.0, 3.0))


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=30))
def test_matching_of_clusters_is_the_best_of_all_permutations(pairs):
    y, clusters = np.array(pairs + [(i, i) for i in range(4)]).T
    names, agree = methods.matched(y, clusters)
    assert agree == np.sum(names[clusters] == y)
    assert agree == max(np.sum(np.array(order)[clusters] == y) for order in permutations(range(4)))


def test_fixed_splits_take_the_first_the_last_or_evenly_spread_examples_of_each_class():
    y = np.repeat([0, 1], [40, 31])
    for chosen, first, last in (("first", 0, 29), ("last", 10, 39), ("spread", 0, 38)):
        train, test = experiment.fixed_split(y, chosen)
        assert (train.min(), train[y[train] == 0].max()) == (first, last)
        assert np.bincount(y[train]).tolist() == [30, 30]
        assert sorted([*train, *test]) == list(range(71))
    with pytest.raises(ValueError, match=r"more than 30 examples, got \[40, 30\]"):
        experiment.fixed_split(y[:70])


def test_random_splits_are_stratified_and_the_same_for_the_same_seed():
    y = np.repeat([0, 1, 2], 70)
    first, second = (experiment.random_splits(y, 3, 7) for _ in range(2))
    for (train, test), (again, _) in zip(first, second, strict=True):
        assert np.bincount(y[train]).tolist() == [30] * 3 and np.bincount(y[test]).tolist() == [40] * 3
        np.testing.assert_array_equal(train, again)


def test_repeated_rows_are_left_out():
    assert experiment.examples("iris-bundled").repeated == 1 and len(experiment.examples("iris-bundled").y) == 149
    assert len(experiment.examples("iris-bundled", repeats=True).y) == 150


def test_methods_count_errors_of_examples_and_of_splits_alike(monkeypatch):
    makers = methods._discriminant, methods._self_tuning_tuned, methods._named_clusters
    monkeypatch.setattr(experiment, "METHODS", makers)
    settings = experiment.Settings(dataset="iris-bundled", n_splits=10)
    first, second = (experiment.methods.compute(settings) for _ in range(2))
    for name in ("methods", "points"):
        pd.testing.assert_frame_equal(first[name], second[name])
    by_split, by_point = (first[name].groupby("method")["errors"].sum() for name in ("methods", "points"))
    assert by_split.to_dict() == by_point.to_dict()
    assert first["points"]["tested"].sum() / 3 == first["methods"]["n"].sum() / 3


def test_settings_that_make_no_sense_are_refused():
    for changes, message in (
        (dict(dataset="iris2"), "dataset must be one of"),
        (dict(n_splits=1), "n_splits must be an integer of at least 2, got 1"),
        (dict(random_state=True), "random_state must be an integer"),
    ):
        with pytest.raises(ValueError, match=message):
            experiment.Settings(**{"dataset": "iris-bundled", "n_splits": 10} | changes)


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
    _, poles = derivations.poles(X, data.y, train, test, tau=20.0, k=2, lambdas=[1.0])
    sigma, _ = experiment.scales(X, train, test, 2)
    K = self_tuning_kernel(X[train], X[train], sigma, sigma, tau=20.0)
    assert len(poles) > 0
    for pole in poles:
        assert np.abs(np.linalg.eigvalsh(K + pole * np.eye(len(train)))).min() < 1e-12
    maps = derivations.feature_maps(X[train], 8.0, 2).set_index("kernel")
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
    table = derivations.identity(X, data.y, train, test, 1.0)
    assert table["D"].tolist() == [4, 15, 35] and (table["gap"] < 1e-10).all() and (table["disagree"] == 0).all()


def test_explained_by_class_is_one_between_points_and_zero_within():
    y = np.repeat([0, 1], 4)
    P = np.column_stack([y, np.tile([1.0, -1.0], 4)])
    np.testing.assert_allclose(derivations.explained_by_class(P, y), [1, 0])


def test_every_published_number_has_one_row_and_the_misprint_a_reading(found):
    ledger = claims.claims()
    assert list(ledger.columns) == list(COLUMNS) and ledger["key"].is_unique
    numbers = experiment.published_numbers()
    assert (
        ledger["item"].tolist() == numbers["item"].tolist() and ledger["published"].tolist() == numbers["published"].tolist()
    )
    assert ledger["verdict"].tolist() == ["exact"] * 7 + ["outside", "exact", "outside", "within", "within"]
    assert (ledger["explanation"] != "").tolist() == (ledger["verdict"] == "outside").tolist()
    reading = readings_rows(claims.readings(), ledger)
    assert reading["key"].tolist() == [ledger["key"][7]] and reading["verdict"].tolist() == ["exact"]
    one = found["splits"].query("lam == 1 and tau == 8 and k == 2")
    low, high = np.percentile(100 - 100 * one["errors"] / one["n"], [2.5, 97.5])
    assert ledger.loc[1, ["ours", "low", "high", "n"]].tolist() == pytest.approx([91.67, low, high, 120], abs=0.005)


def test_percentile_counts_half_of_what_is_equal():
    assert tables.printed_percentile(pd.Series([0.9, 0.9, 0.8, 0.95]), 0.9) == pytest.approx(0.5)
    assert tables.printed_percentile(pd.Series([110 / 120] * 2), 0.9167) == pytest.approx(0.5)


def test_figures_draw_the_tables(found, iris):
    data, X, train, test = iris
    nine = tables.table_3(found["variants"], found["splits"])
    axis = figures.figure_accuracies(found["splits"], nine).axes[0]
    drawn = {line.get_label(): line.get_xdata() for line in axis.lines}
    assert drawn["published"].tolist() == nine["published"].tolist()
    assert drawn["first of each class train"].tolist() == nine["ours"].tolist()
    assert [text.get_text() for text in axis.texts] == ["to 33%"] and len(axis.get_yticklabels()) == 10
    assert "published" not in figures.figure_accuracies(found["splits"], nine.drop(columns="published")).axes[0].get_label()

    paired = tables.paired(found["methods"])
    axis = figures.figure_differences(paired).axes[0]
    means = [container.lines[0].get_xdata()[0] for container in axis.containers if container.lines[0]]
    assert means == paired["difference"].tolist()[::-1]

    surface = found["surface"]
    panel = figures.figure_surface(surface, (2, 5, 10, 20), experiment.table_3_settings()).axes[0]
    part = surface[surface["k"] == 2].pivot(index="tau", columns="lam", values="mean_error")
    np.testing.assert_array_equal(panel.images[0].get_array(), part)

    sweep, poles = derivations.poles(X, data.y, train, test, tau=20.0, k=2, lambdas=np.geomspace(0.1, 10, 9))
    smallest = derivations.spectrum(X[train], taus=(0.1, 1.0, 10.0), ks=(2, 5))
    left, right = figures.figure_spectrum(smallest, sweep, poles, tau=20.0, k=2, lam=1.0).axes
    assert left.lines[0].get_ydata().tolist() == smallest[smallest["k"] == 2]["smallest"].tolist()
    assert [line.get_xdata()[0] for line in right.lines[: len(poles)]] == poles.tolist()

    table, limits = tables.hard_methods(found["hard"]), tables.hard_limits(found["hard"])
    for axis, (name, rows) in zip(figures.figure_hard_errors(table, limits).axes, table.groupby("dataset"), strict=True):
        assert axis.get_title() == name and sorted(axis.containers[0].lines[0].get_xdata()) == rows["error"].tolist()


def test_figures_of_examples_draw_each_of_them(iris):
    data, X, train, test = iris
    P, shares = derivations.projection(data.X)
    predicted = np.where(np.arange(len(test)) < 5, (data.y[test] + 1) % 3, data.y[test])
    figure = figures.figure_projection(P, shares, data.y, train, test, predicted, data.names)
    face = figure.axes[1]
    assert sum(len(dots.get_offsets()) for dots in face.collections) == len(data.y) + 5
    np.testing.assert_array_equal(face.collections[-1].get_offsets(), P[test[:5], :2])
    rates = {"one": np.linspace(0, 1, len(data.y)), "other": np.full(len(data.y), np.nan)}
    left = figures.figure_persistent_errors(P, shares, data.y, rates, data.names).axes[0]
    assert sum(len(dots.get_offsets()) for dots in left.collections) == len(data.y)
    picture = derivations.hard_picture("iris-bundled")
    right = figures.figure_hard_sets({"iris": picture}).axes[1]
    assert [text.get_text() for text in right.texts] == [f"{100 * share:.0f}" for share in picture[3].ravel()]
