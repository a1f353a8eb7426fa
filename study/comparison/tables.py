"""What the chapter's figures and sentences are made of; tables are those of study.comparison.experiment.compare.

What is compared over the data sets, and with what, was declared before the results were seen:

    the three forms        one-vs-all and Xu-Zhang against the ordinary form, thresholds off for all, and on for all
    the thresholds         each perceptron with them against itself without
    the kernel             each form against the linear perceptron of its family
    the references         every perceptron and every other reference against the SVM
    the predictors         average, minimizing and voted against the final one, of every perceptron, each tuned for itself

Each line is one family: Wilcoxon's signed ranks over the sets, adjusted by Holm. Errors are means over all repetitions.

Symbols: N data sets, n test examples.
"""

import numpy as np
import pandas as pd

from kp.mistakes import PREDICTORS
from study import datasets, statistics
from study.claims import interval
from study.comparison.methods import KERNEL_PERCEPTRONS, NAMES, NONE, PERCEPTRONS, REFERENCES, THRESHOLDS
from study.report.display import listed

CONTROL = "ordinary"
"""The form that the other two are compared with."""
REFERENCE = ("SVM", NONE)
"""The method that references and perceptrons are compared with."""
ROPE = 0.01
"""Errors that differ by less count as practically equivalent: one percentage point."""
NOT_TOLD = "cannot be told apart from"
WIDER = "is narrower than", "is wider than", NOT_TOLD


def label(method, thresholds=NONE):
    """How a method is called in tables: "ordinary, off", "SVM"."""
    return method if thresholds == NONE else f"{method}, {thresholds}"


def sets(errors, splits):
    """A row for each data set: sizes, classes, how it is split, and the error of always naming the most frequent class.

    "dropped" are rows that repeat an earlier one, "also in training" the share of the test examples whose attributes equal
    those of a training example.
    """
    rows = []
    for name, part in splits.groupby("dataset", sort=False):
        data, repetitions = datasets.DATASETS[name], part["repetition"].nunique()
        counts = data.test_counts or data.counts
        rows.append(
            {
                "set": name,
                "attributes": data.n_features,
                "classes": len(data.classes),
                "dropped": int(part["dropped"].max()),
                "available": int(part["available"].max()),
                "train": int(part["n_train"].max()),
                "test": int(part["n_test"].max()),
                "also in training": part["seen"].sum() / part["n_test"].sum(),
                "split": "customary" if data.n_test else "halves",
                "repetitions": repetitions,
                "most frequent class": 1 - max(counts) / sum(counts),
            }
        )
    return pd.DataFrame(rows)


def grids(settings):
    """What each method tries: a row for each, with the number of fits and of candidates (predictors and epochs apart)."""
    widths, degrees = f"{len(settings.widths)} widths", f"degrees {listed(settings.degrees)}"
    narrow = f"{len(settings.widths[:: settings.reference_step])} widths"
    epochs = f"epochs {listed(settings.epochs)}; {len(PREDICTORS)} predictors"
    served, kernels = len(PREDICTORS) * len(settings.epochs), len(settings.widths) + len(settings.degrees)
    rows = [("each form", f"{widths}; {degrees}", epochs, kernels, kernels * served)]
    rows += [("linear", "", epochs, 1, served)]
    for name, symbol, values, kernel in (
        ("SVM", "C", settings.penalties, True), ("kernel ridge", "λ", settings.ridges, True),
        ("nearest neighbours", "k", settings.neighbours, False),
        ("scikit-learn perceptron", "epochs", settings.perceptron_epochs, False),
    ):  # fmt: skip
        fits = len(values) * (len(settings.widths[:: settings.reference_step]) if kernel else 1)
        rows.append((name, narrow if kernel else "", f"{symbol} {listed(values)}", fits, fits))
    return pd.DataFrame(rows, columns=["method", "kernels", "other", "fits", "candidates"])


def rates(errors):
    """Error rate of each data set, method and predictor, with its exact 95 % interval (fractions).

    A repetition tests n examples once each. error is the mean over repetitions; the interval is that of the mean count
    among n examples: repetitions share them, so they are not counted as more.
    """
    keys = ["dataset", "method", "thresholds", "predictor"]
    once = errors.groupby([*keys, "repetition"], sort=False)[["errors", "n"]].sum()
    table = once.groupby(keys, sort=False).mean().reset_index()
    low, high = interval(table["errors"], table["n"])
    table["repetitions"] = once.groupby(keys, sort=False).size().to_numpy()
    return table.assign(error=table["errors"] / table["n"], low=low / table["n"], high=high / table["n"])


