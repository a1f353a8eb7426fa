"""Quantities of the comparison on small sets that texts quote; without arguments, those of the eleven published sets.

All differences are pseudo-medians over the sets, with Wilcoxon's signed ranks and Holm's correction within a family.
"""

from functools import cache
from types import SimpleNamespace

from study.comparison import tables
from study.comparison.experiment import FULL, compare
from study.words import intervals, span


@cache
def published():
    """`over_sets` of the published comparison."""
    return over_sets(compare(FULL))


def rates():
    """Error rates by set (rows) and method, of what validation chose."""
    return published().rates


def svm():
    """{(form, thresholds): Difference} from the support vector machine, over the sets."""
    return published().svm


def forms():
    """{(form, thresholds): Difference} from one perceptron for all classes (the ordinary form), over the sets."""
    return published().forms


def over_sets(found):
    """The comparison over the sets, from the tables of `experiment.compare`.

    rates: error rates by set and method. svm: each form minus the SVM, least the smallest, behind and behind_intervals all
    in words; references: the same for every other method, ridge that of kernel ridge regression. forms: each form minus the
    ordinary one; apart and apart_on their intervals in words (with thresholds).
    """
    table = tables.by_method(tables.chosen_rates(found["errors"]))
    references = tables.over_sets(table, tables.reference_pairs())
    behind = {name: each for name, each in references.items() if name[0] in tables.KERNEL_PERCEPTRONS}
    forms_apart = tables.over_sets(table, tables.form_pairs())
    tested = len(table) > 7  # with fewer sets signed ranks give no intervals
    return SimpleNamespace(
        rates=table,
        n_sets=len(table),
        references=references,
        svm=behind,
        least=min(each.estimate for each in behind.values()),
        behind=span([each.estimate for each in behind.values()]),
        behind_intervals=intervals(behind.values()) if tested else "…",
        ridge=references["kernel ridge", "-"],
        forms=forms_apart,
        apart=intervals(forms_apart.values()) if tested else "…",
        apart_on=intervals([each for name, each in forms_apart.items() if name[1] == "on"]) if tested else "…",
        all_behind=all(each.p < tables.statistics.ALPHA for each in behind.values()),
        none_apart=all(each.p >= tables.statistics.ALPHA for each in forms_apart.values()),
    )


def thresholds(table):
    """What thresholds change on the sets of a table of error rates: changes {perceptron: Difference}; detected: those that
    they improve; hanging: the smallest share of single sets without which a verdict on these is another."""
    pairs = tables.threshold_pairs()
    changes = tables.over_sets(table, pairs)
    detected = {name for name, each in changes.items() if each.p < tables.statistics.ALPHA and each.estimate < 0}
    without = tables.changes_without(changes, table, pairs)
    hanging = min((len(without[name]) / len(table) for name in detected), default=0)
    return SimpleNamespace(changes=changes, detected=detected, hanging=hanging)


def averaging(found):
    """The average predictor against the final one, from the tables of `experiment.compare`: improved, the perceptrons with a
    predictor that is detectably better than the final one, each tuned for itself; linear, the change by averaging the linear
    perceptron; narrow {(form, thresholds): Difference} at the narrowest RBF width, of validation errors."""
    final = tables.against_final(found["errors"])
    return SimpleNamespace(
        improved={name[1] for name, each in final.items() if each.p < tables.statistics.ALPHA and each.estimate < 0},
        linear=final["average", "linear", "off"],
        narrow=tables.averages_at_narrowest(found["validation"]),
    )


def width_ratio(found):
    """Xu and Zhang's best width over the ordinary one on the same set, from tables of `experiment.compare`: the geometric
    mean without thresholds (ratio, low, high), and tests, a row for each hypothesis (tables.width_ratios)."""
    tests = tables.width_ratios(tables.best_widths(tables.width_curves(found["validation"])))
    return SimpleNamespace(tests=tests, **tests.iloc[0][["ratio", "low", "high"]])
