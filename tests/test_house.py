"""The house: what may import what, and nobody lives in it for nothing."""

import ast
import functools
import json
import re
from pathlib import Path

import pytest

from study import chapters
from study.report.expressions import expressions
from study.results import syntax

ROOT = Path(__file__).parents[1]
KP = sorted((ROOT / "kp").glob("*.py"))
STUDY = sorted((ROOT / "study").rglob("*.py"))
SHARED = {"datasets", "protocols", "report", "results"}
TOGETHER = {ROOT / "study" / name for name in ("ledger.py", "ladder.py")}
"""What puts the results of several chapters together."""
CHAPTERS = {path.name for path in (ROOT / "study").iterdir() if (path / "__init__.py").exists()} - SHARED


@functools.cache
def parsed(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def module(path):
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def imports(tree):
    """[(alias, what it stands for)] of all imports of a module, wherever they stand."""
    for node in ast.walk(tree):
        assert not getattr(node, "level", 0), "say where from, in full"
        for each in getattr(node, "names", ()) if isinstance(node, ast.Import | ast.ImportFrom) else ():
            yield each.asname or each.name, f"{node.module}.{each.name}" if isinstance(node, ast.ImportFrom) else each.name


def imported(path):
    """The dotted names that a module of the project imports, with what it takes from them."""
    return {name for _, name in imports(parsed(path))}


@pytest.mark.parametrize("path", KP, ids=lambda path: path.stem)
def test_kp_knows_arrays_only(path):
    tops = {name.partition(".")[0] for name in imported(path)}
    assert not tops & {"study", "pandas", "matplotlib", "pooch", "requests", "urllib", "nbformat", "papermill"}


@pytest.mark.parametrize("path", STUDY, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_chapter_imports_no_other_chapter_and_shared_rooms_import_none(path):
    own = path.relative_to(ROOT / "study").parts[0]
    others = {name.split(".")[1] for name in imported(path) if name.startswith("study.")} & CHAPTERS
    assert path in TOGETHER or others <= {own}


def test_files_of_chapters_have_the_same_names_and_others_are_in_the_table_of_rooms():
    usual = {"__init__", "experiment", "tables", "figures", "claims", "published"}
    table = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    found = {f"{path.parent.name}/{path.name}" for path in STUDY if path.parent.name in CHAPTERS and path.stem not in usual}
    assert found and {name for name in found if f"`{name}`" not in table} == set()


@pytest.mark.parametrize("path", [path for path in STUDY if path.name == "figures.py"], ids=module)
def test_figures_know_no_experiment(path):
    assert not [name for name in imported(path) if "experiment" in name.split(".") or name.startswith("sklearn")]


def programs():
    """{name: tree} of all that calls functions: modules by dotted names, benchmarks, notebooks, the head of Snakefile."""
    found = {module(path): parsed(path) for path in [*KP, *STUDY, *(ROOT / "benchmarks").glob("*.py")]}
    for path in (ROOT / "notebooks").glob("*.ipynb"):
        texts = []
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            text = "".join(cell["source"])
            texts += [text] if cell["cell_type"] == "code" else expressions(text)
        found[path.name] = ast.parse("\n".join(texts))
    head, _, _ = (ROOT / "Snakefile").read_text(encoding="utf-8").partition("rule report")
    return found | {"Snakefile": ast.parse(head)}


def called(name, tree, modules):
    """What a program reads: (module, name) of what stands in modules, itself included but for calls of a function by itself,
    and the names of attributes of anything else, which may be methods."""
    found = set()
    alias = {}
    for short, path in imports(tree):
        found.add(tuple(path.rpartition(".")[::2]))
        if path in modules:
            alias[short] = path
    for place in tree.body:
        for node in ast.walk(place):
            if isinstance(node, ast.Name) and node.id != getattr(place, "name", ""):
                found.add((name, node.id))
            elif isinstance(node, ast.Attribute):
                owner = alias.get(getattr(node.value, "id", None))
                found.add((owner, node.attr) if owner else node.attr)
    return found


def test_no_function_is_called_by_nobody():
    trees = programs()
    idle = []
    used = set().union(*(called(name, tree, trees.keys()) for name, tree in trees.items()))
    used |= {("kp.literal", name) for report in chapters.REPORTS.values() for name in report.listing}
    registry = (ROOT / "data" / "registry.toml").read_text(encoding="utf-8")
    for path in [*KP, *STUDY]:
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("__"):
                declared = any(isinstance(d, ast.Call) and ast.unparse(d.func) == "experiment" for d in node.decorator_list)
                known = declared or f'"{node.name}"' in registry or node.name in PUBLIC
                method = node.name in used and node not in parsed(path).body
                if not (known or method or (module(path), node.name) in used):
                    idle.append(f"{path.relative_to(ROOT)}: {node.name}")
    assert idle == []


def test_what_a_notebook_imports_is_used_in_code_or_words():
    for name, tree in programs().items():
        names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        unused = {alias for alias, _ in imports(tree) if alias.partition(".")[0] not in names}
        assert not name.endswith(".ipynb") or not unused, f"{name}: {unused}"


# What fingerprints of definitions (study/results/definitions.py) cannot follow stands nowhere in kp and study.

MODULES = {path: module(path) for path in [*KP, *STUDY]}
BUILT_IN = {"globals", "locals", "exec", "eval", "setattr", "delattr", "__import__"}
TAKEN = {"get_type_hints", "signature", "singledispatch", "singledispatchmethod", "import_module", "reload", "modules"}
HIDDEN = {"__subclasses__", "__init_subclass__", "__annotations__", "__dict__", "__globals__", "__doc__"}
CHANGING = {"append", "extend", "insert", "add", "update", "setdefault", "pop", "clear", "remove", "discard", "register"}
REGISTER_NOTHING = {"compiled", "experiment", "single_threaded"}


def root_of(node):
    """The name that a chain of attributes, items and calls begins with, or None."""
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else None


def put_together(text):
    """Whether a name after @ is put together from parts."""
    parts = [getattr(part, "value", "") for part in getattr(text, "values", ())]
    open_ends = [part for part in parts[:-1] if isinstance(part, str) and re.search(r"@[\w.]*$", part)]
    return isinstance(text, ast.BinOp) or bool(open_ends)


def read_of_an_exception(handler):
    """The attributes of an exception that are read elsewhere than in what is raised or said."""
    parts = [part for part in ast.walk(handler) if isinstance(part, ast.Raise | ast.JoinedStr)]
    said = {id(each) for part in parts for each in ast.walk(part)}
    for each in ast.walk(handler):
        if isinstance(each, ast.Attribute) and root_of(each) == handler.name and id(each) not in said:
            yield f"what an exception holds is read: {ast.unparse(each)}"


def unfollowed(tree):
    """What a module has that fingerprints cannot follow, as texts."""
    alias = list(imports(tree))
    meaning = dict(alias)
    modules = {name for name, found in alias if found in MODULES.values()}
    local = {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    local |= {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    own = {name for name, found in alias if found.partition(".")[0] in ("kp", "study")} - local
    taken = {name for name, found in alias if found.rpartition(".")[2] in TAKEN}
    yield from (f"{name} is imported as two things" for name, found in alias if meaning[name] != found)
    yield from (f"{name} is imported and defined" for name in set(meaning) & syntax.bound(tree.body))
    bases = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    for node in tree.body:
        match node:
            case ast.FunctionDef(name="__getattr__" | "__dir__"):
                yield f"{node.name} of a module"
            case ast.Expr(value=ast.Call()):
                yield f"a call when a module is imported: {ast.unparse(node.value.func)}"
    for node in ast.walk(tree):
        match node:
            case ast.ImportFrom(names=[ast.alias(name="*")]) | ast.Global():
                yield ast.unparse(node)
            case ast.Name(id=name, ctx=ast.Load()):
                if name in modules and id(node) not in bases:
                    yield f"a module as a value: {name}"
                if name in BUILT_IN | taken and name not in local:
                    yield name
            case ast.Attribute(attr=name) if name in HIDDEN:
                yield ast.unparse(node)
            case ast.Attribute(value=ast.Name(id="__doc__")) | ast.Subscript(value=ast.Name(id="__doc__")):
                yield ast.unparse(node)
            case ast.Attribute(attr=name, ctx=ast.Load()):
                if name in TAKEN and root_of(node) in meaning and root_of(node) not in own:
                    yield ast.unparse(node)
            case ast.Attribute() | ast.Subscript(ctx=ast.Store() | ast.Del()):
                if root_of(node) in own:
                    yield f"what belongs to another module is changed: {ast.unparse(node)}"
            case ast.Call(func=ast.Attribute(attr=name)):
                if name in CHANGING and root_of(node.func) in own:
                    yield f"what belongs to another module is changed: {ast.unparse(node)}"
                if name in ("query", "eval") and any(map(put_together, node.args)):
                    yield f"a name in a text that is put together: {ast.unparse(node)}"
            case ast.Call(func=ast.Name(id="getattr"), args=[_, ast.JoinedStr() | ast.BinOp(), *_]):
                yield ast.unparse(node)
            case ast.FunctionDef() | ast.ClassDef():
                roots = {root_of(decorator) for decorator in node.decorator_list}
                yield from (f"decorator {root}" for root in roots & own - REGISTER_NOTHING)
            case ast.ExceptHandler(name=str()):
                yield from read_of_an_exception(node)


FOLLOWED_OTHERWISE = {
    "study": {"a call when a module is imported: _keep_elsewhere"},  # folders of caches
    # Of the command line, of documents and of what runs notebooks: no result is computed there.
    "study.__main__": {"a module as a value: document"},
    "study.report": {"sys.modules"},  # what is not imported behind the reader of notebooks
    "study.report.forked": {"importlib.import_module"},
    "study.report.own_run": {
        f"what an exception holds is read: {name}"
        for name in ("ended.exit_code", "error.exit_code", "error.show", "error.ename", "error.evalue")
    },
    "study.report.origin": {"importlib.import_module"},
    "study.chapters": {"importlib.import_module"},
    "study.results.definitions": {"sys.modules"},
    "study.style": {"a call when a module is imported: mpl.style.use"},  # of figures
    "kp.machine": {  # counts where anything of kp.machine does
        "a call when a module is imported: register_model(_Lanes)",
        "a call when a module is imported: register_model(_Sums)",
    },
    "study.results.runs": {"typing.get_type_hints"},  # which settings can be given on the command line; they are parameters
    "study.results.experiment": {
        "importlib.import_module",
        "compute.__doc__",
        "self.__doc__",
    },  # an experiment is found and named
}
"""{module: what stands there, and can change no stored number}."""


@pytest.mark.parametrize(
    "text",
    [
        "from study.results.store import *",
        "def f():\n    global X\n    X = 1",
        "from study import store as a\nfrom study.results import runs as a",
        "try:\n    from a import x\nexcept ImportError:\n    x = None",
        "def f():\n    return globals()['x']",
        "A.__subclasses__()",
        "import functools\n@functools.singledispatch\ndef f(x): pass",
        "from study.results import store\nmodule = store",
        "from study.results import store\ndef f(): return g(store)",
        "def __getattr__(name): pass",
        "from study.results import store\nstore.write = None",
        "from study.results import store\nstore.KEYS['x'] = 1",
        "from study.results.store import KEYS\ndef f(): KEYS.update(x=1)",
        "from study.results.store import noted\n@noted\ndef f(): pass",
        "import numpy\nnumpy.seterr(all='raise')",
        "from study.results.store import noted\nnoted(3)",
        "def f(x): return getattr(x, f'{x}_')",
        "def f(x): return x.query(f'a > @{x}')",
        "def f(x): return x.query('a > ' + x)",
        "def f():\n    try:\n        g()\n    except ValueError as error:\n        return error.args",
        "x = f.__doc__",
        "x = __doc__.splitlines()",
        "eval('x')",
        "import importlib\nx = importlib.import_module('x')",
        "from typing import get_type_hints\nget_type_hints(f)",
    ],
)
def test_what_fingerprints_cannot_follow_is_found(text):
    assert list(unfollowed(ast.parse(text)))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: MODULES[path])
def test_nothing_is_written_that_fingerprints_cannot_follow(path):
    found = set(unfollowed(parsed(path)))
    assert found == FOLLOWED_OTHERWISE.get(MODULES[path], set())


PUBLIC = {
    "differences", "partial_fit", "staged_predict", "staged_decision_function", "decision_function", "predict",
    "with_mistakes", "tidy", "tocsr", "launch_kernel", "kernel_spec", "poll", "send_signal",
    "execute_managed_notebook", "said", "origin_coef_", "load_overload", "save_overload",
}  # fmt: skip
"""Methods and an attribute of estimators for readers, what CONTRIBUTING.md tells them to call, what the manager of a kernel,
its provisioner, papermill, the kernel of a notebook and Numba call, and what a sparse matrix has."""
