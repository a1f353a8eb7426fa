"""Errors by epoch and predictor as a plot, in the form of scikit-learn's displays."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.pipeline import Pipeline
from sklearn.utils import check_consistent_length, column_or_1d
from sklearn.utils._optional_dependencies import check_matplotlib_support

from kp.hints import Data, Predictors


class ErrorByEpochDisplay:
    """Errors by epoch of the predictors of one fit.

    Make one with `from_estimator` or `from_predictions`, which also draw it. Matplotlib is needed to
    draw.

    Parameters
    ----------
    errors : dict of str to ndarray of shape (E,)
        Error rates of each predictor after each epoch, between 0 and 1.

    Attributes
    ----------
    lines_ : list of matplotlib.lines.Line2D
        A line for each predictor, after `plot`.
    ax_ : matplotlib.axes.Axes
        The axes on which they were drawn.
    figure_ : matplotlib.figure.Figure
        Their figure.

    See Also
    --------
    kp.OneVsAllKernelPerceptron : Its fits hold all epochs and predictors.

    References
    ----------
    - Hermans (2021). Digit classification with kernel perceptron. Course report, Università degli
      Studi di Milano. https://github.com/lukher98/digit-classification. Figures 3 to 6 are such plots.

    Examples
    --------
    With a picture, in notebooks/gallery.ipynb: "All predictors after every epoch, from one fit".

    >>> from sklearn.datasets import load_digits
    >>> from kp import PREDICTORS, ErrorByEpochDisplay, OneVsAllKernelPerceptron
    >>> X, y = load_digits(return_X_y=True)
    >>> model = OneVsAllKernelPerceptron(max_iter=3, count_errors=True, random_state=0)
    >>> model = model.fit(X[:600], y[:600])
    >>> display = ErrorByEpochDisplay.from_estimator(model, X[600:], y[600:], predictor=PREDICTORS)
    >>> for name, error in display.errors.items():
    ...     print(name, error.round(3).tolist())
    final [0.169, 0.089, 0.088]
    average [0.109, 0.091, 0.084]
    minimizing [0.124, 0.086, 0.095]
    voted [0.106, 0.094, 0.089]
    """

    def __init__(self, errors: dict[str, ArrayLike]) -> None:
        self.errors = errors

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Data, y: ArrayLike, *, predictor: Predictors = "all", ax: Any = None
    ) -> Self:  # fmt: skip
        """Draw the errors on X (n, d), y (n,) of a fitted estimator or pipeline, by one predictor, several or all."""
        check_matplotlib_support(f"{cls.__name__}.from_estimator")
        if isinstance(estimator, Pipeline):
            X = estimator[:-1].transform(X) if len(estimator) > 1 else X
            estimator = estimator[-1]
        if not hasattr(estimator, "staged_predict"):
            got = type(estimator).__name__
            raise TypeError(f"estimator must have staged_predict, as the estimators with mistakes_ do, got {got}")
        name = estimator.predictor if predictor is None else predictor
        stages = list(estimator.staged_predict(X, predictor=[name] if isinstance(name, str) and name != "all" else name))
        return cls.from_predictions(y, {name: [stage[name] for stage in stages] for name in stages[0]}, ax=ax)

    @classmethod
    def from_predictions(cls, y_true: ArrayLike, y_pred: dict[str, ArrayLike], *, ax: Any = None) -> Self:
        """Draw the errors of predicted labels: {predictor: labels (E, n) after each epoch}, against those of y_true (n,)."""
        check_matplotlib_support(f"{cls.__name__}.from_predictions")
        y_true = column_or_1d(y_true)
        errors = {}
        for name, labels in y_pred.items():
            labels = np.asarray(labels)
            if labels.ndim != 2:
                raise ValueError(
                    f"y_pred[{name!r}] must contain labels (E, n) of n points after E epochs, got {labels.shape}"
                )
            check_consistent_length(y_true, labels.T)
            errors[name] = np.mean(labels != y_true, axis=1)
        return cls(errors).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw a line for each predictor, on new axes or on `ax`. Returns self."""
        check_matplotlib_support(f"{type(self).__name__}.plot")
        import matplotlib.pyplot as plt
        from matplotlib.ticker import MaxNLocator

        if ax is None:
            _, ax = plt.subplots()
        self.lines_: list[Any] = []
        for name, error in self.errors.items():
            error = np.asarray(error)
            self.lines_ += ax.plot(np.arange(1, len(error) + 1), error, marker="o", label=name)
        ax.set(xlabel="Epoch", ylabel="Error rate")
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        ax.legend(title="Predictor")
        self.ax_ = ax
        self.figure_ = ax.figure
        return self
