"""What another visiting order costs beside the first: degrees 2 to 6 of the MNIST study, ten epochs, all four predictors.

    python benchmarks/orders.py [--orders 4] [--n-train 60000]

The first order makes the kernel rows; the others find them there, and make those that they alone need. A run is that of the
chapter on visiting orders: mistakes, training errors of every predictor, predictions on the test images.
"""

import argparse
import time

from study import datasets
from study.orders.experiment import Settings, runs


def seconds(parts):
    """Seconds until each of these parts is there, from the beginning."""
    start, found = time.perf_counter(), []
    for _ in runs.compute(parts):
        found.append(time.perf_counter() - start)
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--orders", type=int, default=4)
    parser.add_argument("--n-train", type=int, default=60000)
    options = parser.parse_args()
    seconds([Settings(dataset="digits", n_epochs=1)])
    datasets.load("mnist")
    parts = [Settings(order=r, n_train=options.n_train) for r in range(options.orders)]
    first, together = seconds(parts[:1])[0], seconds(parts)[-1]
    each = (together - first) / (options.orders - 1)
    print(f"{'one order':28}{first:8.1f} s")
    print(f"{f'{options.orders} orders together':28}{together:8.1f} s")
    print(f"{'each further order':28}{each:8.1f} s   {each / first:.0%} of the first")
