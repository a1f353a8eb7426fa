"""The plan of the study: its chapters in their order, with all that is said of each in one place, and the reports.

A chapter is one executed notebook. Several chapters may come from one source notebook with different parameters, its
variants: MNIST at each degree, the published tables for each dataset. What is not said here is the notebook's default.

Profiles: quick takes bundled data and small sizes, and writes below build/quick; full is the published scale, in
notebooks/executed and figures, which are committed. A profile changes data and sizes only.

Chapters are numbered by their place in a report, figures and tables by their place in the notebook.
"""

import importlib
import inspect
import json
import os
import re
from dataclasses import dataclass, field

from study import BUILD, ROOT
from study.parameters import require_one_of

PROFILES = ("quick", "full")

FRONT, BODY, APPENDIX, WEB = "front", "chapter", "appendix", "web"
"""Places in a report: before the contents; numbered; after those, under letters; on pages only, last."""


@dataclass(frozen=True, kw_only=True)
class Room:
    """A folder of study with experiments, and what it takes to compute them.

    modules : {module: cores} of those that declare experiments, in the order of the results; where they use one core, two
    run at a time; memory : {experiment: MB} of those that need more than the others; foreign : experiments with results of
    third-party classifiers, whose last bits depend on the processor: they are kept while they belong to the code.
    """

    name: str
    modules: dict = field(default_factory=lambda: {"experiment": 2})
    memory: dict = field(default_factory=dict)
    foreign: frozenset[str] = frozenset()

    def cores(self, experiment):
        """How many cores an experiment of the room uses."""
        return self.modules[experiment.__module__.rpartition(".")[2]]


@dataclass(frozen=True, kw_only=True)
class Chapter:
    """One chapter; see the module.

    source : stem of the notebook in notebooks/; variant : which of several chapters of that notebook, or ""; varies : the
    parameter of the notebook that distinguishes them; title : the chapter's title, for variants (else the notebook's own);
    about : its words in the table of README.md, where neighbours with the same words share a row, or ""; reports : {report:
    its place there}; full, quick : parameters of the profiles, None for a profile that leaves the chapter out;
    computes : the rooms whose results are made for it; reads : the names of others whose published results it reads.
    """

    source: str
    variant: str = ""
    varies: str = ""
    title: str = ""
    about: str = ""
    reports: dict = field(default_factory=dict)
    full: dict | None = field(default_factory=dict)
    quick: dict | None = field(default_factory=dict)
    computes: tuple[Room, ...] = ()
    reads: tuple[str, ...] = ()

    @property
    def name(self):
        return f"{self.source}_{self.variant}" if self.variant else self.source

    @property
    def notebook(self):
        """The source notebook."""
        return ROOT / "notebooks" / f"{self.source}.ipynb"

    @property
    def experiments(self):
        """The names of the rooms whose published results it reads."""
        return (*(room.name for room in self.computes), *self.reads)

    def parameters(self, profile):
        """The parameters of a profile, with the folder in which figures are saved, at published scale: quick saves none."""
        saved = {"figures_folder": FIGURES.relative_to(ROOT).as_posix()} if profile == "full" else {}
        return {**getattr(self, profile), **saved}

    def target(self, profile):
        """The executed notebook."""
        return EXECUTED[profile] / f"{self.name}.ipynb"

    @property
    def heading(self):
        """Its title, else the first heading of the notebook."""
        cells = json.loads(self.notebook.read_text(encoding="utf-8"))["cells"]
        return self.title or re.search("^# (.+)$", "".join(cells[0]["source"]), re.MULTILINE)[1]


EXECUTED = {"quick": BUILD / "quick" / "notebooks", "full": ROOT / "notebooks" / "executed"}
FIGURES = ROOT / "figures"
MANIFEST = FIGURES / "manifest.csv"
"""The table of all figures that are committed."""

UCI_SCALES = {
    "quick": {"n_folds": 3, "n_repeats": 2, "degrees": "1 2", "widths": "0.6 0.3", "inner_folds": 2},
    "full": {
        "n_repeats": 100,
        "degrees": "1 2 4 6 9 12 16 20",
        "widths": "0.9 0.6 0.4 0.3 0.2 0.1",
        "inner_folds": 5,
    },
}
"""The same for the chapters on single sets and for their summary, which reads their results."""
UCI_SETS = {"iris": None, "sonar": None, "vowel": None, "wine": "wine-bundled"}
"""The datasets of the published tables, and the bundled one that stands for them in the quick profile."""

