"""The published comparison on eleven sets as texts quote it."""

from functools import cache

from study.comparison import tables
from study.comparison.experiment import FULL, compare


@cache
def rates():
    """Error rates by set (rows) and method, of what validation chose."""
    return tables.by_method(tables.chosen_rates(compare(FULL)["errors"]))


@cache
def svm():
    """{(form, thresholds): Difference} from the support vector machine, over the sets."""
    found = tables.over_sets(rates(), tables.reference_pairs())
    return {name: each for name, each in found.items() if name[0] in tables.KERNEL_PERCEPTRONS}


@cache
def forms():
    """{(form, thresholds): Difference} from one perceptron for each class, over the sets."""
    return tables.over_sets(rates(), tables.form_pairs())
