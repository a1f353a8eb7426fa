"""The order that is kept: new orders in each epoch or one that is repeated, of each class or shared by all.

Sources: Freund & Schapire 1999, Fig. 1, repeat one order in every epoch (of two classes: that all classes share it is our
reading); Hermans 2021 draws a new one for each class and epoch. scikit-learn#3960 (2014) asks which it should be.
K = (1 + x . y)^p on raw pixels, as in the chapter; an order has the seed of the chapter's, whose runs are "own, new".
`kept` compares the protocols, `kept_costs` measures what they take.
"""

import time
from dataclasses import dataclass
from itertools import groupby

import numpy as np
import pandas as pd
from tqdm import tqdm

from kp.shared import SharedTraining
from study.mnist.orders import CURVED
from study.predictors import PREDICTORS
from study.protocols.images import MEMORY_BUDGET, OWN_NEW, PROTOCOLS, examples, in_order, predictions, sizes
from study.protocols.settings import IMAGES, BaseSettings
from study.results.alone import alone
from study.results.experiment import experiment

NEW_HERE = [name for name in PROTOCOLS if name != OWN_NEW]
"""The protocols that are computed here; the orders of Hermans's are those of the chapter."""
N_ORDERS = 10
N_LINEAR = 3
LONG = (2, 4)
"""Degrees that are also run three times as long, under all protocols."""
N_LONG = 5
READ = (1, 2, 4, 10, 30)
"""Epochs after which errors are read."""


@dataclass(frozen=True, kw_only=True)
class Kept(BaseSettings):
    """One visiting order of these degrees under these protocols; the last epoch and those of READ are looked at."""

    dataset: str = "mnist"
    degrees: tuple[int, ...] = CURVED
    protocols: tuple[str, ...] = tuple(NEW_HERE)
    order: int = 0
    n_epochs: int = 10
    n_train: int | str = "all"

    KNOWN = {"protocols": PROTOCOLS}


def kept_settings(
    dataset="mnist", *, n_orders=N_ORDERS, n_linear=N_LINEAR, n_epochs=10, n_train="all", degrees=(1, *CURVED)
):
    """The parts of `kept`: at most N_ORDERS orders of those degrees that are above 1, N_LINEAR orders of degree 1 if it is
    among them, and, where all N_ORDERS and the degrees LONG are there, long runs in the first N_LONG."""
    options = {"dataset": dataset, "n_train": n_train}
    above = tuple(sorted({degree for degree in degrees if degree != 1}))
    orders = range(min(n_orders, N_ORDERS))
    curved = [Kept(degrees=above, order=r, n_epochs=n_epochs, **options) for r in orders]
    long = {"degrees": LONG, "protocols": tuple(PROTOCOLS), "n_epochs": 3 * n_epochs}
    curved += [
        Kept(order=r, **long, **options) for r in orders[:N_LONG] if len(orders) == N_ORDERS and set(LONG) <= set(above)
    ]
    linear = range(min(n_linear, N_LINEAR) if 1 in degrees else 0)
    return curved + [Kept(order=r, degrees=(1,), n_epochs=n_epochs, **options) for r in linear]


def _kind(part):
    return "linear" if part.degrees == (1,) else "long" if part.degrees == LONG else "curved"


