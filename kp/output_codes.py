"""Multiclass kernel perceptrons from binary ones by output codes, as scikit-learn estimators.

Sources: Hermans 2021, sections 3.1 (one-vs-all encoding) and 3.4 (argmax of the scores); the course page "Perceptron",
eqs 40 (one-hot and binary encoding) and 41 to 44 (kernel perceptron).

Each class has a code, a row of m signs, and each of m binary perceptrons learns one column of the code matrix. Decoding:
the score of a class is the sum of the outputs that are +1 in its code,

    F_c(x) = sum_i [code_ci = +1] f_i(x) = (code_c . f(x) + sum_i f_i(x)) / 2 ,

and the class of the highest score wins, the first of equals. This is the course page's rule: code_c . f <= sum_i |f_i|, and
the class whose code matches all signs of f attains it, so it wins where there is one (but for rounding, where outputs
differ by a factor of 2^53); where no code matches, of one-hot codes the largest output wins, and of any codes the one that
agrees best with f, outputs far from 0 counting more. A score of exactly 0 matches no code.

Symbols: n examples, d features, C classes, m outputs, code (C, m) of +-1, z = +-1 signs (m, n), f (m, n) outputs.
"""

from dataclasses import replace

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets, unique_labels
from sklearn.utils.validation import check_is_fitted, validate_data

from kp import kernels
from kp.compiled import compiled
from kp.estimator import KernelPerceptron
from kp.kernels import check_range
from kp.mistakes import MistakeLog
from kp.perceptron import find_mistakes, visiting_orders
from kp.predictors import scores

PRESENTATIONS = ("replacement", "shuffled", "ordered")
"""How examples are presented: n independent draws in each epoch, a fresh shuffle in each epoch, or the order given."""

EPOCHS = 16
"""Epochs of the first run by rows, where the number that is needed is not known beforehand; later ones are twice as long."""


def one_hot(n_classes):
    """code (C, C): class c has +1 in output c, -1 in all others                        (course page, eq. 40 left)"""
    return 2 * np.eye(n_classes, dtype=np.int8) - 1


def binary(n_classes):
    """code (C, m), m = ceil(log2 C): the binary digits of 0..C-1, the highest first, 0 as -1   (course page, eq. 40 right)

    The page's listing makes the same codes by de2bi, which has the lowest digit first: the same outputs in reverse order.
    """
    digits = range(int(n_classes - 1).bit_length() - 1, -1, -1)
    return np.array([[2 * (c >> digit & 1) - 1 for digit in digits] for c in range(n_classes)], dtype=np.int8)


def code_matrix(code, n_classes):
    """code (C, m) int8 of "one-hot", "binary", or a matrix (C, m) of +-1 with a different row for each class.

    Raises ValueError for anything else.
    """
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
    """F (n, C) from outputs f (m, n) and code (C, m): sums of the outputs that are +1 in a class's code, in their order.

    For one-hot codes F is f itself, transposed.
    """
    F = np.zeros((f.shape[1], len(code)))
    for output, positive in zip(f, code.T > 0, strict=True):
        F[:, positive] += output[:, None]
    return F


def decision(f, code):
    """class_scores(f, code), or for two classes the second score less the first (n,)."""
    F = class_scores(f, code)
    return F[:, 1] - F[:, 0] if len(code) == 2 else F


def presentations(n, epochs, how, *, random_state=None):
    """Yield, epoch by epoch, the n examples presented, (1, n): one of PRESENTATIONS; random_state a RandomState.

    With replacement some examples come several times in an epoch and about 1/e of them not at all.
    """
    if how != "replacement":
        yield from visiting_orders(n, 1, epochs, random_state=random_state if how == "shuffled" else None)
        return
    for _ in range(epochs):
        yield random_state.randint(n, size=(1, n))


def _has_points(estimator):
    if estimator.kernel == "precomputed":
        raise AttributeError("partial_fit needs the points themselves, got kernel='precomputed'; use fit or another kernel")
    return True


