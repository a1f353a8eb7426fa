"""The published ensemble of twenty visiting orders as texts quote it: its agreement, its refusals, its stated chances."""

from functools import cache

from study import datasets
from study.rejection import tables
from study.rejection.experiment import Settings, ensemble


@cache
def parts():
    """`tables.by_part` of the published run."""
    return tables.by_part(ensemble(Settings())["arrays"][0])


def labels():
    """Classes (n,) of the held-out images, and of the test images."""
    data = datasets.load("mnist")
    return data.class_indices[-len(parts()["held out"].scores) :], data.class_indices_test


@cache
def agreed():
    """The row of `tables.by_votes` of the test images on which all orders agree; share: how many these are; elsewhere: the
    share of the others that the vote misclassifies."""
    _, y = labels()
    rows = tables.by_votes(parts()["test"].votes["average"], y)
    others = rows.iloc[1:]
    return rows.assign(share=rows["images"] / len(y), elsewhere=others["errors"].sum() / others["images"].sum()).iloc[0]


@cache
def accepted():
    """The share of the letters and of the half digits that each of the measures accepts at least."""
    y_held, _ = labels()
    refused = tables.refusals(tables.typicality(parts(), y_held)).groupby("part")["refused"].max()
    return 1 - refused[["letters", "halves"]].max()


@cache
def refusing(target):
    """The row of `tables.at_targets` for the margin and a target of the error among the accepted."""
    held, test = ({"margin": (part.classes, tables.margin(part.scores))} for part in (parts()["held out"], parts()["test"]))
    y_held, y = labels()
    return tables.at_targets(held, y_held, test, y, [target]).iloc[0]


@cache
def calibration_errors():
    """{confidence: its calibration error on the test images}."""
    y_held, y = labels()
    held = parts()["held out"]
    test = parts()["test"]
    stated = tables.confidences(held, y_held, test, tables.probabilities(held, y_held, test))
    return {name: tables.calibration_error(confidence, classes == y) for name, (classes, confidence) in stated.items()}
