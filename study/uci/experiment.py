"""The UCI experiments of Xu & Zhang (2005): their Tables I to III, number by number, over many ten-fold cross-validations.

Source: Xu & Zhang 2005, section IV.B. The ten folds of 2005 are not known, so the ten-fold cross-validation is repeated,
and a published number has a place in the distribution of ours: "exact" where ours (the mean over the repeats) or all
repeats show the published digits, "within" where it lies in the central 95 % of the repeats, otherwise "outside".

Error rates are fractions in the tables of runs, percent where they stand beside published numbers. What is run is in
study.uci.protocol.
"""

from dataclasses import asdict, dataclass, replace
from functools import partial

import numpy as np
import pandas as pd
from joblib import parallel_config
from sklearn.utils.parallel import Parallel, delayed
from tqdm import tqdm

from study import BUILD, RESULTS, ROOT, datasets, store
from study.uci import protocol as cv
from study.uci.protocol import Method, summary

MODULES = (
    "kp.kernels", "kp.gram", "kp.mistakes", "kp.predictors", "kp.kesler", "kp.perceptron", "study.uci.protocol",
)  # fmt: skip
"""The code that can change a result; which runs are made is in the provenance."""

COMMAND = "python -m study run uci"
SETS = DATASETS = ("iris", "sonar", "vowel", "wine")
CHAPTERS = dict(zip(SETS, range(11, 15), strict=True))
SUMMARY_CHAPTER = 15
KERNELS = dict(zip(cv.KERNELS, ("linear", "polynomial", "RBF"), strict=True))
SYMBOLS = {"linear": "", "poly": "p", "rbf": "sigma"}
SPLITS = {"train": "training", "test": "test"}

READINGS = {
    "the first class that matches is demoted": {"demote": "first"},
    "all classes that match are demoted": {"demote": "all"},
    "examples in the order of the file": {"order": "given"},
    "one shuffle for all epochs": {"order": "fixed"},
    "scaled over the whole set": {"scaling": "all"},
    "folds not stratified": {"folds": "plain"},
    "folds in the order of the file": {"folds": "consecutive"},
    "iterations are presentations": {"unit": "presentations"},
    "no threshold": {"threshold": False},
}
"""One deviation each from the base reading: the winner demoted, a fresh shuffle each epoch, scaled by the training part,
stratified shuffled folds, iterations as epochs, with thresholds."""
BASE, DDOF = "base reading", "standard deviation divided by k - 1"

LIMITS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 3000, 5000)
ITERATIONS = (500, 1000, 2000, 3000, 5000)
"""The limits that the source uses; among them it chose."""
DEGREES = (1, 2, 4, 6, 9, 12, 16, 20)
WIDTHS = (0.9, 0.6, 0.4, 0.3, 0.2, 0.1)
"""The smoothest first: of equals it is preferred."""
CAPPED = {("vowel", "poly"): 500}
"""Limits of iterations in the grid: polynomials of low degree do not separate vowel, and 500 is what was published there."""

N_FOLDS, N_REPEATS, INNER_FOLDS = 10, 100, 5
SHARES = {
    "grid": (0.1, 0.05),
    "nested": (0.05, 0.02),
    "readings": (0.2, 0.1),
    "curves": (0.1, 0.03),
    "predictors": (0.1, 0.05),
    "rivals": (0.2, 0.05),
}
"""Which share of the repeats of Tables II and III is made of the other experiments, and of those on vowel."""


def original(dataset):
    """The set of the source that a bundled one stands for."""
    return dataset.removesuffix("-bundled")


def published():
    """The numbers of Tables I to III as published; error rates in percent."""
    table = pd.read_csv(ROOT / "data" / "published" / "xu_zhang_2005.csv")
    kernel = table["kernel"].map({"polynomial": "poly", "rbf": "rbf"}).where(table["table"] == "III", "linear")
    return table.assign(kernel=kernel.where(table["table"] != "I"), parameter=table["parameter"].fillna(0.0))


def published_rates():
    """The 48 error rates and standard deviations of Tables II and III, a row each.

    Columns table, dataset, kernel, parameter, iterations, split, statistic ("mean", "sd"), published (percent).
    """
    rows = published().query("table != 'I'").rename(columns={"mean_error_percent": "mean", "sd_error_percent": "sd"})
    keys = ["table", "dataset", "kernel", "parameter", "iterations", "split"]
    long = rows.melt(keys, ["mean", "sd"], "statistic", "published").astype({"iterations": int})
    order = [long[key].map({name: i for i, name in enumerate(names)}) for key, names in ORDER.items()]
    return long.iloc[np.lexsort([*reversed(order)])].reset_index(drop=True)


ORDER = {"table": ("II", "III"), "dataset": SETS, "kernel": cv.KERNELS, "split": tuple(SPLITS), "statistic": ("mean", "sd")}


