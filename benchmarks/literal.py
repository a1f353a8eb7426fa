"""The learner compared with the literal form of Algorithm 1, in one run.

    python benchmarks/literal.py [--n 4000 8000] [--degree 3] [--epochs 1] [--digits 3] [--threads 2]

The literal form (Hermans 2021, kp.literal.algorithm_1) makes the whole matrix K = (1 + X X^T)^p in NumPy once and takes
the product of alpha z with a column of it at every step; for the average and the minimizing predictor it then adds up the
stored alpha and counts the training errors of each different one with K (alpha z). Both learn from the first n training
images of MNIST in the same orders, and must make the same mistakes and arrive at the same predictors.
"""

import argparse
import time

import numpy as np
from threadpoolctl import threadpool_limits

from kp import kernels, literal
from kp.gram import Gram
from kp.perceptron import find_mistakes, visiting_orders
from study import datasets
from study.mnist.experiment import MEMORY_BUDGET

SEED = 0


def full_matrix(X, degree):
    """K (n, n) = (1 + X X^T)^p; the second factor is a copy, as some libraries fail on X X^T of many rows."""
    K = X @ X.copy().T
    K += 1.0
    return np.power(K, degree, out=K)


def algorithm_1(K, z, order):
    """Algorithm 1 and the predictors from A: the mistakes (example, step), alpha final, average and minimizing."""
    K = K.T  # the same numbers, with columns that lie together in memory
    A = literal.algorithm_1(K, z, order)
    mistakes = [(int(order[s]), s) for s in range(len(A)) if s == 0 or A[s] is not A[s - 1]]
    return mistakes, A[-1], literal.average(A), literal.minimizing(A, K, z)


def compare(n, degree, epochs, digits, threads):
    """Run both forms on the first n images, assert that they agree, print their times and the ratio."""
    data = datasets.load("mnist")
    pixels = data.X[:n]
    signs = np.where(data.y[:n] == np.array(digits)[:, None], 1, -1)
    orders = list(visiting_orders(n, len(digits), epochs, random_state=np.random.RandomState(SEED)))
    with threadpool_limits(threads, "blas"):
        clock = [time.perf_counter()]
        K = full_matrix(pixels.astype(np.float64), degree)
        clock.append(time.perf_counter())
        expected = [algorithm_1(K, z, order) for z, order in zip(signs, np.concatenate(orders, axis=1), strict=True)]
        clock.append(time.perf_counter())
    del K
    start = time.perf_counter()
    gram = Gram.of_points(pixels, memory_budget=MEMORY_BUDGET)
    logs = find_mistakes(gram, kernels.polynomial(degree), signs, orders, epochs, threads=threads)
    ours = time.perf_counter() - start
    for log, (mistakes, final, average, minimizing) in zip(logs, expected, strict=True):
        assert list(zip(log.example.tolist(), log.step.tolist(), strict=True)) == mistakes
        np.testing.assert_array_equal(log.alpha("final", n=n), final)
        np.testing.assert_array_equal(log.alpha("average", n=n), average)
        np.testing.assert_array_equal(log.alpha("minimizing", n=n), minimizing)
    print(f"\nn = {n:,}, degree {degree}, {epochs} epochs, digits {digits}: the same {sum(map(len, logs)):,} mistakes")
    print(f"{'literal: the matrix':28}{clock[1] - clock[0]:8.2f} s")
    print(f"{'literal: the steps':28}{clock[2] - clock[1]:8.2f} s")
    print(f"{'find_mistakes, all included':28}{ours:8.2f} s   {gram.computed:,} of {n:,} rows made")
    print(f"{'ratio literal / ours':28}{(clock[2] - clock[0]) / ours:8.1f}", flush=True)


def warm_up(threads):
    """Have everything compiled before the clock runs."""
    data = datasets.load("digits")
    gram = Gram.of_points(data.X[:300], memory_budget=MEMORY_BUDGET)
    find_mistakes(gram, kernels.polynomial(2), data.signs[:, :300], [np.arange(300)[None]], 1, threads=threads)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, nargs="+", default=[4000, 8000], help="first training images")
    parser.add_argument("--degree", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--digits", type=int, nargs="+", default=[3], choices=range(10), metavar="DIGIT")
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    warm_up(arguments.threads)
    for n in arguments.n:
        compare(n, arguments.degree, arguments.epochs, arguments.digits, arguments.threads)
