"""Figures of the chapters on MNIST: the images, the source's Figs 3 to 6, and what many visiting orders show.

Tables of one order are those of study.mnist.experiment: one row a count of errors, columns degree, epoch, predictor, split,
errors, n (and digit); those over visiting orders are of study.mnist.over_orders. Error rates are drawn in percent, gaps in
points, with exact 95 % intervals where the caption says so.

Symbols: X (n, d) images as rows of pixels, y (n,) labels.
"""

import numpy as np
from matplotlib.colors import ListedColormap
from matplotlib.ticker import FixedLocator, LogLocator, MaxNLocator, MultipleLocator, StrMethodFormatter

from study import statistics
from study.mnist.over_orders import ALL_FOUR, CONTROL, HIGHER, LOWER, ROPE, SAME, UNTOLD
from study.predictors import PREDICTORS
from study.style import (
    BAND,
    BLACK,
    GREY,
    INK,
    PERCENT,
    PREDICTOR_COLOURS,
    REFERENCE,
    canvas,
    draw_image,
    gallery,
    handles,
    heat_map,
    log_percent_axis,
    look,
)

NEVER = "#F0D5C4"
"""Of pixels that never hold ink: no shade of grey, which says how often others do, and the colour of nothing else."""
NORMAL = 1.96
TICKS = (0.1, 0.2, 0.5, 1, 1.5, 2, 3, 4, 6, 8, 10, 15, 20, 30, 50)
"""Percentages on a logarithmic axis of less than a decade."""
PLAIN = (GREY, BLACK, INK)
"""Colours of the protocols of orders that are kept or shared."""
NAMED_AT = ((1, -14, -4, "right"), (1, 6, 6, "left"), (0, 0, 7, "left"))
"""Where the names of protocols stand: at which of their degrees, how far from the point, and on which side."""
BY_EPOCH = {"final": (5, "bottom"), CONTROL: (-5, "top")}
"""Predictors whose errors are drawn by epoch (more would hide each other), and where the label of a line stands (points)."""
WORDS = {HIGHER: "differs", LOWER: "differs", SAME: "same", UNTOLD: "open"}
"""What is written beside a difference."""


def figure_grid(X, y, *, per_class=10):
    """The first images of each class, a row for each class (the first column: Hermans 2021, Fig. 1)."""
    classes = np.unique(y)
    figure, axes = canvas(len(classes), per_class, width=4.3, height=4.2)
    for row, label in zip(axes, classes, strict=True):
        for axis, pixels in zip(row, X[y == label][:per_class], strict=True):
            draw_image(axis, pixels)
        row[0].set_ylabel(str(label), rotation=0, ha="right", va="center")
    return figure


def figure_samples(X, y, counts):
    """One image of each class, the first of X (n, d), above how many images of it there are.

    counts: class, and a column for each part of the set, as in tables.counts.
    """
    figure, axes = canvas(2, len(counts), height=3.2, height_ratios=[1, 2.6])
    for axis, label in zip(axes[0], counts["class"], strict=True):
        draw_image(axis, X[y == label][0])
    for axis in axes[1]:
        axis.remove()
    below = figure.add_subplot(axes[1, 0].get_gridspec()[1, :])
    parts = list(counts.columns.drop("class"))
    for i, (part, colour) in enumerate(zip(parts, (INK, GREY), strict=True)):
        below.bar(np.arange(len(counts)) + 0.4 * i - 0.2, counts[part], width=0.38, color=colour, label=part)
    below.set_xticks(range(len(counts)), list(map(str, counts["class"])))
    below.set(xlabel="digit", ylabel="images", xlim=(-0.5, len(counts) - 0.5))
    below.yaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    figure.legend(loc="outside upper right", ncols=2)
    return figure


