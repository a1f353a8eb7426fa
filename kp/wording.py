"""How error messages show values."""

from types import FunctionType

import numpy as np


def shown(value: object) -> str:
    """repr of a value; numbers, strings and arrays of numpy as Python writes them, shortened; functions by name."""
    if isinstance(value, np.ndarray) and value.ndim:
        return np.array2string(value.astype(object), separator=", ", threshold=20, max_line_width=125)
    if isinstance(value, FunctionType):
        return f"the function {value.__name__}"
    return repr(value.item() if isinstance(value, np.generic) else value)
