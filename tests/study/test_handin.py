"""A notebook that was handed in is held against its source, then run again: what is equal passes, what is not is named.

What it runs is somebody else's: it runs after consent only, and apart from the rest of this computer.
"""

import base64
import io
import json
import os
import shutil
import socket
import subprocess
import sys

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output
from PIL import Image

from study import ROOT
from study.__main__ import main
from study.report import enclosure, handin
from study.report.enclosure import Enclosure

OPEN = Enclosure(network=False, files=False)
STRONGEST = enclosure.strongest()


@pytest.fixture
def handed_in(tmp_path):
    """A function that writes a small notebook of cells of these sources and gives its path."""

    def write(*sources, tags=()):
        cells = [new_code_cell(source, metadata={"tags": list(tags)} if tags else {}) for source in sources]
        nbformat.write(new_notebook(cells=cells), tmp_path / "small.ipynb")
        return tmp_path / "small.ipynb"

    return write


def seen(path):
    """The Code of a notebook."""
    return handin.code(path, handin.read(path))


def cell(shown):
    """A cell that shows a text, or a bundle of data."""
    outputs = [new_output("stream", text=shown)] if isinstance(shown, str) and shown else []
    outputs += [new_output("display_data", shown)] if isinstance(shown, dict) else []
    return new_code_cell("show()", outputs=outputs)


@pytest.fixture
def compared(monkeypatch):
    """A function: the Outputs of a notebook of one cell whose new run shows something else."""

    def compare(shown, again):
        monkeypatch.setattr(handin, "_executed_again", lambda *_: new_notebook(cells=[cell(again)]))
        return handin.outputs("", new_notebook(cells=[cell(shown)]), OPEN)

    return compare


def texts(path, apart):
    """What the code cells of a notebook print when it is run again, and the differences found."""
    notebook = handin.read(path)
    again = handin._executed_again(path, notebook, apart, None)
    return ["".join(output.get("text", "") for output in each.outputs) for each in again.cells]


def test_a_notebook_that_comes_out_again_passes(own_run, capsys):
    before = own_run.read_bytes()
    assert main(["check", str(own_run), "--yes"]) == 0
    shown = capsys.readouterr().out
    assert "A run of notebooks/mnist_degree.ipynb, with degree = 7, n_epochs = 2, n_train = 200" in shown
    assert "Its code is that of the source.\nAll numbers, tables and texts come out again." in shown
    pictures = before.count(b'"image/png": "')
    assert pictures and f"Pictures that are equal, pixel by pixel: {pictures}." in shown
    assert f"It ran {STRONGEST}." in shown
    assert own_run.read_bytes() == before


@pytest.mark.usefixtures("foreign_kernel")
def test_a_notebook_is_run_by_this_python_with_the_environment_that_it_needs(handed_in, monkeypatch):
    monkeypatch.setenv("SECRET_TOKEN", "secret")
    ask = f"import os; print(os.environ.get('SECRET_TOKEN'), os.path.expanduser('~') == {os.path.expanduser('~')!r})"
    assert texts(handed_in("import sys; print(sys.executable)", ask), OPEN) == [f"{sys.executable}\n", "None False\n"]


def test_a_digit_changed_in_a_table_and_an_added_cell_are_found(own_run, tmp_path, capsys, monkeypatch):
    notebook, again = (nbformat.read(own_run, as_version=4) for _ in range(2))
    ((place, table),) = [
        (place, output.data)
        for place, cell in enumerate(notebook.cells)
        for output in cell.get("outputs", [])
        if "text/markdown" in output.get("data", {}) and 'chapter.table("test_errors"' in cell.source
    ]
    last = table["text/markdown"].splitlines()[-1]
    changed = last.replace("| 2 |", "| 2 | 1", 1).replace("| 1 ", "| 1", 1)
    table["text/markdown"] = table["text/markdown"].replace(last, changed)
    notebook.cells.insert(place + 1, new_code_cell("mine = 1"))
    again.cells.insert(place + 1, new_code_cell("mine = 1"))
    monkeypatch.setattr(handin, "_executed_again", lambda *_: again)  # that it comes out again is seen above
    nbformat.write(notebook, tmp_path / "changed.ipynb")
    assert main(["check", str(tmp_path / "changed.ipynb"), "--yes"]) == 1
    shown = capsys.readouterr().out
    assert f"cell {place + 2} (mine = 1) is not in the source" in shown
    assert f"All lines of its code that are not in the source:\ncell {place + 2}:\n    mine = 1\n" in shown
    assert f"- cell {place + 1} (" in shown and f"“{changed}”, again “{last}”" in shown
    assert shown.count("\n- ") == 2


