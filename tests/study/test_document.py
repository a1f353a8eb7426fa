"""What cells display, and the HTML and PDF made of it."""

import base64
import hashlib
import html as escaping
import json
import re
import shutil
import socket
import subprocess

import matplotlib.pyplot as plt
import nbformat
import numpy as np
import pandas as pd
import pytest
from IPython.core.interactiveshell import InteractiveShell
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from study import ROOT, claims, costs, style
from study.__main__ import main
from study.report import content, display, ledger
from study.report import document as report
from study.report.document import Layout, Source
from study.report.notebooks import execute

FACTS = dict(
    title="A study of <kernels>", author='Ada "A" Lovelace', course="Course #1", date="1 March 2026",
    declaration="All $mine$.",
)  # fmt: skip
FIGURE = """\
fig, ax = plt.subplots(figsize=(3, 2))
ax.plot([1, 2, 3])
chapter.figure("line", fig)"""
TABLE = """\
frame = pd.DataFrame({"set": ["a|b", "c"], "error": [0.5, 0.25]})
chapter.table("rows", frame, formats={"error": ".1%"})"""


def tagged(*tags):
    return {"tags": list(tags)}


@pytest.fixture(scope="module")
def notebooks(tmp_path_factory):
    """Two executed notebooks that share titles of sections and names of footnotes."""
    folder = tmp_path_factory.mktemp("notebooks")
    imports = """\
import matplotlib.pyplot as plt
import pandas as pd
from study.report.display import OpenChapter, Source
chapter = OpenChapter(Source({}, set(), ("line",), ("rows",), frozenset()), "first", False)
error = "12.5 %\""""
    cells = [
        new_markdown_cell("# First chapter\n\nMail a@b, see [the second](second.ipynb).[^1]\n\n[^1]: First note."),
        new_code_cell(imports, metadata=tagged("setup")),
        new_markdown_cell("## Method\nA formula, $x^2$:\n- and a list\n\n$$ K(x, y) = (1 + x \\cdot y)^p $$"),
        new_code_cell(FIGURE, metadata=tagged("show")),
        new_markdown_cell("A line through $n = 3$ points\n of *interest*.", metadata=tagged("caption")),
        new_code_cell(TABLE, metadata=tagged("appendix")),
        new_markdown_cell("Two rows.", metadata=tagged("appendix", "caption")),
        new_markdown_cell("Said to the reader of the notebook.", metadata=tagged("notebook")),
        new_markdown_cell(
            "A box, and {eval}`chapter.label('line')` again, by [Novikoff 1962](#ref-novikoff1962).", metadata=tagged("box")
        ),
        new_markdown_cell("It errs on **{eval}`error`**, $x^2$; Figure 7 is of print."),
        new_markdown_cell("In the report of one source.", metadata=tagged("only:hermans")),
        new_markdown_cell("## Exercises\n\n1. Why?", metadata=tagged("exercises")),
        new_code_cell("print('because')", metadata=tagged("solution")),
        new_code_cell("1 + 1"),
    ]
    nbformat.write(new_notebook(cells=cells), folder / "first.ipynb")
    execute(folder / "first.ipynb", folder / "executed/first.ipynb", {})
    cells = [
        new_markdown_cell("# Second chapter\n\nAfter [the first](first.ipynb).[^1]\n\n[^1]: Second note."),
        new_markdown_cell("## Method\n\nThe same title."),
    ]
    nbformat.write(new_notebook(cells=cells), folder / "executed/second.ipynb")
    cells = [new_markdown_cell("# Front\n\nThe abstract."), new_code_cell("1")]
    nbformat.write(new_notebook(cells=cells), folder / "executed/front.ipynb")
    names = {"front": "", "first": "1", "second": "2"}
    return [Source(folder / f"executed/{name}.ipynb", number) for name, number in names.items()]


@pytest.fixture(scope="module")
def page(notebooks):
    report.html(notebooks, notebooks[0].path.parents[1] / "out/report.html", **FACTS)
    return (notebooks[0].path.parents[1] / "out/report.html").read_text()


