"""Declared experiments: read where fresh, else computed once, part by part; one test of the machine for all chapters."""

import json
import multiprocessing
import os
import pickle
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass
from datetime import date
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from study import ROOT, chapters
from study.__main__ import main
from study.report import origin
from study.results import code, experiment, stamp, store
from study.results.experiment import Experiment
from study.results.store import StaleResult


@dataclass(frozen=True)
class Settings:
    size: int
    factor: float = 2.0


PUBLISHED = [Settings(3), Settings(2, 0.1)]
CALLS = []


def squares(settings, *, progress=False):
    CALLS.append(settings)
    i = np.arange(settings.size)
    return pd.DataFrame({"size": settings.size, "i": i, "value": settings.factor * i**2})


def both(settings, *, progress=False):
    table = squares(settings)
    seconds = pd.DataFrame({"size": [settings.size], "seconds": [len(CALLS) / 7]})
    return {"values": table, "times": seconds, "arrays": {"i": np.arange(settings.size)}}


def several(settings, *, progress=False):
    CALLS.append(list(settings))
    for s in settings:
        yield pd.DataFrame({"size": [s.size]})


SEVERAL = {
    "compute": both, "tables": ("values", "times"), "measured": ("times",), "arrays": lambda s: f"size_{s.size}",
}  # fmt: skip


@pytest.fixture(autouse=True)
def folders(tmp_path, monkeypatch):
    for name in ("RESULTS", "MEASURED", "BUILD"):
        monkeypatch.setattr(experiment, name, tmp_path / name.lower())
    CALLS.clear()
    return tmp_path


def declare(*, compute=squares, **options):
    return Experiment("toy", compute, **{"published": PUBLISHED, **options})


def published_calls(*, recompute=False, **options):
    """What is computed where this is published."""
    CALLS.clear()
    declare(**options).publish(recompute=recompute)
    return list(CALLS)


def files(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file() and path.suffix != ".part"}


def test_published_results_are_computed_once_and_read_part_by_part(folders):
    assert published_calls() == PUBLISHED and published_calls() == []
    assert declare().is_fresh() and files(folders / "build") == {}
    pd.testing.assert_frame_equal(declare()(PUBLISHED[1]), squares(PUBLISHED[1]))
    pd.testing.assert_frame_equal(declare()(PUBLISHED), pd.concat([squares(s) for s in PUBLISHED], ignore_index=True))


@pytest.mark.parametrize("options", [{}, SEVERAL], ids=["a table", "tables, times and arrays"])
def test_parts_that_were_published_before_are_kept_when_there_are_more(folders, options):
    declare(**options).publish()
    more = {**options, "published": [Settings(4), *PUBLISHED]}
    assert published_calls(**more) == [Settings(4)] and declare(**more).is_fresh()
    extended = files(folders / "results")
    assert published_calls(recompute=True, **more) == more["published"] and files(folders / "results") == extended


def test_parts_that_were_published_from_other_data_or_are_damaged_are_computed_again(folders):
    more = [*PUBLISHED, Settings(4)]
    declare().publish()
    assert published_calls(published=more, reads=lambda s: [ROOT / "pyproject.toml"]) == more
    declare().publish(recompute=True)
    (folders / "results" / "toy_squares.csv").write_text("i\n")
    assert published_calls(published=more) == more
    assert published_calls(published=PUBLISHED[:1]) == PUBLISHED[:1]


def test_published_settings_are_not_computed_on_the_spot():
    with pytest.raises(StaleResult, match="toy_squares.* is missing; make it with: python -m study run toy.squares"):
        declare()(PUBLISHED[0])
    assert CALLS == []


def test_other_settings_are_computed_once_and_kept_under_build(folders):
    other = Settings(4)
    first = declare()(other)
    pd.testing.assert_frame_equal(declare()(other), first)
    assert CALLS == [other] and not (folders / "results").exists()
    assert len(files(folders / "build")) == 2


def test_a_run_that_stops_goes_on_where_it_stopped(folders, monkeypatch):
    real = experiment.Experiment._keep

    def keep(self, settings, result):
        real(self, settings, result)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(experiment.Experiment, "_keep", keep)
        declare().publish()
    assert not (folders / "results").exists()
    assert published_calls() == PUBLISHED[1:] and files(folders / "build") == {}


