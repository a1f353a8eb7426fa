"""Tables of the multiclass chapter: the literal update beside the estimator, operations, growth, courses of errors, draws.

Tables of experiments are those of study.multiclass.experiment; nothing is fitted here.
"""

import numpy as np
import pandas as pd
from scipy.spatial import cKDTree
from scipy.stats import t as student

from kp import PREDICTORS


def beside_literal(model, alpha, beta, mistakes):
    """A row about a fitted `MulticlassKernelPerceptron` and what kp.literal.xu_zhang made of the same visits.

    alpha (C, n), beta (C,) and mistakes, rows (example, step, demoted), are the literal ones. Columns: examples, epochs,
    mistakes, literal (its mistakes), same (of each mistake example, step and class agree), difference (the largest one
    between the coefficients, as a share of the largest coefficient; 0 if no bit differs).
    """
    log = model.mistakes_
    ours = np.column_stack([log.example, log.step, log.demoted]).tolist()
    gap = max(np.abs(alpha - model.dual_coef_).max(), np.abs(beta - model.intercept_).max()) / np.abs(alpha).max()
    same = "yes" if ours == [list(map(int, row)) for row in mistakes] else "no"
    return {
        "examples": alpha.shape[1], "epochs": model.n_iter_, "mistakes": len(ours), "literal": len(mistakes), "same": same,
        "difference": gap,
    }  # fmt: skip


def operations(log, n, n_classes):
    """Multiplications and additions of numbers that learning took, by the log of a run; K is given to both sides.

    Columns: operation, literal, squared. literal: C n products a visit and 2 n sums a mistake; squared: n^2 (n + 1) / 2
    products once for K^2 and 2 n sums a mistake, as the scores are there when an example is visited.
    """
    visits, moves = log.steps(), n * (len(log) + log.n_mistakes())
    rows = [
        ("squaring K, once", 0, n * n * (n + 1) // 2),
        ("scores of the example visited", visits * n_classes * n, 0),
        ("moving two classes at a mistake", moves, moves),
    ]
    table = pd.DataFrame(rows, columns=["operation", "literal", "squared"])
    total = pd.DataFrame([("all", *table[["literal", "squared"]].sum())], columns=table.columns)
    return pd.concat([table, total], ignore_index=True)


def growth(table):
    """How mistakes and bounds grow from the first value to the last, and how the updates compare at both.

    table: rows of experiment.mistakes with a column value more. first, last: the values; bound_* and mistakes_*: last
    divided by first, by update; less, more: mistakes of Xu and Zhang's update divided by those of the ordinary one at the
    first and at the last value.
    """
    wide = table.pivot(index="value", columns="update", values=["bound", "median"])
    factors, ratio = wide.iloc[-1] / wide.iloc[0], wide["median", "Xu-Zhang"] / wide["median", "ordinary"]
    return {
        "first": wide.index[0],
        "last": wide.index[-1],
        "bound_ordinary": factors["bound", "ordinary"],
        "bound_xu_zhang": factors["bound", "Xu-Zhang"],
        "mistakes_ordinary": factors["median", "ordinary"],
        "mistakes_xu_zhang": factors["median", "Xu-Zhang"],
        "less": ratio.iloc[0],
        "more": ratio.iloc[-1],
    }


def error_course(log, n, *, bins=40):
    """Training errors along a `MulticlassLog` of n examples, in equal bins of the logarithm of the step (from 1).

    A row a bin with a mistake in it. Columns: step (of the last mistake in the bin), least, median, most (error rates of the
    predictors right after the mistakes in the bin). The last mistake of all has a row of its own.
    """
    first = np.flatnonzero(log.promoted >= 0)
    steps, errors = log.step[first] + 1, log.errors[first] / n
    position = np.floor(bins * np.log(steps) / np.log(steps[-1])).astype(int)
    groups = pd.DataFrame({"bin": position, "step": steps, "error": errors}).groupby("bin")
    table = groups.agg(step=("step", "max"), least=("error", "min"), median=("error", "median"), most=("error", "max"))
    return table.reset_index(drop=True)


def distance_to_boundary(X, predicted, lattice, regions):
    """Distance (n,) from each example to the nearest point of the lattice (c, 2) whose region (c,) is not its own.

    The region of an example is its prediction (n,).
    """
    distance = np.full(len(X), np.inf)
    for label in np.unique(predicted):
        other = lattice[regions != label]
        if len(other):
            distance[predicted == label] = cKDTree(other).query(X[predicted == label])[0]
    return distance


def panels(choices, train, fresh, lattice):
    """{title: scores (c, C) on the lattice} for figure_regions, from choices {name: (fitted estimator, predictor, epoch)}.

    train and fresh are `Data`; the titles tell the error rates on both.
    """
    found = {}
    for name, (model, predictor, epoch) in choices.items():
        options = {"predictor": predictor, "epoch": epoch}
        rates = [np.mean(model.predict(part.X, **options) != part.y) for part in (train, fresh)]
        found["{}: train {:.1%}, fresh {:.1%}".format(name, *rates)] = model.decision_function(lattice, **options)
    return found


def errors_by_epoch(model, data, epochs):
    """Error rates of the four predictors of a fitted estimator on `Data`: a row for each epoch, a column a predictor."""
    rows = [
        {"epoch": e} | {p: np.mean(model.predict(data.X, predictor=p, epoch=e) != data.y) for p in PREDICTORS}
        for e in epochs
    ]
    return pd.DataFrame(rows)


def summary(table):
    """One row a method of a table of `runs`, over its draws.

    Columns: method, converged (share of draws), epochs and mistakes (medians), train, test (mean error rates), least and
    most (test error rates).
    """
    rates = table.assign(train=table["train_errors"] / table["n_train"], test=table["test_errors"] / table["n_test"])
    return rates.groupby("method", sort=False, as_index=False).agg(
        converged=("converged", "mean"),
        epochs=("epochs", "median"),
        mistakes=("mistakes", "median"),
        train=("train", "mean"),
        test=("test", "mean"),
        least=("test", "min"),
        most=("test", "max"),
    )


SUMMARY_FORMATS = {
    "converged": ".0%",
    "epochs": ".0f",
    "mistakes": ",.0f",
    **dict.fromkeys(["train", "test", "least", "most"], ".2%"),
}
"""How the columns of a `summary` are shown."""


def difference(table, first, second):
    """(mean, half): mean difference of the test error rates of two methods, first less second, over the draws of `runs`.

    half is the half width of its 95 % interval by Student's t; both methods saw the same draws.
    """
    rates = table.assign(rate=table["test_errors"] / table["n_test"]).pivot(index="draw", columns="method", values="rate")
    gaps = rates[first] - rates[second]
    return float(gaps.mean()), float(student.ppf(0.975, len(gaps) - 1) * gaps.sem())
