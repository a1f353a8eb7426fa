"""The row of `kp` in the table of scikit-learn's benchmarks/bench_mnist.py, with scikit-learn and `kp` alone.

    python benchmarks/bench_mnist.py [--classifiers NAME ...] [--threads 2] [--idx FOLDER]

The protocol is scikit-learn's: pixels as float32 in [0, 1], the first 60,000 images for training, the other 10,000 for
test. Its own classifiers, marked *, have the parameters that they have there. Nothing is chosen. Each runs in a process of
its own, with as many threads as it can use of those given (libsvm and liblinear use one). --idx reads the four files of
MNIST, not OpenML's.
"""

import argparse
import gzip
import multiprocessing
import resource
import time
from pathlib import Path

import numpy as np
from sklearn.datasets import fetch_openml
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.kernel_approximation import Nystroem, PolynomialCountSketch, RBFSampler
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer
from sklearn.svm import SVC, LinearSVC
from threadpoolctl import threadpool_limits

from kp import OneVsAllKernelPerceptron


def estimators(n_jobs):
    """{name: estimator}; those of scikit-learn's benchmark are marked."""
    net = {"hidden_layer_sizes": (100, 100), "max_iter": 400, "alpha": 1e-4, "tol": 1e-4, "random_state": 1}
    return {
        "kernel perceptron": OneVsAllKernelPerceptron(degree=3, random_state=0, n_jobs=n_jobs),
        "kernel perceptron, one epoch": OneVsAllKernelPerceptron(degree=3, max_iter=1, random_state=0, n_jobs=n_jobs),
        "SVC, RBF": SVC(cache_size=1000),
        "SVC, polynomial": SVC(kernel="poly", coef0=1, cache_size=1000),
        "k-nearest neighbours": KNeighborsClassifier(3, n_jobs=n_jobs),
        "gradient boosting": HistGradientBoostingClassifier(random_state=0),
        "averaged SGD": SGDClassifier(average=True, random_state=0, n_jobs=n_jobs),
        "PolynomialCountSketch-SVM": make_pipeline(
            Normalizer(), PolynomialCountSketch(degree=3, coef0=1, n_components=1000, random_state=0), LinearSVC(C=100)
        ),
        "Nystroem-SVM*": make_pipeline(Nystroem(gamma=0.015, n_components=1000, random_state=0), LinearSVC(C=100)),
        "Nystroem-SVM, 300": make_pipeline(Nystroem(gamma=0.015, n_components=300, random_state=0), LinearSVC(C=100)),
        "SampledRBF-SVM*": make_pipeline(RBFSampler(gamma=0.015, n_components=1000, random_state=0), LinearSVC(C=100)),
        "ExtraTrees*": ExtraTreesClassifier(random_state=0, n_jobs=n_jobs),
        "RandomForest*": RandomForestClassifier(random_state=0, n_jobs=n_jobs),
        "LogisticRegression-SAG*": LogisticRegression(solver="sag", tol=1e-1, C=1e4 / 6e4, random_state=0),
        "MultilayerPerceptron*": MLPClassifier(solver="sgd", learning_rate_init=0.2, momentum=0.9, **net),
        "MLP-adam*": MLPClassifier(solver="adam", learning_rate_init=0.001, **net),
    }  # fmt: skip


def load(folder):
    """X, y, X_test, y_test."""
    if folder:
        names = [f"{part}-{kind}" for part in ("train", "t10k") for kind in ("images-idx3", "labels-idx1")]
        raw = [np.frombuffer(gzip.decompress(Path(folder, f"{name}-ubyte.gz").read_bytes()), np.uint8) for name in names]
        X, y = (np.concatenate(each) for each in ((raw[0][16:], raw[2][16:]), (raw[1][8:], raw[3][8:])))
    else:
        X, y = fetch_openml("mnist_784", as_frame=False, return_X_y=True)
    X = X.reshape(-1, 784).astype(np.float32) / 255
    return X[:60000], y[:60000], X[60000:], y[60000:]


def measure(name, threads, folder, queue):
    """Put (train seconds, test seconds, error, peak GiB) of one classifier into the queue."""
    X, y, X_test, y_test = load(folder)
    estimator = estimators(threads)[name]
    with threadpool_limits(threads):
        start = time.perf_counter()
        estimator.fit(X, y)
        middle = time.perf_counter()
        error = np.mean(estimator.predict(X_test) != y_test)
        end = time.perf_counter()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    queue.put((middle - start, end - middle, error, peak))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--classifiers", nargs="+", default=list(estimators(1)), choices=list(estimators(1)), metavar="NAME")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--idx", help="folder with the four files of MNIST, train-images-idx3-ubyte.gz and so on")
    options = parser.parse_args()
    spawn = multiprocessing.get_context("spawn")
    print(f"{'classifier':40}{'train':>10}{'test':>10}{'error':>10}{'GiB':>8}")
    for name in options.classifiers:
        queue = spawn.Queue()
        process = spawn.Process(target=measure, args=(name, options.threads, options.idx, queue))
        process.start()
        train, test, error, peak = queue.get()
        process.join()
        print(f"{name:40}{train:9.2f}s{test:9.2f}s{error:10.2%}{peak:8.2f}", flush=True)