def test_html_loads_nothing_from_outside(page):
    loads = re.findall(r"<(?:img|script|link|iframe|source|object)[^>]*?(?:src|href|data)=\"([^\"]*)\"", page)
    assert loads and all(address.startswith("data:") for address in loads)
    assert "@import" not in page and not re.search(r"url\((?!['\"]?data:)", page)
    assert "fetch(" not in page and "XMLHttpRequest" not in page


def test_html_has_title_author_course_date_and_contents(page):
    header = re.search(r"<header id=.top.>.*?</header>", page, re.DOTALL).group()
    assert "A study of &lt;kernels&gt;" in header
    assert re.sub("&quot;|[“”]", '"', header).count('Ada "A" Lovelace') == 1
    assert "Course #1" in header and "1 March 2026" in header
    targets = re.findall(r'href="#([^"]+)"', page)
    ids = re.findall(r' id="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    assert {"chapter-first", "chapter-second", "figure-first-1", "ref-novikoff1962"} <= set(targets) <= set(ids)
    assert "All $mine$." in header


def test_html_formulas_are_mathml_with_their_font(page):
    assert page.count("url(data:font/woff2;base64,") == page.count("url(") == 1
    assert page.count('<math display="block"') == 1
    assert "$x^2$" not in page and "<msup>" in page


def test_html_figure_is_one_figure_with_its_caption_once(page):
    assert page.count("<figure") == 1
    (caption,) = re.findall(r"<figcaption.*?</figcaption>", page, re.DOTALL)
    assert "<strong>Figure\N{NO-BREAK SPACE}1.1.</strong> A line through" in caption and "<em>interest</em>" in caption
    assert re.search(r'<img [^>]*alt="Figure.1.1. A line', page)
    assert page.count("points of <em>interest</em>") == 1


def test_html_table_has_its_caption_and_cells(page):
    assert "<caption><strong>Table\N{NO-BREAK SPACE}1.1.</strong> Two rows.</caption>" in page
    assert page.index("The same title") < page.rindex("Evidence for chapter 1") < page.rindex("Two rows.")
    assert re.findall(r"<td[^>]*>(.*?)</td>", page) == ["a|b", "50.0\N{NO-BREAK SPACE}%", "c", "25.0\N{NO-BREAK SPACE}%"]


def test_html_folds_code_but_what_is_to_be_seen_and_has_none_that_prepares(page):
    folded = re.findall(r"<details[^>]*>\s*<summary>\s*([^<]*?)\s*</summary>(.*?)</details>", page, re.DOTALL)
    assert [name for name, _ in folded] == ["Code", "Solution", "Code", "Code"]
    assert "because" in folded[1][1] and '<details class="solution">' in page
    assert (
        page.count('<pre class="sourceCode python"') + page.count('<pre\nclass="sourceCode python"') == 5
        and page.count("OpenChapter") == 0
    )


def test_code_cells_in_a_row_share_a_fold_and_each_solution_has_its_own(tmp_path):
    answers = [new_markdown_cell(f"**Solution {n}.** Because.", metadata=tagged("solution")) for n in (1, 2, 3)]
    code = [new_code_cell(f"answer = {n}", metadata=tagged("solution")) for n in (1, 2)]
    cells = [new_markdown_cell("# T"), new_code_cell("a = 1"), new_code_cell("b = 2"), new_markdown_cell("## Evidence")]
    cells[-1].metadata["tags"] = ["appendix"]
    cells += [new_code_cell("c = 3", metadata=tagged("appendix")), answers[0], *code, *answers[1:]]
    nbformat.write(new_notebook(cells=cells), tmp_path / "a.ipynb")
    report.html([Source(tmp_path / "a.ipynb", "A")], tmp_path / "a.html", **FACTS)
    text = (tmp_path / "a.html").read_text(encoding="utf-8")
    folded = re.findall(r"<details[^>]*>\s*<summary>\s*([^<]*?)\s*</summary>(.*?)</details>", text, re.DOTALL)
    assert [name for name, _ in folded] == ["Code", "Solution 1", "Solution 2", "Solution 3", "Code"]
    assert [len(re.findall("<pre", inner)) for _, inner in folded] == [2, 1, 1, 0, 1]
    assert "Evidence for A" in re.sub(r"\s+", " ", text) and text.count("</span> Evidence") == 0


def test_html_keeps_footnotes_and_signs_as_written(page):
    assert "First note." in page and "Second note." in page
    assert "Mail a@b" in page
    assert "It errs on <strong>12.5\N{NO-BREAK SPACE}%</strong>" in page
    assert "Said to the reader" not in page and page.count("The abstract.") == 1
    assert "In the report of one source" not in page and "Figure 7 is of print" in page


def test_headings_have_numbers_and_what_stands_before_the_contents_none(page):
    headings = [
        re.sub(r"<[^>]*>|\s+", " ", text).split() for text in re.findall(r"<h[12][^>]*>(.*?)</h[12]>", page, re.DOTALL)
    ]
    assert [" ".join(words) for words in headings] == [
        FACTS["title"].replace("<", "&lt;").replace(">", "&gt;"), "1 First chapter", "1.1 Method", "1.2 Exercises",
        "2 Second chapter", "2.1 Method", "Evidence for chapter 1", "References",
    ]  # fmt: skip


def test_references_that_are_used_are_listed_and_unknown_ones_refused(page, tmp_path):
    assert page.count('id="ref-') == 1 and "On Convergence Proofs" in re.sub(r"\s+", " ", page)
    cells = [new_markdown_cell("# T\n\nBy [nobody](#ref-nobody1900).")]
    nbformat.write(new_notebook(cells=cells), tmp_path / "a.ipynb")
    with pytest.raises(ValueError, match="entries of refs.bib, got nobody1900"):
        report.html([Source(tmp_path / "a.ipynb", "1")], tmp_path / "a.html", **FACTS)


def test_pdf_has_the_same_bytes_twice(notebooks, tmp_path):
    for name in ("a.pdf", "b.pdf"):
        report.pdf(notebooks, tmp_path / name, **FACTS)
    assert (tmp_path / "a.pdf").read_bytes().startswith(b"%PDF")
    assert (tmp_path / "a.pdf").read_bytes() == (tmp_path / "b.pdf").read_bytes()


def test_paper_has_no_evidence_no_exercises_and_only_the_code_that_is_to_be_seen(notebooks, tmp_path):
    source = report.typst_source(notebooks, tmp_path, Layout("typst", report="hermans"), **FACTS)
    for line in ('title = "A study of <kernels>"', r'author = "Ada \"A\" Lovelace"', 'course = "Course #1"'):
        assert f"#let {line}" in source
    assert 'declaration = "All $mine$."' in source
    body = source.split("#contents()\n\n")[-1]
    assert body.count("= 1 First chapter") == body.count("= 2 Second chapter") == body.count("#framed[") == 1
    assert body.count("#figure(") == body.count("#strong[Figure~1.1.]") == 1
    assert "plt.subplots" in body and "Two rows" not in body and "Why?" not in body and "because" not in body
    assert "#link(<figure-first-1>)[Figure~1.1]" in body and "In the report of one source" in body
    assert "import matplotlib" not in source
    assert "import matplotlib" in report.typst_source(notebooks, tmp_path, Layout("typst", code=True), **FACTS)
    assert "#link(<chapter-second>)" in body
    (picture,) = re.findall(r'image\("([^"]+)"', body)
    assert (tmp_path / picture).exists()


def test_sheets_have_the_exercises_with_and_without_their_answers(notebooks, tmp_path):
    for sheet, answer in (("exercises", False), ("solutions", True)):
        text = report.typst_source(notebooks[1:], tmp_path, Layout("typst", sheet=sheet), **FACTS)
        assert "Why?" in text and ("because" in text) == answer and "A formula" not in text


@pytest.mark.parametrize("title", ["true", '$(value) $HOME `x` \\ # @a <b> *c* [d](e) "f" %', "Привет Ελλάδα ế"])
def test_a_title_is_text_whatever_its_signs(notebooks, tmp_path, title):
    report.html(notebooks[1:], tmp_path / "a.html", **FACTS | {"title": title, "author": title})
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    expected = escaping.escape(title)
    for before, after in (("<title>", "</title>"), ("<h1>", "</h1>"), ('<meta name="author" content="', '">\n')):
        assert f"{before}{expected}{after}" in page
    assert f"#let title = {json.dumps(title, ensure_ascii=False)}\n" in report.typst_source(
        notebooks[1:], tmp_path, Layout("typst"), **FACTS | {"title": title}
    )
    assert report.pdf(notebooks[1:], tmp_path / "a.pdf", **FACTS | {"title": title}) == ""


def test_characters_that_no_font_has_are_named(notebooks, tmp_path, capsys, monkeypatch):
    assert report.pdf(notebooks[1:], tmp_path / "a.pdf", **FACTS | {"author": "王 Łukasz 이 王"}) == "王이"
    monkeypatch.setenv("KP_AUTHOR", "王")
    target = ["--target", str(tmp_path / "b.pdf")]
    assert main(["report", "--kind", "pdf", *target, "--notebooks", str(notebooks[2].path)]) == 0
    assert "no font of the PDF has the characters 王, which are boxes" in capsys.readouterr().err


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not here")
def test_make_passes_a_title_on_as_it_was_typed(tmp_path):
    title = '$(shell touch made) On $\\ell_2$ `touch made` "quoted" it\'s $100 # ünï'
    shutil.copy(ROOT / "Makefile", tmp_path)
    for name, program in (("python3", "echo .venv/bin/python"), (".venv/bin/python", 'printf "%s" "$KP_TITLE" > title')):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"#!/bin/sh\n{program}\n")
        (tmp_path / name).chmod(0o755)
    command = ["make", f"TITLE={title}", "PYTHON=./python3", "pdf"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    assert (tmp_path / "title").read_text(encoding="utf-8") == title and not (tmp_path / "made").exists()


def test_a_figure_without_a_caption_is_taken_and_numbered_after_those_that_have_one(tmp_path):
    picture = new_output("display_data", data={"image/png": PIXEL})
    caption = new_markdown_cell("**Figure\N{NO-BREAK SPACE}1.** The first.", metadata=tagged("caption"))
    cells = [new_markdown_cell("# T"), new_code_cell("x", outputs=[picture]), new_code_cell("y", outputs=[picture]), caption]
    nbformat.write(new_notebook(cells=cells), tmp_path / "a.ipynb")
    report.html([Source(tmp_path / "a.ipynb", "3")], tmp_path / "a.html", **FACTS)
    found = re.findall(r"<strong>Figure.(3\.\d)\.</strong>([^<]*)", (tmp_path / "a.html").read_text(encoding="utf-8"))
    assert [(number, words.strip()) for number, words in found] == [("3.2", ""), ("3.1", "The first.")]


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ([new_code_cell("x")], "starts with '# Title'"),
        ([new_markdown_cell("# T\n\n![](https://example.org/x.png)")], "got 'https://example.org/x.png'"),
        (
            [new_markdown_cell("# T"), new_code_cell("x", outputs=[new_output("error", ename="KeyError")])],
            "got KeyError",
        ),
    ],
)
def test_notebook_that_cannot_be_printed_is_refused(cells, message, tmp_path):
    nbformat.write(new_notebook(cells=cells), tmp_path / "a.ipynb")
    with pytest.raises(ValueError, match=message):
        report.html([Source(tmp_path / "a.ipynb", "1")], tmp_path / "a.html", **FACTS)


