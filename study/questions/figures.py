"""The figure of the answers."""

from study.style import GREY, PREDICTOR_COLOURS, REFERENCE, WIDTH, canvas, set_name


def figure_constant(table, means):
    """How much the error rises without the 1 in the kernel, by degree: each set grey, the highest with its name, their mean
    in the colour of the average predictor.

    table as in tables.without_the_one, means as in tables.means_over_sets, both of one scaling.
    """
    figure, axis = canvas(width=0.7 * WIDTH, height=2.6)
    axis.axhline(0, **REFERENCE)
    lines = {set_name(name): own for name, own in table.groupby("dataset", sort=False)}
    for own in lines.values():
        axis.plot(own["degree"], 100 * own["estimate"], color=GREY, linewidth=0.7, alpha=0.7)
    highest = max(lines, key=lambda name: lines[name]["estimate"].iloc[-1])
    blue = PREDICTOR_COLOURS["average"]
    axis.plot(means["degree"], 100 * means["estimate"], color=blue, marker="o", markersize=4, linewidth=1.8)
    for words, own, colour in ((highest, lines[highest], GREY), ("mean", means, blue)):
        last = own.iloc[-1]
        axis.annotate(
            words, (last["degree"], 100 * last["estimate"]), xytext=(5, 0), textcoords="offset points", va="center",
            color=colour, fontsize=8, annotation_clip=False,
        )  # fmt: skip
    axis.set(xlabel="degree", ylabel="error added without the 1 (points)", xticks=sorted(means["degree"]))
    axis.set_xlim(right=means["degree"].max() + 0.8)
    return figure
