"""Output of notebook cells: figures and tables, each once, with the same bytes on every run; and which outcomes hold.

Words are not shown here: they stand in cells of text, the caption of a figure or a table in the one after it
(study.report.engine). Figures and tables are numbered in each notebook as they come; a document that is made of several puts
its chapter's number in front (study.report.document).
"""

import ast
import contextlib
import hashlib
import inspect
import io
import json
import numbers
import re
import textwrap
from dataclasses import dataclass

import numpy as np
import pandas as pd
from IPython import get_ipython
from IPython.display import display

from study import ROOT, chapters
from study.results import store
from study.style import SETS

PIXELS_PER_INCH = 200
SCREEN_PIXELS_PER_INCH = 100
LONGEST_RUN_NAME = 60
MINUS = re.compile(r"\$[^$]*\$|`[^`]*`|(?<=[\s([])-(?=\d)|(?<=\w )-(?= \d)")
"""Formulas, code, and the hyphens that stand for a minus sign."""


def open_chapter(source, namespace):
    """The chapter that a notebook makes: call it right after the parameters, with the stem of the notebook and globals().

    Raises ValueError if the namespace holds a plain value that is none of the notebook's parameters: papermill passes a
    mistyped name on with a warning only. Constants (in capitals) and names that begin with an underscore do not count. It is
    raised, too, if a parameter is missing, or another value of it is in force than papermill was given: both happen where
    the cell with the defaults has lost its tag or is gone. What values may be is said by the settings of the experiments
    that they go into.
    """
    notebook = Source.read(source)
    defaults = notebook.parameters
    if missing := sorted(set(defaults) - set(namespace)):
        raise ValueError(
            f"the cell with the tag 'parameters' is missing, which sets {', '.join(missing)}; copy it from "
            f"notebooks/{source}.ipynb"
        )
    for name, value in _injected(namespace.get("In", ())).items():
        if name in defaults and value != namespace[name]:
            raise ValueError(
                f"parameters: {name} was given as {value!r}, and a cell below sets it to {namespace[name]!r}; give the tag "
                f"'parameters' to the cell with the defaults, as in notebooks/{source}.ipynb, and no other cell sets it"
            )
    plain = (bool, int, float, str, bytes, list, tuple, dict, set, type(None))
    found = {name for name, value in namespace.items() if isinstance(value, plain) and name[0] != "_" and not name.isupper()}
    if unknown := sorted(found - {"In", "Out"} - set(defaults) - notebook.before):
        raise ValueError(f"parameters must be among {', '.join(defaults)}, got {', '.join(unknown)}; correct the name")
    values = {name: namespace[name] for name in defaults}
    plan = chapters.of_notebook(source, values)
    folder = values.pop("figures_folder", "")
    planned = {} if plan is None else {"quick": plan.quick, "full": plan.full}
    same = [profile for profile, given in planned.items() if given is not None and not _others(values, defaults | given)]
    _show_plain_numbers()
    name = plan.name if same else source + _run_name(_others(values, defaults))
    return OpenChapter(notebook, name, "full" in same, folder)


def _injected(cells):
    """{name: value} that papermill has put into the notebook, as far as they are literals; cells: all that were executed."""
    given = [ast.parse(cell).body for cell in cells if cell.startswith("# Parameters\n")]
    found = {}
    for statement in given[-1] if given else ():
        with contextlib.suppress(ValueError, AttributeError):
            found[statement.targets[0].id] = ast.literal_eval(statement.value)
    return found


def _others(values, defaults):
    return {name: value for name, value in values.items() if value != defaults[name]}


def _run_name(values):
    """The parameters of a run as a part of a file's name, "-n_train_20-random_state_8"; long or odd ones have a hash."""
    text = "".join(f"-{name}_{value}" for name, value in values.items())
    safe = re.sub(r"[^\w.-]+", "_", text, flags=re.ASCII)[:LONGEST_RUN_NAME]
    return text if safe == text else f"{safe}-{hashlib.sha256(text.encode()).hexdigest()[:6]}"


