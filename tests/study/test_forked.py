"""Executed notebooks: kernels that are forked are as those that start from nothing, and what fails is named."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from study import ROOT, chapters, datasets
from study.__main__ import main
from study.reading import NOTES
from study.report import executions, notebooks, origin
from study.results import code, costs


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

    def pictures(self):
        return [self.folder / "second.svg"] if self.name == "second" else []

    def parameters(self, profile):
        return {"degree": self.degree}


@pytest.fixture
def small(tmp_path):
    """A function that writes a notebook of code cells and gives its chapter; what is made goes below tmp_path."""

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


def execute(chapter):
    notebooks.execute(chapter.notebook, chapter.target("quick"), chapter.parameters("quick"))


@pytest.mark.usefixtures("foreign_kernel")
def test_a_forked_kernel_gives_the_bytes_of_one_that_starts_from_nothing_in_any_folder_whatever_others_call_python3(
    small, tmp_path, fork, monkeypatch
):
    chapter = small("a", "import os", "print(os.path.exists('a.ipynb'), degree)", FIGURE, "style.BLUE")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    notebooks.execute(Path("../a.ipynb"), Path("alone.ipynb"), {"degree": 3})
    fork()
    execute(chapter)
    assert chapter.target("quick").read_bytes() == Path("alone.ipynb").read_bytes()
    notebook = nbformat.read("alone.ipynb", as_version=4)
    outputs = [cell.outputs for cell in notebook.cells if "outputs" in cell]
    assert outputs[2][0].text == "True 3\n" and "image/png" in outputs[3][-1].data
    assert notebooks.clean(notebook) == notebook and notebook.cells[1].source == "degree: int = 3  # of the kernel"


@pytest.mark.skipif(sys.platform != "linux", reason="kernels are forked on Linux")
def test_a_forked_kernel_has_what_was_imported_and_nothing_of_another_one_and_ends_with_its_notebook(small, tmp_path, fork):
    fork()
    spoil = """
import os, sys
with open("numbers", "a") as file:
    print(os.getpid(), os.getppid(), file=file)
