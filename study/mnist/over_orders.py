"""Small tables over visiting orders: their spread, comparisons of predictors, degrees and epochs, and honest choices.

wrong (R, D, 4, E, n) says of every order, degree, predictor and epoch which test images are misclassified. Rates and
differences are fractions. What varies stands with each interval: the visiting orders, the test images, or both.
"""

from itertools import combinations, product

import numpy as np
import pandas as pd

from study import statistics
from study.mnist.kept import NEW_HERE
from study.predictors import PREDICTORS
from study.words import p_cell, percent, points, rate_interval, styled, with_interval

ROPE = 0.0005
"""The region of practical equivalence: differences within 0.05 points count as none."""
ALL_FOUR = "all four"
BY_MEAN = "all four, by the mean over orders"
CHOICES = (*PREDICTORS, ALL_FOUR)
"""Sets of candidates: degree and epoch of one predictor, or of any."""
CONTROL = "average"
"""The predictor with which the others are compared: our choice, fixed before the orders were run."""
OTHERS = tuple(name for name in PREDICTORS if name != CONTROL)
HONEST = (CONTROL, ALL_FOUR, BY_MEAN)
"""Three ways to choose on held-out images: degree and epoch of the average predictor in each order; those of any predictor
in each order; and once for all orders, by the mean of their held-out errors."""
HIGHER = "higher"
LOWER = "lower"
SAME = "the same"
UNTOLD = "–"


def wrong(predictions, labels):
    """(R, D, 4, E, n) bool from predictions, a list of (n, D, 4, E) for each order, and labels (n,)."""
    return np.stack([(each != labels[:, None, None, None]).transpose(1, 2, 3, 0) for each in predictions])


def spread(runs, epoch):
    """Error rates over orders after an epoch: degree, predictor, orders, mean, sd, lowest, highest, published (order 0)."""
    rows = runs[runs["epoch"] == epoch]
    rows = rows.assign(error=rows["errors"] / rows["n"])
    keys = ["degree", "predictor"]
    table = rows.groupby(keys)["error"].agg(orders="size", mean="mean", sd="std", lowest="min", highest="max")
    table["published"] = rows[rows["order"] == 0].set_index(keys)["error"]
    index = pd.MultiIndex.from_product([sorted(rows["degree"].unique()), PREDICTORS], names=keys)
    return table.reindex(index).reset_index()


def in_words(spread):
    """`spread` with a row for each degree: degree, orders, and for each predictor mean ± standard deviation in percent."""
    text = [f"{100 * row.mean:.2f} ± {100 * row.sd:.2f}" for row in spread.itertuples()]
    wide = spread.assign(text=text).pivot(index=["degree", "orders"], columns="predictor", values="text")
    return wide[list(PREDICTORS)].rename_axis(columns=None).reset_index()


def worth_all(runs):
    """After how many epochs the mean error of the average predictor is at most that of the final one after the last epoch: a
    Series by degree, missing where it never is."""
    mean = runs.groupby(["predictor", "degree", "epoch"])["errors"].mean().unstack()
    there = mean.loc[CONTROL].le(mean.loc["final"].iloc[:, -1], axis=0)
    return there.idxmax(axis=1).where(there.any(axis=1))


def components(wrong):
    """Standard deviations of the error rate after the last epoch, for each predictor: between degrees, between the orders of
    one degree, and between test sets of this size.

    The variance between degrees is that of their means less what the orders add to it, and 0 where nothing is left; that
    between test sets is binomial. "order" says how far another visiting order moves an error rate, "test images" how far
    another test set of this size does. That of the degrees has no rank among them: five degrees tell it to about a third,
    and which degrees take part is a choice. Source: Bouthillier et al. 2021, who list what a benchmark should let vary.
    """
    last = wrong[:, :, :, -1]
    errors = last.mean(axis=-1)
    n_orders = len(last)
    n = last.shape[-1]
    of_order = errors.var(axis=0, ddof=1).mean(axis=0)
    of_degree = np.maximum(errors.mean(axis=0).var(axis=0, ddof=1) - of_order / n_orders, 0.0)
    of_images = (errors * (1 - errors) / n).mean(axis=(0, 1))
    parts = {"degree": of_degree, "order": of_order, "test images": of_images}
    return pd.DataFrame({"predictor": PREDICTORS, **{name: np.sqrt(part) for name, part in parts.items()}})


