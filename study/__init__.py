"""Everything that turns the algorithms into a report: experiments, stored results, figures, notebooks, documents.

It is run from a checkout. Importing it asks for the same bytes on every CPU, of this process if NumPy is not loaded yet, and
of those that it starts: NumPy's and OpenBLAS's loops for newer x86 processors differ from others in the last bit. Where the
user's own folder cannot be written, what Matplotlib, IPython and Jupyter keep there goes below build/.
"""

import os
import platform
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

if platform.machine() in ("x86_64", "AMD64"):
    for _name, _value in SAME_BYTES.items():
        os.environ.setdefault(_name, _value)

KEPT_AT_HOME = {"MPLCONFIGDIR": "matplotlib", "IPYTHONDIR": "ipython", "JUPYTER_RUNTIME_DIR": "jupyter"}
"""Environment variables that name folders which are made in the user's own by default."""

if not os.access(os.path.expanduser("~"), os.W_OK):
    for _name, _value in KEPT_AT_HOME.items():
        os.environ.setdefault(_name, str(BUILD / "home" / _value))

from study import definitions  # noqa: E402, F401  it reads all sources now: what is imported later is held against them
