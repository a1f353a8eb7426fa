"""The ledger as a page that can be filtered by source, verdict, chapter and words; it loads nothing from outside."""

import json
from pathlib import Path
from string import Template

from study import chapters, claims, costs, store

TEMPLATE = Path(__file__).with_name("ledger.html")
COLUMNS = (
    "source",
    "place",
    "what",
    "published",
    "ours",
    "interval",
    "verdict",
    "remark",
    "chapter",
    "made by",
    "which takes",
)


def rows(ledger, statements):
    """A list of texts in the order of COLUMNS for each number of the ledger, then for each statement."""
    numbers = [
        [
            row.source, row.item, row.quantity, f"{row.published:g}", _number(row.ours),
            f"{row.low:.4g} to {row.high:.4g}" if row.low < row.high else "", row.verdict, row.explanation, row.chapter,
            *command(row.chapter),
        ]
        for row in ledger.fillna({"explanation": ""}).itertuples()
    ]  # fmt: skip
    words = [
        [row.source, row.place, row.statement, "", "", "", row.verdict, row.evidence, row.chapter, *command(row.chapter)]
        for row in statements.itertuples()
    ]
    return numbers + words


def command(chapter):
    """What computes the results again that a chapter of the ledger rests on, and what that takes."""
    (name,) = (each for each in chapters.EXPERIMENTS if each == chapter.partition("_")[0])
    return f"python -m study run {name} --recompute", costs.words(name)


def write(target):
    """Write the page of the stored ledger to a file."""
    ledger, _, statements = claims.stored()
    # "</" would end the script.
    found = json.dumps(rows(ledger, statements), ensure_ascii=False).replace("</", "<\\/")
    texts = {"columns": json.dumps(COLUMNS), "rows": found}
    store.write(target, Template(TEMPLATE.read_text(encoding="utf-8")).substitute(texts))


def _number(value):
    return "" if value != value else f"{value:.5g}"
