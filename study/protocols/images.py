"""The protocol on images that chapters share: examples, the estimator of a degree and a visiting order, and its results.

Source: Hermans 2021, sections 3 to 5: K = (1 + gamma x . y)^p, all epochs, four predictors. It also runs on any other
registered set of examples, prepared as `examples` says.

Symbols: E epochs, n images; predictors in the order of PREDICTORS.
"""

from dataclasses import replace
from functools import cache

import numpy as np
from sklearn.model_selection import train_test_split

from kp.one_vs_all import OneVsAllKernelPerceptron
from study import datasets
from study.predictors import PREDICTORS
from study.protocols.attributes import standardised
from study.protocols.settings import IMAGES, n_examples, order_seed
from study.results import store

PROTOCOLS = {
    "own, new": {},
    "own, kept": {"shuffle": "once"},
    "shared, new": {"orders": "shared"},
    "shared, kept": {"orders": "shared", "shuffle": "once"},
}
"""Whose an order is, and how long it lasts: the parameters of the estimator. The first is Hermans's, the last Freund and
Schapire's."""
OWN_NEW, *_, SHARED_KEPT = PROTOCOLS
MEMORY_BUDGET = 6 * 2**30
"""Bytes for rows of inner products, where several orders or all images with their shifts are learnt together."""


@cache
def examples(name):
    """The Data of a registered set with a test part. Images are as they are.

    Of a set without a test part a third, stratified, is drawn for it (seed 0), and the rest is in random order. Attributes
    of sets that are not images have mean 0 and variance 1 / d on the training part: (1 + x . y)^p is (1 + x . y / d)^p of
    standardised attributes.
    """
    data = datasets.load(name)
    if name in IMAGES:
        return data
    X = np.asarray(data.X, dtype=np.float64)
    if data.X_test is None:
        parts = train_test_split(X, data.y, test_size=len(X) - n_examples(name), stratify=data.y, random_state=0)
        X, X_test, y, y_test = parts
        data = replace(data, y=y, y_test=y_test)
    else:
        X_test = np.asarray(data.X_test, dtype=np.float64)
    X, X_test = standardised(X, X_test)
    return replace(data, X=X, X_test=X_test)


def estimator(degree, *, n_epochs, random_state, gamma=1.0):
    """The estimator of a degree, not yet fitted; it goes on for all epochs, as the source does."""
    return OneVsAllKernelPerceptron(
        degree=degree, gamma=gamma, max_iter=n_epochs, random_state=random_state, stop_if_separated=False
    )  # fmt: skip


def in_order(degree, order, **options):
    """The `estimator` of a degree and a visiting order."""
    return estimator(degree, random_state=order_seed(degree, order), **options)


def predictions(training, models, X):
    """Classes of X (n, d) by all models of a `SharedTraining`, (models, 4, E, n), as bytes up to 256 classes."""
    kind = store.narrow(len(models[0].classes_) - 1, np.uint8).dtype
    out = np.empty((len(models), len(PREDICTORS), models[0].n_iter_, len(X)), dtype=kind)
    for part, outputs in training.staged_outputs(models, X):
        for model, f in zip(out, outputs, strict=True):
            for p, name in enumerate(PREDICTORS):
                model[p, :, part] = by_class(f[name]).argmax(axis=1)
    return out


def by_class(f):
    """Scores (E, C, c) of the C classes from the outputs f (E, m, c) of m perceptrons; ties go to the first class.

    They are f itself where each class has a perceptron. Two classes share one, which is positive for the second.
    """
    return np.concatenate([-f, f], axis=1) if f.shape[1] == 1 else f


def sizes(models):
    """(2, models, E): mistakes of all perceptrons of a model by each epoch, and the distinct examples among them."""
    out = np.empty((2, len(models), models[0].n_iter_), dtype=np.int64)
    for m, model in enumerate(models):
        for e in range(model.n_iter_):
            examples = np.concatenate([log.example[: log.length(e + 1)] for log in model.mistakes_])
            out[:, m, e] = len(examples), len(np.unique(examples))
    return out
