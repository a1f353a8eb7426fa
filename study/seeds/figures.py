"""Figures of the chapter on the seeds: the spectrum of the kernel, accuracies over splits, methods, projections, wine.

Symbols: P (n, 3) coordinates on principal components, y (n,) classes 0..C-1, K the self-tuning kernel.
"""

import matplotlib as mpl
import numpy as np
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from study.style import (
    BLACK,
    CLASS_COLOURS,
    CLASS_MARKERS,
    CLAY,
    GREY,
    INK,
    PERCENT,
    PUBLISHED,
    REFERENCE,
    SKY,
    canvas,
    heat_map,
    set_name,
)
from study.words import percent


def figure_spectrum(smallest, sweep, poles, *, tau, k, lam):
    """Left: the smallest eigenvalue of K against tau, by k (derivations.spectrum). Right: the test error against
    lambda at one tau and k (derivations.poles), with the lambdas at which K + lambda I is singular."""
    figure, (left, right) = canvas(1, 2, height=2.8)
    ks = sorted(smallest["k"].unique())
    colours = mpl.colormaps["viridis"](np.linspace(0, 0.85, len(ks)))
    for number, colour, marker in zip(ks, colours, CLASS_MARKERS, strict=False):
        line = smallest[smallest["k"] == number]
        left.plot(line["tau"], line["smallest"], color=colour, marker=marker, markevery=6, label=f"$k = {number}$")
    left.axhline(0, color="black", linewidth=0.8)
    left.axhline(-lam, **REFERENCE)
    left.set(xscale="log", xlabel=r"$\tau$", ylabel="smallest eigenvalue of $K$")
    left.annotate(rf"$-\lambda = {-lam:g}$", (0.02, -lam), (0, 3), ("axes fraction", "data"), "offset points", fontsize=8)
    left.legend(loc="upper right")
    for pole in poles:
        right.axvline(pole, color=CLAY, linewidth=0.8, linestyle=":")
    right.plot(sweep["lam"], sweep["error"], color=INK, linewidth=1.1)
    right.set(xscale="log", xlabel=rf"$\lambda$ (at $\tau = {tau:g}$, $k = {k}$)", ylabel="test error", ylim=(0, None))
    right.set_xlim(sweep["lam"].min(), sweep["lam"].max())
    right.yaxis.set_major_formatter(PERCENT)
    right.legend(handles=[Line2D([], [], color=CLAY, linestyle=":", label=r"$K + \lambda I$ singular")], loc="upper right")
    return figure


def figure_accuracies(splits, table):
    """Accuracies of the settings of Table 3: over random splits (95 % range, quartiles, median), on the source's, published.

    splits: experiment.table_3_splits; table: tables.table_3, with or without its column "published".
    """
    labels = [rf"$\lambda = {s.lam:g}$, $\tau = {s.tau:g}$, $k = {s.k}$" for s in table.itertuples()]
    accuracy = (1 - splits["errors"] / splits["n"]).groupby([splits["lam"], splits["tau"], splits["k"]])
    settings = table[["lam", "tau", "k"]].itertuples(index=False, name=None)
    rows = np.arange(len(table))
    figure, axis = canvas(height=0.25 * len(table) + 0.9)
    axis.boxplot(
        [accuracy.get_group(setting) for setting in settings], positions=rows, orientation="horizontal", widths=0.55,
        whis=(2.5, 97.5), showfliers=False, patch_artist=True, tick_labels=labels, boxprops={"facecolor": SKY},
        medianprops={"color": BLACK},
    )  # fmt: skip
    axis.invert_yaxis()
    left = np.sort(table["low"])[1] - 0.02  # one setting may be far worse than all others: an arrow says how far it reaches
    for row, low in enumerate(table["low"]):
        if low < left:
            axis.annotate(f"to {percent(low, 0)}", (left, row), (8, 9), textcoords="offset points", fontsize=8)
            axis.plot(left, row, marker="<", color=GREY, markersize=7, clip_on=False, zorder=4)
    axis.plot(table["ours"], rows, "o", markersize=6, color=BLACK, label="the source's split", zorder=4)
    if "published" in table:
        axis.plot(table["published"], rows, **PUBLISHED, markersize=11, fillstyle="none", label="published", zorder=4)
    axis.set(xlabel="test accuracy", ylabel="", xlim=(left, None))
    axis.xaxis.set_major_formatter(PERCENT)
    axis.grid(False, axis="y")
    handles, words = axis.get_legend_handles_labels()
    box = Line2D([], [], color=SKY, linewidth=7)
    figure.legend([box, *handles], ["random splits: half, median, 95 %", *words], loc="outside upper center", ncols=3)
    return figure


