"""What settings of an experiment may be: the two rules, and that chapters ask them of every field."""

import re
from dataclasses import dataclass, fields, replace
from types import SimpleNamespace

import pytest

from study import chapters
from study.protocols.settings import BaseSettings, require_integers
from study.tables.protocol import Method
from study.tables.readings import Reading

EXPERIMENTS = {each.name: each for each in chapters.all_experiments()}
CHECKED = (
    "mnist.neighbours", "mnist.orders", "mnist.kept", "doubt.ensemble", "lower.perceptron",
    "lower.prepared", "lower.curves", "lower.held", "mnist.image_pairs", "seeds.methods", "course.codes", "mnist.romma",
    "questions.kernels", "mnist.cross_validated", "mnist.kept_costs",
)  # fmt: skip
"""Experiments whose settings say what each of their fields may be."""


UNCHECKED = ("mnist.image_copies", "claims.ledger")
"""Experiments whose settings nobody types; those of the room budgets are made of others, which are checked."""


def test_all_settings_that_are_typed_have_the_checks_of_the_base():
    known = [part for name, each in EXPERIMENTS.items() if name not in UNCHECKED for part in each.published]
    kinds = {Method, Reading, *map(type, known)}
    assert all(issubclass(each, BaseSettings) for each in kinds if each.__module__ != "study.budgets.experiment")


@pytest.mark.parametrize("name", CHECKED)
def test_a_text_that_is_not_known_and_what_is_no_number_are_refused_in_every_field(name):
    (part, *_) = EXPERIMENTS[name].published
    for field in fields(part):
        wrong = {str: "nothing", int: True, tuple: ()}[type(getattr(part, field.name))]
        with pytest.raises(ValueError, match=f"^{field.name} must |there is no dataset of this name"):
            replace(part, **{field.name: wrong})


@pytest.mark.parametrize(
    ("value", "bounds", "message"),
    [
        (41, (1, 40), "n must be an integer in 1..40, got 41"),
        (2.0, (1, 40), "n must be an integer in 1..40, got 2.0"),
        ((3, 0), (1, 40), "n must be an integer in 1..40, got 0"),
        (1, (2, None), "n must be an integer of at least 2, got 1"),
    ],
)
def test_integers_out_of_range_are_refused_with_the_range(value, bounds, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        require_integers(SimpleNamespace(n=value), n=bounds)


@dataclass(frozen=True, kw_only=True)
class Own(BaseSettings):
    dataset: str = "digits"
    n_train: int | str = "all"
    degrees: tuple = (1,)
    ways: tuple = ("a",)
    n_folds: int = 2
    n: int = 1
    order: str = "fresh"
    n_epochs: int = 0

    KNOWN = {"ways": ("a", "b"), "order": ("fresh", "fixed")}
    BOUNDS = {"n": (1, 3), "n_folds": (2, 5), "n_epochs": None}


def test_the_base_of_settings_makes_tuples_counts_examples_and_leaves_a_class_its_own_checks():
    found = Own(degrees=[2, 3], ways=["b", "a"])
    assert (found.degrees, found.ways, found.n_train) == ((2, 3), ("b", "a"), 1200)
    assert found == Own(degrees=(2, 3), ways=("b", "a"), n_train=1200)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"dataset": "digit"}, "'digit': there is no dataset of this name.*"),
        ({"dataset": "five-classes"}, "dataset must be one of .*, got 'five-classes'"),
        ({"n_train": 1201}, "n_train must be an integer in 10..1200, got 1201"),
        ({"degrees": (1, 41)}, "degrees must be an integer in 1..40, got 41"),
        ({"degrees": []}, "degrees must name at least one, got none"),
        ({"ways": ("a", "c")}, "ways must be one of a, b, got 'c'"),
        ({"n_folds": 6}, "n_folds must be an integer in 2..5, got 6"),
        ({"n": 4}, "n must be an integer in 1..3, got 4"),
        ({"order": "given"}, "order must be one of fresh, fixed, got 'given'"),
    ],
)
def test_the_base_of_settings_refuses_what_cannot_be_run(wrong, message):
    with pytest.raises(ValueError, match=f"^{message}$"):
        Own(**wrong)
