"""Figures of the three multiclass forms: errors by width and by number of training examples, spectra of K and K^2.

Tables are those of study.forms; error rates in percent.
"""

import numpy as np
from matplotlib.ticker import NullLocator

from study.style import METHOD_COLOURS, METHOD_MARKERS, canvas, log_percent_axis

WIDTH = "width $\\sigma$ (units of a pixel's value)"


def figure_own_width(rows):
    """Validation error (left) and mistakes in training (right) against the width, a line for each form.

    rows as in tables.by_width; the ring marks the width with the lowest error of each form.
    """
    figure, axes = canvas(1, 2, height=2.6)
    for form in _forms(rows):
        part = rows[rows["form"] == form].sort_values("width")
        best = part.loc[part["error"].idxmin()]
        for axis, values in zip(axes, (100 * part["error"], part["mistakes"]), strict=True):
            axis.plot(part["width"], values, label=form, markersize=4, **_mark(form))
            ring = {"markersize": 10, "markerfacecolor": "none", "markeredgecolor": METHOD_COLOURS[form]}
            axis.plot(best["width"], values[best.name], "o", **ring)
    for axis, label in zip(axes, ("validation error (%)", "mistakes in training"), strict=True):
        log_percent_axis(axis)
        axis.set_ylabel(label)
        _ticks(axis, rows["width"], fontsize=7)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
    figure.supxlabel(WIDTH, fontsize=9)
    return figure


def figure_equal(rates):
    """Test error of the average predictor on equal terms by number of training images: mean and range over the orders."""
    figure, axis = canvas(height=2.7)
    own = rates[rates["predictor"] == "average"]
    ends = own.loc[own.groupby("form")["n"].idxmax()].set_index("form")["error"]
    for shift, form in enumerate(_forms(own)):
        part = own[own["form"] == form].sort_values("n")
        bars = 100 * np.array([part["error"] - part["low"], part["high"] - part["error"]])
        places = part["n"] * 1.03 ** (shift - 1.5)
        axis.errorbar(places, 100 * part["error"], yerr=bars, capsize=2, markersize=4, elinewidth=0.8, **_mark(form))
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


def _mark(form):
    """Colour, marker and line of a form; the one without threshold has a dashed line."""
    line = "--" if form == "Xu-Zhang, no threshold" else "-"
    return {"color": METHOD_COLOURS[form], "marker": METHOD_MARKERS[form], "linestyle": line}


def _ticks(axis, values, **options):
    """A logarithmic axis with a tick at each of the values; options are those of the labels."""
    axis.set_xscale("log")
    places = sorted(set(values))
    axis.set_xticks(places, [f"{place:,g}" for place in places], **options)
    axis.xaxis.set_minor_locator(NullLocator())