def figure_ink(means, table, share):
    """Where the ink is. Above: mean images (C, d). Below left: ink of each class, a table of tables.ink, as the median and
    the middle half of the images; right: share (d,) of images with ink at each pixel, in colour where there is none."""
    figure, axes = canvas(2, len(means), height=3.4, height_ratios=[1, 3.2])
    for axis, pixels, label in zip(axes[0], means, table["label"], strict=True):
        draw_image(axis, pixels, f"mean {label}")
    for axis in axes[1]:
        axis.remove()
    grid = axes[1, 0].get_gridspec()
    half = (len(means) + 1) // 2
    left = figure.add_subplot(grid[1, :half])
    right = figure.add_subplot(grid[1, half:])
    spread = [table["median"] - table["low"], table["high"] - table["median"]]
    left.errorbar(table["label"], table["median"], yerr=spread, fmt="o", color=INK, capsize=3)
    left.yaxis.set_major_locator(MultipleLocator(0.05))
    left.yaxis.set_major_formatter(PERCENT)
    left.set(xlabel="digit", ylabel="ink (share of full black)", xticks=table["label"], ylim=(0, None))
    side = round(len(share) ** 0.5)
    share = share.reshape(side, side)
    image = right.imshow(share, cmap="gray_r", vmin=0, vmax=1)
    never = np.ma.masked_where(share > 0, np.ones_like(share))
    right.imshow(never, cmap=ListedColormap([NEVER]), vmin=0, vmax=1)
    right.grid(False)
    right.set(xlabel="column", ylabel="row")
    figure.colorbar(image, ax=right, label="images with ink here", format=PERCENT)
    return figure


def figure_pairs(X, pairs, *, columns=5, measured=True):
    """Nearest pairs of different classes side by side, rows of images.image_pairs, one measure after the other; X (n, d).

    Above each image its label; measured: below it its number, and between the two the distance, or the angle in degrees.
    """
    rows = -(-len(pairs) // columns)
    widths = [1, 1, 0.5] * columns
    figure, axes = canvas(rows, len(widths) - 1, height=0.9 * rows + 0.1, squeeze=False, width_ratios=widths[:-1])
    for axis in axes.flat:
        axis.set_axis_off()
    for place, pair in enumerate(pairs.itertuples()):
        row, column = divmod(place, columns)
        left, right = axes[row, 3 * column : 3 * column + 2]
        for axis, index, label in ((left, pair.first, pair.label_first), (right, pair.second, pair.label_second)):
            axis.set_axis_on()
            draw_image(axis, X[index], f"label {label}")
            axis.set_xlabel(str(index) if measured else "", fontsize=7, color=INK, labelpad=1)
        if measured:
            how_far = f"{pair.degrees:.1f}°" if pair.measure == "angle" else f"{pair.squared_distance**0.5:,.1f}"
            right.text(-0.3, 0.5, how_far, fontsize=7, ha="center", va="center", rotation=90, transform=right.transAxes)
    return figure


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
    figure, axes = canvas(lines, columns, height=1.35 * lines + 0.5, sharex=True, sharey=True, squeeze=False)
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
    wrong = {title: np.where(np.eye(len(matrix), dtype=bool), 0.0, matrix) for title, matrix in matrices.items()}
    digits = range(len(next(iter(matrices.values()))))
    most = max(counts.max() for counts in wrong.values())
    for axis, (title, counts) in zip(axes.flat, wrong.items(), strict=True):
        heat_map(
            axis, counts, rows=digits if axis is axes[0, 0] else False, columns=digits, mask=counts == 0, vmin=0, vmax=most
        )
        axis.set(title=title, xlabel="predicted digit")
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


def figure_orders_by_epoch(runs, *, large=3):
    """Test error by epoch of the final and the average predictor: one degree large, the others in a strip below.

    Line: mean over visiting orders; band: from the lowest to the highest. In the large panel the grey bar behind the last
    epoch has the length of the 95 % interval that the number of test images alone gives an error rate of this size. The
    panels of the degrees above 1 in the strip share an axis.
    """
    degrees = sorted(runs["degree"].unique())
    large = large if large in degrees else degrees[0]
    others = [degree for degree in degrees if degree != large]
    columns = max(len(others), 1)
    figure, axes = canvas(2, columns, height=4.3, height_ratios=[2.1, 1], squeeze=False)
    for axis in axes[0]:
        axis.remove()
    above = figure.add_subplot(axes[0, 0].get_gridspec()[0, :])
    for axis, degree in zip([above, *axes[1]], [large, *others], strict=False):
        part = runs[runs["degree"] == degree]
        for name, (shift, side) in BY_EPOCH.items():
            rate = (100 * part["errors"] / part["n"])[part["predictor"] == name].groupby(part["epoch"])
            epochs = list(rate.groups)
            mean = rate.mean()
            colour = PREDICTOR_COLOURS[name]
            axis.fill_between(epochs, rate.min(), rate.max(), color=colour, alpha=0.2, lw=0)
            axis.plot(epochs, mean, **look(name), markersize=4 if axis is above else 2, lw=1.6 if axis is above else 1)
            if axis is above:
                place = min(2, len(epochs) - 1)
                end = {"xytext": (0, 3 * shift), "textcoords": "offset points", "ha": "center", "va": side}
                axis.annotate(name, (epochs[place], mean.iloc[place]), color=colour, fontsize=10, **end)
        axis.set_title(f"degree {degree}")
        axis.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=5 if axis is not above else 10))
        log_percent_axis(axis)
        axis.yaxis.set_major_locator(FixedLocator(TICKS if axis is above else (1, 2, 4, 8, 15, 30)))
    own = runs[(runs["degree"] == large) & (runs["predictor"] == CONTROL) & (runs["epoch"] == runs["epoch"].max())]
    share, n = own["errors"].mean() / own["n"].iloc[0], own["n"].iloc[0]
    reach = 100 * NORMAL * np.sqrt(share * (1 - share) / n)
    above.errorbar(own["epoch"].iloc[0] + 0.5, 100 * share, yerr=reach, color=GREY, capsize=3, elinewidth=1.4)
    curved = [axis for axis, degree in zip(axes[1], others, strict=False) if degree > 1]
    ends = np.array([axis.get_ylim() for axis in curved])
    for axis in curved:
        axis.set_ylim(ends[:, 0].min(), ends[:, 1].max())
    for axis in (above, axes[1, 0]):
        axis.set_ylabel("test error (%)")
    figure.supxlabel("epoch", fontsize=9)
    return figure


