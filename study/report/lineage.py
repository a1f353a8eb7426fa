"""Where a number in a text comes from: the lines of its notebook, the functions of the study, and the stored tables.

Nothing is run: expressions, notebooks and modules are read as syntax trees. A name of a notebook stands for the last
statement above the text that assigns it; a function depends on what its code names, directly or through other functions,
down to experiments (study.results.experiment) and files. Of the tables found so, those count that the notebook has read
when it was executed (study.report.origin). So a number may get a table too many, where a function behind it uses another
one for something else.
"""

import ast
import json
import re
import tomllib
from dataclasses import dataclass, field
from fnmatch import fnmatch
from functools import cache

import pandas as pd

from study import MEASURED, RESULTS, ROOT
from study.results import code, store

SHOWN_ELSEWHERE = ("study.words", "study.report")
"""Modules that give numbers a form, and make none."""
READERS = ("study.results", "study.datasets", "study.reading")
"""Modules that read files for all others."""
EXPERIMENT = "experiment"
"""The decorator of experiments."""
STORED = re.compile(r"[\w.*{}-]+\.(csv|npz|toml)")


@dataclass(frozen=True)
class Symbol:
    """A function, class, member of a class or constant of a module: "study.mnist.facts", "Facts.error"; part is the
    attribute that is taken of the SimpleNamespace which it returns, or ""."""

    module: str
    name: str
    part: str = ""

    @property
    def node(self):
        return _module(self.module).members[self.name]

    @property
    def path(self):
        """Its source file, relative to the project."""
        return code.PATHS[self.module].relative_to(ROOT).as_posix()

    @property
    def doc(self):
        """Its docstring, or ""."""
        has_text = isinstance(self.node, ast.FunctionDef | ast.ClassDef)
        return (ast.get_docstring(self.node) or "") if has_text else ""

    @property
    def experiment(self):
        """The name of the experiment that it is, as "mnist.orders", or ""."""
        for each in getattr(self.node, "decorator_list", ()):
            if isinstance(each, ast.Call) and ast.unparse(each.func) == EXPERIMENT and each.args:
                return f"{ast.literal_eval(each.args[0])}.{self.name}"
        return ""


@dataclass
class Lineage:
    """What is behind an expression: lines of the notebook, parameters apart, the nearest functions of the study, and every
    function from which a table may come."""

    lines: list = field(default_factory=list)
    parameters: list = field(default_factory=list)
    facts: list = field(default_factory=list)
    reached: list = field(default_factory=list)

    @property
    def is_setting(self):
        """Whether the value was given: by a parameter, or in an instance of a class of settings."""
        classes = [isinstance(each.node, ast.ClassDef) for each in self.facts]
        return bool(self.parameters) or (bool(classes) and all(classes))


@dataclass(frozen=True)
class _Module:
    """Members {name: node} of a module, methods as "Class.method", and what its imports stand for {name: dotted name}."""

    members: dict
    imports: dict


@cache
def _module(name):
    tree = code.parsed(code.SOURCES[name])
    members = code.defined(tree)
    classes = [node for node in members.values() if isinstance(node, ast.ClassDef)]
    methods = {
        f"{node.name}.{each.name}": each for node in classes for each in node.body if isinstance(each, ast.FunctionDef)
    }
    return _Module(members | methods, code.aliases(tree))


@cache
def chains(node):
    """The dotted names in a tree, as lists, each outermost: a.b[0].c(d) gives [a, b] and [d]."""
    found = []
    parts = []
    inner = node
    while isinstance(inner, ast.Attribute | ast.Subscript | ast.Call):
        if isinstance(inner, ast.Attribute):
            parts.append(inner.attr)
            inner = inner.value
        else:  # what follows an item or a call belongs to another object
            outer = [inner.slice] if isinstance(inner, ast.Subscript) else [*inner.args, *inner.keywords]
            found += [each for part in outer for each in chains(part)]
            inner = inner.value if isinstance(inner, ast.Subscript) else inner.func
            parts = []
    if isinstance(inner, ast.Name):
        return [[inner.id, *reversed(parts)], *found]
    return found + [each for part in ast.iter_child_nodes(inner) for each in chains(part)]


