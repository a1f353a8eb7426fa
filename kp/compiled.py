"""Compiled functions, kept on disk for exactly the sources that they were compiled from.

Numba's own cache notices no change of a function called from another file. Here the folder of the cache is named by a hash
of all sources of the package: after any change all is compiled again."""

import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import Any

import numba
from numba import config, njit

PACKAGE = Path(__file__).parent
ONE_AT_A_TIME = Lock()
PLAIN = ("C", "W")
"""Demands of `numpy.require`: by rows and writable. For any other array a function would be compiled once more."""


def sources() -> str:
    """A hash of all sources of the package as they are on disk, and of Numba's version."""
    code = hashlib.sha256(numba.__version__.encode())
    for path in sorted(PACKAGE.glob("*.py")):
        code.update(path.name.encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return code.hexdigest()


SOURCES = sources()
"""The same as they were when the package was imported."""


def cache_folder() -> Path | None:
    """A writable folder for the machine code of these sources, or None: in NUMBA_CACHE_DIR if that is set, else next to the
    byte code, else in the user's cache. Not in folders for everyone, such as /tmp: what is read from a cache is run."""
    for parent in _parents():
        folder = parent / f"kp-{SOURCES[:16]}"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=folder).close()
            return folder
        except OSError:
            continue
    return None


def _parents() -> tuple[Path, Path]:
    own = Path(config.CACHE_DIR) if config.CACHE_DIR else PACKAGE / "__pycache__"
    users = Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"))
    return own, users / "kp"


def clean() -> list[Path]:
    """Remove the machine code of other sources than these, which `python -m kp.compiled` does; returns the folders."""
    pattern = "kp-" + 16 * "[0-9a-f]"
    found = [folder for parent in _parents() for folder in parent.glob(pattern) if folder.name != f"kp-{SOURCES[:16]}"]
    for folder in found:
        shutil.rmtree(folder, ignore_errors=True)
    return found


def compiled(function: Callable | None = None, **options: Any) -> Any:
    """Decorator: compile a function with Numba, without the interpreter's lock; options are those of `numba.njit`.

    The folder for its machine code is made when the function is first compiled, or read from there, and not before.
    """
    if function is None:
        return lambda function: compiled(function, **options)
    dispatcher = njit(nogil=True, no_cfunc_wrapper=True, **options)(function)
    if config.DISABLE_JIT:
        return dispatcher
    compile_now = dispatcher.compile

    def compile_and_keep(signature: Any) -> Any:
        with ONE_AT_A_TIME:  # a thread that came past it would compile what is on disk
            if dispatcher.compile is compile_and_keep:
                _keep(dispatcher)
                dispatcher.compile = compile_now
        return compile_now(signature)

    dispatcher.compile = compile_and_keep
    return dispatcher


def _keep(dispatcher: Any) -> None:
    """Let the machine code of a compiled function be kept, in the folder of these sources."""
    folder = cache_folder()
    if folder is None:
        return
    before = config.CACHE_DIR
    try:
        config.CACHE_DIR = str(folder)
        dispatcher.enable_caching()
    finally:
        config.CACHE_DIR = before


if __name__ == "__main__":
    print(*clean(), sep="\n")
