"""Make the environment .venv from requirements.lock.txt, unless it is there and up to date: python3 bootstrap.py

It is remade from nothing when the lock, pyproject.toml, this file, the version of Python or the folder changes. An active
conda environment that has all packages and runs this folder's code is used instead. With --python it prints the
environment's Python and makes nothing.
"""

import functools
import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

OLDEST = (3, 11)
SIZE = 1.3e9  # bytes that the environment takes

ROOT = Path(__file__).resolve().parent
LOCK = ROOT / "requirements.lock.txt"
VENV = ROOT / ".venv"
STAMP = VENV / "made-from.sha256"
UV_CACHE = VENV / "uv-cache"  # beside what is made of it: its files are linked, not copied
IPYTHON_CONFIG = VENV / "etc/ipython/ipython_kernel_config.py"

COMPLETE = """
import importlib.metadata, re, sys, tomllib
project = tomllib.load(open(sys.argv[1] + "/pyproject.toml", "rb"))
groups = project["dependency-groups"]
for requirement in project["project"]["dependencies"] + groups["study"] + groups["test"]:
    importlib.metadata.version(re.match("[A-Za-z0-9._-]+", requirement)[0])
import study
sys.exit(str(study.ROOT) != sys.argv[1])
"""
"""Ends with 0 where all packages are installed, and study is this folder's from any other folder."""


def program(name):
    """The path of a program of the environment."""
    return VENV / (f"Scripts/{name}.exe" if os.name == "nt" else f"bin/{name}")


def fingerprint():
    """Hash of all that the environment is made from, and of where it is: it names this folder in many places."""
    files = [(ROOT / name).read_bytes() for name in ("requirements.lock.txt", "pyproject.toml", "bootstrap.py")]
    return hashlib.sha256(repr((sys.version_info[:2], str(ROOT), files)).encode()).hexdigest()


def conda():
    """The Python of the active conda environment, if that has what is needed, else None."""
    prefix = os.environ.get("CONDA_PREFIX")
    python = prefix and Path(prefix, "python.exe" if os.name == "nt" else "bin/python")
    if not (python and os.access(python, os.X_OK)):
        return None
    done = subprocess.run([python, "-c", COMPLETE, ROOT], cwd=os.sep, capture_output=True)
    return python if done.returncode == 0 else None


def own_pip():
    """The file of the pip that comes with this Python, or None: pip can be run from it without being installed."""
    wheels = sysconfig.get_config_var("WHEEL_PKG_DIR") or Path(sysconfig.get_path("stdlib"), "ensurepip/_bundled")
    return next((path / "pip" for path in Path(wheels).glob("pip-*.whl")), None)


def check():
    """Stop with the remedy if this Python cannot make the environment, or if making it would empty what may not be ours."""
    if sys.version_info < OLDEST:
        sys.exit(
            f"This project needs Python {'.'.join(map(str, OLDEST))} or newer, got {sys.version.split()[0]} "
            f"({sys.executable}); install one and name it: make PYTHON=python3.12 ..."
        )
    if not (importlib.util.find_spec("venv") and own_pip()):
        sys.exit(
            f"This project needs 'python3 -m venv', which this Python ({sys.executable}) lacks; "
            "on Debian or Ubuntu: sudo apt-get install python3-venv"
        )
    found = None
    if VENV.is_symlink():
        found = f"a link to {os.path.realpath(VENV)}"
    elif VENV.is_file():
        found = "a file"
    elif VENV.is_dir() and any(VENV.iterdir()) and not (VENV / "pyvenv.cfg").is_file():
        found = "not a Python environment (it has no pyvenv.cfg)"
    if found:
        sys.exit(
            f"{VENV} is {found}. The environment has to be made there, which would empty it. Nothing was changed. "
            "Move it away (if this disk is too small, move the whole project to another), then run the same command again."
        )


def is_made():
    return STAMP.exists() and STAMP.read_text() == fingerprint() and os.access(program("python"), os.X_OK)


def make():
    """Make .venv again; it gets its stamp last, so that an interrupted one is made again."""
    run = functools.partial(subprocess.run, cwd=ROOT, check=True)
    run([sys.executable, "-m", "venv", "--clear", "--without-pip", VENV])
    free = shutil.disk_usage(VENV).free
    if free < SIZE:
        sys.exit(
            f"The environment needs {SIZE / 1e9:.1f} GB in {ROOT}, where {free / 1e9:.1f} GB are free. Free some space, "
            "or move the folder to another disk, then run the same command again."
        )
    # Pip only has to install uv; installing pip itself first would take three seconds more.
    pip = [program("python"), own_pip(), "install", "--disable-pip-version-check", "--no-cache-dir", "--no-compile"]
    # Nothing is kept outside of the project's folder.
    uv = [program("uv"), "pip", "install", "--no-config", "--cache-dir", UV_CACHE, "--python", program("python")]
    # On a terminal installers show what they do; a log gets their errors only.
    packages = [*([] if sys.stderr.isatty() else ["--quiet"]), "--require-hashes", "-r", LOCK]
    uv_alone = VENV / "uv.txt"
    uv_alone.write_text(re.search(r"^uv==.*(\n .*)*\n", LOCK.read_text(), re.MULTILINE)[0])
    try:
        run([*pip, "--quiet", "--require-hashes", "-r", uv_alone])
        run([*uv, *packages])
    except (OSError, subprocess.CalledProcessError):  # for example, if a package server is configured for pip only
        print("uv could not install the packages (see above). Now pip does, which takes a few minutes.", flush=True)
        run([*pip, *packages])
    shutil.rmtree(UV_CACHE, ignore_errors=True)
    # The packages of this folder, by a relative path: a copy of the folder then runs its own code.
    site = Path(sysconfig.get_path("purelib", "venv", {"base": VENV, "platbase": VENV}))
    (site / "study.pth").write_text(os.path.relpath(ROOT, site) + "\n")
    IPYTHON_CONFIG.parent.mkdir(parents=True, exist_ok=True)
    # Without it each kernel start prints a warning about TCP, on stderr.
    IPYTHON_CONFIG.write_text("c.IPKernelApp.log_level = 40\n")
    STAMP.write_text(fingerprint())


def wait():
    """Wait until no other set-up of this folder is at work; returns a file: while it is open, others wait for this one."""
    path = ROOT / "build" / "environment.lock"
    path.parent.mkdir(parents=True, exist_ok=True)
    file = open(path, "a")
    if importlib.util.find_spec("fcntl"):  # not on Windows: there, start one set-up at a time
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX)
    return file


def main():
    os.environ.pop("PYTHONPATH", None)  # another checkout's code or packages must not count as this one's
    found = conda()
    if "--python" in sys.argv:
        print((found or program("python").relative_to(ROOT)).as_posix())
        return
    if found:
        print(f"Using the Python of an active conda environment, {found}; to use .venv instead: CONDA_PREFIX= make ...")
    elif not is_made():
        check()
        print("Making .venv, or waiting for another set-up of it; this takes half a minute to a few minutes.", flush=True)
        with wait():
            if not is_made():  # by the one that this one has waited for
                make()


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("\nInterrupted; run the same command again, which makes the environment from the start.")
    except subprocess.CalledProcessError as error:
        sys.exit(f"The environment could not be made: {' '.join(map(str, error.cmd))} failed; read the message above.")
    except OSError as error:
        sys.exit(f"The environment could not be made in {ROOT}: {error}. It needs a folder in which you can write.")
