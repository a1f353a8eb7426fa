"""Which rows of a stored table give a number: they are found by the number alone, and agree with sums done by hand."""

import csv
import statistics
from types import SimpleNamespace

import numpy as np
import pytest

from study import ROOT
from study.report import lineage, panels, rows
from study.report.expressions import unrounded

DEGREES, ORDERS, PREDICTORS = range(2, 7), range(5), ("final", "average")


@pytest.fixture
def table(tmp_path):
    """A tidy table whose errors are no regular numbers."""
    random = np.random.RandomState(0)
    path = tmp_path / "runs.csv"
    lines = ["degree,order,predictor,errors,n,seconds"]
    for degree in DEGREES:
        for order in ORDERS:
            for predictor in PREDICTORS:
                lines.append(f"{degree},{order},{predictor},{random.randint(100, 9000)},99991,{random.rand():.12f}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


def read(name):
    """{line: row} of a table, read line by line."""
    with open(ROOT / name, encoding="utf-8", newline="") as file:
        return {reader.line_num: row for reader in [csv.DictReader(file)] for row in reader}


def rate(row):
    return int(row["errors"]) / int(row["n"])


def test_a_cell_and_a_rate_lead_to_their_line(table):
    for line, row in list(read(table).items())[::7]:
        found = rows.found(float(row["seconds"]), (table,))
        assert (found.how, found.lines) == ("seconds", ((line,),))
        assert found.columns == ("degree", "order", "predictor", "seconds")
    assert rows.found(0.123456789, (table,)) is None and rows.found(0, (table,)) is None


def test_a_mean_leads_to_all_rows_that_it_is_of(table):
    for degree in DEGREES:
        own = {n: row for n, row in read(table).items() if (row["degree"], row["predictor"]) == (str(degree), "average")}
        found = rows.found(statistics.fmean(map(rate, own.values())), (table,))
        assert (found.how, found.lines) == ("mean of errors / n", (tuple(own),))


def test_a_difference_leads_to_both_groups_whatever_its_sign(table):
    own = [[n for n, row in read(table).items() if (row["degree"], row["predictor"]) == ("4", each)] for each in PREDICTORS]
    final, average = (statistics.fmean(rate(read(table)[n]) for n in lines) for lines in own)
    for difference in (final - average, average - final):
        found = rows.found(difference, (table,))
        assert (found.how, found.lines) == ("difference in mean of errors / n", tuple(map(tuple, own)))


def test_a_number_that_several_rows_give_leads_to_the_one_that_the_code_names(tmp_path):
    path = tmp_path / "methods.csv"
    path.write_text("method,errors,n\na,146,10000\nb,146,10000\nc,901,10000\n", encoding="utf-8")
    assert rows.found(0.0146, (str(path),)) is None
    assert rows.found(0.0146, (str(path),), frozenset({"b"})).lines == ((3,),)


def test_a_number_that_may_agree_by_chance_leads_nowhere(tmp_path):
    path = tmp_path / "many.csv"
    counts = np.random.RandomState(0).permutation(np.arange(100, 180))
    lines = "".join(f"{run},{count},10000\n" for run, count in enumerate(counts))
    path.write_text(f"run,errors,n\n{lines}", encoding="utf-8")
    assert rows.found(0.0146, (str(path),)) is None, "every rate near it is in the table"
    assert rows.found(0.5, (str(path),)) is None


def test_the_first_table_that_gives_a_number_counts(table, tmp_path):
    other = tmp_path / "other.csv"
    other.write_text(f"run,value\n0,{read(table)[9]['seconds']}\n1,3.25\n", encoding="utf-8")
    number = float(read(table)[9]["seconds"])
    assert rows.found(number, (str(other), table)).table == str(other)
    assert rows.found(number, (table, str(other))).lines == ((9,),)


def test_a_row_has_its_line_in_every_stored_table():
    for name in [*lineage.records(), *lineage.published()]:
        text = (ROOT / name).read_text(encoding="utf-8")
        with open(ROOT / name, encoding="utf-8", newline="") as file:
            assert sum(1 for _ in csv.reader(file)) == text.count("\n"), f"{name}: a cell must have one line"


def test_the_numbers_behind_a_value_are_those_before_rounding():
    comparison = SimpleNamespace(estimate=1 / 3, low=0.25, high=np.float64(0.5))
    names = {
        "percent": "{:.2f} %".format, "interval": lambda found: f"{found.low} to {found.high}", "comparison": comparison,
        "rate": 2 / 3, "count": np.int64(12), "text": "0.3", "yes": True, "nothing": float("nan"),
        "recipe": SimpleNamespace(error=0.1, low=0.0, high=0.2), "out_of": lambda part, whole: f"{part} of {whole}",
    }  # fmt: skip
    shell = SimpleNamespace(ev=lambda expression: eval(expression, names))
    expected = {
        "percent(rate)": [0.666666666667], "interval(comparison)": [0.333333333333, 0.25, 0.5], "count": [12],
        "len(text)": [3], "text": [], "yes": [], "percent(nothing)": [], "interval(recipe)": [0.1, 0.0, 0.2],
        "out_of(count, rate)": [12, 0.666666666667],
    }  # fmt: skip
    assert {each: unrounded(each, shell) for each in expected} == expected


def test_no_line_breaks_between_a_number_and_the_bracket_or_comma_beside_it():
    button = '<button popovertarget="panel-1">1.5 %</button>'
    for text in (f"({button}", f"<strong>{button}</strong>,", f"({button};"):
        assert panels.together(f"of {text} and") == f'of <span class="whole">{text}</span> and'
    assert panels.together(f"of {button} and") == f"of {button} and"
