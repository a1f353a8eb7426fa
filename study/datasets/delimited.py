"""The reader of the user's own CSV files: the bytes of a table in, attributes and labels out.

pandas splits the text into fields by the rules of CSV, and every field stays text until its column is known: attributes
are finite decimal numbers, the label is text. Blank lines and blanks around a field are ignored. Any other file is refused
with a DataError that names the line or the column and says what to do.
"""

import contextlib
import csv
import difflib
import io
import re
from collections import Counter
from itertools import islice
from typing import NamedTuple

import numpy as np
import pandas as pd

from study.datasets.registry import DataError

SEPARATORS = {"tab": "\t", "semicolon": ";", "comma": ",", "blanks": r"\s+"}
"""Separators of columns, in the order in which they are tried: semicolons before commas, which may be decimal commas."""
SNIFFED = 100
"""Rows from which the separator is found."""
MOST_COLUMNS = 100_000
LONGEST_LABEL = 200
"""Characters."""
NAMES_SHOWN = 20
CHARACTERS_SHOWN = 60
"""Limits on what a message quotes."""
FEWEST_COUNTED = 10
"""Rows; in fewer of them a column may go up by chance."""
NUMBERS = {
    decimal: re.compile(rf"[ \t]*+[+-]?+(?:[0-9]++(?:{point}[0-9]*+)?+|{point}[0-9]++)(?:[eE][+-]?+[0-9]++)?+[ \t]*+")
    for decimal, point in ((".", r"\."), (",", ","))
}
COLUMNS = {decimal: re.compile(f"(?:{number.pattern}\n)*+") for decimal, number in NUMBERS.items()}
"""A column of numbers, with a line break after each."""
MISSING = {"", "?", "-", ".", "na", "n/a", "#n/a", "<na>", "nan", "null", "none", "nil", "missing"}
"""Signs of a missing attribute, in small letters."""
INFINITE = re.compile(r"[+-]?inf(inity)?", re.IGNORECASE)
ABOVE = "; delete lines above the names of the columns, such as a title, a comment or sep=;"
FAULTS = {
    "comma": "decimal commas in {columns}, such as {value}; add --decimal , (in Python: decimal=',')",
    "point": "decimal points in {columns}, such as {value}; leave out --decimal , or write decimal commas everywhere",
    "words": "words in {columns}, such as {value}; write them as numbers, or leave these columns out",
    "infinite": "infinite numbers in {columns}, such as {value}; replace them by finite ones, or leave these rows out",
    "missing": "missing values in {columns}, such as {value}; fill them in, or leave these rows out",
}
"""Faults of a column of attributes, the most telling one first, as messages."""
OTHER_FILES = {
    b"\x1f\x8b": "packed with gzip; unpack it first",
    b"PK\x03\x04": "a spreadsheet or a zip archive; save the sheet as CSV in UTF-8, or unpack the archive",
    b"\xd0\xcf\x11\xe0": "a spreadsheet; save the sheet as CSV in UTF-8",
    b"BZh": "packed with bzip2; unpack it first",
    b"\xfd7zXZ": "packed with xz; unpack it first",
    b"PAR1": "a Parquet file; save the table as CSV in UTF-8",
    b"<!": "a web page; download the file itself",
    b"<html": "a web page; download the file itself",
    b"<?xml": "XML; save the table as CSV in UTF-8",
    b"\xff\xfe": "text in UTF-16; save it as UTF-8",
    b"\xfe\xff": "text in UTF-16; save it as UTF-8",
}
"""The first bytes of files that are not CSV files in UTF-8."""


class Table(NamedTuple):
    """X (n, d) float64 and y (n,) text, in the order of the file; options are the keywords of `read` that were used."""

    X: np.ndarray
    y: np.ndarray
    feature_names: tuple[str, ...]
    options: dict


def arrays(file, **options):
    """(X, y, None, None) of a registered CSV file (where, bytes); options are the keywords of `read`."""
    table = read(file[1], where=file[0], **options)
    return table.X, table.y, None, None


