"""One-vs-all: a binary kernel perceptron for each class.

Source: Hermans 2021, sections 3.1 (one-vs-all) and 3.4 (argmax of the scores).
"""

from __future__ import annotations

from kp.estimator import FLAG, SHUFFLE, one_of
from kp.hints import Array, Epoch, Gamma, KernelChoice, Seed
from kp.mistakes import BY_NAME
from kp.output_codes import _OutputCodes
from kp.perceptron import Rule, find_mistakes


class OneVsAllKernelPerceptron(_OutputCodes):
    """One binary kernel perceptron for each class.

    Each perceptron visits the examples and, on a mistake, adds the example to its sum (Hermans 2021,
    Algorithm 1 and sections 3.1, 3.3 and 3.4):

        f_c(x) = sum_i alpha_i z_i k(x_i, x),   z_i = +1 in class c, -1 elsewhere

    The class with the highest score wins; ties go to the first class. One fit holds four predictors
    of every epoch: final, average, minimizing, and voted (Freund and Schapire 1999). On handwritten
    digits no other one has detectably fewer errors than the average one.

    Parameters
    ----------
    kernel : {"poly", "linear", "rbf", "laplacian", "precomputed"} or callable, default="poly"
        "poly" is (coef0 + gamma x.y)^degree, "linear" is x.y, "rbf" is exp(-gamma |x - y|^2),
        "laplacian" is exp(-gamma |x - y|_1). With "precomputed", X is a matrix of kernel values. A
        callable takes float64 arrays X (n, d) and Y (m, d) and returns K (n, m).
    degree : int, default=3
        Degree of the polynomial kernel, at least 1.
    gamma : {"scale", "auto"} or float, default="scale"
        Positive factor. "scale" is 1 / (d Var X), for "laplacian" 1 / (d sd X), of the training set or
        the first part of a stream, and "auto" is 1 / d. With 1, polynomials of whole numbers are whole.
        Use "scale" on standardized attributes.
    coef0 : float, default=1.0
        Constant of the polynomial kernel.
    threshold : bool, default=False
        Move a threshold b_c by z_i with every mistake, as `MulticlassKernelPerceptron` does; otherwise
        there is none. This is the perceptron of the kernel k + 1.
    max_iter : int, default=10
        Largest number of epochs.
    predictor : {"final", "average", "minimizing", "voted"}, default="average"
        Predictor that `predict` uses by default. It may be set after `fit`.
    epoch : int or None, default=None
        Epoch, counted from 1, whose predictor `predict` uses by default. None is the last epoch, and
        so is an epoch after an early stop. It may be set after `fit`.
    shuffle : {True, "once", False}, default=True
        Visit the examples in a new random order in each epoch, in one that is drawn once and kept, or
        in the order given.
    orders : {"separate", "shared"}, default="separate"
        Draw an order for each class in turn (Hermans), or one order for all classes. "shared" with
        shuffle="once" (Freund and Schapire) leaves fewer support vectors; that errors stay the same
        within 0.05 points was not shown, so it is not the default.
    stop_if_separated : bool, default=True
        Stop after an epoch in which no perceptron makes a mistake.
    count_errors : bool, default=False
        Count the training errors after every mistake, which the minimizing predictor needs, also
        where this takes a separate pass: for linear kernels, which learn by weight vectors.
    at_zero : {"mistake", "negative"}, default="mistake"
        A score of exactly 0 at a visit is a mistake for both signs, as sgn(0) = 0 is neither label.
        With "negative" it is right for examples outside the class, as in programs that predict the
        class only if f > 0. They skip the visits before the first example of the class, so that all
        later scores differ, and with them, after three epochs on 600 digits, 4 to 9 % of the labels of
        1,197 others by the final predictor, 3 to 6 % by the average one. Training errors count 0 as
        wrong in any case.
    random_state : int, RandomState or None, default=None
        Seed or generator of the visiting orders.
    memory_budget : int, default=2**30
        Bytes for rows of inner products. It does not change the result.
    n_jobs : int or None, default=None
        Number of threads; None is 1, or the number of a joblib context. It does not change the
        result.
    verbose : int, default=0
        Show a progress bar of epochs unless it is 0.

    Attributes
    ----------
    classes_ : ndarray of shape (C,)
        Class labels, sorted.
    code_ : ndarray of shape (C, m)
        The code matrix: one-hot, or one column for two classes.
    mistakes_ : list of MistakeLog
        Mistakes of each of the m perceptrons: one for each class, or one for two classes.
    support_ : ndarray of shape (S,)
        Numbers of the examples that any perceptron misclassified when it visited them.
    support_vectors_ : ndarray of shape (S, d)
        Those examples, sparse for sparse X; absent for kernel="precomputed".
    dual_coef_ : ndarray of shape (m, S)
        Coefficients of f(x) = dual_coef_ @ k(support_vectors_, x) for the estimator's predictor and
        epoch. The voted predictor has none.
    intercept_ : ndarray of shape (m,)
        The thresholds b, which f has besides; 0 without a threshold. The voted predictor has none.
    gamma_ : float
        The factor gamma of the kernel; absent for precomputed kernels and callables.
    n_iter_ : int
        Number of epochs that were run.
    n_seen_ : int
        Number of examples seen.

    See Also
    --------
    kp.OutputCodeKernelPerceptron : Other codes of the classes.
    kp.MulticlassKernelPerceptron : All classes learned in one procedure.
    kp.SharedTraining : Several of these fitted at once.

    References
    ----------
    - Hermans (2021). Digit classification with kernel perceptron. Course report, Università degli
      Studi di Milano. https://github.com/lukher98/digit-classification
    - Freund and Schapire (1999). Large margin classification using the perceptron algorithm.
      Machine Learning 37. https://doi.org/10.1023/A:1007662407062

    Examples
    --------
    With a picture, in notebooks/gallery.ipynb: "A boundary, and the mistakes that made it".

    >>> from sklearn.datasets import load_digits
    >>> from kp import OneVsAllKernelPerceptron
    >>> X, y = load_digits(return_X_y=True)
    >>> model = OneVsAllKernelPerceptron(degree=3, max_iter=2, random_state=0)
    >>> model = model.fit(X[:1000], y[:1000])
    >>> round(model.score(X[1000:], y[1000:]), 3)
    0.937

    The final predictor after each epoch, from the same fit:

    >>> stages = model.staged_predict(X[1000:], predictor="final")
    >>> [round(float((labels == y[1000:]).mean()), 3) for labels in stages]
    [0.934, 0.915]
    """

    _parameters = {
        **_OutputCodes._parameters, "orders": one_of("separate", "shared"), "shuffle": SHUFFLE, "stop_if_separated": FLAG,
        "count_errors": FLAG, "threshold": FLAG, "at_zero": one_of("mistake", "negative"),
    }  # fmt: skip

    def __init__(
        self, kernel: KernelChoice = "poly", *, degree: int = 3, gamma: Gamma = "scale", coef0: float = 1.0,
        threshold: bool = False, max_iter: int = 10, predictor: str = "average", epoch: Epoch = None,
        shuffle: bool | str = True, orders: str = "separate", stop_if_separated: bool = True, count_errors: bool = False,
        at_zero: str = "mistake", random_state: Seed = None, memory_budget: int = 2**30, n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:  # fmt: skip
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.threshold = threshold
        self.max_iter = max_iter
        self.predictor = predictor
        self.epoch = epoch
        self.shuffle = shuffle
        self.orders = orders
        self.stop_if_separated = stop_if_separated
        self.count_errors = count_errors
        self.at_zero = at_zero
        self.random_state = random_state
        self.memory_budget = memory_budget
        self.n_jobs = n_jobs
        self.verbose = verbose

    @property
    def intercept_(self) -> Array:
        """Thresholds (m,), for the estimator's predictor and epoch."""
        return self._moved * self.dual_coef_.sum(axis=1)

    def _fix(self, X):
        super()._fix(X)
        self._moved = float(self.threshold)  # what a mistake moves a threshold by
        self._kernel = self._kernel.plus_one() if self.threshold else self._kernel

    def _learn(self, X, y, classes):
        signs = self._signs(y)
        orders = self._watched(self._visiting_orders(*signs.shape))
        logs = find_mistakes(
            self._gram(X), self._kernel, signs, orders, self.max_iter, rule=self._rule(), threads=self._n_threads(),
            stop_if_separated=self.stop_if_separated, count_errors=self.count_errors or BY_NAME[self.predictor].needs_errors,
        )  # fmt: skip
        self._store(X, classes, logs)

    def _rule(self):
        return Rule(no_at_zero=self.at_zero == "negative")
