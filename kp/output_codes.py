"""Multiclass kernel perceptrons from binary ones by output codes, as scikit-learn estimators.

Sources: Hermans 2021, sections 3.1 (one-vs-all) and 3.4 (argmax of the scores); the course page "Perceptron", eqs 40 to 44.

Each class has a code, a row of m signs, and each of m binary perceptrons learns one column of the code matrix. The class of
the highest score wins, the first of equals; its score is the sum of the outputs that are +1 in its code,

    F_c(x) = sum_i [code_ci = +1] f_i(x) = (code_c . f(x) + sum_i f_i(x)) / 2

This is the course page's rule, which first looks for a code that matches all signs of f: code_c . f <= sum_i |f_i|, and the
class of that code attains it (but for rounding). Else the code that agrees best with f wins. A score of 0 matches no code.

Symbols: n examples, d features, C classes, m outputs, code (C, m) of +-1, z = +-1 signs (m, n), f (m, n) outputs.
"""

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if

from kp.estimator import KernelPerceptron
from kp.gram import CrossGram, Gram, Points, Products
from kp.mistakes import PREDICTORS
from kp.perceptron import find_mistakes, find_mistakes_until_consistent, visiting_orders
from kp.predictors import primal_scores, replay, scores

PRESENTATIONS = ("replacement", "shuffled", "ordered")  # in each epoch n independent draws, a fresh shuffle, the order given


def one_hot(n_classes):
    """code (C, C): class c has +1 in output c, -1 in all others                        (course page, eq. 40 left)"""
    return 2 * np.eye(n_classes, dtype=np.int8) - 1


def binary(n_classes):
    """code (C, m), m = ceil(log2 C): the binary digits of 0..C-1, the highest first, 0 as -1   (course page, eq. 40 right);
    the page's listing has the lowest first: the same outputs in reverse order."""
    digits = range(int(n_classes - 1).bit_length() - 1, -1, -1)
    return np.array([[2 * (c >> digit & 1) - 1 for digit in digits] for c in range(n_classes)], dtype=np.int8)


def code_matrix(code, n_classes):
    """code (C, m) int8 of "one-hot", "binary", or a matrix of +-1 with different rows; ValueError for anything else."""
    if isinstance(code, str):
        if code not in ("one-hot", "binary"):
            raise ValueError(f"code must be one-hot, binary or a matrix (C, m) of +1 and -1, got {code!r}")
        return one_hot(n_classes) if code == "one-hot" else binary(n_classes)
    code = np.asarray(code)
    if code.ndim != 2 or len(code) != n_classes or code.shape[1] < 1:
        raise ValueError(f"code must be a matrix with a row for each of {n_classes} classes, got shape {code.shape}")
    if not np.all((code == 1) | (code == -1)):
        raise ValueError(f"code must hold +1 and -1 only, got {np.unique(code)}; write 0 as -1")
    if len(np.unique(code, axis=0)) < n_classes:
        raise ValueError("code must have a different row for each class, got equal rows; add outputs or change the rows")
    return code.astype(np.int8)


def class_scores(f, code):
    """F (n, C) from outputs f (m, n) and code (C, m): sums of the outputs that are +1 in a class's code, in their order."""
    F = np.zeros((f.shape[1], len(code)))
    for output, positive in zip(f, code.T > 0, strict=True):
        F[:, positive] += output[:, None]
    return F


def presentations(n, epochs, how, *, random_state=None):
    """Yield, epoch by epoch, the n examples presented, (1, n); how is one of PRESENTATIONS, random_state a RandomState."""
    if how != "replacement":
        yield from visiting_orders(n, 1, epochs, random_state=random_state if how == "shuffled" else None)
        return
    for _ in range(epochs):
        yield random_state.randint(n, size=(1, n))


def _has_points(estimator):
    if estimator.kernel == "precomputed":
        raise AttributeError("partial_fit needs the points themselves, got kernel='precomputed'; use fit or another kernel")
    return True


class Decoder(KernelPerceptron):
    """Base of the estimators with a code matrix `code_`; those have `outputs(X, *, predictor, epoch)`, f (n, m)."""

    def decision_function(self, X, *, predictor=None, epoch=None):
        """Scores (n, C) of X (n, d), or (n,) for two classes, of which the second is the positive one.

        predictor and epoch (from 1) choose among all that the fit went through; the defaults are the estimator's predictor
        and the last epoch. For kernel="precomputed", X is the matrix of kernel values with the training examples."""
        return self._decision(self.outputs(X, predictor=predictor, epoch=epoch).T)

    def _decision(self, f):
        F = class_scores(f, self.code_)
        return F[:, 1] - F[:, 0] if len(self.code_) == 2 else F


