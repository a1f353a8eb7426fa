"""Quantities of the runs on MNIST that the text quotes; each is computed here, once.

`Facts` are those of any run of the chapter in many visiting orders; `published` are those of the published run, which other
chapters, the first page and the verdicts on statements quote, too. Functions with a `run` speak of one visiting order of
each degree, by default the source's. The ledger says what is reproduced.

A Difference and a row of a table have estimate, low and high (95 %); what varies (visiting orders, test images or both)
is named with each. Rates and differences are fractions, and wrong (R, D, 4, E, n) says which test images are misclassified,
as in study.mnist.over_orders.
"""

from dataclasses import dataclass, replace
from functools import cache, cached_property
from types import SimpleNamespace

import numpy as np

from study import RESULTS, claims, datasets, statistics
from study.mnist import experiment, kept, orders, over_orders, tables
from study.mnist.experiment import DEGREES, NeighbourSettings, SixDegrees
from study.mnist.images import Settings, image_pairs
from study.mnist.orders import CURVED, N_LINEAR, N_ORDERS
from study.predictors import PREDICTORS
from study.protocols.images import examples
from study.reading import noted
from study.words import in_a_row, interval, listed, number, p_value, percent, points, rate_interval, size, span

SOURCE = "Hermans 2021"
LI_LONG = "Li & Long 1999"
KEYS = ["degree", "order", "epoch", "predictor"]
LAST = -1
"""The place of the last epoch."""
SOURCE_RUN = SixDegrees()
"""The published study: the order of each degree whose seed is the degree."""


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
        """The same in words: "2 to 6", "2 and 4"."""
        return in_a_row(self.above)

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
        return orders.settings(self.dataset, **self.options)

    @cached_property
    def results(self):
        return orders.orders(self.parts)

    @cached_property
    def runs(self):
        """Errors on the test images: degree, order, epoch, predictor, errors, n, mistakes, support; degree 1, too."""
        return self.results["orders"]

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
        """Predictions of the orders of the degrees above 1: a list of (n, D, 4, E) as for `over_orders.wrong`."""
        return [arrays["predictions"] for arrays in self.results["arrays"][: self.n_orders]]

    @cached_property
    def wrong(self):
        return over_orders.wrong(self.predictions, self.labels)

    @cached_property
    def spread(self):
        """`over_orders.spread` after the last epoch: mean, standard deviation and range over the orders."""
        return over_orders.spread(self.runs, self.n_epochs)

    @cached_property
    def valley(self):
        """Mean errors after the last epoch, degree (rows) by predictor."""
        return self.spread.pivot(index="degree", columns="predictor", values="mean")

    @cached_property
    def halved(self):
        """By degree the first epoch at which the mean error of the average predictor is no higher than that of the final one
        after the last epoch."""
        return over_orders.worth_all(self.curved)

    @cached_property
    def components(self):
        return over_orders.components(self.wrong).set_index("predictor")

    @cached_property
    def reach(self):
        """How far another visiting order and other test images move the error of the average predictor after the last epoch:
        two standard deviations, by the source of variation."""
        return 2 * self.components.loc[over_orders.CONTROL]

    @cached_property
    def place(self):
        """Whether the published run, order 0, is an ordinary one: the last row of `over_orders.published_place`."""
        return over_orders.published_place(self.curved).iloc[-1]

    @cached_property
    def predictors(self):
        """`over_orders.among_predictors` after the first and the last epoch: the other predictors less the average one;
        orders and test images vary, Holm over all rows."""
        return over_orders.among_predictors(self.wrong, self.above, [1, self.n_epochs])

    @cached_property
    def final_or_average(self):
        """The rows of `predictors` for the final predictor (`over_orders.of_final`)."""
        return over_orders.of_final(self.predictors)

    @cached_property
    def gaps(self):
        """The final predictor's error above the average one's by degree: after the first epoch and after the last."""
        gaps = self.final_or_average.pivot(index="degree", columns="epoch", values="estimate")
        return gaps.iloc[:, [0, -1]].set_axis(["first", "last"], axis=1)

    @cached_property
    def averaging(self):
        """The gain by averaging, by `final_or_average`.

        soon: after one epoch at degrees 2 to 6 (a list). After the last epoch: two and three, the rows of these
        degrees, and late, the estimates at degrees 4 to 6 (a list). as_said: whether all are detected but the one at degree
        6 after the last epoch, and each is more than half a point after one epoch and falls with the degree after the last.
        """
        gaps = self.final_or_average
        end = gaps[gaps["epoch"] == self.n_epochs].set_index("degree")
        soon = gaps[gaps["epoch"] == 1]
        detected = list(end.index[end["verdict"] == over_orders.HIGHER]) == [2, 3, 4, 5]
        detected &= bool((soon["verdict"] == over_orders.HIGHER).all())
        return SimpleNamespace(
            soon=soon["estimate"].tolist(), two=end.loc[2], three=end.loc[3],
            late=end.loc[4:, "estimate"].tolist(),
            as_said=detected and soon["estimate"].min() > 0.005 and end["estimate"].is_monotonic_decreasing,
        )  # fmt: skip

    @cached_property
    def others(self):
        """The minimizing and the voted predictor less the average one, by `predictors`.

        minimizing_worse: degrees at which the error is detected to be higher after the last epoch. voted and early: whether
        the vote, and after one epoch both, cannot be told from the average.
        """
        end = self.predictors.query("epoch == @self.n_epochs").set_index("degree")
        minimizing = end.query("predictor == 'minimizing'")["verdict"]
        early = self.predictors.query("epoch == 1 and predictor != 'final'")["verdict"]
        return SimpleNamespace(
            minimizing_worse=list(minimizing.index[minimizing == over_orders.HIGHER]),
            voted=bool((end.query("predictor == 'voted'")["verdict"] == over_orders.UNTOLD).all()),
            early=not early.isin([over_orders.HIGHER, over_orders.LOWER]).any(),
        )

    @cached_property
    def never_beaten(self):
        """Whether no predictor has a detectably lower error than the average one, at any degree, early or late."""
        return not (self.predictors["verdict"] == over_orders.LOWER).any()

    @cached_property
    def best_degree(self):
        """The degree above 1 with the lowest mean error of the average predictor after the last epoch."""
        return int(self.valley.loc[list(self.above), over_orders.CONTROL].idxmin())

    @cached_property
    def among_degrees(self):
        return over_orders.among_degrees(self.wrong, self.above, over_orders.CONTROL)

    def against_degree(self, degree):
        """`over_orders.differences_to` one degree, of the average predictor after the last epoch; a row for each other."""
        return over_orders.differences_to(self.among_degrees, degree).set_index("degree")

    @cached_property
    def apart(self):
        """`against_degree` of the best one."""
        return self.against_degree(self.best_degree)

    @cached_property
    def worse_degrees(self):
        """The degrees with a detectably higher error than the best one."""
        return list(self.apart.index[self.apart["verdict"] == over_orders.HIGHER])

    @cached_property
    def good_degrees(self):
        """The best degree and those that cannot be told from it."""
        return [degree for degree in self.above if degree not in self.worse_degrees]

    @property
    def good_degrees_named(self):
        """The same in words: "3 or 4"."""
        return listed(self.good_degrees, "or")

    @cached_property
    def average_by_degree(self):
        """The rows of `spread` for the average predictor, by degree."""
        return self.spread[self.spread["predictor"] == over_orders.CONTROL].set_index("degree")

    @cached_property
    def settled(self):
        """By degree the epoch from which on the average predictor is shown to be as good as after the last, within
        over_orders.ROPE (a fixed sequence of two one-sided tests)."""
        return over_orders.settled_by_degree(self.wrong, self.above).set_index("predictor").loc[over_orders.CONTROL]

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
        return self.wrong[:, self.place_of(3), PREDICTORS.index(over_orders.CONTROL), epoch].astype(float)

    @cached_property
    def eight_epochs(self):
        """Whether eight epochs are shown to be as good as ten at degrees 3 and 4, and one to be worse at degree 3."""
        return self.settled[[3, 4]].tolist() == [7, 8] and self.one_epoch.low > 0

    @cached_property
    def held(self):
        """Errors on held-out images of the degrees above 1: degree, order, epoch, predictor, held."""
        parts = [replace(part, n_held=self.n_held) for part in self.parts]
        return orders.held_out(parts).query("degree > 1")[[*KEYS, "held"]]

    @cached_property
    def chosen(self):
        """`over_orders.choices` of each order, by the held-out images."""
        return over_orders.choices(self.held, self.curved[[*KEYS, "errors"]], ["order"])

    @cached_property
    def honest(self):
        """`over_orders.honest_errors`, by the set of candidates; orders and test images vary."""
        return over_orders.honest_errors(self.wrong, self.above, self.chosen, self.held).set_index("among")

    @cached_property
    def error(self):
        """The honest error of the average predictor, the number that we quote: a row with estimate, low and high."""
        return self.honest.loc[over_orders.CONTROL]

    @cached_property
    def free(self):
        """The honest error if each order chooses the predictor, too, and how many orders choose which."""
        return self.honest.loc[over_orders.ALL_FOUR]

    @cached_property
    def by_mean(self):
        """The honest error if the mean over the orders chooses, and what it chooses."""
        return self.honest.loc[over_orders.BY_MEAN]

    @cached_property
    def with_three_orders(self):
        """The honest error of the average predictor from the first three orders: a Difference over orders and images."""
        first = self.chosen[self.chosen["among"] == over_orders.CONTROL].iloc[:3]
        return over_orders.honest(self.wrong[:3], self.above, first)

    @cached_property
    def flattery(self):
        """`over_orders.selection` by the set of candidates: how much lower an error looks if the test images choose
        (estimate, low, high; over orders only)."""
        return over_orders.selection(self.chosen, self.n_test).set_index("among")

    @cached_property
    def flattery_of_few(self):
        """The same, among all four predictors, for the smallest training sets, where five folds choose; over training
        sets."""
        rows = orders.cross_validated(orders.fold_settings(self.dataset))
        return over_orders.folds(rows, self.n_test).iloc[0]

    @cached_property
    def answers(self):
        """(R, n, D): what the average predictor says after the last epoch."""
        return over_orders.answers(self.predictions)

    @cached_property
    def digits(self):
        """How hard the digits are for the average predictor after the last epoch, means over orders.

        rates: errors by digit (rows) and degree. p: by degree that of equal rates (permutations of the test images), and
        largest_p. confusions: (C, C) images at degree 3, and confused: how often two digits are confused there.
        hard: the test images by the share of orders and degrees that misclassify them, and never_right: how many all
        misclassify. early and later: the errors at degree 3 in the first and the second half of the test images.
        """
        wrong = self.wrong[:, :, PREDICTORS.index(over_orders.CONTROL), LAST].mean(axis=0)
        confusions = over_orders.confusions(self.answers[:, :, self.place_of(self.shown_degree)], self.labels)
        hard = over_orders.hardest(self.answers, self.labels)
        third = wrong[self.place_of(self.shown_degree)]
        half = self.n_test // 2
        p = {degree: statistics.equal_means(own, self.labels) for degree, own in zip(self.above, wrong, strict=True)}
        return SimpleNamespace(
            rates=over_orders.by_digit(self.answers, self.labels, self.above), p=p, largest_p=max(p.values()),
            confusions=confusions, confused=over_orders.confused(confusions), hard=hard,
            never_right=int((hard["share"] == 1).sum()), early=third[:half].mean(), later=third[half:].mean(),
        )  # fmt: skip

    @cached_property
    def kept(self):
        """Orders that are shared or kept, against a new one for each digit and epoch.

        saved: `over_orders.fewer` support vectors, over pairs of orders (Fieller); share: the same, degree (rows) by
        protocol; memory: peaks (GiB), degree (rows) by protocol; errors: `over_orders.errors_under_protocols`, and whole:
        its row of the mean over degrees for the average predictor under the shared order that is kept; orders and test
        images vary.
        """
        found = kept.kept(kept.kept_settings(self.dataset, **self.options))
        saved = over_orders.fewer(self.runs, found["kept"])
        spent = over_orders.costs_of_protocols(kept.kept_costs(kept.cost_settings(self.dataset)))
        errors = over_orders.errors_under_protocols(self.wrong, found["arrays"], self.above)
        whole = errors.set_index(["predictor", "protocol", "degree"]).loc[(over_orders.CONTROL, "shared, kept", "mean")]
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
        own = over_orders.chosen_by(over_orders.CONTROL, self.chosen, self.held, self.above)
        return over_orders.honest(self.wrong, self.above, own, other=self.missed(learner))


