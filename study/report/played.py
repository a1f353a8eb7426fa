"""The figure that a page lets its reader play with: the still picture, and below it the same run to move through.

The picture is in every form of the report; where scripts run, the page has a slider, too. The script is one file, played.js,
and its data come from the room of the figure when the page is written.
"""

import json
from html import escape
from pathlib import Path

FIGURE = "figures/algorithm-surfaces"
"""Its files, without ending."""
SCRIPT = Path(__file__).with_name("played.js")
BELOW = "\n\n::: played\n:::"
"""Markdown of what is below the figure."""


def place():
    """The element of a page in which the script plays, with the data; hidden until it does."""
    from study.algorithm import played  # with kp, which no other page needs

    return f'<div class="played" hidden data-run="{escape(json.dumps(played.run(), separators=(",", ":")))}"></div>'


def with_script(page):
    """(page, script): the page with the script at its end, and the script, if it has something to play."""
    script = SCRIPT.read_text(encoding="utf-8") if " data-run=" in page else ""
    before, end, after = page.rpartition("\n<script>")
    return (f"{before}\n<script>{script}</script>{end}{after}" if script else page), script
