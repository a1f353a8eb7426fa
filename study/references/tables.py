"""Small tables of the chapter on lower errors and their price. Rates and differences are fractions."""

import numpy as np
import pandas as pd

from kp.mistakes import PREDICTORS
from study import statistics, words
from study.references import experiment
from study.references.experiment import CONTROL, INTELEX, OURS

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


def costs(dataset="mnist", *, n_held=10_000):
    """All learners as stored, those of scikit-learn, the average predictor after some epochs, and what scikit-learn-intelex
    has: method, epoch, error (a rate), fit and predict (processor seconds) and peak (GiB), medians over days, and numbers
    (stored)."""
    errors, spent = _stored(dataset, n_held)
    others = [name for name in PREDICTORS if name != CONTROL]
    table = errors[~errors["predictor"].isin(others)]
    medians = spent.groupby(["method", "epoch"])[["fit", "predict", "peak"]].median().reset_index()
    table = table.assign(error=table["errors"] / table["n_test"]).merge(medians, validate="one_to_one")
    return table[["method", "epoch", "error", "fit", "predict", "peak", "numbers"]]


def by_day(dataset="mnist", *, n_held=10_000, what="fit"):
    """How many times as long as all epochs of the kernel perceptron each other learner trained (what "fit") or predicted
    (what "predict"), by its method (rows) and on each day (columns)."""
    spent = _stored(dataset, n_held)[1].pivot(index=["method", "epoch"], columns="day", values=what)
    return spent.xs(0, level="epoch") / spent.loc[OURS, max(experiment.EPOCHS)]


def slower(dataset="mnist", *, n_held=10_000, what="fit"):
    """`by_day` in short: its median, low and high over the days, by method (rows)."""
    days = by_day(dataset, n_held=n_held, what=what)
    return pd.DataFrame({"median": days.median(axis=1), "low": days.min(axis=1), "high": days.max(axis=1)})


def seconds(dataset="mnist", *, n_held=10_000):
    """The seconds in which the kernel perceptron learns in all its epochs: median, low and high over the days."""
    spent = _stored(dataset, n_held)[1].set_index(["method", "epoch"]).loc[[(OURS, max(experiment.EPOCHS))], "fit"]
    return spent.agg(["median", "min", "max"]).set_axis(["median", "low", "high"])


def _stored(dataset, n_held):
    """The errors of all learners, and what they cost on each day."""
    results = experiment.learners(experiment.settings(dataset, n_held=n_held))
    ours = experiment.perceptron([experiment.Ours(dataset=dataset)])
    errors = [results["errors"], ours["perceptron"]]
    spent = [results["costs"].assign(day=0), ours["perceptron_costs"].assign(day=0)]
    if fast := experiment.intelex_settings(dataset, n_held=n_held):
        found = experiment.intelex(fast).assign(predictor="", epoch=0, day=0)
        errors.append(found[list(errors[0].columns)])
        spent.append(found[list(spent[0].columns)])
    if later := experiment.again_settings(dataset, n_held=n_held):
        spent.append(experiment.again(later))
    return pd.concat(errors, ignore_index=True), pd.concat(spent, ignore_index=True)


def predicted(results, method):
    """The classes (n_test,) that a method, by its name in the results of `learners`, gives the test images."""
    predictions = np.concatenate([arrays["predictions"] for arrays in results["arrays"]])
    return predictions[list(results["errors"]["method"]).index(method)]


def choices(dataset="mnist", *, n_held=10_000):
    """The held-out errors of all candidates of all methods that are compared and have a choice."""
    methods = {part.method for part in experiment.settings(dataset, n_held=n_held)}
    tables = [
        experiment.held(experiment.candidates(method, dataset, n_held=n_held))
        for method in experiment.ESTIMATORS if method in methods and len(experiment.GRIDS[method]) > 1
    ]  # fmt: skip
    return pd.concat(tables, ignore_index=True)


def tried(choices, grids, names):
    """A row for each method that has a choice: method, candidates, grid (its values), choice, at the edge (the parameters
    of the choice that have the first or last value of their range), fewest and most (held-out errors).

    choices: the table of that function; grids {method: [{parameter: value}]} in its order; names: printed names of
    parameters.
    """
    rows = []
    for method, part in choices.groupby("method", sort=False):
        grid = grids[method]
        held = part["held"].to_numpy()
        place = int(held.argmin())
        values = {name: sorted({each[name] for each in grid}) for name in grid[0]}
        edges = [
            names.get(name, name)
            for name, found in values.items()
            if name not in ALTERNATIVES and grid[place][name] in (found[0], found[-1])
        ]
        shown = "; ".join(
            f"{names.get(name, name)} {', '.join(f'{value:g}' for value in found)}" for name, found in values.items()
        )
        rows.append((method, len(grid), shown, part["choice"].iloc[place], ", ".join(edges), held.min(), held.max()))
    columns = ["method", "candidates", "grid", "choice", "at the edge", "fewest", "most"]
    return pd.DataFrame(rows, columns=columns)


def bill(compared, costs, ladder, first):
    """Errors and their costs, the lowest error first: learner, error with error low and error high; estimate, low and high,
    of the kernel perceptron less the learner; fit and predict (seconds), peak (GiB), numbers (stored) and threads.

    compared, costs, ladder: the tables of these functions. The kernel perceptron has its steps of the ladder that were
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


def times(fit, predict, peak):
    """How many times as long as the kernel perceptron others train and predict, as it is printed, with their memory.

    fit, predict: rows of `slower`; peak: GiB by the name of a learner.
    """
    ranges = {"training": fit, "prediction": predict}
    shown = pd.DataFrame({"classifier": fit.index})
    for name, table in ranges.items():
        ends = ([words.significant(value) for value in row] for row in table[["median", "low", "high"]].to_numpy())
        shown[f"{name} takes"] = [f"{median} times ({low} to {high})" for median, low, high in ends]
    return words.styled(shown.assign(**{"memory (GiB)": peak.loc[fit.index].to_numpy()}), {"memory (GiB)": ".2f"})


# For readers.


def tried_table(found):
    """`tried` as it is printed."""
    return words.styled(found, dict.fromkeys(["fewest", "most"], ","))


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
