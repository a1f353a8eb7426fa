"""Perceptrons that learn all classes in one procedure (Xu & Zhang 2005; see kp.kesler), as scikit-learn estimators.

Symbols: n examples, d features, C classes, K (n, n) kernel values, alpha (C, n) and beta (C,) the parameters of eq. 10.
"""

import numpy as np
from sklearn.utils import check_random_state

from kp import kernels
from kp.estimator import KernelPerceptron
from kp.gram import CrossGram, PrecomputedKernel
from kp.kernels import check_range
from kp.kesler import DEMOTE, Coefficients, Dense, Linear, Rows, find_mistakes, product, squared, walk
from kp.mistakes import PREDICTORS, check_predictor
from kp.perceptron import visiting_orders
from kp.predictors import expansion

UPDATES = ("xu-zhang", "ordinary")
POINTS = 2**13  # points whose scores after all epochs are made together


class _AllClasses(KernelPerceptron):
    """What the two have in common: one log for all classes, and the votes along it. They have `_sums(coefficients (R, S),
    columns)`: R sums over the support examples, without thresholds, (R, c)."""

    _options = {"predictor": PREDICTORS, "demote": DEMOTE}

    def decision_function(self, X, *, predictor=None, epoch=None):
        """Scores (n, C) of X (n, d), or (n,) for two classes, of which the second is the positive one.

        Those of the voted predictor are shares of the votes (for two classes the difference of the shares). predictor and
        epoch (from 1) choose among all that the fit went through; the defaults are the estimator's and the last epoch. For
        kernel="precomputed", X is the matrix of kernel values with the training examples."""
        X = self._checked(X)
        predictor = check_predictor(self.predictor if predictor is None else predictor)
        scores = self._scores(X, (predictor,), (self.n_iter_ if epoch is None else epoch,))
        return scores[predictor][0]

    def _blocks(self, X, predictors):
        for start in range(0, len(X), POINTS):
            yield self._scores(X[start : start + POINTS], predictors, range(1, self.n_iter_ + 1))

    def _scores(self, X, predictors, epochs):
        """{predictor: scores of X after each of these epochs}; all that are sums from one expansion, votes from one walk."""
        columns, n_classes, (log,) = self._columns(X, self.mistakes_.steps()), len(self.classes_), self._logs()
        sums = [(name, epoch) for name in predictors if name != "voted" for epoch in epochs]
        found = {}
        if sums:
            c = [log.coefficients(*each, n_classes=n_classes, n=len(self.support_)) for each in sums]
            f = self._sums(np.concatenate(c), columns) + float(self.threshold) * np.concatenate(c).sum(axis=1)[:, None]
            f = [part.T if n_classes > 2 else part[1] for part in np.split(f, len(sums))]
            found = {name: [part for part, each in zip(f, sums, strict=True) if each[0] == name] for name, _ in sums}
        if "voted" in predictors:
            kernel, columns = self._added(columns)
            threshold, threads = float(self.threshold), self._n_threads()
            votes, _ = walk(log, kernel, columns, n_classes, threshold=threshold, epochs=epochs, threads=threads)
            shares = [part / log.steps(epoch) for part, epoch in zip(votes, epochs, strict=True)]
            found["voted"] = [part.T if n_classes > 2 else part[1] - part[0] for part in shares]
        return found

    def _added(self, columns):
        """(kernel, columns) of what a mistake on each support example adds to the scores of the points of `columns`."""
        return self._kernel(), columns

    def _learn(self, learner, n):
        random = check_random_state(self.random_state) if self.shuffle else None
        orders = visiting_orders(n, 1, self.max_iter, random_state=random)
        return find_mistakes(learner, orders, stop_if_separated=self.stop_if_separated)

    def _store(self, X, classes, log):
        self.converged_ = bool(log.step[-1] < log.steps() - len(X))
        return super()._store(X, classes, log)

    def _check_parameters(self):
        super()._check_parameters()
        if self.predictor == "minimizing" and not self._counts_errors():
            raise ValueError("the minimizing predictor needs count_errors=True and, for Xu and Zhang's, solver='squared'")

    def _counts_errors(self):
        return self.count_errors

    def _final(self):
        """Promotions less demotions (C, S) of the support examples and thresholds (C,) of the final predictor."""
        c = self._logs()[0].coefficients("final", n_classes=len(self.classes_), n=len(self.support_))
        return c, float(self.threshold) * c.sum(axis=1)


