"""The three multiclass forms: the study's shortcuts against the estimators, drafts of long runs, and the stored results."""

import numpy as np
import pytest

from kp import PREDICTORS, MulticlassKernelPerceptron, OneVsAllKernelPerceptron, datasets
from study.forms import experiment as forms
from study.forms import figures as figures_forms
from study.mnist import tables

N, EPOCHS = 250, 3


def sets():
    X, y, X_test, y_test = forms.split("digits")
    return X[:N], y[:N], X_test[:100], y_test[:100]


def estimator(form, kind, parameter):
    if form == "one-vs-all":
        options = {"gamma": 1 / (2 * parameter**2)} if kind == "rbf" else {"degree": int(parameter)}
        return OneVsAllKernelPerceptron(kind, max_iter=EPOCHS, random_state=forms.SEED, **options)
    options = {"sigma": parameter} if kind == "rbf" else {"degree": int(parameter), "coef0": 1.0}
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


def test_coefficients_are_moved_epoch_by_epoch_and_an_interrupted_run_goes_on(tmp_path, monkeypatch):
    X, y, X_test, _ = sets()
    kernel = forms.kernel_of("rbf", 12.0)
    whole = forms.learn("Xu-Zhang", kernel, X, y, EPOCHS, n_classes=10)
    monkeypatch.setattr(forms, "SQUARED", 0)
    monkeypatch.setattr("kp.kesler.BLOCK", 64)
    draft = tmp_path / "run"
    first = forms.learn("Xu-Zhang", kernel, X, y, EPOCHS, n_classes=10, draft=draft)
    kept = sorted(tmp_path.iterdir())
    assert [path.name for path in kept] == [f"run_epoch_{e}.npz" for e in range(1, whole.n_epochs + 1)]
    kept[-1].unlink()
    monkeypatch.setattr(forms.kesler, "BLOCK", 50)
    again = forms.learn("Xu-Zhang", kernel, X, y, EPOCHS, n_classes=10, draft=draft)
    for learnt in (first, again):
        for column in ("example", "step", "promoted", "demoted", "ends"):
            assert np.array_equal(getattr(learnt.logs[0], column), getattr(whole.logs[0], column))
    found = forms.predictions(again, X_test, votes=False)
    assert set(found) == {"final", "average"}
    assert all(np.array_equal(classes, forms.predictions(whole, X_test)[name]) for name, classes in found.items())


def test_the_chosen_kernel_has_the_fewest_validation_errors_of_its_form(monkeypatch):
    plan = forms.Plan(widths=(4.0, 16.0), degrees=(2,), n_choose=150, n_validate=100, sizes={100: 2, 150: 2})
    monkeypatch.setitem(forms.PLANS, "digits", plan)
    choice, errors = forms.results("digits")
    for form, (kind, parameter) in forms.chosen(choice).items():
        rows = choice[choice["form"] == form]
        best = rows[(rows["kernel"] == kind) & (rows["parameter"] == parameter)]
        assert best["errors"].min() == rows["errors"].min()
        assert set(errors.loc[errors["form"] == form, "parameter"]) == {parameter}
    assert set(errors["n"]) == {100, 150}
    last = tables.at_the_end(errors)
    assert list(last["form"]) == list(forms.FORMS) and set(last["n"]) == {150}
    for figure in (
        figures_forms.figure_choice(choice),
        figures_forms.figure_growth(errors),
        figures_forms.figure_cost(errors),
    ):
        assert all(axis.get_xlabel() for axis in figure.axes)


def test_shares_of_the_spectrum_sum_to_one_and_squaring_makes_the_first_larger():
    for plain, squares in tables.spectra("digits", [("rbf", 16.0), ("poly", 2.0)], 60).values():
        assert plain.sum() == pytest.approx(1) and squares.sum() == pytest.approx(1)
        assert squares[0] > plain[0]


@pytest.mark.parametrize("form", forms.FORMS)
def test_stored_errors_come_out_again(form):
    try:
        datasets.load("mnist", download=False)
    except datasets.DataError as error:
        pytest.skip(f"mnist is not here: {error}")
    choice, errors = forms.results("mnist")
    stored = errors[(errors["form"] == form) & (errors["n"] == 1000)].reset_index(drop=True)
    again = forms.grow("mnist", form, 1000, forms.chosen(choice)[form]).drop(columns="seconds")
    assert again.equals(stored)
