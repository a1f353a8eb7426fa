"""The figure of the chapter on other learners: error against training time."""

import numpy as np
from matplotlib.ticker import FuncFormatter

from kp.mistakes import PREDICTORS
from study.statistics import wilson
from study.style import BLACK, GREY, PREDICTOR_COLOURS, PREDICTOR_MARKERS, canvas, log_percent_axis


def figure_error_against_time(errors, costs, *, ours):
    """Test error by seconds of training and of prediction: reference methods as points with their 95 % interval over test
    images, the kernel perceptron (`ours`) as a line for each predictor, through its epochs."""
    figure, axes = canvas(1, 2, height=3.5, sharey=True)
    for axis, (name, label) in zip(axes, {"fit": "training", "predict": "predicting the test images"}.items(), strict=True):
        _against(axis, errors, costs.set_index(["method", "epoch"])[name], ours)
        axis.set(xscale="log", xlabel=f"seconds of {label}")
        axis.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axis.margins(x=0.3)
        log_percent_axis(axis)
    axes[0].set(ylabel="test error (%)")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=4, title=ours, title_fontsize=8)
    return figure


def _against(axis, errors, seconds, ours):
    """The errors on an axis by seconds {(method, epoch): value}."""
    for name in PREDICTORS:
        rows = errors[(errors["method"] == ours) & (errors["predictor"] == name)].sort_values("epoch")
        x = [seconds[ours, epoch] for epoch in rows["epoch"]]
        style = {"color": PREDICTOR_COLOURS[name], "marker": PREDICTOR_MARKERS[name], "markersize": 3.5, "lw": 0.9}
        axis.plot(x, 100 * rows["errors"] / rows["n_test"], label=name, **style)
    rows = errors[errors["method"] != ours].sort_values("errors", ascending=False)
    drawn, middle = (
        [],
        float(np.mean([seconds[ours, epoch] for epoch in set(errors.loc[errors["method"] == ours, "epoch"])])),
    )
    for row in rows.itertuples():
        x, y, ends = seconds[row.method, 0], 100 * row.errors / row.n_test, 100 * np.array(wilson(row.errors, row.n_test))
        style = {"color": GREY, "markersize": 4, "capsize": 2, "elinewidth": 0.8}
        axis.errorbar(x, y, yerr=[[y - ends[0]], [ends[1] - y]], fmt="o", **style)
        near = any(abs(np.log10(x / x_)) < 0.6 and y_ < 1.25 * y for x_, y_ in drawn)
        aside = 0 < np.log10(middle / x) < 2.8  # the lines are on the right, in the label's way
        place = {"xytext": (0 if aside else 5, -14 if near and aside else -9 if near else 8 if aside else 4)}
        place["ha"] = "center" if aside else "left"
        axis.annotate(row.method, (x, y), textcoords="offset points", fontsize=7, color=BLACK, **place)
        drawn.append((x, y))
