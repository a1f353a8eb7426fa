# The whole batch: experiments, notebooks, report. `make report` and `make pdf` call it; README.md has the plain commands.
#
# What a rule declares as output is a mark under build/, not the committed file itself: Snakemake deletes the outputs of a
# rule that fails, and a failure must not take committed results or executed notebooks with it. The commands replace those
# files in one step when they succeed, decide by fingerprints of code and data what is still good, and change no byte of
# what comes out the same; so marks may be missing, as in a fresh clone, and nothing is lost or computed twice. To compute
# everything again: --config recompute=1 with --forceall, which is what `make report PROFILE=full RECOMPUTE=1` passes.

import sys

from study import datasets
from study import chapters as batch

PROFILE = config.get("profile", "quick")
RECOMPUTE = "--recompute" if str(config.get("recompute", 0)) not in ("0", "", "False") else ""
if PROFILE not in batch.PROFILES:
    raise ValueError(f"profile must be one of {', '.join(batch.PROFILES)}, got {PROFILE!r}")

RUNS = batch.notebooks(PROFILE)
MARKS = f"build/{PROFILE}/marks"
marks = expand("{marks}/{name}.executed", marks=MARKS, name=RUNS)
PYTHON = sys.executable
SHOWN = expand("kp/{name}.py", name=glob_wildcards("kp/{name,[^/]+}.py").name)
SHOWN += expand("study/{name}.py", name=glob_wildcards("study/{name,[^/]+}.py").name) + ["study/style.mplstyle"]
OTHERS = expand("{marks}/{name}.computed", marks=MARKS, name=[name for name in batch.EXPERIMENTS if name != "claims"])
OTHERS += expand("data/published/{name}.csv", name=glob_wildcards("data/published/{name}.csv").name)


rule report:
    input: "build/full/report.html", "build/quick/report.html" if PROFILE == "quick" else []


rule pdf:
    input: "build/full/report.pdf"


rule document:
    # The report of the study is made from the executed notebooks as committed; profile full executes them again first.
    input:
        marks if PROFILE == "full" else [run.target for run in batch.notebooks("full").values()],
        "study/report.py", "study/report.html", "study/report.typ",
    params: facts=batch.title_page("full")
    output: "build/full/report.{kind,html|pdf}"
    shell: "{PYTHON} -m study report --kind {wildcards.kind} --profile full --target {output}"


rule quick_document:
    input:
        expand("build/quick/marks/{name}.executed", name=batch.notebooks("quick")),
        "study/report.py", "study/report.html",
    output: "build/quick/report.html"
    shell: "{PYTHON} -m study report --profile quick --target {output}"


rule experiment:
    # The memory keeps two of them from running together; each uses both cores.
    # Data files that are not here yet are downloaded by the command, which verifies all of them in any case.
    input:
        lambda wildcards: [f"{module.replace('.', '/')}.py" for module in batch.EXPERIMENTS[wildcards.experiment].MODULES],
        lambda wildcards: [
            path
            for name in batch.EXPERIMENTS[wildcards.experiment].DATASETS
            for file in datasets.DATASETS[name].files
            if (path := datasets.find(file))
        ],
        lambda wildcards: OTHERS if wildcards.experiment == "claims" else [],
    output: touch("build/{profile}/marks/{experiment}.computed")
    params: recompute=RECOMPUTE
    threads: 2
    resources: mem_mb=9000
    shell: "{PYTHON} -m study run {wildcards.experiment} {params.recompute}"


rule notebook:
    input:
        lambda wildcards: f"notebooks/{RUNS[wildcards.name].source}.ipynb",
        lambda wildcards: [f"{MARKS}/{name}.computed" for name in RUNS[wildcards.name].reads],
        SHOWN,
    output: touch("build/{profile}/marks/{name}.executed")
    log: "build/{profile}/logs/{name}.log"
    resources: mem_mb=3000
    shell: "{PYTHON} -m study notebook {wildcards.name} --profile {wildcards.profile} > {log} 2>&1"
