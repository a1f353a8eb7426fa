"""The three multiclass forms: the study's shortcuts against the estimators, interrupted runs, and what the tables say."""

import numpy as np
import pandas as pd
import pytest

from kp import PREDICTORS, MulticlassKernelPerceptron, OneVsAllKernelPerceptron
from study import datasets
from study import experiment as machine
from study.forms import experiment as forms
from study.forms import figures, tables

N, EPOCHS = 250, 3
CHOICE = forms.ChoiceSettings(dataset="digits", form="ordinary", widths=(4.0, 16.0), degrees=(2,), n=150, n_validate=100)
FIELDS = ("example", "step", "promoted", "demoted", "ends")


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """(choice, growth) of all forms at a tiny scale, kept in a folder of their own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(machine, "BUILD", tmp_path_factory.mktemp("build"))
        choices = [forms.ChoiceSettings(**{**vars(CHOICE), "form": form}) for form in forms.FORMS]
        grown = [forms.Settings(choice=each, n=n, epochs=2) for n in (100, 150) for each in choices]
        yield forms.choice(choices), forms.growth(grown)


def sets():
    X, y, X_test, y_test = forms.split("digits")
    return X[:N], y[:N], X_test[:100], y_test[:100]


def estimator(form, kind, parameter):
    options = {"gamma": 1 / (2 * parameter**2)} if kind == "rbf" else {"degree": int(parameter)}
    if form == "one-vs-all":
        return OneVsAllKernelPerceptron(kind, max_iter=EPOCHS, random_state=forms.SEED, **options)
    update, threshold = "ordinary" if form == "ordinary" else "xu-zhang", form == "Xu-Zhang"
    return MulticlassKernelPerceptron(
        kind, update=update, threshold=threshold, max_iter=EPOCHS, random_state=forms.SEED, **options
    )


@pytest.mark.parametrize("form", forms.FORMS)
@pytest.mark.parametrize("kernel", [("rbf", 16.0), ("poly", 2.0)], ids=lambda kernel: kernel[0])
def test_predictions_at_every_epoch_are_those_of_the_estimators(form, kernel):
    X, y, X_test, _ = sets()
    learnt = forms.learn(form, forms.kernel_of(*kernel), X, y, EPOCHS, n_classes=10)
    found, model = forms.predictions(learnt, X_test), estimator(form, *kernel).fit(X, y)
    assert learnt.n_epochs == model.n_iter_ and np.array_equal(learnt.support, model.support_)
    assert set(found) == set(PREDICTORS)
    for predictor, classes in found.items():
        for epoch in range(1, model.n_iter_ + 1):
            assert np.array_equal(classes[epoch - 1], model.predict(X_test, predictor=predictor, epoch=epoch))


def test_an_interrupted_run_of_the_largest_size_goes_on_after_its_last_whole_epoch(tmp_path, monkeypatch):
    X, y, X_test, _ = sets()
    kernel = forms.kernel_of("rbf", 12.0)
    whole = forms.learn("Xu-Zhang", kernel, X, y, EPOCHS, n_classes=10)
    settings = forms.Settings(choice=CHOICE, n=N, epochs=EPOCHS)
    monkeypatch.setattr(machine, "BUILD", tmp_path)
    monkeypatch.setattr(forms, "SQUARED", 0)
    monkeypatch.setattr("kp.kesler.BLOCK", 64)
    computed = []

    def until_epoch(last):
        def checkpoint(step, compute):
            if step == f"epoch_{last + 1}":
                raise KeyboardInterrupt
            return forms.growth.checkpoint(settings, step, lambda: computed.append(step) or compute())

        return checkpoint

    with pytest.raises(KeyboardInterrupt):
        forms.learn("Xu-Zhang", kernel, X, y, EPOCHS, n_classes=10, checkpoint=until_epoch(2))
    assert computed == ["epoch_1", "epoch_2"] == sorted(path.stem for path in tmp_path.rglob("*.npz"))
    monkeypatch.setattr("kp.kesler.BLOCK", 50)
    again = forms.learn("Xu-Zhang", kernel, X, y, EPOCHS, n_classes=10, checkpoint=until_epoch(EPOCHS))
    assert computed == [f"epoch_{epoch}" for epoch in range(1, whole.n_epochs + 1)]
    for field in FIELDS:
        assert np.array_equal(getattr(again.logs[0], field), getattr(whole.logs[0], field))
    found = forms.predictions(again, X_test, votes=False)
    assert set(found) == {"final", "average"}
    assert all(np.array_equal(classes, forms.predictions(whole, X_test)[name]) for name, classes in found.items())


def test_steps_are_removed_when_their_part_is_done(tmp_path, monkeypatch):
    monkeypatch.setattr(machine, "BUILD", tmp_path)
    monkeypatch.setattr(forms, "SQUARED", 0)
    steps, real = [], forms.growth.checkpoint
    monkeypatch.setattr(forms.growth, "checkpoint", lambda s, step, compute: steps.append(step) or real(s, step, compute))
    choice = forms.ChoiceSettings(**{**vars(CHOICE), "form": "Xu-Zhang", "widths": (16.0,), "degrees": ()})
    settings = forms.Settings(choice=choice, n=100, epochs=2)
    first = forms.growth(settings)["errors"]
    assert steps == ["epoch_1", "epoch_2"] and set(first["predictor"]) == {"final", "average", "voted"}
    assert not list(tmp_path.rglob("*.npz")) and forms.growth(settings)["errors"].equals(first) and len(steps) == 2


def test_published_parts_are_all_forms_at_all_sizes_but_one():
    parts = [(settings.choice.form, settings.n) for settings in forms.growth.published]
    assert parts[:4] == [(form, 1000) for form in forms.FORMS] and len(parts) == len(set(parts)) == 19
    assert ("Xu-Zhang, no threshold", 60_000) not in parts and parts[-1] == ("Xu-Zhang", 60_000)
    with pytest.raises(ValueError, match="dataset must be one of mnist, digits, got 'iris'"):
        forms.choice_settings("iris")


def test_test_errors_are_those_of_the_chosen_kernel_alone(results):
    choice, grown = results
    for form, (kind, parameter) in forms.chosen(choice).items():
        rows = choice[choice["form"] == form]
        best = rows[(rows["kernel"] == kind) & (rows["parameter"] == parameter)]
        assert best["errors"].min() == rows["errors"].min()
        used = grown["errors"].query("form == @form")
        assert set(zip(used["kernel"], used["parameter"], strict=True)) == {(kind, parameter)}
    assert grown["errors"].groupby("form")["n"].unique().map(list).tolist() == [[100, 150]] * 4
    assert len(grown["times"]) == 8 and list(grown["times"]) == ["form", "n", "seconds"]


@pytest.fixture
def golden():
    """Errors of two forms, with two predictors, two sizes and two epochs, counted by hand."""
    columns = ["form", "kernel", "parameter", "n", "predictor", "epoch", "errors", "n_test", "mistakes", "support"]
    rows = []
    for form, first in (("one-vs-all", 40), ("Xu-Zhang", 60)):
        for n in (10, 20):
            for predictor, less in (("final", 0), ("average", 5)):
                for epoch in (1, 2):
                    rows.append(
                        (form, "rbf", 4.0, n, predictor, epoch, first - less - epoch - n // 10, 100, n + epoch, n - 1)
                    )
    return pd.DataFrame(rows, columns=columns)


def test_the_table_of_the_largest_runs_reads_their_last_epoch(golden):
    last = tables.at_the_end(golden)
    assert last["form"].tolist() == ["one-vs-all", "Xu-Zhang"] and last["n"].tolist() == [20, 20]
    assert last["kernel"].tolist() == ["RBF, $\\sigma$ = 4"] * 2 and last["mistakes"].tolist() == [22, 22]
    assert last[["final", "average"]].to_numpy().tolist() == [[36, 31], [56, 51]]
    assert last[["minimizing", "voted"]].isna().all(axis=None)
    assert tables.at_the_end(golden, 10)[["final", "average"]].to_numpy().tolist() == [[37, 32], [57, 52]]
    shown = tables.end_rates(last)
    assert shown[["final", "average"]].to_numpy().tolist() == [[0.36, 0.31], [0.56, 0.51]] and "n_test" not in shown
    assert tables.describe("poly", 4.0) == "$(1 + x \\cdot y)^{4}$"


def test_shares_of_the_spectrum_sum_to_one_and_those_of_the_square_are_its_own_eigenvalues():
    X = forms.split("digits")[0][:60]
    for kind, parameter in (("rbf", 16.0), ("poly", 2.0)):
        ((plain, squares),) = tables.spectra("digits", [(kind, parameter)], 60).values()
        K = forms.kernel_of(kind, parameter)(X, X)
        values = np.linalg.eigvalsh(K @ K)[::-1]
        assert plain.sum() == pytest.approx(1) and squares[0] > plain[0]
        assert squares[:10] == pytest.approx(values[:10] / values.sum())


def test_the_figure_of_spectra_draws_both():
    (axis,) = figures.figure_spectra({"K": (np.array([0.7, 0.3]), np.array([0.9, 0.1]))}).axes
    assert [line.get_ydata().tolist() for line in axis.get_lines()] == [[0.7, 0.3], [0.9, 0.1]]


# On equal terms.

TUNED = forms.Tuning(dataset="digits", n=120, n_validate=100, widths=(8.0, 16.0), epochs=3, n_orders=2)


@pytest.fixture(scope="module")
def on_equal_terms(tmp_path_factory):
    """(tuning, equal) at a tiny scale, kept in a folder of their own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(machine, "BUILD", tmp_path_factory.mktemp("build"))
        terms = forms.Terms(tuned=TUNED, n=150, read=(1, 3), n_orders=2)
        yield forms.tuning(TUNED), forms.equal(terms)


