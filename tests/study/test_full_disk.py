"""No room left: what was there before stays whole, nothing half made is left, and a sentence says why."""

import errno
import os
import shutil
import subprocess
import sys

import matplotlib.pyplot as plt
import nbformat
import numpy as np
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from study import datasets
from study.__main__ import main
from study.datasets import fetch
from study.report import display, notebooks
from study.report.source import Source
from study.results import store

pytestmark = pytest.mark.long
REMEDY = "; free some space, then run the same command again, which goes on where it was"


@pytest.fixture
def disk(tmp_path):
    """A file system of 64 KiB, of which 16 are left."""
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)]
    if sys.platform != "linux" or os.getuid() or subprocess.run(command, capture_output=True).returncode:
        pytest.skip("a small file system needs Linux and root")
    (folder / "other").write_bytes(bytes(48 * 1024))
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def left(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def write_result(path, folder):
    source = {"experiment": "a", "parameters": [], "code": "", "data": {}}
    store.write_arrays(path, {"x": np.random.RandomState(0).bytes(50_000)}, source)


def draw_figure(path, folder):
    figure, axis = plt.subplots()
    axis.plot(np.random.RandomState(0).normal(size=5000))
    chapter = display.OpenChapter(Source({}, set(), {"counts": "Figure"}), "data", False, ".")
    chapter.last = figure
    chapter.named("counts")


def execute_notebook(path, folder):
    cells = [new_markdown_cell("# Title"), new_code_cell("print('a' * 50_000)", metadata={"tags": ["parameters"]})]
    nbformat.write(new_notebook(cells=cells, metadata=notebooks.METADATA), folder / "a.ipynb")
    notebooks.execute(folder / "a.ipynb", path, {})


@pytest.mark.parametrize(
    ("name", "make"), [("a.npz", write_result), ("data-counts.svg", draw_figure), ("a.ipynb", execute_notebook)]
)
def test_what_was_there_is_kept_as_it_was(name, make, disk, tmp_path, monkeypatch):
    monkeypatch.setattr(display, "ROOT", disk)
    (disk / name).write_text("earlier")
    with pytest.raises(OSError) as error:
        make(disk / name, tmp_path)
    assert error.value.errno == errno.ENOSPC
    assert str(error.value).endswith(f"No space left on device{REMEDY}: '{disk}/{name}'")
    assert left(disk) == sorted([name, "other"]) and (disk / name).read_text() == "earlier"


def test_a_report_is_kept_as_it_was_and_the_command_says_why(disk, capsys, tmp_path):
    cells = [new_markdown_cell("# Title"), new_code_cell("1", execution_count=1)]
    nbformat.write(new_notebook(cells=cells), tmp_path / "a.ipynb")
    (disk / "a.html").write_text("earlier")
    (disk / "more").write_bytes(bytes(shutil.disk_usage(disk).free - 4096))
    arguments = ["report", "--target", str(disk / "a.html"), "--notebooks", str(tmp_path / "a.ipynb")]
    assert main(arguments) == 1
    assert f"No space left on device{REMEDY}: '{disk}/a.html'" in capsys.readouterr().err
    assert left(disk) == ["a.html", "more", "other"] and (disk / "a.html").read_text() == "earlier"


def test_a_download_to_a_full_disk_leaves_nothing(disk, monkeypatch):
    monkeypatch.setattr(fetch, "RAW", disk / "raw")
    monkeypatch.setattr(fetch, "_download", lambda file, address: bytes(50_000))
    monkeypatch.delenv("KP_DATA", raising=False)
    monkeypatch.delenv("KP_OFFLINE", raising=False)
    with pytest.raises(datasets.DataError, match="the file cannot be written: .*No space left on device"):
        fetch.obtain(datasets.DATASETS["iris"].files[0])
    assert left(disk) == ["other"]
