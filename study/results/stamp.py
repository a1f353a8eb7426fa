"""Stale results whose sample is equal under the present code are stamped: their provenance names that code.

A change of code makes every result stale whose module imports it, most of them without moving a number. Computing one small
part of each again (`Experiment.sample`) takes minutes where all of it takes hours. A result whose sample is equal keeps its
tables and arrays, and its provenance says on which day which sample was equal, and when the whole was computed; one whose
sample differs, or that belongs to other parameters or data, has to be computed.
"""

import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context

from study import chapters
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
        if different := experiment.differences(keys=store.WITHOUT_CODE):
            return f"its sample differs in {', '.join(different)}; run: {experiment.command}"
        experiment.stamp()
    except (RuntimeError, DataError) as error:  # one result does not stop the others
        return str(error)
    return STAMPED


def stamp_all(experiments, *, jobs=1):
    """Yield (name, what happened, seconds) of each experiment, when it is done.

    Those that use one core go side by side, `jobs` at a time; then the others, which use more, in their order: what reads
    another's results comes after it.
    """
    alone = [each for each in experiments if chapters.ROOMS[each.chapter].cores(each) > 1]
    # Processes of these may start processes of their own (study.results.alone), which those of joblib may not.
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        started = [pool.submit(_timed, each) for each in experiments if each not in alone]
        yield from (each.result() for each in as_completed(started))
    yield from map(_timed, alone)


def _timed(experiment):
    start = time.monotonic()
    return experiment.name, stamp(experiment), time.monotonic() - start
