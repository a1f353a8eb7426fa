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
from study import datasets, statistics, style
from study.claims import COLUMNS, STATEMENT_VERDICTS, in_words, readings_rows
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
        "grid": experiment.source_grid(published),
        "misprint": experiment.misprint(published),
        "setting_points": experiment.setting_points(published),
        "separation": experiment.separation(published),
        "facts": experiment.facts(published).set_index("fact")["value"],
        **experiment.surface(published),
        **experiment.methods(published),
        **experiment.tuned(published),
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


def test_the_published_optimum_is_that_of_the_sound_settings_of_the_grid_and_not_of_a_finer_one(found):
    optima = tables.optima(found["grid"]).set_index(["grid", "sound"])
    assert optima["settings"].tolist() == [700, 588, 5776, 4802] and optima["better"].tolist() == [13, 0, 161, 36]
    assert (120 * optima["best"]).round(6).tolist() == [112, 110, 114, 113]
    # The grid of the surface is a part of the finer one, with the same errors on the source's split.
    both = found["surface"].merge(found["grid"], on=["lam", "tau", "k"])
    assert len(both) == len(found["surface"]) and (both["source_split_errors"] == both["errors"]).all()


def test_only_tau_20_gives_the_number_that_does_not_come_out(found):
    rows = tables.misprints(found["misprint"], found["variants"]).set_index("changed")
    assert rows["values"].tolist() == [(20.0,), (), (), ()] and rows["tried"].tolist() == [174, 29, 27, 48]
    assert rows.loc["protocol", "low"] == pytest.approx(102 / 120)
    kept = found["misprint"].query("changed == 'tau' and value == 0.05")["errors"].item()
    assert (
        kept
        == found["variants"]
        .query("scaling == 'whole' and include_self and scale_from == 'train'")
        .query("chosen == 'first' and tau == 0.05")["errors"]
        .item()
    )


def test_stable_settings_are_those_without_an_indefinite_split(found):
    nine = tables.table_3(found["variants"], found["splits"])
    unstable = nine[nine["indefinite"] > 0]
    assert unstable[["lam", "tau", "k"]].values.tolist() == [[0.5, 8, 2], [1, 20, 2]]
    assert len(tables.stable(nine)) == 8 and unstable["indefinite"].tolist() == pytest.approx([0.03, 0.458])
    mean, percentile = tables.hardness(nine, found["splits"])
    assert mean == pytest.approx(tables.stable(nine)["ours"].mean()) and percentile == pytest.approx(0.0885)


def test_settings_that_differ_in_one_value_are_told_apart_only_where_one_is_not_sound(found):
    nine = tables.table_3(found["variants"], found["splits"])
    pairs = tables.setting_pairs(found["setting_points"], nine)
    told = pairs["told"].tolist()
    assert told == [each.p < 0.05 for each in pairs["difference"]]
    assert told == [not sound for sound in pairs["sound"]] == [False, False, True, False, False, True, True]
    for pair in pairs.itertuples():
        assert sum(a != b for a, b in zip(pair.first, pair.second, strict=True)) == 1


def test_rates_leave_out_examples_that_were_never_tested():
    rows = [("a", 0, 2, 1), ("a", 1, 0, 0), ("a", 2, 4, 1), ("b", 0, 2, 2), ("b", 1, 0, 0), ("b", 2, 4, 4)]
    points = pd.DataFrame(rows, columns=["method", "example", "tested", "errors"]).assign(label=0)
    difference = tables.against(points, "a")["b"]
    assert difference.n == 2 and difference.estimate == pytest.approx((0.5 + 0.75) / 2)
    assert difference.adjusted == "Holm over 1"


def test_differences_of_methods_are_means_over_examples_with_holm(found):
    points = pd.concat([found["points"], found["tuned_points"]], ignore_index=True)
    differences = tables.against(points)
    assert len(differences) == 24 and all(each.adjusted == "Holm over 24" for each in differences.values())
    rates = {name: tables.error_rates(points, name) for name in ("linear discriminant analysis", methods.REFERENCE)}
    one = differences["linear discriminant analysis"]
    assert one.estimate == pytest.approx((rates["linear discriminant analysis"] - rates[methods.REFERENCE]).mean())
    assert one.n == 210 and one.low < one.estimate < one.high < 0 and one.word() == "is lower than"
    found = tables.paired(pd.concat([found["methods"], found["tuned"]], ignore_index=True), differences)
    verdicts = found.set_index("method")["verdict"]
    assert verdicts[verdicts == "lower"].index.tolist() == ["linear discriminant analysis"]
    assert verdicts.value_counts()["higher"] == 3 and verdicts[methods.REFERENCE] == ""


