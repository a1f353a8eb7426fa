"""Words with values: forms of numbers, expressions in text cells, outcomes that hold or are left out, how texts measure."""

from types import SimpleNamespace

import nbformat
import pandas as pd
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from study import words
from study.report import display, expressions, references
from study.report.notebooks import METADATA, execute
from study.report.origin import made_from
from study.statistics import Difference

GAP = Difference(0.0008, -0.0009, 0.0024, 0.4, 20, "orders", "t")


def test_numbers_have_one_form():
    assert words.percent(0.01584) == "1.58 %" and words.percent(0.5, 0) == "50 %"
    assert words.points(GAP) == "+0.08" and words.points(-0.0039) == "−0.39" and words.size(-0.0039) == "0.39"
    assert words.interval(GAP) == "−0.09 to +0.24"
    assert words.rate_interval(SimpleNamespace(low=0.0137, high=0.018)) == "1.37 % to 1.80 %"
    assert words.span([0.0095, 0.0052]) == "0.52 to 0.95" and words.span([0.001, 0.001]) == "0.10"
    others = [GAP, Difference(0.01, 0.005, 0.0151, 0.01, 20, "orders", "t")]
    assert words.intervals(others) == words.intervals(pd.DataFrame(others)) == "−0.09 to +1.51"
    assert words.between(SimpleNamespace(low=21.6, high=32.1)) == "22 to 32" and words.out_of(65, 9769) == "65 of 9,769"
    assert words.number(12345.6) == "12,346" and words.number(0.714, 2) == "0.71"
    found = [words.significant(value) for value in (1257.8, 9.531, 99.96, 0.00785, 0)]
    assert found == ["1,260", "9.53", "100", "0.00785", "0"]


def test_zero_has_no_sign_and_what_is_not_finite_is_refused():
    assert words.points(-1e-9) == "0.00" and words.percent(-0.0) == "0.00 %"
    with pytest.raises(ValueError, match="must be finite, got nan"):
        words.percent(float("nan"))


@pytest.mark.parametrize("text", ["rate", "a.b", "a[0].b", "f(a)", "f(a.b['c'], 2, digits=-1)", "chapter.label('x')"])
def test_an_expression_is_a_name_or_one_short_call(text):
    assert expressions.expressions(f"x {{eval}}`{text}` y") == [text]


@pytest.mark.parametrize("text", ["a + b", "f(g(a))", "[a for a in b]", "f(a if b else c)", "a =", f"f({'a' * 60})"])
def test_a_longer_one_is_refused_with_the_remedy(text):
    with pytest.raises(ValueError, match="compute it in the code cell above"):
        expressions.expressions(f"{{eval}}`{text}`")


class Shell:
    """Answers as IPython does, with the values that it was given."""

    def __init__(self, **values):
        self.values = values

    def user_expressions(self, asked):
        return {
            name: {"status": "ok", "data": {"text/plain": repr(self.values[name])}}
            if name in self.values
            else {"status": "error", "ename": "NameError", "evalue": f"no {name}"}
            for name in asked
        }


def test_texts_and_integers_are_put_in_place_and_other_values_refused():
    text = "It is {eval}`rate` of {eval}`n`, {eval}`rate` again."
    assert expressions.said(text, [], Shell(rate="1.58 %", n=60000)) == ("kept", "It is 1.58 % of 60,000, 1.58 % again.")
    with pytest.raises(ValueError, match=r"`rate`: expected a text or a whole number, got 0.5; give it a form"):
        expressions.said(text, [], Shell(rate=0.5, n=1))
    with pytest.raises(ValueError, match="`n`: NameError: no n"):
        expressions.said(text, [], Shell(rate="x"))


def test_a_number_at_the_start_of_a_line_begins_no_list():
    said = expressions.said("There are\n{eval}`n`. Then more.\n{eval}`n` more.", [], Shell(n=50))
    assert said == ("kept", "There are\n50\\. Then more.\n50 more.")


def test_markdown_and_html_in_a_value_show_as_text():
    value = "<b>*x*</b> [a](b) $y$ `c` | #1"
    _, text = expressions.said("{eval}`v`", [], Shell(v=value))
    assert text == r"\<b\>\*x\*\</b\> \[a\](b) \$y\$ \`c\` \| \#1"


def test_a_work_that_is_cited_has_its_address_in_an_executed_copy_and_its_key_again_in_a_document():
    assert expressions.said("By [X](#ref-xu2005).", [], Shell())[1] == "By [X](https://doi.org/10.1109/ICNNB.2005.1614728)."
    text = " ".join(f"[{key}](#ref-{key})" for key in references.addresses())
    addressed = references.addressed(text)
    known = [address for address in references.addresses().values() if address.startswith("https://")]
    assert references.cites(text) and addressed.count("](https://") == len(known) > 0
    assert references.keyed(addressed) == text and "#ref-" not in addressed
    assert references.keyed("[a](https://example.org)") == "[a](https://example.org)"


