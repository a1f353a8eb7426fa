"""The protocol on images that chapters share: the estimator of a degree and a visiting order, and the results read from it.

Source: Hermans 2021, sections 3 to 5: K = (1 + gamma x . y)^p, all epochs, four predictors.

Symbols: E epochs, n images; predictors in the order of PREDICTORS.
"""

import numpy as np

from kp.mistakes import PREDICTORS
from kp.output_codes import OneVsAllKernelPerceptron
from study.protocols.settings import order_seed


def estimator(degree, order, *, n_epochs, gamma=1.0):
    """The estimator of a degree and a visiting order, not yet fitted; it goes on for all epochs, as the source does."""
    seed = order_seed(degree, order)
    return OneVsAllKernelPerceptron(
        degree=degree, gamma=gamma, max_iter=n_epochs, random_state=seed, stop_if_separated=False
    )  # fmt: skip


def predictions(training, models, X):
    """Classes of X (n, d) by all models of a `SharedTraining`, (models, 4, E, n) as uint8."""
    out = np.empty((len(models), len(PREDICTORS), models[0].n_iter_, len(X)), dtype=np.uint8)
    for part, outputs in training.staged_outputs(models, X):
        for model, f in zip(out, outputs, strict=True):
            for p, name in enumerate(PREDICTORS):
                model[p, :, part] = f[name].argmax(axis=1)
    return out


def sizes(models):
    """(2, models, E): mistakes of all perceptrons of a model by each epoch, and the distinct examples among them."""
    out = np.empty((2, len(models), models[0].n_iter_), dtype=np.int64)
    for m, model in enumerate(models):
        for e in range(model.n_iter_):
            examples = np.concatenate([log.example[: log.length(e + 1)] for log in model.mistakes_])
            out[:, m, e] = len(examples), len(np.unique(examples))
    return out
