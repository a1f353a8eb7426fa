"""The stored results of the study: they belong to the code, to their data and to their parameters."""

import pytest

from study import ROOT, chapters, datasets
from study.orders import claims as orders
from study.results import costs, definitions, store
from study.seeds import tables as seeds

EXPERIMENTS = [each for name in chapters.EXPERIMENTS for each in chapters.experiments(name)]
ALL = {each.name for each in EXPERIMENTS}


def test_every_stored_file_belongs_to_one_experiment():
    declared = [*costs.files(), *(path for each in EXPERIMENTS for path in each.stored_files())]
    stored = [
        path for name in ("results", "measured") for path in (ROOT / "data" / name).glob("*") if path.suffix != ".json"
    ]
    assert sorted(stored) == sorted(declared)


@pytest.mark.parametrize("declared", EXPERIMENTS, ids=lambda each: each.name)
def test_committed_results_belong_to_the_code_whatever_is_under_build(declared):
    assert declared.is_fresh(), f"make it again with: {declared.command}"


MUTATIONS = {
    "images upside down": (
        "study/datasets/parse.py",
        "offset=start).reshape(shape)",
        "offset=start).reshape(shape)[:, ::-1]",
        {"mnist.degrees", "data.pairs", "forms.growth", "family.streams", "course.digits"},
        {"uci.kernel", "course.codes"},
    ),
    "the speaker's column of vowel kept": (
        "study/datasets/parse.py",
        "def vowel(file):",
        "def vowel(file, *, keep=3):",
        {"uci.kernel", "uci.sets", "comparison.compare"},
        {"mnist.degrees", "seeds.methods"},
    ),
    "five inner folds for the baselines": (
        "study/uci/protocol.py",
        "inner_folds=3",
        "inner_folds=5",
        {"uci.baselines"},
        {"uci.kernel", "uci.readings"},
    ),
    "a grid without the RBF kernel": (
        "study/uci/experiment.py",
        '("poly", "rbf") for row in settings',
        '("poly",) for row in settings',
        {"uci.grid"},
        {"uci.kernel", "uci.chosen"},
    ),
    "an operator in the walk along mistake logs": (
        "kp/predictors.py",
        "after = before + sign * k[j]",
        "after = before - sign * k[j]",
        {"mnist.degrees", "forms.growth", "comparison.compare", "course.digits", "seeds.methods"},
        {"uci.kernel"},
    ),
    "the type of a code": (
        "kp/output_codes.py",
        "np.eye(n_classes, dtype=np.int8)",
        "np.eye(n_classes, dtype=np.int16)",
        {"course.codes", "comparison.compare"},
        {"uci.kernel", "data.pairs"},
    ),
    "a rule of the logs": (
        "kp/mistakes.py",
        "log.steps(epoch) - log.step[",
        "log.steps(epoch) + log.step[",
        {"mnist.degrees", "uci.predictors"},
        {"data.pairs", "family.noise"},
    ),
    "compiled sums in any order": (
        "kp/compiled.py",
        "njit(nogil=True,",
        "njit(nogil=True, fastmath=True,",
        {"mnist.degrees", "uci.kernel", "seeds.methods", "family.noise"},
        {"data.copies", "seeds.separation"},
    ),
    "other points than the files have": (
        "study/datasets/__init__.py",
        "*map(_frozen, arrays), dataset.f",
        "*map(_frozen, (2 * arrays[0], *arrays[1:])), dataset.f",
        {"mnist.degrees", "data.pairs", "uci.kernel", "seeds.methods"},
        {"course.codes", "algorithm.orders"},
    ),
    "class indices of a set reversed": (
        "study/datasets/__init__.py",
        "class_indices(self.y, self.classes)",
        "class_indices(self.y, self.classes)[::-1]",
        {"mnist.degrees", "forms.growth", "comparison.compare"},
        {"algorithm.orders", "seeds.separation"},
    ),
    "synthetic sets of one state": (
        "study/datasets/__init__.py",
        "(random_state=random_state, **dataset",
        "(random_state=0, **dataset",
        {"family.noise", "mnist.degrees"},
        {"algorithm.orders", "course.codes"},
    ),
    "tables rounded when they are stored": (
        "study/results/store.py",
        "text = table_text(table)",
        "text = table_text(table.round(1))",
        ALL,
        set(),
    ),
    "arrays stored in half precision": (
        "study/results/store.py",
        "np.array(record), **arrays)",
        "np.array(record), **{k: a.astype('f2') for k, a in arrays.items()})",
        ALL,
        set(),
    ),
    "a row less of each part": (
        "study/results/experiment.py",
        "parts = [result[table] for",
        "parts = [result[table][1:] for",
        ALL,
        set(),
    ),
    "the loops of other processors": (
        "study/__init__.py",
        '"Haswell"',
        '"Prescott"',
        ALL,
        set(),
    ),
    "a field that is none": (
        "study/uci/experiment.py",
        "    n_folds: int = N_FOLDS",
        "    n_folds: ClassVar[int] = N_FOLDS",
        {"uci.kernel", "uci.grid"},
        {"mnist.degrees", "seeds.methods"},
    ),
    "a constant that is named inside a text": (
        "study/orders/tables.py",
        'CONTROL = "average"',
        'CONTROL = "voted"',
        {"claims.ledger"},
        {"orders.runs", "uci.kernel"},
    ),
    "the message of an error": (
        "kp/kernels.py",
        "scores are summed, but",
        "scores are summed; but",
        set(),
        ALL,
    ),
    "a remedy in a message": (
        "study/datasets/registry.py",
        "; correct the entry",
        "; edit the entry",
        set(),
        ALL,
    ),
    "the unit of a progress bar": (
        "kp/estimator.py",
        'unit="epoch"',
        'unit="epochs"',
        set(),
        ALL,
    ),
    "a method that nothing calls": (
        "kp/estimator.py",
        "    def _labels(self, f):",
        "    def unheard(self, f):\n        return f\n\n    def _labels(self, f):",
        set(),
        ALL,
    ),
    "who hears logs": (
        "kp/gram.py",
        "\nclass Points:",
        "\nimport logging\n\nlogging.getLogger('kp').addHandler(logging.NullHandler())\n\n\nclass Points:",
        set(),
        ALL,
    ),
    "the name of a local variable": (
        "kp/kernels.py",
        "base",
        "value",
        set(),
        ALL,
    ),
    "where files are downloaded, and how": (
        "study/datasets/fetch.py",
        "TIMEOUT = 30",
        "TIMEOUT = 40",
        set(),
        ALL,
    ),
    "where results are kept": (
        "study/results/experiment.py",
        'f"{self.chapter}_{table}"',
        'f"{self.chapter}-{table}"',
        set(),
        ALL,
    ),
}
"""{what is changed: (file, text, its replacement, experiments that must be stale, experiments that must not)}."""


