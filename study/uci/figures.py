"""Figures on the published tables: error rates in the distributions of ours, protocol variants, curves, choices, baselines.

Tables are those of study.uci.experiment and study.uci.tables. Error rates are drawn in percent. A diamond is a published
number: filled where it lies inside the central 95 % of our repeats, hollow where it does not.
"""

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from kp.mistakes import PREDICTORS
from study import style
from study.style import canvas, heat_map
from study.uci.source import KERNELS, SPLITS, original, setting

KERNEL_COLOURS = {"linear": style.METHOD_COLOURS["linear"], "poly": style.VERMILION, "rbf": style.BLUE}
KERNEL_MARKERS = {"linear": "s", "poly": "D", "rbf": "^"}
RED, DIAMOND = style.PUBLISHED["color"], style.PUBLISHED["marker"]
SPLIT_MARKERS = {"train": "v", "test": DIAMOND}
"""Published means where training and test error share an axis."""


def figure_distributions(repeats, compared):
    """Histograms of the mean training and test error over the repeats, a column for each row of Tables II and III."""
    kernels = _kernels(repeats, KERNELS)
    figure, axes = canvas(2, len(kernels), height=3.9, squeeze=False)
    for column, kernel in enumerate(kernels):
        part = repeats[repeats["kernel"] == kernel]
        for axis, (split, word) in zip(axes[:, column], SPLITS.items(), strict=True):
            values = (100 * part[f"{split}_mean"]).to_numpy()
            numbers = _means(compared, kernel, split)
            low, high = (limit([*values, *numbers["published"]]) for limit in (min, max))
            margin = max(0.06 * (high - low), 0.25)
            axis.hist(values, np.linspace(low - margin, high + margin, 26), color=KERNEL_COLOURS[kernel], alpha=0.75)
            top = axis.get_ylim()[1]
            for row in numbers.itertuples():
                axis.axvspan(row.low, row.high, color=style.BAND, zorder=0, lw=0)
                axis.axvline(row.published, color=RED, lw=1.2)
                _diamond(axis, row.published, 0.97 * top, row.verdict != "outside")
            axis.set(xlabel=f"mean {word} error (%)", ylim=(0, 1.05 * top))
            axis.yaxis.set_major_locator(MaxNLocator(integer=True, nbins=5))
        row = part.iloc[0]
        axes[0, column].set_title(f"{_symbols(kernel, row['parameter'])}, {row['iterations']} iterations")
    for axis in axes[:, 0]:
        axis.set_ylabel("repeats")
    band = Patch(color=style.BAND, label="central 95 % of the repeats")
    figure.legend(handles=[*_diamond_handles(), band], loc="outside upper center", ncols=3)
    return figure


def figure_intervals(compared):
    """Every published rate against the central 95 % of ours: four panels, a line for each row of Tables II and III."""
    keys = ["table", "dataset", "kernel"]
    rows = compared[[*keys, "parameter"]].drop_duplicates(keys).reset_index(drop=True)
    figure, axes = canvas(1, 4, height=0.27 * len(rows) + 1.3, sharey=True)
    panels = [(split, statistic) for split in SPLITS for statistic in ("mean", "sd")]
    bar = {"color": style.GREY, "lw": 5, "alpha": 0.6}
    for axis, (split, statistic) in zip(axes, panels, strict=True):
        part = rows.merge(compared[(compared["split"] == split) & (compared["statistic"] == statistic)], on=keys)
        axis.hlines(part.index, part["low"], part["high"], **bar)
        axis.plot(part["median"], part.index, "|", color=style.BLACK, markersize=7)
        for row in part.itertuples():
            _diamond(axis, row.published, row.Index, row.verdict != "outside")
        axis.set(xlabel="percent", title=f"{SPLITS[split]} error, {'mean' if statistic == 'mean' else 's.d.'}")
        axis.set_xscale("symlog", linthresh=4)
        axis.set_xticks([0, 2, 4, 10, 40] if statistic == "mean" else [0, 2, 4, 10])
        axis.xaxis.set_major_formatter("{x:g}")
        axis.minorticks_off()
        axis.set_xlim(left=-0.4)
    words = [f"{row.dataset}, {_symbols(row.kernel, row.parameter)}" for row in rows.itertuples()]
    axes[0].set(yticks=range(len(rows)), yticklabels=words, ylim=(len(rows) - 0.4, -0.6))
    handle = Line2D([], [], label="central 95 % of our repeats", **bar)
    figure.legend(handles=[*_diamond_handles(), handle], loc="outside upper center", ncols=3)
    return figure


