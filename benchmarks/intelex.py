"""The one-vs-all kernel perceptron beside the SVC of scikit-learn-intelex and that of scikit-learn, in one run.

    python benchmarks/intelex.py [--n 60000] [--threads 2] [--skip-svc]

scikit-learn-intelex trains the machines of scikit-learn's SVC with Intel's oneDAL, on several threads. It gets its own
environment, build/intelex, with the versions of NumPy, SciPy and scikit-learn that this one has. The first run makes it and
needs a network.

Ours: ten perceptrons of degree 3, ten epochs, fitted to whole pixels; all four predictors on the test images after every
epoch. The machines: pixels / 255; the polynomial kernel (x . y + 1 / 255^2)^3, which is ours divided by 255^6, with C = 1;
and the RBF kernel exp(-0.04 |x - y|^2) with C = 5. Each machine runs alone in a process of its own; plain SVC has one
thread.

--skip-svc leaves out plain SVC, which takes many minutes at n = 60,000.
"""

import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile
import time
from importlib import metadata
from pathlib import Path

import numpy as np

from kp import OneVsAllKernelPerceptron
from study import BUILD, SAME_BYTES, datasets
from study.mnist import experiment as mnist

FOLDER = BUILD / "intelex"
OWN = ("scikit-learn-intelex==2026.2.0", "daal==2026.2.0", "tbb==2023.2.0", "tcmlib==1.6.0")
SHARED = ("cloudpickle", "joblib", "narwhals", "numpy", "scikit-learn", "scipy", "threadpoolctl")
"""Packages that have in FOLDER the versions of this environment."""
DEGREE, EPOCHS = 3, 10
KERNELS = {
    f"polynomial, degree {DEGREE}, C = 1": {"kernel": "poly", "degree": DEGREE, "gamma": 1.0, "coef0": 255.0**-2, "C": 1.0},
    "RBF, gamma = 0.04, C = 5": {"kernel": "rbf", "gamma": 0.04, "C": 5.0},
}
HEAD = ("", "fit, s", "predict, s", "test errors", "fit / ours", "predict / ours", "both / ours")


def environment():
    """The interpreter of FOLDER, which is made anew where it is missing, unfinished, or has other versions."""
    python, finished = FOLDER / "bin" / "python", FOLDER / "requirements.txt"
    wanted = [*OWN, *(f"{name}=={metadata.version(name)}" for name in SHARED)]
    text = "\n".join(wanted) + "\n"
    if finished.exists() and finished.read_text() == text:
        return python
    print(f"making {FOLDER} with {OWN[0]} and scikit-learn {metadata.version('scikit-learn')}", flush=True)
    install = [python, "-I", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *wanted]
    for command in ([sys.executable, "-m", "venv", "--clear", FOLDER], install):
        if subprocess.run(command).returncode:
            sys.exit(
                f"{FOLDER} could not be made; this failed:\n    {shlex.join(map(str, command))}\n"
                "It needs a network and an x86-64 processor. Without network, download the wheels elsewhere (pip download)\n"
                "and run with PIP_NO_INDEX=1 PIP_FIND_LINKS=their-folder. Plain SVC needs none of it:\n"
                "    python benchmarks/literal.py --svc"
            )
    finished.write_text(text)
    return python


def perceptrons(data, n, threads):
    """(seconds of fit, of prediction, {predictor: test errors after the last epoch}) on the first n images."""
    model = OneVsAllKernelPerceptron(
        degree=DEGREE, max_iter=EPOCHS, stop_if_separated=False, random_state=DEGREE,
        memory_budget=mnist.MEMORY_BUDGET, n_jobs=threads,
    )  # fmt: skip
    clock = [time.perf_counter()]
    model.fit(data.X[:n], data.y[:n])
    clock.append(time.perf_counter())
    *_, last = model.staged_predict(data.X_test, predictor="all")
    clock.append(time.perf_counter())
    errors = {name: int((labels != data.y_test).sum()) for name, labels in last.items()}
    return clock[1] - clock[0], clock[2] - clock[1], errors


def machine(python, library, path, options):
    """What benchmarks/svc.py prints for these options, run by this interpreter."""
    free = {name: value for name, value in os.environ.items() if name not in SAME_BYTES}
    command = [python, "-I", Path(__file__).with_name("svc.py"), library, path, json.dumps(options)]
    done = subprocess.run(command, env=free, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"{library} with {options} failed, see above; if the environment is broken, delete {FOLDER} and run again")
    return json.loads(done.stdout)


def row(*cells):
    print(f"| {' | '.join(cells)} |", flush=True)


def compare(n, threads, skip_svc):
    """Print the table, a row for each learner, and a line on each kernel."""
    libraries = {"sklearnex": environment()} | ({} if skip_svc else {"sklearn": sys.executable})
    data = datasets.load("mnist")
    perceptrons(datasets.load("digits"), 300, threads)  # compiled code is there before the clock runs
    print(f"\nn = {n:,}, {len(data.X_test):,} test images, {threads} threads, plain SVC on one; ours: {EPOCHS} epochs\n")
    row(*HEAD)
    print(f"|---{'|---:' * (len(HEAD) - 1)}|")
    fit, predict, errors = perceptrons(data, n, threads)
    counts = ", ".join(f"{count} {name}" for name, count in errors.items())
    row(f"ours, degree {DEGREE}", f"{fit:.1f}", f"{predict:.1f}", counts, "1", "1", "1")
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "arrays.npz"
        np.savez(path, X=data.X[:n] / 255.0, y=data.y[:n], X_test=data.X_test / 255.0)
        for library, python in libraries.items():
            own = {"cache_size": 2000} | ({"n_jobs": threads} if library == "sklearnex" else {})
            for kernel, options in KERNELS.items():
                result = found[library, kernel] = machine(python, library, path, options | own)
                wrong = int((np.array(result["predictions"]) != data.y_test).sum())
                theirs = np.array([result["fit"], result["predict"], result["fit"] + result["predict"]])
                ratios = theirs / [fit, predict, fit + predict]
                row(f"{library}, {kernel}", *(f"{s:.1f}" for s in theirs[:2]), str(wrong), *(f"{r:.2f}" for r in ratios))
    print()
    for kernel in KERNELS:
        results = {library: found[library, kernel] for library in libraries}
        parts = [f"{result['support']:,} support vectors with {library}" for library, result in results.items()]
        if len(results) == 2:
            one, other = (np.array(result["predictions"]) for result in results.values())
            parts.append(f"predictions that differ: {(one != other).sum()}")
        print(f"{kernel}: {', '.join(parts)}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=60000, help="first training images")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--skip-svc", action="store_true", help="leave out plain SVC")
    options = parser.parse_args()
    compare(options.n, options.threads, options.skip_svc)
