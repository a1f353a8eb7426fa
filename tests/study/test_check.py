"""A notebook that was handed in is compared with its source, then run again: what is equal passes, what is not is named.

It is other people's code: it runs after consent only, in a sandbox, and not for ever.
"""

import base64
import copy
import io
import json
import os
import py_compile
import re
import shutil
import socket
import subprocess
import sys
import time
import warnings

import nbformat
import pandas as pd
import papermill
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output, new_raw_cell
from PIL import Image

from kp import OneVsAllKernelPerceptron, compiled
from study import ROOT, chapters
from study.__main__ import CANNOT, DIFFERS, NOT_EXECUTED, NOT_RUN, OWN, main
from study.report import check_code, check_folder, check_outputs, colophon, engine, hand_in, notebooks, rerun, sandbox
from study.report.sandbox import Sandbox, obstacle

OPEN = Sandbox(protected=False)
CLOSED = Sandbox(protected=True)
BEST = Sandbox(protected=not obstacle())
needs_bubblewrap = pytest.mark.skipif(not BEST.protected, reason=obstacle() or "bubblewrap is here")
PARAMETERS = "degree = 3  # of the kernel\nn_train = 10  # examples"
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
        patch.setattr(check_code, "ROOT", root)
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
    return check_code.code(hand_in.read(path))


def cell(shown):
    """A cell that shows a text, or a bundle of data with metadata by their kinds."""
    outputs = [new_output("stream", text=shown)] if isinstance(shown, str) and shown else []
    outputs += [new_output("display_data", shown)] if isinstance(shown, dict) else []
    outputs += [new_output("display_data", shown[0], metadata=shown[1])] if isinstance(shown, tuple) else []
    return new_code_cell("show()", outputs=outputs)


@pytest.fixture
def compared(monkeypatch):
    """A function: the Outputs of a notebook of one cell whose new run shows something else."""

    def compare(shown, again):
        monkeypatch.setattr(rerun, "cells", lambda *_: {0: cell(again)})
        return check_outputs.outputs("", new_notebook(cells=[cell(shown)]), OPEN, timeout=1)

    return compare


def texts(path, where, timeout=300):
    """The texts that the code cells of a notebook print when it is run again."""
    again = rerun.cells(path, hand_in.read(path), where, timeout)
    return ["".join(output.get("text", "") for output in again[place].outputs) for place in sorted(again)]


def checked(path, capsys, *options):
    """(exit code, stdout, stderr) of a check."""
    code = main(["check", str(path), "--yes", "--unprotected", *options])
    return code, *capsys.readouterr()


# One notebook.


def test_a_notebook_that_is_reproduced_passes(own_run, capsys):
    before = own_run.read_bytes()
    code, shown, _ = checked(own_run, capsys)
    assert code == 0 and "a run of notebooks/small.ipynb, with degree = 7." in shown
    assert "Its code is the project's.\nAll numbers, tables and texts are reproduced." in shown
    assert "Pictures that are equal, pixel by pixel: 1." in shown
    assert shown.endswith(f"It ran {BEST}.\nVerdict: reproduced.\n") and own_run.read_bytes() == before


def test_a_digit_changed_in_a_table_and_a_changed_text_are_found(own_run, tmp_path, capsys, monkeypatch):
    again = dict(enumerate(hand_in.read(own_run).cells))
    monkeypatch.setattr(rerun, "cells", lambda *_: again)  # that it is reproduced is seen above
    path = tmp_path / "changed.ipynb"
    path.write_text(own_run.read_text().replace("| 7 | 10 |", "| 7 | 11 |").replace("Of degree 7.", "Of degree 8."))
    code, shown, _ = checked(path, capsys)
    assert (
        "“| 7 | 11 |”, the new run has “| 7 | 10 |”" in shown and "“Of degree 8.”, the new run has “Of degree 7.”" in shown
    )
    assert code == DIFFERS and shown.count("\n- ") == 2


LACK = "1 of its 4 code cells have no result; run the whole notebook with 'python -m study papermill FILE.ipynb"


