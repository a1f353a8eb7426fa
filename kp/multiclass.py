"""Multiclass perceptrons that learn all classes in one procedure, as scikit-learn estimators.

Source: Xu & Zhang 2005, sections II and III; see kp.kesler for their updates and how mistakes are found.

Symbols: n examples, d features, C classes, K (n, n) kernel values, alpha (C, n) and beta (C,) the parameters of eq. 10.
"""

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from kp import kernels
from kp.estimator import KernelPerceptron
from kp.gram import CrossGram, PrecomputedKernel
from kp.kernels import check_range
from kp.kesler import DEMOTE, Coefficients, Dense, Linear, Rows, find_mistakes, product, squared, walk
from kp.perceptron import visiting_orders
from kp.predictors import expansion

UPDATES = ("xu-zhang", "ordinary")
SOLVERS = ("squared", "coefficients")


class _AllClasses(KernelPerceptron):
    """What the two have in common: one log for all classes, and the votes along it."""

    def _check_parameters(self):
        super()._check_parameters()
        self._check_options(demote=DEMOTE)

    def _learn(self, learner, n):
        random = check_random_state(self.random_state) if self.shuffle else None
        orders = visiting_orders(n, 1, self.max_iter, random_state=random)
        self.mistakes_ = log = find_mistakes(learner, orders, stop_if_separated=self.stop_if_separated)
        self.n_iter_, self.converged_ = log.n_epochs, bool(log.step[-1] < log.steps() - n)
        self.support_ = np.unique(log.example)
        self._log = log.renumbered(np.searchsorted(self.support_, log.example))

    def _coefficients(self, predictor, epoch):
        """Promotions less demotions (C, S) of the support examples, and thresholds (C,)."""
        c = self._log.coefficients(predictor, epoch, n_classes=len(self.classes_), n=len(self.support_))
        return c, float(self.threshold) * c.sum(axis=1)

    def _shares(self, kernel, columns, epoch):
        """Shares of the votes; `columns` has a row for each support example."""
        epoch = self.n_iter_ if epoch is None else epoch
        (votes,), _ = walk(
            self._log, kernel, columns, len(self.classes_), threshold=float(self.threshold), epochs=(epoch,),
            threads=self._threads(),
        )  # fmt: skip
        votes /= self._log.steps(epoch)
        return votes.T if len(votes) > 2 else votes[1] - votes[0]


