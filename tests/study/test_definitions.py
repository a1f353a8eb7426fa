"""The fingerprint of definitions: moves and names do not count, every change of the computation does."""

import os
import subprocess
import sys

import pytest

from study import ROOT, definitions, store
from study.definitions import Code

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
    "no docstring of the module": ('"""A module."""\n', ""),
    "the docstring of a function": ('"""Twice x."""', "'x, and x again'"),
    "the docstring of a function that has nothing else": (
        'def nothing():\n    """Only this."""',
        'def nothing():\n    """Or that."""',
    ),
    "the docstring of a class that has nothing else": (
        'class Empty:\n    """Only this."""',
        'class Empty:\n    """Or that."""',
    ),
    "a docstring of an attribute": ("LIMIT = 10\n", 'LIMIT = 10\n"""The limit."""\n'),
    "blank lines": ("\n\n\n", "\n\n\n\n\n"),
    "layout": ("return x * by + 0.5, ", "return (\n            (x*by) + 0.5\n        ), "),
    "the types of parameters and results": (
        "def double(x, *, by=2):",
        "def double(x: float, *, by: int = 2) -> tuple | None:",
    ),
    "quotes": ('"text"', "'text'"),
    "the way a number is written": ("LIMIT = 10", "LIMIT = 0xA"),
}

DIFFERENT = {
    "a constant": ("LIMIT = 10", "LIMIT = 11"),
    "the type of a constant": ("LIMIT = 10", "LIMIT = 10.0"),
    "a truth value": ("by=2", "by=True"),
    "a text": ('"text"', '"Text"'),
    "an operator": ("x * by", "x / by"),
    "a comparison": ("x > LIMIT", "x >= LIMIT"),
    "a connective": ("LIMIT and by", "LIMIT or by"),
    "the order of operations": ("x * by + 0.5", "x * (by + 0.5)"),
    "a name": ("return x * by", "return by * by"),
    "the name of a function": ("def nothing", "def anything"),
    "the name of a class": ("class Empty", "class Void"),
    "a default": ("by=2", "by=3"),
    "no default": ("by=2", "by"),
    "keyword or position": ("x, *, by", "x, by"),
    "a decorator": ("@math.prod\n", ""),
    "an import": ("import math", "import cmath as math"),
    "the source of an import": ("from os import", "from posix import"),
    "a base class": ("class Empty:", "class Empty(list):"),
    "a statement": ("LIMIT = 10\n", "LIMIT = 10\nLIMIT += 1\n"),
    "the order of statements": ("import math\nfrom os import path as place", "from os import path as place\nimport math"),
    "what is returned": ("return None", "return 0"),
    "a return": ("    return None\n", ""),
}


MOVED = {
    "the name of the function": ("def double", "def twice"),
    "the order of definitions": (
        'LIMIT = 10\n\n\nclass Empty:\n    """Only this."""\n',
        "class Empty:\n    pass\n\n\nLIMIT = 10\n",
    ),
    "an import that it does not use": ("import math\n", "import math\nimport cmath\n"),
    "what stands beside it": ("def nothing():", "def something_else(x):"),
    "the name of a constant": ("LIMIT", "MOST"),
}


def fingerprint(tmp_path, text, name="double", *, folder="own", others=None):
    """The fingerprint of a function of a module that has this text."""
    root = tmp_path / folder
    for path, content in {"subject.py": text, **(others or {})}.items():
        (root / "own" / path).parent.mkdir(parents=True, exist_ok=True)
        (root / "own" / path).write_text(content)
    return Code.read(root, ["own"], ["own.boundary"]).digest("own.subject", name)


@pytest.mark.parametrize("change", [*SAME, *MOVED])
def test_the_fingerprint_does_not_see(change, tmp_path):
    old, new = (SAME | MOVED)[change]
    assert old in CODE
    text = CODE.replace(old, new)
    name = "twice" if "def twice" in text else "double"
    assert fingerprint(tmp_path, CODE, folder="a") == fingerprint(tmp_path, text, name, folder="b")


