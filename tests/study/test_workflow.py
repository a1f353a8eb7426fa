"""The batch in a folder of its own: interrupted, started twice, with notebooks that fail and files that were deleted.

One small notebook stands for all: it is one of the plan, with the cells that a test needs.
"""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from study import ROOT, chapters, lock
from study.report.notebooks import METADATA

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not here")
QUIET = ["--quiet", "host", "progress", "reason", "rules"]  # as in the Makefile where there is no terminal
EXECUTED, FIGURE = "build/quick/notebooks/algorithm.ipynb", "build/quick/figures/algorithm-surfaces.svg"
CELLS = """\
from pathlib import Path
from study import style
from study.report.display import open_chapter
---
figures_folder = ""  # where figures are saved
---
chapter = open_chapter("algorithm", globals())
figure, axes = style.canvas()
figure.drawn_by = "a function"
chapter.figure("surfaces", figure)
---
"""


def files():
    """The files of the checkout that are or would be committed."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return [name for name in listed.stdout.splitlines() if (ROOT / name).is_file()]


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """A checkout in a folder with blanks, signs and umlauts in its long name; without executed notebooks, figures, tests."""
    folder = tmp_path_factory.mktemp("a") / f"it's a study & $HOME, {'größer ' * 12}".strip()
    for name in files():
        if not name.startswith(("notebooks/executed", "figures", "tests")):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    return folder


@pytest.fixture
def write(checkout):
    """A function that puts the small notebook, which ends in a cell of this code, into the checkout."""

    def write(code):
        cells = [new_code_cell(source.strip()) for source in (CELLS + code).split("---\n")]
        cells[1].metadata["tags"] = ["parameters"]
        notebook = new_notebook(cells=[new_markdown_cell("# Title"), *cells], metadata=METADATA)
        nbformat.write(notebook, checkout / "notebooks" / "algorithm.ipynb")

    return write


def start(checkout, *options, target="build/quick/marks/executed", profile="quick", notebooks="algorithm"):
    """Snakemake as `make report` starts it, in a group of processes of its own."""
    command = [sys.executable, "-m", "snakemake", "--profile", "profiles/default", *QUIET, *options]
    command += ["--config", f"profile={profile}", f"notebooks={notebooks}", "--", target]
    cache = str(ROOT / "build" / "numba")
    environment = {**os.environ, "PYTHONPATH": str(checkout), "NUMBA_CACHE_DIR": cache}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    return subprocess.Popen(command, cwd=checkout, env=environment, start_new_session=True, **pipes)


def run(checkout, *options, **others):
    """(exit code, output) of the whole batch."""
    process = start(checkout, *options, **others)
    output, _ = process.communicate(timeout=300)
    return process.returncode, output


def wait_for(path):
    for _ in range(1200):
        if path.exists():
            return
        time.sleep(0.05)
    raise AssertionError(f"{path} was not made")


@pytest.mark.long
def test_a_run_that_was_killed_goes_on_and_of_two_at_once_the_second_ends(checkout, write):
    begun, go = checkout / "begun", checkout / "go"
    write("import time\nPath('../begun').touch()\nwhile not Path('../go').exists():\n    time.sleep(0.05)\nprint('done')")
    killed = start(checkout)
    try:
        wait_for(begun)
        code, output = run(checkout)
        assert code != 0 and f"process {killed.pid} does so already" in output
    finally:
        os.killpg(killed.pid, signal.SIGKILL)
        killed.communicate()
    begun.unlink()
    go.touch()
    # Notebooks are processes of their own; they notice within a second that nobody leads them any more.
    held = lock.hold(checkout / "build/quick/notebooks.lock", "", wait=True)
    held.close()
    assert not begun.exists() and not (checkout / EXECUTED).exists()
    code, output = run(checkout)
    assert code == 0, output
    assert begun.exists() and "done" in (checkout / EXECUTED).read_text(encoding="utf-8")
    go.unlink()


def left(folder):
    """The numbers of the processes whose current folder lies below a folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if (process / "cwd").readlink().is_relative_to(folder):
                found.append(int(process.name))
    return found


def wait_until_none_is_left(folder):
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and left(folder):
        time.sleep(0.1)
    found = left(folder)
    for process in found:
        os.kill(process, signal.SIGKILL)
    assert not found


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="where a process stands is seen on Linux")
def test_a_batch_that_is_killed_leaves_no_process_behind(checkout, write):
    write("import time\nPath('../asleep').touch()\ntime.sleep(1000)")
    killed = start(checkout)
    wait_for(checkout / "asleep")
    assert len(left(checkout)) > 1
    killed.kill()  # Snakemake alone, as the system does for want of memory
    killed.wait()
    wait_until_none_is_left(checkout)
    killed.communicate()


