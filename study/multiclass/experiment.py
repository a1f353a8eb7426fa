"""Multiclass perceptrons in the plane: Xu and Zhang's update literally, what it can learn, and how many mistakes it makes.

Sources: Xu & Zhang 2005 (eqs 10 and 11, Figs 1 to 3); Duda, Hart & Stork 2001 (Kesler's construction); Novikoff 1962.

Symbols: X (n, 2) examples, y (n,) indices of C classes, K (n, n) kernel values, G (n, n) what the mistakes add to scores:
K + 1 for the ordinary perceptron, K^2 + 1 for Xu and Zhang's. Kesler's vector of example q of class i and another class j is
phi(q) in the place of i and -phi(q) in that of j, where G = phi phi^T; classes are separable if one w has a positive product
with all of them, and every mistake that demotes one class adds one of them to w.
"""

import numpy as np
import pandas as pd
from scipy.optimize import linprog, nnls
from scipy.spatial import cKDTree
from scipy.stats import percentileofscore, t
from sklearn.base import clone

from kp import PREDICTORS, MulticlassKernelPerceptron, MulticlassPerceptron, OneVsAllKernelPerceptron, datasets
from kp.kesler import DEMOTE, Linear, squared
from kp.perceptron import visiting_orders

ORDINARY, XU_ZHANG, ONE_VS_ALL = "ordinary", "xu-zhang", "one-vs-all"


# The literal update, and what the algebra saves.


def kernel_of(estimator):
    """The Kernel of a `MulticlassKernelPerceptron` that names one."""
    return estimator.KERNELS[estimator.kernel](estimator)


def kernel_values(estimator, X):
    """K (n, n) of X (n, d)."""
    return kernel_of(estimator)(X, X)


def literal(K, y, n_classes, orders, *, demote="winner"):
    """Eqs 10 and 11 in plain NumPy: (mistakes, alpha (C, n), beta (C,)) after the visiting orders (n,), one an epoch.

    mistakes: tuples (example, step, promoted, demoted) as in a `MulticlassLog`; promoted is -1 in all rows of a mistake but
    its first. demote as in `MulticlassKernelPerceptron`.
    """
    alpha, beta, mistakes, step = np.zeros((n_classes, len(y))), np.zeros(n_classes), [], 0
    for order in orders:
        for q in order:
            f, i = alpha @ K[q] + beta, y[q]
            rivals = [j for j in range(n_classes) if j != i and f[i] <= f[j]]
            if demote == "winner" and rivals:
                rivals = [max(rivals, key=f.__getitem__)]
            elif demote == "first":
                rivals = rivals[:1]
            if rivals:
                alpha[i] += K[q]
                beta[i] += 1
            for place, j in enumerate(rivals):
                alpha[j] -= K[q]
                beta[j] -= 1
                mistakes.append((int(q), step, -1 if place else int(i), j))
            step += 1
    return mistakes, alpha, beta


def beside_literal(problems):
    """Fit estimators and run `literal` on the same examples in the same order; one row a problem.

    problems {name: (estimator, X, y)}, each estimator a `MulticlassKernelPerceptron` with an int as random_state.
    Columns: set, examples, epochs, mistakes, literal (its mistakes), same (of each mistake example, step and classes agree),
    difference (the largest one between the coefficients, as a share of the largest coefficient; 0 if no bit differs).
    """
    rows = []
    for name, (estimator, X, y) in problems.items():
        model = clone(estimator).fit(X, y)
        K, random, log = kernel_values(model, X), np.random.RandomState(model.random_state), model.mistakes_
        orders = [order[0] for order in visiting_orders(len(y), 1, model.n_iter_, random_state=random)]
        mistakes, alpha, beta = literal(K, y, len(model.classes_), orders, demote=model.demote)
        ours = list(
            zip(*(getattr(log, column).tolist() for column in ("example", "step", "promoted", "demoted")), strict=True)
        )
        gap = max(np.abs(alpha - model.dual_coef_).max(), np.abs(beta - model.intercept_).max()) / np.abs(alpha).max()
        rows.append((name, len(y), model.n_iter_, len(ours), len(mistakes), "yes" if ours == mistakes else "no", gap))
    columns = ["set", "examples", "epochs", "mistakes", "literal", "same", "difference"]
    return pd.DataFrame(rows, columns=columns)


