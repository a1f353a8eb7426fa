"""Runs a notebook that was handed in once more, in a sandbox (study.report.sandbox).

The program in the sandbox (`main`) executes a copy without outputs, in a copy of the notebook's folder without the other
notebooks. Expressions in its texts get values if the notebook has them: papermill and JupyterLab alone fill in none. The
program reports on stdout, a line of JSON each: the cells that start, then the executed notebook, or what failed.
"""

import copy
import json
import os
import shutil
import sys
import tempfile
from pathlib import Path

import nbformat
import papermill
from nbclient.exceptions import DeadKernelError
from papermill.clientwrap import PapermillNotebookClient
from papermill.engines import papermill_engines
from papermill.exceptions import PapermillExecutionError

from study import ROOT
from study.report.engine import Client, Engine, TextError, tags
from study.report.hand_in import LARGEST, CannotRun, is_list, named
from study.report.notebooks import OwnKernelManager, is_filled
from study.report.source import captioned

FILES = 1000
SIZE = 256 * 2**20
"""So many files, and so many bytes of them, may lie in the folder of a notebook, notebooks aside."""


def cells(path, notebook, sandbox, timeout):
    """{place: cell} of a new run of the notebook at path. The list of statements that do not hold has the place of the
    notebook's own list, or the one after the last cell. Raises CannotRun."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as work:
        work = Path(work).resolve()
        copied = _without_results(notebook)
        copied.metadata["filled"] = is_filled(notebook)
        nbformat.write(copied, work / "copy.ipynb")
        _copy_folder(Path(path).resolve().parent, work / "folder")
        ended = sandbox.run(["-m", "study.report.rerun", str(work)], work, timeout)
    told = dict(pair for line in ended.out.split("\n") for pair in _told(line).items())
    if "done" in told:
        return _placed(told["done"], notebook)
    if "text" in told:
        raise CannotRun(told["text"])
    why = told.get("failed") or ended.stopped
    if told.get("cell") not in range(len(copied.cells)):
        last = (ended.err.strip().splitlines() or ["no output"])[-1]
        raise CannotRun(f"the run did not start: {why or f'exit code {ended.code}: {last}'}")
    place = next(cell.metadata.place for cell in copied.cells[told["cell"] :: -1] if "place" in cell.metadata)
    raise CannotRun(f"{named(notebook, place)}: {why or f'the program that runs it ended with exit code {ended.code}'}")


def _told(line):
    """The report in a line of the program in the sandbox; {} if it is none."""
    try:
        found = json.loads(line)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _without_results(notebook):
    """A copy as it was before its run: without outputs, values in texts, and metadata that change what is executed."""
    copied = copy.deepcopy(notebook)
    for place, cell in enumerate(copied.cells):
        if cell.cell_type == "code":
            cell.update(outputs=[], execution_count=None, metadata=nbformat.from_dict({"place": place}))
            continue
        cell.source = cell.metadata.get("words", cell.source)
        cell.metadata = nbformat.from_dict({"place": place, "tags": tags(cell)})
    listed = [each for cell in notebook.cells if is_list(cell) for each in cell.metadata.get("left_out", ())]
    copied.cells = [copied.cells[place] for place, cell in enumerate(notebook.cells) if not is_list(cell)]
    # A text that was left out stood after the caption, if the code cell before it has one.
    after_code = [0]
    for place, cell in enumerate(copied.cells, start=1):
        if cell.cell_type == "code":
            after_code.append(place)
        elif captioned(tags(cell)) and after_code[-1] == place - 1:
            after_code[-1] = place
    for each in reversed(listed):
        cell = nbformat.v4.new_markdown_cell(each["source"], metadata={"tags": each["tags"]})
        if notebook.nbformat_minor < 5:
            del cell["id"]
        copied.cells.insert(after_code[min(each["after"], len(after_code) - 1)], cell)
    return copied


def _copy_folder(folder, target):
    """Copy the contents of a notebook's folder: no other notebooks, nothing hidden, no links."""
    count = size = 0
    target.mkdir()
    for parent, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if name[0] != "."]
        for path in (Path(parent, name) for name in files if name[0] != "." and Path(name).suffix.lower() != ".ipynb"):
            if path.is_symlink() or not path.is_file():
                continue
            count += 1
            size += path.stat().st_size
            if count > FILES or size > SIZE:
                raise CannotRun(
                    f"its folder holds more than {FILES} files or {SIZE >> 20} MB; move the notebook, and the files that it "
                    "reads, into a separate folder"
                )
            copied = target / path.relative_to(folder)
            copied.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copied)