def methods(dataset, **changes):
    """{kernel: Method}: the three published rows of a set, in the base reading unless `changes` say otherwise."""
    rows = published_rates().query("dataset == @name", local_dict={"name": original(dataset)})
    rows = rows.drop_duplicates("kernel")
    if rows.empty:
        known = ", ".join((*SETS, "iris-bundled", "wine-bundled"))
        raise ValueError(f"dataset must be one of {known}, got {dataset!r}")
    return {
        row.kernel: Method(kernel=row.kernel, parameter=row.parameter, max_iter=row.iterations, **changes)
        for row in rows.itertuples()
    }


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """What is run on one set. rows are methods, one for each kernel: those of Tables II and III, or others.

    n_repeats of n_folds each are made from random_state on, and fewer of what is dearer (`share`). degrees and widths are
    the grid from which inner_folds choose.
    """

    dataset: str
    rows: tuple
    n_folds: int = N_FOLDS
    n_repeats: int = N_REPEATS
    random_state: int = 0
    degrees: tuple = DEGREES
    widths: tuple = WIDTHS
    inner_folds: int = INNER_FOLDS

    @property
    def published(self):
        """True for the experiments whose results are stored with the project."""
        return self in PUBLISHED.values()

    def share(self, part, kernel=""):
        """The number of repeats of a part, at least 1; vowel is the dearest set, and there the linear perceptron."""
        usual, vowel = SHARES.get(part, (1, 1))
        share = usual
        if original(self.dataset) == "vowel":
            share = min(vowel, 0.03) if kernel == "linear" and part in SHARES else vowel
        return max(1, round(self.n_repeats * share))

    def jobs(self, part, rows):
        """(dataset, Method, repeat) of each row and repeat of a part."""
        return [(self.dataset, row, r) for row in rows for r in self.repeats(part, row.kernel)]

    def repeats(self, part, kernel=""):
        return range(self.random_state, self.random_state + self.share(part, kernel))

    def grid(self, kernel):
        """The methods among which is chosen, in the order of preference."""
        max_iter = CAPPED.get((original(self.dataset), kernel), max(ITERATIONS))
        values = self.degrees if kernel == "poly" else self.widths
        row = next((row for row in self.rows if row.kernel == kernel), self.rows[0])
        return [replace(row, kernel=kernel, parameter=value, max_iter=max_iter) for value in values]

    def parameters(self, part):
        """What a part depends on, for its provenance."""
        repeats = {kernel: self.share(part, kernel) for kernel in KERNELS}
        found = {"n_folds": self.n_folds, "random_state": self.random_state, "repeats": repeats}
        if part == "rivals":
            return found
        found["rows"] = [asdict(row) for row in self.rows]
        more = {"curves": {"limits": LIMITS}, "readings": {"readings": READINGS}}
        more["grid"] = {"degrees": self.degrees, "widths": self.widths, "iterations": ITERATIONS}
        more["grid"]["capped"] = [list(map(str, item)) for item in CAPPED.items()]
        more["nested"] = {**more["grid"], "inner_folds": self.inner_folds}
        return found | more.get(part, {})


def experiment(dataset, *, kernel="rbf", parameter="published", max_iter="published", changes=None, **options):
    """The Experiment of a notebook's parameters, checked.

    Of the three published rows of the set, that of `kernel` gets another parameter or max_iter where they are not
    "published"; changes are fields of `Method` for all rows. options are those of `Experiment`.
    """
    rows = methods(dataset, **(changes or {}))
    if kernel not in rows:
        raise ValueError(f"kernel must be one of {', '.join(rows)}, got {kernel!r}")
    for name, value in (("parameter", parameter), ("max_iter", max_iter)):
        if value != "published":
            rows[kernel] = replace(rows[kernel], **{name: value})
    for name in ("n_folds", "n_repeats", "inner_folds"):
        low, value = (1 if name == "n_repeats" else 2), options.get(name, 10)
        if isinstance(value, bool) or not isinstance(value, int) or value < low:
            raise ValueError(f"{name} must be an integer of at least {low}, got {value!r}")
    return Experiment(dataset=dataset, rows=tuple(rows.values()), **options)


# Computing and keeping.


def _runs(experiment, part, rows, **options):
    return {part: cv.cross_validate(experiment.jobs(part, rows), n_folds=experiment.n_folds, **options)}


def _linear(experiment, **options):
    return _runs(experiment, "linear", [row for row in experiment.rows if row.kernel == "linear"], **options)


def _kernel(experiment, **options):
    return _runs(experiment, "kernel", _kernel_rows(experiment), **options)


def _kernel_rows(experiment):
    return [row for row in experiment.rows if row.kernel != "linear"]


def _readings(experiment, **options):
    frames = []
    for reading, changes in READINGS.items():
        folds = _runs(experiment, "readings", [replace(row, **changes) for row in experiment.rows], **options)["readings"]
        frames.append(summary(folds, KEYS).assign(reading=reading)[["reading", *KEYS, *RATES]])
    return {"readings": pd.concat(frames, ignore_index=True)}


