"""What the printed conclusions on the published tables are made of: functions of stored results; nothing is fitted here.

results is {name: table} of the experiments of study.uci.experiment; repeats has one row for each cross-validation
(`repeats_of`); compared has one row for each published rate (`compare`). Error rates are fractions in results and repeats,
percent where they stand beside published numbers. Verdicts are those of study.claims, on the central 95 % of the repeats.
"""

import numpy as np
import pandas as pd

from study.claims import percentile
from study.claims import verdict as claims_verdict
from study.uci.arithmetic import reachable
from study.uci.experiment import ITERATIONS, KEYS, N_FOLDS, RATES
from study.uci.protocol import summary
from study.uci.source import KERNELS, SETS, SPLITS, original, published, published_rates, setting

BASE, DDOF = "base protocol", "standard deviation divided by k - 1"
COMPARED = ["ours", "low", "median", "high", "percentile", "repeats", "verdict"]
VERDICTS = ["exact", "within", "outside", "degenerate"]


def listed(words, nothing="none"):
    """Words as a list in a sentence: "a, b and c"."""
    words = list(words)
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words) or nothing


# Published beside ours.


def repeats_of(results):
    """Mean and sd over the folds of each repeat, of the linear and the kernel perceptrons; columns KEYS and RATES."""
    return summary(pd.concat([results["linear"], results["kernel"]], ignore_index=True), KEYS)


def compare(repeats, rates=None):
    """Each published rate beside ours: a row for each of `rates` whose set and setting `repeats` has.

    Adds ours (the mean over the repeats), low, median, high (2.5 %, 50 %, 97.5 %; percent), percentile (a fraction),
    repeats (their number) and verdict; a 0.00 that is 0.00 in all our repeats is degenerate.
    """
    rows, groups = [], {(original(d), k): part for (d, k), part in repeats.groupby(["dataset", "kernel"])}
    for row in (published_rates() if rates is None else rates).to_dict("records"):
        part = groups.get((row["dataset"], row["kernel"]))
        if part is not None and all((part[key] == row[key]).all() for key in ("parameter", "iterations")):
            values = (100 * part[f"{row['split']}_{row['statistic']}"]).round(2).to_numpy()
            rows.append(row | _distribution(values, row["published"]))
    table = pd.DataFrame(rows, columns=[*published_rates().columns, *COMPARED[:-1]])
    return _with_verdicts(table, decimals=2, degenerate=(table[["published", "low", "high"]] == 0).all(axis=1))


def _distribution(values, number):
    low, median, high = np.quantile(values, [0.025, 0.5, 0.975])
    found = {"ours": values.mean(), "low": low, "median": median, "high": high}
    return found | {"percentile": percentile(values, number), "repeats": len(values)}


def _with_verdicts(table, *, decimals, degenerate=False):
    ours = (table[name] for name in ("published", "ours", "low", "high"))
    return table.assign(verdict=claims_verdict(*ours, decimals=decimals, degenerate=degenerate))


def side_by_side(compared):
    """Tables II and III as published beside ours: a row for each set and kernel; cells "mean ± sd" in percent."""
    rows = []
    for (table, dataset, kernel), part in compared.groupby(["table", "dataset", "kernel"], sort=False):
        row = {"table": table, "dataset": dataset, "iterations": part["iterations"].iloc[0]}
        row["kernel"] = setting(kernel, part["parameter"].iloc[0])
        for split, word in SPLITS.items():
            cells = part[part["split"] == split].set_index("statistic")
            for column in ("published", "ours"):
                row[f"{word}, {column}"] = f"{cells.loc['mean', column]:.2f} ± {cells.loc['sd', column]:.2f}"
            row[f"{word}, verdicts"] = f"{cells.loc['mean', 'verdict']}, {cells.loc['sd', 'verdict']}"
        rows.append(row)
    return pd.DataFrame(rows)


