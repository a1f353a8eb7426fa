"""Compiled functions, with a cache of their machine code on disk that cannot stop a computation.

Numba's own cache does not notice that a function in another file has changed, and raises an error if one of its files is
damaged or cannot be written. Here the folder of the cache is named by a hash of all sources of the package, so any change
compiles everything again. After any error of the cache the function is compiled, and a damaged file is replaced.
"""

import hashlib
import os
import pickle
import shutil
import sys
import uuid
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numba
from numba import config, njit
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

_PACKAGE = Path(__file__).parent
PLAIN = ("C", "W")
"""Demands of `numpy.require`: by rows and writable. For any other array a function would be compiled once more."""
_DIGEST = hashlib.sha256().digest_size


def sources() -> str:
    """A hash of all sources of the package as they are on disk, and of Numba's version."""
    code = hashlib.sha256(numba.__version__.encode())
    for path in sorted(_PACKAGE.glob("*.py")):
        code.update(path.name.encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return code.hexdigest()


SOURCES = sources()
"""The same as they were when the package was imported."""


def parents() -> list[Path]:
    """The folders in which the cache can be: NUMBA_CACHE_DIR if set, else next to the byte code; then the user's cache."""
    # None is world-writable, as /tmp is, because cached code is executed.
    own = Path(config.CACHE_DIR) if config.CACHE_DIR else _PACKAGE / "__pycache__"
    users = Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"))
    return [own, users / "kp"] if users.is_absolute() else [own]


def folders() -> list[Path]:
    """The same for the code of these sources: the first that can be written has it."""
    return [parent / f"kp-{SOURCES[:16]}" for parent in parents()]


def has_cache() -> bool:
    """Whether there is compiled code of these sources already."""
    return any(folder.is_dir() for folder in folders())


def clear_cache() -> list[Path]:
    """Remove the compiled code of these sources and of all earlier ones; returns the folders that were removed."""
    found = [folder for parent in parents() for folder in sorted(parent.glob("kp-" + 16 * "[0-9a-f]"))]
    found = [folder for folder in found if folder.is_dir() and not folder.is_symlink()]
    for folder in found:
        shutil.rmtree(folder)
    return found


def share() -> None:
    """Copy compiled code from next to the byte code to the user's cache, and back: other copies of the sources find it."""
    # Where NUMBA_CACHE_DIR is set, all copies have that folder in common.
    for path in () if config.CACHE_DIR else [path for folder in folders() for path in sorted(folder.glob("*.nbc"))]:
        for folder in folders():
            if not (folder / path.name).exists():
                with suppress(OSError):
                    _write(folder / path.name, path.read_bytes())


class Cache(NullCache):
    """The machine code of one function on disk, a file for each signature: Numba asks it before and after it compiles."""

    # Numba holds its compiler lock while it does so, and files are replaced in one step: threads and processes are safe.

    made = 0
    """Number of functions that this process compiled."""
    written = 0
    """Number of those that are now on disk."""

    def __init__(self, function: Callable) -> None:
        code = function.__code__
        self.name = function.__name__
        self.key: tuple | None = None
        if not function.__closure__ and os.path.isfile(code.co_filename):
            source = hashlib.sha256(Path(code.co_filename).read_bytes()).hexdigest()
            self.key = (source, function.__module__, function.__qualname__, code.co_firstlineno, sys.version)

    def load_overload(self, signature: Any, context: Any) -> Any:
        """The compiled function from the first file that is whole, or None, which makes Numba compile it."""
        context.refresh()
        for path in self._paths(signature, context.codegen()):
            with suppress(Exception):
                content = path.read_bytes()
                if hashlib.sha256(content[_DIGEST:]).digest() == content[:_DIGEST]:  # LLVM crashes on damaged code
                    return CompileResult._rebuild(context, *pickle.loads(content[_DIGEST:]))
        return None

    def save_overload(self, signature: Any, result: Any) -> None:
        """Write a compiled function to the first folder in which that is possible, if there is one."""
        Cache.made += 1
        if result.lifted or result.library.has_dynamic_globals:
            return
        for path in self._paths(signature, result.codegen):
            with suppress(Exception):
                content = dumps(result._reduce())
                _write(path, hashlib.sha256(content).digest() + content)
                Cache.written += 1
                return

    def _paths(self, signature: Any, codegen: Any) -> Iterator[Path]:
        if self.key is not None:
            key = hashlib.sha256(repr((self.key, str(signature), codegen.magic_tuple())).encode()).hexdigest()
            for folder in folders():
                yield folder / f"{self.name}-{key[:32]}.nbc"


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(f".{uuid.uuid4().hex}.part")
    try:
        part.write_bytes(content)
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def compiled(function: Callable | None = None, **options: Any) -> Any:
    """Decorator: a function is compiled, or read from the cache, when it is first called; options are those of `njit`."""
    if function is None:
        return lambda function: compiled(function, **options)
    dispatcher = njit(nogil=True, no_cfunc_wrapper=True, **options)(function)
    if not config.DISABLE_JIT:
        dispatcher._cache = Cache(function)
    return dispatcher
