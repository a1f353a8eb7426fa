"""Quantities of the cross-validations of 2005 that texts quote; without arguments, those of the published runs."""

from functools import cache
from types import SimpleNamespace

from study.claims import of_parts
from study.levels import ALPHA
from study.tables import comparisons, experiment, tables
from study.tables.source import KERNELS, original
from study.words import interval, intervals, percent, points, size, size_interval, span


@cache
def results():
    """The tables of all readings on all sets, with their repeats."""
    return tables.with_repeats(experiment.everything(experiment.PUBLISHED))


@cache
def by_reading():
    """Every printed number beside ours under every reading: `tables.by_reading`."""
    return tables.by_reading(results())


def printed_and_ours():
    """Every number of Tables II and III beside ours under the plain reading: `tables.side_by_side`."""
    found = by_reading()
    return tables.side_by_side(found[found["reading"] == tables.BASE])


@cache
def programs():
    """Whole programs that may have made the printed tables: the table of this name of `tables`."""
    return tables.programs(results())


@cache
def one_program():
    """`both_tables` of the published runs."""
    return both_tables(results(), by_reading(), programs())


@cache
def better_kernel():
    """{set: Difference}: the better of two kernels, as cited in print, minus the linear perceptron, over folds (corrected
    resampled t, Holm over the sets)."""
    return comparisons.better_against_linear(results())


def plain_reading(by_reading):
    """The printed numbers under the plain reading, from rows of tables.by_reading.

    n: how many there are, of which inside lie in the central 95 % of our repeats and n_outside do not, n_linear of these by
    the linear perceptron. surprise: the mean test error that is farthest from ours (tables.surprise).
    """
    rows = by_reading[(by_reading["reading"] == tables.BASE) & by_reading["published"].notna()]
    outside = rows[rows["verdict"] == "outside"]
    return SimpleNamespace(
        n=len(rows),
        inside=len(rows) - len(outside),
        n_outside=len(outside),
        n_linear=int((outside["kernel"] == "linear").sum()),
        surprise=tables.surprise(rows) if len(rows) else None,
    )


def both_tables(found, by_reading, all_programs, *, n_folds=experiment.N_FOLDS):
    """One program behind both tables, from results with repeats, rows of tables.by_reading and tables.programs.

    best: the row of the largest joint p, p; program its readings {table: name}; inside: its numbers inside. n_programs are
    tried, each with sonar scaled and not; left: names of those that are not rejected in one of the two, left_scaled: with
    sonar scaled in both tables. in_epochs: the eight whose iterations are epochs, in their order; third: the p of Table III
    under each. same: programs that have as many inside as the best and are rejected, and by how many points they miss
    vowel's test error.
    """
    best, column, program = tables.best_program(all_programs)
    joint = {name: tables.joint_table(found, name, n_folds=n_folds, compared=by_reading) for name in program}
    inside_both = sum(count for count, _ in tables.inside_together(joint, program).values())
    in_epochs = tables.in_epochs(all_programs, joint)
    whole = in_epochs[(in_epochs["column"] == column) & (in_epochs["inside"] == inside_both)]
    same = whole.loc[whole["p"] < ALPHA, "reading"].tolist()
    vowel = by_reading.query("dataset == 'vowel' and kernel == 'linear' and split == 'test' and statistic == 'mean'")
    vowel = vowel[vowel["reading"].isin(same)]
    names = in_epochs["reading"].unique().tolist()
    return SimpleNamespace(
        best=best["reading"],
        p=best[column],
        p_scaled=best["both"],
        sonar_scaled=column == "both",
        program=program,
        inside=inside_both,
        n_programs=len(all_programs),
        left=all_programs.loc[(all_programs[["both", column]] >= ALPHA).any(axis=1), "reading"].tolist(),
        left_scaled=all_programs.loc[all_programs["both"] >= ALPHA, "reading"].tolist(),
        others_rejected=bool((all_programs.query("unit != 'epochs'")[["both", column]] < ALPHA).all(axis=None)),
        in_epochs=in_epochs,
        third=joint["III"].set_index("reading")["p"][names],
        same=same,
        missed=(vowel["published"] - vowel["ours"]).min(),
    )


def optimism(found):
    """Choosing on the test folds, by set and kernel of Table III: hidden, the range over them of the error that it hides
    (tables.optimism), and sd, of its standard deviations over repeats, both in words; always: whether all are positive."""
    rows = tables.optimism_table(tables.optimism(found))
    told = rows["optimism"].dropna()
    return SimpleNamespace(
        hidden=span(told) if len(told) else "…", sd=span(rows["sd"].dropna()) if len(told) else "…", always=(told > 0).all()
    )


