"""The published numbers and statements of Hermans 2021 and of Li & Long 1999, Table 1, compared with ours.

Hermans 2021: draft, final report and result files. The draft is of 9 June 2021. The final report of 11 June stands in the
public repository of the work, together with the files of results from which its curves were drawn:
https://github.com/lukher98/digit-classification, commit 95b4981. There the 360 counts of multiclass errors were read
(code/results/performance), the 3,600 of binary ones (code/results/bin_pred) and the 180 confusion matrices
(code/results/conf_mat), rates times the number of images. A file of binary counts and a matrix are one row of the ledger
each: how many of its numbers are equal.

Statements of training errors and of learning online are judged in the source's own orders. One order cannot tell a good
degree from a lucky one, and a difference that one order does not show may be there: so what the source says of test errors
is judged in all visiting orders of degrees 2 to 6. The words stand in statements.toml; each function gives (verdict,
{name: value}) of one statement. A statement of several parts holds where all of them do, in part where some do.

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
from study.mnist import over_orders, tables
from study.mnist.experiment import DEGREES, PUBLISHED, NeighbourSettings, degrees, logs_from_arrays, neighbours
from study.mnist.facts import LI_LONG, SOURCE, published
from study.mnist.orders import CURVED, N_ORDERS
from study.mnist.romma import DEGREE, FRESH, REPEATED, perceptron_settings, romma, romma_perceptrons, settings
from study.reading import noted
from study.results import store
from study.words import interval, number, p_value, percent, points, rate_interval, size, span

CHAPTER = "mnist"
MATRIX = ["degree", "epoch", "predictor"]
"""What distinguishes the source's confusion matrices."""
TEST_IMAGES = "test images (exact binomial)"
NEAREST = NeighbourSettings()
OF_SOURCE = ("final", "average", "minimizing")
"""The predictors of the source."""
ONLINE = 4
"""The degree whose first epoch says how it goes on with more examples."""
ALIKE = 0.005
"""Error rates are called alike if the interval of their difference lies within half a point; the source has no measure."""
PERCEPTRONS = {"perceptron": "final", "voted perceptron": "voted"}
"""The rows of the table that are perceptrons, and the predictors that give them."""
N_PUBLISHED = 10
"""Orders of which the published numbers are means."""
OTHER = "each learner in a fresh order in each epoch"
"""The reading of the table of readings."""
INTERVAL = "means of ten further orders (Student's t); {n} orders"


def claims():
    """The rows of the ledger of Hermans 2021; see study.claims. Errors are counts among n. Raises StaleResult if ours are
    stale."""
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
    """The 360 counts behind Figs 5 and 6. Only test errors have an interval: training images are no sample of others."""
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
    """The rows of the table of statements; see study.claims."""
    results = degrees(PUBLISHED)
    multiclass = results["multiclass"]
    found = {
        "slow": slow(multiclass[multiclass["predictor"].isin(OF_SOURCE)]),
        "online": online(logs_from_arrays(results["arrays"][ONLINE - 1])),
        "degrees-above-3": degrees_above_3(published.against_degree(3)),
        "final-worse": final_worse(),
        "no-digit": no_digit(published.digits, published.valley.loc[3, over_orders.CONTROL]),
        "similar": similar(),
        "uncertainty": uncertainty(published.labels),
        "ensemble": ensemble(over_orders.ensembles(published.predictions, published.labels, CURVED)),
    }
    return ledger.statement_rows(
        "mnist", {f"hermans-2021/statement/{key}": each for key, each in found.items()}, chapter=CHAPTER
    )


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
    return ledger.of_parts([min(first[1], first[2]) > max(later), underfit > 0.01]), values


def online(logs):
    """Whether mistakes become fewer within the first epoch, and support vectors no more; logs of degree ONLINE."""
    n = int(logs[0].ends[0])
    early, late = (sum(((log.step >= a) & (log.step < a + 10_000)).sum() for log in logs) for a in (0, n - 10_000))
    before, after = (
        len(np.unique(np.concatenate([log.example[log.step < step] for log in logs]))) for step in (n - 10_000, n)
    )
    values = {"degree": ONLINE, "early": early, "late": late, "before": before, "after": after}
    return ledger.of_parts([late < early, after == before]), values


def named(degrees):
    """Format whole numbers as "4", "2 and 5", "2 to 6" or "none"."""
    degrees = list(degrees)
    if len(degrees) > 2 and degrees == list(range(degrees[0], degrees[-1] + 1)):
        return f"{degrees[0]} to {degrees[-1]}"
    return ", ".join(map(str, degrees[:-1])) + " and " * (len(degrees) > 1) + str(degrees[-1]) if degrees else "none"


