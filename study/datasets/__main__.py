"""The command line of the datasets, and data/README.md, which it writes from the registry.

python -m study.datasets [list | fetch [NAME...] | verify [NAME...] | add FILE.csv --label COLUMN | readme]
"""

import argparse
import signal
import sys

from study import failures
from study.datasets import delimited, fetch, load, own
from study.datasets.registry import DATASETS, OWN_PROBLEM, PATH, DataError, read, registered

PREAMBLE = """\
# Data

This page is generated from `data/registry.toml` by `python -m study.datasets readme > data/README.md`.

`study.datasets.load(name)` looks for a file in the folder that the environment variable `KP_DATA` names, then in
`data/raw`. If it is in neither, it is downloaded into `data/raw` from the first address that has it, unless
`KP_OFFLINE=1` is set. The sha256 of a file is checked before it is parsed. Files in `KP_DATA` are never written to, and the
files themselves are not part of this repository. Values are as published: not scaled, not shuffled.

    python -m study.datasets                     # lists the sets
    python -m study.datasets fetch [NAME...]     # downloads missing files
    python -m study.datasets verify [NAME...]    # checks the files that are there, downloads nothing
    python -m study.datasets add own.csv --label target    # registers your own CSV file, in data/own.toml

Your own CSV file must be UTF-8 text: a line with the names of the columns, then a row for each example, with finite
numbers in all columns except the label column. Columns may be separated by commas, semicolons, tabs or blanks;
`--decimal ,` reads decimal commas, and `--no-header` a file without names, whose columns are called `column_1`,
`column_2`, and so on. Labels are text: `01` and `1` are different labels, and so are `NA` and `None`. A file that could
be misread is refused, and the message names the line or column and says what to do. The reasons are missing values,
words among the numbers, a first line that looks like data, columns without a name, and columns that look like row
numbers (`--keep NAME` keeps such a column).
`study.datasets.read_csv(path)` reads the same files in Python.

An address `zip#member` means a member of an archive. The sha256 of a bundled set is that of its arrays, as
`study.datasets.fingerprint` defines it. A synthetic set needs only a seed.
"""


def readme():
    """The text of data/README.md: every set's shape, licence, citation, files, sha256, addresses."""
    lines = [PREAMBLE, "| set | from | rows | test rows | features | classes |", "|---|---|---:|---:|---:|---:|"]
    found = read(PATH).values()
    for d in found:
        lines.append(
            f"| [{d.name}](#{d.name}) | {d.kind} | {d.n_train:,} | {f'{d.n_test:,}' if d.n_test else '-'} "
            f"| {d.n_features} | {len(d.classes)} |"
        )
    for d in found:
        lines += ["", f"## {d.name}", "", f"{d.title}. {d.notes}", ""]
        lines += [f"- source: {d.source}", f"- licence: {d.licence}", f"- cite: {d.citation}"]
        lines += [f"- shape: {d.n_train:,} x {d.n_features} {d.dtype}" + (f", test {d.n_test:,}" if d.n_test else "")]
        lines += [f"- split: {d.split}"] + ([f"- sha256: `{d.sha256}`"] if d.sha256 else [])
        for file in d.files:
            lines += ["", f"`{file.path}`, {file.size:,} bytes, sha256 `{file.sha256}`", ""]
            lines += [f"- <{address}>" for address in file.addresses]
    return "\n".join(lines) + "\n"


def _listing():
    """One line a set: its name, its size, how many of its files are there, right or wrong."""
    yield f"{'set':<18}{'rows':>7}{'test':>7}{'features':>9}{'classes':>8}  found"
    for d in DATASETS.values():
        found = f"{sum(fetch.find(file) is not None for file in d.files)} of {len(d.files)} files" if d.files else d.kind
        yield f"{d.name:<18}{d.n_train:>7}{d.n_test or '-':>7}{d.n_features:>9}{len(d.classes):>8}  {found}"


