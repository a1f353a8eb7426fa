"""Figures of the seeds' chapter: the spectrum of the kernel, accuracies over splits, methods, projections, wine.

Symbols: P (n, 3) coordinates on principal components, y (n,) classes 0..C-1, K the self-tuning kernel.
"""

import matplotlib as mpl
import numpy as np
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator, PercentFormatter

from study.style import canvas

CLASS_COLOURS = (
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#CC79A7",
    "#E69F00",
    "#56B4E9",
    "#000000",
    "#999999",
    "#F0E442",
    "#7F3C8D",
)
CLASS_MARKERS = "os^Dv<>pPX"
GREY = "#777777"
PERCENT = PercentFormatter(1.0, decimals=0)


def figure_spectrum(smallest, sweep, poles, *, tau, k, lam):
    """Left: the smallest eigenvalue of K against tau, by k (table of tables_seeds.spectrum). Right: the test error against
    lambda at one tau and k (tables_seeds.poles), with the lambdas at which K + lambda I is singular."""
    figure, (left, right) = canvas(1, 2, height=3.2)
    ks = sorted(smallest["k"].unique())
    colours = mpl.colormaps["viridis"](np.linspace(0, 0.85, len(ks)))
    for number, colour, marker in zip(ks, colours, CLASS_MARKERS, strict=False):
        line = smallest[smallest["k"] == number]
        left.plot(line["tau"], line["smallest"], color=colour, marker=marker, markevery=6, label=f"$k = {number}$")
    left.axhline(0, color="black", linewidth=0.8)
    left.axhline(-lam, color="black", linewidth=0.8, linestyle="--")
    left.set(xscale="log", xlabel=r"$\tau$", ylabel="smallest eigenvalue of $K$")
    left.annotate(rf"$-\lambda = {-lam:g}$", (0.02, -lam), (0, 3), ("axes fraction", "data"), "offset points", fontsize=8)
    left.legend(loc="upper right")
    for pole in poles:
        right.axvline(pole, color="#CC79A7", linewidth=0.8, linestyle=":")
    right.plot(sweep["lam"], sweep["error"], color="#0072B2", linewidth=1.1)
    right.axvline(lam, color="black", linewidth=0.8, linestyle="--")
    right.set(xscale="log", xlabel=rf"$\lambda$ (at $\tau = {tau:g}$, $k = {k}$)", ylabel="test error", ylim=(0, None))
    right.set_xlim(sweep["lam"].min(), sweep["lam"].max())
    right.yaxis.set_major_formatter(PERCENT)
    handles = [
        Line2D([], [], color="#CC79A7", linestyle=":", label=r"$K + \lambda I$ singular"),
        Line2D([], [], color="black", linestyle="--", linewidth=0.8, label=rf"$\lambda = {lam:g}$"),
    ]
    right.legend(handles=handles, loc="upper right")
    return figure


def figure_settings(splits, nine):
    """Accuracies of each setting over random splits: 95 % range, quartiles, median; on the source's split; as published.

    splits: tidy table with lam, tau, k, errors, n; nine: table of tables_seeds.nine, with or without a column "published".
    """
    figure, axis = canvas(height=0.33 * len(nine) + 0.9)
    rows = np.arange(len(nine))[::-1]
    left = np.sort(nine["low"])[1] - 0.02  # one setting may be far worse than all others: an arrow says how far it reaches
    for row, setting in zip(rows, nine.itertuples(), strict=True):
        if setting.low < left:
            axis.annotate(f"to {setting.low:.0%}", (left, row), (8, 5), textcoords="offset points", fontsize=8)
            axis.plot(left, row, marker="<", color="#56B4E9", markersize=7, clip_on=False, zorder=4)
        one = splits[np.all([splits[name] == getattr(setting, name) for name in ("lam", "tau", "k")], axis=0)]
        low, first, middle, third, high = np.percentile(1 - one["errors"] / one["n"], [2.5, 25, 50, 75, 97.5])
        axis.plot([low, high], [row, row], color="#56B4E9", linewidth=1.6, zorder=2, solid_capstyle="butt")
        axis.plot([first, third], [row, row], color="#56B4E9", linewidth=7, zorder=2, solid_capstyle="butt")
        axis.plot([middle, middle], [row - 0.2, row + 0.2], color="#004B78", linewidth=1.6, zorder=3)
    handles = [
        Line2D([], [], color="#56B4E9", linewidth=1.6, label="95 % of the splits"),
        Line2D([], [], color="#56B4E9", linewidth=7, label="half of the splits"),
        Line2D([], [], color="#004B78", marker="|", linestyle="none", markersize=9, markeredgewidth=1.6, label="median"),
    ]
    mark = dict(linestyle="none", zorder=4)
    handles += axis.plot(
        nine["ours"], rows, marker="o", markersize=6, color="black", label="first of each class train", **mark
    )
    if "published" in nine:
        handles += axis.plot(
            nine["published"],
            rows,
            marker="D",
            markersize=10,
            markerfacecolor="none",
            color="#D55E00",
            label="published",
            **mark,
        )
    labels = [rf"$\lambda = {s.lam:g}$, $\tau = {s.tau:g}$, $k = {s.k}$" for s in nine.itertuples()]
    axis.set(yticks=rows, yticklabels=labels, xlabel="test accuracy", ylim=(-0.6, len(nine) - 0.4), xlim=(left, None))
    axis.xaxis.set_major_formatter(PERCENT)
    axis.grid(False, axis="y")
    figure.legend(handles=handles, loc="outside upper center", ncols=3)
    return figure


