"""Claims: a number that a source publishes, ours beside it, and a verdict that is computed.

Verdicts: "exact" where the numbers are equal at the published digits, "within" where the published one lies in our 95 %
interval or in the central 95 % of our distribution over repeats, "outside" otherwise; what is outside is explained in the
report. Counts of errors have exact binomial intervals (Clopper & Pearson). percentile is the place of the published number
in our distribution, where there is one. The ledger of all claims is made in study.ledger.
"""

import numpy as np
import pandas as pd
from scipy.stats import beta

from study import ROOT

PUBLISHED = ROOT / "data" / "published"
COLUMNS = ["source", "item", "quantity", "published", "ours", "low", "high", "n", "verdict", "percentile", "producer"]


def interval(errors, n, *, level=0.95):
    """(low, high): the exact binomial interval of counts of errors among n, as counts (not rounded)."""
    errors, n = np.asarray(errors, dtype=float), np.asarray(n, dtype=float)
    tail = (1 - level) / 2
    low = np.where(errors > 0, beta.ppf(tail, errors, n - errors + 1), 0.0)
    high = np.where(errors < n, beta.ppf(1 - tail, errors + 1, n - errors), 1.0)
    return low * n, high * n


def verdict(published, ours, low, high):
    """exact, within or outside, for each published number."""
    inside = (low <= published) & (published <= high)
    return np.where(published == ours, "exact", np.where(inside, "within", "outside"))


def hermans(multiclass):
    """The claims of Hermans 2021, from the table of multiclass errors: 360 counts, the best three, the abstract's three."""
    keys = ["degree", "epoch", "predictor", "split"]
    rows = published("hermans_2021").merge(multiclass, on=[*keys, "n"], suffixes=("_published", "")).sort_values(keys)
    figure = rows["split"].map({"train": "Fig. 5", "test": "Fig. 6"}) + rows["degree"].map(lambda p: f" ({chr(96 + p)})")
    words = "multiclass {split} errors, degree {degree}, epoch {epoch}, {predictor} predictor"
    counts = pd.DataFrame(
        {
            "item": figure,
            "quantity": [words.format(**row) for row in rows[keys].to_dict("records")],
            "published": rows["errors_published"],
            "ours": rows["errors"],
            "n": rows["n"],
            "producer": rows["degree"].map(lambda p: f"mnist_degree_{p}.ipynb"),
        }
    )
    test = rows[rows["split"] == "test"]
    best = test.groupby("predictor", as_index=False).agg(
        published=("errors_published", "min"), ours=("errors", "min"), n=("n", "first")
    )
    best = best.assign(
        item="Section 5.3 (left empty)",
        quantity="smallest multiclass test errors of the " + best["predictor"] + " predictor, from the published counts",
        producer="mnist_summary.ipynb",
    )
    abstract = best.assign(
        item="Abstract",
        quantity="multiclass test errors of the " + best["predictor"] + " predictor: the abstract's 100 %",
        published=best["n"],
    )
    claims = pd.concat([counts, best, abstract], ignore_index=True).assign(source="Hermans 2021", percentile=np.nan)
    claims["low"], claims["high"] = interval(claims["ours"], claims["n"])
    claims["verdict"] = verdict(claims["published"], claims["ours"], claims["low"], claims["high"])
    return claims[COLUMNS].round({"low": 2, "high": 2})


def published(name):
    """The numbers that a source publishes, as a table from data/published."""
    return pd.read_csv(PUBLISHED / f"{name}.csv")
