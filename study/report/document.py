"""The report: executed notebooks, in order, as one HTML page and as one PDF.

notebook --(this module)--> Markdown --(pandoc)--> HTML with MathML, or Typst --(typst)--> PDF. No network is used, and
the same notebooks give the same bytes. Each notebook is a chapter. A figure or a table and the caption after it become a
float, whose number has the chapter's in front, and labels in sentences become links.

Cell tags (study.report.engine has the tags that matter for the run):

    notebook      for the reader of the notebook only
    setup         code that prepares: in the notebook only
    show          code that is shown on paper, too; other code is folded on pages, and not on paper
    appendix      evidence: after the chapters on pages, and not on paper
    abstract      before the contents
    exercises     questions, and
    solution      their answers: on pages, answers folded; on paper in separate sheets
    box           framed
    only:NAME     in the report of this name only

A notebook whose number is "" stands before the contents. References are links to #ref-key; the references used are listed
at the end, from refs.bib.
"""

import base64
import html as escaping
import json
import re
import tempfile
from collections import Counter
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from urllib.parse import quote

from study import ROOT
from study.report import colophon, content, numbers, played, policy, references
from study.report.expressions import unbroken
from study.report.notebooks import LINKS, joined, read
from study.report.panels import Panels, together
from study.report.source import HEAD_SPACE, captioned
from study.results import store

TEMPLATES = Path(__file__).parent
PRIME = re.compile(r"<msup>(<mi[^>]*>[^<]*</mi>)<mo[^>]*>′</mo></msup>")
"""A letter with a prime, which fonts have raised and small already."""
PANELS = "<!-- panels -->"
"""Where a page has its panels."""
LABEL = re.compile("(Figure|Table)\N{NO-BREAK SPACE}(\\d+)")
CAPTION = re.compile(r"\A\*\*(Figure|Table)\N{NO-BREAK SPACE}(\d+)\.\*\* ?")
"""How a caption begins in an executed notebook."""
ANSWER = re.compile(r"\*\*(Solution \d+)\.\*\*")
"""How the words of a solution begin."""
NUMBERS = "Numbers of sections, equations, lines and figures in the comments are those of the source."
"""What is said before the code of a listing."""
SHEETS = {"exercises": ("exercises",), "solutions": ("exercises", "solution")}
"""Parts of each notebook that the sheets of exercises take."""
EVIDENCE = re.compile(r"#+ Evidence")
"""A heading that says no more than the one of its appendix."""
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


@dataclass(frozen=True)
class Layout:
    """Options of a document: form "html" or "typst"; code, whether all code is shown; report, its name, for texts that stand
    in one report only; sheet, one of SHEETS for a sheet of exercises, else ""; panels, those of a page, which say where its
    values come from."""

    form: str
    code: bool = False
    report: str = ""
    sheet: str = ""
    panels: Panels | None = None

    def takes(self, cell):
        """Whether a cell is in the document."""
        tags = cell.metadata.get("tags", [])
        only = {tag.partition(":")[2] for tag in tags if tag.startswith("only:")}
        if "notebook" in tags or (only and self.report not in only):
            return False
        if self.sheet:
            is_title = cell.cell_type == "markdown" and cell.source.startswith("# ")
            return is_title or bool(set(tags) & set(SHEETS[self.sheet]))
        return self.form == "html" or not {"appendix", "exercises", "solution"} & set(tags)

    def shows(self, cell):
        """Whether the code of a cell is in the document: all of it on pages, folded except code for readers."""
        tags = cell.metadata.get("tags", [])
        if not cell.source.strip() or {"parameters", "injected-parameters", "setup"} & set(tags):
            return self.code
        return self.code or self.form == "html" or "show" in tags or bool(self.sheet)


