"""The user's own data sets: a CSV file becomes an entry of data/own.toml, next to the study's registry."""

import hashlib
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd

from study.datasets import fetch, parse
from study.datasets.registry import DATASETS, OWN, DataError, read
from study.results import store

NUMBERS = ("inf", "infinity", "nan")
"""Words that papermill takes for numbers."""
LEAST = 100
LEAST_OF_A_LABEL = 5
"""Rows; with fewer of them the inner folds of the comparison are too small to choose in."""


def enter(path, label, name=None, *, replace=False):
    """Copy a CSV file into data/raw, write its entry, and return its name.

    The file has a head; label is the name of the column of labels, whole numbers or words; all other columns hold numbers.
    name is that of the set, by default that of the file. With replace=True a set of one's own of that name goes. Raises
    DataError, with the remedy, for a file that is otherwise, and for a name that is taken.
    """
    path = Path(path)
    name = name or re.sub(r"[^a-z0-9]+", "-", path.stem.lower()).strip("-")
    before = OWN.read_text(encoding="utf-8") if OWN.exists() else ""
    if name in (read(OWN) if before else {}):
        if not replace:
            raise DataError(
                f"{name}: expected the name of a new data set, got one that is registered in {OWN}; add --replace "
                "to put this file in its place, or give another name with --name"
            )
        before = re.sub(rf"^\[{name}\]$.*?(?=^\[\w|\Z)", "", before, flags=re.MULTILINE | re.DOTALL).rstrip()
        before += "\n" * bool(before)
    elif name in DATASETS:
        raise DataError(f"{name}: expected the name of a new data set, got one that is there; give another with --name")
    if not re.fullmatch(r"[a-z][a-z0-9-]*", name) or name in NUMBERS:
        raise DataError(
            f"{name!r}: expected a name of small letters, digits and hyphens, not read as a number; give one with --name"
        )
    columns, labels, counts = _described(path, label)
    content = path.read_bytes()
    store.write(fetch.RAW / "own" / f"{name}.csv", content)
    features = [column for column in columns if column != label]
    kind = "int64" if isinstance(labels[0], int) else "str"
    lines = [
        f"[{name}]",
        f"title = {json.dumps(path.name)}",
        'source = "a file of one\'s own"',
        'licence = "not given"',
        'citation = "not given"',
        'dtype = "float64"',
        f"feature_names = {json.dumps(features)}",
        f"classes = {json.dumps(labels)}",
        f"target_names = {json.dumps([str(each) for each in labels])}",
        f"counts = {json.dumps(counts)}",
        'parser = "tables"',
        f'options = {{ separator = ",", label = {columns.index(label)}, labels = "{kind}", header = 1 }}',
        f'notes = "Labels: column {label}."',
        "",
        f"[[{name}.files]]",
        f'path = "own/{name}.csv"',
        f'sha256 = "{hashlib.sha256(content).hexdigest()}"',
        f"size = {len(content)}",
        "addresses = []",
    ]
    store.write(OWN, "\n".join([before, *lines, ""] if before else [*lines, ""]))
    read(OWN)
    return name


def _described(path, label):
    """(names of the columns, the labels sorted, the rows of each). Raises DataError for a file that is otherwise."""
    try:
        frame = pd.read_csv(path)
        if not isinstance(frame.index, pd.RangeIndex):  # pandas takes fields without a name for names of rows
            raise ValueError(f"rows with more fields than the {frame.shape[1]} names of the head")
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: expected a CSV file in UTF-8, got another encoding; save it as UTF-8") from error
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: expected a CSV file with a head, found: {error}") from error
    columns = list(frame.columns)
    if label not in columns:
        hint = "; separate the columns by commas" if len(columns) == 1 else ""
        raise DataError(f"{path}: expected the name of a column, one of {', '.join(columns)}, got {label!r}{hint}")
    if len(columns) == 1:
        raise DataError(f"{path}: expected columns of numbers besides {label}, got none")
    if frame.empty:
        raise DataError(f"{path}: expected rows below the head, got none")
    if texts := [column for column in columns if column != label and not pd.api.types.is_numeric_dtype(frame[column])]:
        raise DataError(f"{path}: expected numbers besides {label}, got words in {', '.join(texts)}; encode them first")
    if empty := int(frame.isna().sum().sum()):
        raise DataError(f"{path}: expected a value in every field, got {empty} empty ones; fill them first")
    if endless := int(np.isinf(frame.drop(columns=label).to_numpy(dtype=float)).sum()):
        raise DataError(f"{path}: expected finite numbers, got {endless} that are infinite; replace them first")
    kind = "int64" if pd.api.types.is_integer_dtype(frame[label]) else "str"
    try:
        _, y = parse.table(
            path.read_bytes(), separator=",", label=columns.index(label), labels=kind, header=1, where=str(path)
        )
    except ValueError as error:
        raise DataError(f"{error}; write it with commas between plain fields, without quotes") from error
    labels, counts = np.unique(y, return_counts=True)
    if len(labels) < 2:
        raise DataError(f"{path}: expected at least two different labels in {label}, got {len(labels)}")
    if len(y) < LEAST:
        raise DataError(
            f"{path}: expected at least {LEAST} rows, so that inner folds can choose, got {len(y)}; collect more"
        )
    if rare := labels[counts < LEAST_OF_A_LABEL].tolist():
        raise DataError(
            f"{path}: expected at least {LEAST_OF_A_LABEL} rows of each label in {label}, got fewer of {len(rare)}, such as "
            f"{rare[0]!r}; join them with others, or leave their rows out"
        )
    return columns, labels.tolist(), counts.tolist()