def among_predictors(wrong, degrees, epochs, *, others=OTHERS, control=CONTROL):
    """The other predictors less the control, the average one, of the same degree and epoch: epoch, degree, predictor and a
    verdict; see `verdicts`."""
    keys = list(product(epochs, degrees, others))
    pairs = [(_of(wrong, degrees, d, name, e), _of(wrong, degrees, d, control, e)) for e, d, name in keys]
    return verdicts(pairs, keys, ["epoch", "degree", "predictor"])


def among_degrees(wrong, degrees, predictor):
    """The higher degree of each pair less the lower one, for one predictor after the last epoch: lower, higher, verdict."""
    keys = list(combinations(degrees, 2))
    last = wrong.shape[3]
    pairs = [(_of(wrong, degrees, b, predictor, last), _of(wrong, degrees, a, predictor, last)) for a, b in keys]
    return verdicts(pairs, keys, ["degree", "and degree"])


def of_final(pairs):
    """The final predictor less the average one, by how much: the rows of `among_predictors` that say so, as epoch, degree,
    estimate, low, high, p (corrected over the whole family) and verdict."""
    rows = pairs[pairs["predictor"] == "final"]
    return rows[["epoch", "degree", "estimate", "low", "high", "p", "verdict"]].reset_index(drop=True)


def among_epochs(wrong):
    """Every epoch less the last one, the mean over the degrees, for each predictor: predictor, epoch, estimate, low, high
    (95 %, orders and test images), and p_same, the p of its lying within +-ROPE, not corrected; see `settled`."""
    rows = []
    by_epoch = wrong.mean(axis=1, dtype=np.float32)
    for name, epoch in product(PREDICTORS, range(1, wrong.shape[3])):
        own = by_epoch[:, PREDICTORS.index(name)]
        gap = np.asarray(own[:, epoch - 1], dtype=float) - own[:, -1]
        found = statistics.crossed_equivalence(gap, within=ROPE)
        rows.append((name, epoch, found.estimate, found.low, found.high, found.p))
    return pd.DataFrame(rows, columns=["predictor", "epoch", "estimate", "low", "high", "p_same"])


def settled(epochs, predictor):
    """The first epoch from which on every error is shown to be practically that after the last epoch.

    epochs as in `among_epochs`. The epochs have an order, so they are tested in it, from the last but one downwards, until
    one is not shown to lie within the region of equivalence (statistics.fixed_sequence). The last epoch is always settled.
    """
    rows = epochs[epochs["predictor"] == predictor].sort_values("epoch", ascending=False)
    return int(rows["epoch"].max()) + 1 - statistics.fixed_sequence(rows["p_same"])


def settled_by_degree(wrong, degrees):
    """`settled` of each predictor for the mean over degrees and for each degree alone: predictor, mean, and the degrees."""
    parts = {"mean": wrong} | {degree: wrong[:, d : d + 1] for d, degree in enumerate(degrees)}
    epochs = {name: among_epochs(part) for name, part in parts.items()}
    found = {name: [settled(each, predictor) for predictor in PREDICTORS] for name, each in epochs.items()}
    return pd.DataFrame({"predictor": PREDICTORS, **found})


