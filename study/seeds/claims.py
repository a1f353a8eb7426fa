"""What Akar & Ye 2017 publish: their numbers, in percent, facts of their set, and their statements, each with a verdict.

ours of Table 3 is the accuracy on the source's split, as recovered; the interval is that of its distribution over random
splits (2.5 to 97.5 percentile). Their optimum stands beside the best of our grid among the settings that are sound on their
split, those with K + lambda I positive definite; that criterion was chosen after looking, and the others are readings.
"""

import numpy as np
import pandas as pd

from study import claims as ledger
from study import datasets, statistics
from study.seeds import experiment, tables
from study.seeds.experiment import CHOICES, MISPRINT, PUBLISHED, PUBLISHED_HARD, SCALINGS
from study.seeds.methods import MAJORITY, MILDER, REFERENCE
from study.style import set_name

SOURCE = {"source": "Akar & Ye 2017", "chapter": "seeds"}
PERCENT = ["published", "ours", "low", "high"]
PROTOCOLS = len(SCALINGS) * 4 * len(CHOICES)
"""The variants of the protocol that were tried: scaling, the own neighbour, whose neighbours, which examples train."""

DISCRIMINANT = "linear discriminant analysis"
VECTORS = "SVM, Gaussian"
NETWORK = "neural network"
CLUSTERS = "k-means, named on the training part"

MISPRINTED = (
    "of {tried} values of τ only τ = {value:g} gives this number, and none of {ks} values of k and {lams} of λ: "
    "1/20 is read as its misprint; at 1/20 K is nearly the identity"
)
OPTIMUM = (
    "the largest of {settings} settings with K + λI positive definite on this split, a criterion chosen after "
    "looking; without it {all:.2f}, and on a finer grid {fine:.2f}, where {better} of {sound:,} such settings do better"
)
CLUSTERING = (
    "the gradient clustering of the source's reference was not run: ours is the mean of our best k-means and our best mean "
    "shift, another gradient method, both matched with all labels"
)
VARIANCE = (
    "attributes that are centred and divided by their Euclidean length over the whole set have variance 1/{n}; over the "
    "training part it would be {training:.4f}. The kernel does not depend on it"
)


def claims():
    """The rows of the ledger; see study.claims."""
    numbers = experiment.published_numbers()
    rows = pd.concat([_table_3_rows(numbers), _text_rows(numbers)], ignore_index=True)
    rows[PERCENT] = (100 * rows[PERCENT]).round(2)
    rows["percentile"] = rows["percentile"].round(4)
    found = [ledger.rows(each, **SOURCE) for each in (rows, _fact_rows())]
    return pd.concat(found, ignore_index=True)


def readings():
    """The ninth number of Table 3 with tau = 20 in place of 1/20, the optimum of other sets of settings, and other
    clusterings; see study.claims."""
    row = _table_3().iloc[[-1]]
    row = row.assign(key=_key(pd.Series(MISPRINT[0])), reading="τ = 20")
    row = row[["key", "reading", "ours", "low", "high", "n", "percentile"]]
    rows = pd.concat([row, _optimum_readings(), _clustering_readings()], ignore_index=True)
    rows[PERCENT[1:]] = (100 * rows[PERCENT[1:]]).round(2)
    return rows.round({"percentile": 4})


def _key(setting):
    return "akar-ye-2017/table-3/lambda-{lam:g}/tau-{tau:g}/k-{k:g}".format(**setting)


def _table_3():
    splits = experiment.table_3_splits(PUBLISHED)
    return tables.table_3(experiment.protocol_variants(PUBLISHED), splits).assign(n=splits["n"].iloc[0])


