"""Predictors of the MNIST runs against each other on the same test images.

wrong (degrees, 4, E, n) says of each predictor and test image whether it is misclassified, the axes in the order of degrees,
PREDICTORS and epochs.
"""

from itertools import product

import numpy as np
import pandas as pd

from kp.mistakes import PREDICTORS
from study import statistics


def ordered(multiclass, split="test"):
    """The rows of the stored table of one split, those with the fewest errors first; ties go to the lowest degree and the
    earliest epoch."""
    return multiclass[multiclass["split"] == split].sort_values(["errors", "degree", "epoch"], kind="stable")


def against_average(wrong, degrees, epochs):
    """The other predictors against the average one of the same degree and epoch: McNemar's tests, Holm over all rows.

    Columns epoch, degree, predictor, errors, average (its errors), and those of study.statistics.table. A difference below 0
    is in favour of the other predictor.
    """
    others = [name for name in PREDICTORS if name != "average"]
    keys = list(product(epochs, degrees, others))
    return _paired(
        keys, lambda e, d, name: (_of(wrong, degrees, d, name, e), _of(wrong, degrees, d, "average", e)), "average"
    )


def against_best(wrong, degrees, best, epoch):
    """Every degree and predictor after an epoch against `best` (degree, predictor, epoch), a row of `ordered`; as above."""
    chosen = (best["degree"], best["predictor"], best["epoch"])
    keys = [(epoch, d, name) for d, name in product(degrees, PREDICTORS) if (d, name, epoch) != chosen]
    other = _of(wrong, degrees, *chosen)
    return _paired(keys, lambda e, d, name: (_of(wrong, degrees, d, name, e), other), "best")


def _of(wrong, degrees, degree, predictor, epoch):
    return wrong[list(degrees).index(degree), PREDICTORS.index(predictor), epoch - 1]


def _paired(keys, pair, name):
    both = {key: pair(*key) for key in keys}
    tests = statistics.table(statistics.holm({key: statistics.mcnemar(*each) for key, each in both.items()}))
    head = pd.DataFrame(keys, columns=["epoch", "degree", "predictor"])
    head["errors"], head[name] = (np.array([each[side].sum() for each in both.values()]) for side in (0, 1))
    return pd.concat([head, tests.drop(columns="comparison")], axis=1)
