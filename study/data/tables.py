"""Tables of the data chapter: how frequent the digits are, how much ink they hold, and what whole-number arithmetic does.

Symbols: X (n, d) images as rows of pixels, y (n,) labels.
"""

import numpy as np
import pandas as pd
from scipy.stats import chisquare

INK = [0.25, 0.5, 0.75]


def counts(labels):
    """Images of each class from {split: labels (n,)}, as a table (split, label, images, deviation), deviation from equal
    shares; classes are those of all splits."""
    classes = np.unique(np.concatenate(list(labels.values())))
    rows = [(split, label, int((y == label).sum())) for split, y in labels.items() for label in classes]
    table = pd.DataFrame(rows, columns=["split", "label", "images"])
    return table.assign(deviation=table["images"] / table.groupby("split")["images"].transform("mean") - 1)


def balance(table):
    """Rows of `counts` by split: fewest, most, their ratio, and p of the chi-square test of equal frequencies."""
    groups = table.groupby("split", sort=False)["images"]
    found = pd.DataFrame({"fewest": groups.min(), "most": groups.max(), "ratio": groups.max() / groups.min()})
    return found.assign(p=groups.apply(lambda images: chisquare(images).pvalue))


def ink(X, y, top):
    """Ink of the images of each class, as a share of an image that is black all over: a table (label, low, median, high)."""
    share = pd.DataFrame({"label": y, "ink": X.mean(axis=1) / top}).groupby("label")["ink"]
    return share.quantile(INK).unstack().set_axis(["low", "median", "high"], axis=1).reset_index()


def more(a, b):
    """The share of pairs of a number of a (n,) and one of b (m,) in which the first is larger; ties count one half."""
    b = np.sort(b)
    return float((np.searchsorted(b, a, "left") + np.searchsorted(b, a, "right")).mean() / (2 * len(b)))


def kinds(pairs):
    """How often two classes meet among pairs (label_first, label_second): {"1 and 7": 12}, as a Series, most often first."""
    ends = np.sort(pairs[["label_first", "label_second"]], axis=1)
    return (
        pd.Series([f"{a} and {b}" for a, b in ends], dtype=object)
        .value_counts(sort=False)
        .sort_values(ascending=False, kind="stable")
    )


def overflows(X, degrees):
    """{degree: share of the pairs of images whose (1 + x.y)^degree is wrong in 64-bit whole numbers}."""
    products = X.astype(np.int64) @ X.astype(np.int64).T
    found = {}
    for degree in degrees:
        exact = (1.0 + products) ** degree
        found[degree] = float((np.abs((1 + products) ** degree - exact) > 1e-6 * exact).mean())
    return found


def moved(X, side):
    """|x - x'| (n,), where x' is the image x moved by one pixel to the right, with background coming in."""
    images = X.reshape(-1, side, side).astype(float)
    shifted = np.zeros_like(images)
    shifted[:, :, 1:] = images[:, :, :-1]
    return np.sqrt(((images - shifted) ** 2).sum(axis=(1, 2)))
