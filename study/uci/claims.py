"""The claims of Xu & Zhang 2005, Tables I to III: every published number beside ours, and what the source says in words.

The ledger has the base reading (see study.uci.readings), which was chosen after looking: `choices` counts the readings that
were run. The others are in readings(). Degenerate are the facts of the data sets, a rate of 0.00 that is 0.00 in all our
repeats, with its standard deviation, and a chosen parameter where our choices span all candidates. The last column of Table
I is of other methods than ours: not comparable.
"""

import pandas as pd

from study.claims import rows, statement_rows
from study.statistics import ALPHA, p_value
from study.uci import tables
from study.uci.experiment import PUBLISHED, READINGS, everything
from study.uci.source import KERNELS, SPLITS, cited_errors, original, setting

SOURCE, PREFIX, CHAPTER = "Xu & Zhang 2005", "xu-zhang-2005", "uci_summary"
DECIMALS = 4
"""To which ours, low, high and percentile are rounded."""
NAMED = 3
"""How many readings an explanation names."""
CHOSEN = {
    ("vowel", "linear", "iterations"): "few repeats; after the first thousand iterations the test error has no trend",
    ("iris", "rbf", "parameter"): "wider kernels have the smaller test errors on our folds",
    ("wine", "poly", "parameter"): "the training sets are linearly separable, and low degrees have the smaller test errors",
}
"""What is known of chosen parameters that lie outside."""
CLOSE = 0.01
"""Rates whose difference is surely smaller than this are called almost equal."""


def claims(results=None):
    """Rows of the ledger for Tables I to III; rates in percent. n is the number of repeats, or of examples in a set.

    results: {name: table} of the experiments, those published by default. Raises StaleResult where one is stale.
    """
    results = everything(PUBLISHED) if results is None else results
    frames = [
        _facts(tables.table_1(results["sets"])),
        _cited(tables.rival_beside_cited(results["rival"])),
        _chosen(tables.chosen_parameters(results)),
        _rates(tables.by_reading(results)),
    ]
    frame = pd.concat(frames, ignore_index=True)
    frame = frame.round(dict.fromkeys(("ours", "low", "high", "percentile"), DECIMALS))
    frame = frame.fillna({"explanation": "", "interval_of": "", "choices": 1, "comparable": True, "degenerate": False})
    found = rows(frame.astype({"choices": int, "comparable": bool, "degenerate": bool}), source=SOURCE, chapter=CHAPTER)
    # An explanation is for what lies outside, or cannot be compared.
    explained = found["verdict"].isin(["outside", "not comparable"])
    return found.assign(explanation=found["explanation"].where(explained, ""))


def readings(results=None):
    """The published rates under each other reading: columns key, reading, ours, low, high, n, percentile."""
    results = everything(PUBLISHED) if results is None else results
    compared = tables.by_reading(results)
    compared = compared[compared["reading"] != tables.BASE]
    frame = compared.assign(key=compared.apply(_rate_key, axis=1)).rename(columns={"repeats": "n"})
    frame = frame[["key", "reading", "ours", "low", "high", "n", "percentile"]].reset_index(drop=True)
    return frame.round(dict.fromkeys(("ours", "low", "high", "percentile"), DECIMALS))


def statements(results=None):
    """What the source says in words about these experiments, with verdicts from the tests (see study.claims)."""
    results = everything(PUBLISHED) if results is None else results
    compared = tables.by_reading(results)
    found = [
        _separable(results),
        _kernels(results, "kernel-improves", "the kernel perceptron improves on the linear one", "linear"),
        _kernels(results, "rbf-prior", "in general the error rates of the RBF kernel are prior to the polynomial's", "poly"),
        *_cited_in_words(results),
        _scaled(results),
        _spread(results),
        _two_parameters(compared),
        *UNTOLD,
    ]  # fmt: skip
    return statement_rows(
        [row | {"key": f"{PREFIX}/statement/{row['key']}"} for row in found], source=SOURCE, chapter=CHAPTER
    )


UNTOLD = (
    {
        "key": "only-rise-and-globoost", "place": "section IV.B", "verdict": "cannot be told",
        "statement": "on iris only two methods of [15], RISE and GloBoost, are better",
        "evidence": "The page that the source cites as [15] is gone, and neither method is run here.",
    },
    {
        "key": "boldface", "place": "Table III", "verdict": "cannot be told",
        "statement": "the better results are denoted by boldface",
        "evidence": "The text at hand has no typefaces; which errors are smaller can be read from the numbers.",
    },
)  # fmt: skip
"""Statements that no number here can decide."""


def _separable(results):
    lines = tables.separated(results).query("name == 'linear'")
    row = lines[lines["dataset"].map(original) == "wine"]
    words = {
        "key": "wine-separable",
        "place": "section IV.B",
        "statement": "wine is linearly separable for its training sets",
    }
    if row.empty:
        return words | {"verdict": "cannot be told", "evidence": "The set is not among those that were run."}
    share, folds = row["converged"].item(), row["folds"].item()
    evidence = f"The linear perceptron ends without a mistake on {share:.1%} of {folds:,} training parts."
    return words | {"verdict": "holds" if share == 1 else "does not hold", "evidence": evidence}


