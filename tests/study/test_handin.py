"""A notebook that was handed in is held against its source, then run again: what is equal passes, what is not is named.

What it runs is somebody else's: it runs after consent only, and apart from the rest of this computer.
"""

import base64
import copy
import io
import os
import shutil
import socket
import subprocess
import sys

import nbformat
import pandas as pd
import papermill
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output, new_raw_cell
from PIL import Image

from study import ROOT
from study.__main__ import CANNOT, DIFFERS, NOT_EXECUTED, NOT_RUN, OWN, main
from study.report import colophon, enclosure, handin, handins, notebooks
from study.report.enclosure import Enclosure, strongest

OPEN = Enclosure(network=False, files=False)
STRONGEST = strongest()
PARAMETERS = "degree: int = 3  # of the kernel\nn_train: int = 10  # examples"
DRAW = "from PIL import Image\nImage.new('L', (degree, n_train))"
TABLE = "from IPython.display import Markdown\nMarkdown(f'| p | n |\\n| --: | --: |\\n| {degree} | {n_train} |')"


@pytest.fixture(autouse=True, scope="module")
def source(tmp_path_factory):
    """The one source notebook of a project."""
    root = tmp_path_factory.mktemp("project")
    parameters = new_code_cell(PARAMETERS, metadata={"tags": ["parameters"]})
    code = map(new_code_cell, (DRAW, TABLE, "last = 1"))
    cells = [new_markdown_cell("# Small"), parameters, *code, new_markdown_cell("Of degree {eval}`degree`.")]
    (root / "notebooks").mkdir()
    nbformat.write(new_notebook(cells=cells, metadata=notebooks.METADATA), root / "notebooks" / "small.ipynb")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(handin, "ROOT", root)
        patch.setattr(enclosure, "strongest", lambda: STRONGEST)  # found once
        yield root / "notebooks" / "small.ipynb"


@pytest.fixture(scope="module")
def own_run(source, tmp_path_factory):
    """An executed copy of the source with a parameter of its own."""
    target = tmp_path_factory.mktemp("student") / "my run.ipynb"
    notebooks.execute(source, target, {"degree": 7})
    return target


@pytest.fixture
def handed_in(tmp_path):
    """A function that writes a small notebook of cells of these sources and gives its path."""

    def write(*sources, tags=()):
        about = {"execution_count": 1, "metadata": {"tags": list(tags)} if tags else {}}
        cells = [new_code_cell(source, **about) for source in sources]
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
        monkeypatch.setattr(handin, "_executed_again", lambda *_: [cell(again)])
        return handin.outputs("", new_notebook(cells=[cell(shown)]), OPEN)

    return compare


def texts(path, apart):
    """What the code cells of a notebook print when it is run again."""
    again = handin._executed_again(path, handin.read(path), apart, None)
    return ["".join(output.get("text", "") for output in each.outputs) for each in again]


def test_a_notebook_that_comes_out_again_passes(own_run, capsys):
    before = own_run.read_bytes()
    assert main(["check", str(own_run), "--yes"]) == 0
    shown = capsys.readouterr().out
    assert "A run of notebooks/small.ipynb, with degree = 7." in shown
    assert "Its code is that of the source.\nAll numbers, tables and texts come out again." in shown
    assert "Pictures that are equal, pixel by pixel: 1." in shown and shown.endswith(
        f"It ran {STRONGEST}.\nVerdict: all comes out.\n"
    )
    assert own_run.read_bytes() == before


def test_a_digit_changed_in_a_table_and_a_changed_text_are_found(own_run, tmp_path, capsys, monkeypatch):
    again = handin.read(own_run)
    monkeypatch.setattr(handin, "_executed_again", lambda *_: again.cells)  # that it comes out again is seen above
    path = tmp_path / "changed.ipynb"
    path.write_text(own_run.read_text().replace("| 7 | 10 |", "| 7 | 11 |").replace("Of degree 7.", "Of degree 8."))
    assert main(["check", str(path), "--yes"]) == DIFFERS
    shown = capsys.readouterr().out
    assert "“| 7 | 11 |”, again “| 7 | 10 |”" in shown and "“Of degree 8.”, again “Of degree 7.”" in shown
    assert shown.count("\n- ") == 2


LACK = "got 1 of its 5 cells of code without a result; run all of it with 'python -m study papermill FILE.ipynb"


