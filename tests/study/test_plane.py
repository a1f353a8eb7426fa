"""The lattice on which regions are drawn."""

import numpy as np

from study.protocols.plane import lattice


def test_lattice_covers_the_examples_from_the_bottom_row_by_row():
    points, box = lattice(np.array([[0.0, 1.0], [2.0, 5.0]]), margin=0.5, resolution=3)
    assert box == (-0.5, 2.5, 0.5, 5.5)
    assert points[:4].tolist() == [[-0.5, 0.5], [1.0, 0.5], [2.5, 0.5], [-0.5, 3.0]]