def figure_valley(means):
    """Mean test error by degree after the last epoch, a line for each predictor, with the name at its end. Bars: from the
    lowest to the highest order of the average predictor.

    means: a table of over_orders.spread.
    """
    figure, axis = canvas(height=2.9)
    labels = []
    for name in PREDICTORS[::-1]:
        part = means[means["predictor"] == name]
        ours = name == CONTROL
        if ours:
            axis.vlines(part["degree"], 100 * part["lowest"], 100 * part["highest"], color=BAND, lw=7, zorder=1)
        axis.plot(part["degree"], 100 * part["mean"], **look(name), lw=2 if ours else 1, markersize=6 if ours else 4)
        labels.append((100 * part["mean"].iloc[0], name))
    gap = 0.06 * np.ptp(axis.get_ylim())
    place = -np.inf
    for y, name in sorted(labels):
        place = max(y, place + gap)
        colour = PREDICTOR_COLOURS[name]
        axis.annotate(name, (means["degree"].min() - 0.1, place), ha="right", va="center", color=colour, fontsize=9)
    axis.set(xlabel="degree", ylabel="test error (%)", xlim=(means["degree"].min() - 0.8, means["degree"].max() + 0.2))
    axis.xaxis.set_major_locator(FixedLocator(sorted(means["degree"].unique())))
    return figure


def figure_among_predictors(verdicts):
    """Other predictors less the average one of the same degree after the last epoch, a panel for each, with 95 % intervals
    and, beside each difference, a word: it differs, it is the same within the grey band, or it is open.

    verdicts as in over_orders.among_predictors.
    """
    last = verdicts[verdicts["epoch"] == verdicts["epoch"].max()]
    others = [name for name in PREDICTORS if name in set(last["predictor"])]
    figure, axes = canvas(1, len(others), height=2.7, squeeze=False, sharey=True)
    for axis, name in zip(axes[0], others, strict=True):
        _draw_rope(axis)
        axis.axhline(0, color=PREDICTOR_COLOURS[CONTROL], lw=1.4)
        for row in last[last["predictor"] == name].itertuples():
            _draw_difference(axis, row, **look(name))
        axis.set(title=name, xlabel="degree")
        axis.margins(x=0.12, y=0.12)
        axis.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes[0, 0].set_ylabel("points above the\naverage predictor")
    return figure


def figure_kept(saved):
    """How many support vectors fewer other visiting orders leave than a new one for each class and epoch, as in
    over_orders.fewer; the name of each stands at its line."""
    figure, axis = canvas(height=2.8)
    axis.axhline(0, **REFERENCE)
    names = list(saved["protocol"].unique())
    for i, (name, colour, marker) in enumerate(zip(names, PLAIN, "v^o", strict=True)):
        own = saved[saved["protocol"] == name].sort_values("degree")
        ends = np.array([own["estimate"] - own["low"], own["high"] - own["estimate"]])
        style = {"color": colour, "marker": marker, "markersize": 4.5, "elinewidth": 0.9, "capsize": 2, "lw": 1.3}
        axis.errorbar(own["degree"] + 0.05 * (i - 1), own["estimate"], yerr=ends, **style)
        place, *shift, side = NAMED_AT[i]
        point = own["degree"].iloc[place], own["estimate"].iloc[place]
        axis.annotate(name, point, xytext=shift, textcoords="offset points", color=colour, ha=side, fontsize=9)
    axis.set(xlabel="degree", ylabel="fewer support vectors")
    axis.yaxis.set_major_formatter(PERCENT)
    axis.xaxis.set_major_locator(FixedLocator(sorted(saved["degree"].unique())))
    return figure


