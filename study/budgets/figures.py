"""Figures of the chapter on budgets and of the family: growth, budgets, wrong labels, what rules hold, bounds, machines.

Tables are those of study.budgets.experiment and study.budgets.tables; wrong labels of ten digits are those of
study.mnist.orders.
"""

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, NullFormatter

from study.budgets.names import AVERAGE, FINAL, KERNELS, LEARNERS, NAMES, NORMA, ODD_OR_EVEN, SVM, VOTED
from study.budgets.tables import spelled
from study.style import (
    BAND,
    BLACK,
    BLUE,
    GREY,
    INK,
    KERNEL_COLOURS,
    METHOD_COLOURS,
    METHOD_MARKERS,
    PREDICTOR_COLOURS,
    PREDICTOR_MARKERS,
    REFERENCE,
    canvas,
    log_percent_axis,
)  # fmt: skip
from study.words import percent

STYLES = {
    "perceptron": (BLUE, "s", "-"),
    "oldest": (BLUE, "v", "-"),
    "forgetron": (BLACK, "o", ":"),
    "basic forgetron": (GREY, "D", "-."),
    "norma": (INK, "P", (0, (5, 1, 1, 1))),
}
"""Colour, marker and line style of each rule that is drawn, everywhere; blue is the perceptron, with a budget or without."""

COUNTS = FuncFormatter(lambda value, _: f"{value:,.0f}")


CONDITIONS = [("#440154", "s", "-"), ("#3B528B", "o", "--"), ("#21918C", "^", "-."), ("#6CCE59", "D", ":")]
"""Looks of the rates of wrong labels, in their order: from dark to light (viridis), in the colours of no method."""
MACHINE = {"color": METHOD_COLOURS["SVM"], "marker": METHOD_MARKERS["SVM"], "markerfacecolor": "white", "markersize": 7}
"""The support vector machine: hollow, as the vote has the same colour."""


SHOWN = {"poly, degree 3": "polynomial kernel, degree 3", "RBF, wide": "narrow RBF kernel"}
"""Kernels of the ten digits in words. The RBF kernel is the wider one of two, but narrow: it memorizes every label."""


def figure_growth(streams, growth):
    """Left: support vectors of the polynomial perceptron against examples seen, means over orders, with a line of slope 1.
    Right: the exponents of tables.growth_exponents with their intervals, both kernels; the line is linear growth."""
    figure, (left, right) = canvas(1, 2, height=2.7)
    own = streams[(streams["problem"] == ODD_OR_EVEN) & (streams["method"] == "perceptron")]
    rates = sorted(own["noise"].unique())
    looks = dict(zip(rates, CONDITIONS + [(GREY, "x", "-")] * len(rates), strict=False))
    for rate, group in own[own["kernel"] == "poly"].groupby("noise"):
        colour, marker, line = looks[rate]
        mean = group.groupby("examples")["support"].mean()
        name = f"{percent(rate, 0)} wrong labels" if rate else "right labels"
        left.plot(mean.index, mean, color=colour, marker=marker, linestyle=line, markevery=2, label=name)
    seen = np.array([own["examples"].max() / 30, own["examples"].max()])
    low = own.loc[own["examples"] == own["examples"].max(), "support"].min() / 60
    left.plot(seen, low * seen / seen[0], color=GREY, linewidth=1.0)
    left.annotate("slope 1", (5 * seen[0], 5 * low), xytext=(6, -8), textcoords="offset points", fontsize=8)
    left.set(xscale="log", yscale="log", xlabel="examples seen", ylabel="support vectors")
    left.legend(loc="upper left", fontsize=7)
    for axis in (left.xaxis, left.yaxis):
        axis.set_major_formatter(COUNTS)
    for (kernel, group), shift, marker in zip(growth.groupby("kernel", sort=False), (-0.12, 0.12), "os", strict=False):
        places = np.array([rates.index(rate) for rate in group["noise"]]) + shift
        reach = [group["exponent"] - group["low"], group["high"] - group["exponent"]]
        colour = KERNEL_COLOURS[kernel]
        right.errorbar(
            places, group["exponent"], yerr=reach, color=colour, marker=marker, markersize=5, linestyle="none", capsize=3,
            label=f"{KERNELS[kernel]} kernel",
        )  # fmt: skip
    right.axhline(1, zorder=1, **REFERENCE)
    right.set(xlabel="wrong labels", ylabel="exponent of the growth", xticks=range(len(rates)))
    right.set_xticklabels([percent(rate, 0) for rate in rates])
    right.legend(loc="lower right")
    return figure


