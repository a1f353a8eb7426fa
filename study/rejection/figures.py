"""Figures of the chapter on rejection. Tables are those of study.rejection.tables; rates are drawn in percent."""

import numpy as np

from study.style import (
    BLACK,
    GREY,
    REFERENCE,
    SAND,
    SKY,
    canvas,
    draw_image,
    gallery,
    heat_map,
    log_percent_axis,
)

MEASURE_STYLES = {
    "margin": {"color": BLACK, "linestyle": "-"},
    "margin of one perceptron": {"color": SKY, "linestyle": "--"},
    "vote share": {"color": SAND, "linestyle": "-."},
    "probability": {"color": GREY, "linestyle": ":"},
}
"""How each measure of doubt is drawn; the colours of the predictors are left to them."""


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
        strip[0].set_ylabel(kind, rotation=0, ha="right", va="center", fontsize=7)
    return figure


def figure_reliability(panels):
    """Accuracy against confidence with 95 % intervals, a panel for each table of tables.reliability, {title: table}.

    The area of a mark grows with the logarithm of the number of images; on the line confidence is accuracy.
    """
    figure, axes = canvas(1, len(panels), height=2.4, sharex=True, sharey=True, squeeze=False)
    for axis, (title, table) in zip(axes[0], panels.items(), strict=True):
        x = 100 * table["confidence"]
        y = 100 * table["accuracy"]
        axis.plot([0, 100], [0, 100], **REFERENCE)
        ends = np.maximum([y - 100 * table["low"], 100 * table["high"] - y], 0)
        axis.errorbar(x, y, yerr=ends, linestyle="none", color=BLACK, elinewidth=1, capsize=2)
        axis.scatter(x, y, s=6 + 8 * np.log(table["images"]), color=BLACK, zorder=3, clip_on=False)
        axis.set(title=title, xlabel="confidence (%)", xlim=(0, 102), ylim=(0, 102))
    axes[0, 0].set_ylabel("accuracy (%)")
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
    axis.legend(loc="upper right")
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
    """Shares refused, in percent, as a heat map: parts in rows, measures in columns, in the order of tables.refusals."""
    figure, axis = canvas(height=2.7)
    measures = refusals["measure"].unique()
    parts = refusals["part"].unique()
    shares = 100 * refusals.pivot(index="part", columns="measure", values="refused").loc[parts, measures].to_numpy()
    names = [name.replace(", ", ",\n").replace(" of one ", " of\none ") for name in measures]
    heat_map(axis, shares, rows=parts, columns=names, vmin=0, vmax=100)
    axis.set_xticklabels(axis.get_xticklabels(), rotation=0, fontsize=7)
    axis.axhline(2, color=GREY, lw=1)
    axis.grid(False)
    return figure