def _table_3_rows(numbers):
    rows = _table_3()[:-1].reset_index(drop=True)
    named = [f"test accuracy (%), λ = {row.lam:g}, τ = {row.tau:g}, k = {row.k}" for row in rows.itertuples()]
    misprint = np.all([rows[name] == value for name, value in MISPRINT[0].items()], axis=0)
    found = tables.misprints(experiment.misprint(PUBLISHED), experiment.protocol_variants(PUBLISHED)).set_index("changed")
    tau, ks, lams = (found.loc[name] for name in ("tau", "k", "lam"))
    explained = MISPRINTED.format(tried=tau["tried"], value=tau["values"][0], ks=ks["tried"], lams=lams["tried"])
    return rows.assign(
        key=[_key(row) for _, row in rows.iterrows()],
        item="Table 3",
        quantity=named,
        decimals=numbers["decimals"][: len(rows)],
        interval_of=f"{PUBLISHED.n_splits:,} random splits, 2.5 to 97.5 percentile; ours is the one split of the source",
        choices=PROTOCOLS,
        explanation=np.where(misprint, explained, ""),
    ).drop(columns=["lam", "tau", "k", "mean", "sd", "smallest_eigenvalue", "indefinite"])


def _text_rows(numbers):
    """The three numbers of the section Result and Analysis."""
    size = int(experiment.clustering(PUBLISHED)["n"].iloc[0])
    optima = tables.optima(experiment.source_grid(PUBLISHED)).set_index(["grid", "sound"])
    methods = experiment.methods(PUBLISHED)["methods"].query("method == @tuned", local_dict={"tuned": f"{REFERENCE}, tuned"})
    tuned, n = 1 - methods["errors"] / methods["n"], int(methods["n"].iloc[0])
    kinds = _clusters()
    optimum, limit, clusters = (row for _, row in numbers[numbers["item"] != "Table 3"].iterrows())
    best, middle = optima.loc[("coarse", "positive definite"), "best"], np.percentile(tuned, [2.5, 97.5])
    both = kinds[["k-means", "mean shift"]].mean()
    what = "among the settings of our grid with K + λI positive definite, on the source's split"
    rows = (
        ("optimum", optimum, what, best, (best, best), n, len(optima)),
        ("limit", limit, "mean over random splits, chosen on the training part", tuned.mean(), middle, n, 1),
        ("clustering", clusters, "mean of our best k-means and our best mean shift", both, (both, both), size, 1),
    )
    table = pd.DataFrame(
        {
            "key": f"akar-ye-2017/{slug}",
            "item": number["item"],
            "quantity": f"{number['quantity']} (%): {what}",
            "published": number["published"] / 100,
            "decimals": number["decimals"],
            "ours": ours,
            "low": low,
            "high": high,
            "n": size,
            "choices": choices,
        }
        for slug, number, what, ours, (low, high), size, choices in rows
    )
    sound, fine = optima.loc[("coarse", "positive definite")], optima.loc[("fine", "positive definite")]
    reason = OPTIMUM.format(
        settings=int(sound["settings"]), all=100 * optima.loc[("coarse", "all"), "best"], fine=100 * fine["best"],
        better=int(fine["better"]), sound=int(fine["settings"]),
    )  # fmt: skip
    return table.assign(
        percentile=[np.nan, tables.printed_percentile(tuned, table["published"][1]), np.nan],
        interval_of=["", f"{len(tuned)} random splits, 2.5 to 97.5 percentile", ""],
        explanation=[reason, "", CLUSTERING],
        comparable=[True, True, False],
    )


def _fact_rows():
    """Counts that the source states, facts of its set or its split, and the variance to which it brings attributes."""
    table = ledger.published("akar_ye_2017_facts")
    values = _facts()
    values["wine attributes"] = float(len(datasets.DATASETS["winequality-red"].feature_names))
    ours = table["fact"].map(values)
    of_variance = table["key"] == "variance"
    training = values["variance of attributes of length 1 over the training part"]
    reason = VARIANCE.format(n=int(values["examples"]), training=training)
    return table.assign(
        key="akar-ye-2017/" + table["key"], ours=ours, low=ours, high=ours, n=int(values["examples"]),
        degenerate=~of_variance, choices=np.where(of_variance, 2, 1), explanation=np.where(of_variance, reason, ""),
    ).drop(columns="fact")  # fmt: skip


