"""Small tables of the chapter on prepared images and on more of them. Rates and differences are fractions."""

import numpy as np
import pandas as pd

from kp.mistakes import PREDICTORS
from study import statistics

HIGHER, LOWER, UNTOLD = "higher", "lower", "–"
QUANTITIES = ("errors", "mistakes", "support")
COSTS = ("fit", "peak")


def wrong(predictions, labels, predictor):
    """{name: (R, D, n) bool}: where a predictor errs after the last epoch; predictions {name: [(n, D, 4) of each order]}."""
    place = PREDICTORS.index(predictor)
    return {
        name: np.stack([(each[:, :, place] != labels[:, None]).T for each in orders]) for name, orders in predictions.items()
    }


def effects(wrong, degrees, *, control="raw"):
    """Every preparation beside `control` at the same degree: preparation, degree, error, control (its error), estimate, low,
    high, p and verdict.

    The difference is over orders and test images (statistics.crossed), with Holm's correction over all rows.
    """
    keys = [(name, d) for name in wrong if name != control for d in range(len(degrees))]
    tests = statistics.holm(
        {(name, d): statistics.crossed(wrong[name][:, d].astype(float) - wrong[control][:, d]) for name, d in keys}
    )
    rows = [
        (
            name, degrees[d], wrong[name][:, d].mean(), wrong[control][:, d].mean(), test.estimate, test.low, test.high,
            test.p, test.word(LOWER, HIGHER, UNTOLD),
        )
        for (name, d), test in tests.items()
    ]  # fmt: skip
    return pd.DataFrame(
        rows, columns=["preparation", "degree", "error", "control", "estimate", "low", "high", "p", "verdict"]
    )


def verdicts(effects):
    """A row for each preparation: at how many degrees its errors are LOWER, HIGHER or UNTOLD, and the range of estimates."""
    counts = pd.crosstab(effects["preparation"], effects["verdict"]).reindex(columns=[LOWER, HIGHER, UNTOLD], fill_value=0)
    ends = effects.groupby("preparation")["estimate"].agg(["min", "max"])
    return counts.join(ends).loc[list(dict.fromkeys(effects["preparation"]))].rename_axis(columns=None).reset_index()


