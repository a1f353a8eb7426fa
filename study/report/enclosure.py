"""Runs a program that somebody else wrote, apart from the rest of this computer as far as the system offers that.

Linux offers namespaces to its users (unshare and setpriv of util-linux, mounts by mount(2)): a separate one for the network,
which has no way out; one for processes, all of which end with the first; one for mounts. In it every file is read only, what
is written into the project or the folder of the program is kept in memory and forgotten, and the user's own folder, /tmp,
/run and /dev are empty except the files that the program needs. Elsewhere, and where users may not do this, a program can do
what its user can.
"""

import contextlib
import ctypes
import json
import os
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from study import ROOT, SAME_BYTES

APART = "unshare --user --map-root-user --net --ipc --mount --pid --fork --kill-child --mount-proc".split()
WITHOUT_RIGHTS = "setpriv --bounding-set=-all --inh-caps=-all --no-new-privs".split()
KEPT = ("PATH", "LANG", "LC_ALL", "KP_DATA", "OPENBLAS_NUM_THREADS", "LOKY_MAX_CPU_COUNT", "SYSTEMROOT", *SAME_BYTES)
"""The environment variables of the user that a program keeps."""
DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
LARGEST = "size=2g"
"""How much a program can write, where that is kept in memory."""
OWN = ("home", "tmp")
"""The folders of a program below work/own: the user's, and that of temporary files."""


@dataclass(frozen=True)
class Enclosure:
    """Protections against a program: `network`, reaching it and leaving processes behind; `files`, changing any and seeing
    the user's own."""

    network: bool
    files: bool

    def __str__(self):
        network = "without network" if self.network else "with the network within reach"
        return f"{network}, {'with protected files' if self.files else 'with unprotected files'}"

    @property
    def meaning(self):
        """Return a clause that says what a program can do."""
        if self.files:
            return (
                "it changes no file; of your folder and /tmp it sees the project, the data, Python and its own folder, and "
                "it can read all else that you can"
            )
        return "it can read, change and delete what you can" + ("" if self.network else ", and send it away")

    def run(self, command, file, copy, work):
        """Run a command of this Python's (a list, which follows its path); returns (what it wrote to stdout, to stderr, its
        exit code).

        It starts in the project's folder. If files are protected, it finds the copy instead of the file. work is a folder
        that is there for it, and holds the copy. When it ends, the processes that it started end too.
        """
        home, temporary = (work / "own" / name for name in OWN)
        home.mkdir(parents=True)
        temporary.mkdir()
        environment = {name: os.environ[name] for name in KEPT if name in os.environ} | {"PYTHONPATH": str(ROOT)}
        environment |= {"HOME": str(home), "USERPROFILE": str(home), "TMPDIR": str(temporary), "TEMP": str(temporary)}
        command = [sys.executable, *command]
        if self.network:
            environment["KP_OFFLINE"] = "1"
            plan = _plan(file, copy, work) if self.files else None
            task = json.dumps({"plan": plan, "command": command})
            command = [*APART, "--", sys.executable, "-m", "study.report.enclosure", task]
        before = _adopt()
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            process = subprocess.Popen(
                command,
                cwd=ROOT,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,
            )
            try:
                process.wait()
            finally:
                process.kill()
                process.wait()
                _end(before)
            out.seek(0)
            err.seek(0)
            return out.read().decode(errors="replace"), err.read().decode(errors="replace"), process.returncode


def strongest():
    """The Enclosure that works here: each is tried with a program that reads a file."""
    for enclosure in (Enclosure(network=True, files=True), Enclosure(network=True, files=False)):
        with tempfile.TemporaryDirectory() as folder, contextlib.suppress(OSError):
            file, work = (Path(folder).resolve() / name for name in ("file", "work"))
            work.mkdir()
            for path, text in ((file, "it"), (work / "copy", "its copy")):
                path.write_text(text)
            command = ["-c", f"print(open({str(file)!r}).read())"]
            if enclosure.run(command, file, work / "copy", work)[0].strip() == ("its copy" if enclosure.files else "it"):
                return enclosure
    return Enclosure(network=False, files=False)


def _plan(file, copy, work):
    """Return the arguments of `_protect` for a file whose folder, Python and data are needed."""
    needed = [sys.prefix, sys.base_prefix, os.environ.get("KP_DATA"), *sys.path, file.parent, work]
    shown = {str(Path(each).resolve()) for each in needed if each and Path(each).is_dir()}
    hidden = {str(Path(each).resolve()) for each in ("/tmp", "/run", "/dev", tempfile.gettempdir(), Path.home())} - {"/"}
    return {"file": str(file), "copy": str(copy), "work": str(work), "shown": sorted(shown), "hidden": sorted(hidden)}


