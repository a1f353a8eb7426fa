"""The stored results of the study: they belong to the code, to their data and to their parameters."""

import pytest

from study import ROOT, chapters, datasets, store

EXPERIMENTS = [each for name in chapters.EXPERIMENTS for each in chapters.experiments(name)]


def test_every_stored_file_belongs_to_one_experiment():
    declared = [path for each in EXPERIMENTS for path in each.stored_files()]
    assert len(declared) == len(set(declared))
    stored = [
        path for folder in ("results", "measured") for path in (ROOT / "data" / folder).glob("*") if path.suffix != ".json"
    ]
    assert sorted(stored) == sorted(declared)


@pytest.mark.parametrize("declared", EXPERIMENTS, ids=lambda each: each.name)
def test_committed_results_belong_to_the_code_whatever_is_under_build(declared):
    assert declared.is_fresh(), f"make it again with: {declared.command}"


@pytest.mark.recompute
@pytest.mark.parametrize("declared", EXPERIMENTS, ids=lambda each: each.name)
def test_a_part_computed_again_is_what_is_stored(declared):
    part = declared.published[declared.sample]
    try:
        for name in declared.datasets([part]):
            datasets.load(name, download=False)
    except datasets.DataError as error:
        pytest.skip(str(error).splitlines()[-1])
    assert declared.differences(part) == []


def test_times_are_in_no_compared_table():
    for path in (ROOT / "data" / "results").glob("*.csv"):
        assert not {"seconds", "minutes"} & set(store.read_table(path).columns), path
