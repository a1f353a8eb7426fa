"""What the parameters of each notebook may be: checked when a notebook opens its chapter, before anything is computed.

A rule says in words what it expects of a value; it may look at the other parameters. Bounds that keep a notebook from taking
all memory or a day are generous. Settings of experiments check again what they are given.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from study import chapters
from study.datasets import DATASETS

SEED = 2**32 - 1
FILES = tuple(name for name, each in DATASETS.items() if each.kind != "synthetic")
SYNTHETIC = tuple(name for name, each in DATASETS.items() if each.kind == "synthetic")
COMPARED = tuple(name for name in FILES if name != "mnist")


@dataclass(frozen=True)
class Rule:
    """expected : what a value must be, in words; holds : of a value and of all parameters, whether it is."""

    expected: str
    holds: Callable[[object, dict], bool]


def whole(low, high):
    return Rule(
        f"an integer in {low:,}..{high:,}",
        lambda value, _: isinstance(value, int) and not isinstance(value, bool) and low <= value <= high,
    )


def images(low, high=60_000):
    """An integer, of training examples of the parameter `dataset`."""
    within = whole(low, high)
    return Rule(
        f"{within.expected}, and at most the number of training images of the data set",
        lambda value, values: within.holds(value, values) and value <= sum(DATASETS[values["dataset"]].counts),
    )


def positive(*, zero=False):
    return Rule(
        f"a number {'of at least' if zero else 'above'} 0",
        lambda value, _: (
            isinstance(value, int | float)
            and not isinstance(value, bool)
            and (0 < value or zero and value == 0)
            and value < 1e9
        ),
    )


def one_of(*values):
    return Rule(f"one of {', '.join(map(repr, values))}", lambda value, _: isinstance(value, str) and value in values)


def either(word, rule):
    return Rule(f"{word!r} or {rule.expected}", lambda value, values: value == word or rule.holds(value, values))


def words(*known):
    return Rule(
        f"a text of names, each once and with blanks between, of {', '.join(known)}",
        lambda value, _: isinstance(value, str) and _each_once(value.split(), known.__contains__),
    )


def wholes(low, high):
    """Integers as a text; papermill makes a number of a single one, unless it is given with -r."""
    return Rule(
        f"a text of integers in {low:,}..{high:,}, each once and with blanks between (a single one with papermill's -r)",
        lambda value, _: (
            isinstance(value, str)
            and _each_once(value.split(), lambda word: word.isascii() and word.isdecimal() and low <= int(word) <= high)
        ),
    )


def several(rule):
    return Rule(
        f"a list with at least one value, each once and {rule.expected} (papermill's -y)",
        lambda value, values: isinstance(value, list | tuple) and _each_once(value, lambda each: rule.holds(each, values)),
    )


def _each_once(values, holds):
    return len(values) > 0 and all(map(holds, values)) and len(set(values)) == len(values)


PLACE = {"figures_folder": Rule("a text", lambda value, _: isinstance(value, str))}
IMAGES = {"dataset": one_of("mnist", "digits")}
DEGREE, EPOCHS, STATE = whole(1, 40), whole(1, 1000), whole(0, SEED)
LEARNT = {"n_epochs": EPOCHS, "n_train": either("all", images(10))}
SEEDS = Rule(
    "a text of seeds: a range without its end, as in '0:30', or a list, as in '3,5,8'",
    lambda value, _: isinstance(value, str) and re.fullmatch(r"\d+:\d+|\d+(,\d+)*", value) is not None,
)
FOLDS = {
    "n_folds": whole(2, 1000),
    "n_repeats": whole(1, 10_000),
    "random_state": STATE,
    "degrees": several(DEGREE),
    "widths": several(positive()),
    "inner_folds": whole(2, 1000),
}
STREAMS = {
    "n_train": images(20),
    "budgets": wholes(2, 60_000),
    "class_budgets": wholes(2, 60_000),
    "n_orders": whole(1, 1000),
    "n_repeats": whole(2, 1000),
    "degree": DEGREE,
    "random_state": STATE,
}
ROW = Rule(
    "a number above 0, and an integer in 1..40 where kernel is 'poly'",
    lambda value, values: (DEGREE if values["kernel"] == "poly" else positive()).holds(value, values),
)

RULES = {
    "algorithm": {
        "n_samples": whole(4, 5000), "n_test": whole(10, 10**6), "spread": positive(zero=True), "degree": DEGREE,
        "n_epochs": EPOCHS, "n_toy_orders": whole(2, 10_000), "n_orders": whole(2, 10_000), "random_state": STATE,
    },
    "class": IMAGES | LEARNT | {"degree": DEGREE, "random_states": SEEDS, "mine": STATE},
    "conclusion": {},
    "course": IMAGES | {
        "n_seeds": whole(2, 10**5), "n_code_seeds": whole(2, 10**5), "n_splits": whole(2, 10_000), "random_state": STATE,
        "s": positive(), "n_per_class": whole(2, 10_000), "n_in_space": whole(2, 10_000), "n_search": whole(1, 10**5),
    },
    "data": IMAGES | {"n_pairs": whole(1, 1000)},
    "family": IMAGES | STREAMS,
    "introduction": {},
    "ledger": {},
    "mnist_degree": IMAGES | LEARNT | {
        "degree": DEGREE, "random_state": either("degree", STATE), "digit": whole(0, 9), "n_literal": images(10, 2000),
        "n_small": images(10),
    },
    "seeds": {
        "dataset": one_of(*FILES), "hard_datasets": words(*FILES), "n_splits": whole(2, 10**6),
        "n_hard_splits": whole(2, 10**5), "random_state": STATE, "lam": positive(), "tau": positive(), "k": whole(1, 1000),
    },
    "setup": {},
    "tour": {
        "csv": Rule("a text: the path of a CSV file, or nothing", lambda value, _: isinstance(value, str)),
        "max_iter": EPOCHS, "random_state": STATE,
    },
    "uci": FOLDS | {
        "dataset": one_of(*chapters.UCI_SETS, "iris-bundled", "wine-bundled"), "kernel": one_of("linear", "poly", "rbf"),
        "parameter": either("published", ROW), "max_iter": either("published", whole(1, 10**6)),
    },
    "budgets": IMAGES | {name: rule for name, rule in STREAMS.items() if name != "class_budgets"},
    "classes": IMAGES | {
        "datasets": words(*COMPARED), "n_spectrum": images(10, 10_000), "five_classes": one_of(*SYNTHETIC),
        "four_spirals": one_of(*SYNTHETIC), "sigma": positive(), "degree": DEGREE, "max_iter": whole(1, 10**6),
        "demote": one_of("winner", "first", "all"), "random_state": STATE, "resolution": whole(10, 2000),
    },
    "declaration": {},
    "doubt": IMAGES | LEARNT | {"degree": DEGREE, "n_orders": whole(2, 255), "n_small": images(10)},
    "front": {},
    "hermans_closing": {},
    "hermans_opening": {},
    "lower": IMAGES | {
        "n_held": images(10), "n_orders": whole(2, 1000), "n_growth_orders": whole(2, 1000),
    },
    "mnist": IMAGES | LEARNT | {
        "n_orders": whole(2, 1000), "n_linear": whole(2, 1000), "n_epochs": whole(2, 1000), "n_held": images(10),
    },
    "tables": FOLDS | {"datasets": words(*chapters.UCI_SETS, "iris-bundled", "wine-bundled")},
    "xu_zhang_closing": {},
    "xu_zhang_opening": {},
}  # fmt: skip
"""The rule of every parameter of every source notebook, besides figures_folder, which all have."""


def check(source, values):
    """Raise ValueError for the first of the values {name: value} of a notebook's parameters that breaks its rule."""
    rules = PLACE | RULES[source]
    # What others look at comes first.
    for name in sorted(values, key=lambda name: name not in ("dataset", "kernel")):
        if not rules[name].holds(values[name], values):
            raise ValueError(f"{name} must be {rules[name].expected}, got {values[name]!r}")
