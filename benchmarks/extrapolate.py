"""What MNIST8M, 8.1 million images, would take: an extrapolation from what was measured up to 60,000 images.

Seconds of training (data/measured/growth_costs.csv, two degrees learnt together) and the examples that are kept
(data/results/growth_curves.csv) are taken as a n^b, with b by least squares in logarithms through the three largest sizes.
This is a rule of thumb: it goes 135 times beyond what was measured, and shared work is taken to divide evenly.
"""

import argparse
from math import ceil

import numpy as np
import pandas as pd

from study import MEASURED, RESULTS

LARGEST, DEGREE = 60_000, 4
BYTES = 4
"""Of an inner product in a kernel row."""


def law(values):
    """(b, n -> a n^b) of a series by size, by its three largest sizes."""
    b, log_a = np.polyfit(np.log(values.index[-3:]), np.log(values.iloc[-3:]), 1)
    return b, lambda n: float(np.exp(log_a) * n**b)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=8_100_000, help="images")
    parser.add_argument("--memory", type=float, default=256, help="GiB of a node that hold kernel rows")
    options = parser.parse_args()
    costs, curves = pd.read_csv(MEASURED / "growth_costs.csv"), pd.read_csv(RESULTS / "growth_curves.csv")
    virtual = costs[costs["n"] > LARGEST].iloc[0]
    last = curves[(curves["degree"] == DEGREE) & (curves["epoch"] == curves["epoch"].max()) & (curves["n"] <= LARGEST)]
    b, seconds = law(costs[costs["n"] <= LARGEST].groupby("n")["fit"].mean())
    c, kept = law(last.groupby("n")["support"].mean())
    print(f"exponents: seconds {b:.2f}, examples kept {c:.2f}")
    print(f"held against {virtual['n']:,.0f} virtual images: {seconds(virtual['n']):.0f} s by the law for two degrees, "
          f"{virtual['fit']:.0f} s measured for one")  # fmt: skip
    rows = kept(options.n) * options.n * BYTES / 2**30
    nodes = ceil(rows / options.memory)
    print(f"{options.n:,} images on one node of two cores: {seconds(options.n) / 3600:.0f} hours, if memory held them")
    print(f"{kept(options.n):,.0f} examples kept, whose rows take {rows:,.0f} GiB: {nodes} nodes of {options.memory:g} GiB")
    print(f"shared out among these: {seconds(options.n) / nodes / 3600:.1f} hours, without what they say to each other")


if __name__ == "__main__":
    main()
