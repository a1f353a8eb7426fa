"""Facts that the figures of Xu & Zhang 2005 show of their sets in the plane, and statements on their algorithm.

Words stand in statements.toml.
"""

import numpy as np

from study import claims as ledger
from study.multiclass import experiment
from study.results import store

SOURCE = "Xu & Zhang 2005"
CHAPTER = "classes"


def claims():
    """A row for each figure: ours is the number on a set of the same description, drawn and visited by the seed 0.

    low and high are the middle 95 % of the draws, percentile the place of the published number among them. The rows are
    degenerate: our sets are separable by construction, so that the algorithm stops without an error.
    """
    draws = experiment.source_figures(experiment.source_figures_parts())
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
    """Statements of the source, in words, on its algorithm.

    That two parameters alone matter is judged in study.uci.claims, on the source's own sets. Theorems, and what its figures
    show of a set that is not known, are no statements that numbers could refute.
    """
    known = experiment.identities(experiment.PUBLISHED.identities()).iloc[-1]
    values = {name: known[name] for name in ("examples", "dataset", "support")} | {"moved": 2 * known["examples"]}
    # The source names no measure of simplicity, so that no count decides.
    return ledger.statement_rows(
        "multiclass", {"xu-zhang-2005/multiclass/simplest": ("cannot be told", values)}, chapter=CHAPTER
    )