def test_a_run_that_is_not_whole_is_not_run_again(own_run, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(handin, "_executed_again", lambda *_: pytest.fail("it was run"))
    notebook = handin.read(own_run)
    path = tmp_path / "half.ipynb"
    target = tmp_path / "checks.csv"
    notebook.cells[-2].update(execution_count=None, outputs=[])
    nbformat.write(notebook, path)
    assert main(["check", str(path), "--yes"]) == NOT_EXECUTED
    assert LACK in capsys.readouterr().out
    assert main(["check", str(tmp_path), "--yes", "--target", str(target)]) == NOT_EXECUTED
    (row,) = pd.read_csv(target).to_dict("records")
    assert row["verdict"] == handins.NOT_EXECUTED and LACK in row["outputs"] and not row["executed"]


def test_the_table_of_a_folder_names_seeds_also_by_default_and_runs_with_the_same_one(tmp_path, monkeypatch):
    monkeypatch.setattr(handin, "ROOT", tmp_path / "project")
    folder = tmp_path / ".hidden" / "folder"
    for each in (tmp_path / "project" / "notebooks", folder):
        each.mkdir(parents=True)

    def write(path, parameters, *injected):
        cells = [new_code_cell(parameters, metadata={"tags": ["parameters"]})]
        cells += [new_code_cell(each, metadata={"tags": ["injected-parameters"]}) for each in injected]
        nbformat.write(new_notebook(cells=[*cells, new_code_cell("seen = 1")]), path)

    seeded = "degree = 3\nrandom_state = 'degree'"
    write(tmp_path / "project" / "notebooks" / "seeded.ipynb", seeded)
    write(tmp_path / "project" / "notebooks" / "seedless.ipynb", "x = 1")
    write(tmp_path / "project" / "notebooks" / "class.ipynb", "random_states = '0:30'\nmine = 0")
    write(folder / "a.ipynb", seeded)
    write(folder / "b.ipynb", seeded, "random_state = 3")
    write(folder / "c.ipynb", seeded, "degree = 4")
    write(folder / "d.ipynb", "x = 1")
    write(folder / "e.ipynb", "random_states = '0:30'\nmine = 0", "mine = 7")
    table = handins.read(handins.notebooks(folder), folder)
    assert list(table["seed"]) == ["3", "3", "4", "", "7"]
    assert list(table["same seed as"]) == ["b.ipynb", "a.ipynb", "", "", ""] and set(table["equal to"]) == {""}
    assert list(handins.in_short(table)["with this seed"]) == [2, 2, "", "", ""]


def test_a_folder_without_notebooks_is_refused(tmp_path, capsys):
    assert main(["check", str(tmp_path), "--yes"]) == CANNOT
    shown = capsys.readouterr()
    assert f"expected notebooks below {tmp_path}, got none" in shown.err and "cannot be run" in shown.out


def test_changed_missing_and_added_code_is_named_and_other_values_of_parameters_are_not(source):
    notebook = handin.read(source)
    _, parameters, _, table, last, _ = notebook.cells
    parameters.source = PARAMETERS.replace("= 3", "= 4")
    found = handin.code(source, notebook)
    assert (found.parameters, found.differences, found.lines, found.executed) == ("degree = 4", (), (), False)
    parameters.source += "\nimport os"
    table.source = "1"
    notebook.cells.remove(last)
    first, *others = handin.code(source, notebook).differences
    assert first.endswith("is changed: “degree: int = 4  # of the kernel”, in the source “parameters: degree, n_train”")
    assert others == [
        "cell 4 (1) is changed: “1”, in the source “from IPython.display import Markdown”",
        "a cell of the source is missing (last = 1)",
    ]
    notebook.cells[3:4] = [new_code_cell(each) for each in (TABLE, "last = 1", "mine = 1\nyours = 2")]
    found = handin.code(source, notebook)
    assert found.differences[1:] == ("cell 6 (mine = 1) is not in the source",)
    assert found.lines[-3:] == ("cell 6:", "    mine = 1", "    yours = 2") and "    import os" in found.lines


def test_the_colophon_numbers_the_cells_that_are_added_or_changed_and_names_the_parameters_that_were_given(source, tmp_path):
    path = tmp_path / "mine.ipynb"
    notebooks.execute(source, path, {"degree": 3})
    notebook = handin.read(path)
    assert colophon.words([path]).endswith("`notebooks/small.ipynb`: degree = 3; cells added or changed: none.")
    last = next(each for each in notebook.cells if each.source == "last = 1")
    notebook.cells.remove(last)
    notebook.cells[1:1] = [
        new_markdown_cell("Mine."),
        new_code_cell("a = 1", execution_count=1),
        new_markdown_cell("Mine too."),
    ]
    nbformat.write(notebook, path)
    found = colophon.words([path])
    assert found.endswith("cells added or changed: 1 of code (3) and 2 of text (2, 4); cells of code left out: 1.")


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
    assert compared("Figure\N{NO-BREAK SPACE}1", "a").differences == ("cell 1 (show()): “Figure 1”, again “a”",)


@pytest.mark.usefixtures("foreign_kernel")
def test_a_notebook_is_run_by_this_python_with_the_environment_that_it_needs_and_a_cell_that_fails_is_named(
    handed_in, capsys, monkeypatch
):
    monkeypatch.setattr(enclosure, "strongest", lambda: OPEN)
    monkeypatch.setenv("SECRET_TOKEN", "secret")
    apart = f"""
import os, sys
assert sys.executable == {sys.executable!r}
assert 'SECRET_TOKEN' not in os.environ and os.path.expanduser('~') != {os.path.expanduser("~")!r}"""
    assert main(["check", str(handed_in(apart, "1 / 0")), "--yes"]) == CANNOT
    assert "cannot be run: cell 2 (1 / 0) fails: ZeroDivisionError: division by zero" in capsys.readouterr().err


@pytest.mark.long
def test_a_cell_that_takes_too_long_is_named(handed_in, capsys):
    assert main(["check", str(handed_in("import time; time.sleep(60)")), "--timeout", "1", "--yes"]) == CANNOT
    assert "cell 1 (import time; time.sleep(60)) fails: CellTimeoutError" in capsys.readouterr().err


BROKEN = """{"cells": [{"cell_type": "code", "source": "1", "outputs": [{"output_type": "display_data"}]}],
"metadata": {}, "nbformat": 4, "nbformat_minor": 5}"""


@pytest.mark.parametrize("about", [{"words": 5}, {"left_out": 5}, {"left_out": [{"after": 1}]}, {"left_out": ["a"]}])
def test_what_the_engine_cannot_have_noted_is_named(about, tmp_path):
    nbformat.write(new_notebook(cells=[new_markdown_cell("A.", metadata=about)]), tmp_path / "a.ipynb")
    with pytest.raises(handin.CannotRun, match="metadata 'words' or 'left_out' of another form"):
        handin.read(tmp_path / "a.ipynb")


def test_how_a_stream_is_cut_makes_no_difference(tmp_path, compared):
    pieces = [new_output("stream", text=text) for text in ("winner ", "0.066\n")]
    nbformat.write(new_notebook(cells=[new_code_cell("show()", outputs=pieces)]), tmp_path / "a.ipynb")
    assert handin._shown(handin.read(tmp_path / "a.ipynb").cells[0]) == ["winner 0.066"]
    assert compared({"text/markdown": "7"}, {"text/latex": "7"}).differences


@pytest.mark.parametrize("content", [None, b"text", BROKEN.encode(), b"%PDF-1.7 \x80", b"[]"])
def test_what_is_no_notebook_cannot_be_run(content, tmp_path):
    path = tmp_path / "a.ipynb"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(handin.CannotRun, match=r"a\.ipynb must be a notebook"):
        handin.read(path)


def test_a_mark_of_the_order_of_bytes_and_capital_letters_make_no_difference(own_run, tmp_path):
    (tmp_path / "A.IPYNB").write_bytes(b"\xef\xbb\xbf" + own_run.read_bytes())
    (path,) = handins.notebooks(tmp_path)
    assert seen(path) == seen(own_run)


def test_a_notebook_that_cannot_be_compared_costs_no_other_its_row(own_run, tmp_path, monkeypatch):
    for name in ("a", "b"):
        shutil.copy(own_run, tmp_path / f"{name}.ipynb")

    def outputs(path, *_, **__):
        if path.stem == "a":
            raise KeyError("a fault of the check")
        return handin.Outputs(())

    monkeypatch.setattr(handin, "outputs", outputs)
    assert handins._run(tmp_path / "a.ipynb", OPEN, None) == ("KeyError('a fault of the check')", 0, 0, handins.CANNOT)
    assert handins._run(tmp_path / "b.ipynb", OPEN, None)[-1] == handins.SAME


def test_a_notebook_of_no_source_is_compared_but_for_stderr_and_addresses(handed_in, compared):
    assert str(seen(handed_in("print(1)"))).startswith(
        "No run of a notebook of this project, with the default parameters.\n"
        "All lines of its code that are not in the source:\ncell 1:\n    print(1)"
    )
    assert str(compared("1\n", "1")) == "All numbers, tables and texts come out again."
    assert compared("1\n", "1\n2\n").differences == ("cell 1 (show()): “nothing”, again “2”",)
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
    for shown in ({"image/svg+xml": "<svg/>"}, red | {"image/svg+xml": "<svg/>"}):
        found = compared(shown, "" if len(shown) == 1 else red)
        assert str(found).endswith("Not compared: cell 1 (show()), pictures that are no PNG (image/svg+xml).")
        assert not found.differences and compared(shown, shown).own == ()


def test_what_stands_on_stderr_is_left_to_the_reader_unless_it_comes_out_again(own_run, tmp_path, capsys, monkeypatch):
    changed = handin.read(own_run)
    monkeypatch.setattr(handin, "_executed_again", lambda *_: handin.read(own_run).cells)
    changed.cells[4].outputs.append(new_output("stream", name="stderr", text="Error rate: 0.00 %\n"))
    nbformat.write(changed, tmp_path / "a.ipynb")
    assert main(["check", str(tmp_path / "a.ipynb"), "--yes"]) == OWN
    told = "Not compared: cell 5 (from IPython.display import Markdown) on stderr, “Error rate: 0.00 %”"
    assert told in capsys.readouterr().out
    outputs = [new_output("stream", name="stderr", text=text) for text in ("in 3 s", "in 14 s")]
    assert {kind for each in outputs for kind in handin._warned(new_code_cell(outputs=[each]))} == {"in 0 s"}


def injected_later(cells):
    cells.insert(-2, new_code_cell("last = 9", metadata={"tags": ["injected-parameters"]}))


def record_elsewhere(cells):
    cells[0].metadata.left_out = cells.pop().metadata.left_out


def name_elsewhere(cells):
    cells.pop()
    cells[1].metadata.tags = [*cells[1].metadata.tags, "holds:small"]


def invented(cells):
    cells[-1].metadata.left_out.append({"after": 1, "source": "Mine.", "tags": ["holds:small"]})


ALTERED = {
    "a tag more": lambda cells: cells[-2].metadata.update(tags=["published"]),
    "a cell that overrides a value": injected_later,
    "the record of the list elsewhere": record_elsewhere,
    "the name of its statement on a cell of code": name_elsewhere,
    "a sentence of one's own in it": invented,
    "words of one's own with its tag": lambda cells: cells.append(
        new_markdown_cell("0.", metadata={"tags": ["statements"]})
    ),
    "a text that is missing": lambda cells: cells.pop(0),
    "a text elsewhere": lambda cells: cells.insert(5, cells.pop(0)),
}


STATEMENT = new_markdown_cell("Always {eval}`degree`.", metadata={"tags": ["holds:small"]})


@pytest.fixture
def spoken(monkeypatch, tmp_path, source):
    """A function that executes a source with a statement that holds for small degrees, and gives its copy, read."""
    cells = nbformat.read(source, as_version=4).cells
    opened = "class chapter:\n    published = False\n    is_kept = staticmethod(lambda name: degree < 5)"
    (tmp_path / "notebooks").mkdir()
    own = new_notebook(cells=[*cells[:2], new_code_cell(opened), STATEMENT, *cells[2:]], metadata=notebooks.METADATA)
    nbformat.write(own, tmp_path / "notebooks" / "small.ipynb")
    monkeypatch.setattr(handin, "ROOT", tmp_path)

    def execute(degree, *, fills):
        path = tmp_path / "run.ipynb"
        if fills:
            notebooks.execute(tmp_path / "notebooks" / "small.ipynb", path, {"degree": degree})
        else:
            options = {"progress_bar": False, "kernel_manager_class": notebooks.OwnKernelManager}
            papermill.execute_notebook(tmp_path / "notebooks" / "small.ipynb", path, {"degree": degree}, **options)
        return path

    return execute


def verdict(path, capsys):
    code = main(["check", str(path), "--yes"])
    return code, capsys.readouterr().out


@pytest.mark.parametrize("degree", [3, 7])
def test_a_run_by_papermill_alone_comes_out_and_its_words_are_said_to_have_no_values(spoken, degree, capsys):
    code, shown = verdict(spoken(degree, fills=False), capsys)
    assert code == 0, shown
    assert "Words without values, which 'python -m study papermill' fills in: 2 text cells." in shown
    assert ("not true of this run or only of the published one: cell 5 (Always {eval}`degree`.)." in shown) == (degree == 7)


def test_a_statement_that_was_left_out_cannot_be_put_back_nor_its_list_removed(spoken, capsys):
    path = spoken(7, fills=True)
    whole = handin.read(path)
    code, shown = verdict(path, capsys)
    assert code == 0, shown
    assert "do not hold" in whole.cells[-1].source
    whole.cells.pop()
    found = handin.code(path, whole)
    assert "Text cells of the source that it neither has nor lists:\n- Always {eval}`degree`." in str(found)
    assert not found.is_the_projects and handin.code(path, handin.read(path)).is_the_projects
    for name, alter in ALTERED.items():
        changed = copy.deepcopy(handin.read(path))
        alter(changed.cells)
        assert not handin.code(path, changed).is_the_projects, name
    whole.cells.insert(4, STATEMENT)
    nbformat.write(whole, path)
    code, shown = verdict(path, capsys)
    assert code == DIFFERS and "- cell 5 (Always {eval}`degree`.): the new run does not have it" in shown
    assert "- the list of statements that do not hold in this run is missing" in shown


def test_a_cell_that_was_emptied_and_a_raw_one_are_named(own_run, tmp_path, capsys, monkeypatch):
    changed = handin.read(own_run)
    for place in (0, 3):
        changed.cells[place].source = ""
    changed.cells.append(new_raw_cell("The error is 0."))
    again = [*copy.deepcopy(changed.cells)]
    again[3].outputs = []
    monkeypatch.setattr(handin, "_executed_again", lambda *_: again)
    nbformat.write(changed, tmp_path / "a.ipynb")
    code, shown = verdict(tmp_path / "a.ipynb", capsys)
    assert code == DIFFERS and "- cell 4 (empty): picture 1 does not come out again" in shown
    assert f"- cell {len(changed.cells)} (The error is 0.)" in shown


def test_parameters_are_found_beside_other_code_and_without_tags(own_run):
    changed = handin.read(own_run)
    injected = next(cell for cell in changed.cells if "injected-parameters" in cell.metadata.get("tags", []))
    injected.source += "\nprint(1)"
    assert handin.code("a.ipynb", changed).parameters == "degree = 7"
    injected.source = injected.source.removesuffix("\nprint(1)")
    injected.metadata = {}
    assert handin.code("a.ipynb", changed).parameters == "degree = 7"


def test_words_that_have_no_value_are_named_not_the_last_cell(own_run, tmp_path, capsys):
    changed = handin.read(own_run)
    place = next(index for index, cell in enumerate(changed.cells) if "words" in cell.metadata)
    changed.cells[place].metadata["words"] = "Of {eval}`degree / 2`."
    nbformat.write(changed, tmp_path / "a.ipynb")
    assert main(["check", str(tmp_path / "a.ipynb"), "--yes"]) == CANNOT
    said = capsys.readouterr().err
    assert "cannot be run: an expression in the text must be a name or one call" in said and "that begins 'Of {eval}" in said


# Consent.


class Terminal(io.StringIO):
    """What a user types."""

    def isatty(self):
        return True


def test_code_is_shown_and_nothing_is_run_without_consent(handed_in, capsys, monkeypatch):
    path = handed_in("mine = 1")
    ran = []
    monkeypatch.setattr(handin, "_executed_again", lambda path, notebook, *_: ran.append(path) or notebook.cells)
    for typed, code in ((io.StringIO("y\n"), NOT_RUN), (Terminal("\n"), NOT_RUN), (Terminal("y\n"), OWN)):
        monkeypatch.setattr(sys, "stdin", typed)
        assert main(["check", str(path)]) == code and bool(ran) == (code == OWN)
    shown = capsys.readouterr()
    assert "    mine = 1" in shown.out
    assert f"the code of {path} is run next, as you, {STRONGEST}: {STRONGEST.meaning}." in shown.err
    assert "there is no terminal to ask on; add --yes (make: YES=1)" in shown.err


def test_of_a_folder_what_is_not_the_projects_is_shown_before_the_question(handed_in, capsys, monkeypatch):
    path = handed_in("mine = 1")
    (path.parent / "helper.py").write_text("x = 1")
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n"))
    monkeypatch.setattr(handin, "_executed_again", lambda *_: pytest.fail("it was run"))
    assert main(["check", str(path.parent)]) == NOT_RUN
    shown = capsys.readouterr().out
    assert "    mine = 1" in shown and "Python files in its folder, which it can import unseen: helper.py." in shown


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not here")
@pytest.mark.parametrize(("code", "fails"), [(0, False), (OWN, False), (DIFFERS, True), (CANNOT, True), (NOT_RUN, True)])
def test_make_check_fails_where_results_are_not_confirmed_and_not_for_parts_of_the_authors_own(code, fails):
    command = ["make", "check", "PYTHON=true", f"PY=sh -c 'exit {code}'", "HANDIN=a.ipynb"]
    assert bool(subprocess.run(command, cwd=ROOT, capture_output=True, stdin=subprocess.DEVNULL).returncode) == fails


# The enclosure.

SLEEPER = "import subprocess\nprocess = subprocess.Popen(['sleep', '{}'], start_new_session=True)"
"""A program that starts a process in a session of its own."""


def is_running(seconds):
    """Whether a process sleeps for this time, which nobody else has."""
    done = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True)
    return f"sleep {seconds}" in done.stdout