def figure_budget(table):
    """Online (left) and test error (right) by budget: removal of the oldest and both Forgetrons. A bar goes from the lowest
    to the highest order, the line across is the perceptron without a budget. table is that of tables.by_budget."""
    figure, axes = canvas(1, 2, height=2.7, sharey=True)
    whole = table[table["method"] == "perceptron"].iloc[0]
    for axis, rate in zip(axes, ("online", "test"), strict=True):
        for method in ("basic forgetron", "oldest", "forgetron"):
            colour, marker, line = STYLES[method]
            part = table[table["method"] == method].sort_values("budget")
            reach = [(part[rate] - part[f"{rate}_low"]).clip(lower=0), (part[f"{rate}_high"] - part[rate]).clip(lower=0)]
            axis.errorbar(
                part["budget"], 100 * part[rate], yerr=[100 * side for side in reach], color=colour, marker=marker,
                linestyle=line, markersize=5, capsize=2, label=NAMES[method],
            )  # fmt: skip
        axis.axhline(100 * whole[rate], zorder=1, label=NAMES["perceptron"], **{**REFERENCE, "color": BLUE})
        log_percent_axis(axis)
        budgets = table.loc[table["budget"] > 0, "budget"]
        axis.set(xscale="log", xlabel="budget", ylabel=f"{rate} error (%)")
        _count_axis(axis.xaxis, _ticks(budgets.min(), budgets.max()))
        axis.yaxis.set_tick_params(labelleft=True)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=4, fontsize=7)
    return figure


def figure_held(streams, budget):
    """Left: support vectors against examples seen; right: the online error so far. The perceptron on odd or even, and rules
    with this budget (NORMA drops what is five times as many steps old); means over the orders of `streams`."""
    figure, (left, right) = canvas(1, 2, height=2.7)
    own = streams[(streams["problem"] == ODD_OR_EVEN) & (streams["kernel"] == "poly") & (streams["noise"] == 0)]
    for method in ("perceptron", "forgetron", "basic forgetron", "norma"):
        colour, marker, line = STYLES[method]
        part = own[(own["method"] == method) & own["budget"].isin([0, budget])]
        mean = part.groupby("examples")[["support", "online_errors"]].mean()
        look = {"color": colour, "marker": marker, "linestyle": line, "markersize": 4, "markevery": 2}
        left.plot(mean.index, mean["support"], label=NAMES[method], **look)
        right.plot(mean.index, 100 * mean["online_errors"] / mean.index, **look)
    left.set(xscale="log", yscale="log", xlabel="examples seen", ylabel="support vectors")
    right.set(xscale="log", xlabel="examples seen", ylabel="online error so far (%)")
    log_percent_axis(right)
    for axis in (left.xaxis, left.yaxis, right.xaxis):
        axis.set_major_formatter(COUNTS)
    figure.legend(*left.get_legend_handles_labels(), loc="outside upper center", ncols=4, fontsize=7)
    return figure


def figure_remedies(rates):
    """Test error of every learner after the last pass with its 95 % interval, a panel for each rate of wrong labels. The
    band goes from NORMA to the final predictor. rates is tables.rates_by_learner."""
    panels = rates["noise"].unique()
    figure, axes = canvas(1, len(panels), height=2.5, sharex=True, sharey=True, squeeze=False)
    places = {name: -place for place, name in enumerate(LEARNERS)}
    looks = {name: (PREDICTOR_COLOURS[name], PREDICTOR_MARKERS[name]) for name in (FINAL, AVERAGE, VOTED)}
    looks[SVM] = METHOD_COLOURS[SVM], METHOD_MARKERS[SVM]
    for axis, noise in zip(axes.flat, panels, strict=True):
        part = rates[rates["noise"] == noise]
        for row in part.itertuples():
            colour, marker = looks.get(row.learner, STYLES["norma"][:2])
            reach = [[100 * (row.test - row.low)], [100 * (row.high - row.test)]]
            axis.errorbar(100 * row.test, places[row.learner], xerr=reach, color=colour, marker=marker, capsize=2)
        ends = part.set_index("learner")["test"]
        axis.axvspan(100 * ends[NORMA], 100 * ends[FINAL], color=BAND, alpha=0.6, lw=0, zorder=0)
        axis.set(title=f"{percent(noise, 0)} wrong" if noise else "right labels", xlabel="test error (%)")
    axes[0, 0].set_xlim(0, 108 * rates["high"].max())
    axes[0, 0].set_yticks(list(places.values()), map(spelled, places))
    bar = Line2D([], [], color=GREY, marker="o", markersize=4, label="mean, 95\N{NO-BREAK SPACE}% interval")
    gap = Patch(color=BAND, label="gap, final predictor to NORMA")
    figure.legend(handles=[bar, gap], loc="outside upper center", ncols=2, fontsize=7)
    return figure


