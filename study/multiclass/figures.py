"""Figures of the multiclass chapter: regions of the classes in the plane, mistakes and their bound.

Symbols: X (n, 2) examples, y (n,) indices of C classes, F (c, C) scores of the points of a lattice, row by row from the
bottom, box = (left, right, bottom, top).
"""

import numpy as np
from matplotlib.colors import ListedColormap, to_rgb
from matplotlib.lines import Line2D
from matplotlib.ticker import NullFormatter

from study.style import BAND, CLASS_COLOURS, METHOD_COLOURS, METHOD_MARKERS, canvas

PALE = ListedColormap([1 - (1 - np.array(to_rgb(colour))) * 0.25 for colour in CLASS_COLOURS[:6]])
"""Pale versions of the colours of the classes, for their regions."""

MARKERS = {4: "+*x."}
"""Markers of the classes: those of the source, "+", "*", "x", "." for four classes, and of five or else the following."""

USUAL_MARKERS = "ox.s*^"

UPDATES = ("ordinary", "Xu-Zhang")


def figure_cases(cases, *, names=(), columns=3, width=None):
    """The region of each class, by its highest score, with the examples, a panel for each case.

    A case is a dict with title, X (n, 2), y (n,), F (c, C) and box. Lines are the boundaries, where the two highest scores
    are equal; names (C,) of the classes make a legend.
    """
    columns = min(columns, len(cases))
    rows = -(-len(cases) // columns)
    width = width or (4.2 if columns == 1 else 6.4)
    boxes = [case["box"] for case in cases]
    labels = 0.25 if len(set(boxes)) > 1 else 0.0
    side = ((width - 0.6) / columns - labels) * max((box[3] - box[2]) / (box[1] - box[0]) for box in boxes)
    shape = 3 if columns == 1 and len("".join(names)) > 30 else len(names)
    lines = -(-len(names) // shape) if len(names) else 0
    titles = 0.15 * max(1 + case["title"].count("\n") for case in cases) + 0.1 if any(c["title"] for c in cases) else 0.0
    height = rows * (side + titles) + 0.4 + 0.2 * lines
    same = len(set(boxes)) == 1
    figure, axes = canvas(rows, columns, width=width, height=height, sharex=same, sharey=same, squeeze=False)
    size = {1: 20, 2: 14, 3: 8}.get(columns, 4)
    for position, (axis, case) in enumerate(zip(axes.flat, cases, strict=False)):
        _draw_regions(axis, case["F"], case["box"])
        _draw_examples(axis, case["X"], case["y"], size=size)
        axis.set_title(case["title"], fontsize={1: 9, 2: 9, 3: 7.5}.get(columns, 7))
        if position // columns == rows - 1:
            axis.set_xlabel("$x_1$")
        if position % columns == 0:
            axis.set_ylabel("$x_2$")
        if columns > 2:
            axis.tick_params(labelsize=7)
        if columns > 3:
            axis.locator_params(nbins=4)
    for axis in axes.flat[len(cases) :]:
        axis.set_axis_off()
    if len(names):
        figure.legend(handles=_handles(names), loc="outside upper center", ncols=shape, handletextpad=0.2)
    return figure


def figure_mistakes(panels):
    """Mistakes of both updates with their bounds; panels {label of the axis: rows of `experiment.mistakes`}.

    The rows have a column more, the value on the horizontal axis. Grey: where counts and bounds put the updates in opposite
    orders.
    """
    figure, axes = canvas(1, len(panels), height=2.7, sharey=True, squeeze=False)
    for axis, (label, table) in zip(axes.flat, panels.items(), strict=True):
        for update in UPDATES:
            colour = METHOD_COLOURS[update]
            marker = METHOD_MARKERS[update]
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
    looks = [(update, METHOD_COLOURS[update], METHOD_MARKERS[update]) for update in UPDATES]
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


def _draw_examples(axis, X, y, *, size):
    for c, marker in enumerate(_markers(y.max() + 1)):
        scale = {".": 2.6, "*": 1.7}.get(marker, 1)
        axis.scatter(*X[y == c].T, s=scale * size, color=CLASS_COLOURS[c], marker=marker, zorder=3, **_line(marker))


def _handles(names):
    return [
        Line2D([], [], linestyle="none", marker=marker, color=CLASS_COLOURS[c], markersize=6, label=name)
        for c, (marker, name) in enumerate(zip(_markers(len(names)), names, strict=True))
    ]


def _markers(n_classes):
    markers = MARKERS.get(n_classes, USUAL_MARKERS)[:n_classes]
    if len(markers) < n_classes:
        raise ValueError(f"regions are drawn for at most {len(USUAL_MARKERS)} classes, got {n_classes}; take fewer")
    return markers


def _line(marker):
    """Strokes for "+" and "x"; no edge around filled markers."""
    return {"linewidths": 1.0 if marker in "+x" else 0.0}
