"""Figures of the chapter on visiting orders; tables are those of study.orders.tables. Errors in percent, gaps in points."""

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, MaxNLocator

from kp.mistakes import PREDICTORS
from study.orders.tables import ALL_FOUR, CONTROL, ROPE, SAME, UNTOLD
from study.style import (
    BAND,
    BLACK,
    CLAY,
    GREY,
    PERCENT,
    PREDICTOR_COLOURS,
    PUBLISHED,
    REFERENCE,
    SAND,
    TEAL,
    canvas,
    handles,
    heat_map,
    log_percent_axis,
    look,
)

NORMAL = 1.96
TICKS = (0.1, 0.2, 0.5, 1, 1.5, 2, 3, 4, 6, 8, 10, 15, 20, 30, 50)
"""Percentages on a logarithmic axis of less than a decade."""
PLAIN = (SAND, TEAL, CLAY)
"""Colours of the protocols of orders that are kept or shared."""
BANDS = ("final", CONTROL)
"""Predictors whose orders are drawn as a band; more bands hide each other."""


def figure_by_epoch(runs):
    """A panel for each degree: test error by epoch, the mean over visiting orders; bands from lowest to highest of two
    predictors, the final and the average one.

    The grey bar behind the last epoch has the length of the 95 % interval that the number of test images alone gives an
    error rate of this size. The dashed line is at the lowest mean error of the average predictor after the last epoch.
    """
    degrees = sorted(runs["degree"].unique())
    columns = min(3, len(degrees))
    lines = -(-len(degrees) // columns)
    figure, axes = canvas(lines, columns, height=1.6 * lines + 0.5, squeeze=False)
    for axis in axes.flat[len(degrees) :]:
        axis.set_visible(False)
    for axis, degree in zip(axes.flat, degrees, strict=False):
        part = runs[runs["degree"] == degree]
        for name in sorted(PREDICTORS, key=CONTROL.__eq__):  # the average predictor last, on top of the voted one
            rate = (100 * part["errors"] / part["n"])[part["predictor"] == name].groupby(part["epoch"])
            epochs = list(rate.groups)
            mean = rate.mean()
            if name in BANDS:
                axis.fill_between(epochs, rate.min(), rate.max(), color=PREDICTOR_COLOURS[name], alpha=0.2, lw=0)
            axis.plot(epochs, mean, **look(name), markersize=2.5, lw=1.1)
            if name == CONTROL:
                share = mean.iloc[-1] / 100
                n = part["n"].iloc[0]
                reach = 100 * NORMAL * np.sqrt(share * (1 - share) / n)
                axis.errorbar(epochs[-1] + 0.8, mean.iloc[-1], yerr=reach, color=GREY, capsize=3, elinewidth=1.4)
        axis.set(title=f"degree {degree}, {part['order'].nunique()} orders", xlabel="epoch")
        axis.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=5))
        log_percent_axis(axis)
        axis.yaxis.set_major_locator(FixedLocator(TICKS))
    curved = [axis for axis, degree in zip(axes.flat, degrees, strict=False) if degree > 1]
    ends = np.array([axis.get_ylim() for axis in curved])
    own = runs[(runs["predictor"] == CONTROL) & (runs["epoch"] == runs["epoch"].max())]
    lowest = (100 * own["errors"] / own["n"]).groupby(own["degree"]).mean().min()
    for axis in curved:
        axis.set_ylim(ends[:, 0].min(), ends[:, 1].max())
        axis.axhline(lowest, **REFERENCE)
    for row in axes:
        row[0].set_ylabel("test error (%)")
    _legend(figure, Line2D([], [], color=GREY, marker="_", label="95 %, test examples"))
    return figure


def figure_answer(means, epochs):
    """Which degree, which predictor, after how many epochs? Left: mean test error after the last epoch by degree.

    means: degree, predictor, estimate, low, high (95 %, orders and test images), lowest, highest (of all orders), published.
    Right: epochs as in tables.among_epochs: every epoch less the last, the mean over the degrees, with 95 % intervals over
    orders and images; in the grey band differences count as none.
    """
    figure, (left, right) = canvas(1, 2, height=3.0, width_ratios=[3, 2])
    for i, name in enumerate(PREDICTORS):
        part = means[means["predictor"] == name]
        colour = PREDICTOR_COLOURS[name]
        x = part["degree"] + 0.19 * (i - 1.5)
        left.vlines(x, 100 * part["lowest"], 100 * part["highest"], color=colour, lw=4.5, alpha=0.25)
        ends = 100 * np.array([part["estimate"] - part["low"], part["high"] - part["estimate"]])
        left.errorbar(
            x, 100 * part["estimate"], yerr=ends, elinewidth=0.9, capsize=2, markersize=4, linestyle="none", **look(name)
        )
        left.plot(x, 100 * part["published"], **{**PUBLISHED, "markersize": 3, "zorder": 4})
        later = epochs[epochs["predictor"] == name]
        right.plot(later["epoch"], 100 * later["estimate"], markersize=3, lw=1.1, **look(name))
        right.fill_between(later["epoch"], 100 * later["low"], 100 * later["high"], color=colour, alpha=0.15, lw=0)
    left.set(xlabel="degree", ylabel="test error (%)")
    left.xaxis.set_major_locator(MaxNLocator(integer=True))
    _draw_rope(right)
    right.set(xlabel="epoch", ylabel="minus the last epoch (points)")
    right.set_yscale("symlog", linthresh=0.1)
    ticks = [-0.1, 0, 0.1, 0.2, 0.5, 1, 2, 5]
    right.set_yticks([tick for tick in ticks if tick <= 100 * epochs["high"].max() * 1.1], minor=False)
    right.set_yticklabels([f"{tick:g}".replace("-", "\N{MINUS SIGN}") for tick in right.get_yticks()])
    right.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=5))
    _legend(figure, Line2D([], [], **PUBLISHED, markersize=4, label="published run"))
    return figure


