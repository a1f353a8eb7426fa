"""Tables of what computations cost are written from Snakemake's measurements, where there are none yet."""

import pandas as pd
import pytest

from study import chapters
from study.results import costs

NAMES = [each.name for each in chapters.experiments("algorithm")]


@pytest.fixture
def measure(monkeypatch, tmp_path):
    """A function that writes what Snakemake has measured of an experiment."""
    monkeypatch.setattr(costs, "MEASURED", tmp_path)
    monkeypatch.setattr(costs, "BUILD", tmp_path)
    folder = tmp_path / "full" / "benchmarks"
    folder.mkdir(parents=True)

    def write(name, seconds):
        head = "s\th:m:s\tmax_rss\tmax_vms\tcpu_time"
        (folder / f"{name}.tsv").write_text(f"{head}\n{seconds}\t0:00:10\t512.00\t2048.00\t{2 * seconds}\n")

    return write


def test_a_chapter_is_written_when_all_its_experiments_were_measured_and_then_stays(measure):
    first, *others = NAMES
    measure(first, 10.04)
    costs.keep()
    assert not costs.path("algorithm").exists() and costs.words("algorithm") == ""
    for name in others:
        measure(name, 20)
    costs.keep()
    assert [path.name for path in costs.MEASURED.glob("*_computing.csv")] == ["algorithm_computing.csv"]
    table = pd.read_csv(costs.path("algorithm")).set_index("experiment")
    assert table["seconds"].to_dict() == {first: 10.0} | dict.fromkeys(others, 20.0) and set(table["memory"]) == {0.5}
    assert costs.words("algorithm") == f"{10 + 20 * len(others)} s, 0.5 GiB"
    assert costs.by_chapter()["processor_seconds"].tolist() == [pytest.approx(20.1 + 40 * len(others))]
    before = costs.path("algorithm").read_bytes()
    measure(first, 99)
    costs.keep()
    assert costs.path("algorithm").read_bytes() == before


@pytest.mark.parametrize("content", ["", "s\th:m:s\n", "\x00\x00"])
def test_a_measurement_that_was_cut_off_counts_as_none(measure, content):
    measure("a", 10)
    assert costs.last_seconds("full", "a") == 10.0
    (costs.BUILD / "full" / "benchmarks" / "a.tsv").write_text(content)
    assert costs.last_seconds("full", "a") is None and costs.last_seconds("full", "absent") is None
