"""Which notebooks make a profile, with which parameters, and where their executed copies and figures go.

quick: bundled data, under build/quick. full: the published scale, in notebooks/executed and figures, committed. A profile
changes data and sizes only. The order is that of the chapters.
"""

import os
from dataclasses import dataclass, field
from pathlib import Path

from kp.study import BUILD, ROOT, forms, ledger, mnist, neighbours

PROFILES = ("quick", "full")
EXPERIMENTS = {"mnist": mnist, "neighbours": neighbours, "forms": forms, "claims": ledger}
"""The modules of the experiments: `publish` stores results, which depend on the code in MODULES and the data in DATASETS.
The last one needs the results of all others."""


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
    dataset = {"quick": "digits", "full": "mnist"}[profile]
    executed = {"quick": BUILD / "quick" / "notebooks", "full": ROOT / "notebooks" / "executed"}[profile]
    figures = {"quick": BUILD / "quick" / "figures", "full": ROOT / "figures"}[profile]
    plan = [("data", {"dataset": dataset}, ("neighbours",)), ("algorithm", {}, ())]
    plan += [("mnist_degree", {"dataset": dataset, "degree": degree}, ("mnist", "claims")) for degree in mnist.DEGREES]
    plan += [("mnist_summary", {"dataset": dataset}, ("mnist", "claims")), ("forms", {"dataset": dataset}, ("forms",))]
    runs = {}
    for source, parameters, reads in plan:
        degree = parameters.get("degree")
        name, title = (f"{source}_{degree}", f"MNIST at degree {degree}") if degree else (source, "")
        runs[name] = Run(source, executed / f"{name}.ipynb", figures, parameters, reads if profile == "full" else (), title)
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