def _placed(executed, notebook):
    """{place: cell} of an executed copy; see `cells`."""
    try:
        executed = nbformat.reads(json.dumps(executed), as_version=4)
        nbformat.validate(executed)
        found = {cell.metadata["place"]: cell for cell in executed.cells if "place" in cell.metadata}
        kinds = {place: found[place].cell_type for place, cell in enumerate(notebook.cells) if cell.cell_type == "code"}
    except Exception as error:  # what a hostile program writes can fail in a dozen ways
        raise CannotRun(f"the run returned no notebook with the same cells ({type(error).__name__})") from None
    if set(kinds.values()) - {"code"}:
        raise CannotRun("the run returned no notebook with the same cells")
    if lists := list(filter(is_list, executed.cells)):
        place = next((place for place, cell in enumerate(notebook.cells) if is_list(cell)), len(notebook.cells))
        found[place] = lists[0]
    return found


class _Kernels(OwnKernelManager):
    """Starts kernels that do not import from their current folder."""

    @property
    def kernel_spec(self):
        spec = super().kernel_spec
        spec.argv = [*spec.argv, "--InteractiveShellApp.ignore_cwd=True"]
        return spec


class _Limited(PapermillNotebookClient):
    """Stops a notebook that shows too much: what it shows is kept in memory."""

    size = 0

    def process_message(self, message, *arguments):
        self.size += len(json.dumps(message["content"], default=str))
        if self.size > LARGEST:
            raise SystemExit(f"the output of the notebook is larger than {LARGEST >> 20} MB")
        return super().process_message(message, *arguments)


class _Filling(_Limited, Client):
    """Fills in values, and gives tables the form that their captions ask for, as `python -m study papermill` does."""


class _Engine(Engine):
    """The engine with a limit on what is shown."""

    @staticmethod
    def client(nb_man, **options):
        return (_Filling if nb_man.nb.metadata["filled"] else _Limited)(nb_man, **options)


def main(work):
    """Execute work/copy.ipynb, whose kernel starts in a copy of work/folder."""
    papermill_engines.register("kp", _Engine)
    # In the sandbox kp cannot keep compiled code next to its sources, and uses the home folder.
    for folder in (ROOT / "kp" / "__pycache__").glob("kp-*"):
        shutil.copytree(folder, Path(work, "own", ".cache", "kp", folder.name))
    shutil.copytree(Path(work, "folder"), Path(work, "own", "folder"))
    # What the kernel writes by itself goes to stderr.
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as out:
        os.dup2(2, 1)

        def tell(what, value):
            print(json.dumps({what: value}), file=out, flush=True)

        try:
            executed = papermill.execute_notebook(
                nbformat.read(Path(work, "copy.ipynb"), as_version=4),
                None,
                engine_name="kp",
                kernel_name="python3",
                cwd=str(Path(work, "own", "folder")),
                progress_bar=False,
                kernel_manager_class=_Kernels,
                on_cell_start=lambda cell, cell_index: tell("cell", cell_index),
            )
            tell("done", executed)
        except PapermillExecutionError as error:
            tell("failed", f"{error.ename}: {error.evalue}")
        except TextError as error:
            tell("text", str(error))
        except (DeadKernelError, SystemExit) as error:
            tell("failed", str(error))


if __name__ == "__main__":
    main(sys.argv[1])
