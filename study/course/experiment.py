"""The course page "Perceptron": its two generated examples and its digits, over many seeds, spreads, splits and widths.

Source: the course page "Perceptron", its listing DataOneHot, its examples in the plane and in space, and eq. 45.

The page shows one run of each. What it prints is put into a distribution here: of the modifications that the delta rule
needs (kp.delta_rule), and of the errors of the kernel perceptron with the RBF kernel (kp.output_codes). The listing makes
the example in space (d = 3, eight classes, 50 samples of each), with one-hot codes; the example in the plane has 100 samples
of each of four classes, and its spread is not printed. The page's digits are not published with it: MNIST images stand in
for them, and their number and size are a guess.

Symbols: d inputs, m outputs, s standard deviation of a class, C = 2^d classes, eta learning rate; sigma width of the kernel.
"""

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from scipy.optimize import linprog
from sklearn.metrics import confusion_matrix
from sklearn.neural_network import MLPClassifier
from sklearn.utils import check_random_state

from kp import kernels
from kp.codes import binary, class_scores
from kp.delta_rule import DeltaRulePerceptron
from kp.gram import CrossGram, Points, Products
from kp.output_codes import OutputCodeKernelPerceptron
from study import datasets
from study.protocols.settings import IMAGES, BaseSettings
from study.results import store
from study.results.experiment import experiment

PAGE = "course_page"
"""The numbers that the page prints."""
PREFIX = "course-page/"
"""What their keys, and those of the page's statements, begin with."""

CODES = ("one-hot", "binary")
PRESENTATIONS = 10_000
"""nt of the page's listing: the most presentations of a run."""

SPREADS = (0.1, 0.2, 0.25, 0.3, 0.35, 0.4)
"""s for the numbers of modifications; the listing, of the example in space, sets s = 0.4 and in the next line s = 0.2."""

LISTED_SPREADS = (0.2, 0.4)
"""Both values of s in the listing; the second stands first there and is overwritten."""

PER_CLASS = (50, 100)
"""Samples of each class: 50 in the listing, of the example in space; 100 in the text on the example in the plane."""

EXAMPLES = {2: 100, 3: 50}
"""The samples of each class of the two examples, by the number of inputs."""

STEP_SPREADS = (0.2, 0.3)
"""s at which single modifications are looked at."""

PRESENTATIONS_MORE = 10_000_000
"""The most presentations where a run on separable classes may go on."""

HIDDEN = 8
"""Hidden units of the network with two layers."""

CODE_SPREADS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
WIDTHS = (1 / 16, 1 / 8, 1 / 4, 3 / 8, 1 / 2, 1, 3 / 2)
"""sigma in units of the median distance between two images."""

SIDE = 16
PER_DIGIT = 224
"""Pixels along a side, and images of each digit, drawn from MNIST: a guess at the page's set, which names neither. The two
rows of eq. 45 whose sums are known have 116 images of a digit in one half, so that its set has about 232 of each."""


@dataclass(frozen=True, kw_only=True)
class Settings(BaseSettings):
    """The images, "mnist" or "digits", and how often each experiment is repeated.

    n_seeds runs count modifications, n_code_seeds compare the codes, n_splits halve the images; their seeds are
    random_state, random_state + 1, ...
    """

    dataset: str
    n_seeds: int
    n_code_seeds: int
    n_splits: int
    random_state: int = 0

    KNOWN = {"dataset": IMAGES}
    BOUNDS = {"n_seeds": (1, None), "n_code_seeds": (1, None)}


PUBLISHED = Settings(dataset="mnist", n_seeds=1000, n_code_seeds=200, n_splits=100)
FEW = replace(PUBLISHED, n_seeds=20, n_code_seeds=5, n_splits=2)
"""The sample of experiments on many seeds or splits: the first of them."""


def fields(*names):
    """A function that gives these fields of settings as a dict: the inputs of an experiment."""
    return lambda settings: {name: getattr(settings, name) for name in names}


