"""Two records in the metadata of an executed notebook: of its inputs, and of its outputs.

made_from : its source, its parameters (its entry of the plan), the modules that it imports, the files that it has read;
came_out : hashes of its cells (texts, code, outputs) and of the figures that it wrote. So it is held against the code
without being run, and an edit by hand of a number or a picture is found.
"""

import hashlib
import json
from itertools import zip_longest

from study import ROOT, chapters
from study.datasets import registry
from study.report.expressions import conditions, expressions
from study.report.manifest import pictures
from study.results import code, store

PLAN = ("study.chapters",)
"""A notebook depends on its own entry of the plan, which its parameters are, and not on all of it."""
STYLE = "study/style.mplstyle"
"""The style of figures, which is read with the module study.style."""


def is_current(chapter, profile):
    """True if the executed notebook of a chapter and its figures are there as executed, and would be made from the same."""
    target = chapter.target(profile)
    saved = pictures(chapter) if profile == "full" else []
    if not all(path.exists() for path in [target, *saved]):
        return False
    try:
        notebook = json.loads(target.read_text(encoding="utf-8"))
        found = notebook["metadata"].get("made_from") or {}
        links = "".join(notebook["cells"][0]["source"])
        edited = difference(notebook) or links != chapters.links(chapter, profile)
    except (ValueError, KeyError, IndexError):
        return False
    return not edited and not changed(found, chapter.notebook, chapter.parameters(profile))


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


def made_from(source, parameters, read=()):
    """Return the inputs of an execution of the notebook source with parameters: a dict of plain values.

    source : hash of the cells; parameters; code : fingerprint of the modules that it imports; files : hashes of what it has
    read, the names in `read` (study.reading), and of the style of figures.
    """
    texts = _texts(source)
    return {
        "source": _hash(json.dumps(texts).encode()),
        "parameters": json.loads(json.dumps(parameters)),
        "code": code.fingerprint(_program(texts), without=PLAN),
        "files": {name: _content(name) for name in sorted({STYLE, *read})},
    }


def changed(record, source, parameters):
    """What is another than in the record of an execution: names of its fields, and of files; an empty list if nothing."""
    files = record.get("files", {})
    now = made_from(source, parameters, files)
    return [key for key in ("source", "parameters", "code") if record.get(key) != now[key]] + [
        name for name in now["files"] if files.get(name) != now["files"][name]
    ]


def modules(source):
    """The names of the modules of the project that a notebook imports, sorted."""
    return code.reached(_program(_texts(source)))


def _content(name):
    """A hash of a file of the project, or of an entry of the registry of datasets, by its name; "" where there is none."""
    path, _, entry = name.partition("#")
    if entry:
        return registry.entry_hash(entry)
    return store.content_hash(ROOT / path)[:16] if (ROOT / path).exists() else ""


def _texts(source):
    """[kind, text] of each cell."""
    # Plain JSON: the reader of notebooks takes longer to import than all of this.
    cells = json.loads(source.read_text(encoding="utf-8-sig"))["cells"]
    return [[cell["cell_type"], "".join(cell["source"])] for cell in cells]


def _program(texts):
    """The code of a notebook, with the expressions and conditions in its text."""
    cells = [text for kind, text in texts if kind == "code"]
    asked = [each for kind, text in texts if kind == "markdown" for each in [*expressions(text), *conditions(text)]]
    return "\n".join([*cells, *asked])


def _hash(content):
    return hashlib.sha256(content).hexdigest()[:16]