def _show_plain_numbers():
    """Values of NumPy show as those of Python, "12" and not "np.int64(12)": in JupyterLab they stand in sentences."""
    shell = get_ipython()
    if shell is not None:
        formatter = shell.display_formatter.formatters["text/plain"]
        for kind in set(np.sctypeDict.values()):
            formatter.for_type(kind, lambda value, printer, cycle: printer.text(repr(value.item())))


@dataclass(frozen=True)
class Source:
    """Facts of a source notebook that are known before it is run.

    parameters : {name: default} in their order; before : names that are assigned in code above the parameters; figures,
    tables : the names that it shows, in order; statements : the names of the outcomes in its text.
    """

    parameters: dict
    before: set
    figures: tuple
    tables: tuple
    statements: frozenset

    @classmethod
    def read(cls, source):
        """That of notebooks/<source>.ipynb."""
        # Plain JSON: the reader of notebooks takes longer to import than some of them to run.
        cells = json.loads((ROOT / "notebooks" / f"{source}.ipynb").read_text(encoding="utf-8"))["cells"]
        tags = [cell["metadata"].get("tags", []) for cell in cells]
        code = [ast.parse("".join(cell["source"])) if cell["cell_type"] == "code" else ast.Module([], []) for cell in cells]
        (place,) = (index for index, each in enumerate(tags) if "parameters" in each)
        assigned = [
            (target.id, ast.literal_eval(statement.value))
            for statement in code[place].body
            for target in getattr(statement, "targets", None) or [statement.target]
        ]
        stored = {
            node.id
            for tree in code[:place]
            for node in ast.walk(tree)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        }
        shown = {kind: tuple(_shown(code, kind)) for kind in ("figure", "table")}
        statements = frozenset(tag.partition(":")[2] for each in tags for tag in each if tag.startswith("holds:"))
        return cls(dict(assigned), stored, shown["figure"], shown["table"], statements)


def _shown(code, kind):
    """The names of chapter.figure("name", ...) or chapter.table("name", ...), in order."""
    for tree in code:
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == f"chapter.{kind}":
                yield ast.literal_eval(node.args[0])