@experiment(
    "mnist", published=kept_settings, arrays=lambda part: f"kept_{_kind(part)}_{part.order:02d}",
    data=lambda part: [part.dataset], together=True, sample=N_ORDERS + N_LONG,
)  # fmt: skip
def kept(parts, *, progress=False):
    """{kept, arrays} of each part: errors on the test images, and who errs after the last epoch.

    Table: protocol, epochs (of the run), degree, order, epoch, predictor, errors, n, and mistakes and support, those of all
    perceptrons by that epoch. Array wrong (protocols, D, 4, n_test) as bits: which test images the last predictors
    misclassify.
    """
    for part, models, data, training in _learnt(parts, progress):
        wrong = predictions(training, models, data.X_test) != data.class_indices_test
        counts = sizes(models)
        rows = []
        for m, (protocol, degree) in enumerate((p, d) for p in part.protocols for d in part.degrees):
            for epoch in sorted({*READ, part.n_epochs} & set(range(1, part.n_epochs + 1))):
                found = counts[:, m, epoch - 1]
                rows += [
                    (protocol, part.n_epochs, degree, part.order, epoch, name, wrong[m, p, epoch - 1].sum(), *found)
                    for p, name in enumerate(PREDICTORS)
                ]
        names = ["protocol", "epochs", "degree", "order", "epoch", "predictor", "errors", "mistakes", "support"]
        last = wrong[:, :, -1].reshape(len(part.protocols), len(part.degrees), len(PREDICTORS), -1)
        yield {
            "kept": pd.DataFrame(rows, columns=names).assign(n=wrong.shape[-1]),
            "arrays": {"wrong": np.packbits(last, axis=-1)},
        }


def model(degree, order, protocol, *, n_epochs):
    """The estimator of a degree and an order under one of PROTOCOLS, not yet fitted."""
    return in_order(degree, order, n_epochs=n_epochs).set_params(**PROTOCOLS[protocol])


def _learnt(parts, progress):
    """Yield (part, models, data, training), a model for each protocol and degree; all parts with the same training images
    share their inner products."""
    for _, group in groupby(parts, key=lambda part: (part.dataset, part.n_train)):
        same = list(group)
        data = examples(same[0].dataset)
        n = same[0].n_train
        training = SharedTraining(data.X[:n], data.y[:n], memory_budget=MEMORY_BUDGET, n_jobs=2)
        for part in tqdm(same, desc="orders that are kept", disable=not progress):
            models = [model(d, part.order, p, n_epochs=part.n_epochs) for p in part.protocols for d in part.degrees]
            yield part, training.fit(models, count_errors=True), data, training


@dataclass(frozen=True, kw_only=True)
class Cost(BaseSettings):
    """One fit of a degree and an order under one protocol, by itself."""

    dataset: str
    protocol: str
    degree: int
    order: int
    n_epochs: int = 10

    KNOWN = {"dataset": IMAGES, "protocol": PROTOCOLS}


COSTLY = {"mnist": (CURVED, 3), "digits": ((4,), 3)}
"""Degrees whose costs are measured, and in how many orders."""


def cost_settings(dataset="mnist"):
    """The parts of `kept_costs`: the protocols of an order one after the other."""
    degrees, count = COSTLY[dataset]
    return [
        Cost(dataset=dataset, protocol=protocol, degree=degree, order=order)
        for degree in degrees for order in range(count) for protocol in PROTOCOLS
    ]  # fmt: skip


@experiment(
    "mnist", published=cost_settings, measured=("kept_costs",), data=lambda part: [part.dataset]
)  # fmt: skip
def kept_costs(part, *, progress=False):
    """Costs of one fit, in a separate process: protocol, degree, order, support, fit and predict (seconds, of the final
    predictor on the test images), and peak (GiB)."""
    _, support, cost = alone(_timed, part, MEMORY_BUDGET)
    row = (part.protocol, part.degree, part.order, support, *cost)
    return pd.DataFrame([row], columns=["protocol", "degree", "order", "support", "fit", "predict", "peak"])


def _timed(part, memory_budget):
    """(None, support vectors, (fit, predict seconds)) of a part."""
    data = examples(part.dataset)
    own = model(part.degree, part.order, part.protocol, n_epochs=part.n_epochs)
    own.set_params(memory_budget=memory_budget, n_jobs=2)
    start = time.perf_counter()
    own.fit(data.X, data.y)
    middle = time.perf_counter()
    own.predict(data.X_test)
    return None, len(own.support_), (middle - start, time.perf_counter() - middle)
