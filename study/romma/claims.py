"""The numbers of Li & Long 1999, Table 1, next to ours: test errors and mistakes after 1 to 4 epochs, means of ten orders.

They were read in the text of the proceedings: Y. Li, P. M. Long, The relaxed online maximum margin algorithm, NIPS 12
(1999), Table 1. MNIST, 60,000 and 10,000 images, K = (1 + x . y)^4, a learner for each digit, the highest score wins;
mistakes are those of all ten. All start at phi(0), so that f(x) begins as k(0, x) = 1: to the perceptrons, whose kernel
values are near 1e26, it is as good as 0. Ours are ten orders. The mistakes of the voted perceptron are those of the
perceptron: derived.

"10 random permutations" has two readings, and both were run: the ledger has the one under which all learners repeat one
order in all epochs, which was kept after the results were seen (`choices` is 2). The other is in readings(), with the
twenty orders of the chapter on MNIST for the perceptrons: there ROMMA's mistakes after the first epoch are more than the
published ones.

The published numbers are means of ten orders. If theirs were as ours, the mean of ten further orders would lie in [low,
high] with a probability of 95 % (statistics.further_mean); percentile is their place among our single orders.
"""

import pandas as pd

from study import RESULTS, statistics
from study import claims as ledger
from study.results import store
from study.romma.experiment import DEGREE, FRESH, REPEATED, orders, perceptrons, runs, settings

SOURCE = "Li & Long 1999"
CHAPTER = "mnist"
PERCEPTRONS = {"perceptron": "final", "voted perceptron": "voted"}
"""The rows of the table that are perceptrons, and the predictors that give them."""
N_PUBLISHED = 10
"""Orders of which the published numbers are means."""
OTHER = "each learner in a fresh order in each epoch"
"""The reading of the table of readings."""
INTERVAL = "means of ten further orders (Student's t); {n} orders"


def claims():
    """The rows of the ledger; see study.claims. Raises StaleResult where ours are stale."""
    own = together(perceptrons(orders()), runs(settings()), REPEATED)
    return ledger.rows(beside(store.published("li_long_1999"), own), source=SOURCE, chapter=CHAPTER)


def readings():
    """The same numbers where each learner has a new order in each epoch; see study.claims."""
    fresh = store.read_table(RESULTS / "orders_runs.csv")
    own = together(fresh[fresh["degree"] == DEGREE], runs(settings()), FRESH)
    found = beside(store.published("li_long_1999"), own).assign(reading=OTHER)
    return found[["key", "reading", "ours", "low", "high", "n", "percentile"]]


def together(own, romma, reading):
    """Our runs by the names of the published table: algorithm, order, epoch, errors, n, mistakes.

    own, of perceptrons in that reading: order, epoch, predictor, errors, n, mistakes; romma as in `runs`.
    """
    parts = [own[own["predictor"] == name].assign(algorithm=row) for row, name in PERCEPTRONS.items()]
    return pd.concat([*parts, romma[romma["reading"] == reading]], ignore_index=True)


def beside(printed, ours):
    """The published numbers with the means of ours, low, high, n, and the percentile; ours as in `together`."""
    found = []
    for row in printed.itertuples():
        own = ours[(ours["algorithm"] == row.algorithm) & (ours["epoch"] == row.epoch)]
        values = own["mistakes"] if row.unit == "mistakes" else 100 * own["errors"] / own["n"]
        low, high = statistics.further_mean(values, N_PUBLISHED)
        place = ledger.percentile(values, row.published)
        n = len(own)
        numbers = {"ours": values.mean(), "low": low, "high": high, "n": n, "percentile": place}
        found.append({"key": row.key, "interval_of": INTERVAL.format(n=n)} | numbers)
    return ledger.beside(printed, found).round({"ours": 4, "low": 4, "high": 4, "percentile": 4})
