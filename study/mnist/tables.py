"""Small tables that the MNIST chapters show or draw conclusions from: of the images, and of one visiting order of each
degree, aggregated from those of study.mnist.experiment. Those over many orders: study.mnist.over_orders.

multiclass is the stored table (degree, epoch, predictor, split, errors, n); wrong (degrees, 4, E, n) says of each predictor
and test image whether it is misclassified, the axes in the order of degrees, PREDICTORS and epochs. Ties go to the lowest
degree and the earliest epoch. Rates are fractions; intervals are exact binomial ones at 95 %, over test images. X (n, d) are
images as rows of pixels, y (n,) their labels.
"""

from itertools import product

import numpy as np
import pandas as pd

from study import statistics
from study.predictors import PREDICTORS
from study.words import p_cell, percent, points, styled

QUARTILES = [0.25, 0.5, 0.75]
OF_SOURCE = ("average", "minimizing", "final")
"""The predictors of Hermans 2021."""


def counts(y, y_test):
    """How many images of each class there are: a table (class, training, test)."""
    found = pd.DataFrame({"training": pd.Series(y).value_counts(), "test": pd.Series(y_test).value_counts()})
    return found.sort_index().rename_axis("class").reset_index()


def ink(X, y, top):
    """Ink of the images of each class, as a share of an image that is black all over: a table (label, low, median, high)."""
    share = pd.DataFrame({"label": y, "ink": X.mean(axis=1) / top}).groupby("label")["ink"]
    return share.quantile(QUARTILES).unstack().set_axis(["low", "median", "high"], axis=1).reset_index()


def more(a, b):
    """The share of pairs of a number of a (n,) and one of b (m,) in which the first is larger; ties count one half."""
    b = np.sort(b)
    return float((np.searchsorted(b, a, "left") + np.searchsorted(b, a, "right")).mean() / (2 * len(b)))


def kinds(pairs):
    """How often two classes meet among pairs (label_first, label_second): {"1 and 7": 12}, as a Series, most often first."""
    ends = np.sort(pairs[["label_first", "label_second"]], axis=1)
    return (
        pd.Series([f"{a} and {b}" for a, b in ends], dtype=object)
        .value_counts(sort=False)
        .sort_values(ascending=False, kind="stable")
    )


def moved(X, side):
    """|x - x'| (n,), where x' is the image x moved by one pixel to the right, with background coming in."""
    images = X.reshape(-1, side, side).astype(float)
    shifted = np.zeros_like(images)
    shifted[:, :, 1:] = images[:, :, :-1]
    return np.sqrt(((images - shifted) ** 2).sum(axis=(1, 2)))


def ordered(multiclass):
    """The test errors, the fewest first; ties go to the lowest degree and the earliest epoch."""
    return multiclass[multiclass["split"] == "test"].sort_values(["errors", "degree", "epoch"], kind="stable")


def with_rates(table):
    """The table of counts with error (a fraction) and its exact 95 % interval, low and high (fractions)."""
    low, high = statistics.exact(table["errors"], table["n"])
    return table.assign(error=table["errors"] / table["n"], low=low, high=high)


def by_epoch(multiclass, split):
    """Counts of errors of one degree: a row for each epoch, a column for each predictor."""
    return _by_predictor(multiclass[multiclass["split"] == split], "epoch").reset_index()


def binary_errors(binary, epoch):
    """Test errors of the binary perceptrons of one degree after an epoch, by digit (rows) and predictor."""
    return _by_predictor(binary[(binary["epoch"] == epoch) & (binary["split"] == "test")], "digit").reset_index()


def _by_predictor(rows, index):
    """The errors of rows, with a column for each predictor."""
    return rows.pivot(index=index, columns="predictor", values="errors")[list(PREDICTORS)].rename_axis(columns=None)


def ranking(multiclass):
    """The best degree and epoch of each predictor, with rates and intervals; the predictor with the fewest errors first."""
    best = ordered(multiclass).groupby("predictor", as_index=False, sort=False).first()
    return with_rates(best)[["predictor", "degree", "epoch", "errors", "n", "error", "low", "high"]]


def eighteen(multiclass):
    """Each degree and predictor of the source at the epoch with its fewest test errors, the fewest first: rank, predictor,
    degree, epoch, errors, error, low, high, and training, the training errors of the same predictor."""
    own = multiclass[multiclass["predictor"].isin(OF_SOURCE)]
    best = ordered(own).groupby(["predictor", "degree"], as_index=False, sort=False).first()
    train = own[own["split"] == "train"].set_index(["predictor", "degree", "epoch"])["errors"].rename("training")
    found = with_rates(best).join(train, on=["predictor", "degree", "epoch"])
    found.insert(0, "rank", range(1, len(found) + 1))
    return found[["rank", "predictor", "degree", "epoch", "errors", "error", "low", "high", "training"]]


