"""The figures of the chapter on lower errors and their price: the ladder of errors, and errors against seconds."""

import numpy as np
from matplotlib.ticker import FuncFormatter

from study.references.tables import INTELEX, OURS, SVM, largest
from study.style import BAND, GREY, METHOD_COLOURS, PREDICTOR_COLOURS, canvas, log_percent_axis
from study.words import percent

PLACES = {
    "nearest neighbour": (-7, 8, "right"),
    "3 nearest neighbours": (-5, -1, "right"),
    "count sketch": (-7, -2, "right"),
    "neural network": (0, -30, "center"),
    "polynomial SVM": (7, 4, "left"),
    "polynomial SVM (scikit-learn-intelex)": (-7, 2, "right"),
    "RBF SVM (scikit-learn-intelex)": (-7, -10, "right"),
    "vote": (0, -26, "center"),
    "kernel perceptron, average predictor": (-8, 0, "right"),
    "logistic regression": (-6, -9, "right"),
    "averaged SGD": (0, 15, "center"),
    "kernel perceptron, one epoch": (-8, 0, "right"),
}
"""Where the name of a point is written, in points from it, if not to its right; by its longest beginning."""


def figure_ladder(ladder):
    """The table of the ladder, a row for each step: a dot at its error with its value and its interval, hollow and so named
    if it was found in hindsight; the last row, of the support vector machine, is a line through all."""
    figure, axis = canvas(height=2.9)
    steps = ladder[ladder["name"] != SVM]
    svm = ladder[ladder["name"] == SVM].iloc[0]
    axis.axvspan(100 * svm["low"], 100 * svm["high"], color=BAND, alpha=0.6, linewidth=0, zorder=0)
    axis.axvline(100 * svm["error"], color=METHOD_COLOURS["SVM"], linewidth=1, linestyle="--", zorder=1)
    axis.annotate(
        f"{SVM}, {percent(svm['error'])}", (100 * svm["error"], 1), xycoords=("data", "axes fraction"), xytext=(3, 3),
        textcoords="offset points", fontsize=8, color=METHOD_COLOURS["SVM"],
    )  # fmt: skip
    for place, row in enumerate(steps.itertuples()):
        error = 100 * row.error
        ends = [[100 * (row.error - row.low)], [100 * (row.high - row.error)]]
        colour = PREDICTOR_COLOURS["final" if "final" in row.name else "average"]
        inside = "white" if row.hindsight else colour
        axis.errorbar(error, place, xerr=ends, fmt="o", markersize=6, markerfacecolor=inside, capsize=2, color=colour)
        axis.annotate(
            percent(row.error), (error, place), xytext=(0, 6), textcoords="offset points", fontsize=9, ha="center",
            va="bottom", color=colour, bbox=CLEAR, zorder=1, weight="bold" if place == len(steps) - 1 else "normal",
        )  # fmt: skip
    labels = [f"{row.name} (in hindsight)" if row.hindsight else row.name for row in steps.itertuples()]
    axis.set(yticks=range(len(steps)), yticklabels=labels, xlabel="test error (%)")
    axis.set_ylim(len(steps) - 0.5, -0.9)
    axis.grid(axis="y", visible=False)
    log_percent_axis(axis, which="x")
    axis.set_xlim(80 * steps["low"].min(), 120 * steps["high"].max())
    return figure


def figure_error_against_time(bill):
    """Test error by the seconds of training and prediction together: a named point with its interval for each learner that
    had one thread, the largest of those that come in sizes. Dotted: the front, those of which no other is both quicker and
    better."""
    figure, axis = canvas(height=4.4)
    one = largest(bill[bill["threads"] == 1]).assign(seconds=bill["fit"] + bill["predict"]).sort_values("seconds")
    front = one[one["error"] < one["error"].cummin().shift(fill_value=np.inf)]
    axis.step(front["seconds"], 100 * front["error"], where="post", color=GREY, linewidth=0.8, linestyle=":", zorder=0)
    for row in one.to_dict("records"):
        learner = row["learner"]
        colour = _colour(learner)
        y = 100 * row["error"]
        ends = [[y - 100 * row["error low"]], [100 * row["error high"] - y]]
        style = {"color": colour, "fmt": "o", "markersize": 6, "capsize": 2, "elinewidth": 0.8}
        axis.errorbar(row["seconds"], y, yerr=ends, markerfacecolor="white" if learner.endswith(INTELEX) else None, **style)
        known = max((each for each in PLACES if learner.startswith(each)), key=len, default="")
        right, up, side = PLACES.get(known, (7, 0, "left"))
        style = {"fontsize": 8, "va": "center", "ha": side, "linespacing": 0.9, "bbox": CLEAR, "zorder": 1, "color": colour}
        axis.annotate(_short(learner), (row["seconds"], y), xytext=(right, up), textcoords="offset points", **style)
    axis.annotate(
        "quicker and better", (0.22, 0.56), xytext=(0.28, 0.65), xycoords="axes fraction", textcoords="axes fraction",
        fontsize=9, color=GREY, arrowprops={"arrowstyle": "->", "color": GREY},
    )  # fmt: skip
    axis.set(xscale="log", xlabel="seconds of training and prediction, one thread", ylabel="test error (%)")
    axis.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
    log_percent_axis(axis)
    axis.set_xlim(0.15 * one["seconds"].min(), 5.5 * one["seconds"].max())
    axis.set_ylim(bottom=80 * one["error low"].min())
    return figure


CLEAR = {"facecolor": "white", "edgecolor": "none", "pad": 0.5}
"""Behind a name, so that lines do not cross it."""


def _colour(learner):
    """Blue for the kernel perceptron with the average predictor, that of the SVM with a kernel, or grey."""
    if learner.startswith((OURS, "vote")):
        return PREDICTOR_COLOURS["average"]
    return METHOD_COLOURS["SVM"] if learner.startswith((SVM, "polynomial SVM")) else GREY


def _short(learner):
    """The name of a learner as it stands at its point."""
    return learner.replace(", average predictor", "").replace(" (scikit-learn-", "\n(").replace(", one", ",\none")
