"""The three multiclass forms: the study's shortcuts against the estimators, interrupted runs, and what the tables say."""

from contextlib import nullcontext
from dataclasses import replace
from itertools import product
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from study.classes import facts, figures, forms, tables
from study.results import experiment as machine

N = 250
EPOCHS = 3
CHOICE = forms.ChoiceSettings(dataset="digits", form="ordinary", widths=(4.0, 16.0), degrees=(2,), n=150, n_validate=100)


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """(choice, growth) of all forms at a tiny scale, kept in a folder of their own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(machine, "BUILD", tmp_path_factory.mktemp("build"))
        choices = [replace(CHOICE, form=form) for form in forms.FORMS]
        grown = [forms.Settings(choice=each, n=n, epochs=2) for n in (100, 150) for each in choices]
        yield forms.choice(choices), forms.growth(grown)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"n": 1201}, "n must be an integer in 10..1200, got 1201"),
        ({"n": 1100, "n_validate": 101}, "n_validate must be an integer in 1..100, got 101"),
    ],
)
def test_a_choice_that_cannot_be_run_is_refused(wrong, message):
    with pytest.raises(ValueError, match=f"^{message}$"):
        replace(CHOICE, **wrong)


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda: forms.growth_settings("iris"), "dataset must be one of mnist, digits, got 'iris'"),
        (lambda: forms.equal_settings("iris"), "dataset must be one of mnist, digits, got 'iris'"),
        (lambda: forms.Settings(choice=CHOICE, n=5, epochs=1), "n must be an integer in 10..1200, got 5"),
        (lambda: forms.Settings(choice=CHOICE, n=150, epochs=0), "epochs must be an integer in 1..1000, got 0"),
        (lambda: replace(TUNED, n_orders=0), "n_orders must be an integer of at least 1, got 0"),
        (lambda: forms.Terms(tuned=TUNED, n=150, read=(0,), n_orders=1), "read must be an integer in 1..1000, got 0"),
    ],
)
def test_so_are_a_training_and_terms(made, message):
    with pytest.raises(ValueError, match=f"^{message}$"):
        made()


def sets():
    X, y, X_test, y_test = forms.split("digits")
    return X[:N], y[:N], X_test[:100], y_test[:100]


def test_an_interrupted_run_of_the_largest_size_goes_on_after_its_last_whole_epoch(tmp_path, monkeypatch):
    X, y, X_test, _ = sets()
    whole, _ = forms.trained("Xu-Zhang", "rbf", 12.0, X, y, EPOCHS)
    settings = forms.Settings(choice=CHOICE, n=N, epochs=EPOCHS)
    monkeypatch.setattr(machine, "BUILD", tmp_path)
    monkeypatch.setattr(forms, "SQUARED", 0)
    computed = []
    for block, epoch in ((64, 2), (50, EPOCHS)):
        monkeypatch.setattr(forms, "ROWS", block)
        checkpoint = interrupted(forms.growth, settings, after=epoch, computed=computed)
        with pytest.raises(KeyboardInterrupt) if epoch < EPOCHS else nullcontext():
            again, _ = forms.trained("Xu-Zhang", "rbf", 12.0, X, y, EPOCHS, checkpoint=checkpoint)
        assert computed == [f"epoch_{each}" for each in range(1, epoch + 1)]
    assert_same_logs(again.mistakes_, whole.mistakes_)
    assert np.array_equal(again.decision_function(X_test), whole.decision_function(X_test))


def test_steps_are_removed_when_their_part_is_done(tmp_path, monkeypatch):
    monkeypatch.setattr(machine, "BUILD", tmp_path)
    monkeypatch.setattr(forms, "SQUARED", 0)
    choice = replace(CHOICE, form="Xu-Zhang", widths=(16.0,))
    settings = forms.Settings(choice=choice, n=100, epochs=2)
    first = forms.growth(settings)["growth"]
    assert not list(tmp_path.rglob("*.npz")) and forms.growth(settings)["growth"].equals(first)


def test_test_errors_are_those_of_the_chosen_kernel_alone(results):
    choice, grown = results
    fewest = choice.groupby("form")["errors"].min()
    for form, kernel in forms.chosen(choice).items():
        best = choice.set_index(["form", "kernel", "parameter"]).sort_index().loc[(form, *kernel)]
        assert best["errors"].min() == fewest[form]
        used = grown["growth"].query("form == @form")
        assert set(zip(used["kernel"], used["parameter"], strict=True)) == {kernel}


def test_the_table_of_the_largest_runs_reads_their_last_epoch():
    cases = product(("one-vs-all", "Xu-Zhang"), (10, 20), ("final", "average"), (1, 2))
    golden = pd.DataFrame(cases, columns=["form", "n", "predictor", "epoch"])
    golden = golden.assign(kernel="rbf", parameter=4.0, errors=range(16), n_test=100, mistakes=range(16), support=9)
    golden["mistakes"] = golden["n"] + golden["epoch"]
    last = tables.at_the_end(golden)
    assert last[["form", "n", "mistakes", "final", "average"]].to_numpy().tolist() == [
        ["one-vs-all", 20, 22, 5, 7], ["Xu-Zhang", 20, 22, 13, 15]
    ]  # fmt: skip


def test_shares_of_the_spectrum_of_the_square_are_its_own_eigenvalues():
    X = forms.split("digits")[0][:60]
    ((_, squares),) = tables.spectra("digits", [("poly", 2.0)], 60).values()
    K = forms.kernel_of("poly", 2.0)(X, X)
    values = np.linalg.eigvalsh(K @ K)[::-1]
    assert squares[:10] == pytest.approx(values[:10] / values.sum())


# On equal terms.

TUNED = forms.Tuning(dataset="digits", n=120, n_validate=100, widths=(8.0, 16.0), epochs=3, n_orders=2)


@pytest.fixture(scope="module")
def on_equal_terms(tmp_path_factory):
    """(tuning, equal) at a tiny scale, kept in a folder of their own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(machine, "BUILD", tmp_path_factory.mktemp("build"))
        terms = forms.Terms(tuned=TUNED, n=150, read=(1, 3), n_orders=2)
        yield forms.tuning(TUNED), forms.equal(terms)


