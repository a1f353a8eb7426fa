"""The plan of the study: its chapters in order, their numbers, titles, parameters, experiments, figures and tables, and the
reports that are made of them.

A chapter is one executed notebook. Several chapters may come from one source notebook with different parameters, its
variants: MNIST at each degree, the published tables for each data set. What is not said here is the notebook's default.

Profiles: quick takes bundled data and small sizes, and writes below build/quick; full is the published scale, in
notebooks/executed and figures, which are committed. A profile changes data and sizes only.

Figures and tables are known by name, each name once in a chapter; their numbers follow from the order here.
"""

import importlib
import inspect
import os
from dataclasses import dataclass, field

from study import BUILD, ROOT

PROFILES = ("quick", "full")


@dataclass(frozen=True, kw_only=True)
class Chapter:
    """One chapter; see the module.

    source : stem of the notebook in notebooks/; variant : which of several chapters of that notebook, or "";
    kind : "body", "appendix", "front" (before the contents of a report, without a number), or "supplement" (one of many runs
    of a notebook: the report has their summary and refers to them);
    title : the chapter's title, for variants (else the notebook's own); full, quick : parameters of the profiles, quick None
    if that profile leaves the chapter out; experiments : names of study folders whose published results the chapter reads;
    figures, tables : the names of what it shows, in order.
    """

    source: str
    variant: str = ""
    kind: str = "body"
    title: str = ""
    full: dict = field(default_factory=dict)
    quick: dict | None = field(default_factory=dict)
    experiments: tuple[str, ...] = ()
    figures: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()

    @property
    def name(self):
        return f"{self.source}_{self.variant}" if self.variant else self.source

    @property
    def notebook(self):
        """The source notebook."""
        return ROOT / "notebooks" / f"{self.source}.ipynb"

    @property
    def number(self):
        """The chapter's number in the report: "1", "2", ... of the body, "A" of appendices, "S1" of supplements, or ""."""
        place = [chapter.name for chapter in CHAPTERS if chapter.kind == self.kind].index(self.name)
        count = place + 1
        return {"body": f"{count}", "appendix": chr(ord("A") + place), "supplement": f"S{count}", "front": ""}[self.kind]

    def parameters(self, profile):
        """The parameters of a profile, with the folder in which figures are saved."""
        folder = FIGURES[profile].relative_to(ROOT).as_posix()
        return {**getattr(self, profile), "figures_folder": folder}

    def target(self, profile):
        """The executed notebook."""
        return EXECUTED[profile] / f"{self.name}.ipynb"

    def pictures(self, profile):
        """The files of its figures."""
        stems = [FIGURES[profile] / f"{self.name}-{figure}" for figure in self.figures]
        return [stem.with_name(f"{stem.name}.{kind}") for stem in stems for kind in ("png", "svg")]

    def label(self, name):
        """The label of a figure or table by its name: "Figure 4.2". Raises ValueError for a name that is not in the plan."""
        for kind, names in (("Figure", self.figures), ("Table", self.tables)):
            if name in names:
                return f"{kind} {self.number}{'.' * bool(self.number)}{names.index(name) + 1}"
        raise ValueError(
            f"chapter {self.name} shows the figures {', '.join(self.figures)} and the tables {', '.join(self.tables)}, got "
            f"{name!r}; add it to study/chapters.py"
        )


EXECUTED = {"quick": BUILD / "quick" / "notebooks", "full": ROOT / "notebooks" / "executed"}
FIGURES = {"quick": BUILD / "quick" / "figures", "full": ROOT / "figures"}
IMAGES = {"quick": {"dataset": "digits"}, "full": {"dataset": "mnist"}}

REPORTS = {
    "all": "Kernel perceptrons: a reproducible study",
    "hermans": "Kernel perceptrons on handwritten digits: Hermans (2021) reproduced",
    "xu-zhang": "A multiclass kernel perceptron: Xu and Zhang (2005) reproduced",
    "akar-ye": "Kernel least squares on the seeds data: Akar and Ye (2017) reproduced",
    "course-page": "The delta rule and output codes: a course page reproduced",
    "family": "The family of the kernel perceptron: an encyclopedia article measured",
}
"""Title of each report: that of the study, and one for each of its sources."""

PARTS = {
    "hermans": ("algorithm", "data", "mnist_summary", "orders", "rejection"),
    "xu-zhang": ("multiclass", "uci_summary", "comparison", "forms"),
    "akar-ye": ("seeds",),
    "course-page": ("course",),
    "family": ("algorithm", "family"),
}
"""The chapters of the report of a source; "all" has all but the supplements."""