def _curves(experiment, **options):
    rows = [replace(row, max_iter=max(LIMITS[-1], row.max_iter)) for row in experiment.rows]
    limits = sorted({*LIMITS, *(row.max_iter for row in experiment.rows)})
    return {"curves": summary(_runs(experiment, "curves", rows, limits=limits, **options)["curves"], KEYS)}


def _nested(experiment, **options):
    jobs = [
        (experiment.dataset, experiment.grid(kernel), ITERATIONS, repeat)
        for kernel in ("poly", "rbf")
        for repeat in experiment.repeats("nested")
    ]
    sizes = {"n_folds": experiment.n_folds, "inner_folds": experiment.inner_folds}
    return {"chosen": cv.nested(jobs, **sizes, **options)[1]}


def _grid(experiment, **options):
    rows = [row for kernel in ("poly", "rbf") for row in experiment.grid(kernel)]
    folds = cv.cross_validate(experiment.jobs("grid", rows), n_folds=experiment.n_folds, limits=ITERATIONS, **options)
    return {"grid": summary(folds, KEYS)}


def _predictors(experiment, **options):
    jobs = experiment.jobs("predictors", _kernel_rows(experiment))
    return {"predictors": cv.predictors(jobs, n_folds=experiment.n_folds, **options)}


def _rivals(experiment, *, threads=2, progress=False):
    # In processes: scikit-learn's ensembles set filters of warnings that threads share, and then warn of each other.
    jobs = [[(experiment.dataset, repeat)] for repeat in experiment.repeats("rivals")]
    run = delayed(partial(cv.cross_validate_rivals, n_folds=experiment.n_folds, threads=1))
    frames = Parallel(n_jobs=min(threads, len(jobs)))(run(job) for job in tqdm(jobs, unit="job", disable=not progress))
    return {"rivals": pd.concat(frames, ignore_index=True)}


PARTS = {
    "kernel": (_kernel, ("kernel",)),
    "grid": (_grid, ("grid",)),
    "nested": (_nested, ("chosen",)),
    "rivals": (_rivals, ("rivals",)),
    "predictors": (_predictors, ("predictors",)),
    "curves": (_curves, ("curves",)),
    "readings": (_readings, ("readings",)),
    "linear": (_linear, ("linear",)),
}
"""What is computed together, and the tables that come of it; a file each."""

KEYS = ["dataset", "kernel", "parameter", "iterations", "repeat"]
COMPARED = ["ours", "low", "median", "high", "percentile", "repeats", "verdict"]
RATES = ["train_mean", "train_sd", "test_mean", "test_sd"]
PUBLISHED = {name: Experiment(dataset=name, rows=tuple(methods(name).values())) for name in SETS}


def source(part, names=SETS):
    """The provenance of the stored tables of a part."""
    checksums = {}
    for name in names:
        checksums |= datasets.checksums(name)
    return store.provenance("uci", {"part": part} | {n: PUBLISHED[n].parameters(part) for n in names}, MODULES, checksums)


def compute(experiment, part, *, threads=2, progress=False):
    """{name: table} of one part of an experiment."""
    return PARTS[part][0](experiment, threads=threads, progress=progress)


def stored(name):
    """A stored table, of all four sets. Raises StaleResult if it does not belong to the code, the data and the runs."""
    part = next(part for part, (_, names) in PARTS.items() if name in names)
    return store.read_table(RESULTS / f"uci_{name}.csv", source(part), COMMAND)


def results(experiments, *, threads=2):
    """{name: table} of these experiments: read if all are the published ones, else computed on the spot."""
    names = [name for _, tables in PARTS.values() for name in tables]
    if all(e.published for e in experiments):
        sets = [e.dataset for e in experiments]
        found = {name: stored(name) for name in names}
        return {name: table[table["dataset"].isin(sets)].reset_index(drop=True) for name, table in found.items()}
    frames = [{name: t for part in PARTS for name, t in compute(e, part, threads=threads).items()} for e in experiments]
    return {name: pd.concat([frame[name] for frame in frames], ignore_index=True) for name in names}


def publish(*, recompute=False, progress=False, threads=2):
    """Compute what is missing and store it, part by part and set by set: an interrupted run goes on where it stopped."""
    for part, (_, names) in PARTS.items():
        try:
            if not recompute:
                for name in names:
                    stored(name)
                continue
        except store.StaleResult:
            pass
        with parallel_config(backend="loky"):
            frames = [_draft(part, e, recompute=recompute, progress=progress, threads=threads) for e in PUBLISHED.values()]
        for name in names:
            table = pd.concat([frame[name] for frame in frames], ignore_index=True)
            store.write_table(RESULTS / f"uci_{name}.csv", table, source(part), COMMAND)


