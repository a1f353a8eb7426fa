"""The report: executed notebooks, in order, as one HTML page and as one PDF.

notebook --(this module)--> Markdown --(pandoc)--> HTML with MathML, or Typst --(typst)--> PDF. No network is used, and
the same notebooks give the same bytes. Each notebook is a chapter. Figures and tables that study.report.display showed
become captioned floats, and their labels in sentences links. Code is folded in the HTML and left out of the PDF.

What a cell is for is said by its tags: "notebook" for what is said to the reader of the notebook only, "appendix" for what
stands in an appendix of the document, "box" for what is framed. A notebook whose number is "" stands before the contents.
References are links to #ref-key; those that are used are listed at the end, from refs.bib.
"""

import base64
import html as escaping
import json
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import nbformat

from study import ROOT, store
from study.report import content, policy

TEMPLATES = Path(__file__).parent
REFERENCES = TEMPLATES / "refs.bib"
# One "column" a character: pandoc gives tables wider than this fixed relative widths, which none should have.
OPTIONS = ["--standalone", "--toc", "--toc-depth=2", "--columns=100000"]
TABLE = re.compile(r"\A(\*\*(Table [^*]+)\.\*\*[^\n]*)\n\n(\|.*)\Z", re.DOTALL)
LABEL = re.compile(r"(?<![\w*\[#])(Figure|Table) ([A-Z]?\d+(?:\.\d+)?)\b")
UNTOUCHED = re.compile(r"^(`{3,}|\$\$).*?^\1\s*$|^:::[^\n]*$", re.DOTALL | re.MULTILINE)
LARGEST_DRAWING = {"typst": 500_000, "html": 50_000}
"""Bytes of the largest vector figure that is used; beyond, the picture of pixels is much smaller."""


@dataclass(frozen=True)
class Source:
    """An executed notebook in a document: its file, its number there ("3", "S1"; "" if it stands before the contents), its
    title where that is not the notebook's own, and whether it is the project's own: then its figures are the drawings in
    files that it names, else the pictures that it holds."""

    path: Path
    number: str = ""
    title: str = ""
    own: bool = False


def html(sources, target, *, title, code=False, listing=(), **facts):
    """Write the sources as one self-contained HTML file that loads nothing from outside. Code is folded, or with code=True
    open. listing: pairs (name, program) for an appendix with code. facts: author, course, date, declaration.

    Raises ValueError if a notebook has no title, an error in its outputs, a figure without a caption, or a picture that it
    does not hold.
    """
    with tempfile.TemporaryDirectory() as folder:
        text = _text(sources, Path(folder), "html", code=True, listing=listing)
        options = ["--mathml", "--section-divs", f"--template={TEMPLATES / 'report.html'}"]
        named = dict(title=title, pagetitle=title, lang="en", **facts) | ({"open": "open"} if code else {})
        options += [f"--variable={name}={escaping.escape(value)}" for name, value in named.items() if value]
        page = _pandoc(text, "html", folder, options)
    font = base64.b64encode((TEMPLATES / "math.woff2").read_bytes()).decode()
    page = page.replace('url("math.woff2")', f"url(data:font/woff2;base64,{font})", 1)
    store.write(target, policy.sealed(page))


def pdf(sources, target, *, title, code=False, listing=(), **facts):
    """Write the sources as an A4 PDF with a title page, a table of contents and embedded fonts; code=True shows the code.

    listing, facts, and what is raised, as for html. Returns the characters that no font has, as text: boxes in the PDF.
    """
    import typst

    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "report.typ")
        text = typst_source(sources, folder, title=title, code=code, listing=listing, **facts)
        source.write_text(text, encoding="utf-8")
        pages = typst.compile(str(source), root=folder, ignore_system_fonts=True, timestamp=0)
    store.write(target, pages)
    return without_font(text)


def without_font(text):
    """The characters of a text, sorted, that none of the fonts of the PDF has.

    A PDF for archives may hold no box in place of a character, so Typst names the first one there; it is taken away.
    """
    import typst

    left, lacking = sorted(char for char in set(text) if not char.isascii() and char.isprintable()), ""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "characters.typ")
        while left:
            head = '#set document(date: datetime(year: 2000, month: 1, day: 1))\n#set text(font: "Libertinus Serif")\n'
            source.write_text(f"{head}#{json.dumps(' '.join(left), ensure_ascii=False)}", encoding="utf-8")
            try:
                typst.compile(str(source), root=folder, ignore_system_fonts=True, pdf_standards="a-2b")
                break
            except typst.TypstError as error:
                found = re.search('the text `"(.+?)"` could not be displayed', str(error))
                if not found:
                    raise
                lacking += found[1]
                left = [char for char in left if char not in found[1]]
    return "".join(sorted(lacking))


