"""Figures of the UCI study: published error rates in the distributions of ours, readings, curves, choices and rivals.

Tables are those of study.uci.experiment. Error rates are drawn in percent. A diamond is a published number: filled where it lies
inside the central 95 % of our repeats, hollow where it does not.
"""

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from kp.mistakes import PREDICTORS
from study.style import COLOURS, DASHES, MARKERS, canvas
from study.uci.experiment import KERNELS, SPLITS, original, setting

KERNEL_COLOURS = dict(zip(KERNELS, ("#555555", "#D55E00", "#0072B2"), strict=True))
KERNEL_MARKERS = dict(zip(KERNELS, "sD^", strict=True))
PUBLISHED = "#CC0000"


def _diamond(axis, x, y, within, **options):
    """A published number."""
    style = {
        "markerfacecolor": PUBLISHED if within else "white",
        "markeredgecolor": PUBLISHED,
        "zorder": 5,
        "clip_on": False,
    }
    axis.plot([x], [y], "D", markersize=5, **style, **options)


def _from_zero(axes):
    """Let the error axes begin at 0, with some room above what is drawn."""
    for axis in axes:
        axis.margins(y=0.08)
        axis.autoscale_view()
    for axis in axes:
        axis.set_ylim(0, axis.get_ylim()[1])


def _legend_of_diamonds():
    style = {"marker": "D", "lw": 0, "markeredgecolor": PUBLISHED, "markersize": 5}
    return [
        Line2D([], [], markerfacecolor=PUBLISHED, label="published, inside our 95 %", **style),
        Line2D([], [], markerfacecolor="white", label="published, outside", **style),
    ]


def distributions(repeats, compared):
    """Histograms of the mean training and test error over the repeats, a column for each row of Tables II and III."""
    kernels = [kernel for kernel in KERNELS if kernel in set(repeats["kernel"])]
    figure, axes = canvas(2, len(kernels), height=3.9, squeeze=False)
    for column, kernel in enumerate(kernels):
        part = repeats[repeats["kernel"] == kernel]
        for axis, (split, word) in zip(axes[:, column], SPLITS.items(), strict=True):
            values = (100 * part[f"{split}_mean"]).to_numpy()
            number = compared[
                (compared["kernel"] == kernel) & (compared["split"] == split) & (compared["statistic"] == "mean")
            ]
            shown = [*values, *number["published"]]
            low, high = min(shown), max(shown)
            margin = max(0.06 * (high - low), 0.25)
            axis.hist(values, np.linspace(low - margin, high + margin, 26), color=KERNEL_COLOURS[kernel], alpha=0.75)
            top = axis.get_ylim()[1]
            for row in number.itertuples():
                axis.axvspan(row.low, row.high, color="#DDDDDD", zorder=0, lw=0)
                axis.axvline(row.published, color=PUBLISHED, lw=1.2)
                _diamond(axis, row.published, 0.97 * top, row.verdict != "outside")
            axis.set(xlabel=f"mean {word} error (%)", ylim=(0, 1.05 * top))
            axis.yaxis.set_major_locator(MaxNLocator(integer=True, nbins=5))
        row = part.iloc[0]
        axes[0, column].set_title(f"{_symbols(kernel, row['parameter'])}, {row['iterations']} iterations")
    for axis in axes[:, 0]:
        axis.set_ylabel("repeats")
    band = Patch(color="#DDDDDD", label="central 95 % of the repeats")
    figure.legend(handles=[*_legend_of_diamonds(), band], loc="outside upper center", ncols=3)
    return figure


def _symbols(kernel, parameter):
    return setting(kernel, parameter).replace("sigma", "σ")


def intervals(compared):
    """Every published rate against the central 95 % of ours: four panels, a line for each row of Tables II and III."""
    keys = ["table", "dataset", "kernel"]
    rows = compared[[*keys, "parameter"]].drop_duplicates(keys).reset_index(drop=True)
    figure, axes = canvas(1, 4, height=0.27 * len(rows) + 1.3, sharey=True)
    panels = [(split, statistic) for split in SPLITS for statistic in ("mean", "sd")]
    for axis, (split, statistic) in zip(axes, panels, strict=True):
        part = rows.merge(compared[(compared["split"] == split) & (compared["statistic"] == statistic)], on=keys)
        for place, row in enumerate(part.itertuples()):
            axis.plot([row.low, row.high], [place, place], color="#888888", lw=5, solid_capstyle="butt", alpha=0.7)
            axis.plot([row.median], [place], "|", color="black", markersize=7)
            _diamond(axis, row.published, place, row.verdict != "outside")
        axis.set(xlabel="percent", title=f"{SPLITS[split]} error, {'mean' if statistic == 'mean' else 's.d.'}")
        axis.set_xscale("symlog", linthresh=4)
        axis.set_xticks([0, 2, 4, 10, 40] if statistic == "mean" else [0, 2, 4, 10])
        axis.xaxis.set_major_formatter("{x:g}")
        axis.minorticks_off()
        axis.set_xlim(left=-0.4)
    words = [
        f"{row.dataset}, {'linear' if row.kernel == 'linear' else _symbols(row.kernel, row.parameter)}"
        for row in rows.itertuples()
    ]
    axes[0].set(yticks=range(len(rows)), yticklabels=words, ylim=(len(rows) - 0.4, -0.6))
    bar = Line2D([], [], color="#888888", lw=5, alpha=0.7, label="central 95 % of our repeats")
    figure.legend(handles=[*_legend_of_diamonds(), bar], loc="outside upper center", ncols=3)
    return figure


