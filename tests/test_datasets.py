"""The registry, the verified download against a real server on loopback, the parsers, the synthetic sets."""

import gzip
import hashlib
import http.server
import io
import os
import stat
import subprocess
import sys
import threading
import time
import zipfile
from collections import Counter
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from kp import MulticlassKernelPerceptron, MulticlassPerceptron, datasets
from study.datasets import DATASETS, DataError, Dataset, File

REPOSITORY = Path(__file__).resolve().parents[1]
STUDY = "mnist iris sonar vowel wine seeds winequality-red winequality-white optdigits pendigits letter satimage".split()
BUNDLED = ["digits", "iris-bundled", "wine-bundled"]
SYNTHETIC = {
    "blobs2d": datasets.blobs,
    "gaussians2d": datasets.gaussians,
    "moons": datasets.moons,
    "spirals": datasets.spirals,
    "five-classes": datasets.five_classes,
    "four-spirals": datasets.four_spirals,
}
TABLE = b"".join(b"%d,%d,%s\n" % (i, i * i, b"ab"[i % 2 : i % 2 + 1]) for i in range(500))
CORRUPT = bytes([TABLE[0] ^ 1]) + TABLE[1:]


def needs(*names):
    """Skip, with the reason, unless every file of the sets is on disk."""
    absent = [f.path for name in names for f in DATASETS[name].files if datasets.find(f) is None]
    if absent:
        pytest.skip(f"absent from KP_DATA and data/raw: {', '.join(absent)}")


def sha256(blob):
    return hashlib.sha256(blob).hexdigest()


def zipped(**members):
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as target:
        for name, blob in members.items():
            target.writestr(f"folder/{name}.data", blob)
    return archive.getvalue()


# A server on loopback: /good, /corrupt, /short (fewer bytes than announced), ...


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *args):
        pass

    def send(self, blob, *, announced=None, status=200):
        self.send_response(status)
        if announced is not None:
            self.send_header("Content-Length", str(announced))
        self.end_headers()
        self.wfile.write(blob)

    def do_GET(self):
        self.server.asked.append(self.path)
        try:
            getattr(self, "get_" + self.path[1:].replace(".", "_"), self.get_missing)()
        except OSError:
            pass  # the client has gone away, as some of the tests want

    def get_missing(self):
        self.send(b"no such file", announced=12, status=404)

    def get_good(self):
        self.send(TABLE, announced=len(TABLE))

    def get_good_without_length(self):
        self.send(TABLE)

    def send_chunked(self, *chunks):
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for chunk in chunks:
            self.wfile.write(b"%x\r\n%b\r\n" % (len(chunk), chunk))

    def get_good_chunked(self):
        self.send_chunked(TABLE[:1000], TABLE[1000:], b"")

    def get_short_chunked(self):
        self.send_chunked(TABLE[:1000])

    def get_corrupt(self):
        self.send(CORRUPT, announced=len(CORRUPT))

    def get_short(self):
        self.send(TABLE[:1000], announced=len(TABLE))

    def get_short_without_length(self):
        self.send(TABLE[:1000])

    def get_page(self):
        self.send(b"<html>please log in</html>", announced=26)

    def get_silent(self):
        self.send(TABLE[:1000], announced=len(TABLE))
        self.server.closing.wait(5)

    def get_drip(self):
        self.send(b"", announced=len(TABLE))
        for i in range(len(TABLE)):
            self.wfile.write(TABLE[i : i + 1])
            if self.server.closing.wait(0.02):
                return

    def get_endless(self):
        self.send(b"")
        while not self.server.closing.is_set():
            self.wfile.write(bytes(2**16))

    def get_good_at_last(self):
        if self.server.asked.count(self.path) < 3:
            self.send(b"", announced=0, status=503)
        else:
            self.get_good()

    def get_good_zip(self):
        blob = zipped(other=b"not this", tiny=TABLE)
        self.send(blob, announced=len(blob))

    def get_corrupt_zip(self):
        blob = zipped(tiny=CORRUPT)
        self.send(blob, announced=len(blob))

    def get_without_member_zip(self):
        blob = zipped(other=TABLE)
        self.send(blob, announced=len(blob))

    def get_short_zip(self):
        self.send(zipped(tiny=TABLE)[:-40])


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("no_proxy", "*")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.asked, server.closing = [], threading.Event()
        server.address = f"http://127.0.0.1:{server.server_port}/"
        thread = threading.Thread(target=server.serve_forever, kwargs=dict(poll_interval=0.01))
        thread.start()
        yield server
        server.closing.set()
        server.shutdown()
        thread.join()


@pytest.fixture
def raw(tmp_path, monkeypatch):
    """An empty data/raw of our own, with neither KP_DATA nor KP_OFFLINE set."""
    monkeypatch.setattr(datasets, "RAW", tmp_path / "raw")
    monkeypatch.delenv("KP_DATA", raising=False)
    monkeypatch.delenv("KP_OFFLINE", raising=False)
    return tmp_path / "raw"


@pytest.fixture
def register(monkeypatch):
    """Register the set 'tiny', whose file is TABLE, or the given bytes, at the given addresses."""

    def register(*addresses, blob=TABLE, path="uci/tiny.data", **changes):
        tiny = Dataset(
            name="tiny",
            title="",
            source="",
            licence="",
            citation="",
            dtype="int64",
            feature_names=("i", "i squared"),
            classes=("a", "b"),
            target_names=("even", "odd"),
            counts=(250, 250),
            files=(File(path, sha256(blob), len(blob), addresses),),
            read=partial(datasets._read_tables, sep=",", dtype="int64", labels=str),
        )
        monkeypatch.setitem(DATASETS, "tiny", replace(tiny, **changes))

    return register


