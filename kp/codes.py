"""Output codes: code matrices, and the classes' scores from the outputs.

Sources: Hermans 2021, section 3.4 (argmax of the scores); the course page "Perceptron", eqs 40 to 44.

Each class has a code, a row of m signs, and each of m binary learners learns one column of the code matrix. The class of
the highest score wins, and ties go to the first class; its score is the sum of the outputs that are +1 in its code:

    F_c(x) = sum_i [code_ci = +1] f_i(x) = (code_c . f(x) + sum_i f_i(x)) / 2

This is the course page's rule, which first looks for a code that matches all signs of f: code_c . f <= sum_i |f_i|, and the
class of that code attains it (except for rounding). Else the code that agrees best with f wins. A score of 0 matches none.

A 0 in a code says that the output is not trained on that class (Allwein, Schapire & Singer 2000). The classes are then
scored by votes, of the outputs that agree with the code less those that do not:

    F_c(x) = sum_i code_ci sign(f_i(x))

Symbols: n examples, C classes, m outputs, code (C, m) of +1, -1 and 0, f (m, n) outputs, F (n, C) scores of classes.
"""

from __future__ import annotations

import numpy as np

from kp.compiled import compiled
from kp.estimator import KernelPerceptron
from kp.hints import Array, Code, Data, Epoch
from kp.wording import shown


def one_hot(n_classes: int) -> Array:
    """Make the one-hot code: class c has +1 in output c and -1 in all others (course page, eq. 40 left)."""
    return 2 * np.eye(n_classes, dtype=np.int8) - 1


def binary(n_classes: int) -> Array:
    """Make the binary code: the digits of 0..C-1, the highest first, 0 as -1 (course page, eq. 40 right)."""
    digits = range(int(n_classes - 1).bit_length() - 1, -1, -1)
    return np.array([[2 * (c >> digit & 1) - 1 for digit in digits] for c in range(n_classes)], dtype=np.int8)


def one_vs_one(n_classes: int) -> Array:
    """Make the one-vs-one code: an output for each pair of classes, +1 for the first, -1 for the second, else 0."""
    first, second = np.triu_indices(n_classes, k=1)
    rows = np.arange(n_classes)[:, None]
    return (rows == first).astype(np.int8) - (rows == second).astype(np.int8)


NAMED = {"one-hot": one_hot, "binary": binary, "one-vs-one": one_vs_one}
"""{name of a code: the function of the number of classes that makes it}."""


def code_matrix(code: Code, n_classes: int) -> Array:
    """Make a code matrix from its name, or check one."""
    if isinstance(code, str):
        if code not in NAMED:
            raise ValueError(f"code must be one of {', '.join(NAMED)}, or a matrix of +1, -1 and 0, got {shown(code)}")
        return NAMED[code](n_classes)
    code = np.asarray(code)
    if code.ndim != 2 or len(code) != n_classes or code.shape[1] < 1:
        raise ValueError(f"code must be a matrix with a row for each of {n_classes} classes, got shape {code.shape}")
    if not np.all((code == 1) | (code == -1) | (code == 0)):
        raise ValueError(f"code must contain +1, -1 and 0 only, got {shown(np.unique(code))}")
    if not (code.any(axis=0).all() and code.any(axis=1).all()):
        raise ValueError("code must have no row and no column of zeros: each class needs an output, each output a class")
    if len(np.unique(code, axis=0)) < n_classes:
        raise ValueError("code must have a different row for each class, got equal rows; add outputs or change the rows")
    return code.astype(np.int8)


def class_scores(f: Array, code: Array) -> Array:
    """Score the classes by the outputs: sums of the outputs that are +1 in a code, or votes where a code has zeros."""
    if not code.all():
        return np.sign(f).T @ code.T.astype(np.float64)
    F = np.zeros((f.shape[1], len(code)))
    _add_outputs(f, code, F)
    return F


@compiled
def _add_outputs(f, code, F):
    """F (n, C) += the outputs f (m, n) that are +1 in a code, in the order of the outputs."""
    for j in range(F.shape[0]):
        for c in range(F.shape[1]):
            for i in range(f.shape[0]):
                if code[c, i] > 0:
                    F[j, c] += f[i, j]


class Decoder(KernelPerceptron):
    """Base of the estimators with a code matrix `code_`."""

    # They have outputs(X, *, predictor, epoch), f (n, m), and _code(n_classes) where it is not one-hot.

    def decision_function(self, X: Data, *, predictor: str | None = None, epoch: Epoch = None) -> Array:
        """Score the classes by a predictor at an epoch: (n, C), or (n,) for two classes, positive for the second."""
        return self._decision(self.outputs(X, predictor=predictor, epoch=epoch).T)

    def _code(self, n_classes):
        # Of two classes the two outputs would be mirror images; one is enough.
        return one_hot(n_classes) if n_classes > 2 else binary(2)

    def _signs(self, y):
        """Labels +1, -1 and 0 (m, n) of the outputs for examples of classes y (n,)."""
        return np.ascontiguousarray(self.code_[y].T)

    def _validate(self, X, y):
        X, y, classes = super()._validate(X, y)
        self.code_ = self._code(len(classes))
        return X, y, classes

    def _decision(self, f):
        F = class_scores(f, self.code_)
        return F[:, 1] - F[:, 0] if len(self.code_) == 2 else F