def test_a_run_that_is_not_whole_is_not_run_again(own_run, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(rerun, "cells", lambda *_: pytest.fail("it was run"))
    notebook = hand_in.read(own_run)
    path = tmp_path / "half.ipynb"
    target = tmp_path / "checks.csv"
    notebook.cells[-2].update(execution_count=None, outputs=[])
    nbformat.write(notebook, path)
    code, shown, _ = checked(path, capsys)
    assert code == NOT_EXECUTED and LACK in shown
    assert checked(tmp_path, capsys, "--target", str(target))[0] == NOT_EXECUTED
    (row,) = pd.read_csv(target).to_dict("records")
    assert row["verdict"] == check_folder.NOT_EXECUTED and LACK in row["outputs"] and not row["executed"]


def test_a_notebook_without_code_is_not_called_reproduced(tmp_path, capsys):
    nbformat.write(new_notebook(cells=[new_markdown_cell("An essay.")]), tmp_path / "a.ipynb")
    code, shown, _ = checked(tmp_path / "a.ipynb", capsys)
    assert code == NOT_EXECUTED and "Not executed: it has no code." in shown
    assert "`a.ipynb`: all of it" in colophon.words([tmp_path / "a.ipynb"])  # it can be printed


def test_changed_missing_and_added_code_is_named_and_other_values_of_parameters_are_not(source):
    notebook = hand_in.read(source)
    _, parameters, _, table, last, _ = notebook.cells
    parameters.source = PARAMETERS.replace("= 3", "= 4")
    found = check_code.code(notebook)
    assert (found.parameters, found.differences, found.lines, found.executed) == ("degree = 4", (), (), False)
    parameters.source += "\nimport os"
    table.source = "1"
    notebook.cells.remove(last)
    first, *others = check_code.code(notebook).differences
    assert first.endswith("is changed: “degree = 4  # of the kernel”, the source has “parameters: degree, n_train”")
    assert others == [
        "cell 4 (1) is changed: “1”, the source has “from IPython.display import Markdown”",
        "a cell of the source is missing (last = 1)",
    ]
    notebook.cells[3:4] = [new_code_cell(each) for each in (TABLE, "last = 1", "mine = 1\nyours = 2")]
    found = check_code.code(notebook)
    assert found.differences[1:] == ("cell 6 (mine = 1) is not in the source",)
    assert found.lines[-3:] == ("cell 6:", "    mine = 1", "    yours = 2") and "    import os" in found.lines


EXECUTED = {
    "annotation": "degree: exec('x') = 4",
    "annotation without a value": "degree = 4\ndegree: exec('x')",
    "operator": "degree = 3\ndegree += 1",
    "starred target": "*degree, n_train = [1, 2]",
    "several targets": "degree, n_train = 1, 2",
    "attribute": "degree.x = 1",
    "item": "degree[0] = 1",
    "call": "degree = set()",
    "formatted text": "degree = f'{exec(1)}'",
    "name": "degree = n_train",
    "assignment expression": "degree = (n_train := 3)",
    "comprehension": "degree = [1 for _ in 'a']",
    "lambda": "degree = lambda: 1",
    "sum": "degree = 1 + 2",
    "deletion": "degree = 1\ndel degree",
    "text alone": "degree = 1\n'a'",
    "command of IPython": "degree = 1\n!ls",
    "magic of IPython": "%%bash\nls",
    "line that ends for IPython alone": 'degree = "\u2028!;exec(1);#\'\u2028#"',
}


@pytest.mark.parametrize("text", EXECUTED.values(), ids=EXECUTED)
def test_a_cell_of_parameters_that_does_more_than_give_literals_to_names_is_shown_as_code(text, source, own_run):
    of_source = hand_in.read(source)
    of_source.cells[1].source = text
    injected = hand_in.read(own_run)
    injected.cells.insert(2, new_code_cell(text, metadata={"tags": ["injected-parameters"]}))
    for found in map(check_code.code, (of_source, injected)):
        assert found.differences and not found.is_the_projects
        assert any(line.strip() in text.encode("unicode_escape").decode() for line in found.lines), found.lines


@pytest.mark.parametrize("text", ["degree = -4", "degree = n_train = 4", "degree = ['a', (1.5, None)]\nn_train = {1: {2}}"])
def test_literals_given_to_parameters_are_no_code(text, own_run):
    injected = hand_in.read(own_run)
    injected.cells.insert(2, new_code_cell(text, metadata={"tags": ["injected-parameters"]}))
    assert check_code.code(injected).is_the_projects


def test_expressions_in_the_authors_own_text_are_shown_as_code(own_run):
    changed = hand_in.read(own_run)
    changed.cells.append(new_markdown_cell("Mine.", metadata={"words": "Mine {eval}`exec('x')`."}))
    assert check_code.code(changed).lines == (f"cell {len(changed.cells)}, in its text:", "    exec('x')")
    changed.cells[-1].metadata.words = "% holds: exec('y')\n\nMine."
    assert check_code.code(changed).lines[1:] == ("    % holds: exec('y')",)


def test_a_text_below_other_code_is_not_the_projects(own_run):
    notebook = hand_in.read(own_run)
    assert check_code.code(notebook).is_the_projects
    *_, last, text = notebook.cells
    notebook.cells[-2:] = [text, last]
    found = check_code.code(notebook)
    assert found.texts == ("cell 5 (Of degree 7.), which the source has elsewhere",)
    assert not (found.differences or found.lines or found.missing or found.is_the_projects)
    notebook.cells[-2:] = [new_code_cell("own = 1", execution_count=9), text]  # own code in place of the project's
    assert not check_code.code(notebook).texts


def test_a_text_that_stands_twice_is_not_the_projects(own_run):
    notebook = hand_in.read(own_run)
    *_, text = notebook.cells
    notebook.cells += [new_code_cell("own = 1", execution_count=9), text]  # the project's words below a result of one's own
    found = check_code.code(notebook)
    assert found.texts == ("cell 8 (Of degree 7.), which the source has elsewhere",) and not found.missing
    del notebook.cells[-2]
    assert not check_code.code(notebook).is_the_projects


def test_only_the_line_of_links_of_the_project_is_no_text_of_the_author(own_run):
    changed = hand_in.read(own_run)
    links = chapters.links(chapters.chapter("doubt"), "full")
    for text, is_own in ((links, False), (links.replace("lower", "higher"), True)):
        changed.cells.insert(0, new_markdown_cell(text, metadata={"tags": ["links"]}))
        assert bool(check_code.code(changed).texts) == is_own


@pytest.mark.long
def test_the_colophon_numbers_the_cells_that_are_added_or_changed_and_names_the_parameters_that_were_given(source, tmp_path):
    path = tmp_path / "mine.ipynb"
    notebooks.execute(source, path, {"degree": 7})
    notebook = hand_in.read(path)
    assert colophon.words([path]).endswith("`notebooks/small.ipynb`: degree = 7; cells added or changed: none.")
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


def test_control_characters_are_shown_not_sent(handed_in, compared):
    lines = seen(handed_in("bad()\x1b[2K\rx = 1")).lines
    assert lines == ("cell 1:", "    bad()\\x1b[2K", "    x = 1")
    assert compared("\x1b[2Kb", "a").differences == ("cell 1 (show()): “\\x1b[2Kb”, the new run has “a”",)
    assert compared("Figure\N{NO-BREAK SPACE}1", "a").differences == ("cell 1 (show()): “Figure 1”, the new run has “a”",)


@pytest.mark.long
@pytest.mark.usefixtures("foreign_kernel")
def test_a_notebook_is_run_by_this_python_with_a_clean_environment_and_a_cell_that_fails_is_named(
    handed_in, capsys, monkeypatch
):
    monkeypatch.setenv("SECRET_TOKEN", "secret")
    clean = f"""
import os, sys
assert sys.executable == {sys.executable!r}
assert 'SECRET_TOKEN' not in os.environ and os.path.expanduser('~') != {os.path.expanduser("~")!r}"""
    path = handed_in(clean, "raise ValueError('\\x1b[2Kbad')")
    code, _, told = checked(path, capsys)
    assert code == CANNOT and "cell 2 (raise ValueError('\\x1b[2Kbad')): ValueError: \\x1b[2Kbad" in told


@pytest.mark.long
def test_files_next_to_a_notebook_can_be_read_and_not_imported(handed_in, tmp_path):
    script = tmp_path / "hook.txt"
    script.write_text("raise RuntimeError('imported')")
    read = "import numpy, seaborn, IPython\nprint(open('data.csv').read(), IPython.get_ipython().user_ns.get('started'))"
    wrote = "open('made', 'w').write('x')\nimport os\nprint(sorted(os.listdir()))"
    path = handed_in(read, wrote, "import beside")
    for name in ("numpy", "seaborn", "beside", "sitecustomize", "usercustomize", "ipython_config"):
        py_compile.compile(str(script), cfile=str(tmp_path / f"{name}.pyc"))
    shutil.copy(script, tmp_path / "ipython_config.py")
    startup = tmp_path / "profile_default" / "startup"
    startup.mkdir(parents=True)
    (startup / "first.py").write_text("started = True")
    script.unlink()
    (tmp_path / "data.csv").write_text("7")
    (tmp_path / "other.ipynb").write_text("{}")
    with pytest.raises(hand_in.CannotRun, match=r"cell 3 \(import beside\): ModuleNotFoundError"):
        texts(path, BEST)
    notebook = hand_in.read(path)
    del notebook.cells[2]
    nbformat.write(notebook, path)
    first, second = texts(path, BEST)
    assert first == "7 None\n" and "'data.csv'" in second and "'made'" in second and ".ipynb" not in second
    assert not (tmp_path / "made").exists()


@pytest.mark.long
def test_metadata_of_a_cell_do_not_change_what_is_executed(handed_in):
    assert texts(handed_in("print(1)", tags=["skip-execution", "raises-exception"]), BEST) == ["1\n"]


@pytest.mark.parametrize(("limit", "most"), [("FILES", 1), ("SIZE", 2 * 2**20)])
def test_a_folder_that_holds_too_much_is_refused(limit, most, handed_in, monkeypatch):
    monkeypatch.setattr(rerun, limit, most)
    path = handed_in("1")
    for name in ("a.csv", "b.csv", ".hidden"):
        path.with_name(name).write_bytes(bytes(2**20 + 1))
    with pytest.raises(hand_in.CannotRun, match="its folder holds more than .* into a separate folder"):
        texts(path, OPEN)


BROKEN = """{"cells": [{"cell_type": "code", "source": "1", "outputs": [{"output_type": "display_data"}]}],
"metadata": {}, "nbformat": 4, "nbformat_minor": 5}"""


@pytest.mark.parametrize("about", [{"words": 5}, {"left_out": 5}, {"left_out": [{"after": 1}]}, {"left_out": ["a"]}])
def test_metadata_that_the_engine_cannot_have_written_are_named(about, tmp_path):
    nbformat.write(new_notebook(cells=[new_markdown_cell("A.", metadata=about)]), tmp_path / "a.ipynb")
    with pytest.raises(hand_in.CannotRun, match="metadata 'words' or 'left_out' were not written"):
        hand_in.read(tmp_path / "a.ipynb")


def test_how_a_stream_is_cut_makes_no_difference(tmp_path, compared):
    pieces = [new_output("stream", text=text) for text in ("winner ", "0.066\n")]
    nbformat.write(new_notebook(cells=[new_code_cell("show()", outputs=pieces)]), tmp_path / "a.ipynb")
    assert check_outputs._shown(hand_in.read(tmp_path / "a.ipynb").cells[0]) == ["winner 0.066"]
    assert compared({"text/markdown": "7"}, {"text/latex": "7"}).differences


def test_cells_without_identifiers_are_read_without_a_warning(handed_in):
    path = handed_in("1 + 1")
    plain = json.loads(path.read_text(encoding="utf-8"))
    del plain["cells"][0]["id"]
    path.write_text(json.dumps(plain), encoding="utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert hand_in.read(path).cells[0].source == "1 + 1"


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (None, "no such file"),
        (b" ", "the file is empty"),
        (b"text", "not a notebook"),
        (BROKEN.encode(), "not a notebook"),
        (BROKEN.replace("display_data", "\\ud800").encode(), "not a notebook"),
        (b"%PDF-1.7 \x80", "the file is not text"),
        (b"[]", "not a notebook"),
        (b"[" * 100_000, "not a notebook"),
        (b"<<<<<<< HEAD\n{}\n=======\n[]\n>>>>>>> other\n", "conflict marks"),
    ],
)
def test_a_file_that_is_not_a_notebook_cannot_be_run(content, told, tmp_path):
    path = tmp_path / "a.ipynb"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(hand_in.CannotRun, match=rf"a\.ipynb: .*{told}"):
        hand_in.read(path)


