"""Make the environment .venv from requirements.lock.txt, unless it is there and up to date.

Runs with a bare Python: python3 bootstrap.py. The environment is remade from nothing when the lock, pyproject.toml,
this file, the version of Python or the folder changes: an environment that was copied or moved runs the other folder's code.
"""

import hashlib
import importlib.util
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
STAMP = VENV / "made-from.sha256"
IPYTHON_CONFIG = VENV / "etc/ipython/ipython_kernel_config.py"
OLDEST = (3, 11)


def fingerprint():
    """Hash of all that the environment is made from, and of where it is: it names this folder in many places."""
    digest = hashlib.sha256(repr((sys.version_info[:2], str(ROOT))).encode())
    for name in ("requirements.lock.txt", "pyproject.toml", "bootstrap.py"):
        digest.update((ROOT / name).read_bytes())
    return digest.hexdigest()


def check_python():
    """Stop with the remedy if this Python is too old or cannot make environments."""
    if sys.version_info < OLDEST:
        oldest, got = (".".join(map(str, version[:2])) for version in (OLDEST, sys.version_info))
        sys.exit(
            f"kp needs Python {oldest} or newer, got {got} ({sys.executable}); "
            "install one and name it: make PYTHON=python3.12 ..."
        )
    if not (importlib.util.find_spec("venv") and importlib.util.find_spec("ensurepip")):
        sys.exit(
            f"kp needs 'python3 -m venv', which this Python ({sys.executable}) lacks; "
            "on Debian or Ubuntu: sudo apt-get install python3-venv"
        )


def make():
    """Make .venv anew; it gets its stamp last, so that an interrupted one is made again."""
    python = str(VENV / "bin/python")
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    for command in (
        [sys.executable, "-m", "venv", "--clear", str(VENV)],
        [*pip, "--require-hashes", "-r", "requirements.lock.txt"],
        [*pip, "--no-deps", "--no-build-isolation", "-e", "."],
    ):
        subprocess.run(command, cwd=ROOT, check=True)
    IPYTHON_CONFIG.parent.mkdir(parents=True, exist_ok=True)
    # Without it each kernel start prints a warning about TCP, on stderr.
    IPYTHON_CONFIG.write_text("c.IPKernelApp.log_level = 40\n")
    STAMP.write_text(fingerprint())


def main():
    check_python()
    if STAMP.exists() and STAMP.read_text() == fingerprint() and os.access(VENV / "bin/python", os.X_OK):
        return
    print("Making the environment .venv from requirements.lock.txt; this takes a minute or two, once.", flush=True)
    try:
        make()
    except subprocess.CalledProcessError as error:
        sys.exit(f"The environment could not be made: {' '.join(error.cmd)} failed; read the message above.")


if __name__ == "__main__":
    main()
