"""Tests and intervals of the study, each written once: comparison, source of variation, estimate, interval and p.

A comparison is a `Difference` a - b of two rates or means, with a 95 % interval and a two-sided p. Which one to take follows
from what varies:

    mcnemar            two classifiers on the same examples: the examples vary            (exact; interval of Newcombe 1998)
    two_samples        one classifier on two sets of examples, or two on different ones    (Fisher's test; Newcombe 1998)
    student            differences over independent repeats, of visiting orders say        (Student's t)
    ratio              the ratio of two means over the same repeats                         (interval of Fieller 1954)
    resampled          differences over overlapping splits of one sample                   (Nadeau & Bengio 2003)
    bootstrap          means over examples of what was averaged over splits before         (percentile interval)
    bootstrap_of       any statistic of weighted examples                                  (percentile interval)
    crossed            two classifiers in several visiting orders: orders and examples vary (crossed random effects)
    signed_ranks       differences over datasets                                          (Wilcoxon; Hodges & Lehmann 1963)

The bootstrap is not scipy's, which takes no weights, gives no p, and draws other samples: our intervals would move by about
0.1 percentage points.

A number that is a mean of other repeats than ours: `further_mean`.
One share: `wilson`, `exact`, and `at_most` where a bound is promised; `beta_binomial` where the share varies, too.
Whether a whole vector of published numbers is an ordinary one among our repeats says `membership`, whether groups of
examples have the same mean `equal_means`. Several p of one family are adjusted by `holm` (1979); where their order is fixed
beforehand, `fixed_sequence` needs no adjustment. What a family could have seen say its `half_widths`. Sentences take their
verb from `word`, so that a tie is called one; a tie is no evidence that there is no difference.
"""

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import pandas as pd
from scipy import stats
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

from study.levels import ALPHA, LEVEL

DRAWS = 10_000
"""Resamples of a bootstrap."""
KEPT_DRAWS = 5 * 10**6
"""The most numbers of a resampling that are kept for the next bootstrap of groups of the same sizes."""


@dataclass(frozen=True)
class Difference:
    """a - b. estimate, low and high: with its interval; p: two-sided, adjusted where `adjusted` names the correction; n:
    how many of what varies; varies: the source of variation of the interval and the test; test: the name of the test."""

    estimate: float
    low: float
    high: float
    p: float
    n: int
    varies: str
    test: str
    adjusted: str = ""

    def word(self, lower="is lower than", higher="is higher than", tie="cannot be told apart from", *, alpha=ALPHA):
        """The verb that the test bears out at the level alpha."""
        if not self.p < alpha:
            return tie
        return lower if self.estimate < 0 else higher


@dataclass(frozen=True)
class Excess:
    """Whether a count of n is larger than was promised. p: the chance of as many or more where the promise is just kept,
    adjusted where `adjusted` names the correction; varies: the source of this chance; test: its name."""

    count: int
    n: int
    p: float
    varies: str
    test: str
    adjusted: str = ""


def mcnemar(a, b):
    """The difference of two error rates on the same examples; a, b: (n,) bool, True where each is wrong.

    McNemar's exact test: the examples on which just one is wrong are shared evenly under the null hypothesis. The interval
    is Newcombe's for paired proportions (1998, method 10).
    """
    a = np.asarray(a, dtype=bool)
    b = np.asarray(b, dtype=bool)
    if a.shape != b.shape or a.ndim != 1 or not a.size:
        raise ValueError(f"a and b must be (n,) of the same examples, got {a.shape} and {b.shape}")
    n = a.size
    only_a = int((a & ~b).sum())
    only_b = int((~a & b).sum())
    p = stats.binomtest(only_a, only_a + only_b).pvalue if only_a + only_b else 1.0
    low, high = _paired_interval(int((a & b).sum()), only_a, only_b, n)
    return Difference((only_a - only_b) / n, low, high, float(p), n, "test examples", "McNemar's exact test")


def two_samples(errors_a, n_a, errors_b, n_b):
    """The difference of two error rates on different examples: Fisher's exact test; Newcombe, method 10."""
    table = [[errors_a, n_a - errors_a], [errors_b, n_b - errors_b]]
    low, high = confint_proportions_2indep(errors_a, n_a, errors_b, n_b, method="newcomb", alpha=1 - LEVEL)
    p = stats.fisher_exact(table).pvalue
    estimate = errors_a / n_a - errors_b / n_b
    return Difference(float(estimate), float(low), float(high), float(p), n_a + n_b, "test examples", "Fisher's exact test")


