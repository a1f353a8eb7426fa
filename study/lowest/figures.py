"""The figure of the recipes for a low error."""

from study.style import BLACK, GREY, canvas, log_percent_axis

LINES = {
    ("raw", 0): (GREY, "o", ":"),
    ("unit norm", 0): (GREY, "s", "--"),
    ("deskewed", 0): (BLACK, "o", ":"),
    ("deskewed, unit norm", 0): (BLACK, "s", "--"),
    ("deskewed, unit norm", 4): (BLACK, "D", "-"),
    ("deskewed, unit norm", 8): (BLACK, "^", "-"),
    ("deskewed, unit norm", 12): (BLACK, "v", "-"),
}
"""Colour, marker and line of a preparation with so many copies."""
RAISED = {8: 4, 12: -4}
"""By how many points the name of a line with so many copies stands above its end."""


def figure_recipes(tried):
    """Held-out error by degree: a line for each preparation without copies, and for each number of copies."""
    figure, axis = canvas(width=5.2, height=3.3)
    plain = tried[tried["protocol"] == tried["protocol"].iloc[0]]
    for (preparation, copies), line in plain.groupby(["preparation", "copies"], sort=False):
        colour, marker, style = LINES[preparation, copies]
        drawn = {"color": colour, "marker": marker, "linestyle": style, "markersize": 4, "linewidth": 1}
        axis.plot(line["degree"], 100 * line["error"], **drawn)
        end = line.iloc[0 if copies else -1]
        style = {"textcoords": "offset points", "fontsize": 7.5, "va": "center", "color": colour}
        axis.annotate(
            f"{copies} copies" if copies else preparation, (end["degree"], 100 * end["error"]),
            xytext=(-6, RAISED.get(copies, 0)) if copies else (6, 0), ha="right" if copies else "left", **style,
        )  # fmt: skip
    axis.set(xlabel="degree", ylabel="held-out error (%)", xticks=sorted(tried["degree"].unique()))
    axis.set_xlim(tried["degree"].min() - 0.3, tried["degree"].max() + 1.7)
    log_percent_axis(axis)
    return figure
