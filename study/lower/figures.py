"""The figures of the chapter on lower errors and their price."""

import numpy as np
from matplotlib.ticker import FuncFormatter

from study.lower.tables import INTELEX, OURS, SVM, largest, on_law
from study.style import (
    BAND,
    BLACK,
    BLUE,
    GREY,
    METHOD_COLOURS,
    PREDICTOR_COLOURS,
    REFERENCE,
    canvas,
    draw_image,
    log_percent_axis,
)  # fmt: skip
from study.words import percent

PLACES = {
    "nearest neighbour": (-7, 8, "right"),
    "3 nearest neighbours": (-5, -1, "right"),
    "count sketch": (-7, -2, "right"),
    "neural network": (7, -7, "left"),
    "polynomial SVM": (-6, 1, "right"),
    "RBF SVM": (2, -24, "center"),
    "polynomial SVM (scikit-learn-intelex)": (-7, 2, "right"),
    "RBF SVM (scikit-learn-intelex)": (-7, -10, "right"),
    "vote": (-3, -17, "right"),
    "kernel perceptron, average predictor": (-8, 0, "right"),
    "logistic regression": (-6, -9, "right"),
    "averaged SGD": (4, -14, "left"),
    "kernel perceptron, one epoch": (-8, 0, "right"),
}
"""Where the name of a point is written, in points from it, if not to its right; by its longest beginning."""
CLEAR = {"facecolor": "white", "edgecolor": "none", "pad": 0.5}
"""Behind a name, so that lines do not cross it."""
MARKS = (("o", BLUE), ("s", "white"), ("D", BLUE), ("^", "white"))
"""Marker of the degrees, in order, and what fills it."""
LINES = {
    ("raw", 0): (GREY, "o", ":"),
    ("unit norm", 0): (GREY, "s", "--"),
    ("deskewed", 0): (BLACK, "o", ":"),
    ("deskewed, unit norm", 0): (BLUE, "s", "--"),
    ("deskewed, unit norm", 4): (BLUE, "D", "-"),
    ("deskewed, unit norm", 8): (BLUE, "^", "-"),
    ("deskewed, unit norm", 12): (BLUE, "v", "-"),
}
"""Colour, marker and line of a preparation with so many copies; blue is the preparation that is recommended."""
NAMES = {"centred": "mean image subtracted"}
"""Preparations whose name in the results says too little."""
RAISED = {8: 5, 12: -5}
"""By how many points the name of a line with so many copies stands above its end."""


def figure_ladder(ladder):
    """The table of the ladder, a row for each step: a dot at its error with its interval, and its value at the right; hollow
    and so named if it was found in hindsight; the last row, of the support vector machine, is a line through all."""
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
            percent(row.error), (1, place), xycoords=("axes fraction", "data"), xytext=(6, 0), textcoords="offset points",
            fontsize=9, va="center", color=colour, weight="bold" if place == len(steps) - 1 else "normal",
        )  # fmt: skip
    labels = [f"{row.name} (in hindsight)" if row.hindsight else row.name for row in steps.itertuples()]
    axis.set(yticks=range(len(steps)), yticklabels=labels, xlabel="test error (%)")
    axis.set_ylim(len(steps) - 0.5, -0.5)
    axis.grid(axis="y", visible=False)
    log_percent_axis(axis, which="x")
    axis.set_xlim(80 * steps["low"].min(), 120 * steps["high"].max())
    return figure


def figure_error_against_time(bill):
    """Test error by the seconds of training and prediction together: a named point with its interval for each learner that
    had one thread, the largest of those that come in sizes. Dotted: the front, those of which no other is both quicker and
    better."""
    figure, axis = canvas(height=3.85)
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


def figure_prepared_images(images):
    """The same test images under each preparation that moves ink, a row for each: images {preparation: (k, d)}."""
    columns = len(next(iter(images.values())))
    figure, axes = canvas(len(images), columns, height=0.47 * len(images), squeeze=False)
    for row, (name, part) in zip(axes, images.items(), strict=True):
        for axis, image in zip(row, part, strict=True):
            draw_image(axis, image)
        row[0].set_ylabel(name.replace(" and ", "\nand "), rotation=0, ha="right", va="center", fontsize=8)
    figure.get_layout_engine().set(h_pad=0.01, w_pad=0.01, hspace=0, wspace=0)
    return figure


