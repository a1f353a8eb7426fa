"""The user's own datasets: from a CSV file to arrays, the registry that is written, and files that are refused."""

import gzip
import os
import random
import tomllib

import numpy as np
import pandas as pd
import pytest

from study import datasets
from study.datasets import delimited, fetch, own, registry
from study.datasets.__main__ import main
from study.datasets.registry import DataError

DRAW = random.Random(0)
ROWS = [[*(f"{DRAW.gauss(i % 3, 1):.3f}" for _ in range(3)), "abc"[i % 3]] for i in range(120)]
NAMES = ["f1", "f2", "f3", "target"]
COMMAS = [[*(value.replace(".", ",") for value in row[:3]), row[3]] for row in ROWS]


def table(rows=ROWS, names=NAMES, separator=","):
    """The text of a file with these rows."""
    return "".join(separator.join(map(str, row)) + "\n" for row in ([names] if names else []) + rows)


def with_first(values, places=None):
    """The rows with these values in the first column, at some rows or at all."""
    return [[values, *row[1:]] if places is None or i in places else row for i, row in enumerate(ROWS)]


def labelled(*labels):
    return [[*row[:3], labels[i % len(labels)]] for i, row in enumerate(ROWS)]


def numbered(numbers):
    return [[number, *row] for number, row in zip(numbers, ROWS, strict=True)]


