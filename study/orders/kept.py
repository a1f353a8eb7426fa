"""The order that is kept: new orders in each epoch or one that is repeated, of each class or shared by all.

Sources: Freund & Schapire 1999, Fig. 1, visit the examples in one order for all classes and repeat it in every epoch, and so
does Herbster's course; Hermans 2021 draws a new one for each class and epoch. scikit-learn#3960 (2014) asks which it should
be. K = (1 + x . y)^p on raw pixels, as in the chapter; an order has the seed of the chapter's, whose runs are "own, new".

`kept` compares the protocols, `kept_costs` measures what they take. `layout_1999` is the layout of Freund & Schapire's table
for their protocol, after T epochs: every mistake changes one of ten prediction vectors v, which lives for c steps,

    vote       sum_m c_m sgn(v_m . x)         average    sum_m c_m v_m . x         last    v_M . x
    random     v_m at a step of all, each step as likely, the same one for all ten classes: its expected errors

and all but the vote also with v / |v| for v. The largest of the ten sums wins. Norms come from the log of mistakes,
|v + z x|^2 = |v|^2 + 2 z v . x + k(x, x).

Symbols: S support vectors, c points, E numbers of epochs T; scores are (E, classes, c).
"""

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import groupby

import numpy as np
import pandas as pd
from tqdm import tqdm

from kp import kernels
from kp.compiled import compiled
from kp.gram import CrossGram, Points, Products
from kp.mistakes import PREDICTORS
from kp.output_codes import SharedTraining
from study.protocols.images import OWN_NEW, PROTOCOLS, SHARED_KEPT, examples, in_order, predictions, require_examples, sizes
from study.protocols.settings import require_integers
from study.results.alone import alone
from study.results.experiment import experiment

NEW_HERE = [name for name in PROTOCOLS if name != OWN_NEW]
"""The protocols that are computed here; the orders of Hermans's are those of the chapter."""
CURVED = (2, 3, 4, 5, 6)
N_ORDERS = 10
N_LINEAR = 3
LONG = (2, 4)
"""Degrees that are also run three times as long, under all protocols."""
N_LONG = 5
READ = (1, 2, 4, 10, 30)
"""Epochs after which errors are read."""
MEMORY_BUDGET = 6 * 2**30
"""Bytes for rows of inner products."""


@dataclass(frozen=True, kw_only=True)
class Kept:
    """One visiting order of these degrees under these protocols; the last epoch and those of READ are looked at."""

    dataset: str = "mnist"
    degrees: tuple[int, ...] = CURVED
    protocols: tuple[str, ...] = tuple(NEW_HERE)
    order: int = 0
    n_epochs: int = 10
    n_train: int | str = "all"

    def __post_init__(self):
        require_examples(self)
        object.__setattr__(self, "degrees", tuple(self.degrees))
        object.__setattr__(self, "protocols", tuple(self.protocols))
        if not self.protocols or set(self.protocols) - set(PROTOCOLS):
            raise ValueError(f"protocols must be some of {'; '.join(PROTOCOLS)}, got {self.protocols}")
        require_integers(self, order=(0, 10**6), n_epochs=(1, 1000), degrees=(1, 40))


def kept_settings(dataset="mnist", *, n_orders=N_ORDERS, n_linear=N_LINEAR, n_epochs=10, n_train="all"):
    """The parts of `kept`: at most N_ORDERS orders of the degrees above 1, N_LINEAR orders of degree 1, and, where all
    N_ORDERS are there, long runs in the first N_LONG."""
    options = {"dataset": dataset, "n_train": n_train}
    orders = range(min(n_orders, N_ORDERS))
    curved = [Kept(order=r, n_epochs=n_epochs, **options) for r in orders]
    long = {"degrees": LONG, "protocols": tuple(PROTOCOLS), "n_epochs": 3 * n_epochs}
    curved += [Kept(order=r, **long, **options) for r in orders[:N_LONG] if len(orders) == N_ORDERS]
    return curved + [Kept(order=r, degrees=(1,), n_epochs=n_epochs, **options) for r in range(min(n_linear, N_LINEAR))]


def _kind(part):
    return "linear" if part.degrees == (1,) else "long" if part.degrees == LONG else "curved"


