"""The code that a stored result depends on: modules of this project, by their files.

A module depends on itself and on the modules of the project that it imports, wherever in it the import statement stands,
and so on. What is imported by a text (importlib) is not followed. Of a package that only leads to a module, as `kp` does
in `from kp.gram import Points`, the `__init__` counts, but not what else it imports; what is taken from the package itself,
as in `from kp import Romma`, depends on all of it. Of a room (study.rooms), those modules count from which names
are taken, as in `mnist.figure_digits`.

A module counts by its syntax tree: comments, docstrings and layout do not count, all else does, names and messages too.

Fingerprints are of the code that this process has imported: all sources are read when `study` is imported. Where one of the
files that are asked for has changed since, in more than comments, ChangedCode is raised.
"""

import ast
import hashlib
import inspect
import sys
import threading
from collections import Counter
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("kp", "study")
FACE = "__getattr__"
"""The function that makes a package a room."""
OF_RESULTS = {"facts", "claims"}
"""Modules of a room that say what its results are: their names are taken from them, `mnist.facts.best`."""


class ChangedCode(RuntimeError):
    """A source file has changed since this process imported it."""


def _name(path):
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def _stamp(path):
    """Size and time of change of a file."""
    found = path.stat()
    return found.st_size, found.st_mtime_ns


PATHS = {_name(path): path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))}
"""{module: its file}."""
STAMPS = {name: _stamp(path) for name, path in PATHS.items()}
SOURCES = {name: path.read_text(encoding="utf-8") for name, path in PATHS.items()}

if (_kp := sys.modules.get("kp.compiled")) and _kp.SOURCES != _kp.sources():
    raise ChangedCode("kp was changed between its import and that of study; restart the kernel, or run the command again")

_PARSING = threading.Lock()
"""CPython 3.11 counts the depth of syntax trees for all threads together, and may fail where two parse at a time."""


@cache
def parsed(source):
    """The syntax tree of the source of a module."""
    with _PARSING:
        return ast.parse(source)


@cache
def _digest_and_imports(source):
    """A hash of what counts in a source, and the modules of the project that it imports, those in packages that lead to them
    left out."""
    tree = parsed(source)
    found = set()
    alias = aliases(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {each.name for each in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {home(node.module, each.name) for each in node.names}
        elif isinstance(node, ast.Attribute) and is_room(package := named(node.value, alias)):
            found.add(home(package, node.attr))
    return hashlib.sha256(repr(_shape(tree)).encode()).hexdigest(), frozenset(found & SOURCES.keys())


def _shape(node):
    """A syntax tree as tuples, of what is there only: newer versions of Python have fields that older ones lack."""
    if isinstance(node, list):
        return tuple(_shape(each) for each in node if not _is_text(each))
    if not isinstance(node, ast.AST):
        return node
    fields = ((name, _shape(value)) for name, value in ast.iter_fields(node))
    return type(node).__name__, *((name, value) for name, value in fields if value is not None and value != ())


def aliases(tree):
    """{name: the dotted name that it stands for} of all imports in a tree."""
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            found |= {each.asname or each.name: f"{node.module}.{each.name}" for each in node.names}
        elif isinstance(node, ast.Import):
            tops = [each.name.partition(".")[0] for each in node.names]
            found |= {
                each.asname or top: each.name if each.asname else top for each, top in zip(node.names, tops, strict=True)
            }
    return found


def named(node, alias):
    """The module of the project that an expression names, `mnist` or `mnist.facts`, or "". alias : see aliases."""
    if isinstance(node, ast.Name):
        found = alias.get(node.id)
    else:
        found = f"{named(node.value, alias)}.{node.attr}" if isinstance(node, ast.Attribute) else ""
    return found if found in SOURCES else ""


def is_room(package):
    """Whether a package, given by its dotted name, is a room."""
    return FACE in _defined(SOURCES.get(package, ""))


def home(package, name):
    """The module behind a name of a package: that of this name, or in a room the one that defines it, or else the package.

    Raises AttributeError for a name that several modules of a room define.
    """
    module = f"{package}.{name}"
    if module in SOURCES or not is_room(package):
        return module if module in SOURCES else package
    modules = [f"{package}.{each}" for each in sorted(_modules(package) - OF_RESULTS)]
    found = [each for each in modules if name in _defined(SOURCES[each])]
    if len(found) > 1:
        raise AttributeError(f"{module}: found in {', '.join(found)}; write one of these modules before {name}")
    return found[0] if found else package


def public(package):
    """The names that can be taken from a room, sorted: its modules, and what one of them defines without an underscore."""
    modules = _modules(package)
    counts = Counter(name for each in modules - OF_RESULTS for name in _defined(SOURCES[f"{package}.{each}"]))
    return sorted({*modules, *(name for name, count in counts.items() if count == 1 and not name.startswith("_"))})


@cache
def _modules(package):
    """The names of the modules of a package, without its own."""
    return {each.removeprefix(f"{package}.") for each in SOURCES if each.rpartition(".")[0] == package}


@cache
def _defined(source):
    """{name: its node} of what the top level of a module defines: functions, classes and constants."""
    return defined(parsed(source))


def defined(tree):
    """{name: its node} of the functions, classes and constants of a module, given as its syntax tree."""
    found = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found[node.name] = node
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            found |= dict.fromkeys(stored(node), node)
    return found


def stored(node):
    """The names that a statement assigns."""
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}


def digest(source):
    """A hash of what counts in the source of a module."""
    return _digest_and_imports(source)[0]


def imports(source):
    """The modules of the project that a source imports, those in packages that lead to them left out."""
    return _digest_and_imports(source)[1]


def _is_text(statement):
    """Whether a statement is a text alone: a docstring, of a module, a class, a function or an attribute."""
    return isinstance(statement, ast.Expr) and isinstance(getattr(statement.value, "value", None), str)


def reached(source, without=()):
    """The modules of the project that a program depends on, sorted, without some and what only those import."""
    found = set()
    left = set(imports(source)).difference(without)
    while left:
        name = left.pop()
        found.add(name)
        left |= imports(SOURCES[name]).difference(found, without)
    leading = {name[:place] for name in found for place, sign in enumerate(name) if sign == "."}
    return sorted(found | leading.difference(without))


def fingerprint(source, without=()):
    """sha256 (16 hexadecimal digits) of the modules that a program depends on, as this process has imported them."""
    names = reached(source, without)
    if changed := [name for name in names if _has_changed(name)]:
        files = ", ".join(PATHS[name].relative_to(ROOT).as_posix() for name in changed)
        raise ChangedCode(
            f"{files}: expected the code that this process has imported, found that it was changed since; restart the "
            "kernel, or run the command again"
        )
    return hashlib.sha256(" ".join(f"{name} {digest(SOURCES[name])}" for name in names).encode()).hexdigest()[:16]


def _has_changed(name):
    path = PATHS[name]
    if not path.exists():
        return True
    if _stamp(path) == STAMPS[name]:
        return False
    try:
        return digest(path.read_text(encoding="utf-8")) != digest(SOURCES[name])
    except SyntaxError:  # half an edit
        return True


def files(source):
    """The paths, relative to the project, of the modules that a program depends on."""
    return [PATHS[name].relative_to(ROOT).as_posix() for name in reached(source)]


def program(function):
    """The program that a function belongs to: an import of its module, or the text of a module outside of the project."""
    name = function.__module__
    return f"import {name}" if name in SOURCES else inspect.getsource(inspect.getmodule(function))
