"""Cross-validation of the multiclass perceptrons of Xu & Zhang (2005): one run of a fold serves every limit of iterations.

Source: Xu & Zhang 2005, section IV.B. Attributes are scaled to [0, 1], ten folds, "iterations" are epochs at most.

What the source leaves open is a field of `Method`; its defaults are the base protocol of the study. Repeat r takes
random_state r for the folds and for the visiting orders: what scikit-learn's `cross_validate` gives for the estimators of
`kp.multiclass` in a pipeline with `MinMaxScaler`.

Symbols: n training and m test examples of a fold, C classes, c (C, n) promotions less demotions of each example (see
kp.mistakes), G (n, n) and H (n, m) by how much a mistake on a training example moves the scores of training and test ones.
"""

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.preprocessing import MinMaxScaler
from tqdm import tqdm

from kp import kernels
from kp.gram import CrossGram, Points, PrecomputedKernel, Products
from kp.joint import DEMOTE, NO_LIMIT, Dense, Linear, collect_mistakes, product, squared, walk
from kp.mistakes import first_rows, net_promotions
from kp.perceptron import visiting_orders
from study import datasets
from study.predictors import PREDICTORS
from study.protocols.settings import BaseSettings

KERNELS = ("linear", "poly", "rbf")
FOLDS = ("stratified", "plain", "consecutive")
SCALINGS = ("train", "all", "none")
ORDERS = ("fresh", "fixed", "given")
UNITS = ("epochs", "presentations", "updates")
EPOCHS_AT_ONCE = 64
"""Epochs that the compiled loop goes through in one call, once it has got under way: a call costs more than an epoch."""


@dataclass(frozen=True, kw_only=True)
class Method(BaseSettings):
    """A perceptron and a variant of the protocol.

    kernel "linear" (the perceptron of Table II, in input space), "poly" (x . y)^parameter or "rbf" of width parameter
    (Table III); max_iter, the limit of iterations, in epochs, in single presentations or in updates, which are mistakes
    (unit); demote as in kp.joint; threshold; scaling to [0, 1] by the "train"ing part of a fold or by "all" examples, or
    "none"; folds "stratified" or "plain", both shuffled, or "consecutive": stratified, in the order of the file; order in
    which an epoch visits the examples: "fresh", a new shuffle each time, "fixed", one shuffle for all epochs, or "given".
    """

    kernel: str
    parameter: float = 0
    max_iter: int
    demote: str = "winner"
    threshold: bool = True
    scaling: str = "train"
    folds: str = "stratified"
    order: str = "fresh"
    unit: str = "epochs"

    KNOWN = {"kernel": KERNELS, "demote": DEMOTE, "scaling": SCALINGS, "folds": FOLDS, "order": ORDERS, "unit": UNITS}

    def visits(self, n):
        """The number of visits to n examples at most: an epoch that is not the last has an update."""
        return self.max_iter if self.unit == "presentations" else self.max_iter * n


def load(name):
    """X (n, d) float64 and y (n,), the indices of the classes; a set that comes in two parts is taken as a whole."""
    X, y = datasets.load_whole(name)
    return X, np.unique(y, return_inverse=True)[1]


def splits(X, y, method, n_folds, random_state):
    """The folds as pairs of indices (train, test)."""
    make = KFold if method.folds == "plain" else StratifiedKFold
    if method.folds == "consecutive":
        return list(make(n_folds).split(X, y))
    return list(make(n_folds, shuffle=True, random_state=random_state).split(X, y))


