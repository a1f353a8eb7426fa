"""Compiled functions, kept on disk for exactly the sources that they were compiled from.

Numba's own cache notices no change of a function called from another file. Here the folder of the cache is named by a hash
of all sources of the package: after any change all is compiled again."""

import contextlib
import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from numba import config, njit

PACKAGE = Path(__file__).parent
UNUSED = 24 * 60 * 60  # seconds after which a folder of other sources is removed; another process may use it until then


def sources() -> str:
    """A hash of all sources of the package as they are on disk, and of Numba's version."""
    code = hashlib.sha256(numba.__version__.encode())
    for path in sorted(PACKAGE.glob("*.py")):
        code.update(path.name.encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return code.hexdigest()


SOURCES = sources()
"""The same as they were when the package was imported."""


def cache_folder() -> Path | None:
    """A writable folder for the machine code of these sources, or None: in NUMBA_CACHE_DIR if that is set, else beside the
    byte code, else in the user's cache. Not in folders for everyone, such as /tmp: what is read from a cache is run."""
    own = Path(config.CACHE_DIR) if config.CACHE_DIR else PACKAGE / "__pycache__"
    users = Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"))
    for parent in (own, users / "kp"):
        folder = parent / f"kp-{SOURCES[:16]}"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=folder).close()
            os.utime(folder)
            for other in parent.glob("kp-" + 16 * "[0-9a-f]"):
                with contextlib.suppress(FileNotFoundError):  # another process was faster
                    if time.time() - other.stat().st_mtime > UNUSED:
                        shutil.rmtree(other, ignore_errors=True)
            return folder
        except OSError:
            continue
    return None


_FOLDER = cache_folder()


def compiled(function: Callable | None = None, **options: Any) -> Any:
    """Decorator: compile a function with Numba, without the interpreter's lock; options are those of `numba.njit`."""
    if function is None:
        return lambda function: compiled(function, **options)
    before = config.CACHE_DIR
    try:
        config.CACHE_DIR = str(_FOLDER or before)
        return njit(nogil=True, cache=_FOLDER is not None, **options)(function)
    finally:
        config.CACHE_DIR = before