def typst_source(sources, folder, *, title, code=False, listing=(), author="", course="", date="", declaration=""):
    """The Typst document behind pdf, as text; its pictures are written into folder."""
    text = _text(sources, Path(folder), "typst", code=code, listing=listing)
    facts = dict(title=title, author=author, course=course, date=date, declaration=declaration)
    options = ["--syntax-highlighting=none", f"--template={TEMPLATES / 'report.typ'}"]
    options += [f"--variable={name}={json.dumps(value, ensure_ascii=False)}" for name, value in facts.items()]
    return _pandoc(text, "typst", folder, options)


def _pandoc(text, form, folder, options):
    import pypandoc

    if keys := sorted(set(re.findall(r"\(#ref-([\w-]+)\)", text))):
        listed = Path(folder, "references")
        listed.write_text(_references(keys, form), encoding="utf-8")
        options = [*options, f"--include-after-body={listed}"]
    document = content.parsed(text, form, folder, OPTIONS)
    return pypandoc.convert_text(document, form, format="json", extra_args=[*OPTIONS, *options], sandbox=True)


def _references(keys, form):
    """The list of references of these keys; ValueError for a key that refs.bib lacks."""
    import pypandoc

    known = set(re.findall(r"^@\w+\{([^,\s]+)", REFERENCES.read_text(encoding="utf-8"), re.MULTILINE))
    if unknown := sorted(set(keys) - known):
        raise ValueError(f"references must be entries of {REFERENCES.name}, got {', '.join(unknown)}; add them there")
    nocite = ", ".join(f"@{key}" for key in keys)
    text = f"---\nnocite: |\n  {nocite}\n---\n\n# References {{#bibliography}}\n\n::: {{#refs}}\n:::\n"
    options = ["--citeproc", f"--bibliography={REFERENCES}", "--columns=100000", "--section-divs"]
    return pypandoc.convert_text(text, form, format="markdown", extra_args=options)


def _text(sources, folder, form, *, code, listing):
    """The whole document as Markdown: what stands before the contents, the chapters, their appendices, then a listing."""
    front, chapters, appendices = [], [], []
    for place, source in enumerate(sources):
        blocks = list(_blocks(source, folder / f"picture-{place}", form, code))
        own = [text for tags, text in blocks if "appendix" not in tags]
        (chapters if source.number else front).append("\n\n".join(own))
        if later := [text for tags, text in blocks if "appendix" in tags]:
            heading = f"# Appendix to chapter {source.number} {{#appendix-{Path(source.path).stem}}}"
            appendices.append("\n\n".join([heading, *later]))
    if listing:
        programs = [f"## `{name}`\n\n{_fenced(program, 'python')}" for name, program in listing]
        appendices.append("\n\n".join(["# The algorithm in code {#listing}", *programs]))
    text = "\n\n".join([*front, "::: contents\n:::", *chapters, *appendices])
    for source in sources:
        stem = Path(source.path).stem
        text = text.replace(f"]({stem}.ipynb)", f"](#chapter-{stem})")
    return _linked(re.sub(r"(?<=\d) %", "\N{NO-BREAK SPACE}%", text))


def _linked(text):
    """The labels of figures and tables in sentences as links, where the document has them."""
    known = set(re.findall(r"\{#((?:figure|table)-[\w-]+)", text))
    pieces, end = [], 0
    for fence in UNTOUCHED.finditer(text):
        pieces += [LABEL.sub(lambda match: _link(match, known), text[end : fence.start()]), fence.group()]
        end = fence.end()
    return "".join([*pieces, LABEL.sub(lambda match: _link(match, known), text[end:])])


def _link(match, known):
    return f"[{match.group()}](#{_anchor(match.group())})" if _anchor(match.group()) in known else match.group()


def _anchor(label):
    """ "figure-4-2", of "Figure 4.2"."""
    return re.sub(r"[ .]", "-", label.lower())


def _numbered(text, number, counts):
    """Markdown whose headings have numbers: "# 4 Title", "## 4.1 Section"."""

    def heading(match):
        if len(match[1]) == 1:
            return f"# [{number}]{{.number}} {match[2]}"
        counts[0] += 1
        return f"## [{number}.{counts[0]}]{{.number}} {match[2]}"

    return re.sub(r"^(#{1,2}) (.*)$", heading, text, flags=re.MULTILINE) if number else text


