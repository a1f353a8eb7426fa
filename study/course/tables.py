"""Tables of the course page's chapter: its codes, its runs, and summaries of what study.course.experiment measures.

Symbols: n samples, d inputs, C classes, m outputs, code (C, m) of +-1, f (n, m) outputs, s standard deviation of a class.
"""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd

from kp.codes import binary, class_scores, one_hot
from study import statistics
from study.claims import percentile
from study.words import styled


def fractions(widths):
    """Widths as fractions, such as "1/16"."""
    return [str(Fraction(width)) for width in widths]


def signed(row):
    """A row of whole numbers as text with signs, such as "+1 −1 0"."""
    return " ".join(f"{int(value):+d}" if value else "0" for value in row).replace("-", "−")


def expanded(counts):
    """The modifications (runs,) of a table of counts, one for each run; NaN where a run did not separate the classes."""
    return np.repeat(counts["modifications"].to_numpy(float), counts["runs"])


def summary(values, published=np.nan):
    """{ours: median, low, high: 95 % range, n, percentile of the published number, 0 to 1} of values, NaN left out."""
    values = np.asarray(values, dtype=float)
    values = values[~np.isnan(values)]
    if not len(values):
        return {"ours": np.nan, "low": np.nan, "high": np.nan, "n": 0, "percentile": np.nan}
    low, ours, high = np.quantile(values, [0.025, 0.5, 0.975])
    return {"ours": ours, "low": low, "high": high, "n": len(values), "percentile": percentile(values, published)}


def by_spread(counts, published):
    """A row for each inputs, n_per_class, s, eta and way of counting: `summary`, and separated, the share of runs that end.

    published: {inputs: number}.
    """
    rows = []
    for key, part in counts.groupby(["inputs", "n_per_class", "s", "eta", "counted"]):
        values = expanded(part)
        names = dict(zip(["inputs", "n_per_class", "s", "eta", "counted"], key, strict=True))
        separated = np.mean(~np.isnan(values))
        rows.append(names | summary(values, published[key[0]]) | {"separated": separated})
    return pd.DataFrame(rows)


def by_width(errors):
    """A row for each code and width: the `summary` of the test error over splits, and separated, the share of splits without
    training errors."""
    rows = []
    for (code, width), part in errors.groupby(["code", "width"], sort=False):
        names = {"code": code, "width": width, "separated": part["converged"].mean()}
        rows.append(names | summary(part["test_errors"] / part["n_test"]))
    return pd.DataFrame(rows)


def codes_table(n_classes):
    """Both code matrices as the page prints them (eq. 40): a row for each output, a column for each class, from 1."""
    rows = [
        [name, f"$y_{i}$", *(signed([sign]) for sign in column)]
        for name, make in (("one-hot", one_hot), ("binary", binary))
        for i, column in enumerate(make(n_classes).T, start=1)
    ]
    return pd.DataFrame(rows, columns=["encoding", "output", *(f"class {c}" for c in range(1, n_classes + 1))])


def decoding_table(f, code):
    """Outputs f (n, m) decoded by code (C, m): outputs, their signs, the class whose code matches them (or "none"), the
    class of the highest score. Classes count from 1."""
    f = np.asarray(f, dtype=float)
    same = (np.sign(f)[:, None] == code).all(axis=2)
    return pd.DataFrame({
        "outputs": [", ".join(f"{value:.1f}" for value in row).replace("-", "−") for row in f],
        "signs": [signed(row) for row in np.sign(f)],
        "matching": [str(row.argmax() + 1) if row.any() else "none" for row in same],
        "decoded": class_scores(f.T, code).argmax(axis=1) + 1,
    })  # fmt: skip


def presented(spreads):
    """The rows of `by_spread` for eta = 1 that count presentations."""
    return spreads[(spreads["eta"] == 1) & (spreads["counted"] == "presentations")]


def fitting(spreads, published):
    """{(inputs, n_per_class): the s at which the 95 % range of the runs that separate holds the published number}.

    published: {inputs: number}."""
    rows = presented(spreads)
    inside = rows["inputs"].map(published).between(rows["low"], rows["high"])
    return {key: sorted(part.loc[inside[part.index], "s"]) for key, part in rows.groupby(["inputs", "n_per_class"])}


def steps_table(steps):
    """A row for each example and s of experiment.steps with eta = 1: runs, modifications (of all runs), and the shares of
    them after which all outputs are right on the sample presented (corrected), and after which fewer, as many and more
    samples are wrong than before (fell, stayed, rose)."""
    groups = steps[steps["eta"] == 1].groupby(["inputs", "s"])
    sums = groups[["modifications", "corrected", "fell", "rose"]].sum()
    sums.insert(0, "runs", groups.size())
    shares = sums[["corrected", "fell", "rose"]].div(sums["modifications"], axis=0)
    shares.insert(2, "stayed", 1 - shares["fell"] - shares["rose"])
    return pd.concat([sums[["runs", "modifications"]], shares], axis=1).reset_index()


