"""The part of README.md that is made of results: what the conclusion says first, and the ledger by source.

It is written again when the notebooks of profile full are executed; what stands around it is written by hand.
"""

import json
import re

from study import ROOT, chapters, claims
from study.results import store

README = ROOT / "README.md"
START = "<!-- from here on: python -m study gather -->\n"
END = "<!-- until here -->\n"
VERDICTS = ("exact", "within", "outside")


def findings():
    """The text of the conclusion's cell with the tag readme, without its title and its links."""
    cells = json.loads(chapters.chapter("conclusion").target("full").read_text(encoding="utf-8"))["cells"]
    (text,) = ("".join(cell["source"]) for cell in cells if "readme" in cell["metadata"].get("tags", []))
    return re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", text.partition("\n")[2].strip())


def by_source():
    """The ledger by source as a Markdown table, of the sources that publish numbers."""
    ledger, _, statements = claims.stored()
    counted = claims.by_source(ledger, statements)
    table = counted[list(VERDICTS)].assign(rest=counted["degenerate"] + counted["not comparable"])
    table = table[table.sum(axis=1) > 0]
    rows = [["source", *VERDICTS, "not to be checked"], [":--", *["--:"] * 4], *table.reset_index().values.tolist()]
    return "\n".join(f"| {' | '.join(map(str, row))} |" for row in rows)


def written(text):
    """The text of the page with what is made of results as it is now."""
    before, mark, rest = text.partition(START)
    _, end, after = rest.partition(END)
    if not (mark and end):
        raise ValueError(f"{README.name} must have the lines {START.strip()} and {END.strip()}, in this order")
    return f"{before}{START}\n{findings()}\n\n{by_source()}\n\n{END}{after}"


def write():
    """Write the part again."""
    store.write(README, written(README.read_text(encoding="utf-8")))
