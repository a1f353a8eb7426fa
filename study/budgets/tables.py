"""Summaries for the family's chapter: growth, error by budget and at equal memory, wrong labels, guarantees.

These are summaries of the tables of study.budgets.experiment; tests and intervals are those of study.statistics. Where it is
not said otherwise they are over random orders, each of which is another sample of examples too.
"""

import numpy as np
import pandas as pd

from study import statistics
from study.budgets.guarantee import LEAST_BUDGET, budget_for
from study.budgets.names import (
    BESIDE,
    FINAL,
    KEYS,
    LEARNERS,
    MARGIN,
    NORMA,
    ODD_OR_EVEN,
    PAIRS,
    PERCEPTRONS,
    SVM,
    VOTED,
)
from study.protocols.margins import vote_bound

ORDERS = "random orders"
HALF_DECADE = 10**0.5
CHANGES = ("falls", "rises", "does not measurably change")
GROWTHS = ("slower than linear", "faster than linear", "linear not rejected")


# Growth.


def growth_exponents(streams):
    """a of held = c n^a, by least squares on logarithms over the last half decade of the stream, n / sqrt(10) to n.

    One row for each kernel and noise of the perceptron on odd or even: examples, held (the mean share of the examples that
    is held at the end), exponent (the mean over n_orders) with its 95 % interval low, high (Student's t), p of an exponent
    of 1 (Holm over all rows), growth (the result of this test in words), and below, the share of orders with an exponent
    of at most 1.
    """
    rows = []
    tests = {}
    part = streams[(streams["problem"] == ODD_OR_EVEN) & (streams["method"] == "perceptron")]
    for (kernel, noise), group in part.groupby(["kernel", "noise"], sort=False):
        examples = int(group["examples"].max())
        fits = []
        for _, run in group.groupby("random_state"):
            late = run[run["examples"] >= 0.999 * examples / HALF_DECADE]
            fits.append(np.polyfit(np.log(late["examples"]), np.log(late["support"]), 1)[0])
        held = group.loc[group["examples"] == examples, "support"].mean() / examples
        tests[kernel, noise] = statistics.student(np.array(fits) - 1, varies=ORDERS)
        rows.append((kernel, noise, examples, held, len(fits), np.mean(np.array(fits) <= 1)))
    tests = statistics.holm(tests)
    table = pd.DataFrame(rows, columns=["kernel", "noise", "examples", "held", "n_orders", "below"])
    table["exponent"], table["low"], table["high"] = (
        [1 + getattr(test, name) for test in tests.values()] for name in ("estimate", "low", "high")
    )
    table["p"] = [test.p for test in tests.values()]
    table["growth"] = [test.word(*GROWTHS) for test in tests.values()]
    return table.sort_values(["kernel", "noise"]).reset_index(drop=True)


# Budgets.


