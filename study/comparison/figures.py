"""Figures of the comparison on benchmark sets; tables are those of study.comparison.tables.

Methods have the same colour and marker everywhere; those of our perceptrons are filled, those of the references open.
"""

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from study.comparison.methods import PERCEPTRONS
from study.style import (
    GREY,
    METHOD_COLOURS,
    METHOD_MARKERS,
    canvas,
    handles,
    look,
    set_name,
)

FAMILY = {"off": "no thresholds", "on": "thresholds"}


def figure_against_svm(table, over_sets, methods):
    """Test error of some methods minus the SVM's on each set, and over the sets.

    table as in `tables.by_method`; over_sets {(method, thresholds): Difference} from the SVM; methods: such names. Sets are
    sorted by the SVM's error, which is printed next to their names; below them pseudo-medians with their intervals.
    """
    svm = table["SVM", "-"].sort_values()
    figure, axis = canvas(height=1.5 + 0.23 * len(svm))
    axis.axvline(0, color=METHOD_COLOURS["SVM"], linewidth=1.2)
    for place, name in enumerate(methods):
        mark = {**_mark(name[0]), "markersize": 5, "linestyle": "none"}
        axis.plot(100 * (table.loc[svm.index, name] - svm), range(len(svm)), label=name[0], **mark)
        found = over_sets[name]
        y = len(svm) + 0.3 + 0.35 * place
        if np.isfinite([found.low, found.high]).all():
            axis.hlines(y, 100 * found.low, 100 * found.high, color=METHOD_COLOURS[name[0]], linewidth=1.4)
        axis.plot(100 * found.estimate, y, **mark)
    axis.axhline(len(svm) - 0.4, color="#BBBBBB", linewidth=0.6)
    ends = len(svm) + 0.3 + 0.35 * (len(methods) - 1)
    axis.set(yticks=[*range(len(svm)), (len(svm) + 0.3 + ends) / 2], ylim=(ends + 0.5, -0.6))
    axis.set_yticklabels([*(f"{set_name(name)} ({100 * error:.1f})" for name, error in svm.items()), "over the sets"])
    axis.set_xlabel("test error minus the SVM's (percentage points)")
    figure.legend(*axis.get_legend_handles_labels(), loc="outside upper center", ncols=len(methods))
    return figure


def figure_narrow(by_width):
    """Validation error against the width, a panel for each form: each predictor with thresholds on (lines) and off (dashes).

    by_width as in `tables.by_width`.
    """
    methods = [name for name in METHOD_COLOURS if name in set(by_width["method"])]
    figure, axes = canvas(1, len(methods), height=2.6, sharex=True, sharey=True)
    for axis, method in zip(axes, methods, strict=True):
        for predictor in ("final", "average", "voted"):
            for thresholds, style in (("on", "-"), ("off", "--")):
                own = by_width.query("method == @method and thresholds == @thresholds and predictor == @predictor")
                own = own.sort_values("width")
                size = 3 if thresholds == "on" else 0
                axis.plot(own["width"], 100 * own["error"], style, linewidth=1.2, markersize=size, **look(predictor))
        _width_axis(axis)
        axis.set_title(method, fontsize=8.5)
    axes[0].set(ylabel="validation error (%)", ylim=(0, None))
    plain = Line2D([], [], color=GREY, linestyle="--", label="the same without thresholds")
    figure.legend(
        handles=[*handles(("final", "average", "voted"), markersize=4), plain], loc="outside upper center", ncols=4
    )
    figure.supxlabel(r"width $\sigma$ (median distances of training examples)", fontsize=9)
    return figure


def _width_axis(axis):
    """Widths on a scale of powers of two, written as fractions."""
    axis.set_xscale("log", base=2)
    axis.xaxis.set_major_locator(LogLocator(base=4))
    axis.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"1/{1 / x:.0f}" if x < 1 else f"{x:g}"))
    axis.xaxis.set_minor_locator(NullLocator())


def _mark(method):
    """Colour and marker of a method: filled for our perceptrons, open for the references."""
    face = METHOD_COLOURS[method] if method in PERCEPTRONS else "white"
    return {"color": METHOD_COLOURS[method], "marker": METHOD_MARKERS[method], "markerfacecolor": face}