def _kernels(results, key, statement, other):
    found = tables.between_kernels(results, "rbf", other)
    verdict = of_all([each.word("yes", "no", "tie") for each in found.values()])
    parts = [f"{original(name)} {tables.ends(each)}, {p_value(each.p)}" for name, each in found.items()]
    names = f"the RBF kernel minus that of the {KERNELS[other]} perceptron"
    test = f"corrected resampled t, {next(iter(found.values())).adjusted}; intervals not corrected"
    evidence = f"The test error of {names}: {'; '.join(parts)} ({test})."
    return {"key": key, "place": "section IV.B", "statement": statement, "verdict": verdict, "evidence": evidence}


def of_all(words):
    """The verdict on a statement about several sets from "yes", "no" or "tie" on each."""
    words = list(words)
    if words and all(word == "yes" for word in words):
        return "holds"
    if "yes" in words:
        return "holds in part"
    return "does not hold" if "no" in words else "cannot be told"


def _cited_in_words(results):
    found = {original(name): each for name, each in tables.against_cited(results).items()}
    yes = {
        "better-than-cited": ("our results on sonar and vowel are better than those from [15]", ("sonar", "vowel")),
        "wine-almost-equal": ("the result on wine is almost equal to that from [15]", ("wine",)),
        "iris-worse": ("our result on iris is worse than the best one from [15]", ("iris",)),
    }
    rows = []
    for key, (statement, sets) in yes.items():
        here = {name: found[name] for name in sets if name in found}
        lower, higher = ("no", "yes") if key == "iris-worse" else ("yes", "no")
        words = [each.word(lower, higher, "tie") for each in here.values()]
        if key == "wine-almost-equal":
            words = [_equal(each) for each in here.values()]
        parts = [
            f"{name} {tables.ends(each)}, {p_value(each.p)}, from the {cited_errors()[name]:.2f} % that the source cites"
            for name, each in here.items()
        ]
        test = f"corrected resampled t, {next(iter(found.values())).adjusted}; intervals not corrected"
        evidence = f"The kernel that is better in print, on our folds: {'; '.join(parts)} ({test})." if parts else "Not run."
        rows.append(
            {"key": key, "place": "section IV.B", "statement": statement, "verdict": of_all(words), "evidence": evidence}
        )
    return rows


def _equal(difference):
    if -CLOSE < difference.low and difference.high < CLOSE:
        return "yes"
    return difference.word("no", "no", "tie")


def _scaled(results):
    """Whether the numbers of Table II for sonar are those of scaled attributes.

    Of readings in epochs only, where Table III leaves no others: one program for both tables counts its iterations alike.
    """
    row = {"key": "scaled", "place": "section IV.B", "statement": "we scale each attribute to the interval [0, 1]"}
    compared = tables.distinct(tables.by_reading(results), "sonar")
    found = tables.joint_table(results, "II", sets=["sonar"], compared=compared)
    if found.empty:
        return row | {"verdict": "cannot be told", "evidence": "Sonar is not among the sets that were run."}
    only = set(tables.fits(tables.joint_table(results, "III"))["unit"].dropna()) == {"epochs"}
    found = found[found["unit"] == "epochs"] if only else found
    unscaled, parts, shares = found["scaling"] == "outside", [], []
    for name, part in (("scaled", found[~unscaled]), ("as they are", found[unscaled])):
        shares.append(len(tables.fits(part)))
        parts.append(f"with attributes {name} the test rejects {len(part) - shares[-1]} of {len(part)} readings")
    verdict = "holds" if not shares[1] else "cannot be told" if shares[0] else "holds in part"
    evidence = f"Sonar's numbers in Table II, jointly: {' and '.join(parts)} (at {ALPHA:.0%})"
    evidence += "; only readings in epochs count, as Table III rejects all others." if only else "."
    return row | {"verdict": verdict, "evidence": evidence}


def _spread(results):
    """Whether the second numbers are variances, as the source calls them."""
    found = tables.arithmetic(tables.fold_sizes(results))
    sd, variance, n = int((found["k"] | found["k - 1"]).sum()), int(found["a variance"].sum()), len(found)
    evidence = (
        f"Whole numbers of errors in our folds can have the second number as their standard deviation in {sd} of {n} rows, "
        f"and as their variance in {variance}."
    )
    verdict = "holds" if variance == n else "does not hold" if not variance else "holds in part"
    words = "the tables show the average error rates and variance"
    return {"key": "variance", "place": "section IV.B", "statement": words, "verdict": verdict, "evidence": evidence}