def test_a_file_that_is_too_large_or_not_a_regular_one_is_not_read(tmp_path, monkeypatch):
    monkeypatch.setattr(hand_in, "LARGEST", 10)
    (tmp_path / "a.ipynb").write_text(11 * "x")
    with pytest.raises(hand_in.CannotRun, match=r"a\.ipynb: larger than"):
        hand_in.read(tmp_path / "a.ipynb")
    with pytest.raises(hand_in.CannotRun, match="not a regular file"):
        hand_in.read(tmp_path)


def test_a_byte_order_mark_and_capital_letters_make_no_difference(own_run, tmp_path):
    (tmp_path / "A.IPYNB").write_bytes(b"\xef\xbb\xbf" + own_run.read_bytes())
    (found,) = check_folder.files(tmp_path)
    assert found.code == seen(own_run)


def test_the_ends_of_lines_of_windows_make_no_difference(own_run, tmp_path):
    notebook = nbformat.read(own_run, as_version=4)
    for each in notebook.cells:
        each.source = each.source.replace("\n", "\r\n")
    nbformat.write(notebook, tmp_path / "a.ipynb")
    assert "\\r\\n" in (tmp_path / "a.ipynb").read_text()
    assert seen(tmp_path / "a.ipynb") == seen(own_run)


# Outputs.