def read(blob, *, where, label=None, separator=None, decimal=".", header=None, keep=()):
    """The Table in the bytes of a CSV file; `where` names the file in messages.

    label is the name of the label column; None is the last column. separator is a key of SEPARATORS or one character,
    found in the first rows if None. decimal is "." or ",". header says whether the first line holds the names of the
    columns; None means that it does, and refuses names that look like data. Without a header the columns are called
    column_1, column_2, ..., and label may be a position, counted from 1, or from the end if negative. keep names attributes
    that look like row numbers or have no name (column_1, ...).
    """
    if decimal not in NUMBERS:
        raise DataError(f"--decimal: got {decimal!r}; give . or ,")
    text = _text(blob, where)
    blank = re.match(r"(?:[ \t]*(?:\r\n|\r|\n))*+", text).group()
    text = text[len(blank) :]
    if not text.strip():
        raise DataError(f"{where}: the file is empty; give a file with a line of names and rows of values")
    separator = separator or _separator(text, where)
    skipped = _breaks(blank)
    frame = _fields(text, separator, where, skipped)
    first = f"{where}, line {skipped + 1}"
    found = [name.strip() for name in frame.iloc[0]]
    has_names = header is not False
    names = [name if name and has_names else f"column_{i}" for i, name in enumerate(found, start=1)]
    if header is None:
        _check_header(first, [name for name in found if any(each.fullmatch(name) for each in NUMBERS.values())], "a number")
    place = _place(label, names, has_names, where)
    label = names[place]
    body = frame.iloc[int(has_names) :]
    empty = body[body[place] == ""]
    body = body.drop(index=empty.index[(empty == "").all(axis=1)])
    if body.empty:
        raise DataError(f"{where}: there are no rows{' below the header' * has_names}; give a file with rows of values")
    y = body[place].str.strip()
    if header is None:
        _check_header(first, sorted(set(found) & set(y) - {""}), f"a value of the label column {label!r}")
    unnamed = [name for name, own in zip(names, found, strict=True) if has_names and not own]
    _check_names(first, names, unnamed, keep)
    line = _Lines(frame, skipped, where)
    _check_labels(y, label, line)
    X = _numbers(body, {name: i for i, name in enumerate(names) if i != place}, decimal, line)
    features = tuple(name for name in names if name != label)
    _check_row_numbers(X, features, keep, where)
    options = {"label": label, "separator": separator, "decimal": decimal, "header": has_names, "keep": list(keep)}
    return Table(X, np.array(y.tolist()), features, options)


class _Lines(NamedTuple):
    """Where the rows of a frame stand in the file."""

    frame: pd.DataFrame
    skipped: int
    where: str

    def of(self, row):
        """The file and the line in which a row begins; fields in quotes may have line breaks."""
        above = self.frame.iloc[:row]
        return f"{self.where}, line {1 + self.skipped + row + sum(_breaks(value) for i in above for value in above[i])}"


def _breaks(text):
    """The number of line breaks, of any system, in a text."""
    return text.count("\n") + text.count("\r") - text.count("\r\n")


def _text(blob, where):
    """The text of bytes in UTF-8, with or without a byte order mark."""
    for start, what in OTHER_FILES.items():
        if blob.startswith(start):
            raise DataError(f"{where}: not a CSV file in UTF-8, but {what}")
    if (place := blob.find(b"\0")) >= 0:
        raise DataError(f"{where}, line {_line_of(blob, place)}: there is a zero byte; save the table as CSV in UTF-8")
    try:
        return blob.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(
            f"{where}, line {_line_of(blob, error.start)}: the byte {blob[error.start]:#04x} is not UTF-8; "
            "save the file as UTF-8"
        ) from error


def _line_of(blob, place):
    return _breaks(blob[:place].decode("latin-1")) + 1


def _separator(text, where):
    """The key of SEPARATORS that gives most of the first rows one and the same number of fields, at least two."""
    shares = {name: _share(text, separator) for name, separator in SEPARATORS.items()}
    best = max(shares, key=shares.get)
    if not shares[best]:
        raise DataError(
            f"{where}: there is only one column, as no commas, semicolons, tabs or blanks separate fields; "
            "give a file with columns of numbers and a column of labels, or its separator with --separator"
        )
    return best


