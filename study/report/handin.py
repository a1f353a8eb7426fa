"""Does a notebook that was handed in come out again? It is held against its source, then run once more.

Running a notebook runs what its author wrote. So its code is compared first, and it runs in an enclosure as strong as the
system offers (study.report.enclosure). A program can print what it likes: that numbers come out again says something of code
that is that of the source, or was read.
"""

import ast
import base64
import copy
import difflib
import io
import json
import os
import re
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise, zip_longest
from pathlib import Path

import nbformat
import numpy as np

from study import ROOT
from study.report.engine import HEADING, LISTED, tags
from study.report.notebooks import OwnKernelManager, joined

SHOWN = 150
"""Characters of a line that a finding shows."""
ADDRESS = re.compile(r"\b0x[0-9a-f]+")


class CannotRun(RuntimeError):
    """The notebook is none, or a cell of it fails; the message says which."""


@dataclass(frozen=True)
class Code:
    """Facts known without running a notebook: the stem of the project's notebook that it is a run of, or ""; its
    parameters as text, where they were given or differ from the defaults; its differences from the source; its lines that
    the source lacks; the Python files in its folder; its text cells that the source lacks; how many cells of code it has,
    and how many of them were not executed; its seed as text, "" where the source has none; the text cells of the source
    that it neither has nor lists as false."""

    source: str
    parameters: str
    differences: tuple[str, ...]
    lines: tuple[str, ...]
    beside: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    cells: int = 0
    without_result: int = 0
    seed: str = ""
    missing: tuple[str, ...] = ()

    @property
    def executed(self):
        return not self.without_result

    @property
    def lack(self):
        """The cells without results, and the remedy, as words."""
        return (
            f"{self.without_result} of its {self.cells} cells of code without a result; run all of it with "
            "'python -m study papermill FILE.ipynb EXECUTED.ipynb'"
        )

    @property
    def is_the_projects(self):
        """Whether code and text are the project's, parameters aside."""
        return bool(self.source) and not (self.differences or self.texts or self.missing)

    def __str__(self):
        of = f"A run of notebooks/{self.source}.ipynb" if self.source else "No run of a notebook of this project"
        found = [f"{of}, with {self.parameters or 'the default parameters'}."]
        if self.source and not self.differences:
            found.append("Its code is that of the source.")
        if self.differences:
            found += ["Its code differs from the source:", *(f"- {each}" for each in self.differences)]
        if self.lines:
            found += ["All lines of its code that are not in the source:", *self.lines]
        if self.texts:
            found += ["Text cells that are not in the source:", *(f"- {each}" for each in self.texts)]
        if self.missing:
            found += ["Text cells of the source that it neither has nor lists:", *(f"- {each}" for each in self.missing)]
        if not self.executed:
            found.append(f"It was not executed as a whole: expected results, got {self.lack}.")
        if self.beside:
            found.append(f"Python files in its folder, which it can import unseen: {_visible(', '.join(self.beside))}.")
        return "\n".join(found)


@dataclass(frozen=True)
class Outputs:
    """Outputs compared with a second run: differences, the number of pictures that are equal, outputs that the new run lacks
    and the reader judges (stderr, pictures that are no PNG), and what is to be known of words without values, as papermill
    alone leaves them."""

    differences: tuple[str, ...]
    equal_pictures: int = 0
    own: tuple[str, ...] = ()
    unfilled: tuple[str, ...] = ()

    def __str__(self):
        found = ["All numbers, tables and texts come out again."]
        if self.differences:
            found = ["What does not come out again:", *(f"- {each}" for each in self.differences)]
        if self.equal_pictures:
            found.append(f"Pictures that are equal, pixel by pixel: {self.equal_pictures}.")
        return "\n".join([*found, *self.unfilled, *(f"Not compared: {each}." for each in self.own)])


