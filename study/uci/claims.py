"""The claims of Xu & Zhang 2005, Tables I to III: every published number with ours, and the verdicts on what the source says
in words. The words stand in statements.toml.

The ledger has the plain reading (see study.uci.readings), which was chosen post hoc: `choices` counts the readings that were
run. The others are in readings(). Degenerate are the facts of the data sets, and a rate of 0.00 that is 0.00 in all our
repeats, with its standard deviation. Not comparable are the last column of Table I, which is of other methods than ours, and
the kernel parameters and iterations: they are settings that the source chose from a list which it does not print, ours the
choices of few repeats from a list that holds them, `choices` long.
"""

import pandas as pd

from study.claims import explanations, rows, statement_rows
from study.statistics import ALPHA
from study.uci import facts, tables
from study.uci.experiment import READINGS
from study.uci.source import KERNELS, SPLITS, original, setting
from study.words import interval, percent, points, size

SOURCE = "Xu & Zhang 2005"
PREFIX = "xu-zhang-2005"
CHAPTER = "tables"
DECIMALS = 4
"""To which ours, low, high and percentile are rounded."""
NAMED = 3
"""How many readings an explanation names."""
CLOSE = 0.01
"""Rates whose difference is surely smaller than this are called almost equal; the source does not say what it calls so."""


def claims():
    """Rows of the ledger for Tables I to III; rates in percent. n is the number of repeats, or of examples in a set.

    Raises StaleResult where a result is stale.
    """
    results = facts.results()
    frames = [
        _facts(tables.table_1(results["sets"])),
        _cited(tables.rival_beside_cited(results["rival"])),
        _chosen(tables.chosen_parameters(results)),
        _rates(facts.by_reading(), tables.best_program(facts.programs())[2]),
    ]
    frame = pd.concat(frames, ignore_index=True)
    frame = frame.round(dict.fromkeys(("ours", "low", "high", "percentile"), DECIMALS))
    frame = frame.fillna({"explanation": "", "interval_of": "", "choices": 1, "comparable": True, "degenerate": False})
    frame = frame.astype({"choices": int, "comparable": bool, "degenerate": bool}).assign(same_data=True)
    found = rows(frame, source=SOURCE, chapter=CHAPTER)
    # An explanation is for what lies outside, or cannot be compared.
    explained = found["verdict"].isin(["outside", "not comparable"])
    return found.assign(explanation=found["explanation"].where(explained, ""))


def readings():
    """The published rates under each other reading: columns key, reading, ours, low, high, n, percentile, verdict."""
    compared = facts.by_reading()
    compared = compared[compared["reading"] != tables.BASE]
    judged = compared["verdict"].replace("degenerate", "exact")  # a 0.00 that is 0.00 in all repeats
    frame = compared.assign(key=compared.apply(_rate_key, axis=1), verdict=judged).rename(columns={"repeats": "n"})
    frame = frame[["key", "reading", "ours", "low", "high", "n", "percentile", "verdict"]].reset_index(drop=True)
    return frame.round(dict.fromkeys(("ours", "low", "high", "percentile"), DECIMALS))


def statements():
    """Statements of the source, in words, on these experiments; verdicts from the tests on our folds (see study.claims).

    What cannot be judged has no row: which numbers are bold, and what methods of a page that is gone would do.
    """
    found = verdicts(facts.results())
    named = {f"{PREFIX}/statement/{key}": each for key, each in found.items()}
    return statement_rows("uci", named, chapter=CHAPTER)


def verdicts(results):
    """{statement: (verdict, {name: value})}, with the values that statements.toml names; results of all experiments."""
    return {
        "wine-separable": wine_separable(tables.separated(results)),
        "kernel-improves": _of_sets("kernel-improves", tables.better_against_linear(results)),
        "rbf-prior": _of_sets("rbf-prior", tables.between_kernels(results, "rbf", "poly")),
        "better-than-cited": better_than_cited(tables.against_cited(results)),
        "two-parameters": two_parameters(tables.beyond_iterations(results)),
    }


def wine_separable(separated):
    """Whether the linear perceptron ends without a mistake on every training part of wine."""
    lines = separated.query("name == 'linear'")
    row = lines[lines["dataset"].map(original) == "wine"]
    if row.empty:
        return "cannot be told", {}
    share = row["converged"].item()
    return "holds" if share == 1 else "does not hold", {"share": percent(share, 0), "folds": row["folds"].item()}


def _of_sets(statement, found):
    """A statement that one error is smaller than another on all sets; found: {set: Difference} of the two on our folds."""
    return of_all([each.word("yes", "no", "tie") for each in found.values()]), _values(statement, found)


def _values(statement, found):
    """The verdict on a statement from the numbers in print, and of each set the size of the difference and its interval."""
    values = {"printed": of_all(tables.in_print(close=100 * CLOSE)[statement].values())}
    for name, each in found.items():
        values |= {original(name): size(each), f"{original(name)}_interval": interval(each)}
    return values


