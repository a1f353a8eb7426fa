"""The experiments on the published tables: which cross-validations are run on each dataset, at which scale.

Source: Xu & Zhang 2005, section IV.B. The ten folds of 2005 are not known, so the ten-fold cross-validation is repeated with
other folds, and any other dataset can go through it. Each dataset has one settings object, and every experiment takes it:
the three published rows (linear, kernel; rows, of a set that is not published),
the same under other readings of the source (readings), the learning curves, the grid of kernel parameters, the choice by
inner folds (chosen), the four predictors, with thresholds and without (thresholds), other methods (baselines), one of them
fold by fold (rival), and new speakers. The cross-validations themselves are in study.tables.protocol,
study.tables.readings and study.tables.rivals.

Error rates are fractions.
"""

from contextlib import nullcontext
from dataclasses import asdict, dataclass, replace

import pandas as pd
from joblib import cpu_count, parallel_config

from kp.joint import DEMOTE
from study import datasets
from study.protocols.settings import BaseSettings
from study.results.experiment import experiment
from study.tables import protocol as cv
from study.tables import readings as rd
from study.tables import rivals
from study.tables.protocol import Method, summary
from study.tables.readings import Reading
from study.tables.source import KERNELS, SETS, original, published_rates

DEMOTED = tuple(Reading(demote=demote, order=order) for demote in DEMOTE for order in ("fresh", "fixed"))
"""Who is demoted, with a fresh shuffle in each epoch or one for all; iterations are epochs."""
SHORT = tuple(replace(each, unit=unit) for unit in ("presentations", "updates") for each in DEMOTED)
"""The same with the other units of an iteration."""
OTHERS = (Reading(order="given"), Reading(scaling="all"), Reading(folds="consecutive"), Reading(threshold=False))
"""Changes of the other open questions, one at a time."""
SCALED = (*DEMOTED, *SHORT, *OTHERS)
UNSCALED = tuple(
    replace(each, scaling="outside") for each in SCALED if (each.scaling, each.folds) == ("train", "stratified")
)
"""The same with sonar, whose attributes lie in [0, 1], as it is."""
READINGS = {"II": (*SCALED, *UNSCALED), "III": (*SCALED, *UNSCALED[: len(DEMOTED)])}
"""The readings of each table, declared before they were run."""
SHORTER = {("vowel", "linear"): 1000}
"""Epochs after which readings in epochs end, where the published limit of 5,000 costs most: the errors have no trend left.
All demoted in fresh shuffles is run to the published limit as well, and the base reading to both, to show it."""

LIMITS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 3000, 5000)
ITERATIONS = (500, 1000, 2000, 3000, 5000)
"""The limits of iterations that the source uses, among which it chose."""
DEGREES = (1, 2, 4, 6, 9, 12, 16, 20)
WIDTHS = (0.9, 0.6, 0.4, 0.3, 0.2, 0.1)
"""The smoothest first: of settings with equal errors it is preferred."""
CAPPED = {("vowel", "poly"): 500}
"""Limits of iterations in the grid: polynomials of low degree do not separate vowel; the published limit there is 500."""

N_FOLDS = 10
N_REPEATS = 100
INNER_FOLDS = 5
FRACTIONS = {
    "grid": (0.1, 0.05),
    "chosen": (0.05, 0.02),
    "curves": (0.1, 0.03),
    "predictors": (0.1, 0.05),
    "baselines": (0.2, 0.05),
}
"""Fraction of the repeats of Tables II and III that each secondary experiment runs: (on iris, sonar and wine, on vowel)."""
MANY_REPEATS = 20
"""From so many repeats on, jobs run in processes: shuffling holds threads up, but processes take seconds to start."""

KEYS = ["dataset", "kernel", "parameter", "iterations", "repeat"]
RATES = ["train_mean", "train_sd", "test_mean", "test_sd"]


LARGEST = 10_000
"""The most examples of a set: the kernel matrix of a training part is held and squared, and more than one at a time."""
SMOOTHEST = {"linear": 0.0, "poly": 2.0, "rbf": 0.6}
"""Degree and width of the rows of a set that is not in the source: the smoothest in print, with the fewest ITERATIONS."""


