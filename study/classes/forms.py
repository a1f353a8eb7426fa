"""Three forms of a multiclass kernel perceptron on the same images: one-vs-all, ordinary, and Xu and Zhang's, up to scale.

Sources: Hermans 2021 (one-vs-all); Duda, Hart & Stork 2001 (ordinary); Xu & Zhang 2005, eqs 10 and 11.

The kernel of each form is chosen on images that no training here has seen; test images are looked at once, with that kernel,
for growing numbers of training images. Up to SQUARED examples Xu and Zhang's form learns in the squared Gram matrix; beyond,
it updates its coefficients. There, training errors (which the minimizing predictor needs) and votes would need the rows of
K^2, so these two predictors are left out.

Symbols: n training examples, S support examples, C classes, E epochs.
"""

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pandas as pd
from sklearn.base import clone
from tqdm import tqdm

from kp import MulticlassKernelPerceptron, MulticlassLog, OneVsAllKernelPerceptron, kernels
from kp.gram import CrossGram, Points, Products
from kp.joint import Coefficients
from kp.perceptron import visiting_orders
from study import datasets
from study.parameters import require_one_of
from study.predictors import PREDICTORS
from study.protocols.settings import IMAGES, BaseSettings, n_examples, require_integers
from study.results.experiment import experiment

FORMS = ("one-vs-all", "ordinary", "Xu-Zhang", "Xu-Zhang, no threshold")
SQUARED = 12_000
"""The most examples for which K^2 is held: 2.3 GB with K."""
VOTING = 4_000
"""The most examples for which votes of Xu and Zhang's form are counted."""
MEMORY = 5 * 2**30
THREADS = 2
SEED = 0


@dataclass(frozen=True, kw_only=True)
class Images(BaseSettings):
    """Base of the settings here: the first n images of the training part of "mnist" or "digits" train."""

    n: int

    KNOWN = {"dataset": IMAGES}
    BOUNDS = {"epochs": (1, 1000), "read": (1, 1000), "n_orders": (1, None)}

    def __post_init__(self):
        super().__post_init__()
        most = n_examples(self.dataset)
        require_integers(self, n=(10, most))
        if hasattr(self, "n_validate"):
            require_integers(self, n_validate=(1, most - self.n))


@dataclass(frozen=True, kw_only=True)
class ChoiceSettings(Images):
    """The choice of a form's kernel: RBF widths and degrees of (1 + x . y)^degree to choose from.

    n examples train; n_validate others validate, the last ones of the training part.
    """

    dataset: str
    form: str
    widths: tuple[float, ...]
    degrees: tuple[int, ...]
    n_validate: int

    KNOWN = Images.KNOWN | {"form": FORMS}


@dataclass(frozen=True, kw_only=True)
class Settings(Images):
    """One form, trained for so many epochs with the kernel that `choice` finds best."""

    choice: ChoiceSettings
    epochs: int

    @property
    def dataset(self):
        return self.choice.dataset


KERNELS = {
    "mnist": {"widths": (300.0, 500.0, 700.0, 1000.0, 1400.0), "degrees": (2, 4, 6), "n": 4000, "n_validate": 4000},
    "digits": {"widths": (8.0, 16.0, 24.0), "degrees": (2, 4), "n": 400, "n_validate": 400},
}
"""Settings of the choice of kernels: candidates and numbers of examples."""

EPOCHS = {
    "mnist": {1000: 10, 2000: 10, 4000: 10, 10_000: 10, 60_000: 4},
    "digits": {200: 10, 400: 10, 800: 10},
}
"""{n: epochs}: the numbers of training examples, in ascending order."""


def choice_settings(dataset):
    """The settings of `choice` for "mnist" or "digits": one for each form. Raises ValueError for other datasets."""
    require_one_of("dataset", dataset, IMAGES)
    return [ChoiceSettings(dataset=dataset, form=form, **KERNELS[dataset]) for form in FORMS]


def growth_settings(dataset):
    """The settings of `growth`: every form at every n, except Xu and Zhang's without threshold beyond SQUARED examples."""
    choices = choice_settings(dataset)
    return [
        Settings(choice=choice, n=n, epochs=epochs)
        for n, epochs in EPOCHS[dataset].items()
        for choice in choices
        if n <= SQUARED or choice.form != "Xu-Zhang, no threshold"
    ]


def kernel_of(kind, parameter):
    """The kernel "rbf" of this width, or "poly" (1 + x . y)^degree."""
    return kernels.gaussian(sigma=parameter) if kind == "rbf" else kernels.polynomial(int(parameter))


