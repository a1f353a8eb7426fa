"""The study from the command line.

python -m study run EXPERIMENT   compute what is missing of an experiment and write its result tables
python -m study run EXPERIMENT --degree 3 --random-state 0:30   a batch of own runs, as one table (study.results.runs)
python -m study stamp            recompute a sample of each stale result, and mark those that came out equal as up to date
python -m study notebook NAME    execute notebooks of a profile; all of them if none is named
python -m study gather           write what all executed notebooks together give: the table of figures, README's results
python -m study papermill ...    run papermill with its own arguments, and fill in the {eval} expressions of the text
python -m study list             list the notebooks of a profile, with the seconds that each took in a batch here
python -m study report           make the report of the executed notebooks (--kind html or pdf)
python -m study ledger           write the ledger as a page that can be filtered
python -m study claim ID         recompute one row of the ledger: published, ours, interval, verdict, and where it is argued
python -m study check FILE       compare a notebook that was handed in with its source, ask, run it again in a sandbox,
                                 and report what is not reproduced; for a folder, write a table
python -m study held             count the stored results and executed cells that only their hashes check
"""

import argparse
import gc
import os
import sys
from functools import partial
from pathlib import Path

from study import BUILD, chapters, failures
from study.datasets import DataError
from study.results import costs, store
from study.results.store import StaleResult

GARBAGE = 50_000
"""New objects after which Python collects garbage, here and in kernels. Its default, 700, takes a tenth of the time."""

DIFFERS = 1
CANNOT = 2
NOT_RUN = 3
OWN = 4
NOT_EXECUTED = 5
"""The exit codes of check."""
VERDICTS = {
    0: "reproduced",
    DIFFERS: "not reproduced",
    CANNOT: "cannot be run",
    NOT_RUN: "not run",
    OWN: "reproduced, with parts of the author's own",
    NOT_EXECUTED: "not executed, so there are no results to compare",
}


