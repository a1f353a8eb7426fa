"""Where the numbers of the report come from: expressions, functions, stored tables, found without running anything."""

import json
import re

import pytest

from study import chapters, claims, reading
from study.classes import comparison
from study.questions import facts as questions
from study.report import lineage, references
from study.report.expressions import EXPRESSION, expressions, places
from study.report.lineage import Symbol
from study.report.panels import Panels

EVERYTHING = [*lineage.records(), "data/published/xu_zhang_2005.csv"]


def scope(*programs):
    return lineage.Scope([("code", each, ["parameters"] if each.startswith("n = ") else []) for each in programs])


def tables(found, read=EVERYTHING):
    return [name.rpartition("/")[2] for name in lineage.files(found.reached, read) if name.endswith(".csv")]


def test_dotted_names_are_found_outermost_and_in_arguments():
    tree = lineage.ast.parse("size(a.b[0].c, *d, key=e.f(g).h[i.j])", mode="eval").body
    assert sorted(lineage.chains(tree)) == [["a", "b"], ["d"], ["e", "f"], ["g"], ["i", "j"], ["size"]]


def test_a_number_leads_through_a_gathering_function_to_its_fact_and_tables():
    notebook = scope("from study import front\nfrom study.words import percent", "results = front.facts.gathered()")
    found = notebook.lineage("percent(results.error.estimate)", 1, at_end=True)
    assert found.lines == ["results = front.facts.gathered()"] and found.parameters == []
    assert found.facts == [Symbol("study.front.facts", "error")]
    assert lineage.named("study.front.facts.orders.error") == (Symbol("study.mnist.facts", "Facts.error"), [])
    assert sorted(tables(found)) == ["mnist_held_out.csv", "mnist_orders.csv"]
    assert tables(found, ["data/results/mnist_orders.csv"]) == ["mnist_orders.csv"], "of what the notebook has read"


def test_of_a_namespace_the_part_counts_that_is_taken():
    notebook = scope("from study import questions", "found = questions.facts.gathered()")
    error, memory = (notebook.lineage(f"found.one_order.{name}", 1, at_end=True) for name in ("error", "memory"))
    assert error.facts == [Symbol("study.questions.facts", "one_order", "error")]
    whole = Symbol("study.mnist.facts", "Facts.kept", "whole"), Symbol("study.mnist.facts", "Facts.kept", "memory")
    assert whole[0] in lineage.closure(error.reached) and whole[1] not in lineage.closure(error.reached)
    assert "mnist_kept_costs.csv" in tables(memory) and "mnist_kept_costs.csv" not in tables(error)


def test_names_stand_for_the_statements_above_the_text():
    notebook = scope("n = 5  # how many", "x = n\nfew = []", "for each in range(x):\n    few.append(each)", "x = 1")
    (early, late) = (notebook.lineage("x", place) for place in (3, 2))
    assert late.lines == ["x = n"] and late.parameters == ["n = 5  # how many"] and late.facts == []
    assert early.lines == ["x = n"] and notebook.lineage("x", 0, at_end=True).lines == ["x = 1"]
    assert notebook.lineage("few[0]", 3).parameters == ["n = 5  # how many"], "a list is what is put into it"
    assert notebook.lineage("unknown.name", 3) == lineage.Lineage()


def test_a_setting_leads_to_the_tables_that_are_made_with_it():
    notebook = scope(
        "from study import doubt", "n = 20", "settings = doubt.Settings(n_orders=n)", "facts = doubt.facts.Facts(settings)",
        "other = 3", "n_left = facts.agreed.size",
    )  # fmt: skip
    for setting in ("n", "settings.n_orders"):
        assert notebook.lineage(setting, 5, at_end=True).is_setting
        assert "data/results/doubt_orders.csv" in notebook.made_with(setting, EVERYTHING)
    assert not notebook.lineage("n_left", 5, at_end=True).is_setting
    assert notebook.made_with("other", EVERYTHING) == []


@pytest.mark.parametrize(
    ("compute", "symbol"),
    [
        (lambda: questions.constant.__wrapped__(), Symbol("study.questions.facts", "the_one")),
        (lambda: comparison.compare(comparison.FULL), Symbol("study.classes.facts", "set_svm")),
        (claims.stored, Symbol("study.front.facts", "replication", "counted")),
    ],
)
def test_a_function_leads_to_all_tables_that_it_reads_when_it_is_called(compute, symbol, monkeypatch):
    monkeypatch.setattr(reading, "READ", set())
    compute()
    read = {name for name in reading.READ if name.endswith(".csv")}
    assert read and read == {name for name in lineage.files([symbol], EVERYTHING) if name.endswith(".csv")}