def estimator(form, kind, parameter, n_epochs, *, count_errors=True, random_state=SEED):
    """The estimator of a form with the kernel "rbf" of this width, or "poly" of this degree."""
    options = {"max_iter": n_epochs, "count_errors": count_errors, "random_state": random_state}
    options |= {"gamma": 1 / (2 * parameter**2)} if kind == "rbf" else {"degree": int(parameter), "gamma": 1}
    options |= {"memory_budget": MEMORY, "n_jobs": THREADS}
    if form == "one-vs-all":
        return OneVsAllKernelPerceptron(kind, **options)
    update = "ordinary" if form == "ordinary" else "xu-zhang"
    options |= {"update": update, "threshold": form == "Xu-Zhang", "predictor": "final"}
    return MulticlassKernelPerceptron(kind, **options)


def at_once(step, compute):
    """The checkpoint that keeps nothing."""
    return compute()


def trained(form, kind, parameter, X, y, n_epochs, *, checkpoint=at_once, progress=False):
    """(fitted estimator, seconds) of one form on X (n, d), y (n,) indices of classes."""
    model = estimator(form, kind, parameter, n_epochs)
    if form in PAIR and len(y) > SQUARED:  # an epoch takes minutes: each is kept when it is done, which `fit` does not do
        options = {"checkpoint": checkpoint, "progress": progress}
        logs, seconds = side_by_side((form,), kernel_of(kind, parameter), X, y, n_epochs, **options)
        return model.with_mistakes(X, y, logs[form]), seconds
    started = time.perf_counter()
    return model.fit(X, y), time.perf_counter() - started


def mistakes_by(model, epoch):
    """The number of mistakes by the end of an epoch."""
    return sum(log.n_mistakes(epoch) for log in model.mistakes_)


def split(dataset):
    """(X, y, X_test, y_test) with y as indices of classes."""
    data = datasets.load(dataset)
    return data.X, data.class_indices, data.X_test, data.class_indices_test


def measure(form, kind, parameter, X, y, X_test, y_test, n_epochs, *, checkpoint=at_once, progress=False):
    """Tidy table of one form with one kernel: counts of errors on the test points for each predictor and epoch."""
    model, seconds = trained(form, kind, parameter, X, y, n_epochs, checkpoint=checkpoint, progress=progress)
    counted = model.mistakes_[0].errors is not None
    voting = len(y) <= VOTING or form not in PAIR
    names = [name for name in PREDICTORS if {"minimizing": counted, "voted": voting}.get(name, True)]
    by_epoch = list(model.staged_predict(X_test, predictor=names))
    rows = [
        {
            "form": form, "kernel": kind, "parameter": parameter, "n": len(y), "predictor": predictor, "epoch": epoch,
            "errors": int(np.count_nonzero(labels[predictor] != y_test)), "n_test": len(y_test),
            "mistakes": mistakes_by(model, epoch), "support": len(model.support_),
            "seconds": round(seconds, 1),
        }
        for predictor in names
        for epoch, labels in enumerate(by_epoch, start=1)
    ]  # fmt: skip
    return pd.DataFrame(rows)


@experiment("classes", published=lambda: choice_settings("mnist"), data=lambda settings: [settings.dataset])
def choice(settings, *, progress=False):
    """The table of validation errors of a form with every kernel to choose from; columns as in `measure`."""
    X, y, *_ = split(settings.dataset)
    n = settings.n
    held = slice(len(y) - settings.n_validate, None)
    grid = [("rbf", width) for width in settings.widths] + [("poly", float(degree)) for degree in settings.degrees]
    tables = [
        measure(settings.form, kind, parameter, X[:n], y[:n], X[held], y[held], 10)
        for kind, parameter in tqdm(grid, desc=settings.form, disable=not progress)
    ]
    return pd.concat(tables, ignore_index=True).drop(columns="seconds")


def chosen(table):
    """{form: (kind, parameter)}: the kernel with the fewest validation errors of any predictor at any epoch.

    table as in `choice`; ties go to the first kernel.
    """
    best = table.sort_values("errors", kind="stable").groupby("form", sort=False).first()
    return {form: (best.loc[form, "kernel"], float(best.loc[form, "parameter"])) for form in FORMS if form in best.index}


