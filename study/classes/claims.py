"""The verdicts on statements of Xu & Zhang 2005 on their algorithm, and on a finding of others that they report.

Words stand in statements.toml. What its figures show of sets that are separable by construction cannot fail.
"""

from study import claims as ledger
from study.classes import facts, plane


def statements():
    """Statements of the source, in words: one on its algorithm, and a finding on support vector machines that it reports.

    That two parameters alone matter is judged in study.tables.claims, on the source's own sets. Theorems, and what its
    figures show of a set that is not known, are not statements that numbers could refute.
    """
    found = {
        "simplest": facts.verdict_simplest(plane.PUBLISHED.problem(plane.PUBLISHED.spirals, "rbf", demote="winner")),
        "accuracy": facts.verdict_accuracy(facts.set_gaps()["one-vs-all", "off"]),
    }
    return ledger.statement_rows("classes", found, chapter="classes")
