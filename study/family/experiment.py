"""The family of the kernel perceptron: what it costs to hold every mistake, what a budget costs, what regularisation gives.

Sources: Aizerman, Braverman & Rozonoer 1964 (kernel perceptron); Novikoff 1962, Freund & Schapire 1999 (mistake bounds, the
vote and its expected error); the learners of kp.budget. Support vector machines are scikit-learn's.

Every learner sees the examples once, in random order, and is asked before it learns from each: its errors on the way are the
online errors. All use k(x, y) / sqrt(k(x, x) k(y, y)), most with k = (1 + x.y)^p, which on raw pixels is nearly cos(x, y)^p.

Symbols: n examples, M mistakes, B budget, u a unit vector, gamma > 0 a margin (see study.margins; R = 1 here).
"""

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from sklearn.svm import SVC
from tqdm import tqdm

from kp import kernels
from kp.budget import BudgetPerceptron, Forgetron, Norma, normalized
from study import datasets
from study.experiment import experiment
from study.family.names import KEYS, METHODS, ODD_OR_EVEN, PROBLEMS, TEN_DIGITS
from study.margins import mistake_bound, rounded, separable_bound, unit_margins

COSTS = (0.01, 0.1, 1.0, 10.0, 100.0)
"""Costs C of the support vector machines among which one is chosen."""
DEGREES = range(1, 7)


# What is run: the settings of a notebook, and the parts that its tables are made of.


@dataclass(frozen=True, kw_only=True)
class Part:
    """n random examples of the first n_train of a training set, in n_orders orders with the seeds from random_state on.

    degree is that of the polynomial kernel.
    """

    dataset: str
    n_train: int
    n: int
    n_orders: int
    random_state: int
    degree: int

    @property
    def seeds(self):
        return range(self.random_state, self.random_state + self.n_orders)


@dataclass(frozen=True, kw_only=True)
class Stream(Part):
    """Streams of one learner: see `learner`; a fraction `noise` of the two labels is turned around."""

    problem: str = ODD_OR_EVEN
    kernel: str = "poly"
    gamma: float
    method: str = "perceptron"
    budget: int = 0
    noise: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Noise(Part):
    """One fraction `noise` of wrong labels, and what learns from them: n_epochs passes, NORMA at each lambda."""

    noise: float
    n_epochs: int
    regularizations: tuple


@dataclass(frozen=True, kw_only=True)
class Bound(Part):
    """Mistakes and bounds at one degree; n_bound examples where a support vector machine gives u."""

    n_bound: int