def publish_until(step):
    """Publish, and be killed in place of the step-th file that is put in its place."""
    real = os.replace
    count = [0]

    def replace(*arguments):
        count[0] += 1
        if count[0] == step:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(*arguments)

    os.replace = replace
    declare().publish()


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="a process cannot be forked here")
def test_a_run_that_is_killed_leaves_whole_parts_or_none(folders):
    codes = []
    for step in range(1, 8):
        process = multiprocessing.get_context("fork").Process(target=publish_until, args=(step,))
        process.start()
        process.join()
        codes.append(process.exitcode)
    assert set(codes) <= {0, -signal.SIGKILL} and codes[0] == -signal.SIGKILL
    declare().publish()
    killed = files(folders / "results")
    declare().publish(recompute=True)
    assert files(folders / "results") == killed and files(folders / "build") == {}


def test_what_is_only_measured_is_computed_again_where_its_file_is_gone(folders):
    measured = {"measured": ("squares",)}
    declare(**measured).publish()
    assert published_calls(recompute=True, **measured) == []
    assert list(files(folders / "measured")) == ["toy_squares.csv", "toy_squares.json"]
    declare(**measured).path("squares").unlink()
    assert published_calls(recompute=True, **measured) == PUBLISHED


def test_tables_arrays_and_measured_times_are_kept_apart(folders):
    declare(**SEVERAL).publish()
    times = files(folders / "measured")
    declare(**SEVERAL).publish(recompute=True)
    assert list(files(folders / "results")) == ["toy_both.npz", "toy_values.csv", "toy_values.json"]
    assert files(folders / "measured") == times and list(times) == ["toy_times.csv", "toy_times.json"]
    found = declare(**SEVERAL)(PUBLISHED)
    assert [len(a["i"]) for a in found["arrays"]] == list(found["times"]["size"]) == [3, 2]


def test_an_experiment_computes_by_the_function_that_is_declared_and_can_go_to_other_processes():
    assert experiment.experiment("toy")(squares).compute is squares
    real = chapters.experiments("coursework")[0]
    assert pickle.loads(pickle.dumps(real)) is real


def test_settings_that_are_computed_together_are_passed_in_one_list():
    each = declare(compute=several, together=True)
    each.publish()
    assert [PUBLISHED] == CALLS and list(each(PUBLISHED)["size"]) == [3, 2]
    each([Settings(8), Settings(9)])
    each([Settings(9), Settings(10)])
    assert CALLS[1:] == [[Settings(8), Settings(9)], [Settings(10)]]


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"published": [Settings(3), Settings(2, 0.2)]}, "parameters"),
        ({"data": lambda s: ["iris-bundled"]}, "data"),
        ({"reads": lambda s: [ROOT / "pyproject.toml"]}, "data"),
        ({}, "code"),
    ],
)
def test_results_with_other_parameters_data_or_code_are_stale(change, what, monkeypatch):
    declare().publish()
    if what == "code":
        monkeypatch.setattr(code, "fingerprint", lambda program: "0" * 16)
    assert not declare(**change).is_fresh()
    with pytest.raises(StaleResult, match=f"was made with other {what}"):
        declare(**change)(PUBLISHED[0])


def test_of_files_with_one_name_in_several_folders_each_counts(folders):
    words = [folders / chapter / "statements.toml" for chapter in ("first", "second")]
    for path in words:
        path.parent.mkdir()
        path.write_text("said = 1\n")
    declared = declare(reads=lambda s: words)
    declared.publish()
    assert declared.is_fresh()
    for path in words:
        path.write_text("said = 2\n")
        assert not declared.is_fresh()
        path.write_text("said = 1\n")


def test_provenance_is_plain_json_that_knows_code_data_parameters_and_versions():
    found = declare(data=lambda s: ["iris-bundled"]).provenance(PUBLISHED)
    assert found["parameters"] == [{"size": 3, "factor": 2.0}, {"size": 2, "factor": 0.1}]
    assert found["versions"]["numpy"] == np.__version__ and list(found["data"]) == ["iris-bundled"]
    assert json.loads(json.dumps(found)) == found and str(ROOT) not in json.dumps(found)


