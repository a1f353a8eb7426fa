"""Which definitions a function reaches, and their fingerprint: what a stored result depends on.

A definition is a function, a class, a method or a constant of a module of this project. It reaches the definitions that
its body names, through imports and attributes of modules, and they reach others. Of a class that is reached, the methods
that can be called count: methods named as an attribute (or as a text) by anything that is reached, special methods, and
methods that other packages call. The fingerprint of a set of functions is the hash of all that they reach, and of the code
between every computation and its reader (ALWAYS). `syntax` says what does not count in a statement. Nor do the places
and names of modules and definitions count, nor the code next to them: code may move and be renamed without making a result
stale, and a changed operator makes stale exactly what reaches it.

Fingerprints are of the code that this process has imported. All sources are read when `study` is imported; where a file has
changed since, and the fingerprint with it, ChangedCode is raised in its place.

Names from other packages count by their dotted name. What is looked up by a text that is put together is not followed, nor
are the other constructs that tests/test_house.py forbids.
"""

import ast
import hashlib
import inspect
import json
import sys
from collections import deque
from functools import cached_property, lru_cache
from pathlib import Path
from typing import NamedTuple

from study.results import syntax
from study.results.syntax import FUNCTIONS, IMPORTS, MODULE, Reader, scope_of

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("kp", "study")
DEFINING = (*FUNCTIONS, ast.ClassDef, *IMPORTS)
BINDING = (*DEFINING, ast.Assign, ast.AnnAssign, ast.AugAssign)

ALWAYS = (
    ("study", "SAME_BYTES"),
    ("study.results.experiment", "Experiment"),
    ("study.results.experiment", "Experiment.publish"),
)
"""Definitions that every number goes through: the choice of loops, and the code that stores and reads results."""

BOUNDARY = frozenset({
    # Experiments know the parsers of their data one by one.
    "study.datasets.PARSERS",
    # Paths, and bytes on their way: what is read there is held against a checksum.
    "study.datasets.fetch.obtain", "study.results.store.write",
    # What is stored, where, and for which code, data and parameters; the declaration itself.
    *(f"study.results.experiment.Experiment.{name}" for name in (
        "__init__", "__reduce__", "__repr__", "command", "is_fresh", "path", "provenance", "published", "_array_path",
        "_checkpoint_paths", "_key", "_steps",
    )),
})  # fmt: skip
"""Definitions that count by name only, since they can change no number that is stored or read."""

CALLED = frozenset(
    "fit partial_fit fit_predict fit_transform transform inverse_transform predict predict_proba predict_log_proba score "
    "decision_function get_params set_params tocsr toarray".split()
)
"""Methods that scikit-learn and SciPy call."""

QUIET = ("typing.", "abc.")
"""Where base classes are from that call no method of theirs."""


class ChangedCode(RuntimeError):
    """A source file has changed since this process imported it."""


def fingerprint(functions):
    """sha256 (16 hexadecimal digits) of all definitions that these functions or classes reach, themselves included."""
    return _imported_now(lambda code: code.fingerprint([*(_address(code, each) for each in functions), *ALWAYS]))


def fingerprint_of_text(source):
    """The fingerprint of a program given as text, that of a notebook for example: of its statements in their order, and of
    all definitions of the project that they reach."""
    program = _program(source)
    return _imported_now(lambda code: code.joined(program).fingerprint([(program.name, ""), *ALWAYS]))


def reached(functions):
    """The (module, name) of all definitions that these functions reach, sorted; methods are of the name Class.method."""
    return code().reached([*(_address(code(), each) for each in functions), *ALWAYS])


def reached_by_text(source):
    """The (module, name) of all definitions of the project that a program given as text reaches."""
    program = _program(source)
    return [address for address in code().joined(program).reached([(program.name, "")]) if address[0] != program.name]


def files(functions):
    """The paths of the source files, relative to the project, in which the definitions that functions reach stand."""
    return sorted({code().modules[module].path for module, _ in reached(functions)})


@lru_cache(maxsize=1)
def code():
    """The code of the project as this process has imported it."""
    return Code.of(ROOT, SOURCES, BOUNDARY)


def _paths(root, packages):
    return sorted(path for package in packages for path in Path(root, package).rglob("*.py"))


def sources(root, packages):
    """{path: text} of all source files of packages below the folder root."""
    return {path: path.read_text(encoding="utf-8") for path in _paths(root, packages)}


def _stamps():
    """Size and time of change of each source file that there was when `study` was imported."""
    found = (path.stat() if path.exists() else None for path in _PATHS)
    return tuple(stat and (stat.st_size, stat.st_mtime_ns) for stat in found)


_PATHS = _paths(ROOT, PACKAGES)
_STAMPS = _stamps()
SOURCES = sources(ROOT, PACKAGES)


@lru_cache(maxsize=1)
def _code_on_disk(stamps):
    return Code.of(ROOT, sources(ROOT, PACKAGES), BOUNDARY)


