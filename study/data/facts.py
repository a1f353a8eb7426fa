"""What texts say of the images; whole-number pixels, as they are."""

from functools import cache
from types import SimpleNamespace

from study import datasets
from study.data import tables
from study.data.experiment import Settings, pairs


@cache
def images(dataset="mnist"):
    """Ink and neighbours of the training images.

    ink: median share of full black by digit; nearest: the nearest pairs of different digits by distance, and kinds: how
    often two digits meet among them; counts: images of each digit in both parts of the set.
    """
    data = datasets.load(dataset)
    nearest = pairs(Settings(dataset))
    return SimpleNamespace(
        ink=tables.ink(data.X, data.y, data.X.max()).set_index("label")["median"],
        nearest=nearest, kinds=tables.kinds(nearest),
        counts=tables.counts(data.y, data.y_test),
    )  # fmt: skip
