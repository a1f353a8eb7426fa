"""The numbers that the course page prints, a row for each, their other readings, and its statements with a verdict.

The example in space is that of the listing: s = 0.2, which stands last there, and 50 samples of each class. The example in
the plane has 100 samples of each class, and its generator is not printed: it is given the listing's. ours is the median over
n runs, low and high their 95 % range. What the page prints of its digits stands beside MNIST images, at the width whose mean
test error is nearest to the page's; other images have other errors, so that no verdict is given.
"""

import numpy as np
import pandas as pd

from kp.delta_rule import DeltaRulePerceptron
from kp.output_codes import binary, one_hot
from study import claims as ledger
from study import literal, statistics
from study.course import tables
from study.course.experiment import (
    EXAMPLES,
    PAGE,
    PRESENTATIONS,
    PRESENTATIONS_MORE,
    PUBLISHED,
    WIDTHS,
    delta_rule_run,
    digits,
    gaussian_classes,
    listing,
    modifications,
    page,
    parity,
    steps,
)
from study.report.display import listed

SOURCE = {"source": "Course page", "chapter": "course"}

LISTED = {inputs: {"s": 0.2, "n_per_class": n} for inputs, n in EXAMPLES.items()}
"""The settings of the two examples: s as the listing leaves it, the samples of each class of the text and of the listing."""

RATES = ("training_error", "test_error", "correct")
"""The numbers of the kernel example; the two that are rates have two decimals."""

IMAGES = "the page's images and the width of its kernel are not published; ours are MNIST images, at the one of {n} "
IMAGES += "widths whose mean test error is nearest to the page's"

EXPLANATIONS = {
    "delta": "a slip of the page: labels are +1 and -1, so that y - sgn(w x) has size 2 by its own formula",
    "modifications_2": "the page prints neither the spread of this example nor its generator; with the listing's s = 0.2 no "
    "run of {n:,} needs more than {most:g}; the 95 % range of the runs that separate, at 100 samples of each class, holds "
    "the number at s = {spreads}",
    "modifications_3": "with the spread of the listing, s = 0.2, and codes of three outputs no run of {n:,} needs more than "
    "{most:g}; the 95 % range of the runs that separate, at 50 samples of each class, holds the number at s = {spreads}",
}


def claims():
    """The rows of the ledger; see study.claims."""
    printed = pd.read_csv(PAGE, index_col="key", dtype={"published": str})
    rows = pd.DataFrame(_facts() | _modifications() | _digits()).T
    table = printed.join(rows, validate="one_to_one")
    of_digits = [key for key in table.index if _of_digits(key)]
    table = table.astype(dict.fromkeys(["published", "ours", "low", "high", "n", "percentile"], float))
    table["n"] = table["n"].astype(int)
    table["decimals"] = printed["published"].str.partition(".")[2].str.len()
    table["degenerate"] = table.index.str.startswith("classes")
    table["comparable"] = ~table.index.isin(of_digits)
    table["same_data"] = table.index.isin(_facts())
    table["choices"] = np.where(table["comparable"], 1, len(WIDTHS))
    table["interval_of"] = _varies(table)
    table["key"] = _key(table.index)
    plain = ledger.rows(table.reset_index(drop=True), **SOURCE).round(4)
    silent = plain["verdict"].isin(["exact", "within", "degenerate"])
    reasons = ["" if good else _explanation(key) for key, good in zip(table.index, silent, strict=True)]
    return plain.assign(explanation=reasons)


def readings():
    """The two numbers of modifications at other spreads, samples of each class, learning rates and ways of counting, and as
    the listing stands, with one-hot codes; see study.claims."""
    rows = []
    for row in _spreads().to_dict("records"):
        base = LISTED[row["inputs"]] | {"counted": "presentations", "eta": 1}
        if any(row[name] != value for name, value in base.items()):
            reading = "s = {s:g}, {n_per_class} samples of each class, counting {counted}".format(**row)
            reading += "" if row["eta"] == 1 else ", η = 1/2 (eq. 38)"
            rows.append({"key": f"modifications_{row['inputs']}", "reading": reading} | row)
    literal_runs, number = listing(PUBLISHED), page()["modifications_3"]
    for s, part in literal_runs.groupby("s"):
        ended = part[part["converged"]]
        for counted, column in (("presentations", "modifications"), ("weight vectors", "weight_vectors")):
            reading = f"the listing as printed, onehot = 1 with eight outputs, s = {s:g}, counting {counted}"
            rows.append({"key": "modifications_3", "reading": reading} | tables.summary(ended[column], number))
    table = pd.DataFrame(rows).round(4)
    return table.assign(key=_key(table["key"]))[["key", "reading", "ours", "low", "high", "n", "percentile"]]


