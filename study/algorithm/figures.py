"""Figures of the algorithm's chapter: sets in the plane, decision surfaces, the mistake log, the mistake bound.

Symbols: X (n, 2) examples, z (n,) signs +-1, f scores of the points of a lattice, box = (left, right, bottom, top).
"""

import numpy as np
from matplotlib.colors import ListedColormap
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from kp.mistakes import PREDICTORS
from study.style import NEGATIVE, POSITIVE, PREDICTOR_COLOURS, PREDICTOR_MARKERS, canvas

REGIONS = ListedColormap(["#FBE3D4", "#D6E8F5"])
"""Pale versions of NEGATIVE and POSITIVE, for the two sides of a decision surface."""

SIGNS = ((1, POSITIVE, "o", "$z = +1$"), (-1, NEGATIVE, "s", "$z = -1$"))


def figure_surfaces(X, z, log, f, box, chosen):
    """Decision surfaces after the chosen numbers of mistakes, from the history f (M + 1, c) on the lattice of the box.

    Rings mark the examples with alpha > 0, larger for larger alpha; the example just mistaken carries a cross.
    """
    columns = 3
    rows = -(-len(chosen) // columns)
    figure, axes = canvas(rows, columns, height=1.6 * rows + 0.6, sharex=True, sharey=True, squeeze=False)
    for axis, m in zip(axes.flat, chosen, strict=False):
        _draw_surface(axis, f[m], box)
        _draw_examples(axis, X, z, size=11)
        alpha = np.bincount(log.example[:m], minlength=len(X))
        held = alpha > 0
        axis.scatter(*X[held].T, s=22 + 26 * alpha[held], facecolors="none", edgecolors="black", linewidths=0.8)
        axis.scatter(*X[log.example[m - 1]], s=60, marker="x", color="black", linewidths=1.6)
        axis.set_title(f"{m} mistake{'s' if m > 1 else ''}: {log.errors[m - 1]} of {len(X)} wrong", fontsize=8)
    for axis in axes.flat[len(chosen) :]:
        axis.set_axis_off()
    _label_outer(axes, len(chosen))
    figure.legend(handles=_handles(), loc="outside upper center", ncols=4)
    return figure


def figure_predictors(X, z, scores, box, table):
    """Decision surfaces of the four predictors; scores {predictor: f (c,)}, table (predictor, split, errors, n)."""
    figure, axes = canvas(2, 2, height=5.0, sharex=True, sharey=True)
    shown = table.assign(text=table["split"] + " " + (table["errors"] / table["n"]).map("{:.1%}".format))
    for axis, name in zip(axes.flat, PREDICTORS, strict=True):
        _draw_surface(axis, scores[name], box)
        _draw_examples(axis, X, z, size=12)
        errors = ", ".join(shown.loc[shown["predictor"] == name, "text"])
        axis.set_title(f"{name}: {errors}")
    _label_outer(axes, len(PREDICTORS))
    return figure


def figure_log(table, ends, best):
    """The mistake log (see tables.log_table): above step against example, below the training errors after each mistake.

    ends (E,) steps made when each epoch ended; best the number of mistakes of the minimizing predictor.
    """
    figure, (above, below) = canvas(2, 1, height=4.6, sharex=True)
    for sign, colour, marker, label in SIGNS:
        part = table[table["sign"] == sign]
        above.scatter(part["step"], part["example"], s=14, color=colour, marker=marker, label=label, zorder=3)
    above.legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncols=2, borderaxespad=0.1)
    above.set(ylabel="example mistaken (index)")
    steps, errors = [*table["step"] + 1, ends[-1]], [*table["training_errors"], table["training_errors"].iloc[-1]]
    below.step(steps, errors, where="post", color="#555555", linewidth=1.1, label="predictor after each mistake")
    chosen = table.iloc[best - 1]
    mark = dict(color=PREDICTOR_COLOURS["minimizing"], markersize=8, linestyle="none", zorder=4)
    below.plot(
        chosen["step"] + 1,
        chosen["training_errors"],
        marker=PREDICTOR_MARKERS["minimizing"],
        label=f"minimizing (mistake {best})",
        **mark,
    )
    mark["color"] = PREDICTOR_COLOURS["final"]
    below.plot(
        ends[-1], errors[-1], marker=PREDICTOR_MARKERS["final"], label=f"final (mistake {len(table)})", clip_on=False, **mark
    )
    below.set(xlabel="step", ylabel="training errors (examples)", ylim=(0, None))
    below.legend(loc="upper right")
    for axis in (above, below):
        axis.grid(False, axis="x")
        for end in ends:
            axis.axvline(end, color="#BBBBBB", linewidth=0.8, linestyle=":", zorder=1)
    # The first mistake is at step 0: its mark has room on the left.
    below.set_xlim(-0.015 * ends[-1], ends[-1])
    return figure