@pytest.mark.parametrize("content", [None, "", "{", "[]", '{"cells": []'])
def test_a_file_that_is_no_whole_notebook_is_named_and_the_earlier_report_stays(content, tmp_path):
    path, target = tmp_path / "a.ipynb", tmp_path / "a.html"
    target.write_text("earlier")
    if content is not None:
        path.write_text(content)
    with pytest.raises(ValueError, match=r"a\.ipynb: expected an executed notebook, got .*; execute it again"):
        report.html([Source(path, "1")], target, **FACTS)
    assert target.read_text() == "earlier"


@pytest.fixture
def shown(monkeypatch):
    """What the display functions show, as a list of dictionaries."""
    bundles = []
    monkeypatch.setattr(display, "display", lambda data, **_: bundles.append(data))
    return bundles


SHOWN = display.Source({}, set(), ("counts", "lines"), ("rows",), frozenset())


def test_figures_are_saved_with_the_same_bytes_and_closed(tmp_path, shown, monkeypatch):
    monkeypatch.setattr(display, "ROOT", tmp_path)
    for folder in ("one", "two"):
        fig, ax = plt.subplots()
        ax.plot([1, 2])
        fig.drawn_by = "study.data.figures.figure_lines"
        display.OpenChapter(SHOWN, "data", False, folder).figure("lines", fig)
        assert not plt.fignum_exists(fig.number)
    assert [path.name for path in (tmp_path / "one").iterdir()] == ["data-lines.svg"]
    content = (tmp_path / "one" / "data-lines.svg").read_bytes()
    assert content == (tmp_path / "two" / "data-lines.svg").read_bytes()
    assert b"study.data.figures.figure_lines" in content and "Figure\N{NO-BREAK SPACE}2".encode() in content
    assert shown[0]["image/png"] == shown[1]["image/png"]