@needs_seeds
def test_the_stored_answers_of_the_linear_programmes_come_out_again():
    again = experiment.separation.compute(experiment.PUBLISHED)
    pd.testing.assert_frame_equal(again, experiment.separation(experiment.PUBLISHED))
    answers = again.set_index(["classes", "degree"])["separable"]
    assert answers["all together", 1] == "no" and answers["Rosa and all others", 1] == "yes"
    assert answers["Kama and Canadian", 1] == "no" and answers["all together", 2] == "yes"


def test_a_linear_programme_tells_what_planes_separate():
    corners = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]])
    assert not experiment.separable(corners, np.array([0, 0, 1, 1]))  # exclusive or
    assert experiment.separable(corners, np.array([0, 1, 1, 1])) and experiment.separable(corners, np.array([0, 1, 2, 3]))
    line = np.arange(3.0)[:, None]
    # Three points on a line: no plane tells the middle one from both others, but the highest of three functions does.
    assert not experiment.separable(line, np.array([0, 1, 0])) and experiment.separable(line, np.array([0, 1, 2]))


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 4))
def test_classes_named_by_linear_functions_are_separable_until_two_equal_points_differ(seed, n_classes):
    random = np.random.RandomState(seed)
    X, W = random.normal(size=(20, 3)), random.normal(size=(3, n_classes))
    scores = np.sort(X @ W, axis=1)
    X = X[scores[:, -1] - scores[:, -2] > 1e-3]
    y = np.unique((X @ W).argmax(1), return_inverse=True)[1]
    if y.max() > 0:
        assert experiment.separable(X, y)
        assert not experiment.separable(np.vstack([X, X[:1]]), np.append(y, (y[0] + 1) % (y.max() + 1)))


def test_facts_of_the_seeds(found):
    facts = found["facts"]
    assert facts["examples"] == 210 and facts["attributes"] == 7 and facts["gaps beyond rounding"] == 0
    for name in ("a class", "a class for training", "a class for testing"):
        assert facts[f"fewest examples of {name}"] == facts[f"most examples of {name}"]
    assert facts["variance of attributes of length 1 over the whole set"] == pytest.approx(1 / 210, rel=1e-5)
    assert facts["variance of attributes of length 1 over the training part"] == pytest.approx(1 / 90, rel=1e-5)


def test_clusterings_are_best_first_with_the_fewest_errors_of_each(found):
    rows = tables.clusterings(found["clustering"])
    assert rows["best"].is_monotonic_decreasing and rows["runs"].sum() == len(found["clustering"])
    assert rows.iloc[0][["method", "scaling"]].tolist() == ["Ward", "whole"]
    kinds = tables.kinds_of_clustering(found["clustering"]).set_index("method")
    assert (
        kinds["best"].tolist() == pytest.approx([195 / 210, 193 / 210, 188 / 210])
        and (kinds["worst"] <= kinds["best"]).all()
    )
    assert rows.query("method == 'k-means' and scaling == 'whole'")["best"].item() == pytest.approx(193 / 210)


def test_errors_persist_where_most_methods_make_them_in_most_splits():
    rows = [("a", 0, 4, 3), ("b", 0, 4, 4), ("a", 1, 4, 1), ("b", 1, 4, 4), ("a", 2, 0, 0), ("b", 2, 0, 0)]
    points = pd.DataFrame(rows, columns=["method", "example", "tested", "errors"]).assign(label=0)
    found = tables.persistent_errors(points)
    assert found["example"].tolist() == [0, 1] and found["methods"].tolist() == [1, 0.5]
    assert found["rate"].tolist() == [7 / 8, 5 / 8] and found["errors"].tolist() == [7, 5]
    np.testing.assert_array_equal(tables.error_rates(points, "a"), [0.75, 0.25, np.nan])
    assert tables.persistent_by_class(points, "a", 2).tolist() == [1, 0]
    assert tables.persistent_in_common(points, "a", "b") == 1 == tables.persistent_in_common(points, "b", "a")