def executed():
    """(chapter, cells, files read) of the notebooks of the report; of each cell kind, text, tags and words."""
    for chapter, _ in chapters.report("full", web=True):
        notebook = json.loads(chapter.target("full").read_text(encoding="utf-8"))
        cells = []
        for each in notebook["cells"]:
            about = each["metadata"]
            words = "".join(about.get("words", ""))
            cells.append((each["cell_type"], "".join(each["source"]), about.get("tags", []), words))
        yield chapter, cells, notebook["metadata"]["made_from"]["files"]


def test_every_value_of_the_report_has_its_place_in_the_text():
    count = 0
    for chapter, cells, _ in executed():
        for number, (_, text, _, words) in enumerate(cells, start=1):
            body = "\n".join(line for line in words.split("\n") if not line.startswith("#"))
            found = places(references.keyed(references.addressed(words)), references.keyed(text)) if words else []
            assert [each[0] for each in found] == EXPRESSION.findall(body), f"{chapter.name}, cell {number}"
            count += len(found)
    assert count > 800


@pytest.mark.long
def test_every_value_of_the_report_leads_to_code_and_most_to_a_stored_table():
    counts = dict.fromkeys(("values", "tables", "settings", "computed"), 0)
    for chapter, cells, read in executed():
        names = lineage.Scope([each[:3] for each in cells])
        for index, (_, _, tags, words) in enumerate(cells):
            for expression in expressions(words):
                own = names.lineage(expression, index, at_end="at-end" in tags)
                files = lineage.files(own.reached, read)
                counts["values"] += 1
                counts["tables" if files else "settings" if own.is_setting else "computed"] += 1
                assert files or own.facts or own.lines or own.parameters, f"{chapter.name}: {expression}"
    assert counts["tables"] > 0.55 * counts["values"] > 400 and counts["settings"] > 50


def test_a_value_is_found_where_the_text_says_only_where_it_ends_in_one_way():
    assert places("A {eval}`a` B {eval}`b`.", "A 1 B 2.") == [("a", 2, 3), ("b", 6, 7)]
    assert places("% holds: x\n\n{eval}`n`. See [](#one).", "5\\. See Figure\N{NO-BREAK SPACE}3.") == [("n", 0, 1)]
    assert places("{eval}`a` and {eval}`a`", "x and x") == [("a", 0, 1), ("a", 6, 7)]
    assert places("# {eval}`a`\n\n{eval}`a`", "# x\n\nx") == [("a", 5, 6)]
    assert places("{eval}`a` {eval}`b`", "1 2 3") == [] == places("Other {eval}`a`", "Text 1")
    assert places("{eval}`percent(a)` {eval}`b`", "1 % 2 3") == [("percent(a)", 0, 3), ("b", 4, 7)]


def test_each_row_of_the_ledger_leads_to_the_code_of_its_source():
    numbers, _, statements = claims.stored()
    rooms = {
        source: {lineage.maker(key).module.split(".")[1] for key in rows["key"]}
        for source, rows in numbers.groupby("source")
    }
    assert rooms == {
        "Hermans 2021": {"mnist"}, "Xu & Zhang 2005": {"tables"}, "Akar & Ye 2017": {"seeds"},
        "Li & Long 1999": {"mnist"}, "Course page": {"course"},
    }  # fmt: skip
    assert {lineage.maker(key).name for key in numbers["key"]} == {"claims", "li_long"}
    assert {lineage.maker(key).name for key in statements["key"]} == {"statements"}


def test_a_panel_shows_the_columns_of_few_tables_and_counts_those_that_it_leaves_out(tmp_path):
    stored = [name for name in lineage.records() if name.startswith("data/results/budgets_")]
    for count in (2, 3, 4):
        data = dict(Panels(tmp_path / "a.html").data(stored[:count], "made with this setting: "))
        assert data["tables"].count(" rows") == min(count, 3) and data["tables"].count("; the first: ") == (count == 2) * 2
        assert ("and 1 more" in data["tables"]) == (count == 4)
        made = lineage.experiments(stored[: min(count, 3)])
        assert re.findall(r"study run (\S+)", data["compute again"]) == made
        all_of_them = dict(Panels(tmp_path / "a.html").data(stored[:count]))["tables"]
        assert all_of_them.count(" rows") == count and "more" not in all_of_them
