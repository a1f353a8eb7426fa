"""Quantities of the forms in the plane that texts quote."""

from types import SimpleNamespace

import numpy as np

from study.multiclass import experiment, tables


def moved(spans, five):
    """The five classes with the power of the linear kernel, where they lie and moved to the origin, from
    `experiment.separability`: stops, whether Xu and Zhang's algorithm does, and n_wrong at the end of the second run."""
    rows = spans[(spans["dataset"] == five) & (spans["kernel"] == "poly")]
    return SimpleNamespace(stops=rows["converged"].tolist(), n_wrong=rows["errors"].iloc[-1])


def updates(mistakes, orders):
    """Mistakes and bounds of Xu and Zhang's update over the ordinary ones, from the experiments of these names.

    counts: rows of tables.with_orders; compared: rows of tables.updates_compared, of which fewest and most have the smallest
    and the largest ratio of mistakes (geometric mean over visiting orders, Student's t on logarithms, Holm's correction).
    """
    counts = tables.with_orders(mistakes, orders)
    compared = tables.updates_compared(counts, orders)
    by_ratio = compared.sort_values("mistakes")
    return SimpleNamespace(counts=counts, compared=compared, fewest=by_ratio.iloc[0], most=by_ratio.iloc[-1])


def counter_example():
    """Five points on a line, each a class: whether the linear perceptron stops, by who is demoted, from `experiment.cycles`;
    epochs until it stops, and the period with which its weights return."""
    line = np.array([[1], [-3], [-1], [0], [2]])
    found = experiment.cycles(line, np.arange(5)).set_index("demoted")
    return SimpleNamespace(line=line, ends=found["ends"].tolist(), epochs=found.epochs["winner"], period=found.period["all"])
