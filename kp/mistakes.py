"""The mistake log: the multiset A of Algorithm 1 without storing it.

Source: Hermans 2021, Algorithm 1 and section 3.3; voted predictor: Freund & Schapire 1999.

Algorithm 1 stores the vector alpha after each of its T steps. alpha changes only on a mistake, so the list of mistakes
holds all of A, and every predictor at every epoch can be read from it.

Symbols: M mistakes, T steps, s the 0-based step of a mistake, z = +-1 the sign of an example, alpha_i the mistakes on
example i, C classes. A mistake at step s is in T - s of the T stored vectors.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from kp.wording import shown


@dataclass(frozen=True, kw_only=True)
class Predictor:
    """A predictor as a weighted sum over the first mistakes of a log."""

    weights: Callable | None
    divisor: Callable | None = None
    needs_errors: bool = False

    def divided(self, total: np.ndarray, log: Log, epoch: int | None) -> np.ndarray:
        """Return a weighted sum over the mistakes of a log, divided by the divisor."""
        return total / self.divisor(log, epoch) if self.divisor else total


BY_NAME = {
    "final": Predictor(weights=lambda log, epoch: np.ones(log.length(epoch), dtype=np.int64)),
    "average": Predictor(
        weights=lambda log, epoch: log.steps(epoch) - log.step[: log.length(epoch)],
        divisor=lambda log, epoch: log.steps(epoch),
    ),
    "minimizing": Predictor(
        weights=lambda log, epoch: np.ones(log.minimizing_length(epoch), dtype=np.int64), needs_errors=True
    ),
    "voted": Predictor(weights=None),
}
"""{name: predictor}; one that is added here is known to all estimators."""
PREDICTORS = ("final", "average", "minimizing", "voted")
"""Names of the four predictors that one walk along a log reads; BY_NAME has all that there are.

    final        f(x) = sum_m z_m k(x_m, x)                    over all M mistakes
    average      f(x) = (1/T) sum_m (T - s_m) z_m k(x_m, x)    the mean of the T stored predictors
    minimizing   f(x) = sum_m z_m k(x_m, x)                    over the prefix with the fewest training errors
    voted        f(x) = sum_m c_m sgn f_m(x)                   c_m steps of the predictor f_m after m mistakes

