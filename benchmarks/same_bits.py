"""The whole MNIST study with other numbers of threads and other memory budgets: the same bits?

    python benchmarks/same_bits.py [--degrees 1 2 3 4 5 6] [--n-train 60000]

Each setting runs in a process of its own; a digest of all arrays of all results (logs, counts, predictions) is compared
with the committed ones where the parameters are the published ones. Exit code 1 if any differs.
"""

import argparse
import hashlib
import subprocess
import sys

from study import store
from study.mnist import experiment as mnist

BUDGETS = [(1, 5 * 2**30), (2, 5 * 2**30), (2, 2**30)]
"""Numbers of threads, and bytes for rows."""


def digest(results):
    """sha256 of all tables and arrays of these results, in the order of the settings."""
    total = hashlib.sha256()
    for result in results:
        for name in mnist.degrees.tables:
            total.update(store.table_text(result[name]).encode())
        for name, array in sorted(result["arrays"].items()):
            total.update(f"{name} {array.dtype} {array.shape}".encode() + array.tobytes())
    return total.hexdigest()[:16]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--degrees", type=int, nargs="+", default=list(mnist.DEGREES))
    parser.add_argument("--n-train", type=int, default=60000)
    parser.add_argument("--setting", type=int, nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    settings = [mnist.Settings(degree=degree, n_train=options.n_train) for degree in options.degrees]
    if options.setting:
        threads, budget = options.setting
        print(digest(mnist.run_together(settings, memory_budget=budget, threads=threads)))
        return 0
    found = {}
    if set(settings) <= set(mnist.PUBLISHED):
        stored = [mnist.degrees(each) for each in settings]
        found["committed"] = digest([{**result, "arrays": result["arrays"][0]} for result in stored])
        print(f"{'committed results':40}{found['committed']}", flush=True)
    same = [f"--n-train={options.n_train}", "--degrees", *map(str, options.degrees)]
    for threads, budget in BUDGETS:
        command = [sys.executable, __file__, *same, "--setting", str(threads), str(budget)]
        found[threads, budget] = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
        print(f"{f'{threads} threads, {budget / 2**30:g} GiB for rows':40}{found[threads, budget]}", flush=True)
    return int(len(set(found.values())) > 1)


if __name__ == "__main__":
    sys.exit(main())
