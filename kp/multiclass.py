"""Perceptrons that learn all classes in one procedure (Xu & Zhang 2005; see kp.joint), as scikit-learn estimators.

Symbols: n examples, d features, C classes, K (n, n) kernel values, alpha (C, n) and beta (C,) the parameters of eq. 10.
"""

from __future__ import annotations

import numpy as np

from kp import kernels
from kp.compiled import PLAIN
from kp.estimator import ANY_KERNEL, FLAG, KERNEL_PARAMETERS, MACHINE_PARAMETERS, SHUFFLE, KernelPerceptron, one_of
from kp.gram import CrossGram, Points, PrecomputedKernel
from kp.hints import Array, Data, Epoch, Gamma, KernelChoice, Seed
from kp.joint import DEMOTE, Coefficients, Dense, Linear, Rows, collect_mistakes, product, squared, walk
from kp.kernels import Kernel, check_range
from kp.mistakes import BY_NAME, SAME_FIT, MulticlassLog, first_rows
from kp.predictors import Expansion, expansion

UPDATES = ("ordinary", "xu-zhang")
_POINTS = 2**13  # points whose scores after all epochs are made together


class _AllClasses(KernelPerceptron):
    """Base of the estimators with one log for all classes."""

    # _sums(weights, columns) gives sums (R, c) without thresholds, from what _weights(coefficients (R, S)) gives.
    _parameters = {
        **KernelPerceptron._parameters, "demote": one_of(*DEMOTE), "n_jobs": MACHINE_PARAMETERS["n_jobs"],
        **dict.fromkeys(("threshold", "stop_if_separated", "count_errors"), FLAG), "shuffle": SHUFFLE,
    }  # fmt: skip

    def decision_function(self, X: Data, *, predictor: str | None = None, epoch: Epoch = None) -> Array:
        """Score the classes by a predictor at an epoch: (n, C), or (n,) for two classes, positive for the second."""
        X = self._checked(X)
        (predictor, epoch) = self._chosen(predictor, epoch)
        return self._scores(X, (predictor,), (epoch,))[predictor][0]

    def _blocks(self, X, predictors):
        for start in range(0, X.shape[0], _POINTS):
            yield self._scores(X[start : start + _POINTS], predictors, range(1, self.n_iter_ + 1))

    def _scores(self, X, predictors, epochs):
        """{predictor: scores of X after each of these epochs}; all that are sums from one expansion, votes from one walk."""
        columns = self._columns(X, self.mistakes_[0].steps())
        n_classes = len(self.classes_)
        sums = [(name, epoch) for name in predictors if BY_NAME[name].weights for epoch in epochs]
        found = {}
        if sums:
            weights, moved = self._once("weights", sums, lambda: self._summed(sums))
            f = self._sums(weights, columns) + moved
            f = [part.T if n_classes > 2 else part[1] for part in np.split(f, len(sums))]
            found = {name: [part for part, each in zip(f, sums, strict=True) if each[0] == name] for name, _ in sums}
        if "voted" in predictors:
            (log,) = self._logs()
            kernel, columns = self._added(columns)
            votes, _ = walk(log, kernel, columns, n_classes, threshold=self._moved, epochs=epochs)
            shares = [part / log.steps(epoch) for part, epoch in zip(votes, epochs, strict=True)]
            found["voted"] = [part.T if n_classes > 2 else part[1] - part[0] for part in shares]
        return found

    def _summed(self, sums):
        """What `_sums` needs of a list of (predictor, epoch), and their thresholds (R, 1)."""
        (log,) = self._logs()
        c = [log.coefficients(*each, n_classes=len(self.classes_), n=len(self.support_)) for each in sums]
        c = np.concatenate(c)
        return self._weights(c), self._moved * c.sum(axis=1)[:, None]

    def _added(self, columns):
        """(kernel, columns) of what a mistake on each support example adds to the scores of the points of `columns`."""
        return self._kernel, columns

    def _run(self, learner, n):
        orders = self._watched(self._visiting_orders(1, n))
        return collect_mistakes(learner, orders, stop_if_separated=self.stop_if_separated)

    def _store(self, X, classes, logs):
        (log,) = logs
        self._moved = float(self.threshold)  # what a mistake moves beta by
        self.converged_ = bool(log.step[-1] < log.steps() - X.shape[0])
        super()._store(X, classes, logs)

    def _counts_errors(self):
        return self.count_errors or BY_NAME[self.predictor].needs_errors

    def _check_mistakes(self, mistakes, y, classes):
        self._check_logs(mistakes, MulticlassLog, 1, len(y))
        (log,) = mistakes
        promoted = log.promoted
        demoted = log.demoted
        promotes = promoted >= 0
        if not np.array_equal(promoted[promotes], y[log.example[promotes]]):
            raise ValueError(f"a log must promote the classes of the labels y, got others; {SAME_FIT}")
        others = (demoted >= 0) & (demoted < len(classes)) & (demoted != y[log.example])
        if not (others.all() and promotes[first_rows(log.step)].all()):
            raise ValueError(f"a log must promote the class of an example and demote others of {len(classes)}; {SAME_FIT}")

    def _promotions(self, predictor=None, epoch=None):
        """Promotions less demotions (C, S) of the support examples, of a predictor at an epoch."""
        chosen = self._weighted(predictor, epoch)
        return self._logs()[0].coefficients(*chosen, n_classes=len(self.classes_), n=len(self.support_))


