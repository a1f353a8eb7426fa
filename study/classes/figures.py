"""Figures of the forms for several classes: regions in the plane, mistakes and their bound; errors by width and by number of
training images, spectra of K and K^2; errors on small sets.

Symbols: X (n, 2) examples, y (n,) indices of C classes, F (c, C) scores of the points of a lattice, row by row from the
bottom, box = (left, right, bottom, top). Tables are those of study.classes.tables; error rates in percent. Methods have the
same colour and marker everywhere; those of our perceptrons are filled, those of the references open.
"""

import numpy as np
from matplotlib.colors import ListedColormap, to_rgb
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator

from study.classes.methods import PERCEPTRONS
from study.style import (
    BAND,
    CLASS_COLOURS,
    GREY,
    METHOD_COLOURS,
    METHOD_MARKERS,
    WIDTH,
    canvas,
    handles,
    log_percent_axis,
    look,
    set_name,
)

# In the plane.

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
    width = 0.65 * WIDTH
    boxes = [case["box"] for case in cases]
    side = ((width - 0.6) / columns - 0.25) * max((box[3] - box[2]) / (box[1] - box[0]) for box in boxes)
    figure, axes = canvas(rows, columns, width=width, height=rows * (side + 0.4) + 0.4, squeeze=False)
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
    """Mistakes of both updates with their bounds; panels {label of the axis: rows of `tables.with_orders`}.

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
        raise ValueError(f"regions are drawn for at most {len(USUAL_MARKERS)} classes, got {n_classes}; use fewer")
    return markers


# On digits.

PIXEL_WIDTH = "width $\\sigma$ (units of a pixel's value)"


def figure_own_width(rows):
    """Validation error (left) and mistakes in training (right) against the width, a line for each form.

    rows as in tables.digits_by_width; the ring marks the width with the lowest error of each form.
    """
    figure, axes = canvas(1, 2, height=2.6)
    for form in _forms(rows):
        part = rows[rows["form"] == form].sort_values("width")
        best = part.loc[part["error"].idxmin()]
        for axis, values in zip(axes, (100 * part["error"], part["mistakes"]), strict=True):
            axis.plot(part["width"], values, label=form, markersize=4, **_line(form))
            ring = {"markersize": 10, "markerfacecolor": "none", "markeredgecolor": METHOD_COLOURS[form]}
            axis.plot(best["width"], values[best.name], "o", **ring)
    for axis, label in zip(axes, ("validation error (%)", "mistakes in training"), strict=True):
        log_percent_axis(axis)
        axis.set_ylabel(label)
        _ticks(axis, rows["width"], fontsize=7)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
    figure.supxlabel(PIXEL_WIDTH, fontsize=9)
    return figure


def figure_equal(rates):
    """Test error of the average predictor on equal terms by number of training images: mean and range over the orders."""
    figure, axis = canvas(height=1.9)
    own = rates[rates["predictor"] == "average"]
    ends = own.loc[own.groupby("form")["n"].idxmax()].set_index("form")["error"]
    for shift, form in enumerate(_forms(own)):
        part = own[own["form"] == form].sort_values("n")
        bars = 100 * np.array([part["error"] - part["low"], part["high"] - part["error"]])
        places = part["n"] * 1.03 ** (shift - 1.5)
        axis.errorbar(places, 100 * part["error"], yerr=bars, capsize=2, markersize=4, elinewidth=0.8, **_line(form))
        side = "top" if ends[form] == ends.min() else "bottom"
        end = (places.iloc[-1], 100 * ends[form])
        axis.annotate(form, end, (7, 0), textcoords="offset points", va=side, color=METHOD_COLOURS[form])
    axis.set(xlabel="training images", ylabel="test error (%)")
    _ticks(axis, own["n"])
    axis.margins(x=0.14, y=0.12)
    log_percent_axis(axis)
    return figure


def figure_spectra(spectra):
    """Eigenvalues of K and of K^2, each as a share of the sum; spectra {title: (shares of K, shares of K^2)} in order."""
    figure, axes = canvas(1, len(spectra), height=2.4, sharey=True, squeeze=False)
    for axis, (title, (plain, squares)) in zip(axes.flat, spectra.items(), strict=True):
        ranks = np.arange(1, len(plain) + 1)
        axis.plot(ranks, plain, color=METHOD_COLOURS["ordinary"], linestyle="-", label="$K$: ordinary")
        axis.plot(ranks, squares, color=METHOD_COLOURS["Xu-Zhang"], linestyle="--", label="$K^2$: Xu and Zhang")
        axis.set(title=title, xscale="log", yscale="log", xlabel="rank of the eigenvalue", ylim=(1e-8, 2))
    axes.flat[0].set_ylabel("share of the sum")
    axes.flat[0].legend(loc="lower left")
    return figure


def _forms(table):
    return list(dict.fromkeys(table["form"]))


def _line(form):
    """Colour, marker and line of a form; the one without threshold has a dashed line."""
    line = "--" if form == "Xu-Zhang, no threshold" else "-"
    return {"color": METHOD_COLOURS[form], "marker": METHOD_MARKERS[form], "linestyle": line}


def _ticks(axis, values, **options):
    """A logarithmic axis with a tick at each of the values; options are those of the labels."""
    axis.set_xscale("log")
    places = sorted(set(values))
    axis.set_xticks(places, [f"{place:,g}" for place in places], **options)
    axis.xaxis.set_minor_locator(NullLocator())


# On small sets.


def figure_against_svm(table, over_sets, methods):
    """Test error of some methods minus the SVM's on each set, and over the sets.

    table as in `tables.by_method`; over_sets {(method, thresholds): Difference} from the SVM; methods: such names. Sets are
    sorted by the SVM's error, which is printed next to their names; below them pseudo-medians with their intervals.
    """
    svm = table["SVM", "-"].sort_values()
    figure, axis = canvas(height=1.35 + 0.2 * len(svm))
    axis.axvline(0, color=METHOD_COLOURS["SVM"], linewidth=1.2)
    for place, name in enumerate(methods):
        mark = {**_mark(name[0]), "markersize": 5, "linestyle": "none"}
        shift = 0.17 * (place - (len(methods) - 1) / 2)  # marks of equal errors lie side by side
        axis.plot(100 * (table.loc[svm.index, name] - svm), np.arange(len(svm)) + shift, label=name[0], **mark)
        found = over_sets[name]
        y = len(svm) + 0.3 + 0.35 * place
        if np.isfinite([found.low, found.high]).all():
            axis.hlines(y, 100 * found.low, 100 * found.high, color=METHOD_COLOURS[name[0]], linewidth=1.4)
        axis.plot(100 * found.estimate, y, **mark)
    axis.axhline(len(svm) - 0.4, color="#BBBBBB", linewidth=0.6)
    ends = len(svm) + 0.3 + 0.35 * (len(methods) - 1)
    axis.set(yticks=[*range(len(svm)), (len(svm) + 0.3 + ends) / 2], ylim=(ends + 0.5, -0.6))
    axis.set_yticklabels([*(f"{set_name(name)} ({100 * error:.1f})" for name, error in svm.items()), "over the sets"])
    axis.set_xlabel("test error minus the SVM's (percentage points)")
    figure.legend(*axis.get_legend_handles_labels(), loc="outside upper center", ncols=len(methods))
    return figure


def figure_narrow(by_width):
    """Validation error against the width, a panel for each form: each predictor with thresholds on (lines) and off (dashes).

    by_width as in `tables.sets_by_width`.
    """
    methods = [name for name in METHOD_COLOURS if name in set(by_width["method"])]
    figure, axes = canvas(1, len(methods), height=2.6, sharex=True, sharey=True)
    for axis, method in zip(axes, methods, strict=True):
        for predictor in ("final", "average", "voted"):
            for thresholds, style in (("on", "-"), ("off", "--")):
                own = by_width.query("method == @method and thresholds == @thresholds and predictor == @predictor")
                own = own.sort_values("width")
                size = 3 if thresholds == "on" else 0
                axis.plot(own["width"], 100 * own["error"], style, linewidth=1.2, markersize=size, **look(predictor))
        _width_axis(axis)
        axis.set_title(method, fontsize=8.5)
    axes[0].set(ylabel="validation error (%)", ylim=(0, None))
    plain = Line2D([], [], color=GREY, linestyle="--", label="the same without thresholds")
    figure.legend(
        handles=[*handles(("final", "average", "voted"), markersize=4), plain], loc="outside upper center", ncols=4
    )
    figure.supxlabel(r"width $\sigma$ (median distances of training examples)", fontsize=9)
    return figure


def _width_axis(axis):
    """Widths on a scale of powers of two, written as fractions."""
    axis.set_xscale("log", base=2)
    axis.xaxis.set_major_locator(LogLocator(base=4))
    axis.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"1/{1 / x:.0f}" if x < 1 else f"{x:g}"))
    axis.xaxis.set_minor_locator(NullLocator())


def _mark(method):
    """Colour and marker of a method: filled for our perceptrons, open for the references."""
    face = METHOD_COLOURS[method] if method in PERCEPTRONS else "white"
    return {"color": METHOD_COLOURS[method], "marker": METHOD_MARKERS[method], "markerfacecolor": face}