def test_a_notebook_of_no_source_is_compared_except_for_stderr_and_addresses(handed_in, compared):
    assert str(seen(handed_in("print(1)"))).startswith(
        "not a run of a notebook of this project, with the default parameters.\n"
        "All lines of code that are not in the source:\ncell 1:\n    print(1)"
    )
    assert str(compared("1\n", "1")) == "All numbers, tables and texts are reproduced."
    assert compared("1\n", "1\n2\n").differences == ("cell 1 (show()): nothing, the new run has “2”",)
    assert check_outputs._shown(new_code_cell(outputs=[new_output("stream", name="stderr", text="7")])) == []


@pytest.mark.parametrize("form", ["<object at {}>", "<bound method A.f of <A at {}>>", "&lt;A at {}&gt;"])
def test_addresses_of_objects_are_not_compared(form, compared):
    assert compared(form.format("0x12abcd0"), form.format("0x7ff0123456")).differences == ()


@pytest.mark.parametrize("form", ["errors {}", "errors at {}", "<errors {}>", "<errors at {}>"])
def test_hexadecimal_numbers_are_compared(form, compared):
    assert compared(form.format("0x12"), form.format("0x99")).differences


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
        ({"image/png": png("red", (5, 3))}, "picture 1 has 5 x 3 pixels, in the new run 4 x 3"),
        ({"image/png": "AAAA"}, "picture 1 is not a PNG (UnidentifiedImageError)"),
        ({"image/png": "!AAAA"}, "picture 1 is not a PNG (Error)"),
        (
            {"image/png": png("red", save_all=True, append_images=[Image.new("RGB", (4, 3), "blue")])},
            "picture 1 is not a plain PNG: a browser may show something else, because of its acTL, fcTL, fdAT",
        ),
        ("", "picture 1 is missing"),
    ):
        assert compared(shown, red).differences == (f"cell 1 (show()): {found}",)
    assert compared(red, "").differences == ("cell 1 (show()): picture 1 is not reproduced",)
    for shown in ({"image/svg+xml": "<svg/>"}, red | {"image/svg+xml": "<svg/>"}):
        found = compared(shown, "" if len(shown) == 1 else red)
        assert str(found).endswith("Not compared: cell 1 (show()), pictures that are not PNG (image/svg+xml).")
        assert not found.differences and compared(shown, shown).own == ()


def test_the_description_of_a_picture_and_its_size_on_the_screen_are_compared(compared):
    def shown(**about):
        return {"image/png": png("red")}, {"image/png": about}

    long = f"Figure 1. {'Test errors by degree. ' * 6}The mean is {{}}."
    run = {"alt": long.format("1.5 %"), "width": 640}
    for about, found in (
        (run | {"alt": long.format("1.2 %")}, "Test errors by degree. The mean is 1.2 %.”, the new run has “…"),
        (run | {"width": 1}, "“(image/png) width: 1”, the new run has “(image/png) width: 640”"),
        (run | {"height": 9}, "“(image/png) height: 9”, the new run has “(image/png) width: 640”"),
    ):
        assert found in compared(shown(**about), shown(**run)).differences[0]
    assert not compared(shown(**run), shown(**run)).differences
    assert compared(shown(), {"image/png": png("red")}).differences == ()


def test_stderr_is_left_to_the_reader_unless_it_is_reproduced(own_run, tmp_path, capsys, monkeypatch):
    changed = hand_in.read(own_run)
    monkeypatch.setattr(rerun, "cells", lambda *_: dict(enumerate(hand_in.read(own_run).cells)))
    changed.cells[3].outputs.append(new_output("stream", name="stderr", text="Error rate: 0.00 %\n"))
    nbformat.write(changed, tmp_path / "a.ipynb")
    code, shown, _ = checked(tmp_path / "a.ipynb", capsys)
    assert code == OWN
    assert "Not compared: cell 4 (from IPython.display import Markdown) on stderr, “Error rate: 0.00 %”" in shown
    outputs = [new_output("stream", name="stderr", text=text) for text in ("in 3 s", "in 14 s")]
    assert {kind for each in outputs for kind in check_outputs._warned(new_code_cell(outputs=[each]))} == {"in 0 s"}


def injected_later(cells):
    cells.insert(-2, new_code_cell("last = 9", metadata={"tags": ["injected-parameters"]}))


def record_elsewhere(cells):
    cells[0].metadata.left_out = cells.pop().metadata.left_out


def name_elsewhere(cells):
    cells.pop()
    cells[1].metadata.words = STATEMENT.source


def invented(cells):
    cells[-1].metadata.left_out.append({"after": 1, "source": "% holds: degree < 5\n\nMine.", "tags": []})


ALTERED = {
    "a tag more": lambda cells: cells[-2].metadata.update(tags=["published"]),
    "a cell that overrides a value": injected_later,
    "the record of the list elsewhere": record_elsewhere,
    "its statement in the metadata of a cell of code": name_elsewhere,
    "an invented sentence in it": invented,
    "other words with its tag": lambda cells: cells.append(new_markdown_cell("0.", metadata={"tags": ["statements"]})),
    "a text that is missing": lambda cells: cells.pop(0),
}


