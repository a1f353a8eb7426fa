"""The family of the kernel perceptron: what it costs to hold every mistake, what a budget costs, what wrong labels do.

Sources: Aizerman, Braverman & Rozonoer 1964 (kernel perceptron); Novikoff 1962, Freund & Schapire 1999 (mistake bounds, the
vote and its expected error); the learners of kp.budget, study.budgets.descent and study.budgets.guarantee. Support vector
machines are scikit-learn's.

Every learner sees the examples once, in random order, and is asked before it learns from each: its errors on the way are the
online errors. All use k(x, y) / sqrt(k(x, x) k(y, y)), most with k = (1 + x.y)^p, which on raw pixels is nearly cos(x, y)^p.

Symbols: n examples, M mistakes, B budget, u a unit vector, gamma > 0 a margin (see study.protocols.margins; R = 1 here).
"""

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from sklearn.svm import SVC
from tqdm import tqdm

from kp import kernels
from kp.budget import BudgetPerceptron, Forgetron, Norma, normalized
from kp.perceptron import visiting_orders
from study import datasets
from study.budgets import descent, guarantee
from study.budgets.names import KERNELS, KEYS, METHODS, ODD_OR_EVEN, PROBLEMS, TEN_DIGITS
from study.parameters import require_one_of
from study.protocols.margins import mistake_bound, rounded, unit_margins
from study.protocols.settings import IMAGES, BaseSettings, require_integers
from study.results.experiment import experiment

COSTS = (0.01, 0.1, 1.0, 10.0, 100.0)
"""Costs C of the support vector machines among which one is chosen."""
DEGREES = (1, 2, 3, 4, 5, 6)
"""Degrees at which the bounds of the vote are compared."""


# The settings of a notebook, and the parts of its tables.


@dataclass(frozen=True, kw_only=True)
class Part(BaseSettings):
    """n random examples of the first n_train of a training set, in n_orders orders with the seeds from random_state on.

    degree is that of the polynomial kernel; a `noise` is the fraction of the two labels that are turned around.
    """

    dataset: str
    n_train: int
    n: int
    n_orders: int
    random_state: int
    degree: int

    KNOWN = {"dataset": IMAGES}
    BOUNDS = {"n_orders": (1, None)}

    def __post_init__(self):
        super().__post_init__()
        require_integers(self, n=(10, self.n_train))
        if not 0 <= getattr(self, "noise", 0) <= 1:
            raise ValueError(f"noise must be a fraction of the labels in 0..1, got {self.noise!r}")

    @property
    def seeds(self):
        return range(self.random_state, self.random_state + self.n_orders)


@dataclass(frozen=True, kw_only=True)
class Stream(Part):
    """Streams of one learner: see `learner`."""

    problem: str = ODD_OR_EVEN
    kernel: str = "poly"
    gamma: float
    method: str = "perceptron"
    budget: int = 0
    noise: float = 0.0

    KNOWN = Part.KNOWN | {"problem": PROBLEMS, "kernel": KERNELS, "method": METHODS}
    BOUNDS = Part.BOUNDS | {"budget": (0, None)}

    def __post_init__(self):
        super().__post_init__()
        if (self.budget == 0) != (self.method == "perceptron"):
            raise ValueError(f"budget must be 0 for the perceptron, else at least 1, got {self.budget} for {self.method}")