LISTINGS = {
    "hermans": ("algorithm_1", "g", "average", "minimizing", "one_vs_all", "class_scores", "voted_perceptron", "vote"),
    "xu-zhang": ("demoted", "multiclass_linear", "xu_zhang_binary", "xu_zhang"),
    "akar-ye": ("akar_ye", "local_scales", "self_tuning_kernel", "kp.least_squares"),
    "course-page": ("delta_rule", "course_kernel_perceptron", "wrong", "kp.delta_rule"),
    "family": ("perceptron", "kernel_perceptron", "value", "budget_perceptron", "forgetron", "psi", "norma"),
}
"""The code in the appendix of the report of a source: functions of study.literal, and modules."""

FRONT = [
    Chapter(
        source="front",
        variant=report,
        kind="front",
        title=title,
        full={"report": report},
        quick=None,
        experiments=("mnist", "orders", "claims"),
        figures=("answer",) if report in ("all", "hermans") else (),
    )
    for report, title in REPORTS.items()
]

INTRODUCTION = Chapter(source="introduction", quick=None, experiments=("claims",), tables=("outcomes",))

CONCLUSION = Chapter(source="conclusion", quick=None, experiments=("claims",))

SETUP = Chapter(source="setup", kind="appendix", quick=None, tables=("data_sets", "software", "computing", "symbols"))

LEDGER = Chapter(source="ledger", kind="appendix", quick=None, experiments=("claims",), tables=("searched", "other_data"))

DATA = Chapter(
    source="data",
    **IMAGES,
    experiments=("data",),
    figures=("grid", "counts", "ink", "pairs", "norms"),
    tables=("facts", "images", "nearest"),
)  # fmt: skip

ALGORITHM = Chapter(
    source="algorithm",
    experiments=("algorithm",),
    figures=("surfaces", "log_picture", "predictors", "orders", "bounds"),
    tables=("by_hand", "log", "kesler", "forms", "errors_by_order", "mistakes"),
)

MNIST_DEGREES = [
    Chapter(
        source="mnist_degree",
        variant=str(degree),
        kind="supplement",
        title=f"MNIST at degree {degree}",
        quick={**IMAGES["quick"], "degree": degree},
        full={**IMAGES["full"], "degree": degree},
        experiments=("mnist", "claims"),
        figures=("one_digit", "along_the_log", "multiclass", "hardest"),
        tables=("binary_test_errors", "train_errors", "test_errors", "mistake_counts"),
    )
    for degree in range(1, 7)
]

MNIST_SUMMARY = Chapter(
    source="mnist_summary",
    **IMAGES,
    experiments=("mnist", "data", "claims"),
    figures=(
        "binary_train", "binary_test", "multiclass_train", "multiclass_test", "differences", "digits", "misclassified",
    ),
    tables=(
        "over_degrees", "replicated", "ranking", "without_preprocessing", "verdicts", "statements", "by_degree",
        "told_apart", "optimism", "halves", "digit_pairs", "literature",
    ),
)  # fmt: skip

ORDERS = Chapter(
    source="orders",
    quick=IMAGES["quick"],
    full={**IMAGES["full"], "n_orders": 20, "n_linear": 5, "n_held": 10_000},
    experiments=("orders", "mnist"),
    figures=("by_epoch", "answer", "selection", "noise", "among_predictors"),
    tables=(
        "spread", "gaps", "ensembles", "selection_table", "honest", "components", "published_place", "told", "degrees",
        "needed", "folds", "noise_table",
    ),
)  # fmt: skip

REJECTION = Chapter(
    source="rejection",
    **IMAGES,
    experiments=("rejection",),
    figures=("reliability", "risk_coverage", "refused", "inputs", "refusals"),
    tables=("errors", "votes", "calibration", "margin_targets", "areas", "targets", "sets", "read_as"),
)

REFERENCES = Chapter(
    source="references",
    quick=IMAGES["quick"],
    full={**IMAGES["full"], "n_held": 10_000, "n_orders": 20},
    experiments=("references", "orders"),
    figures=("error_against_time",),
    tables=("errors", "costs", "choices"),
)

GROWTH = Chapter(
    source="growth",
    quick={**IMAGES["quick"], "n_orders": 2},
    full={**IMAGES["full"], "n_orders": 5},
    experiments=("growth",),
    figures=("prepared_images", "preparations", "curves", "costs"),
    tables=("errors", "virtual", "effects", "halves", "laws"),
)

MULTICLASS = Chapter(
    source="multiclass",
    experiments=("multiclass",),
    figures=("planes", "mistakes", "regions"),
    tables=(
        "separability", "draws", "literal", "binary", "operations", "mistakes_numbers", "ratios", "cycles",
        "five_draws", "spiral_draws", "epochs", "predictor_gaps", "by_width",
    ),
)  # fmt: skip

