"""What the encyclopedia's article says: one statement that is a number in words, and its other statements with verdicts.

The article prints no measurement. "Grow linearly" is an exponent of 1, its one row in the ledger; the rest are words.
"""

import pandas as pd

from study import claims as ledger
from study import statistics
from study.family import experiment, tables
from study.family.names import KERNELS, LAST, ODD_OR_EVEN, PERCEPTRONS, SVM
from study.report.display import listed

KEY = "encyclopedia/variants/growth-exponent"
SOURCE = "Encyclopedia article"
VARIANTS = "Variants and extensions"


def growth(settings=None):
    """The rows of tables.growth_exponents, of the published settings or of others."""
    settings = settings or experiment.PUBLISHED
    parts = [part for part in settings.streams() if (part.problem, part.method) == (ODD_OR_EVEN, "perceptron")]
    streams = pd.concat([experiment.streams(parts)["streams"], experiment.growth(settings.growths())], ignore_index=True)
    return tables.growth_exponents(streams)


def _rounded():
    return growth().round({"exponent": 4, "low": 4, "high": 4})


def claims():
    """One row. Growth linear in the examples presented is an exponent of 1; the article prints no digits, we compare four.

    ours is the exponent on right labels with the polynomial kernel, low and high its interval over orders, percentile the
    share of orders with an exponent of at most 1.
    """
    found = _rounded()
    right = found[(found["kernel"] == "poly") & (found["noise"] == 0)]
    row = right.rename(columns={"exponent": "ours", "examples": "n", "below": "percentile"}).assign(
        key=KEY,
        item=VARIANTS,
        quantity="exponent of the growth of the support set in the examples presented, at the end of the stream",
        kind="derived",
        published=1.0,
        decimals=4,
        interval_of=f"{right['n_orders'].iloc[0]} random orders",
        same_data=False,
        choices=2,
        explanation="the article names no data; a perceptron that still learns errs less and less often; fitted over "
        "the last half decade of the stream, chosen after a fit over a whole decade had been seen",
    )
    return ledger.rows(row, source=SOURCE, chapter="family")


def readings():
    """The same exponent with the RBF kernel, and where a fraction of the labels is wrong."""
    found = _rounded()
    others = found[(found["kernel"] != "poly") | (found["noise"] != 0)]
    kernels = others["kernel"].map({"poly": "polynomial kernel", "rbf": "RBF kernel"})
    words = kernels + ", " + others["noise"].map(lambda noise: f"{noise:.0%} wrong labels" if noise else "right labels")
    frame = others.rename(columns={"exponent": "ours", "examples": "n", "below": "percentile"})
    return frame.assign(key=KEY, reading=words)[["key", "reading", "ours", "low", "high", "n", "percentile"]]


def statements(settings=None):
    """The article's statements, with verdicts from stored results."""
    settings = settings or experiment.PUBLISHED
    runs, found = experiment.streams(settings.streams()), tables.learners(experiment.wrong_labels(settings.noises()))
    relatives = experiment.relatives(settings.guarantees())
    rows = [
        _first_in_1964(),
        _one_count_a_mistake(runs["streams"]),
        _not_sparse(found),
        _linear(growth(settings)),
        _forgets(runs["streams"], runs["final"]),
        _overfits(found),
        _norma(relatives),
        _smo(relatives),
        _bounds(
            tables.bounds_compared(tables.learners(experiment.machines(settings.machines()))),
            tables.bound_summary(experiment.bounds(settings.bounds())),
        ),
    ]
    named = [{**row, "key": f"encyclopedia/statements/{row['key']}"} for row in rows]
    return ledger.statement_rows(named, source=SOURCE, chapter="family")


def _first_in_1964():
    return {
        "key": "first-in-1964",
        "place": "first paragraph",
        "statement": "The algorithm was invented in 1964, making it the first kernel classification learner.",
        "verdict": "cannot be told",
        "evidence": "No measurement bears on it. None earlier is known to us; Hermans 2021 gives 1984 for the same authors.",
    }