def _draft(part, experiment, *, recompute, **options):
    """The tables of a part for one set, kept under build/ until those of all sets are there."""
    names = PARTS[part][1]
    paths = {name: BUILD / "drafts" / f"uci_{name}_{experiment.dataset}.csv" for name in names}
    made_for = source(part, [experiment.dataset])
    try:
        if not recompute:
            return {name: store.read_table(path, made_for, COMMAND) for name, path in paths.items()}
    except store.StaleResult:
        pass
    tables = compute(experiment, part, **options)
    for name, path in paths.items():
        store.write_table(path, tables[name], made_for, COMMAND)
    return tables


# Published beside ours.


def place(values, number, weights=None):
    """The place of a number in a distribution: the share of values below it, those equal to it counting half."""
    values = np.asarray(values, dtype=float)
    weights = np.ones(len(values)) if weights is None else np.asarray(weights)
    return float((weights * ((values < number) + 0.5 * (values == number))).sum() / weights.sum())


def quantiles(values, weights, levels):
    """The smallest values whose share of the weights, with all below them, reaches the levels."""
    order = np.argsort(values, kind="stable")
    share = np.cumsum(np.asarray(weights)[order]) / np.sum(weights)
    return [float(np.asarray(values)[order][np.searchsorted(share, level - 1e-9)]) for level in levels]


def verdict(number, values, ours, low, high, *, digits=2):
    """exact, within or outside; values are ours, one a repeat, and low to high the central 95 % of them."""
    shown = round(number, digits)
    if round(ours, digits) == shown or np.all(np.round(values, digits) == shown):
        return "exact"
    return "within" if low <= number <= high else "outside"


def compare(repeats, rates=None):
    """Each published rate beside ours: a row for each of `rates` whose set and setting `repeats` has.

    repeats is a table with one row a repeat and the columns dataset, kernel and RATES. Adds ours (the mean over the
    repeats), low, median, high (2.5 %, 50 %, 97.5 %; percent), percentile (a fraction), verdict, repeats.
    """
    rows, groups = [], {(original(d), k): part for (d, k), part in repeats.groupby(["dataset", "kernel"])}
    for row in (published_rates() if rates is None else rates).to_dict("records"):
        part = groups.get((row["dataset"], row["kernel"]))
        if part is not None and all((part[key] == row[key]).all() for key in ("parameter", "iterations")):
            values = (100 * part[f"{row['split']}_{row['statistic']}"]).round(2).to_numpy()
            low, median, high = np.quantile(values, [0.025, 0.5, 0.975])
            found = {"ours": values.mean(), "low": low, "median": median, "high": high}
            found |= {"percentile": place(values, row["published"]), "repeats": len(values)}
            rows.append(row | found | {"verdict": verdict(row["published"], values, found["ours"], low, high)})
    return pd.DataFrame(rows, columns=[*published_rates().columns, *COMPARED])


def repeats_of(tables):
    """Mean and sd over the folds of each repeat, of the linear and the kernel perceptrons."""
    return summary(pd.concat([tables["linear"], tables["kernel"]], ignore_index=True), KEYS)


def by_reading(tables, *, n_folds=N_FOLDS):
    """`compare` under every reading, with a column reading; the base reading first."""
    base = repeats_of(tables)
    other = base.assign(**{name: base[name] * np.sqrt(n_folds / (n_folds - 1)) for name in RATES if name.endswith("sd")})
    frames = [compare(base).assign(reading=BASE)]
    frames += [compare(part).assign(reading=name) for name, part in tables["readings"].groupby("reading", sort=False)]
    frames.append(compare(other).assign(reading=DDOF))
    return pd.concat(frames, ignore_index=True)


def inside(verdicts):
    """True where a verdict is not "outside"."""
    return verdicts != "outside"


def readings_table(compared):
    """A row for each reading: how many published numbers lie inside, of each set (of one set, each kernel), and in all."""
    compared = compared.assign(inside=inside(compared["verdict"]))
    by = "dataset" if compared["dataset"].nunique() > 1 else "kernel"
    table = compared.pivot_table(index="reading", columns=by, values="inside", aggfunc="sum", sort=False)
    names = [name for name in (*SETS, *KERNELS) if name in table.columns]
    table = table[names].rename(columns=KERNELS)
    table["in all"] = table.sum(axis=1)
    table["of"] = compared.groupby("reading")["inside"].size()
    return table.astype(int).rename_axis(columns=None).reset_index()


def name_of(row):
    """A published number in words: "vowel, linear: training error, mean"."""
    what = "error" if row["statistic"] == "mean" else "error, standard deviation"
    return f"{row['dataset']}, {KERNELS[row['kernel']]}: {SPLITS[row['split']]} {what}"


