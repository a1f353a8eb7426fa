"""Figures of the data chapter: examples, counts of classes, statistics of pixels, norms, nearest pairs.

Symbols: X (n, d) images as rows of pixels, y (n,) labels.
"""

import numpy as np
from matplotlib.colors import ListedColormap
from matplotlib.ticker import PercentFormatter

from study.style import NEGATIVE, canvas, draw_image

BAR = "#5B7C99"
REFERENCE = "#333333"


def figure_one_of_each(X, y):
    """The first image of each class, in a row (Hermans 2021, Fig. 1)."""
    classes, first = np.unique(y, return_index=True)
    figure, axes = canvas(1, len(classes), height=0.9)
    for axis, label, index in zip(axes, classes, first, strict=True):
        draw_image(axis, X[index], f"label {label}")
    return figure


def figure_grid(X, y, *, per_class=10):
    """The first images of each class, a row for each class."""
    classes = np.unique(y)
    figure, axes = canvas(len(classes), per_class, width=5.2, height=5.2)
    for row, label in zip(axes, classes, strict=True):
        for axis, pixels in zip(row, X[y == label][:per_class], strict=True):
            draw_image(axis, pixels)
        row[0].set_ylabel(str(label), rotation=0, ha="right", va="center")
    return figure


def figure_counts(table):
    """Images of each class in (a) the training and (b) the test set, from a table (split, label, images).

    The dashed line is where all bars would end if the classes were equally frequent (Hermans 2021, Fig. 2).
    """
    figure, axes = canvas(1, 2, height=3.0)
    for axis, letter, split in zip(axes, "ab", ("training", "test"), strict=True):
        part = table[table["split"] == split]
        bars = axis.bar(part["label"], part["images"], color=BAR)
        axis.bar_label(bars, fmt="{:,.0f}", label_type="center", rotation=90, color="white", fontsize=8)
        axis.axhline(part["images"].mean(), color=REFERENCE, linestyle="--", linewidth=1, label="equal shares")
        axis.set(xlabel="digit", ylabel="images", xticks=part["label"], ylim=(0, 1.25 * part["images"].max()))
        axis.set_title(f"({letter}) {split} set, {part['images'].sum():,} images")
        axis.grid(False, axis="x")
        axis.legend(loc="upper right")
    return figure


def figure_means(means, labels):
    """Mean images (C, d) of the classes."""
    figure, axes = canvas(2, -(-len(labels) // 2), width=5.2, height=2.5)
    for axis, pixels, label in zip(axes.flat, means, labels, strict=True):
        draw_image(axis, pixels, f"mean of {label}")
    return figure


def figure_ink(table):
    """Ink of each class, from a table (label, low, median, high): the median and the middle half of the images."""
    figure, axis = canvas(width=5.2, height=2.6)
    spread = [table["median"] - table["low"], table["high"] - table["median"]]
    axis.errorbar(table["label"], table["median"], yerr=spread, fmt="o", color=BAR, capsize=3)
    axis.yaxis.set_major_formatter(PercentFormatter(1))
    axis.set(xlabel="digit", ylabel="ink (share of full black)", xticks=table["label"], ylim=(0, None))
    return figure


def figure_usage(share):
    """Share (d,) of the training images in which each pixel holds ink; pixels that never do are in colour."""
    side = round(len(share) ** 0.5)
    share = share.reshape(side, side)
    figure, axis = canvas(width=4.0, height=3.3)
    image = axis.imshow(share, cmap="gray_r", vmin=0, vmax=1)
    never = np.ma.masked_where(share > 0, np.ones_like(share))
    axis.imshow(never, cmap=ListedColormap([NEGATIVE]), vmin=0, vmax=1)
    axis.grid(False)
    axis.set(xlabel="column", ylabel="row")
    figure.colorbar(image, ax=axis, label="images with ink at this pixel", format=PercentFormatter(1))
    return figure


def figure_norms(norms, limit):
    """Histogram of the squared norms (n,), with the limit below which single-precision products are exact.

    Bins are an eighth of an octave wide; the limit is the edge of one.
    """
    figure, axis = canvas(height=2.7)
    octaves = np.log2([norms.min(), norms.max() + 1]) - np.log2(limit)
    edges = np.arange(np.floor(8 * octaves[0]), np.ceil(8 * octaves[1]) + 1) / 8
    axis.hist(norms, bins=limit * 2.0**edges, color=BAR)
    axis.axvline(limit, color=NEGATIVE, linestyle="--", label="$2^{24}$")
    axis.set(xlabel=r"squared norm $|x|^2$", ylabel="training images", yscale="log", xscale="log")
    axis.grid(False, axis="x")
    axis.legend(loc="lower right", bbox_to_anchor=(1, 1), borderaxespad=0.1)
    return figure


def figure_pairs(X, pairs, *, columns=5):
    """Nearest pairs of different classes side by side, rows of experiment.pairs of one measure; X (n, d) the images.

    Above each image its label, below it its number; between the two the distance, or the angle in degrees.
    """
    rows = -(-len(pairs) // columns)
    widths = [1, 1, 0.45] * columns
    figure, axes = canvas(rows, len(widths) - 1, height=0.87 * rows + 0.1, squeeze=False, width_ratios=widths[:-1])
    for axis in axes.flat:
        axis.set_axis_off()
    for place, pair in enumerate(pairs.itertuples()):
        row, column = divmod(place, columns)
        left, right = axes[row, 3 * column : 3 * column + 2]
        for axis, index, label in ((left, pair.first, pair.label_first), (right, pair.second, pair.label_second)):
            axis.set_axis_on()
            draw_image(axis, X[index], f"label {label}")
            axis.set_xlabel(str(index), fontsize=5, color=REFERENCE, labelpad=1)
        how_far = f"{pair.degrees:.1f}°" if pair.measure == "angle" else f"{pair.squared_distance**0.5:,.1f}"
        right.text(-0.3, 0.5, how_far, fontsize=6.5, ha="center", va="center", rotation=90, transform=right.transAxes)
    return figure