class MulticlassKernelPerceptron(_AllClasses):
    """Kernel perceptron of all classes at once: promote the true class, demote the one that was chosen wrongly.

    f_c(x) = sum_m alpha_m^c k(x_m, x) + beta_c; the highest score wins (Xu & Zhang 2005, eqs 10, 11; eq. 9 for two classes).

    Parameters
    ----------
    kernel : "rbf" exp(-|x - y|^2 / (2 sigma^2)), "poly" (coef0 + x.y)^degree, "linear" x.y, "precomputed", or a function.
    sigma, degree, coef0 : of the kernel (eqs 7, 8; the source has coef0 = 0); sigma is in the units of X.
    update : "xu-zhang" moves all coefficients of the two classes by k(x_m, x_q), "ordinary" only that of example q.
    threshold : move beta by 1 with every mistake; otherwise beta stays 0.
    demote : of the classes that match or beat the true one the "winner" (of equals the first), the "first", or "all".
    max_iter : number of epochs at most.
    stop_if_separated : stop after an epoch without a mistake.
    solver : for "xu-zhang", "squared" learns in the squared Gram matrix, which must fit into memory_budget with K itself;
        "coefficients" moves alpha, for large n, and counts no training errors. They agree but for rounding.
    count_errors : False spares the training errors after every mistake, which the minimizing predictor alone needs.
    predictor, shuffle, random_state, memory_budget, n_jobs : as those of `OneVsAllKernelPerceptron`; the source has "final".

    Attributes
    ----------
    mistakes_ : the `MulticlassLog`.
    classes_, support_, support_vectors_, n_iter_ : as those of `OneVsAllKernelPerceptron`.
    converged_ : True if the last epoch was without a mistake.
    dual_coef_, intercept_ : (C, n) alpha and (C,) beta of the final predictor."""

    _options = {**_AllClasses._options, "update": UPDATES, "solver": ("squared", "coefficients")}
    _counts = ("max_iter", "memory_budget")

    def __init__(
        self, kernel="rbf", *, sigma=1.0, degree=2, coef0=0.0, update="xu-zhang", threshold=True, demote="winner",
        max_iter=1000, predictor="final", shuffle=True, stop_if_separated=True, solver="squared", count_errors=True,
        random_state=None, memory_budget=2**30, n_jobs=2,
    ):  # fmt: skip
        self.kernel, self.sigma, self.degree, self.coef0 = kernel, sigma, degree, coef0
        self.update, self.threshold, self.demote, self.max_iter = update, threshold, demote, max_iter
        self.predictor, self.shuffle, self.stop_if_separated = predictor, shuffle, stop_if_separated
        self.solver, self.count_errors, self.random_state = solver, count_errors, random_state
        self.memory_budget, self.n_jobs = memory_budget, n_jobs

    def fit(self, X, y):
        """Learn from X (n, d), or the Gram matrix (n, n) for kernel="precomputed", and labels y (n,)."""
        X, y, classes = self._validate(X, y)
        return self._store(X, classes, self._learn(self._learner(X, y, len(classes)), len(y)))

    def _store(self, X, classes, log):
        super()._store(X, classes, log)
        c, self.intercept_ = self._final()
        if self.update == "xu-zhang":
            self._training = self._pair(X.copy() if self._kernel() == kernels.GIVEN else X)
            self.dual_coef_ = self._alpha(c)
        else:
            self.dual_coef_ = np.zeros((len(classes), len(X)))
            self.dual_coef_[:, self.support_] = c
        return self

    def _rows(self):
        return self._training[0] if self.update == "xu-zhang" else super()._rows()

    def _alpha(self, c):
        """alpha (R, n) of Xu and Zhang's update from promotions less demotions (R, S)."""
        return expansion(c, self.support_, self._kernel(), self._between(*self._training), threads=self._n_threads())

    def _sums(self, c, columns):
        alpha = self._alpha(c) if self.update == "xu-zhang" else c
        return expansion(alpha, np.arange(alpha.shape[1]), self._kernel(), columns, threads=self._n_threads())

    def _added(self, columns):
        if self.update == "ordinary":
            return super()._added(columns)
        kernel, training, everyone = self._kernel(), self._between(*self._training), np.arange(self.dual_coef_.shape[1])

        def values(rows, part):
            here = columns.values(kernel, everyone, part).T
            return product(training.values(kernel, self.support_[rows]), here, threads=self._n_threads())

        return kernels.GIVEN, CrossGram(PrecomputedKernel(values, len(self.support_), len(columns)))

    def _counts_errors(self):
        return self.count_errors and (self.update == "ordinary" or self.solver == "squared")

    def _learner(self, X, y, n_classes):
        """What finds the mistakes; see kp.kesler."""
        kernel, n, threshold = self._kernel(), len(X), float(self.threshold)
        options = {"threshold": threshold, "demote": self.demote, "threads": self._n_threads()}
        columns = self._between(*self._pair(X))
        if self.update == "ordinary":
            check_range(kernel, columns.norms, n * self.max_iter)
            if 8 * n * n > self.memory_budget and self.kernel != "precomputed":
                return Rows(self._gram(X), kernel, y, n_classes, **options)
            G = columns.values(kernel, np.arange(n))
        else:
            # Scores are sums of n squares of kernel values for each mistake.
            check_range(kernel._replace(degree=2 * kernel.degree), columns.norms, int(n**1.5 * self.max_iter) + 1)
            if self.solver == "coefficients":
                return Coefficients(lambda rows: columns.values(kernel, rows), y, n_classes, **options)
            if 16 * n * n > self.memory_budget:
                needed = f"{16 * n * n} bytes for {n} examples, got {self.memory_budget}"
                raise ValueError(f"memory_budget must hold K and its square, {needed}; or use solver='coefficients'")
            G = squared(columns.values(kernel, np.arange(n)), threads=self._n_threads())
        return Dense(G + threshold, y, n_classes, demote=self.demote, count_errors=self.count_errors)


