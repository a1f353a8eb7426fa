"""A computation in a process of its own gives the same, and what it cost."""

import multiprocessing
from concurrent.futures import ProcessPoolExecutor

import numpy as np

from study.alone import alone, measured
from study.references import experiment
from study.references.experiment import Settings

PART = Settings(method="linear SVM", dataset="digits", n_held=100)
CHOSEN = experiment.candidates(PART)[0]


def test_a_process_of_its_own_gives_the_same_and_its_memory():
    here = experiment._reference(PART, CHOSEN)
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        predictions, numbers, (fit, predict, peak) = pool.submit(measured, experiment._reference, PART, CHOSEN).result()
    np.testing.assert_array_equal(predictions, here[0])
    assert numbers == here[1] and fit > 0 and predict > 0 and 0.01 < peak < 10


def test_small_sets_stay_in_this_process_and_have_no_memory():
    predictions, _, (fit, predict, peak) = alone(experiment._reference, PART, CHOSEN)
    np.testing.assert_array_equal(predictions, experiment._reference(PART, CHOSEN)[0])
    assert fit > 0 and predict > 0 and np.isnan(peak)
