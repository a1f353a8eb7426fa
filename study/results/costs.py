"""Costs of the experiments: seconds and memory of a computation from nothing, kept in data/measured by chapter.

Existing measurements are kept; delete the file to measure again.
"""

import os
import subprocess
import sys
import time

import pandas as pd

from study import MEASURED, chapters
from study.results import store
from study.results.alone import GIB


def path(chapter):
    """The table of a chapter: experiment, seconds, processor_seconds, memory (GiB, of the largest process)."""
    return MEASURED / f"{chapter}_computing.csv"


def compute_again(chapter):
    """Compute all experiments of a chapter again, each in a separate process; returns the first exit code other than 0.

    Where the costs of these experiments are not known yet, they are written, except on Windows, which does not report them.
    """
    experiments = chapters.experiments(chapter)
    rows = []
    for each in experiments:
        start = time.perf_counter()
        code, used = _run([sys.executable, "-m", "study", "run", each.name, "--recompute"])
        if code:
            return abs(code)
        if used:
            seconds = time.perf_counter() - start
            processor = used.ru_utime + used.ru_stime
            rows.append((each.name, round(seconds, 1), round(processor, 1), round(used.ru_maxrss / GIB, 2)))
    if rows and list(stored(chapter)) != [each.name for each in experiments]:
        table = pd.DataFrame(rows, columns=["experiment", "seconds", "processor_seconds", "memory"])
        store.write(path(chapter), table.to_csv(index=False))
    return 0


def _run(command):
    """(exit code, costs of the process, or None on Windows, which does not report them)."""
    process = subprocess.Popen(command)
    if not hasattr(os, "wait4"):
        return process.wait(), None
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, used


def stored(chapter):
    """{experiment: (seconds, memory)} of a chapter, as far as it is known."""
    if not path(chapter).exists():
        return {}
    table = pd.read_csv(path(chapter)).set_index("experiment")
    return {row.Index: (row.seconds, row.memory) for row in table.itertuples()}


def files():
    """The tables of the chapters whose costs are known."""
    return sorted(found for chapter in chapters.EXPERIMENTS if (found := path(chapter)).exists())


def by_chapter():
    """chapter, experiments, seconds, processor_seconds, memory (GiB, the largest) of the chapters whose costs are known."""
    found = {chapter: pd.read_csv(path(chapter)) for chapter in chapters.EXPERIMENTS if path(chapter).exists()}
    rows = [
        (name, len(table), table["seconds"].sum(), table["processor_seconds"].sum(), table["memory"].max())
        for name, table in found.items()
    ]
    return pd.DataFrame(rows, columns=["chapter", "experiments", "seconds", "processor_seconds", "memory"])


def words(chapter, name=None):
    """The costs of an experiment, or of a chapter, in words; "" where they are not known."""
    found = [cost for each, cost in stored(chapter).items() if name in (None, each)]
    if not found:
        return ""
    return f"{sum(seconds for seconds, _ in found):,.0f} s, {max(memory for _, memory in found):.1f} GiB"
