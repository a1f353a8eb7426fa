"""Figures of the chapter on visiting orders; tables are those of study.orders.tables. Errors in percent, gaps in points."""

import numpy as np
from matplotlib.ticker import FixedLocator, MaxNLocator

from kp.mistakes import PREDICTORS
from study.orders.tables import ALL_FOUR, CONTROL, HIGHER, LOWER, ROPE, SAME, UNTOLD
from study.style import (
    BAND,
    BLACK,
    GREY,
    INK,
    PERCENT,
    PREDICTOR_COLOURS,
    REFERENCE,
    canvas,
    heat_map,
    log_percent_axis,
    look,
)

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


def figure_by_epoch(runs, *, large=3):
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

    means: a table of tables.spread.
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

    verdicts as in tables.among_predictors.
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
        axis.margins(x=0.12)
        axis.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes[0, 0].set_ylabel("points above the\naverage predictor")
    return figure


def figure_kept(saved):
    """How many support vectors fewer other visiting orders leave than a new one for each class and epoch, as in
    tables.fewer; the name of each stands at its line."""
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
        ("fewest by hindsight", fewest, 3 * len(rows) // 4, "right"),
        ("chosen on held-out images", honest, len(rows) // 3, "left"),
    ):
        shift = {"xytext": (-8 if side == "right" else 8, 0), "textcoords": "offset points", "ha": side, "va": "center"}
        axis.annotate(text, (values.iloc[row], row), fontsize=9, **shift)
    axis.set(xlabel="test error (%)", ylabel="visiting orders", yticks=[], ylim=(-1, top + 2.5))
    return figure


def figure_digits(rates, confusion):
    """Left: error rates by digit (rows) and degree (columns), in percent, as in tables.by_digit. Right: confusions (C, C) of
    one degree, means over orders: true digits in rows, rounded; right answers are in grey, below one half nothing."""
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
