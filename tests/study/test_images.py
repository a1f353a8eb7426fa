"""The protocol on images, taken to other sets: which examples train and test, and how attributes are prepared."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.preprocessing import StandardScaler

from study import datasets
from study.mnist import experiment as mnist
from study.orders import experiment as orders
from study.protocols import images


def test_images_are_as_they_are():
    assert images.examples("digits") is datasets.load("digits") and images.n_examples("digits") == 1200


def test_a_set_without_a_test_part_is_cut_and_standardised():
    data = images.examples("iris-bundled")
    X, y = load_iris(return_X_y=True)
    assert len(data.y) == images.n_examples("iris-bundled") == 100 and len(data.y_test) == 50
    assert np.bincount(data.class_indices_test).tolist() in ([16, 17, 17], [17, 16, 17], [17, 17, 16])
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
    (found,) = orders.runs.compute([orders.Settings(dataset="iris-bundled", degrees=(2,), n_epochs=2)])
    row = found["runs"].query("predictor == 'average' and epoch == 2")
    assert row["n"].item() == 50 and row["errors"].item() < 10


def test_synthetic_and_unknown_sets_are_refused():
    for name in ("moons", "no such set"):
        with pytest.raises(ValueError, match=f"dataset must be one of mnist, .*digits.*, got '{name}'"):
            mnist.Settings(dataset=name, degree=2)