def _one_count_a_mistake(streams):
    plain = streams[streams["method"] == "perceptron"]
    own = plain[plain["problem"] == ODD_OR_EVEN]
    clean = own[(own["kernel"] == "poly") & (own["noise"] == 0)]
    end = clean[clean["examples"] == clean["examples"].max()]
    same = bool((own["support"] == own["mistakes"]).all())
    return {
        "key": "one-count-a-mistake",
        "place": VARIANTS,
        "statement": "The first prediction requires no kernel evaluations, but each update increments a single count "
        "and makes the evaluation more costly.",
        "verdict": "holds" if same else "does not hold",
        "evidence": f"One pass starts with nothing held and ends, after {end['examples'].iloc[0]:,} examples, with "
        f"{end['support'].mean():,.0f} held; at all {len(own)} points watched the examples held "
        f"{'equal' if same else 'differ from'} the mistakes made.",
    }


def _not_sparse(found):
    pairs = tables.differences(found, [(LAST, SVM)], "support")
    fewer = [noise for (noise, *_), each in pairs.items() if each.word() == "is lower than"]
    means = tables.rates_by_learner(found).set_index(["noise", "learner"])["support"]
    rates, n = found["noise"].unique(), found["n"].iloc[0]
    numbers = [f"{means[r, LAST]:,.0f} against {means[r, SVM]:,.0f} with {r:.0%} wrong labels" for r in rates]
    return {
        "key": "not-sparse",
        "place": VARIANTS,
        "statement": "The kernel perceptron does not learn sparse kernel machines.",
        "verdict": "holds in part" if fewer else "holds",
        "evidence": f"Nothing that was held is given up. Of {n:,} examples it holds after {found['passes'].max()} "
        f"passes, beside the support vector machine, {listed(numbers)}: tests show fewer at {len(fewer)} of "
        f"{len(rates)} rates.",
    }


def _linear(growths):
    words = {word: growths[growths["growth"] == word] for word in tables.GROWTHS}
    slower, faster, tie = words.values()
    right = growths[growths["noise"] == 0]
    parts = [
        f"{KERNELS[kernel]} {rate:.0%} {a:.3f}"
        for kernel, rate, a in growths[["kernel", "noise", "exponent"]].itertuples(index=False)
    ]
    if len(slower) + len(faster) == 0:
        verdict = "holds"
    else:
        verdict = "holds in part" if len(tie) or (growths["noise"] > 0).any() else "does not hold"
    return {
        "key": "linear-growth",
        "place": VARIANTS,
        "statement": "In an online setting the number of non-zero counts grows linearly in the number of examples "
        "presented.",
        "verdict": verdict,
        "evidence": f"Exponents at the end of the stream by kernel and wrong labels: {listed(parts)}; {len(slower)} of "
        f"{len(growths)} are slower than linear by test, {int((right['growth'] == tables.GROWTHS[0]).sum())} of the "
        f"{len(right)} with right labels among them. Where a fixed share of the labels is wrong at random, at least as "
        "large a share of predictions is wrong, so that growth is bounded by two straight lines.",
    }


def _forgets(streams, final):
    own = streams[streams["method"].isin(["forgetron", "basic forgetron"]) & (streams["problem"] == ODD_OR_EVEN)]
    within = bool((own["support"] <= own["budget"]).all())
    table = tables.by_budget(streams, final, ODD_OR_EVEN).query("method == 'forgetron' and mistakes > budget")
    still = table[table["shrinking"] == 0]["budget"].tolist()
    tail = (
        f"; at a budget of {listed([f'{b:,}' for b in still])} the self-tuning one removed without shrinking"
        if still
        else ""
    )
    return {
        "key": "forgetron",
        "place": VARIANTS,
        "statement": "The forgetron removes examples when the active set exceeds a budget and shrinks old examples as "
        "new ones come.",
        "verdict": ("holds in part" if still else "holds") if within else "does not hold",
        "evidence": f"At {len(own)} points watched on {own['budget'].nunique()} budgets the active set "
        f"{'never exceeds' if within else 'exceeds'} the budget{tail}.",
    }