@pytest.mark.parametrize(("rows", "visits", "squared"), [(512, 32, 12_000), (64, 16, 0), (100, 7, 0)])
def test_both_of_xu_and_zhangs_forms_learn_side_by_side_what_each_learns_alone(rows, visits, squared, monkeypatch):
    X, y, X_test, _ = sets()
    kernel = forms.kernel_of("rbf", 16.0)
    alone = {form: forms.learn(form, kernel, X, y, EPOCHS, n_classes=10) for form in forms.PAIR}
    for name, value in (("ROWS", rows), ("VISITS", visits), ("SQUARED", squared)):
        monkeypatch.setattr(forms, name, value)
    together = forms.learn_pair(kernel, X, y, EPOCHS, n_classes=10)
    for form in forms.PAIR:
        for field in FIELDS:
            assert np.array_equal(getattr(together[form].logs[0], field), getattr(alone[form].logs[0], field))
        found = forms.predictions(together[form], X_test, votes=False)
        expected = forms.predictions(alone[form], X_test, votes=False)
        assert set(found) == {"final", "average"} <= set(expected)
        assert all(np.array_equal(classes, expected[name]) for name, classes in found.items())


def test_a_form_that_has_stopped_waits_for_the_other():
    X, y, *_ = sets()
    kernel = forms.kernel_of("rbf", 8.0)
    together = forms.learn_pair(kernel, X[:60], y[:60], 30, n_classes=10)
    for form, learnt in together.items():
        assert learnt.n_epochs == forms.learn(form, kernel, X[:60], y[:60], 30, n_classes=10).n_epochs < 30


