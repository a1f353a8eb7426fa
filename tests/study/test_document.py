"""What cells display, and the HTML and PDF made of it."""

import ast
import base64
import hashlib
import html as escaping
import io
import json
import re
import shutil
import socket
import subprocess
import sys
from types import SimpleNamespace

import matplotlib.pyplot as plt
import nbformat
import numpy as np
import pandas as pd
import pypandoc
import pytest
import typst
from IPython.core.interactiveshell import InteractiveShell
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from PIL import Image

from study import ROOT, chapters, claims, style
from study import words as forms
from study.__main__ import main
from study.report import content, display, ledger, references
from study.report import document as report
from study.report.document import Layout, Source
from study.words import styled

FACTS = dict(
    title="A study of <kernels>", author='Ada "A" Lovelace', course="Course #1", date="1 March 2026",
    declaration="All $mine$.",
)  # fmt: skip
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=="
ROWS = "| set&nbsp; | error&nbsp; |\n| :-- | --: |\n| a\\|b | 50.0 % |\n| c | 25.0 % |"


def test_documents_and_the_batch_load_no_library_that_draws_or_learns():
    program = "from study.report import document, ledger, origin; import sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT)
    assert not {"matplotlib.pyplot", "seaborn", "sklearn", "numba", "scipy.stats"} & set(done.stdout.split())


def drawn():
    figure, (left, right) = style.canvas(1, 2)
    left.plot([0, 1], [1, 3], label="a long name in the legend")
    left.set(ylabel="share", title="lines")
    left.legend()
    figure.colorbar(right.imshow(np.eye(3)), ax=right)
    return figure


def test_a_figure_that_is_drawn_once_has_the_bytes_of_savefig():
    figure, plain = drawn(), drawn()
    canvas, dpi = figure.canvas, figure.dpi
    for kind, nothing in {"png": {"Software": None}, "svg": {"Date": None, "Creator": None}}.items():
        file = io.BytesIO()
        plain.savefig(file, format=kind, dpi=200, metadata={**nothing, "Source": "a"})
        assert display._picture(figure, kind, Source="a") == file.getvalue()
        plain.set_layout_engine("none")
    assert (figure.canvas, figure.dpi) == (canvas, dpi)


def text(words, *tags, **more):
    return new_markdown_cell(words, metadata={"tags": list(tags)}, **more)


def code(program, *tags, shown=None, **about):
    """A code cell, which shows a table in Markdown or a picture."""
    data = {"text/markdown": shown} if shown else {"image/png": PIXEL}
    outputs = [new_output("display_data", data=data, metadata={"image/png": about})] if shown is not None else []
    return new_code_cell(program, metadata={"tags": list(tags)}, outputs=outputs, execution_count=1)


def write(path, *cells):
    path.parent.mkdir(exist_ok=True)
    nbformat.write(new_notebook(cells=list(cells)), path)
    return path