def gaussian_classes(inputs, *, n_per_class=50, s=0.2, random_state):
    """X (n, d), y (n,): 2^d normal classes of standard deviation s about the corners of the cube [-1, 1]^d.

    Class k has its mean at the corner that is its binary code, as in the listing DataOneHot, which has d = 3; d = 2 is the
    square. random_state: int or np.random.RandomState.
    """
    corners = binary(2**inputs)
    y = np.repeat(np.arange(len(corners)), n_per_class)
    return corners[y] + s * check_random_state(random_state).standard_normal((len(y), inputs)), y


def delta_rule_run(inputs, *, code="binary", n_per_class=50, s=0.2, eta=1.0, random_state):
    """(X, y, model) of one run: fresh data, random weights, at most 10^4 presentations."""
    random = check_random_state(random_state)
    X, y = gaussian_classes(inputs, n_per_class=n_per_class, s=s, random_state=random)
    epochs = PRESENTATIONS // len(y)
    return X, y, DeltaRulePerceptron(code=code, eta0=eta, max_iter=epochs, random_state=random).fit(X, y)


def nearest_run(inputs, modifications, *, n_seeds, random_state=0, **options):
    """(seed, X, y, model) of the `delta_rule_run` that separated the classes with this number of modifications, or the
    nearest to it among n_seeds seeds; ties go to the first. Raises ValueError if none of them separated the classes."""
    best = None
    for seed in range(random_state, random_state + n_seeds):
        X, y, model = delta_rule_run(inputs, random_state=seed, **options)
        gap = abs(len(model.mistakes_[0]) - modifications)
        if model.converged_ and (best is None or gap < best[0]):
            best = gap, seed, X, y, model
            if gap == 0:
                break
    if best is None:
        raise ValueError(f"expected a run that separates the classes, got none among {n_seeds} seeds; lower s")
    return best[1:]


@experiment("course", published=[PUBLISHED], parameters=fields("n_seeds", "random_state"))
def modifications(settings, *, progress=False):
    """How many runs needed how many modifications until all classes were separated, binary codes; a tidy table.

    Columns: inputs, n_per_class, s, eta, counted ("presentations" that modified any weight vector, as the page's panels
    show them, or "weight vectors", each modified one for itself), modifications (NaN: not separated within 10^4
    presentations), runs. eta = 1 at all spreads, and eta = 1/2 (eq. 38) at s = 0.2.
    """
    kinds = [(d, n, s, 1.0) for d in (2, 3) for n in PER_CLASS for s in SPREADS]
    kinds += [(d, n, 0.2, 0.5) for d in (2, 3) for n in PER_CLASS if 0.2 in SPREADS]
    rows = []
    for d, n, s, eta in kinds:
        counts = {"presentations": [], "weight vectors": []}
        for seed in range(settings.n_seeds):
            _, _, model = delta_rule_run(d, n_per_class=n, s=s, eta=eta, random_state=settings.random_state + seed)
            (log,) = model.mistakes_
            counts["presentations"].append(len(log) if model.converged_ else np.nan)
            counts["weight vectors"].append(log.modified().sum() if model.converged_ else np.nan)
        for counted, values in counts.items():
            numbers, runs = np.unique(values, return_counts=True)
            rows += [(d, n, s, eta, counted, number, run) for number, run in zip(numbers, runs, strict=True)]
    names = ["inputs", "n_per_class", "s", "eta", "counted", "modifications", "runs"]
    return pd.DataFrame(rows, columns=names)


@experiment("course", published=[PUBLISHED], parameters=fields("n_seeds", "random_state"), sample=FEW)
def listing(settings, *, progress=False):
    """The listing as it is printed, d = 3 and onehot = 1: eight outputs, eight classes of 50 samples each; one row a run.

    Columns: s, run, separable (True if each class can be cut off from all others by a plane), converged, modifications
    (presentations that modified), weight_vectors (each modified one for itself), and for separable classes later: 1 if the
    run ends where it may go on to PRESENTATIONS_MORE.
    """
    rows = []
    for s in LISTED_SPREADS:
        for run in range(settings.n_seeds):
            X, y, model = delta_rule_run(3, code="one-hot", s=s, random_state=settings.random_state + run)
            separable = all(separating_plane(X, np.where(y == c, 1, -1)) is not None for c in range(y.max() + 1))
            later = _run_on(run + settings.random_state, s) if separable else np.nan
            (log,) = model.mistakes_
            rows.append((s, run, separable, model.converged_, len(log), log.modified().sum(), later))
    return pd.DataFrame(rows, columns=["s", "run", "separable", "converged", "modifications", "weight_vectors", "later"])