def speakers(found):
    """The lowest errors on vowel in folds that mix speakers (known) and on new speakers; same: by the same kernel."""
    rows = tables.new_speakers(found)
    same = len(rows) > 0 and rows["new"].idxmin() == rows["known"].idxmin()
    return SimpleNamespace(known=rows["known"].min(), new=rows["new"].min(), same=same)


def spreads(found):
    """What the second numbers of Tables II and III can be, as errors are whole numbers in known folds: n_rows, whether
    a variance is ever possible, and n_impossible rows that cannot be a standard deviation either (tables.arithmetic)."""
    rows = tables.arithmetic(tables.fold_sizes(found))
    return SimpleNamespace(
        n_rows=len(rows),
        variance=bool(rows["a variance"].any()),
        n_impossible=int((~(rows["k"] | rows["k - 1"])).sum()),
    )


def kernels(found, *, n_folds=experiment.N_FOLDS):
    """The RBF kernel against others, {set: Difference} over folds (corrected resampled t, Holm over the sets): polynomial,
    both at their published settings, detected the sets with a lower error, apart the other intervals in words; svm, both
    tuned by inner folds, with all intervals in words, and farthest, the set with the largest difference."""
    polynomial = comparisons.between_kernels(found, "rbf", "poly", n_folds=n_folds)
    svm = comparisons.against_rival(found, n_folds=n_folds)["chosen"]
    detected = {name for name, each in polynomial.items() if each.p < ALPHA}
    others = [each for name, each in polynomial.items() if name not in detected]
    return SimpleNamespace(
        polynomial=polynomial,
        detected=detected,
        apart=intervals(others) if others else "…",
        svm=svm,
        none_apart=all(each.p >= ALPHA for each in svm.values()),
        farthest=max(svm, key=lambda name: abs(svm[name].estimate)),
    )


def of_set(found, compared, *, n_folds=experiment.N_FOLDS):
    """Readings of the tables on one set, from results with repeats and the rows of tables.by_reading that can differ there:
    left, how many readings of each table the joint test does not reject; n readings of Table II, of which it rejects
    n_rejected; across (tables.across_readings): each printed number under all of them; explained: whether those outside
    under the plain reading lie inside under another."""
    joint = {table: tables.joint_table(found, table, n_folds=n_folds, compared=compared) for table in ("II", "III")}
    left = {table: int((rows["p"] >= ALPHA).sum()) for table, rows in joint.items()}
    n = len(joint["II"])
    across = tables.across_readings(compared)
    outside = across[across["verdict"] == "outside"]
    return SimpleNamespace(
        left=left, n=n, n_rejected=n - left["II"], across=across, explained=bool((outside["inside"] > 0).all())
    )


# Verdicts on statements of the sources, whose text stands in statements.toml: (verdict, {name: value}) of each.


CLOSE = 0.01
"""Rates whose difference is surely smaller than this are called almost equal; the source does not say what it calls so."""


def verdict_wine_separable(separated):
    """Whether the linear perceptron ends without a mistake on every training part of wine."""
    lines = separated.query("name == 'linear'")
    row = lines[lines["dataset"].map(original) == "wine"]
    if row.empty:
        return "undecided", {}
    share = row["converged"].item()
    return "holds" if share == 1 else "does not hold", {"share": percent(share, 0), "folds": row["folds"].item()}


def verdict_on_sets(statement, found):
    """A statement that one error is smaller than another on all sets; found: {set: Difference} of the two on our folds."""
    return of_all([each.word("yes", "no", "tie") for each in found.values()]), _values(statement, found)


def _values(statement, found):
    """The verdict on a statement from the numbers in print, and of each set the size of the difference, its range, and the
    interval of the difference with signs."""
    values = {"printed": of_all(comparisons.in_print(close=100 * CLOSE)[statement].values())}
    for name, each in found.items():
        own = {"": size(each), "_range": size_interval(each), "_interval": interval(each)}
        values |= {f"{original(name)}{kind}": text for kind, text in own.items()}
    return values


def of_all(words):
    """The verdict on a statement about several sets from "yes", "no" or "tie" on each."""
    words = list(words)
    return of_parts(word == "yes" for word in words) if {"yes", "no"} & set(words) else "undecided"


def verdict_better_than_cited(found):
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


def verdict_two_parameters(found):
    """Whether nothing else than the kernel's parameter and the iterations matters; found: `comparisons.beyond_iterations`.

    The chapter on several classes has more evidence, on a set in the plane; the verdict is given once, here.
    """
    moved = {name: each for name, each in found.items() if each.p < ALPHA}
    if not moved:
        return "undecided", {"tried": len(found), "moved": 0}
    (dataset, kernel, reading), most = max(moved.items(), key=lambda item: abs(item[1].estimate))
    names = {"set": dataset, "kernel": KERNELS[kernel], "reading": reading}
    sizes = {"tried": len(found), "moved": len(moved), "most": points(most), "interval": interval(most)}
    return "does not hold", sizes | names
