"""Questions that the source leaves open, in combination: readings of its text, and cross-validations of many at once.

Source: Xu & Zhang 2005, section IV.B; eqs 3 to 5, 10 and 11. It says neither what an iteration is, nor which of several
classes that match the true one is demoted, nor in which order the examples are visited, nor what the folds were. A `Reading`
answers all of it. The cross-validation is that of study.uci.protocol, and the same to the last digit where both have a
reading; readings that share folds, scaling and kernel share what is computed before the first visit.

Symbols: n training and m test examples of a fold, C classes, c (C, n) promotions less demotions of each example, F (C, n)
scores, G (n, n) and H (n, m) by how much a mistake on a training example moves the scores of training and test ones.
"""

from dataclasses import astuple, dataclass, replace

import numpy as np
import pandas as pd
from sklearn.preprocessing import MinMaxScaler

from kp import kernels
from kp.compiled import compiled
from kp.gram import CrossGram, Points, Products
from kp.kesler import product, squared
from kp.machine import LANES, add_product, load_lanes, store_lanes
from study.protocols.settings import require_known
from study.uci.protocol import Method, Shuffles, in_parallel, load, orders, splits

DEMOTE = ("winner", "first", "all", "each")
UNITS = ("epochs", "presentations", "updates")
SCALINGS = ("train", "all", "outside", "none")
IN_UNIT = ("sonar",)
"""The sets whose attributes lie in [0, 1] as they are."""
TWO_CLASSES = ("sonar",)
"""The sets in which a mistake has one rival only: whoever is demoted, it is the same."""
DIGITS = 6
"""To which rates (fractions) are stored."""


@dataclass(frozen=True, kw_only=True)
class Reading:
    """One answer to each question; the defaults are the base reading.

    demote: of the classes that match the true one the "winner" or the "first" loses, or "all" do while the true class gains
    once, or "each" does and the true class gains once for each of them (Kesler's construction, all pairs at once). unit: an
    iteration is an epoch, a presentation of one example, or an update, a mistake. order: "fresh", a new shuffle in each
    epoch, "fixed", one shuffle for all, or "given". scaling to [0, 1]: by the "train"ing part, by "all" examples, by the
    training part and only where attributes lie "outside" of [0, 1], or "none". folds as in `protocol.Method`; threshold.
    """

    demote: str = "winner"
    unit: str = "epochs"
    order: str = "fresh"
    scaling: str = "train"
    folds: str = "stratified"
    threshold: bool = True

    def __post_init__(self):
        require_known(self, demote=DEMOTE, unit=UNITS, scaling=SCALINGS)

    def of(self, dataset):
        """The reading as it is for one set: readings that cannot differ on it are one.

        "outside" is "none" where all attributes lie in [0, 1], else "train"; of two classes the winner is demoted.
        """
        found = self
        if self.scaling == "outside":
            found = replace(found, scaling="none" if dataset in IN_UNIT else "train")
        return replace(found, demote="winner") if dataset in TWO_CLASSES else found

    @property
    def key(self):
        """All answers in a word: "winner-epochs-fresh-train-stratified-threshold"."""
        *words, threshold = astuple(self)
        return "-".join([*words, "threshold" if threshold else "without"])


class Fold:
    """One fold: prepared points, labels, and what a mistake on a training example moves.

    X (n, d) and y (n,) are the whole set, train and test indices into it; row is a Method, of which kernel and parameter
    are used.
    """

    def __init__(self, X, y, train, test, row, scaling):
        points = [X[train], X[test]]
        if scaling != "none":
            scaler = MinMaxScaler().fit(X if scaling == "all" else X[train])
            points = [scaler.transform(part) for part in points]
        self.points = [np.ascontiguousarray(part) for part in points]
        self.y = (y[train], y[test])
        self.n_classes = int(y.max()) + 1
        self.n = len(train)
        self.linear = row.kernel == "linear"
        self.moves = {}
        if self.linear:
            return
        kernel = kernels.gaussian(sigma=row.parameter)
        if row.kernel == "poly":
            kernel = kernels.polynomial(int(row.parameter), coef0=0.0)
        P, Q = map(Points, self.points)
        K, across = (CrossGram(Products(P, other)).values(kernel, np.arange(self.n)) for other in (P, Q))
        plain = [squared(K, threads=1), product(K, across.T, threads=1)]
        self.moves = {False: plain, True: [part + 1.0 for part in plain]}

    def learn(self, reading, max_iter, shuffles):
        """c (C, n): promotions less demotions of the training examples, when the run ends; `orders` has the shuffles."""
        updates = reading.unit == "updates"
        unit = "epochs" if updates else reading.unit  # an epoch that is not the last has an update
        visiting = Method(kernel="linear", max_iter=max_iter, order=reading.order, unit=unit)
        left = max_iter if updates else -1
        demote = DEMOTE.index(reading.demote)
        c = np.zeros((self.n_classes, self.n))
        if self.linear:
            X = self.points[0]
            threshold = float(reading.threshold)
            W = np.zeros((X.shape[1], _padded(self.n_classes)))
            b = np.zeros(_padded(self.n_classes))
        else:
            F = np.zeros((self.n_classes, self.n))
        for order in orders(self.n, visiting, shuffles):
            if self.linear:
                made = _visit_points(X, self.y[0], order, demote, threshold, left, W.ravel(), b, c)
            else:
                made = _visit_rows(self.moves[reading.threshold][0], self.y[0], order, demote, left, F, c)
            if updates:
                left -= made
            if left == 0 or (not made and len(order) >= self.n):
                break
        return c

    def errors(self, c, threshold):
        """(train, test): the numbers of errors of the scores that c gives; of equal scores the first class wins."""
        if self.linear:
            W = product(c, self.points[0].T, threads=1)
            b = c.sum(axis=1)[:, None] * threshold
            scores = [product(W, points, threads=1) + b for points in self.points]
        else:
            scores = [product(c, moves.T, threads=1) for moves in self.moves[threshold]]
        return tuple(int((f.argmax(axis=0) != y).sum()) for f, y in zip(scores, self.y, strict=True))


