"""Words with values: forms of numbers, expressions in text cells, outcomes that hold or are left out, how texts measure."""

from types import SimpleNamespace

import nbformat
import numpy as np
import pandas as pd
import pypandoc
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from study import words
from study.report import content, display, expressions, references
from study.report.engine import with_values
from study.report.notebooks import METADATA, execute
from study.report.source import Source
from study.statistics import Difference

GAP = Difference(0.0008, -0.0009, 0.0024, 0.4, 20, "orders", "t")


def test_numbers_have_one_form():
    assert words.percent(0.01584) == "1.58 %" and words.percent(0.5, 0) == "50 %"
    assert words.points(GAP) == "+0.08" and words.points(-0.0039) == "−0.39" and words.size(-0.0039) == "0.39"
    assert words.interval(GAP) == "−0.09 to +0.24"
    lower = Difference(-0.0884, -0.1133, -0.0635, 0.001, 5, "orders", "t")
    assert words.size_interval(lower) == "6.35 to 11.33" and words.size_interval(GAP, 1) == "−0.1 to +0.2"
    assert words.size_interval(Difference(-0.0008, -0.0024, 0.0009, 0.4, 20, "orders", "t")) == "−0.09 to +0.24"
    assert words.rate_interval(SimpleNamespace(low=0.0137, high=0.018)) == "1.37 % to 1.80 %"
    assert words.span([0.0095, 0.0052]) == "0.52 to 0.95" and words.span([0.001, 0.001]) == "0.10"
    others = [GAP, Difference(0.01, 0.005, 0.0151, 0.01, 20, "orders", "t")]
    assert words.intervals(others) == words.intervals(pd.DataFrame(others)) == "−0.09 to +1.51"
    assert words.between(SimpleNamespace(low=21.6, high=32.1)) == "22 to 32"
    assert words.number(12345.6) == "12,346" and words.number(0.714, 2) == "0.71"
    found = [words.significant(value) for value in (1257.8, 9.531, 99.96, 0.00785, 0)]
    assert found == ["1,260", "9.53", "100", "0.00785", "0"]


def test_lists_have_one_form():
    found = [words.listed(values, "or") for values in ((), (4,), ("a", "b"), (7, 8, 9))]
    assert found == ["none", "4", "a or b", "7, 8 or 9"] and words.listed((), none="nothing") == "nothing"
    found = [words.in_a_row(values) for values in ([2, 3, 4], (2, 3), (2, 4, 5), [])]
    assert found == ["2 to 4", "2 and 3", "2, 4 and 5", "none"]


def test_zero_has_no_sign_and_what_is_not_finite_is_refused():
    assert words.points(-1e-9) == "0.00" and words.percent(-0.0) == "0.00 %"
    with pytest.raises(ValueError, match="must be finite, got nan"):
        words.percent(float("nan"))


@pytest.mark.parametrize("text", ["rate", "a.b", "a[0].b", "f(a)", "f(a.b['c'], 2, digits=-1)"])
def test_an_expression_is_a_name_or_one_short_call(text):
    assert expressions.expressions(f"x {{eval}}`{text}` y") == [text]


@pytest.mark.parametrize("text", ["a + b", "f(g(a))", "[a for a in b]", "f(a if b else c)", "a =", f"f({'a' * 60})"])
def test_a_longer_one_is_refused_with_the_remedy(text):
    with pytest.raises(ValueError, match="compute it in the code cell above"):
        expressions.expressions(f"{{eval}}`{text}`")


class Shell:
    """Answers as IPython does, with the values that it was given, of a notebook with a chapter or without one."""

    def __init__(self, chapter=None, **values):
        self.values = values
        self.chapter = chapter

    def ev(self, expression):
        return eval(expression, self.values)

    def user_expressions(self, asked):
        return {
            name: {"status": "ok", "data": {"text/plain": repr(self.values[name])}}
            if name in self.values
            else {"status": "error", "ename": "KeyError" if "[" in name else "NameError", "evalue": f"no {name}"}
            for name in asked
        }


