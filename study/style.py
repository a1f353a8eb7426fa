"""What all figures share: the style sheet, the colours, and how images of digits are drawn.

A figure is a function of tables or arrays that returns a matplotlib Figure; it reads and writes no file and fits nothing.
The figures themselves are in figures_data, figures_algorithm and figures_mnist.
"""

from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np

from kp.mistakes import PREDICTORS

STYLE = Path(__file__).with_name("style.mplstyle")
mpl.style.use(["default", STYLE])
WIDTH = 6.4
"""Width of a figure in inches, that of the text on paper."""

COLOURS = dict(zip(PREDICTORS, ("#D55E00", "#0072B2", "#009E73", "#CC79A7"), strict=True))
"""The colour of each predictor, everywhere (Okabe & Ito's palette, safe for colour-blind readers)."""

MARKERS = dict(zip(PREDICTORS, "osD^", strict=True))
DASHES = {"train": (3, 1.5), "test": ()}
POSITIVE, NEGATIVE = "#0072B2", "#D55E00"
"""Colours of the two signs +1 and -1 in pictures of binary problems."""


def canvas(rows=1, columns=1, *, width=WIDTH, height=3.4, **options):
    """(Figure, axes) in the house style, of this size in inches; pyplot does not keep it."""
    figure, axes = plt.subplots(rows, columns, figsize=(width, height), **options)
    plt.close(figure)
    return figure, axes


def degree_colours(degrees):
    """{degree: colour}: from light to dark, in order."""
    colours = mpl.colormaps["viridis_r"](np.linspace(0.12, 0.95, len(degrees)))
    return dict(zip(degrees, map(mpl.colors.to_hex, colours), strict=True))


def draw_image(axis, pixels, title="", *, colour="black"):
    """One image (side * side,) of ink on white, without axes."""
    side = round(len(pixels) ** 0.5)
    axis.imshow(np.asarray(pixels).reshape(side, side), cmap="gray_r", vmin=0)
    axis.set(xticks=[], yticks=[])
    axis.grid(False)
    for spine in axis.spines.values():
        spine.set(visible=True, color="#CCCCCC", linewidth=0.6)
    axis.set_title(title, fontsize=7, color=colour, pad=2)
