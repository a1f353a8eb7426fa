"""The learner beside the literal form of Algorithm 1, and the study beside a support vector machine, each in one run.

    python benchmarks/literal.py [--n 4000 8000] [--degree 3] [--epochs 1] [--digits 3] [--threads 2]
    python benchmarks/literal.py --svc [--n 60000] [--degree 3] [--epochs 10] [--threads 2]

The literal form (Hermans 2021, kp.literal.algorithm_1) makes the whole matrix K = (1 + X X^T)^p in NumPy once and takes
the product of alpha z with a column of it at every step; for the average and the minimizing predictor it then adds up the
stored alpha and counts the training errors of each different one with K (alpha z). Both learn from the first n training
images of MNIST in the same orders, and must make the same mistakes and arrive at the same predictors.

--svc trains scikit-learn's SVC on X / 255 with (x . y + 1 / 255^2)^p, which is K / 255^(2 p), and sets its time beside that
of one degree of the study: ten one-vs-all perceptrons, all four predictors after every epoch, on both splits.
"""

import argparse
import time

import numpy as np
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from kp import PREDICTORS, kernels, literal
from kp.gram import Gram
from kp.perceptron import find_mistakes, visiting_orders
from study import datasets
from study.mnist import experiment as mnist

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
    pixels, signs = data.X[:n], np.where(data.y[:n] == np.array(digits)[:, None], 1, -1)
    orders = list(visiting_orders(n, len(digits), epochs, random_state=np.random.RandomState(SEED)))
    with threadpool_limits(threads, "blas"):
        clock = [time.perf_counter()]
        K = full_matrix(pixels.astype(np.float64), degree)
        clock.append(time.perf_counter())
        expected = [algorithm_1(K, z, order) for z, order in zip(signs, np.concatenate(orders, axis=1), strict=True)]
        clock.append(time.perf_counter())
    del K
    start = time.perf_counter()
    gram = Gram.of_points(pixels, memory_budget=mnist.MEMORY_BUDGET)
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


def compare_svc(n, degree, epochs, threads):
    """Train an SVC and run one degree of the study on the first n images; print times, test errors and the ratio."""
    run = mnist.Settings(degree=degree, n_epochs=epochs, n_train=n)
    start = time.perf_counter()
    data = datasets.load("mnist")
    (result,) = mnist.run_together([run], threads=threads)
    ours = time.perf_counter() - start
    print(f"\nn = {n:,}, degree {degree}, {len(data.X_test):,} test images")
    print(
        f"{'ours: learn and evaluate':28}{ours:8.1f} s   {epochs} epochs, data and every predictor on both splits included"
    )
    last = result["multiclass"].query("epoch == @epochs and split == 'test'").set_index("predictor")["errors"]
    for name in PREDICTORS:
        print(f"{f'  {name} after epoch {epochs}':36}{last[name]:8,} test errors")
    svc = SVC(kernel="poly", degree=degree, gamma=1.0, coef0=255.0**-2, cache_size=2000)
    with threadpool_limits(threads):
        clock = [time.perf_counter()]
        svc.fit(data.X[:n] / 255.0, data.y[:n])
        clock.append(time.perf_counter())
        errors = int((svc.predict(data.X_test / 255.0) != data.y_test).sum())
        clock.append(time.perf_counter())
    print(f"{'SVC: learn':28}{clock[1] - clock[0]:8.1f} s   {svc.n_support_.sum():,} support vectors", flush=True)
    print(f"{'SVC: predict the test images':28}{clock[2] - clock[1]:8.1f} s")
    print(f"{'  SVC, one against one':36}{errors:8,} test errors")
    print(f"{'ratio SVC / ours':28}{(clock[2] - clock[0]) / ours:8.1f}")


def warm_up(threads):
    """Have everything compiled before the clock runs."""
    small = mnist.Settings(dataset="digits", degree=2, n_epochs=1, n_train=300)
    mnist.run_together([small], threads=threads)
    data = datasets.load("digits")
    gram = Gram.of_points(data.X[:300], memory_budget=mnist.MEMORY_BUDGET)
    find_mistakes(gram, kernels.polynomial(2), data.signs[:, :300], [np.arange(300)], 1, threads=threads)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, nargs="+", help="first training images (default: 4000 8000; with --svc 60000)")
    parser.add_argument("--degree", type=int, default=3)
    parser.add_argument("--epochs", type=int, help="default: 1; with --svc 10")
    parser.add_argument("--digits", type=int, nargs="+", default=[3], choices=range(10), metavar="DIGIT")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--svc", action="store_true", help="compare with a support vector machine instead")
    arguments = parser.parse_args()
    warm_up(arguments.threads)
    for n in arguments.n or ([60000] if arguments.svc else [4000, 8000]):
        if arguments.svc:
            compare_svc(n, arguments.degree, arguments.epochs or 10, arguments.threads)
        else:
            compare(n, arguments.degree, arguments.epochs or 1, arguments.digits, arguments.threads)
