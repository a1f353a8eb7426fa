"""Figures of the multiclass chapter: regions of the classes in the plane, mistakes and their bound.

Symbols: X (n, 2) examples, y (n,) indices of C classes, F (c, C) scores of the points of a lattice, row by row from the
bottom, box = (left, right, bottom, top).
"""

import numpy as np
from matplotlib.colors import ListedColormap, to_rgb
from matplotlib.lines import Line2D
from matplotlib.ticker import NullFormatter

from study.style import BAND, CLASS_COLOURS, METHOD_COLOURS, METHOD_MARKERS, WIDTH, canvas

PALE = ListedColormap([1 - (1 - np.array(to_rgb(colour))) * 0.25 for colour in CLASS_COLOURS[:6]])
"""Pale versions of the colours of the classes, for their regions."""

MARKERS = {4: "+*x."}
"""Markers of the classes: those of the source, "+", "*", "x", "." for four classes, and of five or else the following."""

USUAL_MARKERS = "ox.s*^"

UPDATES = ("ordinary", "Xu-Zhang")


def figure_cases(cases, *, columns):
    """The region of each class, by its highest score, with the examples, a panel for each case, so many side by side.

    A case is a dict with title (two lines), X (n, 2), y (n,), F (c, C) and box. Lines are the boundaries, where the two
    highest scores are equal.
    """
    rows = -(-len(cases) // columns)
    boxes = [case["box"] for case in cases]
    side = ((WIDTH - 0.6) / columns - 0.25) * max((box[3] - box[2]) / (box[1] - box[0]) for box in boxes)
    figure, axes = canvas(rows, columns, height=rows * (side + 0.4) + 0.4, squeeze=False)
    for axis, case in zip(axes.flat, cases, strict=False):
        _draw_regions(axis, case["F"], case["box"])
        for c, marker in enumerate(_markers(case["y"].max() + 1)):
            size = {".": 10.4, "*": 6.8}.get(marker, 4)
            edge = 1.0 if marker in "+x" else 0.0
            own = case["X"][case["y"] == c].T
            axis.scatter(*own, s=size, color=CLASS_COLOURS[c], marker=marker, zorder=3, linewidths=edge)
        axis.set_title(case["title"], fontsize=7)
        axis.tick_params(labelsize=7)
        axis.locator_params(nbins=4)
    for axis in axes[-1]:
        axis.set_xlabel("$x_1$")
    for axis in axes[:, 0]:
        axis.set_ylabel("$x_2$")
    return figure


def figure_mistakes(panels):
    """Mistakes of both updates with their bounds; panels {label of the axis: rows of `experiment.mistakes`}.

    The rows have a column more, the value on the horizontal axis. Grey: where counts and bounds put the updates in opposite
    orders.
    """
    figure, axes = canvas(1, len(panels), height=2.7, sharey=True, squeeze=False)
    looks = [(update, METHOD_COLOURS[update], METHOD_MARKERS[update]) for update in UPDATES]
    for axis, (label, table) in zip(axes.flat, panels.items(), strict=True):
        for update, colour, marker in looks:
            part = table[table["update"] == update]
            span = [part["median"] - part["fewest"], part["most"] - part["median"]]
            axis.plot(part["value"], part["bound"], color=colour, marker="v", linestyle=":", linewidth=1.2, mfc="white")
            axis.errorbar(part["value"], part["median"], yerr=span, color=colour, marker=marker, capsize=2.5)
        for low, high in _opposite(table):
            axis.axvspan(low, high, color=BAND, alpha=0.6, linewidth=0, zorder=0)
        axis.set(xlabel=label, xscale="log", yscale="log")
        ticks = sorted(set(table["value"]))
        axis.set_xticks(ticks, [f"{value:g}" for value in ticks])
        axis.xaxis.set_minor_formatter(NullFormatter())
        axis.tick_params(axis="x", which="minor", length=0)
    axes[0, 0].set_ylabel("mistakes until none is left")
    handles = [Line2D([], [], color=c, marker=m, label=f"{update}: mistakes") for update, c, m in looks]
    handles += [
        Line2D([], [], color=c, marker="v", linestyle=":", mfc="white", label=f"{update}: bound") for update, c, _ in looks
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=4, columnspacing=1.2, fontsize=7.5)
    return figure


def _opposite(table):
    """[(from, to)] around the values at which the update with the smaller bound makes more mistakes, in the median."""
    wide = table.pivot(index="value", columns="update", values=["bound", "median"]).dropna()
    ratios = {name: wide[name]["Xu-Zhang"] / wide[name]["ordinary"] for name in ("bound", "median")}
    values = wide.index.to_numpy(dtype=float)
    middles = np.sqrt(values[:-1] * values[1:])
    edges = [values[:1] ** 2 / middles[:1], middles, values[-1:] ** 2 / middles[-1:]]
    edges = np.concatenate(edges)
    found = zip(edges[:-1], edges[1:], (ratios["bound"] > 1) != (ratios["median"] > 1), strict=True)
    return [(low, high) for low, high, opposite in found if opposite]


def _draw_regions(axis, F, box):
    """The class of the highest score as pale regions, and the lines on which the two highest are equal."""
    side = round(len(F) ** 0.5)
    F = F.reshape(side, side, -1)
    axis.imshow(
        F.argmax(axis=-1), extent=box, origin="lower", cmap=PALE, vmin=-0.5, vmax=len(PALE.colors) - 0.5, aspect="equal",
        interpolation="nearest",
    )  # fmt: skip
    across = np.linspace(*box[:2], side)
    up = np.linspace(*box[2:], side)
    for c in range(F.shape[-1]):
        lead = F[..., c] - np.delete(F, c, axis=-1).max(axis=-1)
        if lead.min() < 0 < lead.max():
            axis.contour(across, up, lead, levels=[0], colors="black", linewidths=0.9)
    axis.grid(False)


def _markers(n_classes):
    markers = MARKERS.get(n_classes, USUAL_MARKERS)[:n_classes]
    if len(markers) < n_classes:
        raise ValueError(f"regions are drawn for at most {len(USUAL_MARKERS)} classes, got {n_classes}; take fewer")
    return markers
