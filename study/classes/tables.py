"""Tables of the forms for several classes, from those of study.classes.plane, forms and comparison; only `cases` fits.

What is compared over the datasets, and with what, was declared before the results were seen:

    the three forms        one-vs-all and Xu-Zhang against the ordinary form, thresholds off for all, and on for all
    the thresholds         each perceptron with them against itself without
    the kernel             each form against the linear perceptron of its family
    the references         every perceptron and every other reference against the SVM
    the predictors         average, minimizing and voted against the final one, of every perceptron, each tuned for itself

Each line is one family: Wilcoxon's signed ranks over the sets, adjusted by Holm. Errors are means over all repetitions.

Symbols: N datasets, n test examples.
"""

from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pandas as pd

from kp.gram import CrossGram, Points, Products
from study import datasets, statistics
from study.classes.forms import EQUAL, FORMS, JUDGED, PAIR, best_widths, kernel_of, split
from study.classes.methods import KERNEL_PERCEPTRONS, NAMES, NONE, PERCEPTRONS, REFERENCES, THRESHOLDS
from study.predictors import PREDICTORS
from study.protocols.plane import lattice
from study.words import p_cell, styled, with_interval

# In the plane.

DEFINITIONS = pd.DataFrame(
    [
        ("one-vs-all", "one for each class", "$K(x_i, x)$", "support vectors"),
        ("ordinary", "one for all classes", "$K(x_i, x)$", "support vectors"),
        ("Xu-Zhang", "one for all classes", r"$\sum_s K(x_i, x_s) \, K(x_s, x)$", "all $n$ examples"),
    ],
    columns=["form", "perceptrons", "added to the score at $x$", "kernel values of a prediction"],
)
"""The three multiclass forms: what a mistake on example i adds to the score of its class y, and takes from that of j."""


def cases(problems, *, resolution):
    """Data of figures.figure_cases for problems {title: plane.Problem}, each perceptron fitted to its set.

    wrong: training examples misclassified; the title tells it, and the epochs that were run.
    """
    found = []
    for title, problem in problems.items():
        X, y = problem.examples()
        model = problem.estimator().fit(X, y)
        points, box = lattice(X, margin=0.07 * np.ptp(X, axis=0).max(), resolution=resolution)
        wrong = int((model.predict(X) != y).sum())
        title = f"{title}\n{wrong} wrong, {model.n_iter_:,} epochs"
        found.append({"title": title, "X": X, "y": y, "F": model.decision_function(points), "box": box, "wrong": wrong})
    return found


def with_orders(bounds, orders):
    """The bounds of plane.orders, with fewest, median and most mistakes over the orders, if all of them have converged."""
    keys = ["dataset", "kernel", "sigma", "factor", "update"]
    groups = orders.groupby(keys, sort=False)
    counts = groups["mistakes"].agg(fewest="min", median="median", most="max")
    counts = counts.astype(float).where(groups["converged"].all())
    return bounds.merge(counts.reset_index(), on=keys, how="left")


def by_value(counts):
    """Data of figures.figure_mistakes from rows of `with_orders`: spirals by their width, the five classes by a factor."""
    spirals, five = (counts[counts["kernel"] == kernel] for kernel in ("rbf", "poly"))
    return {
        r"spirals: width $\sigma$": spirals.assign(value=spirals["sigma"]),
        "five classes: factor on coordinates": five.assign(value=five["factor"]),
    }


def mistake_ratios(orders, column):
    """{value: Difference}: the logarithm of Xu and Zhang's mistakes over the ordinary ones, on the same visits, by `column`.

    Student's t over the orders, all values one family (Holm). Values at which an order had not stopped are left out.
    """
    wide = orders.pivot(index=[column, "order"], columns="update", values=["mistakes", "converged"])
    found = {}
    for value, part in wide.groupby(level=column):
        if part["converged"].to_numpy(dtype=bool).all():
            logs = np.log(part["mistakes"].astype(float))
            found[value] = statistics.student(logs["Xu-Zhang"] - logs["ordinary"], varies="visiting orders")
    return statistics.holm(found)