def main(arguments=None):
    """Run one command; returns the exit code."""
    gc.set_threshold(GARBAGE)
    parser = argparse.ArgumentParser(prog="python -m study", description="The study from the command line.")
    commands = parser.add_subparsers(dest="command", required=True)

    def add(command, text, **options):
        told = {"help": text, "description": f"{text[0].upper()}{text[1:]}."} | options
        return commands.add_parser(command, **told)

    run = add("run", "compute an experiment at published scale and write its tables", add_help=False)
    run.add_argument("-h", "--help", action="store_true", help="show this help and the options of the named experiment")
    run.add_argument(
        "experiment", nargs="?", help=f"one of {', '.join(chapters.ROOMS)}, or one of its tables, such as tables.kernel"
    )
    run.add_argument("--recompute", action="store_true", help="ignore stored results")
    batch = run.add_argument_group(
        "a batch of your own runs",
        "any field of the experiment's settings is an option, as in --degree 2,3 --random-state 0:30 (0 to 29); all "
        "combinations are run",
    )
    batch.add_argument("--stratified", action="store_true", help="random subsets of n_train examples, drawn with the seed")
    batch.add_argument("--table", help="table of the experiment (default: its first)")
    batch.add_argument("--target", type=Path, help="CSV file to write (default: build/runs/EXPERIMENT.csv)")
    batch.add_argument("--part", type=int, metavar="I", help="compute only this part of the batch, and write no table")
    batch.add_argument(
        "--shares", type=int, metavar="N", help="split a single large run over machines: parts 0 to N-1 learn, and when "
        "all of them are done, parts N to 2N-1 count (mnist)",
    )  # fmt: skip
    stamping = add("stamp", "recompute a sample of each stale result, and mark those that came out equal as up to date")
    stamping.add_argument("names", nargs="*", metavar="EXPERIMENT", help="such as tables.kernel (default: all)")
    stamping.add_argument(
        "--jobs", type=int, default=os.cpu_count(), help="single-core experiments to run at a time (default: all processors)"
    )
    stamping.add_argument("--dry-run", action="store_true", help="name stale results and notebooks; compute nothing")
    notebook = add("notebook", "execute notebooks of a profile")
    notebook.add_argument("names", nargs="*", metavar="name", help="as shown by 'list' (default: all)")
    notebook.add_argument("--jobs", type=int, help="notebooks to run at a time (default: 1)")
    add("gather", "write the table of figures, README's results, and the times of computations")
    listing = add("list", "list the notebooks of a profile, with the seconds that each took in a batch here")
    document = add("report", "make the report of the executed notebooks")
    document.add_argument("--kind", choices=("html", "pdf"), default="html", help="default: html")
    document.add_argument("--target", type=Path, help="file to write (default: build/PROFILE/report.KIND, or REPORT.KIND)")
    document.add_argument("--report", choices=chapters.REPORTS, default="all", help="all, or one source (default: all)")
    document.add_argument(
        "--sheet", choices=("exercises", "solutions"), default="", help="only the exercises, or these with their solutions"
    )
    document.add_argument("--code", action="store_true", help="show the code of all cells")
    document.add_argument("--notebooks", nargs="+", type=Path, metavar="FILE", help="executed notebooks instead of a report")
    add("papermill", "run papermill and fill in the {eval} expressions of the text", add_help=False)
    page = add("ledger", "write the ledger as a page that can be filtered")
    target = BUILD / "full" / "ledger.html"
    page.add_argument("--target", type=Path, default=target, help="HTML file to write (default: build/full/ledger.html)")
    row = add("claim", "recompute one row of the ledger from the stored results behind it")
    row.add_argument("key", metavar="ID", help="as in the ledger, such as hermans-2021/abstract/average/test-error")
    handed_in = add(
        "check",
        "run a notebook that was handed in, and compare its results",
        description="Compare a notebook that was handed in with its source, run it again, and compare the results. This "
        "runs untrusted code: you see it first, you have to confirm, and it runs in a sandbox (bubblewrap) if there is one. "
        f"Exit codes: {'; '.join(f'{code} {words}' for code, words in VERDICTS.items())}.",
    )
    handed_in.add_argument("notebook", type=Path, help="a notebook, or a folder of notebooks")
    handed_in.add_argument("--target", type=Path, help="CSV file for the table of a folder (default: build/checks.csv)")
    handed_in.add_argument("--jobs", type=int, default=2, help="notebooks of a folder to run at a time (default: 2)")
    handed_in.add_argument("--yes", action="store_true", help="run without asking")
    handed_in.add_argument("--timeout", type=_positive, default=600, help="seconds for each notebook (default: 600)")
    handed_in.add_argument("--unprotected", action="store_true", help="allow the run if there is no sandbox")
    add("held", "count the executed cells and stored results that are checked only by their hashes")
    for sub in (notebook, listing, document):
        sub.add_argument("--profile", choices=chapters.PROFILES, default="quick", help="default: quick")
    options, rest = parser.parse_known_args(arguments)
    if rest and options.command not in ("run", "papermill"):
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    options.settings = rest
    try:
        if options.command == "papermill":
            return _papermill((sys.argv[1:] if arguments is None else arguments)[1:])
        if options.command == "run" and (options.help or not options.experiment):
            return _help(run, options)
        commands = {"run": _run, "notebook": _notebook, "list": _list, "report": _report, "ledger": _ledger, "claim": _claim}
        return (commands | {"gather": _gather, "stamp": _stamp, "check": _check, "held": _held})[options.command](options)
    except BrokenPipeError:
        raise
    except (DataError, StaleResult, ValueError, RuntimeError, OSError) as error:
        print(f"study: {failures.words(error)}", file=sys.stderr)
        return 1


def _positive(text):
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, got {number}")
    return number


def _help(parser, options):
    """Show the options of `run`, and those of an experiment that is named."""
    from study.results import runs

    named = options.experiment and runs.described(runs.find(options.experiment, stratified=options.stratified))
    parser.print_help()
    if named:
        print(f"\noptions of {options.experiment}, with their defaults:\n{named}")
    return 0 if options.help else 2


def _run(options):
    if options.settings or options.stratified:
        return _batch(options)
    if alone := _given(options, "table", "target", "part", "shares"):
        raise ValueError(
            f"{alone}: only a batch of your own runs has this option; add settings, such as those that "
            f"'python -m study run {options.experiment} --help' shows"
        )
    chapter, _, name = options.experiment.partition(".")
    found = [each for each in chapters.experiments(chapter) if not name or each.name == options.experiment]
    if not found:
        known = ", ".join(each.name for each in chapters.experiments(chapter))
        raise ValueError(f"experiment must be one of {known}, got {options.experiment!r}")
    for each in found:
        each.publish(recompute=options.recompute, progress=sys.stderr.isatty())
    return 0