DIFFERENT = {
    "a constant that it names": ("LIMIT = 10", "LIMIT = 11"),
    "the type of a constant": ("LIMIT = 10", "LIMIT = 10.0"),
    "a truth value": ("by=2", "by=True"),
    "a text": ('"text"', '"Text"'),
    "an operator": ("x * by", "x / by"),
    "a comparison": ("x > LIMIT", "x >= LIMIT"),
    "a connective": ("LIMIT and by", "LIMIT or by"),
    "the order of operations": ("x * by + 0.5", "x * (by + 0.5)"),
    "a local name": ("return x * by", "return by * by"),
    "a default": ("by=2", "by=3"),
    "no default": ("by=2", "by"),
    "keyword or position": ("x, *, by", "x, by"),
    "a decorator": ("@math.prod\n", ""),
    "what an import means": ("import math", "import cmath as math"),
    "a statement that changes a constant": ("LIMIT = 10\n", "LIMIT = 10\nLIMIT += 1\n"),
    "a statement of the module that binds no name": ("LIMIT = 10\n", "LIMIT = 10\nmath.seterr(all='raise')\n"),
    "what is returned": ("return None", "return 0"),
    "a return": ("    return None\n", ""),
}


@pytest.mark.parametrize("change", DIFFERENT)
def test_the_fingerprint_sees(change, tmp_path):
    old, new = DIFFERENT[change]
    assert old in CODE
    text = CODE.replace(old, new)
    compile(text, change, "exec")
    assert fingerprint(tmp_path, CODE, folder="a") != fingerprint(tmp_path, text, folder="b")


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


@pytest.mark.parametrize(
    ("file", "old", "new", "seen"),
    [
        ("deep.py", "x > 3", "x > 4", True),
        ("deep.py", "second(x + 1)", "second(x + 2)", True),
        ("helpers.py", "return 1", "return 0", True),
        ("helpers.py", "return 2", "return 0", True),
        ("deep.py", "return 5", "return 6", False),
        ("helpers.py", "hidden", "not seen", False),
        ("boundary.py", "return x", "return 2 * x", False),
    ],
)
def test_what_is_reached_through_imports_classes_and_cycles_counts_and_nothing_else(tmp_path, file, old, new, seen):
    files = {"helpers.py": HELPERS, "deep.py": DEEP, "boundary.py": BOUNDARY}
    assert old in files[file]
    before = fingerprint(tmp_path, CALLS, folder="a", others=files)
    after = fingerprint(tmp_path, CALLS, folder="b", others=files | {file: files[file].replace(old, new)})
    assert (before != after) == seen


def test_definitions_that_reach_each_other_have_one_fingerprint_whichever_comes_first(tmp_path):
    for folder, names in (("a", ("second", "third")), ("b", ("third", "second"))):
        (tmp_path / folder / "own").mkdir(parents=True)
        (tmp_path / folder / "own" / "deep.py").write_text(DEEP)
        code = Code.read(tmp_path / folder, ["own"], [])
        found = {name: code.digest("own.deep", name) for name in names}
        assert found["second"] != found["third"]
        (tmp_path / f"{folder}.txt").write_text(str(sorted(found.items())))
    assert (tmp_path / "a.txt").read_text() == (tmp_path / "b.txt").read_text()


def test_code_may_move_to_other_modules(tmp_path):
    before = fingerprint(
        tmp_path, CALLS, folder="a", others={"helpers.py": HELPERS, "deep.py": DEEP, "boundary.py": BOUNDARY}
    )
    moved = {
        "place/tools.py": HELPERS.replace("own.deep", "own.place.deeper"),
        "place/deeper.py": DEEP,
        "boundary.py": BOUNDARY,
    }
    text = CALLS.replace("from own import helpers as h", "import own.place.tools as h").replace(
        "own.helpers", "own.place.tools"
    )
    assert fingerprint(tmp_path, text, folder="b", others=moved) == before


def test_the_fingerprint_is_the_same_in_another_process():
    code = "from study import definitions, store; print(definitions.fingerprint([store.write_table]))"
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
    reached = definitions.reached_by_text(program)
    assert ("study.statistics", "wilson") in reached and ("study.statistics", "LEVEL") in reached
    assert all(module in definitions.code().modules for module, _ in reached)
    monkeypatch.setitem(definitions.code()._digests, ("study.statistics", "wilson"), "another")
    assert definitions.fingerprint_of_text(program) != found
