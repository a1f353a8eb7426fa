"""Costs of the experiments: seconds and memory of a computation from nothing, kept in data/measured by chapter.

Snakemake measures each computation, in a file below build/. Tables that are in data/measured stay; delete one, compute all
again with `make report PROFILE=full RECOMPUTE=1`, and it is written from these files.
"""

import pandas as pd

from study import BUILD, MEASURED, chapters
from study.reading import noted
from study.results import store

MIB = 1024
"""In a GiB."""


def path(chapter):
    """The table of a chapter: experiment, seconds, processor_seconds, memory (GiB, of the largest process)."""
    return MEASURED / f"{chapter}_computing.csv"


def keep():
    """Write the tables of the chapters that have none, where each of their experiments was measured here."""
    for chapter in chapters.ROOMS:
        found = {each.name: _benchmark("full", each.name) for each in chapters.experiments(chapter)}
        if not path(chapter).exists() and all(measured is not None for measured in found.values()):
            rows = [
                (name, round(row.s, 1), round(row.cpu_time, 1), round(row.max_rss / MIB, 2)) for name, row in found.items()
            ]
            table = pd.DataFrame(rows, columns=["experiment", "seconds", "processor_seconds", "memory"])
            store.write(path(chapter), table.to_csv(index=False))


def last_seconds(profile, name):
    """The seconds that a notebook or an experiment took when Snakemake ran it last, or None."""
    found = _benchmark(profile, name)
    return None if found is None else float(found.s)


def note(profile, name, seconds):
    """Keep the seconds of a notebook for `last_seconds`."""
    store.write(_file(profile, name), f"s\n{seconds:.1f}\n")


def _file(profile, name):
    return BUILD / profile / "benchmarks" / f"{name}.tsv"


def _benchmark(profile, name):
    """The measurement of an experiment by Snakemake: s, cpu_time, max_rss (MiB) and others; of a notebook: s. None if there
    is none, or the file was cut off."""
    try:
        return pd.read_csv(_file(profile, name), sep="\t").iloc[0]
    except (OSError, ValueError, IndexError):
        return None


def by_chapter():
    """chapter, experiments, seconds, processor_seconds, memory (GiB, the largest) of the chapters whose costs are known."""
    found = {chapter: pd.read_csv(noted(path(chapter))) for chapter in chapters.ROOMS if path(chapter).exists()}
    rows = [
        (name, len(table), table["seconds"].sum(), table["processor_seconds"].sum(), table["memory"].max())
        for name, table in found.items()
    ]
    return pd.DataFrame(rows, columns=["chapter", "experiments", "seconds", "processor_seconds", "memory"])


def of_experiment(name):
    """The costs of one experiment as a remark, "(12 s, 0.5 GiB)"; "" where they are not known."""
    file = path(name.partition(".")[0])
    table = pd.read_csv(noted(file)).set_index("experiment") if file.exists() else pd.DataFrame()
    return f"({table['seconds'][name]:,.0f} s, {table['memory'][name]:.1f} GiB)" if name in table.index else ""


def words(chapter):
    """The costs of a chapter in words; "" where they are not known."""
    if not path(chapter).exists():
        return ""
    table = pd.read_csv(noted(path(chapter)))
    return f"{table['seconds'].sum():,.0f} s, {table['memory'].max():.1f} GiB"
