"""Several notebooks executed side by side, each in its own process and kernel.

On Linux both are forked from one process that has imported the study, so that not each of them starts an interpreter and
reads the code again; elsewhere they start from nothing. Nothing of one notebook reaches another.
"""

import gc
import hashlib
import importlib
import json
import multiprocessing
import os
import sys
import time
from multiprocessing.connection import wait

import matplotlib as mpl
import pandas as pd
from ipykernel.kernelapp import IPKernelApp
from ipykernel.parentpoller import ParentPollerUnix

from study import BUILD
from study.report import notebooks
from study.results import definitions, lock, store

FORK = sys.platform == "linux"
PROCESSES = multiprocessing.get_context("fork" if FORK else "spawn")
INLINE = "module://matplotlib_inline.backend_inline"
"""Where Matplotlib draws in a kernel."""


def execute(chapters, profile, *, jobs=1, changed=False):
    """Execute the notebooks of chapters, at most `jobs` at a time, the last first: they take longest.

    What a run prints goes to build/<profile>/logs/<name>.log. A mark under build/ says what an executed notebook was made
    from, and changed=True leaves out notebooks that would be made from the same. When all others are done, raises
    RuntimeError with the messages of the failed ones, and at once if another process executes notebooks of this profile:
    both would write the same files. What is forked here ends with this process.
    """
    stem = chapters[0].name if len(chapters) == 1 else "notebooks"
    held = lock.hold(BUILD / profile / f"{stem}.lock", f"one process alone can execute {stem} of profile {profile}")
    with held:
        _execute_all(chapters, profile, jobs, changed, held)


def _execute_all(chapters, profile, jobs, changed, held):
    if FORK:
        import_all()
    # Made here in any case: what is known of the code then is known in all processes.
    origins = {chapter.name: notebooks.made_from(chapter.notebook, chapter.parameters(profile)) for chapter in chapters}
    waiting = [each for each in chapters if not (changed and _is_marked(each, profile, origins[each.name]))]
    running = {}
    failed = []
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                chapter = waiting.pop()
                heard, said = PROCESSES.Pipe(duplex=False)
                process = PROCESSES.Process(target=_execute, args=(chapter, profile, said, held if FORK else None))
                process.start()
                said.close()
                running[process.sentinel] = process, chapter, heard, time.monotonic()
            for sentinel in wait(running):
                process, chapter, heard, start = running.pop(sentinel)
                process.join()
                print(f"{chapter.name}: {'failed' if process.exitcode else 'executed'}", flush=True)
                if process.exitcode:
                    failed.append(f"{chapter.name}: {_error(heard, process, _log(chapter, profile))}")
                else:
                    _keep_time(chapter, profile, time.monotonic() - start)
    finally:
        for process, *_ in running.values():
            process.terminate()
    if failed:
        raise RuntimeError("\n".join(failed))


def _error(heard, process, log):
    """Message of a process that failed."""
    try:
        return heard.recv()
    except EOFError:
        code = process.exitcode
        return f"expected a message, got exit code {code} without one: {notebooks.ending(code)}; read {log}"


def import_all():
    """Import the study, for all that is forked from this process."""
    for module in definitions.code().modules:
        importlib.import_module(module)
    gc.freeze()


