"""Facts that the figures of Xu & Zhang 2005 show of their sets in the plane, statements on their algorithm, and a finding of
others that they report.

Words stand in statements.toml.
"""

import numpy as np

from study import claims as ledger
from study.classes import facts, plane
from study.results import store
from study.words import interval, p_value, points

SOURCE = "Xu & Zhang 2005"
CHAPTER = "classes"


def claims():
    """A row for each figure: ours is the number on a set of the same description, drawn and visited by the seed 0.

    low and high are the middle 95 % of the draws, percentile the place of the published number among them. The rows are
    degenerate: our sets are separable by construction, so that the algorithm stops without an error.
    """
    draws = plane.source_figures(plane.source_figures_parts())
    printed = store.published("xu_zhang_2005_figures")
    found = []
    for row in printed.itertuples():
        own = draws[draws["item"] == row.item]
        errors = own["train_errors"].to_numpy()
        low, high = np.quantile(errors, [0.025, 0.975])
        numbers = {"ours": errors[0], "low": low, "high": high, "n": own["n_train"].iloc[0]}
        varies = f"draws of the set, each with its own order ({len(errors)})"
        place = ledger.percentile(errors, row.published)
        found.append({"key": row.key, "interval_of": varies, "percentile": place} | numbers)
    return ledger.rows(ledger.beside(printed, found), source=SOURCE, chapter=CHAPTER)


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
