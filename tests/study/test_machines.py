"""The same bytes on x86 processors with AVX2 and in every surrounding, and an environment for each folder."""

import importlib.util
import math
import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from study import BUILD, HAS_AVX2, KEPT_AT_HOME, ROOT, SAME_BYTES, failures
from study.report.notebooks import METADATA, limits
from study.results.alone import peak_memory


def run(program, *arguments, without=(), cwd=ROOT, **variables):
    """The process that runs a program, when it has ended: without these environment variables, and with those."""
    kept = {name: value for name, value in os.environ.items() if name not in without}
    command = [sys.executable, "-c", program, *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, env=kept | variables, capture_output=True, text=True)


LOOPS = """
import hashlib, sys
{first}
import numpy as np
from numpy._core._multiarray_umath import __cpu_features__ as features
x = np.random.RandomState(0).uniform(0.001, 50.0, 20000)
values = b"".join(f(x).tobytes() for f in (np.exp, np.log, np.log10)) + np.power(x, 1.7).tobytes()
print(int(any(features.get(name) for name in {names!r})), hashlib.sha256(values).hexdigest()[:16])
"""


def loops(first, **variables):
    """(whether loops for newer processors are in use, hash of values of functions that figures are drawn with)."""
    program = LOOPS.format(first=first, names=SAME_BYTES["NPY_DISABLE_CPU_FEATURES"].split())
    newer, values = run(program, without=SAME_BYTES, **variables).stdout.split()
    return newer == "1", values


def test_functions_have_the_same_bits_on_newer_processors():
    newer, with_study = loops("import study")
    without, plain = loops("")
    assert not newer
    if without:
        assert plain != with_study, "the loops of this processor agree with the others: SAME_BYTES is not needed any more"
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
ON_LINUX_ON_X86 = pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() != "x86_64", reason="Linux on x86 says what it has"
)


@ON_LINUX_ON_X86
@pytest.mark.parametrize(("flags", "expected"), [("fpu avx fma avx2", "Haswell"), ("fpu avx avx2", "None")])
def test_a_processor_without_avx2_is_left_the_loops_that_it_has(flags, expected):
    """OpenBLAS would end in an illegal instruction."""
    program = PROCESSOR.format(text=f"processor : 0\nmodel name : any\nflags\t\t: {flags}\nbugs : none\n")
    assert run(program, without=SAME_BYTES).stdout == f"{expected}\n"


@ON_LINUX_ON_X86
def test_numpy_tells_the_same_of_this_processor_as_linux():
    flags = Path("/proc/cpuinfo").read_text(encoding="utf-8").split()
    assert run(HAS_AVX2, without=SAME_BYTES).returncode == int(not {"avx2", "fma"} <= set(flags))


OF_UNIX = ("fcntl", "grp", "pwd", "resource", "termios")


def test_the_study_can_be_imported_where_the_modules_of_unix_are_missing(monkeypatch):
    at_import = re.compile(rf"^(?:import|from) (?:{'|'.join(OF_UNIX)})\b", re.MULTILINE)
    paths = [path for folder in ("kp", "study") for path in (ROOT / folder).rglob("*.py")]
    assert [path for path in paths if at_import.search(path.read_text(encoding="utf-8"))] == []
    for name in OF_UNIX:
        monkeypatch.setitem(sys.modules, name, None)
    assert math.isnan(peak_memory()) and limits() == ""


FOLDERS = """
import study, os, matplotlib, IPython.paths
print(matplotlib.get_cachedir(), IPython.paths.get_ipython_dir(), os.environ.get("XDG_CACHE_HOME"))
"""


@pytest.mark.parametrize("home", ["home", "home with a file in place of .cache"])
def test_a_home_that_cannot_be_written_to_is_left_alone(tmp_path, home):
    """Programs that run in batch notebooks must keep empty."""
    home = tmp_path / home
    if home.name != "home":
        home.mkdir()
        (home / ".cache").touch()
    done = run(FOLDERS, without=KEPT_AT_HOME, HOME=str(home))
    folders = " ".join(str(BUILD / "home" / name) for name in ("matplotlib", "ipython", "cache"))
    assert (done.stdout, done.stderr) == (f"{folders}\n", "")
    assert [path.name for path in home.parent.rglob("*") if path.is_file()] == [".cache"] * home.exists()


