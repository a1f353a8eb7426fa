"""Figures of the comparison on benchmark sets; tables are those of study.comparison.tables.

Methods have the same colour and marker everywhere; those of our perceptrons are filled, those of the references open.
"""

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from kp.mistakes import PREDICTORS
from study.style import (
    BLUE,
    GREY,
    METHOD_COLOURS,
    METHOD_MARKERS,
    PREDICTOR_COLOURS,
    PREDICTOR_MARKERS,
    REFERENCE,
    canvas,
    log_percent_axis,
)

PERCEPTRONS = ("one-vs-all", "ordinary", "Xu-Zhang", "linear")
"""The methods with filled marks."""
LINES = {"one-vs-all": "-", "ordinary": "--", "Xu-Zhang": ":"}
SHORT = {"winequality-red": "wine quality, red", "winequality-white": "wine quality, white"}


def figure_errors(chosen):
    """Test errors of all methods on each data set, with their 95 % intervals; chosen as of `chosen_rates`."""
    names, methods = _datasets(chosen), _methods(chosen)
    figure, axis = canvas(height=1.3 + 0.62 * len(names))
    for i, method in enumerate(methods):
        rows = chosen[chosen["method"] == method].set_index("dataset").loc[names]
        y = np.arange(len(names)) + 0.82 * (i / (len(methods) - 1) - 0.5)
        floor = 50 / rows["n"]  # half an example, where no error was made, for the logarithm
        error, low = np.maximum(100 * rows["error"], floor), np.maximum(100 * rows["low"], floor)
        axis.hlines(y, low, 100 * rows["high"], color=METHOD_COLOURS[method], linewidth=1.0)
        axis.plot(error, y, linestyle="none", markersize=4, label=method, **_mark(method))
    for edge in np.arange(len(names) - 1) + 0.5:
        axis.axhline(edge, color="#BBBBBB", linewidth=0.6)
    axis.set(xlabel="test error (%)", yticks=range(len(names)), ylim=(len(names) - 0.5, -0.5))
    axis.set_yticklabels([_label(name) for name in names])
    log_percent_axis(axis, which="x")
    axis.grid(False, axis="y")
    axis.tick_params(axis="y", length=0)
    figure.legend(loc="outside upper center", ncols=4)
    return figure