def read(path):
    """The notebook at path; how its streams are cut, which is chance, is evened out. Raises CannotRun if it is none."""
    try:
        notebook = nbformat.reads(Path(path).read_text(encoding="utf-8-sig"), as_version=4)
        nbformat.validate(notebook)
        for cell in notebook.cells:
            _check_metadata(cell)
            if cell.cell_type == "code":
                cell.outputs = joined(cell.outputs)
        return notebook
    except FileNotFoundError:
        raise CannotRun(
            f"{path} must be a notebook, got no file of this name; correct it, or name the folder of several"
        ) from None
    except UnicodeDecodeError:
        raise CannotRun(f"{path} must be a notebook, got a file that is no text") from None
    except Exception as error:  # a text that is no notebook can fail in a dozen ways
        raise CannotRun(f"{path} must be a notebook, got another text ({_cut(str(error))})") from None


def _check_metadata(cell):
    """Raise TypeError unless what the engine notes in the metadata of a cell has its form."""
    kept = cell.metadata.get("left_out", [])
    sound = isinstance(cell.metadata.get("words", ""), str) and isinstance(kept, list)
    for each in kept if sound else ():
        kinds = {name: type(value) for name, value in each.items()} if isinstance(each, dict) else {}
        sound &= kinds == {"after": int, "source": str, "tags": list} and all(isinstance(tag, str) for tag in each["tags"])
    if not sound:
        raise TypeError("metadata 'words' or 'left_out' of another form than 'python -m study papermill' gives them")


def code(path, notebook):
    """The Code of the notebook at path, held against the source that it has most cells in common with. Nothing is run."""
    source, original = _source(notebook)
    differences = tuple(_code_differences(notebook, original))
    lines = tuple(_own_lines(notebook, original))
    folder = Path(path).resolve().parent
    modules = [*folder.glob("*.py"), *folder.glob("*.so"), *folder.glob("*/__init__.py")]
    beside = tuple(sorted(each.relative_to(folder).as_posix() for each in modules))
    texts = tuple(_own_texts(notebook, original))
    counts = [cell.get("execution_count") for cell in notebook.cells if cell.cell_type == "code" and cell.source.strip()]
    lacking = sum(not count for count in counts)
    parameters = _parameters(notebook, original)
    seed = _seed(notebook, original)
    missing = tuple(_missing(notebook, original))
    return Code(source, parameters, differences, lines, beside, texts, len(counts), lacking, seed, missing)


def outputs(path, notebook, enclosure, *, timeout=None):
    """The Outputs of the notebook at path, run again in an Enclosure.

    It runs in a fresh kernel in its own folder, and the file is left as it is. Cells are counted from 1, text included.
    timeout: seconds for each cell. Raises CannotRun if a cell fails.
    """
    again = _executed_again(path, notebook, enclosure, timeout)
    has_values = any("words" in cell.metadata for cell in notebook.cells)
    differences = []
    own = []
    open_ = []
    equal = 0
    for index, (cell, other) in enumerate(zip_longest(notebook.cells, again)):
        if cell is None:
            differences += [] if not has_values else ["the list of statements that do not hold in this run is missing"]
            continue
        where = _place(notebook, index)
        if cell.cell_type != "code":
            is_open = "words" not in cell.metadata and not has_values and not _is_list(cell)
            if is_open and (other is None or "words" in other.metadata):
                open_.append((where, other))
            elif other is None:
                differences.append(f"{where}: the new run does not have it")
            elif found := _first_difference(cell.source.splitlines(), other.source.splitlines(), "again"):
                differences.append(f"{where}: {found}")
            continue
        found = _first_difference(_shown(cell), _shown(other), "again")
        pictures = [_picture_difference(*pair) for pair in zip_longest(_pictures(cell), _pictures(other))]
        found = [found, *(f"picture {number} {each}" for number, each in enumerate(pictures, start=1) if each)]
        differences += [f"{where}: {each}" for each in found if each]
        equal += pictures.count("")
        warned = _warned(other)
        if found := [line for kind, line in _warned(cell).items() if kind not in warned]:
            own.append(f"{where} on stderr, “{_cut(found[0])}”")
        if found := _other_pictures(cell) - _other_pictures(other):
            own.append(f"{where}, pictures that are no PNG ({', '.join(sorted(kind for kind, _ in found.elements()))})")
    return Outputs(tuple(differences), equal, tuple(own), tuple(_of_open_words(open_)))


