"""The figure of the recipes for a low error."""

from study.style import BLACK, BLUE, GREY, canvas, log_percent_axis

LINES = {
    ("raw", 0): (GREY, "o", ":"),
    ("unit norm", 0): (GREY, "s", "--"),
    ("deskewed", 0): (BLACK, "o", ":"),
    ("deskewed, unit norm", 0): (BLUE, "s", "--"),
    ("deskewed, unit norm", 4): (BLUE, "D", "-"),
    ("deskewed, unit norm", 8): (BLUE, "^", "-"),
    ("deskewed, unit norm", 12): (BLUE, "v", "-"),
}
"""Colour, marker and line of a preparation with so many copies; blue is the preparation that is recommended."""
RAISED = {8: 5, 12: -5}
"""By how many points the name of a line with so many copies stands above its end."""


def figure_recipes(tried):
    """Held-out error by degree: a line for each preparation without copies, and for each number of copies."""
    figure, axis = canvas(width=5.6, height=3.4)
    plain = tried[tried["protocol"] == tried["protocol"].iloc[0]]
    for (preparation, copies), line in plain.groupby(["preparation", "copies"], sort=False):
        colour, marker, style = LINES[preparation, copies]
        drawn = {"color": colour, "marker": marker, "linestyle": style, "markersize": 4.5, "linewidth": 1.3}
        axis.plot(line["degree"], 100 * line["error"], **drawn)
        end = line.iloc[0 if copies else -1]
        style = {"textcoords": "offset points", "fontsize": 8.5, "va": "center", "color": colour}
        axis.annotate(
            f"{copies} copies" if copies else preparation, (end["degree"], 100 * end["error"]),
            xytext=(-6, RAISED.get(copies, 0)) if copies else (6, 0), ha="right" if copies else "left", **style,
        )  # fmt: skip
    axis.set(xlabel="degree", ylabel="held-out error (%)", xticks=sorted(tried["degree"].unique()))
    axis.set_xlim(tried["degree"].min() - 0.3, tried["degree"].max() + 2.4)
    log_percent_axis(axis)
    axis.set_ylim(bottom=80 * tried["error"].min())
    return figure
