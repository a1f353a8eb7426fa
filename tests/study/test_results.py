"""The stored results of the study: they belong to the code, to their data and to their parameters."""

import pytest

from study import ROOT, chapters, costs, datasets, definitions, store

EXPERIMENTS = [each for name in chapters.EXPERIMENTS for each in chapters.experiments(name)]


def test_every_stored_file_belongs_to_one_experiment():
    declared = [path for each in EXPERIMENTS for path in each.stored_files()]
    assert len(declared) == len(set(declared))
    stored = [
        path for folder in ("results", "measured") for path in (ROOT / "data" / folder).glob("*") if path.suffix != ".json"
    ]
    assert sorted(stored) == sorted([*declared, *costs.files()])


@pytest.mark.parametrize("declared", EXPERIMENTS, ids=lambda each: each.name)
def test_committed_results_belong_to_the_code_whatever_is_under_build(declared):
    assert declared.is_fresh(), f"make it again with: {declared.command}"


MUTATIONS = {
    "images upside down": (
        "study/datasets/parse.py", "offset=start).reshape(shape)", "offset=start).reshape(shape)[:, ::-1]",
        {"mnist.degrees", "data.pairs", "forms.growth", "family.streams", "course.digits"}, {"uci.kernel", "course.codes"},
    ),
    "the speaker's column of vowel kept": (
        "study/datasets/parse.py", "def vowel(file):", "def vowel(file, *, keep=3):",
        {"uci.kernel", "uci.sets", "comparison.compare"}, {"mnist.degrees", "seeds.methods"},
    ),
    "tables rounded when they are written": (
        "study/store.py", "table.to_csv(index=False,", "table.round(2).to_csv(index=False,",
        {each.name for each in EXPERIMENTS}, set(),
    ),
    "five inner folds for the baselines": (
        "study/uci/protocol.py", "inner_folds=3", "inner_folds=5", {"uci.baselines"}, {"uci.kernel", "uci.readings"},
    ),
    "thresholds where there are to be none": (
        "study/uci/experiment.py", "replace(row, threshold=False)", "replace(row, threshold=True)",
        {"uci.thresholds"}, {"uci.kernel", "uci.grid", "uci.readings"},
    ),
    "a grid without the RBF kernel": (
        "study/uci/experiment.py", '("poly", "rbf") for row in settings', '("poly",) for row in settings',
        {"uci.grid"}, {"uci.kernel", "uci.chosen"},
    ),
    "an operator in the walk along mistake logs": (
        "kp/predictors.py", "f[j] += sign[i] * k[j]", "f[j] -= sign[i] * k[j]",
        {"mnist.degrees", "forms.growth", "comparison.compare", "course.digits", "seeds.methods"}, {"uci.kernel"},
    ),
    "the type of a code": (
        "kp/output_codes.py", "np.eye(n_classes, dtype=np.int8)", "np.eye(n_classes, dtype=np.int16)",
        {"course.codes", "comparison.compare"}, {"uci.kernel", "data.pairs", "forms.choice"},
    ),
    "a rule of the logs": (
        "kp/mistakes.py", "self.steps(epoch) - self.step[", "self.steps(epoch) + self.step[",
        {"mnist.degrees", "uci.predictors"}, {"data.pairs", "family.noise"},
    ),
}  # fmt: skip
"""{what is wrong: (file, text, its replacement, experiments that must be stale, experiments that must not)}."""


@pytest.mark.parametrize("what", MUTATIONS)
def test_code_that_changes_results_makes_them_stale(what, monkeypatch):
    file, old, new, stale, fresh = MUTATIONS[what]
    text = (ROOT / file).read_text(encoding="utf-8")
    assert old in text, "the code is another: find the place of this mutation again"
    name = file.removesuffix(".py").replace("/", ".")
    mutated = definitions.Module(name, text.replace(old, new), package=name.rpartition(".")[0], path=file)
    code = definitions.Code({**definitions.code().modules, name: mutated}, definitions.BOUNDARY)
    before = {each.name: each.provenance(each.published)["code"] for each in EXPERIMENTS}
    monkeypatch.setattr(definitions, "code", lambda: code)
    changed = {each.name for each in EXPERIMENTS if each.provenance(each.published)["code"] != before[each.name]}
    assert stale <= changed and not fresh & changed


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
