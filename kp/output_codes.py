"""Multiclass kernel perceptrons from binary ones, as scikit-learn estimators.

Source: Hermans 2021, sections 3.1 (one-vs-all encoding) and 3.4 (argmax of the scores).

Symbols: n examples, d features, C classes, m binary perceptrons (C, or 1 for two classes), z = +-1 signs (m, n).
"""

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets, unique_labels
from sklearn.utils.validation import check_is_fitted, validate_data

from kp import kernels
from kp.estimator import KernelPerceptron
from kp.perceptron import find_mistakes, visiting_orders
from kp.predictors import scores


def _has_points(estimator):
    if estimator.kernel == "precomputed":
        raise AttributeError("partial_fit needs the points themselves, got kernel='precomputed'; use fit or another kernel")
    return True


class OneVsAllKernelPerceptron(KernelPerceptron):
    """One binary kernel perceptron for each class; the class with the highest score wins, the first of equals.

    Parameters
    ----------
    kernel : "poly" (coef0 + gamma x.y)^degree, "linear" x.y, "rbf" exp(-gamma |x - y|^2), "precomputed", or a function
        of X (n, d) and Y (m, d) that returns K (n, m).
    degree, gamma, coef0 : parameters of the kernel; the defaults give the study's K = (1 + x.y)^degree. They are not
        scaled by the number of features.
    max_iter : number of epochs.
    predictor : "final", "average", "minimizing" or "voted", the one that `predict` uses unless it is told otherwise.
    shuffle : visit the examples in a fresh random order in each epoch; otherwise in the order given.
    orders : "separate" draws an order for each class in turn, "shared" one for all classes.
    stop_if_separated : stop after an epoch in which no perceptron makes a mistake.
    random_state : int, RandomState or None.
    memory_budget : bytes for rows of inner products that are kept while fitting.
    n_jobs : number of threads; the result does not depend on it.

    Attributes
    ----------
    classes_ (C,); mistakes_ : a `MistakeLog` for each perceptron; support_ (S,) indices of the examples on which any of
    them erred; support_vectors_ (S, d); n_iter_ : epochs run; n_seen_ : examples seen; n_features_in_.

    The same random_state gives the same bits on any number of threads and any memory budget.
    """

    KERNELS = {
        "linear": lambda self: kernels.linear(),
        "poly": lambda self: kernels.polynomial(self.degree, gamma=self.gamma, coef0=self.coef0),
        "rbf": lambda self: kernels.rbf(gamma=self.gamma),
    }

    def __init__(
        self,
        kernel="poly",
        *,
        degree=3,
        gamma=1.0,
        coef0=1.0,
        max_iter=10,
        predictor="final",
        shuffle=True,
        orders="separate",
        stop_if_separated=True,
        random_state=None,
        memory_budget=2**30,
        n_jobs=2,
    ):
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.max_iter = max_iter
        self.predictor = predictor
        self.shuffle = shuffle
        self.orders = orders
        self.stop_if_separated = stop_if_separated
        self.random_state = random_state
        self.memory_budget = memory_budget
        self.n_jobs = n_jobs

    def fit(self, X, y):
        """Learn from X (n, d), or the Gram matrix (n, n) for kernel="precomputed", and labels y (n,)."""
        X, y = self._validate(X, y)
        gram = self._gram(X)
        signs = self._signs(y)
        orders = visiting_orders(
            len(y), len(signs) if self.orders == "separate" else 1, self.max_iter,
            random_state=check_random_state(self.random_state) if self.shuffle else None,
        )  # fmt: skip
        logs = find_mistakes(
            gram,
            self._kernel(),
            signs,
            orders,
            self.max_iter,
            threads=self._threads(),
            stop_if_separated=self.stop_if_separated,
        )
        return self._keep(X, logs)

    @available_if(_has_points)
    def partial_fit(self, X, y, classes=None):
        """Go on over the examples X (n, d), y (n,) of a stream, once, in the order given.

        The first call names all classes. Only examples on which a perceptron errs are kept. The minimizing predictor does
        not exist for streams, nor does this method for precomputed kernels, which have no rows for what is yet to come.
        """
        first = not hasattr(self, "classes_")
        X, y = validate_data(self, X, y, dtype="numeric", reset=first)
        check_classification_targets(y)
        self._check_parameters()
        if first:
            self.classes_ = unique_labels(y) if classes is None else np.unique(classes)
            if len(self.classes_) < 2:
                raise ValueError(
                    f"labels must have at least 2 classes, got 1 class ({self.classes_[0]!r}); "
                    "name all classes in the first call of partial_fit"
                )
        unknown = np.setdiff1d(y, self.classes_)
        if len(unknown):
            raise ValueError(f"labels must be among the classes of the first call {self.classes_}, got {unknown}")
        signs = self._signs(np.searchsorted(self.classes_, y))
        start = None if first else np.atleast_2d(self.decision_function(X, predictor="final").T)
        logs = find_mistakes(
            self._gram(X), self._kernel(), signs, visiting_orders(len(y), 1, 1), 1, start=start,
            threads=self._threads(), count_errors=False,
        )  # fmt: skip
        if first:
            return self._keep(X, logs)
        logs = [old.followed_by(new, self.n_seen_) for old, new in zip(self.mistakes_, logs, strict=True)]
        return self._keep(
            np.concatenate([self.support_vectors_, X]), logs, np.append(self.support_, self.n_seen_ + np.arange(len(X)))
        )

    def decision_function(self, X, *, predictor=None, epoch=None):
        """Scores (n, C) of X (n, d), or (n,) for two classes, of which the second is the positive one.

        predictor and epoch (from 1) choose among all that the fit went through; the defaults are the estimator's predictor
        and the last epoch. For kernel="precomputed", X is the matrix of kernel values with the training examples.
        """
        check_is_fitted(self)
        predictor = self.predictor if predictor is None else predictor
        columns = self._columns(X, self.mistakes_[0].steps())
        f = scores(self._logs, self._kernel(), columns, predictor, epoch, threads=self._threads()).T
        return f[:, 0] if len(self.classes_) == 2 else f

    def _check_parameters(self):
        super()._check_parameters()
        self._check_integers(memory_budget=1)
        self._check_options(orders=("separate", "shared"))

    def _signs(self, y):
        positive = np.arange(len(self.classes_))[1 if len(self.classes_) == 2 else 0 :]
        return np.where(y == positive[:, None], 1, -1).astype(np.int8)

    def _keep(self, X, logs, index=None):
        """Store the logs and, of the examples X (n, d) seen at the places `index`, those on which a perceptron erred."""
        index = np.arange(len(X)) if index is None else index
        self.support_ = np.unique(np.concatenate([log.example for log in logs]))
        self.mistakes_, self.n_iter_, self.n_seen_ = logs, logs[0].n_epochs, int(index[-1]) + 1
        self._logs = [log.renumbered(np.searchsorted(self.support_, log.example)) for log in logs]
        if self.kernel != "precomputed":
            self.support_vectors_ = X[np.searchsorted(index, self.support_)]
        self._hold(getattr(self, "support_vectors_", None), self.support_)
        return self
