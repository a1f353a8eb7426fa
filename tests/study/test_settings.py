"""What settings of an experiment may be: the two rules, and that chapters ask them of every field."""

import re
from dataclasses import fields, replace
from types import SimpleNamespace

import pytest

from study import chapters
from study.protocols.settings import require_integers

EXPERIMENTS = {each.name: each for each in chapters.all_experiments()}
CHECKED = (
    "mnist.neighbours", "orders.runs", "orders.kept", "doubt.ensemble", "lower.perceptron",
    "lower.prepared", "lower.curves", "lower.held", "data.pairs", "seeds.methods", "course.codes", "romma.runs",
    "questions.kernels",
)  # fmt: skip
"""Experiments whose settings say what each of their fields may be."""


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