def of_all(words):
    """The verdict on a statement about several sets from "yes", "no" or "tie" on each."""
    words = list(words)
    if words and all(word == "yes" for word in words):
        return "holds"
    if "yes" in words:
        return "holds in part"
    return "does not hold" if "no" in words else "cannot be told"


def better_than_cited(found):
    """Smaller on sonar and vowel, almost equal on wine, larger on iris; found: {set: Difference} from the errors cited."""
    judged = {
        "iris": lambda each: each.word("no", "yes", "tie"),
        "sonar": lambda each: each.word("yes", "no", "tie"),
        "vowel": lambda each: each.word("yes", "no", "tie"),
        "wine": _equal,
    }
    words = [judged[original(name)](each) for name, each in found.items()]
    return of_all(words), _values("better-than-cited", found)


def _equal(difference):
    if -CLOSE < difference.low and difference.high < CLOSE:
        return "yes"
    return difference.word("no", "no", "tie")


def two_parameters(found):
    """Whether nothing else than the kernel's parameter and the iterations matters; found: `tables.beyond_iterations`.

    The chapter on several classes has more evidence, on a set in the plane; the verdict is given once, here.
    """
    moved = {name: each for name, each in found.items() if each.p < ALPHA}
    if not moved:
        return "cannot be told", {"tried": len(found), "moved": 0}
    (dataset, kernel, reading), most = max(moved.items(), key=lambda item: abs(item[1].estimate))
    names = {"set": dataset, "kernel": KERNELS[kernel], "reading": reading}
    sizes = {"tried": len(found), "moved": len(moved), "most": points(most), "interval": interval(most)}
    return "does not hold", sizes | names


def _facts(table):
    found = []
    for row in table.to_dict("records"):
        for name in ("dimension", "classes", "size"):
            published = row[f"{name}, published"]
            ours = row[name]
            numbers = {"published": published, "ours": ours, "low": ours, "high": ours, "n": row["size"], "decimals": 0}
            head = _head("I", row["dataset"], name, f"{row['dataset']}: {name}")
            found.append(head | numbers | {"degenerate": published == ours, "explanation": explanations("uci")["file"]})
    return pd.DataFrame(found)


def _cited(table):
    words = "smallest error of other methods, mean over folds (%)"
    heads = [_head("I", name, "error", f"{name}: {words}") for name in table["dataset"]]
    marks = {"decimals": 2, "degenerate": False, "comparable": False, "explanation": explanations("uci")["cited"]}
    return _beside(table, heads).assign(interval_of="repeats of ten-fold cross-validation: folds", **marks)


def _chosen(table):
    heads = []
    for row in table.itertuples():
        name = {"poly": "degree p", "rbf": "width σ"}[row.kernel] if row.quantity == "parameter" else row.quantity
        words = f"{row.dataset}: {KERNELS[row.kernel]} perceptron, {name} chosen by the smallest test error"
        heads.append(_head(row.table, row.dataset, f"{row.kernel}/{row.quantity}", words))
    why = explanations("uci")["chosen"]
    marks = {"decimals": table["decimals"], "comparable": False, "explanation": why, "choices": table["candidates"]}
    return _beside(table, heads).assign(interval_of=f"choices in repeats: {tables.VARIES}", **marks)


def _rates(compared, program):
    table = compared[compared["reading"] == tables.BASE].reset_index(drop=True)
    others = dict(tuple(compared[compared["reading"] != tables.BASE].groupby(tables.NUMBER)))
    heads = []
    why = []
    for row in table.to_dict("records"):
        method = f"{KERNELS[row['kernel']]} perceptron"
        if row["kernel"] != "linear":
            method += f", {setting(row['kernel'], row['parameter'])}"
        statistic = {"mean": "mean", "sd": "standard deviation"}[row["statistic"]]
        words = f"{method}, {row['iterations']} iterations, {SPLITS[row['split']]} error, {statistic} over folds (%)"
        head = _head(row["table"], row["dataset"], "", f"{row['dataset']}: {words}")
        heads.append(head | {"key": _rate_key(row)})
        why.append(_inside_under(others[tuple(row[name] for name in tables.NUMBER)], program[row["table"]]))
    marks = {"decimals": 2, "verdict": table["verdict"], "explanation": why}
    marks |= {"choices": table["table"].map({name: len(found) + 1 for name, found in READINGS.items()})}
    return _beside(table, heads).assign(interval_of=f"ten-fold cross-validations: {tables.VARIES}", **marks)


def _inside_under(others, program):
    """Whether a number lies inside under the program that fits both tables best, and under how many readings it does.

    program: the name of its reading of this table. The readings with the fewest changes are named first.
    """
    found = sorted(others[tables.inside(others["verdict"])]["reading"], key=lambda name: name.count(","))
    kind = "nowhere" if not found else "inside" if program in found else "outside"
    counts = {"found": len(found), "readings": len(others)}
    return explanations("uci")[kind].format(program=program, names="; ".join(found[:NAMED]), **counts)


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
