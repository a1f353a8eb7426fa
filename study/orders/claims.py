"""What Hermans 2021 says about degrees, predictors, digits and uncertainty, judged by all visiting orders.

One order cannot tell a good degree from a lucky one, and a difference that one order does not show may be there: so what the
source says of test errors has its verdict from here. Evidence is of the published orders of degrees 2 to 6.
"""

import re

import numpy as np

from study import RESULTS, claims, datasets, statistics
from study.orders import tables
from study.orders.experiment import CURVED, N_ORDERS, held_out, runs, settings

SOURCE, CHAPTER = "Hermans 2021", "orders"
ABSTRACT, DISCUSSION = "both versions, abstract", "final report, section 6"
SPOKEN = f"{N_ORDERS} orders"
N_HELD = 10_000
"""Held-out images of the published study."""
ALIKE = 0.005
"""Error rates are called alike if the interval of their difference lies within half a point; the source has no measure."""


def statements():
    """The rows of the table of statements; see study.claims."""
    results, labels = runs(settings()), datasets.load("mnist").class_indices_test
    predictions = [arrays["predictions"] for arrays in results["arrays"][:N_ORDERS]]
    wrong = tables.wrong(predictions, labels)
    rows = [
        _degrees(wrong), _final(wrong), _digits(wrong, labels), _others(wrong, results["runs"], labels), _margin(labels),
        _ensemble(results["runs"], tables.ensembles(predictions, labels, CURVED)),
    ]  # fmt: skip
    return claims.statement_rows(rows, source=SOURCE, chapter=CHAPTER)


def _row(key, place, statement, verdict, evidence):
    return {
        "key": f"hermans-2021/statement/{key}", "place": place, "statement": statement, "verdict": verdict,
        "evidence": re.sub(r"(\d)%", r"\1 %", evidence),
    }  # fmt: skip


def _share(parts):
    """The verdict of a statement by how many of its parts are shown."""
    return "holds" if all(parts) else "holds in part" if any(parts) else "does not hold"


def _points(estimate, low, high):
    return f"{100 * estimate:+.2f} points ({100 * low:+.2f} to {100 * high:+.2f})"


def _degrees(wrong):
    last = wrong.shape[3]
    found = tables.differences_to(tables.among_degrees(wrong, CURVED, tables.CONTROL), 3).query("degree > 3")
    gaps = [f"{_points(row.estimate, row.low, row.high)} at p = {row.degree}" for row in found.itertuples()]
    better, worse = (found.loc[found["verdict"] == word, "degree"].tolist() for word in (tables.LOWER, tables.HIGHER))
    told = "does not hold" if better else "holds in part" if worse else "cannot be told"
    return _row(
        "degrees-above-3", "final report, section 5.2", "p ≥ 3 neither improves further nor overfits strongly.",
        "holds" if (found["verdict"] == tables.SAME).all() else told,
        f"{SPOKEN}, average predictor, epoch {last}. The error minus that at p = 3 is {', '.join(gaps)} (95 % over orders "
        f"and test images). {_found('lower', better)}{_found('higher', worse)}The tests have Holm's correction over all "
        "pairs of degrees. The source has no measure of “strongly”.",
    )  # fmt: skip


def _found(word, degrees):
    return f"It is {word} at {_named(degrees)}. " if degrees else ""


def _named(degrees):
    """ "p = 4", "p = 2 and 5", "p = 2 to 6", "no p"."""
    if len(degrees) > 2 and degrees == list(range(degrees[0], degrees[-1] + 1)):
        return f"p = {degrees[0]} to {degrees[-1]}"
    return f"p = {' and '.join(map(str, degrees))}" if degrees else "no p"


def _final(wrong):
    last = wrong.shape[3]
    families = {
        "average": tables.of_final(tables.among_predictors(wrong, CURVED, [1, last])),
        "minimizing": tables.among_predictors(wrong, CURVED, [1, last], others=["final"], control="minimizing"),
    }
    parts = []
    for name, epoch in ((name, epoch) for epoch in (1, last) for name in families):
        rows = families[name].query("epoch == @epoch")
        sizes = ", ".join(f"{100 * estimate:.2f}" for estimate in rows["estimate"])
        higher, same = (rows.loc[rows["verdict"] == word, "degree"].tolist() for word in (tables.HIGHER, tables.SAME))
        alike = f", and the same within 0.05 points at {_named(same)}" if same else ""
        parts.append(f"after epoch {epoch}, minus the {name} one: {sizes} points, higher at {_named(higher)}{alike}")
    shown = [row.verdict == tables.HIGHER for family in families.values() for row in family.itertuples()]
    return _row(
        "final-worse", "final report, section 5.2",
        "On the test set the final predictor is typically worse than the other two.", _share(shown),
        f"{SPOKEN}, errors of the final predictor at p = 2 to 6: {'; '.join(parts)} (orders and test images vary; Holm in "
        "each of two families).",
    )  # fmt: skip


