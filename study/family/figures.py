"""Figures of the family's chapter: growth, budgets, equal memory, wrong labels, mistake bounds, support vector machines.

Tables are those of study.family.experiment and study.family.tables.
"""

import numpy as np
from matplotlib.ticker import FuncFormatter, NullFormatter

from study.family.names import AVERAGED, KERNELS, LAST, LEARNERS, ODD_OR_EVEN, SVM, VOTED
from study.style import (
    BLACK,
    BLUE,
    CLASS_COLOURS,
    GREEN,
    GREY,
    KERNEL_COLOURS,
    METHOD_COLOURS,
    METHOD_MARKERS,
    ORANGE,
    PREDICTOR_COLOURS,
    PREDICTOR_MARKERS,
    REFERENCE,
    SKY,
    VERMILION,
    canvas,
    log_percent_axis,
    percent,
)  # fmt: skip

VIOLET = CLASS_COLOURS[9]
STYLES = {
    "perceptron": (BLACK, "s", "-"),
    "oldest": (ORANGE, "v", "--"),
    "random": (SKY, "^", ":"),
    "forgetron": (BLUE, "o", "-"),
    "basic forgetron": (GREEN, "D", "-."),
    "norma": (VIOLET, "P", (0, (5, 1, 1, 1))),
}
"""Colour, marker and line style of each method, everywhere in the chapter."""

NAMES = {
    "perceptron": "perceptron, no budget",
    "oldest": "remove the oldest",
    "random": "remove a random one",
    "forgetron": "Forgetron, self-tuning",
    "basic forgetron": "Forgetron, basic",
    "norma": r"NORMA ($\rho = 0$)",
}
COUNTS = FuncFormatter(lambda value, _: f"{value:,.0f}")


CONDITIONS = [("#440154", "s", "-"), ("#3B528B", "o", "--"), ("#21918C", "^", "-."), ("#6CCE59", "D", ":")]
"""Looks of the rates of wrong labels, in their order: from dark to light (viridis), in the colours of no method."""
MACHINE = {"color": METHOD_COLOURS["SVM"], "marker": METHOD_MARKERS["SVM"], "markerfacecolor": "white", "markersize": 7}
"""The support vector machine: hollow, as the vote has the same colour."""


def figure_growth(streams, growth):
    """Left: examples held against examples seen by the polynomial perceptron, means over orders, with a line of slope 1.
    Right: the exponents of tables.growth_exponents with their intervals, both kernels; the line is linear growth."""
    figure, (left, right) = canvas(1, 2, height=2.7)
    own = streams[(streams["problem"] == ODD_OR_EVEN) & (streams["method"] == "perceptron")]
    rates = sorted(own["noise"].unique())
    looks = dict(zip(rates, CONDITIONS + [(GREY, "x", "-")] * len(rates), strict=False))
    for rate, group in own[own["kernel"] == "poly"].groupby("noise"):
        colour, marker, line = looks[rate]
        mean = group.groupby("examples")["support"].mean()
        name = f"{percent(rate)} wrong labels" if rate else "right labels"
        left.plot(mean.index, mean, color=colour, marker=marker, linestyle=line, markevery=2, label=name)
    seen = np.array([own["examples"].max() / 30, own["examples"].max()])
    low = own.loc[own["examples"] == own["examples"].max(), "support"].min() / 60
    left.plot(seen, low * seen / seen[0], color=GREY, linewidth=1.0)
    left.annotate("slope 1", (5 * seen[0], 5 * low), xytext=(6, -8), textcoords="offset points", fontsize=8)
    left.set(xscale="log", yscale="log", xlabel="examples seen", ylabel="examples held")
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
    right.set_xticklabels([percent(rate) for rate in rates])
    right.legend(loc="lower right")
    return figure


def figure_budget(summaries):
    """Error against the examples held; summaries {problem: table of tables.by_budget}. Above the online error, below
    the test error of the last hypothesis; bars from the lowest to the highest order."""
    figure, axes = canvas(2, len(summaries), height=4.3, sharex="col", sharey="row", squeeze=False)
    for column, (problem, table) in zip(axes.T, summaries.items(), strict=True):
        for axis, rate in zip(column, ("online", "test"), strict=True):
            for method, (colour, marker, line) in STYLES.items():
                part = table[table["method"] == method].sort_values("support")
                rates = 100 * part[[rate, f"{rate}_low", f"{rate}_high"]].set_axis(["mean", "low", "high"], axis=1)
                reach = [(rates["mean"] - rates["low"]).clip(lower=0), (rates["high"] - rates["mean"]).clip(lower=0)]
                axis.errorbar(
                    part["support"], rates["mean"], yerr=reach, color=colour, marker=marker, linestyle=line,
                    markersize=8 if method == "perceptron" else 4, capsize=2, linewidth=1.2, label=NAMES[method],
                )  # fmt: skip
            whole = table[table["method"] == "perceptron"]
            axis.axhline(100 * whole[rate].iloc[0], zorder=1, **REFERENCE)
            axis.set(xscale="log")
            log_percent_axis(axis)
            axis.xaxis.set_major_formatter(COUNTS)
            axis.xaxis.set_minor_formatter(NullFormatter())
        column[0].set_title(problem)
        column[1].set_xlabel("examples held at the end (by all learners)")
        for axis in column:
            axis.set_xticks(_ticks(table["support"].min(), table["support"].max()))
    axes[0, 0].set_ylabel("online error (%)")
    axes[1, 0].set_ylabel("test error (%)")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
    return figure


