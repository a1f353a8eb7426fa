"""Output of notebook cells: what a notebook's kernel makes of figures and tables, with the same bytes on every run.

A figure or a table is the last expression of its cell. The text cell below it, with the tag caption:NAME, names it: then it
has its number, and a figure its file (study.report.engine). They are numbered in each notebook as they come; a document that
is made of several puts its chapter's number in front (study.report.document).
"""

import ast
import contextlib
import hashlib
import inspect
import io
import numbers
import re
import textwrap

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from IPython import get_ipython
from IPython.display import display
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from study import ROOT, chapters
from study.report.references import addressed
from study.report.source import HEAD_SPACE, Source
from study.results import store
from study.style import SETS

PIXELS_PER_INCH = 200
SCREEN_PIXELS_PER_INCH = 100
LONGEST_RUN_NAME = 60
MINUS = re.compile(r"\$[^$]*\$|`[^`]*`|(?<=[\s([])-(?=\d)|(?<=\w )-(?= \d)")
"""Formulas, code, and the hyphens that stand for a minus sign."""
TOGETHER = re.compile(r"\$[^$]*\$|`[^`]*`| [|=] | (?=\(\d+\))")
"""Formulas, code, and where no line of a cell breaks: in "1 | 2", "T = 1", and before a count, "average (20)"."""


def open_chapter(source, namespace):
    """Let a notebook show figures and tables as those of the study: call it right after the parameters, with the stem of the
    notebook and globals(). Raises ValueError as `chapter` does."""
    opened = chapter(source, namespace)
    if shell := get_ipython():
        opened.enter(shell)


