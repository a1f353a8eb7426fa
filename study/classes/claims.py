"""The verdicts on statements of Xu & Zhang 2005 on their algorithm, and on a finding of others that they report.

Their text is in statements.toml. What its figures show of sets that are separable by construction cannot fail.
"""

from study import claims as ledger
from study.classes import facts, plane


def statements():
    """Xu & Zhang 2005: a claim on their algorithm and one on support vector machines, each with a verdict from our runs.

    Their claim that only two parameters matter is judged in study.tables.claims, on their four sets. Theorems, and figures
    of sets that are not known, have no verdict, because numbers cannot refute them.
    """
    found = {
        "simplest": facts.verdict_simplest(plane.PUBLISHED.problem(plane.PUBLISHED.spirals, "rbf", demote="winner")),
        "accuracy": facts.verdict_accuracy(facts.set_gaps()["one-vs-all", "off"]),
    }
    return ledger.statement_rows("classes", found, chapter="classes")
