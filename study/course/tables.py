"""Tables of the course page's chapter: its codes, its runs, and summaries of what study.course.experiment measures.

Symbols: n samples, d inputs, C classes, m outputs, code (C, m) of +-1, f (n, m) outputs, s standard deviation of a class.
"""

from fractions import Fraction

import numpy as np
import pandas as pd
from scipy.stats import norm

from kp.output_codes import binary, class_scores, one_hot
from study.claims import percentile

MATRICES = {"one-hot": one_hot, "binary": binary}


def listed(values, nothing="none"):
    """Texts or numbers as "a, b and c"; `nothing` where there are none."""
    texts = [value if isinstance(value, str) else f"{value:g}" for value in values]
    return " and ".join(filter(None, [", ".join(texts[:-1]), *texts[-1:]])) or nothing


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


def by_width(errors, published):
    """A row for each code and width: `summary` of the test error, separated (share of splits without training errors),
    epochs and mistakes (medians), unmatched (share of test images that match no code)."""
    rows = []
    for (code, width), part in errors.groupby(["code", "width"], sort=False):
        of_error = summary(part["test_errors"] / part["n_test"], published)
        more = {
            "separated": part["converged"].mean(),
            "epochs": part["epochs"].median(),
            "mistakes": part["mistakes"].median(),
            "unmatched": part["unmatched"].sum() / part["n_test"].sum(),
        }
        rows.append({"code": code, "width": width} | of_error | more)
    return pd.DataFrame(rows)


def codes_table(n_classes):
    """Both code matrices as the page prints them (eq. 40): a row for each output, a column for each class, from 1."""
    rows = [
        [name, f"$y_{i}$", *(signed([sign]) for sign in column)]
        for name, make in MATRICES.items()
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


def run_table(X, y, model):
    """A row for each modification of a DeltaRulePerceptron fitted on X (n, d) with labels y (n,) from 0.

    Columns: modification, presentation and class, which count from 1; code of the class; delta of the outputs; wrong, the
    samples wrong in any output afterwards; change of that number.
    """
    log, W = model.mistakes_, model.initial_weights_
    first = (np.sign(W[:, 0] + X @ W[:, 1:].T) != model.code_[y]).any(axis=1).sum()
    return pd.DataFrame({
        "modification": np.arange(len(log)) + 1,
        "presentation": log.step + 1,
        "class": y[log.example] + 1,
        "code": [signed(row) for row in model.code_[y[log.example]]],
        "delta": [signed(row) for row in log.delta],
        "wrong": log.errors,
        "change": np.diff(log.errors, prepend=first),
    })  # fmt: skip


def presented(spreads):
    """The rows of `by_spread` for eta = 1 that count presentations."""
    return spreads[(spreads["eta"] == 1) & (spreads["counted"] == "presentations")]


def spreads_table(spreads):
    """Of those rows a table with a row for each s and n_per_class, and for each number of inputs: separated, median and 95 %
    range of the modifications as text, percentile of the page's number."""
    parts = []
    for inputs, part in presented(spreads).groupby("inputs"):
        part = part.sort_values(["s", "n_per_class"]).set_index(["s", "n_per_class"])
        some = part["n"] > 0
        texts = [f"{row.ours:g} ({row.low:.0f} to {row.high:.0f})" for row in part[some].itertuples()]
        parts.append(pd.DataFrame({
            f"separated, {2**inputs}": part["separated"],
            f"modifications, {2**inputs}": pd.Series(texts, index=part.index[some]).reindex(part.index),
            f"percentile, {2**inputs}": part["percentile"],
        }))  # fmt: skip
    return pd.concat(parts, axis=1).reset_index()


def fitting(spreads, published):
    """{inputs: the s, of either n_per_class, at which the 95 % range holds the published number {inputs: number}}."""
    rows = presented(spreads)
    inside = rows[rows["inputs"].map(published).between(rows["low"], rows["high"])]
    return {d: sorted(inside.loc[inside["inputs"] == d, "s"].unique()) for d in published}


def planes_table(spreads, *, n_per_class=50):
    """How far the planes that part the codes best lie from the corners of the cube, and the samples expected beyond them.

    Columns: inputs, code, distance, and one for each s. Binary codes: the d middle planes, at distance 1 from every corner.
    One-hot codes: a plane for each corner, half way to the plane of its d neighbours, at distance 1 / sqrt(d) from both. Of
    the samples of a corner at distance r the share Phi(-r / s) is expected beyond a plane; samples count once for each
    output, the corners further from a one-hot plane (at 3 / sqrt(d) or more) not at all.
    """
    rows = []
    for d in (2, 3):
        for code, distance, corners in (("one-hot", d**-0.5, 2**d * (1 + d)), ("binary", 1.0, 2**d * d)):
            expected = {f"s = {s:g}": corners * n_per_class * norm.sf(distance / s) for s in spreads}
            rows.append({"inputs": d, "code": code, "distance": distance} | expected)
    return pd.DataFrame(rows)


def any_output(errors):
    """The errors (runs,) of experiment.digits as the page's listing counts them: test images wrong in any output.

    These are the images read wrongly, and those that match no code but are read rightly all the same.
    """
    return errors["test_errors"] + errors["unmatched"] - errors["unmatched_errors"]


def widths_table(errors, published):
    """A row for each width; for each code its test error (median and 95 % range as text), the percentile of the published
    one, and any, the median error when any wrong output counts."""
    rows, parts = by_width(errors, published), []
    rates = any_output(errors) / errors["n_test"]
    for code, part in rows.groupby("code", sort=False):
        own = errors["code"] == code
        parts.append(pd.DataFrame({
            f"{code} error": [f"{row.ours:.1%} ({row.low:.1%} to {row.high:.1%})" for row in part.itertuples()],
            f"{code} percentile": part["percentile"].to_numpy(),
            f"{code} any": rates[own].groupby(errors.loc[own, "width"]).median().loc[part["width"]].to_numpy(),
        }, index=part["width"].to_numpy()))  # fmt: skip
    return pd.concat(parts, axis=1).rename_axis("width").reset_index()


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


def commonest(confusion, *, k=3):
    """The k commonest confusions of test images over all splits: true, read, and images, the mean number in a split."""
    test = confusion[confusion["part"] == "test"].groupby("true").sum(numeric_only=True).filter(like="as_").to_numpy()
    counts = test / confusion["split"].nunique()
    np.fill_diagonal(counts, -1)
    order = np.argsort(-counts, axis=None, kind="stable")[:k]
    true, read = np.unravel_index(order, counts.shape)
    return pd.DataFrame({"true": true, "read": read, "images": counts[true, read]})


def readings_table(readings, ledger):
    """The verdicts of readings (study.claims.readings_rows), counted for each published number of the ledger.

    Columns: number, published, readings, exact, within, outside.
    """
    counts = readings.groupby("key", sort=False)["verdict"].value_counts().unstack(fill_value=0)
    counts = counts.reindex(columns=["exact", "within", "outside"], fill_value=0)
    named = ledger.set_index("key").loc[counts.index, ["quantity", "published"]].rename(columns={"quantity": "number"})
    return named.assign(readings=counts.sum(axis=1)).join(counts).reset_index(drop=True)