def verdicts(pairs, keys, names):
    """A row for each pair of wrong (R, n): `names`, then estimate, low, high (95 %), p, p_same and verdict.

    Orders and test images vary (statistics.crossed); p and p_same, of the difference and of its lying within +-ROPE, are
    corrected by Holm, each over all rows. verdict is HIGHER or LOWER where p tells a difference, else SAME where p_same
    tells that there is none of that size, else UNTOLD. The two families err with probability 0.05 each, so with 0.10 at most
    together. In one order only the test images vary (statistics.mcnemar), and p_same is missing.
    """
    told = statistics.holm({i: _difference(a, b) for i, (a, b) in enumerate(pairs)})
    same = {i: statistics.crossed_equivalence(_gap(a, b), within=ROPE) for i, (a, b) in enumerate(pairs) if len(a) > 1}
    p_same = {i: each.p for i, each in statistics.holm(same).items()} if same else {}
    rows = [
        (*key, each.estimate, each.low, each.high, each.p, p_same.get(i, np.nan))
        for (i, each), key in zip(told.items(), keys, strict=True)
    ]
    table = pd.DataFrame(rows, columns=[*names, "estimate", "low", "high", "p", "p_same"])
    side = np.where(table["estimate"] > 0, HIGHER, LOWER)
    alike = np.where(table["p_same"] < statistics.ALPHA, SAME, UNTOLD)
    return table.assign(verdict=np.where(table["p"] < statistics.ALPHA, side, alike))


def _difference(a, b):
    """The mean of wrong a less wrong b (R, n), over orders and test images; of one order, over test images."""
    if len(a) == 1 and a.dtype == bool:
        return statistics.mcnemar(a[0], b[0])
    return statistics.crossed(_gap(a, b))


def _gap(a, b):
    return np.asarray(a, dtype=float) - b


def differences_to(pairs, degree):
    """By how much the other degrees have more errors than this one, by `among_degrees`: degree, estimate, low, high, p,
    p_same and verdict, the degrees in order."""
    turned = {HIGHER: LOWER, LOWER: HIGHER}
    rows = []
    for row in pairs.to_dict("records"):
        if row["degree"] == degree:
            rows.append(row | {"degree": row["and degree"]})
        elif row["and degree"] == degree:
            ends = {"estimate": -row["estimate"], "low": -row["high"], "high": -row["low"]}
            rows.append(row | ends | {"verdict": turned.get(row["verdict"], row["verdict"])})
    columns = ["degree", "estimate", "low", "high", "p", "p_same", "verdict"]
    return pd.DataFrame(rows, columns=columns).sort_values("degree", ignore_index=True)


def _of(wrong, degrees, degree, predictor, epoch):
    return wrong[:, list(degrees).index(degree), PREDICTORS.index(predictor), epoch - 1]


def published_place(runs):
    """Is the published run, order 0, an ordinary one? A row for each degree, and for all: numbers (predictors and epochs),
    above and below the median of all orders, p of the joint test and of the sides (statistics.membership)."""
    keys = ["degree", "predictor", "epoch"]
    wide = runs.pivot(index="order", columns=keys, values="errors").sort_index()
    parts = [(str(degree), wide[degree]) for degree in wide.columns.unique("degree")]
    parts += [("all", wide)] if len(parts) > 1 else []
    tests = [
        (name, statistics.membership(part.loc[0], part.drop(index=0), varies="visiting orders")) for name, part in parts
    ]
    rows = [(name, test.m, test.n, test.above, test.below, test.p, test.sides) for name, test in tests]
    return pd.DataFrame(rows, columns=["degree", "numbers", "other orders", "above", "below", "p", "p of sides"])