def figure_variants(shares):
    """A heat map: the share of published numbers inside under each protocol variant; shares as of `tables.shares_inside`."""
    figure, axis = canvas(height=0.27 * len(shares) + 0.7)
    heat_map(axis, shares.to_numpy(), rows=shares.index, columns=shares.columns, format=".0%", vmin=0, vmax=1)
    axis.xaxis.tick_top()
    axis.set(xlabel="published numbers inside the central 95 %", ylabel="protocol variant")
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
    _split_legend(figure)
    return figure


def figure_parameters(grid, compared):
    """Error against degree and width at the largest limit of iterations of the grid, a panel for each kernel."""
    kernels = _kernels(grid, ("poly", "rbf"))
    labels = {"poly": "degree p of the polynomial kernel", "rbf": "width σ of the RBF kernel (attributes in [0, 1])"}
    figure, axes = canvas(1, len(kernels), height=2.8, squeeze=False)
    for axis, kernel in zip(axes[0], kernels, strict=True):
        part = grid[grid["kernel"] == kernel]
        part = part[part["iterations"] == part["iterations"].max()]
        for split in SPLITS:
            groups = part.groupby("parameter")[f"{split}_mean"]
            _band(axis, groups, KERNEL_COLOURS[kernel], dashes=style.DASHES[split], marker=KERNEL_MARKERS[kernel])
            _published_means(axis, compared, kernel, split, "parameter")
        axis.set(xlabel=labels[kernel], title=f"{KERNELS[kernel]}, {part['iterations'].max()} iterations at most")
    axes[0, 0].set_ylabel("mean error (%)")
    _from_zero(axes[0])
    _split_legend(figure)
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
        axis.set_title(_symbols(kernel, part.iloc[0]["parameter"]))
        axis.grid(False, axis="x")
    axes[0, 0].set_ylabel("test error (%)")
    _from_zero(axes[0])
    return figure


def figure_optimism(found):
    """The error found by choosing on the test folds, joined to that of choosing by inner folds; a line for each repeat."""
    sets = list(found["dataset"].unique())
    words = ("test", "inner") if len(sets) > 1 else ("test folds", "inner folds")
    figure, axes = canvas(1, len(sets), height=2.6, squeeze=False, width=style.WIDTH if len(sets) > 1 else 4.2)
    for axis, name in zip(axes[0], sets, strict=True):
        for ends, kernel in (((0, 1), "poly"), ((2.4, 3.4), "rbf")):
            rows = found[(found["dataset"] == name) & (found["kernel"] == kernel)]
            rates = 100 * rows[["published_way", "nested"]].to_numpy().T
            colour, marker = KERNEL_COLOURS[kernel], KERNEL_MARKERS[kernel]
            axis.plot(ends, rates, color=colour, lw=0.7, alpha=0.6)
            axis.plot(ends, rates.mean(axis=1), f"{marker}-", color=colour, lw=2.2)
        axis.set(xticks=[0, 1, 2.4, 3.4], xticklabels=words * 2, title=original(name), xlim=(-0.4, 3.8))
        axis.tick_params(axis="x", labelsize=7 if len(sets) > 1 else 8)
        axis.grid(False, axis="x")
    axes[0, 0].set_ylabel("mean test error (%)")
    _from_zero(axes[0])
    figure.supxlabel("folds that choose parameter and iterations", fontsize=9)
    handles = [
        Line2D([], [], color=KERNEL_COLOURS[kernel], marker=KERNEL_MARKERS[kernel], label=f"{KERNELS[kernel]}, mean")
        for kernel in ("poly", "rbf")
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=2)
    return figure


