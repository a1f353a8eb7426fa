"""Machine code on disk: it belongs to all sources of the package, and the package runs where none can be kept."""

import contextlib
import io
import os
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import oracles
import pytest

import kp
from kp import compiled

PACKAGE = Path(kp.__file__).parent
FIT = """
import numpy as np
from kp.gram import Gram
from kp.kernels import polynomial
from kp.predictors import expansion
gram = Gram.of_points(np.arange(6).reshape(3, 2), memory_budget=10**6)
print(expansion(np.ones((1, 3)), np.arange(3), polynomial(3), gram).tolist())
"""


@pytest.fixture
def copy(tmp_path):
    shutil.copytree(PACKAGE, tmp_path / "kp", ignore=shutil.ignore_patterns("study", "__pycache__"))
    return tmp_path / "kp"


def scores(copy, **environment):
    kept = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA")}
    done = subprocess.run(
        [sys.executable, "-c", FIT], cwd=copy.parent, env=kept | {"PYTHONPATH": ""} | environment,
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return eval(done.stdout)[0]


POINTS = np.arange(6).reshape(3, 2)
EXPECTED = oracles.polynomial(POINTS, POINTS, 3).sum(axis=0).tolist()


def test_a_change_of_any_source_asks_for_other_machine_code(copy, monkeypatch):
    assert compiled.SOURCES == compiled.sources()
    monkeypatch.setattr(compiled, "PACKAGE", copy)
    assert compiled.sources() == compiled.SOURCES
    with open(copy / "kernels.py", "a") as file:
        file.write("# no word of code\n")
    assert compiled.sources() != compiled.SOURCES


@pytest.mark.long
def test_a_change_of_a_kernel_changes_the_compiled_functions_of_other_files(copy):
    path = copy / "kernels.py"
    linear = oracles.polynomial(POINTS, POINTS, 1).sum(axis=0).tolist()
    before = path.read_text()
    changed = before.replace("out[j] = base * base * base\n", "out[j] = base  # linear\n")
    assert changed != before
    assert scores(copy) == EXPECTED
    path.write_text(changed)
    assert scores(copy) == linear
    assert len(list((copy / "__pycache__").glob("kp-*"))) == 2


REALS = """
import hashlib
import numpy as np
from kp.joint import product
X = np.random.RandomState(0).standard_normal((14, 9))
for A, B in ((X, X), (X[:3], X), (X, X[:3])):
    print(hashlib.sha256(product(A, B).tobytes()).hexdigest())
"""


def test_reals_have_the_same_bits_with_and_without_compilation():
    command = [sys.executable, "-c", REALS]
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(command, cwd=PACKAGE.parent, env=environment, capture_output=True, text=True, check=True)
    with contextlib.redirect_stdout(io.StringIO()) as compiled_here:
        exec(REALS, {})
    assert done.stdout == compiled_here.getvalue() and len(done.stdout) > 100


def test_an_import_makes_and_removes_no_folder(copy):
    (copy / "__pycache__" / "kp-0123456789abcdef").mkdir(parents=True)
    before = sorted(copy.rglob("*"))
    kept = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA")}
    subprocess.run([sys.executable, "-B", "-c", "import kp"], cwd=copy.parent, env=kept | {"PYTHONPATH": ""}, check=True)
    assert sorted(copy.rglob("*")) == before


@pytest.mark.long
def test_the_package_runs_where_nothing_can_be_written_and_without_compilation(copy):
    (copy / "__pycache__").write_text("a file, so that no folder can be made")
    nowhere = {"HOME": os.devnull, "XDG_CACHE_HOME": os.devnull}
    assert scores(copy, **nowhere) == EXPECTED
    assert scores(copy, NUMBA_DISABLE_JIT="1", **nowhere) == EXPECTED


def test_where_no_folder_can_be_made_nothing_is_kept(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setattr(compiled.config, "CACHE_DIR", str(tmp_path / "file"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert compiled.cache_folder() is None


def test_the_users_folder_comes_first_and_a_command_removes_what_other_sources_left(tmp_path, monkeypatch):
    monkeypatch.setattr(compiled.config, "CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "users"))
    old, other = (tmp_path / name for name in ("kp-" + 16 * "1", "kp-notes"))
    for folder in (old, other):
        folder.mkdir()
        (folder / "code").touch()
    folder = compiled.cache_folder()
    assert folder.parent == tmp_path and set(tmp_path.iterdir()) == {folder, old, other}
    assert compiled.clean() == [old] and set(tmp_path.iterdir()) == {folder, other}


def test_compiling_leaves_numbas_own_folder_as_it_was():
    before = compiled.config.CACHE_DIR

    @compiled.compiled(fastmath=True)
    def double(x):
        return 2 * x

    assert double(2) == 4 and compiled.config.CACHE_DIR == before


def test_two_threads_that_call_a_function_first_take_it_from_disk(tmp_path, monkeypatch):
    keep = compiled._keep

    def keep_slowly(dispatcher):
        time.sleep(0.1)
        keep(dispatcher)

    def make():
        @compiled.compiled
        def triple(x):
            return 3 * x

        return triple

    monkeypatch.setattr(compiled.config, "CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(compiled, "_keep", keep_slowly)
    assert make()(2) == 6
    again = make()
    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(again, (2, 3))) == [6, 9]
    assert sum(again.stats.cache_hits.values()) == 1 and not again.stats.cache_misses
