# The whole batch: experiments, notebooks, report. `make report` and `make pdf` call it; README.md has the plain commands.
#
# What a rule declares as output is a mark under build/, not the committed file itself: Snakemake deletes the outputs of a
# rule that fails, and a failure must not take committed results or executed notebooks with it. The commands replace those
# files in one step when they succeed, decide by fingerprints of code and data what is still good, and change no byte of
# what comes out the same; so marks may be missing, as in a fresh clone, and nothing is lost or computed twice. To compute
# everything again: --config recompute=1 with --forceall, which is what `make report PROFILE=full RECOMPUTE=1` passes.

import os
import shlex
import sys
from pathlib import Path

os.environ["KP_LEADER"] = str(os.getpid())  # what is started here ends with this process, however it ends

from study import chapters, datasets
from study.results import lock, runs

PROFILE = config.get("profile", "quick")
RECOMPUTE = "--recompute" if str(config.get("recompute", 0)) not in ("0", "", "False") else ""
REPORT = str(config.get("report", "all"))  # that of the study, or of one of its sources
CODE = ["--code"] if str(config.get("code", 0)) not in ("0", "", "False") else []
PAPER = "report" if REPORT == "all" else REPORT
NAMES = shlex.split(str(config.get("notebooks") or ""))  # those to be executed; all if there is none
MARKS = f"build/{PROFILE}/marks"
RUNS = shlex.split(str(config.get("runs") or ""))  # a batch of own runs: "mnist --dataset digits --degree 3 --random-state 0:30"
TABLE = str(config.get("table", "build/runs/table.csv"))  # where the table of the batch goes
BATCH, PARTS = runs.planned(RUNS) if RUNS else (None, [])
PYTHON = sys.executable
ON_ONE_CORE = ("references", "course", "seeds", "multiclass", "algorithm", "data")
DOCUMENT = ["study/report/document.py", "study/report/report.html", "study/report/math.woff2", "study/report/report.typ", "study/report/refs.bib", "study/chapters.py"]


def drop(files, *marks):
    """Where one of the files has been deleted, remove their mark and those of what is made from them: all is made again.

    A mark that is missing is not enough: Snakemake makes it again only if what is asked for is missing or older, too.
    """
    if not all(path.exists() for path in files):
        for mark in marks:
            mark.unlink(missing_ok=True)


DOCUMENTS = [mark for mark in Path("build").glob("*/marks/*") if mark.suffix in (".html", ".pdf")]
LAST = [Path(MARKS, "executed"), *(mark for mark in DOCUMENTS if mark.parent == Path(MARKS))]
drop(chapters.files(PROFILE), *LAST)
for name in chapters.EXPERIMENTS if PROFILE == "full" else ():
    stored = [path for each in chapters.experiments(name) for path in each.stored_files()]
    drop(stored, Path(MARKS, f"{name}.computed"), Path(MARKS, "claims.computed"), *LAST)
for mark in DOCUMENTS:
    drop([mark.parents[1] / mark.name], mark)


def computation(wildcards):
    """The source files and the data files of an experiment, which are here first; the ledger needs all others' results."""
    found, paths = chapters.experiments(wildcards.experiment), {f"{MARKS}/data"}
    for each in found:
        paths.update(each.source_files())
        for name in each.datasets(each.published):
            paths.update(path for file in datasets.DATASETS[name].files if (path := datasets.find(file)))
    if wildcards.experiment == "claims":
        paths.update(f"{MARKS}/{name}.computed" for name in chapters.EXPERIMENTS if name != "claims")
        paths.update(f"data/published/{name}.csv" for name in glob_wildcards("data/published/{name}.csv").name)
    return sorted(map(str, paths))


def sources(wildcards):
    """All that notebooks are made from; the command finds out which of them a change concerns."""
    folders = {"kp": "*.py", "study": "**/*.py", "notebooks": "*.ipynb", "data/published": "*.csv"}
    paths = [path for folder, pattern in folders.items() for path in Path(folder).glob(pattern)]
    computed = [f"{MARKS}/{name}.computed" for name in chapters.EXPERIMENTS] if PROFILE == "full" else []
    return sorted(map(str, [*paths, "study/style.mplstyle", "data/registry.toml", *computed]))


rule report:
    input:
        [f"build/full/marks/{name}.html" for name in ("report", "ledger")],
        "build/quick/marks/report.html" if PROFILE == "quick" else [],


rule pdf:
    input: f"build/full/marks/{PAPER}.pdf"


rule data:
    # All files first, in one job: what cannot be had is said once, before anything is computed.
    output: touch("build/full/marks/data")
    shell: "{PYTHON:q} -m study.datasets fetch --fail-fast"


rule document:
    # The report of the study is made from the executed notebooks as committed; profile full executes them again first.
    input:
        f"{MARKS}/executed" if PROFILE == "full" else [each.target("full") for each, _ in chapters.report("full", REPORT, web=True)],
        DOCUMENT,
    params:
        facts=chapters.title_page("full", REPORT),
        target=lambda wildcards: f"build/full/{PAPER}.{wildcards.kind}",
    output: touch(f"build/full/marks/{PAPER}." + "{kind,html|pdf}")
    shell: "{PYTHON:q} -m study report --kind {wildcards.kind:q} --profile full --report {REPORT:q} {CODE:q} --target {params.target:q}"


rule ledger:
    input:
        f"{MARKS}/claims.computed" if PROFILE == "full" else [],
        [f"data/results/{name}.csv" for name in ("claims", "claims_statements")],
        "study/report/ledger.py", "study/report/ledger.html",
    output: touch("build/full/marks/ledger.html")
    shell: "{PYTHON:q} -m study ledger --target build/full/ledger.html"


rule quick_document:
    input: f"{MARKS}/executed", DOCUMENT,
    output: touch("build/quick/marks/report.html")
    shell: "{PYTHON:q} -m study report --profile quick --target build/quick/report.html"


rule experiment:
    # Those that use one core run two at a time, before the others, which use both; the memory keeps large ones apart.
    # Data files that are not here yet are downloaded by the command, which verifies all of them in any case.
    input: computation,
    output: touch("build/{profile}/marks/{experiment}.computed")
    params: recompute=RECOMPUTE
    threads: lambda wildcards: 1 if wildcards.experiment in ON_ONE_CORE else 2
    priority: lambda wildcards: 2 if wildcards.experiment in ON_ONE_CORE else 1
    resources: mem_mb=lambda wildcards: 5000 if wildcards.experiment in ON_ONE_CORE else 9000
    shell: "{PYTHON:q} -m study run {wildcards.experiment:q} {params.recompute}"


rule notebooks:
    # One command for all: it imports the study once, and gives each notebook a process and a kernel of its own.
    input: sources,
    output: touch("build/{profile}/marks/executed")
    params: changed="" if RECOMPUTE else "--changed"
    threads: 2
    priority: 1
    resources: mem_mb=6000
    shell:
        "{PYTHON:q} -m study notebook {NAMES:q} --profile {wildcards.profile:q} --jobs {threads} {params.changed}"


# A batch of own runs: each job is one part of it, runs that differ in their seed only and share kernel rows. What a job has
# computed is kept under build/results by its settings, so nothing is computed twice, whoever asks for it.
rule runs:
    input: TABLE if RUNS else []


rule runs_part:
    input: BATCH.source_files() if BATCH else []
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


# In place of Snakemake's own lock, which a run that is killed leaves behind (profiles/default/config.yaml).
HELD = []


onstart:
    HELD.append(lock.hold("build/run.lock", "one process alone can run the study in this folder"))