def _named(node):
    """The names that a tree names, without what follows them."""
    return {parts[0] for parts in chains(node)}


@cache
def named(dotted):
    """(Symbol, names left) of a dotted name of the project, or None: through imports, and from an instance to its class."""
    parts = dotted.split(".")
    for place in range(len(parts) - 1, 0, -1):
        name, rest = ".".join(parts[:place]), parts[place:]
        if name in code.SOURCES:
            return _in_module(name, rest)
    return None


def _in_module(name, parts):
    module = _module(name)
    first, *rest = parts
    if first in module.members:
        return _member(Symbol(name, first), rest)
    if first not in module.imports:
        home = code.home(name, first)
        return _in_module(home, parts) if home != name else None
    leads_on = module.imports[first] != f"{name}.{first}"
    return named(".".join([module.imports[first], *rest])) if leads_on else None


def _member(symbol, rest):
    """The member of a class, or of the class of an instance, that the names go on to; else the symbol."""
    node = symbol.node
    if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.Call) and rest:
        made = _in_module(symbol.module, *chains(node.value.func)[:1]) if chains(node.value.func) else None
        if made and isinstance(made[0].node, ast.ClassDef):
            return _member(made[0], rest)
    if rest and f"{symbol.name}.{rest[0]}" in _module(symbol.module).members:
        return Symbol(symbol.module, f"{symbol.name}.{rest[0]}"), rest[1:]
    return symbol, rest


def taken(symbol, rest):
    """The symbol with the part that the names after it take, where it returns a SimpleNamespace with this part. One that
    gathers what functions of its module return, as gathered() of study.front.facts, gives that function."""
    if not rest or not isinstance(symbol.node, ast.FunctionDef):
        return symbol
    if rest[0] in _parts(symbol.node):
        return Symbol(symbol.module, symbol.name, rest[0])
    found = named(f"{symbol.module}.{rest[0]}") if _gathers(symbol.node) else None
    return taken(found[0], rest[1:]) if found and isinstance(found[0].node, ast.FunctionDef) else symbol


@cache
def _gathers(function):
    """Whether a function names what it returns by the functions that it calls."""
    return any(isinstance(each, ast.Attribute) and each.attr == "__name__" for each in ast.walk(function))


@cache
def _parts(function):
    """{name: expression} of the SimpleNamespace that a function returns at its end."""
    value = getattr(function.body[-1], "value", None)
    is_namespace = isinstance(value, ast.Call) and ast.unparse(value.func) == "SimpleNamespace"
    return {each.arg: each.value for each in value.keywords if each.arg} if is_namespace else {}


@cache
def uses(symbol):
    """The symbols that the code of one names directly, in their order; none for an experiment, whose tables are stored."""
    node = symbol.node
    if symbol.experiment or isinstance(node, ast.ClassDef):
        return ()
    if not isinstance(node, ast.FunctionDef):
        body = [node.value] if node.value else []
        return tuple(_named_in(body, symbol, {}))
    body = [_parts(node)[symbol.part]] if symbol.part else node.body
    return tuple(each for each in _named_in(body, symbol, _local(node), follow=bool(symbol.part)) if each != symbol)


def _local(function):
    """{name: statements that assign it} of a function; its parameters have none."""
    found = {each.arg: [] for each in ast.walk(function.args) if isinstance(each, ast.arg) and each.arg != "self"}
    for statement in function.body:
        for name in code.stored(statement):
            found.setdefault(name, []).append(statement)
    return found