def left_in(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def fetch_error(**transfer):
    """The message with which fetching 'tiny' fails."""
    with pytest.raises(DataError) as caught:
        datasets.fetch("tiny", **{"tries": 1, "pause": 0, "timeout": 5, "limit": 10, **transfer})
    return str(caught.value)


# Download.


@pytest.mark.parametrize("address", ["good", "good_without_length", "good_chunked", "good.zip#tiny.data"])
def test_a_good_file_is_downloaded_once_and_verified(server, raw, register, address):
    register(server.address + address)
    assert datasets.fetch("tiny") == [raw / "uci" / "tiny.data"]
    assert (raw / "uci" / "tiny.data").read_bytes() == TABLE
    data = datasets.load("tiny")
    np.testing.assert_array_equal(data.X, [[i, i * i] for i in range(500)])
    assert data.y.tolist() == ["a", "b"] * 250
    assert left_in(raw) == ["uci", "uci/tiny.data"]
    assert len(server.asked) == 1


def test_load_downloads_what_is_absent(server, raw, register):
    register(server.address + "good")
    assert datasets.load("tiny").X.shape == (500, 2)
    assert left_in(raw) == ["uci", "uci/tiny.data"]


@pytest.mark.skipif(os.name != "posix", reason="POSIX file modes")
def test_a_downloaded_file_has_the_usual_permissions(server, raw, register, tmp_path):
    register(server.address + "good")
    (path,) = datasets.fetch("tiny")
    usual = tmp_path / "usual"
    usual.touch()
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE(usual.stat().st_mode)


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("corrupt", sha256(CORRUPT)),
        ("short", "IncompleteRead(1000 bytes read"),
        ("short_without_length", f"expected {len(TABLE)} bytes, found 1000"),
        ("short_chunked", "IncompleteRead"),
        ("page", f"expected {len(TABLE)} bytes, found 26"),
        ("endless", f"expected {len(TABLE)} bytes, found more"),
        ("missing", "404"),
        ("corrupt.zip#tiny.data", sha256(CORRUPT)),
        ("without_member.zip#tiny.data", "expected the member tiny.data in the archive, found folder/other.data"),
        ("short.zip#tiny.data", "BadZipFile"),
        ("page#tiny.data", "BadZipFile"),
        ("missing.zip#tiny.data", "404"),
    ],
)
def test_a_bad_download_names_file_expected_found_way_out_and_leaves_nothing(server, raw, register, address, reason):
    register(server.address + address)
    message = fetch_error()
    for part in ("uci/tiny.data", sha256(TABLE), server.address + address, reason, f"put the file at {raw}", "KP_DATA"):
        assert part in message
    assert left_in(raw) == []


def test_a_server_that_falls_silent_is_given_up(server, raw, register):
    register(server.address + "silent")
    start = time.monotonic()
    assert "Read timed out" in fetch_error(timeout=0.2)
    assert time.monotonic() - start < 3
    assert left_in(raw) == []


def test_a_server_that_drips_is_given_up(server, raw, register):
    register(server.address + "drip")
    start = time.monotonic()
    assert "expected the whole in 0.3 s" in fetch_error(limit=0.3)
    assert time.monotonic() - start < 3
    assert left_in(raw) == []


def test_a_refused_connection_is_reported(raw, register, server):
    with http.server.HTTPServer(("127.0.0.1", 0), Handler) as closed:
        address = f"http://127.0.0.1:{closed.server_port}/good"
    register(address)
    message = fetch_error()
    assert address in message and "ConnectionError" in message and "uci/tiny.data" in message
    assert left_in(raw) == []


def test_a_file_without_addresses_is_reported(raw, register):
    register()
    message = fetch_error()
    assert "uci/tiny.data" in message and "no address is registered" in message and "KP_DATA" in message
    assert left_in(raw) == []


@pytest.mark.parametrize("bad", ["corrupt", "short", "missing", "silent", "short.zip#tiny.data"])
def test_the_second_address_serves_when_the_first_is_bad(server, raw, register, bad):
    register(server.address + bad, server.address + "good")
    (path,) = datasets.fetch("tiny", tries=1, timeout=0.2)
    assert path.read_bytes() == TABLE
    assert left_in(raw) == ["uci", "uci/tiny.data"]


def test_every_address_is_named_with_its_own_reason(server, raw, register):
    register(server.address + "missing", server.address + "corrupt", server.address + "short")
    lines = fetch_error().splitlines()
    for address, reason in (("missing", "404"), ("corrupt", sha256(CORRUPT)), ("short", "IncompleteRead")):
        assert reason in lines[lines.index(f"  {server.address}{address}") + 1]


def test_addresses_are_tried_again_in_turn(server, raw, register):
    register(server.address + "missing", server.address + "good_at_last")
    datasets.fetch("tiny", tries=3, pause=0)
    assert server.asked == ["/missing", "/good_at_last"] * 3
    assert left_in(raw) == ["uci", "uci/tiny.data"]


def test_rounds_are_parted_by_the_pause(server, raw, register, monkeypatch):
    slept = []
    monkeypatch.setattr(time, "sleep", lambda seconds: slept.append(seconds) if seconds else None)
    register(server.address + "missing", server.address + "missing")
    fetch_error(tries=3, pause=4.5)
    assert slept == [4.5, 4.5]


def test_an_archive_that_was_bad_is_asked_for_again(server, raw, register):
    register(server.address + "short.zip#tiny.data")
    fetch_error(tries=2)
    assert server.asked == ["/short.zip"] * 2


