"""Figures of the comparison on benchmark sets; tables are those of study.comparison.tables.

Methods have the same colour and marker everywhere; those of our perceptrons are filled, those of the references open.
"""

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from kp.mistakes import PREDICTORS
from study.style import (
    GREY,
    METHOD_COLOURS,
    METHOD_MARKERS,
    PREDICTOR_COLOURS,
    PREDICTOR_MARKERS,
    REFERENCE,
    canvas,
    log_percent_axis,
    set_name,
)

PERCEPTRONS = ("one-vs-all", "ordinary", "Xu-Zhang", "linear")
"""The methods with filled marks."""
THRESHOLDS = ("off", "on")
FAMILY = {"off": "no thresholds", "on": "thresholds"}
LINES = {"one-vs-all": "-", "ordinary": "--", "Xu-Zhang": ":"}


def figure_errors(chosen):
    """Test errors of the perceptrons without thresholds and of the references on each data set, with 95 % intervals.

    chosen as of `tables.chosen_rates`. More than four sets stand in two columns.
    """
    chosen = chosen[chosen["thresholds"] != "on"]
    names, methods = _datasets(chosen), _methods(chosen)
    columns = 1 + (len(names) > 4)
    rows = -(-len(names) // columns)
    figure, axes = canvas(1, columns, height=1.1 + 0.6 * rows, sharex=True, squeeze=False)
    for axis, start in zip(axes.flat, range(0, len(names), rows), strict=True):
        _errors(axis, chosen, names[start : start + rows], methods, rows)
    figure.supxlabel("test error (%)", fontsize=9)
    figure.legend(*axes.flat[0].get_legend_handles_labels(), loc="outside upper center", ncols=4)
    return figure


def _errors(axis, chosen, names, methods, rows):
    """The errors on these sets, on an axis with room for `rows` of them."""
    for i, method in enumerate(methods):
        part = chosen[chosen["method"] == method].set_index("dataset").loc[names]
        y = np.arange(len(names)) + 0.82 * (i / (len(methods) - 1) - 0.5)
        floor = 50 / part["n"]  # half an example, where no error was made, for the logarithm
        error, low = np.maximum(100 * part["error"], floor), np.maximum(100 * part["low"], floor)
        axis.hlines(y, low, 100 * part["high"], color=METHOD_COLOURS[method], linewidth=1.0)
        axis.plot(error, y, linestyle="none", markersize=4, label=method, **_mark(method))
    for edge in np.arange(len(names)) + 0.5:
        axis.axhline(edge, color="#BBBBBB", linewidth=0.6)
    axis.set(yticks=range(len(names)), ylim=(rows - 0.5, -0.5))
    axis.set_yticklabels(map(set_name, names))
    log_percent_axis(axis, which="x")
    axis.grid(False, axis="y")
    axis.tick_params(axis="y", length=0)


def figure_differences(per_set, over_sets):
    """Differences of test errors from the ordinary form's, a panel for each form of each family.

    per_set as of `tables.per_set`; over_sets {(form, thresholds): Difference}, drawn as a diamond below the sets. Filled
    where the adjusted p is below 0.05; lines are 95 % intervals.
    """
    names, families = _datasets(per_set), list(dict.fromkeys(zip(per_set["thresholds"], per_set["first"], strict=True)))
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


def figure_predictors(differences):
    """Test error of each predictor less the final one's over the sets: a panel for each family, a row for each perceptron.

    differences as of `tables.against_final`; filled where the adjusted p is below 0.05.
    """
    others = [p for p in PREDICTORS if p != "final"]
    figure, axes = canvas(1, 2, height=2.5, sharex=True, sharey=True)
    for axis, thresholds in zip(axes, THRESHOLDS, strict=True):
        axis.axvline(0, color=PREDICTOR_COLOURS["final"], linewidth=1.2)
        for y, method in enumerate(PERCEPTRONS):
            for shift, p in zip((-0.24, 0, 0.24), others, strict=True):
                _point(axis, y + shift, differences[p, method, thresholds], PREDICTOR_COLOURS[p], PREDICTOR_MARKERS[p])
        axis.set(title=FAMILY[thresholds], yticks=range(len(PERCEPTRONS)), ylim=(len(PERCEPTRONS) - 0.5, -0.5))
        axis.set_yticklabels(PERCEPTRONS)
    handles = [Line2D([], [], color=PREDICTOR_COLOURS["final"], label="final")]
    styles = [{"color": PREDICTOR_COLOURS[p], "marker": PREDICTOR_MARKERS[p], "linestyle": "none"} for p in others]
    handles += [Line2D([], [], label=p, **style) for p, style in zip(others, styles, strict=True)]
    figure.legend(handles=handles, loc="outside upper center", ncols=4)
    figure.supxlabel("test error minus the final predictor's (percentage points)", fontsize=9)
    return figure


def figure_narrow(by_width):
    """Validation error against the width, a panel for each form: each predictor with thresholds on (lines) and off (dashes).

    by_width as of `tables.by_width`.
    """
    methods = _methods(by_width)
    figure, axes = canvas(1, len(methods), height=2.6, sharex=True, sharey=True)
    for axis, method in zip(axes, methods, strict=True):
        for predictor in ("final", "average", "voted"):
            for thresholds, style in (("on", "-"), ("off", "--")):
                own = by_width.query("method == @method and thresholds == @thresholds and predictor == @predictor")
                own = own.sort_values("width")
                axis.plot(
                    own["width"], 100 * own["error"], style, color=PREDICTOR_COLOURS[predictor], linewidth=1.2,
                    marker=PREDICTOR_MARKERS[predictor], markersize=3 if thresholds == "on" else 0,
                )  # fmt: skip
        _width_axis(axis)
        axis.set_title(method, fontsize=8.5)
    axes[0].set(ylabel="validation error (%)", ylim=(0, None))
    handles = [
        Line2D([], [], color=PREDICTOR_COLOURS[p], marker=PREDICTOR_MARKERS[p], markersize=4, label=p)
        for p in ("final", "average", "voted")
    ]
    handles += [Line2D([], [], color=GREY, linestyle="--", label="the same without thresholds")]
    figure.legend(handles=handles, loc="outside upper center", ncols=4)
    figure.supxlabel(r"width $\sigma$ (median distances of training examples)", fontsize=9)
    return figure


def figure_widths(curves):
    """Validation error against the width of the RBF kernel, a panel for each data set; rings mark the lowest errors.

    The bar on the left of a panel is two standard errors long: those of the lowest error, by the number of validations.
    """
    names = _datasets(curves)
    columns = min(4, len(names))
    rows = -(-len(names) // columns)
    figure, axes = canvas(rows, columns, height=0.8 + 1.5 * rows, sharex=True, squeeze=False)
    for axis, name in zip(axes.flat, names, strict=False):
        own = curves[curves["dataset"] == name]
        for method in _methods(curves):
            part = own[own["method"] == method].sort_values("width")
            axis.plot(part["width"], 100 * part["error"], LINES[method], markersize=2.5, lw=1.3, **_mark(method))
            best = part[part["error"] <= part["error"].min() + 1e-12]
            ring = dict(markerfacecolor="none", markeredgecolor=METHOD_COLOURS[method], markeredgewidth=1.2)
            axis.plot(best["width"], 100 * best["error"], "o", markersize=8, linestyle="none", **ring)
        low = own["error"].min()
        reach = 100 * np.sqrt(low * (1 - low) / own["n"].max())
        axis.errorbar(own["width"].min() / 1.6, 100 * low + reach, yerr=reach, color=GREY, capsize=2, linewidth=1.2)
        _width_axis(axis)
        axis.set_title(set_name(name), fontsize=8.5)
    for axis in axes.flat[len(names) :]:
        axis.set_axis_off()
    for axis in axes.flat[: len(names)][-columns:]:
        axis.tick_params(axis="x", labelbottom=True)
    handles = [Line2D([], [], linestyle=LINES[m], label=m, **_mark(m)) for m in _methods(curves)]
    figure.legend(handles=handles, loc="outside upper center", ncols=3)
    figure.supxlabel(r"width $\sigma$ (median distances of training examples)", fontsize=9)
    figure.supylabel("validation error (%)", fontsize=9)
    return figure


def figure_best_widths(widths):
    """The best RBF width of each form on each data set, a panel for each family; widths as of `tables.best_widths`."""
    names = list(widths["set"])
    figure, axes = canvas(1, 2, height=1.2 + 0.19 * len(names), sharex=True, sharey=True)
    for axis, thresholds in zip(axes, THRESHOLDS, strict=True):
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


def figure_squared_kernel(squared):
    """What K^2 makes of an RBF kernel: its values against the distance (left), its diagonal (right).

    squared as of `squared_kernel`. Left, each as a share of its value at distance 0: K, the kernel of width sqrt(2) sigma,
    and pairs of examples under K^2. Right: the histogram of K^2[i, i] in units of their mean.
    """
    figure, (left, right) = canvas(1, 2, height=2.4)
    own = squared.loc[squared["same"], "squared"].to_numpy()
    pairs = squared[~squared["same"]].sort_values("distance")
    steps = np.linspace(0, min(1.5, pairs["distance"].max()), 31)
    inside = np.digitize(pairs["distance"], steps)
    middle, low, high = [], [], []
    for step in range(1, len(steps)):
        values = pairs["squared"].to_numpy()[inside == step] / own.mean()
        quantiles = np.quantile(values, (0.5, 0.05, 0.95)) if len(values) >= 20 else (np.nan,) * 3
        for column, value in zip((middle, low, high), quantiles, strict=True):
            column.append(value)
    centre = (steps[1:] + steps[:-1]) / 2
    left.fill_between(centre, low, high, color=METHOD_COLOURS["Xu-Zhang"], alpha=0.2, lw=0)
    left.plot(centre, middle, ":", label="$K^2$: median and 5 to 95 %", markersize=3, **_mark("Xu-Zhang"))
    left.plot(pairs["distance"], pairs["kernel"], "-", color=METHOD_COLOURS["ordinary"], label=r"$K$, width $\sigma$")
    left.plot(pairs["distance"], pairs["wider"], "--", color=GREY, label=r"RBF of width $\sqrt{2}\,\sigma$")
    left.set(xlabel="distance (medians)", ylabel="relative kernel value", xlim=(0, steps[-1]), ylim=(0, None))
    right.hist(own / own.mean(), bins=30, color=METHOD_COLOURS["Xu-Zhang"], edgecolor="white", linewidth=0.4)
    right.axvline(1, color=METHOD_COLOURS["ordinary"], linewidth=1.6)
    right.set(xlabel="$K^2(x_i, x_i)$ (multiple of the mean)", ylabel="training examples", xlim=(0, None))
    right.set_title("diagonal of $K^2$ (line: that of $K$)", fontsize=8.5)
    figure.legend(*left.get_legend_handles_labels(), loc="outside upper left", ncols=3)
    return figure


def _datasets(table):
    return list(dict.fromkeys(table["dataset"]))


def _methods(table):
    """The methods of a table in the order of the palette."""
    return [name for name in METHOD_COLOURS if name in set(table["method"])]


def _mark(method):
    """Colour and marker of a method: filled for our perceptrons, open for the references."""
    face = METHOD_COLOURS[method] if method in PERCEPTRONS else "white"
    return {"color": METHOD_COLOURS[method], "marker": METHOD_MARKERS[method], "markerfacecolor": face}