STATEMENT = new_markdown_cell("% holds: degree < 5\n\nAlways {eval}`degree`.")


@pytest.fixture
def spoken(monkeypatch, tmp_path, source):
    """A function that executes a source with a statement that holds for small degrees, and gives its copy, read."""
    cells = nbformat.read(source, as_version=4).cells
    (tmp_path / "notebooks").mkdir()
    own = new_notebook(cells=[*cells[:2], STATEMENT, *cells[2:]], metadata=notebooks.METADATA)
    nbformat.write(own, tmp_path / "notebooks" / "small.ipynb")
    monkeypatch.setattr(check_code, "ROOT", tmp_path)

    def execute(degree, *, fills):
        path = tmp_path / "run" / "run.ipynb"
        path.parent.mkdir()
        if fills:
            notebooks.execute(tmp_path / "notebooks" / "small.ipynb", path, {"degree": degree})
        else:
            options = {"progress_bar": False, "kernel_manager_class": notebooks.OwnKernelManager}
            papermill.execute_notebook(tmp_path / "notebooks" / "small.ipynb", path, {"degree": degree}, **options)
        return path

    return execute


@pytest.mark.long
def test_a_text_of_the_author_with_percent_is_the_one_of_the_new_run(monkeypatch):
    """The engine does not let a number part from its unit."""
    own, again = (new_markdown_cell(f"My error is **0.01{blank}%**.") for blank in (" ", "\N{NO-BREAK SPACE}"))
    monkeypatch.setattr(rerun, "cells", lambda *_: {0: again})
    assert check_outputs.outputs("", new_notebook(cells=[own]), OPEN, timeout=1) == check_outputs.Outputs((), 0, (), 0)


def test_a_run_by_papermill_alone_is_reproduced_and_its_texts_are_said_to_have_no_values(spoken, capsys):
    path = spoken(7, fills=False)
    code, shown, _ = checked(path, capsys)
    assert code == 0, shown
    assert "Not compared: 2 text cells without values; 'python -m study papermill' fills them in." in shown
    target = path.parent.with_suffix(".csv")
    assert checked(path.parent, capsys, "--target", str(target))[0] == 0
    (row,) = pd.read_csv(target).to_dict("records")
    assert (row["not compared"], row["without values"]) == (0, 2)


CHAPTER = """
class Chapter:
    published = False
    def named(self, name):
        return "Table 1", {"text/markdown": "| a |\\n| --: |\\n| 1 |"}
get_ipython().chapter = Chapter()
"""


@pytest.mark.long
@pytest.mark.parametrize("fills", [False, True])
def test_a_table_with_a_caption_is_compared_in_the_form_that_the_run_gave_it(fills, tmp_path, capsys):
    cells = [new_code_cell(CHAPTER), new_code_cell("import pandas as pd\npd.DataFrame({'a': [1]})")]
    caption = new_markdown_cell("Mine.", metadata={"tags": ["caption:mine"]})
    nbformat.write(new_notebook(cells=[*cells, caption], metadata=notebooks.METADATA), tmp_path / "a.ipynb")
    (tmp_path / "run").mkdir()
    target = tmp_path / "run" / "a.ipynb"
    if fills:
        notebooks.execute(tmp_path / "a.ipynb", target, {})
    else:
        options = {"progress_bar": False, "kernel_manager_class": notebooks.OwnKernelManager}
        papermill.execute_notebook(tmp_path / "a.ipynb", target, **options)
    assert ("<div>" in target.read_text()) == (not fills)
    code, shown, _ = checked(target, capsys)
    assert code == OWN, shown


@pytest.mark.long
def test_a_statement_that_was_left_out_cannot_be_put_back_nor_its_list_removed(spoken, capsys):
    path = spoken(7, fills=True)
    whole = hand_in.read(path)
    code, shown, _ = checked(path, capsys)
    assert code == 0, shown
    assert "do not hold" in whole.cells[-1].source
    whole.cells.pop()
    found = check_code.code(whole)
    assert "Text cells of the source that are missing:\n- Always {eval}`degree`." in str(found)
    assert not found.is_the_projects and seen(path).is_the_projects
    for name, alter in ALTERED.items():
        changed = copy.deepcopy(hand_in.read(path))
        alter(changed.cells)
        assert not check_code.code(changed).is_the_projects, name
    whole.cells.insert(2, STATEMENT)
    nbformat.write(whole, path)
    code, shown, _ = checked(path, capsys)
    assert code == DIFFERS and "- cell 3 (Always {eval}`degree`.): the new run leaves this text out" in shown
    assert "- the list of statements that do not hold in this run is missing" in shown


def test_a_cell_that_was_emptied_and_a_raw_one_are_named(own_run, tmp_path, capsys, monkeypatch):
    changed = hand_in.read(own_run)
    for place in (0, 2):
        changed.cells[place].source = ""
    changed.cells.append(new_raw_cell("The error is 0."))
    again = copy.deepcopy(changed.cells)
    again[2].outputs = []
    monkeypatch.setattr(rerun, "cells", lambda *_: dict(enumerate(again)))
    nbformat.write(changed, tmp_path / "a.ipynb")
    code, shown, _ = checked(tmp_path / "a.ipynb", capsys)
    assert code == DIFFERS and "- cell 3 (empty): picture 1 is not reproduced" in shown
    assert f"- cell {len(changed.cells)} (The error is 0.)" in shown


def test_parameters_are_found_next_to_other_code_and_without_tags(own_run):
    changed = hand_in.read(own_run)
    injected = new_code_cell("degree = 7\nprint(1)", metadata={"tags": ["injected-parameters"]})
    changed.cells[1].source = PARAMETERS
    changed.cells.insert(2, injected)
    assert check_code.code(changed).parameters == "degree = 7"
    injected.source = injected.source.removesuffix("\nprint(1)")
    injected.metadata = {}
    assert check_code.code(changed).parameters == "degree = 7"