def test_the_file_appears_only_when_whole(server, raw, register, monkeypatch):
    """While pooch is at work, the folder holds nothing under the final name."""
    import pooch

    seen, retrieve = [], pooch.retrieve

    def spy(*args, **options):
        assert options["known_hash"] == sha256(TABLE)
        path = retrieve(*args, **options)
        seen.extend(left_in(raw))
        return path

    monkeypatch.setattr(pooch, "retrieve", spy)
    register(server.address + "good")
    datasets.fetch("tiny")
    assert any(path.endswith("/download") for path in seen)
    assert all(path.startswith(".part-") for path in seen)


def test_an_interrupted_download_leaves_nothing(server, raw, register, monkeypatch):
    def interrupted(self, *args):
        raise KeyboardInterrupt

    import tqdm

    monkeypatch.setattr(tqdm.tqdm, "update", interrupted)
    register(server.address + "good")
    with pytest.raises(KeyboardInterrupt):
        datasets.fetch("tiny")
    assert left_in(raw) == []


def test_a_place_that_cannot_be_written_to_is_reported(server, raw, register):
    raw.write_text("a file where a folder should be")
    register(server.address + "good")
    message = fetch_error()
    assert str(raw / "uci" / "tiny.data") in message and "a place to write to" in message and "KP_DATA" in message


def test_progress_is_shown_on_a_terminal_only(server, raw, register, monkeypatch, capsys):
    register(server.address + "good")
    (path,) = datasets.fetch("tiny")
    assert capsys.readouterr() == ("", "")
    path.unlink()
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    datasets.fetch("tiny")
    assert "uci/tiny.data" in capsys.readouterr().err


def test_offline_forbids_to_ask(server, raw, register, monkeypatch):
    register(server.address + "good")
    monkeypatch.setenv("KP_OFFLINE", "1")
    message = fetch_error()
    assert "uci/tiny.data" in message and "KP_OFFLINE" in message and str(raw) in message
    assert server.asked == [] and not raw.exists()
    monkeypatch.setenv("KP_OFFLINE", "0")
    datasets.fetch("tiny")
    assert server.asked == ["/good"]


# Files that are there.


def test_kp_data_comes_before_data_raw_and_both_before_a_download(server, raw, register, tmp_path, monkeypatch):
    register(server.address + "good")
    own = tmp_path / "own" / "uci" / "tiny.data"
    own.parent.mkdir(parents=True)
    monkeypatch.setenv("KP_DATA", str(tmp_path / "own"))
    assert datasets.fetch("tiny") == [raw / "uci" / "tiny.data"]
    assert datasets.fetch("tiny") == [raw / "uci" / "tiny.data"]
    own.write_bytes(TABLE)
    assert datasets.fetch("tiny") == [own]
    assert server.asked == ["/good"]


@pytest.mark.parametrize("blob", [CORRUPT, TABLE[:1000], b""])
@pytest.mark.parametrize("where", ["own", "raw"])
def test_a_wrong_file_stops_the_load_and_is_not_touched(server, raw, register, tmp_path, monkeypatch, where, blob):
    register(server.address + "good")
    path = tmp_path / where / "uci" / "tiny.data"
    path.parent.mkdir(parents=True)
    path.write_bytes(blob)
    if where == "own":
        monkeypatch.setenv("KP_DATA", str(tmp_path / "own"))
    with pytest.raises(DataError) as caught:
        datasets.load("tiny")
    expected = f"expected {len(TABLE)} bytes of sha256 {sha256(TABLE)}, found {len(blob)} bytes of sha256 {sha256(blob)}"
    for part in (str(path), expected, "delete the file", "KP_DATA"):
        assert part in str(caught.value)
    assert path.read_bytes() == blob and server.asked == []
    assert left_in(tmp_path) == [where, f"{where}/uci", f"{where}/uci/tiny.data"]


def test_kp_data_must_name_a_folder(server, raw, register, tmp_path, monkeypatch):
    register(server.address + "good")
    monkeypatch.setenv("KP_DATA", str(tmp_path / "mistyped"))
    assert "mistyped: expected KP_DATA to name a folder" in fetch_error()
    assert server.asked == []


def test_a_folder_in_place_of_a_file_is_reported(raw, register):
    register()
    (raw / "uci" / "tiny.data").mkdir(parents=True)
    message = fetch_error()
    assert str(raw / "uci" / "tiny.data") in message and "expected a readable file" in message


def test_load_without_download_asks_no_one(server, raw, register):
    register(server.address + "good")
    with pytest.raises(DataError, match="a download was not asked for"):
        datasets.load("tiny", download=False)
    assert server.asked == []


def test_an_unknown_name_is_answered_with_the_nearest():
    with pytest.raises(DataError, match="got 'mnits'; did you mean 'mnist'"):
        datasets.load("mnits")
    with pytest.raises(DataError, match="see 'python -m study.datasets'"):
        datasets.fetch("?")


HALVED = partial(datasets._read_tables, sep=",", dtype="int64", labels=str, n_train=250)


@pytest.mark.parametrize(
    "change",
    [
        dict(counts=(249, 251)),
        dict(counts=(249, 250)),
        dict(dtype="float64"),
        dict(feature_names=("i",)),
        dict(classes=("a", "c")),
        dict(test_counts=(1, 0)),
        dict(read=HALVED, counts=(125, 125)),
        dict(read=HALVED, counts=(125, 125), test_counts=(125, 124)),
    ],
)
def test_arrays_that_differ_from_the_registry_are_refused(raw, register, change):
    register(**change)
    (raw / "uci").mkdir(parents=True)
    (raw / "uci" / "tiny.data").write_bytes(TABLE)
    with pytest.raises(DataError, match="tiny: expected a (training|test) part of"):
        datasets.load("tiny")
    register(read=HALVED, counts=(125, 125), test_counts=(125, 125))
    assert len(datasets.load("tiny").X_test) == 250