def figure_ten_digits(noise, epoch, kernels):
    """Test error after an epoch by the share of wrong labels, a panel for each of `kernels`, without threshold. Lines
    are means over orders, bands go from the lowest to the highest. noise is the table of study.mnist.orders.noise."""
    figure, axes = canvas(1, len(kernels), height=2.0, sharey=True, squeeze=False)
    rows = noise[(noise["epoch"] == epoch) & ~noise["threshold"]]
    for axis, kernel in zip(axes.flat, kernels, strict=True):
        for name, colour in PREDICTOR_COLOURS.items():
            part = rows[(rows["kernel"] == kernel) & (rows["predictor"] == name)]
            rate = (100 * part["errors"] / part["n_test"]).groupby(part["share"])
            shares = [100 * share for share in rate.groups]
            axis.fill_between(shares, rate.min(), rate.max(), color=colour, alpha=0.15, lw=0)
            axis.plot(shares, rate.mean(), color=colour, marker=PREDICTOR_MARKERS[name], markersize=4, label=name)
        axis.set(title=SHOWN.get(kernel, kernel), xlabel="wrong labels (%)")
    axes[0, 0].set(ylabel="test error (%)", ylim=(0, None))
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=4)
    return figure


def figure_guarantee(table):
    """The least value of the Forgetron's guarantee by budget, filled where the guarantee covers the budget, and the mistakes
    made, in percent of the examples; the line is all of them. table is that of tables.guarantee_by_budget."""
    figure, axis = canvas(height=2.4)
    own = table[table["budget"] > 0]
    covered = own[own["covered"]]
    colour, marker, line = STYLES["forgetron"]
    axis.plot(own["budget"], 100 * own["least"], color=GREY, marker="v", markerfacecolor="white")
    axis.plot(covered["budget"], 100 * covered["least"], color=GREY, marker="v")
    axis.plot(own["budget"], 100 * own["mistakes"], color=colour, marker=marker, linestyle=line)
    axis.axhline(100, zorder=1, **REFERENCE)
    last = own.iloc[-1]
    for value, words in ((last["least"], "guarantee"), (1, "all examples"), (last["mistakes"], "mistakes made")):
        axis.annotate(words, (last["budget"], 100 * value), xytext=(8, 3), textcoords="offset points", fontsize=8)
    axis.set(xscale="log", xlabel="budget", ylabel="mistakes (% of the examples)", ylim=(0, None))
    axis.set_xlim(own["budget"].min() / 1.3, 3.5 * last["budget"])
    _count_axis(axis.xaxis, own["budget"])
    return figure


def figure_overfitting(table):
    """Change of the test error with more passes by the share of wrong labels, with its 95 % interval, a panel for each
    predictor; filled if the predictor overfits. table is tables.overfitting."""
    predictors = table["predictor"].unique()
    figure, axes = canvas(1, len(predictors), height=2.4, sharey=True, squeeze=False)
    for axis, name in zip(axes.flat, predictors, strict=True):
        colour = PREDICTOR_COLOURS.get(name, INK)
        for row in table[table["predictor"] == name].itertuples():
            reach = [[100 * (row.test - row.test_low)], [100 * (row.test_high - row.test)]]
            face = colour if row.overfits else "white"
            axis.errorbar(100 * row.noise, 100 * row.test, yerr=reach, color=colour, marker="o", mfc=face, capsize=2)
        axis.axhline(0, zorder=1, **REFERENCE)
        axis.set(title=name, xticks=100 * table["noise"].unique())
        axis.margins(x=0.15)
    axes[0, 0].set_ylabel("change of the test error (points)")
    figure.supxlabel("wrong labels (%)", fontsize="medium")
    marks = {"overfits": INK, "overfitting not detected": "white"}
    keys = [Line2D([], [], color=INK, linestyle="", marker="o", mfc=face, label=label) for label, face in marks.items()]
    figure.legend(handles=keys, loc="outside upper center", ncols=2, fontsize=7)
    return figure


