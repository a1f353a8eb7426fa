"""Compares the code and text of a notebook that was handed in with its source, before anything of it is run.

A program can print anything: that its numbers are reproduced is evidence only if its code is the project's, or was read. So
every line that can be executed and is not the project's is shown.
"""

import ast
import difflib
import functools
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise, zip_longest

import nbformat
from IPython.core.inputtransformer2 import TransformerManager

from study import ROOT, chapters
from study.report.engine import tags
from study.report.expressions import EXPRESSION, HEAD
from study.report.hand_in import cut, first_difference, is_list, items, named, visible
from study.report.notebooks import LINKS

LITERAL = (ast.Constant, ast.List, ast.Tuple, ast.Set, ast.Dict, ast.UnaryOp, ast.USub, ast.UAdd, ast.expr_context)
"""Parts of a literal."""


@dataclass(frozen=True)
class Code:
    """Facts known without running a notebook.

    source is the stem of the project's notebook that it is a run of, or ""; parameters are its values that were given or
    differ from the defaults, as text; differences are those of its code from the source; lines are its lines of code that
    the source lacks; texts are its text cells that the source lacks, or has after other code; missing are the text cells of
    the source that it neither has nor lists as false; cells counts its code cells, without_result the ones not executed;
    seed is "" if the source has none.
    """

    source: str
    parameters: str
    differences: tuple[str, ...]
    lines: tuple[str, ...]
    texts: tuple[str, ...]
    missing: tuple[str, ...]
    cells: int
    without_result: int
    seed: str

    @property
    def executed(self):
        return self.cells > 0 and not self.without_result

    @property
    def lack(self):
        """The cells without results, and the remedy, as words."""
        if not self.cells:
            return "it has no code"
        return (
            f"{self.without_result} of its {self.cells} code cells have no result; run the whole notebook with "
            "'python -m study papermill FILE.ipynb EXECUTED.ipynb'"
        )

    @property
    def is_the_projects(self):
        """Whether code and text are the project's, except for the values of parameters."""
        return bool(self.source) and not (self.differences or self.texts or self.missing)

    def __str__(self):
        of = f"a run of notebooks/{self.source}.ipynb" if self.source else "not a run of a notebook of this project"
        found = [f"{of}, with {self.parameters or 'the default parameters'}."]
        if self.source and not self.differences:
            found.append("Its code is the project's.")
        if self.differences:
            found += ["Its code differs from the source:", *items(self.differences)]
        if self.lines:
            found += ["All lines of code that are not in the source:", *self.lines]
        if self.texts:
            found += ["Text cells that are not in the source, or not in this place:", *items(self.texts)]
        if self.missing:
            found += ["Text cells of the source that are missing:", *items(self.missing)]
        if not self.executed:
            found.append(f"Not executed: {self.lack}.")
        return "\n".join(found)


def code(notebook):
    """The Code of a notebook, compared with the source that it shares most cells with. Nothing is run."""
    source, original = _source(notebook)
    counts = [cell.execution_count for cell in notebook.cells if cell.cell_type == "code" and cell.source.strip()]
    own_texts = _own_texts(notebook, original)
    return Code(
        source,
        _parameters(notebook, original),
        tuple(_code_differences(notebook, original)),
        (*_own_lines(notebook, original), *_own_expressions(own_texts)),
        (*(_named_text(notebook, place, text) for place, text in own_texts), *_moved(notebook, original)),
        tuple(_missing(notebook, original)),
        len(counts),
        sum(not count for count in counts),
        _seed(notebook, original),
    )


# Code.


@functools.cache
def _sources(folder):
    """{stem: notebook} of the project's sources."""
    return {path.stem: nbformat.read(path, as_version=4) for path in sorted(folder.glob("*.ipynb"))}


def _source(notebook):
    """(stem, notebook) of the source with which a notebook has most code cells in common; ("", None) if there is none."""
    own = set(_code(notebook).values())
    found = _sources(ROOT / "notebooks")
    common = {stem: len(own & set(_code(source).values())) for stem, source in found.items()}
    stem = max(common, key=common.get)
    return (stem, found[stem]) if common[stem] else ("", None)


