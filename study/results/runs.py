"""Batches of runs: all combinations of some values of an experiment's settings, computed once, as one tidy table.

    python -m study run mnist --dataset digits --degree 2,3 --random-state 0:30 --target seeds.csv

Every field of the settings that holds a number or a word is an option: --n-train 1000 is the field n_train. A value is one
(3), a range of whole numbers (0:30, without its end) or a list (2,3,4); where a field holds several numbers, a list is one
value. The runs are the product of the values. Fields that are not given keep their defaults, or what is published where all
published results agree.

Runs that differ in their seed only are computed together, PART at a time: they share what costs most. Each is kept under
build/ when its part is done (study.results.experiment), so an interrupted batch goes on where it stopped.
"""

import argparse
import os
import textwrap
import types
import typing
from dataclasses import MISSING, fields, is_dataclass
from itertools import groupby, product
from pathlib import Path

import pandas as pd
from tqdm import tqdm

from study import BUILD, ROOT, chapters, datasets
from study.parameters import listed, require_one_of, span, words
from study.results import shares

PART = 10
"""Runs that are computed together and kept together: one job on a cluster."""
SEEDS = ("random_state", "order")
"""Fields that choose between runs that differ by chance only."""
COMMITTED = ("data", "figures", "notebooks")
"""Folders of files that belong to the project: the table of a batch is none of them."""
WORDS = {"true": True, "false": False}
KINDS = {int: "a whole number or a range as in 0:30", float: "a number", bool: "true or false", str: "a word"}


def find(name, *, stratified=False):
    """The experiment "mnist.degrees", or the first of a chapter, "mnist"; or that of random subsets of its examples.

    Raises ValueError for an unknown one.
    """
    chapter, _, own = name.partition(".")
    known = {each.name: each for each in chapters.experiments(chapter, unpublished=True)}
    asked = f"{chapter}.stratified" if stratified else name if own else next(iter(known))
    require_one_of("experiment", asked, known)
    return known[asked]


def settings(experiment, arguments):
    """The settings of a batch, a list, from options as typed: ["--degree", "2,3", "--random-state", "0:30"].

    Raises ValueError for an option that is no field, a value that does not fit, a repeated one, and a missing one.
    """
    kind = type(_published(experiment)[0])
    types_of = _types(experiment)
    parser = _Parser(prog=experiment.name, add_help=False, allow_abbrev=False, argument_default=argparse.SUPPRESS)
    for name in types_of:
        parser.add_argument(_option(name), dest=name)
    given, unknown = parser.parse_known_args(arguments)
    if unknown:
        known = ", ".join(map(_option, types_of))
        raise ValueError(f"options of {experiment.name} must be among {known}, got {' '.join(unknown)}")
    values = {name: _values(name, text, types_of[name]) for name, text in vars(given).items()}
    constant = _constants(experiment, kind, values)
    names = [field.name for field in fields(kind) if field.name in values]
    names.sort(key=lambda name: name in SEEDS)
    found = [kind(**constant, **dict(zip(names, each, strict=True))) for each in product(*(values[name] for name in names))]
    if len(set(found)) < len(found):
        raise ValueError(f"a run is requested twice, by {' '.join(arguments)}; remove repeated values")
    return found


class _Parser(argparse.ArgumentParser):
    def error(self, message):
        raise ValueError(f"options of {self.prog}: {message}")


def _published(experiment):
    """The published settings of an experiment, or those of the first of its chapter where it has none."""
    return experiment.published or chapters.experiments(experiment.chapter)[0].published


def _types(experiment):
    """{name: (types, whether a field holds several)} of the fields that can be typed."""
    found = {}
    for name, hint in typing.get_type_hints(type(_published(experiment)[0])).items():
        several = typing.get_origin(hint) is tuple
        each = typing.get_args(hint)[0] if several else hint
        each = typing.get_args(each) if isinstance(each, types.UnionType) else (each,)
        if set(each) <= {int, float, str, bool}:
            found[name] = each, several
    return found