def wilson(count, n):
    """(low, high): Wilson's interval (1927) of a share, count of n."""
    interval = stats.binomtest(int(count), int(n)).proportion_ci(LEVEL, method="wilson")
    return float(interval.low), float(interval.high)


def exact(counts, n):
    """(low, high): the exact intervals of shares (Clopper & Pearson 1934), counts of n; arrays, or numbers."""
    return proportion_confint(counts, n, alpha=1 - LEVEL, method="beta")


def at_most(count, n, *, level=LEVEL):
    """The exact upper bound of a share, count of n, at a one-sided level (Clopper & Pearson 1934)."""
    return float(proportion_confint(count, n, alpha=2 * (1 - level), method="beta")[1])


def beta_binomial(n, a, b):
    """(n + 1,): chances of at least 0, 1, ... n of n examples, whose share is drawn from Beta(a, b), or is 0 where a is."""
    chances = stats.betabinom.pmf(np.arange(n + 1), n, a, b) if a else np.eye(1, n + 1)[0]
    return np.minimum(np.cumsum(chances[::-1])[::-1], 1.0)


def student(differences, *, varies):
    """The mean of independent differences (n,), n >= 2: Student's t. varies names their source of variation."""
    return _t_interval(differences, 1.0, varies, "Student's t")


def further_mean(values, k):
    """(low, high): where the mean of k further repeats lies with probability LEVEL, from independent repeats (n,), n >= 2.

    Student's t with n - 1 degrees of freedom: mean +- t s sqrt(1 / n + 1 / k), for repeats of one normal distribution.
    """
    values = np.asarray(values, dtype=float)
    half = stats.t.ppf((1 + LEVEL) / 2, values.size - 1) * values.std(ddof=1) * np.sqrt(1 / values.size + 1 / k)
    return float(values.mean() - half), float(values.mean() + half)


def ratio(a, b, *, varies):
    """mean(a) / mean(b) of pairs (n,), n >= 2, over independent repeats: Fieller's interval (1954); p tests a ratio of 0.

    The interval holds the ratios r for which Student's test of a - r b does not reject 0; it is (-inf, inf) where b itself
    does not differ significantly from 0.
    """
    a = np.asarray(a, dtype=float)
    b = np.asarray(b, dtype=float)
    p = student(a, varies=varies).p
    n = a.size
    t = stats.t.ppf((1 + LEVEL) / 2, n - 1)
    covariance = np.cov(a, b) * t**2 / n
    square = b.mean() ** 2 - covariance[1, 1]
    half = a.mean() * b.mean() - covariance[0, 1]
    estimate = float(a.mean() / b.mean()) if b.any() else np.nan
    low = -np.inf
    high = np.inf
    if square > 0:
        root = np.sqrt(max(half**2 - square * (a.mean() ** 2 - covariance[0, 0]), 0.0))
        low = (half - root) / square
        high = (half + root) / square
    return Difference(estimate, float(low), float(high), p, n, varies, "Fieller's interval")


def resampled(differences, *, test_share, varies="random splits of one sample"):
    """The mean of differences over overlapping splits; the variance of the mean is corrected for the overlap.

    test_share: n_test / n_train of a split. Source: Nadeau & Bengio 2003; the t statistic has n - 1 degrees of freedom.
    """
    n = np.size(differences)
    return _t_interval(differences, 1 + n * test_share, varies, "corrected resampled t (Nadeau & Bengio)")


def _t_interval(differences, inflation, varies, test):
    """Student's t for the mean, whose variance is `inflation` times that of independent differences."""
    differences = np.asarray(differences, dtype=float)
    if differences.ndim != 1 or differences.size < 2 or not np.isfinite(differences).all():
        raise ValueError(f"differences must be (n,) finite, n >= 2, got shape {differences.shape}")
    n = differences.size
    mean = float(differences.mean())
    error = float(differences.std(ddof=1) * np.sqrt(inflation / n))
    if error == 0:
        return Difference(mean, mean, mean, float(mean == 0), n, varies, test)
    reach = stats.t.ppf((1 + LEVEL) / 2, n - 1) * error
    p = 2 * stats.t.sf(abs(mean) / error, n - 1)
    return Difference(mean, mean - reach, mean + reach, float(p), n, varies, test)


