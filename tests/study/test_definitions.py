"""The fingerprint of definitions: moves and names do not count, every change of the computation does."""

import os
import subprocess
import sys

import pytest

from study import ROOT
from study.results import definitions, store
from study.results.definitions import Code

CODE = '''\
"""A module."""

import math
from os import path as place

LIMIT = 10


class Empty:
    """Only this."""


def nothing():
    """Only this."""


@math.prod
def double(x, *, by=2):
    """Twice x."""
    if x > LIMIT and by:
        return x * by + 0.5, "text"
    return None
'''

SAME = {
    "comments": ("LIMIT = 10\n", "# Why ten.\nLIMIT = 10  # ten\n"),
    "the module's docstring": ('"""A module."""\n', '"""Another\n\nmodule."""\n'),
    "the docstring of a function": ('"""Twice x."""', "'x, and x again'"),
    "a docstring of an attribute": ("LIMIT = 10\n", 'LIMIT = 10\n"""The limit."""\n'),
    "layout": ("return x * by + 0.5, ", "return (\n            (x*by) + 0.5\n        ), "),
    "the types of parameters and results": (
        "def double(x, *, by=2):",
        "def double(x: float, *, by: int = 2) -> tuple | None:",
    ),
    "quotes": ('"text"', "'text'"),
    "the way a number is written": ("LIMIT = 10", "LIMIT = 0xA"),
}

MOVED = {
    "the name of the function": ("def double", "def twice"),
    "the order of definitions": (
        'LIMIT = 10\n\n\nclass Empty:\n    """Only this."""\n',
        "class Empty:\n    pass\n\n\nLIMIT = 10\n",
    ),
    "what stands beside it": ("def nothing():", "def something_else(x):"),
    "the name of a constant": ("LIMIT", "MOST"),
}


def fingerprint(tmp_path, text, name="double", *, folder="own", others=None):
    """The fingerprint of a function of a module that has this text."""
    root = tmp_path / folder
    for path, content in {"subject.py": text, **(others or {})}.items():
        (root / "own" / path).parent.mkdir(parents=True, exist_ok=True)
        (root / "own" / path).write_text(content)
    return Code.of(root, definitions.sources(root, ["own"]), ["own.boundary.load"]).fingerprint([("own.subject", name)])


DIFFERENT = {
    "a constant that it names": ("LIMIT = 10", "LIMIT = 11"),
    "the type of a constant": ("LIMIT = 10", "LIMIT = 10.0"),
    "an operator": ("x * by", "x / by"),
    "the order of operations": ("x * by + 0.5", "x * (by + 0.5)"),
    "a local name": ("return x * by", "return by * by"),
    "a default": ("by=2", "by=3"),
    "keyword or position": ("x, *, by", "x, by"),
    "a decorator": ("@math.prod\n", ""),
    "what an import means": ("import math", "import cmath as math"),
    "a statement that changes a constant": ("LIMIT = 10\n", "LIMIT = 10\nLIMIT += 1\n"),
    "a statement of the module that binds no name": ("LIMIT = 10\n", "LIMIT = 10\nmath.seterr(all='raise')\n"),
    "what is returned": ("return None", "return 0"),
}


@pytest.mark.parametrize("change", [*SAME, *MOVED, *DIFFERENT])
def test_the_fingerprint_sees_the_computation_and_nothing_else(change, tmp_path):
    old, new = (SAME | MOVED | DIFFERENT)[change]
    assert old in CODE
    text = CODE.replace(old, new)
    name = "twice" if "def twice" in text else "double"
    same = fingerprint(tmp_path, CODE, folder="a") == fingerprint(tmp_path, text, name, folder="b")
    assert same == (change not in DIFFERENT)


def assert_seen(tmp_path, program, old, new, seen, *, name="double"):
    """The fingerprint is another where `old` becomes `new`, or it is not."""
    assert old in program
    others = {"helpers.py": "LIMIT = 1\nMOST = 2\ndef noted(function):\n    return function\n"}
    texts = {"a": program, "b": program.replace(old, new)}
    found = {fingerprint(tmp_path, text, name, folder=folder, others=others) for folder, text in texts.items()}
    assert (len(found) == 2) == seen