def _of_open_words(cells):
    """Yield what is to be known of [(place, cell of the new run or None)], text cells whose values were not filled in."""
    if cells:
        yield f"Words without values, which 'python -m study papermill' fills in: {len(cells)} text cells."
    if false := [place for place, other in cells if other is None]:
        yield f"Of them, not true of this run or only of the published one: {', '.join(false)}."


def _executed_again(path, notebook, enclosure, timeout):
    """The cells of a new run at the places of the notebook's, None where it leaves one out; the list of statements that do
    not hold comes last where the notebook has none. Another process makes them of a copy without outputs."""
    copied = copy.deepcopy(notebook)
    for index, cell in enumerate(copied.cells):
        cell.metadata.place = index
        if cell.cell_type == "code":
            cell.update(outputs=[], execution_count=None)
        elif "words" in cell.metadata:
            cell.source = cell.metadata.pop("words")
    copied.cells = _with_left_out(copied)
    path = Path(path).resolve()
    with tempfile.TemporaryDirectory() as work:
        work = Path(work).resolve()
        nbformat.write(copied, work / "copy.ipynb")
        command = ["-m", "study.report.handin", work / "copy.ipynb", path.parent, timeout or ""]
        out, err, code = enclosure.run([str(each) for each in command], path, work / "copy.ipynb", work)
    started = None
    failed = ""
    for line in out.splitlines():
        kind, _, text = line.partition(" ")
        if kind == "done":
            return _placed(nbformat.reads(text, as_version=4), notebook)
        if kind == "text":
            raise CannotRun(json.loads(text))
        started, failed = (int(text), failed) if kind == "cell" else (started, json.loads(text))
    if started is None:
        last = (err.strip().splitlines() or ["it said nothing"])[-1]
        raise CannotRun(failed or f"the process that runs it did not start (exit code {code}): {_cut(last)}")
    place = next(cell.metadata.place for cell in copied.cells[started::-1] if "place" in cell.metadata)
    raise CannotRun(f"{_place(notebook, place)} fails: {failed or f'it ended the process that runs it (exit code {code})'}")


def _with_left_out(notebook):
    """The cells of a notebook without the list of statements that do not hold, with what was left out in its place."""
    cells = [cell for cell in notebook.cells if not _is_list(cell)]
    left_out = [each for cell in notebook.cells if _is_list(cell) for each in cell.metadata.get("left_out", ())]
    behind = [0, *(place for place, cell in enumerate(cells, start=1) if cell.cell_type == "code")]
    for each in reversed(left_out):
        cell = nbformat.v4.new_markdown_cell(each["source"], metadata={"tags": each["tags"]})
        if notebook.nbformat_minor < 5:
            del cell["id"]
        cells.insert(behind[min(each["after"], len(behind) - 1)], cell)
    return cells


def _placed(executed, notebook):
    """The cells of an executed copy at the places of the notebook's."""
    found = {cell.metadata.get("place"): cell for cell in executed.cells if not _is_list(cell)}
    listed = [cell for cell in executed.cells if _is_list(cell)]
    cells = []
    for index, cell in enumerate(notebook.cells):
        cells.append((listed.pop(0) if listed else None) if _is_list(cell) else found.get(index))
    return cells + listed


