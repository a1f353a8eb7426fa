"""The registry of datasets: data/registry.toml, read into records and checked.

The file says what is known of each set before its arrays are read: files and checksums, shape, classes, licence, citation.
"""

import difflib
import hashlib
import tomllib
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path

from study.reading import noted

ROOT = Path(__file__).resolve().parents[2]
PATH = ROOT / "data" / "registry.toml"
OWN = ROOT / "data" / "own.toml"
"""Where the user's own datasets are registered (study.datasets.own); it may be absent."""
OWN_REMEDY = "register what is there now with 'python -m study.datasets add FILE.csv --label COLUMN --replace'"


class DataError(ValueError):
    """The dataset is missing or does not match the registry. The message says what is wrong and how to fix it."""


@dataclass(frozen=True)
class File:
    """One file as its publisher distributes it.

    path is relative to the data folder; sha256 in hexadecimal; size in bytes. addresses are tried in turn. "zip#member"
    stands for the member of that name, in any folder of the archive; sha256 and size are those of the member.
    """

    path: str
    sha256: str
    size: int
    addresses: tuple[str, ...]

    def __post_init__(self):
        if len(self.sha256) != 64 or not set(self.sha256) <= set("0123456789abcdef"):
            raise ValueError(f"{self.path}: expected a sha256 of 64 hexadecimal digits, got {self.sha256!r}")

    @property
    def is_own(self):
        """Whether it is a copy of a file of the user's, which has no address."""
        return self.path.startswith("own/")


@dataclass(frozen=True, kw_only=True, eq=False)
class Dataset:
    """Facts of a dataset that are known before it is read.

    classes are the labels in sorted order, target_names their names, counts and test_counts the rows of each. parser
    names the function that gives the arrays (study.datasets.PARSERS), and options are its keywords. sha256 is the
    fingerprint of the arrays of a bundled set.
    """

    name: str
    title: str
    source: str
    licence: str
    citation: str
    dtype: str
    feature_names: tuple[str, ...]
    classes: tuple[int, ...] | tuple[str, ...]
    target_names: tuple[str, ...]
    counts: tuple[int, ...]
    test_counts: tuple[int, ...] = ()
    split: str = "none"
    parser: str
    options: dict = field(default_factory=dict)
    files: tuple[File, ...] = ()
    sha256: str | None = None
    notes: str

    def __post_init__(self):
        n = len(self.classes)
        if list(self.classes) != sorted(set(self.classes)):
            raise ValueError(f"classes: expected distinct values in sorted order, got {self.classes}")
        if not len(self.target_names) == len(self.counts) == n or len(self.test_counts) not in (0, n):
            raise ValueError(f"expected {n} target_names, {n} counts, and {n} test_counts or none, as there are {n} classes")
        if len(set(self.feature_names)) != self.n_features:
            raise ValueError("feature_names: some names occur twice; names must be unique")

    @property
    def n_features(self):
        return len(self.feature_names)

    @property
    def n_train(self):
        """Rows of X: all rows if the set has no customary split."""
        return sum(self.counts)

    @property
    def n_test(self):
        """Rows of X_test: 0 if the set has no customary split."""
        return sum(self.test_counts)

    @property
    def remedy(self):
        """The remedy if verified files do not give the registered arrays."""
        return OWN_REMEDY if self.is_own else "correct data/registry.toml"

    @property
    def is_own(self):
        """Whether its files are the user's."""
        return any(file.is_own for file in self.files)

    @property
    def kind(self):
        """Return 'file', 'bundled' (with scikit-learn) or 'synthetic'."""
        return "file" if self.files else "bundled" if self.parser == "bundled" else "synthetic"


def read(path):
    """{name: Dataset} of a registry file, in its order. Raises DataError, which names the set, if an entry is wrong."""
    try:
        entries = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        remedy = "restore it with git" if path == PATH else "correct or delete this file (it is not under version control)"
        raise DataError(f"{path}: the registry of datasets cannot be read: {error}; {remedy}") from error
    found = {}
    for name, entry in entries.items():
        try:
            names = entry.pop("feature_names")
            names = _numbered(**names) if isinstance(names, dict) else names
            files = tuple(File(**_tuples(file)) for file in entry.pop("files", ()))
            found[name] = Dataset(name=name, feature_names=tuple(names), files=files, **_tuples(entry))
        except (LookupError, TypeError, ValueError) as error:
            raise DataError(f"{path}: [{name}]: {error}; correct the entry") from error
    return found


def _tuples(entry):
    return {key: tuple(value) if isinstance(value, list) else value for key, value in entry.items()}


def _numbered(template, first, lengths):
    """Names with running numbers: the template filled with each combination, the last number fastest."""
    return (template.format(*numbers) for numbers in product(*(range(first, first + length) for length in lengths)))


def all_datasets():
    """({name: Dataset} of the study and of the user, what is wrong with the registry of the user's; "" if nothing)."""
    found = read(PATH)
    try:
        own = read(OWN) if OWN.exists() else {}
    except DataError as error:
        return found, str(error)
    return found | {name: dataset for name, dataset in own.items() if name not in found}, ""


DATASETS, OWN_PROBLEM = all_datasets()
"""{name: Dataset}: every dataset of the study, and the user's own; and why the user's are not there."""


def registered(name):
    """The record of a set. Raises DataError, with the nearest name, if there is none."""
    if name in DATASETS:
        noted(PATH, name)
        return DATASETS[name]
    near = difflib.get_close_matches(str(name), DATASETS, n=1)
    hint = OWN_PROBLEM or (f"did you mean {near[0]!r}?" if near else "see 'python -m study.datasets'")
    raise DataError(f"{name!r}: there is no dataset of this name among {', '.join(DATASETS)}; {hint}")


def facts(name):
    """The fields of the entry that decide what the arrays are: a dict of text, numbers, lists and dicts.

    Titles, addresses, licence, citation and names are left out: they may change, and the arrays stay.
    """
    dataset = registered(name)
    return {
        "dtype": dataset.dtype,
        "classes": list(dataset.classes),
        "parser": dataset.parser,
        "options": dict(dataset.options),
        "files": [file.sha256 for file in dataset.files],
        "sha256": dataset.sha256,
    }


def entry_hash(name):
    """sha256 (16 hexadecimal digits) of all that the registry says of a set; "" if it has none of this name."""
    return hashlib.sha256(repr(DATASETS[name]).encode()).hexdigest()[:16] if name in DATASETS else ""
