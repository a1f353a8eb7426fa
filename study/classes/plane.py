"""Multiclass perceptrons in the plane: what Xu and Zhang's algorithm can learn, and how many mistakes it makes.

Sources: Xu & Zhang 2005 (eqs 10 and 11, Figs 1 to 3); Duda, Hart & Stork 2001 (Kesler's construction); Novikoff 1962.

Symbols: X (n, 2) examples, y (n,) indices of C classes, K (n, n) kernel values, G (n, n) what the mistakes add to scores:
K + 1 for the ordinary perceptron, K^2 + 1 for Xu and Zhang's. Classes are separable if one w has a positive product with
all of Kesler's vectors (see study.protocols.margins); every mistake that demotes one class adds one of them to w.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.optimize import linprog

from kp import MulticlassKernelPerceptron, kernels
from kp.joint import Linear, squared
from study import datasets
from study.protocols.margins import kesler_margins, kesler_pairs, rounded, separable_bound
from study.protocols.settings import BaseSettings
from study.results.experiment import experiment

UPDATES = {"ordinary": "ordinary", "Xu-Zhang": "xu-zhang"}
"""The updates under their names in tables, and as the estimator has them."""
DEMOTED = ("winner", "first", "all")
"""The choices of the demoted class that are compared."""

WIDTHS = (0.15, 0.2, 0.3, 0.4, 0.6, 0.8, 1.0)
FACTORS = (0.7, 1.0, 1.4, 2.0, 2.5)
ORDERS = 20
"""Visiting orders in which the mistakes of both updates are compared."""


# The settings of a notebook, and the parts of its tables.


@dataclass(frozen=True, kw_only=True)
class Problem(BaseSettings):
    """A set in the plane, drawn with the seed random_state, and a Xu-Zhang perceptron for it.

    kernel: "linear", "poly" (homogeneous, of this degree) or "rbf" (of the width sigma). factor: of all coordinates;
    centred: the mean of the examples is moved to the origin.
    """

    dataset: str
    kernel: str
    degree: int = 2
    sigma: float = 1.0
    factor: float = 1.0
    centred: bool = False
    demote: str = "winner"
    max_iter: int
    random_state: int = 0

    def examples(self):
        """X (n, 2), y (n,)."""
        data = datasets.load(self.dataset, random_state=self.random_state)
        X = self.factor * data.X
        return X - X.mean(axis=0) if self.centred else X, data.y

    def gram(self, X):
        """K (n, n)."""
        return kernel_of(self.kernel, degree=self.degree, sigma=self.sigma)(X, X)

    def estimator(self, **options):
        own = {name: getattr(self, name) for name in ("demote", "max_iter", "random_state")}
        own |= parameters_of(self.kernel, degree=self.degree, sigma=self.sigma)
        return MulticlassKernelPerceptron(**(own | {"n_jobs": 1, "count_errors": False} | options))


@dataclass(frozen=True, kw_only=True)
class Orders(Problem):
    """The same in n_orders visiting orders, seeded from 0 on."""

    n_orders: int = ORDERS


@dataclass(frozen=True, kw_only=True)
class Settings(BaseSettings):
    """Settings of a notebook's run: five linearly separable classes, and spirals, their seed, and the kernels."""

    five: str = "five-classes"
    spirals: str = "four-spirals"
    sigma: float = 0.6
    degree: int = 2
    max_iter: int = 2000
    demote: str = "winner"
    random_state: int = 0

    def problem(self, dataset, kernel, kind=Problem, **changes):
        common = {name: getattr(self, name) for name in ("max_iter", "demote", "random_state")}
        own = {"poly": {"degree": self.degree}, "rbf": {"sigma": self.sigma}}.get(kernel, {})
        return kind(**(common | own | {"dataset": dataset, "kernel": kernel} | changes))

    def separability(self):
        """The parts of `separability`: three sets, two kernels each."""
        sets = [(self.five, False), (self.five, True), (self.spirals, False)]
        return [self.problem(name, kernel, centred=moved) for name, moved in sets for kernel in ("linear", "poly")]

    def orders(self):
        """The parts of `orders`: the spirals by the width of the RBF kernel, the five classes by a factor on coordinates."""
        return [
            *(self.problem(self.spirals, "rbf", Orders, sigma=width, demote="winner") for width in WIDTHS),
            *(self.problem(self.five, "poly", Orders, factor=factor, demote="winner") for factor in FACTORS),
        ]


PUBLISHED = Settings()
"""The settings of the committed tables."""


def kernel_of(name, *, degree=2, sigma=1.0):
    """The kernel of a Xu-Zhang perceptron: "linear", "poly" (x.y)^degree or "rbf" exp(-|x - y|^2 / (2 sigma^2))."""
    found = {"linear": kernels.linear(), "poly": kernels.polynomial(degree, coef0=0.0), "rbf": kernels.gaussian(sigma=sigma)}
    return found[name]


