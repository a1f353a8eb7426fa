"""The nearest pairs of examples of different classes, by distance and by angle, and images that occur twice.

Squared distances |x - y|^2 = |x|^2 + |y|^2 - 2 x.y of integer-valued points are integers, and exact here (see kp.gram), and
so are both parts of cos^2 = (x.y)^2 / (|x|^2 |y|^2) before the one division. The angle does not depend on how much ink an
image holds; the distance does, as no image is farther from another than the sum of their norms.

Symbols: X (n, d) examples, y (n,) labels, D an upper limit to the values that still matter.
"""

from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd
from tqdm import tqdm

from kp.gram import Points, Products
from study import datasets
from study.protocols.settings import IMAGES, BaseSettings
from study.results.experiment import experiment

ROWS = 1024
COLUMNS = 4096
"""Size of the blocks of distances: a few tens of megabytes each."""


def squared_distances(products, left, right):
    """|x - y|^2 (r, c) from x . y (r, c) and the squared norms left (r, 1) and right (c,)."""
    return left + right - 2.0 * products


def squared_sines(products, left, right):
    """1 - cos^2 of the angle between x and y, as above; 1 + cos^2 where it is obtuse, and 1 where a point is the origin."""
    products = products.astype(float)
    return 1 - products * np.abs(products) / np.maximum(left * right, 1)


MEASURES = {"distance": squared_distances, "angle": squared_sines}


def nearest_pairs(X, y, count, *, measure="distance", progress=False):
    """The `count` nearest pairs of examples of different classes, each example in one pair at most; a tidy table.

    The pairs are taken one after the other: always the nearest whose examples are both still free; ties go to
    the first by (first, second). X (n, d), y (n,), measure one of MEASURES. Columns: rank from 1, first < second (indices of
    examples), label_first, label_second, value (as in MEASURES). There are fewer rows where no more pairs exist. progress
    shows a bar of the pairs. Raises ValueError unless count is at least 1.
    """
    if not count >= 1:
        raise ValueError(f"count must be at least 1, got {count!r}")
    y = np.asarray(y)
    order = np.argsort(y, kind="stable")
    points = Points(np.asarray(X)[order])
    starts = np.flatnonzero(np.r_[True, y[order][1:] != y[order][:-1]])
    classes = [range(start, stop) for start, stop in zip(starts, [*starts[1:], len(y)], strict=True)]
    found = np.empty((0, 3))
    limit = np.inf
    with tqdm(total=_n_pairs(classes), unit="pair", unit_scale=True, disable=not progress) as bar:
        for rows, columns in _blocks(classes):
            found = np.concatenate([found, _within(points, order, rows, columns, limit, MEASURES[measure])])
            found = found[np.lexsort(found.T)]
            # A maximal set of disjoint pairs is at least half as large as any other: where 2 count - 1 disjoint pairs lie
            # within D, taking the nearest first meets `count` of them within D, regardless of the pairs that follow.
            taken = _disjoint(found, 2 * count - 1)
            if len(taken) == 2 * count - 1:
                limit = found[taken[-1], 2]
                found = found[found[:, 2] <= limit]
            bar.update(len(rows) * len(columns))
    pairs = found[_disjoint(found, count)]
    first = pairs[:, 1].astype(int)
    second = pairs[:, 0].astype(int)
    return pd.DataFrame(
        {
            "rank": np.arange(1, len(pairs) + 1),
            "first": first,
            "second": second,
            "label_first": y[first],
            "label_second": y[second],
            "value": pairs[:, 2],
        }
    )


@dataclass(frozen=True)
class Settings(BaseSettings):
    """Which pairs: how many of the training images of a dataset, "mnist" or "digits", by one of MEASURES."""

    dataset: str
    count: int = 20
    measure: str = "distance"

    KNOWN = {"dataset": IMAGES, "measure": MEASURES}
    BOUNDS = {"count": (1, 1000)}


@experiment(
    "mnist", published=[Settings("mnist", measure=measure) for measure in MEASURES], data=lambda settings: [settings.dataset]
)
def image_pairs(settings, *, progress=False):
    """The nearest pairs of training images of different digits (see `nearest_pairs`), measured in both ways.

    Columns measure (by which they are the nearest), rank, first, second, label_first, label_second, squared_distance, and
    degrees, the angle.
    """
    data = datasets.load(settings.dataset)
    found = nearest_pairs(data.X, data.y, settings.count, measure=settings.measure, progress=progress)
    left, right = (data.X[found[name]].astype(np.int64) for name in ("first", "second"))
    norms = (left**2).sum(axis=1) * (right**2).sum(axis=1)
    cosine = (left * right).sum(axis=1) / np.sqrt(norms)
    found.insert(0, "measure", settings.measure)
    squared = ((left - right) ** 2).sum(axis=1)
    return found.drop(columns="value").assign(squared_distance=squared, degrees=np.degrees(np.arccos(cosine)).round(6))


@dataclass(frozen=True)
class Images:
    """All images of a dataset."""

    dataset: str = "mnist"


@experiment("mnist", published=[Images()], data=lambda settings: [settings.dataset])
def image_copies(settings, *, progress=False):
    """How many images of each split are the same as an earlier one of it, and how many also occur in the other split.

    Columns split, images, repeated, shared.
    """
    data = datasets.load(settings.dataset)
    found = {name: [image.tobytes() for image in X] for name, X in (("train", data.X), ("test", data.X_test))}
    sets = {name: set(images) for name, images in found.items()}
    rows = [
        (name, len(images), len(images) - len(sets[name]), sum(image in sets[other] for image in images))
        for (name, images), other in zip(found.items(), ("test", "train"), strict=True)
    ]
    return pd.DataFrame(rows, columns=["split", "images", "repeated", "shared"])


def _n_pairs(classes):
    return sum(len(a) * len(b) for a, b in combinations(classes, 2))


def _blocks(classes):
    """Ranges (rows, columns) that cover each pair of examples of different classes once."""
    for a, b in combinations(classes, 2):
        for i in range(0, len(a), ROWS):
            for j in range(0, len(b), COLUMNS):
                yield a[i : i + ROWS], b[j : j + COLUMNS]


def _within(points, order, rows, columns, limit, measure):
    """Pairs (k, 3) of the block with a value of the measure <= limit, as (second, first, value), first < second."""
    source = Products(points, points, threads=2)
    products = np.empty((len(rows), len(columns)), dtype=source.dtype)
    source.block(np.array(rows), slice(columns.start, columns.stop), products)
    left = points.norms[rows.start : rows.stop, None]
    right = points.norms[columns.start : columns.stop]
    values = measure(products, left, right)
    i, j = np.nonzero(values <= limit)
    ends = np.sort([order[rows.start + i], order[columns.start + j]], axis=0)
    return np.column_stack([ends[1], ends[0], values[i, j]])


def _disjoint(found, count):
    """Places of the first `count` rows of `found`, in order, that share no example with a row taken before."""
    taken = []
    used = set()
    for place, (second, first, _) in enumerate(found.tolist()):
        if len(taken) == count:
            break
        if first not in used and second not in used:
            taken.append(place)
            used |= {first, second}
    return taken
