"""How the executed notebooks read, in numbers: python tests/measure_text.py [--show] [file.ipynb or name ...]

For each chapter: words of text, figures, words for each figure, how often "we", "you" or "let's" come in 100 words, the
share of sentences with at most eight words, and the sentences with more than two numbers. Text is what a reader sees of the
body: paragraphs and list items of the executed copy, without headings, captions, tables, formulas, exercises and
appendices. With --show the short and the crowded sentences are printed.
"""

import json
import re
import sys
from pathlib import Path

import pandas as pd

EXECUTED = Path(__file__).parents[1] / "notebooks" / "executed"
MAIN = "front introduction algorithm mnist lower doubt classes tables budgets conclusion".split()
LEFT_OUT = {"appendix", "exercises", "solution", "links", "at-end", "only", "caption"}
NO_NUMBER = r"\([^)]*\)|(Figure|Table|[Cc]hapter|[Ss]ection|[Dd]egrees?|question) [\d., to]+|\b(19|20)\d\d\b"
"""What has figures and is no number to remember: brackets, such as intervals, references, years."""


def visible(source):
    """The text of a Markdown cell without comments, headings, tables, formulas and HTML."""
    source = re.sub(r"<!--.*?-->|\$\$.*?\$\$|```.*?```", "", source, flags=re.DOTALL)
    text = "\n".join(line for line in source.splitlines() if not re.match(r"\s*(#|\||%|<|!\[|:::|\(.*\)=$)", line))
    text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", re.sub(r"\$[^$]+\$", "x", text))
    return re.sub(r"[*_`]", "", text)


def sentences(text):
    """Sentences of paragraphs and list items."""
    for part in re.split(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )", text):
        part = re.sub(r"^\s*(?:[-*]|\d+\.) ", "", " ".join(part.split()))
        yield from (each for each in re.split(r"(?<=[.?!])\s+(?=[A-Z])", part) if re.search(r"\w", each))


def measure(path):
    """The row of one executed notebook, and its short and its crowded sentences."""
    text, figures = [], 0
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if (
            LEFT_OUT & {tag.partition(":")[0] for tag in cell["metadata"].get("tags", [])}
            and cell["cell_type"] == "markdown"
        ):
            continue
        if cell["cell_type"] == "markdown":
            text.append(visible("".join(cell["source"])))
        elif "appendix" not in cell["metadata"].get("tags", []):
            figures += sum(bool({"image/svg+xml", "image/png"} & set(o.get("data", {}))) for o in cell["outputs"])
    text = "\n\n".join(text)
    found = list(sentences(text))
    words = len(re.findall(r"[\w'’−.%-]*\w[\w'’%]*", text))
    people = len(re.findall(r"\b(we|you|let['’]s|let us)\b", text, re.IGNORECASE))
    short = [each for each in found if len(each.split()) <= 8]
    crowded = [each for each in found if len(re.findall(r"\d[\d,.]*", re.sub(NO_NUMBER, "", each))) > 2]
    row = {"words": words, "figures": figures, "we/you": people, "sentences": len(found), "short": len(short)}
    return row | {"crowded": len(crowded)}, short, crowded


def main(arguments):
    show = "--show" in arguments
    names = [each for each in arguments if each != "--show"] or MAIN
    rows = {}
    for name in names:
        path = Path(name) if name.endswith(".ipynb") else EXECUTED / f"{name}.ipynb"
        rows[path.stem], *listed = measure(path)
        for kind, found in zip(("short", "crowded"), listed, strict=True):
            print(*(f"{path.stem}, {kind}: {each}" for each in found if show), sep="\n", end="\n" if show and found else "")
    table = pd.DataFrame(rows).T
    if len(table) > 1:
        table.loc["all"] = table.sum()
    table.insert(2, "words/figure", (table.words / table.figures).round().where(table.figures > 0))
    table["we/you"] = (100 * table["we/you"] / table.words).round(1)
    table["short"] = (100 * table.short / table.sentences).round().astype(int).astype(str) + " %"
    print(table.drop(columns="sentences").to_string())


if __name__ == "__main__":
    main(sys.argv[1:])