def described(experiment):
    """The options of an experiment's batch as text, a line each: name, values, default or that it is required; and the data
    sets that may be named."""
    kind = type(_published(experiment)[0])
    defaults = {field.name: field.default for field in fields(kind)} if is_dataclass(kind) else {}
    for name, values in _agreed(experiment, kind).items():
        defaults[name] = values.pop() if len(values) == 1 else MISSING
    typed = _types(experiment)
    if untyped := sorted(name for name, default in defaults.items() if default is MISSING and name not in typed):
        return f"  none, since it cannot be run in a batch: no option can hold its {', '.join(untyped)}"
    lines = []
    for name, (kinds, several) in typed.items():
        what = listed([KINDS[kind] for kind in kinds], "or") + (", or several: a,b,c" if several else "")
        default = "required" if defaults[name] is MISSING else repr(defaults[name])
        lines.append(f"  {_option(name):<20} {what}; {default}")
    if "dataset" in defaults:
        text = f"datasets: {', '.join(_named(experiment, kind))}"
        lines.append(textwrap.fill(text, 110, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False))
    return "\n".join(lines)


def _named(experiment, kind):
    """The datasets that the settings of an experiment may name, whatever their other fields must be then."""
    if known := getattr(kind, "KNOWN", {}).get("dataset"):
        yield from known
        return
    options = {name: getattr(_published(experiment)[0], name) for name in _agreed(experiment, kind)}
    for name in datasets.DATASETS:
        try:
            yield kind(**options | {"dataset": name}).dataset
        except ValueError:
            continue


def _option(name):
    return "--" + name.replace("_", "-")


def _values(name, text, kind):
    """The values of one option; of a field that holds several numbers, the one value."""
    each, several = kind
    found = [
        value for part in words(text) for value in (_range(part) if int in each and ":" in part else [_one(part, each)])
    ]
    if None in found:
        kinds = listed([KINDS[kind] for kind in each], "or")
        raise ValueError(f"{_option(name)} must be {kinds}, or a list of them as in a,b,c; got {text!r}")
    return [tuple(found)] if several else found


def _one(text, kinds):
    """A value of the first of int, float, bool, str among kinds that the text fits, or None."""
    for kind in (int, float, bool, str):
        try:
            if kind in kinds and text:
                return WORDS[text] if kind is bool else kind(text)
        except (ValueError, KeyError):
            continue
    return None


def _range(text):
    """The whole numbers of "a:b", b excluded; [None] if it is not such a range or is empty."""
    try:
        return span(text)
    except ValueError:
        return [None]


def _agreed(experiment, kind, given=()):
    """{name: its published values} of the fields that have no default and were not given."""
    needed = [
        field.name
        for field in (fields(kind) if is_dataclass(kind) else ())
        if field.name not in given and field.default is MISSING and field.default_factory is MISSING
    ]
    return {name: {getattr(each, name) for each in _published(experiment)} for name in needed}


def _constants(experiment, kind, given):
    """Values of the fields that have no default and were not given, where all published results agree on them."""
    published = _agreed(experiment, kind, given)
    missing = [name for name, values in published.items() if len(values) > 1]
    if untyped := set(missing) - set(_types(experiment)):
        raise ValueError(f"{experiment.name} cannot be run in a batch: no option can hold its {', '.join(sorted(untyped))}")
    if missing:
        raise ValueError(f"{experiment.name} needs {', '.join(map(_option, missing))}")
    return {name: values.pop() for name, values in published.items()}


def parts(runs):
    """The runs of a batch as lists that are computed together: at most PART that differ in their seed only."""
    groups = [list(group) for _, group in groupby(runs, key=lambda run: {**vars(run), **dict.fromkeys(SEEDS)})]
    return [group[start : start + PART] for group in groups for start in range(0, len(group), PART)]


def table(experiment, runs, name=None, *, progress=False):
    """The rows of all runs, computed where they are not stored, with every field of the settings in a column.

    name is one of the experiment's tables, by default the first. Columns that the table has itself stay where they are.
    Whole numbers that tell what was tried, such as degrees, are integers where other rows have none, too.
    Raises ValueError for another name.
    """
    name = name or experiment.tables[0]
    require_one_of("table", name, experiment.tables)
    found = []
    for part in tqdm(parts(runs), desc=experiment.name, unit="part", disable=not progress):
        experiment(part)
        found += [_with_keys(experiment, run, name) for run in part]
    rows = pd.concat(found, ignore_index=True)
    told = [each for each in rows.select_dtypes(float) if each in (*TOLD, "epoch", "epochs")]
    return rows.astype({each: "Int64" for each in told if (rows[each].dropna() % 1 == 0).all()})