def readings(table):
    """A matrix: how many published numbers lie inside under each reading; table is `uci.readings_table`."""
    columns = [name for name in table.columns if name not in ("reading", "of")]
    counts = table[columns].to_numpy()
    totals = table["of"].to_numpy()[:, None] / np.where(np.array(columns) == "in all", 1, len(columns) - 1)
    figure, axis = canvas(height=0.27 * len(table) + 0.7)
    axis.imshow(counts / totals, cmap="Blues", vmin=0, vmax=1, aspect="auto")
    for (i, j), count in np.ndenumerate(counts):
        dark = count / totals[i, j] > 0.6
        axis.text(
            j, i, f"{count} of {totals[i, j]:.0f}", ha="center", va="center", color="white" if dark else "black", fontsize=8
        )
    axis.grid(False)
    axis.set(xticks=range(len(columns)), xticklabels=columns, yticks=range(len(table)), yticklabels=table["reading"])
    axis.xaxis.tick_top()
    axis.tick_params(length=0)
    axis.set(xlabel="published numbers inside the central 95 %", ylabel="reading")
    return figure


def curves(table, compared):
    """Error against the limit of iterations, a panel for each kernel; bands are the central 95 % of the repeats."""
    kernels = [kernel for kernel in KERNELS if kernel in set(table["kernel"])]
    figure, axes = canvas(1, len(kernels), height=2.8, squeeze=False)
    for axis, kernel in zip(axes[0], kernels, strict=True):
        for split in SPLITS:
            groups = table[table["kernel"] == kernel].groupby("iterations")[f"{split}_mean"]
            _band(axis, groups, KERNEL_COLOURS[kernel], dashes=DASHES[split])
            _published_means(axis, compared, kernel, split, "iterations")
        axis.set(xscale="log", xlabel="iterations at most (epochs)", title=KERNELS[kernel])
    axes[0, 0].set_ylabel("mean error (%)")
    _from_zero(axes[0])
    _legend_of_splits(figure)
    return figure


def parameters(grid, compared):
    """Error against degree and width at the largest limit of iterations of the grid, a panel for each kernel."""
    kernels = [kernel for kernel in ("poly", "rbf") if kernel in set(grid["kernel"])]
    figure, axes = canvas(1, len(kernels), height=2.8, squeeze=False)
    for axis, kernel in zip(axes[0], kernels, strict=True):
        part = grid[grid["kernel"] == kernel]
        part = part[part["iterations"] == part["iterations"].max()]
        for split in SPLITS:
            groups = part.groupby("parameter")[f"{split}_mean"]
            _band(axis, groups, KERNEL_COLOURS[kernel], dashes=DASHES[split], marker=KERNEL_MARKERS[kernel])
            _published_means(axis, compared, kernel, split, "parameter")
        label = {"poly": "degree p of the polynomial kernel", "rbf": "width σ of the RBF kernel (attributes in [0, 1])"}
        axis.set(xlabel=label[kernel], title=f"{KERNELS[kernel]}, {part['iterations'].max()} iterations at most")
    axes[0, 0].set_ylabel("mean error (%)")
    _from_zero(axes[0])
    _legend_of_splits(figure)
    return figure


def _band(axis, groups, colour, **style):
    mean, low, high = (100 * part for part in (groups.mean(), groups.quantile(0.025), groups.quantile(0.975)))
    axis.plot(mean.index, mean, color=colour, markersize=3, **style)
    axis.fill_between(mean.index, low, high, color=colour, alpha=0.15, lw=0)


def _published_means(axis, compared, kernel, split, x):
    rows = compared[(compared["kernel"] == kernel) & (compared["split"] == split) & (compared["statistic"] == "mean")]
    for row in rows.to_dict("records"):
        style = {"marker": "v" if split == "train" else "D", "color": PUBLISHED, "zorder": 5, "clip_on": False}
        axis.plot([row[x]], [row["published"]], markersize=5, lw=0, **style)


def _legend_of_splits(figure):
    handles = [Line2D([], [], color="black", dashes=DASHES[split], label=f"{word} error") for split, word in SPLITS.items()]
    markers = (("v", "published training error"), ("D", "published test error"))
    handles += [Line2D([], [], color=PUBLISHED, marker=marker, lw=0, label=label) for marker, label in markers]
    figure.legend(handles=handles, loc="outside upper center", ncols=4)


