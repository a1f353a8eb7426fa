"""What the tables of the family study say: growth of the support set, error by budget, the cure of overfitting, claims.

Nothing that is stored is computed here: these are summaries of the tables of study.family.experiment, and its settings.
"""

from dataclasses import replace

import numpy as np
import pandas as pd
from scipy.stats import t as student

from study.claims import COLUMNS, verdict
from study.family import experiment as family


def settings(dataset, **changes):
    """The settings of a notebook: those of the profile of "mnist" (published) or "digits" (quick), with changes.

    Lists become tuples; sizes that exceed a smaller n_train are cut to it. Raises ValueError for other data sets and sizes.
    """
    profiles = {"mnist": family.PUBLISHED, "digits": family.QUICK}
    if dataset not in profiles:
        raise ValueError(f"dataset must be mnist or digits, got {dataset!r}")
    base = profiles[dataset]
    changes = {name: tuple(value) if isinstance(value, list) else value for name, value in changes.items()}
    n = changes.get("n_train", base.n_train)
    cut = {name: min(getattr(base, name), n) for name in ("n_growth", "n_bound", "n_nu")}
    cut |= {"n_noise": min(base.n_noise, n // 2), "sizes": tuple(size for size in base.sizes if size <= n)}
    return replace(base, **(cut | changes))


def growth_exponents(streams):
    """a of support = c n^a, by least squares on logarithms over the last decade of the stream.

    One row for each kernel and noise of the perceptron on odd or even: examples, exponent (the mean over n_orders) with its
    95 % interval low, high (Student's t), and below, the fraction of orders with an exponent of at most 1.
    """
    rows = []
    part = streams[(streams["problem"] == family.PROBLEMS[0]) & (streams["method"] == "perceptron")]
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
    last = streams.loc[streams.groupby(family.KEYS, sort=False)["examples"].idxmax()]
    both = last.merge(final, on=family.KEYS, validate="one_to_one")
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


def claims(streams=None):
    """The article's statements that a number can test: columns of the claims ledger, from the published tables.

    Growth linear in the examples presented is an exponent of 1 (verdict by the interval over orders; percentile the fraction
    of orders with an exponent of at most 1). A budget that is kept is an exact count.
    """
    streams = family.table("streams", family.PUBLISHED) if streams is None else streams
    rows = []
    for row in growth_exponents(streams).itertuples():
        words = f"exponent of the growth of the support set, {row.kernel} kernel, {row.noise:.0%} wrong labels"
        rows.append((words, 1.0, row.exponent, row.low, row.high, row.examples, row.below))
    for method in ("forgetron", "basic forgetron"):
        part = streams[(streams["method"] == method) & (streams["problem"] == family.PROBLEMS[0])]
        for budget, group in part.groupby("budget"):
            most = int(group["support"].max())
            rows.append(
                (f"most examples held by the {method}, budget {budget}", budget, most, most, most, len(group), np.nan)
            )
    names = ["quantity", "published", "ours", "low", "high", "n", "percentile"]
    found = pd.DataFrame(rows, columns=names).assign(
        source="Encyclopedia article", item="Variants and extensions", producer="family.ipynb"
    )
    found["verdict"] = verdict(found["published"], found["ours"], found["low"], found["high"])
    return found[COLUMNS].round({"ours": 4, "low": 4, "high": 4})


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
    rows["by mistakes"] = family.vote_bound(rows["mistakes"], rows["n"])
    rows["by margin"] = family.vote_bound(rows["bound"], rows["n"])
    rows["vote"] = rows["vote_errors"] / rows["n_test"]
    rows["SVM held"] = rows["svm_support"] / (rows["n"] + 1)
    return rows.drop(columns=["vote_errors", "n_test", "svm_support"]).rename(columns={"hard_bound": "separable bound"})


def least_regularized(noise, rate):
    """Mean test error of NORMA at the smallest lambda, for one rate of wrong labels."""
    part = noise[(noise["noise"] == rate) & (noise["method"] == "norma")]
    part = part[part["value"] == part["value"].min()]
    return (part["test"] / part["n_test"]).mean()
