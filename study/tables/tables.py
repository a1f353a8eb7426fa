"""Data of the printed conclusions on the published tables: functions of stored results; nothing is fitted here.

results is {name: table} of the experiments of study.tables.experiment; repeats has one row for each cross-validation
(`repeats_of`); compared has one row for each published rate (`compare`). Error rates are fractions in results and repeats,
percent next to published numbers. Verdicts are those of study.claims, on the central 95 % of the repeats.
"""

from dataclasses import asdict, replace
from itertools import product

import numpy as np
import pandas as pd

from study import statistics
from study.claims import judged, percentile
from study.levels import ALPHA
from study.predictors import PREDICTORS
from study.tables.arithmetic import reachable
from study.tables.experiment import DEMOTED, ITERATIONS, KEYS, N_FOLDS, RATES, READINGS, SHORT, UNSCALED
from study.tables.protocol import summary
from study.tables.readings import Reading
from study.tables.source import KERNELS, SETS, SPLITS, cited_errors, original, printed, published_rates, setting
from study.words import p_cell, percent, points, styled

BASE = "plain reading"
DDOF = "standard deviation divided by k - 1"
COMPARED = ["ours", "low", "median", "high", "percentile", "repeats", "verdict"]
VARIES = "folds and visiting orders"
"""The source of variation between repeats."""


# Published and ours.


def repeats_of(results):
    """Mean and sd over the folds of each repeat, of the linear and the kernel perceptrons; columns KEYS and RATES."""
    return summary(pd.concat([results["linear"], results["kernel"]], ignore_index=True), KEYS)


def asked(repeats):
    """`published_rates`, and of sets that are not in print the same rows without a number."""
    known = published_rates()
    rows = repeats.drop_duplicates(["dataset", "kernel"])[["dataset", "kernel", "parameter", "iterations"]]
    rows = rows[~rows["dataset"].map(original).isin(SETS)]
    each = pd.DataFrame(product(SPLITS, ("mean", "sd")), columns=["split", "statistic"])
    others = rows.merge(each, how="cross").assign(published=np.nan)
    others = others.assign(table=np.where(others["kernel"] == "linear", "II", "III"))
    return pd.concat([known, others[known.columns]], ignore_index=True) if len(others) else known


def compare(repeats, rates=None):
    """Each published rate and ours: a row for each of `rates` (default: `asked`) whose set and setting `repeats` has.

    Adds ours (the mean over the repeats), low, median, high (2.5 %, 50 %, 97.5 %; percent), percentile (a fraction),
    repeats (their number) and verdict. Of a set that is not in print percentile is missing, and verdict "".
    """
    rows = []
    groups = {(original(d), k): part for (d, k), part in repeats.groupby(["dataset", "kernel"])}
    for row in (asked(repeats) if rates is None else rates).to_dict("records"):
        part = groups.get((row["dataset"], row["kernel"]))
        if part is not None and all((part[key] == row[key]).all() for key in ("parameter", "iterations")):
            values = (100 * part[f"{row['split']}_{row['statistic']}"]).round(2).to_numpy()
            rows.append(row | _distribution(values, row["published"]))
    table = pd.DataFrame(rows, columns=[*published_rates().columns, *COMPARED[:-1]])
    table = judged(table, decimals=2)
    printed = table["published"].notna()
    return table.assign(verdict=table["verdict"].where(printed, ""), percentile=table["percentile"].where(printed))


def _distribution(values, number):
    low, median, high = np.quantile(values, [0.025, 0.5, 0.975])
    found = {"ours": values.mean(), "low": low, "median": median, "high": high}
    return found | {"percentile": percentile(values, number), "repeats": len(values)}


