"""Rooms: their public names are taken from the package, and a module is imported when one of its names is used."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

from study import ROOT, mnist
from study.mnist import figures, tables
from study.report.expressions import conditions, expressions
from study.results import code

SHOWN = {"matplotlib.pyplot", "seaborn"}


def test_a_name_is_found_in_the_module_that_defines_it_and_a_module_before_a_function_of_its_name():
    assert mnist.figure_digits is figures.figure_digits and mnist.kept.kept is not mnist.kept
    assert mnist.tables is tables and {"figure_digits", "facts", "kept"} <= set(dir(mnist))


def test_names_of_no_module_or_of_several_are_errors_that_say_so():
    with pytest.raises(AttributeError, match="study.mnist has no name 'figure_none'; dir"):
        _ = mnist.figure_none
    with pytest.raises(AttributeError, match="Settings: found in study.mnist.experiment, .*; write one of these modules"):
        _ = mnist.Settings
    assert not {"figure_none", "Settings", "six_degrees"} & set(dir(mnist)), "facts are named with their module"


def test_importing_experiments_loads_nothing_that_draws():
    program = "import sys, study.mnist.experiment, study.seeds.experiment; from study import doubt; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, check=True)
    assert {"study.mnist.experiment", "study.doubt"} <= set(done.stdout.split()) and not SHOWN & set(done.stdout.split())


@pytest.mark.parametrize("path", sorted((ROOT / "notebooks").glob("*.ipynb")), ids=lambda path: path.stem)
def test_a_notebook_takes_the_names_of_a_room_from_the_room_and_names_a_module_only_where_it_must(path):
    cells = json.loads(Path(path).read_text(encoding="utf-8"))["cells"]
    texts = [("".join(cell["source"]), cell["cell_type"]) for cell in cells]
    parts = [[text] if kind == "code" else [*expressions(text), *conditions(text)] for text, kind in texts]
    tree = ast.parse("\n".join(each for part in parts for each in part))
    alias = code.aliases(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module.startswith("study") and node.module != "study.report":
            assert not code.is_room(node.module) and not code.is_room(node.module.rpartition(".")[0]), ast.unparse(node)
            assert not [each.asname for each in node.names if each.asname], "a thing of the study has its own name"
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            assert not code.is_room(alias.get(node.id)), f"{node.id} is a room"
        elif isinstance(node, ast.Attribute):
            taken, module = code.named(node.value, alias), code.named(node, alias)
            room, _, last = taken.rpartition(".")
            if code.is_room(taken):
                assert module or code.home(taken, node.attr) != taken, f"{taken} has no {node.attr}"
            elif code.is_room(room) and last not in code.OF_RESULTS:
                assert node.attr not in code.public(room), f"{ast.unparse(node)}: without {last}"
