"""Figures of the MNIST chapters; the source's Figs 3 to 6 and what they leave to be shown.

Tables are those of study.mnist.experiment: one row a count of errors, columns degree, epoch, predictor, split, errors, n
(and digit). Error rates are drawn in percent, with exact 95 % intervals where the caption says so.
"""

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from kp.mistakes import PREDICTORS
from study.claims import interval
from study.style import (
    BAND,
    DASHES,
    GREY,
    NEGATIVE,
    POSITIVE,
    PREDICTOR_COLOURS,
    PREDICTOR_MARKERS,
    canvas,
    degree_colours,
    draw_image,
    heat_map,
    log_percent_axis,
)


def figure_error_by_epoch(table, *, what):
    """Two panels, training and test error by epoch, a line for each predictor (as the source's Figs 3 to 6).

    table holds one degree (and one digit); `what` names the error on the axis. Bands: 95 % intervals of the test error.
    """
    figure, axes = canvas(1, 2, height=2.9)
    for axis, split in zip(axes, ("train", "test"), strict=True):
        rows = table[table["split"] == split]
        _curves(axis, rows.assign(split="test"), bands=split == "test")
        axis.set(xlabel="epoch", ylabel=f"{what} {'training' if split == 'train' else 'test'} error (%)")
        axis.set_ylim(bottom=0)
    _legend(figure, table["predictor"])
    return figure


def figure_error_by_digit(binary):
    """Small multiples: binary training (dashed) and test (solid) error by epoch for each digit, one log scale."""
    figure, axes = canvas(2, 5, height=3.9, sharex=True, sharey=True)
    for (digit, rows), axis in zip(_without_zeros(binary).groupby("digit"), axes.flat, strict=True):
        _curves(axis, rows)
        axis.set_title(f"digit {digit}")
    log_percent_axis(axes[0, 0])
    figure.supxlabel("epoch", fontsize=9)
    figure.supylabel("binary error (%)", fontsize=9)
    _legend(figure, binary["predictor"], ("train", "test"))
    return figure


def figure_mistakes_by_digit(counts):
    """Bars of mistakes and support vectors for each digit; counts as from tables.mistakes_by_digit."""
    figure, axis = canvas(height=2.7)
    positions = np.arange(len(counts))
    for shift, column, colour in ((-0.2, "mistakes", NEGATIVE), (0.2, "support vectors", POSITIVE)):
        bars = axis.bar(positions + shift, counts[column], 0.4, color=colour, label=column)
        axis.bar_label(bars, fmt="{:,.0f}", fontsize=6, padding=1)
    axis.set(xlabel="digit", ylabel="count", xticks=positions, xticklabels=counts["digit"])
    axis.grid(False, axis="x")
    axis.legend(ncols=2, loc="lower left", bbox_to_anchor=(0, 1))
    return figure


def figure_errors_along_the_log(log, *, n, title):
    """Training errors, among n, of every predictor of one log against its step; final and minimizing are marked."""
    figure, axis = canvas(height=2.8)
    axis.step(log.step / log.ends[0], 100 * log.errors / n, where="post", color=GREY, lw=0.7, label="every predictor in A")
    epochs = range(1, log.n_epochs + 1)
    final, minimizing = ([length(e) - 1 for e in epochs] for length in (log.length, log.minimizing_length))
    marks = (("final", final, log.ends / log.ends[0]), ("minimizing", minimizing, log.step[minimizing] / log.ends[0]))
    for name, rows, x in marks:
        style = {"color": PREDICTOR_COLOURS[name], "marker": PREDICTOR_MARKERS[name], "linestyle": "none", "zorder": 3}
        axis.plot(x, 100 * log.errors[rows] / n, label=f"{name}, after each epoch", **style)
    axis.set(xlabel="steps / n (epochs)", ylabel="binary training error (%)", title=title)
    log_percent_axis(axis)
    axis.legend(loc="upper right", ncols=1)
    return figure


def figure_gallery(images, titles, *, columns=10):
    """Images (n, side * side) in rows, each with its title."""
    rows = -(-len(images) // columns)
    figure, axes = canvas(rows, columns, height=0.86 * rows + 0.1)
    for axis in np.ravel(axes):
        axis.set_visible(False)
    for axis, image, title in zip(np.ravel(axes), images, titles, strict=False):
        axis.set_visible(True)
        draw_image(axis, image, title)
    return figure


def figure_error_by_degree(multiclass, split="test"):
    """A panel for each predictor: error by epoch, a line for each degree, on common axes (log scale)."""
    figure, axes = canvas(1, 4, height=2.9, sharex=True, sharey=True)
    degrees = sorted(multiclass["degree"].unique())
    colours = degree_colours(degrees)
    rows = _without_zeros(multiclass[multiclass["split"] == split])
    for axis, predictor in zip(axes, PREDICTORS, strict=True):
        for degree, part in rows[rows["predictor"] == predictor].groupby("degree"):
            axis.plot(part["epoch"], 100 * part["errors"] / part["n"], "o-", markersize=2.5, lw=1.2, color=colours[degree])
        axis.set(title=predictor, xlabel="epoch")
        axis.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=5))
    log_percent_axis(axes[0])
    axes[0].set_ylabel(f"multiclass {'training' if split == 'train' else 'test'} error (%)")
    handles = [Line2D([], [], color=colours[p], marker="o", markersize=3, label=f"degree {p}") for p in degrees]
    figure.legend(handles=handles, loc="outside upper center", ncols=len(handles), columnspacing=1.2)
    return figure


