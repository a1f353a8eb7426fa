"""Executed notebooks are run again and compared where their data are; elsewhere they are skipped with the reason."""

import functools

import pytest

from kp import datasets


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
        if item.path.parent.name == "executed" and 'dataset = "mnist"' in item.path.read_text(encoding="utf-8").replace(
            "\\", ""
        ):
            if reason := missing("mnist"):
                item.add_marker(pytest.mark.skip(reason=reason))
