"""The text of a run with own parameters is about that run: values in place, and what does not hold in it is listed."""

import json
import os
import re
import signal
import subprocess
import sys
import time

import nbformat
import numpy as np
import pandas as pd
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_raw_cell

from study import chapters, failures
from study.__main__ import main
from study.report.notebooks import METADATA

LABEL = "(?:Figure|Table)\N{NO-BREAK SPACE}\\d+"
OWN = {
    "mnist": "-p n_train 200 -p n_epochs 2 -p n_orders 2 -p n_linear 2 -p n_held 100",
    "class": "-p n_train 200 -p n_epochs 2 -p random_states 3,5,8,11 -p mine 8",
    "coursework": "-p dataset wine-bundled -p n_epochs 2 -p n_splits 3 -p degrees 1:3",
}


def executed(name, folder, *options):
    """The cells of an own run of a notebook by the command that HANDIN.md gives, which writes one file into the folder."""
    target = folder / "my run.ipynb"
    command = [sys.executable, "-m", "study", "papermill", chapters.chapter(name).notebook, target, *options]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=os.environ | {"KP_OFFLINE": "1"})
    assert done.returncode == 0, done.stderr
    assert [path.name for path in folder.iterdir() if path.suffix != ".csv"] == [target.name]
    return nbformat.read(target, as_version=4).cells


def said(cells):
    return "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")


@pytest.mark.long
@pytest.mark.parametrize("name", OWN)
def test_an_own_run_shows_all_that_it_names_and_lists_what_does_not_hold(name, tmp_path):
    cells = executed(name, tmp_path, *OWN[name].split())
    text = said(cells)
    shown = set(re.findall(rf"^\*\*({LABEL})\.\*\*", text, re.MULTILINE))
    assert shown and set(re.findall(LABEL, text)) <= shown and "{eval}" not in text
    tags = {tag for cell in cells for tag in cell.metadata.get("tags", [])}
    assert not tags & {"published", "left-out"}
    assert re.search(r"Of \d+ texts that have conditions[^\n]*\n\n- ", cells[-1].source) and "statements" in tags
    assert re.search(r" \(False: `.+`\.\)$", cells[-1].source, re.MULTILINE) and "% holds" not in text


@pytest.mark.long
def test_the_tour_takes_a_file_of_two_classes(tmp_path):
    random = np.random.default_rng(1)
    X = random.normal(size=(160, 3)) * (1, 1, 1000)
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(kind=np.where(X[:, 0] + X[:, 1] ** 2 > 0.5, "yes", "no"))
    frame.to_csv(tmp_path / "mine.csv", index=False)
    cells = executed("tour", tmp_path, "-p", "csv", str(tmp_path / "mine.csv"))
    assert "We have 90 examples to learn from" in said(cells)


def test_a_notebook_or_a_folder_that_is_not_there_is_named_in_one_line(tmp_path, capsys):
    assert main(["papermill", str(tmp_path / "nope.ipynb"), str(tmp_path / "out.ipynb")]) == 1
    assert "nope.ipynb: there is no such notebook; correct the path" in capsys.readouterr().err and not list(
        tmp_path.iterdir()
    )
    source = str(chapters.chapter("setup").notebook)
    assert main(["papermill", source, str(tmp_path / "absent" / "out.ipynb")]) == 1
    assert f"the folder {tmp_path / 'absent'} does not exist; create it first" in capsys.readouterr().err


def test_words_that_cannot_have_their_values_are_named_in_one_line(tmp_path, capsys):
    executed = chapters.chapter("setup").target("full")
    (tmp_path / "a.ipynb").write_text("an earlier run")
    assert main(["papermill", str(executed), str(tmp_path / "a.ipynb")]) == 1
    assert capsys.readouterr().err.splitlines()[-1].startswith(f"study: {executed}: this is an executed copy")
    assert (tmp_path / "a.ipynb").read_text() == "an earlier run"
    wrong = new_notebook(cells=[new_markdown_cell("Of {eval}`absent`.")], metadata=METADATA)
    nbformat.write(wrong, tmp_path / "own.ipynb")
    assert main(["papermill", str(tmp_path / "own.ipynb"), str(tmp_path / "a.ipynb")]) == 1
    assert capsys.readouterr().err.splitlines()[-1].startswith("study: ValueError: {eval}`absent`: NameError: name 'absent'")


