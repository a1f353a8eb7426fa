"""The numbers that the course page prints: one row for each, at the settings of its listing, the others as readings.

ours is the median over n runs or splits, low and high their 95 % range. The page's images are not published with it: what
it prints of them stands beside MNIST images, at the width whose mean test error is nearest to the page's.
"""

import numpy as np
import pandas as pd

from kp.output_codes import binary
from study import claims as ledger
from study.course import tables
from study.course.experiment import PAGE, PER_CLASS, PUBLISHED, digits, modifications, page

LISTED = {2: {"s": 0.2, "n_per_class": 100}, 3: {"s": 0.2, "n_per_class": 50}}
"""The settings of the two examples: s as the listing leaves it, the samples of each class of the text and of the listing."""

RATES = ("training_error", "test_error", "correct")
"""The numbers of the kernel example, printed with two decimals."""

FIXED = ("classes_2", "classes_3", "training_error", "test_error", "correct")
"""Numbers that cannot fail: 2^2 and 2^3, errors where the data separate, and the error that the width is chosen by."""

EXPLANATIONS = {
    "delta": "labels are +1 and -1, so y - sgn(w x) has size 2, by the page's own formula; its table has 1",
    "samples": "the text says it of the example in the plane; the listing, which draws 50, makes the one in space",
    "modifications": "one run at a spread that the page does not name, here s = 0.2 of the listing; our 95 % range holds "
    "the number at s = {spreads}",
    "count": "one run of the page, on images of its own",
}


def claims():
    """The rows of the ledger, twenty-four; see study.claims."""
    printed = pd.read_csv(PAGE, index_col="key", dtype={"published": str})
    rows = pd.DataFrame(_measured() | {key: _fixed(value) for key, value in _facts().items()}).T
    table = printed.join(rows).astype(dict.fromkeys(["published", "ours", "low", "high", "n", "percentile"], float))
    table["n"] = table["n"].astype(int)
    table["decimals"] = printed["published"].str.partition(".")[2].str.len()
    table.loc[[*RATES], "decimals"] = 2
    table["degenerate"] = table.index.isin(FIXED)
    table["key"] = _key(table.index)
    plain = ledger.rows(table.reset_index(drop=True), source="Course page", chapter="course").round(4)
    outside = plain["verdict"] == "outside"
    reasons = [_explanation(key) if out else "" for key, out in zip(table.index, outside, strict=True)]
    return plain.assign(explanation=reasons)


def readings():
    """The two numbers of modifications at other spreads, samples of each class and ways of counting; the errors of the
    digits at other widths and with binary codes; see study.claims."""
    spreads = _spreads()
    rows = []
    for row in spreads[spreads["eta"] == 1].to_dict("records"):
        listed = LISTED[row["inputs"]] | {"counted": "presentations"}
        if any(row[name] != value for name, value in listed.items()):
            reading = "s = {s:g}, {n_per_class} samples of each class, counting {counted}".format(**row)
            rows.append({"key": f"modifications_{row['inputs']}", "reading": reading} | row)
    found, number = digits(PUBLISHED), page()
    for (width, code), part in found["digits"].groupby(["width", "code"], sort=False):
        if (width, code) != (found["confusion"]["width"].iloc[0], "one-hot"):
            for key, errors in _rates(part).items():
                reading = f"sigma = {width:g} of the median distance, {code} codes"
                rows.append({"key": key, "reading": reading} | tables.summary(errors, number[key]))
    table = pd.DataFrame(rows).round(4)
    return table.assign(key=_key(table["key"]))[["key", "reading", "ours", "low", "high", "n", "percentile"]]


def _key(names):
    return "course-page/" + names.str.replace("_", "-")


def _spreads():
    numbers = {inputs: page()[f"modifications_{inputs}"] for inputs in LISTED}
    return tables.by_spread(modifications(PUBLISHED), numbers)


def _rates(part):
    """{key: values (splits,)} of the training and the test error of rows of experiment.digits."""
    return {f"{'training' if p == 'train' else p}_error": part[f"{p}_errors"] / part[f"n_{p}"] for p in ("train", "test")}


def _facts():
    """{key: value} of the numbers that no chance is part of."""
    classes = {f"classes_{inputs}": len(np.unique(binary(2**inputs), axis=0)) for inputs in LISTED}
    return classes | {"delta": abs(1 - np.sign(-0.5)), "samples": PER_CLASS[0]}


def _fixed(value):
    return {"ours": value, "low": value, "high": value, "n": 1, "percentile": np.nan}


def _measured():
    """{key: tables.summary} of the numbers that one run of the page gave."""
    number, rows = page(), {}
    spreads = tables.presented(_spreads()).set_index(["inputs", "s", "n_per_class"])
    for inputs, listed in LISTED.items():
        row = spreads.loc[(inputs, listed["s"], listed["n_per_class"])]
        rows[f"modifications_{inputs}"] = row[["ours", "low", "high", "n", "percentile"]].to_dict()
    found = digits(PUBLISHED)
    errors, confusion = found["digits"], found["confusion"]
    own = errors[(errors["code"] == "one-hot") & (errors["width"] == confusion["width"].iloc[0])]
    values = _rates(own)
    values["correct"] = 1 - values["test_error"]
    for key in number:
        part, _, cell = key.partition("_")
        if part in ("train", "test") and len(cell) == 3:
            true, read = cell.split("_")
            values[key] = confusion.loc[(confusion["part"] == part) & (confusion["true"] == int(true)), f"as_{read}"]
    return rows | {key: tables.summary(each, number[key]) for key, each in values.items()}


def _explanation(key):
    kind = key.partition("_")[0]
    text = EXPLANATIONS.get(kind, EXPLANATIONS["count"])
    if kind != "modifications":
        return text
    inputs = int(key[-1])
    return text.format(spreads=tables.listed(tables.fitting(_spreads(), {inputs: page()[key]})[inputs]))