def test_an_interrupted_run_of_both_goes_on_after_its_last_whole_epoch(tmp_path, monkeypatch):
    monkeypatch.setattr(machine, "BUILD", tmp_path)
    X, y, *_ = sets()
    kernel, terms, computed = forms.kernel_of("rbf", 16.0), forms.Terms(tuned=TUNED, n=N, read=(EPOCHS,), n_orders=1), []
    whole = forms.learn_pair(kernel, X, y, EPOCHS, n_classes=10)

    def until(last):
        def checkpoint(step, compute):
            if step == f"epoch_{last + 1}":
                raise KeyboardInterrupt
            return forms.equal.checkpoint(terms, f"0_{step}", lambda: computed.append(step) or compute())

        return checkpoint

    with pytest.raises(KeyboardInterrupt):
        forms.learn_pair(kernel, X, y, EPOCHS, n_classes=10, checkpoint=until(2))
    again = forms.learn_pair(kernel, X, y, EPOCHS, n_classes=10, checkpoint=until(EPOCHS))
    assert computed == [f"epoch_{epoch}" for epoch in range(1, EPOCHS + 1)]
    for form in forms.PAIR:
        for field in FIELDS:
            assert np.array_equal(getattr(again[form].logs[0], field), getattr(whole[form].logs[0], field))


