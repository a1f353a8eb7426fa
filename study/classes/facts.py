"""Quantities of the forms for several classes that texts quote: in the plane, on digits, on small sets.

Functions without arguments are of the published runs: on all images of MNIST, and on the eleven sets. Differences over sets
are pseudo-medians, with Wilcoxon's signed ranks and Holm's correction within a family.
"""

from functools import cache
from types import SimpleNamespace

import numpy as np

from study.classes import comparison, forms, plane, tables
from study.words import interval, intervals, p_value, points, span

# In the plane.


def moved(spans, five):
    """The five classes with the power of the linear kernel, where they lie and moved to the origin, from
    `plane.separability`: stops, whether Xu and Zhang's algorithm does, and n_wrong at the end of the second run."""
    rows = spans[(spans["dataset"] == five) & (spans["kernel"] == "poly")]
    return SimpleNamespace(stops=rows["converged"].tolist(), n_wrong=rows["errors"].iloc[-1])


def updates(found):
    """Mistakes and bounds of Xu and Zhang's update over the ordinary ones, from the tables of `plane.orders`.

    counts: rows of tables.with_orders; compared: rows of tables.updates_compared, of which fewest and most have the smallest
    and the largest ratio of mistakes (geometric mean over visiting orders, Student's t on logarithms, Holm's correction).
    """
    counts = tables.with_orders(**found)
    compared = tables.updates_compared(counts, found["orders"])
    by_ratio = compared.sort_values("mistakes")
    return SimpleNamespace(counts=counts, compared=compared, fewest=by_ratio.iloc[0], most=by_ratio.iloc[-1])


def counter_example():
    """Five points on a line, each a class: whether the linear perceptron stops, by demoted class, from `plane.cycles`;
    epochs until it stops, and the period with which its weights return."""
    line = np.array([[1], [-3], [-1], [0], [2]])
    found = plane.cycles(line, np.arange(5)).set_index("demoted")
    return SimpleNamespace(line=line, ends=found["ends"].tolist(), epochs=found.epochs["winner"], period=found.period["all"])


# On digits.


@cache
def on_digits():
    """The tables and arrays of `forms.equal`."""
    return forms.equal(forms.equal_settings("mnist"))


@cache
def digit_errors():
    """{form: test error} of the average predictor with all images, Xu and Zhang's form under tables.WITHOUT and PRINTED."""
    return equal_terms(on_digits()).errors


def digit_gap(form, other):
    """The difference of the test errors of two forms with all images, in one order: one of `tables.gaps`."""
    return equal_terms(on_digits()).gaps[form, other, "average"]


def equal_terms(found):
    """The forms on equal terms, from the tables and arrays of `forms.equal`, by the average predictor.

    level: rows of tables.equal_rates of the forms without thresholds; by_size: their mean test errors, a row for each number
    of images, a column for each form. largest: rows of tables.largest_terms; n_most images; errors {form in words: test
    error} there. gaps: tables.gaps with the most images, over the test images in the first order, by McNemar's test with
    Holm's correction. excess: Xu and Zhang's errors over the ordinary ones, by number of images; effort: the largest such
    ratio of mistakes in training.
    """
    rates = tables.equal_rates(found["equal"])
    level = tables.three_forms(rates)
    average = level[level["predictor"] == "average"]
    by_size = average.pivot(index="n", columns="form", values="error")
    made = average.pivot(index="n", columns="form", values="mistakes")
    largest = tables.in_words(tables.largest_terms(rates))
    most = tables.gaps(found["arrays"][-1]["wrong"])
    return SimpleNamespace(
        level=level,
        by_size=by_size,
        largest=largest,
        n_most=int(by_size.index.max()),
        errors=largest.set_index("form")["average"].to_dict(),
        gaps=most,
        one_vs_all_first=most["one-vs-all", "ordinary", "average"],
        xu_zhang_last=most["ordinary", "Xu-Zhang, no threshold", "average"],
        thresholds=most["Xu-Zhang", "Xu-Zhang, no threshold", "average"],
        excess=by_size["Xu-Zhang"] / by_size["ordinary"],
        effort=(made["Xu-Zhang"] / made["ordinary"]).max(),
    )


