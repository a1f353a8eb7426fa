"""A picture of each estimator of kp for its page of `make api`: two half moons, and where it predicts which.

Run as a program with the folder of those pages as its argument; no result is stored.
"""

import sys
from pathlib import Path

import numpy as np
from sklearn.datasets import make_moons

from kp import (
    BudgetPerceptron,
    DeltaRulePerceptron,
    Forgetron,
    MulticlassKernelPerceptron,
    MulticlassPerceptron,
    Norma,
    OneVsAllKernelPerceptron,
    OutputCodeKernelPerceptron,
    Romma,
)
from study import style

ESTIMATORS = (
    BudgetPerceptron, DeltaRulePerceptron, Forgetron, MulticlassKernelPerceptron,
    MulticlassPerceptron, Norma, OneVsAllKernelPerceptron, OutputCodeKernelPerceptron, Romma,
)  # fmt: skip
OPTIONS = {"kernel": "rbf", "gamma": 2.0, "max_iter": 20, "budget": 15, "random_state": 0}


def estimators():
    """The ESTIMATORS with those OPTIONS that they have; a kernel where gamma is one of them."""
    for made in ESTIMATORS:
        model = made()
        known = model.get_params()
        yield model.set_params(
            **{name: OPTIONS[name] for name in OPTIONS if name in known and (name != "kernel" or "gamma" in known)}
        )


def draw(model):
    """A Figure of the half moons X (120, 2) and of what the model predicts around them."""
    X, y = make_moons(120, noise=0.15, random_state=0)
    axes = [np.linspace(*limits, 150) for limits in ((-1.6, 2.6), (-1.2, 1.7))]
    x1, x2 = np.meshgrid(*axes)
    labels = model.fit(X, y).predict(np.column_stack([x1.ravel(), x2.ravel()])).reshape(x1.shape)
    figure, axis = style.canvas(width=3.0, height=2.1)
    colours = [style.NEGATIVE, style.POSITIVE]
    axis.contourf(x1, x2, labels, levels=[-0.5, 0.5, 1.5], colors=colours, alpha=0.2)
    for label, colour in enumerate(colours):
        axis.plot(*X[y == label].T, "o" if label else "s", color=colour, markersize=3)
    axis.set(xticks=[], yticks=[], aspect="equal")
    return figure


def write(folder):
    """Write NAME.svg of each estimator into the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for model in estimators():
        draw(model).savefig(folder / f"{type(model).__name__}.svg", metadata={"Date": None})


if __name__ == "__main__":
    write(Path(sys.argv[1]))
