"""The figures of the chapter on lower errors and their price: the ladder of errors, and errors against seconds."""

import numpy as np
from matplotlib.ticker import FuncFormatter

from study.references.tables import INTELEX, OURS, SVM, largest
from study.style import BAND, GREY, METHOD_COLOURS, canvas, log_percent_axis
from study.words import percent

KINDS = {
    OURS: "one-vs-all",
    "vote": "one-vs-all",
    SVM: "SVM",
    "polynomial SVM": "SVM",
    "nearest neighbour": "nearest neighbours",
    "3 nearest neighbours": "nearest neighbours",
    "logistic regression": "linear",
    "linear SVM": "linear",
    "scikit-learn perceptron": "scikit-learn perceptron",
}
"""The kind of a learner, by how its name begins: that of its colour."""
PLACES = {
    "3 nearest neighbours": (-5, 2, "right"),
    "nearest neighbour": (-7, 8, "right"),
    "random features, 300": (-6, 3, "right"),
    "count sketch, 300": (-6, -3, "right"),
    "count sketch, 1,000": (-6, 0, "right"),
    "count sketch, 3,000": (13, 6, "left"),
    "random features, 3,000": (7, 5, "left"),
    "neural network, 100": (-6, 0, "right"),
    "neural network, 300": (-6, 7, "right"),
    "neural network, 1,000": (-6, -6, "right"),
    "neural network, 3,000": (0, -26, "center"),
    "polynomial SVM": (-6, 4, "right"),
    "polynomial SVM (scikit-learn-intelex)": (-6, 3, "right"),
    "RBF SVM (scikit-learn-intelex)": (-6, -10, "right"),
    "vote": (0, -26, "center"),
    "logistic regression": (-6, -9, "right"),
    "averaged SGD": (0, 15, "center"),
    "kernel perceptron, one epoch": (-12, -26, "left"),
    "Nystroem, 1,000": (7, 4, "left"),
    "Nystroem, 3,000": (7, 6, "left"),
    "Nystroem, 10,000": (0, -24, "center"),
}
"""Where the name of a point is written, in points from it, if not to its right; by its longest beginning."""


def figure_ladder(ladder):
    """The table of the ladder, a row for each step: a dot at its error with its value and its interval, hollow and so named
    if it was found in hindsight; the last row, of the support vector machine, is a line through all."""
    figure, axis = canvas(height=2.6)
    steps = ladder[ladder["name"] != SVM]
    svm = ladder[ladder["name"] == SVM].iloc[0]
    axis.axvspan(100 * svm["low"], 100 * svm["high"], color=BAND, alpha=0.6, linewidth=0, zorder=0)
    axis.axvline(100 * svm["error"], color=METHOD_COLOURS["SVM"], linewidth=1, linestyle="--", zorder=1)
    axis.annotate(
        f"{SVM}, {percent(svm['error'])}", (100 * svm["error"], 1), xycoords=("data", "axes fraction"), xytext=(3, 3),
        textcoords="offset points", fontsize=7.5, color=METHOD_COLOURS["SVM"],
    )  # fmt: skip
    for place, row in enumerate(steps.itertuples()):
        error = 100 * row.error
        ends = [[100 * (row.error - row.low)], [100 * (row.high - row.error)]]
        colour = METHOD_COLOURS["one-vs-all"]
        inside = "white" if row.hindsight else colour
        axis.errorbar(error, place, xerr=ends, fmt="o", markersize=5, markerfacecolor=inside, capsize=2, color=colour)
        side, end, way = ("left", row.high, 5) if row.error > svm["error"] else ("right", row.low, -5)
        axis.annotate(
            percent(row.error), (100 * end, place), xytext=(way, 0), textcoords="offset points", fontsize=8, ha=side,
            va="center",
        )  # fmt: skip
    labels = [f"{row.name} (in hindsight)" if row.hindsight else row.name for row in steps.itertuples()]
    axis.set(yticks=range(len(steps)), yticklabels=labels, xlabel="test error (%)")
    axis.set_ylim(len(steps) - 0.5, -0.6)
    axis.grid(axis="y", visible=False)
    log_percent_axis(axis, which="x")
    axis.set_xlim(50 * steps["low"].min(), 170 * steps["high"].max())
    return figure


def figure_error_against_time(bill):
    """Test error by the seconds of training and prediction together, a named point with its interval for each learner that
    had one thread. Lines join the sizes of one method, of which all but the largest have a number for a name. Dotted: the
    front, those of which no other is both quicker and better."""
    figure, axis = canvas(height=4.4)
    one = bill[bill["threads"] == 1].assign(seconds=bill["fit"] + bill["predict"]).sort_values("seconds")
    front = one[one["error"] < one["error"].cummin().shift(fill_value=np.inf)]
    axis.step(front["seconds"], 100 * front["error"], where="post", color=GREY, linewidth=0.8, linestyle=":", zorder=0)
    one[["method", "size"]] = one["learner"].str.extract(r"^(.+), ([\d,]+)$")
    for method, sizes in one.sort_values("numbers").groupby("method"):
        axis.plot(sizes["seconds"], 100 * sizes["error"], color=_colour(method), linewidth=0.8, alpha=0.5, zorder=0)
    named = largest(one).index
    for place, row in zip(one.index, one.to_dict("records"), strict=True):
        learner = row["learner"]
        y = 100 * row["error"]
        ends = [[y - 100 * row["error low"]], [100 * row["error high"] - y]]
        style = {"color": _colour(learner), "fmt": "o", "markersize": 5, "capsize": 2, "elinewidth": 0.8}
        axis.errorbar(row["seconds"], y, yerr=ends, markerfacecolor="white" if learner.endswith(INTELEX) else None, **style)
        known = max((each for each in PLACES if learner.startswith(each)), key=len, default="")
        right, up, side = PLACES.get(known, (6, 0, "left"))
        style = {"fontsize": 7, "va": "center", "ha": side, "linespacing": 0.9, "bbox": CLEAR, "zorder": 1}
        name = learner if place in named else row["size"]
        axis.annotate(_short(name), (row["seconds"], y), xytext=(right, up), textcoords="offset points", **style)
    axis.set(xscale="log", xlabel="seconds of training and prediction, one thread", ylabel="test error (%)")
    axis.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
    log_percent_axis(axis)
    axis.margins(x=0.08)
    return figure


CLEAR = {"facecolor": "white", "edgecolor": "none", "pad": 0.5}
"""Behind a name, so that lines do not cross it."""


def _colour(learner):
    """That of the kind of a learner."""
    kind = next((kind for name, kind in KINDS.items() if learner.startswith(name)), "")
    return METHOD_COLOURS.get(kind, GREY)


def _short(learner):
    """The name of a learner as it stands at its point."""
    return (
        learner.replace(", average predictor", "")
        .replace(" (scikit-learn-", "\n(")
        .replace(", one", ",\none")
        .replace(", degree 4", "")
    )
