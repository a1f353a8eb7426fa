"""The same bytes on every CPU and in every surrounding, and an environment for each folder."""

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys

import pytest

from study import ROOT, SAME_BYTES

LOOPS = """
import hashlib, sys
{first}
import numpy as np
from numpy._core._multiarray_umath import __cpu_features__ as features
x = np.random.RandomState(0).uniform(0.001, 50.0, 20000)
values = b"".join(f(x).tobytes() for f in (np.exp, np.log, np.log10)) + np.power(x, 1.7).tobytes()
print(int(any(features.get(name) for name in {names!r})), hashlib.sha256(values).hexdigest()[:16])
"""


def loops(first, **environment):
    """(whether loops for newer processors are in use, hash of values of functions that figures are drawn with)."""
    code = LOOPS.format(first=first, names=SAME_BYTES["NPY_DISABLE_CPU_FEATURES"].split())
    clean = {name: value for name, value in os.environ.items() if name not in SAME_BYTES}
    done = subprocess.run(
        [sys.executable, "-c", code], env=clean | environment, cwd=ROOT, capture_output=True, text=True, check=True
    )
    newer, values = done.stdout.split()
    return newer == "1", values


def test_functions_have_the_same_bits_on_newer_processors():
    (newer, with_study), (without, plain) = loops("import study"), loops("")
    assert not newer
    if without:
        assert plain != with_study, "the loops of this processor agree with the others: SAME_BYTES is not needed any more"
    assert loops("", **SAME_BYTES) == (False, with_study)
    assert loops("import study", NPY_DISABLE_CPU_FEATURES="") == (without, plain), "a variable that is set is left alone"


def bootstrap(folder):
    shutil.copy(ROOT / "bootstrap.py", folder)
    for name in ("pyproject.toml", "requirements.lock.txt"):
        shutil.copy(ROOT / name, folder)
    spec = importlib.util.spec_from_file_location(
        f"bootstrap_{hashlib.md5(str(folder).encode()).hexdigest()}", folder / "bootstrap.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("how", [shutil.copytree, shutil.move])
def test_an_environment_that_was_copied_or_moved_is_made_again(tmp_path, monkeypatch, how):
    (tmp_path / "one" / ".venv" / "bin").mkdir(parents=True)
    (tmp_path / "one" / ".venv" / "bin" / "python").symlink_to(sys.executable)
    first = bootstrap(tmp_path / "one")
    first.STAMP.write_text(first.fingerprint())
    made = []
    monkeypatch.setattr(first, "make", lambda: made.append("one"))
    first.main()
    how(tmp_path / "one", tmp_path / "two")
    second = bootstrap(tmp_path / "two")
    monkeypatch.setattr(second, "make", lambda: made.append("two"))
    second.main()
    assert made == ["two"]