@pytest.mark.parametrize("between", [new_code_cell(""), new_raw_cell("mine")])
def test_a_caption_finds_its_table_above_cells_that_run_nothing(between, tmp_path):
    given = new_code_cell('figures_folder = ""', metadata={"tags": ["parameters"]})
    begun = new_code_cell("import pandas as pd\nfrom study.report import open_chapter\nopen_chapter('setup', globals())")
    table = new_code_cell("pd.DataFrame({'a': [1]})")
    caption = new_markdown_cell("**Mine.**", metadata={"tags": ["caption:mine"]})
    notebook = new_notebook(cells=[given, begun, table, between, caption], metadata=METADATA)
    nbformat.write(notebook, tmp_path / "own.ipynb")
    assert main(["papermill", str(tmp_path / "own.ipynb"), str(tmp_path / "a.ipynb")]) == 0
    cells = nbformat.read(tmp_path / "a.ipynb", as_version=4).cells
    assert (
        re.match(rf"\*\*{LABEL}\.\*\* \*\*Mine", cells[-1].source) and "| 1 |" in cells[2].outputs[0].data["text/markdown"]
    )


SETUP = chapters.chapter("setup")


@pytest.mark.parametrize("target", [SETUP.notebook, SETUP.target("full"), SETUP.target("full").with_name("mine.ipynb")])
def test_a_run_of_ones_own_replaces_no_file_of_the_study_and_is_not_among_its_results(target, capsys):
    before = target.read_bytes() if target.exists() else None
    assert main(["papermill", str(chapters.chapter("setup").notebook), str(target)]) == 1
    assert f"{target}: the output would overwrite a file of the study; write to " in capsys.readouterr().err
    assert (target.read_bytes() if target.exists() else None) == before


MARK = "\N{ZERO WIDTH NO-BREAK SPACE}"
DEFAULTS = new_code_cell("a = 1", metadata={"tags": ["parameters"]})


def written(path, *cells, **metadata):
    """A notebook of these cells in a file; returns its text."""
    text = nbformat.writes(new_notebook(cells=[*cells], metadata=METADATA | metadata))
    path.write_text(text, encoding="utf-8")
    return text


def refused(folder, capsys, *options, target="out.ipynb"):
    """The lines that say why a run of own.ipynb is refused; an earlier output stays."""
    (folder / "out.ipynb").write_text("earlier")
    capsys.readouterr()
    assert main(["papermill", str(folder / "own.ipynb"), str(folder / target), *options]) == 1
    assert (folder / "out.ipynb").read_text() == "earlier"
    return capsys.readouterr().err.splitlines()


@pytest.mark.parametrize(
    ("cells", "found"),
    [
        ([], "no cell has"),
        ([DEFAULTS, new_code_cell("b"), new_code_cell("a = 2", metadata=DEFAULTS.metadata)], "cells 1, 3 have"),
    ],
)
@pytest.mark.parametrize("options", ["-p a 2", "-r a 2", "-y {a:2}", "-b e2E6MX0=", "-f some.yaml"])
def test_values_for_a_notebook_without_one_cell_for_them_are_refused(cells, found, options, tmp_path, capsys):
    written(tmp_path / "own.ipynb", *cells)
    (line,) = refused(tmp_path, capsys, *options.split())
    assert line.startswith(
        f"study: {tmp_path / 'own.ipynb'}: parameters were given, and {found} the tag 'parameters'; give it"
    )


def test_a_kernel_and_a_place_for_the_output_are_looked_for_before_anything_is_written(tmp_path, capsys):
    written(tmp_path / "own.ipynb", DEFAULTS, kernelspec={"name": "conda-env-ml-py", "display_name": "ml"})
    (line,) = refused(tmp_path, capsys)
    assert "the notebook needs the kernel 'conda-env-ml-py', which is not installed" in line and line.endswith("-k python3")
    (line,) = refused(tmp_path, capsys, target=".")
    assert line.endswith(f"the output is a folder, not a file; write to {tmp_path / 'own.ipynb'}")


