"""The batch in a folder of its own: interrupted, started twice, with notebooks that fail and files that were deleted.

One small notebook stands for all: it is one of the plan, with the cells that a test needs.
"""

import contextlib
import io
import logging
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from study import ROOT, chapters, progress
from study.report import manifest
from study.report.notebooks import METADATA

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not here")
ON_LINUX = pytest.mark.skipif(sys.platform != "linux", reason="where a process stands is seen on Linux")
QUIET = ["--quiet", "host", "reason", "rules"]  # as in the Makefile
CELLS = """\
from pathlib import Path
from study import style
from study.report.display import open_chapter
---
figures_folder = ""  # where figures are saved
---
open_chapter("algorithm", globals())
def figure_surfaces():
    figure, axes = style.canvas()
    figure.drawn_by = "a function"
    return figure
figure_surfaces()
---
"""


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """A checkout in a folder with blanks, signs and umlauts in its long name; without figures and tests, and with copies of
    executed notebooks that have a title only."""
    folder = tmp_path_factory.mktemp("a") / f"it's a study & $HOME, {'größer ' * 12}".strip()
    command = ["git", "ls-files", "-co", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    for name in listed.stdout.splitlines():
        if (ROOT / name).is_file() and not name.startswith(("notebooks/executed", "figures", "tests")):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    title = new_notebook(cells=[new_markdown_cell("# Title")], metadata=METADATA)
    for profile in chapters.PROFILES:
        for chapter in chapters.chapters(profile):
            for path in [chapter.target(profile), *manifest.pictures(chapter)]:
                target = folder / path.relative_to(ROOT)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(nbformat.writes(title) if target.suffix == ".ipynb" else "<svg></svg>")
    return folder


@pytest.fixture
def write(checkout):
    """A function that puts the small notebook, which ends in a cell of this code, into the checkout."""

    def write(code):
        cells = [new_code_cell(source.strip()) for source in (CELLS + code).split("---\n")]
        cells[1].metadata["tags"] = ["parameters"]
        cells.insert(3, new_markdown_cell("A caption.", metadata={"tags": ["caption:surfaces"]}))
        notebook = new_notebook(cells=[new_markdown_cell("# Title"), *cells], metadata=METADATA)
        nbformat.write(notebook, checkout / "notebooks" / "algorithm.ipynb")

    return write


def start(checkout, *options, target="notebooks", profile="quick", notebooks="algorithm", recompute=0):
    """The batch as `make report` starts it, in a group of processes of its own."""
    command = [sys.executable, "workflow/batch.py", "--profile", "workflow/profiles/default", *options]
    command += ["--config", f"profile={profile}", f"notebooks={notebooks}", f"recompute={recompute}", "--", target]
    cache = str(ROOT / "build" / "numba")
    environment = {**os.environ, "PYTHONPATH": str(checkout), "NUMBA_CACHE_DIR": cache}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    return subprocess.Popen(command, cwd=checkout, env=environment, start_new_session=True, **pipes)


def run(checkout, *options, **others):
    """(exit code, output) of the whole batch."""
    process = start(checkout, *options, **others)
    output, _ = process.communicate(timeout=300)
    return process.returncode, output


def left(folder):
    """The numbers of the processes whose current folder lies below a folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if (process / "cwd").readlink().is_relative_to(folder):
                found.append(int(process.name))
    return found


def wait_until(condition):
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, "it did not happen within a minute"
        time.sleep(0.1)


@ON_LINUX
@pytest.mark.long
def test_a_killed_run_leaves_no_process_and_no_lock_and_of_two_at_once_the_second_ends(checkout, write):
    begun = checkout / "begun"
    go = checkout / "go"
    write("import time\nPath('../begun').touch()\nwhile not Path('../go').exists():\n    time.sleep(0.05)\nprint('done')")
    killed = start(checkout, *QUIET)
    try:
        wait_until(begun.exists)
        code, output = run(checkout, *QUIET)
        assert code != 0 and output.startswith("Another batch is running in ") and output.count("\n") == 1
    finally:
        killed.kill()  # Snakemake alone, as the system does when memory runs out
        killed.wait()
    wait_until(lambda: not left(checkout))
    killed.communicate()
    executed = checkout / "build/quick/notebooks/algorithm.ipynb"
    assert "done" not in executed.read_text(encoding="utf-8")
    begun.unlink()
    interrupted = start(checkout, *QUIET)
    wait_until(begun.exists)
    os.killpg(interrupted.pid, signal.SIGINT)  # Ctrl-C
    output, _ = interrupted.communicate(timeout=60)
    assert output.splitlines()[-2:] == ["", "Interrupted; what was finished is kept."] and "rror" not in output
    go.touch()
    code, output = run(checkout, *QUIET)
    assert code == 0, output
    assert re.search(r"^\[1/1\] the notebooks: \d+ s$", output, re.MULTILINE)
    assert not re.search("Building DAG|Using shell|Select jobs|Execute |Complete log|Elapsed time", output)
    assert "done" in executed.read_text(encoding="utf-8")
    code, output = run(checkout, "--quiet", "host")
    assert code == 0 and "Nothing to be done" in output


PARTS = """
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from types import SimpleNamespace
import study
study.time = SimpleNamespace(sleep=lambda seconds: time.sleep(seconds / 20))  # the seconds that it leaves for an orderly end
if __name__ == "__main__":
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        found = [pool.submit(time.sleep, 1000) for _ in range(2)]
        print("begun", flush=True)
"""


@ON_LINUX
def test_processes_that_compute_parts_end_with_the_batch(tmp_path):
    (tmp_path / "parts.py").write_text(PARTS)
    leader = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"])
    environment = os.environ | {"KP_LEADER": str(leader.pid), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "parts.py"]
    parts = subprocess.Popen(
        command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    )
    try:
        assert parts.stdout.readline() == b"begun\n"
        wait_until(lambda: len(left(tmp_path)) >= 3)
        leader.kill()
        leader.wait()
        wait_until(lambda: not left(tmp_path))
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(parts.pid, signal.SIGKILL)
        parts.communicate()


def planned(checkout, profile, *options, **others):
    """The names of the rules that a dry run would run, and their commands."""
    options = ["--dry-run", "--printshellcmds", "--quiet", "host", *options]
    code, output = run(checkout, *options, target="report", profile=profile, **others)
    assert code == 0, output
    names = set(re.findall(r"^(?:local)?rule (\w+):", output, re.MULTILINE)) - {"report"}
    return names, re.findall(r"^.* -m study .*$", output, re.MULTILINE)


@pytest.mark.long
def test_a_notebook_that_is_not_current_is_executed_and_one_that_is_not_in_the_plan_is_refused(checkout):
    copy = checkout / "build/quick/notebooks/algorithm.ipynb"
    content = copy.read_bytes()
    copy.unlink()
    names, commands = planned(checkout, "quick")
    copy.write_bytes(content)
    assert names == {"execute", "quick_document", "document", "ledger"}
    (command,) = (each for each in commands if " notebook " in each)
    words = shlex.split(command)
    asked = ["notebook", "algorithm", "--profile", "quick", "--jobs", "2"]
    assert words[words.index("study") + 1 :][: len(asked)] == asked
    code, output = run(checkout, "--dry-run", notebooks="algorithm; touch here")
    assert code != 0 and "notebook must be one of" in output


@pytest.mark.long
def test_a_result_that_was_deleted_is_computed_again_with_all_that_reads_it(checkout):
    deleted = checkout / "data/results/seeds_source_grid.csv"
    content = deleted.read_bytes()
    deleted.unlink()
    names, _ = planned(checkout, "full", notebooks="seeds")
    deleted.write_bytes(content)
    documents = {"execute", "gathered", "document", "ledger"}
    ledger = {f"experiment_{each.name.replace('.', '_')}" for each in chapters.experiments("claims")}
    assert {name for name in names if name.startswith("experiment_seeds")} == {"experiment_seeds_source_grid"}
    assert names == {"data", "experiment_seeds_source_grid", *ledger, *documents}


@pytest.mark.long
def test_all_is_computed_again_but_what_other_peoples_software_found(checkout):
    names, commands = planned(checkout, "full", recompute=1, notebooks="seeds")
    found = {name.removeprefix("experiment_") for name in names if name.startswith("experiment_")}
    computed = {each.name.replace(".", "_") for each in chapters.all_experiments()}
    foreign = {f"lower_{name}" for name in ("again", "choices", "intelex", "learners", "machines", "networks")}
    assert foreign < computed and found == computed - foreign
    assert all("--recompute" in each for each in commands if "study run" in each)


@pytest.mark.long
def test_after_an_interruption_what_was_computed_again_stays_unless_its_code_was_edited_since(checkout):
    names = ("marks/data", "again/seeds.facts", "again/course.steps")
    fetched, done, edited = (checkout / "build/full" / name for name in names)
    for mark in (fetched, done, edited):
        mark.parent.mkdir(parents=True, exist_ok=True)
        mark.touch()
    os.utime(edited, (1e9, 1e9))  # in 2001: its code is newer
    try:
        names, _ = planned(checkout, "full", recompute=1, notebooks="seeds")
        assert "experiment_seeds_facts" not in names and "data" not in names
        assert {"experiment_course_steps", "experiment_seeds_misprint", "experiment_claims_ledger", "document"} < names
        ordinary, _ = planned(checkout, "full", notebooks="seeds")
        assert not {name for name in ordinary if name.startswith("experiment")}
    finally:
        fetched.unlink()
        shutil.rmtree(done.parent)


NAME = "$(shell touch made)$(touch made)`touch made`'a.ipynb"


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not here")
@pytest.mark.parametrize(
    ("target", "variables", "option", "expected"),
    [
        ("pdf", ["NOTEBOOKS='a b.ipynb' `touch${IFS}made`.ipynb"], "--notebooks", ["a b.ipynb", "`touch${IFS}made`.ipynb"]),
        ("check", [f"HANDIN={NAME}", "YES="], "check", ["--timeout", "600", NAME]),
        ("check", [f"HANDIN={NAME}", "YES=0"], "check", ["--timeout", "600", NAME]),
        ("check", [f"HANDIN={NAME}", "YES=1", "TIMEOUT=60"], "check", ["--timeout", "60", "--yes", NAME]),
    ],
)
def test_make_passes_names_of_notebooks_on_as_they_were_typed_and_asks_unless_told_otherwise(
    target, variables, option, expected
):
    shown = ["PYTHON=true", r"PY=printf '%s\n'"]  # in place of running the command, its words, one a line
    command = ["make", "--silent", target, *shown, *variables]
    words = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    assert words[words.index(option) + 1 :] == expected


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not here")
@pytest.mark.parametrize(
    ("target", "variables", "message"),
    [
        ("report", ["PROFILE=ful"], "PROFILE must be one of quick full, got ful"),
        ("report", ["RECOMPUTE=yes"], "RECOMPUTE must be one of 0 1, got yes"),
        ("pdf", ["CODE=no"], "CODE must be one of 0 1, got no"),
        ("check", ["HANDIN=a.ipynb", "YES=no"], "YES must be one of 0 1, got no"),
        ("report", ["REPORT=hermans"], "REPORT=hermans is for make pdf; make report writes the report of the study"),
        ("pdf", ["NOTEBOOKS=a.ipynb", "SHEET=exercises"], "NOTEBOOKS prints your own runs; leave REPORT and SHEET out"),
    ],
)
def test_make_refuses_a_value_that_would_be_ignored_or_taken_for_another_in_one_line(target, variables, message):
    command = ["make", "--silent", target, "PYTHON=true", "PY=false", *variables]
    alone = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    done = subprocess.run(command, cwd=ROOT, env=alone, capture_output=True, text=True)
    (line,) = done.stderr.splitlines()
    assert done.returncode == 2 and f"*** {message}." in line


@pytest.mark.long
@pytest.mark.parametrize(
    ("values", "message"),
    [
        (["recompute=yes"], "recompute: expected 1 (on) or 0 (off), got 'yes'"),
        (["recompte=1"], "--config recompte: no such value, only profile, recompute, report"),
        (["table=x.csv"], "--config table: there is no batch whose table it names"),
        (["profile=quick", "notebooks=front"], "notebook must be one of algorithm, mnist"),
    ],
)
def test_the_workflow_refuses_values_that_it_would_ignore_without_a_traceback(checkout, values, message):
    command = [sys.executable, "-m", "snakemake", "--dry-run", "--quiet", "all", "--config", *values, "--", "notebooks"]
    environment = os.environ | {"PYTHONPATH": str(checkout)}
    done = subprocess.run(command, cwd=checkout, capture_output=True, text=True, env=environment)
    assert done.returncode and message in done.stdout + done.stderr and "Traceback" not in done.stdout + done.stderr


@pytest.mark.long
def test_a_failed_notebook_its_cell_and_its_log_are_named_each_time_and_its_former_copy_stays(checkout, write):
    write("1 / 0")
    copy = checkout / "build/quick/notebooks/algorithm.ipynb"
    before = copy.read_bytes()
    for _ in range(2):
        code, output = run(checkout, *QUIET)
        assert code != 0 and "algorithm failed, build/quick/logs/algorithm.log:" in output
        assert re.search(r"algorithm\.ipynb: cell 6 \(1 / 0\) failed:\n  ZeroDivisionError: division by zero\n", output)
        assert copy.read_bytes() == before


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize("stream", [io.StringIO, Terminal])
def test_a_batch_says_what_has_ended_its_seconds_and_about_how_long_the_rest_will_take(monkeypatch, stream):
    monkeypatch.syspath_prepend(ROOT / "workflow")
    import messages

    now = [0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    jobs = {"a": ("notebook a", None), "b": ("notebook b", 30.5), "c": ("report", None)}
    output = stream()
    said = messages.Messages(jobs, 2, output)

    def log(event, message="", **values):
        record = logging.makeLogRecord({"msg": message, "event": event, **values})
        return said.filter(record)

    assert log(None, "Error before anything runs")
    assert log("job_info", rule_name="a", jobid=1) and not log("job_finished", job_id=1)  # a cluster's job plans nothing
    assert not log("run_info", stats={"a": 1, "b": 1, "c": 1, "all": 1, "total": 4})
    assert log("job_info", rule_name="a", jobid=1) and log("job_info", rule_name="b", jobid=2)
    assert log("job_info", rule_name="b", jobid=2)  # once more, as a cluster has lost it
    now[0] = 10
    assert not log("job_finished", job_id=1)
    assert log("job_info", rule_name="all", jobid=9) and not log("job_finished", job_id=9)
    assert log(None, "Error in rule b") and not log(None, "Complete log(s): /home/a")
    # 20 more seconds of b, which began when a did, and 10 of c, by the mean of what has ended, on two cores.
    lines = output.getvalue()
    if stream is Terminal:
        assert "\r\x1b[Kat work: notebook a, notebook b …\r" in lines
        assert lines.endswith("at work: notebook b, about 15 s left …")
    else:
        begun = [f"at work: notebook {name}\n" for name in "abb"]
        assert lines == "".join([*begun, "[1/3] notebook a: 10 s, about 15 s left\n"])
    interrupted = logging.makeLogRecord({"msg": "Terminating processes on user request, this might take some time."})
    assert said.filter(interrupted) and interrupted.msg == "\nInterrupted; what was finished is kept."
    assert (
        not said.filter(interrupted) and not log("error", "CalledProcessError in file a") and not log(None, "At least one")
    )