def html(sources, target, *, title, code=False, report="", sheet="", listing=(), **facts):
    """Write the sources as one self-contained HTML file that loads nothing from outside, and beside it the table of the
    numbers in the texts of own notebooks, with a page of its rows. Code is folded, or with code=True open. report: its name;
    sheet: one of SHEETS, for a sheet of exercises. listing: pairs (name, program) for an appendix with code. facts: author,
    course, date, declaration, and ledger, the address of its page if there is one.

    Raises ValueError if a notebook has no title, an error in its outputs, or a picture that it does not hold.
    """
    with tempfile.TemporaryDirectory() as folder:
        panels = Panels(target)
        text = _text(sources, Path(folder), Layout("html", code, report, sheet, None if sheet else panels), listing)
        if "ledger" in facts:
            panels.add_makers()
        options = ["--mathml", "--section-divs", f"--template={TEMPLATES / 'report.html'}"]
        shown = {"panels": "panels" if str(panels) else "", "numbers": panels.name if panels.numbers else ""}
        named = dict(title=title, pagetitle=title, lang="en", **facts, **shown)
        named |= {"open": "open"} if code else {}
        options += [f"--variable={name}={escaping.escape(value)}" for name, value in named.items() if value]
        page = PRIME.sub(r'<mrow>\1<mo lspace="0" rspace="0">′</mo></mrow>', _pandoc(text, sources, "html", folder, options))
    font = base64.b64encode((TEMPLATES / "math.woff2").read_bytes()).decode()
    page = page.replace('url("math.woff2")', f"url(data:font/woff2;base64,{font})", 1)
    page, script = played.with_script(together(page).replace(PANELS, str(panels), 1))
    if panels.numbers:
        numbers.write([each.row for each in panels.numbers], Path(target), panels.link)
    store.write(target, policy.sealed(page, script))


def pdf(sources, target, *, title, code=False, report="", sheet="", listing=(), **facts):
    """Write the sources as an A4 PDF with a title page, a table of contents and embedded fonts; code=True shows all code.

    report, sheet, listing, facts, and what is raised, as for html. Fonts are the ones of Typst; where these lack a
    character, such as those of Chinese names, also those of the system. Returns the characters that none has, as text: boxes
    in the PDF.
    """
    import typst

    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "report.typ")
        layout = Layout("typst", code, report, sheet)
        text = typst_source(sources, folder, layout, title=title, listing=listing, **facts)
        source.write_text(text, encoding="utf-8")
        lacking = without_font(text)
        options = {"root": folder, "ignore_system_fonts": not lacking}
        pages = typst.compile(str(source), timestamp=0, sys_inputs=_settled(source, options), **options)
    store.write(target, pages)
    return without_font(lacking, of_system=True)


def _settled(source, options):
    """The input of a Typst document that says which of its figures and tables float, because they do not fit below the words
    before them.

    Each float moves what follows, so the document is laid out until all stand as they should. Nothing moves before the first
    one that changes, so that in each round one more is settled, and mostly many more.
    """
    import typst

    floats = []
    settled = 0
    while True:
        inputs = {"floats": json.dumps(floats)}
        marks = json.loads(typst.query(str(source), "<mark>", field="value", sys_inputs=inputs, **options))
        found = floats[:settled] + _misplaced(marks)[settled:]
        changed = [place for place, (old, new) in enumerate(zip_longest(floats, found)) if new != bool(old)]
        if not changed:
            return inputs
        settled = changed[0] + found[changed[0]]  # one that stands again may turn out not to fit
        floats = found


def _misplaced(marks):
    """Of each figure or table, whether it is on another page than the words before it, or would overtake one of its kind.

    marks : (number, kind, "words" or "figure", page)
    """
    pages = {(number, place): page for number, _, place, page in marks}
    latest = Counter()
    found = []
    for number, kind in sorted({(number, kind) for number, kind, *_ in marks}):
        words, figure = pages[number, "words"], pages[number, "figure"]
        found.append(words != figure or words < latest[kind])
        latest[kind] = figure
    return found