def side_by_side(compared):
    """Tables II and III, published and recomputed: a row for each set and kernel; cells "mean ± sd" in percent.

    A star marks a recomputed number if the published one lies outside its central 95 %. Of sets that are not in print the
    recomputed numbers alone.
    """
    rows = []
    for (_, dataset, kernel), part in compared.groupby(["table", "dataset", "kernel"], sort=False):
        row = {"set": dataset, "kernel": setting(kernel, part["parameter"].iloc[0])}
        row["iterations"] = part["iterations"].iloc[0]
        for split, word in SPLITS.items():
            cells = part[part["split"] == split]
            marks = np.where(inside(cells["verdict"]), "", "*")
            row[f"{word}, published"] = " ± ".join(cells["published"].map("{:.2f}".format))
            row[f"{word}, recomputed"] = " ± ".join(cells["ours"].map("{:.2f}".format) + marks)
        rows.append(row)
    table = pd.DataFrame(rows)
    if compared["published"].isna().all():
        table = table.drop(columns=[f"{word}, published" for word in SPLITS.values()])
        table = table.rename(columns={f"{word}, recomputed": word for word in SPLITS.values()})
    return styled(table, {"iterations": ",d"})


def surprise(compared):
    """The mean test error of `compared` whose published value is farthest from ours: its row, with setting, printed
    and found as words have them: "linear perceptron on vowel", "77.17 %", "43.09 %"."""
    rows = compared[(compared["split"] == "test") & (compared["statistic"] == "mean")]
    row = rows.loc[(rows["published"] - rows["ours"]).abs().idxmax()].copy()
    row["setting"] = f"{KERNELS[row['kernel']]} perceptron on {row['dataset']}"
    row["printed"] = percent(row["published"] / 100)
    row["found"] = percent(row["ours"] / 100)
    return row


# Readings of the source.

WORDS = {
    "demote": {"first": "first demoted", "all": "all demoted", "each": "promoted once for each demoted"},
    "order": {"fixed": "one shuffle", "given": "order of the file"},
    "unit": {"presentations": "iterations are presentations", "updates": "iterations are updates"},
    "scaling": {"all": "scaled over the whole set", "outside": "sonar not scaled", "none": "not scaled"},
    "folds": {"plain": "folds not stratified", "consecutive": "folds in the order of the file"},
    "threshold": {False: "no threshold"},
}
"""A reading in words: its changes of the plain reading."""


def words(reading):
    """A reading in words: "all demoted, one shuffle"; the plain reading by its name."""
    return (
        ", ".join(known[getattr(reading, name)] for name, known in WORDS.items() if getattr(reading, name) in known) or BASE
    )


def with_repeats(results):
    """results with `repeats_of` them under the name repeats, so that it is made once."""
    return results if "repeats" in results else results | {"repeats": repeats_of(results)}


def repeats_under(results, table, reading):
    """The rows of `repeats_of` for Table "II" or "III" under a reading, as far as its repeats were run."""
    frames = results["repeats"] if "repeats" in results else repeats_of(results), results["readings"]
    base, other = (frame[(frame["kernel"] == "linear") == (table == "II")] for frame in frames)
    settings = base.drop_duplicates(["dataset", "kernel"])[KEYS[:-1]]
    frames = []
    for dataset in settings["dataset"].unique():
        here = reading.of(original(dataset))
        if here == Reading():
            frames.append(base[base["dataset"] == dataset])
        else:
            part = other[(other["dataset"] == dataset) & (other["reading"] == here.key)]
            part = part[part["iterations"] == part.groupby("kernel")["iterations"].transform("max")]
            part = part.drop(columns="iterations").merge(settings, on=["dataset", "kernel"])
            frames.append(part[[*KEYS, *RATES]])
    return pd.concat(frames, ignore_index=True) if frames else base


def by_reading(results, *, n_folds=N_FOLDS):
    """`compare` under every reading, with columns reading (in words) and the fields of `Reading`; the base first.

    Under the last reading of each table, DDOF, the standard deviations of the plain reading divide by n_folds - 1.
    """
    results = with_repeats(results)
    frames = []
    rates = asked(results["repeats"])
    for table, readings in READINGS.items():
        part = rates[rates["table"] == table]
        for reading in readings:
            found = compare(repeats_under(results, table, reading), part)
            frames.append(found.assign(reading=words(reading), **asdict(reading)))
        frames.append(compare(_larger_sd(repeats_under(results, table, Reading()), n_folds), part).assign(reading=DDOF))
    return pd.concat([frame for frame in frames if len(frame)], ignore_index=True)


