"""The one statement of the encyclopedia's article that a number can test: linear growth of what the perceptron holds."""

from study import claims as ledger
from study.family import experiment, tables
from study.family.names import ODD_OR_EVEN

KEY = "encyclopedia/variants/growth-exponent"
SOURCE = "Encyclopedia article"


def growth():
    """The rows of tables.growth_exponents of the published streams, which are those of odd or even."""
    parts = [part for part in experiment.PUBLISHED.streams() if (part.problem, part.method) == (ODD_OR_EVEN, "perceptron")]
    found = tables.growth_exponents(experiment.streams(parts)["streams"])
    return found.round({"exponent": 4, "low": 4, "high": 4})


def claims():
    """One row. Growth linear in the examples presented is an exponent of 1; the article prints no digits, we compare four.

    ours is the exponent on clean labels with the polynomial kernel, low and high its interval over orders, percentile the
    share of orders with an exponent of at most 1.
    """
    clean = growth().iloc[[0]]
    row = clean.rename(columns={"exponent": "ours", "examples": "n", "below": "percentile"}).assign(
        key=KEY,
        item="Variants and extensions",
        quantity="exponent of the growth of the support set in the examples presented",
        published=1.0,
        decimals=4,
        explanation="linear growth is the worst case; a perceptron that still learns errs less and less often",
    )
    return ledger.rows(row, source=SOURCE, chapter="family")


def readings():
    """The same exponent with the RBF kernel, and where a fraction of the labels is wrong."""
    others = growth().iloc[1:]
    kernels = others["kernel"].map({"poly": "polynomial kernel", "rbf": "RBF kernel"})
    words = kernels + ", " + others["noise"].map(lambda noise: f"{noise:.0%} wrong labels" if noise else "clean labels")
    frame = others.rename(columns={"exponent": "ours", "examples": "n", "below": "percentile"})
    return frame.assign(key=KEY, reading=words)[["key", "reading", "ours", "low", "high", "n", "percentile"]]
