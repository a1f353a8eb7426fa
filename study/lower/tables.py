"""Small tables of the chapter on lower errors, their time and memory: pure functions. Rates are fractions."""

import numpy as np
import pandas as pd

from study import statistics, words
from study.lower.experiment import EPOCHS, INTELEX, OURS

MARGIN = 0.002
"""Errors that differ by less than 0.2 points count as equal in practice; set before the machines were chosen."""
ALTERNATIVES = ("coef0",)
"""Parameters of which a grid has alternatives instead of a range: it has no ends."""
SVM = "RBF SVM"
LARGEST_NETWORK = "neural network, 3,000"
FIRST = f"{OURS}, one epoch"
"""The learner against which all steps of the ladder are held, and our own after its first epoch."""


def compared(errors, predictions, ours, labels):
    """Every reference method against the kernel perceptron on the same test images.

    errors: the rows of learners of the reference methods, predictions (methods, n) in the same order; ours (R, n) bool:
    where the perceptron errs, in R visiting orders; labels (n,). Columns method, choice, errors, error with error low and
    error high (Wilson, 95 %, over test images); estimate, low, high and p: the perceptron less the method, over orders and
    test images (statistics.crossed, Holm over the methods); p same, of its lying within +-MARGIN (crossed_equivalence, Holm
    over the methods); and verdict: that on the perceptron, "equal" where only p same is small, "–" where neither is.
    """
    gaps = {name: ours - own.astype(float) for name, own in zip(errors["method"], predictions != labels, strict=True)}
    tests = statistics.holm({name: statistics.crossed(gap) for name, gap in gaps.items()})
    same = statistics.holm({name: statistics.crossed_equivalence(gap, within=MARGIN) for name, gap in gaps.items()})
    rows = [
        (row.method, row.choice, row.errors, row.errors / row.n_test, *statistics.wilson(row.errors, row.n_test))
        for row in errors.itertuples()
    ]
    table = pd.DataFrame(rows, columns=["method", "choice", "errors", "error", "error low", "error high"])
    table = table.join(statistics.table(tests)[["estimate", "low", "high", "p"]])
    table["p same"] = [each.p for each in same.values()]
    tie = np.where(table["p same"] < statistics.ALPHA, "equal", "–")
    return table.assign(verdict=[each.word("lower", "higher", tie[i]) for i, each in enumerate(tests.values())])


def costs(errors, spent):
    """All learners: method, epoch, error (a rate), fit and predict (processor seconds) and peak (GiB), medians over days,
    and numbers (stored). errors, spent: those of `Facts.timed`."""
    medians = spent.groupby(["method", "epoch"])[["fit", "predict", "peak"]].median().reset_index()
    table = errors.assign(error=errors["errors"] / errors["n_test"]).merge(medians, validate="one_to_one")
    return table[["method", "epoch", "error", "fit", "predict", "peak", "numbers"]]


def by_day(spent, what="fit"):
    """How many times as long as all epochs of the kernel perceptron each other learner trained (what "fit") or predicted
    (what "predict"), by its method (rows) and on each day (columns)."""
    wide = spent.pivot(index=["method", "epoch"], columns="day", values=what)
    return wide.xs(0, level="epoch") / wide.loc[OURS, max(EPOCHS)]


def over_days(days):
    """median, low and high over the days of a table with a column for each."""
    return pd.DataFrame({"median": days.median(axis=1), "low": days.min(axis=1), "high": days.max(axis=1)})


def choices(held, grids, names):
    """A row for each method that has a choice: method, candidates, grid (its values), choice, at the edge (the parameters
    of the choice that have the first or last value of their range), fewest and most (held-out errors).

    held: the held-out errors of all candidates; grids {method: [{parameter: value}]} in its order; names: printed names of
    parameters.
    """
    rows = []
    for method, part in held.groupby("method", sort=False):
        grid = grids[method]
        errors = part["held"].to_numpy()
        place = int(errors.argmin())
        values = {name: sorted({each[name] for each in grid}) for name in grid[0]}
        edges = [
            names.get(name, name)
            for name, found in values.items()
            if name not in ALTERNATIVES and grid[place][name] in (found[0], found[-1])
        ]
        shown = "; ".join(
            f"{names.get(name, name)} {', '.join(f'{value:g}' for value in found)}" for name, found in values.items()
        )
        rows.append((method, len(grid), shown, part["choice"].iloc[place], ", ".join(edges), errors.min(), errors.max()))
    columns = ["method", "candidates", "grid", "choice", "at the edge", "fewest", "most"]
    return pd.DataFrame(rows, columns=columns)


def choices_table(found):
    """`choices` as they are printed."""
    return words.styled(found, dict.fromkeys(["fewest", "most"], ","))