def test_words_that_have_no_value_are_named_not_the_last_cell(own_run, tmp_path, capsys):
    changed = hand_in.read(own_run)
    place = next(index for index, cell in enumerate(changed.cells) if "words" in cell.metadata)
    changed.cells[place].metadata["words"] = "Of {eval}`degree / 2`."
    nbformat.write(changed, tmp_path / "a.ipynb")
    code, _, told = checked(tmp_path / "a.ipynb", capsys)
    assert code == CANNOT and "study: an expression in the text must be" in told and "that begins 'Of {eval}" in told


# A folder.


def test_the_table_of_a_folder_names_seeds_also_by_default_and_runs_with_the_same_one(tmp_path, monkeypatch):
    monkeypatch.setattr(check_code, "ROOT", tmp_path / "project")
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
    write(folder / "f.ipynb", "degree = 3\nrandom_state: print(1) = 3")
    found = check_folder.files(folder)
    table = check_folder.table(found)
    assert list(table["seed"]) == ["3", "3", "4", "", "7", ""]
    assert list(table["same seed as"]) == ["b.ipynb", "a.ipynb", "", "", "", ""] and set(table["equal to"]) == {""}
    monkeypatch.setenv("COLUMNS", "60")
    assert check_folder.in_short(found).splitlines()[:6] == [
        "code  texts  file",
        "   0      0  a.ipynb",
        "             seeded; seed 3, as 2 files have; not executed",
        "   0      0  b.ipynb",
        "             seeded; random_state = 3; seed 3, as 2 files",
        "             have; not executed",
    ]


def test_a_folder_without_notebooks_is_refused(tmp_path, capsys):
    (tmp_path / "a.zip").touch()
    code, shown, told = checked(tmp_path, capsys)
    assert code == CANNOT and f"{tmp_path}: no notebooks in this folder" in told and "cannot be run" in shown


def test_a_file_that_is_not_a_notebook_has_a_row_too(own_run, tmp_path):
    shutil.copy(own_run, tmp_path / "a.ipynb")
    for name in ("b.zip", "c.html", "README", ".hidden"):
        (tmp_path / name).touch()
    table = check_folder.table(check_folder.files(tmp_path))
    found = dict(zip(table["file"], table["verdict"], strict=True))
    assert found == {
        "README": "not a notebook: README", "a.ipynb": "", "b.zip": "not a notebook: .zip", "c.html": "not a notebook: .html"
    }  # fmt: skip


@pytest.mark.skipif(os.name != "posix", reason="links need rights elsewhere")
def test_hidden_notebooks_and_links_to_folders_are_named(tmp_path):
    folder = tmp_path / "class"
    (folder / ".ipynb_checkpoints").mkdir(parents=True)
    for name in ("a.ipynb", ".b.ipynb", "._a.ipynb", ".DS_Store", ".ipynb_checkpoints/a-checkpoint.ipynb"):
        (folder / name).touch()
    (folder / "more").symlink_to(tmp_path)
    assert check_folder.unseen(folder) == [".b.ipynb", "more"]
    assert [each.row["file"] for each in check_folder.files(folder)] == ["a.ipynb"]


