"""The batch in a folder of its own: interrupted, started twice, with notebooks that fail and files that were deleted.

One small notebook stands for all: it is one of the plan, with the cells that a test needs.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import time

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
import matplotlib.pyplot as plt
from study.report.display import open_chapter
---
figures_folder = ""  # where figures are saved
---
chapter = open_chapter("algorithm", globals())
chapter.figure("surfaces", plt.figure(), "Nothing.")
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


def start(checkout, *, target="build/quick/marks/executed"):
    """Snakemake as `make report` starts it, in a group of processes of its own."""
    command = [sys.executable, "-m", "snakemake", "--profile", "profiles/default", *QUIET]
    command += ["--config", "profile=quick", "notebooks=algorithm", "--", target]
    cache = str(ROOT / "build" / "numba")
    environment = {**os.environ, "PYTHONPATH": str(checkout), "NUMBA_CACHE_DIR": cache}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    return subprocess.Popen(command, cwd=checkout, env=environment, start_new_session=True, **pipes)


def run(checkout, **options):
    """(exit code, output) of the whole batch."""
    process = start(checkout, **options)
    output, _ = process.communicate(timeout=300)
    return process.returncode, output


def wait_for(path):
    for _ in range(1200):
        if path.exists():
            return
        time.sleep(0.05)
    raise AssertionError(f"{path} was not made")


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


@pytest.mark.long
def test_a_deleted_figure_is_made_again_and_what_is_there_is_not(checkout, write):
    write("1 + 1")
    code, output = run(checkout)
    assert code == 0, output
    before = {name: (checkout / name).read_bytes() for name in (EXECUTED, FIGURE)}
    for name in (FIGURE, None):
        if name:
            (checkout / name).unlink()
        code, output = run(checkout)
        assert code == 0 and ("algorithm: executed" in output) == bool(name), output
        assert {name: (checkout / name).read_bytes() for name in before} == before


def test_a_failed_notebook_and_its_cell_are_named_without_a_terminal(checkout, write):
    write("1 / 0")
    code, output = run(checkout)
    assert code != 0
    assert re.search(r"algorithm: failed[\s\S]*algorithm\.ipynb.*ZeroDivisionError: division by zero in cell 5", output)


def test_a_damaged_executed_copy_is_named_and_the_earlier_report_stays(checkout):
    for name in chapters.report("full"):
        target = checkout / name.target("full").relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        notebook = new_notebook(cells=[new_markdown_cell(f"# {name.name}")], metadata=METADATA)
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