class Fold:
    """One fold under all methods of the same kernel, parameter, scaling and folds: scaled points, labels, and moves.

    X (n, d) and y (n,) are the whole set, train and test indices into it. moves {threshold: (G, H)} are those of a kernel.
    """

    def __init__(self, X, y, train, test, method):
        self.n_classes = int(y.max()) + 1
        self.n = len(train)
        self.y = y[train], y[test]
        points = [X[train], X[test]]
        if method.scaling != "none":
            scaler = MinMaxScaler().fit(X if method.scaling == "all" else X[train])
            points = [scaler.transform(part) for part in points]
        self.points = [np.ascontiguousarray(part) for part in points]
        if method.kernel == "linear":
            return
        kernel = kernels.gaussian(sigma=method.parameter)
        if method.kernel == "poly":
            kernel = kernels.polynomial(int(method.parameter), coef0=0.0)
        P, Q = map(Points, self.points)
        K, across = (CrossGram(Products(P, other)).values(kernel, np.arange(self.n)) for other in (P, Q))
        plain = [squared(K, threads=1), product(K, across.T, threads=1)]
        self.moves = {False: plain, True: [part + 1.0 for part in plain]}

    def learner(self, method, *, count_errors=False):
        """The code that finds the mistakes; see kp.joint."""
        y = self.y[0]
        C = self.n_classes
        if method.kernel == "linear":
            return Linear(self.points[0], y, C, threshold=float(method.threshold), demote=method.demote)
        return Dense(self.moves[method.threshold][0], y, C, demote=method.demote, count_errors=count_errors)

    def errors(self, method, c):
        """(train, test): the numbers of errors of f_a(x) = sum_i c_ai G(x_i, x), each sum in the order of the examples; of
        equal scores the first class wins."""
        if method.kernel == "linear":
            W = product(c, self.points[0].T, threads=1)
            b = c.sum(axis=1)[:, None] * method.threshold
            scores = [product(W, points, threads=1) + b for points in self.points]
        else:
            scores = [product(c, moves.T, threads=1) for moves in self.moves[method.threshold]]
        return tuple(int((f.argmax(axis=0) != y).sum()) for f, y in zip(scores, self.y, strict=True))


class Shuffles:
    """The shuffled epochs of one seed, made once for all folds of a size and all readings that begin with it."""

    def __init__(self, random_state):
        self.random_state = random_state
        self._made = {}

    def epochs(self, n, start, stop):
        """The visits (n (stop - start),) of the epochs start..stop - 1, counted from 0."""
        random, made = self._made.get(n, (np.random.RandomState(self.random_state), np.empty((0, n), dtype=np.intp)))
        if len(made) < stop:
            more = [order for (order,) in visiting_orders(n, 1, max(stop, 2 * len(made)) - len(made), random_state=random)]
            self._made[n] = random, made = random, np.concatenate([made, more])
        return made[start:stop].ravel()