def chosen_rates(errors):
    """`rates` of every method with the predictor that validation chose (in each fold)."""
    table = rates(errors[errors["chosen"]].assign(predictor="chosen"))
    order = {name: position for position, name in enumerate(errors["dataset"].unique())}
    keys = table["dataset"].map(order), table["method"].map(NAMES.index), table["thresholds"]
    return table.drop(columns="predictor").iloc[np.lexsort(keys[::-1])].reset_index(drop=True)


def errors_with_intervals(chosen, methods, thresholds):
    """A row for each data set, a column for each method: "error (low to high)" in percent."""
    part = chosen[chosen["method"].isin(methods) & (chosen["thresholds"] == thresholds)]
    cells = [f"{100 * r.error:.1f} ({100 * r.low:.1f} to {100 * r.high:.1f})" for r in part.itertuples()]
    table = part.assign(cell=cells).pivot(index="dataset", columns="method", values="cell")
    return table.loc[part["dataset"].unique(), list(methods)].rename_axis(columns=None, index="set").reset_index()


def by_method(chosen):
    """Error rates as a table: a row for each data set, a column (method, thresholds) for each method."""
    table = chosen.pivot(index="dataset", columns=["method", "thresholds"], values="error")
    return table.loc[chosen["dataset"].unique()]


def over_sets(table, pairs):
    """{name: Difference} of pairs {name: (column, column)} of a table of error rates, one family: signed ranks and Holm."""
    return statistics.holm({name: statistics.signed_ranks(table[a] - table[b]) for name, (a, b) in pairs.items()})


def form_pairs():
    """{(form, thresholds): ((form, thresholds), (control, thresholds))}: the forms against the ordinary one."""
    forms = [name for name in KERNEL_PERCEPTRONS if name != CONTROL]
    return {(form, t): ((form, t), (CONTROL, t)) for t in THRESHOLDS for form in forms}


def threshold_pairs():
    """{perceptron: ((perceptron, "on"), (perceptron, "off"))}."""
    return {name: ((name, "on"), (name, "off")) for name in PERCEPTRONS}


def kernel_pairs():
    """{(form, thresholds): ((form, thresholds), ("linear", thresholds))}."""
    return {(form, t): ((form, t), ("linear", t)) for t in THRESHOLDS for form in KERNEL_PERCEPTRONS}


def reference_pairs():
    """{(method, thresholds): ((method, thresholds), REFERENCE)} of every other method."""
    own = [(name, t) for name in PERCEPTRONS for t in THRESHOLDS]
    others = [(name, NONE) for name in REFERENCES if (name, NONE) != REFERENCE]
    return {each: (each, REFERENCE) for each in own + others}


def shown(differences, table, pairs):
    """A row for each difference of `over_sets`, with the probabilities of the Bayesian test and of leaving out one set.

    "lower", "equivalent" and "higher" are the probabilities that the first error is lower by more than ROPE, within it, or
    higher; "one set left out" is the range of the estimate, and "changes without" names the sets without which the verdict
    is another, or counts them.
    """
    rows, left_out = [], _left_out(table, pairs)
    changing = changes_without(differences, table, pairs)
    for name, (a, b) in pairs.items():
        found, others = differences[name], {left: each[name] for left, each in left_out.items()}
        chances = statistics.bayes_signed_ranks(table[a], table[b], rope=ROPE)
        estimates = [each.estimate for each in others.values()]
        rows.append(
            {
                "first": label(*a),
                "minus": label(*b),
                "difference": in_points(found),
                "p": statistics.p_cell(found.p),
                **chances,
                "one set left out": f"{100 * min(estimates):+.2f} to {100 * max(estimates):+.2f}",
                "changes without": _few(changing[name], len(table)),
            }
        )
    return pd.DataFrame(rows)


def _left_out(table, pairs):
    return {name: over_sets(table.drop(index=name), pairs) for name in table.index}