CHAPTERS = [
    Chapter(
        source="front",
        about="eight results; four questions, five sources, how to read the numbers",
        reports={"all": FRONT},
        quick=None,
        reads=("mnist", "lower", "claims"),
    ),
    Chapter(
        source="introduction",
        about="eight results; four questions, five sources, how to read the numbers",
        reports={"all": BODY},
        quick=None,
        reads=("claims",),
    ),
    Chapter(source="hermans_opening", reports={"hermans": BODY}, quick=None, reads=("mnist", "claims")),
    Chapter(source="xu_zhang_opening", reports={"xu-zhang": BODY}, quick=None, reads=("classes", "tables")),
    Chapter(source="akar_ye_opening", reports={"akar-ye": BODY}, quick=None, reads=("seeds",)),
    Chapter(source="course_opening", reports={"course-page": BODY}, quick=None, reads=("course",)),
    Chapter(source="family_opening", reports={"family": BODY}, quick=None, reads=("budgets",)),
    Chapter(
        source="algorithm",
        about="a lesson: how it learns, its predictors, why averaging helps",
        reports={"all": BODY, "hermans": BODY, "family": BODY},
        computes=(Room(name="algorithm", modules={"experiment": 1}),),
    ),
    Chapter(source="hermans_results", reports={"hermans": BODY}, quick=None, reads=("mnist", "claims")),
    Chapter(source="hermans_closing", reports={"hermans": BODY}, quick=None, reads=("mnist", "claims")),
    Chapter(
        source="mnist",
        about="Hermans's study, then twenty orders: degree, predictor, epochs",
        reports={"all": BODY, "hermans": BODY},
        quick={"dataset": "digits"},
        full={"dataset": "mnist", "n_orders": 20, "n_linear": 5, "n_held": 10_000},
        computes=(Room(name="mnist", modules={"experiment": 2, "orders": 2, "kept": 2, "images": 1, "romma": 2}),),
        reads=("claims",),
    ),
    Chapter(
        source="lower",
        about="lower errors, other learners, seconds and memory",
        reports={"all": BODY},
        quick={"dataset": "digits"},
        full={
            "dataset": "mnist",
            "recipe_degrees": "3 4 5 6 7 8 9",
            "n_held": 10_000,
            "n_orders": 20,
            "n_growth_orders": 5,
        },
        computes=(
            Room(
                name="lower",
                modules={"experiment": 1, "growth": 2, "recipes": 2},
                memory={"learners": 15_000, "again": 15_000, "held": 14_000, "reached": 14_000},
                foreign=frozenset({"again", "choices", "intelex", "learners", "machines", "networks"}),
            ),
        ),
        reads=("mnist",),
    ),
    Chapter(
        source="doubt",
        about="which answers you can trust, and inputs that are not digits",
        reports={"all": BODY, "hermans": BODY},
        quick={"dataset": "digits", "n_orders": 8},
        full={"dataset": "mnist"},
        computes=(Room(name="doubt"),),
    ),
    Chapter(
        source="classes",
        about="three forms for several classes",
        reports={"all": BODY, "xu-zhang": BODY},
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
        computes=(Room(name="classes", modules={"plane": 1, "comparison": 2, "forms": 2}),),
    ),
    Chapter(
        source="tables",
        about="how the tables of 2005 were probably made",
        reports={"all": BODY, "xu-zhang": BODY},
        quick={"datasets": " ".join(filter(None, UCI_SETS.values())), **UCI_SCALES["quick"]},
        full={"datasets": " ".join(UCI_SETS), **UCI_SCALES["full"]},
        computes=(Room(name="tables"),),
    ),
    Chapter(source="xu_zhang_closing", reports={"xu-zhang": BODY}, quick=None, reads=("classes", "tables", "claims")),
    Chapter(
        source="budgets",
        about="short memory and wrong labels",
        reports={"all": BODY, "family": BODY},
        quick={"n_train": 400, "budgets": "10 20 50", "n_orders": 2, "n_repeats": 3},
        full={"dataset": "mnist", "n_train": 60000, "budgets": "50 100 250 500 1000 2000", "n_orders": 3},
        computes=(Room(name="budgets"),),
        reads=("mnist",),
    ),
    Chapter(
        source="conclusion",
        about="answers and a recipe; fourteen questions of users; published numbers beside ours",
        reports={"all": BODY},
        quick=None,
        reads=("mnist", "lower", "coursework", "claims"),
    ),
    Chapter(
        source="questions",
        about="answers and a recipe; fourteen questions of users; published numbers beside ours",
        reports={"all": BODY},
        quick=None,
        computes=(Room(name="questions"),),
        reads=("mnist", "lower", "doubt", "budgets", "coursework", "claims"),
    ),
    Chapter(
        source="ledger",
        about="answers and a recipe; fourteen questions of users; published numbers beside ours",
        reports={"all": APPENDIX},
        quick=None,
        reads=("claims",),
    ),
    Chapter(
        source="seeds",
        about="companions: Akar and Ye, the course page, the article",
        reports={"all": WEB, "akar-ye": BODY},
        quick={"n_splits": 8},
        full={
            "dataset": "seeds",
            "hard_datasets": "winequality-red winequality-white",
            "n_splits": 1000,
            "n_hard_splits": 10,
        },
        computes=(Room(name="seeds", modules={"experiment": 1}),),
    ),
    Chapter(
        source="course",
        about="companions: Akar and Ye, the course page, the article",
        reports={"all": WEB, "course-page": BODY},
        quick={"dataset": "digits", "n_seeds": 5, "n_code_seeds": 2, "n_splits": 1, "n_search": 100},
        full={"dataset": "mnist", "n_seeds": 1000, "n_code_seeds": 200, "n_splits": 100},
        computes=(Room(name="course", modules={"experiment": 1}),),
    ),
    Chapter(
        source="family",
        about="companions: Akar and Ye, the course page, the article",
        reports={"all": WEB, "family": BODY},
        quick={"n_train": 400, "budgets": "10 20 50", "class_budgets": "10", "n_orders": 2, "n_repeats": 3},
        full={
            "dataset": "mnist",
            "n_train": 60000,
            "budgets": "50 100 250 500 1000 2000",
            "class_budgets": "50 100 250",
            "n_orders": 3,
        },
        reads=("budgets",),
    ),
    Chapter(
        source="data",
        about="the images; one degree or one set each",
        reports={"all": WEB},
        quick={"dataset": "digits"},
        full={"dataset": "mnist"},
        reads=("mnist",),
    ),
    *(
        Chapter(
            source="mnist_degree",
            variant=str(degree),
            varies="degree",
            title=f"MNIST at degree {degree}",
            about="the images; one degree or one set each",
            reports={"all": WEB},
            quick={"dataset": "digits", "degree": degree} if degree == 3 else None,
            full={"dataset": "mnist", "degree": degree},
            reads=("mnist", "claims"),
        )
        for degree in range(1, 7)
    ),
    *(
        Chapter(
            source="uci",
            variant=name,
            varies="dataset",
            title=f"{name.capitalize()}: published tables",
            about="the images; one degree or one set each",
            reports={"all": WEB},
            quick={"dataset": bundled, **UCI_SCALES["quick"]} if bundled else None,
            full={"dataset": name, **UCI_SCALES["full"]},
            reads=("tables",),
        )
        for name, bundled in UCI_SETS.items()
    ),
    Chapter(
        source="class",
        about="thirty seeds; a course assignment on any set; `kp` on your own arrays; six short examples; data and software",
        reports={"all": WEB},
        quick={"dataset": "digits", "random_states": "0:12"},
        full={"dataset": "mnist", "n_train": 10_000},
    ),
    Chapter(
        source="coursework",
        about="thirty seeds; a course assignment on any set; `kp` on your own arrays; six short examples; data and software",
        reports={"all": WEB},
        quick={"dataset": "digits", "n_splits": 4, "n_folds": 3},
        full={"dataset": "optdigits"},
        computes=(Room(name="coursework"),),
    ),
    Chapter(
        source="tour",
        about="thirty seeds; a course assignment on any set; `kp` on your own arrays; six short examples; data and software",
        reports={"all": WEB},
    ),
    Chapter(
        source="gallery",
        about="thirty seeds; a course assignment on any set; `kp` on your own arrays; six short examples; data and software",
        reports={"all": WEB},
    ),
    Chapter(
        source="setup",
        about="thirty seeds; a course assignment on any set; `kp` on your own arrays; six short examples; data and software",
        reports={"all": WEB},
        quick=None,
    ),
    Chapter(
        source="declaration",
        reports=dict.fromkeys(("hermans", "xu-zhang", "akar-ye", "course-page", "family"), APPENDIX),
        quick=None,
    ),
]

