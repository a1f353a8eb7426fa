"""The verdicts on statements of Xu & Zhang 2005 on their algorithm, and on a finding of others that they report.

Words stand in statements.toml. What its figures show of sets that are separable by construction cannot fail.
"""

from study import claims as ledger
from study.classes import facts, plane
from study.words import interval, p_value, points

CHAPTER = "classes"


def statements():
    """Statements of the source, in words: one on its algorithm, and a finding on support vector machines that it reports.

    That two parameters alone matter is judged in study.tables.claims, on the source's own sets. Theorems, and what its
    figures show of a set that is not known, are no statements that numbers could refute. Of the machines, one-vs-all is the
    one-against-other, the ordinary form the all-together, both without thresholds.
    """
    known = plane.identities(plane.PUBLISHED.identities()).iloc[-1]
    simple = {name: known[name] for name in ("examples", "dataset", "support")} | {"moved": 2 * known["examples"]}
    gap = facts.set_gaps()["one-vs-all", "off"]
    accurate = {"difference": points(gap), "interval": interval(gap), "p": p_value(gap.p)}
    # The source names no measure of simplicity, so that no count decides; and perceptrons alone are compared, so that no
    # difference of theirs decides between two support vector machines.
    found = {"multiclass/simplest": ("cannot be told", simple), "comparison/accuracy": ("cannot be told", accurate)}
    named = {f"xu-zhang-2005/{key}": each for key, each in found.items()}
    return ledger.statement_rows("classes", named, chapter=CHAPTER)
