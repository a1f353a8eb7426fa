"""An estimator of the user's own on a protocol of the study: "module:factory" names what makes it.

The factory takes no arguments and returns a scikit-learn classifier: a class such as sklearn.svm:SVC does, and so does a
function in a file of the current folder, as in mine:make of mine.py. Its parameters called random_state get the seed of the
split, those of the steps of a pipeline too. What it has to choose, it chooses within fit.
"""

import importlib
import importlib.util
import sys
from pathlib import Path

from sklearn.base import clone, is_classifier


def made(method, random_state):
    """A new estimator of "module:factory", with this seed. Raises ValueError, with the remedy, if there is none."""
    estimator = _factory(method)()
    if not is_classifier(estimator):
        raise ValueError(f"method {method}: it must return a scikit-learn classifier, got {type(estimator).__name__}")
    names = [name for name in estimator.get_params() if name.rpartition("__")[2] == "random_state"]
    return clone(estimator).set_params(**dict.fromkeys(names, random_state))


def require_method(settings):
    """Raise ValueError unless the field `method` is empty or names a factory of classifiers."""
    if settings.method:
        made(settings.method, 0)


def files(settings):
    """The user's file that the field `method` names, as a list: results depend on it. Installed packages have none."""
    module = settings.method.partition(":")[0]
    path = getattr(_found(module), "origin", None) if module else None
    return [Path(path)] if path and Path(path).is_file() and not Path(path).is_relative_to(sys.prefix) else []


def _factory(method):
    module, _, name = method.partition(":")
    if not (module and name):
        raise ValueError(f"method must be written module:factory, as in sklearn.svm:SVC, got {method!r}")
    if not _found(module):
        raise ValueError(f"method {method}: there is no module {module!r} here; start the command in the folder of its file")
    factory = getattr(importlib.import_module(module), name, None)
    if not callable(factory):
        raise ValueError(f"method {method}: {module} has no function or class {name!r}; correct the name")
    return factory


def _found(module):
    """What Python knows of a module before it is imported, or None.

    Nothing is added to Python's path: where a notebook is checked, the files beside it are not on it.
    """
    try:
        return importlib.util.find_spec(module)
    except ModuleNotFoundError:
        return None
