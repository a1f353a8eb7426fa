"""Datasets of the study: loaded by name, verified, as read-only arrays.

Source: the files as MNIST (LeCun, Bottou, Bengio, Haffner 1998) and the UCI repository publish them, byte for byte; the
copies that scikit-learn carries; generators defined here. data/registry.toml describes each set, with its citation.

    registry   what is known of each set      fetch       finding, downloading, verifying files
    parse      bytes of published files       delimited   bytes of the user's own CSV files to arrays
    own        the user's own datasets        synthetic   seeded generators of sets in the plane

    python -m study.datasets [list | fetch [NAME...] | verify [NAME...] | add FILE.csv --label COLUMN | readme]
"""

import hashlib
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np

from study.datasets import delimited, fetch, own, parse
from study.datasets.fetch import find
from study.datasets.registry import DATASETS, DataError, Dataset, File, facts, registered
from study.datasets.synthetic import blobs, five_classes, four_spirals, gaussians, moons, spirals

__all__ = ["DATASETS", "Data", "DataError", "Dataset", "File", "class_indices", "facts", "find"]
__all__ += [
    "fingerprint",
    "load",
    "read_csv",
    "registered",
    "signs",
    "blobs",
    "five_classes",
    "four_spirals",
    "gaussians",
    "moons",
    "spirals",
]

PARSERS = {
    "mnist": parse.mnist,
    "tables": parse.tables,
    "vowel": parse.vowel,
    "bundled": parse.bundled,
    "delimited": delimited.arrays,
    "blobs": blobs,
    "gaussians": gaussians,
    "moons": moons,
    "spirals": spirals,
    "five_classes": five_classes,
    "four_spirals": four_spirals,
}
"""The function behind the key `parser` of an entry: of files (where, bytes), of nothing, or of random_state."""


@dataclass(frozen=True)
class Data:
    """A dataset in memory: X (n, d), y (n,), and X_test (n', d), y_test (n',), both None without a customary split.

    Values are as in the source, neither scaled nor shuffled. classes holds the C labels in sorted order, and
    target_names[i] is the name of classes[i]. The arrays of a loaded set are read-only: copy them to change them.
    """

    name: str
    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray | None
    y_test: np.ndarray | None
    feature_names: tuple[str, ...]
    classes: tuple[int, ...] | tuple[str, ...]
    target_names: tuple[str, ...]

    @cached_property
    def class_indices(self):
        """Indices (n,) of y into classes, int64."""
        return _frozen(class_indices(self.y, self.classes))

    @cached_property
    def class_indices_test(self):
        """Indices (n',) of y_test into classes, int64; None without a customary split."""
        return None if self.y_test is None else _frozen(class_indices(self.y_test, self.classes))

    @cached_property
    def signs(self):
        """Signs (C, n) of the training part, one class against the rest; see signs."""
        return _frozen(signs(self.class_indices, len(self.classes)))


def class_indices(y, classes):
    """i (n,) int64 with classes[i] = y, for labels y (n,) and sorted classes. Raises ValueError for a label of no class."""
    if unknown := sorted(set(np.unique(y).tolist()) - set(classes)):
        raise ValueError(f"expected labels among {', '.join(map(str, classes))}, got {unknown[0]!r}; correct y or classes")
    return np.searchsorted(classes, y)


def signs(indices, n_classes):
    """z[c, t] = +1 if indices[t] = c, else -1: (n_classes, n) int8, a binary problem for each class."""
    return np.where(indices == np.arange(n_classes)[:, None], 1, -1).astype(np.int8)


