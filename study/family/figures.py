"""Figures of the family's chapter: growth, budgets, label noise, mistake bounds, NORMA's nu, support vector machines.

Tables are those of study.family.experiment and study.family.tables.
"""

import matplotlib as mpl
import numpy as np
from matplotlib.ticker import FuncFormatter, MaxNLocator, NullFormatter, PercentFormatter

from study.family.names import ODD_OR_EVEN
from study.style import (
    BLACK,
    BLUE,
    GREEN,
    GREY,
    METHOD_COLOURS,
    ORANGE,
    REFERENCE,
    SKY,
    VERMILION,
    canvas,
    log_percent_axis,
)  # fmt: skip

STYLES = {
    "perceptron": (BLACK, "s", "-"),
    "oldest": (ORANGE, "v", "--"),
    "random": (SKY, "^", ":"),
    "forgetron": (BLUE, "o", "-"),
    "basic forgetron": (GREEN, "D", "-."),
    "norma": (VERMILION, "P", (0, (5, 1, 1, 1))),
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


def figure_growth(streams, budget):
    """Examples held against examples seen, means over orders: left the perceptron by kernel and wrong labels, with a line of
    slope 1; right all methods at one budget. Streams of odd or even."""
    figure, (left, right) = canvas(1, 2, height=3.4)
    own = streams[(streams["problem"] == ODD_OR_EVEN) & (streams["method"] == "perceptron")]
    looks = [(BLACK, "s", "-"), (BLUE, "o", "--"), (ORANGE, "^", "-."), (VERMILION, "D", ":")]
    for (colour, marker, line), ((kernel, noise), group) in zip(
        looks + [(GREY, "x", "-")] * 9, own.groupby(["kernel", "noise"], sort=False), strict=False
    ):
        mean = group.groupby("examples")["support"].mean()
        name = {"poly": "polynomial", "rbf": "RBF"}[kernel] + (f", {noise:.0%} wrong" if noise else "")
        left.plot(mean.index, mean, color=colour, marker=marker, linestyle=line, markevery=2, label=name)
    seen = np.array([own["examples"].max() / 30, own["examples"].max()])
    low = own.loc[own["examples"] == own["examples"].max(), "support"].min() / 60
    left.plot(seen, low * seen / seen[0], color=GREY, linewidth=1.0)
    left.annotate("slope 1", (5 * seen[0], 5 * low), xytext=(6, -8), textcoords="offset points", fontsize=8)
    left.set(xscale="log", yscale="log", xlabel="examples seen", ylabel="examples held")
    left.legend(loc="upper left", fontsize=7)
    clean = _comparable(streams, ODD_OR_EVEN)
    for method, (colour, marker, line) in STYLES.items():
        group = clean[(clean["method"] == method) & clean["budget"].isin([0, budget])]
        mean = group.groupby("examples")["support"].mean()
        right.plot(mean.index, mean, color=colour, marker=marker, linestyle=line, markevery=(1, 3), label=NAMES[method])
    right.set(xlabel="examples seen", ylabel="examples held = kernel values a prediction", ylim=(0, None))
    right.legend(loc="upper left", fontsize=7)
    for axis in (left, right):
        axis.xaxis.set_major_formatter(COUNTS)
        axis.yaxis.set_major_formatter(COUNTS)
    right.xaxis.set_major_locator(MaxNLocator(4))
    return figure


def figure_budget(summaries):
    """Error against the examples held; summaries {problem: table of tables.by_budget}. Above the online error, below
    the test error of the last hypothesis; bars from the lowest to the highest order."""
    figure, axes = canvas(2, len(summaries), height=5.4, sharex="col", sharey="row", squeeze=False)
    for column, (problem, table) in zip(axes.T, summaries.items(), strict=True):
        for axis, rate in zip(column, ("online", "test"), strict=True):
            for method, (colour, marker, line) in STYLES.items():
                part = table[table["method"] == method].sort_values("support")
                rates = 100 * part[[rate, f"{rate}_low", f"{rate}_high"]].set_axis(["mean", "low", "high"], axis=1)
                reach = [rates["mean"] - rates["low"], rates["high"] - rates["mean"]]
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


def figure_online(streams, budgets):
    """Running online error along the stream at one budget for each problem, {problem: budget}; means over orders."""
    figure, axes = canvas(1, len(budgets), height=3.4, sharey=True, squeeze=False)
    for axis, (problem, budget) in zip(axes.flat, budgets.items(), strict=True):
        clean = _comparable(streams, problem)
        for method, (colour, marker, line) in STYLES.items():
            group = clean[(clean["method"] == method) & clean["budget"].isin([0, budget])]
            mean = group.groupby("examples")["online_errors"].mean()
            axis.plot(
                mean.index,
                100 * mean / mean.index,
                color=colour,
                marker=marker,
                linestyle=line,
                markevery=3,
                label=NAMES[method],
            )
        axis.set(xscale="log", xlabel="examples seen", title=f"{problem}, budget {budget:,}")
        axis.xaxis.set_major_formatter(COUNTS)
        log_percent_axis(axis)
    axes[0, 0].set_ylabel("online errors / examples seen (%)")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
    return figure


def figure_noise(noise):
    """Error against NORMA's lambda, a panel for each rate of wrong labels: on the training examples with their labels as
    they were given, and on the test examples. Lines across: the perceptron after as many passes. Means over orders."""
    rates = noise["noise"].unique()
    figure, axes = canvas(1, len(rates), height=3.3, sharey=True, squeeze=False)
    for axis, rate in zip(axes.flat, rates, strict=True):
        part = noise[noise["noise"] == rate]
        ours, passes = part[part["method"] == "norma"], part["passes"].max()
        plain = part[(part["method"] == "perceptron") & (part["passes"] == passes)]
        for split, marker, line in (("train", "s", "--"), ("test", "o", "-")):
            error = (ours[split] / ours[f"n_{split}"]).groupby(ours["value"])
            words = {"train": "training examples, labels as given", "test": "test examples"}[split]
            axis.plot(
                error.mean().index, error.mean(), color=VERMILION, marker=marker, linestyle=line, label=f"NORMA: {words}"
            )
            axis.fill_between(error.min().index, error.min(), error.max(), color=VERMILION, alpha=0.15, linewidth=0)
            level = (plain[split] / plain[f"n_{split}"]).mean()
            axis.axhline(level, color=BLACK, linestyle=line, linewidth=1.2, label=f"perceptron: {words}")
        axis.set(xscale="log", xlabel=r"$\lambda$", title=f"{rate:.0%} wrong labels")
        axis.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    axes[0, 0].set(ylabel="error", ylim=(0, None))
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=2)
    return figure