@experiment(
    "orders", published=kept_settings, arrays=lambda part: f"kept_{_kind(part)}_{part.order:02d}",
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


def _learnt(parts, progress, *, count_errors=True):
    """Yield (part, models, data, training), a model for each protocol and degree; all parts with the same training images
    share their inner products."""
    for _, group in groupby(parts, key=lambda part: (part.dataset, part.n_train)):
        same = list(group)
        data = examples(same[0].dataset)
        n = same[0].n_train
        training = SharedTraining(data.X[:n], data.y[:n], memory_budget=MEMORY_BUDGET, n_jobs=2)
        for part in tqdm(same, desc="orders that are kept", disable=not progress):
            models = [model(d, part.order, p, n_epochs=part.n_epochs) for p in part.protocols for d in part.degrees]
            yield part, training.fit(models, count_errors=count_errors), data, training


@dataclass(frozen=True, kw_only=True)
class Cost:
    """One fit of a degree and an order under one protocol, by itself."""

    dataset: str
    protocol: str
    degree: int
    order: int
    n_epochs: int = 10


COSTLY = {"mnist": ((2, 3, 4, 5, 6), 3), "digits": ((4,), 3)}
"""Degrees whose costs are measured, and in how many orders."""


def cost_settings(dataset="mnist"):
    """The parts of `kept_costs`: the protocols of an order one after the other."""
    degrees, count = COSTLY[dataset]
    return [
        Cost(dataset=dataset, protocol=protocol, degree=degree, order=order)
        for degree in degrees for order in range(count) for protocol in PROTOCOLS
    ]  # fmt: skip


@experiment(
    "orders", published=cost_settings, measured=("kept_costs",), data=lambda part: [part.dataset]
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


EPOCHS_1999 = (0.1, 1, 2, 3, 4, 10, 30)
"""The numbers of epochs T of the table of 1999."""
N_LAYOUT = 1
METHODS = ("vote", "average", "average, normalised", "last", "last, normalised", "random", "random, normalised")
"""The rows of the table for each degree, in its order."""
BLOCK = 1000
"""Test images whose kernel values are made together."""


@dataclass(frozen=True, kw_only=True)
class Layout:
    """One shared order of one degree, kept for the last of EPOCHS_1999."""

    dataset: str = "mnist"
    degree: int = 4
    order: int = 0
    n_train: int | str = "all"

    def __post_init__(self):
        require_examples(self)
        require_integers(self, order=(0, 10**6), degree=(1, 40))


def layout_settings(dataset="mnist", *, n_orders=N_LAYOUT, n_train="all"):
    """The parts of `layout_1999`: at most N_LAYOUT orders of each degree."""
    orders = range(min(n_orders, N_LAYOUT))
    return [Layout(dataset=dataset, degree=d, order=r, n_train=n_train) for r in orders for d in (*CURVED, 1)]


@experiment(
    "orders", published=layout_settings, data=lambda part: [part.dataset], together=True, sample=2
)  # fmt: skip
def layout_1999(parts, *, progress=False):
    """The numbers of the table of 1999: degree, order, epochs, method, errors (expected ones where a vector is drawn), n,
    and mistakes and support, those of all ten perceptrons by then."""
    both = [Kept(dataset=part.dataset, degrees=(part.degree,), protocols=(SHARED_KEPT,), order=part.order,
                 n_epochs=int(EPOCHS_1999[-1]), n_train=part.n_train) for part in parts]  # fmt: skip
    for part, (own,), data, _ in _learnt(both, progress, count_errors=False):
        X = data.X[: part.n_train]
        logs = [replace(log, ends=np.array([round(t * len(X)) for t in EPOCHS_1999])) for log in own.mistakes_]
        kernel = kernels.polynomial(part.degrees[0])
        norms = [norms_of(log, kernel, X) for log in logs]
        blocks = [slice(start, start + BLOCK) for start in range(0, len(data.X_test), BLOCK)]
        with ThreadPoolExecutor(2) as pool:
            jobs = [pool.submit(errors_1999, logs, norms, kernel, X, data, block) for block in blocks]
            counts = sum(job.result() for job in jobs)
        rows = []
        for t, epochs in enumerate(EPOCHS_1999):
            seen = np.concatenate([log.example[: log.length(t + 1)] for log in logs])
            for method, errors in zip(METHODS, counts[t], strict=True):
                rows.append((*part.degrees, part.order, epochs, method, errors, len(seen), len(np.unique(seen))))
        names = ["degree", "order", "epochs", "method", "errors", "mistakes", "support"]
        yield pd.DataFrame(rows, columns=names).assign(n=len(data.X_test))


def norms_of(log, kernel, X):
    """|v|^2 (M + 1,) of the prediction vectors of one log of mistakes on X (n, d), the first being 0."""
    examples, place = np.unique(log.example, return_inverse=True)
    points = Points(X[examples])
    K = CrossGram(Products(points, points, threads=2)).values(kernel, np.arange(len(examples)))
    return _norms(K, place, log.sign.astype(np.float64))


@compiled
def _norms(K, place, sign):
    """|v|^2 after each mistake, on examples `place` of those of K (S, S), with labels sign +-1."""
    f = np.zeros(len(K))
    found = np.zeros(len(place) + 1)
    for m in range(len(place)):
        i = place[m]
        found[m + 1] = found[m] + 2 * sign[m] * f[i] + K[i, i]
        for j in range(len(f)):
            f[j] += sign[m] * K[i, j]
    return found


def errors_1999(logs, norms, kernel, X, data, block):
    """(E, methods) errors on a block of the test images at the ends of the epochs of the logs on X, one for each class (or
    one for two) and all of one visiting order; norms as in `norms_of`."""
    if len(logs) == 1:  # positive for the second class; what it sees for the first has all signs turned
        logs = [replace(logs[0], sign=-logs[0].sign), *logs]
        norms = [*norms, *norms]
    y_new = data.class_indices_test[block]
    examples = np.unique(np.concatenate([log.example for log in logs]))
    columns = CrossGram(Products(Points(X[examples]), Points(data.X_test[block])))
    K = columns.values(kernel, np.arange(len(examples)))
    which = np.repeat(np.arange(len(logs)), [len(log) for log in logs])
    step = np.concatenate([log.step for log in logs])
    by_step = np.lexsort((which, step))
    joined = [
        np.searchsorted(examples, np.concatenate([log.example for log in logs])), which, step,
        np.concatenate([log.sign for log in logs]).astype(np.float64), np.sqrt(np.concatenate([each[1:] for each in norms])),
    ]  # fmt: skip
    ends = logs[0].ends
    f = np.empty((5, len(ends), len(logs), len(y_new)))
    drawn = np.zeros((len(ends), 2), dtype=np.int64)
    _walk(K, *(column[by_step] for column in joined), ends, y_new.astype(np.int64), f, drawn)
    counts = [(scores.argmax(axis=1) != y_new).sum(axis=-1) for scores in f]
    return np.stack([*counts, *(drawn / ends[:, None]).T], axis=1)


@compiled
def _walk(K, row, which, step, sign, norm, ends, y, out, drawn):
    """Walk along the mistakes of all classes in the order of their steps.

    K (S, c) kernel values of the examples. Each mistake: row of K, class, step, sign, and the norm of the vector after it.
    out (5, E, C, c): scores by vote, average, average of unit vectors, last, last unit vector. drawn (E, 2): how many steps
    found a point misclassified, summed over the points, by the vectors of the step, and by unit vectors.
    """
    c = K.shape[1]
    n_classes = out.shape[2]
    f = np.zeros((n_classes, c))
    sums = np.zeros((3, n_classes, c))
    length = np.ones(n_classes)
    since = np.zeros(n_classes, dtype=np.int64)
    wrong = np.ones((2, c), dtype=np.int64)
    steps = np.zeros(2, dtype=np.int64)
    joint = 0
    m = 0
    for e in range(len(ends)):
        while m < len(row) and step[m] < ends[e]:
            now = step[m]
            for i in range(2):
                steps[i] += (now - joint) * wrong[i].sum()
            joint = now
            while m < len(row) and step[m] == now:
                a = which[m]
                _add_steps(f[a], length[a], now - since[a], sums[:, a])
                since[a] = now
                length[a] = norm[m]
                for j in range(c):
                    f[a, j] += sign[m] * K[row[m], j]
                m += 1
            _judge(f, length, y, wrong)
        for i in range(2):
            steps[i] += (ends[e] - joint) * wrong[i].sum()
            drawn[e, i] = steps[i]
        joint = ends[e]
        for a in range(n_classes):
            _add_steps(f[a], length[a], ends[e] - since[a], sums[:, a])
            since[a] = ends[e]
            for j in range(c):  # whole rows would take seconds to compile
                for i in range(3):
                    out[i, e, a, j] = sums[i, a, j]
                out[3, e, a, j] = f[a, j]
                out[4, e, a, j] = f[a, j] / length[a]


@compiled
def _add_steps(f, length, steps, sums):
    """Add scores f (c,) of a vector that lived for so many steps to sums (3, c): votes, scores, scores of unit length."""
    for j in range(len(f)):
        sums[0, j] += steps * np.sign(f[j])
        sums[1, j] += steps * f[j]
        sums[2, j] += steps * (f[j] / length)


@compiled
def _judge(f, length, y, wrong):
    """wrong (2, c): whether the highest score, ties going to the first, is not of class y (c,); plain, normalised."""
    for j in range(len(y)):
        best = 0
        unit = 0
        for a in range(1, len(f)):
            if f[a, j] > f[best, j]:
                best = a
            if f[a, j] / length[a] > f[unit, j] / length[unit]:
                unit = a
        wrong[0, j] = best != y[j]
        wrong[1, j] = unit != y[j]
