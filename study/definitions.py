"""Which definitions a function reaches, and their fingerprint: what a stored result depends on.

A definition is a function, a class or a constant at the top level of a module of this project. It reaches those that its
body names, through imports and attributes of modules, and they reach others. The fingerprint of a set of functions is the
hash of the syntax trees of all that they reach. Comments, docstrings, annotations of types and layout do not count, nor do
the places and the names of modules and definitions, nor what stands beside them: code may move and be renamed without making
a result stale, and a changed operator makes stale exactly what reaches it.

A class is reached whole, so the methods of its instances are covered. Names from other packages count by their dotted name.
What is looked up by a text (`getattr`) is not followed.
"""

import ast
import builtins
import hashlib
import inspect
import json
import re
import threading
from functools import lru_cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("kp", "study")
BOUNDARY = (
    "study", "study.definitions", "study.store", "study.experiment", "study.datasets", "study.datasets.registry",
    "study.datasets.fetch", "kp.compiled",
)  # fmt: skip
"""Modules whose definitions count by name only: what stores results or compiled code, and the data, which
provenance has apart."""

IGNORED = ("kind", "annotation", "returns")
"""Parts of syntax trees that change no result: how a text is written, and the types of parameters, results and names."""

INSIDE = ("body", "elt", "key", "value", "generators")
"""Parts of functions and comprehensions that see their local names."""

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
COMPREHENSIONS = (ast.GeneratorExp, ast.ListComp, ast.SetComp, ast.DictComp)
IMPORTS = (ast.Import, ast.ImportFrom)
NAMES = (ast.Name, ast.Attribute)
HOLE = re.compile(r'"\\u0000(\d+)"')
"""In the text of a statement, the number of a definition that it names. No other text of a program has the sign 0."""

_PARSING = threading.Lock()
"""CPython 3.11 counts the depth of syntax trees for all threads together, and may fail where two parse at a time."""


def fingerprint(functions):
    """sha256 (16 hexadecimal digits) of all definitions that these functions or classes reach, themselves included."""
    digests = sorted(code().digest(*_address(function)) for function in functions)
    return hashlib.sha256(json.dumps(digests).encode()).hexdigest()[:16]


def fingerprint_of_text(source, module="<notebook>"):
    """The fingerprint of a program given as text, that of a notebook for example: of its statements in their order, and of
    all definitions of the project that they reach."""
    own, scope = _with_program(source, module)

    def meet(address):
        return ["here", address[1]] if address[0] == scope.name else own.digest(*address)

    text = _filled([own.text(statement, scope) for statement in scope.statements], meet)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def reached(functions):
    """The (module, name) of all definitions that these functions reach, sorted."""
    return sorted(set().union(*(code().reached(*_address(function)) for function in functions)))


def reached_by_text(source, module="<notebook>"):
    """The (module, name) of all definitions of the project that a program given as text reaches."""
    own, scope = _with_program(source, module)
    met = {address for statement in scope.statements for address in own.text(statement, scope)[1]}
    return sorted(set().union(*(own.reached(*address) for address in met if address[0] != scope.name), set()))


def _with_program(source, module):
    """The code of the project with a program as one more module, of a name that no other text has, and that module."""
    scope = Module(f"{module} {hashlib.sha256(source.encode()).hexdigest()}", source, package="")
    return code().joined(scope), scope


def files(functions):
    """The paths of the source files, relative to the project, in which the definitions that functions reach stand."""
    return sorted({code().modules[module].path for module, _ in reached(functions)})


@lru_cache(maxsize=1)
def code():
    """The code of the project as it is on disk."""
    return Code.read(ROOT, PACKAGES, BOUNDARY)


def _address(function):
    """The (module, name) of a function or class; one from outside of the project joins the code with its module."""
    function = inspect.unwrap(function)
    module, modules = function.__module__, code().modules
    if module not in modules:
        modules[module] = Module(module, inspect.getsource(inspect.getmodule(function)), package=module.rpartition(".")[0])
    return module, function.__qualname__.partition(".")[0]


