"""The table of Li & Long 1999: what is computed for it, and what the ledger says of its numbers."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from kp import OneVsAllKernelPerceptron, Romma
from study import datasets, statistics
from study.mnist import claims, facts, romma
from study.results import store

SMALL = dict(dataset="digits", n_train=120, n_epochs=2)


def test_a_part_counts_what_its_estimator_does():
    parts = [
        romma.Settings(**SMALL, variant=name, reading=reading, order=3)
        for reading in romma.READINGS for name in romma.VARIANTS
    ]  # fmt: skip
    found = list(romma.romma.compute(parts))
    data, n = datasets.load("digits"), SMALL["n_train"]
    for part, rows in zip(parts, found, strict=True):
        own = romma.VARIANTS[part.variant] | romma.READINGS[part.reading]
        model = Romma(degree=4, gamma=1 / 69**2, max_iter=2, random_state=304, **own)
        model.fit(data.X[:n], data.y[:n])
        for row, labels in zip(rows.itertuples(), model.staged_predict(data.X_test), strict=True):
            assert (row.algorithm, row.reading, row.order) == (part.variant, part.reading, 3)
            assert row.errors == (labels != data.y_test).sum() and row.n == len(data.y_test)
            assert row.mistakes == sum(log.n_mistakes(row.epoch) for log in model.mistakes_)
    assert len({table.to_csv() for table in found}) == 6


def test_the_kernel_of_whole_pixels_is_that_of_pixels_divided_by_1100():
    model = romma.model(romma.Settings(variant="ROMMA"))
    assert model.gamma * 1100**2 == pytest.approx(1, rel=1e-15)
    assert (model.degree, model.coef0, model.start) == (4, 1, "origin")


def test_the_mean_of_further_repeats_lies_in_its_interval_as_often_as_it_says():
    random = np.random.RandomState(0)
    ours = random.normal(5, 2, (4000, 20))
    theirs = random.normal(5, 2, (4000, 10)).mean(axis=1)
    ends = np.array([statistics.further_mean(own, 10) for own in ours])
    inside = np.count_nonzero((ends[:, 0] <= theirs) & (theirs <= ends[:, 1]))
    assert stats.binomtest(inside, 4000, 0.95).pvalue > 0.01


def test_every_number_of_the_table_has_one_row():
    published = store.published("li_long_1999")
    rows = claims.li_long()
    assert rows["key"].tolist() == published["key"].tolist()
    assert set(rows["choices"]) == {2} and set(rows["n"]) == {10}


def test_ours_are_means_over_orders():
    runs = pd.DataFrame({"algorithm": "ROMMA", "epoch": 1, "errors": [10, 20], "n": 1000, "mistakes": [5, 7]})
    units = ["error", "mistakes"]
    published = pd.DataFrame({"key": units, "algorithm": "ROMMA", "epoch": 1, "unit": units, "published": [1.6, 6]})
    found = claims.beside(published, runs)
    assert found["ours"].tolist() == [1.5, 6.0] and found["percentile"].tolist() == [0.5, 0.5]


def test_perceptrons_repeat_one_order_that_all_digits_share():
    (found,) = romma.romma_perceptrons.compute([romma.Order(**SMALL, order=3)])
    data, n = datasets.load("digits"), SMALL["n_train"]
    options = dict(degree=4, gamma=1.0, max_iter=2, stop_if_separated=False, random_state=304)
    model = OneVsAllKernelPerceptron(orders="shared", shuffle="once", **options).fit(data.X[:n], data.y[:n])
    for row in found.itertuples():
        labels = (
            model.predict(data.X_test, predictor=row.predictor, epoch=row.epoch) if row.predictor != "minimizing" else None
        )
        assert labels is None or row.errors == (labels != data.y_test).sum()
        assert row.mistakes == sum(log.n_mistakes(row.epoch) for log in model.mistakes_) and row.order == 3


def test_both_readings_are_made_of_the_same_published_numbers():
    assert claims.readings()["key"].tolist() == claims.li_long()["key"].tolist()


def test_the_printed_table_agrees_only_where_one_order_is_kept():
    table = facts.li_long()
    half = 0.5 * 10.0 ** -table.printed["decimals"]
    above = table.printed["published"] - half > table.printed["high"]
    below = table.printed["published"] + half < table.printed["low"]
    assert table.agrees == (not (above | below).any()) and table.fresh == 8
