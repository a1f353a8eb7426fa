"""The published cross-validations as texts quote them."""

from functools import cache

from study.uci import experiment, tables


@cache
def results():
    """The tables of all readings on all sets, with their repeats."""
    return tables.with_repeats(experiment.everything(experiment.PUBLISHED))


@cache
def programs():
    """Whole programs that may have made the printed tables: the table of this name of `tables`."""
    return tables.programs(results())


@cache
def inside():
    """How many printed numbers lie in our range under the best of the programs."""
    _, _, program = tables.best_program(programs())
    by_reading = tables.by_reading(results())
    joint = {name: tables.joint_table(results(), name, compared=by_reading) for name in program}
    return sum(found for found, _ in tables.inside_together(joint, program).values())