def test_texts_and_integers_are_put_in_place_and_other_values_refused():
    text = "It is {eval}`rate` of {eval}`n`, {eval}`rate` again."
    said = expressions.said(text, [], Shell(rate="1.58 %", n=60000))
    assert said == ("kept", "It is 1.58\N{NO-BREAK SPACE}% of 60,000, 1.58\N{NO-BREAK SPACE}% again.", {}, "")
    with pytest.raises(ValueError, match=r"`rate`: expected a text or a whole number, got 0.5; format it"):
        expressions.said(text, [], Shell(rate=0.5, n=1))
    with pytest.raises(ValueError, match="`n`: NameError: no n"):
        expressions.said(text, [], Shell(rate="x"))


def test_no_line_breaks_between_a_number_and_its_percent_sign_and_code_is_left_alone():
    text = "A 5 % B `5 % 2`.\n```python\n7 % 3\n```\nC {eval}`n` % D\n% E"
    blank = "\N{NO-BREAK SPACE}"
    said = expressions.said(text, [], Shell(n=9))
    assert said.text == f"A 5{blank}% B `5 % 2`.\n```python\n7 % 3\n```\nC 9{blank}% D\n% E"
    assert expressions.places(text, said.text) == [("n", said.text.index("9"), said.text.index("9") + 1)]
    rate = f"It is 1.37{blank}%, 9."
    assert expressions.places("It is {eval}`percent(a)`, {eval}`n`.", rate) == [("percent(a)", 6, 12), ("n", 14, 15)]


def test_a_number_is_kept_with_all_digits_and_with_its_interval():
    row = pd.Series({"error": 0.5, "median": 0.25, "low": 0.4, "high": 0.6})
    table = {"of": row, 3: 0.1, "nothing": float("nan")}
    shell = Shell(words=words, gap=GAP, rate=np.float64(1 / 3), n=np.int64(7), m=3, row=row, table=table)
    found = {
        "words.size(gap)": ["0.0008", "-0.0009", "0.0024"],
        "words.percent(gap.estimate, 1)": ["0.0008", "-0.0009", "0.0024"],
        "words.p_value(gap.p)": ["0.4", "", ""],
        "words.percent(rate, 1)": ["0.3333333333333333", "", ""],
        "words.rate_interval(row)": ["0.5", "0.4", "0.6"],
        'words.percent(table["of"]["error"])': ["0.5", "0.4", "0.6"],
        'words.percent(row["median"])': ["0.25", "", ""],
        "words.percent(table[m])": ["0.1", "", ""],
        "n": ["7", "", ""],
    }
    without = ["len(row)", "round(rate)", "table", "gap.test", 'table["nothing"]', "words.span(*table)"]
    assert expressions.exact(" ".join(f"{{eval}}`{each}`" for each in [*found, *without]), shell) == found


def test_a_number_at_the_start_of_a_line_begins_no_list():
    said = expressions.said("There are\n{eval}`n`. Then more.\n{eval}`n` more.", [], Shell(n=50))
    assert said == ("kept", "There are\n50\\. Then more.\n50 more.", {}, "")


def test_markdown_and_html_in_a_value_show_as_text():
    value = "<b>*x*</b> [a](b) $y$ `c` | #1"
    text = expressions.said("{eval}`v`", [], Shell(v=value)).text
    assert text == r"\<b\>\*x\*\</b\> \[a\](b) \$y\$ \`c\` \| \#1"


def test_an_option_in_a_value_keeps_its_hyphens_in_every_document():
    options = "run --n-train 10 --a-b--c -1 - x ---"
    text = expressions.said("Type {eval}`v` now.", [], Shell(v=options)).text
    assert pypandoc.convert_text(text, "plain", format=content.MARKDOWN).strip() == f"Type {options} now."
    assert expressions.places("Type {eval}`v` now.", text) == [("v", 5, 5 + len(text) - len("Type  now."))]


