"""What Hermans 2021 says about the images (section 2), with verdicts and the numbers that they rest on."""

from scipy.stats import chisquare

from study import claims, datasets, statistics
from study.data.experiment import Images, copies

SOURCE, CHAPTER, PLACE = "Hermans 2021", "data", "both versions, section 2"
NEAR = 1.1
"""The ratio of the largest count to the smallest up to which digits are called similarly frequent here."""


def statements():
    """The rows of the table of statements; see study.claims."""
    mnist, found = datasets.DATASETS["mnist"], copies(Images()).set_index("split")
    p_values = [chisquare(counts).pvalue for counts in (mnist.counts, mnist.test_counts)]
    ratios = [max(counts) / min(counts) for counts in (mnist.counts, mnist.test_counts)]
    balanced = max(ratios) <= NEAR and min(p_values) >= statistics.ALPHA
    shared = int(found.loc["test", "shared"])
    rows = [
        {
            "key": "hermans-2021/statement/balanced",
            "place": PLACE,
            "statement": "Training and test set are balanced: the digits appear with a similar frequency.",
            "verdict": "holds" if balanced else "holds in part" if max(ratios) < 2 else "does not hold",
            "evidence": f"The most frequent digit has {ratios[0]:.2f} and {ratios[1]:.2f} times the images of the rarest; "
            f"equal frequencies are rejected (chi-square, training {statistics.p_value(p_values[0])}, test "
            f"{statistics.p_value(p_values[1])}).",
        },
        {
            "key": "hermans-2021/statement/disjoint",
            "place": PLACE,
            "statement": "The sets S and D do not intersect: the test images differ from the training images.",
            "verdict": "does not hold" if shared else "holds",
            "evidence": f"Of {found.loc['test', 'images']:,} test images {shared or 'none'} occur, pixel for pixel, in the "
            "other set.",
        },
    ]
    return claims.statement_rows(rows, source=SOURCE, chapter=CHAPTER)