def distinct(compared, dataset):
    """The rows of `by_reading` of readings that can differ on one set; of readings that cannot, the first."""
    kept = set()
    for table, readings in READINGS.items():
        first = {}
        for reading in readings:
            first.setdefault(reading.of(original(dataset)), (table, words(reading)))
        kept |= {*first.values(), (table, DDOF)}
    return compared[[pair in kept for pair in zip(compared["table"], compared["reading"], strict=True)]]


def _larger_sd(repeats, n_folds):
    return repeats.assign(**{c: repeats[c] * np.sqrt(n_folds / (n_folds - 1)) for c in RATES if c.endswith("sd")})


def _beside(results, table, reading, *, n_folds=N_FOLDS):
    """(numbers, columns): the published numbers of a table, and for each row our repeats under a reading, in percent."""
    repeats = repeats_under(results, table, Reading() if reading == DDOF else reading)
    repeats = _larger_sd(repeats, n_folds) if reading == DDOF else repeats
    rates = published_rates().query("table == @table")
    numbers = []
    columns = []
    for (dataset, kernel), part in repeats.groupby(["dataset", "kernel"], sort=False):
        row = rates[(rates["dataset"] == original(dataset)) & (rates["kernel"] == kernel)]
        if row.empty:
            continue
        same = [(part[key] == row[key].iloc[0]).all() for key in ("parameter", "iterations")]
        if all(same):
            numbers += row["published"].tolist()
            rate = (100 * part.set_index("repeat")[[f"{r.split}_{r.statistic}" for r in row.itertuples()]]).round(2)
            columns.append(rate.set_axis([(table, dataset, kernel, c) for c in rate.columns], axis=1))
    return numbers, columns


def _place(*parts):
    """`statistics.membership` of the numbers of several `_beside` together."""
    numbers = [number for part, _ in parts for number in part]
    columns = [column for _, part in parts for column in part]
    values = pd.concat(columns, axis=1, join="inner") if columns else pd.DataFrame(index=range(0), columns=range(0))
    return statistics.membership(numbers, values.to_numpy(float), varies=VARIES)


def together(results, program):
    """(numbers (m,), repeats (n, m)): the published numbers of both tables, and ours in each repeat, in percent.

    program: {table: name of its reading}. Numbers that are the same in print and in all repeats are left out.
    """
    parts = [_beside(results, table, named(table)[name]) for table, name in program.items()]
    numbers = np.array([number for part, _ in parts for number in part])
    repeats = pd.concat([column for _, part in parts for column in part], axis=1, join="inner").to_numpy(float)
    differ = (repeats != numbers).any(axis=0)
    return numbers[differ], repeats[:, differ]


def named(table):
    """{name in words: reading} of the readings of a table."""
    return {words(each): each for each in READINGS[table]}


def joint_table(results, table, *, compared, n_folds=N_FOLDS):
    """A row for each reading of a table: how many of its numbers lie inside, and the joint place of all of them.

    compared: `by_reading` with the same n_folds. Columns reading, inside and of (exact and within, of all), above and below
    our medians, sides and p (see `statistics.membership`), repeats.
    """
    rows = []
    known = named(table) | {DDOF: DDOF}
    for name, part in compared[compared["table"] == table].groupby("reading", sort=False):
        place = _place(_beside(results, table, known[name], n_folds=n_folds))
        row = {"reading": name, "inside": part["verdict"].isin(["exact", "within"]).sum(), "of": len(part)}
        row |= {"above": place.above, "below": place.below, "sides": place.sides, "p": place.p, "repeats": place.n}
        rows.append(row)
    return pd.DataFrame(rows)


def with_sonar_unscaled(name):
    """The name of the reading that differs from the one of this name in that sonar is not scaled."""
    return words(replace(named("III")[name], scaling="outside"))


def programs(results):
    """One program behind both tables: a row for each choice of the demoted class, the order and the unit.

    Columns reading, demote, order, unit; p of Table II with sonar scaled and as it is, of Table III, and of all numbers
    together (scaled, unscaled); repeats, the fewest of them.
    """
    results = with_repeats(results)
    rows = []
    for reading, other in zip((*DEMOTED, *SHORT), UNSCALED, strict=False):
        scaled = _beside(results, "II", reading)
        plain = _beside(results, "II", other)
        third = _beside(results, "III", reading)
        places = [_place(*parts) for parts in ((scaled,), (plain,), (third,), (scaled, third), (plain, third))]
        row = {"reading": words(reading), **{name: getattr(reading, name) for name in ("demote", "order", "unit")}}
        row |= dict(zip(P_COLUMNS, (place.p for place in places), strict=True))
        rows.append(row | {"repeats": min(place.n for place in places)})
    return pd.DataFrame(rows)


