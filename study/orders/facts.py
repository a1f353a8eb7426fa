"""What texts say of the visiting orders: each quantity of the chapter is computed here, once, from the runs.

`Facts` are those of any run of the notebook; `published` are those of the published one, which other chapters, the first
page and the verdicts on statements quote, too. A Difference and a row of a table have estimate, low and high (95 %); what
varies (visiting orders, test images or both) stands with each. Rates and differences are fractions, and wrong
(R, D, 4, E, n) says which test images are misclassified, as in study.orders.tables.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from types import SimpleNamespace

import numpy as np

from kp.mistakes import PREDICTORS
from study import RESULTS, datasets, statistics
from study.orders import experiment, kept, tables
from study.orders.experiment import CURVED, N_LINEAR, N_ORDERS
from study.reading import noted

KEYS = ["degree", "order", "epoch", "predictor"]
LAST = -1
"""The place of the last epoch."""


@dataclass(frozen=True, kw_only=True)
class Facts:
    """The quantities of one run of the chapter, whose parameters these are; each is computed when it is asked for."""

    dataset: str = "mnist"
    degrees: tuple[int, ...] = (1, *CURVED)
    n_orders: int = N_ORDERS
    n_linear: int = N_LINEAR
    n_epochs: int = 10
    n_train: int | str = "all"
    n_held: int = 10_000

    @property
    def options(self):
        """The sizes of a run, as the settings of experiments have them."""
        return {name: getattr(self, name) for name in ("n_orders", "n_linear", "n_epochs", "n_train", "degrees")}

    @cached_property
    def above(self):
        """The degrees above 1, a tuple."""
        return self.parts[0].degrees

    @property
    def above_named(self):
        """The same in words: "2 to 6", "2, 4"."""
        low, high = self.above[0], self.above[-1]
        return f"{low} to {high}" if len(self.above) == high - low + 1 > 2 else ", ".join(map(str, self.above))

    def place_of(self, degree):
        """The place of a degree among those above 1. Raises LookupError if this run has it not."""
        if degree not in self.above:
            raise LookupError(f"degree {degree} is not among the degrees of this run, {', '.join(map(str, self.above))}")
        return self.above.index(degree)

    @cached_property
    def shown_degree(self):
        """The degree whose confusions are shown: 3, else the best one."""
        return 3 if 3 in self.above else self.best_degree

    @cached_property
    def parts(self):
        return experiment.settings(self.dataset, **self.options)

    @cached_property
    def results(self):
        return experiment.runs(self.parts)

    @cached_property
    def runs(self):
        """Errors on the test images: degree, order, epoch, predictor, errors, n, mistakes, support; degree 1, too."""
        return self.results["runs"]

    @cached_property
    def curved(self):
        """The rows of `runs` of the degrees above 1."""
        return self.runs[self.runs["degree"] > 1]

    @cached_property
    def labels(self):
        """The digits of the test images (n,)."""
        return datasets.load(self.dataset).class_indices_test

    @cached_property
    def n(self):
        """The number of training images."""
        return self.parts[0].n_train

    @property
    def n_test(self):
        return len(self.labels)

    @cached_property
    def predictions(self):
        """Predictions of the orders of the degrees above 1: a list of (n, D, 4, E) as for `tables.wrong`."""
        return [arrays["predictions"] for arrays in self.results["arrays"][: self.n_orders]]

    @cached_property
    def wrong(self):
        return tables.wrong(self.predictions, self.labels)

    @cached_property
    def spread(self):
        """`tables.spread` after the last epoch: mean, standard deviation and range over the orders."""
        return tables.spread(self.runs, self.n_epochs)

    @cached_property
    def valley(self):
        """Mean errors after the last epoch, degree (rows) by predictor."""
        return self.spread.pivot(index="degree", columns="predictor", values="mean")

    @cached_property
    def halved(self):
        """By degree the first epoch at which the mean error of the average predictor is no higher than that of the final one
        after the last epoch."""
        return tables.worth_all(self.curved)

    @cached_property
    def components(self):
        return tables.components(self.wrong).set_index("predictor")

    @cached_property
    def reach(self):
        """How far another visiting order and other test images move the error of the average predictor after the last epoch:
        two standard deviations, by the source of variation."""
        return 2 * self.components.loc[tables.CONTROL]

    @cached_property
    def place(self):
        """Whether the published run, order 0, is an ordinary one: the last row of `tables.published_place`, with its p."""
        return tables.published_place(self.curved).iloc[-1]

    @cached_property
    def predictors(self):
        """`tables.among_predictors` after the first and the last epoch: the other predictors less the average one; orders
        and test images vary, Holm over all rows."""
        return tables.among_predictors(self.wrong, self.above, [1, self.n_epochs])

    @cached_property
    def final_or_average(self):
        """The rows of `predictors` for the final predictor (`tables.of_final`)."""
        return tables.of_final(self.predictors)

    @cached_property
    def averaging(self):
        """The gain by averaging, by `final_or_average`.

        soon: after one epoch at degrees 2 to 6 (a list). After the last epoch: two, three and six, the rows of these
        degrees, and late, the estimates at degrees 4 to 6 (a list). as_said: whether all are detected but the one at degree
        6 after the last epoch, and each is more than half a point after one epoch and falls with the degree after the last.
        """
        gaps = self.final_or_average
        end = gaps[gaps["epoch"] == self.n_epochs].set_index("degree")
        soon = gaps[gaps["epoch"] == 1]
        detected = list(end.index[end["verdict"] == tables.HIGHER]) == [2, 3, 4, 5]
        detected &= bool((soon["verdict"] == tables.HIGHER).all())
        return SimpleNamespace(
            soon=soon["estimate"].tolist(), two=end.loc[2], three=end.loc[3], six=end.loc[6],
            late=end.loc[4:, "estimate"].tolist(),
            as_said=detected and soon["estimate"].min() > 0.005 and end["estimate"].is_monotonic_decreasing,
        )  # fmt: skip

    @cached_property
    def others(self):
        """The minimizing and the voted predictor less the average one, by `predictors`.

        minimizing_worse and minimizing_open: degrees at which the error is detected to be higher after the last epoch, and
        at which nothing is. voted and early: whether the vote, and after one epoch both, cannot be told from the average.
        """
        end = self.predictors.query("epoch == @self.n_epochs").set_index("degree")
        minimizing = end.query("predictor == 'minimizing'")["verdict"]
        early = self.predictors.query("epoch == 1 and predictor != 'final'")["verdict"]
        return SimpleNamespace(
            minimizing_worse=list(minimizing.index[minimizing == tables.HIGHER]),
            minimizing_open=list(minimizing.index[minimizing == tables.UNTOLD]),
            voted=bool((end.query("predictor == 'voted'")["verdict"] == tables.UNTOLD).all()),
            early=not early.isin([tables.HIGHER, tables.LOWER]).any(),
        )

    @cached_property
    def never_beaten(self):
        """Whether no predictor has a detectably lower error than the average one, at any degree, early or late."""
        return not (self.predictors["verdict"] == tables.LOWER).any()

    @cached_property
    def best_degree(self):
        """The degree above 1 with the lowest mean error of the average predictor after the last epoch."""
        return int(self.valley.loc[list(self.above), tables.CONTROL].idxmin())

    @cached_property
    def among_degrees(self):
        return tables.among_degrees(self.wrong, self.above, tables.CONTROL)

    def against_degree(self, degree):
        """`tables.differences_to` one degree, of the average predictor after the last epoch; a row for each other degree."""
        return tables.differences_to(self.among_degrees, degree).set_index("degree")

    @cached_property
    def apart(self):
        """`against_degree` of the best one."""
        return self.against_degree(self.best_degree)

    @cached_property
    def worse_degrees(self):
        """The degrees with a detectably higher error than the best one."""
        return list(self.apart.index[self.apart["verdict"] == tables.HIGHER])

    @cached_property
    def good_degrees(self):
        """The best degree and those that cannot be told from it."""
        return [degree for degree in self.above if degree not in self.worse_degrees]

    @property
    def good_degrees_named(self):
        """The same in words: "3 or 4"."""
        return " or ".join(map(str, self.good_degrees))

    @cached_property
    def average_by_degree(self):
        """The rows of `spread` for the average predictor, by degree."""
        return self.spread[self.spread["predictor"] == tables.CONTROL].set_index("degree")

    @cached_property
    def settled(self):
        """By degree the epoch from which on the average predictor is shown to be as good as after the last, within
        tables.ROPE (a fixed sequence of two one-sided tests)."""
        return tables.settled_by_degree(self.wrong, self.above).set_index("predictor").loc[tables.CONTROL]

    @cached_property
    def enough(self):
        """The number of epochs that are shown to be as good as all at the good degrees."""
        return int(self.settled[self.good_degrees].max())

    @cached_property
    def after_one_epoch(self):
        """(R, n) float: which test images the average predictor of degree 3 misclassifies after one epoch."""
        return self._average_of_three(0)

    @cached_property
    def one_epoch(self):
        """By how much the average predictor of degree 3 has more errors after one epoch than after the last: a Difference
        over orders and images."""
        return statistics.crossed(self.after_one_epoch - self._average_of_three(LAST))

    def _average_of_three(self, epoch):
        return self.wrong[:, self.place_of(3), PREDICTORS.index(tables.CONTROL), epoch].astype(float)

    @cached_property
    def eight_epochs(self):
        """Whether eight epochs are shown to be as good as ten at degrees 3 and 4, and one to be worse at degree 3."""
        return self.settled[[3, 4]].tolist() == [7, 8] and self.one_epoch.low > 0

    @cached_property
    def held(self):
        """Errors on held-out images of the degrees above 1: degree, order, epoch, predictor, held."""
        parts = [replace(part, n_held=self.n_held) for part in self.parts]
        return experiment.held_out(parts).query("degree > 1")[[*KEYS, "held"]]

    @cached_property
    def chosen(self):
        """`tables.choices` of each order, by the held-out images."""
        return tables.choices(self.held, self.curved[[*KEYS, "errors"]], ["order"])

    @cached_property
    def honest(self):
        """`tables.honest_errors`, by the set of candidates; orders and test images vary."""
        return tables.honest_errors(self.wrong, self.above, self.chosen, self.held).set_index("among")

    @cached_property
    def error(self):
        """The honest error of the average predictor, the number that we quote: a row with estimate, low and high."""
        return self.honest.loc[tables.CONTROL]

    @cached_property
    def free(self):
        """The honest error if each order chooses the predictor, too, and how many orders choose which."""
        return self.honest.loc[tables.ALL_FOUR]

    @cached_property
    def by_mean(self):
        """The honest error if the mean over the orders chooses, and what it chooses."""
        return self.honest.loc[tables.BY_MEAN]

    @cached_property
    def with_three_orders(self):
        """The honest error of the average predictor from the first three orders: a Difference over orders and images."""
        first = self.chosen[self.chosen["among"] == tables.CONTROL].iloc[:3]
        return tables.honest(self.wrong[:3], self.above, first)

    @cached_property
    def flattery(self):
        """`tables.selection` by the set of candidates: how much lower an error looks if the test images choose (gap, low,
        high; over orders only)."""
        return tables.selection(self.chosen, self.n_test).set_index("among")

    @cached_property
    def flattery_of_few(self):
        """The same, among all four predictors, for the smallest training sets, where five folds choose; over training
        sets."""
        rows = experiment.cross_validated(experiment.fold_settings(self.dataset))
        return tables.folds(rows, self.n_test).iloc[0]

    @cached_property
    def answers(self):
        """(R, n, D): what the average predictor says after the last epoch."""
        return tables.answers(self.predictions)

    @cached_property
    def digits(self):
        """How hard the digits are for the average predictor after the last epoch, means over orders.

        rates: errors by digit (rows) and degree. p: by degree that of equal rates (permutations of the test images), and
        largest_p. confusions: (C, C) images at degree 3, and confused: how often two digits are taken for each other there.
        hard: the test images by the share of orders and degrees that misclassify them, and never_right: how many all
        misclassify. early and later: the errors at degree 3 in the first and the second half of the test images.
        """
        wrong = self.wrong[:, :, PREDICTORS.index(tables.CONTROL), LAST].mean(axis=0)
        confusions = tables.confusions(self.answers[:, :, self.place_of(self.shown_degree)], self.labels)
        hard = tables.hardest(self.answers, self.labels)
        third = wrong[self.place_of(self.shown_degree)]
        half = self.n_test // 2
        p = {degree: statistics.equal_means(own, self.labels) for degree, own in zip(self.above, wrong, strict=True)}
        return SimpleNamespace(
            rates=tables.by_digit(self.answers, self.labels, self.above), p=p, largest_p=max(p.values()),
            confusions=confusions, confused=tables.confused(confusions), hard=hard,
            never_right=int((hard["share"] == 1).sum()), early=third[:half].mean(), later=third[half:].mean(),
        )  # fmt: skip

    @cached_property
    def kept(self):
        """Orders that are shared or kept, against a new one for each digit and epoch.

        saved: `tables.fewer` support vectors, over pairs of orders (Fieller); share: the same, degree (rows) by protocol;
        memory: peaks (GiB), degree (rows) by protocol;
        errors: `tables.errors_under_protocols`, and whole: its row of the mean over degrees for the average predictor under
        the shared order that is kept; orders and test images vary.
        """
        found = kept.kept(kept.kept_settings(self.dataset, **self.options))
        saved = tables.fewer(self.runs, found["kept"])
        spent = tables.costs_of_protocols(kept.kept_costs(kept.cost_settings(self.dataset)))
        errors = tables.errors_under_protocols(self.wrong, found["arrays"], self.above)
        whole = errors.set_index(["predictor", "protocol", "degree"]).loc[(tables.CONTROL, "shared, kept", "mean")]
        return SimpleNamespace(
            saved=saved, share=saved.pivot(index="degree", columns="protocol", values="estimate"),
            memory=spent.pivot(index="degree", columns="protocol", values="peak"), errors=errors, whole=whole,
        )  # fmt: skip

    def missed(self, learner):
        """(n,) bool: which test images another learner misclassifies, one of the chapter on lower errors: "RBF SVM", say."""
        with np.load(noted(RESULTS / "lower_learners.npz")) as file:
            return file[f"{learner}/predictions"][0] != self.labels

    def against(self, learner):
        """By how much the honest error of the average predictor exceeds that of another learner: a Difference over orders
        and images."""
        own = tables.chosen_by(tables.CONTROL, self.chosen, self.held, self.above)
        return tables.honest(self.wrong, self.above, own, other=self.missed(learner))


published = Facts()
"""Those of the published study; nothing is computed before it is asked for."""
