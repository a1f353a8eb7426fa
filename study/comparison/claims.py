"""What Xu and Zhang (2005) report of others in words, and what this comparison has to say to it."""

from study import claims as ledger
from study.comparison import experiment, tables

SOURCE, CHAPTER = "Xu & Zhang 2005", "comparison"


def statements():
    """A finding on support vector machines that the introduction reports; perceptrons alone are tried here.

    One-vs-all is their one-against-other, the ordinary form their all-together, both without thresholds.
    """
    errors = experiment.compare(experiment.FULL)["errors"]
    table, pairs = tables.by_method(tables.chosen_rates(errors)), tables.form_pairs()
    forms, name = tables.over_sets(table, pairs), ("one-vs-all", "off")
    near = tables.shown(forms, table, pairs)["equivalent"].iloc[list(pairs).index(name)]
    row = {
        "key": "xu-zhang-2005/comparison/accuracy",
        "place": "I",
        "statement": "all-together methods are generally more accurate than one-against-other on small sets (Franc and "
        "Hlaváč, as reported)",
        "verdict": "cannot be told",
        "evidence": "Support vector machines are not compared here. Of perceptrons without thresholds "
        f"{tables.verdict(forms, name)}; the probability that it differs by less than {100 * tables.ROPE:g} point is "
        f"{near:.2f} (Bayesian signed ranks).",
    }
    return ledger.statement_rows([row], source=SOURCE, chapter=CHAPTER)