class Chapter:
    """An open chapter."""

    shown = "Figure\N{NO-BREAK SPACE}2"
    published = False

    def is_kept(self, name):
        return {"yes": True, "no": False}[name]


def test_tags_say_what_becomes_of_a_text():
    shell = Shell(n=3)
    chapter = Chapter()
    assert expressions.said("A.", ["holds:yes"], shell, chapter) == ("kept", "A.")
    assert expressions.said("A {eval}`n`, {eval}`m`.", ["holds:yes", "holds:no"], shell, chapter) == ("false", "A 3, ….")
    assert expressions.said("A.", ["published"], shell, chapter) == ("left out", "")
    assert expressions.said("A.", ["caption"], shell, chapter) == ("kept", "**Figure\N{NO-BREAK SPACE}2.** A.")
    with pytest.raises(KeyError):
        expressions.said("A.", ["holds:other"], shell, chapter)


def opened(*, published=False):
    source = display.Source({}, set(), ("lines", "bars"), ("rows",), frozenset({"never-beaten"}))
    return display.OpenChapter(source, "mnist", published)


def test_a_statement_that_does_not_hold_ends_the_published_run_and_no_other():
    opened().holds("never-beaten", False)
    with pytest.raises(ValueError, match="'never-beaten' does not hold in the published run"):
        opened(published=True).holds("never-beaten", False)
    with pytest.raises(ValueError, match="expected a text cell with the tag holds:other, got none"):
        opened().holds("other", True)
    with pytest.raises(KeyError, match="no code above says chapter.holds"):
        opened().is_kept("never-beaten")


OPEN = """\
import pandas as pd
from study import style
from study.report.display import OpenChapter, Source
source = Source({}, set(), ("line",), ("rows",), frozenset({"yes", "no"}))
chapter = OpenChapter(source, "x", False)
chapter.holds("yes", True)
chapter.holds("no", False)"""
FIGURE = """\
figure, axis = style.canvas()
axis.plot([1, 2])
late = "late"
chapter.figure("line", figure)"""


def text(source, *tags):
    return new_markdown_cell(source, metadata={"tags": list(tags)} if tags else {})


def written(path, *cells):
    parameters = new_code_cell("n: int = 2  # a number", metadata={"tags": ["parameters"]})
    cells = [new_code_cell(each) if isinstance(each, str) else each for each in cells]
    nbformat.write(new_notebook(cells=[text("# T\n\n{eval}`late`", "at-end"), parameters, *cells], metadata=METADATA), path)
    return path


def test_an_execution_fills_in_what_is_known_at_that_moment_and_lists_what_does_not_hold(tmp_path):
    source = written(
        tmp_path / "a.ipynb", OPEN, text("First {eval}`n`."), FIGURE, text("Rises from {eval}`n`.", "caption"),
        text("True.", "holds:yes"), text("False, {eval}`n`.", "holds:no"), text("Of print.", "published"), "n = 5",
        text("Last {eval}`n`, {eval}`chapter.label('line')`."),
    )  # fmt: skip
    execute(source, tmp_path / "out.ipynb", {"n": 3})
    cells = nbformat.read(tmp_path / "out.ipynb", as_version=4).cells
    said = [cell.source for cell in cells if cell.cell_type == "markdown"]
    head = "## Statements of the published study that do not hold in this run\n\nOf 2 statements that were tried."
    label = "Figure\N{NO-BREAK SPACE}1"
    assert said[:-1] == ["# T\n\nlate", "First 3.", f"**{label}.** Rises from 3.", "True.", f"Last 5, {label}."]
    assert said[-1].startswith(head) and said[-1].endswith("- False, 3.")
    assert cells[0].metadata == {"tags": ["at-end"], "words": "# T\n\n{eval}`late`"}
    (picture,) = (output for cell in cells for output in cell.get("outputs", []) if "image/png" in output.data)
    assert picture.metadata["image/png"]["alt"] == "Figure 1. Rises from 3."


def test_a_text_without_a_value_ends_the_run_with_its_words_and_the_error(tmp_path):
    source = written(tmp_path / "a.ipynb", text("A wrong {eval}`missing` one."))
    with pytest.raises(ValueError, match=r"missing.*NameError.*text that begins 'A wrong"):
        execute(source, tmp_path / "out.ipynb", {})
    assert not (tmp_path / "out.ipynb").exists()


def test_what_only_the_words_reach_counts_in_the_fingerprint(tmp_path):
    cells = ["from study import words", text("Rate: {eval}`words.percent(n)`.")]
    source = written(tmp_path / "a.ipynb", *cells)
    without = written(tmp_path / "b.ipynb", cells[0], text("Rate: {eval}`n`."))
    assert made_from(source, {})["code"] != made_from(without, {})["code"]