def bounds_and_counts(mistakes, ratios, column):
    """A row for each value: what the bounds say about the two updates, and what was counted.

    Columns: column, bounds, mistakes (Xu and Zhang's over the ordinary update's), low, high (95 % over the orders, of the
    geometric mean), p (adjusted), and says: "agree" if counts and bounds put the same update ahead, "opposite", or "open".
    """
    wide = mistakes.pivot(index=column, columns="update", values="bound")
    rows = []
    for value, each in ratios.items():
        bound = wide.loc[value, "Xu-Zhang"] / wide.loc[value, "ordinary"]
        word = each.word("less", "more", "open")
        says = "open" if word == "open" else "agree" if (word == "more") == (bound > 1) else "opposite"
        rows.append((value, bound, *np.exp([each.estimate, each.low, each.high]), each.p, says))
    return pd.DataFrame(rows, columns=[column, "bounds", "mistakes", "low", "high", "p", "says"])


def updates_compared(counts, orders):
    """`bounds_and_counts` of the spirals by the width of their kernel, and of the five classes by the factor on their
    coordinates: rows of `with_orders` and of plane.orders; columns of (what varies) and value before the others."""
    parts = []
    for of, kernel, column in (("width", "rbf", "sigma"), ("factor", "poly", "factor")):
        ratios = mistake_ratios(orders[orders["kernel"] == kernel], column)
        rows = bounds_and_counts(counts[counts["kernel"] == kernel], ratios, column).rename(columns={column: "value"})
        rows.insert(0, "of", of)
        parts.append(rows)
    return pd.concat(parts, ignore_index=True)


# On digits; on equal terms, rows and flags are those of forms.tuning and forms.equal.

WITHOUT = "Xu-Zhang, without thresholds"
PRINTED = "Xu-Zhang, as printed"
"""The names in words of PAIR: Xu and Zhang's form without thresholds, and with them, as in the article, but at the width of
the former."""


def describe(kind, parameter):
    """A kernel in words: "rbf" of this width, or "poly" of this degree."""
    return f"RBF, $\\sigma$ = {parameter:,g}" if kind == "rbf" else f"$(1 + x \\cdot y)^{{{parameter:g}}}$"


def at_the_end(errors, n=None):
    """One row for each form, after its last epoch with n training examples (default: the most of each form).

    Columns form, kernel, n, epoch, n_test, mistakes, support, and the counts of test errors of each predictor.
    """
    rows = errors[errors["n"] == (errors.groupby("form")["n"].transform("max") if n is None else n)]
    rows = rows[rows["epoch"] == rows.groupby("form")["epoch"].transform("max")]
    rows = rows.assign(kernel=[describe(kind, value) for kind, value in zip(rows["kernel"], rows["parameter"], strict=True)])
    keys = ["form", "kernel", "n", "epoch", "n_test", "mistakes", "support"]
    table = rows.pivot(index=keys, columns="predictor", values="errors").rename_axis(columns=None).reset_index()
    table = table.reindex(columns=[*keys, *PREDICTORS])
    return table.sort_values("form", key=lambda names: names.map(FORMS.index), ignore_index=True)


def minutes(times, form, n):
    """Minutes of training of one form with n examples."""
    return float(times.set_index(["form", "n"]).loc[(form, n), "seconds"]) / 60


def spectra(dataset, kinds, n):
    """{title: (shares of K, shares of K^2)}: eigenvalues among n examples, descending, of kernels [(kind, parameter)]."""
    points = Points(split(dataset)[0][:n])
    out = {}
    for kind, parameter in kinds:
        K = CrossGram(Products(points, points)).values(kernel_of(kind, parameter), np.arange(n))
        values = np.maximum(np.linalg.eigvalsh(K)[::-1], 0.0)
        out[describe(kind, parameter)] = values / values.sum(), values**2 / np.sum(values**2)
    return out


