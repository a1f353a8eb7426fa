"""Figures of the images: examples, ink, nearest pairs.

Symbols: X (n, d) images as rows of pixels, y (n,) labels.
"""

import numpy as np
from matplotlib.colors import ListedColormap
from matplotlib.ticker import MultipleLocator, StrMethodFormatter

from study.style import GREY, INK, PERCENT, canvas, draw_image

NEVER = "#F0D5C4"
"""Of pixels that never hold ink: no shade of grey, which says how often others do, and the colour of nothing else."""


def figure_grid(X, y, *, per_class=10):
    """The first images of each class, a row for each class (the first column: Hermans 2021, Fig. 1)."""
    classes = np.unique(y)
    figure, axes = canvas(len(classes), per_class, width=4.3, height=4.2)
    for row, label in zip(axes, classes, strict=True):
        for axis, pixels in zip(row, X[y == label][:per_class], strict=True):
            draw_image(axis, pixels)
        row[0].set_ylabel(str(label), rotation=0, ha="right", va="center")
    return figure


def figure_samples(X, y, counts):
    """One image of each class, the first of X (n, d), above how many images of it there are.

    counts: class, and a column for each part of the set, as in tables.counts.
    """
    figure, axes = canvas(2, len(counts), height=3.2, height_ratios=[1, 2.6])
    for axis, label in zip(axes[0], counts["class"], strict=True):
        draw_image(axis, X[y == label][0])
    for axis in axes[1]:
        axis.remove()
    below = figure.add_subplot(axes[1, 0].get_gridspec()[1, :])
    parts = list(counts.columns.drop("class"))
    for i, (part, colour) in enumerate(zip(parts, (INK, GREY), strict=True)):
        below.bar(np.arange(len(counts)) + 0.4 * i - 0.2, counts[part], width=0.38, color=colour, label=part)
    below.set_xticks(range(len(counts)), list(map(str, counts["class"])))
    below.set(xlabel="digit", ylabel="images", xlim=(-0.5, len(counts) - 0.5))
    below.yaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    figure.legend(loc="outside upper right", ncols=2)
    return figure


def figure_ink(means, table, share):
    """Where the ink is. Above: mean images (C, d). Below left: ink of each class, a table of tables.ink, as the median and
    the middle half of the images; right: share (d,) of images with ink at each pixel, in colour where there is none."""
    figure, axes = canvas(2, len(means), height=3.4, height_ratios=[1, 3.2])
    for axis, pixels, label in zip(axes[0], means, table["label"], strict=True):
        draw_image(axis, pixels, f"mean {label}")
    for axis in axes[1]:
        axis.remove()
    grid = axes[1, 0].get_gridspec()
    half = (len(means) + 1) // 2
    left = figure.add_subplot(grid[1, :half])
    right = figure.add_subplot(grid[1, half:])
    spread = [table["median"] - table["low"], table["high"] - table["median"]]
    left.errorbar(table["label"], table["median"], yerr=spread, fmt="o", color=INK, capsize=3)
    left.yaxis.set_major_locator(MultipleLocator(0.05))
    left.yaxis.set_major_formatter(PERCENT)
    left.set(xlabel="digit", ylabel="ink (share of full black)", xticks=table["label"], ylim=(0, None))
    side = round(len(share) ** 0.5)
    share = share.reshape(side, side)
    image = right.imshow(share, cmap="gray_r", vmin=0, vmax=1)
    never = np.ma.masked_where(share > 0, np.ones_like(share))
    right.imshow(never, cmap=ListedColormap([NEVER]), vmin=0, vmax=1)
    right.grid(False)
    right.set(xlabel="column", ylabel="row")
    figure.colorbar(image, ax=right, label="images with ink here", format=PERCENT)
    return figure


def figure_pairs(X, pairs, *, columns=5, measured=True):
    """Nearest pairs of different classes side by side, rows of experiment.pairs, one measure after the other; X (n, d).

    Above each image its label; measured: below it its number, and between the two the distance, or the angle in degrees.
    """
    rows = -(-len(pairs) // columns)
    widths = [1, 1, 0.5] * columns
    figure, axes = canvas(rows, len(widths) - 1, height=0.9 * rows + 0.1, squeeze=False, width_ratios=widths[:-1])
    for axis in axes.flat:
        axis.set_axis_off()
    for place, pair in enumerate(pairs.itertuples()):
        row, column = divmod(place, columns)
        left, right = axes[row, 3 * column : 3 * column + 2]
        for axis, index, label in ((left, pair.first, pair.label_first), (right, pair.second, pair.label_second)):
            axis.set_axis_on()
            draw_image(axis, X[index], f"label {label}")
            axis.set_xlabel(str(index) if measured else "", fontsize=7, color=INK, labelpad=1)
        if measured:
            how_far = f"{pair.degrees:.1f}°" if pair.measure == "angle" else f"{pair.squared_distance**0.5:,.1f}"
            right.text(-0.3, 0.5, how_far, fontsize=7, ha="center", va="center", rotation=90, transform=right.transAxes)
    return figure
