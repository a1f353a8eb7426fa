"""paper.md: its numbers are those of the first page, its works are in the bibliography."""

import re
from pathlib import Path

from study.report import readme

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "paper.md").read_text(encoding="utf-8")


def test_rates_of_the_paper_are_those_of_the_first_page():
    found = set(re.findall(r"\d\.\d\d %", TEXT))
    assert len(found) == 5 and found <= set(re.findall(r"\d\.\d\d %", readme.findings().replace("\N{NO-BREAK SPACE}", " ")))
    (interval,) = re.findall(r"\((\S+ to \S+) points\)", TEXT)
    assert f"({interval} points)" in " ".join(readme.findings().split())


def test_counts_of_the_paper_are_those_of_the_ledger():
    row = next(line for line in readme.by_source().splitlines() if line.startswith("| all |"))
    exact, within, outside = re.findall(r"\d+", row)[:3]
    assert f"{exact} are exact, {within} lie within our interval and {outside} outside" in TEXT


def test_what_a_recomputation_leaves_out_is_said_wherever_one_is_promised():
    files = ("README.md", "docs/INTERNALS.md", "CONTRIBUTING.md", "paper.md", "codecheck.yml", "CHANGELOG.md")
    notebooks = ("notebooks/front.ipynb", "notebooks/declaration.ipynb")
    texts = {name: " ".join((ROOT / name).read_text(encoding="utf-8").split()) for name in (*files, *notebooks)}
    assert [name for name in texts if "results of third-party classifiers and measured times" not in texts[name]] == []


def test_works_of_the_paper_are_in_the_bibliography():
    cited = set(re.findall(r"@([a-z]+\d{4})", TEXT))
    known = set(re.findall(r"^@\w+\{(\w+),", (ROOT / "study/report/refs.bib").read_text(encoding="utf-8"), re.MULTILINE))
    assert len(cited) > 8 and cited <= known
    assert 250 <= len(TEXT.split()) <= 1000