def bill(compared, costs, ladder, first):
    """Errors and their costs, the lowest error first: learner, error with error low and error high; estimate, low and high,
    of the kernel perceptron less the learner; fit and predict (seconds), peak (GiB), numbers (stored) and threads.

    compared, costs: the tables of these functions; ladder: that of `Facts`. The kernel perceptron has its steps that were
    timed, and its first epoch, whose error is a mean over visiting orders and test images: first (R, n) bool, where it errs.
    What scikit-learn-intelex finds is not compared: only its number of errors is stored.
    """
    single = costs.loc[costs["epoch"] <= 1, ["method", "error", "fit", "predict", "peak", "numbers"]]
    alone = single[single["method"].str.endswith(INTELEX) | (single["method"] == OURS)].replace({"method": {OURS: FIRST}})
    rest = compared.merge(single.drop(columns="error"), on="method", validate="one_to_one")
    n = (rest["errors"] / rest["error"]).max()
    alone[["error low", "error high"]] = [statistics.wilson(round(error * n), round(n)) for error in alone["error"]]
    mean = statistics.crossed(first.astype(float))
    alone.loc[alone["method"] == FIRST, ["error", "error low", "error high"]] = mean.estimate, mean.low, mean.high
    others = pd.concat([rest, alone]).rename(columns={"method": "learner"}).assign(threads=1)
    names = {"name": "learner", "low": "error low", "high": "error high", "seconds": "fit", "memory": "peak"}
    ours = ladder[(ladder["name"] != SVM) & ladder["seconds"].notna()].rename(columns=names)
    table = pd.concat([others, ours]).sort_values("error", kind="stable", ignore_index=True)
    interval = ["error low", "error high", "estimate", "low", "high"]
    return table[["learner", "error", *interval, "fit", "predict", "peak", "numbers", "threads"]].astype({"threads": int})


def largest(bill):
    """`bill` without the smaller sizes of learners that come in sizes."""
    method = bill["learner"].str.extract(r"^(.+), [\d,]+$", expand=False)
    order = bill["numbers"].sort_values().index
    return bill[method.isna() | ~method.loc[order].duplicated(keep="last").reindex(bill.index)]


def in_percent(bill):
    """`bill` as it is printed: error in percent with its interval, seconds, memory."""
    threads = [f" ({each} threads)" if each > 1 else "" for each in bill["threads"]]
    ends = zip(bill["error"], bill["error low"], bill["error high"], strict=True)
    shown = pd.DataFrame(
        {
            "learner": bill["learner"] + threads,
            "error (%)": [f"{100 * error:.2f} ({100 * low:.2f} to {100 * high:.2f})" for error, low, high in ends],
            "training (s)": bill["fit"],
            "prediction (s)": bill["predict"],
            "memory (GiB)": bill["peak"],
            "numbers (million)": bill["numbers"] / 1e6,
        }
    )
    formats = dict.fromkeys(["training (s)", "prediction (s)", "numbers (million)"], words.significant)
    return words.styled(shown, formats | {"memory (GiB)": ".2f"})


def tested(compared):
    """`compared` with its tests, as it is printed: how much higher the error of the kernel perceptron is."""
    shown = pd.DataFrame(
        {
            "classifier": compared["method"],
            "test error": compared["error"],
            "the perceptron's is higher by": [words.with_interval(row) for row in compared.itertuples()],
            "p": compared["p"],
            "p equal": compared["p same"],
        }
    )
    return words.styled(shown, {"test error": ".2%"} | dict.fromkeys(["p", "p equal"], words.p_cell))


def times(fit, predict, peak, ours):
    """How many times as long as the kernel perceptron others train and predict, as it is printed, with their memory; the
    perceptron itself is last.

    fit, predict: rows of `slower`; peak: GiB by the name of a learner; ours: that of the kernel perceptron.
    """
    ranges = {"training": fit, "prediction": predict}
    shown = pd.DataFrame({"classifier": [*fit.index, OURS]})
    for name, table in ranges.items():
        ends = ([words.significant(value) for value in row] for row in table[["median", "low", "high"]].to_numpy())
        shown[f"{name} takes"] = [f"{median} times ({low} to {high})" for median, low, high in ends] + ["1"]
    return words.styled(shown.assign(**{"memory (GiB)": peak.loc[[*fit.index, ours]].to_numpy()}), {"memory (GiB)": ".2f"})


# Votes and steps.


def majority(votes):
    """(n,): the class that most of votes (R, n) name; ties go to the lowest."""
    return np.stack([(votes == c).sum(axis=0) for c in range(int(votes.max()) + 1)]).argmax(axis=0)


def step(name, wrong, spent=None, *, times=1, threads=1, hindsight=False):
    """A row of `Facts.ladder`: wrong (R, n) or (n,) bool, and the costs of one training, of which there are so many."""
    if wrong.ndim == 2:
        found = statistics.crossed(wrong.astype(float))
        low = found.low
        high = found.high
    else:
        low, high = statistics.wilson(wrong.sum(), wrong.size)
    row = {"name": name, "error": wrong.mean(), "low": low, "high": high, "hindsight": hindsight}
    if spent is None:
        return row
    return row | {
        "seconds": times * spent["fit"],
        "memory": spent["peak"],
        "predict": times * spent["predict"],
        "numbers": times * spent.get("numbers", np.nan),
        "threads": threads,
    }


