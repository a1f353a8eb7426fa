"""Finds a registered file, downloads it if it is absent, and verifies its bytes.

A file is looked for in $KP_DATA, then in data/raw; if it is in neither, it is downloaded into data/raw, unless KP_OFFLINE
is set. A file that is there but wrong is an error: it is never replaced. A file of a similar name is pointed out.
"""

import hashlib
import os
import sys
import tempfile
import time
import zipfile
import zlib
from pathlib import Path

from study.datasets.registry import OWN_REMEDY, ROOT, DataError
from study.parameters import listed, switch
from study.results import store

RAW = ROOT / "data" / "raw"
TIMEOUT = 30
"""Timeout of a server, in seconds without a byte."""
LONGEST = 600
"""Timeout of a download, in seconds."""
LARGEST_ARCHIVE = 2**26
"""The most bytes that an archive may have: only the sizes of its members are registered."""
MOST_FOLDERS = 1000
"""Folders in which files of similar names are looked for: KP_DATA may name a large one."""
RETRIES = 1
"""Further attempts at an address that failed, before the next address."""
FAILURES = (OSError, ValueError, EOFError, RuntimeError, zipfile.BadZipFile, zlib.error)


def folders():
    """The folders to search, in order: $KP_DATA, if set, and data/raw. Raises DataError if KP_DATA names no folder."""
    if not (name := os.environ.get("KP_DATA")):
        return [RAW]
    if not os.path.isdir(folder := os.path.expanduser(name)):
        raise DataError(f"KP_DATA: the folder {name} does not exist; set KP_DATA to a folder that exists, or unset it")
    return [Path(folder), RAW]


def find(file):
    """Path of a registered File in the first folder that has it, $KP_DATA or data/raw, or None."""
    return next((path for folder in folders() if (path := folder / file.path).exists()), None)


def obtain(file, *, download=True):
    """Path of the File, found or downloaded. With download=False, or KP_OFFLINE set, no address is tried.

    A downloaded file is verified; one that is found is verified by read. Raises DataError if it cannot be found: the
    message names the file, each address with the reason why it failed, and the two ways out.
    """
    if path := find(file):
        return path
    target = RAW / file.path
    way_out = f"put the file at {target}, or set KP_DATA to a folder that holds {file.path}"
    try:
        offline = switch("KP_OFFLINE", os.environ.get("KP_OFFLINE", ""))
    except ValueError as error:
        raise DataError(str(error)) from None
    if file.is_own:
        raise DataError(f"{file.path}: the file was not found in {_places()}; put it back, or {OWN_REMEDY}{_similar(file)}")
    if offline or not download:
        why = "KP_OFFLINE forbids downloads" if offline else "downloading was not requested"
        raise DataError(f"{file.path}: the file was not found in {_places()}, and {why}; {way_out}{_similar(file)}")
    tried = "" if file.addresses else " no URL is registered"
    for address in file.addresses:
        try:
            blob = _download(file, address)
        except FAILURES as error:
            tried += f"\n  {address}\n    {type(error).__name__}: {error}"
        else:
            return _store(blob, target, way_out)
    raise DataError(f"{file.path}: the download failed from every URL:{tried}\n{way_out}{_similar(file)}")


def _places():
    return listed(folders(), "or")


def _similar(file):
    """The files below the folders that may be this one under another usual name or in another folder, as a line each."""
    found = [path for folder in folders() for path in _below(folder) if _bare(path.name) == _bare(Path(file.path).name)]
    return "".join(
        f"\n{path} has the size of this file: if it is this file, copy it to {RAW / file.path}"
        if path.stat().st_size == file.size
        else f"\n{path} has a similar name, but not the {file.size:,} bytes of this file: it may be unpacked or truncated"
        for path in found
    )


def _below(folder):
    """The files below a folder; no link is followed."""
    for place, (path, _, names) in enumerate(os.walk(folder)):
        if place == MOST_FOLDERS:
            return
        yield from (each for name in names if (each := Path(path, name)).is_file())


def _bare(name):
    """A name of a file without what differs where MNIST is packed, unpacked or renamed."""
    return name.lower().removesuffix(".gz").replace(".idx", "-idx")