def figure_surface(surface, ks, marks):
    """Mean test error over lambda and tau, a panel for each of four k; dots where K + lambda I is indefinite in some split.

    marks: settings (lam, tau, k) to ring. Errors above 25 % have the darkest colour.
    """
    figure, axes = canvas(2, 2, height=5.2, sharex=True, sharey=True)
    for axis, k in zip(axes.flat, ks, strict=True):
        part = surface[surface["k"] == k]
        cells = part.pivot(index="tau", columns="lam", values="mean_error")
        image = axis.imshow(cells, origin="lower", aspect="auto", cmap="viridis_r", norm=mpl.colors.LogNorm(0.05, 0.25))
        unsafe = part.pivot(index="tau", columns="lam", values="indefinite").to_numpy()
        rows, columns = np.nonzero(unsafe)
        axis.scatter(columns, rows, s=5, color="white", edgecolors="black", linewidths=0.3)
        for lam, tau, number in marks:
            if number == k and lam in cells.columns and tau in cells.index:
                place = cells.columns.get_loc(lam), cells.index.get_loc(tau)
                axis.scatter(*place, s=70, facecolors="none", edgecolors="#D55E00", linewidths=1.6)
        axis.set_title(f"$k = {k}$")
        axis.grid(False)
        axis.set_xticks(range(len(cells.columns)), [f"{lam:g}" for lam in cells.columns], rotation=45)
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


def figure_paired(paired):
    """Each method's difference in test error from a reference on the same splits: corrected 95 % interval of the mean, and
    standard deviation over splits (table of tables_seeds.paired)."""
    rows = paired.iloc[::-1].reset_index(drop=True)
    figure, axis = canvas(height=0.27 * len(rows) + 0.9)
    y = np.arange(len(rows))
    mean = rows["difference"]
    axis.errorbar(mean, y, xerr=rows["sd_difference"], fmt="none", ecolor="#BBBBBB", elinewidth=5, zorder=1)
    axis.errorbar(mean, y, xerr=[mean - rows["low"], rows["high"] - mean], fmt="o", color="#0072B2", capsize=3, zorder=3)
    axis.axvline(0, color="black", linewidth=0.8)
    labels = [f"{row.method}  {row.error:.1%}" for row in rows.itertuples()]
    axis.set(yticks=y, yticklabels=labels, xlabel="difference in test error (percentage points)")
    axis.xaxis.set_major_formatter(PercentFormatter(1.0, decimals=0, symbol=""))
    axis.grid(False, axis="y")
    handles = [
        Line2D([], [], color="#0072B2", marker="o", label="mean and its corrected 95 % interval"),
        Line2D([], [], color="#BBBBBB", linewidth=5, label="± standard deviation over splits"),
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=2)
    return figure


