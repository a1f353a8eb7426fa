"""The figures about prepared images and more of them."""

import numpy as np
from matplotlib.ticker import FuncFormatter

from study.growth import tables
from study.style import BLUE, REFERENCE, canvas, draw_image, log_percent_axis

MARKS = (("o", BLUE), ("s", "white"))
"""Marker of the degrees, in order, and what fills it."""


def figure_prepared_images(images):
    """The same test images under each preparation that moves ink, a row for each: images {preparation: (k, d)}."""
    columns = len(next(iter(images.values())))
    figure, axes = canvas(len(images), columns, height=0.5 * len(images), squeeze=False)
    for row, (name, part) in zip(axes, images.items(), strict=True):
        for axis, image in zip(row, part, strict=True):
            draw_image(axis, image)
        row[0].set_ylabel(name.replace(" and ", "\nand "), rotation=0, ha="right", va="center", fontsize=8)
    figure.get_layout_engine().set(h_pad=0.01, w_pad=0.01, hspace=0, wspace=0)
    return figure


def figure_differences(effects):
    """How much each preparation changes the error, reductions first: a mark with its interval for each degree."""
    order = effects.groupby("preparation")["estimate"].mean().sort_values().index
    degrees = sorted(effects["degree"].unique())
    figure, axis = canvas(width=5.6, height=0.27 * len(order) + 0.65)
    axis.axvline(0, **REFERENCE)
    for row in effects.itertuples():
        place = degrees.index(row.degree)
        y = list(order).index(row.preparation) + 0.34 * (place / max(len(degrees) - 1, 1) - 0.5)
        x = 100 * row.estimate
        ends = [[x - 100 * row.low], [100 * row.high - x]]
        axis.errorbar(x, y, xerr=ends, **_mark(place))
        if row.preparation == order[-1]:
            shift = 5, 5 * (place == 0)
            axis.annotate(
                f"degree {row.degree}", (100 * row.high, y), xytext=shift, textcoords="offset points", va="center",
                fontsize=8.5, color=BLUE,
            )  # fmt: skip
    axis.set(yticks=range(len(order)), yticklabels=list(order), xlabel="change of the test error (percentage points)")
    axis.set_ylim(len(order) - 0.5, -0.5)
    axis.margins(x=0.16)
    axis.grid(axis="y", visible=False)
    return figure


def figure_growth(grown, laws):
    """Test error by the number of training examples: means over orders with their range, and the power law of each degree.

    grown {n: (R, D, n_test) bool}, the last of one order and one degree, with shifts; laws {degree: exponent}.
    """
    figure, axis = canvas(width=4.4, height=2.7)
    *sizes, most = grown
    beside = {"textcoords": "offset points", "fontsize": 8.5, "color": BLUE, "va": "center"}
    for place, (degree, exponent) in enumerate(laws.items()):
        errors = {n: 100 * grown[n][:, place].mean(axis=-1) for n in sizes}
        means = {n: each.mean() for n, each in errors.items()}
        ends = np.array([[means[n] - errors[n].min(), errors[n].max() - means[n]] for n in sizes]).T
        mark = _mark(place)
        axis.errorbar(sizes, list(means.values()), yerr=ends, **mark)
        line = [tables.on_law(means, exponent, n) for n in grown]
        axis.plot(list(grown), line, color=BLUE, linewidth=0.8, linestyle="--")
        end = sizes[-1], means[sizes[-1]]
        side = {"xytext": (8, 8)} if place else {"xytext": (-6, -12), "ha": "right"}
        axis.annotate(f"degree {degree}", end, **side, **beside)
    star = 100 * grown[most].mean()
    axis.plot(most, star, "*", color=BLUE, markersize=11, markerfacecolor="white")
    axis.annotate("shifted copies", (most, star), xytext=(8, 0), **beside)
    axis.set(xscale="log", xlim=(0.8 * sizes[0], 8 * most), xlabel="training examples", ylabel="test error (%)")
    axis.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    log_percent_axis(axis)
    return figure


def _mark(place):
    """The look of the errors of the degree at this place."""
    marker, fill = MARKS[place % len(MARKS)]
    return {"fmt": marker, "color": BLUE, "markerfacecolor": fill, "markersize": 4.5, "capsize": 2, "elinewidth": 0.9}
