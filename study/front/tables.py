"""How the study reads its numbers: the table of its intervals and tests."""

import pandas as pd

from study.words import styled


def intervals():
    """What could have been different in a number, and the interval and the test that the study uses then."""
    rows = [
        (
            "the test images, one classifier",
            "Wilson (in the ledger, for Hermans: exact binomial)",
            "Fisher, exact, or permutations",
        ),
        ("the test images, two classifiers", "Newcombe", "McNemar, exact"),
        ("the visiting orders", "Student's $t$", "Student's $t$"),
        ("orders and images", "crossed random effects", "the same"),
        ("the splits of one small set", "corrected $t$ ([Nadeau and Bengio 2003](#ref-nadeau2003))", "the same"),
        ("the folds of a published table", "central 95 % of our repeats", ""),
        ("a ratio of two means, or a score of doubt", "Fieller, or bootstrap over test images", "the same"),
        ("the datasets", "pseudo-median (the median of the means of all pairs)", "Wilcoxon's signed ranks"),
    ]
    return styled(pd.DataFrame(rows, columns=["what varies, or what is estimated", "interval", "test"]))
