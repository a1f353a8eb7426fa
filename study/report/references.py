"""Works that are cited: in a source a link to #ref-key, in an executed copy the address of the work, or README's list
of sources for one that has none.

So citations lead somewhere wherever the copy is read; a document makes keys of them again, and lists what is cited.
"""

import functools
import re
from pathlib import Path

FILE = Path(__file__).with_name("refs.bib")
SOURCES = "../../README.md#sources"
"""Where works without an address are listed, seen from an executed copy."""
LINK = re.compile(r"\]\(#ref-([\w-]+)\)")


@functools.cache
def addresses():
    """{key: the address of the work}: its DOI before its page, or where none is known the list, with the key as a title."""
    found = {}
    for entry in re.split(r"^(?=@)", FILE.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        fields = dict(re.findall(r"^\s*(doi|url)\s*=\s*\{(.+?)\}", entry, re.MULTILINE))
        key = re.match(r"@\w+\{([^,\s]+)", entry)[1]
        found[key] = f"https://doi.org/{fields['doi']}" if "doi" in fields else fields.get("url", f'{SOURCES} "{key}"')
    return found


def cites(text):
    """Whether a text of a source cites a work."""
    return LINK.search(text) is not None


def addressed(text):
    """The text with the addresses of the works that it cites."""
    known = addresses()
    return LINK.sub(lambda found: f"]({known[found[1]]})" if found[1] in known else found[0], text)


def keyed(text):
    """The text with keys again."""
    keys = {address: key for key, address in addresses().items()}
    return re.sub(r"\]\(([^()]+)\)", lambda found: f"](#ref-{keys[found[1]]})" if found[1] in keys else found[0], text)
