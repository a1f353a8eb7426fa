"""What Hermans 2021 says in words, draft and final report, each with a verdict and the numbers that it rests on.

A statement of several parts holds where all of them do, in part where some do. The parts are what the lines below compare.
Errors are counts of the study's own runs, which equal the source's (study.mnist.claims); the source has three predictors.
"""

import re

import numpy as np
from scipy.stats import chi2_contingency

from study import claims as ledger
from study import statistics
from study.mnist import tables
from study.mnist.claims import NEAREST, SOURCE, SUMMARY
from study.mnist.experiment import DEGREES, PUBLISHED, Study, comparisons, degrees, logs_from_arrays, neighbours

OF_SOURCE = ("final", "average", "minimizing")
ABSTRACT, BINARY, MULTICLASS = "both versions, abstract", "final report, section 5.1", "final report, section 5.2"
ONLINE = 4
"""The degree whose first epoch says how it goes on with more examples."""
DISCUSSION = "final report, section 6"


def statements():
    """The rows of the table of statements; see study.claims."""
    results, compared, nearest = degrees(PUBLISHED), comparisons(Study()), neighbours(NEAREST)
    found = [
        *_of_digit_5(_of_the_source(results["binary"]).query("digit == 5")),
        *_of_ten_digits(_of_the_source(results["multiclass"]), compared["paired"], results["confusion"]),
        *_beside_others(results["multiclass"], ledger.published("mnist_literature"), nearest["neighbours"]),
        *_of_the_discussion(logs_from_arrays(results["arrays"][ONLINE - 1]), compared["committee"]),
        _history(),
    ]
    return ledger.statement_rows(found, source=SOURCE, chapter=SUMMARY)


def verdict(*parts):
    """The verdict of a statement whose parts are true or false."""
    return "holds" if all(parts) else "holds in part" if any(parts) else "does not hold"


def _row(key, place, statement, evidence, *parts):
    return {
        "key": f"hermans-2021/statement/{key}", "place": place, "statement": statement, "verdict": verdict(*parts),
        "evidence": re.sub(r"(\d)%", r"\1 %", evidence),
    }  # fmt: skip


def _of_the_source(table):
    return table[table["predictor"].isin(OF_SOURCE)]


def _wide(table, split):
    """Errors by degree and epoch, a column for each predictor."""
    return table[table["split"] == split].pivot(index=["degree", "epoch"], columns="predictor", values="errors")


