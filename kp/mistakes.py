"""The mistake log: the multiset A of Algorithm 1 without storing it.

Source: Hermans 2021, Algorithm 1 and section 3.3; voted predictor: Freund & Schapire 1999.

Algorithm 1 stores the vector alpha after each of its T steps. alpha changes only on a mistake, so the list of mistakes
(the example, its sign, the step, the training errors of the predictor right after) holds all of A, and every predictor at
every epoch can be read from it.

The log of a multiclass perceptron (Xu & Zhang 2005, eqs 5 and 11) names two classes for each mistake in place of a sign.

Symbols: M mistakes, T steps, s the 0-based step of a mistake, z = +-1 the sign of an example, alpha_i the mistakes on
example i, C classes. A mistake at step s stands in T - s of the T stored vectors.
"""

from dataclasses import dataclass, replace

import numpy as np

PREDICTORS = ("final", "average", "minimizing", "voted")


@dataclass(frozen=True, kw_only=True)
class Log:
    """What every log of mistakes has, in the order in which they were made.

    example (M,) index of the training example; step (M,) 0-based step; errors (M,) number of training examples that the
    predictor right after the mistake gets wrong (an example not won outright is wrong), or None where they were not
    counted; ends (E,) number of steps made when each epoch ended.
    """

    example: np.ndarray
    step: np.ndarray
    errors: np.ndarray | None
    ends: np.ndarray

    def __len__(self):
        return len(self.example)

    @property
    def n_epochs(self):
        return len(self.ends)

    def with_errors(self, errors):
        """The same log with its column of training errors (M,)."""
        return replace(self, errors=np.asarray(errors, dtype=np.int64))

    def renumbered(self, example):
        """The same log over examples (M,) that are counted otherwise."""
        return replace(self, example=np.asarray(example, dtype=np.intp))

    def steps(self, epoch=None):
        """T: the number of steps made by the end of the 1-based epoch (default: the last)."""
        epoch = self.n_epochs if epoch is None else epoch
        if not (isinstance(epoch, int | np.integer) and 1 <= epoch <= self.n_epochs):
            raise ValueError(f"epoch must be an integer in 1..{self.n_epochs}, the epochs that were run, got {epoch!r}")
        return int(self.ends[epoch - 1])

    def until(self, epoch=None):
        """The number of mistakes made by the end of the epoch."""
        return int(np.searchsorted(self.step, self.steps(epoch)))

    def best(self, epoch=None):
        """The length of the prefix of the log whose predictor has the fewest training errors; the first of equals.

        Raises ValueError where training errors were not counted.
        """
        if self.errors is None:
            raise ValueError(
                "the minimizing predictor needs the training errors of every predictor, and they were not counted: a stream "
                "fed to partial_fit has no training set to count them on; use fit, or another predictor"
            )
        first = np.argmin(self.errors[: self.until(epoch)])
        return int(np.searchsorted(self.step, self.step[first], side="right"))

    def survival(self, epoch=None):
        """c (M',) number of stored vectors in which each predictor of the log stands; sums to T minus the steps before
        the first mistake."""
        return np.diff(self.step[: self.until(epoch)], append=self.steps(epoch))

    def weights(self, predictor="final", epoch=None):
        """Integer weights (M',) of the first M' mistakes: the predictor is the sum of what they add, so weighted.

        final: 1 for all; minimizing: 1 up to the best prefix; average: T - s, to be divided by T. The voted predictor
        is no such sum: walk along the log with `survival`.
        """
        if predictor == "final":
            return np.ones(self.until(epoch), dtype=np.int64)
        if predictor == "minimizing":
            return np.ones(self.best(epoch), dtype=np.int64)
        if predictor == "average":
            return self.steps(epoch) - self.step[: self.until(epoch)]
        raise ValueError(f"predictor must be one of final, average, minimizing, got {predictor!r}")


@dataclass(frozen=True, kw_only=True)
class MistakeLog(Log):
    """The mistakes of one binary kernel perceptron: f(x) = sum_m weight_m sign_m k(x_m, x), and sign (M,) their labels +-1.

    An example with a score of exactly 0 is wrong.
    """

    sign: np.ndarray

    def followed_by(self, other, n_seen):
        """The log of a stream that goes on with `other`, after n_seen examples; a stream has no training errors."""
        return MistakeLog(
            example=np.concatenate([self.example, other.example + n_seen]),
            step=np.concatenate([self.step, other.step + self.steps()]),
            sign=np.concatenate([self.sign, other.sign]),
            errors=None,
            ends=np.append(self.ends, other.ends + self.steps()),
        )

    def alpha(self, predictor="final", epoch=None, *, n):
        """alpha (n,) over the n training examples; integers, or float64 for the average (Hermans 2021, section 3.3)."""
        weights = self.weights(predictor, epoch)
        total = np.bincount(self.example[: len(weights)], weights=weights, minlength=n)
        return total / self.steps(epoch) if predictor == "average" else total.astype(np.int64)


@dataclass(frozen=True, kw_only=True)
class MulticlassLog(Log):
    """The mistakes of a multiclass perceptron: each raises the scores of one class by k(x_m, .) and lowers another's.

    promoted (M,) and demoted (M,) are indices of classes. A mistake that demotes several classes takes as many rows, of the
    same step; only its first row promotes, the others have promoted = -1. All of them carry the training errors of the
    predictor after the whole mistake. An example that any class but its own matches or beats is wrong.
    """

    promoted: np.ndarray
    demoted: np.ndarray

    @property
    def n_mistakes(self):
        """The number of mistakes, that is of distinct steps."""
        return int(np.count_nonzero(self.promoted >= 0))

    def coefficients(self, predictor="final", epoch=None, *, n_classes, n):
        """c (C, n) with f_c(x) = sum_i c_i k(x_i, x): promotions less demotions of each example, weighted by `weights`.

        Whole numbers in float64; those of the average are divided by T.
        """
        weights = self.weights(predictor, epoch)
        example, promoted, demoted = (column[: len(weights)] for column in (self.example, self.promoted, self.demoted))
        first, total = promoted >= 0, np.zeros((n_classes, n))
        np.add.at(total, (promoted[first], example[first]), weights[first])
        np.subtract.at(total, (demoted, example), weights)
        return total / self.steps(epoch) if predictor == "average" else total
