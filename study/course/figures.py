"""Figures of the course page's chapter: moving lines, numbers of modifications, codes, widths, confusions.

Symbols: X (n, d) examples of 2^d classes y (n,), weights (M + 1, m, d + 1) with the bias first, codes (C, m).
"""

from fractions import Fraction

import numpy as np
from matplotlib.lines import Line2D

from study.course.tables import presented
from study.style import (
    BAND,
    BLACK,
    CLASS_COLOURS,
    CLASS_MARKERS,
    GREY,
    INK,
    PERCENT,
    PUBLISHED,
    SKY,
    canvas,
    heat_map,
)
from study.words import percent

OUTPUTS = ((BLACK, "-"), (GREY, "--"))
"""Colour and line of each output's boundary and weight vector; the colours are those of no class of four."""

CODES = {"one-hot": (BLACK, "o", "-"), "binary": (SKY, "s", "--")}
PAGE = {"color": PUBLISHED["color"], "linewidth": 1, "linestyle": ":"}
"""A line at a number that the page prints."""

MODIFICATIONS = [2, 5, 10, 20, 50, 100, 200]
"""Ticks of logarithmic axes."""

PLANE = 2.2
"""Half the side of the squares in which classes about the corners of [-1, 1]^2 are drawn."""


def figure_moving_lines(X, y, log, weights, codes):
    """The lines of two outputs at the beginning and after each modification, with the sample that caused it."""
    columns = 5
    rows = -(-len(weights) // columns)
    figure, axes = canvas(rows, columns, height=1.38 * rows + 0.75, squeeze=False)
    figure.get_layout_engine().set(w_pad=0.01, h_pad=0.02, wspace=0.0, hspace=0.0)
    signs = np.sign(weights[0][:, 0] + X @ weights[0][:, 1:].T)
    wrong = np.count_nonzero((signs != codes[y]).any(axis=1))
    for k, axis in enumerate(axes.flat[: len(weights)]):
        for c in range(len(codes)):
            axis.scatter(*X[y == c].T, s=4, color=CLASS_COLOURS[c], marker=CLASS_MARKERS[c], alpha=0.6, linewidths=0)
        for i, w in enumerate(weights[k]):
            moved = k > 0 and log.delta[k - 1, i] != 0
            if moved:
                _draw_line(axis, weights[k - 1][i], *OUTPUTS[i], width=1.0, ghost=True)
            _draw_line(axis, w, *OUTPUTS[i], width=2.0 if moved else 1.1)
        if k:
            example = log.example[k - 1]
            colour = CLASS_COLOURS[y[example]]
            marker = CLASS_MARKERS[y[example]]
            axis.scatter(*X[example], s=60, color=colour, marker=marker, edgecolors=BLACK, linewidths=1.3, zorder=5)
            wrong = log.errors[k - 1]
        axis.set_title(f"{'initial' if k == 0 else k}: {wrong} wrong", fontsize=8, pad=3)
        axis.set(xlim=(-PLANE, PLANE), ylim=(-PLANE, PLANE), aspect="equal", xticks=[-1, 0, 1], yticks=[-1, 0, 1])
        axis.tick_params(labelsize=7, pad=1, length=2)
        axis.tick_params(labelbottom=k + columns >= len(weights), labelleft=k % columns == 0)
        axis.grid(False)
        for spine in axis.spines.values():
            spine.set(visible=True, linewidth=0.5)
    for axis in axes.flat[len(weights) :]:
        axis.set_axis_off()
    for axis in axes.flat[max(0, len(weights) - columns) : len(weights)]:
        axis.set_xlabel("$x_1$", labelpad=0)
    for axis in axes[:, 0]:
        axis.set_ylabel("$x_2$", labelpad=0)
    sample = dict(linestyle="none", marker="o", markersize=7, markerfacecolor=BAND, markeredgecolor=BLACK)
    handles = [Line2D([], [], color=c, linestyle=s, label=f"output {i}") for i, (c, s) in enumerate(OUTPUTS, start=1)]
    handles += [Line2D([], [], label="sample presented", **sample), *_class_handles(codes)]
    figure.legend(handles=handles, loc="outside upper center", ncols=4, fontsize=8)
    return figure


def figure_effects(shares):
    """Bars: after what share of the modifications fewer, as many and more samples are wrong (tables.steps_table)."""
    figure, axis = canvas(height=1.75)
    rows = [f"{2**row.inputs} classes, $s = {row.s:g}$" for row in shares.itertuples()]
    looks = {"fell": ("#F0F0F0", BLACK, "fewer"), "stayed": (BAND, BLACK, "as many"), "rose": (INK, "white", "more")}
    left = np.zeros(len(rows))
    for name, (colour, ink, label) in looks.items():
        bars = axis.barh(rows, shares[name], left=left, color=colour, height=0.7, label=label)
        labels = [percent(share, 0) if share > 0.05 else "" for share in shares[name]]
        axis.bar_label(bars, labels, label_type="center", color=ink, fontsize=8)
        left += shares[name]
    axis.invert_yaxis()
    axis.set(xlabel="share of the modifications", xlim=(0, 1))
    axis.xaxis.set_major_formatter(PERCENT)
    axis.grid(False)
    figure.legend(loc="outside upper center", ncols=3, title="samples wrong afterwards", title_fontsize=8)
    return figure


def figure_modifications(counts, rows, published):
    """Above, how many runs at s = 0.2 need how many modifications; below, median and 95 % range by s; the page's numbers.

    counts: experiment.modifications; rows: tables.by_spread; published {inputs: number}.
    """
    figure, axes = canvas(2, 2, height=3.9)
    listed = presented(counts[counts["s"] == 0.2])
    rows = presented(rows[rows["n"] > 0])
    sizes = sorted(counts["n_per_class"].unique())
    styles = dict(zip(sizes, ((SKY, "s", "--"), (BLACK, "o", "-")), strict=False))
    for column, (inputs, number) in enumerate(published.items()):
        above, below = axes[:, column]
        for n, (colour, marker, line) in styles.items():
            part = listed[(listed["inputs"] == inputs) & (listed["n_per_class"] == n)]
            share = part["runs"] / part["runs"].sum()
            above.plot(part["modifications"], share, color=colour, marker=marker, linestyle=line, markersize=3, label=f"{n}")
            part = rows[(rows["inputs"] == inputs) & (rows["n_per_class"] == n)]
            shift = 0.004 * (1 if n == sizes[-1] else -1)
            span = [part["ours"] - part["low"], part["high"] - part["ours"]]
            below.errorbar(part["s"] + shift, part["ours"], yerr=span, color=colour, linestyle=line, capsize=2, elinewidth=1)
            _draw_markers(below, part["s"] + shift, part["ours"], part["separated"] == 1, marker, colour)
        above.axvline(number, **PAGE)
        above.text(number, 0.98, f" page: {number}", va="top", fontsize=8, transform=above.get_xaxis_transform())
        below.axhline(number, **PAGE)
        below.text(0.02, number, f"page: {number}", va="bottom", fontsize=8, transform=below.get_yaxis_transform())
        above.set(title=f"{inputs} inputs, {2**inputs} classes", xlabel="modifications ($s = 0.2$)", ylim=(0, None))
        most = listed.loc[listed["inputs"] == inputs, "modifications"].max()
        above.set_xlim(0, max(number * 1.25, most + 1))
        above.yaxis.set_major_formatter(PERCENT)
        below.set(xlabel="standard deviation $s$ of a class", yscale="log", xlim=(0.08, 0.42))
        below.set_yticks(MODIFICATIONS, MODIFICATIONS)
        below.minorticks_off()
    axes[0, 0].set_ylabel("share of runs")
    axes[1, 0].set_ylabel("modifications")
    axes[0, 1].legend(title="samples per class", title_fontsize=8, loc="center", bbox_to_anchor=(0.58, 0.5))
    axes[1, 1].legend(handles=[_hollow()], loc="lower right")
    return figure


def figure_codes(table):
    """Both codes by s, from experiment.codes: share separated, median modifications, mean test error, 95 % ranges."""
    figure, axes = canvas(3, 2, height=4.2, sharex=True, sharey="row")
    table = table.assign(error=table["test_errors"] / table["n"])
    for column, inputs in enumerate((2, 3)):
        share, number, error = axes[:, column]
        for code, (colour, marker, line) in CODES.items():
            part = table[(table["inputs"] == inputs) & (table["code"] == code)]
            style = dict(color=colour, marker=marker, linestyle=line, label=code)
            of = part.groupby("s")
            share.plot(of["converged"].mean(), **style)
            separated = part[part["converged"]].groupby("s")["modifications"]
            _draw_band(number, separated, style, "median")
            _draw_band(error, of["error"], style, "mean")
        share.set(title=f"{inputs} inputs, {2**inputs} classes", ylim=(-0.03, 1.03))
        number.set(yscale="log")
        number.set_yticks(MODIFICATIONS, MODIFICATIONS)
        number.minorticks_off()
        error.set_xlabel("standard deviation $s$ of a class")
    axes[2, 0].set_ylim(0, None)
    for axis in (*axes[0], *axes[2]):
        axis.yaxis.set_major_formatter(PERCENT)
    axes[0, 0].set_ylabel("runs that\nseparate the classes")
    axes[1, 0].set_ylabel("modifications\nuntil separated")
    axes[2, 0].set_ylabel("test error")
    axes[0, 1].legend(loc="upper right")
    return figure


def figure_widths(rows, published):
    """Test error by width of the kernel for both codes: median and 95 % range over splits, from tables.by_width."""
    figure, axis = canvas(height=2.5)
    for (code, (colour, marker, line)), shift in zip(CODES.items(), (0.98, 1.02), strict=True):
        part = rows[rows["code"] == code]
        span = [part["ours"] - part["low"], part["high"] - part["ours"]]
        axis.errorbar(part["width"] * shift, part["ours"], yerr=span, color=colour, linestyle=line, capsize=2, elinewidth=1)
        _draw_markers(axis, part["width"] * shift, part["ours"], part["separated"] == 1, marker, colour)
    axis.axhline(published, **PAGE)
    axis.text(
        0.01, published, f"page: {percent(published, 0)}", va="bottom", fontsize=8, transform=axis.get_yaxis_transform()
    )
    widths = sorted(rows["width"].unique())
    axis.set_xscale("log")
    axis.set_xticks(widths, [str(Fraction(width)) for width in widths])
    axis.minorticks_off()
    axis.set(xlabel=r"width $\sigma$ (median distances between images)", ylabel="test error")
    axis.set_ylim(0, 1.1 * max(published, rows["high"].max()))
    axis.yaxis.set_major_formatter(PERCENT)
    handles = [Line2D([], [], color=c, marker=m, linestyle=s, label=code) for code, (c, m, s) in CODES.items()]
    handles += [] if (rows["separated"] == 1).all() else [_hollow()]
    figure.legend(handles=handles, loc="outside upper center", ncols=3)
    return figure


def figure_confusions(train, test):
    """Two confusion matrices (10, 10) of counts: rows true digits, columns what they are classified as."""
    figure, axes = canvas(1, 2, height=3.5)
    for axis, matrix, title in zip(axes, (train, test), ("training half", "test half"), strict=True):
        heat_map(axis, matrix, rows=range(10), columns=range(10), vmin=0, vmax=1.6 * matrix.max(), mask=matrix == 0)
        axis.set(title=title, xlabel="classified as")
        axis.grid(False)
    axes[0].set_ylabel("true digit")
    return figure


def _draw_line(axis, w, colour, style, *, width, ghost=False):
    """The line w_0 + w_1 x_1 + w_2 x_2 = 0 and an arrow along (w_1, w_2), from that visible point of the line which leaves
    most room for it; ties go to the point nearest to the origin. A ghost is pale and has no arrow."""
    normal = w[1:] / np.linalg.norm(w[1:])
    foot = -w[0] / np.linalg.norm(w[1:]) * normal
    along = np.array([-normal[1], normal[0]])
    ends = _segment_in_cube(foot, along, PLANE)
    if ends is None:
        return
    alpha = 0.35 if ghost else 1.0
    axis.plot(
        *(foot[:, None] + along[:, None] * ends), color=colour, linestyle=style, linewidth=width, alpha=alpha, zorder=3
    )
    if not ghost:
        places = [foot + t * along for t in sorted(np.linspace(*ends, 41), key=abs)]
        rooms = [min(0.8, _segment_in_cube(place, normal, PLANE + 1e-9)[1]) for place in places]
        start = places[int(np.argmax(rooms))]
        length = max(rooms)
        arrow = dict(arrowstyle="->", color=colour, linewidth=max(width, 1.3), shrinkA=0, shrinkB=0)
        axis.annotate("", start + length * normal, start, arrowprops=arrow, zorder=4, annotation_clip=False)


def _segment_in_cube(point, direction, half):
    """(first, last) t for which point + t direction lies in the cube [-half, half]^d, or None where there are none."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        crossings = np.sort((np.array([[-half], [half]]) - point) / direction, axis=0)
    parallel = direction == 0
    if (np.abs(point[parallel]) > half).any():
        return None
    first = crossings[0, ~parallel].max()
    last = crossings[1, ~parallel].min()
    return (first, last) if first < last else None


def _draw_markers(axis, x, y, whole, marker, colour):
    """Markers, hollow where `whole` is false."""
    for part, fill in ((whole, colour), (~whole, "white")):
        axis.plot(x[part], y[part], marker, color=colour, markerfacecolor=fill, markersize=5, zorder=4)


def _hollow():
    style = dict(color=GREY, linestyle="none", marker="o", markerfacecolor="white")
    return Line2D([], [], label="hollow: not all runs separate", **style)


def _draw_band(axis, groups, style, middle):
    line = getattr(groups, middle)()
    axis.plot(line, **style)
    if len(line):
        axis.fill_between(
            line.index, groups.quantile(0.025), groups.quantile(0.975), color=style["color"], alpha=0.15, linewidth=0
        )


def _class_handles(codes):
    """A handle for each class, from 1, with its code."""
    labels = [f"class {c} ({' '.join('+' if sign > 0 else '−' for sign in code)})" for c, code in enumerate(codes, start=1)]
    looks = zip(labels, CLASS_COLOURS, CLASS_MARKERS, strict=False)
    return [Line2D([], [], linestyle="none", marker=m, color=c, markersize=5, label=label) for label, c, m in looks]