class _OutputCodes(KernelPerceptron):
    """What estimators of m binary kernel perceptrons and a code matrix have in common."""

    KERNELS = {
        "linear": lambda self: kernels.linear(),
        "poly": lambda self: kernels.polynomial(self.degree, gamma=self.gamma, coef0=self.coef0),
        "rbf": lambda self: kernels.rbf(gamma=self.gamma),
    }

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
        start = None if first else np.ascontiguousarray(self.outputs(X, predictor="final").T)
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

    def outputs(self, X, *, predictor=None, epoch=None):
        """The outputs f (n, m) of the m perceptrons on X (n, d); predictor and epoch as for decision_function."""
        check_is_fitted(self)
        predictor = self.predictor if predictor is None else predictor
        columns = self._columns(X, self.mistakes_[0].steps())
        return scores(self._logs, self._kernel(), columns, predictor, epoch, threads=self._threads()).T

    def decision_function(self, X, *, predictor=None, epoch=None):
        """Scores (n, C) of X (n, d), or (n,) for two classes, of which the second is the positive one.

        predictor and epoch (from 1) choose among all that the fit went through; the defaults are the estimator's predictor
        and the last epoch. For kernel="precomputed", X is the matrix of kernel values with the training examples.
        """
        return decision(self.outputs(X, predictor=predictor, epoch=epoch).T, self.code_)

    def _check_parameters(self):
        super()._check_parameters()
        self._check_integers(memory_budget=1)

    def _signs(self, y):
        return np.ascontiguousarray(self._code()[y].T)

    def _keep(self, X, logs, index=None):
        """Store the logs and, of the examples X (n, d) seen at the places `index`, those on which a perceptron erred."""
        index = np.arange(len(X)) if index is None else index
        self.support_ = np.unique(np.concatenate([log.example for log in logs]))
        self.code_ = self._code()
        self.mistakes_, self.n_iter_, self.n_seen_ = logs, logs[0].n_epochs, int(index[-1]) + 1
        self._logs = [log.renumbered(np.searchsorted(self.support_, log.example)) for log in logs]
        if self.kernel != "precomputed":
            self.support_vectors_ = X[np.searchsorted(index, self.support_)]
        self._hold(getattr(self, "support_vectors_", None), self.support_)
        return self


class OutputCodeKernelPerceptron(_OutputCodes):
    """One binary kernel perceptron for each output of a code; all outputs learn from the same presentations.

    The course page's kernel listing is code="one-hot", presentation="replacement". Its augmented data, x_0 = 1, add 1 to
    every inner product: coef0 + gamma in place of coef0 here, and nothing for the RBF kernel. sgn(0) = 0 is a mistake there
    too, and as alpha counts mistakes it adds a whole one; see kp.delta_rule for the linear listing, where it does not.
    One-vs-all is the special case of one-hot codes and shuffled presentations.

    Parameters
    ----------
    kernel, degree, gamma, coef0, predictor, random_state, n_jobs : as those of `OneVsAllKernelPerceptron`.
    memory_budget : bytes for kernel values, if all n^2 fit in, or for rows of inner products that are kept while fitting.
    code : "one-hot" (m = C outputs), "binary" (m = ceil(log2 C)), or a matrix (C, m) of +-1 with a different row for each
        class, in the order of the sorted labels.
    max_iter : number of epochs, of n presentations each, at most.
    presentation : "replacement" draws each example presented from all n, "shuffled" visits all in a fresh random order in
        each epoch, "ordered" in the order given.
    stop_if_separated : stop after the first epoch at whose end every output is right on every training example.

    Attributes
    ----------
    classes_ (C,); code_ (C, m); mistakes_ : a `MistakeLog` for each output; converged_ : True if fit ended without a
    training error in any output; support_, support_vectors_, n_iter_, n_seen_, n_features_in_ : as those of
    `OneVsAllKernelPerceptron`.

    The same random_state gives the same bits on any number of threads and any memory budget.
    """

    def __init__(
        self,
        kernel="poly",
        *,
        code="one-hot",
        degree=3,
        gamma=1.0,
        coef0=1.0,
        max_iter=100,
        presentation="replacement",
        predictor="final",
        stop_if_separated=True,
        random_state=None,
        memory_budget=2**30,
        n_jobs=2,
    ):
        self.kernel = kernel
        self.code = code
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.max_iter = max_iter
        self.presentation = presentation
        self.predictor = predictor
        self.stop_if_separated = stop_if_separated
        self.random_state = random_state
        self.memory_budget = memory_budget
        self.n_jobs = n_jobs

    def fit(self, X, y):
        """Learn from X (n, d), or the Gram matrix (n, n) for kernel="precomputed", and labels y (n,)."""
        X, y = self._validate(X, y)
        n, signs, random = len(y), self._signs(y), check_random_state(self.random_state)
        if 8 * n * n <= self.memory_budget or self.kernel == "precomputed":
            columns = self._among(X)
            check_range(self._kernel(), columns.norms, n * self.max_iter)
            K = columns.values(self._kernel(), np.arange(n))
            orders = presentations(n, self.max_iter, self.presentation, random_state=random)
            logs = _find_mistakes_dense(K, signs, orders, stop_if_separated=self.stop_if_separated)
        else:
            logs = self._find_mistakes_by_rows(self._gram(X), signs, random)
        self.converged_ = not any(log.errors[-1] for log in logs)
        return self._keep(X, logs)

    def _find_mistakes_by_rows(self, gram, signs, random):
        """The logs, from rows of the Gram matrix made on demand.

        find_mistakes tells only at the end what it found, and an epoch of draws with replacement that passes without a
        mistake proves nothing. So run, look for the first epoch that ended without training errors, and if there is none
        run again for twice as long: what was run before comes out the same.
        """
        start = random.get_state()
        epochs = min(EPOCHS, self.max_iter) if self.stop_if_separated else self.max_iter
        while True:
            random.set_state(start)
            orders = presentations(len(gram), epochs, self.presentation, random_state=random)
            logs = find_mistakes(gram, self._kernel(), signs, orders, epochs, threads=self._threads())
            clean = np.flatnonzero(_errors_by_epoch(logs) == 0)
            if epochs == self.max_iter or len(clean):
                break
            epochs = min(2 * epochs, self.max_iter)
        return [_until(log, clean[0] + 1) for log in logs] if self.stop_if_separated and len(clean) else logs

    def _check_parameters(self):
        super()._check_parameters()
        self._check_options(presentation=PRESENTATIONS)

    def _code(self):
        return code_matrix(self.code, len(self.classes_))