UCI_SCALES = {
    "quick": {"n_repeats": 2, "degrees": [1, 2], "widths": [0.6, 0.3], "inner_folds": 2},
    "full": {
        "n_repeats": 100, "degrees": [1, 2, 4, 6, 9, 12, 16, 20], "widths": [0.9, 0.6, 0.4, 0.3, 0.2, 0.1], "inner_folds": 5,
    },
}  # fmt: skip
"""The same for the chapters on single sets and for their summary, which reads what they computed."""
UCI_SETS = {"iris": "iris-bundled", "sonar": None, "vowel": None, "wine": "wine-bundled"}
"""The data sets of the published tables, and the bundled ones that stand for them in the quick profile."""

UCI = [
    Chapter(
        source="uci",
        variant=name,
        kind="supplement",
        title=f"{name.capitalize()}: published tables",
        quick={"dataset": bundled, **UCI_SCALES["quick"]} if bundled else None,
        full={"dataset": name, **UCI_SCALES["full"]},
        experiments=("uci",),
        figures=("distributions", "readings_of_set", "curves", "parameters", "predictors"),
        tables=(
            "set", "published_and_ours", "rates", "readings", "numbers_and_readings", "arithmetic", "optimism_table",
            "chosen", "predictor_means", "rival",
        ),
    )
    for name, bundled in UCI_SETS.items()
]  # fmt: skip

CLASS = Chapter(
    source="class",
    kind="supplement",
    quick=IMAGES["quick"],
    full={**IMAGES["full"], "n_train": 10_000},
    figures=("runs",),
    tables=("spread", "differences"),
)

TOUR = Chapter(
    source="tour",
    kind="supplement",
    figures=("by_epoch",),
    tables=("attributes", "searches", "stream", "doubt", "estimators"),
)

UCI_SUMMARY = Chapter(
    source="uci_summary",
    quick={"datasets": " ".join(filter(None, UCI_SETS.values())), **UCI_SCALES["quick"]},
    full={"datasets": " ".join(UCI_SETS), **UCI_SCALES["full"]},
    experiments=("uci",),
    figures=("readings", "strips", "parameters", "curves", "optimism", "differences", "units", "baselines"),
    tables=(
        "explained", "statements", "judged", "programs", "published_and_ours", "arithmetic", "optimism_table", "rival",
        "predictors",
    ),
)  # fmt: skip

COMPARISON = Chapter(
    source="comparison",
    full={"datasets": "optdigits pendigits letter satimage vowel seeds winequality-red winequality-white iris sonar wine"},
    experiments=("comparison",),
    figures=("errors", "differences", "narrow", "predictors", "best_widths", "squared_kernel", "widths"),
    tables=(
        "best_on", "sets", "grids", "perceptrons_off", "perceptrons_on", "references", "forms_over_sets",
        "thresholds_over_sets", "against_svm", "support", "seconds", "against_final", "choices", "best_width_table", "edges",
    ),
)  # fmt: skip

FORMS = Chapter(
    source="forms",
    **IMAGES,
    experiments=("forms", "mnist"),
    figures=("growth", "tuning", "equal", "spectra", "cost", "choice"),
    tables=("equal_largest", "kernels", "largest", "widths", "pairs", "seconds"),
)  # fmt: skip

SEEDS = Chapter(
    source="seeds",
    full={
        "dataset": "seeds", "hard_datasets": "winequality-red winequality-white", "n_splits": 1000, "n_hard_splits": 10,
    },
    experiments=("seeds",),
    figures=(
        "spectrum", "accuracies", "surface", "differences", "persistent_errors", "hard_errors", "projection", "hard_sets",
    ),
    tables=(
        "identity", "feature_maps", "table_3", "misprint", "conventions", "pairs", "peaks", "optima", "separation",
        "clusterings", "neighbours", "copies",
    ),
)  # fmt: skip

COURSE = Chapter(
    source="course",
    quick=IMAGES["quick"],
    full={**IMAGES["full"], "n_seeds": 1000, "n_code_seeds": 200, "n_splits": 100},
    experiments=("course",),
    figures=("moving_lines", "planes", "modifications", "codes", "widths", "confusions"),
    tables=(
        "code_matrices", "decoding", "run", "steps", "spreads", "listing", "distances", "codes_compared", "errors_by_width",
        "parity", "numbers",
    ),
)  # fmt: skip

FAMILY = Chapter(
    source="family",
    full={
        "dataset": "mnist", "n_train": 60000, "budgets": "50 100 250 500 1000 2000", "class_budgets": "50 100 250",
        "n_orders": 3,
    },
    experiments=("family",),
    figures=("growth", "budget", "spent", "remedies", "bounds", "noise", "machines"),
    tables=(
        "rules", "exponents", "memory", "memory_tests", "account", "guarantee", "chosen", "overfitting", "ways",
        "bounds_by_degree", "compared",
    ),
)  # fmt: skip

