"""The tests and intervals of the study, against other programs: statsmodels, SciPy."""

from math import comb

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.formula.api import ols
from statsmodels.stats.anova import anova_lm
from statsmodels.stats.contingency_tables import mcnemar as mcnemar_of_statsmodels

from study import statistics, words

RNG = np.random.default_rng(0)


def wrong(both, only_a, only_b, neither):
    """Whether a and b are wrong on each example, of which there are so many: two columns."""
    rows = [(True, True), (True, False), (False, True), (False, False)]
    return np.repeat(rows, (both, only_a, only_b, neither), axis=0).T


@pytest.mark.parametrize("cells", [(0, 5, 0, 95), (3, 0, 0, 97), (20, 12, 2, 16)])
def test_mcnemar_is_that_of_statsmodels(cells):
    both, only_a, only_b, neither = cells
    found = statistics.mcnemar(*wrong(*cells))
    expected = mcnemar_of_statsmodels([[both, only_a], [only_b, neither]], exact=True).pvalue
    assert (found.p, found.estimate) == pytest.approx((expected, (only_a - only_b) / sum(cells)))


def test_the_paired_interval_is_that_of_newcombes_example_and_covers_at_its_level():
    # Newcombe 1998, Statistics in Medicine 17: 2635-2650, table II, method 10, row a = 36, b = 12, c = 2, d = 0.
    found = statistics.mcnemar(*wrong(36, 12, 2, 0))
    np.testing.assert_allclose((found.low, found.high), (0.0569, 0.3404), atol=5e-5)
    drawn = [statistics.mcnemar(*wrong(*cells)) for cells in RNG.multinomial(500, [0.02, 0.03, 0.015, 0.935], size=200)]
    assert 0.91 <= np.mean([each.low <= 0.015 <= each.high for each in drawn]) <= 0.99


def test_two_samples_are_fishers_test_and_newcombes_interval():
    # Newcombe 1998, Statistics in Medicine 17: 873-890, table II, method 10: 56/70 - 48/80 and 9/10 - 3/10.
    found = statistics.two_samples(56, 70, 48, 80)
    np.testing.assert_allclose((found.low, found.high), (0.0524, 0.3339), atol=5e-5)
    few = statistics.two_samples(9, 10, 3, 10)
    np.testing.assert_allclose((few.estimate, few.low, few.high), (0.6, 0.1705, 0.8090), atol=5e-5)
    # The tables with these margins that are as likely as this one or less: 9, 10, 3 and 2 of the 12 in the first row.
    as_rare = [k for k in range(2, 11) if comb(10, k) * comb(10, 12 - k) <= comb(10, 9) * comb(10, 3)]
    assert few.p == pytest.approx(sum(comb(10, k) * comb(10, 12 - k) for k in as_rare) / comb(20, 12))


def test_students_interval_is_scipys():
    values = RNG.normal(0.3, 1, size=12)
    found = statistics.student(values, varies="orders")
    expected = stats.ttest_1samp(values, 0)
    assert found.p == pytest.approx(expected.pvalue)
    np.testing.assert_allclose((found.low, found.high), expected.confidence_interval())


def test_resampled_differences_have_a_variance_as_much_larger_as_the_formula_says():
    values = RNG.normal(0.3, 1, size=100)
    found = statistics.resampled(values, test_share=1 / 9)
    # (1 / J + n_test / n_train) s^2 is Nadeau and Bengio's variance of the mean.
    error = np.sqrt((1 / 100 + 1 / 9) * values.var(ddof=1))
    assert found.p == pytest.approx(2 * stats.t.sf(abs(values.mean()) / error, 99))
    assert found.high - found.low == pytest.approx(2 * error * stats.t.ppf(0.975, 99))


def test_equal_differences_need_no_interval():
    found = statistics.student([0.0, 0.0, 0.0], varies="orders")
    assert (found.estimate, found.low, found.high, found.p) == (0, 0, 0, 1)
    assert statistics.student([1.0, 1.0], varies="orders").p == 0
    with pytest.raises(ValueError, match="n >= 2"):
        statistics.student([1.0], varies="orders")


def test_bootstrap_agrees_with_scipys_and_keeps_groups_apart():
    values = RNG.normal(0.2, 1, size=80)
    found = statistics.bootstrap(values)
    expected = stats.bootstrap((values,), np.mean, method="percentile", n_resamples=10_000, rng=np.random.default_rng(1))
    np.testing.assert_allclose((found.low, found.high), expected.confidence_interval, atol=0.02)
    weighted = statistics.bootstrap_of(lambda weights: weights @ values / weights.sum(axis=1), 80, draws=2000)
    np.testing.assert_allclose((weighted.low, weighted.high, weighted.p), (found.low, found.high, found.p), atol=0.03)
    groups = np.repeat([0, 1], 40)
    apart, mixed = (statistics.bootstrap(values + 10 * groups, strata=strata) for strata in (groups, None))
    assert apart.high - apart.low < 0.5 * (mixed.high - mixed.low)
    assert statistics.bootstrap(np.zeros(5)).p == 1 and statistics.bootstrap(np.ones(5)).p == pytest.approx(2e-4)


