"""Several notebooks executed in one command: each alone in its kernel, with the bytes that it has by itself."""

import os
import signal
from dataclasses import dataclass
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from study import lock
from study.__main__ import main
from study.report import batch, notebooks


@dataclass(frozen=True)
class Small:
    """A notebook in a folder, with one parameter, in place of a chapter."""

    folder: Path
    name: str
    degree: int = 3

    @property
    def notebook(self):
        return self.folder / f"{self.name}.ipynb"

    def target(self, profile):
        return self.folder / profile / f"{self.name}.ipynb"

    def pictures(self, profile):
        return [self.folder / "second.svg"] if self.name == "second" else []

    def parameters(self, profile):
        return {"degree": self.degree}


@pytest.fixture
def small(tmp_path, monkeypatch):
    """A function that writes a notebook of code cells and gives its chapter; what is made goes below tmp_path."""
    monkeypatch.setattr(batch, "BUILD", tmp_path / "build")
    # As in a command that has drawn nothing yet: other tests have, and pyplot keeps the backend of its first figure.
    monkeypatch.setattr("matplotlib.pyplot._backend_mod", None)

    def write(name, *sources, **options):
        parameters = new_code_cell("degree: int = 1  # of the kernel", metadata={"tags": ["parameters"]})
        cells = [new_markdown_cell("# Title"), parameters, *map(new_code_cell, sources)]
        nbformat.write(new_notebook(cells=cells, metadata=notebooks.METADATA), tmp_path / f"{name}.ipynb")
        return Small(tmp_path, name, **options)

    return write


FIGURE = """\
import matplotlib.pyplot as plt
from study import style
fig, axis = plt.subplots()
lines = axis.plot([degree, 1])"""


def test_a_notebook_of_a_batch_has_the_bytes_that_it_has_alone(small, tmp_path):
    chapter = small("a", "import os", "print(os.path.exists('a.ipynb'), degree)", FIGURE, "style.BLUE")
    batch.execute([chapter], "quick")
    notebooks.execute(chapter.notebook, tmp_path / "alone.ipynb", {"degree": 3})
    assert chapter.target("quick").read_bytes() == (tmp_path / "alone.ipynb").read_bytes()
    outputs = [cell.outputs for cell in nbformat.read(tmp_path / "alone.ipynb", as_version=4).cells if "outputs" in cell]
    assert outputs[3][0].text == "True 3\n" and "image/png" in outputs[4][-1].data


def test_nothing_of_one_notebook_reaches_another(small):
    spoil = "import os\nfrom study import style\nassert style.BLUE != 'red'\nstyle.BLUE = os.environ['SPOILT'] = 'red'"
    found = [
        small(name, spoil + "\nimport sys\nassert 'here' not in sys.modules\nsys.modules['here'] = os") for name in "abc"
    ]
    batch.execute([*found, small("d", "import os\nassert 'SPOILT' not in os.environ")], "quick", jobs=2)


def test_a_failed_notebook_is_named_with_its_cell_and_spares_the_others_and_its_former_copy(small, capsys):
    # The kernel's own log has a line too, as it has when a kernel is interrupted while it ends.
    bad, good = small("bad", "get_ipython().kernel.log.error('caught')\n1 / 0"), small("good", "degree")
    bad.target("quick").parent.mkdir()
    bad.target("quick").write_text("old")
    with pytest.raises(RuntimeError, match=r"^bad: \S*bad\.ipynb.*ZeroDivisionError: division by zero in cell 3") as error:
        batch.execute([good, bad], "quick", jobs=2)
    assert "good" not in str(error.value) and good.target("quick").exists()
    assert bad.target("quick").read_text() == "old"
    log = (batch.BUILD / "quick" / "logs" / "bad.log").read_text()
    assert "caught" in log and "ZeroDivisionError" in log
    assert sorted(capsys.readouterr().out.splitlines()) == ["bad: failed", "good: executed"]


@pytest.mark.skipif(not batch.FORK, reason="a kernel is the child of another process here")
def test_a_process_that_is_killed_is_named_with_its_log(small):
    chapter = small("killed", "import os, signal\nos.kill(os.getppid(), signal.SIGKILL)")
    message = r"^killed: expected a message, got exit code -9 .* for want of memory; close .*killed\.log"
    with pytest.raises(RuntimeError, match=message):
        batch.execute([chapter], "quick")


@pytest.mark.skipif(os.name != "posix", reason="signals and limits of POSIX")
def test_a_kernel_that_dies_is_explained_with_its_cell_and_spares_the_former_copy(small, tmp_path):
    why = notebooks.ending(-signal.SIGKILL)
    chapter, target = (
        small("dies", "1 + 1", "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)"),
        tmp_path / "out.ipynb",
    )
    target.write_text("old")
    with pytest.raises(RuntimeError, match=rf"dies\.ipynb: the kernel died in cell 3: {why}"):
        notebooks.execute(chapter.notebook, target, {})
    assert target.read_text() == "old"
    with pytest.raises(RuntimeError, match=rf"^dies: \S*dies\.ipynb: the kernel died in cell 4: {why}"):
        batch.execute([chapter], "quick")


