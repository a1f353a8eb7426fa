"""The published numbers: Tables I to III of Xu & Zhang (2005), the names of their sets, kernels and columns.

Source: Xu & Zhang 2005, section IV.B. Table I describes the data sets and has the smallest error that the source cites for
other methods, Table II has the multiclass linear perceptron, Table III the kernel perceptron with two kernels.
"""

from functools import cache

import numpy as np

from study.results import store

SETS = ("iris", "sonar", "vowel", "wine")
KERNELS = {"linear": "linear", "poly": "polynomial", "rbf": "RBF"}
"""The kernels of the three rows of each set, and their names in words."""
SYMBOLS = {"linear": "", "poly": "p", "rbf": "σ"}
SPLITS = {"train": "training", "test": "test"}
ORDER = {
    "table": ("II", "III"),
    "dataset": SETS,
    "kernel": tuple(KERNELS),
    "split": tuple(SPLITS),
    "statistic": ("mean", "sd"),
}


def original(dataset):
    """The set of the source that a bundled one stands for."""
    return dataset.removesuffix("-bundled")


def setting(kernel, parameter):
    """A kernel and its parameter in short: "linear", "p = 2", "σ = 0.3"."""
    return f"{SYMBOLS[kernel]} = {parameter:g}" if SYMBOLS[kernel] else "linear"


def published():
    """The numbers of Tables I to III as published; error rates in percent."""
    table = store.published("xu_zhang_2005")
    kernel = table["kernel"].map({"polynomial": "poly", "rbf": "rbf"}).where(table["table"] == "III", "linear")
    return table.assign(kernel=kernel.where(table["table"] != "I"), parameter=table["parameter"].fillna(0.0))


def cited_errors():
    """{set: smallest error of other methods that the source cites, in percent}: the last column of Table I."""
    return published().query("table == 'I'").set_index("dataset")["mean_error_percent"].to_dict()


@cache
def _published_rates():
    rows = published().query("table != 'I'").rename(columns={"mean_error_percent": "mean", "sd_error_percent": "sd"})
    keys = ["table", "dataset", "kernel", "parameter", "iterations", "split"]
    long = rows.melt(keys, ["mean", "sd"], "statistic", "published").astype({"iterations": int})
    order = [long[key].map({name: i for i, name in enumerate(names)}) for key, names in ORDER.items()]
    return long.iloc[np.lexsort([*reversed(order)])].reset_index(drop=True)


def published_rates():
    """The 48 error rates and standard deviations of Tables II and III, one row each.

    Columns table, dataset, kernel, parameter, iterations, split, statistic ("mean", "sd"), published (percent).
    """
    return _published_rates().copy()