def equal_rates(equal):
    """A row for each n, form and predictor: mean, fewest and most test errors (fractions) over the orders.

    After the last epoch that was read. Columns: n, form, width, predictor, epoch, orders, mistakes (median), error, low,
    high.
    """
    rows = equal[equal["epoch"] == equal.groupby("n")["epoch"].transform("max")]
    rows = rows.assign(error=rows["errors"] / rows["n_new"])
    return rows.groupby(["n", "form", "width", "predictor", "epoch"], sort=False, as_index=False).agg(
        orders=("order", "nunique"),
        mistakes=("mistakes", "median"),
        error=("error", "mean"),
        low=("error", "min"),
        high=("error", "max"),
    )


def gaps(wrong):
    """{(form, other form, predictor): Difference} of test errors in the first order, by McNemar's test; one family (Holm).

    wrong (orders, forms, predictors, images). The forms of EQUAL in pairs, and Xu and Zhang's with and without threshold.
    """
    forms = [*EQUAL[:2], *PAIR]
    flags = {(f, p): wrong[0, i, j] for i, f in enumerate(forms) for j, p in enumerate(JUDGED)}
    asked = [*combinations(EQUAL, 2), PAIR[::-1]]
    return statistics.holm({(a, b, p): statistics.mcnemar(flags[a, p], flags[b, p]) for a, b in asked for p in JUDGED})


def three_forms(rows):
    """The rows of the forms of EQUAL, with Xu and Zhang's, which has no threshold here, under its short name."""
    return rows[rows["form"].isin(EQUAL)].replace({"form": {PAIR[0]: PAIR[1]}})


def digits_by_width(tuning, n):
    """A row for each form and width with n examples: error (of the average predictor on the validation images, a fraction,
    mean over the orders) and mistakes (their median); tuning as in forms.tuning."""
    rows = tuning[(tuning["n"] == n) & (tuning["predictor"] == "average")]
    rows = rows.assign(error=rows["errors"] / rows["n_new"])
    groups = rows.groupby(["form", "width"], sort=False, as_index=False)
    return groups.agg(error=("error", "mean"), mistakes=("mistakes", "median"))


def largest_terms(rates):
    """A row for each form at the largest n: width, epoch, mistakes, final and average test errors (fractions)."""
    rows = rates[rates["n"] == rates["n"].max()]
    table = rows.pivot(index=["form", "width", "epoch", "mistakes"], columns="predictor", values="error")
    table = table.rename_axis(columns=None).reset_index()[["form", "width", "epoch", "mistakes", *JUDGED]]
    return table.sort_values("form", key=lambda names: names.map([*EQUAL[:2], *PAIR].index), ignore_index=True)


def in_words(rows):
    """Rows with a form, Xu and Zhang's two under the names WITHOUT and PRINTED."""
    return rows.replace({"form": dict(zip(PAIR, (WITHOUT, PRINTED), strict=True))})


def own_widths(tuning, wrong, n):
    """(Difference, {form: width}): Xu and Zhang's form with threshold less without, each with its own best width.

    Validation errors of the average predictor with n examples, in the first order; wrong: {n: flags (rows of that n,
    images)}.
    """
    part = tuning[tuning["n"] == n].reset_index(drop=True)
    best = best_widths(part)
    rows = part[(part["predictor"] == "average") & (part["order"] == 0)]
    without, given = (wrong[n][rows.index[(rows["form"] == f) & (rows["width"] == best[f])][0]] for f in PAIR)
    return statistics.mcnemar(given, without), {form: best[form] for form in PAIR}


# On small sets.

CONTROL = "ordinary"
"""The form that the other two are compared with."""
REFERENCE = ("SVM", NONE)
"""The method that references and perceptrons are compared with."""


def label(method, thresholds=NONE):
    """How a method is called in tables: "ordinary, off", "SVM"."""
    return method if thresholds == NONE else f"{method}, {thresholds}"


def sets(errors, splits):
    """A row for each dataset: sizes, classes, how it is split, and the error of always naming the most frequent class.

    "dropped" are rows that repeat an earlier one, "also in training" the share of the test examples whose attributes equal
    those of a training example.
    """
    rows = []
    for name, part in splits.groupby("dataset", sort=False):
        data = datasets.registered(name)
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
                "repetitions": part["repetition"].nunique(),
                "most frequent class": 1 - max(counts) / sum(counts),
            }
        )
    return pd.DataFrame(rows)