@pytest.fixture(scope="module")
def before():
    return {each.name: definitions.fingerprint(each._roots(each.published)) for each in EXPERIMENTS}


def changed(names, edits, before, monkeypatch):
    """Those of these experiments whose fingerprint is another after edits of files, each (file, text, other text)."""
    real = definitions.code()
    texts = {}
    for file, old, new in edits:
        text = texts.get(file) or definitions.SOURCES[ROOT / file]
        assert old in text, f"the code is another: find the place of this mutation again: {old}"
        texts[file] = text.replace(old, new)
    mutated = {
        module.name: definitions.Module(module.name, texts[module.path], package=module.package, path=module.path)
        for module in real.modules.values()
        if module.path in texts
    }
    code = definitions.Code({**real.modules, **mutated}, definitions.BOUNDARY)
    # No mutation takes a name from a module, so what other modules say is as it was: reading it again would take seconds.
    code._units |= {address: unit for address, unit in real._units.items() if address[0] not in mutated}
    monkeypatch.setattr(definitions, "code", lambda: code)
    asked = [each for each in EXPERIMENTS if each.name in names]
    return {each.name for each in asked if definitions.fingerprint(each._roots(each.published)) != before[each.name]}


@pytest.mark.parametrize("what", [what for what, (*_, stale, _) in MUTATIONS.items() if stale])
def test_code_that_changes_results_makes_them_stale_and_no_other(what, before, monkeypatch):
    *edit, stale, fresh = MUTATIONS[what]
    assert stale and changed(stale | fresh, [edit], before, monkeypatch) == stale


def test_edits_that_change_no_result_make_none_stale(before, monkeypatch):
    """All of them at once."""
    edits = [edit for *edit, stale, _ in MUTATIONS.values() if not stale]
    assert edits and changed(ALL, edits, before, monkeypatch) == set()


def test_names_inside_texts_are_reached():
    assert ("study.seeds.methods", "MAJORITY") in definitions.reached([seeds.hard_methods])
    assert ("study.orders.tables", "CONTROL") in definitions.reached([orders.statements])


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