def _code(notebook):
    """{place: source} of the code cells, without the one that papermill injects, which only gives values to parameters. The
    cell of parameters stands for the names that it assigns, if it does nothing else."""
    found = {}
    for place, cell in enumerate(notebook.cells if notebook else ()):
        if cell.cell_type != "code" or not cell.source.strip() or _is_injected(notebook, place):
            continue
        values, alone = _literals(cell.source) if "parameters" in tags(cell) else ({}, False)
        found[place] = "parameters: " + ", ".join(values) if values and alone else cell.source
    return found


def _is_injected(notebook, place):
    """Whether a cell is the one that papermill injects: right after the parameters, it gives values to some of them."""
    cell, before = notebook.cells[place], notebook.cells[place - 1]
    if not place or "injected-parameters" not in tags(cell) or "parameters" not in tags(before):
        return False
    values, alone = _literals(cell.source)
    return alone and values.keys() <= _literals(before.source)[0].keys()


def _literals(source):
    """({name: value as code} of the literals that a cell assigns to names, whether it does nothing else).

    An assignment may have no annotation, no operator and no other targets than names. What counts is the code that IPython
    makes of the cell; it takes more characters for the end of a line than Python does, so these are refused.
    """
    if source.splitlines() != source.rstrip("\n").split("\n"):
        return {}, False
    try:
        statements = ast.parse(TransformerManager().transform_cell(source)).body
    except Exception:  # the code of a stranger can fail in a dozen ways
        return {}, False
    found = {}
    alone = True
    for each in statements:
        if isinstance(each, ast.Assign) and all(isinstance(target, ast.Name) for target in each.targets):
            if all(isinstance(node, LITERAL) for node in ast.walk(each.value)):
                found |= {target.id: ast.unparse(each.value) for target in each.targets}
                continue
        alone = False
    return found, alone


def _parameters(notebook, original):
    """A notebook's parameters, as "degree = 3, n_train = 200", if they were given or differ from the source."""
    given = _assigned(notebook, {"injected-parameters"})
    defaults = _assigned(original)
    values = _assigned(notebook, names=defaults)
    return ", ".join(f"{name} = {value}" for name, value in values.items() if name in given or defaults.get(name) != value)


def _seed(notebook, original):
    """The value of random_state, of the parameter that it names, or of mine, if the source has one of them and the notebook
    gives it a literal, else ""."""
    values = _assigned(notebook, names=_assigned(original))
    seed = values.get("random_state", values.get("mine", ""))
    return values.get(seed.strip("'"), seed)


def _assigned(notebook, kinds=frozenset({"parameters", "injected-parameters"}), names=()):
    """{name: value as code} of the cells of parameters, the injected one last: cells with one of the tags, and cells that
    give values to some of `names` and do nothing else."""
    found = {}
    for cell in notebook.cells if notebook else ():
        if cell.cell_type == "code":
            values, alone = _literals(cell.source)
            found |= values if kinds & set(tags(cell)) or (alone and set(values) <= set(names)) else {}
    return found


def _code_differences(notebook, original):
    """Yield the differences of the code cells; other values of the source's parameters are none."""
    if original is None:
        return
    ours, theirs = _code(notebook), list(_code(original).values())
    places = list(ours)
    matcher = difflib.SequenceMatcher(None, list(ours.values()), theirs, autojunk=False)
    for _, a, b, c, d in (code for code in matcher.get_opcodes() if code[0] != "equal"):
        for place, source in zip_longest(places[a:b], theirs[c:d]):
            if source is None:
                yield f"{named(notebook, place)} is not in the source"
            elif place is None:
                yield f"a cell of the source is missing ({cut(source.splitlines()[0])})"
            else:
                found = first_difference(ours[place].splitlines(), source.splitlines(), "the source has")
                yield f"{named(notebook, place)} is changed: {found}"