@pytest.mark.parametrize("form", forms.FORMS)
def test_predictions_at_some_epochs_are_those_among_all(form):
    X, y, X_test, _ = sets()
    learnt = forms.learn(form, forms.kernel_of("rbf", 16.0), X, y, EPOCHS, n_classes=10)
    found = forms.predictions(forms.at_epochs(learnt, (1, 99)), X_test, votes=False)
    every = forms.predictions(learnt, X_test, votes=False)
    for predictor in forms.JUDGED:
        assert np.array_equal(found[predictor], every[predictor][[0, learnt.n_epochs - 1]])


def test_every_form_is_judged_with_its_best_width_on_the_same_terms(on_equal_terms):
    tuned, equal = on_equal_terms
    (flags,), table = tuned["arrays"], tuned["tuning"]
    assert len(table) == 2 * 2 * 4 * 2 and set(table["n_new"]) == {100}
    assert flags["wrong"].sum(axis=1).tolist() == table["errors"].tolist()
    widths = forms.best_widths(table)
    for form, width in widths.items():
        average = table[(table["form"] == form) & (table["predictor"] == "average")].groupby("width")["errors"].sum()
        assert average[width] == average.min()
    rows, (arrays,) = equal["equal"], equal["arrays"]
    assert set(rows["epoch"]) == {1, 3} and (rows["epochs"] <= 3).all()
    for form, part in rows.groupby("form"):
        assert set(part["width"]) == {widths["Xu-Zhang, no threshold" if form == "Xu-Zhang" else form]}
    last = rows[rows["epoch"] == 3]
    assert arrays["wrong"].shape == (2, 4, 2, last["n_new"].iloc[0])
    assert arrays["wrong"].sum(axis=3).ravel().tolist() == last["errors"].tolist()
    X, y, X_test, y_test = forms.split("digits")
    kernel = forms.kernel_of("rbf", widths["ordinary"])
    learnt = forms.learn("ordinary", kernel, X[:150], y[:150], 3, n_classes=10, random_state=1)
    classes = forms.predictions(learnt, X_test)["average"][-1]
    own = last[(last["form"] == "ordinary") & (last["predictor"] == "average") & (last["order"] == 1)]
    assert own["errors"].item() == np.count_nonzero(classes != y_test)


def test_published_terms_take_the_widths_of_the_same_size_or_of_the_largest():
    parts = forms.equal.published
    sizes = [part.n for part in forms.tuning.published]
    assert all(part.tuned.n == (part.n if part.n in sizes else max(sizes)) for part in parts)
    assert [part.tuned.n for part in forms.equal_settings("digits")] == [200, 400, 400]
    with pytest.raises(ValueError, match="dataset must be one of mnist, digits, got 'iris'"):
        forms.tuning_settings("iris")