@pytest.mark.skipif(os.name != "posix", reason="such names are not allowed here")
def test_no_terminal_obeys_a_name_and_no_spreadsheet_computes_it(own_run, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(rerun, "cells", lambda *_: dict(enumerate(hand_in.read(own_run).cells)))
    names = ["=1+2.ipynb", "+a.ipynb", "-a.ipynb", "@a.ipynb", "\x1b[31mred.ipynb", "\u202ea.ipynb"]
    (tmp_path / "class").mkdir()
    for name in names:
        shutil.copy(own_run, tmp_path / "class" / name)
    code, shown, told = checked(tmp_path / "class", capsys, "--target", str(tmp_path / "checks.csv"))
    assert code == 0 and not {"\x1b", "\u202e"} & {*shown, *told}
    table = pd.read_csv(tmp_path / "checks.csv")
    assert sorted(table["file"]) == sorted([
        "'=1+2.ipynb", "'+a.ipynb", "'-a.ipynb", "'@a.ipynb", "\\x1b[31mred.ipynb", "\\u202ea.ipynb",
    ])  # fmt: skip
    assert all(set("=+-@").isdisjoint(names[0]) for names in table["equal to"])


def test_rows_are_written_as_they_come_and_a_fault_costs_no_other_row(own_run, tmp_path, capsys, monkeypatch):
    names = ["a", "b", "c"]
    (tmp_path / "class").mkdir()
    for name in names:
        shutil.copy(own_run, tmp_path / "class" / f"{name}.ipynb")
    written = []
    until = time.monotonic() + 60

    def cells(path, *_):
        if path.stem == "b":
            raise KeyError("a fault of the check")
        if path.stem == "c":  # the table has the rows of those before, or gets them at once
            while len(written) < 2 and time.monotonic() < until:
                time.sleep(0.05)
                written[:] = pd.read_csv(tmp_path / "checks.csv")["verdict"].dropna()
        return dict(enumerate(hand_in.read(own_run).cells))

    monkeypatch.setattr(rerun, "cells", cells)
    options = ("--jobs", "1", "--target", str(tmp_path / "checks.csv"))
    code, shown, told = checked(tmp_path / "class", capsys, *options)
    assert code == CANNOT and written == [check_folder.SAME, check_folder.CANNOT]
    assert list(pd.read_csv(tmp_path / "checks.csv")["verdict"]) == [
        check_folder.SAME,
        check_folder.CANNOT,
        check_folder.SAME,
    ]
    assert re.findall(r"^\[(./3)\]", told, re.MULTILINE) == ["1/3", "2/3", "3/3"] and "\r" not in told
    assert "] a.ipynb: reproduced (0 s)\n" in told and "] b.ipynb: cannot be run (0 s)\n[" in told  # whichever is told first


# Consent.


class Terminal(io.StringIO):
    """The answer of a user."""

    def isatty(self):
        return True


def test_code_is_shown_and_nothing_is_run_without_consent(handed_in, capsys, monkeypatch):
    path = handed_in("mine = 1")
    ran = []
    monkeypatch.setattr(rerun, "cells", lambda path, notebook, *_: ran.append(path) or dict(enumerate(notebook.cells)))
    for typed, code in ((io.StringIO("y\n"), NOT_RUN), (Terminal("\n"), NOT_RUN), (Terminal("y\n"), OWN)):
        monkeypatch.setattr(sys, "stdin", typed)
        assert main(["check", str(path), "--unprotected"]) == code and bool(ran) == (code == OWN)
    shown = capsys.readouterr()
    assert "    mine = 1" in shown.out
    assert f"the code of this notebook will run next with your permissions, {BEST}: {BEST.meaning}." in shown.err
    assert "no terminal to ask for your consent; add --yes (make: YES=1)" in shown.err


def test_of_a_folder_all_code_that_is_not_the_projects_is_shown_before_the_question(handed_in, capsys, monkeypatch):
    path = handed_in("mine = 1")
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n"))
    monkeypatch.setattr(rerun, "cells", lambda *_: pytest.fail("it was run"))
    assert main(["check", str(path.parent), "--unprotected", "--target", str(path.with_suffix(".csv"))]) == NOT_RUN
    assert "    mine = 1" in capsys.readouterr().out


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not here")
@pytest.mark.parametrize(("code", "fails"), [(0, False), (OWN, False), (DIFFERS, True), (CANNOT, True), (NOT_RUN, True)])
def test_make_check_fails_if_results_are_not_confirmed_and_not_for_parts_of_the_authors_own(code, fails):
    command = ["make", "check", "PYTHON=true", f"PY=sh -c 'exit {code}'", "HANDIN=a.ipynb"]
    assert bool(subprocess.run(command, cwd=ROOT, capture_output=True, stdin=subprocess.DEVNULL).returncode) == fails


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not here")
def test_make_check_has_a_deadline_and_its_variables_become_options():
    command = ["make", "-n", "check", "PYTHON=true", "PY=python", "HANDIN=a.ipynb"]
    for given, options in (
        ([], "--timeout 600"),
        (["TIMEOUT=9", "UNPROTECTED=1", "YES=1"], "--timeout 9 --unprotected --yes"),
    ):
        done = subprocess.run([*command, *given], cwd=ROOT, capture_output=True, text=True)
        assert f"-m study check {options}" in " ".join(done.stdout.replace("\\", "").split())


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not here")
def test_lines_of_make_help_are_short():
    done = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True)
    assert "make check" in done.stdout and max(map(len, done.stdout.splitlines())) <= 120


# The sandbox.

SLEEPER = "import subprocess\nprocess = subprocess.Popen(['sleep', '{}'], start_new_session=True)"
"""A program that starts a process in a session of its own."""


def is_running(seconds):
    """Whether a process sleeps for this time, which nobody else has."""
    done = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True)
    return f"sleep {seconds}" in done.stdout


def program(*lines):
    return ["-c", "\n".join(lines)]


@pytest.mark.parametrize("where", [OPEN, pytest.param(CLOSED, marks=needs_bubblewrap)], ids=str)
@pytest.mark.parametrize("line", ["while True: pass", "import os, signal; os.kill(os.getpid(), signal.SIGSTOP)"])
def test_a_program_that_does_not_end_is_stopped(line, where, tmp_path):
    start = time.monotonic()
    ended = where.run(program("print('here', flush=True)", line), tmp_path, 5)
    assert ended.stopped == "it was still running after 5 seconds; allow more with --timeout (make: TIMEOUT=)"
    assert ended.out == "here\n" and time.monotonic() - start < 60 and not where.running


@pytest.mark.long
@pytest.mark.parametrize("where", [OPEN, pytest.param(CLOSED, marks=needs_bubblewrap)], ids=str)
def test_a_cell_that_does_not_end_is_named(where, handed_in, capsys):
    path = handed_in("1", "import os, signal\nos.kill(os.getppid(), signal.SIGSTOP)\nwhile True: pass")
    with pytest.raises(hand_in.CannotRun, match=r"^cell 2 \(import os, signal\): it was still running after 30 seconds"):
        texts(path, where, 30)


def test_only_so_much_is_kept_of_what_a_program_writes(tmp_path, monkeypatch):
    monkeypatch.setattr(sandbox, "LARGEST", 10**6)
    ended = OPEN.run(program("while True: print('x' * 1000)"), tmp_path, 60)
    assert ended.stopped == "its results are larger than 0 MB" and len(ended.out) < 2 * 10**6
    ended = OPEN.run(program("import sys", "sys.stderr.write('x' * 10**7 + 'end')"), tmp_path, 60)
    assert len(ended.err) == sandbox.TAIL and ended.err.endswith("end") and not ended.stopped


@pytest.mark.long
def test_a_notebook_that_shows_too_much_is_stopped(handed_in):
    with pytest.raises(hand_in.CannotRun, match=r"^cell 1 \(while True.*: the output of the notebook is larger than 64 MB"):
        texts(handed_in("while True: print('x' * 2**20)"), BEST)


@pytest.mark.parametrize(
    "line", ["", "text", '{"cell": 7}', '{"done": {}}', '{"cell": 0}', '{"done": {"cells": 1}, "x": 1}']
)
def test_a_program_that_reports_nonsense_is_no_result(line, handed_in, monkeypatch):
    ended = sandbox.Ended(f"{line}\n", "", 0, "")
    monkeypatch.setattr(Sandbox, "run", lambda *_: ended)
    with pytest.raises(hand_in.CannotRun):
        texts(handed_in("1"), OPEN)