class _OutputCodes(Decoder):
    """What estimators of m binary kernel perceptrons have in common."""

    _counts = ("max_iter", "memory_budget")

    @available_if(_has_points)
    def partial_fit(self, X, y, classes=None):
        """Go on over X (n, d), y (n,) of a stream, once, in the order given; the first call names all classes.

        Only misclassified examples are kept. Streams have no minimizing predictor and take no precomputed kernel."""
        X, y, classes = self._validate_part(X, y, classes)
        first = not hasattr(self, "classes_")
        start = None if first else np.ascontiguousarray(self.outputs(X, predictor="final").T)
        logs = find_mistakes(
            self._gram(X), self._kernel(), self._signs(y, classes), visiting_orders(len(y), 1, 1), 1, start=start,
            threads=self._n_threads(), count_errors=False,
        )  # fmt: skip
        if first:
            return self._store(X, classes, logs)
        logs = [old.followed_by(new, self.n_seen_) for old, new in zip(self.mistakes_, logs, strict=True)]
        index = np.append(self.support_, self.n_seen_ + np.arange(len(X)))
        return self._store(np.concatenate([self.support_vectors_, X]), classes, logs, index)

    def outputs(self, X, *, predictor=None, epoch=None):
        """The outputs f (n, m) of the m perceptrons on X (n, d); predictor and epoch as for `decision_function`."""
        X, predictor = self._checked(X), self.predictor if predictor is None else predictor
        columns = self._columns(X, self.mistakes_[0].steps())
        return scores(self._logs(), self._kernel(), columns, predictor, epoch, threads=self._n_threads()).T

    def _blocks(self, X, predictors):
        """Yield, block by block of X, {predictor: scores after each epoch}, from one walk along the logs: those of
        `decision_function`, bit by bit where sums of kernel values are exact, as on integers, else but for rounding."""
        logs, epochs = self._logs(), range(1, self.n_iter_ + 1)
        if "minimizing" in predictors:
            for log in logs:
                log.minimizing_length()  # raises ValueError where training errors were not counted
        columns = self._columns(X, logs[0].steps())
        for _, f in replay(logs, self._kernel(), columns, epochs=epochs, threads=self._n_threads()):
            yield {name: [self._decision(outputs) for outputs in f[name]] for name in predictors}

    def _signs(self, y, classes):
        return np.ascontiguousarray(self._code(len(classes))[y].T)

    def _store(self, X, classes, logs, index=None):
        self.code_ = self._code(len(classes))
        self.n_seen_ = len(X) if index is None else int(index[-1]) + 1
        return super()._store(X, classes, logs, index)


class OutputCodeKernelPerceptron(_OutputCodes):
    """One binary kernel perceptron for each output of a code; all outputs learn from the same presentations.

    The kernel listing of the course page "Perceptron" (eqs 40 to 44) has code="one-hot", presentation="replacement"; its
    augmented data, x_0 = 1, take coef0 + gamma in place of coef0 here. One-vs-all is the case of one-hot codes and shuffled
    presentations. Threads and memory budget do not change a bit.

    Parameters
    ----------
    kernel, degree, gamma, coef0, predictor, random_state, memory_budget, n_jobs : as those of `OneVsAllKernelPerceptron`.
    code : "one-hot" (m = C), "binary" (m = ceil(log2 C)), or a matrix (C, m) of +-1, a row for each of the sorted labels.
    max_iter : number of epochs, of n presentations each, at most.
    presentation : "replacement" draws each from all n, "shuffled" visits all in a fresh random order, "ordered" as given.
    stop_if_consistent : stop after the first epoch at whose end every output is right on every training example.

    Attributes
    ----------
    code_ : (C, m) the code matrix.
    converged_ : True if `fit` ended without a training error in any output.
    classes_, mistakes_, support_, support_vectors_, n_iter_, n_seen_ : as those of `OneVsAllKernelPerceptron`."""

    _options = {"predictor": PREDICTORS, "presentation": PRESENTATIONS}

    def __init__(
        self, kernel="poly", *, code="one-hot", degree=3, gamma=1.0, coef0=1.0, max_iter=100, presentation="replacement",
        predictor="final", stop_if_consistent=True, random_state=None, memory_budget=2**30, n_jobs=2,
    ):  # fmt: skip
        self.kernel, self.code, self.degree, self.gamma, self.coef0 = kernel, code, degree, gamma, coef0
        self.max_iter, self.presentation, self.predictor = max_iter, presentation, predictor
        self.stop_if_consistent, self.random_state = stop_if_consistent, random_state
        self.memory_budget, self.n_jobs = memory_budget, n_jobs

    def fit(self, X, y):
        """Learn from X (n, d), or the Gram matrix (n, n) for kernel="precomputed", and labels y (n,)."""
        X, y, classes = self._validate(X, y)
        random, signs = check_random_state(self.random_state), self._signs(y, classes)
        orders = presentations(len(y), self.max_iter, self.presentation, random_state=random)
        find = find_mistakes_until_consistent if self.stop_if_consistent else find_mistakes
        logs = find(self._gram(X), self._kernel(), signs, orders, self.max_iter, threads=self._n_threads())
        self.converged_ = not any(log.errors[-1] for log in logs)
        return self._store(X, classes, logs)

    def _code(self, n_classes):
        return code_matrix(self.code, n_classes)