@pytest.mark.parametrize(
    ("n", "width", "epochs", "rows", "visits", "squared"),
    [(N, 16.0, EPOCHS, 512, 32, 12_000), (N, 16.0, EPOCHS, 100, 7, 0), (60, 8.0, 30, 512, 32, 12_000)],
)
def test_both_of_xu_and_zhangs_forms_learn_side_by_side_what_each_learns_alone(
    n, width, epochs, rows, visits, squared, monkeypatch
):
    """The last case has few examples: a form that has stopped waits for the other."""
    X, y, *_ = sets()
    alone = {form: forms.trained(form, "rbf", width, X[:n], y[:n], epochs)[0].mistakes_ for form in forms.PAIR}
    for name, value in (("ROWS", rows), ("VISITS", visits), ("SQUARED", squared)):
        monkeypatch.setattr(forms, name, value)
    logs, _ = forms.side_by_side(forms.PAIR, forms.kernel_of("rbf", width), X[:n], y[:n], epochs)
    for form, log in logs.items():
        assert_same_logs(log, alone[form])


def test_an_interrupted_run_of_both_goes_on_after_its_last_whole_epoch(tmp_path, monkeypatch):
    monkeypatch.setattr(machine, "BUILD", tmp_path)
    X, y, *_ = sets()
    kernel = forms.kernel_of("rbf", 16.0)
    terms = forms.Terms(tuned=TUNED, n=N, read=(EPOCHS,), n_orders=1)
    computed = []
    whole, _ = forms.side_by_side(forms.PAIR, kernel, X, y, EPOCHS)
    for epoch in (2, EPOCHS):
        checkpoint = interrupted(forms.equal, terms, after=epoch, computed=computed, prefix="0_")
        with pytest.raises(KeyboardInterrupt) if epoch < EPOCHS else nullcontext():
            again, _ = forms.side_by_side(forms.PAIR, kernel, X, y, EPOCHS, checkpoint=checkpoint)
    assert computed == [f"epoch_{epoch}" for epoch in range(1, EPOCHS + 1)]
    for form in forms.PAIR:
        assert_same_logs(again[form], whole[form])