CHAPTERS = [
    *FRONT, INTRODUCTION, ALGORITHM, DATA, MNIST_SUMMARY, ORDERS, REJECTION, REFERENCES, GROWTH, MULTICLASS, UCI_SUMMARY,
    COMPARISON, FORMS, SEEDS, COURSE, FAMILY, CONCLUSION, SETUP, LEDGER, *MNIST_DEGREES, *UCI, CLASS, TOUR,
]  # fmt: skip

VARIANTS = {"front": "report", "mnist_degree": "degree", "uci": "dataset"}
"""The parameter of a source notebook that tells its variants apart."""

EXPERIMENTS = (
    "mnist",
    "orders",
    "rejection",
    "references",
    "growth",
    "data",
    "algorithm",
    "multiclass",
    "uci",
    "comparison",
    "forms",
    "seeds",
    "course",
    "family",
    "claims",
)
"""What is computed, in this order: folders of study with an experiment.py, and the ledger of claims, which reads all."""


def chapters(profile):
    """The chapters of a profile, in order."""
    if profile not in PROFILES:
        raise ValueError(f"profile must be one of {', '.join(PROFILES)}, got {profile!r}")
    return [chapter for chapter in CHAPTERS if getattr(chapter, profile) is not None]


def manifest(profile):
    """The table of all figures of a profile, beside them."""
    return FIGURES[profile] / "manifest.csv"


def files(profile):
    """The files that the notebooks of a profile leave: their executed copies, their figures and the table of these."""
    plan = chapters(profile)
    pictures = [path for each in plan for path in each.pictures(profile)]
    return [*(each.target(profile) for each in plan), manifest(profile), *pictures]


def chapter(name, profile="full"):
    """The chapter of this name; ValueError if the profile has none."""
    known = {each.name: each for each in chapters(profile)}
    if name not in known:
        raise ValueError(f"notebook must be one of {', '.join(known)} in profile {profile}, got {name!r}")
    return known[name]


def of_notebook(source, parameters):
    """The chapter that a source notebook with these parameters makes, or None for a variant that is not in the plan."""
    value = str(parameters[VARIANTS[source]]).removesuffix("-bundled") if source in VARIANTS else ""
    return next((each for each in CHAPTERS if (each.source, each.variant) == (source, value)), None)


def reference(name, item):
    """The label of a figure or table of any chapter: reference("seeds", "table_3") is "Table 19.3"."""
    return chapter(name).label(item)


def experiments(name, *, unpublished=False):
    """The experiments of one of EXPERIMENTS that publish something, or all, in the order in which they are declared."""
    from study.experiment import Experiment

    if name not in EXPERIMENTS:
        raise ValueError(f"experiment must be one of {', '.join(EXPERIMENTS)}, got {name!r}")
    module = importlib.import_module("study.ledger" if name == "claims" else f"study.{name}.experiment")
    found = [each for each in vars(module).values() if isinstance(each, Experiment) and each.chapter == name]
    return [each for each in found if unpublished or each.published]


def report(profile, name="all"):
    """The chapters of one of REPORTS in a profile: what stands before the contents, the chapters, the appendices."""
    if name not in REPORTS:
        raise ValueError(f"report must be one of {', '.join(REPORTS)}, got {name!r}")
    found = [each for each in chapters(profile) if each.kind != "supplement"]
    front = [each for each in found if each.kind == "front" and each.variant == name]
    own = [each for each in found if each.kind != "front" and (name == "all" or each.name in PARTS[name])]
    return [*front, *own]


def listing(name):
    """The code of LISTINGS as texts, each (title, source)."""
    literal, found = importlib.import_module("study.literal"), []
    for each in LISTINGS.get(name, ()):
        whole = importlib.import_module(each) if "." in each else None
        found.append((each, inspect.getsource(whole or getattr(literal, each)).rstrip()))
    return found


def title_page(profile, name="all"):
    """Title, author, course, date and declaration of a report: environment variables KP_TITLE etc., or the defaults."""
    scale = {"quick": " (quick profile: bundled data)", "full": ""}[profile]
    return {
        "title": os.environ.get("KP_TITLE") or REPORTS[name] + scale,
        "author": os.environ.get("KP_AUTHOR") or "The kp authors",
        "course": os.environ.get("KP_COURSE") or "",
        "date": os.environ.get("KP_DATE") or "",
        "declaration": os.environ.get("KP_DECLARATION") or "",
    }
