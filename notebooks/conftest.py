"""Notebooks under nbval: executed ones are compared where their data are, elsewhere skipped with the reason.

Their kernels have imported the study already: on Linux they are forked before the first notebook runs, one for each, as in
`study.report.batch`; elsewhere nbval starts its own. A kernel that was forked knows no names: what a notebook does not
import is missing in it as in any other.
"""

import functools
import os

import pytest
from jupyter_client.manager import KernelManager
from nbval import kernel

from study import chapters, datasets
from study.report import batch


@functools.cache
def missing(name):
    """Why the data set cannot be had without a download, or None."""
    try:
        datasets.load(name, download=False)
    except datasets.DataError as error:
        return f"{name} is not here: {str(error).splitlines()[-1]}"
    return None


def pytest_collection_modifyitems(items):
    for item in items:
        if item.path.parent.name == "executed":
            texts = [value for value in chapters.chapter(item.path.stem).full.values() if isinstance(value, str)]
            reasons = [missing(name) for name in " ".join(texts).split() if name in datasets.DATASETS]
            for reason in filter(None, reasons):
                item.add_marker(pytest.mark.skip(reason=reason))


class Forked(batch.Forked, KernelManager):
    """The manager that nbval makes of a kernel, which is forked."""


def pytest_collection_finish(session):
    """Fork a kernel for each notebook, while nothing has happened here that a process should not share."""
    notebooks = {item.path for item in session.items if item.path.suffix == ".ipynb"}
    if batch.FORK and notebooks and not session.config.option.collectonly:
        batch.import_all()
        with open(os.devnull) as held:
            session.kernels = [Forked.with_kernel(held) for _ in notebooks]
        waiting = iter(session.kernels)
        kernel.KernelManager = lambda **options: next(waiting)(**options)


def pytest_sessionfinish(session):
    """Kernels that were never asked for end."""
    for each in getattr(session, "kernels", ()):
        each.pipe.close()