def figure_spent(memory):
    """Online error so far against the kernel values spent so far, means over orders; a panel for each budget, all learners
    holding as many examples when they are full. Black, in every panel: the perceptron without a budget."""
    budgets = sorted(set(memory["budget"]) - {0})
    figure, axes = canvas(1, len(budgets), height=2.6, sharey=True, sharex=True, squeeze=False)
    for axis, budget in zip(axes.flat, budgets, strict=True):
        for method, (colour, marker, line) in STYLES.items():
            part = memory[(memory["method"] == method) & memory["budget"].isin([0, budget])]
            mean = part.groupby("examples")[["mistakes", "values"]].mean()
            axis.plot(
                mean["values"], 100 * mean["mistakes"] / mean.index, color=colour, marker=marker, linestyle=line,
                markersize=4, markevery=(1, 3), label=NAMES[method],
            )  # fmt: skip
        axis.set(xscale="log", xlabel="kernel values spent", title=f"budget {budget:,}")
        log_percent_axis(axis)
    axes[0, 0].set_ylabel("online error so far (%)")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
    return figure


def figure_wrong_labels(table, found):
    """Error against lambda after the last pass, a panel for each rate of wrong labels: with the margin (NORMA) on test and
    on training examples, without it on test examples. Lines across: the perceptron's last and averaged predictors, and the
    rate itself. table is that of `wrong_labels`, found that of tables.learners; means over orders."""
    rates, passes = table["noise"].unique(), table["passes"].max()
    figure, axes = canvas(2, (len(rates) + 1) // 2, height=5.6, sharex=True, squeeze=False)
    own = table[(table["passes"] == passes) & (table["predictor"] == "last") & (table["value"] > 0)]
    curves = (
        (1.0, "test", VIOLET, "o", "-", r"NORMA ($\rho = 1$), test"),
        (1.0, "train", VIOLET, "s", ":", "NORMA, training"),
        (0.0, "test", ORANGE, "^", "-", r"no margin ($\rho = 0$), test"),
    )
    across = (
        (LAST, "test", PREDICTOR_COLOURS["final"], "-", r"$\lambda = \rho = 0$: last, test"),
        (LAST, "train", PREDICTOR_COLOURS["final"], ":", "last, training"),
        (AVERAGED, "test", PREDICTOR_COLOURS["average"], "-", "averaged, test"),
    )
    for axis, rate in zip(axes.flat, rates, strict=False):
        for margin, split, colour, marker, line, name in curves:
            part = own[(own["noise"] == rate) & (own["margin"] == margin)]
            error = (part[split] / part["n_test" if split == "test" else "n"]).groupby(part["value"]).mean()
            axis.plot(error.index, 100 * error, color=colour, marker=marker, linestyle=line, markersize=4, label=name)
        for learner, split, colour, line, name in across:
            part = found[(found["noise"] == rate) & (found["learner"] == learner) & (found["passes"] == passes)]
            axis.axhline(100 * part[split].mean(), color=colour, linestyle=line, linewidth=1.2, label=name)
        if rate:
            axis.axhline(100 * rate, zorder=1, label="rate of wrong labels", **REFERENCE)
        axis.set(xscale="log", title=f"{percent(rate)} wrong labels" if rate else "right labels", ylim=(0, None))
    for axis in axes[-1]:
        axis.set_xlabel(r"$\lambda$")
    for axis in axes[:, 0]:
        axis.set_ylabel("error (%)")
    figure.legend(*axes.flat[len(rates) - 1].get_legend_handles_labels(), loc="outside upper center", ncols=4, fontsize=7)
    return figure


def figure_remedies(rates):
    """Test error of every learner, a panel for each rate of wrong labels: hollow after one pass, full after the last with
    its 95 % interval. rates is tables.rates_by_learner."""
    panels = rates["noise"].unique()
    figure, axes = canvas(1, len(panels), height=2.4, sharey=True, squeeze=False)
    places = {name: -place for place, name in enumerate(LEARNERS)}
    for axis, noise in zip(axes.flat, panels, strict=True):
        part = rates[rates["noise"] == noise]
        heights = np.array([places[name] for name in part["learner"]])
        reach = [100 * (part["test"] - part["low"]), 100 * (part["high"] - part["test"])]
        axis.errorbar(100 * part["test"], heights, xerr=reach, color=BLUE, marker="o", linestyle="none", capsize=2)
        axis.plot(100 * part["one"], heights, color=VERMILION, marker="D", linestyle="none", fillstyle="none")
        axis.set(title=f"{percent(noise)} wrong" if noise else "right labels", xlabel="test error (%)")
        axis.set_xlim(0, 108 * part[["one", "high"]].max().max())
    axes[0, 0].set_yticks(list(places.values()), list(places))
    return figure


def figure_bounds(bounds):
    """Left: mistakes and their bounds by degree. Right: the same as errors of the vote: measured, by mistakes, by the bound;
    and the support vector machine's. The examples are those of the smallest n."""
    part = bounds[bounds["n"] == bounds["n"].min()]
    group, n = part.groupby("degree"), part["n"].iloc[0]
    figure, (left, right) = canvas(1, 2, height=3.5)
    ended = part[part["separated"].astype(bool)].groupby("degree")["total"]
    for values, colour, marker, line, name in (
        (group["hard_bound"].mean(), GREY, "v", "--", r"$(R/\gamma)^2$, separable"),
        (group["bound"].mean(), BLACK, "s", "-", r"$((R+D)/\gamma)^2$"),
        (ended.mean(), ORANGE, "D", "--", "mistakes until none is left"),
        (group["mistakes"].mean(), BLUE, "o", "-", "mistakes in one pass"),
    ):
        left.plot(values.index, values, color=colour, marker=marker, linestyle=line, label=name)
    left.axhline(n, label="number of examples", **REFERENCE)
    left.set(yscale="log", ylabel="mistakes", xlabel="degree $p$ of the kernel", xticks=sorted(part["degree"].unique()))
    machine, vote = (part[f"{name}_errors"] / part["n_test"] for name in ("svm", "vote"))
    for values, colour, marker, line, name in (
        (2 * group["bound"].mean() / (n + 1), BLACK, "s", "-", "vote: bound by the margin"),
        (2 * group["mistakes"].mean() / (n + 1), BLUE, "o", "--", "vote: bound by its mistakes"),
        (
            vote.groupby(part["degree"]).mean(),
            PREDICTOR_COLOURS["voted"],
            PREDICTOR_MARKERS["voted"],
            "-",
            "vote: test error",
        ),
    ):
        right.plot(values.index, 100 * values, color=colour, marker=marker, linestyle=line, label=name)
    support = group["svm_support"].mean() / (n + 1)
    right.plot(support.index, 100 * support, linestyle="--", label="SVM: support vectors / n", **MACHINE)
    of_machine = machine.groupby(part["degree"]).mean()
    right.plot(of_machine.index, 100 * of_machine, linestyle=":", label="SVM: test error", **MACHINE)
    log_percent_axis(right)
    right.set(ylabel="error (%)", xlabel="degree $p$ of the kernel", xticks=sorted(part["degree"].unique()))
    left.yaxis.set_major_formatter(COUNTS)
    left.yaxis.set_minor_formatter(NullFormatter())
    left.set_yticks(_ticks(*left.get_ylim()))
    for axis in (left, right):
        axis.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), fontsize=7, ncols=1)
    return figure