CALLS = """
from own import helpers as h
from own.helpers import Learner, passed_on
from own.boundary import load


def double(x, helper=3):
    kernel = x
    return h.first(load(kernel)) + Learner(x).fit() + passed_on(kernel)
"""
HELPERS = """
from own.deep import second
from own.deep import third as passed_on


def first(x):
    return second(x)


class Base:
    def fit(self):
        return 1


class Learner(Base):
    def other(self):
        return 2


def kernel(x):
    return "hidden by a local name of double"
"""
DEEP = """
def second(x):
    return x + 1 if x > 3 else third(x)


def third(x):
    return second(x + 1)


def unused():
    return 5
"""
BOUNDARY = "def load(x):\n    return x\n"
FILES = {"helpers.py": HELPERS, "deep.py": DEEP, "boundary.py": BOUNDARY}


@pytest.mark.parametrize(
    ("file", "old", "new", "seen"),
    [
        ("deep.py", "second(x + 1)", "second(x + 2)", True),
        ("helpers.py", "return 1", "return 0", True),
        ("helpers.py", "return 2", "return 0", False),
        ("deep.py", "return 5", "return 6", False),
        ("helpers.py", "hidden", "not seen", False),
        ("boundary.py", "return x", "return 2 * x", False),
    ],
)
def test_what_is_reached_through_imports_classes_and_cycles_counts_and_nothing_else(tmp_path, file, old, new, seen):
    assert old in FILES[file]
    before = fingerprint(tmp_path, CALLS, folder="a", others=FILES)
    after = fingerprint(tmp_path, CALLS, folder="b", others=FILES | {file: FILES[file].replace(old, new)})
    assert (before != after) == seen


def test_definitions_that_reach_each_other_have_one_fingerprint_whichever_comes_first(tmp_path):
    fingerprint(tmp_path, CALLS, others=FILES)
    found = []
    for names in (("second", "third"), ("third", "second")):
        code = Code.of(tmp_path / "own", definitions.sources(tmp_path / "own", ["own"]))
        found.append({name: code.fingerprint([("own.deep", name)]) for name in names})
    assert found[0] == found[1] and len(set(found[0].values())) == 2


def test_code_may_move_to_other_modules(tmp_path):
    moved = {
        "place/tools.py": HELPERS.replace("own.deep", "own.place.deeper"), "place/deeper.py": DEEP, "boundary.py": BOUNDARY
    }  # fmt: skip
    text = CALLS.replace("from own import helpers as h", "import own.place.tools as h")
    after = fingerprint(tmp_path, text.replace("own.helpers", "own.place.tools"), folder="b", others=moved)
    assert after == fingerprint(tmp_path, CALLS, folder="a", others=FILES)


def test_the_fingerprint_is_the_same_in_another_process():
    code = "from study.results import definitions, store; print(definitions.fingerprint([store.write_table]))"
    environment = {**os.environ, "PYTHONHASHSEED": "7"}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == definitions.fingerprint([store.write_table])


def test_a_program_depends_on_its_statements_and_on_what_they_reach(monkeypatch):
    program = "from study import statistics\nx = 1\nx += statistics.wilson(x, 2)[0]"
    found = definitions.fingerprint_of_text(program)
    assert definitions.fingerprint_of_text(program + "  # said differently") == found
    for other in (program.replace("2", "3"), program.replace("wilson", "mcnemar"), program + "\ny = 1"):
        assert definitions.fingerprint_of_text(other) != found
    assert {("study.statistics", "wilson"), ("study.statistics", "LEVEL")} <= set(definitions.reached_by_text(program))
    asked = program + "\nrows = rows.query('p < @statistics.ALPHA')\n"
    assert ("study.statistics", "ALPHA") in definitions.reached_by_text(asked)
    path = ROOT / "study" / "statistics.py"
    text = definitions.SOURCES[path]
    assert "LEVEL = 0.95" in text
    sources = {**definitions.SOURCES, path: text.replace("LEVEL = 0.95", "LEVEL = 0.9")}
    monkeypatch.setattr(definitions, "code", lambda: Code.of(ROOT, sources, definitions.BOUNDARY))
    assert definitions.fingerprint_of_text(program) != found


