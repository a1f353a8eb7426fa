"""The numbers that the course page prints, a row for each, their other readings, and its statements with a verdict.

Their text is in statements.toml.

The example in space is that of the listing: s = 0.2, which stands last there, and 50 samples of each class. The example in
the plane has 100 samples of each class, and its generator is not printed: it is given the listing's. ours is the median over
n runs, low and high their 95 % range. The spread of the runs that the page shows is printed for neither, so that their
numbers are not compared. The page's numbers on its digits are shown next to ours on MNIST, at the width whose mean test
error is nearest to the page's; other images have other errors, and they are not compared either.
"""

import re

import numpy as np
import pandas as pd

from study import claims as ledger
from study.course import facts, tables
from study.course.experiment import (
    EXAMPLES,
    PAGE,
    PREFIX,
    PUBLISHED,
    WIDTHS,
    digits,
    listing,
    page,
    parity,
    steps,
)
from study.results import store

SOURCE = {"source": "Course page", "chapter": "course"}

LISTED = {inputs: {"s": 0.2, "n_per_class": n} for inputs, n in EXAMPLES.items()}
"""The settings of the two examples: s as the listing leaves it, the samples of each class of the text and of the listing."""


def claims():
    """Course page: its numbers beside ours; most are not comparable, because its data are not published.

    Modifications are compared with the median of our runs of the listing and the range of 95 % of them; errors and the
    confusion matrix with ours on MNIST images, at the width whose mean test error is nearest to the page's.
    """
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
    """Course page: its claims in words, each with a verdict computed from our numbers.

    Its definitions, identities and theorems are in the chapter and have no verdict.
    """
    found = {
        "error-reduced": facts.verdict_error_reduced(steps(PUBLISHED)),
        "learning-rate": facts.verdict_learning_rate(steps(PUBLISHED)),
        "linear-separability": facts.verdict_linear_separability(parity(PUBLISHED)),
    }
    return ledger.statement_rows("course", found, chapter="course")


def _facts():
    """Our value of the number that does not depend on chance."""
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
    """Our value of one number over many runs: key, the row, what varies in its interval if it has a length, explanation."""
    interval_of = varies.format(n=int(row["n"])) if row["low"] < row["high"] else ""
    return {"key": f"{PREFIX}{name}", **row, "interval_of": interval_of, "explanation": why}
