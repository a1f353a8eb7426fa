"""What the encyclopedia's article says: three theses with verdicts.

The article prints no measurement, so that it has no row among the numbers. "Grows linearly" is a thesis whose evidence is an
exponent. What the article says of definitions and of relations between algorithms is checked in the chapter's text.
"""

import pandas as pd

from study import claims as ledger
from study import statistics
from study.family import experiment, tables
from study.family.names import KERNELS, LAST, ODD_OR_EVEN, PERCEPTRONS
from study.report.display import listed

SOURCE = "Encyclopedia article"
VARIANTS = "Variants and extensions"


def growth(settings=None):
    """The rows of tables.growth_exponents, of the published settings or of others."""
    settings = settings or experiment.PUBLISHED
    parts = [part for part in settings.streams() if (part.problem, part.method) == (ODD_OR_EVEN, "perceptron")]
    streams = pd.concat([experiment.streams(parts)["streams"], experiment.growth(settings.growths())], ignore_index=True)
    return tables.growth_exponents(streams)


def statements(settings=None):
    """The article's theses, with verdicts from stored results."""
    settings = settings or experiment.PUBLISHED
    rows = [
        _linear(growth(settings)),
        _overfits(tables.overfitting(tables.learners(experiment.wrong_labels(settings.noises())))),
        _bounds(
            tables.bounds_compared(tables.learners(experiment.machines(settings.machines()))),
            tables.bound_summary(experiment.bounds(settings.bounds())),
        ),
    ]
    named = [{**row, "key": f"encyclopedia/statements/{row['key']}"} for row in rows]
    return ledger.statement_rows(named, source=SOURCE, chapter="family")


def _linear(growths):
    told = growths["growth"] != tables.GROWTHS[2]
    right = growths["noise"] == 0
    if not told[right].any():
        verdict = "cannot be told"  # that no test rejects linear growth does not show it
    else:
        verdict = "does not hold" if right.all() else "holds in part"
    parts = [
        f"{KERNELS[row.kernel]} {row.noise:.0%} {row.exponent:.3f} ({row.low:.3f} to {row.high:.3f})"
        for row in growths.itertuples()
    ]
    return {
        "key": "linear-growth",
        "place": VARIANTS,
        "statement": "In an online setting the number of non-zero counts grows linearly in the number of examples "
        "presented.",
        "verdict": verdict,
        "evidence": f"Linear growth is an exponent of 1. Exponents by kernel and wrong labels: {listed(parts)} (95 % over "
        "orders), fitted over the last half decade of the stream, which was chosen after a fit over a whole decade had been "
        f"seen. By test {int((growths['growth'] == tables.GROWTHS[0])[right].sum())} of the {right.sum()} with right labels "
        "are slower than linear. Where a fixed share of the labels is wrong at random, at least as large a share of "
        "predictions is wrong in expectation, so that growth lies between two straight lines.",
    }


def _overfits(over):
    wrong = over[(over["noise"] > 0) & over["predictor"].isin(PERCEPTRONS)]
    if wrong["overfits"].any():
        verdict = "holds" if wrong["overfits"].all() else "holds in part"
    else:
        verdict = "does not hold" if (wrong["test_word"] == tables.CHANGES[0]).all() else "cannot be told"
    return {
        "key": "overfitting",
        "place": VARIANTS,
        "statement": "The kernel perceptron does not regularize, making it vulnerable to overfitting.",
        "verdict": verdict,
        "evidence": "Tests show that more passes lower the training error and raise the test error "
        f"{tables.overfitted(over)} (Student's t over orders, Holm over {2 * len(over)} changes). The last hypothesis's "
        f"test error {tables.changes(over, LAST)}.",
    }


def _bounds(table, by_degree):
    near = table[(table["low"] >= 0.5) & (table["high"] <= 2)]
    ratios = tables.bound_ratios(by_degree)
    beside = ratios[ratios.between(0.5, 2)]
    whole = len(near) == len(table) and len(beside) == len(ratios)
    verdict = "holds" if whole else "holds in part" if len(near) or len(beside) else "does not hold"
    largest, n, low, high = table.iloc[-1], by_degree["n"].min(), ratios.min(), ratios.max()
    return {
        "key": "vote-bounds",
        "place": VARIANTS,
        "statement": "The voted perceptron extends to kernels, with generalization bounds comparable to the kernel SVM.",
        "verdict": verdict,
        "evidence": "Here bounds within a factor of two count as comparable. The estimate of the vote's bound is "
        f"{table['ratio'].min():.2f} to {table['ratio'].max():.2f} times that of the support vector machine over "
        f"{len(table)} sizes at one degree, and {low:.2f} to {high:.2f} times over the degrees {ratios.index.min()} to "
        f"{ratios.index.max()} with {n:,} examples; within a factor of two at {len(near)} of these sizes, interval and all, "
        f"and at {len(beside)} of {len(ratios)} degrees. With "
        f"{largest['n']:,.0f} examples the bounds are {largest['vote']:.1%} and {largest['machine']:.1%}, the test errors "
        f"{largest['vote_test']:.1%} and {largest['machine_test']:.1%} ({statistics.p_value(largest['p'])}).",
    }
