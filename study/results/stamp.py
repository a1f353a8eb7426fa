"""Stale results whose sample comes out equal under the present code are stamped: their provenance names that code.

A change of code makes every result stale that reaches it, most of them without moving a number. Computing one small part of
each again (`Experiment.sample`) takes minutes where all of it takes hours. A result whose sample is equal keeps its tables
and arrays; one whose sample differs, or that belongs to other parameters or data, has to be computed.
"""

from study.datasets import DataError
from study.results import store

FRESH, STAMPED = "up to date", "stamped: its sample is equal"


def stamp(experiment):
    """Stamp the results of an experiment if they are stale and their sample is equal; return what happened, in words."""
    if experiment.is_fresh():
        return FRESH
    if set(experiment.tables) <= set(experiment.measured):
        return f"measured, not stamped; run: {experiment.command}"
    try:
        different = experiment.differences(experiment.published[experiment.sample], keys=store.WITHOUT_CODE)
        if different:
            return f"its sample differs in {', '.join(different)}; run: {experiment.command}"
        experiment.stamp()
    except (RuntimeError, DataError) as error:  # one result does not stop the others
        return str(error)
    return STAMPED