def _of_digit_5(binary):
    """Section 5.1, on the binary perceptron of digit 5; binary holds its errors alone."""
    train, test = (_wide(binary, split) for split in ("train", "test"))
    n, n_test = (int(binary.loc[binary["split"] == split, "n"].iloc[0]) for split in ("train", "test"))
    linear = 100 * train.loc[1].to_numpy() / n
    inside = int(((linear >= 2) & (linear <= 4)).sum())
    yield _row(
        "digit-5-degree-1", BINARY,
        "Digit 5, p = 1: the training error stays roughly between 2 and 4 % and does not reach 0.",
        f"{inside} of {linear.size} values lie there; all lie between {linear.min():.2f} and {linear.max():.2f} %.",
        inside >= 0.9 * linear.size, linear.min() > 0,
    )  # fmt: skip
    least = train.min(axis=1).groupby("degree").min()
    above = least[least.index >= 3]
    left = [f"{count} of {n:,} images stay wrong at p = {degree}" for degree, count in above[above > 0].items()]
    zero = " and ".join(f"p = {degree}" for degree in above.index[above == 0])
    yield _row(
        "digit-5-zero", BINARY, "Digit 5: from p = 3 on the training error reaches 0.",
        f"Within ten epochs it does at {zero}; {' and '.join(left) or 'no image stays wrong elsewhere'}.",
        *(above == 0),
    )  # fmt: skip
    lowest = train["minimizing"]
    reached = {degree: lowest.loc[degree].le(0.001 * n) for degree in DEGREES if degree > 1}
    first = {degree: int(below.idxmax()) if below.any() else np.inf for degree, below in reached.items()}
    to_zero = {degree: int(lowest.loc[degree].eq(0).idxmax()) for degree in above.index[above == 0]}
    epochs = ", ".join(f"{epoch}" for epoch in first.values())
    zeros = " and ".join(f"{epoch} at p = {degree}" for degree, epoch in to_zero.items())
    yield _row(
        "digit-5-epochs", BINARY, "Digit 5: the epochs needed to converge fall with p.",
        f"The minimizing predictor's training error is first at most 0.1 % after {epochs} epochs at p = 2 to 6; it is "
        f"first 0 after {zeros}.",
        _falls(first.values()), _falls(to_zero.values()),
    )  # fmt: skip
    below = int((train["average"] < train["minimizing"]).sum())
    less = int((train["minimizing"] < train["final"]).sum())
    more = int((train["minimizing"] > train["final"]).sum())
    yield _row(
        "digit-5-order", BINARY,
        "Digit 5: the average predictor's training error can be below the minimizing one's, whose error is always below the "
        "final one's.",
        f"Of {len(train)} cases the average is below the minimizing predictor in {below}; the minimizing is below the final "
        f"one in {less}, above it in {more} and equal to it in the others.",
        below > 0, less == len(train),
    )  # fmt: skip
    high = int(test[test.index.get_level_values("degree") >= 5].to_numpy().min())
    four = int(test.loc[4].to_numpy().min())
    more = statistics.two_samples(high, n_test, four, n_test)
    word = more.word("is lower", "is higher: it overfits", "cannot be told apart: that it overfits is not shown")
    yield _row(
        "digit-5-overfits", BINARY, "Digit 5, p ≥ 5: no predictor's test error drops below roughly 0.5 %; it overfits.",
        f"The smallest is {100 * high / n_test:.2f} %; beside {100 * four / n_test:.2f} % at p = 4 it {word} (Fisher as if "
        f"the test images were others, {statistics.p_value(more.p)}).",
        round(100 * high / n_test, 1) >= 0.5, more.p < statistics.ALPHA and more.estimate > 0,
    )  # fmt: skip
    yield _row(
        "digit-5-saturates", BINARY, "Digit 5: the test errors saturate above 0.",
        f"The smallest of all degrees and epochs is {100 * test.to_numpy().min() / n_test:.2f} %.",
        test.to_numpy().min() > 0,
    )  # fmt: skip


def _falls(epochs):
    """True if the numbers never rise and the last is below the first."""
    epochs = list(epochs)
    return all(b <= a for a, b in zip(epochs, epochs[1:], strict=False)) and epochs[-1] < epochs[0]