@dataclass(frozen=True, kw_only=True)
class Noise(Part):
    """One `noise` and the learners from these labels in n_epochs passes, at each lambda besides 0; n others validate."""

    noise: float
    n_epochs: int
    regularizations: tuple

    def __post_init__(self):
        super().__post_init__()
        require_integers(self, n=(10, self.n_train // 2))


@dataclass(frozen=True, kw_only=True)
class Guarantee(Part):
    """The Forgetron's guarantee at each of these budgets."""

    budgets: tuple


@dataclass(frozen=True, kw_only=True)
class Settings(BaseSettings):
    """Settings of a notebook's run. n_train: the first examples of the training set; budgets: B for odd or even;
    class_budgets: B of each of ten learners; n_orders random orders seeded random_state, random_state + 1, ...; gamma of the
    RBF kernel.

    For tests there are n_repeats orders: of n_noise examples, visited n_epochs times, of which the fractions `noise` of the
    labels are wrong, at each lambda of `regularizations`; of n_memory examples for learners that hold equally many,
    memory_budgets; and of n_bound examples for the Forgetron's guarantee and the bounds at each of `degrees`. There are at
    least 5 of n_growth such examples visited once, and size_repeats at each of `sizes`, the examples of the support vector
    machines.
    """

    dataset: str
    n_train: int
    budgets: tuple
    class_budgets: tuple
    n_orders: int
    n_repeats: int
    degree: int
    gamma: float
    noise: tuple
    n_growth: int
    n_noise: int
    n_epochs: int
    regularizations: tuple
    n_memory: int
    memory_budgets: tuple
    n_bound: int
    sizes: tuple
    size_repeats: int
    degrees: tuple = DEGREES
    random_state: int = 0

    KNOWN = {"dataset": IMAGES}
    BOUNDS = {"n_repeats": (2, None), "size_repeats": (2, None)}

    def __post_init__(self):
        super().__post_init__()
        most = {"n_noise": self.n_train // 2} | dict.fromkeys(("n_train", *CUT), self.n_train)
        require_integers(self, **{name: (20, high) for name, high in most.items()})

    def _part(self, kind, **changes):
        common = ("dataset", "n_train", "n_orders", "random_state", "degree")
        return kind(**({name: getattr(self, name) for name in common} | {"n": self.n_train} | changes))

    def streams(self):
        """The parts of `streams`: growth by kernel and by wrong labels, ten digits, then every method at every budget."""
        own = self._part(Stream, gamma=self.gamma)
        longer = replace(own, n_orders=max(5, self.n_orders))
        growth = [replace(longer, kernel=kernel) for kernel in ("poly", "rbf")]
        growth += [replace(longer, noise=noise, n=self.n_growth) for noise in self.noise if 0 < noise <= FEW_WRONG]
        budgets = [
            replace(own, problem=problem, method=method, budget=budget)
            for problem, sizes in zip(PROBLEMS, (self.budgets, self.class_budgets), strict=True)
            for method in METHODS[1:]
            for budget in sizes
        ]
        return [*growth, replace(own, problem=TEN_DIGITS), *budgets]

    def growths(self):
        """The parts of `growth`: the kernels and wrong labels that the perceptron's `streams` lack, in as many orders."""
        streams = [part for part in self.streams() if (part.problem, part.method) == (ODD_OR_EVEN, "perceptron")]
        seen = {(part.kernel, part.noise) for part in streams}
        first = replace(streams[0], n=self.n_growth)
        return [
            replace(first, kernel=kernel, noise=noise)
            for kernel in ("poly", "rbf")
            for noise in self.noise
            if noise and (kernel, noise) not in seen
        ]

    def memories(self):
        """The parts of `memory`: the perceptron without a budget, then every method at every budget."""
        own = self._part(Stream, gamma=self.gamma, n=self.n_memory, n_orders=self.n_repeats)
        budgets = [replace(own, method=method, budget=budget) for method in METHODS[1:] for budget in self.memory_budgets]
        return [own, *budgets]

    def noises(self):
        """The parts of `wrong_labels`."""
        common = dict(n=self.n_noise, n_orders=self.n_repeats, n_epochs=self.n_epochs, regularizations=self.regularizations)
        return [self._part(Noise, noise=noise, **common) for noise in self.noise]

    def guarantees(self):
        """The parts of `guaranteed` and of `relatives`."""
        own = self._part(Part, n=self.n_bound, n_orders=self.n_repeats)
        return [Guarantee(**vars(own), budgets=self.budgets)]

    def bounds(self):
        """The parts of `bounds`: each degree."""
        return [self._part(Part, degree=degree, n=self.n_bound) for degree in self.degrees]

    def machines(self):
        """The parts of `machines`: right labels, no lambda besides 0."""
        common = dict(noise=0.0, n_orders=self.size_repeats, n_epochs=self.n_epochs, regularizations=())
        return [self._part(Noise, n=n, **common) for n in self.sizes]


CUT = ("n_growth", "n_memory", "n_bound")
"""Sizes that are at most n_train."""
FEW_WRONG = 0.2
"""The largest fraction of wrong labels in `streams` and `growth`; more are in `wrong_labels`."""


PUBLISHED = Settings(
    dataset="mnist",
    n_train=60000,
    budgets=(50, 100, 250, 500, 1000, 2000),
    class_budgets=(50, 100, 250),
    n_orders=3,
    n_repeats=10,
    degree=3,
    gamma=4e-7,
    noise=(0.0, 0.1, 0.2, 0.3),
    n_growth=20000,
    n_noise=2000,
    n_epochs=5,
    regularizations=(1e-6, 1e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2),
    n_memory=10000,
    memory_budgets=(100, 250, 500),
    n_bound=2000,
    sizes=(500, 1000, 2000),
    size_repeats=5,
)
"""The settings of the committed tables."""

QUICK = replace(
    PUBLISHED,
    dataset="digits",
    n_train=1200,
    budgets=(10, 20, 50, 100),
    class_budgets=(10, 20, 40),
    gamma=1e-3,
    n_growth=1200,
    n_noise=400,
    n_memory=1200,
    memory_budgets=(10, 20, 50),
    n_bound=300,
    sizes=(100, 200, 400, 600),
)
"""Small settings of the same shape for the bundled digits."""


PROFILES = {"mnist": PUBLISHED, "digits": QUICK}


def settings(dataset, **changes):
    """The settings of a notebook: those of the profile of "mnist" (published) or "digits" (quick), with changes.

    Sizes that exceed a smaller n_train are cut to it. Raises ValueError for other datasets and sizes.
    """
    require_one_of("dataset", dataset, PROFILES)
    base = PROFILES[dataset]
    n = changes.get("n_train", base.n_train)
    cut = {name: min(getattr(base, name), n) for name in CUT}
    cut |= {"n_noise": min(base.n_noise, n // 2), "sizes": tuple(size for size in base.sizes if size <= n // 2)}
    return replace(base, **(cut | changes))


# Learners and streams.


def learner(method, budget, settings, *, kernel="poly", random_state=0):
    """The online learner of a method, for a stream in a given order; budget None (0 in tables) holds all.

    NORMA runs as a perceptron that forgets: rho = 0, eta = 1, lambda = 1 / tau, tau = 5 B, so that it holds the mistakes of
    the last 5 B steps, fewer than B if it errs on less than a fifth.
    """
    common = dict(kernel=kernel, degree=settings.degree, gamma=settings.gamma if kernel == "rbf" else 1.0, shuffle=False)
    if method == "norma":
        return Norma(margin=0.0, eta0=1.0, alpha=1 / (5 * budget), truncation=5 * budget, **common)
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
    data = datasets.load(settings.dataset)
    random = np.random.RandomState(random_state)
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
    rows = []
    errors = 0
    start = 0
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


@experiment("budgets", published=PUBLISHED.streams, tables=("streams", "final"), data=_dataset, processes=2, sample=5)
def streams(part, *, progress=False):
    """{streams, final} of a Stream: the learner's counts up to each checkpoint, and its final state.

    streams: the columns names.KEYS, examples, online_errors, mistakes, support (examples held);
    final: KEYS, n, errors on the n_test test examples, damage and shrinking of Forgetrons (sums over removals).
    """
    data = datasets.load(part.dataset)
    rows = []
    last = []
    for seed in tqdm(part.seeds, desc=f"{part.method}, {part.budget}", disable=not progress):
        X, y = ordered(part, part.n, seed, problem=part.problem, noise=part.noise)
        model = learner(part.method, part.budget, part, kernel=part.kernel, random_state=seed)
        key = (part.problem, part.kernel, part.method, part.budget, part.noise, seed)
        rows += [key + row for row in run_stream(model, X, y, np.unique(labels(part.problem, data.y)))]
        errors = int(np.sum(model.predict(data.X_test) != labels(part.problem, data.y_test)))
        damage = shrinking = np.nan
        if isinstance(model, Forgetron):
            damage = rounded(model.damage_.sum())
            shrinking = rounded(model.shrinking_.sum())
        last.append((*key, part.n, errors, len(data.y_test), damage, shrinking))
    names = [*KEYS, "examples", "online_errors", "mistakes", "support"]
    return {
        "streams": pd.DataFrame(rows, columns=names),
        "final": pd.DataFrame(last, columns=[*KEYS, "n", "errors", "n_test", "damage", "shrinking"]),
    }


@experiment("budgets", published=PUBLISHED.growths, data=_dataset, processes=2)
def growth(part, *, progress=False):
    """More streams of perceptrons, for the growth of what is held: columns as those of `streams`."""
    rows = []
    for seed in tqdm(part.seeds, desc=f"growth {part.kernel} {part.noise:g}", disable=not progress):
        X, y = ordered(part, part.n, seed, noise=part.noise)
        model = learner(part.method, part.budget, part, kernel=part.kernel)
        key = (part.problem, part.kernel, part.method, part.budget, part.noise, seed)
        rows += [key + row for row in run_stream(model, X, y, np.array([0, 1]))]
    return pd.DataFrame(rows, columns=[*KEYS, "examples", "online_errors", "mistakes", "support"])


# Equal memory.


@experiment("budgets", published=PUBLISHED.memories, tables=("memory", "memory_final"), data=_dataset, processes=2)
def memory(part, *, progress=False):
    """{memory, memory_final} of a Stream: learners of one budget, each holding as many examples when it is full.

    NORMA, which forgets after a number of steps, gets the `truncation` with which it holds the budget on average.

    memory: method, budget, random_state, examples, mistakes (a score of 0 among them), held (the mean since the checkpoint
    before), values (of the kernel, spent so far: see `spent`); memory_final: method, budget, random_state, truncation (0:
    none), n, held (the mean over the second half), errors of the last hypothesis on n_test.
    """
    data = datasets.load(part.dataset)
    rows = []
    last = []
    z_test = 2 * labels(ODD_OR_EVEN, data.y_test) - 1
    tau = truncation(part) if part.method == "norma" else 0
    for seed in tqdm(part.seeds, desc=f"memory {part.method}, {part.budget}", disable=not progress):
        X, y = ordered(part, part.n, seed)
        model = holding(part, tau, random_state=seed)
        f = model.partial_fit(X, y, classes=[0, 1]).online_scores_[:, 0]
        wrong = (2 * y - 1) * f <= 0
        held = before(wrong, part.budget, tau)
        values = spent(wrong, part.method, part.budget, tau)
        start = 0
        for stop in checkpoints(part.n):
            facts = int(wrong[:stop].sum()), rounded(held[start:stop].mean()), int(values[stop - 1])
            rows.append((part.method, part.budget, seed, stop, *facts))
            start = stop
        errors = int(np.sum(z_test * model.decision_function(data.X_test) <= 0))
        late = rounded(held[part.n // 2 :].mean())
        last.append((part.method, part.budget, seed, tau, part.n, late, errors, len(z_test)))
    names = ["method", "budget", "random_state"]
    return {
        "memory": pd.DataFrame(rows, columns=[*names, "examples", "mistakes", "held", "values"]),
        "memory_final": pd.DataFrame(last, columns=[*names, "truncation", "n", "held", "errors", "n_test"]),
    }


def holding(part, tau, *, random_state):
    """The learner of a Stream; NORMA as in `learner`, but with lambda = 1 / tau for a given truncation tau."""
    if part.method != "norma":
        return learner(part.method, part.budget, part, random_state=random_state)
    common = dict(degree=part.degree, gamma=1.0, shuffle=False)
    return Norma(margin=0.0, eta0=1.0, alpha=1 / tau, truncation=tau, **common)


def before(wrong, budget, tau=0):
    """How many examples are held before each step (n,), from which steps were mistakes: all, B, or those of tau steps."""
    total = np.concatenate([[0], np.cumsum(wrong)])
    if tau:
        steps = np.arange(len(wrong))
        return total[:-1] - total[np.maximum(steps - tau, 0)]
    return np.minimum(total[:-1], budget) if budget else total[:-1]


def spent(wrong, method, budget, tau=0):
    """Kernel values (n,) spent up to each step: for the predictions, and B + 1 at each removal of a Forgetron."""
    values = np.cumsum(before(wrong, budget, tau))
    if method in ("forgetron", "basic forgetron"):
        values = values + (budget + 1) * np.maximum(np.cumsum(wrong) - budget, 0)
    return values


def truncation(part):
    """tau with which NORMA holds the budget on average over the second half of an order that no other stream has, to 2 %."""
    X, y = ordered(part, part.n, part.random_state + part.n_orders)
    tau = 10 * part.budget
    for _ in range(10):
        f = holding(part, tau, random_state=0).partial_fit(X, y, classes=[0, 1]).online_scores_[:, 0]
        held = before((2 * y - 1) * f <= 0, part.budget, tau)[part.n // 2 :].mean()
        if abs(held / part.budget - 1) <= 0.02 or tau == part.n:
            break
        tau = min(round(tau * part.budget / held), part.n)
    return tau


# Wrong labels.


@experiment("budgets", published=PUBLISHED.noises, data=_dataset, processes=2)
def wrong_labels(part, *, progress=False):
    """Perceptrons with and without a margin and regularisation, and support vector machines, where labels are wrong.

    Columns: noise, n, random_state, method ("perceptron", "svm"), passes (1 and n_epochs), margin (rho: 0 or 1), value
    (lambda or C), predictor (of descent.PREDICTORS), errors (train with the labels as given, validation with as many wrong
    labels, test; a score of 0 is one), n_test, support. A perceptron with rho = 1 is NORMA.
    """
    return compared(part, progress)


@experiment("budgets", published=PUBLISHED.machines, data=_dataset, processes=2)
def machines(part, *, progress=False):
    """The same with right labels at several sizes, without regularisation: the columns of `wrong_labels`."""
    return compared(part, progress)


def compared(part, progress):
    """The table of a Noise part: see `wrong_labels`."""
    data = datasets.load(part.dataset)
    n = part.n
    rows = []
    for seed in tqdm(part.seeds, desc=f"noise {part.noise:g}, {n}", disable=not progress):
        X, y = ordered(part, 2 * n, seed, noise=part.noise)
        z = 2 * np.concatenate([y, labels(ODD_OR_EVEN, data.y_test)]) - 1
        K = normalized(kernels.polynomial(part.degree), X[:n], np.concatenate([X, data.X_test]))
        for margin in (0.0, 1.0):
            for value in (0.0, *part.regularizations):
                orders = visiting_orders(n, 1, part.n_epochs, random_state=np.random.RandomState(seed))
                runs = descent.passes(K, z[:n], orders, margin=margin, regularization=value)
                for done, (scores, held) in enumerate(runs, start=1):
                    for predictor, f in zip(descent.PREDICTORS, scores, strict=True):
                        if done in (1, part.n_epochs):
                            key = (part.noise, n, seed, "perceptron", done, margin, value, predictor)
                            rows.append((*key, *_errors(z * f <= 0, n), len(data.y_test), held))
        for cost in COSTS:
            machine = SVC(C=cost, kernel="precomputed", cache_size=500).fit(K[:, :n], z[:n])
            f = machine.dual_coef_[0] @ K[machine.support_] + machine.intercept_[0]
            key = (part.noise, n, seed, "svm", 0, np.nan, cost, "last")
            rows.append((*key, *_errors(z * f <= 0, n), len(data.y_test), len(machine.support_)))
    names = ["noise", "n", "random_state", "method", "passes", "margin", "value", "predictor"]
    return pd.DataFrame(rows, columns=[*names, "train", "validation", "test", "n_test", "support"])


def _errors(wrong, n):
    return int(wrong[:n].sum()), int(wrong[n : 2 * n].sum()), int(wrong[2 * n :].sum())


# Mistake bounds and the vote.


def vote(model, kernel, X):
    """Votes (c,) on the points X of a perceptron without a budget after one pass: sum of c_m sgn f_m(x), with f_m after m
    mistakes and c_m the steps that it stood. For two classes; kernel is that of the perceptron."""
    steps = model.support_
    signs = model.dual_coef_[0]
    stood = np.diff(steps, append=model.n_seen_)
    out = np.empty(len(X))
    for start in range(0, len(X), 1000):
        K = normalized(kernel, X[start : start + 1000], model.support_vectors_)
        out[start : start + 1000] = np.sign(np.cumsum(K * signs, axis=1)) @ stood
    return out


@experiment("budgets", published=PUBLISHED.bounds, data=_dataset, processes=2)
def bounds(part, *, progress=False):
    """Mistakes and bounds at one degree: a row for each order.

    Columns: degree, n, random_state, mistakes in one pass, and their bound by the best u that support vector machines find;
    vote_errors of that pass on n_test; svm_support and svm_errors of the support vector machine with C = 10.
    """
    data = datasets.load(part.dataset)
    rows = []
    z_test = 2 * labels(ODD_OR_EVEN, data.y_test) - 1
    n_test = len(data.y_test)
    for seed in tqdm(part.seeds, desc=f"degree {part.degree}", disable=not progress):
        X, y = ordered(part, part.n, seed)
        z = 2 * y - 1
        kernel = kernels.polynomial(part.degree)
        model = BudgetPerceptron(budget=None, degree=part.degree, gamma=1, shuffle=False).fit(X, z)
        K = normalized(kernel, X, X)
        bound = min(mistake_bound(unit_margins(K, z, cost=cost), 1.0)[0] for cost in COSTS)
        made = int(model.n_mistakes_[0])
        if made > bound:
            raise ArithmeticError(f"expected at most {bound:.6g} mistakes by the bound of a theorem, got {made}")
        machine = SVC(C=10.0, kernel="precomputed").fit(K, z)
        errors = np.sum(z_test * vote(model, kernel, data.X_test) <= 0)
        svm_errors = np.sum(machine.predict(normalized(kernel, data.X_test, X)) != z_test)
        own = made, rounded(bound), errors, n_test, len(machine.support_), svm_errors
        rows.append((part.degree, part.n, seed, *own))
    names = ["degree", "n", "random_state", "mistakes", "bound", "vote_errors", "n_test", "svm_support", "svm_errors"]
    return pd.DataFrame(rows, columns=names)


# The Forgetron's guarantee; the relatives NORMA and SMO.


@experiment("budgets", published=PUBLISHED.guarantees, data=_dataset)
def guaranteed(part, *, progress=False):
    """The least value of the Forgetron's bound over competitors within reach, and its mistakes.

    Columns: random_state, n, budget (0: a reach without limit), reach (missing without limit), norm of the best competitor
    found, upper (the value of its bound), mistakes of the self-tuning Forgetron in one pass (of the perceptron for 0).
    """
    rows = []
    for seed in tqdm(part.seeds, desc="guarantee", disable=not progress):
        X, y = ordered(part, part.n, seed)
        K = normalized(kernels.polynomial(part.degree), X, X)
        z = 2.0 * y - 1
        for budget in (0, *part.budgets):
            limit = float(guarantee.reach(budget)) if budget else np.inf
            model = learner("forgetron" if budget else "perceptron", budget, part).fit(X, y)
            upper, norm = map(rounded, guarantee.best_within(K, z, limit))
            facts = rounded(limit) if budget else np.nan, norm, upper
            rows.append((seed, part.n, budget, *facts, int(model.n_mistakes_[0])))
    names = ["random_state", "n", "budget", "reach", "norm", "upper", "mistakes"]
    return pd.DataFrame(rows, columns=names)


@experiment("budgets", published=PUBLISHED.guarantees, data=_dataset)
def relatives(part, *, progress=False):
    """Relations of the perceptron to NORMA and to SMO, in one pass: a row for each order.

    Columns: random_state, n, mistakes, norma_same (NORMA with rho = lambda = 0 and eta = 1 holds the same examples with the
    same weights after the same scores), least_gain: the smallest gain at a mistake of sum a - a Q a / 2, the objective of a
    support vector machine without threshold and without an upper limit of a.
    """
    rows = []
    for seed in tqdm(part.seeds, desc="relatives", disable=not progress):
        X, y = ordered(part, part.n, seed)
        model = learner("perceptron", None, part).fit(X, y)
        other = Norma(margin=0.0, eta0=1.0, alpha=0.0, degree=part.degree, gamma=1, shuffle=False).fit(X, y)
        pairs = [(getattr(m, name) for m in (model, other)) for name in ("support_", "dual_coef_", "online_scores_")]
        same = all(np.array_equal(a, b) for a, b in pairs)
        f = (2 * y - 1) * model.online_scores_[:, 0]
        gains = 0.5 - f[f <= 0]  # k(x, x) = 1: a step of 1 gains 1 - y f - 1/2
        rows.append((seed, part.n, len(gains), same, rounded(gains.min())))
    return pd.DataFrame(rows, columns=["random_state", "n", "mistakes", "norma_same", "least_gain"])