def _named_in(nodes, symbol, local, *, follow=False):
    """{symbol: None} of the symbols that nodes of its code name. local {name: statements that assign it}; follow: also
    what these statements name."""
    found = {}
    left = [parts for node in nodes for parts in chains(node)]
    seen = set()
    while left:
        first, *rest = parts = left.pop(0)
        if first == "self" and "." in symbol.name:
            reached = _member(Symbol(symbol.module, symbol.name.partition(".")[0]), rest)
            found |= {taken(*reached): None} if "." in reached[0].name else {}
        elif first in local:
            for statement in local[first]:
                if other := _other_name(statement, first):
                    if (id(statement), *rest) not in seen:
                        seen.add((id(statement), *rest))
                        left.append([*other, *rest])
                    continue
                members = [_member(made[0], rest) for made in _made_by(statement, symbol)] if rest else []
                found |= {taken(*each): None for each in members if "." in each[0].name}
                if follow and id(statement) not in seen:
                    seen.add(id(statement))
                    left += chains(statement)
        elif reached := _in_module(symbol.module, parts):
            found[taken(*reached)] = None
    return found


def _other_name(statement, name):
    """The dotted name for which a name stands by a statement, such as `kept = facts.kept`; None if it is more than that."""
    value = getattr(statement, "value", None)
    is_alias = isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name)
    found = chains(value) if is_alias and isinstance(value, ast.Attribute) else []
    return found[0] if len(found) == 1 and found[0][0] != name else None


def _made_by(statement, symbol):
    """Yield what a statement names that may be a class or an instance of one."""
    for first, *_ in chains(statement):
        reached = _in_module(symbol.module, [first])
        if reached and isinstance(reached[0].node, ast.ClassDef | ast.Assign):
            yield reached


def closure(symbols):
    """The symbols and all that they use, the nearest first."""
    return _closure(tuple(dict.fromkeys(symbols)))


@cache
def _closure(symbols):
    found = {}
    left = list(symbols)
    while left:
        each = left.pop(0)
        if each not in found and not each.module.startswith(SHOWN_ELSEWHERE):
            found[each] = None
            left += uses(each)
    return list(found)


@cache
def _patterns(symbol):
    """Patterns of the names of files that stand in the code of a symbol, in their order."""
    found = {}
    for node in ast.walk(symbol.node):
        if isinstance(node, ast.Constant | ast.JoinedStr) and STORED.fullmatch(text := _text(node, symbol)):
            found[text] = None
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("published") and node.args:
            found[f"{_text(node.args[0], symbol)}.csv"] = None
    return [each for each in found if each != "*.csv"]


def _text(node, symbol):
    """A text in the code of a symbol, with * where it is computed."""
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(each.value if isinstance(each, ast.FormattedValue) else each, symbol) for each in node.values)
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else "*"
    found = _in_module(symbol.module, [node.id]) if isinstance(node, ast.Name) else None
    if found and isinstance(found[0].node, ast.Assign):
        return _text(found[0].node.value, found[0])
    return "*"


@cache
def records():
    """{name of a stored table: its provenance}, names relative to the project."""
    paths = sorted(path for folder in (RESULTS, MEASURED) for path in folder.glob("*.json"))
    return {path.with_suffix(".csv").relative_to(ROOT).as_posix(): json.loads(path.read_text("utf-8")) for path in paths}


def published():
    """The names of the tables of published numbers."""
    return sorted(path.relative_to(ROOT).as_posix() for path in store.PUBLISHED.glob("*.csv"))


@cache
def _of_experiment(name):
    """The files of an experiment, tables first."""
    own = {path: record for path, record in records().items() if record.get("experiment") == name}
    has_arrays = any("arrays" in record for record in own.values())
    return [*own, *([f"data/results/{name.replace('.', '_')}.npz"] if has_arrays else [])]


def experiments(names):
    """The names of the experiments that made these stored tables."""
    made = [records().get(name, {}) for name in names]
    return list(dict.fromkeys(each["experiment"] for each in made if "experiment" in each))


