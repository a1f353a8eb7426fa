"""The ledger as a page that can be filtered by source, verdict, chapter and words; it loads nothing from outside."""

import json
from pathlib import Path
from string import Template

from study import chapters, claims
from study.report import policy
from study.results import costs, store

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
            f"{row.low:.4g} to {row.high:.4g}" if row.low < row.high else "", row.shown, row.explanation, row.chapter,
            *command(row.chapter),
        ]
        for row in ledger.fillna({"explanation": ""}).assign(shown=claims.in_words(ledger)).itertuples()
    ]  # fmt: skip
    words = [
        [row.source, row.place, row.statement, "", "", "", row.verdict, row.evidence, row.chapter, *command(row.chapter)]
        for row in statements.itertuples()
    ]
    return numbers + words


def command(chapter):
    """Return the commands that recompute the results behind a chapter of the ledger, and their costs."""
    names = chapters.chapter(chapter).experiments[:1]
    return "; ".join(f"python -m study run {name} --recompute" for name in names), "; ".join(map(costs.words, names))


def write(target):
    """Write the page of the stored ledger to a file."""
    ledger, _, statements = claims.stored()
    # "</" would end the script.
    found = json.dumps(rows(ledger, statements), ensure_ascii=False).replace("</", "<\\/")
    texts = {"columns": json.dumps(COLUMNS), "rows": found}
    page = Template(TEMPLATE.read_text(encoding="utf-8")).substitute(texts)
    store.write(target, policy.sealed(page))


def _number(value):
    return "" if value != value else f"{value:.5g}"
