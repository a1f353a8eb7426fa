"""Figures on the published tables: error rates in the spread of ours, readings of the source, curves, comparisons.

Tables are those of study.tables.experiment and study.tables.tables. Error rates are drawn in percent. A diamond is a
published number: filled where it lies inside the central 95 % of our repeats, hollow where it does not.
"""

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from study import style
from study.levels import ALPHA
from study.predictors import PREDICTORS
from study.style import canvas
from study.tables.source import KERNELS, SPLITS, setting
from study.tables.tables import BASE

KERNEL_COLOURS = style.KERNEL_COLOURS
KERNEL_MARKERS = {"linear": "s", "poly": "D", "rbf": "^"}
RED = style.PUBLISHED["color"]
DIAMOND = style.PUBLISHED["marker"]
SPLIT_MARKERS = {"train": "v", "test": DIAMOND}
"""Published means where training and test error share an axis."""


def figure_distributions(repeats, compared):
    """Strips of the mean training and test error over the repeats, a line for each row of Tables II and III."""
    kernels = _kernels(repeats, KERNELS)
    figure, axes = canvas(1, 2, height=0.62 * len(kernels) + 1.0, sharey=True)
    for axis, (split, word) in zip(axes, SPLITS.items(), strict=True):
        for y, kernel in enumerate(kernels):
            values = (100 * repeats[repeats["kernel"] == kernel][f"{split}_mean"]).to_numpy()
            for row in _means(compared, kernel, split).itertuples():
                axis.barh(y, row.high - row.low, left=row.low, height=0.7, color=style.BAND, zorder=0)
                _diamond(axis, row.published, y, row.verdict != "outside")
            if values.any():
                # Equal values stand one above the other.
                shift = 0.6 * (np.arange(len(values)) * 0.618 % 1 - 0.5)
                axis.plot(values, y + shift, "o", color=style.INK, markersize=2.2, alpha=0.6, clip_on=False)
            else:
                axis.annotate(
                    f"0.00 in all {len(values)} repeats", (0, y), xytext=(9, -3), textcoords="offset points", fontsize=7
                )
        axis.set(xlabel=f"mean {word} error (%)")
        axis.set_xlim(left=0)
        axis.grid(False, axis="y")
    names = {row.kernel: f"{setting(row.kernel, row.parameter)}, {row.iterations:,}" for row in repeats.itertuples()}
    axes[0].set(
        yticks=range(len(kernels)), yticklabels=[names[kernel] for kernel in kernels], ylim=(len(kernels) - 0.5, -0.5)
    )
    axes[0].set_ylabel("kernel, iterations")
    band = Patch(color=style.BAND, label="central 95 % of the repeats")
    diamonds = _diamond_handles() if _in_print(compared) else []
    figure.legend(handles=[*diamonds, band], loc="outside upper center", ncols=3)
    return figure


LANES = {BASE: style.GREY, "program": style.METHOD_COLOURS["Xu-Zhang"]}
"""The colour of the plain reading and of the program that fits best."""


