"""Errors by epoch and predictor as a plot: those of the predictions, from one fit."""

import sys

import matplotlib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.linear_model import Perceptron
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kp import PREDICTORS, ErrorByEpochDisplay, OneVsAllKernelPerceptron, Romma

matplotlib.use("agg")
plt = pytest.importorskip("matplotlib.pyplot")
X, y = load_digits(return_X_y=True)
TRAIN, TEST = slice(0, 300), slice(300, 500)


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def model():
    return OneVsAllKernelPerceptron(max_iter=3, count_errors=True, random_state=0).fit(X[TRAIN], y[TRAIN])


def test_a_line_for_each_predictor_has_the_errors_of_a_fit_that_is_made_once(model, monkeypatch):
    monkeypatch.setattr(OneVsAllKernelPerceptron, "fit", None)
    display = ErrorByEpochDisplay.from_estimator(model, X[TEST], y[TEST])
    assert tuple(display.errors) == PREDICTORS == tuple(line.get_label() for line in display.lines_)
    for line, name in zip(display.lines_, PREDICTORS, strict=True):
        expected = [np.mean(model.predict(X[TEST], predictor=name, epoch=e) != y[TEST]) for e in (1, 2, 3)]
        np.testing.assert_array_equal(line.get_xydata(), np.transpose([[1, 2, 3], expected]))
    assert display.ax_.get_xlabel() == "Epoch" and display.figure_ is display.ax_.figure


@pytest.mark.parametrize(
    ("predictor", "names"),
    [("voted", ["voted"]), (None, ["average"]), (("final", "average"), ["final", "average"]), ("all", list(PREDICTORS))],
)
def test_predictors_are_chosen_by_name(model, predictor, names):
    display = ErrorByEpochDisplay.from_estimator(model, X[TEST], y[TEST], predictor=predictor)
    assert list(display.errors) == names


def test_a_pipeline_transforms_the_points_before(model):
    scaled = make_pipeline(StandardScaler(), clone(model)).fit(X[TRAIN], y[TRAIN])
    (error,) = ErrorByEpochDisplay.from_estimator(scaled, X[TEST], y[TEST], predictor="final").errors.values()
    assert error[-1] == pytest.approx(1 - np.mean(scaled.predict(X[TEST], predictor="final") == y[TEST]))


def test_displays_share_axes_and_romma_has_one_predictor(model):
    first = ErrorByEpochDisplay.from_predictions(["a", "b"], {"final": [["a", "a"], ["a", "b"]]})
    assert first.errors["final"].tolist() == [0.5, 0.0]
    romma = Romma(max_iter=2, random_state=0).fit(X[TRAIN], y[TRAIN])
    second = ErrorByEpochDisplay.from_estimator(romma, X[TEST], y[TEST], ax=first.ax_)
    assert second.ax_ is first.ax_ and list(second.errors) == ["final"] and len(first.ax_.lines) == 2
    again = ErrorByEpochDisplay(second.errors).plot()
    assert again.ax_ is not first.ax_ and again.lines_[0].get_ydata().tolist() == second.errors["final"].tolist()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ErrorByEpochDisplay.from_estimator(Perceptron().fit(X, y), X, y), "staged_predict, .* got Perceptron"),
        (lambda: ErrorByEpochDisplay.from_predictions([0, 1], {"final": [0, 1]}), r"labels \(E, n\) .* got \(2,\)"),
        (lambda: ErrorByEpochDisplay.from_predictions([0, 1], {"final": [[0, 1, 1]]}), "inconsistent numbers of samples"),
    ],
)
def test_what_has_no_errors_by_epoch_is_refused(call, message):
    with pytest.raises((TypeError, ValueError), match=message):
        call()


def test_where_matplotlib_is_missing_a_drawing_asks_for_it_by_name(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match="ErrorByEpochDisplay.plot requires matplotlib"):
        ErrorByEpochDisplay({"final": [0.1]}).plot()