def read(content, **options):
    return delimited.read(content if isinstance(content, bytes) else content.encode(), where="mine.csv", **options)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder of files, with its own places for what is registered."""
    monkeypatch.setattr(own, "OWN", tmp_path / "own.toml")
    monkeypatch.setattr(registry, "OWN", tmp_path / "own.toml")
    monkeypatch.setattr(fetch, "RAW", tmp_path / "raw")
    monkeypatch.delenv("KP_DATA", raising=False)
    return tmp_path


def written(folder, content=None, name="My Flowers.csv"):
    path = folder / name
    path.write_bytes(table().encode() if content is None else content if isinstance(content, bytes) else content.encode())
    return path


def loaded(monkeypatch, name):
    """The dataset as a new process finds it."""
    monkeypatch.setitem(registry.DATASETS, name, registry.all_datasets()[0][name])
    return datasets.load(name, download=False)


# Reading.


SAME = {
    "commas": (table(), {}),
    "semicolons": (table(separator=";"), {}),
    "tabs": (table(separator="\t"), {}),
    "runs of blanks": (table(separator="   "), {}),
    "commas and blanks": (table(separator=", "), {}),
    "a separator that is given": (table(separator="|"), {"separator": "|"}),
    "a byte order mark": (b"\xef\xbb\xbf" + table().encode(), {}),
    "line ends of Windows": (table().replace("\n", "\r\n"), {}),
    "line ends of old systems": (table().replace("\n", "\r"), {}),
    "no end of the last line": (table().rstrip(), {}),
    "blank lines": ("\n \r\n\n" + table().replace("\n", "\n\n"), {}),
    "empty rows of a spreadsheet": (table() + ",,,\n,,,\n", {}),
    "quotes": (table([[f'"{value}"' for value in row] for row in ROWS]), {}),
    "decimal commas": (table(COMMAS, separator=";"), {"decimal": ","}),
    "decimal commas and blanks": (table(COMMAS, separator=" "), {"decimal": ","}),
    "decimal commas in quotes": (table([[f'"{value}"' for value in row] for row in COMMAS]), {"decimal": ","}),
    "no-break spaces around numbers": (table([[f"\u00a0{value}\u202f" for value in row] for row in ROWS]), {}),
    "line breaks around numbers": (table([[*(f'"{value}\n"' for value in row[:3]), row[3]] for row in ROWS]), {}),
    "blanks around names": (table(names=[" f1", "f2 ", " f3 ", '"target"']), {"label": " target "}),
}


@pytest.mark.parametrize("kind", SAME)
def test_one_table_is_read_alike_in_every_usual_form(kind):
    content, options = SAME[kind]
    found = read(content, **options)
    assert np.array_equal(found.X, [[float(value) for value in row[:3]] for row in ROWS])
    assert found.y.tolist() == [row[3] for row in ROWS] and found.feature_names == ("f1", "f2", "f3")


def test_numbers_are_the_nearest_doubles():
    texts = [repr(DRAW.uniform(-1, 1) * 10.0 ** DRAW.randint(-300, 300)) for _ in range(500)] + [
        "5e-324",
        "+.5",
        "3.",
        " 7 ",
    ]
    for decimal in ".,":
        rows = "".join(f"{text.replace('.', decimal)};{'ab'[i % 2]}\n" for i, text in enumerate(texts))
        assert read("x;t\n" + rows, decimal=decimal).X[:, 0].tolist() == [float(text) for text in texts]


@pytest.mark.parametrize(
    "labels",
    [
        ("EU", "NA", "None", "null", "NaN", "n/a", "?"),
        ("01", "1", "1.0"),
        ("1" * 30, "2" * 30),
        ("True", "False"),
        ("Zürich", "日本", "Åse", "x\x85y\u2028z"),
        ("a, b", 'say "x"', "two\nlines"),
    ],
)
def test_labels_are_text_as_it_stands(labels):
    quoted = ['"' + label.replace('"', '""') + '"' for label in labels]
    assert set(read(table(labelled(*quoted))).y.tolist()) == {label.strip() for label in labels}


def test_a_file_without_a_header_names_columns_and_labels_by_position():
    rows = [[row[3], *row[:3]] for row in ROWS]
    for label in ("1", "column_1", "-4"):
        found = read(table(rows, None), header=False, label=label)
        assert found.feature_names == ("column_2", "column_3", "column_4") and set(found.y) == set("abc")
        assert len(found.y) == 120 and found.options["label"] == "column_1"
    assert read(table(names=["0", "1", "2", "t"]), header=True).feature_names == ("0", "1", "2")


def test_row_numbers_are_kept_if_they_are_named():
    content = table(numbered(range(120)), ["", *NAMES])
    assert read(content, keep=["column_1"]).feature_names == ("column_1", "f1", "f2", "f3")
    assert read(content.replace(",f1", "id,f1", 1), keep=["id"]).X[:, 0].tolist() == list(range(120))
    picture = table([[i, i, *row] for i, row in enumerate(ROWS)], ["pixel 1", "pixel 257", *NAMES])
    assert read(picture).X.shape == (120, 5), "equal columns that count are not row numbers"


HEADERLESS = (
    r"line 1: this looks like data and not like a header, since a name is a (number|value of .*'target'): .*--no-header"
)
ROW_NUMBERS = "'id' .* looks like row numbers, .* keep it with --keep 'id'"
REFUSED = {
    "another encoding": (table().replace("b", "ä", 1).encode("latin-1"), "line 3: the byte 0xe4 is not UTF-8; save"),
    "UTF-16": (table().encode("utf-16"), "UTF-16; save it as UTF-8"),
    "UTF-16 without a mark": (table().encode("utf-16-le"), "line 1: there is a zero byte; save"),
    "a zero byte": (table(with_first("1\0", {4})), "line 6: there is a zero byte"),
    "gzip": (gzip.compress(table().encode()), "packed with gzip; unpack it first"),
    "a spreadsheet": (b"PK\x03\x04\x14\0", "a spreadsheet or a zip archive; save the sheet as CSV"),
    "a web page": ("<!DOCTYPE html>\n<html>", "a web page; download the file itself"),
    "nothing": ("", "the file is empty; give"),
    "blanks": (" \n\n\t\n", "the file is empty; give"),
    "a header alone": ("x,y\n", "there are no rows below the header; give"),
    "one column": ("y\n" + "1\n2\n" * 60, "there is only one column, as no commas, .* --separator"),
    "one field of 10 MB": ("x" * 10_000_000, "there is only one column"),
    "a label of 10 MB": (table([*ROWS[:5], [1, 2, 3, "z" * 10_000_000]]), "line 7: the label in 'target' has 10,000,000"),
    "a line of 10 MB": ("1," * 5_000_000 + "a\n", "line 1: there are 5,000,001 columns; give at most 100,000"),
    "an open quote": (table(labelled("a", "b", "c")).replace(",a\n", ',"a\n', 1), "line 2: a quote is opened and never"),
    "a field too many": (table([*ROWS[:9], [*ROWS[9], "x"], *ROWS[10:]]), "line 11: there are 5 fields, but 4 in"),
    "a field too few": (table([*ROWS[:9], ROWS[9][:3], *ROWS[10:]]), "line 11: there is no label in 'target'; fill it in"),
    "a title": ("My flowers\n" + table(), "line 2: there are 4 fields, but 1 in .*; delete lines above the names"),
    "the separator of a spreadsheet": ("sep=;\n" + table(separator=";"), "line 2: .* delete lines above the names .* sep=;"),
    "row names of R": (
        table([[f'"{i}"', *row] for i, row in enumerate(ROWS)], separator=" "), r"line 2: .* \(R: row.names=FALSE\)"
    ),
    "decimal commas": (table(COMMAS, separator=";"), "line 2: decimal commas in f1, f2, f3, such as '.*'; add --decimal ,"),
    "bare decimal commas": (table(COMMAS), "line 2: there are 7 fields, .* decimal commas in quotes, or save"),
    "no header": (table(names=None), HEADERLESS),
    "a header of labels": (table(names=["a", "f2", "f3", "target"]), HEADERLESS),
    "names that are numbers": (table(names=["0", "1", "2", "t"]), HEADERLESS),
    "a column without a name": (table(numbered(range(120)), ["", *NAMES]), "line 1: column 1 has no name; .*index=False"),
    "separators at line ends": (table([[*row, ""] for row in ROWS], [*NAMES, ""]), "column 5 has no name; .*ends of lines"),
    "a name twice": (table(names=["f1", "f1 ", "f3", "t"]), "line 1: several columns are called 'f1'; give each"),
    "row numbers": (table(numbered(range(1, 121)), ["id", *NAMES]), ROW_NUMBERS),
    "row numbers that go down": (table(numbered(range(120, 0, -1)), ["id", *NAMES]), ROW_NUMBERS),
    "row numbers with gaps": (table(numbered(i * i for i in range(120)), ["id", *NAMES]), ROW_NUMBERS),
    "shuffled row numbers": (table(numbered(i * 7 % 120 for i in range(120)), ["id", *NAMES]), ROW_NUMBERS),
    "words": (table(with_first("red", {3})), "line 5: words in f1, such as 'red'; write them as numbers"),
    "true and false": (table(with_first("True")), "line 2: words in f1, such as 'True'"),
    "a Python number": (table(with_first("1_000")), "words in f1, such as '1_000'"),
    "a line break in quotes": (table(with_first('"1\n2"', {7})), "line 9: words in f1"),
    "a wrong line below longer ones": (
        table([["x" if i == 50 else row[0], *row[1:]] for i, row in enumerate(labelled('"a\nb"', "c"))]),
        "line 77: words in f1",
    ),
    "no value": (table(with_first("", {5})), "line 7: missing values in f1, such as an empty field; fill them in"),
    "question marks": (table(with_first("?", {5})), r"line 7: missing values in f1, such as '\?'"),
    "NA": (table(with_first("NA", {5})), "line 7: missing values in f1, such as 'NA'"),
    "an infinite number": (table(with_first("-inf", {5})), "line 7: infinite numbers in f1, such as '-inf'"),
    "a number that is too large": (table(with_first("1e999", {5})), "line 7: infinite numbers in f1, such as '1e999'"),
    "no label": (table(labelled(*"ab" * 5, "")), "line 12: there is no label in 'target'"),
    "one label": (table(labelled("a")), "'a' is the only label in 'target'"),
}  # fmt: skip


@pytest.mark.parametrize("kind", REFUSED)
def test_a_file_that_could_be_misread_is_refused_with_its_line_or_column_and_the_remedy(kind):
    content, message = REFUSED[kind]
    with pytest.raises(DataError, match=f"^mine.csv.*{message}") as caught:
        read(content)
    assert "np.str_" not in str(caught.value) and "\n" not in str(caught.value) and len(str(caught.value)) < 600


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"label": "targte"}, "no column 'targte'; the columns are 'f1', 'f2', 'f3', 'target'; did you mean 'target'"),
        ({"label": "4"}, "no column '4'"),
        ({"header": False, "label": 5}, "no column '5'; the columns are 'column_1', 'column_2'"),
        ({"keep": ["id"]}, "no column 'id' to keep; the columns are 'f1'"),
        ({"decimal": ";"}, "--decimal: got ';'; give . or ,"),
        ({"separator": "ab"}, "--separator: got 'ab'; give tab, semicolon, comma, blanks, or one character"),
        ({"separator": "5"}, "--separator: got '5'"),
        ({"separator": "|"}, "there is only one column, 'f1,f2,f3,target'"),
        ({"decimal": ","}, "line 2: decimal points in f1, f2, f3, such as '.*'; leave out --decimal ,"),
    ],
)
def test_an_option_that_does_not_fit_the_file_is_refused(options, message):
    with pytest.raises(DataError, match=message):
        read(table(), **options)


def test_a_file_that_cannot_be_read_is_named_and_a_link_is_followed(folder):
    path = folder / "mine.csv"
    for make, message in (
        (lambda: None, "the file cannot be read: No such file"),
        (lambda: path.symlink_to(folder / "nowhere"), "the file cannot be read: No such file"),
        (path.mkdir, "this is a folder or a device; give a CSV file"),
        (lambda: os.mkfifo(path), "this is a folder or a device; give a CSV file"),
    ):
        make()
        with pytest.raises(DataError, match=f"^{path}: {message}"):
            datasets.read_csv(path)
        if path.is_dir():
            path.rmdir()
        path.unlink(missing_ok=True)
    path.symlink_to(written(folder))
    data = datasets.read_csv(path)
    assert data.X.shape == (120, 3) and data.classes == data.target_names == ("a", "b", "c") and not data.y.flags.writeable


# Registering.


OPTIONS = {
    "decimal commas": (table(COMMAS, separator=";"), ["--label", "target", "--decimal", ","]),
    "no header": (table(names=None), ["--label", "-1", "--no-header"]),
    "a header of numbers": (table(names=["0", "1", "2", "t"]), ["--label", "t", "--header"]),
    "row numbers": (table(numbered(range(120)), ["id", *NAMES]), ["--label", "target", "--keep", "id"]),
    "a separator": (table(separator="|"), ["--label", "target", "--separator", "|"]),
    "runs of blanks": (table(separator="  "), ["--label", "target"]),
}


@pytest.mark.parametrize("kind", OPTIONS)
def test_a_registered_file_is_loaded_as_it_was_read(folder, monkeypatch, kind):
    content, options = OPTIONS[kind]
    assert main(["add", str(written(folder, content)), *options]) == 0
    data = loaded(monkeypatch, "my-flowers")
    assert data.X[:, -3:].tolist() == [[float(value) for value in row[:3]] for row in ROWS]
    assert data.y.tolist() == [row[3] for row in ROWS] and data.classes == ("a", "b", "c")


HOSTILE = ['5" disk', "back\\slash", "two\nlines", "ä]\u2028[x]", "'''", '"""', "# no comment", "[iris]", "a = 1"]


