"""The user's own datasets: a CSV file becomes an entry of data/own.toml, next to the study's registry."""

import hashlib
import re
import tomllib
from pathlib import Path

import numpy as np
import tomli_w

from study.datasets import delimited, fetch
from study.datasets.registry import DATASETS, OWN, DataError, read
from study.results import store

NUMBERS = ("inf", "infinity", "nan")
"""Words that papermill takes for numbers."""
LARGEST = 1e100
"""Beyond it variances and kernels overflow."""
LEAST = 100
LEAST_OF_A_LABEL = 5
"""Rows; with fewer of them the inner folds of the comparison are too small to choose in."""


def content(path):
    """The bytes of a file. Raises DataError if there is no file that can be read."""
    path = Path(path)
    try:
        strange = path.exists() and not path.is_file()  # a named pipe would be read for ever
        blob = b"" if strange else path.read_bytes()
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: the file cannot be read: {getattr(error, 'strerror', None) or error}") from error
    if strange:
        raise DataError(f"{path}: this is a folder or a device; give a CSV file")
    return blob


def enter(path, label, name=None, *, replace=False, **options):
    """Copy a CSV file into data/raw, write its entry, and return its name.

    label is the column of labels; all other columns hold numbers. options are the other keywords of delimited.read, and
    the entry keeps them. name is the name of the dataset, by default that of the file. With replace=True the user's own
    dataset of this name is replaced. Raises DataError, with the remedy, for any other file, and for a name that is in use.
    """
    path = Path(path)
    name = name or re.sub(r"[^a-z0-9]+", "-", path.stem.lower()).strip("-")
    known = read(OWN) if OWN.exists() else {}
    if name in known and not replace:
        raise DataError(
            f"{name}: a dataset of this name is registered in {OWN}; add --replace to replace it by this file, or give "
            "another name with --name"
        )
    if name in DATASETS and name not in known:
        raise DataError(f"{name}: the study has a dataset of this name; give another with --name")
    if not re.fullmatch(r"[a-z][a-z0-9-]*", name) or name in NUMBERS:
        raise DataError(
            f"{name!r}: a name has small letters, digits and hyphens, and cannot be read as a number; give one with --name"
        )
    blob = content(path)
    table = delimited.read(blob, where=path, label=label, **options)
    labels, counts = _checked(path, table)
    entry = {
        "title": path.name.encode("utf-8", "replace").decode(),
        "source": "a file of the user's",
        "licence": "not given",
        "citation": "not given",
        "dtype": "float64",
        "feature_names": list(table.feature_names),
        "classes": labels,
        "target_names": labels,
        "counts": counts,
        "parser": "delimited",
        "options": table.options,
        "notes": f"Labels: column {table.options['label']}.",
        "files": [
            {
                "path": f"own/{name}.csv", "sha256": hashlib.sha256(blob).hexdigest(), "size": len(blob), "addresses": []
            }
        ],
    }  # fmt: skip
    text = _with(name, entry)
    store.write(fetch.RAW / "own" / f"{name}.csv", blob)
    store.write(OWN, text)
    return name


def _with(name, entry):
    """The text of data/own.toml with this entry at its end; comments stay, unless an entry of that name goes."""
    text = OWN.read_text(encoding="utf-8") if OWN.exists() else ""
    others = tomllib.loads(text)
    if others.pop(name, None):
        text = tomli_w.dumps(others)
    text = f"{text.rstrip()}\n\n{tomli_w.dumps({name: entry})}".lstrip()
    if tomllib.loads(text) != others | {name: entry}:
        raise DataError(f"{OWN}: the entry of {name} cannot be added to the text in this file; correct or delete the file")
    return text


def _checked(path, table):
    """(the labels sorted, the rows of each). Raises DataError if numbers are too large, or rows too few to choose in."""
    if (huge := np.abs(table.X) > LARGEST).any():
        name, value = table.feature_names[huge.any(axis=0).argmax()], table.X[huge][0]
        raise DataError(
            f"{path}: numbers in {name!r} are too large to compute with, such as {value:g}; leave out rows in which they "
            f"stand for a missing value, or divide the column, so that none is beyond {LARGEST:g}"
        )
    labels, counts = np.unique(table.y, return_counts=True)
    if len(table.y) < LEAST:
        raise DataError(f"{path}: there are {len(table.y)} rows; collect at least {LEAST}, so that inner folds can choose")
    if rare := labels[counts < LEAST_OF_A_LABEL].tolist():
        raise DataError(
            f"{path}: {len(rare)} of {len(labels)} labels in {table.options['label']!r} have fewer than {LEAST_OF_A_LABEL} "
            f"rows, such as {rare[0]!r}; join them with others, leave their rows out, or name the column of labels"
        )
    return labels.tolist(), counts.tolist()