def test_a_bundled_copy_that_changed_is_refused(monkeypatch):
    monkeypatch.setitem(DATASETS, "iris-bundled", replace(DATASETS["iris-bundled"], sha256="0" * 64))
    with pytest.raises(DataError, match="iris-bundled: expected the sha256 0000.*scikit-learn"):
        datasets.load("iris-bundled")


# IDX.


def idx(array, *, magic=None, shape=None, extra=b""):
    """The literal format: magic number, big-endian lengths, bytes; gzip-compressed."""
    header = (magic or 0x0800 + array.ndim).to_bytes(4, "big")
    for length in shape or array.shape:
        header += length.to_bytes(4, "big")
    return gzip.compress(header + array.tobytes() + extra)


IMAGES = np.arange(24, dtype=np.uint8).reshape(4, 3, 2)
MALFORMED = {
    "wrong magic": (idx(IMAGES, magic=2049), "expected the IDX magic number 2051, found 2049"),
    "wrong type code": (idx(IMAGES, magic=0x0D03), "expected the IDX magic number 2051, found 3331"),
    "little-endian": (idx(IMAGES, magic=0x03080000), "expected the IDX magic number 2051, found 50855936"),
    "no header": (gzip.compress(b"\0\0\x08\x03"), "expected an IDX header of 16 bytes, found 4 bytes"),
    "empty": (gzip.compress(b""), "expected an IDX header of 16 bytes, found 0 bytes"),
    "too few values": (idx(IMAGES[:-1], shape=(4, 3, 2)), "expected 24 values after an IDX header of shape"),
    "too many values": (idx(IMAGES, extra=b"\0"), "found 25"),
    "huge lengths": (idx(IMAGES, shape=(2**32 - 1,) * 3), f"expected {(2**32 - 1) ** 3} values"),
    "truncated gzip": (idx(IMAGES)[:-9], "expected whole gzip-compressed data"),
    "no gzip": (gzip.decompress(idx(IMAGES)), "expected whole gzip-compressed data"),
    "corrupt gzip": (idx(IMAGES)[:-6] + bytes(6), "expected whole gzip-compressed data"),
}


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 4), min_size=1, max_size=3), st.integers(0, 2**32 - 1))
def test_idx_arrays_are_read_as_they_were_written(shape, seed):
    array = np.random.RandomState(seed).randint(256, size=shape).astype(np.uint8)
    found = datasets.parse_idx(idx(array), ndim=array.ndim)
    np.testing.assert_array_equal(found, array)
    assert found.dtype == np.uint8 and found.flags.writeable


@pytest.mark.parametrize("case", MALFORMED)
def test_malformed_idx_names_file_expected_found_and_way_out(case):
    blob, problem = MALFORMED[case]
    with pytest.raises(DataError) as caught:
        datasets.parse_idx(blob, ndim=3, where="some/images.gz")
    assert str(caught.value).startswith("some/images.gz: ")
    assert problem in str(caught.value) and "delete the file" in str(caught.value)


@pytest.mark.parametrize("case", MALFORMED)
def test_a_registered_file_with_malformed_idx_is_named(raw, register, case):
    """The checksum is as registered; the content is not what the parser expects."""
    blob, problem = MALFORMED[case]

    def read(file):
        return datasets.parse_idx(file[1], ndim=3, where=file[0]), None, None, None

    register(blob=blob, path="mnist/images.gz", read=read)
    path = raw / "mnist" / "images.gz"
    path.parent.mkdir(parents=True)
    path.write_bytes(blob)
    with pytest.raises(DataError) as caught:
        datasets.load("tiny")
    assert str(caught.value).startswith(f"{path}: ") and problem in str(caught.value)
    assert left_in(raw) == ["mnist", "mnist/images.gz"]


# Tables.


def test_tables_forgive_blank_lines_doubled_tabs_and_padding():
    X, y = datasets.parse_table(b"1.5\t\t2\t 1\n3\t4\t10 \n \n\n", sep=None, dtype="float64")
    np.testing.assert_array_equal(X, [[1.5, 2], [3, 4]])
    assert y.tolist() == [1, 10] and y.dtype == np.int64
    X, y = datasets.parse_table(b'"head"\nT, 2,100\n A,30,  4', sep=",", dtype="int64", label=0, labels=str, header=1)
    np.testing.assert_array_equal(X, [[2, 100], [30, 4]])
    assert X.dtype == np.int64 and y.tolist() == ["T", "A"]


@pytest.mark.parametrize(
    ("blob", "problem"),
    [
        (b"1,2,1\n1,1\n", r"expected rows of one length, found lengths \[2, 3\]"),
        (b"", r"expected rows of one length, found lengths \[\]"),
        (b"1,?,1\n", "expected int64 values and int labels.*'\\?'"),
        (b"1,2,one\n", "expected int64 values and int labels.*'one'"),
        (b"1,2.5,1\n", "expected int64 values and int labels.*'2.5'"),
    ],
)
def test_malformed_tables_name_file_expected_found_and_way_out(blob, problem):
    with pytest.raises(DataError, match=f"some.csv: {problem}.*; delete the file"):
        datasets.parse_table(blob, sep=",", dtype="int64", where="some.csv")


# The registry, and the published files.