def _facts():
    return experiment.facts(PUBLISHED).set_index("fact")["value"].to_dict()


def _clusters():
    """The best accuracy of each kind of clustering, by its name."""
    return tables.kinds_of_clustering(experiment.clustering(PUBLISHED)).set_index("method")["best"]


def _optimum_readings():
    optima = tables.optima(experiment.source_grid(PUBLISHED))
    words = {"coarse": "{} settings of our grid", "fine": "{:,} settings of a finer grid"}
    names = [
        words[row.grid].format(row.settings) + (", K + λI positive definite" if row.sound != "all" else "")
        for row in optima.itertuples()
    ]
    rows = pd.DataFrame({"reading": names, "ours": optima["best"]})[
        (optima["grid"] != "coarse") | (optima["sound"] == "all")
    ]
    rows.loc[len(optima)] = "the nine settings of Table 3", _table_3()["ours"][:-1].max()
    n = int(experiment.source_grid(PUBLISHED)["n"].iloc[0])
    return rows.assign(key="akar-ye-2017/optimum", low=rows["ours"], high=rows["ours"], n=n, percentile=np.nan)


def _clustering_readings():
    clustering = experiment.clustering(PUBLISHED)
    kinds = tables.kinds_of_clustering(clustering)
    rows = pd.DataFrame({"reading": "our best " + kinds["method"] + " alone", "ours": kinds["best"]})
    n = int(clustering["n"].iloc[0])
    return rows.assign(key="akar-ye-2017/clustering", low=rows["ours"], high=rows["ours"], n=n, percentile=np.nan)


def statements():
    """What the source says in words, each with the verdict that our numbers bear out; see study.claims.statement_rows."""
    found = {
        "compactness": _on_compactness(),
        "separable": _on_separable(),
        "not-linearly-separable": _on_linearly_separable(),
        "optimal-solution": _on_solution(),
        "complexity": _on_complexity(),
        "chosen": _on_choice(),
        "sensitive": _on_sensitivity(),
        "limited": _on_limit(),
        "outliers": _on_outliers(),
        "clustering-superior": _on_clustering(),
        "wine-not-classified": _on_wine(),
        "wine-needs-a-network": _on_networks(),
    }
    words = ("place", "statement", "verdict", "evidence")
    rows = [{"key": f"akar-ye-2017/{key}", **dict(zip(words, row, strict=True))} for key, row in found.items()]
    return ledger.statement_rows(rows, **SOURCE)


def _on_compactness():
    gap, beyond = (_facts()[name] for name in ("largest gap of compactness", "gaps beyond rounding"))
    n = _facts()["examples"]
    evidence = (
        f"In the file the largest difference is {gap:.4f}; for {n - beyond:.0f} of {n:.0f} examples it is within the "
        "rounding of A, P and c."
    )
    statement = "the compactness c is computed by 4πA/P²"
    return "Problem Statement", statement, "holds" if beyond == 0 else "holds in part", evidence


def _separates():
    """{(classes, degree): whether linear functions of the monomials to this degree separate them}."""
    return experiment.separation(PUBLISHED).set_index(["classes", "degree"])["separable"] == "yes"


def _on_separable():
    answer = _separates()
    plain, curved = answer["all together", 1], answer["all together", 2]
    verdict = "holds" if plain else "holds in part" if curved else "does not hold"
    words = {True: "separate the classes", False: "do not separate the classes"}
    evidence = f"Linear functions of the attributes {words[plain]}; polynomials of the second degree {words[curved]}."
    return "Problem Statement", "the seeds are a separable dataset", verdict, evidence