@pytest.mark.long
def test_a_notebook_that_ends_what_runs_it_is_named_and_leaves_nothing_behind(handed_in):
    seconds = 600 + os.getpid() / 1e7
    path = handed_in(SLEEPER.format(seconds), "import os, signal; os.kill(os.getppid(), signal.SIGKILL)")
    with pytest.raises(handin.CannotRun, match=r"cell 2 \(import os.*\) fails: it ended the process that runs it"):
        texts(path, OPEN)
    assert not is_running(seconds)


HOSTILE = """
import os, signal, socket, subprocess
from study import ROOT
from study.results import store
def tried(function, *arguments):
    try:
        return function(*arguments)
    except OSError as error:
        return error.strerror
print(open("beside.csv").read(), os.path.exists("{secret}"))
print("of the" + " author" in open("small.ipynb").read())
open("made", "w").write("x")
os.remove("beside.csv")
print(sorted(os.listdir()))
store.write(ROOT / "build" / "of_a_test", "x")
print((ROOT / "build" / "of_a_test").exists(), (ROOT / "data" / "registry.toml").exists())
print(tried(open, "/etc/of_a_test", "w"))
print(tried(socket.create_connection, ("127.0.0.1", {port}), 1))
print(tried(socket.create_connection, ("192.0.2.1", 80), 1))
done = subprocess.run(["mount", "-o", "remount,bind,rw", "/"], capture_output=True)
print(b"permission denied" in done.stderr)
os.kill(os.getppid(), signal.SIGKILL)
print("here")
"""
FOUND = """\
1 False
False
['made', 'small.ipynb']
True True
Read-only file system
Connection refused
Network is unreachable
True
here
"""