def literature(published, error):
    """Test errors that others printed, the highest first, with ours: classifier, preparation (of the images), test error
    and source. published: method, test_error_percent, preprocessing and source, as text."""
    own = ("Kernel perceptron, average predictor", percent(error).removesuffix(" %"), "none", "this report")
    found = pd.DataFrame(
        [*published.itertuples(index=False), own], columns=["classifier", "test error", "preparation", "source"]
    )
    found = found.sort_values("test error", key=lambda column: -column.astype(float), kind="stable")
    found["test error"] += " %"
    return found[["classifier", "preparation", "test error", "source"]]


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


def mistakes_by_digit(logs):
    """A row for each digit: mistakes, support vectors (distinct examples), mistakes in the first and in the last epoch."""
    rows = []
    for digit, log in enumerate(logs):
        made = np.diff([0, *(log.length(e) for e in range(1, log.n_epochs + 1))])
        row = {"digit": digit, "mistakes": len(log), "support vectors": len(np.unique(log.example))}
        rows.append(row | {"in epoch 1": made[0], "in the last epoch": made[-1]})
    return pd.DataFrame(rows)


def mistakes_by_example(logs, count):
    """The training examples with the most mistakes over all digits; ties go to the first. Columns example, mistakes."""
    examples, mistakes = np.unique(np.concatenate([log.example for log in logs]), return_counts=True)
    order = np.lexsort([examples, -mistakes])[:count]
    return pd.DataFrame({"example": examples[order], "mistakes": mistakes[order]})


def support_size(logs):
    """The number of distinct examples on which any of the perceptrons made a mistake."""
    return len(np.unique(np.concatenate([log.example for log in logs])))


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
        raise ValueError(f"expected at least 3 runs, one of them with the seed {own}, got {list(errors.index)}")
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


# For readers.


def spread_table(spread):
    """`class_spread` as it is printed."""
    shown = spread.drop(columns="runs").rename(columns={"own": "own run", "fewer": "runs with fewer", "more": "with more"})
    return styled(shown, dict.fromkeys(["mean", "sd", "lowest", "highest", "own run"], ".2%"))


def differences_table(differences):
    """`class_differences` as they are printed."""
    names = {"fewer": "runs with fewer errors", "equal": "as many", "more": "more", "estimate": "minus the average"}
    formats = {"minus the average": points, "low": points, "high": points, "p": p_cell}
    return styled(differences.rename(columns=names), formats)


def average_table(against):
    """Tests against the average predictor (`over_orders.among_predictors`) as they are printed."""
    formats = {"minus average": points, "low": points, "high": points, "p": p_cell}
    shown = against.rename(columns={"estimate": "minus average"})
    return styled(shown[["predictor", *formats]], formats)


def eighteen_table(ranked):
    """`eighteen` as it is printed."""
    return styled(ranked.rename(columns={"training": "training errors"}), dict.fromkeys(("error", "low", "high"), percent))


def degrees_table(over):
    """`over_degrees` as it is printed."""
    return styled(over.rename(columns={"training": "training errors"}), dict.fromkeys(over.columns[4:], percent))


LI_LONG_COLUMNS = {
    **{("test error (%)", epoch): (f"error (%), T = {epoch}", ".2f") for epoch in range(1, 5)},
    **{("mistakes of all learners", epoch): (f"mistakes, T = {epoch}", ",.0f") for epoch in (1, 4)},
}
"""The columns that are shown, by what is counted and the epoch."""


def li_long_table(rows):
    """Li & Long's Table 1 next to ours, from the rows of the ledger: for each learner "printed | ours" of its errors, and of
    its mistakes after the first and the last epoch."""
    parts = rows["quantity"].str.extract(r"(?P<learner>.*), (?P<what>.*) after epoch (?P<epoch>\d)")
    table = parts[["learner"]].drop_duplicates().set_index("learner")
    for (what, epoch), (name, form) in LI_LONG_COLUMNS.items():
        own = rows[(parts["what"] == what) & (parts["epoch"] == str(epoch))]
        texts = [f"{row.published:{form}} | {row.ours:{form}}" for row in own.itertuples()]
        table[name] = dict(zip(parts.loc[own.index, "learner"], texts, strict=True))
    return table.reset_index()