def test_what_comes_out_otherwise_is_named(monkeypatch):
    declared = declare(**SEVERAL)
    declared.publish()
    assert declared.differences() == []
    monkeypatch.setattr(np, "arange", lambda n, arange=np.arange: arange(n) + 1)
    assert declared.differences() == ["values", "arrays"]


def rows_of_a_power(settings, *, progress=False):
    return squares(settings).assign(value=lambda table: table["i"] ** settings.factor)


def test_a_smaller_sample_is_equal_if_all_its_rows_are_stored(monkeypatch):
    declared = declare(compute=rows_of_a_power, published=[Settings(5)], sample=Settings(5, 3.0))
    declared.publish()
    assert declared.differences() == ["rows_of_a_power"]
    small = declare(published=[Settings(5)], sample=Settings(5))
    small.compute = lambda settings, *, progress: squares(settings)[1:3]
    declare(published=[Settings(5)]).publish()
    assert small.differences() == []


def test_a_sample_may_be_that_of_another_experiment_or_compare_some_tables_only(monkeypatch):
    other = declare()
    other.publish()
    stands = declare(**SEVERAL | {"sample": other})
    stands.publish()
    some = declare(**SEVERAL | {"sampled": ("times",), "arrays": None})
    monkeypatch.setattr(np, "arange", lambda n, arange=np.arange: arange(n) + 1)
    assert stands.differences() == ["squares"] and some.differences() == []


def test_a_stale_result_is_stamped_only_if_its_sample_is_equal(folders, monkeypatch):
    declared = declare(**SEVERAL)
    declared.publish()
    before = {path: path.read_bytes() for path in folders.joinpath("results").glob("*.csv")}
    assert stamp.stamp(declared) == stamp.FRESH
    monkeypatch.setattr(code, "fingerprint", lambda program: "changed code")
    arrays = {path: path.read_bytes() for path in folders.joinpath("results").glob("*.npz")}
    assert not declared.is_fresh() and stamp.stamp(declared) == stamp.STAMPED and declared.is_fresh()
    assert arrays and {path: path.read_bytes() for path in arrays} == arrays
    record = store.read_record(declared.path("values"))
    today = str(date.today())
    assert record["computed"] == today and record["sample_equal"] == {"date": today, "sample": 0}
    assert declared.differences() == [] and {path: path.read_bytes() for path in before} == before
    monkeypatch.setattr(code, "fingerprint", lambda program: "code that computes something else")
    monkeypatch.setattr(np, "arange", lambda n, arange=np.arange: arange(n) + 1)
    assert "its sample differs in values, arrays" in stamp.stamp(declared) and not declared.is_fresh()


def test_a_dry_run_names_what_is_stale_and_computes_nothing(monkeypatch, capsys):
    fresh, stale = (
        SimpleNamespace(name=f"room.{name}", is_fresh=lambda is_it=name == "new": is_it) for name in ("new", "old")
    )
    monkeypatch.setattr(chapters, "all_experiments", lambda: [fresh, stale])
    monkeypatch.setattr(stamp, "stamp_all", None)
    monkeypatch.setattr(origin, "is_current", lambda chapter, profile: chapter.name != "mnist")
    assert main(["stamp", "--dry-run"]) == 1
    assert capsys.readouterr().out.splitlines() == ["stale results (1): room.old", "stale executed notebooks (1): mnist"]
    monkeypatch.setattr(chapters, "all_experiments", lambda: [fresh])
    assert main(["stamp", "--dry-run"]) == 0


def test_a_stamped_result_that_comes_out_equal_again_keeps_its_files(folders, monkeypatch):
    declared = declare(**SEVERAL)
    declared.publish()
    monkeypatch.setattr(code, "fingerprint", lambda program: "changed code")
    stamp.stamp(declared)
    before = files(folders / "results")
    declared.publish(recompute=True)
    assert files(folders / "results") == before