def figure_surface(surface, ks, marks, ours):
    """Mean test error over lambda and tau, a panel for each of six k; dots where K + lambda I is indefinite in some split.

    marks: settings (lam, tau, k) to ring; ours: one to frame by a square. Errors above 25 % have the darkest colour.
    """
    rings = {"s": 70, "linewidths": 1.6, "edgecolors": PUBLISHED["color"]}
    squares = {"s": 90, "linewidths": 1.6, "marker": "s", "edgecolors": "white"}
    looks = [*((mark, rings) for mark in marks), (ours, squares)]
    figure, axes = canvas(2, 3, height=3.9, sharex=True, sharey=True)
    for axis, k in zip(axes.flat, ks, strict=True):
        part = surface[surface["k"] == k]
        cells = part.pivot(index="tau", columns="lam", values="mean_error")
        image = axis.imshow(cells, origin="lower", aspect="auto", cmap="viridis_r", norm=mpl.colors.LogNorm(0.05, 0.25))
        rows, columns = np.nonzero(part.pivot(index="tau", columns="lam", values="indefinite"))
        axis.scatter(columns, rows, s=5, color="white", edgecolors="black", linewidths=0.3)
        for (lam, tau, number), look in looks:
            if number == k and lam in cells.columns and tau in cells.index:
                cell = cells.columns.get_loc(lam), cells.index.get_loc(tau)
                axis.scatter(*cell, facecolors="none", **look)
        axis.set_title(f"$k = {k}$")
        axis.grid(False)
        axis.set_xticks(range(len(cells.columns)), [f"{lam:,g}" for lam in cells.columns], rotation=90)
        axis.set_yticks(range(len(cells.index)), [f"{tau:g}" for tau in cells.index])
    for axis in axes[1]:
        axis.set_xlabel(r"$\lambda$")
    for axis in axes[:, 0]:
        axis.set_ylabel(r"$\tau$")
    bar = figure.colorbar(image, ax=axes, shrink=0.8, label="mean test error", extend="both")
    bar.set_ticks([0.05, 0.07, 0.1, 0.15, 0.2, 0.25])
    bar.ax.yaxis.set_major_formatter(PERCENT)
    bar.ax.minorticks_off()
    return figure


def figure_differences(paired):
    """Each method's difference in test error from a reference: bootstrap intervals over the examples (tables.paired).

    Full marks where the difference from 0 is significant at 5 % (verdict of the table), hollow ones elsewhere; the
    reference itself is the line at 0.
    """
    rows = paired.iloc[::-1].reset_index(drop=True)
    figure, axis = canvas(height=0.165 * len(rows) + 0.9)
    for y, row in enumerate(rows.itertuples()):
        if np.isnan(row.p):
            continue
        ends = [[100 * (row.difference - row.low)], [100 * (row.high - row.difference)]]
        face = INK if row.verdict else "white"
        axis.errorbar(100 * row.difference, y, xerr=ends, fmt="o", color=INK, markerfacecolor=face, capsize=2, zorder=3)
    axis.axvline(0, **REFERENCE)
    labels = [f"{row.method}  {percent(row.error, 1)}" for row in rows.itertuples()]
    axis.set(yticks=np.arange(len(rows)), yticklabels=labels, xlabel="difference in test error (percentage points)")
    axis.set_ylim(-0.7, len(rows) - 0.3)
    axis.tick_params(axis="y", labelsize=7)
    axis.xaxis.set_major_locator(MaxNLocator(integer=True))
    axis.grid(False, axis="y")
    mark = dict(color=INK, marker="o", markeredgecolor=INK)
    handles = [
        Line2D([], [], **mark, label="differs detectably"),
        Line2D([], [], **mark, markerfacecolor="white", label="does not"),
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=2)
    return figure