def _run_on(seed, s):
    """1 if the run of the listing with this seed ends within PRESENTATIONS_MORE, else 0."""
    random = check_random_state(seed)
    X, y = gaussian_classes(3, s=s, random_state=random)
    epochs = PRESENTATIONS_MORE // len(y)
    model = DeltaRulePerceptron(code="one-hot", max_iter=epochs, random_state=random).fit(X, y)
    return int(model.converged_)


def separating_plane(X, z):
    """w (d + 1,), the bias first, with z_i (w_0 + w . x_i) >= 1 for all samples X (n, d) with signs z, and the least sum of
    |w_k|, by a linear programme; None where no plane separates the two signs."""
    A = z[:, None] * np.column_stack([np.ones(len(X)), X])
    A = np.column_stack([A, -A])  # w = u - v, u and v >= 0
    found = linprog(np.ones(A.shape[1]), A_ub=-A, b_ub=-np.ones(len(A)))
    if found.status not in (0, 2):  # solved, or infeasible
        raise RuntimeError(f"the linear programme must be solved or infeasible, got: {found.message}")
    return None if found.status else np.subtract(*np.split(found.x, 2))


@experiment("course", published=[PUBLISHED], parameters=fields("n_seeds", "random_state"))
def steps(settings, *, progress=False):
    """Effects of the single modifications of a run, binary codes, on both examples; one row a run.

    Columns: inputs, s, eta, run, converged, modifications, corrected (modifications after which all outputs are right on
    the sample presented), fell and rose (those after which fewer and more samples are wrong in any output than before). A
    run with eta = 1/2 (eq. 38) has the data, first weights and presentations of that with eta = 1.
    """
    rows = []
    for d, n in EXAMPLES.items():
        for s in STEP_SPREADS:
            for eta in (1.0, 0.5):
                for run in range(settings.n_seeds):
                    seed = settings.random_state + run
                    X, y, model = delta_rule_run(d, n_per_class=n, s=s, eta=eta, random_state=seed)
                    rows.append((d, s, eta, run, model.converged_, len(model.mistakes_[0]), *_effects(X, y, model)))
    names = ["inputs", "s", "eta", "run", "converged", "modifications", "corrected", "fell", "rose"]
    return pd.DataFrame(rows, columns=names)


def _effects(X, y, model):
    """(corrected, fell, rose) of the modifications of a run, as in `steps`."""
    (log,) = model.mistakes_
    history = model.weights_history()
    x = np.column_stack([np.ones(len(X)), X])
    after = np.sign((history[1:] * x[log.example][:, None, :]).sum(axis=2))
    corrected = (after == model.code_[y[log.example]]).all(axis=1)
    first = (np.sign(x @ history[0].T) != model.code_[y]).any(axis=1).sum()
    change = np.diff(log.errors, prepend=first)
    return corrected.sum(), (change < 0).sum(), (change > 0).sum()


@experiment("course", published=[PUBLISHED], parameters=fields("n_code_seeds", "random_state"), sample=FEW)
def parity(settings, *, progress=False):
    """Two classes that no plane separates: corners of the cube with an even and an odd number of +1; one row a run.

    Columns: inputs, run, separable (by a plane), and training errors of three classifiers: linear (delta rule, 10^4
    presentations), kernel (kernel perceptron, RBF with sigma = 1, as many), network (HIDDEN tanh units in one hidden layer,
    trained by back-propagated gradients with L-BFGS).
    """
    rows = []
    for d in (2, 3):
        for run in range(settings.n_code_seeds):
            seed = settings.random_state + run
            X, corner = gaussian_classes(d, random_state=seed)
            y = (binary(2**d)[corner] > 0).sum(axis=1) % 2
            epochs = PRESENTATIONS // len(y)
            learners = (
                DeltaRulePerceptron(code="binary", max_iter=epochs, random_state=seed),
                OutputCodeKernelPerceptron(
                    "rbf", gamma=0.5, code="binary", max_iter=epochs, presentation="replacement",
                    random_state=seed, n_jobs=1,
                ),
                MLPClassifier(HIDDEN, activation="tanh", solver="lbfgs", max_iter=1000, random_state=seed),
            )  # fmt: skip
            errors = [np.count_nonzero(learner.fit(X, y).predict(X) != y) for learner in learners]
            rows.append((d, run, separating_plane(X, 2 * y - 1) is not None, *errors))
    return pd.DataFrame(rows, columns=["inputs", "run", "separable", "linear", "kernel", "network"])