def figure_best_by_degree(best):
    """Test error of each predictor at its best epoch against the degree, with 95 % intervals; as tables.best_by_degree."""
    figure, axis = canvas(height=3.0)
    for i, predictor in enumerate(PREDICTORS):
        rows = best[best["predictor"] == predictor]
        rate, low, high = (100 * rows[name] for name in ("error", "low", "high"))
        style = {"color": PREDICTOR_COLOURS[predictor], "marker": PREDICTOR_MARKERS[predictor], "linestyle": "none"}
        shifted = rows["degree"] + 0.09 * (i - 1.5)
        axis.errorbar(shifted, rate, yerr=[rate - low, high - rate], capsize=2, lw=1, elinewidth=1, label=predictor, **style)
    axis.set(xlabel="degree of the polynomial kernel", ylabel="test error at the best epoch (%)")
    axis.xaxis.set_major_locator(MaxNLocator(integer=True))
    axis.legend(ncols=2)
    return figure


def figure_published_against_ours(both):
    """Every published count of errors against ours, on the diagonal where they are equal; 0 is drawn at the corner.

    both as from tables.published_with_ours.
    """
    figure, axis = canvas(width=3.8, height=3.6)
    low, top = 0.8, 1.3 * both[["errors_published", "errors"]].to_numpy().max()
    axis.plot([low, top], [low, top], color=BAND, lw=1)
    handles = []
    for predictor in ("final", "average", "minimizing"):
        style = {"marker": PREDICTOR_MARKERS[predictor], "color": PREDICTOR_COLOURS[predictor], "linestyle": "none"}
        handles.append(Line2D([], [], label=predictor, **style))
        for split, fill in (("train", "none"), ("test", PREDICTOR_COLOURS[predictor])):
            rows = both[(both["predictor"] == predictor) & (both["split"] == split)]
            ours, published = rows["errors"].clip(lower=low), rows["errors_published"].clip(lower=low)
            axis.plot(ours, published, markerfacecolor=fill, markersize=4, **style)
    for label, fill in (("training set", "none"), ("test set", GREY)):
        handles.append(Line2D([], [], color=GREY, marker="o", linestyle="none", markerfacecolor=fill, label=label))
    limits = (0.9 * low, top)
    axis.set(xscale="log", yscale="log", xlabel="errors counted here", ylabel="errors published", xlim=limits, ylim=limits)
    axis.legend(handles=handles)
    return figure


def figure_confusion_matrices(confusion):
    """The confusion matrix of each predictor, at one degree and epoch each; the colour is that of the errors alone."""
    figure, axes = canvas(2, 2, height=6.0)
    for axis, predictor in zip(axes.flat, PREDICTORS, strict=True):
        rows = confusion[confusion["predictor"] == predictor]
        ((degree, epoch),) = rows[["degree", "epoch"]].drop_duplicates().to_numpy()
        matrix = rows.pivot(index="true", columns="predicted", values="count")
        digits, matrix = list(matrix.index), matrix.to_numpy()
        wrong = np.where(np.eye(len(matrix), dtype=bool), 0, matrix)
        heat_map(axis, wrong, rows=digits, columns=digits, mask=wrong == 0, vmin=0, vmax=max(wrong.max(), 1))
        for i, count in enumerate(np.diag(matrix)):
            axis.text(i + 0.5, i + 0.5, count, ha="center", va="center", fontsize=5.5, color=GREY)
        axis.grid(False)
        axis.set(xlabel="predicted digit", ylabel="true digit")
        axis.set_title(f"{predictor}: degree {degree}, epoch {epoch}, {wrong.sum()} errors")
    return figure


def figure_selection_optimism(draws):
    """Histograms of the error on the half of the test set that chose the run (chosen_on) and on the other half (rest)."""
    figure, axes = canvas(1, 4, height=2.4, sharex=True, sharey=True)
    bins = np.histogram_bin_edges(100 * draws[["chosen_on", "rest"]].to_numpy(), 24)
    for axis, (predictor, rows) in zip(axes, draws.groupby("predictor", sort=False), strict=True):
        axis.hist(100 * rows["chosen_on"], bins, color=BAND)
        axis.hist(100 * rows["rest"], bins, histtype="step", color=PREDICTOR_COLOURS[predictor], lw=1.4)
        axis.set(title=predictor, xlabel="test error (%)")
    axes[0].set_ylabel("random halves")
    halves = (("half that chose", BAND, 6), ("other half", GREY, 1.4))
    handles = [Line2D([], [], color=colour, lw=width, label=label) for label, colour, width in halves]
    figure.legend(handles=handles, loc="outside upper center", ncols=2)
    return figure


def _curves(axis, table, *, bands=False):
    """Error by epoch, a line for each predictor and split of the table."""
    for (predictor, split), rows in table.groupby(["predictor", "split"]):
        rate, colour = 100 * rows["errors"] / rows["n"], PREDICTOR_COLOURS[predictor]
        style = {"color": colour, "dashes": DASHES[split], "marker": PREDICTOR_MARKERS[predictor]}
        axis.plot(rows["epoch"], rate, markersize=3, **style)
        if bands:
            low, high = interval(rows["errors"], rows["n"])
            axis.fill_between(rows["epoch"], 100 * low / rows["n"], 100 * high / rows["n"], color=colour, alpha=0.12, lw=0)
    axis.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=6))


def _without_zeros(table):
    """The table with missing errors in place of zeros, which have no place on a logarithmic scale."""
    return table.assign(errors=table["errors"].where(table["errors"] > 0))


def _legend(figure, predictors, splits=()):
    shown = [p for p in PREDICTORS if p in set(predictors)]
    handles = [Line2D([], [], color=PREDICTOR_COLOURS[p], marker=PREDICTOR_MARKERS[p], label=p) for p in shown]
    handles += [Line2D([], [], color=GREY, dashes=DASHES[split], label=f"{split} error") for split in splits]
    figure.legend(handles=handles, loc="outside upper center", ncols=len(handles))