def _stamp(options):
    """Stamp stale results, one line each; 1 if some have to be computed (in a dry run: if some are stale)."""
    from study.results import stamp

    found = {each.name: each for each in chapters.all_experiments()}
    if unknown := set(options.names) - found.keys():
        raise ValueError(f"EXPERIMENT: {', '.join(sorted(unknown))} not found; 'python -m study run --help' lists them")
    stale = [each for name, each in found.items() if not each.is_fresh() and name in (options.names or found)]
    if options.dry_run:
        from study.report.origin import is_current

        notebooks = [each.name for each in chapters.chapters("full") if not is_current(each, "full")]
        for kind, names in {"results": [each.name for each in stale], "executed notebooks": notebooks}.items():
            print(f"stale {kind} ({len(names)}): {', '.join(names) or 'none'}")
        return int(len(stale) > 0)
    left = 0
    for place, (name, outcome, seconds) in enumerate(stamp.stamp_all(stale, jobs=options.jobs), start=1):
        left += outcome not in (stamp.FRESH, stamp.STAMPED)
        print(f"[{place}/{len(stale)}] {name}: {outcome} ({seconds:.0f} s)", flush=True)
    print(f"{left} to be computed" if left else "all results are up to date")
    return int(left > 0)


def _given(options, *names):
    """Those of some options that were typed, as text."""
    return ", ".join(f"--{name}" for name in names if getattr(options, name) is not None)


def _batch(options):
    from study.results import runs, shares

    experiment = runs.find(options.experiment, stratified=options.stratified)
    found = runs.settings(experiment, options.settings)
    if options.recompute:
        raise ValueError("--recompute: a batch of your own runs keeps its results; remove --recompute or the settings")
    if options.shares is None:
        parts = [partial(_kept, experiment, part) for part in runs.parts(found)]
    else:
        waits = shares.waits(experiment, found, options.shares)
        parts = [partial(shares.compute, experiment, *found, options.shares, part) for part in range(len(waits))]
        experiment = shares.shared_out(experiment, options.shares)
    if options.part is not None:
        return _part(options, parts)
    target = options.target or BUILD / "runs" / f"{options.experiment}.csv"
    if options.target and not target.parent.is_dir():
        raise ValueError(f"--target: the folder {target.parent} does not exist; create it first")
    runs.check_target(target)
    replaced = ", which replaces an earlier table" if target.exists() else ""
    rows = runs.table(experiment, found, options.table, progress=sys.stderr.isatty())
    store.write_table(target, rows, experiment.provenance(found), _command(options))
    summary = runs.summary(rows, found)
    if summary is not None:
        print("Errors on the test examples, after the last epoch or as validation has chosen:")
        shown = summary.astype(object).where(summary.notna(), "-")
        print(shown.to_string(index=False, float_format="{:.1f}".format))
    print(f"{len(found)} run{'s' * (len(found) > 1)}, {len(rows):,} rows: {os.path.relpath(target)}{replaced}", flush=True)
    return 0


def _kept(experiment, runs):
    """Compute those of these runs that are not kept yet, and return what is kept now, as words."""
    earlier = len(experiment.known(runs))
    experiment(runs)
    return f"{len(runs)} {'runs are' if len(runs) > 1 else 'run is'} kept, {earlier} from before"


def _part(options, parts):
    """Compute one of the parts of a batch, functions; it is kept for the table."""
    if others := _given(options, "table", "target"):
        raise ValueError(
            f"{others}: a part of a batch writes no table; when all parts are done, run the command without --part"
        )
    if options.part not in range(len(parts)):
        raise ValueError(f"--part: this batch has the parts 0 to {len(parts) - 1}, got {options.part}")
    kept = parts[options.part]() or "its arrays are kept"
    print(f"part {options.part} of 0 to {len(parts) - 1} is done: {kept}", flush=True)
    return 0


def _command(options):
    """The command of a batch as it was typed, except the path of its table."""
    chosen = ["--stratified"] * options.stratified + (["--table", options.table] if options.table else [])
    return " ".join(["python -m study run", options.experiment, *options.settings, *chosen])