def ensembles(predictions, labels, degrees, *, predictor=CONTROL):
    """The majority of the orders for each degree, by one predictor after the last epoch; ties go to the lowest class.

    predictions as for `wrong`. Columns degree, single (the mean error of one order), majority (its error), estimate, low,
    high and p of majority less single over test images and the single orders (statistics.crossed, Holm over the degrees);
    the majority is that of these orders and does not vary. Then unanimous (the share of images on which all orders agree)
    and the mean error rates of one order there and elsewhere, where at least one of R orders errs: 1 / R is forced. Fisher's
    test is free of that arithmetic: does the first order err more often where the others do not all agree? Its p is 1 with
    fewer than two others, or where they always agree.
    """
    chosen = np.stack([each[:, :, PREDICTORS.index(predictor), -1] for each in predictions])
    rows = []
    tests = {}
    for d, degree in enumerate(degrees):
        own = chosen[:, :, d]
        n_classes = int(max(chosen.max(), labels.max())) + 1
        votes = np.stack([(own == c).sum(axis=0) for c in range(n_classes)])
        majority = votes.argmax(axis=0) != labels
        wrong_one = own != labels
        same = votes.max(axis=0) == len(own)
        tests[degree] = statistics.crossed(majority.astype(float) - wrong_one)
        inside = wrong_one[:, same]
        outside = wrong_one[:, ~same]
        elsewhere = outside.mean() if outside.size else np.nan
        p = _told_by_the_others(own, wrong_one[0])
        rows.append((degree, wrong_one.mean(), majority.mean(), same.mean(), inside.mean(), elsewhere, p))
    names = ["degree", "single", "majority", "unanimous", "error there", "elsewhere", "p of Fisher's test"]
    table = pd.DataFrame(rows, columns=names)
    found = statistics.holm(tests).values()
    for place, name in enumerate(("estimate", "low", "high", "p")):
        table.insert(3 + place, name, [getattr(each, name) for each in found])
    return table


def _told_by_the_others(own, wrong_first):
    """p of Fisher's test between the errors (n,) of the first of the orders own (R, n) where the others agree and not."""
    agree = (own[1:] == own[1]).all(axis=0)
    if len(own) < 3 or agree.all() or not agree.any():
        return 1.0
    inside = wrong_first[agree]
    outside = wrong_first[~agree]
    return statistics.two_samples(int(outside.sum()), outside.size, int(inside.sum()), inside.size).p


def answers(predictions):
    """(R, n, D): what the average predictor says after the last epoch; predictions as for `wrong`."""
    return np.stack([each[:, :, PREDICTORS.index(CONTROL), -1] for each in predictions])


def by_digit(said, labels, degrees):
    """Error rates, means over orders, by digit (rows) and degree (columns); said (R, n, D) as in `answers`."""
    rates = [(said[:, labels == digit] != digit).mean(axis=(0, 1)) for digit in np.unique(labels)]
    return pd.DataFrame(rates, index=pd.Index(np.unique(labels), name="digit"), columns=list(degrees))


def confusions(said, labels):
    """(C, C): how many test images of each digit (rows) get which answer (columns), means over orders; said (R, n)."""
    counts = np.zeros((labels.max() + 1, max(labels.max(), said.max()) + 1))
    np.add.at(counts, (np.tile(labels, len(said)), said.ravel()), 1 / len(said))
    return counts


def confused(counts):
    """How often two digits are confused with each other, in either order, as in `confusions`: a Series under names such as
    "4 and 9", the most first."""
    low, high = np.triu_indices(len(counts), 1)
    both = pd.Series(counts[low, high] + counts[high, low], index=[f"{a} and {b}" for a, b in zip(low, high, strict=True)])
    return both.sort_values(ascending=False, kind="stable")


def hardest(said, labels):
    """The test images by the share of orders and degrees that misclassify them, the highest first: example, true, predicted
    (the wrong answer given most often) and share. said (R, n, D) as in `answers`; ties go to the first; images that are
    always right are left out."""
    votes = np.stack([(said == digit).mean(axis=(0, 2)) for digit in range(int(max(said.max(), labels.max())) + 1)])
    share = 1 - votes[labels, np.arange(len(labels))]
    votes[labels, np.arange(len(labels))] = -1
    table = pd.DataFrame(
        {"example": np.arange(len(labels)), "true": labels, "predicted": votes.argmax(axis=0), "share": share}
    )
    return table[share > 0].sort_values("share", ascending=False, kind="stable", ignore_index=True)