def test_methods_have_one_spelling(found):
    table = pd.concat([found["methods"], found["tuned"]], ignore_index=True)
    paired = tables.paired(table, tables.against(pd.concat([found["points"], found["tuned_points"]], ignore_index=True)))
    names = paired["method"]
    assert names.is_unique and not names.str.contains("SVC|perceptron|NN|&").any()
    assert names[0] == "linear discriminant analysis"
    assert {"SVM, Gaussian", "Xu-Zhang, final", "Xu-Zhang, tuned, final"} <= set(names)
    one = paired.set_index("method").loc["SVM, Gaussian"]
    own = found["methods"].query("method == 'SVC, Gaussian'")
    assert one["error"] == pytest.approx((own["errors"] / own["n"]).mean()) and one["low"] < one["difference"] < one["high"]
    assert paired.set_index("method").loc[methods.REFERENCE, ["low", "p"]].isna().all()


def test_tuned_forms_choose_a_width_of_the_list_on_the_training_part(iris):
    data, X, train, test = iris
    forms = methods.tuned_forms(X[train], data.y[train], 0)
    assert len(forms) == 6 and {width for width, _ in forms.values()} <= set(methods.WIDTHS)
    # With one width there is nothing to choose: the fixed form with that width.
    fixed = methods._multiclass(np.sqrt(X.shape[1] / 2), "ordinary", {"random_state": 0, "n_jobs": 1})
    fixed.fit(X[train], data.y[train])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(methods, "WIDTHS", (1.0,))
        width, predict = methods.tuned_forms(X[train], data.y[train], 0)["ordinary, tuned, average"]
    assert width == 1.0
    np.testing.assert_array_equal(predict(X[test]), fixed.predict(X[test], predictor="average"))


def test_sets_that_may_not_separate_are_summarised_by_method_and_size(found):
    table, majority = tables.hard_methods(found["hard"]), tables.hard_majority(found["hard"])
    for name, rows in table.groupby("dataset"):
        raw = found["hard"].query("dataset == @name and repeats == 'dropped'").assign(rate=lambda t: t["errors"] / t["n"])
        own = raw[raw["method"] == "SVC, Gaussian"]["rate"]
        row = rows.set_index("method").loc["SVM, Gaussian"]
        assert row["error"] == pytest.approx(own.mean()) and row["sd"] == pytest.approx(own.std())
        assert rows["error"].is_monotonic_increasing and methods.MAJORITY not in set(rows["method"])
        largest = raw[raw["n_train"] == raw["n_train"].max()].groupby("method")["rate"].mean()
        assert majority[name] == pytest.approx(largest[methods.MAJORITY]) and rows["error"].min() < majority[name]
        short = tables.hard_table(found["hard"], ["SVM, Gaussian"])[name]
        assert short.tolist() == [majority[name], row["error"], rows["error"].min()]


def test_copies_of_wines_tell_the_answer(found):
    copies = tables.hard_copies(found["hard"])
    assert len(copies) == 4 and (copies["on_copies"] < copies["on_others"]).all()
    nearest = copies[copies["method"] == "nearest neighbours, 1"]
    assert (nearest["on_copies"] < 0.01).all() and nearest["copied"].between(0.1, 0.3).all()
    mixed = copies["copied"] * copies["on_copies"] + (1 - copies["copied"]) * copies["on_others"]
    np.testing.assert_allclose(mixed, copies["kept"])
    assert tables.hard_copies(found["hard"].query("repeats == 'dropped'")).empty


def test_methods_on_hard_sets_are_compared_by_the_corrected_resampled_t(found):
    control = "neural network"
    compared = tables.hard_against(found["hard"], control, ["SVM, Gaussian"])
    raw = {}
    for name in found["hard"]["dataset"].unique():
        rows = found["hard"].query("dataset == @name and repeats == 'dropped'")
        error = rows.assign(rate=rows["errors"] / rows["n"]).pivot_table(index="split", columns="method", values="rate")
        share = (rows["n"] / rows["n_train"].max()).iloc[0]
        raw[name, "SVM, Gaussian"] = statistics.resampled(error["SVC, Gaussian"] - error[control], test_share=share)
    assert compared == statistics.holm(raw)


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


