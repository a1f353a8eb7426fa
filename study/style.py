"""Common parts of all figures: the style sheet, one palette, heat maps, axes, and how images of digits are drawn.

A figure is a function figure_NAME of tables or arrays in study/<chapter>/figures.py that returns a matplotlib Figure; it
reads and writes no file and fits nothing.
"""

import sys
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import seaborn as sns
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, PercentFormatter

STYLE = Path(__file__).with_name("style.mplstyle")
mpl.style.use(["default", STYLE])
WIDTH = 6.4
"""Width of a figure in inches, that of the text on paper."""

PERCENT = PercentFormatter(1, decimals=0, symbol="\N{NO-BREAK SPACE}%")
"""Of axes with shares."""

BLUE = "#0072B2"
VERMILION = "#D55E00"
GREEN = "#009E73"
PURPLE = "#CC79A7"
"""The colours of the predictors, and of nothing else (Okabe & Ito: safe for colour-blind readers)."""
INK = "#3D4451"
TEAL = "#2A9D8F"
SAND = "#C9A227"
PLUM = "#6A3D9A"
CLAY = "#8C4A2F"
SKY = "#56B4E9"
BLACK = "#000000"
GREY = "#777777"
"""The colours of all else."""

PREDICTOR_COLOURS = {"final": VERMILION, "average": BLUE, "minimizing": GREEN, "voted": PURPLE}
PREDICTOR_MARKERS = {"final": "o", "average": "s", "minimizing": "D", "voted": "^"}

METHOD_COLOURS = {
    "one-vs-all": SAND,
    "ordinary": TEAL,
    "Xu-Zhang": PLUM,
    "Xu-Zhang, average": PLUM,
    "Xu-Zhang, no threshold": "#B39BC8",
    "linear": BLACK,
    "SVM": CLAY,
    "kernel ridge": SKY,
    "nearest neighbours": "#9A9A3D",
    "scikit-learn perceptron": GREY,
}
"""The colour of each multiclass method, everywhere, under its one spelling."""

METHOD_MARKERS = {
    "one-vs-all": "o",
    "ordinary": "s",
    "Xu-Zhang": "D",
    "Xu-Zhang, no threshold": "d",
    "linear": "^",
    "SVM": "P",
    "kernel ridge": "X",
    "nearest neighbours": "v",
    "scikit-learn perceptron": "h",
}

SETS = {"winequality-red": "red wine", "winequality-white": "white wine"}
"""The datasets that words name otherwise than the registry."""

KERNEL_COLOURS = {"linear": "#B5B5B5", "poly": BLACK, "rbf": GREY}
"""The shade of each kernel where kernels are compared."""

CLASS_COLOURS = (TEAL, CLAY, PLUM, SAND, SKY, INK, "#9A9A3D", "#B39BC8", "#999999", "#E6B8A2")
"""Colours of classes in pictures of examples, by the index of the class."""
CLASS_MARKERS = "os^DvPXh*<"

PUBLISHED = {"color": "#CC0000", "marker": "d", "linestyle": "none"}
"""A published number, wherever it is next to ours."""
BAND = "#DDDDDD"
"""An interval or a range of ours."""
REFERENCE = {"color": GREY, "linewidth": 0.8, "linestyle": "--"}
"""A line of reference: chance, a bound, zero."""

DASHES = {"train": (3, 1.5), "test": ()}
POSITIVE = TEAL
NEGATIVE = CLAY
"""Colours of the two signs +1 and -1 in pictures of binary problems."""


def look(predictor):
    """Colour and marker of a predictor."""
    return {"color": PREDICTOR_COLOURS[predictor], "marker": PREDICTOR_MARKERS[predictor]}


def handles(predictors, **options):
    """Handles of a legend, one for each of some predictors."""
    return [Line2D([], [], **look(name), label=name, **options) for name in predictors]


def set_name(name):
    """A dataset as figures and sentences name it; a bundled one as that for which it stands."""
    return SETS.get(name, name.removesuffix("-bundled"))


def canvas(rows=1, columns=1, *, width=WIDTH, height=3.4, **options):
    """(Figure, axes) in the house style, of this size in inches; pyplot does not keep it.

    The figure's attribute drawn_by names the function of a study.<chapter>.figures module that asked for it.
    """
    figure, axes = plt.subplots(rows, columns, figsize=(width, height), **options)
    plt.close(figure)
    figure.drawn_by = _caller()
    return figure, axes


def _caller():
    """The outermost function of a module of figures among the callers, as "study.mnist.figures.figure_grid"."""
    frame = sys._getframe(1)
    found = ""
    while frame:
        module = frame.f_globals.get("__name__", "")
        if module.endswith(".figures"):
            found = f"{module}.{frame.f_code.co_name}"
        frame = frame.f_back
    return found


def heat_map(axis, values, *, rows, columns, format=".0f", **options):
    """An annotated heat map of values (rows, columns) on an axis, labelled on both sides (seaborn.heatmap).

    Numbers are black or white, whichever has more contrast with its cell (relative luminance, WCAG 2): at least 4.5 : 1.
    """
    sns.heatmap(
        values, ax=axis, annot=True, fmt=format, cmap="Blues", xticklabels=columns, yticklabels=rows, linewidths=0.4,
        annot_kws={"fontsize": 7}, **{"cbar": False, **options},
    )  # fmt: skip
    colours = axis.collections[-1].get_facecolors().reshape(*np.shape(values), 4)
    for text in axis.texts:
        column, row = map(int, text.get_position())
        luminance = sns.utils.relative_luminance(colours[row, column])
        text.set_color("white" if 1.05 / (luminance + 0.05) > (luminance + 0.05) / 0.05 else "black")
    axis.tick_params(length=0)
    axis.set_yticklabels(axis.get_yticklabels(), rotation=0)


def log_percent_axis(axis, *, which="y"):
    """A logarithmic axis of percentages with ticks at 1, 2, 5, 10, ... written as plain numbers."""
    side = {"x": axis.xaxis, "y": axis.yaxis}[which]
    side.axes.set(**{f"{which}scale": "log"})
    side.set_major_locator(LogLocator(subs=(1, 2, 5)))
    side.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
    side.set_minor_formatter(NullFormatter())


def draw_image(axis, pixels, title=""):
    """One image (side * side,) of ink on white, without axes; a row of d attributes, which make no square, as a strip."""
    side = round(len(pixels) ** 0.5)
    rows = side if side**2 == len(pixels) else 1
    axis.imshow(np.asarray(pixels).reshape(rows, -1), cmap="gray_r", vmin=min(0, np.min(pixels)))
    axis.set(xticks=[], yticks=[])
    axis.grid(False)
    for spine in axis.spines.values():
        spine.set(visible=True, color="#CCCCCC", linewidth=0.6)
    axis.set_title(title, fontsize=7, pad=2)


def gallery(images, titles, *, columns=10):
    """A Figure of images (n, side * side) in rows, each with its title."""
    rows = -(-len(images) // columns)
    figure, axes = canvas(rows, columns, height=0.86 * rows + 0.1, squeeze=False)
    for axis in axes.flat:
        axis.set_visible(False)
    for axis, image, title in zip(axes.flat, images, titles, strict=False):
        axis.set_visible(True)
        draw_image(axis, image, title)
    return figure