def explained(compared):
    """The published numbers outside the base reading, the readings under which each is inside, and the nearest reading.

    Columns number, published, ours, low, high (base reading, percent), inside under (text; empty where there is none),
    nearest reading (that whose mean comes nearest), there (its mean).
    """
    key = ["table", "dataset", "kernel", "split", "statistic"]
    base, others = compared[compared["reading"] == BASE], compared[compared["reading"] != BASE]
    rows = []
    for row in base[~inside(base["verdict"])].to_dict("records"):
        same = others[(others[key] == pd.Series({name: row[name] for name in key})).all(axis=1)]
        nearest = same.loc[(same["ours"] - row["published"]).abs().idxmin()]
        numbers = {"number": name_of(row)} | {name: row[name] for name in ("published", "ours", "low", "high")}
        found = "; ".join(same[inside(same["verdict"])]["reading"])
        rows.append(numbers | {"inside under": found, "nearest reading": nearest["reading"], "there": nearest["ours"]})
    names = ["number", "published", "ours", "low", "high", "inside under", "nearest reading", "there"]
    return pd.DataFrame(rows, columns=names)


def arithmetic(rates, sizes):
    """Whether whole numbers of errors can give a published mean and sd, dividing by k or by k - 1.

    rates: rows of `published_rates`; sizes {dataset: test examples of each fold}. A row for each dataset and kernel of
    Tables II and III: published mean and sd of the test error, and True or False for each divisor. False is certain; True
    says only that sums and parities allow it.
    """
    rows = []
    for (dataset, kernel), part in rates[rates["split"] == "test"].groupby(["dataset", "kernel"], sort=False):
        mean, sd = (part.loc[part["statistic"] == name, "published"].item() for name in ("mean", "sd"))
        found = {f"k - {d}" if d else "k": reachable(mean, sd, sizes[dataset], d) for d in (0, 1)}
        rows.append({"dataset": dataset, "kernel": KERNELS[kernel], "mean": mean, "sd": sd} | found)
    return pd.DataFrame(rows)


def reachable(mean, sd, sizes, ddof, *, digits=2):
    """Whether counts of errors in folds of these sizes (at most two different ones) can have this mean and sd, in percent.

    The sum S and the sum of squares Q of whole numbers have the same parity, and Q >= S^2 / their number.
    """
    half, k = 0.5 * 10.0**-digits + 1e-9, len(sizes)
    large, small = max(sizes), min(sizes)
    a = sum(size == large for size in sizes)
    counts = [(a, large), (k - a, small)]
    lowest, highest = ((k - ddof) * max(s, 0.0) ** 2 + k * mean**2 for s in (sd - half, sd + half))
    for S in range(large * a + 1):
        for T in range(small * (k - a) + 1):
            rate = 100 * (S / large + T / small) / k
            if abs(rate - mean) > half:
                continue
            low, high = (bound + k * (rate**2 - mean**2) for bound in (lowest, highest))
            if _squares_fit(S, T, counts, low, high):
                return True
    return False


def _squares_fit(S, T, counts, low, high):
    """Whether (100/large)^2 Q + (100/small)^2 R falls into low..high for some sums of squares Q and R that S and T allow."""
    (a, large), (b, small) = counts
    unit, other = (100 / large) ** 2, (100 / small) ** 2
    R = np.arange(_least(T, b), high / other + 1, 2) if b else np.zeros(1)
    for r in R:
        left, right = (low - other * r) / unit, (high - other * r) / unit
        q = max(_least(S, a), np.ceil(left))
        q += (q - S) % 2
        if q <= right:
            return True
    return False