class OpenChapter:
    """Shows the figures and tables of a notebook under their numbers, and knows which of its statements hold.

    published says whether this run is that of the published study. folder is where figures are saved, relative to the
    project; "" saves none. shown is the label of the last figure or table.
    """

    def __init__(self, source, name, published, folder=""):
        self.source = source
        self.name = name
        self.published = published
        self.folder = folder
        self.shown = ""
        self._more = {"Figure": [], "Table": []}
        self._kept = {}

    def label(self, name):
        """Return the label of a figure or table of this notebook by its name, for the text, as "Figure 2".

        Its blank is one that does not break, so that documents know a label from the words of a source.
        """
        for kind, names in (("Figure", self.source.figures), ("Table", self.source.tables)):
            names = [*names, *self._more[kind]]
            if name in names:
                return f"{kind}\N{NO-BREAK SPACE}{names.index(name) + 1}"
        raise ValueError(
            f"the notebook shows the figures {', '.join(self.source.figures)} and the tables "
            f"{', '.join(self.source.tables)}, got {name!r}; correct the name"
        )

    def holds(self, name, condition):
        """Say whether the statement of this name, in a text cell with the tag holds:NAME, is true in this run.

        Raises ValueError if no text has the tag, and in the published run if the condition is false.
        """
        if name not in self.source.statements:
            raise ValueError(f"expected a text cell with the tag holds:{name}, got none; add the sentence")
        self._kept[name] = bool(condition)
        if self.published and not condition:
            raise ValueError(
                f"the statement {name!r} does not hold in the published run; read the table above it, rewrite the sentence"
            )

    def is_kept(self, name):
        """Whether the statement of this name holds; KeyError if no code has said."""
        if name not in self._kept:
            raise KeyError(f"no code above says chapter.holds({name!r}, ...)")
        return self._kept[name]

    def figure(self, name, fig):
        """Display a figure once, and close it; its caption stands in the text cell that follows.

        fig is a matplotlib Figure. Where the chapter has a folder, it is saved there as <chapter>-<name>.svg, with the
        label, the function that drew it and the chapter in its metadata. The chapter of a run that is not in the plan is
        the source with the parameters that differ from its defaults.
        """
        import matplotlib.pyplot as plt

        self.shown = self._shown_as(name, "Figure")
        stem = f"{self.name}-{name}"
        facts = {"Title": f"{self.shown} ({stem})", "Source": getattr(fig, "drawn_by", "")}
        png = _picture(fig, "png", facts)
        if self.folder:
            kinds = ["svg", "png"] if self.name == "front" else ["svg"]
            for kind in kinds:
                content = png if kind == "png" else _picture(fig, kind, facts)
                store.write(ROOT / self.folder / f"{stem}.{kind}", content)
        plt.close(fig)
        width = round(fig.get_figwidth() * SCREEN_PIXELS_PER_INCH)
        about = {"alt": self.shown, "width": width} | ({"file": f"{self.folder}/{stem}"} if self.folder else {})
        display({"image/png": png, "text/plain": self.shown}, raw=True, metadata={"image/png": about})

    def _shown_as(self, name, kind):
        """The label of the next figure or table; names that the source does not have are numbered after its own."""
        known = {"Figure": self.source.figures, "Table": self.source.tables}[kind]
        if name not in known and name not in self._more[kind]:
            self._more[kind].append(name)
        return self.label(name)

    def table(self, name, frame, *, formats=None):
        """Display a data frame as a Markdown table; the index is not shown, and the caption stands in the text that follows.

        formats maps column names to a format specification (".2%") or a function of the value. Without one, floats have
        four significant digits, and thousands a comma; missing values are left empty. Numbers are aligned right, text left.
        Raises ValueError if formats names a column that frame lacks.
        """
        formats = formats or {}
        if unknown := sorted(set(formats) - set(frame.columns)):
            raise ValueError(f"formats must name columns of the table, {list(frame.columns)}, got {unknown}")
        shown = {column: [_cell(value, formats.get(column)) for value in frame[column]] for column in frame.columns}
        numeric = [pd.api.types.is_numeric_dtype(frame[column]) for column in frame.columns]
        lines = [
            _row(frame.columns.map(_text)),
            _row("--:" if right else ":--" for right in numeric),
            *map(_row, zip(*shown.values(), strict=True)),
        ]
        self.shown = self._shown_as(name, "Table")
        _show_markdown("\n".join(lines))


def show_source(function):
    """Display the source of a function, as code, without its decorators."""
    source = inspect.getsource(function)
    _display(f"```python\n{textwrap.dedent(source[source.index('def ') :]).rstrip()}\n```")


def _show_markdown(text):
    """Display a table; data sets have their names, and numbers a space before % and a minus sign."""
    for name, words in SETS.items():
        text = text.replace(name, words)
    text = re.sub(r"(?<=\d)%", " %", text)
    _display(MINUS.sub(lambda found: "−" if found[0] == "-" else found[0], text))


def _display(text):
    display({"text/markdown": text, "text/plain": text}, raw=True)


def _picture(fig, kind, facts):
    """Bytes of the figure as "png" or "svg", with facts but without date or software version."""
    import matplotlib as mpl

    nothing = {"png": {"Software": None}, "svg": {"Date": None, "Creator": None}}[kind]
    file = io.BytesIO()
    with mpl.rc_context({"svg.hashsalt": "kp"}):
        fig.savefig(file, format=kind, dpi=PIXELS_PER_INCH, metadata={**nothing, **facts})
    return file.getvalue()


def _cell(value, how):
    if pd.isna(value):
        return ""
    if callable(how):
        return _text(how(value))
    return _text(format(value, how or (",.4g" if isinstance(value, float) else "," if _is_integer(value) else "")))


def _is_integer(value):
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def _text(value):
    """A value as a cell of a Markdown table: in one line, and with bars that end no cell."""
    return re.sub(r"(\\*)\|", r"\1\1\\|", " ".join(str(value).splitlines()))


def _row(cells):
    return f"| {' | '.join(cells)} |"