def chapter(source, namespace):
    """The chapter that a notebook of this stem makes with the parameters in this namespace.

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
                f"'parameters' to the cell with the defaults, as in notebooks/{source}.ipynb, and set it in no other cell"
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


class OpenChapter:
    """The figures and tables of a running notebook, their numbers and files.

    published says whether this run is that of the published study. folder is where figures are saved, relative to the
    project; "" saves none. last is the figure or the table that the cell which ran last has shown, or None.
    """

    def __init__(self, source, name, published, folder=""):
        self.source = source
        self.name = name
        self.published = published
        self.folder = folder
        self.last = None
        self._more = {"Figure": [], "Table": []}

    def enter(self, shell):
        """Let IPython's shell show figures and tables so from now on, and answer for this chapter.

        Values of NumPy show as those of Python, "12" and not "np.int64(12)": in JupyterLab they stand in sentences.
        """
        shell.chapter = self
        formatters = shell.display_formatter.formatters
        for kind in set(np.sctypeDict.values()):
            formatters["text/plain"].for_type(kind, lambda value, printer, cycle: printer.text(repr(value.item())))
        formatters["text/markdown"].for_type(pd.DataFrame, self._markdown)
        formatters["text/html"].for_type(pd.DataFrame, lambda frame: None if _has_formats(frame) else frame._repr_html_())

        def before_cell(_=None):
            self.last = None
            formatters["image/png"].for_type(Figure, self._png)

        plt.switch_backend(mpl.get_backend())  # the inline backend puts a formatter of its own there when it is loaded
        before_cell()
        shell.events.register("pre_run_cell", before_cell)

    def label(self, name):
        """Return the label of a figure or table of this notebook by its name, for the text, as "Figure 2".

        Its blank is one that does not break, so that documents know a label from the words of a source.
        """
        for kind in ("Figure", "Table"):
            names = [*self.source.names(kind), *self._more[kind]]
            if name in names:
                return f"{kind}\N{NO-BREAK SPACE}{names.index(name) + 1}"
        raise ValueError(
            f"the notebook shows the figures {', '.join(self.source.names('Figure'))} and the tables "
            f"{', '.join(self.source.names('Table'))}, got {name!r}; correct the name"
        )

    def named(self, name):
        """Give a name to what the last cell has shown. Returns its label, and what its output becomes.

        A figure is saved as <chapter>-<name>.svg where the chapter has a folder, with the label, the function that drew it
        and the chapter in its metadata; its output gets other metadata. A table becomes one in Markdown. Names that the
        source does not have are numbered after its own. Returns ("", {}) if the last cell has shown neither. Raises
        ValueError if it has shown a table where the source has a figure, or the reverse.
        """
        if self.last is None:
            return "", {}
        kind = "Figure" if isinstance(self.last, Figure) else "Table"
        if name not in self.source.captions and name not in self._more[kind]:
            self._more[kind].append(name)
        label = self.label(name)
        if not label.startswith(kind):
            raise ValueError(
                f"caption:{name}: the cell above must show a {label.split()[0].lower()}, got a {kind.lower()}; let a call "
                "of a function figure_NAME make each figure, and nothing else"
            )
        if kind == "Table":
            return label, {"text/markdown": markdown(self.last)}
        return label, {"image/png": {"alt": label} | self._saved(self.last, name, label)}

    def _saved(self, fig, name, label):
        """Save a figure, if the chapter has a folder; returns {"file": its path without the ending}, or {}."""
        if not self.folder:
            return {}
        stem = f"{self.name}-{name}"
        for kind in ["svg", "png"] if self.name == "front" else ["svg"]:
            picture = _picture(fig, kind, Title=f"{label} ({stem})", Source=self._drawn_by(fig))
            store.write(ROOT / self.folder / f"{stem}.{kind}", picture)
        return {"file": f"{self.folder}/{stem}"}

    def _drawn_by(self, fig):
        """The function that drew a figure, or the notebook, if a cell did so itself."""
        return getattr(fig, "drawn_by", f"notebooks/{self.name}.ipynb")

    def _png(self, fig):
        """The picture of a figure, with its width on the screen. It is closed, so that nothing else shows it."""
        self.last = fig
        png = _picture(fig, "png", Source=self._drawn_by(fig))
        plt.close(fig)
        return png, {"width": round(fig.get_figwidth() * SCREEN_PIXELS_PER_INCH)}

    def _markdown(self, frame):
        """A data frame that has formats (study.words.styled) as a table; others show as usual."""
        self.last = frame
        return markdown(frame) if _has_formats(frame) else None


def _has_formats(frame):
    return "formats" in frame.attrs


def markdown(frame):
    """A data frame as a table in Markdown, without its index, in the formats that it has (study.words.styled).

    Without one, floats have four significant digits, and thousands a comma; missing values are left empty. Numbers are
    aligned right, text left. Datasets have their names, and numbers a minus sign and a no-break space before %.
    """
    formats = frame.attrs.get("formats", {})
    shown = {column: [_cell(value, formats.get(column)) for value in frame[column]] for column in frame.columns}
    numeric = [pd.api.types.is_numeric_dtype(frame[column]) for column in frame.columns]
    lines = [
        _row(frame.columns.map(_text)).replace(" |", HEAD_SPACE),
        _row("--:" if right else ":--" for right in numeric),
        *map(_row, zip(*shown.values(), strict=True)),
    ]
    text = "\n".join(lines)
    for name, words in SETS.items():
        text = text.replace(name, words)
    text = re.sub(r"(?<=\d) ?%", "\N{NO-BREAK SPACE}%", text)
    return addressed(MINUS.sub(lambda found: "−" if found[0] == "-" else found[0], text))


def show_source(function):
    """Display the source of a function, as code, without its decorators."""
    source = inspect.getsource(function)
    text = f"```python\n{textwrap.dedent(source[source.index('def ') :]).rstrip()}\n```"
    display({"text/markdown": text, "text/plain": text}, raw=True)


def _picture(fig, kind, **facts):
    """Bytes of the figure as "png" or "svg", with facts but without date or software version.

    The figure keeps the layout of its first picture. It is drawn once: `savefig` would draw all of it twice, for the layout.
    """
    nothing = {"png": {"Software": None}, "svg": {"Date": None, "Creator": None}}[kind]
    dpi, canvas, layout = fig.dpi, fig.canvas, fig.get_layout_engine()
    file = io.BytesIO()
    try:
        fig.dpi = PIXELS_PER_INCH
        if layout:
            layout.execute(fig)
            fig.set_layout_engine("none")
        with mpl.rc_context({"svg.hashsalt": "kp"}):
            page = {"png": FigureCanvasAgg, "svg": FigureCanvasSVG}[kind](fig)
            getattr(page, f"print_{kind}")(file, metadata={**nothing, **facts})
    finally:
        fig.dpi = dpi
        fig.set_canvas(canvas)
    return file.getvalue()


def _cell(value, how):
    if pd.isna(value):
        return ""
    if callable(how):
        return _text(how(value))
    shown = format(value, how or (",.4g" if isinstance(value, float) else "," if _is_integer(value) else ""))
    return _text(shown.replace("inf", "∞") if isinstance(value, float) else shown)


def _is_integer(value):
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def _text(value):
    """A value as a cell of a Markdown table: in one line, and with bars that end no cell."""

    def together(found):
        return found[0].replace(" ", "\N{NO-BREAK SPACE}") if found[0][0] == " " else found[0]

    return re.sub(r"(\\*)\|", r"\1\1\\|", TOGETHER.sub(together, " ".join(str(value).splitlines())))


def _row(cells):
    return f"| {' | '.join(cells)} |"
