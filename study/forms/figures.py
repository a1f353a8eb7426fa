"""Figures of the three multiclass forms: errors by kernel, by number of training examples, by epoch; spectra of K and K^2.

Tables are those of study.forms.experiment; error rates in percent, intervals exact binomial at 95 %.
"""

import numpy as np
from matplotlib.ticker import FuncFormatter, NullFormatter

from study.forms.experiment import FORMS
from study.mnist.tables import with_rates
from study.style import canvas

COLOURS = dict(zip(FORMS, ("#000000", "#E69F00", "#0072B2", "#56B4E9"), strict=True))
MARKERS = dict(zip(FORMS, "osD^", strict=True))
DASHES = dict(zip(FORMS, ("-", "-", "-", "--"), strict=True))
AXES = {"rbf": "width $\\sigma$ (units of a pixel's value)", "poly": "degree $p$"}


def figure_choice(choice):
    """Validation error of every form with every kernel: best predictor and epoch (lines), last final predictor (rings)."""
    figure, axes = canvas(1, 2, height=3.2, sharey=True, width_ratios=[3, 2])
    best, last = _best(choice, ["form", "kernel", "parameter"]), _last(choice[choice["predictor"] == "final"])
    for axis, kind in zip(axes, ("rbf", "poly"), strict=True):
        for form in FORMS:
            for table, how in ((best, {"label": form}), (last, {"markerfacecolor": "none", "linestyle": "none"})):
                rows = table[(table["kernel"] == kind) & (table["form"] == form)].sort_values("parameter")
                options = {"color": COLOURS[form], "marker": MARKERS[form], "linestyle": DASHES[form], "markersize": 5} | how
                axis.plot(rows["parameter"], 100 * rows["errors"] / rows["n_test"], **options)
        axis.set(xlabel=AXES[kind], xticks=sorted(set(choice.loc[choice["kernel"] == kind, "parameter"])), yscale="log")
        axis.tick_params(axis="x", labelrotation=45 if kind == "rbf" else 0)
        _plain(axis)
    axes[0].set_ylabel("validation error (%)")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=4)
    return figure


def figure_growth(errors, predictors=("final", "average")):
    """Test error after the last epoch against the number of training examples, a panel for each predictor."""
    figure, axes = canvas(1, len(predictors), height=3.3, sharey=True, squeeze=False)
    rows = with_rates(_last(errors).rename(columns={"n": "n_train", "n_test": "n"}))
    for axis, predictor in zip(axes.flat, predictors, strict=True):
        for shift, form in enumerate(FORMS):
            part = rows[(rows["form"] == form) & (rows["predictor"] == predictor)].sort_values("n_train")
            bars = 100 * np.array([part["error"] - part["low"], part["high"] - part["error"]])
            axis.errorbar(
                part["n_train"] * 1.03 ** (shift - 1.5), 100 * part["error"], yerr=bars, label=form, capsize=2,
                color=COLOURS[form], marker=MARKERS[form], linestyle=DASHES[form], markersize=4, elinewidth=0.8,
            )  # fmt: skip
        axis.set(title=predictor, xscale="log", yscale="log", xlabel="training examples")
        _sizes(axis, rows["n_train"])
        _plain(axis)
    axes.flat[0].set_ylabel("test error (%)")
    figure.legend(*axes.flat[0].get_legend_handles_labels(), loc="outside upper center", ncols=4)
    return figure


def figure_cost(errors):
    """Mistakes and support examples at the end of the run against the number of training examples."""
    figure, axes = canvas(1, 2, height=3.0)
    rows = _last(errors[errors["predictor"] == "final"]).sort_values("n")
    for axis, column in zip(axes, ("mistakes", "support"), strict=True):
        for form in FORMS:
            part = rows[rows["form"] == form]
            style = {"color": COLOURS[form], "marker": MARKERS[form], "linestyle": DASHES[form], "markersize": 4}
            axis.plot(part["n"], part[column], label=form, **style)
        axis.set(
            xscale="log",
            yscale="log",
            xlabel="training examples",
            ylabel={"support": "support examples"}.get(column, column),
        )
        _sizes(axis, rows["n"])
        _plain(axis, ",.0f")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=4)
    return figure


def figure_spectra(spectra):
    """Eigenvalues of K and of K^2, each as a share of the sum; spectra {title: (shares of K, shares of K^2)} in order."""
    figure, axes = canvas(1, len(spectra), height=2.8, sharey=True, squeeze=False)
    for axis, (title, (plain, squares)) in zip(axes.flat, spectra.items(), strict=True):
        ranks = np.arange(1, len(plain) + 1)
        axis.plot(ranks, plain, color=COLOURS["ordinary"], linestyle="-", label="$K$: ordinary")
        axis.plot(ranks, squares, color=COLOURS["Xu-Zhang"], linestyle="--", label="$K^2$: Xu and Zhang")
        axis.set(title=title, xscale="log", yscale="log", xlabel="rank of the eigenvalue", ylim=(1e-8, 2))
    axes.flat[0].set_ylabel("share of the sum")
    axes.flat[0].legend(loc="lower left")
    return figure


def _best(table, keys):
    """The row with the fewest errors of each group; the first of equals."""
    return table.sort_values("errors", kind="stable").groupby(keys, as_index=False, sort=False).first()


def _last(table):
    """The rows of each run's last epoch."""
    return table[table["epoch"] == table.groupby(["form", "kernel", "parameter", "n"])["epoch"].transform("max")]


def _plain(axis, form="g"):
    """Whole numbers in place of powers of ten, at 1, 2, 3 and 5."""
    axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: format(value, form)))
    axis.yaxis.set_minor_formatter(FuncFormatter(lambda value, _: format(value, form) if f"{value:e}"[0] in "235" else ""))


def _sizes(axis, sizes):
    axis.set_xticks(sorted(set(sizes)), [f"{size:,}" for size in sorted(set(sizes))], rotation=45)
    axis.xaxis.set_minor_formatter(NullFormatter())
