"""Data sets of the study: a registry, a verified download, parsers, and seeded synthetic sets.

Source: the files as MNIST (LeCun, Bottou, Bengio, Haffner 1998) and the UCI repository publish them, byte for byte; the
copies that scikit-learn carries; generators defined here. Each record of the registry holds its own citation.

X (n, d) examples, y (n,) labels as the source writes them; X_test, y_test the held-out part where one is customary.

A file is looked for in $KP_DATA, then in data/raw, and is else downloaded into data/raw, unless KP_OFFLINE=1. Its
sha256 is checked each time before it is parsed. A file that is wrong, or not to be had, stops the program: no set is
ever replaced by another, and $KP_DATA is only read.

    python -m study.datasets [list | fetch [NAME...] | verify [NAME...] | readme]
"""

import argparse
import difflib
import gzip
import hashlib
import io
import os
import sys
import tempfile
import time
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

RAW = Path(__file__).resolve().parents[1] / "data" / "raw"
REMEDY = "delete the file and run 'python -m study.datasets fetch', or set KP_DATA to a folder with a good copy"
FAILURES = (OSError, ValueError, EOFError, RuntimeError, zipfile.BadZipFile, zlib.error)


class DataError(ValueError):
    """A data set cannot be had as registered. The message names the file, what was expected and found, the way out."""


@dataclass(frozen=True)
class File:
    """One file as its publisher distributes it.

    path relative to the data folder, sha256 in hexadecimal, size in bytes. addresses are tried in turn; "zip#member"
    stands for the member of that name, in any folder of the archive. sha256 and size are those of the member.
    """

    path: str
    sha256: str
    size: int
    addresses: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Dataset:
    """What is known of a data set before it is read.

    classes are the labels in sorted order, target_names their names, counts and test_counts the rows of each.
    read turns the files, as pairs (where, bytes), into (X, y, X_test, y_test); a set without files is read() if
    sha256, its fingerprint, is registered, and read(random_state=...) if it is synthetic.
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
    files: tuple[File, ...] = ()
    sha256: str | None = None
    read: Callable
    notes: str = ""

    @property
    def n_features(self):
        return len(self.feature_names)

    @property
    def n_train(self):
        """Rows of X: all rows where no split is customary."""
        return sum(self.counts)

    @property
    def n_test(self):
        """Rows of X_test: 0 where no split is customary."""
        return sum(self.test_counts)

    @property
    def kind(self):
        """'file', 'bundled' (with scikit-learn) or 'synthetic'."""
        return "file" if self.files else "bundled" if self.sha256 else "synthetic"


@dataclass(frozen=True)
class Data:
    """A data set in memory: X (n, d), y (n,), and X_test (n', d), y_test (n',), both None without a customary split.

    Values are as in the source, neither scaled nor shuffled. classes holds the labels in sorted order, and
    target_names[i] is the name of classes[i].
    """

    name: str
    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray | None
    y_test: np.ndarray | None
    feature_names: tuple[str, ...]
    classes: tuple[int, ...] | tuple[str, ...]
    target_names: tuple[str, ...]


# What a user calls.


def load(name, *, random_state=0, download=True):
    """The data set of this name, as a Data.

    name is a key of DATASETS. random_state (int or np.random.RandomState) is used by the synthetic sets alone.
    With download=False no address is tried. Raises DataError if the name is unknown, a file is absent, wrong or
    malformed, or the arrays differ from the registered shape, dtype or class counts.
    """
    dataset = _registered(name)
    if dataset.kind == "synthetic":
        arrays = dataset.read(random_state=random_state)
    else:
        arrays = dataset.read(*(_obtain(file, download=download) for file in dataset.files))
    data = Data(name, *arrays, dataset.feature_names, dataset.classes, dataset.target_names)
    _check(dataset, data)
    return data


def fetch(name, *, timeout=30.0, limit=600.0, tries=2, pause=1.0):
    """Paths of the set's files, each found or downloaded, and verified. Empty for a bundled or a synthetic set.

    All addresses of a file are tried in turn, tries times, with pause seconds between the rounds. An address is given
    up after timeout seconds of silence or limit seconds in all. Raises DataError; no half file is left behind.
    """
    transfer = dict(timeout=timeout, limit=limit, tries=tries, pause=pause)
    return [Path(where) for where, _ in (_obtain(file, **transfer) for file in _registered(name).files)]


def checksums(name, *, random_state=0):
    """The provenance of a set: {path: sha256} of its files; {name: fingerprint} for a bundled or a synthetic set.

    random_state: the int that seeds a synthetic set. Nothing is read but for a synthetic set, which is generated.
    """
    dataset = _registered(name)
    if dataset.kind == "synthetic":
        return {f"{name}?random_state={random_state}": fingerprint(load(name, random_state=random_state))}
    return {file.path: file.sha256 for file in dataset.files} or {name: dataset.sha256}


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


# Finding, verifying, downloading.


def _registered(name):
    if name in DATASETS:
        return DATASETS[name]
    near = difflib.get_close_matches(str(name), DATASETS, n=1)
    hint = f"did you mean {near[0]!r}?" if near else "see 'python -m study.datasets'"
    raise DataError(f"expected the name of a data set, one of {', '.join(DATASETS)}; got {name!r}; {hint}")


def _roots():
    """The folders to search, in order."""
    if not (folder := os.environ.get("KP_DATA")):
        return [RAW]
    if not Path(folder).expanduser().is_dir():
        raise DataError(f"{folder}: expected KP_DATA to name a folder, found none there; set it to one or unset it")
    return [Path(folder).expanduser(), RAW]


def find(file):
    """Path of a registered File in the first folder that has it, $KP_DATA or data/raw, or None."""
    return next((path for root in _roots() if (path := root / file.path).exists()), None)


def _mismatch(file, blob):
    """None if the bytes are the file's, else what was expected and what was found."""
    if (found := hashlib.sha256(blob).hexdigest()) == file.sha256:
        return None
    return f"expected {file.size} bytes of sha256 {file.sha256}, found {len(blob)} bytes of sha256 {found}"