def statements():
    """What the page says in words, with a verdict that follows from numbers; see study.claims."""
    makers = (
        _projection, _error_reduced, _learning_rate, _finite, _codes, _no_match, _dual, _equation_44, _kernel, _layers
    )  # fmt: skip
    rows = [make() for make in makers]
    return ledger.statement_rows([row | {"key": f"course-page/{row['key']}"} for row in rows], **SOURCE)


def _key(names):
    return "course-page/" + names.str.replace("_", "-")


def _of_digits(key):
    return key in RATES or key.startswith(("train_", "test_"))


def _varies(table):
    runs = "95 % of the runs that separate: data, first weights and order vary; {n} runs"
    splits = "95 % of random halves of 2,240 MNIST images, and orders; {n} splits"
    texts = np.where(table["comparable"], runs, splits)
    wide = table["low"] < table["high"]
    return [text.format(n=f"{n:,}") if w else "" for text, n, w in zip(texts, table["n"], wide, strict=True)]


def _spreads():
    numbers = {inputs: page()[f"modifications_{inputs}"] for inputs in LISTED}
    return tables.by_spread(modifications(PUBLISHED), numbers)


def _facts():
    """{key: row} of the numbers that no chance is part of."""
    values = {f"classes_{inputs}": len(np.unique(binary(2**inputs), axis=0)) for inputs in LISTED}
    values["delta"] = abs(1 - np.sign(-0.5))
    return {key: dict.fromkeys(["ours", "low", "high"], v) | {"n": 1, "percentile": np.nan} for key, v in values.items()}


def _modifications():
    """{key: tables.summary} of the two numbers of modifications."""
    spreads, found = tables.presented(_spreads()).set_index(["inputs", "s", "n_per_class"]), {}
    for inputs, listed_as in LISTED.items():
        row = spreads.loc[(inputs, listed_as["s"], listed_as["n_per_class"])]
        found[f"modifications_{inputs}"] = row[["ours", "low", "high", "n", "percentile"]].to_dict()
    return found


def _digits():
    """{key: tables.summary} of what the kernel example gives on our images, without a percentile."""
    found = digits(PUBLISHED)
    errors, confusion = found["digits"], found["confusion"]
    own = errors[(errors["code"] == "one-hot") & (errors["width"] == confusion["width"].iloc[0])]
    test = own["test_errors"] / own["n_test"]
    values = {"training_error": own["train_errors"] / own["n_train"], "test_error": test, "correct": 1 - test}
    for key in page():
        part, _, cell = key.partition("_")
        if part in ("train", "test") and len(cell) == 3:
            true, read = cell.split("_")
            values[key] = confusion.loc[(confusion["part"] == part) & (confusion["true"] == int(true)), f"as_{read}"]
    return {key: tables.summary(each) | {"percentile": np.nan} for key, each in values.items()}


def _explanation(key):
    if _of_digits(key):
        return IMAGES.format(n=len(WIDTHS))
    if key not in LISTED_KEYS:
        return EXPLANATIONS[key]
    inputs, counts = int(key[-1]), modifications(PUBLISHED)
    own = counts["inputs"].eq(inputs) & counts["eta"].eq(1) & counts["counted"].eq("presentations") & counts["s"].eq(0.2)
    own &= counts["n_per_class"].eq(EXAMPLES[inputs])
    fits = tables.fitting(_spreads(), {d: page()[f"modifications_{d}"] for d in EXAMPLES})
    most, n = counts.loc[own, "modifications"].max(), counts.loc[own, "runs"].sum()
    return EXPLANATIONS[key].format(most=most, n=n, spreads=listed(fits[inputs, EXAMPLES[inputs]]))


LISTED_KEYS = tuple(f"modifications_{inputs}" for inputs in EXAMPLES)


