"""Figures of the chapter on doubt. Tables are those of study.doubt.tables; rates are drawn in percent."""

import textwrap

import numpy as np

from study.doubt.tables import PART_NAMES
from study.style import BLACK, BLUE, GREY, canvas, draw_image, gallery, log_percent_axis

MEASURE_STYLES = {
    "margin": {"color": BLUE, "linestyle": "-", "linewidth": 1.8},
    "margin of one perceptron": {"color": BLUE, "linestyle": "--"},
    "vote share": {"color": BLACK, "linestyle": "-."},
    "softmax": {"color": GREY, "linestyle": ":"},
}
"""How each measure of doubt is drawn: the margin, which the chapter recommends, is blue."""
SHOWN = {
    "margin": {"color": BLUE, "marker": "o", "markersize": 5},
    "best score": {"color": BLACK, "marker": "D", "markersize": 9, "markerfacecolor": "none", "markeredgewidth": 1.3},
}
"""How the measures whose refusals are drawn look: the diamond is hollow, so that a dot shows inside it."""


def _label(part):
    """The printed name of a part of the inputs, in two lines where it is long."""
    return textwrap.fill(PART_NAMES.get(part, part), 12)


def figure_inputs(rows):
    """A strip of images for each kind of input, two to a line; rows {kind: (images (k, d), titles (k,))}, k may differ."""
    most = max(len(titles) for _, titles in rows.values())
    lines = -(-len(rows) // 2)
    figure, axes = canvas(lines, 2 * most, height=0.66 * lines + 0.1, squeeze=False)
    for axis in axes.flat:
        axis.set_axis_off()
    for strip, (kind, (images, titles)) in zip(axes.reshape(2 * lines, most), rows.items(), strict=False):
        for axis, image, title in zip(strip, images, titles, strict=False):
            axis.set_axis_on()
            draw_image(axis, image, title)
        strip[0].set_ylabel(_label(kind), rotation=0, ha="right", va="center", fontsize=7)
    return figure


def figure_risk_coverage(curves, *, most=0.2):
    """Error among the accepted images by the share that is refused, up to `most`, a line for each measure.

    curves {measure: table of tables.risk_coverage}. A line ends where no accepted image is wrong.
    """
    figure, axis = canvas(height=2.6)
    for name, table in curves.items():
        shown = table[(table["coverage"] >= 1 - most) & (table["risk"] > 0)]
        axis.plot(100 * (1 - shown["coverage"]), 100 * shown["risk"], label=name, **MEASURE_STYLES[name])
    log_percent_axis(axis)
    axis.set_ylim(*_round_limits(axis.get_ylim()))
    axis.set(xlabel="refused (% of the test images)", ylabel="error of the accepted (%)", xlim=(0, 100 * most))
    axis.legend(loc="lower left", fontsize=8.5)
    return figure


def _round_limits(limits):
    """The nearest of 1, 2, 5, 10, ... below and above two limits, so that a logarithmic axis begins and ends with a tick."""
    powers = 10.0 ** np.arange(np.floor(np.log10(limits[0])), np.ceil(np.log10(limits[1])) + 1)
    ticks = np.outer(powers, [1, 2, 5]).ravel()
    return ticks[ticks <= limits[0]].max(), ticks[ticks >= limits[1]].min()


def figure_gallery(images, titles, *, columns=10):
    """Images (n, side * side) in rows, each with its title."""
    return gallery(images, titles, columns=columns)


def figure_refusals(refusals):
    """Shares refused, in percent, by two measures: a row for each part of the inputs but the held-out digits and the blank
    one, from the table of tables.refusals."""
    figure, axis = canvas(height=1.9)
    wide = refusals.pivot(index="part", columns="measure", values="refused")
    parts = [part for part in refusals["part"].unique() if part not in ("held out", "blank")]
    for name, look in SHOWN.items():
        axis.plot(100 * wide.loc[parts, name], parts, linestyle="none", label=name, clip_on=False, **look)
    for part in parts:
        axis.plot(100 * wide.loc[part, list(SHOWN)], [part] * len(SHOWN), color=GREY, linewidth=2, alpha=0.6, zorder=1)
    axis.set(xlabel="refused (%)", xlim=(0, 100))
    axis.set_yticks(range(len(parts)), [_label(part) for part in parts])
    axis.invert_yaxis()
    axis.grid(axis="y", visible=False)
    axis.legend(loc="lower right")
    return figure