def changes_without(differences, table, pairs):
    """{name: the sets without which its verdict is another}, each set left out alone; differences: `over_sets` of all."""
    left_out = _left_out(table, pairs)
    return {
        name: [left for left, each in left_out.items() if each[name].word() != found.word()]
        for name, found in differences.items()
    }


def least_p(differences):
    """The smallest p that Wilcoxon's test over so many sets can have after Holm's correction over {name: Difference}."""
    n = min(each.n for each in differences.values())
    return min(1.0, len(differences) * 2.0 ** (1 - n))


def too_few(differences):
    """ "2 sets cannot tell: ...", where the test could show no difference however large; "" where it could."""
    least, n = least_p(differences), min(each.n for each in differences.values())
    if least < statistics.ALPHA:
        return ""
    return (
        f"{n} sets cannot tell: with Holm's correction over {len(differences)} comparisons no $p$ of Wilcoxon's test over "
        f"{n} sets is below {least:.2g}, whatever the differences are."
    )


def compact(rows):
    """`shown` with fewer columns: "lower, within, higher" has the three probabilities, "method" what is compared."""
    chances = [f"{r.lower:.2f}, {r.equivalent:.2f}, {r.higher:.2f}" for r in rows.itertuples()]
    table = rows.rename(columns={"first": "method"}).assign(**{"lower, within, higher": chances})
    return table[["method", "difference", "p", "lower, within, higher", "one set left out", "changes without"]]


def _few(names, n):
    return ", ".join(names) if len(names) < 4 else f"{len(names)} of {n}"


def in_points(difference, *, digits=2):
    """ "+0.31 (−0.10 to +0.80)": a difference in percentage points with its interval, without one where there are few."""
    text = f"{100 * difference.estimate:+.{digits}f}"
    if not np.isfinite([difference.low, difference.high]).all():
        return text
    return f"{text} ({100 * difference.low:+.{digits}f} to {100 * difference.high:+.{digits}f})"


def told(differences, lower="is lower", higher="is higher"):
    """(names lower, names higher, names not told apart) of {name: Difference}."""
    words = {name: each.word(lower, higher, "") for name, each in differences.items()}
    return tuple([name for name, word in words.items() if word == wanted] for wanted in (lower, higher, ""))


def per_set(pairs):
    """The forms against the ordinary one on each data set: exact sign flips over the test examples, Holm over all rows.

    Columns dataset, thresholds, first, second, estimate, low, high, p (adjusted), plain (p, not adjusted), n.
    """
    found = {}
    for (form, thresholds), _ in form_pairs().items():
        for name in pairs["dataset"].unique():
            totals, repetitions = _totals(pairs, name, thresholds, form, CONTROL)
            found[name, thresholds, form] = statistics.sign_flips(totals, of=repetitions)
    adjusted = statistics.holm(found)
    rows = [
        dict(zip(("dataset", "thresholds", "first"), key, strict=True))
        | {"second": CONTROL, "estimate": each.estimate, "low": each.low, "high": each.high, "p": each.p}
        | {"plain": found[key].p, "n": each.n}
        for key, each in adjusted.items()
    ]
    return pd.DataFrame(rows)


def _totals(pairs, dataset, thresholds, a, b):
    """(totals (n,), repetitions) of the differences of a and b, one total for each test example."""
    part = pairs[(pairs["dataset"] == dataset) & (pairs["thresholds"] == thresholds)]
    rows, sign = part[(part["first"] == a) & (part["second"] == b)], 1
    if rows.empty:
        rows, sign = part[(part["first"] == b) & (part["second"] == a)], -1
    return sign * np.repeat(rows["balance"].to_numpy(), rows["examples"].to_numpy()), int(rows["repetitions"].iloc[0])


def counts_by_set(per_set):
    """On how many sets a form's error is lower, equal and higher than the ordinary one's, and of these with p < 0.05."""
    rows = []
    for (thresholds, first), part in per_set.groupby(["thresholds", "first"], sort=False):
        sure, sign = part["p"] < statistics.ALPHA, np.sign(part["estimate"].round(12))
        counts = {word: int((sign == s).sum()) for word, s in (("lower", -1), ("equal", 0), ("higher", 1))}
        counts |= {f"{word}, p < 0.05": int(((sign == s) & sure).sum()) for word, s in (("lower", -1), ("higher", 1))}
        rows.append({"form": first, "thresholds": thresholds} | counts)
    return pd.DataFrame(rows)


