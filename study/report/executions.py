"""Chapters executed: one, or many at a time, each in a process that is forked from one that has imported what most need."""

import gc
import importlib
import multiprocessing
import os
import signal
import sys
from multiprocessing import connection

import numba

import study
from kp.compiled import has_cache
from study import BUILD, ROOT, chapters
from study.progress import Progress
from study.report import origin
from study.results import costs

LIBRARIES = ("papermill", "kp.display", "study.statistics", "study.report.notebooks", "study.report.display")
LIBRARIES += ("study.report.engine", "sklearn.linear_model", "sklearn.model_selection")
"""Modules by which the libraries that most notebooks use are loaded."""
FIRST = ("gallery", "uci_wine", "lower")
"""Notebooks that start before the others: two that need different functions of kp compiled, and the longest. Named here, as
the first batch, in which kp is compiled, has no seconds of an earlier one."""
CONTEXT = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")


def execute(chapter, profile):
    """Execute the notebook of a chapter; see `study.report.notebooks.execute`."""
    from study.report import forked, notebooks

    forked.use(origin.modules(chapter.notebook))
    parameters, links = chapter.parameters(profile), chapters.links(chapter, profile)
    notebooks.execute(chapter.notebook, chapter.target(profile), parameters, links)


def execute_all(names, profile, jobs):
    """Execute the notebooks of these chapters, `jobs` at a time; a line says of each when it has ended.

    What a notebook writes to the terminal goes to a file below build/, which is shown if it fails. Returns 1 if one failed,
    else 0. Seconds are kept for the next batch.
    """
    from study.report import notebooks

    for module in LIBRARIES if sys.platform == "linux" else ():
        importlib.import_module(module)
    numba.njit(lambda: None)()  # the first compiled function takes a third of a second
    for source in {chapters.chapter(name, profile).notebook for name in names}:
        notebooks.read(source)  # the first makes the program that checks notebooks
        origin.modules(source)  # each module of the project is read once for all of them
    gc.freeze()
    said = {name: f"notebook {name}" for name in names}
    usual = {words: costs.last_seconds(profile, name) for name, words in said.items()}
    progress = Progress(usual, said.values(), jobs)
    if not has_cache():
        progress.say("kp is compiled while the first notebooks run, once; they take half a minute longer")
    waiting = [name for name in FIRST if name in said] + [name for name in said if name not in FIRST]
    running, failed = {}, 0
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                name = waiting.pop(0)
                log = BUILD / profile / "logs" / f"{name}.log"
                process = CONTEXT.Process(target=_alone, args=(name, profile, log, os.getpid()))
                process.start()
                running[process.sentinel] = process, name, log
                progress.started(process.sentinel, said[name])
            for sentinel in connection.wait(running):
                process, name, log = running.pop(sentinel)
                process.join()
                seconds = progress.ended(sentinel, failed=bool(process.exitcode))
                if process.exitcode:
                    failed = 1
                    _say_why(name, log, process.exitcode)
                else:
                    costs.note(profile, name, seconds)
    finally:
        for process, *_ in running.values():
            process.terminate()
    return failed


def _alone(name, profile, log, leader):
    """Run the command on one notebook in this process, which ends with that of the number `leader`; output goes to log."""
    from study.__main__ import main

    study.end_with(leader)
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("w", encoding="utf-8") as file:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
            os.dup2(file.fileno(), stream.fileno())
    sys.exit(main(["notebook", name, "--profile", profile]))


def _say_why(name, log, code):
    how = f", ended by {signal.Signals(-code).name}" if code < 0 else ""
    text = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
    print(f"{name} failed{how}, {log.relative_to(ROOT)}:\n{text.rstrip()}", file=sys.stderr, flush=True)
