"""Messages of commands that fail for an expected reason: one to four lines, with the remedy.

The commands raise exceptions whose message is the text; `words` is what the user reads of one.
"""

import errno
import os
import sys
from pathlib import Path

from study import ROOT


class NotebookFailed(RuntimeError):
    """A cell of a notebook failed, or its kernel; the message says which and why."""


class KernelDied(NotebookFailed):
    """The kernel ended by itself."""


def words(error):
    """The text of an exception for the user: files are named first, and errors of the system have a remedy."""
    if not isinstance(error, OSError) or error.errno not in SYSTEM:
        return str(error)
    return f"{error.filename2 or error.filename}: {SYSTEM[error.errno]}"


SYSTEM = {
    errno.EISDIR: "this is a folder, and a file is needed; name a file in it",
    errno.ENOENT: "there is no such file or folder; correct the path, or make it first",
    errno.ENOTDIR: "a part of this path is a file and no folder; correct the path",
    errno.EACCES: "you have no permission for this; choose another place, or change the permissions",
    errno.EPERM: "you have no permission for this; choose another place, or change the permissions",
    errno.EROFS: "nothing can be written there; choose another place",
}
"""Errors of the system on files, and what to do."""


def warn_of_other_checkout():
    """Print a warning if this code and the environment that runs it belong to different checkouts."""
    own = Path(sys.prefix).parent
    if (own / "study" / "__init__.py").is_file() and not own.samefile(ROOT):
        print(
            f"study: this runs the code of {ROOT}, with the Python of {own}; to run the code of {own}, start there, "
            "without PYTHONPATH",
            file=sys.stderr,
        )


def reader_gone():
    """The exit code of a command whose reader, such as head, has gone; what is left in stdout is dropped without a word."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 1


def last_begun(cells):
    """The last of the cells that were begun, [(index, cell)], for the user: its number from 1, a cell that papermill has put
    in not counted, and its first line."""
    if not cells:
        return "the start of the kernel"
    index, cell = cells[-1]
    number = index + 1 - sum("injected-parameters" in each.metadata.get("tags", ()) for _, each in cells)
    lines = cell.source.strip().splitlines() or ["empty"]
    return f"cell {number} ({lines[0][:80]})"


def cell_failed(path, where, name, message, kept):
    """The lines on a cell that raised an error: where, the error's own message, and where the traceback is kept. Of a longer
    message they have the first line, and the last, which says what to do."""
    first, *more = message.strip().splitlines() or ["no message"]
    last = f"\n  {'... ' if len(more) > 1 else ''}{more[-1].strip()}" if more else ""
    return f"{path}: {where} failed:\n  {name}: {first}{last}\n  {kept}"


def kernel_died(path, where, why):
    """The line on a kernel that ended by itself."""
    return f"{path}: Kernel died in {where}: {why}"