def test_tables_on_equal_terms_are_made_of_the_flags(on_equal_terms):
    tuned, equal = on_equal_terms
    wrong = equal["arrays"][0]["wrong"]
    level = tables.equal_rates(equal["equal"])
    assert (level["orders"] == 2).all() and (level["low"] <= level["error"]).all() and set(level["epoch"]) == {3}
    assert set(tables.equal_rates(equal["equal"], epoch=1)["epoch"]) == {1}
    gaps = tables.pairs(wrong)
    assert len(gaps) == 8 and all(gap.adjusted == "Holm over 8" for gap in gaps.values())
    gap = gaps["one-vs-all", "ordinary", "average"]
    assert gap.estimate == pytest.approx(wrong[0, 0, 1].mean() - wrong[0, 1, 1].mean())
    shown = tables.pairs_table(gaps, wrong)
    assert shown["difference"].tolist() == pytest.approx([100 * each.estimate for each in gaps.values()])
    both = 100 * (wrong[:, 0, 1].mean(axis=1) - wrong[:, 1, 1].mean(axis=1))
    assert tables.over_orders(wrong, "one-vs-all", "ordinary", "average") == pytest.approx(both)
    assert shown.loc[1, ["least", "most"]].tolist() == pytest.approx([both.min(), both.max()])
    rows = tuned["tuning"].query("form == 'ordinary' and predictor == 'final'")
    width = rows["width"].iloc[0]
    expected = rows.loc[rows["width"] == width, "mistakes"].median()
    by_width = tables.by_width(tuned["tuning"], 120).set_index(["form", "width"])
    assert by_width.loc[("ordinary", width), "mistakes"] == expected
    average = tuned["tuning"].query("form == 'ordinary' and predictor == 'average' and width == @width")["errors"]
    assert by_width.loc[("ordinary", width), "error"] == pytest.approx(average.mean() / 100)
    three = tables.three_forms(level)
    assert list(three["form"].unique()) == ["one-vs-all", "ordinary", "Xu-Zhang"]
    own = level.loc[level["form"] == "Xu-Zhang, no threshold", "error"].tolist()
    assert three.loc[three["form"] == "Xu-Zhang", "error"].tolist() == own
    largest = tables.largest_terms(level)
    assert largest["form"].tolist() == ["one-vs-all", "ordinary", "Xu-Zhang, no threshold", "Xu-Zhang"]
    found = tables.widths_found(tuned["tuning"], {120: tuned["arrays"][0]["wrong"]})
    assert (
        (found["from"] <= found["width"]).all() and (found["width"] <= found["to"]).all() and (found["edge"] == "yes").all()
    )
    gap, own = tables.own_widths(tuned["tuning"], {120: tuned["arrays"][0]["wrong"]}, 120)
    first = tuned["tuning"].query("predictor == 'average' and order == 0").set_index(["form", "width"])["errors"]
    assert own == {form: forms.best_widths(tuned["tuning"])[form] for form in forms.PAIR}
    assert gap.estimate == pytest.approx(
        (first["Xu-Zhang", own["Xu-Zhang"]] - first[forms.PAIR[0], own[forms.PAIR[0]]]) / 100
    )


def test_figures_on_equal_terms_draw_their_tables(on_equal_terms):
    tuned, equal = on_equal_terms
    (axis,) = figures.figure_tuning(tuned["tuning"]).axes
    drawn = {line.get_label(): line.get_ydata() for line in axis.get_lines() if not line.get_label().startswith("_")}
    for form, values in drawn.items():
        own = (
            tuned["tuning"][tuned["tuning"]["form"] == form]
            .query("predictor == 'average'")
            .groupby("width")["errors"]
            .mean()
        )
        assert values == pytest.approx(own.to_numpy())
    curves = tables.by_width(tuned["tuning"], 120)
    left, right = figures.figure_own_width(curves).axes
    own = curves[curves["form"] == "ordinary"].sort_values("width")
    for axis, values in ((left, 100 * own["error"]), (right, own["mistakes"])):
        lines = {line.get_label(): line.get_ydata() for line in axis.get_lines()}
        assert lines["ordinary"] == pytest.approx(values.to_numpy())
    level = tables.equal_rates(equal["equal"])
    for axis, predictor in zip(figures.figure_equal(level).axes, ("final", "average"), strict=True):
        expected = 100 * level[level["predictor"] == predictor]["error"].to_numpy()
        assert np.concatenate([bars[0].get_ydata() for bars in axis.containers]) == pytest.approx(expected)


def test_times_are_told_in_minutes():
    times = pd.DataFrame({"form": ["ordinary"], "n": [10], "seconds": [90]})
    assert tables.minutes(times, "ordinary", 10) == 1.5


@pytest.mark.recompute
@pytest.mark.parametrize("form", forms.FORMS)
def test_stored_errors_come_out_again(form):
    try:
        datasets.load("mnist", download=False)
    except datasets.DataError as error:
        pytest.skip(f"mnist is not here: {error}")
    settings = forms.growth.published[forms.FORMS.index(form)]
    assert forms.growth.differences(settings) == []