def test_arrays_of_all_parts_are_in_one_file_of_the_same_bytes_and_earlier_parts_stay(folders):
    declare(**SEVERAL, published=PUBLISHED[:1]).publish()
    assert published_calls(**SEVERAL) == PUBLISHED[1:]
    path = folders / "results" / "toy_both.npz"
    with np.load(path) as file:
        members = {name: file[name].tolist() for name in file.files if name != "provenance"}
    assert members == {"size_3/i": [0, 1, 2], "size_2/i": [0, 1]}
    content = path.read_bytes()
    declare(**SEVERAL).publish(recompute=True)
    assert path.read_bytes() == content


def test_arrays_of_one_part_need_no_name_of_it(folders):
    declared = declare(**SEVERAL | {"arrays": lambda s: "", "published": PUBLISHED[:1]})
    declared.publish()
    with np.load(folders / "results" / "toy_both.npz") as file:
        assert set(file.files) == {"i", "provenance"}
    assert declared(PUBLISHED[0])["arrays"][0]["i"].tolist() == [0, 1, 2]


def test_arrays_that_are_of_another_run_than_their_tables_are_stale(folders):
    declared = declare(**SEVERAL)
    declared.publish()
    other = {"size_3/i": np.arange(3) + 1, "size_2/i": np.arange(2)}
    store.write_arrays(folders / "results" / "toy_both.npz", other, declared._without_code(PUBLISHED))
    assert not declared.is_fresh() and len(declared(PUBLISHED[1])["arrays"][0]["i"]) == 2
    with pytest.raises(StaleResult, match="toy_both.npz does not belong to its tables; make it again with: python"):
        declared(PUBLISHED[0])


def test_a_result_of_other_parameters_is_not_stamped(monkeypatch):
    declare(**SEVERAL).publish()
    monkeypatch.setattr(code, "fingerprint", lambda program: "changed code")
    found = stamp.stamp(declare(**SEVERAL | {"published": [Settings(4)]}))
    assert "was made with other parameters" in found


BESIDE = """
import os, sys
from dataclasses import dataclass
from pathlib import Path
{first}
import study.algorithm.experiment as own
from study.results import code, store
def ask():
    try:
        return code.fingerprint(code.program(own.orders)), own.orders.is_fresh()
    except code.ChangedCode as error:
        return str(error)
print(ask())
path = Path("kp/kernels.py")
text = path.read_text()
for old, new in {edits}:
    path.write_text(text.replace(old, new))
    os.utime(path, (1, 1))
    print(ask())
"""


def run_beside(tmp_path, edits, first=""):
    """What a process in a copy of the project says of a fingerprint before and after edits of kp/kernels.py beside it."""
    copy = tmp_path / "copy"
    for name in ("kp", "study"):
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    (copy / "data").symlink_to(ROOT / "data")
    environment = {**os.environ, "PYTHONPATH": str(copy), "NUMBA_DISABLE_JIT": "1"}
    code = BESIDE.format(edits=edits, first=first)
    done = subprocess.run([sys.executable, "-c", code], cwd=copy, env=environment, capture_output=True, text=True)
    return done.stdout.splitlines() or done.stderr.splitlines()[-1:]


@pytest.mark.long
def test_an_edit_beside_an_open_process_is_refused_until_it_is_undone(tmp_path):
    wrong = ("base * base * base\n", "base\n")
    before, edited, undone, broken = run_beside(tmp_path, [wrong, ("", ""), ("def fill(", "def fill((")])
    for said in (edited, broken):
        assert said.startswith("kp/kernels.py: expected the code that this process has imported")
        assert "restart the kernel" in said
    assert before == undone and before.startswith("(")


@pytest.mark.long
def test_kp_that_was_edited_between_its_import_and_that_of_study_is_refused(tmp_path):
    first = "import kp\nPath('kp/kernels.py').write_text(Path('kp/kernels.py').read_text() + '\\nX = 1\\n')"
    (said,) = run_beside(tmp_path, [], first)
    assert "ChangedCode: kp was changed between its import and that of study; restart the kernel" in said


def test_a_result_whose_source_was_not_computed_yet_is_stale_and_names_the_missing_file(folders):
    absent = folders / "own_absent.csv"
    reading = declare(reads=lambda settings: [absent])
    assert not reading.is_fresh()
    with pytest.raises(StaleResult, match=r"own_absent\.csv is missing; make it with: make report PROFILE=full"):
        reading.provenance(reading.published)