def load(name, *, random_state=0, download=True):
    """The dataset of this name, as a Data.

    name is a key of DATASETS. random_state (int or np.random.RandomState) is used by the synthetic sets alone. With
    download=False no address is tried. A set of files is read, verified and parsed once a process, and again if a file
    has changed. Raises DataError if the name is unknown, a file is absent, wrong or malformed, or the arrays differ from
    the registered shape, dtype or class counts.
    """
    dataset = registered(name)
    if dataset.is_own and dataset.parser != "delimited":
        raise DataError(
            f"{name}: registered by an earlier version, which read CSV files by other rules; register it again with "
            f"'python -m study.datasets add {fetch.RAW / dataset.files[0].path} --label COLUMN --replace' ({dataset.notes})"
        )
    if dataset.parser not in PARSERS:
        raise DataError(
            f"{name}: expected a parser among {', '.join(PARSERS)}, got {dataset.parser!r}; add it to PARSERS in {__name__}"
        )
    if dataset.kind == "synthetic":
        return _checked(dataset, *PARSERS[dataset.parser](random_state=random_state, **dataset.options), None, None)
    paths = [fetch.obtain(file, download=download) for file in dataset.files]
    return _parsed(dataset, *((path, path.stat().st_size, path.stat().st_mtime_ns) for path in paths))


def read_csv(path, **options):
    """The user's own CSV file as a Data: X float64, y text, no customary split.

    options are those of study.datasets.delimited.read: label (by default the last column), separator, decimal, header, keep.
    Raises DataError, with the line or column and the remedy, for a file that could be misread.
    """
    table = delimited.read(own.content(path), where=path, **options)
    classes = tuple(np.unique(table.y).tolist())
    name = str(path)
    return Data(name, _frozen(table.X), _frozen(table.y), None, None, table.feature_names, classes, classes)


def load_whole(name):
    """X (n, d) float64 and y (n,) of the dataset of this name; the training part is before the test part if it has both."""
    data = load(name)
    X, y = (data.X, data.y) if data.X_test is None else (np.vstack([data.X, data.X_test]), np.r_[data.y, data.y_test])
    return np.asarray(X, dtype=np.float64), y


@cache
def _parsed(dataset, *stamps):
    """The Data of a set of files or a bundled set. stamps (path, size, time of change) distinguish states of the files."""
    files = [(str(path), fetch.read(file, path)) for file, (path, *_) in zip(dataset.files, stamps, strict=True)]
    try:
        arrays = PARSERS[dataset.parser](*files, **dataset.options)
    except ValueError as error:
        raise DataError(f"{error}; {dataset.remedy}") from error
    return _checked(dataset, *arrays)


def _checked(dataset, *arrays):
    """A Data of read-only arrays. Raises DataError unless they are those registered: shape, dtype, counts, fingerprint."""
    data = Data(dataset.name, *map(_frozen, arrays), dataset.feature_names, dataset.classes, dataset.target_names)
    for part, X, y, counts in (
        ("training", data.X, data.y, dataset.counts),
        ("test", data.X_test, data.y_test, dataset.test_counts),
    ):
        expected = found = None
        if counts:
            rows = dict(zip(dataset.classes, counts, strict=True))
            expected = ((sum(counts), dataset.n_features), dataset.dtype, rows)
        if X is not None:
            labels, rows = np.unique(y, return_counts=True)
            found = (X.shape, str(X.dtype), dict(zip(labels.tolist(), rows.tolist(), strict=True)))
        if found != expected:
            raise DataError(
                f"{dataset.name}: expected a {part} part of shape, dtype, rows by class {expected}, found {found}; "
                + dataset.remedy
            )
    if dataset.kind == "bundled" and (found := fingerprint(data)) != dataset.sha256:
        raise DataError(
            f"{dataset.name}: expected the sha256 {dataset.sha256} of the arrays that scikit-learn carries, "
            f"found {found}; install the scikit-learn of requirements.lock.txt, or enter what was found for a new set"
        )
    return data


def _frozen(array):
    if array is not None:
        array.flags.writeable = False
    return array


def fingerprint(data):
    """sha256 of a Data's arrays: X, y, X_test, y_test in this order, absent ones skipped, each as the line
    "<part> <dtype> <shape>" and then its values, little-endian and row by row."""
    digest = hashlib.sha256()
    for part in ("X", "y", "X_test", "y_test"):
        if (array := getattr(data, part)) is not None:
            array = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
            digest.update(f"{part} {array.dtype.str} {array.shape}\n".encode())
            digest.update(array.tobytes())
    return digest.hexdigest()