def _words(share):
    """The verdict of a statement that is to be true of all of something, of which it is true of this share."""
    return "holds" if share == 1 else "holds in part" if share > 0 else "does not hold"


def _projection():
    same, on_plane, n = [], [], 0
    for inputs, per_class in EXAMPLES.items():
        X, _, model = delta_rule_run(inputs, n_per_class=per_class, random_state=0)
        W = model.weights()
        p, b = tables.projections(X, W)
        same.append((p > b) == (model.outputs(X) > 0))
        feet = b[:, None] * W[:, 1:] / np.linalg.norm(W[:, 1:], axis=1, keepdims=True)
        on_plane.append(np.abs(W[:, 0] + (W[:, 1:] * feet).sum(axis=1)).max() < 1e-9)
        n += same[-1].size
    share = np.mean(np.concatenate([each.ravel() for each in same])) * all(on_plane)
    return {
        "key": "projection",
        "place": "eqs 29 to 31",
        "statement": "a sample is classified by whether its projection on w is greater or smaller than b', whose size is "
        "the distance of the plane from the origin",
        "verdict": _words(share),
        "evidence": f"For {share:.0%} of {n:,} outputs of two trained runs the side of b' is the sign of the output, and "
        f"the points at distance b' along the normals lie on {sum(on_plane)} of {len(on_plane)} sets of planes.",
    }


def _error_reduced():
    sums = steps(PUBLISHED).query("eta == 1")[["modifications", "corrected", "fell", "rose"]].sum()
    corrected, rose = sums["corrected"] / sums["modifications"], sums["rose"] / sums["modifications"]
    return {
        "key": "error-reduced",
        "place": "after eq. 32 and after eq. 39",
        "statement": "the weight vector is modified in such a way that the error is always reduced",
        "verdict": _words((corrected + (rose == 0)) / 2),
        "evidence": f"Of {sums['modifications']:,} modifications in runs of both examples at s = 0.2 and 0.3, "
        f"{corrected:.1%} left all outputs right on the sample presented; the number of wrong samples fell after "
        f"{sums['fell'] / sums['modifications']:.1%} of them and rose after {rose:.1%}.",
    }


def _learning_rate():
    X, y = gaussian_classes(2, n_per_class=EXAMPLES[2], s=0.3, random_state=0)
    one, half = (DeltaRulePerceptron(code="binary", eta=e, initial_scale=0, random_state=1).fit(X, y) for e in (1.0, 0.5))
    scaled = np.array_equal(one.mistakes_.step, half.mistakes_.step) and np.array_equal(one.weights(), 2 * half.weights())
    tests = tables.rate_differences(steps(PUBLISHED))
    moved = sum(each.p < statistics.ALPHA for each in tests.values())
    widest = max(tests.values(), key=lambda each: abs(each.estimate))
    return {
        "key": "learning-rate",
        "place": "eq. 38",
        "statement": "the scaling constant 2 can be absorbed into the learning rate, η = 1/2",
        "verdict": ("holds in part" if moved else "holds") if scaled else "does not hold",
        "evidence": f"From weights of 0 a run with η = 1/2 makes {'the same' if scaled else 'other'} modifications as one "
        f"with η = 1; from the listing's random weights their number differs at {moved} of {len(tests)} settings "
        f"(Student's t over runs, {widest.adjusted}); the largest mean difference is {tables.with_interval(widest)}.",
    }


def _finite():
    runs = listing(PUBLISHED)
    separable = runs[runs["separable"]]
    early, later = separable["converged"].sum(), (separable["later"] == 1).sum()
    within = (separable["more_vectors"] <= separable["bound"]).sum()
    most = separable.loc[separable["later"] == 1, "more_presentations"].max()
    return {
        "key": "finite",
        "place": "after eq. 39",
        "statement": "if the classes are linearly separable, a perceptron separates them in a finite number of iterations",
        "verdict": "holds" if within == len(separable) else "does not hold",
        "evidence": f"Of {len(runs):,} draws of the listing, half of them at each of its spreads, {len(separable):,} are "
        f"separable by planes (a linear programme); {early:,} of these are separated within its {PRESENTATIONS:,} "
        f"presentations and {later:,} within {PRESENTATIONS_MORE:,}, the last after {most:,.0f}. {within:,} of "
        f"the {len(separable):,} have made no more modifications than Novikoff's bound allows, which is finite.",
    }


