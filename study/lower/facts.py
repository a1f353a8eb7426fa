"""Quantities of the chapter on lower errors, their time and memory that the text quotes; each is computed here, once.

`Facts` are those of any run of the notebook; `published` are those of the published one. They speak of the average predictor
on the test images, unless a docstring says otherwise. Whatever has low and high has a 95 % interval. Rates and differences
are fractions.
"""

from dataclasses import dataclass
from functools import cached_property
from types import SimpleNamespace

import numpy as np
import pandas as pd

from study import datasets, statistics
from study.lower import experiment, growth, recipes, tables
from study.mnist import orders, over_orders
from study.mnist.facts import Facts as Orders
from study.mnist.facts import published as published_orders
from study.predictors import PREDICTORS
from study.protocols.images import OWN_NEW
from study.words import listed

STEPS = ("linear_final", "linear", "kernel", "vote", "deskewed", "copies", "recipe", "svm")
"""Short names of the steps of the ladder, in its order."""
FEATURES = "Nystroem, 10,000"
QUICK_SVM = tables.SVM + tables.INTELEX


@dataclass(frozen=True, kw_only=True)
class Facts:
    """The quantities of one run of the chapter, whose parameters these are; each is computed when it is asked for."""

    dataset: str = "mnist"
    degrees: tuple[int, ...] = orders.CURVED
    growth_degrees: tuple[int, ...] = growth.DEGREES
    recipe_degrees: tuple[int, ...] = ()
    n_held: int = 10_000
    n_orders: int = orders.N_ORDERS
    n_growth_orders: int = growth.N_ORDERS

    def __post_init__(self):
        """Each degree once, in ascending order; of recipes, those of the dataset if none is given."""
        for name in ("degrees", "growth_degrees", "recipe_degrees"):
            found = getattr(self, name) or recipes.DEGREES[self.dataset]
            object.__setattr__(self, name, tuple(sorted(set(found))))

    @cached_property
    def labels(self):
        """The classes (n,) of the test images."""
        return datasets.load(self.dataset).class_indices_test

    @cached_property
    def ladder(self):
        """The errors from step to step, and last that of the RBF SVM: name, error, low, high, hindsight, seconds, memory,
        predict, numbers (stored), threads.

        hindsight: True for a step that was found by its errors on the test images, and not chosen on held-out ones. low and
        high: 95 %, over visiting orders and test images where there are several orders (statistics.crossed), else over test
        images (Wilson). The vote is that of the choices of all orders. seconds of training and of prediction, with this many
        threads, and memory (GiB) belong to one trained predictor, and to a vote as many times as it has orders. They are
        missing where nothing was timed.
        """
        most, degree = growth.VIRTUAL[self.dataset], self.degree
        own = self.orders
        timed = self.costs.set_index(["method", "epoch"])
        ours, svm = timed.loc[(experiment.OURS, max(experiment.EPOCHS))], timed.loc[(tables.SVM, 0)]
        shifted = self.curves["curves_costs"].query("n == @most").iloc[0]
        steps = [
            tables.step("linear perceptron, final predictor", own.linear[:, PREDICTORS.index("final")]),
            tables.step("linear perceptron, average predictor", own.linear[:, PREDICTORS.index(experiment.CONTROL)]),
            tables.step("kernel perceptron, average predictor", own.ours, ours),
            tables.step(f"vote of {self.n_orders} orders", own.together, ours, times=self.n_orders),
            tables.step(f"deskewed images, degree {degree}", self.prepared["deskewed"][:, 0], hindsight=True),
            tables.step(f"shifted copies, degree {degree}", self.grown[most][0, 0], shifted, threads=2, hindsight=True),
            tables.step(f"chosen recipe, degree {self.chosen.degree}", self.recipe.wrong, self.recipe.costs, threads=2),
            tables.step(tables.SVM, self.wrong_of(tables.SVM), svm),
        ]
        return pd.DataFrame(steps)

    @cached_property
    def step(self):
        """The rows of `ladder` by the names STEPS."""
        return SimpleNamespace(**dict(zip(STEPS, self.ladder.itertuples(), strict=True)))

    @cached_property
    def orders(self):
        """The kernel perceptron in R visiting orders, on n test images, and in L of degree 1, at most those published.

        chosen: degree and epoch of the average predictor with the fewest errors on held-out images, a row for each order;
        ours (R, n) bool, where that choice errs; together (n,) bool, where a vote of the R choices errs; first (R, n) bool,
        where the average predictor of the degree that was timed errs after one epoch; linear (L, 4, n) bool, where the
        predictors of degree 1 err after the last epoch; ensembles: `study.mnist.over_orders.ensembles`.
        """
        n_linear = min(self.n_orders, orders.N_LINEAR)
        sizes = {"n_orders": self.n_orders, "n_linear": n_linear, "n_held": self.n_held}
        own = Orders(dataset=self.dataset, degrees=tuple(sorted({1, *self.degrees})), **sizes)
        own = published_orders if own == published_orders else own  # what that has computed is there
        chosen = own.chosen[own.chosen["among"] == experiment.CONTROL].reset_index(drop=True)
        place = PREDICTORS.index(experiment.CONTROL)
        votes = np.stack(
            [
                each[:, own.place_of(choice.degree), place, choice.epoch - 1]
                for each, choice in zip(own.predictions, chosen.itertuples(), strict=True)
            ]
        )
        linear = [arrays["predictions"] for arrays in own.results["arrays"][self.n_orders :]]
        return SimpleNamespace(
            chosen=chosen, ours=votes != self.labels, together=tables.majority(votes) != self.labels,
            first=own.wrong[:, own.place_of(self.timed_one.degree), place, 0],
            linear=over_orders.wrong(linear, self.labels)[:, 0, :, -1],
            ensembles=over_orders.ensembles(own.predictions, self.labels, own.above, predictor=experiment.CONTROL),
        )  # fmt: skip

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
    def trained(self):
        """The stored results of the other classifiers (`experiment.learners`)."""
        return experiment.learners(experiment.settings(self.dataset, n_held=self.n_held))

    @cached_property
    def predictions(self):
        """What they predict on the test images, (methods, n), in the order of `trained`."""
        return np.concatenate([arrays["predictions"] for arrays in self.trained["arrays"]])

    def wrong_of(self, method):
        """(n,) bool: which test images one of them misclassifies."""
        return self.predictions[self.trained["learners"]["method"].tolist().index(method)] != self.labels

    @cached_property
    def learners(self):
        """Every other classifier by its name: its error, the error of the kernel perceptron above it over orders and test
        images (crossed random effects), p and p same with Holm's correction over all, verdict (`tables.compared`)."""
        found = tables.compared(self.trained["learners"], self.predictions, self.orders.ours, self.labels)
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
        """What was tried for each classifier, and which choice lies at an end of its range (`tables.choices`)."""
        methods = {part.method for part in experiment.settings(self.dataset, n_held=self.n_held)}
        tried = {
            method: experiment.candidates(method, self.dataset, n_held=self.n_held)
            for method in experiment.ESTIMATORS if method in methods and experiment.CHOSEN[method]
        }  # fmt: skip
        held = pd.concat(map(experiment.held, tried.values()), ignore_index=True)
        grids = {method: [dict(each.values) for each in parts] for method, parts in tried.items()}
        return tables.choices(held, grids, experiment.SHOWN)

    # Seconds and memory.

    @property
    def timed_one(self):
        """The kernel perceptron that is timed: of degree 3, or of the least above 1 where 3 is none of the degrees."""
        above = [degree for degree in self.degrees if degree > 1]
        return experiment.Ours(dataset=self.dataset, degree=3 if 3 in above else above[0])

    @cached_property
    def timed(self):
        """(errors, spent): the errors of all classifiers, and what they cost on each day; among them the kernel perceptron
        after some epochs, and what scikit-learn-intelex has."""
        ours = experiment.perceptron([self.timed_one])
        errors = [self.trained["learners"], ours["perceptron"]]
        spent = [self.trained["learners_costs"].assign(day=0), ours["perceptron_costs"].assign(day=0)]
        if fast := experiment.intelex_settings(self.dataset, n_held=self.n_held):
            found = experiment.intelex(fast).assign(epoch=0, day=0)
            errors.append(found[list(errors[0].columns)])
            spent.append(found[list(spent[0].columns)])
        if later := experiment.again_settings(self.timed_one, n_held=self.n_held):
            spent.append(experiment.again(later))
        return pd.concat(errors, ignore_index=True), pd.concat(spent, ignore_index=True)

    @cached_property
    def costs(self):
        """Errors and costs, medians over the days (`tables.costs`)."""
        return tables.costs(*self.timed)

    @cached_property
    def bill(self):
        """Errors, seconds and memory of all, the lowest error first (`tables.bill`); total: seconds of training and
        prediction."""
        found = tables.bill(self.learners.reset_index(drop=True), self.costs, self.ladder, self.orders.first)
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
        return self.timed[1]["day"].nunique()

    @cached_property
    def slower(self):
        """How many times the training time of the kernel perceptron others need: median, low and high over the days."""
        return tables.over_days(tables.by_day(self.timed[1], "fit"))

    @cached_property
    def slower_to_predict(self):
        """The same of predicting the test images."""
        return tables.over_days(tables.by_day(self.timed[1], "predict"))

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
        """Seconds in which the kernel perceptron learns in all its epochs: median, low and high over the days."""
        days = self.timed[1].pivot(index=["method", "epoch"], columns="day", values="fit")
        return tables.over_days(days).loc[(experiment.OURS, max(experiment.EPOCHS))]

    @cached_property
    def times(self):
        """`slower` and `slower_to_predict`, and memory, of the classifiers that can compete, with the memory of our own: a
        row for each."""
        names = [each for each in (tables.SVM, QUICK_SVM, tables.LARGEST_NETWORK, FEATURES) if each in self.slower.index]
        return tables.times(
            self.slower.loc[names], self.slower_to_predict.loc[names], self.resources["peak"], self.step.kernel.name
        )

    # Prepared images.

    @property
    def degree(self):
        """The degree that texts name, which learns from shifted copies, too: the least."""
        return self.growth_degrees[0]

    @cached_property
    def prepared(self):
        """{preparation: (R, D, n) bool}: where the average predictor errs on prepared images."""
        parts = growth.preparation_settings(self.dataset, n_orders=self.n_growth_orders, degrees=self.growth_degrees)
        return tables.wrong_by([part.preparation for part in parts], growth.prepared(parts)["arrays"], self.labels)

    @cached_property
    def effects(self):
        """The error on prepared images above that on raw pixels, by preparation and degree, over orders and test images
        (crossed random effects), p and verdict with Holm's correction over all."""
        return tables.effects(self.prepared, self.growth_degrees)

    @property
    def n_prepared(self):
        """How many test errors `effects` compares, with those of raw pixels."""
        return len(self.effects) + len(self.growth_degrees)

    @cached_property
    def change(self):
        """The rows of `effects` at `degree`, by preparation."""
        own = self.effects[self.effects["degree"] == self.degree]
        return {row.preparation: row for row in own.itertuples()}

    def verdicts(self, preparation):
        """The verdicts of `effects` on a preparation, a list by degree."""
        return self.effects.loc[self.effects["preparation"] == preparation, "verdict"].tolist()

    # More images.

    @property
    def curve_parts(self):
        return growth.growth_settings(self.dataset, n_orders=self.n_growth_orders, degrees=self.growth_degrees)

    @cached_property
    def curves(self):
        """The stored runs on n images (`growth.curves`)."""
        return growth.curves(self.curve_parts)

    @cached_property
    def grown(self):
        """{n: (R, D, n_test) bool}: where the average predictor errs after training on n images; the last n is that with
        shifts, of one order and one degree."""
        return tables.wrong_by([part.n for part in self.curve_parts], self.curves["arrays"], self.labels)

    @cached_property
    def laws(self):
        """The exponents of the test error as a power of the number of images, by degree (`tables.laws`), without shifts."""
        drawn = dict(list(self.grown.items())[:-1])
        return tables.laws(drawn, self.growth_degrees)

    @cached_property
    def law(self):
        """The row of `laws` at `degree`."""
        return self.laws.loc[self.degree]

    @cached_property
    def tenfold(self):
        """estimate, low, high: the share of the errors that ten times the images leave, by `law`."""
        ends = {"estimate": "exponent", "low": "low", "high": "high"}
        return SimpleNamespace(**{name: 10 ** float(self.law[own]) for name, own in ends.items()})

    @cached_property
    def copies(self):
        """All images with four shifted copies of each, at `degree`: n (examples), error, before (without the copies, in the
        same order), and change, of the test error (McNemar's test)."""
        n = growth.VIRTUAL[self.dataset]
        with_copies = self.grown[n][0, 0]
        without = self.grown[growth.SIZES[self.dataset][-1]][0, 0]
        return SimpleNamespace(
            n=n, error=with_copies.mean(), before=without.mean(), change=statistics.mcnemar(with_copies, without)
        )

    # The recipe.

    @property
    def recipe_options(self):
        return {"n_held": self.n_held, "degrees": self.recipe_degrees}

    @property
    def copied_named(self):
        """The degrees that were tried with copies, in words: "recipes of degree 9", "degrees 7, 8 and 9"."""
        tried = self.recipe_degrees[-recipes.COPIED[self.dataset] :]
        return f"{'degrees' if tried[1:] else 'recipes of degree'} {listed(tried)}"

    @cached_property
    def recipes(self):
        """All recipes that were tried: the columns of `recipes.held` and of its costs, and error (held-out)."""
        found = recipes.held(recipes.candidates(self.dataset, **self.recipe_options))
        table = found["held"].merge(found["held_costs"], on=list(recipes.KEY), validate="one_to_one")
        return table.assign(error=table["errors"] / table["n"])

    @cached_property
    def lines(self):
        """The recipe with the fewest held-out errors by preparation and number of copies, new orders for each class."""
        found = tables.lines(self.recipes)
        return found[found["protocol"] == OWN_NEW].set_index(["preparation", "copies"], drop=False)

    @property
    def upright(self):
        """The rows of `lines` of deskewed images of unit norm by the number of copies."""
        return self.lines.loc[recipes.UPRIGHT]

    @cached_property
    def on_raw(self):
        """Held-out errors on raw pixels without copies, by degree."""
        return self.recipes.query("preparation == 'raw' and copies == 0").set_index("degree")["errors"]

    @cached_property
    def alone(self):
        """The preparations without copies, the fewest held-out errors first (`tables.alone`)."""
        return tables.alone(self.recipes).set_index("preparation")

    @cached_property
    def chosen(self):
        """The recipe with the fewest held-out errors."""
        return recipes.chosen(self.dataset, **self.recipe_options)[0]

    @cached_property
    def recipe(self):
        """The chosen recipe on the test images in R orders: n_orders; wrong (R, n) bool, where it errs; costs, the means
        over orders: fit (seconds, with those of preparing), predict and peak; svm, its error above that of the RBF SVM on
        raw pixels, and vote, that of a vote of its orders above that of one order; both over orders and test images (crossed
        random effects)."""
        found = recipes.reached(recipes.chosen(self.dataset, **self.recipe_options))
        said = np.stack([arrays["predictions"] for arrays in found["arrays"]])
        wrong = said != self.labels
        together = tables.majority(said) != self.labels
        costs = found["reached_costs"]
        return SimpleNamespace(
            n_orders=len(said), wrong=wrong,
            costs=costs.assign(fit=costs["prepare"] + costs["fit"])[["fit", "predict", "peak"]].mean(),
            vote=statistics.crossed(together - wrong.astype(float)),
            svm=statistics.crossed(wrong - self.wrong_of(tables.SVM).astype(float)),
        )  # fmt: skip


published = Facts()
"""Those of the published run of the chapter."""
