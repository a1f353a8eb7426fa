"""The published numbers and statements of Hermans 2021 and of Li & Long 1999, Table 1, compared with ours.

Hermans 2021: draft, final report and result files. The draft is of 9 June 2021. The final report of 11 June stands in the
public repository of the work, together with the files of results from which its curves were drawn:
https://github.com/lukher98/digit-classification, commit 95b4981. There the 360 counts of multiclass errors were read
(code/results/performance), the 3,600 of binary ones (code/results/bin_pred) and the 180 confusion matrices
(code/results/conf_mat), rates times the number of images. A file of binary counts and a matrix are one row of the ledger
each: how many of its numbers are equal.

Statements of training errors and of learning online are judged in the source's own orders. One order cannot tell a good
degree from a lucky one, and a difference that one order does not show may be there: so what the source says of test errors
is judged in all visiting orders of degrees 2 to 6. Their text is in statements.toml, the verdicts are in facts.py.

Li & Long 1999: test errors and mistakes after 1 to 4 epochs, means of ten orders. They were read in the text of the
proceedings: Y. Li, P. M. Long, The relaxed online maximum margin algorithm, NIPS 12 (1999), Table 1. MNIST, 60,000 and
10,000 images, K = (1 + x . y)^4, a learner for each digit, the highest score wins; mistakes are those of all ten. All start
at phi(0), so that f(x) begins as k(0, x) = 1: to the perceptrons, whose kernel values are near 1e26, it is as good as 0.
Ours are ten orders. The mistakes of the voted perceptron are those of the perceptron: derived.

"10 random permutations" has two readings, and both were run: the ledger has the one under which all learners repeat one
order in all epochs, which was kept after the results were seen (`choices` is 2). The other is in readings(), with the
twenty orders of the chapter on MNIST for the perceptrons: there ROMMA's mistakes after the first epoch are more than the
published ones.

The published numbers are means of ten orders. If theirs were as ours, the mean of ten further orders would lie in [low,
high] with a probability of 95 % (statistics.further_mean); percentile is their place among our single orders.
"""

import numpy as np
import pandas as pd

from study import MEASURED, RESULTS, statistics
from study import claims as ledger
from study.mnist import facts, tables
from study.mnist.experiment import DEGREES, PUBLISHED, NeighbourSettings, degrees, neighbours
from study.mnist.facts import LI_LONG, SOURCE, published
from study.mnist.over_orders import CONTROL
from study.mnist.romma import DEGREE, FRESH, REPEATED, perceptron_settings, romma, romma_perceptrons, settings
from study.results import store

CHAPTER = "mnist"
MATRIX = ["degree", "epoch", "predictor"]
"""What distinguishes the source's confusion matrices."""
TEST_IMAGES = "test images (exact binomial)"
NEAREST = NeighbourSettings()
PERCEPTRONS = {"perceptron": "final", "voted perceptron": "voted"}
"""The rows of the table that are perceptrons, and the predictors that give them."""
N_PUBLISHED = 10
"""Orders of which the published numbers are means."""
OTHER = "each learner in a fresh order in each epoch"
"""The reading of the table of readings."""
INTERVAL = "means of ten further orders (Student's t); {n} orders"


def claims():
    """Hermans 2021: the published counts and rates beside those of our runs with the same seeds.

    The curves of Figs 5 and 6 are compared count by count; a file of binary counts or a confusion matrix is one row, with
    the number of equal entries. The abstract and Table 1 are compared with our lowest test error of each predictor, in
    percent. Intervals of test errors are exact binomial ones over the test images. Of the methods that Table 2 quotes, we
    ran the nearest neighbour and the Gaussian SVM.
    """
    names = ("multiclass_errors", "binary_errors", "confusion", "files", "final_report")
    printed = {name: store.published(f"hermans_2021_{name}") for name in names}
    return rows(degrees(PUBLISHED), neighbours(NEAREST)["neighbours"], _learners(), printed)


def _learners():
    """The tables of the chapter on other learners."""
    return {
        "errors": store.read_table(RESULTS / "lower_learners.csv"),
        "choices": store.read_table(MEASURED / "lower_machines.csv"),
    }


