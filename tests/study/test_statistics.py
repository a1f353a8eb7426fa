"""The tests and intervals of the study, against other programs: statsmodels, SciPy, scikit-posthocs."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
import scikit_posthocs
from scipy import stats
from statsmodels.formula.api import ols
from statsmodels.stats.anova import anova_lm
from statsmodels.stats.contingency_tables import mcnemar as mcnemar_of_statsmodels
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

from study import statistics, words

RNG = np.random.default_rng(0)


def wrong(both, only_a, only_b, neither):
    a = np.repeat([1, 1, 0, 0], (both, only_a, only_b, neither)).astype(bool)
    b = np.repeat([1, 0, 1, 0], (both, only_a, only_b, neither)).astype(bool)
    return a, b


@pytest.mark.parametrize("cells", [(100, 30, 12, 9858), (0, 5, 0, 95), (3, 0, 0, 97), (20, 12, 2, 16)])
def test_mcnemar_is_that_of_statsmodels(cells):
    both, only_a, only_b, neither = cells
    found = statistics.mcnemar(*wrong(*cells))
    expected = mcnemar_of_statsmodels([[both, only_a], [only_b, neither]], exact=True).pvalue
    assert found.p == pytest.approx(expected) and found.estimate == pytest.approx((only_a - only_b) / sum(cells))
    assert found.low <= found.estimate <= found.high


def test_paired_interval_is_that_of_newcombes_example():
    # Newcombe 1998, Statistics in Medicine 17: 2635-2650, table II, method 10, row a = 36, b = 12, c = 2, d = 0.
    found = statistics.mcnemar(*wrong(36, 12, 2, 0))
    np.testing.assert_allclose((found.low, found.high), (0.0569, 0.3404), atol=5e-5)


def test_the_paired_interval_covers_at_its_level():
    p, n, inside = np.array([0.02, 0.03, 0.015, 0.935]), 500, 0
    for cells in RNG.multinomial(n, p, size=1500):
        found = statistics.mcnemar(*wrong(*cells))
        inside += found.low <= p[1] - p[2] <= found.high
    assert 0.93 <= inside / 1500 <= 0.98


@pytest.mark.parametrize("cells", [(107, 5000, 47, 5000), (0, 30, 4, 40), (9, 10, 3, 10)])
def test_two_samples_are_those_of_statsmodels_and_fisher(cells):
    a, n_a, b, n_b = cells
    found = statistics.two_samples(*cells)
    low, high = confint_proportions_2indep(a, n_a, b, n_b, method="newcomb")
    np.testing.assert_allclose((found.low, found.high), (low, high), atol=1e-12)
    assert found.p == pytest.approx(stats.fisher_exact([[a, n_a - a], [b, n_b - b]]).pvalue)


def test_students_interval_is_scipys():
    values = RNG.normal(0.3, 1, size=12)
    found, expected = statistics.student(values, varies="orders"), stats.ttest_1samp(values, 0)
    assert found.p == pytest.approx(expected.pvalue)
    np.testing.assert_allclose((found.low, found.high), expected.confidence_interval())


def test_resampled_differences_have_a_variance_as_much_larger_as_the_formula_says():
    values = RNG.normal(0.3, 1, size=100)
    plain, corrected = statistics.student(values, varies=""), statistics.resampled(values, test_share=1 / 9)
    ratio = (corrected.high - corrected.low) / (plain.high - plain.low)
    assert ratio**2 == pytest.approx(1 + 100 / 9)
    # (1 / J + n_test / n_train) s^2 is Nadeau and Bengio's variance of the mean.
    t = values.mean() / np.sqrt((1 / 100 + 1 / 9) * values.var(ddof=1))
    assert corrected.p == pytest.approx(2 * stats.t.sf(abs(t), 99))


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
    groups = np.repeat([0, 1], 40)
    far = values + 10 * groups
    apart, mixed = statistics.bootstrap(far, strata=groups), statistics.bootstrap(far)
    assert apart.high - apart.low < 0.5 * (mixed.high - mixed.low)
    assert statistics.bootstrap(np.zeros(5)).p == 1 and statistics.bootstrap(np.ones(5)).p == pytest.approx(2e-4)


@pytest.mark.parametrize("n", [6, 11, 16])
def test_signed_ranks_are_scipys_and_their_interval_is_the_tests(n):
    values = RNG.normal(0.4, 1, size=n)
    found = statistics.signed_ranks(values)
    assert found.p == pytest.approx(stats.wilcoxon(values, method="exact").pvalue)
    for edge, step in ((found.low, 1e-9), (found.high, -1e-9)):
        # Just inside the interval the test does not reject, just outside it does.
        assert stats.wilcoxon(values - edge - step, method="exact").pvalue > 0.05 - 1e-12
        assert stats.wilcoxon(values - edge + step, method="exact").pvalue <= 0.05


def test_signed_ranks_with_holm_are_those_of_scikit_posthocs():
    scores = RNG.normal(size=(11, 3)) + [0, 0.7, 1.5]
    pairs = {(i, j): statistics.signed_ranks(scores[:, i] - scores[:, j]) for i, j in ((0, 1), (0, 2), (1, 2))}
    expected = scikit_posthocs.posthoc_wilcoxon(scores.T.tolist(), p_adjust="holm", method="exact").to_numpy()
    for (i, j), each in statistics.holm(pairs).items():
        assert each.p == pytest.approx(expected[i, j]) and each.adjusted == "Holm over 3"


def test_sign_flips_of_one_repeat_are_mcnemars_test():
    a, b = RNG.random(60) < 0.4, RNG.random(60) < 0.3
    found, expected = statistics.sign_flips(a.astype(int) - b, of=1), statistics.mcnemar(a, b)
    assert (found.estimate, found.n) == (expected.estimate, expected.n) and found.p == pytest.approx(expected.p)
    assert found.low < found.estimate < found.high


def test_sign_flips_count_all_signs():
    totals = np.array([3, -1, 2, 2, 0, 1, 1, -3])
    sums = np.array([np.array(signs) @ totals for signs in product((-1, 1), repeat=len(totals))])
    found = statistics.sign_flips(totals, of=3)
    assert found.p == pytest.approx(np.mean(np.abs(sums) >= totals.sum())) and found.estimate == pytest.approx(5 / 24)
    nothing = statistics.sign_flips(np.zeros(5, dtype=int), of=2)
    assert (nothing.estimate, nothing.low, nothing.high, nothing.p) == (0, 0, 0, 1)


def crossed_sample(rows, columns, *, of_row, of_column, noise, mean=0.0, seed=0):
    rng = np.random.default_rng(seed)
    parts = of_row * rng.normal(size=(rows, 1)) + of_column * rng.normal(size=(1, columns))
    return mean + parts + noise * rng.normal(size=(rows, columns))


def test_crossed_mean_squares_are_those_of_an_analysis_of_variance():
    d = crossed_sample(4, 6, of_row=1, of_column=1, noise=1)
    frame = pd.DataFrame(d).stack().rename_axis(["row", "column"]).rename("d").reset_index()
    squares = anova_lm(ols("d ~ C(row) + C(column)", frame).fit())["mean_sq"].to_numpy()
    found = statistics.crossed(d)
    a, b, c = squares
    freedom = (a + b - c) ** 2 / (a**2 / 3 + b**2 / 5 + c**2 / 15)
    reach = stats.t.ppf(0.975, freedom) * np.sqrt((a + b - c) / 24)
    assert c < min(a, b) and found.estimate == pytest.approx(d.mean())
    assert (found.low, found.high) == pytest.approx((d.mean() - reach, d.mean() + reach))
    assert found.p == pytest.approx(2 * stats.t.sf(abs(d.mean()) / np.sqrt((a + b - c) / 24), freedom))
    assert found.varies == "4 visiting orders and test images" and found.n == 6


@pytest.mark.parametrize("sizes", [(1, 0.2), (0.2, 1), (0, 0.5), (0.5, 0)])
def test_crossed_intervals_hold_the_mean_as_often_as_they_say(sizes):
    of_row, of_column = sizes
    held = [
        each.low <= 0 <= each.high
        for seed in range(400)
        for each in [statistics.crossed(crossed_sample(6, 30, of_row=of_row, of_column=of_column, noise=1, seed=seed))]
    ]
    assert np.mean(held) > 0.92


def test_crossed_differences_that_do_not_vary_are_certain():
    same, other = statistics.crossed(np.zeros((3, 4))), statistics.crossed(np.full((3, 4), 0.5))
    assert (same.p, same.low, same.high) == (1, 0, 0) and (other.p, other.low) == (0, 0.5)
    within = statistics.crossed_equivalence(np.full((3, 4), 0.5), within=0.6)
    assert within.p == 0 and statistics.crossed_equivalence(np.full((3, 4), 0.5), within=0.4).p == 1
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


def test_holm_is_that_of_statsmodels():
    p = [0.01, 0.04, 0.03, 0.005, 0.9]
    plain = {i: statistics.Difference(1, 0, 2, value, 5, "x", "t") for i, value in enumerate(p)}
    expected = multipletests(p, method="holm")[1]
    np.testing.assert_allclose([each.p for each in statistics.holm(plain).values()], expected)


def test_bayesian_signed_ranks_know_which_side_is_lower():
    a = np.linspace(1, 2, 10)
    lower, same = statistics.bayes_signed_ranks(a, a + 5, rope=1), statistics.bayes_signed_ranks(a, a + 0.01, rope=1)
    assert lower["lower"] > 0.99 and same["equivalent"] > 0.99
    assert sum(lower.values()) == pytest.approx(1)
    assert statistics.bayes_signed_ranks(a, a + 0.9, rope=1) == statistics.bayes_signed_ranks(a, a + 0.9, rope=1)


def test_a_verb_needs_its_test():
    sure = statistics.Difference(-0.1, -0.2, -0.05, 0.01, 10, "orders", "t")
    assert sure.word() == "is lower than" and sure.word(alpha=0.001) == "cannot be told apart from"


@pytest.mark.parametrize(
    ("p", "text"),
    [
        (0.0314, "p = 0.031"),
        (2e-5, "p < 0.001"),
        (1.0, "p = 1.0"),
        (0.9, "p = 0.900"),
        (0.0495, "p = 0.0495"),
        (0.04997, "p = 0.04997"),
        (0.05, "p = 0.050"),
        (0.0504, "p = 0.050"),
    ],
)
def test_p_is_printed_without_what_is_always_there(p, text):
    assert words.p_value(p) == text


def test_p_in_a_table_is_without_its_name():
    assert [words.p_cell(p) for p in (0.0314, 2e-5, 5 / 101, 1.0)] == ["0.031", "< 0.001", "0.0495", "1.0"]


@pytest.mark.parametrize("shift", [0.0, 0.5, 3.0])
def test_fiellers_interval_holds_the_ratios_that_students_test_does_not_reject(shift):
    rng = np.random.default_rng(4)
    b = rng.normal(2, 0.5, 9)
    a = 0.6 * b + rng.normal(shift, 0.3, 9)
    found = statistics.ratio(a, b, varies="orders")
    assert found.low < found.estimate < found.high and found.estimate == pytest.approx(a.mean() / b.mean())
    for end in (found.low, found.high):
        assert stats.ttest_1samp(a - end * b, 0).pvalue == pytest.approx(0.05)
    assert found.p == pytest.approx(stats.ttest_1samp(a, 0).pvalue)


def test_a_ratio_to_what_may_be_zero_has_no_interval():
    found = statistics.ratio([1.0, 2.0, 3.0], [-1.0, 1.0, 0.1], varies="orders")
    assert (found.low, found.high) == (-np.inf, np.inf)


def test_membership_gives_each_vector_of_a_set_its_place_among_the_others():
    vectors = np.random.default_rng(3).normal(size=(20, 4)).round(1)
    found = [statistics.membership(each, np.delete(vectors, i, 0), varies="folds") for i, each in enumerate(vectors)]
    for values in ([each.p for each in found], [each.sides for each in found]):
        assert all(np.sum(np.array(values) <= k / 20 + 1e-9) <= k for k in range(1, 21))
    assert sorted(each.p for each in found) == pytest.approx(np.arange(1, 21) / 20)


def test_membership_of_one_number_is_its_distance_from_the_mean_of_all():
    repeats, number = np.arange(9.0), 7.5
    everything = np.append(repeats, number)
    far = np.abs(everything - everything.mean())
    found = statistics.membership([number], repeats[:, None], varies="folds")
    assert found.p == pytest.approx((far >= far[-1]).mean()) and (found.above, found.below, found.m, found.n) == (1, 0, 1, 9)


def test_membership_leaves_out_what_cannot_differ_and_notices_numbers_on_one_side():
    rng = np.random.default_rng(5)
    repeats = np.c_[rng.normal(size=(200, 10)), np.zeros(200)]
    high = statistics.membership(np.append(np.full(10, 0.9), 0.0), repeats, varies="folds")
    assert high.m == 10 and (high.above, high.below) == (10, 0) and high.sides < 0.02 < 0.05 < high.p
    outside = statistics.membership(np.append(np.zeros(10), 1.0), repeats, varies="folds")
    assert outside.m == 11 and outside.p == pytest.approx(1 / 201)
    assert statistics.membership([0.0], np.zeros((5, 1)), varies="folds").p == 1.0
    assert np.isnan(statistics.membership([0.0], np.zeros((0, 1)), varies="folds").p)
    with pytest.raises(ValueError, match="numbers must be"):
        statistics.membership([0.0, 1.0], np.zeros((5, 1)), varies="folds")


def test_a_bootstrap_of_weighted_means_is_the_bootstrap_of_means():
    values = np.random.default_rng(1).normal(0.3, 1, size=80)
    expected = statistics.bootstrap(values)
    found = statistics.bootstrap_of(lambda weights: weights @ values / weights.sum(axis=1), 80, draws=2000)
    assert found.estimate == pytest.approx(expected.estimate) and (found.n, found.test) == (80, "bootstrap")
    assert found.low == pytest.approx(expected.low, abs=0.03) and found.high == pytest.approx(expected.high, abs=0.03)
    assert found.p == pytest.approx(expected.p, abs=0.01)


def test_the_farthest_end_of_intervals_is_the_largest_difference_left_open():
    found = [statistics.Difference(0.0, low, high, 1.0, 9, "v", "t") for low, high in ((-0.1, 0.2), (-0.35, 0.1))]
    assert statistics.farthest(found) == 0.35 and statistics.farthest([]) == 0


def test_a_fixed_sequence_stops_at_the_first_hypothesis_that_stands():
    assert statistics.fixed_sequence([0.01, 0.049, 0.05, 0.0]) == 2
    assert statistics.fixed_sequence([0.2, 0.0]) == 0 and statistics.fixed_sequence([0.01, 0.02]) == 2
    assert statistics.fixed_sequence([]) == 0 and statistics.fixed_sequence([0.02, 0.0], alpha=0.01) == 0


def test_a_fixed_sequence_errs_in_a_twentieth_of_all_families():
    rng = np.random.default_rng(0)
    assert np.mean([statistics.fixed_sequence(rng.random(9)) > 0 for _ in range(4000)]) == pytest.approx(0.05, abs=0.01)


def test_half_widths_are_what_a_family_can_see():
    table = pd.DataFrame({"low": [-0.1, 0.0], "high": [0.3, 0.1]})
    assert statistics.half_widths(table) == pytest.approx((0.05, 0.2))


def test_equal_means_of_groups_are_tested_by_permutation():
    rng = np.random.default_rng(1)
    groups = rng.integers(4, size=400)
    values = rng.random(400)
    assert statistics.equal_means(values + (groups == 2), groups, draws=200) == pytest.approx(1 / 201)
    p = [statistics.equal_means(rng.random(60), groups[:60], draws=99) for _ in range(200)]
    assert np.mean(np.array(p) <= 0.1) == pytest.approx(0.1, abs=0.06)
    # Two groups: the test is the two-sided permutation test of the difference of their means.
    a, b = values[:6], values[6:12] + 0.5
    exact = stats.permutation_test((a, b), lambda x, y, axis: x.mean(axis) - y.mean(axis), n_resamples=np.inf).pvalue
    own = statistics.equal_means(np.r_[a, b], [0] * 6 + [1] * 6, draws=20_000)
    assert own == pytest.approx(exact, abs=0.01)


def test_equal_values_have_equal_means():
    assert statistics.equal_means(np.ones(20), np.arange(20) % 3, draws=50) == 1.0


def test_an_upper_bound_of_a_share_is_statsmodels_and_covers():
    for count, n in ((0, 40), (3, 200), (17, 60)):
        _, high = proportion_confint(count, n, alpha=0.1, method="beta")
        assert statistics.at_most(count, n, level=0.95) == pytest.approx(high)
    assert statistics.at_most(7, 7) == 1


def test_beta_binomial_chances_are_scipys_and_those_of_drawn_shares():
    chances = statistics.beta_binomial(30, 3, 50)
    assert chances[0] == pytest.approx(1) and (np.diff(chances) < 0).all()
    np.testing.assert_allclose(chances[1:], stats.betabinom.sf(np.arange(30), 30, 3, 50), atol=1e-12)
    drawn = RNG.binomial(30, RNG.beta(3, 50, size=40_000))
    assert np.mean(drawn >= 4) == pytest.approx(chances[4], abs=0.01)
    assert statistics.beta_binomial(5, 0, 9).tolist() == [1, 0, 0, 0, 0, 0]
