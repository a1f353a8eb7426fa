"""Panels of a page that say where each value in its text comes from, and what must hold for a text to stand there.

A value is a button, its panel an HTML popover: no script is needed. What a panel says is found without running anything
(study.report.lineage): the expression, the lines of the notebook and the functions behind it, with their docstrings, the
tables it was read from, and the commands that compute these again. Equal panels are one.
"""

import ast
import json
import os
import re
from functools import cache
from html import escape
from pathlib import Path

import pandas as pd

from study import ROOT
from study.report import lineage, references
from study.report.expressions import conditions, places
from study.results import costs

FACTS = 2
"""Functions that a panel shows for an expression."""
DEPTH = 3
"""How many functions it shows behind one that only passes on what another returns."""
FEW = 3
"""Tables that it shows of those that were made with a setting."""
COLUMNS = 2
"""Up to this many tables are shown with their columns."""
MARK = "\N{CHECK MARK}"
"""The button of a text's conditions."""
LATER = re.compile(r"^(\s*(\||:::|```|\$\$)|.*\$\$\s*$)")
"""A last line that no button can follow."""
NEXT = re.compile(r"(\n+#+ [^\n]*)*\s*\Z")
"""The headings that end a text: they belong to what comes next."""
BUTTON = re.compile(r'(\(?)((?:<strong>)?<button popovertarget="[^>]*>[^<]*</button>(?:</strong>)?)([),.;:]*)')
"""A button of a page, with the bracket before it and the punctuation after it."""


def together(page):
    """The page, whose lines do not break between a button and what stands beside it."""
    return BUTTON.sub(lambda found: f'<span class="whole">{found[0]}</span>' if found[1] or found[3] else found[0], page)


class Panels:
    """The panels of a page that is written to target; links to files are there if it lies in the project's folder."""

    def __init__(self, target):
        folder = Path(target).resolve().parent
        self.folder = folder if folder.is_relative_to(ROOT) else None
        self._found = {}

    def __str__(self):
        return "\n".join(f'<div popover id="{name}">{content}</div>' for content, name in self._found.items())

    def mark(self, path, cells):
        """Make buttons of the values in the text cells of an executed notebook, and one at the end of a text that has
        conditions."""
        notebook = _Notebook(path, cells, self)
        for index, cell in enumerate(cells):
            if words := cell.metadata.get("words"):
                cell.source = notebook.marked(index, words)

    def add(self, rows, name=""):
        """Return the name of the panel of these rows, (head, content) in HTML: its own, or that of an equal one."""
        content = f"<dl>{''.join(f'<dt>{head}<dd>{each}' for head, each in rows if each)}</dl>"
        return self._found.setdefault(content, name or f"panel-{len(self._found) + 1}")

    def add_makers(self):
        """Add the panels of the functions that make rows of the ledger, whose page has links to them."""
        for symbol in lineage.makers():
            files = lineage.files([symbol], [*lineage.records(), *lineage.published()])
            self.add([*self.data(files), ("code", self.symbols([symbol]))], of_maker(symbol))

    def link(self, name, text=""):
        """A file of the project, by its name or path, as a link."""
        shown = escape(text or name)
        has_link = self.folder and (ROOT / name).is_relative_to(ROOT)
        return f'<a href="{Path(os.path.relpath(ROOT / name, self.folder)).as_posix()}">{shown}</a>' if has_link else shown

    def symbols(self, symbols):
        """Functions with their place and their docstrings, those behind them after each."""
        shown = list(dict.fromkeys(each for symbol in symbols[:FACTS] for each in _behind(symbol)))
        return "".join(
            f"<p><code>{'.'.join(filter(None, [each.name, each.part]))}</code> {self.link(each.path)}, "
            f"line {each.node.lineno}{'. ' if each.doc else ''}{_prose(each.doc)}"
            for each in shown
        )

    def data(self, files, said=""):
        """The rows of a panel on stored tables, a few where something is said of them, and how these are computed again."""
        all_tables = [name for name in files if name.endswith(".csv")]
        tables = all_tables[: FEW if said else None]
        others = len(files) - len(all_tables)
        with_columns = len(tables) <= COLUMNS
        shown = said + "".join(f"<p>{self.link(name, Path(name).name)} ({_shape(name, with_columns)})" for name in tables)
        shown += f"<p>and {len(all_tables) - len(tables)} other tables" if len(tables) < len(all_tables) else ""
        records = [lineage.records().get(name, {}) for name in tables]
        commands = dict.fromkeys(each["experiment"] for each in records if "experiment" in each)
        computed = (f"<p><code>python -m study run {each} --recompute</code> {_cost(each)}" for each in commands)
        shown += f"<p>and {others} file{'s' * (others > 1)} of arrays beside them" if others and tables else ""
        return [("tables", shown), ("compute again", "".join(computed))]