@experiment("course", published=[PUBLISHED], parameters=fields("n_code_seeds", "random_state"), sample=FEW)
def codes(settings, *, progress=False):
    """Both codes on the same data, one row a run: inputs, s, code, run, converged, modifications (presentations that
    modified), train_errors (classes got wrong), n, test_errors on as many fresh samples."""
    rows = []
    for d in (2, 3):
        for s in CODE_SPREADS:
            for run in range(settings.n_code_seeds):
                for code in CODES:
                    random = np.random.RandomState(settings.random_state + run)
                    test = gaussian_classes(d, s=s, random_state=random)
                    X, y, model = delta_rule_run(d, code=code, s=s, random_state=random)
                    errors = [np.count_nonzero(model.predict(x) != labels) for x, labels in ((X, y), test)]
                    rows.append((d, s, code, run, model.converged_, len(model.mistakes_[0]), errors[0], len(y), errors[1]))
    names = ["inputs", "s", "code", "run", "converged", "modifications", "train_errors", "n", "test_errors"]
    return pd.DataFrame(rows, columns=names)


def images(dataset, *, random_state=0):
    """(X (n, side^2) integers, y (n,)) of "digits", all 1,797 of 8 x 8, or "mnist", 2,240 of 16 x 16, 224 of each digit.

    The MNIST images are drawn from its training set and reduced from 28 x 28, each new pixel the sum over its area, which is
    49 / 16 of an old pixel; sums are counted in sixteenths, so they reach 49 x 255.
    """
    data = datasets.load(dataset)
    if dataset == "digits":
        return np.concatenate([data.X, data.X_test]), np.concatenate([data.y, data.y_test])
    random = check_random_state(random_state)
    chosen = [random.choice(np.flatnonzero(data.y == c), PER_DIGIT, replace=False) for c in data.classes]
    chosen = np.sort(np.concatenate(chosen))
    return reduced(data.X[chosen], SIDE), data.y[chosen]


def reduced(X, side):
    """Square images X (n, a^2) of integers as (n, side^2): sums over the area of each new pixel, as whole numbers.

    Along a line, new pixel i covers [i a / side, (i + 1) a / side) of the old ones; shares of old pixels are counted in
    units of gcd(a, side) / side.
    """
    a = round(X.shape[1] ** 0.5)
    ends = np.arange(side + 1) * a
    left = np.maximum(ends[:-1, None], np.arange(a) * side)
    right = np.minimum(ends[1:, None], (np.arange(a) + 1) * side)
    share = np.maximum(right - left, 0) // np.gcd(a, side)
    return (share @ X.reshape(-1, a, a).astype(np.int64) @ share.T).reshape(len(X), -1)