def test_a_kernel_that_is_named_is_used_and_python3_is_that_of_this_python(foreign_kernel, tmp_path):
    folder = tmp_path / "share" / "kernels" / "mine"
    folder.mkdir()
    starts = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    spec = {"argv": starts, "display_name": "Mine", "language": "python", "env": {"WHOSE": "mine"}}
    (folder / "kernel.json").write_text(json.dumps(spec))
    written(tmp_path / "own.ipynb", new_code_cell("import os\nos.environ.get('WHOSE', 'python3')"))
    for kernel in ("mine", "python3"):
        arguments = [str(tmp_path / "own.ipynb"), str(tmp_path / "out.ipynb"), "-k", kernel, "--no-progress-bar"]
        assert main(["papermill", *arguments]) == 0
        (cell,) = nbformat.read(tmp_path / "out.ipynb", as_version=4).cells
        assert cell.outputs[0].data["text/plain"] == repr(kernel)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: "", "the file is empty"),
        (lambda text: text.replace('"a = 1"', '<<<<<<< HEAD\n"a = 1"\n=======\n"a = 2"\n>>>>>>> other'), "conflict marks"),
        (lambda text: text.replace('"nbformat": 4', '"nbformat": 7'), "notebook format 7 is not supported"),
        (lambda text: text[:80], "not a notebook: the file is not JSON, or was cut short (Unterminated"),
        (lambda text: "[" * 100_000, "not a notebook: the file is not JSON, or was cut short (maximum recursion depth"),
        (lambda text: "{}", "not a notebook"),
    ],
)
def test_a_file_that_is_no_notebook_is_said_to_be_none_in_one_line_by_papermill_and_report(
    change, message, tmp_path, capsys
):
    (tmp_path / "own.ipynb").write_text(change(written(tmp_path / "own.ipynb", DEFAULTS)))
    (line,) = refused(tmp_path, capsys)
    assert line.startswith(f"study: {tmp_path / 'own.ipynb'}: ") and message in line
    target = str(tmp_path / "out.html")
    assert main(["report", "--notebooks", str(tmp_path / "own.ipynb"), "--target", target]) == 1
    assert capsys.readouterr().err == line + "\n"


def test_a_notebook_with_a_byte_order_mark_is_run_and_a_cell_that_fails_is_said_in_three_lines(tmp_path, capsys):
    failing = new_code_cell("import math\nmath.sqrt(-a)")
    (tmp_path / "own.ipynb").write_text(MARK + written(tmp_path / "own.ipynb", DEFAULTS, failing), encoding="utf-8")
    target = tmp_path / "out.ipynb"
    assert main(["papermill", str(tmp_path / "own.ipynb"), str(target), "-p", "a", "2", "--no-progress-bar"]) == 1
    assert capsys.readouterr().err.splitlines()[-3:] == [
        f"study: {tmp_path / 'own.ipynb'}: cell 2 (import math) failed:",
        "  ValueError: math domain error",
        f"  the whole traceback is in {target}",
    ]
    assert any("Traceback" in str(cell.get("outputs")) for cell in nbformat.read(target, as_version=4).cells)


def test_of_a_long_message_of_a_cell_the_remedy_in_its_last_line_is_said():
    def said(message):
        return failures.cell_failed("a.ipynb", "cell 4", "DataError", message, "see b").splitlines()[1:-1]

    assert said("no file") == ["  DataError: no file"] and said("") == ["  DataError: no message"]
    assert said("no file:\n  put it there") == ["  DataError: no file:", "  put it there"]
    assert said("no file:\nx\ny\nput it there\n") == ["  DataError: no file:", "  ... put it there"]


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_an_interrupted_run_says_so_in_one_line(tmp_path):
    written(tmp_path / "own.ipynb", DEFAULTS, new_code_cell("import time\nopen('begun', 'w')\ntime.sleep(60)"))
    command = [sys.executable, "-m", "study", "papermill", "own.ipynb", "out.ipynb", "--no-progress-bar"]
    # What a shell starts in the background ignores interrupts, and so does all that it starts.
    heeded = {"preexec_fn": lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)}
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True, **heeded)
    while not (tmp_path / "begun").exists() and process.poll() is None:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    *others, last = process.communicate(timeout=60)[1].splitlines()
    assert process.returncode == 130 and last == "study: interrupted; what was finished is kept"
    assert all(re.match("(Input|Output) Notebook: |Executing notebook", line) for line in others)


def test_a_kernel_that_is_killed_ends_in_one_line_that_says_what_is_the_usual_reason(tmp_path, capsys):
    written(tmp_path / "own.ipynb", DEFAULTS, new_code_cell("import os\nos.kill(os.getpid(), 9)"))
    assert main(["papermill", str(tmp_path / "own.ipynb"), str(tmp_path / "out.ipynb"), "--no-progress-bar"]) == 138
    *_, last = capsys.readouterr().err.splitlines()
    assert "own.ipynb: Kernel died in cell 2 (import os): most often the computer has run out of memory" in last