def choices(held, tested, names):
    """Choose by `held` errors, look at the test `errors` of `tested`: tables of degree, epoch and predictor for each run.

    names are the columns that identify runs; the last of them numbers the runs that differ by chance only. A row for each
    run and each of CHOICES: names, among, predictor, degree, epoch, held (errors), honest (test errors of the choice),
    fewest (those of the best candidate by hindsight) and elsewhere (the mean test errors of that candidate in the other runs
    that are alike). Ties go to the lowest degree, the earliest epoch and the first predictor.
    """
    keys = ["degree", "epoch", "place"]
    held, tested = (table.assign(place=table["predictor"].map(PREDICTORS.index)) for table in (held, tested))
    held = held.pivot(index=names, columns=keys, values="held").sort_index(axis=1)
    tested = tested.pivot(index=names, columns=keys, values="errors").reindex(index=held.index, columns=held.columns)
    alike = [name if isinstance(name, tuple) else (name,) for name in held.index]
    rows = []
    for among, run in product(CHOICES, range(len(held))):
        own = [column for column in held.columns if among in (ALL_FOUR, PREDICTORS[column[-1]])]
        degree, epoch, place = choice = held[own].iloc[run].idxmin()
        best = tested[own].iloc[run].idxmin()
        others = [i for i, each in enumerate(alike) if each[:-1] == alike[run][:-1] and i != run]
        found = held[choice].iloc[run], tested[choice].iloc[run], tested[best].iloc[run], tested[best].iloc[others].mean()
        rows.append((*alike[run], among, PREDICTORS[place], degree, epoch, *found))
    columns = [*names, "among", "predictor", "degree", "epoch", "held", "honest", "fewest", "elsewhere"]
    whole = dict.fromkeys(("held", "honest", "fewest"), int)
    return pd.DataFrame(rows, columns=columns).astype(whole)


def selection(chosen, n):
    """The means of `choices` over runs, as rates of n test images.

    Columns among, runs, honest, sd (of honest), fewest, elsewhere, estimate (honest less fewest) with its 95 % interval over
    the runs, and the degree chosen most often with its share.
    """
    rows = []
    for among, part in chosen.groupby("among", sort=False):
        gap = statistics.student((part["honest"] - part["fewest"]) / n, varies="visiting orders")
        counts = part["degree"].value_counts().sort_index()
        rows.append(
            {
                "among": among, "runs": len(part), "honest": part["honest"].mean() / n, "sd": part["honest"].std() / n,
                "elsewhere": part["elsewhere"].mean() / n, "fewest": part["fewest"].mean() / n, "estimate": gap.estimate,
                "low": gap.low, "high": gap.high, "degree": int(counts.idxmax()), "share": counts.max() / len(part),
            }
        )  # fmt: skip
    return pd.DataFrame(rows)


def folds(table, n):
    """`selection` of small training sets by their folds, all four predictors together, for each size: n, and its columns but
    among. table: size n, degree, order, epoch, predictor, held (errors on all folds), test (errors of n test images)."""
    names = ["n", "degree", "order", "epoch", "predictor"]
    chosen = choices(table[[*names, "held"]], table.rename(columns={"test": "errors"})[[*names, "errors"]], ["n", "order"])
    free = chosen[chosen["among"] == ALL_FOUR]
    parts = [selection(part, n).assign(n=size) for size, part in free.groupby("n")]
    rows = pd.concat(parts, ignore_index=True).drop(columns="among")
    return rows[["n", *rows.columns.drop("n")]]


def honest(wrong, degrees, chosen, *, other=None):
    """The error rate of honest choices, a Difference from 0 whose interval is over orders and test images: chosen are the
    rows of `choices` for one of CHOICES, in the order of the rows of wrong.

    other (n,) or (R, n) bool, where another learner or choice errs on the same images: the difference from its error rate.
    The interval leaves out what never varies: the training images, the held-out images, which choose in every order, and the
    writers of the test images.
    """
    own = _chosen(wrong, degrees, chosen)
    return statistics.crossed(own if other is None else own - np.asarray(other, dtype=float))


