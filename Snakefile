# The whole batch: experiments, notebooks, report. `make report` and `make pdf` call it; README.md has the plain commands.
#
# An experiment or a notebook has a rule where its stored results are not those of the code, the data and the parameters
# that are here. Fingerprints tell, when this file is read: the times of files say nothing in a fresh clone. What these
# rules declare as output is a mark below build/, which says to the rules behind them that they are done, and not the
# committed files: Snakemake removes the outputs of a rule before it runs and when it fails, and committed results and
# executed notebooks must outlive both. The commands replace those files in one step when they succeed. --config recompute=1,
# which is what `make report PROFILE=full RECOMPUTE=1` passes, computes everything again. Its marks stand in a folder of their
# own until all is done, so that after an interruption it goes on where it was.

import os
import shlex
import shutil
import sys
from pathlib import Path

os.environ["KP_LEADER"] = str(os.getpid())  # what is started here ends with this process, however it ends

from snakemake.logging import logger

from study import chapters
from study.parameters import switch
from study.report import origin
from study.results import definitions, runs

# What Snakemake says of itself, its log with an absolute path too, is no news; errors, progress and "Nothing to be done" are.
ITS_OWN = ("Building DAG", "Using shell", "Select jobs", "Execute ", "Complete log", "Elapsed time")
logger.addFilter(lambda record: not str(record.msg).startswith(ITS_OWN))

KNOWN = ("profile", "recompute", "report", "code", "notebooks", "runs", "table")
PROFILE = config.get("profile", "quick")
REPORT = str(config.get("report", "all"))  # that of the study, or of one of its sources
PAPER = "report" if REPORT == "all" else REPORT
TABLE = str(config.get("table", "build/runs/table.csv"))  # where the table of the batch goes
try:
    runs.check_target(TABLE)  # Snakemake removes what is there before it makes the table
    if unknown := sorted(set(config) - set(KNOWN)):
        raise ValueError(f"--config {unknown[0]}: no such value, only {', '.join(KNOWN)}; correct the name")
    RECOMPUTE = "--recompute" if switch("recompute", config.get("recompute", 0)) else ""
    CODE = ["--code"] if switch("code", config.get("code", 0)) else []
    PAGES = [each.target("full") for each, _ in chapters.report("full", REPORT, web=True)]  # the report is made of them
    NAMES = shlex.split(str(config.get("notebooks") or ""))  # those to be executed; all if there is none
    RUNS = shlex.split(str(config.get("runs") or ""))  # a batch of own runs: "mnist --dataset digits --degree 3 --random-state 0:30"
    BATCH, PARTS = runs.planned(RUNS) if RUNS else (None, [])
    if "table" in config and not RUNS:
        raise ValueError("--config table: there is no batch whose table it names; add runs=\"EXPERIMENT --OPTION VALUE\"")
    PLAN = [] if RUNS else [chapters.chapter(name, PROFILE) for name in NAMES] or chapters.chapters(PROFILE)
except ValueError as error:
    sys.exit(str(error))
PROGRAM = BATCH.source_files() if BATCH else []
PYTHON = sys.executable
LARGE = {"references.learners": 15000, "references.again": 15000, "lowest.held": 14000, "lowest.reached": 14000}  # memory in MB
# Results of third-party classifiers: their last bits depend on the processor, so they are kept while they belong to the code.
FOREIGN = {f"references.{name}" for name in ("again", "choices", "intelex", "learners", "machines", "networks")}
ON_ONE_CORE = ("references", "course", "seeds", "multiclass", "algorithm", "data")
DOCUMENT = ["study/report/document.py", "study/report/report.html", "study/report/math.woff2", "study/report/report.typ", "study/report/refs.bib", "study/chapters.py"]
DATA = "build/full/marks/data" if PROFILE == "full" and not RUNS else []
EXPERIMENTS = [each for name in chapters.EXPERIMENTS for each in chapters.experiments(name)] if DATA else []


def mark(name):
    """What says that a rule is done."""
    return f"build/{PROFILE}/{'again' if RECOMPUTE else 'marks'}/{name}"


def is_due(name, is_current):
    """True if what a rule makes has to be made; an earlier mark of what is not current goes."""
    if not is_current:
        Path(mark(name)).unlink(missing_ok=True)
    return not is_current or (bool(RECOMPUTE) and name not in FOREIGN)


def read_by(experiment):
    """The names of the other experiments whose results an experiment reads; the ledger reads all."""
    reached = set(definitions.reached([experiment]))
    found = {each.name for each in EXPERIMENTS if (each.__module__, each.compute.__name__) in reached}
    return (BEFORE_LEDGER if experiment.chapter == "claims" else found) - {experiment.name}


BEFORE_LEDGER = {each.name for each in EXPERIMENTS if each.chapter != "claims"}
STALE = {each.name for each in EXPERIMENTS if is_due(each.name, each.is_fresh())}
STALE |= {each.name for each in EXPERIMENTS if STALE and each.chapter == "claims"}
RESULTS = {chapter.name: sorted(mark(name) for name in STALE if name.partition(".")[0] in chapter.experiments) for chapter in PLAN}
CHANGED = [each for each in PLAN if is_due(each.name, origin.is_current(each, PROFILE)) or RESULTS[each.name]]
EXECUTED = [mark(each.name) if each in CHANGED else each.target(PROFILE) for each in PLAN]
GATHERED = mark("gathered") if DATA else []