def summary(table, references):
    """A row for each method: mean error over the sets, on how many sets it is lowest, alone or with others, and its error
    minus that of REFERENCE over the sets, of {(method, thresholds): Difference}, empty for REFERENCE itself."""
    lowest = table.eq(table.min(axis=1), axis=0).sum()
    rows = []
    for name in _ordered(table):
        found = references.get(name)
        tested = (in_points(found), statistics.p_cell(found.p)) if found else ("", "")
        family = "" if name[1] == NONE else name[1]
        rows.append((NAMES_SHOWN.get(name[0], name[0]), family, float(table[name].mean()), int(lowest[name]), *tested))
    heads = ["method", "thresholds", "mean error", "lowest on", f"minus the {REFERENCE[0]}", "p"]
    return pd.DataFrame(rows, columns=heads)


def _ordered(table):
    return sorted(table.columns, key=lambda name: (NAMES.index(name[0]), name[1]))


def support_vectors(errors):
    """Support vectors of the chosen kernel perceptrons and the SVM, means over repetitions and folds: a row for each set."""
    part = errors[errors["chosen"] & errors["method"].isin((*KERNEL_PERCEPTRONS, "SVM"))]
    names = part["method"].where(part["thresholds"] == NONE, part["method"] + ", " + part["thresholds"])
    table = part.assign(name=names).pivot_table(index="dataset", columns="name", values="support", aggfunc="mean")
    columns = [label(form, t) for t in THRESHOLDS for form in KERNEL_PERCEPTRONS] + ["SVM"]
    table = table.loc[part["dataset"].unique(), columns]
    table.insert(0, "examples", part.groupby("dataset")["n_train"].max())
    return table.rename_axis(columns=None, index="set").reset_index()


def support_ratio(support, first, second):
    """(ratio, low, high, Difference of logarithms): support vectors of one method over another's.

    Geometric mean over the sets; Student's t on the logarithmic scale.
    """
    return _of_logs(statistics.student(np.log(support[first] / support[second]), varies="data sets"))


def _of_logs(difference):
    return (*(float(np.exp(value)) for value in (difference.estimate, difference.low, difference.high)), difference)


def seconds(errors, times):
    """Processor seconds of the last training of each chosen method: a row for each data set, a column for each method.

    Perceptrons have no thresholds; nearest neighbours, which only store their examples, are left out.
    """
    keys = ["dataset", "repetition", "fold", "method", "thresholds", "predictor"]
    part = errors.loc[errors["chosen"] & (errors["thresholds"] != "on"), keys].merge(times, on=keys)
    table = part.pivot_table(index="dataset", columns="method", values="seconds", aggfunc="mean")
    columns = [name for name in NAMES if name != "nearest neighbours"]
    return table.loc[part["dataset"].unique(), columns].rename_axis(columns=None, index="set").reset_index()


def choices(errors):
    """How often validation chose each predictor, by perceptron; a row for each perceptron of each family.

    A predictor is chosen where it alone has the fewest validation errors; where several have them, the choice is tied, and
    which one is then taken says nothing about the predictors.
    """
    keys = ["dataset", "repetition", "fold", "method", "thresholds"]
    rows = errors[errors["method"].isin(PERCEPTRONS)]
    best = rows[rows["validation_errors"] == rows.groupby(keys)["validation_errors"].transform("min")]
    alone = best.groupby(keys)["predictor"].transform("size") == 1
    part = best[best["chosen"]].assign(predictor=best["predictor"].where(alone, "tied"))
    counts = part.groupby(["method", "thresholds", "predictor"]).size().unstack(fill_value=0)
    rows = pd.MultiIndex.from_tuples([(name, t) for t in THRESHOLDS for name in PERCEPTRONS], names=["method", "thresholds"])
    table = counts.reindex(index=rows, columns=[*PREDICTORS, "tied"], fill_value=0)
    return table.rename_axis(columns=None).reset_index()


