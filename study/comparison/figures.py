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
    REFERENCE,
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


def figure_differences(per_set, over_sets):
    """Differences of test errors from the ordinary form's, a panel for each form of each family.

    per_set as in `tables.per_set`; over_sets {(form, thresholds): Difference}, drawn as a diamond below the sets. Filled
    where the adjusted p is below 0.05; lines are 95 % intervals.
    """
    names = list(per_set["dataset"].unique())
    families = list(dict.fromkeys(zip(per_set["thresholds"], per_set["first"], strict=True)))
    figure, axes = canvas(1, len(families), height=1.3 + 0.19 * len(names), sharey=True, sharex=True, squeeze=False)
    for axis, (thresholds, form) in zip(axes.flat, families, strict=True):
        part = per_set.query("thresholds == @thresholds and first == @form").set_index("dataset").loc[names]
        axis.axvline(0, **REFERENCE)
        for y, row in enumerate(part.itertuples()):
            _point(axis, y, row, METHOD_COLOURS[form], "o")
        axis.axhline(len(names) - 0.5, color="#BBBBBB", linewidth=0.6)
        _point(axis, len(names), over_sets[form, thresholds], "black", "D")
        axis.set_title(f"{form},\n{FAMILY[thresholds]}", fontsize=8.5)
        axis.set(yticks=range(len(names) + 1), ylim=(len(names) + 0.5, -0.5))
        axis.set_yticklabels([*map(set_name, names), "over the sets"])
    figure.supxlabel(f"test error minus that of the {per_set['second'].iloc[0]} form (percentage points)", fontsize=9)
    return figure


def _point(axis, y, row, colour, marker):
    """An estimate with its interval, where it has one, in percentage points; filled where p < 0.05."""
    if np.isfinite([row.low, row.high]).all():
        axis.hlines(y, 100 * row.low, 100 * row.high, color=colour, linewidth=1.2)
    face = colour if row.p < 0.05 else "white"
    axis.plot(100 * row.estimate, y, marker, color=colour, markersize=4.5, markerfacecolor=face)


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


def figure_best_widths(widths):
    """The best RBF width of each form on each data set, a panel for each family; widths as in `tables.best_widths`."""
    names = list(widths["set"])
    figure, axes = canvas(1, 2, height=1.2 + 0.19 * len(names), sharex=True, sharey=True)
    for axis, thresholds in zip(axes, FAMILY, strict=True):
        forms = [form for form in METHOD_COLOURS if f"{form}, {thresholds}" in widths]
        own = widths[[f"{form}, {thresholds}" for form in forms]]
        axis.hlines(range(len(names)), own.min(axis=1), own.max(axis=1), color="#BBBBBB", linewidth=1)
        for form in forms:
            axis.plot(widths[f"{form}, {thresholds}"], range(len(names)), linestyle="none", label=form, **_mark(form))
        axis.set(title=FAMILY[thresholds], yticks=range(len(names)), ylim=(len(names) - 0.5, -0.5))
        axis.set_yticklabels(map(set_name, names))
        axis.grid(False, axis="y")
        _width_axis(axis)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
    figure.supxlabel(r"best width $\sigma$ (median distances of training examples)", fontsize=9)
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
