"""Cost of a computation: seconds and peak memory, measured in a separate process."""

import multiprocessing
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace

import numpy as np

GIB = 2**30 if sys.platform == "darwin" else 2**20
"""Units of ru_maxrss in a GiB: bytes on macOS, kilobytes elsewhere."""


def alone(function, part, which):
    """function(part, which) = (result, numbers, seconds), and behind its seconds the peak memory in GiB of the separate
    process in which it ran; on small datasets it runs here, and the memory is NaN. part.dataset names the dataset."""
    if part.dataset != "mnist":
        predictions, numbers, seconds = function(part, which)
        return predictions, numbers, (*seconds, np.nan)
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(measured, function, part, which).result()


def measured(function, part, which):
    """`alone` within the process: compiled code is made or loaded on bundled images before the clock runs."""
    function(replace(part, dataset="digits"), which)
    predictions, numbers, seconds = function(part, which)
    return predictions, numbers, (*seconds, peak_memory())


def peak_memory():
    """The largest memory, in GiB, that this process has had so far; NaN on Windows, which does not report it in this way."""
    try:
        import resource
    except ImportError:
        return np.nan
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / GIB
