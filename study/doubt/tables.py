"""Small tables of the chapter on doubt, from the arrays of study.doubt.experiment: pure functions, all cheap.

Sources: Chow 1970 (reject option); Platt 1999 (logistic curve); Guo et al. 2017 (temperature, expected calibration error);
Geifman & El-Yaniv 2017 (risk-coverage curves, guaranteed risk); Traub et al. 2024, arXiv 2407.01032 (AUGRC); Vovk, Gammerman
& Shafer 2005 (conformal prediction).

Symbols: n images, C classes, R perceptrons, votes (n, C) counts, f (n, C) scores, P (n, C) probabilities, y (n,) classes as
indices, wrong (n,) bool, confidence (n,): the higher, the surer. A measure of confidence knows no class of the image.
Rates are fractions. Intervals are at 95 %, Wilson's over images unless something else is said.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.optimize import minimize, minimize_scalar
from scipy.special import expit, log_softmax, softmax

from study import statistics
from study.doubt.experiment import KINDS, PARTS, PREDICTORS
from study.words import p_cell, styled

BINS = 15
"""Bins of equal width between 0 and 1, as in Guo et al. 2017."""
TARGETS = (0.01, 0.005, 0.002)
SHARES = 50
"""How many shares of accepted images, evenly spaced up to all, a guaranteed threshold may choose from."""
LEVELS = (0.01, 0.05)
REFUSED = 0.01
"""The share of true digits that may be refused in return for refusing other inputs."""
DRAWS = 500
"""Draws of answers that are right as often as a confidence says."""


NAMES = {
    "low": "95 % from",
    "high": "to",
    "calibrated": "limit",
    "brier": "Brier score",
    "aurc": "AURC",
    "augrc": "AUGRC",
    "estimate": "difference",
    "worst": "class",
    "worst_covered": "its coverage",
    "single_error": "error of single",
}
"""Printed names of columns; the others are printed by their names, without underscores."""
PART_NAMES = {
    "held out": "held-out digits", "test": "test digits", "halves": "half digits", "like digits": "digit-like letters",
}  # fmt: skip
"""Printed names of parts of the inputs; the others are printed by their names."""
COUNTS = {
    "errors": ".4g",
    "images": ",",
    "target": ".1%",
    "level": ".0%",
    "Brier score": ".4f",
    "log loss": ".4f",
    "p": p_cell,
}
"""How columns that are not rates are written."""


@dataclass(frozen=True)
class Answers:
    """Answers of the ensemble on n images: votes {predictor: (n, C)}, scores (n, C), and single (n, C) of one order."""

    votes: dict
    scores: np.ndarray
    single: np.ndarray

    @property
    def classes(self):
        """(n,): the class of the best score."""
        return self.scores.argmax(axis=1)

    @property
    def shares(self):
        """(n, C): the share of the average predictors that name each class."""
        votes = self.votes["average"]
        return votes / votes.sum(axis=1, keepdims=True)


def by_part(arrays):
    """{part: Answers} of the stored arrays, scores in double precision."""
    found = {}
    for index, name in enumerate(PARTS):
        some = arrays["part"] == index
        votes = {predictor: arrays["votes"][p][some].astype(int) for p, predictor in enumerate(PREDICTORS)}
        found[name] = Answers(votes, *(arrays[key][some].astype(float) for key in ("scores", "single")))
    return found


def margin(f):
    """(n,): the best score less the second best."""
    return lead(f).max(axis=1)


def measures(answers, T):
    """{name: (classes (n,), confidence (n,))}: the answers and how sure each measure is of them; T the temperature."""
    return {
        "margin": (answers.classes, margin(answers.scores)),
        "margin of one perceptron": (answers.single.argmax(axis=1), margin(answers.single)),
        "vote share": (answers.shares.argmax(axis=1), answers.shares.max(axis=1)),
        "softmax": (answers.classes, softmax(answers.scores / T, axis=1).max(axis=1)),
    }


def with_interval(errors, n):
    """(errors / n, low, high) with Wilson's interval; missing where n is 0."""
    return (errors / n, *statistics.wilson(errors, n)) if n else (np.nan,) * 3