Sources: Hermans 2021, section 3.3; Freund & Schapire 1999 (voted). Their scores are computed in kp.predictors.
"""
SAME_FIT = "take the mistakes_ of a fit with the same parameters on the same X, y"


def first_rows(step: np.ndarray) -> np.ndarray:
    """Return which rows of a log (M,) are the first of a mistake: all rows of a mistake have its step."""
    first = np.ones(len(step), dtype=bool)
    first[1:] = step[1:] != step[:-1]
    return first


def promotions(step: np.ndarray, promoted: np.ndarray) -> np.ndarray:
    """Return how often each row (M,) promotes its class: all promotions of a mistake are one move, at its first row."""
    start = np.flatnonzero(first_rows(step))
    times = np.zeros(len(step))
    if len(step):
        times[start] = np.add.reduceat(promoted >= 0, start, dtype=np.float64)
    return times


class Moves(NamedTuple):
    """What the rows (M,) of a log do: add `times` k to the scores of class `up`, and subtract k from those of `down`."""

    # down is -1 where no class is demoted. A binary perceptron has the class 0 alone, to which it adds z k.
    step: np.ndarray
    up: np.ndarray
    times: np.ndarray
    down: np.ndarray


def net_promotions(
    example: np.ndarray, promoted: np.ndarray, demoted: np.ndarray, weights: np.ndarray | None = None, *,
    n_classes: int, n: int,
) -> np.ndarray:  # fmt: skip
    """Return promotions less demotions (C, n) of each example in rows (M,) of a log, by integer weights (M,), as float64."""
    up = promoted >= 0
    size = n_classes * n
    raised = np.bincount(promoted[up] * n + example[up], None if weights is None else weights[up], minlength=size)
    lowered = np.bincount(demoted * n + example, weights, minlength=size)
    return np.reshape(raised - lowered, (n_classes, n)).astype(np.float64)


def check_predictor(predictor: str) -> str:
    """Return the predictor; raise ValueError unless it is one of BY_NAME."""
    if not (isinstance(predictor, str) and predictor in BY_NAME):
        raise ValueError(f"predictor must be one of {', '.join(BY_NAME)}, got {shown(predictor)}")
    return predictor


@dataclass(frozen=True, kw_only=True)
class Log:
    """Base of the logs: mistakes in the order in which they were made."""

    example: np.ndarray
    step: np.ndarray
    errors: np.ndarray | None
    ends: np.ndarray

    def __len__(self) -> int:
        return len(self.example)

    @property
    def n_epochs(self) -> int:
        """Number of epochs that were run."""
        return len(self.ends)

    def check(self, n: int) -> None:
        """Raise ValueError unless the log can be that of n training examples."""
        columns = {name: column for name, column in vars(self).items() if column is not None}
        whole = {name: column for name, column in columns.items() if name in ("example", "step", "errors", "ends")}
        if not all(isinstance(column, np.ndarray) for column in columns.values()) or any(
            column.dtype.kind not in "iu" for column in whole.values()
        ):
            kinds = {name: getattr(column, "dtype", type(column).__name__) for name, column in columns.items()}
            raise ValueError(f"a log must have arrays, {', '.join(whole)} of integers, got {kinds}; {SAME_FIT}")
        lengths = {name: len(column) for name, column in columns.items() if name != "ends"}
        if len(set(lengths.values())) > 1 or self.n_epochs < 1:
            found = f"{lengths} and {self.n_epochs} epochs"
            raise ValueError(f"a log must have columns of one length and at least one epoch, got {found}; {SAME_FIT}")
        if len(self) and not (0 <= self.example.min() and self.example.max() < n):
            found = f"{self.example.min()} to {self.example.max()}"
            raise ValueError(f"examples of a log must be among the {n} of X, got {found}; {SAME_FIT}")
        steps = np.concatenate([[0], self.step, [self.ends[-1] - 1]])
        if np.any(np.diff(steps) < 0) or np.any(np.diff(self.ends) < 1):
            raise ValueError(f"steps of a log must ascend, up to the end of its last epoch; {SAME_FIT}")
        if np.any((np.diff(self.step) == 0) & (np.diff(self.example) != 0)):
            raise ValueError(f"a step of a log must have one example, got several; {SAME_FIT}")

    def with_errors(self, errors: ArrayLike) -> Self:
        """Return the same log with its column of training errors."""
        return replace(self, errors=np.asarray(errors, dtype=np.int64))

    def renumbered(self, example: ArrayLike) -> Self:
        """Return the same log with other numbers for its examples, as those of a smaller or larger set."""
        return replace(self, example=np.asarray(example, dtype=np.intp))

    def steps(self, epoch: int | None = None) -> int:
        """Return the number T of steps made by the end of an epoch."""
        epoch = self.n_epochs if epoch is None else epoch
        if not (isinstance(epoch, int | np.integer) and 1 <= epoch <= self.n_epochs):
            raise ValueError(f"epoch must be an integer in 1..{self.n_epochs}, the epochs that were run, got {shown(epoch)}")
        return int(self.ends[epoch - 1])

    def length(self, epoch: int | None = None) -> int:
        """Return the number of rows of the log until the end of an epoch."""
        return int(np.searchsorted(self.step, self.steps(epoch)))

    def n_mistakes(self, epoch: int | None = None) -> int:
        """Return the number of mistakes until the end of an epoch: one for each row."""
        return self.length(epoch)

    def minimizing_length(self, epoch: int | None = None) -> int:
        """Return the length of the prefix with the fewest training errors; ties go to the first."""
        if self.errors is None:
            raise ValueError(
                "the minimizing predictor needs the training errors of every predictor, which were not counted: use fit "
                "with predictor='minimizing' or count_errors=True (partial_fit has no training set to count on), or another"
            )
        first = np.argmin(self.errors[: self.length(epoch)])
        return int(np.searchsorted(self.step, self.step[first], side="right"))

    def weights(self, predictor: str = "final", epoch: int | None = None) -> np.ndarray:
        """Return the integer weights of the first mistakes, whose weighted sum is the predictor (see `PREDICTORS`)."""
        found = BY_NAME.get(predictor) if isinstance(predictor, str) else None
        if found is None or found.weights is None:
            sums = ", ".join(name for name, each in BY_NAME.items() if each.weights)
            raise ValueError(f"predictor must be one of {sums}, got {shown(predictor)}")
        return found.weights(self, epoch)


@dataclass(frozen=True, kw_only=True)
class MistakeLog(Log):
    """Mistakes of one binary kernel perceptron, in the order in which they were made.

    It holds the multiset A of Algorithm 1 (Hermans 2021): alpha changes only on a mistake. Every
    predictor is a weighted sum over the mistakes, with the weights of `weights`:

        f(x) = sum_m weight_m sign_m k(x_m, x)

    A score of exactly 0 is an error.

    Parameters
    ----------
    example : ndarray of shape (M,)
        Numbers of the training examples on which the mistakes were made.
    step : ndarray of shape (M,)
        Steps at which they were made, counted from 0, in ascending order.
    errors : ndarray of shape (M,) or None
        Number of training examples that the predictor right after each mistake misclassifies, or
        None if they were not counted.
    ends : ndarray of shape (E,)
        Number of steps made by the end of each epoch.
    sign : ndarray of shape (M,)
        Labels +1 or -1 of the examples.

    See Also
    --------
    kp.MulticlassLog : Mistakes of a perceptron of all classes.
    kp.OneVsAllKernelPerceptron : Its `mistakes_` are such logs.

    References
    ----------
    - Hermans (2021). Digit classification with kernel perceptron. Course report, Università degli
      Studi di Milano. https://github.com/lukher98/digit-classification

    Examples
    --------
    >>> from kp import OneVsAllKernelPerceptron
    >>> model = OneVsAllKernelPerceptron(degree=1, gamma=1, shuffle=False)
    >>> (log,) = model.fit([[0], [1], [3]], ["a", "a", "b"]).mistakes_
    >>> len(log), log.n_epochs
    (8, 6)
    >>> log.example[:5].tolist(), log.sign[:5].tolist()
    ([0, 2, 0, 1, 1], [-1, 1, -1, -1, -1])
    """

    sign: np.ndarray

    def followed_by(self, other: Self, n_seen: int) -> MistakeLog:
        """Return the log of a stream that goes on with another log."""
        return MistakeLog(
            example=np.concatenate([self.example, other.example + n_seen]),
            step=np.concatenate([self.step, other.step + self.steps()]),
            sign=np.concatenate([self.sign, other.sign]),
            errors=None,
            ends=np.append(self.ends, other.ends + self.steps()),
        )

    def moves(self) -> Moves:
        """Return what the rows move."""
        n = len(self)
        return Moves(self.step, np.zeros(n, dtype=np.int64), self.sign.astype(np.float64), np.full(n, -1))

    def alpha(self, predictor: str = "final", epoch: int | None = None, *, n: int) -> np.ndarray:
        """Compute alpha (n,), the weighted number of mistakes on each of n training examples, of a predictor at an epoch."""
        weights = self.weights(predictor, epoch)
        total = np.bincount(self.example[: len(weights)], weights=weights, minlength=n).astype(np.int64)
        return BY_NAME[predictor].divided(total, self, epoch)


@dataclass(frozen=True, kw_only=True)
class MulticlassLog(Log):
    """Mistakes of a multiclass perceptron, in the order in which they were made.

    Each mistake raises the scores of one class by k(x_m, .) and lowers those of another (Xu and Zhang
    2005). A mistake that demotes several classes takes as many rows of its step, with the errors
    after all of it. Only the first row promotes, except with demote="each", where every row does. An
    example that another class matches or beats is an error.

    Parameters
    ----------
    example : ndarray of shape (M,)
        Numbers of the training examples on which the mistakes were made.
    step : ndarray of shape (M,)
        Steps at which they were made, counted from 0, in ascending order.
    errors : ndarray of shape (M,) or None
        Number of training examples that the predictor right after each mistake misclassifies, or
        None if they were not counted.
    ends : ndarray of shape (E,)
        Number of steps made by the end of each epoch.
    promoted : ndarray of shape (M,)
        Class that each row promotes, or -1.
    demoted : ndarray of shape (M,)
        Class that each row demotes.

    See Also
    --------
    kp.MistakeLog : Mistakes of one binary perceptron.
    kp.MulticlassKernelPerceptron : Its `mistakes_` holds such a log.

    References
    ----------
    - Xu and Zhang (2005). A multiclass kernel perceptron algorithm. International Conference on
      Neural Networks and Brain. https://doi.org/10.1109/ICNNB.2005.1614728

    Examples
    --------
    >>> from kp import MulticlassPerceptron
    >>> model = MulticlassPerceptron(shuffle=False)
    >>> (log,) = model.fit([[0, 0], [4, 0], [0, 4]], ["a", "b", "c"]).mistakes_
    >>> log.promoted.tolist(), log.demoted.tolist()
    ([0, 1, 2, 0, 0], [1, 0, 0, 2, 1])
    """

    promoted: np.ndarray
    demoted: np.ndarray

    def n_mistakes(self, epoch: int | None = None) -> int:
        """Return the number of mistakes until the end of an epoch: of steps that have rows."""
        return int(np.count_nonzero(first_rows(self.step[: self.length(epoch)])))

    def moves(self) -> Moves:
        """Return what the rows move."""
        return Moves(self.step, self.promoted, promotions(self.step, self.promoted), self.demoted)

    def coefficients(self, predictor: str = "final", epoch: int | None = None, *, n_classes: int, n: int) -> np.ndarray:
        """Compute the coefficients c of f_c(x) = sum_i c_i k(x_i, x)."""
        weights = self.weights(predictor, epoch)
        example, promoted, demoted = (column[: len(weights)] for column in (self.example, self.promoted, self.demoted))
        total = net_promotions(example, promoted, demoted, weights, n_classes=n_classes, n=n)
        return BY_NAME[predictor].divided(total, self, epoch)


@dataclass(frozen=True, kw_only=True)
class UpdateLog(Log):
    """Updates w <- scale w + weight x of one learner, in the order in which they were made.

    Parameters
    ----------
    example : ndarray of shape (M,)
        Numbers of the training examples of the updates.
    step : ndarray of shape (M,)
        Steps at which they were made, counted from 0, in ascending order.
    errors : None
        Training errors, which are not counted.
    ends : ndarray of shape (E,)
        Number of steps made by the end of each epoch.
    scale : ndarray of shape (M,)
        Factor c of the old weights.
    weight : ndarray of shape (M,)
        Factor d of the example.
    wrong : ndarray of shape (M,)
        Whether the example was misclassified; otherwise it had a margin below 1.

    See Also
    --------
    kp.Romma : Its `mistakes_` are such logs.

    References
    ----------
    - Li and Long (1999). The relaxed online maximum margin algorithm. Advances in Neural Information
      Processing Systems 12. Journal version: https://doi.org/10.1023/A:1012435301888

    Examples
    --------
    >>> from kp import Romma
    >>> model = Romma("linear", start="zero", shuffle=False)
    >>> (log,) = model.fit([[0, 1], [2, 1]], ["a", "b"]).mistakes_
    >>> log.example.tolist(), log.scale.tolist(), log.weight.tolist()
    ([0, 1], [0.0, 1.5], [-1.0, 0.5])
    """

    scale: np.ndarray
    weight: np.ndarray
    wrong: np.ndarray

    def n_mistakes(self, epoch: int | None = None) -> int:
        """Number of mistakes, without the updates for a small margin."""
        return int(np.count_nonzero(self.wrong[: self.length(epoch)]))

    def coefficients(self, epoch: int | None = None, *, n: int) -> tuple[float, np.ndarray]:
        """Coefficients of w = b w_1 + sum_i a_i x_i after an epoch, w_1 being the start."""
        size = self.length(epoch)
        a = np.zeros(n)
        later = np.append(np.cumprod(self.scale[:size][::-1])[::-1], 1.0)
        np.add.at(a, self.example[:size], self.weight[:size] * later[1:])
        return float(later[0]), a