def in_words(compared):
    """The published numbers beside ours, with words in place of keys."""
    words = [f"{KERNELS[row.kernel]}, {SPLITS[row.split]}, {row.statistic}" for row in compared.itertuples()]
    columns = {"published": "published", "ours": "ours", "low": "2.5 %", "median": "50 %", "high": "97.5 %"}
    table = compared[[*columns, "percentile", "verdict"]].rename(columns=columns)
    return table.assign(number=words)[["number", *columns.values(), "percentile", "verdict"]]


def agreement(compared, by="table"):
    """How many published numbers have which verdict: a row for each value of a column."""
    verdicts = pd.Categorical(compared["verdict"], VERDICTS)
    return pd.crosstab(compared[by], verdicts, dropna=False).rename_axis(columns=None).reset_index()


def counts(compared):
    """{verdict: how many}, with n, their number, and inside, the exact and within ones."""
    found = {verdict: int((compared["verdict"] == verdict).sum()) for verdict in VERDICTS}
    return found | {"n": len(compared), "inside": found["exact"] + found["within"]}


# Protocol variants.


def by_variant(results, *, n_folds=N_FOLDS):
    """`compare` under every protocol variant, with a column variant; the base protocol first."""
    base = repeats_of(results)
    other = base.assign(**{name: base[name] * np.sqrt(n_folds / (n_folds - 1)) for name in RATES if name.endswith("sd")})
    frames = [compare(base).assign(variant=BASE)]
    frames += [compare(part).assign(variant=name) for name, part in results["variants"].groupby("reading", sort=False)]
    frames.append(compare(other).assign(variant=DDOF))
    return pd.concat(frames, ignore_index=True)


def inside(verdicts):
    """True where a verdict is not "outside"."""
    return verdicts != "outside"


def variants_table(compared):
    """A row for each variant: how many published numbers lie inside, of each set (of one set, each kernel), and in all."""
    table = _inside_by_variant(compared, "sum").astype(int)
    table["of"] = compared.groupby("variant").size()
    return table.reset_index()


def shares_inside(compared):
    """The share of the published numbers inside: variants in rows; sets (of one set, kernels) and "in all" in columns."""
    return _inside_by_variant(compared, "mean")


def _inside_by_variant(compared, aggregate):
    compared = compared.assign(inside=inside(compared["verdict"]))
    by = "dataset" if compared["dataset"].nunique() > 1 else "kernel"
    table = compared.pivot_table(index="variant", columns=by, values="inside", aggfunc=aggregate, sort=False)
    table = table[[name for name in (*SETS, *KERNELS) if name in table.columns]].rename(columns=KERNELS)
    return table.assign(**{"in all": compared.groupby("variant")["inside"].agg(aggregate)}).rename_axis(columns=None)


def name_of(row):
    """A published number in words: "vowel, linear: training error, mean"."""
    what = "error" if row["statistic"] == "mean" else "error, standard deviation"
    return f"{row['dataset']}, {KERNELS[row['kernel']]}: {SPLITS[row['split']]} {what}"


NUMBER = ["table", "dataset", "kernel", "split", "statistic"]
"""What tells the published rates apart."""


def explained(compared):
    """The published numbers outside under the base protocol, and the variants under which each is inside.

    Columns number, published, ours, low, high (base protocol, percent), inside under (text; empty where there is none),
    nearest variant (that whose mean comes nearest), there (its mean).
    """
    base, others = compared[compared["variant"] == BASE], compared[compared["variant"] != BASE]
    rows = []
    for row in base[~inside(base["verdict"])].to_dict("records"):
        same = others[(others[NUMBER] == pd.Series({name: row[name] for name in NUMBER})).all(axis=1)]
        nearest = same.loc[(same["ours"] - row["published"]).abs().idxmin()]
        numbers = {"number": name_of(row)} | {name: row[name] for name in ("published", "ours", "low", "high")}
        found = "; ".join(same[inside(same["verdict"])]["variant"])
        rows.append(numbers | {"inside under": found, "nearest variant": nearest["variant"], "there": nearest["ours"]})
    names = ["number", "published", "ours", "low", "high", "inside under", "nearest variant", "there"]
    return pd.DataFrame(rows, columns=names)


