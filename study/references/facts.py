"""What texts say of lower errors and of what they take: each quantity of the chapter is computed here, once, from its runs.

`Facts` are those of any run of the notebook; `published` are those of the published one. They speak of the average predictor
on the test images, unless a docstring says otherwise. Whatever has low and high has a 95 % interval. Rates and differences
are fractions.
"""

from dataclasses import dataclass
from functools import cached_property
from types import SimpleNamespace

import numpy as np

from study import datasets, ladder, statistics
from study.growth import experiment as growth
from study.growth import tables as prepared
from study.lowest import tables as recipes
from study.lowest.experiment import UPRIGHT
from study.mnist.orders import N_ORDERS
from study.protocols.images import OWN_NEW
from study.references import experiment, tables

STEPS = ("linear_final", "linear", "kernel", "vote", "deskewed", "copies", "recipe", "svm")
"""Short names of the steps of the ladder, in its order."""
FEATURES = "Nystroem, 10,000"
QUICK_SVM = tables.SVM + tables.INTELEX


@dataclass(frozen=True, kw_only=True)
class Facts:
    """The quantities of one run of the chapter, whose parameters these are; each is computed when it is asked for."""

    dataset: str = "mnist"
    n_held: int = 10_000
    n_orders: int = N_ORDERS
    n_growth_orders: int = growth.N_ORDERS

    @cached_property
    def labels(self):
        """The classes (n,) of the test images."""
        return datasets.load(self.dataset).class_indices_test

    @cached_property
    def ladder(self):
        """`study.ladder.ladder`: a row for each step down from a linear perceptron, and last the RBF SVM."""
        return ladder.ladder(self.dataset, n_held=self.n_held, n_orders=self.n_orders, n_growth_orders=self.n_growth_orders)

    @cached_property
    def step(self):
        """The rows of `ladder` by the names STEPS."""
        return SimpleNamespace(**dict(zip(STEPS, self.ladder.itertuples(), strict=True)))

    @cached_property
    def orders(self):
        """The kernel perceptron in many visiting orders (`study.ladder.perceptrons`)."""
        return ladder.perceptrons(self.dataset, n_held=self.n_held, n_orders=self.n_orders)

    # A vote.

    @cached_property
    def votes(self):
        """A vote of all orders against one order after the last epoch, by degree: single, majority, their difference over
        orders and test images (crossed random effects), p with Holm's correction over the degrees."""
        return self.orders.ensembles.set_index("degree", drop=False)

    @cached_property
    def vote(self):
        """The error of a vote above the mean of one order, where degree and epoch come from held-out images: a Difference
        over orders and test images (crossed random effects)."""
        return statistics.crossed(self.orders.together - self.orders.ours.astype(float))

    # Other classifiers.

    @cached_property
    def learners(self):
        """Every other classifier by its name: its error, the error of the kernel perceptron above it over orders and test
        images (crossed random effects), p and p same with Holm's correction over all, verdict (`tables.compared`)."""
        results = experiment.learners(experiment.settings(self.dataset, n_held=self.n_held))
        predictions = np.concatenate([arrays["predictions"] for arrays in results["arrays"]])
        found = tables.compared(results["errors"], predictions, self.orders.ours, self.labels)
        return found.set_index("method", drop=False)

    @cached_property
    def close(self):
        """The rows of `learners` that are not shown to be worse than the kernel perceptron, the lowest error first."""
        return self.learners[self.learners["verdict"] != "lower"].sort_values("error")

    @cached_property
    def worse(self):
        """The rows of `learners` that are shown to be worse."""
        return self.learners[self.learners["verdict"] == "lower"]

    @cached_property
    def svm(self):
        return self.learners.loc[tables.SVM]

    @cached_property
    def best(self):
        """The row of `learners` with the lowest error."""
        return self.learners.loc[self.learners["error"].idxmin()]

    @cached_property
    def seeds(self):
        """Test errors of the classifier with the lowest error from the other seeds, if it is a network; the lowest first."""
        found = experiment.networks(experiment.seeded_settings(self.dataset, n_held=self.n_held))
        own = found[found["method"] == self.best["method"]]
        return sorted(own["errors"] / own["n_test"])

    @cached_property
    def choices(self):
        """What was tried for each classifier, and which choice lies at an end of its range (`tables.tried`)."""
        return tables.tried(tables.choices(self.dataset, n_held=self.n_held), experiment.GRIDS, experiment.SHOWN)

    # Seconds and memory.

    @cached_property
    def bill(self):
        """Errors, seconds and memory of all, the lowest error first (`tables.bill`); total: seconds of training and
        prediction."""
        costs = tables.costs(self.dataset, n_held=self.n_held)
        found = tables.bill(self.learners.reset_index(drop=True), costs, self.ladder, self.orders.first)
        return found.assign(total=found["fit"] + found["predict"])

    @cached_property
    def resources(self):
        """The rows of `bill` by the name of the learner."""
        return self.bill.set_index("learner")

    @cached_property
    def ours(self):
        """The row of `bill` of the kernel perceptron after all epochs."""
        return self.resources.loc[self.step.kernel.name]

    @cached_property
    def quicker(self):
        """The rows of `bill` with less time in total than the kernel perceptron."""
        return self.bill[self.bill["total"] < self.ours["total"]]

    @cached_property
    def better(self):
        """The rows of `bill` with one thread and a lower error than the kernel perceptron; times: how many times its total
        of seconds each needs."""
        own = self.bill[(self.bill["error"] < self.ours["error"]) & (self.bill["threads"] == 1)]
        return own.assign(times=own["total"] / self.ours["total"])

    @cached_property
    def n_days(self):
        return len(tables.by_day(self.dataset, n_held=self.n_held).columns)

    @cached_property
    def slower(self):
        """How many times the training time of the kernel perceptron others need: median, low and high over the days."""
        return tables.slower(self.dataset, n_held=self.n_held)

    @cached_property
    def slower_to_predict(self):
        """The same of predicting the test images."""
        return tables.slower(self.dataset, n_held=self.n_held, what="predict")

    @property
    def svm_slower(self):
        """low and high: the medians of `slower` of the RBF SVM with its quickest program and with its slowest."""
        own = self.slower["median"].filter(like=tables.SVM)
        return SimpleNamespace(low=own.min(), high=own.max())

    @property
    def quick_svm(self):
        """The row of `slower` of the RBF SVM with scikit-learn-intelex."""
        return self.slower.loc[QUICK_SVM]

    @cached_property
    def seconds(self):
        """Seconds of training of the kernel perceptron: median, low and high over the days."""
        return tables.seconds(self.dataset, n_held=self.n_held)

    @cached_property
    def times(self):
        """`slower` and `slower_to_predict`, and memory, of the classifiers that can compete: a row for each."""
        names = [each for each in (tables.SVM, QUICK_SVM, tables.LARGEST_NETWORK, FEATURES) if each in self.slower.index]
        return tables.times(self.slower.loc[names], self.slower_to_predict.loc[names], self.resources["peak"])

    # Prepared images.

    @cached_property
    def effects(self):
        """The error on prepared images above that on raw pixels, by preparation and degree, over orders and test images
        (crossed random effects), p and verdict with Holm's correction over all."""
        return prepared.effects(prepared.prepared(self.dataset, n_orders=self.n_growth_orders), growth.DEGREES)

    @property
    def n_prepared(self):
        """How many test errors `effects` compares, with those of raw pixels."""
        return len(self.effects) + len(growth.DEGREES)

    @cached_property
    def change(self):
        """The rows of `effects` at degree 4, by preparation."""
        own = self.effects[self.effects["degree"] == 4]
        return {row.preparation: row for row in own.itertuples()}

    def verdicts(self, preparation):
        """The verdicts of `effects` on a preparation, a list by degree."""
        return self.effects.loc[self.effects["preparation"] == preparation, "verdict"].tolist()

    # More images.

    @cached_property
    def grown(self):
        """Where the average predictor errs after training on n images (`study.growth.tables.grown`)."""
        return prepared.grown(self.dataset, n_orders=self.n_growth_orders)

    @cached_property
    def laws(self):
        """The exponents of the test error as a power of the number of images, by degree (`study.growth.tables.laws`)."""
        runs = growth.curves(growth.growth_settings(self.dataset, n_orders=self.n_growth_orders))
        laws = prepared.laws(runs["curves"], runs["costs"], self.grown, growth.DEGREES, predictor="average")
        return laws[laws["quantity"] == "errors"].set_index("degree")

    @cached_property
    def law(self):
        """The row of `laws` at the degree of the shifted copies."""
        return self.laws.loc[self.copies.degree]

    @cached_property
    def tenfold(self):
        """estimate, low, high: the share of the errors that ten times the images leave, by `law`."""
        ends = {"estimate": "exponent", "low": "low", "high": "high"}
        return SimpleNamespace(**{name: 10 ** float(self.law[own]) for name, own in ends.items()})

    @cached_property
    def copies(self):
        """All images with four shifted copies of each: n (examples), degree, error, before (without the copies, in the same
        order), and change, of the test error (McNemar's test)."""
        n, degree = growth.VIRTUAL[self.dataset]
        with_copies = self.grown[n][0, 0]
        without = self.grown[datasets.load(self.dataset).X.shape[0]][0, growth.DEGREES.index(degree)]
        return SimpleNamespace(
            n=n, degree=degree, error=with_copies.mean(), before=without.mean(),
            change=statistics.mcnemar(with_copies, without),
        )  # fmt: skip

    # The recipe.

    @cached_property
    def recipes(self):
        """All recipes that were tried, with their errors on held-out images (`study.lowest.tables.tried`)."""
        return recipes.tried(self.dataset, n_held=self.n_held)

    @cached_property
    def lines(self):
        """The recipe with the fewest held-out errors by preparation and number of copies, new orders for each class."""
        found = recipes.steps(self.recipes)
        return found[found["protocol"] == OWN_NEW].set_index(["preparation", "copies"], drop=False)

    @property
    def upright(self):
        """The rows of `lines` of deskewed images of unit norm by the number of copies."""
        return self.lines.loc[UPRIGHT]

    @cached_property
    def on_raw(self):
        """Held-out errors on raw pixels without copies, by degree."""
        return self.recipes.query("preparation == 'raw' and copies == 0").set_index("degree")["errors"]

    @cached_property
    def alone(self):
        """The preparations without copies, the fewest held-out errors first (`study.lowest.tables.alone`)."""
        return recipes.alone(self.recipes).set_index("preparation")

    @cached_property
    def chosen(self):
        """The recipe with the fewest held-out errors of `lines`."""
        return self.lines.loc[self.lines["errors"].idxmin()]

    @cached_property
    def recipe(self):
        """The chosen recipe on the test images: n_orders; svm, its error above that of the RBF SVM on raw pixels, and vote,
        that of a vote of its orders above that of one order; both over orders and test images (crossed random effects)."""
        found, _ = recipes.reached(self.dataset, n_held=self.n_held)
        wrong = found != self.labels
        vote = (ladder.majority(found) != self.labels) - wrong.astype(float)
        return SimpleNamespace(
            n_orders=len(found), vote=statistics.crossed(vote),
            svm=ladder.recipe_against_svm(self.dataset, n_held=self.n_held),
        )  # fmt: skip


published = Facts()
"""Those of the published run of the chapter."""
