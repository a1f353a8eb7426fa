"""Small tables of the answers: the effect of the 1 in the kernel, by scaling, and when to stop."""

import numpy as np
import pandas as pd

from study import statistics
from study.predictors import PREDICTORS
from study.questions.experiment import CONSTANTS, SCALERS


def without_the_one(rows):
    """Price of leaving out the 1, a row for each set, scaling and degree.

    rows as in `experiment.kernels`. Columns dataset, scaling, degree, without and with (error rates), then the difference
    without - with: estimate, low, high and p (corrected resampled t over the folds of all repeats, Holm over all rows).
    """
    keys = ["dataset", "scaling", "degree"]
    rates = rows.assign(rate=rows["errors"] / rows["n"])
    folds = rates.pivot(index=[*keys, "repeat", "fold"], columns="constant", values="rate")
    share = 1 / rows["fold"].max()  # of a fold to the other folds
    tests = {
        key: statistics.resampled(own[CONSTANTS[0]] - own[CONSTANTS[1]], test_share=share)
        for key, own in folds.groupby(level=keys, sort=False)
    }
    means = folds.groupby(level=keys, sort=False).mean()
    found = [(*key, *means.loc[key], t.estimate, t.low, t.high, t.p) for key, t in statistics.holm(tests).items()]
    table = pd.DataFrame(found, columns=[*keys, "without", "with", "estimate", "low", "high", "p"])
    places = {name: place for place, name in enumerate([*rows["dataset"].unique(), *SCALERS])}
    return table.sort_values(keys, key=lambda values: values.replace(places), ignore_index=True)


def means_over_sets(table):
    """The means of `without_the_one` over the sets: scaling, degree, without, with, estimate."""
    return table.groupby(["scaling", "degree"], sort=False, as_index=False)[["without", "with", "estimate"]].mean()


RULES = ("one epoch", "first epoch without gain", "fewest held-out errors", "all epochs")


def stopping_rules(held, wrong, degrees, predictor):
    """When to stop, judged on test images that the rule does not see; a row for each rule and degree.

    held: degree, order, epoch, predictor, held (errors on held-out images); wrong (R, D, 4, E, n) bool. Columns rule,
    degree, epochs (the mean number that are run), error, then the error less that of all epochs: estimate, low, high, p
    (crossed random effects, uncorrected). "first epoch without gain" runs until the held-out errors are not fewer than
    one epoch earlier, and keeps the epoch before.
    """
    place = PREDICTORS.index(predictor)
    rows = []
    for d, degree in enumerate(degrees):
        own = held[(held["degree"] == degree) & (held["predictor"] == predictor)]
        errors = own.pivot(index="order", columns="epoch", values="held").to_numpy()
        whole = wrong[:, d, place, -1].astype(float)
        for rule in RULES:
            run, kept = np.transpose([_stop(rule, each) for each in errors])
            mine = np.stack([wrong[r, d, place, epoch - 1] for r, epoch in enumerate(kept)]).astype(float)
            row = {"rule": rule, "degree": degree, "epochs": run.mean(), "error": mine.mean()}
            if (mine != whole).any():
                test = statistics.crossed(mine - whole)
                row |= {"estimate": test.estimate, "low": test.low, "high": test.high, "p": test.p}
            rows.append(row)
    return pd.DataFrame(rows)


def _stop(rule, errors):
    """(epochs that are run, epoch that is kept) by a rule, of held-out errors (E,)."""
    last = len(errors)
    if rule == "one epoch":
        return 1, 1
    if rule == "first epoch without gain":
        idle = np.flatnonzero(np.diff(errors) >= 0)
        return (idle[0] + 2, idle[0] + 1) if len(idle) else (last, last)
    if rule == "fewest held-out errors":
        return last, int(errors.argmin()) + 1
    return last, last