def test_changed_and_missing_code_is_named_and_other_values_of_parameters_are_not():
    source = nbformat.read(ROOT / "notebooks" / "mnist_degree.ipynb", as_version=4)
    notebook = nbformat.read(ROOT / "notebooks" / "mnist_degree.ipynb", as_version=4)
    parameters = next(cell for cell in notebook.cells if "parameters" in cell.metadata.get("tags", []))
    parameters.source = parameters.source.replace("degree = 3", "degree = 4", 1)
    assert handin._parameters(notebook, source) == "degree = 4" and not list(handin._code_differences(notebook, source))
    assert handin.code("", notebook).lines == ()
    parameters.source += "\nimport os"
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    code[3].source = code[3].source.replace("= experiment.degrees(run)", "= mine(run)")
    notebook.cells.remove(code[-1])
    first, second, third = handin._code_differences(notebook, source)
    assert "is changed" in first and "dataset" in first
    assert "“results = mine(run)”, in the source “results = experiment.degrees(run)”" in second
    assert third.startswith("a cell of the source is missing (hardest = ")
    lines = handin.code("", notebook).lines
    assert "    import os" in lines and "    results = mine(run)" in lines


def test_code_that_calls_itself_injected_parameters_is_code(handed_in):
    found = seen(handed_in("import os", tags=["injected-parameters"]))
    assert found.lines == ("cell 1:", "    import os")


def test_python_files_that_a_notebook_could_import_are_named(handed_in):
    path = handed_in("import numpy")
    assert seen(path).beside == ()
    path.with_name("numpy.py").touch()
    assert "which it can import unseen: numpy.py." in str(seen(path))


def test_signs_that_a_terminal_obeys_are_shown_not_sent(handed_in, compared):
    lines = seen(handed_in("bad()\x1b[2K\rx = 1")).lines
    assert lines == ("cell 1:", "    bad()\\x1b[2K", "    x = 1")
    assert compared("\x1b[2Kb", "a").differences == ("cell 1 (show()): “\\x1b[2Kb”, again “a”",)


def test_a_cell_that_fails_is_named(handed_in, capsys):
    assert main(["check", str(handed_in("x = 1", "1 / 0")), "--yes"]) == 2
    assert "cannot be run: cell 2 (1 / 0) fails: ZeroDivisionError: division by zero" in capsys.readouterr().err


@pytest.mark.long
def test_a_cell_that_takes_too_long_is_named(handed_in, capsys):
    assert main(["check", str(handed_in("import time; time.sleep(60)")), "--timeout", "1", "--yes"]) == 2
    assert "cell 1 (import time; time.sleep(60)) fails: CellTimeoutError" in capsys.readouterr().err


