"""Processor seconds and memory as the number of examples grows: `fit`, `partial_fit` in chunks, a budget, linear kernels.

    python benchmarks/scale.py [--n 100000 1000000] [--features 20] [--chunk 10000] [--budget 500] [--margin 0]

Points of two classes are drawn, written to a file, and read from there as a memory map; the class is the side of a curved
surface. With --margin points close to the surface are left out, which makes the classes easier to tell apart and the support
smaller. One epoch each, Gaussian kernel. Every line is a separate process: its processor seconds, its peak memory above
that before training, examples in the support, and errors on 2,000 fresh points, in percent.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from kp import BudgetPerceptron, OneVsAllKernelPerceptron

N_FRESH = 2000


def points(n, features, margin, seed):
    """Points and classes of a curved surface g(x) = 0, with |g(x)| of at least the margin."""
    rng = np.random.default_rng(seed)
    X, side = np.empty((n, features), dtype=np.float32), np.empty(n, dtype=np.float32)
    filled = 0
    while filled < n:
        drawn = rng.standard_normal((n, features)).astype(np.float32)
        g = drawn[:, 0] + drawn[:, 1] + 0.5 * drawn[:, 2] * drawn[:, 3]
        kept = np.flatnonzero(np.abs(g) >= margin)[: n - filled]
        X[filled : filled + len(kept)], side[filled : filled + len(kept)] = drawn[kept], g[kept]
        filled += len(kept)
    return X, (side > 0).astype(int)


def learner(kind, features, budget):
    gamma = 1 / features
    if kind == "linear":
        return OneVsAllKernelPerceptron(degree=1, max_iter=1, random_state=0)
    if kind == "budget":
        return BudgetPerceptron(budget=budget, kernel="rbf", gamma=gamma, max_iter=1, random_state=0)
    return OneVsAllKernelPerceptron(kernel="rbf", gamma=gamma, max_iter=1, random_state=0)


def peak():
    """Peak memory of this process in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def train(model, X, y, kind, chunk):
    if kind in ("fit", "linear"):
        return model.fit(X, y)
    for start in range(0, len(X), chunk):
        model.partial_fit(X[start : start + chunk], y[start : start + chunk], classes=[0, 1])
    return model


def one(kind, n, features, chunk, budget, margin, folder):
    """The measured line of one process."""
    X, y = np.load(folder / f"{n}.X.npy", mmap_mode="r"), np.load(folder / f"{n}.y.npy")
    fresh, expected = points(N_FRESH, features, margin, seed=1)
    few = slice(0, 500)
    train(learner(kind, features, budget), X[few], y[few], kind, chunk).predict(fresh[:10])  # compiles
    before, start = peak(), time.process_time()
    model = train(learner(kind, features, budget), X, y, kind, chunk)
    seconds, memory = time.process_time() - start, peak() - before
    errors = 100 * np.mean(model.predict(fresh) != expected)
    support = len(model.support_) if hasattr(model, "support_") else 0
    print(json.dumps({"learner": kind, "n": n, "seconds": seconds, "MiB": memory, "support": support, "errors": errors}))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--features", type=int, default=20)
    parser.add_argument("--chunk", type=int, default=10_000)
    parser.add_argument("--budget", type=int, default=500)
    parser.add_argument("--margin", type=float, default=0.0)
    parser.add_argument("--one", nargs=3, metavar=("KIND", "N", "FOLDER"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        kind, n, folder = options.one
        return one(kind, int(n), options.features, options.chunk, options.budget, options.margin, Path(folder))
    print(f"{'learner':8} {'n':>9} {'cpu s':>7} {'MiB':>6} {'support':>8} {'errors %':>8}")
    with tempfile.TemporaryDirectory() as folder:
        for n in options.n:
            X, y = points(n, options.features, options.margin, seed=0)
            np.save(f"{folder}/{n}.X.npy", X)
            np.save(f"{folder}/{n}.y.npy", y)
            del X
            for kind in ("fit", "chunks", "budget", "linear"):
                names = ("features", "chunk", "budget", "margin")
                command = [sys.executable, __file__, "--one", kind, str(n), folder]
                command += [part for name in names for part in (f"--{name}", str(getattr(options, name)))]
                line = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
                print("{learner:8} {n:9,} {seconds:7.1f} {MiB:6.0f} {support:8,} {errors:8.2f}".format(**line), flush=True)


if __name__ == "__main__":
    main()