def read(file, path):
    """The verified bytes of the File at path. Raises DataError if they are not those registered."""
    remedy = _remedy(file, path)
    try:
        if not path.is_file():  # a named pipe would be read for ever
            raise DataError(f"{path}: this is a folder or a device, not a file; {remedy}")
        blob = path.read_bytes()
    except OSError as error:
        raise DataError(f"{path}: the file cannot be read: {error.strerror}; {remedy}") from error
    if problem := _mismatch(file, blob):
        raise DataError(f"{path}: this is not the registered file: {problem}; {remedy}")
    return blob


def _remedy(file, path):
    """The remedy if another file lies at this path; KP_DATA is the user's, perhaps shared and read-only."""
    if RAW in path.parents:
        other = "delete the file and run 'python -m study.datasets fetch', or set KP_DATA to a folder with a good copy"
        return OWN_REMEDY if file.is_own else other
    return f"replace it with the registered file, or unset KP_DATA, or set it to a folder without another {file.path}"


def _mismatch(file, blob):
    """None if the bytes are the file's, else what was expected and what was found."""
    if (found := hashlib.sha256(blob).hexdigest()) == file.sha256:
        return None
    return f"expected {file.size} bytes with sha256 {file.sha256}, found {len(blob)} bytes with sha256 {found}"


def _download(file, address):
    """The verified bytes of the file from one address. Raises one of FAILURES."""
    import pooch
    from tqdm import tqdm

    pooch.get_logger().setLevel("WARNING")
    url, _, member = address.partition("#")
    limit = _limited(LARGEST_ARCHIVE if member else file.size, time.monotonic() + LONGEST)
    with (
        tempfile.TemporaryDirectory() as folder,
        tqdm(total=file.size, desc=file.path, unit="B", unit_scale=True, disable=not sys.stderr.isatty()) as bar,
    ):
        registry = {"download": None if member else file.sha256}
        cache = pooch.create(folder, base_url="", registry=registry, urls={"download": url}, retry_if_failed=RETRIES)
        # "identity": a server that compresses in transit would change the bytes that are hashed.
        options = {"headers": {"Accept-Encoding": "identity"}, "hooks": {"response": limit}}
        downloader = pooch.HTTPDownloader(progressbar=bar, chunk_size=2**16, timeout=TIMEOUT, **options)
        path = Path(cache.fetch("download", downloader=downloader))
        blob = _member(path, member, file.size) if member else path.read_bytes()
    if problem := _mismatch(file, blob):
        raise ValueError(problem)
    return blob


def _limited(largest, deadline):
    """A hook of requests: reading a response raises OSError where it has more bytes than `largest`, or where they still come
    at the deadline (of time.monotonic)."""

    def limit(response, **options):
        def stream(size, decode_content):
            block = b""
            received = 0
            # read1 returns what has come, where read waits until a block is full.
            while chunk := response.raw.read1(size, decode_content=decode_content):
                received += len(chunk)
                if received > largest:
                    raise OSError(f"the response has more than the expected {largest:,} bytes")
                if time.monotonic() > deadline:
                    raise TimeoutError(f"not complete after {LONGEST} seconds ({received:,} bytes received)")
                block += chunk
                if len(block) >= size:
                    yield block
                    block = b""
            yield block

        response.raw.stream = stream

    return limit


def _member(archive, name, size):
    """The bytes of the archive's member of this name, in any folder; one byte more than size at most."""
    with zipfile.ZipFile(archive) as members:
        for path in members.namelist():
            if path.rpartition("/")[2] == name:
                with members.open(path) as stream:
                    return stream.read(size + 1)
        raise ValueError(f"expected the member {name} in the archive, found {', '.join(members.namelist()) or 'none'}")


def _store(blob, target, way_out):
    """Write a file that appears whole or not at all. Returns its path; raises DataError if it cannot be written."""
    try:
        store.write(target, blob)
    except OSError as error:
        raise DataError(f"{target}: the file cannot be written: {error}; {way_out}") from error
    return target
