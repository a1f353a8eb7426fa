"""How long the MNIST study takes, next to the bare matrix products that it cannot do without, in the same run.

    python benchmarks/stages.py [--degrees 1 2 3 4 5 6] [--n-train 60000] [--threads 2]
    python benchmarks/stages.py --growth

The bare products are those of every distinct example on which any perceptron of any degree errs with all training and
test images, each once, in single precision and blocks of 1,024 rows. --growth runs n = 7,500, 15,000, 30,000 and 60,000,
each in a separate process, so that peak memory is that of each.
"""

import argparse
import resource
import subprocess
import sys
import time

import numpy as np

from kp.gram import Points
from study import datasets
from study.mnist import experiment as mnist

BLOCK = 1024


def bare_products(points, others, examples):
    """Seconds that the single-precision products of the rows of these examples take."""
    X = np.concatenate([points.X, others.X])
    start = time.perf_counter()
    for i in range(0, len(examples), BLOCK):
        left = points.X[examples[i : i + BLOCK]]
        for j in range(0, len(X), 4 * BLOCK):
            left @ X[j : j + 4 * BLOCK].T
    return time.perf_counter() - start


def measure(degrees, n_train, threads):
    """Run the study once; its time by stages and the ratio to the bare products."""
    mnist.run_together([mnist.Settings(dataset="digits", degree=degree, n_epochs=1) for degree in (1, 2)], threads=threads)
    settings = [mnist.Settings(degree=degree, n_train=n_train) for degree in degrees]
    clock = [time.perf_counter()]

    def stage(name, remark=""):
        clock.append(time.perf_counter())
        print(f"{name:28}{clock[-1] - clock[-2]:8.1f} s   {remark}", flush=True)

    data = datasets.load("mnist")
    training = mnist.shared_training(data, n_train, threads=threads)
    stage("loading the data")
    models = []
    for group in ([s for s in settings if s.degree == 1], [s for s in settings if s.degree > 1]):
        if group:
            models += mnist.fit(training, group, progress=True)
            stage(f"degree {', '.join(str(s.degree) for s in group)}: mistakes", f"{training.gram.computed:,} rows kept")
    settings.sort(key=lambda s: s.degree > 1)
    mnist.evaluate(training, models, settings, data, progress=True)
    logs = [log for model in models for log in model.mistakes_]
    stage("predictors of all degrees", f"{sum(map(len, logs)):,} mistakes")
    total = clock[-1] - clock[0]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    examples = np.unique(np.concatenate([log.example for log in logs]))
    bare = bare_products(training.gram.points, Points(data.X_test), examples)
    print(f"{'whole study':28}{total:8.1f} s   {peak:.2f} GiB peak memory")
    print(f"{'bare products':28}{bare:8.1f} s   {len(examples):,} distinct rows")
    print(f"{'ratio':28}{total / bare:8.2f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--degrees", type=int, nargs="+", default=list(mnist.DEGREES))
    parser.add_argument("--n-train", type=int, default=60000)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--growth", action="store_true")
    arguments = parser.parse_args()
    if arguments.growth:
        for n in (7500, 15000, 30000, 60000):
            print(f"\nn = {n:,}", flush=True)
            options = [
                "--n-train",
                str(n),
                "--threads",
                str(arguments.threads),
                "--degrees",
                *map(str, arguments.degrees),
            ]
            subprocess.run([sys.executable, __file__, *options], check=True)
    else:
        measure(arguments.degrees, arguments.n_train, arguments.threads)
