"""The row of `kp` in the table of scikit-learn's benchmarks/bench_mnist.py, with scikit-learn and `kp` alone.

    python benchmarks/bench_mnist.py [--classifiers NAME ...] [--threads 2] [--runs 3] [--idx FOLDER]

The protocol is scikit-learn's: pixels as float32 in [0, 1], the first 60,000 images for training, the other 10,000 for test.
Its own classifiers, marked *, have the parameters that they have there. Nothing is chosen. Each run has its own process,
with as many threads as the classifier can use (libsvm and liblinear use one); the table has
medians over runs. --idx: a folder with the four files of MNIST; without it they are OpenML's.
"""

import argparse
import gzip
import resource
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

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

SKETCH = PolynomialCountSketch(degree=3, coef0=1, n_components=1000, random_state=0)
NET = {"hidden_layer_sizes": (100, 100), "max_iter": 400, "alpha": 1e-4, "tol": 1e-4, "random_state": 1}
HEADS = {"images-idx3": 16, "labels-idx1": 8}
"""Bytes before the data of a file."""
CLASSIFIERS = {
    "kernel perceptron": OneVsAllKernelPerceptron(degree=3, gamma=1, random_state=0),
    "kernel perceptron, one epoch": OneVsAllKernelPerceptron(degree=3, gamma=1, max_iter=1, random_state=0),
    "SVC, RBF": SVC(cache_size=1000),
    "SVC, polynomial": SVC(kernel="poly", coef0=1, cache_size=1000),
    "k-nearest neighbours": KNeighborsClassifier(3),
    "gradient boosting": HistGradientBoostingClassifier(random_state=0),
    "averaged SGD": SGDClassifier(average=True, random_state=0),
    "PolynomialCountSketch-SVM": make_pipeline(Normalizer(), SKETCH, LinearSVC(C=100)),
    "Nystroem-SVM*": make_pipeline(Nystroem(gamma=0.015, n_components=1000, random_state=0), LinearSVC(C=100)),
    "Nystroem-SVM, 300": make_pipeline(Nystroem(gamma=0.015, n_components=300, random_state=0), LinearSVC(C=100)),
    "SampledRBF-SVM*": make_pipeline(RBFSampler(gamma=0.015, n_components=1000, random_state=0), LinearSVC(C=100)),
    "ExtraTrees*": ExtraTreesClassifier(random_state=0),
    "RandomForest*": RandomForestClassifier(random_state=0),
    "LogisticRegression-SAG*": LogisticRegression(solver="sag", tol=1e-1, C=1e4 / 6e4, random_state=0),
    "MultilayerPerceptron*": MLPClassifier(solver="sgd", learning_rate_init=0.2, momentum=0.9, **NET),
    "MLP-adam*": MLPClassifier(solver="adam", learning_rate_init=0.001, **NET),
}


def load(folder):
    """X (70000, 784) and y (70000,)."""
    if not folder:
        return fetch_openml("mnist_784", as_frame=False, return_X_y=True)
    files = {kind: [gzip.open(f"{folder}/{part}-{kind}-ubyte.gz") for part in ("train", "t10k")] for kind in HEADS}
    return [np.hstack([np.frombuffer(file.read()[HEADS[kind] :], np.uint8) for file in two]) for kind, two in files.items()]


def measure(name, threads, folder):
    """Seconds of training and of prediction, the error rate, and the peak of memory (GiB)."""
    X, y = load(folder)
    X = X.reshape(-1, 784).astype(np.float32) / 255
    estimator = CLASSIFIERS[name]
    if "n_jobs" in estimator.get_params() and not isinstance(estimator, LogisticRegression):
        estimator.set_params(n_jobs=threads)
    with threadpool_limits(threads):
        start = time.perf_counter()
        estimator.fit(X[:60000], y[:60000])
        middle = time.perf_counter()
        error = np.mean(estimator.predict(X[60000:]) != y[60000:])
        end = time.perf_counter()
    return middle - start, end - middle, error, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--classifiers", nargs="+", default=CLASSIFIERS, choices=CLASSIFIERS, metavar="NAME")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--idx")
    options = parser.parse_args()
    print(f"{'classifier':40}{'train':>10}{'test':>10}{'error':>10}{'GiB':>8}")
    with ProcessPoolExecutor(1, mp_context=get_context("spawn"), max_tasks_per_child=1) as pool:
        for name in options.classifiers:
            runs = [pool.submit(measure, name, options.threads, options.idx).result() for _ in range(options.runs)]
            train, test, error, peak = np.median(runs, axis=0)
            print(f"{name:40}{train:9.2f}s{test:9.2f}s{error:10.2%}{peak:8.2f}", flush=True)