def figure_bounds(bounds):
    """Left: mistakes and their bounds by degree. Right: the same as errors of the vote: measured, by mistakes, by the bound;
    and the support vector machine's. The examples are those of the smallest n."""
    part = bounds[bounds["n"] == bounds["n"].min()]
    group, n = part.groupby("degree"), part["n"].iloc[0]
    figure, (left, right) = canvas(1, 2, height=3.9)
    ended = part[part["separated"].astype(bool)].groupby("degree")["total"]
    for values, colour, marker, line, name in (
        (group["hard_bound"].mean(), GREY, "v", "--", r"$(R/\gamma)^2$, separable"),
        (group["bound"].mean(), BLACK, "^", "-", r"$((R+D)/\gamma)^2$"),
        (ended.mean(), ORANGE, "D", "--", "mistakes until none is left"),
        (group["mistakes"].mean(), BLUE, "o", "-", "mistakes in one pass"),
    ):
        left.plot(values.index, values, color=colour, marker=marker, linestyle=line, label=name)
    left.axhline(n, **REFERENCE)
    left.annotate("n", (6, n), xytext=(0, 2), textcoords="offset points", ha="right", fontsize=8)
    left.set(yscale="log", ylabel="mistakes", xlabel="degree $p$ of the kernel", xticks=sorted(part["degree"].unique()))
    for values, colour, marker, line, name in (
        (2 * group["bound"].mean() / (n + 1), BLACK, "^", "-", "vote: bound by the margin"),
        (2 * group["mistakes"].mean() / (n + 1), BLUE, "o", "--", "vote: bound by its mistakes"),
        ((part["vote_errors"] / part["n_test"]).groupby(part["degree"]).mean(), ORANGE, "s", "-", "vote: test error"),
        (group["svm_support"].mean() / (n + 1), METHOD_COLOURS["SVM"], "v", "--", "SVM: support vectors / n"),
        (
            (part["svm_errors"] / part["n_test"]).groupby(part["degree"]).mean(),
            METHOD_COLOURS["SVM"],
            "D",
            "-",
            "SVM: test error",
        ),
    ):
        right.plot(values.index, 100 * values, color=colour, marker=marker, linestyle=line, label=name)
    log_percent_axis(right)
    right.set(ylabel="error (%)", xlabel="degree $p$ of the kernel", xticks=sorted(part["degree"].unique()))
    left.yaxis.set_major_formatter(COUNTS)
    left.yaxis.set_minor_formatter(NullFormatter())
    left.set_yticks(_ticks(*left.get_ylim()))
    for axis in (left, right):
        axis.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), fontsize=7, ncols=1)
    return figure


