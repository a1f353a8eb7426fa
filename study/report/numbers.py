"""The table of the numbers of a page, a row for each value in its text, and a page on which a row is seen.

The panel of a value (study.report.panels) and its row are made from the same record. The row of a stored result names the
files from which it was computed, that of a setting the files that were computed with it, and any other row the datasets.
"""

from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from string import Template

import pandas as pd

from study import ROOT, chapters
from study.report import lineage, policy
from study.results import store

TEMPLATE = Path(__file__).with_name("numbers.html")
STORED, SETTING, COMPUTED = "stored result", "setting", "computed here"
"""Kinds of values."""
REGISTRY = "data/registry.toml"


@dataclass(frozen=True)
class Number:
    """A value in a text. text : as it is printed; exact : its number and the ends of its interval with all digits, "" where
    there is none; kind : STORED, SETTING or COMPUTED; files : of data, tables first; sets : datasets from which it is
    computed; parameters, lines : code of the notebook behind it; facts : functions of the study behind it; section : the
    heading above its first place."""

    notebook: Path
    expression: str
    text: str
    exact: tuple[str, ...]
    kind: str
    files: tuple[str, ...]
    sets: tuple[str, ...]
    parameters: tuple[str, ...]
    lines: tuple[str, ...]
    facts: tuple[lineage.Symbol, ...]
    section: str = field(compare=False)

    @property
    def row(self):
        """{column: text} of its row; items of a list are separated by blanks, commands by semicolons."""
        return {
            "notebook": _name(self.notebook),
            "section": self.section,
            "expression": self.expression,
            "text": self.text,
            **dict(zip(("value", "low", "high"), self.exact, strict=True)),
            "kind": self.kind,
            "function": " ".join(".".join(filter(None, (each.module, each.name, each.part))) for each in self.facts),
            "files": " ".join([*self.files, *(f"{REGISTRY}#{name}" for name in self.sets)]),
            "command": "; ".join(self.commands),
        }

    @property
    def commands(self):
        """The commands that compute it again: those of the stored tables, or that of the notebook."""
        profile = {folder: name for name, folder in chapters.EXECUTED.items()}.get(self.notebook.parent)
        if self.kind == COMPUTED and profile:
            return [f"python -m study notebook {self.notebook.stem} --profile {profile}"]
        return [recompute(each) for each in lineage.experiments(self.files)]


def recompute(experiment):
    """The command that computes an experiment again."""
    return f"python -m study run {experiment} --recompute"


def place(page):
    """The name of the table of a page, and of the page of its rows, without the ending."""
    return "numbers" if page.stem == "report" else f"{page.stem}-numbers"


def write(rows, page, link):
    """Write the table of rows beside a page, and the page of the rows; link makes a link of the name of a file."""
    table = page.with_name(f"{place(page)}.csv")
    store.write(table, store.table_text(pd.DataFrame({"row": range(1, len(rows) + 1)}).join(pd.DataFrame(rows))))
    shown = [
        f'<section id="row-{number}"><h2>row {number}</h2><dl>'
        + "".join(f"<dt>{name}<dd>{_shown(name, text, link)}" for name, text in row.items() if text)
        + "</dl></section>"
        for number, row in enumerate(rows, start=1)
    ]
    values = {"page": page.name, "table": table.name, "rows": "\n".join(shown)}
    found = Template(TEMPLATE.read_text(encoding="utf-8")).substitute(values)
    store.write(table.with_suffix(".html"), policy.sealed(found))


def _shown(column, text, link):
    """A text of a row in HTML: files are links."""
    if column in ("notebook", "files"):
        return " ".join(link(*name.split("#")[:1], name) for name in text.split(" "))
    if column in ("expression", "function", "command"):
        return "<br>".join(f"<code>{escape(each)}</code>" for each in text.split("; "))
    return escape(text)


def _name(path):
    return path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else path.name
