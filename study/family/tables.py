"""What the tables of the family's chapter say: growth of the support set, error by budget, overfitting, mistake bounds.

These are summaries of the tables of study.family.experiment; nothing is fitted to data here.
"""

import numpy as np
import pandas as pd
from scipy.stats import t as student

from study.family.names import KEYS, ODD_OR_EVEN
from study.margins import vote_bound


def growth_exponents(streams):
    """a of support = c n^a, by least squares on logarithms over the last decade of the stream.

    One row for each kernel and noise of the perceptron on odd or even: examples, exponent (the mean over n_orders) with its
    95 % interval low, high (Student's t), and below, the fraction of orders with an exponent of at most 1.
    """
    rows = []
    part = streams[(streams["problem"] == ODD_OR_EVEN) & (streams["method"] == "perceptron")]
    for (kernel, noise), group in part.groupby(["kernel", "noise"], sort=False):
        fits = []
        for _, run in group.groupby("random_state"):
            late = run[run["examples"] >= run["examples"].max() / 10]
            fits.append(np.polyfit(np.log(late["examples"]), np.log(late["support"]), 1)[0])
        mean, half = np.mean(fits), student.ppf(0.975, len(fits) - 1) * np.std(fits, ddof=1) / np.sqrt(len(fits))
        examples = int(group["examples"].max())
        rows.append((kernel, noise, examples, mean, mean - half, mean + half, len(fits), np.mean(np.array(fits) <= 1)))
    return pd.DataFrame(rows, columns=["kernel", "noise", "examples", "exponent", "low", "high", "n_orders", "below"])


def by_budget(streams, final, problem):
    """Mean and extremes over orders of the online and the test error rate and of the examples held, by method and budget.

    Orders that only the perceptron without a budget has seen are left out.
    """
    last = streams.loc[streams.groupby(KEYS, sort=False)["examples"].idxmax()]
    both = last.merge(final, on=KEYS, validate="one_to_one")
    both = both[(both["problem"] == problem) & (both["kernel"] == "poly") & (both["noise"] == 0)]
    both = both[both["random_state"].isin(both.loc[both["budget"] > 0, "random_state"])]
    both = both.assign(online=both["online_errors"] / both["n"], test=both["errors"] / both["n_test"])
    summary = both.groupby(["method", "budget"], sort=False).agg(
        online=("online", "mean"), online_low=("online", "min"), online_high=("online", "max"),
        test=("test", "mean"), test_low=("test", "min"), test_high=("test", "max"),
        mistakes=("mistakes", "mean"), support=("support", "mean"), most=("support", "max"),
        damage=("damage", "mean"), shrinking=("shrinking", "mean"), n_orders=("test", "size"),
    )  # fmt: skip
    return summary.reset_index()


def chosen_by_validation(noise):
    """For each noise and method (and passes of the perceptron) the value with the fewest validation errors over all orders.

    The validation examples have wrong labels too, as any sample would; the test examples have not. Rates with the mean
    over orders, and the standard deviation of the test rate.
    """
    keys = ["noise", "method", "passes", "value"]
    rates = noise.assign(**{s: noise[s] / noise[f"n_{s}"] for s in ("train", "validation", "test")})
    grouped = rates.groupby(keys, dropna=False, sort=False)
    means = grouped[["train", "validation", "test", "support"]].mean().reset_index()
    means["spread"] = grouped["test"].std().to_numpy()
    best = means.loc[means.groupby(["noise", "method", "passes"], sort=False)["validation"].idxmin()]
    return best.reset_index(drop=True)


def forgetron_account(streams, final, problem):
    """M, Q, Q / M and the mean shrink 1 - phi of each removal, means over orders, by Forgetron and budget.

    The guarantee rests on Q / M <= 15 / 32; its competitors have |g| <= (1 / 4) sqrt((B + 1) / log(B + 1)) = reach.
    """
    table = by_budget(streams, final, problem)
    table = table[table["method"].isin(["forgetron", "basic forgetron"])]
    removals = table["mistakes"] - table["budget"]
    return pd.DataFrame(
        {
            "method": table["method"],
            "budget": table["budget"],
            "mistakes M": table["mistakes"],
            "damage Q": table["damage"],
            "Q / M": table["damage"] / table["mistakes"],
            "mean 1 - phi": (table["shrinking"] / removals).where(removals > 0),
            "reach": np.sqrt((table["budget"] + 1) / np.log(table["budget"] + 1)) / 4,
        }
    ).reset_index(drop=True)


def bound_summary(bounds):
    """Means over orders by n and degree: mistakes, bounds, and what they say of the vote, in fractions."""
    rows = bounds.groupby(["n", "degree"], as_index=False).agg(
        mistakes=("mistakes", "mean"), bound=("bound", "mean"), hard_bound=("hard_bound", "mean"),
        vote_errors=("vote_errors", "mean"), n_test=("n_test", "first"), svm_support=("svm_support", "mean"),
    )  # fmt: skip
    rows["by mistakes"] = vote_bound(rows["mistakes"], rows["n"])
    rows["by margin"] = vote_bound(rows["bound"], rows["n"])
    rows["vote"] = rows["vote_errors"] / rows["n_test"]
    rows["SVM held"] = rows["svm_support"] / (rows["n"] + 1)
    return rows.drop(columns=["vote_errors", "n_test", "svm_support"]).rename(columns={"hard_bound": "separable bound"})


def least_regularized(noise, rate):
    """Mean test error of NORMA at the smallest lambda, for one rate of wrong labels."""
    part = noise[(noise["noise"] == rate) & (noise["method"] == "norma")]
    part = part[part["value"] == part["value"].min()]
    return (part["test"] / part["n_test"]).mean()