def _least(S, k):
    """The least sum of squares of k whole numbers with the sum S."""
    return (k - S % k) * (S // k) ** 2 + (S % k) * (S // k + 1) ** 2 if k else 0


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


def chosen_parameters(tables):
    """The published kernel parameters and iterations beside those that our repeats choose on their test folds.

    Columns table, dataset, kernel, quantity ("parameter" or "iterations"), published, ours (weighted median), low, high,
    percentile, repeats, verdict. For the linear perceptrons the iterations are chosen from the learning curves.
    """
    curves = tables["curves"]
    lines = curves[(curves["kernel"] == "linear") & curves["iterations"].isin(ITERATIONS)]
    best = pd.concat([choices(tables["grid"]), choices(lines)], ignore_index=True)
    rows, settings = [], published_rates().drop_duplicates(["table", "dataset", "kernel"])
    for row in settings[["table", "dataset", "kernel", "parameter", "iterations"]].to_dict("records"):
        part = best[(best["dataset"].map(original) == row["dataset"]) & (best["kernel"] == row["kernel"])]
        for quantity in ("parameter", "iterations"):
            if part.empty or (row["kernel"] == "linear" and quantity == "parameter"):
                continue
            values, weights, number = part[quantity].to_numpy(float), part["weight"], float(row[quantity])
            low, ours, high = quantiles(values, weights, [0.025, 0.5, 0.975])
            found = {key: row[key] for key in ("table", "dataset", "kernel")} | {"quantity": quantity, "published": number}
            found |= {"ours": ours, "low": low, "high": high, "percentile": place(values, number, weights)}
            found |= {"repeats": part["repeat"].nunique(), "verdict": verdict(number, values, ours, low, high)}
            rows.append(found)
    return pd.DataFrame(rows)


def optimism(tables):
    """The smallest mean test error of the grid and the mean test error of what inner folds choose, in the repeats of both.

    Columns dataset, kernel, repeat, published_way, nested, optimism (nested less published_way): fractions.
    """
    keys = ["dataset", "kernel", "repeat"]
    least = tables["grid"].groupby(keys, sort=False)["test_mean"].min().rename("published_way")
    chosen = tables["chosen"].assign(rate=tables["chosen"]["test_errors"] / tables["chosen"]["n_test"])
    honest = chosen.groupby(keys, sort=False)["rate"].mean().rename("nested")
    table = pd.concat([least, honest], axis=1, join="inner").reset_index()
    return table.assign(optimism=table["nested"] - table["published_way"])


def optimism_table(found):
    """Means and standard deviations over the repeats of `optimism`, a row for each set and kernel."""
    names = ["published_way", "nested", "optimism"]
    groups = found.groupby(["dataset", "kernel"], sort=False)
    table = groups[names].mean().assign(sd=groups["optimism"].std(ddof=1), repeats=groups.size()).reset_index()
    return table.assign(kernel=table["kernel"].map(KERNELS))


# Tables I to III, the statements, the ledger.


def table_1(names=SETS):
    """Dimension, classes and size of the sets, from the data, and as published in columns that end in "_published"."""
    rows = published().query("table == 'I'").set_index("dataset")
    found = []
    for name in names:
        X, y = cv.load(name)
        ours = {"dimension": X.shape[1], "classes": len(np.unique(y)), "size": len(X)}
        theirs = {f"{key}_published": int(rows.loc[original(name), key]) for key in ours}
        found.append({"dataset": name} | ours | theirs)
    return pd.DataFrame(found)


def best_rivals(rivals):
    """The smallest mean test error among the other methods in each repeat: dataset, repeat, test_mean, method."""
    best = rivals.loc[rivals.groupby(["dataset", "repeat"], sort=False)["test_mean"].idxmin()]
    return best[["dataset", "repeat", "test_mean", "method"]].reset_index(drop=True)


def table_1_errors(rivals):
    """The last column of Table I beside the smallest error among methods of our own; columns as of `compare`."""
    rows, best = [], best_rivals(rivals)
    for row in published().query("table == 'I'").itertuples():
        values = (100 * best[best["dataset"].map(original) == row.dataset]["test_mean"]).round(2).to_numpy()
        if not len(values):
            continue
        low, median, high = np.quantile(values, [0.025, 0.5, 0.975])
        number, ours = row.mean_error_percent, values.mean()
        rows.append(
            {"table": "I", "dataset": row.dataset, "published": number, "ours": ours, "low": low, "median": median,
             "high": high, "percentile": place(values, number), "repeats": len(values),
             "verdict": verdict(number, values, ours, low, high)}
        )  # fmt: skip
    return pd.DataFrame(rows)


def beside(compared):
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


def setting(kernel, parameter):
    """A kernel and its parameter in short: "linear", "p = 2", "sigma = 0.3"."""
    return f"{SYMBOLS[kernel]} = {parameter:g}" if SYMBOLS[kernel] else "linear"


def duels(repeats, first, second):
    """How often, over the repeats, one kernel's mean test error is below, equal to and above another's, and by how much.

    A row for each set: dataset, first and second (mean test errors), below, equal (shares of the repeats), repeats.
    """
    rates = repeats.pivot(index=["dataset", "repeat"], columns="kernel", values="test_mean")
    rows = []
    for dataset, part in rates.groupby("dataset", sort=False):
        a, b = part[first], part[second]
        means = {"first": a.mean(), "second": b.mean()}
        rows.append({"dataset": dataset} | means | {"below": (a < b).mean(), "equal": (a == b).mean(), "repeats": len(part)})
    return pd.DataFrame(rows)


def against_rivals(tables):
    """The best kernel perceptron beside the best other method, repeat by repeat (the same folds).

    A row for each set: ours (mean test error of the better published kernel setting), nested (with parameters chosen by
    inner folds), others, and below: the share of repeats in which the published setting is better than all others.
    """
    others = best_rivals(tables["rivals"]).set_index(["dataset", "repeat"])["test_mean"]
    ours = repeats_of(tables).query("kernel != 'linear'").groupby(["dataset", "kernel", "repeat"])["test_mean"].mean()
    honest = optimism(tables).groupby(["dataset", "kernel"])["nested"].mean()
    rows = []
    for dataset in others.index.unique("dataset"):
        best = ours[dataset].groupby("kernel").mean().idxmin()
        rival, mine = others[dataset], ours[dataset, best].reindex(others[dataset].index)
        row = {"dataset": dataset, "kernel": KERNELS[best], "ours": mine.mean(), "nested": honest[dataset].min()}
        rows.append(row | {"others": rival.mean(), "below": (mine < rival).mean(), "repeats": len(rival)})
    return pd.DataFrame(rows)


CLAIMS = ["source", "item", "quantity", "published", "ours", "low", "high", "n", "verdict", "percentile", "producer"]


def claims(tables=None):
    """Every number of Tables I to III beside ours; rates in percent. Columns CLAIMS; n is the number of repeats or, of
    Table I's counts, of examples."""
    tables = results(list(PUBLISHED.values())) if tables is None else tables
    frames = [
        _claimed_counts(tables["kernel"]["dataset"].unique()),
        _claimed(table_1_errors(tables["rivals"]), "smallest error of other methods, mean over folds (%)"),
    ]
    frames.append(_claimed(chosen_parameters(tables), None))
    frames.append(_claimed(compare(repeats_of(tables)), None))
    table = pd.concat(frames, ignore_index=True).assign(source="Xu & Zhang 2005")
    return table[CLAIMS].round({"ours": 4, "low": 4, "high": 4, "percentile": 4})


def _claimed_counts(names):
    rows = []
    for row in table_1(names).to_dict("records"):
        for key in ("dimension", "classes", "size"):
            number, ours = row[f"{key}_published"], row[key]
            found = {"published": number, "ours": ours, "low": ours, "high": ours, "n": row["size"], "percentile": np.nan}
            found["verdict"] = "exact" if number == ours else "outside"
            rows.append(
                {"item": "Table I", "quantity": f"{row['dataset']}: {key}", "producer": _producer(row["dataset"])} | found
            )
    return pd.DataFrame(rows)


def _claimed(compared, words):
    rows = []
    for row in compared.to_dict("records"):
        quantity = words
        if "quantity" in row:
            name = {"poly": "degree p", "rbf": "width sigma"}.get(row["kernel"]) if row["quantity"] == "parameter" else None
            quantity = f"{KERNELS[row['kernel']]} perceptron, {name or 'iterations'} chosen by the smallest test error"
        elif words is None:
            statistic = {"mean": "mean", "sd": "standard deviation"}[row["statistic"]]
            method = f"{KERNELS[row['kernel']]} perceptron, {setting(row['kernel'], row['parameter'])}".removesuffix(
                ", linear"
            )
            quantity = f"{method}, {row['iterations']} iterations, {SPLITS[row['split']]} error, {statistic} over folds (%)"
        found = {key: row[key] for key in ("published", "ours", "low", "high", "verdict", "percentile")}
        heads = {"item": f"Table {row['table']}", "quantity": f"{row['dataset']}: {quantity}", "n": row["repeats"]}
        rows.append(heads | found | {"producer": _producer(row["dataset"])})
    return pd.DataFrame(rows)


def _producer(dataset):
    return f"uci_{dataset}.ipynb"


# What the notebooks show.


def numbers(text, published):
    """The numbers of a text such as "1 2 4", or the published grid for "published"."""
    if text == "published":
        return published
    try:
        return tuple(int(word) if word.isdecimal() else float(word) for word in str(text).split())
    except ValueError:
        raise ValueError(f'expected numbers separated by blanks, or "published", got {text!r}') from None


def agreement(compared, by="table"):
    """How many published numbers have which verdict: a row for each table (or other column), and in all."""
    verdicts = pd.Categorical(compared["verdict"], ["exact", "within", "outside"])
    return pd.crosstab(compared[by], verdicts, dropna=False).rename_axis(columns=None).reset_index()


def shown(compared):
    """The published numbers beside ours, with words in place of keys, for a notebook's table."""
    words = [f"{KERNELS[row.kernel]}, {SPLITS[row.split]}, {row.statistic}" for row in compared.itertuples()]
    columns = {"published": "published", "ours": "ours", "low": "2.5 %", "median": "50 %", "high": "97.5 %"}
    table = compared[[*columns, "percentile", "verdict"]].rename(columns=columns)
    return table.assign(number=words)[["number", *columns.values(), "percentile", "verdict"]]


def reading_effect(tables, reading):
    """By how much a reading moves the mean errors: columns kernel, split, base, reading, difference (fractions).

    Both are means over the repeats that the reading has.
    """
    other, base = tables["readings"].query("reading == @reading"), repeats_of(tables)
    keys = ["dataset", "kernel", "repeat"]
    both = other.merge(base, on=keys, suffixes=("", "_base"))
    rows = []
    for (dataset, kernel), part in both.groupby(["dataset", "kernel"], sort=False):
        for split in SPLITS:
            pair = {"base": part[f"{split}_mean_base"].mean(), "reading": part[f"{split}_mean"].mean()}
            difference = {"difference": pair["reading"] - pair["base"]}
            rows.append({"dataset": dataset, "kernel": kernel, "split": split} | pair | difference)
    return pd.DataFrame(rows)


def predictor_table(table):
    """Mean errors of the four predictors, of mistakes and of support: a row for each kernel and predictor."""
    rates = table.assign(train=table["train_errors"] / table["n_train"], test=table["test_errors"] / table["n_test"])
    keys = ["dataset", "kernel", "parameter", "predictor"]
    means = rates.groupby(keys, sort=False)[["train", "test", "mistakes", "support"]].mean().reset_index()
    return means.assign(kernel=[setting(row.kernel, row.parameter) for row in means.itertuples()]).drop(columns="parameter")


def test_sizes(dataset, n_folds=N_FOLDS):
    """The numbers of test examples of stratified folds."""
    X, y = cv.load(dataset)
    return [len(test) for _, test in cv.splits(X, y, Method(kernel="linear", max_iter=1), n_folds, 0)]


def listed(words, empty="none"):
    """Words as a list in a sentence: "a, b and c"."""
    words = list(words)
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words) or empty