@pytest.mark.parametrize("n", [6, 11])
def test_signed_ranks_are_scipys_and_their_interval_is_the_tests(n):
    values = RNG.normal(0.4, 1, size=n)
    found = statistics.signed_ranks(values)
    assert found.p == pytest.approx(stats.wilcoxon(values, method="exact").pvalue)
    for edge, step in ((found.low, 1e-9), (found.high, -1e-9)):
        # Just inside the interval the test does not reject, just outside it does.
        assert stats.wilcoxon(values - edge - step, method="exact").pvalue > 0.05 - 1e-12
        assert stats.wilcoxon(values - edge + step, method="exact").pvalue <= 0.05


def crossed_sample(rows, columns, *, of_row, of_column, noise, mean=0.0, seed=0):
    rng = np.random.default_rng(seed)
    parts = of_row * rng.normal(size=(rows, 1)) + of_column * rng.normal(size=(1, columns))
    return mean + parts + noise * rng.normal(size=(rows, columns))


def test_crossed_mean_squares_are_those_of_an_analysis_of_variance():
    d = crossed_sample(4, 6, of_row=1, of_column=1, noise=1)
    frame = pd.DataFrame(d).stack().rename_axis(["row", "column"]).rename("d").reset_index()
    a, b, c = anova_lm(ols("d ~ C(row) + C(column)", frame).fit())["mean_sq"].to_numpy()
    found = statistics.crossed(d)
    error = np.sqrt((a + b - c) / 24)
    freedom = (a + b - c) ** 2 / (a**2 / 3 + b**2 / 5 + c**2 / 15)
    assert c < min(a, b)
    expected = stats.t.interval(0.95, freedom, loc=d.mean(), scale=error)
    assert (found.estimate, found.low, found.high) == pytest.approx((d.mean(), *expected))
    assert found.p == pytest.approx(2 * stats.t.sf(abs(d.mean()) / error, freedom))


@pytest.mark.parametrize(("of_row", "of_column"), [(1, 0.2), (0.2, 1)])
def test_crossed_intervals_hold_the_mean_as_often_as_they_say(of_row, of_column):
    samples = [crossed_sample(6, 30, of_row=of_row, of_column=of_column, noise=1, seed=seed) for seed in range(150)]
    assert np.mean([each.low <= 0 <= each.high for each in map(statistics.crossed, samples)]) > 0.9


def test_crossed_differences_that_do_not_vary_are_certain():
    half = np.full((3, 4), 0.5)
    same = statistics.crossed(np.zeros((3, 4)))
    other = statistics.crossed(half)
    assert (same.p, same.low, same.high) == (1, 0, 0) and (other.p, other.low) == (0, 0.5)
    assert [statistics.crossed_equivalence(half, within=within).p for within in (0.6, 0.4)] == [0, 1]
    with pytest.raises(ValueError, match=r"\(R, n\), both at least 2"):
        statistics.crossed(np.zeros((1, 9)))


def test_equivalence_needs_the_interval_of_90_percent_inside():
    for mean in (0.0, 0.1, 0.2, 0.3):
        d = crossed_sample(5, 40, of_row=0.05, of_column=0.2, noise=0.1, mean=mean, seed=1)
        wide = statistics.crossed(d)
        middle, error, freedom = statistics._crossed(d)
        reach = stats.t.ppf(0.95, freedom) * error
        inside = -0.2 < middle - reach and middle + reach < 0.2
        found = statistics.crossed_equivalence(d, within=0.2)
        assert (found.p < 0.05) == inside and (found.low, found.high) == (wide.low, wide.high)


def test_holm_multiplies_the_smallest_p_by_all_that_are_left():
    p = [0.01, 0.04, 0.03, 0.005, 0.9]
    found = statistics.holm({i: statistics.Difference(1, 0, 2, value, 5, "x", "t") for i, value in enumerate(p)})
    np.testing.assert_allclose([each.p for each in found.values()], [0.04, 0.09, 0.09, 0.025, 0.9])
    assert {each.adjusted for each in found.values()} == {"Holm over 5"} and statistics.holm({}) == {}


