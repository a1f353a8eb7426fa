"""The parts of README.md that are made of other files: the results of the first page with the ledger by source, and the
table of chapters, from the plan.

They are written again when the notebooks of profile full are executed; what stands around them is written by hand.
"""

import json
import re
import textwrap
from itertools import groupby

from study import ROOT, chapters, claims
from study.report.source import HEAD_SPACE
from study.results import store

README = ROOT / "README.md"
START = "<!-- from here on: python -m study gather -->\n"
END = "<!-- until here -->\n"
"""The lines around each part."""
LEDGER = (
    "**Nearly all published numbers that can be checked agree with ours.** How many do, by source (Li and Long are a sixth):"
)
"""The words above the ledger by source."""
WIDTH = 120
"""Characters of a line."""


def findings():
    """The texts and tables of the first page's cells with the tag readme, captions above their tables, in lines of WIDTH."""
    cells = json.loads(chapters.chapter("front").target("full").read_text(encoding="utf-8"))["cells"]
    found = []
    for cell in cells:
        tags = cell["metadata"].get("tags", [])
        if "readme" in tags:
            is_caption = any(tag.startswith("caption:") for tag in tags)
            found.insert(len(found) - is_caption, _shown(cell))
    return "\n\n".join("\n".join(_wrapped(line) for line in text.splitlines()) for text in found)


def _shown(cell):
    """The text of a cell without label, and without links but those to notebooks; or the table that it shows."""
    if cell["cell_type"] == "code":
        (table,) = ("".join(output["data"]["text/markdown"]) for output in cell["outputs"])
        return table.replace(HEAD_SPACE, " |")
    text = re.sub(r"^\*\*(Figure|Table)\s\d+\.\*\* ", "", "".join(cell["source"]).strip())
    text = re.sub(r"\[([^]]*)\]\((?!\w+\.ipynb\))[^)]*\)", r"\1", text)
    return re.sub(r"\]\((\w+\.ipynb)\)", r"](notebooks/executed/\1)", text)


def _wrapped(line):
    """A line of text in several of at most WIDTH characters; that of a table as it is."""
    if line.startswith("|"):
        return line
    indent = " " * len(re.match(r"\d+\. |", line)[0])
    return textwrap.fill(line, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def by_source():
    """The ledger by source as a Markdown table, of the sources that publish numbers."""
    ledger, _, statements = claims.stored()
    counted = claims.by_source(ledger, statements)
    table = counted[list(claims.VERDICTS)]
    table = table[table.sum(axis=1) > 0]
    rows = [["source", *table], [":--", *["--:"] * 4], *table.reset_index().values.tolist()]
    return "\n".join(f"| {' | '.join(map(str, row))} |" for row in rows)


def by_chapter():
    """The chapters with what they are about as a Markdown table; neighbours with the same words share a row."""
    plan = [each for each, _ in chapters.report("full", web=True)]
    rows = ["| notebook | what it answers |", "|---|---|"]
    for about, group in groupby(plan, key=lambda each: each.about):
        links = (f"[{each.name}]({each.target('full').relative_to(ROOT).as_posix()})" for each in group)
        rows.append(f"| {', '.join(links)} | {about} |")
    return "\n".join(rows)


def written(text):
    """The text of the page with the parts as they are now."""
    pieces = re.split(f"({re.escape(START)}|{re.escape(END)})", text)
    if pieces[1::2] != [START, END] * 2:
        raise ValueError(f"{README.name} must have the lines {START.strip()} and {END.strip()} twice, in this order")
    pieces[2] = f"\n{findings()}\n\n{LEDGER}\n\n{by_source()}\n\n"
    pieces[6] = f"\n{by_chapter()}\n\n"
    return "".join(pieces)


def write():
    """Write the part again."""
    store.write(README, written(README.read_text(encoding="utf-8")))