@pytest.mark.parametrize("label", HOSTILE)
def test_any_name_of_a_column_or_label_stands_in_the_registry(folder, monkeypatch, label):
    quoted = '"{}' + label.replace('"', '""') + '"'
    own.enter(written(folder), "target", "first")
    content = table(labelled(quoted.format("y"), "other"), [quoted.format("x"), "f2", "f3", quoted.format("")])
    own.enter(written(folder, content, 'a"b\\.csv'), label, "mine")
    assert list(registry.read(own.OWN)) == ["first", "mine"]
    data = loaded(monkeypatch, "mine")
    assert data.classes == tuple(sorted([f"y{label}", "other"])) and data.feature_names[0] == f"x{label}"


def test_text_that_the_user_wrote_into_the_registry_stays(folder):
    own.enter(written(folder), "target", "first")
    corrected = "# mine\n" + own.OWN.read_text().replace('licence = "not given"', 'licence = "CC0"')
    own.OWN.write_text(corrected)
    own.enter(written(folder), "target", "second")
    assert own.OWN.read_text().startswith(corrected.rstrip())
    own.enter(written(folder), "target", "second", replace=True)
    assert tomllib.loads(own.OWN.read_text())["first"]["licence"] == "CC0"


def test_a_registry_that_is_broken_stops_only_who_names_a_dataset_of_it(folder, monkeypatch, capsys):
    own.OWN.write_text('[mine]\ntitle = "5" disk"\n')
    before = own.OWN.read_bytes()
    found, problem = registry.all_datasets()
    assert list(found) == list(registry.read(registry.PATH))
    for text in (f"{own.OWN}: the registry of datasets cannot be read: ", "line 2", "correct or delete"):
        assert text in problem
    assert "restore it with git" not in problem
    monkeypatch.setattr(registry, "DATASETS", found)
    monkeypatch.setattr(registry, "OWN_PROBLEM", problem)
    assert datasets.load("iris-bundled").X.shape == (150, 4)
    with pytest.raises(
        DataError, match="'mine': there is no dataset of this name .*own.toml: .*correct or delete"
    ) as caught:
        datasets.load("mine")
    assert "\n" not in str(caught.value)
    monkeypatch.setattr("study.datasets.__main__.OWN_PROBLEM", problem)
    assert main(["list"]) == 0 and problem in capsys.readouterr().err
    assert main(["add", str(written(folder)), "--label", "target"]) == 1
    assert capsys.readouterr().err == f"{problem}\n" and own.OWN.read_bytes() == before and not fetch.RAW.exists()


