"""Small tables that the MNIST chapters show or draw conclusions from, aggregated from those of study.mnist.experiment.

multiclass is the stored table (degree, epoch, predictor, split, errors, n); wrong (degrees, 4, E, n) says of each predictor
and test image whether it is misclassified, the axes in the order of degrees, PREDICTORS and epochs. Ties go to the lowest
degree and the earliest epoch. Rates are fractions; intervals are exact binomial ones at 95 %, over test images.
"""

from itertools import product

import numpy as np
import pandas as pd

from kp.mistakes import PREDICTORS
from study import statistics
from study.claims import VERDICTS, interval


def with_rates(table):
    """The table of counts with error (a fraction) and its exact 95 % interval, low and high (fractions)."""
    low, high = interval(table["errors"], table["n"])
    return table.assign(error=table["errors"] / table["n"], low=low / table["n"], high=high / table["n"])


def by_epoch(multiclass, split):
    """Counts of errors of one degree: a row for each epoch, a column for each predictor."""
    rows = multiclass[multiclass["split"] == split].pivot(index="epoch", columns="predictor", values="errors")
    return rows[list(PREDICTORS)].rename_axis(columns=None).reset_index()


def by_digit(binary, epoch, split="test"):
    """Counts of binary errors of one degree after an epoch: a row for each digit, a column for each predictor."""
    rows = binary[(binary["epoch"] == epoch) & (binary["split"] == split)]
    rows = rows.pivot(index="digit", columns="predictor", values="errors")
    return rows[list(PREDICTORS)].rename_axis(columns=None).reset_index()


def ranking(multiclass, split="test"):
    """The best degree and epoch of each predictor, with rates and intervals; the predictor with the fewest errors first."""
    rows = multiclass[multiclass["split"] == split].sort_values(["errors", "degree", "epoch"], kind="stable")
    best = rows.groupby("predictor", as_index=False, sort=False).first()
    return with_rates(best)[["predictor", "degree", "epoch", "errors", "n", "error", "low", "high"]]


def best_by_degree(multiclass, split="test"):
    """The best epoch of each predictor at each degree, with rates and intervals."""
    rows = multiclass[multiclass["split"] == split].sort_values(["errors", "epoch"], kind="stable")
    best = rows.groupby(["degree", "predictor"], as_index=False, sort=True).first()
    order = best["predictor"].map(PREDICTORS.index)
    best = best.assign(order=order).sort_values(["degree", "order"], ignore_index=True).drop(columns="order")
    return with_rates(best)


def over_degrees(multiclass, logs, epochs, *, predictors=("final", "average")):
    """A row for each degree: mistakes, support (distinct examples), training (errors of the average predictor at the end),
    and the test error rates of `predictors` after each of `epochs`, columns such as "final, epoch 1". logs: one list of logs
    for each degree, in their order."""
    rates, last = with_rates(multiclass).set_index(["degree", "epoch", "predictor", "split"]), multiclass["epoch"].max()
    rows = []
    for degree, own in zip(sorted(multiclass["degree"].unique()), logs, strict=True):
        row = {"degree": degree, "mistakes": sum(map(len, own)), "support": support_size(own)}
        row["training"] = int(rates.loc[(degree, last, "average", "train"), "errors"])
        for epoch, name in product(epochs, predictors):
            row[f"{name}, epoch {epoch}"] = rates.loc[(degree, epoch, name, "test"), "error"]
        rows.append(row)
    return pd.DataFrame(rows)


def epochs_to_reach(multiclass, predictor, error):
    """The first epoch at which the predictor, at any degree, misclassifies at most this share of the test set, or None."""
    rows = multiclass[(multiclass["split"] == "test") & (multiclass["predictor"] == predictor)]
    reached = rows.loc[rows["errors"] <= error * rows["n"], "epoch"]
    return int(reached.min()) if len(reached) else None


