"""What the figures of Xu & Zhang 2005 tell of their sets in the plane: training errors, all of them none."""

import numpy as np
import pandas as pd

from study import claims as ledger
from study.multiclass import experiment


def claims():
    """A row for each figure: ours is what a set of the same description gives, drawn and visited by the seed 0.

    low and high are the middle 95 % of the draws, percentile the place of the published number among them. The rows are
    degenerate: our sets are separable by construction, so that the algorithm stops without an error.
    """
    draws, rows = experiment.source_figures(experiment.source_figures_parts()), []
    for claim in ledger.published("xu_zhang_2005_figures").itertuples():
        found = draws[draws["item"] == claim.item]
        errors = found["train_errors"].to_numpy()
        low, high = np.quantile(errors, [0.025, 0.975])
        figure = claim.item.removeprefix("Fig. ").replace(" (", "").replace(")", "")
        rows.append(
            {
                "key": f"xu-zhang-2005/figure-{figure}/training-errors",
                "item": claim.item,
                "quantity": claim.quantity,
                "published": claim.published,
                "ours": errors[0],
                "low": low,
                "high": high,
                "n": found["n_train"].iloc[0],
                "percentile": ledger.percentile(errors, claim.published),
                "degenerate": True,
                "explanation": "our set of the same description is separable by construction",
            }
        )
    return ledger.rows(pd.DataFrame(rows), source="Xu & Zhang 2005", chapter="multiclass")