def _on_linearly_separable():
    answer = _separates().xs(1, level="degree")
    pairs = [name for name in answer.index if " and " in name and not answer[name] and "others" not in name]
    alone = [name.removesuffix(" and all others") for name in answer.index if "others" in name and answer[name]]
    apart = f"; a plane separates {' and '.join(alone)} from all others" if alone else ""
    evidence = f"A linear programme has no solution for all classes together, nor for {', '.join(pairs)}{apart}."
    verdict = "does not hold" if answer["all together"] else "holds"
    return "Machine Learning Model", "the seeds are not linearly separable", verdict, evidence


def _on_solution():
    nine = _table_3()[:-1]
    below = int((nine["smallest_eigenvalue"] < 0).sum())
    verdict = "holds" if below == 0 else "holds in part" if below < len(nine) else "does not hold"
    evidence = (
        f"In {below} of the {len(nine)} settings of Table 3 K has a negative eigenvalue in the median random split: it is "
        "no matrix of inner products, and the regularised error has no minimum."
    )
    return "Machine Learning Model", "the classifier retrieves an optimal solution for the model", verdict, evidence


def _on_complexity():
    facts = _facts()
    n, d, C = (int(facts[name]) for name in ("examples", "attributes", "classes"))
    kernel, vectors, _ = tables.costs(n, d, C)["operations"]
    verdict = "holds" if kernel <= vectors else "does not hold"
    evidence = (
        f"With n = {n} and d = {d} the source's own formulas give {kernel:,.0f} operations for the kernel classifier and "
        f"{vectors:,.0f} for the support vector machine, which it calls about equal."
    )
    statement = "the kernel classifier, O(n^2.376), costs about as much as a support vector machine, O(max(n, d) min(n, d)²)"
    return "Machine Learning Model", statement, verdict, evidence


def differences():
    """Each method's difference from the self-tuning kernel at the source's best setting; see tables.against."""
    points = experiment.methods(PUBLISHED)["points"], experiment.tuned(PUBLISHED)["tuned_points"]
    return tables.against(pd.concat(points, ignore_index=True))


def _told(found, names):
    """A list in words of how methods compare with the control: "name (-4.0 points, Holm p = 0.02)"."""
    each = (
        f"{name} ({statistics.points(found[name].estimate, digits=1)}, {statistics.p_value(found[name].p)})"
        for name in names
    )
    return ", ".join(each)


def _on_choice():
    found = differences()
    rivals = [name for name in (DISCRIMINANT, "linear, average", VECTORS, f"{VECTORS}, tuned")]
    worse = [name for name in rivals if found[name].word() == "is higher than"]
    better = [name for name in rivals if found[name].word() == "is lower than"]
    verdict = "does not hold" if better and not worse else "holds" if worse and not better else "cannot be told"
    evidence = (
        f"Test errors of others minus that of the classifier at its best setting: {_told(found, rivals)}; Holm over "
        f"{len(found)} methods."
    )
    statement = "the kernel classifier is the optimal choice before support vector machines and linear classifiers"
    return "Machine Learning Model", statement, verdict, evidence


def _on_sensitivity():
    pairs = tables.setting_pairs(experiment.setting_points(PUBLISHED), _table_3())
    told = pd.Series([found.word(tie="") != "" for found in pairs["difference"]], index=pairs.index)
    named = pairs["changed"].isin(["τ", "k"])
    sound, unsound = pairs[named & pairs["sound"]].index, pairs[named & ~pairs["sound"]].index
    verdict = "holds" if told[sound].any() else "holds in part" if told[unsound].any() else "cannot be told"
    evidence = (
        f"Of the {len(sound)} pairs of settings that differ in τ or k alone and have K + λI positive definite in "
        f"all random splits, {told[sound].sum() or 'none'} can be told apart; of the {len(unsound)} others "
        f"{told[unsound].sum() or 'none'} can (bootstrap over the examples, Holm)."
    )
    return "Result and Analysis", "the classifier is sensitive to changes in τ and in k", verdict, evidence


