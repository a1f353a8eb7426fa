"""The seeds: the experiments against literal versions, tables, claims, what figures draw."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import StratifiedKFold

from kp.multiclass import MulticlassKernelPerceptron
from study import datasets, statistics
from study.seeds import claims, derivations, experiment, facts, figures, methods, tables
from study.seeds.kernel_ridge import KernelRidgeClassifier, self_tuning_kernel

needs_seeds = pytest.mark.skipif(
    any(datasets.find(file) is None for file in datasets.DATASETS["seeds"].files), reason="the file of the seeds is not here"
)


@pytest.fixture(scope="module")
def iris():
    data = experiment.examples("iris-bundled")
    return data, experiment.scaled(data.X, None, "whole"), *experiment.fixed_split(data.y)


@needs_seeds
def test_the_estimator_gives_the_published_accuracies():
    data = experiment.examples("seeds")
    train, test = experiment.fixed_split(data.y)
    X = experiment.scaled(data.X, train, "whole")
    numbers = experiment.published_numbers().query("item == 'Table 3'")
    exact = []
    for row in numbers.itertuples():
        model = KernelRidgeClassifier(alpha=row.lam, tau=row.tau, n_neighbors=int(row.k)).fit(X[train], data.y[train])
        exact.append(round(100 * model.score(X[test], data.y[test]), 2) == row.published)
    assert exact == [True] * 7 + [False, True]


def test_a_linear_programme_tells_what_planes_separate():
    corners = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]])
    assert not experiment.separable(corners, np.array([0, 0, 1, 1]))  # exclusive or
    assert experiment.separable(corners, np.array([0, 1, 2, 3]))
    line = np.arange(3.0)[:, None]
    # Three points on a line: no plane tells the middle one from both others, but the highest of three functions does.
    assert not experiment.separable(line, np.array([0, 1, 0])) and experiment.separable(line, np.array([0, 1, 2]))
    assert not experiment.separable(np.vstack([corners, corners[:1]]), np.array([0, 1, 2, 3, 1]))


def test_errors_persist_where_most_methods_make_them_and_rates_leave_out_examples_that_were_never_tested():
    rows = [("a", 0, 4, 3), ("b", 0, 4, 4), ("a", 1, 4, 1), ("b", 1, 4, 4), ("a", 2, 0, 0), ("b", 2, 0, 0)]
    persistent = pd.DataFrame(rows, columns=["method", "example", "tested", "errors"]).assign(label=0)
    assert tables.persistent_errors(persistent).to_numpy().tolist() == [[0, 1, 7], [1, 0.5, 5]]
    assert tables.persistent_by_class(persistent, "a", 2).tolist() == [1, 0]
    assert tables.persistent_in_common(persistent, "a", "b") == 1 == tables.persistent_in_common(persistent, "b", "a")
    difference = tables.against(persistent, "a")["b"]
    assert (difference.n, difference.estimate, difference.adjusted) == (2, (0.25 + 0.75) / 2, "Holm over 1")
    np.testing.assert_array_equal(tables.error_rates(persistent, "a"), [0.75, 0.25, np.nan])


def test_settings_on_a_split_are_those_of_the_estimator(iris):
    data, X, train, test = iris
    wanted = experiment.table_3_settings()
    for (lam, tau, k), (errors, smallest) in zip(wanted, experiment.errors_at(X, data.y, train, test, wanted), strict=True):
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Singular matrix")
            model = KernelRidgeClassifier(alpha=lam, tau=tau, n_neighbors=k).fit(X[train], data.y[train])
        assert errors == np.sum(model.predict(X[test]) != data.y[test])
        K = self_tuning_kernel(X[train], X[train], model.sigma_, model.sigma_, tau=tau)
        assert smallest == pytest.approx(np.linalg.eigvalsh(K)[0])


def test_left_out_outputs_are_those_of_classifiers_trained_without_the_point():
    random = np.random.RandomState(0)
    X = random.normal(size=(14, 3))
    targets = np.eye(3)[random.permutation(np.arange(14) % 3)]
    K = np.exp(-((X[:, None] - X) ** 2).sum(2))
    (fast,) = methods.left_out(np.linalg.eigh(K), targets, (0.3,))
    for i in range(14):
        rest = np.delete(np.arange(14), i)
        A = np.linalg.solve(K[np.ix_(rest, rest)] + 0.3 * np.eye(13), targets[rest])
        np.testing.assert_allclose(fast[i], K[i, rest] @ A, atol=1e-12)


def test_tuning_passes_over_what_is_near_singular():
    y = np.array([0, 1, 0, 1])
    good = np.eye(4) + 0.1 * np.equal.outer(y, y)
    bad = np.eye(4) - 1.5 * np.equal.outer(y, y)
    assert np.linalg.eigvalsh(bad)[0] == pytest.approx(-2)
    assert methods.fewest_left_out({"bad": bad, "good": good}, y, (1.0, 3.0))[0] == "good"
    assert methods.fewest_left_out({"bad": bad}, y, (1.0, 3.0, 5.0)) == ("bad", 5.0)
    with pytest.raises(ValueError, match="none for lambda up to 3.0; raise it"):
        methods.fewest_left_out({"bad": bad}, y, (1.0, 3.0))


def test_fixed_splits_take_the_first_the_last_or_evenly_spread_examples_of_each_class():
    y = np.repeat([0, 1], [40, 31])
    for chosen, first, last in (("first", 0, 29), ("last", 10, 39), ("spread", 0, 38)):
        train, test = experiment.fixed_split(y, chosen)
        assert (train.min(), train[y[train] == 0].max()) == (first, last)
        assert np.bincount(y[train]).tolist() == [30, 30] and sorted([*train, *test]) == list(range(71))
    with pytest.raises(ValueError, match=r"more than 30 examples, got \[40, 30\]"):
        experiment.fixed_split(y[:70])


def test_methods_count_errors_of_examples_and_of_splits_alike(monkeypatch):
    names = "linear discriminant analysis", "kernel ridge, self-tuning, tuned", "k-means, named on the training part"
    monkeypatch.setattr(experiment, "trials", lambda *training: {name: methods.trials(*training)[name] for name in names})
    first, second = (experiment.methods.compute(experiment.Settings(dataset="iris-bundled", n_splits=5)) for _ in range(2))
    for name in ("methods", "points"):
        pd.testing.assert_frame_equal(first[name], second[name])
    by_split, by_point = (first[name].groupby("method")["errors"].sum() for name in ("methods", "points"))
    assert by_split.to_dict() == by_point.to_dict() and first["points"]["tested"].sum() == first["methods"]["n"].sum()


def test_tuned_forms_have_the_width_of_the_fewest_errors_in_five_folds():
    data = datasets.load("iris-bundled")
    rows = np.random.RandomState(2).permutation(150)[:60]
    X, y = experiment.scaled(data.X, rows, "train")[rows], np.unique(data.y, return_inverse=True)[1][rows]
    chosen = methods.tuned_forms(X, y, 3)
    folds = list(StratifiedKFold(5, shuffle=True, random_state=3).split(X, y))
    for predictor in ("final", "average"):
        errors = []
        for width in methods.WIDTHS:
            model = MulticlassKernelPerceptron(
                "rbf",
                gamma=1 / (width**2 * X.shape[1]),
                update="xu-zhang",
                max_iter=100,
                random_state=3,
                predictor=predictor,
            )
            errors.append(sum(np.sum(model.fit(X[a], y[a]).predict(X[b]) != y[b]) for a, b in folds))
        assert len(set(errors)) > 1
        width, model = chosen[f"Xu-Zhang, tuned, {predictor}"]
        assert width == methods.WIDTHS[errors.index(min(errors))]
        assert model.update == "xu-zhang" and model.predictor == predictor
        assert model.gamma == pytest.approx(1 / (width**2 * X.shape[1]))


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


def test_accuracies_are_in_the_ledger_with_their_range_over_random_splits():
    one = experiment.table_3_splits(experiment.PUBLISHED).query("lam == 1 and tau == 8 and k == 2")
    low, high = np.percentile(100 - 100 * one["errors"] / one["n"], [2.5, 97.5])
    assert claims.claims().loc[1, ["ours", "low", "high", "n"]].tolist() == pytest.approx([91.67, low, high, 120], abs=0.005)


def difference(estimate, p):
    return statistics.Difference(estimate, estimate - 0.01, estimate + 0.01, p, 210, "examples", "bootstrap")


def test_verdicts_follow_the_tests():
    names = facts.DISCRIMINANT, facts.LINEAR, facts.VECTORS, f"{facts.VECTORS}, tuned"
    for estimates, verdict in (
        ((-0.04, -0.02), "does not hold"), ((0.04, 0.02), "holds"), ((-0.04, 0.02), "undecided"),
    ):  # fmt: skip
        found = {name: difference(0.001, 0.9) for name in names}
        found |= {name: difference(estimate, 0.01) for name, estimate in zip(names, estimates, strict=False)}
        assert facts.verdict_chosen(found)[0] == verdict
    for estimate, verdict in ((0.88, "holds"), (0.93, "does not hold"), (0.9, "undecided")):
        assert facts.verdict_limited(difference(estimate, 0.0))[0] == verdict


def test_differences_are_drawn_filled_where_they_are_detected_and_errors_by_tau_and_lambda():
    found = experiment.methods(experiment.PUBLISHED)
    paired = tables.paired(found["methods"], tables.against(found["points"]))
    containers = figures.figure_differences(paired).axes[0].containers
    drawn = [container.lines[0] for container in containers if container.lines[0]]
    rows = paired.dropna(subset="p")[::-1]
    assert [line.get_xdata()[0] for line in drawn] == pytest.approx((100 * rows["difference"]).tolist())
    assert [line.get_markerfacecolor() != "white" for line in drawn] == (rows["p"] < 0.05).tolist()

    *marks, ours = experiment.table_3_settings()
    surface = experiment.surface(experiment.PUBLISHED)["surface"]
    panel = figures.figure_surface(surface, (2, 3, 5, 10, 15, 20), marks, ours).axes[0]
    part = surface.query("k == 2").pivot(index="tau", columns="lam", values="mean_error")
    np.testing.assert_array_equal(panel.images[0].get_array(), part)


def test_an_example_lies_among_others_by_the_classes_of_its_nearest_neighbours():
    P = np.array([[0.0], [1.0], [2.1], [3.3], [9.0]])
    y = np.array([0, 0, 1, 1, 1])
    assert facts.among_others(P, y, n_neighbors=2).tolist() == [0.5, 0.5, 0.5, 0.5, 0]


@needs_seeds
def test_boxes_are_the_quartiles_of_the_nine_settings_and_mild_ones_are_sound_with_tau_up_to_8():
    splits = experiment.table_3_splits(experiment.PUBLISHED)
    nine = [part for setting, part in splits.groupby(tables.SETTING) if setting != (1, 20, 2)]
    boxes = [np.percentile(1 - part["errors"] / part["n"], [25, 75]) for part in nine]
    expected = max(low for low, _ in boxes), min(high for _, high in boxes)
    assert facts.accuracies(experiment.PUBLISHED).boxes == expected
    found = facts.surface(experiment.PUBLISHED)
    mild = [row.mean_error for row in found.table.itertuples() if row.tau <= 8 and not row.indefinite]
    assert found.mild == [min(mild), max(mild)]