def test_every_set_of_the_study_is_registered():
    assert [*STUDY, *BUNDLED, *SYNTHETIC] == list(DATASETS)
    for name, dataset in DATASETS.items():
        assert name == dataset.name
        assert dataset.kind == ("file" if name in STUDY else "bundled" if name in BUNDLED else "synthetic")
        assert all([dataset.title, dataset.source, dataset.licence, dataset.citation, dataset.notes, dataset.split])
        assert len(dataset.classes) == len(dataset.target_names) == len(dataset.counts)
        assert list(dataset.classes) == sorted(set(dataset.classes))
        assert dataset.test_counts == () or len(dataset.test_counts) == len(dataset.classes)
        assert len(set(dataset.feature_names)) == dataset.n_features


def test_every_file_has_a_checksum_a_size_and_several_addresses():
    files = [file for dataset in DATASETS.values() for file in dataset.files]
    assert len({file.path for file in files}) == len({file.sha256 for file in files}) == len(files) == 18
    for file in files:
        assert len(file.sha256) == 64 and int(file.sha256, 16) and file.size > 0
        assert len(set(file.addresses)) == len(file.addresses) >= 2
        assert all(address.startswith(("http://", "https://")) for address in file.addresses)
        assert all(address.endswith(file.path.rpartition("/")[2]) for address in file.addresses)


FACTS = {  # name: rows, test rows, features, dtype of X, dtype of y
    "mnist": (60000, 10000, 784, np.uint8, np.uint8),
    "iris": (150, None, 4, np.float64, np.str_),
    "sonar": (208, None, 60, np.float64, np.str_),
    "vowel": (528, 462, 10, np.float64, np.int64),
    "wine": (178, None, 13, np.float64, np.int64),
    "seeds": (210, None, 7, np.float64, np.int64),
    "winequality-red": (1599, None, 11, np.float64, np.int64),
    "winequality-white": (4898, None, 11, np.float64, np.int64),
    "optdigits": (3823, 1797, 64, np.int64, np.int64),
    "pendigits": (7494, 3498, 16, np.int64, np.int64),
    "letter": (16000, 4000, 16, np.int64, np.str_),
    "satimage": (4435, 2000, 36, np.int64, np.int64),
    "digits": (1200, 597, 64, np.int64, np.int64),
    "iris-bundled": (150, None, 4, np.float64, np.int64),
    "wine-bundled": (178, None, 13, np.float64, np.int64),
    "blobs2d": (300, None, 2, np.float64, np.int64),
    "gaussians2d": (400, None, 2, np.float64, np.int64),
    "moons": (400, None, 2, np.float64, np.int64),
    "spirals": (400, None, 2, np.float64, np.int64),
    "five-classes": (200, None, 2, np.float64, np.int64),
    "four-spirals": (400, None, 2, np.float64, np.int64),
}


@pytest.mark.parametrize("name", DATASETS)
def test_arrays_have_the_published_shape_and_type(name):
    needs(name)
    n, n_test, d, dtype, label_type = FACTS[name]
    data = datasets.load(name, download=False)
    assert data.X.shape == (n, d) and data.y.shape == (n,)
    assert data.X.dtype == dtype and np.issubdtype(data.y.dtype, label_type)
    assert (data.X_test is None) == (data.y_test is None) == (n_test is None)
    if n_test:
        assert data.X_test.shape == (n_test, d) and data.y_test.shape == (n_test,)
        assert data.X_test.dtype == data.X.dtype and data.y_test.dtype == data.y.dtype
    assert len(data.feature_names) == d and len(data.target_names) == len(data.classes)


COUNTS = {  # the label's column in the file, its class counts: training, test
    "iris.data": (-1, [50, 50, 50]),
    "sonar.all-data": (-1, [111, 97]),
    "wine.data": (0, [59, 71, 48]),
    "seeds_dataset.txt": (-1, [70, 70, 70]),
    "winequality-red.csv": (-1, [10, 53, 681, 638, 199, 18]),
    "winequality-white.csv": (-1, [20, 163, 1457, 2198, 880, 175, 5]),
    "vowel-context.data": (-1, [90] * 11),
    "optdigits.tra": (-1, [376, 389, 380, 389, 387, 376, 377, 387, 380, 382]),
    "optdigits.tes": (-1, [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]),
    "pendigits.tra": (-1, [780, 779, 780, 719, 780, 720, 720, 778, 719, 719]),
    "pendigits.tes": (-1, [363, 364, 364, 336, 364, 335, 336, 364, 336, 336]),
    "letter-recognition.data": (0, None),
    "sat.trn": (-1, [1072, 479, 961, 415, 470, 1038]),
    "sat.tst": (-1, [461, 224, 397, 211, 237, 470]),
}


@pytest.mark.parametrize("name", [name for name in STUDY if name != "mnist"])
def test_values_labels_and_counts_are_those_of_the_text(name):
    """Against a slow reading of the file: one float a cell."""
    needs(name)
    data, rows = datasets.load(name, download=False), []
    for file in DATASETS[name].files:
        column, counts = COUNTS[file.path.rpartition("/")[2]]
        lines = datasets.find(file).read_text().replace(",", " ").replace(";", " ").splitlines()
        cells = [line.split() for line in lines if line and '"' not in line]
        rows += [(row[column], row[:column] if column else row[1:]) for row in cells]
        found = Counter(row[column] for row in cells)
        if counts:
            assert [found[label] for label in sorted(found, key=lambda s: (len(s), s))] == counts
    if name == "vowel":
        assert [row[0] for _, row in rows] == ["0"] * 528 + ["1"] * 462
        rows = [(label, row[3:]) for label, row in rows]
    X = data.X if data.X_test is None else np.vstack([data.X, data.X_test])
    y = data.y if data.y_test is None else np.concatenate([data.y, data.y_test])
    assert [str(label) for label in y.tolist()] == [label for label, _ in rows]
    assert X.tolist() == [[float(cell) for cell in row] for _, row in rows]
    assert tuple(np.unique(data.y).tolist()) == data.classes


