"""The family of the kernel perceptron: what it costs to hold every mistake, what a budget costs, what regularisation gives.

Sources: Aizerman, Braverman & Rozonoer 1964 (kernel perceptron); Novikoff 1962, Freund & Schapire 1999 (mistake bounds, the
vote and its expected error); the learners of kp.budget. Support vector machines are scikit-learn's.

Every learner sees the examples once, in random order, and is asked before it learns from each: its errors on the way are the
online errors. All use k(x, y) / sqrt(k(x, x) k(y, y)), most with k = (1 + x.y)^p, which on raw pixels is nearly cos(x, y)^p.

Symbols: n examples, M mistakes, B budget, R the largest |phi(x)| (1 here), u a unit vector, gamma > 0 a margin,
D = sqrt(sum_i max(0, gamma - y_i u.phi(x_i))^2).
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import lru_cache

import numpy as np
import pandas as pd
from scipy.optimize import minimize_scalar
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits
from tqdm import tqdm

from kp import kernels
from kp.budget import BudgetPerceptron, Forgetron, Norma, normalized
from study import RESULTS, datasets, store

MODULES = ("kp.kernels", "kp.gram", "kp.perceptron", "kp.predictors", "kp.budget", "study.family.experiment")
"""The code that can change a result."""

DATASETS = ("mnist",)
COMMAND = "python -m study run family"
TABLES = ("streams", "final", "noise", "bounds", "nu", "machines")
PROBLEMS = ("odd or even", "ten digits")
METHODS = ("perceptron", "oldest", "random", "forgetron", "basic forgetron", "norma")
COSTS = (0.01, 0.1, 1.0, 10.0, 100.0)
"""Costs C of the support vector machines among which one is chosen."""
DEGREES = range(1, 7)


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What is run. n_train: the first examples of the training set; budgets: B for odd or even; class_budgets: B of each of
    ten learners; n_orders random orders seeded random_state, random_state + 1, ...; gamma of the RBF kernel.

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


# ------------------------------------------------------------------ reading


def table(name, settings):
    """One of TABLES for these settings: as stored for the published ones, computed on the spot (once) for all others.

    streams   problem, kernel, method, budget, noise, random_state, examples, online_errors, mistakes, support
    final     the same keys, n, errors on the n_test test examples, damage and shrinking of Forgetrons
    noise     noise, method, passes, value (lambda or C), random_state, errors (train, validation, test), their n, support
    bounds    degree, n, random_state, mistakes, bound, ... (see _bounds)
    nu        nu, examples, margin_errors, margin
    machines  n, random_state, method, support, errors, n_test
    Raises StaleResult if a stored table is absent or was made by other code.
    """
    if name not in TABLES:
        raise ValueError(f"table must be one of {', '.join(TABLES)}, got {name!r}")
    if settings == PUBLISHED:
        return store.read_table(_path(name), _source(), COMMAND)
    return _computed(name, settings).copy()


def publish(*, recompute=False, progress=False):
    """Compute the published tables and store them, unless those of this code are stored already."""
    for name in TABLES:
        try:
            if not recompute:
                store.read_table(_path(name), _source(), COMMAND)
                continue
        except store.StaleResult:
            pass
        store.write_table(_path(name), compute(name, PUBLISHED, progress=progress), _source(), COMMAND)


def compute(name, settings, *, progress=False):
    """Compute one table (streams and final come from the same runs, and are made together once)."""
    if name in ("streams", "final"):
        return _streams_and_final(settings, progress)[("streams", "final").index(name)]
    return {"noise": _noise, "bounds": _bounds, "nu": _nu, "machines": _machines}[name](settings, progress)


def _path(name):
    return RESULTS / f"family_{name}.csv"


def _source():
    return store.provenance("family", asdict(PUBLISHED), MODULES, datasets.checksums("mnist"))


@lru_cache(maxsize=32)
def _computed(name, settings):
    return compute(name, settings)


# ------------------------------------------------------------------ learners and streams


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
    return np.asarray(y, dtype=np.int64) % 2 if problem == "odd or even" else y


def ordered(settings, n, random_state, *, problem="odd or even", noise=0.0):
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


def _plan(settings):
    """(problem, kernel, method, budget, noise, n, seed) of every stream."""
    seeds = range(settings.random_state, settings.random_state + settings.n_orders)
    more = range(settings.random_state, settings.random_state + max(5, settings.n_orders))
    n = settings.n_train
    jobs = [(PROBLEMS[0], kernel, "perceptron", 0, 0.0, n, seed) for kernel in ("poly", "rbf") for seed in more]
    jobs += [(PROBLEMS[0], "poly", "perceptron", 0, p, settings.n_growth, s) for p in settings.noise if p for s in more]
    jobs += [(PROBLEMS[1], "poly", "perceptron", 0, 0.0, n, seed) for seed in seeds]
    for problem, budgets in zip(PROBLEMS, (settings.budgets, settings.class_budgets), strict=True):
        jobs += [(problem, "poly", m, b, 0.0, n, seed) for m in METHODS[1:] for b in budgets for seed in seeds]
    return jobs


KEYS = ["problem", "kernel", "method", "budget", "noise", "random_state"]


@lru_cache(maxsize=4)
def _streams_and_final(settings, progress):
    data = datasets.load(settings.dataset)

    def run(job):
        problem, kernel, method, budget, noise, n, seed = job
        X, y = ordered(settings, n, seed, problem=problem, noise=noise)
        model = learner(method, budget, settings, kernel=kernel, random_state=seed)
        key = (problem, kernel, method, budget, noise, seed)
        rows = [key + row for row in run_stream(model, X, y, np.unique(labels(problem, data.y)))]
        errors = int(np.sum(model.predict(data.X_test) != labels(problem, data.y_test)))
        forgetting = isinstance(model, Forgetron)
        damage, shrinking = (float(_round(v.sum())) if forgetting else np.nan for v in _damage(model))
        return rows, key + (n, errors, len(data.y_test), damage, shrinking)

    found = _side_by_side(run, _plan(settings), progress, "streams")
    names = [*KEYS, "examples", "online_errors", "mistakes", "support"]
    streams = pd.DataFrame([row for rows, _ in found for row in rows], columns=names)
    final = pd.DataFrame([last for _, last in found], columns=[*KEYS, "n", "errors", "n_test", "damage", "shrinking"])
    return streams, final


def _damage(model):
    return (model.damage_, model.shrinking_) if isinstance(model, Forgetron) else (np.zeros(1), np.zeros(1))


def _side_by_side(run, jobs, progress, name):
    """[run(job), ...] in the order of the jobs, two at a time, each on one thread."""
    with threadpool_limits(1, "blas"), ThreadPoolExecutor(2) as pool:
        return list(tqdm(pool.map(run, jobs), total=len(jobs), desc=name, disable=not progress))


def _round(value, digits=6):
    """Significant digits that do not depend on the order of a library's sums."""
    return np.array([float(f"{v:.{digits}g}") for v in np.atleast_1d(value)])[0]


