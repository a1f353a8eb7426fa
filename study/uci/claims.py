"""The claims of Xu & Zhang 2005, Tables I to III: every published number beside ours, and what the source says in words.

The ledger has the base reading (see study.uci.readings), which was chosen after looking: `choices` counts the readings that
were run. The others are in readings(). Degenerate are the facts of the data sets, and a rate of 0.00 that is 0.00 in all our
repeats, with its standard deviation. Not comparable are the last column of Table I, which is of other methods than ours, and
the kernel parameters and iterations: they are settings that the source chose from a list which it does not print, ours the
choices of few repeats from a list that holds them, `choices` long.
"""

import pandas as pd

from study.claims import rows, statement_rows
from study.report.display import listed
from study.statistics import ALPHA, p_value
from study.uci import tables
from study.uci.experiment import PUBLISHED, READINGS, everything
from study.uci.source import KERNELS, SPLITS, cited_errors, original, setting

SOURCE, PREFIX, CHAPTER = "Xu & Zhang 2005", "xu-zhang-2005", "uci_summary"
DECIMALS = 4
"""To which ours, low, high and percentile are rounded."""
NAMED = 3
"""How many readings an explanation names."""
CHOSEN = "a setting that the source chose from a list which it does not print; ours are the choices of few repeats"
"""Why a chosen parameter has no verdict."""
CLOSE = 0.01
"""Rates whose difference is surely smaller than this are called almost equal; the source does not say what it calls so."""


def claims(results=None):
    """Rows of the ledger for Tables I to III; rates in percent. n is the number of repeats, or of examples in a set.

    results: {name: table} of the experiments, those published by default. Raises StaleResult where one is stale.
    """
    results = tables.with_repeats(everything(PUBLISHED) if results is None else results)
    frames = [
        _facts(tables.table_1(results["sets"])),
        _cited(tables.rival_beside_cited(results["rival"])),
        _chosen(tables.chosen_parameters(results)),
        _rates(tables.by_reading(results), tables.best_program(tables.programs(results))[2]),
    ]
    frame = pd.concat(frames, ignore_index=True)
    frame = frame.round(dict.fromkeys(("ours", "low", "high", "percentile"), DECIMALS))
    frame = frame.fillna({"explanation": "", "interval_of": "", "choices": 1, "comparable": True, "degenerate": False})
    frame = frame.astype({"choices": int, "comparable": bool, "degenerate": bool}).assign(same_data=True)
    found = rows(frame, source=SOURCE, chapter=CHAPTER)
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
    """What the source says in words about these experiments, with verdicts from the tests (see study.claims).

    A verdict is that on our folds; where the source's own tables decide, too, the evidence says first what they say. What
    cannot be judged has no row: which numbers are bold, and what methods of a page that is gone would do.
    """
    results = tables.with_repeats(everything(PUBLISHED) if results is None else results)
    found = [
        _separable(results),
        _compared(
            "kernel-improves", "the kernel perceptron improves on the linear one", tables.better_against_linear(results),
            "the kernel that is better in print minus the linear perceptron",
        ),
        _compared(
            "rbf-prior", "in general the error rates of the RBF kernel are prior to the polynomial's",
            tables.between_kernels(results, "rbf", "poly"), "the RBF kernel minus the polynomial",
        ),
        _cited_in_words(results),
        _two_parameters(results),
    ]  # fmt: skip
    return statement_rows(
        [row | {"key": f"{PREFIX}/statement/{row['key']}"} for row in found], source=SOURCE, chapter=CHAPTER
    )


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
    evidence = "In print no training example is misclassified. On our folds the linear perceptron ends without a mistake on "
    evidence += f"{share:.1%} of {folds:,} training parts."
    return words | {"verdict": "holds" if share == 1 else "does not hold", "evidence": evidence}


def _compared(key, statement, found, what):
    """A statement that one error is smaller than another on all sets; found: {set: Difference} of the two on our folds."""
    verdict = of_all([each.word("yes", "no", "tie") for each in found.values()])
    evidence = f"{_printed(key, found)} On our folds, {what}: {_tested(found)}."
    return {"key": key, "place": "section IV.B", "statement": statement, "verdict": verdict, "evidence": evidence}


def in_print():
    """{key of a statement: its verdict from the source's own errors}, of those on which they decide."""
    words = tables.in_print(close=100 * CLOSE)
    return {f"{PREFIX}/statement/{name}": of_all(found.values()) for name, found in words.items()}


def _printed(key, sets):
    """What the source's own test errors say of a statement on these sets: "In print it holds on iris, not on wine."."""
    words = {name: word for name, word in tables.in_print(close=100 * CLOSE)[key].items() if name in map(original, sets)}
    yes, others = ([name for name, word in words.items() if (word == "yes") == wanted] for wanted in (True, False))
    if not others:
        return "In print it holds on all sets." if len(yes) > 1 else f"In print it holds on {listed(yes)}."
    return f"In print it holds on {listed(yes)}, not on {listed(others)}." if yes else "In print it does not hold."


