"""The figures of the chapter on prepared images and on more of them."""

import numpy as np
from matplotlib.ticker import FuncFormatter, NullFormatter

from study.growth import tables
from study.style import BLACK, REFERENCE, canvas, degree_colours, draw_image, log_percent_axis


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


def figure_preparations(wrong, degrees):
    """Errors of every preparation: a point for each visiting order, a bar for their mean; degrees side by side."""
    figure, axis = canvas(height=3.9)
    colours, place = degree_colours(degrees), np.linspace(0.3, -0.3, len(degrees))
    for row, part in enumerate(wrong.values()):
        for d, degree in enumerate(degrees):
            errors, y = 100 * part[:, d].mean(axis=-1), row - place[d]
            axis.plot(errors, np.full(len(errors), y), ".", color=colours[degree], markersize=4, alpha=0.7)
            axis.plot(errors.mean(), y, "|", color=colours[degree], markersize=7, markeredgewidth=1.8)
    for d, degree in enumerate(degrees):
        axis.plot([], [], "|", color=colours[degree], markersize=7, markeredgewidth=1.8, label=f"degree {degree}")
        axis.axvline(100 * wrong["raw"][:, d].mean(), color=colours[degree], linewidth=0.5, alpha=0.5)
    axis.set(yticks=range(len(wrong)), yticklabels=list(wrong), xlabel="test error (%)")
    axis.invert_yaxis()
    axis.grid(axis="y", visible=False)
    log_percent_axis(axis, which="x")
    figure.legend(loc="outside upper center", ncols=len(degrees))
    return figure


def figure_curves(curves, *, predictor):
    """Test error, mistakes and support examples by the number of training examples: means over orders, with their range."""
    figure, axes = canvas(1, 3, height=2.5)
    rows = tables.last(curves, predictor=predictor)
    rows = rows.assign(error=100 * rows["errors"] / rows["n_test"])
    names = {"error": "test error (%)", "mistakes": "mistakes", "support": "support examples"}
    colours = degree_colours(sorted(rows["degree"].unique()))
    for axis, (name, label) in zip(axes, names.items(), strict=True):
        for degree, own in rows.groupby("degree"):
            found = own.groupby("n")[name].agg(["mean", "min", "max"])
            axis.plot(
                found.index, found["mean"], color=colours[degree], marker="o", markersize=2.5, label=f"degree {degree}"
            )
            axis.fill_between(found.index, found["min"], found["max"], color=colours[degree], alpha=0.25, linewidth=0)
        axis.set(xlabel="training examples", title=label)
        _log_log(axis)
    log_percent_axis(axes[0])
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=len(colours))
    return figure


def figure_costs(costs):
    """Seconds and peak memory by the number of training examples, with lines that grow like n and n squared; what was not
    measured has no panel."""
    own = costs[costs["degrees"] == costs["degrees"].max()]
    names = {"fit": "seconds of training", "peak": "peak memory (GiB)"}
    measured = [name for name in names if own[name].notna().any()]
    figure, axes = canvas(1, len(measured), width=6.4 if len(measured) > 1 else 3.6, height=2.4, squeeze=False)
    for axis, name in zip(axes.flat, measured, strict=True):
        found = own.groupby("n")[name].agg(["mean", "min", "max"])
        span = [found["mean"] - found["min"], found["max"] - found["mean"]]
        axis.errorbar(found.index, found["mean"], yerr=span, color=BLACK, fmt="o-", markersize=3, capsize=2)
        for power, words in ((1, "like n"), (2, "like n²")):
            line = found["mean"].iloc[-1] * (found.index / found.index[-1]) ** power
            axis.plot(found.index, line, **REFERENCE)
            axis.annotate(words, (found.index[1], line[1]), fontsize=7, xytext=(4, -6), textcoords="offset points")
        axis.set(xlabel="training examples", title=names[name])
        axis.set_ylim(bottom=found["min"].min() / 3)
        _log_log(axis)
    return figure


def _log_log(axis):
    axis.set(xscale="log", yscale="log")
    for side in (axis.xaxis, axis.yaxis):
        side.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
        side.set_minor_formatter(NullFormatter())
