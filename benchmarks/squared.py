"""Xu and Zhang's update as printed, compared with the perceptron in the squared Gram matrix, as n grows, in one run.

    python benchmarks/squared.py [--n 250 500 1000 2000 4000] [--epochs 10 200] [--dataset mnist] [--threads 2] [--blocks]

The literal form (Xu & Zhang 2005, kp.literal.xu_zhang) is plain NumPy with the whole matrix K: C n products at
every visit, and two rows of the coefficients moved at every mistake. The shipped form is the default one, `Dense` in
K^2 + 1; its time includes the squaring of K. --blocks also runs `Coefficients`, which never holds K^2, here with K at hand.
All get the same K, that of the linear kernel on the first n training images with pixels cut to 0 or 1, so that every sum is
exact, and the same orders; they must make the same mistakes. They stop after an epoch without one, or after so many epochs;
none counts training errors. The output is a Markdown table for each number of epochs: times in seconds, and their ratios.
"""

import argparse
import time

import numpy as np
from threadpoolctl import threadpool_limits

from kp import literal
from kp.joint import Coefficients, Dense, collect_mistakes, squared
from kp.perceptron import visiting_orders
from study import datasets

SEED = 0
COLUMNS = ("example", "step", "demoted")


def problem(name, n):
    """K (n, n) of the first n training images, cut at half of the largest pixel, and the index of the class of each."""
    data = datasets.load(name, download=False)
    if n > len(data.X):
        raise SystemExit(f"--n must be at most {len(data.X)}, the training images of {name}, got {n}")
    X = (data.X[:n] > data.X.max() // 2).astype(np.float64)
    return X @ X.copy().T, np.searchsorted(data.classes, data.y[:n]), len(data.classes)


def shipped(K, y, n_classes, orders, threads):
    """Times of squaring and of learning in K^2 + 1, and the log."""
    clock = [time.perf_counter()]
    G = squared(K, threads=threads) + 1.0
    clock.append(time.perf_counter())
    log = collect_mistakes(Dense(G, y, n_classes, count_errors=False), orders)
    clock.append(time.perf_counter())
    return np.diff(clock), log


def blocked(K, y, n_classes, orders, threads):
    """Time of the form that moves the coefficients block by block, and its log."""
    start = time.perf_counter()
    log = collect_mistakes(Coefficients(lambda examples: K[examples], y, n_classes, threads=threads), orders)
    return time.perf_counter() - start, log


def compare(name, n, epochs, threads, with_blocks):
    """One row of the table: run the forms, assert that their mistakes are the same."""
    K, y, n_classes = problem(name, n)
    orders = [order[0] for order in visiting_orders(n, 1, epochs, random_state=np.random.RandomState(SEED))]
    (square, learn), log = shipped(K, y, n_classes, orders, threads)
    with threadpool_limits(threads, "blas"):
        start = time.perf_counter()
        *_, mistakes = literal.xu_zhang(K.T, y, np.concatenate(orders[: log.n_epochs]))
        slow = time.perf_counter() - start
    assert rows(log) == mistakes
    cells = [f"{n:,}", log.n_epochs, f"{log.n_mistakes():,}", f"{slow:.2f}", f"{square:.2f}", f"{learn:.2f}"]
    cells += [f"**{slow / (square + learn):.1f}**"]
    if with_blocks:
        blocks, other = blocked(K, y, n_classes, orders, threads)
        assert rows(other) == mistakes
        cells += [f"{blocks:.2f}", f"{slow / blocks:.1f}"]
    print(f"| {' | '.join(map(str, cells))} |", flush=True)


def rows(log):
    """The mistakes of a log as `literal.xu_zhang` tells them."""
    return list(zip(*(getattr(log, column).tolist() for column in COLUMNS), strict=True))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, nargs="+", default=[250, 500, 1000, 2000, 4000], help="first training images")
    parser.add_argument("--epochs", type=int, nargs="+", default=[10, 200], help="epochs at most, a table each")
    parser.add_argument("--dataset", choices=("mnist", "digits"), default="mnist")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--blocks", action="store_true", help="also the form that moves the coefficients block by block")
    arguments = parser.parse_args()
    K, y, n_classes = problem(arguments.dataset, 100)
    for run in (shipped, blocked):  # have everything compiled before the clock runs
        run(K, y, n_classes, [np.arange(100)] * 2, arguments.threads)
    heads = ["n", "epochs", "mistakes", "literal, s", "squaring K, s", "learning, s", "literal / ours"]
    heads += ["blocks, s", "literal / blocks"] if arguments.blocks else []
    for epochs in arguments.epochs:
        print(f"\n{arguments.dataset}, linear kernel on pixels cut to 0 or 1, at most {epochs} epochs: the same mistakes\n")
        print(f"| {' | '.join(heads)} |\n|{'---:|' * len(heads)}")
        for n in arguments.n:
            compare(arguments.dataset, n, epochs, arguments.threads, arguments.blocks)


if __name__ == "__main__":
    main()
