"""A notebook that was handed in: how it is read, and how its cells are named. Nothing of it is trusted."""

import os
import warnings
from itertools import zip_longest
from pathlib import Path

import nbformat
from nbformat.warnings import MissingIDFieldWarning

from study.report import notebooks
from study.report.engine import HEADING, LISTED, tags
from study.report.expressions import HEAD

LARGEST = 64 * 2**20
"""Bytes of a notebook, and of what it may show when it runs again."""


class CannotRun(RuntimeError):
    """The file is not a notebook, or it fails when it runs; the message says why, with control characters made visible."""

    def __init__(self, message):
        super().__init__(visible(message))


def visible(text):
    """A text with its control characters made visible, since a terminal obeys them; non-breaking spaces become spaces."""
    text = str(text).replace("\N{NO-BREAK SPACE}", " ")
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)


def is_list(cell):
    """Whether a cell is the engine's list of statements that do not hold."""
    return cell.cell_type == "markdown" and LISTED in tags(cell) and cell.source.startswith(HEADING)


def read(path):
    """The notebook at path, with neighbouring pieces of one stream joined, and with ends of lines as they are on Linux.
    Raises CannotRun if it is not a notebook."""
    path = Path(path)
    if not path.is_file():
        what = "not a regular file" if path.exists() else "no such file"
        raise CannotRun(f"{path}: {what}; name a notebook, or a folder of notebooks")
    if path.stat().st_size > LARGEST:
        raise CannotRun(f"{path}: larger than {LARGEST >> 20} MB; too large to be compared")
    with warnings.catch_warnings():  # cells without an identifier are given one
        warnings.simplefilter("ignore", MissingIDFieldWarning)
        try:
            notebook = notebooks.read(path)
        except ValueError as error:
            raise CannotRun(error) from None
    try:
        nbformat.validate(notebook)
        nbformat.writes(notebook).encode()
        for cell in notebook.cells:
            _check_metadata(cell)
            _unify_lines(cell)
            if cell.cell_type == "code":
                cell.outputs = notebooks.joined(cell.outputs)
        return notebook
    except Exception as error:  # a text that is not a notebook can fail in a dozen ways
        raise CannotRun(f"{path}: not a notebook: {cut(str(error))}") from None


def _check_metadata(cell):
    """Raise TypeError unless the metadata that the engine writes have their form."""
    kept = cell.metadata.get("left_out", [])
    sound = isinstance(cell.metadata.get("words", ""), str) and isinstance(kept, list)
    for each in kept if sound else ():
        kinds = {name: type(value) for name, value in each.items()} if isinstance(each, dict) else {}
        sound &= kinds == {"after": int, "source": str, "tags": list} and all(isinstance(tag, str) for tag in each["tags"])
    if not sound:
        raise TypeError("the metadata 'words' or 'left_out' were not written by 'python -m study papermill'")


def _unify_lines(cell):
    """Give the texts of a cell, and those that the engine keeps, the ends of lines that the project's have."""
    kept = [(each, "source") for each in cell.metadata.get("left_out", ())]
    for holder, name in [(cell, "source"), (cell.metadata, "words"), *kept]:
        if name in holder:
            holder[name] = holder[name].replace("\r\n", "\n")


def named(notebook, place):
    """The number of a cell, from 1, with its first line."""
    first, *_ = HEAD.sub("", notebook.cells[place].source).strip().splitlines() or ["empty"]
    return f"cell {place + 1} ({cut(first)})"


def cut(line):
    """The first 150 characters of a line, with its control characters made visible."""
    return visible(line if len(line) <= 150 else f"{line[:150]}…")


def first_difference(lines, others, holder):
    """The first line that differs, both ways; "" if none does. holder: who has the others, as words. Of long lines it is the
    part where they differ."""
    for line, other in zip_longest(lines, others):
        if line != other:
            same = len(os.path.commonprefix([line or "", other or ""]))
            start = same - 50 if same > 100 else 0
            ours, theirs = (
                "nothing" if each is None else f"“{'…' * bool(start)}{cut(each[start:])}”" for each in (line, other)
            )
            return f"{ours}, {holder} {theirs}"
    return ""


def items(lines):
    return [f"- {each}" for each in lines]
