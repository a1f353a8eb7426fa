"""What notebook cells show: sentences, figures and tables, each once, with the same bytes on every run.

A figure or a table carries its number and caption in the cell's output, so that it reads well in Jupyter, on a
code-hosting site, and in the report, which turns both into captioned floats (see study.report.document).
"""

import io
import os
from pathlib import Path

import pandas as pd
from IPython.display import display

PIXELS_PER_INCH = 200
SCREEN_PIXELS_PER_INCH = 100


def say(template, **values):
    """Display template.format(**values) as Markdown: a sentence whose numbers come from the run.

    Braces of formulas are doubled: say("$x^{{2}}$ errs on {error:.2%}", error=0.014).
    """
    _show_markdown(template.format(**values))


def show_figure(fig, number, caption, *, folder=None):
    """Display a figure once, followed by its number and caption, and close it.

    fig is a matplotlib Figure, number an integer or text such as "3b", caption Markdown on what is shown. The
    caption is also the picture's alternative text. figure_<number>.png and .svg are saved in folder, by default the
    folder that the environment variable KP_FIGURES names; nothing is saved where neither is given.
    """
    import matplotlib.pyplot as plt

    caption = f"**Figure {number}.** {_one_line(caption)}"
    png, svg = _picture(fig, "png"), _picture(fig, "svg")
    plt.close(fig)
    folder = folder or os.environ.get("KP_FIGURES")
    if folder:
        Path(folder).mkdir(parents=True, exist_ok=True)
        Path(folder, f"figure_{number}.png").write_bytes(png)
        Path(folder, f"figure_{number}.svg").write_bytes(svg)
    alt = caption.replace("**", "")
    width = round(fig.get_figwidth() * SCREEN_PIXELS_PER_INCH)
    display({"image/png": png, "text/plain": alt}, raw=True, metadata={"image/png": {"alt": alt, "width": width}})
    _show_markdown(caption)


def show_table(frame, caption, *, number, formats=None):
    """Display a data frame as a Markdown table under its number and caption; the index is not shown.

    formats maps column names to a format specification (".2%") or a function of the value. Without one, floats have
    four significant digits; missing values are left empty. Numbers are aligned right, text left.
    Raises ValueError if formats names a column that frame lacks.
    """
    formats = formats or {}
    if unknown := sorted(set(formats) - set(frame.columns)):
        raise ValueError(f"formats must name columns of the table, {list(frame.columns)}, got {unknown}")
    shown = {name: [_cell(value, formats.get(name)) for value in frame[name]] for name in frame.columns}
    numeric = [pd.api.types.is_numeric_dtype(frame[name]) for name in frame.columns]
    lines = [
        _row(frame.columns.map(_text)),
        _row("--:" if right else ":--" for right in numeric),
        *map(_row, zip(*shown.values(), strict=True)),
    ]
    _show_markdown(f"**Table {number}.** {_one_line(caption)}\n\n" + "\n".join(lines))


def _show_markdown(text):
    display({"text/markdown": text, "text/plain": text}, raw=True)


def _picture(fig, kind):
    """Bytes of the figure as "png" or "svg", without date or software version."""
    import matplotlib as mpl

    nothing = {"png": {"Software": None}, "svg": {"Date": None, "Creator": None}}[kind]
    file = io.BytesIO()
    with mpl.rc_context({"svg.hashsalt": "kp"}):
        fig.savefig(file, format=kind, dpi=PIXELS_PER_INCH, metadata=nothing)
    return file.getvalue()


def _one_line(text):
    return " ".join(text.split())


def _cell(value, how):
    if pd.isna(value):
        return ""
    if callable(how):
        return _text(how(value))
    return _text(format(value, how or (".4g" if isinstance(value, float) else "")))


def _text(value):
    return str(value).replace("|", r"\|")


def _row(cells):
    return f"| {' | '.join(cells)} |"