# ------------------------------------------------------------------ label noise


def _noise(settings, progress):
    """Perceptron, NORMA at each lambda and support vector machines at each cost, on labels of which a fraction is wrong."""
    kernel, n = kernels.polynomial(settings.degree), settings.n_noise
    data = datasets.load(settings.dataset)
    z_test, n_test = labels(PROBLEMS[0], data.y_test), len(data.y_test)

    def run(job):
        noise, seed = job
        X, y = ordered(settings, 2 * n, seed, noise=noise)
        parts = [(X[:n], y[:n]), (X[n:], y[n:]), (data.X_test, z_test)]
        common = dict(degree=settings.degree, random_state=seed)
        models = [
            ("perceptron", p, np.nan, BudgetPerceptron(budget=None, max_iter=p, **common)) for p in (1, settings.n_epochs)
        ]
        for value in settings.regularizations:
            model = Norma(regularization=value, step=1.0, max_iter=settings.n_epochs, **common)
            models.append(("norma", settings.n_epochs, value, model))
        rows = []
        for method, passes, value, model in models:
            model.fit(X[:n], y[:n])
            errors = [int(np.sum(model.predict(x) != z)) for x, z in parts]
            rows.append((noise, method, passes, value, seed, *errors, n, n, n_test, len(model.support_)))
        values = [normalized(kernel, x, X[:n]) for x, _ in parts]
        for cost in COSTS:
            machine = SVC(C=cost, kernel="precomputed").fit(values[0], y[:n])
            errors = [int(np.sum(machine.predict(v) != z)) for v, (_, z) in zip(values, parts, strict=True)]
            rows.append((noise, "svm", 0, cost, seed, *errors, n, n, n_test, len(machine.support_)))
        return rows

    seeds = range(settings.random_state, settings.random_state + settings.n_orders)
    found = _side_by_side(run, [(noise, seed) for noise in settings.noise for seed in seeds], progress, "noise")
    names = ["noise", "method", "passes", "value", "random_state", "train", "validation", "test"]
    names += ["n_train", "n_validation", "n_test", "support"]
    return pd.DataFrame([row for rows in found for row in rows], columns=names)