@pytest.mark.skipif(os.name != "posix", reason="signals and limits of POSIX")
def test_the_ends_of_processes_are_told_apart():
    assert notebooks.ending(-signal.SIGKILL).startswith(
        "SIGKILL has ended it, most likely by the system, for want of memory"
    )
    assert notebooks.ending(-signal.SIGSEGV) == "SIGSEGV has ended it"
    assert notebooks.ending(7) == "it ended with exit code 7"


def test_an_error_without_a_message_is_said_to_have_none(small, tmp_path):
    chapter = small("a", "raise MemoryError")
    with pytest.raises(RuntimeError, match="got MemoryError without a message in cell 2; read"):
        notebooks.execute(chapter.notebook, tmp_path / "out.ipynb", {})


@pytest.mark.skipif(os.name != "posix", reason="signals and limits of POSIX")
def test_narrow_limits_are_named_with_the_remedy(monkeypatch):
    import resource

    of = {resource.RLIMIT_NOFILE: 1024, resource.RLIMIT_AS: resource.RLIM_INFINITY}
    monkeypatch.setattr(resource, "getrlimit", lambda which: (of[which], resource.RLIM_INFINITY))
    assert notebooks.ending(1) == "it ended with exit code 1"
    of |= {resource.RLIMIT_NOFILE: 64, resource.RLIMIT_AS: 3 * 2**29}
    assert notebooks.ending(1) == (
        "it ended with exit code 1; only 64 files may be open at a time: allow more with 'ulimit -n 256'; "
        "memory is limited to 1.5 GiB: allow more with 'ulimit -v unlimited'"
    )


def test_a_notebook_that_never_reaches_a_kernel_fails_and_ends(small):
    chapter = small("plain", "degree")
    notebook = nbformat.read(chapter.notebook, as_version=4)
    del notebook.metadata["kernelspec"]
    nbformat.write(notebook, chapter.notebook)
    with pytest.raises(RuntimeError, match="plain: No kernel name found in notebook"):
        batch.execute([chapter], "quick")


@pytest.mark.skipif(not batch.FORK, reason="a process that is started anew executes for itself")
def test_what_is_as_it_was_when_it_was_executed_here_can_be_left_out(small, capsys, monkeypatch):
    def write(source, target, parameters, **options):
        target.parent.mkdir(exist_ok=True)
        target.write_bytes(source.read_bytes())
        return notebooks.made_from(source, parameters)

    monkeypatch.setattr("study.report.batch.notebooks.execute", write)  # which notebooks are executed is asked here, not how
    first, second = small("first", "degree"), small("second", "degree")
    (picture,) = second.pictures("quick")
    picture.touch()

    def executed(*chapters):
        batch.execute(chapters, "quick", changed=True)
        return sorted(capsys.readouterr().out.splitlines())

    assert executed(first, second) == ["first: executed", "second: executed"]
    assert executed(first, second) == []
    small("first", "degree + 1")
    assert executed(first, second) == ["first: executed"]
    second.target("quick").write_text("edited by hand")
    assert executed(first, second) == ["second: executed"]
    assert executed(first, Small(second.folder, "second", degree=4)) == ["second: executed"]
    second.target("quick").unlink()
    assert executed(first, second) == ["second: executed"]
    picture.unlink()
    assert executed(first, second) == ["second: executed"]
    batch.execute([first], "quick")
    assert capsys.readouterr().out == "first: executed\n"


def test_the_seconds_of_each_notebook_are_kept_and_listed(small, capsys, monkeypatch):
    assert batch.times("quick") == {}
    batch.execute([small("slow", "import time\ntime.sleep(0.5)"), small("fast")], "quick")
    with pytest.raises(RuntimeError):
        batch.execute([small("bad", "1 / 0")], "quick")
    seconds = batch.times("quick")
    assert set(seconds) == {"slow", "fast"} and 0.5 <= seconds["slow"] < 60
    again = {**seconds, "algorithm": 83.4}
    monkeypatch.setattr(batch, "times", lambda profile: again)
    capsys.readouterr()
    assert main(["list"]) == 0
    assert f"{'algorithm':24}    83 s\nmnist\n" in capsys.readouterr().out


def test_a_batch_that_other_processes_write_too_is_refused(small, tmp_path):
    for names, lock_of in (("a", "a"), ("ab", "notebooks")):
        with lock.hold(batch.BUILD / "quick" / f"{lock_of}.lock", "test"):
            with pytest.raises(RuntimeError, match=f"one process alone can execute {lock_of} of profile quick"):
                batch.execute([small(name, "degree") for name in names], "quick")
    assert not (tmp_path / "quick").exists()


@pytest.mark.usefixtures("foreign_kernel")
def test_a_foreign_kernel_of_the_same_name_is_not_started(small, tmp_path):
    chapter = small("a", "degree")
    batch.execute([chapter], "quick")
    notebooks.execute(chapter.notebook, tmp_path / "alone.ipynb", {"degree": 3})
    assert chapter.target("quick").read_bytes() == (tmp_path / "alone.ipynb").read_bytes()