def _digits(wrong, labels):
    average = wrong[:, :, tables.PREDICTORS.index(tables.CONTROL), -1].mean(axis=0)
    rates = np.array([[own[labels == digit].mean() for digit in range(10)] for own in average])
    p_values = [statistics.equal_means(own, labels) for own in average]
    rejected, third = [p < statistics.ALPHA for p in p_values], rates[CURVED.index(3)]
    worst = rates.argmax(axis=1)
    always = f"Digit {worst[0]} has the highest rate at every degree. " if (worst == worst[0]).all() else ""
    where = _named([degree for degree, told in zip(CURVED, rejected, strict=True) if told])
    return _row(
        "no-digit", "final report, section 5.3", "No digit has a particularly large number of misclassifications.",
        "does not hold" if all(rejected) else "holds in part" if any(rejected) else "cannot be told",
        f"{SPOKEN}, average predictor, last epoch. At p = 3 its error is {third.min():.2%} for digit {third.argmin()} and "
        f"{third.max():.2%} for digit {third.argmax()}, {third.max() / average[CURVED.index(3)].mean():.1f} times that of "
        f"all images. {always}Equal rates are rejected at {where} (permutation of the test images, largest "
        f"{statistics.p_value(max(p_values))}).",
    )  # fmt: skip


def _others(wrong, counts, labels):
    held = held_out(settings(n_held=N_HELD))[["degree", "order", "epoch", "predictor", "held"]].query("degree in @CURVED")
    tested = counts.query("degree in @CURVED").drop(columns=["mistakes", "support"])
    chosen = tables.choices(held, tested, ["order"])
    own = chosen[chosen["among"] == tables.CONTROL]
    rate = tables.honest(wrong, CURVED, own)
    found = {name: learner(name) != labels for name in ("RBF SVM", "nearest neighbour")}
    gaps = {name: tables.honest(wrong, CURVED, own, other=each) for name, each in found.items()}
    spoken = [f"{found[name].mean():.2%} ({name}): {_points(gap.estimate, gap.low, gap.high)}" for name, gap in gaps.items()]
    return _row(
        "similar", ABSTRACT, "The error rates are like those of other classical methods, above all support vector machines.",
        _share([-ALIKE < gap.low and gap.high < ALIKE for gap in gaps.values()]),
        f"{rate.estimate:.2%} ({rate.low:.2%} to {rate.high:.2%}; {SPOKEN}, average predictor, degree and epoch chosen on "
        f"held-out images). It differs from {' and from '.join(spoken)}; both are trained here. Alike is what differs by "
        "less than half a point; the source has no measure.",
    )  # fmt: skip


def learner(name):
    """The stored classes (n_test,) of a learner of the chapter on other learners, as indices: of "RBF SVM", say."""
    with np.load(RESULTS / f"references_{name.replace(' ', '_')}.npz") as file:
        return file["predictions"][0]


def _margin(labels):
    with np.load(RESULTS / "rejection_ensemble.npz") as file:
        f = file["single"][file["part"] == 1]
    wrong, ordered = f.argmax(axis=1) != labels, np.sort(f, axis=1)
    doubtful = np.argsort(ordered[:, -1] - ordered[:, -2], kind="stable")[: len(wrong) // 10]
    rest = np.delete(wrong, doubtful)
    test = statistics.two_samples(int(wrong[doubtful].sum()), len(doubtful), int(rest.sum()), len(rest))
    return _row(
        "uncertainty", DISCUSSION, "The predictors tell no uncertainty of a prediction.",
        "holds in part" if test.p < statistics.ALPHA and test.estimate > 0 else "cannot be told",
        "A score is no probability, but the lead of the highest score over the next tells doubt: of the "
        f"{wrong.sum()} errors of one average predictor (p = 3) {wrong[doubtful].sum()} are among the tenth of the test "
        f"images with the smallest leads, where {wrong[doubtful].mean():.1%} are wrong, and {rest.mean():.2%} elsewhere "
        f"(Fisher, {statistics.p_value(test.p)}).",
    )  # fmt: skip


def _ensemble(counts, found):
    spread = tables.spread(counts, counts["epoch"].max()).query("degree > 1 and predictor == @tables.CONTROL")
    told = found["p of Fisher's test"] < statistics.ALPHA
    better = found[(found["p"] < statistics.ALPHA) & (found["estimate"] < 0)]["degree"].tolist()
    return _row(
        "ensemble", DISCUSSION,
        "An ensemble over visiting orders would give uncertainties, of a prediction and of the error rates.", _share(told),
        f"{SPOKEN}, average predictor, last epoch, p = 2 to 6. Where all orders agree, on {found['unanimous'].min():.1%} to "
        f"{found['unanimous'].max():.1%} of the test images, one order misreads {found['error there'].min():.2%} to "
        f"{found['error there'].max():.2%}. Elsewhere {found['elsewhere'].min():.0%} to {found['elsewhere'].max():.0%}; at "
        f"least {1 / N_ORDERS:.0%} are forced there. The first order errs more often where the others do not all agree at "
        f"{_named(found.loc[told, 'degree'].tolist())} (Fisher). An error rate has a standard deviation over orders of "
        f"{100 * spread['sd'].min():.2f} to {100 * spread['sd'].max():.2f} points. The majority of these orders errs less "
        f"often than one order at {_named(better)}.",
    )  # fmt: skip
