"""The parts of a program's text that count: statements as plain lists, without parts that change no result, and their names.

What does not count: layout, comments, docstrings and types; wording, which is what an exception, a failed assertion, a
warning, a log or a progress bar says, and texts that are made for it; and the names of local variables, which are numbered
in the order in which they appear. Parameters keep their names, since calls may say them. Names inside texts are followed
where they are written as pandas reads them: "error < @LIMIT".
"""

import ast
import builtins
import re
import threading

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
COMPREHENSIONS = (ast.GeneratorExp, ast.ListComp, ast.SetComp, ast.DictComp)
IMPORTS = (ast.Import, ast.ImportFrom)
CAPTURES = (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)

IGNORED = ("kind", "type_comment", "annotation", "returns")
"""Fields of syntax trees that change no result: how a text is written, and types."""

MARKERS = ("ClassVar", "InitVar", "KW_ONLY")
"""Types in a class that say what is a field of a dataclass, and how it is given."""

SPOKEN = {"warnings.warn": (1, ("category", "stacklevel", "source")), "tqdm.tqdm": (None, ("iterable",))}
"""{function: (the first argument by place that counts, or None where all do, keywords that count)}: the others are wording.
stacklevel says where a warning seems to come from, which decides whether it is shown again."""

NAMED = re.compile(r"@([^\W\d]\w*(?:\.[^\W\d]\w*)*)")
WORDS = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")

_PARSING = threading.Lock()
"""CPython 3.11 counts the depth of syntax trees for all threads together, and may fail where two parse at a time."""


def parse(source, mode="exec"):
    with _PARSING:
        return ast.parse(source, mode=mode)


class Scope:
    """The local names of a function, a comprehension or a body of a class, inside another scope or none.

    plain : names that are numbered when they are first asked for; kept : names that stay; global_names : those declared so;
    loaded : plain names that something reads; unread : those of whose texts only wording is made.
    """

    def __init__(self, outer, plain=(), kept=(), global_names=(), is_class=False):
        self.outer = outer
        self.kept = frozenset(kept)
        self.global_names = frozenset(global_names)
        self.is_class = is_class
        self.numbers = {}
        self.plain = frozenset(plain) - self.kept
        self.loaded = set()
        self.unread = frozenset()
        self.depth = outer.depth + 1 if outer else 0

    def find(self, name, *, read=False):
        """Return the substitute of a local name, or None if it is none."""
        if name in self.global_names:
            return None
        if name in self.kept:
            return [name]
        if name in self.plain:
            if read:
                self.loaded.add(name)
            return [self.depth, self.numbers.setdefault(name, len(self.numbers))]
        return self.outer.find(name, read=read) if self.outer else None

    def around_functions(self):
        """The scope that functions and comprehensions inside see: names of a class's body are none of theirs."""
        return self.outer.around_functions() if self.is_class else self


MODULE = Scope(None)
"""The scope of a module: it has no local names."""


def scope_of(node, outer):
    """The scope inside a function, a comprehension or a class."""
    if isinstance(node, ast.ClassDef):
        return Scope(outer, kept=bound(node.body), is_class=True)
    outer = outer.around_functions()
    if isinstance(node, COMPREHENSIONS):
        return Scope(outer, plain=bound([generator.target for generator in node.generators]))
    a = node.args
    parameters = {each.arg for each in (*a.posonlyargs, *a.args, *a.kwonlyargs, a.vararg, a.kwarg) if each}
    if isinstance(node, ast.Lambda):
        return Scope(outer, kept=parameters)
    plain, kept, global_, nonlocal_ = _bindings(node.body)
    return Scope(outer, plain - global_ - nonlocal_, (parameters | kept) - global_ - nonlocal_, global_)


def bound(statements):
    """The names that statements bind, those of nested blocks included but not those of functions and classes inside."""
    plain, kept, _, _ = _bindings(statements)
    return plain | kept