def _share(text, separator):
    """The share of the first rows that have the most frequent number of fields; 0 if that is one field."""
    lines = io.StringIO(text, newline="")
    if separator == SEPARATORS["blanks"]:
        lines = (" ".join(line.split()) for line in lines)
        separator = " "
    found = Counter()
    with contextlib.suppress(csv.Error):  # a field beyond csv.field_size_limit
        for row in islice(filter(None, csv.reader(lines, delimiter=separator, skipinitialspace=True)), SNIFFED):
            found[len(row)] += 1
    fields, count = max(found.items(), key=lambda item: item[1], default=(0, 0))
    return count / found.total() if fields > 1 else 0


def _fields(text, separator, where, skipped):
    """All fields as text, a row for each line, blank ones too; fields that a line lacks at its end are empty."""
    character = SEPARATORS.get(separator, separator)
    if separator not in SEPARATORS and not re.fullmatch(r"[^\w\s\"'.+-]", separator):
        raise DataError(f"--separator: got {separator!r}; give {', '.join(SEPARATORS)}, or one character such as |")
    line = next(io.StringIO(text, newline=""))
    if (fields := len(line.split(None if separator == "blanks" else character))) > MOST_COLUMNS:
        raise DataError(f"{where}, line {skipped + 1}: there are {fields:,} columns; give at most {MOST_COLUMNS:,}")
    try:
        return pd.read_csv(
            io.StringIO(text), sep=character, header=None, index_col=False, dtype=str, na_filter=False,
            skip_blank_lines=False, skipinitialspace=True, quotechar='"', doublequote=True, engine="c",
        )  # fmt: skip
    except pd.errors.ParserError as error:
        raise DataError(f"{where}, {_problem(str(error), separator, skipped)}") from error


def _problem(message, separator, skipped):
    """The line that pandas cannot split, and the remedy."""
    if more := re.search(r"Expected (\d+) fields in line (\d+), saw (\d+)", message):
        expected, line, found = map(int, more.groups())
        hint = "; leave row names out (R: row.names=FALSE)" if found == expected + 1 else ABOVE
        hint += "; put numbers with decimal commas in quotes, or save with semicolons" if separator == "comma" else ""
        return (
            f"line {line + skipped}: there are {found} fields, but {expected} in the line above (separator: {separator}); "
            f"give each column a name and a value in each line, or give another --separator{hint}"
        )
    if quote := re.search(r"EOF inside string starting at row (\d+)", message):
        return f"line {int(quote.group(1)) + 1 + skipped}: a quote is opened and never closed; close it or delete it"
    return f"found: {message.strip()}; write it as CSV"


def _check_header(first, found, what):
    """Raise DataError if the first line has names that look like data."""
    if found:
        raise DataError(
            f"{first}: this looks like data and not like a header, since a name is {what}: {_quoted(found)}; add "
            "--no-header if the file has no line of names (in Python: header=False), or --header if it has (header=True)"
        )


def _place(label, names, has_names, where):
    """The index of the label column."""
    if len(names) == 1:
        raise DataError(f"{where}: there is only one column, {names[0]!r}; give columns of numbers and a column of labels")
    if label is None:
        return len(names) - 1
    label = str(label).strip()
    if label in names:
        return names.index(label)
    if not has_names and re.fullmatch(r"-?[1-9][0-9]*", label) and abs(int(label)) <= len(names):
        return int(label) - 1 if int(label) > 0 else len(names) + int(label)
    near = difflib.get_close_matches(label, names, n=1)
    hint = f"did you mean {near[0]!r}?" if near else "give one of them as the label"
    raise DataError(f"{where}: there is no column {label!r}; the columns are {_quoted(names)}; {hint}")


def _check_names(first, names, unnamed, keep):
    """Raise DataError for a name that two columns have, one to keep that none has, and columns without a name."""
    if twice := [name for name, count in Counter(names).items() if count > 1]:
        raise DataError(f"{first}: several columns are called {_quoted(twice)}; give each its own name")
    if absent := [name for name in keep if name not in names]:
        raise DataError(f"{first}: there is no column {_quoted(absent)} to keep; the columns are {_quoted(names)}")
    if unnamed := [name for name in unnamed if name not in keep]:
        raise DataError(
            f"{first}: column {names.index(unnamed[0]) + 1} has no name; write the file without row numbers (pandas: "
            "index=False, R: row.names=FALSE) and without separators at the ends of lines, name the column, or keep it with "
            f"--keep {unnamed[0]} (in Python: keep=[{unnamed[0]!r}])"
        )


