"""Notebooks under nbval: executed ones are compared where their data are, elsewhere skipped with the reason.

nbval runs code cells; here it runs the words, too: each text cell is asked for what it says in this run, and that of an
executed copy is held against its text. Kernels have imported the study already: on Linux they are forked from this process
(`study.report.forked`). A kernel that was forked knows no names: what a notebook does not import is missing in it as in any
other.
"""

import functools
from collections import defaultdict

import nbformat
import pytest
from nbval.plugin import IPyNbCell

from study import chapters, datasets
from study.report import forked
from study.report.expressions import depends
from study.report.source import captioned
from study.results import code

PROGRAM = """
from study.report.expressions import said
_shell = get_ipython()
if hasattr(_shell, "chapter"):
    _shell.chapter.last = Out.get(_shell.execution_count - 1)
_said = said({source!r}, {tags!r}, _shell)
print(_said.text, *(_said.output[each] for each in _said.output if each == "text/markdown"), sep="\\n")
"""
"""What a text says in this run, then the table that it is the caption of: what the cell before this one has shown."""


@functools.cache
def missing(name):
    """Why the data set cannot be had without a download, or None."""
    try:
        datasets.load(name, download=False)
    except datasets.DataError as error:
        return f"{name} is not here: {str(error).splitlines()[-1]}"
    return None


def added(file, name, place, program, outputs=()):
    """An item of a program that no cell holds, for the cell at a place."""
    options = defaultdict(bool, check=file.compare_outputs)
    cell = nbformat.v4.new_code_cell(program, outputs=list(outputs), execution_count=1)
    return IPyNbCell.from_parent(file, name=name, cell_num=place, cell=cell, options=options)


def quick(path):
    """The code that gives a source notebook the parameters of the quick profile, as its first chapter there has them."""
    found = [each.quick for each in chapters.CHAPTERS if each.notebook == path and each.quick]
    return "\n".join(f"{name} = {value!r}" for name, value in found[0].items()) if found else ""


def with_words(items):
    """The items of notebooks with one more after the parameters of a source, and one for each text cell that has expressions
    or conditions, in their order."""
    files = {item.parent: [] for item in items if isinstance(item, IPyNbCell)}
    for file in files:  # a table has its form only when its caption has named it: it is compared there
        file.skip_compare = (*file.skip_compare, "text/html", "text/markdown")
    for item in items:
        if item.parent in files:
            files[item.parent].append(item)
    for file, of_code in files.items():
        of_code, found, last = iter(of_code), [], []
        for place, cell in enumerate(file.nb.cells):
            if cell.cell_type == "code":
                found.append(next(of_code))
                if "parameters" in cell.metadata.get("tags", []) and (program := quick(file.path)):
                    found.append(added(file, f"Parameters {place}", place, program))
                continue
            tags, source = cell.metadata.get("tags", []), cell.metadata.get("words", cell.source)
            if not depends(source, tags):
                continue
            program = PROGRAM.format(source=source, tags=list(tags))
            above = file.nb.cells[place - 1].get("outputs", []) if captioned(tags) else []
            tables = [each.data["text/markdown"] for each in above if "text/markdown" in each.get("data", {})]
            text = "\n".join([cell.source, *tables[-1:]])
            shown = [nbformat.v4.new_output("stream", name="stdout", text=f"{text}\n")]
            (last if "at-end" in tags else found).append(added(file, f"Words {place}", place, program, shown))
        yield from [*found, *last]
    yield from (item for item in items if item.parent not in files)


def pytest_ignore_collect(collection_path):
    """An executed notebook that is none of the plan's is its user's own, and no test."""
    if collection_path.parent.name == "executed" and collection_path.suffix == ".ipynb":
        return collection_path not in {each.target("full") for each in chapters.chapters("full")} or None
    return None


def pytest_collection_modifyitems(items):
    items[:] = list(with_words(items))
    for item in items:
        if item.path.parent.name == "executed":
            texts = [value for value in chapters.chapter(item.path.stem).full.values() if isinstance(value, str)]
            reasons = [missing(name) for name in " ".join(texts).split() if name in datasets.DATASETS]
            for reason in filter(None, reasons):
                item.add_marker(pytest.mark.skip(reason=reason))


def pytest_collection_finish(session):
    if not session.config.option.collectonly and any(item.path.suffix == ".ipynb" for item in session.items):
        forked.use(code.SOURCES)
        for source in code.SOURCES.values():
            code.digest(source)  # once for all kernels: each has to know which stored results are up to date