def figure_multiset(A):
    """The multiset A (T, n) as a picture: a row for each step, a column for each example, dark for a large alpha."""
    figure, axis = canvas(width=4.8, height=3.6)
    image = axis.imshow(A, cmap="Blues", aspect="auto", interpolation="nearest", vmin=0)
    axis.grid(False)
    axis.set(xlabel="example (index)", ylabel="step (downwards)")
    figure.colorbar(image, ax=axis, label=r"$\alpha$ (mistakes so far)", ticks=MaxNLocator(integer=True))
    return figure


def figure_orders(table, n_test, run):
    """Test errors of the four predictors over visiting orders (rows of experiment.orders), in percent of n_test.

    A point for each order, the box of the middle half with the median, and a cross for the order `run`.
    """
    figure, axis = canvas(height=2.9)
    jitter = np.random.RandomState(0)
    for place, name in enumerate(PREDICTORS):
        rows = table[table["predictor"] == name]
        rate, colour = 100 * rows["test_errors"].to_numpy() / n_test, PREDICTOR_COLOURS[name]
        axis.plot(rate, place + jitter.uniform(-0.3, 0.3, len(rate)), ".", markersize=3, alpha=0.5, color=colour)
        box = dict(color="black", linewidth=1)
        axis.boxplot(
            rate, positions=[place], orientation="horizontal", widths=0.5, showfliers=False, showcaps=False, boxprops=box,
            whiskerprops={"linewidth": 0}, medianprops={"color": "black", "linewidth": 2},
        )  # fmt: skip
        shown = 100 * rows.loc[rows["order"] == run, "test_errors"] / n_test
        axis.plot(shown, [place] * len(shown), "X", markersize=8, color=colour, markeredgecolor="black", zorder=4)
    axis.set(yticks=range(len(PREDICTORS)), yticklabels=PREDICTORS, xlabel="error on fresh examples (%)", ylabel="predictor")
    axis.invert_yaxis()
    axis.grid(False, axis="y")
    return figure


def figure_bounds(by_degree, by_gap):
    """Mistakes and their bound against the degree (left) and the gap (right), rows of experiment.bounds."""
    figure, axes = canvas(1, 2, height=3.1, sharey=True)
    for axis, table, x, label in (
        (axes[0], by_degree, "degree", "degree $p$ of the kernel"),
        (axes[1], by_gap, "gap", "width of the gap"),
    ):
        range_ = [table["median"] - table["fewest"], table["most"] - table["median"]]
        axis.plot(table[x], table["bound"], "k--", marker="v", label=r"bound $(R/\gamma)^2$")
        axis.errorbar(
            table[x], table["median"], yerr=range_, color=POSITIVE, marker="o", capsize=3, label="mistakes: median and range"
        )
        axis.set(xlabel=label, yscale="log")
    axes[1].set_xscale("log")
    axes[1].set_xticks(by_gap["gap"], [f"{gap:g}" for gap in by_gap["gap"]])
    axes[1].minorticks_off()
    axes[0].set(ylabel="mistakes until none is left", xticks=by_degree["degree"])
    axes[1].legend(loc="upper right")
    return figure


def _draw_examples(axis, X, z, *, size):
    for sign, colour, marker, label in SIGNS:
        axis.scatter(*X[z == sign].T, s=size, color=colour, marker=marker, label=label, edgecolors="white", linewidths=0.3)


def _draw_surface(axis, f, box):
    """The sign of f (side * side,) as two pale regions, and the line f = 0."""
    side = round(len(f) ** 0.5)
    f = f.reshape(side, side)
    axis.imshow(f > 0, extent=box, origin="lower", cmap=REGIONS, vmin=0, vmax=1, aspect="equal", interpolation="nearest")
    if f.min() < 0 < f.max():
        across, up = np.linspace(*box[:2], side), np.linspace(*box[2:], side)
        axis.contour(across, up, f, levels=[0], colors="black", linewidths=1.3)
    axis.grid(False)


def _label_outer(axes, used):
    """x_1 below the last row, x_2 left of each row."""
    rows, columns = axes.shape
    for position, axis in enumerate(axes.flat[:used]):
        if position // columns == rows - 1:
            axis.set_xlabel("$x_1$")
        if position % columns == 0:
            axis.set_ylabel("$x_2$")


def _handles():
    """Handles that explain the marks of figure_surfaces: sign, ring, cross."""
    ring = dict(markerfacecolor="none", markeredgecolor="black")
    return [
        *(Line2D([], [], linestyle="none", marker=m, color=c, label=label) for _, c, m, label in SIGNS),
        Line2D([], [], linestyle="none", marker="o", markersize=8, label=r"$\alpha > 0$", **ring),
        Line2D([], [], linestyle="none", marker="x", markersize=7, color="black", label="just mistaken"),
    ]
