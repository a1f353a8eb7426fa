"""Machine code on disk: it belongs to all sources of the package, and the package runs where none can be kept."""

import contextlib
import errno
import io
import os
import pickle
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
from kp import __main__, compiled

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
    monkeypatch.setattr(compiled, "_PACKAGE", copy)
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


SCORES = """
import hashlib
import numpy as np
from kp import OneVsAllKernelPerceptron
from kp.joint import product
X = np.random.RandomState(0).standard_normal((14, 9))
for A, B in ((X, X), (X[:3], X), (X, X[:3])):
    print(hashlib.sha256(product(A, B).tobytes()).hexdigest())
X = np.arange(99).reshape(9, 11) * 37 % 256
model = OneVsAllKernelPerceptron(degree=3, predictor="voted", max_iter=1, random_state=0).fit(X, np.arange(9) % 2)
print(hashlib.sha256(model.decision_function(X).tobytes()).hexdigest())
"""


def test_scores_have_the_same_bits_with_and_without_compilation_and_need_no_library_that_draws():
    command = [sys.executable, "-c", f"{SCORES}\nimport sys\nassert 'matplotlib' not in sys.modules"]
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(command, cwd=PACKAGE.parent, env=environment, capture_output=True, text=True, check=True)
    with contextlib.redirect_stdout(io.StringIO()) as compiled_here:
        exec(SCORES, {})
    assert done.stdout == compiled_here.getvalue() and len(done.stdout) > 100


@pytest.mark.long
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


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The cache folder of these sources, which is not there yet, and no other."""
    monkeypatch.setattr(compiled.config, "CACHE_DIR", str(tmp_path / "own"))
    monkeypatch.setenv("XDG_CACHE_HOME", "not/absolute")
    return tmp_path / "own" / f"kp-{compiled.SOURCES[:16]}"


def make():
    """A function that is not compiled yet; its file in the cache is the same each time."""

    @compiled.compiled
    def triple(x):
        return 3 * x

    return triple


def from_cache(function):
    """Whether a function that was called once was read from the cache."""
    return sum(function.stats.cache_hits.values()) == 1


def test_a_function_is_compiled_once_and_then_read_from_the_cache(folder):
    assert not folder.exists() and not compiled.has_cache()
    first, second = make(), make()
    assert (first(2), second(2)) == (6, 6)
    assert compiled.has_cache()
    assert (from_cache(first), from_cache(second)) == (False, True)
    (path,) = folder.iterdir()
    third = make()
    assert third(2.5) == 7.5 and not from_cache(third)
    assert len(list(folder.iterdir())) == 2 and path.exists()


DAMAGE = {
    "empty": lambda content: b"",
    "truncated": lambda content: content[:-100],
    "garbage": lambda content: b"no machine code",
    "zeros inside": lambda content: content[:5000] + bytes(512) + content[5512:],
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_file_of_the_cache_is_compiled_and_replaced(folder, damage):
    """LLVM ends the process when it is given damaged code."""
    assert make()(2) == 6
    (path,) = folder.iterdir()
    whole = path.read_bytes()
    path.write_bytes(DAMAGE[damage](whole))
    again, after = make(), make()
    assert again(2) == 6 and not from_cache(again)
    assert after(2) == 6 and from_cache(after)
    assert list(folder.iterdir()) == [path] and len(path.read_bytes()) > len(whole) / 2


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT, errno.EACCES, errno.EROFS])
def test_where_nothing_can_be_written_functions_are_compiled_and_nothing_is_left(folder, monkeypatch, code):
    def half(path, content):
        with open(path, "wb") as file:
            file.write(content[:100])
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(Path, "write_bytes", half)
    function = make()
    assert (function(2), function(2)) == (6, 6)
    assert list(folder.iterdir()) == []


def test_a_file_that_cannot_be_read_is_no_obstacle(folder):
    assert make()(2) == 6
    (path,) = folder.iterdir()
    path.unlink()
    path.mkdir()
    assert make()(2) == 6 and list(folder.iterdir()) == [path]


@pytest.mark.parametrize("error", [MemoryError, pickle.UnpicklingError, ValueError, RuntimeError])
def test_any_error_of_the_cache_compiles(folder, monkeypatch, error):
    def fail(*arguments):
        raise error("the cache")

    assert make()(2) == 6
    monkeypatch.setattr(compiled.pickle, "loads", fail)
    monkeypatch.setattr(compiled, "dumps", fail)
    assert make()(2) == 6


def test_the_users_cache_is_used_where_the_first_folder_cannot_be_written(folder, tmp_path, monkeypatch):
    folder.parent.touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "users"))
    first, second = make(), make()
    assert (first(2), second(2)) == (6, 6) and from_cache(second)
    assert len(list((tmp_path / "users" / "kp" / folder.name).iterdir())) == 1


def test_what_is_compiled_ahead_is_found_by_other_copies_of_the_sources(tmp_path, monkeypatch):
    monkeypatch.setattr(compiled.config, "CACHE_DIR", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "users"))
    for name in ("made", "written"):
        monkeypatch.setattr(compiled.Cache, name, 0)
    monkeypatch.setattr(compiled, "_PACKAGE", tmp_path / "first")
    assert make()(2) == 6 and not (tmp_path / "users").exists()
    monkeypatch.setattr("kp.ahead.fit_all", lambda: None)
    assert __main__.main(["--compile"]) == 0
    monkeypatch.setattr(compiled, "_PACKAGE", tmp_path / "second")
    again = make()
    assert again(2) == 6 and from_cache(again)
    assert __main__.main(["--compile"]) == 0
    shutil.rmtree(tmp_path / "users")
    after = make()
    assert after(2) == 6 and from_cache(after)


def test_a_command_clears_the_cache_and_nothing_else(folder, tmp_path, capsys):
    assert make()(2) == 6
    earlier, other, behind = folder.with_name("kp-" + 16 * "1"), folder.with_name("kp-notes"), tmp_path / "elsewhere"
    link = folder.with_name("kp-" + 16 * "2")
    for each in (earlier, other, behind):
        each.mkdir()
        (each / "code").touch()
    link.symlink_to(behind)
    assert __main__.main(["--clear-cache"]) == 0
    assert capsys.readouterr().out == "".join(f"removed {each}\n" for each in sorted([earlier, folder]))
    assert set(folder.parent.iterdir()) == {other, link}
    assert (other / "code").exists() and (behind / "code").exists()
    assert __main__.main(["--clear-cache"]) == 0
    assert capsys.readouterr().out == "the cache is empty\n"
    function = make()
    assert function(2) == 6 and not from_cache(function)


def test_the_settings_of_numba_are_left_alone(folder):
    before = {name: value for name, value in vars(compiled.config).items() if name.isupper()}
    dispatcher = make()
    assert dispatcher(2) == 6
    assert {name: value for name, value in vars(compiled.config).items() if name.isupper()} == before
    assert "compile" not in vars(dispatcher)


def test_a_function_of_which_there_may_be_several_is_not_cached(folder):
    def times(factor):
        @compiled.compiled
        def product(x):
            return factor * x

        return product

    assert (times(2)(3), times(5)(3)) == (6, 15) and not folder.exists()
    names = {"compiled": compiled.compiled}
    exec("@compiled\ndef double(x):\n    return 2 * x\n", names)
    assert names["double"](3) == 6 and not folder.exists()


def test_two_threads_that_call_a_function_first_take_it_from_the_cache(folder, monkeypatch):
    load = compiled.Cache.load_overload

    def load_slowly(self, signature, context):
        time.sleep(0.1)
        return load(self, signature, context)

    monkeypatch.setattr(compiled.Cache, "load_overload", load_slowly)
    assert make()(2) == 6
    again = make()
    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(again, (2, 3))) == [6, 9]
    assert from_cache(again) and not again.stats.cache_misses


OTHERS = """
import sys
import warnings
import numpy as np
from sklearn.datasets import load_digits, load_iris
from scipy.sparse import csr_array
from kp import *
from kp import compiled
warnings.simplefilter("ignore")
X, y = load_iris(return_X_y=True)
P, z = (part[:100] for part in load_digits(return_X_y=True))
for A, b in ((X, y), (P, z), (P / 16, z), (np.round(P / 16 * 255) / 255, z), (P.astype(int) - 8, z), (csr_array(X), y)):
    for model in (OneVsAllKernelPerceptron(), OneVsAllKernelPerceptron("rbf"), OneVsAllKernelPerceptron("linear"),
                  Romma("rbf"), MulticlassKernelPerceptron("rbf"), OutputCodeKernelPerceptron("rbf", code="binary")):
        model.fit(A, b).predict(A)
        model.predict(A[:1])
