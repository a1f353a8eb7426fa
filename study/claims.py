"""Claims: a number that a source publishes, ours beside it, and a verdict; the ledger of all is data/results/claims.csv.

One row for every published number. A published number printed with d decimals stands for the values that round to it. The
verdict is

    exact        ours is one of these values
    within       one of them lies in [low, high], our 95 % interval or the central 95 % of our distribution over repeats
    outside      none does; `explanation` says why, as far as we know, and `chapter` where it is argued
    degenerate   the number cannot fail (0.00 where the data separate, a placeholder, a fact of the data set): no success

Counts of errors have exact binomial intervals (Clopper & Pearson 1934). percentile is the place of the published number in
our distribution over repeats, where there is one: the share of repeats below it, those equal to it counting half.

What a number would be under other readings of a source is in a second table, data/results/claims_readings.csv, under the
key of its row. Rows come from the chapters: study/<chapter>/claims.py has claims() and, where there are any, readings();
study.ledger puts them together.
"""

import numpy as np
import pandas as pd
from scipy.stats import beta

from study import RESULTS, ROOT, store

PUBLISHED = ROOT / "data" / "published"
FILES = (RESULTS / "claims.csv", RESULTS / "claims_readings.csv")
COLUMNS = (
    "key", "source", "item", "quantity", "published", "decimals", "ours", "low", "high", "n", "verdict", "percentile",
    "explanation", "chapter",
)  # fmt: skip
READINGS = ("key", "reading", "ours", "low", "high", "n", "verdict", "percentile")


def interval(errors, n, *, level=0.95):
    """(low, high): the exact binomial interval of counts of errors among n, as counts (not rounded)."""
    errors, n = np.asarray(errors, dtype=float), np.asarray(n, dtype=float)
    tail = (1 - level) / 2
    low = np.where(errors > 0, beta.ppf(tail, errors, n - errors + 1), 0.0)
    high = np.where(errors < n, beta.ppf(1 - tail, errors + 1, n - errors), 1.0)
    return low * n, high * n


def percentile(values, number):
    """The share of values (n,) below a number, those equal to it counting half; in 0..1."""
    values = np.asarray(values, dtype=float)
    return float(((values < number) + 0.5 * (values == number)).mean())


def verdict(published, ours, low, high, *, decimals=0, degenerate=False):
    """exact, within, outside or degenerate, for each published number (arrays or numbers); decimals as printed."""
    published, ours, low, high = (np.asarray(x, dtype=float) for x in (published, ours, low, high))
    half = 0.5 * 10.0 ** -np.asarray(decimals, dtype=float)
    # Half a unit of the last place, and the little that keeps decimal fractions from falling out by their binary rounding.
    reach = half * (1 + 1e-9)
    inside = (low <= published + reach) & (published - reach <= high)
    words = np.where(np.abs(published - ours) <= reach, "exact", np.where(inside, "within", "outside"))
    return np.where(degenerate, "degenerate", words)


def rows(frame, *, source, chapter):
    """Rows of the ledger from a frame with the columns item, quantity, published, ours, low, high, n, and perhaps others.

    key is required and unique. decimals (0), percentile (missing), degenerate (False), explanation ("") and chapter have
    defaults; the verdict is added.
    """
    full = pd.DataFrame({"decimals": 0, "percentile": np.nan, "degenerate": False, "explanation": "", "chapter": chapter},
                        index=frame.index)  # fmt: skip
    full = full.assign(source=source, **frame)
    marks = {"decimals": full["decimals"], "degenerate": full["degenerate"].astype(bool)}
    full["verdict"] = verdict(full["published"], full["ours"], full["low"], full["high"], **marks)
    return full[list(COLUMNS)]


def readings_rows(frame, ledger):
    """Rows of the table of readings from a frame with the columns key, reading, ours, low, high, n (and percentile).

    ledger holds the rows with these keys: their published numbers give the verdicts.
    """
    full = frame.merge(ledger[["key", "published", "decimals"]], on="key", validate="many_to_one")
    full = pd.DataFrame({"percentile": np.nan}, index=full.index).assign(**full)
    full["verdict"] = verdict(*(full[c] for c in ("published", "ours", "low", "high")), decimals=full["decimals"])
    return full[list(READINGS)]


def published(name):
    """The numbers that a source publishes, as a table from data/published."""
    return pd.read_csv(PUBLISHED / f"{name}.csv")


def counts(ledger):
    """How many claims of each source have each verdict: a row for each source, and one for all."""
    words = ["exact", "within", "outside", "degenerate"]
    table = ledger.groupby("source", sort=False)["verdict"].value_counts().unstack(fill_value=0)
    table = table.reindex(columns=words, fill_value=0)
    return pd.concat([table, table.sum().to_frame("all").T]).rename_axis("source").reset_index()


def stored():
    """(ledger, readings) as stored, without asking whether they are fresh: the tests do."""
    return tuple(store.read_table(path) for path in FILES)