def degrees_above_3(found):
    """Whether the average predictor's error after the last epoch is the same at higher degrees as at degree 3; found: by
    degree, as `over_orders.differences_to` has it."""
    found = found.loc[4:]
    better, worse = (found.index[found["verdict"] == word] for word in (over_orders.LOWER, over_orders.HIGHER))
    told = "does not hold" if len(better) else "holds in part" if len(worse) else "cannot be told"
    values = {"orders": N_ORDERS, "higher": named(worse)}
    for row in found.itertuples():
        values |= {f"gap_{row.Index}": points(row), f"interval_{row.Index}": interval(row)}
    return "holds" if (found["verdict"] == over_orders.SAME).all() else told, values


def final_worse():
    """Whether the final predictor has more errors than the average and the minimizing one, after one epoch and at last."""
    last = published.n_epochs
    against_minimizing = over_orders.among_predictors(
        published.wrong, CURVED, [1, last], others=["final"], control="minimizing"
    )
    shown = []
    values = {"last": last}
    for name, rows in ((over_orders.CONTROL, published.final_or_average), ("minimizing", against_minimizing)):
        early, late = (rows[rows["epoch"] == epoch] for epoch in (1, last))
        told = late.loc[late["verdict"] == over_orders.HIGHER, "degree"]
        values |= {
            f"{name}_first": span(early["estimate"]),
            f"{name}_last": span(late["estimate"]),
            f"{name}_told": named(told),
        }
        shown += list(rows["verdict"] == over_orders.HIGHER)
    return ledger.of_parts(shown), values


def no_digit(digits, error):
    """Whether equal error rates of the digits are rejected, for the average predictor after the last epoch; digits: as facts
    have them; error: the rate of all images at degree 3."""
    rates = digits.rates[3]
    rejected = [degree for degree, p in digits.p.items() if p < statistics.ALPHA]
    values = {
        "orders": N_ORDERS, "easy": int(rates.idxmin()), "hard": int(rates.idxmax()), "low": percent(rates.min()),
        "high": percent(rates.max()), "times": number(rates.max() / error, 1), "rejected": named(rejected),
        "p": p_value(digits.largest_p),
    }  # fmt: skip
    if len(rejected) == len(CURVED):
        return "does not hold", values
    return "holds in part" if rejected else "cannot be told", values


def similar():
    """Whether the honest error of the average predictor is like those of two other learners on the same images."""
    rate = published.error
    machine = published.against("RBF SVM")
    neighbour = published.against("nearest neighbour")
    alike = [-ALIKE < gap.low and gap.high < ALIKE for gap in (machine, neighbour)]
    values = {
        "rate": percent(rate["estimate"]), "interval": rate_interval(rate), "machine_gap": points(machine),
        "machine": percent(published.missed("RBF SVM").mean()), "machine_interval": interval(machine),
        "neighbour": percent(published.missed("nearest neighbour").mean()), "neighbour_gap": points(neighbour),
    }  # fmt: skip
    return ledger.of_parts(alike), values


def uncertainty(labels):
    """Whether the images with the smallest leads of the highest score over the next are misclassified more often."""
    with np.load(noted(RESULTS / "doubt_ensemble.npz")) as file:
        f = file["single"][file["part"] == 1]
    wrong = f.argmax(axis=1) != labels
    ordered = np.sort(f, axis=1)
    doubtful = np.argsort(ordered[:, -1] - ordered[:, -2], kind="stable")[: len(wrong) // 10]
    rest = np.delete(wrong, doubtful)
    test = statistics.two_samples(int(wrong[doubtful].sum()), len(doubtful), int(rest.sum()), len(rest))
    values = {
        "errors": int(wrong.sum()), "doubtful": int(wrong[doubtful].sum()), "there": percent(wrong[doubtful].mean(), 1),
        "elsewhere": percent(rest.mean()), "p": p_value(test.p),
    }  # fmt: skip
    return "holds in part" if test.p < statistics.ALPHA and test.estimate > 0 else "cannot be told", values


def ensemble(found):
    """Whether an order errs more often where the others do not all agree, at every degree."""
    sd = published.spread.query("degree > 1 and predictor == @over_orders.CONTROL")["sd"]
    values = {"orders": N_ORDERS, "sd_low": size(sd.min()), "sd_high": size(sd.max())}
    columns = {"agree": ("unanimous", 1), "same": ("error there", 2), "other": ("elsewhere", 0)}
    for name, (column, digits) in columns.items():
        values |= {f"{name}_low": percent(found[column].min(), digits), f"{name}_high": percent(found[column].max(), digits)}
    return ledger.of_parts(found["p of Fisher's test"] < statistics.ALPHA), values


def li_long():
    """The rows of the ledger of Li & Long; see study.claims. Raises StaleResult where ours are stale."""
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
