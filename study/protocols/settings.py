"""Common parts of the settings of experiments: their checks, and the seeds of visiting orders."""

IMAGES = ("mnist", "digits")
"""The data sets of images: the one of the source, and the one that needs no download."""


def require_known(settings, **known):
    """Raise ValueError unless each field named here has one of its values."""
    for name, values in known.items():
        if getattr(settings, name) not in values:
            raise ValueError(f"{name} must be one of {', '.join(values)}, got {getattr(settings, name)!r}")


def require_integers(settings, **bounds):
    """Raise ValueError unless each field named here is an integer in low..high, which may be open (None); of a field that is
    a tuple, each of its values, of which there must be some."""
    for name, (low, high) in bounds.items():
        value = getattr(settings, name)
        if value == ():
            raise ValueError(f"{name} must name at least one, got none")
        for each in value if isinstance(value, tuple) else (value,):
            if isinstance(each, bool) or not isinstance(each, int) or each < low or (high is not None and each > high):
                range_shown = f"of at least {low}" if high is None else f"in {low}..{high}"
                raise ValueError(f"{name} must be an integer {range_shown}, got {each!r}")


def order_seed(degree, order):
    """The seed of the visiting orders of a run; order 0 is the published one."""
    return degree + 100 * order