def _errors_by_epoch(logs):
    """Training errors (E,) at the end of each epoch, summed over the outputs. Scores start at 0, so that every output errs
    on the first example presented and no log is empty at the end of an epoch."""
    epochs = range(1, logs[0].n_epochs + 1)
    return sum(log.errors[[log.length(epoch) - 1 for epoch in epochs]] for log in logs)


def _until(log, epoch):
    """The log as it was at the end of the epoch."""
    made = log.length(epoch)
    columns = {name: getattr(log, name)[:made] for name in ("example", "step", "sign", "errors")}
    return replace(log, **columns, ends=log.ends[:epoch])


def _find_mistakes_dense(K, signs, orders, *, stop_if_separated):
    """Logs of m perceptrons, as those of `find_mistakes`, from the whole matrix K (n, n): for sets where it fits in memory.

    stop_if_separated ends after the first epoch at whose end no output errs on any example.
    """
    f, errors = np.zeros(signs.shape), np.full(len(signs), signs.shape[1])
    found, ends = [], []
    for order in orders:
        place, output, wrong = _visit(K, signs, order[0], f, errors)
        found.append((order[0][place], len(ends) * len(K) + place, output, wrong))
        ends.append((len(ends) + 1) * len(K))
        if stop_if_separated and not errors.any():
            break
    example, step, output, wrong = map(np.concatenate, zip(*found, strict=True))
    logs = []
    for i, z in enumerate(signs):
        own = output == i
        logs.append(
            MistakeLog(
                example=example[own], step=step[own], sign=z[example[own]], errors=wrong[own], ends=np.array(ends)
            )
        )  # fmt: skip
    return logs


@compiled
def _visit(K, signs, order, f, errors):
    """Visit the examples in order; outputs f (m, n) and their training errors (m,) move. Of each mistake the place in the
    order, the output, and the training errors of that output afterwards."""
    place, outputs, wrong = [0 for _ in range(0)], [0 for _ in range(0)], [0 for _ in range(0)]
    for s in range(order.shape[0]):
        t = order[s]
        row = K[t]
        for i in range(f.shape[0]):
            z = signs[i]
            if z[t] * f[i, t] > 0.0:
                continue
            sign, score, count = np.float64(z[t]), f[i], 0
            for u in range(row.shape[0]):
                score[u] += sign * row[u]
                count += z[u] * score[u] <= 0.0
            errors[i] = count
            place.append(s)
            outputs.append(i)
            wrong.append(count)
    return np.array(place, dtype=np.int64), np.array(outputs, dtype=np.int64), np.array(wrong, dtype=np.int64)


class OneVsAllKernelPerceptron(_OutputCodes):
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

    def _check_parameters(self):
        super()._check_parameters()
        self._check_options(orders=("separate", "shared"))

    def _code(self):
        # Of two classes the two outputs would be mirror images; one is enough.
        return one_hot(len(self.classes_)) if len(self.classes_) > 2 else binary(2)