def votes_table(ensembles):
    """The votes of several orders by degree (orders.tables) as they are printed."""
    shown = pd.DataFrame(
        {
            "degree": ensembles["degree"],
            "one order": ensembles["single"],
            "vote": ensembles["majority"],
            "difference (points)": [words.with_interval(row) for row in ensembles.itertuples()],
            "p": ensembles["p"],
        }
    )
    return words.styled(shown, {"one order": ".2%", "vote": ".2%", "p": words.p_cell})


# Prepared images, and more of them.


def wrong_by(names, arrays, labels):
    """{name: (R, D, n) bool}: where they err, from arrays with predictions (n, D), grouped by names."""
    found = {}
    for name, each in zip(names, arrays, strict=True):
        found.setdefault(name, []).append(each["predictions"].T != labels)
    return {name: np.stack(orders) for name, orders in found.items()}


def effects(wrong, degrees):
    """Every preparation against raw pixels at the same degree: preparation, degree, error, control (that of raw pixels),
    estimate, low, high, p and verdict.

    wrong {preparation: (R, D, n) bool}. The difference is over orders and test images (statistics.crossed), with Holm's
    correction over all rows.
    """
    raw = wrong["raw"]
    keys = [(name, d) for name in wrong if name != "raw" for d in range(len(degrees))]
    tests = statistics.holm({(name, d): statistics.crossed(wrong[name][:, d].astype(float) - raw[:, d]) for name, d in keys})
    rows = [(name, degrees[d], wrong[name][:, d].mean(), raw[:, d].mean()) for name, d in keys]
    table = pd.DataFrame(rows, columns=["preparation", "degree", "error", "control"])
    table = table.join(statistics.table(tests)[["estimate", "low", "high", "p"]])
    return table.assign(verdict=[test.word("lower", "higher", "–") for test in tests.values()])


def laws(wrong, degrees):
    """The test error as a power a n^b of the number n of images: degree, exponent b with low and high, and p, of whether the
    exponent changes with n (Holm over the degrees); missing where nothing is misclassified.

    wrong {n: (R, D, n_test) bool}. Lines of least squares through log error by log n, and parabolas for the change, over
    orders, draws and test images (statistics.crossed).
    """
    x = np.log10(list(wrong))
    slope = np.linalg.pinv(np.vander(x, 2))[0]
    change = 2 * np.linalg.pinv(np.vander(x - x.mean(), 3))[0]
    found = {}
    bends = {}
    for place, degree in enumerate(degrees):
        by_size = np.stack([each[:, place] for each in wrong.values()])
        if by_size.any(axis=(1, 2)).all():
            found[degree], bends[degree] = (_of_log_errors(by_size, weights) for weights in (slope, change))
    bends = statistics.holm(bends)
    rows = [(degree, test.estimate, test.low, test.high, bends[degree].p) for degree, test in found.items()]
    table = pd.DataFrame(rows, columns=["degree", "exponent", "low", "high", "p"]).set_index("degree")
    return table.reindex(list(degrees))


def _of_log_errors(wrong, weights):
    """The Difference sum_s weights_s log10 e_s, with e_s the error rate at size s: wrong (S, R, n), weights (S,).

    Over orders and images: each log is linear near the mean rate, so that every image of every order has its own part in it.
    """
    means = wrong.mean(axis=(1, 2))
    shares = np.einsum("s,srn->rn", weights / (means * np.log(10)), wrong)
    return statistics.crossed(shares + weights @ (np.log10(means) - 1 / np.log(10)))


def on_law(rates, exponent, n):
    """The error rate at n by the law with this exponent that fits rates {size: rate} best, least squares of logarithms."""
    sizes = np.log(list(rates))
    return float(np.exp(np.mean(np.log(list(rates.values()))) + exponent * (np.log(n) - sizes.mean())))


# Recipes: found has a row for each that was tried.


def alone(found):
    """The fewest held-out errors of each preparation without copies: preparation, degree and error, the lowest first."""
    rows = found[found["copies"] == 0]
    best = rows.loc[rows.groupby("preparation")["errors"].idxmin()]
    return best[["preparation", "degree", "error"]].sort_values("error", ignore_index=True)


def lines(found):
    """The recipe with the fewest errors of each preparation, of each number of copies, and of each protocol, in the order in
    which they were tried; ties go to the first."""
    kinds = found.groupby(["preparation", "copies", "protocol"], sort=False)
    return found.loc[kinds["errors"].idxmin()].reset_index(drop=True)


def recipes_table(found):
    """Recipes as they are printed."""
    shown = pd.DataFrame(
        {
            "preparation": found["preparation"],
            "copies": found["copies"],
            "degree": found["degree"],
            "held-out errors": found["errors"],
            "held-out error": found["error"],
            "training (s)": found["prepare"] + found["fit"],
            "memory (GiB)": found["peak"],
        }
    )
    return words.styled(shown, {"held-out error": ".2%", "training (s)": ",.0f", "memory (GiB)": ".1f"})