def files(symbols, read):
    """The files of data that the symbols lead to, of those that were read: names relative to the project; tables first, of
    these the results, and the nearest first."""
    return list(_files(tuple(dict.fromkeys(symbols)), tuple(read)))


@cache
def _files(symbols, read):
    found = {}
    for each in _closure(symbols):
        found |= dict.fromkeys(_of_experiment(each.experiment) if each.experiment else ())
        for pattern in _patterns(each):
            found |= dict.fromkeys(name for name in read if fnmatch(name.rpartition("/")[2], pattern))
    kept = [name for name in found if name in read]
    order = list(found)
    return sorted(kept, key=lambda name: (not name.endswith(".csv"), "/results/" not in name, order.index(name)))


LEDGER = "study.ledger"
CLAIMS, STATEMENTS = "CLAIMS", "STATEMENTS"
"""The module of the ledger, and its lists of the functions that make the rows."""


def makers(*names):
    """The functions that make the rows of the ledger: those in the lists of these names, by default in both."""
    lists = [_module(LEDGER).members[name].value for name in names or (CLAIMS, STATEMENTS)]
    return [_in_module(LEDGER, parts)[0] for each in lists for parts in chains(each)]


def maker(key):
    """The one of `makers` that makes the row of a key: of a statement by its file; of a number by the file of published
    numbers that has the key, or by how keys begin in its code."""
    for each in makers(STATEMENTS):
        file = code.PATHS[each.module].with_name("statements.toml")
        if any(key == said["key"] for said in _statements(file)):
            return each
    fits = {begin: each for begin, each in _beginnings() if key.startswith(begin)}
    if not fits:
        raise ValueError(f"no study/*/claims.py makes the row {key!r} of the ledger; let its published file have the key")
    return fits[max(fits, key=len)]


def behind(key):
    """The symbols behind the row of a key: those of its own entry in a dict {part of the key: rows or (verdict, values)}, in
    the code of its maker or of a function to which this passes something; where there is no such dict, the maker."""
    made = maker(key)
    for each in [made, *uses(made)]:
        if each.module == made.module and (entry := _entry(each, key)):
            return list(_named_in([entry], each, _local(each.node) | _passed(made, each), follow=True))
    return [made]


def _entry(symbol, key):
    """The value of a part of a key, such as "table-2", or of a tuple of parts, in a dict in a symbol's code, or None."""
    for node in ast.walk(symbol.node):
        for name, value in zip(node.keys, node.values, strict=True) if isinstance(node, ast.Dict) else ():
            parts = name.elts if isinstance(name, ast.Tuple) else [name] if name else []
            if any(f"/{_text(part, symbol)}/" in f"/{key}/" for part in parts):
                return value
    return None


def _passed(caller, called):
    """{parameter: what the caller passes} of a function, with the names that stand there for statements of the caller."""
    found = _local(caller.node)
    for call in ast.walk(caller.node):
        if isinstance(call, ast.Call) and ast.unparse(call.func) == called.name:
            for parameter, value in zip(called.node.args.args, call.args, strict=False):
                found.setdefault(parameter.arg, []).append(value)
    return found


@cache
def _statements(file):
    return tomllib.loads(file.read_text(encoding="utf-8")).get("statement", [])


@cache
def _beginnings():
    """[(text, symbol)]: how the keys of numbers begin, or whole keys, with the maker that has them in its code or files."""
    found = []
    for each in makers(CLAIMS):
        own = [symbol.node for symbol in closure([each]) if symbol.module == each.module]
        nodes = (node for outer in own for node in ast.walk(outer))
        texts = [_text(node, each) for node in nodes if isinstance(node, ast.Constant | ast.JoinedStr)]
        found += [(begin, each) for text in texts if "/" in (begin := re.split(r"[*{]", text)[0]) and " " not in begin]
        for name in files([each], published()):
            found += [(key, each) for key in pd.read_csv(ROOT / name, usecols=lambda column: column == "key").get("key", ())]
    return found


