"""The house: what may import what, and nobody lives in it for nothing."""

import ast
import functools
import json
import re
from pathlib import Path

import pytest
from trees import nodes, parsed

from study import chapters
from study.report.expressions import conditions, expressions
from study.results import code

ROOT = Path(__file__).parents[1]
KP = sorted((ROOT / "kp").glob("*.py"))
STUDY = sorted((ROOT / "study").rglob("*.py"))
SHARED = {"datasets", "protocols", "report", "results"}
QUOTED = ("budgets/facts.py", "front/facts.py", "questions/facts.py", "lower/facts.py")
TOGETHER = {ROOT / "study" / name for name in ("ledger.py", "report/played.py", *QUOTED)}
"""What puts the results of several chapters together, or shows the run of one on a page."""
CHAPTERS = {path.name for path in (ROOT / "study").iterdir() if (path / "__init__.py").exists()} - SHARED


def module(path):
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def imports(found):
    """[(alias, what it stands for)] of all imports among the nodes of a module."""
    for node in found:
        assert not getattr(node, "level", 0), "say where from, in full"
        for each in getattr(node, "names", ()) if isinstance(node, ast.Import | ast.ImportFrom) else ():
            yield each.asname or each.name, f"{node.module}.{each.name}" if isinstance(node, ast.ImportFrom) else each.name


def imported(path):
    """The dotted names that a module of the project imports, with what it takes from them."""
    return {name for _, name in imports(nodes(path))}


@pytest.mark.parametrize("path", KP, ids=lambda path: path.stem)
def test_kp_knows_arrays_only(path):
    tops = {name.partition(".")[0] for name in imported(path)} - ({"matplotlib"} if path.stem == "display" else set())
    assert not tops & {"study", "pandas", "matplotlib", "pooch", "requests", "urllib", "nbformat", "papermill"}


@pytest.mark.parametrize("path", STUDY, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_chapter_imports_no_other_chapter_and_shared_rooms_import_none(path):
    own = path.relative_to(ROOT / "study").parts[0]
    others = {name.split(".")[1] for name in imported(path) if name.startswith("study.")} & CHAPTERS
    assert path in TOGETHER or others <= {own}


def test_files_of_chapters_have_the_same_names_and_others_are_in_the_table_of_rooms():
    usual = {"__init__", "experiment", "tables", "figures", "claims", "facts", "published"}
    table = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    found = {f"{path.parent.name}/{path.name}" for path in STUDY if path.parent.name in CHAPTERS and path.stem not in usual}
    assert found and {name for name in found if f"`{name}`" not in table} == set()


@pytest.mark.parametrize("path", [path for path in STUDY if path.name == "figures.py"], ids=module)
def test_figures_know_no_experiment(path):
    assert not [name for name in imported(path) if "experiment" in name.split(".") or name.startswith("sklearn")]


@functools.cache
def programs():
    """{name: tree} of all that calls functions: modules by dotted names, benchmarks, notebooks, the head of Snakefile."""
    found = {module(path): parsed(path) for path in [*KP, *STUDY, *(ROOT / "benchmarks").glob("*.py")]}
    for path in (ROOT / "notebooks").glob("*.ipynb"):
        texts = []
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            text = "".join(cell["source"])
            texts += [text] if cell["cell_type"] == "code" else [*expressions(text), *conditions(text)]
        found[path.name] = ast.parse("\n".join(texts))
    head, _, _ = (ROOT / "workflow" / "Snakefile").read_text(encoding="utf-8").partition("rule report")
    return found | {"Snakefile": ast.parse(head)}


def called(name, tree):
    """What a program reads: (module, name) of what stands in modules, itself included but for calls of a function by itself,
    and the names of attributes of anything else, which may be methods."""
    places = [(getattr(place, "name", ""), list(ast.walk(place))) for place in tree.body]
    taken = [path.rpartition(".") for _, inside in places for _, path in imports(inside)]
    found = {(code.home(package, name), name) for package, _, name in taken}
    alias = code.aliases(tree)
    for own, inside in places:
        for node in inside:
            if isinstance(node, ast.Name) and node.id != own:
                found.add((name, node.id))
            elif isinstance(node, ast.Attribute):
                owner = code.named(node.value, alias)
                found.add((code.home(owner, node.attr), node.attr) if owner else node.attr)
    return found


def test_no_function_is_called_by_nobody():
    trees = programs()
    idle = []
    used = set().union(*(called(name, tree) for name, tree in trees.items()))
    used |= {("kp.literal", name) for report in chapters.REPORTS.values() for name in report.listing}
    registry = (ROOT / "data" / "registry.toml").read_text(encoding="utf-8")
    for path in [*KP, *STUDY]:
        for node in nodes(path):
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("__"):
                declared = any(isinstance(d, ast.Call) and ast.unparse(d.func) == "experiment" for d in node.decorator_list)
                known = declared or f'"{node.name}"' in registry or node.name in PUBLIC
                method = node.name in used and node not in parsed(path).body
                if not (known or method or (module(path), node.name) in used):
                    idle.append(f"{path.relative_to(ROOT)}: {node.name}")
    assert idle == []


PAGES = [each for folder in ("", "kp", "docs", "data", "benchmarks") for each in sorted((ROOT / folder).glob("*.md"))]


def without_code(path):
    """The text of a page, without blocks and spans of code."""
    text = re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"`[^`]*`(?!\])", "", text)


def headings(path):
    """The names under which a code-hosting site links to the headings of a page."""
    found = re.findall(r"^#+ (.*)", without_code(path), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", each.lower()).replace(" ", "-") for each in found}


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_of_a_page_lead_to_files_and_headings_that_exist(path):
    for name, heading in re.findall(r"\]\((?!\w+:)([^)#\s]*)#?([^)\s]*)\)", without_code(path)):
        target = path.parent / name if name else path
        assert target.exists(), f"{name}: no such file"
        assert not heading or heading in headings(target), f"{name}#{heading}: no such heading"


def test_what_a_notebook_imports_is_used_in_code_or_words():
    notebooks = {name: list(ast.walk(tree)) for name, tree in programs().items() if name.endswith(".ipynb")}
    assert notebooks
    for name, found in notebooks.items():
        names = {node.id for node in found if isinstance(node, ast.Name)}
        unused = {alias for alias, _ in imports(found) if alias.partition(".")[0] not in names}
        assert not unused, f"{name}: {unused}"


def test_experiments_import_nothing_that_shows_or_judges_results():
    """An edit of a room's tables, figures or verdicts, of the plan or of a report makes no result stale but the ledger."""
    shown = {"tables", "figures", "facts", "claims", "published", "chapters", "report", "style", "words"}
    for each in chapters.all_experiments():
        if each.chapter != chapters.LEDGER.name:
            found = (name.split(".")[1:] for name in code.reached(code.program(each.compute)))
            inside = [parts[1:] if parts and parts[0] in chapters.ROOMS else parts for parts in found]
            assert [parts for parts in inside if shown & set(parts)] == [], each.name


PUBLIC = {
    "differences", "partial_fit", "staged_predict", "staged_decision_function", "decision_function", "predict",
    "from_estimator", "with_mistakes", "tidy", "tocsr", "launch_kernel", "kernel_spec", "poll", "send_signal",
    "execute_managed_notebook", "said", "origin_coef_", "load_overload", "save_overload",
}  # fmt: skip
"""Methods and an attribute of estimators for readers, what CONTRIBUTING.md tells them to call, what the manager of a kernel,
its provisioner, papermill, the kernel of a notebook and Numba call, and what a sparse matrix has."""