def figure_strips(rates, judged):
    """Strips of mean errors, repeat by repeat, with the published number: a panel for each that the plain reading misses.

    rates: `tables.strips`; judged: `tables.judged_strips`. Of the two strips of each panel the upper is the plain reading.
    """
    missed = judged[(judged["lane"] == BASE) & (judged["verdict"] == "outside")]
    missed = missed.assign(far=(missed["published"] - missed["ours"]).abs()).sort_values("far", ascending=False)
    rows = -(-max(len(missed), 1) // 2)
    figure, axes = canvas(rows, 2, height=1.15 * rows + 0.5, squeeze=False)
    for axis in axes.flat[len(missed) :]:
        axis.set_axis_off()
    for axis, each in zip(axes.flat, missed.itertuples(), strict=False):
        keys = {"dataset": each.dataset, "kernel": each.kernel, "split": each.split}
        here, known = (table[(table[list(keys)] == list(keys.values())).all(axis=1)] for table in (rates, judged))
        for place, (lane, colour) in enumerate(LANES.items()):
            _lane(axis, here.loc[here["lane"] == lane, "rate"].to_numpy(), known[known["lane"] == lane], place, colour)
        axis.set(yticks=[0, 1], yticklabels=["plain reading", "best program"], ylim=(1.6, -0.6))
        for label, colour in zip(axis.get_yticklabels(), LANES.values(), strict=True):
            label.set_color(colour)
        axis.set_title(f"{each.dataset}, {KERNELS[each.kernel]}: {SPLITS[each.split]} error (%)", fontsize=8)
        axis.set_xlim(left=0)
        axis.grid(False, axis="y")
    figure.legend(handles=_diamond_handles(), loc="outside upper center", ncols=2)
    return figure


def _lane(axis, values, row, y, colour):
    """One strip: the band of the central 95 %, the repeats as dots, the published number; "0.00" where all are 0."""
    for each in row.itertuples():
        axis.barh(y, each.high - each.low, left=each.low, height=0.8, color=style.BAND, zorder=0)
        _diamond(axis, each.published, y, each.verdict != "outside")
    if values.any():
        # Equal values stand one above the other.
        spread = 0.6 * (np.arange(len(values)) * 0.618 % 1 - 0.5)
        axis.plot(values, y + spread, "o", color=colour, markersize=2, alpha=0.6, clip_on=False)
    elif len(values):
        axis.annotate("0.00 in all repeats", (0, y), xytext=(8, -2.5), textcoords="offset points", fontsize=7, color=colour)


def figure_distances(table):
    """Distances of the printed numbers (diamonds) and of our repeats (dots) from the mean of all (`tables.distances`).

    A panel for each printed table, a line for each program."""
    programs = table["program"].unique().tolist()
    figure, axes = canvas(1, 2, height=0.18 * len(programs) + 0.9, sharey=True)
    for axis, (number, part) in zip(axes, table.groupby("table", sort=False), strict=False):
        for y, name in enumerate(programs):
            here = part[part["program"] == name]
            repeats = here.loc[~here["printed"], "distance"]
            shift = 0.5 * (np.arange(len(repeats)) * 0.618 % 1 - 0.5)
            axis.plot(repeats, y + shift, "o", color=style.GREY, markersize=2, alpha=0.6)
            for printed in here[here["printed"]].itertuples():
                _diamond(axis, printed.distance, y, printed.p >= ALPHA)
        axis.set(xscale="log", xlabel="distance from the mean of all", title=f"Table {number}")
        axis.grid(False, axis="y")
    axes[0].set(yticks=range(len(programs)), yticklabels=programs, ylim=(len(programs) - 0.5, -0.5))
    axes[0].set_ylabel("demoted class, visiting order")
    dots = Line2D([], [], color=style.GREY, marker="o", lw=0, markersize=3, label="our repeats")
    figure.legend(
        handles=[dots, *_diamond_handles("printed, possible", "printed, rejected")], loc="outside upper center", ncols=3
    )
    return figure


def figure_too_low(hidden, speakers):
    """Test errors as the source measures them (hollow) and otherwise (filled). Left: the smallest of the grid, and with the
    same settings in other repeats (`tables.optimism_table`); right: on known and new speakers (`tables.new_speakers`)."""
    figure, axes = canvas(1, 2, height=2.2, width_ratios=(3, 2))
    labels = [f"{row.dataset}, {row.kernel}" for row in hidden.itertuples()]
    _dumbbells(axes[0], labels, hidden["apparent"], hidden["again"])
    _dumbbells(axes[1], speakers["kernel"].tolist(), speakers["known"], speakers["new"])
    axes[0].set_title("settings chosen on the test folds")
    axes[1].set_title("vowel, with new speakers")
    styles = {"marker": "o", "color": style.INK, "lw": 0, "markersize": 5}
    words = {
        "none": "as the article measures",
        style.INK: "in other repeats (left), on new speakers (right)",
    }
    handles = [Line2D([], [], markerfacecolor=fill, label=label, **styles) for fill, label in words.items()]
    figure.legend(handles=handles, loc="outside upper center", ncols=2)
    return figure


def _dumbbells(axis, labels, low, high):
    """A line for each label, from a hollow to a filled point (fractions); nothing without labels."""
    if not labels:
        axis.set_axis_off()
        return
    y = np.arange(len(labels))
    axis.hlines(y, 100 * low, 100 * high, color=style.GREY, lw=1)
    axis.plot(100 * low, y, "o", color=style.INK, markerfacecolor="white", markersize=5, clip_on=False)
    axis.plot(100 * high, y, "o", color=style.INK, markersize=5, clip_on=False)
    axis.set(yticks=y, yticklabels=labels, ylim=(len(labels) - 0.5, -0.5), xlabel="test error (%)")
    axis.set_xlim(left=0)
    axis.grid(False, axis="y")


READINGS = {True: {"color": style.INK, "alpha": 0.8}, False: {"color": style.GREY, "alpha": 0.35}}
"""The look of our range under a reading where the published number lies inside, and where it does not."""


def figure_readings_of_set(compared):
    """The linear perceptron on one set: the central 95 % of its mean training and test error under every reading, and the
    published numbers as lines.

    Readings that cannot differ on this set are drawn once, under the first of their names. Where all repeats have the same
    error, its number is drawn instead of the bar.
    """
    rows = compared[(compared["kernel"] == "linear") & (compared["statistic"] == "mean")]
    names = rows[rows["split"] == "test"].drop_duplicates(["ours", "low", "high"])["reading"].tolist()
    figure, axes = canvas(1, 2, height=0.15 * len(names) + 0.9, sharey=True)
    for axis, (split, word) in zip(axes, SPLITS.items(), strict=True):
        part = rows[rows["split"] == split].set_index("reading").loc[names]
        for y, row in enumerate(part.itertuples()):
            found = row.verdict != "outside"
            axis.plot([row.low, row.high], [y, y], lw=3, solid_capstyle="butt", **READINGS[found])
            axis.plot(row.median, y, "|", color=style.BLACK, markersize=5)
            if row.low == row.high:
                axis.annotate(f"{row.low:.2f}", (row.low, y), (4, -2), textcoords="offset points", fontsize=5)
        if _in_print(rows):
            axis.axvline(part["published"].iloc[0], color=RED, lw=1)
        axis.set(xlabel=f"mean {word} error (%)")
        axis.grid(False, axis="y")
    axes[0].set(yticks=range(len(names)), ylim=(len(names) - 0.5, -0.5))
    axes[0].set_yticklabels([name.replace("iterations are ", "") for name in names], fontsize=6)
    median = Line2D([], [], color=style.BLACK, marker="|", lw=0, markersize=5, label="median")
    handles = [Line2D([], [], lw=3, label="central 95 % of the repeats", **READINGS[True]), median]
    if _in_print(rows):
        handles = [
            Line2D([], [], color=RED, lw=1, label="published"),
            Line2D([], [], lw=3, label="central 95 %, published inside", **READINGS[True]),
            Line2D([], [], lw=3, label="published outside", **READINGS[False]),
            median,
        ]
    figure.legend(handles=handles, loc="outside upper center", ncols=4)
    return figure


def figure_curves(table, compared):
    """Error against the limit of iterations, a panel for each kernel; bands are the central 95 % of the repeats."""
    kernels = _kernels(table, KERNELS)
    figure, axes = canvas(1, len(kernels), height=2.8, squeeze=False)
    for axis, kernel in zip(axes[0], kernels, strict=True):
        for split in SPLITS:
            groups = table[table["kernel"] == kernel].groupby("iterations")[f"{split}_mean"]
            _band(axis, groups, KERNEL_COLOURS[kernel], dashes=style.DASHES[split])
            _published_means(axis, compared, kernel, split, "iterations")
        axis.set(xscale="log", xlabel="iterations at most (epochs)", title=KERNELS[kernel])
    axes[0, 0].set_ylabel("mean error (%)")
    _from_zero(axes[0])
    _split_legend(figure, compared)
    return figure


def figure_parameters(grid, compared):
    """Error against degree and width at the limit of iterations of the published setting, a panel for each kernel."""
    kernels = _kernels(grid, ("poly", "rbf"))
    labels = {"poly": "degree p of the polynomial kernel", "rbf": "width σ of the RBF kernel (attributes in [0, 1])"}
    figure, axes = canvas(1, len(kernels), height=2.8, squeeze=False)
    for axis, kernel in zip(axes[0], kernels, strict=True):
        part = grid[grid["kernel"] == kernel]
        asked = compared[compared["kernel"] == kernel]["iterations"]
        limit = part["iterations"].max() if asked.empty or asked.iloc[0] not in set(part["iterations"]) else asked.iloc[0]
        part = part[part["iterations"] == limit]
        for split in SPLITS:
            groups = part.groupby("parameter")[f"{split}_mean"]
            _band(axis, groups, KERNEL_COLOURS[kernel], dashes=style.DASHES[split], marker=KERNEL_MARKERS[kernel])
            _published_means(axis, compared, kernel, split, "parameter")
        axis.set(xlabel=labels[kernel], title=f"{KERNELS[kernel]}, {limit:,} iterations at most")
        # Linear up to 5 %, logarithmic above.
        axis.set_yscale("symlog", linthresh=5)
        axis.set_yticks([0, 2, 5, 10, 20, 50])
        axis.yaxis.set_major_formatter("{x:g}")
        axis.minorticks_off()
        axis.set_ylim(bottom=-0.2)
    axes[0, 0].set_ylabel("mean error (%)")
    _split_legend(figure, compared)
    return figure


def figure_predictors(table):
    """Test error of the four predictors in each repeat, a panel for each kernel; the long mark is the mean."""
    kernels = _kernels(table, ("poly", "rbf"))
    figure, axes = canvas(1, len(kernels), height=2.6, squeeze=False, sharey=True)
    for axis, kernel in zip(axes[0], kernels, strict=True):
        part = table[table["kernel"] == kernel]
        for index, name in enumerate(PREDICTORS):
            rows = part[part["predictor"] == name]
            rate = (100 * rows["test_errors"] / rows["n_test"]).to_numpy()
            shift = np.linspace(-0.2, 0.2, len(rate)) if len(rate) > 1 else np.zeros(1)
            axis.plot(index + shift, rate, style.PREDICTOR_MARKERS[name], color=style.PREDICTOR_COLOURS[name], markersize=4)
            axis.plot([index - 0.35, index + 0.35], [rate.mean()] * 2, color=style.BLACK, lw=1)
        axis.set(xticks=range(len(PREDICTORS)), xticklabels=PREDICTORS, xlabel="predictor")
        axis.set_title(setting(kernel, part.iloc[0]["parameter"]))
        axis.grid(False, axis="x")
    axes[0, 0].set_ylabel("test error (%)")
    _from_zero(axes[0])
    return figure


def _in_print(compared):
    """Whether there is a published number among the rows of `tables.compare`."""
    return compared["published"].notna().any()


def _kernels(table, known):
    return [kernel for kernel in known if kernel in set(table["kernel"])]


def _means(compared, kernel, split):
    """The published mean errors of a kernel on one split."""
    return compared[(compared["kernel"] == kernel) & (compared["split"] == split) & (compared["statistic"] == "mean")]


def _diamond(axis, x, y, inside):
    options = {"markerfacecolor": RED if inside else "white", "markeredgecolor": RED, "zorder": 5, "clip_on": False}
    axis.plot([x], [y], DIAMOND, markersize=5, **options)


def _diamond_handles(inside="published, inside our 95 %", outside="published, outside"):
    options = {"marker": DIAMOND, "lw": 0, "markeredgecolor": RED, "markersize": 5}
    return [
        Line2D([], [], markerfacecolor=RED, label=inside, **options),
        Line2D([], [], markerfacecolor="white", label=outside, **options),
    ]


def _from_zero(axes):
    """Let the error axes begin at 0, with some room above what is drawn."""
    for axis in axes:
        axis.margins(y=0.08)
        axis.autoscale_view()
    for axis in axes:
        axis.set_ylim(0, axis.get_ylim()[1])


def _band(axis, groups, colour, **options):
    mean, low, high = (100 * part for part in (groups.mean(), groups.quantile(0.025), groups.quantile(0.975)))
    axis.plot(mean.index, mean, color=colour, markersize=3, **options)
    axis.fill_between(mean.index, low, high, color=colour, alpha=0.15, lw=0)


def _published_means(axis, compared, kernel, split, x):
    rows = _means(compared, kernel, split)
    # The mark of the training error is larger and hollow, so that both are seen where they meet.
    fill = {"markerfacecolor": "none", "markersize": 9} if split == "train" else {"markersize": 5}
    axis.plot(rows[x], rows["published"], SPLIT_MARKERS[split], color=RED, zorder=5, clip_on=False, **fill)


def _split_legend(figure, compared):
    handles = [
        Line2D([], [], color=style.BLACK, dashes=style.DASHES[split], label=f"{word} error")
        for split, word in SPLITS.items()
    ]
    handles += [
        Line2D(
            [],
            [],
            color=RED,
            marker=SPLIT_MARKERS[split],
            lw=0,
            label=f"published {word} error",
            markerfacecolor="none" if split == "train" else RED,
        )  # fmt: skip
        for split, word in SPLITS.items()
        if _in_print(compared)
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=4)
