"""Tables of the multiclass chapter: the literal updates beside the estimator, operations, growth, draws.

Tables of experiments are those of study.multiclass.experiment; nothing is fitted here.
"""

from dataclasses import replace

import numpy as np
import pandas as pd
from scipy.spatial import cKDTree

from kp import PREDICTORS
from study import literal, statistics
from study.plane import lattice


def beside_literal(model, alpha, beta, mistakes):
    """A row about a fitted `MulticlassKernelPerceptron` and what study.literal.xu_zhang made of the same visits.

    alpha (C, n), beta (C,) and mistakes, rows (example, step, demoted), are the literal ones. Columns: examples, epochs,
    mistakes, literal (its mistakes), same (of each mistake example, step and class agree), difference (the largest one
    between the coefficients, as a share of the largest coefficient; 0 if no bit differs).
    """
    log = model.mistakes_
    ours = np.column_stack([log.example, log.step, log.demoted]).tolist()
    gap = max(np.abs(alpha - model.alpha()).max(), np.abs(beta - model.intercept_).max()) / np.abs(alpha).max()
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


def distance_to_boundary(X, predicted, points, regions):
    """Distance (n,) from each example to the nearest of the points (c, 2) of a lattice whose region (c,) is not its own.

    The region of an example is its prediction (n,).
    """
    distance = np.full(len(X), np.inf)
    for label in np.unique(predicted):
        other = points[regions != label]
        if len(other):
            distance[predicted == label] = cKDTree(other).query(X[predicted == label])[0]
    return distance


def case(title, model, X, y, *, resolution):
    """What figures.figure_cases draws of an estimator that was fitted to X (n, 2) and y (n,): title, X, y, F, box, wrong.

    wrong: training examples misclassified; the title tells it, and the epochs that were run.
    """
    points, box = lattice(X, margin=0.07 * np.ptp(X, axis=0).max(), resolution=resolution)
    wrong = int((model.predict(X) != y).sum())
    title = f"{title}\n{wrong} of {len(y)} wrong, {model.n_iter_:,} epochs"
    return {
        "title": title,
        "X": X,
        "y": y,
        "F": model.decision_function(points),
        "points": points,
        "box": box,
        "wrong": wrong,
    }


def panels(choices, train, fresh, points):
    """{title: scores (c, C) at the points} for figure_regions, from choices {name: (fitted estimator, predictor, epoch)}.

    train and fresh are `Data`; the titles tell the error rates on both.
    """
    found = {}
    for name, (model, predictor, epoch) in choices.items():
        options = {"predictor": predictor, "epoch": epoch}
        rates = [100 * np.mean(model.predict(part.X, **options) != part.y) for part in (train, fresh)]
        found["{}\ntrain {:.1f} %, fresh {:.1f} %".format(name, *rates)] = model.decision_function(points, **options)
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


def both_sets(runs):
    """The `summary` of several sets {name: table} in short: columns set, method, stopped (share), mistakes, error."""
    names = {"converged": "stopped", "mistakes": "mistakes", "test": "error"}
    parts = [summary(table)[["method", *names]].rename(columns=names).assign(set=name) for name, table in runs.items()]
    return pd.concat(parts, ignore_index=True)[["set", "method", *names.values()]]


SUMMARY_FORMATS = {
    "converged": ".0%",
    "epochs": ".0f",
    "mistakes": ",.0f",
    **dict.fromkeys(["train", "test", "least", "most"], ".2%"),
}
"""How the columns of a `summary` are shown."""


def difference(table, first, second):
    """The `Difference` of the mean test error rates of two methods, first less second, over the draws of `runs`.

    Both methods saw the same draws, which are independent: Student's t of the differences.
    """
    rates = table.assign(rate=table["test_errors"] / table["n_test"]).pivot(index="draw", columns="method", values="rate")
    return statistics.student(rates[first] - rates[second], varies="draws of the set")


def beside_binary(name, K, z, order):
    """A row: eqs 6 and 9 on the signs z (n,) beside eqs 10 and 11 on the two classes z = -1 and z = +1, visited as order.

    Columns: set, examples, epochs, mistakes (of eq. 11), same ("yes" if eq. 9 gives the coefficients and the threshold of
    the second class, and the first class has their opposites), difference (the largest one, as a share of the largest
    coefficient), wrong (training examples that f of eq. 6 misclassifies at the end).
    """
    alpha, beta = literal.xu_zhang_binary(K, z, order)
    both, thresholds, mistakes = literal.xu_zhang(K, (z > 0).astype(int), order)
    gap = max(np.abs(both[1] - alpha).max(), np.abs(both[0] + alpha).max()) / np.abs(alpha).max()
    same = gap < 1e-9 and thresholds[1] == beta == -thresholds[0]
    wrong = int(np.sum(z * (alpha @ K + beta) <= 0))
    return {
        "set": name, "examples": len(z), "epochs": len(order) // len(z), "mistakes": len(mistakes),
        "same": "yes" if same else "no", "difference": gap, "wrong": wrong,
    }  # fmt: skip


