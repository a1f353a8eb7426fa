"""Small tables that the MNIST chapters show or draw conclusions from, aggregated from those of study.mnist.experiment.

multiclass is the stored table (degree, epoch, predictor, split, errors, n). Ties go to the lowest degree and the earliest
epoch. Rates are fractions; intervals are exact binomial ones at 95 %.
"""

import numpy as np
import pandas as pd

from kp.mistakes import PREDICTORS
from study.claims import interval


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


def beside_interval(by_degree, winner):
    """The smallest error of each degree, and whether it lies in the winner's interval: columns degree, error, inside.

    by_degree as from `best_by_degree`, winner a row of `ranking`.
    """
    best = by_degree.groupby("degree", as_index=False)["error"].min()
    return best.assign(inside=best["error"].between(winner["low"], winner["high"]))


def epochs_to_reach(multiclass, predictor, error):
    """The first epoch at which the predictor, at any degree, misclassifies at most this share of the test set, or None."""
    rows = multiclass[(multiclass["split"] == "test") & (multiclass["predictor"] == predictor)]
    reached = rows.loc[rows["errors"] <= error * rows["n"], "epoch"]
    return int(reached.min()) if len(reached) else None


def swings(multiclass):
    """The range of the test error over the second half of the epochs, averaged over degrees, of each predictor: a Series."""
    test = with_rates(multiclass[multiclass["split"] == "test"])
    late = test[test["epoch"] > test["epoch"].max() // 2].groupby(["degree", "predictor"])["error"]
    return (late.max() - late.min()).groupby("predictor").mean()


def selection_optimism(predictions, labels, *, degrees, draws, random_state):
    """Choose degree and epoch on a random half of the test set and look at the other half, many times.

    predictions (degrees, 4, E, n) and labels (n,) are indices of classes, the first axis in the order of degrees. Columns
    predictor, draw, degree, epoch, chosen_on and rest (error rates on the two halves).
    """
    random, wrong, rows = np.random.RandomState(random_state), np.asarray(predictions) != labels, []
    n, total = wrong.shape[-1], wrong.sum(axis=-1)
    for draw in range(draws):
        half = random.permutation(n)[: n // 2]
        chosen = wrong[..., half].sum(axis=-1)
        for p, predictor in enumerate(PREDICTORS):
            d, e = np.unravel_index(chosen[:, p].argmin(), chosen[:, p].shape)
            inside = chosen[d, p, e] / len(half)
            rest = (total[d, p, e] - chosen[d, p, e]) / (n - len(half))
            head = {"predictor": predictor, "draw": draw, "degree": degrees[d], "epoch": e + 1}
            rows.append(head | {"chosen_on": inside, "rest": rest})
    return pd.DataFrame(rows)


def optimism(draws):
    """Means of `selection_optimism`: a row for each predictor, with the difference and the degree chosen most often."""
    groups = draws.groupby("predictor", sort=False)
    means = groups[["chosen_on", "rest"]].mean()
    means["optimism"] = means["rest"] - means["chosen_on"]
    return means.assign(degree=groups["degree"].agg(lambda degrees: degrees.mode()[0])).reset_index()


def confusions(confusion, count):
    """The most frequent pairs (true, predicted) of different digits in a table of confusions, over all its predictors."""
    wrong = confusion[confusion["true"] != confusion["predicted"]]
    pairs = wrong.groupby(["true", "predicted"], as_index=False)["count"].sum()
    return pairs.sort_values("count", ascending=False, kind="stable", ignore_index=True).head(count)


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


def published_beside_ours(both):
    """`published_with_ours`, a row for each degree and epoch: "published (ours minus published)" by predictor and split."""
    difference = both["errors"] - both["errors_published"]
    cell = [f"{p} ({d})" for p, d in zip(both["errors_published"], difference, strict=True)]
    both = both.assign(cell=cell, column=both["predictor"] + ", " + both["split"])
    columns = [f"{p}, {s}" for s in ("train", "test") for p in PREDICTORS if p in set(both["predictor"])]
    cells = both.pivot(index=["degree", "epoch"], columns="column", values="cell")[columns]
    return cells.rename_axis(columns=None).reset_index()


def agreement(claims):
    """How many claims of each item have which verdict, as counts; one row an item."""
    verdicts = pd.Categorical(claims["verdict"], ["exact", "within", "outside", "degenerate"])
    return pd.crosstab(claims["item"], verdicts, dropna=False).rename_axis(columns=None).reset_index()


def beside_literature(cited, best):
    """The cited test errors (percent) as fractions, with our best predictors, a `ranking`, among them; largest first."""
    ours = best.assign(
        method=[f"**Kernel perceptron, {b.predictor}, degree {b.degree}, epoch {b.epoch}**" for b in best.itertuples()],
        preprocessing="none",
        source="this study",
        test_error=best["error"],
    )
    cited = cited.assign(test_error=cited["test_error_percent"] / 100)
    columns = ["method", "preprocessing", "source", "test_error"]
    both = pd.concat([cited[columns], ours[columns]], ignore_index=True)
    both = both.sort_values("test_error", ascending=False, kind="stable", ignore_index=True)
    return both.rename(columns={"test_error": "test error"})
