"""Summaries over the splits: errors by degree, the degrees that folds choose, confusions in percent, and own methods.

errors, confusion and missed are tables of study.coursework.experiment. Rates are fractions; sd is over the splits.
"""

import numpy as np
import pandas as pd

from study import statistics
from study.coursework.experiment import FOLDS, NONE, OURS, TEST, TEST_SHARE, TRAIN
from study.words import interval, p_cell, points, styled

OVERLAP = TEST_SHARE / (1 - TEST_SHARE)
"""n_test / n_train of a split."""


def rates(errors, predictor, method=OURS):
    """Error rates of one predictor: columns repetition, value, split, rate."""
    own = errors[(errors["method"] == method) & errors["predictor"].isin([predictor, NONE])]
    return own.assign(rate=own["errors"] / own["n"])[["repetition", "value", "split", "rate"]]


def by_value(errors, predictor):
    """A row for each degree or width: value, then mean and sd over the splits of the training and of the test error."""
    own = rates(errors, predictor)
    found = own[own["split"] != FOLDS].groupby(["value", "split"])["rate"].agg(["mean", "std"])
    return found.rename(columns={"std": "sd"}).reset_index()


def choices(errors, predictor):
    """A row for each split: repetition; value, the one with the fewest errors on its folds (the first of equals); error and
    training, the test and the training error there; lowest, the lowest test error of any value, and at, where that is."""
    wide = rates(errors, predictor).pivot(index=["repetition", "value"], columns="split", values="rate")
    chosen = wide[FOLDS].groupby("repetition").idxmin()
    best = wide[TEST].groupby("repetition").idxmin()
    return pd.DataFrame(
        {
            "repetition": [place for place, _ in chosen],
            "value": [value for _, value in chosen],
            "error": wide[TEST].loc[chosen].to_numpy(),
            "training": wide[TRAIN].loc[chosen].to_numpy(),
            "lowest": wide[TEST].loc[best].to_numpy(),
            "at": [value for _, value in best],
        }
    )


def confusion(counts, classes):
    """(mean, sd) over the splits of the share of the test examples of each class that get each answer, (C, C) each."""
    wide = counts.pivot(index=["repetition", "label"], columns="answer", values="examples")
    splits = sorted(counts["repetition"].unique())
    wide = wide.reindex(index=pd.MultiIndex.from_product([splits, classes]), columns=classes).fillna(0).to_numpy()
    shares = wide.reshape(len(splits), len(classes), -1)
    shares = shares / shares.sum(axis=2, keepdims=True)
    return shares.mean(axis=0), shares.std(axis=0, ddof=1)


def most_confused(counts, classes):
    """The pair of classes that is confused most often: label, answer, and mean and sd of the share."""
    mean, sd = confusion(counts, classes)
    mean[np.diag_indices_from(mean)] = -1
    c, d = np.unravel_index(mean.argmax(), mean.shape)
    return pd.Series({"label": classes[c], "answer": classes[d], "mean": mean[c, d], "sd": sd[c, d]})


def against(errors, predictor, other):
    """The test error of another predictor less that of `predictor`, at each degree or width: value, then estimate, low, high
    and p (corrected resampled t over the splits, Holm over the rows)."""
    wide = [rates(errors, name).query("split == @TEST").pivot(index="repetition", columns="value", values="rate")
            for name in (other, predictor)]  # fmt: skip
    found = {value: statistics.resampled(gap, test_share=OVERLAP) for value, gap in (wide[0] - wide[1]).items()}
    rows = [(value, each.estimate, each.low, each.high, each.p) for value, each in statistics.holm(found).items()]
    return pd.DataFrame(rows, columns=["value", "estimate", "low", "high", "p"])


def methods(errors, predictor):
    """A row for the kernel perceptron at the chosen degree or width, and one for each other method: method, training and
    test error (mean, sd), then its test error less that of the kernel perceptron: estimate, low, high, p."""
    ours = choices(errors, predictor)
    rows = [{"method": OURS, "training": ours["training"], "test": ours["error"]}]
    for name in errors["method"].unique():
        if name != OURS:
            own = rates(errors, predictor, name).pivot(index="repetition", columns="split", values="rate")
            rows.append({"method": name, "training": own[TRAIN], "test": own[TEST]})
    found = []
    for row in rows:
        gap = statistics.resampled(row["test"].to_numpy() - ours["error"].to_numpy(), test_share=OVERLAP)
        of = {"estimate": gap.estimate, "low": gap.low, "high": gap.high, "p": gap.p} if row["method"] != OURS else {}
        spread = {f"{on}_{how}": getattr(row[on], how)() for on in ("training", "test") for how in ("mean", "std")}
        found.append({"method": row["method"], **spread, **of})
    return pd.DataFrame(found, columns=["method", "training_mean", "training_std", "test_mean", "test_std", "estimate",
                                        "low", "high", "p"])  # fmt: skip


def with_sd(mean, sd):
    """A rate with its standard deviation, in percent: "3.21 ± 0.54"."""
    return f"{100 * mean:.2f} ± {100 * sd:.2f}"


def errors_table(errors, predictor, varies):
    """`by_value` as notebooks show it."""
    found = by_value(errors, predictor)
    found["rate"] = [with_sd(*each) for each in zip(found["mean"], found["sd"], strict=True)]
    wide = found.pivot(index="value", columns="split", values="rate")[[TRAIN, TEST]].reset_index()
    wide.columns = [varies, "training error (%)", "test error (%)"]
    return styled(wide, {varies: "g"})


def choices_table(errors, predictor, varies):
    """How often each degree or width was chosen by folds, and how often it had the lowest test error."""
    found = choices(errors, predictor)
    values = sorted(errors["value"].dropna().unique())
    counts = {"chosen by folds": found["value"], "lowest test error": found["at"]}
    table = pd.DataFrame({name: each.value_counts().reindex(values, fill_value=0) for name, each in counts.items()})
    return styled(table.rename_axis(varies).reset_index(), {varies: "g"})


def methods_table(errors, predictor):
    """`methods` as notebooks show it."""
    found = methods(errors, predictor)
    is_other = found["estimate"].notna()
    shown = pd.DataFrame({"method": found["method"]})
    for on in ("training", "test"):
        pairs = zip(found[f"{on}_mean"], found[f"{on}_std"], strict=True)
        shown[f"{on} error (%)"] = [with_sd(*each) for each in pairs]
    rows = list(found.itertuples())
    shown["difference"] = [points(row) if other else "" for row, other in zip(rows, is_other, strict=True)]
    shown["95 % interval"] = [interval(row) if other else "" for row, other in zip(rows, is_other, strict=True)]
    shown["p"] = [p_cell(row.p) if other else "" for row, other in zip(rows, is_other, strict=True)]
    return styled(shown)


def against_table(compared, varies):
    """`against` as notebooks show it."""
    shown = pd.DataFrame({varies: compared["value"]})
    shown["difference"] = [points(row) for row in compared.itertuples()]
    shown["95 % interval"] = [interval(row) for row in compared.itertuples()]
    shown["p"] = [p_cell(p) for p in compared["p"]]
    return styled(shown, {varies: "g"})