def _tested(found):
    parts = [f"{original(name)} {tables.ends(each)}, {p_value(each.p)}" for name, each in found.items()]
    test = f"corrected resampled t, {next(iter(found.values())).adjusted}; intervals not corrected"
    return f"{'; '.join(parts)} ({test})"


def of_all(words):
    """The verdict on a statement about several sets from "yes", "no" or "tie" on each."""
    words = list(words)
    if words and all(word == "yes" for word in words):
        return "holds"
    if "yes" in words:
        return "holds in part"
    return "does not hold" if "no" in words else "cannot be told"


def _cited_in_words(results):
    found = tables.against_cited(results)
    judged = {
        "iris": lambda each: each.word("no", "yes", "tie"),
        "sonar": lambda each: each.word("yes", "no", "tie"),
        "vowel": lambda each: each.word("yes", "no", "tie"),
        "wine": _equal,
    }
    cited = listed([f"{cited_errors()[original(name)]:.2f} % ({original(name)})" for name in found])
    evidence = f"{_printed('better-than-cited', found)} On our folds, the kernel that is better in print minus {cited}, "
    evidence += (
        f"which the source cites: {_tested(found)}. Almost equal is here: surely less than {100 * CLOSE:g} point apart."
    )
    return {
        "key": "better-than-cited",
        "place": "section IV.B",
        "statement": "compared with the best errors of [15], ours are smaller on sonar and vowel, almost equal on wine and "
        "larger on iris",
        "verdict": of_all([judged[original(name)](each) for name, each in found.items()]),
        "evidence": evidence,
    }


def _equal(difference):
    if -CLOSE < difference.low and difference.high < CLOSE:
        return "yes"
    return difference.word("no", "no", "tie")


def _two_parameters(results):
    """Whether nothing else than the kernel's parameter and the iterations matters.

    The chapter on the algorithm has more evidence, on a set of its own; the verdict is given once, here.
    """
    found = tables.beyond_iterations(results)
    row = {
        "key": "two-parameters",
        "place": "section III",
        "statement": "only the kernel parameter and the iterations affect the generalization ability",
    }
    moved = {name: each for name, each in found.items() if each.p < ALPHA}
    if not moved:
        evidence = (
            "No other answer to who is demoted and in which order examples are visited changes a test error detectably."
        )
        return row | {"verdict": "cannot be told", "evidence": evidence}
    (dataset, kernel, reading), most = max(moved.items(), key=lambda item: abs(item[1].estimate))
    evidence = (
        f"With the settings of Table III, {len(moved)} of {len(found)} other answers to who is demoted and in which order "
        f"examples are visited change the mean test error detectably, most for {dataset} ({KERNELS[kernel]}, {reading}): "
        f"{tables.ends(most)} (Student's t over {most.n} repeats with the same folds, {most.adjusted}). What the choice of "
        "the class demoted does on a set in the plane is told in the chapter on the multiclass algorithm."
    )
    return row | {"verdict": "does not hold", "evidence": evidence}


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
    marks = {"decimals": 2, "degenerate": False, "comparable": False, "explanation": why}
    return _beside(table, heads).assign(interval_of="repeats of ten-fold cross-validation: folds", **marks)


def _chosen(table):
    heads, why = [], []
    for row in table.itertuples():
        name = {"poly": "degree p", "rbf": "width σ"}[row.kernel] if row.quantity == "parameter" else row.quantity
        words = f"{row.dataset}: {KERNELS[row.kernel]} perceptron, {name} chosen by the smallest test error"
        heads.append(_head(row.table, row.dataset, f"{row.kernel}/{row.quantity}", words))
        why.append(CHOSEN)
    marks = {"decimals": table["decimals"], "comparable": False, "explanation": why, "choices": table["candidates"]}
    return _beside(table, heads).assign(interval_of=f"choices in repeats: {tables.VARIES}", **marks)


def _rates(compared, program):
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
        why.append(_inside_under(others[tuple(row[name] for name in tables.NUMBER)], program[row["table"]]))
    marks = {"decimals": 2, "degenerate": table["verdict"] == "degenerate", "explanation": why}
    marks |= {"choices": table["table"].map({name: len(found) + 1 for name, found in READINGS.items()})}
    return _beside(table, heads).assign(interval_of=f"ten-fold cross-validations: {tables.VARIES}", **marks)


def _inside_under(others, program):
    """Whether a number lies inside under the program that fits both tables best, and under how many readings it does.

    program: the name of its reading of this table. The readings with the fewest changes are named first.
    """
    found = sorted(others[tables.inside(others["verdict"])]["reading"], key=lambda name: name.count(","))
    joint = f"{'inside' if program in found else 'outside'} under the program that fits both tables best ({program})"
    if not found:
        return f"{joint}; outside under all {len(others)} other readings"
    more = f" and {len(found) - NAMED} more" if len(found) > NAMED else ""
    return f"{joint}; inside under {len(found)} of {len(others)} other readings: {'; '.join(found[:NAMED])}{more}"


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