def without_font(text, *, of_system=False):
    """The characters of a text, sorted, that none of the fonts of Typst has, nor, with of_system, of the system.

    A PDF for archives may hold no box instead of a character, so Typst names the first one there; it is removed.
    """
    import typst

    left = sorted(char for char in set(text) if not char.isascii() and char.isprintable())
    lacking = ""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "characters.typ")
        while left:
            head = '#set document(date: datetime(year: 2000, month: 1, day: 1))\n#set text(font: "Libertinus Serif")\n'
            source.write_text(f"{head}#{json.dumps(' '.join(left), ensure_ascii=False)}", encoding="utf-8")
            try:
                typst.compile(str(source), root=folder, ignore_system_fonts=not of_system, pdf_standards="a-2b")
                break
            except typst.TypstError as error:
                found = re.search('the text `"(.+?)"` could not be displayed', str(error))
                if not found:
                    raise
                lacking += found[1]
                left = [char for char in left if char not in found[1]]
    return "".join(sorted(lacking))


def heading(path):
    """The first heading of a notebook, as plain text. Raises ValueError if its first cell has none."""
    return re.sub(r"[*`]", "", _cells(path)[0].source.partition("\n")[0].removeprefix("# ")).strip()


def typst_source(sources, folder, layout, *, title, listing=(), author="", course="", date="", declaration=""):
    """The Typst document behind pdf, as text; its pictures are written into folder."""
    text = _text(sources, Path(folder), layout, listing)
    facts = {"title": title, "author": author, "course": course, "date": date, "declaration": declaration}
    facts["is-sheet"] = bool(layout.sheet)
    options = ["--syntax-highlighting=idiomatic", f"--template={TEMPLATES / 'report.typ'}"]
    options += [f"--variable={name}={json.dumps(value, ensure_ascii=False)}" for name, value in facts.items()]
    return _pandoc(text, sources, "typst", folder, options)


def _pandoc(text, sources, form, folder, options):
    """The document of a text, with its references and the colophon."""
    import pypandoc

    keys = sorted(set(re.findall(r"\(#ref-([\w-]+)\)", text)))
    last = f"::: box\n{colophon.words([source.path for source in sources if not source.own])}\n:::"
    last = pypandoc.convert_text(content.parsed(last, form, folder), form, format="json", sandbox=True)
    after = Path(folder, "after")
    after.write_text("\n\n".join([_references(keys, form), last] if keys else [last]), encoding="utf-8")
    options = [*content.OPTIONS, *options, f"--include-after-body={after}"]
    document = content.parsed(text, form, folder)
    return pypandoc.convert_text(document, form, format="json", extra_args=options, sandbox=True)


def _references(keys, form):
    """The list of references of these keys; ValueError for a key that refs.bib lacks."""
    import pypandoc

    if unknown := sorted(set(keys) - set(references.addresses())):
        raise ValueError(f"references must be entries of {references.FILE.name}, got {', '.join(unknown)}; add them there")
    nocite = ", ".join(f"@{key}" for key in keys)
    text = f"---\nnocite: |\n  {nocite}\n---\n\n# References {{#bibliography}}\n\n::: {{#refs}}\n:::\n"
    options = ["--citeproc", f"--bibliography={references.FILE}", "--columns=100000", "--section-divs"]
    return pypandoc.convert_text(text, form, format="markdown", extra_args=options)