def _list(options):
    for chapter in chapters.chapters(options.profile):
        seconds = costs.last_seconds(options.profile, chapter.name)
        print(f"{chapter.name:24}{seconds:6.0f} s" if seconds else chapter.name)
    return 0


def _notebook(options):
    names = options.names or [chapter.name for chapter in reversed(chapters.chapters(options.profile))]
    found = [chapters.chapter(name, options.profile) for name in names]
    from study.report import executions

    if len(found) > 1 or options.jobs:
        return executions.execute_all(dict.fromkeys(names), options.profile, options.jobs or 1)
    executions.execute(found[0], options.profile)
    print(f"{names[0]}: executed", flush=True)
    return 0


def _gather(options):
    from study.report import manifest, readme

    manifest.write()
    readme.write()
    costs.keep()
    return 0


def _papermill(arguments):
    """Run papermill with its own arguments; its exit code."""
    from study.report import own_run

    try:
        return own_run.run(arguments)
    except failures.KernelDied as error:
        print(f"study: {error}", file=sys.stderr)
        return own_run.DEAD_KERNEL


def _report(options):
    from study.report import document

    profile = options.profile
    name = options.report
    found = chapters.report(profile, name, web=options.kind == "html" and not options.sheet)
    sources = [document.Source(each.target(profile), number, each.title, own=True) for each, number in found]
    if options.notebooks:
        sources = [document.Source(path, str(place)) for place, path in enumerate(options.notebooks, start=1)]
    stem = "-".join(filter(None, ["report" if name == "all" else name, options.sheet]))
    target = _ending(options.target or BUILD / profile / f"{stem}.{options.kind}", f".{options.kind}")
    write = {"html": document.html, "pdf": document.pdf}[options.kind]
    listing = () if options.notebooks or options.sheet else chapters.listing(name)
    own = {"title": document.heading(options.notebooks[0]), "author": ""} if options.notebooks else {}
    facts = chapters.title_page(profile, name, **own)
    if options.sheet:
        sources = [each for each in sources if each.number]
        facts["title"] = f"{facts['title']}: {options.sheet}"
    elif options.kind == "html" and (profile, name) == ("full", "all") and not options.notebooks:
        facts["ledger"] = "ledger.html"
    lacking = write(
        sources, target, code=options.code, report="" if options.notebooks else name, sheet=options.sheet, listing=listing,
        **facts,
    )  # fmt: skip
    if lacking:
        print(
            f"study: no font here has the characters {' '.join(lacking)}, which are boxes in the PDF; install one that has "
            "them, such as Noto Sans CJK for Chinese, Japanese and Korean, or write them in other letters",
            file=sys.stderr,
        )
    what = {"quick": "the notebooks executed on bundled data", "full": "the study at published scale"}[profile]
    what = "the named notebooks" if options.notebooks else what
    print(f"Report: {os.path.relpath(target)} ({what})", flush=True)
    return 0


def _ending(target, suffix):
    """The target, which is replaced; ValueError unless its name says that it may be what is written there."""
    if target.suffix != suffix:
        raise ValueError(f"--target: expected a file name that ends in {suffix}, got {target}")
    return target


def _ledger(options):
    from study.report import ledger

    ledger.write(_ending(options.target, ".html"))
    print(f"Ledger: {os.path.relpath(options.target)}", flush=True)
    return 0


def _claim(options):
    """Print a row of the ledger; 1 if it could not be made again."""
    from study import one_claim

    found = one_claim.find(options.key)
    print(found)
    return int(bool(found.stale))


def _check(options):
    """Check a notebook or a folder; the last line is the verdict."""
    code = (_check_folder if options.notebook.is_dir() else _check_file)(options)
    print(f"Verdict: {VERDICTS[code]}.", flush=True)
    return code


def _check_file(options):
    from study.report import check_code, check_outputs, hand_in

    path = options.notebook
    try:
        notebook = hand_in.read(path)
        code = check_code.code(notebook)
        print(f"{hand_in.visible(path)}: {code}", flush=True)
        if not code.executed:
            return NOT_EXECUTED
        sandbox = _agreed_sandbox("this notebook", options)
        if sandbox is None:
            return NOT_RUN
        outputs = check_outputs.outputs(path, notebook, sandbox, timeout=options.timeout)
    except (hand_in.CannotRun, OSError) as error:
        print(f"study: {error}", file=sys.stderr)
        return CANNOT
    print(f"{outputs}\nIt ran {sandbox}.", flush=True)
    if outputs.differences:
        return DIFFERS
    return 0 if code.is_the_projects and not outputs.own else OWN


