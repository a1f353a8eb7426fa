"""The numbers that the course page prints, a row for each, their other readings, and its statements with a verdict.

Words stand in statements.toml.

The example in space is that of the listing: s = 0.2, which stands last there, and 50 samples of each class. The example in
the plane has 100 samples of each class, and its generator is not printed: it is given the listing's. ours is the median over
n runs, low and high their 95 % range. The spread of the runs that the page shows is printed for neither, so that their
numbers are not compared. The page's numbers on its digits are shown next to ours on MNIST, at the width whose mean test
error is nearest to the page's; other images have other errors, and they are not compared either.
"""

import re

import numpy as np
import pandas as pd

from kp.delta_rule import DeltaRulePerceptron
from study import claims as ledger
from study import statistics
from study.course import facts, tables
from study.course.experiment import (
    EXAMPLES,
    HIDDEN,
    PAGE,
    PREFIX,
    PUBLISHED,
    WIDTHS,
    digits,
    gaussian_classes,
    listing,
    page,
    parity,
    steps,
)
from study.results import store
from study.words import number, percent

SOURCE = {"source": "Course page", "chapter": "course"}

LISTED = {inputs: {"s": 0.2, "n_per_class": n} for inputs, n in EXAMPLES.items()}
"""The settings of the two examples: s as the listing leaves it, the samples of each class of the text and of the listing."""


def claims():
    """The rows of the ledger; see study.claims."""
    ours = pd.DataFrame([*_facts(), *_modifications(), *_digits()])
    found = ledger.rows(ledger.beside(store.published(PAGE), ours), **SOURCE).round(4)
    told = found["verdict"].isin(["outside", "not comparable"])
    return found.assign(explanation=found["explanation"].where(told, ""))


def readings():
    """The two numbers of modifications at other spreads, samples of each class, learning rates and ways of counting, and as
    the listing stands, with one-hot codes; see study.claims."""
    rows = []
    for row in facts.spreads(PUBLISHED).table.to_dict("records"):
        base = LISTED[row["inputs"]] | {"counted": "presentations", "eta": 1}
        if any(row[name] != value for name, value in base.items()):
            reading = "s = {s:g}, {n_per_class} samples of each class, counting {counted}".format(**row)
            reading += "" if row["eta"] == 1 else ", η = 1/2 (eq. 38)"
            rows.append({"key": f"{PREFIX}modifications-{row['inputs']}", "reading": reading} | row)
    literal_runs = listing(PUBLISHED)
    number = page()["modifications-3"]
    for s, part in literal_runs.groupby("s"):
        ended = part[part["converged"]]
        for counted, column in (("presentations", "modifications"), ("weight vectors", "weight_vectors")):
            reading = f"the listing as printed, onehot = 1 with eight outputs, s = {s:g}, counting {counted}"
            rows.append({"key": f"{PREFIX}modifications-3", "reading": reading} | tables.summary(ended[column], number))
    table = pd.DataFrame(rows).round(4)
    return table[["key", "reading", "ours", "low", "high", "n", "percentile"]]


def statements():
    """The page's theses, with a verdict that follows from numbers; see study.claims.

    Its definitions, identities and theorems are in the chapter and have no verdict.
    """
    found = {
        f"{PREFIX}error-reduced": error_reduced(steps(PUBLISHED)),
        f"{PREFIX}learning-rate": learning_rate(steps(PUBLISHED)),
        f"{PREFIX}linear-separability": linear_separability(parity(PUBLISHED)),
    }
    return ledger.statement_rows("course", found, chapter="course")


def _facts():
    """Ours of the number that no chance is part of."""
    why = ledger.explanations("course")["delta"]
    return [{"key": f"{PREFIX}delta", **ledger.exactly(abs(1 - np.sign(-0.5))), "n": 1, "explanation": why}]