def _bindings(statements):
    """Names by how they are bound: (by assignment, by a definition or a capture), and those declared (global, nonlocal)."""
    plain = set()
    kept = set()
    global_ = set()
    nonlocal_ = set()
    left = list(statements)
    while left:
        node = left.pop()
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            kept.add(node.name)
            continue
        if isinstance(node, (ast.Lambda, *COMPREHENSIONS)):
            left += [n for n in ast.walk(node) if isinstance(n, ast.NamedExpr)]
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)):
            plain.add(node.id)
        elif isinstance(node, CAPTURES) and node.name:
            kept.add(node.name)
        elif isinstance(node, ast.MatchMapping) and node.rest:
            kept.add(node.rest)
        elif isinstance(node, ast.Global):
            global_.update(node.names)
        elif isinstance(node, ast.Nonlocal):
            nonlocal_.update(node.names)
        left += ast.iter_child_nodes(node)
    return plain, kept, global_, nonlocal_


def is_ignored(node):
    """True of docstrings and other bare texts, of imports and declarations, which count where their names do, and of what a
    script runs."""
    text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    script = isinstance(node, ast.If) and not node.orelse and ast.unparse(node.test) == "__name__ == '__main__'"
    return text or script or isinstance(node, (*IMPORTS, ast.Global, ast.Nonlocal))


def _target_of_text(node):
    """The name that a statement gives a text, made without a call except to join others; None of other statements."""
    if not (isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name)):
        return None
    values = [node.value.body, node.value.orelse] if isinstance(node.value, ast.IfExp) else [node.value]
    if not all(isinstance(each, ast.JoinedStr) or isinstance(getattr(each, "value", None), str) for each in values):
        return None
    does = (ast.Call, ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)
    done = [each for each in ast.walk(node.value) if isinstance(each, does)]
    joins = [each for each in done if isinstance(each, ast.Call) and getattr(each.func, "attr", None) == "join"]
    return node.targets[0].id if len(joins) == len(done) else None


