"""Small tables that the MNIST chapters show or draw conclusions from, aggregated from those of study.mnist.experiment.

multiclass is the stored table (degree, epoch, predictor, split, errors, n); wrong (degrees, 4, E, n) says of each predictor
and test image whether it is misclassified, the axes in the order of degrees, PREDICTORS and epochs. Ties go to the lowest
degree and the earliest epoch. Rates are fractions; intervals are exact binomial ones at 95 %, over test images.
"""

from itertools import product

import numpy as np
import pandas as pd

from kp.mistakes import PREDICTORS
from study import statistics
from study.claims import interval


def with_rates(table):
    """The table of counts with error (a fraction) and its exact 95 % interval, low and high (fractions)."""
    low, high = interval(table["errors"], table["n"])
    return table.assign(error=table["errors"] / table["n"], low=low / table["n"], high=high / table["n"])


def by_epoch(multiclass, split):
    """Counts of errors of one degree: a row for each epoch, a column for each predictor."""
    return _by_predictor(multiclass[multiclass["split"] == split], "epoch").reset_index()


def by_digit(binary, epoch, split="test"):
    """Counts of binary errors of one degree after an epoch: a row for each digit, a column for each predictor."""
    return _by_predictor(binary[(binary["epoch"] == epoch) & (binary["split"] == split)], "digit").reset_index()


def _by_predictor(rows, index):
    """The errors of rows, with a column for each predictor."""
    return rows.pivot(index=index, columns="predictor", values="errors")[list(PREDICTORS)].rename_axis(columns=None)


def ranking(multiclass, split="test"):
    """The best degree and epoch of each predictor, with rates and intervals; the predictor with the fewest errors first."""
    rows = multiclass[multiclass["split"] == split].sort_values(["errors", "degree", "epoch"], kind="stable")
    best = rows.groupby("predictor", as_index=False, sort=False).first()
    return with_rates(best)[["predictor", "degree", "epoch", "errors", "n", "error", "low", "high"]]


def over_degrees(multiclass, logs, epochs):
    """A row for each degree: mistakes, support (distinct examples), training (errors of the average predictor at the end),
    and the test error rates of the final and the average predictor after each of `epochs`, columns such as "final, epoch 1".
    logs: one list of logs for each degree, in their order."""
    rates = with_rates(multiclass).set_index(["degree", "epoch", "predictor", "split"])
    last = multiclass["epoch"].max()
    rows = []
    for degree, own in zip(sorted(multiclass["degree"].unique()), logs, strict=True):
        row = {"degree": degree, "mistakes": sum(map(len, own)), "support": support_size(own)}
        row["training"] = int(rates.loc[(degree, last, "average", "train"), "errors"])
        for epoch, name in product(epochs, ("final", "average")):
            row[f"{name}, epoch {epoch}"] = rates.loc[(degree, epoch, name, "test"), "error"]
        rows.append(row)
    return pd.DataFrame(rows)


def against_average(wrong, degrees, epochs):
    """The other predictors against the average one of the same degree and epoch: McNemar's tests, Holm over all rows.

    Columns epoch, degree, predictor, errors, average (its errors), and those of study.statistics.table. A difference below 0
    is in favour of the other predictor.
    """
    others = [name for name in PREDICTORS if name != "average"]
    keys = list(product(epochs, degrees, others))
    return _paired(
        keys, lambda e, d, name: (_of(wrong, degrees, d, name, e), _of(wrong, degrees, d, "average", e)), "average"
    )


def against_best(wrong, degrees, best, epoch):
    """Every degree and predictor after an epoch against `best` (degree, predictor, epoch), a row of `ranking`; as above."""
    chosen = (best["degree"], best["predictor"], best["epoch"])
    keys = [(epoch, d, name) for d, name in product(degrees, PREDICTORS) if (d, name, epoch) != chosen]
    other = _of(wrong, degrees, *chosen)
    return _paired(keys, lambda e, d, name: (_of(wrong, degrees, d, name, e), other), "best")


def _of(wrong, degrees, degree, predictor, epoch):
    return wrong[list(degrees).index(degree), PREDICTORS.index(predictor), epoch - 1]


def _paired(keys, pair, name):
    both = {key: pair(*key) for key in keys}
    tests = statistics.table(statistics.holm({key: statistics.mcnemar(*each) for key, each in both.items()}))
    head = pd.DataFrame(keys, columns=["epoch", "degree", "predictor"])
    head["errors"], head[name] = (np.array([each[side].sum() for each in both.values()]) for side in (0, 1))
    return pd.concat([head, tests.drop(columns="comparison")], axis=1)


def halves(errors, n_first):
    """Errors in the first n_first test images and in the rest: Fisher's tests, Holm over all rows.

    errors {name: (n,) bool}. Columns name, first, last, ratio (of the rates), and those of study.statistics.table.
    """
    rows = []
    tests = {}
    for name, wrong in errors.items():
        first = int(wrong[:n_first].sum())
        last = int(wrong[n_first:].sum())
        n_last = len(wrong) - n_first
        rows.append((name, first, last, (first / n_first) / (last / n_last) if last else np.nan))
        tests[name] = statistics.two_samples(first, n_first, last, n_last)
    table = statistics.table(statistics.holm(tests)).drop(columns="comparison")
    return pd.DataFrame(rows, columns=["name", "first", "last", "ratio"]).join(table)