class _Notebook:
    """An executed notebook whose values become buttons."""

    def __init__(self, path, cells, panels):
        self.panels = panels
        self.cells = cells
        self.path = Path(path).resolve()
        metadata = json.loads(self.path.read_text(encoding="utf-8-sig"))["metadata"]
        self.read = metadata.get("made_from", {}).get("files", {})
        self.scope = lineage.Scope([(cell.cell_type, cell.source, cell.metadata.get("tags", ())) for cell in cells])

    def marked(self, index, words):
        """The text of a cell with buttons."""
        text = self.cells[index].source
        for expression, start, end in reversed(places(references.keyed(references.addressed(words)), text)):
            panel = self.panels.add(self.rows([expression], index))
            text = f"{text[:start]}{_button(text[start:end], panel)}{text[end:]}"
        if held := conditions(words):
            panel = self.panels.add(self.rows(held, index, are_conditions=True))
            end = NEXT.search(text).start()
            before = "\n\n" if LATER.match(text[:end].rpartition("\n")[2]) else " "
            text = f"{text[:end]}{before}{_button(MARK, panel)}{text[end:]}"
        return text

    def rows(self, expressions, index, *, are_conditions=False):
        """The rows of a panel on the expressions in the text of an index."""
        at_end = "at-end" in self.cells[index].metadata.get("tags", ())
        found = [self.scope.lineage(each, index, at_end=at_end) for each in expressions]
        code = "".join(f"<p><code>{escape(each)}</code>" for each in expressions)
        if are_conditions:
            many = len(expressions) > 1
            said = f"This text stands here because {'these conditions hold' if many else 'this condition holds'}:{code}"
            facts = list(dict.fromkeys(symbol for each in found for symbol in each.facts))
            named = ", ".join(f"<code>{each.name}</code> ({self.panels.link(each.path)})" for each in facts)
            return [("checked", said), *self.panels.data(self.files(found)), ("code", named)]
        (own,) = found
        lines = "".join(f"<p><code>{escape(each)}</code>" for each in own.parameters + own.lines)
        parameter = "a parameter, in" if own.parameters and not own.facts and not own.lines else "in"
        files = self.files(found)
        made = self.scope.made_with(expressions[0], self.read) if own.is_setting and not files else []
        stored = self.panels.data(files or made, "made with this setting: " if made else "")
        return [
            ("expression", code),
            *(stored if files or made else [("tables", self.unstored(own))]),
            ("notebook", f"{parameter} {self.panels.link(self.path, self.path.name)}{lines}"),
            ("code", self.panels.symbols(own.facts)),
        ]

    def files(self, found):
        return lineage.files([symbol for each in found for symbol in each.reached], self.read)

    def unstored(self, own):
        """What is said of a value that no stored table has."""
        if own.parameters and not own.facts:
            return "none: it is a setting of what the notebook computes when it is executed"
        sets = [name.partition("#")[2] for name in self.read if "registry.toml#" in name]
        of = f", from {', '.join(sets)} ({self.panels.link('data/registry.toml')})" if 0 < len(sets) < FACTS + 1 else ""
        return f"none: the notebook computes it when it is executed{of}"


def of_maker(symbol):
    """The name of the panel of a function that makes rows of the ledger."""
    return f"{symbol.name}-of-{symbol.module.split('.')[1]}"


def _button(text, panel):
    """Markdown of a button (study.report.content)."""
    return f'[{text}]{{.asked label="{panel}"}}'


def _behind(symbol):
    """The symbol and, while one only passes on what another returns, that one."""
    found = [symbol]
    while len(found) <= DEPTH and _passes_on(found[-1]):
        after = [each for each in lineage.uses(found[-1]) if each.doc and not each.module.startswith(lineage.READERS)]
        if not after or after[0] in found:
            break
        found.append(after[0])
    return found


def _passes_on(symbol):
    """Whether a function is one expression after its docstring, or its part is."""
    node = symbol.node
    return isinstance(node, ast.FunctionDef) and not symbol.experiment and len(node.body) <= 1 + bool(symbol.doc)


def _prose(doc):
    """A docstring as HTML."""
    text = re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(doc, quote=False))
    return re.sub(r"\s*\n\n\s*", "<br>", text)


_cost = cache(costs.of_experiment)


@cache
def _shape(name, with_columns):
    """How many rows a table has, and its columns with the values of the first row."""
    frame = pd.read_csv(ROOT / name, dtype=str, keep_default_na=False)
    said = f"{len(frame):,} rows"
    if not with_columns or frame.empty:
        return said
    first = ", ".join(f"{column} = {value}" for column, value in frame.iloc[0].items() if value)
    return f"{said}; the first: {escape(first)}"