def orders(n, method, shuffles, *, limits=()):
    """Yield the visiting orders, several epochs in one array: first one epoch, then more and more, up to EPOCHS_AT_ONCE.

    No array goes past one of the `limits` (epochs). shuffles: `Shuffles`.
    """
    left = method.visits(n)
    done = 0
    size = 1
    while left > 0:
        stop = min([limit for limit in limits if limit > done], default=done + size)
        size = min(size, stop - done, -(-left // n))
        if method.order == "fresh":
            order = shuffles.epochs(n, done, done + size)
        else:
            order = np.tile(shuffles.epochs(n, 0, 1) if method.order == "fixed" else np.arange(n), size)
        yield order[:left]
        left = left - len(order)
        done = done + size
        size = min(2 * size, EPOCHS_AT_ONCE)


def run(fold, method, shuffles, *, limits):
    """Learn one fold by a method: rows (iterations, train_errors, test_errors, epochs, converged, mistakes), one a limit.

    limits, of iterations, are ascending and end with max_iter; in presentations and updates only max_iter can be asked for.
    converged says whether the last of the epochs that were run was without a mistake.
    """
    n = fold.n
    learner = fold.learner(method)
    if method.unit != "epochs":
        limits = [method.max_iter]
    left = method.max_iter if method.unit == "updates" else NO_LIMIT
    c = np.zeros((fold.n_classes, n))
    mistakes = 0
    last = -1
    done = 0
    rows = []
    stops = {method.visits(n) if limit == method.max_iter else limit * n: limit for limit in limits}
    for order in orders(n, method, shuffles, limits=limits if method.unit == "epochs" else ()):
        place, promoted, demoted, _ = learner.visit(order, left - mistakes)
        c += net_promotions(order[place], promoted, demoted, n_classes=fold.n_classes, n=n)
        mistakes += int(np.count_nonzero(first_rows(place)))
        last = done + int(place[-1]) if len(place) else last
        done = last + 1 if mistakes == left else done + len(order)
        if done in stops:
            rows.append(_row(fold, method, stops[done], c, mistakes, last, done))
        if mistakes == left or (not len(place) and len(order) >= n):
            break
    # Once separated, nothing changes any more: what holds at this limit holds at all later ones.
    rows += [_row(fold, method, limit, c, mistakes, last, done) for visits, limit in stops.items() if visits > done]
    return rows


def _row(fold, method, limit, c, mistakes, last, done):
    train, test = fold.errors(method, c)
    without = last // fold.n + 1
    epochs = min(without + 1, -(-done // fold.n))
    return limit, train, test, epochs, int(epochs > without), mistakes


def cross_validate(jobs, *, n_folds=10, limits=(), threads=2, progress=False):
    """Cross-validate each of the jobs (dataset, Method, repeat); a tidy table, one row a fold and limit of iterations.

    Columns dataset, kernel, parameter, repeat, fold, iterations, train_errors, test_errors, n_train, n_test, epochs,
    converged, mistakes, in the order of the jobs. limits: those below max_iter to report as well.
    """
    columns = ["dataset", "kernel", "parameter", "repeat", "fold", "iterations", "train_errors", "test_errors"]
    columns += ["n_train", "n_test", "epochs", "converged", "mistakes"]
    function = partial(_fold_rows, n_folds=n_folds, limits=limits)
    return tabulated(function, jobs, columns, threads=threads, progress=progress)


def _fold_rows(job, n_folds, limits):
    dataset, method, repeat = job
    X, y = load(dataset)
    asked = [*(limit for limit in sorted(limits) if limit < method.max_iter), method.max_iter]
    rows = []
    shuffles = Shuffles(repeat)
    for i, (train, test) in enumerate(splits(X, y, method, n_folds, repeat)):
        fold = Fold(X, y, train, test, method)
        head = dataset, method.kernel, method.parameter, repeat, i
        rows += [(*head, *row[:3], len(train), len(test), *row[3:]) for row in run(fold, method, shuffles, limits=asked)]
    return rows


def tabulated(function, jobs, columns, *, threads=2, progress=False):
    """A table of the rows, a list, that function(job) gives for each of the jobs, in their order.

    They run in threads, or as a joblib.parallel_config around the call says. The compiled loops let several threads run at
    once, but shuffling does not: long runs are faster in processes.
    """
    parts = Parallel(n_jobs=threads, prefer="threads", return_as="generator")(delayed(function)(job) for job in jobs)
    parts = tqdm(parts, total=len(jobs), unit="job", disable=not progress)
    return pd.DataFrame([row for rows in parts for row in rows], columns=columns)


def summary(folds, keys):
    """Mean and standard deviation over the folds of the error rates: a row for each of the keys.

    Columns train_mean, train_sd, test_mean, test_sd (fractions); the sd divides by the number of folds.
    """
    rates = folds.assign(train=folds["train_errors"] / folds["n_train"], test=folds["test_errors"] / folds["n_test"])
    groups = rates.groupby(keys, sort=False)[["train", "test"]]
    parts = groups.mean().add_suffix("_mean"), groups.std(ddof=0).add_suffix("_sd")
    table = pd.concat(parts, axis=1)[["train_mean", "train_sd", "test_mean", "test_sd"]]
    return table.round(12).reset_index()


# All four predictors.


def predictors(jobs, *, n_folds=10, threads=2, progress=False):
    """Test errors of the four predictors at the end of each run of a kernel perceptron; jobs as in `cross_validate`.

    Columns dataset, kernel, parameter, repeat, predictor, test_errors, n_test; the last two are sums over the folds.
    Scores are those of `Fold`: the estimator rounds its sums otherwise, which moves two test errors of sonar.
    """
    columns = ["dataset", "kernel", "parameter", "repeat", "predictor", "test_errors", "n_test"]
    function = partial(_predictor_rows, n_folds=n_folds)
    return tabulated(function, jobs, columns, threads=threads, progress=progress)


def _predictor_rows(job, n_folds):
    dataset, method, repeat = job
    X, y = load(dataset)
    wrong = dict.fromkeys(PREDICTORS, 0)
    shuffles = Shuffles(repeat)
    for train, test in splits(X, y, method, n_folds, repeat):
        fold = Fold(X, y, train, test, method)
        log = collect_mistakes(fold.learner(method, count_errors=True), orders(fold.n, method, shuffles))
        # The orders held several epochs each, so the log knows the ends of those only.
        n_epochs = min(int(log.step[-1]) // fold.n + 2, method.max_iter)
        log = replace(log, ends=fold.n * np.arange(1, n_epochs + 1))
        for name in PREDICTORS:
            if name == "voted":
                wrong[name] += _voted_errors(fold, method, log)
            else:
                wrong[name] += fold.errors(method, log.coefficients(name, n_classes=fold.n_classes, n=fold.n))[1]
    # Each example is tested once.
    return [(dataset, method.kernel, method.parameter, repeat, name, count, len(y)) for name, count in wrong.items()]


def _voted_errors(fold, method, log):
    _, H = fold.moves[method.threshold]
    columns = CrossGram(PrecomputedKernel(lambda rows, part: H[rows, part], *H.shape))
    (votes,), _ = walk(log, kernels.GIVEN, columns, fold.n_classes, epochs=(log.n_epochs,))
    return int((votes.argmax(axis=0) != fold.y[1]).sum())


# Choosing parameters.


def chosen(jobs, *, n_folds=10, inner_folds=5, threads=2, progress=False):
    """Choose kernel parameter and iterations by an inner cross-validation of each training part: no test example is seen.

    jobs are (dataset, [Method of each parameter], limits, repeat), the methods of one kernel in the order in which ties
    are resolved. A row for each outer fold with the setting of the fewest inner errors (ties go to the first parameter,
    then to the fewest iterations): columns dataset, kernel, repeat, fold, parameter, iterations, test_errors and n_test of
    the outer fold.
    """
    tasks = [(*job, i) for job in jobs for i in range(n_folds)]
    columns = ["dataset", "kernel", "repeat", "fold", "parameter", "iterations", "test_errors", "n_test"]
    function = partial(_chosen_rows, n_folds=n_folds, inner_folds=inner_folds)
    return tabulated(function, tasks, columns, threads=threads, progress=progress)


def _chosen_rows(task, n_folds, inner_folds):
    dataset, methods, limits, repeat, index = task
    X, y = load(dataset)
    train, test = splits(X, y, methods[0], n_folds, repeat)[index]
    settings = []
    inner = []
    shuffles = Shuffles(repeat)
    for method in methods:
        asked = [limit for limit in limits if limit <= method.max_iter]
        wrong = np.zeros(len(asked), dtype=int)
        for a, b in splits(X[train], y[train], method, inner_folds, repeat):
            wrong += [row[2] for row in run(Fold(X[train], y[train], a, b, method), method, shuffles, limits=asked)]
        settings += [replace(method, max_iter=limit) for limit in asked]
        inner += wrong.tolist()
    best = settings[int(np.argmin(inner))]
    [(iterations, _, test_errors, *_)] = run(Fold(X, y, train, test, best), best, shuffles, limits=[best.max_iter])
    return [(dataset, best.kernel, repeat, index, best.parameter, iterations, test_errors, len(test))]