class OneVsAllKernelPerceptron(_OutputCodes):
    """One binary kernel perceptron for each class; the class with the highest score wins, the first of equals.

    Hermans 2021, Algorithm 1 and sections 3.1, 3.3 and 3.4. `SharedTraining` fits several to the same examples.

    Parameters
    ----------
    kernel : "poly" (coef0 + gamma x.y)^degree, "linear" x.y, "rbf" exp(-gamma |x - y|^2), "precomputed", or a function.
    degree, gamma, coef0 : of the kernel, not scaled by the number of features; the defaults give K = (1 + x.y)^degree.
    max_iter : number of epochs.
    predictor : "final", "average", "minimizing" or "voted", which `predict` uses unless it is told otherwise.
    shuffle : visit the examples in a fresh random order in each epoch; otherwise in the order given.
    orders : "separate" draws an order for each class in turn, "shared" one for all classes.
    stop_if_separated : stop after an epoch in which no perceptron makes a mistake.
    random_state : int, RandomState or None.
    memory_budget, n_jobs : bytes for rows of inner products kept while fitting, and threads: neither changes a bit.

    Attributes
    ----------
    classes_ : (C,) labels, sorted.
    mistakes_ : a `MistakeLog` for each of the m perceptrons, one for each class, or one for two classes.
    support_ : (S,) numbers of the examples that any perceptron misclassified when it visited them.
    support_vectors_ : (S, d) those examples; absent for kernel="precomputed".
    n_iter_, n_seen_ : epochs run, and examples seen."""

    _options = {"predictor": PREDICTORS, "orders": ("separate", "shared")}

    def __init__(
        self, kernel="poly", *, degree=3, gamma=1.0, coef0=1.0, max_iter=10, predictor="final", shuffle=True,
        orders="separate", stop_if_separated=True, random_state=None, memory_budget=2**30, n_jobs=2,
    ):  # fmt: skip
        self.kernel, self.degree, self.gamma, self.coef0 = kernel, degree, gamma, coef0
        self.max_iter, self.predictor, self.shuffle, self.orders = max_iter, predictor, shuffle, orders
        self.stop_if_separated, self.random_state = stop_if_separated, random_state
        self.memory_budget, self.n_jobs = memory_budget, n_jobs

    def fit(self, X, y):
        """Learn from X (n, d), or the Gram matrix (n, n) for kernel="precomputed", and labels y (n,)."""
        X, y, classes = self._validate(X, y)
        signs = self._signs(y, classes)
        logs = find_mistakes(
            self._gram(X), self._kernel(), signs, self._visiting_orders(*signs.shape), self.max_iter,
            stop_if_separated=self.stop_if_separated, threads=self._n_threads(),
        )  # fmt: skip
        return self._store(X, classes, logs)

    def _visiting_orders(self, m, n):
        random = check_random_state(self.random_state) if self.shuffle else None
        return visiting_orders(n, m if self.orders == "separate" else 1, self.max_iter, random_state=random)

    def _code(self, n_classes):
        # Of two classes the two outputs would be mirror images; one is enough.
        return one_hot(n_classes) if n_classes > 2 else binary(2)


