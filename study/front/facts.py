"""The results that the first page, the conclusion and README quote: those of the published runs, from facts of the rooms.

MNIST, raw pixels, twenty visiting orders, unless a docstring says otherwise.
"""

from dataclasses import replace
from functools import cache
from types import SimpleNamespace

import pandas as pd

from study import claims
from study.budgets import experiment as budgets
from study.budgets import facts as of_budgets
from study.budgets.tables import learners as by_learner
from study.classes import facts as forms
from study.classes.tables import PRINTED
from study.doubt.facts import published as doubt
from study.lower import tables as learners
from study.lower.facts import published as lower
from study.mnist.facts import published as orders
from study.predictors import PREDICTORS
from study.tables import facts as tables_of_2005
from study.words import size, size_interval, span


@cache
def gathered():
    """All of them, each by the name of its function."""
    every = (averaging, choice, degrees, epochs, error, network, order, recipe, refusal, replication, several_classes,
             short_memory, svm, vote, wrong_labels)  # fmt: skip
    return SimpleNamespace(**{each.__name__: each() for each in every})


def error():
    """`study.mnist.facts.Facts.error`."""
    return orders.error


def degrees():
    """The other degrees above 1 against degree 3, over orders and test images, with Holm's correction over all pairs. worse:
    those that are shown to misclassify more; least: how many more, at least; four: the difference of degree 4."""
    table = orders.against_degree(3)
    worse = table[table["verdict"] == "higher"]
    return SimpleNamespace(worse=list(worse.index), least=worse["estimate"].min(), four=table.loc[4], table=table)


def epochs():
    """first: how many more test images one epoch misclassifies than ten, at degree 3 (over orders and images); as_said: that
    eight are shown to be as good at degrees 3 and 4, and one to be worse."""
    return SimpleNamespace(first=orders.one_epoch, as_said=orders.eight_epochs)


def averaging():
    """`study.mnist.facts.Facts.averaging`, and half: after how many epochs at most, over the degrees 2 to 6, the average
    predictor has no higher mean error than the final one after ten."""
    return SimpleNamespace(**vars(orders.averaging), half=orders.halved.max())


def averaging_table():
    """How many more test images the final predictor misclassifies than the average one, in percentage points, by degree,
    after one epoch and after ten: 95 % intervals over orders and images, without Holm's correction."""
    gaps = orders.final_or_average.set_index(["epoch", "degree"])

    def cell(epoch, rows):
        part = gaps.loc[epoch].loc[rows]
        if len(rows) == 1:
            return f"{size(part.iloc[0])} ({size_interval(part.iloc[0])})"
        return f"{span(part['estimate'])} (intervals within {span([part['low'].min(), part['high'].max()])})"

    rows = [("2", [2]), ("3", [3]), ("4 to 6", [4, 5, 6])]
    table = [(name, cell(1, own), cell(10, own)) for name, own in rows]
    return pd.DataFrame(table, columns=["degree", "after one epoch", "after ten epochs"])


def choice():
    """What held-out images choose. alone: the predictor that most single orders choose, n_alone of them; together: that of
    all orders by their mean; none_better: that no other predictor is detected to be better than the average one at a
    degree after one or ten epochs; early: the minimizing and the voted predictor against it after one epoch."""
    alone, together = (row[list(PREDICTORS)].astype(int).idxmax() for row in (orders.free, orders.by_mean))
    early = orders.predictors.query("epoch == 1 and predictor != 'final'")
    n_alone = int(orders.free[alone])
    return SimpleNamespace(alone=alone, n_alone=n_alone, together=together, none_better=orders.never_beaten, early=early)


def order():
    """Two standard deviations of the error of the average predictor: order, with another visiting order; images, with
    other test images."""
    return SimpleNamespace(order=orders.reach["order"], images=orders.reach["test images"])


def vote():
    """gain: by how much a vote of all orders differs from a single order (`study.lower.facts.Facts.vote`)."""
    return SimpleNamespace(gain=lower.vote)


def svm():
    """The support vector machine with a Gaussian kernel: its error; difference, our error above it, over orders and images;
    slower, how many times our training time it needs (median, low, high over three days), and fast, the same of
    scikit-learn-intelex; seconds, our training time; memory, its share of our memory."""
    return SimpleNamespace(
        error=lower.step.svm.error, difference=orders.against(learners.SVM), slower=lower.slower.loc[learners.SVM],
        fast=lower.quick_svm, seconds=lower.seconds, memory=lower.step.svm.memory / lower.step.kernel.memory,
    )  # fmt: skip