def test_every_published_number_has_one_row_and_others_a_reading(found):
    ledger = claims.claims()
    assert list(ledger.columns) == list(COLUMNS) and ledger["key"].is_unique
    numbers = experiment.published_numbers()
    first = ledger[: len(numbers)]
    assert (
        first["item"].tolist() == numbers["item"].tolist() and first["published"].tolist() == numbers["published"].tolist()
    )
    verdicts = ["exact"] * 7 + ["outside", "exact", "outside", "within", "not comparable"]
    assert first["verdict"].tolist() == verdicts
    rest = ledger[len(numbers) :].set_index("key")["verdict"]
    assert rest.pop("akar-ye-2017/variance") == "exact" and set(rest) == {"degenerate"} and len(rest) == 9
    silent = ledger["verdict"].isin(["within", "degenerate"])
    assert ((ledger["explanation"] != "") == ~silent).all()
    assert ((ledger["interval_of"] != "") == (ledger["low"] != ledger["high"])).all()
    reading = readings_rows(claims.readings(), ledger)
    assert reading["key"].tolist() == [ledger["key"][7]] + [ledger["key"][9]] * 4 + [ledger["key"][11]] * 3
    assert reading["verdict"].tolist() == ["exact", "outside", "exact", "outside", "exact"] + ["outside"] * 3
    one = found["splits"].query("lam == 1 and tau == 8 and k == 2")
    low, high = np.percentile(100 - 100 * one["errors"] / one["n"], [2.5, 97.5])
    assert ledger.loc[1, ["ours", "low", "high", "n"]].tolist() == pytest.approx([91.67, low, high, 120], abs=0.005)


def test_every_exact_number_was_found_by_a_search_and_says_so():
    ledger = claims.claims()
    exact = ledger["verdict"] == "exact"
    assert in_words(ledger)[exact].tolist() == ["exact, after a search of 48"] * 8 + ["exact, after a search of 2"]
    assert claims.PROTOCOLS == len(experiment.protocol_variants(experiment.PUBLISHED).drop_duplicates([*tables.BASE])) == 48


def test_the_published_optimum_is_exceeded_on_a_finer_grid_under_every_criterion(found):
    row = claims.claims().set_index("key").loc["akar-ye-2017/optimum"]
    optima = tables.optima(found["grid"]).set_index(["grid", "sound"])
    assert (optima.loc["fine", "better"] > 0).all() and row["verdict"] == "outside"
    assert row["ours"] == pytest.approx(100 * optima.loc[("fine", "all"), "best"])
    assert "161 of the 5,776 settings" in row["explanation"] and "36 of the 4,802" in row["explanation"]


def test_theses_have_the_verdicts_that_the_numbers_bear_out():
    rows = claims.statements()
    assert rows["key"].is_unique and set(rows["verdict"]) <= set(STATEMENT_VERDICTS)
    verdicts = rows.set_index(rows["key"].str.removeprefix("akar-ye-2017/"))["verdict"]
    assert verdicts.to_dict() == {
        "chosen": "does not hold", "sensitive": "holds in part", "limited": "cannot be told", "wine": "does not hold",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("low", "high", "verdict"), [(0.88, 0.90, "holds"), (0.91, 0.94, "does not hold"), (0.895, 0.951, "cannot be told")]
)
def test_a_limit_holds_only_if_the_whole_interval_keeps_it(low, high, verdict):
    found = statistics.Difference((low + high) / 2, low, high, 0.0, 210, "examples", "bootstrap")
    assert claims.on_limit(found)[0] == verdict


def test_the_network_is_compared_with_all_methods_on_all_sets_in_one_family(found):
    compared = claims.beside_network(found["hard"])
    others = {method for _, method in compared}
    assert len(compared) == 2 * len(others) == 20 and {claims.VECTORS, f"{claims.NETWORK}, regression"} <= others
    assert {each.adjusted for each in compared.values()} == {"Holm over 20"}
    words = tables.compared(compared).loc[("winequality-red", claims.VECTORS)]
    assert words.tolist() == ["−3.6", "−5.0 to −2.3", "0.003"]