class SharedTraining:
    """A training set for several `OneVsAllKernelPerceptron`s with named kernels: each inner product is made once for all.

    Parameters
    ----------
    X, y : (n, d) points and (n,) labels.
    memory_budget : bytes for rows of inner products, kept in `gram` for `staged_outputs`; the models' own do not count.
    n_jobs : number of threads; no result depends on it, nor on the budget."""

    def __init__(self, X, y, *, memory_budget=2**30, n_jobs=2):
        self.X, self.y, self.n_jobs = X, y, n_jobs
        self.gram = Gram.of_points(X, memory_budget=memory_budget)

    def fit(self, models, *, count_errors=True, callback=None):
        """Fit models that have the same max_iter and stop_if_separated=False, each as its own `fit` would; returns them.

        With count_errors=False, models of degree 1 may go without the training errors of their predictors, for which they
        would need kernel rows; `staged_outputs` counts them in passing. callback(visits) is called as the visits go on.
        Raises ValueError for other models, and for kernels that are precomputed or functions."""
        if len({model.max_iter for model in models}) > 1 or any(model.stop_if_separated for model in models):
            epochs = [model.max_iter for model in models]
            raise ValueError(f"models must have the same max_iter, got {epochs}, and stop_if_separated=False")
        for model in models:
            if callable(model.kernel) or model.kernel == "precomputed":
                raise ValueError(f"models must have named kernels, got {model.kernel!r}; fit this one by itself")
            X, y, classes = model._validate(self.X, self.y)
        options = {"threads": self.n_jobs, "count_errors": count_errors, "callback": callback}
        for affine in (True, False):  # weight vectors do not wait for kernel rows
            group = [model for model in models if model._kernel().affine == affine]
            if group:
                signs = [model._signs(y, classes) for model in group]
                m, n = signs[0].shape
                each = zip(*(model._visiting_orders(m, n) for model in group), strict=True)
                orders = (np.concatenate([np.broadcast_to(order, (m, n)) for order in epoch]) for epoch in each)
                kernels = [model._kernel() for model in group for _ in range(m)]
                logs = find_mistakes(self.gram, kernels, np.concatenate(signs), orders, model.max_iter, **options)
                for i, model in enumerate(group):
                    model._store(X, classes, logs[i * m : (i + 1) * m])
        return models

    def staged_outputs(self, models, X=None, *, callback=None):
        """Yield (slice of points, [{predictor: f (E, m, c)} of each model]): the outputs after each of its E epochs.

        X (n, d) are any points, by default those of the training set. All models are read in one walk, block by block.
        Each predictor of each model comes once for each point: where training errors were not counted, the walk over the
        training set counts them, and the minimizing predictor comes in blocks of its own after it (with other X it is left
        out). callback(c) is called after each block of the walk. The arrays are overwritten by the next block."""
        if len({model.n_iter_ for model in models}) > 1:
            raise ValueError("models must have run equally many epochs; fit them with stop_if_separated=False")
        epochs, m = range(1, models[0].n_iter_ + 1), len(models[0].mistakes_)
        logs, kernels = [log for model in models for log in model.mistakes_], [model._kernel() for model in models]
        errors = [np.zeros(len(log), dtype=np.int64) if log.errors is None else None for log in logs]
        if X is None:
            index = np.searchsorted(models[0].classes_, self.y)
            signs = np.concatenate([model._signs(index, model.classes_) for model in models])
            columns, counting = self.gram, {"signs": signs, "errors": errors}
        else:
            columns, counting = CrossGram(Products(self.gram.points, Points(X))), {}
        own = [slice(i, i + m) for i in range(0, len(logs), m)]
        names = [[name for name in PREDICTORS if name != "minimizing" or errors[cut][0] is None] for cut in own]
        each = [kernel for kernel in kernels for _ in range(m)]
        for part, f in replay(logs, each, columns, epochs=epochs, threads=self.n_jobs, callback=callback, **counting):
            yield part, [{name: f[name][:, cut] for name in there} for cut, there in zip(own, names, strict=True)]
        for model, kernel, cut in zip(models, kernels, own, strict=True):
            if X is None and errors[cut][0] is not None:
                model.mistakes_ = [log.with_errors(e) for log, e in zip(logs[cut], errors[cut], strict=True)]
                for part, f in primal_scores(model.mistakes_, kernel, self.gram, "minimizing", epochs):
                    yield part, [{"minimizing": f} if other is model else {} for other in models]