def test_figures_are_not_saved_without_a_folder(tmp_path, shown, monkeypatch):
    monkeypatch.setattr(display, "ROOT", tmp_path)
    display.OpenChapter(SHOWN, "data", False).figure("lines", plt.figure())
    assert shown and list(tmp_path.iterdir()) == []


def test_what_the_source_does_not_show_is_numbered_after_its_own(shown):
    chapter = display.OpenChapter(SHOWN, "data", False)
    for name in ("b", "a", "b"):
        chapter.table(name, pd.DataFrame({"p": [1]}))
    assert [chapter.label(name)[-1] for name in ("rows", "b", "a")] == ["1", "2", "3"] and chapter.shown[-1] == "2"


def test_table_formats_cells_and_aligns_numbers(shown):
    frame = pd.DataFrame({"a|b": ["x|y", None], "p": [0.5, 0.25], "n": [1, 20], "f": [1.23456, float("nan")]})
    display.OpenChapter(SHOWN, "x", False).table("rows", frame, formats={"p": lambda value: f"{value:.0%}"})
    (output,) = shown
    assert output["text/markdown"].splitlines() == [
        r"| a\|b | p | n | f |",
        "| :-- | --: | --: | --: |",
        r"| x\|y | 50 % | 1 | 1.235 |",
        "|  | 25 % | 20 |  |",
    ]
    with pytest.raises(ValueError, match=r"columns of the table.*got \['q'\]"):
        display.OpenChapter(SHOWN, "x", False).table("t", frame, formats={"q": ".1f"})


