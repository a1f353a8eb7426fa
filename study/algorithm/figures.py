"""Figures of the algorithm's chapter: sets in the plane and boundaries, the mistake log, visiting orders, the mistake bound.

Symbols: X (n, 2) examples, z (n,) signs +-1, f scores of the points of a lattice, box = (left, right, bottom, top).
"""

import numpy as np
from matplotlib.colors import LinearSegmentedColormap, ListedColormap
from matplotlib.lines import Line2D

from study.predictors import PREDICTORS
from study.protocols.margins import rounded
from study.style import BAND, CLAY, INK, NEGATIVE, POSITIVE, PREDICTOR_COLOURS, TEAL, canvas, look

COUNTS = LinearSegmentedColormap.from_list("counts", [NEGATIVE, "#FFFFFF", POSITIVE])
"""From negative to positive counts, through white at 0."""
SCORES = LinearSegmentedColormap.from_list("scores", COUNTS([0.2, 0.4, 0.5, 0.6, 0.8]))
"""The same for scores, paler: examples are drawn on it."""
REGIONS = ListedColormap(COUNTS([0.4, 0.6]))
"""The two sides of a boundary."""

SIGNS = ((1, POSITIVE, "o", "$z = +1$"), (-1, NEGATIVE, "s", "$z = -1$"))


def figure_surfaces(X, z, log, f, box, chosen=None):
    """Boundaries after the chosen numbers of mistakes (default 1, 2, 4, ... and the last), from the history f (M + 1, c).

    Regions are darker for larger scores in size, on one scale for all panels. Rings mark the examples with alpha > 0, larger
    for larger alpha; the example just mistaken carries a cross.
    """
    chosen = chosen or [2**k for k in range(20) if 2**k < len(log)] + [len(log)]
    columns = 4
    rows = -(-len(chosen) // columns)
    figure, axes = canvas(rows, columns, height=1.35 * rows + 0.5, sharex=True, sharey=True, squeeze=False)
    limit = np.quantile(np.abs(np.cbrt(f[chosen])), 0.95)
    for axis, m in zip(axes.flat, chosen, strict=False):
        _draw_boundary(axis, f[m], box, np.cbrt(f[m]), cmap=SCORES, vmin=-limit, vmax=limit)
        _draw_examples(axis, X, z, size=9 if len(X) > 10 else 40)
        alpha = np.bincount(log.example[:m], minlength=len(X))
        held = alpha > 0
        axis.scatter(*X[held].T, s=14 + 8 * alpha[held], facecolors="none", edgecolors="black", linewidths=0.6)
        axis.scatter(*X[log.example[m - 1]], s=45, marker="x", color="black", linewidths=1.4)
        axis.set_title(f"{m} mistake{'s' if m > 1 else ''}, {log.errors[m - 1]} wrong", fontsize=8)
    for axis in axes.flat[len(chosen) :]:
        axis.set_axis_off()
    _label_outer(axes, len(chosen))
    figure.legend(handles=_handles(), loc="outside upper center", ncols=4)
    return figure


def figure_degrees(X, z, scores, errors, box):
    """Boundaries by degree: scores {degree: f (c,)} on the lattice of the box, errors {degree: rate on fresh examples}."""
    figure, axes = canvas(1, len(scores), height=1.85, sharex=True, sharey=True, squeeze=False)
    for axis, (degree, f) in zip(axes.flat, scores.items(), strict=True):
        _draw_boundary(axis, f, box, f > 0, cmap=REGIONS, vmin=0, vmax=1)
        _draw_examples(axis, X, z)
        axis.set_title(f"degree {degree}: {100 * errors[degree]:.0f} % wrong", fontsize=8)
    _label_outer(axes, len(scores))
    return figure


def figure_predictors(X, z, scores, box, table):
    """Boundaries of the four predictors in one picture; scores {predictor: f (c,)}, table (predictor, split, errors, n).

    Grey: the region in which the predictors do not agree.
    """
    figure, (axis, beside) = canvas(1, 2, height=3.1, width_ratios=[2.4, 1])
    signs = np.array([scores[name] > 0 for name in PREDICTORS])
    disagree = (signs != signs[0]).any(axis=0)
    side = round(len(disagree) ** 0.5)
    grey = ListedColormap(["white", "#DCDCDC"])
    axis.imshow(disagree.reshape(side, side), extent=box, origin="lower", cmap=grey, vmin=0, vmax=1, interpolation="nearest")
    _draw_examples(axis, X, z, size=16)
    for name in PREDICTORS:
        _draw_line(axis, scores[name], box, color=PREDICTOR_COLOURS[name], linewidth=2)
    axis.set(xlabel="$x_1$", ylabel="$x_2$")
    axis.grid(False)
    beside.set_axis_off()
    shown = table.assign(text=(100 * table["errors"] / table["n"]).map("{:.1f} % ".format) + table["split"])
    for place, name in enumerate(PREDICTORS):
        colour = PREDICTOR_COLOURS[name]
        top = 0.93 - 0.25 * place
        beside.text(0, top, name, color=colour, fontsize=10, fontweight="bold", transform=beside.transAxes)
        errors = "\n".join(shown.loc[shown["predictor"] == name, "text"])
        beside.text(0, top - 0.02, errors, fontsize=8, va="top", transform=beside.transAxes)
    return figure


def figure_log(table, A, z, ends, best):
    """A run (see tables.log_table): above the multiset A (T, n), below the training errors after each mistake.

    A column of the picture is a step; a row an example with a mistake, in the order of the first one, in the colour of its
    sign z (n,), dark for a large alpha. ends (E,) steps made when each epoch ended; best the number of mistakes of the
    minimizing predictor.
    """
    figure, (above, below) = canvas(2, 1, height=4.8, sharex=True, height_ratios=[1.15, 1])
    (steps, n) = A.shape
    largest = A.max()
    held = table["example"].unique()[::-1]
    above.imshow(
        (A * z).T[held], cmap=COUNTS, vmin=-largest, vmax=largest, aspect="auto", interpolation="nearest", origin="lower",
        extent=(0, steps, 0.5, len(held) + 0.5),
    )  # fmt: skip
    above.set(ylabel=f"the {len(held)} support vectors", yticks=[])
    at = [*table["step"] + 1, ends[-1]]
    errors = [*table["training_errors"], table["training_errors"].iloc[-1]]
    below.step(at, errors, where="post", color="#555555", linewidth=1.1)
    chosen = table.iloc[best - 1]
    # Labels stand above all of the curve, joined to their marks.
    for name, step, count, mistake in (
        ("minimizing", chosen["step"] + 1, chosen["training_errors"], best),
        ("final", ends[-1], errors[-1], len(table)),
    ):
        colour = PREDICTOR_COLOURS[name]
        side = "right" if step > steps / 2 else "left"
        below.plot(step, count, **look(name), markersize=8, linestyle="none", zorder=4, clip_on=False)
        below.annotate(
            f"{name}: mistake {mistake}, {count} wrong", (step, count), (step, 1.12 * max(errors)), ha=side, color=colour,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 1},
            arrowprops={"arrowstyle": "-", "color": colour, "linewidth": 0.8, "relpos": (float(side == "right"), 0)},
        )  # fmt: skip
    below.set(xlabel="step", ylabel=f"wrong of {n} examples", ylim=(0, 1.25 * max(errors)), xlim=(0, steps))
    for axis in (above, below):
        axis.grid(False)
        for end in ends[:-1]:
            axis.axvline(end, color="#999999", linewidth=0.8, linestyle=":", zorder=1)
    return figure


