"""nbval gets kernels that have imported the study already.

On Linux they are forked before the first notebook runs, one for each, as in `study.report.batch`; elsewhere nbval starts its
own. A kernel that was forked knows no names: what a notebook does not import is missing in it as in any other.
"""

import os
from pathlib import Path

from jupyter_client.manager import KernelManager
from nbval import kernel

from study.report import batch


class Forked(batch.Forked, KernelManager):
    """The manager that nbval makes of a kernel, which is forked."""


def pytest_collection_finish(session):
    """Fork a kernel for each notebook, while nothing has happened here that a process should not share."""
    notebooks = {item.path for item in session.items if Path(item.path).suffix == ".ipynb"}
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