def explanation(compared):
    """What `by_reading` says, in two sentences: which reading explains the numbers outside, and which one most numbers."""
    found, totals = explained(compared), readings_table(compared).set_index("reading")
    inside_all, n = totals["in all"], totals["of"].iloc[0]
    others = inside_all.drop(index=BASE)
    best = others.index[others == others.max()]
    overall = (
        f"Of the other readings {listed(f'“{name}”' for name in best)} come{'s' * (len(best) == 1)} out best, with "
        f"{others.max()} of {n} numbers inside; the base reading has {inside_all[BASE]}."
    )
    if found.empty:
        return f"No published number lies outside the base reading. {overall}"
    without = int((found["inside under"] == "").sum())
    names = found["inside under"].str.split("; ").explode()
    counts = names[names != ""].value_counts()
    text = f"Numbers outside the base reading: {len(found)}. Inside under some other reading: {len(found) - without}"
    if len(counts):
        most = counts.index[counts == counts.max()]
        words = listed(f"“{name}” (which in all has {inside_all[name]} of {n} inside)" for name in most)
        text += f", of which {counts.max()} under {words}"
    return f"{text}; under none: {without}. {overall}"


def caution(n_repeats, least=40):
    """What to think of verdicts from so few repeats, as a sentence."""
    if n_repeats >= least:
        return f"The ends of the central 95 % are quantiles of {n_repeats} repeats."
    return (
        f"With {n_repeats} repeats the “central 95 %” is little more than the range between them, and verdicts mean little: "
        f"this is a small version of the experiment, to be read for its form. The study's verdicts come from {N_REPEATS}."
    )