def edges(errors, settings):
    """How often the choice stands at an edge of its grid: a row for each method with a grid, and each parameter of it.

    lowest and highest count the choices at the ends of the grid among those that have the parameter (`of`).
    """
    rows, chosen = [], errors[errors["chosen"]]
    others = {"SVM": settings.penalties, "kernel ridge": settings.ridges, "nearest neighbours": settings.neighbours}
    for (method, thresholds), part in chosen.groupby(["method", "thresholds"], sort=False):
        own = (*KERNEL_PERCEPTRONS, "SVM", "kernel ridge")
        widths = settings.widths if method in KERNEL_PERCEPTRONS else settings.widths[:: settings.reference_step]
        grids = [("width", "width", widths)] if method in own else []
        grids += [("degree", "degree", settings.degrees)] if method in KERNEL_PERCEPTRONS else []
        grids += [({"SVM": "C", "kernel ridge": "λ"}.get(method, "k"), "other", others[method])] if method in others else []
        for name, column, grid in grids:
            values = part[column].dropna()
            ends = [int(np.isclose(values, end).sum()) for end in (min(grid), max(grid))]
            rows.append((label(method, thresholds), name, min(grid), max(grid), *ends, len(values)))
    return pd.DataFrame(rows, columns=["method", "parameter", "from", "to", "at lowest", "at highest", "of"])


def against_final(errors):
    """{(predictor, perceptron, thresholds): Difference} from the final predictor over the sets, Holm over all.

    Each predictor is tuned for itself.
    """
    table = rates(errors[errors["method"].isin(PERCEPTRONS)])
    wide = table.pivot(index="dataset", columns=["predictor", "method", "thresholds"], values="error")
    others = [(p, name, t) for p in PREDICTORS if p != "final" for t in THRESHOLDS for name in PERCEPTRONS]
    return over_sets(wide, {each: (each, ("final", *each[1:])) for each in others})


def against_final_table(differences):
    """The same as a table: a row for each perceptron of each family, a column for each predictor, in points."""
    rows = []
    for t in THRESHOLDS:
        for name in PERCEPTRONS:
            own = {p: differences[p, name, t] for p in PREDICTORS if p != "final"}
            cells = {p: f"{in_points(each, digits=1)}, {statistics.p_value(each.p)}" for p, each in own.items()}
            rows.append({"perceptron": name, "thresholds": t} | cells)
    return pd.DataFrame(rows)


def width_curves(validation):
    """Validation error of the RBF perceptrons at each width, with the best of the predictors, in each of the data sets."""
    part = validation[validation["method"].isin(KERNEL_PERCEPTRONS) & (validation["kernel"] == "rbf")]
    part = part.assign(error=part["validation_errors"] / part["validation_n"])
    keys = ["dataset", "method", "thresholds", "width"]
    return part.groupby(keys, sort=False, as_index=False).agg(error=("error", "min"), n=("validation_n", "max"))


SHORT = {"one-vs-all": "o.v.a.", "ordinary": "ord.", "Xu-Zhang": "X.-Z."}


def shortened(name):
    """A label with the short name of its form, for the head of a column: "ord., off"."""
    method, *rest = name.split(", ")
    return ", ".join([SHORT.get(method, method), *rest])


def best_widths(curves):
    """The width of the lowest validation error, of several the geometric mean: a row for each set, a column for each form
    and family, under its label."""
    rows = []
    for name in curves["dataset"].unique():
        row = {"set": name}
        for t in THRESHOLDS:
            for form in KERNEL_PERCEPTRONS:
                part = curves.query("dataset == @name and method == @form and thresholds == @t")
                best = part.loc[part["error"] <= part["error"].min() + 1e-12, "width"]
                row[label(form, t)] = float(np.exp(np.log(best).mean()))
        rows.append(row)
    return pd.DataFrame(rows)


def near_lowest(curves):
    """How many widths of each curve have a validation error within one standard error (binomial) of its lowest one.

    An integer for each data set, form and family, the lowest included.
    """
    groups = curves.groupby(["dataset", "method", "thresholds"], sort=False)
    low = groups["error"].transform("min")
    near = curves["error"] <= low + np.sqrt(low * (1 - low) / groups["n"].transform("max")) + 1e-12
    return near.groupby([curves[key] for key in groups.keys], sort=False).sum()


def at_edge(widths, grid):
    """[(set, label)] of the best widths that are the widest or the narrowest of the grid."""
    columns = [name for name in widths if name != "set"]
    ends = np.array([max(grid), min(grid)])
    return [(row["set"], name) for row in widths.to_dict("records") for name in columns if np.isclose(row[name], ends).any()]