LEDGER = Room(name="claims", modules={"ledger": 2})
"""The ledger, which reads all results: its experiment is in study.ledger."""
ROOMS = {room.name: room for room in (*(room for chapter in CHAPTERS for room in chapter.computes), LEDGER)}
"""{name: Room} in the order of computation."""


@dataclass(frozen=True, kw_only=True)
class Report:
    """A document of the chapters that name it. listing : its code, functions of kp.literal."""

    title: str
    listing: tuple[str, ...] = ()


REPORTS = {
    "all": Report(title="Kernel perceptrons: a reproducible study"),
    "hermans": Report(
        title="Kernel perceptrons on handwritten digits: Hermans (2021) reproduced",
        listing=("algorithm_1", "g", "average", "minimizing", "one_vs_all", "class_scores", "voted_perceptron", "vote"),
    ),
    "xu-zhang": Report(
        title="A multiclass kernel perceptron: Xu and Zhang (2005) reproduced",
        listing=("demoted", "multiclass_linear", "xu_zhang_binary", "xu_zhang"),
    ),
    "akar-ye": Report(
        title="Kernel least squares on the seeds data: Akar and Ye (2017) reproduced",
        listing=("akar_ye", "local_scales", "self_tuning_kernel"),
    ),
    "course-page": Report(
        title="The delta rule and output codes: a course page reproduced",
        listing=("delta_rule", "course_kernel_perceptron", "wrong"),
    ),
    "family": Report(
        title="The family of the kernel perceptron: an encyclopedia article measured",
        listing=("perceptron", "kernel_perceptron", "value", "budget_perceptron", "forgetron", "psi", "norma", "romma"),
    ),
}
"""The report of the study, and one for each of its sources."""