def check_target(target):
    """ValueError if the table of a batch may not be written to this path: it must replace nothing but an earlier table."""
    target = Path(target)
    if target.suffix != ".csv":
        raise ValueError(f"--target: expected a file name that ends in .csv, got {target}")
    if inside := [name for name in COMMITTED if target.resolve().is_relative_to(ROOT / name)]:
        raise ValueError(
            f"--target must be outside {inside[0]}/, which holds the project's own files, got {target}; "
            f"name another folder, such as {os.path.relpath(BUILD)}/"
        )
    both = (target, target.with_suffix(".json"))
    if any(map(os.path.lexists, both)) and not all(path.is_file() for path in both):
        raise ValueError(
            f"--target {target}: this file would be overwritten, and it is not the table of a batch (those have a file "
            ".json beside them); name another file, or move it away"
        )


def planned(arguments):
    """(experiment, for each part the parts that it waits for) of a batch as it is typed behind `python -m study run`."""
    parser = _Parser(prog="run", add_help=False, allow_abbrev=False)
    parser.add_argument("experiment")
    parser.add_argument("--stratified", action="store_true")
    parser.add_argument("--shares", type=int)
    options, rest = parser.parse_known_args(arguments)
    experiment = find(options.experiment, stratified=options.stratified)
    found = settings(experiment, rest)
    if options.shares is None:
        return experiment, [[] for _ in parts(found)]
    return experiment, shares.waits(experiment, found, options.shares)


def _with_keys(experiment, run, name):
    result = experiment(run)
    rows = result if isinstance(result, pd.DataFrame) else result[name]
    plain = {key: " ".join(map(str, value)) if isinstance(value, tuple) else value for key, value in vars(run).items()}
    keys = {"experiment": experiment.name} | {key: value for key, value in plain.items() if key not in rows.columns}
    return pd.concat([pd.DataFrame(keys, index=rows.index), rows], axis=1)


TOLD = (
    "degree", "digit", "predictor", "method", "thresholds", "threshold", "kernel", "width", "other", "parameter", "form",
    "preparation", "copies", "protocol", "measure", "neighbours", "algorithm", "reading", "choice", "scaling", "setting",
    "constant", "repeats", "problem", "budget", "noise", "truncation", "share", "sigma", "value",
)  # fmt: skip
"""Columns of tables that tell, next to the settings, what was tried."""
DRAWN = (*SEEDS, "repetition", "repeat", "fold", "draw")
"""Columns of tables that tell rows apart that differ by chance only."""
CHOSEN = ("kernel", "width", "degree", "other")
"""Those of TOLD that a table with validation_errors has as they were chosen, for each method in each fold."""


def summary(rows, runs):
    """Mean, sd, least and most errors on the test examples over rows that differ by chance only: a row for each method,
    predictor, digit, kernel or setting that varies. Where there are epochs, the last one counts; what was chosen on
    validation examples counts as it was chosen. There is no sd of single rows.

    None where the table counts no errors.
    """
    if "errors" not in rows:
        return None
    if "test" in set(rows.get("split", ())):
        rows = rows[rows["split"] == "test"]
    told = [name for name in rows if name in {*vars(runs[0]), *TOLD}.difference(DRAWN)]
    if "validation_errors" in rows:
        told = [name for name in told if name not in CHOSEN]
    elif clock := next((name for name in ("epoch", "epochs") if name in rows), None):
        each = ["experiment", *told, *(name for name in DRAWN if name in rows)]
        last = rows.groupby(each, dropna=False)[clock].transform("max")
        rows = rows[rows[clock].isna() | (rows[clock] == last)]
    keys = [name for name in told if rows[name].nunique(dropna=False) > 1]
    errors = rows.groupby(keys or "experiment", sort=False, dropna=False)["errors"]
    found = errors.agg(count="size", mean="mean", sd="std", min="min", max="max").reset_index()
    return found if (found["count"] > 1).any() else found.drop(columns="sd")