def test_what_is_no_notebook_cannot_be_run(tmp_path, capsys):
    (tmp_path / "text.ipynb").write_text("text")
    cell = {"cell_type": "code", "source": "1", "outputs": [{"output_type": "display_data"}]}
    (tmp_path / "broken.ipynb").write_text(json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    for name in ("text.ipynb", "nothing.ipynb", "broken.ipynb"):
        assert main(["check", str(tmp_path / name), "--yes"]) == 2
        assert f"{name} must be a notebook" in capsys.readouterr().err


def test_a_notebook_of_no_source_is_compared(handed_in, compared):
    assert str(seen(handed_in("print(1)"))) == (
        "No run of a notebook of this project, with the default parameters.\n"
        "All lines of its code that are not in the source:\ncell 1:\n    print(1)"
    )
    assert str(compared("1\n", "1")) == "All numbers, tables and texts come out again."
    assert compared("1\n", "1\n2\n").differences == ("cell 1 (show()): “nothing”, again “2”",)


def test_stderr_and_addresses_are_left_aside(compared):
    assert compared("<object at 0x12ab>\n", "<object at 0x7ff0>\n").differences == ()
    assert handin._shown(new_code_cell(outputs=[new_output("stream", name="stderr", text="7")])) == []


def png(colour, size=(4, 3), **options):
    file = io.BytesIO()
    Image.new("RGB", size, colour).save(file, format="png", **options)
    return base64.b64encode(file.getvalue()).decode()


def test_pictures_are_compared_pixel_by_pixel(compared):
    red = {"image/png": png("red")}
    same = compared({"image/png": png("red", compress_level=0)}, red)
    assert same.differences == () and same.equal_pictures == 1
    for shown, found in (
        ({"image/png": png("blue")}, "picture 1 differs in 12 of 12 pixels"),
        ({"image/png": png("red", (5, 3))}, "picture 1 has 5 x 3 pixels, again 4 x 3"),
        ({"image/png": "AAAA"}, "picture 1 must be a PNG, got UnidentifiedImageError"),
        ("", "picture 1 is missing"),
    ):
        assert compared(shown, red).differences == (f"cell 1 (show()): {found}",)
    assert compared(red, "").differences == ("cell 1 (show()): picture 1 does not come out again",)
    assert str(compared({"image/svg+xml": "<svg/>"}, "")).endswith("Not compared: pictures that are no PNG (1).")


# Consent.


def test_code_is_shown_and_nothing_is_run_without_consent(handed_in, tmp_path, capsys, monkeypatch):
    path = handed_in(f"open({str(tmp_path / 'ran')!r}, 'w')")
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n"))
    assert main(["check", str(path)]) == 3
    shown = capsys.readouterr()
    assert "    open(" in shown.out
    assert f"the code of {path} is run next, as you, {STRONGEST}: {STRONGEST.meaning}." in shown.err
    assert "there is no terminal to ask on; add --yes (make: YES=1)" in shown.err
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(("answer", "code"), [pytest.param("y\n", 0, marks=pytest.mark.long), ("\n", 3), ("n\n", 3)])
def test_on_a_terminal_the_user_is_asked(answer, code, handed_in):
    path = handed_in("1;")
    pty = pytest.importorskip("pty", reason="terminals of this kind are Unix's")
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "study", "check", str(path)]
    with subprocess.Popen(command, stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        os.write(ours, answer.encode())
        out, err = process.communicate(timeout=120)
    assert process.returncode == code and err.endswith("Run it? [y/N] ")
    assert ("come out again" in out) == (code == 0)


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not here")
@pytest.mark.parametrize(("yes", "expected"), [([], []), (["YES=1"], ["--yes"]), (["YES=0"], [])])
def test_make_check_asks_unless_told_otherwise(yes, expected, tmp_path):
    shutil.copy(ROOT / "Makefile", tmp_path)
    for name, program in (("python3", "echo .venv/bin/python"), (".venv/bin/python", 'echo "$@" > arguments')):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"#!/bin/sh\n{program}\n")
        (tmp_path / name).chmod(0o755)
    name = "$(shell touch made)$(touch made)`touch made`'a.ipynb"
    command = ["make", "PYTHON=./python3", "check", f"HANDIN={name}", *yes]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    assert (tmp_path / "arguments").read_text() == " ".join(["-m study check", *expected, name]) + "\n"
    assert not (tmp_path / "made").exists()


# The enclosure.

FAILS = """\
try:
    {}
except OSError as error:
    print(error.strerror)"""
CONNECTS = "socket.create_connection(('{}', {}), 1)"


def is_running(seconds):
    """Whether a process sleeps for this time, which nobody else has."""
    done = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True)
    return f"sleep {seconds}" in done.stdout


def sleeper(seconds):
    """A program that starts a process in a session of its own."""
    return f"import subprocess\nprocess = subprocess.Popen(['sleep', '{seconds}'], start_new_session=True)"