def _check_folder(options):
    from study.report import check_folder

    target = _ending(options.target or BUILD / "checks.csv", ".csv")
    try:
        check_folder.require_replaceable(target)
        hand_ins = check_folder.files(options.notebook)
    except ValueError as error:
        print(f"study: {error}", file=sys.stderr)
        return CANNOT

    def write():
        store.write(target, check_folder.table(hand_ins).to_csv(index=False))

    write()  # no table of another folder stays if this check is interrupted
    print(check_folder.in_short(hand_ins), flush=True)
    if unseen := check_folder.unseen(options.notebook):
        print(f"Not looked at, as they are hidden or links to folders: {', '.join(unseen)}")
    waiting = [each for each in hand_ins if each.is_to_run]
    if waiting:
        for each in waiting:
            if each.code.lines:
                print(f"\n{each.row['file']}: {each.code}", flush=True)
        sandbox = _agreed_sandbox("these notebooks", options)
        if sandbox is None:
            return NOT_RUN
        done = check_folder.run(hand_ins, sandbox, jobs=options.jobs, timeout=options.timeout)
        for number, (each, seconds) in enumerate(done, start=1):
            write()
            shown = f"{each.row['file']}: {each.row['verdict']} ({seconds:.0f} s)"
            print(f"[{number}/{len(waiting)}] {shown}", file=sys.stderr, flush=True)
        print(f"They ran {sandbox}.")
    table = check_folder.table(hand_ins)
    print(table["verdict"].value_counts().to_string())
    print(f"Table of {len(table)} files: {os.path.relpath(target)}", flush=True)
    codes = {
        check_folder.DIFFERS: DIFFERS, check_folder.CANNOT: CANNOT, check_folder.NOT_EXECUTED: NOT_EXECUTED,
        check_folder.OWN: OWN,
    }  # fmt: skip
    return next((code for verdict, code in codes.items() if verdict in set(table["verdict"])), 0)


def _agreed_sandbox(what, options):
    """The sandbox that runs the code of `what`, or None if the user does not agree to the run."""
    from study.report.sandbox import Sandbox, obstacle

    if obstacle() and not options.unprotected:
        print(f"study: {obstacle()}; to run without a sandbox, add --unprotected (make: UNPROTECTED=1)", file=sys.stderr)
        return None
    found = Sandbox(protected=not obstacle())
    print(f"study: the code of {what} will run next with your permissions, {found}: {found.meaning}.", file=sys.stderr)
    return found if options.yes or _agreed() else None


def _agreed():
    """Whether the user says yes to running a notebook; without a terminal nobody can."""
    if not sys.stdin.isatty():
        print("study: no terminal to ask for your consent; add --yes (make: YES=1)", file=sys.stderr)
        return False
    print("Run it? [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _held(options):
    import json

    from study.report import origin

    plan = chapters.chapters("full")
    found = [json.loads(chapter.target("full").read_text(encoding="utf-8")) for chapter in plan]
    cells = sum(cell["cell_type"] == "code" for notebook in found for cell in notebook["cells"])
    files = sum(len(each.stored_files()) for each in chapters.all_experiments())
    print(
        f"Only hashes of code, data and parameters were checked for {cells} cells of {len(found)} executed notebooks and "
        f"{files} stored results; 'make test-all' runs the notebooks again and recomputes a part of every experiment."
    )
    edited = [(each, where) for each, notebook in zip(plan, found, strict=True) if (where := origin.difference(notebook))]
    for each, where in edited:
        path = os.path.relpath(each.target("full"))
        remedy = f"execute it again: python -m study notebook {each.name} --profile full"
        print(f"study: {path}: {where}; {remedy}", file=sys.stderr)
    return int(bool(edited))


if __name__ == "__main__":
    failures.warn_of_other_checkout()
    try:
        code = main()
        sys.stdout.flush()
    except BrokenPipeError:
        code = failures.reader_gone()
    except KeyboardInterrupt:
        if "KP_LEADER" not in os.environ:  # a batch says so for all that it has started
            print("study: interrupted; what was finished is kept", file=sys.stderr)
        code = 130  # as shells number it
    sys.exit(code)