def _of_ten_digits(multiclass, paired, confusion):
    """Sections 5.2 and 5.3, on the multiclass predictors; paired as from `comparisons`."""
    train, test = (_wide(multiclass, split) for split in ("train", "test"))
    n = int(multiclass.loc[multiclass["split"] == "train", "n"].iloc[0])
    lowest = train["minimizing"]
    first = {degree: np.flatnonzero(lowest.loc[degree] <= 0.002 * n) for degree in DEGREES}
    first = {degree: int(found[0]) + 1 if len(found) else np.inf for degree, found in first.items()}
    spoken = ", ".join(f"{epoch} (p = {degree})" for degree, epoch in first.items() if np.isfinite(epoch))
    fewest = int(train.loc[1].to_numpy().min())
    underfit = np.floor(1e4 * fewest / n) / 1e4  # a bound that holds: rounded down
    yield _row(
        "slow", MULTICLASS, "p < 3 converges slowly; p = 1 underfits.",
        f"The first epoch with a training error of the minimizing predictor of at most 0.2 % is {spoken}; at p = 1 "
        f"none of the source's three predictors gets below {underfit:.2%}.",
        min(first[1], first[2]) > max(first[degree] for degree in DEGREES if degree >= 3), underfit > 0.01,
    )  # fmt: skip
    best = paired[(paired["family"] == "best") & (paired["degree"] >= 3)]
    told = best[best["p"] < statistics.ALPHA]
    wide = best["estimate"].abs().max()
    yield _row(
        "degrees-above-3", MULTICLASS, "p ≥ 3 neither improves further nor overfits strongly.",
        f"Of {len(best)} predictors with p ≥ 3 after epoch 10, {len(told) or 'none'} can be told from the best one "
        f"(McNemar, Holm over the {(paired['family'] == 'best').sum()} predictors of all degrees); the largest difference "
        f"is {statistics.points(wide, sign=False)}.",
        told.empty, wide < 0.005,
    )  # fmt: skip
    below = train["minimizing"] < train["average"]
    counts = ", ".join(f"{count} at p = {degree}" for degree, count in below.groupby("degree").sum().items())
    yield _row(
        "minimizing-below-average", MULTICLASS, "The minimizing predictor's training error is below the average one's.",
        f"It is in {below.sum()} of {len(below)} cases, ten for each degree: {counts}.",
        bool(below.any()), bool(below.all()),
    )  # fmt: skip
    worse = (test["final"] > test["average"]) & (test["final"] > test["minimizing"])
    final = paired[(paired["family"] == "average") & (paired["predictor"] == "final") & (paired["epoch"] > 1)]
    told = final.loc[final["p"] < statistics.ALPHA, "degree"]
    spoken = f"only at p = {' and '.join(map(str, told))}" if len(told) else "at no degree"
    yield _row(
        "final-worse", MULTICLASS, "On the test set the final predictor is typically worse than the other two.",
        f"It has more errors than both in {worse.sum()} of {len(worse)} cases; after epoch 10 it can be told from the "
        f"average one {spoken} (McNemar, Holm).",
        worse.mean() > 0.5,
    )  # fmt: skip
    ranking = tables.ranking(multiclass)
    counts, p_values, shares = _by_digit(confusion.merge(ranking[["predictor", "degree", "epoch"]]), ranking)
    rejected = sum(p < statistics.ALPHA for p in p_values)
    assert len(p_values) == len(OF_SOURCE)
    yield _row(
        "no-digit", "final report, section 5.3", "No digit has a particularly large number of misclassifications.",
        f"The three best predictors misclassify {counts.min()} to {counts.max()} images of a digit, at most {shares:.0%} of "
        f"their errors; equal error rates of all digits are rejected for {rejected or 'none'} of the three (chi-square, "
        f"Bonferroni over 3, smallest {statistics.p_value(min(p_values))}).",
        shares < 0.2, rejected == 0,
    )  # fmt: skip


def _by_digit(chosen, best):
    """(errors by digit of all predictors, p of equal rates for each, largest share of a digit in a predictor's errors)."""
    counts, p_values, shares = [], [], []
    for predictor in best["predictor"]:
        rows = chosen[chosen["predictor"] == predictor]
        total = rows.groupby("true")["count"].sum()
        wrong = rows[rows["true"] != rows["predicted"]].groupby("true")["count"].sum()
        counts += wrong.tolist()
        shares.append((wrong / wrong.sum()).max())
        p_values.append(min(1.0, len(best) * chi2_contingency([wrong, total - wrong]).pvalue))
    return np.array(counts), p_values, max(shares)


