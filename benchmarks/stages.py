"""How long the MNIST study takes, compared with its matrix products alone (the bare products), in the same run.

    python benchmarks/stages.py [--degrees 1 2 3 4 5 6] [--n-train 60000] [--threads 2]
    python benchmarks/stages.py --against FOLDER [--turns 1]
    python benchmarks/stages.py --growth

The bare products are those of every distinct example on which any perceptron of any degree errs with all training and
test images, each once, in single precision and blocks of 1,024 rows. "512 rows" are products of that many examples with
all training images by one thread, the best of five. --against: the same with the `kp` of another checkout, in
alternating processes, of which the medians are printed. --growth runs n = 7,500, 15,000, 30,000 and 60,000, each in a
separate process, so that each has its own peak memory.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import time

import numpy as np

from kp.gram import Points, Products
from study import datasets
from study.mnist import experiment as mnist

BLOCK = 1024
ROWS = 512


def now():
    """Seconds on the clock, and of the processor."""
    return np.array([time.perf_counter(), time.process_time()])


def bare_products(points, others, examples):
    """Seconds, as `now`, that the single-precision products of the rows of these examples take."""
    X = np.concatenate([points.X, others.X])
    start = now()
    for i in range(0, len(examples), BLOCK):
        left = points.X[examples[i : i + BLOCK]]
        for j in range(0, len(X), 4 * BLOCK):
            left @ X[j : j + 4 * BLOCK].T
    return now() - start


def some_products(points):
    """Seconds, as `now`, of the products of ROWS examples with all points by one thread."""
    source = Products(points, points)
    rows = np.linspace(0, len(points) - 1, ROWS).astype(int)
    out = np.zeros((ROWS, len(points)), dtype=source.dtype)
    took = []
    for _ in range(5):
        start = now()
        source.block(rows, slice(None), out)
        took.append(now() - start)
    return np.min(took, axis=0)


def measure(degrees, n_train, threads):
    """{stage: [seconds on the clock, of the processor]} of one run of the study, printed on the way."""
    mnist.run_together([mnist.Settings(dataset="digits", degree=degree, n_epochs=1) for degree in (1, 2)], threads=threads)
    settings = [mnist.Settings(degree=degree, n_train=n_train) for degree in degrees]
    stages = {}

    def stage(name, seconds, remark=""):
        stages[name] = list(seconds)
        print(f"{name:28}{seconds[0]:8.1f} s{seconds[1]:8.1f} of the processor   {remark}", flush=True)

    begun = start = now()
    data = datasets.load("mnist")
    training = mnist.shared_training(data, n_train, threads=threads)
    stage("loading the data", now() - start)
    models = []
    for group in ([s for s in settings if s.degree == 1], [s for s in settings if s.degree > 1]):
        if group:
            start = now()
            models += mnist.fit(training, group)
            numbers = ", ".join(str(s.degree) for s in group)
            stage(f"degree {numbers}: mistakes", now() - start, f"{training.gram.computed:,} rows made")
    settings.sort(key=lambda s: s.degree > 1)
    start = now()
    mnist.evaluate(training, models, settings, data)
    logs = [log for model in models for log in model.mistakes_]
    stage("predictors of all degrees", now() - start, f"{sum(map(len, logs)):,} mistakes")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    stage("whole study", now() - begun, f"{peak:.2f} GiB peak memory")
    examples = np.unique(np.concatenate([log.example for log in logs]))
    stage("bare products", bare_products(training.gram.points, Points(data.X_test), examples), f"{len(examples):,} rows")
    print(f"{'ratio':28}{stages['whole study'][0] / stages['bare products'][0]:8.2f}")
    stage(f"{ROWS} rows", some_products(training.gram.points))
    return stages


def processor():
    """The name of the processor."""
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        return next(line.partition(":")[2].strip() for line in file if line.startswith("model name"))


def compare(against, turns, options):
    """Print the processor seconds of both checkouts by stages, and how many times those there are of those here."""
    folders = [os.path.abspath(against), os.getcwd()]
    runs = {folder: [] for folder in folders}
    for _ in range(turns):
        for folder in folders:
            environment = os.environ | {"PYTHONPATH": folder}
            command = [sys.executable, os.path.abspath(__file__), *options, "--as-json"]
            done = subprocess.run(command, env=environment, cwd=folder, stdout=subprocess.PIPE, text=True, check=True)
            runs[folder].append(json.loads(done.stdout.splitlines()[-1]))
            print(f"{folder}\n{done.stdout.rpartition('{')[0]}", flush=True)
    there, here = runs.values()
    print(f"{processor()}; processor seconds, medians of {turns}\n{'':34}{'there':>10}{'here':>10}{'ratio':>8}")
    for name in here[0]:
        other, ours = (np.median([run[name][1] for run in found]) for found in (there, here))
        print(f"{name:34}{other:10.2f}{ours:10.2f}{other / ours:8.2f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--degrees", type=int, nargs="+", default=list(mnist.DEGREES))
    parser.add_argument("--n-train", type=int, default=60000)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--against", help="another checkout")
    parser.add_argument("--turns", type=int, default=1)
    parser.add_argument("--growth", action="store_true")
    parser.add_argument("--as-json", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    common = ["--threads", str(arguments.threads), "--degrees", *map(str, arguments.degrees)]
    if arguments.against:
        compare(arguments.against, arguments.turns, ["--n-train", str(arguments.n_train), *common])
    elif arguments.growth:
        for n in (7500, 15000, 30000, 60000):
            print(f"\nn = {n:,}", flush=True)
            subprocess.run([sys.executable, __file__, "--n-train", str(n), *common], check=True)
    else:
        found = measure(arguments.degrees, arguments.n_train, arguments.threads)
        if arguments.as_json:
            print(json.dumps(found))