def figure_projection(P, shares, y, train, test, predicted, names):
    """Three principal components in space, and the three faces of that space: true classes by colour and marker, training
    points pale, mistakes on the test points ringed in the colour of the class they were given to.

    predicted (len(test),) classes of the test points; shares (3,) of the variance; names of the classes.
    """
    figure, _ = canvas(height=6.1)
    figure.clf()
    grid = figure.add_gridspec(2, 2)
    labels = [f"PC {i + 1} ({share:.0%})" for i, share in enumerate(shares)]
    space = figure.add_subplot(grid[0, 0], projection="3d")
    for part, size, alpha in ((train, 7, 0.35), (test, 13, 1.0)):
        for c in range(len(names)):
            chosen = part[y[part] == c]
            space.scatter(
                *P[chosen].T,
                s=size,
                color=CLASS_COLOURS[c],
                marker=CLASS_MARKERS[c],
                alpha=alpha,
                linewidths=0,
                depthshade=False,
            )
    wrong = test[predicted != y[test]]
    given = [CLASS_COLOURS[c] for c in predicted[predicted != y[test]]]
    space.scatter(*P[wrong].T, s=60, facecolors="none", edgecolors=given, linewidths=1.3, depthshade=False)
    for name, label in zip("xyz", labels, strict=True):
        getattr(space, f"set_{name}label")(label, fontsize=7, labelpad=-5 if name == "z" else -9)
        getattr(space, f"{name}axis").set_major_locator(MaxNLocator(5))
    space.tick_params(labelsize=6, pad=-4)
    space.view_init(elev=22, azim=-60)
    space.set_box_aspect(None, zoom=0.9)
    for place, (i, j) in (((0, 1), (0, 1)), ((1, 0), (0, 2)), ((1, 1), (1, 2))):
        axis = figure.add_subplot(grid[place])
        _draw_face(axis, P[:, [i, j]], y, train, test, wrong, given)
        axis.set(xlabel=labels[i], ylabel=labels[j])
    handles = [
        Line2D([], [], linestyle="none", marker=CLASS_MARKERS[c], color=CLASS_COLOURS[c], label=name)
        for c, name in enumerate(names)
    ]
    handles += [
        Line2D([], [], linestyle="none", marker="o", color=GREY, alpha=0.4, markersize=3, label="pale: training"),
        Line2D([], [], linestyle="none", marker="o", markersize=8, markerfacecolor="none", markeredgecolor="black",
               label="ring: mistake, in the predicted class's colour"),
    ]  # fmt: skip
    figure.legend(handles=handles, loc="outside upper center", ncols=3)
    return figure


def figure_stubborn(P, shares, y, rates, names):
    """The examples on the first two principal components; area and darkness grow with the error rate of each method.

    rates {method: (n,) error rates, NaN where never tested}.
    """
    figure, axes = canvas(1, len(rates), height=3.3, sharex=True, sharey=True, squeeze=False)
    for axis, (method, rate) in zip(axes.flat, rates.items(), strict=True):
        rate = np.nan_to_num(rate)
        for c in range(len(names)):
            mine = y == c
            colours = dict(c=rate[mine], cmap="YlOrRd", vmin=-0.15, vmax=1, edgecolors=CLASS_COLOURS[c])
            axis.scatter(*P[mine, :2].T, s=7 + 55 * rate[mine], marker=CLASS_MARKERS[c], linewidths=0.7, **colours)
        axis.set(title=method, xlabel=f"PC 1 ({shares[0]:.0%})")
    axes[0, 0].set_ylabel(f"PC 2 ({shares[1]:.0%})")
    handles = [
        Line2D(
            [],
            [],
            linestyle="none",
            marker=CLASS_MARKERS[c],
            markerfacecolor="none",
            markeredgecolor=CLASS_COLOURS[c],
            label=n,
        )
        for c, n in enumerate(names)
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=len(names))
    scale = mpl.cm.ScalarMappable(mpl.colors.Normalize(0, 1), mpl.colors.ListedColormap(_reds()))
    bar = figure.colorbar(scale, ax=axes, label="share of its tests mistaken", shrink=0.9)
    bar.ax.yaxis.set_major_formatter(PERCENT)
    return figure


