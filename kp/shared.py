"""Several models on one training set, whose inner products are computed once for all.

Symbols: n examples, m outputs, E epochs.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from kp.estimator import MACHINE_PARAMETERS, check, check_unmasked, n_threads
from kp.gram import CrossGram, Gram, Points, Products, unit_of
from kp.hints import Callback, Data
from kp.kernels import Kernel
from kp.mistakes import BY_NAME, PREDICTORS
from kp.one_vs_all import OneVsAllKernelPerceptron
from kp.perceptron import find_mistakes
from kp.predictors import primal_scores, replay
from kp.romma import Romma
from kp.wording import shown


class SharedTraining:
    """A training set for several `OneVsAllKernelPerceptron`s or `Romma`s: each inner product is computed once for all.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d)
        Points.
    y : array-like of shape (n,)
        Their labels.
    memory_budget : int, default=2**30
        Bytes for rows of inner products, kept in `gram` for `staged_outputs`. It does not change the
        result; the budgets of the models do not count.
    n_jobs : int or None, default=None
        As in `OneVsAllKernelPerceptron`.

    See Also
    --------
    kp.OneVsAllKernelPerceptron : The models that it fits.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from kp import OneVsAllKernelPerceptron
    >>> X, y = load_iris(return_X_y=True)
    >>> options = {"max_iter": 5, "stop_if_separated": False, "random_state": 0}
    >>> models = [OneVsAllKernelPerceptron(degree=degree, **options) for degree in (2, 3)]
    >>> [round(model.score(X, y), 2) for model in SharedTraining(X, y).fit(models)]
    [0.94, 0.95]
    """

    def __init__(self, X: Data, y: ArrayLike, *, memory_budget: int = 2**30, n_jobs: int | None = None) -> None:
        check("memory_budget", memory_budget, MACHINE_PARAMETERS["memory_budget"])
        check_unmasked("X", X)
        check_unmasked("y", y)
        self.X = X
        self.y = y
        self.n_jobs = n_threads(n_jobs)
        self.gram = Gram.of_points(X, memory_budget=memory_budget, threads=self.n_jobs, unit=unit_of(X))

    def fit(self, models: list, *, count_errors: bool = True, callback: Callback = None) -> list:
        """Fit all models, of one max_iter, stop_if_separated=False and kernels of inner products, as each would be."""
        for model in models:
            if not isinstance(model, OneVsAllKernelPerceptron | Romma):
                got = type(model).__name__
                raise ValueError(f"models must be OneVsAllKernelPerceptrons or Rommas, got {got}; fit it separately")
        stopping = any(getattr(model, "stop_if_separated", False) for model in models)
        if len({model.max_iter for model in models}) > 1 or stopping:
            epochs = [model.max_iter for model in models]
            raise ValueError(
                f"models must have the same max_iter, got {shown(np.array(epochs))}, and stop_if_separated=False"
            )
        with contextlib.ExitStack() as whole:
            for model in models:
                whole.enter_context(model._whole())
                is_given = model.kernel == "precomputed"
                if not is_given:
                    X, y, classes = model._validate(self.X, self.y)
                if is_given or not isinstance(model._kernel, Kernel):
                    remedy = f"got {shown(model.kernel)}; fit this one by itself"
                    raise ValueError(f"models must have kernels of inner products, which they share, {remedy}")
            for primal in (True, False):  # weight vectors do not wait for kernel rows
                group = [each for each in models if (each._kernel.affine and not each._rule().relaxes) == primal]
                if group:
                    signs = [model._signs(y) for model in group]
                    m, n = signs[0].shape
                    each = zip(*(model._visiting_orders(m, n) for model in group), strict=True)
                    orders = (np.concatenate([np.broadcast_to(order, (m, n)) for order in epoch]) for epoch in each)
                    logs = find_mistakes(
                        self.gram, [model._kernel for model in group for _ in range(m)], np.concatenate(signs), orders,
                        models[0].max_iter, rule=[model._rule() for model in group for _ in range(m)], threads=self.n_jobs,
                        count_errors=count_errors, callback=callback,
                    )  # fmt: skip
                    for i, model in enumerate(group):
                        model._store(X, classes, logs[i * m : (i + 1) * m])
        return models

    def staged_outputs(self, models: list, X: Data | None = None, *, callback: Callback = None) -> Iterator[tuple]:
        """Yield (slice of X or the training set, [{predictor: outputs (E, m, c)} of each model]) block by block."""
        for model in models:
            check_is_fitted(model)
            if not isinstance(model, OneVsAllKernelPerceptron):
                got = type(model).__name__
                raise ValueError(f"staged outputs are those of OneVsAllKernelPerceptrons, got {got}; use its staged_predict")
            if model.predictor not in PREDICTORS:
                got = f"got a model with predictor={model.predictor!r}; use its staged_decision_function"
                raise ValueError(f"staged outputs are those of {', '.join(PREDICTORS)}, {got}")
        if not models:
            return
        if len({model.n_iter_ for model in models}) > 1:
            raise ValueError("models must have run equally many epochs; fit them with stop_if_separated=False")
        epochs = range(1, models[0].n_iter_ + 1)
        m = len(models[0].mistakes_)
        logs = [log for model in models for log in model.mistakes_]
        fitted = [model._kernel for model in models]
        errors = [np.zeros(len(log), dtype=np.int64) if log.errors is None else None for log in logs]
        if X is None:
            index = np.searchsorted(models[0].classes_, self.y)
            signs = np.concatenate([model._signs(index) for model in models])
            columns: CrossGram = self.gram
            counting: dict[str, Any] = {"labels": signs, "errors": errors}
        else:
            check_unmasked("X", X)
            points = Points.per(self.gram.points.per_unit, X)
            columns = CrossGram(Products(self.gram.points, points, threads=self.n_jobs))
            counting = {}
        own = [slice(i, i + m) for i in range(0, len(logs), m)]
        names = [[name for name in PREDICTORS if not BY_NAME[name].needs_errors or errors[cut][0] is None] for cut in own]
        each = [kernel for kernel in fitted for _ in range(m)]
        for part, f in replay(logs, each, columns, epochs=epochs, **counting):
            if callback:
                callback(part.stop - part.start)
            yield part, [{name: f[name][:, cut] for name in there} for cut, there in zip(own, names, strict=True)]
        for model, kernel, cut in zip(models, fitted, own, strict=True):
            if X is None and errors[cut][0] is not None:
                model.mistakes_ = [log.with_errors(e) for log, e in zip(logs[cut], errors[cut], strict=True)]
                for part, f in primal_scores(model.mistakes_, kernel, self.gram, epochs):
                    yield part, [{"minimizing": f} if other is model else {} for other in models]
