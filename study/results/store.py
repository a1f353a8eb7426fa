"""Results on disk: written at once or not at all, and read only if they match the request.

Every stored file has its provenance: what was run (experiment, parameters), on what data, by which code and with which
versions (experiment.py makes it). Arrays carry it inside the .npz file, tables in a .json file of the same name. A table
that comes out as it is stored, of the same provenance, is not written again, so running again changes no byte.
"""

import errno
import hashlib
import io
import json
import os
import platform
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

from study import ROOT
from study.reading import noted

PUBLISHED = ROOT / "data" / "published"
"""The numbers that the sources publish."""


class StaleResult(RuntimeError):
    """A stored result is missing, damaged, or was made by other code; the message has the command that makes it."""


def narrow(values, least):
    """Whole numbers in the smallest integer type that holds all of them and is not narrower than `least`, so that no number
    is cut, and stored files whose numbers fit `least` keep their bytes."""
    values = np.asarray(values)
    ends = int(values.min(initial=0)), int(values.max(initial=0))
    return values.astype(np.result_type(least, *map(np.min_scalar_type, ends)))


def write(path, content):
    """Write bytes or text to path in one step: a reader sees the old file or the new one, never half of either."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.{platform.node()}.{os.getpid()}.part")
    try:
        part.write_bytes(content.encode() if isinstance(content, str) else content)
        os.replace(part, path)
    except OSError as error:
        explain(error, path)
        raise
    finally:
        part.unlink(missing_ok=True)


def explain(error, path):
    """Give an OSError that came while path was written the path and the remedy, where the disk is full."""
    if error.errno == errno.ENOSPC and error.filename is None:
        error.strerror += "; free some space, then run the same command again, which goes on where it was"
        error.filename = str(path)


def write_arrays(path, arrays, source):
    """Store arrays (name -> array) with their provenance `source` in one compressed .npz file."""
    buffer = io.BytesIO()
    record = json.dumps({**source, "arrays": sorted(arrays)}, sort_keys=True)
    np.savez_compressed(buffer, provenance=np.array(record), **arrays)
    write(path, buffer.getvalue())


KEYS = {"experiment": "experiment", "parameters": "parameters", "data": "data", "code": "code"}
"""Provenance fields that must match, and their names in error messages."""
WITHOUT_CODE = tuple(key for key in KEYS if key != "code")
"""Those that must match where the code may have changed since."""


def read_arrays(path, source, command, *, keys=tuple(KEYS), folders=None):
    """The arrays stored for this provenance. Raises StaleResult if they are missing, damaged, or of another provenance.

    The fields of `keys` must agree; versions may differ. command is the remedy in the message. folders: those of which the
    arrays are read, named folder/array ("" for those without), if not all.
    """
    arrays, record = _arrays_and_record(path, command, folders)
    _check(path, record, source, command, keys)
    return arrays


def _arrays_and_record(path, command, folders):
    """The arrays of a file that are asked for, and the provenance of all."""
    try:
        with np.load(noted(path)) as file:
            record = json.loads(str(file["provenance"]))
            names = sorted(set(file.files) - {"provenance"})
            if record.pop("arrays") != names:
                raise ValueError("arrays are missing")
            arrays = {name: file[name] for name in names if folders is None or name.rpartition("/")[0] in folders}
    except FileNotFoundError:
        raise _missing(path, command) from None
    except Exception as error:  # a damaged archive can fail in a dozen ways
        raise StaleResult(f"{_short(path)} is damaged ({type(error).__name__}); make it again with: {command}") from None
    return arrays, record


def content_hash(path):
    """sha256 of the bytes of a file; of arrays, of their names, types, shapes and values, without the provenance.

    Raises StaleResult, with the command that makes it, if the file is missing.
    """
    if not path.exists():
        raise _missing(path)
    return _content_hash(path, path.stat().st_size, path.stat().st_mtime_ns)


@cache
def _content_hash(path, size, changed):
    if path.suffix != ".npz":
        return hashlib.sha256(path.read_bytes()).hexdigest()
    with np.load(path) as file:
        return arrays_hash({name: file[name] for name in file.files if name != "provenance"})


def arrays_hash(arrays):
    """sha256 of arrays {name: array}: names, types, shapes and values."""
    digest = hashlib.sha256()
    for name, array in sorted(arrays.items()):
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode() + np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def published(name, **options):
    """The numbers that a source publishes, as a table from data/published; options are those of pandas.read_csv."""
    return pd.read_csv(noted(PUBLISHED / f"{name}.csv"), **options)


def table_text(table):
    """A table as it is stored: CSV without its index."""
    return table.to_csv(index=False, lineterminator="\n")


OF_TIME = ("computed", "sample_equal")
"""Fields of the provenance of a table that say when: these alone are no reason to write it again."""


def write_table(path, table, source, command):
    """Store a tidy table as CSV, and next to it as .json its provenance, sha256 and the command that makes it."""
    text = table_text(table)
    record = {**source, "command": command, "sha256": hashlib.sha256(text.encode()).hexdigest(), "rows": len(table)}
    if texts := _texts(table):
        record["texts"] = texts
    if _is_stored(path, text, record):
        return
    write(path, text)
    _write_record(path, record)


def _is_stored(path, text, record):
    try:
        stored = read_record(path)
        same = path.read_bytes() == text.encode()
    except (StaleResult, FileNotFoundError):
        return False
    return same and all(stored.get(key) == record.get(key) for key in (stored | record).keys() - OF_TIME)


def stamp_table(path, source, command, **marks):
    """Write the code of `source` and marks into the provenance of a stored table, which must agree in all else."""
    read_table(path, source, command, keys=WITHOUT_CODE)
    _write_record(path, {**read_record(path), "code": source["code"], **marks})


def _write_record(path, record):
    write(Path(path).with_suffix(".json"), json.dumps(record, indent=2, sort_keys=True) + "\n")


def _texts(table):
    """The columns of text that pandas would read as something else, such as the labels "01", "1" and "NA"."""
    found = []
    for name in table.select_dtypes(exclude="number"):
        values = table[[name]][table[name] != ""].drop_duplicates()
        is_text = all(isinstance(value, str) for value in values[name])
        if is_text and pd.read_csv(io.StringIO(table_text(values)))[name].tolist() != values[name].tolist():
            found.append(name)
    return found


PLACES_SHOWN = 3
CHARACTERS_SHOWN = 70
"""Limits on the differences listed in a message."""


def read_table(path, source=None, command="make report PROFILE=full", *, keys=tuple(KEYS)):
    """The stored table, if its bytes are the recorded ones and, where `source` is given, agree with it in `keys`.

    Raises StaleResult with the command that remakes it.
    """
    path = Path(path)
    record = read_record(path, command)
    recorded = record["sha256"]
    command = record["command"]
    if not path.exists():
        raise _missing(path, command)
    text = noted(path).read_bytes()
    if hashlib.sha256(text).hexdigest() != recorded:
        raise StaleResult(f"{_short(path)} is not what was recorded for it; make it again with: {command}")
    if source is not None:
        _check(path, record, source, command, keys)
    table = pd.read_csv(io.BytesIO(text))
    if texts := record.get("texts"):
        table[texts] = pd.read_csv(io.BytesIO(text), usecols=texts, dtype=str, na_filter=False)[texts]
    return table


def read_record(path, command="make report PROFILE=full"):
    """The provenance of a stored table, with its command, sha256 and number of rows."""
    path = Path(path).with_suffix(".json")
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(record["sha256"] + record["command"], str):
            raise TypeError
    except FileNotFoundError:
        raise _missing(path, command) from None
    except (ValueError, KeyError, TypeError):
        raise StaleResult(f"{_short(path)} is damaged; make it again with: {command}") from None
    return record


def _check(path, found, source, command, keys=tuple(KEYS)):
    for key in keys:
        if found.get(key) != source[key]:
            raise StaleResult(
                f"{_short(path)} was made with other {KEYS[key]}: {_difference(source[key], found.get(key))}; "
                f"make it again with: {command}"
            )


def _difference(expected, found):
    """Return where two plain values differ: the first places, and how many others there are."""
    expected = _leaves(expected)
    found = _leaves(found)
    both = {**expected, **found}
    places = [p for p in both if (p in expected, expected.get(p)) != (p in found, found.get(p))]
    shown = [
        f"{place}{place and ': '}expected {_few(expected, place)}, got {_few(found, place)}"
        for place in places[:PLACES_SHOWN]
    ]
    others = len(places) - len(shown)
    return ", ".join(shown) + (f", and {others} more" if others else "")


def _leaves(value, place=""):
    """{place: value} of all that is neither dict nor list inside a plain value; places as in a[0].b."""
    if isinstance(value, dict) and value:
        parts = ((f"{place}.{name}".removeprefix("."), each) for name, each in value.items())
    elif isinstance(value, list) and value:
        parts = ((f"{place}[{index}]", each) for index, each in enumerate(value))
    else:
        return {place: value}
    return {leaf: found for inner, each in parts for leaf, found in _leaves(each, inner).items()}


def _few(leaves, place):
    """A value in a message, cut short; nothing where it is missing."""
    text = str(leaves[place]) if place in leaves else "nothing"
    return text if len(text) <= CHARACTERS_SHOWN else f"{text[:CHARACTERS_SHOWN]}..."


def _missing(path, command="make report PROFILE=full"):
    return StaleResult(f"{_short(path)} is missing; make it with: {command}")


def _short(path):
    """The path as seen from the project's folder, so that no message depends on the machine."""
    return Path(path).relative_to(ROOT) if Path(path).is_relative_to(ROOT) else path
