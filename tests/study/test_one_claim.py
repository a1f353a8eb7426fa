"""One row of the ledger by its ID is the stored row, made again from what its room reads."""

import json

import pytest

from study import claims, one_claim
from study.__main__ import main
from study.results.store import StaleResult

KEYS = {
    "hermans-2021/abstract/average/test-error": ("data/results/mnist_multiclass.csv", "mnist.degrees"),
    "hermans-2021/table-2/support-vector-machine-gaussian-kernel-no-preprocessing": (
        "data/results/lower_learners.csv",
        "lower.learners",
    ),
    "hermans-2021/fig-6/degree-3/epoch-10/average/test": ("data/results/mnist_multiclass.csv", "mnist.degrees"),
    "li-long-1999/table-1/voted-perceptron/epoch-3/error": ("data/results/mnist_romma.csv", "mnist.romma"),
    "course-page/test-9-2": ("data/results/course_confusion.csv", "course.digits"),
    "course-page/learning-rate": ("data/results/course_steps.csv", "course.steps"),
    "akar-ye-2017/wine": ("data/results/seeds_hard.csv", "seeds.hard"),
}
OTHERS = ("mnist_orders", "lower_c", "classes_", "course_parity", "seeds_m")
"""How the names of tables begin of which none of these rows is made."""


@pytest.mark.parametrize("key", KEYS)
def test_a_row_is_made_again_and_comes_out_as_it_is_stored(key, capsys):
    numbers, _, said = claims.stored()
    known = next(table[table["key"] == key].iloc[0] for table in (numbers, said) if (table["key"] == key).any())
    found = one_claim.find(key)
    file, experiment = KEYS[key]
    assert file in found.files and not any(other in name for name in found.files for other in OTHERS)
    assert ("lower" in file) == any("lower" in name for name in found.files), "what another row of the source reads"
    for name in set(known.index) - {"explanation", "percentile", "interval_of"}:
        assert found.row[name] == known[name] or (known[name] != known[name]), name
    assert main(["claim", key]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == key and f"verdict     {known['verdict']}" in [line.partition(", after")[0] for line in lines]
    assert any(line.startswith("argued in   chapter ") and "notebooks/executed/" in line for line in lines)
    assert any(line.startswith("Made now from stored results, all up to date; nothing was trained. Read") for line in lines)
    assert any(line.startswith(f"To recompute: python -m study run {experiment} --recompute") for line in lines)


def test_published_ours_and_interval_have_the_decimals_of_the_source():
    row = {
        "key": "k", "source": "S", "item": "Table 2", "quantity": "error (%)", "published": 2.7, "ours": 1.28349, "low": 1.1,
        "high": 2.0, "interval_of": "images", "decimals": 2, "choices": 37, "verdict": "outside",
        "explanation": float("nan"),
    }  # fmt: skip
    assert one_claim._number(row) == {
        "source": "S, Table 2: error (%)", "published": "2.70", "ours": "1.28", "interval": "1.10 to 2.00, over images",
        "verdict": "outside, after a search of 37 settings or readings", "remark": "",
    }  # fmt: skip


def test_an_unknown_id_is_refused_in_one_line_with_the_nearest(capsys):
    assert main(["claim", "hermans-2021/fig-6/degree-3/epoch-10/averge/test"]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(
        "study: claim 'hermans-2021/fig-6/degree-3/epoch-10/averge/test': the ledger has no such ID; nearest: "
    )
    assert line.count("hermans-2021/fig-6/degree-3/epoch-10/average/test") == 1
    assert main(["claim", ""]) == 1 and "nearest: hermans" in capsys.readouterr().err


def test_a_row_whose_results_are_stale_is_shown_as_it_is_stored_and_says_so(monkeypatch, capsys):
    def stale(*_):
        raise StaleResult("x.csv was made with other code; make it again with: python -m study run x")

    monkeypatch.setattr(one_claim, "_made", stale)
    assert main(["claim", "course-page/test-9-2"]) == 1
    out = capsys.readouterr().out
    assert "published   0" in out and "Made now" not in out
    assert out.splitlines()[-1].startswith("As stored in data/results; not made again, since x.csv was made with other code")


def test_captions_that_name_the_place_in_the_source_are_listed(tmp_path):
    blank = "\N{NO-BREAK SPACE}"
    texts = [f"**Figure{blank}2.** As the source's Figs 5 and 6.", f"**Table{blank}1.** See Table 16.", "Fig. 6"]
    path = tmp_path / "a.ipynb"
    path.write_text(json.dumps({"cells": [{"source": [each]} for each in texts]}))
    assert list(one_claim._captions(path, "Fig. 6 (c)")) == ["Figure 2"]
    assert list(one_claim._captions(path, "Table 1")) == [] == list(one_claim._captions(path, "Section 2"))