def _text(sources, folder, layout, listing):
    """The whole document as Markdown: the matter before the contents, the chapters, their appendices, then a listing."""
    front = []
    chapters = []
    appendices = []
    web = []
    lettered = sum(source.number.isalpha() for source in sources)  # they have the first letters
    for place, source in enumerate(sources):
        letter = chr(ord("A") + lettered + len(appendices))
        blocks = list(_blocks(source, folder / f"picture-{place}", layout, letter))
        if layout.form == "html" and not layout.sheet:
            blocks = list(_with_folded_solutions(blocks))
        if layout.sheet and len(blocks) < 2:
            continue  # no exercises
        front += [text for tags, text in blocks if "abstract" in tags]
        own = [text for tags, text in blocks if not {"abstract", "appendix"} & set(tags)]
        part = {"": front, "S": web}.get(source.number[:1], chapters)
        part.append("\n\n".join(own))
        if later := [text for tags, text in blocks if "appendix" in tags and not EVIDENCE.fullmatch(text.strip())]:
            heading = f"# [{letter}]{{.number}} Evidence for {_named(source.number)} {{#appendix-{Path(source.path).stem}}}"
            appendices.append("\n\n".join([heading, *later]))
    if listing:
        programs = [f"## `{name}` {{.unnumbered .unlisted}}\n\n{_fenced(program, 'python')}" for name, program in listing]
        letter = chr(ord("A") + lettered + len(appendices))
        appendices.append("\n\n".join([f"# [{letter}]{{.number}} The algorithm in code {{#listing}}", NUMBERS, *programs]))
    first = ["\n\n".join([":::: front", *front, "::::"])] if front else []
    text = "\n\n".join([*first, "::: contents\n:::", *chapters, *appendices, *web])
    for source in sources:
        stem = Path(source.path).stem
        if source.number:
            text = re.sub(rf"(?<=hapter )\w+\]\({stem}\.ipynb\)", f"{source.number}]({stem}.ipynb)", text)
        text = text.replace(f"]({stem}.ipynb)", f"](#chapter-{stem})")
    return unbroken(text)


def _named(number):
    """How words call the chapter of a number."""
    kind = "chapter" if number.isdecimal() else "appendix" if len(number) == 1 else "supplement"
    return f"{kind} {number}"


def _blocks(source, pictures, layout, letter):
    """(tags, Markdown) of a notebook's parts in a document; its pictures are written into files whose paths begin so, its
    appendix has the letter."""
    path = Path(source.path)
    counts = Counter()
    cells = _cells(path)
    if layout.panels and source.own:
        layout.panels.mark(path, cells)
    if source.title:
        cells[0].source = re.sub("^# .*$", lambda _: f"# {source.title}", cells[0].source, count=1, flags=re.MULTILINE)
    taken = _captioned((index, cell) for index, cell in enumerate(cells) if layout.takes(cell))
    labels = _Labels(path.stem, source.number, taken)
    for index, cell, _ in taken:
        tags = cell.metadata.get("tags", [])
        if cell.cell_type == "markdown":
            text = _words(cell, index, source, letter if "appendix" in tags else source.number, counts, layout.sheet)
            text = _pasted(labels.linked(text), cell.get("attachments", {}), f"{pictures}_{index}")
        elif cell.cell_type == "code":
            shown = _Shown(f"{path}, cell {index + 1}", f"{pictures}_{index}", layout.form, source.own, labels, index)
            text = "\n\n".join(filter(None, [_code(cell, layout), *shown.pieces(cell.outputs)]))
        else:
            continue
        if text.strip():
            yield tags, f"::: box\n{text}\n:::" if "box" in tags else text


def _with_folded_solutions(blocks):
    """The blocks, with each solution in its own fold: its words, and the code before or after them."""
    solution = []
    for tags, text in blocks:
        is_words = ANSWER.match(text)
        has_words = any(ANSWER.match(each) for each in solution)
        is_full = has_words and (is_words or len(solution) > 1)
        if solution and (is_full or "solution" not in tags):
            yield ["solution"], _folded(solution)
            solution = []
        if "solution" in tags:
            solution.append(text)
        else:
            yield tags, text
    if solution:
        yield ["solution"], _folded(solution)


def _folded(solution):
    """The fold of a solution, under the name that its words have."""
    names = [found[1] for found in map(ANSWER.match, solution) if found]
    text = "\n\n".join(solution)
    return f'::: {{.folded label="{names[0] if names else "Solution"}"}}\n{text}\n:::'


