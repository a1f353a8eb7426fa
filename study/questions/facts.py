"""Quantities that the answers quote: MNIST at degree 3, average predictor, ten epochs, unless a docstring says otherwise."""

from functools import cache
from types import SimpleNamespace

import numpy as np

from study import claims, datasets
from study.budgets import experiment as budgets
from study.budgets import facts as of_budgets
from study.coursework import facts as coursework
from study.coursework.experiment import ONE_VS_ALL, ONE_VS_ONE
from study.doubt.facts import published as doubt
from study.lower.facts import FEATURES
from study.lower.facts import published as lower
from study.mnist.facts import published as orders
from study.mnist.orders import CURVED
from study.mnist.over_orders import UNTOLD
from study.questions import experiment, tables
from study.words import listed


@cache
def constant(degrees=experiment.DEGREES):
    """`tables.without_the_one` of the published sets."""
    return tables.without_the_one(experiment.kernels(experiment.settings(degrees=degrees)))


def the_one(degrees=experiment.DEGREES):
    """How much the error rises without the 1 in the kernel, on seven small sets in cross-validation. even and odd: on
    standardized attributes at the even ones of these degrees and at the odd ones above 1, means over the sets; odd_named,
    the latter in words; least: of a single set at one of all these; unit: min and max over the sets on attributes in [0, 1]
    at degree 3. raw, in_unit and standard: the mean errors with the 1 at degree 3."""
    named = {rest: sorted({degree for degree in degrees if degree % 2 == rest and degree > 1}) for rest in (0, 1)}
    if not all(named.values()):
        raise ValueError(f"degrees must have an even one and an odd one above 1, got {', '.join(map(str, degrees))}")
    table = constant(degrees)
    own = table[table["scaling"] == experiment.STANDARD].set_index("degree")["estimate"]
    stored = constant(experiment.DEGREES)
    unit = stored.query("scaling == @experiment.UNIT and degree == 3")["estimate"].agg(["min", "max"])
    means = tables.means_over_sets(stored).query("degree == 3").set_index("scaling")["with"]
    return SimpleNamespace(
        even=own.loc[named[0]].mean(), odd=own.loc[named[1]].mean(), least=own[own.index > 1].min(), unit=unit,
        odd_named=f"degree{'s' if named[1][1:] else ''} {listed(named[1])}",
        raw=means[experiment.RAW], in_unit=means[experiment.UNIT], standard=means[experiment.STANDARD],
    )  # fmt: skip


def stopping():
    """`tables.stopping_rules`: early, the row of the rule that stops at the first epoch without a gain, at degree 3;
    least, the least difference of a rule and a degree from all epochs."""
    found = tables.stopping_rules(orders.held, orders.wrong, CURVED, "average").set_index(["rule", "degree"])
    return SimpleNamespace(early=found.loc["first epoch without gain", 3], least=found["estimate"].min())


def log():
    """Means over the orders of the support vectors and the mistakes of a run."""
    own = orders.runs.query("predictor == 'average' and degree == 3 and epoch == 10")
    return own[["support", "mistakes"]].mean()


def inner_product():
    """The median inner product of two of the first thousand images, raw pixels."""
    images = datasets.load("mnist").X[:1000].astype(float)
    return np.median(images @ images.T)


def features():
    """Ten thousand Nystroem features and a linear SVM: difference, our error above theirs, over orders and images;
    slower, how many times our training time they need (median, low, high over three days)."""
    return SimpleNamespace(difference=orders.against(FEATURES), slower=lower.slower.loc[FEATURES])


def one_order():
    """One order for all classes that is kept in all epochs, against new orders for each class: error, the difference of
    the mean error over degrees 2 to 6, over orders and images; told, whether any difference is detected; fewer, by which
    share it has fewer support vectors, by degree; memory, GiB of a fit at degree 2 with it."""
    kept = orders.kept
    return SimpleNamespace(
        error=kept.whole, told=(kept.errors["verdict"] != UNTOLD).any(), fewer=kept.share["shared, kept"],
        memory=kept.memory.loc[2, "shared, kept"],
    )  # fmt: skip


def files():
    """The verdicts on the counts in Hermans's files."""
    return claims.stored()[0].query("kind == 'files'")["verdict"]


def assignment():
    """`study.coursework.facts` of twenty random splits of scikit-learn's digits, for each scheme."""
    return SimpleNamespace(
        one_vs_all=coursework.published("digits", ONE_VS_ALL), one_vs_one=coursework.published("digits", ONE_VS_ONE)
    )


def calibration():
    """Errors of stated chances on the test images: logistic, of a logistic curve of the margin; softmax, at a fitted
    temperature; constant, of the same chance for all."""
    off = doubt.calibration_errors
    return SimpleNamespace(logistic=off["calibrated margin"], softmax=off["softmax"], constant=off["constant"])


def budget():
    """`study.budgets.facts.budget` of the published runs."""
    return of_budgets.budget(budgets.PUBLISHED)


@cache
def gathered(degrees=experiment.DEGREES):
    """All of them, each by the name of its function; degrees are those of `the_one`."""
    every = (assignment, budget, calibration, features, files, inner_product, log, one_order, stopping)
    return SimpleNamespace(**{each.__name__: each() for each in every}, the_one=the_one(degrees))