def page_of(path, *cells, number="1", own=True):
    """The page of a notebook of these cells, which is written to path."""
    report.html([Source(write(path, *cells), number, own=own)], path.with_suffix(".html"), **FACTS)
    return path.with_suffix(".html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def notebooks(tmp_path_factory):
    """Executed notebooks that share titles of sections and names of footnotes."""
    folder = tmp_path_factory.mktemp("notebooks")
    write(folder / "front.ipynb", text("# Front\n\nThe abstract."), code("1"))
    write(
        folder / "first.ipynb",
        text("# First chapter\n\nMail a@b, see [chapter 9](second.ipynb).[^1]\n\n[^1]: First note."),
        code("prepared = 1", "setup"),
        text("## Method\nA formula, $x^2$:\n- and a list\n\n$$ K(x, y) = (1 + x \\cdot y)^p $$"),
        code("plt.subplots()", "show", shown="", width=300),
        text("**Figure\N{NO-BREAK SPACE}1.** A line through $n = 3$ points\n of *interest*.", "caption:one"),
        code("rows", "appendix", shown=ROWS),
        text("**Table\N{NO-BREAK SPACE}1.** Two rows.", "appendix", "caption:two"),
        text("Said to the reader of the notebook.", "notebook"),
        text("A box, and Figure\N{NO-BREAK SPACE}1 again, by [Novikoff 1962](#ref-novikoff1962).", "box"),
        text("All rows are in Table\N{NO-BREAK SPACE}1."),
        text("It errs on **12.5 %**, $x^2$; Figure 7 is of print."),
        text("In the report of one source.", "only:hermans"),
        text("## Exercises\n\n1. Why?", "exercises"),
        code("print('because')", "solution"),
        code("1 + 1"),
    )
    write(
        folder / "second.ipynb",
        text("# Second chapter\n\nAfter [the first](first.ipynb).[^1]\n\n[^1]: Second note."),
        text("## Method\n\nThe same title."),
    )
    numbers = {"front": "", "first": "1", "second": "2"}
    return [Source(folder / f"{name}.ipynb", number, own=True) for name, number in numbers.items()]


@pytest.fixture(scope="module")
def page(notebooks):
    target = notebooks[0].path.parent / "out" / "report.html"
    report.html(notebooks, target, **FACTS)
    return target.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def ledger_page(tmp_path_factory):
    target = tmp_path_factory.mktemp("ledger") / "ledger.html"
    ledger.write(target)
    return target.read_text(encoding="utf-8")


def test_a_page_has_title_author_course_date_and_contents_whose_links_lead_to_one_place(page):
    header = re.search(r"<header id=.top.>.*?</header>", page, re.DOTALL).group()
    for words in ("A study of &lt;kernels&gt;", "All $mine$.", "Course #1", "1 March 2026"):
        assert words in header
    targets = re.findall(r'href="#([^"]+)"', page)
    ids = re.findall(r' id="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    assert {"chapter-first", "chapter-second", "figure-first-1", "ref-novikoff1962"} <= set(targets) <= set(ids)
    headings = re.findall(r"<h[12][^>]*>(.*?)</h[12]>", page, re.DOTALL)
    assert [" ".join(re.sub(r"<[^>]*>", " ", each).split()) for each in headings] == [
        "A study of &lt;kernels&gt;", "1 First chapter", "1.1 Method", "1.2 Exercises", "2 Second chapter", "2.1 Method",
        "A Evidence for chapter 1", "References",
    ]  # fmt: skip


def test_a_chapter_has_its_number_in_this_document_wherever_words_point_to_it(page):
    assert re.search(r'see <a href="#chapter-second"[^>]*>chapter 2</a>', page) and "chapter 9" not in page


def test_a_page_has_formulas_figures_tables_and_words_as_they_were_written(page):
    assert page.count('<math display="block"') == 1 and "$x^2$" not in page and "<msup>" in page
    assert page.count("<figure") == 1 and re.search(r'<img [^>]*alt="Figure.1.1. A line', page)
    (caption,) = re.findall(r"<figcaption.*?</figcaption>", page, re.DOTALL)
    assert "<strong>Figure\N{NO-BREAK SPACE}1.1.</strong> A line through" in caption
    assert page.count("points of <em>interest</em>") == 1
    assert "<caption><strong>Table\N{NO-BREAK SPACE}1.1.</strong> Two rows.</caption>" in page
    assert re.findall(r"<td[^>]*>(.*?)</td>", page) == ["a|b", "50.0\N{NO-BREAK SPACE}%", "c", "25.0\N{NO-BREAK SPACE}%"]
    assert re.findall(r"<th[^>]*>(.*?)</th>", page) == ["set", "error"]
    assert page.index("The same title") < page.rindex("Evidence for chapter 1") < page.rindex("Two rows.")
    for words in ("First note.", "Second note.", "Mail a@b", "<strong>12.5\N{NO-BREAK SPACE}%</strong>", "Figure 7 is of"):
        assert words in page
    for words in ("Said to the reader", "In the report of one source", "prepared"):
        assert words not in page


def test_sections_of_an_appendix_are_numbered_under_its_letter(tmp_path):
    cells = [text("# T"), text("## One"), text("## Evidence", "appendix"), text("## Two", "appendix"), text("## Three")]
    found = page_of(tmp_path / "a.ipynb", *cells, text("## Four", "appendix"), number="2")
    headings = re.findall(r"<h[12][^>]*>(.*?)</h[12]>", found, re.DOTALL)
    assert [" ".join(re.sub(r"<[^>]*>", " ", each).split()) for each in headings][1:] == [
        "2 T", "2.1 One", "2.2 Three", "A Evidence for chapter 2", "A.1 Two", "A.2 Four",
    ]  # fmt: skip


def test_code_cells_in_a_row_share_a_fold_and_each_solution_has_its_own(tmp_path):
    answers = [text(f"**Solution {n}.** Because.", "solution") for n in (1, 2, 3)]
    found = page_of(
        tmp_path / "a.ipynb", text("# T"), code("a = 1"), code("b = 2"), text("## Evidence", "appendix"),
        code("c = 3", "appendix"), answers[0], code("answer = 1", "solution"), code("answer = 2", "solution"), *answers[1:],
        number="A",
    )  # fmt: skip
    folds = re.findall(r"<details[^>]*>\s*<summary>\s*([^<]*?)\s*</summary>(.*?)</details>", found, re.DOTALL)
    assert [(name, inner.count("<pre")) for name, inner in folds] == [
        ("Code", 2), ("Solution 1", 1), ("Solution 2", 1), ("Solution 3", 0), ("Code", 1),
    ]  # fmt: skip


def test_a_work_of_a_conference_has_no_address_of_an_article():
    entries = re.split(r"^(?=@)", references.FILE.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    of_journals = [each for each in entries if re.search(r"doi = \{10\.1023/", each)]
    assert of_journals and {each.partition("{")[0] for each in of_journals} == {"@article"}
    assert references.addresses()["li1999"].startswith("https://papers.nips.cc/paper/1999/")


def test_works_that_are_cited_are_listed_also_where_a_copy_has_their_addresses_and_unknown_ones_refused(page, tmp_path):
    assert page.count('id="ref-') == 1 and "On Convergence Proofs" in re.sub(r"\s+", " ", page)
    keys = sorted(references.addresses())
    copy = references.addressed(" ".join(f"[a](#ref-{key})" for key in keys))
    found = page_of(tmp_path / "a.ipynb", text(f"# T\n\n{copy}"))
    assert "https://doi.org" in copy and sorted(re.findall(r'<div id="ref-([\w-]+)"', found)) == keys
    with pytest.raises(ValueError, match="entries of refs.bib, got nobody1900"):
        page_of(tmp_path / "a.ipynb", text("# T\n\nBy [nobody](#ref-nobody1900)."))


def test_pdf_has_the_same_bytes_twice(notebooks, tmp_path):
    for name in ("a.pdf", "b.pdf"):
        report.pdf(notebooks, tmp_path / name, **FACTS)
    assert (tmp_path / "a.pdf").read_bytes().startswith(b"%PDF")
    assert (tmp_path / "a.pdf").read_bytes() == (tmp_path / "b.pdf").read_bytes()


def test_paper_has_no_evidence_no_exercises_and_only_the_code_that_is_to_be_seen(notebooks, tmp_path):
    source = report.typst_source(notebooks, tmp_path, Layout("typst", report="hermans"), **FACTS)
    body = source.split("#contents()\n\n")[-1]
    for once in ("= 1 First chapter", "= 2 Second chapter", "#figure(", "#strong[Figure~1.1.]"):
        assert body.count(once) == 1, once
    for words in ("plt.subplots", "#link(<figure-first-1>)[Figure~1.1]", "In the report of one", "#link(<chapter-second>)"):
        assert words in body
    assert "All rows are in the table in `report.html`." in " ".join(body.split())
    for words in ("Two rows", "Why?", "because", "prepared"):
        assert words not in source
    assert "prepared" in report.typst_source(notebooks, tmp_path, Layout("typst", code=True), **FACTS)
    for sheet, answer in (("exercises", False), ("solutions", True)):
        printed = report.typst_source(notebooks[1:], tmp_path, Layout("typst", sheet=sheet), **FACTS)
        assert "Why?" in printed and ("because" in printed) == answer and "A formula" not in printed


def test_an_abstract_stands_before_the_contents_and_the_code_of_a_listing_is_not_in_them(tmp_path):
    path = write(tmp_path / "a.ipynb", text("# Introduction"), text("In short.", "abstract", "box"), text("At length."))
    source = report.typst_source([Source(path, "1")], tmp_path, Layout("typst"), listing=[("f", "def f(): ...")], **FACTS)
    body = source[source.index("\n#contents()\n") :]
    assert source.count("In short.") == 1 and "In short." not in body and "At length." in body
    assert "outlined: false" in next(line for line in body.splitlines() if line.startswith("#heading(") and "`f`" in line)


def picture(side):
    """A code cell with a white square of so many points."""
    file = io.BytesIO()
    Image.new("L", (side, side), 255).save(file, "png")
    cell = code("1", shown="")
    cell.outputs[0].data["image/png"] = base64.b64encode(file.getvalue()).decode()
    return cell


def test_in_print_only_what_does_not_fit_below_its_words_floats_and_no_figure_overtakes_another(tmp_path):
    table = [code("1", shown=ROWS), text("**Table\N{NO-BREAK SPACE}1.** All.", "caption:all")]
    cells = [text("# T"), picture(300), text("More."), picture(300), picture(9), *table, text("Words.\n\n" * 20), picture(9)]
    path = write(tmp_path / "a.ipynb", *cells)
    source = tmp_path / "a.typ"
    source.write_text(report.typst_source([Source(path, "1")], tmp_path, Layout("typst"), **FACTS), encoding="utf-8")
    options = {"root": str(tmp_path), "ignore_system_fonts": True}
    inputs = report._settled(source, options)
    marks = json.loads(typst.query(str(source), "<mark>", field="value", sys_inputs=inputs, **options))
    pages = {place: [page for *_, of, page in sorted(marks) if of == place] for place in ("words", "figure")}
    assert json.loads(inputs["floats"]) == [False, True, True, False, False]
    assert pages == {"words": [1, 1, 1, 1, 2], "figure": [1, 2, 2, 1, 2]}


def test_a_figure_that_fits_after_one_before_it_floats_stands_and_one_that_then_does_not_fit_floats(tmp_path, monkeypatch):
    # Which of three are misplaced, by which float.
    rounds = {"": "011", "011": "010", "010": "011"}
    asked = []

    def query(source, mark, *, field, sys_inputs):
        asked.append("".join("01"[each] for each in json.loads(sys_inputs["floats"])))
        misplaced = enumerate(rounds[asked[-1]])
        return json.dumps(
            [(n, "table", *mark) for n, late in misplaced for mark in (("words", n), ("figure", n + int(late)))]
        )

    monkeypatch.setattr(typst, "query", query)
    assert json.loads(report._settled("a.typ", {})["floats"]) == [False, True, True]
    assert asked == ["", "011", "010", "011"]


SIGNS = '$(value) $HOME `x` \\ # @a <b> *c* [d](e) "f" % Привет Ελλάδα ế'


@pytest.mark.parametrize("title", ["true", SIGNS])
def test_a_title_is_text_whatever_its_signs(notebooks, tmp_path, title):
    facts = FACTS | {"title": title, "author": title}
    report.html(notebooks[2:], tmp_path / "a.html", **facts)
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    expected = escaping.escape(title)
    for before, after in (("<title>", "</title>"), ("<h1>", "</h1>"), ('<meta name="author" content="', '">\n')):
        assert f"{before}{expected}{after}" in page
    assert report.pdf(notebooks[2:], tmp_path / "a.pdf", **facts) == ""


def test_characters_that_no_font_has_are_named(notebooks, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("KP_AUTHOR", "王 Łukasz 이 王")
    target = ["--target", str(tmp_path / "b.pdf")]
    assert main(["report", "--kind", "pdf", *target, "--notebooks", str(notebooks[1].path)]) == 0
    boxes = report.without_font("王 Łukasz 이", of_system=True)
    said = capsys.readouterr().err
    assert (f"no font here has the characters {' '.join(boxes)}, which are boxes" in said) == (boxes != "")


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not here")
def test_make_passes_a_title_on_as_it_was_typed():
    title = '$(shell touch made) On $\\ell_2$ `touch made` "quoted" it\'s $100 # ünï'
    command = ["make", "--silent", "pdf", "PYTHON=true", "PY=printenv KP_TITLE; true", f"TITLE={title}"]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    assert done.stdout.splitlines()[0] == title


def test_figures_with_and_without_captions_are_numbered_in_their_order(tmp_path):
    caption = text("**Figure\N{NO-BREAK SPACE}1.** The project's.", "caption:one")
    cells = [code("x", shown=""), code("y", shown=""), caption, code("z", shown=""), text("Mine.", "caption:one")]
    found = page_of(tmp_path / "a.ipynb", text("# T\n\nSee Figure\N{NO-BREAK SPACE}1."), *cells, number="3")
    labels = re.findall(r"<strong>Figure.(3\.\d)\.</strong>([^<]*)", found)
    assert [(number, words.strip()) for number, words in labels] == [
        ("3.1", ""), ("3.2", "The project’s."), ("3.3", "Mine."),
    ]  # fmt: skip
    assert '<a href="#figure-a-2">Figure\N{NO-BREAK SPACE}3.2</a>' in found


def test_the_links_at_the_head_of_an_executed_notebook_are_left_out(tmp_path):
    found = page_of(tmp_path / "a.ipynb", text("[All chapters](README.md#read)", "links"), text("# T\n\nWords."))
    assert "All chapters" not in found and "Words." in found


def test_a_caption_after_what_has_no_number_is_printed_as_text(tmp_path):
    found = page_of(tmp_path / "a.ipynb", text("# T"), code("x", shown="Neither."), text("Mine.", "caption:one"))
    assert "<p>Mine.</p>" in found and "<caption" not in found and "<figcaption" not in found


def test_the_colophon_says_what_is_the_authors_own(page, tmp_path):
    words = " ".join(re.sub("<[^>]*>", "", page).split())
    assert "a reproducible study, version" in words and "with the parameters of the study" in words
    found = page_of(tmp_path / "a.ipynb", text("# T"), code("mine = 1"), own=False)
    assert "a.ipynb: all of it; it is not a run of a notebook of the study" in " ".join(re.sub("<[^>]*>", "", found).split())


def test_a_document_of_own_notebooks_has_the_title_of_the_first_and_names_no_author_but_theirs(tmp_path, monkeypatch):
    path = write(tmp_path / "a.ipynb", text("# My *own* question\n\nWords."), code("mine = 1"))
    for title, author, expected, absent in (
        ("", "", "<title>My own question</title>", "kp authors"),
        ("Given", "Ada", "<title>Given</title>", "My own question"),
    ):
        monkeypatch.setenv("KP_TITLE", title)
        monkeypatch.setenv("KP_AUTHOR", author)
        assert main(["report", "--target", str(tmp_path / "a.html"), "--notebooks", str(path)]) == 0
        head = (tmp_path / "a.html").read_text(encoding="utf-8").partition("</head>")[0]
        assert expected in head and absent not in head and ('name="author" content="Ada"' in head) == (author == "Ada")


SAID = [("stdout", "said o"), ("stdout", "n stdout"), ("stderr", "said on stderr")]


def test_what_stands_on_stderr_is_no_result(tmp_path):
    shown = [new_output("stream", name=name, text=text) for name, text in SAID]
    page = page_of(tmp_path / "a.ipynb", text("# A"), new_code_cell("x", outputs=shown, execution_count=1))
    assert "said on stdout" in page and "said on stderr" not in page


FAILED = new_code_cell("x", outputs=[new_output("error", ename="KeyError")])


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ([code("x")], "starts with '# Title'"),
        ([text("# T"), FAILED], r"a\.ipynb, cell 2: expected a notebook without errors, got KeyError"),
        (
            [text("# T"), new_code_cell("x"), code("y"), new_code_cell(" ")],
            "1 of its 2 code cells have no result; run",
        ),
    ],
)
def test_a_notebook_that_cannot_be_printed_is_refused(cells, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        page_of(tmp_path / "a.ipynb", *cells, own=False)


def test_a_caption_is_that_of_the_last_picture_of_its_cell_and_the_others_are_counted(tmp_path):
    cell = code("draw()", shown="")
    cell.outputs.append(cell.outputs[0])
    page = page_of(tmp_path / "a.ipynb", text("# T"), cell, text("**Figure\N{NO-BREAK SPACE}2.** Mine.", "caption:mine"))
    first, second = re.findall(r"<figcaption.*?</figcaption>", page, flags=re.DOTALL)
    assert "Figure\N{NO-BREAK SPACE}1.1." in first and "Mine" not in first
    assert "Figure\N{NO-BREAK SPACE}1.2." in second and "Mine" in second


@pytest.mark.parametrize("content", [None, '{"cells": []'])
def test_a_file_that_is_no_whole_notebook_is_named_and_the_earlier_report_stays(content, tmp_path):
    path = tmp_path / "a.ipynb"
    target = tmp_path / "a.html"
    target.write_text("earlier")
    if content is not None:
        path.write_text(content)
    said = r"a\.ipynb: (there is no such notebook; correct the path|not a notebook: .* cut short .*; use another copy)"
    with pytest.raises(ValueError, match=said):
        report.html([Source(path, "1")], target, **FACTS)
    assert target.read_text() == "earlier"


SHOWN = display.Source({}, set(), {"counts": "Figure", "lines": "Figure", "rows": "Table"})


def test_figures_are_saved_with_the_same_bytes_if_there_is_a_folder_and_closed(tmp_path, monkeypatch):
    monkeypatch.setattr(display, "ROOT", tmp_path)
    pictures = []
    for folder in ("one", "two", ""):
        fig, ax = plt.subplots()
        ax.plot([1, 2])
        fig.drawn_by = "study.mnist.figures.figure_lines"
        chapter = display.OpenChapter(SHOWN, "data", False, folder)
        pictures.append(chapter._png(fig))
        label, output = chapter.named("lines")
        assert label == "Figure\N{NO-BREAK SPACE}2" and ("file" in output["image/png"]) == bool(folder)
        assert not plt.fignum_exists(fig.number)
    one, two = sorted(tmp_path.rglob("*.svg"))
    written = one.read_text(encoding="utf-8")
    assert written == two.read_text(encoding="utf-8") and pictures[0] == pictures[1]
    assert "study.mnist.figures.figure_lines" in written and "Figure\N{NO-BREAK SPACE}2" in written


def test_figures_of_runs_with_other_parameters_have_other_names():
    def name(**values):
        return display.chapter("mnist_degree", defaults | values).name

    defaults = display.Source.read("mnist_degree").parameters
    assert name(degree=4, random_state=9, figures_folder="build/mine") == "mnist_degree-degree_4-random_state_9"
    for profile in chapters.PROFILES:
        assert name(**chapters.chapter("mnist_degree_3").parameters(profile)) == "mnist_degree_3"
    paths = [name(dataset=f"{'a' * 99}/{word}.csv") for word in ("b", "c")]
    assert paths[0] != paths[1] and all(re.fullmatch(r"[\w.-]{,90}", each, re.ASCII) for each in paths)


def test_figures_and_tables_are_numbered_as_the_source_shows_them_and_others_after_these():
    chapter = display.OpenChapter(SHOWN, "data", False)
    chapter.last = pd.DataFrame({"p": [1]})
    labels = [chapter.named(name)[0].split("\N{NO-BREAK SPACE}") for name in ("b", "a", "b", "rows")]
    assert labels == [["Table", "2"], ["Table", "3"], ["Table", "2"], ["Table", "1"]]
    assert chapter.label("lines") == "Figure\N{NO-BREAK SPACE}2"
    with pytest.raises(ValueError, match="shows the figures counts, lines and the tables rows, got 'x'; correct the name"):
        chapter.label("x")


def test_what_a_function_of_figures_makes_is_a_figure_and_all_else_with_a_caption_a_table():
    found = display.Source.read("tour").captions
    assert found == {"by_epoch": "Figure", "searches": "Table", "stream": "Table"}


def test_a_table_has_numbers_in_form_data_sets_by_name_and_signs_of_minus():
    signs = "At $z = -1$ it is -0.5 points (-2 to -1) [-3], k - 1, `n -1`, 7-fold, -25%"
    frame = pd.DataFrame(
        {
            "a|b": ["x|y", None, signs],
            "set": ["winequality-red", "wine", "iris"],
            "p": [0.5, 0.25, 1],
            "n": [1, 2000, 3],
            "f": [1.23456, float("nan"), 0],
        }
    )
    shown = display.markdown(styled(frame, {"p": lambda value: f"{value:.0%}"}))
    assert shown.replace("\N{NO-BREAK SPACE}%", "~%").splitlines() == [
        r"| a\|b&nbsp; | set&nbsp; | p&nbsp; | n&nbsp; | f&nbsp; |",
        "| :-- | :-- | --: | --: | --: |",
        r"| x\|y | red wine | 50~% | 1 | 1.235 |",
        "|  | wine | 25~% | 2,000 |  |",
        "| At $z = -1$ it is −0.5 points (−2 to −1) [−3], k − 1, `n -1`, 7-fold, −25~% | iris | 100~% | 3 | 0 |",
    ]
    frame = pd.DataFrame({"T = 1": ["1 | 2", "3 (10), 4 (7)", "$a = b$, `a = b`"]})
    assert display.markdown(frame).replace("\N{NO-BREAK SPACE}", "~").splitlines() == [
        "| T~=~1&nbsp; |", "| :-- |", r"| 1~\|~2 |", "| 3~(10), 4~(7) |", "| $a = b$, `a = b` |",
    ]  # fmt: skip
    assert [style.set_name(name) for name in ("winequality-red", "iris-bundled")] == ["red wine", "iris"]
    with pytest.raises(ValueError, match=r"columns of the table.*got \['q'\]"):
        styled(frame, {"q": ".1f"})


@pytest.mark.parametrize(
    ("label", "cell"), [("a|b", r"a\|b"), (r"a\|b", r"a\\\|b"), ("a\nb\r\nc\u2028d", "a b c d"), ("\\", "\\")]
)
def test_any_label_is_one_cell_of_a_table(label, cell):
    text = display.markdown(pd.DataFrame({"class": [label], "n": [1]}))
    assert text.splitlines()[2:] == [f"| {cell} | 1 |"]
    document = json.loads(pypandoc.convert_text(text, "json", format="markdown"))
    assert document["blocks"][0]["t"] == "Table" and "1" in str(document["blocks"][0]["c"][4][0][3][0][1][1])


def test_a_chapter_names_mistyped_parameters_and_shows_numbers_of_numpy_as_plain_ones(monkeypatch):
    shell = InteractiveShell()
    monkeypatch.setattr(display, "get_ipython", lambda: shell)
    namespace = {"dataset": "digits", "n_pairs": 3, "figures_folder": "", "_hidden": 2, "PREDICTORS": (), "module": pytest}
    display.open_chapter("data", namespace)
    assert shell.chapter.name == "data-n_pairs_3"
    values = (np.int64(12), np.float64(0.5), np.str_("a"))
    assert [shell.display_formatter.format(value)[0]["text/plain"] for value in values] == ["12", "0.5", "'a'"]
    with pytest.raises(ValueError, match="among dataset, n_pairs, figures_folder, got n_pair"):
        display.open_chapter("data", namespace | {"n_pair": 2})


def test_a_chapter_without_its_parameters_or_with_others_than_papermill_has_put_in_stops(monkeypatch):
    defaults = display.Source.read("data").parameters
    with pytest.raises(
        ValueError, match=r"tag 'parameters' is missing, which sets dataset; copy it from notebooks/data\.ipynb"
    ):
        display.open_chapter("data", {name: value for name, value in defaults.items() if name != "dataset"})
    given = ["", "# Parameters\nn_pairs = 5\nother = float('nan')\n", "n_pairs = 20"]
    with pytest.raises(ValueError, match="parameters: n_pairs was given as 5, and a cell below sets it to 20; give the tag"):
        display.open_chapter("data", {**defaults, "In": given})
    assert display.chapter("data", {**defaults, "n_pairs": 5, "In": given}).name == "data-n_pairs_5"


def test_a_profile_may_leave_a_chapter_out(monkeypatch):
    plan = chapters.Chapter(source="data", full=None, quick={"n_pairs": 5})
    monkeypatch.setattr(chapters, "CHAPTERS", [plan])
    defaults = display.Source.read("data").parameters
    assert chapters.chapters("full") == [] and chapters.chapters("quick") == [plan]
    assert display.chapter("data", defaults | {"n_pairs": 5}).name == "data"
    opened = display.chapter("data", defaults | {"n_pairs": 6})
    assert opened.name == "data-n_pairs_6" and not opened.published


def test_the_ledger_is_a_page_with_all_numbers_and_statements_and_opens_with_what_disagrees(ledger_page):
    (rows,) = re.findall(r" rows = (\[\[.*\]\]);\n", ledger_page)
    numbers, _, statements = claims.stored()
    found = json.loads(rows)
    assert sorted(row[0] for row in found) == sorted([*numbers["source"], *statements["source"]])
    assert not any("nan" in row for row in found)
    verdicts = [row[ledger.COLUMNS.index("verdict")] for row in found]
    n_outside = (numbers["verdict"] == "outside").sum()
    assert set(verdicts[:n_outside]) == {"outside"} and verdicts[n_outside] == "does not hold"
    assert set(verdicts) == {*ledger.VERDICTS["numbers"], *ledger.VERDICTS["statements"]} == set(ledger.ORDER)


def test_a_row_of_the_ledger_says_what_its_interval_is_over_and_after_which_search_it_was_found():
    row = {
        "key": "s/1", "source": "S", "item": "Table 1", "quantity": "errors", "published": 862.0, "decimals": 0,
        "ours": 862.0,
        "low": 807.7, "high": 918.72, "interval_of": "test images", "verdict": "exact", "choices": 1, "explanation": None,
        "chapter": "mnist",
    }  # fmt: skip
    others = [
        {"published": 2.7, "decimals": 2, "ours": 1.2834, "low": 1.1, "high": 2.0, "verdict": "outside", "choices": 37},
        {"ours": np.nan, "low": np.nan, "high": np.nan, "interval_of": None, "verdict": "not comparable"},
    ]
    none = pd.DataFrame(columns=["source", "place", "statement", "verdict", "evidence", "chapter"])
    found = ledger.rows(pd.DataFrame([row, *(row | each for each in others)]), none)
    names = ("published", "ours", "interval of ours", "interval over what", "verdict", "after a search of")
    assert [[each[ledger.COLUMNS.index(name)] for name in names] for each in found] == [
        ["2.70", "1.28", "1.10 to 2.00", "test images", "outside", "37"],
        ["862", "862", "808 to 919", "test images", "exact", ""],
        ["862", "", "", "", "not comparable", ""],
    ]
    assert found[0][-2:] == ["3 mnist", "s/1"]


def test_an_interval_that_is_rounded_shows_the_verdict(ledger_page):
    numbers = claims.stored()[0]
    for row in numbers[numbers["low"] < numbers["high"]].itertuples():
        ends = [float(claims.rounded(end, row.decimals)) for end in (row.low, row.high)]
        published = float(claims.rounded(row.published, row.decimals))
        assert published == row.published, row.key
        if row.verdict in ("exact", "within", "outside"):
            assert (ends[0] <= published <= ends[1]) == (row.verdict != "outside"), row.key


def test_the_ledger_leads_to_the_chapters_of_the_report_and_the_report_to_the_ledger(ledger_page, tmp_path):
    (links,) = re.findall(r" links = (\{.*?\}), commands", ledger_page)
    known = {chapter.name for chapter, _ in chapters.report("full", web=True)}
    numbers, _, statements = claims.stored()
    names = {address.removeprefix("report.html#chapter-") for address in json.loads(links).values()}
    assert names == {*numbers["chapter"], *statements["chapter"]} <= known
    source = Source(write(tmp_path / "a.ipynb", text("# T")), "1", own=True)
    report.html([source], tmp_path / "report.html", title="T", ledger="ledger.html")
    assert '<p><a href="ledger.html">Ledger</a></p>' in (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Ledger" not in page_of(tmp_path / "b.ipynb", text("# T"))


HOSTILE = r"""# Bad

<script>alert(1)</script>

<img src=x onerror="alert(2)"> <b onclick="x()">b</b> <iframe src="file:///etc/hostname"></iframe>

[a](javascript:alert(1)) [b](file:///etc/hostname) <javascript:alert(4)> [c](JaVaScript:alert(1)) [d](data:text/html,alert)
[e](../other.html) [f](//evil.example/x) [good](https://example.org/good)

[words]{onclick="alert(1)" style="position:fixed" typst:text:fill="panic(1)"}

## Head {onmouseover="alert(1)" style="x"}

::: {onclick="alert(1)" typst:fill="panic(2)" typst:text:fill="panic(3)"}
words
:::

<style>body{display:none}</style>

<div onclick="x()">words</div>

```{=html}
<script>alert(7)</script>
```

```{=typst}
#panic("block")
```

`<script>alert(8)</script>`{=html} `#panic("inline")`{=typst} #panic("words")

$\text{"#panic("x")}$ $\mbox{\" #panic() "+panic()+"}$ $\operatorname{#panic()}$ $\unknown{#panic()}$

\begin{tabular}{c} #panic() \end{tabular}

```{.python onclick="alert(1)" typst:fill="panic(4)"}
1 < 2
```

| a | b |
|:--|:--|
| <script>alert(9)</script> | [c]{onclick="alert(1)" typst:text:fill="panic(5)"} |

<meta http-equiv="refresh" content="0;url=http://evil.example">
"""


def test_a_notebook_from_outside_brings_no_program_into_a_document(tmp_path, page, monkeypatch):
    cells = [text(HOSTILE), code("1", shown=HOSTILE.partition("\n")[2])]
    found = page_of(tmp_path / "a.ipynb", *cells, own=False)
    inner = re.search("<main>.*</main>", found, re.DOTALL).group()
    tags = {tag.lower() for tag in re.findall(r"<([a-zA-Z]\w*)", inner)}
    assert not tags & {"script", "style", "iframe", "img", "meta", "b", "link", "object", "form"}
    attributes = {name for tag in re.findall(r"<[a-z][^>]*>", inner) for name in re.findall(r'\s([\w:-]+)="', tag)}
    assert not {name for name in attributes if name.startswith(("on", "typst", "data-on"))}
    assert set(re.findall('href="([^#"][^"]*)"', inner)) == {"https://example.org/good"}
    assert "alert(1)" in inner, "what was written is shown as words"
    assert found.count("<script>") == page.count("<script>") == 1
    report.pdf([Source(tmp_path / "a.ipynb", "1")], tmp_path / "a.pdf", **FACTS)
    assert (tmp_path / "a.pdf").read_bytes().startswith(b"%PDF"), "Typst ran none of it"
    monkeypatch.setattr(content, "MARKDOWN", "markdown")  # even where pandoc reads it
    with pytest.raises(ValueError, match="expected no raw html in the text of a notebook, got '<script>alert"):
        page_of(tmp_path / "a.ipynb", *cells)


@pytest.mark.parametrize("form", [report.html, report.pdf])
def test_a_picture_that_no_notebook_holds_is_neither_read_nor_fetched(form, tmp_path):
    (tmp_path / "beside.png").write_bytes(base64.b64decode(PIXEL))
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        web = f"http://127.0.0.1:{server.getsockname()[1]}/x.png"
        for address, words, shown in (
            ("/etc/hostname", "![p](/etc/hostname)", None),
            ("beside.png", "", "![p](beside.png)"),
            ("../beside.png", "![p][1]\n\n[1]: ../beside.png", None),
            (web, f"![p]({web})", None),
            (web, "", f"![p]({web})"),
        ):
            path = write(tmp_path / "a.ipynb", text(f"# T\n\n{words}"), code("1", shown=shown))
            with pytest.raises(ValueError, match=re.escape(f"got {address!r}; paste it into a text cell")):
                form([Source(path, "1")], tmp_path / "a", **FACTS)
        with pytest.raises(BlockingIOError):
            server.accept()
    assert not (tmp_path / "a").exists()


def test_a_picture_that_was_pasted_into_a_text_cell_is_shown(tmp_path):
    pasted = {"my picture.png": {"image/png": PIXEL}}
    found = page_of(tmp_path / "a.ipynb", text("# T\n\n![Mine.](attachment:my%20picture.png)", attachments=pasted))
    assert f"data:image/png;base64,{PIXEL[:20]}" in found
    report.pdf([Source(tmp_path / "a.ipynb", "1", own=True)], tmp_path / "a.pdf", **FACTS)
    with pytest.raises(ValueError, match="got 'attachment:other.png'"):
        page_of(tmp_path / "a.ipynb", text("# T\n\n![Mine.](attachment:other.png)", attachments=pasted))


def test_a_figure_takes_the_drawing_that_it_names_in_own_notebooks_only(tmp_path, monkeypatch):
    monkeypatch.setattr(report, "ROOT", tmp_path)
    drawing = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><path d="M 0 0"/></svg>'
    (tmp_path / "secret.svg").write_text(drawing)
    for own, kind in ((True, "svg+xml"), (False, "png")):
        found = page_of(tmp_path / "a.ipynb", text("# T"), code("1", shown="", file="secret"), own=own)
        assert re.findall("data:image/([a-z+]+);", found) == [kind]


def valued():
    """A text that was filled, as an executed copy has it."""
    cell = text("**Errors** 1\\_58 % of 6.")
    cell.metadata["words"] = "% holds: size < 7\n\n**Errors** {eval}`percent(rate)` of {eval}`size`."
    cell.metadata["values"] = {"percent(rate)": ["0.01584", "0.0137", "0.018"]}
    return cell


def test_on_a_page_neither_sign_unit_nor_check_mark_parts_from_its_number_and_a_prime_is_not_raised_twice(tmp_path):
    cell = text("By ±0.11 points of 3.38 GiB, not `3.38 GiB`, if $x' = x'^2$.")
    cell.metadata["words"] = "% holds: size\n\nBy ±{eval}`size` points of 3.38 GiB, not `3.38 GiB`, if $x' = x'^2$."
    found = page_of(tmp_path / "a.ipynb", text("# T"), code("size = 0.11"), cell, own=True)
    assert re.search('<span class="whole">±<button popovertarget="panel-1"[^>]*>0.11</button></span> points', found)
    assert "3.38\N{NO-BREAK SPACE}GiB, not <code>3.38 GiB</code>" in found and "\N{NO-BREAK SPACE}<button" in found
    assert '<mrow><mi>x</mi><mo lspace="0" rspace="0">′</mo></mrow>' in found and "<msup><mi>x</mi><mo>′" not in found


def cells_with_values():
    return [text("# T"), code("rate = 0.0158\nsize = 6"), valued(), text("Plain 6.")]


def test_a_value_is_a_button_whose_panel_has_its_expression_and_a_text_shows_its_conditions(tmp_path):
    found = page_of(tmp_path / "a.ipynb", *cells_with_values(), own=True)
    buttons = re.findall(r'<button popovertarget="([\w-]+)"([^>]*)>([^<]*)</button>', found)
    assert [each[1:] for each in buttons] == [
        ("", "1_58\N{NO-BREAK SPACE}%"), ("", "6"), (' aria-label="what was checked"', "✓")
    ]  # fmt: skip
    panels = dict(re.findall('<div popover id="([^"]+)">(.*)</div>', found))
    assert sorted(panels) == sorted(each[0] for each in buttons)
    rate, size, checked = (panels[each[0]] for each in buttons)
    assert "<code>percent(rate)</code>" in rate and "<code>rate = 0.0158</code>" in rate and "size" not in rate
    assert "<code>size = 6</code>" in size and "none: the notebook computes it" in size
    assert "<code>size &lt; 7</code>" in checked and "this condition holds" in checked
    assert "Tap a dotted number" in found and "Plain 6." in found
    for name, panel in panels.items():
        assert panel.startswith(f'<button aria-label="close" popovertarget="{name}" popovertargetaction="hide">×</button>')


def printed(row):
    """What the expression of a row prints of its number, or of its interval, as it is written there."""
    called = ast.parse(row["expression"], mode="eval").body
    if isinstance(called, ast.Call) and called.func.id == "intervals":  # of several numbers
        return row["value"]
    value, low, high = (float(row[name] or "nan") for name in ("value", "low", "high"))
    if not isinstance(called, ast.Call):
        return f"{value:,.0f}".replace("-", forms.MINUS)
    given = SimpleNamespace(estimate=value, low=low, high=high) if "interval" in called.func.id else value
    return getattr(forms, called.func.id)(given, *map(ast.literal_eval, called.args[1:]))


def test_each_number_of_a_chapter_has_a_row_with_all_digits_to_which_its_panel_leads(tmp_path):
    source = Source(chapters.chapter("conclusion").target("full"), "9", own=True)
    report.html([source], tmp_path / "report.html", **FACTS)
    page, rows = ((tmp_path / f"{name}.html").read_text(encoding="utf-8") for name in ("report", "numbers"))
    table = pd.read_csv(tmp_path / "numbers.csv", dtype=str, keep_default_na=False, index_col="row")
    assert list(table) == [
        "notebook", "section", "expression", "text", "value", "low", "high", "kind", "function", "files", "command",
    ]  # fmt: skip
    assert set(table["notebook"]) == {"notebooks/executed/conclusion.ipynb"} and table["section"].nunique() == 3
    assert re.findall('<section id="row-([0-9]+)">', rows) == list(table.index)
    panels = dict(re.findall('<div popover id="([^"]+)">(.*?)</div>', page, re.DOTALL))
    buttons = re.findall(r'<button popovertarget="([\w-]+)"[^>]*>([^<✓]+)</button>', page)
    found = set()
    for panel, text in buttons:
        (number,) = re.findall(r'<a href="numbers\.html#row-([0-9]+)">row \1 of numbers\.csv</a>', panels[panel])
        row = table.loc[number]
        found.add(number)
        assert row["text"] == text.replace("\N{NO-BREAK SPACE}", " ") == printed(row), row
        assert f"<code>{escaping.escape(row['expression'])}</code>" in panels[panel] and row["value"] in panels[panel]
    assert len(buttons) > 25 and found == set(table.index) and (table["low"] != "").sum() > 10
    stored = table[table["kind"] == "stored result"]
    assert len(stored) > 20 and all((ROOT / name).is_file() for files in stored["files"] for name in files.split())
    assert stored["command"].str.contains("python -m study run .* --recompute").all()


def test_a_page_that_is_not_the_report_has_its_own_table_of_numbers(tmp_path):
    page_of(tmp_path / "a.ipynb", *cells_with_values(), valued())
    table = pd.read_csv(tmp_path / "a-numbers.csv", dtype=str, keep_default_na=False)
    shown = ["row", "section", "expression", "text", "value", "low", "high", "kind"]
    assert table[shown].to_numpy().tolist() == [
        ["1", "T", "percent(rate)", "1_58 %", "0.01584", "0.0137", "0.018", "computed here"],
        ["2", "T", "size", "6", "6", "", "", "computed here"],
    ]
    rows = (tmp_path / "a-numbers.html").read_text(encoding="utf-8")
    assert "script-src 'none'" in escaping.unescape(rows) and "<script" not in rows and 'href="a.html"' in rows


def test_in_print_a_title_and_a_paragraph_that_leads_to_a_formula_stay_with_what_follows(tmp_path):
    path = write(
        tmp_path / "a.ipynb",
        text("# A\n\n**In short**\n\nA **bold** word.\n\nA sum:\n\n$$ x + y $$\n\nA list:\n\n- one\n\nNo colon.\n\n$$ z $$"),
    )
    source = report.typst_source([Source(path, "1")], tmp_path, Layout("typst"), **FACTS)
    assert re.findall(r"#leading\[\s*(\S.*)", source) == ["#strong[In short]", "A sum:"]


def test_only_pages_of_the_studys_own_notebooks_have_panels(tmp_path):
    foreign = page_of(
        tmp_path / "a.ipynb", *cells_with_values(), text('[6]{.asked label="panel-1\\" onclick=\\"1"}'), own=False
    )
    assert "<button" not in foreign and "popover id" not in foreign and "Tap a dotted" not in foreign
    assert not (tmp_path / "a-numbers.csv").exists()
    source = Source(write(tmp_path / "b.ipynb", *cells_with_values()), "1", own=True)
    paper = report.typst_source([source], tmp_path, report.Layout("typst"), title="T")
    assert "1_58" in paper.replace("\\_", "_") and "panel" not in paper and "✓" not in paper


def test_equal_values_of_a_notebook_share_a_panel(tmp_path):
    found = page_of(tmp_path / "a.ipynb", *cells_with_values(), valued(), own=True)
    assert found.count("<button popovertarget") == 6 and found.count("<div popover id") == 3


def test_a_figure_that_can_be_played_brings_one_script_which_the_policy_allows(tmp_path):
    picture = code("1", shown="", file="figures/algorithm-surfaces")
    found = page_of(tmp_path / "a.ipynb", text("# T"), picture, own=True)
    *_, played, own = re.findall("<script>(.*?)</script>", found, re.DOTALL)
    digests = [base64.b64encode(hashlib.sha256(each.encode()).digest()).decode() for each in (own, played)]
    assert f"script-src 'sha256-{digests[0]}' 'sha256-{digests[1]}';" in escaping.unescape(found)
    (run,) = re.findall('<div class="played" hidden data-run="([^"]+)"></div>', found)
    assert len(json.loads(escaping.unescape(run))["step"]) == 73
    assert "data-run=" not in page_of(tmp_path / "b.ipynb", text("# T"), picture, own=False)


def test_pages_run_their_own_script_only_and_load_nothing(page, ledger_page):
    for found in (page, ledger_page):
        (policy,) = re.findall('<meta http-equiv="Content-Security-Policy" content="([^"]+)">', found)
        (script,) = re.findall("<script>(.*?)</script>", found, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        assert set(escaping.unescape(policy).split("; ")) == {
            "default-src 'none'", "img-src data:", "font-src data:", "style-src 'unsafe-inline'",
            f"script-src 'sha256-{digest}'", "base-uri 'none'", "form-action 'none'",
        }  # fmt: skip
        assert found.index("Content-Security-Policy") < found.index("<style>") < found.index("<title>")
        assert not re.findall(r"""(?:\ssrc=|\sdata=|<link[^>]*\shref=|@import |url\()["']?(?!["']|data:)""", found)