def test_a_mistyped_parameter_is_named_and_constants_are_not_parameters():
    namespace = {"dataset": "digits", "n_pairs": 3, "figures_folder": "", "_hidden": 2, "PREDICTORS": (), "module": pytest}
    assert display.open_chapter("data", namespace).name == "data"
    with pytest.raises(ValueError, match="among dataset, n_pairs, figures_folder, got n_pair"):
        display.open_chapter("data", namespace | {"n_pair": 2})


def test_numbers_of_numpy_show_as_plain_numbers_where_a_chapter_is_open(monkeypatch):
    shell = InteractiveShell()
    monkeypatch.setattr(display, "get_ipython", lambda: shell)
    display.open_chapter("data", {"dataset": "digits", "n_pairs": 3, "figures_folder": ""})
    values = (np.int64(12), np.float64(0.5), np.str_("a"))
    assert [shell.display_formatter.format(value)[0]["text/plain"] for value in values] == ["12", "0.5", "'a'"]


def test_numbers_below_zero_have_a_minus_sign_but_formulas_and_code_keep_their_own(shown):
    words = "At $z = -1$ it is -0.5 points (-2 to -1) [-3], k - 1, `n -1`, 7-fold, -25%"
    display.OpenChapter(SHOWN, "x", False).table("rows", pd.DataFrame({"a": [words]}))
    assert "At $z = -1$ it is −0.5 points (−2 to −1) [−3], k − 1, `n -1`, 7-fold, −25 %" in shown[0]["text/markdown"]


