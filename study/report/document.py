"""The report: executed notebooks, in order, as one HTML page and as one PDF.

notebook --(this module)--> Markdown --(pandoc)--> HTML with MathML, or Typst --(typst)--> PDF. No network is used, and
the same notebooks give the same bytes. Each notebook is a chapter. Figures and tables that study.report.display showed
become captioned floats. Code is folded in the HTML and left out of the PDF.
"""

import base64
import json
import re
import tempfile
from pathlib import Path

import nbformat

TEMPLATES = Path(__file__).parent
# Markdown as Jupyter reads it, with pandoc's captions and attributes; "@" stays an ordinary character.
MARKDOWN = (
    "markdown-citations-yaml_metadata_block-blank_before_header-subscript-superscript-example_lists"
    "+lists_without_preceding_blankline"
)
# One "column" a character: pandoc gives tables wider than this fixed relative widths, which none should have.
OPTIONS = ["--standalone", "--toc", "--toc-depth=2", "--number-sections", "--columns=100000"]
TABLE = re.compile(r"\A(\*\*Table [^*]+\*\*[^\n]*)\n\n(\|.*)\Z", re.DOTALL)


def html(notebooks, target, *, title, author, date, course="", titles=None):
    """Write the executed notebooks as one self-contained HTML file that loads nothing from outside.

    titles maps stems of notebooks to the titles of their chapters, where those are not the notebooks' own.
    Raises ValueError if a notebook has no title, an error in its outputs, or a figure without a caption.
    """
    with tempfile.TemporaryDirectory() as folder:
        text = "\n\n".join(_chapters(notebooks, Path(folder), titles, code=True))
        facts = dict(title=title, author=author, course=course, date=date, pagetitle=title, lang="en")
        options = ["--mathml", "--embed-resources", "--section-divs", f"--template={TEMPLATES / 'report.html'}"]
        options += [f"--metadata={name}={value}" for name, value in facts.items() if value]
        page = _pandoc(text, "html5", notebooks, folder, options)
    _write(target, page.encode())


def pdf(notebooks, target, *, title, author, date, course="", titles=None):
    """Write the executed notebooks as an A4 PDF with a title page, a table of contents and embedded fonts.

    titles, and what is raised, as for html.
    """
    import typst

    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "report.typ")
        facts = dict(title=title, author=author, course=course, date=date, titles=titles)
        source.write_text(typst_source(notebooks, folder, **facts), encoding="utf-8")
        pages = typst.compile(str(source), root=folder, ignore_system_fonts=True, timestamp=0)
    _write(target, pages)


def typst_source(notebooks, folder, *, title, author, date, course="", titles=None):
    """The Typst document behind pdf, as text; its pictures are written into folder."""
    text = "\n\n".join(_chapters(notebooks, Path(folder), titles, code=False))
    facts = dict(title=title, author=author, course=course, date=date)
    options = ["--syntax-highlighting=none", f"--extract-media={folder}", f"--template={TEMPLATES / 'report.typ'}"]
    options += [f"--variable={name}={json.dumps(value, ensure_ascii=False)}" for name, value in facts.items()]
    return _pandoc(text, "typst", notebooks, folder, options).replace(f'"{folder}/', '"')


def _write(target, content):
    target = Path(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(content)


def _pandoc(text, form, notebooks, folder, options):
    import pypandoc

    folders = [str(folder), *dict.fromkeys(str(Path(notebook).resolve().parent) for notebook in notebooks)]
    options = [*OPTIONS, f"--resource-path={':'.join(folders)}", *options]
    return pypandoc.convert_text(text, form, format=MARKDOWN, extra_args=options)


def _chapters(notebooks, folder, titles, *, code):
    """The notebooks as Markdown texts; links between them point at the chapters."""
    paths = [Path(notebook) for notebook in notebooks]
    for path in paths:
        text = "\n\n".join(_blocks(path, folder, (titles or {}).get(path.stem), code))
        for other in paths:
            text = text.replace(f"]({other.name})", f"](#{other.stem})")
        yield text


def _blocks(path, folder, title, code):
    """The cells of one notebook as pieces of Markdown; its pictures are written into folder."""
    cells = nbformat.read(path, as_version=4).cells
    if not cells or cells[0].cell_type != "markdown" or not cells[0].source.startswith("# "):
        raise ValueError(f"{path}: expected a first cell that is Markdown and starts with '# Title'; add the title")
    if title:
        cells[0].source = re.sub("^# .*$", lambda _: f"# {title}", cells[0].source, count=1, flags=re.MULTILINE)
    for index, cell in enumerate(cells):
        where = f"{path}, cell {index}"
        if cell.cell_type == "markdown":
            if re.search(r"!\[[^]]*\]\(\w+://", cell.source):
                raise ValueError(f"{where}: expected pictures from files, got one from an address; save it beside")
            text = cell.source if index else re.sub("$", f" {{#{path.stem}}}", cell.source, count=1, flags=re.MULTILINE)
            # Footnotes of different notebooks may share a name.
            yield re.sub(r"\[\^(\w+)\]", rf"[^{path.stem}-\1]", text)
        elif cell.cell_type == "code":
            if code and cell.source.strip() and "remove-input" not in cell.metadata.get("tags", []):
                yield f"<details>\n<summary>Code</summary>\n\n{_fenced(cell.source, 'python')}\n\n</details>"
            yield from _outputs(cell.outputs, folder / f"{path.stem}_{index}", where, code)


def _outputs(outputs, stem, where, screen):
    """The outputs of one cell as pieces of Markdown; screen tells the HTML from the PDF."""
    outputs = list(outputs)
    while outputs:
        output = outputs.pop(0)
        data = output.get("data", {})
        if output.output_type == "error":
            raise ValueError(f"{where}: expected a notebook without errors, got {output.ename}; execute it again")
        if output.output_type == "stream":
            yield _fenced(output.text)
        elif "image/png" in data:
            caption = outputs.pop(0).get("data", {}).get("text/markdown", "") if outputs else ""
            if not caption.startswith("**Figure "):
                raise ValueError(f"{where}: expected a caption after the figure, got none; show it with show_figure")
            picture = stem.with_name(f"{stem.name}_{len(outputs)}.png")
            picture.write_bytes(base64.b64decode(data["image/png"]))
            width = output.metadata.get("image/png", {}).get("width") if screen else None
            yield f"![{caption}]({picture.name})" + (f"{{width={width}px}}" if width else "")
        elif "text/markdown" in data:
            text = TABLE.sub(r"\2\n\n: \1", data["text/markdown"])
            yield f"::: table\n{text}\n:::" if screen and text != data["text/markdown"] else text
        elif "text/latex" in data:
            yield data["text/latex"]
        elif "text/plain" in data:
            yield _fenced(data["text/plain"])


def _fenced(text, language="text"):
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"
