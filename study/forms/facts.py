"""Quantities of the comparison of forms on digits that texts quote; without arguments, those of all images of MNIST."""

from functools import cache
from types import SimpleNamespace

from study.forms import tables
from study.forms.experiment import equal, equal_settings


@cache
def results():
    """The tables and arrays of `experiment.equal`."""
    return equal(equal_settings("mnist"))


@cache
def errors():
    """{form: test error} of the average predictor with all images, Xu and Zhang's form under tables.WITHOUT and PRINTED."""
    return equal_terms(results()).errors


def gap(form, other):
    """The difference of the test errors of two forms with all images, in one order: one of `tables.pairs`."""
    return equal_terms(results()).gaps[form, other, "average"]


def equal_terms(found):
    """The forms on equal terms, from the tables and arrays of `experiment.equal`, by the average predictor.

    level: rows of tables.equal_rates of the forms without thresholds; by_size: their mean test errors, a row for each number
    of images, a column for each form. largest: rows of tables.largest_terms; n_most images; errors {form in words: test
    error} there. gaps: tables.pairs with the most images; first_gap: ordinary minus Xu and Zhang's, with the fewest. All
    are over the test images in the first order, by McNemar's test with Holm's correction. excess: Xu and Zhang's errors over
    the ordinary ones, by number of images; effort: the largest such ratio of mistakes in training.
    """
    rates = tables.equal_rates(found["equal"])
    level = tables.three_forms(rates)
    average = level[level["predictor"] == "average"]
    by_size = average.pivot(index="n", columns="form", values="error")
    made = average.pivot(index="n", columns="form", values="mistakes")
    largest = tables.in_words(tables.largest_terms(rates))
    few, most = (tables.pairs(found["arrays"][place]["wrong"]) for place in (0, -1))
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
        first_gap=few["ordinary", "Xu-Zhang, no threshold", "average"],
        excess=by_size["Xu-Zhang"] / by_size["ordinary"],
        effort=(made["Xu-Zhang"] / made["ordinary"]).max(),
    )


def widths(settings, found):
    """The forms by the width of their kernel, on validation images, from `experiment.tuning` with these settings.

    curves: rows of tables.by_width with the most images, n of them and n_validate; best: its row of the lowest error of each
    form; ratio: Xu and Zhang's best width over the ordinary one. borrowed: the rows at the width that suits the ordinary
    form, and longer: the ratio of mistakes there. thresholds: the difference of the validation errors of Xu and Zhang's form
    with and without thresholds, each at its own width, in the first order (McNemar).
    """
    last = settings[-1]
    curves = tables.by_width(tables.three_forms(found["tuning"]), last.n)
    best = curves.loc[curves.groupby("form")["error"].idxmin()].set_index("form")
    borrowed = curves[curves["width"] == best.width["ordinary"]].set_index("form")
    held = {part.n: each["wrong"] for part, each in zip(settings, found["arrays"], strict=True)}
    return SimpleNamespace(
        curves=curves,
        n=last.n,
        n_validate=last.n_validate,
        best=best,
        ratio=best.width["Xu-Zhang"] / best.width["ordinary"],
        borrowed=borrowed,
        borrowed_error=borrowed.error["Xu-Zhang"],
        own_error=borrowed.error["ordinary"],
        longer=borrowed.mistakes["Xu-Zhang"] / borrowed.mistakes["ordinary"],
        thresholds=tables.own_widths(found["tuning"], held, last.n)[0],
    )


def effort(found, n):
    """Training with n images (`experiment.growth`): minutes of Xu and Zhang's form with thresholds and of the ordinary one,
    on two cores, and the support vectors of the latter at the same width."""
    support = tables.at_the_end(found["errors"], n).set_index("form").support
    return SimpleNamespace(
        slow=tables.minutes(found["times"], "Xu-Zhang", n),
        fast=tables.minutes(found["times"], "ordinary", n),
        n_support=int(support["ordinary"]),
    )