assert "study.style" in sys.modules and "style" not in globals()
from study import style
assert style.BLUE != 'red' and 'SPOILT' not in os.environ and 'here' not in sys.modules
style.BLUE = os.environ['SPOILT'] = 'red'
sys.modules['here'] = os"""
    for name in "abc":
        execute(small(name, spoil))
    numbers = [tuple(map(int, line.split())) for line in (tmp_path / "numbers").read_text().splitlines()]
    kernels = {kernel for kernel, _ in numbers}
    assert len(kernels) == 3 and {parent for _, parent in numbers} == {os.getpid()}
    assert not [kernel for kernel in kernels if Path("/proc", str(kernel)).exists()]


@pytest.mark.parametrize(
    ("name", "source", "message"),
    [
        # The kernel's own log has a line too, as it has when a kernel is interrupted while it ends.
        (
            "bad",
            "get_ipython().kernel.log.error('caught')\n1 / 0",
            r"bad\.ipynb: cell 3 \(get_ipython.*\) failed:\n  ZeroDivisionError: division by zero\n  the whole tr",
        ),
        ("mute", "raise MemoryError", r"cell 3 \(raise MemoryError\) failed:\n  MemoryError: no message\n"),
        ("odd", "import sys\nprint('odd', file=sys.stderr)", "nothing on stderr"),
        (
            "dies",
            "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)",
            r"dies\.ipynb: Kernel died in cell 3 \(import os, signal\): ended by SIGKILL, .* because memory ran out",
        ),
    ],
)
def test_what_fails_is_named_with_its_reason_and_its_former_copy_stays(small, fork, name, source, message):
    fork()
    chapter = small(name, source)
    chapter.target("quick").parent.mkdir()
    chapter.target("quick").write_text("old")
    with pytest.raises((RuntimeError, ValueError), match=message) as told:
        execute(chapter)
    assert chapter.target("quick").read_text() == "old"
    kept = [path.name for path in chapter.target("quick").parent.iterdir() if path != chapter.target("quick")]
    assert kept == ([] if name == "dies" else [f"{name}.failed.ipynb"]) and all(each in str(told.value) for each in kept)


def test_a_kernel_that_has_done_is_asked_to_end_and_not_interrupted(small, fork, monkeypatch):
    signals = []

    async def send(manager, number):
        signals.append(number)

    monkeypatch.setattr(notebooks.OwnKernelManager, "_async_signal_kernel", send)
    fork()
    chapter = small("done", "degree")
    notebooks.execute(chapter.notebook, chapter.target("full"), chapter.parameters("full"))
    assert chapter.target("full").exists() and signals == []


def test_a_parameter_that_is_unknown_is_refused_and_nothing_runs(small, tmp_path):
    with pytest.raises(ValueError, match=r"expected parameters among \['degree'\], got \['dgree'\]"):
        notebooks.execute(small("a").notebook, tmp_path / "out.ipynb", {"dgree": 3})
    assert [path.name for path in tmp_path.iterdir()] == ["a.ipynb"]


def test_a_notebook_without_a_kernel_is_named(small):
    plain = small("plain")
    notebook = nbformat.read(plain.notebook, as_version=4)
    del notebook.metadata["kernelspec"]
    nbformat.write(notebook, plain.notebook)
    with pytest.raises(ValueError, match=r"plain\.ipynb: No kernel name found in notebook"):
        execute(plain)


@pytest.mark.skipif(sys.platform != "linux", reason="processes are forked on Linux")
def test_several_notebooks_are_executed_in_processes_and_each_that_fails_fails_the_command(monkeypatch, tmp_path, capsys):
    def alone(name, profile, log, leader):
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_text(f"{name} of {profile}\n")
        ends = {"tour": lambda: os._exit(0), "data": lambda: os._exit(1)}
        ends.get(name, lambda: os.kill(os.getpid(), signal.SIGKILL))()

    monkeypatch.setattr(executions, "_alone", alone)
    monkeypatch.setattr(executions, "LIBRARIES", ())
    for module in (executions, costs):
        monkeypatch.setattr(module, "BUILD", ROOT / "build" / tmp_path.name)
    folder = ROOT / "build" / tmp_path.name / "quick"
    try:
        assert main(["notebook", "tour", "data", "class", "--jobs", "2"]) == 1
        lines = capsys.readouterr().err.splitlines()
        logs = {name: f"{(folder / 'logs' / name).relative_to(ROOT).as_posix()}.log" for name in ("data", "class")}
        for expected in (f"data failed, {logs['data']}:", f"class failed, ended by SIGKILL, {logs['class']}:"):
            place = lines.index(expected)
            assert re.search(r"^\[\d/3\] notebook (data|class): failed after \d s", lines[place - 1])
            assert lines[place + 1] == f"{expected.split()[0]} of quick"
        assert costs.last_seconds("quick", "tour") is not None and costs.last_seconds("quick", "data") is None
        assert main(["notebook", "tour", "tour"]) == 0
    finally:
        shutil.rmtree(folder.parent)


@pytest.mark.skipif(sys.platform != "linux", reason="processes are forked on Linux")
@pytest.mark.parametrize("is_compiled", [False, True])
def test_two_notebooks_run_at_a_time_first_those_that_compile_different_functions(
    monkeypatch, tmp_path, capsys, is_compiled
):
    spans = tmp_path / "spans"

    def alone(name, *rest):
        start = time.monotonic()
        time.sleep(0.3)
        with spans.open("a") as file:
            file.write(f"{name} {start} {time.monotonic()}\n")

    monkeypatch.setattr(executions, "_alone", alone)
    monkeypatch.setattr(executions, "LIBRARIES", ())
    monkeypatch.setattr(executions, "has_cache", lambda: is_compiled)
    for module in (executions, costs):
        monkeypatch.setattr(module, "BUILD", tmp_path)
    assert main(["notebook", "data", "class", "uci_wine", "gallery", "--jobs", "2"]) == 0
    begun, ended = (dict((line.split()[0], float(line.split()[at])) for line in spans.open()) for at in (1, 2))
    first, later = ("gallery", "uci_wine"), ("data", "class")
    assert max(begun[name] for name in first) < min(ended.values())
    assert min(begun[name] for name in later) > min(ended.values())
    assert is_compiled != (
        "kp is compiled while the first notebooks run, once; they take half a minute longer\n" in capsys.readouterr().err
    )


def test_the_seconds_of_each_notebook_are_listed(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr(costs, "BUILD", tmp_path)
    (tmp_path / "quick" / "benchmarks").mkdir(parents=True)
    (tmp_path / "quick" / "benchmarks" / "algorithm.tsv").write_text("s\tmax_rss\n83.4\t12.0\n")
    assert main(["list"]) == 0
    assert f"{'algorithm':24}    83 s\nmnist\n" in capsys.readouterr().out


@pytest.mark.skipif(os.name != "posix", reason="signals and limits of POSIX")
def test_the_ends_of_processes_are_told_apart_and_narrow_limits_are_named_with_the_remedy(monkeypatch):
    import resource

    of = {resource.RLIMIT_NOFILE: 1024, resource.RLIMIT_AS: resource.RLIM_INFINITY}
    monkeypatch.setattr(resource, "getrlimit", lambda which: (of[which], resource.RLIM_INFINITY))
    assert notebooks.ending(-signal.SIGSEGV) == "ended by SIGSEGV"
    assert notebooks.ending(7) == "it ended with exit code 7"
    of |= {resource.RLIMIT_NOFILE: 64, resource.RLIMIT_AS: 3 * 2**29}
    assert notebooks.ending(1) == (
        "it ended with exit code 1; only 64 files may be open at a time: allow more with 'ulimit -n 256'; "
        "memory is limited to 1.5 GiB: allow more with 'ulimit -v unlimited'"
    )


def test_an_executed_copy_is_current_while_it_would_be_made_from_the_same_again(small, monkeypatch):
    monkeypatch.setattr(origin, "pictures", lambda chapter: chapter.pictures())
    chapter = small("second", "degree")
    (picture,) = chapter.pictures()
    target = chapter.target("full")
    picture.touch()
    assert not origin.is_current(chapter, "full")
    monkeypatch.setattr(chapters, "links", lambda own, profile: "# Title")
    made = nbformat.read(chapter.notebook, as_version=4)
    made.metadata["made_from"] = origin.made_from(chapter.notebook, chapter.parameters("full"))
    made.metadata["came_out"] = origin.came_out(json.loads(nbformat.writes(made)))
    target.parent.mkdir()
    nbformat.write(made, target)
    assert origin.is_current(chapter, "full")
    assert not origin.is_current(Small(chapter.folder, "second", degree=4), "full")
    picture.unlink()
    assert not origin.is_current(chapter, "full")
    picture.touch()
    content = target.read_text()
    for damaged in (content[:-20], content.replace("made_from", "other")):
        target.write_text(damaged)
        assert not origin.is_current(chapter, "full")
    target.write_text(content)
    assert origin.is_current(chapter, "full")
    monkeypatch.setattr(chapters, "links", lambda own, profile: "[Another chapter](other.ipynb)")
    assert not origin.is_current(chapter, "full")
    monkeypatch.setattr(chapters, "links", lambda own, profile: "# Title")
    small("second", "degree + 1")
    assert not origin.is_current(chapter, "full")


DRAWN = """\
from pathlib import Path
from IPython.display import display
from study import ROOT
(ROOT / "one.svg").write_text("drawing")
display({"image/png": "aGk=", "text/plain": "picture"}, raw=True, metadata={"image/png": {"file": "one"}})"""


def test_an_edited_cell_output_or_figure_of_an_executed_copy_is_named(small, tmp_path, monkeypatch):
    monkeypatch.setattr(origin, "ROOT", tmp_path)
    chapter = small("a", "print('1.58 %')", DRAWN.replace("from study import ROOT", f"ROOT = Path({str(tmp_path)!r})"))
    monkeypatch.setattr(notebooks, "_check_texts", lambda index, cell: None)  # the path of this folder is in its code
    execute(chapter)
    text = chapter.target("quick").read_text()
    picture = tmp_path / "one.svg"

    def edited(old, new):
        assert old in text
        return origin.difference(json.loads(text.replace(old, new)))

    assert origin.difference(json.loads(text)) == "" and '"one.svg": ' in text
    assert (
        edited('"1.58 %\\n"', '"1.48 %\\n"') == "cell 3 (print('1.58 %')) was changed, added or removed after the execution"
    )
    assert edited("# Title", "# Another").startswith("cell 1 (# Another) was changed")
    assert edited("aGk=", "aGj=").startswith("cell 4 (from pathlib import Path) was changed")
    assert edited("came_out", "other") == "there is no record of its outputs"
    whole = json.loads(text)
    whole["cells"].pop()
    assert origin.difference(whole).startswith("cell 4 (")
    for content in ("another drawing", None):
        picture.write_text(content) if content else picture.unlink()
        assert edited("x", "x") == "one.svg, the figure of cell 4, is not the file that the execution wrote"


READS = """\
from study import datasets
from study.results import store
store.published("akar_ye_2017")
datasets.load("iris-bundled")
print(store.read_table("{path}").shape)"""


def test_an_executed_copy_belongs_to_what_it_has_read_and_to_no_other_file(small, monkeypatch):
    path = ROOT / "data" / "results" / "seeds_facts.csv"
    chapter = small("reads", READS.format(path=path))
    monkeypatch.setattr(notebooks, "_check_texts", lambda index, cell: None)  # the path of this folder is in its code
    execute(chapter)
    record = nbformat.read(chapter.target("quick"), as_version=4).metadata["made_from"]
    expected = ["data/published/akar_ye_2017.csv", "data/registry.toml#iris-bundled", "data/results/seeds_facts.csv"]
    assert sorted(record["files"]) == [*expected, "study/style.mplstyle"] and NOTES not in os.environ
    arguments = record, chapter.notebook, chapter.parameters("quick")
    assert origin.changed(*arguments) == []
    iris = datasets.DATASETS["iris-bundled"]
    monkeypatch.setitem(datasets.DATASETS, "new", iris)
    assert origin.changed(*arguments) == []
    monkeypatch.setitem(datasets.DATASETS, "iris-bundled", replace(iris, licence="another"))
    assert origin.changed(*arguments) == ["data/registry.toml#iris-bundled"]
    monkeypatch.delitem(datasets.DATASETS, "iris-bundled")
    assert origin.changed(*arguments) == ["data/registry.toml#iris-bundled"]


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="kernels are forked on Linux")
def test_what_is_read_when_modules_are_imported_counts_for_the_kernels_that_have_them():
    program = "from study.report import forked; forked.use(['study.tables.experiment']); print(*forked.READ)"
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True, cwd=ROOT)
    assert "data/published/xu_zhang_2005.csv" in done.stdout.split()


def test_a_new_entry_of_the_plan_makes_no_notebook_stale():
    program = "from study.report import open_chapter"
    assert "study.chapters" in code.reached(program)
    assert "study.chapters" not in code.reached(program, without=origin.PLAN)


def test_a_notebook_names_the_modules_that_it_imports():
    found = origin.modules(chapters.chapter("tour").notebook)
    assert "kp.estimator" in found and "study.tables.tables" not in found
