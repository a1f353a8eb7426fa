"""Datasets are found, downloaded from a server on loopback, verified and registered; the command line. The arrays are
the subject of test_datasets_arrays."""

import hashlib
import http.server
import io
import multiprocessing
import os
import stat
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from study import datasets
from study.datasets import DATASETS, DataError, Dataset, File, fetch, registry
from study.datasets.__main__ import main, readme

ROOT = Path(__file__).resolve().parents[2]
TABLE = b"".join(b"%d,%d,%s\n" % (i, i * i, b"ab"[i % 2 : i % 2 + 1]) for i in range(500))
pause = threading.Event()
CORRUPT = bytes([TABLE[0] ^ 1]) + TABLE[1:]


def sha256(blob):
    return hashlib.sha256(blob).hexdigest()


def zipped(name, blob):
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as target:
        target.writestr(f"folder/{name}.data", blob)
    return archive.getvalue()


ANSWERS = {  # path: the body, and the length that is announced
    "/good": (TABLE, len(TABLE)),
    "/corrupt": (CORRUPT, len(CORRUPT)),
    "/truncated": (TABLE[:1000], len(TABLE)),
    "/page": (b"<html>please log in</html>", 26),
    "/good.zip": (zipped("tiny", TABLE), None),
    "/corrupt.zip": (zipped("tiny", CORRUPT), None),
    "/other.zip": (zipped("other", TABLE), None),
}


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers as ANSWERS says; /silent never ends, /endless and /slow send for ever, much and little at a time, /recovering
    is unavailable once, anything else is not found."""

    def log_message(self, *args):
        pass

    def do_GET(self):
        self.server.asked.append(self.path)
        path = "/page" if self.path in ("/endless", "/slow") else "/truncated" if self.path == "/silent" else self.path
        status = 200 if path in ANSWERS else 404
        if path == "/recovering":
            status = 503 if self.server.asked.count(path) == 1 else 200
            path = "/good"
        body, length = ANSWERS[path] if status == 200 else (b"", 0)
        self.send_response(status)
        if "gzip" in self.headers.get("Accept-Encoding", ""):  # as servers of .gz files say, unless it is not accepted
            self.send_header("Content-Encoding", "gzip")
        if length is not None and path == self.path:
            self.send_header("Content-Length", str(length))
        self.end_headers()
        self.wfile.write(body)
        if self.path == "/silent":
            self.server.closing.wait(10)
        while self.path in ("/endless", "/slow") and not self.server.closing.wait(0.02 * (self.path == "/slow")):
            try:
                self.wfile.write(bytes(2**16 if self.path == "/endless" else 1))
            except OSError:
                break
            self.server.sent += 2**16


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("no_proxy", "*")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.asked = []
        server.sent = 0
        server.closing = threading.Event()
        server.address = f"http://127.0.0.1:{server.server_port}/"
        thread = threading.Thread(target=server.serve_forever, kwargs=dict(poll_interval=0.01))
        thread.start()
        yield server
        server.closing.set()
        server.shutdown()
        thread.join()


@pytest.fixture
def raw(tmp_path, monkeypatch):
    """An empty data/raw of our own, with neither KP_DATA nor KP_OFFLINE set, and no pause between attempts."""
    monkeypatch.setattr(fetch, "RAW", tmp_path / "raw")
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    monkeypatch.delenv("KP_DATA", raising=False)
    monkeypatch.delenv("KP_OFFLINE", raising=False)
    return tmp_path / "raw"


@pytest.fixture
def register(monkeypatch):
    """Register the set 'tiny', whose file is TABLE, or the given bytes, at the given addresses. Returns the file."""

    def register(*addresses, blob=TABLE, **changes):
        file = File("uci/tiny.data", sha256(blob), len(blob), addresses)
        tiny = dict(dtype="int64", feature_names=("i", "i squared"), counts=(250, 250), parser="tables")
        tiny |= dict(classes=("a", "b"), target_names=("even", "odd"), files=(file,))
        tiny |= dict(options=dict(separator=",", dtype="int64", labels="str"))
        texts = dict.fromkeys("title source licence citation notes".split(), "")
        monkeypatch.setitem(DATASETS, "tiny", Dataset(name="tiny", **texts, **(tiny | changes)))
        return file

    return register


def put(folder, blob=TABLE):
    """Write the file of 'tiny' by hand."""
    path = folder / "uci" / "tiny.data"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(blob)
    return path


def left_in(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def load_error(**options):
    """The message with which loading 'tiny' fails."""
    with pytest.raises(DataError) as caught:
        datasets.load("tiny", **options)
    return str(caught.value)


# Download.


@pytest.mark.parametrize("address", ["good", "good.zip#tiny.data", "recovering"])
def test_an_absent_file_is_downloaded_verified_and_kept(server, raw, register, tmp_path, address):
    register(server.address + address)
    data = datasets.load("tiny")
    assert data.X.tolist() == [[i, i * i] for i in range(500)] and data.y.tolist() == ["a", "b"] * 250
    kept = raw / "uci" / "tiny.data"
    usual = tmp_path / "usual"
    usual.touch()
    assert kept.read_bytes() == TABLE and left_in(raw) == ["uci", "uci/tiny.data"]
    assert os.name != "posix" or stat.S_IMODE(kept.stat().st_mode) == stat.S_IMODE(usual.stat().st_mode)
    assert len(server.asked) == 1 + (address == "recovering")
    datasets.load("tiny", download=False)


BAD = {
    "corrupt": sha256(CORRUPT),
    "truncated": "IncompleteRead",
    "page": "does not match",
    "missing": "404",
    "corrupt.zip#tiny.data": sha256(CORRUPT),
    "other.zip#tiny.data": "expected the member tiny.data in the archive, found folder/other.data",
    "page#tiny.data": "BadZipFile",
}


@pytest.mark.parametrize("bad", BAD)
def test_a_bad_address_is_named_with_its_reason_and_the_next_one_serves(server, raw, register, bad):
    register(server.address + bad)
    message = load_error()
    assert message.startswith(f"uci/tiny.data: the download failed from every URL:\n  {server.address}{bad}\n")
    for part in (BAD[bad], f"put the file at {raw}", "KP_DATA"):
        assert part in message
    assert not raw.exists()
    fetch.obtain(register(server.address + bad, server.address + "good"))
    assert left_in(raw) == ["uci", "uci/tiny.data"]


@pytest.mark.parametrize(
    ("address", "limit", "message"),
    [
        ("endless", {}, f"the response has more than the expected {len(TABLE):,} bytes"),
        ("endless#tiny.data", {"LARGEST_ARCHIVE": 10**6}, "the response has more than the expected 1,000,000 bytes"),
        ("slow", {"LONGEST": 0.2}, "not complete after 0.2 seconds"),
    ],
)
def test_a_server_that_sends_too_much_or_for_too_long_is_given_up(
    server, raw, register, monkeypatch, tmp_path, address, limit, message
):
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    for name, value in limit.items():
        monkeypatch.setattr(fetch, name, value)
    register(server.address + address)
    assert message in load_error()
    assert len(server.asked) == 1 and server.sent < 50 * 2**20  # what is on its way between them
    assert left_in(tmp_path) == ["tmp"]


def test_a_server_that_is_silent_or_away_is_given_up(server, raw, register, monkeypatch):
    monkeypatch.setattr(fetch, "TIMEOUT", 0.2)
    register(server.address + "silent", "http://127.0.0.1:1/good")
    message = load_error()
    assert "Read timed out" in message and "http://127.0.0.1:1/good\n    ConnectionError" in message


def test_an_interrupted_download_leaves_nothing(server, raw, register, monkeypatch):
    def interrupted(*args):
        raise KeyboardInterrupt

    register(server.address + "good")
    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        datasets.load("tiny")
    assert left_in(raw) == ["uci"]


def test_a_place_that_cannot_be_written_to_is_reported(server, raw, register):
    raw.write_text("a file where a folder should be")
    register(server.address + "good")
    message = load_error()
    assert str(raw / "uci" / "tiny.data") in message and "the file cannot be written" in message and "KP_DATA" in message


def test_offline_and_without_download_no_address_is_asked(server, raw, register, monkeypatch):
    register(server.address + "good")
    assert "downloading was not requested" in load_error(download=False)
    monkeypatch.setenv("KP_OFFLINE", "1")
    assert "KP_OFFLINE" in load_error() and server.asked == [] and not raw.exists()


def test_every_file_has_two_addresses():
    for file in (file for dataset in DATASETS.values() for file in dataset.files if not file.path.startswith("own/")):
        assert len(set(file.addresses)) >= 2
        assert all(address.endswith(file.path.rpartition("/")[2]) for address in file.addresses)


@pytest.mark.skipif(sys.platform != "linux", reason="processes are forked on Linux")
def test_two_processes_fetch_the_same_file_at_once(server, raw, register):
    file = register(server.address + "good")
    fork = multiprocessing.get_context("fork")
    both = [fork.Process(target=lambda: fetch.read(file, fetch.obtain(file))) for _ in range(2)]
    for process in both:
        process.start()
    for process in both:
        process.join(60)
    assert [process.exitcode for process in both] == [0, 0]
    assert left_in(raw) == ["uci", "uci/tiny.data"] and (raw / "uci" / "tiny.data").read_bytes() == TABLE


# Files that are there.


def test_kp_data_comes_before_data_raw_and_both_before_a_download(server, raw, register, tmp_path, monkeypatch):
    file = register(server.address + "good")
    own = tmp_path / "own"
    own.mkdir()
    monkeypatch.setenv("KP_DATA", str(own))
    assert fetch.obtain(file) == fetch.obtain(file) == raw / "uci" / "tiny.data"
    path = put(own)
    assert fetch.obtain(file) == path
    assert server.asked == ["/good"]


@pytest.mark.parametrize(("where", "blob"), [("own", CORRUPT), ("raw", b"")])
def test_a_wrong_file_stops_the_load_and_is_not_touched(server, raw, register, tmp_path, monkeypatch, where, blob):
    register(server.address + "good")
    path = put(tmp_path / where, blob)
    if where == "own":
        monkeypatch.setenv("KP_DATA", str(tmp_path / "own"))
    message = load_error()
    remedy = "replace it with the registered file, or unset KP_DATA" if where == "own" else "delete the file and run"
    assert message.startswith(f"{path}: this is not the registered file") and "KP_DATA" in message
    assert f"found {len(blob)} bytes with sha256 {sha256(blob)}; {remedy}" in message
    assert path.read_bytes() == blob and server.asked == []


@pytest.mark.parametrize(
    "name",
    [
        "train-images-idx3-ubyte",
        "train-images.idx3-ubyte",
        "TRAIN-IMAGES.IDX3-UBYTE.GZ",
        "MNIST/raw/train-images-idx3-ubyte.gz",
        "raw/train-images-idx3-ubyte",
    ],
)
@pytest.mark.parametrize("whole", [True, False])
def test_a_file_under_another_usual_name_is_pointed_out(server, raw, tmp_path, monkeypatch, name, whole):
    file = File("mnist/train-images-idx3-ubyte.gz", sha256(TABLE), len(TABLE), (server.address + "missing",))
    path = tmp_path / "shared" / name
    path.parent.mkdir(parents=True)
    path.write_bytes(TABLE if whole else TABLE[1:])
    (path.parent / "t10k-images-idx3-ubyte").write_bytes(TABLE)
    (tmp_path / "shared" / "link").symlink_to(tmp_path)
    monkeypatch.setenv("KP_DATA", str(tmp_path / "shared"))
    told = (
        f"{path} has the size of this file: if it is this file, copy it to {raw}" if whole else f"{path} has a similar name"
    )
    for download in (True, False):
        with pytest.raises(DataError) as caught:
            fetch.obtain(file, download=download)
        assert f"\n{told}" in str(caught.value) and str(caught.value).count(str(tmp_path / "shared" / "")) < 4
        assert "t10k" not in str(caught.value)


def test_a_large_folder_is_not_searched_to_its_end(raw, register, tmp_path, monkeypatch):
    monkeypatch.setattr(fetch, "MOST_FOLDERS", 3)
    for place in range(9):
        (tmp_path / "shared" / str(place)).mkdir(parents=True)
        (tmp_path / "shared" / str(place) / "tiny.data").touch()
    monkeypatch.setenv("KP_DATA", str(tmp_path / "shared"))
    register()
    assert load_error(download=False).count("similar name") == 2


@pytest.mark.parametrize("folder", ["mistyped", "~no_such_user/data"])
def test_kp_data_must_name_a_folder(raw, register, monkeypatch, folder):
    register()
    monkeypatch.setenv("KP_DATA", folder)
    assert f"KP_DATA: the folder {folder} does not exist" in load_error()


@pytest.mark.parametrize("make", [Path.mkdir, getattr(os, "mkfifo", Path.mkdir)])
def test_a_folder_or_a_pipe_in_place_of_a_file_is_reported(raw, register, make):
    register()
    path = put(raw)
    path.unlink()
    make(path)
    assert f"{path}: this is a folder or a device, not a file; delete" in load_error()


def test_a_set_is_parsed_once_and_again_if_its_file_changes(raw, register):
    register()
    path = put(raw)
    data = datasets.load("tiny")
    assert datasets.load("tiny") is data
    path.write_bytes(CORRUPT)
    os.utime(path, (0, 0))
    assert sha256(CORRUPT) in load_error()


def test_arrays_of_every_kind_of_set_are_read_only(raw, register):
    register(**HALVES | dict(test_counts=(125, 125)))
    put(raw)
    for name in ("tiny", "digits", "moons"):
        data = datasets.load(name)
        for array in (data.X, data.y, data.X_test, data.y_test, data.class_indices, data.signs):
            assert array is None or not array.flags.writeable


def test_what_is_not_registered_is_answered_with_what_is(register):
    register(parser="newest")
    for name, message in (
        ("mnits", "^'mnits': there is no dataset of this name among mnist, .*; did you mean 'mnist'"),
        ("?", "see 'python -m study.datasets'"),
        ("tiny", "tiny: expected a parser among mnist, .*, got 'newest'; add it to PARSERS"),
    ):
        with pytest.raises(DataError, match=message):
            datasets.load(name)


def test_a_verified_file_that_cannot_be_parsed_is_named(raw, register):
    register(options={})
    path = put(raw)
    message = load_error()
    assert message.startswith(f"{path}: expected float64 values and int64 labels")
    assert message.endswith("; correct data/registry.toml"), "its bytes are the registered ones"


HALVES = dict(options=dict(separator=",", dtype="int64", labels="str", n_train=250), counts=(125, 125))


@pytest.mark.parametrize(
    "change",
    [
        dict(counts=(249, 251)),
        dict(dtype="float64"),
        dict(feature_names=("i",)),
        dict(classes=("a", "c")),
        HALVES | dict(test_counts=(125, 124)),
    ],
)
def test_arrays_that_differ_from_the_registry_are_refused(raw, register, change):
    register(**change)
    put(raw)
    with pytest.raises(DataError, match="tiny: expected a (training|test) part of"):
        datasets.load("tiny")


def test_the_readme_is_current():
    text = (ROOT / "data" / "README.md").read_text(encoding="utf-8")
    assert text == readme(), "run: python -m study.datasets readme > data/README.md"


def test_a_bundled_copy_that_changed_is_refused(monkeypatch):
    monkeypatch.setitem(DATASETS, "iris-bundled", replace(DATASETS["iris-bundled"], sha256="0" * 64))
    with pytest.raises(DataError, match="iris-bundled: expected the sha256 0000.*scikit-learn"):
        datasets.load("iris-bundled")


def test_a_bundled_set_that_is_new_is_answered_with_the_sha256_to_enter(monkeypatch):
    found = DATASETS["iris-bundled"].sha256
    monkeypatch.setitem(DATASETS, "iris-bundled", replace(DATASETS["iris-bundled"], sha256=None))
    with pytest.raises(DataError, match=f"expected the sha256 None .*, found {found}; .*enter what was found for a new set"):
        datasets.load("iris-bundled")


# The registry and what is derived from it.


@pytest.mark.parametrize(
    ("line", "changed", "problem"),
    [
        ('title = "MNIST', 'titel = "MNIST', "titel"),
        ("counts = [5923, ", "counts = [", r"expected 10 target_names, 10 counts"),
        ("classes = [0, 1, 2,", "classes = [1, 0, 2,", "classes: expected distinct values in sorted order"),
        ('sha256 = "440f', 'sha256 = "440F', "train-images-idx3-ubyte.gz: expected a sha256"),
    ],
)
def test_a_wrong_entry_is_refused_with_its_name(tmp_path, line, changed, problem):
    text = registry.PATH.read_text(encoding="utf-8")
    assert line in text
    (tmp_path / "registry.toml").write_text(text.replace(line, changed, 1), encoding="utf-8")
    with pytest.raises(DataError, match=rf"registry.toml: \[mnist\]: .*{problem}"):
        registry.read(tmp_path / "registry.toml")


def test_facts_tell_what_changes_the_arrays_and_nothing_else(register):
    register("http://one/")
    facts = datasets.facts("tiny")
    register("http://two/", split="other", test_counts=())
    assert datasets.facts("tiny") == facts
    for change in (dict(blob=CORRUPT), dict(options={}), dict(parser="vowel"), dict(dtype="int8"), dict(classes=("a", "c"))):
        register(**change)
        assert datasets.facts("tiny") != facts


# data/README.md and the command line.


def test_the_command_line_lists_every_set(raw, register, capsys):
    register()
    put(raw)
    assert main(["list"]) == 0
    found = {line.split()[0]: line for line in capsys.readouterr().out.splitlines()[1:]}
    assert list(found) == list(DATASETS) and found["digits"].endswith("bundled")
    assert found["tiny"].endswith("1 of 1 files") and found["mnist"].endswith("0 of 4 files")


def test_the_command_line_fetches_and_verifies(server, raw, register, capsys):
    register(server.address + "good")
    assert main(["verify", "tiny"]) == 1 and server.asked == []
    assert main(["fetch", "tiny"]) == 0 and server.asked == ["/good"]
    assert main(["verify", "tiny", "moons", "digits"]) == 0
    put(raw, CORRUPT)
    assert main(["fetch", "tiny"]) == main(["verify", "tiny", "moons", "blobs2d"]) == 1
    out, err = capsys.readouterr()
    assert sha256(CORRUPT) in err and "1 of 3 sets failed" in err and "blobs2d: shape" in out
    assert main(["verify", "moons", "tiny", "blobs2d", "--fail-fast"]) == 1
    out, err = capsys.readouterr()
    assert err.endswith("tiny failed; 1 of 3 sets were not tried (--fail-fast)\n") and "blobs2d" not in out
    assert (raw / "uci" / "tiny.data").read_bytes() == CORRUPT


def test_the_command_line_ends_without_a_traceback_when_it_is_no_longer_read():
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "study.datasets", "readme"]
    run = subprocess.run(command, cwd=ROOT, stdout=writer, stderr=subprocess.PIPE, text=True)
    os.close(writer)
    assert (run.returncode, run.stderr) == (1, "")


def test_a_fetch_that_is_ended_leaves_nothing_behind_and_says_so(server, raw, tmp_path):
    """SIGTERM, as from a batch system or at shutdown, while the server is silent."""
    program = (
        "import runpy, sys; from pathlib import Path; from dataclasses import replace\n"
        "from study.datasets import DATASETS, File, fetch\n"
        "fetch.RAW = Path(sys.argv.pop(1))\n"
        f"file = File('uci/tiny.data', '0' * 64, {len(TABLE)}, (sys.argv.pop(1),))\n"
        "DATASETS['iris'] = replace(DATASETS['iris'], files=(file,))\n"
        "runpy.run_module('study.datasets', run_name='__main__')"
    )
    command = [sys.executable, "-c", program, str(raw), server.address + "silent", "fetch", "iris"]
    (tmp_path / "tmp").mkdir()
    environment = os.environ | {"TMPDIR": str(tmp_path / "tmp")}
    process = subprocess.Popen(command, cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True)
    while not server.asked:
        pause.wait(0.05)
    process.terminate()
    _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (1, "interrupted; files that were fetched whole are kept\n")
    assert left_in(tmp_path) == ["tmp"]