HOSTILE = """
import os, socket, subprocess
from kp import compiled
from study import ROOT
from study.results import store
def tried(function, *arguments):
    try:
        return function(*arguments)
    except OSError as error:
        return error.strerror
print(os.path.exists("{secret}"), os.path.exists("{path}"), os.listdir())
store.write(ROOT / "build" / "of_a_test", "x")
print((ROOT / "build" / "of_a_test").exists(), (ROOT / "data" / "registry.toml").exists())
for path in ("/etc/of_a_test", ROOT / "of_a_test", "{path}"):
    print(tried(open, path, "w"))
print(set({cache}) <= set(os.listdir(compiled.folders()[0])))
print(tried(socket.create_connection, ("127.0.0.1", {port}), 1))
print(tried(socket.create_connection, ("192.0.2.1", 80), 1))
done = subprocess.run(["mount", "-o", "remount,bind,rw", "/"], capture_output=True)
print(done.returncode != 0)
"""
FOUND = """\
False False []
True True
Read-only file system
Read-only file system
No such file or directory
True
Connection refused
Network is unreachable
True
"""


@needs_bubblewrap
def test_a_notebook_in_the_sandbox_reaches_and_changes_nothing_and_leaves_nothing_behind(tmp_path, monkeypatch):
    (tmp_path / "home").mkdir()
    secret = tmp_path / "home" / "secret"
    secret.write_text("secret")
    monkeypatch.setenv("HOME", str(secret.parent))
    path = tmp_path / "notebook" / "small.ipynb"
    path.parent.mkdir()
    OneVsAllKernelPerceptron().fit([[0.0], [1.0]], [0, 1])  # now there is compiled code
    cache = [each.name for each in compiled.folders()[0].glob("*.nb[ci]")]  # tests beside may add to it
    assert cache
    seconds = 700 + os.getpid() / 1e7
    with socket.create_server(("127.0.0.1", 0)) as server:
        text = HOSTILE.format(secret=secret, port=server.getsockname()[1], cache=cache, path=path)
        cells = [new_code_cell(SLEEPER.format(seconds)), new_code_cell(text)]
        nbformat.write(new_notebook(cells=cells), path)
        assert texts(path, CLOSED) == ["", FOUND]
    assert not is_running(seconds)
    assert [each.name for each in path.parent.iterdir()] == ["small.ipynb"]
    assert not (ROOT / "build" / "of_a_test").exists()


@pytest.mark.long
def test_a_notebook_that_ends_what_runs_it_is_named(handed_in):
    path = handed_in("1", "import os, signal; os.kill(os.getppid(), signal.SIGKILL)")
    with pytest.raises(hand_in.CannotRun, match=r"cell 2 \(import os.*\): the program that runs it ended"):
        texts(path, BEST)


@pytest.fixture
def fresh_obstacle():
    """It is found once a process."""
    obstacle.cache_clear()
    yield
    obstacle.cache_clear()


@pytest.mark.usefixtures("fresh_obstacle")
@pytest.mark.parametrize(
    ("script", "told"),
    [
        (None, "bubblewrap is not installed (on Debian and Ubuntu: apt install bubblewrap)"),
        (
            "echo 'bwrap: No permissions to create new namespace' >&2; exit 1",
            "(bwrap: No permissions to create new namespace)",
        ),
        ("exit 3", "bubblewrap does not work on this computer (exit code 3)"),
    ],
)
@pytest.mark.skipif(os.name != "posix", reason="the script is one of a shell")
def test_without_a_sandbox_nothing_is_run_unless_that_is_allowed(script, told, handed_in, tmp_path, capsys, monkeypatch):
    path = handed_in("1")
    (tmp_path / "bin").mkdir()
    if script:
        (tmp_path / "bin" / "bwrap").write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / "bin" / "bwrap").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    ran = []
    monkeypatch.setattr(rerun, "cells", lambda path, notebook, where, _: ran.append(where) or {0: notebook.cells[0]})
    assert main(["check", str(path), "--yes"]) == NOT_RUN and not ran
    shown = capsys.readouterr()
    assert told in shown.err and "to run without a sandbox, add --unprotected (make: UNPROTECTED=1)" in shown.err
    assert shown.err.count("\n") == 1 and shown.out.endswith("Verdict: not run.\n")
    assert main(["check", str(path), "--yes", "--unprotected"]) == OWN and ran == [OPEN]
    assert (
        "with your permissions, unprotected: it can read, change, delete and send away whatever you can."
        in capsys.readouterr().err
    )


def test_the_table_of_a_folder_replaces_nothing_but_an_earlier_one(tmp_path):
    target = tmp_path / "grades.csv"
    check_folder.require_replaceable(target)
    target.write_text(check_folder.table([]).to_csv(index=False))
    check_folder.require_replaceable(target)
    for content in ("name,grade\nA,1\n", ""):
        target.write_text(content)
        with pytest.raises(ValueError, match="grades.csv: this file would be overwritten"):
            check_folder.require_replaceable(target)
    target.unlink()
    target.symlink_to(tmp_path / "elsewhere.csv")
    with pytest.raises(ValueError, match="would be overwritten"):
        check_folder.require_replaceable(target)


def test_what_was_left_out_is_run_again_behind_the_caption_of_the_cell_before():
    caption, false = "% holds: n > 2\n\n**A.** What is shown.", "% holds: n > 3\n\nB."
    listed = {"tags": [engine.LISTED], "left_out": [{"after": 1, "source": false, "tags": []}]}
    cells = [
        new_code_cell("n = 1"), new_markdown_cell("What is shown.", metadata={"tags": ["caption:n"], "words": caption}),
        new_markdown_cell("After."), new_markdown_cell(engine.HEADING, metadata=listed),
    ]  # fmt: skip
    again = rerun._without_results(new_notebook(cells=cells))
    assert [cell.source for cell in again.cells] == ["n = 1", caption, false, "After."]
