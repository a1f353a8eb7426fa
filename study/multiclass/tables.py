"""Tables of Xu and Zhang's algorithm in the plane: the forms, what figures draw, mistakes and bounds, draws.

Tables of experiments are those of study.multiclass.experiment; nothing but `cases` fits.
"""

import numpy as np
import pandas as pd

from study import statistics
from study.protocols.plane import lattice

FORMS = pd.DataFrame(
    [
        ("one-vs-all", "one for each class", "$K(x_i, x)$", "support vectors"),
        ("ordinary", "one for all classes", "$K(x_i, x)$", "support vectors"),
        ("Xu-Zhang", "one for all classes", r"$\sum_s K(x_i, x_s) \, K(x_s, x)$", "all $n$ examples"),
    ],
    columns=["form", "perceptrons", "added to the score at $x$", "kernel values of a prediction"],
)
"""The three multiclass forms: what a mistake on example i adds to the score of its class y, and takes from that of j."""


def cases(problems, *, resolution):
    """Data of figures.figure_cases for problems {title: experiment.Problem}, each perceptron fitted to its set.

    wrong: training examples misclassified; the title tells it, and the epochs that were run.
    """
    found = []
    for title, problem in problems.items():
        X, y = problem.examples()
        model = problem.estimator().fit(X, y)
        points, box = lattice(X, margin=0.07 * np.ptp(X, axis=0).max(), resolution=resolution)
        wrong = int((model.predict(X) != y).sum())
        title = f"{title}\n{wrong} wrong, {model.n_iter_:,} epochs"
        found.append({"title": title, "X": X, "y": y, "F": model.decision_function(points), "box": box, "wrong": wrong})
    return found


def with_orders(mistakes, orders):
    """Rows of experiment.mistakes without epochs, and with fewest, median and most over the orders of experiment.orders."""
    keys = ["dataset", "kernel", "sigma", "factor", "update"]
    groups = orders.groupby(keys, sort=False)
    counts = groups["mistakes"].agg(fewest="min", median="median", most="max")
    counts = counts.astype(float).where(groups["converged"].all())
    return mistakes.drop(columns=["fewest", "median", "most", "epochs"]).merge(counts.reset_index(), on=keys, how="left")


def by_value(counts):
    """Data of figures.figure_mistakes from rows of `with_orders`: spirals by their width, the five classes by a factor."""
    spirals, five = (counts[counts["kernel"] == kernel] for kernel in ("rbf", "poly"))
    return {
        r"spirals: width $\sigma$": spirals.assign(value=spirals["sigma"]),
        "five classes: factor on coordinates": five.assign(value=five["factor"]),
    }


def mistake_ratios(orders, column):
    """{value: Difference}: the logarithm of Xu and Zhang's mistakes over the ordinary ones, on the same visits, by `column`.

    Student's t over the orders, all values one family (Holm). Values at which an order had not stopped are left out.
    """
    wide = orders.pivot(index=[column, "order"], columns="update", values=["mistakes", "converged"])
    found = {}
    for value, part in wide.groupby(level=column):
        if part["converged"].to_numpy(dtype=bool).all():
            logs = np.log(part["mistakes"].astype(float))
            found[value] = statistics.student(logs["Xu-Zhang"] - logs["ordinary"], varies="visiting orders")
    return statistics.holm(found)


def bounds_and_counts(mistakes, ratios, column):
    """A row for each value: what the bounds say about the two updates, and what was counted.

    Columns: column, bounds, mistakes (Xu and Zhang's over the ordinary update's), low, high (95 % over the orders, of the
    geometric mean), p (adjusted), and says: "agree" if counts and bounds put the same update ahead, "opposite", or "open".
    """
    wide = mistakes.pivot(index=column, columns="update", values="bound")
    rows = []
    for value, each in ratios.items():
        bound = wide.loc[value, "Xu-Zhang"] / wide.loc[value, "ordinary"]
        word = each.word("less", "more", "open")
        says = "open" if word == "open" else "agree" if (word == "more") == (bound > 1) else "opposite"
        rows.append((value, bound, *np.exp([each.estimate, each.low, each.high]), each.p, says))
    return pd.DataFrame(rows, columns=[column, "bounds", "mistakes", "low", "high", "p", "says"])


def updates_compared(counts, orders):
    """`bounds_and_counts` of the spirals by the width of their kernel, and of the five classes by the factor on their
    coordinates: rows of `with_orders` and of experiment.orders; columns of (what varies) and value before the others."""
    parts = []
    for of, kernel, column in (("width", "rbf", "sigma"), ("factor", "poly", "factor")):
        ratios = mistake_ratios(orders[orders["kernel"] == kernel], column)
        rows = bounds_and_counts(counts[counts["kernel"] == kernel], ratios, column).rename(columns={column: "value"})
        rows.insert(0, "of", of)
        parts.append(rows)
    return pd.concat(parts, ignore_index=True)
