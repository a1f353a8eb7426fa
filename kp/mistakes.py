"""The mistake log: the multiset A of Algorithm 1 without storing it.

Source: Hermans 2021, Algorithm 1 and section 3.3; voted predictor: Freund & Schapire 1999.

Algorithm 1 stores the vector alpha after each of its T steps. alpha changes only on a mistake, so the list of mistakes
holds all of A, and every predictor at every epoch can be read from it.
Symbols: M mistakes, T steps, s the 0-based step of a mistake, z = +-1 the sign of an example, alpha_i the mistakes on
example i, C classes. A mistake at step s stands in T - s of the T stored vectors."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

PREDICTORS = ("final", "average", "minimizing", "voted")
SAME_FIT = "take the mistakes_ of a fit with the same parameters on the same X, y"


def check_predictor(predictor: str) -> str:
    """The predictor; raises ValueError unless it is one of PREDICTORS."""
    if predictor not in PREDICTORS:
        raise ValueError(f"predictor must be one of {', '.join(PREDICTORS)}, got {predictor!r}")
    return predictor


@dataclass(frozen=True, kw_only=True)
class Log:
    """Mistakes in the order in which they were made: example (M,) indices of training examples, step (M,) from 0.
    errors (M,) training examples that the predictor right after each mistake misclassifies, a tie being an error; or None.
    ends (E,) steps made by the end of each epoch."""

    example: np.ndarray
    step: np.ndarray
    errors: np.ndarray | None
    ends: np.ndarray

    def __len__(self) -> int:
        return len(self.example)

    @property
    def n_epochs(self) -> int:
        return len(self.ends)

    def check(self, n: int) -> None:
        """Raise ValueError unless the rows are of n training examples, in the order of steps that were made."""
        columns = [self.example, self.step, *([] if self.errors is None else [self.errors])]
        if len({len(column) for column in columns}) > 1 or self.n_epochs < 1:
            lengths = [len(column) for column in columns]
            raise ValueError(f"a log must have columns of one length and at least one epoch, got {lengths}; {SAME_FIT}")
        if len(self) and not (0 <= self.example.min() and self.example.max() < n):
            found = f"{self.example.min()} to {self.example.max()}"
            raise ValueError(f"examples of a log must be among the {n} of X, got {found}; {SAME_FIT}")
        steps = np.concatenate([[0], self.step, [self.ends[-1] - 1]])
        if np.any(np.diff(steps) < 0) or np.any(np.diff(self.ends) < 1):
            raise ValueError(f"steps of a log must ascend, up to the end of its last epoch; {SAME_FIT}")

    def with_errors(self, errors: ArrayLike) -> Self:
        """The same log with its column of training errors (M,)."""
        return replace(self, errors=np.asarray(errors, dtype=np.int64))

    def renumbered(self, example: ArrayLike) -> Self:
        """The same log over examples (M,) that are counted otherwise."""
        return replace(self, example=np.asarray(example, dtype=np.intp))

    def steps(self, epoch: int | None = None) -> int:
        """T: the number of steps made by the end of the 1-based epoch (default: the last)."""
        epoch = self.n_epochs if epoch is None else epoch
        if not (isinstance(epoch, int | np.integer) and 1 <= epoch <= self.n_epochs):
            raise ValueError(f"epoch must be an integer in 1..{self.n_epochs}, the epochs that were run, got {epoch!r}")
        return int(self.ends[epoch - 1])

    def length(self, epoch: int | None = None) -> int:
        """The number of rows of the log until the end of the epoch."""
        return int(np.searchsorted(self.step, self.steps(epoch)))

    def n_mistakes(self, epoch: int | None = None) -> int:
        """The number of mistakes until the end of the epoch: here one for each row."""
        return self.length(epoch)

    def minimizing_length(self, epoch: int | None = None) -> int:
        """Length of the prefix with the fewest training errors, the first of equals; ValueError if they were not counted."""
        if self.errors is None:
            raise ValueError(
                "the minimizing predictor needs the training errors of every predictor, which were not counted: use fit "
                "with predictor='minimizing' or count_errors=True (partial_fit has no training set to count on), or another"
            )
        first = np.argmin(self.errors[: self.length(epoch)])
        return int(np.searchsorted(self.step, self.step[first], side="right"))

    def weights(self, predictor: str = "final", epoch: int | None = None) -> np.ndarray:
        """Integer weights (M',) of the first M' mistakes: the predictor is the sum of what they add, so weighted; not the
        voted one. final: 1; minimizing: 1 up to the fewest training errors; average: T - s, to be divided by T."""
        if predictor == "final":
            return np.ones(self.length(epoch), dtype=np.int64)
        if predictor == "minimizing":
            return np.ones(self.minimizing_length(epoch), dtype=np.int64)
        if predictor == "average":
            return self.steps(epoch) - self.step[: self.length(epoch)]
        raise ValueError(f"predictor must be one of final, average, minimizing, got {predictor!r}")


@dataclass(frozen=True, kw_only=True)
class MistakeLog(Log):
    """The mistakes of one binary kernel perceptron: f(x) = sum_m weight_m sign_m k(x_m, x).
    sign (M,) are the labels +-1 of the examples, the other columns those of `Log`; a score of exactly 0 is an error."""

    sign: np.ndarray

    def followed_by(self, other: Self, n_seen: int) -> "MistakeLog":
        """The log of a stream that goes on with `other`, after n_seen examples; a stream has no training errors."""
        return MistakeLog(
            example=np.concatenate([self.example, other.example + n_seen]),
            step=np.concatenate([self.step, other.step + self.steps()]),
            sign=np.concatenate([self.sign, other.sign]),
            errors=None,
            ends=np.append(self.ends, other.ends + self.steps()),
        )

    def alpha(self, predictor: str = "final", epoch: int | None = None, *, n: int) -> np.ndarray:
        """alpha (n,) over the n training examples; integers, or float64 for the average (Hermans 2021, section 3.3)."""
        weights = self.weights(predictor, epoch)
        total = np.bincount(self.example[: len(weights)], weights=weights, minlength=n)
        return total / self.steps(epoch) if predictor == "average" else total.astype(np.int64)


@dataclass(frozen=True, kw_only=True)
class MulticlassLog(Log):
    """The mistakes of a multiclass perceptron: each raises the scores of one class by k(x_m, .) and lowers another's.
    A mistake that demotes several classes takes as many rows of its step, with the errors after all of it; the first alone
    promotes. An example that another class matches or beats is an error. promoted, demoted (M,) are classes, or -1."""

    promoted: np.ndarray
    demoted: np.ndarray

    def n_mistakes(self, epoch: int | None = None) -> int:
        """The number of mistakes until the end of the epoch: of rows that promote a class."""
        return int(np.count_nonzero(self.promoted[: self.length(epoch)] >= 0))

    def coefficients(self, predictor: str = "final", epoch: int | None = None, *, n_classes: int, n: int) -> np.ndarray:
        """c (C, n) float64 with f_c(x) = sum_i c_i k(x_i, x): promotions less demotions of each example, weighted by
        `weights`; whole numbers, but those of the average are divided by T."""
        weights = self.weights(predictor, epoch)
        example, promoted, demoted = (column[: len(weights)] for column in (self.example, self.promoted, self.demoted))
        first, total = promoted >= 0, np.zeros((n_classes, n))
        np.add.at(total, (promoted[first], example[first]), weights[first])
        np.subtract.at(total, (demoted, example), weights)
        return total / self.steps(epoch) if predictor == "average" else total