def grids(settings):
    """Candidates of each method, a row each, with the number of fits and of candidates (predictors and epochs apart)."""
    widths = f"{len(settings.widths)} widths"
    degrees = f"degrees {_list(settings.degrees)}"
    narrow = len(settings.widths[:: settings.reference_step])
    epochs = f"epochs {_list(settings.epochs)}; {len(PREDICTORS)} predictors"
    served = len(PREDICTORS) * len(settings.epochs)
    kernels = len(settings.widths) + len(settings.degrees)
    rows = [("each form", f"{widths}; {degrees}", epochs, kernels, kernels * served)]
    rows += [("linear", "", epochs, 1, served)]
    for name, symbol, values, kernel in (
        ("SVM", "C", settings.penalties, True), ("kernel ridge", "λ", settings.ridges, True),
        ("nearest neighbours", "k", settings.neighbours, False),
        ("scikit-learn perceptron", "epochs", settings.perceptron_epochs, False),
    ):  # fmt: skip
        fits = len(values) * (narrow if kernel else 1)
        rows.append((name, f"{narrow} widths" if kernel else "", f"{symbol} {_list(values)}", fits, fits))
    return pd.DataFrame(rows, columns=["method", "kernels", "other", "fits", "candidates"])


def _list(values):
    return ", ".join(f"{value:,}" for value in values)


def rates(errors):
    """Error rate of each dataset, method and predictor, with its exact 95 % interval (fractions).

    A repetition tests n examples once each. error is the mean over repetitions; the interval is that of the mean count
    among n examples: repetitions share them, so they are not counted as more.
    """
    keys = ["dataset", "method", "thresholds", "predictor"]
    once = errors.groupby([*keys, "repetition"], sort=False)[["errors", "n"]].sum()
    table = once.groupby(keys, sort=False).mean().reset_index()
    low, high = statistics.exact(table["errors"], table["n"])
    table["repetitions"] = once.groupby(keys, sort=False).size().to_numpy()
    return table.assign(error=table["errors"] / table["n"], low=low, high=high)


def chosen_rates(errors):
    """`rates` of every method with the predictor that validation chose (in each fold)."""
    table = rates(errors[errors["chosen"]].assign(predictor="chosen"))
    order = {name: position for position, name in enumerate(errors["dataset"].unique())}
    keys = table["dataset"].map(order), table["method"].map(NAMES.index), table["thresholds"]
    return table.drop(columns="predictor").iloc[np.lexsort(keys[::-1])].reset_index(drop=True)


def by_method(chosen):
    """Error rates as a table: a row for each dataset, a column (method, thresholds) for each method."""
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
    methods = [*product(PERCEPTRONS, THRESHOLDS), *product(REFERENCES, [NONE])]
    return {each: (each, REFERENCE) for each in methods if each != REFERENCE}


FAMILIES = {
    "forms": form_pairs, "thresholds": threshold_pairs, "kernel": kernel_pairs, "references": reference_pairs,
}  # fmt: skip
"""Comparisons over the sets, family by family, with everything chosen on validation data."""


def families(table):
    """Every comparison of FAMILIES, each family with its own correction: the rows of `shown` after the family's name."""
    parts = []
    for name, pairs in FAMILIES.items():
        rows = shown(over_sets(table, pairs()), table, pairs())
        rows.insert(0, "family", name)
        parts.append(rows)
    return pd.concat(parts, ignore_index=True).rename(columns={"first": "method"})


