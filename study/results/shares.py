"""One large run shared out over machines: the same bytes as on one machine.

    python -m study run mnist --degree 3 --random-state 7 --shares 10 --part 0     the first of ten shares of the first stage
    python -m study run mnist --degree 3 --random-state 7 --shares 10 --part 10    the first of the second stage
    python -m study run mnist --degree 3 --random-state 7 --shares 10              the parts that are left, and the table

An experiment that can be shared out declares its stages: functions (settings, earlier, share, shares) -> arrays, and as the
last one (settings, *stages) -> result, where earlier and each of stages are the arrays of all shares of a stage, a list.
With n shares, part i is share i % n of stage i // n. It needs all parts of the stage before, and only those. Its arrays are
kept under build/results until the run is gathered, so an interrupted run goes on where it stopped.
"""

from copy import copy
from functools import partial, wraps

from study.results.store import StaleResult


def waits(experiment, runs, shares):
    """For each part of a run that is shared out the parts that it needs, a list of ranges.

    Raises ValueError unless the experiment can be shared out, and there is one run and a positive number of shares.
    """
    if not experiment.stages:
        raise ValueError(f"--shares: {experiment.name} cannot be split; omit --shares")
    if len(runs) != 1:
        raise ValueError(f"--shares splits a single run, got {len(runs)} runs; omit --shares")
    if shares < 1:
        raise ValueError(f"--shares must be at least 1, got {shares}")
    *stages, _ = experiment.stages()
    return [_earlier(part, shares) for part in range(len(stages) * shares)]


def _earlier(part, shares):
    """The parts of the stage before that of a part."""
    stage = part // shares
    return range(max(stage - 1, 0) * shares, stage * shares)


def compute(experiment, run, shares, part):
    """Compute a part and keep its arrays, unless they or the result of the run are there.

    Raises StaleResult if a part that it needs is not there.
    """
    if not experiment.known([run]):
        _arrays(experiment, run, shares, part)


def shared_out(experiment, shares):
    """The same experiment, which computes by parts, those that are not there, and gathers them."""

    @wraps(experiment.compute)
    def by_parts(settings, *, progress=False):
        *stages, gather = experiment.stages()
        for run in settings:
            arrays = [_arrays(experiment, run, shares, part) for part in range(len(stages) * shares)]
            yield gather(run, *(arrays[start : start + shares] for start in range(0, len(arrays), shares)))

    found = copy(experiment)
    found.compute = by_parts
    return found


def _arrays(experiment, run, shares, part):
    """The arrays of a part: those that are kept, or computed now."""
    stage, share = divmod(part, shares)

    def made():
        needed = _earlier(part, shares)
        earlier = [experiment.checkpoint(run, _step(each, shares), partial(_missing, each)) for each in needed]
        return experiment.stages()[stage](run, earlier, share, shares)

    return experiment.checkpoint(run, _step(part, shares), made)


def _step(part, shares):
    return f"{part}-of-{shares}-shares"


def _missing(part):
    raise StaleResult(
        f"part {part} of this run is missing, or was made by other code or from other data; make it with the same command "
        f"and --part {part}"
    )