def across_variants(compared):
    """Every published number, its verdict under the base protocol, and how it fares under the variants.

    Columns number, published, ours (base protocol, percent), verdict, variants inside (how many), variants (of how many),
    nearest variant (that whose mean comes nearest), there (its mean).
    """
    rows, others = [], compared[compared["variant"] != BASE]
    for row in compared[compared["variant"] == BASE].to_dict("records"):
        same = others[(others[NUMBER] == pd.Series({name: row[name] for name in NUMBER})).all(axis=1)]
        nearest = same.loc[(same["ours"] - row["published"]).abs().idxmin()]
        numbers = {"number": name_of(row)} | {name: row[name] for name in ("published", "ours", "verdict")}
        found = {"variants inside": int(inside(same["verdict"]).sum()), "variants": len(same)}
        rows.append(numbers | found | {"nearest variant": nearest["variant"], "there": nearest["ours"]})
    return pd.DataFrame(rows)


def best_variants(compared):
    """The variants other than the base protocol with the most published numbers inside: (their names, how many)."""
    totals = variants_table(compared).set_index("variant")["in all"].drop(index=BASE)
    return list(totals.index[totals == totals.max()]), int(totals.max())


def variant_effect(results, variant):
    """By how much a variant moves the mean errors: columns dataset, kernel, split, base, variant, difference (fractions).

    Both are means over the repeats that the variant has.
    """
    other, base = results["variants"].query("reading == @variant"), repeats_of(results)
    keys = ["dataset", "kernel", "repeat"]
    both = other.merge(base, on=keys, suffixes=("", "_base"))
    rows = []
    for (dataset, kernel), part in both.groupby(["dataset", "kernel"], sort=False):
        for split in SPLITS:
            pair = {"base": part[f"{split}_mean_base"].mean(), "variant": part[f"{split}_mean"].mean()}
            difference = {"difference": pair["variant"] - pair["base"]}
            rows.append({"dataset": dataset, "kernel": kernel, "split": split} | pair | difference)
    return pd.DataFrame(rows)


def fold_sizes(results):
    """{set: test examples of each fold}, of the stratified folds of the first repeat."""
    folds = results["linear"]
    first = folds[folds["repeat"] == folds.groupby("dataset")["repeat"].transform("min")]
    return {original(name): part["n_test"].tolist() for name, part in first.groupby("dataset", sort=False)}


def arithmetic(sizes):
    """Whether whole numbers of errors can give the published mean and sd, dividing by k or by k - 1 (study.uci.arithmetic).

    sizes {dataset: test examples of each fold}. A row for each of its sets and kernel of Tables II and III: published mean
    and sd of the test error, and True or False for each divisor. False is certain; True is not.
    """
    rates, rows = published_rates().query("split == 'test'"), []
    for (dataset, kernel), part in rates.groupby(["dataset", "kernel"], sort=False):
        if dataset in sizes:
            mean, sd = (part.loc[part["statistic"] == name, "published"].item() for name in ("mean", "sd"))
            found = {f"k - {d}" if d else "k": reachable(mean, sd, sizes[dataset], d) for d in (0, 1)}
            rows.append({"dataset": dataset, "kernel": KERNELS[kernel], "mean": mean, "sd": sd} | found)
    return pd.DataFrame(rows)


# Learning curves.