published = Facts()
"""Those of the published study; nothing is computed before it is asked for."""


@cache
def reproduced():
    """table: how many published numbers are the same here, by kind; files: the numbers of the first three kinds, which the
    source's files hold, and whole: whether all of these are the same; differs: published numbers of Table 1 that are not;
    misprint: the training errors of the average predictor at the degree and epoch of the best minimizing one;
    fails: the source's statements that do not hold, and verdicts: how many statements have each verdict."""
    ledger, _, said = claims.stored()
    own = ledger[ledger["source"] == SOURCE]
    statements = said[said["source"] == SOURCE]
    table = tables.replicated(own)
    files = table[:3]
    at = best().loc["minimizing"]
    errors = six_degrees()["multiclass"].set_index(["degree", "epoch", "predictor", "split"])["errors"]
    return SimpleNamespace(
        misprint=int(errors[at["degree"], at["epoch"], "average", "train"]), table=table,
        files=files["numbers"].tolist(), whole=files["numbers"].equals(files["the same"]),
        differs=own.loc[own["item"].str.endswith("Table 1") & (own["verdict"] != "exact"), "published"].tolist(),
        fails=statements.loc[statements["verdict"] == "does not hold", "key"].str.rpartition("/")[2].tolist(),
        verdicts=statements["verdict"].value_counts().to_dict(),
    )  # fmt: skip


