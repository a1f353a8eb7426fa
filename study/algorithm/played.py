"""The run of the toy set as a page plays it: what a figure needs to show any moment of the run.

The page draws scores from the log, as f_m(x) = sum over the first m mistakes of z_i (1 + x_i.x)^p; all counts are made here,
by Algorithm 1 as it is printed: a page would wait longer for compiled code than for this run.
"""

import numpy as np

from kp import literal
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
    z = 2 * y - 1
    K = (1 + X @ X.T) ** part.degree
    order = tables.visiting_order(len(X), part.n_epochs, random_state=part.random_state)
    step, example = np.nonzero(np.diff([0 * z, *literal.algorithm_1(K, z, order)], axis=0))
    f = np.vstack([0 * z, np.cumsum(z[example, None] * K[example], axis=0)])
    return {
        "box": lattice(X, resolution=2)[1],
        "x": X.tolist(),
        "z": z.tolist(),
        "degree": part.degree,
        "example": example.tolist(),
        "step": step.tolist(),
        "epoch": (step // len(X) + 1).tolist(),
        "steps": len(order),
        "errors": errors(step, len(order), f, z),
    }


def errors(step, steps, f, z):
    """{predictor: [errors after each mistake]}, from the steps of the mistakes (M,), the number of all steps, and the
    history f (M + 1, n) of the scores of the training examples.

    A score of 0 is an error for either sign. The average and the voted predictor are those of the steps up to the next
    mistake.
    """
    found = {name: [] for name in PLAYED}
    ends = [*step[1:], steps]
    for m, end in enumerate(ends, start=1):
        stood = np.diff(step[:m], prepend=0, append=end)
        for name, scores in zip(PLAYED, (f[m], stood @ f[: m + 1], stood @ np.sign(f[: m + 1])), strict=True):
            found[name].append(int((z * scores <= 0).sum()))
    return found
