"""Figures of the three multiclass forms: errors by kernel and by number of training examples, costs, spectra of K and K^2.

Tables are those of study.forms; error rates in percent, intervals exact binomial at 95 %.
"""

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator

from study.style import METHOD_COLOURS, METHOD_MARKERS, canvas, log_percent_axis

AXES = {"rbf": "width $\\sigma$ (units of a pixel's value)", "poly": "degree $p$"}


def figure_choice(choice):
    """Validation error of every form with every kernel: best predictor and epoch (lines), last final predictor (rings)."""
    figure, axes = canvas(1, 2, height=3.0, sharey=True, width_ratios=[3, 2])
    best = choice.groupby(["form", "kernel", "parameter", "n_test"], as_index=False, sort=False)["errors"].min()
    last = _last(choice[choice["predictor"] == "final"])
    for axis, kind in zip(axes, ("rbf", "poly"), strict=True):
        for form in _forms(choice):
            for table, how in ((best, {"label": form}), (last, {"markerfacecolor": "none", "linestyle": "none"})):
                rows = table[(table["kernel"] == kind) & (table["form"] == form)].sort_values("parameter")
                options = {**_mark(form), "markersize": 5} | how
                axis.plot(rows["parameter"], 100 * rows["errors"] / rows["n_test"], **options)
        axis.set(xlabel=AXES[kind], xticks=sorted(set(choice.loc[choice["kernel"] == kind, "parameter"])))
        axis.xaxis.set_major_formatter("{x:,g}")
        axis.tick_params(axis="x", labelrotation=45 if kind == "rbf" else 0)
        log_percent_axis(axis)
    axes[0].set_ylabel("validation error (%)")
    _legend(figure, axes[0])
    return figure


def figure_growth(rates, predictors=("final", "average")):
    """Test error after the last epoch against the number of training examples, a panel for each predictor.

    rates as of tables.with_rates.
    """
    figure, axes = canvas(1, len(predictors), height=2.7, sharey=True, squeeze=False)
    last = _last(rates)
    for axis, predictor in zip(axes.flat, predictors, strict=True):
        for shift, form in enumerate(_forms(rates)):
            part = last[(last["form"] == form) & (last["predictor"] == predictor)].sort_values("n")
            bars = 100 * np.array([part["error"] - part["low"], part["high"] - part["error"]])
            axis.errorbar(
                part["n"] * 1.03 ** (shift - 1.5), 100 * part["error"], yerr=bars, label=form, capsize=2, markersize=4,
                elinewidth=0.8, **_mark(form),
            )  # fmt: skip
        axis.set(title=predictor, xlabel="training examples")
        _sizes(axis, last["n"])
        log_percent_axis(axis)
    axes.flat[0].set_ylabel("test error (%)")
    figure.legend(*axes.flat[0].get_legend_handles_labels(), loc="outside upper center", ncols=4)
    return figure


def figure_cost(errors):
    """Mistakes and support examples at the end of the run against the number of training examples."""
    figure, axes = canvas(1, 2, height=2.5)
    rows = _last(errors[errors["predictor"] == "final"]).sort_values("n")
    for axis, (column, label) in zip(axes, {"mistakes": "mistakes", "support": "support examples"}.items(), strict=True):
        for form in _forms(errors):
            part = rows[rows["form"] == form]
            axis.plot(part["n"], part[column], label=form, markersize=4, **_mark(form))
        axis.set(yscale="log", xlabel="training examples", ylabel=label)
        _sizes(axis, rows["n"])
        axis.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
        axis.yaxis.set_minor_formatter(NullFormatter())
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=4)
    return figure


def figure_tuning(tuning):
    """Validation error by width, a panel for each n: the average predictor (lines) and the final one (rings), means."""
    sizes = sorted(set(tuning["n"]))
    figure, axes = canvas(1, len(sizes), height=2.9, sharey=True, squeeze=False)
    rates = tuning.assign(error=100 * tuning["errors"] / tuning["n_new"])
    rates = rates.groupby(["n", "form", "width", "predictor"], sort=False, as_index=False)["error"].mean()
    for axis, n in zip(axes.flat, sizes, strict=True):
        for form in _forms(rates):
            for predictor, how in (
                ("average", {"label": form}),
                ("final", {"markerfacecolor": "none", "linestyle": "none"}),
            ):
                rows = rates[(rates["n"] == n) & (rates["form"] == form) & (rates["predictor"] == predictor)]
                axis.plot(rows["width"], rows["error"], **{**_mark(form), "markersize": 4} | how)
        axis.set(title=f"n = {n:,}", xscale="log")
        ticks = sorted(set(rates["width"]))
        axis.set_xticks(ticks, [f"{tick:,g}" for tick in ticks], rotation=90)
        axis.xaxis.set_minor_locator(NullLocator())
        log_percent_axis(axis)
    axes.flat[0].set_ylabel("validation error (%)")
    figure.supxlabel(AXES["rbf"], fontsize=9)
    _legend(figure, axes.flat[0])
    return figure


def figure_equal(rates, predictors=("final", "average")):
    """Test error on equal terms against the number of training examples: mean and range over the orders."""
    figure, axes = canvas(1, len(predictors), height=2.7, sharey=True, squeeze=False)
    for axis, predictor in zip(axes.flat, predictors, strict=True):
        for shift, form in enumerate(_forms(rates)):
            part = rates[(rates["form"] == form) & (rates["predictor"] == predictor)].sort_values("n")
            bars = 100 * np.array([part["error"] - part["low"], part["high"] - part["error"]])
            axis.errorbar(
                part["n"] * 1.03 ** (shift - 1.5), 100 * part["error"], yerr=bars, label=form, capsize=2, markersize=4,
                elinewidth=0.8, **_mark(form),
            )  # fmt: skip
        axis.set(title=predictor, xlabel="training examples")
        _sizes(axis, rates["n"])
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


def _last(table):
    """The rows of each run's last epoch."""
    return table[table["epoch"] == table.groupby(["form", "kernel", "parameter", "n"])["epoch"].transform("max")]


def _sizes(axis, sizes):
    axis.set_xscale("log")
    axis.set_xticks(sorted(set(sizes)), [f"{size:,}" for size in sorted(set(sizes))], rotation=45)
    axis.xaxis.set_minor_locator(NullLocator())