def main(path, folder, timeout):
    """Execute a notebook, whose kernel starts in folder. Written to stdout, a line each: the cells that start, then the
    executed notebook, or why the last cell or a text failed."""
    import papermill
    from nbclient.exceptions import CellTimeoutError, DeadKernelError
    from papermill.engines import papermill_engines
    from papermill.exceptions import PapermillExecutionError

    from study.report.engine import Engine, TextError

    papermill_engines.register("kp", Engine)
    # What the kernel writes by itself goes to stderr.
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as out:
        os.dup2(2, 1)
        try:
            executed = papermill.execute_notebook(
                nbformat.read(path, as_version=4),
                None,
                engine_name="kp",
                kernel_name="python3",
                cwd=folder,
                progress_bar=False,
                kernel_manager_class=OwnKernelManager,
                execution_timeout=int(timeout) if timeout else None,
                on_cell_start=lambda cell, cell_index: print("cell", cell_index, file=out, flush=True),
            )
            print("done", json.dumps(executed), file=out)
        except PapermillExecutionError as error:
            print("failed", json.dumps(f"{error.ename}: {error.evalue}"), file=out)
        except TextError as error:
            print("text", json.dumps(str(error)), file=out)
        except (CellTimeoutError, DeadKernelError) as error:
            print("failed", json.dumps(f"{type(error).__name__}: {error}"), file=out)


def _source(notebook):
    """(stem, notebook) of the project's source with which a notebook has most code cells in common; ("", None) if none."""
    own = set(_code(notebook).values())
    found = {}
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        source = nbformat.read(path, as_version=4)
        found[path.stem] = len(own & set(_code(source).values())), source
    stem = max(found, key=lambda stem: found[stem][0])
    return (stem, found[stem][1]) if found[stem][0] else ("", None)


def _code(notebook):
    """{index: source} of the code cells, without the one that papermill injects, which only gives values to names."""
    cells = {index: cell for index, cell in enumerate(notebook.cells) if cell.cell_type == "code" and cell.source.strip()}
    injected = _injected(notebook)
    return {index: cell.source for index, cell in cells.items() if index != injected}


def _injected(notebook):
    """The place of the cell that papermill injects, or None: it follows the parameters, and gives values to some of them
    alone."""
    for place, (before, cell) in enumerate(pairwise(notebook.cells), start=1):
        values = _assignments(cell.source) if "injected-parameters" in tags(cell) else None
        if values is not None and "parameters" in tags(before) and set(values) <= set(_assignments(before.source) or {}):
            return place
    return None


def _is_list(cell):
    """Whether it is the engine's list of statements that do not hold."""
    return cell.cell_type == "markdown" and LISTED in tags(cell) and cell.source.startswith(HEADING)


def _parameters(notebook, original):
    """A notebook's parameters, as "degree = 3, n_train = 200", where they were given or differ from the source."""
    given = _assigned(notebook, {"injected-parameters"})
    defaults = _assigned(original) if original else {}
    values = _assigned(notebook, names=defaults)
    return ", ".join(f"{name} = {value}" for name, value in values.items() if name in given or defaults.get(name) != value)


def _seed(notebook, original):
    """The value of random_state, of the parameter that it names, or of mine, where the source has one of them, else ""."""
    defaults = _assigned(original) if original else {}
    values = {**defaults, **_assigned(notebook, names=defaults)}
    seed = values.get("random_state", values.get("mine", ""))
    return values.get(seed.strip("'"), seed)


def _assigned(notebook, kinds=frozenset({"parameters", "injected-parameters"}), names=()):
    """{name: value as code} of the cells of parameters, the injected one last: cells with one of the tags, and cells that
    give values to some of `names` and do nothing else."""
    found = {}
    for cell in notebook.cells:
        if cell.cell_type == "code" and kinds & set(tags(cell)):
            for line in _statements(cell.source):
                found |= _assignments(line) or {}
        elif cell.cell_type == "code" and set(values := _assignments(cell.source) or {}) <= set(names):
            found |= values
    return found


def _statements(source):
    """The statements of a cell, each as code; none of one that is no Python."""
    try:
        return [ast.unparse(each) for each in ast.parse(source).body]
    except SyntaxError:
        return []