class MulticlassKernelPerceptron(_AllClasses):
    """Kernel perceptron of all classes at once: promote the true class, demote the one that was chosen wrongly.

    f_c(x) = sum_m alpha_m^c k(x_m, x) + beta_c, and the class of the highest score wins (Xu & Zhang 2005, eq. 10).

    Parameters
    ----------
    kernel : "rbf" exp(-|x - y|^2 / (2 sigma^2)) (eq. 8), "poly" (coef0 + x.y)^degree (eq. 7 with coef0 = 0), "linear" x.y,
        "precomputed", or a function of X (n, d) and Y (m, d) that returns K (n, m).
    sigma, degree, coef0 : parameters of the kernel; sigma is in the units of X.
    update : "xu-zhang" moves every coefficient of the two classes by k(x_m, x_q) (eq. 11; eq. 9 for two classes), "ordinary"
        only that of the example itself.
    threshold : move beta by 1 with every mistake; otherwise beta stays 0.
    demote : where several classes match or beat the true one, demote the "winner" (of equals the first), the "first" of them
        in the order of classes, or "all" of them.
    max_iter : number of epochs at most.
    predictor : "final" (the only one in the source), "average", "minimizing" or "voted", the one that `predict` uses unless
        it is told otherwise.
    shuffle : visit the examples in a fresh random order in each epoch; otherwise in the order given.
    stop_if_separated : stop after an epoch without a mistake.
    solver : for "xu-zhang", "squared" learns in the squared Gram matrix, which must fit into memory_budget with K itself;
        "coefficients" moves the coefficients, for large n, and counts no training errors. They agree but for rounding.
    count_errors : False spares the training errors after every mistake, which the minimizing predictor alone needs.
    random_state : int, RandomState or None.
    memory_budget : bytes for kernel values or inner products that are kept while fitting.
    n_jobs : number of threads; the result does not depend on it.

    Attributes
    ----------
    classes_ (C,); mistakes_ : the `MulticlassLog`; support_ (S,) indices of the examples on which it erred; n_iter_ epochs
    run; converged_ : True if the last epoch was without a mistake; dual_coef_ (C, n) = alpha and intercept_ (C,) = beta of
    the final predictor; n_features_in_.

    The same random_state gives the same bits on any number of threads.
    """

    KERNELS = {
        "linear": lambda self: kernels.linear(),
        "poly": lambda self: kernels.polynomial(self.degree, coef0=self.coef0),
        "rbf": lambda self: kernels.gaussian(sigma=self.sigma),
    }

    def __init__(
        self,
        kernel="rbf",
        *,
        sigma=1.0,
        degree=2,
        coef0=0.0,
        update="xu-zhang",
        threshold=True,
        demote="winner",
        max_iter=1000,
        predictor="final",
        shuffle=True,
        stop_if_separated=True,
        solver="squared",
        count_errors=True,
        random_state=None,
        memory_budget=2**30,
        n_jobs=2,
    ):
        self.kernel = kernel
        self.sigma = sigma
        self.degree = degree
        self.coef0 = coef0
        self.update = update
        self.threshold = threshold
        self.demote = demote
        self.max_iter = max_iter
        self.predictor = predictor
        self.shuffle = shuffle
        self.stop_if_separated = stop_if_separated
        self.solver = solver
        self.count_errors = count_errors
        self.random_state = random_state
        self.memory_budget = memory_budget
        self.n_jobs = n_jobs

    def fit(self, X, y):
        """Learn from X (n, d), or the Gram matrix (n, n) for kernel="precomputed", and labels y (n,)."""
        X, y = self._validate(X, y)
        self._learn(self._learner(X, y), len(y))
        if self.update == "xu-zhang":
            self._hold(X, np.arange(len(y)))
        else:
            self._hold(None if self.kernel == "precomputed" else X[self.support_], self.support_)
        self.dual_coef_ = np.zeros((len(self.classes_), len(y)))
        self.dual_coef_[:, self._examples], self.intercept_ = self._parameters("final", None)
        return self

    def decision_function(self, X, *, predictor=None, epoch=None):
        """Scores (n, C) of X (n, d), or (n,) for two classes, of which the second is the positive one.

        Those of the voted predictor are shares of the votes (for two classes the difference of the shares). predictor and
        epoch (from 1) choose among all that the fit went through; the defaults are the estimator's and the last epoch. For
        kernel="precomputed", X is the matrix of kernel values with the training examples.
        """
        check_is_fitted(self)
        predictor = self.predictor if predictor is None else predictor
        columns, kernel = self._columns(X, self.mistakes_.steps()), self._kernel()
        if predictor != "voted":
            alpha, beta = self._parameters(predictor, epoch)
            f = expansion(alpha, np.arange(alpha.shape[1]), kernel, columns, threads=self._threads()) + beta[:, None]
            return f.T if len(f) > 2 else f[1]
        if self.update == "ordinary":
            return self._shares(kernel, columns, epoch)
        training, everyone = self._among(self._held), np.arange(len(self._examples))

        def values(rows, part):
            here = columns.values(kernel, everyone, part).T
            return product(training.values(kernel, self.support_[rows]), here, threads=self._threads())

        squares = CrossGram(PrecomputedKernel(values, len(self.support_), len(columns)))
        return self._shares(kernels.GIVEN, squares, epoch)

    def _check_parameters(self):
        super()._check_parameters()
        self._check_integers(memory_budget=1)
        self._check_options(update=UPDATES, solver=SOLVERS)
        uncounted = not self.count_errors or (self.update == "xu-zhang" and self.solver == "coefficients")
        if self.predictor == "minimizing" and uncounted:
            raise ValueError(
                "the minimizing predictor needs count_errors=True and, for update='xu-zhang', solver='squared', got "
                f"count_errors={self.count_errors!r} and solver={self.solver!r}"
            )

    def _learner(self, X, y):
        """What finds the mistakes; see kp.kesler."""
        kernel, n, n_classes, threshold = self._kernel(), len(X), len(self.classes_), float(self.threshold)
        options = {"threshold": threshold, "demote": self.demote, "threads": self._threads()}
        columns = self._among(X)
        if self.update == "ordinary":
            check_range(kernel, columns.norms, n * self.max_iter)
            if 8 * n * n > self.memory_budget and self.kernel != "precomputed":
                return Rows(self._gram(X), kernel, y, n_classes, **options)
            G = columns.values(kernel, np.arange(n))
        else:
            self._check_squares(kernel, columns.norms)
            if self.solver == "coefficients":
                return Coefficients(lambda rows: columns.values(kernel, rows), y, n_classes, **options)
            if 16 * n * n > self.memory_budget:
                raise ValueError(
                    f"memory_budget must hold K and its square, {16 * n * n} bytes for {n} examples, got "
                    f"{self.memory_budget}; raise the budget or use solver='coefficients'"
                )
            G = squared(columns.values(kernel, np.arange(n)), threads=self._threads())
        return Dense(G + threshold, y, n_classes, demote=self.demote, count_errors=self.count_errors)

    def _check_squares(self, kernel, norms):
        """Raise ValueError if scores of max_iter epochs could overflow float64; given values were checked before."""
        if kernel == kernels.GIVEN:
            return
        with np.errstate(over="ignore"):
            bound = len(norms) * np.float64(kernel.bound(float(np.max(norms)))) ** 2
        if not bound < np.finfo(np.float64).max / (len(norms) * float(self.max_iter)) ** 2:
            raise ValueError(
                f"sums of squared kernel values must stay below 1.8e308, but this kernel of degree {kernel.degree} reaches "
                f"{bound:.2g} on points of squared norm {np.max(norms):.4g}; scale the data down or lower the degree"
            )

    def _parameters(self, predictor, epoch):
        """alpha (C, number of points held) and beta (C,) of a predictor."""
        c, beta = self._coefficients(predictor, epoch)
        if self.update == "ordinary":
            return c, beta
        return expansion(c, self.support_, self._kernel(), self._among(self._held), threads=self._threads()), beta


