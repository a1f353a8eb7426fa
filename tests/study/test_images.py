"""The protocol on images, taken to other sets: which examples train and test, and how attributes are prepared."""

from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.preprocessing import StandardScaler

from kp.mistakes import PREDICTORS
from kp.one_vs_all import OneVsAllKernelPerceptron
from kp.shared import SharedTraining
from study import datasets
from study.mnist import experiment as mnist
from study.mnist import kept, orders
from study.protocols import images


def test_images_are_as_they_are():
    assert images.examples("digits") is datasets.load("digits") and images.n_examples("digits") == 1200


def test_a_set_without_a_test_part_is_cut_and_standardised():
    data = images.examples("iris-bundled")
    X, y = load_iris(return_X_y=True)
    assert len(data.y) == images.n_examples("iris-bundled") == 100 and len(data.y_test) == 50
    assert sorted(np.bincount(data.class_indices_test)) == [16, 17, 17]
    assert np.any(np.diff(data.class_indices) < 0)
    everyone = np.vstack([data.X, data.X_test])
    assert np.allclose(data.X.mean(axis=0), 0) and np.allclose(data.X.var(axis=0), 1 / 4)
    # The whole set by one linear map of each attribute, row for row.
    found = StandardScaler().fit_transform(everyone)
    known = StandardScaler().fit_transform(X)
    assert sorted(found.round(9).tolist()) == sorted(known.round(9).tolist())
    assert np.unique(np.r_[data.y, data.y_test], return_counts=True)[1].tolist() == np.bincount(y).tolist()


def test_the_chapters_of_mnist_run_on_another_set():
    part = mnist.Settings(dataset="iris-bundled", degree=2, n_epochs=2)
    assert part.n_train == 100
    (counts,) = (found["multiclass"] for found in mnist.degrees.compute([part]))
    assert set(counts.loc[counts["split"] == "test", "n"]) == {50} and counts["errors"].min() < 10
    (found,) = orders.orders.compute([orders.Settings(dataset="iris-bundled", degrees=(2,), n_epochs=2)])
    row = found["orders"].query("predictor == 'average' and epoch == 2")
    assert row["n"].item() == 50 and row["errors"].item() < 10


@pytest.fixture
def two(monkeypatch):
    """Two of the digits in place of ten, for the chapter on MNIST."""
    data = datasets.load("digits")
    some, new = (np.isin(y, (3, 8)) for y in (data.y, data.y_test))
    parts = {"X": data.X[some], "y": data.y[some], "X_test": data.X_test[new], "y_test": data.y_test[new]}
    data = replace(data, classes=(3, 8), target_names=("3", "8"), **parts)
    for module in (mnist, orders, kept):
        monkeypatch.setattr(module, "examples", lambda _: data)
    return data


def test_two_classes_are_predicted_as_by_the_estimator(two):
    n = 200
    options = {"dataset": "digits", "n_train": n, "n_epochs": 3}
    model = OneVsAllKernelPerceptron(
        degree=2, gamma=1, max_iter=3, random_state=2, stop_if_separated=False, count_errors=True
    )
    model.fit(two.X[:n], two.y[:n])
    expected = np.array([list(model.staged_predict(two.X_test, predictor=name)) for name in PREDICTORS])
    wrong = (expected != two.y_test).sum(axis=-1)
    assert 0 < wrong.max() < 15 and len(two.y_test) > 100

    training = SharedTraining(two.X[:n], two.y[:n])
    (found,) = images.predictions(training, training.fit([images.in_order(2, 0, n_epochs=3)]), two.X_test)
    assert np.array_equal(model.classes_[found], expected)
    (found,) = mnist.degrees.compute([mnist.Settings(degree=2, **options)])
    assert np.array_equal(model.classes_[found["arrays"]["predictions"]], expected)
    for split, X, y in (("train", two.X[:n], two.y[:n]), ("test", two.X_test, two.y_test)):
        for epoch, name in product((1, 2, 3), PREDICTORS):
            f = model.decision_function(X, predictor=name, epoch=epoch)
            row = {"split": split, "epoch": epoch, "predictor": name}
            assert errors(found["multiclass"], row) == [((f > 0) != (y == 8)).sum()]
            assert errors(found["binary"], row) == [(np.where(y == 8, f, -f) <= 0).sum()] * 2
    (found,) = orders.orders.compute([orders.Settings(degrees=(2,), **options)])
    assert np.array_equal(found["orders"]["errors"], wrong.ravel())


def errors(table, row):
    return table.loc[(table[list(row)] == pd.Series(row)).all(axis=1), "errors"].to_list()


def test_a_score_of_zero_is_the_first_of_two_classes_and_more_classes_keep_their_outputs():
    f = np.array([[[-1.0, 0.0, 2.0]]])
    assert images.by_class(f).argmax(axis=1).tolist() == [[0, 0, 1]]
    of_three = np.zeros((2, 3, 4))
    assert images.by_class(of_three) is of_three


def test_predictions_of_more_than_256_classes_are_not_cut():
    class Model:
        classes_ = np.arange(300)
        n_iter_ = 1

    class Training:
        def staged_outputs(self, models, X):
            yield slice(None), [{name: np.eye(300)[None] for name in PREDICTORS}]

    assert images.predictions(Training(), [Model()], np.eye(300))[0, 0, 0].tolist() == list(range(300))