def figure_differences(effects):
    """How much each preparation changes the error, reductions first: a mark with its interval for each degree."""
    order = effects.groupby("preparation")["estimate"].mean().sort_values().index
    degrees = sorted(effects["degree"].unique())
    figure, axis = canvas(width=5.6, height=0.2 * len(order) + 0.55)
    axis.axvline(0, **REFERENCE)
    for row in effects.itertuples():
        place = degrees.index(row.degree)
        y = list(order).index(row.preparation) + 0.34 * (place / max(len(degrees) - 1, 1) - 0.5)
        x = 100 * row.estimate
        ends = [[x - 100 * row.low], [100 * row.high - x]]
        axis.errorbar(x, y, xerr=ends, **_mark(place))
        if row.preparation == order[-1]:
            shift = 5, 4 - 5 * place
            axis.annotate(
                f"degree {row.degree}", (100 * row.high, y), xytext=shift, textcoords="offset points", va="center",
                fontsize=8.5, color=BLUE,
            )  # fmt: skip
    names = [NAMES.get(each, each) for each in order]
    axis.set(yticks=range(len(order)), yticklabels=names, xlabel="change of the test error (percentage points)")
    axis.set_ylim(len(order) - 0.2, -0.5)
    axis.margins(x=0.16)
    axis.grid(axis="y", visible=False)
    return figure


def figure_growth(grown, laws):
    """Test error by the number of training examples: means over orders with their range, and the power law of each degree.

    grown {n: (R, D, n_test) bool}, the last of one order and one degree, with shifts; laws {degree: exponent}.
    """
    figure, axis = canvas(width=4.4, height=2.0)
    *sizes, most = grown
    beside = {"textcoords": "offset points", "fontsize": 8.5, "color": BLUE, "va": "center"}
    for place, (degree, exponent) in enumerate(laws.items()):
        errors = {n: 100 * grown[n][:, place].mean(axis=-1) for n in sizes}
        means = {n: each.mean() for n, each in errors.items()}
        ends = np.array([[means[n] - errors[n].min(), errors[n].max() - means[n]] for n in sizes]).T
        mark = _mark(place)
        axis.errorbar(sizes, list(means.values()), yerr=ends, **mark)
        line = [on_law(means, exponent, n) for n in grown]
        axis.plot(list(grown), line, color=BLUE, linewidth=0.8, linestyle="--")
        end = sizes[-1], means[sizes[-1]]
        side = {"xytext": (8, 8)} if place else {"xytext": (-6, -12), "ha": "right"}
        axis.annotate(f"degree {degree}", end, **side, **beside)
    star = 100 * grown[most].mean()
    axis.plot(most, star, "*", color=BLUE, markersize=11, markerfacecolor=MARKS[0][1])
    axis.annotate("shifted copies", (most, star), xytext=(8, 0), **beside)
    axis.set(xscale="log", xlim=(0.8 * sizes[0], 8 * most), xlabel="training examples", ylabel="test error (%)")
    axis.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    log_percent_axis(axis)
    return figure


def figure_recipes(tried):
    """Held-out error by degree: a line for each preparation without copies, and for each number of copies."""
    figure, axis = canvas(width=5.6, height=2.6)
    plain = tried[tried["protocol"] == tried["protocol"].iloc[0]]
    for (preparation, copies), line in plain.groupby(["preparation", "copies"], sort=False):
        colour, marker, style = LINES[preparation, copies]
        drawn = {"color": colour, "marker": marker, "linestyle": style, "markersize": 4.5, "linewidth": 1.3}
        axis.plot(line["degree"], 100 * line["error"], **drawn)
        end = line.iloc[0 if copies else -1]
        style = {"textcoords": "offset points", "fontsize": 8.5, "va": "center", "color": colour}
        axis.annotate(
            f"{copies} copies" if copies else preparation, (end["degree"], 100 * end["error"]),
            xytext=(-6, RAISED.get(copies, 0)) if copies else (6, 0), ha="right" if copies else "left", **style,
        )  # fmt: skip
    axis.set(xlabel="degree", ylabel="held-out error (%)", xticks=sorted(tried["degree"].unique()))
    axis.set_xlim(tried["degree"].min() - 0.3, tried["degree"].max() + 2.4)
    log_percent_axis(axis)
    axis.set_ylim(bottom=80 * tried["error"].min())
    return figure


def _colour(learner):
    """Blue for the kernel perceptron with the average predictor, that of the SVM with a kernel, or grey."""
    if learner.startswith((OURS, "vote")):
        return PREDICTOR_COLOURS["average"]
    return METHOD_COLOURS["SVM"] if learner.startswith((SVM, "polynomial SVM")) else GREY


def _short(learner):
    """The name of a learner as it stands at its point."""
    short = learner.replace(", average predictor", "").replace(" (scikit-learn-", "\n(")
    return short.replace(", one", ",\none").replace("polynomial ", "polynomial\n").replace("vote of ", "vote of\n")


def _mark(place):
    """The look of the errors of the degree at this place."""
    marker, fill = MARKS[place % len(MARKS)]
    return {"fmt": marker, "color": BLUE, "markerfacecolor": fill, "markersize": 4.5, "capsize": 2, "elinewidth": 0.9}
