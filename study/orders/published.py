"""The published study as texts quote it: the orders of MNIST, the choices made in them, and the errors of the choices."""

from functools import cache

from study import datasets
from study.orders import tables
from study.orders.experiment import CURVED, N_ORDERS, held_out, runs, settings

N_HELD = 10_000
"""Held-out images of the published study."""
KEYS = ["degree", "order", "epoch", "predictor"]


@cache
def counts():
    """The errors of all orders, of all degrees: the table of `experiment.runs`."""
    return runs(settings())["runs"]


@cache
def labels():
    """The digits of the test images (n,)."""
    return datasets.load("mnist").class_indices_test


@cache
def predictions():
    """Predictions of the orders of the degrees above 1: a list of (n, D, 4, E) as for `tables.wrong`."""
    return [arrays["predictions"] for arrays in runs(settings())["arrays"][:N_ORDERS]]


@cache
def wrong():
    """(R, D, 4, E, n): which test images are misclassified."""
    return tables.wrong(predictions(), labels())


@cache
def held():
    """Errors on held-out images of the degrees above 1: degree, order, epoch, predictor, held."""
    return held_out(settings(n_held=N_HELD)).query("degree in @CURVED")[[*KEYS, "held"]]


@cache
def chosen():
    """`tables.choices` of each order, by the held-out images."""
    return tables.choices(held(), counts().query("degree in @CURVED")[[*KEYS, "errors"]], ["order"])


@cache
def honest():
    """`tables.honest_errors`, by the set of candidates."""
    return tables.honest_errors(wrong(), CURVED, chosen(), held()).set_index("among")


def against(other):
    """By how much the honest error of the average predictor exceeds another learner's, which errs at other (n,) bool: a
    Difference over orders and images."""
    own = tables.chosen_by(tables.CONTROL, chosen(), held(), CURVED)
    return tables.honest(wrong(), CURVED, own, other=other)
