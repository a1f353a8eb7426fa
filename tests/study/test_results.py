"""The stored results of the study: they belong to the code, to their data and to their parameters."""

import ast
import functools
import json
import re
import subprocess
import sys

import pandas as pd
import pytest
from trees import nodes

from study import ROOT, chapters, datasets
from study.results import code, costs, store

EXPERIMENTS = chapters.all_experiments()


def test_every_stored_file_belongs_to_one_experiment():
    declared = [
        *(path for name in chapters.ROOMS if (path := costs.path(name)).exists()),
        *(path for each in EXPERIMENTS for path in each.stored_files()),
    ]
    stored = [
        path for name in ("results", "measured") for path in (ROOT / "data" / name).glob("*") if path.suffix != ".json"
    ]
    assert sorted(stored) == sorted(declared)


def test_each_part_has_arrays_of_its_own():
    parts = {each.name: [each.arrays(s) for s in each.published] for each in EXPERIMENTS if each.arrays}
    assert parts and {name for name, own in parts.items() if len(set(own)) < len(own)} == set()


LEDGER = """
from study import ledger, reading
for each in (*ledger.CLAIMS, *ledger.READINGS, *ledger.STATEMENTS):
    each()
print(*reading.READ, sep="\\n")
"""


@pytest.mark.long
def test_every_stored_result_and_published_file_is_read_by_a_notebook_the_ledger_or_another_result():
    copies = [json.loads(each.target("full").read_text(encoding="utf-8")) for each in chapters.chapters("full")]
    read = {name for copy in copies for name in copy["metadata"]["made_from"]["files"]}
    read |= set(
        subprocess.run([sys.executable, "-c", LEDGER], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    )
    tables = [path for each in EXPERIMENTS if each.name != "claims.ledger" for path in each.stored_files()]
    records = [json.loads(path.with_suffix(".json").read_text()) for path in tables if path.suffix == ".csv"]
    read |= {f"data/{name}" for record in records for name in record["data"]}
    kept = [path for name in ("results", "measured", "published") for path in (ROOT / "data" / name).glob("*")]
    found = {path.relative_to(ROOT).as_posix() for path in kept if path.suffix != ".json"} - read
    assert not found, f"nobody reads {', '.join(sorted(found))}: let a text, a figure or a verdict use it, or remove it"


@functools.cache
def named(path):
    """The words in a program's texts, and its names of attributes and keywords; of another file all words."""
    if path.suffix != ".py":
        return set(re.findall(r"\w+", path.read_text(encoding="utf-8")))
    told = {id(node.value) for node in nodes(path) if isinstance(node, ast.Expr)}  # docstrings
    texts = [node.value for node in nodes(path) if isinstance(node, ast.Constant) and id(node) not in told]
    found = {word for text in texts if isinstance(text, str) for word in re.findall(r"\w+", text)}
    found |= {node.attr for node in nodes(path) if isinstance(node, ast.Attribute)}
    return found | {node.arg for node in nodes(path) if isinstance(node, ast.keyword)}


@pytest.mark.parametrize("declared", EXPERIMENTS, ids=lambda each: each.name)
def test_every_column_of_a_stored_table_is_named_where_it_is_read_or_compared(declared):
    own = ROOT / (declared.__module__.replace(".", "/") + ".py")
    programs = [*ROOT.glob("study/**/*.py"), *ROOT.glob("tests/**/*.py"), *ROOT.glob("study/**/*.toml")]
    programs += ROOT.glob("notebooks/*.ipynb")
    words = set().union(*(named(path) for path in programs if path != own))
    tables = [path for path in declared.stored_files() if path.suffix == ".csv"]
    columns = {re.sub(r"_\d$", "_", name) for path in tables for name in pd.read_csv(path, nrows=0)}
    assert not columns - words, f"nobody reads {', '.join(sorted(columns - words))}: use it, or remove it"


@pytest.mark.parametrize("declared", EXPERIMENTS, ids=lambda each: each.name)
def test_committed_results_belong_to_the_code_whatever_is_under_build(declared):
    assert declared.is_fresh(), f"make it again with: {declared.command}"


OURS = {each.name for each in EXPERIMENTS}
EDITS = {
    "the walk along logs": ("kp/predictors.py", "c * f[j] + d * k[j]", "c * f[j] - d * k[j]", {"mnist", "tables"}, set()),
    "a budget": ("kp/budget.py", "def ", "def _a_", {"budgets"}, {"mnist", "tables", "seeds"}),
    "an environment variable": ("kp/__init__.py", "from kp.budget", "os.environ['X'] = ''\nfrom kp.budget", OURS, set()),
    "how files are read": ("study/datasets/parse.py", "def vowel(file)", "def vowel(file, x=1)", OURS, set()),
    "how tables are stored": ("study/results/store.py", "table_text(table)\n", "table_text(table.T)\n", OURS, set()),
    "a protocol of one room": ("study/tables/rivals.py", "inner_folds=3", "inner_folds=5", {"tables"}, {"mnist", "seeds"}),
    "a message": ("study/seeds/experiment.py", "to be solved", "to be resolved", {"seeds"}, {"mnist", "tables"}),
}
"""{what is edited: (file, text, its replacement, what must be stale, what must not): rooms, or names of results}."""


def stale(file, change, monkeypatch):
    """The names of the results whose code is another after a change of the text of a file."""
    before = {each.name: code.fingerprint(code.program(each.compute)) for each in EXPERIMENTS}
    (module,) = (name for name, path in code.PATHS.items() if path == ROOT / file)
    text = change(code.SOURCES[module])
    assert text != code.SOURCES[module], "the code is another: find the place of this edit again"
    monkeypatch.setitem(code.SOURCES, module, text)
    return {each.name for each in EXPERIMENTS if code.fingerprint(code.program(each.compute)) != before[each.name]}


@pytest.mark.parametrize("what", EDITS)
def test_an_edit_of_a_module_makes_stale_what_imports_it(what, monkeypatch):
    file, old, new, expected, fresh = EDITS[what]
    found = stale(file, lambda text: text.replace(old, new), monkeypatch)
    rooms = {name.partition(".")[0] for name in found}
    assert expected <= found | rooms and not fresh & rooms


@pytest.mark.long
@pytest.mark.parametrize("room", sorted(path.parent.name for path in (ROOT / "study").glob("*/figures.py")))
def test_an_edit_of_figures_makes_nothing_stale_and_of_tables_at_most_the_ledger(room, monkeypatch):
    for name in ("figures", "tables", "claims", "facts"):
        if (ROOT / "study" / room / f"{name}.py").exists():
            found = stale(f"study/{room}/{name}.py", lambda text: text + "\nX = 1\n", monkeypatch)
            assert found <= ({"claims.ledger"} if name != "figures" else set()), name


def test_comments_docstrings_and_layout_make_nothing_stale(monkeypatch):
    def change(text):
        return "# A comment.\n" + text.replace('"""A', '"""Another: a').replace("\n\n\n", "\n\n\n\n")

    assert stale("kp/gram.py", change, monkeypatch) == set()


@pytest.mark.recompute
@pytest.mark.parametrize("declared", EXPERIMENTS, ids=lambda each: each.name)
def test_a_sample_computed_again_is_what_is_stored(declared):
    try:
        for name in declared.datasets(declared.published):
            datasets.load(name, download=False)
    except datasets.DataError as error:
        pytest.skip(str(error).splitlines()[-1])
    assert declared.differences() == []


def test_times_are_in_no_compared_table():
    for path in (ROOT / "data" / "results").glob("*.csv"):
        assert not {"seconds", "minutes"} & set(store.read_table(path).columns), path
