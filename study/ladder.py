"""The ladder of errors, from a linear perceptron to a chosen recipe: it combines stored results of several chapters."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pandas as pd

from kp.mistakes import PREDICTORS
from study import datasets, statistics
from study.growth import experiment as growth
from study.growth import tables as of_growth
from study.lowest import experiment as lowest
from study.lowest import tables as of_recipes
from study.mnist import orders, over_orders
from study.mnist.facts import Facts, published
from study.references import experiment
from study.references import tables as learners


@dataclass(frozen=True)
class Perceptrons:
    """The kernel perceptron in many visiting orders: n test images, R orders of the D degrees above 1, L orders of degree 1.

    labels (n,); chosen: degree and epoch of the average predictor with the fewest errors on held-out images, a row for each
    order; ours (R, n) bool, where that choice errs; together (n,) bool, where a vote of the R choices errs; first (R, n)
    bool, where the average predictor of the degree that was timed errs after one epoch; linear (L, 4, n) bool, where the
    predictors of degree 1 err after the last epoch; ensembles: the table of study.mnist.over_orders.ensembles.
    """

    labels: np.ndarray
    chosen: pd.DataFrame
    ours: np.ndarray
    together: np.ndarray
    first: np.ndarray
    linear: np.ndarray
    ensembles: pd.DataFrame


@lru_cache(maxsize=1)
def perceptrons(dataset="mnist", *, n_held=10_000, n_orders=orders.N_ORDERS):
    """The `Perceptrons` of the stored runs; of degree 1 there are no more orders than published."""
    own = Facts(dataset=dataset, n_orders=n_orders, n_linear=min(n_orders, orders.N_LINEAR), n_held=n_held)
    own = published if own == published else own  # what that has computed is there
    chosen = own.chosen[own.chosen["among"] == learners.CONTROL].reset_index(drop=True)
    place = PREDICTORS.index(learners.CONTROL)
    votes = np.stack(
        [
            each[:, orders.CURVED.index(choice.degree), place, choice.epoch - 1]
            for each, choice in zip(own.predictions, chosen.itertuples(), strict=True)
        ]
    )
    linear = [arrays["predictions"] for arrays in own.results["arrays"][n_orders:]]
    timed = orders.CURVED.index(experiment.Ours(dataset=dataset).degree)
    return Perceptrons(
        labels=own.labels,
        chosen=chosen,
        ours=votes != own.labels,
        together=majority(votes) != own.labels,
        first=own.wrong[:, timed, place, 0],
        linear=over_orders.wrong(linear, own.labels)[:, 0, :, -1],
        ensembles=over_orders.ensembles(own.predictions, own.labels, orders.CURVED, predictor=learners.CONTROL),
    )


def majority(votes):
    """(n,): the class that most of votes (R, n) name; ties go to the lowest."""
    return np.stack([(votes == c).sum(axis=0) for c in range(int(votes.max()) + 1)]).argmax(axis=0)


def ladder(dataset="mnist", *, n_held=10_000, n_orders=orders.N_ORDERS, n_growth_orders=growth.N_ORDERS):
    """The errors from step to step, and last that of the RBF SVM: name, error, low, high, hindsight, seconds, memory,
    predict, numbers (stored), threads.

    hindsight: True for a step that was found by its errors on the test images, and not chosen on held-out ones.
    low and high: 95 %, over visiting orders and test images where there are several orders (statistics.crossed), else over
    test images (Wilson). The vote is that of the choices of all orders. Deskewed images and shifted copies have the degree
    of growth.VIRTUAL, and the recipe that of lowest.best.
    seconds of training and of prediction, with this many threads, and memory (GiB) belong to one trained predictor, and to a
    vote as many times as it has orders; the kernel perceptron's are those of experiment.perceptron. They are missing where
    nothing was timed.
    """
    most, degree = growth.VIRTUAL[dataset]
    own = perceptrons(dataset, n_held=n_held, n_orders=n_orders)
    deskewed = of_growth.prepared(dataset, n_orders=n_growth_orders)["deskewed"]
    shifted = of_growth.grown(dataset, n_orders=n_growth_orders)[most]
    grown = growth.curves(growth.growth_settings(dataset, n_orders=n_growth_orders))["costs"].query("n == @most").iloc[0]
    recipe = lowest.chosen(dataset, n_held=n_held)[0]
    found, price = of_recipes.reached(dataset, n_held=n_held)
    spent = learners.costs(dataset, n_held=n_held)
    ours = spent[spent["epoch"] == max(experiment.EPOCHS)].iloc[0]
    svm = spent[spent["method"] == learners.SVM].iloc[0]
    results = experiment.learners(experiment.settings(dataset, n_held=n_held))
    rows = [
        _step("linear perceptron, final predictor", own.linear[:, PREDICTORS.index("final")]),
        _step("linear perceptron, average predictor", own.linear[:, PREDICTORS.index(learners.CONTROL)]),
        _step("kernel perceptron, average predictor", own.ours, ours),
        _step(f"vote of {n_orders} orders", own.together, ours, times=n_orders),
        _step(f"deskewed images, degree {degree}", deskewed[:, growth.DEGREES.index(degree)], hindsight=True),
        _step(f"shifted copies, degree {degree}", shifted[0, 0], grown, threads=2, hindsight=True),
        _step(f"chosen recipe, degree {recipe.degree}", found != own.labels, price, threads=2),
        _step(learners.SVM, learners.predicted(results, learners.SVM) != own.labels, svm),
    ]
    return pd.DataFrame(rows)


def recipe_against_svm(dataset="mnist", *, n_held=10_000):
    """By how much the chosen recipe has more errors than the RBF SVM, which learns from raw pixels: a Difference over orders
    and test images."""
    found, _ = of_recipes.reached(dataset, n_held=n_held)
    results = experiment.learners(experiment.settings(dataset, n_held=n_held))
    svm = learners.predicted(results, learners.SVM)
    labels = datasets.load(dataset).class_indices_test
    return statistics.crossed((found != labels) - (svm != labels).astype(float))


def _step(name, wrong, spent=None, *, times=1, threads=1, hindsight=False):
    """A row of `ladder`: wrong (R, n) or (n,) bool, and the costs of one training, of which there are so many."""
    if wrong.ndim == 2:
        found = statistics.crossed(wrong.astype(float))
        low = found.low
        high = found.high
    else:
        low, high = statistics.wilson(wrong.sum(), wrong.size)
    row = {"name": name, "error": wrong.mean(), "low": low, "high": high, "hindsight": hindsight}
    if spent is None:
        return row
    return row | {
        "seconds": times * spent["fit"],
        "memory": spent["peak"],
        "predict": times * spent["predict"],
        "numbers": times * spent.get("numbers", np.nan),
        "threads": threads,
    }