def _adopt():
    """Become the parent of the processes that lose theirs, on Linux; returns the children that there are."""
    if sys.platform == "linux":
        _call("prctl", 36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER
    return _children()


def _children():
    """The processes whose parent is this one; none where there is no /proc."""
    found = set()
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            if int(path.read_text().rpartition(")")[2].split()[1]) == os.getpid():
                found.add(int(path.parent.name))
    return found


def _end(before):
    """End the children that were not there before, and theirs, which become ours."""
    while left := _children() - before:
        for each in left:
            with contextlib.suppress(ProcessLookupError, ChildProcessError):
                os.kill(each, signal.SIGKILL)
                os.waitpid(each, 0)


# What follows is done in the new namespaces, by a process that has all rights there and gives them up in the end.

BIND = 0x1000 | 0x4000
"""MS_BIND | MS_REC: show a folder or file in another place."""


def main(text):
    """Enclose this process by a plan, and let the command take its place."""
    task = json.loads(text)
    _loopback()
    if task["plan"]:
        _protect(**task["plan"])
    os.chdir(ROOT)
    os.execvp(WITHOUT_RIGHTS[0], [*WITHOUT_RIGHTS, *task["command"]])


def _loopback():
    """Switch on the network of this computer with itself: kernels listen there."""
    import fcntl
    import socket
    import struct

    with socket.socket() as some:
        fcntl.ioctl(some, 0x8914, struct.pack("16sH14x", b"lo", 0x41))  # SIOCSIFFLAGS, IFF_UP | IFF_RUNNING


def _protect(file, copy, work, shown, hidden):
    """Make all files read only, empty the hidden folders except the shown paths, and keep in memory what is written into the
    project and the folder of the file."""
    written = {str(ROOT), os.path.dirname(file)} - {"/"}
    devices = {f"/dev/{name}" for name in DEVICES}
    held = {path: os.open(path, os.O_PATH) for path in {*shown, *written, *devices, copy}}
    _read_only()
    own = os.path.join(work, "own")
    _mount("tmpfs", own, "tmpfs", data=LARGEST)
    memory = _place(os.open(own, os.O_PATH))
    for path in hidden:
        if os.path.isdir(path):
            _mount("tmpfs", path, "tmpfs", data=LARGEST)
    for path in sorted(held.keys() - {copy}):
        below = any(Path(path).is_relative_to(each) for each in hidden)
        if path in devices:
            Path(path).touch()
        elif below:
            os.makedirs(path, exist_ok=True)
        if path in written:
            upper, spare = (f"{memory}/{held[path]}/{name}" for name in ("upper", "spare"))
            os.makedirs(upper)
            os.makedirs(spare)
            layers = f"lowerdir={_place(held[path])},upperdir={upper},workdir={spare},userxattr"
            _mount("overlay", path, "overlay", data=layers)
        elif below:
            _mount(_place(held[path]), path, flags=BIND)
    for name in OWN:
        os.makedirs(f"{memory}/own/{name}")
    _mount(f"{memory}/own", own, flags=BIND)
    _mount(_place(held[copy]), file, flags=BIND)
    os.mkdir("/dev/shm")
    os.mkdir("/dev/pts")
    _mount("devpts", "/dev/pts", "devpts", data="newinstance,ptmxmode=0666")
    os.symlink("pts/ptmx", "/dev/ptmx")
    os.symlink("/proc/self/fd", "/dev/fd")


def _place(descriptor):
    """Return a path to an open file, regardless of mounts over it."""
    return f"/proc/self/fd/{descriptor}"


def _mount(source, target, kind=None, *, flags=0, data=None):
    texts = [None if each is None else os.fsencode(each) for each in (source, target, kind, data)]
    _call("mount", *texts[:3], ctypes.c_ulong(flags), texts[3])


def _read_only():
    """Make every mount read only: mount_setattr(2) of all below /, which has the same number on all processors."""
    attributes = (ctypes.c_uint64 * 4)(1, 0, 0, 0)  # MOUNT_ATTR_RDONLY
    # AT_FDCWD, AT_RECURSIVE
    here = -100
    recursive = 0x8000
    _call("syscall", 442, here, b"/", recursive, ctypes.byref(attributes), ctypes.sizeof(attributes))


def _call(name, *arguments):
    """Call a function of the C library; OSError if it fails."""
    library = ctypes.CDLL(None, use_errno=True)
    if getattr(library, name)(*arguments) < 0:
        raise OSError(ctypes.get_errno(), f"{name}: {os.strerror(ctypes.get_errno())}")


if __name__ == "__main__":
    main(sys.argv[1])
