"""One row of the ledger by its ID: published, ours, interval and verdict, made again from the stored results it rests on.

Only the rows of its source are made, with what they read: nothing is trained. Where a stored result is stale, the row is the
one in data/results/claims.csv, and says so.
"""

import difflib
import importlib
import json
import os
import re
from dataclasses import dataclass

from study import ROOT, chapters, claims, reading
from study.report import lineage
from study.results import costs, store

NEAREST = 3
"""So many names are suggested for one that is unknown."""
NUMBERS, _, STATEMENTS = claims.FILES


@dataclass(frozen=True)
class Found:
    """A row of the ledger as a dict; the files of data that it was made of; stale, why it was not made again, or "";
    with_others, whether the files are those of all numbers of its source."""

    row: dict
    files: tuple[str, ...]
    stale: str = ""
    with_others: bool = False

    def __str__(self):
        row = self.row
        said = _statement(row) if "statement" in row else _number(row)
        lines = [f"{name:<12}{text}" for name, text in {**said, "argued in": _argued(row)}.items() if text]
        return "\n".join([row["key"], *lines, self.origin])

    @property
    def origin(self):
        """Where the row comes from, and how to compute what it rests on."""
        if self.stale:
            return f"As stored in {NUMBERS.parent.relative_to(ROOT)}; not made again, since {self.stale}"
        records = [store.read_record(ROOT / name) for name in self.files if (ROOT / name).with_suffix(".json").exists()]
        names = sorted({record["experiment"] for record in records})
        others = f" for all numbers of {self.row['source']}" if self.with_others else ""
        lines = [
            f"Made now from stored results, all up to date; nothing was trained. Read{others}: {', '.join(self.files)}."
        ]
        lines += [f"To recompute: python -m study run {name} --recompute {costs.of_experiment(name)}" for name in names]
        return "\n".join(lines)


def find(key):
    """The row of this ID, as Found. Raises ValueError, with the nearest names, if there is none."""
    numbers, said = (store.read_table(path).set_index("key", drop=False) for path in (NUMBERS, STATEMENTS))
    stored = numbers if key in numbers.index else said
    if key not in stored.index:
        names = [*numbers.index, *said.index]
        near = difflib.get_close_matches(key, names, NEAREST, cutoff=0) if key else names[:NEAREST]
        raise ValueError(f"claim {key!r}: the ledger has no such ID; nearest: {', '.join(near)}")
    row = stored.loc[key].to_dict()
    before = set(reading.READ)
    reading.READ.clear()
    try:
        made = _made(key)
        symbols = lineage.behind(key)
        read = sorted(name for name in reading.READ if name.startswith("data/"))
        return Found(made, tuple(lineage.files(symbols, read)), with_others=symbols == [lineage.maker(key)])
    except store.StaleResult as error:
        return Found(row, (), str(error))
    finally:
        reading.READ.update(before)


def _made(key):
    """The row as the function of its room makes it."""
    maker = lineage.maker(key)
    rows = getattr(importlib.import_module(maker.module), maker.name)()
    return rows[rows["key"] == key].iloc[0].to_dict()


def _number(row):
    """What is said of a number, by name."""
    numbers = (row[name] for name in ("published", "ours", "low", "high"))
    published, ours, low, high = (claims.rounded(number, row["decimals"]) for number in numbers)
    search = f", after a search of {row['choices']} settings or readings" if row["choices"] > 1 else ""
    return {
        "source": f"{row['source']}, {row['item']}: {row['quantity']}",
        "published": published,
        "ours": ours or "-",
        "interval": f"{low} to {high}, over {row['interval_of']}" if row["low"] < row["high"] else "",
        "verdict": row["verdict"] + search,
        "remark": row["explanation"] if isinstance(row["explanation"], str) else "",
    }


def _statement(row):
    """What is said of a statement, by name."""
    return {
        "source": f"{row['source']}, {row['place']}",
        "says": row["statement"],
        "verdict": row["verdict"],
        "evidence": row["evidence"],
    }


def _argued(row):
    """The chapter of a row, and its figures and tables whose captions name the place in the source."""
    chapter = chapters.chapter(row["chapter"])
    path = chapter.target("full")
    numbers = {each.name: number for each, number in chapters.report("full", web=True)}
    where = f"chapter {numbers[chapter.name]}, {chapter.heading}: {os.path.relpath(path, ROOT)}"
    return ", ".join([where, *_captions(path, row.get("item") or row["place"])])


def _captions(path, item):
    """The labels of captions in an executed notebook that name an item such as "Fig. 6 (c)" or "Table III"."""
    named = re.search(r"(Fig|Table)s?\.? (\w+)", item)
    if not (named and path.exists()):
        return
    source = re.compile(rf"{named[1]}(ure)?s?\.? (\w+ and )?{named[2]}\b")
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        label = re.match(r"\*\*((?:Figure|Table)\N{NO-BREAK SPACE}\d+)\.\*\*(.*)", "".join(cell["source"]), re.DOTALL)
        if label and source.search(label[2]):
            yield label[1].replace("\N{NO-BREAK SPACE}", " ")
