"""Two records in the metadata of an executed notebook: of its inputs, and of its outputs.

made_from : its source, its parameters, the code that it reaches, the files that it reads; came_out : hashes of its cells
(texts, code, outputs) and of the figures that it wrote. So it is held against the code without being run, and an edit by
hand of a number or a picture is found.
"""

import hashlib
import importlib
import json
from itertools import zip_longest

from study import ROOT, claims
from study.report.expressions import expressions
from study.results import costs, definitions
from study.results.experiment import Experiment


def is_current(chapter, profile):
    """True if the executed notebook of a chapter and its figures are there as executed, and would be made from the same."""
    target = chapter.target(profile)
    if not all(path.exists() for path in [target, *chapter.pictures(profile)]):
        return False
    try:
        notebook = json.loads(target.read_text(encoding="utf-8"))
        found = notebook["metadata"].get("made_from")
        edited = difference(notebook)
    except (ValueError, KeyError):
        return False
    return not edited and found == made_from(chapter.notebook, chapter.parameters(profile))


def came_out(notebook):
    """The record of an executed notebook, given as plain JSON: a hash of each cell, in order, and of each figure file."""
    cells = notebook["cells"]
    stems = {output["metadata"]["image/png"]["file"] for _, output in _figures(cells)}
    paths = [ROOT / f"{stem}.{kind}" for stem in sorted(stems) for kind in ("png", "svg")]
    files = {path.relative_to(ROOT).as_posix(): _hash(path.read_bytes()) for path in paths if path.exists()}
    return {"cells": " ".join(_hash(json.dumps(cell, sort_keys=True).encode()) for cell in cells), "files": files}


def difference(notebook):
    """Where an executed notebook, given as plain JSON, or a figure of it is not as its execution left it; "" if nowhere."""
    record = notebook["metadata"].get("came_out")
    if not record:
        return "there is no record of its outputs"
    now = came_out(notebook)
    cells = notebook["cells"]
    for place, (then, found) in enumerate(zip_longest(record["cells"].split(), now["cells"].split()), start=1):
        if then != found:
            first = "".join(cells[min(place, len(cells)) - 1]["source"]).strip().partition("\n")[0][:60] if cells else ""
            return f"cell {place} ({first}) was changed, added or removed after the execution"
    files = {**record["files"], **now["files"]}
    changed = [path for path in files if record["files"].get(path) != now["files"].get(path)]
    for place, output in _figures(cells):
        if shown := [path for path in changed if path.rpartition(".")[0] == output["metadata"]["image/png"]["file"]]:
            return f"{shown[0]}, the figure of cell {place}, is not the file that the execution wrote"
    return ""


def _figures(cells):
    """(number from 1, output) of the cells that show a figure which was saved in a file."""
    for place, cell in enumerate(cells, start=1):
        for output in cell.get("outputs", ()):
            if "file" in output.get("metadata", {}).get("image/png", {}):
                yield place, output


def made_from(source, parameters):
    """Return the inputs of an execution of the notebook source with parameters: a dict of plain values.

    source : hash of the cells; parameters; code : fingerprint of all definitions that the cells and
    the expressions in the text reach; files : sha256 of the
    stored results that they can read, of the published numbers, the registry of data sets and the style of figures.
    """
    texts = _texts(source)
    program = _program(texts)
    return {
        "source": _hash(json.dumps(texts).encode()),
        "parameters": json.loads(json.dumps(parameters)),
        "code": definitions.fingerprint_of_text(program),
        "files": {path.relative_to(ROOT).as_posix(): _hash(path.read_bytes()) for path in inputs(program)},
    }


def modules(source):
    """The names of the modules of the project that a notebook reaches, sorted."""
    return sorted({module for module, _ in definitions.reached_by_text(_program(_texts(source)))})


def _texts(source):
    """[kind, text] of each cell."""
    # Plain JSON: the reader of notebooks takes longer to import than all of this.
    cells = json.loads(source.read_text(encoding="utf-8-sig"))["cells"]
    return [[cell["cell_type"], "".join(cell["source"])] for cell in cells]


def _program(texts):
    """The code of a notebook, with the expressions in its text."""
    code = [text for kind, text in texts if kind == "code"]
    asked = [each for kind, text in texts if kind == "markdown" for each in expressions(text)]
    return "\n".join([*code, *asked])


def inputs(program):
    """The files that a program (the code of a notebook) can read through the definitions that it reaches, sorted.

    Of stored results those of the experiments that it reaches, ledger and costs if it asks for them; all published numbers.
    """
    paths = {
        *(ROOT / "data" / "published").glob("*.csv"),
        ROOT / "data" / "registry.toml",
        ROOT / "study" / "style.mplstyle",
    }
    for module, name in definitions.reached_by_text(program):
        found = getattr(importlib.import_module(module), name, None) if module in definitions.code().modules else None
        if isinstance(found, Experiment):
            paths.update(found.stored_files())
        elif found is claims.stored:
            paths.update(claims.FILES)
        elif found is costs.by_chapter:
            paths.update(costs.files())
    return sorted(path for path in paths if path.exists())


def _hash(content):
    return hashlib.sha256(content).hexdigest()[:16]
