"""The ledger as a page: what disagrees first, links to the chapters, filters; it loads nothing from outside."""

import json
from pathlib import Path
from string import Template

from study import chapters, claims
from study.report import lineage, policy
from study.report.panels import of_maker
from study.results import costs, store

TEMPLATE = Path(__file__).with_name("ledger.html")
COLUMNS = (
    "source",
    "place",
    "what",
    "published",
    "ours",
    "interval of ours",
    "interval over what",
    "verdict",
    "after a search of",
    "remark",
    "chapter",
    "ID",
)
VERDICTS = {
    "numbers": ("outside", "within", "exact", "not comparable"),
    "statements": ("does not hold", "holds in part", "holds", "undecided"),
}
"""The verdicts of the page, as its filter lists them."""
ORDER = (
    "outside", "does not hold", "holds in part", "within", "exact", "holds", "undecided", "not comparable",
)  # fmt: skip
"""Verdicts from disagreement to agreement, then what is left open."""


def rows(ledger, statements):
    """A list of texts in the order of COLUMNS for each number and each statement, disagreements first.

    Ours and its interval have as many decimals as the published number, so that a number "within" is seen to lie between
    the ends.
    """
    names = places()
    numbers = [
        [
            row.source, row.item, row.quantity, *(claims.rounded(each, row.decimals) for each in (row.published, row.ours)),
            *_interval(row), row.verdict, str(row.choices) if row.choices > 1 else "", row.explanation,
            names[row.chapter], row.key,
        ]
        for row in ledger.fillna({"explanation": "", "interval_of": ""}).itertuples()
    ]  # fmt: skip
    words = [
        [row.source, row.place, row.statement, *[""] * 4, row.verdict, "", row.evidence, names[row.chapter], row.key]
        for row in statements.itertuples()
    ]
    place = COLUMNS.index("verdict")
    return sorted(numbers + words, key=lambda row: ORDER.index(row[place]))


def places():
    """{name of a chapter: its number in the report and its name}."""
    return {chapter.name: f"{number} {chapter.name}".strip() for chapter, number in chapters.report("full", web=True)}


def panels(rows):
    """The name of the report's panel on the code that makes a row of the page, for each."""
    return [of_maker(lineage.maker(row[COLUMNS.index("ID")])) for row in rows]


def commands(names):
    """[chapter, command, costs] for each experiment whose results these chapters read."""
    shown = places()
    return [
        [shown[name], f"python -m study run {each} --recompute", costs.words(each)]
        for name in shown
        if name in names
        for each in chapters.chapter(name).experiments
        if each != "claims"
    ]


def write(target):
    """Write the page of the stored ledger to a file."""
    ledger, _, statements = claims.stored()
    names = {*ledger["chapter"], *statements["chapter"]}
    shown = places()
    found = rows(ledger, statements)
    values = {
        "columns": COLUMNS,
        "verdicts": VERDICTS,
        "links": {shown[name]: f"report.html#chapter-{name}" for name in names},
        "commands": commands(names),
        "panels": panels(found),
        "rows": found,
    }
    # "</" would end the script.
    texts = {name: json.dumps(value, ensure_ascii=False).replace("</", "<\\/") for name, value in values.items()}
    page = Template(TEMPLATE.read_text(encoding="utf-8")).substitute(texts)
    store.write(target, policy.sealed(page))


def _interval(row):
    """The interval of ours, and what it is over; both empty where there is none."""
    if not row.low < row.high:
        return "", ""
    return f"{claims.rounded(row.low, row.decimals)} to {claims.rounded(row.high, row.decimals)}", row.interval_of
