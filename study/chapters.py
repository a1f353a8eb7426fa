"""The plan of the study: its chapters, their titles, parameters and experiments, and the reports that are made of them.

A chapter is one executed notebook. Several chapters may come from one source notebook with different parameters, its
variants: MNIST at each degree, the published tables for each data set. What is not said here is the notebook's default.

Profiles: quick takes bundled data and small sizes, and writes below build/quick; full is the published scale, in
notebooks/executed and figures, which are committed. A profile changes data and sizes only.

Chapters are numbered by their place in a report, figures and tables by their place in the notebook.
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
    title : the chapter's title, for variants (else the notebook's own); full, quick : parameters of the profiles, None for a
    profile that leaves the chapter out; experiments : names of study folders whose published results the chapter reads.
    """

    source: str
    variant: str = ""
    title: str = ""
    full: dict | None = field(default_factory=dict)
    quick: dict | None = field(default_factory=dict)
    experiments: tuple[str, ...] = ()

    @property
    def name(self):
        return f"{self.source}_{self.variant}" if self.variant else self.source

    @property
    def notebook(self):
        """The source notebook."""
        return ROOT / "notebooks" / f"{self.source}.ipynb"

    def parameters(self, profile):
        """The parameters of a profile, with the folder in which figures are saved."""
        folder = FIGURES[profile].relative_to(ROOT).as_posix()
        return {**getattr(self, profile), "figures_folder": folder}

    def target(self, profile):
        """The executed notebook."""
        return EXECUTED[profile] / f"{self.name}.ipynb"

    @property
    def figures(self):
        """The names of its figures, in order, as the source notebook shows them."""
        from study.report.display import Source

        return Source.read(self.source).figures

    def pictures(self, profile):
        """The files of its figures."""
        return [FIGURES[profile] / f"{self.name}-{figure}.svg" for figure in self.figures]


EXECUTED = {"quick": BUILD / "quick" / "notebooks", "full": ROOT / "notebooks" / "executed"}
FIGURES = {"quick": BUILD / "quick" / "figures", "full": ROOT / "figures"}
MANIFEST = FIGURES["full"] / "manifest.csv"
"""The table of all figures that are committed."""

UCI_SCALES = {
    "quick": {"n_folds": 5, "n_repeats": 2, "degrees": "1 2", "widths": "0.6 0.3", "inner_folds": 2},
    "full": {
        "n_repeats": 100,
        "degrees": "1 2 4 6 9 12 16 20",
        "widths": "0.9 0.6 0.4 0.3 0.2 0.1",
        "inner_folds": 5,
    },
}
"""The same for the chapters on single sets and for their summary, which reads their results."""
UCI_SETS = {"iris": None, "sonar": None, "vowel": None, "wine": "wine-bundled"}
"""The data sets of the published tables, and the bundled one that stands for them in the quick profile."""