def figure_orders(table, n_test, run):
    """Test errors of the four predictors over visiting orders (rows of experiment.orders), in percent of n_test.

    A point for each order, the box of the middle half with the median, and a cross for the order `run`.
    """
    figure, axis = canvas(height=2.2)
    jitter = np.random.RandomState(0)
    for place, name in enumerate(PREDICTORS):
        rows = table[table["predictor"] == name]
        rate = 100 * rows["test_errors"].to_numpy() / n_test
        colour = PREDICTOR_COLOURS[name]
        axis.plot(rate, place + jitter.uniform(-0.3, 0.3, len(rate)), ".", markersize=3, alpha=0.5, color=colour)
        axis.boxplot(
            rate, positions=[place], orientation="horizontal", widths=0.5, showfliers=False, showcaps=False,
            boxprops={"color": "black", "linewidth": 1}, whiskerprops={"linewidth": 0},
            medianprops={"color": "black", "linewidth": 2},
        )  # fmt: skip
        shown = 100 * rows.loc[rows["order"] == run, "test_errors"] / n_test
        axis.plot(shown, [place] * len(shown), "X", markersize=8, color=colour, markeredgecolor="black", zorder=4)
    axis.set(yticks=range(len(PREDICTORS)), yticklabels=PREDICTORS, xlabel="error on fresh examples (%)", ylabel="predictor")
    axis.invert_yaxis()
    axis.grid(False, axis="y")
    return figure