class MulticlassPerceptron(_AllClasses):
    """Linear perceptron of all classes at once: f_c(x) = w_c . x + b_c (Xu & Zhang 2005, eqs 4 and 5, after Duda et al.).

    With two classes f_2 = -f_1 is the binary perceptron of eqs 2 and 3.

    Parameters
    ----------
    threshold, demote, max_iter, predictor, shuffle, stop_if_separated, random_state, n_jobs : as those of
        `MulticlassKernelPerceptron`.
    count_errors : True counts the training errors after every mistake, which only the minimizing predictor needs.

    Attributes
    ----------
    classes_, mistakes_, support_, n_iter_, converged_, n_features_in_ : as there; coef_ (C, d) and intercept_ (C,), or
    (1, d) and (1,) for two classes, of the final predictor.
    """

    KERNELS = {"linear": lambda self: kernels.linear()}
    kernel = "linear"

    def __init__(
        self,
        *,
        threshold=True,
        demote="winner",
        max_iter=1000,
        predictor="final",
        shuffle=True,
        stop_if_separated=True,
        count_errors=True,
        random_state=None,
        n_jobs=2,
    ):
        self.threshold = threshold
        self.demote = demote
        self.max_iter = max_iter
        self.predictor = predictor
        self.shuffle = shuffle
        self.stop_if_separated = stop_if_separated
        self.count_errors = count_errors
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X, y):
        """Learn from X (n, d) and labels y (n,)."""
        X, y = self._validate(X, y)
        points, n_classes = self._among(X), len(self.classes_)
        check_range(self._kernel(), points.norms, len(y) * self.max_iter)
        x = np.ascontiguousarray(X, dtype=np.float64)
        self._learn(Linear(x, y, n_classes, threshold=float(self.threshold), demote=self.demote), len(y))
        if self.count_errors:
            options = {"threshold": float(self.threshold), "y": y, "threads": self._threads()}
            _, errors = walk(self.mistakes_, self._kernel(), points, n_classes, **options)
            self.mistakes_, self._log = self.mistakes_.with_errors(errors), self._log.with_errors(errors)
        self._hold(X[self.support_], self.support_)
        W, b = self._weights("final", None)
        self.coef_, self.intercept_ = (W, b) if n_classes > 2 else (W[1:], b[1:])
        return self

    def decision_function(self, X, *, predictor=None, epoch=None):
        """Scores (n, C) of X (n, d), or (n,) for two classes; see `MulticlassKernelPerceptron.decision_function`."""
        check_is_fitted(self)
        predictor = self.predictor if predictor is None else predictor
        columns = self._columns(X, self.mistakes_.steps())
        if predictor == "voted":
            return self._shares(self._kernel(), columns, epoch)
        W, b = self._weights(predictor, epoch)
        f = product(W, columns.column_points.X.astype(np.float64), threads=self._threads()) + b[:, None]
        return f.T if len(f) > 2 else f[1]

    def _check_parameters(self):
        super()._check_parameters()
        if self.predictor == "minimizing" and not self.count_errors:
            raise ValueError("the minimizing predictor needs count_errors=True, got False")

    def _weights(self, predictor, epoch):
        """W (C, d) and b (C,) of a predictor."""
        c, b = self._coefficients(predictor, epoch)
        return product(c, self._points.X.astype(np.float64).T, threads=self._threads()), b