CHAPTERS = [
    Chapter(source="front", quick=None, experiments=("mnist", "orders", "references", "growth", "lowest", "claims")),
    Chapter(source="introduction", quick=None, experiments=("claims",)),
    Chapter(source="algorithm", experiments=("algorithm",)),
    Chapter(
        source="mnist",
        quick={"dataset": "digits"},
        full={"dataset": "mnist", "n_orders": 20, "n_linear": 5, "n_held": 10_000},
        experiments=("mnist", "orders", "data", "romma", "claims"),
    ),
    Chapter(
        source="lower",
        quick={"dataset": "digits"},
        full={"dataset": "mnist", "n_held": 10_000, "n_orders": 20, "n_growth_orders": 5},
        experiments=("references", "growth", "lowest", "orders"),
    ),
    Chapter(
        source="doubt",
        quick={"dataset": "digits", "n_orders": 8},
        full={"dataset": "mnist"},
        experiments=("rejection",),
    ),
    Chapter(
        source="classes",
        quick={
            "dataset": "digits",
            "datasets": "iris-bundled wine-bundled",
            "n_spectrum": 300,
            "resolution": 80,
        },
        full={
            "dataset": "mnist",
            "datasets": "optdigits pendigits letter satimage vowel seeds winequality-red winequality-white iris sonar wine",
        },
        experiments=("multiclass", "comparison", "forms"),
    ),
    Chapter(
        source="tables",
        quick={"datasets": " ".join(filter(None, UCI_SETS.values())), **UCI_SCALES["quick"]},
        full={"datasets": " ".join(UCI_SETS), **UCI_SCALES["full"]},
        experiments=("uci",),
    ),
    Chapter(
        source="budgets",
        quick={"n_train": 400, "budgets": "10 20 50", "n_repeats": 4},
        full={"dataset": "mnist", "n_train": 60000, "budgets": "50 100 250 500 1000 2000", "n_orders": 3},
        experiments=("family", "orders"),
    ),
    Chapter(source="conclusion", quick=None, experiments=("mnist", "orders", "references", "growth", "lowest", "claims")),
    Chapter(
        source="questions",
        quick=None,
        experiments=("questions", "orders", "references", "growth", "lowest", "rejection", "family", "claims"),
    ),
    Chapter(source="ledger", quick=None, experiments=("claims",)),
    Chapter(source="setup", quick=None),
    Chapter(source="hermans_opening", quick=None, experiments=("mnist", "orders", "claims")),
    Chapter(source="hermans_closing", quick=None, experiments=("mnist", "orders", "claims")),
    Chapter(source="xu_zhang_opening", quick=None, experiments=("uci", "forms", "comparison")),
    Chapter(source="xu_zhang_closing", quick=None, experiments=("uci", "forms", "comparison", "claims")),
    Chapter(source="declaration", quick=None),
    Chapter(
        source="seeds",
        quick={"n_splits": 12},
        full={
            "dataset": "seeds",
            "hard_datasets": "winequality-red winequality-white",
            "n_splits": 1000,
            "n_hard_splits": 10,
        },
        experiments=("seeds",),
    ),
    Chapter(
        source="course",
        quick={"dataset": "digits", "n_seeds": 10, "n_code_seeds": 4, "n_search": 100},
        full={"dataset": "mnist", "n_seeds": 1000, "n_code_seeds": 200, "n_splits": 100},
        experiments=("course",),
    ),
    Chapter(
        source="family",
        quick={"n_train": 400, "budgets": "10 20 50", "class_budgets": "10 20", "n_repeats": 4},
        full={
            "dataset": "mnist",
            "n_train": 60000,
            "budgets": "50 100 250 500 1000 2000",
            "class_budgets": "50 100 250",
            "n_orders": 3,
        },
        experiments=("family",),
    ),
    Chapter(source="data", quick={"dataset": "digits"}, full={"dataset": "mnist"}, experiments=("data",)),
    *(
        Chapter(
            source="mnist_degree",
            variant=str(degree),
            title=f"MNIST at degree {degree}",
            quick={"dataset": "digits", "degree": degree} if degree == 3 else None,
            full={"dataset": "mnist", "degree": degree},
            experiments=("mnist", "claims"),
        )
        for degree in range(1, 7)
    ),
    *(
        Chapter(
            source="uci",
            variant=name,
            title=f"{name.capitalize()}: published tables",
            quick={"dataset": bundled, **UCI_SCALES["quick"]} if bundled else None,
            full={"dataset": name, **UCI_SCALES["full"]},
            experiments=("uci",),
        )
        for name, bundled in UCI_SETS.items()
    ),
    Chapter(
        source="class",
        quick={"dataset": "digits", "random_states": "0:12"},
        full={"dataset": "mnist", "n_train": 10_000},
    ),
    Chapter(
        source="degrees",
        quick={"dataset": "digits", "n_orders": 3},
        full={"dataset": "pendigits", "n_orders": 10},
    ),
    Chapter(source="tour"),
]

VARIANTS = {"mnist_degree": "degree", "uci": "dataset"}
"""The parameter of a source notebook that distinguishes its variants."""


@dataclass(frozen=True, kw_only=True)
class Report:
    """A document of chapters. front : the chapter before the contents, or ""; chapters : the numbered ones; appendices :
    chapters after them under letters; web : chapters on pages only, last; listing : its code, functions of kp.literal and
    modules."""

    title: str
    front: str = ""
    chapters: tuple[str, ...]
    appendices: tuple[str, ...] = ()
    web: tuple[str, ...] = ()
    listing: tuple[str, ...] = ()


COMPANIONS = ("seeds", "course", "family")
"""Chapters of the separate documents, which follow the study's chapters on its pages."""
WEB = (
    *COMPANIONS, "data", *(each.name for each in CHAPTERS if each.source in VARIANTS), "class", "degrees", "tour", "setup",
)  # fmt: skip
"""Chapters that are on the pages of the study and not on paper."""

