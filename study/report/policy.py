"""The security policy of a page: it loads nothing, sends nothing, and runs its own script only."""

import base64
import hashlib

PLACE = '<meta http-equiv="Content-Security-Policy" content="">'
"""Head of a page's template."""


def sealed(page):
    """The page with its policy, which the browser keeps. Its own script is the last."""
    script = page.rpartition("\n<script>")[2].partition("</script>")[0]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    rules = (
        "default-src 'none'",
        "img-src data:",
        "font-src data:",
        "style-src 'unsafe-inline'",
        f"script-src 'sha256-{digest}'",
        "base-uri 'none'",
        "form-action 'none'",
    )
    before, place, after = page.partition(PLACE)
    if not place:
        raise ValueError(f"expected {PLACE} in the head of the page, got none; add it to its template")
    return f'{before}{PLACE[:-2]}{"; ".join(rules)}">{after}'
