"""The run of the toy set as a page plays it: what a figure needs to show any moment of the run.

The page draws scores from the log, as f_m(x) = sum over the first m mistakes of z_i (1 + x_i.x)^p; all counts are made here.
"""

import numpy as np

from kp import kernels
from kp.one_vs_all import OneVsAllKernelPerceptron
from study.algorithm import tables
from study.algorithm.experiment import Toy, toy_set
from study.protocols.plane import lattice

PLAYED = ("final", "average", "voted")


def run(part=None):
    """A run as plain values. box (left, right, bottom, top); x (n, 2) and z (n,): examples and signs; degree; of each of the
    M mistakes its example, its step (from 0) and its epoch (from 1); steps, the number of all; errors {predictor: (M,)}:
    how many training examples it misclassifies just before the next mistake, or at the end of the run.
    """
    part = part or Toy()
    X, y, *_ = toy_set(part)
    model = OneVsAllKernelPerceptron(
        degree=part.degree, gamma=1, max_iter=part.n_epochs, random_state=part.random_state, count_errors=True
    )
    (log,) = model.fit(X, y).mistakes_
    z = 2 * y - 1
    return {
        "box": lattice(X, resolution=2)[1],
        "x": X.tolist(),
        "z": z.tolist(),
        "degree": part.degree,
        "example": log.example.tolist(),
        "step": log.step.tolist(),
        "epoch": tables.log_table(log)["epoch"].tolist(),
        "steps": log.steps(),
        "errors": errors(log, tables.history(log, kernels.polynomial(part.degree), X, X), z),
    }


def errors(log, f, z):
    """{predictor: [errors after each mistake]}, from the history f (M + 1, n) of the scores of the training examples.

    A score of 0 is an error for either sign. The average and the voted predictor are those of the steps up to the next
    mistake.
    """
    found = {name: [] for name in PLAYED}
    for m in range(1, len(log) + 1):
        end = log.step[m] if m < len(log) else log.steps()
        stood = np.diff(log.step[:m], prepend=0, append=end)
        for name, scores in zip(PLAYED, (f[m], stood @ f[: m + 1], stood @ np.sign(f[: m + 1])), strict=True):
            found[name].append(int((z * scores <= 0).sum()))
    return found
