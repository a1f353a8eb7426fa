"""Estimators of `kp` compared with scikit-learn's on real numbers, products in a fixed order with BLAS, and streams.

    python benchmarks/reals.py [--n 20000] [--features 50] [--classes 2 10] [--threads 2]
    python benchmarks/reals.py --images [--n 60000] [--threads 2]
    python benchmarks/reals.py --peers [--n 10000] [--threads 2]
    python benchmarks/reals.py --rows [--against FOLDER]

The points are drawn by scikit-learn's `make_classification` and standardized; each learner is fitted to n of them and
predicts 5,000 others. Ours runs for ten epochs and predicts with its final and its average predictor; the others have one.
The kernels are (1 + x . y / d)^3 and exp(-|x - y|^2 / d). SVC uses one thread, ours as many as --threads says.

--images: a Gaussian kernel on the images of MNIST, with pixels as they are and divided by 255, as most people have them.

--peers: processor seconds and errors on images, real numbers, sparse texts and a stream, compared with other learners.
Those of scikit-learn-intelex, LightGBM and river are left out if they are not installed. `taskset -c 0` in front of the
command limits to one thread those, too, that have no such parameter.

--rows: predictions of one row, and of many with a linear kernel. --against: the same with the `kp` of another checkout, in
alternating processes, of which the medians are printed.
"""

import argparse
import importlib
import json
import os
import subprocess
import sys
import time

import numpy as np
from scipy import sparse
from sklearn.datasets import load_digits, make_classification
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import Perceptron, SGDClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from threadpoolctl import threadpool_limits

from kp import BudgetPerceptron, MulticlassKernelPerceptron, MulticlassPerceptron, OneVsAllKernelPerceptron
from kp.gram import Points, Products
from study import datasets

SEED = 0
N_TEST = 5000
EPOCHS = 10
WARM = 300  # examples that are learnt before the clock runs
CHUNK = 100  # examples of a stream that are learnt together


def kernels(d):
    """{kernel: parameters of an estimator of scikit-learn, or ours}."""
    return {"rbf": {"kernel": "rbf", "gamma": 1 / d}, "poly": {"kernel": "poly", "degree": 3, "gamma": 1 / d, "coef0": 1.0}}


def seconds(work, repeats=1):
    """(shortest time of a call, what it gave)."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        found = work()
        times.append(time.perf_counter() - start)
    return min(times), found


def learners(d, threads):
    """{name: estimator}; the first of each kernel is the reference of the ratios."""
    rbf, poly = kernels(d).values()
    ours = {"max_iter": EPOCHS, "random_state": SEED, "n_jobs": threads}
    averaged = SGDClassifier("perceptron", learning_rate="constant", eta0=1.0, penalty=None, average=True, random_state=SEED)
    return {
        "SVC, rbf": SVC(**rbf, cache_size=1000),
        "ours, one-vs-all, rbf": OneVsAllKernelPerceptron(**rbf, **ours),
        "ours, ordinary, rbf": MulticlassKernelPerceptron(update="ordinary", **rbf, **ours),
        "SVC, poly": SVC(**poly, cache_size=1000),
        "ours, one-vs-all, poly": OneVsAllKernelPerceptron(**poly, **ours),
        "Perceptron": Perceptron(max_iter=EPOCHS, tol=None, random_state=SEED),
        "ours, one-vs-all, linear": OneVsAllKernelPerceptron("linear", **ours),
        "ours, multiclass, linear": MulticlassPerceptron(max_iter=EPOCHS, random_state=SEED),
        "Nystroem 300 + averaged": make_pipeline(Nystroem(gamma=1 / d, n_components=300, random_state=SEED), averaged),
        "Nystroem 1000 + averaged": make_pipeline(Nystroem(gamma=1 / d, n_components=1000, random_state=SEED), averaged),
    }


def compare_learners(n, d, classes, threads):
    """Fit and score all learners; print seconds, the ratio to scikit-learn's of the same kernel, and accuracies."""
    X, y = make_classification(
        n + N_TEST, d, n_informative=d // 2, n_redundant=0, n_classes=classes, n_clusters_per_class=4, random_state=SEED
    )
    X = StandardScaler().fit_transform(X)
    print(f"\nn = {n:,} x {d}, {classes} classes\n{'':28}{'fit':>8}{'ratio':>8}{'predict':>9}  accuracy (average)")
    reference = None
    for name, model in learners(d, threads).items():
        fit, _ = seconds(lambda model=model: model.fit(X[:n], y[:n]))
        predict, found = seconds(lambda model=model: model.predict(X[n:]))
        reference = reference if name.startswith("ours") else fit
        accuracy = f"{np.mean(found == y[n:]):.3f}"
        if name.startswith("ours"):
            accuracy += f" ({np.mean(model.predict(X[n:], predictor='average') == y[n:]):.3f})"
        print(f"{name:28}{fit:8.2f}{fit / reference:8.2f}{predict:9.2f}  {accuracy}", flush=True)


