"""The verdicts on what Hermans 2021 says of training errors and of learning online, whose words stand in statements.toml.

A statement of several parts holds where all of them do, in part where some do. Errors are counts of the study's own runs,
which equal the source's (study.mnist.claims); the source has three predictors. What it says of test errors is judged in many
visiting orders (study.orders.claims). Each function below gives (verdict, {name: value}) of one statement.
"""

import numpy as np

from study import claims as ledger
from study.mnist.claims import CHAPTER
from study.mnist.experiment import DEGREES, PUBLISHED, degrees, logs_from_arrays
from study.words import percent

OF_SOURCE = ("final", "average", "minimizing")
ONLINE = 4
"""The degree whose first epoch says how it goes on with more examples."""


def statements():
    """The rows of the table of statements; see study.claims."""
    results = degrees(PUBLISHED)
    multiclass = results["multiclass"]
    found = {
        "slow": slow(multiclass[multiclass["predictor"].isin(OF_SOURCE)]),
        "online": online(logs_from_arrays(results["arrays"][ONLINE - 1])),
    }
    return ledger.statement_rows(
        "mnist", {f"hermans-2021/statement/{key}": each for key, each in found.items()}, chapter=CHAPTER
    )


def verdict(*parts):
    """The verdict of a statement whose parts are true or false."""
    return "holds" if all(parts) else "holds in part" if any(parts) else "does not hold"


def slow(multiclass):
    """Whether the degrees below 3 take more epochs to few training errors than all others, and degree 1 keeps many."""
    train = multiclass[multiclass["split"] == "train"]
    n = int(train["n"].iloc[0])
    train = train.pivot(index=["degree", "epoch"], columns="predictor", values="errors")
    few = {degree: np.flatnonzero(train.loc[degree, "minimizing"] <= 0.002 * n) for degree in DEGREES}
    first = {degree: int(found[0]) + 1 if len(found) else np.inf for degree, found in few.items()}
    later = [first[degree] for degree in DEGREES if degree >= 3]
    # A bound that holds: rounded down.
    underfit = np.floor(1e4 * int(train.loc[1].to_numpy().min()) / n) / 1e4
    values = {"second": first[2], "earliest": min(later), "latest": max(later), "underfit": percent(underfit)}
    return verdict(min(first[1], first[2]) > max(later), underfit > 0.01), values


def online(logs):
    """Whether mistakes become fewer within the first epoch, and support vectors no more; logs of degree ONLINE."""
    n = int(logs[0].ends[0])
    early, late = (sum(((log.step >= a) & (log.step < a + 10_000)).sum() for log in logs) for a in (0, n - 10_000))
    before, after = (
        len(np.unique(np.concatenate([log.example[log.step < step] for log in logs]))) for step in (n - 10_000, n)
    )
    values = {"degree": ONLINE, "early": early, "late": late, "before": before, "after": after}
    return verdict(late < early, after == before), values