def test_a_data_set_has_one_name_in_words_figures_and_tables(shown):
    names = ["winequality-red", "winequality-white", "wine"]
    display.OpenChapter(SHOWN, "x", False).table("rows", pd.DataFrame({"set": names}))
    assert shown[0]["text/markdown"].splitlines()[2:] == ["| red wine |", "| white wine |", "| wine |"]
    assert [style.set_name(name) for name in ("winequality-red", "wine", "iris-bundled")] == ["red wine", "wine", "iris"]


def test_source_is_shown_as_code(shown):
    display.show_source(display.show_source)
    assert shown[0]["text/markdown"].startswith("```python\ndef show_source(function):")


def test_the_ledger_is_a_page_with_all_numbers_and_statements(tmp_path):
    ledger.write(tmp_path / "ledger.html")
    page = (tmp_path / "ledger.html").read_text(encoding="utf-8")
    (rows,) = re.findall(r"rows = (\[\[.*\]\]);\n", page)
    numbers, _, statements = claims.stored()
    found = json.loads(rows)
    assert len(found) == len(numbers) + len(statements) and {len(row) for row in found} == {len(ledger.COLUMNS)}
    made = {row[-3]: tuple(row[-2:]) for row in found}
    assert made["uci_wine"] == ("python -m study run uci --recompute", costs.words("uci"))
    assert [row[0] for row in found] == [*numbers["source"], *statements["source"]]
    assert "$" not in re.sub(r"rows = .*", "", page) and "nan" not in {cell for row in found for cell in row}
    assert not re.findall(r'(?:src|href)="', page)


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
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=="


@pytest.fixture
def outside(tmp_path):
    """A function that writes a notebook of a text cell and of an output with this Markdown, and gives its Source."""

    def write(text, said="", **cell):
        outputs = [new_output("display_data", data={"text/markdown": said})] if said else []
        cells = [new_markdown_cell(text, **cell), new_code_cell("1", outputs=outputs)]
        nbformat.write(new_notebook(cells=cells), tmp_path / "outside.ipynb")
        return [Source(tmp_path / "outside.ipynb", "1")]

    return write


def test_a_notebook_from_outside_brings_no_program_into_a_page(outside, tmp_path, page):
    report.html(outside(HOSTILE, HOSTILE.partition("\n")[2]), tmp_path / "a.html", **FACTS)
    found = (tmp_path / "a.html").read_text(encoding="utf-8")
    inner = re.search("<main>.*</main>", found, re.DOTALL).group()
    tags = {tag.lower() for tag in re.findall(r"<([a-zA-Z]\w*)", inner)}
    assert not tags & {"script", "style", "iframe", "img", "meta", "b", "link", "object", "form"}
    attributes = {name for tag in re.findall(r"<[a-z][^>]*>", inner) for name in re.findall(r'\s([\w:-]+)="', tag)}
    assert not {name for name in attributes if name.startswith(("on", "typst", "data-on"))}
    assert set(re.findall('href="([^#"][^"]*)"', inner)) == {"https://example.org/good"}
    assert "alert(1)" in inner, "what was written is shown as words"
    assert found.count("<script>") == page.count("<script>") == 1


def test_a_notebook_from_outside_runs_nothing_in_a_pdf(outside, tmp_path):
    report.pdf(outside(HOSTILE, HOSTILE.partition("\n")[2]), tmp_path / "a.pdf", **FACTS)
    assert (tmp_path / "a.pdf").read_bytes().startswith(b"%PDF")