def test_letter_has_from_734_to_813_rows_of_each():
    needs("letter")
    data = datasets.load("letter", download=False)
    counts = np.unique(np.concatenate([data.y, data.y_test]), return_counts=True)[1]
    assert (len(counts), counts.min(), counts.max(), counts.sum()) == (26, 734, 813, 20000)


def test_mnist_has_the_published_counts_and_moments():
    needs("mnist")
    data = datasets.load("mnist", download=False)
    assert np.bincount(data.y).tolist() == [5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949]
    assert np.bincount(data.y_test).tolist() == [980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009]
    counts = np.bincount(data.X.ravel(), minlength=256)
    pixels = np.arange(256) / 255
    mean = counts @ pixels / counts.sum()
    assert round(mean, 4) == 0.1307
    assert round(np.sqrt(counts @ (pixels - mean) ** 2 / counts.sum()), 4) == 0.3081


def test_mnist_bytes_are_those_of_the_uncompressed_files():
    needs("mnist")
    data = datasets.load("mnist", download=False)
    header = b"".join(n.to_bytes(4, "big") for n in (2051, 10000, 28, 28))
    published = "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7"
    assert sha256(header + data.X_test.tobytes()) == published
    header = b"".join(n.to_bytes(4, "big") for n in (2049, 60000))
    published = "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5"
    assert sha256(header + data.y.tobytes()) == published


def test_bundled_iris_differs_from_uci_in_three_values():
    needs("iris")
    ours, bundled = datasets.load("iris", download=False), datasets.load("iris-bundled")
    differences = [(int(i) + 1, int(j)) for i, j in np.argwhere(ours.X != bundled.X)]
    assert differences == [(35, 3), (38, 1), (38, 2)]
    assert ours.X[[34, 37]].tolist() == [[4.9, 3.1, 1.5, 0.1]] * 2
    assert bundled.X[[34, 37]].tolist() == [[4.9, 3.1, 1.5, 0.2], [4.9, 3.6, 1.4, 0.1]]
    assert [ours.classes.index(label) for label in ours.y.tolist()] == bundled.y.tolist()


def test_bundled_wine_is_that_of_uci():
    needs("wine")
    ours, bundled = datasets.load("wine", download=False), datasets.load("wine-bundled")
    np.testing.assert_array_equal(ours.X, bundled.X)
    np.testing.assert_array_equal(ours.y, bundled.y + 1)


def test_bundled_digits_are_the_test_part_of_optdigits():
    needs("optdigits")
    ours, bundled = datasets.load("optdigits", download=False), datasets.load("digits")
    np.testing.assert_array_equal(ours.X_test, np.vstack([bundled.X, bundled.X_test]))
    np.testing.assert_array_equal(ours.y_test, np.concatenate([bundled.y, bundled.y_test]))


# Provenance.


def test_checksums_are_those_of_the_files(raw, register):
    register()
    assert datasets.checksums("tiny") == {"uci/tiny.data": sha256(TABLE)}
    assert list(datasets.checksums("mnist")) == [file.path for file in DATASETS["mnist"].files]


@pytest.mark.parametrize("name", BUNDLED)
def test_checksums_of_bundled_sets_are_fingerprints(name):
    assert datasets.checksums(name) == {name: datasets.fingerprint(datasets.load(name))}


def test_checksums_of_synthetic_sets_tell_seeds_apart():
    zero, one = (datasets.checksums("moons", random_state=seed) for seed in (0, 1))
    assert list(zero) == ["moons?random_state=0"] and list(one) == ["moons?random_state=1"]
    assert set(zero.values()) != set(one.values())
    assert zero == datasets.checksums("moons")


def test_a_fingerprint_is_the_sha256_of_a_fixed_layout():
    X, y = np.array([[1, 2], [3, 4]]), np.array([0, 1], np.uint8)
    data = datasets.Data("tiny", X, y, None, None, ("a", "b"), (0, 1), ("0", "1"))
    layout = b"X <i8 (2, 2)\n" + b"".join(i.to_bytes(8, "little") for i in (1, 2, 3, 4)) + b"y |u1 (2,)\n\x00\x01"
    assert datasets.fingerprint(data) == sha256(layout)
    for same in (replace(data, X=np.asfortranarray(X)), replace(data, X=X.astype(">i8"))):
        assert datasets.fingerprint(same) == datasets.fingerprint(data)
    for other in (replace(data, X=X.T), replace(data, X=X.astype("<i4")), replace(data, X_test=X, y_test=y)):
        assert datasets.fingerprint(other) != datasets.fingerprint(data)


# Synthetic sets.


@pytest.mark.parametrize("name", SYNTHETIC)
def test_a_seed_and_its_generator_give_the_same_set_and_the_generator_moves_on(name):
    state = np.random.RandomState(7)
    seeded, again = datasets.load(name, random_state=7), datasets.load(name, random_state=np.int64(7))
    given_state, next_state = datasets.load(name, random_state=state), datasets.load(name, random_state=state)
    np.testing.assert_array_equal(seeded.X, again.X)
    np.testing.assert_array_equal(seeded.X, given_state.X)
    np.testing.assert_array_equal(seeded.y, given_state.y)
    assert not np.array_equal(seeded.X, next_state.X)


