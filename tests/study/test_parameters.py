"""The parameters of notebooks: each has a rule, and a value that breaks it is named before anything is computed."""

import pytest

from study import ROOT, chapters
from study.comparison import experiment
from study.report import display, parameters

SOURCES = sorted(path.stem for path in (ROOT / "notebooks").glob("*.ipynb"))


def defaults(source):
    return dict(display.Source.read(source).parameters)


@pytest.mark.parametrize("source", SOURCES)
def test_every_parameter_has_a_rule_that_its_default_and_the_profiles_keep(source):
    assert set(parameters.RULES[source]) | {"figures_folder"} == set(defaults(source))
    parameters.check(source, defaults(source))
    for chapter in chapters.CHAPTERS:
        for profile in chapters.PROFILES:
            if chapter.source == source and getattr(chapter, profile) is not None:
                parameters.check(source, defaults(source) | chapter.parameters(profile))


@pytest.mark.parametrize(
    ("source", "name", "value", "expected"),
    [
        ("mnist_degree", "digit", 10, "an integer in 0..9"),
        ("mnist_degree", "digit", -1, "an integer in 0..9"),
        ("mnist_degree", "digit", "five", "an integer in 0..9"),
        ("mnist_degree", "degree", 2.5, "an integer in 1..40"),
        ("mnist_degree", "degree", True, "an integer in 1..40"),
        ("mnist_degree", "n_train", "some", "'all' or an integer in 10..60,000"),
        ("mnist_degree", "n_small", 1798, "at most the number of training images"),
        ("mnist_degree", "dataset", "minst", "one of 'mnist', 'digits'"),
        ("mnist_degree", "dataset", ["mnist"], "one of 'mnist', 'digits'"),
        ("mnist_degree", "figures_folder", 3, "a text"),
        ("class", "random_states", "a:3", "a range without its end"),
        ("uci", "parameter", "", "'published' or a number above 0"),
        ("uci", "degrees", "", "a list with at least one value"),
        ("uci", "degrees", [2.5], "an integer in 1..40"),
        ("uci", "degrees", [2, 2], "each once"),
        ("uci", "widths", [0.0], "a number above 0"),
        ("uci", "widths", [float("nan")], "a number above 0"),
        ("tables", "datasets", "", "a text of names"),
        ("tables", "datasets", "iris-bundled iris-bundled", "each once"),
        ("classes", "datasets", "mnist", "a text of names"),
        ("seeds", "hard_datasets", "", "a text of names"),
        ("family", "n_orders", 0, "an integer in 1.."),
        ("family", "budgets", 10, "a text of integers in 2..60,000"),
        ("family", "budgets", "10 ten", "a text of integers"),
        ("family", "budgets", "", "a text of integers"),
        ("course", "n_seeds", 0, "an integer in"),
        ("course", "n_splits", 0, "an integer in"),
        ("course", "s", 0, "a number above 0"),
        ("mnist", "n_epochs", 1, "an integer in 2..1,000"),
        ("algorithm", "n_orders", 0, "an integer in"),
        ("algorithm", "n_samples", 3, "an integer in 4.."),
        ("algorithm", "spread", -1, "a number of at least 0"),
        ("algorithm", "spread", float("inf"), "a number of at least 0"),
        ("data", "n_pairs", 1001, "an integer in 1..1,000"),
        ("classes", "five_classes", "iris", "one of 'blobs2d'"),
    ],
)
def test_a_wrong_value_is_named_with_what_was_expected(source, name, value, expected):
    with pytest.raises(ValueError, match=f"^{name} must be .*") as error:
        display.open_chapter(source, defaults(source) | {name: value})
    assert expected in str(error.value) and str(error.value).endswith(f", got {value!r}")


def test_a_degree_of_the_polynomial_kernel_is_an_integer_and_a_width_is_not():
    values = defaults("uci") | {"parameter": 2.5}
    parameters.check("uci", values | {"kernel": "rbf"})
    parameters.check("uci", values | {"kernel": "poly", "parameter": 2})
    with pytest.raises(
        ValueError, match="parameter must be 'published' or .*integer in 1..40 where kernel is 'poly', got 2.5"
    ):
        parameters.check("uci", values | {"kernel": "poly"})


def test_the_sets_that_can_be_compared_are_those_of_the_experiment():
    assert set(parameters.COMPARED) == {*experiment.DATASETS, *experiment.BUNDLED}
