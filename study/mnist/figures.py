"""Figures of the MNIST study; the source's Figs 3 to 6 and what they left to be shown.

Tables are those of study.mnist.experiment.tables: one row a count of errors, columns degree, epoch, predictor, split, errors, n
(and digit). Error rates are drawn in percent, with exact 95 % intervals where the caption says so.
"""

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from kp.mistakes import PREDICTORS
from study.claims import interval
from study.style import COLOURS, DASHES, MARKERS, NEGATIVE, POSITIVE, canvas, degree_colours, draw_image


def _curves(axis, table, *, bands=False):
    """Error by epoch, a line for each predictor and split of the table."""
    for (predictor, split), rows in table.groupby(["predictor", "split"]):
        rate = 100 * rows["errors"] / rows["n"]
        style = {"color": COLOURS[predictor], "dashes": DASHES[split], "marker": MARKERS[predictor]}
        axis.plot(rows["epoch"], rate, markersize=3, **style)
        if bands and split == "test":
            low, high = interval(rows["errors"], rows["n"])
            axis.fill_between(
                rows["epoch"], 100 * low / rows["n"], 100 * high / rows["n"], color=COLOURS[predictor], alpha=0.12, lw=0
            )
    axis.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=6))


def _legend(figure, predictors, splits=()):
    handles = [Line2D([], [], color=COLOURS[p], marker=MARKERS[p], label=p) for p in PREDICTORS if p in set(predictors)]
    handles += [Line2D([], [], color="#555555", dashes=DASHES[split], label=f"{split} error") for split in splits]
    figure.legend(handles=handles, loc="outside upper center", ncols=len(handles))


def error_by_epoch(table, *, what):
    """Two panels, training and test error by epoch, a line for each predictor (as the source's Figs 3 to 6).

    table holds one degree (and one digit); `what` names the error on the axis.
    """
    figure, axes = canvas(1, 2, height=2.9)
    for axis, split in zip(axes, ("train", "test"), strict=True):
        rows = table[table["split"] == split]
        _curves(axis, rows.assign(split="test"), bands=split == "test")
        axis.set(xlabel="epoch", ylabel=f"{what} {'training' if split == 'train' else 'test'} error (%)")
        axis.set_ylim(bottom=0)
    _legend(figure, table["predictor"])
    return figure


def error_by_epoch_and_digit(binary):
    """Small multiples: binary training (dashed) and test (solid) error by epoch for each digit, one log scale."""
    figure, axes = canvas(2, 5, height=3.9, sharex=True, sharey=True)
    for (digit, rows), axis in zip(binary.groupby("digit"), axes.flat, strict=True):
        _curves(axis, rows)
        axis.set_title(f"digit {digit}")
    axes[0, 0].set_yscale("log")
    axes[0, 0].yaxis.set_major_formatter("{x:g}")
    figure.supxlabel("epoch", fontsize=9)
    figure.supylabel("binary error (%)", fontsize=9)
    _legend(figure, binary["predictor"], ("train", "test"))
    return figure


def mistakes_by_digit(counts):
    """Bars of mistakes and support vectors for each digit; counts has the columns digit, mistakes, support_vectors."""
    figure, axis = canvas(height=2.7)
    places = np.arange(len(counts))
    for shift, column, colour in ((-0.2, "mistakes", NEGATIVE), (0.2, "support_vectors", POSITIVE)):
        bars = axis.bar(places + shift, counts[column], 0.4, color=colour, label=column.replace("_", " "))
        axis.bar_label(bars, fmt="{:,.0f}", fontsize=6, padding=1)
    axis.set(xlabel="digit", ylabel="count", xticks=places, xticklabels=counts["digit"])
    axis.grid(False, axis="x")
    axis.legend(ncols=2, loc="lower left", bbox_to_anchor=(0, 1))
    return figure


def errors_along_the_log(log, *, n, title):
    """Training errors of every predictor of one log against its step; epochs and the minimizing predictor are marked."""
    figure, axis = canvas(height=2.8)
    epochs = log.ends / log.ends[0]
    axis.step(
        log.step / log.ends[0], 100 * log.errors / n, where="post", color="#888888", lw=0.7, label="every predictor in A"
    )
    places = [log.length(e) - 1 for e in range(1, log.n_epochs + 1)]
    best = [log.minimizing_length(e) - 1 for e in range(1, log.n_epochs + 1)]
    for name, at, x in (("final", places, epochs), ("minimizing", best, log.step[best] / log.ends[0])):
        axis.plot(
            x, 100 * log.errors[at] / n, MARKERS[name], color=COLOURS[name], label=f"{name}, after each epoch", zorder=3
        )
    axis.set(xlabel="steps / n (epochs)", ylabel="binary training error (%)", yscale="log", title=title)
    axis.legend(loc="upper right", ncols=1)
    return figure