def pages(wildcards):
    """The executed notebooks at published scale that the report is made of; only the full profile executes them."""
    if PROFILE != "full" and (absent := [path for path in PAGES if not path.exists()]):
        remedy = f"python -m study notebook {absent[0].stem} --profile full"
        sys.exit(f"{absent[0].relative_to(chapters.ROOT)}: there is no such notebook yet; make it with: {remedy}")
    return EXECUTED if PROFILE == "full" else PAGES


rule report:
    input:
        [f"build/full/{name}.html" for name in ("report", "ledger")],
        "build/quick/report.html" if PROFILE == "quick" else GATHERED,


rule pdf:
    input: f"build/full/{PAPER}.pdf", GATHERED


rule notebooks:
    input: EXECUTED


rule data:
    # All files first, in one job: what cannot be had is said once, before anything is computed.
    output: touch("build/full/marks/data")
    shell: "{PYTHON:q} -m study.datasets fetch --fail-fast"


for each in EXPERIMENTS:
    if each.name in STALE:
        on_one_core = each.chapter in ON_ONE_CORE

        # Those that use one core run two at a time, before the others, which use both; the memory keeps large ones apart.
        rule:
            name: f"experiment_{each.name.replace('.', '_')}"
            input: DATA, "requirements.lock.txt", each.source_files(), sorted(map(mark, STALE & read_by(each)))
            output: touch(mark(each.name))
            benchmark: f"build/full/benchmarks/{each.name}{'' if RECOMPUTE else '-rest'}.tsv"  # what was kept took no time
            params: name=each.name
            threads: 1 if on_one_core else 2
            priority: 102 if on_one_core else 101
            resources: mem_mb=LARGE.get(each.name, 5000 if on_one_core else 9000)
            shell: "{PYTHON:q} -m study run {params.name:q} {RECOMPUTE}"


for place, chapter in enumerate(CHANGED):
    # The last first: they take longest.
    rule:
        name: f"notebook_{chapter.name}"
        input: f"notebooks/{chapter.source}.ipynb", DATA, RESULTS[chapter.name]
        output: touch(mark(chapter.name))
        log: f"build/{PROFILE}/logs/{chapter.name}.log"
        benchmark: f"build/{PROFILE}/benchmarks/{chapter.name}.tsv"
        params: name=chapter.name
        priority: place + 1
        resources: mem_mb=3000
        shell:
            "{PYTHON:q} -m study notebook {params.name:q} --profile {PROFILE:q} 2> {log:q}"
            " || {{ echo {params.name:q} failed, {log:q}:; cat {log:q}; exit 1; }}"


rule gathered:
    input: EXECUTED
    output: touch(mark("gathered"))
    shell: "{PYTHON:q} -m study gather"


rule document:
    # The report of the study is made from the executed notebooks as committed; profile full executes them again first.
    input:
        pages,
        DOCUMENT,
    params: facts=chapters.title_page("full", REPORT), code=CODE
    output: f"build/full/{PAPER}." + "{kind,html|pdf}"
    shell: "{PYTHON:q} -m study report --kind {wildcards.kind:q} --profile full --report {REPORT:q} {CODE:q} --target {output:q}"


rule ledger:
    input:
        [mark(name) for name in sorted(STALE) if name.startswith("claims.")],
        [f"data/results/{name}.csv" for name in ("claims", "claims_statements")],
        "study/report/ledger.py", "study/report/ledger.html", "study/chapters.py",
    output: "build/full/ledger.html"
    shell: "{PYTHON:q} -m study ledger --target {output:q}"


rule quick_document:
    input: EXECUTED, DOCUMENT,
    output: "build/quick/report.html"
    shell: "{PYTHON:q} -m study report --profile quick --target {output:q}"


# A batch of own runs: each job is one part of it, runs that differ in their seed only and share kernel rows. What a job has
# computed is kept under build/results by its settings, so nothing is computed twice, whoever asks for it.
rule runs:
    input: TABLE if RUNS else []


rule runs_part:
    input: PROGRAM
    output: touch("build/runs/marks/{part}-of-{parts}")
    params: runs=" ".join(map(shlex.quote, RUNS))
    threads: 2
    resources: mem_mb=9000, runtime=240
    shell: "{PYTHON:q} -m study run {params.runs} --part {wildcards.part}"


rule runs_table:
    input: [f"build/runs/marks/{part}-of-{len(PARTS)}" for part in range(len(PARTS))]
    output: TABLE
    params: runs=" ".join(map(shlex.quote, RUNS))
    localrule: True
    shell: "{PYTHON:q} -m study run {params.runs} --target {output:q}"


onsuccess:
    # A part that was asked for by name leaves the marks to the rest.
    if RECOMPUTE and all(map(os.path.exists, [*map(mark, STALE), *EXECUTED])):
        shutil.rmtree(f"build/{PROFILE}/again", ignore_errors=True)