def _words(cell, index, source, chapter, counts, sheet):
    """The Markdown of a text cell under the numbers of the document: "# 4 Title", "## 4.1 Section"; counts : {number of a
    chapter or letter of an appendix: its sections until here}."""
    stem = Path(source.path).stem
    text = cell.source.removeprefix("## Exercises\n") if sheet else cell.source
    if not index:
        text = text.partition("\n")[0] if sheet else text
        text = re.sub("$", f" {{#chapter-{stem}}}", text, count=1, flags=re.MULTILINE)
        if not source.number:
            return text.partition("\n")[2]  # what stands before the contents has the document's title

    def heading(match):
        if len(match[1]) == 1:
            return f"# [{source.number}]{{.number}} {match[2]}"
        counts[chapter] += 1
        return f"## [{chapter}.{counts[chapter]}]{{.number}} {match[2]}"

    if source.number and not EVIDENCE.fullmatch(text.strip()):
        text = re.sub(r"^(#{1,2}) (.*)$", heading, text, flags=re.MULTILINE)
    # Footnotes of different notebooks may share a name.
    return re.sub(r"\[\^(\w+)\]", rf"[^{stem}-\1]", text)


def _captioned(taken):
    """[(index, cell, caption)]: a caption after code goes with the picture or table that it shows, if it does."""
    found = []
    for index, cell in taken:
        place, before, caption = found[-1] if found else (None, cell, "")
        is_caption = cell.cell_type == "markdown" and bool(captioned(cell.metadata.get("tags", [])))
        if is_caption and before.cell_type == "code" and not caption and _floats(before.outputs, cell.source):
            found[-1] = (place, before, cell.source)
        else:
            found.append((index, cell, ""))
    return found


def _floats(outputs, caption):
    """{place: (kind, caption)} of the outputs that have a number: pictures, and a table that has the caption, which is that
    of the last picture or table."""
    kinds = {}
    for place, output in enumerate(outputs):
        data = output.get("data", {})
        if "image/png" in data or data.get("text/markdown", "").startswith("|"):
            kinds[place] = "Figure" if "image/png" in data else "Table"
    last = max(kinds, default=None)
    found = {place: (kind, caption if place == last else "") for place, kind in kinds.items()}
    return {place: each for place, each in found.items() if each != ("Table", "")}


def _code(cell, layout):
    """The code of a cell as the document shows it, or "". In Typst code that prints is marked: it stays with its output."""
    if not layout.shows(cell):
        return ""
    tags = cell.metadata.get("tags", [])
    prints = any(each.output_type == "stream" or each.get("data", {}).keys() == {"text/plain"} for each in cell.outputs)
    shown = _fenced(cell.source, "python-prints" if prints and layout.form == "typst" else "python")
    is_open = layout.form == "typst" or layout.code or {"show", "solution"} & set(tags) or layout.sheet
    return shown if is_open else f'::: {{.folded label="Code"}}\n{shown}\n:::'


class _Labels:
    """The labels of a notebook's figures and tables in a document: "Figure 2" is "Figure 4.2" in chapter 4.

    They are counted in their order, those without a caption too. What the document leaves out, the evidence, is not counted,
    and words say instead of its label where it is. floats : {(cell, output): (label, caption without the label)}
    """

    def __init__(self, stem, number, taken):
        self.stem = stem
        self.number = number
        self.places = {}
        self.floats = {}
        counts = {"Figure": 0, "Table": 0}
        for index, cell, caption in taken:
            floats = _floats(cell.outputs, caption) if cell.cell_type == "code" else {}
            for output, (kind, words) in floats.items():
                counts[kind] += 1
                if found := CAPTION.match(words):
                    self.places[kind, found[2]] = counts[kind]
                self.floats[index, output] = self._label(kind, counts[kind]), CAPTION.sub("", words)

    def _label(self, kind, place):
        return f"{kind}\N{NO-BREAK SPACE}{self.number}{'.' * bool(self.number)}{place}"

    def anchor(self, label):
        """Return the anchor of a label, as "figure-mnist-2"."""
        kind, _, number = label.partition("\N{NO-BREAK SPACE}")
        return f"{kind.lower()}-{self.stem}-{number.rpartition('.')[2]}"

    def linked(self, text):
        """The text with its labels as links, code left alone."""

        def link(match):
            kind = match[1]
            own = match[2]
            if (kind, own) not in self.places:
                return f"the {kind.lower()} in `report.html`"
            label = self._label(kind, self.places[kind, own])
            return f"[{label}](#{self.anchor(label)})"

        return LABEL.sub(link, text)