def operations(log, n, n_classes):
    """Multiplications and additions of numbers that learning took, by the log of a run; K is given to both sides.

    Columns: operation, literal, squared. literal: C n products a visit and 2 n sums a mistake; squared: n^2 (n + 1) / 2
    products once for K^2 and 2 n sums a mistake, as the scores are there when an example is visited.
    """
    visits, moves = log.steps(), n * (len(log) + log.n_mistakes())
    rows = [
        ("squaring K, once", 0, n * n * (n + 1) // 2),
        ("scores of the example visited", visits * n_classes * n, 0),
        ("moving two classes at a mistake", moves, moves),
    ]
    table = pd.DataFrame(rows, columns=["operation", "literal", "squared"])
    total = pd.DataFrame([("all", *table[["literal", "squared"]].sum())], columns=table.columns)
    return pd.concat([table, total], ignore_index=True)


# What can be learnt.


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
    pairs, signs = _kesler_pairs(y)
    A = np.einsum("pc,pr->pcr", signs, features[pairs]).reshape(len(pairs), -1)
    found = linprog(np.zeros(A.shape[1]), A_ub=-A, b_ub=-np.ones(len(A)), bounds=(None, None))
    if found.status not in (0, 2):
        raise RuntimeError(f"expected the linear programme to be solved or refuted, got: {found.message}")
    return found.status == 0


def separability_table(problems):
    """Rank, separability and the run of each problem {(set, kernel): (estimator, X, y)}; one row a problem.

    Columns: set, kernel, examples, rank, separable, converged ("yes" or "no"), epochs, mistakes, errors (of
    the last predictor on the training examples).
    """
    rows = []
    for (name, kernel), (estimator, X, y) in problems.items():
        model, K = clone(estimator).set_params(count_errors=False).fit(X, y), kernel_values(estimator, X)
        words = ["yes" if fact else "no" for fact in (separable(K, y), model.converged_)]
        errors = int(np.sum(model.predict(X) != y))
        rows.append((name, kernel, len(y), rank(K)[0], *words, model.n_iter_, model.mistakes_.n_mistakes(), errors))
    names = ["set", "kernel", "examples", "rank", "separable", "converged", "epochs", "mistakes", "errors"]
    return pd.DataFrame(rows, columns=names)


def readings_in_fixed_order(X, y, *, max_iter=10_000):
    """What the linear perceptron does with each reading of eq. 5, visiting the examples X (n, d) always in the order given.

    X are whole numbers, so that the state is exact: W and b less those of the first class, on which alone decisions depend.
    If it is the same at the ends of two epochs, all between them comes again for ever. Columns: demoted, ends ("stops",
    "repeats", or "open" after max_iter epochs), epochs (until it stopped, or until the first state that came again), period.
    """
    rows = []
    for demote in DEMOTE:
        learner, seen, row = (
            Linear(np.asarray(X, dtype=float), y, y.max() + 1, demote=demote),
            {},
            (demote, "open", max_iter, 0),
        )
        for epoch in range(1, max_iter + 1):
            place, *_ = learner.epoch(np.arange(len(y)))
            state = np.column_stack([learner.W - learner.W[0], learner.b - learner.b[0]]).tobytes()
            if not len(place) or state in seen:
                row = (demote, "repeats", seen[state], epoch - seen[state]) if len(place) else (demote, "stops", epoch, 0)
                break
            seen[state] = epoch
        rows.append(row)
    return pd.DataFrame(rows, columns=["demoted", "ends", "epochs", "period"])


# How many mistakes.


def mistake_bound(G, y):
    """(R, gamma): R^2 = max_q G_qq, gamma = min (w_i - w_j) . phi(q) over Kesler's vectors, for a w of length 1.

    Kesler's vectors have squared lengths 2 G_qq, so a perceptron that starts from 0 and demotes one class a time makes at
    most 2 (R / gamma)^2 mistakes, in whatever order it visits the examples (Novikoff 1962). The shortest w with all products
    at least 1 is found as a problem of non-negative least squares (Lawson & Hanson 1974, chapter 23); gamma is the margin
    that it attains by our own sums, so that the bound holds to whatever precision w was found.
    Raises ValueError if it finds no such w: the classes are not separable, or G is too ill-conditioned to tell.
    """
    pairs, signs = _kesler_pairs(y)
    R = np.sqrt(G.diagonal().max())
    values, vectors = np.linalg.eigh(G / R**2)
    large = values > np.finfo(float).eps * values[-1]
    phi = vectors[:, large] * np.sqrt(values[large])
    A = (signs[:, :, None] * phi[pairs, None, :]).reshape(len(pairs), -1)
    E = np.vstack([A.T, np.ones(len(A))])
    u, _ = nnls(E, np.eye(len(E))[-1], maxiter=20 * len(A))
    w = A.T @ u
    w /= max(np.linalg.norm(w), np.finfo(float).tiny)
    products = A @ w
    if not products.min() > 0:
        raise ValueError(
            f"the classes must be separable by Kesler's criterion, got a smallest product of {products.min():.3g}; "
            "take another kernel or set the classes farther apart"
        )
    return float(R), float(R * products.min())


def _kesler_pairs(y):
    """For all Kesler vectors: the example (p,), and +1 for its class, -1 for the other one (p, C)."""
    classes = np.arange(y.max() + 1)
    example = np.repeat(np.arange(len(y)), len(classes) - 1)
    other = np.concatenate([np.delete(classes, own) for own in y])
    signs = np.zeros((len(example), len(classes)))
    signs[np.arange(len(example)), y[example]] = 1
    signs[np.arange(len(example)), other] = -1
    return example, signs


def mistakes_table(problems, *, n_orders):
    """Mistakes until an epoch passes without one, and their bound: a row for each problem and update.

    problems {value: (estimator, X, y)}, each estimator a `MulticlassKernelPerceptron`, of which both updates are fitted.

    Columns: value, update, radius = R, margin = gamma, bound = 2 (R / gamma)^2, fewest, median, most mistakes and the median
    number of epochs, over visiting orders seeded 0 .. n_orders - 1. Mistakes are missing if any order had not converged.
    The winner is demoted: where all rivals are, a mistake adds no Kesler vector, and the bound does not hold.
    """
    rows = []
    for value, (estimator, X, y) in problems.items():
        K = kernel_values(estimator, X)
        for update, G in ((ORDINARY, K + 1), (XU_ZHANG, squared(K) + 1)):
            R, gamma = mistake_bound(G, y)
            model = clone(estimator).set_params(update=update, demote="winner", count_errors=False)
            fits = [clone(model).set_params(random_state=seed).fit(X, y) for seed in range(n_orders)]
            made = [fit.mistakes_.n_mistakes() if fit.converged_ else np.nan for fit in fits]
            counts = min(made), np.median(made), max(made), np.median([fit.n_iter_ for fit in fits])
            counts = (np.nan,) * 4 if np.isnan(made).any() else counts
            rows.append((value, update, R, gamma, 2 * (R / gamma) ** 2, *counts))
    names = ["value", "update", "radius", "margin", "bound", "fewest", "median", "most", "epochs"]
    return pd.DataFrame(rows, columns=names)


def growth(table):
    """How the numbers of `mistakes_table` grow from its first value to its last, and the updates beside each other there.

    first, last: the values; bound_* and mistakes_*: last divided by first, of the ordinary update and of xu_zhang; less,
    more: mistakes of Xu and Zhang's update divided by those of the ordinary one at the first and at the last value.
    """
    wide = table.pivot(index="value", columns="update", values=["bound", "median"])
    factors, ratio = wide.iloc[-1] / wide.iloc[0], wide["median", XU_ZHANG] / wide["median", ORDINARY]
    return {
        "first": wide.index[0],
        "last": wide.index[-1],
        "bound_ordinary": factors["bound", ORDINARY],
        "bound_xu_zhang": factors["bound", XU_ZHANG],
        "mistakes_ordinary": factors["median", ORDINARY],
        "mistakes_xu_zhang": factors["median", XU_ZHANG],
        "less": ratio.iloc[0],
        "more": ratio.iloc[-1],
    }


# Regions, and comparisons over fresh draws.


def error_course(log, n, *, bins=40):
    """Training errors along a `MulticlassLog` of n examples, in equal bins of the logarithm of the step (from 1).

    A row a bin with a mistake in it. Columns: step (of the last mistake in the bin), least, median, most (error rates of the
    predictors right after the mistakes in the bin). The last mistake of all has a row of its own.
    """
    first = np.flatnonzero(log.promoted >= 0)
    steps, errors = log.step[first] + 1, log.errors[first] / n
    place = np.floor(bins * np.log(steps) / np.log(steps[-1])).astype(int)
    groups = pd.DataFrame({"bin": place, "step": steps, "error": errors}).groupby("bin")
    table = groups.agg(step=("step", "max"), least=("error", "min"), median=("error", "median"), most=("error", "max"))
    return table.reset_index(drop=True)


def distance_to_boundary(X, predicted, lattice, regions):
    """Distance (n,) from each example to the nearest point of the lattice (c, 2) whose region (c,) is not its own.

    The region of an example is its prediction (n,).
    """
    distance = np.full(len(X), np.inf)
    for label in np.unique(predicted):
        other = lattice[regions != label]
        if len(other):
            distance[predicted == label] = cKDTree(other).query(X[predicted == label])[0]
    return distance


def panels(choices, train, fresh, lattice):
    """{title: scores (c, C) on the lattice} for figure_regions, from choices {name: (fitted estimator, predictor, epoch)}.

    train and fresh are `Data`; the titles tell the error rates on both.
    """
    found = {}
    for name, (model, predictor, epoch) in choices.items():
        options = {"predictor": predictor, "epoch": epoch}
        rates = [np.mean(model.predict(part.X, **options) != part.y) for part in (train, fresh)]
        found["{}: train {:.1%}, fresh {:.1%}".format(name, *rates)] = model.decision_function(lattice, **options)
    return found


def errors_by_epoch(model, data, epochs):
    """Error rates of the four predictors of a fitted estimator on `Data`: a row for each epoch, a column a predictor."""
    rows = [
        {"epoch": e} | {p: np.mean(model.predict(data.X, predictor=p, epoch=e) != data.y) for p in PREDICTORS}
        for e in epochs
    ]
    return pd.DataFrame(rows)


def methods(**options):
    """{name: estimator}: Xu and Zhang's perceptron with the three readings of eq. 11, the ordinary one, and one-vs-all.

    options are those of `MulticlassKernelPerceptron`. All methods have a threshold; that of one-vs-all is a kernel plus one.
    """
    model = MulticlassKernelPerceptron(**options, count_errors=False, n_jobs=1)
    kernel = kernel_of(model)
    return {
        **{f"{XU_ZHANG}, {demote}": clone(model).set_params(demote=demote) for demote in DEMOTE},
        f"{ORDINARY}, winner": clone(model).set_params(update=ORDINARY),
        ONE_VS_ALL: OneVsAllKernelPerceptron(lambda X, Y: kernel(X, Y) + 1, max_iter=model.max_iter, n_jobs=1),
    }


def runs(name, models, *, n_draws, random_state=0):
    """Fit each model of {method: estimator} to fresh draws of a synthetic set; tidy, one row a method and draw.

    Draw d has the seed random_state + d for its examples and their order, its test set the seed random_state + n_draws + d.
    Columns: method, draw, converged, epochs, mistakes, train_errors, n_train, test_errors, n_test.
    """
    rows = []
    for draw in range(n_draws):
        seed = random_state + draw
        train, test = (datasets.load(name, random_state=each) for each in (seed, seed + n_draws))
        for method, model in models.items():
            fit = clone(model).set_params(random_state=seed).fit(train.X, train.y)
            logs = fit.mistakes_ if isinstance(fit.mistakes_, list) else [fit.mistakes_]
            mistakes = sum(len(np.unique(log.step)) for log in logs)
            converged = all(log.step[-1] < log.steps() - len(train.y) for log in logs)
            wrong = [int(np.sum(fit.predict(part.X) != part.y)) for part in (train, test)]
            rows.append((method, draw, converged, fit.n_iter_, mistakes, wrong[0], len(train.y), wrong[1], len(test.y)))
    names = "method draw converged epochs mistakes train_errors n_train test_errors n_test"
    return pd.DataFrame(rows, columns=names.split())


def summary(table):
    """One row a method of a table of `runs`, over its draws.

    Columns: method, converged (share of draws), epochs and mistakes (medians), train, test (mean error rates), least and
    most (test error rates).
    """
    rates = table.assign(train=table["train_errors"] / table["n_train"], test=table["test_errors"] / table["n_test"])
    return rates.groupby("method", sort=False, as_index=False).agg(
        converged=("converged", "mean"),
        epochs=("epochs", "median"),
        mistakes=("mistakes", "median"),
        train=("train", "mean"),
        test=("test", "mean"),
        least=("test", "min"),
        most=("test", "max"),
    )


SUMMARY_FORMATS = {
    "converged": ".0%",
    "epochs": ".0f",
    "mistakes": ",.0f",
    **dict.fromkeys(["train", "test", "least", "most"], ".2%"),
}
"""How the columns of a `summary` are shown."""


def difference(table, first, second):
    """(mean, half): mean difference of the test error rates of two methods, first less second, over the draws of `runs`.

    half is the half width of its 95 % interval by Student's t; both methods saw the same draws.
    """
    rates = table.assign(rate=table["test_errors"] / table["n_test"]).pivot(index="draw", columns="method", values="rate")
    gaps = rates[first] - rates[second]
    return float(gaps.mean()), float(t.ppf(0.975, len(gaps) - 1) * gaps.sem())


# The numbers that the source publishes.

CLAIMED = {
    "Fig. 1": ("five-classes", MulticlassPerceptron()),
    "Fig. 2 (a)": ("five-classes", MulticlassKernelPerceptron("linear")),
    "Fig. 2 (b)": ("five-classes", MulticlassKernelPerceptron("poly", degree=2)),
    "Fig. 3": ("four-spirals", MulticlassKernelPerceptron("rbf", sigma=0.6)),
}
"""The set and the estimator behind each of the source's figures."""


def claims(published, *, n_draws=20, max_iter=5000):
    """The rows of the claims ledger, from a table (item, quantity, published): training errors in the source's figures.

    The source's points are not known: `ours` is what a set of the same description gives, drawn and visited by the seed 0,
    low and high the middle 95 % of n_draws draws, percentile the place of the published number among them (of equals the
    middle).
    """
    rows = []
    for claim in published.itertuples():
        name, model = CLAIMED[claim.item]
        options = {"max_iter": max_iter, "count_errors": False, "n_jobs": 1}
        found = runs(name, {claim.item: clone(model).set_params(**options)}, n_draws=n_draws)
        errors = found["train_errors"].to_numpy()
        low, high = np.quantile(errors, [0.025, 0.975])
        within = "within" if low <= claim.published <= high else "outside"
        rows.append(
            {
                "source": "Xu & Zhang 2005",
                "item": claim.item,
                "quantity": claim.quantity,
                "published": claim.published,
                "ours": errors[0],
                "low": low,
                "high": high,
                "n": found["n_train"].iloc[0],
                "verdict": "exact" if errors[0] == claim.published else within,
                "percentile": percentileofscore(errors, claim.published, kind="mean") / 100,
                "producer": "multiclass.ipynb",
            }
        )
    return pd.DataFrame(rows)
