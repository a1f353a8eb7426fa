"""The ledger: the claims of all sources in one table, and what they would be under other readings in another."""

from dataclasses import dataclass

import pandas as pd

from study import RESULTS, claims
from study.course import claims as course
from study.experiment import experiment
from study.family import claims as family
from study.mnist import claims as mnist
from study.multiclass import claims as multiclass
from study.seeds import claims as seeds
from study.uci import claims as uci


@dataclass(frozen=True)
class Everything:
    """The ledger has no settings."""


def inputs():
    """The files that the ledger is made from: published numbers, and the results that stand beside them."""
    results = (path for path in RESULTS.glob("*.csv") if not path.stem.startswith("claims"))
    return sorted([*claims.PUBLISHED.glob("*.csv"), *results])


@experiment("claims", published=[Everything()], tables=("claims", "readings"), reads=lambda _: inputs())
def ledger(settings, *, progress=False):
    """{claims, readings}: the rows of all chapters, in the order of the sources (see study.claims).

    Nothing is computed here but verdicts: the rows are made from stored results. Raises StaleResult where one is stale.
    """
    rows = pd.concat([chapter.claims() for chapter in (mnist, multiclass, uci, seeds, course, family)], ignore_index=True)
    if len(twice := rows[rows["key"].duplicated()]):
        raise ValueError(f"keys of claims must be unique, got twice: {', '.join(twice['key'])}")
    others = pd.concat([chapter.readings() for chapter in (uci, seeds, course, family)], ignore_index=True)
    return {"claims": rows, "readings": claims.readings_rows(others, rows)}