def in_epochs(programs, joint):
    """The programs whose iterations are epochs, the one that fits both tables best first: a row for each
    of their p: of Table II, the same with sonar not scaled, Table III, and both with sonar not scaled in Table II.

    programs: the table of this name; joint: {table: joint_table}. Columns reading, column, inside, of, p, repeats.
    """
    rows = []
    known = {table: found.set_index("reading") for table, found in joint.items()}
    best = programs[programs["unit"] == "epochs"].sort_values("both, sonar not scaled in II", ascending=False, kind="stable")
    for each in best.to_dict("records"):
        name = each["reading"]
        unscaled = known["II"].loc[with_sonar_unscaled(name)]
        third = known["III"].loc[name]
        both = unscaled[["inside", "of"]] + third[["inside", "of"]]
        counts = {
            "II": known["II"].loc[name],
            "II, sonar not scaled": unscaled,
            "III": third,
            "both, sonar not scaled in II": {**both, "repeats": each["repeats"]},
        }
        for column, found in counts.items():
            numbers = {key: int(found[key]) for key in ("inside", "of", "repeats")}
            rows.append({"reading": name, "column": column, "p": each[column]} | numbers)
    return pd.DataFrame(rows)


def p_printed(p, repeats):
    """p of a joint test as a table has it: "0.119", and "≤ 0.01" where it is the smallest that so many repeats can give.

    repeats: their number, or a list of the numbers that occur. Of n repeats the smallest p is 1 / (n + 1).
    """
    for n in np.atleast_1d(repeats):
        if np.isclose(p, 1 / (n + 1), rtol=1e-9):
            return f"≤ {np.ceil(100 / (n + 1)) / 100:.2f}"
    return p_cell(p)


P_COLUMNS = ["II", "II, sonar not scaled", "III", "both", "both, sonar not scaled in II"]
"""The columns of `programs` that have a p."""


def best_program(found):
    """(row, column, {"II": reading, "III": reading}): of `programs` the one with the largest p of both tables together.

    column tells how sonar is treated in Table II: "both", or "both, sonar not scaled in II".
    """
    columns = ["both", "both, sonar not scaled in II"]
    column = max(columns, key=lambda name: found[name].max())
    best = found.loc[found[column].idxmax()]
    second = best["reading"] if column == "both" else with_sonar_unscaled(best["reading"])
    return best, column, {"II": second, "III": best["reading"]}


def inside_together(joint, program):
    """{table: (inside, of)} under a program {table: name of its reading}; joint: {table: joint_table}."""
    found = {}
    for table, name in program.items():
        row = joint[table].set_index("reading").loc[name]
        found[table] = int(row["inside"]), int(row["of"])
    return found


def inside(verdicts):
    """True where a verdict is not "outside"."""
    return verdicts != "outside"


def name_of(row):
    """A published number in words: "vowel, linear: training error, mean"."""
    what = "error" if row["statistic"] == "mean" else "error, standard deviation"
    return f"{row['dataset']}, {KERNELS[row['kernel']]}: {SPLITS[row['split']]} {what}"


NUMBER = ["table", "dataset", "kernel", "split", "statistic"]
"""Key columns of the published rates."""


ACROSS = [
    "number", "published", "ours", "low", "high", "verdict", "inside", "readings", "fewest changes", "nearest", "there",
]  # fmt: skip
"""The columns of `across_readings`."""