def figure_squeeze(table, R, gamma):
    """The weights of a run (`tables.squeezed`) between the line M gamma and the curve sqrt(M) R, which meet at the bound."""
    R, gamma = rounded(R), rounded(gamma)  # the same picture on every processor
    bound = (R / gamma) ** 2
    made = np.linspace(0, 1.12 * bound, 400)
    figure, axis = canvas(height=2.6)
    axis.fill_between(made, made * gamma, np.sqrt(made) * R, where=made <= bound, color=BAND, lw=0)
    axis.plot(made, np.sqrt(made) * R, "k--", lw=1)
    axis.plot(made, made * gamma, "k--", lw=1)
    length = r"length of the weights, $\Vert w \Vert$"
    axis.plot(table["mistakes"], table["length"], color=TEAL, marker="o", markersize=3, label=length)
    axis.plot(table["mistakes"], table["along"], color=CLAY, marker="s", markersize=3, label=r"along $u$, $u \cdot w$")
    half = 0.5 * bound
    for height, text, offset, side in (
        (np.sqrt(half) * R, r"at most $\sqrt{M}\,R$", (-4, 6), "right"),
        (half * gamma, r"at least $M\gamma$", (4, -12), "left"),
    ):
        axis.annotate(text, (half, height), offset, textcoords="offset points", ha=side)
    axis.annotate(r"$(R/\gamma)^2$", (bound, bound * gamma), (0, -18), textcoords="offset points", ha="center")
    axis.plot(bound, bound * gamma, "ko", markersize=4)
    axis.set(xlabel="mistakes $M$", ylabel="length", xlim=(0, made[-1]), ylim=(0, None))
    axis.legend(loc="lower right")
    return figure


def figure_bounds(by_degree, by_gap):
    """Mistakes and their bound against the degree (left) and the width of the strip (right), rows of experiment.bounds."""
    figure, axes = canvas(1, 2, height=2.0, sharey=True)
    for axis, table, x, label in (
        (axes[0], by_degree, "degree", "degree $p$ of the kernel"),
        (axes[1], by_gap, "gap", "width of the strip"),
    ):
        ends = [table["median"] - table["fewest"], table["most"] - table["median"]]
        axis.plot(table[x], table["bound"], "k--", marker="v")
        axis.errorbar(table[x], table["median"], yerr=ends, color=INK, marker="o", capsize=3)
        axis.set(xlabel=label, yscale="log")
    axes[1].set_xscale("log")
    axes[1].set_xticks(by_gap["gap"], [f"{gap:g}" for gap in by_gap["gap"]])
    axes[1].minorticks_off()
    axes[0].set(ylabel="mistakes in all", xticks=by_degree["degree"])
    last = by_degree.iloc[-1]
    for column, text, offset in (
        ("bound", r"bound $(R/\gamma)^2$", (-14, -3)),
        ("most", "mistakes made: median and range", (0, 7)),
    ):
        place = (last["degree"], last[column])
        axes[0].annotate(text, place, offset, textcoords="offset points", ha="right", va="bottom")
    return figure


def _draw_boundary(axis, f, box, shade, **colours):
    """The shades of the lattice's points as regions, and the line f = 0; f and shade (side * side,)."""
    side = round(len(f) ** 0.5)
    axis.imshow(shade.reshape(side, side), extent=box, origin="lower", aspect="equal", interpolation="nearest", **colours)
    _draw_line(axis, f, box, color="black", linewidth=1.3)
    axis.grid(False)


def _draw_line(axis, f, box, *, color, linewidth):
    """The line f = 0, if there is one; f (side * side,)."""
    side = round(len(f) ** 0.5)
    if f.min() < 0 < f.max():
        across = np.linspace(*box[:2], side)
        up = np.linspace(*box[2:], side)
        axis.contour(across, up, f.reshape(side, side), levels=[0], colors=color, linewidths=linewidth)


def _draw_examples(axis, X, z, *, size=9):
    """The examples X (n, 2) in the colour and with the marker of their signs z (n,)."""
    for sign, colour, marker, _ in SIGNS:
        axis.scatter(*X[z == sign].T, s=size, color=colour, marker=marker, edgecolors="white", linewidths=0.3)


def _label_outer(axes, used):
    """x_1 below the last row, x_2 left of each row."""
    for axis in axes[-1, : used - axes[:-1].size]:
        axis.set_xlabel("$x_1$")
    for axis in axes[:, 0]:
        axis.set_ylabel("$x_2$")


def _handles():
    """Handles that explain the marks of figure_surfaces: sign, ring, cross."""
    ring = dict(markerfacecolor="none", markeredgecolor="black")
    return [
        *(Line2D([], [], linestyle="none", marker=m, color=c, label=label) for _, c, m, label in SIGNS),
        Line2D([], [], linestyle="none", marker="o", markersize=8, label="misclassified so far", **ring),
        Line2D([], [], linestyle="none", marker="x", markersize=7, color="black", label="just misclassified"),
    ]