@pytest.mark.long
@pytest.mark.skipif(shutil.which("make") is None, reason="make is not here")
def test_the_batch_starts_without_a_home_and_without_the_code_of_another_checkout(tmp_path):
    """Snakemake makes its cache before it reads the Snakefile."""
    (tmp_path / "study").mkdir()
    (tmp_path / "study" / "__init__.py").write_text("raise ImportError('the study of another checkout')")
    without = {name: value for name, value in os.environ.items() if name not in KEPT_AT_HOME}
    command = ["make", "--silent", "report", "PYTHON=true", f"PY='{sys.executable}'", "ANEW=--list-rules"]
    surroundings = without | {"HOME": "/proc/absent", "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(command, cwd=ROOT, env=surroundings, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "quick_document" in done.stdout


NOTHING_CAN_BE_WRITTEN = """
import tempfile
from pathlib import Path
mkdir, usual = Path.mkdir, tempfile.TemporaryFile
def refuse(self, *rest, **options):
    if self.name == "home":
        raise PermissionError(self)
    mkdir(self, *rest, **options)
def full(dir):
    if str(dir).endswith("home"):
        raise PermissionError(dir)
    return usual(dir=dir)
Path.mkdir, tempfile.TemporaryFile = refuse, full
"""


@pytest.mark.skipif(sys.platform != "linux", reason="a folder in which root can write nothing is one of Linux")
def test_where_nothing_can_be_written_what_is_kept_goes_to_a_folder_that_ends_with_the_process(tmp_path):
    """Permissions do not tell whether a file can be made: root has that to write below /proc."""
    done = run(NOTHING_CAN_BE_WRITTEN + FOLDERS, without=KEPT_AT_HOME, HOME="/proc", TMPDIR=str(tmp_path))
    assert done.stderr == ""
    assert all(Path(path).is_relative_to(tmp_path) for path in done.stdout.split())
    assert list(tmp_path.iterdir()) == []


def test_a_copy_without_the_checkout_is_told_what_is_missing(tmp_path):
    shutil.copytree(ROOT / "study", tmp_path / "study", ignore=shutil.ignore_patterns("__pycache__"))
    done = run("import study", cwd=tmp_path, PYTHONPATH="")
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
from study.results import store
from study.mnist import experiment as mnist
from study.report import notebooks
study = mnist.SixDegrees(dataset="digits", n_epochs=2, n_train=300)
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


@pytest.mark.long
def test_an_experiment_and_a_notebook_have_the_same_bits_in_every_surrounding(tmp_path):
    """Umask 077 and all that is set in SURROUNDINGS change neither results nor a figure."""
    parameters = new_code_cell("degree = 1  # of the kernel", metadata={"tags": ["parameters"]})
    cells = [new_markdown_cell("# Title"), parameters, new_code_cell(NOTEBOOK)]
    nbformat.write(new_notebook(cells=cells, metadata=METADATA), tmp_path / "source.ipynb")
    paths = [tmp_path / "source.ipynb", tmp_path / "target.ipynb"]
    usual = run(PROGRAM, *paths)
    assert usual.returncode == 0, usual.stderr
    for name, variables in SURROUNDINGS.items():
        assert run(PROGRAM, *paths, **variables).stdout == usual.stdout, name


NEEDED = (
    "bootstrap.py", "pyproject.toml", "requirements.lock.txt", "data/registry.toml", "study/__init__.py",
    "study/results/__init__.py", "study/results/code.py",
)  # fmt: skip


def bootstrap(folder):
    """The module bootstrap of a folder with the files that it needs."""
    for name in NEEDED:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    spec = importlib.util.spec_from_file_location("bootstrap", folder / "bootstrap.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_an_environment_that_was_copied_is_made_again_and_until_then_runs_the_code_beside_it(tmp_path, monkeypatch):
    first = bootstrap(tmp_path / "one")
    made(first, monkeypatch, uv_works=True)
    shutil.copytree(tmp_path / "one", tmp_path / "two", symlinks=True)
    second = bootstrap(tmp_path / "two")
    assert first.is_made() and not second.is_made()
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [str(second.program("python")), "-c", "import study; print(study.ROOT)"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.stdout == f"{tmp_path / 'two'}\n", done.stderr


def test_a_command_warns_if_its_code_and_its_environment_belong_to_different_checkouts(tmp_path, monkeypatch, capsys):
    own = tmp_path / "own"
    (own / "study").mkdir(parents=True)
    monkeypatch.setattr(sys, "prefix", str(own / ".venv"))
    failures.warn_of_other_checkout()
    assert capsys.readouterr().err == "", "an environment that belongs to no checkout, such as one of conda"
    (own / "study" / "__init__.py").touch()
    program = f"import runpy, sys; sys.prefix = {sys.prefix!r}; sys.argv = ['study', 'list']; "
    program += "runpy.run_module('study', run_name='__main__', alter_sys=True)"
    (line,) = run(program, cwd=tmp_path, PYTHONPATH=str(ROOT)).stderr.splitlines()
    assert line.startswith(f"study: this runs the code of {ROOT}, with the Python of {own}; ") and "PYTHONPATH" in line


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


def contents(folder):
    """{path: bytes, or None of a folder} of all below a folder."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


def a_link(project):
    project.VENV.symlink_to(project.ROOT.with_name("elsewhere"))


def a_link_to_nothing(project):
    project.VENV.symlink_to(project.ROOT.with_name("absent"))


def a_file(project):
    project.VENV.write_text("mine")


def another_folder(project):
    project.VENV.mkdir()
    (project.VENV / "notes.txt").write_text("mine")


@pytest.mark.parametrize(
    ("put", "message"),
    [
        (a_link, r"\.venv is a link to .*elsewhere\..*Nothing was changed\. Move it away"),
        (a_link_to_nothing, r"\.venv is a link to .*absent\..*Nothing was changed\. Move it away"),
        (a_file, r"\.venv is a file.*Nothing was changed\. Move it away"),
        (another_folder, r"\.venv is not a Python environment.*no pyvenv\.cfg.*Nothing was changed\. Move it away"),
    ],
)
def test_a_set_up_empties_nothing_that_it_has_not_made(tmp_path, put, message):
    project = bootstrap(tmp_path / "project")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "pyvenv.cfg").write_text("an environment of others")
    put(project)
    before = contents(tmp_path)
    clean = {name: value for name, value in os.environ.items() if name != "CONDA_PREFIX"} | {"PIP_NO_INDEX": "1"}
    command = [sys.executable, "-B", "bootstrap.py"]
    done = subprocess.run(command, cwd=project.ROOT, env=clean, capture_output=True, text=True)
    assert done.returncode == 1 and re.search(message, done.stderr)
    assert contents(tmp_path) == before


@pytest.mark.parametrize("there", [[], ["pyvenv.cfg", "old.txt"]])
def test_an_empty_folder_and_an_interrupted_environment_are_made_again(tmp_path, there, monkeypatch):
    project = bootstrap(tmp_path)
    project.VENV.mkdir()
    for name in there:
        (project.VENV / name).touch()
    with monkeypatch.context() as patch:
        seen = []
        usual = subprocess.run

        def run(command, **options):
            seen.append("PYTHONPATH" in os.environ)
            if "venv" in command:
                usual(command, **options)

        patch.setattr(project.subprocess, "run", run)
        patch.setenv("PYTHONPATH", "another")
        patch.delenv("CONDA_PREFIX", raising=False)
        patch.setattr(sys, "argv", ["bootstrap.py"])
        project.main()
    assert seen == 3 * [False] and project.STAMP.exists()


def made(project, monkeypatch, uv_works):
    """The commands by which the environment of a project is made, of which only the first is run; it installs nothing."""
    seen = []
    usual = subprocess.run

    def run(command, check=False, **options):
        seen.append([str(part) for part in command])
        if command[0] == project.program("uv") and check and not uv_works:
            raise subprocess.CalledProcessError(2, command)
        if "venv" in command:
            usual(command, check=check, **options)

    with monkeypatch.context() as patch:
        patch.setattr(project.subprocess, "run", run)
        project.make()
    return seen


def test_the_packages_are_installed_by_uv_which_pip_installs(tmp_path, monkeypatch, capsys):
    project = bootstrap(tmp_path)
    _, getting_uv, with_uv = made(project, monkeypatch, uv_works=True)
    assert getting_uv[-3:-1] == ["--require-hashes", "-r"]
    assert re.fullmatch(r"uv==[0-9.]+ \\\n( +--hash=sha256:\w+( \\)?\n)+", Path(getting_uv[-1]).read_text())
    assert re.search(r"/pip-[0-9.]+-py3-none-any\.whl/pip$", Path(getting_uv[1]).as_posix())
    assert with_uv[-3:] == ["--require-hashes", "-r", str(project.LOCK)]
    assert capsys.readouterr().out == "" and project.STAMP.exists()


def test_where_uv_cannot_get_the_packages_pip_does(tmp_path, monkeypatch, capsys):
    project = bootstrap(tmp_path)
    _, getting_uv, with_uv, with_pip = made(project, monkeypatch, uv_works=False)
    assert with_uv[-3:] == with_pip[-3:] == ["--require-hashes", "-r", str(project.LOCK)]
    assert with_pip[:3] == getting_uv[:3]
    assert "Now pip does" in capsys.readouterr().out and project.STAMP.exists()


def test_where_the_disk_is_too_small_the_set_up_ends_before_it_installs_anything(tmp_path, monkeypatch):
    project = bootstrap(tmp_path)
    monkeypatch.setattr(project.shutil, "disk_usage", lambda path: SimpleNamespace(free=4e8))
    with pytest.raises(SystemExit, match=r"^The environment needs 1\.3 GB in .*, where 0\.4 GB are free\. Free some space"):
        made(project, monkeypatch, uv_works=True)
    assert not (project.VENV / "uv.txt").exists() and not project.STAMP.exists()


@pytest.mark.skipif(sys.platform != "linux", reason="a folder in which root can write nothing is one of Linux")
def test_a_folder_that_cannot_be_written_to_is_named_in_one_line(tmp_path):
    project = bootstrap(tmp_path)
    (tmp_path / "build").symlink_to("/proc/self")
    clean = {name: value for name, value in os.environ.items() if name != "CONDA_PREFIX"}
    command = [sys.executable, "-B", "bootstrap.py"]
    done = subprocess.run(command, cwd=project.ROOT, env=clean, capture_output=True, text=True)
    (line,) = done.stderr.splitlines()
    assert done.returncode == 1 and re.match(r"The environment could not be made in .*: \[Errno 2\] .*It needs", line)


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not here")
def test_make_clean_removes_what_the_project_made_and_nothing_behind_links(tmp_path):
    project, elsewhere = tmp_path / "project", tmp_path / "elsewhere"
    kept = ["project/kp/a.py", "project/own/__pycache__/a", "project/other.egg-info/a", "project/.venv/lib/__pycache__/a"]
    made = ["project/kp/__pycache__/a", "project/study/b/__pycache__/c/d", "project/.snakemake/a", "project/build/a"]
    behind = ["elsewhere/results/a", "elsewhere/__pycache__/a", "elsewhere/deep/__pycache__/a"]
    for name in [*kept, *made, *behind]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    shutil.copy(ROOT / "Makefile", project)
    (project / "build" / "link").symlink_to(elsewhere)
    (project / "tests").symlink_to(elsewhere)
    (project / "study" / "__pycache__").symlink_to(elsewhere / "__pycache__")
    (project / ".pytest_cache").symlink_to(elsewhere)
    for again in (False, True):
        if again:
            (project / "build").symlink_to(elsewhere)
        subprocess.run(["make", "--silent", "clean"], cwd=project, check=True)
        left = {
            path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file() and path.parts[-1] == "a"
        }
        assert {name for name in left if not name.startswith("project/tests")} == {*kept, *behind} - {"project/kp/a.py"}
        assert (project / "kp" / "a.py").exists() and not os.path.lexists(project / "build")
        assert not os.path.lexists(project / ".pytest_cache")


def test_of_two_set_ups_at_once_the_second_waits_and_takes_what_the_first_has_made(tmp_path):
    bootstrap(tmp_path)
    clean = {name: value for name, value in os.environ.items() if name not in ("CONDA_PREFIX", "PYTHONPATH")}
    both = [subprocess.Popen([sys.executable, "-c", SLOW], cwd=tmp_path, env=clean) for _ in range(2)]
    assert [process.wait(60) for process in both] == [0, 0]
    assert (tmp_path / "made").read_text() == "x"


CONDA = """
import sys
sys.path.insert(0, {path!r})
import importlib.metadata
usual = importlib.metadata.version
def version(name):
    if name in {lacking!r}:
        raise importlib.metadata.PackageNotFoundError(name)
    return usual(name)
importlib.metadata.version = version
sys.argv = sys.argv[2:]
exec(sys.argv[0])
"""


@pytest.mark.skipif(os.name != "posix", reason="a fake environment of POSIX")
@pytest.mark.parametrize(("own", "lacking", "taken"), [(True, (), True), (True, ("typst",), False), (False, (), False)])
def test_an_active_conda_environment_is_taken_if_it_has_all_packages_and_this_code(tmp_path, own, lacking, taken):
    project = tmp_path / "a project"
    environment = tmp_path / "an env"
    bootstrap(project)
    (environment / "bin").mkdir(parents=True)
    (environment / "start.py").write_text(CONDA.format(path=str(project if own else ROOT), lacking=lacking))
    python = environment / "bin" / "python"
    python.write_text(f"#!/bin/sh\nexec '{sys.executable}' -P '{environment}/start.py' \"$@\"\n")
    python.chmod(0o755)
    variables = os.environ | {"CONDA_PREFIX": str(environment), "PYTHONPATH": ""}
    command = [sys.executable, "bootstrap.py", "--python"]
    done = subprocess.run(command, cwd=project, env=variables, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == (str(python) if taken else ".venv/bin/python")


def test_an_old_python_is_told_what_is_needed(tmp_path, monkeypatch):
    module = bootstrap(tmp_path)
    monkeypatch.setattr(module.sys, "version_info", (3, 10, 4))
    monkeypatch.setattr(module.sys, "version", "3.10.4 (main)")
    with pytest.raises(SystemExit, match=r"^This project needs Python 3\.11 or newer, got 3\.10\.4 .*make PYTHON="):
        module.check()