def rows(ours, nearest, learners, printed):
    """The rows of the ledger from our tables, those of the chapter on other learners (errors, choices), and the source's:
    its files of results, the constant columns of a row for each of them (files), and the numbers of its final report."""
    report = printed["final_report"]
    by_part_of_key = {
        ("fig-5", "fig-6"): _counts(ours["multiclass"], printed["multiclass_errors"]),
        "binary": _files(_binary(ours["binary"], printed["binary_errors"]), ["degree", "digit"], printed["files"]),
        "confusion": _files(_cells(ours["confusion"], printed["confusion"]), MATRIX, printed["files"]),
        ("abstract", "table-1"): _report(ours["multiclass"], report, printed["multiclass_errors"]),
        "table-2": _cited(nearest, learners, report),
    }
    parts = [ledger.rows(part, source=SOURCE, chapter=CHAPTER) for part in by_part_of_key.values()]
    return pd.concat(parts, ignore_index=True)


def _counts(multiclass, printed):
    """The 360 counts behind Figs 5 and 6. Only test errors have an interval: training images are not a sample of others."""
    both = printed.merge(multiclass, on=["degree", "epoch", "predictor", "split", "n"], validate="one_to_one")
    test = both["split"] == "test"
    ends = statistics.exact(both["errors"], both["n"])
    low, high = (np.where(test, end * both["n"], both["errors"]).round(2) for end in ends)
    return both.assign(ours=both["errors"], low=low, high=high, interval_of=np.where(test, TEST_IMAGES, ""))


def _binary(ours, printed):
    """The counts of binary errors with ours, and whether they are equal."""
    keys = ["degree", "digit", "epoch", "predictor", "split", "n"]
    both = printed.merge(ours, on=keys, suffixes=("_published", ""), validate="one_to_one")
    return both.assign(equal=both["errors"] == both["errors_published"])


def _cells(ours, printed):
    """The cells of the confusion matrices with ours, and whether they are equal; the published file has none of 0."""
    ours = ours.merge(printed[MATRIX].drop_duplicates())
    both = ours.merge(printed, on=[*MATRIX, "true", "predicted"], how="left", suffixes=("", "_published"))
    return both.assign(equal=both["count"] == both["count_published"].fillna(0))


def _files(numbers, names, printed):
    """A row for each file of numbers, which differ in the columns `names`: how many of the numbers are equal."""
    counts = numbers.groupby(names)["equal"].agg(n="size", ours="sum").reset_index()
    both = printed.dropna(subset=names).merge(counts, on=names, validate="one_to_one")
    why = np.where(both["ours"] < both["n"], ledger.explanations("mnist")["files"], "")
    return both.assign(low=both["ours"], high=both["ours"], explanation=why)


def _report(multiclass, printed, published):
    """The final report's abstract and its Table 1: the best degree and epoch of each predictor."""
    best = tables.ranking(multiclass).set_index("predictor")
    training = multiclass[multiclass["split"] == "train"].set_index(["predictor", "degree", "epoch"])
    found = []
    for row in printed[printed["predictor"].notna()].itertuples():
        mine = best.loc[row.predictor]
        own = {"key": row.key, "n": mine["n"]}
        if row.measure == "test error":
            own |= {"ours": 100 * mine["error"], "low": 100 * mine["low"], "high": 100 * mine["high"]}
            own |= {"interval_of": TEST_IMAGES}
        elif row.measure == "training error":
            counted = training.loc[(row.predictor, mine["degree"], mine["epoch"])]
            own |= ledger.exactly(100 * counted["errors"] / counted["n"])
            own |= {"n": counted["n"], "explanation": _misprint(row, mine, published)}
        else:
            own |= ledger.exactly(mine[row.measure])
            own |= {"n": len(DEGREES) if row.measure == "degree" else multiclass["epoch"].max()}
        found.append(own)
    ours = pd.DataFrame(found).round({"ours": 4, "low": 4, "high": 4})
    return ledger.beside(printed.drop(columns="explanation"), ours)