def figure_bounds(bounds):
    """Left: mistakes of one pass by degree, and their bound. Right: the error of the vote and of the support vector machine:
    measured, and by the bound of each."""
    group = bounds.groupby("degree")
    n = bounds["n"].iloc[0]
    figure, (left, right) = canvas(1, 2, height=2.7)
    bound = group["bound"].mean()
    left.plot(bound.index, bound, color=GREY, marker="v", linestyle="--", label="bound of the mistakes")
    left.plot(bound.index, group["mistakes"].mean(), color=BLACK, marker="s", label="mistakes in one epoch")
    left.axhline(n, label="number of examples", **REFERENCE)
    left.set(yscale="log", ylabel="mistakes")
    vote = {"color": PREDICTOR_COLOURS["voted"], "marker": PREDICTOR_MARKERS["voted"]}
    measured = {name: group[f"{name}_errors"].mean() / bounds["n_test"].iloc[0] for name in ("vote", "svm")}
    by_bound = {"vote": 2 * group["mistakes"].mean() / (n + 1), "svm": group["svm_support"].mean() / (n + 1)}
    for name, words, look in (("vote", "vote", vote), ("svm", SVM, MACHINE)):
        right.plot(bound.index, 100 * by_bound[name], linestyle="--", label=f"{words}, bound", **look)
        right.plot(bound.index, 100 * measured[name], linestyle="-", label=f"{words}, test error", **look)
    log_percent_axis(right)
    right.set(ylabel="error (%)")
    _count_axis(left.yaxis, _ticks(*left.get_ylim()))
    for axis in (left, right):
        axis.set(xlabel="degree of the kernel", xticks=bound.index)
        axis.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), fontsize=7, ncols=2, handlelength=4)
    return figure


def figure_machines(rates):
    """Support vectors (left) and test error (right) by training examples, right labels: predictors of the perceptron after
    the last pass and the support vector machine; bars are 95 % intervals. rates is tables.rates_by_learner."""
    figure, (left, right) = canvas(1, 2, height=3.2)
    predictors = {FINAL: ("final", "-"), AVERAGE: ("average", "--"), VOTED: ("voted", "-.")}
    looks = {
        name: {"color": PREDICTOR_COLOURS[own], "marker": PREDICTOR_MARKERS[own], "linestyle": line}
        for name, (own, line) in predictors.items()
    }
    for name, look in {**looks, SVM: {**MACHINE, "linestyle": ":"}}.items():
        part = rates[rates["learner"] == name]
        if name in (FINAL, SVM):
            left.plot(part["n"], part["support"], label="perceptron" if name == FINAL else "support vector machine", **look)
        reach = [100 * (part["test"] - part["low"]), 100 * (part["high"] - part["test"])]
        label = name if name == SVM else f"perceptron, {name}"
        right.errorbar(part["n"], 100 * part["test"], yerr=reach, capsize=2, label=label, **look)
    left.set(xscale="log", yscale="log", xlabel="training examples", ylabel="support vectors")
    right.set(xscale="log", xlabel="training examples", ylabel="test error (%)")
    log_percent_axis(right)
    for axis in (left, right):
        _count_axis(axis.xaxis, sorted(rates["n"].unique()))
        axis.legend(fontsize=7)
    _count_axis(left.yaxis, _ticks(*left.get_ylim()))
    return figure


def _count_axis(side, ticks):
    """Counts at these ticks of an x or y axis, and no other labels."""
    side.set_ticks(ticks)
    side.set_major_formatter(COUNTS)
    side.set_minor_formatter(NullFormatter())


def _ticks(low, high):
    """The numbers 1, 2, 5 times powers of ten from low to high, for an axis with a logarithmic scale."""
    ticks = [digit * 10.0**power for power in range(-4, 7) for digit in (1, 2, 5)]
    return [tick for tick in ticks if low * 0.95 <= tick <= high * 1.05]
