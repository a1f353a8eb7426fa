"""Images that are not digits, made from digits, from a seed, or from letters: what a classifier of digits should refuse.

All kinds have the size and the range of values of the dataset, whole numbers 0..top in a square of side * side pixels:

    permuted      a test image whose pixels are shuffled, each image separately: as much ink as a digit, no strokes
    inverted      top - x of a test image x: white on black
    noise         each pixel drawn evenly from 0..top
    blank         0 everywhere, one image
    halves        the left half of one test image next to the right half of another of a different class
    like digits   the letters LIKE_DIGITS, whose shapes come near to a digit
    letters       all other letters of the Latin alphabet

Letters are outlines of matplotlib's bundled DejaVu fonts, turned by up to TILT degrees, scaled until the longer side fills
the box (20 of 28 pixels, as in MNIST; all of the small digits), and filled with antialiasing by Agg. As in MNIST, the centre
of mass stands in the middle where a margin leaves room for it, to less than a pixel.
"""

import string
from functools import cache
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextPath
from matplotlib.transforms import Affine2D

LIKE_DIGITS = "BIOSZbgloqsz"
LETTERS = "".join(letter for letter in string.ascii_letters if letter not in LIKE_DIGITS)
FONTS = [
    f"DejaVu{family}{style}.ttf"
    for family, oblique in (("Sans", "Oblique"), ("SansMono", "Oblique"), ("Serif", "Italic"))
    for style in ("", "-Bold", f"-{oblique}", f"-Bold{oblique}")
]
TILT = 10
KINDS = ("permuted", "inverted", "noise", "blank", "halves", "like digits", "letters")
BOXES = {28: 20, 8: 8}
"""{side of an image: side of the box that a letter fills}."""


def odd_inputs(X, y, count, *, top, random_state):
    """{kind: images (count, d)} of KINDS, of the type of X; blank has one image.

    X (n, d) are the images to draw from, y (n,) their classes, top the largest value of a pixel; n must be at least count.
    random_state is the seed of all draws.
    """
    if len(X) < count:
        raise ValueError(f"count must be at most the number of images, {len(X)}, got {count}")
    random = np.random.default_rng(random_state)
    side = round(X.shape[1] ** 0.5)
    found = {
        "permuted": random.permuted(_some(X, count, random), axis=1),
        "inverted": top - _some(X, count, random),
        "noise": random.integers(0, top, size=(count, X.shape[1]), endpoint=True),
        "blank": np.zeros((1, X.shape[1])),
        "halves": halves(X, y, count, random),
        "like digits": letters(LIKE_DIGITS, count, side, top, random),
        "letters": letters(LETTERS, count, side, top, random),
    }
    return {kind: found[kind].astype(X.dtype) for kind in KINDS}


def _some(X, count, random):
    return X[random.choice(len(X), count, replace=False)]


def halves(X, y, count, random):
    """(count, d): the left half of one image of X and the right half of another, of a different class."""
    side = round(X.shape[1] ** 0.5)
    left = random.choice(len(X), count, replace=False)
    right = np.array([random.choice(np.flatnonzero(y != y[i])) for i in left])
    glued = X[left].reshape(count, side, side).copy()
    glued[:, :, side // 2 :] = X[right].reshape(count, side, side)[:, :, side // 2 :]
    return glued.reshape(count, -1)


def letters(alphabet, count, side, top, random):
    """(count, side * side) images of letters, fonts and angles drawn evenly."""
    drawn = zip(
        random.choice(list(alphabet), count), random.choice(FONTS, count), random.uniform(-TILT, TILT, count), strict=True
    )
    return np.stack([glyph(letter, font, angle, side=side, top=top).ravel() for letter, font, angle in drawn])


def glyph(letter, font, angle, *, side, top):
    """One letter (side, side) of a bundled font, turned by an angle in degrees; values 0..top as whole numbers."""
    path = Affine2D().rotate_deg(angle).transform_path(outline(str(letter), str(font)))
    (x, y), (x_end, y_end) = path.get_extents().get_points()
    scale = BOXES[side] / max(x_end - x, y_end - y)
    middle = Affine2D().translate(-(x + x_end) / 2, -(y + y_end) / 2).scale(scale).translate(side / 2, side / 2)
    renderer = RendererAgg(side, side, 72)
    context = renderer.new_gc()
    context.set_linewidth(0)
    context.set_snap(False)  # else a thin stem may round to nothing
    renderer.draw_path(context, path, middle, (0, 0, 0))
    ink = np.asarray(renderer.buffer_rgba())[:, :, 3].astype(int)
    return centred(np.rint(ink * top / 255), (side - BOXES[side]) // 2)


@cache
def outline(letter, font):
    """The outline of a letter of a bundled font, a matplotlib path."""
    file = Path(mpl.get_data_path()) / "fonts" / "ttf" / font
    return TextPath((0, 0), letter, size=100, prop=FontProperties(fname=file))


def centred(image, room):
    """The image (side, side) moved by whole pixels, at most `room` each way, so that its centre of mass is in the middle."""
    for axis in (0, 1):
        ink = image.sum(axis=1 - axis)
        middle = (len(image) - 1) / 2
        shift = round(middle - ink @ np.arange(len(image)) / ink.sum())
        image = np.roll(image, np.clip(shift, -room, room), axis=axis)
    return image
