"""The figures of chapters: names and files, and the table of the function that draws each, its notebook, its results."""

import re

import pandas as pd

from study import ROOT, chapters
from study.report.source import Source
from study.results import store


def figures(chapter):
    """The names of the figures of a chapter, in order, as the source notebook shows them."""
    return Source.read(chapter.source).names("Figure")


def pictures(chapter):
    """The files of the figures of a chapter at published scale."""
    return [chapters.FIGURES / f"{chapter.name}-{figure}.svg" for figure in figures(chapter)]


def table():
    """A DataFrame with a row for each figure of the published scale, in the order of the plan.

    Columns: file, chapter, function (that drew it, or the notebook), notebook (executed), results (the
    tables that the chapter's experiments have stored, separated by blanks).
    """
    rows = []
    for chapter in chapters.chapters("full"):
        notebook = chapter.target("full").relative_to(ROOT).as_posix()
        experiments = [each for name in chapter.experiments for each in chapters.experiments(name)]
        tables = {path.relative_to(ROOT).as_posix() for each in experiments for path in each.stored_files()}
        results = " ".join(sorted(path for path in tables if path.endswith(".csv")))
        for name in figures(chapter):
            path = chapters.FIGURES / f"{chapter.name}-{name}.svg"
            drawn_by = re.search(r"<dc:source>(.+?)</dc:source>", path.read_text(encoding="utf-8"))
            if not drawn_by:
                raise ValueError(
                    f"{path}: the file does not say which function or notebook drew it; execute the notebook again: "
                    f"python -m study notebook {chapter.name} --profile full"
                )
            rows.append((path.name, chapter.name, drawn_by[1], notebook, results))
    return pd.DataFrame(rows, columns=["file", "chapter", "function", "notebook", "results"])


def write():
    """Write the table next to the figures."""
    store.write(chapters.MANIFEST, table().to_csv(index=False))
