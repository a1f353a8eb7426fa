"""Compares what a notebook that was handed in shows with what it shows when it runs again."""

import base64
import io
import re
import struct
from collections import Counter
from dataclasses import dataclass
from itertools import zip_longest

import numpy as np

from study.report import rerun
from study.report.engine import tags
from study.report.expressions import depends, unbroken
from study.report.hand_in import cut, first_difference, is_list, items, named
from study.report.notebooks import is_filled

ADDRESS = re.compile(r"(?<= at )0x[0-9A-Fa-f]{6,}(?=>|&gt;)")
"""The address in memory that Python shows of an object, as in <object at 0x7f25c1b0>."""


PLAIN = {"IHDR", "PLTE", "tRNS", "IDAT", "IEND", "pHYs", "tEXt"}
"""Types of PNG chunks that every program shows alike: none for animation or for colour correction."""


@dataclass(frozen=True)
class Outputs:
    """Outputs compared with a new run.

    own are outputs that nothing compares (stderr, pictures that are not PNG) and that the new run lacks; unfilled counts the
    text cells whose expressions have no values, as papermill alone leaves them.
    """

    differences: tuple[str, ...]
    equal_pictures: int = 0
    own: tuple[str, ...] = ()
    unfilled: int = 0

    def __str__(self):
        found = ["All numbers, tables and texts are reproduced."]
        if self.differences:
            found = ["Not reproduced:", *items(self.differences)]
        if self.equal_pictures:
            found.append(f"Pictures that are equal, pixel by pixel: {self.equal_pictures}.")
        if self.unfilled:
            found.append(
                f"Not compared: {self.unfilled} text cells without values; 'python -m study papermill' fills them in."
            )
        return "\n".join([*found, *(f"Not compared: {each}." for each in self.own)])


def outputs(path, notebook, sandbox, *, timeout):
    """The Outputs of the notebook at path, compared with a new run of it in a sandbox; the file is left as it is.

    timeout: seconds for the whole run. Raises CannotRun if it fails. Cells are counted from 1, text included.
    """
    again = rerun.cells(path, notebook, sandbox, timeout)
    filled = is_filled(notebook)
    differences, own, equal, unfilled = [], [], 0, 0
    for place, cell in enumerate(notebook.cells):
        other = again.get(place)
        if cell.cell_type == "code":
            pictures = [_picture_difference(*pair) for pair in zip_longest(_pictures(cell), _pictures(other))]
            found = [f"picture {number} {each}" for number, each in enumerate(pictures, start=1) if each]
            found = [first_difference(_shown(cell), _shown(other), "the new run has"), *found]
            own += [f"{named(notebook, place)}{each}" for each in _not_compared(cell, other)]
            equal += pictures.count("")
        elif not filled and not is_list(cell) and _is_to_fill(cell):
            unfilled += 1
            continue
        elif other is None:
            found = ["the new run leaves this text out"]
        else:
            found = [first_difference(unbroken(cell.source).splitlines(), other.source.splitlines(), "the new run has")]
        differences += [f"{named(notebook, place)}: {each}" for each in found if each]
    if filled and len(notebook.cells) in again:
        differences.append("the list of statements that do not hold in this run is missing")
    return Outputs(tuple(differences), equal, tuple(own), unfilled)


def _is_to_fill(cell):
    try:
        return depends(cell.source, tags(cell))
    except ValueError:  # an expression that is not complete
        return True


def _shown(cell):
    """The lines that a cell shows: of all texts, without pictures, stderr and addresses in memory. They give each picture's
    description, which may contain numbers, and its size on the screen, which can stretch it or hide it."""
    texts = []
    for output in cell.outputs:
        if output.output_type == "stream":
            texts += [output.text] if output.name == "stdout" else []
        elif output.output_type == "error":
            texts.append(f"{output.ename}: {output.evalue}")
        else:
            for kind, value in sorted(output.data.items()):
                texts += [] if kind.startswith("image/") else [str(value), *([] if kind == "text/plain" else [f"({kind})"])]
                about = output.metadata.get(kind)
                texts += [f"({kind}) {name}: {about[name]}" for name in sorted(about)] if isinstance(about, dict) else []
    return [ADDRESS.sub("0x", line.rstrip()) for text in texts for line in text.splitlines()]


def _not_compared(cell, other):
    """Yield what a cell shows, the new run does not, and nothing compares: lines on stderr, pictures that are not PNG."""
    warned = _warned(other)
    if found := [line for kind, line in _warned(cell).items() if kind not in warned]:
        yield f" on stderr, “{cut(found[0])}”"
    if found := _other_pictures(cell) - _other_pictures(other):
        yield f", pictures that are not PNG ({', '.join(sorted(kind for kind, _ in found.elements()))})"


def _warned(cell):
    """{kind: line} of the lines that a cell writes to stderr. Those of a kind differ in numbers alone, as times do."""
    texts = [output.text for output in cell.outputs if output.output_type == "stream" and output.name == "stderr"]
    return {re.sub(r"\d+", "0", ADDRESS.sub("0x", line.rstrip())): line for text in texts for line in text.splitlines()}


def _other_pictures(cell):
    """The pictures that a cell shows in other forms than PNG, counted: (form, content)."""
    found = [each for output in cell.outputs for each in output.get("data", {}).items()]
    return Counter((kind, str(data)) for kind, data in found if kind.startswith("image/") and kind != "image/png")


def _pictures(cell):
    """The pictures that a cell shows as PNG, as text."""
    return [output.data["image/png"] for output in cell.outputs if "image/png" in output.get("data", {})]


def _picture_difference(picture, again):
    """How a picture differs from that of the new run; "" if all pixels are equal."""
    if picture is None or again is None:
        return "is missing" if picture is None else "is not reproduced"
    if picture == again:
        return ""
    try:
        if others := _chunks(base64.b64decode("".join(picture.split()), validate=True)) - PLAIN:
            return f"is not a plain PNG: a browser may show something else, because of its {', '.join(sorted(others))}"
        ours = _pixels(picture)
        theirs = _pixels(again)
    except Exception as error:  # a file that is not a picture can fail in a dozen ways
        return f"is not a PNG ({type(error).__name__})"
    if ours.shape != theirs.shape:
        return f"has {ours.shape[1]} x {ours.shape[0]} pixels, in the new run {theirs.shape[1]} x {theirs.shape[0]}"
    differ = int((ours != theirs).any(axis=-1).sum())
    return f"differs in {differ:,} of {ours.shape[0] * ours.shape[1]:,} pixels" if differ else ""


def _chunks(png):
    """The types of the chunks of a PNG file."""
    found, place = set(), 8
    while place < len(png):
        length, kind = struct.unpack(">I4s", png[place : place + 8])
        found.add(kind.decode("ascii"))
        place += 12 + length
    return found


def _pixels(picture):
    from PIL import Image

    with Image.open(io.BytesIO(base64.b64decode(picture)), formats=["PNG"]) as image:
        return np.asarray(image.convert("RGBA"))
