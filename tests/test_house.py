"""The house: what may import what, how large the rooms are, and nobody lives in them for nothing."""

import ast
import json
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
KP = sorted((ROOT / "kp").glob("*.py"))
STUDY = sorted((ROOT / "study").rglob("*.py"))
SHARED = {"datasets", "report"}
CHAPTERS = {path.name for path in (ROOT / "study").iterdir() if (path / "__init__.py").exists()} - SHARED


def imported(path):
    """The dotted names that a module of the project imports, with what it takes from them."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path}: say where from, in full"
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


@pytest.mark.parametrize("path", KP, ids=lambda path: path.stem)
def test_kp_knows_arrays_only(path):
    tops = {name.partition(".")[0] for name in imported(path)}
    assert not tops & {"study", "pandas", "matplotlib", "pooch", "requests", "urllib", "nbformat", "papermill"}


@pytest.mark.parametrize("path", STUDY, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_chapter_imports_no_other_chapter_and_shared_rooms_import_none(path):
    own = path.relative_to(ROOT / "study").parts[0]
    others = {name.split(".")[1] for name in imported(path) if name.startswith("study.")} & CHAPTERS
    assert path.name == "ledger.py" or others <= {own}


def test_figures_know_no_experiment():
    for path in STUDY:
        if path.name == "figures.py":
            assert not [name for name in imported(path) if "experiment" in name.split(".") or name.startswith("sklearn")], (
                path
            )


def test_what_notebooks_show_of_the_literal_code_fits_on_a_printed_line():
    path = ROOT / "study" / "literal.py"
    shown = [node for node in ast.parse(path.read_text(encoding="utf-8")).body if isinstance(node, ast.FunctionDef)]
    lines = path.read_text(encoding="utf-8").splitlines()
    long = [line for node in shown for line in lines[node.lineno - 1 : node.end_lineno] if len(line) > 103]
    assert shown and not long


def programs():
    """{name: text} of all that calls functions: modules by dotted names, benchmarks, notebooks, the head of Snakefile."""
    found = {module(path): path.read_text(encoding="utf-8") for path in [*KP, *STUDY]}
    found |= {path.name: path.read_text(encoding="utf-8") for path in (ROOT / "benchmarks").glob("*.py")}
    for path in (ROOT / "notebooks").glob("*.ipynb"):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        found[path.name] = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    return found | {"Snakefile": (ROOT / "Snakefile").read_text(encoding="utf-8").partition("rule report")[0]}


def module(path):
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def called(name, text, modules):
    """What a program reads: (module, name) of what stands in modules, itself included but for calls of a function by itself,
    and the names of attributes of anything else, which may be methods."""
    tree, found, alias = ast.parse(text), set(), {}
    for node in ast.walk(tree):
        for each in node.names if isinstance(node, ast.ImportFrom) else ():
            path = f"{node.module}.{each.name}"
            if path in modules:
                alias[each.asname or each.name] = path
            found.add((node.module, each.name))
    for place in tree.body:
        for node in ast.walk(place):
            if isinstance(node, ast.Name) and node.id != getattr(place, "name", ""):
                found.add((name, node.id))
            elif isinstance(node, ast.Attribute):
                owner = alias.get(getattr(node.value, "id", None))
                found.add((owner, node.attr) if owner else node.attr)
    return found


def test_no_function_is_called_by_nobody():
    texts = programs()
    used = set().union(*(called(name, text, set(texts)) for name, text in texts.items()))
    registry, idle = (ROOT / "data" / "registry.toml").read_text(encoding="utf-8"), []
    for path in [*KP, *STUDY]:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("__"):
                declared = any(isinstance(d, ast.Call) and ast.unparse(d.func) == "experiment" for d in node.decorator_list)
                known = declared or f'"{node.name}"' in registry or node.name in PUBLIC
                inner = node not in tree.body and (node.name in used or (module(path), node.name) in used)
                if not (known or inner or (module(path), node.name) in used):
                    idle.append(f"{path.relative_to(ROOT)}: {node.name}")
    assert idle == []


def test_no_program_needs_docstrings():
    """With PYTHONOPTIMIZE=2 there are none: they may be handed on, as to argparse, but not taken apart."""
    for path in [*KP, *STUDY, *(ROOT / "benchmarks").glob("*.py"), ROOT / "bootstrap.py"]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute | ast.Subscript):
                assert "__doc__" not in ast.unparse(node.value), f"{path}: {ast.unparse(node)}"


PUBLIC = {
    "differences", "partial_fit", "staged_predict", "staged_decision_function", "decision_function", "predict",
    "with_mistakes", "tidy", "tocsr", "_async_launch_kernel", "kernel_spec", "poll", "send_signal",
}  # fmt: skip
"""Methods of estimators for readers, what CONTRIBUTING.md tells them to call, what the manager of a kernel calls, and what
a sparse matrix has."""