def across_readings(compared):
    """Every published number, its verdict under the plain reading, and how it fares under the others.

    Columns number, published, ours, low, high (plain reading, percent), verdict, inside (under how many readings), readings
    (of how many), fewest changes (the reading with the fewest changes under which it is inside; "" where there is none),
    nearest (that whose mean comes nearest), there (its mean).
    """
    rows = []
    compared = compared[compared["published"].notna()]
    others = dict(tuple(compared[compared["reading"] != BASE].groupby(NUMBER)))
    for row in compared[compared["reading"] == BASE].to_dict("records"):
        same = others[tuple(row[name] for name in NUMBER)]
        nearest = same.loc[(same["ours"] - row["published"]).abs().idxmin()]
        numbers = {"number": name_of(row)} | {name: row[name] for name in ("published", "ours", "low", "high", "verdict")}
        under = same[inside(same["verdict"])]["reading"].tolist()
        fewest = min(under, key=lambda name: name.count(","), default="")
        found = {"inside": len(under), "readings": len(same), "fewest changes": fewest}
        rows.append(numbers | found | {"nearest": nearest["reading"], "there": nearest["ours"]})
    return pd.DataFrame(rows, columns=ACROSS)


DEMOTED_IN_WORDS = {"winner": "the winner", "first": "the first", "all": "all", "each": "all, a promotion each"}
ORDERED_IN_WORDS = {"fresh": "new in each epoch", "fixed": "the same"}


def programs_table(in_epochs, programs):
    """Rows of `in_epochs` as they are printed, a row for each program: in words, with a verdict on both tables together."""
    known = programs.set_index("reading")
    rows = []
    for reading, part in in_epochs.groupby("reading", sort=False):
        cells = part.set_index("column")
        both = cells.loc["both, sonar not scaled in II"]
        program = {
            "demoted": DEMOTED_IN_WORDS[known.loc[reading, "demote"]],
            "visiting order": ORDERED_IN_WORDS[known.loc[reading, "order"]],
        }
        joint = {
            f"p, Table {table}": p_printed(each["p"], each["repeats"])
            for table, each in (("II", cells.loc["II, sonar not scaled"]), ("III", cells.loc["III"]), ("II and III", both))
        }
        verdict = "possible" if both["p"] >= ALPHA else "rejected"
        rows.append(program | {"numbers inside": f"{both['inside']} of {both['of']}"} | joint | {"verdict": verdict})
    return pd.DataFrame(rows).pipe(styled)


def distances(results, in_epochs, programs):
    """How far the published numbers, and ours in each repeat, lie from the mean of all, by program and table.

    in_epochs, programs: the tables of these names. Sonar is not scaled in Table II. Columns program (in words), table,
    printed (True for the published numbers), distance (the sum of squared scores; see `statistics.membership`), p.
    """
    known = programs.set_index("reading")
    orders = {"fresh": "new orders", "fixed": "one order"}
    frames = []
    for name in in_epochs["reading"].unique():
        program = f"{DEMOTED_IN_WORDS[known.loc[name, 'demote']]}, {orders[known.loc[name, 'order']]}"
        for table, reading in (("II", with_sonar_unscaled(name)), ("III", name)):
            printed, repeats = together(results, {table: reading})
            far = statistics.distances(np.vstack([printed, repeats]))
            row = {"program": program, "table": table, "printed": np.arange(len(far)) == 0, "distance": far}
            frames.append(pd.DataFrame(row | {"p": statistics.membership(printed, repeats, varies=VARIES).p}))
    return pd.concat(frames, ignore_index=True)


def strips(results, program):
    """Mean errors of each repeat under the plain reading and under a program {table: name of its reading}, in percent.

    Columns dataset, kernel, parameter, iterations, repeat, split, lane (BASE or "program"), rate.
    """
    frames = []
    for table, name in program.items():
        for lane, reading in ((BASE, Reading()), ("program", named(table)[name])):
            part = repeats_under(results, table, reading)
            for split in SPLITS:
                frames.append(part[KEYS].assign(split=split, lane=lane, rate=100 * part[f"{split}_mean"]))
    found = pd.concat(frames, ignore_index=True)
    return found.assign(dataset=found["dataset"].map(original))


def judged_strips(compared, program):
    """The rows of `by_reading` on mean errors that belong to `strips`, with the column lane."""
    rows = compared[compared["statistic"] == "mean"]
    base = rows[rows["reading"] == BASE].assign(lane=BASE)
    other = pd.concat([rows[(rows["table"] == table) & (rows["reading"] == name)] for table, name in program.items()])
    return pd.concat([base, other.assign(lane="program")], ignore_index=True)


