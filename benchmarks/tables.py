"""How long Table III of Xu & Zhang (2005) takes: ten-fold cross-validations of all eight rows, many times over.

    python benchmarks/tables.py [--repeats 100] [--processes 2] [--linear]

Seconds of each row and in all, in processes, as the study runs them; --linear adds the rows of Table II. Starting the
processes and compilation are not counted. Without
the files of sonar and vowel, `python -m study.datasets fetch iris sonar vowel wine` downloads them.
"""

import argparse
import time
from dataclasses import replace

from joblib import parallel_config

from study.uci.experiment import methods
from study.uci.protocol import cross_validate
from study.uci.source import SETS, setting


def measure(repeats, processes, linear):
    """Run the rows one after the other and print what each takes."""
    rows = [(name, method) for name in SETS for method in methods(name).values() if linear or method.kernel != "linear"]
    warm = [(name, replace(method, max_iter=2), 0) for name, method in rows]
    with parallel_config(backend="loky"):
        cross_validate(processes * warm, threads=processes)
        total = 0.0
        for name, method in rows:
            start = time.perf_counter()
            folds = cross_validate([(name, method, r) for r in range(repeats)], threads=processes)
            spent = time.perf_counter() - start
            total += spent
            visits, mistakes = (folds["epochs"] * folds["n_train"]).sum(), folds["mistakes"].sum()
            what = f"{name}, {setting(method.kernel, method.parameter)}"
            print(f"{what:22}{spent:8.1f} s   {visits:,} visits, {mistakes:,} mistakes", flush=True)
    print(f"{'all':22}{total:8.1f} s   {repeats} x 10 folds, {processes} processes")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=100)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--linear", action="store_true")
    arguments = parser.parse_args()
    measure(arguments.repeats, arguments.processes, arguments.linear)
