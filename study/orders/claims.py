"""The verdicts on what Hermans 2021 says of degrees, predictors, digits and uncertainty, judged by all visiting orders.

One order cannot tell a good degree from a lucky one, and a difference that one order does not show may be there: so what the
source says of test errors has its verdict from here. The words stand in statements.toml; each function below gives (verdict,
{name: value}) of one statement. Evidence is of the published orders of degrees 2 to 6.
"""

import numpy as np

from study import RESULTS, claims, statistics
from study.orders import tables
from study.orders.experiment import CURVED, N_ORDERS
from study.orders.facts import published
from study.reading import noted
from study.words import interval, number, p_value, percent, points, rate_interval, size, span

CHAPTER = "mnist"
ALIKE = 0.005
"""Error rates are called alike if the interval of their difference lies within half a point; the source has no measure."""


def statements():
    """The rows of the table of statements; see study.claims."""
    found = {
        "degrees-above-3": degrees_above_3(published.against_degree(3)),
        "final-worse": final_worse(published),
        "no-digit": no_digit(published.digits, published.valley.loc[3, tables.CONTROL]),
        "similar": similar(),
        "uncertainty": uncertainty(published.labels),
        "ensemble": ensemble(tables.ensembles(published.predictions, published.labels, CURVED)),
    }
    return claims.statement_rows(
        "orders", {f"hermans-2021/statement/{key}": each for key, each in found.items()}, chapter=CHAPTER
    )


def share(parts):
    """The verdict of a statement by how many of its parts are shown."""
    return "holds" if all(parts) else "holds in part" if any(parts) else "does not hold"


def named(degrees):
    """Format whole numbers as "4", "2 and 5", "2 to 6" or "none"."""
    degrees = list(degrees)
    if len(degrees) > 2 and degrees == list(range(degrees[0], degrees[-1] + 1)):
        return f"{degrees[0]} to {degrees[-1]}"
    return ", ".join(map(str, degrees[:-1])) + " and " * (len(degrees) > 1) + str(degrees[-1]) if degrees else "none"


def degrees_above_3(found):
    """Whether the average predictor's error after the last epoch is the same at higher degrees as at degree 3; found: by
    degree, as `tables.differences_to` has it."""
    found = found.loc[4:]
    better, worse = (found.index[found["verdict"] == word] for word in (tables.LOWER, tables.HIGHER))
    told = "does not hold" if len(better) else "holds in part" if len(worse) else "cannot be told"
    values = {"orders": N_ORDERS, "higher": named(worse)}
    for row in found.itertuples():
        values |= {f"gap_{row.Index}": points(row), f"interval_{row.Index}": interval(row)}
    return "holds" if (found["verdict"] == tables.SAME).all() else told, values


def final_worse(facts):
    """Whether the final predictor has more errors than the average and the minimizing one, after one epoch and at last."""
    last = facts.n_epochs
    against_minimizing = tables.among_predictors(facts.wrong, CURVED, [1, last], others=["final"], control="minimizing")
    shown = []
    values = {"last": last}
    for name, rows in ((tables.CONTROL, facts.final_or_average), ("minimizing", against_minimizing)):
        early, late = (rows[rows["epoch"] == epoch] for epoch in (1, last))
        told = late.loc[late["verdict"] == tables.HIGHER, "degree"]
        values |= {
            f"{name}_first": span(early["estimate"]),
            f"{name}_last": span(late["estimate"]),
            f"{name}_told": named(told),
        }
        shown += list(rows["verdict"] == tables.HIGHER)
    return share(shown), values


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
    return share(alike), values


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
    sd = published.spread.query("degree > 1 and predictor == @tables.CONTROL")["sd"]
    values = {"orders": N_ORDERS, "sd_low": size(sd.min()), "sd_high": size(sd.max())}
    columns = {"agree": ("unanimous", 1), "same": ("error there", 2), "other": ("elsewhere", 0)}
    for name, (column, digits) in columns.items():
        values |= {f"{name}_low": percent(found[column].min(), digits), f"{name}_high": percent(found[column].max(), digits)}
    return share(found["p of Fisher's test"] < statistics.ALPHA), values