def nearest_iterations(curves, compared):
    """The limit at which the mean training and test error of our learning curve come nearest to the published ones.

    Columns dataset, kernel, split, published (percent), iterations (published), nearest (ours), there (percent).
    """
    rows = []
    for row in compared[compared["statistic"] == "mean"].to_dict("records"):
        part = curves[(curves["dataset"].map(original) == row["dataset"]) & (curves["kernel"] == row["kernel"])]
        means = 100 * part.groupby("iterations")[f"{row['split']}_mean"].mean()
        nearest = (means - row["published"]).abs().idxmin()
        keep = {key: row[key] for key in ("dataset", "kernel", "split", "published", "iterations")}
        rows.append(keep | {"nearest": int(nearest), "there": means[nearest]})
    return pd.DataFrame(rows, columns=["dataset", "kernel", "split", "published", "iterations", "nearest", "there"])


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
    """The published kernel parameters and iterations beside those that our repeats choose on their test folds.

    Columns table, dataset, kernel, quantity ("parameter" or "iterations"), published, ours (weighted median), low, high,
    percentile, repeats, verdict. For the linear perceptrons the iterations are chosen from the learning curves. Where low
    and high span all candidates, a published number among them cannot lie outside: degenerate.
    """
    curves = results["curves"]
    lines = curves[(curves["kernel"] == "linear") & curves["iterations"].isin(ITERATIONS)]
    candidates = pd.concat([results["grid"], lines], ignore_index=True)
    best = choices(candidates)
    rows, settings = [], published_rates().drop_duplicates(["table", "dataset", "kernel"])
    for row in settings[["table", "dataset", "kernel", "parameter", "iterations"]].to_dict("records"):
        tried, part = (
            frame[(frame["dataset"].map(original) == row["dataset"]) & (frame["kernel"] == row["kernel"])]
            for frame in (candidates, best)
        )
        for quantity in ("parameter", "iterations"):
            if part.empty or (row["kernel"] == "linear" and quantity == "parameter"):
                continue
            values, weights, number = part[quantity].to_numpy(float), part["weight"].to_numpy(), float(row[quantity])
            low, ours, high = _quantiles(values, weights, [0.025, 0.5, 0.975])
            found = {key: row[key] for key in ("table", "dataset", "kernel")} | {"quantity": quantity, "published": number}
            found |= {"ours": ours, "low": low, "high": high}
            found["percentile"] = np.average((values < number) + 0.5 * (values == number), weights=weights)
            found |= {"repeats": part["repeat"].nunique(), "decimals": int(quantity == "parameter" and number < 1)}
            found["degenerate"] = low == tried[quantity].min() and high == tried[quantity].max() and low <= number <= high
            rows.append(found)
    table = pd.DataFrame(rows)
    return _with_verdicts(table, decimals=table["decimals"], degenerate=table["degenerate"])


def _quantiles(values, weights, levels):
    """The smallest values whose share of the weights, with all below them, reaches the levels."""
    # Sums of equal shares such as 1 / 3 miss a level by their rounding; levels a little lower are met where they should be.
    return np.quantile(values, np.asarray(levels) - 1e-9, weights=weights, method="inverted_cdf").tolist()


def optimism(results):
    """The smallest mean test error of the grid and the mean test error of what inner folds choose, in the repeats of both.

    Columns dataset, kernel, repeat, published_way, nested, optimism (nested less published_way): fractions.
    """
    keys = ["dataset", "kernel", "repeat"]
    least = results["grid"].groupby(keys, sort=False)["test_mean"].min().rename("published_way")
    chosen = results["chosen"].assign(rate=results["chosen"]["test_errors"] / results["chosen"]["n_test"])
    honest = chosen.groupby(keys, sort=False)["rate"].mean().rename("nested")
    table = pd.concat([least, honest], axis=1, join="inner").reset_index()
    return table.assign(optimism=table["nested"] - table["published_way"])


def optimism_table(found):
    """Means and standard deviations over the repeats of `optimism`, a row for each set and kernel."""
    names = ["published_way", "nested", "optimism"]
    groups = found.groupby(["dataset", "kernel"], sort=False)
    table = groups[names].mean().assign(sd=groups["optimism"].std(ddof=1), repeats=groups.size()).reset_index()
    return table.assign(kernel=table["kernel"].map(KERNELS))


# Table I, and other methods.


def table_1(sets):
    """Dimension, classes and size of the sets, as counted, and as published in columns that end in ", published"."""
    theirs = published().query("table == 'I'").set_index("dataset")[["dimension", "classes", "size"]].astype(int)
    found = theirs.add_suffix(", published").loc[sets["dataset"].map(original)].reset_index(drop=True)
    return pd.concat([sets.reset_index(drop=True), found], axis=1)