def _obtain(file, *, download=True, **transfer):
    """(where, bytes) of the file, found or downloaded, and verified: the bytes that are parsed are those hashed."""
    path = find(file) or _download(file, forbidden=not download, **transfer)
    try:
        blob = path.read_bytes()
    except OSError as error:
        raise DataError(f"{path}: expected a readable file, found: {error.strerror}; {REMEDY}") from error
    if problem := _mismatch(file, blob):
        raise DataError(f"{path}: {problem}; {REMEDY}")
    return str(path), blob


def _download(file, *, forbidden=False, timeout=30.0, limit=600.0, tries=2, pause=1.0):
    """Path of the file in data/raw, whole and verified: it appears there by one os.replace, or not at all."""
    target = RAW / file.path
    way_out = f"put the file at {target}, set KP_DATA to a folder that holds {file.path}, or use a set without files"
    offline = os.environ.get("KP_OFFLINE", "") not in ("", "0")
    if forbidden or offline:
        why = "KP_OFFLINE forbids to download it" if offline else "a download was not asked for"
        folders = " or ".join(map(str, _roots()))
        raise DataError(f"{file.path}: expected in {folders}, found nowhere, and {why}; {way_out}")
    reasons = dict.fromkeys(file.addresses, "not tried")
    try:
        RAW.mkdir(parents=True, exist_ok=True)
        for attempt in range(tries if reasons else 0):
            time.sleep(pause if attempt else 0)
            for address in reasons:
                with tempfile.TemporaryDirectory(prefix=".part-", dir=RAW) as folder:
                    try:
                        blob = _retrieve(file, address, folder, timeout=timeout, limit=limit)
                    except FAILURES as error:
                        reasons[address] = f"{type(error).__name__}: {error}"
                        continue
                    part = Path(folder, "verified")
                    part.write_bytes(blob)
                    target.parent.mkdir(exist_ok=True)
                    os.replace(part, target)
                    return target
    except OSError as error:
        raise DataError(f"{target}: expected a place to write to, found: {error}; {way_out}") from error
    tried = "".join(f"\n  {address}\n    {reason}" for address, reason in reasons.items()) or " no address is registered"
    raise DataError(
        f"{file.path}: expected {file.size} bytes of sha256 {file.sha256} from one address, found:{tried}\n{way_out}"
    )


def _retrieve(file, address, folder, *, timeout, limit):
    """The bytes of the file from one address, verified. Raises one of FAILURES."""
    import pooch
    import urllib3

    pooch.get_logger().setLevel("WARNING")
    url, _, member = address.partition("#")
    size = None if member else file.size
    try:
        path = pooch.retrieve(
            url,
            known_hash=None if member else file.sha256,
            path=folder,
            fname="download",
            downloader=partial(_stream, name=file.path, size=size, timeout=timeout, limit=limit),
        )
    except urllib3.exceptions.HTTPError as error:
        raise OSError(str(error)) from error
    blob = Path(path).read_bytes()
    if member:
        blob = _member(blob, member, file.size)
    if problem := _mismatch(file, blob):
        raise ValueError(problem)
    return blob


def _stream(url, output_file, pooch, *, name, size, timeout, limit):
    """A downloader for pooch that also ends when a server drips (limit seconds) or never stops (size, 64 MiB a zip).

    read1 returns what has arrived, so that the clock is looked at even if a single byte comes at a time.
    """
    import requests
    from tqdm import tqdm

    end = time.monotonic() + limit
    options = dict(stream=True, timeout=timeout, headers={"Accept-Encoding": "identity"})
    with requests.get(url, **options) as response, open(output_file, "wb") as output:
        response.raise_for_status()
        with tqdm(total=size, desc=name, unit="B", unit_scale=True, disable=not sys.stderr.isatty()) as bar:
            while (chunk := response.raw.read1(2**16)) and output.tell() <= (size or 2**26):
                bar.update(output.write(chunk))
                if time.monotonic() > end:
                    raise TimeoutError(f"expected the whole in {limit} s, found {output.tell()} bytes by then")
        if size is not None and output.tell() != size:
            raise ValueError(f"expected {size} bytes, found {'more' if output.tell() > size else output.tell()}")


def _member(blob, name, size):
    """The bytes of the archive's member of this name, in whatever folder; one byte too many at most."""
    with zipfile.ZipFile(io.BytesIO(blob)) as archive:
        for path in archive.namelist():
            if path.rpartition("/")[2] == name:
                with archive.open(path) as stream:
                    return stream.read(size + 1)
        raise ValueError(f"expected the member {name} in the archive, found {', '.join(archive.namelist()) or 'none'}")


def _check(dataset, data):
    """Raise DataError unless the arrays are those registered: shape, dtype, class counts, fingerprint."""
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
                + (REMEDY if dataset.files else "correct the registry in study/datasets.py")
            )
    if dataset.sha256 and (found := fingerprint(data)) != dataset.sha256:
        raise DataError(
            f"{dataset.name}: expected the sha256 {dataset.sha256} of the arrays that scikit-learn carries, "
            f"found {found}; install the scikit-learn of requirements.lock.txt"
        )


# Parsers: bytes in, arrays out. `where` names the bytes in errors.