def explained_by(compared, program):
    """The numbers that lie outside under the plain reading or under a program {table: name of its reading}.

    Columns number, published, BASE and program (our mean and, in brackets, the central 95 %; percent) and inside: under
    which of the two the number lies inside, "neither" if under none.
    """
    rows = []
    for number, part in compared.groupby(NUMBER, sort=False):
        found = part.set_index("reading")
        two = {BASE: found.loc[BASE], "program": found.loc[program[number[0]]]}
        within = [name for name, each in two.items() if inside(each["verdict"])]
        if len(within) < len(two):
            first = {"number": name_of(dict(zip(NUMBER, number, strict=True))), "published": two[BASE]["published"]}
            bands = {name: f"{each['ours']:.2f} [{each['low']:.2f} to {each['high']:.2f}]" for name, each in two.items()}
            rows.append(first | bands | {"inside": (within or ["neither"])[0]})
    return styled(pd.DataFrame(rows, columns=["number", "published", BASE, "program", "inside"]), {"published": ".2f"})


def reading_effect(results, reading, table):
    """By how much a reading moves the mean errors: columns dataset, kernel, split, base, reading, difference (fractions).

    Both are means over the repeats that the reading has.
    """
    keys = ["dataset", "kernel", "repeat"]
    other = repeats_under(results, table, reading)
    base = repeats_under(results, table, Reading())
    both = other.merge(base, on=keys, suffixes=("", "_base"))
    rows = []
    for (dataset, kernel), part in both.groupby(["dataset", "kernel"], sort=False):
        for split in SPLITS:
            before = part[f"{split}_mean_base"].mean()
            after = part[f"{split}_mean"].mean()
            rows.append((dataset, kernel, split, before, after, after - before))
    return pd.DataFrame(rows, columns=["dataset", "kernel", "split", "base", "reading", "difference"])


def fold_sizes(results):
    """{set: test examples of each fold}, of the stratified folds of the first repeat."""
    folds = results["linear"]
    first = folds[folds["repeat"] == folds.groupby("dataset")["repeat"].transform("min")]
    return {original(name): part["n_test"].tolist() for name, part in first.groupby("dataset", sort=False)}


def arithmetic(sizes):
    """Whether whole numbers of errors can give the published mean and sd, dividing by k or by k - 1 (see `reachable`).

    sizes {dataset: test examples of each fold}. A row for each of its sets and kernel of Tables II and III: published mean
    and sd of the test error, True or False for each divisor, and whether the second number can be a variance (dividing by k
    or by k - 1), which is what the source calls it. False is certain; True is not.
    """
    rates = published_rates().query("split == 'test'")
    rows = []
    for (dataset, kernel), part in rates.groupby(["dataset", "kernel"], sort=False):
        if dataset in sizes:
            mean, sd = (part.loc[part["statistic"] == name, "published"].item() for name in ("mean", "sd"))
            found = {f"k - {d}" if d else "k": reachable(mean, sd, sizes[dataset], d) for d in (0, 1)}
            found["a variance"] = any(reachable(mean, sd, sizes[dataset], d, variance=True) for d in (0, 1))
            rows.append({"dataset": dataset, "kernel": KERNELS[kernel], "mean": mean, "sd": sd} | found)
    return pd.DataFrame(rows)


# Learning curves.


def separated(results):
    """Share of the folds whose training part was separated, and median epochs run: a row for each set and setting."""
    folds = pd.concat([results["linear"], results["kernel"]], ignore_index=True)
    groups = folds.groupby(["dataset", "kernel", "parameter"], sort=False)
    table = groups.agg(converged=("converged", "mean"), epochs=("epochs", "median"), folds=("converged", "size"))
    table = table.reset_index()
    words = [setting(row.kernel, row.parameter) for row in table.itertuples()]
    return table.assign(kernel=words, name=table["kernel"]).drop(columns="parameter")


# Choosing parameters.


def choices(grid):
    """The settings with the smallest mean test error of each repeat, as the source chooses; equals share the weight 1.

    A row for each of them: dataset, kernel, repeat, parameter, iterations, test_mean, weight.
    """
    keys = ["dataset", "kernel", "repeat"]
    least = grid.groupby(keys)["test_mean"].transform("min")
    best = grid[grid["test_mean"] == least]
    weight = 1.0 / best.groupby(keys)["test_mean"].transform("size")
    return best.assign(weight=weight)[["dataset", "kernel", "repeat", "parameter", "iterations", "test_mean", "weight"]]


