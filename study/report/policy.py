"""The security policy of a page: it loads nothing, sends nothing, and runs its own script only."""

import base64
import hashlib

PLACE = '<meta http-equiv="Content-Security-Policy" content="">'
"""Head of a page's template."""


def sealed(page, other=""):
    """The page with its policy, which the browser keeps. Its own script is the last, if it has one; other: one more that may
    run, or ""."""
    _, has_own, last = page.rpartition("\n<script>")
    own = last.partition("</script>")[0] if has_own else ""
    allowed = " ".join(map(_digest, filter(None, (own, other)))) or "'none'"
    rules = (
        "default-src 'none'",
        "img-src data:",
        "font-src data:",
        "style-src 'unsafe-inline'",
        f"script-src {allowed}",
        "base-uri 'none'",
        "form-action 'none'",
    )
    before, place, after = page.partition(PLACE)
    if not place:
        raise ValueError(f"expected {PLACE} in the head of the page, got none; add it to its template")
    return f'{before}{PLACE[:-2]}{"; ".join(rules)}">{after}'


def _digest(script):
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"