def figure_machines(rates):
    """Examples held (left) and test error (right) by training examples, right labels: predictors of the perceptron after the
    last pass and the support vector machine; bars are 95 % intervals. rates is tables.rates_by_learner."""
    figure, (left, right) = canvas(1, 2, height=3.2)
    predictors = {LAST: ("final", "-"), AVERAGED: ("average", "--"), VOTED: ("voted", "-.")}
    looks = {
        name: {"color": PREDICTOR_COLOURS[own], "marker": PREDICTOR_MARKERS[own], "linestyle": line}
        for name, (own, line) in predictors.items()
    }
    for name, look in {**looks, SVM: {**MACHINE, "linestyle": ":"}}.items():
        part = rates[rates["learner"] == name]
        if name in (LAST, SVM):
            left.plot(part["n"], part["support"], label="perceptron" if name == LAST else "support vector machine", **look)
        reach = [100 * (part["test"] - part["low"]), 100 * (part["high"] - part["test"])]
        label = name if name == SVM else f"perceptron, {name}"
        right.errorbar(part["n"], 100 * part["test"], yerr=reach, capsize=2, label=label, **look)
    left.set(xscale="log", yscale="log", xlabel="training examples", ylabel="examples held")
    right.set(xscale="log", xlabel="training examples", ylabel="test error (%)")
    log_percent_axis(right)
    for axis in (left, right):
        axis.set_xticks(sorted(rates["n"].unique()))
        axis.xaxis.set_major_formatter(COUNTS)
        axis.xaxis.set_minor_formatter(NullFormatter())
        axis.legend(fontsize=7)
    left.yaxis.set_major_formatter(COUNTS)
    left.yaxis.set_minor_formatter(NullFormatter())
    left.set_yticks(_ticks(*left.get_ylim()))
    return figure


def _ticks(low, high):
    """The numbers 1, 2, 5 times powers of ten from low to high, for an axis with a logarithmic scale."""
    ticks = [digit * 10.0**power for power in range(-4, 7) for digit in (1, 2, 5)]
    return [tick for tick in ticks if low * 0.95 <= tick <= high * 1.05]