def best_baselines(baselines):
    """The smallest mean test error among the other methods in each repeat: dataset, repeat, test_mean, method."""
    best = baselines.loc[baselines.groupby(["dataset", "repeat"], sort=False)["test_mean"].idxmin()]
    return best[["dataset", "repeat", "test_mean", "method"]].reset_index(drop=True)


def table_1_errors(baselines):
    """The last column of Table I beside the smallest error among methods of our own; columns as of `compare`."""
    rows, best = [], best_baselines(baselines)
    for row in published().query("table == 'I'").itertuples():
        values = (100 * best[best["dataset"].map(original) == row.dataset]["test_mean"]).round(2).to_numpy()
        if len(values):
            number = row.mean_error_percent
            rows.append({"table": "I", "dataset": row.dataset, "published": number} | _distribution(values, number))
    return _with_verdicts(pd.DataFrame(rows), decimals=2)


def against_baselines(results):
    """The better kernel perceptron beside the best other method, repeat by repeat (the same folds).

    A row for each set: ours (mean test error of the better published kernel setting), nested (with parameters chosen by
    inner folds), others, and below: the share of repeats in which the published setting is better than all others.
    """
    others = best_baselines(results["baselines"]).set_index(["dataset", "repeat"])["test_mean"]
    ours = repeats_of(results).query("kernel != 'linear'").groupby(["dataset", "kernel", "repeat"])["test_mean"].mean()
    honest = optimism(results).groupby(["dataset", "kernel"])["nested"].mean()
    rows = []
    for dataset in others.index.unique("dataset"):
        best = ours[dataset].groupby("kernel").mean().idxmin()
        theirs, mine = others[dataset], ours[dataset, best].reindex(others[dataset].index)
        row = {"dataset": dataset, "kernel": KERNELS[best], "ours": mine.mean(), "nested": honest[dataset].min()}
        rows.append(row | {"others": theirs.mean(), "below": (mine < theirs).mean(), "repeats": len(theirs)})
    return pd.DataFrame(rows)


# The statements of the source.


def paired_wins(repeats, first, second):
    """How often, over the repeats, one kernel's mean test error is below, equal to and above another's.

    A row for each set: dataset, first and second (mean test errors), below, equal, above (shares of the repeats), repeats.
    """
    rates = repeats.pivot(index=["dataset", "repeat"], columns="kernel", values="test_mean")
    rows = []
    for dataset, part in rates.groupby("dataset", sort=False):
        a, b = part[first], part[second]
        shares = {"below": (a < b).mean(), "equal": (a == b).mean(), "above": (a > b).mean()}
        rows.append({"dataset": dataset, "first": a.mean(), "second": b.mean()} | shares | {"repeats": len(part)})
    return pd.DataFrame(rows)


def better_kernel_against_linear(repeats):
    """`paired_wins` of the better kernel (by its mean over the repeats) of each set against the linear perceptron."""
    frames = []
    for _, part in repeats.groupby("dataset", sort=False):
        means = part.groupby("kernel")["test_mean"].mean()
        best = means.drop("linear").idxmin()
        frames.append(paired_wins(part, best, "linear").assign(kernel=KERNELS[best]))
    return pd.concat(frames, ignore_index=True)


def sets_reaching(rows, column, *, level=0.95):
    """The sets for which a share of the repeats reaches the level, as a list in a sentence."""
    return listed(map(original, rows["dataset"][rows[column] >= level]), "no set")


def predictor_table(table):
    """Mean errors of the four predictors, of mistakes and of support: a row for each kernel and predictor."""
    rates = table.assign(train=table["train_errors"] / table["n_train"], test=table["test_errors"] / table["n_test"])
    keys = ["dataset", "kernel", "parameter", "predictor"]
    means = rates.groupby(keys, sort=False)[["train", "test", "mistakes", "support"]].mean().reset_index()
    return means.assign(kernel=[setting(row.kernel, row.parameter) for row in means.itertuples()]).drop(columns="parameter")
