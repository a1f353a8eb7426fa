"""Quantities that the chapter on budgets and the companion on the family quote, for the settings of a run (by default
experiment.PUBLISHED).

Odd against even digits, unless a docstring says otherwise. Intervals are Student's t over random orders, each of which is
another sample of examples, too.
"""

from types import SimpleNamespace

import pandas as pd

from study.budgets import experiment, tables
from study.budgets.names import FINAL, MARGIN, NORMA, NORMA_AVERAGE, ODD_OR_EVEN, PERCEPTRONS, SVM, VOTED
from study.mnist import over_orders
from study.words import interval, number, percent, points

FEW = 0.15
"""Up to this share of wrong labels there are few."""
SOME = 0.2
"""The share of wrong labels of which the chapter speaks."""


def streams(settings):
    """The tables streams and final: the perceptron, and every rule at every budget, in one pass."""
    return experiment.streams([part for part in settings.streams() if part.problem == ODD_OR_EVEN])


def without_budget(settings):
    """The streams of the perceptron without a budget, by kernel and share of wrong labels."""
    own = [part for part in settings.streams() if (part.problem, part.method) == (ODD_OR_EVEN, "perceptron")]
    return pd.concat([experiment.streams(own)["streams"], experiment.growth(settings.growths())], ignore_index=True)


def growth(exponents):
    """Growth of the support vectors, from `tables.growth_exponents`: right and many, its rows without wrong labels, by
    kernel, and with more than FEW; slower, which of them are shown to grow more slowly than the stream; ends, the lowest and
    the highest end of an interval with many wrong labels; wrong, the sorted exponents with any wrong labels."""
    noise = exponents["noise"]
    slower = exponents["growth"] == tables.GROWTHS[0]
    parts = {"right": noise == 0, "many": noise > FEW}
    found = {name: exponents[own] for name, own in parts.items()} | {"right": exponents[noise == 0].set_index("kernel")}
    ends = found["many"].agg({"low": "min", "high": "max"})
    return SimpleNamespace(
        **found, slower={name: slower[own].tolist() for name, own in parts.items()}, ends=ends,
        wrong=sorted(exponents["exponent"][noise > 0]),
    )  # fmt: skip


def budget(settings):
    """The largest budget of the runs at equal memory, on two streams: size; short and long, by how much removal of the
    oldest raises the online error on settings.n_memory examples and on all; examples, both numbers; held_long, what the
    perceptron holds at the end of all without a budget; test and test_without, the mean test errors on the short one, with
    the budget and without; largest, the largest budget on all; largest_test and without_test, the mean test errors there and
    without a budget; long_test, that of the budget on all that is nearest to size."""
    short = experiment.memory(settings.memories())
    costs = tables.budget_costs(short["memory"]).iloc[-1]
    test = tables.at_equal_memory(short["memory"], short["memory_final"]).set_index(["method", "budget"])["test"]
    long = streams(settings)
    by_budget = tables.by_budget(long["streams"], long["final"], ODD_OR_EVEN)
    oldest = by_budget[by_budget["method"] == "oldest"].set_index("budget")["test"].sort_index()
    sizes = oldest.index.to_series()
    size = int(costs["budget"])
    nearest = sizes.iloc[abs(sizes - size).argmin()]
    return SimpleNamespace(
        size=size, examples=(settings.n_memory, settings.n_train), short=costs,
        long=tables.cost_of_budget(long["streams"], ODD_OR_EVEN, nearest),
        held_long=round(by_budget["support"][0]),
        test=test["oldest", size], test_without=test["perceptron", 0],
        largest=int(oldest.index[-1]), largest_test=oldest.iloc[-1], without_test=by_budget["test"][0],
        long_test=oldest[nearest],
    )  # fmt: skip


def rules(settings):
    """Online errors of other rules above that of removing the oldest, at equal memory: the rows of `tables.memory_tests`
    of the basic Forgetron, and of the simple ones (random removal, the self-tuning Forgetron); n, their number (Holm)."""
    found = experiment.memory(settings.memories())
    tests = tables.memory_tests(found["memory"], found["memory_final"]).query("rate == 'online'")
    own = tests.set_index("method", drop=False)
    return SimpleNamespace(
        basic=own.loc[["basic forgetron"]], simple=own.loc[["random", "forgetron"]], n=len(tests)
    )  # fmt: skip


