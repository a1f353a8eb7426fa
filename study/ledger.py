"""The ledger: the claims of all sources in one table, data/results/claims.csv."""

import hashlib

import pandas as pd

from kp import datasets
from study import RESULTS, claims, store
from study.course import experiment as course
from study.family import experiment as family
from study.family import tables as tables_family
from study.mnist import experiment as mnist
from study.multiclass import experiment as planes
from study.seeds import experiment as seeds
from study.seeds import tables as tables_seeds
from study.uci import experiment as uci

PARTS = (mnist, uci, seeds, course, family)
OWN = ("planes", "uci", "tables_seeds", "tables_family", "claims", "ledger")
MODULES = tuple(dict.fromkeys([*(m for part in PARTS for m in part.MODULES), *(f"study.{name}" for name in OWN)]))
"""The code that can change a claim."""

DATASETS = tuple(dict.fromkeys(name for part in PARTS for name in part.DATASETS))
COMMAND = "python -m study run claims"
PATH = RESULTS / "claims.csv"


def read():
    """The stored ledger; StaleResult if it does not belong to the code, the published numbers and the data."""
    return store.read_table(PATH, _source(), COMMAND)


def publish(*, recompute=False, progress=False):
    """Write the ledger from the stored result tables."""
    parts = [
        claims.hermans(mnist.table("mnist_multiclass")),
        planes.claims(claims.published("xu_zhang_2005_figures")),
        uci.claims(),
        tables_seeds.claims(seeds.tables(seeds.PUBLISHED)),
        course.claims(*(course.table(f"course_{name}") for name in ("modifications", "digits", "confusion"))),
        tables_family.claims(),
    ]
    store.write_table(PATH, pd.concat(parts, ignore_index=True)[claims.COLUMNS], _source(), COMMAND)


def _source():
    paths = sorted(claims.PUBLISHED.glob("*.csv"))
    files = {f"published/{path.name}": hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}
    data = {file: digest for name in DATASETS for file, digest in datasets.checksums(name).items()}
    return store.provenance("claims", {}, MODULES, {**data, **files})
