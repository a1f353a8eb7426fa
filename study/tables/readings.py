"""Questions that the source leaves open, in combination: readings of its text, and cross-validations of many at once.

Source: Xu & Zhang 2005, section IV.B; eqs 3 to 5, 10 and 11. It says neither what an iteration is, nor which of several
classes that match the true one is demoted, nor in which order the examples are visited, nor what the folds were. A `Reading`
answers all of it, and makes a `Method` of another. The cross-validation is that of study.tables.protocol; readings that
share folds, scaling and kernel share what is computed before the first visit.
"""

from dataclasses import asdict, astuple, dataclass, replace
from functools import cache, partial

import numpy as np

from kp.joint import DEMOTE
from study.protocols.settings import BaseSettings
from study.tables import protocol
from study.tables.protocol import FOLDS, ORDERS, UNITS, Fold, Shuffles, load, run, splits, tabulated
from study.tables.source import SETS

SCALINGS = (*protocol.SCALINGS, "outside")
DIGITS = 6
"""To which rates (fractions) are stored."""


@dataclass(frozen=True, kw_only=True)
class Reading(BaseSettings):
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

    KNOWN = {"demote": DEMOTE, "scaling": SCALINGS, "folds": FOLDS, "order": ORDERS, "unit": UNITS}

    def of(self, dataset):
        """The reading as it is for one set: readings that cannot differ on it are one.

        "outside" is "none" where all attributes lie in [0, 1], else "train"; of two classes the winner is demoted.
        """
        found = self
        in_unit, two_classes = _nature(dataset)
        if self.scaling == "outside":
            found = replace(found, scaling="none" if in_unit else "train")
        return replace(found, demote="winner") if two_classes else found

    @property
    def key(self):
        """All answers in a word: "winner-epochs-fresh-train-stratified-threshold"."""
        *words, threshold = astuple(self)
        return "-".join([*words, "threshold" if threshold else "without"])


@cache
def _nature(dataset):
    """Whether all attributes of a set lie in [0, 1] as they are, and whether it has two classes, so that a mistake has one
    rival only. Of the sets in print it is known without their files: both are so of sonar alone."""
    if dataset in SETS:
        return dataset == "sonar", dataset == "sonar"
    X, y = load(dataset)
    return bool(X.min() >= 0 and X.max() <= 1), y.max() == 1


def cross_validate(jobs, *, n_folds=10, threads=2, progress=False):
    """Cross-validate each of the jobs (dataset, Method, readings, repeat); a tidy table, one row a job and reading.

    Of the Method kernel, parameter and max_iter are used. Columns dataset, kernel, reading (its key), iterations (max_iter),
    repeat, and mean and standard deviation over the folds (divided by their number) of the error rates: train_mean,
    train_sd, test_mean, test_sd.
    """
    columns = ["dataset", "kernel", "reading", "iterations", "repeat", "train_mean", "train_sd", "test_mean", "test_sd"]
    function = partial(_rows, n_folds=n_folds)
    return tabulated(function, jobs, columns, threads=threads, progress=progress).round(DIGITS)


def _rows(job, n_folds):
    dataset, row, readings, repeat = job
    X, y = load(dataset)
    methods = {reading: replace(row, **asdict(reading)) for reading in readings}
    rates = {reading: [] for reading in readings}
    shuffles = Shuffles(repeat)
    for folds in dict.fromkeys(method.folds for method in methods.values()):
        for train, test in splits(X, y, replace(row, folds=folds), n_folds, repeat):
            scaled = {}
            for reading, method in methods.items():
                if method.folds == folds:
                    if method.scaling not in scaled:
                        scaled[method.scaling] = Fold(X, y, train, test, method)
                    [(_, *wrong, _, _, _)] = run(scaled[method.scaling], method, shuffles, limits=[row.max_iter])
                    rates[reading].append(np.divide(wrong, (len(train), len(test))))
    found = []
    for reading, pairs in rates.items():
        moments = [moment for part in np.transpose(pairs) for moment in (part.mean(), part.std())]
        found.append((dataset, row.kernel, reading.key, row.max_iter, repeat, *moments))
    return found
