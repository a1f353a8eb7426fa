"""Verdicts on three statements of the encyclopedia article; their text is in statements.toml.

The article prints no measurement, so it has no row among the numbers.
"""

from study import claims as ledger
from study.budgets import experiment, facts, tables


def statements():
    """Encyclopedia article: its three measurable claims, each with a verdict computed from our runs."""
    settings = experiment.PUBLISHED
    growth = facts.growth(tables.growth_exponents(facts.without_budget(settings)))
    learnt = tables.learners(experiment.wrong_labels(settings.noises()))
    found = {
        "linear-growth": facts.verdict_linear_growth(growth),
        "overfitting": facts.verdict_overfitting(facts.overfitting(learnt).table),
        "vote-bounds": facts.verdict_vote_bounds(facts.bounds(settings, experiment.bounds(settings.bounds()))),
    }
    return ledger.statement_rows("budgets", found, chapter="family")