def main(argv=None):
    """List, fetch, verify or add datasets, or print data/README.md. Return 0, or 1 if a dataset is not available."""
    parser = argparse.ArgumentParser(prog="python -m study.datasets", description="The datasets of the study, and your own.")
    commands = parser.add_subparsers(dest="command")
    commands.add_parser("list", help="list the datasets (the default)")
    for command, text in (
        ("fetch", "download missing files"), ("verify", "check the files that are there; download nothing"),
    ):  # fmt: skip
        each = commands.add_parser(command, help=text, description=f"{text.capitalize()}.")
        each.add_argument("names", metavar="NAME", nargs="*", help="datasets; all by default")
        each.add_argument("--fail-fast", action="store_true", help="stop at the first dataset that fails")
    _add_options(commands)
    commands.add_parser("readme", help="print data/README.md")
    arguments = parser.parse_args(argv)
    if arguments.command == "readme":
        sys.stdout.write(readme())
        return 0
    try:
        if arguments.command == "add":
            options = {name: getattr(arguments, name) for name in ("separator", "decimal", "header", "keep")}
            name = own.enter(arguments.file, arguments.label, arguments.name, replace=arguments.replace, **options)
            command = f"python -m study run classes.compare --dataset {name} --repetitions 1"
            print(f"{name}: registered in data/own.toml; {command}")
            return 0
        if arguments.command in (None, "list"):
            print(*_listing(), sep="\n")
            if OWN_PROBLEM:
                print(f"your own datasets are not listed: {OWN_PROBLEM}", file=sys.stderr)
            return 0
        names = [registered(name).name for name in arguments.names] or list(DATASETS)
    except DataError as error:
        print(error, file=sys.stderr)
        return 1
    failed = 0
    for tried, name in enumerate(names, start=1):
        failed += not _report(name, download=arguments.command == "fetch")
        if failed and arguments.fail_fast and tried < len(names):
            print(f"{name} failed; {len(names) - tried} of {len(names)} sets were not tried (--fail-fast)", file=sys.stderr)
            return 1
    if failed:
        print(f"{failed} of {len(names)} sets failed", file=sys.stderr)
    return int(failed > 0)


def _add_options(commands):
    """The command that registers a CSV file."""
    add = commands.add_parser(
        "add",
        help="register your own CSV file for use in any experiment that accepts it",
        description="Register your own CSV file: UTF-8 text with a header line and a row for each example, and "
        "finite numbers in all columns except the label column. The file is copied into data/raw and described in "
        "data/own.toml.",
    )
    add.add_argument("file", metavar="FILE.csv")
    add.add_argument(
        "--label", required=True, metavar="COLUMN",
        help="name of the label column; its values are text. Without a header also its position, such as 1 or -1 (the last)",
    )  # fmt: skip
    add.add_argument("--name", help="name of the dataset (default: the name of the file)")
    add.add_argument("--replace", action="store_true", help="replace your own dataset of this name, if the file has changed")
    add.add_argument(
        "--separator",
        help=f"{', '.join(delimited.SEPARATORS)} or one character such as | (default: detected from the first rows)",
    )
    add.add_argument("--decimal", default=".", choices=list(delimited.NUMBERS), help="decimal separator (default: .)")
    add.add_argument(
        "--header", action=argparse.BooleanOptionalAction,
        help="whether the first line has the names of the columns (default: it has, and names that look like data are "
        "refused); without a header the columns are called column_1, column_2, ...",
    )  # fmt: skip
    add.add_argument(
        "--keep", action="append", default=[], metavar="COLUMN",
        help="keep an attribute that looks like row numbers or has no name (column_1, ...); can be repeated",
    )  # fmt: skip


def _report(name, *, download):
    """Obtain and verify the files of a set, then load it; print what was found. True if all was well."""
    try:
        for file in DATASETS[name].files:
            path = fetch.obtain(file, download=download)
            fetch.read(file, path)
            print(f"{name}: {path}: sha256 as registered")
        load(name, download=False)
        print(f"{name}: shape, dtype and class counts as registered")
    except DataError as error:
        print(f"{name}: {error}", file=sys.stderr)
        return False
    return True


if __name__ == "__main__":
    failures.warn_of_other_checkout()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that nothing half made stays behind
    try:
        code = main()
        sys.stdout.flush()
    except KeyboardInterrupt:
        code = "interrupted; files that were fetched whole are kept"
    except BrokenPipeError:
        code = failures.reader_gone()
    sys.exit(code)