def _imported_now(take):
    """take(code), where it is the same of the code on disk. Raises ChangedCode elsewhere."""
    found = take(code())
    if (stamps := _stamps()) != _STAMPS:
        try:
            same = take(_code_on_disk(stamps)) == found
        except (SyntaxError, KeyError):  # half an edit, or a definition that is no more
            same = False
        if not same:
            changed = [path for path, text in SOURCES.items() if not path.exists() or path.read_text("utf-8") != text]
            names = ", ".join(path.relative_to(ROOT).as_posix() for path in changed)
            raise ChangedCode(
                f"{names}: expected the code that this process has imported, found that it was changed since; restart the "
                "kernel, or run the command again"
            )
    return found


if (_kp := sys.modules.get("kp.compiled")) and _kp.SOURCES != _kp.sources():
    raise ChangedCode("kp was changed between its import and that of study; restart the kernel, or run the command again")


def _program(source):
    """A program as one more module, of a name that no other text has."""
    return Module(f"<notebook> {hashlib.sha256(source.encode()).hexdigest()}", source, package="", is_program=True)


def _address(code, function):
    """The (module, name) of a function or class; one from outside of the project joins the code with its module."""
    function = inspect.unwrap(function)
    module = function.__module__
    modules = code.modules
    if module not in modules:
        modules[module] = Module(module, inspect.getsource(inspect.getmodule(function)), package=module.rpartition(".")[0])
    return module, function.__qualname__.partition(".")[0]


class Module:
    """One module's source, parsed when it is first asked for; path is relative to the project.

    A program has no definitions: all its statements are effects, and what they bind counts by name.
    """

    def __init__(self, name, source, *, package, path="", is_program=False):
        self.name = name
        self.path = path
        self.package = package
        self.is_program = is_program
        self._source = source

    @cached_property
    def _body(self):
        return syntax.parse(self._source).body

    @cached_property
    def imports(self):
        """{name: (module, attribute or None)} of all imports, wherever they stand."""
        nodes = (node for statement in self._body for node in ast.walk(statement) if isinstance(node, IMPORTS))
        return {name: meaning for node in nodes for name, meaning in _imported(node, self.package).items()}

    @cached_property
    def definitions(self):
        """{name: the statements that bind it}."""
        found = {}
        for statement in self._body:
            for name in syntax.bound([statement]):
                found.setdefault(name, []).append(statement)
        return found

    @cached_property
    def methods(self):
        """{class: {name: statements}}."""
        found = {}
        for name, statements in self.definitions.items():
            if len(statements) == 1 and isinstance(statements[0], ast.ClassDef):
                found[name] = {}
                for each in statements[0].body:
                    if isinstance(each, FUNCTIONS):
                        found[name].setdefault(each.name, []).append(each)
        return found

    @cached_property
    def effects(self):
        """The statements that do more than bind names to values."""
        return [each for each in self._body if self.is_program or not isinstance(each, BINDING) or not syntax.bound([each])]

    def value(self, name):
        """The statements that a name's value depends on: the statements that bind it and, where there are several, those
        between them, which may have read the first value."""
        statements = self.definitions[name]
        if len(statements) == 1 or isinstance(statements[0], DEFINING):
            return statements
        first, last = (self._body.index(statements[i]) for i in (0, -1))
        return [each for each in self._body[first : last + 1] if not isinstance(each, DEFINING)]


class Unit(NamedTuple):
    """A definition as it counts: the hash of its text, the addresses that it names in their order, names of attributes."""

    text: str
    met: list
    names: set


