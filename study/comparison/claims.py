"""Findings of others that Xu and Zhang (2005) report, and the evidence of this comparison; words are in statements.toml."""

from study import claims as ledger
from study.comparison import facts
from study.words import interval, p_value, points


def statements():
    """A finding on support vector machines that the introduction reports; perceptrons alone are tried here.

    One-vs-all is their one-against-other, the ordinary form their all-together, both without thresholds.
    """
    found = facts.forms()
    name = ("one-vs-all", "off")
    values = {
        "difference": points(found[name]),
        "interval": interval(found[name]),
        "p": p_value(found[name].p),
    }
    # No support vector machine of either kind is compared with the other, so that no difference of perceptrons decides.
    return ledger.statement_rows(
        "comparison", {"xu-zhang-2005/comparison/accuracy": ("cannot be told", values)}, chapter="classes"
    )