@experiment(
    "classes", published=lambda: growth_settings("mnist"), tables=("growth", "growth_times"), measured=("growth_times",),
    data=lambda settings: [settings.dataset],
    reads=lambda settings: choice.stored_files() if settings.choice in choice.published else [],
)  # fmt: skip
def growth(settings, *, progress=False):
    """{growth, growth_times}: test errors of a form with its chosen kernel, columns as in `measure`; seconds of training."""
    form = settings.choice.form
    n = settings.n
    X, y, X_test, y_test = split(settings.dataset)
    kernel = chosen(choice(settings.choice))[form]
    table = measure(
        form, *kernel, X[:n], y[:n], X_test, y_test, settings.epochs,
        checkpoint=partial(growth.checkpoint, settings), progress=progress,
    )  # fmt: skip
    return {"growth": table.drop(columns="seconds"), "growth_times": table[["form", "n", "seconds"]].drop_duplicates()}


# The forms on equal terms: no threshold, a separate width chosen for each, the same epochs, the same predictors.

EQUAL = ("one-vs-all", "ordinary", "Xu-Zhang, no threshold")
"""The forms that are compared on equal terms."""
PAIR = ("Xu-Zhang, no threshold", "Xu-Zhang")
"""Xu and Zhang's form without and with its threshold: both learn side by side from the same kernel rows."""
JUDGED = ("final", "average")
"""The predictors that are reported; widths are chosen by the average one, never by the test images."""
ROWS = 512
VISITS = 32
"""Kernel rows that are made together, and visits of Xu and Zhang's form that are gone through together."""


@dataclass(frozen=True, kw_only=True)
class Tuning(Images):
    """The choice of widths at one n: the forms of EQUAL, and Xu and Zhang's with threshold, with every RBF width.

    The last n_validate examples of the training part validate. Each form runs for at most so many epochs, in n_orders
    visiting orders.
    """

    dataset: str
    n_validate: int
    widths: tuple[float, ...]
    epochs: int
    n_orders: int


@dataclass(frozen=True, kw_only=True)
class Terms(Images):
    """Equal terms at one n: the widths that are best by `tuned`, and the epochs that are read, the last being the end."""

    tuned: Tuning
    read: tuple[int, ...]
    n_orders: int

    @property
    def dataset(self):
        return self.tuned.dataset


WIDE = (400.0, 500.0, 600.0, 700.0, 850.0, 1000.0, 1200.0, 1400.0, 1700.0)
TUNED = {
    "mnist": {1000: (10_000, WIDE, 3), 4000: (10_000, WIDE, 3), 10_000: (10_000, WIDE[1:-1], 1)},
    "digits": {200: (300, (8.0, 12.0, 16.0, 24.0, 32.0), 2), 400: (300, (8.0, 12.0, 16.0, 24.0, 32.0), 2)},
}
"""{n: (validation images, widths, visiting orders)} of the choice of widths."""

COMPARED = {
    "mnist": {1000: ((4, 10), 3), 4000: ((4, 10), 3), 10_000: ((4, 10), 3), 60_000: ((1, 2, 3, 4), 1)},
    "digits": {200: ((4, 10), 2), 400: ((4, 10), 2), 800: ((1, 2, 3, 4), 1)},
}
"""{n: (epochs that are read, visiting orders)} of the comparison on equal terms."""


def tuning_settings(dataset):
    """The parts of `tuning` for "mnist" or "digits": one for each n. Raises ValueError for other datasets."""
    require_one_of("dataset", dataset, IMAGES)
    return [
        Tuning(dataset=dataset, n=n, n_validate=held, widths=widths, epochs=10, n_orders=orders)
        for n, (held, widths, orders) in TUNED[dataset].items()
    ]


def equal_settings(dataset):
    """The parts of `equal`: one for each n, with the widths of the same n, or else of the largest that was tuned."""
    tuned = {each.n: each for each in tuning_settings(dataset)}
    return [
        Terms(tuned=tuned.get(n, tuned[max(tuned)]), n=n, read=read, n_orders=orders)
        for n, (read, orders) in COMPARED[dataset].items()
    ]