def smaller_is_worse(by_budget):
    """Whether with every rule a smaller budget has a higher online error, from `tables.by_budget`."""
    own = by_budget[by_budget["budget"] > 0].sort_values("budget").groupby("method")["online"]
    return bool(own.agg(lambda errors: (errors.diff().iloc[1:] < 0).all()).all())


def remedies(learnt):
    """Remedies against the share SOME of wrong labels, from `tables.learners`: error, the mean test errors by learner;
    way, the rows of `tables.ways` by remedy; added, how much regularisation lowers the error of a margin; machine, how
    much the error of NORMA's average is above that of the support vector machine; n, the number of differences (Holm);
    examples and epochs, from which and after which the perceptron learns."""
    last = learnt[learnt["passes"].isin([0, learnt["passes"].max()]) & (learnt["noise"] == SOME)]
    ways = tables.ways(learnt)
    apart = tables.differences(learnt)
    n = last["n"].max()
    return SimpleNamespace(
        error=last.groupby("learner", observed=True)["test"].mean(), way=ways[ways["noise"] == SOME].set_index("remedy"),
        added=apart[SOME, n, MARGIN, NORMA], machine=apart[SOME, n, NORMA_AVERAGE, SVM], n=len(apart),
        examples=n, epochs=last["passes"].max(),
    )  # fmt: skip


def ten_digits(noise, poly, rbf):
    """Ten digits and wrong labels, from the table of study.mnist.orders.noise, the average predictor against the
    final one after the last epoch: poly, its rows of `against_final` by share of wrong labels; largest and reach, the
    largest difference and the end of an interval that lies farthest from 0, with RBF kernels; late and late_rbf, the share
    of mistakes after the third epoch at 30 % wrong labels; n, the number of differences (Holm)."""
    compared = over_orders.against_final(noise, noise["epoch"].max())
    gains = compared[(compared["predictor"] == "average") & ~compared["threshold"]]
    own = gains[gains["kernel"] == poly].set_index("share")
    others = gains[gains["kernel"] != poly]
    late = tables.late_mistakes(noise[~noise["threshold"]])
    return SimpleNamespace(
        poly=own, largest=others["estimate"].abs().max(), reach=others[["low", "high"]].abs().max(axis=None),
        late=late[poly, 0.3], late_rbf=late[rbf, 0.3], n=len(compared),
    )  # fmt: skip


def forgetron(runs, budget):
    """Both Forgetrons, from the tables of `experiment.streams`, means over orders: account (`tables.forgetron_account`), and
    from one budget shrink, by how much a removal shrinks the weights, and above, the online error above the perceptron's
    without a budget, both by method."""
    account = tables.forgetron_account(runs["streams"], runs["final"], ODD_OR_EVEN)
    online = tables.by_budget(runs["streams"], runs["final"], ODD_OR_EVEN).set_index(["budget", "method"])["online"]
    return SimpleNamespace(
        account=account, shrink=account[account["budget"] == budget].set_index("method")["mean 1 - phi"],
        above=online[budget] - online[0, "perceptron"],
    )  # fmt: skip


def guarantee(guaranteed):
    """The Forgetron's guarantee, from the table of `experiment.guaranteed`: table (`tables.guarantee_by_budget`), covered
    whether any budget is; free, its row of a competitor without a limit; best, the row of the lowest bound with a
    covered budget, with any where none is; vacuous: whether all such bounds exceed the number of examples."""
    table = tables.guarantee_by_budget(guaranteed)
    some = table["covered"].any()
    own = table[table["covered"]] if some else table[table["budget"] > 0]
    return SimpleNamespace(
        table=table, covered=some, free=table[table["budget"] == 0].iloc[0], best=own.loc[own["least"].idxmin()],
        vacuous=(own["low"] > 1).all(),
    )  # fmt: skip


def overfitting(learnt):
    """What more epochs do, from `tables.learners`: table (`tables.overfitting`, Holm over all training and test changes). Of
    the test error: of, its rows by predictor and share of wrong labels; harmed, which of these overfit; and final, those of
    the final predictor by that share."""
    over = tables.overfitting(learnt)
    names = {"test": "estimate", "test_low": "low", "test_high": "high"}
    rows = over.rename(columns=names).set_index(["predictor", "noise"])
    return SimpleNamespace(table=over, of=rows, harmed=rows.index[rows["overfits"]].tolist(), final=rows.loc[FINAL])


