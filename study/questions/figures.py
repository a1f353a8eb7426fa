"""The figure of the answers."""

from study.style import BLACK, GREY, REFERENCE, canvas, set_name


def figure_constant(table, means):
    """Price of leaving out the 1 of the kernel, by degree, a panel for each scaling: each set grey, their mean black.

    table as in tables.without_the_one, means as in tables.means_over_sets.
    """
    scalings = table["scaling"].unique()
    figure, axes = canvas(1, len(scalings), height=2.3, sharey=True, sharex=True)
    for axis, scaling in zip(axes, scalings, strict=True):
        axis.axhline(0, **REFERENCE)
        for name, own in table[table["scaling"] == scaling].groupby("dataset", sort=False):
            axis.plot(own["degree"], 100 * own["estimate"], color=GREY, linewidth=0.7, alpha=0.7, label=set_name(name))
        mean = means[means["scaling"] == scaling]
        axis.plot(mean["degree"], 100 * mean["estimate"], color=BLACK, marker="o", markersize=3, linewidth=1.4)
        axis.set(title=f"attributes {scaling}", xlabel="degree", xticks=sorted(mean["degree"]))
    axes[0].set_ylabel("difference of errors (points)")
    return figure