def figure_hard(sets):
    """Sets that do not separate; a row each. Left: the first two principal components, coloured by class. Right: the classes
    of the nearest neighbours of each class's examples, as percentages of the row.

    sets {title: (P, shares, y, neighbours (C, C), class labels)}.
    """
    figure, axes = canvas(len(sets), 2, height=3.1 * len(sets) + 0.2, squeeze=False, gridspec_kw={"width_ratios": [1.15, 1]})
    for (left, right), (title, (P, shares, y, neighbours, labels)) in zip(axes, sets.items(), strict=True):
        n_classes = len(labels)
        colours = mpl.colors.ListedColormap(mpl.colormaps["viridis"](np.linspace(0, 1, n_classes)))
        order = np.argsort(np.bincount(y)[y], kind="stable")[::-1]  # the rare classes last, on top
        dots = left.scatter(
            *P[order, :2].T, c=y[order], s=5, cmap=colours, vmin=-0.5, vmax=n_classes - 0.5, linewidths=0, alpha=0.8
        )
        low, high = np.percentile(P[:, :2], [0.1, 99.9], axis=0)
        room = 0.05 * (high - low)
        left.set(xlim=(low[0] - room[0], high[0] + room[0]), ylim=(low[1] - room[1], high[1] + room[1]))
        left.set(title=f"{title} (n = {len(y):,})", xlabel=f"PC 1 ({shares[0]:.0%})", ylabel=f"PC 2 ({shares[1]:.0%})")
        bar = figure.colorbar(dots, ax=left, ticks=range(n_classes), pad=0.02)
        bar.ax.set_yticklabels(labels)
        bar.ax.tick_params(labelsize=7)
        right.imshow(neighbours, cmap="Blues", vmin=0, vmax=1, aspect="auto")
        for (i, j), share in np.ndenumerate(neighbours):
            right.text(
                j, i, f"{100 * share:.0f}", ha="center", va="center", fontsize=7, color="white" if share > 0.6 else "black"
            )
        counts = np.bincount(y, minlength=n_classes)
        right.set_xticks(range(n_classes), labels)
        right.set_yticks(range(n_classes), [f"{label} ({count:,})" for label, count in zip(labels, counts, strict=True)])
        right.tick_params(labelsize=7)
        right.grid(False)
        right.set(title="nearest neighbours (%)", xlabel="class of the neighbour", ylabel="class (examples)")
    return figure


def figure_hard_errors(summaries):
    """Errors of the methods on sets that do not separate, a panel each, with the most frequent class's error and the bound
    from the nearest neighbour. summaries {title: (table of method, error, sd; majority error; bound)}."""
    longest = max(len(table) for table, *_ in summaries.values())
    figure, axes = canvas(1, len(summaries), height=0.27 * longest + 1.1, sharey=len(summaries) > 1, squeeze=False)
    order = next(iter(summaries.values()))[0].sort_values("error", ascending=False)["method"].tolist()
    for axis, (title, (table, majority, bound)) in zip(axes.flat, summaries.items(), strict=True):
        rows = table.set_index("method").reindex(order)
        axis.errorbar(rows["error"], np.arange(len(rows)), xerr=rows["sd"], fmt="o", color="#0072B2", capsize=3)
        axis.axvline(majority, color="black", linestyle="--", linewidth=0.9, label="most frequent class")
        axis.axvline(bound, color="#D55E00", linestyle=":", linewidth=1.4, label="bound from the nearest neighbour")
        axis.set(title=title, xlabel="test error", xlim=(0, None))
        axis.set_yticks(np.arange(len(rows)), order)
        axis.xaxis.set_major_formatter(PERCENT)
        axis.grid(False, axis="y")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=2)
    return figure


def _draw_face(axis, points, y, train, test, wrong, given):
    for part, size, alpha in ((train, 6, 0.35), (test, 11, 1.0)):
        for c in range(y.max() + 1):
            chosen = part[y[part] == c]
            axis.scatter(
                *points[chosen].T,
                s=size,
                color=CLASS_COLOURS[c],
                marker=CLASS_MARKERS[c],
                alpha=alpha,
                linewidths=0,
                zorder=2,
            )
    axis.scatter(*points[wrong].T, s=55, facecolors="none", edgecolors=given, linewidths=1.3, zorder=3)


def _reds():
    """The colours of figure_stubborn from rate 0 to 1."""
    return mpl.colormaps["YlOrRd"]((np.linspace(0, 1, 128) + 0.15) / 1.15)
