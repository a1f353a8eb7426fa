"""The house: what may import what, how large the rooms are, and nobody lives in them for nothing."""

import ast
import itertools
import json
import re
from pathlib import Path

import pytest

from study import chapters, syntax
from study.report.expressions import expressions

ROOT = Path(__file__).parents[1]
KP = sorted((ROOT / "kp").glob("*.py"))
STUDY = sorted((ROOT / "study").rglob("*.py"))
SHARED = {"datasets", "report"}
TOGETHER = {"ledger.py", "ladder.py"}
"""What puts the results of several chapters together."""
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
    assert path.name in TOGETHER or others <= {own}


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
        code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
        texts = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]
        found[path.name] = "\n".join([*code, *(each for text in texts for each in expressions(text))])
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
    printed = {("study.literal", name) for report in chapters.REPORTS.values() for name in report.listing}
    for path in [*KP, *STUDY]:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("__"):
                declared = any(isinstance(d, ast.Call) and ast.unparse(d.func) == "experiment" for d in node.decorator_list)
                known = declared or f'"{node.name}"' in registry or node.name in PUBLIC
                inner = node not in tree.body and (node.name in used or (module(path), node.name) in used)
                if not (known or inner or (module(path), node.name) in used | printed):
                    idle.append(f"{path.relative_to(ROOT)}: {node.name}")
    assert idle == []


def test_no_program_needs_docstrings():
    """With PYTHONOPTIMIZE=2 there are none: they may be handed on, as to argparse, but not taken apart."""
    for path in [*KP, *STUDY, *(ROOT / "benchmarks").glob("*.py"), ROOT / "bootstrap.py"]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute | ast.Subscript):
                assert "__doc__" not in ast.unparse(node.value), f"{path}: {ast.unparse(node)}"


# What fingerprints of definitions (study/definitions.py) cannot follow stands nowhere in kp and study.