@pytest.mark.parametrize("name", SYNTHETIC)
def test_the_global_generator_is_left_alone(name):
    np.random.seed(3)
    expected = np.random.rand()
    np.random.seed(3)
    datasets.load(name)
    assert np.random.rand() == expected


@pytest.mark.parametrize("name", SYNTHETIC)
def test_synthetic_classes_are_balanced_and_in_random_order(name):
    X, y = SYNTHETIC[name](101, random_state=0)
    assert X.shape == (101, 2) and X.dtype == np.float64 and y.dtype == np.int64
    counts = np.bincount(y)
    assert counts.max() - counts.min() == 1
    assert 20 < np.count_nonzero(np.diff(y)) < 90  # neither sorted nor alternating


@pytest.mark.parametrize("generate", SYNTHETIC.values())
def test_synthetic_sets_say_what_they_expect(generate):
    for wrong in (None, np.random.default_rng(0), "0"):
        with pytest.raises(TypeError, match="random_state must be an int or a np.random.RandomState, got"):
            generate(random_state=wrong)
    with pytest.raises(ValueError, match="n_samples must be at least [2345], one a class, got 1"):
        generate(1, random_state=0)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_blobs_are_separable_with_the_stated_margin(seed):
    X, y = datasets.blobs(random_state=seed)
    angle = 2 * np.pi * np.arange(3) / 3
    projections = X @ np.array([np.cos(angle), np.sin(angle)])
    signs = np.where(y[:, None] == np.arange(3), 1, -1)
    assert (signs * projections).min() >= 0.5 - 1e-12


def test_blobs_have_the_stated_means_and_spread():
    X, y = datasets.blobs(30000, random_state=0)
    centred = X - 4 * np.column_stack([np.cos(2 * np.pi * y / 3), np.sin(2 * np.pi * y / 3)])
    assert np.abs(centred.mean(axis=0)).max() < 0.01
    assert np.hypot(*centred.T).max() <= 1.5 + 1e-12
    kept = 1 - (1 + 9 / 2) * np.exp(-9 / 2)  # E[|e|^2; |e| <= 3] / 2 for e ~ N(0, I) in the plane
    variance = 0.25 * kept / (1 - np.exp(-9 / 2))
    np.testing.assert_allclose(centred.var(axis=0), variance, rtol=0.03)


def test_the_best_rule_for_gaussians_errs_as_stated():
    X, y = datasets.gaussians(100000, random_state=0)
    error = np.mean((X[:, 0] > 0) != y)
    assert abs(error - norm.cdf(-1)) < 4 * np.sqrt(norm.cdf(-1) * norm.cdf(1) / 100000)
    X, y = datasets.gaussians(100000, distance=4.0, random_state=0)
    assert abs(np.mean((X[:, 0] > 0) != y) - norm.cdf(-2)) < 0.002


def test_moons_lie_on_their_half_circles_up_to_the_stated_spread():
    X, y = datasets.moons(20000, random_state=0, spread=0.0)
    np.testing.assert_allclose(np.hypot(*(X - np.outer(y, [1, 0.5])).T), 1)
    assert (X[y == 0, 1] >= 0).all() and (X[y == 1, 1] <= 0.5).all()
    noisy, _ = datasets.moons(20000, random_state=0)
    np.testing.assert_allclose((noisy - X).std(axis=0), 0.15, rtol=0.03)


def test_spirals_lie_on_their_arms_up_to_the_stated_spread():
    X, y = datasets.spirals(20000, random_state=0, spread=0.0)
    radius, angle = np.hypot(*X.T), np.arctan2(X[:, 1], X[:, 0])
    turns = radius - angle / (2 * np.pi) - np.where(y == 0, 0, 0.5)
    np.testing.assert_allclose(turns, np.round(turns), atol=1e-9)
    assert 0.25 <= radius.min() < 0.26 and 1.74 < radius.max() <= 1.75
    noisy, _ = datasets.spirals(20000, random_state=0)
    np.testing.assert_allclose((noisy - X).std(axis=0), 0.03, rtol=0.03)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_five_classes_keep_the_stated_distance_from_the_lines_between_them(seed):
    X, y = datasets.five_classes(random_state=seed)
    means = np.array([[0.2, 0.2], [0.8, 0.2], [0.5, 0.5], [0.2, 0.8], [0.8, 0.8]])
    f = 2 * X @ means.T - (means**2).sum(axis=1)
    for x, own, scores in zip(X, y, f, strict=True):
        others = np.delete(np.arange(5), own)
        steepness = 2 * np.hypot(*(means[own] - means[others]).T)
        assert ((scores[own] - scores[others]) / steepness).min() >= 0.3 / np.sqrt(2) - 0.18 - 1e-12, x


@pytest.mark.parametrize("seed", range(5))
def test_five_classes_are_separable_by_the_criterion_of_kesler_but_not_one_against_all(seed):
    from scipy.optimize import linprog

    X, y = datasets.five_classes(random_state=seed)
    together = MulticlassPerceptron(max_iter=100, random_state=seed).fit(X, y)
    assert together.converged_ and together.score(X, y) == 1
    for label in range(5):
        signed = np.where(y == label, 1, -1)[:, None] * np.column_stack([X, np.ones(len(X))])
        found = linprog(np.zeros(3), A_ub=-signed, b_ub=-np.ones(len(signed)), bounds=(None, None))
        assert found.status == (2 if label == 2 else 0)