def _on_limit():
    points = experiment.methods(PUBLISHED)["points"]
    points = points[points["method"] == f"{REFERENCE}, tuned"].set_index("example")
    found = statistics.bootstrap(1 - points["errors"] / points["tested"], strata=points["label"].to_numpy())
    inside = found.low <= 0.905 and found.high >= 0.895
    lower = found.high < 0.895
    verdict = "cannot be told" if inside else "holds" if lower else "does not hold"
    evidence = (
        f"With parameters chosen on the training part its mean accuracy over random splits is {found.estimate:.1%} "
        f"({found.low:.1%} to {found.high:.1%} over other test examples, bootstrap)."
    )
    return "Result and Analysis", "the classifier is limited to about 90 %, whatever its parameters", verdict, evidence


def _on_outliers():
    points = experiment.methods(PUBLISHED)["points"]
    names = datasets.DATASETS["seeds"].target_names
    core = tables.persistent_by_class(points, REFERENCE, len(names))
    common = tables.persistent_in_common(points, REFERENCE, DISCRIMINANT)
    suspected = core[names.index("Kama")] + core[names.index("Canadian")]
    total = core.sum()
    spared = common < total
    verdict = "does not hold" if 2 * suspected <= total else "holds in part" if spared else "holds"
    each = ", ".join(f"{count} {name}" for count, name in zip(core, names, strict=True))
    evidence = (
        f"{total} examples are misclassified in most of their tests at the source's best setting ({each}); linear "
        f"discriminant analysis misclassifies {common} of them in most of its tests."
    )
    statement = "the limit is due to outliers among Kama and Canadian"
    return "Result and Analysis", statement, verdict, evidence


def _on_clustering():
    found = differences()[CLUSTERS]
    verdict = {"is lower than": "holds", "is higher than": "does not hold"}.get(found.word(), "cannot be told")
    evidence = (
        f"Test error of k-means with clusters named on the training part minus that of the classifier: "
        f"{statistics.points(found.estimate, digits=1)} ({statistics.points(found.low, digits=1)} to "
        f"{statistics.points(found.high, digits=1)}, {statistics.p_value(found.p)}, bootstrap, Holm). "
        "The reference's gradient clustering was not run."
    )
    statement = "k-means and gradient clustering are superior in accuracy to the classifier"
    return "Result and Analysis", statement, verdict, evidence


def _on_wine():
    found = tables.hard_against(experiment.hard(PUBLISHED_HARD), MAJORITY, [REFERENCE, MILDER])
    better = {
        name: {method for (s, method), f in found.items() if s == name and f.word() == "is lower than"} for name, _ in found
    }
    source, milder = (all(method in each for each in better.values()) for method in (REFERENCE, MILDER))
    verdict = "does not hold" if source else "holds in part" if milder else "holds"
    each = "; ".join(
        f"{set_name(name)}, {method}: {statistics.points(f.estimate, digits=1)}, {statistics.p_value(f.p)}"
        for (name, method), f in found.items()
    )
    evidence = f"Test error minus that of always naming the most frequent grade (corrected resampled t, Holm): {each}."
    return "Extra", "the wine quality data cannot be classified with the kernel classifier", verdict, evidence


def _on_networks():
    found = tables.hard_against(experiment.hard(PUBLISHED_HARD), NETWORK, [VECTORS, f"{NETWORK}, regression"])
    words = [f.word() for (_, method), f in found.items() if method == VECTORS]
    verdict = "holds" if "is higher than" in words else "does not hold" if "is lower than" in words else "cannot be told"
    each = "; ".join(
        f"{set_name(name)}, {method}: {statistics.points(f.estimate, digits=1)}, {statistics.p_value(f.p)}"
        for (name, method), f in found.items()
    )
    evidence = f"Test error minus that of a neural network with two hidden layers (corrected resampled t, Holm): {each}."
    statement = "to learn the quality of wine a neural network or regression beyond the kernel method is necessary"
    return "Extra", statement, verdict, evidence
