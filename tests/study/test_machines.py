"""The same bytes on x86 processors with AVX2 and in every surrounding, and an environment for each folder."""

import ast
import hashlib
import importlib.util
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from study import BUILD, HAS_AVX2, KEPT_AT_HOME, ROOT, SAME_BYTES
from study.report.notebooks import METADATA

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


PROCESSOR = """
import builtins, io, os
usual = open
def other(path, *rest, **options):
    return io.StringIO({text!r}) if path == "/proc/cpuinfo" else usual(path, *rest, **options)
builtins.open = other
import study
print(os.environ.get("OPENBLAS_CORETYPE"))
"""


@pytest.mark.skipif(sys.platform != "linux" or platform.machine() != "x86_64", reason="Linux on x86 says what it has")
@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ("fpu sse4_2 avx fma avx2", "Haswell"),
        ("fpu sse4_2", "None"),
        ("fpu sse4_2 avx", "None"),
        ("fpu sse4_2 avx avx2", "None"),
    ],
)
def test_a_processor_without_avx2_is_left_the_loops_that_it_has(flags, expected):
    """OpenBLAS would end in an illegal instruction."""
    program = PROCESSOR.format(text=f"processor : 0\nmodel name : any\nflags\t\t: {flags}\nbugs : none\n")
    clean = {name: value for name, value in os.environ.items() if name not in SAME_BYTES}
    command = [sys.executable, "-c", program]
    assert subprocess.run(command, cwd=ROOT, env=clean, capture_output=True, text=True).stdout == expected + "\n"


@pytest.mark.skipif(sys.platform != "linux" or platform.machine() != "x86_64", reason="Linux on x86 says what it has")
def test_numpy_tells_the_same_of_this_processor_as_linux():
    done = subprocess.run([sys.executable, "-c", HAS_AVX2], env={})
    flags = open("/proc/cpuinfo", encoding="utf-8").read().split()
    assert done.returncode == int(not {"avx2", "fma"} <= set(flags))


WITHOUT = """
import builtins, importlib, os

def hide(name, into=None, *rest, usual=builtins.__import__):
    if name in {modules!r} and (into or {{}}).get("__name__", "").split(".")[0] in ("kp", "study"):
        raise ImportError(name)
    return usual(name, into, *rest)

builtins.__import__ = hide
from study import definitions
for module in definitions.code().modules:
    importlib.import_module(module)
from study.alone import peak_memory
print(peak_memory())
"""


def test_the_study_can_be_imported_where_the_modules_of_unix_are_missing():
    code = WITHOUT.format(modules=("fcntl", "grp", "pwd", "resource", "termios"))
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "nan\n"), done.stderr


def test_a_home_that_cannot_be_written_to_is_left_alone(tmp_path):
    """Nothing is said on stderr, which notebooks must keep empty."""
    home = tmp_path / "absent"
    program = "import study, matplotlib, IPython.paths; print(matplotlib.get_cachedir(), IPython.paths.get_ipython_dir())"
    environment = {name: value for name, value in os.environ.items() if name not in KEPT_AT_HOME} | {"HOME": str(home)}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == (f"{BUILD / 'home' / 'matplotlib'} {BUILD / 'home' / 'ipython'}\n", "")
    assert not home.exists()


@pytest.mark.skipif(sys.platform != "linux", reason="a folder in which root can write nothing is one of Linux")
def test_where_nothing_can_be_written_what_is_kept_goes_to_a_folder_that_ends_with_the_process(tmp_path):
    """Permissions do not tell whether a file can be made: root has that to write below /proc."""
    program = (
        "import sys; from pathlib import Path; mkdir = Path.mkdir\n"
        "def refuse(self, *rest, **options):\n"
        "    if self.name == 'home':\n"
        "        raise PermissionError(self)\n"
        "    mkdir(self, *rest, **options)\n"
        "Path.mkdir = refuse\n"
        "import tempfile; usual = tempfile.TemporaryFile\n"
        "def full(dir):\n"
        "    if str(dir).endswith('home'):\n"
        "        raise PermissionError(dir)\n"
        "    return usual(dir=dir)\n"
        "tempfile.TemporaryFile = full\n"
        "import study, matplotlib, IPython.paths; print(matplotlib.get_cachedir(), IPython.paths.get_ipython_dir())"
    )
    clean = {name: value for name, value in os.environ.items() if name not in KEPT_AT_HOME}
    environment = clean | {"HOME": "/proc", "TMPDIR": str(tmp_path)}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    assert all(Path(path).is_relative_to(tmp_path) for path in done.stdout.split())
    assert list(tmp_path.iterdir()) == []