def side_by_side(forms, kernel, X, y, n_epochs, *, random_state=SEED, checkpoint=at_once, progress=False):
    """({form: its list of one log}, seconds) of some forms of PAIR by Xu and Zhang's update, applied literally.

    They go through the same orders, and every block of kernel rows is made once for all; up to SQUARED examples K is held.
    checkpoint(step, compute) gives the arrays of an epoch: those of an interrupted run, or of compute().
    """
    points = Points(X)
    random = np.random.RandomState(random_state)
    columns = CrossGram(Products(points, points, threads=THREADS))
    held = columns.values(kernel, np.arange(len(y))) if len(y) <= SQUARED else None
    block = {}
    learners = {
        form: Coefficients(
            lambda examples: block["rows"][[block["at"][q] for q in examples]], y, int(y.max()) + 1,
            threshold=float(form == "Xu-Zhang"), threads=THREADS // len(forms),
        )
        for form in forms
    }  # fmt: skip
    logs = {form: [] for form in forms}
    seconds = 0.0
    with ThreadPoolExecutor(len(forms)) as pool:

        def visit_all(order, running):
            started = time.perf_counter()
            found = {form: [] for form in running}
            for start in tqdm(range(0, len(order), ROWS), disable=not progress, leave=False):
                examples = order[start : start + ROWS]
                rows = columns.values(kernel, examples) if held is None else held[examples]
                block.update(rows=rows, at={q: i for i, q in enumerate(examples)})
                logs_of_block = pool.map(_visits, [learners[form] for form in running], [examples] * len(running))
                for form, log in zip(running, logs_of_block, strict=True):
                    found[form].append((start, log))
            return _epoch_arrays(found, learners) | {"seconds": np.array(time.perf_counter() - started)}

        for epoch, (order,) in enumerate(visiting_orders(len(y), 1, n_epochs, random_state=random), start=1):
            running = [form for form in forms if not logs[form] or len(logs[form][-1]["example"])]
            if not running:
                break
            arrays = checkpoint(f"epoch_{epoch}", lambda order=order, running=running: visit_all(order, running))
            seconds += float(arrays["seconds"])
            for form in running:
                own = {name: arrays[f"{PAIR.index(form)}_{name}"] for name in (*COLUMNS, "alpha", "beta")}
                learners[form].alpha = own["alpha"].copy()
                learners[form].beta = own["beta"].copy()
                logs[form].append(own)
    return {form: [_together(logs[form], len(y))] for form in forms}, seconds


COLUMNS = ("example", "step", "promoted", "demoted")
"""The columns of the log of one epoch."""


def _visits(learner, examples):
    """The columns of the log of these visits, VISITS at a time; steps count from the first of them."""
    parts = []
    for start in range(0, len(examples), VISITS):
        visited = examples[start : start + VISITS]
        position, promoted, demoted, _ = learner.visit(visited)
        parts.append((visited[position], start + position, promoted, demoted))
    return [np.concatenate(column) for column in zip(*parts, strict=True)]


def _epoch_arrays(found, learners):
    """{place in PAIR and name: array} of one epoch: columns of logs from {form: [(start, columns)]}, and coefficients."""
    arrays = {}
    for form, parts in found.items():
        place = PAIR.index(form)
        moved = [(example, start + step, promoted, demoted) for start, (example, step, promoted, demoted) in parts]
        for name, column in zip(COLUMNS, zip(*moved, strict=True), strict=True):
            arrays[f"{place}_{name}"] = np.concatenate(column).astype(np.int64)
        arrays[f"{place}_alpha"] = learners[form].alpha.copy()
        arrays[f"{place}_beta"] = learners[form].beta.copy()
    return arrays


def _together(epochs, n):
    """The log of several epochs of n visits each, from the columns of each epoch."""
    joined = {name: np.concatenate([each[name] for each in epochs]) for name in COLUMNS}
    joined["step"] = np.concatenate([each["step"] + i * n for i, each in enumerate(epochs)])
    return MulticlassLog(errors=None, ends=n * np.arange(1, len(epochs) + 1), **joined)


def predictions_at(model, X, y, X_new, epochs):
    """{predictor: labels (E, c)} of JUDGED at some epochs of a fit on X, y, those after its end being its last.

    The fit is taken with the ends of these epochs only: fewer predictions are made than after every epoch.
    """
    read = np.minimum(epochs, model.n_iter_)
    kept = np.unique(read)
    logs = [replace(log, ends=log.ends[kept - 1]) for log in model.mistakes_]
    model = clone(model).with_mistakes(X, y, logs)
    staged = list(model.staged_predict(X_new, predictor=JUDGED))
    return {name: np.array([staged[i][name] for i in np.searchsorted(kept, read)]) for name in JUDGED}