def chosen_parameters(results):
    """The published kernel parameters and iterations, and the ones that our repeats choose on their test folds.

    Columns table, dataset, kernel, quantity ("parameter" or "iterations"), published, ours (weighted median), low, high
    (between which the middle 95 % of our choices lie), percentile, repeats, candidates (how many settings were tried) and
    place: "inside" or "outside" of low to high, "any" where they span all candidates. For the linear perceptrons the
    iterations are chosen from the learning curves. There is no verdict: the candidates of the source are not known, ours
    hold the published value, and of 3 to 10 repeats the range misses another one in 18 % to 50 % of the cases.
    """
    curves = results["curves"]
    lines = curves[(curves["kernel"] == "linear") & curves["iterations"].isin(ITERATIONS)]
    candidates = pd.concat([results["grid"], lines], ignore_index=True)
    best = choices(candidates)
    rows = []
    settings = published_rates().drop_duplicates(["table", "dataset", "kernel"])
    for row in settings[["table", "dataset", "kernel", "parameter", "iterations"]].to_dict("records"):
        tried, part = (
            frame[(frame["dataset"].map(original) == row["dataset"]) & (frame["kernel"] == row["kernel"])]
            for frame in (candidates, best)
        )
        for quantity in ("parameter", "iterations"):
            if part.empty or (row["kernel"] == "linear" and quantity == "parameter"):
                continue
            values = part[quantity].to_numpy(float)
            weights = part["weight"].to_numpy()
            number = float(row[quantity])
            low, ours, high = _quantiles(values, weights, [0.025, 0.5, 0.975])
            found = {key: row[key] for key in ("table", "dataset", "kernel")} | {"quantity": quantity, "published": number}
            found |= {"ours": ours, "low": low, "high": high}
            found["percentile"] = np.average((values < number) + 0.5 * (values == number), weights=weights)
            found |= {"repeats": part["repeat"].nunique(), "decimals": int(quantity == "parameter" and number < 1)}
            found["candidates"] = len(tried.drop_duplicates(["parameter", "iterations"]))
            whole = low == tried[quantity].min() and high == tried[quantity].max()
            inside = low <= number <= high
            found["place"] = "any" if whole and inside else "inside" if inside else "outside"
            rows.append(found)
    return pd.DataFrame(rows)


def _quantiles(values, weights, levels):
    """The smallest values whose share of the weights, with all below them, reaches the levels."""
    # Sums of equal shares such as 1 / 3 miss a level by their rounding; levels a little lower are met where they should be.
    return np.quantile(values, np.asarray(levels) - 1e-9, weights=weights, method="inverted_cdf").tolist()


def optimism(results):
    """Optimism of choosing on the test folds, and cost of choosing without them: a row for each set, kernel and repeat.

    Columns apparent (the smallest mean test error of the grid, as the source reports it), again (the mean test error of the
    settings so chosen in all other repeats), nested (of what inner folds choose, in the same repeat; missing in most),
    optimism (again less apparent) and cost (nested less again): fractions.
    """
    keys = ["dataset", "kernel", "repeat"]
    rows = []
    for (dataset, kernel), part in results["grid"].groupby(keys[:2], sort=False):
        wide = part.pivot(index="repeat", columns=["parameter", "iterations"], values="test_mean")
        for repeat, rates in wide.iterrows():
            least = rates.min()
            others = wide.drop(index=repeat)
            again = others.loc[:, (rates == least).to_numpy()].to_numpy().mean() if len(others) else np.nan
            rows.append({"dataset": dataset, "kernel": kernel, "repeat": repeat, "apparent": least, "again": again})
    chosen = results["chosen"].assign(rate=results["chosen"]["test_errors"] / results["chosen"]["n_test"])
    honest = chosen.groupby(keys, sort=False)["rate"].mean().rename("nested").reset_index()
    table = pd.DataFrame(rows).merge(honest, on=keys, how="left")
    return table.assign(optimism=table["again"] - table["apparent"], cost=table["nested"] - table["again"])