def parse_idx(blob, *, ndim, where="IDX data"):
    """The uint8 array in a gzip-compressed IDX file; as many axes as ndim.

    Layout (LeCun, Cortes, Burges: "The MNIST database of handwritten digits"): two zero bytes, the type code 8 for
    unsigned bytes, the number of axes; their lengths as big-endian 32-bit integers; the values, last axis fastest.
    Raises DataError if the compression, the magic number, the header or the length is wrong.
    """
    try:
        content = gzip.decompress(blob)
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{where}: expected whole gzip-compressed data, found: {error}; {REMEDY}") from error
    start, magic = 4 + 4 * ndim, 0x0800 + ndim
    if len(content) < start:
        raise DataError(f"{where}: expected an IDX header of {start} bytes, found {len(content)} bytes; {REMEDY}")
    if (found := int.from_bytes(content[:4], "big")) != magic:
        raise DataError(f"{where}: expected the IDX magic number {magic}, found {found}; {REMEDY}")
    shape = tuple(int.from_bytes(content[i : i + 4], "big") for i in range(4, start, 4))
    size = int(np.prod(shape, dtype=object))
    if len(content) - start != size:
        raise DataError(
            f"{where}: expected {size} values after an IDX header of shape {shape}, found {len(content) - start}; " + REMEDY
        )
    return np.frombuffer(content, np.uint8, offset=start).reshape(shape).copy()


def parse_table(blob, *, sep, dtype, label=-1, labels=int, header=0, where="table"):
    """(X, y) of a text table with one example a line; empty lines count for nothing.

    sep is the separator, None for runs of white space. dtype is that of X. label is the column of y, and labels (int
    or str) its type. header lines are skipped. Raises DataError if rows differ in length or a value is not a number.
    """
    rows = [line.split(sep) for line in blob.decode("latin-1").splitlines()[header:] if line.strip()]
    if len(lengths := sorted({len(row) for row in rows})) != 1:
        raise DataError(f"{where}: expected rows of one length, found lengths {lengths}; {REMEDY}")
    y = [row.pop(label).strip() for row in rows]
    try:
        return np.array(rows).astype(dtype), np.array(y).astype(np.int64 if labels is int else np.str_)
    except ValueError as error:
        raise DataError(f"{where}: expected {dtype} values and {labels.__name__} labels, {error}; {REMEDY}") from error


def _read_mnist(*files):
    X, y, X_test, y_test = (
        parse_idx(blob, ndim=ndim, where=where) for (where, blob), ndim in zip(files, (3, 1, 3, 1), strict=True)
    )
    return X.reshape(len(X), -1), y, X_test.reshape(len(X_test), -1), y_test


def _read_tables(train, test=None, *, n_train=None, **layout):
    """One table, or one for training and one for testing, or one whose first n_train rows are for training."""
    X, y = parse_table(train[1], where=train[0], **layout)
    if test is not None:
        return X, y, *parse_table(test[1], where=test[0], **layout)
    return (X, y, None, None) if n_train is None else (X[:n_train], y[:n_train], X[n_train:], y[n_train:])


def _read_vowel(file):
    X, y = parse_table(file[1], sep=None, dtype="float64", where=file[0])
    train = X[:, 0] == 0
    return X[train, 3:], y[train], X[~train, 3:], y[~train]


def _read_bundled(loader, *, dtype, n_train=None):
    import sklearn.datasets

    X, y = getattr(sklearn.datasets, loader)(return_X_y=True)
    X, y = X.astype(dtype), y.astype(np.int64)
    return (X, y, None, None) if n_train is None else (X[:n_train], y[:n_train], X[n_train:], y[n_train:])


# Synthetic sets in the plane: (X, y), X (n_samples, 2) float64, y (n_samples,) int64, balanced, in random order.


def _balanced(n_samples, n_classes, random_state):
    """The generator, and labels 0..n_classes-1 in random order, their counts differing by one at most."""
    if isinstance(random_state, int | np.integer):
        random_state = np.random.RandomState(random_state)
    if not isinstance(random_state, np.random.RandomState):
        kind = type(random_state).__name__
        raise TypeError(f"random_state must be an int or a np.random.RandomState, got {kind}; pass a seed, such as 0")
    if n_samples < n_classes:
        raise ValueError(f"n_samples must be at least {n_classes}, one a class, got {n_samples}; ask for more")
    return random_state, random_state.permutation(np.arange(n_samples, dtype=np.int64) % n_classes)


def blobs(n_samples=300, *, n_classes=3, radius=4.0, spread=0.5, random_state):
    """x = radius (cos a, sin a) + spread e,   a = 2 pi y / n_classes,   e ~ N(0, I) given |e| <= 3

    Means on a circle about the origin; a draw beyond three standard deviations is drawn again. For three
    classes a line through the origin, normal to a class's mean, parts that class from the rest with a margin of at
    least radius / 2 - 3 spread: 0.5 by default, so that the default is always linearly separable.
    """
    generator, y = _balanced(n_samples, n_classes, random_state)
    angle = 2 * np.pi * y / n_classes
    return radius * np.column_stack([np.cos(angle), np.sin(angle)]) + spread * _truncated(generator, n_samples), y


def _truncated(generator, n_samples):
    """e (n_samples, 2) of N(0, I) given |e| <= 3: a draw beyond is drawn again."""
    noise = generator.normal(size=(n_samples, 2))
    while (far := np.hypot(*noise.T) > 3).any():
        noise[far] = generator.normal(size=(far.sum(), 2))
    return noise


def five_classes(n_samples=200, *, spread=0.06, random_state):
    """x = m_y + spread e,   m_y = (1/5, 1/5), (4/5, 1/5), (1/2, 1/2), (1/5, 4/5), (4/5, 4/5),   e ~ N(0, I) given |e| <= 3

    Four classes about the corners of a square, and one amid them, in the unit square: f_c(x) = 2 m_c.x - |m_c|^2 puts each
    example into its class, and every example lies at least 0.3 / sqrt(2) - 3 spread from the lines between the classes:
    0.032 by default, so that the default is always linearly separable by Kesler's criterion. The class amid the others is
    not parted from the rest by any line, so that one-against-all is not.
    """
    generator, y = _balanced(n_samples, 5, random_state)
    means = np.array([[0.2, 0.2], [0.8, 0.2], [0.5, 0.5], [0.2, 0.8], [0.8, 0.8]])
    return means[y] + spread * _truncated(generator, n_samples), y