class Digits:
    """Kernel values of all images once for each width; X (n, d) of integers, y (n,)."""

    def __init__(self, X, y):
        self.y = y
        points = Points(X)
        self.columns = CrossGram(Products(points, points))
        source = self.columns.source
        self.products = np.empty((len(y), len(y)), dtype=source.dtype)
        source.block(np.arange(len(y)), slice(None), self.products)
        norms = self.columns.norms
        squared = np.maximum(norms[:, None] + norms - 2.0 * self.products, 0.0)
        self.median = float(np.median(np.sqrt(squared[np.triu_indices(len(y), 1)])))
        """The median distance between two images."""

    def gram(self, width):
        """K (n, n) of the RBF kernel with sigma = width times the median distance."""
        norms = self.columns.norms
        return kernels.gaussian(sigma=width * self.median).of(self.products, norms, norms)

    def split(self, random_state):
        """(train, test): the images at random in two halves."""
        order = np.random.RandomState(random_state).permutation(len(self.y))
        return order[: len(order) // 2], order[len(order) // 2 :]


def fit_digits(K, y, *, code, random_state, max_iter=100):
    """The kernel perceptron of the page's second listing, from kernel values K (n, n) of its training half."""
    return OutputCodeKernelPerceptron(
        "precomputed", code=code, max_iter=max_iter, presentation="replacement", random_state=random_state, n_jobs=1
    ).fit(K, y)  # fmt: skip


def digits_table(digits, *, n_splits, widths=WIDTHS, codes=CODES, random_state=0):
    """One row for each width, code and split: width, code, split, train_errors, test_errors, n_train, n_test, converged,
    unmatched (test images whose outputs match no code), unmatched_errors."""
    rows = []
    for width in widths:
        K = digits.gram(width)
        for split in range(n_splits):
            train, test = digits.split(random_state + split)
            K_train = K[np.ix_(train, train)]
            K_test = K[np.ix_(test, train)]
            for code in codes:
                model = fit_digits(K_train, digits.y[train], code=code, random_state=random_state + split)
                f = model.outputs(K_test)
                unmatched = ~(np.sign(f)[:, None] == model.code_).all(axis=2).any(axis=1)
                wrong = model.classes_[class_scores(f.T, model.code_).argmax(axis=1)] != digits.y[test]
                train_errors = np.count_nonzero(model.predict(K_train) != digits.y[train])
                rows.append((
                    width, code, split, train_errors, wrong.sum(), len(train), len(test), model.converged_, unmatched.sum(),
                    (unmatched & wrong).sum(),
                ))  # fmt: skip
    names = [
        "width", "code", "split", "train_errors", "test_errors", "n_train", "n_test", "converged", "unmatched",
        "unmatched_errors",
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=names)


def confusion_table(digits, width, *, n_splits, random_state=0):
    """Confusion matrices of one-hot codes at one width: width, split, part (train or test), true, and counts of images read
    as each digit, as_0 .. as_9."""
    K = digits.gram(width)
    rows = []
    for split in range(n_splits):
        train, test = digits.split(random_state + split)
        model = fit_digits(K[np.ix_(train, train)], digits.y[train], code="one-hot", random_state=random_state + split)
        for part, examples in (("train", train), ("test", test)):
            read = model.predict(K[np.ix_(examples, train)])
            matrix = confusion_matrix(digits.y[examples], read, labels=range(10))
            rows += [(width, split, part, true, *counts) for true, counts in enumerate(matrix)]
    return pd.DataFrame(rows, columns=["width", "split", "part", "true", *(f"as_{digit}" for digit in range(10))])


def nearest_width(table, error):
    """The width at which the mean test error of one-hot codes is nearest to `error`; ties go to the narrowest."""
    one_hot = table[table["code"] == "one-hot"]
    means = (one_hot["test_errors"] / one_hot["n_test"]).groupby(one_hot["width"]).mean()
    return float((means - error).abs().idxmin())


def page():
    """{key without PREFIX: number} of the numbers that the page prints."""
    return store.published(PAGE, index_col="key")["published"].rename(lambda key: key.removeprefix(PREFIX)).to_dict()


@experiment(
    "course",
    published=[PUBLISHED],
    tables=("digits", "confusion"),
    data=lambda settings: [settings.dataset],
    reads=lambda settings: [store.PUBLISHED / f"{PAGE}.csv"],
    parameters=fields("dataset", "n_splits", "random_state"),
    sample=FEW,
)
def digits(settings, *, progress=False):
    """Errors at all widths, and confusion matrices at the width whose mean test error is nearest to the page's.

    See `digits_table`, `nearest_width` and `confusion_table`.
    """
    options = {"n_splits": settings.n_splits, "random_state": settings.random_state}
    halved = Digits(*images(settings.dataset))
    errors = digits_table(halved, **options)
    width = nearest_width(errors, page()["test-error"])
    return {"digits": errors, "confusion": confusion_table(halved, width, **options)}