def chapters(profile):
    """The chapters of a profile, in order."""
    require_one_of("profile", profile, PROFILES)
    return [chapter for chapter in CHAPTERS if getattr(chapter, profile) is not None]


def chapter(name, profile="full"):
    """The chapter of this name; ValueError if the profile has none."""
    known = {each.name: each for each in chapters(profile)}
    if name not in known:
        raise ValueError(f"notebook must be one of {', '.join(known)} in profile {profile}, got {name!r}")
    return known[name]


def of_notebook(source, parameters):
    """The chapter that a source notebook with these parameters makes, or None for a variant that is not in the plan."""

    def value(each):
        return str(parameters[each.varies]).removesuffix("-bundled") if each.varies else ""

    return next((each for each in CHAPTERS if each.source == source and each.variant == value(each)), None)


def experiments(name, *, unpublished=False):
    """The experiments of one of ROOMS that publish something, or all, in the order in which they are declared."""
    from study.results.experiment import Experiment

    require_one_of("experiment", name, ROOMS)
    package = "study" if name == LEDGER.name else f"study.{name}"
    names = [f"{package}.{module}" for module in ROOMS[name].modules]
    found = [each for module in names for each in vars(importlib.import_module(module)).values()]
    found = [each for each in found if isinstance(each, Experiment) and each.__module__ in names]
    return [each for each in found if unpublished or each.published]


def all_experiments():
    """All experiments that publish something, in the order of computation."""
    return [each for name in ROOMS for each in experiments(name)]


def report(profile, name="all", *, web=False):
    """[(chapter, its number)] of one of REPORTS in a profile, in order; chapters left out by the profile are not counted.

    Numbers are "" of the front, then "1", "2", ..., "A", ..., "S1", "S2", ... web: with chapters that are on pages only.
    """
    require_one_of("report", name, REPORTS)
    known = chapters(profile)
    numbers = {FRONT: lambda _: "", BODY: str, APPENDIX: lambda place: chr(ord("A") + place - 1)}
    numbers |= {WEB: lambda place: f"S{place}"} if web else {}
    return [
        (each, number(place))
        for where, number in numbers.items()
        for place, each in enumerate((each for each in known if each.reports.get(name) == where), start=1)
    ]


def links(own, profile):
    """The line of links at the head of an executed notebook: the chapter before it, the contents in README.md, the next one,
    in the order of the pages of the first report that has it."""
    pages = ([each for each, _ in report(profile, name, web=True)] for name in REPORTS)
    order = next(found for found in pages if own in found)
    place = order.index(own)
    readme = os.path.relpath(ROOT / "README.md", own.target(profile).parent)
    before = [f"[← {each.heading}]({each.name}.ipynb)" for each in order[:place][-1:]]
    after = [f"[{each.heading} →]({each.name}.ipynb)" for each in order[place + 1 :][:1]]
    return " · ".join([*before, f"[Contents]({readme}#read)", *after])


def listing(name):
    """The code of a report as texts, each (title, source)."""
    names = REPORTS[name].listing
    literal = importlib.import_module("kp.literal") if names else None  # it takes a second
    return [(each, inspect.getsource(getattr(literal, each)).rstrip()) for each in names]


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