def _blocks(source, pictures, form, code):
    """(tags, Markdown) of the cells of one notebook; its pictures are written into files whose paths begin with pictures."""
    path, counts = Path(source.path), [0]
    cells = _cells(path)
    if not cells or cells[0].cell_type != "markdown" or not cells[0].source.startswith("# "):
        raise ValueError(f"{path}: expected a first cell that is Markdown and starts with '# Title'; add the title")
    if source.title:
        cells[0].source = re.sub("^# .*$", lambda _: f"# {source.title}", cells[0].source, count=1, flags=re.MULTILINE)
    for index, cell in enumerate(cells):
        where, tags = f"{path}, cell {index}", cell.metadata.get("tags", [])
        if "notebook" in tags:
            continue
        if cell.cell_type == "markdown":
            anchor = f" {{#chapter-{path.stem}}}"
            text = cell.source if index else re.sub("$", anchor, cell.source, count=1, flags=re.MULTILINE)
            if not (index or source.number):
                text = text.partition("\n")[2]  # what stands before the contents has the document's title
            # Footnotes of different notebooks may share a name.
            text = re.sub(r"\[\^(\w+)\]", rf"[^{path.stem}-\1]", _numbered(text, source.number, counts))
            text = _pasted(text, cell.get("attachments", {}), f"{pictures}_{index}")
            yield tags, _framed(text) if "box" in tags else text
        elif cell.cell_type == "code":
            if code and cell.source.strip() and "remove-input" not in tags:
                shown = _fenced(cell.source, "python")
                yield tags, shown if form == "typst" else _folded(shown, _labels(cell))
            texts = "\n\n".join(_outputs(cell.outputs, f"{pictures}_{index}", where, form, source.own))
            if texts:
                yield tags, _framed(texts) if "box" in tags else texts


def _cells(path):
    """The cells of an executed notebook. Raises ValueError, with its path, for a file that is missing or cut short."""
    try:
        return nbformat.read(path, as_version=4).cells
    except (OSError, ValueError, AttributeError, KeyError) as error:
        raise ValueError(f"{path}: expected an executed notebook, got {str(error)[:100]!r}; execute it again") from error


def _labels(cell):
    """The figures and tables that a cell shows: ["Figure 4.1"]."""
    text = "\n".join(output.get("data", {}).get("text/markdown", "") for output in cell.outputs)
    return re.findall(r"^\*\*((?:Figure|Table) [^*]+)\.\*\*", text, re.MULTILINE)


def _folded(code, labels):
    """Code under the name of what it shows; that of sentences has none, and the page shows it with all code only."""
    label = f' label="Code of {" and ".join(labels)}"' if labels else ""
    return f"::: {{.folded{label}}}\n{code}\n:::"


def _framed(text):
    return f"::: box\n{text}\n:::"


def _pasted(text, attachments, pictures):
    """The text of a cell that shows the pictures which were pasted into it."""
    for number, (name, kinds) in enumerate(attachments.items()):
        if "image/png" in kinds:
            picture = Path(f"{pictures}_pasted_{number}.png")
            picture.write_bytes(base64.b64decode(kinds["image/png"]))
            for written in (name, quote(name)):
                text = text.replace(f"](attachment:{written})", f"]({picture.name})")
    return text


def _outputs(outputs, pictures, where, form, own):
    """The outputs of one cell as pieces of Markdown."""
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
                raise ValueError(
                    f"{where}: expected a caption after the figure, got none; show it with chapter.figure, or let "
                    "Markdown follow it that begins with '**Figure M1.**'"
                )
            shown = output.metadata.get("image/png", {})
            picture = Path(f"{pictures}_{len(outputs)}.png")
            drawing = ROOT / f"{shown['file']}.svg" if own and "file" in shown else None
            picture = _drawn(drawing, base64.b64decode(data["image/png"]), picture, form)
            label = caption[2:].partition(".**")[0]
            width = f" width={shown['width']}px" if form == "html" and "width" in shown else ""
            yield f"![{caption}]({picture.name}){{#{_anchor(label)}{width}}}"
        elif "text/markdown" in data:
            table = TABLE.match(data["text/markdown"])
            text = (
                f"::: {{#{_anchor(table[2])} .table}}\n{table[3]}\n\n: {table[1]}\n:::" if table else data["text/markdown"]
            )
            yield text
        elif "text/latex" in data:
            yield data["text/latex"]
        elif "text/plain" in data:
            yield _fenced(data["text/plain"])


def _drawn(drawing, png, picture, form):
    """The file of a figure: its drawing with coordinates of hundredths of a point where that is small enough, else pixels,
    which in a page have 128 colours."""
    if drawing and drawing.is_file():
        text = drawing.read_text(encoding="utf-8")
        text = re.sub(r'(?<= )(?:d|x|y|points)="[^"]*"', lambda m: re.sub(r"(\.\d\d)\d+", r"\1", m.group()), text)
        if len(text) <= LARGEST_DRAWING[form]:
            picture = picture.with_suffix(".svg")
            picture.write_text(text, encoding="utf-8")
            return picture
    picture.write_bytes(png)
    if form == "html":
        from PIL import Image

        with Image.open(picture) as image:
            few = image.convert("RGB").quantize(128, dither=Image.Dither.NONE)
        few.save(picture, optimize=True)
    return picture


def _fenced(text, language="text"):
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"