def figure_selection(chosen, n):
    """Test errors (of n) of the honest choice of each order among all candidates, and the fewest of any candidate in the
    same order; sorted by the honest ones. The arrow goes from one mean to the other, with its length in points."""
    rows = chosen[chosen["among"] == ALL_FOUR].sort_values(["honest", "fewest"], ignore_index=True)
    honest, fewest = (100 * rows[name] / n for name in ("honest", "fewest"))
    figure, axis = canvas(height=3.2)
    axis.hlines(rows.index, fewest, honest, color=BAND, lw=2.5)
    axis.plot(fewest, rows.index, "o", color="white", markeredgecolor=BLACK)
    axis.plot(honest, rows.index, "o", color=BLACK)
    top = len(rows) + 0.8
    ends = {"arrowstyle": "<->", "color": INK, "lw": 1.6, "shrinkA": 0, "shrinkB": 0}
    axis.annotate("", (fewest.mean(), top), (honest.mean(), top), arrowprops=ends)
    middle = (fewest.mean() + honest.mean()) / 2
    gap = honest.mean() - fewest.mean()
    axis.annotate(f"{gap:.2f} points in the mean", (middle, top + 0.5), ha="center", va="bottom", color=INK)
    for text, values, row, side in (
        ("lowest in hindsight", fewest, len(rows) - 1, "right"),
        ("chosen on held-out images", honest, len(rows) // 3, "left"),
    ):
        shift = {"xytext": (-8 if side == "right" else 8, 0), "textcoords": "offset points", "ha": side, "va": "center"}
        axis.annotate(text, (values.iloc[row], row), fontsize=9, **shift)
    axis.set(xlabel="test error (%)", ylabel="visiting orders", yticks=[], ylim=(-1, top + 2.5))
    return figure


def figure_digits(rates, confusion):
    """Left: error rates by digit (rows) and degree (columns), in percent, as in over_orders.by_digit. Right: confusions
    (C, C) of one degree, means over orders: true digits in rows, rounded; right answers are in grey, below one half
    nothing."""
    figure, (left, right) = canvas(1, 2, height=3.1, width_ratios=[6, 10])
    digits = list(rates.index)
    heat_map(left, 100 * rates.to_numpy(), rows=digits, columns=list(rates.columns), format=".1f", vmin=0)
    left.set(xlabel="degree", ylabel="digit", title="test error (%)")
    hardest = rates.mean(axis=1).to_numpy().argmax()
    left.get_yticklabels()[hardest].set_fontweight("bold")
    wrong = np.where(np.eye(len(confusion), dtype=bool), 0.0, confusion)
    heat_map(right, wrong, rows=digits, columns=digits, mask=wrong < 0.5, vmin=0, vmax=max(wrong.max(), 1.0))
    for i, count in enumerate(np.diag(confusion)):
        right.text(i + 0.5, i + 0.5, f"{count:,.0f}", ha="center", va="center", fontsize=7, color=GREY)
    right.set(xlabel="predicted digit", ylabel="true digit", title="images, mean over orders")
    for axis in (left, right):
        axis.grid(False)
    return figure


def _legend(figure, predictors=PREDICTORS):
    figure.legend(handles=handles(predictors), loc="outside upper center", ncols=len(predictors))


def _draw_rope(axis):
    """The differences that count as none."""
    axis.axhspan(-100 * ROPE, 100 * ROPE, color=BAND, zorder=0)


def _draw_difference(axis, row, **style):
    """A difference with its interval and its verdict in a word."""
    y = 100 * row.estimate
    ends = [[y - 100 * row.low], [100 * row.high - y]]
    axis.errorbar(row.degree, y, yerr=ends, markersize=4.5, elinewidth=0.9, capsize=2, linestyle="none", **style)
    word = {"xytext": (0, 3), "textcoords": "offset points", "ha": "center", "va": "bottom", "fontsize": 7}
    axis.annotate(WORDS[row.verdict], (row.degree, 100 * row.high), color=style["color"], **word)
