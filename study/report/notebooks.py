"""Notebooks as files: execute one with parameters, and bring the result into the one form that is committed.

Two executions of the same notebook with the same parameters give the same bytes on one machine, and, with the versions of
the lock, on x86-64 processors with AVX2 and one libm. An executed notebook carries a fingerprint of all that it was made
from, so that it can be held against the code without running it.
"""

import copy
import json
import os
import re
import signal
import site
import sys
import tempfile
from functools import cache
from pathlib import Path

import nbformat
from ipykernel.kernelspec import RESOURCES, get_kernel_dict
from jupyter_client import AsyncKernelManager
from jupyter_client.kernelspec import NATIVE_KERNEL_NAME, KernelSpec

from study import ROOT, failures
from study.reading import NOTES
from study.report import forked
from study.report.origin import came_out, made_from
from study.results import store

METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
LINKS = "links"
"""The tag of the cell at the head of an executed notebook with links to its neighbours."""
FILES = 256
"""So many open files are enough for a notebook."""
MACHINE_PATH = re.compile(r"/home/\w|/Users/\w|/root/|/tmp/|/private/var/|site-packages|[A-Z]:\\+Users\\")


def is_filled(notebook):
    """Whether the expressions in its texts have values, which papermill and JupyterLab alone do not fill in."""
    return any("words" in cell.metadata for cell in notebook.cells)


def read(path):
    """The notebook at path in format 4, with or without a byte order mark.

    Raises ValueError, which says what is wrong and what to do, for a file that is missing or no notebook.
    """
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise ValueError(f"{path}: there is no such notebook; correct the path (the study's are in notebooks/)") from None
    except UnicodeDecodeError:
        raise ValueError(f"{path}: not a notebook: the file is not text in UTF-8; name a file *.ipynb") from None
    if not text.strip():
        raise ValueError(f"{path}: the file is empty; save the notebook again, or use another copy")
    if conflict := re.search(r"^(<<<<<<< |>>>>>>> )", text, re.MULTILINE):
        line = text.count("\n", 0, conflict.start()) + 1
        raise ValueError(
            f"{path}: the file has conflict marks of git (line {line}); keep one side, with 'git checkout --ours FILE'"
        )
    try:
        plain = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(
            f"{path}: not a notebook: the file is not JSON, or was cut short ({error}); use another copy"
        ) from None
    number = plain.get("nbformat") if isinstance(plain, dict) else None
    if isinstance(number, int) and number > nbformat.current_nbformat:
        remedy = "save it in that format, or update the package nbformat"
        raise ValueError(f"{path}: notebook format {number} is not supported (4 is the newest); {remedy}")
    try:
        found = nbformat.reads(text, as_version=4)
        if any(not isinstance(cell.source, str) for cell in found.cells):
            raise TypeError("a cell without text")
    except Exception as error:  # a text that is no notebook can fail in a dozen ways
        raise ValueError(f"{path}: not a notebook ({type(error).__name__}: {str(error)[:100]}); use another copy") from None
    return found


def execute(source, target, parameters, links=""):
    """Execute the notebook source with parameters (name -> value), and write the cleaned result to target, with a first cell
    of links to its neighbours, if there are any.

    The kernel's current folder is that of source. target appears only when every cell has run and the result passes clean;
    until then an earlier target is left as it was. A failed run is kept next to it as <target>.failed.ipynb.
    Raises ValueError for a parameter that source does not declare, RuntimeError if a cell fails or the kernel ends,
    ValueError if the outputs cannot be committed.
    """
    import papermill
    from papermill.engines import papermill_engines
    from papermill.exceptions import PapermillExecutionError

    from study.report.engine import Engine

    papermill_engines.register("kp", Engine)
    source = Path(source)
    target = Path(target)
    notebook = read(source)
    _check_parameters(source, notebook, parameters)
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_suffix(f".{os.getpid()}.part.ipynb")
    failed = target.with_suffix(".failed.ipynb")
    notes = part.with_suffix("")
    manager = type("Manager", (OwnKernelManager,), {"exit_code": None})
    begun = []
    os.environ[NOTES] = str(notes.resolve())  # the kernel inherits it
    try:
        executed = papermill.execute_notebook(
            notebook,
            str(part),
            parameters,
            engine_name="kp",
            kernel_name="python3",
            cwd=str(source.parent),
            progress_bar=False,
            request_save_on_cell_execute=False,
            start_timeout=300,
            iopub_timeout=300,
            kernel_manager_class=manager,
            on_cell_start=lambda cell, cell_index: begun.append((cell_index, cell)),
        )
        if links:
            executed.cells.insert(0, nbformat.v4.new_markdown_cell(links, metadata={"tags": [LINKS]}))
        executed = clean(executed)
        noted = forked.READ.union(notes.read_text(encoding="utf-8").splitlines() if notes.exists() else ())
        executed.metadata["made_from"] = nbformat.from_dict(made_from(source, parameters, noted))
        executed.metadata["came_out"] = nbformat.from_dict(came_out(json.loads(nbformat.writes(executed))))
        nbformat.write(executed, part)
        os.replace(part, target)
        failed.unlink(missing_ok=True)
    except PapermillExecutionError as error:
        os.replace(part, failed)
        kept = f"the whole traceback is in {failed}{'' if error.evalue else limits()}"
        raise RuntimeError(
            failures.cell_failed(source, failures.last_begun(begun), error.ename, error.evalue, kept)
        ) from error
    except RuntimeError as error:
        if manager.exit_code is None:
            raise
        raise RuntimeError(failures.kernel_died(source, failures.last_begun(begun), ending(manager.exit_code))) from error
    except OSError as error:
        store.explain(error, target)
        raise
    except ValueError as error:
        if not part.exists():
            raise ValueError(f"{source}: {error}") from error
        os.replace(part, failed)
        raise ValueError(f"{source}: {error}; read {failed}") from error
    finally:
        del os.environ[NOTES]
        part.unlink(missing_ok=True)
        notes.unlink(missing_ok=True)


