"""How long Table III of Xu & Zhang (2005) takes: ten-fold cross-validations of all eight rows, many times over.

    python benchmarks/tables.py [--repeats 100] [--threads 2] [--linear]

Wall and processor time of each row and in all; --linear adds the rows of Table II. Compilation is not counted. Without
the files of sonar and vowel, `python -m kp.datasets fetch iris sonar vowel wine` downloads them.
"""

import argparse
import time
from dataclasses import replace

from kp.study import cross_validation, uci


def measure(repeats, threads, linear):
    """Run the rows one after the other and print what each takes."""
    rows = [
        (name, method) for name in uci.SETS for method in uci.methods(name).values() if linear or method.kernel != "linear"
    ]
    cross_validation.cross_validate([(name, replace(method, max_iter=2), 0) for name, method in rows], threads=threads)
    total = [0.0, 0.0]
    for name, method in rows:
        clock = time.perf_counter(), time.process_time()
        jobs = [(name, method, r) for r in range(repeats)]
        folds = cross_validation.cross_validate(jobs, threads=threads)
        spent = time.perf_counter() - clock[0], time.process_time() - clock[1]
        total = [a + b for a, b in zip(total, spent, strict=True)]
        visits, mistakes = (folds["epochs"] * folds["n_train"]).sum(), folds["mistakes"].sum()
        what = f"{name}, {uci.setting(method.kernel, method.parameter)}"
        print(f"{what:22}{spent[0]:8.1f} s{spent[1]:8.1f} s of processors   {visits:,} visits, {mistakes:,} mistakes")
    print(f"{'all':22}{total[0]:8.1f} s{total[1]:8.1f} s of processors   {repeats} x 10 folds, {threads} threads")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=100)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--linear", action="store_true")
    arguments = parser.parse_args()
    measure(arguments.repeats, arguments.threads, arguments.linear)
