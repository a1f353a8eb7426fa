"""Content that a document takes from its notebooks: words, formulas, tables, code, and the pictures that they hold.

Nothing else, whoever wrote them. pandoc reads their text without raw HTML, TeX and Typst, and no file. What is left that
a reader of the document could run or load is taken away here: attributes (browsers run those like onclick, Typst those like
typst:text:fill), links that lead neither into the document nor to the web, pictures from files and addresses.
"""

import base64
import json
import re
from itertools import zip_longest
from pathlib import Path

from study.report import played

# Markdown as Jupyter reads it, with pandoc's captions and attributes; "@" stays an ordinary character.
MARKDOWN = (
    "markdown-citations-yaml_metadata_block-blank_before_header-subscript-superscript-example_lists"
    "+lists_without_preceding_blankline-raw_html-raw_attribute-raw_tex"
)
LINK = re.compile(r"#|https?://|mailto:", re.IGNORECASE)
WIDTH = re.compile(r"\d+(px|%)")
PANEL = re.compile(r"panel-\d+")
CODE = "Code"
"""The name of a fold with code."""


# One "column" a character: pandoc gives tables wider than this fixed relative widths, which none should have.
OPTIONS = ["--standalone", "--toc", "--toc-depth=2", "--columns=100000"]


def parsed(text, form, folder):
    """A text in Markdown as pandoc's document, in JSON, with what a document takes from it.

    form : "html" or "typst". folder has the pictures of the notebooks. In the text, a div of the class "box" is framed, one
    of the class "front" is the first page, one of the class "folded" is folded under the name that its label says, with the
    code that follows, and one of the class "contents" stands for the contents. A span of the class "asked" is the button of
    the panel that its label names, and a div of the class "played" stands for the run below its figure. A table on a page
    scrolls inside itself.
    Raises ValueError for a picture that is not in folder.
    """
    import pypandoc

    document = json.loads(pypandoc.convert_text(text, "json", format=MARKDOWN, extra_args=OPTIONS, sandbox=True))
    (document["blocks"],) = _Taken(form, Path(folder)).list(document["blocks"])
    return json.dumps(document)


class _Taken:
    """Takes what it may from the nodes of pandoc's document: each method gives a list of the nodes that stand for one."""

    def __init__(self, form, folder):
        self.form = form
        self.folder = folder
        self.pictures = {path.name for path in folder.glob("*.png")} | {path.name for path in folder.glob("*.svg")}

    def list(self, nodes):
        """A list: of attributes (name, classes, pairs) only the widths and labels; of any other what its nodes become."""
        if len(nodes) == 3 and [type(each) for each in nodes] == [str, list, list]:
            name, classes, pairs = nodes
            kept = [[key, value] for key, value in pairs if key == "label" or (key == "width" and WIDTH.fullmatch(value))]
            return [[name, classes, kept]]
        nodes = [each for node in _joined(nodes) for each in self.node(node)]
        return [_leading(nodes) if self.form == "typst" else nodes]

    def node(self, node):
        if isinstance(node, list):
            return self.list(node)
        if not isinstance(node, dict):
            return [node]
        if node.get("t") in ("RawBlock", "RawInline"):
            raise ValueError(
                f"expected no raw {node['c'][0]} in the text of a notebook, got {node['c'][1][:80]!r}; remove it"
            )
        node = {key: self.node(value)[0] for key, value in node.items()}
        taken = {"Div": self.div, "Span": self.span, "Link": self.link, "Image": self.image, "Table": self.table}
        return taken.get(node.get("t"), lambda same: [same])(node)

    def div(self, node):
        (_, classes, pairs), blocks = node["c"]
        if "contents" in classes:
            return [_raw("typst", "#contents()")] if self.form == "typst" else []
        if "played" in classes:
            return [_raw("html", played.place())] if self.form == "html" else []
        if {"box", "front"} & set(classes) and self.form == "typst":
            frame = "#framed[" if "box" in classes else "#first["
            return [_raw("typst", frame), *blocks, _raw("typst", "]")]
        if "folded" in classes:
            label = dict(pairs).get("label", CODE)
            start = "<details>" if label == CODE else '<details class="solution">'
            summary = [_raw("html", "<summary>"), {"t": "Plain", "c": [{"t": "Str", "c": label}]}]
            return [_raw("html", start), *summary, _raw("html", "</summary>"), *blocks, _raw("html", "</details>")]
        return [node]

    def span(self, node):
        (_, classes, pairs), words = node["c"]
        name = dict(pairs).get("label", "")
        if "asked" not in classes or not PANEL.fullmatch(name):
            return [node]
        spoken = ' aria-label="what was checked"' if words == [{"t": "Str", "c": "\N{CHECK MARK}"}] else ""
        start = f'<button popovertarget="{name}"{spoken}>'
        return [_raw("html", start, "Inline"), *words, _raw("html", "</button>", "Inline")]

    def link(self, node):
        _, words, (address, _) = node["c"]
        return [node] if LINK.match(address) else words

    def table(self, node):
        return [{"t": "Div", "c": [["", ["scroll"], []], [node]]}] if self.form == "html" else [node]

    def image(self, node):
        attributes, words, (address, title) = node["c"]
        if address not in self.pictures:
            raise ValueError(
                f"expected pictures that are stored in the notebook, got {address!r}; "
                "paste it into a text cell, or let a code cell show it"
            )
        address = _data(self.folder / address) if self.form == "html" else address
        return [{"t": "Image", "c": [attributes, words, [address, title]]}]


def _joined(nodes):
    """The nodes, with folded code that follows folded code in the same fold."""
    joined = []
    for node in nodes:
        if joined and _is_code(joined[-1]) and _is_code(node):
            attributes, blocks = joined[-1]["c"]
            joined[-1] = {"t": "Div", "c": [attributes, [*blocks, *node["c"][1]]]}
        else:
            joined.append(node)
    return joined


def _leading(nodes):
    """Keep a paragraph in bold with what follows on one page, and one that ends with a colon with its formula."""
    found = []
    for node, after in zip_longest(nodes, nodes[1:]):
        last = node["c"][-1] if _is(node, "Para") else None
        title = _is(last, "Strong") and len(node["c"]) == 1
        leads = title or (_is(last, "Str") and last["c"].endswith(":") and _is_formula(after))
        found += [_raw("typst", "#leading["), node, _raw("typst", "]")] if leads else [node]
    return found


def _is(node, kind):
    return isinstance(node, dict) and node.get("t") == kind


def _is_formula(node):
    return _is(node, "Para") and len(node["c"]) == 1 and _is(node["c"][0], "Math")


def _is_code(node):
    if not isinstance(node, dict) or node.get("t") != "Div":
        return False
    _, classes, pairs = node["c"][0]
    return "folded" in classes and ["label", CODE] in pairs


def _raw(form, text, kind="Block"):
    return {"t": f"Raw{kind}", "c": [form, text]}


def _data(picture):
    """A picture as an address that holds it: as a separate image, its names do not meet those of the page."""
    kind = {".svg": "image/svg+xml", ".png": "image/png"}[picture.suffix]
    return f"data:{kind};base64,{base64.b64encode(picture.read_bytes()).decode()}"