@dataclass(frozen=True, kw_only=True)
class Nu(Part):
    """A stream of NORMA with one nu."""

    nu: float


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What a notebook runs. n_train: the first examples of the training set; budgets: B for odd or even; class_budgets: B of
    each of ten learners; n_orders random orders seeded random_state, random_state + 1, ...; gamma of the RBF kernel.

    n_noise examples, visited n_epochs times, learn from labels of which the fractions `noise` are wrong, with NORMA at each
    lambda of `regularizations`; n_growth examples once. n_bound examples where a support vector machine gives u.
    n_nu examples and the fractions `nus` for NORMA's nu. sizes: examples of the support vector machines.
    """

    dataset: str
    n_train: int
    budgets: tuple
    class_budgets: tuple
    n_orders: int
    degree: int
    gamma: float
    noise: tuple
    n_growth: int
    n_noise: int
    n_epochs: int
    regularizations: tuple
    n_bound: int
    n_nu: int
    nus: tuple
    sizes: tuple
    random_state: int = 0

    def __post_init__(self):
        if self.dataset not in ("mnist", "digits"):
            raise ValueError(f"dataset must be mnist or digits, got {self.dataset!r}")
        size = sum(datasets.DATASETS[self.dataset].counts)
        most = {"n_train": size, "n_noise": self.n_train // 2} | dict.fromkeys(("n_growth", "n_bound", "n_nu"), self.n_train)
        for name, high in most.items():
            if not 20 <= getattr(self, name) <= high:
                raise ValueError(f"{name} must be in 20..{high}, got {getattr(self, name)!r}")

    def _part(self, kind, **changes):
        common = ("dataset", "n_train", "n_orders", "random_state", "degree")
        return kind(**({name: getattr(self, name) for name in common} | {"n": self.n_train} | changes))

    def streams(self):
        """The parts of `streams`: growth by kernel and by wrong labels, ten digits, then every method at every budget."""
        own = self._part(Stream, gamma=self.gamma)
        longer = replace(own, n_orders=max(5, self.n_orders))
        growth = [replace(longer, kernel=kernel) for kernel in ("poly", "rbf")]
        growth += [replace(longer, noise=noise, n=self.n_growth) for noise in self.noise if noise]
        budgets = [
            replace(own, problem=problem, method=method, budget=budget)
            for problem, sizes in zip(PROBLEMS, (self.budgets, self.class_budgets), strict=True)
            for method in METHODS[1:]
            for budget in sizes
        ]
        return [*growth, replace(own, problem=TEN_DIGITS), *budgets]

    def noises(self):
        """The parts of `noise`."""
        common = dict(n=self.n_noise, n_epochs=self.n_epochs, regularizations=self.regularizations)
        return [self._part(Noise, noise=noise, **common) for noise in self.noise]

    def bounds(self):
        """The parts of `bounds`: each degree at n_bound, in all orders, then at n_train, in the first."""
        few = [self._part(Bound, degree=degree, n=self.n_bound, n_bound=self.n_bound) for degree in DEGREES]
        more = [replace(part, n=self.n_train, n_orders=1) for part in few]
        return few + (more if self.n_train > self.n_bound else [])

    def nu_streams(self):
        """The parts of `nu`."""
        return [self._part(Nu, n=self.n_nu, n_orders=1, nu=nu) for nu in self.nus]

    def machines(self):
        """The parts of `machines`."""
        return [self._part(Part, n=n, n_orders=1) for n in self.sizes]


PUBLISHED = Settings(
    dataset="mnist",
    n_train=60000,
    budgets=(50, 100, 250, 500, 1000, 2000),
    class_budgets=(50, 100, 250),
    n_orders=3,
    degree=3,
    gamma=4e-7,
    noise=(0.0, 0.1, 0.2),
    n_growth=20000,
    n_noise=2000,
    n_epochs=5,
    regularizations=(1e-6, 1e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2),
    n_bound=2000,
    n_nu=10000,
    nus=(0.05, 0.1, 0.2, 0.4),
    sizes=(500, 1000, 2000, 5000, 10000),
)
"""The settings of the committed tables."""

QUICK = Settings(
    dataset="digits",
    n_train=1200,
    budgets=(10, 20, 50, 100),
    class_budgets=(10, 20, 40),
    n_orders=3,
    degree=3,
    gamma=1e-3,
    noise=(0.0, 0.1, 0.2),
    n_growth=1200,
    n_noise=400,
    n_epochs=5,
    regularizations=(1e-6, 1e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2),
    n_bound=300,
    n_nu=1200,
    nus=(0.05, 0.1, 0.2, 0.4),
    sizes=(100, 200, 400, 800, 1200),
)
"""Small settings of the same shape for the bundled digits."""


PROFILES = {"mnist": PUBLISHED, "digits": QUICK}


def settings(dataset, **changes):
    """The settings of a notebook: those of the profile of "mnist" (published) or "digits" (quick), with changes.

    Sizes that exceed a smaller n_train are cut to it. Raises ValueError for other data sets and sizes.
    """
    if dataset not in PROFILES:
        raise ValueError(f"dataset must be mnist or digits, got {dataset!r}")
    base = PROFILES[dataset]
    n = changes.get("n_train", base.n_train)
    cut = {name: min(getattr(base, name), n) for name in ("n_growth", "n_bound", "n_nu")}
    cut |= {"n_noise": min(base.n_noise, n // 2), "sizes": tuple(size for size in base.sizes if size <= n)}
    return replace(base, **(cut | changes))


# Learners and streams.


def learner(method, budget, settings, *, kernel="poly", random_state=0):
    """The online learner of a method, for a stream in a given order; budget None (0 in tables) holds all.

    NORMA runs as a perceptron that forgets: rho = 0, eta = 1, lambda = 1 / tau, tau = 5 B, so that it holds the mistakes of
    the last 5 B steps, fewer than B if it errs on less than a fifth.
    """
    common = dict(kernel=kernel, degree=settings.degree, gamma=settings.gamma if kernel == "rbf" else 1.0, shuffle=False)
    if method == "norma":
        return Norma(margin=0.0, step=1.0, regularization=1 / (5 * budget), truncation=5 * budget, **common)
    if method in ("forgetron", "basic forgetron"):
        return Forgetron(budget=budget, shrinking="basic" if method.startswith("basic") else "self-tuning", **common)
    if method in ("random", "oldest"):
        return BudgetPerceptron(budget=budget, removal=method, random_state=random_state, **common)
    return BudgetPerceptron(budget=None, **common)


def labels(problem, y):
    """Classes of a problem: the digit itself, or 1 for odd and 0 for even ones."""
    return np.asarray(y, dtype=np.int64) % 2 if problem == ODD_OR_EVEN else y


def ordered(settings, n, random_state, *, problem=ODD_OR_EVEN, noise=0.0):
    """(X, y): n random examples of the first n_train of the training set, a fraction of the two labels turned around.

    random_state: seed of the order and then of the noise.
    """
    data, random = datasets.load(settings.dataset), np.random.RandomState(random_state)
    order = random.permutation(settings.n_train)[:n]
    y = labels(problem, data.y[order])
    if noise:
        y = np.where(random.random_sample(n) < noise, 1 - y, y)
    return data.X[order], y


def checkpoints(n):
    """Numbers of examples, about evenly spaced in their logarithm, from n / 100 to n."""
    return np.unique(np.geomspace(max(n / 100, 10), n, 17).round().astype(int))


def run_stream(model, X, y, classes):
    """Feed a stream to the learner; rows (examples, online_errors, mistakes, support) at the checkpoints."""
    rows, errors, start = [], 0, 0
    for stop in checkpoints(len(y)):
        f = model.partial_fit(X[start:stop], y[start:stop], classes=classes).online_scores_
        guess = classes[(f[:, 0] > 0).astype(int) if len(classes) == 2 else f.argmax(axis=1)]
        errors += int(np.sum(guess != y[start:stop]))
        rows.append((stop, errors, int(model.n_mistakes_.sum()), len(model.support_)))
        start = stop
    return rows


def _dataset(part):
    return [part.dataset]


# Streams.


@experiment("family", published=PUBLISHED.streams, tables=("streams", "final"), data=_dataset, processes=2, sample=5)
def streams(part, *, progress=False):
    """{streams, final} of a Stream: what its learner did up to each checkpoint, and what it has come to.

    streams: the columns names.KEYS, examples, online_errors, mistakes, support (examples held);
    final: KEYS, n, errors on the n_test test examples, damage and shrinking of Forgetrons (sums over removals).
    """
    data, rows, last = datasets.load(part.dataset), [], []
    for seed in tqdm(part.seeds, desc=f"{part.method}, {part.budget}", disable=not progress):
        X, y = ordered(part, part.n, seed, problem=part.problem, noise=part.noise)
        model = learner(part.method, part.budget, part, kernel=part.kernel, random_state=seed)
        key = (part.problem, part.kernel, part.method, part.budget, part.noise, seed)
        rows += [key + row for row in run_stream(model, X, y, np.unique(labels(part.problem, data.y)))]
        errors = int(np.sum(model.predict(data.X_test) != labels(part.problem, data.y_test)))
        damage = shrinking = np.nan
        if isinstance(model, Forgetron):
            damage, shrinking = rounded(model.damage_.sum()), rounded(model.shrinking_.sum())
        last.append((*key, part.n, errors, len(data.y_test), damage, shrinking))
    names = [*KEYS, "examples", "online_errors", "mistakes", "support"]
    return {
        "streams": pd.DataFrame(rows, columns=names),
        "final": pd.DataFrame(last, columns=[*KEYS, "n", "errors", "n_test", "damage", "shrinking"]),
    }


# Label noise.


@experiment("family", published=PUBLISHED.noises, data=_dataset, processes=2)
def noise(part, *, progress=False):
    """Perceptron, NORMA at each lambda and support vector machines at each cost, on labels of which a fraction is wrong.

    Columns: noise, method, passes, value (lambda or C), random_state, errors (train with the labels as given, validation
    with as many wrong labels, test), their n, support.
    """
    kernel, n, rows = kernels.polynomial(part.degree), part.n, []
    data = datasets.load(part.dataset)
    z_test, n_test = labels(ODD_OR_EVEN, data.y_test), len(data.y_test)
    for seed in tqdm(part.seeds, desc=f"noise {part.noise:g}", disable=not progress):
        X, y = ordered(part, 2 * n, seed, noise=part.noise)
        samples = [(X[:n], y[:n]), (X[n:], y[n:]), (data.X_test, z_test)]
        common = dict(degree=part.degree, random_state=seed)
        models = [("perceptron", p, np.nan, BudgetPerceptron(budget=None, max_iter=p, **common)) for p in (1, part.n_epochs)]
        for value in part.regularizations:
            model = Norma(regularization=value, step=1.0, max_iter=part.n_epochs, **common)
            models.append(("norma", part.n_epochs, value, model))
        for method, passes, value, model in models:
            model.fit(X[:n], y[:n])
            errors = [int(np.sum(model.predict(x) != z)) for x, z in samples]
            rows.append((part.noise, method, passes, value, seed, *errors, n, n, n_test, len(model.support_)))
        values = [normalized(kernel, x, X[:n]) for x, _ in samples]
        for cost in COSTS:
            machine = SVC(C=cost, kernel="precomputed").fit(values[0], y[:n])
            errors = [int(np.sum(machine.predict(v) != z)) for v, (_, z) in zip(values, samples, strict=True)]
            rows.append((part.noise, "svm", 0, cost, seed, *errors, n, n, n_test, len(machine.support_)))
    names = ["noise", "method", "passes", "value", "random_state", "train", "validation", "test"]
    names += ["n_train", "n_validation", "n_test", "support"]
    return pd.DataFrame(rows, columns=names)


# Mistake bounds and the vote.


def vote(model, kernel, X):
    """Votes (c,) on the points X of a perceptron without a budget after one pass: sum of c_m sgn f_m(x), with f_m after m
    mistakes and c_m the steps that it stood. For two classes; kernel is that of the perceptron."""
    steps, signs = model.support_, model.dual_coef_[0]
    stood = np.diff(steps, append=model.n_seen_)
    out = np.empty(len(X))
    for start in range(0, len(X), 1000):
        K = normalized(kernel, X[start : start + 1000], model.support_vectors_)
        out[start : start + 1000] = np.sign(np.cumsum(K * signs, axis=1)) @ stood
    return out


@experiment("family", published=PUBLISHED.bounds, data=_dataset, processes=2)
def bounds(part, *, progress=False):
    """One row for each order of a Bound.

    Columns: degree, n, random_state, mistakes in one pass; bound, gamma, deviation D by the best u found; hard_bound
    (R / gamma)^2 with the widest margin found, missing where none is positive; total mistakes in 30 passes and whether the
    last was without one (separated); vote_errors and last_errors of the first pass on n_test; svm_support, svm_errors of the
    support vector machine (C = 10). total and svm_* are missing where n exceeds n_bound.
    """
    data, rows = datasets.load(part.dataset), []
    z_test, n_test = 2 * labels(ODD_OR_EVEN, data.y_test) - 1, len(data.y_test)
    for seed in tqdm(part.seeds, desc=f"degree {part.degree}", disable=not progress):
        X, y = ordered(part, part.n, seed)
        z, kernel, some = 2 * y - 1, kernels.polynomial(part.degree), min(part.n, part.n_bound)
        model = BudgetPerceptron(budget=None, degree=part.degree, shuffle=False).fit(X, z)
        K = normalized(kernel, X[:some], X[:some])
        hard, total, separated, own = np.nan, np.nan, False, (np.nan, np.nan)
        if part.n == some:
            margins = [unit_margins(K, z, cost=cost) for cost in COSTS]
            widest = max(margins, key=np.min)
            hard = separable_bound(widest, 1.0) if widest.min() > 0 else np.nan
            longer = BudgetPerceptron(budget=None, degree=part.degree, max_iter=30, random_state=seed).fit(X, z)
            total, separated = int(longer.n_mistakes_[0]), bool(np.all(z[:, None] * longer.online_scores_ > 0))
            machine = SVC(C=10.0, kernel="precomputed").fit(K, z)
            own = len(machine.support_), int(np.sum(machine.predict(normalized(kernel, data.X_test, X)) != z_test))
        else:
            margins = [_margins_of_part(kernel, K, X, z, cost) for cost in COSTS[1:-1]]
        bound, gamma, deviation = min(mistake_bound(margin, 1.0) for margin in margins)
        if model.n_mistakes_[0] > bound:
            raise ArithmeticError(f"expected at most {bound:.6g} mistakes, a theorem, got {model.n_mistakes_[0]}")
        scores = vote(model, kernel, data.X_test), model.decision_function(data.X_test)
        errors = [int(np.sum(z_test * f <= 0)) for f in scores]
        values = [rounded(value) for value in (bound, gamma, deviation, hard)]
        made = int(model.n_mistakes_[0])
        rows.append((part.degree, part.n, seed, made, *values, total, separated, *errors, n_test, *own))
    names = ["degree", "n", "random_state", "mistakes", "bound", "gamma", "deviation", "hard_bound", "total", "separated"]
    names += ["vote_errors", "last_errors", "n_test", "svm_support", "svm_errors"]
    return pd.DataFrame(rows, columns=names).astype(dict.fromkeys(["total", "svm_support", "svm_errors"], float))


def _margins_of_part(kernel, K, X, z, cost):
    """Margins (n,) of all examples for the direction that a machine finds on the first m of them; K (m, m) is theirs."""
    m = len(K)
    machine = SVC(C=cost, kernel="precomputed").fit(K, z[:m])
    weights, held = machine.dual_coef_[0], machine.support_
    length = np.sqrt(weights @ K[np.ix_(held, held)] @ weights)
    parts = [normalized(kernel, X[i : i + 5000], X[held]) @ weights for i in range(0, len(X), 5000)]
    return z * np.concatenate(parts) / length


# NORMA's nu, support vector machines.


@experiment("family", published=PUBLISHED.nu_streams, data=_dataset, processes=2)
def nu(part, *, progress=False):
    """Margin errors of NORMA along a stream of a Nu; eta = 0.1, lambda = 1e-4, with intercept.

    Columns: nu, examples (seen so far), margin_errors, margin rho.
    """
    X, y = ordered(part, part.n, part.random_state)
    model = Norma(degree=part.degree, nu=part.nu, step=0.1, regularization=1e-4, fit_intercept=True, shuffle=False)
    rows, start = [], 0
    for stop in checkpoints(len(y)):
        model.partial_fit(X[start:stop], y[start:stop], classes=[0, 1])
        rows.append((part.nu, stop, int(model.n_support_[0]), rounded(model.margin_[0])))
        start = stop
    return pd.DataFrame(rows, columns=["nu", "examples", "margin_errors", "margin"])


@experiment("family", published=PUBLISHED.machines, data=_dataset, processes=2)
def machines(part, *, progress=False):
    """Support vectors and test errors of one pass of the perceptron and of support vector machines (C = 1 and 10).

    Columns: n, random_state, method, support, errors, n_test.
    """
    data, kernel = datasets.load(part.dataset), kernels.polynomial(part.degree)
    y_test, n_test = labels(ODD_OR_EVEN, data.y_test), len(data.y_test)
    X, y = ordered(part, part.n, part.random_state)
    key = part.n, part.random_state
    model = learner("perceptron", None, part).fit(X, y)
    rows = [(*key, "perceptron", len(model.support_), int(np.sum(model.predict(data.X_test) != y_test)), n_test)]
    K, K_test = normalized(kernel, X, X), normalized(kernel, data.X_test, X)
    for cost in (1.0, 10.0):
        machine = SVC(C=cost, kernel="precomputed", cache_size=500).fit(K, y)
        wrong = int(np.sum(machine.predict(K_test) != y_test))
        rows.append((*key, f"svm, C = {cost:g}", len(machine.support_), wrong, n_test))
    return pd.DataFrame(rows, columns=["n", "random_state", "method", "support", "errors", "n_test"])
