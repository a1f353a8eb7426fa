"""Train one SVC and predict the test examples, alone in a process; benchmarks/intelex.py and reals.py start it.

    python benchmarks/svc.py LIBRARY ARRAYS.npz OPTIONS

LIBRARY is sklearn or sklearnex, ARRAYS holds X, y and X_test, OPTIONS are those of SVC as JSON. Prints JSON: seconds of fit
and of predict, the number of support vectors, and the predictions.
"""

import importlib
import json
import sys
import time

import numpy as np


def train(SVC, X, y, X_test, options):
    """{fit, predict (seconds), support, predictions} and the fitted machine."""
    clock = [time.perf_counter()]
    machine = SVC(**options).fit(X, y)
    clock.append(time.perf_counter())
    predictions = machine.predict(X_test)
    clock.append(time.perf_counter())
    fit, predict = np.diff(clock).tolist()
    support = len(machine.support_)
    return {"fit": fit, "predict": predict, "support": support, "predictions": predictions.tolist()}, machine


if __name__ == "__main__":
    library, path, options = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
    SVC = importlib.import_module(f"{library}.svm").SVC
    with np.load(path) as arrays:
        X, y, X_test = arrays["X"], arrays["y"], arrays["X_test"]
    train(SVC, X[:500], y[:500], X_test[:500], options)  # all that is loaded once is there before the clock runs
    result, machine = train(SVC, X, y, X_test, options)
    if library == "sklearnex" and not hasattr(machine, "_onedal_estimator"):
        sys.exit("scikit-learn-intelex fell back to plain SVC for these options; choose a kernel that it knows")
    print(json.dumps(result))