def test_a_dataset_that_an_earlier_version_registered_is_registered_again_by_one_command(folder, monkeypatch, capsys):
    own.enter(written(folder), "target", "old")
    entry = tomllib.loads(own.OWN.read_text())["old"]
    entry |= {"parser": "tables", "options": {"separator": ",", "label": 3, "labels": "str", "header": 1}}
    own.OWN.write_text(own.tomli_w.dumps({"old": entry}))
    with pytest.raises(DataError, match=r"old: registered by an earlier version, .*Labels: column target") as caught:
        loaded(monkeypatch, "old")
    command = str(caught.value).partition("-m study.datasets ")[2].partition("'")[0].replace("COLUMN", "target")
    assert main(command.split()) == 0
    assert loaded(monkeypatch, "old").X.shape == (120, 3)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (with_first("-1e300", {7}), "numbers in 'f1' are too large to compute with, such as -1e\\+300; leave out rows"),
        (ROWS[:99], "there are 99 rows; collect at least 100"),
        (labelled(*"ab" * 15, "c"), "1 of 3 labels in 'target' have fewer than 5 rows, such as 'c'; join them with others"),
    ],
)
def test_files_with_too_few_rows_or_too_large_numbers_are_refused(folder, rows, message):
    with pytest.raises(DataError, match=message):
        own.enter(written(folder, table(rows)), "target")
    assert not own.OWN.exists() and not fetch.RAW.exists()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("inf", "cannot be read as a number; give one with --name"),
        ("../x", "small letters, digits and hyphens"),
        ("iris", "the study has a dataset of this name; give another with --name"),
    ],
)
def test_a_name_that_is_in_use_or_cannot_be_one_is_refused(folder, name, message):
    with pytest.raises(DataError, match=message):
        own.enter(written(folder), "target", name)


