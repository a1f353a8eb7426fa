"""Everything that turns the algorithms into a report: experiments, stored results, figures, notebooks, documents."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
"""The project's folder: data, results, notebooks and figures lie below it, wherever a command is run from."""

RESULTS = ROOT / "data" / "results"
MEASURED = ROOT / "data" / "measured"
"""Times and memory of one machine: stored with the project, but no part of what must come out again."""
BUILD = ROOT / "build"