def network():
    """The classifier with the lowest error, a neural network with 3,000 hidden units: high, the highest error of its three
    seeds; difference, our error above its first seed, over orders and images; slower, as of `svm`; and least, the lowest
    error on raw pixels of any classifier, its seeds and votes of our orders included."""
    name = learners.LARGEST_NETWORK
    found = [lower.best["error"], *lower.seeds]
    return SimpleNamespace(
        high=max(found), difference=orders.against(name), slower=lower.slower.loc[name],
        least=min(*found, *lower.votes["majority"]),
    )  # fmt: skip


def recipe():
    """Images deskewed, of unit norm, with shifted copies of the misclassified ones; five orders. error, low, high: over
    orders and images; minutes and memory (GiB): of training with two threads; chosen: its degree and number of copies;
    to_svm: its difference from the SVM on raw pixels; deskewed: the error of deskewed images alone, at degree 4; foreseen:
    that held-out images would have chosen that degree, too, and deskewing before all other single preparations."""
    own, deskewed = lower.step.recipe, lower.step.deskewed
    foreseen = lower.alone.index[1] == "deskewed" and lower.alone["degree"].iloc[1] == 4
    return SimpleNamespace(
        error=own.error, low=own.low, high=own.high, minutes=own.seconds / 60, memory=own.memory,
        to_svm=lower.recipe.svm, deskewed=deskewed.error,
        chosen=(lower.chosen.degree, lower.chosen.copies),
        foreseen=foreseen and deskewed.name == "deskewed images, degree 4",
    )  # fmt: skip


def refusal():
    """agreed: the row of the test images on which all orders of degree 3 agree; refused: the row of those that are left
    when those with a small margin are refused, by a limit that leaves 0.5 % errors of the held-out ones; accepted: the
    least share of the letters and half digits that a measure of doubt accepts."""
    return SimpleNamespace(agreed=doubt.agreed, refused=doubt.refusing(0.005), accepted=doubt.accepted)


def several_classes():
    """Forms for several classes: Gaussian kernels, four epochs, one visiting order of all training images. one_vs_all:
    its error; joint and xu_zhang: how many more test images the joint perceptron and Xu and Zhang's update without its
    thresholds misclassify (McNemar, Holm; intervals over test images); printed: the error of that update as printed;
    sets: the differences of the forms from one-vs-all on n_sets small sets (Wilcoxon's signed ranks)."""
    others = {"joint": "ordinary", "xu_zhang": "Xu-Zhang, no threshold"}
    found = forms.digit_errors()
    return SimpleNamespace(
        one_vs_all=found["one-vs-all"], printed=found[PRINTED], sets=list(forms.set_gaps().values()),
        n_sets=len(forms.set_errors()),
        **{name: _turned(forms.digit_gap("one-vs-all", form)) for name, form in others.items()},
    )  # fmt: skip


def short_memory():
    """`study.budgets.facts.budget` of the published runs."""
    return of_budgets.budget(budgets.PUBLISHED)


def wrong_labels():
    """`study.budgets.facts.remedies` of the published runs."""
    return of_budgets.remedies(by_learner(budgets.wrong_labels(budgets.PUBLISHED.noises())))


def replication():
    """counted: exact, within and outside by source, of the published numbers that can be checked; statements: the verdicts
    on what Hermans says in words, by their keys; best: how many of the 48 rates and deviations of 2005 lie in our range
    under the best program that was tried."""
    ledger, _, statements = claims.stored()
    of_hermans = statements.query("source == 'Hermans 2021'").set_index("key")["verdict"]
    counted = claims.by_source(ledger, statements)[["exact", "within", "outside"]]
    counted["agree"] = counted["exact"] + counted["within"]
    counted["checked"] = counted["agree"] + counted["outside"]
    return SimpleNamespace(counted=counted, statements=of_hermans, best=tables_of_2005.one_program().inside)


def _turned(difference):
    """A difference from the other side."""
    return replace(difference, estimate=-difference.estimate, low=-difference.high, high=-difference.low)