@pytest.mark.parametrize("form", [report.html, report.pdf])
@pytest.mark.parametrize(
    ("address", "place"),
    [
        ("/etc/hostname", "text"),
        ("beside.png", "output"),
        ("../beside.png", "reference"),
        ("http://127.0.0.1:{port}/x.png", "text"),
        ("http://127.0.0.1:{port}/x.png", "output"),
    ],
)
def test_a_picture_that_no_notebook_holds_is_neither_read_nor_fetched(form, address, place, outside, tmp_path):
    (tmp_path / "beside.png").write_bytes(base64.b64decode(PIXEL))
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        address = address.format(port=server.getsockname()[1])
        picture = f"\n\n![p][1]\n\n[1]: {address}" if place == "reference" else f"\n\n![p]({address})"
        sources = outside("# T", said=picture) if place == "output" else outside(f"# T{picture}")
        with pytest.raises(ValueError, match=re.escape(f"got {address!r}; paste it into a text cell")):
            form(sources, tmp_path / "a", **FACTS)
        with pytest.raises(BlockingIOError):
            server.accept()
    assert not (tmp_path / "a").exists()


def test_raw_code_is_refused_even_where_pandoc_reads_it(outside, tmp_path, monkeypatch):
    monkeypatch.setattr(content, "MARKDOWN", "markdown")
    with pytest.raises(ValueError, match="expected no raw html in the text of a notebook, got '<script>alert"):
        report.html(outside(HOSTILE), tmp_path / "a.html", **FACTS)


def test_a_picture_that_was_pasted_into_a_text_cell_is_shown(outside, tmp_path):
    cell = {"attachments": {"my picture.png": {"image/png": PIXEL}}}
    sources = outside("# T\n\n![Mine.](attachment:my%20picture.png)", **cell)
    report.html(sources, tmp_path / "a.html", **FACTS)
    assert f"data:image/png;base64,{PIXEL[:20]}" in (tmp_path / "a.html").read_text(encoding="utf-8")
    report.pdf(sources, tmp_path / "a.pdf", **FACTS)
    sources = outside("# T\n\n![Mine.](attachment:other.png)", **cell)
    with pytest.raises(ValueError, match="got 'attachment:other.png'"):
        report.html(sources, tmp_path / "a.html", **FACTS)


def test_a_figure_takes_the_drawing_that_it_names_in_own_notebooks_only(tmp_path, monkeypatch):
    monkeypatch.setattr(report, "ROOT", tmp_path)
    drawing = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><path d="M 0 0"/></svg>'
    (tmp_path / "secret.svg").write_text(drawing)
    outputs = [new_output("display_data", data={"image/png": PIXEL}, metadata={"image/png": {"file": "secret"}})]
    nbformat.write(new_notebook(cells=[new_markdown_cell("# T"), new_code_cell("1", outputs=outputs)]), tmp_path / "a.ipynb")
    for own, kind in ((True, "svg+xml"), (False, "png")):
        report.html([Source(tmp_path / "a.ipynb", "1", own=own)], tmp_path / "a.html", **FACTS)
        assert re.findall("data:image/([a-z+]+);", (tmp_path / "a.html").read_text()) == [kind]


def test_pages_run_their_own_script_only_and_load_nothing(page, tmp_path):
    ledger.write(tmp_path / "ledger.html")
    for text in (page, (tmp_path / "ledger.html").read_text(encoding="utf-8")):
        (policy,) = re.findall('<meta http-equiv="Content-Security-Policy" content="([^"]+)">', text)
        rules = dict(rule.split(" ", 1) for rule in escaping.unescape(policy).split("; "))
        (script,) = re.findall("<script>(.*?)</script>", text, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        assert rules == {
            "default-src": "'none'",
            "img-src": "data:",
            "font-src": "data:",
            "style-src": "'unsafe-inline'",
            "script-src": f"'sha256-{digest}'",
            "base-uri": "'none'",
            "form-action": "'none'",
        }
        assert text.index("Content-Security-Policy") < text.index("<title>") < text.index("<style>")