def _modifications():
    """Ours of the two numbers of modifications."""
    spreads = facts.spreads(PUBLISHED)
    varies = "95 % of the runs that separate: data, first weights and order vary; {n:,} runs"
    for inputs, listed_as in LISTED.items():
        name = f"modifications-{inputs}"
        row = spreads.of.loc[(inputs, listed_as["n_per_class"], listed_as["s"])]
        fits = spreads.fits[inputs, EXAMPLES[inputs]]
        why = ledger.explanations("course")[name].format(first=fits[0], last=fits[-1])
        yield _varying(name, row[["ours", "low", "high", "n", "percentile"]].to_dict(), varies, why)


def _digits():
    """Ours of the results of the kernel example, on our images and without a percentile."""
    errors, confusion = digits(PUBLISHED).values()
    own = errors[(errors["code"] == "one-hot") & (errors["width"] == confusion["width"].iloc[0])]
    test = own["test_errors"] / own["n_test"]
    values = {"training-error": own["train_errors"] / own["n_train"], "test-error": test, "correct": 1 - test}
    for name in page():
        if cell := re.fullmatch("(train|test)-([0-9])-([0-9])", name):
            part, true, read = cell.groups()
            values[name] = confusion.loc[(confusion["part"] == part) & (confusion["true"] == int(true)), f"as_{read}"]
    varies = "95 % of random halves of 2,240 MNIST images, and orders; {n:,} splits"
    why = ledger.explanations("course")["images"].format(n=len(WIDTHS))
    for name, each in values.items():
        row = tables.summary(each) | {"percentile": np.nan, "choices": len(WIDTHS)}
        yield _varying(name, row, varies, why)


def _varying(name, row, varies, why):
    """Ours of one number over many runs: key, the row, what its interval is of if it has any length, explanation."""
    interval_of = varies.format(n=int(row["n"])) if row["low"] < row["high"] else ""
    return {"key": f"{PREFIX}{name}", **row, "interval_of": interval_of, "explanation": why}


def error_reduced(runs):
    """(verdict, values): whether every modification corrects the sample presented, and none makes more samples wrong."""
    found = facts.effects(runs)
    shares = {name: percent(getattr(found, name), 1) for name in ("corrected", "fell", "rose")}
    verdict = ledger.of_parts([found.corrected, found.rose == 0])
    return verdict, {"modifications": number(found.modifications)} | shares


def learning_rate(runs):
    """(verdict, values): whether the learning rate absorbs the constant 2, from weights of 0 and from random ones."""
    X, y = gaussian_classes(2, n_per_class=EXAMPLES[2], s=0.3, random_state=0)
    one, half = (DeltaRulePerceptron(code="binary", eta0=e, initial_scale=0, random_state=1).fit(X, y) for e in (1.0, 0.5))
    same = np.array_equal(one.mistakes_[0].step, half.mistakes_[0].step)
    scaled = same and np.array_equal(one.weights(), 2 * half.weights())
    tests = tables.rate_differences(runs)
    moved = sum(each.p < statistics.ALPHA for each in tests.values())
    widest = max(tests.values(), key=lambda each: abs(each.estimate))
    verdict = ("holds in part" if moved else "cannot be told") if scaled else "does not hold"
    values = {"moved": moved, "settings": len(tests), "largest": number(widest.estimate, 2)}
    return verdict, values | {"low": number(widest.low, 2), "high": number(widest.high, 2)}


def linear_separability(runs):
    """(verdict, values): whether kernels and layers learn classes that no plane separates."""
    linear, kernel, network = ((runs[column] == 0).mean() for column in ("linear", "kernel", "network"))
    verdict = "cannot be told" if runs["separable"].any() else ledger.of_parts([min(kernel, network)])
    values = {"separable": percent(runs["separable"].mean(), 0), "draws": len(runs), "hidden": HIDDEN}
    shares = {"linear": percent(linear, 0), "kernel": percent(kernel, 1), "network": percent(network, 1)}
    return verdict, values | shares
