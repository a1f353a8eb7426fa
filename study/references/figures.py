"""The figure of the chapter on other learners: error against training time."""

import numpy as np
from matplotlib.ticker import FuncFormatter

from kp.mistakes import PREDICTORS
from study.statistics import wilson
from study.style import BLACK, GREY, PREDICTOR_COLOURS, PREDICTOR_MARKERS, canvas, log_percent_axis


def figure_error_against_time(errors, costs, *, ours):
    """Test error by seconds of training: reference methods as points with their 95 % interval over test images, the kernel
    perceptron (`ours`) as a line for each predictor, through its epochs."""
    figure, axis = canvas(height=4.0)
    seconds = costs.set_index(["method", "epoch"])["fit"]
    for name in PREDICTORS:
        rows = errors[(errors["method"] == ours) & (errors["predictor"] == name)].sort_values("epoch")
        x = [seconds[ours, epoch] for epoch in rows["epoch"]]
        style = {"color": PREDICTOR_COLOURS[name], "marker": PREDICTOR_MARKERS[name], "markersize": 4, "lw": 1.1}
        axis.plot(x, 100 * rows["errors"] / rows["n_test"], label=f"{ours}, {name}", **style)
    for row in errors[errors["method"] != ours].itertuples():
        x, y, ends = seconds[row.method, 0], 100 * row.errors / row.n_test, 100 * np.array(wilson(row.errors, row.n_test))
        axis.errorbar(
            x, y, yerr=[[y - ends[0]], [ends[1] - y]], fmt="o", color=GREY, markersize=4, capsize=2, elinewidth=0.8
        )
        axis.annotate(row.method, (x, y), xytext=(5, 4), textcoords="offset points", fontsize=7, color=BLACK)
    axis.set(xscale="log", xlabel="seconds of training", ylabel="test error (%)")
    axis.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.margins(x=0.18)
    log_percent_axis(axis)
    figure.legend(loc="outside upper center", ncols=2)
    return figure
