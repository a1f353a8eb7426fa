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

SETTINGS = [(1, 5 * 2**30), (2, 5 * 2**30), (2, 2**30)]


def digest(results):
    """sha256 of all arrays of these results."""
    total = hashlib.sha256()
    for result in results:
        for name, array in sorted(result.arrays().items()):
            total.update(f"{name} {array.dtype} {array.shape}".encode() + array.tobytes())
    return total.hexdigest()[:16]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--degrees", type=int, nargs="+", default=list(mnist.DEGREES))
    parser.add_argument("--n-train", type=int, default=60000)
    parser.add_argument("--setting", type=int, nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    experiments = [mnist.experiment(degree=degree, n_train=options.n_train) for degree in options.degrees]
    if options.setting:
        threads, budget = options.setting
        laboratory = mnist.Laboratory("mnist", options.n_train, memory_budget=budget, threads=threads)
        logs = [laboratory.find([e])[0] for e in experiments if e.degree == 1]
        logs += laboratory.find([e for e in experiments if e.degree > 1])
        print(digest(laboratory.evaluate(experiments, logs)))
        return 0
    found = {}
    if all(e.published for e in experiments):
        arrays = (store.read_arrays(e.path, e.source, mnist.COMMAND) for e in experiments)
        found["committed"] = digest([mnist.Result.from_arrays(e, a) for e, a in zip(experiments, arrays, strict=True)])
        print(f"{'committed results':40}{found['committed']}", flush=True)
    same = [f"--n-train={options.n_train}", "--degrees", *map(str, options.degrees)]
    for threads, budget in SETTINGS:
        command = [sys.executable, __file__, *same, "--setting", str(threads), str(budget)]
        found[threads, budget] = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
        print(f"{f'{threads} threads, {budget / 2**30:g} GiB for rows':40}{found[threads, budget]}", flush=True)
    return int(len(set(found.values())) > 1)


if __name__ == "__main__":
    sys.exit(main())