def test_a_work_that_is_cited_has_its_address_in_an_executed_copy_and_its_key_again_in_a_document():
    said = expressions.said("By [X](#ref-xu2005).", [], Shell())
    assert said.text == "By [X](https://doi.org/10.1109/ICNNB.2005.1614728)."
    text = " ".join(f"[{key}](#ref-{key})" for key in references.addresses())
    addressed = references.addressed(text)
    known = [address for address in references.addresses().values() if address.startswith("https://")]
    assert references.cites(text) and addressed.count("](https://") == len(known) > 0
    assert references.keyed(addressed) == text and "#ref-" not in addressed
    assert references.keyed("[a](https://example.org)") == "[a](https://example.org)"


def opened(*, published=False):
    source = Source({}, set(), {"lines": "Figure", "bars": "Figure", "rows": "Table"})
    return display.OpenChapter(source, "mnist", published)


def test_a_text_is_kept_where_all_its_conditions_are_true_and_else_given_with_those_that_are_false():
    shell = Shell(opened(), n=3)
    text = "% holds: n > 2\n% holds: {conditions}\n\nA {{eval}}`n`, {{eval}}`m`."
    shell.values["m"] = 4
    assert expressions.said(text.format(conditions="n < m"), [], shell) == ("kept", "A 3, 4.", {}, "")
    del shell.values["m"]
    false = "A 3, …. (False: `n < 3`.)"
    assert expressions.said(text.format(conditions="n < 3"), [], shell) == ("left out", "", {}, false)
    with pytest.raises(ValueError, match="line 2, % holds: n < m: NameError: name 'm' is not defined"):
        expressions.said(text.format(conditions="n < m"), [], shell)


def test_after_a_false_condition_others_need_have_no_value():
    text = "% holds: len(found) == 2\n% holds: min(found) > 0\nA."
    assert expressions.said(text, [], Shell(opened(), found=[])).false == "A. (False: `len(found) == 2`.)"


def test_a_caption_whose_finding_is_false_says_what_is_shown():
    chapter = opened()
    chapter.last = pd.DataFrame({"p": [0.5]})
    text = "% holds: n < 3\n\n**All {eval}`n`\nagree.** Errors of {eval}`n` runs, **in points**.{more}"
    said = expressions.said(text.replace("{more}", ""), ["caption:rows"], Shell(chapter, n=3))
    assert said.outcome == "kept" and said.text == "**Table\N{NO-BREAK SPACE}1.** Errors of 3 runs, **in points**."
    assert said.false == "**All 3\nagree.** (False: `n < 3`.)"
    without = text.replace("{more}", " {eval}`found[6]`")
    said = expressions.said(without, ["caption:rows"], Shell(chapter, n=3, found={}))
    assert (said.outcome, said.text) == ("left out", "")
    assert said.false.startswith("**All 3\nagree.** Errors of 3 runs, **in points**. …")


def test_a_text_that_looks_up_what_another_run_lacks_is_given_without_it_and_ends_the_published_run():
    for text in ("% holds: found[6] > 0\n\nA.", "A {eval}`found[6]`."):
        said = expressions.said(text, [], Shell(opened(), found={2: 1}))
        assert said.outcome == "left out" and "(False: `found[6]" in said.false
        with pytest.raises(ValueError, match="KeyError"):
            expressions.said(text, [], Shell(opened(published=True), found={2: 1}))


def test_a_false_condition_ends_the_published_run_and_is_named_alone_with_its_line():
    text = "% holds: n > 2\n% holds: n > 3\n\nA."
    with pytest.raises(ValueError, match=r"^false in the published run: line 2, % holds: n > 3; read what is shown"):
        expressions.said(text, [], Shell(opened(published=True), n=3))


def test_another_comment_before_a_text_is_refused_since_a_mistyped_condition_guards_nothing():
    assert expressions.conditions("A.\n% holds: n") == []
    with pytest.raises(ValueError, match="must be '% holds: condition', got '% hold: n > 2'"):
        expressions.conditions("% hold: n > 2\nA.")


