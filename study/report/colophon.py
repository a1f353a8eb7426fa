"""The colophon of every document: whose text, code, parameters and cells it has. No option leaves it out."""

import subprocess
import tomllib
from pathlib import Path

from study import ROOT
from study.words import listed


def words(paths):
    """Its text, in Markdown; paths: the notebooks that are not the project's own executed copies."""
    text = [f"**Colophon.** Text, figures and code: *Kernel perceptrons: a reproducible study*, {version()}"]
    if not paths:
        return f"{text[0]}, computed with the parameters of the study. Title and authors were set by whoever built this PDF."
    text[0] += ". The author's own, besides the title page:"
    return "\n\n".join([*text, "\n".join(f"- {_of(path)}" for path in paths)])


def version():
    """The version of the project and the commit of the checkout, as far as it is known."""
    number = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    command = ["git", "-C", str(ROOT), "describe", "--always", "--dirty=, with uncommitted changes"]
    try:
        found = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return f"version {number}"
    return f"version {number}, commit {found}"


def _of(path):
    """Return the parts of a notebook that are its author's. Raises ValueError for one that was not executed."""
    from study.report import check_code, hand_in  # these load the engine of notebooks, which few documents need

    try:
        found = check_code.code(hand_in.read(path))
    except hand_in.CannotRun as error:
        raise ValueError(f"expected an executed notebook, got {error}") from None
    if found.without_result:
        raise ValueError(f"{path}: expected an executed notebook, but {found.lack}")
    name = f"`{Path(path).name}`"
    if not found.source:
        return f"{name}: all of it; it is not a run of a notebook of the study."
    kinds = (("of code", _cells(found.differences)), ("of text", _cells(found.texts)))
    cells = [f"{len(numbers)} {what} ({', '.join(numbers)})" for what, numbers in kinds if numbers]
    missing = len(found.differences) - len(_cells(found.differences))
    left_out = f"; cells of code left out: {missing}" if missing else ""
    left_out += f"; text cells left out: {len(found.missing)}" if found.missing else ""
    return (
        f"{name}, a run of `notebooks/{found.source}.ipynb`: {found.parameters or 'no parameter'}; cells added or changed: "
        f"{listed(cells)}{left_out}."
    )


def _cells(findings):
    """The numbers, from 1, of the cells that findings of study.report.check_code begin with."""
    return [each.split()[1] for each in findings if each.startswith("cell ")]
