"""Quantities of the course page's examples that the text quotes, for a run's settings (by default experiment.PUBLISHED).

Two and three inputs stand for the examples in the plane and in space, with four and eight classes. Runs differ in data,
first weights and order; a range holds the middle 95 % of them. Splits are random halves of the digits.
"""

from functools import cache
from types import SimpleNamespace

import numpy as np

from kp.delta_rule import DeltaRulePerceptron
from study import statistics
from study.claims import of_parts
from study.course import experiment, tables
from study.course.experiment import EXAMPLES, HIDDEN, gaussian_classes
from study.words import listed, number, percent


@cache
def printed():
    """{inputs: modifications} that the page prints."""
    page = experiment.page()
    return {inputs: int(page[f"modifications-{inputs}"]) for inputs in EXAMPLES}


def effects(steps):
    """Single modifications at η = 1, from the table of `experiment.steps`, over all runs of both examples: their number; the
    shares of corrected ones, after which all outputs are right on the sample presented, and of those after which fewer
    (fell) or more samples (rose) are wrong than before."""
    own = steps[steps["eta"] == 1]
    sums = own[["modifications", "corrected", "fell", "rose"]].sum()
    shares = sums[["corrected", "fell", "rose"]] / sums["modifications"]
    return SimpleNamespace(modifications=sums["modifications"], **shares)


@cache
def spreads(settings):
    """How many modifications a run needs, by the spread s of the classes: table (`tables.by_spread`); of, its rows of
    presentations at η = 1 by inputs, samples of each class, and s; fits, the s at which the printed number lies in the
    range, by inputs and samples of each class; both, those of both examples, and in words common."""
    table = tables.by_spread(experiment.modifications(settings), printed())
    fits = tables.fitting(table, printed())
    both = sorted(set.intersection(*(set(fits[example]) for example in EXAMPLES.items())))
    return SimpleNamespace(
        table=table, of=tables.presented(table).set_index(["inputs", "n_per_class", "s"]), fits=fits, both=both,
        common=listed((f"{each:g}" for each in both), "or", none="none that we tried"),
    )  # fmt: skip


@cache
def listing(settings):
    """The listing as it is printed, at the spread where it is left: ended, the share of runs that separate the classes;
    could, of those that planes separate; n_separable of these, of which n_later are separated if it runs on."""
    runs = experiment.listing(settings)
    own = runs[runs["s"] == 0.2]
    separable = own[own["separable"]]
    return SimpleNamespace(
        ended=own["converged"].mean(), could=own["separable"].mean(), n_separable=len(separable),
        n_later=int(separable["later"].sum()),
    )  # fmt: skip


@cache
def codes(settings):
    """Binary minus one-hot codes on the same data, by inputs and spread: separated, of the shares of runs that separate
    (McNemar's test over runs), of which higher are the detected gains; error, of the test errors (Student's t over runs);
    Holm over all of each. gain: separated at its largest; four, eight: error where classes overlap; close: where
    they hardly do."""
    separated, error = tables.code_differences(experiment.codes(settings))
    return SimpleNamespace(
        separated=separated, higher=tables.by_verdict(separated)["higher"], error=error, gain=separated[2, 0.3],
        four=error[2, 0.5], eight=error[3, 0.5],
        close=[error[key] for key in ((2, 0.2), (2, 0.3), (3, 0.1), (3, 0.2))],
    )  # fmt: skip


@cache
def digits(settings):
    """Both codes on digits, by the width of the kernel: errors, rows of splits; by_width (`tables.by_width`), and hot, of it
    the rows of one-hot codes.

    best: the row of the lowest error in hot, at the width in_words; at_best: binary minus one-hot codes there, and n_higher:
    at how many widths that is detected (corrected resampled t over splits, Holm). page: the page's error, and ordinary, the
    rows of hot whose range holds it. unmatched, any_output: at the best width the share of test images that match no code,
    and the median error if any wrong output counts. confusions: of the training and the test half, at the width
    confused_at, of the split whose error is nearest to the page's.
    """
    errors, confusion = experiment.digits(settings).values()
    by_width = tables.by_width(errors)
    hot = by_width[by_width["code"] == "one-hot"].set_index("width")
    best = hot.loc[hot["ours"].idxmin()]
    differences = tables.width_differences(errors)
    page = experiment.page()["test-error"]
    own = errors[(errors["code"] == "one-hot") & (errors["width"] == best.name)]
    return SimpleNamespace(
        errors=errors, page=page, confusions=tables.nearest_split(confusion, page)[1:],
        confused_at=tables.fractions(confusion["width"][:1])[0],
        by_width=by_width, hot=hot, best=best, in_words=tables.fractions([best.name])[0], at_best=differences[best.name],
        n_higher=len(tables.by_verdict(differences)["higher"]), ordinary=hot[hot["low"].le(page) & hot["high"].ge(page)],
        unmatched=own["unmatched"].sum() / own["n_test"].sum(),
        any_output=(tables.any_output(own) / own["n_test"]).median(),
    )  # fmt: skip


# Verdicts on statements of the sources, whose text stands in statements.toml: (verdict, {name: value}) of each.


def verdict_error_reduced(runs):
    """(verdict, values): whether every modification corrects the sample presented, and none makes more samples wrong."""
    found = effects(runs)
    shares = {name: percent(getattr(found, name), 1) for name in ("corrected", "fell", "rose")}
    verdict = of_parts([found.corrected, found.rose == 0])
    return verdict, {"modifications": number(found.modifications)} | shares


def verdict_learning_rate(runs):
    """(verdict, values): whether the learning rate absorbs the constant 2, from weights of 0 and from random ones."""
    X, y = gaussian_classes(2, n_per_class=EXAMPLES[2], s=0.3, random_state=0)
    one, half = (DeltaRulePerceptron(code="binary", eta0=e, initial_scale=0, random_state=1).fit(X, y) for e in (1.0, 0.5))
    same = np.array_equal(one.mistakes_[0].step, half.mistakes_[0].step)
    scaled = same and np.array_equal(one.weights(), 2 * half.weights())
    tests = tables.rate_differences(runs)
    moved = sum(each.p < statistics.ALPHA for each in tests.values())
    widest = max(tests.values(), key=lambda each: abs(each.estimate))
    verdict = ("holds in part" if moved else "undecided") if scaled else "does not hold"
    values = {"moved": moved, "settings": len(tests), "largest": number(widest.estimate, 2)}
    return verdict, values | {"low": number(widest.low, 2), "high": number(widest.high, 2)}


def verdict_linear_separability(runs):
    """(verdict, values): whether kernels and layers learn classes that no plane separates."""
    linear, kernel, network = ((runs[column] == 0).mean() for column in ("linear", "kernel", "network"))
    verdict = "undecided" if runs["separable"].any() else of_parts([min(kernel, network)])
    values = {"separable": percent(runs["separable"].mean(), 0), "draws": len(runs), "hidden": HIDDEN}
    shares = {"linear": percent(linear, 0), "kernel": percent(kernel, 1), "network": percent(network, 1)}
    return verdict, values | shares