@pytest.mark.parametrize(
    ("p", "text"),
    [(0.0314, "0.031"), (2e-5, "< 0.001"), (1.0, "1.0"), (0.0495, "0.0495"), (0.04997, "0.04997"), (0.0504, "0.050")],
)
def test_p_is_printed_without_what_is_always_there(p, text):
    assert words.p_cell(p) == text
    assert words.p_value(p) == (f"p {text}" if text.startswith("<") else f"p = {text}")


def test_fiellers_interval_holds_the_ratios_that_students_test_does_not_reject():
    rng = np.random.default_rng(4)
    b = rng.normal(2, 0.5, 9)
    a = 0.6 * b + rng.normal(0.5, 0.3, 9)
    found = statistics.ratio(a, b, varies="orders")
    assert found.low < found.estimate < found.high and found.estimate == pytest.approx(a.mean() / b.mean())
    for end in (found.low, found.high):
        assert stats.ttest_1samp(a - end * b, 0).pvalue == pytest.approx(0.05)
    assert found.p == pytest.approx(stats.ttest_1samp(a, 0).pvalue)
    open_ended = statistics.ratio([1.0, 2.0, 3.0], [-1.0, 1.0, 0.1], varies="orders")
    assert (open_ended.low, open_ended.high) == (-np.inf, np.inf)


def test_membership_gives_each_vector_of_a_set_its_place_among_the_others():
    vectors = np.random.default_rng(3).normal(size=(20, 4)).round(1)
    found = [statistics.membership(each, np.delete(vectors, i, 0), varies="folds") for i, each in enumerate(vectors)]
    for values in ([each.p for each in found], [each.sides for each in found]):
        assert all(np.sum(np.array(values) <= k / 20 + 1e-9) <= k for k in range(1, 21))
    assert sorted(each.p for each in found) == pytest.approx(np.arange(1, 21) / 20)


def test_membership_leaves_out_what_cannot_differ_and_notices_numbers_on_one_side():
    rng = np.random.default_rng(5)
    repeats = np.c_[rng.normal(size=(200, 10)), np.zeros(200)]
    high = statistics.membership(np.append(np.full(10, 0.9), 0.0), repeats, varies="folds")
    assert (high.m, high.above, high.below) == (10, 10, 0) and high.sides < 0.02 < 0.05 < high.p
    outside = statistics.membership(np.append(np.zeros(10), 1.0), repeats, varies="folds")
    assert outside.m == 11 and outside.p == pytest.approx(1 / 201)
    assert np.isnan(statistics.membership([0.0], np.zeros((0, 1)), varies="folds").p)
    with pytest.raises(ValueError, match="numbers must be"):
        statistics.membership([0.0, 1.0], np.zeros((5, 1)), varies="folds")


def test_a_fixed_sequence_stops_at_the_first_hypothesis_that_stands():
    assert [statistics.fixed_sequence(p) for p in ([0.01, 0.049, 0.05, 0.0], [0.2, 0.0], [0.01, 0.02], [])] == [2, 0, 2, 0]


def test_equal_means_of_groups_are_tested_by_permutation():
    rng = np.random.default_rng(1)
    groups = rng.integers(4, size=400)
    values = rng.random(400)
    assert statistics.equal_means(values + (groups == 2), groups, draws=200) == pytest.approx(1 / 201)
    assert statistics.equal_means(np.ones(20), np.arange(20) % 3, draws=50) == 1.0
    # Two groups: the test is the two-sided permutation test of the difference of their means.
    a = values[:6]
    b = values[6:12] + 0.5
    exact = stats.permutation_test((a, b), lambda x, y, axis: x.mean(axis) - y.mean(axis), n_resamples=np.inf).pvalue
    own = statistics.equal_means(np.r_[a, b], [0] * 6 + [1] * 6, draws=5_000)
    assert own == pytest.approx(exact, abs=0.02)


def test_exact_intervals_of_shares_leave_a_fortieth_on_either_side():
    low, high = statistics.exact(np.array([0, 5, 10]), 10)
    np.testing.assert_allclose(low, [0, 0.187086, 0.691503], atol=1e-6)
    np.testing.assert_allclose(high, [0.308497, 0.812914, 1], atol=1e-6)
    for count, n in ((0, 40), (3, 200), (17, 60)):
        bound = statistics.at_most(count, n, level=0.95)
        assert sum(comb(n, k) * bound**k * (1 - bound) ** (n - k) for k in range(count + 1)) == pytest.approx(0.05)
    assert statistics.at_most(7, 7) == 1


def test_beta_binomial_chances_are_scipys():
    chances = statistics.beta_binomial(30, 3, 50)
    np.testing.assert_allclose(chances, stats.betabinom.sf(np.arange(31) - 1, 30, 3, 50), atol=1e-12)
    assert statistics.beta_binomial(5, 0, 9).tolist() == [1, 0, 0, 0, 0, 0]