# ------------------------------------------------------------------ mistake bounds and the vote


def mistake_bound(margins, R):
    """(bound, gamma, D): the least ((R + D) / gamma)^2 over gamma > 0, D = sqrt(sum max(0, gamma - margin)^2).

    margins (n,) are y_i u.phi(x_i) for a unit vector u, which may be any: the perceptron makes no more mistakes than this in
    one pass over the examples (Freund & Schapire 1999, Theorem 2), and so the bound holds to whatever precision u and gamma
    were found. In terms of s = 1 / gamma the root is convex: R s + |max(0, 1 - s margins)|.
    """
    margins = np.asarray(margins, dtype=float)

    def root(log_scale):
        s = np.exp(log_scale)
        return R * s + np.sqrt((np.maximum(0.0, 1.0 - s * margins) ** 2).sum())

    centre = -np.log(max(np.abs(margins).max(), 1e-300))
    found = minimize_scalar(root, bounds=(centre - 10.0, centre + 15.0), method="bounded", options={"xatol": 1e-8})
    gamma = np.exp(-found.x)
    return float(root(found.x) ** 2), float(gamma), float(np.sqrt((np.maximum(0.0, gamma - margins) ** 2).sum()))


def vote_bound(bound, n):
    """Expected error of the vote after one pass over n examples: (2 / (n + 1)) E[bound], in fractions.

    bound is the mistake bound of a run over n + 1 examples, or the number of its mistakes itself (Freund & Schapire 1999,
    Theorem 3 and its proof, after Helmbold & Warmuth 1995). Evaluated on one sample it estimates the expectation.
    """
    return 2.0 * np.asarray(bound, dtype=float) / (n + 1)


def unit_margins(K, z, cost):
    """Margins z_i u.phi(x_i) (n,) of the examples with kernel matrix K (n, n) and signs z, for the unit vector u that a
    support vector machine without intercept finds.

    The machine sees the set and its mirror image, so that its intercept is 0; only its direction is used.
    """
    Q = z[:, None] * K * z
    mirrored = np.block([[Q, -Q], [-Q, Q]])
    machine = SVC(C=cost, kernel="precomputed").fit(mirrored, np.repeat([1, -1], len(z)))
    weights = np.bincount(machine.support_ % len(z), np.abs(machine.dual_coef_[0]), minlength=len(z))
    return Q @ weights / np.sqrt(weights @ Q @ weights)


def vote(model, X):
    """Votes (c,) on the points X of a perceptron without a budget after one pass: sum of c_m sgn f_m(x), with f_m after m
    mistakes and c_m the steps that it stood. For two classes."""
    steps, signs = model.support_, model.dual_coef_[0]
    stood = np.diff(steps, append=model.n_seen_)
    out = np.empty(len(X))
    for start in range(0, len(X), 1000):
        K = normalized(model._kernel(), X[start : start + 1000], model.support_vectors_)
        out[start : start + 1000] = np.sign(np.cumsum(K * signs, axis=1)) @ stood
    return out


