"""Figures of the MNIST chapters; the source's Figs 3 to 6 and what they leave to be shown.

Tables are those of study.mnist.experiment: one row a count of errors, columns degree, epoch, predictor, split, errors, n
(and digit). Error rates are drawn in percent, with exact 95 % intervals where the caption says so.
"""

import numpy as np
from matplotlib.ticker import LogLocator, MaxNLocator

from kp.mistakes import PREDICTORS
from study import statistics
from study.style import (
    BAND,
    BLACK,
    GREY,
    PREDICTOR_COLOURS,
    canvas,
    gallery,
    handles,
    heat_map,
    log_percent_axis,
    look,
)


def figure_error_by_epoch(table, *, what, names=("training", "test")):
    """Two panels, training and test error by epoch, a line for each predictor (as the source's Figs 3 to 6).

    table holds one degree (and one digit); `what` names the error on the axes, `names` the two kinds of examples. Band: the
    95 % interval of the test error of the average predictor; those of the others are as wide.
    """
    figure, axes = canvas(1, 2, height=2.9)
    for axis, split, name in zip(axes, ("train", "test"), names, strict=True):
        for predictor, rows in table[table["split"] == split].groupby("predictor"):
            axis.plot(rows["epoch"], 100 * rows["errors"] / rows["n"], markersize=3, **look(predictor))
            if split == "test" and predictor == "average":
                low, high = (100 * end for end in statistics.exact(rows["errors"], rows["n"]))
                axis.fill_between(rows["epoch"], low, high, color=PREDICTOR_COLOURS[predictor], alpha=0.12, lw=0)
        axis.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=6))
        axis.set(xlabel="epoch", ylabel=f"{what} {name} error (%)")
        axis.set_ylim(bottom=0)
    _legend(figure, [name for name in PREDICTORS if name in set(table["predictor"])])
    return figure


def figure_errors_along_the_log(log, *, n, title, parts=20):
    """Training errors, among n, along one log: the range and the median of all predictors of each part of an epoch.

    An epoch has so many parts. A predictor stands until the next mistake: a part without a mistake has the errors of the
    last predictor before it. Final and minimizing predictors are marked after each epoch, the minimizing one where it was
    found. On the logarithmic scale 0 errors stand at half an image, on a dotted line.
    """
    figure, axis = canvas(height=2.8)
    part = log.step * parts // log.ends[0]
    edges = np.arange(log.n_epochs * parts + 1)
    starts = np.searchsorted(part, edges[:-1])
    ends = np.searchsorted(part, edges[1:])
    rate = 100 * np.maximum(log.errors, 0.5) / n
    groups = [rate[min(start, end - 1) : end] for start, end in zip(starts, ends, strict=True)]
    # A step goes on to the next edge, and the last one to the end of the run.
    low, middle, high = (np.array([f(group) for group in (*groups, groups[-1])]) for f in (np.min, np.median, np.max))
    axis.fill_between(edges / parts, low, high, step="post", color=BAND, lw=0, label="lowest to highest")
    axis.plot(edges / parts, middle, drawstyle="steps-post", color=GREY, lw=0.9, label="median")
    if not log.errors.all():
        axis.axhline(50 / n, color=GREY, lw=0.7, linestyle=":", zorder=1)
    epochs = range(1, log.n_epochs + 1)
    final, minimizing = ([length(e) - 1 for e in epochs] for length in (log.length, log.minimizing_length))
    marks = (
        ("final", "final, after each epoch", final, log.ends / log.ends[0]),
        ("minimizing", "minimizing, where it was found", minimizing, log.step[minimizing] / log.ends[0]),
    )
    for name, label, rows, places in marks:
        style = {"markersize": 4, "markeredgecolor": "white", "markeredgewidth": 0.4, "linestyle": "none", "zorder": 3}
        axis.plot(places, rate[rows], label=label, **look(name), **style)
    axis.set(xlabel="steps / n (epochs)", ylabel="binary training error (%)", title=title)
    log_percent_axis(axis)
    axis.legend(loc="upper right", ncols=2)
    return figure


def figure_gallery(images, titles, *, columns=10):
    """Images (n, side * side) in rows, each with its title."""
    return gallery(images, titles, columns=columns)