def committee(predictions, labels, n_classes):
    """The vote of several predictors (m, n), where ties go to the lowest class, and how they agree.

    {"wrong": (n,) bool of the vote, "agree": (n,) bool where all say the same}.
    """
    votes = np.stack([(predictions == c).sum(axis=0) for c in range(n_classes)])
    return {"wrong": votes.argmax(axis=0) != labels, "agree": (predictions == predictions[0]).all(axis=0)}


def mistakes_by_digit(logs):
    """A row for each digit: mistakes, support vectors (distinct examples), mistakes in the first and in the last epoch."""
    rows = []
    for digit, log in enumerate(logs):
        made = np.diff([0, *(log.length(e) for e in range(1, log.n_epochs + 1))])
        row = {"digit": digit, "mistakes": len(log), "support vectors": len(np.unique(log.example))}
        rows.append(row | {"in epoch 1": made[0], "in the last epoch": made[-1]})
    return pd.DataFrame(rows)


def hardest(logs, count):
    """The training examples with the most mistakes over all digits; ties go to the first. Columns example, mistakes."""
    examples, mistakes = np.unique(np.concatenate([log.example for log in logs]), return_counts=True)
    order = np.lexsort([examples, -mistakes])[:count]
    return pd.DataFrame({"example": examples[order], "mistakes": mistakes[order]})


def support_size(logs):
    """The number of distinct examples on which any of the perceptrons made a mistake."""
    return len(np.unique(np.concatenate([log.example for log in logs])))


def published_with_ours(multiclass, published):
    """The published counts of errors, column errors_published, with ours, column errors, sorted by their keys."""
    keys = ["degree", "epoch", "predictor", "split"]
    return published.merge(multiclass, on=[*keys, "n"], suffixes=("_published", "")).sort_values(keys, ignore_index=True)


REPLICATED = {
    "Fig.": ("errors of the multiclass predictors", "files behind Figs 5 and 6"),
    "Binary": ("errors of the ten binary perceptrons", "files behind Figs 3 and 4"),
    "Confusion": ("confusion matrices", "files"),
    "Final report, Abstract": ("smallest test errors", "final report, abstract"),
    "Final report, Table 1": ("the best of each predictor", "final report, Table 1"),
}
"""Published numbers by the start of their item in the ledger: what they are, and where they stand."""


def replicated(claims):
    """How many published numbers are the same here, a row for each of REPLICATED. Columns published numbers, place, numbers,
    the same.

    A file of binary errors is one claim on as many numbers as it holds; any other claim is one number, the same if exact.
    """
    rows = []
    for start, names in REPLICATED.items():
        part = claims[claims["item"].str.startswith(start)]
        whole = start == "Binary"
        counts = (part["n"].sum(), part["ours"].sum()) if whole else (len(part), (part["verdict"] == "exact").sum())
        rows.append((*names, *map(int, counts)))
    return pd.DataFrame(rows, columns=["published numbers", "place", "numbers", "the same"])


def errors_by_seed(rows):
    """Test errors after the last epoch of runs that differ in their seed only: a row for each random_state, a column for
    each predictor. rows: those of study.results.runs.table."""
    last = rows[(rows["split"] == "test") & (rows["epoch"] == rows["epoch"].max())]
    return _by_predictor(last, "random_state")


def class_spread(errors, own, n):
    """The errors of a class (`errors_by_seed`) as rates of n test images, and where one run, that with the seed `own`, lies.

    A row for each predictor: predictor, runs, mean, sd, lowest, highest, own, fewer and more (how many of the other runs
    have fewer and more errors than that one). Raises ValueError if no run has that seed, or if there are fewer than three.
    """
    if own not in errors.index or len(errors) < 3:
        raise ValueError(f"the class must have at least 3 runs, one of them with the seed {own}, got {list(errors.index)}")
    mine = errors.loc[own]
    rates = errors / n
    columns = {"runs": len(errors), "mean": rates.mean(), "sd": rates.std(), "lowest": rates.min(), "highest": rates.max()}
    columns |= {"own": mine / n, "fewer": (errors < mine).sum(), "more": (errors > mine).sum()}
    return pd.DataFrame(columns).rename_axis("predictor").reset_index()


def class_differences(errors, n):
    """The other predictors less the average one, in the same runs of a class: predictor, fewer, equal and more (in how many
    runs it has fewer, as many and more errors), and estimate, low, high, p of the mean difference of rates.

    Student's t over the seeds, with Holm's correction; the test images are the same throughout.
    """
    gaps = errors.drop(columns="average").sub(errors["average"], axis=0)
    tests = statistics.holm({name: statistics.student(gap / n, varies="seeds") for name, gap in gaps.items()})
    table = pd.DataFrame({"fewer": (gaps < 0).sum(), "equal": (gaps == 0).sum(), "more": (gaps > 0).sum()})
    table = table.rename_axis("predictor").reset_index()
    return table.join(statistics.table(tests)[["estimate", "low", "high", "p"]])