@dataclass(frozen=True, kw_only=True)
class Settings(BaseSettings):
    """Settings of the runs on one dataset, any that is registered.

    Of its three `rows` that of `kernel` gets another parameter (degree or width) or max_iter where they are not "published".
    n_repeats cross-validations of n_folds each are made, from random_state on, and fewer in secondary experiments
    (`count`). degrees and widths are the grid from which inner_folds choose.
    Raises ValueError for a set that is unknown or too large, and for numbers that make no cross-validation.
    """

    dataset: str
    kernel: str = "rbf"
    parameter: float | str = "published"
    max_iter: int | str = "published"
    n_folds: int = N_FOLDS
    n_repeats: int = N_REPEATS
    random_state: int = 0
    degrees: tuple[int, ...] = DEGREES
    widths: tuple[float, ...] = WIDTHS
    inner_folds: int = INNER_FOLDS

    KNOWN = {"kernel": tuple(KERNELS)}
    BOUNDS = {"inner_folds": (2, None), "max_iter": None}

    def __post_init__(self):
        super().__post_init__()
        data = datasets.registered(self.dataset)
        if (n := sum(data.counts) + data.n_test) > LARGEST:
            raise ValueError(
                f"dataset {self.dataset}: it has {n:,} examples, and at most {LARGEST:,} can be cross-validated"
            )
        _ = self.rows  # which says what is wrong with parameter and max_iter

    @property
    def rows(self):
        """The three methods, one for each kernel: those of Tables II and III, or `methods` of a set that is not there."""
        rows = methods(self.dataset)
        given = {name: getattr(self, name) for name in ("parameter", "max_iter")}
        changes = {name: value for name, value in given.items() if value != "published"}
        rows[self.kernel] = replace(rows[self.kernel], **changes)
        return tuple(rows.values())

    def count(self, name, kernel=""):
        """The number of repeats of an experiment, at least 1; vowel costs most, and there the linear perceptron."""
        fraction, vowel = FRACTIONS.get(name, (1, 1))
        if original(self.dataset) == "vowel":
            fraction = min(vowel, 0.03) if kernel == "linear" and name in FRACTIONS else vowel
        return max(1, round(self.n_repeats * fraction))

    def repeats(self, name, kernel=""):
        """The repeats of an experiment, which are also the seeds of their folds and visiting orders."""
        return range(self.random_state, self.random_state + self.count(name, kernel))

    def jobs(self, name, rows):
        """(dataset, Method, repeat) of each row and repeat of an experiment."""
        return [(self.dataset, row, r) for row in rows for r in self.repeats(name, row.kernel)]

    def grid(self, kernel):
        """The methods from which inner folds choose, in the order of preference."""
        max_iter = CAPPED.get((original(self.dataset), kernel), max(ITERATIONS))
        values = self.degrees if kernel == "poly" else self.widths
        row = next((row for row in self.rows if row.kernel == kernel), self.rows[0])
        return [replace(row, kernel=kernel, parameter=value, max_iter=max_iter) for value in values]


def methods(dataset, **changes):
    """{kernel: Method}: the three published rows of a set, in the base protocol unless `changes` say otherwise.

    Of a set that is not in the source they have the SMOOTHEST parameters.
    """
    rows = published_rates().query("dataset == @name", local_dict={"name": original(dataset)}).drop_duplicates("kernel")
    known = {row.kernel: (row.parameter, row.iterations) for row in rows.itertuples()}
    known = known or {kernel: (value, min(ITERATIONS)) for kernel, value in SMOOTHEST.items()}
    return {
        kernel: Method(kernel=kernel, parameter=parameter, max_iter=max_iter, **changes)
        for kernel, (parameter, max_iter) in known.items()
    }


PUBLISHED = [Settings(dataset=name) for name in SETS]


def family(run):
    """The settings whose comparisons with other methods are corrected together: all published ones, if run is among them."""
    return PUBLISHED if run in PUBLISHED else [run]


