"""Sets in the plane: the lattice of points on which regions and surfaces are drawn."""

import numpy as np


def lattice(X, *, margin=0.3, resolution=150):
    """(points (resolution^2, 2), (left, right, bottom, top)): a lattice over X (n, 2), row by row from the bottom.

    It reaches beyond the examples by the margin on each side.
    """
    (left, bottom) = X.min(axis=0) - margin
    (right, top) = X.max(axis=0) + margin
    across, up = np.meshgrid(np.linspace(left, right, resolution), np.linspace(bottom, top, resolution))
    return np.column_stack([across.ravel(), up.ravel()]), (left, right, bottom, top)
