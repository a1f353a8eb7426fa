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


def laws(curves, costs, *, predictor):
    """Exponents b of q = a n^b: of errors, mistakes and support examples at each degree, of seconds and peak memory of all
    degrees together. Columns quantity, degree ("" for all), exponent with its 95 % interval, and least and greatest, the
    extreme exponents between neighbouring sizes of the mean, which a power law would have equal.

    A line of least squares through log q by log n for each order; Student's t over orders, which differ in the draw of the
    examples, too.
    """
    rows = last(curves, predictor=predictor)
    parts = [(name, degree, name, own) for degree, own in rows.groupby("degree") for name in QUANTITIES]
    parts = sorted(parts, key=lambda part: QUANTITIES.index(part[0])) + [(name, "", name, costs) for name in COSTS]
    out = []
    for quantity, degree, column, own in parts:
        wide = own.pivot(index="order", columns="n", values=column).dropna(axis=1)
        if wide.empty or (wide <= 0).any(axis=None):
            continue
        x, y = np.log(wide.columns.to_numpy(float)), np.log(wide.to_numpy(float))
        test = statistics.student(np.polyfit(x, y.T, 1)[0], varies="visiting orders and draws of examples")
        local = np.diff(np.log(wide.mean().to_numpy())) / np.diff(x)
        out.append((quantity, degree, test.estimate, test.low, test.high, local.min(), local.max()))
    return pd.DataFrame(out, columns=["quantity", "degree", "exponent", "low", "high", "least", "greatest"])


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


def extremes(laws, quantity):
    """ "0.62 (degree 3) to 0.73 (degree 2)": the smallest and the largest exponent of a quantity over the degrees."""
    own = laws[laws["quantity"] == quantity]
    ends = own.loc[[own["exponent"].idxmin(), own["exponent"].idxmax()]]
    return " to ".join(f"{row.exponent:+.2f} (degree {row.degree})" for row in ends.itertuples())


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
    without and with (error rates); of several numbers the first."""
    rows = literature.drop_duplicates(["method", "preprocessing"]).pivot(
        index="method", columns="preprocessing", values="test_error_percent"
    )
    both = rows[["none", "deskewing"]].dropna() / 100
    return both.rename(columns={"none": "without", "deskewing": "with"}).rename_axis(columns=None).reset_index()