@pytest.mark.parametrize("form", ["one-vs-all", "Xu-Zhang"])
def test_predictions_at_some_epochs_are_those_among_all(form):
    X, y, X_test, _ = sets()
    model, _ = forms.trained(form, "rbf", 16.0, X, y, EPOCHS)
    found = forms.predictions_at(model, X, y, X_test, (1, EPOCHS, 99))
    every = list(model.staged_predict(X_test, predictor=forms.JUDGED))
    for predictor in forms.JUDGED:
        assert np.array_equal(found[predictor], [every[i][predictor] for i in (0, -1, -1)])


def test_every_form_is_judged_with_its_best_width_on_the_same_terms(on_equal_terms):
    tuned, equal = on_equal_terms
    table = tuned["tuning"]
    widths = forms.best_widths(table)
    average = table[table["predictor"] == "average"].groupby(["form", "width"])["errors"].sum()
    assert all(average[form, width] == average[form].min() for form, width in widths.items())
    rows = equal["equal"]
    (arrays,) = equal["arrays"]
    used = rows.groupby("form")["width"].agg(set).to_dict()
    assert used == {form: {widths["Xu-Zhang, no threshold" if form == "Xu-Zhang" else form]} for form in used}
    last = rows[rows["epoch"] == 3]
    assert arrays["wrong"].sum(axis=3).ravel().tolist() == last["errors"].tolist()
    X, y, X_test, y_test = forms.split("digits")
    model = forms.estimator("ordinary", "rbf", widths["ordinary"], 3, random_state=1).fit(X[:150], y[:150])
    classes = model.predict(X_test, predictor="average")
    own = last.query("form == 'ordinary' and predictor == 'average' and order == 1")
    assert own["errors"].item() == np.count_nonzero(classes != y_test)


def test_comparisons_on_equal_terms_are_made_of_the_flags(on_equal_terms):
    equal = on_equal_terms[1]
    wrong = equal["arrays"][0]["wrong"]
    gaps = tables.gaps(wrong)
    assert {gap.adjusted for gap in gaps.values()} == {"Holm over 8"}
    both = wrong[:, 0, 1].mean(axis=1) - wrong[:, 1, 1].mean(axis=1)
    assert gaps["one-vs-all", "ordinary", "average"].estimate == pytest.approx(both[0])


def test_facts_on_equal_terms_are_counted_from_the_flags(on_equal_terms):
    tuned, equal = on_equal_terms
    wrong = equal["arrays"][0]["wrong"]
    found = facts.equal_terms(equal)
    average = wrong[:, :, forms.JUDGED.index("average")].mean(axis=(0, 2))
    assert list(found.errors.values()) == pytest.approx([*average[:2], *average[2:]])
    assert found.excess.tolist() == pytest.approx([found.by_size["Xu-Zhang"].item() / average[1]])
    assert found.xu_zhang_last == found.gaps["ordinary", "Xu-Zhang, no threshold", "average"]
    settings = [SimpleNamespace(n=120, n_validate=100)]
    widths = facts.widths(settings, tuned)
    best = forms.best_widths(tuned["tuning"])
    assert widths.ratio == best["Xu-Zhang, no threshold"] / best["ordinary"]
    at = (
        tuned["tuning"].query("predictor == 'average' and width == @best['ordinary']").groupby("form")["errors"].mean() / 100
    )
    assert widths.own_error == pytest.approx(at["ordinary"])
    assert widths.borrowed_error == pytest.approx(at["Xu-Zhang, no threshold"])