def halves(wrong):
    """The errors on the first and on the second half of the test images: preparation, first half, second half (means over
    orders and degrees), gap (the first less the second), low, high and p.

    What varies are the test images, each with the share of orders and degrees that err on it: Welch's t of the two halves,
    with Holm's correction over the preparations.
    """
    shares = {name: part.mean(axis=(0, 1)) for name, part in wrong.items()}
    cuts = {name: np.split(each, [len(each) // 2]) for name, each in shares.items()}
    tests = statistics.holm({name: statistics.welch(*parts, varies="test images") for name, parts in cuts.items()})
    rows = [
        (name, cuts[name][0].mean(), cuts[name][1].mean(), test.estimate, test.low, test.high, test.p)
        for name, test in tests.items()
    ]
    return pd.DataFrame(rows, columns=["preparation", "first half", "second half", "gap", "low", "high", "p"])


def last(table, *, predictor):
    """The rows of a predictor after its last epoch."""
    return table[(table["predictor"] == predictor) & (table["epoch"] == table["epoch"].max())]


def laws(curves, costs, wrong, degrees, *, predictor):
    """Exponents b of q = a n^b: of errors, mistakes and support examples at each degree, of seconds and peak memory of all
    degrees together. Columns quantity, degree ("" for all), exponent with its 95 % interval low, high; least and greatest,
    the extreme exponents between neighbouring sizes of the mean, which a power law would have equal; and change, by how much
    the exponent grows with each tenfold n by a quadratic term in log n, with change_low, change_high, and p (Holm over all).

    Lines and parabolas of least squares through log q by log n. Mistakes and support examples have Student's t over orders,
    which differ in the draw of the examples, too; the errors, wrong {n: (R, D, n_test) bool} at these degrees, are on the
    same test images throughout, so theirs is over orders and test images (statistics.crossed). Costs have no test of change.
    """
    rows = last(curves, predictor=predictor)
    parts = [(name, degree, own) for name in QUANTITIES for degree, own in rows.groupby("degree")]
    out, changes = [], {}
    for quantity, degree, own in parts + [(name, "", costs) for name in COSTS]:
        wide = own.pivot(index="order", columns="n", values=quantity).dropna(axis=1)
        if wide.empty or (wide <= 0).any(axis=None):
            continue
        x = np.log10(wide.columns.to_numpy(float))
        slope = np.linalg.pinv(np.vander(x, 2))[0]
        change = 2 * np.linalg.pinv(np.vander(x - x.mean(), 3))[0]
        if quantity == "errors":
            by_size = np.stack([wrong[n][:, list(degrees).index(degree)] for n in wide.columns])
            test, bend = (_of_log_errors(by_size, weights) for weights in (slope, change))
        else:
            logs = np.log10(wide.to_numpy(float))
            test, bend = (
                statistics.student(logs @ weights, varies="visiting orders and draws of examples")
                for weights in (slope, change)
            )
        local = np.diff(np.log10(wide.mean().to_numpy())) / np.diff(x)
        out.append((quantity, degree, test.estimate, test.low, test.high, local.min(), local.max()))
        if quantity not in COSTS:
            changes[quantity, degree] = bend
    table = pd.DataFrame(out, columns=["quantity", "degree", "exponent", "low", "high", "least", "greatest"])
    bends = {key: (t.estimate, t.low, t.high, t.p) for key, t in statistics.holm(changes).items()}
    found = [bends.get(key, (np.nan,) * 4) for key in zip(table["quantity"], table["degree"], strict=True)]
    return table.join(pd.DataFrame(found, columns=["change", "change_low", "change_high", "p"]))


def _of_log_errors(wrong, weights):
    """The Difference sum_s weights_s log10 e_s, with e_s the error rate at size s: wrong (S, R, n), weights (S,).

    Over orders and images: each log is linear near the mean rate, so that every image of every order has its own part in it.
    """
    means = wrong.mean(axis=(1, 2))
    shares = np.einsum("s,srn->rn", weights / (means * np.log(10)), wrong)
    return statistics.crossed(shares + weights @ (np.log10(means) - 1 / np.log(10)))


def virtual(curves, costs, n, *, degree):
    """All images beside all with their shifts, n examples: examples, learnt degrees, errors of each predictor after the last
    epoch, mistakes, support, seconds, peak; of all images in the first order."""
    rows = []
    for size in (n // 5, n):
        own = curves[(curves["n"] == size) & (curves["degree"] == degree) & (curves["order"] == 0)]
        own = own[own["epoch"] == own["epoch"].max()].set_index("predictor")
        cost = costs[(costs["n"] == size) & (costs["order"] == 0)].iloc[0]
        errors = {name: own.loc[name, "errors"] / own.loc[name, "n_test"] for name in PREDICTORS}
        size_of = {"mistakes": own["mistakes"].iloc[0], "support": own["support"].iloc[0]}
        rows.append(
            {"examples": size, **errors, **size_of, "degrees": cost["degrees"], "fit": cost["fit"], "peak": cost["peak"]}
        )
    return pd.DataFrame(rows)


def side_by_side(table):
    """`virtual` turned: a row for each quantity, a column for each number of examples, as printed; without what was not
    measured."""
    shares, counts = dict.fromkeys(PREDICTORS, "{:.2%}".format), dict.fromkeys(("mistakes", "support"), "{:,.0f}".format)
    others = {"degrees": "{:.0f}".format, "fit": "{:,.3g}".format, "peak": "{:.2f}".format}
    names = {name: f"error, {name}" for name in PREDICTORS} | {
        "support": "examples kept", "degrees": "degrees learnt together", "fit": "seconds of training",
        "peak": "peak memory (GiB)",
    }  # fmt: skip
    rows = [
        (names.get(name, name), *map(how, table[name]))
        for name, how in (shares | counts | others).items() if table[name].notna().all()
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=["quantity", *(f"{n:,} examples" for n in table["examples"])])


def by_degree(laws, quantity, column="exponent", *, digits=2):
    """ "0.73 (degree 2), 0.62 (degree 3)": an exponent, or another column of `laws`, of a quantity at each degree."""
    own = laws[laws["quantity"] == quantity]
    return [f"{row[column]:+.{digits}f} (degree {row['degree']})" for row in own.to_dict("records")]


def in_short(effects, degrees):
    """A row for each preparation: the errors at each degree with those of raw pixels first, marked where p < 0.05.

    "5.03 %*" is told apart from raw pixels at the same degree after Holm's correction.
    """
    table = effects.assign(
        cell=[f"{100 * row.error:.2f}{'*' * (row.p < statistics.ALPHA)}" for row in effects.itertuples()]
    ).pivot(index="preparation", columns="degree", values="cell")
    raw = effects.drop_duplicates("degree").set_index("degree")["control"]
    rows = [["raw", *(f"{100 * raw[d]:.2f}" for d in degrees)]]
    rows += [[name, *table.loc[name, list(degrees)]] for name in dict.fromkeys(effects["preparation"])]
    return pd.DataFrame(rows, columns=["preparation", *(f"degree {d}" for d in degrees)])


def published_gains(literature):
    """What deskewing did for methods of the literature that were published with and without it, and nothing else: method,
    without and with (all published error rates, the highest first)."""
    rates = literature.assign(rate=literature["test_error_percent"] / 100).sort_values("rate", ascending=False)
    lists = rates.groupby(["method", "preprocessing"])["rate"].agg(list).unstack()
    both = lists[["none", "deskewing"]].dropna()
    return both.rename(columns={"none": "without", "deskewing": "with"}).rename_axis(columns=None).reset_index()
