"""A folder of notebooks that were handed in, as one table: a row for each, what is its author's, what does not come out."""

import hashlib
import json
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pandas as pd
from tqdm import tqdm

from study.report import handin

COLUMNS = (
    "file", "source", "parameters", "seed", "code", "texts", "executed", "outputs", "pictures", "not compared", "verdict",
    "equal to", "same seed as",
)  # fmt: skip
SAME = "comes out"
OWN = "comes out, with parts of the author's own"
DIFFERS = "does not come out"
CANNOT = "cannot be run"
NOT_EXECUTED = "was not executed"
"""Verdicts."""


def notebooks(folder):
    """The notebooks below a folder, sorted. Raises ValueError if there is none."""
    found = sorted(
        path
        for path in Path(folder).rglob("*")
        if path.suffix.lower() == ".ipynb" and not any(part.startswith(".") for part in path.relative_to(folder).parts)
    )
    if not found:
        raise ValueError(f"expected notebooks below {folder}, got none; name a folder with files *.ipynb")
    return found


def read(paths, folder):
    """Facts known without running anything: a row for each notebook, with a verdict where it is not to be run.

    code, texts : how many places of the code, and how many text cells, are not the project's or are left out; "equal to" :
    the other files with the same cells and outputs; "same seed as" : the other runs of the same source with the same seed.
    `in_short` says how many there are.
    """
    rows = []
    marks = {}
    seeds = {}
    for path in paths:
        row = dict.fromkeys(COLUMNS, "") | {"file": Path(path).relative_to(folder).as_posix()}
        try:
            notebook = handin.read(path)
            found = handin.code(path, notebook)
            marks[row["file"]] = _mark(notebook)
            seeds |= {row["file"]: (found.source, found.seed)} if found.seed else {}
            row |= {"source": found.source, "parameters": found.parameters, "seed": found.seed, "executed": found.executed}
            row |= {
                "code": len(found.differences) if found.source else "all",
                "texts": len(found.texts) + len(found.missing),
            }
            row |= {} if found.executed else {"verdict": NOT_EXECUTED, "outputs": f"expected results, got {found.lack}"}
        except Exception as error:  # one file must not cost the table of the others
            row |= {"verdict": CANNOT, "outputs": _reason(error)}
        rows.append(row)
    for row in rows:
        row["equal to"] = ", ".join(_others(row["file"], marks))
        row["same seed as"] = ", ".join(_others(row["file"], seeds))
    return pd.DataFrame(rows, columns=COLUMNS, dtype=object)


def in_short(table):
    """The facts known without running anything, as a screen has room for them."""
    shown = table[["file", "source", "parameters", "seed", "code", "texts", "equal to"]]
    alike = table.groupby(["source", "seed"])["file"].transform("size")
    return shown.assign(**{"with this seed": alike.astype(object).where(table["same seed as"] != "", "")})


def foreign(table, folder):
    """Yield (file, handin.Code) of the notebooks that are to be run and could do what the project's do not: with lines that
    the source lacks, or Python files in the same folder."""
    for file in table.loc[table["verdict"] == "", "file"]:
        path = Path(folder) / file
        found = handin.code(path, handin.read(path))
        if found.lines or found.beside:
            yield file, found


def run(table, folder, enclosure, *, jobs=2, timeout=None):
    """The table with the columns that a run of each notebook fills: outputs (that differ), pictures (equal ones), "not
    compared" (outputs of the author's own, such as stderr), verdict.

    Notebooks that have a verdict already are not run.
    """
    table = table.copy()
    waiting = [index for index in table.index if not table.at[index, "verdict"]]
    tasks = [(Path(folder) / table.at[index, "file"], enclosure, timeout) for index in waiting]
    with ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("spawn")) as pool:
        found = tqdm(pool.map(_run, *zip(*tasks, strict=True)), total=len(tasks), unit="notebook") if tasks else ()
        for index, (outputs, pictures, own, verdict) in zip(waiting, found, strict=True):
            if verdict == SAME and (table.at[index, "code"] or table.at[index, "texts"] or own):
                verdict = OWN
            table.loc[index, ["outputs", "pictures", "not compared", "verdict"]] = outputs, pictures, own, verdict
    return table


def _others(name, marks):
    """The other names with the mark of a name, if it has one."""
    return [other for other, mark in marks.items() if other != name and mark == marks.get(name)]


def _run(path, enclosure, timeout):
    try:
        found = handin.outputs(path, handin.read(path), enclosure, timeout=timeout)
    except Exception as error:  # one file must not cost the table of the others
        return _reason(error), 0, 0, CANNOT
    return len(found.differences), found.equal_pictures, len(found.own), DIFFERS if found.differences else SAME


def _reason(error):
    return str(error) if isinstance(error, handin.CannotRun) else repr(error)


def _mark(notebook):
    """A hash of what a notebook says and shows."""
    cells = [(cell.cell_type, cell.source, cell.get("outputs")) for cell in notebook.cells]
    return hashlib.sha256(json.dumps(cells, sort_keys=True).encode()).hexdigest()
