"""The figure of the chapter on other learners: error against training time."""

import numpy as np
from matplotlib.ticker import FuncFormatter

from kp.mistakes import PREDICTORS
from study.statistics import wilson
from study.style import GREY, PREDICTOR_COLOURS, PREDICTOR_MARKERS, canvas, log_percent_axis

MARKERS = "v^<>hdPX*p"
"""Of other learners, from the highest error to the lowest, and again from the first."""


def figure_error_against_time(errors, costs, *, ours):
    """Test error by processor seconds of training and of prediction: reference methods as points with their 95 % interval
    over test images, the kernel perceptron (`ours`) as a line for each predictor, through its epochs."""
    figure, axes = canvas(1, 2, height=3.9, sharey=True)
    for axis, (name, label) in zip(axes, {"fit": "training", "predict": "prediction"}.items(), strict=True):
        _against(axis, errors, costs.set_index(["method", "epoch"])[name], ours)
        axis.set(xscale="log", xlabel=f"processor seconds of {label}")
        axis.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
        log_percent_axis(axis)
    axes[0].set(ylabel="test error (%)")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
    return figure


def _against(axis, errors, seconds, ours):
    """The errors on an axis by seconds {(method, epoch): value}."""
    for name in PREDICTORS:
        rows = errors[(errors["method"] == ours) & (errors["predictor"] == name)].sort_values("epoch")
        x = [seconds[ours, epoch] for epoch in rows["epoch"]]
        style = {"color": PREDICTOR_COLOURS[name], "marker": PREDICTOR_MARKERS[name], "markersize": 3.5, "lw": 0.9}
        axis.plot(x, 100 * rows["errors"] / rows["n_test"], label=f"{ours}, {name}", **style)
    rows = errors[errors["method"] != ours].sort_values("errors", ascending=False)
    for place, row in enumerate(rows.itertuples()):
        x, y, ends = seconds[row.method, 0], 100 * row.errors / row.n_test, 100 * np.array(wilson(row.errors, row.n_test))
        style = {"color": GREY, "markersize": 6, "markerfacecolor": "white", "capsize": 2, "elinewidth": 0.8}
        style |= {"marker": MARKERS[place % len(MARKERS)], "linestyle": "none", "label": row.method}
        axis.errorbar(x, y, yerr=[[y - ends[0]], [ends[1] - y]], **style)
