"""The answers: the 1 in the kernel against cross-validation by scikit-learn, rules for stopping against a literal one."""

import re

import nbformat
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from kp import OneVsAllKernelPerceptron
from study import ROOT, statistics
from study.questions import experiment, facts, figures, tables
from study.report.expressions import EXPRESSION, HEAD
from study.report.source import captioned

SMALL = {"n_repeats": 2, "n_folds": 3, "max_iter": 2}


@pytest.fixture(scope="module")
def rows():
    return experiment.kernels(experiment.Settings(dataset="iris-bundled", **SMALL))


def test_errors_are_those_of_cross_validation(rows):
    X, y = load_iris(return_X_y=True)
    model = OneVsAllKernelPerceptron(degree=2, gamma=0.25, coef0=0.0, max_iter=2, predictor="average", random_state=1)
    folds = StratifiedKFold(3, shuffle=True, random_state=1)
    right = cross_val_score(make_pipeline(MinMaxScaler(), model), X, y, cv=folds)
    own = rows.query("scaling == 'in [0, 1]' and constant == 0 and degree == 2 and repeat == 1")
    assert (own["errors"] / own["n"]).to_numpy() == pytest.approx(1 - right)


def test_the_difference_is_tested_over_folds(rows):
    table = tables.without_the_one(rows)
    own = rows.query("scaling == 'raw' and degree == 3").pivot(index=["repeat", "fold"], columns="constant", values="errors")
    gaps = (own[0.0] - own[1.0]) / 50
    row = table.query("scaling == 'raw' and degree == 3").iloc[0]
    assert row["estimate"] == pytest.approx(gaps.mean()) == pytest.approx(row["without"] - row["with"])
    assert row["low"] == pytest.approx(statistics.resampled(gaps, test_share=0.5).low)
    means = tables.means_over_sets(pd.concat([table, table.assign(dataset="b", estimate=table["estimate"] + 0.2)]))
    assert means["estimate"].to_numpy() == pytest.approx(table["estimate"].to_numpy() + 0.1)
    own = "scaling == 'in [0, 1]'"
    (axis,) = figures.figure_constant(table.query(own), means.query(own)).axes
    assert axis.lines[2].get_ydata() == pytest.approx(100 * means.query(own)["estimate"].to_numpy())


def test_other_degrees_are_other_parts_with_the_same_errors(rows):
    part = experiment.Settings(dataset="iris-bundled", degrees=(3, 2), **SMALL)
    expected = rows[rows["degree"].isin((2, 3))]
    keys = ["scaling", "constant", "degree", "repeat", "fold"]
    own = experiment.kernels.compute(part).set_index(keys)["errors"]
    pd.testing.assert_series_equal(own.sort_index(), expected.set_index(keys)["errors"].sort_index())


def test_what_is_quoted_of_the_1_is_of_the_degrees_asked_for(monkeypatch):
    stored = facts.constant(experiment.DEGREES)
    monkeypatch.setattr(facts, "constant", lambda degrees: stored[stored["degree"].isin(degrees)])
    own = stored.query("scaling == 'standardised'").set_index("degree")["estimate"]
    found = facts.the_one((1, 3, 2))
    assert (found.even, found.odd, found.odd_named) == (own[2].mean(), own[3].mean(), "degree 3")
    assert found.least == own[[2, 3]].min() and facts.the_one().odd_named == "degrees 3 and 5"
    with pytest.raises(ValueError, match="^degrees must have an even one and an odd one above 1, got 1, 2$"):
        facts.the_one((1, 2))


def test_a_rule_stops_where_it_says():
    held = pd.DataFrame(
        [(3, order, epoch, "average", errors) for order, curve in enumerate([[9, 5, 5, 2], [9, 8, 7, 6]])
         for epoch, errors in enumerate(curve, start=1)],
        columns=["degree", "order", "epoch", "predictor", "held"],
    )  # fmt: skip
    wrong = np.random.default_rng(0).random((2, 1, 4, 4, 50)) < 0.3
    table = tables.stopping_rules(held, wrong, [3], "average").set_index("rule")
    assert table["epochs"].to_dict() == dict(zip(tables.RULES, (1, (3 + 4) / 2, 4, 4), strict=True))
    stopped = np.stack([wrong[0, 0, 1, 1], wrong[1, 0, 1, 3]])
    assert table.loc["first epoch without gain", "error"] == pytest.approx(stopped.mean())
    assert table.loc["one epoch", "estimate"] == pytest.approx(wrong[:, 0, 1, 0].mean() - wrong[:, 0, 1, 3].mean())


def test_each_of_fourteen_answers_has_a_number_and_the_place_where_it_is_argued_and_eight_a_public_thread():
    cells = nbformat.read(ROOT / "notebooks" / "questions.ipynb", as_version=4).cells
    texts = [
        HEAD.sub("", cell.source)
        for cell in cells
        if cell.cell_type == "markdown" and not captioned(cell.metadata.get("tags", []))
    ]
    answers = [text for text in texts if text.startswith("**")]
    assert len(answers) == 14 and cells[0].source.startswith("# Fourteen questions")
    for answer in answers:
        assert EXPRESSION.search(answer), f"no number: {answer[:60]}"
        assert re.search(r"\[[Cc]hapter \d\]\(\w+\.ipynb\)", answer), f"no place: {answer[:60]}"
    threads = [answer for answer in answers if re.search(r"\*\*\s+\(\[[^]]+\]\(https://", answer)]
    assert len(threads) == 8 and "eight link to a public thread" in cells[0].source
