"""The part of README.md that is made of results: what the report's first page answers, and the ledger by source.

It is written anew when the notebooks of profile full are executed; what stands around it is written by hand.
"""

import json
import re

from study import ROOT, chapters, claims, store

README = ROOT / "README.md"
START, END = "<!-- from here on: python -m study notebook --profile full -->\n", "<!-- until here -->\n"


def answers():
    """The sentences and paragraphs of the report's first page that have results: what is framed there, then the rest."""
    cells = json.loads(chapters.chapter("front_all").target("full").read_text(encoding="utf-8"))["cells"]
    shown = [
        ("box" not in cell["metadata"].get("tags", []), "".join(output["data"]["text/markdown"]))
        for cell in cells
        for output in cell.get("outputs", [])
        if "text/markdown" in output["data"]
    ]
    found = [each for each in shown if not each[1].startswith(("**Abstract.", "**Figure"))]
    return [re.sub(r"\[([^]]+)\]\(#[^)]*\)", r"\1", text) for _, text in sorted(found, key=lambda each: each[0])]


def by_source():
    """The ledger by source as a Markdown table."""
    ledger, _, statements = claims.stored()
    counted = claims.by_source(ledger, statements)
    head, line = ["source", *counted.columns], [":--", *["--:"] * len(counted.columns)]
    return "\n".join(f"| {' | '.join(map(str, row))} |" for row in [head, line, *counted.reset_index().values.tolist()])


def written(text):
    """The text of the page with what is made of results as it is now."""
    before, mark, rest = text.partition(START)
    _, end, after = rest.partition(END)
    if not (mark and end):
        raise ValueError(f"{README.name} must have the lines {START.strip()} and {END.strip()}, in this order")
    found = "\n".join(f"- {text}" for text in answers())
    return f"{before}{START}\n{found}\n\n{by_source()}\n\n{END}{after}"


def write():
    """Write the part anew."""
    store.write(README, written(README.read_text(encoding="utf-8")))
