"""The ledger: the claims of all sources in one table, their other readings in another, statements in words in a third."""

from dataclasses import dataclass

import pandas as pd

from study import RESULTS, ROOT, claims
from study.budgets import claims as budgets
from study.classes import claims as classes
from study.course import claims as course
from study.mnist import claims as mnist
from study.results import store
from study.results.experiment import experiment
from study.seeds import claims as seeds
from study.tables import claims as tables

# In the order of the sources.
CLAIMS = (mnist.claims, tables.claims, seeds.claims, course.claims, mnist.li_long)
READINGS = (tables.readings, seeds.readings, course.readings, mnist.readings)
STATEMENTS = (
    mnist.statements, classes.statements, tables.statements, seeds.statements, course.statements, budgets.statements,
)  # fmt: skip


@dataclass(frozen=True)
class Everything:
    """The ledger has no settings."""


def inputs():
    """The files that the ledger is made from: published numbers, words, results (tables, arrays)."""
    results = (path for kind in ("*.csv", "*.npz") for path in RESULTS.glob(kind) if not path.stem.startswith("claims"))
    return sorted([*store.PUBLISHED.glob("*.csv"), *(ROOT / "study").glob("*/statements.toml"), *results])


@experiment(
    "claims", published=[Everything()], tables=claims.TABLES, data=lambda _: ["mnist"], reads=lambda _: inputs(),
)  # fmt: skip
def ledger(settings, *, progress=False):
    """{claims, readings, statements}: the rows of all chapters, in the order of the sources (see study.claims).

    Nothing is computed here but verdicts, and one fit for a count in a statement: the rows are made from stored results.
    Raises StaleResult where one is stale.
    """
    rows, others, said = (_together(functions) for functions in (CLAIMS, READINGS, STATEMENTS))
    for table in (rows, said):
        if len(twice := table[table["key"].duplicated()]):
            raise ValueError(f"keys of claims and of statements must be unique, got twice: {', '.join(twice['key'])}")
    if twice := claims.judged_twice(said):
        raise ValueError(f"a statement of a source must have one verdict, got several: {', '.join(twice)}")
    return {"claims": rows, "readings": claims.readings_rows(others, rows), "statements": said}


def _together(functions):
    return pd.concat([each() for each in functions], ignore_index=True)
