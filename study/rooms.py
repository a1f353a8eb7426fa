"""Rooms: packages of the study whose public names are taken from the package itself, whichever module has them.

    from study import mnist

    mnist.figure_digits(rates, confusions)
    mnist.facts.best()

What the results say, in `facts` and `claims`, is named with its module. A module is imported when the first of its names is
used, so an experiment, `study.mnist.experiment`, loads nothing that only figures need.
"""

from importlib import import_module

from study.results import code


def face(package):
    """The functions `__getattr__` and `__dir__` of a room, given by its dotted name."""

    def find(name):
        home = code.home(package, name)
        if home == package:
            raise AttributeError(f"{package} has no name {name!r}; dir({package}) lists its names")
        module = import_module(home)
        return module if home == f"{package}.{name}" else getattr(module, name)

    return find, lambda: code.public(package)