def bootstrap(values, *, strata=None, varies="examples"):
    """The mean of values (n,), one for each example, over resampled examples: percentile interval.

    p is twice the smaller share of the resampled means on one side of 0 (both with those at 0), at least 2 / DRAWS. strata
    (n,) resamples each group on its own.
    """
    values = np.asarray(values, dtype=float)
    groups = np.zeros(len(values), dtype=int) if strata is None else np.unique(strata, return_inverse=True)[1]
    sizes = tuple(np.bincount(groups).tolist())
    times = (_times_drawn if DRAWS * len(values) <= KEPT_DRAWS else _times_drawn.__wrapped__)(sizes)
    means = sum(drawn @ values[groups == group] for group, drawn in enumerate(times)) / len(values)
    return _percentile_interval(values.mean(), means, len(values), varies)


@lru_cache(maxsize=2)
def _times_drawn(sizes):
    """How often each example is drawn, (DRAWS, n) for each group of n."""
    rng = np.random.default_rng(0)
    return [rng.multinomial(n, np.full(n, 1 / n), size=DRAWS) for n in sizes]


def bootstrap_of(statistic, n, *, draws=1000, varies="examples"):
    """statistic(weights (b, n)) -> (b,) of n examples of weight 1, over resampled examples; p as that of `bootstrap`."""
    rng = np.random.default_rng(0)
    blocks = -(-draws // 50)
    found = [statistic(rng.multinomial(n, np.full(n, 1 / n), size=min(50, draws - 50 * i))) for i in range(blocks)]
    return _percentile_interval(statistic(np.ones((1, n), dtype=int))[0], np.concatenate(found), n, varies)


def _percentile_interval(estimate, resampled, n, varies):
    low, high = np.quantile(resampled, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    p = min(1.0, 2 * max(min((resampled <= 0).mean(), (resampled >= 0).mean()), 1 / len(resampled)))
    return Difference(float(estimate), float(low), float(high), float(p), n, varies, "bootstrap")


def crossed(differences):
    """The mean of differences (R, n) of R visiting orders and n test images, both drawn at random, R and n >= 2.

    With mean squares A of the rows, B of the columns and C of the rest, the variance of the mean is (A + B - C) / (R n), and
    its degrees of freedom are Satterthwaite's (1946); where C exceeds A or B, the larger of A and B takes the place of the
    sum, with its own degrees of freedom, which then say nothing of the other side: R does not count where B is larger. The
    interval and p are Student's t.

    From five rows on the interval covers the mean in 94 to 97 % of samples. With fewer it covers less: 93 % with four rows,
    92 % with three and 87 % with two, if 90 % of the variance of the mean is that of the rows.
    """
    mean, error, freedom = _crossed(differences)
    names = dict(n=np.shape(differences)[1], varies=f"{np.shape(differences)[0]} visiting orders and test images")
    test = "t of crossed random effects"
    if error == 0:
        return Difference(mean, mean, mean, float(mean == 0), test=test, **names)
    reach = stats.t.ppf((1 + LEVEL) / 2, freedom) * error
    p = float(2 * stats.t.sf(abs(mean) / error, freedom))
    return Difference(mean, mean - reach, mean + reach, p, test=test, **names)


def crossed_equivalence(differences, *, within):
    """The same mean; p is that of two one-sided t tests (Schuirmann 1987) whose null hypothesis is that it lies not within
    +-within of 0: a small p says that the difference is smaller than that."""
    mean, error, freedom = _crossed(differences)
    p = float(stats.t.sf((within - abs(mean)) / error, freedom)) if error else float(abs(mean) >= within)
    return replace(crossed(differences), p=p, test=f"two one-sided t of crossed random effects, within {within:g}")


def _crossed(differences):
    """(mean, standard error, degrees of freedom) of `crossed`."""
    d = np.asarray(differences, dtype=float)
    if d.ndim != 2 or min(d.shape) < 2:
        raise ValueError(f"differences must be (R, n), both at least 2, got shape {d.shape}")
    (rows, columns) = d.shape
    mean = d.mean()
    by_row = d.mean(axis=1)
    by_column = d.mean(axis=0)
    a = columns * by_row.var(ddof=1)
    b = rows * by_column.var(ddof=1)
    rest = (d**2).sum() - columns * (by_row**2).sum() - rows * (by_column**2).sum() + d.size * mean**2
    c = max(rest, 0.0) / ((rows - 1) * (columns - 1))
    if c > min(a, b):
        largest, freedom = (a, rows - 1) if a > b else (b, columns - 1)
        return float(mean), float(np.sqrt(largest / d.size)), freedom
    total = a + b - c
    parts = a**2 / (rows - 1) + b**2 / (columns - 1) + c**2 / ((rows - 1) * (columns - 1))
    return float(mean), float(np.sqrt(total / d.size)), float(total**2 / parts) if parts else 1.0


def signed_ranks(differences):
    """The pseudo-median of differences (n,) over datasets: Wilcoxon's signed-rank test, exact where no two sizes tie.

    estimate is Hodges and Lehmann's, the median of the Walsh averages (d_i + d_j) / 2, and the interval that of the
    averages between which the test does not reject. Zeros are kept and ranked (Pratt 1959).
    """
    differences = np.asarray(differences, dtype=float)
    n = differences.size
    (i, j) = np.triu_indices(differences.size)
    walsh = np.sort((differences[i] + differences[j]) / 2)
    sizes = np.abs(differences)
    exact = len(np.unique(sizes)) == n and sizes.min() > 0 and n <= 50
    if not differences.any():
        return Difference(0.0, 0.0, 0.0, 1.0, n, "data sets", "Wilcoxon's signed ranks")
    p = stats.wilcoxon(differences, zero_method="pratt", method="exact" if exact else "asymptotic").pvalue
    below = (1 - LEVEL) / 2
    if n <= 16:
        totals = _signs(n) @ np.arange(1, n + 1)
        rank = int(np.searchsorted(np.cumsum(np.bincount(totals)) / 2**n, below))
    else:
        spread = np.sqrt(n * (n + 1) * (2 * n + 1) / 24)
        rank = max(0, round(n * (n + 1) / 4 - stats.norm.ppf(1 - below) * spread))
    low, high = (walsh[rank - 1], walsh[-rank]) if rank else (-np.inf, np.inf)
    return Difference(float(np.median(walsh)), float(low), float(high), float(p), n, "data sets", "Wilcoxon's signed ranks")


def _signs(n):
    """All 2^n rows of n signs as bool."""
    return (np.arange(2**n)[:, None] >> np.arange(n)) & 1


def holm(differences):
    """The same comparisons {name: Difference or Excess}, one family, with p adjusted by Holm's procedure (1979)."""
    adjusted = multipletests([each.p for each in differences.values()], method="holm")[1]
    note = f"Holm over {len(differences)}"
    pairs = zip(differences.items(), adjusted, strict=True)
    return {name: replace(each, p=float(p), adjusted=note) for (name, each), p in pairs}


@dataclass(frozen=True)
class Membership:
    """Whether a vector of numbers is an ordinary one among repeats of ours. p: of the sum of squared standard scores; above,
    below: how many numbers lie above and below the median of all; sides: p of that imbalance; m: numbers that vary; n:
    repeats; varies: their source of variation."""

    p: float
    above: int
    below: int
    sides: float
    m: int
    n: int
    varies: str


def distances(vectors):
    """How far each vector (n, m) lies from the mean of all: the sum of its squared scores."""
    return (((vectors - vectors.mean(axis=0)) / vectors.std(axis=0)) ** 2).sum(axis=1)


def membership(numbers, repeats, *, varies):
    """The joint place of numbers (m,) among repeats (n, m): an exact permutation test, each repeat taken for the numbers.

    All n + 1 vectors are scored alike, each number by its mean and standard deviation over all of them; p is the share of
    vectors whose sum of squared scores is at least that of `numbers`, which is among them: at least 1 / (n + 1), and valid
    for any correlations between numbers. `sides` is the same for | above - below |. Numbers that are the same in all
    vectors are left out; p is 1 where none is left, and nan without repeats.
    """
    numbers = np.asarray(numbers, dtype=float)
    repeats = np.asarray(repeats, dtype=float)
    if numbers.ndim != 1 or repeats.ndim != 2 or repeats.shape[1] != len(numbers):
        raise ValueError(f"numbers must be (m,) and repeats (n, m), got {numbers.shape} and {repeats.shape}")
    pooled = np.vstack([numbers, repeats])
    pooled = pooled[:, (pooled != pooled[0]).any(axis=0)]
    n = len(repeats)
    m = pooled.shape[1]
    if not n or not m:
        return Membership(1.0 if n else np.nan, 0, 0, 1.0 if n else np.nan, m, n, varies)
    total = distances(pooled)
    sides = np.sign(pooled - np.median(pooled, axis=0))
    uneven = np.abs(sides.sum(axis=1))
    # Values that differ by rounding only count as equal.
    p, of_sides = ((part >= part[0] - 1e-9 * (1 + part[0])).mean() for part in (total, uneven))
    return Membership(float(p), int((sides[0] > 0).sum()), int((sides[0] < 0).sum()), float(of_sides), m, n, varies)


def farthest(differences):
    """The end of the intervals that is farthest from 0, as a size: how large a difference may be that was not detected."""
    return max((abs(end) for each in differences for end in (each.low, each.high)), default=0.0)


def fixed_sequence(p_values):
    """How many of a family's hypotheses are rejected if they are tested one after the other, in an order fixed beforehand.

    Each is tested at the full level ALPHA, and the first that is not rejected ends the sequence: so the family errs with
    probability ALPHA at most, without any correction (Maurer, Hothorn & Lehmacher 1995).
    """
    kept = np.flatnonzero(np.asarray(p_values, dtype=float) >= ALPHA)
    return int(kept[0]) if len(kept) else len(p_values)


def half_widths(table):
    """(smallest, largest) half-width of the intervals of a family, columns low and high: what its tests can see.

    A difference much smaller than the smallest goes unnoticed, for any verdict; Holm's correction asks for somewhat
    more than the half-width.
    """
    widths = (table["high"] - table["low"]) / 2
    return float(widths.min()), float(widths.max())


def equal_means(values, groups, *, draws=2000):
    """p of the hypothesis that values (n,) do not depend on their groups (n,), by permutation of the groups.

    The statistic is the sum of squares between groups; the groups at hand count as one of the permutations, so that p is at
    least 1 / (draws + 1).
    """
    values = np.asarray(values, dtype=float)
    (_, groups) = np.unique(groups, return_inverse=True)
    random = np.random.default_rng(0)
    sizes = np.bincount(groups)
    centred = values - values.mean()

    def between(places):
        return float((np.bincount(places, weights=centred) ** 2 / sizes).sum())

    least = between(groups) * (1 - 1e-9)
    reached = sum(between(random.permutation(groups)) >= least for _ in range(draws))
    return (1 + reached) / (draws + 1)


def table(differences, **names):
    """A row for each comparison {name: Difference}: name, estimate, low, high, p, n, varies, test, adjusted."""
    rows = [{"comparison": name, **vars(each)} for name, each in differences.items()]
    return pd.DataFrame(rows).rename(columns=names)


def _paired_interval(both, only_a, only_b, n):
    """Newcombe 1998, method 10, for the difference of two paired proportions."""
    a = both + only_a
    b = both + only_b
    (low_a, high_a) = wilson(a, n)
    (low_b, high_b) = wilson(b, n)
    neither = n - both - only_a - only_b
    margins = a * (n - a) * b * (n - b)
    cross = both * neither - only_a * only_b
    if cross > n / 2:
        cross = cross - n / 2
    elif cross >= 0:
        cross = 0.0
    phi = cross / np.sqrt(margins) if margins else 0.0
    estimate = (a - b) / n
    pa = a / n
    pb = b / n
    down = (pa - low_a) ** 2 - 2 * phi * (pa - low_a) * (high_b - pb) + (high_b - pb) ** 2
    up = (high_a - pa) ** 2 - 2 * phi * (high_a - pa) * (pb - low_b) + (pb - low_b) ** 2
    return float(estimate - np.sqrt(max(down, 0))), float(estimate + np.sqrt(max(up, 0)))