@cache
def six_degrees(run=SOURCE_RUN):
    """The runs of the published order of each degree: {multiclass, binary, confusion, arrays}, as `experiment.degrees`."""
    return experiment.degrees(run.runs())


@cache
def logs(run=SOURCE_RUN):
    """The mistake logs of these runs: a list of ten for each degree."""
    return [experiment.logs_from_arrays(arrays) for arrays in six_degrees(run)["arrays"]]


@cache
def best(run=SOURCE_RUN):
    """The fewest test errors of each predictor, at which degree and epoch: `tables.ranking` by predictor."""
    return tables.ranking(six_degrees(run)["multiclass"]).set_index("predictor")


@cache
def confusions(run=SOURCE_RUN):
    """{name: matrix} of the three predictors of the source at the degree and epoch of `best`: `over_orders.confusions`."""
    labels = datasets.load(run.dataset).class_indices_test
    found = {}
    for row in best(run).loc[list(tables.OF_SOURCE)].itertuples():
        own = six_degrees(run)["arrays"][DEGREES.index(row.degree)]["predictions"]
        answers = own[[PREDICTORS.index(row.Index)], row.epoch - 1]
        found[f"{row.Index}, degree {row.degree}"] = over_orders.confusions(answers, labels)
    return found


@cache
def one_order(run=SOURCE_RUN):
    """At which (epoch, degree, predictor) one order detects more errors than the average predictor's, at degrees above 1:
    McNemar's exact test, Holm over 36 with degree 1; over test images."""
    labels = datasets.load(run.dataset).class_indices_test
    wrong = np.stack([arrays["predictions"] for arrays in six_degrees(run)["arrays"]]) != labels
    pairs = over_orders.among_predictors(wrong[None], DEGREES, sorted({1, run.n_epochs}))
    seen = pairs[(pairs["degree"] > 1) & (pairs["verdict"] == over_orders.HIGHER)]
    return list(zip(seen["epoch"], seen["degree"], seen["predictor"], strict=True))


