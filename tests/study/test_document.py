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
import pandas as pd
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from study import ROOT, chapters, claims, costs, style
from study.__main__ import main
from study.report import content, display, ledger
from study.report import document as report
from study.report.document import Source
from study.report.notebooks import execute

FACTS = dict(
    title="A study of <kernels>", author='Ada "A" Lovelace', course="Course #1", date="1 March 2026",
    declaration="All $mine$.",
)  # fmt: skip
FIGURE = """\
fig, ax = plt.subplots(figsize=(3, 2))
ax.plot([1, 2, 3])
chapter.figure("line", fig, "A line through $n = 3$ points\\n  of *interest*.")"""
TABLE = """\
frame = pd.DataFrame({"set": ["a|b", "c"], "error": [0.5, 0.25]})
chapter.table("rows", frame, "Two rows.", formats={"error": ".1%"})"""


@pytest.fixture(scope="module")
def notebooks(tmp_path_factory):
    """Two executed notebooks that share titles of sections and names of footnotes."""
    folder = tmp_path_factory.mktemp("notebooks")
    imports = """\
import matplotlib.pyplot as plt
import pandas as pd
from study.report.display import OpenChapter, say
chapter = OpenChapter("first", None)"""
    cells = [
        new_markdown_cell("# First chapter\n\nMail a@b, see [the second](second.ipynb).[^1]\n\n[^1]: First note."),
        new_code_cell(imports),
        new_markdown_cell("## Method\nA formula, $x^2$:\n- and a list\n\n$$ K(x, y) = (1 + x \\cdot y)^p $$"),
        new_code_cell(FIGURE),
        new_code_cell(TABLE, metadata={"tags": ["appendix"]}),
        new_markdown_cell("Said to the reader of the notebook.", metadata={"tags": ["notebook"]}),
        new_markdown_cell("A box, and Figure 1 again, by [Novikoff 1962](#ref-novikoff1962).", metadata={"tags": ["box"]}),
        new_code_cell("say('It errs on **{error:.1%}**, $x^{{2}}$.', error=0.125)"),
        new_code_cell("print('hidden_input')", metadata={"tags": ["remove-input"]}),
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
    assert {"chapter-first", "chapter-second", "figure-1", "ref-novikoff1962"} <= set(targets) <= set(ids)
    assert "All $mine$." in header


def test_html_formulas_are_mathml_with_their_font(page):
    assert page.count("url(data:font/woff2;base64,") == page.count("url(") == 1
    assert page.count('<math display="block"') == 1
    assert "$x^2$" not in page and "<msup>" in page


def test_html_figure_is_one_figure_with_its_caption_once(page):
    assert page.count("<figure") == 1
    (caption,) = re.findall(r"<figcaption.*?</figcaption>", page, re.DOTALL)
    assert "<strong>Figure 1.</strong> A line through" in caption and "<em>interest</em>" in caption
    assert re.search(r'<img [^>]*alt="Figure 1. A line', page)
    assert page.count("points of <em>interest</em>") == 1


def test_html_table_has_its_caption_and_cells(page):
    assert "<caption><strong>Table 1.</strong> Two rows.</caption>" in page
    assert page.index("The same title") < page.rindex("Appendix to chapter 1") < page.rindex("Two rows.")
    assert re.findall(r"<td[^>]*>(.*?)</td>", page) == ["a|b", "50.0\N{NO-BREAK SPACE}%", "c", "25.0\N{NO-BREAK SPACE}%"]


def test_html_folds_code_and_hides_tagged_input(page):
    assert re.findall(r"<details([^>]*)>\s*<summary>\s*([^<]*?)\s*</summary>", page) == [
        (' class="of-sentences"', "Code"),
        (' class="of-sentences"', "Code"),
        ("", "Code of Figure 1"),
        (' class="of-sentences"', "Code"),
        ("", "Code of Table 1"),
    ]
    assert "sourceCode python" not in re.sub(r"<details[^>]*>.*?</details>", "", page, flags=re.DOTALL)
    assert page.count("hidden_input") == 1


def test_html_keeps_footnotes_and_signs_as_written(page):
    assert "First note." in page and "Second note." in page
    assert "Mail a@b" in page
    assert "It errs on <strong>12.5\N{NO-BREAK SPACE}%</strong>" in page
    assert "Said to the reader" not in page and page.count("The abstract.") == 1


def test_headings_have_numbers_and_what_stands_before_the_contents_none(page):
    headings = [
        re.sub(r"<[^>]*>|\s+", " ", text).split() for text in re.findall(r"<h[12][^>]*>(.*?)</h[12]>", page, re.DOTALL)
    ]
    assert [" ".join(words) for words in headings] == [
        FACTS["title"].replace("<", "&lt;").replace(">", "&gt;"), "1 First chapter", "1.1 Method", "2 Second chapter",
        "2.1 Method", "Appendix to chapter 1", "References",
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


def test_pdf_source_has_title_page_figures_tables_and_no_code(notebooks, tmp_path):
    source = report.typst_source(notebooks, tmp_path, **FACTS)
    for line in ('title = "A study of <kernels>"', r'author = "Ada \"A\" Lovelace"', 'course = "Course #1"'):
        assert f"#let {line}" in source
    assert 'declaration = "All $mine$."' in source
    body = source.split("#contents()\n\n")[-1]
    assert body.count("= 1 First chapter") == body.count("= 2 Second chapter") == body.count("#framed[") == 1
    assert body.count("#figure(") == 2 and body.count("#strong[Figure 1.]") == body.count("#strong[Table 1.]") == 1
    assert "chapter.figure" not in source and "import" not in body and "#link(<figure-1>)" in body
    assert "import matplotlib" in report.typst_source(notebooks, tmp_path, code=True, **FACTS)
    assert "#link(<chapter-second>)" in body
    (picture,) = re.findall(r'image\("([^"]+)"', body)
    assert (tmp_path / picture).exists()


@pytest.mark.parametrize("title", ["true", '$(value) $HOME `x` \\ # @a <b> *c* [d](e) "f" %', "Привет Ελλάδα ế"])
def test_a_title_is_text_whatever_its_signs(notebooks, tmp_path, title):
    report.html(notebooks[1:], tmp_path / "a.html", **FACTS | {"title": title, "author": title})
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    expected = escaping.escape(title)
    for before, after in (("<title>", "</title>"), ("<h1>", "</h1>"), ('<meta name="author" content="', '">\n')):
        assert f"{before}{expected}{after}" in page
    assert f"#let title = {json.dumps(title, ensure_ascii=False)}\n" in report.typst_source(
        notebooks[1:], tmp_path, **FACTS | {"title": title}
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


def test_figure_without_caption_is_refused(tmp_path):
    picture = new_output("display_data", data={"image/png": "AAAA"})
    cells = [new_markdown_cell("# Title"), new_code_cell("x", outputs=[picture])]
    nbformat.write(new_notebook(cells=cells), tmp_path / "a.ipynb")
    with pytest.raises(ValueError, match="expected a caption after the figure"):
        report.html([Source(tmp_path / "a.ipynb", "1")], tmp_path / "a.html", **FACTS)


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


PLAN = chapters.Chapter(source="data", figures=("counts", "lines"), tables=("rows",))


def test_figures_are_saved_with_the_same_bytes_and_closed(tmp_path, shown, monkeypatch):
    monkeypatch.setattr(display, "ROOT", tmp_path)
    for folder in ("one", "two"):
        fig, ax = plt.subplots()
        ax.plot([1, 2])
        fig.drawn_by = "study.data.figures.figure_lines"
        display.OpenChapter("data", PLAN, folder).figure("lines", fig, "A line.")
        assert not plt.fignum_exists(fig.number)
    names = ["data-lines.png", "data-lines.svg"]
    assert sorted(path.name for path in (tmp_path / "one").iterdir()) == names
    for name in names:
        content = (tmp_path / "one" / name).read_bytes()
        assert content == (tmp_path / "two" / name).read_bytes()
        assert b"study.data.figures.figure_lines" in content and b"Figure 3.2" in content
    assert shown[1]["text/markdown"] == "**Figure 3.2.** A line."


def test_figures_are_not_saved_without_a_folder(tmp_path, shown, monkeypatch):
    monkeypatch.setattr(display, "ROOT", tmp_path)
    display.OpenChapter("data", PLAN).figure("lines", plt.figure(), "Empty.")
    assert shown and list(tmp_path.iterdir()) == []


def test_the_plan_numbers_figures_and_tables_and_refuses_other_names(shown):
    chapter = display.OpenChapter("data", PLAN)
    assert (chapter.label("counts"), chapter.label("rows")) == ("Figure 3.1", "Table 3.1")
    with pytest.raises(ValueError, match="got 'other'; add it to study/chapters.py"):
        chapter.table("other", pd.DataFrame({"p": [1]}), "Caption.")


def test_what_is_not_in_the_plan_is_numbered_as_it_comes(shown):
    chapter = display.OpenChapter("mnist_degree", None)
    for name in ("b", "a"):
        chapter.table(name, pd.DataFrame({"p": [1]}), "Caption.")
    assert [chapter.label("b"), chapter.label("a")] == ["Table 1", "Table 2"]
    with pytest.raises(ValueError, match="shown later, or nowhere"):
        chapter.label("c")


def test_table_formats_cells_and_aligns_numbers(shown):
    frame = pd.DataFrame({"a|b": ["x|y", None], "p": [0.5, 0.25], "n": [1, 20], "f": [1.23456, float("nan")]})
    display.OpenChapter("x", None).table("t", frame, "Caption.", formats={"p": lambda value: f"{value:.0%}"})
    (output,) = shown
    assert output["text/markdown"].splitlines() == [
        "**Table 1.** Caption.",
        "",
        r"| a\|b | p | n | f |",
        "| :-- | --: | --: | --: |",
        r"| x\|y | 50 % | 1 | 1.235 |",
        "|  | 25 % | 20 |  |",
    ]
    with pytest.raises(ValueError, match=r"columns of the table.*got \['q'\]"):
        display.OpenChapter("x", None).table("t", frame, "Caption.", formats={"q": ".1f"})


def test_a_mistyped_parameter_is_named_and_constants_are_not_parameters():
    namespace = {"dataset": "digits", "n_pairs": 3, "figures_folder": "", "_hidden": 2, "PREDICTORS": (), "module": pytest}
    assert display.open_chapter("data", namespace).plan.name == "data"
    with pytest.raises(ValueError, match="among dataset, n_pairs, figures_folder, got n_pair"):
        display.open_chapter("data", namespace | {"n_pair": 2})


def test_numbers_below_zero_have_a_minus_sign_but_formulas_and_code_keep_their_own(shown):
    display.say("At $z = -1$ it is {x:.1f} points (-2 to -1) [-3], k - 1, `n -1`, 7-fold, {share:.0%}", x=-0.5, share=-0.25)
    assert shown[0]["text/markdown"] == "At $z = -1$ it is −0.5 points (−2 to −1) [−3], k − 1, `n -1`, 7-fold, −25 %"


def test_a_data_set_has_one_name_in_words_figures_and_tables(shown):
    display.say("{names}", names=", ".join(["winequality-red", "winequality-white", "wine", "iris-bundled"]))
    assert shown[0]["text/markdown"] == "red wine, white wine, wine, iris-bundled"
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
    outputs = [
        new_output("display_data", data={"image/png": PIXEL}, metadata={"image/png": {"file": "secret"}}),
        new_output("display_data", data={"text/markdown": "**Figure 1.** It."}),
    ]
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