def _overfits(found):
    table = tables.overfitting(found)
    wrong = table[(table["noise"] > 0) & table["predictor"].isin(PERCEPTRONS)]
    yes = wrong[wrong["overfits"]]
    words = [f"{row.predictor} at {row.noise:.0%}" for row in yes.itertuples()]
    verdict = "holds" if len(yes) == len(wrong) else "holds in part" if len(yes) else "does not hold"
    last = wrong[wrong["predictor"] == LAST]
    which = f"Only for {listed(words)} do tests show" if words else "For no predictor do tests show"
    return {
        "key": "overfitting",
        "place": VARIANTS,
        "statement": "The kernel perceptron does not regularize, making it vulnerable to overfitting.",
        "verdict": verdict,
        "evidence": f"{which} that more passes lower the training error and raise the test error ({len(wrong)} "
        "combinations of predictor and wrong labels). The last hypothesis's test error changes by "
        f"{listed([statistics.points(change) for change in last['test']])} at "
        f"{listed([f'{rate:.0%}' for rate in last['noise']])} wrong labels.",
    }


def _norma(relatives):
    same = int(relatives["norma_same"].sum())
    return {
        "key": "norma-generalises",
        "place": VARIANTS,
        "statement": "NORMA can be regarded as a generalization of the kernel perceptron with regularization.",
        "verdict": "holds" if same == len(relatives) else "does not hold",
        "evidence": "With no margin, no regularisation and a step of 1 it held the same examples with the same weights "
        f"after the same scores in {same} of {len(relatives)} orders of {relatives['n'].iloc[0]:,} examples. Its usual "
        "margin of 1 is a second difference, which the article does not name.",
    }


def _smo(relatives):
    gain, made = relatives["least_gain"].min(), relatives["mistakes"].sum()
    return {
        "key": "smo-generalises",
        "place": VARIANTS,
        "statement": "Sequential minimal optimization can also be regarded as a generalization of the kernel perceptron.",
        "verdict": "holds in part" if gain >= 0.5 else "does not hold",
        "evidence": "Without a threshold, with C = 1 and k(x, x) = 1, its best step on a mistake is at least 1 and cut "
        f"off at 1, the perceptron's in its first pass: each of {made:,} mistakes in {len(relatives)} "
        f"orders raised its objective, by at least {gain:.3f}. But it also moves where a label is right by less than the "
        "margin, lowers weights again, and with a threshold has to move two at a time.",
    }


def _bounds(table, by_degree):
    near = table[(table["low"] >= 0.5) & (table["high"] <= 2)]
    ratios = tables.bound_ratios(by_degree)
    beside = ratios[ratios.between(0.5, 2)]
    whole = len(near) == len(table) and len(beside) == len(ratios)
    verdict = "holds" if whole else "holds in part" if len(near) or len(beside) else "does not hold"
    largest, n, low, high = table.iloc[-1], by_degree["n"].min(), ratios.min(), ratios.max()
    return {
        "key": "vote-bounds",
        "place": VARIANTS,
        "statement": "The voted perceptron extends to kernels, with generalization bounds comparable to the kernel SVM.",
        "verdict": verdict,
        "evidence": f"The estimate of the vote's bound is {table['ratio'].min():.2f} to {table['ratio'].max():.2f} times "
        f"that of the support vector machine over {len(table)} sizes at one degree, and {low:.2f} to {high:.2f} "
        f"times over the degrees {ratios.index.min()} to {ratios.index.max()} with {n:,} examples; within a factor of two "
        f"at {len(near)} of these sizes, interval and all, and at {len(beside)} of {len(ratios)} degrees. With "
        f"{largest['n']:,.0f} examples the bounds are {largest['vote']:.1%} and {largest['machine']:.1%}, the test errors "
        f"{largest['vote_test']:.1%} and {largest['machine_test']:.1%} ({statistics.p_value(largest['p'])}).",
    }
