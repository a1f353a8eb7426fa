"""Preparations of images before they are learnt: integers in, integers out, so that inner products stay exact.

Images are (n, side * side) integers. What cannot be an integer is rounded to one on a fine scale, which the kernel takes
back: K = (1 + gamma x . y)^p.
"""

import numpy as np
from scipy import ndimage

from study.results import store

NORM = 4000
"""The norm that images of unit norm have after rounding; products stay below 2^24."""
BLUR = 1.0
"""Standard deviation of the blur, in pixels."""
MOVED = 2
"""The most pixels by which a moved image is shifted in each direction."""


def raw(X, X_test):
    """The images as they are: (X, X_test, gamma)."""
    return X, X_test, 1.0


def deskewed(X, X_test):
    """Each image sheared until the columns of its ink do not depend on the row."""
    return each(deskew, X), each(deskew, X_test), 1.0


def blurred(X, X_test):
    """Each image blurred by a Gaussian."""
    return each(blur, X), each(blur, X_test), 1.0


def deskewed_and_blurred(X, X_test):
    """First the one, then the other."""
    return blurred(*deskewed(X, X_test)[:2])


def moved(X, X_test):
    """Each image shifted by up to MOVED pixels down or up and right or left, at random."""
    random = np.random.RandomState(0)
    out = [shifted(part, *random.randint(-MOVED, MOVED + 1, size=(2, len(part)))) for part in (X, X_test)]
    return (*out, 1.0)


def unit_interval(X, X_test):
    """Pixels in [0, 1]: the same integers, and the kernel divides them by the largest."""
    return X, X_test, 1.0 / float(X.max()) ** 2


def unit_norm(X, X_test):
    """Each image divided by its norm, so that x . y is a cosine."""
    return _to_norm(X), _to_norm(X_test), 1.0 / NORM**2


def centred(X, X_test):
    """Pixels in [0, 1] less their mean over the training images."""
    mean = store.narrow(np.rint(X.mean(axis=0)), np.int16)
    return X - mean, X_test - mean, 1.0 / float(X.max()) ** 2


PREPARATIONS = {
    "raw": raw,
    "pixels in [0, 1]": unit_interval,
    "unit norm": unit_norm,
    "centred": centred,
    "deskewed": deskewed,
    "blurred": blurred,
    "deskewed and blurred": deskewed_and_blurred,
    "moved": moved,
}
"""{preparation: function of training and test images}: first the ones that scale pixels, then the ones that move ink."""


def deskew(image):
    """An image (side, side) sheared about the centre of its ink: its columns get no covariance with its rows."""
    y, x = np.indices(image.shape)
    total = image.sum()
    if not total:
        return image
    y = y - (y * image).sum() / total
    x = x - (x * image).sum() / total
    spread = (y * y * image).sum()
    slant = (x * y * image).sum() / spread if spread else 0.0
    centre = float(-y[0, 0])
    return ndimage.affine_transform(image, [[1, 0], [slant, 1]], offset=[0, -slant * centre], order=1)


def blur(image):
    """An image (side, side) under a Gaussian of standard deviation BLUR."""
    return ndimage.gaussian_filter(image, BLUR)


def each(function, X):
    """function of every image of X (n, side * side), rounded to the integers of X."""
    side = round(X.shape[1] ** 0.5)
    images = X.reshape(len(X), side, side)
    out = np.stack([function(image.astype(np.float64)) for image in images])
    return np.rint(out).astype(X.dtype).reshape(X.shape)


def shifted(X, down, right):
    """X (n, side * side) with each image moved by so many pixels, numbers or arrays (n,); pixels that come in are blank."""
    side = round(X.shape[1] ** 0.5)
    down, right = (np.broadcast_to(part, len(X)) for part in (down, right))
    images = X.reshape(len(X), side, side)
    out = np.zeros((len(X), side, side), dtype=X.dtype)
    for dy, dx in sorted(set(zip(down.tolist(), right.tolist(), strict=True))):
        own = (down == dy) & (right == dx)
        to = slice(max(dy, 0), side + min(dy, 0)), slice(max(dx, 0), side + min(dx, 0))
        start = slice(max(-dy, 0), side + min(-dy, 0)), slice(max(-dx, 0), side + min(-dx, 0))
        part = np.zeros_like(images[own])
        part[:, *to] = images[own][:, *start]
        out[own] = part
    return out.reshape(X.shape)


def with_shifts(X, y):
    """(X, y) five times over: as they are, and moved by one pixel up, down, left and right."""
    ways = ((0, 0), (-1, 0), (1, 0), (0, -1), (0, 1))
    return np.concatenate([shifted(X, *way) for way in ways]), np.tile(y, len(ways))


def _to_norm(X):
    norms = np.sqrt((X.astype(np.float64) ** 2).sum(axis=1, keepdims=True))
    return np.rint(X.astype(np.float64) * (NORM / np.maximum(norms, 1.0))).astype(np.int16)