def _codes():
    sizes = range(2, 9)
    right = [len(np.unique(one_hot(m), axis=0)) == m and len(np.unique(binary(2**m), axis=0)) == 2**m for m in sizes]
    widths = [one_hot(m).shape[1] == m and binary(2**m).shape[1] == m for m in sizes]
    return {
        "key": "codes",
        "place": "eq. 40",
        "statement": "m outputs encode m classes one-hot, and as many as two to the power of m with binary codes",
        "verdict": _words(np.mean(right) * np.mean(widths)),
        "evidence": f"For m = {sizes[0]} to {sizes[-1]} both give as many different codes of m signs in {sum(right)} of "
        f"{len(right)} cases.",
    }


def _no_match():
    errors = digits(PUBLISHED)["digits"].query("code == 'one-hot'")
    sums = errors.groupby("width")[["unmatched", "unmatched_errors", "n_test"]].sum()
    share, right = sums["unmatched"] / sums["n_test"], 1 - sums["unmatched_errors"] / sums["unmatched"]
    return {
        "key": "no-match",
        "place": "after eq. 40",
        "statement": "with one-hot codes the outputs can match no class; then the largest output decides",
        "verdict": _words(float((share > 0).mean() * (right > 0.1).mean())),
        "evidence": f"At {len(sums)} widths of the kernel {share.min():.1%} to {share.max():.1%} of the MNIST test images "
        f"match no class, and the largest output reads {right.min():.0%} to {right.max():.0%} of these correctly (a guess "
        "reads 10 %).",
    }


def _dual():
    X, y = gaussian_classes(2, n_per_class=EXAMPLES[2], s=0.3, random_state=0)
    x, Y = np.column_stack([np.ones(len(X)), X]), binary(4)[y].T
    order = np.tile(np.arange(len(y)), 20)
    stored = literal.course_kernel_perceptron(x @ x.T, Y, order)
    W = np.array([literal.perceptron(x, z, order[: len(stored)]) for z in Y])
    same = np.allclose((stored[-1] * Y) @ x, W, atol=1e-9)
    return {
        "key": "dual",
        "place": "eqs 41 to 43",
        "statement": "from weights of 0, w is the sum of the misclassified samples, and their counts are all that has to be "
        "updated",
        "verdict": _words(float(same)),
        "evidence": f"After {len(stored):,} presentations and {stored[-1].sum()} mistakes of a run in the plane the counts "
        f"{'give' if same else 'do not give'} the weights that the primal rule has, to nine decimals.",
    }


def _equation_44():
    X, y, model = delta_rule_run(2, n_per_class=EXAMPLES[2], random_state=0)
    positive = model.code_[y] > 0
    as_printed, exchanged = ((model.outputs(X) < 0) == positive).mean(), ((model.outputs(X) > 0) == positive).mean()
    return {
        "key": "equation-44",
        "place": "eq. 44",
        "statement": "a sample with a positive output is classified into the negative class",
        "verdict": _words(as_printed),
        "evidence": f"As printed {as_printed:.0%} of the outputs of a separated run are right; with the classes exchanged, "
        f"as in eq. 29, {exchanged:.0%}.",
    }


def _beyond(column, key, place, statement, who):
    runs = parity(PUBLISHED)
    share, linear = (runs[column] == 0).mean(), (runs["linear"] == 0).mean()
    hard = ~runs["separable"].any()
    return {
        "key": key,
        "place": place,
        "statement": statement,
        "verdict": _words(share) if hard else "cannot be told",
        "evidence": f"On corners of a square and a cube labelled by their parity, which a plane separates in "
        f"{runs['separable'].mean():.0%} of {len(runs)} draws, the linear rule ends without a training error in "
        f"{linear:.0%} of the runs, {who} in {share:.1%}.",
    }


def _kernel():
    words = "the constraint that the classes be linearly separable can be removed by the kernel method"
    return _beyond("kernel", "kernel", "before eq. 41", words, "a kernel perceptron with an RBF kernel")


def _layers():
    words = "the constraint of linear separability is removed when multi-layer networks are used"
    return _beyond("network", "layers", "last paragraph", words, "a network with one hidden layer of eight units")
