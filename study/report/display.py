"""What notebook cells show: sentences, figures and tables, each once, with the same bytes on every run.

A figure or a table carries its label and caption in the cell's output, so that it reads well in Jupyter, on a
code-hosting site, and in the report, which turns both into captioned floats (see study.report.document).
"""

import ast
import inspect
import io
import json
import numbers
import re
import textwrap

import pandas as pd
from IPython.display import display

from study import ROOT, chapters, store
from study.report import parameters as rules
from study.style import SETS

PIXELS_PER_INCH = 200
SCREEN_PIXELS_PER_INCH = 100
MINUS = re.compile(r"\$[^$]*\$|`[^`]*`|(?<=[\s([])-(?=\d)|(?<=\w )-(?= \d)")
"""Formulas, code, and the hyphens that stand for a minus sign."""


def say(template, **values):
    """Display template.format(**values) as Markdown: a sentence whose numbers come from the run.

    Braces of formulas are doubled: say("$x^{{2}}$ misclassifies {error:.2%}", error=0.014).
    """
    _show_markdown(template.format(**values))


def listed(values, nothing="none"):
    """Words or numbers as they stand in a sentence: "a", "a and b", "a, b and c"; `nothing` where there are none."""
    texts = [value if isinstance(value, str) else f"{value:,g}" for value in values]
    return " and ".join(filter(None, [", ".join(texts[:-1]), *texts[-1:]])) or nothing


def open_chapter(source, namespace):
    """The chapter that a notebook makes: call it right after the parameters, with the stem of the notebook and globals().

    Raises ValueError if a parameter breaks its rule (study.report.parameters), or if the namespace holds a plain value that
    is none of the notebook's parameters: papermill passes a mistyped name on with a warning only. Constants (in capitals)
    and names that begin with an underscore do not count.
    """
    known = parameters(source)
    plain = (bool, int, float, str, bytes, list, tuple, dict, set, type(None))
    found = {name for name, value in namespace.items() if isinstance(value, plain) and name[0] != "_" and not name.isupper()}
    if unknown := sorted(found - {"In", "Out"} - set(known)):
        raise ValueError(f"parameters must be among {', '.join(known)}, got {', '.join(unknown)}; correct the name")
    values = {name: namespace[name] for name in known}
    rules.check(source, values)
    return OpenChapter(source, chapters.of_notebook(source, values), values.get("figures_folder", ""))


def parameters(source):
    """The names of a source notebook's parameters, in the order of its cell of parameters."""
    # Plain JSON: the reader of notebooks takes longer to import than some of them to run.
    cells = json.loads((ROOT / "notebooks" / f"{source}.ipynb").read_text(encoding="utf-8"))["cells"]
    (cell,) = (cell for cell in cells if "parameters" in cell["metadata"].get("tags", []))
    statements = ast.parse("".join(cell["source"])).body
    return [target.id for statement in statements for target in getattr(statement, "targets", None) or [statement.target]]


class OpenChapter:
    """Shows the figures and tables of a chapter under their numbers, which the plan (study.chapters) gives to their names.

    plan is a chapters.Chapter, or None for a variant that is not in the plan: then they are numbered as they come. folder
    is where figures are saved, relative to the project; "" saves none.
    """

    def __init__(self, source, plan, folder=""):
        self.source, self.plan, self.folder, self._labels = source, plan, folder, {}

    def label(self, name, kind=None):
        """ "Figure 4.2": the label of what is shown under this name in this chapter, for sentences."""
        if self.plan:
            return self.plan.label(name)
        if name not in self._labels:
            if kind is None:
                raise ValueError(f"{name!r} is shown later, or nowhere, in this run; its number is not known")
            count = sum(label.startswith(kind) for label in self._labels.values())
            self._labels[name] = f"{kind} {count + 1}"
        return self._labels[name]

    def figure(self, name, fig, caption):
        """Display a figure once, followed by its label and caption, and close it.

        fig is a matplotlib Figure, caption Markdown on what is shown; it is also the picture's alternative text. Where the
        chapter has a folder, <chapter>-<name>.png and .svg are saved there. They carry the label, the function that drew
        them and the chapter in their metadata.
        """
        import matplotlib.pyplot as plt

        label = self.label(name, "Figure")
        caption = f"**{label}.** {_one_line(caption)}"
        stem = f"{self.plan.name if self.plan else self.source}-{name}"
        facts = {"Title": f"{label} ({stem})", "Source": getattr(fig, "drawn_by", "")}
        png, svg = _picture(fig, "png", facts), _picture(fig, "svg", facts)
        plt.close(fig)
        if self.folder:
            for kind, content in (("png", png), ("svg", svg)):
                store.write(ROOT / self.folder / f"{stem}.{kind}", content)
        alt = re.sub(r"(?<=\d)%", " %", caption.replace("**", ""))
        width = round(fig.get_figwidth() * SCREEN_PIXELS_PER_INCH)
        shown = {"alt": alt, "width": width} | ({"file": f"{self.folder}/{stem}"} if self.folder else {})
        display({"image/png": png, "text/plain": alt}, raw=True, metadata={"image/png": shown})
        _show_markdown(caption)

    def table(self, name, frame, caption, *, formats=None):
        """Display a data frame as a Markdown table under its label and caption; the index is not shown.

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
        _show_markdown(f"**{self.label(name, 'Table')}.** {_one_line(caption)}\n\n" + "\n".join(lines))


def show_source(function):
    """Display the source of a function, as code, without its decorators."""
    source = inspect.getsource(function)
    _display(f"```python\n{textwrap.dedent(source[source.index('def ') :]).rstrip()}\n```")


def _show_markdown(text):
    """Display prose or a table; data sets have their names, and numbers a space before % and a minus sign."""
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


def _one_line(text):
    return " ".join(text.split())


def _cell(value, how):
    if pd.isna(value):
        return ""
    if callable(how):
        return _text(how(value))
    return _text(format(value, how or (",.4g" if isinstance(value, float) else "," if _is_integer(value) else "")))


def _is_integer(value):
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def _text(value):
    return str(value).replace("|", r"\|")


def _row(cells):
    return f"| {' | '.join(cells)} |"