def test_verdicts_follow_the_tests():
    def difference(estimate, p):
        return statistics.Difference(estimate, estimate - 0.01, estimate + 0.01, p, 210, "examples", "bootstrap")

    names = claims.DISCRIMINANT, claims.LINEAR, claims.VECTORS, f"{claims.VECTORS}, tuned"
    for estimates, verdict in (
        ((-0.04, -0.02), "does not hold"), ((0.04, 0.02), "holds"), ((-0.04, 0.02), "cannot be told"),
    ):  # fmt: skip
        found = {name: difference(0.001, 0.9) for name in names}
        found |= {name: difference(estimate, 0.01) for name, estimate in zip(names, estimates, strict=False)}
        assert claims.on_choice(found)[0] == verdict
    pairs = pd.DataFrame({"changed": ["τ", "k", "λ"], "sound": [True, False, False]})
    pairs["difference"] = [difference(0.02, 0.5)] * 3
    for told, verdict in (([1, 0, 0], "holds"), ([0, 1, 1], "holds in part"), ([0, 0, 1], "cannot be told")):
        assert claims.on_sensitivity(pairs.assign(told=np.array(told, dtype=bool)))[0] == verdict


def test_accuracy_of_chosen_parameters_is_that_of_the_splits(found):
    accuracy = claims.tuned_accuracy(found["points"])
    own = found["points"].query("method == 'kernel ridge, self-tuning, tuned'")
    assert accuracy.estimate == pytest.approx((1 - own["errors"] / own["tested"]).mean()) and accuracy.n == 210


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
    assert [text.get_text() for text in axis.texts] == ["to 33\N{NO-BREAK SPACE}%"] and len(axis.get_yticklabels()) == 10
    assert "published" not in figures.figure_accuracies(found["splits"], nine.drop(columns="published")).axes[0].get_label()

    paired = tables.paired(found["methods"], tables.against(found["points"]))
    axis = figures.figure_differences(paired).axes[0]
    drawn = [container.lines[0] for container in axis.containers if container.lines[0]]
    rows = paired.dropna(subset="p")[::-1]
    assert [line.get_xdata()[0] for line in drawn] == pytest.approx((100 * rows["difference"]).tolist())
    assert [line.get_markerfacecolor() != "white" for line in drawn] == (rows["p"] < 0.05).tolist()

    surface = found["surface"]
    panel = figures.figure_surface(surface, (2, 3, 5, 10, 15, 20), experiment.table_3_settings()).axes[0]
    part = surface[surface["k"] == 2].pivot(index="tau", columns="lam", values="mean_error")
    np.testing.assert_array_equal(panel.images[0].get_array(), part)

    sweep, poles = derivations.poles(X, data.y, train, test, tau=20.0, k=2, lambdas=np.geomspace(0.1, 10, 9))
    smallest = derivations.spectrum(X[train], taus=(0.1, 1.0, 10.0), ks=(2, 5))
    left, right = figures.figure_spectrum(smallest, sweep, poles, tau=20.0, k=2, lam=1.0).axes
    assert left.lines[0].get_ydata().tolist() == smallest[smallest["k"] == 2]["smallest"].tolist()
    assert [line.get_xdata()[0] for line in right.lines[: len(poles)]] == poles.tolist()

    table, majority = tables.hard_methods(found["hard"]), tables.hard_majority(found["hard"])
    for axis, (name, rows) in zip(figures.figure_hard_errors(table, majority).axes, table.groupby("dataset"), strict=True):
        assert axis.get_title() == style.set_name(name)
        assert sorted(axis.containers[0].lines[0].get_xdata()) == rows["error"].tolist()


def test_figures_of_examples_draw_each_of_them(iris):
    data, X, train, test = iris
    P, shares = derivations.projection(data.X)
    predicted = np.where(np.arange(len(test)) < 5, (data.y[test] + 1) % 3, data.y[test])
    figure = figures.figure_projection(P, shares, data.y, train, test, predicted, data.names)
    for view in figure.axes:
        assert sum(len(dots.get_offsets()) for dots in view.collections) == len(data.y)
    large = [dots for dots in figure.axes[0].collections if dots.get_sizes()[0] == 34]
    assert sum(len(dots.get_offsets()) for dots in large) == 5
    rates = {"one": np.linspace(0, 1, len(data.y)), "other": np.full(len(data.y), np.nan)}
    left = figures.figure_persistent_errors(P, shares, data.y, rates, data.names).axes[0]
    assert sum(len(dots.get_offsets()) for dots in left.collections) == len(data.y)
    picture = derivations.hard_picture("iris-bundled")
    right = figures.figure_hard_sets({"iris": picture}).axes[1]
    assert [text.get_text() for text in right.texts] == [f"{100 * share:.0f}" for share in picture[3].ravel()]
