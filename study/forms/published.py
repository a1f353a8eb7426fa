"""The published comparison of forms on equal terms as texts quote it: all images of MNIST, the average predictor."""

from functools import cache

from study.forms import tables
from study.forms.experiment import equal, equal_settings


@cache
def results():
    """The tables and arrays of `experiment.equal`."""
    return equal(equal_settings("mnist"))


PRINTED = "Xu-Zhang, as printed"
"""Their algorithm with its thresholds, at the width of the variant without them."""


@cache
def errors():
    """{form: test error}, all without thresholds, and that of PRINTED."""
    rates = tables.equal_rates(results()["equal"])
    whole = rates.query("form == 'Xu-Zhang' and n == n.max() and predictor == 'average'")["error"].item()
    return tables.largest_terms(tables.three_forms(rates)).set_index("form")["average"].to_dict() | {PRINTED: whole}


def gap(form, other):
    """The difference of their test errors in one order: one of `tables.pairs`."""
    return tables.pairs(results()["arrays"][-1]["wrong"])[form, other, "average"]