def width_ratio(widths, first, second, *, null=1.0):
    """(ratio, low, high, Difference of logarithms from the null): best widths of one form over another's.

    Geometric mean over the sets; Student's t on the logarithmic scale, for the hypothesis that the ratio is null.
    """
    found = statistics.student(np.log(widths[first] / widths[second] / null), varies="data sets")
    ratio, low, high, _ = _of_logs(found)
    return null * ratio, null * low, null * high, found


def by_width(validation):
    """Mean validation error over the sets of each predictor at each RBF width, by form and family."""
    part = validation[validation["method"].isin(KERNEL_PERCEPTRONS) & (validation["kernel"] == "rbf")]
    part = part.assign(error=part["validation_errors"] / part["validation_n"])
    return part.groupby(["method", "thresholds", "predictor", "width"], sort=False, as_index=False)["error"].mean()


def averages_at_narrowest(validation):
    """{(form, thresholds): Difference} of the average predictor from the final one at the narrowest RBF width.

    Validation errors, over the sets; Holm over all.
    """
    part = validation[validation["method"].isin(KERNEL_PERCEPTRONS) & (validation["kernel"] == "rbf")]
    part = part[np.isclose(part["width"], part["width"].min())]
    part = part.assign(error=part["validation_errors"] / part["validation_n"])
    wide = part.pivot(index="dataset", columns=["predictor", "method", "thresholds"], values="error")
    pairs = {(form, t): (("average", form, t), ("final", form, t)) for t in THRESHOLDS for form in KERNEL_PERCEPTRONS}
    return over_sets(wide, pairs)


def kernel_values(errors):
    """Kernel values of one prediction as a share of the training examples: median over the sets, by (method, thresholds)."""
    part = errors[errors["chosen"]]
    shares = part.assign(share=part["kernel_values"] / part["n_train"])
    by_set = shares.groupby(["method", "thresholds", "dataset"])["share"].mean()
    return by_set.groupby(["method", "thresholds"]).median()


PROSE = {
    "one-vs-all": "one-vs-all", "ordinary": "the ordinary form", "Xu-Zhang": "Xu and Zhang's form",
    "linear": "the linear perceptron", "SVM": "the SVM", "kernel ridge": "kernel ridge regression",
    "nearest neighbours": "nearest neighbours", "scikit-learn perceptron": "scikit-learn's perceptron",
}  # fmt: skip
FAMILY = {"off": "without thresholds", "on": "with thresholds"}
NAMES_SHOWN = {"kernel ridge": "kernel ridge regression"}
"""How tables call a method where its short name is not its own."""


def prose(method, thresholds=NONE):
    """How a method is called in a sentence: "the ordinary form with thresholds"."""
    return PROSE[method] if thresholds == NONE else f"{PROSE[method]} {FAMILY[thresholds]}"


def outcome(difference):
    """ "+0.31 points, −0.10 to +0.80, p = 0.40": a difference as a sentence has it."""
    interval = ""
    if np.isfinite([difference.low, difference.high]).all():
        interval = f", {100 * difference.low:+.2f} to {100 * difference.high:+.2f}"
    return f"{statistics.points(difference.estimate)}{interval}, {statistics.p_value(difference.p)}"


def verdict(differences, name):
    """ "the error of one-vs-all is lower than that of the ordinary form (...)", for a name of `form_pairs`."""
    form, thresholds = name
    found = differences[name]
    return f"the error of {PROSE[form]} {found.word(tie=NOT_TOLD)} that of {PROSE[CONTROL]} ({outcome(found)})"


def by_verdict(differences, *, outcomes=False, verbs=("is lower for", "is higher for", "cannot be told apart for")):
    """ "is lower for A and B and cannot be told apart for C": {(method, thresholds) or method: Difference} in a sentence.

    With outcomes each name has its difference. Groups that are empty are left out; without outcomes a group of more than
    four is counted, and stands last.
    """
    groups = [(verb, names) for verb, names in zip(verbs, told(differences), strict=True) if names]
    clauses = []
    for verb, names in sorted(groups, key=lambda group: len(group[1]) > 4):
        words = {name: prose(*(name if isinstance(name, tuple) else (name,))) for name in names}
        words |= {name: f"{word} ({outcome(differences[name])})" for name, word in words.items() if outcomes}
        whole = "any of the" if verb == verbs[2] else "all"
        counted = f"{whole if len(groups) == 1 else 'the other'} {len(names)}"
        clauses.append(f"{verb} {counted if len(names) > 4 and not outcomes else listed(words.values())}")
    return listed(clauses)


