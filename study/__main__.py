"""The study from the command line.

python -m study run EXPERIMENT   compute what is missing of an experiment and write its result tables
python -m study notebook NAME    execute one notebook of a profile
python -m study report           make the report of the executed notebooks (--kind html or pdf)
"""

import argparse
import os
import sys
from pathlib import Path

from study.datasets import DataError
from study import BUILD, ROOT
from study import chapters as batch
from study.report import document as report
from study.report.notebooks import execute
from study.store import StaleResult


def main(arguments=None):
    """Run one command; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m study", description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="compute an experiment at published scale and write its tables")
    run.add_argument("experiment", choices=batch.EXPERIMENTS)
    run.add_argument("--recompute", action="store_true", help="ignore stored results")
    notebook = commands.add_parser("notebook", help="execute one notebook of a profile")
    notebook.add_argument("name", help="one of those that 'list' shows")
    listing = commands.add_parser("list", help="list the notebooks of a profile")
    document = commands.add_parser("report", help="make the report of the executed notebooks")
    document.add_argument("--kind", choices=("html", "pdf"), default="html")
    document.add_argument("--target", type=Path)
    for sub in (notebook, listing, document):
        sub.add_argument("--profile", choices=batch.PROFILES, default="quick")
    options = parser.parse_args(arguments)
    try:
        return {"run": _run, "notebook": _notebook, "list": _list, "report": _report}[options.command](options)
    except (DataError, StaleResult, ValueError, RuntimeError) as error:
        print(f"study: {error}", file=sys.stderr)
        return 1


def _run(options):
    batch.EXPERIMENTS[options.experiment].publish(recompute=options.recompute, progress=sys.stderr.isatty())
    return 0


def _list(options):
    print("\n".join(batch.notebooks(options.profile)))
    return 0


def _notebook(options):
    run = batch.notebooks(options.profile).get(options.name)
    if run is None:
        known = ", ".join(batch.notebooks(options.profile))
        raise ValueError(f"notebook must be one of {known} in profile {options.profile}, got {options.name!r}")
    os.environ["KP_FIGURES"] = str(run.figures)
    execute(ROOT / "notebooks" / f"{run.source}.ipynb", run.target, run.parameters, progress=sys.stderr.isatty())
    return 0


def _report(options):
    runs = batch.notebooks(options.profile).values()
    target = options.target or BUILD / options.profile / f"report.{options.kind}"
    write = {"html": report.html, "pdf": report.pdf}[options.kind]
    titles = {run.target.stem: run.title for run in runs}
    write([run.target for run in runs], target, **batch.title_page(options.profile), titles=titles)
    what = {"quick": "what was executed just now, on bundled data", "full": "the study at published scale"}[options.profile]
    print(f"Report: {os.path.relpath(target)} ({what})", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
