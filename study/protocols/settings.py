"""Common parts of the settings of experiments: their base with its checks, and the seeds of visiting orders."""

from dataclasses import fields

from study import datasets
from study.parameters import require_one_of

IMAGES = ("mnist", "digits")
"""The datasets of images: the one of the source, and the one that needs no download."""
TESTED = 3
"""One in so many examples of a set without a test part is tested."""
COMMON = {
    "degree": (1, 40), "degrees": (1, 40), "n_epochs": (1, 1000), "max_iter": (1, None), "order": (0, 10**6),
    "n_folds": (2, None), "n_repeats": (1, None), "n_splits": (1, None), "random_state": (0, 2**32 - 1),
}  # fmt: skip
"""What fields that many settings have may be: whole numbers from the first to the second, or without end (None)."""


class BaseSettings:
    """Base of the settings of an experiment, which are frozen dataclasses. Raises ValueError for what cannot be run.

    Fields that are lists become tuples. `dataset` is registered; next to n_train it is no synthetic set, and an n_train of
    "all" becomes the number of its training examples. Numbers are those of COMMON. A class adds KNOWN {field: its values}
    and BOUNDS {field: (low, high)}, or None for a field that it checks itself.
    """

    KNOWN = {}
    BOUNDS = {}

    def __post_init__(self):
        own = {each.name: getattr(self, each.name) for each in fields(self)}
        for name, value in own.items():
            if isinstance(value, list):
                object.__setattr__(self, name, tuple(value))
        require_known(self, **self.KNOWN)
        if "dataset" in own:
            datasets.registered(self.dataset)
        if "n_train" in own:
            require_examples(self)
        bounds = {name: ends for name, ends in (COMMON | self.BOUNDS).items() if name in own and name not in self.KNOWN}
        require_integers(self, **{name: ends for name, ends in bounds.items() if ends})


def require_known(settings, **known):
    """Raise ValueError unless each field named here has one of its values; of a field that is a tuple, each of its values,
    of which there must be some."""
    for name, values in known.items():
        for each in _several(settings, name):
            require_one_of(name, each, values)


def require_integers(settings, **bounds):
    """Raise ValueError unless each field named here is an integer in low..high, which may be open (None); of a field that is
    a tuple, each of its values, of which there must be some."""
    for name, (low, high) in bounds.items():
        for each in _several(settings, name):
            if isinstance(each, bool) or not isinstance(each, int) or each < low or (high is not None and each > high):
                range_shown = f"of at least {low}" if high is None else f"in {low}..{high}"
                raise ValueError(f"{name} must be an integer {range_shown}, got {each!r}")


def _several(settings, name):
    """The values of a field: those of a tuple, of which there must be some, or the one."""
    value = getattr(settings, name)
    if value == ():
        raise ValueError(f"{name} must name at least one, got none")
    return value if isinstance(value, tuple) else (value,)


def require_examples(settings):
    """The number of training examples of the field dataset, a registered set of examples: any but the synthetic ones.

    A field n_train of "all" becomes that number. Raises ValueError for another set, or unless n_train is 10 to that number.
    """
    datasets.registered(settings.dataset)
    require_known(settings, dataset=[name for name, each in datasets.DATASETS.items() if each.kind != "synthetic"])
    size = n_examples(settings.dataset)
    if settings.n_train == "all":
        object.__setattr__(settings, "n_train", size)
    require_integers(settings, n_train=(10, size))
    return size


def n_examples(name):
    """The number of training examples that a set has, or has left when a third is drawn for tests."""
    dataset = datasets.registered(name)
    return dataset.n_train if dataset.n_test else dataset.n_train - -(-dataset.n_train // TESTED)


def order_seed(degree, order):
    """The seed of the visiting orders of a run; order 0 is the published one."""
    return degree + 100 * order
