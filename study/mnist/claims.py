"""The published numbers of Hermans 2021: 360 counts of errors, the smallest of each predictor, and the abstract's three.

Degenerate are the smallest test errors, for which Section 5.3 has an empty place: they follow from the 360 counts. So are
the abstract's three test errors of 100 %, placeholders of an unfinished text.
"""

import pandas as pd

from study import claims as ledger
from study.mnist import tables
from study.mnist.experiment import PUBLISHED, degrees

SOURCE = "Hermans 2021"
KEY = "hermans-2021/fig-{figure}/degree-{degree}/epoch-{epoch}/{predictor}/{split}"
QUANTITY = "multiclass {split} errors, degree {degree}, epoch {epoch}, {predictor} predictor"
FIGURES = {"train": 5, "test": 6}


def claims():
    """The rows of the ledger; see study.claims. Errors are counts among n. Raises StaleResult if our counts are stale."""
    return rows(degrees(PUBLISHED)["multiclass"], ledger.published("hermans_2021"))


def rows(multiclass, published):
    """The rows of the ledger from the table of our counts and that of the published ones."""
    both = tables.published_with_ours(multiclass, published)
    both = both.rename(columns={"errors_published": "published", "errors": "ours"})
    test = both[both["split"] == "test"]
    best = test.groupby("predictor", as_index=False).agg({"published": "min", "ours": "min", "n": "first"})
    frame = pd.concat([_counts(both), _smallest(best), _abstract(best)], ignore_index=True)
    frame["low"], frame["high"] = ledger.interval(frame["ours"], frame["n"])
    return ledger.rows(frame.round({"low": 2, "high": 2}), source=SOURCE, chapter="mnist_summary")


def _counts(both):
    parts = [{"figure": FIGURES[row["split"]], **row} for row in both.to_dict("records")]
    return both[["published", "ours", "n"]].assign(
        key=[KEY.format(**part) for part in parts],
        item=["Fig. {} ({})".format(part["figure"], "abcdef"[part["degree"] - 1]) for part in parts],
        quantity=[QUANTITY.format(**part) for part in parts],
        chapter="mnist_degree_" + both["degree"].astype(str),
        degenerate=False,
        explanation="",
    )


def _smallest(best):
    return best[["published", "ours", "n"]].assign(
        key="hermans-2021/section-5.3/" + best["predictor"] + "/smallest-test-errors",
        item="Section 5.3 (left empty)",
        quantity="smallest multiclass test errors of the " + best["predictor"] + " predictor, from the published counts",
        chapter="mnist_summary",
        degenerate=True,
        explanation="derived from the published counts, not printed",
    )


def _abstract(best):
    return best[["ours", "n"]].assign(
        published=best["n"],
        key="hermans-2021/abstract/" + best["predictor"] + "/test-error",
        item="Abstract",
        quantity="multiclass test errors of the " + best["predictor"] + " predictor: the abstract's 100 %",
        chapter="mnist_summary",
        degenerate=True,
        explanation="a placeholder of an unfinished text",
    )