def test_a_text_of_the_published_run_is_left_out_of_any_other():
    assert expressions.said("A.", ["published"], Shell(opened())) == ("left out", "", {}, "")
    assert expressions.said("A.", ["published"], Shell(opened(published=True))).outcome == "kept"


def test_a_link_to_a_figure_or_a_table_becomes_its_label():
    said = expressions.said("See [](#bars) and [](#rows).", [], Shell(opened()))
    assert said.text == "See Figure\N{NO-BREAK SPACE}2 and Table\N{NO-BREAK SPACE}1."
    with pytest.raises(ValueError, match="the figures lines, bars and the tables rows, got 'row'; correct the name"):
        expressions.said("See [](#row).", [], Shell(opened()))


def test_a_caption_names_what_the_last_cell_has_shown():
    chapter = opened()
    chapter.last = pd.DataFrame({"p": [0.5]})
    said = expressions.said("A.", ["caption:rows"], Shell(chapter))
    assert said == ("kept", "**Table\N{NO-BREAK SPACE}1.** A.", {"text/markdown": "| p&nbsp; |\n| --: |\n| 0.5 |"}, "")
    with pytest.raises(ValueError, match="caption:bars: the cell above must show a figure, got a table"):
        expressions.said("A.", ["caption:bars"], Shell(chapter))
    chapter.last = None
    assert expressions.said("A.", ["caption:rows"], Shell(chapter)) == ("kept", "A.", {}, "")


OPEN = """\
import pandas as pd
from IPython import get_ipython
from study import style
from study.report.display import OpenChapter
from study.report.source import Source
OpenChapter(Source({}, set(), {"line": "Figure", "rows": "Table"}), "x", False).enter(get_ipython())"""
FIGURE = """\
figure, axis = style.canvas()
axis.plot([1, 2])
late = "late"
figure"""


def text(source, *tags):
    return new_markdown_cell(source, metadata={"tags": list(tags)} if tags else {})


def written(path, *cells):
    parameters = new_code_cell("n: int = 2  # a number", metadata={"tags": ["parameters"]})
    cells = [new_code_cell(each) if isinstance(each, str) else each for each in cells]
    nbformat.write(new_notebook(cells=[text("# T\n\n{eval}`late`", "at-end"), parameters, *cells], metadata=METADATA), path)
    return path


def test_an_execution_fills_in_what_is_known_at_that_moment_and_lists_what_does_not_hold(tmp_path, fork):
    fork()
    source = written(
        tmp_path / "a.ipynb", OPEN, text("First {eval}`n`."), FIGURE, text("Rises from {eval}`n`.", "caption:line"),
        text("% holds: n == 3\n\nTrue."), text("% holds: n == 3\n% holds: n < 3\n\nFalse, {eval}`n`."),
        text("Of print.", "published"), "n = 5", text("Last {eval}`n`, [](#line)."), "frame = pd.DataFrame([n])\nframe",
        text("% holds: n < 5\n\n**Few.** Numbers.", "caption:rows"),
    )  # fmt: skip
    execute(source, tmp_path / "out.ipynb", {"n": 3})
    cells = nbformat.read(tmp_path / "out.ipynb", as_version=4).cells
    said = [cell.source for cell in cells if cell.cell_type == "markdown"]
    head = "## Statements of the published study that do not hold in this run\n\nOf 3 texts that have conditions."
    label = "Figure\N{NO-BREAK SPACE}1"
    rows = "**Table\N{NO-BREAK SPACE}1.** Numbers."
    assert said[:-1] == ["# T\n\nlate", "First 3.", f"**{label}.** Rises from 3.", "True.", f"Last 5, {label}.", rows]
    assert said[-1].startswith(head)
    assert said[-1].endswith("- False, 3. (False: `n < 3`.)\n- **Few.** (False: `n < 5`.)")
    assert cells[0].metadata == {"tags": ["at-end"], "words": "# T\n\n{eval}`late`"}
    assert [each.metadata.get("values") for each in cells if "First" in each.source] == [{"n": ["3", "", ""]}]
    (picture,) = (output for cell in cells for output in cell.get("outputs", []) if "image/png" in output.data)
    assert picture.metadata["image/png"]["alt"] == "Figure 1. Rises from 3."


