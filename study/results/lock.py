"""One run at a time: a lock that ends with its holders, however they end, so that none is ever left behind."""

import os
from pathlib import Path

FAR = 2**30
"""Where the byte stands that is locked on Windows: behind the text, which others may read."""


def hold(path, what, *, wait=False):
    """Lock the file at path until the open file that is returned is closed, or this process and its forks have ended.

    Where another process has the lock, wait for it, or raise RuntimeError: what says what cannot be done twice.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    file = open(path, "a+", encoding="ascii")
    try:
        _lock(file, wait)
    except OSError:
        file.seek(0)
        holder = file.read().strip() or "unknown"
        file.close()
        raise RuntimeError(f"{what}, and process {holder} does so already; wait until it has ended, or end it") from None
    file.truncate(0)
    file.write(str(os.getpid()))
    file.flush()
    return file


def _lock(file, wait):
    """The operating system's lock of an open file. Raises OSError if another process has it and wait is false."""
    try:
        import fcntl
    except ImportError:  # Windows
        import msvcrt

        file.seek(FAR)
        msvcrt.locking(file.fileno(), msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)
    else:
        fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