def test_rates_on_equal_terms_are_means_over_the_orders(on_equal_terms):
    equal = on_equal_terms[1]["equal"]
    level = tables.equal_rates(equal)
    own = equal.query("form == 'ordinary' and predictor == 'average' and epoch == 3")["errors"] / equal["n_new"].iloc[0]
    row = level.query("form == 'ordinary' and predictor == 'average'").iloc[0]
    assert row[["error", "low", "high"]].tolist() == pytest.approx([own.mean(), own.min(), own.max()])
    three, without = (rows.groupby("form")["error"].sum() for rows in (tables.three_forms(level), level))
    assert three["Xu-Zhang"] == without["Xu-Zhang, no threshold"]
    assert tables.largest_terms(level).set_index("form").loc["ordinary", "average"] == row["error"]


def test_both_variants_of_xu_and_zhangs_form_are_shown_and_neither_bears_its_bare_name(on_equal_terms):
    level = tables.equal_rates(on_equal_terms[1]["equal"]).query("predictor == 'average'").set_index("form")["error"]
    shown = tables.in_words(tables.largest_terms(tables.equal_rates(on_equal_terms[1]["equal"]))).set_index("form")[
        "average"
    ]
    assert list(shown.index) == ["one-vs-all", "ordinary", tables.WITHOUT, tables.PRINTED]
    assert (shown[tables.WITHOUT], shown[tables.PRINTED]) == (level["Xu-Zhang, no threshold"], level["Xu-Zhang"])


def test_widths_are_found_by_the_average_predictor(on_equal_terms):
    table = on_equal_terms[0]["tuning"]
    (arrays,) = on_equal_terms[0]["arrays"]
    average = table[table["predictor"] == "average"]
    by_width = tables.digits_by_width(table, 120).set_index(["form", "width"])
    groups = average.groupby(["form", "width"])
    assert by_width["error"].to_dict() == pytest.approx((groups["errors"].mean() / 100).to_dict())
    assert by_width["mistakes"].to_dict() == groups["mistakes"].median().to_dict()
    gap, own = tables.own_widths(table, {120: arrays["wrong"]}, 120)
    assert own == {form: forms.best_widths(table)[form] for form in forms.PAIR}
    first = average[average["order"] == 0].set_index(["form", "width"])["errors"]
    without, given = (first[form, own[form]] for form in forms.PAIR)
    assert gap.estimate == pytest.approx((given - without) / 100)


def test_figures_on_equal_terms_draw_their_tables(on_equal_terms):
    tuned, equal = on_equal_terms
    curves = tables.digits_by_width(tuned["tuning"], 120)
    own = curves[curves["form"] == "ordinary"].sort_values("width")
    level = tables.equal_rates(equal["equal"])
    axes = figures.figure_own_width(curves).axes
    for axis, values in zip(axes, (100 * own["error"], own["mistakes"]), strict=True):
        lines = {line.get_label(): line.get_ydata() for line in axis.get_lines()}
        assert lines["ordinary"] == pytest.approx(values.to_numpy())
    bars = figures.figure_equal(level).axes[0].containers
    drawn = np.concatenate([each[0].get_ydata() for each in bars])
    assert drawn == pytest.approx(100 * level[level["predictor"] == "average"]["error"].to_numpy())


def assert_same_logs(found, expected):
    found, expected = ([vars(replace(log, errors=None)) for log in logs] for logs in (found, expected))
    np.testing.assert_equal(found, expected)


def interrupted(experiment, settings, *, after, computed, prefix=""):
    """A checkpoint that keeps what is computed, and ends the run where the epoch after this one begins."""

    def checkpoint(step, compute):
        if step == f"epoch_{after + 1}":
            raise KeyboardInterrupt
        return experiment.checkpoint(settings, prefix + step, lambda: computed.append(step) or compute())

    return checkpoint