MODULES = {path: ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__") for path in [*KP, *STUDY]}
BUILT_IN = {"globals", "locals", "exec", "eval", "setattr", "delattr", "__import__"}
TAKEN = {"get_type_hints", "signature", "singledispatch", "singledispatchmethod", "import_module", "reload", "modules"}
HIDDEN = {"__subclasses__", "__init_subclass__", "__annotations__", "__dict__", "__globals__", "__doc__"}
CHANGING = {"append", "extend", "insert", "add", "update", "setdefault", "pop", "clear", "remove", "discard", "register"}
REGISTER_NOTHING = {"compiled", "experiment", "single_threaded"}


def project_imports(tree):
    """[(alias, what it stands for)] of all imports of a module, wherever they stand."""
    for node in ast.walk(tree):
        for each in getattr(node, "names", ()) if isinstance(node, ast.Import | ast.ImportFrom) else ():
            yield each.asname or each.name, f"{node.module}.{each.name}" if isinstance(node, ast.ImportFrom) else each.name


def root_of(node):
    """The name that a chain of attributes, items and calls begins with, or None."""
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else None


def unfollowed(tree):
    """What a module has that fingerprints cannot follow, as texts."""
    alias = list(project_imports(tree))
    meaning = dict(alias)
    modules = {name for name, found in alias if found in MODULES.values()}
    local = {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    local |= {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    own = {name for name, found in alias if found.partition(".")[0] in ("kp", "study")} - local
    taken = {name for name, found in alias if found.rpartition(".")[2] in TAKEN}
    yield from (
        f"{name} is imported as two things" for name in meaning if len({found for each, found in alias if each == name}) > 1
    )
    yield from (f"{name} is imported and defined" for name in set(meaning) & syntax.bound(tree.body))
    bases = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name in ("__getattr__", "__dir__"):
            yield f"{node.name} of a module"
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            yield f"a call when a module is imported: {ast.unparse(node.value.func)}"
    for node in ast.walk(tree):
        text = ast.unparse(node) if isinstance(node, ast.expr | ast.stmt) else ""
        if isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
            yield text
        elif isinstance(node, ast.Global):
            yield text
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            if node.id in modules and id(node) not in bases:
                yield f"a module as a value: {node.id}"
            if node.id in BUILT_IN | taken and node.id not in local:
                yield text
        elif isinstance(node, ast.Attribute):
            if node.attr in HIDDEN or (node.attr in TAKEN and root_of(node) in meaning and root_of(node) not in own):
                yield text
            if not isinstance(node.ctx, ast.Load) and root_of(node) in own:
                yield f"what belongs to another module is changed: {text}"
        elif isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load) and root_of(node) in own:
            yield f"what belongs to another module is changed: {text}"
        elif isinstance(node, ast.Call):
            function = node.func
            if isinstance(function, ast.Attribute) and function.attr in CHANGING and root_of(function) in own:
                yield f"what belongs to another module is changed: {text}"
            if (
                isinstance(function, ast.Name)
                and function.id == "getattr"
                and isinstance(node.args[1], ast.JoinedStr | ast.BinOp)
            ):
                yield text
            for each in node.args if isinstance(function, ast.Attribute) and function.attr in ("query", "eval") else ():
                parts = [getattr(part, "value", "") for part in getattr(each, "values", ())]
                open_ = [
                    text for text, _ in itertools.pairwise(parts) if isinstance(text, str) and re.search(r"@[\w.]*$", text)
                ]
                if isinstance(each, ast.BinOp) or open_:
                    yield f"a name in a text that is put together: {text}"
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            called = [d.func if isinstance(d, ast.Call) else d for d in node.decorator_list]
            yield from (
                f"decorator {root_of(d)}" for d in called if root_of(d) in own and root_of(d) not in REGISTER_NOTHING
            )
        elif isinstance(node, ast.ExceptHandler) and node.name:
            raised = {
                id(part) for each in ast.walk(node) if isinstance(each, ast.Raise | ast.JoinedStr) for part in ast.walk(each)
            }
            for each in ast.walk(node):
                if isinstance(each, ast.Attribute) and root_of(each) == node.name and id(each) not in raised:
                    yield f"what an exception holds is read: {ast.unparse(each)}"


FOLLOWED_OTHERWISE = {
    "study": {"a call when a module is imported: _keep_elsewhere"},  # folders of caches
    # Of the command line, of documents and of what runs notebooks: no result is computed there.
    "study.__main__": {"a module as a value: document"},
    "study.report.api": {"a module as a value: kp"},
    "study.report.batch": {"importlib.import_module"},
    "study.report.notebooks": {"importlib.import_module", "what an exception holds is read: error.evalue"},
    "study.chapters": {"importlib.import_module"},
    "study.definitions": {"sys.modules"},
    "study.style": {"a call when a module is imported: mpl.style.use"},  # of figures
    "kp.machine": {"a call when a module is imported: register_model(_Lanes)"},  # counts where anything of kp.machine does
    "study.runs": {"typing.get_type_hints"},  # which settings can be given on the command line; they are parameters
    "study.experiment": {"importlib.import_module", "compute.__doc__", "self.__doc__"},  # an experiment is found and named
}
"""{module: what stands there, and can change no stored number}."""


@pytest.mark.parametrize(
    "text",
    [
        "from study.store import *",
        "def f():\n    global X\n    X = 1",
        "from study import store as a\nfrom study import lock as a",
        "try:\n    from a import x\nexcept ImportError:\n    x = None",
        "def f():\n    return globals()['x']",
        "A.__subclasses__()",
        "import functools\n@functools.singledispatch\ndef f(x): pass",
        "from study import store\nmodule = store",
        "from study import store\ndef f(): return g(store)",
        "def __getattr__(name): pass",
        "from study import store\nstore.write = None",
        "from study import store\nstore.KEYS['x'] = 1",
        "from study.store import KEYS\ndef f(): KEYS.update(x=1)",
        "from study.store import noted\n@noted\ndef f(): pass",
        "import numpy\nnumpy.seterr(all='raise')",
        "from study.store import noted\nnoted(3)",
        "def f(x): return getattr(x, f'{x}_')",
        "def f(x): return x.query(f'a > @{x}')",
        "def f(x): return x.query('a > ' + x)",
        "def f():\n    try:\n        g()\n    except ValueError as error:\n        return error.args",
        "x = f.__doc__",
        "eval('x')",
        "import importlib\nx = importlib.import_module('x')",
        "from typing import get_type_hints\nget_type_hints(f)",
    ],
)
def test_what_fingerprints_cannot_follow_is_found(text):
    assert list(unfollowed(ast.parse(text)))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: MODULES[path])
def test_nothing_is_written_that_fingerprints_cannot_follow(path):
    found = set(unfollowed(ast.parse(path.read_text(encoding="utf-8"))))
    assert found == FOLLOWED_OTHERWISE.get(MODULES[path], set())


PUBLIC = {
    "differences", "partial_fit", "staged_predict", "staged_decision_function", "decision_function", "predict",
    "with_mistakes", "tidy", "tocsr", "_async_launch_kernel", "kernel_spec", "poll", "send_signal",
    "execute_managed_notebook", "said", "origin_coef_",
}  # fmt: skip
"""Methods and an attribute of estimators for readers, what CONTRIBUTING.md tells them to call, what the manager of a kernel,
papermill and the kernel of a notebook call, and what a sparse matrix has."""