class Module:
    """One module's source: its top-level definitions, what its imports bind, wherever they stand, and its other statements.

    definitions : {name: list of statements that bind it}; imports : {name: (module, attribute or None)};
    effects : statements that bind no name; statements : all but imports and texts; path : relative to the project.
    """

    def __init__(self, name, source, *, package, path=""):
        with _PARSING:
            tree = ast.parse(source)
        self.name, self.path, self.definitions, self.imports, self.effects = name, path, {}, {}, []
        for node in ast.walk(tree):
            if isinstance(node, IMPORTS):
                self.imports |= _imported(node, package)
        self.statements = [statement for statement in tree.body if not _is_ignored(statement)]
        for statement in tree.body:
            for each in (names := _bound([statement])):
                self.definitions.setdefault(each, []).append(statement)
            if not names and not isinstance(statement, IMPORTS) and not _is_ignored(statement):
                self.effects.append(statement)


class Code:
    """Modules {name: Module}; those of `boundary` count by the names of their definitions only."""

    def __init__(self, modules, boundary):
        self.modules, self.boundary = modules, frozenset(boundary)
        self._texts, self._direct, self._reached, self._digests = {}, {}, {}, {}

    @classmethod
    def read(cls, root, packages, boundary):
        """The modules of these packages below the folder root."""
        modules = {}
        for path in sorted(path for package in packages for path in Path(root, package).rglob("*.py")):
            parts = path.relative_to(root).with_suffix("").parts
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            package = name if parts[-1] == "__init__" else ".".join(parts[:-1])
            place = path.relative_to(root).as_posix()
            modules[name] = Module(name, path.read_text(encoding="utf-8"), package=package, path=place)
        return cls(modules, boundary)

    def joined(self, module):
        """This code and one more module, which no other names: what is known of the definitions of both is shared."""
        own = Code({**self.modules, module.name: module}, self.boundary)
        own._texts, own._direct, own._reached, own._digests = self._texts, self._direct, self._reached, self._digests
        return own

    def resolve(self, module, name):
        """What a global name of a module means: ("own", module, name), ("module", dotted), ("other", dotted),
        ("boundary", name) or None."""
        scope = self.modules[module]
        if name in scope.definitions:
            return "own", module, name
        if name not in scope.imports:
            return None
        base, attribute = scope.imports[name]
        return ("module", base) if attribute is None else self.attribute(base, attribute)

    def attribute(self, module, name):
        """The same for an attribute of a module."""
        if module not in self.modules:
            return "module" if f"{module}.{name}" in self.modules else "other", f"{module}.{name}"
        if module in self.boundary and f"{module}.{name}" not in self.modules:
            # What a module of the boundary only passes on counts in full.
            elsewhere = self.modules[module].imports.get(name, (module,))[0] not in self.boundary
            return (elsewhere and self.resolve(module, name)) or ("boundary", name)
        return self.resolve(module, name) or ("module", f"{module}.{name}")

    def text(self, node, scope):
        """(text, addresses): a syntax tree as JSON, with a hole in the place of each definition that it names, and the
        addresses (module, name) of these in their order."""
        met = []
        return json.dumps(self._plain(node, scope, frozenset(), met)), met

    def _plain(self, node, scope, local, met):
        """A syntax tree as nested lists, without positions and docstrings; met gets the definitions that it names."""
        if isinstance(node, ast.AST):
            if isinstance(node, NAMES) and (found := self._meaning(node, scope, local)):
                kind, *rest = found
                if kind != "own":
                    return [kind, *rest]
                met.append(tuple(rest))
                return ["own", f"\0{len(met) - 1}"]
            inside, fields = local | own if (own := _locals(node)) else local, []
            for name, value in ast.iter_fields(node):
                # Defaults, decorators and what a comprehension first goes through are read outside of its scope.
                if value is not None and value != [] and name not in IGNORED:
                    fields.append([name, self._plain(value, scope, inside if name in INSIDE else local, met)])
            return [type(node).__name__, fields]
        if isinstance(node, list):
            return [self._plain(item, scope, local, met) for item in node if not _is_ignored(item)]
        return repr(node)

    def _meaning(self, node, scope, local):
        if isinstance(node, ast.Name):
            if node.id in local:
                return None
            return self.resolve(scope.name, node.id) or (None if hasattr(builtins, node.id) else ("free", node.id))
        base = self._meaning(node.value, scope, local) if isinstance(node.value, NAMES) else None
        return self.attribute(base[1], node.attr) if base and base[0] == "module" else None

    def _statements(self, module, name):
        """The statements that define a name, less its own name and the decorator that declares an experiment."""
        scope = self.modules[module]
        for statement in scope.definitions[name]:
            if isinstance(statement, (*FUNCTIONS, ast.ClassDef)):
                fields = {field: value for field, value in ast.iter_fields(statement) if field != "name"}
                fields["decorator_list"] = [d for d in statement.decorator_list if not self._declares(d, scope)]
                yield type(statement)(name="", **fields)
            else:
                yield statement

    def _declares(self, decorator, scope):
        function = decorator.func if isinstance(decorator, ast.Call) else decorator
        found = self._meaning(function, scope, frozenset()) if isinstance(function, NAMES) else None
        return found == ("boundary", "experiment")

    def texts(self, module, name):
        """[(text, addresses)] of the statements that define a name, and of those of its module that bind none."""
        scope = self.modules[module]
        for key, statements in (((module, name), self._statements(module, name)), ((module, ""), scope.effects)):
            if key not in self._texts:
                self._texts[key] = [self.text(statement, scope) for statement in statements]
        return [*self._texts[module, name], *self._texts[module, ""]]

    def direct(self, module, name):
        """The addresses that a definition names itself."""
        if (module, name) not in self._direct:
            self._direct[module, name] = {address for _, met in self.texts(module, name) for address in met}
        return self._direct[module, name]

    def reached(self, module, name):
        """The addresses of all definitions that one reaches, itself included."""
        if (module, name) not in self._reached:
            found, left = set(), [(module, name)]
            while left:
                address = left.pop()
                if address not in found:
                    found.add(address)
                    left += self.direct(*address)
            self._reached[module, name] = found
        return self._reached[module, name]

    def digest(self, module, name):
        """The hash of a definition and of all that it reaches.

        Definitions that reach each other are hashed together; inside such a group they are known by their plain names.
        """
        # What reaches less comes first, so that all that a definition names has its hash before it.
        left = () if (module, name) in self._digests else self.reached(module, name)
        for address in sorted(left, key=lambda a: (len(self.reached(*a)), a)):
            if address not in self._digests:
                group = {a for a in self.reached(*address) if address in self.reached(*a)}
                shapes = {a: self._shape(a, group) for a in group}
                together = sorted(shapes.values()) if len(group) > 1 else []
                for a in group:
                    self._digests[a] = hashlib.sha256(json.dumps([shapes[a], together]).encode()).hexdigest()
        return self._digests[module, name]

    def _shape(self, address, group):
        def meet(a):
            if a == address:
                return "itself"
            return ["group", a[1]] if a in group else self._digests[a]

        return _filled(self.texts(*address), meet)


