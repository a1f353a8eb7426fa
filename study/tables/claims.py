"""The claims of Xu & Zhang 2005, Tables I to III: every published number with ours, and the statements of the source,
whose text is in statements.toml and whose verdicts are in facts.py.

The ledger has the plain reading (see study.tables.readings), which was chosen post hoc: `choices` counts the readings that
were run. The others are in readings(). Not comparable are the last column of Table I, which is of other methods than ours,
and the kernel parameters and iterations: they are settings that the source chose from a list which it does not print, ours
the choices of few repeats from a list that holds them, `choices` long.
"""

import pandas as pd

from study.claims import explanations, rows, statement_rows
from study.tables import comparisons, facts, source, tables
from study.tables.experiment import READINGS

SOURCE = "Xu & Zhang 2005"
CHAPTER = "tables"
NUMBER = ["table", "dataset", "kernel", "split", "measure"]
"""What distinguishes the printed numbers."""
DECIMALS = 4
"""To which ours, low, high and percentile are rounded."""
NAMED = 3
"""How many readings an explanation names."""


def claims():
    """Xu & Zhang 2005, Tables I to III: the printed rates beside ours under the plain reading, in percent.

    Ours are means over repeats of the ten-fold cross-validation, with the central 95 % of the repeats as the interval; n is
    the number of repeats, or of examples in a set. Counts of Table I are compared with the data files. Rates of other
    methods and chosen kernel parameters are shown, but not comparable.
    """
    results = facts.results()
    frames = [
        _facts(tables.table_1(results["sets"])),
        _cited(tables.rival_beside_cited(results["rival"])),
        _chosen(tables.chosen_parameters(results)),
        _rates(facts.by_reading(), tables.best_program(facts.programs())[2]),
    ]
    ours = pd.concat(frames, ignore_index=True).drop(columns="published")
    ours = ours.round(dict.fromkeys(("ours", "low", "high", "percentile"), DECIMALS))
    both = source.printed().merge(ours, on=NUMBER, validate="one_to_one")
    found = rows(both.fillna({"explanation": both["why"]}), source=SOURCE, chapter=CHAPTER)
    # An explanation is for what lies outside, or cannot be compared.
    explained = found["verdict"].isin(["outside", "not comparable"])
    return found.assign(explanation=found["explanation"].where(explained, ""))


def readings():
    """The published rates under each other reading: columns key, reading, ours, low, high, n, percentile, verdict."""
    compared = facts.by_reading()
    compared = compared[compared["reading"] != tables.BASE].rename(columns={"statistic": "measure", "repeats": "n"})
    frame = compared.merge(source.printed()[["key", *NUMBER]], on=NUMBER, validate="many_to_one")
    frame = frame[["key", "reading", "ours", "low", "high", "n", "percentile", "verdict"]]
    return frame.round(dict.fromkeys(("ours", "low", "high", "percentile"), DECIMALS))


def statements():
    """Xu & Zhang 2005: claims about these experiments in words, each with a verdict from the tests on our folds.

    Claims that cannot be judged have no row: which numbers are bold, and results from a web page that no longer exists.
    """
    results = facts.results()
    found = {
        "wine-separable": facts.verdict_wine_separable(tables.separated(results)),
        "kernel-improves": facts.verdict_on_sets("kernel-improves", facts.better_kernel()),
        "rbf-prior": facts.verdict_on_sets("rbf-prior", comparisons.between_kernels(results, "rbf", "poly")),
        "better-than-cited": facts.verdict_better_than_cited(comparisons.against_cited(results)),
        "two-parameters": facts.verdict_two_parameters(comparisons.beyond_iterations(results)),
    }
    return statement_rows("tables", found, chapter=CHAPTER)


def _facts(table):
    """The counts of Table I, a row for each, with those of our files."""
    parts = []
    for name in ("dimension", "classes", "size"):
        ours = table[name]
        part = table[["dataset"]].assign(table="I", measure=name, ours=ours, low=ours, high=ours, n=table["size"])
        parts.append(part.assign(published=table[f"{name}, published"]))
    return pd.concat(parts).assign(dataset=lambda frame: frame["dataset"].map(source.original))


def _cited(table):
    varies = "repeats of ten-fold cross-validation: folds"
    return table.rename(columns={"repeats": "n"}).assign(measure="cited", interval_of=varies)


def _chosen(table):
    names = {"quantity": "measure", "repeats": "n", "candidates": "choices"}
    found = table.rename(columns=names).assign(interval_of=f"choices in repeats: {tables.VARIES}")
    return found.drop(columns=["decimals", "place"])


def _rates(compared, program):
    plain = compared[compared["reading"] == tables.BASE]
    others = dict(tuple(compared[compared["reading"] != tables.BASE].groupby(tables.NUMBER)))
    found = plain[[*tables.NUMBER, "published", "ours", "low", "high", "percentile", "verdict"]].assign(
        n=plain["repeats"], interval_of=f"ten-fold cross-validations: {tables.VARIES}",
        choices=plain["table"].map({name: len(found) + 1 for name, found in READINGS.items()}),
        why=[_inside_under(others[key], program[key[0]]) for key in plain[tables.NUMBER].itertuples(index=False, name=None)],
    )  # fmt: skip
    return found.rename(columns={"statistic": "measure"})


def _inside_under(others, program):
    """Whether a number lies inside under the program that fits both tables best, and under how many readings it does.

    program: the name of its reading of this table. The readings with the fewest changes are named first.
    """
    found = sorted(others[tables.inside(others["verdict"])]["reading"], key=lambda name: name.count(","))
    kind = "nowhere" if not found else "inside" if program in found else "outside"
    counts = {"found": len(found), "readings": len(others)}
    return explanations("tables")[kind].format(program=program, names="; ".join(found[:NAMED]), **counts)