PARTS = """
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
import study
if __name__ == "__main__":
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        found = [pool.submit(time.sleep, 1000) for _ in range(2)]
        print("begun", flush=True)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="where a process stands is seen on Linux")
def test_processes_that_compute_parts_end_with_the_batch(tmp_path):
    (tmp_path / "parts.py").write_text(PARTS)
    leader = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"])
    environment = os.environ | {"KP_LEADER": str(leader.pid), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "parts.py"]
    parts = subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert parts.stdout.readline() == b"begun\n"
    while len(left(tmp_path)) < 3:
        time.sleep(0.1)
    leader.kill()
    leader.wait()
    wait_until_none_is_left(tmp_path)
    parts.communicate()


@pytest.fixture
def others(checkout):
    """Copies of the notebooks that no test executes, a title each, and files in place of their figures."""
    for profile in chapters.PROFILES:
        for chapter in chapters.chapters(profile):
            if chapter.name != "algorithm" or profile == "full":
                target = checkout / chapter.target(profile).relative_to(ROOT)
                target.parent.mkdir(parents=True, exist_ok=True)
                nbformat.write(new_notebook(cells=[new_markdown_cell(f"# {chapter.name}")], metadata=METADATA), target)
    for path in [*chapters.files("quick"), *chapters.files("full")]:
        target = checkout / path.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.suffix != ".ipynb":
            target.write_text("<dc:source>a function</dc:source>")


@pytest.mark.usefixtures("others")
def test_the_report_makes_again_what_was_deleted_and_nothing_else(checkout, write):
    write("1 + 1")
    code, output = run(checkout, target="report")
    assert code == 0, output
    report = "build/quick/report.html"
    before = {name: (checkout / name).read_bytes() for name in (EXECUTED, FIGURE, report)}
    for deleted in ([EXECUTED, FIGURE], []):
        for name in deleted:
            (checkout / name).unlink()
        code, output = run(checkout, target="report")
        assert code == 0, output
        assert ("algorithm: executed" in output) == (EXECUTED in deleted)
        assert ("Report: " in output) == bool(deleted)
        assert {name: (checkout / name).read_bytes() for name in before} == before


@pytest.mark.long
@pytest.mark.usefixtures("others")
def test_a_stored_result_that_was_deleted_is_made_again_with_all_that_reads_it(checkout):
    shutil.rmtree(checkout / ".snakemake", ignore_errors=True)  # what other tests ran is not recorded
    marks = checkout / "build" / "full" / "marks"
    marks.mkdir(parents=True, exist_ok=True)
    for name in [*(f"{name}.computed" for name in chapters.EXPERIMENTS), "executed", "report.html", "ledger.html"]:
        (marks / name).touch()
        if name.endswith(".html"):
            (marks.parent / name).touch()
    options, asked = ["--dry-run", "--quiet", "host"], {"target": "report", "profile": "full"}
    _, output = run(checkout, *options, **asked)
    assert "Nothing to be done" in output, output
    (checkout / "data" / "results" / "seeds_source_grid.csv").unlink()
    _, output = run(checkout, *options, **asked)
    shutil.copy(ROOT / "data" / "results" / "seeds_source_grid.csv", checkout / "data" / "results")
    for name in ("seeds.computed", "claims.computed", "executed", "report.html", "ledger.html"):
        assert f"output: build/full/marks/{name}" in output
        (marks / name).unlink(missing_ok=True)
    assert "output: build/full/marks/data.computed" not in output


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not here")
def test_names_of_own_notebooks_may_have_blanks_and_are_no_commands():
    shown = ["PYTHON=true", r"PY=printf '%s\n'"]  # in place of running the command, its words, one a line
    command = ["make", "--silent", "pdf", *shown, "NOTEBOOKS='a run.ipynb' `touch${IFS}made`.ipynb"]
    words = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    assert words[words.index("--notebooks") + 1 :] == ["a run.ipynb", "`touch${IFS}made`.ipynb"]


def test_names_from_the_command_line_are_no_commands(checkout):
    code, output = run(checkout, "--force", notebooks="algorithm; touch here")
    assert code != 0 and "notebook must be one of" in output and "got 'algorithm;'" in output
    assert not (checkout / "here").exists()


@pytest.mark.long
def test_a_failed_notebook_and_its_cell_are_named_without_a_terminal(checkout, write):
    write("1 / 0")
    code, output = run(checkout)
    assert code != 0
    assert re.search(r"algorithm: failed[\s\S]*algorithm\.ipynb.*ZeroDivisionError: division by zero in cell 5", output)


@pytest.mark.long
def test_a_damaged_executed_copy_is_named_and_the_earlier_report_stays(checkout):
    for chapter, _ in chapters.report("full", web=True):
        target = checkout / chapter.target("full").relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        notebook = new_notebook(cells=[new_markdown_cell(f"# {chapter.name}")], metadata=METADATA)
        nbformat.write(notebook, target)
    report, mark = checkout / "build/full/report.html", "build/full/marks/report.html"
    code, output = run(checkout, target=mark)
    assert code == 0, output
    good, damaged = report.read_bytes(), checkout / "notebooks/executed/data.ipynb"
    damaged.write_bytes(damaged.read_bytes()[:-20])
    for _ in range(2):
        code, output = run(checkout, target=mark)
        assert code != 0 and "executed/data.ipynb: expected an executed notebook" in output
        assert report.read_bytes() == good


def test_the_lock_of_a_process_ends_with_it(tmp_path):
    path = tmp_path / "lock"
    program = (
        "import sys, time; from study import lock; held = lock.hold(sys.argv[1], 'a');"
        "print('held', flush=True); time.sleep(100)"
    )
    holder = subprocess.Popen([sys.executable, "-c", program, path], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert holder.stdout.readline() == "held\n"
    with pytest.raises(RuntimeError, match=f"one alone, and process {holder.pid} does so already; wait until"):
        lock.hold(path, "one alone")
    holder.kill()
    holder.communicate()
    lock.hold(path, "one alone").close()
    lock.hold(path, "one alone", wait=True).close()