def gaussians(n_samples=400, *, distance=2.0, random_state):
    """x = ((y - 1/2) distance, 0) + e,   e ~ N(0, I),   y in {0, 1}

    Two overlapping classes. The best rule is the sign of the first coordinate; it errs with the probability
    Phi(-distance / 2): 15.87 % for the default.
    """
    generator, y = _balanced(n_samples, 2, random_state)
    return generator.normal(size=(n_samples, 2)) + np.outer(y - 0.5, [distance, 0.0]), y


def moons(n_samples=400, *, spread=0.15, random_state):
    """x = (cos t, sin t) + spread e for y = 0,   (1 - cos t, 1/2 - sin t) + spread e for y = 1,
    t ~ U(0, pi),   e ~ N(0, I)

    Two interleaved half circles: no line parts them, a curve nearly does.
    """
    generator, y = _balanced(n_samples, 2, random_state)
    t = generator.uniform(0, np.pi, n_samples)
    upper, lower = np.column_stack([np.cos(t), np.sin(t)]), np.column_stack([1 - np.cos(t), 0.5 - np.sin(t)])
    return np.where(y[:, None] == 0, upper, lower) + spread * generator.normal(size=(n_samples, 2)), y


def spirals(n_samples=400, *, turns=1.75, spread=0.03, random_state):
    """x = (-1)^y t / (2 pi) (cos t, sin t) + spread e,   t ~ U(pi / 2, 2 pi turns),   e ~ N(0, I),   y in {0, 1}

    Two arms that wind about each other, half a unit apart: any line is hopeless, a curve parts them.
    """
    generator, y = _balanced(n_samples, 2, random_state)
    t = generator.uniform(np.pi / 2, 2 * np.pi * turns, n_samples)
    arm = ((-1.0) ** y * t / (2 * np.pi))[:, None] * np.column_stack([np.cos(t), np.sin(t)])
    return arm + spread * generator.normal(size=(n_samples, 2)), y


