"""Figures of the three multiclass forms: errors by width and by number of training examples, spectra of K and K^2.

Tables are those of study.forms; error rates in percent.
"""

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.ticker import NullLocator

from study.style import METHOD_COLOURS, METHOD_MARKERS, canvas, log_percent_axis

WIDTH = "width $\\sigma$ (units of a pixel's value)"


def figure_tuning(tuning):
    """Validation error by width, a panel for each n: the average predictor (lines) and the final one (rings), means."""
    sizes = sorted(set(tuning["n"]))
    figure, axes = canvas(1, len(sizes), height=2.9, sharey=True, squeeze=False)
    rates = tuning.assign(error=100 * tuning["errors"] / tuning["n_new"])
    rates = rates.groupby(["n", "form", "width", "predictor"], sort=False, as_index=False)["error"].mean()
    for axis, n in zip(axes.flat, sizes, strict=True):
        for form in _forms(rates):
            own = rates[(rates["n"] == n) & (rates["form"] == form)]
            for predictor, how in (
                ("average", {"label": form}),
                ("final", {"markerfacecolor": "none", "linestyle": "none"}),
            ):
                rows = own[own["predictor"] == predictor]
                axis.plot(rows["width"], rows["error"], markersize=4, **_mark(form) | how)
        axis.set(title=f"n = {n:,}")
        _ticks(axis, rates["width"], rotation=90)
        log_percent_axis(axis)
    axes.flat[0].set_ylabel("validation error (%)")
    figure.supxlabel(WIDTH, fontsize=9)
    _legend(figure, axes.flat[0])
    return figure


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


def figure_equal(rates, predictors=("final", "average")):
    """Test error on equal terms against the number of training examples: mean and range over the orders.

    A panel for each predictor; a single one has no title.
    """
    figure, axes = canvas(1, len(predictors), height=2.5, sharey=True, squeeze=False)
    for axis, predictor in zip(axes.flat, predictors, strict=True):
        for shift, form in enumerate(_forms(rates)):
            part = rates[(rates["form"] == form) & (rates["predictor"] == predictor)].sort_values("n")
            bars = 100 * np.array([part["error"] - part["low"], part["high"] - part["error"]])
            axis.errorbar(
                part["n"] * 1.03 ** (shift - 1.5), 100 * part["error"], yerr=bars, label=form, capsize=2, markersize=4,
                elinewidth=0.8, **_mark(form),
            )  # fmt: skip
        axis.set(title=predictor if len(predictors) > 1 else "", xlabel="training images")
        _ticks(axis, rates["n"], rotation=45 if len(predictors) > 1 else 0)
        log_percent_axis(axis)
    axes.flat[0].set_ylabel("test error (%)")
    figure.legend(*axes.flat[0].get_legend_handles_labels(), loc="outside upper center", ncols=4)
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


def _legend(figure, axis):
    """The forms of an axis, and what open marks are."""
    handles, labels = axis.get_legend_handles_labels()
    open_mark = Line2D([], [], color="black", marker="o", markerfacecolor="none", linestyle="none", markersize=4)
    figure.legend([*handles, open_mark], [*labels, "final (open)"], loc="outside upper center", ncols=5)


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