REPORTS = {
    "all": Report(
        title="Kernel perceptrons: a reproducible study",
        front="front",
        chapters=(
            "introduction",
            "algorithm",
            "mnist",
            "lower",
            "doubt",
            "classes",
            "tables",
            "budgets",
            "conclusion",
            "questions",
        ),
        appendices=("ledger",),
        web=WEB,
    ),
    "hermans": Report(
        title="Kernel perceptrons on handwritten digits: Hermans (2021) reproduced",
        chapters=("hermans_opening", "algorithm", "mnist", "doubt", "hermans_closing"),
        appendices=("declaration",),
        listing=("algorithm_1", "g", "average", "minimizing", "one_vs_all", "class_scores", "voted_perceptron", "vote"),
    ),
    "xu-zhang": Report(
        title="A multiclass kernel perceptron: Xu and Zhang (2005) reproduced",
        chapters=("xu_zhang_opening", "classes", "tables", "xu_zhang_closing"),
        appendices=("declaration",),
        listing=("demoted", "multiclass_linear", "xu_zhang_binary", "xu_zhang"),
    ),
    "akar-ye": Report(
        title="Kernel least squares on the seeds data: Akar and Ye (2017) reproduced",
        chapters=("seeds",),
        appendices=("declaration",),
        listing=("akar_ye", "local_scales", "self_tuning_kernel"),
    ),
    "course-page": Report(
        title="The delta rule and output codes: a course page reproduced",
        chapters=("course",),
        appendices=("declaration",),
        listing=("delta_rule", "course_kernel_perceptron", "wrong", "kp.delta_rule"),
    ),
    "family": Report(
        title="The family of the kernel perceptron: an encyclopedia article measured",
        chapters=("algorithm", "budgets", "family"),
        appendices=("declaration",),
        listing=("perceptron", "kernel_perceptron", "value", "budget_perceptron", "forgetron", "psi", "norma", "romma"),
    ),
}
"""The report of the study, and one for each of its sources."""

EXPERIMENTS = (
    "mnist", "orders", "rejection", "references", "growth", "lowest", "data", "algorithm", "multiclass", "uci", "comparison",
    "forms", "seeds", "course", "family", "romma", "questions", "claims",
)  # fmt: skip
"""Folders of study with an experiment.py in the order of computation; the ledger of claims, which reads all, is last."""


def chapters(profile):
    """The chapters of a profile, in order."""
    if profile not in PROFILES:
        raise ValueError(f"profile must be one of {', '.join(PROFILES)}, got {profile!r}")
    return [chapter for chapter in CHAPTERS if getattr(chapter, profile) is not None]


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


def experiments(name, *, unpublished=False):
    """The experiments of one of EXPERIMENTS that publish something, or all, in the order in which they are declared."""
    from study.results.experiment import Experiment

    if name not in EXPERIMENTS:
        raise ValueError(f"experiment must be one of {', '.join(EXPERIMENTS)}, got {name!r}")
    module = importlib.import_module("study.ledger" if name == "claims" else f"study.{name}.experiment")
    found = [each for each in vars(module).values() if isinstance(each, Experiment) and each.chapter == name]
    return [each for each in found if unpublished or each.published]


def report(profile, name="all", *, web=False):
    """[(chapter, its number)] of one of REPORTS in a profile, in order; chapters left out by the profile are not counted.

    Numbers are "" of the front, then "1", "2", ..., "A", ..., "S1", "S2", ... web: with chapters that are on pages only.
    """
    if name not in REPORTS:
        raise ValueError(f"report must be one of {', '.join(REPORTS)}, got {name!r}")
    known = {each.name: each for each in chapters(profile)}
    whole = REPORTS[name]
    found = [(whole.front, "")]
    found += [(each, str(place)) for place, each in enumerate(filter(known.get, whole.chapters), start=1)]
    found += [(each, chr(ord("A") + place)) for place, each in enumerate(filter(known.get, whole.appendices))]
    if web:
        found += [(each, f"S{place}") for place, each in enumerate(filter(known.get, whole.web), start=1)]
    return [(known[each], number) for each, number in found if each in known]


def listing(name):
    """The code of a report as texts, each (title, source)."""
    literal = importlib.import_module("kp.literal")
    found = []
    for each in REPORTS[name].listing:
        whole = importlib.import_module(each) if "." in each else None
        found.append((each, inspect.getsource(whole or getattr(literal, each)).rstrip()))
    return found


def title_page(profile, name="all", *, title="", author="The kp authors"):
    """Title, author, course, date and declaration of a report: environment variables KP_TITLE etc., or the defaults; without
    a title that of the report."""
    scale = {"quick": " (quick profile: bundled data)", "full": ""}[profile]
    return {
        "title": os.environ.get("KP_TITLE") or title or REPORTS[name].title + scale,
        "author": os.environ.get("KP_AUTHOR") or author,
        "course": os.environ.get("KP_COURSE") or "",
        "date": os.environ.get("KP_DATE") or "",
        "declaration": os.environ.get("KP_DECLARATION") or "",
    }