def rate_differences(steps):
    """{(inputs, s): Difference}: modifications with eta = 1/2 less those with eta = 1, from the same weights, over the runs
    that separate with both; Student's t, Holm over all."""
    found = {}
    for key, part in steps.groupby(["inputs", "s"]):
        both = part[part["converged"]].pivot(index="run", columns="eta", values="modifications").dropna()
        found[key] = paired(both[0.5] - both[1.0], varies="runs")
    return statistics.holm(found)


def paired(differences, *, varies):
    """statistics.student; fewer than two differences allow no conclusion: an infinite interval, p = 1."""
    if len(differences) > 1:
        return statistics.student(differences, varies=varies)
    return statistics.Difference(np.sum(differences), -np.inf, np.inf, 1.0, len(differences), varies, "none")


def code_differences(runs):
    """(separated, error), each {(inputs, s): Difference} of binary less one-hot codes on the same data of experiment.codes:
    the share of runs that separate (McNemar's test over the runs) and the test error (Student's t over the runs), Holm over
    all spreads and inputs of each."""
    separated = {}
    error = {}
    for key, part in runs.assign(error=runs["test_errors"] / runs["n"]).groupby(["inputs", "s"]):
        wide = part.pivot(index="run", columns="code", values=["converged", "error"])
        ended = wide["converged"].astype(bool)
        separated[key] = replace(statistics.mcnemar(ended["binary"], ended["one-hot"]), varies="runs")
        error[key] = paired((wide["error"]["binary"] - wide["error"]["one-hot"]).astype(float), varies="runs")
    return statistics.holm(separated), statistics.holm(error)


def width_differences(errors):
    """{width: Difference} of the test errors of binary less one-hot codes on the same splits of experiment.digits, tested
    with the correction for overlapping splits, Holm over the widths."""
    found = {}
    for width, part in errors.assign(error=errors["test_errors"] / errors["n_test"]).groupby("width"):
        wide = part.pivot(index="split", columns="code", values="error")
        share = part["n_test"].iloc[0] / part["n_train"].iloc[0]
        difference = (wide["binary"] - wide["one-hot"]).to_numpy()
        enough = len(difference) > 1
        found[width] = statistics.resampled(difference, test_share=share) if enough else paired(difference, varies="splits")
    return statistics.holm(found)


def by_verdict(differences):
    """{"lower", "higher", "tie"}: the keys of {key: Difference} by the result of their tests, in their order."""
    words = {key: each.word("lower", "higher", "tie") for key, each in differences.items()}
    return {word: [key for key, found in words.items() if found == word] for word in ("lower", "higher", "tie")}


def any_output(errors):
    """The errors (runs,) of experiment.digits as the page's listing counts them: test images wrong in any output.

    These are the misclassified images, and the images that match no code but are classified correctly all the same.
    """
    return errors["test_errors"] + errors["unmatched"] - errors["unmatched_errors"]


def nearest_split(confusion, error):
    """(split, train, test): the split whose test error is nearest to `error`, and its two confusion matrices (10, 10).

    confusion is a table of experiment.confusion_table; of equally near splits the first is taken.
    """
    gaps = {}
    for split, part in confusion[confusion["part"] == "test"].groupby("split"):
        matrix = _matrix(part)
        gaps[split] = abs(1 - np.trace(matrix) / matrix.sum() - error)
    split = min(gaps, key=gaps.get)
    own = confusion[confusion["split"] == split]
    return split, *(_matrix(own[own["part"] == part]) for part in ("train", "test"))


def _matrix(rows):
    return rows.sort_values("true").filter(like="as_").to_numpy()


def numbers_table(ledger):
    """The rows of the ledger with the entries of eq. 45 in one: item, number, page, recomputed, low, high, n and verdict."""
    matrix = ledger["item"].str.startswith("Eq. 45")
    shown = ledger.loc[~matrix, ["item", "quantity", "published", "ours", "low", "high", "n", "verdict"]]
    (verdict,) = ledger.loc[matrix, "verdict"].unique()
    entries = {"item": "Eq. 45", "quantity": f"{matrix.sum()} legible entries", "n": ledger.loc[matrix, "n"].iloc[0]}
    rows = pd.concat([shown, pd.DataFrame([entries | {"verdict": verdict}])], ignore_index=True)
    columns = {"published": "page", "ours": "recomputed", "low": "95 % from", "high": "to"}
    return styled(rows.rename(columns=columns), {"n": ","})