def _misprint(row, mine, published):
    """Where a printed training error is not that of the source's own files: whose it is there, else ""."""
    cell = published[(published["degree"] == mine["degree"]) & (published["epoch"] == mine["epoch"])]
    train = cell[cell["split"] == "train"].set_index("predictor")
    rates = (100 * train["published"] / train["n"]).round(row.decimals)
    if rates[row.predictor] == row.published:
        return ""
    texts = ledger.explanations("mnist")
    others = [name for name in rates.index if rates[name] == row.published]
    values = {"errors": train.loc[row.predictor, "published"], "n": train.loc[row.predictor, "n"]}
    return texts["misprint"].format(**values, whose=others[0]) if others else texts["nobody"].format(**values)


NEIGHBOURS = "hermans-2021/table-2/nearest-neighbours-no-preprocessing"
MACHINE = "hermans-2021/table-2/support-vector-machine-gaussian-kernel-no-preprocessing"


def _cited(nearest, learners, printed):
    """The final report's Table 2 quotes others' results. Two of them are of methods that are computed here: the nearest
    neighbour, and the support vector machine of the chapter on other learners, chosen there on held-out images."""
    plain = nearest[(nearest["measure"] == "distance") & (nearest["neighbours"] == 1)].iloc[0]
    machine = learners["errors"].query("method == 'RBF SVM'").iloc[0]
    own = printed[printed["item"] == "Final report, Table 2"]
    ours = pd.DataFrame(ledger.exactly(np.nan) | {"n": plain["n"], "choices": 1, "interval_of": ""}, index=own["key"])
    for key, errors, n in ((NEIGHBOURS, plain["errors"], plain["n"]), (MACHINE, machine["errors"], machine["n_test"])):
        low, high = (round(100 * float(end), 4) for end in statistics.exact(errors, n))
        ours.loc[key, ["ours", "low", "high", "interval_of"]] = [100 * errors / n, low, high, TEST_IMAGES]
    ours.loc[MACHINE, "choices"] = int((learners["choices"]["method"] == "RBF SVM").sum())
    return ledger.beside(own, ours.reset_index())


def statements():
    """Hermans 2021: his claims in words, each with a verdict computed from our runs.

    Claims on training errors and on learning online are judged in his own orders, claims on test errors in all visiting
    orders of degrees 2 to 6.
    """
    found = {
        "slow": facts.verdict_slow(),
        "online": facts.verdict_online(),
        "degrees-above-3": facts.verdict_degrees_above_3(published.against_degree(3)),
        "final-worse": facts.verdict_final_worse(),
        "no-digit": facts.verdict_no_digit(published.digits, published.valley.loc[3, CONTROL]),
        "similar": facts.verdict_similar(),
        "uncertainty": facts.verdict_uncertainty(),
        "ensemble": facts.verdict_ensemble(),
    }
    return ledger.statement_rows("mnist", found, chapter=CHAPTER)


def li_long():
    """Li & Long 1999, Table 1: the printed means of ten orders beside ours, as mistakes or as test errors in percent.

    The mean of ten further orders lies in the interval with a probability of 95 % (Student's t). Each learner repeats one
    order in all epochs, which is one of the two readings that we tried.
    """
    own = together(romma_perceptrons(perceptron_settings()), romma(settings()), REPEATED)
    return ledger.rows(beside(store.published("li_long_1999"), own), source=LI_LONG, chapter=CHAPTER)


def readings():
    """Li & Long's numbers where each learner has a new order in each epoch; see study.claims."""
    fresh = store.read_table(RESULTS / "mnist_orders.csv")
    own = together(fresh[fresh["degree"] == DEGREE], romma(settings()), FRESH)
    found = beside(store.published("li_long_1999"), own).assign(reading=OTHER)
    return found[["key", "reading", "ours", "low", "high", "n", "percentile"]]


def together(own, runs, reading):
    """Our runs by the names of the published table: algorithm, order, epoch, errors, n, mistakes.

    own, of perceptrons in that reading: order, epoch, predictor, errors, n, mistakes; runs as in `romma`.
    """
    parts = [own[own["predictor"] == name].assign(algorithm=row) for row, name in PERCEPTRONS.items()]
    return pd.concat([*parts, runs[runs["reading"] == reading]], ignore_index=True)


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
