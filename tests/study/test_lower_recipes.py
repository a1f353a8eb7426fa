"""Recipes for a low error: copies are made of what was misclassified, held-out images choose, and the price is kept."""

import numpy as np
import pandas as pd
import pytest

from kp import OneVsAllKernelPerceptron
from study import datasets
from study.lower import figures, recipes, tables
from study.lower.facts import Facts, published
from study.lower.recipes import UPRIGHT, WAYS, Recipe
from study.protocols.preparations import NORM, deskew, each, shifted

SMALL = {"dataset": "digits", "n_held": 300}


def literal(recipe):
    """Classes of the held-out or test images by the words of the recipe, with the public estimator."""
    data = datasets.load("digits")
    X, X_test, gamma = recipes.PREPARED[recipe.preparation](data.X, data.X_test)
    n = len(X) - recipe.n_held
    scored = X[n:] if recipe.n_held else X_test
    X = X[:n]
    y = data.y[:n]
    options = {"stop_if_separated": False, "random_state": recipe.degree + 100 * recipe.order, "gamma": gamma}
    model = OneVsAllKernelPerceptron(degree=recipe.degree, max_iter=recipe.n_epochs, **options)
    model.fit(X, y)
    wrong = sorted({int(i) for log in model.mistakes_ for i in log.example})
    for down, right in WAYS[recipe.copies]:
        X = np.vstack([X, [shifted(X[i : i + 1], down, right)[0] for i in wrong]])
        y = np.concatenate([y, y[wrong]])
    return model.fit(X, y).predict(scored, predictor="average"), len(X)


@pytest.mark.long
@pytest.mark.parametrize(
    "recipe",
    [
        Recipe(degree=3, copies=4, **SMALL),
        Recipe(preparation=UPRIGHT, degree=6, copies=8, order=1, n_epochs=3, **SMALL),
        Recipe(dataset="digits", preparation="deskewed", n_held=0, copies=4, n_epochs=2),
    ],
    ids=str,
)
def test_a_recipe_is_what_its_words_say(recipe):
    found, n_examples, _ = recipes.learnt(recipe, 2**28)
    expected, n = literal(recipe)
    np.testing.assert_array_equal(found.astype(int), expected.astype(int))
    assert n_examples == n > 1000


def test_upright_images_are_deskewed_first_and_have_the_same_norm():
    data = datasets.load("digits")
    X, _, gamma = recipes.upright(data.X[:20], data.X_test[:1])
    np.testing.assert_allclose(np.linalg.norm(X, axis=1), NORM, rtol=1e-3)
    assert gamma == NORM**-2
    plain = each(deskew, data.X[:20])
    cosine = (X * plain).sum(axis=1) / np.linalg.norm(X, axis=1) / np.linalg.norm(plain, axis=1)
    assert cosine.min() > 0.9999


def test_the_chosen_recipe_has_the_fewest_errors_on_held_out_images():
    parts = recipes.candidates()
    tried = published.recipes
    assert recipes.CHOSEN == recipes.best() == parts[int(tried["errors"].argmin())]


def test_another_number_of_held_out_images_chooses_again():
    tried = Facts(dataset="digits", n_held=200).recipes
    fewest = tried.loc[tried["errors"].idxmin()]
    first, *_ = recipes.chosen("digits", n_held=200)
    assert (first.preparation, first.degree, first.copies) == tuple(fewest[["preparation", "degree", "copies"]])


def test_steps_are_the_best_of_each_line_and_of_equals_the_first():
    key = {"protocol": "own, new", "order": 0, "n": 100}
    rows = [("raw", 3, 0, 7), ("raw", 4, 0, 5), ("raw", 5, 0, 5), ("raw", 4, 8, 4), ("raw", 5, 8, 2)]
    tried = pd.DataFrame(rows, columns=["preparation", "degree", "copies", "errors"]).assign(**key)
    assert tables.lines(tried)[["degree", "copies"]].to_numpy().tolist() == [[4, 0], [5, 8]]


def test_lines_of_the_figure_are_the_errors_of_the_table():
    tried = published.recipes
    (axis,) = figures.figure_recipes(tried).axes
    plain = tried[tried["protocol"] == "own, new"]
    drawn = np.concatenate([line.get_ydata() for line in axis.lines])
    np.testing.assert_allclose(np.sort(drawn), np.sort(100 * plain["error"]))


def test_each_preparation_has_its_fewest_held_out_errors_without_copies():
    rows = [("raw", 3, 0, 9), ("raw", 4, 0, 7), ("deskewed", 3, 0, 5), ("deskewed", 4, 0, 6), ("deskewed", 5, 4, 1)]
    tried = pd.DataFrame(rows, columns=["preparation", "degree", "copies", "errors"])
    found = tables.alone(tried.assign(error=tried["errors"] / 100))
    assert found.to_numpy().tolist() == [["deskewed", 3, 0.05], ["raw", 4, 0.07]]
