"""Parsers: the bytes of files in, arrays out. A file is a pair (where, bytes); `where` names it in errors.

X (n, d) examples and y (n,) labels, with values as in the source; X_test and y_test the held-out part, or None. A
ValueError says what was expected and found.
"""

import gzip
import zlib

import numpy as np


def idx(blob, *, ndim, where="IDX data"):
    """The uint8 array in a gzip-compressed IDX file, of ndim axes.

    Layout (LeCun, Cortes, Burges: "The MNIST database of handwritten digits"): two zero bytes, the type code 8 for
    unsigned bytes, the number of axes; their lengths as big-endian 32-bit integers; the values, last axis fastest.
    Raises ValueError if the compression, the magic number, the header or the length is wrong.
    """
    try:
        content = gzip.decompress(blob)
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(f"{where}: expected whole gzip-compressed data, found: {error}") from error
    start = 4 + 4 * ndim
    magic = 0x0800 + ndim
    if len(content) < start:
        raise ValueError(f"{where}: expected an IDX header of {start} bytes, found {len(content)} bytes")
    if (found := int.from_bytes(content[:4], "big")) != magic:
        raise ValueError(f"{where}: expected the IDX magic number {magic}, found {found}")
    shape = tuple(int.from_bytes(content[i : i + 4], "big") for i in range(4, start, 4))
    size = int(np.prod(shape, dtype=object))
    found = len(content) - start
    if found != size:
        raise ValueError(f"{where}: expected {size} values after an IDX header of shape {shape}, found {found}")
    return np.frombuffer(content, np.uint8, offset=start).reshape(shape)


def table(blob, *, separator=None, dtype="float64", label=-1, labels="int64", header=0, where="table"):
    """(X, y) of a text table with one example a line; empty lines count for nothing.

    separator None stands for runs of white space. dtype is that of X, labels ("int64" or "str") that of y. label is the
    column of y. header lines are skipped. Raises ValueError if rows differ in length or a value is not a number.
    """
    rows = [line.split(separator) for line in blob.decode("latin-1").splitlines()[header:] if line.strip()]
    if len(lengths := sorted({len(row) for row in rows})) != 1:
        raise ValueError(f"{where}: expected rows of one length, found lengths {lengths}")
    y = [row.pop(label).strip() for row in rows]
    try:
        return np.array(rows).astype(dtype), np.array(y).astype(labels)
    except ValueError as error:
        raise ValueError(f"{where}: expected {dtype} values and {labels} labels, {error}") from error


def mnist(*files):
    """Images and labels for training, images and labels for testing: four IDX files. A row of X is an image, row by row."""
    X, y, X_test, y_test = (
        idx(blob, ndim=ndim, where=where) for (where, blob), ndim in zip(files, (3, 1, 3, 1), strict=True)
    )
    return X.reshape(len(X), -1), y, X_test.reshape(len(X_test), -1), y_test


def tables(train, test=None, *, n_train=None, **layout):
    """One table, or one for training and one for testing, or one whose first n_train rows are for training."""
    X, y = table(train[1], where=train[0], **layout)
    return split(X, y, n_train) if test is None else (X, y, *table(test[1], where=test[0], **layout))


def vowel(file):
    """One table; its first column says which part (0: training), and the next two, speaker and sex, are left out."""
    X, y = table(file[1], where=file[0])
    train = X[:, 0] == 0
    return X[train, 3:], y[train], X[~train, 3:], y[~train]


def bundled(*, loader, dtype="float64", n_train=None):
    """The arrays of a loader of sklearn.datasets, X of this dtype and y int64."""
    import sklearn.datasets

    X, y = getattr(sklearn.datasets, loader)(return_X_y=True)
    return split(X.astype(dtype), y.astype(np.int64), n_train)


def split(X, y, n_train):
    """(X, y, X_test, y_test): the first n_train rows for training, the rest for testing; all for training if None."""
    return (X, y, None, None) if n_train is None else (X[:n_train], y[:n_train], X[n_train:], y[n_train:])