@pytest.mark.long
def test_a_notebook_that_ends_what_runs_it_is_named_and_leaves_nothing_behind(handed_in):
    seconds = 600 + os.getpid() / 1e7
    path = handed_in(sleeper(seconds), "import os, signal; os.kill(os.getppid(), signal.SIGKILL)")
    with pytest.raises(handin.CannotRun, match=r"cell 2 \(import os.*\) fails: it ended the process that runs it"):
        texts(path, OPEN)
    assert not is_running(seconds)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """(folder of a notebook, {name: what its cells print when it is run in the strongest enclosure})."""
    if not STRONGEST.files:
        pytest.skip("this system does not let its users make namespaces")
    folder, home = (tmp_path_factory.mktemp(name) for name in ("notebook", "home"))
    (home / "secret").write_text("secret")
    (folder / "beside.csv").write_text("1")
    path, seconds = folder / "small.ipynb", 700 + os.getpid() / 1e7
    with pytest.MonkeyPatch.context() as patch, socket.create_server(("127.0.0.1", 0)) as server:
        patch.setenv("HOME", str(home))
        port = server.getsockname()[1]
        sources = {
            "seen": f"import os\nprint(open('beside.csv').read(), os.path.exists({str(home / 'secret')!r}))",
            "own outputs": f"print('of the' + ' author' in open({str(path)!r}).read())",
            "written": "open('made', 'w').write('x')\nos.remove('beside.csv')\nprint(sorted(os.listdir()))",
            "project": (
                "from study import ROOT, store\nstore.write(ROOT / 'build' / 'of_a_test', 'x')\n"
                "print((ROOT / 'build' / 'of_a_test').exists(), (ROOT / 'data' / 'registry.toml').exists())"
            ),
            "elsewhere": FAILS.format("open('/etc/of_a_test', 'w')"),
            "this computer": f"import socket\n{FAILS.format(CONNECTS.format('127.0.0.1', port))}",
            "network": FAILS.format(CONNECTS.format("192.0.2.1", 80)),
            "rights": "import subprocess\nprint(subprocess.run(['mount', '-o', 'remount,bind,rw', '/']).returncode)",
            "processes": sleeper(seconds),
            "parent": "import signal\nos.kill(os.getppid(), signal.SIGKILL)\nprint('here')",
        }
        cells = [new_code_cell(source, outputs=cell("of the author").outputs) for source in sources.values()]
        nbformat.write(new_notebook(cells=cells), path)
        yield folder, dict(zip(sources, texts(path, STRONGEST), strict=True)) | {"left": is_running(seconds)}


def test_an_enclosed_notebook_sees_its_folder_and_not_the_users(hostile):
    assert hostile[1]["seen"] == "1 False\n"


def test_an_enclosed_notebook_does_not_find_its_own_outputs(hostile):
    assert hostile[1]["own outputs"] == "False\n" and "of the author" in (hostile[0] / "small.ipynb").read_text()


def test_what_an_enclosed_notebook_writes_is_forgotten(hostile):
    folder, found = hostile
    assert found["written"] == "['made', 'small.ipynb']\n" and found["project"] == "True True\n"
    assert sorted(path.name for path in folder.iterdir()) == ["beside.csv", "small.ipynb"]
    assert not (ROOT / "build" / "of_a_test").exists()
    assert found["elsewhere"] == "Read-only file system\n"


def test_an_enclosed_notebook_has_no_network(hostile):
    assert hostile[1]["this computer"] == "Connection refused\n" and hostile[1]["network"] == "Network is unreachable\n"


def test_an_enclosed_notebook_cannot_undo_that(hostile):
    assert "permission denied" in hostile[1]["rights"]


def test_an_enclosed_notebook_leaves_no_process_and_cannot_end_what_runs_it(hostile):
    assert hostile[1]["left"] is False and hostile[1]["parent"] == "here\n"


def test_where_the_system_offers_no_namespaces_that_is_said(monkeypatch):
    monkeypatch.setattr(enclosure, "APART", ["false"])
    assert enclosure.strongest() == OPEN
    assert str(OPEN) == "with the network within reach, with unprotected files"
    monkeypatch.setattr(enclosure, "APART", ["/nonexistent/unshare"])
    assert enclosure.strongest() == OPEN


@pytest.mark.skipif(not STRONGEST.network, reason="this system does not let its users make namespaces")
def test_where_files_cannot_be_protected_the_network_is_still_cut_off(monkeypatch):
    monkeypatch.setattr(enclosure, "_plan", lambda *_: {"nothing": 1})
    assert enclosure.strongest() == Enclosure(network=True, files=False)
