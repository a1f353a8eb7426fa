"""What texts say of the table of Li & Long 1999, from the ledger."""

from functools import cache
from types import SimpleNamespace

from study import claims
from study.romma.claims import SOURCE


@cache
def table():
    """printed: the rows of the ledger of this source, where all learners share one order that is kept; agrees: whether each
    number lies where the mean of ten further orders would; fresh: how many lie outside where each learner has new orders."""
    ledger, readings, _ = claims.stored()
    printed = ledger[ledger["source"] == SOURCE]
    fresh = readings[readings["key"].str.startswith("li-long-1999")]
    agrees = bool((printed["verdict"] != "outside").all())
    return SimpleNamespace(printed=printed, agrees=agrees, fresh=int((fresh["verdict"] == "outside").sum()))