def parameters_of(name, **options):
    """Parameters of an estimator that is Xu and Zhang's, with the kernel `kernel_of(name, **options)`."""
    own = kernel_of(name, **options)
    kernel = {"kernel": name, "degree": own.degree, "gamma": own.gamma, "coef0": own.coef0}
    return kernel | {"update": "xu-zhang", "predictor": "final"}


# Limits of learning.


@experiment("classes", published=PUBLISHED.separability, data=lambda part: [part.dataset])
def separability(part, *, progress=False):
    """Rank, separability and the run of a Problem: one row.

    Columns: dataset, centred, kernel, examples, rank, separable, converged ("yes" or "no"), epochs, mistakes, errors (of the
    last predictor on the training examples).
    """
    X, y = part.examples()
    model = part.estimator().fit(X, y)
    K = part.gram(X)
    words = ["yes" if fact else "no" for fact in (separable(K, y), model.converged_)]
    errors = int(np.sum(model.predict(X) != y))
    names = ["dataset", "centred", "kernel", "examples", "rank", "separable", "converged", "epochs", "mistakes", "errors"]
    row = (part.dataset, part.centred, part.kernel, len(y), rank(K)[0], *words, model.n_iter_)
    return pd.DataFrame([(*row, model.mistakes_[0].n_mistakes(), errors)], columns=names)


def rank(K):
    """The rank of a symmetric matrix K (n, n), and an orthonormal basis (n, rank) of its columns."""
    values, vectors = np.linalg.eigh(K)
    held = np.abs(values) > len(K) * np.finfo(float).eps * np.abs(values).max()
    return int(held.sum()), vectors[:, held]


def separable(K, y):
    """True if scores f_c = K a_c + b_c exist of which each example's own is the highest: Kesler's criterion in K's span.

    A linear programme looks for functions in the span of the columns of K and the constant with f_i - f_j >= 1.
    """
    features = np.column_stack([np.sqrt(len(K)) * rank(K)[1], np.ones(len(K))])
    pairs, signs = kesler_pairs(y)
    A = np.einsum("pc,pr->pcr", signs, features[pairs]).reshape(len(pairs), -1)
    found = linprog(np.zeros(A.shape[1]), A_ub=-A, b_ub=-np.ones(len(A)), bounds=(None, None))
    if found.status not in (0, 2):
        raise RuntimeError(f"expected the linear programme to be solved or infeasible, got: {found.message}")
    return found.status == 0


def cycles(X, y, *, max_iter=10_000):
    """Runs of the linear perceptron of eq. 5 with each choice of the demoted class on X (n, d), always in the order given.

    X are whole numbers, so that the state is exact: W and b less those of the first class, on which alone decisions depend.
    If it is the same at the ends of two epochs, all between them comes again for ever. Columns: demoted, ends ("stops",
    "repeats", or "open" after max_iter epochs), epochs (until it stopped, or until the first state that came again), period.
    """
    rows = []
    for demote in DEMOTED:
        learner = Linear(np.asarray(X, dtype=float), y, y.max() + 1, demote=demote)
        seen = {}
        row = (demote, "open", max_iter, 0)
        for epoch in range(1, max_iter + 1):
            mistaken, *_ = learner.visit(np.arange(len(y)))
            state = np.column_stack([learner.W - learner.W[0], learner.b - learner.b[0]]).tobytes()
            if not len(mistaken) or state in seen:
                row = (demote, "repeats", seen[state], epoch - seen[state]) if len(mistaken) else (demote, "stops", epoch, 0)
                break
            seen[state] = epoch
        rows.append(row)
    return pd.DataFrame(rows, columns=["demoted", "ends", "epochs", "period"])


# How many mistakes.


@experiment("classes", published=PUBLISHED.orders, tables=("orders", "bounds"), data=lambda part: [part.dataset])
def orders(part, *, progress=False):
    """{orders, bounds} of both updates on one problem: mistakes until an epoch passes without one, and their bound.

    orders: dataset, kernel, sigma, factor, update, order, converged, mistakes; the seed of an order gives both updates the
    same visits. bounds: dataset, kernel, sigma, factor, update, bound = 2 (R / gamma)^2, as Kesler's vectors have squared
    lengths of at most 2 R^2. The winner is demoted: where all rivals are, a mistake adds no Kesler vector, and the bound
    does not hold.
    """
    X, y = part.examples()
    K = part.gram(X)
    own = (part.dataset, part.kernel, part.sigma, part.factor)
    rows = []
    bounds = []
    for (name, update), G in zip(UPDATES.items(), (K + 1, squared(K) + 1), strict=True):
        bound = separable_bound(kesler_margins(G, y), np.sqrt(2 * G.diagonal().max()))
        bounds.append((*own, name, rounded(bound, 9)))
        for seed in range(part.n_orders):
            fit = part.estimator(update=update, random_state=seed).fit(X, y)
            rows.append((*own, name, seed, fit.converged_, fit.mistakes_[0].n_mistakes()))
    names = ["dataset", "kernel", "sigma", "factor", "update"]
    return {
        "orders": pd.DataFrame(rows, columns=[*names, "order", "converged", "mistakes"]),
        "bounds": pd.DataFrame(bounds, columns=[*names, "bound"]),
    }
