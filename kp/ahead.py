"""Fits of a few points that fill the cache of machine code with all that estimators compile: `python -m kp --compile`."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy import sparse

from kp.budget import BudgetPerceptron, Forgetron, Norma
from kp.delta_rule import DeltaRulePerceptron
from kp.estimator import KernelPerceptron
from kp.multiclass import MulticlassKernelPerceptron, MulticlassPerceptron
from kp.one_vs_all import OneVsAllKernelPerceptron
from kp.output_codes import OutputCodeKernelPerceptron
from kp.romma import Romma
from kp.shared import SharedTraining

N = 150  # points: more than a strip of a product
FEW = 3  # of them predicted at once, where sums go along the support examples
KERNELS: Any = ({"degree": 2}, {"kernel": "rbf"}, {"kernel": "linear"})


def points() -> dict:
    """{kind: points (n, d)} of every kind of arithmetic; labels are 0, 1, 2 in turn."""
    random = np.random.RandomState(0)
    whole = random.randint(0, 256, size=(N, 12))
    reals = random.standard_normal((N, 12))
    return {
        "bytes": whole, "pixels": whole / 255.0, "integers": whole - 128, "large integers": 100 * whole - 9000,
        "huge integers": 2**20 * whole, "reals": reals, "sparse": sparse.csr_array(reals),
    }  # fmt: skip


def fit_all() -> None:
    """Fit, predict and stream with every estimator on every kind of points."""
    y = np.arange(N) % 3
    few: Any = dict(max_iter=2, random_state=0)
    small: Any = {"memory_budget": 8 * 3 * N}  # rows give way to others
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for kind, X in points().items():
            for kernel in KERNELS:
                alone: list[Any] = [Romma(**kernel, **few)]
                alone += [OutputCodeKernelPerceptron(**kernel, **few, code="one-vs-one")]
                for update in ("ordinary", "xu-zhang"):
                    alone += [MulticlassKernelPerceptron(**kernel, **few, update=update, predictor="minimizing")]
                alone += [MulticlassKernelPerceptron(**kernel, **few, solver="coefficients")]
                alone += [MulticlassKernelPerceptron(**kernel, **few, **small, update="ordinary")]
                alone += [OneVsAllKernelPerceptron(**kernel, **few, **small)]
                streams = [OneVsAllKernelPerceptron(**kernel, **few, count_errors=True)]
                if kind != "sparse":
                    streams += [Forgetron(**kernel, budget=4), Norma(**kernel), BudgetPerceptron(**kernel, budget=4)]
                for model in alone + streams:
                    _use(model.fit(X, y), X)
                for model in streams:
                    model.partial_fit(X, y).partial_fit(X[:1], y[:1])
            shared = [OneVsAllKernelPerceptron(degree=d, stop_if_separated=False, **few) for d in (1, 2)]
            training = SharedTraining(X, y)
            for _ in training.staged_outputs(training.fit(shared)):
                pass
        for model in (MulticlassPerceptron(count_errors=True, **few), DeltaRulePerceptron(**few)):
            _use(model.fit(points()["reals"], y), points()["reals"])
        for model in (OneVsAllKernelPerceptron("precomputed", **few), MulticlassKernelPerceptron("precomputed", **few)):
            K = points()["reals"] @ points()["reals"].T
            _use(model.fit(K, y), K)


def _use(model, X):
    for part in (X, X[:FEW]):
        model.predict(part)
        if isinstance(model, KernelPerceptron):
            for _ in model.staged_predict(part, predictor="all"):
                pass