def compare_products(n, threads):
    """Time 1,024 rows of inner products with n points, in a fixed order and by BLAS."""
    print(f"\n1,024 x {n:,} inner products of real numbers\n{'features':>8}{'ours':>9}{'BLAS':>9}{'ratio':>8}")
    for d in (10, 50, 200, 784):
        X = np.random.RandomState(SEED).standard_normal((n, d))
        points = Points(X)
        rows = np.arange(1024)
        out = np.empty((1024, n))
        source = Products(points, points, threads=threads)
        with threadpool_limits(threads, "blas"):
            ours, _ = seconds(lambda source=source, rows=rows, out=out: source.block(rows, slice(None), out), 5)
            blas, _ = seconds(lambda X=X, out=out: np.matmul(X[:1024], X.T, out=out), 5)
        print(f"{d:8}{ours:9.3f}{blas:9.3f}{ours / blas:8.1f}", flush=True)


def compare_streams(d):
    """Time `partial_fit` on single examples, after 1,000 of them."""
    X, y = make_classification(3000, d, n_informative=d // 2, n_classes=3, random_state=SEED)
    model = OneVsAllKernelPerceptron("rbf", gamma=1 / d).partial_fit(X[:1000], y[:1000], classes=[0, 1, 2])

    def one_by_one():
        for i in range(1000, 3000):
            model.partial_fit(X[i : i + 1], y[i : i + 1])

    spent, _ = seconds(one_by_one)
    print(f"\npartial_fit, one example at a time: {spent / 2:.2f} ms each, {len(model.support_):,} support examples")


def compare_images(n, threads):
    """Fit and score a Gaussian kernel on MNIST, pixels as they are and scaled."""
    data = datasets.load("mnist")
    print(f"\nMNIST, n = {n:,}, gamma = 0.025 on [0, 1]\n{'pixels':>12}{'fit':>8}{'predict':>9}   errors (average)")
    for name, top in (("0 to 255", 1), ("0 to 1", 255.0)):
        X, X_test = (part / top if top > 1 else part for part in (data.X[:n], data.X_test))
        gamma = 0.025 * (top / 255) ** 2
        model = OneVsAllKernelPerceptron(
            "rbf", gamma=gamma, max_iter=EPOCHS, random_state=SEED, n_jobs=threads, memory_budget=2**32
        )
        fit, _ = seconds(lambda model=model, X=X: model.fit(X, data.y[:n]))
        predict, found = seconds(lambda model=model, X=X_test: model.predict(X))
        average = np.mean(model.predict(X_test, predictor="average") != data.y_test)
        print(f"{name:>12}{fit:8.1f}{predict:9.1f}   {np.mean(found != data.y_test):.4f} ({average:.4f})", flush=True)


def processor_seconds(work, repeats=1):
    """(median of the processor seconds of a call, what it gave)."""
    spent = []
    for _ in range(repeats):
        start = time.process_time()
        found = work()
        spent.append(time.process_time() - start)
    return float(np.median(spent)), found


def normal_sets(n, d, n_test):
    """(X, y) of ten overlapping classes, standardized."""
    X, y = make_classification(
        n + n_test, d, n_informative=d // 2, n_redundant=0, n_classes=10, n_clusters_per_class=4, random_state=SEED
    )
    return StandardScaler().fit_transform(X), y


def texts(n, words=30_000, length=60, classes=10):
    """(X (n, words) CSR, y): counts of words that each class draws from its own mixture of a common and a special list."""
    random = np.random.RandomState(SEED)
    common = 1 / np.arange(1, words + 1)
    y = random.randint(classes, size=n)
    special = random.permutation(words)[: 200 * classes].reshape(classes, 200)
    drawn = random.choice(words, size=(n, length), p=common / common.sum())
    own = random.random_sample((n, length)) < 0.12
    drawn[own] = special[y[:, None], random.randint(200, size=(n, length))][own]
    where = np.repeat(np.arange(n), length), drawn.ravel()
    X = sparse.csr_matrix((np.ones(n * length), where), shape=(n, words))
    return X, y


def optional(path, **parameters):
    """An instance of a class of a package that the project can do without, or None where it is not installed."""
    module, _, name = path.rpartition(".")
    try:
        return getattr(importlib.import_module(module), name)(**parameters)
    except ImportError:
        return None


def compare_peers(n, threads):
    """Print processor seconds of a fit and of 5,000 predictions, the error, and milliseconds for one row."""
    data = datasets.load("mnist")
    take = slice(0, N_TEST)
    ours = {"max_iter": EPOCHS, "random_state": SEED, "n_jobs": threads}
    net = MLPClassifier(256, max_iter=20, random_state=SEED)
    nystroem = make_pipeline(Nystroem(n_components=500, random_state=SEED), LinearSVC())
    intelex = optional("sklearnex.svm.SVC", C=5)
    trees = optional("lightgbm.LGBMClassifier", n_jobs=threads, random_state=SEED, verbose=-1)
    images = (data.X[:n], data.y[:n], data.X_test[take], data.y_test[take])
    scaled = (images[0] / 255, images[1], images[2] / 255, images[3])
    X, y = normal_sets(n, 50, N_TEST)
    reals = (X[:n], y[:n], X[n:], y[n:])
    X, y = normal_sets(4 * n, 50, N_TEST)
    more = (X[: 4 * n], y[: 4 * n], X[4 * n :], y[4 * n :])
    X, y = texts(n + N_TEST)
    words = (X[:n], y[:n], X[n:], y[n:])
    kernel = {"rbf": {"kernel": "rbf"}, "poly": {"gamma": "scale"}}
    cases = {
        "images": {
            "kp, degree 3": (OneVsAllKernelPerceptron(gamma=1, **ours), images),
            "SVC, RBF": (SVC(C=5), scaled),
            "SVC of intelex, RBF": (intelex, scaled),
            "Nystroem 500 + LinearSVC": (nystroem, scaled),
            "MLP 256": (net, scaled),
            "LightGBM": (trees, scaled),
            "Perceptron": (Perceptron(random_state=SEED), scaled),
        },
        "reals": {
            "kp, degree 3": (OneVsAllKernelPerceptron(**kernel["poly"], **ours), reals),
            "kp, RBF": (OneVsAllKernelPerceptron(**kernel["rbf"], **ours), reals),
            "kp, linear": (OneVsAllKernelPerceptron("linear", **ours), reals),
            "SVC, RBF": (SVC(C=5), reals),
            "SVC of intelex, RBF": (intelex, reals),
            "Nystroem 500 + LinearSVC": (nystroem, reals),
            "MLP 256": (net, reals),
            "LightGBM": (trees, reals),
            "Perceptron": (Perceptron(random_state=SEED), reals),
        },
        "4 n": {
            "kp, degree 3": (OneVsAllKernelPerceptron(**kernel["poly"], **ours), more),
            "kp, RBF": (OneVsAllKernelPerceptron(**kernel["rbf"], **ours), more),
            "MLP 256": (net, more),
        },
        "texts": {
            "kp, degree 2, 3 epochs": (OneVsAllKernelPerceptron(degree=2, gamma=0.01, **ours | {"max_iter": 3}), words),
            "kp, linear": (OneVsAllKernelPerceptron("linear", **ours), words),
            "LinearSVC": (LinearSVC(), words),
            "Perceptron": (Perceptron(random_state=SEED), words),
        },
    }  # fmt: skip
    print(f"processor seconds, n = {n:,}\n{'':34}{'fit':>8}{'5,000':>9}{'error':>9}{'one row, ms':>13}")
    with threadpool_limits(threads):
        for case, learners in cases.items():
            for name, (model, (X, y, X_test, y_test)) in learners.items():
                if model is None:
                    print(f"{case:8}{name:26}not installed")
                    continue
                model.fit(X[:WARM], y[:WARM]).predict(X_test[:WARM])  # compiled before the clock runs
                fit, _ = processor_seconds(lambda model=model, X=X, y=y: model.fit(X, y))
                model.predict(X_test[:1])
                predict, found = processor_seconds(lambda model=model, X=X_test: model.predict(X))
                one, _ = processor_seconds(lambda model=model, X=X_test: model.predict(X[:1]), 30)
                error = np.mean(found != y_test)
                print(f"{case:8}{name:26}{fit:8.2f}{predict:9.2f}{error:9.2%}{1e3 * one:13.2f}", flush=True)
        compare_online(n)


def compare_online(n, d=20):
    """Print processor milliseconds for an example of a stream, which is predicted and then learnt, and the errors."""
    X, y = make_classification(
        n + CHUNK, d, n_informative=d // 2, n_redundant=0, n_clusters_per_class=4, flip_y=0.05, random_state=SEED
    )
    X = StandardScaler().fit_transform(X)
    rows = [dict(enumerate(row)) for row in X.tolist()]

    def arrays(model, size):
        model.partial_fit(X[:CHUNK], y[:CHUNK], classes=[0, 1])
        for i in range(CHUNK, len(X), size):
            yield from model.predict(X[i : i + size]) != y[i : i + size]
            model.partial_fit(X[i : i + size], y[i : i + size])

    def dicts(model):
        for i in range(len(X)):
            if i >= CHUNK:
                yield model.predict_one(rows[i]) != y[i]
            model.learn_one(rows[i], y[i])

    sgd = {"penalty": None, "random_state": SEED}
    learners = {
        "kp, RBF": lambda: OneVsAllKernelPerceptron("rbf", gamma=1 / d),
        "kp, RBF, budget 300": lambda: BudgetPerceptron("rbf", gamma=1 / d, budget=300, random_state=SEED),
        "kp, linear": lambda: OneVsAllKernelPerceptron("linear"),
        "Perceptron": lambda: Perceptron(random_state=SEED),
        "SGD, hinge": lambda: SGDClassifier(**sgd),
        "passive-aggressive": lambda: SGDClassifier(learning_rate="pa1", eta0=1.0, **sgd),
    }
    theirs = {
        "river, Perceptron": "linear_model.Perceptron",
        "river, passive-aggressive": "linear_model.PAClassifier",
        "river, neighbours": "neighbors.KNNClassifier",
        "river, forest": "forest.ARFClassifier",
    }
    print(f"\nprocessor ms an example, stream of {n:,}\n{'':26}{'alone':>8}{'error':>9}{f'by {CHUNK}':>9}{'error':>9}")
    for name, make in learners.items():
        list(arrays(make(), CHUNK))
        found = [processor_seconds(lambda size=size, make=make: np.mean(list(arrays(make(), size)))) for size in (1, CHUNK)]
        print(f"{name:26}" + "".join(f"{1e3 * spent / n:8.3f}{error:10.2%}" for spent, error in found), flush=True)
    for name, path in theirs.items():
        if (model := optional(f"river.{path}")) is None:
            print(f"{name:26}not installed")
        else:
            spent, error = processor_seconds(lambda model=model: np.mean(list(dicts(model))))
            print(f"{name:26}{1e3 * spent / n:8.3f}{error:10.2%}", flush=True)


def measure_rows():
    """{what: processor milliseconds} of predictions with the `kp` that is imported here."""
    digits = load_digits(return_X_y=True)
    reals = tuple(part[:6000] for part in normal_sets(6000, 50, 0))
    few = {"max_iter": 5, "random_state": SEED}
    models = {
        "digits, degree 3": (OneVsAllKernelPerceptron(gamma=1, **few), digits),
        "digits, RBF": (OneVsAllKernelPerceptron("rbf", **few), digits),
        "digits, SVC": (SVC(), digits),
        "reals, degree 3": (OneVsAllKernelPerceptron(gamma="scale", **few), reals),
        "reals, RBF": (OneVsAllKernelPerceptron("rbf", **few), reals),
        "reals, SVC": (SVC(), reals),
        "reals, linear": (OneVsAllKernelPerceptron("linear", **few), reals),
        "reals, Perceptron": (Perceptron(random_state=SEED), reals),
    }
    found = {}
    for name, (model, (X, y)) in models.items():
        model.fit(X, y)
        model.predict(X[:1])
        found[f"{name}, one row"] = 1e3 * processor_seconds(lambda model=model, X=X: model.predict(X[:1]), 50)[0]
        if name in ("reals, linear", "reals, Perceptron"):
            found[f"{name}, 5,000 rows"] = 1e3 * processor_seconds(lambda model=model, X=X: model.predict(X[:5000]), 3)[0]
    return found


def compare_rows(against, turns=3):
    """Print the times of `measure_rows`, and those of another checkout by processes that take turns."""
    folders = [os.getcwd(), against] if against else [os.getcwd()]
    command = [sys.executable, os.path.abspath(__file__), "--rows", "--as-json"]
    runs: dict = {folder: [] for folder in folders}
    for _ in range(turns):
        for folder in folders:
            environment = os.environ | {"PYTHONPATH": os.path.abspath(folder)}
            done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, check=True)
            runs[folder].append(json.loads(done.stdout.splitlines()[-1]))
    print(f"{'processor milliseconds':32}{'here':>10}" + (f"{'there':>10}{'ratio':>8}" if against else ""))
    for name in runs[folders[0]][0]:
        ours, *theirs = (np.median([run[name] for run in runs[folder]]) for folder in folders)
        print(f"{name:32}{ours:10.2f}" + "".join(f"{other:10.2f}{other / ours:8.1f}" for other in theirs))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, help="training examples (default: 20000; with --images 60000)")
    parser.add_argument("--features", type=int, default=50)
    parser.add_argument("--classes", type=int, nargs="+", default=[2, 10])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--images", action="store_true", help="a Gaussian kernel on MNIST instead")
    parser.add_argument("--peers", action="store_true", help="learners of other kinds instead")
    parser.add_argument("--rows", action="store_true", help="predictions of one row instead")
    parser.add_argument("--against", help="another checkout, for --rows")
    parser.add_argument("--as-json", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    OneVsAllKernelPerceptron("rbf", gamma=1.0).fit(np.eye(4) / 3, [0, 1, 0, 1])  # compiled before the clock runs
    if arguments.as_json:
        print(json.dumps(measure_rows()))
    elif arguments.rows:
        compare_rows(arguments.against)
    elif arguments.peers:
        compare_peers(arguments.n or 10_000, arguments.threads)
    elif arguments.images:
        compare_images(arguments.n or 60_000, arguments.threads)
    else:
        n = arguments.n or 20_000
        compare_products(n, arguments.threads)
        compare_streams(arguments.features)
        for classes in arguments.classes:
            compare_learners(n, arguments.features, classes, arguments.threads)
