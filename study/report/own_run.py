"""papermill's command line for own runs: with the values of the words, and with failures that are said in a few lines.

What can be known before is checked before the output is written: an earlier file of that name stays when a run is refused.
"""

import os
from pathlib import Path

import click
from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel
from nbclient.exceptions import CellTimeoutError, DeadKernelError
from papermill.cli import INPUT_PIPED, papermill
from papermill.engines import papermill_engines
from papermill.exceptions import PapermillExecutionError
from papermill.iorw import LocalHandler, papermill_io

from study import BUILD, ROOT, failures
from study.report import notebooks
from study.report.engine import EXECUTED, Engine, tags

MARK = "\N{ZERO WIDTH NO-BREAK SPACE}"
"""The byte order mark, which some editors put at the beginning of a file."""
GIVING = ("parameters", "parameters_raw", "parameters_file", "parameters_yaml", "parameters_base64")
"""The options of papermill that give values to parameters."""
MEMORY = "most often the computer has run out of memory; close other programs, or give it less to compute"
REPLACE = "name another with -k; python3 is always there: -k python3"
DEAD_KERNEL = 138
"""papermill's exit code for a kernel that died."""


class _Marked(LocalHandler):
    """Reads a notebook for papermill without the byte order mark at its beginning."""

    def read(self, path):
        return super().read(path).removeprefix(MARK)


class _Engine(Engine):
    """The engine, which says in words how a kernel failed: papermill's command would print a traceback.

    last_begun is, of a notebook that was run, the last cell that was begun: the one that failed, if one did.
    """

    last_begun = ""

    @classmethod
    def execute_managed_notebook(cls, nb_man, kernel_name, **options):
        path = options.get("input_path")
        try:
            super().execute_managed_notebook(nb_man, kernel_name, **options)
        except DeadKernelError as error:
            raise failures.KernelDied(failures.kernel_died(path, _last_begun(nb_man.nb), MEMORY)) from error
        except CellTimeoutError as error:
            limit = f"took longer than the {options['execution_timeout']} seconds of --execution-timeout; raise it"
            raise failures.NotebookFailed(f"{path}: {_last_begun(nb_man.nb)} {limit}") from error
        cls.last_begun = _last_begun(nb_man.nb)


def run(arguments):
    """Run papermill's command line; returns the exit code. Raises ValueError, OSError or NotebookFailed for what fails."""
    papermill_engines.register("kp", _Engine)
    try:
        with papermill.make_context("python -m study papermill", ["--engine", "kp", *arguments]) as context:
            source, target = _paths(context.params)
            if source and not context.params["help_notebook"]:
                _check(Path(source), Path(target) if target else None, context.params)
            papermill.invoke(context)
    except click.exceptions.Exit as ended:
        return ended.exit_code
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except PapermillExecutionError as error:
        kept = f"the whole traceback is in {target or 'the notebook that was written'}"
        text = failures.cell_failed(source or "the notebook", _Engine.last_begun, error.ename, error.evalue, kept)
        raise failures.NotebookFailed(text) from error
    return 0


def _paths(asked):
    """The paths of source and output, "" for one that is not a file of this computer, as papermill takes them."""
    source, target = asked["notebook_path"] or "", asked["output_path"]
    if INPUT_PIPED and source and not target:
        source, target = "", source
    return ("" if each == "-" or "://" in each else each for each in (source, target))


def _check(source, target, asked):
    """Raise ValueError or OSError unless a run can start."""
    notebook = notebooks.read(source)
    if notebooks.is_filled(notebook):
        raise ValueError(f"{source}: {EXECUTED}")
    if source.read_text(encoding="utf-8").startswith(MARK):
        papermill_io.register(str(source), _Marked())
    if target:
        _check_target(source, target)
    if any(asked[name] for name in GIVING):
        _check_tag(source, notebook)
    if not asked["prepare_only"]:
        _check_kernel(source, asked["kernel"] or notebook.metadata.get("kernelspec", {}).get("name"))


def _check_target(source, target):
    where = target.resolve()
    if where.is_relative_to(ROOT / "notebooks/executed") or (target.exists() and where.is_relative_to(ROOT / "notebooks")):
        another = os.path.relpath(BUILD / target.name)
        raise ValueError(f"{target}: the output would overwrite a file of the study; write to {another}")
    if target.is_dir():
        raise ValueError(f"{target}: the output is a folder, not a file; write to {target / source.name}")
    if "{" in str(target.parent):  # papermill puts values of parameters there
        return
    if not target.parent.is_dir():
        raise ValueError(f"{target}: the folder {target.parent} does not exist; create it first")
    if not os.access(target if target.exists() else target.parent, os.W_OK):
        raise ValueError(f"{target}: the output cannot be written there; choose another place, or change the permissions")


def _check_tag(source, notebook):
    """Values that are given stand behind the cell with the tag: without it, the defaults would win in silence."""
    places = [index for index, cell in enumerate(notebook.cells, start=1) if "parameters" in tags(cell)]
    if len(places) != 1:
        found = f"cells {', '.join(map(str, places))} have" if places else "no cell has"
        raise ValueError(
            f"{source}: parameters were given, and {found} the tag 'parameters'; give it to the one cell that has the "
            "defaults, or run the one in notebooks/"
        )


def _check_kernel(source, name):
    if not name:
        raise ValueError(f"{source}: the notebook names no kernel; {REPLACE}")
    try:
        KernelSpecManager().get_kernel_spec(name)
    except NoSuchKernel:
        raise ValueError(f"{source}: the notebook needs the kernel {name!r}, which is not installed; {REPLACE}") from None


def _last_begun(notebook):
    cells = enumerate(notebook.cells)
    return failures.last_begun([(index, cell) for index, cell in cells if cell.metadata.papermill.get("start_time")])