class Reader:
    """Reads statements of a module as plain lists.

    meaning(name) and attribute(module, name) say what names of the module and of modules stand for, as in
    `definitions.Code`: (kind, ...) or None. met : the addresses of the definitions that are named, in their order;
    names : attributes, and texts that may be names of attributes.
    """

    def __init__(self, meaning, attribute):
        self._meaning = meaning
        self._attribute = attribute
        self.met = []
        self.names = set()

    def read(self, node, scope=MODULE):
        if isinstance(node, list):
            return [self.read(each, scope) for each in node if not (is_ignored(each) or self._is_wording(each, scope))]
        if not isinstance(node, ast.AST):
            return repr(node)
        special = self.SPECIAL.get(type(node), Reader._plain)
        return special(self, node, scope)

    def means(self, node, scope=MODULE):
        """Return the meaning of a name, or of a name with attributes, outside of the scopes; None if it is neither."""
        if isinstance(node, ast.Name):
            return None if scope.find(node.id) else self._meaning(node.id)
        base = self.means(node.value, scope) if isinstance(node, ast.Attribute) else None
        return self._attribute(base[1], node.attr) if base and base[0] == "module" else None

    def function(self, node, scope, name, decorators):
        """A function of this name; defaults and decorators are read outside of its scope."""
        outside = [self.read(decorators, scope), self.read(node.args, scope)]
        inside = scope_of(node, scope)
        if texts := {_target_of_text(each) for each in ast.walk(node)} - {None}:
            tried = scope_of(node, scope)
            Reader(self._meaning, self._attribute).read(node.body, tried)
            inside.unread = (texts & inside.plain) - tried.loaded
        return [type(node).__name__, name, *outside, self.read(node.body, inside)]

    def class_(self, node, scope, name, body):
        """A class of this name with these statements of its body."""
        outside = [self.read(part, scope) for part in (node.decorator_list, node.bases, node.keywords)]
        return ["ClassDef", name, *outside, self.read(body, scope_of(node, scope))]

    def _plain(self, node, scope, leave_out=()):
        fields = [
            [name, self.read(value, scope)]
            for name, value in ast.iter_fields(node)
            if value is not None and value != [] and name not in IGNORED and name not in leave_out
        ]
        return [type(node).__name__, fields]

    def _found(self, found):
        if found[0] != "own":
            return list(found)
        self.met.append(found[1:])
        return ["own"]

    def _name(self, node, scope):
        if local := scope.find(node.id, read=not isinstance(node.ctx, ast.Store)):
            if scope.is_class:
                self.names.add(node.id)
            return ["local", *local, type(node.ctx).__name__]
        found = self._meaning(node.id) or (("builtin" if hasattr(builtins, node.id) else "free"), node.id)
        return [*self._found(found), type(node.ctx).__name__]

    def _attribute_of(self, node, scope):
        if found := self.means(node, scope):
            return [*self._found(found), type(node.ctx).__name__]
        self.names.add(node.attr)
        return ["Attribute", self.read(node.value, scope), node.attr, type(node.ctx).__name__]

    def _constant(self, node, scope):
        if not isinstance(node.value, str):
            return ["Constant", repr(node.value)]
        if WORDS.fullmatch(node.value):
            self.names.update(node.value.split("."))
        pieces = NAMED.split(node.value)
        for i in range(1, len(pieces), 2):
            first = pieces[i].partition(".")[0]
            if scope.find(first) or self._meaning(first):
                pieces[i] = self.read(parse(pieces[i], "eval").body, scope)
        return ["Constant", pieces]

    def _function_of(self, node, scope):
        return self.function(node, scope, node.name, node.decorator_list)

    def _class_of(self, node, scope):
        return self.class_(node, scope, node.name, node.body)

    def _lambda(self, node, scope):
        return ["Lambda", self.read(node.args, scope), self.read(node.body, scope_of(node, scope))]

    def _comprehension(self, node, scope):
        """Read a comprehension; its first iterable is read outside of its scope."""
        inside = scope_of(node, scope)
        (first, *others) = node.generators
        source = self.read(first.iter, scope)
        parts = [self._plain(first, inside, leave_out=("iter",)), self.read(others, inside)]
        return [*self._plain(node, inside, leave_out=("generators",)), source, *parts]

    def _annotated(self, node, scope):
        parts = [self.read(node.target, scope), node.value and self.read(node.value, scope)]
        if scope.is_class:
            written = ast.unparse(node.annotation)
            return ["Field", [marker for marker in MARKERS if marker in written], *parts]
        return ["Assign", [["targets", parts[:1]], ["value", parts[1]]]] if node.value else ["Declared", parts[0]]

    def _raise(self, node, scope):
        error = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
        return ["Raise", error and self.read(error, scope)]

    def _assert(self, node, scope):
        return self._plain(node, scope, leave_out=("msg",))

    def _call(self, node, scope):
        found = self.means(node.func, scope)
        if found and found[0] == "other" and found[1] in SPOKEN:
            first, keywords = SPOKEN[found[1]]
            counted = [keyword for keyword in node.keywords if keyword.arg in keywords]
            node = ast.Call(node.func, node.args[first:], counted)
        return self._plain(node, scope)

    def _is_wording(self, node, scope):
        """True of a statement that only calls what the module logging has, or makes a text for other wording."""
        if scope.unread and _target_of_text(node) in scope.unread:
            return True
        part = node.value if isinstance(node, ast.Expr) else None
        if not isinstance(part, ast.Call):
            return False
        while isinstance(part, (ast.Call, ast.Attribute)):
            part = part.func if isinstance(part, ast.Call) else part.value
        return self.means(part, scope) == ("module", "logging")

    SPECIAL = {
        ast.Name: _name, ast.Attribute: _attribute_of, ast.Constant: _constant, ast.Lambda: _lambda,
        ast.FunctionDef: _function_of, ast.AsyncFunctionDef: _function_of, ast.ClassDef: _class_of,
        ast.AnnAssign: _annotated, ast.Raise: _raise, ast.Assert: _assert, ast.Call: _call,
        **dict.fromkeys(COMPREHENSIONS, _comprehension),
    }  # fmt: skip