def _beside_others(multiclass, cited, nearest):
    """The abstract's comparison and Table 2's quotations."""
    best = tables.ranking(_of_the_source(multiclass)).iloc[0]
    rate = {(row.method, row.preprocessing): row.test_error_percent / 100 for row in cited.itertuples()}
    machine, deskewed = "Support vector machine, Gaussian kernel", "Support vector machine, polynomial kernel of degree 4"
    plain = rate[machine, "none"]
    one = nearest[nearest["measure"] == "distance"].set_index("neighbours").loc[1]
    against = statistics.two_samples(int(best["errors"]), int(best["n"]), int(one["errors"]), int(one["n"]))
    yield _row(
        "similar", ABSTRACT, "The error rates are like those of other classical methods, above all support vector machines.",
        f"{best['error']:.2%} with the interval {best['low']:.2%} to {best['high']:.2%}; a support vector machine without "
        f"preprocessing has {plain:.2%}, the nearest neighbour {one['errors'] / one['n']:.2%} (Fisher, "
        f"{statistics.p_value(against.p)}).",
        best["low"] <= plain <= best["high"], against.p >= statistics.ALPHA,
    )  # fmt: skip
    lower = {"deskewing": rate[deskewed, "deskewing"], "LeNet-5": rate["Convolutional network LeNet-5", "none"]}
    tests = {name: statistics.two_samples(round(r * 10000), 10000, int(best["errors"]), 10000) for name, r in lower.items()}
    tests = statistics.holm(tests)
    spoken = " and ".join(f"{lower[name]:.2%} ({name}; {statistics.p_value(t.p)})" for name, t in tests.items())
    yield _row(
        "preprocessing", ABSTRACT, "Preprocessing and deep networks are reported to have significantly lower test errors.",
        f"{spoken} beside {best['error']:.2%} (Fisher as if the test images were others, Holm over 2).",
        *(t.p < statistics.ALPHA and t.estimate < 0 for t in tests.values()),
    )  # fmt: skip
    report = ledger.published("hermans_2021_final_report").query("item == 'Table 2'").set_index("quantity")["published"]
    neighbour = "Nearest neighbours, Euclidean distance"
    page = {
        "nearest neighbours, no preprocessing": rate[neighbour, "none"],
        "nearest neighbours, deskewing": rate[neighbour, "deskewing"],
        "nearest neighbours, deskewing, noise removal, blurring": rate[neighbour, "deskewing, noise removal, blurring"],
        "support vector machine, Gaussian kernel, no preprocessing": plain,
        "support vector machine, polynomial kernel of degree 4, deskewing": rate[deskewed, "deskewing"],
    }
    rows = {(row.method, row.preprocessing, row.test_error_percent) for row in cited.itertuples()}
    page["nearest neighbours, no preprocessing"] = max(e for m, p, e in rows if (m, p) == (neighbour, "none")) / 100
    same = {name: bool(np.isclose(report[name] / 100, value)) for name, value in page.items()}
    other = [f"{report[name]} for {name}, where the page has {100 * page[name]:.2f}" for name, ok in same.items() if not ok]
    yield _row(
        "quotations", "final report, Table 2", "Test errors of other methods, as on the MNIST page.",
        f"{sum(same.values())} of {len(same)} entries of the page are quoted as they stand; not so {'; '.join(other)}.",
        *same.values(),
    )  # fmt: skip


def _of_the_discussion(logs, committee):
    """Section 6: online learning, uncertainty. logs of degree ONLINE, committee as from `comparisons`."""
    n = int(logs[0].ends[0])
    early, late = (sum(((log.step >= a) & (log.step < a + 10_000)).sum() for log in logs) for a in (0, n - 10_000))
    held = [len(np.unique(np.concatenate([log.example[log.step < step] for log in logs]))) for step in (n - 10_000, n)]
    yield _row(
        "online", DISCUSSION, "The algorithm learns online, so that a growing training set is no problem.",
        f"In the first epoch at p = {ONLINE} the ten perceptrons make {early:,} mistakes on their first 10,000 images each "
        f"and {late:,} on their last, but the support vectors, which every prediction needs, grow there from {held[0]:,} to "
        f"{held[1]:,}.",
        late < early, held[1] == held[0],
    )  # fmt: skip
    agree, differ = (committee[committee["agree"] == value].iloc[0] for value in (True, False))
    test = statistics.two_samples(int(differ["best"]), int(differ["n"]), int(agree["best"]), int(agree["n"]))
    total = committee.sum()
    yield _row(
        "uncertainty", DISCUSSION, "The predictors tell no uncertainty of a prediction.",
        f"A score is no probability. But where the average predictors of p = 2 to 6 agree, on {agree['n'] / total['n']:.1%} "
        f"of the test images, the best predictor misreads {agree['best'] / agree['n']:.2%}, and where they do not, "
        f"{differ['best'] / differ['n']:.0%} (Fisher, {statistics.p_value(test.p)}).",
        True, test.p >= statistics.ALPHA,
    )  # fmt: skip


def _history():
    return _row(
        "aizerman", "draft, section 3.2", "The kernel perceptron was first presented in 1984 by Aizerman et al.",
        "The reference given is dated 1967 in the draft's own list; Aizerman, Braverman and Rozonoer's article is of 1964.",
        False,
    )  # fmt: skip