def figure_ranks(ranks, groups, difference):
    """Critical-difference diagram (Demsar 2006): mean ranks, and bars over methods that the test cannot tell apart.

    ranks as of `mean_ranks`, in ascending order; groups the runs (first, last) of positions that a bar joins; difference
    the critical one.
    """
    k, half = len(ranks), -(-len(ranks) // 2)
    figure, axis = canvas(height=0.9 + 0.36 * half)
    values = ranks["mean rank"].to_numpy()
    top = -0.35 * len(groups) - 0.35
    for position, (value, method) in enumerate(zip(values, ranks["method"], strict=True)):
        left = position < half
        level = top - 0.55 * (position if left else k - 1 - position) - 0.4
        edge = 0.75 if left else k + 0.25
        axis.plot([value, value, edge], [0, level, level], color="#555555", linewidth=0.9)
        axis.plot(value, 0, linestyle="none", markersize=6, zorder=3, clip_on=False, **_mark(method))
        text = f"{method}  {value:.2f}" if left else f"{value:.2f}  {method}"
        axis.text(edge + (-0.06 if left else 0.06), level, text, ha="right" if left else "left", va="center", fontsize=8)
    for bar, (first, last) in enumerate(groups):
        height = -0.35 * bar - 0.35
        axis.plot(
            [values[first] - 0.05, values[last] + 0.05],
            [height, height],
            color="black",
            linewidth=3.2,
            solid_capstyle="butt",
        )
    axis.plot([1, 1 + difference], [1.15, 1.15], color="black", marker="|", markersize=7, linewidth=1.4)
    axis.text(1, 1.3, f"critical difference {difference:.2f}", ha="left", va="bottom", fontsize=8)
    for rank in range(1, k + 1):
        axis.plot([rank, rank], [0, 0.18], color="black", linewidth=0.8)
        axis.text(rank, 0.28, str(rank), ha="center", va="bottom", fontsize=8)
    axis.plot([1, k], [0, 0], color="black", linewidth=0.8)
    axis.set(xlim=(-1.6, k + 2.6), ylim=(top - 0.55 * half - 0.2, 2.1))
    axis.text(k + 0.25, 0, "mean rank", ha="left", va="center", fontsize=8)
    axis.set_axis_off()
    return figure


def figure_pairs(paired):
    """Differences of the perceptrons' test errors on the same examples, with 95 % intervals; filled where p < 0.05."""
    names = _datasets(paired)
    combinations = list(dict.fromkeys(zip(paired["first"], paired["second"], strict=True)))
    combinations.sort(key=lambda pair: "linear" in pair)
    figure, axes = canvas(2, 3, height=1.6 + 0.42 * len(names), sharey=True, sharex=True)
    for axis, (first, second) in zip(axes.flat, combinations, strict=True):
        rows = paired[(paired["first"] == first) & (paired["second"] == second)].set_index("dataset").loc[names]
        y, sure = np.arange(len(names)), (rows["p"] < 0.05).to_numpy()
        axis.axvline(0, **REFERENCE)
        axis.hlines(y, 100 * rows["low"], 100 * rows["high"], color=BLUE, linewidth=1.2)
        x = 100 * rows["difference"].to_numpy()
        axis.plot(x[sure], y[sure], "o", color=BLUE, markersize=5)
        axis.plot(x[~sure], y[~sure], "o", color=BLUE, markersize=5, markerfacecolor="white")
        axis.set_title(f"{first} less {second}", fontsize=8.5)
        axis.set_xscale("symlog", linthresh=1, linscale=0.6)
        axis.set_xticks([-20, -5, -1, 0, 1, 5, 20])
        axis.xaxis.set_major_formatter("{x:g}")
        axis.xaxis.set_minor_locator(NullLocator())
        axis.set(yticks=y, ylim=(len(names) - 0.5, -0.5))
        axis.set_yticklabels([_label(name) for name in names])
    figure.supxlabel("difference of test errors (percentage points; beyond 1 on a logarithmic scale)", fontsize=9)
    return figure


def figure_costs(costs, chosen):
    """Error against the price of a prediction; costs as of `costs`, chosen as of `chosen_rates`.

    One point for each method and data set: kernel values as a share of the training examples, and the error as a multiple
    of the lowest on that set. Large marks are medians over the sets. Methods without kernel are left out.
    """
    figure, axis = canvas(height=3.9)
    lowest = chosen.groupby("dataset")["error"].transform("min")
    table = chosen.assign(multiple=chosen["error"] / lowest).merge(costs, on=["dataset", "method"])
    table = table[table["kernel_values"] > 0]
    shift = {"Xu-Zhang": 0.0, "kernel ridge": 3.0, "nearest neighbours": 6.0}  # all need every example; apart, to be seen
    for method in _methods(table):
        rows = table[table["method"] == method]
        x = 100 * rows["kernel_values"] + shift.get(method, 0.0)
        axis.plot(x, rows["multiple"], linestyle="none", markersize=3.5, alpha=0.55, **_mark(method))
        axis.plot(x.median(), rows["multiple"].median(), linestyle="none", markersize=10, label=method, **_mark(method))
    axis.set(xlabel="kernel values of one prediction (% of the training examples)", yscale="log", xlim=(0, 109))
    axis.set(ylabel="test error (multiple of the lowest on the set)", xticks=range(0, 101, 20))
    axis.yaxis.set_major_locator(LogLocator(subs=(1, 1.5, 2, 3, 5)))
    axis.yaxis.set_major_formatter("{x:g}")
    axis.yaxis.set_minor_locator(NullLocator())
    figure.legend(loc="outside upper center", ncols=6, columnspacing=1.0, handletextpad=0.2)
    return figure


def figure_predictors(ratios):
    """Test error of each predictor as a multiple of the final one's, a panel for each perceptron; ratios as of
    `predictor_ratios`."""
    names, methods = _datasets(ratios), _methods(ratios)
    figure, axes = canvas(1, len(methods), height=1.2 + 0.24 * len(names), sharex=True, sharey=True)
    others = [p for p in PREDICTORS if p != "final"]
    for axis, method in zip(axes, methods, strict=True):
        axis.axvline(1, color=PREDICTOR_COLOURS["final"], linewidth=1.2)
        for shift, predictor in zip((-0.22, 0, 0.22), others, strict=True):
            rows = ratios[(ratios["method"] == method) & (ratios["predictor"] == predictor)].set_index("dataset")["ratio"]
            axis.plot(
                rows.reindex(names), np.arange(len(names)) + shift, linestyle="none", markersize=4,
                color=PREDICTOR_COLOURS[predictor], marker=PREDICTOR_MARKERS[predictor],
            )  # fmt: skip
        axis.set(title=method, yticks=range(len(names)), ylim=(len(names) - 0.5, -0.5), xscale="log")
        axis.set_yticklabels([_label(name) for name in names])
        axis.xaxis.set_major_locator(LogLocator(subs=(1, 1.5, 2, 3, 5, 7)))
        axis.xaxis.set_major_formatter("{x:g}")
        axis.xaxis.set_minor_locator(NullLocator())
        axis.tick_params(axis="x", labelsize=7)
    handles = [Line2D([], [], color=PREDICTOR_COLOURS["final"], label="final")]
    styles = [{"color": PREDICTOR_COLOURS[p], "marker": PREDICTOR_MARKERS[p], "linestyle": "none"} for p in others]
    handles += [Line2D([], [], label=p, **style) for p, style in zip(others, styles, strict=True)]
    figure.legend(handles=handles, loc="outside upper center", ncols=4)
    figure.supxlabel("test error (multiple of the final predictor's)", fontsize=9)
    return figure


def figure_widths(curves):
    """Validation error against the width of the RBF kernel, a panel for each data set; rings mark the lowest errors."""
    names = _datasets(curves)
    columns = min(4, len(names))
    rows = -(-len(names) // columns)
    figure, axes = canvas(rows, columns, height=0.8 + 1.5 * rows, sharex=True, squeeze=False)
    for axis, name in zip(axes.flat, names, strict=False):
        for method in _methods(curves):
            part = curves[(curves["dataset"] == name) & (curves["method"] == method)].sort_values("width")
            error = 100 * part["error"]
            axis.plot(part["width"], error, LINES[method], markersize=2.5, lw=1.3, **_mark(method))
            best = part.loc[part.sort_values("width", ascending=False)["error"].idxmin()]
            ring = dict(markerfacecolor="none", markeredgecolor=METHOD_COLOURS[method], markeredgewidth=1.2)
            axis.plot(best["width"], 100 * best["error"], "o", markersize=8, linestyle="none", **ring)
        axis.set_xscale("log", base=2)
        axis.set_title(_label(name), fontsize=8.5)
        axis.xaxis.set_major_locator(LogLocator(base=4))
        axis.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"1/{1 / x:.0f}" if x < 1 else f"{x:g}"))
        axis.xaxis.set_minor_locator(NullLocator())
    for axis in axes.flat[len(names) :]:
        axis.set_axis_off()
    for axis in axes.flat[: len(names)][-columns:]:
        axis.tick_params(axis="x", labelbottom=True)
    handles = [Line2D([], [], linestyle=LINES[m], label=m, **_mark(m)) for m in _methods(curves)]
    figure.legend(handles=handles, loc="outside upper center", ncols=3)
    figure.supxlabel(r"width $\sigma$ (median distances of training examples)", fontsize=9)
    figure.supylabel("validation error (%)", fontsize=9)
    return figure