def machine(learnt):
    """The support vector machine against the perceptron, from `tables.learners`, at every number of examples: whether it has
    fewer_errors than each of the three predictors, and more_vectors."""
    rates = tables.rates_by_learner(learnt).pivot(index="n", columns="learner", values=["test", "support"])
    least = rates["test"][list(PERCEPTRONS)].min(axis=1)
    return SimpleNamespace(
        fewer_errors=bool((rates["test"][SVM] < least).all()),
        more_vectors=bool((rates["support"][SVM] > rates["support"][FINAL]).all()),
    )


def bounds(settings, found):
    """Bounds of the vote over those of the support vector machine. found, the table of `experiment.bounds`: summary, its
    means by degree, ratios and by_margin, the ratio by degree of the bounds by mistakes and by the margin; and
    looseness, the least ratio of a drawn bound to what it bounds. With the cost C chosen on further examples: compared
    (`tables.bounds_compared`), end its row of the most examples, and how many times their test errors the bounds are there,
    vote_times and machine_times."""
    summary = tables.bound_summary(found)
    compared = tables.bounds_compared(tables.learners(experiment.machines(settings.machines())))
    end = compared.iloc[-1]
    errors = found[["vote_errors", "svm_errors"]].div(found["n_test"], axis=0).groupby(found["degree"]).mean()
    bound = found.groupby("degree")["bound"].mean()
    loose = (
        bound / summary["mistakes"], summary["by mistakes"] / errors["vote_errors"],
        summary["SVM held"] / errors["svm_errors"],
    )  # fmt: skip
    return SimpleNamespace(
        summary=summary, looseness=pd.concat(loose).min(), ratios=tables.bound_ratios(summary),
        by_margin=tables.bound_ratios(summary, "by margin"), compared=compared, end=end,
        vote_times=end["vote"] / end["vote_test"], machine_times=end["machine"] / end["machine_test"],
    )  # fmt: skip


# Verdicts on statements of the sources, whose text stands in statements.toml: (verdict, {name: value}) of each.


COMPARABLE = 2
"""Bounds are called comparable where neither is more than this many times the other."""


def verdict_linear_growth(found):
    """Whether growth with right labels (`growth`) is slower than linear, by test; that no test rejects does not show
    linear growth."""
    own = found.right
    wrong = found.wrong
    verdict = "holds in part" if wrong else "does not hold"
    told = own["growth"] != tables.GROWTHS[2]
    values = {}
    for kernel, row in own.iterrows():
        values |= {
            kernel: number(row.exponent, 2),
            f"{kernel}_low": number(row.low, 2),
            f"{kernel}_high": number(row.high, 2),
        }
    values |= {"least": number(wrong[0], 2) if wrong else "", "most": number(wrong[-1], 2) if wrong else ""}
    return verdict if told.any() else "undecided", values


def verdict_overfitting(over):
    """Whether more passes lower the training error and raise the test error of the perceptron's own predictors, by test."""
    noisy = over[over["noise"] > 0]
    own = noisy[noisy["predictor"].isin(PERCEPTRONS)]
    if own["overfits"].any():
        verdict = "holds" if own["overfits"].all() else "holds in part"
    else:
        verdict = "does not hold" if (own["test_word"] == tables.CHANGES[0]).all() else "undecided"
    values = {}
    for name in (FINAL, VOTED):
        for row in noisy[noisy["predictor"] == name].itertuples():
            place = f"{name}_{100 * row.noise:.0f}"
            ends = pd.Series({"low": row.test_low, "high": row.test_high})
            values |= {place: points(row.test), f"{place}_interval": interval(ends)}
    return verdict, values


def verdict_vote_bounds(found):
    """Whether the vote's bound is comparable to the machine's at every size, interval and all, and at every degree; found:
    `bounds`."""
    table = found.compared
    ratios = found.ratios
    near = (table["low"] >= 1 / COMPARABLE) & (table["high"] <= COMPARABLE)
    comparable = ratios.between(1 / COMPARABLE, COMPARABLE)
    whole = near.all() and comparable.all()
    verdict = "holds" if whole else "holds in part" if near.any() or comparable.any() else "does not hold"
    largest = found.end
    values = {
        "low": number(table["ratio"].min(), 2),
        "high": number(table["ratio"].max(), 2),
        "least": number(ratios.min(), 2),
        "most": number(ratios.max(), 2),
        "vote": percent(largest["vote_test"], 1),
        "machine": percent(largest["machine_test"], 1),
    }
    return verdict, values
