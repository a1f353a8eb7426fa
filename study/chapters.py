"""Which notebooks make a profile, with which parameters, and where their executed copies and figures go.

quick: bundled data, under build/quick. full: the published scale, in notebooks/executed and figures, committed. A profile
changes data and sizes only. The order is that of the chapters.
"""

import os
from dataclasses import dataclass, field
from pathlib import Path

from study import BUILD, ROOT, ledger
from study.comparison import experiment as comparison
from study.course import experiment as course
from study.data import experiment as neighbours
from study.family import experiment as family
from study.forms import experiment as forms
from study.mnist import experiment as mnist
from study.seeds import experiment as seeds
from study.uci import experiment as uci

PROFILES = ("quick", "full")
EXPERIMENTS = {
    "mnist": mnist,
    "neighbours": neighbours,
    "uci": uci,
    "comparison": comparison,
    "forms": forms,
    "seeds": seeds,
    "course": course,
    "family": family,
    "claims": ledger,
}
"""The modules of the experiments: `publish` stores results, which depend on the code in MODULES and the data in DATASETS.
The last one needs the results of all others."""

TITLES = {"mnist_degree": "MNIST at degree {}", "uci": "{}: published tables"}
"""Titles of the chapters of notebooks that are executed more than once."""


def _fields(settings, *names):
    """Fields of published settings that are parameters of a notebook, as papermill takes them."""
    values = {name: getattr(settings, name) for name in names}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}


PUBLISHED = {
    "uci": {"n_repeats": 100, "degrees": "published", "widths": "published", "inner_folds": 5},
    "comparison": {"datasets": " ".join(comparison.DATASETS)},
    "seeds": _fields(seeds.PUBLISHED, "dataset", "hard_datasets", "n_splits", "n_hard_splits"),
    "course": {"n_seeds": course.N_SEEDS, "n_code_seeds": course.N_CODE_SEEDS, "n_splits": course.N_SPLITS},
    "family": _fields(family.PUBLISHED, "dataset", "n_train", "budgets", "class_budgets", "n_orders"),
}
"""Parameters of notebooks at the published scale; what is not here is the notebook's default."""


@dataclass(frozen=True)
class Run:
    """One notebook to execute: source stem, target, folder of figures, parameters, experiments whose results it reads, and
    the title of its chapter where it is not the notebook's own."""

    source: str
    target: Path
    figures: Path
    parameters: dict = field(default_factory=dict)
    reads: tuple[str, ...] = ()
    title: str = ""


def notebooks(profile):
    """{name: Run} of a profile, in the order of the report's chapters."""
    full = profile == "full"
    images = {"dataset": "mnist" if full else "digits"}
    sets = uci.SETS if full else ("iris-bundled", "wine-bundled")
    scale = dict.fromkeys(PUBLISHED, {}) | (PUBLISHED if full else {})
    plan = [("data", "", images, ("neighbours",)), ("algorithm", "", {}, ())]
    for degree in mnist.DEGREES:
        plan.append(("mnist_degree", degree, images | {"degree": degree}, ("mnist", "claims")))
    plan += [("mnist_summary", "", images, ("mnist", "claims")), ("multiclass", "", {}, ())]
    plan += [("uci", name.removesuffix("-bundled"), {"dataset": name} | scale["uci"], ("uci",)) for name in sets]
    plan += [
        ("uci_summary", "", {"datasets": " ".join(sets)} | scale["uci"], ("uci",)),
        ("comparison", "", scale["comparison"], ("comparison",)),
        ("forms", "", images, ("forms",)),
        ("seeds", "", scale["seeds"], ("seeds",)),
        ("course", "", images | scale["course"], ("course",)),
        ("family", "", scale["family"], ("family",)),
    ]
    executed = ROOT / "notebooks" / "executed" if full else BUILD / "quick" / "notebooks"
    figures = ROOT / "figures" if full else BUILD / "quick" / "figures"
    runs = {}
    for source, variant, parameters, reads in plan:
        name = f"{source}_{variant}" if variant != "" else source
        target = executed / f"{name}.ipynb"
        title = TITLES[source].format(str(variant).capitalize()) if variant != "" else ""
        runs[name] = Run(source, target, figures, parameters, reads if full else (), title)
    return runs


def title_page(profile):
    """Title, author, course and date of the report: environment variables KP_TITLE etc., or the defaults."""
    scale = {"quick": " (quick profile: bundled digits)", "full": ""}[profile]
    return {
        "title": os.environ.get("KP_TITLE") or "Kernel perceptrons: a reproducible study" + scale,
        "author": os.environ.get("KP_AUTHOR") or "The kp authors",
        "course": os.environ.get("KP_COURSE") or "",
        "date": os.environ.get("KP_DATE") or "",
    }