def _assignments(source):
    """{name: value as code} of a cell that assigns literals and does nothing else; None of any other."""
    try:
        statements = ast.parse(source).body
        names = [getattr(each, "targets", None) or [each.target] for each in statements]
        for each in statements:
            ast.literal_eval(each.value)
        return {name.id: ast.unparse(each.value) for (name,), each in zip(names, statements, strict=True)}
    except (SyntaxError, ValueError, AttributeError):
        return None


def _code_differences(notebook, original):
    """Yield the differences of the code cells; cells that assign other values to the source's parameters do not."""
    if original is None:
        return
    ours, theirs = (_without_values(each) for each in (notebook, original))
    places = list(ours)
    sources = list(theirs.values())
    matcher = difflib.SequenceMatcher(None, list(ours.values()), sources, autojunk=False)
    for _, a, b, c, d in (code for code in matcher.get_opcodes() if code[0] != "equal"):
        for place, source in zip_longest(places[a:b], sources[c:d]):
            if source is None:
                yield f"{_place(notebook, place)} is not in the source"
            elif place is None:
                yield f"a cell of the source is missing ({_cut(source.splitlines()[0])})"
            else:
                found = _first_difference(ours[place].splitlines(), source.splitlines(), "in the source")
                yield f"{_place(notebook, place)} is changed: {found}"


def _own_lines(notebook, original):
    """Yield the lines of the code cells that the source has not in this place, under the number of their cell."""
    ours = _without_values(notebook)
    theirs = [line for source in (_without_values(original).values() if original else ()) for line in source.splitlines()]
    lines = [(index, line) for index, source in ours.items() for line in source.splitlines()]
    matcher = difflib.SequenceMatcher(None, [line for _, line in lines], theirs, autojunk=False)
    last = None
    for kind, a, b, _, _ in matcher.get_opcodes():
        for index, line in lines[a:b] if kind != "equal" else ():
            if index != last:
                yield f"cell {index + 1}:"
            last = index
            yield f"    {_visible(line)}"


def _own_texts(notebook, original):
    """Yield the text cells, raw ones too, that the source lacks or has with other tags or elsewhere."""
    theirs = _texts(original)
    known = set(theirs.values())
    for index, cell in enumerate(notebook.cells):
        if cell.cell_type == "code" or not cell.source.strip():
            continue
        if _is_list(cell):
            for each in _listed(cell) - known:
                yield f"{_place(notebook, index)}, in which stands “{_cut(each[0])}”"
        elif cell.cell_type == "raw" or _said(cell) not in known:
            yield _place(notebook, index)
    theirs |= _without_values(original) if original else {}
    counts = Counter(theirs.values())
    places = {each: place for place, each in theirs.items() if counts[each] == 1}
    ours = _texts(notebook) | _without_values(notebook)
    found = [(index, places[ours[index]]) for index in sorted(ours) if ours[index] in places]
    for (first, before), (index, place) in pairwise(found):
        moved = [each for each in (index, first) if notebook.cells[each].cell_type == "markdown"]
        if place < before and moved:
            yield f"{_place(notebook, moved[0])}, which the source has elsewhere"


def _missing(notebook, original):
    """Yield the text cells of the source that a notebook neither has nor lists as false. Texts with the tag "published" need
    not be there."""
    has = {text for text, _ in _texts(notebook).values()}
    listed = {text for cell in notebook.cells if _is_list(cell) for text, _ in _listed(cell)}
    for text, kinds in _texts(original).values():
        if text not in has | listed and "published" not in kinds:
            yield _cut(text.splitlines()[0])


def _texts(notebook):
    """{place: (text, its tags)} of the text cells of a notebook, without values."""
    cells = enumerate(notebook.cells if notebook else ())
    return {index: _said(cell) for index, cell in cells if cell.cell_type == "markdown" and _said(cell)[0].strip()}