def test_a_file_that_changed_is_refused_with_the_remedy_that_works(folder, monkeypatch, capsys):
    path = written(folder)
    add = ["add", str(path), "--label", "target"]
    assert main([*add, "--name", "first"]) == main(add) == main([*add, "--name", "last"]) == 0
    others = {name: each for name, each in registry.read(own.OWN).items() if name != "my-flowers"}
    written(folder, table(labelled("a", "b", "b")))
    capsys.readouterr()
    assert main(add) == 1
    assert f"my-flowers: a dataset of this name is registered in {own.OWN}; add --replace" in capsys.readouterr().err
    assert main([*add, "--replace"]) == 0
    found = registry.read(own.OWN)
    assert list(found) == ["first", "last", "my-flowers"] and found["my-flowers"].counts == (40, 80)
    assert all(found[name].files == others[name].files for name in others)

    kept = fetch.RAW / found["my-flowers"].files[0].path
    pd.DataFrame({"x": [5, 6] * 50, "y": [0, 1] * 50}).to_csv(kept, index=False)
    with pytest.raises(DataError, match="register what is there now with .* add FILE.csv --label COLUMN --replace"):
        loaded(monkeypatch, "my-flowers")
    assert main(["add", str(kept), "--label", "y", "--replace"]) == 0
    assert loaded(monkeypatch, "my-flowers").X.tolist() == 50 * [[5], [6]]
    kept.unlink()
    with pytest.raises(DataError, match="own/my-flowers.csv: the file was not found in .*; put it back, or register"):
        loaded(monkeypatch, "my-flowers")
