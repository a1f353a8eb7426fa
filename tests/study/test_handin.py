"""A notebook that was handed in is run again: what is equal passes, what is not is named."""

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from study import ROOT
from study.__main__ import main
from study.report import handin


@pytest.fixture
def handed_in(tmp_path):
    """A function that writes a small notebook of cells (source, what it shows) and gives its path."""

    def write(*cells):
        made = [
            new_code_cell(source, outputs=[nbformat.v4.new_output("stream", text=shown)] if shown else [])
            for source, shown in cells
        ]
        nbformat.write(new_notebook(cells=made), tmp_path / "small.ipynb")
        return tmp_path / "small.ipynb"

    return write


def test_a_notebook_that_comes_out_again_passes(own_run, capsys):
    before = own_run.read_bytes()
    assert main(["check", str(own_run)]) == 0
    shown = capsys.readouterr().out
    assert "A run of notebooks/mnist_degree.ipynb, with degree = 7, n_epochs = 2, n_train = 200" in shown
    assert "Its code is that of the source.\nAll numbers, tables and texts come out again." in shown
    assert own_run.read_bytes() == before


@pytest.mark.usefixtures("foreign_kernel")
def test_a_notebook_is_run_by_this_python_whatever_else_is_called_so(handed_in):
    assert handin.check(handed_in(("print(1)", "1"))).outputs == ()


def test_a_digit_changed_in_a_table_and_an_added_cell_are_found(own_run, tmp_path, capsys, monkeypatch):
    notebook, again = (nbformat.read(own_run, as_version=4) for _ in range(2))
    ((place, table),) = [
        (place, output.data)
        for place, cell in enumerate(notebook.cells)
        for output in cell.get("outputs", [])
        if output.get("data", {}).get("text/markdown", "").startswith("**Table") and "test_errors" in cell.source
        if "binary" not in cell.source
    ]
    last = table["text/markdown"].splitlines()[-1]
    changed = last.replace("| 2 |", "| 2 | 1", 1).replace("| 1 ", "| 1", 1)
    table["text/markdown"] = table["text/markdown"].replace(last, changed)
    notebook.cells.insert(place + 1, new_code_cell("mine = 1"))
    again.cells.insert(place + 1, new_code_cell("mine = 1"))
    monkeypatch.setattr(handin, "_executed_again", lambda *_: again)  # that it comes out again is seen above
    nbformat.write(notebook, tmp_path / "changed.ipynb")
    assert main(["check", str(tmp_path / "changed.ipynb")]) == 1
    shown = capsys.readouterr().out
    assert f"cell {place + 2} (mine = 1) is not in the source" in shown
    assert f"- cell {place + 1} (" in shown and f"“{changed}”, again “{last}”" in shown
    assert shown.count("\n- ") == 2


def test_changed_and_missing_code_is_named_and_other_values_of_parameters_are_not():
    source = nbformat.read(ROOT / "notebooks" / "mnist_degree.ipynb", as_version=4)
    notebook = nbformat.read(ROOT / "notebooks" / "mnist_degree.ipynb", as_version=4)
    parameters = next(cell for cell in notebook.cells if "parameters" in cell.metadata.get("tags", []))
    parameters.source = parameters.source.replace("degree = 3", "degree = 4", 1)
    assert handin._parameters(notebook, source) == "degree = 4" and not list(handin._code_differences(notebook, source))
    parameters.source += "\nimport os"
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    code[3].source = code[3].source.replace("say(", "print(")
    notebook.cells.remove(code[-1])
    first, second, third = handin._code_differences(notebook, source)
    assert "is changed" in first and "dataset" in first
    assert "“print(”, in the source “say(”" in second
    assert third.startswith("a cell of the source is missing (fewest, last")


def test_a_cell_that_fails_is_named(handed_in, capsys):
    path = handed_in(("x = 1", ""), ("1 / 0", ""))
    assert main(["check", str(path)]) == 2
    assert "cannot be run: cell 2 (1 / 0) fails: ZeroDivisionError: division by zero" in capsys.readouterr().err
    assert main(["check", str(handed_in(("import time; time.sleep(60)", ""))), "--timeout", "1"]) == 2
    assert "cell 1 (import time; time.sleep(60)) fails: CellTimeoutError" in capsys.readouterr().err


def test_what_is_no_notebook_cannot_be_run(tmp_path, capsys):
    (tmp_path / "text.ipynb").write_text("text")
    for name in ("text.ipynb", "nothing.ipynb"):
        assert main(["check", str(tmp_path / name)]) == 2
        assert f"{name} must be a notebook" in capsys.readouterr().err


def test_a_notebook_of_no_source_is_run_and_compared(handed_in):
    assert str(handin.check(handed_in(("print(1)", "1\n")))) == (
        "No run of a notebook of this project, with the default parameters.\nAll numbers, tables and texts come out again."
    )
    (found,) = handin.check(handed_in(("print(1)\nprint(2)", "1\n"))).outputs
    assert found == "cell 1 (print(1)): “nothing”, again “2”"


def test_stderr_addresses_and_pictures_are_left_aside(handed_in):
    source = "import sys; print(7, file=sys.stderr); print(f'<object at {hex(id([]))}>')"
    assert handin.check(handed_in((source, "<object at 0x12ab>\n"))).outputs == ()
    assert handin._shown(new_code_cell(outputs=[nbformat.v4.new_output("display_data", {"image/png": "AAAA"})])) == []
