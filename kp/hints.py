"""Types for signatures, which show these names alone; nothing is computed with them.

Shapes are in the docstrings, and so are the names that a parameter may be.
"""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike


class Sparse(Protocol):  # a sparse matrix or array of SciPy
    def tocsr(self) -> Any: ...


Array = np.ndarray
Data = ArrayLike | Sparse
Index = Array | slice
Epoch = int | None
KernelChoice = str | Callable[[Array, Array], ArrayLike]
Gamma = float | str
Code = str | ArrayLike
Seed = int | np.random.RandomState | None
Callback = Callable[[int], object] | None
Predictors = str | Sequence[str] | None
