"""A folder of notebooks that were handed in, as one table: a row for each file, with what is its author's, and a verdict."""

import hashlib
import json
import shutil
import textwrap
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from study.report import check_code, check_outputs
from study.report.hand_in import CannotRun, read, visible

COLUMNS = (
    "file", "source", "parameters", "seed", "code", "texts", "executed", "outputs", "pictures", "not compared",
    "without values", "verdict", "equal to", "same seed as",
)  # fmt: skip
SAME = "reproduced"
OWN = "reproduced, with parts of the author's own"
DIFFERS = "not reproduced"
CANNOT = "cannot be run"
NOT_EXECUTED = "not executed"
NO_NOTEBOOK = "not a notebook"
"""Verdicts."""


@dataclass
class HandIn:
    """One file: its path, its row of the table, its check_code.Code, and what to compare it with the others by."""

    path: Path
    row: dict
    code: check_code.Code | None = None
    mark: str = ""

    @property
    def is_to_run(self):
        return not self.row["verdict"]

    @property
    def seed(self):
        """Its source and seed; None if it has none."""
        return (self.code.source, self.code.seed) if self.code and self.code.seed else None


def files(folder):
    """The files below a folder as HandIns, sorted, without hidden ones. Nothing is run; what is not to be run has a verdict.

    The columns code and texts count the places of the code, and the text cells, that are not the project's or are missing.
    Raises ValueError if there is no notebook.
    """
    paths = sorted(path for path in Path(folder).rglob("*") if not _is_hidden(path.relative_to(folder)))
    found = [_read(path, folder) for path in paths if not path.is_dir()]
    if not any(each.path.suffix.lower() == ".ipynb" for each in found):
        raise ValueError(f"{visible(folder)}: no notebooks in this folder; name one that has files *.ipynb")
    for each in found:
        others = [other for other in found if other is not each]
        equal = [other.row["file"] for other in others if each.mark and other.mark == each.mark]
        alike = [other.row["file"] for other in others if each.seed and other.seed == each.seed]
        each.row |= {"equal to": ", ".join(equal), "same seed as": ", ".join(alike)}
    return found


def unseen(folder):
    """Names of what `files` passes over and notebooks can be in: hidden notebooks, and links to folders."""
    paths = [path for path in sorted(Path(folder).rglob("*")) if not _is_hidden(path.parent.relative_to(folder))]
    hidden = {path for path in paths if path.name.startswith(".") and path.suffix.lower() == ".ipynb"}
    hidden = {path for path in hidden if not path.name.startswith("._")}  # macOS keeps attributes of files in these
    return [visible(path.relative_to(folder)) for path in paths if path in hidden or (path.is_symlink() and path.is_dir())]


def require_replaceable(target):
    """Raise ValueError if there is a file at this path that is not an earlier table of hand-ins."""
    header = ",".join(COLUMNS)
    if target.is_file() and target.read_bytes()[: len(header)] == header.encode():
        return
    if target.is_symlink() or target.exists():
        raise ValueError(
            f"--target {target}: this file would be overwritten, and it is not a table of hand-ins; name another file"
        )


def table(hand_ins):
    """The rows as a table whose texts no terminal obeys and no spreadsheet computes."""
    rows = [{name: _harmless(value) for name, value in each.row.items()} for each in hand_ins]
    return pd.DataFrame(rows, columns=COLUMNS, dtype=object)


def in_short(hand_ins):
    """What is known without running anything, as text: the counts and the name of each file, and below it the rest, in lines
    that are as long as the terminal is wide."""
    lines = ["code  texts  file"]
    indent = " " * len("code  texts  ")
    options = {"initial_indent": indent, "subsequent_indent": indent, "break_long_words": False, "break_on_hyphens": False}
    for each, row in zip(hand_ins, table(hand_ins).to_dict("records"), strict=True):
        alike = sum(other.seed == each.seed for other in hand_ins)
        seed = f"seed {row['seed']}" + f", as {alike} files have" * (alike > 1) if row["seed"] else ""
        equal = f"equal to {row['equal to']}" if row["equal to"] else ""
        about = filter(None, [row["source"], row["parameters"], seed, equal, row["verdict"]])
        lines.append(f"{row['code']:>4}  {row['texts']:>5}  {row['file']}")
        lines += textwrap.wrap("; ".join(about), shutil.get_terminal_size().columns, **options)
    return "\n".join(lines)


def run(hand_ins, sandbox, *, jobs, timeout):
    """Run the hand-ins without a verdict and fill in their rows; yields (hand-in, seconds) as they end."""
    pool = ThreadPoolExecutor(jobs)
    started = [pool.submit(_run, each, sandbox, timeout) for each in hand_ins if each.is_to_run]
    try:
        for each in as_completed(started):
            yield each.result()
    finally:  # an interrupt stops what still runs
        pool.shutdown(wait=False, cancel_futures=True)
        sandbox.end()


def _is_hidden(path):
    return any(part.startswith(".") for part in path.parts)


def _read(path, folder):
    found = HandIn(path, dict.fromkeys(COLUMNS, "") | {"file": visible(path.relative_to(folder).as_posix())})
    if path.suffix.lower() != ".ipynb":
        found.row["verdict"] = f"{NO_NOTEBOOK}: {path.suffix or path.name}"
        return found
    try:
        notebook = read(path)
        code = check_code.code(notebook)
    except Exception as error:  # one bad file must not stop the rest
        found.row |= {"verdict": CANNOT, "outputs": _reason(error)}
        return found
    found.code = code
    found.mark = _mark(notebook)
    found.row |= {
        "source": code.source, "parameters": code.parameters, "seed": code.seed, "executed": code.executed,
        "code": len(code.differences) if code.source else "all", "texts": len(code.texts) + len(code.missing),
    }  # fmt: skip
    if not code.executed:
        found.row |= {"verdict": NOT_EXECUTED, "outputs": code.lack}
    return found


def _run(hand_in, sandbox, timeout):
    start = time.monotonic()
    try:
        found = check_outputs.outputs(hand_in.path, read(hand_in.path), sandbox, timeout=timeout)
    except Exception as error:  # one bad file must not stop the rest
        hand_in.row |= {"verdict": CANNOT, "outputs": _reason(error)}
    else:
        verdict = SAME if hand_in.code.is_the_projects and not found.own else OWN
        hand_in.row |= {
            "outputs": len(found.differences), "pictures": found.equal_pictures, "not compared": len(found.own),
            "without values": found.unfilled, "verdict": DIFFERS if found.differences else verdict,
        }  # fmt: skip
    return hand_in, time.monotonic() - start


def _reason(error):
    return str(error) if isinstance(error, CannotRun) else repr(error)


def _mark(notebook):
    """A hash of what a notebook says and shows."""
    cells = [(cell.cell_type, cell.source, cell.get("outputs")) for cell in notebook.cells]
    return hashlib.sha256(json.dumps(cells, sort_keys=True).encode()).hexdigest()


def _harmless(value):
    """A value without control characters; a text that a spreadsheet would take for a formula begins with an apostrophe."""
    if not isinstance(value, str):
        return value
    text = visible(value)
    return f"'{text}" if text.startswith(("=", "+", "-", "@")) else text
