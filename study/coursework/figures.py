"""Figures of the random splits: errors by degree, confusions in percent, and the examples that are missed most often."""

import numpy as np

from study.coursework import tables
from study.style import DASHES, GREY, canvas, gallery, heat_map, log_percent_axis, look

MOST_LABELLED = 12
"""With more classes, the cells of a confusion matrix have no numbers."""

LONGEST = 20
"""Characters of a label in a figure."""


def shown(text):
    """A label of the data as it stands in a figure: shortened, and no formula."""
    return (text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…").replace("$", r"\$")


def figure_error_by_value(errors, predictor, varies):
    """Training and test error by degree or width: mean and standard deviation over the splits. No error of 0 is drawn."""
    figure, axis = canvas(height=2.9)
    for on, rows in tables.by_value(errors, predictor).groupby("split", sort=False):
        mean, sd = 100 * rows["mean"], 100 * rows["sd"]
        style = look(predictor) | ({} if on == "test" else {"color": GREY})
        axis.errorbar(
            rows["value"], mean.where(mean > 0), sd, label=f"{'training' if on == 'train' else on} error", capsize=2,
            dashes=DASHES[on], markersize=4, **style,
        )  # fmt: skip
    axis.set(xlabel=varies + (" (median distances)" if varies == "width" else ""), ylabel="error (%)")
    if varies == "degree":
        axis.set_xticks(sorted(errors["value"].dropna().unique()))
    else:
        axis.set_xscale("log")
    log_percent_axis(axis)
    axis.legend()
    return figure


def figure_confusion(counts, classes):
    """Which class gets which answer, in percent of its test examples: mean and standard deviation over the splits."""
    mean, sd = (100 * each for each in tables.confusion(counts, classes))
    labels = np.array(
        [[f"{m:.1f}\n±{s:.1f}" if m else "" for m, s in zip(*rows, strict=True)] for rows in zip(mean, sd, strict=True)]
    )
    np.fill_diagonal(mean, 0)
    np.fill_diagonal(labels, "")
    figure, axis = canvas(height=4.4)
    names = [shown(str(each)) for each in classes]
    heat_map(axis, mean, rows=names, columns=names, format="")
    for text, label in zip(axis.texts, labels.flat, strict=True):
        text.set_text(label if len(classes) <= MOST_LABELLED else "")
        text.set_fontsize(6)
    axis.set(xlabel="answer", ylabel="class")
    return figure


def figure_missed(images, titles):
    """The images (n, d) that are missed most often, each with its title; attributes that make no image are a strip. Without
    images a sentence stands in their place."""
    if not len(images):
        figure, axis = canvas(height=0.5)
        axis.set_axis_off()
        axis.text(0.5, 0.5, "No test example was misclassified.", ha="center", va="center")
        return figure
    figure = gallery(images, titles, columns=5)
    figure.set_figheight(1.5)
    return figure


def titles(missed):
    """A title for the picture of each missed example: number, label, usual wrong answer, in how many of its tests."""
    return [
        f"no. {row.example}: {shown(str(row.label))} as {shown(str(row.answer))}\n{row.missed} of {row.tested}"
        for row in missed.itertuples()
    ]
