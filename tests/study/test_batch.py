"""Several notebooks executed in one command: each alone in its kernel, with the bytes that it has by itself."""

import os
import re
import signal
from dataclasses import dataclass
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from study.__main__ import main
from study.report import batch, notebooks
from study.results import lock


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


@pytest.mark.usefixtures("foreign_kernel")
def test_a_notebook_of_a_batch_has_the_bytes_that_it_has_alone_whatever_others_call_python3(small, tmp_path):
    chapter = small("a", "import os", "print(os.path.exists('a.ipynb'), degree)", FIGURE, "style.BLUE")
    batch.execute([chapter], "quick")
    notebooks.execute(chapter.notebook, tmp_path / "alone.ipynb", {"degree": 3})
    assert chapter.target("quick").read_bytes() == (tmp_path / "alone.ipynb").read_bytes()
    outputs = [cell.outputs for cell in nbformat.read(tmp_path / "alone.ipynb", as_version=4).cells if "outputs" in cell]
    assert outputs[3][0].text == "True 3\n" and "image/png" in outputs[4][-1].data


def test_nothing_of_one_notebook_reaches_another(small):
    spoil = """
import os, sys
from study import style
assert style.BLUE != 'red' and 'SPOILT' not in os.environ and 'here' not in sys.modules
style.BLUE = os.environ['SPOILT'] = 'red'
sys.modules['here'] = os"""
    batch.execute([small(name, spoil) for name in "abc"], "quick", jobs=2)


@pytest.mark.skipif(not batch.FORK, reason="a kernel is the child of another process here")
def test_what_fails_is_named_with_its_reason_and_spares_the_others_and_its_former_copy(small, capsys):
    # The kernel's own log has a line too, as it has when a kernel is interrupted while it ends.
    bad = small("bad", "get_ipython().kernel.log.error('caught')\n1 / 0")
    good = small("good", "degree")
    others = [
        small("mute", "raise MemoryError"),
        small("dies", "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)"),
        small("killed", "import os, signal\nos.kill(os.getppid(), signal.SIGKILL)"),
        small("plain"),
    ]
    notebook = nbformat.read(others[-1].notebook, as_version=4)
    del notebook.metadata["kernelspec"]
    nbformat.write(notebook, others[-1].notebook)
    bad.target("quick").parent.mkdir()
    bad.target("quick").write_text("old")
    with pytest.raises(RuntimeError) as error:
        batch.execute([good, bad, *others], "quick", jobs=2)
    for expected in (
        r"bad: \S*bad\.ipynb.*ZeroDivisionError: division by zero in cell 3",
        r"mute: .*got MemoryError without a message in cell 3; read",
        r"dies: \S*dies\.ipynb: the kernel died in cell 3: SIGKILL has ended it, .* for want of memory",
        r"killed: expected a message, got exit code -9 .* for want of memory; close .*killed\.log",
        r"plain: No kernel name found in notebook",
    ):
        assert re.search(f"^{expected}", str(error.value), re.MULTILINE), expected
    assert "good" not in str(error.value) and good.target("quick").exists()
    assert bad.target("quick").read_text() == "old"
    log = (batch.BUILD / "quick" / "logs" / "bad.log").read_text()
    assert "caught" in log and "ZeroDivisionError" in log
    assert {"bad: failed", "good: executed"} < set(capsys.readouterr().out.splitlines())
    assert set(batch.times("quick")) == {"good"}


def test_the_seconds_of_each_notebook_are_listed(capsys, monkeypatch):
    monkeypatch.setattr(batch, "times", lambda profile: {"algorithm": 83.4})
    assert main(["list"]) == 0
    assert f"{'algorithm':24}    83 s\nmnist\n" in capsys.readouterr().out


@pytest.mark.skipif(os.name != "posix", reason="signals and limits of POSIX")
def test_the_ends_of_processes_are_told_apart_and_narrow_limits_are_named_with_the_remedy(monkeypatch):
    import resource

    of = {resource.RLIMIT_NOFILE: 1024, resource.RLIMIT_AS: resource.RLIM_INFINITY}
    monkeypatch.setattr(resource, "getrlimit", lambda which: (of[which], resource.RLIM_INFINITY))
    assert notebooks.ending(-signal.SIGSEGV) == "SIGSEGV has ended it"
    assert notebooks.ending(7) == "it ended with exit code 7"
    of |= {resource.RLIMIT_NOFILE: 64, resource.RLIMIT_AS: 3 * 2**29}
    assert notebooks.ending(1) == (
        "it ended with exit code 1; only 64 files may be open at a time: allow more with 'ulimit -n 256'; "
        "memory is limited to 1.5 GiB: allow more with 'ulimit -v unlimited'"
    )


@pytest.mark.skipif(not batch.FORK, reason="a process that is started anew executes for itself")
def test_what_is_as_it_was_when_it_was_executed_here_can_be_left_out(small, capsys, monkeypatch):
    def write(source, target, parameters, **options):
        target.parent.mkdir(exist_ok=True)
        target.write_bytes(source.read_bytes())
        return notebooks.made_from(source, parameters)

    monkeypatch.setattr(notebooks, "execute", write)  # which notebooks are executed is asked here, not how
    first, second = small("first", "degree"), small("second", "degree")
    (picture,) = second.pictures("quick")
    picture.touch()

    def executed(*chapters, changed=True):
        batch.execute(chapters, "quick", changed=changed)
        return sorted(line.removesuffix(": executed") for line in capsys.readouterr().out.splitlines())

    assert executed(first, second) == ["first", "second"]
    assert executed(first, second) == []
    small("first", "degree + 1")
    assert executed(first, second) == ["first"]
    second.target("quick").write_text("edited by hand")
    assert executed(first, second) == ["second"]
    assert executed(first, Small(second.folder, "second", degree=4)) == ["second"]
    second.target("quick").unlink()
    assert executed(first, second) == ["second"]
    picture.unlink()
    assert executed(first, second) == ["second"]
    assert executed(first, changed=False) == ["first"]


def test_a_batch_that_other_processes_write_too_is_refused(small, tmp_path):
    for names, lock_of in (("a", "a"), ("ab", "notebooks")):
        with lock.hold(batch.BUILD / "quick" / f"{lock_of}.lock", "test"):
            with pytest.raises(RuntimeError, match=f"one process alone can execute {lock_of} of profile quick"):
                batch.execute([small(name, "degree") for name in names], "quick")
    assert not (tmp_path / "quick").exists()