TABLES = """\
from study.words import styled
frame = pd.DataFrame({"rate": [0.25]}, index=["a"])
frame"""


def test_a_frame_shows_as_usual_unless_it_has_formats_or_a_caption(tmp_path, fork):
    fork()
    source = written(
        tmp_path / "a.ipynb", OPEN, 'late = ""', TABLES, text("Mine."), TABLES, text("With a caption.", "caption:rows"),
        'styled(frame, {"rate": ".1%"})',
    )  # fmt: skip
    execute(source, tmp_path / "out.ipynb", {})
    cells = nbformat.read(tmp_path / "out.ipynb", as_version=4).cells
    usual, captioned, with_formats = (output.data for cell in cells for output in cell.get("outputs", []))
    assert "text/html" in usual and "text/markdown" not in usual
    assert captioned.keys() == with_formats.keys() == {"text/markdown", "text/plain"}
    assert captioned["text/markdown"] == "| rate&nbsp; |\n| --: |\n| 0.25 |"
    assert with_formats["text/markdown"] == "| rate&nbsp; |\n| --: |\n| 25.0\N{NO-BREAK SPACE}% |"


def test_an_infinite_number_of_a_table_is_a_sign():
    frame = pd.DataFrame({"log loss": [0.25, np.inf], "rate": [0.5, np.inf]})
    frame.attrs["formats"] = {"log loss": ".3f", "rate": ".0%"}
    assert display.markdown(frame).splitlines()[2:] == ["| 0.250 | 50\N{NO-BREAK SPACE}% |", "| ∞ | ∞% |"]


def test_a_reader_s_own_picture_is_shown_once(tmp_path, fork):
    fork()
    plot = "import matplotlib.pyplot as plt\nlines = plt.plot([1, 2])"
    execute(written(tmp_path / "a.ipynb", OPEN, 'late = ""', plot, FIGURE), tmp_path / "out.ipynb", {})
    cells = nbformat.read(tmp_path / "out.ipynb", as_version=4).cells
    shown = [[sorted(output.data) for output in cell.outputs] for cell in cells if cell.cell_type == "code"]
    assert shown[-2:] == [[["image/png", "text/plain"]]] * 2


def test_given_values_stand_in_the_cell_of_the_parameters(tmp_path, fork):
    fork()
    execute(written(tmp_path / "a.ipynb", 'late = ""'), tmp_path / "out.ipynb", {"n": 30})
    cells = nbformat.read(tmp_path / "out.ipynb", as_version=4).cells
    assert [cell.source for cell in cells if cell.cell_type == "code"] == ["n: int = 30  # a number", 'late = ""']


def test_values_replace_defaults_and_new_names_come_last():
    defaults = 'a = "ä"  # one\nb = (\n    1\n)  # two\nc = 3'
    assert (
        with_values(defaults, '# Parameters\nc = -4\na = "x"\nd = 5\n')
        == 'a = "x"  # one\nb = (\n    1\n)  # two\nc = -4\nd = 5'
    )
    assert with_values("b = 1 + 1  # sum", "b = 7") == "b = 7  # sum"


def test_a_text_without_a_value_ends_the_run_with_its_words_and_the_error(tmp_path, fork):
    fork()
    source = written(tmp_path / "a.ipynb", text("A wrong {eval}`missing` one."))
    with pytest.raises(ValueError, match=r"missing.*NameError.*in cell 3, the text that begins 'A wrong"):
        execute(source, tmp_path / "out.ipynb", {})
    assert not (tmp_path / "out.ipynb").exists()