def _cells(path):
    """The cells of an executed notebook, which cite by keys. Raises ValueError, with its path, for a file that is missing
    or cut short, or has no title."""
    cells = [cell for cell in read(path).cells if LINKS not in cell.metadata.get("tags", [])]
    if not cells or cells[0].cell_type != "markdown" or not cells[0].source.startswith("# "):
        raise ValueError(f"{path}: expected a first cell that is Markdown and starts with '# Title'; add the title")
    for cell in cells:
        if cell.cell_type == "markdown":
            cell.source = references.keyed(cell.source)
        elif cell.cell_type == "code":
            cell.outputs = joined(cell.outputs)
    return cells


def _pasted(text, attachments, pictures):
    """The text of a cell that shows the pictures which were pasted into it."""
    for number, (name, kinds) in enumerate(attachments.items()):
        if "image/png" in kinds:
            picture = Path(f"{pictures}_pasted_{number}.png")
            picture.write_bytes(base64.b64decode(kinds["image/png"]))
            for written in (name, quote(name)):
                text = text.replace(f"](attachment:{written})", f"]({picture.name})")
    return text


@dataclass(frozen=True)
class _Shown:
    """Makes Markdown of the outputs of the cell at an index."""

    where: str
    pictures: str
    form: str
    own: bool
    labels: _Labels
    index: int

    def pieces(self, outputs):
        """The outputs of the cell, one after the other."""
        for place, output in enumerate(outputs):
            data = output.get("data", {})
            if output.output_type == "error":
                raise ValueError(f"{self.where}: expected a notebook without errors, got {output.ename}; execute it again")
            if output.output_type == "stream":
                if output.name == "stdout":  # what stands on stderr is no result
                    yield _fenced(output.text)
            elif "image/png" in data:
                yield self.figure(output, place)
            elif "text/markdown" in data:
                has_label = (self.index, place) in self.labels.floats
                text = references.keyed(data["text/markdown"]).replace(HEAD_SPACE, " |")
                yield self.table(text, place) if has_label else text
            elif "text/latex" in data:
                yield data["text/latex"]
            elif "text/plain" in data:
                yield _fenced(data["text/plain"])

    def label(self, place):
        """Return the anchor of an output, and its caption under its label."""
        label, caption = self.labels.floats[self.index, place]
        words = re.sub(r"[ \n]+", " ", f"**{label}.** {self.labels.linked(caption)}").strip()
        return self.labels.anchor(label), words

    def figure(self, output, place):
        anchor, words = self.label(place)
        shown = output.metadata.get("image/png", {})
        drawing = ROOT / f"{shown['file']}.svg" if self.own and "file" in shown else None
        picture = Path(f"{self.pictures}_{place}.png")
        picture = _drawn(drawing, base64.b64decode(output.data["image/png"]), picture, self.form)
        width = f" width={shown['width']}px" if self.form == "html" and "width" in shown else ""
        below = played.BELOW if self.own and shown.get("file") == played.FIGURE else ""
        return f"![{words}]({picture.name}){{#{anchor}{width}}}{below}"

    def table(self, rows, place):
        anchor, words = self.label(place)
        return f"{rows}\n\n: {words} {{#{anchor}}}"


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
            few = image.convert("RGB").quantize(128, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
        few.putpalette(255 if value > 252 else value for value in few.getpalette())  # an octree makes white 254
        few.save(picture)
    return picture


def _fenced(text, language="text"):
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"
