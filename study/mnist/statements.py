"""What Hermans 2021 says in words about training errors and learning online, with verdicts and what they rest on.

A statement of several parts holds where all of them do, in part where some do. The parts are what the lines below compare.
Errors are counts of the study's own runs, which equal the source's (study.mnist.claims); the source has three predictors.
What it says of test errors is judged in many visiting orders (study.orders.claims).
"""

import re

import numpy as np

from study import claims as ledger
from study.mnist.claims import SOURCE, SUMMARY
from study.mnist.experiment import DEGREES, PUBLISHED, degrees, logs_from_arrays

OF_SOURCE = ("final", "average", "minimizing")
ONLINE = 4
"""The degree whose first epoch says how it goes on with more examples."""


def statements():
    """The rows of the table of statements; see study.claims."""
    results = degrees(PUBLISHED)
    multiclass = results["multiclass"]
    rows = [
        _slow(multiclass[multiclass["predictor"].isin(OF_SOURCE)]),
        _online(logs_from_arrays(results["arrays"][ONLINE - 1])),
    ]
    return ledger.statement_rows(rows, source=SOURCE, chapter=SUMMARY)


def verdict(*parts):
    """The verdict of a statement whose parts are true or false."""
    return "holds" if all(parts) else "holds in part" if any(parts) else "does not hold"


def _row(key, place, statement, evidence, *parts):
    return {
        "key": f"hermans-2021/statement/{key}", "place": place, "statement": statement, "verdict": verdict(*parts),
        "evidence": re.sub(r"(\d)%", r"\1 %", evidence),
    }  # fmt: skip


def _slow(multiclass):
    """Section 5.2, on training errors."""
    train = multiclass[multiclass["split"] == "train"]
    n = int(train["n"].iloc[0])
    train = train.pivot(index=["degree", "epoch"], columns="predictor", values="errors")
    lowest = train["minimizing"]
    first = {degree: np.flatnonzero(lowest.loc[degree] <= 0.002 * n) for degree in DEGREES}
    first = {degree: int(found[0]) + 1 if len(found) else np.inf for degree, found in first.items()}
    spoken = ", ".join(f"{epoch} (p = {degree})" for degree, epoch in first.items() if np.isfinite(epoch))
    fewest = int(train.loc[1].to_numpy().min())
    underfit = np.floor(1e4 * fewest / n) / 1e4  # a bound that holds: rounded down
    return _row(
        "slow", "final report, section 5.2", "p < 3 converges slowly; p = 1 underfits.",
        f"The first epoch with a training error of the minimizing predictor of at most 0.2 % is {spoken}; at p = 1 "
        f"none of the source's three predictors gets below {underfit:.2%}.",
        min(first[1], first[2]) > max(first[degree] for degree in DEGREES if degree >= 3), underfit > 0.01,
    )  # fmt: skip


def _online(logs):
    """Section 6, on a growing training set; logs of degree ONLINE."""
    n = int(logs[0].ends[0])
    early, late = (sum(((log.step >= a) & (log.step < a + 10_000)).sum() for log in logs) for a in (0, n - 10_000))
    held = [len(np.unique(np.concatenate([log.example[log.step < step] for log in logs]))) for step in (n - 10_000, n)]
    return _row(
        "online", "final report, section 6", "The algorithm learns online, so that a growing training set is no problem.",
        f"In the first epoch at p = {ONLINE} the ten perceptrons make {early:,} mistakes on their first 10,000 images each "
        f"and {late:,} on their last, but the support vectors, which every prediction needs, grow there from {held[0]:,} to "
        f"{held[1]:,}.",
        late < early, held[1] == held[0],
    )  # fmt: skip
