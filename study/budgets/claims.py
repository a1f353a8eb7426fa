"""Verdicts on three statements of the encyclopedia article; their text is in statements.toml.

The article prints no measurement, so it has no row among the numbers. The functions below give (verdict, {name: value})
of one statement from the tables of study.budgets.tables.
"""

import pandas as pd

from study import claims as ledger
from study.budgets import experiment, facts, tables
from study.budgets.names import FINAL, PERCEPTRONS, VOTED
from study.words import interval, number, percent, points

COMPARABLE = 2
"""Bounds are called comparable where neither is more than this many times the other."""


def statements():
    """The article's statements, with verdicts from stored results."""
    settings = experiment.PUBLISHED
    growth = facts.growth(tables.growth_exponents(facts.without_budget(settings)))
    found = {
        "linear-growth": linear_growth(growth),
        "overfitting": overfitting(tables.overfitting(tables.learners(experiment.wrong_labels(settings.noises())))),
        "vote-bounds": vote_bounds(facts.bounds(settings, experiment.bounds(settings.bounds()))),
    }
    named = {f"encyclopedia/statements/{key}": each for key, each in found.items()}
    return ledger.statement_rows("budgets", named, chapter="family")


def linear_growth(found):
    """Whether growth with right labels (facts.growth) is slower than linear, by test; that no test rejects does not show
    linear growth."""
    own = found.right
    wrong = found.wrong
    verdict = "holds in part" if wrong else "does not hold"
    told = own["growth"] != tables.GROWTHS[2]
    values = {}
    for kernel, row in own.iterrows():
        values |= {
            kernel: number(row.exponent, 2),
            f"{kernel}_low": number(row.low, 2),
            f"{kernel}_high": number(row.high, 2),
        }
    values |= {"least": number(wrong[0], 2) if wrong else "", "most": number(wrong[-1], 2) if wrong else ""}
    return verdict if told.any() else "cannot be told", values


def overfitting(over):
    """Whether more passes lower the training error and raise the test error of the perceptron's own predictors, by test."""
    noisy = over[over["noise"] > 0]
    own = noisy[noisy["predictor"].isin(PERCEPTRONS)]
    if own["overfits"].any():
        verdict = "holds" if own["overfits"].all() else "holds in part"
    else:
        verdict = "does not hold" if (own["test_word"] == tables.CHANGES[0]).all() else "cannot be told"
    values = {}
    for name in (FINAL, VOTED):
        for row in noisy[noisy["predictor"] == name].itertuples():
            place = f"{name}_{100 * row.noise:.0f}"
            ends = pd.Series({"low": row.test_low, "high": row.test_high})
            values |= {place: points(row.test), f"{place}_interval": interval(ends)}
    return verdict, values


def vote_bounds(found):
    """Whether the vote's bound is comparable to the machine's at every size, interval and all, and at every degree; found:
    facts.bounds."""
    table = found.compared
    ratios = found.ratios
    near = (table["low"] >= 1 / COMPARABLE) & (table["high"] <= COMPARABLE)
    comparable = ratios.between(1 / COMPARABLE, COMPARABLE)
    whole = near.all() and comparable.all()
    verdict = "holds" if whole else "holds in part" if near.any() or comparable.any() else "does not hold"
    largest = found.end
    values = {
        "low": number(table["ratio"].min(), 2),
        "high": number(table["ratio"].max(), 2),
        "least": number(ratios.min(), 2),
        "most": number(ratios.max(), 2),
        "vote": percent(largest["vote_test"], 1),
        "machine": percent(largest["machine_test"], 1),
    }
    return verdict, values
