"""How a notebook reads, in numbers: words and code, sentences, what cells do. `make test` prints the table for all sources.

words       typed words in text cells, without code, formulas, tables and expressions
lines       lines of code that are not empty and no comment
does        share of code cells that fit, predict, test or draw with names that can be imported
mean, max   words in a sentence
crowded     sentences with more than two numbers
strings     texts of more than six words in code
picture     place of the first code cell with a figure, the cell of parameters not counted
"""

import ast
import json
import re
import sys

from study import ROOT

MAIN = (
    "front", "introduction", "algorithm", "mnist", "lower", "doubt", "classes", "tables", "budgets", "conclusion",
    "questions",
)  # fmt: skip
"""The chapters of the report."""
LONGEST_STRING = 6
LONGEST_SENTENCE = 40
DOING = {
    "fit", "predict", "score", "partial_fit", "transform", "fit_transform", "decision_function", "staged_predict", "figure",
    "holds", "cross_val_score", "predict_proba", "staged_decision_function",
}  # fmt: skip
PACKAGES = ("kp", "sklearn", "scipy", "study.statistics", "kp.literal", "study.style")
"""Modules whose imported functions fit, predict, test or draw."""
NUMBER = re.compile(r"(?<![\w.])[−+-]?\d[\d,]*(?:\.\d+)?(?: ?%)?")
NAMED = "degree epoch order chapter figure table equation section eq digit k n p".split()
NAME = re.compile(rf"\b(?:{'|'.join(NAMED)})s?\.?(?: =)?\s*$", re.IGNORECASE)
"""Words before a number that is a name."""
MARKS = (
    (r"(?s)^(```|~~~).*?^\1\s*$", " "),
    (r"(?s)\$\$.*?\$\$", " "),
    (r"\{eval\}`chapter\.label\([^`]*`", "Figure"),
    (r"\{eval\}`[^`]*`", "§"),
    (r"`[^`]*`|\$[^$\n]*\$", "x"),
    (r"^\|.*$", " "),
    (r"\]\([^)]*\)", "]"),
    (r"[*_\[\]]|<[^>]+>", ""),
)
"""Patterns of text that is no word, and what stands for it, one after the other."""
YEAR = re.compile(r"(?:19|20)\d\d$")


def measure(path):
    """A dict of what the module lists, for the source notebook at path."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    texts = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    programs = ["".join(cell["source"]) for cell in code]
    found = [sentence for text in texts for sentence in sentences(text)]
    lengths = [len(words(each)) for each in found] or [0]
    lines = sum(bool(line.strip()) and not line.strip().startswith("#") for text in programs for line in text.splitlines())
    trees = [
        ast.parse(text)
        for cell, text in zip(code, programs, strict=True)
        if not {"parameters", "setup"} & set(cell["metadata"].get("tags", []))
    ]
    taken = taken_from(programs)
    typed = sum(len(words(plain(text))) for text in texts)
    return {
        "words": typed,
        "lines": lines,
        "words per line": typed / max(lines, 1),
        "does": sum(does(tree, taken) for tree in trees) / max(len(trees), 1),
        "mean": sum(lengths) / len(lengths),
        "max": max(lengths),
        "crowded": sum(counted(each) > 2 for each in found),
        "strings": sum(len(long_strings(text)) for text in programs),
        "picture": first_picture(cells),
    }


def plain(text):
    """The words of a text cell: without code, formulas, tables, headings' marks and addresses; an expression is one sign."""
    for pattern, mark in MARKS:
        text = re.sub(pattern, mark, text, flags=re.MULTILINE)
    return text


def sentences(text):
    """The sentences of a text cell, without headings."""
    found = []
    for block in re.split(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )", plain(text)):
        block = " ".join(line for line in block.splitlines() if not line.startswith("#"))
        block = re.sub(r"^\s*(?:[-*]|\d+\.) ", "", block)
        block = re.sub(r"\b(e\.g|i\.e|cf|vs|eqs?|Eqs?|Figs?|sec|al|p|pp)\.", r"\1", block)
        found += [each.strip() for each in re.split(r"(?<=[.?!:])[\"”)]*\s+(?=[A-Z§“(\d])", block) if len(words(each)) > 2]
    return found


def words(text):
    return re.findall(r"[^\W\d_][\w'’-]*|§", text)


def counted(sentence):
    """How many numbers a sentence has: values, and numerals that are no year, no name and no small whole number."""
    found = sentence.count("§")
    for match in NUMBER.finditer(sentence):
        text = match.group().rstrip(",")
        if YEAR.match(text) or NAME.search(sentence[: match.start()]) or re.fullmatch(r"[12]?\d", text):
            continue
        found += 1
    return found


def long_strings(program):
    """The texts in a program that have more than LONGEST_STRING words."""
    return [
        node.value
        for node in ast.walk(ast.parse(program))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and len(words(node.value)) > LONGEST_STRING
        and not re.search(r"==|>=|<=| (?:and|or|in) [@\"'(\[]", node.value)
    ]  # fmt: skip


def taken_from(programs):
    """The names that programs import from PACKAGES, or the modules of figures."""
    whole = tuple(f"{name}." for name in PACKAGES)
    found = set()
    for node in ast.walk(ast.parse("\n".join(programs))):
        if isinstance(node, ast.Import | ast.ImportFrom):
            base = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
            found |= {each.asname or each.name for each in node.names if f"{base}{each.name}.".startswith(whole)}
    return found


def does(tree, taken):
    """True if a cell calls something that fits, predicts, tests or draws."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func).split(".")
            if called[-1] in DOING or called[0].partition("(")[0] in taken:
                return True
    return False


def first_picture(cells):
    """The place of the first cell that shows a figure, from 1, without the cell of parameters; 0 if there is none."""
    counted = [cell for cell in cells if "parameters" not in cell["metadata"].get("tags", [])]
    for place, cell in enumerate(counted, start=1):
        shows = r"chapter\.figure\(|plt\.|\.plot\(" if cell["cell_type"] == "code" else r"\]\(attachment:"
        if re.search(shows, "".join(cell["source"])):
            return place
    return 0


def table(names=None):
    """A row of `measure` for each of some source notebooks, by default all."""
    import pandas as pd

    paths = sorted((ROOT / "notebooks").glob("*.ipynb"))
    return pd.DataFrame({path.stem: measure(path) for path in paths if not names or path.stem in names}).T


def main(names):
    """Print the table, and for single notebooks the parts that are too long or too full."""
    import pandas as pd

    found = table(names)
    with pd.option_context("display.width", 160, "display.max_rows", None):
        print(found.round(2).to_string())
    chapters = found[found.index.isin(MAIN)]
    if len(chapters):
        print(f"\nMain chapters: {chapters['words'].sum() / chapters['lines'].sum():.1f} words for each line of code.")
    print(f"All: {found['lines'].sum():,.0f} lines of code.")
    for name in names:
        cells = json.loads((ROOT / "notebooks" / f"{name}.ipynb").read_text(encoding="utf-8"))["cells"]
        for index, cell in enumerate(cells):
            text = "".join(cell["source"])
            if cell["cell_type"] == "code":
                for each in long_strings(text):
                    print(f"cell {index}: string: {each[:100]}")
                continue
            for each in sentences(text):
                if len(words(each)) > LONGEST_SENTENCE or counted(each) > 2:
                    print(f"cell {index}: {len(words(each))} words, {counted(each)} numbers: {each[:160]}")


if __name__ == "__main__":
    main(sys.argv[1:])
