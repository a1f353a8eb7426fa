"""What of the code counts: modules by their files, followed through imports; comments, docstrings and layout do not."""

import pytest

from study.results import code

PLAIN = '''"""A module."""
import math


class Empty:
    """Only this."""


def double(x, *, by=2):
    """Twice x."""
    if x > 10 and by:
        return x * by + 0.5, "text"
'''
SAME = {
    "a comment": ("import math\n", "import math  # why\n# not\n"),
    "the docstring of a module": ('"""A module."""', '"""Another."""'),
    "the docstring of a function": ('"""Twice x."""', "'x, and x again'"),
    "a body without its docstring": ('    """Only this."""', '    """Only that."""\n    "and that"'),
    "layout": ("x * by + 0.5, ", "(\n            (x*by) + 0.5\n        ), "),
    "the way a number is written": ("> 10", "> 0xA"),
}
OTHER = {
    "an operator": ("x * by", "x + by"),
    "a type of number": ("> 10", "> 10.0"),
    "a text": ('"text"', '"Text"'),
    "a name": ("double", "twice"),
    "a default": ("by=2", "by=3"),
    "a statement beside": ("import math", "import math, os"),
}


@pytest.mark.parametrize("what", SAME)
def test_comments_docstrings_and_layout_leave_the_digest_as_it_is(what):
    old, new = SAME[what]
    assert old in PLAIN and code.digest(PLAIN.replace(old, new)) == code.digest(PLAIN)


@pytest.mark.parametrize("what", OTHER)
def test_whatever_is_computed_otherwise_changes_the_digest(what):
    old, new = OTHER[what]
    assert old in PLAIN and code.digest(PLAIN.replace(old, new)) != code.digest(PLAIN)


@pytest.fixture
def project(monkeypatch):
    """A project of five modules and a room."""
    sources = {
        "kp": "from kp.b import y",
        "kp.a": "from kp import c\ndef f():\n    import kp.d",
        "kp.b": "y = 1",
        "kp.c": "import os",
        "kp.d": "",
        "study": "",
        "study.room": "from study.rooms import face\n__getattr__, __dir__ = face(__name__)",
        "study.room.experiment": "SIZE = 1\ndef settings():\n    local = 2",
        "study.room.facts": "best = settings = 1",
        "study.room.figures": "SIZE = 2\ndef figure_one():\n    pass",
        "study.rooms": "",
    }
    monkeypatch.setattr(code, "SOURCES", sources)
    code._digest_and_imports.cache_clear()
    yield
    code._digest_and_imports.cache_clear()


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("from kp.a import f", ["kp", "kp.a", "kp.c", "kp.d"]),
        ("import kp.c", ["kp", "kp.c"]),
        ("from kp import c", ["kp", "kp.c"]),
        ("from kp import y", ["kp", "kp.b"]),
        ("import numpy", []),
        ("from study import room", []),
        ("from study import room\nroom.settings()", ["experiment"]),
        ("import study.room\nstudy.room.settings()", ["experiment"]),
        ("from study import room\nroom.figure_one(room.facts.best)", ["facts", "figures"]),
        ("from study import room\nroom.figures.SIZE, room.unknown, other.settings", ["figures"]),
    ],
)
def test_imports_are_followed_and_of_a_package_on_the_way_its_init_alone(project, program, expected):
    own = ["study", "study.room", *(f"study.room.{each}" for each in expected), "study.rooms"]
    assert code.reached(program) == (own if "study" in program else expected)


def test_what_is_left_out_is_not_followed(project):
    assert code.reached("import kp.a, kp.b", without=("kp.a",)) == ["kp", "kp.b"]


@pytest.mark.long
def test_the_imports_of_this_process_are_among_those_that_are_followed():
    """Of a room's experiment, everything of the project that importing it loads, but what packages on the way export."""
    import subprocess
    import sys

    program = "import study.seeds.experiment, sys; print(*(n for n in sys.modules if n.split('.')[0] in ('kp', 'study')))"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=code.ROOT, check=True)
    followed = set(code.reached("import study.seeds.experiment"))
    exported = set(code.reached("from kp import PREDICTORS"))
    assert set(loaded.stdout.split()) <= followed | exported and "study.seeds.kernel_ridge" in followed
