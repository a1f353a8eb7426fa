"""What the study puts out, for whoever checks it: the figures as a table, all files in forms of CODECHECK and RO-Crate."""

import hashlib
import json
import re
from pathlib import Path

import pandas as pd
import yaml

from study import ROOT, chapters, costs, store

CODECHECK, CRATE = ROOT / "codecheck.yml", ROOT / "ro-crate-metadata.json"
FORMATS = {".csv": "text/csv", ".svg": "image/svg+xml"}


def table(profile):
    """A DataFrame with a row for each figure of a profile, in the order of the plan.

    Columns: figure (its label), file, chapter, function (that drew it), notebook (executed), results (the
    tables that the chapter's experiments have stored, separated by blanks).
    """
    rows = []
    for chapter in chapters.chapters(profile):
        notebook = chapter.target(profile).relative_to(ROOT).as_posix()
        experiments = [each for name in chapter.experiments for each in chapters.experiments(name)]
        tables = {path.relative_to(ROOT).as_posix() for each in experiments for path in each.stored_files()}
        results = " ".join(sorted(path for path in tables if path.endswith(".csv")))
        for name in chapter.figures:
            path = chapters.FIGURES[profile] / f"{chapter.name}-{name}.svg"
            drawn_by = re.search(r"<dc:source>(.+?)</dc:source>", path.read_text(encoding="utf-8"))
            if not drawn_by:
                raise ValueError(
                    f"{path}: expected a figure that names the function that drew it, got one without; begin it with "
                    "study.style.canvas, in a function of the chapter's figures.py"
                )
            rows.append((chapter.label(name), path.name, chapter.name, drawn_by[1], notebook, results))
    return pd.DataFrame(rows, columns=["figure", "file", "chapter", "function", "notebook", "results"])


def outputs(figures):
    """(file, how it is made) of every table of results, and of every figure of `table("full")`."""
    experiments = [each for name in chapters.EXPERIMENTS for each in chapters.experiments(name)]
    files = {path.relative_to(ROOT).as_posix(): _command(each) for each in experiments for path in each.stored_files()}
    tables = [(path, f"made by: {command}") for path, command in files.items() if path.endswith(".csv")]
    for chapter in chapters.EXPERIMENTS:
        path = costs.path(chapter)
        if path in costs.files():
            tables.append((path.relative_to(ROOT).as_posix(), f"made by: python -m study run {chapter} --recompute"))
    folder = chapters.FIGURES["full"].relative_to(ROOT).as_posix()
    pictures = [
        (
            f"{folder}/{row.file}",
            f"{row.figure} of {row.notebook}; made by: python -m study notebook {row.chapter} --profile full",
        )
        for row in figures.itertuples()
    ]
    return tables + pictures


def _command(experiment):
    cost = costs.words(experiment.chapter, experiment.name)
    return f"{experiment.command} ({cost})" if cost else experiment.command


def codecheck(outputs):
    """The text of codecheck.yml (CODECHECK's configuration file, version 2.0): every output with how it is made."""
    citation = _citation()
    page = {
        "version": "https://codecheck.org.uk/spec/config/2.0/",
        "paper": {name: citation[name] for name in ("title", "authors")},
        "manifest": [{"file": file, "comment": comment} for file, comment in outputs],
    }
    return "---\n" + yaml.safe_dump(page, sort_keys=False, allow_unicode=True, width=1000)


def crate(outputs):
    """The text of ro-crate-metadata.json (RO-Crate): every output with how it is made, its format and its SHA-256."""
    from rocrate.rocrate import ROCrate

    citation, found = _citation(), ROCrate()
    found.name, found.description = citation["title"], "Tables of results and figures of the study."
    found.license, found.datePublished = f"https://spdx.org/licenses/{citation['license']}", citation["date-released"]
    for file, comment in outputs:
        digest = hashlib.sha256((ROOT / file).read_bytes()).hexdigest()
        facts = {"description": comment, "encodingFormat": FORMATS[Path(file).suffix], "sha256": digest}
        found.add_file(str(ROOT / file), file, properties=facts)
    return json.dumps(found.metadata.generate(), indent=1, ensure_ascii=False) + "\n"


def _citation():
    return yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))


def write(profile):
    """Write the table of a profile beside its figures, once all of them are there, and with those of the report the lists
    for CODECHECK and RO-Crate."""
    if all(path.exists() for path in chapters.files(profile) if path.suffix == ".svg"):
        figures = table(profile)
        store.write(chapters.manifest(profile), figures.to_csv(index=False))
        if profile == "full":
            made = outputs(figures)
            store.write(CODECHECK, codecheck(made))
            store.write(CRATE, crate(made))
