"""Does a notebook that was handed in come out again? It is run once more, and held against what it shows and its source.

Running a notebook runs what its author wrote: do so only with work of people whom you trust with this computer.
"""

import ast
import copy
import difflib
import re
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

import nbformat

from study import ROOT
from study.report.notebooks import OwnKernelManager

SHOWN = 150
"""Characters of a line that a finding shows."""
ADDRESS = re.compile(r"\b0x[0-9a-f]+")


class CannotRun(RuntimeError):
    """The notebook is none, or a cell of it fails; the message says which."""


@dataclass(frozen=True)
class Findings:
    """What `check` found: the stem of the project's notebook that it is a run of, or ""; its parameters as text, those that
    are not the defaults; what differs in the code from the source; what differs in the outputs when they are made again."""

    source: str
    parameters: str
    code: tuple[str, ...]
    outputs: tuple[str, ...]

    def __str__(self):
        of = f"A run of notebooks/{self.source}.ipynb" if self.source else "No run of a notebook of this project"
        lines = [f"{of}, with {self.parameters or 'the default parameters'}."]
        for found, none, some in (
            (self.code, "Its code is that of the source." if self.source else "", "Its code differs from the source:"),
            (self.outputs, "All numbers, tables and texts come out again.", "What does not come out again:"),
        ):
            lines += [some, *(f"- {each}" for each in found)] if found else [none] * bool(none)
        return "\n".join(lines)


def check(path, *, timeout=None):
    """The Findings about the executed notebook at path. Pictures and stderr are left aside.

    It runs in a fresh kernel in its own folder, and the file is left as it is. Cells are counted from 1, text included.
    timeout: seconds for each cell. Raises CannotRun if it is no notebook, or if a cell fails.
    """
    try:
        notebook = nbformat.read(path, as_version=4)
    except Exception as error:  # what is no notebook can fail in a dozen ways
        raise CannotRun(f"{path} must be a notebook, got {type(error).__name__}: {error}") from None
    source, original = _source(notebook)
    again = _executed_again(notebook, Path(path).resolve().parent, timeout)
    outputs = [
        f"{_place(notebook, index)}: {found}"
        for index, cell in enumerate(notebook.cells)
        if cell.cell_type == "code" and (found := _first_difference(_shown(cell), _shown(again.cells[index]), "again"))
    ]
    return Findings(source, _parameters(notebook, original), tuple(_code_differences(notebook, original)), tuple(outputs))


def _executed_again(notebook, folder, timeout):
    from nbclient import NotebookClient
    from nbclient.exceptions import CellControlSignal, DeadKernelError

    again, started = copy.deepcopy(notebook), []
    client = NotebookClient(
        again,
        kernel_manager_class=OwnKernelManager,
        timeout=timeout,
        resources={"metadata": {"path": str(folder)}},
        on_cell_start=lambda cell, cell_index: started.append(cell_index),
    )
    try:
        return client.execute()
    except (CellControlSignal, DeadKernelError) as error:
        what = f"{error.ename}: {error.evalue}" if hasattr(error, "ename") else f"{type(error).__name__}: {error}"
        raise CannotRun(f"{_place(notebook, started[-1])} fails: {what}") from None


def _source(notebook):
    """(stem, notebook) of the project's source with which a notebook has most code cells in common; ("", None) if none."""
    own, found = set(_code(notebook).values()), {}
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        source = nbformat.read(path, as_version=4)
        found[path.stem] = len(own & set(_code(source).values())), source
    stem = max(found, key=lambda stem: found[stem][0])
    return (stem, found[stem][1]) if found[stem][0] else ("", None)


def _code(notebook):
    """{index: source} of the code cells, without the one that papermill injects."""
    cells = {index: cell for index, cell in enumerate(notebook.cells) if cell.cell_type == "code" and cell.source.strip()}
    return {index: cell.source for index, cell in cells.items() if "injected-parameters" not in _tags(cell)}


def _tags(cell):
    return cell.metadata.get("tags", [])


def _parameters(notebook, original):
    """The values that a notebook gives its parameters, as "degree = 3, n_train = 200", without those that the source has."""
    defaults = _assigned(original) if original else {}
    return ", ".join(f"{name} = {value}" for name, value in _assigned(notebook).items() if defaults.get(name) != value)


def _assigned(notebook):
    """{name: value as code} of the cells of parameters, the injected one last."""
    found = {}
    for cell in notebook.cells:
        if {"parameters", "injected-parameters"} & set(_tags(cell)):
            found |= _assignments(cell.source) or {}
    return found


def _assignments(source):
    """{name: value as code} of a cell that assigns literals and does nothing else; None of any other."""
    try:
        statements = ast.parse(source).body
        names = [getattr(each, "targets", None) or [each.target] for each in statements]
        for each in statements:
            ast.literal_eval(each.value)
        return {name.id: ast.unparse(each.value) for (name,), each in zip(names, statements, strict=True)}
    except (SyntaxError, ValueError, AttributeError):
        return None


def _code_differences(notebook, original):
    """Yield what differs in the code cells; cells that assign other values to the source's parameters do not."""
    if original is None:
        return
    ours, theirs = (_without_values(each) for each in (notebook, original))
    places, sources = list(ours), list(theirs.values())
    matcher = difflib.SequenceMatcher(None, list(ours.values()), sources, autojunk=False)
    for _, a, b, c, d in (code for code in matcher.get_opcodes() if code[0] != "equal"):
        for place, source in zip_longest(places[a:b], sources[c:d]):
            if source is None:
                yield f"{_place(notebook, place)} is not in the source"
            elif place is None:
                yield f"a cell of the source is missing ({_cut(source.splitlines()[0])})"
            else:
                found = _first_difference(ours[place].splitlines(), source.splitlines(), "in the source")
                yield f"{_place(notebook, place)} is changed: {found}"


def _without_values(notebook):
    """`_code` where the cell of parameters stands for the names that it assigns."""
    code = _code(notebook)
    for index in code:
        if "parameters" in _tags(notebook.cells[index]) and (values := _assignments(code[index])):
            code[index] = "parameters: " + ", ".join(values)
    return code


def _shown(cell):
    """The lines that a cell shows: of all texts, without pictures, stderr and addresses in memory."""
    texts = []
    for output in cell.outputs:
        if output.output_type == "stream":
            texts += [output.text] if output.name == "stdout" else []
        elif output.output_type == "error":
            texts.append(f"{output.ename}: {output.evalue}")
        else:
            texts += [str(value) for kind, value in sorted(output.data.items()) if not kind.startswith("image/")]
    return [ADDRESS.sub("0x", line.rstrip()) for text in texts for line in text.splitlines()]


def _first_difference(lines, others, where):
    """The first line that differs, both ways; "" if none does. `where` the others stand."""
    for line, other in zip_longest(lines, others):
        if line != other:
            return f"“{_cut(line)}”, {where} “{_cut(other)}”"
    return ""


def _cut(line):
    """A line as a finding shows it: of a long one the start."""
    return "nothing" if line is None else line if len(line) <= SHOWN else f"{line[:SHOWN]}…"


def _place(notebook, index):
    return f"cell {index + 1} ({_cut(notebook.cells[index].source.strip().splitlines()[0])})"