SPOKEN = '''
import logging
import warnings

from tqdm import tqdm

REMEDY = "start again"


class Refused(ValueError):
    """Only this."""


def double(values, *, by=2):
    found, label = [], by
    for value in tqdm(values, desc="doubled", total=len(values)):
        if value < 0:
            kinds = ", ".join(["one", "two"])
            remedy = f"take {by}" if by else "take none"
            raise Refused(f"expected a number, got {value}, {kinds}; {remedy} or {REMEDY}")
        if value > 9:
            warnings.warn(f"{value} is large", RuntimeWarning, stacklevel=2)
        assert value != by, "twice by"
        found.append(value * label)
    return found
'''

WORDING = {
    "the message of an exception": (
        "expected a number",
        "a number was expected",
        False,
    ),
    "a constant that stands in messages only": (
        '"start again"',
        '"start anew"',
        False,
    ),
    "what a message computes": (
        "got {value},",
        "got {value + 1:.3f},",
        False,
    ),
    "a text that is made for a message": (
        "take {by}",
        "try {by}",
        False,
    ),
    "a text that is made for a message and read": (
        "remedy = ",
        "label = ",
        True,
    ),
    "the words of a warning": (
        "is large",
        "is too large",
        False,
    ),
    "the label of a progress bar": (
        'desc="doubled"',
        'desc="numbers", unit="number"',
        False,
    ),
    "a log": (
        "    found, label = [], by\n",
        '    found, label = [], by\n    logging.getLogger("own").info("begun")\n',
        False,
    ),
    "who hears logs": (
        "REMEDY =",
        'logging.getLogger("own").addHandler(logging.NullHandler())\nREMEDY =',
        False,
    ),
    "the name of a local variable": (
        "label",
        "factor",
        False,
    ),
    "which local variable it is": (
        "value * label",
        "label * label",
        True,
    ),
    "the name of a parameter, which calls may say": (
        "by",
        "factor",
        True,
    ),
    "the kind of an exception": (
        "raise Refused",
        "raise ValueError",
        True,
    ),
    "a base class of an exception": (
        "(ValueError)",
        "(KeyError)",
        True,
    ),
    "when an exception is raised": (
        "value < 0",
        "value <= 0",
        True,
    ),
    "the kind of a warning": (
        "RuntimeWarning",
        "UserWarning",
        True,
    ),
    "what a progress bar goes through": (
        "tqdm(values,",
        "tqdm(values[1:],",
        True,
    ),
    "what is asserted": (
        "value != by",
        "value is not by",
        True,
    ),
    "what logs are used for": (
        "return found",
        'return found, logging.getLogger("own")',
        True,
    ),
}


CLASSES = """
import dataclasses
from typing import ClassVar

from sklearn.base import BaseEstimator

from own.helpers import noted


def double(x):
    return Point(x).twice() + Learner().cost + getattr(Point(x), "thrice")()


@dataclasses.dataclass
class Point:
    x: int
    y: int = 3

    def __add__(self, other):
        return 1

    def twice(self):
        return self._moved()

    def thrice(self):
        return 7

    def _moved(self):
        return self.x + 4

    def unused(self):
        return 5

    @noted
    def kept(self):
        return 8


class Learner(BaseEstimator):
    @property
    def cost(self):
        return 6

    def fit(self, X):
        return self

    def _more(self):
        return {}

    def other(self):
        return 9


class Words(dict):
    def handle(self):
        return 10


def bare(x):
    return Words()
"""