def _two_parameters(compared):
    """Whether nothing else than the kernel's parameter and the iterations matters.

    The chapter on the algorithm has more evidence, on a set of its own; the verdict is given once, here.
    """
    found = tables.beyond_iterations(compared)
    moved = found[found["moved"] > 0]
    evidence = (
        f"Who is demoted and in which order examples are visited move the mean test error out of the central 95 % of our "
        f"repeats in {len(moved)} of {len(found)} rows of Table III. What the choice of the class demoted does on a set in "
        "the plane is told in the chapter on the multiclass algorithm."
    )
    words = "only the kernel parameter and the iterations affect the generalization ability"
    verdict = "does not hold" if len(moved) else "cannot be told"
    return {"key": "two-parameters", "place": "section III", "statement": words, "verdict": verdict, "evidence": evidence}


def _facts(table):
    found = []
    for row in table.to_dict("records"):
        for name in ("dimension", "classes", "size"):
            published, ours = row[f"{name}, published"], row[name]
            numbers = {"published": published, "ours": ours, "low": ours, "high": ours, "n": row["size"], "decimals": 0}
            head = _head("I", row["dataset"], name, f"{row['dataset']}: {name}")
            found.append(head | numbers | {"degenerate": published == ours, "explanation": "the file differs"})
    return pd.DataFrame(found)


def _cited(table):
    words = "smallest error of other methods, mean over folds (%)"
    why = "the page that the source cites is gone; ours is the support vector machine, not the best of the methods cited"
    heads = [_head("I", name, "error", f"{name}: {words}") for name in table["dataset"]]
    marks = {"decimals": 2, "degenerate": False, "comparable": False, "explanation": why, "same_data": True}
    return _beside(table, heads).assign(interval_of="repeats of ten-fold cross-validation: folds", **marks)


def _chosen(table):
    heads, why = [], []
    for row in table.itertuples():
        name = {"poly": "degree p", "rbf": "width σ"}[row.kernel] if row.quantity == "parameter" else row.quantity
        words = f"{row.dataset}: {KERNELS[row.kernel]} perceptron, {name} chosen by the smallest test error"
        heads.append(_head(row.table, row.dataset, f"{row.kernel}/{row.quantity}", words))
        why.append(CHOSEN.get((row.dataset, row.kernel, row.quantity), "not known"))
    marks = {"decimals": table["decimals"], "degenerate": table["degenerate"], "explanation": why}
    return _beside(table, heads).assign(interval_of=f"choices in repeats: {tables.VARIES}", **marks)


def _rates(compared):
    table = compared[compared["reading"] == tables.BASE].reset_index(drop=True)
    others = dict(tuple(compared[compared["reading"] != tables.BASE].groupby(tables.NUMBER)))
    heads, why = [], []
    for row in table.to_dict("records"):
        method = f"{KERNELS[row['kernel']]} perceptron"
        if row["kernel"] != "linear":
            method += f", {setting(row['kernel'], row['parameter'])}"
        statistic = {"mean": "mean", "sd": "standard deviation"}[row["statistic"]]
        words = f"{method}, {row['iterations']} iterations, {SPLITS[row['split']]} error, {statistic} over folds (%)"
        head = _head(row["table"], row["dataset"], "", f"{row['dataset']}: {words}")
        heads.append(head | {"key": _rate_key(row)})
        why.append(_inside_under(others[tuple(row[name] for name in tables.NUMBER)]))
    marks = {"decimals": 2, "degenerate": table["verdict"] == "degenerate", "explanation": why}
    marks |= {"choices": table["table"].map({name: len(found) + 1 for name, found in READINGS.items()})}
    return _beside(table, heads).assign(interval_of=f"ten-fold cross-validations: {tables.VARIES}", **marks)


def _inside_under(others):
    """The readings under which a number lies inside, those with the fewest changes first."""
    found = sorted(others[tables.inside(others["verdict"])]["reading"], key=lambda name: name.count(","))
    if not found:
        return f"outside under all {len(others)} other readings"
    more = f" and {len(found) - NAMED} more" if len(found) > NAMED else ""
    return f"inside under {len(found)} of {len(others)} other readings: {'; '.join(found[:NAMED])}{more}"


def _beside(table, heads):
    numbers = table[["published", "ours", "low", "high", "percentile"]].assign(n=table["repeats"])
    return pd.concat([pd.DataFrame(heads), numbers], axis=1)


def _head(table, dataset, quantity, words):
    name = dataset.removesuffix("-bundled")
    number = {"I": 1, "II": 2, "III": 3}[table]
    key = f"{PREFIX}/table-{number}/{name}/{quantity}"
    return {"key": key, "item": f"Table {table}", "quantity": words, "chapter": f"uci_{name}"}


def _rate_key(row):
    number = {"II": 2, "III": 3}[row["table"]]
    return f"{PREFIX}/table-{number}/{row['dataset']}/{row['kernel']}/{row['split']}-{row['statistic']}"