def gallery(images, titles, *, columns=10, colours=None):
    """Images (n, side * side) in rows, each with its title."""
    rows = -(-len(images) // columns)
    figure, axes = canvas(rows, columns, height=0.86 * rows + 0.1)
    colours = colours or ["black"] * len(images)
    for axis in np.ravel(axes):
        axis.set_visible(False)
    for axis, image, title, colour in zip(np.ravel(axes), images, titles, colours, strict=False):
        axis.set_visible(True)
        draw_image(axis, image, title, colour=colour)
    return figure


def error_by_degree(multiclass, split="test"):
    """A panel for each predictor: error by epoch, a line for each degree, on common axes (log scale)."""
    figure, axes = canvas(1, 4, height=2.9, sharex=True, sharey=True)
    degrees = sorted(multiclass["degree"].unique())
    colours = degree_colours(degrees)
    rows = multiclass[(multiclass["split"] == split)]
    for axis, predictor in zip(axes, PREDICTORS, strict=True):
        for degree, part in rows[rows["predictor"] == predictor].groupby("degree"):
            axis.plot(part["epoch"], 100 * part["errors"] / part["n"], "o-", markersize=2.5, lw=1.2, color=colours[degree])
        axis.set(title=predictor, yscale="log", xlabel="epoch")
        axis.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=5))
        axis.yaxis.set_major_formatter("{x:g}")
        axis.yaxis.set_minor_formatter(lambda x, _: f"{x:g}" if f"{x:.0e}"[0] in "235" else "")
        axis.tick_params(axis="y", which="minor", labelsize=7)
    axes[0].set_ylabel(f"multiclass {split} error (%)")
    handles = [Line2D([], [], color=colours[p], marker="o", markersize=3, label=f"degree {p}") for p in degrees]
    figure.legend(handles=handles, loc="outside upper center", ncols=len(handles), columnspacing=1.2)
    return figure


def best_by_degree(best):
    """Test error of each predictor at its best epoch against the degree, with exact 95 % intervals.

    best has the columns degree, predictor, errors, n; degrees of at least 2 are drawn on a linear scale.
    """
    figure, axis = canvas(height=3.0)
    for i, (predictor, rows) in enumerate(best.groupby("predictor")):
        low, high = interval(rows["errors"], rows["n"])
        rate, n = 100 * rows["errors"] / rows["n"], rows["n"]
        bars = [rate - 100 * low / n, 100 * high / n - rate]
        shifted = rows["degree"] + 0.09 * (i - 1.5)
        axis.errorbar(
            shifted, rate, yerr=bars, fmt=MARKERS[predictor], color=COLOURS[predictor], capsize=2, lw=1, label=predictor
        )
    axis.set(xlabel="degree of the polynomial kernel", ylabel="test error at the best epoch (%)")
    axis.xaxis.set_major_locator(MaxNLocator(integer=True))
    axis.legend(ncols=2)
    return figure


def published_against_ours(claims):
    """Every published count of errors against ours, on the diagonal where they are equal; 0 is drawn at the corner."""
    figure, axis = canvas(width=3.8, height=3.6)
    top = max(claims["published"].max(), claims["ours"].max()) * 1.3
    axis.plot([0.8, top], [0.8, top], color="#BBBBBB", lw=1)
    for predictor in ("final", "average", "minimizing"):
        rows = claims[claims["quantity"].str.contains(predictor)]
        for split, filled in (("train", "none"), ("test", COLOURS[predictor])):
            part = rows[rows["quantity"].str.contains(split)]
            style = {"markerfacecolor": filled, "markeredgecolor": COLOURS[predictor], "markersize": 4, "lw": 0}
            axis.plot(part["ours"].clip(lower=0.8), part["published"].clip(lower=0.8), MARKERS[predictor], **style)
    handles = [
        Line2D([], [], color=COLOURS[p], marker=MARKERS[p], lw=0, label=p) for p in ("final", "average", "minimizing")
    ]
    handles += [Line2D([], [], color="#555555", marker="o", lw=0, markerfacecolor=f, label=s) for s, f in SPLIT_FILLS]
    axis.set(
        xscale="log", yscale="log", xlabel="errors counted here", ylabel="errors published", xlim=(0.7, top), ylim=(0.7, top)
    )
    axis.legend(handles=handles)
    return figure


SPLIT_FILLS = (("training set", "none"), ("test set", "#555555"))


def confusion_matrices(confusion):
    """A confusion matrix for each group (predictor, degree, epoch) of the table; the diagonal is left out of the scale."""
    groups = list(confusion.groupby(["predictor", "degree", "epoch"], sort=False))
    figure, axes = canvas(2, 2, height=6.0)
    for axis, ((predictor, degree, epoch), rows) in zip(axes.flat, groups, strict=True):
        matrix = rows.pivot(index="true", columns="predicted", values="count").to_numpy()
        wrong = np.where(np.eye(len(matrix), dtype=bool), 0, matrix)
        axis.imshow(wrong, cmap="Blues", vmin=0, vmax=max(wrong.max(), 1))
        for (i, j), count in np.ndenumerate(matrix):
            if count:
                colour = "#777777" if i == j else "white" if wrong[i, j] > 0.6 * wrong.max() else "black"
                axis.text(j, i, count, ha="center", va="center", fontsize=5.5 if i == j else 6.5, color=colour)
        axis.grid(False)
        axis.set(
            xlabel="predicted digit", ylabel="true digit", xticks=range(len(matrix)), yticks=range(len(matrix)),
            title=f"{predictor}: degree {degree}, epoch {epoch}, {wrong.sum()} errors",
        )  # fmt: skip
    return figure


def selection_optimism(draws):
    """Histograms of the error on the half of the test set that chose the run (chosen_on) and on the other half (rest)."""
    figure, axes = canvas(1, 4, height=2.4, sharex=True, sharey=True)
    for axis, (predictor, rows) in zip(axes, draws.groupby("predictor", sort=False), strict=True):
        bins = np.histogram_bin_edges(100 * draws[["chosen_on", "rest"]].to_numpy(), 24)
        axis.hist(100 * rows["chosen_on"], bins, color="#BBBBBB")
        axis.hist(100 * rows["rest"], bins, histtype="step", color=COLOURS[predictor], lw=1.4)
        axis.set(title=predictor, xlabel="test error (%)")
    axes[0].set_ylabel("random halves")
    halves = (("half that chose", "#BBBBBB", 6), ("other half", "#555555", 1.4))
    handles = [Line2D([], [], color=colour, lw=width, label=label) for label, colour, width in halves]
    figure.legend(handles=handles, loc="outside upper center", ncols=2)
    return figure
