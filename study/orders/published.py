"""The published study as texts quote it: the orders of MNIST, the choices made in them, and the errors of the choices."""

from functools import cache
from types import SimpleNamespace

import numpy as np

from kp.mistakes import PREDICTORS
from study import RESULTS, datasets, statistics
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
def averaging():
    """The gain by averaging, by `final_or_average`.

    soon: after one epoch at degrees 2 to 6 (a list). After ten epochs: two, three and six, the rows of these degrees, and
    late, the estimates at degrees 4 to 6 (a list). as_said: whether all are detected but the one at degree 6 after ten
    epochs, and each is more than half a point after one epoch and falls with the degree after ten.
    """
    gaps = final_or_average()
    ten = gaps[gaps["epoch"] == 10].set_index("degree")
    soon = gaps[gaps["epoch"] == 1]
    detected = list(ten.index[ten["verdict"] == tables.HIGHER]) == [2, 3, 4, 5] and (soon["verdict"] == tables.HIGHER).all()
    return SimpleNamespace(
        soon=soon["estimate"].tolist(), two=ten.loc[2], three=ten.loc[3], six=ten.loc[6],
        late=ten.loc[4:, "estimate"].tolist(),
        as_said=detected and soon["estimate"].min() > 0.005 and ten["estimate"].is_monotonic_decreasing,
    )  # fmt: skip


@cache
def after_one_epoch():
    """(R, n) float: which test images the average predictor of degree 3 misclassifies after one epoch."""
    return wrong()[:, CURVED.index(3), PREDICTORS.index(tables.CONTROL), 0].astype(float)


@cache
def one_epoch():
    """By how much the average predictor of degree 3 has more errors after one epoch than after ten: a Difference over orders
    and images."""
    return statistics.crossed(after_one_epoch() - wrong()[:, CURVED.index(3), PREDICTORS.index(tables.CONTROL), -1])


@cache
def eight_epochs():
    """Whether eight epochs are shown to be as good as ten (within tables.ROPE) at degrees 3 and 4, and one to be worse."""
    return settled()[[3, 4]].tolist() == [7, 8] and one_epoch().low > 0


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