def _plain(*names):
    """Return the inputs of an experiment as plain values: the rows, folds and repeats, and these fields besides."""
    common = ("dataset", "rows", "n_folds", "n_repeats", "random_state")

    def plain(settings):
        every = asdict(settings) | {"rows": [asdict(row) for row in settings.rows]}
        return {name: every[name] for name in (*common, *names)}

    return plain


DECLARED = {
    "published": PUBLISHED,
    "data": lambda settings: [settings.dataset],
    "sample": replace(PUBLISHED[SETS.index("wine")], n_repeats=2),
}


@experiment("tables", data=DECLARED["data"], parameters=_plain())
def rows(settings, *, progress=False):
    """The three perceptrons on any dataset, a row for each fold; errors and n are those of the test part."""
    table = _folds(settings, "rows", settings.rows, progress=progress)
    return table.rename(columns={"test_errors": "errors", "n_test": "n"})


@experiment("tables", **DECLARED, parameters=lambda settings: {"dataset": settings.dataset})
def sets(settings, *, progress=False):
    """Dimension, classes and size of a dataset, counted in the data: one row."""
    X, y = cv.load(settings.dataset)
    found = {"dataset": settings.dataset, "dimension": X.shape[1], "classes": int(y.max()) + 1, "size": len(X)}
    return pd.DataFrame([found])


@experiment("tables", **DECLARED, parameters=_plain())
def kernel(settings, *, progress=False):
    """The rows of Table III, a row for each fold; columns as in `protocol.cross_validate`."""
    return _folds(settings, "kernel", _kernel_rows(settings), progress=progress)


@experiment("tables", **DECLARED, parameters=_plain("degrees", "widths"))
def grid(settings, *, progress=False):
    """Mean and standard deviation of the errors of every degree, width and limit of iterations; columns KEYS and RATES."""
    rows = [row for kernel in ("poly", "rbf") for row in settings.grid(kernel)]
    return summary(_folds(settings, "grid", rows, limits=ITERATIONS, progress=progress), KEYS)


@experiment("tables", **DECLARED, parameters=_plain("degrees", "widths", "inner_folds"))
def chosen(settings, *, progress=False):
    """Degree or width and iterations chosen by inner folds, a row for each outer fold; columns as in `protocol.chosen`."""
    jobs = [
        (settings.dataset, settings.grid(kernel), ITERATIONS, repeat)
        for kernel in ("poly", "rbf")
        for repeat in settings.repeats("chosen")
    ]
    sizes = {"n_folds": settings.n_folds, "inner_folds": settings.inner_folds}
    with _workers(settings):
        return cv.chosen(jobs, **sizes, threads=cpu_count(), progress=progress)


@experiment("tables", **DECLARED, parameters=_plain())
def baselines(settings, *, progress=False):
    """Mean test errors of other methods, for Table I; columns dataset, method, repeat, test_mean."""
    jobs = [(settings.dataset, repeat) for repeat in settings.repeats("baselines")]
    sizes = {"n_folds": settings.n_folds, "threads": min(cpu_count(), len(jobs))}
    # In processes: scikit-learn's ensembles set filters of warnings that threads share, and then warn of each other.
    with parallel_config(backend="loky"):
        folds = rivals.cross_validate(jobs, **sizes, progress=progress)
    rates = folds.assign(test_mean=folds["test_errors"] / folds["n_test"])
    return rates.groupby(["dataset", "method", "repeat"], sort=False, as_index=False)["test_mean"].mean().round(12)


@experiment("tables", **DECLARED, parameters=_plain())
def predictors(settings, *, progress=False):
    """Errors of the four predictors in the rows of Table III; columns as in `protocol.predictors`."""
    jobs = settings.jobs("predictors", _kernel_rows(settings))
    with _workers(settings):
        return cv.predictors(jobs, n_folds=settings.n_folds, threads=cpu_count(), progress=progress)


@experiment("tables", **DECLARED, parameters=_plain())
def curves(settings, *, progress=False):
    """Mean and standard deviation of the errors at each of the LIMITS of iterations; columns KEYS and RATES."""
    rows = [replace(row, max_iter=max(LIMITS[-1], row.max_iter)) for row in settings.rows]
    limits = sorted({*LIMITS, *(row.max_iter for row in settings.rows)})
    return summary(_folds(settings, "curves", rows, limits=limits, progress=progress), KEYS)