def by_budget(streams, final, problem):
    """Mean and extremes over orders of the online and the test error rate, means of what is held, by method and budget.

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
        mistakes=("mistakes", "mean"), support=("support", "mean"),
        damage=("damage", "mean"), shrinking=("shrinking", "mean"),
    )  # fmt: skip
    return summary.reset_index()


def cost_of_budget(streams, problem, budget):
    """By how much the online error of removing the oldest exceeds that of the perceptron without a budget at the end of the
    streams: a Difference over the orders that both have seen (Student's t). The polynomial kernel, right labels."""
    last = streams.loc[streams.groupby(KEYS, sort=False)["examples"].idxmax()]
    own = last[(last["problem"] == problem) & (last["kernel"] == "poly") & (last["noise"] == 0)]
    rates = own.assign(rate=own["online_errors"] / own["examples"]).pivot(
        index="random_state", columns=["method", "budget"], values="rate"
    )
    return statistics.student((rates["oldest", budget] - rates["perceptron", 0]).dropna(), varies=ORDERS)


def at_equal_memory(memory, final):
    """A row for each method and budget: truncation (0: none), held (mean of the second half of the stream), values (of the
    kernel, a prediction, on average over the stream), online and test error, means over orders."""
    keys = ["method", "budget", "random_state"]
    last = memory[memory["examples"] == memory["examples"].max()].drop(columns="held")
    both = last.merge(final, on=keys, validate="one_to_one")
    both = both.assign(
        values=both["values"] / both["n"], online=both["mistakes"] / both["n"], test=both["errors"] / both["n_test"]
    )
    columns = ["truncation", "held", "values", "online", "test"]
    return both.groupby(keys[:2], sort=False)[columns].mean().reset_index()


def budget_costs(memory):
    """Online error with the oldest removed less that of the perceptron without a budget: a row for each budget.

    Columns budget, none (the perceptron's, mean over orders), and the difference with its 95 % interval (Student's t over
    the orders): estimate, low, high.
    """
    last = memory[memory["examples"] == memory["examples"].max()]
    rates = last.assign(rate=last["mistakes"] / last["examples"]).pivot(
        index="random_state", columns=["method", "budget"], values="rate"
    )
    none = rates["perceptron", 0]
    own = rates["oldest"]
    tests = {budget: statistics.student(own[budget] - none, varies=ORDERS) for budget in sorted(own)}
    table = statistics.table(tests, comparison="budget").assign(none=none.mean())
    return table[["budget", "none", "estimate", "low", "high"]]


def memory_tests(memory, final):
    """Errors of each method less those of removing the oldest at the same budget: rate ("online" or "test"), method, budget,
    estimate, low, high, p.

    Student's t over the orders, which all have seen; Holm over all of one rate.
    """
    last = memory[memory["examples"] == memory["examples"].max()]
    online = last.assign(rate=last["mistakes"] / last["examples"])
    rows = []
    for name, table in (("online", online), ("test", final.assign(rate=final["errors"] / final["n_test"]))):
        wide = table.pivot(index="random_state", columns=["method", "budget"], values="rate")
        others = table.query("budget > 0 and method != 'oldest'")[["method", "budget"]].drop_duplicates()
        tests = {
            (method, budget): statistics.student(wide[method, budget] - wide["oldest", budget], varies=ORDERS)
            for method, budget in others.itertuples(index=False)
        }
        for key, each in statistics.holm(tests).items():
            rows.append((name, *key, each.estimate, each.low, each.high, each.p))
    return pd.DataFrame(rows, columns=["rate", "method", "budget", "estimate", "low", "high", "p"])


def forgetron_account(streams, final, problem):
    """Damage Q over mistakes M, and the mean shrink 1 - phi of each removal, means over orders, by Forgetron and budget. The
    guarantee rests on Q / M <= 15 / 32."""
    table = by_budget(streams, final, problem)
    table = table[table["method"].isin(["forgetron", "basic forgetron"])]
    removals = table["mistakes"] - table["budget"]
    return pd.DataFrame(
        {
            "method": table["method"],
            "budget": table["budget"],
            "Q / M": table["damage"] / table["mistakes"],
            "mean 1 - phi": (table["shrinking"] / removals).where(removals > 0),
        }
    ).reset_index(drop=True)


def guarantee_by_budget(guaranteed):
    """A row for each budget (0: a reach without limit): what the guarantee comes to, in fractions of n.

    least (mean over orders of the least value of the bound) with low, the lower end of its 95 % interval (Student's t),
    mistakes of the Forgetron, and needed, the budget whose reach holds the best competitor (the mean over orders).
    """
    rows = []
    for budget, group in guaranteed.groupby("budget"):
        least = statistics.student(group["upper"] / group["n"], varies=ORDERS)
        needed = np.mean([budget_for(norm) for norm in group["norm"]])
        mistakes = (group["mistakes"] / group["n"]).mean()
        rows.append((budget, budget >= LEAST_BUDGET, least.estimate, least.low, mistakes, needed))
    return pd.DataFrame(rows, columns=["budget", "covered", "least", "low", "mistakes", "needed"])


# Wrong labels.


def learners(table):
    """The learners of names.LEARNERS, order by order: error rates train, validation and test, examples held.

    table is one of `wrong_labels` or `machines`. Where there is a lambda or a C, each order has that with the fewest errors
    on its own validation examples, the smallest of several. Columns: noise, n, random_state, learner, passes, value.
    """
    found = []
    for name, (method, margin, regularised, predictor) in LEARNERS.items():
        own = table[(table["method"] == method) & (table["predictor"] == predictor)]
        if method == "perceptron":
            own = own[(own["margin"] == margin) & ((own["value"] > 0) == regularised)]
        best = own.sort_values(["validation", "value"], kind="stable")
        found.append(best.drop_duplicates(["noise", "n", "random_state", "passes"]).assign(learner=name))
    both = pd.concat(found, ignore_index=True)
    rates = {"train": both["train"] / both["n"], "validation": both["validation"] / both["n"]}
    both = both.assign(**rates, test=both["test"] / both["n_test"])
    columns = ["noise", "n", "random_state", "learner", "passes", "value", "train", "validation", "test", "support"]
    both["learner"] = pd.Categorical(both["learner"], categories=list(LEARNERS), ordered=True)
    return both.sort_values(["noise", "n", "learner", "passes", "random_state"])[columns].reset_index(drop=True)


def rates_by_learner(found):
    """Means over orders of `learners`, a row for each noise, n and learner; after one pass and after the last side by side.

    Columns: noise, n, learner, one (test error after one pass), test (after the last) with its 95 % interval low, high
    (Student's t), train (after the last), support. A support vector machine has no passes and no `one`.
    """
    rows = []
    for (noise, n, learner), group in found.groupby(["noise", "n", "learner"], observed=True):
        last = group[group["passes"] == group["passes"].max()]
        first = group[group["passes"] == 1]
        test = statistics.student(last["test"], varies=ORDERS)
        one = first["test"].mean() if len(first) else np.nan
        rows.append(
            (noise, n, learner, one, test.estimate, test.low, test.high, last["train"].mean(), last["support"].mean())
        )
    return pd.DataFrame(rows, columns=["noise", "n", "learner", "one", "test", "low", "high", "train", "support"])


def differences(found, pairs=PAIRS):
    """{(noise, n, a, b): Difference} of test errors after the last pass, those of a less those of b, for pairs (a, b) of
    learners; Holm over all of them."""
    last = found[found["passes"].isin([0, found["passes"].max()])]
    wide = last.pivot(index=["noise", "n", "random_state"], columns="learner", values="test")
    return statistics.holm(
        {
            (noise, n, a, b): statistics.student(group[a] - group[b], varies=ORDERS)
            for (noise, n), group in wide.groupby(level=["noise", "n"])
            for a, b in pairs
        }
    )


def ways(found):
    """How far each remedy alone goes on the way from the final predictor to NORMA, in test error after the last pass.

    A row for each rate of wrong labels above 0 and each of names.BESIDE: share (final - remedy) / (final - NORMA), a ratio
    of means over orders with Fieller's interval low, high; and p of the whole way (Student's t).
    """
    last = found[(found["passes"] == found["passes"].max()) & (found["noise"] > 0)]
    wide = last.pivot(index=["noise", "random_state"], columns="learner", values="test")
    rows = []
    for noise, group in wide.groupby(level="noise"):
        whole = group[FINAL] - group[NORMA]
        for remedy in BESIDE:
            share = statistics.ratio(group[FINAL] - group[remedy], whole, varies=ORDERS)
            p = statistics.student(whole, varies=ORDERS).p
            rows.append((noise, remedy, share.estimate, share.low, share.high, p))
    return pd.DataFrame(rows, columns=["noise", "remedy", "share", "low", "high", "p"])


def shares(ways):
    """The shares of `ways` as a person reads them, "73% (59% to 87%)": a row for each remedy, a column for each rate."""
    spans = [
        f"{row.share:.0%} ({row.low:.0%} to {row.high:.0%})" if np.isfinite([row.low, row.high]).all() else "no interval"
        for row in ways.itertuples()
    ]
    wide = ways.assign(span=spans).pivot(index="remedy", columns="noise", values="span").reindex(list(BESIDE))
    wide.index = wide.index.map(spelled)
    wide.columns = [f"{noise:.0%} wrong" for noise in wide.columns]
    return wide.rename_axis("remedy").reset_index()


def spelled(learner):
    """A learner as texts and figures name it; the stored name is British."""
    return learner.replace("ised", "ized")


def overfitting(found):
    """Effect of more passes on predictors: a row for each rate and each perceptron, and the two with a margin.

    train and test are the changes of the error rates from one pass to the last, with their 95 % intervals and p (Student's
    t over orders, Holm over all rows and both errors); overfits is True where the tests show that the training error falls
    and the test error rises.
    """
    watched = (*PERCEPTRONS, MARGIN, NORMA)
    own = found[found["learner"].isin(watched) & (found["n"] == found["n"].max())]
    watched = [name for name in watched if name in set(own["learner"])]
    last = own["passes"].max()
    tests = {}
    for noise in own["noise"].unique():
        for name in watched:
            part = own[(own["noise"] == noise) & (own["learner"] == name)]
            wide = part.pivot(index="random_state", columns="passes", values=["train", "test"])
            for value in ("train", "test"):
                tests[noise, name, value] = statistics.student(wide[value, last] - wide[value, 1], varies=ORDERS)
    tests = statistics.holm(tests)
    rows = []
    for noise, name in dict.fromkeys((noise, name) for noise, name, _ in tests):
        train = tests[noise, name, "train"]
        test = tests[noise, name, "test"]
        words = [each.word(*CHANGES) for each in (train, test)]
        spans = [getattr(each, part) for each in (train, test) for part in ("estimate", "low", "high", "p")]
        rows.append((noise, name, *spans, *words, words == [*CHANGES[:2]], train.n))
    names = [f"{value}{part}" for value in ("train", "test") for part in ("", "_low", "_high", "_p")]
    columns = ["noise", "predictor", *names, "train_word", "test_word", "overfits", "n_orders"]
    return pd.DataFrame(rows, columns=columns)


# Wrong labels of ten digits: the table of study.mnist.orders.noise.


def late_mistakes(noise):
    """The share of a run's mistakes after the third epoch, by kernel and share of wrong labels, means over orders."""
    made = noise[noise["predictor"] == "final"].pivot_table(
        index=["kernel", "share"], columns="epoch", values="mistakes", aggfunc="mean"
    )
    return 1 - made[3] / made[made.columns.max()]


# Bounds.


def bound_summary(bounds):
    """Means over orders by degree: mistakes, and in fractions the bounds of the vote, by its mistakes and by the margin, and
    of the machine (SVM held)."""
    rows = bounds.groupby("degree")[["n", "mistakes", "bound", "svm_support"]].mean()
    return pd.DataFrame({
        "mistakes": rows["mistakes"],
        "by mistakes": vote_bound(rows["mistakes"], rows["n"]),
        "by margin": vote_bound(rows["bound"], rows["n"]),
        "SVM held": rows["svm_support"] / (rows["n"] + 1),
    })  # fmt: skip


def bound_ratios(summary, by="by mistakes"):
    """The vote's bound, by its mistakes or "by margin", over the machine's, by degree; summary is bound_summary's."""
    return summary[by] / summary["SVM held"]


def bounds_compared(found):
    """The two bounds on the same orders with right labels: vote (twice the mistakes of one pass), machine (support vectors),
    in fractions, their ratio vote / machine with Fieller's interval, and the test errors; one row for each n.

    In one pass without margin or regularisation the examples held are the mistakes.
    """
    rows = []
    for n, group in found[found["noise"] == 0].groupby("n"):
        vote = group[(group["learner"] == VOTED) & (group["passes"] == 1)].set_index("random_state")
        machine = group[group["learner"] == SVM].set_index("random_state").loc[vote.index]
        by_mistakes = vote_bound(vote["support"], n)
        by_vectors = machine["support"] / (n + 1)
        ratio = statistics.ratio(by_mistakes, by_vectors, varies=ORDERS)
        test = statistics.student(vote["test"] - machine["test"], varies=ORDERS)
        means = by_mistakes.mean(), by_vectors.mean(), ratio.estimate, ratio.low, ratio.high
        errors = vote["test"].mean(), machine["test"].mean(), test.low, test.high, test.p
        rows.append((n, *means, *errors, len(vote)))
    names = ["n", "vote", "machine", "ratio", "low", "high", "vote_test", "machine_test", "test_low", "test_high", "p"]
    return pd.DataFrame(rows, columns=[*names, "n_orders"])