def _chosen(wrong, degrees, chosen):
    """(R, n): where the choice of each order errs."""
    rows = zip(wrong[:, None], chosen.itertuples(), strict=True)
    return np.stack([_of(own, degrees, c.degree, c.predictor, c.epoch)[0] for own, c in rows]).astype(float)


def by_mean(held, degrees):
    """The degree, predictor and epoch with the fewest held-out errors on average over all orders, as `choices` has them: the
    same row for each order. held: degree, order, epoch, predictor, held. Ties as in `choices`."""
    own = held[held["degree"].isin(degrees)]
    place = own["predictor"].map(PREDICTORS.index)
    means = own["held"].groupby([own["degree"], own["epoch"], place]).mean()
    degree, epoch, place = means.idxmin()
    orders = sorted(own["order"].unique())
    return pd.DataFrame({"order": orders, "predictor": PREDICTORS[place], "degree": degree, "epoch": epoch})


def chosen_by(among, chosen, held, degrees):
    """Choices of one of HONEST: a row for each order, as `choices` has them."""
    return by_mean(held, degrees) if among == BY_MEAN else chosen[chosen["among"] == among]


def honest_errors(wrong, degrees, chosen, held):
    """The error of the kernel perceptron where no test image chooses: a row for each of HONEST.

    wrong (R, D, 4, E, n); chosen: `choices` of the same orders and degrees; held: degree, order, epoch, predictor, held.
    Columns: among; estimate, low and high of its error rate (95 %, over orders and test images); more, more low, more high:
    its error less that of the first row, the average predictor, which is what the chapter recommends; and how many orders
    chose what: each of PREDICTORS, degrees ("3 (10), 4 (10)") and epochs ("6 to 10"). `honest` says what the intervals leave
    out.
    """
    rows = []
    first = _chosen(wrong, degrees, chosen_by(CONTROL, chosen, held, degrees))
    for among in HONEST:
        own = chosen_by(among, chosen, held, degrees)
        rate = honest(wrong, degrees, own)
        more = honest(wrong, degrees, own, other=first)
        orders = own["predictor"].value_counts()
        counted = own["degree"].value_counts().sort_index()
        ends = sorted({own["epoch"].min(), own["epoch"].max()})
        rows.append(
            {
                "among": among, "estimate": rate.estimate, "low": rate.low, "high": rate.high, "more": more.estimate,
                "more low": more.low, "more high": more.high,
                **{name: int(orders.get(name, 0)) for name in PREDICTORS},
                "degrees": ", ".join(f"{degree} ({count})" for degree, count in counted.items()),
                "epochs": " to ".join(map(str, ends)),
            }
        )  # fmt: skip
    return pd.DataFrame(rows)


def against_final(noise, epoch):
    """The average, minimizing and voted predictors less the final one of the same orders, after an epoch, where labels are
    wrong: kernel, threshold, share, predictor, final (its error rate), estimate, low, high, p, verdict.

    Student's t over visiting orders (and wrong labels), Holm over all rows; the test images are the same throughout.
    """
    rows = noise[noise["epoch"] == epoch]
    rows = rows.assign(error=rows["errors"] / rows["n_test"])
    names = ["kernel", "threshold", "share"]
    wide = rows.pivot(index=[*names, "order"], columns="predictor", values="error")
    groups = dict(list(wide.groupby(names, sort=False)))
    tests = statistics.holm(
        {
            (*key, name): statistics.student(part[name] - part["final"], varies="visiting orders")
            for key, part in groups.items()
            for name in PREDICTORS
            if name != "final"
        }
    )
    found = [
        (*key, groups[key[:3]]["final"].mean(), test.estimate, test.low, test.high, test.p, test.word(LOWER, HIGHER, UNTOLD))
        for key, test in tests.items()
    ]
    return pd.DataFrame(found, columns=[*names, "predictor", "final", "estimate", "low", "high", "p", "verdict"])