@experiment("tables", **DECLARED, parameters=_plain())
def readings(settings, *, progress=False):
    """The rows of Tables II and III under the READINGS but the base one; columns as in `readings.cross_validate`."""
    jobs = []
    for row in settings.rows:
        counts = reading_counts(settings, row.kernel)
        shorter = SHORTER.get((original(settings.dataset), row.kernel), row.max_iter)
        whole = {
            each for each in counts if each.unit != "epochs" or each == Reading(demote="all") or shorter == row.max_iter
        }
        for repeat in range(max(counts.values())):
            asked = [each for each, count in counts.items() if repeat < count]
            seed = settings.random_state + repeat
            cut = [each for each in asked if each.unit == "epochs"]
            jobs.append((settings.dataset, row, [each for each in asked if each in whole], seed))
            if shorter < row.max_iter and cut:
                jobs.append((settings.dataset, replace(row, max_iter=shorter), [Reading(), *cut], seed))
    with _workers(settings):
        return rd.cross_validate(jobs, n_folds=settings.n_folds, threads=cpu_count(), progress=progress)


@experiment("tables", **DECLARED, parameters=_plain())
def rival(settings, *, progress=False):
    """Test errors of the RIVAL in the folds of the first repeats; columns as in `rivals.cross_validate`, without method."""
    jobs = [(settings.dataset, repeat) for repeat in settings.repeats("grid", "rbf")]
    sizes = {"n_folds": settings.n_folds, "threads": cpu_count()}
    return rivals.cross_validate(jobs, names=[rivals.RIVAL], progress=progress, **sizes).drop(columns="method")


@experiment("tables", **DECLARED, parameters=_plain())
def thresholds(settings, *, progress=False):
    """`predictors` where no threshold is learnt."""
    jobs = settings.jobs("predictors", [replace(row, threshold=False) for row in _kernel_rows(settings)])
    with _workers(settings):
        return cv.predictors(jobs, n_folds=settings.n_folds, threads=cpu_count(), progress=progress)


@experiment("tables", **DECLARED, parameters=_plain())
def speakers(settings, *, progress=False):
    """Errors on the second part of a set that comes in two, learnt from the first; columns as in `rivals.two_parts`."""
    return rivals.two_parts(settings.jobs("grid", settings.rows), threads=cpu_count(), progress=progress)


@experiment("tables", **DECLARED, parameters=_plain())
def linear(settings, *, progress=False):
    """The rows of Table II, a row for each fold; columns as in `protocol.cross_validate`."""
    return _folds(settings, "linear", [row for row in settings.rows if row.kernel == "linear"], progress=progress)


def reading_counts(settings, kernel):
    """{reading as it is for this set: its repeats} of all READINGS of a kernel but the base one.

    All repeats of the linear perceptron; half of them, which is still two, of those with kernels.
    """
    counts = {}
    half = max(min(2, settings.n_repeats), settings.n_repeats // 2)
    for reading in READINGS["II" if kernel == "linear" else "III"]:
        counts[reading.of(original(settings.dataset))] = settings.n_repeats if kernel == "linear" else half
    counts.pop(Reading(), None)
    return counts


def _kernel_rows(settings):
    return [row for row in settings.rows if row.kernel != "linear"]


def _folds(settings, name, rows, **options):
    with _workers(settings):
        return cv.cross_validate(settings.jobs(name, rows), n_folds=settings.n_folds, threads=cpu_count(), **options)


def _workers(settings):
    return parallel_config(backend="loky") if settings.n_repeats >= MANY_REPEATS else nullcontext()


def everything(settings, *, names=None):
    """{name: table} of all experiments on these settings (a list), as tables.py reads them; names: of these only."""
    wanted = {each.tables[0]: each for each in EXPERIMENTS}
    return {name: wanted[name](settings) for name in (wanted if names is None else names)}


EXPERIMENTS = (sets, kernel, grid, chosen, baselines, predictors, curves, linear, readings, rival, thresholds, speakers)