def _bounds(settings, progress):
    """One row for each degree and order at n_bound, and one for each degree at n_train.

    mistakes in one pass; bound, gamma, deviation D by the best u found; hard_bound (R / gamma)^2 with the widest margin
    found, missing where none is positive; total mistakes in 30 passes and whether the last was without one (separated);
    vote_errors and last_errors of the first pass on n_test; svm_support, svm_errors of the support vector machine (C = 10).
    """
    data = datasets.load(settings.dataset)
    z_test, n_test = 2 * labels(PROBLEMS[0], data.y_test) - 1, len(data.y_test)

    def run(job):
        degree, n, seed = job
        X, y = ordered(settings, n, seed)
        z, kernel, some = 2 * y - 1, kernels.polynomial(degree), min(n, settings.n_bound)
        model = BudgetPerceptron(budget=None, degree=degree, shuffle=False).fit(X, z)
        K = normalized(kernel, X[:some], X[:some])
        hard, total, separated = np.nan, np.nan, False
        if n == some:
            margins = [unit_margins(K, z, cost) for cost in COSTS]
            widest = max(margin.min() for margin in margins)
            hard = widest**-2 if widest > 0 else np.nan
            longer = BudgetPerceptron(budget=None, degree=degree, max_iter=30, random_state=seed).fit(X, z)
            total, separated = int(longer.n_mistakes_[0]), bool(np.all(z[:, None] * longer.online_scores_ > 0))
        else:
            margins = [_margins_of_part(kernel, K, X, z, cost) for cost in COSTS[1:-1]]
        bound, gamma, deviation = min(mistake_bound(margin, 1.0) for margin in margins)
        if model.n_mistakes_[0] > bound:
            raise ArithmeticError(f"expected at most {bound:.6g} mistakes, a theorem, got {model.n_mistakes_[0]}")
        errors = [int(np.sum(z_test * f <= 0)) for f in (vote(model, data.X_test), model.decision_function(data.X_test))]
        machine = SVC(C=10.0, kernel="precomputed").fit(K, z[:some])
        wrong = int(np.sum(machine.predict(normalized(kernel, data.X_test, X[:some])) != z_test))
        values = [_round(v) for v in (bound, gamma, deviation, hard)]
        own = (len(machine.support_), wrong) if n == some else (np.nan, np.nan)
        return (degree, n, seed, int(model.n_mistakes_[0]), *values, total, separated, *errors, n_test, *own)

    seeds = range(settings.random_state, settings.random_state + settings.n_orders)
    jobs = [(degree, settings.n_bound, seed) for degree in DEGREES for seed in seeds]
    if settings.n_train > settings.n_bound:
        jobs += [(degree, settings.n_train, settings.random_state) for degree in DEGREES]
    names = ["degree", "n", "random_state", "mistakes", "bound", "gamma", "deviation", "hard_bound", "total", "separated"]
    names += ["vote_errors", "last_errors", "n_test", "svm_support", "svm_errors"]
    return pd.DataFrame(_side_by_side(run, jobs, progress, "bounds"), columns=names)


def _margins_of_part(kernel, K, X, z, cost):
    """Margins (n,) of all examples for the direction that a machine finds on the first m of them; K (m, m) is theirs."""
    m = len(K)
    machine = SVC(C=cost, kernel="precomputed").fit(K, z[:m])
    weights, held = machine.dual_coef_[0], machine.support_
    length = np.sqrt(weights @ K[np.ix_(held, held)] @ weights)
    parts = [normalized(kernel, X[i : i + 5000], X[held]) @ weights for i in range(0, len(X), 5000)]
    return z * np.concatenate(parts) / length


# ------------------------------------------------------------------ NORMA's nu, support vector machines


def _nu(settings, progress):
    """Fraction of margin errors of NORMA along a stream for each nu; eta = 0.1, lambda = 1e-4, with intercept."""
    X, y = ordered(settings, settings.n_nu, settings.random_state)

    def run(nu):
        model = Norma(
            degree=settings.degree, nu=nu, step=0.1, regularization=1e-4, fit_intercept=True, shuffle=False
        )  # fmt: skip
        rows, start = [], 0
        for stop in checkpoints(len(y)):
            model.partial_fit(X[start:stop], y[start:stop], classes=[0, 1])
            rows.append((nu, stop, int(model.n_support_[0]), float(_round(model.margin_[0]))))
            start = stop
        return rows

    found = _side_by_side(run, settings.nus, progress, "nu")
    return pd.DataFrame([row for rows in found for row in rows], columns=["nu", "examples", "margin_errors", "margin"])


def _machines(settings, progress):
    """Support vectors and test errors of the perceptron and of support vector machines (C = 1 and 10) by examples."""
    data, kernel = datasets.load(settings.dataset), kernels.polynomial(settings.degree)
    y_test, n_test = labels(PROBLEMS[0], data.y_test), len(data.y_test)

    def run(job):
        n, seed = job
        X, y = ordered(settings, n, seed)
        model = learner("perceptron", None, settings).fit(X, y)
        rows = [(n, seed, "perceptron", len(model.support_), int(np.sum(model.predict(data.X_test) != y_test)), n_test)]
        K, K_test = normalized(kernel, X, X), normalized(kernel, data.X_test, X)
        for cost in (1.0, 10.0):
            machine = SVC(C=cost, kernel="precomputed", cache_size=500).fit(K, y)
            wrong = int(np.sum(machine.predict(K_test) != y_test))
            rows.append((n, seed, f"svm, C = {cost:g}", len(machine.support_), wrong, n_test))
        return rows

    found = _side_by_side(run, [(n, settings.random_state) for n in settings.sizes], progress, "machines")
    names = ["n", "random_state", "method", "support", "errors", "n_test"]
    return pd.DataFrame([row for rows in found for row in rows], columns=names)