def _own_lines(notebook, original):
    """Yield the lines of the code cells that the source does not have in this place, under the number of their cell."""
    theirs = [line for source in _code(original).values() for line in source.splitlines()]
    lines = [(place, line) for place, source in _code(notebook).items() for line in source.splitlines()]
    matcher = difflib.SequenceMatcher(None, [line for _, line in lines], theirs, autojunk=False)
    own = [each for kind, a, b, _, _ in matcher.get_opcodes() if kind != "equal" for each in lines[a:b]]
    for (last, _), (place, line) in pairwise([(None, ""), *own]):
        if place != last:
            yield f"cell {place + 1}:"
        yield f"    {visible(line)}"


# Texts.


def _own_texts(notebook, original):
    """[(place, text)] of the text cells that the source lacks or has with other tags, and of what a list of statements
    stands for."""
    known = set(_texts(original).values())
    found = []
    for place, cell in enumerate(notebook.cells):
        if is_list(cell):
            found += [(place, text) for text, kinds in _listed(cell) if (text, kinds) not in known]
        elif cell.cell_type != "code" and cell.source.strip() and _said(cell) not in known and not _is_links(cell):
            found.append((place, _said(cell)[0]))
    return found


def _moved(notebook, original):
    """Yield the text cells that the source has after other code, as a caption below another table, and those that stand more
    often than there. Code that only one of the two has does not count: it is named as a difference of the code."""
    common = set(_code(notebook).values()) & set(_code(original).values())
    left = Counter((text, code) for _, text, code in _after(original, common))
    known = {text for text, _ in left}
    for place, text, code in _after(notebook, common):
        left[text, code] -= 1
        if text in known and left[text, code] < 0:
            yield f"{named(notebook, place)}, which the source has elsewhere"


def _after(notebook, common):
    """Yield (place, (text, its tags), the last code before it, of that in common) of the text cells of a notebook."""
    codes, texts = _code(notebook), _texts(notebook)
    last = None
    for place in sorted({*codes, *texts}):
        if place in texts:
            yield place, texts[place], last
        elif codes[place] in common:
            last = codes[place]


def _is_links(cell):
    """Whether a cell is the line of links that the project puts at the head of its executed notebooks."""
    if tags(cell) != [LINKS]:
        return False
    plans = [(each, profile) for profile in chapters.PROFILES for each in chapters.chapters(profile)]
    return any(cell.source == chapters.links(*each) for each in plans)


def _named_text(notebook, place, text):
    inside = f", which contains “{cut(text)}”" if is_list(notebook.cells[place]) else ""
    return named(notebook, place) + inside


def _own_expressions(own_texts):
    """Yield the conditions and expressions of the author's own texts, which are executed as code is, under their cell."""
    for place, text in own_texts:
        head = HEAD.match(text)
        if own := [*(head[1].splitlines() if head else ()), *EXPRESSION.findall(text)]:
            yield f"cell {place + 1}, in its text:"
            yield from (f"    {visible(each)}" for each in own)


def _missing(notebook, original):
    """Yield the text cells of the source that a notebook neither has nor lists as false. Texts with the tag "published" need
    not be there."""
    has = {text for text, _ in _texts(notebook).values()}
    has |= {text for cell in notebook.cells if is_list(cell) for text, _ in _listed(cell)}
    for text, kinds in _texts(original).values():
        if text not in has and "published" not in kinds:
            yield cut(HEAD.sub("", text).splitlines()[0])


def _texts(notebook):
    """{place: (text, its tags)} of the text cells of a notebook, without values."""
    cells = enumerate(notebook.cells if notebook else ())
    return {place: _said(cell) for place, cell in cells if cell.cell_type == "markdown" and cell.source.strip()}


def _said(cell):
    return cell.metadata.get("words", cell.source), frozenset(tags(cell))


def _listed(cell):
    """{(text, its tags)} of what a list of statements stands for."""
    return {(each["source"], frozenset(each["tags"])) for each in cell.metadata.get("left_out", ())}