def with_orders(mistakes, orders):
    """Rows of experiment.mistakes with fewest, median, most and epochs over the orders of experiment.orders instead."""
    keys = ["dataset", "kernel", "sigma", "factor", "update"]
    groups = orders.groupby(keys, sort=False)
    counts = groups["mistakes"].agg(fewest="min", median="median", most="max")
    counts["epochs"] = groups["epochs"].median()
    counts = counts.astype(float).where(groups["converged"].all())
    return mistakes.drop(columns=["fewest", "median", "most", "epochs"]).merge(counts.reset_index(), on=keys, how="left")


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
    wide, rows = mistakes.pivot(index=column, columns="update", values="bound"), []
    for value, each in ratios.items():
        bound = wide.loc[value, "Xu-Zhang"] / wide.loc[value, "ordinary"]
        word = each.word("less", "more", "open")
        says = "open" if word == "open" else "agree" if (word == "more") == (bound > 1) else "opposite"
        rows.append((value, bound, *np.exp([each.estimate, each.low, each.high]), each.p, says))
    return pd.DataFrame(rows, columns=[column, "bounds", "mistakes", "low", "high", "p", "says"])


def width_gaps(fresh, sigma):
    """{width: Difference}: the final predictor's error on fresh examples at a width less that at sigma, over the draws."""
    rates = _rates(fresh[(fresh["predictor"] == "final") & (fresh["epoch"] == fresh["ends"])], "sigma")
    others = [width for width in rates if width != sigma]
    return statistics.holm(
        {width: statistics.student(rates[width] - rates[sigma], varies="draws of the set") for width in others}
    )


def predictor_gaps(fresh, sigma, *, early):
    """{(when, predictor): Difference}: errors on fresh examples less those of the final predictor, over the draws.

    when is "early" (the epoch `early`) or "end". One family (Holm).
    """
    own, found = fresh[fresh["sigma"] == sigma], {}
    for when, rows in (("early", own[own["epoch"] == early]), ("end", own[own["epoch"] == own["ends"]])):
        rates = _rates(rows, "predictor")
        for predictor in PREDICTORS[1:]:
            gaps = rates[predictor] - rates["final"]
            found[when, predictor] = statistics.student(gaps, varies="draws of the set")
    return statistics.holm(found)


def by_width(fresh):
    """A row for each width, over the draws: medians of epochs and mistakes, mean and range of the final fresh errors."""
    rows = fresh[(fresh["predictor"] == "final") & (fresh["epoch"] == fresh["ends"])]
    rows = rows.assign(error=rows["errors"] / rows["n"])
    return rows.groupby("sigma", as_index=False).agg(
        draws=("draw", "nunique"),
        converged=("converged", "mean"),
        epochs=("ends", "median"),
        mistakes=("mistakes", "median"),
        test=("error", "mean"),
        least=("error", "min"),
        most=("error", "max"),
    )


def demotions(draws):
    """What the choice of the class demoted changes, in experiment.draws of one set with the same orders for all choices.

    changed: draws on which the test errors of the choices differ; draws; most: the widest such range; gaps {method:
    Difference}: test error less that of the first choice, over the draws, one family (Holm).
    """
    own = draws[draws["method"].str.startswith("Xu-Zhang, ")]
    rates = own.assign(rate=own["test_errors"] / own["n_test"]).pivot(index="draw", columns="method", values="rate")
    spread, first = rates.max(axis=1) - rates.min(axis=1), rates.columns[0]
    gaps = {name: statistics.student(rates[name] - rates[first], varies="draws of the set") for name in rates.columns[1:]}
    return {"changed": int((spread > 0).sum()), "draws": len(spread), "most": spread.max(), "gaps": statistics.holm(gaps)}


def percent_points(differences, **names):
    """`statistics.table` of differences of rates, in percentage points: comparison, difference, low, high, p."""
    scaled = {
        name: replace(each, estimate=100 * each.estimate, low=100 * each.low, high=100 * each.high)
        for name, each in differences.items()
    }
    table = statistics.table(scaled, estimate="difference", **names)
    return table[[column for column in table.columns if column not in ("n", "varies", "test", "adjusted")]]


def _rates(rows, column):
    return rows.assign(rate=rows["errors"] / rows["n"]).pivot(index="draw", columns=column, values="rate")
