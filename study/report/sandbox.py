"""Runs untrusted code in a sandbox made by bubblewrap (the command bwrap, for Linux).

In the sandbox there is no network, every file is read-only, and /tmp, /run, build/ and the home folder are empty, except for
the project, Python and the datasets. Its processes see each other only, and end with it. Without bubblewrap the code runs
unprotected: it can do what its user can. Both ways it gets a clean environment and home folder, and has a deadline.
"""

import functools
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass, field
from pathlib import Path

from study import BUILD, ROOT, SAME_BYTES

BWRAP = "bwrap --unshare-all --die-with-parent --cap-drop ALL --ro-bind / / --dev /dev --proc /proc".split()
KEPT = ("PATH", "LANG", "LC_ALL", "OPENBLAS_NUM_THREADS", "LOKY_MAX_CPU_COUNT", "SYSTEMROOT", *SAME_BYTES)
"""Environment variables that a program keeps, besides KP_DATA."""
LARGEST = 256 * 2**20
"""Bytes that a program may write to stdout."""
TAIL = 2**16
"""Bytes that are kept of stderr: the last ones."""


@dataclass(frozen=True)
class Ended:
    """A program that has ended: its stdout, the end of its stderr, its exit code, and why it was stopped, if it was."""

    out: str
    err: str
    code: int
    stopped: str


@dataclass(frozen=True)
class Sandbox:
    """Runs programs, with protection or without."""

    protected: bool
    running: set = field(default_factory=set, compare=False, repr=False)

    def __str__(self):
        return "in a sandbox (bubblewrap)" if self.protected else "unprotected"

    @property
    def meaning(self):
        """The powers of a program, as a clause."""
        if self.protected:
            return "it has no network and can change no file, but it can read most files that you can read"
        return "it can read, change, delete and send away whatever you can"

    def run(self, command, work, timeout):
        """Run a command of this Python (the list of its arguments) in the project's folder, for at most `timeout` seconds.

        work is a folder that the program can read; in work/own, its home, it can write. Returns Ended.
        """
        own = work / "own"
        own.mkdir(exist_ok=True)
        command = [*(_bwrap(work) if self.protected else ()), sys.executable, *command]
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env=_environment(own) | ({"KP_OFFLINE": "1"} if self.protected else {}),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        self.running.add(process)
        out, err = bytearray(), bytearray()
        readers = [
            threading.Thread(target=_read_head, args=(process, out), daemon=True),
            threading.Thread(target=_read_tail, args=(process.stderr, err), daemon=True),
        ]
        stopped = ""
        try:
            for each in readers:
                each.start()
            process.wait(timeout)
        except subprocess.TimeoutExpired:
            stopped = f"it was still running after {timeout} seconds; allow more with --timeout (make: TIMEOUT=)"
        finally:
            _kill(process)
            self.running.discard(process)
        for each in readers:  # without a sandbox, another process may hold the pipes open
            each.join(5)
        if len(out) > LARGEST:
            stopped = f"its results are larger than {LARGEST >> 20} MB"
        return Ended(*(bytes(each).decode(errors="replace") for each in (out, err)), process.returncode, stopped)

    def end(self):
        """Stop the programs that still run."""
        for each in list(self.running):
            _kill(each)


@functools.cache
def obstacle():
    """Why there is no sandbox on this computer, in one line; "" if there is one."""
    if not shutil.which(BWRAP[0]):
        return "there is no sandbox, because bubblewrap is not installed (on Debian and Ubuntu: apt install bubblewrap)"
    with tempfile.TemporaryDirectory() as work:
        done = Sandbox(protected=True).run(["-c", "print('ready')"], Path(work).resolve(), 60)
    if done.out.strip() == "ready":
        return ""
    last = (done.err.strip().splitlines() or [done.stopped or f"exit code {done.code}"])[-1]
    return f"there is no sandbox, because bubblewrap does not work on this computer ({last})"


def _environment(home):
    """The environment of a program whose home folder and folder of temporary files is `home`."""
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    if os.environ.get("KP_DATA"):
        kept["KP_DATA"] = os.path.abspath(os.environ["KP_DATA"])
    # No current folder on Python's path: what lies next to a notebook cannot be imported unseen.
    python = {"PYTHONPATH": str(ROOT), "PYTHONSAFEPATH": "1"}
    return kept | python | dict.fromkeys(("HOME", "USERPROFILE", "TMPDIR", "TEMP"), str(home))


def _bwrap(work):
    """The command line of bubblewrap for a program with this work folder."""
    BUILD.mkdir(exist_ok=True)
    hidden = {Path(each).resolve() for each in ("/tmp", "/run", tempfile.gettempdir(), Path.home())} - {Path("/")}
    hidden = {each for each in hidden if each.is_dir()}
    needed = [ROOT, sys.prefix, sys.base_prefix, os.environ.get("KP_DATA"), work]
    needed = {path for each in needed if each for path in (Path(os.path.abspath(each)), Path(each).resolve())}
    shown = {each for each in needed if each.is_dir() and any(each.is_relative_to(folder) for folder in hidden)}
    command = list(BWRAP)
    for each in sorted(hidden):
        command += ["--tmpfs", str(each)]
    for each in sorted(shown):
        command += ["--ro-bind", str(each), str(each)]
    for each in (BUILD.resolve(), work / "own"):
        command += ["--tmpfs", str(each)]
    return [*command, "--"]


def _read_head(process, kept):
    """Read the stdout of a process, and stop the process when it has written too much."""
    while len(kept) <= LARGEST and (block := process.stdout.read1(TAIL)):
        kept += block
    if len(kept) > LARGEST:
        _kill(process)


def _read_tail(pipe, kept):
    """Read a pipe to its end, and keep the last bytes."""
    while block := pipe.read1(TAIL):
        kept += block
        del kept[:-TAIL]


def _kill(process):
    """End a process and those of its group: both processes of bubblewrap, and with them all that run in the sandbox."""
    if os.name == "posix":
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    process.kill()
    process.wait()