class MulticlassKernelPerceptron(_AllClasses):
    """Kernel perceptron that learns all classes at once.

    A mistake on example q promotes its class i and demotes the class that was chosen wrongly (Xu and
    Zhang 2005, eqs 10 and 11; eq. 9 for two classes):

        f_c(x) = sum_m alpha_m^c k(x_m, x) + beta_c
        ordinary   alpha_q^i += 1, beta_i += 1
        xu-zhang   alpha_m^i += k(x_m, x_q) for all m, beta_i += 1

    and all of it with the opposite sign for the class that is demoted. The class with the highest
    score wins; ties go to the first class. The source has update="xu-zhang", coef0=0 (eq. 7),
    gamma=1 / (2 sigma^2) with sigma in the units of X (eq. 8), 1000 epochs, and predictor="final".
    The defaults differ from it, since on digits, iris, wine, breast cancer and two synthetic sets, raw
    and standardized, in five folds their error was 0.4 points above the lowest of 13 forms on average,
    and that of the source's form with gamma=1 10.4 points (benchmarks/defaults.py).

    Parameters
    ----------
    kernel : {"poly", "linear", "rbf", "laplacian", "precomputed"} or callable, default="poly"
        As in `OneVsAllKernelPerceptron`.
    degree : int, default=3
        As in `OneVsAllKernelPerceptron`.
    gamma : {"scale", "auto"} or float, default="scale"
        As in `OneVsAllKernelPerceptron`.
    coef0 : float, default=1.0
        As in `OneVsAllKernelPerceptron`.
    update : {"ordinary", "xu-zhang"}, default="ordinary"
        Move only the coefficient of example q, or all of the two classes by k(x_m, x_q).
    threshold : bool, default=True
        Move beta by 1 with every mistake; otherwise beta stays 0.
    demote : {"winner", "first", "all", "each"}, default="winner"
        Of the classes that match or beat the true one, demote the best (ties go to the first), the
        first, or all. "each" demotes all, and promotes the true class once for each of them.
    max_iter : int, default=10
        As in `OneVsAllKernelPerceptron`.
    predictor : {"final", "average", "minimizing", "voted"}, default="average"
        As in `OneVsAllKernelPerceptron`.
    epoch : int or None, default=None
        As in `OneVsAllKernelPerceptron`.
    shuffle : {True, "once", False}, default=True
        As in `OneVsAllKernelPerceptron`.
    stop_if_separated : bool, default=True
        Stop after an epoch without a mistake.
    solver : {"squared", "coefficients"}, default="squared"
        For "xu-zhang": "squared" learns in the squared Gram matrix, which must fit into memory_budget
        together with K. "coefficients" moves alpha, for large n, and counts no training errors. They
        agree except for rounding.
    count_errors : bool, default=True
        Count the training errors after every mistake, which only the minimizing predictor needs.
    random_state : int, RandomState or None, default=None
        As in `OneVsAllKernelPerceptron`.
    memory_budget : int, default=2**30
        As in `OneVsAllKernelPerceptron`.
    n_jobs : int or None, default=None
        As in `OneVsAllKernelPerceptron`.
    verbose : int, default=0
        As in `OneVsAllKernelPerceptron`.

    Attributes
    ----------
    classes_ : ndarray of shape (C,)
        Class labels, sorted.
    mistakes_ : list of MulticlassLog
        One log: the mistakes of the fit.
    support_ : ndarray of shape (S,)
        Numbers of the examples that were misclassified when they were visited.
    support_vectors_ : ndarray of shape (S, d)
        Those examples, sparse for sparse X; absent for kernel="precomputed".
    dual_coef_ : ndarray of shape (C, S)
        Promotions less demotions of each support example, for the estimator's predictor and epoch.
        For "ordinary" they are coefficients of k(x_i, x); for "xu-zhang" of
        sum_m k(x_i, x_m) k(x_m, x), and `alpha()` has those of k. The voted predictor has none.
    intercept_ : ndarray of shape (C,)
        The thresholds beta. The voted predictor has none.
    gamma_ : float
        The factor gamma of the kernel; absent for precomputed kernels and callables.
    n_iter_ : int
        Number of epochs that were run.
    converged_ : bool
        True if the last epoch was without a mistake.

    See Also
    --------
    kp.MulticlassPerceptron : The linear case, with weight vectors.
    kp.OneVsAllKernelPerceptron : One independent perceptron for each class.

    References
    ----------
    - Xu and Zhang (2005). A multiclass kernel perceptron algorithm. International Conference on
      Neural Networks and Brain. https://doi.org/10.1109/ICNNB.2005.1614728

    Examples
    --------
    With a picture, in notebooks/gallery.ipynb: "Three classes in one run".

    >>> from kp import MulticlassKernelPerceptron
    >>> X, y = [[0, 0], [4, 0], [0, 4]], ["a", "b", "c"]
    >>> model = MulticlassKernelPerceptron(
    ...     degree=1, gamma=1, update="xu-zhang", predictor="final", shuffle=False
    ... ).fit(X, y)
    >>> model.predict([[1, 1], [5, 1], [1, 5]]).tolist()
    ['c', 'b', 'c']
    >>> model.alpha().tolist()
    [[5.0, -11.0, 5.0], [-1.0, 15.0, -17.0], [-4.0, -4.0, 12.0]]
    >>> model.intercept_.tolist()
    [5.0, -1.0, -4.0]
    """

    _takes_sparse = True
    _parameters = {
        **_AllClasses._parameters, **KERNEL_PARAMETERS, **MACHINE_PARAMETERS, "kernel": ANY_KERNEL,
        "update": one_of(*UPDATES), "solver": one_of("squared", "coefficients"),
    }  # fmt: skip

    def __init__(
        self, kernel: KernelChoice = "poly", *, degree: int = 3, gamma: Gamma = "scale", coef0: float = 1.0,
        update: str = "ordinary", threshold: bool = True, demote: str = "winner", max_iter: int = 10,
        predictor: str = "average", epoch: Epoch = None, shuffle: bool | str = True, stop_if_separated: bool = True,
        solver: str = "squared", count_errors: bool = True, random_state: Seed = None, memory_budget: int = 2**30,
        n_jobs: int | None = None, verbose: int = 0,
    ) -> None:  # fmt: skip
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.update = update
        self.threshold = threshold
        self.demote = demote
        self.max_iter = max_iter
        self.predictor = predictor
        self.epoch = epoch
        self.shuffle = shuffle
        self.stop_if_separated = stop_if_separated
        self.solver = solver
        self.count_errors = count_errors
        self.random_state = random_state
        self.memory_budget = memory_budget
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _learn(self, X, y, classes):
        self._store(X, classes, [self._run(self._learner(X, y, len(classes)), len(y))])

    def _store(self, X, classes, logs):
        super()._store(X, classes, logs)
        squares = self.update == "xu-zhang"
        keeps = isinstance(self._kernel, Kernel) and not self._precomputed  # `Points` are copies
        self._training = self._pair(X if keeps else X.copy()) if squares else None
        self._n_seen = X.shape[0]

    @property
    def dual_coef_(self) -> Array:
        """Promotions less demotions (C, S) of the support examples, for the estimator's predictor and epoch."""
        return self._promotions()

    @property
    def intercept_(self) -> Array:
        """Thresholds beta (C,), for the estimator's predictor and epoch."""
        return self._moved * self._promotions().sum(axis=1)

    def alpha(self, predictor: str | None = None, epoch: Epoch = None) -> Array:
        """Compute the coefficients alpha (C, S) of the kernel (Xu and Zhang 2005, eq. 10) of a predictor at an epoch."""
        c = self._promotions(predictor, epoch)
        if self._training:
            return self._alpha(c)
        found = np.zeros((len(c), self._n_seen))
        found[:, self.support_] = c
        return found

    def _rows(self):
        return self._training[0] if self._training else super()._rows()

    def _alpha(self, c):
        """alpha (R, n) of Xu and Zhang's update from promotions less demotions (R, S)."""
        return expansion(c, self.support_, self._kernel, self._between(*self._training))

    def _weights(self, c):
        if self._training:
            return self._alpha(c)
        return Expansion(c, np.arange(c.shape[1]))

    def _sums(self, weights, columns):
        if self._training:
            return expansion(weights, np.arange(weights.shape[1]), self._kernel, columns)
        return weights.scores(self._kernel, columns)

    def _added(self, columns):
        if not self._training:
            return super()._added(columns)
        kernel = self._kernel
        training = self._between(*self._training)
        everyone = np.arange(self._n_seen)

        def values(rows, part):
            here = columns.values(kernel, everyone, part).T
            return product(training.values(kernel, self.support_[rows]), here, threads=self._n_threads())

        threads = self._n_threads()
        return kernels.GIVEN, CrossGram(PrecomputedKernel(values, len(self.support_), len(columns), threads=threads))

    def _check_parameters(self):
        super()._check_parameters()
        if BY_NAME[self.predictor].needs_errors and self.update == "xu-zhang" and self.solver == "coefficients":
            raise ValueError(
                f"the {self.predictor} predictor needs training errors: for Xu and Zhang's update, solver='squared'"
            )

    def _learner(self, X, y, n_classes):
        """The code that finds the mistakes; see kp.joint."""
        kernel = self._kernel
        n = len(y)
        threshold = float(self.threshold)
        options = {"threshold": threshold, "demote": self.demote, "threads": self._n_threads()}
        columns = self._between(*self._pair(X))
        if self.update == "ordinary":
            check_range(columns.in_units(kernel), columns.source.top, n * int(self.max_iter))
            if 8 * n * n > self.memory_budget and self.kernel != "precomputed":
                return Rows(self._gram(X), kernel, y, n_classes, **options)
            G = columns.values(kernel, np.arange(n))
        else:
            # Scores are sums of n squares of kernel values for each mistake.
            squares = columns.in_units(kernel)
            squares = squares._replace(degree=2 * squares.degree)
            check_range(squares, columns.source.top, int(n**1.5 * int(self.max_iter)) + 1)
            if self.solver == "coefficients":
                return Coefficients(lambda rows: columns.values(kernel, rows), y, n_classes, **options)
            if 16 * n * n > self.memory_budget:
                needed = f"{16 * n * n} bytes for {n} examples, got {self.memory_budget}"
                raise ValueError(f"memory_budget must hold K and its square, {needed}; or use solver='coefficients'")
            G = squared(columns.values(kernel, np.arange(n)), threads=self._n_threads())
        return Dense(G + threshold, y, n_classes, demote=self.demote, count_errors=self._counts_errors())