def test_four_spirals_lie_on_their_arms_up_to_the_stated_spread():
    X, y = datasets.four_spirals(20000, random_state=0, spread=0.0)
    radius, angle = np.hypot(*X.T), np.arctan2(X[:, 1], X[:, 0])
    turns = radius / 2 - (angle / (2 * np.pi) - y / 4)
    np.testing.assert_allclose(turns, np.round(turns), atol=1e-9)
    assert 0.5 <= radius.min() < 0.51 and 2.49 < radius.max() <= 2.5
    noisy, _ = datasets.four_spirals(20000, random_state=0)
    np.testing.assert_allclose((noisy - X).std(axis=0), 0.05, rtol=0.03)


@pytest.mark.parametrize("seed", range(3))
def test_four_spirals_are_learnt_without_an_error_at_width_0_6_and_not_by_lines(seed):
    data = datasets.load("four-spirals", random_state=seed)
    curved = MulticlassKernelPerceptron(sigma=0.6, max_iter=100, random_state=seed).fit(data.X, data.y)
    assert curved.converged_ and curved.score(data.X, data.y) == 1
    straight = MulticlassPerceptron(max_iter=100, predictor="minimizing", random_state=seed).fit(data.X, data.y)
    assert straight.score(data.X, data.y) < 0.6


@pytest.mark.parametrize("name", ["moons", "spirals", "gaussians2d"])
def test_no_line_parts_the_other_planar_sets(name):
    """Farkas: the linear programme y (w x + b) >= 1 has no solution."""
    from scipy.optimize import linprog

    data = datasets.load(name)
    signed = np.where(data.y == 1, 1, -1)[:, None] * np.column_stack([data.X, np.ones(len(data.X))])
    assert linprog(np.zeros(3), A_ub=-signed, b_ub=-np.ones(len(signed)), bounds=(None, None)).status == 2
    blobs = datasets.load("blobs2d")
    signed = np.where(blobs.y == 1, 1, -1)[:, None] * np.column_stack([blobs.X, np.ones(len(blobs.X))])
    assert linprog(np.zeros(3), A_ub=-signed, b_ub=-np.ones(len(signed)), bounds=(None, None)).status == 0


# data/README.md and the command line.


def test_the_readme_is_current():
    text = (REPOSITORY / "data" / "README.md").read_text(encoding="utf-8")
    assert text == datasets.readme(), "run: python -m study.datasets readme > data/README.md"


def test_the_readme_tells_all_that_is_registered():
    text = datasets.readme()
    for dataset in DATASETS.values():
        section = text.split(f"\n## {dataset.name}\n")[1].split("\n## ")[0]
        parts = [dataset.title, dataset.source, dataset.licence, dataset.citation, dataset.notes, dataset.split]
        parts += [
            f"{dataset.n_train:,} x {dataset.n_features}",
            dataset.dtype,
            dataset.sha256 or "",
            *dataset.target_names,
        ]
        parts += [part for file in dataset.files for part in (file.path, file.sha256, *file.addresses)]
        assert [part for part in parts if part not in section] == []


def test_the_command_line_prints_the_readme():
    run = subprocess.run(
        [sys.executable, "-m", "study.datasets", "readme"], cwd=REPOSITORY, capture_output=True, check=True, timeout=60
    )
    assert run.stdout.decode("utf-8").replace("\r\n", "\n") == datasets.readme()
    assert run.stderr == b""


@pytest.mark.parametrize("arguments", [[], ["list"]])
def test_the_command_line_lists_every_set(raw, register, capsys, arguments):
    register()
    (raw / "uci").mkdir(parents=True)
    (raw / "uci" / "tiny.data").write_bytes(TABLE)
    assert datasets.main(arguments) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[1:]] == list(DATASETS)
    found = {line.split()[0]: line for line in lines}
    assert found["tiny"].endswith("1 of 1 files") and found["mnist"].endswith("0 of 4 files")
    assert found["digits"].endswith("bundled") and found["moons"].endswith("synthetic")


def test_the_command_line_fetches_and_verifies(server, raw, register, capsys):
    register(server.address + "good")
    assert datasets.main(["verify", "tiny"]) == 1 and server.asked == []
    assert datasets.main(["fetch", "tiny"]) == 0 and server.asked == ["/good"]
    assert datasets.main(["verify", "tiny", "moons", "digits"]) == 0
    assert "tiny: shape, dtype and class counts as registered" in capsys.readouterr().out
    (raw / "uci" / "tiny.data").write_bytes(CORRUPT)
    assert datasets.main(["verify", "tiny", "moons"]) == 1
    out, err = capsys.readouterr()
    assert sha256(CORRUPT) in err and "1 of 2 sets failed" in err and "moons: shape" in out
    assert datasets.main(["fetch", "tiny"]) == 1
    assert (raw / "uci" / "tiny.data").read_bytes() == CORRUPT


def test_the_command_line_verifies_more_than_the_checksum(raw, register, capsys):
    register(counts=(249, 251))
    (raw / "uci").mkdir(parents=True)
    (raw / "uci" / "tiny.data").write_bytes(TABLE)
    assert datasets.main(["verify", "tiny"]) == 1
    out, err = capsys.readouterr()
    assert "sha256 as registered" in out and "tiny: expected a training part" in err


def test_the_command_line_refuses_names_and_folders_that_are_not_there(raw, capsys, monkeypatch):
    assert datasets.main(["fetch", "mnits"]) == 1
    assert "did you mean 'mnist'" in capsys.readouterr().err
    monkeypatch.setenv("KP_DATA", str(raw / "mistyped"))
    assert datasets.main(["list"]) == 1
    assert "expected KP_DATA to name a folder" in capsys.readouterr().err