def widths(settings, found):
    """The forms by the width of their kernel, on validation images, from `forms.tuning` with these settings.

    curves: rows of tables.digits_by_width with the most images, n of them and n_validate; best: its row of the lowest error
    of each form; ratio: Xu and Zhang's best width over the ordinary one. At the width that suits the ordinary form:
    borrowed_error and own_error, those of Xu and Zhang's form and of this one, and longer, the ratio of mistakes.
    narrower: the width that is nearest to the ordinary one over the root of 2, and undone, the ratio of Xu and Zhang's
    mistakes there to the ordinary form's at its own width.
    thresholds: the difference of the validation errors of Xu and Zhang's form with and without thresholds, each at its own
    width, in the first order (McNemar).
    """
    last = settings[-1]
    curves = tables.digits_by_width(tables.three_forms(found["tuning"]), last.n)
    best = curves.loc[curves.groupby("form")["error"].idxmin()].set_index("form")
    borrowed = curves[curves["width"] == best.width["ordinary"]].set_index("form")
    squared = curves[curves["form"] == "Xu-Zhang"]
    narrower = squared.loc[(squared["width"] - best.width["ordinary"] / 2**0.5).abs().idxmin()]
    held = {part.n: each["wrong"] for part, each in zip(settings, found["arrays"], strict=True)}
    return SimpleNamespace(
        curves=curves,
        n=last.n,
        n_validate=last.n_validate,
        best=best,
        ratio=best.width["Xu-Zhang"] / best.width["ordinary"],
        borrowed_error=borrowed.error["Xu-Zhang"],
        own_error=borrowed.error["ordinary"],
        longer=borrowed.mistakes["Xu-Zhang"] / borrowed.mistakes["ordinary"],
        narrower=int(narrower.width),
        undone=narrower.mistakes / best.mistakes["ordinary"],
        thresholds=tables.own_widths(found["tuning"], held, last.n)[0],
    )


def effort(found, n):
    """Training with n images (`forms.growth`): minutes of Xu and Zhang's form with thresholds and of the ordinary one,
    on two cores, and the support vectors of the latter at the same width."""
    support = tables.at_the_end(found["growth"], n).set_index("form").support
    return SimpleNamespace(
        slow=tables.minutes(found["growth_times"], "Xu-Zhang", n),
        fast=tables.minutes(found["growth_times"], "ordinary", n),
        n_support=int(support["ordinary"]),
    )


# On small sets.


@cache
def on_sets():
    """`over_sets` of the published comparison."""
    return over_sets(comparison.compare(comparison.FULL))


def set_errors():
    """Error rates by set (rows) and method, of what validation chose."""
    return on_sets().rates


def set_svm():
    """{(form, thresholds): Difference} from the support vector machine, over the sets."""
    return on_sets().svm


def set_gaps():
    """{(form, thresholds): Difference} from one perceptron for all classes (the ordinary form), over the sets."""
    return on_sets().forms


def over_sets(found):
    """The comparison over the sets, from the tables of `comparison.compare`.

    rates: error rates by set and method. svm: each form minus the SVM, least the smallest, behind all in words; references:
    the same for every other method, ridge that of kernel ridge regression. forms: each form minus the ordinary one; apart
    their intervals in words.
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
        ridge=references["kernel ridge", "-"],
        forms=forms_apart,
        apart=intervals(forms_apart.values()) if tested else "…",
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
    """The average predictor against the final one, from the tables of `comparison.compare`: improved, the perceptrons with a
    predictor that is detectably better than the final one, each tuned for itself; linear, the change by averaging the linear
    perceptron; narrow {(form, thresholds): Difference} at the narrowest RBF width, of validation errors."""
    final = tables.against_final(found["errors"])
    return SimpleNamespace(
        improved={name[1] for name, each in final.items() if each.p < tables.statistics.ALPHA and each.estimate < 0},
        linear=final["average", "linear", "off"],
        narrow=tables.averages_at_narrowest(found["validation"]),
    )


def width_ratio(found):
    """Xu and Zhang's best width over the ordinary one on the same set, from tables of `comparison.compare`: the geometric
    mean without thresholds (ratio, low, high), and tests, a row for each hypothesis (tables.width_ratios)."""
    tests = tables.width_ratios(tables.widths_by_set(tables.width_curves(found["validation"])))
    return SimpleNamespace(tests=tests, **tests.iloc[0][["ratio", "low", "high"]])


# Verdicts on statements of the sources, whose text stands in statements.toml: (verdict, {name: value}) of each.


def verdict_simplest(problem):
    """No count decides, as the source names no measure of simplicity; counted on a `plane.Problem`."""
    X, y = problem.examples()
    support = len(problem.estimator(update="ordinary").fit(X, y).support_)
    return "undecided", {"examples": len(y), "dataset": problem.dataset, "support": support, "moved": 2 * len(y)}


def verdict_accuracy(gap):
    """No difference of perceptrons decides between support vector machines; gap: that of one-vs-all, the one-against-other,
    from the ordinary form, the all-together, both without thresholds."""
    return "undecided", {"difference": points(gap), "interval": interval(gap), "p": p_value(gap.p)}