@cache
def halves(run=SOURCE_RUN):
    """Whether the first half of the test images is detectably the harder one, for the average predictor of each degree above
    1 after the last epoch and for the nearest neighbour (Fisher's tests, Holm over all)."""
    labels = datasets.load(run.dataset).class_indices_test
    arrays = six_degrees(run)["arrays"][1:]
    errors = {
        f"degree {d}": own["predictions"][PREDICTORS.index(over_orders.CONTROL), LAST] != labels
        for d, own in enumerate(arrays, start=2)
    }
    neighbour = experiment.neighbours(NeighbourSettings(run.dataset, run.n_train))["arrays"][0]["predictions"][0, 0]
    found = tables.halves(errors | {"nearest neighbour": neighbour != labels}, len(labels) // 2)
    return bool(((found["p"] < statistics.ALPHA) & (found["estimate"] > 0)).all())


@cache
def one_degree(run):
    """Results of one run (experiment.Settings), over its test images.

    multiclass, binary: its tables; last: error rates after the last epoch by predictor; against: the other predictors less
    the average one there (`over_orders.among_predictors`, Holm over three), and reach: the largest difference that it may
    not show; logs: those of its perceptrons, with their number of mistakes and of support vectors.
    """
    results = experiment.degrees(run)
    multiclass = results["multiclass"]
    end = multiclass.query("epoch == @run.n_epochs and split == 'test'").set_index("predictor")
    own = results["arrays"][0]
    wrong = own["predictions"] != examples(run.dataset).class_indices_test
    against = over_orders.among_predictors(wrong[None, None], [run.degree], [run.n_epochs])
    own_logs = experiment.logs_from_arrays(own)
    return SimpleNamespace(
        multiclass=multiclass, binary=results["binary"], last=end["errors"] / end["n"], against=against,
        reach=statistics.half_widths(against)[1], logs=own_logs, mistakes=sum(map(len, own_logs)),
        support=tables.support_size(own_logs),
    )  # fmt: skip


@cache
def files_are_exact(degree):
    """Whether the ledger has counts from the source's files for this degree, and all of them are reproduced."""
    ledger = claims.stored()[0]
    own = ledger[ledger["quantity"].str.contains(f"degree {degree},") & (ledger["kind"] == "files")]
    return len(own) > 0 and bool((own["verdict"] == "exact").all())


@cache
def training_images(dataset="mnist"):
    """Ink and neighbours of the training images.

    ink: median share of full black by digit; nearest: the nearest pairs of different digits by distance, and kinds: how
    often two digits meet among them; counts: images of each digit in both parts of the set.
    """
    data = datasets.load(dataset)
    nearest = image_pairs(Settings(dataset))
    return SimpleNamespace(
        ink=tables.ink(data.X, data.y, data.X.max()).set_index("label")["median"],
        nearest=nearest, kinds=tables.kinds(nearest),
        counts=tables.counts(data.y, data.y_test),
    )  # fmt: skip


@cache
def li_long():
    """printed: the rows of the ledger of this source, where all learners share one order that is kept; agrees: whether each
    number lies where the mean of ten further orders would; fresh: how many lie outside where each learner has new orders."""
    ledger, readings, _ = claims.stored()
    printed = ledger[ledger["source"] == LI_LONG]
    fresh = readings[readings["key"].str.startswith("li-long-1999")]
    agrees = bool((printed["verdict"] != "outside").all())
    return SimpleNamespace(printed=printed, agrees=agrees, fresh=int((fresh["verdict"] == "outside").sum()))


# Verdicts on statements of the sources, whose text stands in statements.toml: (verdict, {name: value}) of each.


ONLINE = 4
"""The degree whose first epoch says how it goes on with more examples."""


ALIKE = 0.005
"""Error rates are called alike if the interval of their difference lies within half a point; the source has no measure."""


def verdict_slow():
    """Whether the degrees below 3 take more epochs to few training errors than all others, and degree 1 keeps many."""
    train = six_degrees()["multiclass"].query("split == 'train' and predictor in @tables.OF_SOURCE")
    n = int(train["n"].iloc[0])
    train = train.pivot(index=["degree", "epoch"], columns="predictor", values="errors")
    few = {degree: np.flatnonzero(train.loc[degree, "minimizing"] <= 0.002 * n) for degree in DEGREES}
    first = {degree: int(found[0]) + 1 if len(found) else np.inf for degree, found in few.items()}
    later = [first[degree] for degree in DEGREES if degree >= 3]
    # A bound that holds: rounded down.
    underfit = np.floor(1e4 * int(train.loc[1].to_numpy().min()) / n) / 1e4
    values = {"second": first[2], "earliest": min(later), "latest": max(later), "underfit": percent(underfit)}
    return claims.of_parts([min(first[1], first[2]) > max(later), underfit > 0.01]), values


def verdict_online():
    """Whether mistakes become fewer within the first epoch, and support vectors no more, at degree ONLINE."""
    own = logs()[ONLINE - 1]
    n = int(own[0].ends[0])
    early, late = (sum(((log.step >= a) & (log.step < a + 10_000)).sum() for log in own) for a in (0, n - 10_000))
    before, after = (
        len(np.unique(np.concatenate([log.example[log.step < step] for log in own]))) for step in (n - 10_000, n)
    )
    values = {"degree": ONLINE, "early": early, "late": late, "before": before, "after": after}
    return claims.of_parts([late < early, after == before]), values


def verdict_degrees_above_3(found):
    """Whether the average predictor's error after the last epoch is the same at higher degrees as at degree 3; found: by
    degree, as `over_orders.differences_to` has it."""
    found = found.loc[4:]
    better, worse = (found.index[found["verdict"] == word] for word in (over_orders.LOWER, over_orders.HIGHER))
    told = "does not hold" if len(better) else "holds in part" if len(worse) else "undecided"
    values = {"orders": N_ORDERS, "higher": in_a_row(worse)}
    for row in found.itertuples():
        values |= {f"gap_{row.Index}": points(row), f"interval_{row.Index}": interval(row)}
    return "holds" if (found["verdict"] == over_orders.SAME).all() else told, values


def verdict_final_worse():
    """Whether the final predictor has more errors than the average and the minimizing one, after one epoch and at last."""
    last = published.n_epochs
    against_minimizing = over_orders.among_predictors(
        published.wrong, CURVED, [1, last], others=["final"], control="minimizing"
    )
    shown = []
    values = {"last": last}
    for name, rows in ((over_orders.CONTROL, published.final_or_average), ("minimizing", against_minimizing)):
        early, late = (rows[rows["epoch"] == epoch] for epoch in (1, last))
        told = late.loc[late["verdict"] == over_orders.HIGHER, "degree"]
        values |= {
            f"{name}_first": span(early["estimate"]),
            f"{name}_last": span(late["estimate"]),
            f"{name}_told": in_a_row(told),
        }
        shown += list(rows["verdict"] == over_orders.HIGHER)
    return claims.of_parts(shown), values


def verdict_no_digit(digits, error):
    """Whether equal error rates of the digits are rejected, for the average predictor after the last epoch; digits: as facts
    have them; error: the rate of all images at degree 3."""
    rates = digits.rates[3]
    rejected = [degree for degree, p in digits.p.items() if p < statistics.ALPHA]
    values = {
        "orders": N_ORDERS, "easy": int(rates.idxmin()), "hard": int(rates.idxmax()), "low": percent(rates.min()),
        "high": percent(rates.max()), "times": number(rates.max() / error, 1), "rejected": in_a_row(rejected),
        "p": p_value(digits.largest_p),
    }  # fmt: skip
    if len(rejected) == len(CURVED):
        return "does not hold", values
    return "holds in part" if rejected else "undecided", values


def verdict_similar():
    """Whether the honest error of the average predictor is like those of two other learners on the same images."""
    rate = published.error
    machine = published.against("RBF SVM")
    neighbour = published.against("nearest neighbour")
    alike = [-ALIKE < gap.low and gap.high < ALIKE for gap in (machine, neighbour)]
    values = {
        "rate": percent(rate["estimate"]), "interval": rate_interval(rate), "machine_gap": points(machine),
        "machine": percent(published.missed("RBF SVM").mean()), "machine_interval": interval(machine),
        "neighbour": percent(published.missed("nearest neighbour").mean()), "neighbour_gap": points(neighbour),
    }  # fmt: skip
    return claims.of_parts(alike), values


def verdict_uncertainty():
    """Whether the images with the smallest leads of the highest score over the next are misclassified more often."""
    with np.load(noted(RESULTS / "doubt_ensemble.npz")) as file:
        f = file["single"][file["part"] == 1]
    wrong = f.argmax(axis=1) != published.labels
    ordered = np.sort(f, axis=1)
    doubtful = np.argsort(ordered[:, -1] - ordered[:, -2], kind="stable")[: len(wrong) // 10]
    rest = np.delete(wrong, doubtful)
    test = statistics.two_samples(int(wrong[doubtful].sum()), len(doubtful), int(rest.sum()), len(rest))
    values = {
        "errors": int(wrong.sum()), "doubtful": int(wrong[doubtful].sum()), "there": percent(wrong[doubtful].mean(), 1),
        "elsewhere": percent(rest.mean()), "p": p_value(test.p),
    }  # fmt: skip
    return "holds in part" if test.p < statistics.ALPHA and test.estimate > 0 else "undecided", values


def verdict_ensemble():
    """Whether an order errs more often where the others do not all agree, at every degree."""
    found = over_orders.ensembles(published.predictions, published.labels, CURVED)
    sd = published.spread.query("degree > 1 and predictor == @over_orders.CONTROL")["sd"]
    values = {"orders": N_ORDERS, "sd_low": size(sd.min()), "sd_high": size(sd.max())}
    columns = {"agree": ("unanimous", 1), "same": ("error there", 2), "other": ("elsewhere", 0)}
    for name, (column, digits) in columns.items():
        values |= {f"{name}_low": percent(found[column].min(), digits), f"{name}_high": percent(found[column].max(), digits)}
    return claims.of_parts(found["p of Fisher's test"] < statistics.ALPHA), values