def test_a_copy_without_the_checkout_is_told_what_is_missing(tmp_path):
    shutil.copytree(ROOT / "study", tmp_path / "study", ignore=shutil.ignore_patterns("__pycache__"))
    command = [sys.executable, "-m", "study", "list"]
    done = subprocess.run(command, cwd=tmp_path, env=os.environ | {"PYTHONPATH": ""}, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("ImportError: study is run from a checkout of the project")


SURROUNDINGS = {
    "eight threads, far away": {
        "LC_ALL": "tr_TR.UTF-8", "LANG": "C", "TZ": "Pacific/Chatham", "PYTHONHASHSEED": "7", "OMP_NUM_THREADS": "8",
        "OPENBLAS_NUM_THREADS": "8", "NUMBA_NUM_THREADS": "8",
    },
    "one thread, nothing set": {
        "LC_ALL": "C", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1",
    },
}  # fmt: skip
PROGRAM = """
import hashlib, os, sys
os.umask(0o077)
from study import store
from study.mnist import experiment as mnist
from study.report import notebooks
study = mnist.Study(dataset="digits", n_epochs=2, n_train=300)
found = mnist.run_together(study.runs()[:3], threads=int(os.environ.get("NUMBA_NUM_THREADS", 2)))
digest = hashlib.sha256()
for result in found:
    for name in mnist.degrees.tables:
        digest.update(store.table_text(result[name]).encode())
    for name, array in sorted(result["arrays"].items()):
        digest.update(f"{name} {array.dtype} {array.shape}".encode() + array.tobytes())
source, target = sys.argv[1:]
notebooks.execute(source, target, {})
print(digest.hexdigest(), hashlib.sha256(open(target, "rb").read()).hexdigest())
"""
NOTEBOOK = """\
import numpy as np
from study import style
figure, axis = style.canvas()
x = np.linspace(0.1, 5, 200)
axis.semilogy(x, np.exp(x) * np.log(1 + x), label="ı ß 1,000.5")
legend = axis.legend()
print(f"{x.std():.17g} {1234.5:n}", sorted({"b", "a", "ä"}))
figure"""


def surrounded(folder, environment):
    """Hashes of a small experiment and of a notebook with a figure, made in a process with these variables and umask 077."""
    cells = [
        new_markdown_cell("# Title"),
        new_code_cell("degree = 1  # of the kernel", metadata={"tags": ["parameters"]}),
        new_code_cell(NOTEBOOK),
    ]
    nbformat.write(new_notebook(cells=cells, metadata=METADATA), folder / "source.ipynb")
    command = [sys.executable, "-c", PROGRAM, str(folder / "source.ipynb"), str(folder / "target.ipynb")]
    done = subprocess.run(command, cwd=ROOT, env=os.environ | environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def usual(tmp_path_factory):
    return surrounded(tmp_path_factory.mktemp("usual"), {})


@pytest.mark.long
@pytest.mark.parametrize("name", SURROUNDINGS)
def test_an_experiment_and_a_notebook_have_the_same_bits_in_every_surrounding(usual, name, tmp_path):
    assert surrounded(tmp_path, SURROUNDINGS[name]) == usual


@pytest.mark.long
@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13", "3.14"])
def test_every_program_is_read_without_a_warning(version):
    program = (
        "import pathlib, sys\n"
        "for path in [p for f in ('kp', 'study', 'benchmarks') for p in pathlib.Path(f).rglob('*.py')]:\n"
        "    compile(path.read_text(encoding='utf-8'), str(path), 'exec')\n"
        "print('%d.%d' % sys.version_info[:2])"
    )
    interpreter = shutil.which(f"python{version}")
    done = interpreter and subprocess.run(
        [interpreter, "-W", "error", "-c", program], cwd=ROOT, capture_output=True, text=True
    )
    if not done or "command not found" in done.stderr:
        pytest.skip(f"Python {version} is not here")
    assert (done.stdout, done.stderr) == (f"{version}\n", "")


def bootstrap(folder):
    folder.mkdir(exist_ok=True)
    shutil.copy(ROOT / "bootstrap.py", folder)
    for name in ("pyproject.toml", "requirements.lock.txt"):
        shutil.copy(ROOT / name, folder)
    (folder / "study").mkdir(exist_ok=True)
    for name in ("__init__.py", "definitions.py", "lock.py", "syntax.py"):
        shutil.copy(ROOT / "study" / name, folder / "study")
    (folder / "data").mkdir(exist_ok=True)
    shutil.copy(ROOT / "data" / "registry.toml", folder / "data")
    spec = importlib.util.spec_from_file_location(
        f"bootstrap_{hashlib.md5(str(folder).encode()).hexdigest()}", folder / "bootstrap.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("how", [shutil.copytree, shutil.move])
def test_an_environment_that_was_copied_or_moved_is_made_again(tmp_path, monkeypatch, how):
    monkeypatch.delenv("CONDA_PREFIX", raising=False)
    monkeypatch.setattr(sys, "argv", ["bootstrap.py"])
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


@pytest.mark.parametrize("how", [shutil.copytree, shutil.move])
def test_the_python_of_an_environment_that_was_copied_or_moved_runs_the_code_beside_it(tmp_path, how):
    first = bootstrap(tmp_path / "one")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(first.VENV)], check=True)
    (site,) = first.VENV.glob("[Ll]ib/**/site-packages")
    (site / "__editable__.kernel_perceptron-0.1.0.pth").write_text(f"{tmp_path / 'one'}\n")  # as pip writes it
    first.relocate()
    how(tmp_path / "one", tmp_path / "two")
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    python = tmp_path / "two" / first.program("python").relative_to(tmp_path / "one")
    command = [str(python), "-c", "import study; print(study.ROOT)"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.stdout == f"{tmp_path / 'two'}\n", done.stderr


SLOW = """
import os, sys, time
sys.argv = ["bootstrap.py"]
import bootstrap
def make():
    with open("made", "a") as file:
        file.write("x")
    time.sleep(0.5)
    bootstrap.program("python").parent.mkdir(parents=True)
    bootstrap.program("python").symlink_to(sys.executable)
    bootstrap.STAMP.write_text(bootstrap.fingerprint())
bootstrap.make = make
bootstrap.main()
"""


def test_of_two_set_ups_at_once_the_second_waits_and_takes_what_the_first_has_made(tmp_path):
    bootstrap(tmp_path)
    clean = {name: value for name, value in os.environ.items() if name not in ("CONDA_PREFIX", "PYTHONPATH")}
    both = [subprocess.Popen([sys.executable, "-c", SLOW], cwd=tmp_path, env=clean) for _ in range(2)]
    assert [process.wait(60) for process in both] == [0, 0]
    assert (tmp_path / "made").read_text() == "x"


def conda(folder, *, path, lacking=()):
    """A folder like that of a conda environment, whose Python has our packages, without some, and this path of its own."""
    (folder / "bin").mkdir(parents=True)
    head = f"import sys; sys.path.insert(0, {str(path)!r})" if path else "import sys"
    hide = f"\nimport importlib.metadata as m; v = m.version\ndef version(name):\n    if name in {lacking!r}:\n"
    hide += "        raise m.PackageNotFoundError(name)\n    return v(name)\nm.version = version\n"
    (folder / "start.py").write_text(head + hide + "sys.argv = sys.argv[2:]\nexec(sys.argv.pop(0) if 0 else sys.argv[0])\n")
    script = f"#!/bin/sh\nexec '{sys.executable}' -P '{folder}/start.py' \"$@\"\n"
    (folder / "bin" / "python").write_text(script)
    (folder / "bin" / "python").chmod(0o755)
    return folder


@pytest.mark.skipif(os.name != "posix", reason="a fake environment of POSIX")
@pytest.mark.parametrize(("own", "lacking", "taken"), [(True, (), True), (True, ("typst",), False), (False, (), False)])
def test_an_active_conda_environment_is_taken_if_it_has_all_packages_and_this_code(tmp_path, own, lacking, taken):
    project = tmp_path / "a project"
    project.mkdir()
    bootstrap(project)
    environment = conda(tmp_path / "an env", path=project if own else ROOT, lacking=lacking)
    variables = os.environ | {"CONDA_PREFIX": str(environment), "PYTHONPATH": ""}
    command = [sys.executable, "bootstrap.py", "--python"]
    done = subprocess.run(command, cwd=project, env=variables, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == (f"{environment}/bin/python" if taken else ".venv/bin/python")


@pytest.mark.long
@pytest.mark.parametrize("version", ["2.7", "3.6", "3.8", "3.10"])
def test_an_old_python_is_told_what_is_needed(version):
    interpreter = shutil.which(f"python{version}")
    done = interpreter and subprocess.run([interpreter, "bootstrap.py"], cwd=ROOT, capture_output=True, text=True)
    if not done or "command not found" in done.stderr:
        pytest.skip(f"Python {version} is not here")
    assert done.returncode == 1
    assert done.stderr.startswith(f"This project needs Python 3.11 or newer, got {version} (")


def test_an_old_python_can_read_the_set_up():
    """What Python 2.7 cannot parse, as far as it is likely; a Python 2.7 is seldom at hand."""
    tree = ast.parse((ROOT / "bootstrap.py").read_text(encoding="utf-8"))
    newer = (
        ast.JoinedStr,
        ast.NamedExpr,
        ast.AnnAssign,
        ast.AsyncFunctionDef,
        ast.Await,
        ast.Nonlocal,
        ast.Match,
        ast.YieldFrom,
    )
    for node in ast.walk(tree):
        assert not isinstance(node, newer), ast.unparse(node)
        if isinstance(node, ast.List | ast.Tuple | ast.Set):
            assert not any(isinstance(each, ast.Starred) for each in node.elts), ast.unparse(node)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print":
            assert not node.keywords and len(node.args) == 1, ast.unparse(node)
        if isinstance(node, ast.arguments):
            assert not node.kwonlyargs and not any(each.annotation for each in node.args)