OneVsAllKernelPerceptron("rbf").partial_fit(X, y).predict(X)
BudgetPerceptron().fit(X, y).predict(X)
Forgetron().fit(X, y).predict(X)
Norma().fit(X, y).predict(X)
print(compiled.Cache.made)
"""


@pytest.mark.long
def test_after_the_command_that_compiles_no_fit_of_another_process_compiles(tmp_path):
    kept = {name: value for name, value in os.environ.items() if name != "NUMBA_DISABLE_JIT"}
    options = dict(
        cwd=PACKAGE.parent, env=kept | {"XDG_CACHE_HOME": str(tmp_path)}, capture_output=True, text=True, check=True
    )
    done = subprocess.run([sys.executable, "-m", "kp", "--compile"], **options)
    assert "compiled" in done.stdout and done.stdout.count("\n") == 1
    assert subprocess.run([sys.executable, "-c", OTHERS], **options).stdout == "0\n"


def test_functions_that_are_compiled_and_written_are_counted(folder, monkeypatch):
    monkeypatch.setattr(compiled.Cache, "made", 0)
    monkeypatch.setattr(compiled.Cache, "written", 0)
    assert [make()(2), make()(2)] == [6, 6]
    assert (compiled.Cache.made, compiled.Cache.written) == (1, 1)
    monkeypatch.setattr(compiled, "dumps", None)
    assert make()(2.5) == 7.5
    assert (compiled.Cache.made, compiled.Cache.written) == (2, 1)


def test_the_command_that_compiles_says_where_it_cannot_write(folder, monkeypatch, capsys):
    monkeypatch.setattr(compiled.Cache, "made", 1)
    monkeypatch.setattr(compiled.Cache, "written", 0)
    monkeypatch.setattr("kp.ahead.fit_all", lambda: None)
    assert __main__.main(["--compile"]) == 1
    assert str(folder.parent) in capsys.readouterr().err


def test_compiled_code_is_shared_both_ways_and_none_is_replaced(tmp_path, monkeypatch):
    first, second = tmp_path / "first", tmp_path / "second"
    monkeypatch.setattr(compiled.config, "CACHE_DIR", "")
    monkeypatch.setattr(compiled, "folders", lambda: [first, second])
    for folder, files in ((first, {"a.nbc": b"1", "b.nbc": b"2"}), (second, {"b.nbc": b"3", "c.nbc": b"4"})):
        folder.mkdir()
        for name, content in files.items():
            (folder / name).write_bytes(content)
    compiled.share()
    for folder, own in ((first, b"2"), (second, b"3")):
        assert {path.name: path.read_bytes() for path in folder.iterdir()} == {"a.nbc": b"1", "b.nbc": own, "c.nbc": b"4"}