def cross_validate(jobs, *, n_folds=10, threads=2, progress=False):
    """Cross-validate each of the jobs (dataset, Method, readings, repeat); a tidy table, one row a job and reading.

    Of the Method kernel, parameter and max_iter are used. Columns dataset, kernel, reading (its key), iterations (max_iter),
    repeat, and mean and standard deviation over the folds (divided by their number) of the error rates: train_mean,
    train_sd, test_mean, test_sd.
    """
    names = ["dataset", "kernel", "reading", "iterations", "repeat", "train_mean", "train_sd", "test_mean", "test_sd"]
    rows = in_parallel(lambda job: _rows(job, n_folds), jobs, threads=threads, progress=progress)
    return pd.DataFrame([row for part in rows for row in part], columns=names).round(DIGITS)


def _rows(job, n_folds):
    dataset, row, readings, repeat = job
    X, y = load(dataset)
    rates = {reading: [] for reading in readings}
    shuffles = Shuffles(repeat)
    for folds in dict.fromkeys(reading.folds for reading in readings):
        for train, test in splits(X, y, Method(kernel="linear", max_iter=1, folds=folds), n_folds, repeat):
            same = [reading for reading in readings if reading.folds == folds]
            for scaling in dict.fromkeys(reading.scaling for reading in same):
                fold = Fold(X, y, train, test, row, scaling)
                for reading in same:
                    if reading.scaling == scaling:
                        wrong = fold.errors(fold.learn(reading, row.max_iter, shuffles), reading.threshold)
                        rates[reading].append(np.divide(wrong, (len(train), len(test))))
    head = dataset, row.kernel
    return [(*head, reading.key, row.max_iter, repeat, *_moments(found)) for reading, found in rates.items()]


def _moments(rates):
    """(train_mean, train_sd, test_mean, test_sd) of pairs of rates."""
    train, test = np.transpose(rates)
    return train.mean(), train.std(), test.mean(), test.std()


def _padded(n_classes):
    return -(-n_classes // LANES) * LANES


@compiled
def _changes(scores, true, demote, change):
    """Fill change (C,) with promotions less demotions of a visit and return how many classes are demoted: 0 if none."""
    own = scores[true]
    most = -np.inf
    count = 0
    scores[true] = -np.inf
    for j in range(scores.shape[0]):
        most = scores[j] if scores[j] > most else most
    if most < own:
        return 0
    for j in range(scores.shape[0]):
        change[j] = -1.0 if scores[j] >= own else 0.0
        count += scores[j] >= own
    if demote < 2:  # only the first class that reaches this score
        least = most if demote == 0 else own
        found = 0.0
        for j in range(scores.shape[0]):
            change[j] = -1.0 if scores[j] >= least and found == 0.0 else 0.0
            found += change[j]
        count = 1
    change[true] = float(count) if demote == 3 else 1.0
    return count


@compiled
def _visit_points(X, y, order, demote, threshold, left, W, b, c):
    """Visit examples in order until `left` of them were mistakes (-1: all visits); W, b and c (C, n) move. The mistakes.

    W (d, C) and b (C,) have room for whole vectors of LANES classes, and W is flat.
    """
    size = b.shape[0]
    made = 0
    all_scores = np.empty(size)
    all_changes = np.zeros(size)
    scores = all_scores[: c.shape[0]]
    change = all_changes[: c.shape[0]]
    start = threshold * b
    for s in range(order.shape[0]):
        t = order[s]
        for j in range(0, size, LANES):
            sums = load_lanes(start, j)
            for k in range(X.shape[1]):
                sums = add_product(sums, X[t, k], load_lanes(W, k * size + j))
            store_lanes(all_scores, j, sums)
        if _changes(scores, y[t], demote, change) == 0:
            continue
        for j in range(0, size, LANES):
            lanes = load_lanes(all_changes, j)
            for k in range(X.shape[1]):
                store_lanes(W, k * size + j, add_product(load_lanes(W, k * size + j), X[t, k], lanes))
        for j in range(change.shape[0]):
            if change[j] != 0.0:
                b[j] += change[j]
                c[j, t] += change[j]
                start[j] = threshold * b[j]
        made += 1
        if made == left:
            break
    return made


@compiled
def _visit_rows(G, y, order, demote, left, F, c):
    """The same with scores F (C, n) of all training examples, which rows of G (n, n) move."""
    scores = np.empty(F.shape[0])
    change = np.empty(F.shape[0])
    made = 0
    for s in range(order.shape[0]):
        t = order[s]
        for j in range(F.shape[0]):
            scores[j] = F[j, t]
        if _changes(scores, y[t], demote, change) == 0:
            continue
        for j in range(F.shape[0]):
            if change[j] != 0.0:
                c[j, t] += change[j]
                for u in range(F.shape[1]):
                    F[j, u] += change[j] * G[t, u]
        made += 1
        if made == left:
            break
    return made
