"""A computation in a process of its own gives the same, and what it cost."""

import multiprocessing
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pytest

from study.lower import experiment
from study.lower.experiment import Chosen
from study.results.alone import alone, measured

PART = Chosen(method="linear SVM", dataset="digits", values=(("C", 0.1),))
COMPUTATION = (experiment._reference, PART, experiment.PATIENCE)


@pytest.mark.long
def test_a_process_of_its_own_gives_the_same_and_its_memory():
    here, _, (fit, predict, runs, peak) = alone(*COMPUTATION)
    assert fit > 0 and predict > 0 and runs == experiment.RUNS and np.isnan(peak)  # a small set stays in this process
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        there, _, (fit, predict, runs, peak) = pool.submit(measured, *COMPUTATION).result()
    np.testing.assert_array_equal(there, here)
    assert fit > 0 and predict > 0 and 0.01 < peak < 10
