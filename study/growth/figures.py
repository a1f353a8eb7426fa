"""The figures about prepared images and more of them."""

import numpy as np
from matplotlib.ticker import FuncFormatter

from study.growth import tables
from study.style import BLACK, GREY, REFERENCE, canvas, draw_image, log_percent_axis

MARKS = ((BLACK, "o"), (GREY, "s"))
"""Colour and marker of the degrees, in order."""


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
    figure, axis = canvas(height=0.3 * len(order) + 0.7)
    axis.axvline(0, **REFERENCE)
    for row in effects.itertuples():
        place = degrees.index(row.degree)
        y = list(order).index(row.preparation) + 0.3 * (place / max(len(degrees) - 1, 1) - 0.5)
        x = 100 * row.estimate
        ends = [[x - 100 * row.low], [100 * row.high - x]]
        label = f"degree {row.degree}" if row.preparation == order[0] else None
        axis.errorbar(x, y, xerr=ends, label=label, **_mark(place))
    axis.set(yticks=range(len(order)), yticklabels=list(order), xlabel="test error minus that of raw pixels (points)")
    axis.set_ylim(len(order) - 0.5, -0.5)
    axis.grid(axis="y", visible=False)
    axis.legend(loc="upper right")
    return figure


def figure_growth(grown, laws):
    """Test error by the number of training examples: means over orders with their range, and the power law of each degree.

    grown {n: (R, D, n_test) bool}, the last of one order and one degree, with shifts; laws {degree: exponent}.
    """
    figure, axis = canvas(width=4.4, height=2.7)
    *sizes, most = grown
    for place, (degree, exponent) in enumerate(laws.items()):
        errors = {n: 100 * grown[n][:, place].mean(axis=-1) for n in sizes}
        means = {n: each.mean() for n, each in errors.items()}
        ends = np.array([[means[n] - errors[n].min(), errors[n].max() - means[n]] for n in sizes]).T
        mark = _mark(place)
        axis.errorbar(sizes, list(means.values()), yerr=ends, label=f"degree {degree}", **mark)
        line = [tables.on_law(means, exponent, n) for n in grown]
        axis.plot(list(grown), line, color=mark["color"], linewidth=0.8, linestyle="--")
    axis.plot(
        most, 100 * grown[most].mean(), "*", color=BLACK, markersize=9, markerfacecolor="white", label="shifted copies"
    )
    axis.set(xscale="log", xlabel="training examples", ylabel="test error (%)")
    axis.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    log_percent_axis(axis)
    axis.legend(loc="upper right")
    return figure


def _mark(place):
    """The look of the errors of the degree at this place."""
    colour, marker = MARKS[place % len(MARKS)]
    return {"fmt": marker, "color": colour, "markersize": 4, "capsize": 2, "elinewidth": 0.9}
