"""The published study as texts quote it: the orders of MNIST, the choices made in them, and the errors of the choices."""

from functools import cache

import numpy as np

from study import RESULTS, datasets
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


@cache
def final_or_average():
    """`tables.of_final`: the error of the final predictor less that of the average one, after one epoch and after ten."""
    return tables.of_final(tables.among_predictors(wrong(), CURVED, [1, 10]))


@cache
def against_degree(degree):
    """`tables.differences_to` one degree, of the average predictor after ten epochs; a row for each other degree."""
    return tables.differences_to(tables.among_degrees(wrong(), CURVED, tables.CONTROL), degree).set_index("degree")


@cache
def reach():
    """How far another visiting order and other test images move the error of the average predictor: two standard deviations
    (fractions), by the source of variation."""
    return 2 * tables.components(wrong()).set_index("predictor").loc[tables.CONTROL]


@cache
def settled():
    """By degree the epochs after which the average predictor is as good as after ten."""
    return tables.settled_by_degree(wrong(), CURVED).set_index("predictor").loc[tables.CONTROL]


@cache
def missed(learner):
    """(n,) bool: which test images another learner misclassifies, one of the chapter on lower errors: "RBF SVM", say."""
    with np.load(RESULTS / f"references_{learner.replace(',', '').replace(' ', '_')}.npz") as file:
        return file["predictions"][0] != labels()


def against(learner):
    """By how much the honest error of the average predictor exceeds that of another learner: a Difference over orders and
    images."""
    own = tables.chosen_by(tables.CONTROL, chosen(), held(), CURVED)
    return tables.honest(wrong(), CURVED, own, other=missed(learner))
