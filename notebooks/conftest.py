"""Executed notebooks are run again and compared where their data are; elsewhere they are skipped with the reason."""

import functools

import pytest

from study import chapters, datasets


@functools.cache
def missing(name):
    """Why the data set cannot be had without a download, or None."""
    try:
        datasets.load(name, download=False)
    except datasets.DataError as error:
        return f"{name} is not here: {str(error).splitlines()[-1]}"
    return None


def pytest_collection_modifyitems(items):
    for item in items:
        if item.path.parent.name == "executed":
            texts = [value for value in chapters.chapter(item.path.stem).full.values() if isinstance(value, str)]
            reasons = [missing(name) for name in " ".join(texts).split() if name in datasets.DATASETS]
            for reason in filter(None, reasons):
                item.add_marker(pytest.mark.skip(reason=reason))
