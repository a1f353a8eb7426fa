"""Quantities of the chapter on doubt that the text quotes; each is computed once, from one ensemble of visiting orders.

`Facts` are those of any ensemble; `published` are those of the published one. They are of the test images, and thresholds
and curves come from the held-out ones. Whatever has low and high has a 95 % interval over test images, Wilson's for a rate
and otherwise from a bootstrap. Rates and differences are fractions.
"""

from dataclasses import dataclass
from functools import cached_property
from types import SimpleNamespace

import numpy as np
import pandas as pd

from study import datasets, statistics
from study.doubt import tables
from study.doubt.experiment import KINDS, Settings, ensemble, points


@dataclass(frozen=True)
class Facts:
    """The quantities of the ensemble with these settings; each is computed when it is asked for."""

    settings: Settings

    @cached_property
    def data(self):
        return datasets.load(self.settings.dataset)

    @cached_property
    def result(self):
        """The stored table and arrays of the ensemble."""
        return ensemble(self.settings)

    @cached_property
    def parts(self):
        """The answers to each part of the inputs (`tables.by_part`)."""
        return tables.by_part(self.result["arrays"][0])

    @property
    def held(self):
        return self.parts["held out"]

    @property
    def test(self):
        return self.parts["test"]

    @property
    def y_held(self):
        """The classes (n,) of the held-out images."""
        return self.data.class_indices[-self.settings.n_held_out :]

    @property
    def y(self):
        """The classes (n,) of the test images."""
        return self.data.class_indices_test

    # Agreement.

    @property
    def stored(self):
        """Test errors of the average predictor of the first order."""
        return self.result["orders"].query("order == 0 and predictor == 'average'")["test"].item()

    @cached_property
    def by_votes(self):
        """Errors of the vote by the number of orders that agree (`tables.by_votes`)."""
        return tables.by_votes(self.test.votes["average"], self.y)

    @cached_property
    def agreed(self):
        """The row of `by_votes` of the images on which all orders agree; share: how many these are; refused: how many the
        others are; elsewhere: the share of the others that the vote misclassifies; together: all errors of the vote."""
        rows = self.by_votes
        others = rows.iloc[1:]
        return rows.assign(
            share=rows["images"] / len(self.y),
            refused=lambda found: 1 - found["share"],
            elsewhere=others["errors"].sum() / others["images"].sum(),
            together=rows["errors"].sum(),
        ).iloc[0]

    @cached_property
    def agreed_or_not(self):
        """The error where all orders agree less that elsewhere (Fisher's test)."""
        others = self.by_votes.iloc[1:][["images", "errors"]].sum()
        return statistics.two_samples(
            int(self.agreed.errors), int(self.agreed.images), int(others.errors), int(others.images)
        )

    # Refusing by a measure of doubt.

    @cached_property
    def first_refused(self):
        """The places of the sixteen test images with the smallest margins, the smallest first."""
        return np.argsort(tables.margin(self.test.scores), kind="stable")[:16]

    @property
    def first_wrong(self):
        """How many of these are misclassified."""
        return int((self.test.classes != self.y)[self.first_refused].sum())

    @cached_property
    def temperature(self):
        return tables.temperature(self.held.scores, self.y_held)

    @cached_property
    def measures(self):
        """{measure: (classes, confidence)} on the test images (`tables.measures`)."""
        return tables.measures(self.test, self.temperature)

    @cached_property
    def targets(self):
        """What the margin refuses for each target error, by two rules (`tables.margin_targets`)."""
        held = tables.measures(self.held, self.temperature)["margin"]
        return tables.margin_targets(held, self.y_held, self.measures["margin"], self.y)

    def by_rule(self, rule):
        """The rows of `targets` of a rule, the highest target first; an error of nothing accepted counts as none."""
        return self.targets[self.targets["rule"] == rule].fillna(0.0).reset_index(drop=True)

    @property
    def kept(self):
        """The rows of `targets` with thresholds by the error of the held-out images."""
        return self.by_rule("held-out error")

    @property
    def strict(self):
        """The rows of `targets` with guaranteed thresholds."""
        return self.by_rule("guaranteed")

    def refusing(self, target):
        """The row of `kept` with this target of the error among the accepted."""
        return self.kept.set_index("target").loc[target]

    @cached_property
    def curves(self):
        """The error of the accepted by the share refused, for each measure (`tables.risk_coverage`)."""
        return {name: tables.risk_coverage(sure, found != self.y) for name, (found, sure) in self.measures.items()}

    @cached_property
    def risks(self):
        """The error of the accepted if 0, 5, 10, 15 and 20 % of the images are refused, a column for each measure."""
        places = [round(len(self.y) * (1 - refused / 100)) - 1 for refused in range(0, 21, 5)]
        return pd.DataFrame({name: curve["risk"].to_numpy()[places] for name, curve in self.curves.items()})

    @cached_property
    def votes_better(self):
        """low and high: between these shares refused, around that of the answers on which not all agree, the votes leave
        fewer errors than the margin."""
        margin, votes = self.curves["margin"], self.curves["vote share"]
        others = 1 - margin["coverage"][votes["risk"] >= margin["risk"]]
        below = others < self.agreed.refused
        return SimpleNamespace(low=others[below].max(), high=others[~below].min())

    @cached_property
    def areas(self):
        """The risk of an unnoticed error by measure, averaged over all shares refused, and its difference from that of the
        margin (`tables.areas`; Holm over three)."""
        return tables.areas(self.measures, self.y).set_index("measure", drop=False)

    @property
    def one(self):
        """The row of `areas` of the margin of one perceptron."""
        return self.areas.loc["margin of one perceptron"]

    @property
    def vote(self):
        """The row of `areas` of the share of the votes."""
        return self.areas.loc["vote share"]

    # Stated chances.

    @cached_property
    def confidences(self):
        """{method: (classes, confidence)}: the chances that each method states (`tables.confidences`)."""
        found = tables.probabilities(self.held, self.y_held, self.test)
        return tables.confidences(self.held, self.y_held, self.test, found)

    @cached_property
    def quality(self):
        """Calibration error, Brier score and log loss of each method (`tables.calibration`)."""
        return tables.calibration(self.confidences, self.y).set_index("method", drop=False)

    @property
    def calibration_errors(self):
        """The calibration error of each method."""
        return self.quality["calibration_error"]

    @property
    def constant(self):
        """The accuracy on the held-out images, which the constant states of every answer."""
        return self.confidences["constant"][1][0]

    @cached_property
    def brier(self):
        """Differences of Brier scores (`tables.calibration_tests`; bootstrap, Holm over three)."""
        return tables.calibration_tests(self.confidences, self.y)

    @property
    def softmax(self):
        """The Brier score of the softmax less that of the constant."""
        return self.brier["softmax − constant"]

    @property
    def calibrated(self):
        """The Brier score of the calibrated margin less that of the constant."""
        return self.brier["calibrated margin − constant"]

    @cached_property
    def sets(self):
        """Sets of labels by three measures (`tables.label_sets`; Holm over the classes)."""
        return tables.label_sets(tables.p_by_measure(self.held, self.y_held, self.test), self.y, self.y_held)

    @property
    def by_margin(self):
        """The row of `sets` by the margin that may miss one in a hundred images of each class."""
        return self.sets.query("measure == 'margin of the class'").iloc[0]

    # What is no digit.

    @cached_property
    def inputs(self):
        """The first inputs of each kind with their answers (`tables.first_inputs`)."""
        images, part, _ = points(self.settings, self.data)
        return tables.first_inputs(images, part, self.parts, self.data.classes)

    @cached_property
    def refusals(self):
        """Shares refused, by measure and kind of input, at thresholds that refuse at most one in a hundred held-out digits
        (`tables.refusals`)."""
        return tables.refusals(tables.typicality(self.parts, self.y_held))

    @cached_property
    def most_refused(self):
        """By kind of input that is no digit, the largest share that any of the measures refuses."""
        return self.refusals.groupby("part")["refused"].max()[list(KINDS)]

    def refused_by(self, measure, part):
        """The share of a kind of input that one measure refuses."""
        return self.refusals.set_index(["measure", "part"])["refused"][measure, part]

    @property
    def accepted(self):
        """The share of the letters and of the half digits that each of the measures accepts at least."""
        return 1 - self.most_refused[["letters", "halves"]].max()

    @cached_property
    def unanimous(self):
        """By kind of input, the share for which all orders name one class."""
        return tables.unanimous(self.parts)


published = Facts(Settings())
"""Those of the published ensemble."""