def optimism_table(found):
    """Means over the repeats of `optimism`, a row for each set and kernel; nested and cost over repeats with inner folds.

    sd: standard deviation of the optimism over the repeats; repeats, and inner, the repeats with inner folds.
    """
    groups = found.groupby(["dataset", "kernel"], sort=False)
    table = groups[["apparent", "again", "nested", "optimism", "cost"]].mean()
    table = table.assign(sd=groups["optimism"].std(ddof=1), repeats=groups.size(), inner=groups["nested"].count())
    table = table.reset_index()
    return table.assign(dataset=table["dataset"].map(original), kernel=table["kernel"].map(KERNELS))


# Table I, and other methods.


def table_1(sets):
    """Dimension, classes and size of the sets, as counted, and as published in columns that end in ", published"."""
    counts = ["dimension", "classes", "size"]
    rows = printed().query("measure in @counts", local_dict={"counts": counts})
    theirs = rows.pivot(index="dataset", columns="measure", values="published")[counts].astype(int)
    found = theirs.add_suffix(", published").loc[sets["dataset"].map(original)].reset_index(drop=True)
    return pd.concat([sets.reset_index(drop=True), found], axis=1)


def rival_beside_cited(rival):
    """The last column of Table I, and the mean test error of the support vector machine; columns as in `compare`.

    Other methods than the source's on other folds: no verdict follows.
    """
    rates = (
        rival.assign(rate=rival["test_errors"] / rival["n_test"]).groupby(["dataset", "repeat"], sort=False)["rate"].mean()
    )
    rows = []
    for name, number in cited_errors().items():
        values = 100 * rates[rates.index.get_level_values("dataset").map(original) == name].to_numpy()
        if len(values):
            rows.append({"table": "I", "dataset": name, "published": number} | _distribution(values, number))
    return pd.DataFrame(rows)


def new_speakers(results):
    """Mean test errors on speakers that did not train, and in folds that mix them: kernel, new, known (fractions).

    Only of sets that come in two parts.
    """
    parts = results["speakers"]
    rates = (parts["test_errors"] / parts["n_test"]).groupby([parts["dataset"], parts["kernel"]], sort=False).mean()
    known = with_repeats(results)["repeats"].groupby(["dataset", "kernel"])["test_mean"].mean()
    table = pd.DataFrame({"new": rates, "known": known.reindex(rates.index)}).reset_index()
    return table.assign(kernel=table["kernel"].map(KERNELS))[["kernel", "new", "known"]]


def predictor_errors(results):
    """Mean test errors of the predictors of the same runs, and of the average one in runs without thresholds: a row for each
    set and kernel; columns set, kernel, the names of the predictors, average without threshold (fractions)."""
    plain = results["thresholds"].query("predictor == 'average'").assign(predictor="average without threshold")
    rows = pd.concat([results["predictors"], plain], ignore_index=True)
    words = [setting(row.kernel, row.parameter) for row in rows.itertuples()]
    rows = rows.assign(set=rows["dataset"].map(original), kernel=words, rate=rows["test_errors"] / rows["n_test"])
    wide = rows.pivot_table(index=["set", "kernel"], columns="predictor", values="rate")
    return wide[[*PREDICTORS, "average without threshold"]].rename_axis(columns=None).reset_index()


# For readers.


IN_POINTS = dict.fromkeys(["estimate", "low", "high"], points) | {"p": p_cell}
"""How differences of rates and their tests are printed."""


def flattery_table(hidden):
    """`optimism_table` as it is printed."""
    return styled(hidden, dict.fromkeys(["apparent", "again", "nested", "optimism", "cost", "sd"], ".2%"))


def readings_table(across):
    """`across_readings` as they are printed."""
    columns = {"ours": "recomputed", "nearest": "nearest reading", "there": "value there"}
    shown = across.drop(columns=["low", "high"]).rename(columns=columns)
    return styled(shown, dict.fromkeys(["published", "recomputed", "value there"], ".2f"))


def predictors_table(wide):
    """`predictor_errors` of one set as they are printed."""
    return styled(wide.drop(columns="set"), dict.fromkeys(wide.columns[2:], ".2%"))


def differences_table(compared):
    """`rival_table` or `comparison_table` as they are printed."""
    return styled(compared, IN_POINTS)