def by_votes(votes, y):
    """Errors by the number of votes for the answer: votes (text), images, errors, error, low, high; the most votes first."""
    R = int(votes[0].sum())
    most = votes.max(axis=1)
    wrong = votes.argmax(axis=1) != y
    edges = sorted({R, R - 1, -(-3 * R // 4), -(-R // 2), 0}, reverse=True)
    rows = []
    for low, high in zip(edges, [R, *(edge - 1 for edge in edges)], strict=False):
        some = (most >= low) & (most <= high)
        text = f"{low} of {R}" if low == high else f"{low} to {high}" if low else f"fewer than {high + 1}"
        errors = wrong[some].sum()
        n = some.sum()
        rows.append((text, n, errors, *with_interval(errors, n)))
    return pd.DataFrame(rows, columns=["votes", "images", "errors", "error", "low", "high"])


# Calibration.


def temperature(f, y):
    """T > 0 for which softmax(f / T) has the smallest log loss on y (Guo et al. 2017): one number, the answers stay."""

    def loss(log_beta):
        return -log_softmax(np.exp(log_beta) * f, axis=1)[np.arange(len(y)), y].mean()

    return float(np.exp(-minimize_scalar(loss, bounds=(-7, 12), method="bounded", options={"xatol": 1e-8}).x))


def logistic_curve(x, right):
    """(a, b) for which 1 / (1 + exp(-(a + b x))) is the likeliest chance that an answer is right; x, right (n,).

    Of N right and M wrong answers the first count as right to (N + 1) / (N + 2), the others to 1 / (M + 2) (Platt 1999), so
    that the curve is finite wherever it is fitted.
    """
    count = int(right.sum())
    goal = np.where(right, (count + 1) / (count + 2), 1 / (len(right) - count + 2))
    X = np.column_stack([np.ones(len(x)), x])

    def loss(ab):
        return (np.logaddexp(0, X @ ab) - goal * (X @ ab)).mean()

    def slope(ab):
        return X.T @ (expit(X @ ab) - goal) / len(x)

    a, b = minimize(loss, np.zeros(2), jac=slope, method="BFGS", options={"gtol": 1e-9}).x
    return float(a), float(b)


def calibrated_margin(held, y_held, test):
    """(n,) chances that the answers to test images are right: a logistic curve of the logarithm of the margin, fitted to the
    held-out images. A margin of 0 counts as the smallest other one that is held out."""
    margins = margin(held.scores)
    least = margins[margins > 0].min()
    a, b = logistic_curve(np.log(np.maximum(margins, least)), held.classes == y_held)
    return expit(a + b * np.log(np.maximum(margin(test.scores), least)))


def probabilities(held, y_held, test):
    """{method: P (n, C)} for the test images of Answers, each fitted to the held-out ones, and the votes as they are.

    "constant" knows nothing of an image: the answer has the accuracy on the held-out images, the other classes share the
    rest.
    """
    T = temperature(held.scores, y_held)
    accuracy = (held.classes == y_held).mean()
    C = held.scores.shape[1]
    answer = np.eye(C)[test.classes]
    return {
        "constant": accuracy * answer + (1 - accuracy) / (C - 1) * (1 - answer),
        "vote share": test.shares,
        "softmax": softmax(test.scores / T, axis=1),
    }


def confidences(held, y_held, test, P_of):
    """{method: (classes (n,), confidence (n,))}: the largest of the probabilities P_of, and after the softmax the
    calibrated margin, which has no probabilities of the other classes."""
    found = {}
    for name, P in P_of.items():
        found[name] = (P.argmax(axis=1), P.max(axis=1))
        if name == "softmax":
            found["calibrated margin"] = (test.classes, calibrated_margin(held, y_held, test))
    return found


def _bin(confidence):
    return np.minimum((confidence * BINS).astype(int), BINS - 1)


def calibration_error(confidence, right):
    """Expected calibration error: the mean over images of | accuracy - confidence | of their bins.

    right is (n,), or (b, n) of b sets of answers.
    """
    excess = right - confidence
    sums = np.atleast_2d(excess) @ (_bin(confidence)[:, None] == np.arange(BINS))
    errors = np.abs(sums).sum(axis=1) / len(confidence)
    return float(errors[0]) if excess.ndim == 1 else errors


def calibration(of, y):
    """How good the confidences {method: (classes, confidence)} are: a row for each method, rates as fractions.

    method, calibration_error; calibrated, up to which a method whose chances are true would show a calibration error in 95 %
    of draws; brier and log_loss (natural) of the chance that the answer is right. A log loss is infinite if what happens has
    probability 0.
    """
    rows = []
    for method, (classes, confidence) in of.items():
        right = classes == y
        drawn = np.random.default_rng(0).random((DRAWS, len(y))) < confidence
        usual = np.quantile(calibration_error(confidence, drawn), statistics.LEVEL)
        with np.errstate(divide="ignore"):
            log_loss = -np.log(np.where(right, confidence, 1 - confidence)).mean()
        brier = ((right - confidence) ** 2).mean()
        rows.append((method, calibration_error(confidence, right), usual, brier, log_loss))
    return pd.DataFrame(rows, columns=["method", "calibration_error", "calibrated", "brier", "log_loss"])


def calibration_tests(of, y):
    """{"a − b": Difference} of the Brier scores of two confidences in their answers on the same images, one family (Holm):
    a bootstrap over test images."""
    squares = {method: ((classes == y) - confidence) ** 2 for method, (classes, confidence) in of.items()}
    pairs = ("softmax", "constant"), ("calibrated margin", "constant"), ("calibrated margin", "vote share")
    tests = {f"{a} − {b}": statistics.bootstrap(squares[a] - squares[b], varies="test images") for a, b in pairs}
    return statistics.holm(tests)


# Rejection.


def risk_coverage(confidence, wrong):
    """coverage and risk (errors accepted / accepted) where the k most certain images are accepted, k = 1..n.

    Equally certain images are accepted in random order: errors are the mean over these orders.
    """
    n = len(wrong)
    (order, last) = _ranked(confidence)
    k = np.arange(1, n + 1)
    accepted = np.interp(k, np.r_[0, last + 1], np.r_[0, np.cumsum(wrong[order])[last]])
    return pd.DataFrame({"coverage": k / n, "risk": accepted / k})


def _ranked(confidence):
    """(order (n,), ends): the images, the most certain first, and the ends of groups of equal confidence."""
    order = np.argsort(-confidence, kind="stable")
    return order, np.flatnonzero(np.r_[np.diff(confidence[order]) != 0, True])


def augrc(confidence, wrong, weights=None):
    """The area under the generalized risk over coverage, 0..1: the mean risk of an accepted error (Traub et al. 2024).

    With weights (b, n), counts of resampled images, one area for each row (b,).
    """
    order, ends = _ranked(confidence)
    w = (np.ones((1, len(wrong))) if weights is None else weights)[:, order]
    total = w.sum(axis=1, keepdims=True)
    coverage, risk = (np.pad(np.cumsum(part, axis=1)[:, ends] / total, ((0, 0), (1, 0))) for part in (w, w * wrong[order]))
    area = (np.diff(coverage, axis=1) * (risk[:, 1:] + risk[:, :-1]) / 2).sum(axis=1)
    return float(area[0]) if weights is None else area


def areas(of, y):
    """AURC and AUGRC of measures {name: (classes, confidence)}: measure, errors, aurc, augrc, best, random, and
    the difference of its AUGRC from that of the first, with a bootstrap interval over test images (Holm):
    estimate, low, high, p.

    best is the AUGRC of a measure that refuses all errors first, random that of one that knows nothing.
    """
    wrong = {name: classes != y for name, (classes, _) in of.items()}
    first, *others = of
    tests = statistics.holm(
        {
            name: statistics.bootstrap_of(
                lambda w, name=name: augrc(of[name][1], wrong[name], w) - augrc(of[first][1], wrong[first], w),
                len(y), varies="test images",
            )
            for name in others
        }
    )  # fmt: skip
    rows = []
    for name, (_, confidence) in of.items():
        rate = wrong[name].mean()
        t = tests.get(name)
        areas = risk_coverage(confidence, wrong[name])["risk"].mean(), augrc(confidence, wrong[name]), rate**2 / 2, rate / 2
        rows.append((name, wrong[name].sum(), *areas, *((t.estimate, t.low, t.high, t.p) if t else (np.nan,) * 4)))
    columns = ["measure", "errors", "aurc", "augrc", "best", "random", "estimate", "low", "high", "p"]
    return pd.DataFrame(rows, columns=columns)


def threshold_for(confidence, wrong, target):
    """The lowest confidence c above or at which at most the share `target` of images is wrong; inf if there is none."""
    order, ends = _ranked(confidence)
    fine = ends[np.cumsum(wrong[order])[ends] <= target * (ends + 1)]
    return float(confidence[order][fine[-1]]) if len(fine) else np.inf


def guaranteed_threshold(confidence, wrong, target):
    """The lowest confidence above or at which a new image is wrong with probability at most `target`, inf if none is shown.

    Thresholds are tried that accept 1, 2, ... SHARES of as many equal shares of the images, and each needs an upper bound of
    its risk, exact and at 95 % for all of them together (Bonferroni), that is at most the target (the bound of Geifman &
    El-Yaniv 2017, over a grid that is fixed before).
    """
    order, ends = _ranked(confidence)
    errors = np.cumsum(wrong[order])
    found = np.inf
    for share in range(1, SHARES + 1):
        fine = ends[(ends + 1) * SHARES <= share * len(wrong)]
        if len(fine):
            last = fine[-1]
            if statistics.at_most(errors[last], last + 1, level=1 - statistics.ALPHA / SHARES) <= target:
                found = float(confidence[order][last])
    return found


def at_targets(held, y_held, test, y, targets, *, rule):
    """Refusals that an error target requires: thresholds from the held-out images, and their effects on the test images.

    held, test: {measure: (classes, confidence)}; rule: threshold_for or guaranteed_threshold. Columns target, measure,
    threshold, refused_held, refused, accepted, errors, error, low, high; error and interval are of the accepted test images.
    """
    rows = []
    for target in targets:
        for name, (classes, confidence) in held.items():
            c = rule(confidence, classes != y_held, target)
            accepted = test[name][1] >= c
            n = accepted.sum()
            errors = (test[name][0] != y)[accepted].sum()
            rows.append((target, name, c, (confidence < c).mean(), 1 - n / len(y), n, errors, *with_interval(errors, n)))
    columns = "target measure threshold refused_held refused accepted errors error low high".split()
    return pd.DataFrame(rows, columns=columns)


def margin_targets(held, y_held, test, y):
    """`at_targets` of one measure by both rules, the strictest target last: target, rule ("held-out error" or "guaranteed"),
    refused, accepted, errors, error, low, high. held, test: (classes, confidence)."""
    rules = {"held-out error": threshold_for, "guaranteed": guaranteed_threshold}
    found = [
        at_targets({"margin": held}, y_held, {"margin": test}, y, TARGETS, rule=each).assign(rule=name)
        for name, each in rules.items()
    ]
    both = pd.concat(found).sort_values("target", ascending=False, kind="stable", ignore_index=True)
    return both[["target", "rule", "refused", "accepted", "errors", "error", "low", "high"]]


# Conformal prediction.


def lead(f):
    """(n, C): the score of each class less the best of the others."""
    second, best = np.sort(f, axis=1)[:, -2:].T
    return f - np.where(np.arange(f.shape[1]) == f.argmax(axis=1)[:, None], second[:, None], best[:, None])


def conformities(answers):
    """{name: (n, C)}: how well a class fits an image, by three measures; minus it is the non-conformity."""
    return {
        "margin of the class": lead(answers.scores),
        "vote share of the class": answers.shares,
        "score of the class": answers.scores,
    }


def p_values(held, y_held, conformity):
    """(n, C): p of each class for each image, split-conformal and by class (Vovk et al. 2005), not smoothed.

    p_c = (1 + how many held-out images of class c have a conformity with their class at most that of the image with c) /
    (1 + how many images of class c are held out). held (m, C) and conformity (n, C) are of one measure.
    """
    p = np.empty(conformity.shape)
    for c in range(conformity.shape[1]):
        own = np.sort(held[y_held == c, c])
        p[:, c] = (1 + np.searchsorted(own, conformity[:, c], side="right")) / (1 + len(own))
    return p


def p_by_measure(held, y_held, test):
    """{measure: p (n, C)} for the test images of Answers, by each of `conformities`."""
    of_held = conformities(held)
    return {name: p_values(of_held[name], y_held, fit) for name, fit in conformities(test).items()}


def label_sets(p_of, y, y_held, levels=LEVELS):
    """Sets {c : p_c > level} for the test images, p_of {measure: p (n, C)}: measure, level, covered (the share that holds
    the true class), the shares empty, single, several, and single_error, the error rate of single ones; and of the class
    with the smallest p of `class_coverage` worst (its index), worst_covered and p (Holm over classes).
    """
    rows = []
    for level in levels:
        for name, p in p_of.items():
            inside = p > level
            size = inside.sum(axis=1)
            single = size == 1
            wrong = (inside.argmax(axis=1) != y)[single]
            shares = ((size == 0).mean(), single.mean(), (size > 1).mean(), wrong.mean() if len(wrong) else np.nan)
            by_class = class_coverage(p, y, y_held, level)
            worst = by_class["p"].idxmin()
            covered = inside[np.arange(len(y)), y].mean()
            rows.append((name, level, covered, *shares, worst, *by_class.loc[worst, ["covered", "p_holm"]]))
    columns = "measure level covered empty single several single_error worst worst_covered p".split()
    return pd.DataFrame(rows, columns=columns)


def class_coverage(p, y, y_held, level):
    """Whether the promise of sets {c : p_c > level} is kept: class, n, missed, covered, p, p_holm.

    The promise is that a true class is missing with probability at most `level`, over held-out and test images. With m
    held-out images of a class and k = floor(level (m + 1)) the share that misses is at most Beta(k, m + 1 - k) over the
    former, and the count of missed among n test images beta-binomial: p is the chance of as many or more, p_holm is adjusted
    over the classes.
    """
    rows = []
    tests = {}
    for c in range(p.shape[1]):
        own = p[y == c, c]
        m = int((y_held == c).sum())
        k = int(np.floor(level * (m + 1) + 1e-9))
        n = len(own)
        missed = int((own <= level).sum())
        chances = statistics.beta_binomial(n, k, m + 1 - k)
        tests[c] = statistics.Excess(missed, n, float(chances[missed]), "held-out and test images", "beta-binomial")
        rows.append((c, n, missed, 1 - missed / n, tests[c].p))
    table = pd.DataFrame(rows, columns=["class", "n", "missed", "covered", "p"])
    return table.assign(p_holm=[test.p for test in statistics.holm(tests).values()])


# Invalid input.


def typicality(parts, y_held):
    """{measure: {part: confidence (n,)}} of the measures that may refuse an input: margins, votes, the best score, and the
    largest conformal p, whose label set is empty where it is small."""
    rules = {
        "margin": lambda a: margin(a.scores),
        "margin of one perceptron": lambda a: margin(a.single),
        "vote share": lambda a: a.shares.max(axis=1),
        "best score": lambda a: a.scores.max(axis=1),
    }
    found = {name: {part: rule(answers) for part, answers in parts.items()} for name, rule in rules.items()}
    fits = {part: conformities(answers) for part, answers in parts.items()}
    for name in ("margin of the class", "score of the class"):
        held = fits["held out"][name]
        found[f"largest p, {name}"] = {part: p_values(held, y_held, own[name]).max(axis=1) for part, own in fits.items()}
    return found


def refusals(typical, *, share=REFUSED):
    """Who is refused at the highest threshold that refuses at most the share of held-out digits: a row for each part and
    measure: measure, part, threshold, refused (a share). Images below the threshold are refused."""
    rows = []
    for name, of in typical.items():
        held = np.sort(of["held out"])
        c = held[int(share * len(held))]
        for part, confidence in of.items():
            rows.append((name, part, c, (confidence < c).mean()))
    return pd.DataFrame(rows, columns=["measure", "part", "threshold", "refused"])


def unanimous(parts):
    """By part, the share of its inputs for which all average predictors name one class."""
    votes = {part: answers.votes["average"] for part, answers in parts.items()}
    return {part: (each.max(axis=1) == each.sum(axis=1)).mean() for part, each in votes.items()}


def first_inputs(images, part, parts, names, *, k=6):
    """{kind: (images (k, d), titles)} of the first k inputs of each kind of which there are so many, for a picture: a title
    has the class with the most votes and their number. images (N, d) and part (N,) are those of experiment.points."""
    found = {}
    for index, kind in enumerate(PARTS):
        votes = parts[kind].votes["average"][:k]
        if kind in KINDS and len(votes) == k:
            titles = [f"{names[each.argmax()]}: {each.max()}" for each in votes]
            found[kind] = (images[np.flatnonzero(part == index)[:k]], titles)
    return found


def refusals_table(refusals):
    """`refusals` as they are printed: a row for each kind of input, a column for each measure."""
    wide = refusals.pivot(index="part", columns="measure", values="refused")
    wide = wide.loc[refusals["part"].unique(), refusals["measure"].unique()].rename(index=PART_NAMES)
    return styled(wide.rename_axis(index="input", columns=None).reset_index(), dict.fromkeys(wide.columns, ".1%"))


# For readers.


def shown(frame, *, digits=2):
    """A table as readers see it: columns have NAMES, numbers the forms of COUNTS, and all other fractions are rates in
    percent with these digits."""
    renamed = frame.rename(columns=lambda name: NAMES.get(name, name.replace("_", " ")))
    rates = {name: f".{digits}%" for name in renamed.select_dtypes("float")}
    known = {name: how for name, how in COUNTS.items() if name in renamed}
    return styled(renamed, rates | known)