def _said(cell):
    return cell.metadata.get("words", cell.source), frozenset(tags(cell))


def _listed(cell):
    """{(text, its tags)} of what a list of statements stands for."""
    return {(each["source"], frozenset(each["tags"])) for each in cell.metadata.get("left_out", ())}


def _without_values(notebook):
    """`_code` where the cell of parameters stands for the names that it assigns."""
    code = _code(notebook)
    for index in code:
        if "parameters" in tags(notebook.cells[index]) and (values := _assignments(code[index])):
            code[index] = "parameters: " + ", ".join(values)
    return code


def _shown(cell):
    """The lines that a cell shows: of all texts, without pictures, stderr and addresses in memory."""
    texts = []
    for output in cell.outputs:
        if output.output_type == "stream":
            texts += [output.text] if output.name == "stdout" else []
        elif output.output_type == "error":
            texts.append(f"{output.ename}: {output.evalue}")
        else:
            for kind, value in sorted(output.data.items()):
                texts += [] if kind.startswith("image/") else [str(value), *([] if kind == "text/plain" else [f"({kind})"])]
    return [ADDRESS.sub("0x", line.rstrip()) for text in texts for line in text.splitlines()]


def _first_difference(lines, others, where):
    """The first line that differs, both ways; "" if none does. `where` the others stand."""
    for line, other in zip_longest(lines, others):
        if line != other:
            return f"“{_cut(line)}”, {where} “{_cut(other)}”"
    return ""


def _warned(cell):
    """{kind: line} of the lines that a cell writes to stderr. Those of a kind differ in numbers alone, as times do."""
    texts = [output.text for output in cell.outputs if output.output_type == "stream" and output.name == "stderr"]
    return {re.sub(r"\d+", "0", ADDRESS.sub("0x", line.rstrip())): line for text in texts for line in text.splitlines()}


def _other_pictures(cell):
    """The pictures that a cell shows in other forms than PNG, counted: (form, content)."""
    found = [each for output in cell.outputs for each in output.get("data", {}).items()]
    return Counter((kind, str(data)) for kind, data in found if kind.startswith("image/") and kind != "image/png")


def _pictures(cell):
    """The pictures that a cell shows as PNG, as text."""
    return [output.data["image/png"] for output in cell.outputs if "image/png" in output.get("data", {})]


def _picture_difference(picture, again):
    """Return how a picture differs from that of the new run; "" if all pixels are equal."""
    if picture is None or again is None:
        return "is missing" if picture is None else "does not come out again"
    try:
        ours = _pixels(picture)
        theirs = _pixels(again)
    except Exception as error:  # a file that is no picture can fail in a dozen ways
        return f"must be a PNG, got {type(error).__name__}"
    if ours.shape != theirs.shape:
        return f"has {ours.shape[1]} x {ours.shape[0]} pixels, again {theirs.shape[1]} x {theirs.shape[0]}"
    differ = int((ours != theirs).any(axis=-1).sum())
    return f"differs in {differ:,} of {ours.shape[0] * ours.shape[1]:,} pixels" if differ else ""


def _pixels(picture):
    from PIL import Image

    with Image.open(io.BytesIO(base64.b64decode(picture)), formats=["PNG"]) as image:
        return np.asarray(image.convert("RGBA"))


def _cut(line):
    """A line as a finding shows it: of a long one the start."""
    if line is None:
        return "nothing"
    return _visible(line if len(line) <= SHOWN else f"{line[:SHOWN]}…")


def _visible(text):
    """A text whose signs are all seen: a terminal obeys some that are not. Blanks that do not break are blanks."""
    text = text.replace("\N{NO-BREAK SPACE}", " ")
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)


def _place(notebook, index):
    first, *_ = notebook.cells[index].source.strip().splitlines() or ["empty"]
    return f"cell {index + 1} ({_cut(first)})"


if __name__ == "__main__":
    main(*sys.argv[1:])
