"""Inputs of an executed notebook: its source, its parameters, the code that it reaches, the files that it reads.

The executed copy carries it, so it is held against the code without being run.
"""

import hashlib
import importlib
import json

from study import ROOT, claims
from study.report.expressions import expressions
from study.results import costs, definitions
from study.results.experiment import Experiment


def is_current(chapter, profile):
    """True if the executed notebook of a chapter and its figures are there, and it would be made from the same again."""
    target = chapter.target(profile)
    if not all(path.exists() for path in [target, *chapter.pictures(profile)]):
        return False
    try:
        found = json.loads(target.read_text(encoding="utf-8"))["metadata"].get("made_from")
    except (ValueError, KeyError):
        return False
    return found == made_from(chapter.notebook, chapter.parameters(profile))


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