def figure_among_predictors(verdicts):
    """Other predictors less the average one of the same degree, a panel for each epoch, with 95 % intervals.

    verdicts as in tables.among_predictors. Filled: higher or lower; half filled: the same within the grey band; hollow:
    neither is significant.
    """
    epochs = sorted(verdicts["epoch"].unique())
    figure, axes = canvas(1, len(epochs), height=3.0, squeeze=False)
    others = [name for name in PREDICTORS if name in set(verdicts["predictor"])]
    for axis, epoch in zip(axes[0], epochs, strict=True):
        _draw_rope(axis)
        axis.axhline(0, **REFERENCE)
        for i, name in enumerate(others):
            rows = verdicts[(verdicts["epoch"] == epoch) & (verdicts["predictor"] == name)]
            for row in rows.itertuples():
                _draw_verdict(axis, row.degree + 0.16 * (i - 1), row, **look(name))
        axis.set(title=f"after epoch {epoch}", xlabel="degree")
        axis.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes[0, 0].set_ylabel("test error minus that of\nthe average predictor (points)")
    _legend(figure, names=others)
    return figure


def figure_kept(saved, verdicts):
    """Other visiting orders than a new one for each class and epoch. Left: how many support vectors fewer they leave, as in
    tables.fewer. Right: errors of the average predictor less those with new orders, as in tables.errors_under_protocols,
    drawn as in `figure_among_predictors`."""
    figure, (left, right) = canvas(1, 2, height=2.9)
    left.axhline(0, **REFERENCE)
    right.axhline(0, **REFERENCE)
    _draw_rope(right)
    names = list(verdicts["protocol"].unique())
    places = {degree: i for i, degree in enumerate(verdicts["degree"].unique())}
    styles = [{"color": colour, "marker": marker, "markersize": 4.5} for colour, marker in zip(PLAIN, "v^o", strict=True)]
    for i, (name, style) in enumerate(zip(names, styles, strict=True)):
        own = saved[saved["protocol"] == name]
        ends = np.array([own["estimate"] - own["low"], own["high"] - own["estimate"]])
        left.errorbar(own["degree"] + 0.08 * (i - 1), own["estimate"], yerr=ends, elinewidth=0.9, capsize=2, lw=1.1, **style)
        rows = verdicts[(verdicts["protocol"] == name) & (verdicts["predictor"] == CONTROL)]
        for row in rows.itertuples():
            _draw_verdict(right, places[row.degree] + 0.2 * (i - 1), row, **style)
    left.set(xlabel="degree", ylabel="support vectors saved")
    left.yaxis.set_major_formatter(PERCENT)
    left.xaxis.set_major_locator(MaxNLocator(integer=True))
    right.set(xlabel="degree", ylabel="test error minus that with\nnew orders (points)")
    right.set_xticks(list(places.values()), list(map(str, places)))
    marks = [Line2D([], [], label=name, **style) for name, style in zip(names, styles, strict=True)]
    figure.legend(handles=marks, loc="outside upper center", ncols=len(marks))
    return figure


def figure_selection(counts, chosen, n):
    """Left: how many orders chose which degree and predictor. Right: test errors (of n) of the honest choice of each order,
    and the fewest of any candidate in the same order; sorted by the honest ones."""
    figure, (left, right) = canvas(1, 2, height=2.7, width_ratios=[2, 3])
    heat_map(left, counts.to_numpy(), rows=list(counts.index), columns=list(counts.columns))
    left.grid(False)
    left.set(xlabel="", ylabel="degree chosen")
    left.tick_params(axis="x", labelrotation=30)
    rows = chosen[chosen["among"] == ALL_FOUR].sort_values(["honest", "fewest"], ignore_index=True)
    right.hlines(rows.index, 100 * rows["fewest"] / n, 100 * rows["honest"] / n, color=BAND, lw=2)
    right.plot(
        100 * rows["fewest"] / n, rows.index, "o", color="white", markeredgecolor=BLACK, label="fewest of all, by hindsight"
    )
    right.plot(100 * rows["honest"] / n, rows.index, "o", color=BLACK, label="chosen on held-out images")
    right.set(xlabel="test error (%)", ylabel="visiting orders", yticks=[])
    figure.legend(loc="outside upper right", ncols=2)
    return figure


def figure_digits(rates, confusion):
    """Left: error rates by digit (rows) and degree (columns), in percent, as in tables.by_digit. Right: confusions (C, C) of
    one degree, means over orders: true digits in rows, rounded; right answers are in grey, below one half nothing."""
    figure, (left, right) = canvas(1, 2, height=3.1, width_ratios=[6, 10])
    digits = list(rates.index)
    heat_map(left, 100 * rates.to_numpy(), rows=digits, columns=list(rates.columns), format=".1f", vmin=0)
    left.set(xlabel="degree", ylabel="digit", title="test error (%)")
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


def _draw_verdict(axis, x, row, **style):
    """A difference with its interval, filled by its verdict."""
    y = 100 * row.estimate
    ends = [[y - 100 * row.low], [100 * row.high - y]]
    fill = {UNTOLD: "none", SAME: "left"}.get(row.verdict, "full")
    style = {"markersize": 4.5, "elinewidth": 0.9, "capsize": 2, "linestyle": "none", "fillstyle": fill} | style
    axis.errorbar(x, y, yerr=ends, **style)


def _legend(figure, *more, names=PREDICTORS):
    marks = [*handles(names, markersize=4), *more]
    figure.legend(handles=marks, loc="outside upper center", ncols=len(marks), columnspacing=1.2)
