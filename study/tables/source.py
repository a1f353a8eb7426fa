"""The published numbers: Tables I to III of Xu & Zhang (2005), the names of their sets, kernels and columns.

Source: Xu & Zhang 2005, section IV.B. Table I describes the datasets and has the smallest error that the source cites for
other methods, Table II has the multiclass linear perceptron, Table III the kernel perceptron with two kernels.
"""

from functools import cache

from study.results import store

SETS = ("iris", "sonar", "vowel", "wine")
KERNELS = {"linear": "linear", "poly": "polynomial", "rbf": "RBF"}
"""The kernels of the three rows of each set, and their names in words."""
SYMBOLS = {"linear": "", "poly": "p", "rbf": "σ"}
SPLITS = {"train": "training", "test": "test"}


def original(dataset):
    """The set of the source that a bundled one stands for."""
    return dataset.removesuffix("-bundled")


def in_print(names):
    """The names of datasets, all of which are in the source, some as bundled copies. Raises ValueError for others."""
    if others := [name for name in names if original(name) not in SETS]:
        raise ValueError(
            f"datasets: the tables of 2005 have no {', '.join(others)}, only {', '.join(SETS)} (iris-bundled and "
            "wine-bundled stand for two of them); notebooks/uci.ipynb accepts any set"
        )
    return names


def setting(kernel, parameter):
    """A kernel and its parameter in short: "linear", "p = 2", "σ = 0.3"."""
    return f"{SYMBOLS[kernel]} = {parameter:g}" if SYMBOLS[kernel] else "linear"


def printed():
    """The numbers of Tables I to III as published, a row each: the constant columns of the ledger, and table, dataset,
    kernel, parameter, iterations, split, measure ("mean", "sd", ...); error rates in percent."""
    return store.published("xu_zhang_2005")


def cited_errors():
    """{set: smallest error of other methods that the source cites, in percent}: the last column of Table I."""
    return printed().query("measure == 'cited'").set_index("dataset")["published"].to_dict()


@cache
def _published_rates():
    rows = printed().query("measure in ['mean', 'sd']").rename(columns={"measure": "statistic"})
    rows = rows.fillna({"parameter": 0.0}).astype({"iterations": int}).reset_index(drop=True)
    return rows[["table", "dataset", "kernel", "parameter", "iterations", "split", "statistic", "published"]]


def published_rates():
    """The 48 error rates and standard deviations of Tables II and III, one row each.

    Columns table, dataset, kernel, parameter, iterations, split, statistic ("mean", "sd"), published (percent).
    """
    return _published_rates().copy()
