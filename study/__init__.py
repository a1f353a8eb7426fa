"""Everything that turns the algorithms into a report: experiments, stored results, figures, notebooks, documents.

It is run from a checkout. Importing it asks for the same loops on every x86 processor with AVX2, of this process if NumPy is
not loaded yet, and of the processes that it starts: NumPy's and OpenBLAS's loops for newer processors differ in the
last bit. A processor without AVX2 gets the loops that OpenBLAS has for it. Counts are the same on every processor; real
numbers have the same bits where the processor has AVX2 and exp, log and pow come from one libm.

If the user's home folder or its .cache cannot be written, the caches of all tools, and what Matplotlib, IPython and Jupyter
keep there, go below build/, or into a temporary folder.
"""

import atexit
import os
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
"""The project's folder: data, results, notebooks and figures lie below it, wherever a command is run from."""

RESULTS = ROOT / "data" / "results"
MEASURED = ROOT / "data" / "measured"
"""Times and memory of one machine: stored with the project, but no part of what must come out again."""
BUILD = ROOT / "build"

if not (ROOT / "data" / "registry.toml").is_file():
    raise ImportError(
        f"study is run from a checkout of the project, with its data and notebooks: expected data/registry.toml in {ROOT}, "
        "found none; get the whole project with git clone, and run it there (kp alone needs no checkout)"
    )

SAME_BYTES = {"NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR", "OPENBLAS_CORETYPE": "Haswell"}
"""Environment variables that NumPy and OpenBLAS read when they are loaded; one that is set already is left as it is."""

HAS_AVX2 = (
    "from numpy._core._multiarray_umath import __cpu_features__ as has; raise SystemExit(not (has['AVX2'] and has['FMA3']))"
)


def _has_avx2():
    """True if this x86 processor has AVX2 and FMA. OpenBLAS takes the processor type that it is given without a check: where
    an instruction is missing, loading it ends the process, so it must not be loaded here before this is known."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            return {"avx2", "fma"} <= set(next(line for line in file if line.startswith("flags")).split())
    except (OSError, StopIteration):  # no Linux
        return not subprocess.run([sys.executable, "-c", HAS_AVX2], capture_output=True).returncode


if platform.machine() in ("x86_64", "AMD64"):
    for _name, _value in SAME_BYTES.items():
        if _name not in os.environ and (_name != "OPENBLAS_CORETYPE" or _has_avx2()):
            os.environ[_name] = _value

KEPT_AT_HOME = {
    "XDG_CACHE_HOME": "cache", "MPLCONFIGDIR": "matplotlib", "IPYTHONDIR": "ipython", "JUPYTER_RUNTIME_DIR": "jupyter",
}  # fmt: skip
"""Environment variables that name folders which are made in the user's own by default."""


def _is_writable(folder):
    """True if a file can be made in the folder. Permissions do not tell: root has that to write below /proc, too."""
    try:
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return False
    return True


def _keep_elsewhere():
    """Set those of KEPT_AT_HOME that are not set: below build/, or where nothing can be written there for this process."""
    missing = KEPT_AT_HOME.keys() - os.environ.keys()
    home = os.path.expanduser("~")
    cache = os.path.join(home, ".cache")
    if not missing or (_is_writable(home) and (_is_writable(cache) or not os.path.lexists(cache))):
        return
    folder = BUILD / "home"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        pass
    if not _is_writable(folder):
        folder = Path(tempfile.mkdtemp())
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
    for name in missing:
        os.environ[name] = str(folder / KEPT_AT_HOME[name])


_keep_elsewhere()


def end_with(leader):
    """From now on, this process ends soon after that of the number `leader`, also where that is killed."""
    threading.Thread(target=_watch, args=(leader,), daemon=True).start()


def _watch(leader):
    """Wait for the end of a process, then end this one by an interrupt, and if it is still there later, at once."""
    while True:
        time.sleep(1)
        try:
            os.kill(leader, 0)
        except OSError:
            break
    signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
    time.sleep(10)
    os._exit(1)


# Set by what starts processes for others.
if "KP_LEADER" in os.environ and os.name == "posix":
    end_with(int(os.environ["KP_LEADER"]))

from study.results import code  # noqa: E402, F401  it reads all sources now: what is imported later is held against them