class OwnKernelManager(AsyncKernelManager):
    """Starts kernels; as python3 this Python's, regardless of what JUPYTER_PATH or the user's own folders call so.

    exit_code is, on its class, that of a kernel that was found to have ended, or None.
    """

    exit_code = None

    @property
    def kernel_spec(self):
        own = self.kernel_name == NATIVE_KERNEL_NAME
        return KernelSpec(resource_dir=RESOURCES, **get_kernel_dict()) if own else super().kernel_spec

    async def _async_interrupt_kernel(self):
        """Not before a shutdown: a kernel that is just finishing its last message reports the interruption as an error."""
        if not self.shutting_down:
            await super()._async_interrupt_kernel()

    async def is_alive(self):
        if self.has_kernel and (code := await self.provisioner.poll()) is not None:
            type(self).exit_code = code
        return await super().is_alive()


def ending(exit_code):
    """How a process ended, in words, with what is likely to be the reason."""
    if exit_code >= 0:
        return f"it ended with exit code {exit_code}{limits()}"
    name = signal.Signals(-exit_code).name
    likely = ", most likely by the system, because memory ran out; close other programs, then run the same command again"
    return f"ended by {name}{likely if name == 'SIGKILL' else ''}{limits()}"


def limits():
    """Return limits of the shell that may be too low for processes of notebooks, as a piece of a sentence; mostly ""."""
    try:
        import resource
    except ImportError:  # Windows
        return ""
    files, memory = (resource.getrlimit(which)[0] for which in (resource.RLIMIT_NOFILE, resource.RLIMIT_AS))
    found = ""
    if files < FILES:
        found += f"; only {files} files may be open at a time: allow more with 'ulimit -n {FILES}'"
    if memory != resource.RLIM_INFINITY:
        found += f"; memory is limited to {memory / 2**30:.1f} GiB: allow more with 'ulimit -v unlimited'"
    return found


def clean(notebook):
    """A copy of notebook in the form that is committed: no timings, no paths, ids 0, 1, 2 ..., no metadata but tags,
    the source of texts with values, their numbers, and what was left out. JupyterLab folds what prepares, in an executed
    copy.

    The records of what it was made from and of what came out stay.
    Outputs and execution counts are kept; pieces of one text stream are joined. clean(clean(x)) == clean(x).
    Raises ValueError if a cell wrote to stderr or a source or output shows a path of one machine.
    """
    notebook = copy.deepcopy(notebook)
    records = {name: notebook.metadata[name] for name in ("made_from", "came_out") if notebook.metadata.get(name)}
    notebook.metadata = nbformat.from_dict(METADATA | records)
    notebook.nbformat = 4
    notebook.nbformat_minor = 5
    for index, cell in enumerate(notebook.cells):
        cell.id = str(index)
        kept = {name: cell.metadata[name] for name in ("tags", "words", "values", "left_out") if cell.metadata.get(name)}
        cell.metadata = nbformat.from_dict(kept)
        if cell.cell_type == "code":
            cell.outputs = joined(cell.outputs)
            if cell.execution_count and "setup" in kept.get("tags", ()):
                cell.metadata["jupyter"] = {"source_hidden": True}
        _check_texts(index, cell)
    return notebook


def tidy(path):
    """Rewrite the notebook source at path in the form that is committed: cleaned, without outputs and counts."""
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.update(outputs=[], execution_count=None)
    nbformat.write(clean(notebook), path)


def _check_parameters(source, notebook, parameters):
    import papermill

    try:
        known = papermill.inspect_notebook(notebook)
    except ValueError as error:
        raise ValueError(f"{source}: {error}") from error
    if unknown := sorted(set(parameters) - set(known)):
        raise ValueError(f"{source}: expected parameters among {sorted(known)}, got {unknown}; correct the name")


def joined(outputs):
    """Outputs with neighbouring pieces of the same stream put together: how a stream is cut is chance."""
    found = []
    for output in outputs:
        last = found[-1] if found else {}
        if output.output_type == "stream" and last.get("name") == output.name:
            last.text += output.text
        else:
            found.append(output)
    return found


def _check_texts(index, cell):
    outputs = cell.get("outputs", [])
    for output in outputs:
        if output.get("name") == "stderr":
            raise ValueError(
                f"cell {index}: expected nothing on stderr, got {output.text[:200]!r}; remove the cause of the warning"
            )
    texts = [cell.source]
    for output in outputs:
        texts += [output.get("text", ""), *output.get("traceback", [])]
        texts += [str(value) for kind, value in output.get("data", {}).items() if not kind.startswith("image/")]
    for text in texts:
        if path := _machine_path(text):
            raise ValueError(
                f"cell {index}: expected text that is the same on every machine, got the path {path!r} in "
                f"{text[:200]!r}; show names relative to the project"
            )


@cache
def _own_paths():
    """The folders of this machine that a text might name."""
    own = {str(Path.home()), str(ROOT), tempfile.gettempdir(), sys.prefix, *site.getsitepackages()}
    return {path for path in own if len(path) > 1}


def _machine_path(text):
    """The first piece of text that names a folder of this machine, or looks like one of another's; else None."""
    found = [path for path in _own_paths() if path in text and re.search(re.escape(path) + r"\b", text)]
    if match := MACHINE_PATH.search(text):
        found.append(match.group())
    return min(found, default=None)