def predictors(table):
    """Test error of the four predictors in each repeat, a panel for each kernel; the long mark is the mean."""
    kernels = [kernel for kernel in ("poly", "rbf") if kernel in set(table["kernel"])]
    figure, axes = canvas(1, len(kernels), height=2.6, squeeze=False, sharey=True)
    for axis, kernel in zip(axes[0], kernels, strict=True):
        part = table[table["kernel"] == kernel]
        for place, name in enumerate(PREDICTORS):
            rows = part[part["predictor"] == name]
            rate = (100 * rows["test_errors"] / rows["n_test"]).to_numpy()
            shift = np.linspace(-0.2, 0.2, len(rate)) if len(rate) > 1 else np.zeros(1)
            axis.plot(place + shift, rate, MARKERS[name], color=COLOURS[name], markersize=4)
            axis.plot([place - 0.35, place + 0.35], [rate.mean()] * 2, color="black", lw=1)
        row = part.iloc[0]
        axis.set(xticks=range(len(PREDICTORS)), xticklabels=PREDICTORS, title=_symbols(kernel, row["parameter"]))
        axis.set_xlabel("predictor")
        axis.grid(False, axis="x")
    axes[0, 0].set_ylabel("test error (%)")
    _from_zero(axes[0])
    return figure


def optimism(found):
    """The error found by choosing on the test folds, joined to that of choosing by inner folds; a line a repeat."""
    sets = list(found["dataset"].unique())
    figure, axes = canvas(1, len(sets), height=2.6, squeeze=False, width=6.4 if len(sets) > 1 else 4.2)
    for axis, name in zip(axes[0], sets, strict=True):
        for start, kernel in ((0, "poly"), (2.4, "rbf")):
            rows = found[(found["dataset"] == name) & (found["kernel"] == kernel)]
            ends = 100 * rows[["published_way", "nested"]].to_numpy().T
            axis.plot([start, start + 1], ends, color=KERNEL_COLOURS[kernel], lw=0.7, alpha=0.6)
            axis.plot(
                [start, start + 1], ends.mean(axis=1), KERNEL_MARKERS[kernel] + "-", color=KERNEL_COLOURS[kernel], lw=2.2
            )
        short = len(sets) > 1
        words = ("test", "inner") if short else ("test folds", "inner folds")
        axis.set(xticks=[0, 1, 2.4, 3.4], xticklabels=words * 2, title=original(name), xlim=(-0.4, 3.8))
        axis.tick_params(axis="x", labelsize=7 if short else 8)
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


def rivals(table, repeats, published):
    """Mean test errors of other methods and of the perceptrons, repeat by repeat; a panel for each set.

    published {set: percent} are the smallest errors of other methods that the source cites.
    """
    sets = list(table["dataset"].unique())
    methods = list(table["method"].unique())
    labels = [*methods, *(f"{KERNELS[kernel]} perceptron" for kernel in KERNELS)]
    figure, axes = canvas(1, len(sets), height=2.9, squeeze=False, sharey=True)
    for axis, name in zip(axes[0], sets, strict=True):
        shown = set(table[table["dataset"] == name]["repeat"])
        values = [table[(table["dataset"] == name) & (table["method"] == method)]["test_mean"] for method in methods]
        same = repeats[(repeats["dataset"] == name) & repeats["repeat"].isin(shown)]
        values += [same[same["kernel"] == kernel]["test_mean"] for kernel in KERNELS]
        for place, part in enumerate(values):
            colour = "#009E73" if place < len(methods) else list(KERNEL_COLOURS.values())[place - len(methods)]
            axis.plot(100 * part, np.full(len(part), place), "o", color=colour, markersize=2.5, alpha=0.5)
            axis.plot([100 * part.mean()], [place], "|", color="black", markersize=10)
        axis.axvline(published[original(name)], color=PUBLISHED, lw=1.2, dashes=(4, 2))
        axis.set(title=original(name), yticks=range(len(labels)), yticklabels=labels, ylim=(len(labels) - 0.5, -0.5))
        axis.set_xlim(left=0)
        axis.xaxis.set_major_locator(MaxNLocator(nbins=3))
    figure.supxlabel("mean test error over the folds (%)", fontsize=9)
    line = Line2D([], [], color=PUBLISHED, dashes=(4, 2), label="smallest error of other methods that the source cites")
    figure.legend(handles=[line], loc="outside upper center")
    return figure


def differences(repeats):
    """Histograms over the repeats of the RBF kernel's mean test error less the polynomial's, a panel for each set."""
    sets = list(repeats["dataset"].unique())
    figure, axes = canvas(1, len(sets), height=2.2, squeeze=False, sharey=True)
    rates = 100 * repeats.pivot(index=["dataset", "repeat"], columns="kernel", values="test_mean")
    for axis, name in zip(axes[0], sets, strict=True):
        gap = (rates.loc[name, "rbf"] - rates.loc[name, "poly"]).to_numpy()
        margin = 0.1 * max(np.ptp(gap), 1.0)
        axis.hist(gap, np.linspace(gap.min() - margin, gap.max() + margin, 22), color=KERNEL_COLOURS["rbf"], alpha=0.75)
        axis.axvline(0, color="black", lw=1)
        axis.set_title(original(name))
        axis.yaxis.set_major_locator(MaxNLocator(integer=True, nbins=5))
    axes[0, 0].set_ylabel("repeats")
    figure.supxlabel("mean test error, RBF less polynomial kernel (percentage points)", fontsize=9)
    return figure