def run_all(widths, X, y, X_new, y_new, n_epochs, *, read, random_state, checkpoint=at_once, progress=False):
    """(rows, wrong) of the forms of EQUAL and of PAIR, trained on X, y with {form: RBF width}, judged on X_new, y_new.

    "Xu-Zhang" has the width of the form without threshold. rows: tuples (form, width, predictor, epoch, mistakes, errors,
    n_new), a row for each epoch of `read`; wrong {(form, predictor): (c,) bool} after the last of them.
    """
    widths = widths | {PAIR[1]: widths[PAIR[0]]}
    options = {"count_errors": False, "random_state": random_state}
    models = {form: estimator(form, "rbf", widths[form], n_epochs, **options) for form in (*EQUAL[:2], *PAIR)}
    kernel = kernels.gaussian(sigma=widths[PAIR[0]])
    logs, _ = side_by_side(PAIR, kernel, X, y, n_epochs, random_state=random_state, checkpoint=checkpoint, progress=progress)
    rows = []
    wrong = {}
    for form, model in models.items():
        model = model.with_mistakes(X, y, logs[form]) if form in PAIR else model.fit(X, y)
        found = predictions_at(model, X, y, X_new, read)
        for predictor in JUDGED:
            for epoch, labels in zip(read, found[predictor], strict=True):
                mistakes = mistakes_by(model, min(epoch, model.n_iter_))
                errors = int(np.count_nonzero(labels != y_new))
                rows.append((form, widths[form], predictor, epoch, mistakes, errors, len(y_new)))
            wrong[form, predictor] = found[predictor][-1] != y_new
    return rows, wrong


RUN_COLUMNS = ("form", "width", "predictor", "epoch", "mistakes", "errors", "n_new")
"""The columns of the rows of `run_all`."""


def _table(rows, n):
    """The rows (order, *row) of `run_all`, with n."""
    table = pd.DataFrame(rows, columns=["order", *RUN_COLUMNS])
    table.insert(0, "n", n)
    return table


@experiment(
    "classes", published=lambda: tuning_settings("mnist"), arrays=lambda settings: f"tuning_{settings.n}",
    data=lambda settings: [settings.dataset], sample=replace(tuning_settings("mnist")[0], n_orders=1),
)  # fmt: skip
def tuning(settings, *, progress=False):
    """{tuning, arrays}: validation errors of the forms with every width, after the last epoch.

    Columns: n, order, form, width, predictor, epoch (at which it was read), mistakes, errors, n_new (validation images).
    arrays: wrong (rows of the table, n_validate).
    """
    X, y, *_ = split(settings.dataset)
    n = settings.n
    held = slice(len(y) - settings.n_validate, None)
    rows = []
    flags = []
    for width in tqdm(settings.widths, desc=f"n = {n}", disable=not progress):
        for order in range(settings.n_orders):
            made, wrong = run_all(
                dict.fromkeys(EQUAL, width), X[:n], y[:n], X[held], y[held], settings.epochs, read=(settings.epochs,),
                random_state=SEED + order,
            )  # fmt: skip
            rows += [(order, *row) for row in made]
            flags += [wrong[row[0], row[2]] for row in made]
    return {"tuning": _table(rows, n), "arrays": {"wrong": np.array(flags)}}


def best_widths(table):
    """{form: width}: the fewest validation errors of the average predictor, over all orders; ties go to the first.

    table: the rows of `tuning` at one n.
    """
    average = table[table["predictor"] == "average"]
    errors = average.groupby(["form", "width"])["errors"].sum()
    return {form: float(errors[form].idxmin()) for form in dict.fromkeys(table["form"])}


@experiment(
    "classes", published=lambda: equal_settings("mnist"), arrays=lambda settings: f"equal_{settings.n}",
    data=lambda settings: [settings.dataset],
    reads=lambda settings: tuning.stored_files() if settings.tuned in tuning.published else [],
)  # fmt: skip
def equal(settings, *, progress=False):
    """{equal, arrays}: test errors of the forms on equal terms, and of Xu and Zhang's with threshold at the same width.

    Columns as in `tuning`, n_new being the test images; a row for each epoch that is read. arrays: wrong (order, form,
    predictor, test image), after the last epoch, forms and predictors in the order of the rows.
    """
    X, y, X_test, y_test = split(settings.dataset)
    widths = best_widths(tuning(settings.tuned)["tuning"])
    n = settings.n
    rows = []
    flags = []
    for order in range(settings.n_orders):
        made, wrong = run_all(
            widths, X[:n], y[:n], X_test, y_test, settings.read[-1], read=settings.read, random_state=SEED + order,
            progress=progress,
            checkpoint=lambda step, compute, order=order: equal.checkpoint(settings, f"{order}_{step}", compute),
        )  # fmt: skip
        rows += [(order, *row) for row in made]
        forms = dict.fromkeys(row[0] for row in made)
        flags.append([[wrong[form, predictor] for predictor in JUDGED] for form in forms])
    return {"equal": _table(rows, n), "arrays": {"wrong": np.array(flags)}}