@pytest.mark.skipif(not STRONGEST.files, reason="this system does not let its users make namespaces")
def test_an_enclosed_notebook_reaches_its_folder_only_and_leaves_nothing(tmp_path, monkeypatch):
    (tmp_path / "home").mkdir()
    secret = tmp_path / "home" / "secret"
    secret.write_text("secret")
    monkeypatch.setenv("HOME", str(secret.parent))
    path = tmp_path / "notebook" / "small.ipynb"
    path.parent.mkdir()
    path.with_name("beside.csv").write_text("1")
    seconds = 700 + os.getpid() / 1e7
    with socket.create_server(("127.0.0.1", 0)) as server:
        program = HOSTILE.format(secret=secret, port=server.getsockname()[1])
        shown = new_output("stream", text="of the author")
        cells = [new_code_cell(SLEEPER.format(seconds), outputs=[shown]), new_code_cell(program)]
        nbformat.write(new_notebook(cells=cells), path)
        assert texts(path, STRONGEST) == ["", FOUND]
    assert not is_running(seconds)
    assert sorted(each.name for each in path.parent.iterdir()) == ["beside.csv", "small.ipynb"]
    assert "of the author" in path.read_text() and not (ROOT / "build" / "of_a_test").exists()


def test_where_the_system_offers_no_namespaces_that_is_said(monkeypatch):
    assert str(OPEN) == "with the network within reach, with unprotected files"
    for missing in ("false", "/nonexistent/unshare"):
        monkeypatch.setattr(enclosure, "APART", [missing])
        assert strongest() == OPEN


@pytest.mark.skipif(not STRONGEST.network, reason="this system does not let its users make namespaces")
def test_where_files_cannot_be_protected_the_network_is_still_cut_off(monkeypatch):
    usual = Enclosure.run
    monkeypatch.setattr(Enclosure, "run", lambda self, *rest: ("", "", 1) if self.files else usual(self, *rest))
    assert strongest() == Enclosure(network=True, files=False)