def figure_squared_kernel(squared):
    """What K^2 makes of an RBF kernel: its values against the distance (left), its self-values (right).

    squared as of `squared_kernel`. Left, each as a share of its value at distance 0: K, the kernel of width sqrt(2) sigma,
    and pairs of examples under K^2. Right: the histogram of K^2[i, i] in units of their mean.
    """
    figure, (left, right) = canvas(1, 2, height=2.9)
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
    left.set(xlabel="distance (medians)", ylabel="kernel value (mean at 0: 1)", xlim=(0, steps[-1]), ylim=(0, None))
    right.hist(own / own.mean(), bins=30, color=METHOD_COLOURS["Xu-Zhang"], edgecolor="white", linewidth=0.4)
    right.axvline(1, color=METHOD_COLOURS["ordinary"], linewidth=1.6)
    right.set(xlabel="$K^2(x_i, x_i)$ (multiple of the mean)", ylabel="training examples", xlim=(0, None))
    right.set_title("self-values of $K^2$ (line: those of $K$)", fontsize=8.5)
    figure.legend(*left.get_legend_handles_labels(), loc="outside upper left", ncols=3)
    return figure


def _datasets(table):
    return list(dict.fromkeys(table["dataset"]))


def _methods(table):
    """The methods of a table in the order of the palette."""
    return [name for name in METHOD_COLOURS if name in set(table["method"])]


def _label(name):
    return SHORT.get(name, name.removesuffix("-bundled"))


def _mark(method):
    """Colour and marker of a method: filled for our perceptrons, open for the references."""
    face = METHOD_COLOURS[method] if method in PERCEPTRONS else "white"
    return {"color": METHOD_COLOURS[method], "marker": METHOD_MARKERS[method], "markerfacecolor": face}