class Code:
    """Modules {name: Module}; the dotted names in `boundary` are not followed.

    An address is (module, name), (module, "class.method"), or (module, "") for the effects of a module.
    """

    def __init__(self, modules, boundary=()):
        self.modules = modules
        self.boundary = frozenset(boundary)
        self._units = {}
        self._fingerprints = {}

    @classmethod
    def of(cls, root, sources, boundary=()):
        """The code of source files {path: text} below the folder root."""
        modules = {}
        for path, text in sources.items():
            place = path.relative_to(root)
            is_package = place.stem == "__init__"
            parts = place.with_suffix("").parts
            name = ".".join(parts[:-1] if is_package else parts)
            package = ".".join(parts[:-1])
            modules[name] = Module(name, text, package=package, path=place.as_posix())
        return cls(modules, boundary)

    def joined(self, module):
        """This code and one more module, which no other names: what is known of the definitions of both is shared."""
        own = Code({**self.modules, module.name: module}, self.boundary)
        own._units = self._units
        return own

    def fingerprint(self, addresses):
        """The hash of the definitions at these addresses and of all that they reach."""
        if (key := tuple(addresses)) not in self._fingerprints:
            numbers = self._walk(addresses)
            shapes = []
            for module, name in numbers:
                unit = self._unit(module, name)
                owner = (module, name.rpartition(".")[0])
                shapes.append([unit.text, [numbers.get(each) for each in unit.met], numbers.get(owner)])
            self._fingerprints[key] = hashlib.sha256(json.dumps(shapes).encode()).hexdigest()[:16]
        return self._fingerprints[key]

    def reached(self, addresses):
        """The addresses of all definitions that those at these addresses reach, sorted."""
        return sorted(address for address in self._walk(addresses) if address[1])

    def resolve(self, module, name):
        """Return the meaning of a global name of a module: ("own", module, name), ("module", dotted), ("other", dotted),
        ("boundary", name), ("free", name), or None."""
        scope = self.modules[module]
        if scope.is_program and name in scope.definitions:
            return "free", name
        if name in scope.definitions:
            return ("boundary", name) if f"{module}.{name}" in self.boundary else ("own", module, name)
        if name not in scope.imports:
            return None
        base, attribute = scope.imports[name]
        return ("module", base) if attribute is None else self.attribute(base, attribute)

    def attribute(self, module, name):
        """The same for an attribute of a module."""
        if module not in self.modules:
            return "module" if f"{module}.{name}" in self.modules else "other", f"{module}.{name}"
        found = None if self.modules[module].imports.get(name) == (module, name) else self.resolve(module, name)
        return found or ("module", f"{module}.{name}")

    def _walk(self, addresses):
        """{address: number} of all that is reached, numbered in the order in which it is met, regardless of its name."""
        numbers = {}
        names = set()
        classes = []
        left = deque(addresses)
        while left or (left := deque(self._called(classes, names, numbers))):
            module, name = address = left.popleft()
            if address in numbers or not (unit := self._unit(module, name)).text:
                continue
            numbers[address] = len(numbers)
            names |= unit.names
            left.extend(unit.met)
            left.append((module, ""))
            if name in self.modules[module].methods:
                classes.append(address)
        return numbers

    def _called(self, classes, names, numbers):
        """The addresses of methods of classes that can be called by one of these names and have no number yet."""
        for module, name in classes:
            for method, statements in sorted(self.modules[module].methods[name].items()):
                address = module, f"{name}.{method}"
                if address not in numbers and (method in names or self._is_called_from_outside(module, name, statements)):
                    if ".".join(address) not in self.boundary:
                        yield address

    def _is_called_from_outside(self, module, name, statements):
        """True of special methods, of methods that other packages call or may call, and of methods with a decorator."""
        method = statements[0].name
        if method in CALLED or (method.startswith("__") and method.endswith("__")):
            return True
        if any(found and found[0] == "own" for found in self._meanings(module, statements[0].decorator_list)):
            return True
        bases = self._bases(module, name)
        return "other" in bases or ("scikit-learn" in bases and method.startswith("_"))

    def _bases(self, module, name):
        """Return the kinds of packages that a class and its bases inherit from: a subset of {"scikit-learn", "other"}."""
        statement = self.modules[module].definitions[name][0]
        found = set()
        if not isinstance(statement, ast.ClassDef) or statement.keywords:
            return {"other"}
        for base in self._meanings(module, statement.bases):
            if base and base[0] == "own":
                found |= self._bases(*base[1:])
            elif base and base[0] == "other" and base[1].startswith("sklearn.base."):
                found.add("scikit-learn")
            elif not (base and base[0] == "other" and base[1].startswith(QUIET)):
                found.add("other")
        return found

    def _meanings(self, module, expressions):
        reader = self._reader(module)
        return [reader.means(each.func if isinstance(each, ast.Call) else each) for each in expressions]

    def _reader(self, module):
        return Reader(lambda name: self.resolve(module, name), self.attribute)

    def _unit(self, module, name):
        """The definition at an address; one without statements has no text."""
        if (module, name) not in self._units:
            reader = self._reader(module)
            texts = [text for text in self._texts(reader, self.modules[module], name) if text]
            text = hashlib.sha256(json.dumps(texts).encode()).hexdigest() if texts else ""
            self._units[module, name] = Unit(text, reader.met, reader.names)
        return self._units[module, name]

    def _texts(self, reader, module, name):
        owner, _, method = name.rpartition(".")
        if not name:
            yield from reader.read(module.effects)
        elif owner:
            scope = scope_of(module.definitions[owner][0], MODULE)
            yield from reader.read(module.methods[owner][method], scope)
        elif name in module.methods:
            (statement,) = module.definitions[name]
            yield reader.class_(statement, MODULE, "", [each for each in statement.body if not isinstance(each, FUNCTIONS)])
        else:
            for statement in module.value(name):
                if isinstance(statement, FUNCTIONS):
                    decorators = [d for d in statement.decorator_list if not self._declares(reader, d)]
                    yield reader.function(statement, MODULE, "", decorators)
                else:
                    yield from reader.read([statement])

    def _declares(self, reader, decorator):
        """True of the decorator that declares an experiment, whose options are in provenance or change no number."""
        function = decorator.func if isinstance(decorator, ast.Call) else decorator
        return reader.means(function) == ("own", "study.results.experiment", "experiment")


def _imported(statement, package):
    """{name: (module, attribute or None)} that an import statement binds."""
    if isinstance(statement, ast.Import):
        return {
            a.asname or a.name.split(".")[0]: (a.name if a.asname else a.name.split(".")[0], None) for a in statement.names
        }
    base = statement.module or ""
    if statement.level:
        parents = package.split(".")[: len(package.split(".")) - statement.level + 1]
        base = ".".join([*parents, base] if base else parents)
    return {a.asname or a.name: (base, a.name) for a in statement.names}
