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
    """{form: test error}, Xu and Zhang's form under the names tables.WITHOUT and tables.PRINTED."""
    rows = tables.in_words(tables.largest_terms(tables.equal_rates(results()["equal"])))
    return rows.set_index("form")["average"].to_dict()


def gap(form, other):
    """The difference of their test errors in one order: one of `tables.pairs`."""
    return tables.pairs(results()["arrays"][-1]["wrong"])[form, other, "average"]