def four_spirals(n_samples=400, *, turns=1.25, spread=0.05, random_state):
    """x = t / pi (cos(t + a), sin(t + a)) + spread e,   a = y pi / 2,   t ~ U(pi / 2, 2 pi turns),   e ~ N(0, I)

    Four arms, y in {0, 1, 2, 3}, half a unit apart, each a quarter of a turn behind the one before.
    """
    generator, y = _balanced(n_samples, 4, random_state)
    t = generator.uniform(np.pi / 2, 2 * np.pi * turns, n_samples)
    angle = t + y * np.pi / 2
    arm = (t / np.pi)[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return arm + spread * generator.normal(size=(n_samples, 2)), y


def _read_synthetic(generate, *, random_state):
    return *generate(random_state=random_state), None, None


# The registry.

UCI = "https://archive.ics.uci.edu"
CC_BY = "CC BY 4.0, https://creativecommons.org/licenses/by/4.0/"
MNIST_MIRRORS = (
    "https://ossci-datasets.s3.amazonaws.com/mnist/",
    "https://storage.googleapis.com/cvdf-datasets/mnist/",
    "http://yann.lecun.com/exdb/mnist/",
)
SUMS = """
440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609  9912422 mnist/train-images-idx3-ubyte.gz
3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c    28881 mnist/train-labels-idx1-ubyte.gz
8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6  1648877 mnist/t10k-images-idx3-ubyte.gz
f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6     4542 mnist/t10k-labels-idx1-ubyte.gz
6f608b71a7317216319b4d27b4d9bc84e6abd734eda7872b71a458569e2656c0     4551 uci/iris.data
e90434cdbf00fcf93ffa911fe447ae25606979658e60f1d32e155c3b5240234d    87776 uci/sonar.all-data
1e5c40bdd0b6705c75586eb23f5d9c3078e9588f48bc5c2c98da219fe83fff29    73565 uci/vowel-context.data
6be6b1203f3d51df0b553a70e57b8a723cd405683958204f96d23d7cd6aea659    10782 uci/wine.data
1f3f83c0d8485ae9148061389d19628607e3f5660e3d6f40ec9102fb398bb12f     9300 uci/seeds_dataset.txt
4a402cf041b025d4566d954c3b9ba8635a3a8a01e039005d97d6a710278cf05e    84199 uci/winequality-red.csv
76c3f809815c17c07212622f776311faeb31e87610d52c26d87d6e361b169836   264426 uci/winequality-white.csv
e1b683cc211604fe8fd8c4417e6a69f31380e0c61d4af22e93cc21e9257ffedd   563639 uci/optdigits.tra
6ebb3d2fee246a4e99363262ddf8a00a3c41bee6014c373ed9d9216ba7f651b8   264712 uci/optdigits.tes
e2b9eb9f0d0467e2b64a4816a3420edf2b8043447576f4b84337aba44a9f97d3   502098 uci/pendigits.tra
8bd03229c5c5291fefe43e45465dd948d2645bf23328b9d993e0b777666b2015   234366 uci/pendigits.tes
2b89f3602cf768d3c8355267d2f13f2417809e101fc2b5ceee10db19a60de6e2   712565 uci/letter-recognition.data
e896dc88a960fa2404160fc4c3cb3dc53fcf4afd80ba920bf2d261bd42d12613   525830 uci/sat.trn
4b9167b8a92baafafed7c8809aef86d0683a5e685c19d98d119fa6974f0f2479   236745 uci/sat.tst
"""
SUMS = {path: (sha256, int(size)) for sha256, size, path in map(str.split, SUMS.strip().splitlines())}


def _mnist(name):
    return File(f"mnist/{name}", *SUMS[f"mnist/{name}"], tuple(mirror + name for mirror in MNIST_MIRRORS))


def _uci(path, archive):
    """A file of the UCI repository: path below machine-learning-databases, archive below static/public."""
    name = path.rpartition("/")[2]
    addresses = (f"{UCI}/ml/machine-learning-databases/{path}", f"{UCI}/static/public/{archive}.zip#{name}")
    return File(f"uci/{name}", *SUMS[f"uci/{name}"], addresses)


def _names(text):
    return tuple(text.split(", "))


def _counts(text):
    return tuple(map(int, text.split()))


DIGITS = dict(classes=tuple(range(10)), target_names=tuple(map(str, range(10))))
IRIS = dict(
    title="Iris: three species by the size of sepals and petals",
    licence=CC_BY,
    citation="R. A. Fisher. The use of multiple measurements in taxonomic problems. Annals of Eugenics 7(2):179-188, "
    "1936; UCI, doi:10.24432/C56C76",
    dtype="float64",
    feature_names=_names("sepal length (cm), sepal width (cm), petal length (cm), petal width (cm)"),
    target_names=("setosa", "versicolor", "virginica"),
    counts=(50, 50, 50),
)
WINE = dict(
    title="Wine: three cultivars by chemical analysis",
    licence=CC_BY,
    citation="S. Aeberhard, M. Forina. Wine. UCI, 1992. doi:10.24432/C5PC7J",
    dtype="float64",
    feature_names=_names(
        "alcohol, malic acid, ash, alcalinity of ash, magnesium, total phenols, flavanoids, "
        "nonflavanoid phenols, proanthocyanins, colour intensity, hue, OD280/OD315 of diluted wines, "
        "proline"
    ),
    target_names=("cultivar 1", "cultivar 2", "cultivar 3"),
    counts=(59, 71, 48),
)
WINE_QUALITY = dict(
    source=f"{UCI}/dataset/186",
    licence=CC_BY,
    citation="P. Cortez, A. Cerdeira, F. Almeida, T. Matos, J. Reis. Modeling wine preferences by data mining from "
    "physicochemical properties. Decision Support Systems 47(4):547-553, 2009; UCI, doi:10.24432/C56S3T",
    dtype="float64",
    feature_names=_names(
        "fixed acidity, volatile acidity, citric acid, residual sugar, chlorides, free sulfur dioxide, "
        "total sulfur dioxide, density, pH, sulphates, alcohol"
    ),
    read=partial(_read_tables, sep=";", dtype="float64", header=1),
)
OPTDIGITS = dict(
    licence=CC_BY,
    citation="E. Alpaydin, C. Kaynak. Optical Recognition of Handwritten Digits. UCI, 1998. doi:10.24432/C50P49",
    dtype="int64",
    feature_names=tuple(f"ink in row {row}, column {column}" for row in range(8) for column in range(8)),
    **DIGITS,
)
SYNTHETIC = dict(
    source="generated",
    licence="that of this project",
    citation="this project",
    dtype="float64",
    feature_names=("x1", "x2"),
)

DATASETS = {
    dataset.name: dataset
    for dataset in (
        Dataset(
            name="mnist",
            title="MNIST: handwritten digits, 28 x 28 pixels",
            source="http://yann.lecun.com/exdb/mnist/",
            licence="CC BY-SA 3.0, copyright Yann LeCun and Corinna Cortes, https://creativecommons.org/licenses/by-sa/3.0/",
            citation="Y. LeCun, L. Bottou, Y. Bengio, P. Haffner. Gradient-based learning applied to document "
            "recognition. Proc. IEEE 86(11):2278-2324, 1998. doi:10.1109/5.726791",
            dtype="uint8",
            feature_names=tuple(f"pixel in row {row}, column {column}" for row in range(28) for column in range(28)),
            counts=(5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949),
            test_counts=(980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009),
            split="two pairs of files",
            files=(
                _mnist("train-images-idx3-ubyte.gz"),
                _mnist("train-labels-idx1-ubyte.gz"),
                _mnist("t10k-images-idx3-ubyte.gz"),
                _mnist("t10k-labels-idx1-ubyte.gz"),
            ),
            read=_read_mnist,
            notes="Pixels 0 (background) to 255, row by row; the labels are uint8 too. In arithmetic uint8 wraps "
            "around: convert before taking inner products. The first 5,000 test digits come from NIST SD-3 and are "
            "easier than the last 5,000, from SD-1.",
            **DIGITS,
        ),
        Dataset(
            name="iris",
            source=f"{UCI}/dataset/53",
            classes=("Iris-setosa", "Iris-versicolor", "Iris-virginica"),
            files=(_uci("iris/iris.data", "53/iris"),),
            read=partial(_read_tables, sep=",", dtype="float64", labels=str),
            notes="Sorted by class. Rows 35 and 38, counted from 1, differ from Fisher's table: both read "
            "4.9, 3.1, 1.5, 0.1 here; Fisher has 4.9, 3.1, 1.5, 0.2 and 4.9, 3.6, 1.4, 0.1. Three rows repeat an "
            "earlier one.",
            **IRIS,
        ),
        Dataset(
            name="sonar",
            title="Sonar: mines and rocks by the energy of 60 frequency bands",
            source=f"{UCI}/dataset/151",
            licence=CC_BY,
            citation="R. P. Gorman, T. J. Sejnowski. Analysis of hidden units in a layered network trained to classify "
            "sonar targets. Neural Networks 1(1):75-89, 1988; UCI, doi:10.24432/C5T01Q",
            dtype="float64",
            feature_names=tuple(f"energy of band {band}" for band in range(1, 61)),
            classes=("M", "R"),
            target_names=("mine", "rock"),
            counts=(111, 97),
            files=(
                _uci(
                    "undocumented/connectionist-bench/sonar/sonar.all-data",
                    "151/connectionist+bench+sonar+mines+vs+rocks",
                ),
            ),
            read=partial(_read_tables, sep=",", dtype="float64", labels=str),
            notes="Energies in [0, 1]. Sorted: all rocks, then all mines.",
        ),
        Dataset(
            name="vowel",
            title="Vowel: eleven English vowels by ten log area parameters",
            source=f"{UCI}/dataset/152",
            licence=CC_BY,
            citation="D. H. Deterding. Speaker normalisation for automatic speech recognition. PhD thesis, University "
            "of Cambridge, 1989; A. J. Robinson. Dynamic error propagation networks. PhD thesis, University of "
            "Cambridge, 1989; UCI, doi:10.24432/C58P4S",
            dtype="float64",
            feature_names=tuple(f"log area parameter {i}" for i in range(10)),
            classes=tuple(range(11)),
            target_names=("hid", "hId", "hEd", "hAd", "hYd", "had", "hOd", "hod", "hUd", "hud", "hed"),
            counts=(48,) * 11,
            test_counts=(42,) * 11,
            split="by speaker, as the first column says: 8 for training, 7 others for testing",
            files=(
                _uci(
                    "undocumented/connectionist-bench/vowel/vowel-context.data",
                    "152/connectionist+bench+vowel+recognition+deterding+data",
                ),
            ),
            read=_read_vowel,
            notes="The first three columns of the file (part, speaker, sex) are context, not features, and are left "
            "out. Six repetitions of each vowel a speaker.",
        ),
        Dataset(
            name="wine",
            source=f"{UCI}/dataset/109",
            classes=(1, 2, 3),
            files=(_uci("wine/wine.data", "109/wine"),),
            read=partial(_read_tables, sep=",", dtype="float64", label=0),
            notes="The cultivar is the first column of the file. Sorted by class.",
            **WINE,
        ),
        Dataset(
            name="seeds",
            title="Seeds: three varieties of wheat by the shape of the kernel",
            source=f"{UCI}/dataset/236",
            licence=CC_BY,
            citation="M. Charytanowicz, J. Niewczas, P. Kulczycki, P. A. Kowalski, S. Lukasik, S. Zak. Complete "
            "gradient clustering algorithm for features analysis of X-ray images. In: Information Technologies in "
            "Biomedicine, Springer, 2010, 15-24; UCI, doi:10.24432/C5H30K",
            dtype="float64",
            feature_names=_names(
                "area, perimeter, compactness, length of kernel, width of kernel, asymmetry coefficient, length "
                "of kernel groove"
            ),
            classes=(1, 2, 3),
            target_names=("Kama", "Rosa", "Canadian"),
            counts=(70, 70, 70),
            files=(_uci("00236/seeds_dataset.txt", "236/seeds"),),
            read=partial(_read_tables, sep=None, dtype="float64"),
            notes="Sorted by class. Eleven lines of the file hold doubled tabs: runs of white space separate.",
        ),
        Dataset(
            name="winequality-red",
            title="Wine quality, red: the grade of red wines by chemical analysis",
            classes=tuple(range(3, 9)),
            target_names=tuple(f"grade {grade}" for grade in range(3, 9)),
            counts=(10, 53, 681, 638, 199, 18),
            files=(_uci("wine-quality/winequality-red.csv", "186/wine+quality"),),
            notes="240 rows repeat an earlier one: a random split puts copies on both sides.",
            **WINE_QUALITY,
        ),
        Dataset(
            name="winequality-white",
            title="Wine quality, white: the grade of white wines by chemical analysis",
            classes=tuple(range(3, 10)),
            target_names=tuple(f"grade {grade}" for grade in range(3, 10)),
            counts=(20, 163, 1457, 2198, 880, 175, 5),
            files=(_uci("wine-quality/winequality-white.csv", "186/wine+quality"),),
            notes="937 rows repeat an earlier one: a random split puts copies on both sides.",
            **WINE_QUALITY,
        ),
        Dataset(
            name="optdigits",
            title="Optdigits: handwritten digits, 8 x 8 counts of ink",
            source=f"{UCI}/dataset/80",
            counts=(376, 389, 380, 389, 387, 376, 377, 387, 380, 382),
            test_counts=(178, 182, 177, 183, 181, 182, 181, 179, 174, 180),
            split="by writer, two files",
            files=(
                _uci("optdigits/optdigits.tra", "80/optical+recognition+of+handwritten+digits"),
                _uci("optdigits/optdigits.tes", "80/optical+recognition+of+handwritten+digits"),
            ),
            read=partial(_read_tables, sep=",", dtype="int64"),
            notes="Counts from 0 to 16.",
            **OPTDIGITS,
        ),
        Dataset(
            name="pendigits",
            title="Pendigits: handwritten digits, eight positions of the pen",
            source=f"{UCI}/dataset/81",
            licence=CC_BY,
            citation="E. Alpaydin, F. Alimoglu. Pen-Based Recognition of Handwritten Digits. UCI. doi:10.24432/C5MG6K",
            dtype="int64",
            feature_names=tuple(f"{axis} of position {i}" for i in range(1, 9) for axis in "xy"),
            counts=(780, 779, 780, 719, 780, 720, 720, 778, 719, 719),
            test_counts=(363, 364, 364, 336, 364, 335, 336, 364, 336, 336),
            split="by writer, two files",
            files=(
                _uci("pendigits/pendigits.tra", "81/pen+based+recognition+of+handwritten+digits"),
                _uci("pendigits/pendigits.tes", "81/pen+based+recognition+of+handwritten+digits"),
            ),
            read=partial(_read_tables, sep=",", dtype="int64"),
            notes="Positions from 0 to 100.",
            **DIGITS,
        ),
        Dataset(
            name="letter",
            title="Letter: distorted capital letters by 16 statistics of the image",
            source=f"{UCI}/dataset/59",
            licence=CC_BY,
            citation="P. W. Frey, D. J. Slate. Letter recognition using Holland-style adaptive classifiers. Machine "
            "Learning 6:161-182, 1991; UCI, doi:10.24432/C5ZP40",
            dtype="int64",
            feature_names=tuple(
                "x-box y-box width high onpix x-bar y-bar x2bar y2bar xybar x2ybr xy2br x-ege xegvy y-ege yegvx".split()
            ),
            classes=tuple("ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
            target_names=tuple("ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
            counts=_counts(
                "633 630 594 638 616 622 609 583 590 599 593 604 648 617 614 635 615 597 587 645 645 628 613 628 641 576"
            ),
            test_counts=_counts(
                "156 136 142 167 152 153 164 151 165 148 146 157 144 166 139 168 168 161 161 151 168 136 139 159 145 158"
            ),
            split="the first 16,000 rows for training, the last 4,000 for testing",
            files=(_uci("letter-recognition/letter-recognition.data", "59/letter+recognition"),),
            read=partial(_read_tables, sep=",", dtype="int64", label=0, labels=str, n_train=16000),
            notes="The letter is the first column of the file; features from 0 to 15.",
        ),
        Dataset(
            name="satimage",
            title="Satimage: soils by nine pixels of a satellite image in four bands",
            source=f"{UCI}/dataset/146",
            licence=CC_BY,
            citation="A. Srinivasan. Statlog (Landsat Satellite). UCI, 1993. doi:10.24432/C55887",
            dtype="int64",
            feature_names=tuple(f"pixel {pixel}, band {band}" for pixel in range(1, 10) for band in range(1, 5)),
            classes=(1, 2, 3, 4, 5, 7),
            target_names=_names(
                "red soil, cotton crop, grey soil, damp grey soil, soil with vegetation stubble, very damp grey soil"
            ),
            counts=(1072, 479, 961, 415, 470, 1038),
            test_counts=(461, 224, 397, 211, 237, 470),
            split="two files",
            files=(
                _uci("statlog/satimage/sat.trn", "146/statlog+landsat+satellite"),
                _uci("statlog/satimage/sat.tst", "146/statlog+landsat+satellite"),
            ),
            read=partial(_read_tables, sep=None, dtype="int64"),
            notes="There is no class 6. The rows are patches of one image: the authors advise against cross-validation "
            "and for the given split.",
        ),
        Dataset(
            name="digits",
            title="Digits: the test part of optdigits, with scikit-learn",
            source="sklearn.datasets.load_digits",
            counts=(119, 121, 117, 121, 120, 123, 120, 118, 119, 122),
            test_counts=(59, 61, 60, 62, 61, 59, 61, 61, 55, 58),
            split="the first 1,200 rows for training, the last 597 for testing; a custom of this project",
            sha256="331c493e641ccf9dec222b2afd85b09c5e45531a235e0c3949fef59695bfc5a3",
            read=partial(_read_bundled, "load_digits", dtype="int64", n_train=1200),
            notes="The same rows, in the same order, as optdigits.tes, whose writers are not told apart: they may "
            "occur on both sides of the split.",
            **OPTDIGITS,
        ),
        Dataset(
            name="iris-bundled",
            source="sklearn.datasets.load_iris",
            classes=(0, 1, 2),
            sha256="ee7e5c13fa5e26ffffcee66b173d05f81bb0d8ba825a0c8d0504e126150aa44c",
            read=partial(_read_bundled, "load_iris", dtype="float64"),
            notes="Fisher's table. It differs from iris, UCI's file, in exactly three values, in rows 35 and 38 "
            "counted from 1 (see there), and in the labels.",
            **IRIS,
        ),
        Dataset(
            name="wine-bundled",
            source="sklearn.datasets.load_wine",
            classes=(0, 1, 2),
            sha256="9a76743cccb19ed958080578e26e5c4d6290130cbea2f7c8bb1eaa44dae1a589",
            read=partial(_read_bundled, "load_wine", dtype="float64"),
            notes="The values of wine, in the same order; the labels are less by one.",
            **WINE,
        ),
        Dataset(
            name="blobs2d",
            title="Blobs: three classes in the plane that lines part",
            classes=(0, 1, 2),
            target_names=("mean at 0 degrees", "mean at 120 degrees", "mean at 240 degrees"),
            counts=(100, 100, 100),
            read=partial(_read_synthetic, blobs),
            notes="Normal, standard deviation 0.5 in each coordinate, truncated at three of them from the means, which "
            "lie at 0, 120 and 240 degrees on the circle of radius 4: a line through the origin parts each class from "
            "the rest with a margin of at least 0.5.",
            **SYNTHETIC,
        ),
        Dataset(
            name="gaussians2d",
            title="Gaussians: two classes in the plane that overlap",
            classes=(0, 1),
            target_names=("mean (-1, 0)", "mean (1, 0)"),
            counts=(200, 200),
            read=partial(_read_synthetic, gaussians),
            notes="Normal, standard deviation 1 in each coordinate. The best rule, the sign of x1, errs with "
            "probability 15.87 %.",
            **SYNTHETIC,
        ),
        Dataset(
            name="moons",
            title="Moons: two half circles in the plane that no line parts",
            classes=(0, 1),
            target_names=("upper", "lower"),
            counts=(200, 200),
            read=partial(_read_synthetic, moons),
            notes="Points uniform on the upper half of the unit circle about (0, 0), and on the lower half of the one "
            "about (1, 0.5); normal noise, standard deviation 0.15 in each coordinate.",
            **SYNTHETIC,
        ),
        Dataset(
            name="spirals",
            title="Spirals: two arms in the plane that wind about each other",
            classes=(0, 1),
            target_names=("arm 1", "arm 2"),
            counts=(200, 200),
            read=partial(_read_synthetic, spirals),
            notes="Archimedean spirals of pitch 1, from a quarter of a turn to 1.75 turns, the angle uniform; normal "
            "noise, standard deviation 0.03 in each coordinate.",
            **SYNTHETIC,
        ),
        Dataset(
            name="five-classes",
            title="Five classes in the plane, one amid the four others, linearly separable all together",
            classes=(0, 1, 2, 3, 4),
            target_names=("lower left", "lower right", "middle", "upper left", "upper right"),
            counts=(40,) * 5,
            read=partial(_read_synthetic, five_classes),
            notes="Normal, standard deviation 0.06 in each coordinate, truncated at three of them from the means (0.2, "
            "0.2), (0.8, 0.2), (0.5, 0.5), (0.2, 0.8), (0.8, 0.8). Five linear functions of which the highest is that of "
            "the class exist, at a distance of at least 0.032 from every example; no line parts the middle class from the "
            "rest. After the description of the first example of Xu & Zhang 2005, whose points are not known.",
            **SYNTHETIC,
        ),
        Dataset(
            name="four-spirals",
            title="Four spirals: arms in the plane that wind about each other",
            classes=(0, 1, 2, 3),
            target_names=("arm 1", "arm 2", "arm 3", "arm 4"),
            counts=(100,) * 4,
            read=partial(_read_synthetic, four_spirals),
            notes="Archimedean spirals of pitch 2, a quarter of a turn apart, from a quarter of a turn to 1.25 turns, the "
            "angle uniform; normal noise, standard deviation 0.05 in each coordinate. After the description of the second "
            "example of Xu & Zhang 2005, whose points are not known.",
            **SYNTHETIC,
        ),
    )
}


# data/README.md and the command line.

PREAMBLE = """\
# Data

This page is written from the registry in `study/datasets.py`, by `python -m study.datasets readme > data/README.md`.

`study.datasets.load(name)` looks for a file in the folder that the environment variable `KP_DATA` names, then in
`data/raw`; if it is in neither, it is downloaded into `data/raw` from the first address that has it, unless
`KP_OFFLINE=1`. The sha256 of a file is checked whenever it is read. Files in `KP_DATA` are never written to, and the
files themselves are not part of this repository. Values are as published: not scaled, not shuffled.

    python -m study.datasets                     # lists the sets
    python -m study.datasets fetch [NAME...]     # downloads what is absent
    python -m study.datasets verify [NAME...]    # checks what is there, downloads nothing

An address `zip#member` stands for a member of an archive. The sha256 of a bundled set is over its arrays, as
`study.datasets.fingerprint` defines it. A synthetic set needs a seed, and nothing else.
"""


def readme():
    """The text of data/README.md: every set's shape, classes, licence, citation, files, sha256, addresses."""
    lines = [PREAMBLE, "| set | from | rows | test rows | features | classes |", "|---|---|---:|---:|---:|---:|"]
    for d in DATASETS.values():
        lines.append(
            f"| [{d.name}](#{d.name}) | {d.kind} | {d.n_train:,} | {f'{d.n_test:,}' if d.n_test else '-'} "
            f"| {d.n_features} | {len(d.classes)} |"
        )
    for d in DATASETS.values():
        lines += ["", f"## {d.name}", "", f"{d.title}. {d.notes}", ""]
        lines += [f"- source: {d.source}", f"- licence: {d.licence}", f"- cite: {d.citation}"]
        lines += [f"- shape: {d.n_train:,} x {d.n_features} {d.dtype}" + (f", test {d.n_test:,}" if d.n_test else "")]
        lines += [f"- split: {d.split}"] + ([f"- sha256: `{d.sha256}`"] if d.sha256 else [])
        lines += ["", "| label | class | rows |" + (" test rows |" if d.n_test else "")]
        lines += ["|---|---|---:|" + ("---:|" if d.n_test else "")]
        for i, (label, name) in enumerate(zip(d.classes, d.target_names, strict=True)):
            lines += [f"| {label} | {name} | {d.counts[i]:,} |" + (f" {d.test_counts[i]:,} |" if d.n_test else "")]
        for file in d.files:
            lines += ["", f"`{file.path}`, {file.size:,} bytes, sha256 `{file.sha256}`", ""]
            lines += [f"- <{address}>" for address in file.addresses]
    return "\n".join(lines) + "\n"


def _listing():
    """One line a set: its name, its size, how many of its files are there, right or wrong."""
    yield f"{'set':<18}{'rows':>7}{'test':>7}{'features':>9}{'classes':>8}  found"
    for d in DATASETS.values():
        found = f"{sum(find(file) is not None for file in d.files)} of {len(d.files)} files" if d.files else d.kind
        yield f"{d.name:<18}{d.n_train:>7}{d.n_test or '-':>7}{d.n_features:>9}{len(d.classes):>8}  {found}"


def main(argv=None):
    """Lists, fetches, verifies the sets or prints data/README.md. Returns 0, or 1 if a set could not be had."""
    parser = argparse.ArgumentParser(prog="python -m study.datasets", description="The data sets of the study.")
    commands = parser.add_subparsers(dest="command")
    commands.add_parser("list", help="list the sets (the default)")
    for command, text in (("fetch", "download what is absent"), ("verify", "check what is there, download nothing")):
        commands.add_parser(command, help=text).add_argument("names", metavar="NAME", nargs="*", help="default: all")
    commands.add_parser("readme", help="print data/README.md")
    arguments = parser.parse_args(argv)
    if arguments.command == "readme":
        sys.stdout.write(readme())
        return 0
    try:
        if arguments.command in (None, "list"):
            print(*_listing(), sep="\n")
            return 0
        names = [_registered(name).name for name in arguments.names] or list(DATASETS)
    except DataError as error:
        print(error, file=sys.stderr)
        return 1
    failures = sum(not _report(name, download=arguments.command == "fetch") for name in names)
    if failures:
        print(f"{failures} of {len(names)} sets failed", file=sys.stderr)
    return int(failures > 0)


def _report(name, *, download):
    """Obtain every file of a set, then load it; print what was found. True if all was well."""
    well = True
    for file in DATASETS[name].files:
        try:
            print(f"{name}: {_obtain(file, download=download)[0]}: sha256 as registered")
        except DataError as error:
            print(f"{name}: {error}", file=sys.stderr)
            well = False
    if well:
        try:
            load(name, download=False)
            print(f"{name}: shape, dtype and class counts as registered")
        except DataError as error:
            print(f"{name}: {error}", file=sys.stderr)
            well = False
    return well


if __name__ == "__main__":
    sys.exit(main())


def facts(name):
    """What the arrays of a set depend on, as plain values."""
    return checksums(name)


def definitions(name):
    """The functions that give a set its arrays."""
    return ()