def separated(tables):
    """Share of the folds whose training part was separated, and median epochs run: a row for each set and setting."""
    folds = pd.concat([tables["linear"], tables["kernel"]], ignore_index=True)
    groups = folds.groupby(["dataset", "kernel", "parameter"], sort=False)
    table = groups.agg(
        converged=("converged", "mean"), epochs=("epochs", "median"), folds=("converged", "size")
    ).reset_index()
    words = [setting(row.kernel, row.parameter) for row in table.itertuples()]
    return table.assign(kernel=words, name=table["kernel"]).drop(columns="parameter")


def best_against_linear(repeats):
    """`duels` of the better kernel (by its mean over the repeats) of each set with the linear perceptron."""
    frames = []
    for _, part in repeats.groupby("dataset", sort=False):
        means = part.groupby("kernel")["test_mean"].mean()
        best = means.drop("linear").idxmin()
        frames.append(duels(part, best, "linear").assign(kernel=KERNELS[best]))
    return pd.concat(frames, ignore_index=True)


def conclusion(tables):
    """What of the source's statements our repeats bear out, as text: one holds on a set if it does in 95 % of them."""
    repeats, level = repeats_of(tables), 0.95
    rbf, line = duels(repeats, "rbf", "poly"), best_against_linear(repeats)
    rival, lead = against_rivals(tables), optimism(tables).groupby(["dataset", "kernel"])["optimism"].mean()
    apart = separated(tables).query("name == 'linear' and dataset.str.startswith('wine')")

    def sets(rows, column="below"):
        return listed(map(original, rows["dataset"][rows[column] >= level]), "no set")

    worse = rbf.assign(above=1 - rbf["below"] - rbf["equal"])
    statements = [
        f"The RBF kernel beats the polynomial one in at least {level:.0%} of the repeats on {sets(rbf)}, and loses to it on "
        f"{sets(worse, 'above')}.",
        f"A kernel perceptron beats the linear one in as many on {sets(line)}.",
        *(f"Of the training parts of wine {row.converged:.1%} are linearly separable." for row in apart.itertuples()),
        f"The better kernel perceptron, with its published parameters, beats the best of five other methods in as many on "
        f"{sets(rival)}.",
        f"Choosing on the test folds flatters the test error by {lead.min():.2%} to {lead.max():.2%}.",
    ]
    return "**The statements.** " + " ".join(statements)


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
