"""Panels of a page that say where each value in its text comes from, and which conditions a text has.

A value is a button, its panel an HTML popover: no script is needed. What a panel says is found without running anything
(study.report.lineage): the expression, the lines of the notebook and the functions behind it, with their docstrings, the
tables it was read from, and the commands that compute these again. It has a link to the value's row in the table of numbers
(study.report.numbers). Equal panels are one.
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
from study.report import lineage, numbers, references
from study.report.expressions import conditions, places
from study.report.numbers import COMPUTED, SETTING, STORED, Number
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
HEADING = re.compile("^#+ (.+)$", re.MULTILINE)
BUTTON = re.compile(r'(?:\(±?<|±<|<)(?:strong><)?button popovertarget="[^>]*>[^<]*</button>(?:</strong>)?[),.;:]*')
"""A button of a page, with the bracket or sign before it and the punctuation after it. It begins with a sign that is not
optional: a search passes quickly over pictures."""


def together(page):
    """The page, whose lines do not break between a button and what stands beside it."""
    return BUTTON.sub(
        lambda found: found[0] if found[0][0] + found[0][-1] == "<>" else f'<span class="whole">{found[0]}</span>', page
    )


class Panels:
    """The panels of a page that is written to target; links to files are there if it lies in the project's folder."""

    def __init__(self, target):
        target = Path(target)
        folder = target.resolve().parent
        self.folder = folder if folder.is_relative_to(ROOT) else None
        self.name = numbers.place(target)
        self.numbers = {}
        self._found = {}

    def __str__(self):
        panels = self._found.items()
        return "\n".join(f'<div popover id="{name}">{_closing(name)}{content}</div>' for content, name in panels)

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
            self.add([("compared by", self.symbol(symbol)), *self.data(files)], of_maker(symbol))

    def link(self, name, text=""):
        """A file of the project, by its name or path, as a link."""
        shown = escape(text or name)
        has_link = self.folder and (ROOT / name).is_relative_to(ROOT)
        return f'<a href="{Path(os.path.relpath(ROOT / name, self.folder)).as_posix()}">{shown}</a>' if has_link else shown

    def symbols(self, symbols):
        """Functions with their place and their docstrings, those behind them after each."""
        shown = list(dict.fromkeys(each for symbol in symbols[:FACTS] for each in _behind(symbol)))
        return "".join(map(self.symbol, shown))

    def symbol(self, each):
        """A function with its place and its docstring."""
        return (
            f"<p><code>{'.'.join(filter(None, [each.name, each.part]))}</code> {self.link(each.path)}, "
            f"line {each.node.lineno}{'. ' if each.doc else ''}{_prose(each.doc)}"
        )

    def of_number(self, number):
        """Return the name of the panel of a number, which gets a row in the table."""
        row = self.numbers.setdefault(number, len(self.numbers) + 1)
        value, low, high = number.exact
        digits = f"with all digits {value}" if value and value != number.text else ""
        exact = ", ".join(filter(None, [escape(number.text), digits, low and f"interval {low} to {high}"]))
        there = f'<a href="{self.name}.html#row-{row}">row {row} of {self.name}.csv</a>'
        stored = self.data(number.files, "made with this setting: " if number.kind == SETTING else "")
        elsewhere = [("tables", self.unstored(number)), ("compute again", _code(number.commands))]
        parameter = "a parameter, in" if number.parameters and not number.facts and not number.lines else "in"
        named = self.link(number.notebook, number.notebook.name)
        return self.add(
            [
                ("expression", _code([number.expression])),
                ("value", f"{exact}<p>{there}"),
                *(stored if number.files else elsewhere),
                ("notebook", f"{parameter} {named}{_code(number.parameters + number.lines)}"),
                ("code", self.symbols(number.facts)),
            ]
        )

    def unstored(self, number):
        """What is said of a value that no stored table has."""
        if number.kind == SETTING:
            return "none: it is a setting of what the notebook computes when it is executed"
        sets = ", ".join(number.sets)
        of = f", from {sets} ({self.link(numbers.REGISTRY)})" if 0 < len(number.sets) <= FACTS else ""
        return f"none: the notebook computes it when it is executed{of}"

    def data(self, files, said=""):
        """The rows of a panel on stored tables, a few where something is said of them, and how these are computed again."""
        all_tables = [name for name in files if name.endswith(".csv")]
        tables = all_tables[: FEW if said else None]
        others = len(files) - len(all_tables)
        with_columns = len(tables) <= COLUMNS
        shown = said + "".join(f"<p>{self.link(name, Path(name).name)} ({_shape(name, with_columns)})" for name in tables)
        shown += f"<p>and {len(all_tables) - len(tables)} more" if len(tables) < len(all_tables) else ""
        shown += f"<p>and {others} file{'s' * (others > 1)} of arrays beside them" if others and tables else ""
        made = lineage.experiments(tables)
        computed = "".join(f"<p><code>{numbers.recompute(each)}</code> {_cost(each)}" for each in made)
        return [("tables", shown), ("compute again", computed)]


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
        found = places(references.keyed(references.addressed(words)), text)
        buttons = [self.panels.of_number(self.number(each, index, start, end)) for each, start, end in found]
        for (_, start, end), panel in reversed(list(zip(found, buttons, strict=True))):
            text = f"{text[:start]}{_button(text[start:end], panel)}{text[end:]}"
        if held := conditions(words):
            panel = self.panels.add(self.checked(held, index))
            end = NEXT.search(text).start()
            before = "\n\n" if LATER.match(text[:end].rpartition("\n")[2]) else "\N{NO-BREAK SPACE}"
            text = f"{text[:end]}{before}{_button(MARK, panel)}{text[end:]}"
        return text

    def lineage(self, expression, index):
        """What is behind an expression in the text of an index."""
        return self.scope.lineage(expression, index, at_end="at-end" in self.cells[index].metadata.get("tags", ()))

    def checked(self, held, index):
        """The rows of a panel on the conditions of the text of an index."""
        found = [self.lineage(each, index) for each in held]
        files = lineage.files([symbol for each in found for symbol in each.reached], self.read)
        said = f"This text is shown because {'these conditions hold' if len(held) > 1 else 'this condition holds'}:"
        facts = [f"<code>{each.name}</code> ({self.panels.link(each.path)})" for one in found for each in one.facts]
        return [("checked", said + _code(held)), *self.panels.data(files), ("code", ", ".join(dict.fromkeys(facts)))]

    def number(self, expression, index, start, end):
        """The Number of an expression in the text of an index, where it stands from start to end."""
        own = self.lineage(expression, index)
        files = lineage.files(own.reached, self.read)
        made = self.scope.made_with(expression, self.read) if own.is_setting and not files else []
        is_setting = not files and (made or (own.parameters and not own.facts))
        text = re.sub(r"\\(.)", r"\1", self.cells[index].source[start:end]).replace("\N{NO-BREAK SPACE}", " ")
        exact = self.cells[index].metadata.get("values", {}).get(expression, (_plain(text), "", ""))
        sets = [] if files or is_setting else [name.partition("#")[2] for name in self.read if "registry.toml#" in name]
        return Number(
            notebook=self.path,
            section=self.section(index, start),
            expression=expression,
            text=text,
            exact=tuple(exact),
            kind=STORED if files else SETTING if is_setting else COMPUTED,
            files=tuple(files or made),
            sets=tuple(sets),
            parameters=tuple(own.parameters),
            lines=tuple(own.lines),
            facts=tuple(own.facts),
        )

    def section(self, index, start):
        """The heading above a place in the text of an index, without marks."""
        texts = [cell.source if cell.cell_type == "markdown" else "" for cell in self.cells[:index]]
        texts.append(self.cells[index].source[:start])
        *_, last = next(filter(None, (HEADING.findall(each) for each in reversed(texts))))
        return re.sub(r"[*`]", "", last)


def of_maker(symbol):
    """The name of the panel of a function that makes rows of the ledger."""
    return f"{symbol.name}-of-{symbol.module.split('.')[1]}"


def _button(text, panel):
    """Markdown of a button (study.report.content)."""
    return f'[{text}]{{.asked label="{panel}"}}'


def _closing(name):
    """The button that closes a panel."""
    return f'<button aria-label="close" popovertarget="{name}" popovertargetaction="hide">\N{MULTIPLICATION SIGN}</button>'


def _plain(text):
    """A whole number as Python writes it; any other text as it is."""
    return text.replace(",", "").replace("\N{MINUS SIGN}", "-") if re.fullmatch(r"\N{MINUS SIGN}?[\d,]+", text) else text


def _code(lines):
    """Lines of code in HTML."""
    return "".join(f"<p><code>{escape(each)}</code>" for each in lines)


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
