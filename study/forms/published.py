"""The published comparison of forms on equal terms as texts quote it: all images of MNIST, the average predictor."""

from functools import cache

from study.forms import tables
from study.forms.experiment import equal, equal_settings


@cache
def results():
    """The tables and arrays of `experiment.equal`."""
    return equal(equal_settings("mnist"))


@cache
def errors():
    """{form: test error}, of Xu and Zhang's form without threshold."""
    levels = tables.three_forms(tables.equal_rates(results()["equal"]))
    return tables.largest_terms(levels).set_index("form")["average"]


def gap(form, other):
    """The difference of their test errors in one order: one of `tables.pairs`."""
    return tables.pairs(results()["arrays"][-1]["wrong"])[form, other, "average"]
