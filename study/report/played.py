"""Figures that a page lets its reader play with: a still picture, and below it the same run to move through.

The picture is in every form of the report; where scripts run, the page has a slider, too. The script is one file, played.js,
and its data come from the room of the figure when the page is written.
"""

import importlib
import json
from html import escape
from pathlib import Path

FIGURES = {"figures/algorithm-surfaces": "study.algorithm.played"}
"""The figures, by their files without ending, and the modules whose run() gives the data."""
SCRIPT = Path(__file__).with_name("played.js")


def marked(stem):
    """Markdown that stands for what can be played below a figure; "" for any other figure."""
    return f'\n\n::: {{.played label="{stem}"}}\n:::' if stem in FIGURES else ""


def place(stem):
    """The element of a page in which the script plays, with the data; hidden until it does."""
    run = importlib.import_module(FIGURES[stem]).run()
    return f'<div class="played" hidden data-run="{escape(json.dumps(run, separators=(",", ":")))}"></div>'


def with_script(page):
    """(page, script): the page with the script at its end, and the script, if it has something to play."""
    script = SCRIPT.read_text(encoding="utf-8") if " data-run=" in page else ""
    before, end, after = page.rpartition("\n<script>")
    return (f"{before}\n<script>{script}</script>{end}{after}" if script else page), script
