"""The head that all pages share: their colours, and the security policy by which a page loads nothing, sends nothing, and
runs its own script only."""

import base64
import hashlib
from string import Template

HEAD = Template("""\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="$policy">
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
:root {
  color-scheme: light dark;
  --paper: #fff; --ink: #1b1f24; --quiet: #5b6570; --rule: #d5dae0; --shade: #f5f6f8; --link: #1d5a92;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #14171b; --ink: #dfe3e8; --quiet: #9aa4af; --rule: #353c45; --shade: #1d2127; --link: #7db7ec;
  }
}
</style>
""")


def sealed(page, other=""):
    """A page below the common head with its policy, which the browser keeps.

    Its own script is the last, if it has one; other: one more that may run, or "".
    """
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
    return HEAD.substitute(policy="; ".join(rules)) + page


def _digest(script):
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"