def _check_labels(y, label, line):
    """Raise DataError for a row without a label, for a text that is too long for one, and for one label only."""
    for row, value in y.items():
        if not value:
            raise DataError(f"{line.of(row)}: there is no label in {label!r}; fill it in, or leave the row out")
        if len(value) > LONGEST_LABEL:
            raise DataError(
                f"{line.of(row)}: the label in {label!r} has {len(value):,} characters; give at most {LONGEST_LABEL}"
            )
    if y.nunique() < 2:
        raise DataError(f"{line.where}: {y.iloc[0]!r} is the only label in {label!r}; give rows with at least two labels")


def _numbers(body, columns, decimal, line):
    """The values (n, d) of the columns {name: index}. Raises DataError where one is no finite number."""
    X = np.full((len(body), len(columns)), np.nan)
    faults = {}
    for j, (name, i) in enumerate(columns.items()):
        values = body[i].str.strip().tolist()  # of all that Unicode calls blank
        distinct = set(values)
        column = "\n".join([*distinct, ""])
        if COLUMNS[decimal].fullmatch(column) and column.count("\n") == len(distinct):
            number = {value: float(value.replace(decimal, ".")) for value in distinct}
            X[:, j] = [number[value] for value in values]
        if not np.isfinite(X[:, j]).all():
            found = {}
            for row, value in zip(body.index, values, strict=True):
                found.setdefault(_fault(value, decimal), (row, name, value))
            kind = next(kind for kind in FAULTS if kind in found)
            faults.setdefault(kind, []).append(found[kind])
    for kind, told in FAULTS.items():
        if kind in faults:
            row, _, value = min(faults[kind])
            shown = repr(value[:CHARACTERS_SHOWN]) if value else "an empty field"
            columns = _few([name for _, name, _ in faults[kind]])
            raise DataError(f"{line.of(row)}: {told.format(columns=columns, value=shown)}")
    return X


def _fault(value, decimal):
    """The key of FAULTS for a field, None if it is a finite number."""
    for other, kind in ((",", "comma"), (".", "point")):
        if other != decimal and other in value and NUMBERS[other].fullmatch(value):
            return kind
    if NUMBERS[decimal].fullmatch(value):
        return None if np.isfinite(float(value.replace(decimal, "."))) else "infinite"
    return "missing" if value.lower() in MISSING else "infinite" if INFINITE.fullmatch(value) else "words"


def _check_row_numbers(X, names, keep, where):
    """Raise DataError for an attribute that numbers the rows, unless the user keeps it.

    Where rows are sorted by label, their numbers tell it. Columns that count and are equal are no row numbers, which stand
    once in a file: they are made by a formula, as in pictures for tests.
    """
    counting = [j for j, name in enumerate(names) if name not in keep and _counts(X[:, j])]
    alone = [j for j in counting if sum(np.array_equal(X[:, j], X[:, other]) for other in counting) == 1]
    if alone:
        name = names[alone[0]]
        start = ", ".join(f"{value:.0f}" for value in X[:3, alone[0]])
        raise DataError(
            f"{where}: the column {name!r} ({start}, ...) looks like row numbers, which give labels away if rows are sorted "
            f"by label; leave the column out of the file, or keep it with --keep {name!r} (in Python: keep=[{name!r}])"
        )


def _counts(x):
    """Whether whole numbers x (n,) go up or down from row to row, or are consecutive in another order."""
    if len(x) < FEWEST_COUNTED or (x != np.rint(x)).any():
        return False
    steps = np.diff(x)
    return (steps > 0).all() or (steps < 0).all() or (np.ptp(x) == len(x) - 1 and len(np.unique(x)) == len(x))


def _quoted(names):
    return _few([repr(name) for name in names])


def _few(names):
    """The first names, and how many there are besides."""
    more = len(names) - NAMES_SHOWN
    return ", ".join(names[:NAMES_SHOWN]) + (f" and {more:,} more" if more > 0 else "")