class MulticlassPerceptron(_AllClasses):
    """Linear perceptron of all classes at once: f_c(x) = w_c . x + b_c. With two classes, f_2 = -f_1 is the binary one.

    Source: Xu & Zhang 2005, eqs 2 to 5, after Duda, Hart & Stork 2001.

    Parameters
    ----------
    threshold, demote, max_iter, predictor, shuffle, stop_if_separated, count_errors, random_state, n_jobs : as those of
        `MulticlassKernelPerceptron`.

    Attributes
    ----------
    classes_, mistakes_, support_, support_vectors_, n_iter_, converged_ : as there.
    coef_, intercept_ : (C, d) weights and (C,) thresholds of the final predictor, or (1, d) and (1,) for two classes."""

    kernel = "linear"

    def __init__(
        self, *, threshold=True, demote="winner", max_iter=1000, predictor="final", shuffle=True, stop_if_separated=True,
        count_errors=True, random_state=None, n_jobs=2,
    ):  # fmt: skip
        self.threshold, self.demote, self.max_iter, self.predictor = threshold, demote, max_iter, predictor
        self.shuffle, self.stop_if_separated, self.count_errors = shuffle, stop_if_separated, count_errors
        self.random_state, self.n_jobs = random_state, n_jobs

    def fit(self, X, y):
        """Learn from X (n, d) and labels y (n,)."""
        X, y, classes = self._validate(X, y)
        points, threshold = self._between(*self._pair(X)), float(self.threshold)
        check_range(self._kernel(), points.norms, len(y) * self.max_iter)
        x = np.ascontiguousarray(X, dtype=np.float64)
        log = self._learn(Linear(x, y, len(classes), threshold=threshold, demote=self.demote), len(y))
        if self.count_errors:
            options = {"threshold": threshold, "y": y, "threads": self._n_threads()}
            log = log.with_errors(walk(log, self._kernel(), points, len(classes), **options)[1])
        return self._store(X, classes, log)

    def _store(self, X, classes, log):
        super()._store(X, classes, log)
        c, b = self._final()
        W = self._weights(c)
        self.coef_, self.intercept_ = (W, b) if len(classes) > 2 else (W[1:], b[1:])
        return self

    def _weights(self, c):
        """W (R, d) from promotions less demotions (R, S)."""
        return product(c, self.support_vectors_.astype(np.float64).T, threads=self._n_threads())

    def _sums(self, c, columns):
        return product(self._weights(c), columns.column_points.X.astype(np.float64), threads=self._n_threads())
