"""The ledger: the claims of all sources in one table, data/results/claims.csv."""

import hashlib

import pandas as pd

from kp import datasets
from kp.study import RESULTS, claims, mnist, store

MODULES = tuple(dict.fromkeys([*mnist.MODULES, "kp.study.claims", "kp.study.ledger"]))
"""The code that can change a claim."""

DATASETS = ("mnist",)
COMMAND = "python -m kp.study run claims"
PATH = RESULTS / "claims.csv"


def read():
    """The stored ledger; StaleResult if it does not belong to the code, the published numbers and the data."""
    return store.read_table(PATH, _source(), COMMAND)


def publish(*, recompute=False, progress=False):
    """Write the ledger from the stored result tables."""
    parts = [claims.hermans(mnist.table("mnist_multiclass"))]
    store.write_table(PATH, pd.concat(parts, ignore_index=True)[claims.COLUMNS], _source(), COMMAND)


def _source():
    paths = sorted(claims.PUBLISHED.glob("*.csv"))
    files = {f"published/{path.name}": hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}
    data = {file: digest for name in DATASETS for file, digest in datasets.checksums(name).items()}
    return store.provenance("claims", {}, MODULES, {**data, **files})