def figure_nu(nu):
    """Fraction of margin errors among the examples seen, for each nu; dashed the fraction that it should tend to."""
    figure, axis = canvas(width=4.8, height=3.1)
    colours = mpl.colormaps["viridis"](np.linspace(0.0, 0.85, nu["nu"].nunique()))
    for (value, group), colour, marker in zip(nu.groupby("nu"), colours, "osD^vP<>", strict=False):
        axis.plot(
            group["examples"],
            group["margin_errors"] / group["examples"],
            color=colour,
            marker=marker,
            label=rf"$\nu$ = {value:g}",
        )
        axis.axhline(value, color=colour, linestyle="--", linewidth=0.9)
    axis.set(xscale="log", xlabel="examples seen", ylabel="margin errors / examples seen", ylim=(0, None))
    axis.xaxis.set_major_formatter(COUNTS)
    axis.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    figure.legend(loc="outside right upper")
    return figure


def figure_machines(machines):
    """Support vectors (left) and test error (right) of the perceptron and of support vector machines, by examples."""
    figure, (left, right) = canvas(1, 2, height=3.2)
    styles = [STYLES["perceptron"], (METHOD_COLOURS["SVM"], "o", "--"), (METHOD_COLOURS["SVM"], "^", "-.")]
    for (method, group), (colour, marker, line) in zip(machines.groupby("method", sort=False), styles, strict=False):
        left.plot(
            group["n"], group["support"], color=colour, marker=marker, linestyle=line, label=method.replace("svm", "SVM")
        )
        right.plot(
            group["n"], 100 * group["errors"] / group["n_test"], color=colour, marker=marker, linestyle=line, label=method
        )
    left.set(xscale="log", yscale="log", xlabel="training examples", ylabel="support vectors")
    right.set(xscale="log", xlabel="training examples", ylabel="test error (%)")
    log_percent_axis(right)
    for axis in (left, right):
        axis.set_xticks(sorted(machines["n"].unique()))
        axis.xaxis.set_major_formatter(COUNTS)
        axis.xaxis.set_minor_formatter(NullFormatter())
        axis.tick_params(axis="x", labelrotation=30)
    left.yaxis.set_major_formatter(COUNTS)
    left.yaxis.set_minor_formatter(NullFormatter())
    left.set_yticks(_ticks(*left.get_ylim()))
    left.legend(loc="upper left")
    return figure


def _comparable(streams, problem):
    """Streams of one problem with clean labels and the polynomial kernel, in the orders that all methods have seen."""
    part = streams[(streams["problem"] == problem) & (streams["kernel"] == "poly") & (streams["noise"] == 0)]
    return part[part["random_state"].isin(part.loc[part["budget"] > 0, "random_state"])]


def _ticks(low, high):
    """The numbers 1, 2, 5 times powers of ten from low to high, for an axis with a logarithmic scale."""
    ticks = [digit * 10.0**power for power in range(-4, 7) for digit in (1, 2, 5)]
    return [tick for tick in ticks if low * 0.95 <= tick <= high * 1.05]