def of_family(differences, thresholds):
    """{form: Difference} of one family, from {(form, thresholds): Difference}."""
    return {form: each for (form, family), each in differences.items() if family == thresholds}


def named(names):
    """ "one-vs-all with thresholds and the SVM": names (method, thresholds) in a sentence."""
    return listed([prose(*name) for name in names])


def predictors_of(names):
    """ "the average, minimizing and voted predictor of the linear perceptron with thresholds": names (predictor, method,
    thresholds) in a sentence, those of one perceptron together."""
    groups, alike = {}, {}
    for predictor, *rest in names:
        groups.setdefault(tuple(rest), []).append(predictor)
    for rest, own in groups.items():
        alike.setdefault(tuple(own), []).append(prose(*rest))
    return listed([f"the {listed(own)} predictor of {listed(whose)}" for own, whose in alike.items()])


def places(counts):
    """ "lower on 6 sets, equal on one and higher on 4 (none of them with p < 0.05)": a row of `counts_by_set`."""
    sides = [(word, int(counts[word])) for word in ("lower", "equal", "higher") if counts[word]]
    clauses = [f"{word} on {_count(n)}{' sets' * (n > 1) if i == 0 else ''}{' set' * (n == 1 and i == 0)}"
               for i, (word, n) in enumerate(sides)]  # fmt: skip
    sure = {word: int(counts[f"{word}, p < 0.05"]) for word in ("lower", "higher")}
    told = [f"{_count(n)} of the sets where it is {word}" for word, n in sure.items() if n]
    return (
        f"{listed(clauses)}; {f'the test bears this out on {listed(told)}' if told else 'the test bears out none of these'}"
    )


def _count(n):
    return "one" if n == 1 else f"{n}"


def binary_sets(errors):
    """The data sets with two classes."""
    return [name for name in errors["dataset"].unique() if len(datasets.DATASETS[name].classes) == 2]


def changing(rows):
    """ "one of these 4 verdicts changes": how many verdicts of `shown` change when a set is left out."""
    count = int((rows["changes without"] != "").sum())
    words = "none" if not count else "one" if count == 1 else f"{count}"
    return f"{words} of these {len(rows)} verdicts {'change' if count > 1 else 'changes'}"


def chosen_by_test(errors):
    """Two kinds of mean error over the sets of every kernel perceptron: with the predictor that validation chose, and with
    the one that has the fewest test errors in each repetition and fold, which no honest choice can know.

    Columns method, thresholds, chosen, by test.
    """
    rows = errors[errors["method"].isin(KERNEL_PERCEPTRONS)]
    keys = ["dataset", "repetition", "fold", "method", "thresholds"]
    least = rows.groupby(keys)["errors"].min().rename("least")
    both = rows[rows["chosen"]].set_index(keys).join(least).reset_index()
    by_set = both.groupby(["method", "thresholds", "dataset"])[["errors", "least", "n"]].sum()
    found = by_set[["errors", "least"]].div(by_set["n"], axis=0).groupby(["method", "thresholds"]).mean()
    return found.rename(columns={"errors": "chosen", "least": "by test"}).reset_index()


def turned_by_the_first(errors):
    """{form: sets} on which the first repetition and the mean of all have the form's error on different sides of the
    ordinary form's, without thresholds; of the sets with several repetitions, a tie on a side of its own."""
    rows = errors[errors["chosen"] & (errors["thresholds"] != "on")]
    wide = rows.pivot_table(index=["dataset", "repetition"], columns="method", values="errors", aggfunc="sum")
    turned = {}
    for form in (name for name in KERNEL_PERCEPTRONS if name != CONTROL):
        gaps = (wide[form] - wide[CONTROL]).groupby("dataset", sort=False)
        sides = pd.DataFrame({"first": np.sign(gaps.first()), "all": np.sign(gaps.sum()), "n": gaps.size()})
        turned[form] = list(sides.index[(sides["n"] > 1) & (sides["first"] != sides["all"])])
    return turned
