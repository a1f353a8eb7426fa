"""Tables of the images: how much ink they hold, which digits meet, and what whole-number arithmetic does.

Symbols: X (n, d) images as rows of pixels, y (n,) labels.
"""

import numpy as np
import pandas as pd

INK = [0.25, 0.5, 0.75]


def counts(y, y_test):
    """How many images of each class there are: a table (class, training, test)."""
    found = pd.DataFrame({"training": pd.Series(y).value_counts(), "test": pd.Series(y_test).value_counts()})
    return found.sort_index().rename_axis("class").reset_index()


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


def moved(X, side):
    """|x - x'| (n,), where x' is the image x moved by one pixel to the right, with background coming in."""
    images = X.reshape(-1, side, side).astype(float)
    shifted = np.zeros_like(images)
    shifted[:, :, 1:] = images[:, :, :-1]
    return np.sqrt(((images - shifted) ** 2).sum(axis=(1, 2)))