def _filled(texts, meet):
    """The texts of statements as one, with meet(address) in each hole."""
    return f"[{', '.join(HOLE.sub(lambda hole, met=met: json.dumps(meet(met[int(hole[1])])), text) for text, met in texts)}]"


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


def _bound(statements):
    """The names that statements bind, those of nested blocks included but not those of functions and classes inside."""
    names, left = set(), list(statements)
    while left:
        node = left.pop()
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            names.add(node.name)
            continue
        if isinstance(node, (ast.Lambda, *COMPREHENSIONS)):
            left += [n for n in ast.walk(node) if isinstance(n, ast.NamedExpr)]
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)):
            names.add(node.id)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            names.add(node.name)
        left += ast.iter_child_nodes(node)
    return names


def _locals(node):
    """The names that are local inside a function or a comprehension, where they hide global ones."""
    if isinstance(node, (*FUNCTIONS, ast.Lambda)):
        a = node.args
        names = {each.arg for each in (*a.posonlyargs, *a.args, *a.kwonlyargs, a.vararg, a.kwarg) if each}
        return names if isinstance(node, ast.Lambda) else names | _bound(node.body)
    if isinstance(node, COMPREHENSIONS):
        return _bound([generator.target for generator in node.generators])
    return frozenset()


def _is_ignored(node):
    """True of docstrings and other bare texts, of imports, which count where their names do, and of what a script runs."""
    text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    script = isinstance(node, ast.If) and ast.unparse(node.test) == "__name__ == '__main__'"
    return text or script or isinstance(node, IMPORTS)