def _execute(chapter, profile, said, held):
    """Execute one notebook in this process, which says why and ends with 1 if that fails; what is printed goes to the log.

    The process holds the lock too, until it has ended; its kernel, which writes nothing, does not.
    """
    log = _log(chapter, profile)
    mark = _mark(chapter, profile)
    for path in (log, mark):
        path.parent.mkdir(parents=True, exist_ok=True)
    sys.stdout.flush()
    sys.stderr.flush()
    sys.stdout = sys.stderr = open(log, "w", encoding="utf-8", buffering=1)
    for stream in (1, 2):
        os.dup2(sys.stdout.fileno(), stream)
    mark.unlink(missing_ok=True)
    # The kernel comes first, while nothing else has happened here.
    manager = ForkedKernelManager.with_kernel(held) if FORK else notebooks.OwnKernelManager
    if FORK:
        ParentPollerUnix(os.getppid()).start()
    try:
        source = chapter.notebook
        parameters = chapter.parameters(profile)
        origin = notebooks.execute(source, chapter.target(profile), parameters, kernel_manager_class=manager)
    except (ValueError, RuntimeError, OSError) as error:
        print(error)
        said.send(str(error))
        sys.exit(1)
    finally:
        if FORK:
            manager.pipe.close()  # a kernel that was never asked for ends
    mark.write_text(_state(chapter, profile, origin))


def _is_marked(chapter, profile, origin):
    """True if the executed notebook is the one that was made here, and would be made from the same again."""
    mark = _mark(chapter, profile)
    target = chapter.target(profile)
    if not (mark.exists() and target.exists() and mark.read_text() == _state(chapter, profile, origin)):
        return False
    return all(path.exists() for path in chapter.pictures(profile))


def _state(chapter, profile, origin):
    """A hash of an executed notebook, and what it was made from, as text."""
    return json.dumps([hashlib.sha256(chapter.target(profile).read_bytes()).hexdigest(), origin])


def times(profile):
    """{name: seconds} that notebooks of a profile took when they were last executed here, as build/<profile>/times.csv has
    them."""
    path = BUILD / profile / "times.csv"
    return pd.read_csv(path, index_col="notebook")["seconds"].to_dict() if path.exists() else {}


def _keep_time(chapter, profile, seconds):
    found = pd.Series({**times(profile), chapter.name: round(seconds, 1)}, name="seconds")
    store.write(BUILD / profile / "times.csv", found.rename_axis("notebook").to_csv())


def _log(chapter, profile):
    return BUILD / profile / "logs" / f"{chapter.name}.log"


def _mark(chapter, profile):
    return BUILD / profile / "marks" / f"{chapter.name}.executed"


class Forked:
    """Mixin of a kernel manager that gives its one kernel to a process that was forked before."""

    @classmethod
    def with_kernel(cls, held):
        """The class of managers for a kernel that is forked now, and does not hold the lock."""
        there, here = PROCESSES.Pipe(duplex=False)
        process = PROCESSES.Process(target=_serve, args=(there, here, os.getpid(), held))
        process.start()
        there.close()
        return type("Forked", (cls,), {"forked": process, "pipe": here})

    async def _async_launch_kernel(self, kernel_cmd, **options):
        """Send the connection file to the process, which waits for it."""
        self.pipe.send((self.connection_file, options.get("cwd") or os.getcwd()))
        self.provisioner.process = _Process(self.forked)
        self.provisioner.pid = self.provisioner.pgid = self.forked.pid
        self._reconcile_connection_info(self.provisioner.connection_info)


class ForkedKernelManager(Forked, notebooks.OwnKernelManager):
    """Starts a notebook of a batch."""


def _serve(there, here, parent, held):
    """Be a kernel, when its connection file is known; end if the process that leads it ends."""
    here.close()
    held.close()
    os.setsid()
    try:
        connection_file, folder = there.recv()
    except EOFError:
        return
    os.chdir(folder)
    mpl.rcParams["backend"] = INLINE
    IPKernelApp.launch_instance(argv=["-f", connection_file, f"--IPKernelApp.parent_handle={parent}"])


class _Process:
    """A process of multiprocessing, with the methods of one of subprocess that a kernel's manager calls."""

    stdin = stdout = stderr = None

    def __init__(self, process):
        self.process = process
        self.pid = process.pid
        self.kill = process.kill
        self.terminate = process.terminate

    def poll(self):
        return self.process.exitcode

    def wait(self):
        self.process.join()
        return self.process.exitcode

    def send_signal(self, number):
        os.kill(self.pid, number)