def figure_six_degrees(table, split, *, what):
    """A panel for each degree: error by epoch, a line for each predictor (the source's Figs 3 to 6), on common log axes.

    table holds all degrees (and one digit); `what` names the error on the axis. No error at all is drawn at half an image,
    on a dotted line. Band, for the test set: the exact 95 % interval of the average predictor's error, over test images.
    """
    rows = table[table["split"] == split]
    degrees = sorted(rows["degree"].unique())
    none = 50 / rows["n"].iloc[0]
    columns = min(3, len(degrees))
    lines = -(-len(degrees) // columns)
    figure, axes = canvas(lines, columns, height=1.45 * lines + 0.5, sharex=True, sharey=True, squeeze=False)
    for axis in axes.flat[len(degrees) :]:
        axis.set_visible(False)
    for axis, degree in zip(axes.flat, degrees, strict=False):
        part = rows[rows["degree"] == degree]
        for name in PREDICTORS:
            own = part[part["predictor"] == name].sort_values("epoch")
            colour = PREDICTOR_COLOURS[name]
            rate = (100 * own["errors"] / own["n"]).clip(lower=none)
            face = "white" if name == "voted" else colour
            style = {"markersize": 3, "markerfacecolor": face, "markeredgewidth": 0.7, "lw": 1.1}
            axis.plot(own["epoch"], rate, **look(name), **style)
            if split == "test" and name == "average":
                low, high = (100 * end for end in statistics.exact(own["errors"], own["n"]))
                axis.fill_between(own["epoch"], low.clip(lower=none), high, color=colour, alpha=0.15, lw=0)
        if (rows["errors"] == 0).any():
            axis.axhline(none, color=GREY, lw=0.7, linestyle=":", zorder=1)
        axis.set_title(f"degree {degree}")
        axis.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=6))
    log_percent_axis(axes[0, 0])
    if rows["errors"].max() > 200 * max(rows["errors"].min(), 0.5):
        axes[0, 0].yaxis.set_major_locator(LogLocator())
    figure.supxlabel("epoch", fontsize=9)
    figure.supylabel(f"{what} {'training' if split == 'train' else 'test'} error (%)", fontsize=9)
    _legend(figure)
    return figure


def figure_confusions(matrices):
    """A panel for each of {title: matrix (C, C)} of images by true digit (rows) and answer: wrong answers are counted, right
    ones are left out."""
    figure, axes = canvas(1, len(matrices), height=2.5, squeeze=False)
    wrong = {title: matrix.to_numpy() * (1 - np.eye(len(matrix), dtype=int)) for title, matrix in matrices.items()}
    digits = next(iter(matrices.values())).index
    most = max(counts.max() for counts in wrong.values())
    for axis, (title, counts) in zip(axes.flat, wrong.items(), strict=True):
        heat_map(
            axis, counts, rows=digits if axis is axes[0, 0] else False, columns=digits, mask=counts == 0, vmin=0, vmax=most
        )
        axis.set(title=title, xlabel="answer")
        axis.grid(False)
    axes[0, 0].set_ylabel("true digit")
    return figure


def figure_class(rows, own):
    """Left: test error by epoch, the mean over all runs of a class, a band from lowest to highest, and one run (dashed).
    Right: the errors of all runs after the last epoch, each a dot; the seed `own` is marked.

    rows: those of study.results.runs.table for runs that differ in their seed only.
    """
    figure, (left, right) = canvas(1, 2, height=3.0)
    test = rows[rows["split"] == "test"].assign(rate=100 * rows["errors"] / rows["n"])
    shifts = np.random.default_rng(0).uniform(-0.25, 0.25, test["random_state"].nunique())
    for place, name in enumerate(PREDICTORS):
        wide = test[test["predictor"] == name].pivot(index="random_state", columns="epoch", values="rate")
        style = look(name)
        left.fill_between(wide.columns, wide.min(), wide.max(), color=style["color"], alpha=0.15, lw=0)
        left.plot(wide.columns, wide.mean(), markersize=2.5, lw=1.1, **style)
        left.plot(wide.columns, wide.loc[own], color=style["color"], lw=0.9, linestyle="--")
        last = wide[wide.columns.max()]
        right.plot(place + shifts, last, linestyle="none", markersize=3, alpha=0.5, **style)
        right.hlines(last.mean(), place - 0.35, place + 0.35, color=style["color"], lw=1.4)
        right.plot(place, last[own], color=BLACK, linestyle="none", markersize=6, marker=style["marker"], zorder=4)
    left.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=6))
    left.set(xlabel="epoch", ylabel="test error (%)")
    log_percent_axis(left)
    right.set_xticks(range(len(PREDICTORS)), PREDICTORS)
    right.set_ylabel("test error after the last epoch (%)")
    _legend(figure)
    return figure


def _legend(figure, predictors=PREDICTORS):
    figure.legend(handles=handles(predictors), loc="outside upper center", ncols=len(predictors))