def figure_projection(P, shares, y, train, test, predicted, names):
    """Three principal components in space, seen from two sides: the true class of an example is its edge and its marker, the
    predicted class of a test example its face; training examples are small and pale.

    predicted (len(test),) classes of the test points; shares (3,) of the variance; names of the classes.
    """
    figure, axes = canvas(1, 2, height=3.7, subplot_kw={"projection": "3d"})
    labels = [f"PC {i + 1} ({percent(share, 0)})" for i, share in enumerate(shares)]
    wrong = predicted != y[test]
    for space, azimuth in zip(axes, (-60, 30), strict=True):
        for c in range(len(names)):
            mark = dict(marker=CLASS_MARKERS[c], depthshade=False)
            space.scatter(*P[train[y[train] == c]].T, s=6, color=CLASS_COLOURS[c], alpha=0.3, linewidths=0, **mark)
            for part, size, width in (((y[test] == c) & ~wrong, 13, 0.5), ((y[test] == c) & wrong, 34, 1.5)):
                faces = [CLASS_COLOURS[given] for given in predicted[part]]
                space.scatter(*P[test[part]].T, s=size, c=faces, edgecolors=CLASS_COLOURS[c], linewidths=width, **mark)
        space.set_xlabel(labels[0], fontsize=7, labelpad=-6)
        space.set_ylabel(labels[1], fontsize=7, labelpad=-6)
        space.set_title(f"upwards: {labels[2]}", fontsize=7, y=0.9)
        for axis in (space.xaxis, space.yaxis, space.zaxis):
            axis.set_major_locator(MaxNLocator(3, integer=True))
        space.tick_params(labelsize=6, pad=-3)
        space.view_init(elev=20, azim=azimuth)
        space.set_box_aspect(None, zoom=1.05)
    handles = [
        Line2D([], [], linestyle="none", marker=CLASS_MARKERS[c], color=CLASS_COLOURS[c], label=name)
        for c, name in enumerate(names)
    ]
    handles += [
        Line2D([], [], linestyle="none", marker="o", color=GREY, alpha=0.4, markersize=3, label="pale: training"),
        Line2D([], [], linestyle="none", marker="o", markersize=6, color=SKY, markeredgecolor=BLACK, markeredgewidth=1.5,
               label="large: mistake (edge: its class, face: predicted)"),
    ]  # fmt: skip
    figure.legend(handles=handles, loc="outside upper center", ncols=3)
    return figure


def figure_persistent_errors(P, shares, y, rates, names):
    """The examples on the first two principal components; area and darkness grow with the error rate of each method.

    rates {method: (n,) error rates, NaN where never tested}.
    """
    figure, axes = canvas(1, len(rates), height=2.7, sharex=True, sharey=True, squeeze=False)
    for axis, (method, rate) in zip(axes.flat, rates.items(), strict=True):
        rate = np.nan_to_num(rate)
        for c in range(len(names)):
            mine = y == c
            colours = dict(c=rate[mine], cmap="YlOrRd", vmin=-0.15, vmax=1, edgecolors=CLASS_COLOURS[c])
            axis.scatter(*P[mine, :2].T, s=7 + 55 * rate[mine], marker=CLASS_MARKERS[c], linewidths=0.7, **colours)
        axis.set(title=method, xlabel=f"PC 1 ({percent(shares[0], 0)})")
    axes[0, 0].set_ylabel(f"PC 2 ({percent(shares[1], 0)})")
    hollow = dict(linestyle="none", markerfacecolor="none")
    handles = [
        Line2D([], [], marker=CLASS_MARKERS[c], markeredgecolor=CLASS_COLOURS[c], label=name, **hollow)
        for c, name in enumerate(names)
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=len(names))
    reds = mpl.colormaps["YlOrRd"]((np.linspace(0, 1, 128) + 0.15) / 1.15)
    scale = mpl.cm.ScalarMappable(mpl.colors.Normalize(0, 1), mpl.colors.ListedColormap(reds))
    bar = figure.colorbar(scale, ax=axes, label="share of its tests misclassified", shrink=0.9)
    bar.ax.yaxis.set_major_formatter(PERCENT)
    return figure