def steps_between_epochs(multiclass):
    """The mean size of the change of the test error from one epoch to the next, over the second half of the epochs.

    A row for each predictor: at degree 1, and averaged over the other degrees.
    """
    test = with_rates(multiclass[multiclass["split"] == "test"]).sort_values("epoch")
    size = test.groupby(["degree", "predictor"])["error"].diff().abs()
    late = test.assign(size=size)[test["epoch"] > test["epoch"].max() // 2]
    steps = late.groupby([late["degree"] == 1, "predictor"])["size"].mean().unstack(0).reindex(list(PREDICTORS))
    return steps.rename(columns={True: "degree 1", False: "higher degrees"}).rename_axis(columns=None).reset_index()


def near_best(multiclass, images=1):
    """The rows of degree, epoch and predictor with at most so many more test errors than the fewest; the best first."""
    test = multiclass[multiclass["split"] == "test"]
    near = test[test["errors"] <= test["errors"].min() + images]
    return near.sort_values(["errors", "degree", "epoch"], kind="stable", ignore_index=True)


def against_average(wrong, degrees, epochs):
    """The other predictors against the average one of the same degree and epoch: McNemar's tests, Holm over all rows.

    Columns epoch, degree, predictor, errors, average (its errors), and those of study.statistics.table. A difference below 0
    is in favour of the other predictor.
    """
    others = [name for name in PREDICTORS if name != "average"]
    keys = list(product(epochs, degrees, others))
    return _paired(
        keys, lambda e, d, name: (_of(wrong, degrees, d, name, e), _of(wrong, degrees, d, "average", e)), "average"
    )


def against_best(wrong, degrees, best, epoch):
    """Every degree and predictor after an epoch against `best` (degree, predictor, epoch), a row of `ranking`; as above."""
    chosen = (best["degree"], best["predictor"], best["epoch"])
    keys = [(epoch, d, name) for d, name in product(degrees, PREDICTORS) if (d, name, epoch) != chosen]
    other = _of(wrong, degrees, *chosen)
    return _paired(keys, lambda e, d, name: (_of(wrong, degrees, d, name, e), other), "best")


def gap_changes(wrong, degrees, first, last):
    """{degree: Difference}: how the final predictor's errors less the average one's change from an epoch to a later one.

    Exact sign flips over the test images, Holm over the degrees. Below 0 the gap has become smaller.
    """
    found = {}
    for d in degrees:
        gaps = [_of(wrong, degrees, d, "final", e).astype(int) - _of(wrong, degrees, d, "average", e) for e in (first, last)]
        found[d] = statistics.sign_flips(gaps[1] - gaps[0], of=1)
    return statistics.holm(found)


def _of(wrong, degrees, degree, predictor, epoch):
    return wrong[list(degrees).index(degree), PREDICTORS.index(predictor), epoch - 1]


def _paired(keys, pair, name):
    both = {key: pair(*key) for key in keys}
    tests = statistics.table(statistics.holm({key: statistics.mcnemar(*each) for key, each in both.items()}))
    head = pd.DataFrame(keys, columns=["epoch", "degree", "predictor"])
    head["errors"], head[name] = (np.array([each[side].sum() for each in both.values()]) for side in (0, 1))
    return pd.concat([head, tests.drop(columns="comparison")], axis=1)


def halves(errors, n_first):
    """Errors in the first n_first test images and in the rest: Fisher's tests, Holm over all rows.

    errors {name: (n,) bool}. Columns name, first, last, ratio (of the rates), and those of study.statistics.table.
    """
    counts = {name: (int(wrong[:n_first].sum()), int(wrong[n_first:].sum())) for name, wrong in errors.items()}
    sizes = {name: (n_first, len(wrong) - n_first) for name, wrong in errors.items()}
    tests = {
        name: statistics.two_samples(first, sizes[name][0], last, sizes[name][1]) for name, (first, last) in counts.items()
    }
    rows = [
        (name, first, last, (first / sizes[name][0]) / (last / sizes[name][1]) if last else np.nan)
        for name, (first, last) in counts.items()
    ]
    table = statistics.table(statistics.holm(tests)).drop(columns="comparison")
    return pd.concat([pd.DataFrame(rows, columns=["name", "first", "last", "ratio"]), table], axis=1)


def expected_in_first(wrong, labels, n_first):
    """How many of the errors (n,) would lie in the first n_first images if each digit's were spread over all its images."""
    return sum(wrong[labels == c].sum() * np.mean(np.flatnonzero(labels == c) < n_first) for c in np.unique(labels))


CHOICES = (*PREDICTORS, "all four")
"""What may be chosen: degree and epoch of one predictor, or of any."""


def selection_optimism(wrong, *, degrees, draws, random_state):
    """Choose degree and epoch on a random half of the test set and look at the other half, many times.

    Columns predictor (one of CHOICES), draw, degree, epoch, chosen_on and rest (error rates on the two halves).
    """
    random, rows = np.random.RandomState(random_state), []
    n, total = wrong.shape[-1], wrong.sum(axis=-1)
    for draw in range(draws):
        half = random.permutation(n)[: n // 2]
        chosen = wrong[..., half].sum(axis=-1)
        for predictor, (d, p, e) in _fewest(chosen):
            inside = chosen[d, p, e] / len(half)
            rest = (total[d, p, e] - chosen[d, p, e]) / (n - len(half))
            head = {"predictor": predictor, "draw": draw, "degree": degrees[d], "epoch": e + 1}
            rows.append(head | {"chosen_on": inside, "rest": rest})
    return pd.DataFrame(rows)


def _fewest(counts):
    """Each of CHOICES with the place (d, p, e) of its smallest count, the first of equals; counts (degrees, 4, E)."""
    for p, predictor in enumerate(PREDICTORS):
        d, e = np.unravel_index(counts[:, p].argmin(), counts[:, p].shape)
        yield predictor, (d, p, e)
    yield CHOICES[-1], np.unravel_index(counts.argmin(), counts.shape)


def optimism(wrong, *, degrees, draws, random_state):
    """By how much choosing makes the chosen error look too good: a row for each of CHOICES.

    Chosen on half of the test set: means of `selection_optimism`, chosen_on, rest and on_half, their difference, and degree,
    the one chosen most often. Chosen on all of it, on_all: the images are drawn anew with replacement, the choice is made on
    the draw, and its error there is held against that on the test set (bootstrap, mean over draws).
    """
    halves = selection_optimism(wrong, degrees=degrees, draws=draws, random_state=random_state)
    groups = halves.groupby("predictor", sort=False)
    means = groups[["chosen_on", "rest"]].mean()
    means["on_half"] = means["rest"] - means["chosen_on"]
    random, n, total = np.random.RandomState(random_state), wrong.shape[-1], wrong.sum(axis=-1)
    cells, gains = wrong.reshape(-1, n).astype(np.float32), {name: [] for name in CHOICES}
    for _ in range(draws):
        weights = np.bincount(random.randint(n, size=n), minlength=n).astype(np.float32)
        drawn = (cells @ weights).reshape(total.shape)
        for name, place in _fewest(drawn):
            gains[name].append((total[place] - drawn[place]) / n)
    means["on_all"] = pd.Series({name: np.mean(values) for name, values in gains.items()})
    return means.assign(degree=groups["degree"].agg(lambda degrees: degrees.mode()[0])).reset_index()


def committee(predictions, labels, n_classes):
    """The vote of several predictors (m, n), the lowest class of equals, and how they agree.

    {"wrong": (n,) bool of the vote, "agree": (n,) bool where all say the same}.
    """
    votes = np.stack([(predictions == c).sum(axis=0) for c in range(n_classes)])
    return {"wrong": votes.argmax(axis=0) != labels, "agree": (predictions == predictions[0]).all(axis=0)}


def digit_pairs(labels_first, labels_second):
    """How often each two different digits meet, in either order: a Series under names such as "1 and 7", the most first."""
    low, high = np.sort([labels_first, labels_second], axis=0)
    names = pd.Series([f"{a} and {b}" for a, b in zip(low, high, strict=True)], dtype=object)
    return names.value_counts(sort=False).sort_index().sort_values(ascending=False, kind="stable")


def misclassified(images, labels, scores, count):
    """The images that a predictor gets most wrong: columns example, true, predicted, and the two scores.

    images (c,) indices of misclassified examples, labels (c,) their true classes, scores (c, C) of the predictor. Scores are
    shown in units of the image's largest score in size; rows are sorted by the lead of the wrong digit, largest first.
    """
    predicted, row = scores.argmax(axis=1), np.arange(len(images))
    f = scores / np.abs(scores).max(axis=1, keepdims=True)
    names = {"true": labels, "predicted": predicted}
    table = pd.DataFrame({"example": images, **names})
    for name, classes in names.items():
        table[f"score of the {name} digit"] = f[row, classes]
    lead = table["score of the predicted digit"] - table["score of the true digit"]
    return table.iloc[np.argsort(-lead, kind="stable")[:count]].reset_index(drop=True)


def mistakes_by_digit(logs):
    """A row for each digit: mistakes, support vectors (distinct examples), mistakes in the first and in the last epoch."""
    rows = []
    for digit, log in enumerate(logs):
        made = np.diff([0, *(log.length(e) for e in range(1, log.n_epochs + 1))])
        row = {"digit": digit, "mistakes": len(log), "support vectors": len(np.unique(log.example))}
        rows.append(row | {"in epoch 1": made[0], "in the last epoch": made[-1]})
    return pd.DataFrame(rows)


def hardest(logs, count):
    """The training examples with the most mistakes over all digits; of equals the first. Columns example, mistakes."""
    examples, mistakes = np.unique(np.concatenate([log.example for log in logs]), return_counts=True)
    order = np.lexsort([examples, -mistakes])[:count]
    return pd.DataFrame({"example": examples[order], "mistakes": mistakes[order]})


def support_size(logs):
    """The number of distinct examples on which any of the perceptrons made a mistake."""
    return len(np.unique(np.concatenate([log.example for log in logs])))


def published_with_ours(multiclass, published):
    """The published counts of errors, column errors_published, with ours, column errors, sorted by their keys."""
    keys = ["degree", "epoch", "predictor", "split"]
    return published.merge(multiclass, on=[*keys, "n"], suffixes=("_published", "")).sort_values(keys, ignore_index=True)


def agreement(claims):
    """How many claims of each place in the source have which verdict, as counts, in the order of the ledger."""
    place = claims["item"].str.replace(r" \([a-f]\)$", "", regex=True)
    verdicts = claims["verdict"].value_counts().index
    order = [word for word in VERDICTS if word in verdicts]
    table = pd.crosstab(place, claims["verdict"]).reindex(index=place.unique(), columns=order)
    return table.assign(numbers=table.sum(axis=1)).rename_axis(index="place", columns=None).reset_index()


REPLICATED = {
    "Fig.": ("errors of the multiclass predictors", "files behind Figs 5 and 6"),
    "Binary": ("errors of the ten binary perceptrons", "files behind Figs 3 and 4"),
    "Confusion": ("confusion matrices", "files"),
    "Final report, Abstract": ("smallest test errors", "final report, abstract"),
    "Final report, Table 1": ("the best of each predictor", "final report, Table 1"),
}
"""Published numbers by the start of their item in the ledger: what they are, and where they stand."""


def replicated(claims):
    """How many published numbers are the same here, a row for each of REPLICATED. Columns published numbers, place, numbers,
    the same.

    A file of binary errors is one claim on as many numbers as it holds; any other claim is one number, the same if exact.
    """
    rows = []
    for start, names in REPLICATED.items():
        part = claims[claims["item"].str.startswith(start)]
        whole = start == "Binary"
        counts = (part["n"].sum(), part["ours"].sum()) if whole else (len(part), (part["verdict"] == "exact").sum())
        rows.append((*names, *map(int, counts)))
    return pd.DataFrame(rows, columns=["published numbers", "place", "numbers", "the same"])


def at_degrees(degrees):
    """Degrees as they stand in a sentence: "at degree 2", "at degrees 2, 4 and 5", "at degrees 3 to 6", "at no degree"."""
    degrees = list(degrees)
    texts = [str(degree) for degree in degrees]
    if not texts:
        return "at no degree"
    if len(texts) > 2 and degrees == list(range(degrees[0], degrees[-1] + 1)):
        return f"at degrees {texts[0]} to {texts[-1]}"
    return f"at degree{'s' * (len(texts) > 1)} " + " and ".join(filter(None, [", ".join(texts[:-1]), texts[-1]]))


def beside_literature(cited, ours):
    """The cited test errors (percent) as fractions, with ours, columns method and error, among them; largest first."""
    cited = cited.assign(error=cited["test_error_percent"] / 100)
    ours = ours.assign(method="**" + ours["method"] + "**", preprocessing="none", source="this study")
    columns = ["method", "preprocessing", "source", "error"]
    both = pd.concat([cited[columns], ours[columns]], ignore_index=True)
    return both.sort_values("error", ascending=False, kind="stable", ignore_index=True)


def jumps(log, *, share=0.05):
    """How single mistakes move the training errors of a log, after the first share of its mistakes.

    A Series: mistakes (how many are looked at), up (share of them that raise the errors), factor (the largest ratio of the
    errors after and before a mistake, 1 where there were none), final and minimizing (training errors at the end).
    """
    start = max(1, int(share * len(log)))
    before, after = log.errors[start - 1 : -1].astype(float), log.errors[start:]
    some = before > 0
    factor = (after[some] / before[some]).max() if some.any() else 1.0
    made = {"mistakes": len(after), "up": (after > before).mean() if len(after) else np.nan, "factor": factor}
    return pd.Series(made | {"final": log.errors[-1], "minimizing": log.errors.min()})


def errors_by_seed(rows):
    """Test errors after the last epoch of runs that differ in their seed only: a row for each random_state, a column for
    each predictor. rows: those of study.runs.table."""
    last = rows[(rows["split"] == "test") & (rows["epoch"] == rows["epoch"].max())]
    wide = last.pivot(index="random_state", columns="predictor", values="errors")
    return wide[list(PREDICTORS)].rename_axis(columns=None)


def class_spread(errors, own, n):
    """The errors of a class (`errors_by_seed`) as rates of n test images, and where one run, that with the seed `own`, lies.

    A row for each predictor: predictor, runs, mean, sd, lowest, highest, own, fewer and more (how many of the other runs
    have fewer and more errors than that one). Raises ValueError if no run has that seed, or if there are fewer than three.
    """
    if own not in errors.index or len(errors) < 3:
        raise ValueError(f"the class must have at least 3 runs, one of them with the seed {own}, got {list(errors.index)}")
    mine = errors.loc[own]
    rates = errors / n
    columns = {"runs": len(errors), "mean": rates.mean(), "sd": rates.std(), "lowest": rates.min(), "highest": rates.max()}
    columns |= {"own": mine / n, "fewer": (errors < mine).sum(), "more": (errors > mine).sum()}
    return pd.DataFrame(columns).rename_axis("predictor").reset_index()


def class_differences(errors, n):
    """The other predictors less the average one, in the same runs of a class: predictor, fewer, equal and more (in how many
    runs it has fewer, as many and more errors), and estimate, low, high, p of the mean difference of rates.

    Student's t over the seeds, with Holm's correction; the test images are the same throughout.
    """
    gaps = {name: errors[name] - errors["average"] for name in PREDICTORS if name != "average"}
    tests = statistics.holm({name: statistics.student(gap / n, varies="seeds") for name, gap in gaps.items()})
    signs = {name: np.sign(gap) for name, gap in gaps.items()}
    rows = [
        (name, (signs[name] < 0).sum(), (signs[name] == 0).sum(), (signs[name] > 0).sum(), t.estimate, t.low, t.high, t.p)
        for name, t in tests.items()
    ]
    columns = ["predictor", "fewer", "equal", "more", "estimate", "low", "high", "p"]
    return pd.DataFrame(rows, columns=columns).sort_values("predictor", key=lambda names: names.map(PREDICTORS.index))