class Scope:
    """The names of a notebook, given as its cells: (kind, source, tags) of each."""

    def __init__(self, cells):
        self.statements = []
        self.imports = {}
        self.before = []
        for kind, source, tags in cells:
            self.before.append(len(self.statements))
            tree = ast.parse(source) if kind == "code" else ast.Module([], [])
            self.imports |= code.aliases(tree)
            lines = source.splitlines()
            for node in tree.body:
                line = "\n".join(lines[node.lineno - 1 : node.end_lineno])
                self.statements.append((node, code.stored(node), line, "parameters" in tags))

    def lineage(self, expression, cell, *, at_end=False):
        """The Lineage of an expression in the text cell of an index; at_end: as it is when the notebook is over."""
        found = Lineage()
        before = len(self.statements) if at_end else self.before[cell]
        for parts in chains(ast.parse(expression, mode="eval").body):
            self._follow(parts, before, found, near=True, seen=set())
        return found

    def made_with(self, expression, read):
        """The files of data that are made with a setting, the value of the expression: those behind the statements that name
        it, or else behind statements that name what these assign."""
        names = {parts[0] for parts in chains(ast.parse(expression, mode="eval").body)} - self.imports.keys()
        seen = set()
        while names - seen:
            seen |= names
            found = Lineage()
            users = [(place, *each[:2]) for place, each in enumerate(self.statements) if names & _named(each[0])]
            for place, node, _ in users:
                for parts in chains(node):
                    self._follow(parts, place, found, near=False, seen=set())
            if made := files(found.reached, read):
                return made
            names = set().union(*(stored for *_, stored in users))
        return []

    def _follow(self, parts, before, found, *, near, seen):
        """Add what a dotted name leads to. near: whether no function of the study stands between it and the expression."""
        if parts[0] in self.imports:
            reached = named(".".join([self.imports[parts[0]], *parts[1:]]))
            self._add(reached, found, near)
            return
        place = next((at for at in range(before - 1, -1, -1) if parts[0] in self.statements[at][1]), None)
        if place is None or place in seen:
            return
        seen.add(place)
        node, _, line, is_parameter = self.statements[place]
        if near:
            kept = found.parameters if is_parameter else found.lines
            kept += [line] if line not in kept else []
        value = getattr(node, "value", None)
        is_empty = not getattr(value, "elts", getattr(value, "keys", None))
        if isinstance(value, ast.List | ast.Dict) and is_empty:  # filled by the statements below
            for at in range(place + 1, before):
                if any(parts[0] == each[0] for each in chains(self.statements[at][0])):
                    for each in chains(self.statements[at][0]):
                        self._follow(each, at, found, near=near, seen=seen)
        if isinstance(value, ast.Call) and not isinstance(node.targets[0], ast.Tuple):
            reached = self._called(chains(value.func), parts[1:])
            if reached:
                self._add(reached, found, near)
                for each in (each for part in [*value.args, *value.keywords] for each in chains(part)):
                    self._follow(each, place, found, near=False, seen=seen)
                return
        inside = chains(value) if value is not None else chains(node)
        if isinstance(value, ast.Attribute) and len(inside) == 1:
            inside = [inside[0] + parts[1:]]
        for each in inside:
            self._follow(each, place, found, near=near, seen=seen)

    def _called(self, function, rest):
        """(symbol, names left) of a call of a function that is imported, with the names that follow its result."""
        if len(function) != 1 or function[0][0] not in self.imports:
            return None
        reached = named(".".join([self.imports[function[0][0]], *function[0][1:]]))
        if not reached:
            return None
        return _member(reached[0], rest) if isinstance(reached[0].node, ast.ClassDef) else (reached[0], rest)

    def _add(self, reached, found, near):
        if reached and not reached[0].module.startswith(SHOWN_ELSEWHERE):
            symbol = taken(*reached)
            found.reached.append(symbol)
            if near and symbol not in found.facts:
                found.facts.append(symbol)