class MulticlassPerceptron(_AllClasses):
    """Linear perceptron that learns all classes at once.

    A mistake on example q of class i, which class j matches or beats, moves two weight vectors and
    thresholds (Xu and Zhang 2005, eqs 2 to 5):

        f_c(x) = w_c . x + b_c,   w_i += x_q, b_i += 1,   w_j -= x_q, b_j -= 1

    The class with the highest score wins; ties go to the first class. With two classes, f_2 = -f_1
    is the binary perceptron.

    Parameters
    ----------
    threshold : bool, default=True
        Move b by 1 with every mistake; otherwise b stays 0.
    demote : {"winner", "first", "all", "each"}, default="winner"
        As in `MulticlassKernelPerceptron`.
    max_iter : int, default=1000
        As in `OneVsAllKernelPerceptron`.
    predictor : {"final", "average", "minimizing", "voted"}, default="final"
        As in `OneVsAllKernelPerceptron`; the source predicts with the last weights.
    shuffle : {True, "once", False}, default=True
        As in `OneVsAllKernelPerceptron`.
    stop_if_separated : bool, default=True
        As in `MulticlassKernelPerceptron`.
    epoch : int or None, default=None
        As in `OneVsAllKernelPerceptron`.
    count_errors : bool, default=False
        Count the training errors after every mistake, which only the minimizing predictor needs. For
        any predictor it takes far longer than learning.
    random_state : int, RandomState or None, default=None
        As in `OneVsAllKernelPerceptron`.
    n_jobs : int or None, default=None
        As in `OneVsAllKernelPerceptron`.
    verbose : int, default=0
        As in `OneVsAllKernelPerceptron`.

    Attributes
    ----------
    classes_ : ndarray of shape (C,)
        Class labels, sorted.
    mistakes_ : list of MulticlassLog
        One log: the mistakes of the fit.
    support_ : ndarray of shape (S,)
        Numbers of the examples that were misclassified when they were visited.
    support_vectors_ : ndarray of shape (S, d)
        Those examples.
    coef_ : ndarray of shape (C, d) or (1, d)
        Weights, one row for two classes, of the estimator's predictor and epoch. The voted predictor
        has none.
    intercept_ : ndarray of shape (C,) or (1,)
        Thresholds b, for the same. The voted predictor has none.
    gamma_ : float
        Always 1, as the kernel is x.y.
    n_iter_ : int
        Number of epochs that were run.
    converged_ : bool
        True if the last epoch was without a mistake.

    See Also
    --------
    kp.MulticlassKernelPerceptron : The same with kernels.

    References
    ----------
    - Xu and Zhang (2005). A multiclass kernel perceptron algorithm. International Conference on
      Neural Networks and Brain. https://doi.org/10.1109/ICNNB.2005.1614728

    Examples
    --------
    >>> from kp import MulticlassPerceptron
    >>> model = MulticlassPerceptron(shuffle=False)
    >>> model = model.fit([[0, 0], [4, 0], [0, 4]], ["a", "b", "c"])
    >>> model.predict([[1, 1], [5, 1], [1, 5]]).tolist()
    ['c', 'b', 'c']
    >>> model.coef_.tolist()
    [[-4.0, -4.0], [4.0, 0.0], [0.0, 4.0]]
    >>> model.intercept_.tolist()
    [1.0, -1.0, 0.0]
    """

    kernel = "linear"

    def __init__(
        self, *, threshold: bool = True, demote: str = "winner", max_iter: int = 1000, predictor: str = "final",
        shuffle: bool | str = True, stop_if_separated: bool = True, epoch: Epoch = None, count_errors: bool = False,
        random_state: Seed = None, n_jobs: int | None = None, verbose: int = 0,
    ) -> None:  # fmt: skip
        self.threshold = threshold
        self.demote = demote
        self.max_iter = max_iter
        self.predictor = predictor
        self.shuffle = shuffle
        self.stop_if_separated = stop_if_separated
        self.epoch = epoch
        self.count_errors = count_errors
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _points(self, X):
        return Points(X)  # as the weights, in the units of X

    def _learn(self, X, y, classes):
        points = self._between(*self._pair(X))
        threshold = float(self.threshold)
        check_range(self._kernel, points.source.top, len(y) * int(self.max_iter))
        x = np.require(X, np.float64, PLAIN)
        log = self._run(Linear(x, y, len(classes), threshold=threshold, demote=self.demote), len(y))
        if self._counts_errors():
            log = log.with_errors(walk(log, self._kernel, points, len(classes), threshold=threshold, y=y)[1])
        self._store(X, classes, [log])

    @property
    def coef_(self) -> Array:
        """Weights (C, d), or (1, d) for two classes, for the estimator's predictor and epoch."""
        return self._weights(self._promotions()[self._own])

    @property
    def intercept_(self) -> Array:
        """Thresholds (C,), or (1,) for two classes, for the estimator's predictor and epoch."""
        return self._moved * self._promotions()[self._own].sum(axis=1)

    @property
    def _own(self):
        """Of two classes the second, whose score is that of the first with the opposite sign."""
        return slice(len(self.classes_) == 2, None)

    def _weights(self, c):
        """W (R, d) from promotions less demotions (R, S)."""
        return product(c, self.support_vectors_.astype(np.float64).T, threads=self._n_threads())

    def _sums(self, W, columns):
        return product(W, columns.column_points.compact.astype(np.float64), threads=self._n_threads())