def figure_baselines(table, repeats, cited):
    """Mean test errors of other methods and of the perceptrons, repeat by repeat; a panel for each set.

    cited {set: percent} are the smallest errors of other methods that the source cites.
    """
    sets, methods = list(table["dataset"].unique()), list(table["method"].unique())
    labels = [*methods, *(f"{KERNELS[kernel]} perceptron" for kernel in KERNELS)]
    colours = [style.GREY] * len(methods) + list(KERNEL_COLOURS.values())
    figure, axes = canvas(1, len(sets), height=2.9, squeeze=False, sharey=True)
    for axis, name in zip(axes[0], sets, strict=True):
        others = table[table["dataset"] == name]
        same = repeats[(repeats["dataset"] == name) & repeats["repeat"].isin(others["repeat"])]
        values = [others[others["method"] == method]["test_mean"] for method in methods]
        values += [same[same["kernel"] == kernel]["test_mean"] for kernel in KERNELS]
        for index, (part, colour) in enumerate(zip(values, colours, strict=True)):
            axis.plot(100 * part, np.full(len(part), index), "o", color=colour, markersize=2.5, alpha=0.5)
            axis.plot([100 * part.mean()], [index], "|", color=style.BLACK, markersize=10)
        axis.axvline(cited[original(name)], color=RED, lw=1.2, dashes=(4, 2))
        axis.set(title=original(name), yticks=range(len(labels)), yticklabels=labels, ylim=(len(labels) - 0.5, -0.5))
        axis.set_xlim(left=0)
        axis.xaxis.set_major_locator(MaxNLocator(nbins=3))
    figure.supxlabel("mean test error over the folds (%)", fontsize=9)
    line = Line2D([], [], color=RED, dashes=(4, 2), label="smallest error of other methods that the source cites")
    figure.legend(handles=[line], loc="outside upper center")
    return figure


def figure_differences(repeats):
    """Histograms over the repeats of the RBF kernel's mean test error less the polynomial's, a panel for each set."""
    sets = list(repeats["dataset"].unique())
    figure, axes = canvas(1, len(sets), height=2.2, squeeze=False, sharey=True)
    rates = 100 * repeats.pivot(index=["dataset", "repeat"], columns="kernel", values="test_mean")
    for axis, name in zip(axes[0], sets, strict=True):
        gap = (rates.loc[name, "rbf"] - rates.loc[name, "poly"]).to_numpy()
        margin = 0.1 * max(np.ptp(gap), 1.0)
        axis.hist(gap, np.linspace(gap.min() - margin, gap.max() + margin, 22), color=KERNEL_COLOURS["rbf"], alpha=0.75)
        axis.axvline(0, **style.REFERENCE)
        axis.set_title(original(name))
        axis.yaxis.set_major_locator(MaxNLocator(integer=True, nbins=5))
    axes[0, 0].set_ylabel("repeats")
    figure.supxlabel("mean test error, RBF less polynomial kernel (percentage points)", fontsize=9)
    return figure


def _kernels(table, known):
    return [kernel for kernel in known if kernel in set(table["kernel"])]


def _symbols(kernel, parameter):
    return setting(kernel, parameter).replace("sigma", "σ")


def _means(compared, kernel, split):
    """The published mean errors of a kernel on one split."""
    return compared[(compared["kernel"] == kernel) & (compared["split"] == split) & (compared["statistic"] == "mean")]


def _diamond(axis, x, y, inside):
    options = {"markerfacecolor": RED if inside else "white", "markeredgecolor": RED, "zorder": 5, "clip_on": False}
    axis.plot([x], [y], DIAMOND, markersize=5, **options)


def _diamond_handles():
    options = {"marker": DIAMOND, "lw": 0, "markeredgecolor": RED, "markersize": 5}
    return [
        Line2D([], [], markerfacecolor=RED, label="published, inside our 95 %", **options),
        Line2D([], [], markerfacecolor="white", label="published, outside", **options),
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
    marker = SPLIT_MARKERS[split]
    axis.plot(rows[x], rows["published"], marker, color=RED, markersize=5, zorder=5, clip_on=False)


def _split_legend(figure):
    handles = [
        Line2D([], [], color=style.BLACK, dashes=style.DASHES[split], label=f"{word} error")
        for split, word in SPLITS.items()
    ]
    handles += [
        Line2D([], [], color=RED, marker=SPLIT_MARKERS[split], lw=0, label=f"published {word} error")
        for split, word in SPLITS.items()
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=4)