METHODS = {
    "a method that is called": (
        "return self._moved()",
        "return 2 * self._moved()",
        True,
    ),
    "a method that a method calls": (
        "self.x + 4",
        "self.x - 4",
        True,
    ),
    "a method that is looked up by a text": (
        "return 7",
        "return 0",
        True,
    ),
    "a method that a decorator gets": (
        "return 8",
        "return 0",
        True,
    ),
    "a method that scikit-learn calls": (
        "return self\n",
        "return None\n",
        True,
    ),
    "a private method of an estimator": (
        "return {}",
        "return {1: 2}",
        True,
    ),
    "a method that nothing names": (
        "return 5",
        "return 0",
        False,
    ),
    "a method of an estimator that nothing names": (
        "return 9",
        "return 0",
        False,
    ),
    "a field": (
        "y: int = 3",
        "y: int = 4",
        True,
    ),
    "the type of a field": (
        "y: int",
        "y: float",
        False,
    ),
    "what is a field": (
        "y: int = 3",
        "y: ClassVar[int] = 3",
        True,
    ),
    "what is given by keyword": (
        "    y: int",
        "    _: dataclasses.KW_ONLY\n    y: int",
        True,
    ),
    "a class that is not reached": (
        "return 10",
        "return 0",
        False,
    ),
}


@pytest.mark.parametrize("program, what", [(SPOKEN, what) for what in WORDING] + [(CLASSES, what) for what in METHODS])
def test_neither_wording_nor_methods_that_cannot_be_called_count(program, what, tmp_path):
    old, new, seen = (WORDING | METHODS)[what]
    assert_seen(tmp_path, program, old, new, seen)


def test_all_methods_count_where_another_package_may_call_them(tmp_path):
    assert_seen(tmp_path, CLASSES, "return 10", "return 0", True, name="bare")


FOLLOWED = {
    "a constant that a text names as pandas reads it": (
        "LIMIT = 1\ndef double(x):\n    return x.query('x > @LIMIT')\n",
        "LIMIT = 1",
        "LIMIT = 2",
        True,
    ),
    "a constant of another module that a text names": (
        "from own import helpers\ndef double(x):\n    return x.query(f'{x} > @helpers.LIMIT')\n",
        "helpers.LIMIT",
        "helpers.MOST",
        True,
    ),
    "a text with a sign that names nothing": (
        "def double(x):\n    return 'a@b'\n",
        "a@b",
        "a@c",
        True,
    ),
    "a constant that a comprehension of its own name goes through": (
        "A = (1, 2)\ndef double(x):\n    return [A for A in A]\n",
        "(1, 2)",
        "(1, 3)",
        True,
    ),
    "a constant that a function sets": (
        "A = 1\ndef double(x):\n    global A\n    A += 1\n    return A\n",
        "A = 1",
        "A = 2",
        True,
    ),
    "a constant between two values of another": (
        "A = 1\nB = A\nA = 2\ndef double(x):\n    return B\n",
        "A = 2\n",
        "A = 3\n",
        True,
    ),
    "a loop of the module": (
        "import os\nLIMIT = 1\nfor name in os.environ:\n    os.environ[name] = ''\ndef double(x):\n    return LIMIT\n",
        "= ''",
        "= 'x'",
        True,
    ),
    "a name that a match binds": (
        "y = 1\ndef double(x):\n    match x:\n        case [y]:\n            return y\n",
        "y = 1",
        "y = 2",
        False,
    ),
    "a name of an outer function": (
        "def double(x):\n    y = 1\n    def inner():\n        nonlocal y\n        y += 1\n    inner()\n    return y\n",
        "y",
        "w",
        False,
    ),
    "which name of an outer function": (
        "def double(x):\n    y = 1\n    z = 2\n    return lambda: y - z\n",
        "y - z",
        "z - y",
        True,
    ),
    "a constant of a class of the name of another": (
        "A = 1\nclass double:\n    A = 2\n    b = A\n",
        "A = 1",
        "A = 3",
        False,
    ),
    "a constant that hides behind one of a class": (
        "A = 1\nclass double:\n    A = 2\n    def __call__(self):\n        return A\n",
        "A = 1",
        "A = 3",
        True,
    ),
    "what a script does else": (
        "A = 1\nif __name__ == '__main__':\n    A = 2\nelse:\n    A = 3\ndef double(x):\n    return A\n",
        "A = 3",
        "A = 4",
        True,
    ),
}


@pytest.mark.parametrize("what", FOLLOWED)
def test_names_are_followed_as_python_reads_them(what, tmp_path):
    assert_seen(tmp_path, *FOLLOWED[what])