def shown(differences, table, pairs):
    """A row for each difference of `over_sets`, with the effect of leaving out one set.

    "one set left out" is the range of the estimate, and "changes without" names the sets without which the verdict is
    another, or counts them.
    """
    rows = []
    left_out = _left_out(table, pairs)
    changing = changes_without(differences, table, pairs)
    for name, (a, b) in pairs.items():
        found = differences[name]
        estimates = [each[name].estimate for each in left_out.values()]
        without = changing[name]
        rows.append(
            {
                "first": label(*a),
                "minus": label(*b),
                "difference": with_interval(found),
                "p": p_cell(found.p),
                "one set left out": f"{100 * min(estimates):+.2f} to {100 * max(estimates):+.2f}",
                "changes without": ", ".join(without) if len(without) < 4 else f"{len(without)} of {len(table)}",
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


def against_final(errors):
    """{(predictor, perceptron, thresholds): Difference} from the final predictor over the sets, Holm over all.

    Each predictor is tuned for itself.
    """
    table = rates(errors[errors["method"].isin(PERCEPTRONS)])
    wide = table.pivot(index="dataset", columns=["predictor", "method", "thresholds"], values="error")
    others = [(p, name, t) for p in PREDICTORS if p != "final" for t in THRESHOLDS for name in PERCEPTRONS]
    return over_sets(wide, {each: (each, ("final", *each[1:])) for each in others})


def width_curves(validation):
    """Validation error of the RBF perceptrons at each width, with the best of the predictors, in each of the datasets."""
    keys = ["dataset", "method", "thresholds", "width"]
    groups = _of_widths(validation).groupby(keys, sort=False, as_index=False)
    return groups.agg(error=("error", "min"), n=("validation_n", "max"))


def _of_widths(validation):
    """The rows of the RBF perceptrons, with their validation error as a fraction."""
    part = validation[validation["method"].isin(KERNEL_PERCEPTRONS) & (validation["kernel"] == "rbf")]
    return part.assign(error=part["validation_errors"] / part["validation_n"])


def widths_by_set(curves):
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


def width_ratio(widths, first, second, *, null=1.0):
    """The best widths of one form over another's, as a Difference: its estimate is the geometric mean over the sets.

    Student's t on the logarithmic scale, for the hypothesis that the ratio is null.
    """
    found = statistics.student(np.log(widths[first] / widths[second] / null), varies="data sets")
    ratio = {name: null * float(np.exp(getattr(found, name))) for name in ("estimate", "low", "high")}
    return replace(found, **ratio)


def width_ratios(widths):
    """`width_ratio` of Xu and Zhang's form over the ordinary one, with and without thresholds, for the hypotheses that it is
    1 and 1/sqrt(2): a row for each, one family (Holm). Columns thresholds, null, ratio, low, high, p."""
    found = {
        (t, null): width_ratio(widths, label("Xu-Zhang", t), label(CONTROL, t), null=null)
        for t in THRESHOLDS
        for null in (1.0, 0.5**0.5)
    }
    rows = [(*name, each.estimate, each.low, each.high, each.p) for name, each in statistics.holm(found).items()]
    return pd.DataFrame(rows, columns=["thresholds", "null", "ratio", "low", "high", "p"])


def sets_by_width(validation):
    """Mean validation error over the sets of each predictor at each RBF width, by form and family."""
    keys = ["method", "thresholds", "predictor", "width"]
    return _of_widths(validation).groupby(keys, sort=False, as_index=False)["error"].mean()


def averages_at_narrowest(validation):
    """{(form, thresholds): Difference} of the average predictor from the final one at the narrowest RBF width.

    Validation errors, over the sets; Holm over all.
    """
    part = _of_widths(validation)
    part = part[np.isclose(part["width"], part["width"].min())]
    wide = part.pivot(index="dataset", columns=["predictor", "method", "thresholds"], values="error")
    pairs = {(form, t): (("average", form, t), ("final", form, t)) for t in THRESHOLDS for form in KERNEL_PERCEPTRONS}
    return over_sets(wide, pairs)


# For readers.


def largest_table(largest):
    """`largest_terms` as they are printed."""
    return styled(largest, dict.fromkeys(["final", "average"], ".2%") | {"mistakes": ",.0f"})


def sets_table(about):
    """`sets` as they are printed."""
    return styled(about.drop(columns="available"), {"also in training": ".1%", "most frequent class": ".1%"})