def fewer(runs, kept):
    """By which share the support vectors are fewer than in the chapter's runs, after their last epoch: protocol, degree,
    orders, mean, and the share as estimate, low and high, Fieller's over pairs of orders with one seed.

    runs and kept: the tables of `orders` and `study.mnist.kept.kept`.
    """
    last = runs["epoch"].max()
    rows = kept[(kept["epochs"] == last) & (kept["epoch"] == last) & (kept["predictor"] == CONTROL)]
    keys = ["degree", "order", "epoch", "predictor"]
    both = rows.merge(runs[[*keys, "support"]], on=keys, suffixes=("", " before"))
    found = []
    for (protocol, degree), part in both.groupby(["protocol", "degree"]):
        ratio = statistics.ratio(part["support"], part["support before"], varies="visiting orders")
        ends = 1 - ratio.estimate, 1 - ratio.high, 1 - ratio.low
        found.append((protocol, degree, len(part), part["support"].mean(), *ends))
    return pd.DataFrame(found, columns=["protocol", "degree", "orders", "mean", "estimate", "low", "high"])


def costs_of_protocols(costs):
    """Medians over the orders of `study.mnist.kept.kept_costs`: degree, protocol, support, fit, predict (s), peak (GiB)."""
    return costs.groupby(["degree", "protocol"], sort=False, as_index=False)[["support", "fit", "predict", "peak"]].median()


def errors_under_protocols(wrong, kept, degrees):
    """Errors after the last epoch less those in the chapter's runs, of each degree and the mean over degrees: predictor (the
    average or the final one), protocol, degree, and a verdict as in `verdicts`.

    wrong (R, D, 4, E, n) of these degrees; kept: the arrays of `study.mnist.kept.kept`, as many orders or fewer first.
    """
    n = wrong.shape[-1]
    shape = (len(NEW_HERE), len(degrees), len(PREDICTORS))
    same = [each["wrong"] for each in kept if each["wrong"].shape[:3] == shape]
    others = np.stack([np.unpackbits(each, axis=-1, count=n) for each in same])
    own = wrong[: len(others), :, :, -1]
    keys = list(product((CONTROL, "final"), NEW_HERE, (*degrees, "mean")))
    pairs = []
    for name, protocol, degree in keys:
        place = PREDICTORS.index(name)
        here = slice(None) if degree == "mean" else [degrees.index(degree)]
        both = others[:, NEW_HERE.index(protocol), here, place], own[:, here, place]
        pairs.append([each.mean(axis=1) for each in both])
    return verdicts(pairs, keys, ["predictor", "protocol", "degree"])


# For readers.


IN_POINTS = {"estimate": points, "low": points, "high": points, "p": p_cell}
"""How differences of rates and their tests are printed."""


def averaging_table(gaps):
    """`of_final` as it is printed: by degree the points after each epoch, with their intervals."""
    cells = [with_interval(row) for row in gaps.itertuples()]
    wide = gaps.assign(cell=cells).pivot(index="degree", columns="epoch", values="cell")
    names = {epoch: f"after epoch {epoch}" for epoch in wide.columns}
    return styled(wide.rename(columns=names).rename_axis(columns=None).reset_index())


def honest_table(honest):
    """`honest_errors` as they are printed: of the predictors those that orders chose, each with their number."""
    chosen = honest[list(PREDICTORS)].to_dict("records")
    shown = {
        "chosen among": honest["among"],
        "error": honest["estimate"],
        "95 % interval": [rate_interval(row) for row in honest.itertuples()],
        "predictors": [", ".join(f"{name} ({n})" for name, n in row.items() if n) for row in chosen],
        "degrees": honest["degrees"],
        "epochs": honest["epochs"],
    }
    return styled(pd.DataFrame(shown), {"error": percent})
