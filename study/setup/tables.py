"""Small tables of the set-up: datasets, software, costs of computing."""

import re

import pandas as pd

from study import ROOT, datasets
from study.reading import noted
from study.results import costs
from study.words import styled


def data_sets():
    """A row for each registered dataset: name, training, test, attributes, classes, licence, files."""
    noted(datasets.registry.PATH)
    rows = [
        (each.title, each.n_train, each.n_test or None, each.n_features, len(each.classes), each.licence.partition(",")[0],
         "downloaded" if each.files else "bundled")
        for each in datasets.DATASETS.values()
    ]  # fmt: skip
    names = ["dataset", "training", "test", "attributes", "classes", "licence", "files"]
    return styled(pd.DataFrame(rows, columns=names).astype({"test": "Int64"}), {"training": ",", "test": ","})


PACKAGES = ("numpy", "scipy", "pandas", "scikit-learn", "numba", "matplotlib", "seaborn", "papermill", "nbval", "snakemake")


def software():
    """package and version of PACKAGES, from the lock file."""
    lock = noted(ROOT / "requirements.lock.txt").read_text(encoding="utf-8")
    found = dict(re.findall(r"^([\w.-]+)==([\w.+-]+)", lock, re.MULTILINE))
    return pd.DataFrame([(name, found[name]) for name in PACKAGES], columns=["package", "version"])


def computing():
    """results (the folder of their experiments), experiments, minutes (of a processor), memory (GiB): what computing the
    stored results takes where it is known, folder by folder and together."""
    table = costs.by_chapter()
    table["minutes"] = table["processor_seconds"] / 60
    whole = table[["experiments", "minutes"]].sum().to_dict() | {"chapter": "all", "memory": table["memory"].max()}
    table = pd.concat([table, pd.DataFrame([whole])], ignore_index=True).rename(columns={"chapter": "results"})
    table = table[["results", "experiments", "minutes", "memory"]].astype({"experiments": int})
    return styled(table, {"minutes": ".1f", "memory": ".1f"})