def figure_hard_sets(sets):
    """Sets that may not separate; a row each. Left: the first two principal components, coloured by class. Right: the
    classes of the nearest neighbours of each class's examples, as percentages of the row.

    sets {name: (P, shares, y, neighbours (C, C), class labels)}.
    """
    figure, axes = canvas(
        len(sets), 2, height=2.65 * len(sets) + 0.2, squeeze=False, gridspec_kw={"width_ratios": [1.15, 1]}
    )
    for (left, right), (name, (P, shares, y, neighbours, labels)) in zip(axes, sets.items(), strict=True):
        n_classes = len(labels)
        colours = mpl.colors.ListedColormap(mpl.colormaps["viridis"](np.linspace(0, 1, n_classes)))
        order = np.argsort(np.bincount(y)[y], kind="stable")[::-1]  # the rare classes last, on top
        dots = left.scatter(
            *P[order, :2].T, c=y[order], s=3, cmap=colours, vmin=-0.5, vmax=n_classes - 0.5, linewidths=0, alpha=0.6
        )
        low, high = np.percentile(P[:, :2], [0.1, 99.9], axis=0)
        room = 0.05 * (high - low)
        left.set(xlim=(low[0] - room[0], high[0] + room[0]), ylim=(low[1] - room[1], high[1] + room[1]))
        left.set(
            title=f"{set_name(name)} (n = {len(y):,})",
            xlabel=f"PC 1 ({percent(shares[0], 0)})",
            ylabel=f"PC 2 ({percent(shares[1], 0)})",
        )
        bar = figure.colorbar(dots, ax=left, ticks=range(n_classes), pad=0.02)
        bar.ax.set_title("class", fontsize=7)
        bar.ax.set_yticklabels(labels)
        bar.ax.tick_params(labelsize=7)
        counts = np.bincount(y, minlength=n_classes)
        rows = [f"{label} ({count:,})" for label, count in zip(labels, counts, strict=True)]
        heat_map(right, 100 * neighbours, rows=rows, columns=labels, vmin=0, vmax=100)
        right.tick_params(labelsize=7)
        right.set(title="nearest neighbours (%)", xlabel="class of the neighbour", ylabel="class (examples)")
    return figure


def figure_hard_errors(methods, majority):
    """Errors of the methods on sets that may not separate, a panel each, and that of the most frequent class
    (tables.hard_methods, hard_majority)."""
    sets = methods["dataset"].unique()
    order = methods[methods["dataset"] == sets[0]].sort_values("error", ascending=False)["method"].tolist()
    figure, axes = canvas(1, len(sets), height=0.19 * len(order) + 1.1, sharey=len(sets) > 1, squeeze=False)
    for axis, name in zip(axes.flat, sets, strict=True):
        rows = methods[methods["dataset"] == name].set_index("method").reindex(order)
        axis.errorbar(rows["error"], np.arange(len(rows)), xerr=rows["sd"], fmt="o", color=INK, capsize=3)
        axis.axvline(majority[name], **REFERENCE, label="most frequent class")
        axis.set(title=set_name(name), xlabel="test error", xlim=(0, None))
        axis.set_yticks(np.arange(len(rows)), order, fontsize=7)
        axis.xaxis.set_major_formatter(PERCENT)
        axis.grid(False, axis="y")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center")
    return figure
